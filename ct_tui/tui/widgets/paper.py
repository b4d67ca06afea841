"""Running text for the detail beside a list: lines of pieces, wrapped to the width there is.

It scrolls by itself and draws its own scrollbar: a text that changes with every move of a cursor must not have the
whole screen laid out anew.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ct_tui.domain.visible import cell_width
from ct_tui.tui.text import NOTHING, Line, Piece, drawn, fit, wrapped
from ct_tui.tui.widgets.ink import Inked

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from textual import events
    from textual.geometry import Size
    from textual.strip import Strip

MOST_LINES = 5000
"""Lines kept after wrapping; what is beyond is not drawn."""

WHEEL_ROWS = 3
BAR = 1


class Paper(Inked, can_focus=True, inherit_bindings=False):
    """A text that can be scrolled; the same text read anew keeps its place."""

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id, classes=classes)
        self._lines: tuple[Line, ...] = ()
        self._make: Callable[[int], Sequence[Line]] | None = None
        self._drawn: list[Line] = []
        self._width = 0
        self._top = 0
        self._about = ""

    def show(self, lines: Sequence[Line] | Callable[[int], Sequence[Line]], about: str = "") -> None:
        """Show a text, or what makes one for a width; one about something else begins at its top."""
        self._make = lines if callable(lines) else None
        found = () if callable(lines) else tuple(lines)
        if about != self._about:
            self._top = 0
        elif self._make is None and found == self._lines:
            return
        self._about, self._lines = about, found
        self._lay_out()

    @property
    def lines(self) -> tuple[Line, ...]:
        """The text as it was given."""
        return self._lines

    @property
    def top(self) -> int:
        """The first row in sight."""
        return self._top

    @property
    def count(self) -> int:
        """Number of rows after wrapping."""
        return len(self._drawn)

    @property
    def page(self) -> int:
        """Rows that half a page moves by."""
        return max(1, self.size.height // 2)

    def move_by(self, rows: int) -> None:
        """Scroll up or down."""
        self.move_to(self._top + rows)

    def move_to(self, row: int) -> None:
        """Scroll to a row; beyond either end it stops there."""
        top = max(0, min(row, len(self._drawn) - self.size.height))
        if top != self._top:
            self._top = top
            self.refresh()

    def render_line(self, y: int) -> Strip:
        """One line of what is in sight, with its part of the scrollbar."""
        width = self.size.width
        if width != self._width:
            # The first frame is drawn before any widget is told its size.
            self._fill(width)
        index = self._top + y
        line = self._drawn[index] if index < len(self._drawn) else NOTHING
        return self.draw((*fit(line, max(0, width - BAR)), self._bar(y)), width)

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:  # noqa: ARG002
        """As many rows as the text needs at this width, where the paper is as high as its text."""
        return len(self._wrap(width - BAR))

    def on_resize(self) -> None:
        """Another width, other lines."""
        if self.size.width != self._width:
            self._lay_out()
        else:
            self.move_to(self._top)

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        """The wheel scrolls."""
        event.stop()
        self.move_by(WHEEL_ROWS)

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        """The wheel scrolls."""
        event.stop()
        self.move_by(-WHEEL_ROWS)

    def _lay_out(self) -> None:
        self._fill(self.size.width)
        self.refresh(layout=self.styles.height is not None and self.styles.height.is_auto)

    def _fill(self, width: int) -> None:
        """Wrap the text for a width; with none yet, nothing can be wrapped."""
        self._width = width
        if width and self._make is not None:
            self._lines = tuple(self._make(max(1, width - BAR)))
        self._drawn = self._wrap(width - BAR) if width else []
        self._top = max(0, min(self._top, len(self._drawn) - self.size.height))

    def _wrap(self, width: int) -> list[Line]:
        rows: list[Line] = []
        for line in self._lines:
            rows.extend(wrapped(line, max(1, width), _indent(line)))
            if len(rows) > MOST_LINES:
                break
        return rows

    def _bar(self, y: int) -> Piece:
        count, height = len(self._drawn), self.size.height
        if count <= height or height <= 0:
            return drawn(" ")
        size = max(1, height * height // count)
        start = (height - size) * self._top // max(1, count - height)
        return drawn("▐" if start <= y < start + size else " ", "faint")


RUNNING = 18
"""Cells above which a piece counts as running text; shorter ones before it are its sign, its key, or its time."""


def _indent(line: Line) -> int:
    """Cells that the lines a long one continues on are moved in by: to where its running text begins."""
    before = 0
    for piece in line:
        size = cell_width(piece.text)
        if size > RUNNING and not piece.text.isspace():
            return before + size - cell_width(piece.text.lstrip(" "))
        before += size
    return _lead(line)


def _lead(line: Line) -> int:
    lead = 0
    for piece in line:
        stripped = piece.text.lstrip(" ")
        lead += len(piece.text) - len(stripped)
        if stripped:
            break
    return lead
