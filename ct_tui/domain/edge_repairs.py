"""Repairs of edges: what could be done about a violation, and what the rulings in force do to single edges.

Proposals are ranked for a group of edges alike; a curator picks one, and it becomes a signed ruling. Carrying out a
ruling never guesses: an edge that changed since, conforms by now, is spared by the app or would become a second copy
of another edge is handled as described at `plan_repairs`, and said so.
"""

from __future__ import annotations

import difflib
from collections import Counter
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from ct_tui.domain.edges import EdgeState, Fit, Rulebook, Triple, Triples, edge_text
from ct_tui.domain.lint.edges import is_related_to
from ct_tui.domain.manifest import EdgeType
from ct_tui.domain.names import label_key
from ct_tui.domain.plan import EdgeChange, EdgeChangeKind, EdgeRow
from ct_tui.domain.rulings import EdgeRepair, Repair

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from ct_tui.domain.rulings import Ruling

PER_SIDE = 3
"""How many types are proposed for one end."""


class ProposalKind(StrEnum):
    """What a proposed repair does."""

    RETYPE_SOURCE = "retype source"
    RETYPE_TARGET = "retype target"
    RETYPE_BOTH = "retype both"
    RENAME = "rename"
    REVERSE = "reverse"
    WIDEN = "widen"
    DROP = "drop"
    KEEP = "keep"

    @property
    def repair(self) -> Repair | None:
        """The repair of an edge ruling, or None where a type is ruled on instead."""
        return _REPAIRS.get(self)


_REPAIRS = {
    ProposalKind.RENAME: Repair.RENAME,
    ProposalKind.REVERSE: Repair.REVERSE,
    ProposalKind.WIDEN: Repair.WIDEN,
    ProposalKind.DROP: Repair.DROP,
    ProposalKind.KEEP: Repair.KEEP,
}


@dataclass(frozen=True)
class Violation:
    """Edges alike that violate: the names, how many, and whether a ruling about a type would reach their ends."""

    edge_type: str
    source_type: str | None
    target_type: str | None
    count: int
    source_movable: bool = True
    target_movable: bool = True

    def __str__(self) -> str:
        return f"{self.source_type or '?'} {self.edge_type} {self.target_type or '?'}"


@dataclass(frozen=True)
class Proposal:
    """One repair for a group of edges: `fixes` of them conform afterwards, `fit` counts what else hangs on the type.

    `whole_type` names the type that is ruled on for every entity that bears it, since nobody declared it.
    """

    kind: ProposalKind
    to: str | None
    score: float
    why: tuple[str, ...]
    fixes: int
    fit: Fit
    whole_type: str = ""

    @property
    def text(self) -> str:
        """The repair in a few words, different for every proposal of one group."""
        if self.whole_type:
            return f"retype every {self.whole_type} to {self.to}"
        if self.kind is ProposalKind.RENAME:
            return f"rename to {self.to}"
        if self.kind is ProposalKind.WIDEN:
            return "widen the signature"
        return f"{self.kind.value} to {self.to}" if self.to else self.kind.value

    def as_json(self) -> dict[str, Any]:
        """The proposal as the command line prints it."""
        return {
            "repair": self.kind.value,
            "to": self.to,
            "score": round(self.score, 3),
            "why": "; ".join(self.why),
            "fixes": self.fixes,
            "edges_fit": self.fit.fit,
            "edges_total": self.fit.total,
        }


def propose(violation: Violation, triples: Triples, book: Rulebook) -> tuple[Proposal, ...]:
    """Ranked repairs for a group of violating edges; dropping and keeping are always among them, last."""
    advice = _Advice(violation, triples, book)
    found = [*advice.retypes(), *advice.renames(), *advice.reversal(), *advice.widening(), *advice.last_resorts()]
    return tuple(sorted(found, key=lambda p: -p.score))


