"""The conformance matrix as a curator works on it: cells of edges alike, with what the plan makes of each.

What is open in a cell is what neither the plan mends, nor a ruling keeps, nor the app spares.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from ct_tui.domain.edge_repairs import after_triple, kept_ids
from ct_tui.domain.edges import Cell, EdgeState

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ct_tui.brain.edges import Edge
    from ct_tui.domain.edges import EdgeCounts, Triple
    from ct_tui.domain.plan import EdgeEffect
    from ct_tui.heal.edges import EdgeLens

OPEN_STATES = frozenset({EdgeState.VIOLATING, EdgeState.UNDECLARED})
"""States that a repair is about."""

RANK = (
    EdgeState.VIOLATING,
    EdgeState.UNDECLARED,
    EdgeState.DANGLING,
    EdgeState.UNDETERMINED,
    EdgeState.PARENT,
    EdgeState.EXACT,
)
"""The states, worst first."""

Names = tuple[str, str | None, str | None]
"""Edge type, source type and target type."""


class Becomes(NamedTuple):
    """What the plan makes of `edges` edges: their state afterwards, None where they are dropped."""

    state: EdgeState | None
    edges: int


@dataclass(frozen=True)
class DeskCell:
    """One cell of the matrix with what the plan makes of its edges.

    `open` edges wait for a ruling, `kept` ones are left by one; `asks` names what most of the open ones will be after
    the plan, which is what a repair is about. `other` names what most of its edges are in the other matrix: after the
    plan for a cell of now, and the reverse.
    """

    cell: Cell
    becomes: tuple[Becomes, ...] = ()
    open: int = 0
    kept: int = 0
    asks: Names | None = None
    asked: int = 0
    other: Names | None = None

    @property
    def names(self) -> Names:
        """Edge type, source type and target type."""
        return self.cell.edge_type, self.cell.source_type, self.cell.target_type

    @property
    def mended(self) -> bool:
        """Whether the plan leaves no edge of it as it is."""
        return all(b.state is not self.cell.state for b in self.becomes)


@dataclass(frozen=True)
class EdgeMap:
    """All edges of a brain, now and as the plan leaves them; the cells worst first."""

    now: EdgeCounts
    after: EdgeCounts
    effect: EdgeEffect
    cells: tuple[DeskCell, ...]
    cells_after: tuple[DeskCell, ...]

    @cached_property
    def open(self) -> int:
        """Edges that wait for a ruling."""
        return sum(cell.open for cell in self.cells_after)


@dataclass
class _Sum:
    """What is added up for one cell."""

    count: int = 0
    shielded: int = 0
    kept: int = 0
    becomes: Counter[EdgeState | None] = field(default_factory=Counter)
    open: Counter[Names] = field(default_factory=Counter)
    others: Counter[Names] = field(default_factory=Counter)

    def add(self, move: _Move, after: EdgeState | None, other: Triple | None) -> None:
        """Take some edges in; `after` is their state after the plan, `other` what they are in the other matrix."""
        self.count += move.n
        if other is not None:
            self.others[names_of(other)] += move.n
        self.becomes[after] += move.n
        if move.before.shielded:
            self.shielded += move.n
        elif move.kept:
            self.kept += move.n
        elif move.after is not None and after in OPEN_STATES:
            self.open[names_of(move.after)] += move.n


class _Move(NamedTuple):
    """Edges alike, before and after the plan (None: dropped); `kept` by a ruling. `n` is negative for a correction."""

    before: Triple
    after: Triple | None
    n: int
    kept: bool = False


def names_of(triple: Triple) -> Names:
    """What names a cell: edge type, source type and target type."""
    return triple.edge_type, triple.source.type, triple.target.type


def build_map(lens: EdgeLens) -> EdgeMap:
    """The matrix of one lens, now and after the plan."""
    with lens.lock:
        moves = list(_moves(lens))
        return EdgeMap(
            lens.triples.counts(lens.now),
            lens.planned.counts(lens.then),
            lens.effect,
            _cells(lens, moves, planned=False),
            _cells(lens, moves, planned=True),
        )


def _moves(lens: EdgeLens) -> Iterator[_Move]:
    """Every edge with what the plan makes of it, counted; single ones that rulings name are corrections."""
    for triple, n in lens.triples:
        yield _Move(triple, triple.settled, n)
    for change in lens.repairs.changes:
        before = lens.subjects[change.edge].triple
        yield _Move(before, before.settled, -1)
        yield _Move(before, after_triple(change, before.settled), 1)
    for edge in _kept_edges(lens):
        yield _Move(edge.triple, edge.triple.settled, -1)
        yield _Move(edge.triple, edge.triple.settled, 1, kept=True)


def _kept_edges(lens: EdgeLens) -> list[Edge]:
    ids = kept_ids(lens.situation.acting.repairs)
    if not ids:
        return []
    with lens.brain.snapshot() as db:
        return lens.reader(db).by_id(sorted(ids))


def _cells(lens: EdgeLens, moves: Iterable[_Move], *, planned: bool) -> tuple[DeskCell, ...]:
    book = lens.then if planned else lens.now
    sums: dict[tuple[Names, EdgeState], _Sum] = {}
    for move in moves:
        seen = move.after if planned else move.before
        if seen is not None:
            after = None if move.after is None else lens.then.state(move.after)
            other = move.before if planned else move.after
            sums.setdefault((names_of(seen), book.state(seen)), _Sum()).add(move, after, other)
    cells = (_desk_cell(names, state, found) for (names, state), found in sums.items() if found.count)
    return tuple(sorted(cells, key=_worst_first))


def _desk_cell(names: Names, state: EdgeState, found: _Sum) -> DeskCell:
    edge_type, source, target = names
    cell = Cell(edge_type, source, target, found.count, state, found.shielded)
    becomes = sorted(
        (Becomes(s, n) for s, n in found.becomes.items() if n),
        key=lambda b: (-b.edges, -1 if b.state is None else RANK.index(b.state)),
    )
    waiting = Counter({asked: n for asked, n in found.open.items() if n > 0})
    asks, asked = waiting.most_common(1)[0] if waiting else (None, 0)
    others = [names for names, n in found.others.most_common() if n > 0]
    return DeskCell(cell, tuple(becomes), waiting.total(), found.kept, asks, asked, others[0] if others else None)


def _worst_first(cell: DeskCell) -> tuple[object, ...]:
    found = cell.cell
    names = (found.edge_type, found.source_type or "", found.target_type or "")
    return (not cell.open, RANK.index(found.state), -cell.open, -found.count, *names)
