"""The rows of the edges view: all edges, each kind of edge with its state and what becomes of it, single edges."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ct_tui.tui.text import NOTHING, blank, data, drawn, number, right, say
from ct_tui.tui.widgets.edgepictures import SHIELD, arrow, state_words
from ct_tui.tui.widgets.rows import Row, columns
from ct_tui.tui.widgets.tree import Parent

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from ct_tui.heal.edge_desk import DeskEdge
    from ct_tui.heal.edge_matrix import DeskCell, EdgeMap
    from ct_tui.tui.text import Line

ALL = "all"
"""The key of the row about all edges."""


@dataclass(frozen=True)
class Matrix:
    """One matrix laid out: its cells by their rows' keys, and every row closed, in the order shown."""

    cells: Mapping[str, DeskCell]
    parents: tuple[Parent, ...]
    at: Mapping[str, int]
    longest: int
    alike: Mapping[str, Sequence[DeskCell]]
    """The cells of each edge type."""
    totals: Mapping[str, int]
    """How many edges each row opens to."""

    def opened(self, keys: Iterable[str]) -> list[Parent]:
        """The rows with those of some keys open."""
        found = list(self.parents)
        for key in keys:
            if key in self.at:
                found[self.at[key]] = cell_row(self.cells[key], self.longest, is_open=True)
        return found


@dataclass(frozen=True)
class Laid:
    """The map with both of its matrices laid out, made beside the screen: a large brain has many thousand cells."""

    map: EdgeMap
    now: Matrix
    after: Matrix

    def matrix(self, *, planned: bool) -> Matrix:
        """The matrix as it is now, or as the plan leaves it."""
        return self.after if planned else self.now


def lay_out(found: EdgeMap) -> Laid:
    """Lay out both matrices."""
    return Laid(found, _matrix(found, planned=False), _matrix(found, planned=True))


def _matrix(found: EdgeMap, *, planned: bool) -> Matrix:
    cells = {key_of(cell): cell for cell in (found.cells_after if planned else found.cells)}
    longest = max((cell.cell.count for cell in cells.values()), default=0)
    parents = [cell_row(cell, longest, is_open=False) for cell in cells.values()]
    if cells:
        parents.insert(0, all_row(found, planned=planned))
    alike: dict[str, list[DeskCell]] = {}
    for cell in cells.values():
        alike.setdefault(cell.cell.edge_type, []).append(cell)
    at = {parent.row.key: index for index, parent in enumerate(parents)}
    return Matrix(cells, tuple(parents), at, longest, alike, {key: cell.cell.count for key, cell in cells.items()})


def key_of(cell: DeskCell) -> str:
    """The key of a cell's row."""
    return f"{cell.names!r} {cell.cell.state.value}"


def all_row(found: EdgeMap, *, planned: bool) -> Parent:
    """The row about all edges."""
    counts = found.after if planned else found.now

    def draw(width: int) -> Line:
        good = (say("· ", "faint"), number(counts.conforming, "ok"), say(" conform", "dim"))
        return columns(
            width,
            ((say("  Σ all edges, as a map", "head"),), 0),
            (right(number(counts.edges, "strong"), 6), 6),
            ((blank(1), *good), 28 if width >= 60 else 18),
        )

    return Parent(Row(ALL, ALL, draw, markable=False), "all edges")


def cell_row(cell: DeskCell, longest: int, *, is_open: bool) -> Parent:
    """A kind of edge: its arrow, count, state, and what becomes of it."""
    found = cell.cell
    twist = drawn("▾ " if is_open else "▹ ", "faint")

    def draw(width: int) -> Line:
        word = 14 if width >= 46 else 2
        tail = 14 if width >= 60 else 0
        bar = min(24, width - 72 - word - tail)
        cells: list[tuple[Line, int]] = [
            ((twist,), 2),
            (arrow(*cell.names, max(18, width - 9 - word - tail - max(0, bar))), 0),
            (right(number(found.count, "strong"), 6), 7),
            (state_words(found.state, short=True) if word > 2 else state_words(found.state)[:1], word),
        ]
        if tail:
            cells.append((_tail(cell), tail))
        if bar > 4:
            size = max(1, round(found.count * bar / longest))
            cells.append(((drawn("━" * size, "bad" if cell.open else "faint"),), bar))
        return columns(width, *cells)

    text = f"{found.source_type} {found.edge_type} {found.target_type} {found.state.word} {'open' if cell.open else ''}"
    return Parent(Row(key_of(cell), cell, draw, opens=True, is_open=is_open, markable=False), text, found.count)


def _tail(cell: DeskCell) -> Line:
    """What becomes of the edges of a cell, in a few cells."""
    found = cell.cell
    if cell.open and (cell.open < found.count):
        return (number(cell.open, "warn"), say(" open", "warn"))
    if cell.open:
        return (say("open", "warn"),)
    changed = next((b for b in cell.becomes if b.state is not found.state), None)
    if changed is not None:
        return (say("→ ", "key"), *state_words(changed.state, short=True))
    if cell.kept:
        return (say("· kept", "dim"),)
    if found.shielded:
        return (drawn(SHIELD, "dim"), blank(1), number(found.shielded, "dim"), say(" shielded", "dim"))
    return NOTHING


def edge_row(parent: Row, desk: DeskEdge, key: str) -> Row:
    """One edge below its kind."""
    edge = desk.edge
    del parent

    def draw(width: int) -> Line:
        mark: Line = (drawn(SHIELD + " ", "dim"),) if edge.shielded else (blank(2),)
        ends = (data(edge.source_name or edge.source), say(" → ", "faint"), data(edge.target_name or edge.target))
        state: Line = (say("kept", "dim"),) if desk.kept else state_words(edge.state, short=True)
        if desk.becomes is not edge.state:
            state = (say("→ ", "key"), *state_words(desk.becomes, short=True))
        cells: list[tuple[Line, int]] = [((blank(4), *mark, *ends), 0), ((blank(1), *state), 16 if width >= 46 else 4)]
        if width >= 84:
            cells.append(((blank(1), data(edge.id, "faint")), 30))
        return columns(width, *cells)

    return Row(key, desk, draw, depth=1)
