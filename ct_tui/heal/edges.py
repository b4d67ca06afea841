"""The edges of one view of a brain: counted once, judged now and as they would be after the plan.

`EdgeLens` answers everything that the workstation and the command line ask about edges; it reads the brain in
snapshots of its own and keeps what it counted.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from ct_tui.brain import readers
from ct_tui.brain.edges import EdgeReader, Mark, Scope, edge_history, twin_of
from ct_tui.brain.shapes import EveryShape
from ct_tui.brain.sources import FACTS, ledger_paths, read_sources, sources_of
from ct_tui.domain.by_id import ById
from ct_tui.domain.edge_repairs import (
    Past,
    RepairPlan,
    Subject,
    after_triple,
    joinable_signatures,
    plan_repairs,
    repaired_ids,
    undo_repairs,
)
from ct_tui.domain.edges import EdgeCounts, EdgeState, EffectTally, Rulebook, Signatures, Triple, Triples
from ct_tui.domain.ensure import applies_to
from ct_tui.domain.ladder import Verdict
from ct_tui.domain.manifest import TIER_FACT, EdgeType
from ct_tui.domain.names import label_key
from ct_tui.domain.plan import EdgeChangeKind, EdgeEffect
from ct_tui.domain.queue import EdgeView
from ct_tui.domain.rulings import Alias, EdgeRepair, Legalize, Merge, Repair, Retype, Ruling
from ct_tui.heal.kept import kept

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
    from contextlib import AbstractContextManager

    from ct_tui.brain.connection import Brain, Db
    from ct_tui.brain.edges import Edge, EdgeHistoryRow
    from ct_tui.brain.sources import SourceIndex
    from ct_tui.domain.edges import Cell, Fit
    from ct_tui.domain.manifest import Manifests, Vocabulary
    from ct_tui.domain.plan import EdgeChange, EdgeRow, Plan
    from ct_tui.domain.rulings import Body
    from ct_tui.domain.sources import EntitySources
    from ct_tui.heal.situation import Situation

SHOWN_EDGES = 200
"""How many edges of one entity are shown beside it."""

NAME_CHUNK = 500


@dataclass(frozen=True)
class ListedEdge:
    """One edge as it is listed, its ends by id, name and type; a type of None is unknown, an unknown name empty."""

    id: str
    rowid: int
    entity: str
    edge_type: str
    source: str
    source_name: str
    source_type: str | None
    target: str
    target_name: str
    target_type: str | None
    state: EdgeState
    shielded: bool
    created_at: int

    def as_json(self) -> dict[str, Any]:
        """The edge as the command line prints it; `created_at` in milliseconds, `count` as in a group's row."""
        return {
            "id": self.id,
            "edge_type": self.edge_type,
            "source": self.source,
            "source_name": self.source_name,
            "source_type": self.source_type,
            "target": self.target,
            "target_name": self.target_name,
            "target_type": self.target_type,
            "entity": self.entity,
            "state": self.state.value,
            "shielded": self.shielded,
            "created_at": self.created_at,
            "count": 1,
        }


@dataclass(frozen=True)
class EdgeReport:
    """What the `edges` verb prints: counts, matrix, and the violations as groups or one by one."""

    counts: EdgeCounts
    matrix: tuple[Cell, ...]
    listed: tuple[ListedEdge, ...] | None = None

    @property
    def violations(self) -> tuple[Cell, ...]:
        """The violating cells, worst first."""
        found = (c for c in self.matrix if c.state is EdgeState.VIOLATING)
        return tuple(sorted(found, key=lambda c: -c.count))

    def as_json(self) -> dict[str, Any]:
        """The document of `edges --json`."""
        shown: Iterable[Cell | ListedEdge] = self.violations if self.listed is None else self.listed
        return {
            **self.counts.as_json(),
            "matrix": [cell.as_json() for cell in self.matrix],
            "violations": [row.as_json() for row in shown],
        }


