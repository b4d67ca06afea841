"""A field with a few values, one of which is chosen with the arrows or space."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.message import Message

from ct_tui.tui.text import blank, data, say
from ct_tui.tui.widgets.ink import Inked

if TYPE_CHECKING:
    from collections.abc import Sequence

    from textual import events
    from textual.strip import Strip


class Choice(Inked, can_focus=True, inherit_bindings=False):
    """One of a few values in one line."""

    class Changed(Message):
        """Another value was chosen."""

        def __init__(self, choice: Choice) -> None:
            super().__init__()
            self.choice = choice

    def __init__(self, values: Sequence[tuple[str, str]], *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self._values = list(values)
        self._at = 0

    @property
    def value(self) -> str:
        """The value chosen."""
        return self._values[self._at][0]

    def choose(self, value: str) -> None:
        """Choose a value; one that is not among them changes nothing."""
        at = next((i for i, (name, _) in enumerate(self._values) if name == value), None)
        if at is not None and at != self._at:
            self._at = at
            self.refresh()
            self.post_message(self.Changed(self))

    def step(self, by: int = 1) -> None:
        """Go on to the next value, round the end."""
        self.choose(self._values[(self._at + by) % len(self._values)][0])

    def on_key(self, event: events.Key) -> None:
        """The arrows and space go through the values."""
        step = {"right": 1, "space": 1, "l": 1, "left": -1, "h": -1}.get(event.key)
        if step is not None:
            event.stop()
            self.step(step)

    def on_click(self) -> None:
        """A click goes on to the next value."""
        self.step()

    def on_focus(self) -> None:
        """It looks different with the keyboard on it."""
        self.refresh()

    def on_blur(self) -> None:
        """It looks different without the keyboard on it."""
        self.refresh()

    def render_line(self, y: int) -> Strip:  # noqa: ARG002
        """The values in one line, the chosen one between signs."""
        pieces = []
        for at, (_, words) in enumerate(self._values):
            here = at == self._at
            pieces += [
                say("◉ " if here else "○ ", "key" if here else "faint"),
                data(words, "strong" if here else "dim"),
                blank(2),
            ]
        return self.draw(tuple(pieces), self.size.width, "cursor" if self.has_focus else "")


class Buttons(Inked, can_focus=True, inherit_bindings=False):
    """A few buttons in a line; the first is chosen to begin with, so that enter does the harmless thing."""

    class Pressed(Message):
        """A button was clicked."""

        def __init__(self, value: str) -> None:
            super().__init__()
            self.value = value

    def __init__(self, buttons: Sequence[tuple[str, str]], *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self._buttons = list(buttons)
        self._at = 0

    @property
    def value(self) -> str:
        """The button chosen."""
        return self._buttons[self._at][0]

    def step(self) -> None:
        """Choose the next one."""
        self._at = (self._at + 1) % len(self._buttons)
        self.refresh()

    def on_click(self, event: events.Click) -> None:
        """A click presses the button under it."""
        at = 2
        for value, words in self._buttons:
            end = at + len(words) + 4
            if at <= event.x < end:
                self.post_message(self.Pressed(value))
            at = end + 2

    def render_line(self, y: int) -> Strip:  # noqa: ARG002
        """The buttons, the chosen one between arrows."""
        pieces = [blank(2)]
        for at, (_, words) in enumerate(self._buttons):
            here = at == self._at
            pieces += [
                say("▸ " if here else "  ", "key"),
                data(words, "strong" if here else "dim"),
                say(" ◂" if here else "  ", "key"),
                blank(2),
            ]
        return self.draw(tuple(pieces), self.size.width)
