"""The part of the workbench that rules: checks before anybody signs, what a ruling would do, signing."""

from __future__ import annotations

import contextlib
from dataclasses import replace
from typing import TYPE_CHECKING

from ct_tui.brain import own, readers
from ct_tui.domain.errors import BadInput, BrainError
from ct_tui.domain.queue import ItemKind
from ct_tui.domain.rulings import Merge
from ct_tui.heal import checks, duplicates
from ct_tui.heal.bench_reading import Reading

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from ct_tui.domain.queue import Impact, QueueItem
    from ct_tui.domain.rulings import Body, Ruling
    from ct_tui.heal.view import View


class Deciding(Reading):
    """What a human decides about a brain."""

    def check(self, body: Body, supersedes: int | None = None) -> None:
        """Raise BadInput where a ruling could not act or contradicts one in force."""
        view = self.view()
        with self.brain.reading() as db:
            checks.check_rulings(db, view.situation, [body], supersedes)

    def retypes(self, to: str, entities: Sequence[str]) -> tuple[Body, ...]:
        """The retype bodies for some entities, one for each present type; raises BadInput for an unknown id."""
        view = self.view()
        with self.brain.reading() as db:
            return checks.retypes_of(db, view.situation, to, entities)

    def impact(self, body: Body) -> Impact:
        """What a ruling would do before anybody signs it."""
        view = self.view()
        if isinstance(body, Merge):
            with self.brain.snapshot() as db:
                return _edge_impact(view, body, duplicates.merge_impact(db, view.situation, body))
        return _edge_impact(view, body, checks.impact_of(view.situation, view.found, body))

    def rule(
        self,
        body: Body,
        reason: str,
        *,
        key: Path | None = None,
        principal: str | None = None,
        passphrase: Callable[[str], str] | None = None,
        supersedes: int | None = None,
    ) -> Ruling:
        """Check a ruling, sign it, append it to the table, and let the brain remember the table's head."""
        drafts = [(body, reason)]
        return self.rule_all(drafts, key=key, principal=principal, passphrase=passphrase, supersedes=supersedes)[0]

    def settle(self, item: QueueItem, target: str) -> tuple[Body, ...]:
        """The rulings that answer a question with a declared type, to be signed together; raises BadInput.

        A question about edges is answered with one of its suggestions.
        """
        view = self.view()
        if item.kind is ItemKind.EDGE:
            return view.edge_questions.bodies(item, target)
        with self.brain.reading() as db:
            return checks.settlement(db, view.situation, view.found, item, target)

    def rule_all(
        self,
        drafts: Sequence[tuple[Body, str]],
        *,
        key: Path | None = None,
        principal: str | None = None,
        passphrase: Callable[[str], str] | None = None,
        supersedes: int | None = None,
        promised: Sequence[Body] = (),
    ) -> tuple[Ruling, ...]:
        """Check several rulings (body and reason) and sign them together: all of them, or none.

        `promised` are rulings proposed beside them, signed or not: a target that one of those declares will do.
        """
        view = self.view()
        with self.brain.reading() as db:
            checks.check_rulings(db, view.situation, [body for body, _ in drafts], supersedes, promised)
        return self._sign(drafts, key, principal, passphrase, supersedes)

    def proposals(self, file: Path) -> tuple[tuple[Body, str], ...]:
        """The unsigned proposals of a file, each with its own reason; raises TrustError."""
        from ct_tui.trust.proposals import read_proposals

        return tuple((p.body, p.reason) for p in read_proposals(file))

    def adopt(
        self,
        file: Path,
        only: Sequence[int] = (),
        extra_reason: str = "",
        *,
        key: Path | None = None,
        principal: str | None = None,
        passphrase: Callable[[str], str] | None = None,
    ) -> tuple[Ruling, ...]:
        """Sign the proposals of a file, all or those with the given numbers (from 1); all or none are signed.

        An alias whose target another proposal of the file declares may be signed before that one; it acts after it.
        """
        proposals = self.proposals(file)
        wanted = list(dict.fromkeys(only)) or list(range(1, len(proposals) + 1))
        for number in wanted:
            if not 1 <= number <= len(proposals):
                raise BadInput(f"{file} has {len(proposals)} proposals, and no number {number}")
        drafts = [proposals[number - 1] for number in wanted]
        extra = f" {extra_reason.strip()}" if extra_reason.strip() else ""
        signed = [(body, reason + extra) for body, reason in drafts]
        promised = [body for body, _ in proposals]
        return self.rule_all(signed, key=key, principal=principal, passphrase=passphrase, promised=promised)

    def _sign(
        self,
        drafts: Sequence[tuple[Body, str]],
        key: Path | None,
        principal: str | None,
        passphrase: Callable[[str], str] | None,
        supersedes: int | None,
    ) -> tuple[Ruling, ...]:
        from ct_tui.heal.signing import sign_all

        if self._asked_read_only:
            raise BrainError("nothing was signed: the brain is opened read-only", "open it without --read-only")
        with self.brain.reading() as db:
            seen = readers.head_seen(db, self.brain.refresh_schema())
        signed = sign_all(
            self.places,
            drafts,
            key=key,
            principal=principal,
            passphrase=passphrase,
            supersedes=supersedes,
            head_seen=seen,
            now=self._clock(),
        )
        # They are signed and stand in the table by now, and nobody may sign them again; a brain that is busy or full
        # remembers the head with the next write.
        with contextlib.suppress(BrainError):
            self._remember_head()
        return signed

    def _remember_head(self) -> None:
        """Let the brain remember the head, so that a cut table is noticed; a read-only brain cannot."""
        head = self.table().head
        if not self.write_refusal and self.table().trusted:
            self.brain.write(lambda db: own.remember_head(db, head))


def _edge_impact(view: View, body: Body, impact: Impact) -> Impact:
    effect, notes = view.edges.impact(body)
    return replace(
        impact,
        gained=effect.gained,
        broken=effect.broken,
        still_violating=effect.still_violating,
        notes=(*impact.notes, *notes),
    )
