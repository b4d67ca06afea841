"""What every dialog has: a box with a title, fields that tab goes through, a place for refusals, and its keys."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import TextArea

from ct_tui.tui.screens.base import BREADTHS, HEIGHTS, breadth_classes, too_small
from ct_tui.tui.text import data, error_lines, say
from ct_tui.tui.theme import DIALOG_STYLES
from ct_tui.tui.widgets.frame import Ends, Notice
from ct_tui.tui.widgets.rows import RowList

if TYPE_CHECKING:
    from collections.abc import Awaitable

    from textual.app import ComposeResult
    from textual.widget import Widget

    from ct_tui.domain.errors import CtTuiError
    from ct_tui.tui.actions import Action
    from ct_tui.tui.app import Workstation
    from ct_tui.tui.session import Session
    from ct_tui.tui.text import Line, Piece


class Dialog(ModalScreen[None]):
    """A box in front of a view. Its keys are done by the application in order, as those of a view are."""

    VIEW: ClassVar[str] = "dialog"
    KEYS: ClassVar[dict[str, str]] = {}
    """Keys of this dialog alone, while nothing is typed: Textual's name to the method that does it."""
    AUTO_FOCUS = ""
    CSS_PATH = DIALOG_STYLES
    HORIZONTAL_BREAKPOINTS = BREADTHS
    VERTICAL_BREAKPOINTS = HEIGHTS

    def __init__(self, *title: Piece) -> None:
        super().__init__()
        self._title: Line = title
        self._over = False

    @property
    def station(self) -> Workstation:
        """The application."""
        from ct_tui.tui.app import Workstation

        assert isinstance(self.app, Workstation)  # noqa: S101 - the only application these dialogs are made for
        return self.app

    @property
    def session(self) -> Session:
        """What this run knows."""
        return self.station.session

    def compose(self) -> ComposeResult:
        """The box."""
        self.add_class(*breadth_classes(self.app.size), update=False)
        with Vertical(id="box"):
            yield Ends(id="dialog-title")
            yield from self.compose_body()
            yield Notice(id="dialog-error")
            yield Ends(id="dialog-hint")
        yield too_small()

    def compose_body(self) -> ComposeResult:
        """What is inside the box."""
        yield from ()

    def on_mount(self) -> None:
        """Fill the box; Textual calls this of every class, so that subclasses have `prepare` instead."""
        self.query_one("#dialog-title", Ends).show(self._title)
        self.query_one("#dialog-error", Notice).show()
        self.prepare()
        self.show_hint()

    def prepare(self) -> None:
        """Fill what is inside the box."""

    def begin(self) -> None:
        """Take the keyboard; called as soon as the dialog is there, before the next key is looked at."""
        fields = self.fields()
        if fields:
            self.set_focus(fields[0])

    # Fields

    def fields(self) -> list[Widget]:
        """What tab goes through, in order."""
        return []

    def do_dialog_next(self) -> None:
        """Next field."""
        self._step(1)

    def do_dialog_previous(self) -> None:
        """Field before."""
        self._step(-1)

    def _step(self, step: int) -> None:
        fields = [field for field in self.fields() if field.display]
        if fields:
            at = fields.index(self.focused) if self.focused in fields else -1 if step > 0 else 0
            self.set_focus(fields[(at + step) % len(fields)])
            self.show_hint()

    def takes(self, action: Action) -> bool:
        """Whether the dialog does an action itself; in a text of several lines the arrows move the text cursor."""
        vertical = action.id in {"dialog.down", "dialog.up"}
        return not (vertical and isinstance(self.focused, TextArea))

    def do_dialog_down(self) -> None:
        """Next choice."""
        for rows in self.query(RowList):
            rows.move_by(1)
            return

    def do_dialog_up(self) -> None:
        """Choice before."""
        for rows in self.query(RowList):
            rows.move_by(-1)
            return

    # Saying

    def show_hint(self) -> None:
        """Show the keys of the dialog."""
        self.query_one("#dialog-hint", Ends).show(self.hint())

    def hint(self) -> Line:
        """The keys of the dialog in words."""
        return hints(("⏎", "take"), ("esc", "leave"))

    def refuse(self, error: CtTuiError) -> None:
        """Say inside the box why it cannot be done."""
        _, first, *rest = error_lines(error)
        self.query_one("#dialog-error", Notice).show((say("✗ ", "bad"), *first), *rest)

    def object_to(self, *line: Piece) -> None:
        """Say inside the box what is missing."""
        self.query_one("#dialog-error", Notice).show((say("✗ ", "bad"), *line))

    def content_again(self) -> None:
        """Take a refusal away."""
        self.query_one("#dialog-error", Notice).show()

    # Ending

    def close(self) -> None:
        """Leave, once."""
        if not self._over:
            self._over = True
            self.dismiss()

    @property
    def over(self) -> bool:
        """Whether the dialog was left."""
        return self._over

    def do_dialog_cancel(self) -> None:
        """Leave without doing anything."""
        self.close()

    def do_dialog_interrupt(self) -> None:
        """Leave without doing anything."""
        self.do_dialog_cancel()

    def do_dialog_accept(self) -> Awaitable[None] | None:
        """Take what is chosen."""
        self.close()
        return None


def hints(*pairs: tuple[str, str]) -> Line:
    """Keys with their words, for the last line of a box."""
    pieces: list[Piece] = []
    for key, word in pairs:
        pieces += [data(key, "key"), say(" "), data(word, "dim"), say("  ")]
    return tuple(pieces)
