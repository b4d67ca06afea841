"""One row in full, as a reader jumps to it: the edge or the entity around it, its time line, the row as it stands."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ct_tui.domain.errors import CtTuiError
from ct_tui.domain.lint.model import Kind
from ct_tui.tui import lintpapers, papers
from ct_tui.tui.dialogs.base import hints
from ct_tui.tui.dialogs.reading import ReadingDialog
from ct_tui.tui.messages import Failed, RecordRead
from ct_tui.tui.text import NOTHING, data, say
from ct_tui.tui.widgets.frame import Tabs

if TYPE_CHECKING:
    from textual.app import ComposeResult

    from ct_tui.domain.lint.model import Finding
    from ct_tui.heal.workbench import Workbench
    from ct_tui.tui.text import Line

SECTIONS: dict[str, Line] = {
    "edge": (say("Edge"),),
    "entity": (say("Entity"),),
    "history": (say("Time line"),),
    "row": (say("Raw row"),),
}
"""The sections in their order; a record has those that there is something for."""


class RecordDialog(ReadingDialog):
    """The row that a finding is about; tab goes from section to section."""

    KEYS = ReadingDialog.KEYS | {"y": "copy", "l": "do_dialog_next", "h": "do_dialog_previous"}

    def __init__(self, finding: Finding) -> None:
        super().__init__(data(finding.entity or finding.focus.id, "title"), lines=((say("reading…", "faint"),),))
        self._finding = finding
        self._sections: dict[str, tuple[Line, ...]] = {}
        self._at = ""

    def compose_body(self) -> ComposeResult:
        """The sections above the text."""
        yield Tabs(list(SECTIONS.items()), id="sections")
        yield from super().compose_body()

    def prepare(self) -> None:
        """Have it read."""
        super().prepare()
        self.query_one("#sections").display = False
        bench, finding = self.session.bench, self._finding
        if bench is not None:
            self.station.look("record", "reading the row", lambda: _read(bench, finding), self)

    def on_record_read(self, message: RecordRead) -> None:
        """It is read: show the section that the finding is about."""
        self._sections = dict(message.sections)
        self._at = next(iter(self._sections), "")
        self._show()

    def on_failed(self, message: Failed) -> None:
        """It could not be read: say why here."""
        message.stop()
        self.refuse(message.error)
        self.text.show(())

    def _show(self) -> None:
        tabs = self.query_one(Tabs)
        tabs.display = bool(self._sections)
        tabs.show([(name, SECTIONS[name]) for name in self._sections], self._at)
        self.text.show(self._sections.get(self._at, ()), self._at)

    def hint(self) -> Line:
        """The keys of the dialog."""
        return hints(("⇥", "next section"), ("j k", "scroll"), ("y", "copy the id"), ("esc", "back to the findings"))

    def do_dialog_next(self) -> None:
        """Next section."""
        self._step(1)

    def do_dialog_previous(self) -> None:
        """Section before."""
        self._step(-1)

    def _step(self, step: int) -> None:
        names = list(self._sections)
        if names:
            self._at = names[(names.index(self._at) + step) % len(names)]
            self._show()

    def on_tabs_chosen(self, event: Tabs.Chosen) -> None:
        """A section was clicked."""
        if event.name in self._sections:
            self._at = event.name
            self._show()

    def copy(self) -> None:
        """Copy the id of the row."""
        self.station.copy_text(self._finding.focus.id)


def _read(bench: Workbench, finding: Finding) -> RecordRead:
    """Every section that can be read; raises where there is none at all."""
    sections: dict[str, tuple[Line, ...]] = {}
    error: CtTuiError | None = None
    if finding.entity:
        try:
            entity = bench.entity(finding.entity)
            if finding.focus.kind is Kind.EDGE:
                sections["edge"] = tuple(lintpapers.edge_lines(entity, finding.focus.id))
            sections["entity"] = tuple(papers.entity_paper(entity))
            sections["history"] = tuple(papers.life_paper(bench.ledger(finding.entity)))
        except CtTuiError as gone:
            error = gone
    try:
        table, columns = bench.raw_focus(finding.focus)
        head: Line = (data(table, "head"), say(" "), data(finding.focus.id, "dim"))
        sections["row"] = (head, NOTHING, *lintpapers.raw_lines(columns))
    except CtTuiError as gone:
        error = error or gone
    if not sections and error is not None:
        raise error
    return RecordRead(tuple(sections.items()))