class EdgeLens:
    """The edges as one situation sees them; each part is read when it is first asked for, then kept."""

    def __init__(
        self,
        brain: Brain,
        situation: Situation,
        plan: Callable[[], Plan],
        lock: AbstractContextManager[Any] | None = None,
    ) -> None:
        """`plan` gives what is considered: for a heal all but the repairs of edges, for an undo the whole of it.

        It is asked when something first depends on it. Where it is made under a lock, that one has to be the `lock`
        given here: with two locks, two threads could come to them in different order.
        """
        self.brain = brain
        self.situation = situation
        self.lock = lock if lock is not None else threading.RLock()
        self._plan = plan

    @kept
    def plan(self) -> Plan:
        """The plan that is considered."""
        return self._plan()

    @kept
    def now(self) -> Rulebook:
        """The definitions as the manifests stand."""
        return rulebook(self.situation.state.manifests)

    @kept
    def then(self) -> Rulebook:
        """The definitions once the plan has run; an undo leaves them alone."""
        return self.now if self.plan.undoes is not None else rulebook(self.situation.manifests)

    @kept
    def marks(self) -> Scope:
        """What is spared, fixed or judged by a row of its own."""
        with self.brain.snapshot() as db:
            return read_scope(db, self.situation)

    @kept
    def scope(self) -> Scope:
        """How ends are seen: their marks, and the types that the plan gives, a merged id having its survivor's."""
        moves = {change.entity: change.to_type for change in self.plan.changes}
        merges = {m.entity: m.after or m.entity for m in self.plan.merges}
        if merges:
            with self.brain.snapshot() as db:
                types = readers.names_of(db, list(merges.values()))
            moves.update({i: moves.get(end) or types[end][1] for i, end in merges.items() if end in types})
        return replace(self.marks, moves=moves)

    @kept
    def triples(self) -> Triples:
        """All edges, counted; their ends know what the plan makes of them."""
        with self.brain.snapshot() as db:
            return self.reader(db).triples()

    @kept
    def repairs(self) -> RepairPlan:
        """What the edge rulings in force still have to do."""
        return self._repair_parts[0]

    @property
    def subjects(self) -> Mapping[str, Subject]:
        """The edges that rulings in force name, as they stand."""
        return self._repair_parts[1]

    @kept
    def _repair_parts(self) -> tuple[RepairPlan, dict[str, Subject]]:
        repairs = self.situation.acting.repairs
        undoing = self.plan.undoes is not None
        ids = tuple(c.edge for c in self.plan.edge_changes) if undoing else repaired_ids(repairs)
        if not ids:
            return RepairPlan(), {}
        with self.brain.snapshot() as db:
            subjects = {e.row.id: Subject(e.row, e.triple, e.readable) for e in self.reader(db).by_id(ids)}
            if undoing:
                return RepairPlan(self.plan.edge_changes), subjects
            settled = {i: replace(s, triple=s.triple.settled) for i, s in subjects.items()}
            past = _past(edge_history(db, self.situation.schema, edges=ids))
            return plan_repairs(repairs, settled, past, self.then, lambda row: twin_of(db, row)), subjects

    @kept
    def _repaired(self) -> tuple[tuple[EdgeChange, Triple | None, Triple | None], ...]:
        """Each repair with the edge's triple before it (as it stands) and after the whole plan; None is no edge."""
        back = [c.after for c in self.repairs.changes if c.before is None and c.after is not None]
        with self.brain.snapshot() as db:
            ends = self.reader(db).ends(i for row in back for i in (row.source_id, row.target_id)) if back else {}
        found: list[tuple[EdgeChange, Triple | None, Triple | None]] = []
        for change in self.repairs.changes:
            if change.before is None and change.after is not None:
                row = change.after
                restored = Triple(row.edge_type, ends[row.source_id].settled, ends[row.target_id].settled)
                found.append((change, None, restored))
            else:
                before = self.subjects[change.edge].triple
                found.append((change, before, after_triple(change, before.settled)))
        return tuple(found)

    @kept
    def planned(self) -> Triples:
        """The edges counted as if the plan had run."""
        settled = self.triples.after()
        if not self._repaired:
            return settled
        gone = [before.settled for _, before, _ in self._repaired if before is not None]
        come = [after for _, _, after in self._repaired if after is not None]
        loops = sum(_is_loop(c.after) - _is_loop(c.before) for c, _, _ in self._repaired)
        return settled.changed(gone, come, loops)

    def reader(self, db: Db) -> EdgeReader:
        """A reader over one snapshot, seeing ends as this lens does."""
        return EdgeReader(db, self.situation.schema, self.scope)

    # Reports

    def report(self, *, list_: bool = False, after_plan: bool = False) -> EdgeReport:
        """The `edges` report, as things are or as if the plan had run; `list_` names every violating edge."""
        with self.lock:
            triples, book = (self.planned, self.then) if after_plan else (self.triples, self.now)
            listed = tuple(self.violating(after_plan=after_plan)) if list_ else None
            return EdgeReport(triples.counts(book), triples.matrix(book), listed)

    def numbers(self) -> dict[str, int]:
        """The conformance counts that a run stores for the trend."""
        return conformance_numbers(self.triples.counts(self.now))

    def violating(self, *, after_plan: bool = False) -> Iterator[ListedEdge]:
        """Every violating edge with the names of its ends, in the order of writing."""
        book = self.then if after_plan else self.now
        changes = {c.edge: c for c in self.repairs.changes} if after_plan else {}

        def violates(triple: Triple) -> bool:
            return book.state(triple.settled if after_plan else triple) is EdgeState.VIOLATING

        with self.brain.snapshot() as db:
            waiting: list[tuple[int, EdgeRow, Triple]] = []
            for edge in self.reader(db).where(violates, changes):
                row, triple = edge.row, edge.triple.settled if after_plan else edge.triple
                change = changes.get(row.id)
                if change is not None:
                    moved = after_triple(change, triple)
                    if moved is None or change.after is None or not violates(moved):
                        continue
                    row, triple = change.after, moved
                waiting.append((edge.rowid, row, triple))
                if len(waiting) >= NAME_CHUNK:
                    yield from self.named(db, waiting, book)
                    waiting.clear()
            yield from self.named(db, waiting, book)

    def listed(self, edges: Iterable[Edge]) -> tuple[ListedEdge, ...]:
        """Some edges with the names of their ends, judged as they are now."""
        rows = [(e.rowid, e.row, e.triple) for e in edges]
        with self.brain.snapshot() as db:
            return tuple(self.named(db, rows, self.now))

    def cell(
        self, edge_type: str, source_type: str | None, target_type: str | None, *, after: int = 0, limit: int = 200
    ) -> tuple[ListedEdge, ...]:
        """A page of the edges of one cell as they are now; `after` is the rowid of the last one seen."""

        def belongs(triple: Triple) -> bool:
            return triple.source.type == source_type and triple.target.type == target_type

        with self.brain.snapshot() as db:
            edges = EdgeReader(db, self.situation.schema, self.marks).of_type(
                edge_type, belongs, after=after, limit=limit
            )
            return tuple(self.named(db, [(e.rowid, e.row, e.triple) for e in edges], self.now))

    def views(self, ids: Sequence[str]) -> tuple[EdgeView, ...]:
        """The edges of one entity and of what was merged into it, for the detail pane; at most the first 200."""
        redirects = self.situation.redirects
        rows = {m: Mark(row=key) for key in self.now.own for m in redirects.cluster(key)}
        with self.brain.snapshot() as db:
            edges = EdgeReader(db, self.situation.schema, Scope(redirects, rows)).touching(ids, limit=SHOWN_EDGES)
            found = list(self.named(db, [(e.rowid, e.row, e.triple) for e in edges], self.now))
        return tuple(_edge_view(row, frozenset(ids)) for row in sorted(found, key=lambda r: (r.edge_type, r.id)))

    def named(self, db: Db, rows: Sequence[tuple[int, EdgeRow, Triple]], book: Rulebook) -> Iterator[ListedEdge]:
        """Edges (rowid, row, triple) with the names of their ends, judged by a rulebook."""
        ends = sorted({i for _, row, _ in rows for i in (row.source_id, row.target_id)})
        names = readers.end_names(db, self.situation.schema, ends) if ends else {}
        for rowid, row, triple in rows:
            source, target = (names.get(i, ("", ""))[0] for i in (row.source_id, row.target_id))
            yield ListedEdge(
                row.id,
                rowid,
                row.entity_id,
                row.edge_type,
                row.source_id,
                source,
                triple.source.type,
                row.target_id,
                target,
                triple.target.type,
                book.state(triple),
                triple.shielded,
                row.created_at,
            )

    # Effects

    @kept
    def effect(self) -> EdgeEffect:
        """What the plan does to the edges of the whole brain: `still_violating` are all that stay broken."""
        tally = EffectTally()
        for triple, n in self.triples:
            tally.add(self.now.state(triple), self.then.state(triple.settled), n)
        for _, before, after in self._repaired:
            was = None if before is None else self.now.state(before)
            if before is not None:
                tally.add(was, self.then.state(before.settled), -1)
            tally.add(was, None if after is None else self.then.state(after), 1)
        return tally.effect

    @kept
    def flows(self) -> dict[tuple[str, str], EdgeEffect]:
        """For each from → to of the plan, what it does to the edges of the entities that move."""
        tallies: dict[tuple[str, str], EffectTally] = {}
        for triple, n in self.triples:
            moved = {(end.type or "", end.after) for end in (triple.source, triple.target) if end.after is not None}
            for old, new in moved:
                tally = tallies.setdefault((old, new or ""), EffectTally())
                tally.add(self.now.state(triple), self.then.state(triple.settled), n)
        return {flow: tally.effect for flow, tally in tallies.items()}

    def entity_effects(self, ids: Collection[str]) -> dict[str, EdgeEffect]:
        """For some entities of the plan, what the plan does to the edges of each; one scan of the edges."""
        tallies = {i: EffectTally() for i in ids}
        with self.brain.snapshot() as db:
            edges = self.reader(db).touching(ids)
        for edge in edges:
            before, after = self.now.state(edge.triple), self.then.state(edge.triple.settled)
            for i in {edge.row.source_id, edge.row.target_id}:
                if i in tallies:
                    tallies[i].add(before, after)
        return {i: tally.effect for i, tally in tallies.items()}

    def fits(self, label: str) -> Mapping[str, Fit]:
        """For every declared type, how many edges of the entities of a type would conform if they bore it."""
        with self.lock:
            return self.planned.fit_by_type(label, self.then)

    def fits_of(self, ids: Collection[str]) -> Mapping[str, Fit]:
        """For every declared type, how many edges of just these entities would conform if they bore it; one scan."""
        with self.brain.snapshot() as db:
            scope = replace(self.scope, moves={**self.scope.moves, **dict.fromkeys(ids, TIER_FACT)})
            edges = EdgeReader(db, self.situation.schema, scope).touching(ids)
        return Triples((_marked_only(e, ids), 1) for e in edges).fit_of_marked(self.then)

    def signatures(self, label: str) -> tuple[tuple[EdgeType, int], ...]:
        """The edge signatures that a type could join once declared, with the edges each makes conform."""
        with self.lock:
            return joinable_signatures(label, self.planned, self.then)

    def impact(self, body: Body) -> tuple[EdgeEffect, tuple[str, ...]]:
        """What a ruling would do to edges on top of the plan, with notes; from the counts wherever they suffice."""
        with self.lock:
            if isinstance(body, Alias):
                to = self.situation.vocabulary.canonical(body.to_type) or body.to_type
                return self.planned.effect(self.then, moves={label_key(body.from_type): to}), ()
            if isinstance(body, Legalize):
                return self.planned.effect(self.then, after=self._with_legalized(body)), ()
            if isinstance(body, Retype):
                return self._retype_effect(body.entities, body.to_type), ()
            if isinstance(body, Merge):
                return self._merge_effect(body), ()
            if isinstance(body, EdgeRepair):
                return self._repair_effect(body)
            return EdgeEffect(), ()

    def _with_legalized(self, body: Legalize) -> Rulebook:
        known = self.then.main.vocabulary
        nodes = known.node_types if body.type in known else (*known.node_types, body.node)
        return self._redefined(
            body.manifests, replace(known, node_types=nodes, edge_types=(*known.edge_types, *body.edges))
        )

    def widened(self, body: EdgeRepair) -> Rulebook:
        """The definitions once heal has run, with the signature that a widening adds."""
        known = self.then.main.vocabulary
        added = (EdgeType(*body.triple),) if body.triple is not None else ()
        return self._redefined(body.manifests, replace(known, edge_types=(*known.edge_types, *added)))

    def _redefined(self, manifests: Sequence[str], vocabulary: Vocabulary) -> Rulebook:
        """The rulebook with another main vocabulary, where the ruling is about tier_fact at all."""
        row = self.situation.manifests.tier_fact
        if row is None or not applies_to(manifests, row):
            return self.then
        return Rulebook(Signatures(vocabulary), self.then.own)

    def _retype_effect(self, ids: Sequence[str], to: str) -> EdgeEffect:
        new = self.situation.vocabulary.canonical(to) or to
        members = {m for i in ids for m in self.situation.redirects.cluster(i)}
        tally = EffectTally()
        with self.brain.snapshot() as db:
            for edge in self.reader(db).touching(members):
                settled = edge.triple.settled
                source = settled.source._replace(type=new) if edge.row.source_id in members else settled.source
                target = settled.target._replace(type=new) if edge.row.target_id in members else settled.target
                after = settled._replace(source=source, target=target)
                tally.add(self.then.state(settled), self.then.state(after))
        return tally.effect

    def _merge_effect(self, body: Merge) -> EdgeEffect:
        with self.brain.snapshot() as db:
            end = self.reader(db).ends([body.survivor])[body.survivor].settled
        return EdgeEffect() if end.type is None else self._retype_effect(body.losers, end.type)

    def _repair_effect(self, body: EdgeRepair) -> tuple[EdgeEffect, tuple[str, ...]]:
        if body.repair is Repair.WIDEN:
            return self.planned.effect(self.then, after=self.widened(body)), ()
        if body.repair is Repair.KEEP:
            return EdgeEffect(), ("they leave the queue, and the counts still show them",)
        plan, subjects = self.trial(body)
        tally = EffectTally()
        for change in plan.changes:
            before = subjects[change.edge].triple
            after = after_triple(change, before)
            tally.add(self.then.state(before), None if after is None else self.then.state(after))
        notes = [f"{len(plan.changes)} of {len(body.edges)} edges change", *plan.notes]
        doubles = sum(1 for c in plan.changes if c.kind is EdgeChangeKind.DROP)
        if doubles and body.repair is not Repair.DROP:
            notes.append(f"{doubles} would be a second copy of an edge that is there, and are dropped")
        return tally.effect, tuple(notes)

    def trial(self, body: EdgeRepair) -> tuple[RepairPlan, dict[str, Subject]]:
        """What an edge ruling would do if it were signed now; the edges' ends as the plan makes them."""
        with self.brain.snapshot() as db:
            edges = self.reader(db).by_id(body.edges)
            subjects = {e.row.id: Subject(e.row, e.triple.settled, e.readable) for e in edges}
            return plan_repairs(
                [(self._draft(body), body)], subjects, (), self.then, lambda row: twin_of(db, row)
            ), subjects

    def _draft(self, body: EdgeRepair) -> Ruling:
        import datetime as dt

        seq = self.situation.table.head.seq + 1
        return Ruling(seq, body, "", "", dt.datetime.fromtimestamp(self.situation.now, dt.UTC))


