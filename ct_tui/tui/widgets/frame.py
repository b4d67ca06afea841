"""The lines around the panes: the bar on top, banners, tabs, headings, what was said last, and the keys."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.message import Message

from ct_tui.tui.text import NOTHING, Line, Piece, blank, data, say, width_of, wrapped
from ct_tui.tui.widgets.ink import Inked
from ct_tui.tui.widgets.pictures import rule_line

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from textual import events
    from textual.geometry import Size
    from textual.strip import Strip


class Lines(Inked):
    """Some lines, one under the other, each cut to the width."""

    def __init__(self, lines: Iterable[Line] = (), *, id: str | None = None, classes: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id, classes=classes)
        self._lines: tuple[Line, ...] = tuple(lines)

    def show(self, *lines: Line) -> None:
        """Show other lines."""
        if lines != self._lines:
            grew = len(lines) != len(self._lines)
            self._lines = lines
            self.refresh(layout=grew)

    @property
    def lines(self) -> tuple[Line, ...]:
        """The lines shown."""
        return self._lines

    def render_line(self, y: int) -> Strip:
        """One of the lines."""
        return self.draw(self._lines[y] if y < len(self._lines) else NOTHING, self.size.width)

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:  # noqa: ARG002
        """As many rows as there are lines."""
        return len(self._lines)


class Notice(Inked):
    """A sentence that may need several lines, such as a banner or an error."""

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id, classes=classes)
        self._lines: tuple[Line, ...] = ()

    def show(self, *lines: Line) -> None:
        """Show other lines; with none the notice takes no room."""
        if lines != self._lines:
            self._lines = lines
            self.display = bool(lines)
            self.refresh(layout=True)

    @property
    def lines(self) -> tuple[Line, ...]:
        """The lines as they were given."""
        return self._lines

    def render_line(self, y: int) -> Strip:
        """One line after wrapping."""
        rows = self._rows(self.size.width)
        return self.draw(rows[y] if y < len(rows) else NOTHING, self.size.width)

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:  # noqa: ARG002
        """As many rows as the lines need at this width."""
        return len(self._rows(width))

    def _rows(self, width: int) -> list[Line]:
        return [row for line in self._lines for row in wrapped(line, max(1, width), 2)]


class Ends(Inked):
    """One line with a left and a right end; where both do not fit the left one is cut."""

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id, classes=classes)
        self._left: Line = NOTHING
        self._right: Line = NOTHING

    def show(self, left: Line, right: Line = NOTHING) -> None:
        """Show other words."""
        if (left, right) != (self._left, self._right):
            self._left, self._right = left, right
            self.refresh()

    @property
    def left(self) -> Line:
        """The words at the left end."""
        return self._left

    def render_line(self, y: int) -> Strip:  # noqa: ARG002
        """The line."""
        width = self.size.width
        tail = self._right if width_of(self._right) < width * 2 // 3 else NOTHING
        room = width - width_of(tail)
        gap = max(0, room - width_of(self._left))
        if gap:
            return self.draw((*self._left, blank(gap), *tail), width)
        from ct_tui.tui.text import fit

        return self.draw((*fit(self._left, max(0, room - 1)), blank(1), *tail), width)


class Heading(Inked):
    """A pane's name with a rule; it stands out while the keyboard is in the pane."""

    def __init__(self, title: Line, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self._title = title
        self._note: Line = NOTHING
        self._strong = False

    def show(self, note: Line, title: Line | None = None) -> None:
        """Show other words behind the name."""
        if note != self._note or title is not None:
            self._note = note
            self._title = title if title is not None else self._title
            self.refresh()

    def strengthen(self, *, strong: bool) -> None:
        """Stand out, or not."""
        if strong != self._strong:
            self._strong = strong
            self.refresh()

    @property
    def words(self) -> Line:
        """Name and note."""
        return (*self._title, *self._note)

    def render_line(self, y: int) -> Strip:  # noqa: ARG002
        """The heading."""
        mark = say("▌", "key") if self._strong else say(" ")
        ink = "title" if self._strong else "head"
        title = tuple(Piece(piece.text, ink) for piece in self._title)
        note = (blank(1), *self._note) if self._note else NOTHING
        width = self.size.width
        return self.draw((mark, *rule_line((*title, *note), width - 1, strong=self._strong)), width)


class Tabs(Inked):
    """The panes' names on narrow screens, the one shown marked by sign and ink."""

    class Chosen(Message):
        """A tab was clicked."""

        def __init__(self, name: str) -> None:
            super().__init__()
            self.name = name

    def __init__(self, tabs: Sequence[tuple[str, Line]], *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self._tabs = list(tabs)
        self._at = tabs[0][0]

    def show(self, tabs: Sequence[tuple[str, Line]], at: str) -> None:
        """Show other words, and which pane is in front."""
        if (list(tabs), at) != (self._tabs, self._at):
            self._tabs, self._at = list(tabs), at
            self.refresh()

    def render_line(self, y: int) -> Strip:  # noqa: ARG002
        """The tabs in one line."""
        pieces: list[Piece] = []
        for name, words in self._tabs:
            here = name == self._at
            pieces.append(say("▌", "key") if here else say(" "))
            pieces += [Piece(p.text, "title" if here else p.ink or "dim") for p in words]
            pieces.append(blank(2))
        return self.draw(tuple(pieces), self.size.width)

    def on_click(self, event: events.Click) -> None:
        """A click chooses a tab."""
        at = 0
        for name, words in self._tabs:
            at += 3 + width_of(words)
            if event.x < at:
                self.post_message(self.Chosen(name))
                return


class KeyBar(Inked):
    """The keys that matter now, as many as fit; one that cannot act is faint."""

    class Pressed(Message):
        """A key was clicked."""

        def __init__(self, key: str) -> None:
            super().__init__()
            self.key = key

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self._keys: tuple[tuple[str, str, str, bool], ...] = ()

    def show(self, keys: Sequence[tuple[str, str, str, bool]], last: tuple[str, str, str, bool]) -> None:
        """Show other keys: (key to press, key as shown, title, whether it can act); the last one is always there."""
        if (*keys, last) != self._keys:
            self._keys = (*keys, last)
            self.refresh()

    def render_line(self, y: int) -> Strip:  # noqa: ARG002
        """The keys in one line, none of them cut."""
        pieces: list[Piece] = []
        at = 0
        for _, start, line in self._laid_out():
            pieces += [blank(start - at), *line]
            at = start + width_of(line)
        return self.draw(tuple(pieces), self.size.width)

    def on_click(self, event: events.Click) -> None:
        """A click presses the key."""
        for key, start, line in self._laid_out():
            if start <= event.x < start + width_of(line):
                self.post_message(self.Pressed(key))
                return

    def _laid_out(self) -> list[tuple[str, int, Line]]:
        """Each key that fits with the cell it begins at; the last one stands at the right end."""
        if not self._keys:
            return []
        *others, (key, shown, title, able) = self._keys
        tail = _key_words(shown, title, able=able)
        end = self.size.width - width_of(tail) - 1
        found: list[tuple[str, int, Line]] = []
        at = 1
        for other, its_key, its_title, its_able in others:
            line = _key_words(its_key, its_title, able=its_able)
            if at + width_of(line) < end:
                found.append((other, at, line))
                at += width_of(line) + 2
        return [*found, (key, max(0, end), tail)]


def _key_words(shown: str, title: str, *, able: bool) -> Line:
    return (data(shown, "key" if able else "faint"), blank(1), data(title, "" if able else "faint"))