def joinable_signatures(label: str, triples: Triples, book: Rulebook) -> tuple[tuple[EdgeType, int], ...]:
    """The edge signatures that a type could join once it is declared, with the edges each would make conform.

    Most edges first; the other end must be declared already, or be the type itself.
    """
    counts: Counter[tuple[str, str, str]] = Counter()
    known = book.main.vocabulary
    key = label_key(label)
    for triple, n in triples.touching(label):
        source, target = triple.source.type, triple.target.type
        if source is None or target is None or book.state(triple) not in _UNSATISFIED:
            continue
        named = [label if label_key(t) == key else known.canonical(t) for t in (source, target)]
        if named[0] is not None and named[1] is not None:
            counts[(book.main.spelling(triple.edge_type) or triple.edge_type, named[0], named[1])] += n
    rows = sorted(counts.items(), key=lambda row: (-row[1], row[0]))
    return tuple((EdgeType(*names), n) for names, n in rows)


_UNSATISFIED = frozenset({EdgeState.VIOLATING, EdgeState.UNDECLARED})


class _Advice:
    """Builds the proposals for one violation."""

    def __init__(self, violation: Violation, triples: Triples, book: Rulebook) -> None:
        self._v = violation
        self._triples = triples
        self._book = book
        self._signatures = book.main
        self._known = book.main.vocabulary

    def retypes(self) -> Iterable[Proposal]:
        source, target = self._v.source_type, self._v.target_type
        if source is None or target is None:
            return
        if label_key(source) == label_key(target):
            if self._v.source_movable and self._v.target_movable:
                yield from self._retype(ProposalKind.RETYPE_BOTH, source, lambda t: (t, t))
            return
        if self._v.source_movable:
            yield from self._retype(ProposalKind.RETYPE_SOURCE, source, lambda t: (t, target))
        if self._v.target_movable:
            yield from self._retype(ProposalKind.RETYPE_TARGET, target, lambda t: (source, t))

    def _retype(self, kind: ProposalKind, old: str, ends: Callable[[str], tuple[str, str]]) -> Iterable[Proposal]:
        states = {n: self._signatures.judge(self._v.edge_type, *ends(n)) for n in self._known.names}
        fitting = {n: s for n, s in states.items() if s.conforms and label_key(n) != label_key(old)}
        if old not in self._known:
            yield from self._whole_type(kind, old, fitting)
        single = (self._single(kind, name, state) for name, state in fitting.items())
        yield from sorted(single, key=lambda p: -p.score)[:PER_SIDE]

    def _whole_type(self, kind: ProposalKind, old: str, fitting: Mapping[str, EdgeState]) -> Sequence[Proposal]:
        """Rulings on every entity of an undeclared type, where an alias reaches any."""
        fits = self._triples.fit_by_type(old, self._book)
        found: list[Proposal] = []
        for name, state in fitting.items():
            fit = fits[name]
            if fit.total:
                why = (self._conforming(name, state), f"{fit.fit} of {fit.total} edges of every {old} would conform")
                score = 0.45 + 0.5 * fit.fit / fit.total + (0.02 if state is EdgeState.EXACT else 0.0)
                found.append(Proposal(kind, name, score, why, self._v.count, fit, whole_type=old))
        return sorted(found, key=lambda p: -p.score)[:PER_SIDE]

    def _single(self, kind: ProposalKind, name: str, state: EdgeState) -> Proposal:
        why = (self._conforming(name, state), "only these entities move")
        return self._of_group(kind, name, 0.35 if state is EdgeState.EXACT else 0.3, why)

    def _conforming(self, name: str, state: EdgeState) -> str:
        one = self._v.count == 1
        verb = "conforms" if one else "conform"
        how = verb if state is EdgeState.EXACT else f"{verb} by the parent type"
        return f"{'this edge' if one else f'{self._v.count} of these edges'} {how} if the end is a {name}"

    def renames(self) -> Iterable[Proposal]:
        for name in self._signatures.edge_names:
            state = self._signatures.judge(name, self._v.source_type, self._v.target_type)
            if not state.conforms or label_key(name) == label_key(self._v.edge_type):
                continue
            likeness = difflib.SequenceMatcher(None, label_key(name), label_key(self._v.edge_type)).ratio()
            how = "declared" if state is EdgeState.EXACT else "declared for the parent type"
            why = (f"{name} is {how} between {self._v.source_type} and {self._v.target_type}",)
            score = 0.55 + 0.25 * likeness + (0.05 if state is EdgeState.EXACT else 0.0)
            yield self._of_group(ProposalKind.RENAME, name, score, why)

    def reversal(self) -> Iterable[Proposal]:
        state = self._signatures.judge(self._v.edge_type, self._v.target_type, self._v.source_type)
        if state.conforms:
            why = f"{self._v.edge_type} is declared the other way round: {self._v.target_type} → {self._v.source_type}"
            yield self._of_group(ProposalKind.REVERSE, None, 0.85 if state is EdgeState.EXACT else 0.75, (why,))

    def widening(self) -> Iterable[Proposal]:
        source, target = self._v.source_type, self._v.target_type
        if source is None or target is None or source not in self._known or target not in self._known:
            return
        if is_related_to(self._v.edge_type):
            yield self._of_group(ProposalKind.WIDEN, None, 0.12, ("it would declare an edge that says nothing",))
            return
        names = (self._known.canonical(source), self._known.canonical(target))
        why = f"adds {self._v.edge_type}: {names[0]} → {names[1]} to the manifest; {_edges(self._v.count)} already"
        yield self._of_group(ProposalKind.WIDEN, None, 0.4 + 0.2 * min(1.0, self._v.count / 20), (why,))

    def last_resorts(self) -> Iterable[Proposal]:
        count, one = self._v.count, self._v.count == 1
        gone = "deletes this edge; undo brings it back" if one else f"deletes {count} edges; undo brings them back"
        left = "it stays as it is and leaves" if one else "they stay as they are and leave"
        still = f"{left} the queue; the counts still show {'it' if one else 'them'}"
        yield Proposal(ProposalKind.DROP, None, 0.1, (gone,), 0, Fit(0, count))
        yield Proposal(ProposalKind.KEEP, None, 0.05, (still,), 0, Fit(0, count))

    def _of_group(self, kind: ProposalKind, to: str | None, score: float, why: tuple[str, ...]) -> Proposal:
        return Proposal(kind, to, score, why, self._v.count, Fit(self._v.count, self._v.count))


