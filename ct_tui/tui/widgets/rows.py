"""The list that everything long is shown in: it draws the lines in sight and asks a source for just those.

The cursor is a key, not a number: when the source is replaced because somebody wrote the brain, the cursor stays on the
row it was on, marks stay on the rows they are on, and the screen does not jump.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from textual.geometry import Size
from textual.message import Message
from textual.scroll_view import ScrollView

from ct_tui.tui.text import NOTHING, Line, Piece, fit, say
from ct_tui.tui.widgets.ink import PLAIN, Inked

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from textual import events
    from textual.strip import Strip

GUTTER = 2
FILTERED_OUT: tuple[Line, ...] = (
    (say("No row holds what the filter looks for.", "dim"),),
    (say("esc shows all again.", "dim"),),
)
"""What is said where a filter has left no row, whatever the list would say were it empty."""


@dataclass(frozen=True)
class Row:
    """One row: `key` is unique in its list, `subject` is what it is about, `draw` gives its line."""

    key: str
    subject: object
    draw: Drawer
    depth: int = 0
    opens: bool = False
    is_open: bool = False
    markable: bool = True


class Drawer(Protocol):
    """Draws a row."""

    def __call__(self, width: int) -> Line:
        """The row's line; it may be shorter or longer than `width`."""


class RowSource(Protocol):
    """Where a list has its rows from; rows that are still being read are None."""

    def __len__(self) -> int:
        """Number of rows, those not yet read included."""

    def row(self, index: int) -> Row | None:
        """The row at an index."""

    def find(self, key: str) -> int | None:
        """The index of a row, or None where it is not there (any more)."""

    def want(self, start: int, stop: int) -> None:
        """Says which rows are in sight, so that a source that reads can read them."""

    def matching(self, needle: str) -> RowSource:
        """The rows that hold a text, in any case."""

    def keys(self, like: Row | None) -> Iterable[str]:
        """The keys of all rows of the same sort as one, as far as they can be marked and are read."""


class MemoryRows:
    """Rows that are all in memory; `texts` are what the filter looks in."""

    def __init__(self, rows: Sequence[Row], texts: Sequence[str]) -> None:
        self._rows = rows
        self._texts = texts
        self._index = {row.key: index for index, row in enumerate(rows)}

    def __len__(self) -> int:
        return len(self._rows)

    def row(self, index: int) -> Row | None:
        """The row at an index."""
        return self._rows[index] if 0 <= index < len(self._rows) else None

    def find(self, key: str) -> int | None:
        """The index of a row."""
        return self._index.get(key)

    def want(self, start: int, stop: int) -> None:
        """Nothing to read: every row is there."""

    def matching(self, needle: str) -> MemoryRows:
        """The rows whose text holds the needle, in any case."""
        low = needle.lower()
        kept = [i for i, text in enumerate(self._texts) if low in text.lower()]
        return MemoryRows([self._rows[i] for i in kept], [self._texts[i] for i in kept])

    def keys(self, like: Row | None) -> Iterable[str]:  # noqa: ARG002 - all rows here are of one sort
        """The keys of the rows that can be marked."""
        return (row.key for row in self._rows if row.markable)


NO_ROWS = MemoryRows((), ())


class GrowingRows(MemoryRows):
    """Rows of which more can be read: the last one stands for those, and coming into sight it has them read."""

    def __init__(self, rows: Sequence[Row], texts: Sequence[str], more: Callable[[], None]) -> None:
        super().__init__(rows, texts)
        self._more = more

    def __len__(self) -> int:
        return super().__len__() + 1

    def want(self, start: int, stop: int) -> None:  # noqa: ARG002 - only the end matters
        """Have more read when the end comes into sight."""
        if stop >= len(self):
            self._more()