def rulebook(manifests: Manifests) -> Rulebook:
    """tier_fact's definitions, and those of every other strict row that declares edges at all."""
    rows = ((key, manifests.rows[key]) for key in manifests.own_rows())
    own = {
        k: Signatures(r.vocabulary)
        for k, r in rows
        if r.strict and r.vocabulary is not None and r.vocabulary.edge_types
    }
    return Rulebook(Signatures(manifests.vocabulary), own)


def conformance_numbers(counts: EdgeCounts) -> dict[str, int]:
    """The counts as a run stores them: the `edges` document's own and what surrounds them."""
    return counts.as_json()


def read_scope(db: Db, situation: Situation) -> Scope:
    """Which ends are spared, fixed or judged by a row of their own, each listed with its whole merge cluster."""
    redirects, schema, policy = situation.redirects, situation.schema, situation.policy
    surfacing = {i for i, origin in situation.state.origins.items() if origin.surfaces}
    named = {*situation.ladder.special, *surfacing}
    every = None
    if policy.paths_matter and schema.has(FACTS):
        every = EveryShape(db, schema, policy, redirects)
        ledger = ledger_paths(situation.state.origins, redirects)
        named.update(ledger)
        sources = sources_of(db, schema, named, redirects, ledger)
    else:
        sources = read_sources(db, schema, policy, redirects, situation.state)
        named.update(sources.found)
    marker = _Marker(situation, sources)
    default = marker.mark("")
    marks: dict[str, Mark] = {}
    # Of a merge cluster an origin that surfaces speaks last, whichever member it belongs to.
    for entity in (*(named - surfacing), *surfacing):
        mark = marker.mark(entity)
        if mark != default:
            marks.update(dict.fromkeys(redirects.cluster(entity), mark))
    if every is not None:
        return Scope(redirects, _with_shapes(db, marks, every, marker, named, default), default)
    return Scope(redirects, marks, default)


