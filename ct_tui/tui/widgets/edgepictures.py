"""Pictures of edges, read without colour: states as a bar and in words, an edge as an arrow, the matrix as a grid."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ct_tui.domain.edges import EdgeState
from ct_tui.domain.visible import cell_width, visible
from ct_tui.heal.edge_matrix import RANK
from ct_tui.tui.text import NOTHING, Line, Piece, blank, counted, data, drawn, fit, number, right, say, width_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ct_tui.domain.edges import EdgeCounts
    from ct_tui.heal.edge_matrix import DeskCell

INKS = {
    EdgeState.EXACT: "ok",
    EdgeState.PARENT: "ok",
    EdgeState.VIOLATING: "bad",
    EdgeState.UNDETERMINED: "dim",
    EdgeState.UNDECLARED: "warn",
    EdgeState.DANGLING: "dim",
}
BY_WORD = {state.value: (state.sign, INKS[state]) for state in EdgeState}
"""Sign and ink of a state, by its name in the documents."""

SHORT = {EdgeState.UNDECLARED: "undeclared"}
"""Words for narrow columns, where they differ from the state's own."""

GLYPHS = {
    EdgeState.VIOLATING: "█",
    EdgeState.UNDECLARED: "▓",
    EdgeState.DANGLING: "·",
    EdgeState.UNDETERMINED: "░",
    EdgeState.PARENT: "╌",
    EdgeState.EXACT: "─",
}
SHIELD = "◇"


def state_words(state: EdgeState | None, *, short: bool = False) -> Line:
    """A state as a sign and a word; None stands for a dropped edge."""
    if state is None:
        return (say("− dropped", "warn"),)
    word = SHORT.get(state, state.word) if short else state.word
    return (drawn(state.sign, INKS[state]), blank(1), drawn(word, INKS[state]))


def type_words(label: str | None, ink: str = "type") -> Piece:
    """An end's type; one that is unknown is a question mark."""
    return say("?", "dim") if label is None else data(label, ink)


def state_bar(counts: EdgeCounts, width: int) -> Line:
    """All edges as one bar, each state in its own pattern, the worst first; every state that is there shows."""
    present = [(state, counts.get(state)) for state in RANK if counts.get(state)]
    total = sum(n for _, n in present)
    if not total or width < len(present):
        return NOTHING
    cells = {state: max(1, round(n * width / total)) for state, n in present}
    while sum(cells.values()) > width:
        cells[max(cells, key=lambda s: cells[s])] -= 1
    while sum(cells.values()) < width:
        cells[max(cells, key=counts.get)] += 1
    return tuple(drawn(GLYPHS[state] * size, INKS[state]) for state, size in cells.items())


def sums(counts: EdgeCounts, other: EdgeCounts | None, width: int, more: Line = NOTHING) -> tuple[Line, ...]:
    """Every state with its count, sign and word, and where `other` is given what the count was before; then `more`."""
    states = (*reversed(RANK[4:]), *RANK[:4])
    entries = [(*_signed_count(counts, other, state), blank(1), drawn(state.word, "dim")) for state in states]
    shielded = number(counts.shielded, "strong" if counts.shielded else "faint")
    entries.append((drawn(SHIELD, "dim"), blank(1), shielded, say(" shielded", "dim")))
    return tuple(_flow((*entries, more) if more else entries, width, 3))


def _signed_count(counts: EdgeCounts, other: EdgeCounts | None, state: EdgeState) -> Line:
    n = counts.get(state)
    now = number(n, "strong" if n else "faint")
    sign = (drawn(state.sign, INKS[state]), blank(1))
    if other is None or other.get(state) == n:
        return (*sign, now)
    return (*sign, number(other.get(state), "dim"), say(" → ", "key"), now)


def _flow(entries: Iterable[Line], width: int, gap: int) -> Iterable[Line]:
    """Entries side by side, on as many lines as they need."""
    line: Line = NOTHING
    for entry in entries:
        if line and width_of(line) + gap + width_of(entry) > width:
            yield line
            line = NOTHING
        line = (*line, blank(gap), *entry) if line else entry
    if line:
        yield line


