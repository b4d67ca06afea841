"""How results look to a person: aligned tables, running text, counted nouns, times; all of it inert text."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING

from ct_tui.cli.output import unpainted
from ct_tui.domain.visible import cell_width, visible, wrap

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from ct_tui.domain.census import RawText

GAP = "  "
_NARROWEST_LAST = 24
_WIDEST = 32

show = visible
"""A value from the data as text that may be printed."""


def table(
    rows: Sequence[Sequence[str]],
    head: Sequence[str] = (),
    *,
    right: Iterable[int] = (),
    width: int = 120,
    indent: int = 2,
) -> list[str]:
    """Rows as aligned lines under their heading; the last column wraps inside `width` where it is too long.

    `right` names the columns that are aligned at their right side; cells are visible text, painted or not. A cell that
    takes more than half of the width (or 32) stands out of its column, so that one monster does not stretch every line.
    """
    if not rows:
        return []
    lines = [head, *rows] if head else list(rows)
    columns = len(lines[0])
    widths = [_column([measure(line[column]) for line in lines], max(_WIDEST, width // 2)) for column in range(columns)]
    room = width - indent - sum(widths[:-1]) - len(GAP) * (columns - 1)
    rights = frozenset(right)
    found: list[str] = []
    for line in lines:
        found += _row(line, widths, rights, max(room, _NARROWEST_LAST), " " * indent)
    return found


def _column(cells: Sequence[int], limit: int) -> int:
    """The width of a column: its widest cell that is within the limit."""
    return max((cell for cell in cells if cell <= limit), default=limit)


def _row(cells: Sequence[str], widths: Sequence[int], right: frozenset[int], room: int, indent: str) -> list[str]:
    fitted = [_fit(cell, widths[n], to_right=n in right) for n, cell in enumerate(cells[:-1])]
    last = len(cells) - 1
    parts = [cells[last]] if measure(cells[last]) <= room else _broken_at_spaces(unpainted(cells[last]), room)
    if last in right:
        parts = [_fit(parts[0], widths[last], to_right=True), *parts[1:]]
    start = indent + GAP.join([*fitted, ""])
    blank = " " * measure(start)
    return [start + parts[0], *(blank + part for part in parts[1:])]


def _broken_at_spaces(text: str, room: int) -> list[str]:
    """Lines of whole words, so that an id can still be picked out; a word too long for the room stands alone."""
    lines = [""]
    for word in text.split(" "):
        longer = f"{lines[-1]} {word}" if lines[-1] else word
        if lines[-1] and cell_width(longer) > room:
            lines.append(word)
        else:
            lines[-1] = longer
    return lines


def _fit(cell: str, width: int, *, to_right: bool) -> str:
    gap = " " * (width - measure(cell))
    return gap + cell if to_right else cell + gap


def measure(cell: str) -> int:
    """Terminal cells of a cell, its styles not counted."""
    return cell_width(unpainted(cell))


def paragraph(text: str, width: int, indent: int = 2) -> list[str]:
    """Running text wrapped into lines."""
    return [" " * indent + line for line in wrap(visible(text, newlines=True), max(20, width - indent))]


def count(number: int, noun: str, plural: str = "") -> str:
    """A number with its noun, such as `1 entity` or `1,204 entities`."""
    return f"{number:,} {noun if number == 1 else plural or _plural(noun)}"


def _plural(noun: str) -> str:
    return noun[:-1] + "ies" if noun.endswith("y") and noun[-2] not in "aeiou" else noun + "s"


def moment(seconds: int | None) -> str:
    """A time in seconds as UTC to the minute; what is no time is shown as the number it is."""
    return _formatted(seconds, lambda value: dt.datetime.fromtimestamp(value, dt.UTC))


def moment_ms(milliseconds: int | None) -> str:
    """A time in milliseconds as UTC to the minute."""
    return _formatted(milliseconds, lambda value: dt.datetime.fromtimestamp(value / 1000, dt.UTC))


def _formatted(value: int | None, to_time: Callable[[int], dt.datetime]) -> str:
    if value is None:
        return "-"
    try:
        return to_time(value).strftime("%Y-%m-%d %H:%M")
    except (ValueError, OverflowError, OSError, TypeError):
        return visible(str(value))


def seq(ruling: int | None) -> str:
    """A ruling's number, or nothing."""
    return f"#{ruling}" if ruling is not None else ""


def value_or_dash(value: RawText) -> str:
    """A value from the data, or a dash where there is none."""
    return "-" if value is None else visible(value)
