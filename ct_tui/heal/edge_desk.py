"""The edges as a curator works on them: the matrix, the edges of a cell, one edge with its evidence, ranked repairs.

Everything is worked out from one `EdgeLens`. A repair is always about what stays open after the plan, so that two
rulings never answer the same violation.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ct_tui.brain import readers
from ct_tui.brain.edges import Cause, edge_history
from ct_tui.domain.edge_repairs import Violation, after_triple, kept_ids, propose
from ct_tui.domain.edge_why import explain
from ct_tui.domain.errors import BadInput, NothingFound
from ct_tui.heal.edge_ends import EndView, end_views
from ct_tui.heal.edge_matrix import OPEN_STATES, DeskCell, EdgeMap, build_map, names_of
from ct_tui.heal.edge_rulings import repair_bodies
from ct_tui.heal.edge_weigh import RepairScope, Scale, Weighed
from ct_tui.heal.kept import kept

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ct_tui.brain.connection import Db
    from ct_tui.brain.edges import Edge, EdgeHistoryRow
    from ct_tui.domain.edge_repairs import Proposal
    from ct_tui.domain.edge_why import Explanation
    from ct_tui.domain.edges import Cell, EdgeState, Triple
    from ct_tui.domain.plan import EdgeChange, EdgeRow
    from ct_tui.domain.queue import QueueItem
    from ct_tui.domain.rulings import Body, Ruling
    from ct_tui.heal.edge_matrix import Names
    from ct_tui.heal.edge_queue import EdgeQuestions
    from ct_tui.heal.edges import EdgeLens, ListedEdge


HEALED = frozenset({"alias_retype", "queue_retype"})
"""Reasons of origin rows that tell of a retype."""


@dataclass(frozen=True)
class DeskEdge:
    """One edge of a cell, with what the plan makes of it and whether it is still open; `kept` by a ruling."""

    edge: ListedEdge
    becomes: EdgeState | None
    open: bool = False
    kept: bool = False

    @property
    def id(self) -> str:
        """An id of its own even where the row has none that can be read."""
        return f"{self.edge.rowid}:{self.edge.id}"


@dataclass(frozen=True)
class CellDossier:
    """Why the edges of a cell are what they are, and what could be done about those that are open."""

    explanation: Explanation
    scope: RepairScope | None = None
    repairs: tuple[Weighed, ...] = ()


@dataclass(frozen=True)
class Dossier:
    """Everything about one edge: both ends with what stands behind them, why it is what it is, and what could be done.

    `after` is None where the plan drops it; `rulings` name it, `history` is what runs of ours did to it.
    """

    edge: DeskEdge
    source: EndView
    target: EndView
    explanation: Explanation
    after: Explanation | None
    cause: str = ""
    shielded: tuple[str, ...] = ()
    change: EdgeChange | None = None
    rulings: tuple[Ruling, ...] = ()
    history: tuple[EdgeHistoryRow, ...] = ()
    repairs: tuple[Weighed, ...] = ()


class EdgeDesk:
    """The edges of one lens, for a person to work on; the same thread rules as for the lens."""

    def __init__(self, lens: EdgeLens, questions: EdgeQuestions) -> None:
        self._lens = lens
        self._questions = questions
        self._scale = Scale(lens, self._bodies)
        self.lock = lens.lock

    @kept
    def map(self) -> EdgeMap:
        """The matrix, now and after the plan."""
        return build_map(self._lens)

    # The edges of a cell

    def page(self, cell: Cell, *, planned: bool, after: int = 0, limit: int = 200) -> tuple[DeskEdge, ...]:
        """A page of the edges of a cell, oldest first; `after` is the rowid of the last one seen.

        `planned` says that the cell is one of the matrix after the plan; the edges then bear what the plan gives them.
        """
        lens = self._lens
        with lens.lock, lens.brain.snapshot() as db:
            found = self._page(db, cell, planned=planned, after=after, limit=limit)
            return self._desk_edges(db, found, planned=planned)

    def _page(self, db: Db, cell: Cell, *, planned: bool, after: int, limit: int) -> list[Edge]:
        lens = self._lens
        book = lens.then if planned else lens.now
        names = (cell.edge_type, cell.source_type, cell.target_type)

        def belongs(triple: Triple) -> bool:
            return names_of(triple) == names and book.state(triple) is cell.state

        reader = lens.reader(db)
        if not planned:
            return list(reader.of_type(cell.edge_type, belongs, after=after, limit=limit))
        changed = {c.edge: c for c in lens.repairs.changes}
        rows = reader.of_type(cell.edge_type, lambda t: belongs(t.settled), after=after, limit=limit)
        found = [edge for edge in rows if edge.row.id not in changed]
        moved = reader.by_id(sorted(changed)) if changed else []
        found += (e for e in moved if e.rowid > after and self._lands(e, changed[e.row.id], belongs))
        if len(rows) >= limit:
            # What lies beyond the last row read belongs to a later page.
            found = [edge for edge in found if edge.rowid <= rows[-1].rowid]
        return sorted(found, key=lambda edge: edge.rowid)

    @staticmethod
    def _lands(edge: Edge, change: EdgeChange, belongs: Callable[[Triple], bool]) -> bool:
        after = after_triple(change, edge.triple.settled)
        return after is not None and belongs(after)

    def _desk_edges(self, db: Db, edges: Sequence[Edge], *, planned: bool) -> tuple[DeskEdge, ...]:
        lens = self._lens
        changed = {c.edge: c for c in lens.repairs.changes}
        kept = kept_ids(lens.situation.acting.repairs)
        shown: list[tuple[int, EdgeRow, Triple]] = []
        becomes: list[Triple | None] = []
        for edge in edges:
            change = changed.get(edge.row.id)
            after = edge.triple.settled if change is None else after_triple(change, edge.triple.settled)
            becomes.append(after)
            if planned and after is not None:
                row = edge.row if change is None or change.after is None else change.after
                shown.append((edge.rowid, row, after))
            else:
                shown.append((edge.rowid, edge.row, edge.triple))
        listed = lens.named(db, shown, lens.then if planned else lens.now)
        return tuple(
            self._desk_edge(row, edge, after, kept, decided=edge.row.id in changed)
            for row, edge, after in zip(listed, edges, becomes, strict=True)
        )

    def _desk_edge(
        self, listed: ListedEdge, edge: Edge, after: Triple | None, kept: frozenset[str], *, decided: bool
    ) -> DeskEdge:
        state = None if after is None else self._lens.then.state(after)
        is_kept = edge.row.id in kept
        waits = state in OPEN_STATES and not (is_kept or decided or edge.triple.shielded) and edge.readable
        return DeskEdge(listed, state, waits, is_kept)

    # One edge

    def dossier(self, edge_id: str) -> Dossier:
        """One edge with both ends, why it is what it is, and its repairs; raises NothingFound."""
        lens = self._lens
        with lens.lock, lens.brain.snapshot() as db:
            found = lens.reader(db).by_id([edge_id])
            if not found:
                raise NothingFound(f"there is no edge {edge_id!r}", "it was removed meanwhile; ctrl+r reads again")
            edge = found[0]
            desk = self._desk_edges(db, [edge], planned=False)[0]
            change = next((c for c in lens.repairs.changes if c.edge == edge_id), None)
            after = edge.triple.settled if change is None else after_triple(change, edge.triple.settled)
            source, target = end_views(db, lens.situation, edge)
            causes = self._causes(db, edge) if desk.becomes in OPEN_STATES else {}
            history = tuple(edge_history(db, lens.situation.schema, edges=[edge_id]))
        cause = self._questions.blame_of(edge, causes).text if desk.becomes in OPEN_STATES else ""
        scope = self._scope_of([edge]) if desk.open else None
        return Dossier(
            desk,
            source,
            target,
            explain(edge.triple, lens.now),
            None if after is None else explain(after, lens.then),
            cause,
            tuple(f"{side}: {end.shielded}" for side, end in (("source", source), ("target", target)) if end.shielded),
            change,
            tuple(ruling for ruling, body in lens.situation.acting.repairs if edge_id in body.edges),
            history,
            self.weigh(scope) if scope is not None else (),
        )

    def cell_dossier(self, cell: DeskCell, *, planned: bool) -> CellDossier:
        """Why the edges of a cell are what they are, with the repairs; raises NothingFound where they are gone."""
        lens = self._lens
        with lens.lock:
            triples, book = (lens.planned, lens.then) if planned else (lens.triples, lens.now)
            alike = (t for t, _ in triples if names_of(t) == cell.names and book.state(t) is cell.cell.state)
            example = next(alike, None)
            if example is None:
                raise NothingFound(f"no edge is {cell.cell} any longer", "ctrl+r reads again")
            scope = self.scope(cell) if cell.asks is not None else None
            return CellDossier(explain(example, book), scope, self.weigh(scope) if scope is not None else ())

    def _causes(self, db: Db, edge: Edge) -> dict[str, tuple[Cause, int]]:
        """The last change of type of each end and when it was (seconds), by the same rule as for the whole brain."""
        situation = self._lens.situation
        found: dict[str, tuple[Cause, int]] = {}
        for end in (edge.row.source_id, edge.row.target_id):
            owner = situation.redirects.resolve(end)
            if not isinstance(owner, str):
                continue
            rows = readers.history(db, situation.schema, ids=(owner,), limit=1)
            origin = situation.state.origins.get(owner)
            if rows:
                last = rows[0]
                found[end] = Cause(last.from_type, last.to_type, last.reason, last.ruling, last.run), last.at
            elif origin is not None and origin.reason in HEALED:
                found[end] = Cause(origin.original_type or "", "", origin.reason, None, None), origin.recorded_at
        return found

    # Repairs

    def scope(self, cell: DeskCell) -> RepairScope:
        """What a repair of a whole cell is about; raises BadInput where nothing in it is open."""
        if cell.asks is None or not cell.asked:
            raise BadInput(f"nothing is open in {cell.cell}", _why_closed(cell))
        ends = self._open_ends(cell.asks)
        return RepairScope(cell.asks, cell.asked, None, *ends)

    def scope_of(self, edge_ids: Sequence[str]) -> RepairScope:
        """What a repair of some edges is about; raises BadInput where one is not open, or they are not alike."""
        lens = self._lens
        with lens.lock, lens.brain.snapshot() as db:
            edges = lens.reader(db).by_id(edge_ids)
            desk = self._desk_edges(db, edges, planned=False)
        missing = set(edge_ids) - {edge.row.id for edge in edges}
        if missing:
            raise NothingFound(f"there is no edge {min(missing)!r}", "it was removed meanwhile; ctrl+r reads again")
        for edge in desk:
            if not edge.open:
                raise BadInput(f"edge {edge.edge.id} is not open", _why_edge_closed(edge))
        return self._scope_of(edges)

    def _scope_of(self, edges: Sequence[Edge]) -> RepairScope:
        kinds = {names_of(edge.triple.settled) for edge in edges}
        if len(kinds) != 1:
            raise BadInput(f"these {len(edges)} edges differ after the plan", "mark edges alike only")
        settled = [edge.triple.settled for edge in edges]
        return RepairScope(
            kinds.pop(),
            len(edges),
            tuple(edge.row.id for edge in edges),
            any(t.source.entity for t in settled),
            any(t.target.entity for t in settled),
        )

    def _open_ends(self, names: Names) -> tuple[bool, bool]:
        """Whether a ruling on entities would reach the sources, and the targets, of the open edges of these names."""
        found = [t for t, _ in self._lens.planned if names_of(t) == names and not t.shielded]
        return any(t.source.entity for t in found), any(t.target.entity for t in found)

    def proposals(self, scope: RepairScope) -> tuple[Proposal, ...]:
        """The repairs that fit, ranked; where only some edges are meant none is about a whole type."""
        lens = self._lens
        violation = Violation(*scope.names, scope.count, scope.source_movable, scope.target_movable)
        with lens.lock:
            found = propose(violation, lens.planned, lens.then)
        return tuple(p for p in found if scope.edges is None or not p.whole_type)

    def weigh(self, scope: RepairScope) -> tuple[Weighed, ...]:
        """The ranked repairs, each with what it would change in counts."""
        with self._lens.lock:
            return tuple(self._scale.weigh(scope, proposal) for proposal in self.proposals(scope))

    def weigh_item(self, item: QueueItem) -> tuple[Weighed, ...]:
        """The suggestions of a question about edges, each with what it would change in counts."""
        violation = item.data["violation"]
        names = (violation.edge_type, violation.source_type, violation.target_type)
        scope = RepairScope(names, item.count, None, violation.source_movable, violation.target_movable)
        scale = Scale(self._lens, lambda _, proposal: self._questions.bodies(item, proposal.text))
        with self._lens.lock:
            return tuple(scale.weigh(scope, proposal) for proposal in item.data["proposals"])

    def bodies(self, scope: RepairScope, choice: str) -> tuple[Body, ...]:
        """The rulings that one of the ranked repairs stands for; raises BadInput for a text that is none of them."""
        proposals = self.proposals(scope)
        chosen = next((p for p in proposals if p.text == choice), None)
        if chosen is None:
            raise BadInput(
                f"there is no repair {choice!r} for {scope}", f"there is: {'; '.join(p.text for p in proposals)}"
            )
        return self._bodies(scope, chosen)

    def _bodies(self, scope: RepairScope, proposal: Proposal) -> tuple[Body, ...]:
        redirects = self._lens.situation.redirects
        return repair_bodies(redirects, scope.names, proposal, lambda: self._edges_of(scope))

    def _edges_of(self, scope: RepairScope) -> list[Edge]:
        """The edges that a scope is about, as they stand."""
        lens = self._lens
        with lens.lock, lens.brain.snapshot() as db:
            reader = lens.reader(db)
            if scope.edges is not None:
                return reader.by_id(scope.edges)
            decided = self._questions.decided
            found: list[Edge] = []
            after = 0
            while True:
                page = reader.of_type(scope.names[0], lambda t: self._is_open(t, scope.names), after=after, limit=2_000)
                found += (e for e in page if e.readable and e.row.id not in decided)
                if len(page) < 2_000:
                    return found
                after = page[-1].rowid

    def _is_open(self, triple: Triple, names: Names) -> bool:
        settled = triple.settled
        return names_of(settled) == names and not triple.shielded and self._lens.then.state(settled) in OPEN_STATES


def _why_closed(cell: DeskCell) -> str:
    if cell.cell.state.conforms:
        return "its edges conform"
    if cell.cell.shielded:
        return "an end is opted out or off: such edges are reported and never repaired"
    if cell.kept:
        return "a ruling keeps its edges as they are"
    if cell.mended:
        return "a ruling in force mends its edges: P shows when"
    return "such edges are left as they are"


def _why_edge_closed(edge: DeskEdge) -> str:
    if edge.edge.shielded:
        return "an end is opted out or off: it is reported and never repaired"
    if edge.kept:
        return "a ruling keeps it as it is"
    if edge.becomes is None or edge.becomes.conforms:
        return "it conforms after the plan"
    return "a ruling in force decides it already, or it cannot be read"