def _with_shapes(
    db: Db, marks: Mapping[str, Mark], every: EveryShape, marker: _Marker, named: Collection[str], default: Mark
) -> Mapping[str, Mark]:
    """The marks of named entities, and of all whose sources alone decide."""
    return db.decoded(lambda: ById(marks, _marks_by_shape(every, marker, named, default)))


def _marks_by_shape(
    every: EveryShape, marker: _Marker, named: Collection[str], default: Mark
) -> Iterator[tuple[str, Mark]]:
    """The marks of those that only their sources decide about, as far as they are not the default one."""
    known: dict[int, Mark] = {}
    for part in every.parts():
        for entity, shape in part.items():
            mark = known.get(shape)
            if mark is None:
                mark = known[shape] = marker.of("", every.like(shape))
            if mark != default and entity not in named:
                yield entity, mark


class _Marker:
    """Gives one owner its mark, by the same tests as the survey's dispositions."""

    def __init__(self, situation: Situation, sources: SourceIndex) -> None:
        self._situation = situation
        self._sources = sources
        self._own = rulebook(situation.manifests).own

    def mark(self, entity: str) -> Mark:
        """The mark of one owner."""
        return self.of(entity, self._sources.of(entity))

    def of(self, entity: str, sources: EntitySources) -> Mark:
        """The mark of one owner whose sources decide as these do."""
        situation = self._situation
        decision = situation.ladder.decide(entity, sources.ladder_paths)
        spared = decision.skipped or sources.report_only(situation.policy)
        spared = spared or bool(sources.off_path(situation.policy.lookup))
        owner = situation.redirects.resolve(entity)
        row = owner if isinstance(owner, str) and owner in self._own else None
        origin = situation.state.origins.get(entity)
        fixed = decision.verdict is Verdict.HELD or (origin is not None and origin.surfaces)
        return Mark(spared, row, fixed)


