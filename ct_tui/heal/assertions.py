"""Asserting one fact on a brain: everything is looked up and shown first, then written in one transaction.

An edge has no columns for window, confidence and provenance and gets none: they stand in our own table, keyed by the
edge's id. A second writer of edges must check that both ends are alive first, so that happens inside the transaction.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol

from ct_tui.brain import curation, own
from ct_tui.domain.assertions import (
    Assertion,
    Contradiction,
    End,
    Existing,
    Found,
    Lookup,
    NameRow,
    Weaker,
    choose_relation,
    contradictions,
    fitting,
    honest_confidence,
    kind_of_source,
    look_up,
    make_window,
    questions_about,
    refuse_same,
    require_answers,
    require_entity,
)
from ct_tui.domain.errors import BadInput, StalePlan
from ct_tui.domain.names import is_blank, label_key
from ct_tui.domain.provenance import parse_provenance
from ct_tui.heal.edges import rulebook

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from ct_tui.brain.connection import Brain, Db
    from ct_tui.domain.assertions import Relation
    from ct_tui.domain.edges import Signatures
    from ct_tui.heal.situation import Situation


class Mints(Protocol):
    """How a new entity comes into being: through the write gate, which this room does not know."""

    def lands_as(self, label: str | None) -> str:
        """The type that a new entity with this label would get; raises PolicyError where the gate holds it."""
        ...

    def mint_in(self, db: Db, name: str, label: str | None, at: int) -> str:
        """Write a new entity inside the caller's transaction and give its id; `at` in seconds."""
        ...


@dataclass(frozen=True)
class Request:
    """An assertion as somebody gave it; `new_subject` and `new_object` are labels of entities that are to be made.

    `start` and `end` are dates as typed, `answered` the questions that were answered with yes.
    """

    subject: str
    relation: str
    object: str
    provenance: str
    start: str | None = None
    end: str | None = None
    confidence: float | None = None
    kind: str | None = None
    statement: str = ""
    new_subject: str | None = None
    new_object: str | None = None
    answered: tuple[str, ...] = ()


@dataclass(frozen=True)
class AssertionResult:
    """What became of an assertion: shown only, written, or there already (`edge` is then the one that stands)."""

    assertion: Assertion
    applied: bool = False
    edge: str | None = None
    created: bool = False
    recorded: bool = False
    flagged: tuple[str, ...] = ()
    minted: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """The document of `assert --json`."""
        return {
            **self.assertion.as_json(),
            "applied": self.applied,
            "edge": self.edge,
            "created": self.created,
            "recorded": self.recorded,
            "flagged": list(self.flagged),
            "minted": list(self.minted),
            "notes": list(self.notes),
        }


def look_up_name(db: Db, situation: Situation, asked: str) -> Lookup:
    """What a name or an id means in this brain."""

    def find(entity_id: str) -> NameRow | None:
        return next(iter(curation.name_rows(db, situation.schema, situation.redirects, [entity_id])), None)

    return look_up(asked, curation.name_rows(db, situation.schema, situation.redirects), find)


def relations_between(
    situation: Situation, source_type: str, target_type: str, ends: Sequence[str | None] = ()
) -> tuple[Relation, ...]:
    """The relations whose signature fits two types, for a form to offer; `ends` are the two ids, where there are any.

    An end's own strict manifest row decides for it, as it does when the assertion is planned.
    """
    return fitting(_signatures(situation, ends), source_type, target_type)


def plan_assertion(db: Db, situation: Situation, request: Request, mints: Mints | None, now_ms: int) -> Assertion:
    """Look everything up; raises BadInput for what the guide does not allow. Open questions are part of the answer."""
    provenance = parse_provenance(request.provenance)
    kind = kind_of_source(provenance, request.kind)
    confidence = honest_confidence(kind, request.confidence)
    window = make_window(request.start, request.end, now_ms)
    subject, near_subject = _end(db, situation, "subject", request.subject, request.new_subject, mints)
    target, near_target = _end(db, situation, "object", request.object, request.new_object, mints)
    refuse_same(subject, target)
    relation = choose_relation(
        request.relation, _signatures(situation, (subject.id, target.id)), subject.type, target.type
    )
    existing = curation.assertions_from(db, situation.schema, situation.redirects, subject.id)
    rivals = [e for e in existing if label_key(e.relation) == label_key(relation)]
    return Assertion(
        subject,
        relation,
        target,
        window,
        confidence,
        kind,
        provenance.text,
        request.statement,
        questions_about(window, request.statement, now_ms),
        contradictions(target.id or "", window, confidence, rivals),
        (*near_subject.candidates, *near_target.candidates),
        next((e for e in rivals if e.object_id == target.id), None),
    )