def _edges(count: int) -> str:
    return "1 edge says so" if count == 1 else f"{count} edges say so"


@dataclass(frozen=True)
class Subject:
    """One edge that a ruling names: as it stands, and what its ends are once the plan's types are in place."""

    row: EdgeRow
    triple: Triple
    readable: bool = True


@dataclass(frozen=True)
class Past:
    """One repair of an edge that our history keeps; `ruling` is None for an undo."""

    edge: str
    ruling: int | None
    kind: EdgeChangeKind
    before: EdgeRow | None
    after: EdgeRow | None


@dataclass(frozen=True)
class RepairPlan:
    """The edges to write, and in `notes` why others are left alone."""

    changes: tuple[EdgeChange, ...] = ()
    notes: tuple[str, ...] = ()


def repaired_ids(repairs: Iterable[tuple[Ruling, EdgeRepair]]) -> tuple[str, ...]:
    """Every edge that a ruling in force names, each once."""
    return tuple(dict.fromkeys(i for _, body in repairs for i in body.edges))


def kept_ids(repairs: Iterable[tuple[Ruling, EdgeRepair]]) -> frozenset[str]:
    """Edges whose latest ruling keeps them as they are."""
    return frozenset(i for i, (_, body) in _latest(repairs).items() if body.repair is Repair.KEEP)