def undo_edge_changes(db: Db, situation: Situation, run: int) -> RepairPlan:
    """The inverse of one run's repairs, from our history."""
    rows = edge_history(db, situation.schema, run=run)
    if not rows:
        return RepairPlan()
    past = _past(rows)
    present = {e.row.id: e.row for e in EdgeReader(db, situation.schema).by_id([p.edge for p in past])}
    plan = undo_repairs(past, present, run, lambda row: twin_of(db, row))
    garbled = (f"left alone: edge {r.edge}: our history of it cannot be read" for r in rows if not r.readable)
    return replace(plan, notes=(*plan.notes, *garbled))


def _edge_view(row: ListedEdge, own: Collection[str]) -> EdgeView:
    if row.source in own:
        other = (True, row.target, row.target_name, row.target_type or "")
    else:
        other = (False, row.source, row.source_name, row.source_type or "")
    return EdgeView(row.id, row.edge_type, *other, row.state.value)


def _is_loop(row: EdgeRow | None) -> bool:
    return row is not None and row.source_id == row.target_id


def _past(rows: Iterable[EdgeHistoryRow]) -> list[Past]:
    return [Past(r.edge, r.ruling, EdgeChangeKind(r.kind), r.before, r.after) for r in rows if r.readable]


def _marked_only(edge: Edge, ids: Collection[str]) -> Triple:
    """The edge with just the chosen ends marked, the others as the plan makes them."""
    source, target = edge.triple.source, edge.triple.target
    return edge.triple._replace(
        source=source if edge.row.source_id in ids else source.settled,
        target=target if edge.row.target_id in ids else target.settled,
    )
