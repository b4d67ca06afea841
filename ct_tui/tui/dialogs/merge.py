"""Rulings on duplicates: one thing, and which of them stays; or different things, for good or until a day."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ct_tui.domain.duplicates import apart_reason, keep_apart, not_now
from ct_tui.domain.errors import BadInput
from ct_tui.tui.cases import Decision, staged_words
from ct_tui.tui.compare import loops_words
from ct_tui.tui.dialogs.base import hints
from ct_tui.tui.dialogs.common import MarkedDialog, UntilDialog
from ct_tui.tui.dialogs.ruling import RulingDialog
from ct_tui.tui.messages import BodiesKnown
from ct_tui.tui.text import NOTHING, blank, counted, data, fit, number, right, say
from ct_tui.tui.widgets.rows import MemoryRows, Row, RowList

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from textual.app import ComposeResult
    from textual.widget import Widget

    from ct_tui.domain.duplicates import Weight
    from ct_tui.domain.queue import Impact
    from ct_tui.domain.rulings import Body
    from ct_tui.heal.workbench import Workbench
    from ct_tui.tui.cases import Case
    from ct_tui.tui.dialogs.ruling import Decided
    from ct_tui.tui.text import Line


class MergeDialog(RulingDialog):
    """All of them are one thing: which one stays, and why."""

    VERB = "merge"
    KEYS = {str(n): "take" for n in range(1, 10)} | {"j": "do_dialog_down", "k": "do_dialog_up", "e": "edit"}

    def __init__(self, case: Case, *, at: str = "", done: Callable[[Decided], None]) -> None:
        super().__init__(
            say("One thing: ", "title"),
            data(case.name, "title"),
            say(" · which one stays?", "dim"),
            done=done,
        )
        self._case = case
        self._at = at or (case.ids[0] if case.ids else "")
        self._filled = ""

    def compose_fields(self) -> ComposeResult:
        """The members."""
        yield RowList(id="members")

    def prepare(self) -> None:
        """List the members with their digits, the cursor on the one asked for."""
        rows = [_member_row(at, member) for at, member in enumerate(self._case.members, 1)]
        self.members.show(MemoryRows(rows, [row.key for row in rows]))
        self.members.move_to_key(self._at)
        self._fill_reason()
        super().prepare()

    @property
    def members(self) -> RowList:
        """The list of members."""
        return self.query_one("#members", RowList)

    def own_fields(self) -> list[Widget]:
        """The members."""
        return [self.members]

    def hint(self) -> Line:
        """The keys of the dialog."""
        return hints(("⏎", "sign"), ("1-9", "that one stays"), ("e", "edit the reason"), ("esc", "leave"))

    def target(self) -> str:
        """The one that stays."""
        row = self.members.current
        return row.key if row is not None else ""

    def words(self) -> str:
        """What is decided."""
        return f"{len(self._case.ids) - 1} into {self.target()}"

    def deciding(self) -> Callable[[Workbench], tuple[Body, ...]]:
        """The body for the member under the cursor."""
        target = self.target()
        if not target:
            raise BadInput("choose the one that stays", "its digit does")
        body = Decision(self._case, target).body
        return lambda _: (body,)

    def take(self, key: str) -> None:
        """That one stays."""
        at = int(key) - 1
        if at < len(self._case.ids):
            self.members.move_to_key(self._case.ids[at])
        else:
            self.object_to(say("There are only "), number(len(self._case.ids)), say(" of them."))

    def edit(self) -> None:
        """Edit the reason."""
        self.set_focus(self.reason)

    def on_row_list_moved(self, event: RowList.Moved) -> None:
        """Another one stays: another reason, another impact."""
        event.stop()
        self._fill_reason()
        self.content_again()
        self.changed()

    def impact_words(self, impacts: Sequence[Impact]) -> tuple[Line, ...]:
        """The redirects that heal would write, the loops they make, and what stays where it is."""
        losers = [i for i in self._case.ids if i != self.target()]
        lines: list[Line] = [_redirect_line(losers, self.target())]
        notes = dict.fromkeys(note for impact in impacts for note in impact.notes)
        lines += [(say("▸ ", "key"), data(note)) for note in notes]
        return tuple(lines)

    def _fill_reason(self) -> None:
        """The reason that the evidence gives, as long as nobody wrote another."""
        if self.target() and self.reason.text.strip() in {"", self._filled}:
            self._filled = data(Decision(self._case, self.target()).reason).text.strip()
            self.reason.text = self._filled


class ApartDialog(UntilDialog):
    """They are different things: no heal and no merge joins them, for good or until a day."""

    VERB = "apart"
    KEYS = {"e": "edit"}  # noqa: RUF012

    def __init__(self, case: Case, *, done: Callable[[Decided], None]) -> None:
        super().__init__(
            say("Different things: ", "title"),
            data(case.name, "title"),
            say(" · ", "dim"),
            counted(len(case.ids), "entity", "entities", "dim"),
            done=done,
            reason=apart_reason(case.members),
        )
        self._case = case

    def edit(self) -> None:
        """Edit the reason."""
        self.set_focus(self.reason)

    def words(self) -> str:
        """What is decided."""
        return f"{self._case.name} are different things"

    def deciding(self) -> Callable[[Workbench], tuple[Body, ...]]:
        """The body from the field."""
        until = self.until()
        body = keep_apart(self._case.ids) if until is None else not_now(self._case.ids, until)
        return lambda _: (body,)

    def impact_words(self, impacts: Sequence[Impact]) -> tuple[Line, ...]:
        """Nothing moves: they are kept apart."""
        notes = dict.fromkeys(note for impact in impacts for note in impact.notes)
        return tuple((say("▸ ", "key"), data(note)) for note in notes)


class PileDialog(MarkedDialog):
    """Decisions that were piled up: each carries its own reason, and all are signed together or none."""

    VERB = "pile"

    def __init__(self, decisions: Sequence[Decision], *, done: Callable[[Decided], None]) -> None:
        self._decisions = list(decisions)
        super().__init__(
            say("Sign ", "title"),
            counted(len(decisions), "decision", ink="title"),
            drafts=[(decision.body, data(decision.reason).text) for decision in decisions],
            done=done,
        )

    def draft_row(self, at: int) -> Row:
        """One decision with its reason."""
        decision = self._decisions[at]

        def draw(width: int) -> Line:
            return (
                *fit((data(decision.case.name),), max(12, width // 3)),
                blank(1),
                *fit(staged_words(decision), 20),
                blank(1),
                data(decision.reason, "dim"),
            )

        return Row(str(at), decision, draw)

    @property
    def chosen(self) -> tuple[Decision, ...]:
        """The decisions that are to be signed."""
        return tuple(self._decisions[at] for at in self.marked)

    def words(self) -> str:
        """What is decided."""
        return f"{len(self.marked)} decisions on duplicates"

    def target(self) -> str:
        """The keys of the cases that are signed, so that their decisions are taken off the pile."""
        return "\n".join(decision.case.key for decision in self.chosen)

    def changed(self) -> None:
        """What would be signed is known without reading: the loops were counted with the cases."""
        self._generation += 1
        bodies = tuple(decision.body for decision in self.chosen)
        error = None if bodies else BadInput("none is marked", "space takes one in")
        self.on_bodies_known(BodiesKnown(self._generation, bodies, (), error))

    def impact_words(self, impacts: Sequence[Impact]) -> tuple[Line, ...]:
        """All redirects and loops of the decisions that are marked."""
        del impacts
        merges = [d for d in self.chosen if d.survivor is not None]
        redirects = sum(len(d.case.ids) - 1 for d in merges)
        apart = len(self.marked) - len(merges)
        loops = sum(len(d.case.self_loops) for d in merges)
        lines: list[Line] = []
        if merges:
            lines.append(
                (
                    say("▸ ", "key"),
                    counted(redirects, "redirect", ink="strong"),
                    say(" in "),
                    counted(len(merges), "group"),
                    say("; facts and edges stay where they are", "dim"),
                )
            )
        if loops:
            lines.append((say("↻ ", "warn"), *loops_words(loops)))
        if apart:
            lines.append((say("≠ ", "key"), counted(apart, "group is", "groups are"), say(" kept apart for good")))
        return tuple(lines)


def _member_row(at: int, member: Weight) -> Row:
    def draw(width: int) -> Line:
        lead: Line = right(number(at, "key"), 2) if at <= 9 else (blank(2),)
        known = (
            number(member.facts, "strong"),
            say(" facts ", "dim"),
            number(member.edges, "strong"),
            say(" edges ", "dim"),
        )
        return (
            *lead,
            blank(1),
            *fit((data(member.type, "type"), *((say(" ?", "warn"),) if not member.declared else NOTHING)), 14),
            *fit(known, 16),
            *fit((say("summary", "dim") if member.summary else say("–", "faint"),), 8),
            *fit((data(member.id, "dim"),), max(1, width - 41)),
        )

    return Row(member.id, member, draw, markable=False)


def _redirect_line(losers: Sequence[str], survivor: str) -> Line:
    shown = ", ".join(losers[:3])
    more = len(losers) - 3
    return (
        say("▸ ", "key"),
        counted(len(losers), "redirect", ink="strong"),
        say(": ", "dim"),
        data(shown, "dim"),
        *((say(" and ", "dim"), counted(more, "more", "more", "dim")) if more > 0 else NOTHING),
        say(" ⇉ ", "ok"),
        data(survivor),
    )