class RowList(ScrollView, Inked, can_focus=True, inherit_bindings=False):
    """A list of rows with a cursor, marks and a filter; the keys come from the registry, not from here."""

    class Moved(Message):
        """The cursor is on another row, or the row under it was read anew."""

        def __init__(self, rows: RowList, row: Row | None) -> None:
            super().__init__()
            self.rows = rows
            self.row = row

        def can_replace(self, message: Message) -> bool:
            """Of several moves that wait, only the last one is heard of: where the cursor was between is past."""
            return isinstance(message, RowList.Moved) and message.rows is self.rows

        @property
        def control(self) -> RowList:
            """The list it happened in."""
            return self.rows

    class Entered(Message):
        """A row was double-clicked."""

        def __init__(self, rows: RowList) -> None:
            super().__init__()
            self.rows = rows

        @property
        def control(self) -> RowList:
            """The list it happened in."""
            return self.rows

    def __init__(self, empty: Iterable[Line] = (), *, id: str | None = None, classes: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id, classes=classes)
        self._all: RowSource = NO_ROWS
        self._source: RowSource = NO_ROWS
        self._at = 0
        self._key: str | None = None
        self._anchor: str | None = None
        self.marks: set[str] = set()
        """Keys of the marked rows."""
        self.needle = ""
        """What the filter looks for; empty where there is none."""
        self.empty: tuple[Line, ...] = tuple(empty)
        """What is said where there is no row."""

    # What it shows

    def show(self, source: RowSource) -> None:
        """Show other rows; cursor and marks stay on the rows that are still there."""
        self._all = source
        self._apply(source.matching(self.needle) if self.needle else source)
        self.marks = {key for key in self.marks if source.find(key) is not None}

    def filter(self, needle: str) -> None:
        """Show only the rows that hold a text; an empty one shows all."""
        self.needle = needle
        self._apply(self._all.matching(needle) if needle else self._all)

    def reread(self) -> None:
        """Draw again after the source has read rows or changed their number."""
        self._apply(self._source)

    @property
    def count(self) -> int:
        """Number of rows shown."""
        return len(self._source)

    @property
    def at(self) -> int:
        """Index of the cursor."""
        return self._at

    @property
    def current(self) -> Row | None:
        """The row under the cursor."""
        return self._source.row(self._at)

    def row_at(self, index: int) -> Row | None:
        """The row shown at an index, or None where it is not read yet."""
        return self._source.row(index)

    def shown_row(self, index: int) -> Row | None:
        """The row at an index of those shown; None where there is none or it is not read yet."""
        return self._source.row(index)

    @property
    def all_rows(self) -> RowSource:
        """The source without the filter."""
        return self._all

    @property
    def ranging(self) -> bool:
        """Whether moving the cursor extends a range of marks."""
        return self._anchor is not None

    # Moving

    def move_to(self, index: int, *, scroll: bool = True) -> None:
        """Put the cursor on a row; beyond either end it stops there."""
        count = len(self._source)
        index = max(0, min(index, count - 1))
        old, self._at = self._at, index
        row = self._source.row(index) if count else None
        self._key = row.key if row is not None else None
        if self._anchor is not None:
            self.refresh()
        else:
            self.refresh_line(old)
            self.refresh_line(index)
        if scroll:
            self._keep_in_sight()
        self.post_message(self.Moved(self, row))

    def move_by(self, rows: int) -> None:
        """Move the cursor up or down."""
        self.move_to(self._at + rows)

    def move_to_key(self, key: str) -> bool:
        """Put the cursor on a row by its key; False where it is not there."""
        index = self._source.find(key)
        if index is None:
            return False
        self.move_to(index)
        return True

    @property
    def page(self) -> int:
        """Rows that half a page moves by."""
        return max(1, self.size.height // 2)

    # Marking

    def toggle_mark(self) -> None:
        """Mark the row under the cursor or take its mark away, and go on to the next."""
        row = self.current
        if row is not None and row.markable:
            self.marks.symmetric_difference_update({row.key})
            self.refresh_line(self._at)
            self.move_by(1)

    def toggle_range(self) -> None:
        """Begin a range at the cursor, or end it and mark its rows."""
        if self._anchor is None:
            self._anchor = self._key
        else:
            self.marks |= {key for index in self._range() if (key := self._markable_key(index))}
            self._anchor = None
        self.refresh()

    def toggle_all(self) -> None:
        """Mark every row that is shown, or, where they all are, none."""
        keys = set(self._source.keys(self.current))
        self.marks = self.marks - keys if keys <= self.marks else self.marks | keys
        self.refresh()

    def clear_marks(self) -> bool:
        """Give up range and marks; False where there was nothing to give up."""
        had = bool(self.marks) or self._anchor is not None
        self.marks.clear()
        self._anchor = None
        self.refresh()
        return had

    def marked(self) -> tuple[Row, ...]:
        """The marked rows that are read, in their order."""
        found = ((self._all.find(key), key) for key in self.marks)
        rows = (self._all.row(index) for index, _ in sorted((i, k) for i, k in found if i is not None))
        return tuple(row for row in rows if row is not None)

    # Drawing

    def render_line(self, y: int) -> Strip:
        """One line of what is in sight."""
        width = self.scrollable_content_region.width
        if not len(self._source):
            said = FILTERED_OUT if self.needle and len(self._all) else self.empty
            line = said[y] if y < len(said) else NOTHING
            return self.draw((Piece("  "), *line), width)
        index = self.scroll_offset.y + y
        if index >= len(self._source):
            return self.draw(NOTHING, width)
        row = self._source.row(index)
        here = index == self._at
        ground = ("cursor" if self.has_focus else "cursor-blurred") if here else PLAIN
        marked = row is not None and (row.key in self.marks or (self._anchor is not None and index in self._range()))
        if marked and not here:
            ground = "mark"
        line = row.draw(max(1, width - GUTTER)) if row is not None else (say("…", "faint"),)
        return self.draw((*_gutter(here=here, marked=marked, focused=self.has_focus), *line), width, ground)

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """Rows that come into sight are asked for."""
        super().watch_scroll_y(old_value, new_value)
        self._ask()

    def on_resize(self) -> None:
        """Keep the cursor in sight when the room changes."""
        self._keep_in_sight()
        self._ask()

    def on_focus(self) -> None:
        """The cursor line looks different with the keyboard on it."""
        self.refresh()

    def on_blur(self) -> None:
        """The cursor line looks different without the keyboard on it."""
        self.refresh()

    def on_mouse_down(self, event: events.MouseDown) -> None:
        """A click puts the cursor on the row."""
        index = self.scroll_offset.y + int(event.y)
        if 0 <= index < len(self._source):
            self.move_to(index, scroll=False)

    def on_click(self, event: events.Click) -> None:
        """A double click enters the row."""
        if event.chain == 2:
            self.post_message(self.Entered(self))

    def _apply(self, source: RowSource) -> None:
        self._source = source
        found = source.find(self._key) if self._key is not None else None
        self.virtual_size = Size(0, len(source))
        if self._anchor is not None and source.find(self._anchor) is None:
            self._anchor = None
        unread = self._at < len(source) and source.row(self._at) is None
        if found is not None or not (unread and self._key is not None):
            self.move_to(self._at if found is None else found)
        self._ask()
        self.refresh()

    def _ask(self) -> None:
        top = self.scroll_offset.y
        self._source.want(top, min(len(self._source), top + self.size.height + 1))

    def _keep_in_sight(self) -> None:
        height = self.size.height
        if height <= 0:
            return
        top = self.scroll_offset.y
        margin = min(2, (height - 1) // 2)
        if self._at < top + margin:
            target = max(0, self._at - margin)
        elif self._at > top + height - 1 - margin:
            target = min(max(0, len(self._source) - height), self._at - height + 1 + margin)
        else:
            return
        if target != top:
            self.scroll_to(y=target, animate=False, immediate=True)

    def _range(self) -> range:
        anchor = self._source.find(self._anchor) if self._anchor is not None else None
        if anchor is None:
            return range(0)
        return range(min(anchor, self._at), max(anchor, self._at) + 1)

    def _markable_key(self, index: int) -> str | None:
        row = self._source.row(index)
        return row.key if row is not None and row.markable else None


def _gutter(*, here: bool, marked: bool, focused: bool) -> Line:
    sign = say("▸", "key") if focused else say("›", "faint")
    return (sign if here else say(" "), say("●" if marked else " ", "warn"))


def columns(width: int, *cells: tuple[Line, int]) -> Line:
    """Cells side by side, each fitted to its width; a width of 0 takes what is left."""
    fixed = sum(size for _, size in cells if size > 0)
    loose = max(1, width - fixed)
    return tuple(piece for line, size in cells for piece in fit(line, size or loose))