def write_assertion(
    brain: Brain, assertion: Assertion, *, mints: Mints | None, answered: Collection[str], by: str, now_ms: int
) -> AssertionResult:
    """Write what was looked up; raises BadInput while a question is open, StalePlan where an end is gone."""
    require_answers(assertion.questions, answered)
    return brain.write(lambda db: _Writing(db, assertion, mints, by, now_ms).run())


class _Writing:
    """One assertion inside its transaction."""

    def __init__(self, db: Db, assertion: Assertion, mints: Mints | None, by: str, now_ms: int) -> None:
        self._db = db
        self._assertion = assertion
        self._mints = mints
        self._by = by
        self._now_ms = now_ms
        self._minted: list[str] = []

    def run(self) -> AssertionResult:
        """Both ends alive, the edge unless it is there, our row unless it is there, and the weaker ones flagged."""
        own.create_tables(self._db)
        a = self._assertion
        subject, target = self._alive(a.subject), self._alive(a.object)
        edge, created = self._edge(subject, target)
        there = None if created else curation.assertion_of(self._db, edge)
        if there is not None and there.recorded:
            note = f"it stands already as {edge} ({there.window}, confidence {there.counted:g}); nothing was changed"
            shown = self._with(subject, target, there)
            return AssertionResult(shown, applied=True, edge=edge, minted=tuple(self._minted), notes=(note,))
        rivals = [c for c in a.conflicts if curation.edge_exists(self._db, c.existing.edge)]
        stronger = next((c.existing.edge for c in rivals if c.weaker is Weaker.NEW), None)
        flagged_by = stronger or (there.flagged_by if there is not None else None)
        curation.put_assertion(self._db, edge, a, flagged_by=flagged_by, by=self._by, at=self._at)
        flagged = [edge] if stronger is not None else []
        flagged += self._flag_weaker(edge, rivals)
        notes = () if created else (f"the edge stood already as {edge}; its window and source are recorded now",)
        return AssertionResult(
            self._with(subject, target, a.exists),
            applied=True,
            edge=edge,
            created=created,
            recorded=True,
            flagged=tuple(flagged),
            minted=tuple(self._minted),
            notes=notes,
        )

    def _edge(self, subject: str, target: str) -> tuple[str, bool]:
        """The edge's id and whether it is new; the same one in another casing or anchored elsewhere is no new one."""
        there = self._assertion.exists
        if there is not None and curation.edge_exists(self._db, there.edge):
            return there.edge, False
        wanted = f"edge_{secrets.token_hex(12)}"
        edge = curation.put_edge(self._db, wanted, subject, target, self._assertion.relation, self._now_ms)
        return edge, edge == wanted

    @property
    def _at(self) -> int:
        return self._now_ms // 1000

    def _alive(self, end: End) -> str:
        if end.id is None:
            if self._mints is None:
                raise BadInput(f"{end.name!r} is new, and no gate is open to let it in")
            minted = self._mints.mint_in(self._db, end.name, end.label, self._at)
            self._minted.append(minted)
            return minted
        if not curation.is_live_end(self._db, end.id):
            raise StalePlan(f"{end.name!r} ({end.id}) was archived or merged away meanwhile", "look it up again")
        return end.id

    def _flag_weaker(self, edge: str, rivals: Collection[Contradiction]) -> list[str]:
        weaker = [c.existing for c in rivals if c.weaker is Weaker.EXISTING]
        for existing in weaker:
            curation.flag_assertion(self._db, existing, flagged_by=edge, by=self._by, at=self._at)
        return [e.edge for e in weaker]

    def _with(self, subject: str, target: str, exists: Existing | None) -> Assertion:
        a = self._assertion
        return replace(a, subject=replace(a.subject, id=subject), object=replace(a.object, id=target), exists=exists)


def _end(
    db: Db, situation: Situation, role: str, asked: str, new: str | None, mints: Mints | None
) -> tuple[End, Lookup]:
    if is_blank(asked):
        raise BadInput(f"the {role} needs a name")
    lookup = look_up_name(db, situation, asked)
    if new is None:
        match = require_entity(lookup, role)
        return End(match.id, match.name, match.type, lookup.found.value), lookup
    if lookup.found in {Found.ENTITY, Found.ALIAS, Found.AMBIGUOUS}:
        match = lookup.entity or lookup.candidates[0]
        remedy = "leave out that it is new, or give the new one a name of its own"
        raise BadInput(f"{asked!r} is there already: {match.id} {match.name!r} [{match.type}]", remedy)
    if mints is None:
        raise BadInput(f"{asked!r} would be new, and no gate is open to let it in")
    label = new if not is_blank(new) else None
    return End(None, asked, mints.lands_as(label), "new", label), lookup


def _signatures(situation: Situation, ends: Sequence[str | None]) -> Signatures:
    """The definitions that judge an edge: an end's own strict row first, the source's before the target's."""
    book = rulebook(situation.manifests)
    return next((book.own[end] for end in ends if end is not None and end in book.own), book.main)