def arrow(edge_type: str, source: str | None, target: str | None, width: int) -> Line:
    """A kind of edge in exactly `width` cells: source type, an arrow that carries the edge's name, target type."""
    side = max(4, (width - 5) * 3 // 10)
    name = max(3, width - 2 * side - 6)
    label = data(edge_type, "strong", name)
    shaft = "─" * (name - cell_width(label.text))
    return (
        *right(type_words(source), side),
        say(" ─", "faint"),
        label,
        drawn(shaft + "─→ ", "faint"),
        *fit((type_words(target),), side + 1),
    )


def arrow_words(edge_type: str, source: str | None, target: str | None) -> Line:
    """A kind of edge in one line of running text."""
    return (type_words(source), say(" ─", "faint"), data(edge_type, "strong"), say("→ ", "faint"), type_words(target))


@dataclass
class _Square:
    """One field of the grid: the worst state in it, how many edges are in that state, and how many are not."""

    state: EdgeState
    count: int = 0
    others: int = 0

    @property
    def words(self) -> str:
        """The field's text."""
        return f"{self.count:,}{self.state.sign}" + (f"+{self.others:,}" if self.others else "")

    def add(self, state: EdgeState, count: int) -> None:
        """Take edges in."""
        if state is self.state:
            self.count += count
        elif RANK.index(state) < RANK.index(self.state):
            self.state, self.count, self.others = state, count, self.others + self.count
        else:
            self.others += count


def grid(cells: Sequence[DeskCell], width: int, at: tuple[str | None, str | None] | None = None) -> tuple[Line, ...]:
    """Source types by target types: in each field the worst state's sign and count, `+n` for the edges beside it.

    The worst rows and columns come first; those that do not fit are counted. `at` is framed.
    """
    squares: dict[tuple[str | None, str | None], _Square] = {}
    for found in cells:
        key = (found.cell.source_type, found.cell.target_type)
        squares.setdefault(key, _Square(found.cell.state)).add(found.cell.state, found.cell.count)
    sources, targets = _by_weight(squares, 0), _by_weight(squares, 1)
    head = min(max((_label_width(s) for s in sources), default=4), max(6, width // 3))
    columns = _columns(squares, sources, targets, width - head)
    lines: list[Line] = [(blank(head), *(piece for t, size in columns for piece in right(_bare(t), size)))]
    for source in sources:
        row = [piece for t, size in columns for piece in _field(squares.get((source, t)), size, here=(source, t) == at)]
        lines.append((*right(_bare(source), head), *row))
    hidden = len(targets) - len(columns)
    if hidden:
        lines.append(
            (blank(head + 2), counted(hidden, "more target type", ink="dim"), say(": ⏎ and z give more room", "dim"))
        )
    return tuple(lines)


def _columns(
    squares: dict[tuple[str | None, str | None], _Square],
    sources: Sequence[str | None],
    targets: Sequence[str | None],
    room: int,
) -> list[tuple[str | None, int]]:
    """The target types that fit, each with the width of its column."""
    found: list[tuple[str | None, int]] = []
    for target in targets:
        fields = (squares.get((source, target)) for source in sources)
        widest = max((len(square.words) + 2 for square in fields if square is not None), default=1)
        size = max(widest, min(12, _label_width(target)) + 2)
        if size > room and found:
            break
        room -= size
        found.append((target, size))
    return found


def _field(square: _Square | None, size: int, *, here: bool) -> Line:
    if square is None:
        return right(say("·", "faint"), size)
    ink = INKS[square.state] if here or not square.state.conforms else "dim"
    return right(drawn(f"[{square.words}]" if here else f"{square.words}", ink), size)


def _by_weight(squares: dict[tuple[str | None, str | None], _Square], side: int) -> list[str | None]:
    """The types of one side, those with the most trouble first."""
    weight: dict[str | None, tuple[int, int]] = {}
    for key, square in squares.items():
        bad, all_of_it = weight.get(key[side], (0, 0))
        trouble = 0 if square.state.conforms else square.count
        weight[key[side]] = (bad + trouble, all_of_it + square.count + square.others)
    return sorted(weight, key=lambda t: (-weight[t][0], -weight[t][1], t or ""))


def _bare(label: str | None) -> Piece:
    return say("?", "dim") if label is None else data(label, "type", 16)


def _label_width(label: str | None) -> int:
    return 1 if label is None else min(16, cell_width(visible(label)))


def legend() -> Line:
    """What the signs of the grid mean."""
    pieces: list[Piece] = []
    for state in RANK:
        pieces += [drawn(state.sign, INKS[state]), blank(1), drawn(SHORT.get(state, state.word), "dim"), blank(2)]
    return tuple(pieces)
