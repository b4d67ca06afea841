"""What to do about edges that violate: the ranked repairs with what each would change, one of which is signed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ct_tui.domain.errors import BadInput, CtTuiError
from ct_tui.tui.dialogs.base import hints
from ct_tui.tui.dialogs.ruling import RulingDialog
from ct_tui.tui.edge_messages import RepairsWeighed
from ct_tui.tui.edgepapers import repair_line, weight_words
from ct_tui.tui.text import blank, data, say
from ct_tui.tui.widgets.rows import MemoryRows, Row, RowList

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from textual.app import ComposeResult
    from textual.widget import Widget

    from ct_tui.domain.rulings import Body
    from ct_tui.heal.edge_weigh import Weighed
    from ct_tui.heal.workbench import Workbench
    from ct_tui.tui.dialogs.ruling import Decided
    from ct_tui.tui.text import Line, Piece


class RepairDialog(RulingDialog):
    """Which repair it is: `weigh` ranks them, `make` gives the rulings for the text of one.

    `at` is where the cursor begins: a repair's text, or its number from 1.
    """

    VERB = "repair"
    KEYS = {str(n): "take" for n in range(1, 10)} | {"j": "do_dialog_down", "k": "do_dialog_up", "e": "edit"}

    def __init__(
        self,
        *title: Piece,
        what: str,
        weigh: Callable[[Workbench], tuple[int, Sequence[Weighed]]],
        make: Callable[[Workbench, str], tuple[Body, ...]],
        done: Callable[[Decided], None],
        at: str | int = 1,
    ) -> None:
        super().__init__(*title, done=done)
        self._what = what
        self._weigh = weigh
        self._make = make
        self._at = at
        self._repairs: tuple[Weighed, ...] = ()
        self._filled = ""

    def compose_fields(self) -> ComposeResult:
        """The repairs."""
        yield RowList(((say("Working out what could be done…", "dim"),),), id="repairs")

    def prepare(self) -> None:
        """Have the repairs ranked and weighed."""
        super().prepare()
        bench = self.session.bench
        if bench is not None:
            self.station.look("repairs", "weighing the repairs", lambda: _weighed(bench, self._weigh), self)

    @property
    def repairs(self) -> RowList:
        """The list."""
        return self.query_one("#repairs", RowList)

    def own_fields(self) -> list[Widget]:
        """The list."""
        return [self.repairs]

    def hint(self) -> Line:
        """The keys of the dialog."""
        return hints(("⏎", "sign"), ("1-9 j k", "choose"), ("e", "edit the reason"), ("esc", "leave"))

    def on_repairs_weighed(self, message: RepairsWeighed) -> None:
        """They are known: show them, the cursor on the one asked for."""
        if message.error is not None:
            self.repairs.empty = ((say("– ", "warn"), data(message.error.message)),)
            self.repairs.refresh()
            self.refuse(message.error)
            return
        self._repairs = tuple(message.repairs)
        rows = [_repair_row(at, repair) for at, repair in enumerate(self._repairs, 1)]
        self.repairs.show(MemoryRows(rows, [row.key for row in rows]))
        self._go_to(self._at)

    def _go_to(self, at: str | int) -> None:
        if isinstance(at, str):
            found = self.repairs.move_to_key(at)
        else:
            found = at <= len(self._repairs)
            if found:
                self.repairs.move_to(at - 1)
        if not found:
            self.object_to(say("There is no such repair here; choose another."))

    def take(self, key: str) -> None:
        """Put the cursor on a repair by its number."""
        if int(key) <= len(self._repairs):
            self.content_again()
            self.repairs.move_to(int(key) - 1)

    def edit(self) -> None:
        """Edit the reason."""
        self.set_focus(self.reason)

    def target(self) -> str:
        """The text of the repair under the cursor."""
        row = self.repairs.current
        return row.key if row is not None else ""

    def words(self) -> str:
        """What is decided."""
        return f"{self._what}: {self.target()}"

    def deciding(self) -> Callable[[Workbench], tuple[Body, ...]]:
        """The rulings for the repair under the cursor."""
        choice = self.target()
        if not choice:
            raise BadInput("what could be done is still being worked out", "wait a moment, then choose")
        return lambda bench: self._make(bench, choice)

    def on_row_list_moved(self, event: RowList.Moved) -> None:
        """Another repair: another reason, another impact."""
        event.stop()
        self._fill_reason()
        self.changed()

    def _fill_reason(self) -> None:
        """The reason from the evidence, as long as nobody wrote one."""
        row = self.repairs.current
        if row is None or self.reason.text.strip() not in {"", self._filled}:
            return
        why = "; ".join(next((r.proposal.why for r in self._repairs if r.proposal.text == row.key), ()))
        self._filled = data(f"{self._what}: {row.key}: {why}").text.strip()
        self.reason.text = self._filled


def _weighed(bench: Workbench, weigh: Callable[[Workbench], tuple[int, Sequence[Weighed]]]) -> RepairsWeighed:
    try:
        return RepairsWeighed(*weigh(bench))
    except CtTuiError as error:
        return RepairsWeighed(0, (), error)


def _repair_row(at: int, repair: Weighed) -> Row:
    def draw(width: int) -> Line:
        return (*repair_line(at, repair, max(18, width - 45))[1:], blank(2), *weight_words(repair))

    return Row(repair.proposal.text, repair, draw, markable=False)
