"""Running text for the detail beside a list: lines of pieces, wrapped to the width there is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.geometry import Size
from textual.scroll_view import ScrollView

from ct_tui.tui.text import NOTHING, Line, wrapped
from ct_tui.tui.widgets.ink import Inked

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from textual.strip import Strip

MOST_LINES = 5000
"""Lines kept after wrapping; what is beyond is not drawn."""


class Paper(ScrollView, Inked, can_focus=True, inherit_bindings=False):
    """A text that can be scrolled; the same text read anew keeps its place."""

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id, classes=classes)
        self._lines: tuple[Line, ...] = ()
        self._make: Callable[[int], Sequence[Line]] | None = None
        self._drawn: list[Line] = []
        self._width = 0
        self._about = ""

    def show(self, lines: Sequence[Line] | Callable[[int], Sequence[Line]], about: str = "") -> None:
        """Show a text, or what makes one for a width; one about something else begins at its top."""
        self._make = lines if callable(lines) else None
        self._lines = () if callable(lines) else tuple(lines)
        same, self._about = about == self._about, about
        self._lay_out()
        if not same:
            self.scroll_to(y=0, animate=False, immediate=True)

    @property
    def lines(self) -> tuple[Line, ...]:
        """The text as it was given."""
        return self._lines

    def move_by(self, rows: int) -> None:
        """Scroll up or down."""
        self.scroll_to(y=self.scroll_offset.y + rows, animate=False, immediate=True)

    def move_to(self, row: int) -> None:
        """Scroll to a row."""
        self.scroll_to(y=row, animate=False, immediate=True)

    @property
    def count(self) -> int:
        """Number of rows after wrapping."""
        return len(self._drawn)

    @property
    def page(self) -> int:
        """Rows that half a page moves by."""
        return max(1, self.size.height // 2)

    def render_line(self, y: int) -> Strip:
        """One line of what is in sight."""
        index = self.scroll_offset.y + y
        line = self._drawn[index] if index < len(self._drawn) else NOTHING
        return self.draw(line, self.scrollable_content_region.width)

    def on_resize(self) -> None:
        """Another width, other lines."""
        if self.scrollable_content_region.width != self._width:
            self._lay_out()

    def _lay_out(self) -> None:
        self._width = self.scrollable_content_region.width
        width = max(1, self._width)
        if self._make is not None:
            self._lines = tuple(self._make(width))
        drawn: list[Line] = []
        for line in self._lines:
            drawn.extend(wrapped(line, width, _indent(line)))
            if len(drawn) > MOST_LINES:
                break
        self._drawn = drawn
        self.virtual_size = Size(0, len(drawn))
        self.refresh()


def _indent(line: Line) -> int:
    """Cells that the lines a long one continues on are moved in by: as far as its own words are, and a bit more."""
    lead = 0
    for piece in line:
        stripped = piece.text.lstrip(" ")
        lead += len(piece.text) - len(stripped)
        if stripped:
            break
    return lead
