"""Dialogs that only show: a text that can be scrolled, and a choice of one thing among a few."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ct_tui.tui.dialogs.base import Dialog, hints
from ct_tui.tui.text import data
from ct_tui.tui.widgets.paper import Paper
from ct_tui.tui.widgets.rows import MemoryRows, Row, RowList

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from textual.app import ComposeResult
    from textual.widget import Widget

    from ct_tui.tui.text import Line, Piece


class ReadingDialog(Dialog):
    """A text in full; any of the moving keys scrolls it."""

    KEYS = {  # noqa: RUF012
        "j": "do_dialog_down",
        "k": "do_dialog_up",
        "g": "first",
        "G": "last",
        "ctrl+d": "half_down",
        "ctrl+u": "half_up",
        "pagedown": "half_down",
        "pageup": "half_up",
        "q": "do_dialog_cancel",
    }

    def __init__(self, *title: Piece, lines: Sequence[Line]) -> None:
        super().__init__(*title)
        self._lines = tuple(lines)

    def compose_body(self) -> ComposeResult:
        """The text."""
        yield Paper(id="text")

    def prepare(self) -> None:
        """Show the text."""
        super().prepare()
        self.text.show(self._lines)

    @property
    def text(self) -> Paper:
        """The text."""
        return self.query_one("#text", Paper)

    def fields(self) -> list[Widget]:
        """The text."""
        return [self.text]

    def hint(self) -> Line:
        """The keys of the dialog."""
        return hints(("j k", "scroll"), ("esc", "close"))

    def do_dialog_down(self) -> None:
        """Scroll down."""
        self.text.move_by(1)

    def do_dialog_up(self) -> None:
        """Scroll up."""
        self.text.move_by(-1)

    def first(self) -> None:
        """To the top."""
        self.text.move_to(0)

    def last(self) -> None:
        """To the end."""
        self.text.move_to(self.text.count)

    def half_down(self) -> None:
        """Half a page down."""
        self.text.move_by(self.text.page)

    def half_up(self) -> None:
        """Half a page up."""
        self.text.move_by(-self.text.page)


class PickDialog(Dialog):
    """One of a few things, by arrows and enter."""

    KEYS = {"j": "do_dialog_down", "k": "do_dialog_up"}  # noqa: RUF012

    def __init__(self, *title: Piece, things: Sequence[str], picked: Callable[[int], object]) -> None:
        super().__init__(*title)
        self._things = tuple(things)
        self._picked = picked

    def compose_body(self) -> ComposeResult:
        """The things."""
        yield RowList(id="things")

    def prepare(self) -> None:
        """Show the things."""
        super().prepare()
        rows = [_thing_row(at, thing) for at, thing in enumerate(self._things)]
        self.query_one("#things", RowList).show(MemoryRows(rows, list(self._things)))

    def fields(self) -> list[Widget]:
        """The things."""
        return [self.query_one("#things")]

    def do_dialog_accept(self) -> None:
        """Take the one under the cursor, once."""
        row = self.query_one("#things", RowList).current
        if row is not None and not self.over:
            self.close()
            self._picked(int(row.key))


def _thing_row(at: int, thing: str) -> Row:
    def draw(width: int) -> Line:
        return (data(thing, width=width),)

    return Row(str(at), thing, draw, markable=False)