def plan_repairs(
    repairs: Sequence[tuple[Ruling, EdgeRepair]],
    subjects: Mapping[str, Subject],
    past: Iterable[Past],
    book: Rulebook,
    twin: Callable[[EdgeRow], str | None],
) -> RepairPlan:
    """What the edge rulings in force still have to do; `book` and the subjects' triples are those after the plan.

    The latest ruling on an edge decides. What a ruling has done already is not done again, unless an undo turned it
    back. Left alone, with a note, is an edge that is gone, changed since it was ruled on, not live at both ends,
    spared by the app, or (where the ruling says which triple it was about) conforming by now. Where a rename or a
    reversal would give a second copy of another edge, the other one stands and this one is dropped, which the change
    says; where that other edge is ruled on too, both wait for the next plan. `twin` finds such another edge.
    """
    planner = _RepairPlanner(subjects, past, book)
    for edge, (ruling, body) in _latest(repairs).items():
        planner.consider(edge, ruling, body)
    return planner.resolve(twin)


def undo_repairs(
    past: Iterable[Past], present: Mapping[str, EdgeRow], run: int, twin: Callable[[EdgeRow], str | None]
) -> RepairPlan:
    """The inverse of one run's repairs, which `past` lists newest first.

    An edge that changed since, or whose place another edge took, is left alone with a note.
    """
    changes: list[EdgeChange] = []
    notes: list[str] = []
    rows = list(past)
    # What this undo moves away again makes room for what was there before.
    leaving = {row.edge for row in rows if present.get(row.edge) == row.after}
    for row in rows:
        found = present.get(row.edge)
        if found != row.after:
            what = "no longer there" if found is None else f"now {_text(found)}"
            notes.append(f"changed since, left alone: edge {row.edge}: {what}")
            continue
        taken = twin(row.before) if row.before is not None else None
        if taken is not None and taken not in leaving:
            notes.append(f"left alone: edge {row.edge}: the same edge is there as {taken}")
            continue
        kind = _INVERSE.get(row.kind, row.kind)
        changes.append(EdgeChange(row.edge, kind, row.after, row.before, None, f"undo of run {run}"))
    return RepairPlan(tuple(changes), tuple(notes))


_INVERSE = {EdgeChangeKind.DROP: EdgeChangeKind.RESTORE, EdgeChangeKind.RESTORE: EdgeChangeKind.DROP}


