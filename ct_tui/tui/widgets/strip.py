"""A line of things to choose among that may be longer than the screen: it shows those around the chosen one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.message import Message

from ct_tui.tui.text import Line, Piece, blank, say, width_of
from ct_tui.tui.widgets.ink import Inked

if TYPE_CHECKING:
    from collections.abc import Sequence

    from textual import events
    from textual.strip import Strip

GAP = 2


class ChoiceStrip(Inked):
    """Choices in one line, the chosen one marked by sign and ink; what does not fit is hinted at by an arrow."""

    class Chosen(Message):
        """A choice was clicked."""

        def __init__(self, key: str) -> None:
            super().__init__()
            self.key = key

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self._choices: tuple[tuple[str, Line], ...] = ()
        self._at = 0

    def show(self, choices: Sequence[tuple[str, Line]], chosen: str) -> None:
        """Show other choices, each a key with its words; `chosen` is a key."""
        at = next((i for i, (key, _) in enumerate(choices) if key == chosen), 0)
        if (tuple(choices), at) != (self._choices, self._at):
            self._choices, self._at = tuple(choices), at
            self.refresh()

    def render_line(self, y: int) -> Strip:  # noqa: ARG002
        """The choices that fit around the chosen one."""
        width = self.size.width
        shown = self._shown(width)
        pieces: list[Piece] = [say("‹", "dim") if shown.start else say(" ")]
        for at in shown:
            words = self._choices[at][1]
            here = at == self._at
            pieces.append(say("▌", "key") if here else say(" "))
            pieces += [Piece(p.text, "title" if here else p.ink or "dim") for p in words]
            pieces.append(blank(GAP - 1))
        if shown.stop < len(self._choices):
            pieces.append(say("›", "dim"))
        return self.draw(tuple(pieces), width)

    def on_click(self, event: events.Click) -> None:
        """A click chooses."""
        x = 1
        for at in self._shown(self.size.width):
            x += self._cells(at)
            if event.x < x:
                self.post_message(self.Chosen(self._choices[at][0]))
                return

    def _cells(self, at: int) -> int:
        return width_of(self._choices[at][1]) + GAP

    def _shown(self, width: int) -> range:
        """The choices in sight: the chosen one, then as many before and after it as there is room for."""
        if not self._choices:
            return range(0)
        start = stop = self._at
        room = width - 2 - self._cells(self._at)
        stop += 1
        while True:
            grew = False
            if start > 0 and self._cells(start - 1) <= room:
                start -= 1
                room -= self._cells(start)
                grew = True
            if stop < len(self._choices) and self._cells(stop) <= room:
                room -= self._cells(stop)
                stop += 1
                grew = True
            if not grew:
                return range(start, stop)
