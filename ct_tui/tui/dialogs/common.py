"""What several kinds of ruling dialogs share: a day until which something holds, and a list of rulings with marks."""

from __future__ import annotations

import datetime as dt
import re
from typing import TYPE_CHECKING

from textual.widgets import Input

from ct_tui.domain.errors import BadInput
from ct_tui.tui.dialogs.base import hints
from ct_tui.tui.dialogs.ruling import RulingDialog
from ct_tui.tui.text import prose, say
from ct_tui.tui.widgets.frame import Lines
from ct_tui.tui.widgets.paper import Paper
from ct_tui.tui.widgets.rows import MemoryRows, Row, RowList

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from textual.app import ComposeResult
    from textual.widget import Widget

    from ct_tui.domain.rulings import Body
    from ct_tui.heal.workbench import Workbench
    from ct_tui.tui.dialogs.ruling import Decided
    from ct_tui.tui.text import Line, Piece

MOST_DAYS = 3650


class UntilDialog(RulingDialog):
    """A ruling that holds until a day or for good."""

    def compose_fields(self) -> ComposeResult:
        """Until when."""
        yield Lines(
            ((say("Until: a day such as 2027-01-31, or +30 days, or empty for good", "head"),),), classes="label"
        )
        yield Input(placeholder="until: for good", compact=True, id="until")

    def begin(self) -> None:
        """The reason comes first."""
        self.set_focus(self.reason)

    def own_fields(self) -> list[Widget]:
        """The day."""
        return [self.query_one("#until")]

    def until(self) -> dt.date | None:
        """The day that is typed, None for good; raises BadInput."""
        return parse_until(self.query_one("#until", Input).value, dt.datetime.now(dt.UTC).date())


class MarkedDialog(RulingDialog):
    """Several rulings in a list: each carries its own reason, those marked are signed together, or none.

    A subclass gives the drafts in their order (`drafts`) and draws each (`draft_row`, keyed by its number).
    """

    REASON_WORDS = "Added to each reason, if anything"
    NEEDS_REASON = False
    KEYS = {"space": "toggle", "asterisk": "toggle_all", "j": "do_dialog_down", "k": "do_dialog_up", "e": "edit"}  # noqa: RUF012

    def __init__(self, *title: Piece, drafts: Sequence[tuple[Body, str]], done: Callable[[Decided], None]) -> None:
        super().__init__(*title, say(" · each carries its own reason", "dim"), done=done)
        self.drafts = list(drafts)

    def compose_fields(self) -> ComposeResult:
        """The rulings with marks."""
        yield RowList(id="drafts")
        yield Paper(id="reading")

    def prepare(self) -> None:
        """All are marked to begin with."""
        rows = [self.draft_row(at) for at in range(len(self.drafts))]
        self.listed.show(MemoryRows(rows, [row.key for row in rows]))
        self.listed.toggle_all()
        super().prepare()

    def draft_row(self, at: int) -> Row:
        """One ruling as a row; its key is its number."""
        raise NotImplementedError

    @property
    def listed(self) -> RowList:
        """The list."""
        return self.query_one("#drafts", RowList)

    @property
    def marked(self) -> tuple[int, ...]:
        """The numbers of those that are to be signed, in their order."""
        return tuple(sorted(int(key) for key in self.listed.marks))

    def own_fields(self) -> list[Widget]:
        """The list."""
        return [self.listed]

    def on_row_list_moved(self, event: RowList.Moved) -> None:
        """The reason of the one under the cursor in full: it is what gets signed."""
        event.stop()
        if event.row is not None:
            self.query_one("#reading", Paper).show(prose(self.drafts[int(event.row.key)][1], "quote"), event.row.key)

    def toggle(self) -> None:
        """Take one in or leave it out."""
        self.listed.toggle_mark()
        self.changed()

    def toggle_all(self) -> None:
        """All or none."""
        self.listed.toggle_all()
        self.changed()

    def edit(self) -> None:
        """Edit what is added to each reason."""
        self.set_focus(self.reason)

    def hint(self) -> Line:
        """The keys of the dialog."""
        return hints(("⏎", "sign"), ("space", "in or out"), ("*", "all or none"), ("e", "add a word"), ("esc", "leave"))

    def deciding(self) -> Callable[[Workbench], tuple[Body, ...]]:
        """The bodies that are marked, in their order."""
        bodies = tuple(self.drafts[at][0] for at in self.marked)
        if not bodies:
            raise BadInput("none is marked", "space takes one in")
        return lambda _: bodies

    def reasons_of(self, typed: str) -> Callable[[Body], str]:
        """Each keeps its own reason; what is typed is added to it."""
        own = dict(self.drafts)
        return lambda body: f"{own[body]} {typed}".strip()


_DAYS = re.compile(r"\+\s*(\d{1,4})\s*(?:d|days?)?\Z")


def parse_until(text: str, today: dt.date) -> dt.date | None:
    """A day, `+30` for so many days from today, or None for nothing; raises BadInput."""
    text = text.strip()
    if not text:
        return None
    ahead = _DAYS.match(text)
    if ahead is not None:
        days = int(ahead.group(1))
        if days > MOST_DAYS:
            raise BadInput("that is more than ten years", "leave it empty to keep it for good")
        return today + dt.timedelta(days=days)
    try:
        return dt.date.fromisoformat(text)
    except ValueError as error:
        raise BadInput(f"{text!r} is no day", "such as 2027-01-31, or +30 for thirty days from today") from error