class _RepairPlanner:
    """Decides edge by edge, then settles who may take which place."""

    def __init__(self, subjects: Mapping[str, Subject], past: Iterable[Past], book: Rulebook) -> None:
        self._subjects = subjects
        self._book = book
        self._past: dict[tuple[str, int], list[Past]] = {}
        for row in past:
            if row.ruling is not None:
                self._past.setdefault((row.edge, row.ruling), []).append(row)
        self._wanted: dict[str, EdgeChange] = {}
        self._left: dict[tuple[int, str], list[str]] = {}

    def consider(self, edge: str, ruling: Ruling, body: EdgeRepair) -> None:
        """Decide one edge; the ruling is the latest on it."""
        if body.repair in {Repair.KEEP, Repair.WIDEN}:
            return
        subject = self._subjects.get(edge)
        row = subject.row if subject is not None else None
        done = self._past.get((edge, ruling.seq), [])
        if any(p.after == row for p in done):
            return
        if subject is None:
            self._leave(ruling, edge, "no longer there")
            return
        if done and all(p.before != row for p in done):
            self._leave(ruling, edge, "changed since it was repaired")
            return
        if body.repair is Repair.RENAME and body.to is not None and self._is_named(subject, body.to):
            return
        reason = self._reason_to_leave(subject, body)
        if reason:
            self._leave(ruling, edge, reason)
            return
        self._wanted[edge] = self._change(subject, ruling, body)

    def resolve(self, twin: Callable[[EdgeRow], str | None]) -> RepairPlan:
        """The changes, drops first, since a drop may make room for a rename."""
        drops = [c for c in self._wanted.values() if c.after is None]
        dropped = {c.edge for c in drops}
        claimed: dict[tuple[str, str, str, str], str] = {}
        moves: list[EdgeChange] = []
        for change in self._wanted.values():
            after = change.after
            if after is None:
                continue
            other = claimed.get(_place(after)) or twin(after)
            if other is None or other in dropped:
                claimed[_place(after)] = change.edge
                moves.append(change)
            elif other in self._wanted and _place(after) not in claimed:
                self._leave_seq(change.ruling, change.edge, f"its place is taken by {other}, which is ruled on too")
            else:
                why = f"{change.why}; the same edge is already there as {other}, so this one is dropped"
                drops.append(replace(change, kind=EdgeChangeKind.DROP, after=None, why=why))
        return RepairPlan((*drops, *moves), tuple(self._notes()))

    def _is_named(self, subject: Subject, to: str) -> bool:
        return subject.row.edge_type == (self._book.signatures(subject.triple).spelling(to) or to)

    def _reason_to_leave(self, subject: Subject, body: EdgeRepair) -> str:
        triple = subject.triple
        if not subject.readable:
            return "not readable text"
        if not triple.live:
            return "not live at both ends"
        if triple.shielded:
            return "shielded: an end is opted out or off"
        if body.triple is not None:
            if label_key(body.triple[0]) != label_key(subject.row.edge_type):
                return "changed since it was ruled on"
            if self._book.state(triple).conforms:
                return "conforming by now"
        if body.repair is Repair.RENAME and self._book.signatures(triple).spelling(body.to or "") is None:
            return f"not renamed, since {body.to} is not declared"
        if body.repair is Repair.REVERSE and subject.row.source_id == subject.row.target_id:
            return "beginning and ending at the same id"
        return ""

    def _change(self, subject: Subject, ruling: Ruling, body: EdgeRepair) -> EdgeChange:
        row = subject.row
        said = f"ruling #{ruling.seq}"
        if body.repair is Repair.DROP:
            return EdgeChange(row.id, EdgeChangeKind.DROP, row, None, ruling.seq, f"{said}: drop")
        if body.repair is Repair.REVERSE:
            after = replace(row, source_id=row.target_id, target_id=row.source_id)
            return EdgeChange(row.id, EdgeChangeKind.REVERSE, row, after, ruling.seq, f"{said}: reverse")
        to = self._book.signatures(subject.triple).spelling(body.to or "") or row.edge_type
        why = f"{said}: {row.edge_type} → {to}"
        return EdgeChange(row.id, EdgeChangeKind.RENAME, row, replace(row, edge_type=to), ruling.seq, why)

    def _leave(self, ruling: Ruling, edge: str, reason: str) -> None:
        self._leave_seq(ruling.seq, edge, reason)

    def _leave_seq(self, seq: int | None, edge: str, reason: str) -> None:
        self._left.setdefault((seq or 0, reason), []).append(edge)

    def _notes(self) -> Iterable[str]:
        for (seq, reason), edges in sorted(self._left.items()):
            shown = ", ".join(edges[:3]) + (", …" if len(edges) > 3 else "")
            what = "1 edge is" if len(edges) == 1 else f"{len(edges)} edges are"
            yield f"ruling #{seq}: {what} {reason}, left alone ({shown})"


def _latest(repairs: Iterable[tuple[Ruling, EdgeRepair]]) -> dict[str, tuple[Ruling, EdgeRepair]]:
    """The ruling that decides each edge: the one with the highest number."""
    found: dict[str, tuple[Ruling, EdgeRepair]] = {}
    for ruling, body in sorted(repairs, key=lambda pair: pair[0].seq):
        for edge in body.edges:
            found[edge] = (ruling, body)
    return found


def after_triple(change: EdgeChange, triple: Triple) -> Triple | None:
    """The triple of a repaired edge, from the one before; None where it is dropped."""
    if change.before is None or change.after is None:
        return None
    if change.kind is EdgeChangeKind.REVERSE:
        triple = triple._replace(source=triple.target, target=triple.source)
    return triple._replace(edge_type=change.after.edge_type)


def _place(row: EdgeRow) -> tuple[str, str, str, str]:
    """What may be there only once."""
    return row.entity_id, row.source_id, row.target_id, row.edge_type


def _text(row: EdgeRow) -> str:
    return edge_text(row.source_id, row.edge_type, row.target_id)
