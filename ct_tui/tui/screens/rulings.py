"""The rulings: every entry of the table with what verification says of it, and the chain of signatures."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ct_tui.domain.errors import BadInput
from ct_tui.domain.rulings import Entry
from ct_tui.tui import papers
from ct_tui.tui.rowviews import ruling_row
from ct_tui.tui.screens.deciding import Deciding
from ct_tui.tui.text import NOTHING, counted, data, number, say
from ct_tui.tui.widgets.frame import Heading
from ct_tui.tui.widgets.rows import MemoryRows, RowList

if TYPE_CHECKING:
    from textual.app import ComposeResult

    from ct_tui.tui.text import Line

NOBODY = (
    (say("Nobody ruled on this brain yet."),),
    (say("f", "key"), say(" adopts the founding proposals, each or all.", "dim")),
    (say("Q", "key"), say(" shows the open questions.", "dim")),
)
"""What is said where there is no table of rulings yet."""


class RulingsScreen(Deciding):
    """The table of rulings, newest first."""

    VIEW = "rulings"

    def compose_lists(self) -> ComposeResult:
        """The rulings."""
        yield Heading((say("Rulings"),), id="rulings-head")
        yield RowList(((say("Reading the rulings…", "dim"),),), id="rulings")

    @property
    def subject(self) -> str:
        """What is under the cursor."""
        return "ruling" if self.row is not None else ""

    def show_rows(self) -> None:
        """The entries, newest first."""
        table = self.session.table
        if table is None:
            return
        acting = {ruling.seq for ruling in table.valid()}
        drawn = [ruling_row(entry, at, papers.standing_of(entry, table)[0]) for at, entry in enumerate(table.entries)]
        drawn.reverse()
        self.rows.empty = (
            ((say("✗ No entry can be shown: ", "bad"), data(table.distrust)),) if table.distrust else NOBODY
        )
        self.rows.show(MemoryRows([row for row, _ in drawn], [text for _, text in drawn]))
        note: Line = (
            counted(len(table.entries), "entry", "entries", "dim"),
            say(" · ", "faint"),
            number(len(acting), "ok"),
            say(" act", "ok"),
        )
        if table.distrust:
            note = (say("✗ not trusted: none acts", "bad"),)
        self.query_one("#rulings-head", Heading).show(note)

    def describe(self) -> None:
        """The ruling under the cursor, with its place in the chain."""
        row, table = self.row, self.session.table
        if row is None or table is None or not isinstance(row.subject, Entry):
            self.paper.show((), "")
            return
        self.query_one("#detail-head", Heading).show(NOTHING, (say("Ruling"),))
        self.paper.show(tuple(papers.ruling_paper(row.subject, table, self.session.dead)), row.key)

    async def do_rule_revoke(self) -> None:
        """Revoke the ruling under the cursor."""
        from ct_tui.tui.dialogs.decide import RevokeDialog

        row, table = self.row, self.session.table
        entry = row.subject if row is not None else None
        if not isinstance(entry, Entry) or entry.ruling is None or table is None:
            raise BadInput("No ruling is under the cursor.")
        if entry.seq not in {ruling.seq for ruling in table.valid()}:
            raise BadInput(f"Ruling #{entry.seq} does not act, so there is nothing to revoke.")
        await self.station.ask(RevokeDialog(entry.ruling, done=self._decided))

    def do_look_copy(self) -> None:
        """Copy the hash of the ruling under the cursor."""
        row = self.row
        entry = row.subject if row is not None else None
        if isinstance(entry, Entry) and entry.ruling is not None:
            self.station.copy_text(entry.ruling.hash)
        else:
            self.tell(say("– "), data("There is no hash to copy."))
