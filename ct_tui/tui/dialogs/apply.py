"""The last question before the brain is written, the writing, and the receipt."""

from __future__ import annotations

import inspect
import threading
from typing import TYPE_CHECKING

from textual.widgets import Input

from ct_tui.domain.errors import CtTuiError
from ct_tui.tui.dialogs.base import Dialog, hints
from ct_tui.tui.messages import Applied, Failed, Progressed, Refused
from ct_tui.tui.text import NOTHING, blank, counted, data, drawn, number, right, say
from ct_tui.tui.widgets.choice import Buttons
from ct_tui.tui.widgets.frame import Ends, Notice

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from textual.app import ComposeResult
    from textual.message import Message
    from textual.widget import Widget

    from ct_tui.domain.plan import Conflict, Plan, Progress, Receipt
    from ct_tui.tui.text import Line

TYPED_ABOVE = 100
"""Rows above which the number itself has to be typed."""


def rows_of(plan: Plan) -> int:
    """Rows that a plan writes."""
    return len(plan.changes) + len(plan.manifests) + len(plan.edge_changes) + len(plan.merges)


class ConfirmDialog(Dialog):
    """States what will be written. Cancel has the keyboard; another key than the one that opened it writes."""

    KEYS = {"y": "confirm", "n": "do_dialog_cancel", "left": "other", "right": "other", "h": "other", "l": "other"}  # noqa: RUF012

    def __init__(self, plan: Plan, confirmed: Callable[[Plan], Awaitable[None]]) -> None:
        super().__init__(say("Write this into the brain?", "title"))
        self._plan = plan
        self._confirmed = confirmed
        self._typed = rows_of(plan) > TYPED_ABOVE

    @property
    def plan(self) -> Plan:
        """What would be written."""
        return self._plan

    def compose_body(self) -> ComposeResult:
        """The counts, and the way to agree."""
        yield Notice(id="counts")
        if self._typed:
            yield Input(placeholder="the number of rows", compact=True, id="typed")
        else:
            yield Buttons((("cancel", "Cancel"), ("write", "Write (y)")), id="buttons")

    def prepare(self) -> None:
        """State the counts."""
        super().prepare()
        self.query_one("#counts", Notice).show(*self._counts())

    def fields(self) -> list[Widget]:
        """The typed number, or the buttons."""
        return [self.query_one("#typed" if self._typed else "#buttons")]

    def _counts(self) -> list[Line]:
        plan, brain = self._plan, self.session.places.brain
        lines: list[Line] = [(data(str(brain), "dim"),)]
        if plan.undoes is not None:
            lines.append((say("↶ This undoes run ", "warn"), number(plan.undoes, "warn"), say(".", "warn")))
        for count, one, many in (
            (len(plan.changes), "entity gets another type", "entities get another type"),
            (len(plan.manifests), "manifest is extended", "manifests are extended"),
            (len(plan.edge_changes), "edge is repaired", "edges are repaired"),
            (len(plan.merges), "duplicate is redirected", "duplicates are redirected"),
        ):
            if count:
                lines.append((*right(number(count, "strong"), 9), blank(1), drawn(one if count == 1 else many)))
        if plan.edges is not None:
            lines.append(
                (
                    *right(number(plan.edges.broken, "bad"), 9),
                    say(" edges break, "),
                    number(plan.edges.gained, "ok"),
                    say(" become valid"),
                )
            )
        drift = self.session.report.drift if self.session.report is not None else None
        if drift is not None and plan.undoes is None:
            lines.append(
                (say("! config.json changed since the last heal, which you confirmed: it is stamped.", "warn"),)
            )
        lines.append((say("The first run of a day makes a backup. A run can be undone: N, then u.", "dim"),))
        if self._typed:
            lines.append(
                (
                    say("Type "),
                    number(rows_of(plan), "strong"),
                    say(" to write so many rows; esc leaves the brain as it is."),
                )
            )
        return lines

    def hint(self) -> Line:
        """The keys of the dialog."""
        if self._typed:
            return hints(("⏎", "write, once the number is typed"), ("esc", "cancel"))
        return hints(("y", "write"), ("⏎", "what is chosen"), ("esc", "cancel"))

    def other(self) -> None:
        """The other button."""
        if not self._typed:
            self.query_one(Buttons).step()

    async def do_dialog_accept(self) -> None:
        """What is chosen: Cancel, unless somebody went to the other one or typed the number."""
        if self._typed:
            typed = self.query_one("#typed", Input).value.replace(",", "").replace(".", "").strip()
            if typed == str(rows_of(self._plan)):
                await self._write()
            else:
                self.object_to(say("That is not the number of rows. Nothing was written."))
        elif self.query_one(Buttons).value == "write":
            await self._write()
        else:
            self.close()

    async def confirm(self) -> None:
        """Write."""
        if not self._typed:
            await self._write()

    async def on_buttons_pressed(self, event: Buttons.Pressed) -> None:
        """A button was clicked."""
        event.stop()
        if event.value == "write":
            await self._write()
        else:
            self.close()

    async def _write(self) -> None:
        """Go on, once."""
        if self.over:
            return
        self.close()
        result = self._confirmed(self._plan)
        if inspect.isawaitable(result):
            await result


class ApplyDialog(Dialog):
    """The writing with its progress; esc stops it between two chunks; then the receipt."""

    def __init__(self, plan: Plan) -> None:
        super().__init__(say("Writing", "title"))
        self._plan = plan
        self._stop = threading.Event()
        self._receipt: Receipt | None = None
        self._failed = False

    def compose_body(self) -> ComposeResult:
        """The progress, then the receipt."""
        yield Notice(id="progress")

    def prepare(self) -> None:
        """Begin to write."""
        super().prepare()
        self._show_progress(0, max(1, rows_of(self._plan)))
        bench, plan, stop = self.session.bench, self._plan, self._stop
        if bench is None:
            return
        self.station.stops.append(stop)
        confirm = self.session.confirmation

        def job() -> Message:
            try:
                return Applied(bench.apply(plan, confirm=confirm, progress=self._told, stop=stop))
            except CtTuiError as error:
                return Refused(error)

        self.station.write("writing the plan", job, self)

    def _told(self, progress: Progress) -> None:
        """Called from the writing thread after every chunk."""
        self.post_message(Progressed(progress))

    def on_progressed(self, message: Progressed) -> None:
        """Another chunk stands in the brain."""
        if self._receipt is None:
            self._show_progress(message.progress.done, message.progress.total)

    def _show_progress(self, done: int, total: int) -> None:
        width = 50
        full = min(width, round(done * width / total)) if total else width
        stopping = (say("  stopping after this chunk…", "warn"),) if self._stop.is_set() else NOTHING
        self.query_one("#progress", Notice).show(
            (drawn("━" * full, "ok"), drawn("─" * (width - full), "faint")),
            (number(done, "strong"), say(" of ", "dim"), counted(total, "row", ink="dim"), *stopping),
        )

    def hint(self) -> Line:
        """The keys of the dialog."""
        if self._receipt is not None or self._failed:
            return hints(("⏎", "close"))
        return hints(("esc", "stop after this chunk"))

    def on_applied(self, message: Applied) -> None:
        """It is over: show the receipt."""
        self._receipt = message.receipt
        self._end()
        self.query_one("#dialog-title", Ends).show(
            (say("■ Stopped", "warn"),) if message.receipt.stopped else (say("✓ Written", "ok"),)
        )
        self.query_one("#progress", Notice).show(*receipt_lines(message.receipt, undone=self._plan.undoes))
        self.station.tell_front(*_written(message.receipt))

    def on_refused(self, message: Refused) -> None:
        """It was refused: nothing of what was refused stands in the brain."""
        self._failed = True
        self._end()
        self.query_one("#dialog-title", Ends).show((say("✗ Not written", "bad"),))
        self.query_one("#progress", Notice).show(
            (say("Whole chunks only: what was written before stands, the rest does not.", "dim"),)
        )
        self.refuse(message.error)

    def on_failed(self, message: Failed) -> None:
        """Something nobody foresaw."""
        message.stop()
        self.on_refused(Refused(message.error))

    def _end(self) -> None:
        if self._stop in self.station.stops:
            self.station.stops.remove(self._stop)
        self.show_hint()
        self.station.read_all()

    def do_dialog_cancel(self) -> None:
        """Stop between two chunks, or close when it is over."""
        if self._receipt is not None or self._failed:
            self.close()
            return
        self._stop.set()
        self.query_one("#dialog-hint", Ends).show((say("stopping after this chunk…", "warn"),))

    def do_dialog_accept(self) -> None:
        """Close when it is over."""
        if self._receipt is not None or self._failed:
            self.close()


def _written(receipt: Receipt) -> Line:
    """What a run did, for the line above the keys."""
    sign = say("■ Stopped", "warn") if receipt.stopped else say("✓ Written", "ok")
    run: Line = () if receipt.run is None else (say(": run ", "dim"), number(receipt.run, "strong"))
    return (
        sign,
        *run,
        say(" · ", "dim"),
        counted(receipt.retyped, "entity retyped", "entities retyped"),
        *(
            (say(" · ", "dim"), counted(receipt.merged, "duplicate", "duplicates"), say(" redirected"))
            if receipt.merged
            else NOTHING
        ),
        say("  N, then u undoes it.", "dim"),
    )


def receipt_lines(receipt: Receipt, undone: int | None = None) -> list[Line]:
    """What a run did."""
    lines: list[Line] = []
    if receipt.run is not None:
        lines.append((say("Run ", "dim"), number(receipt.run, "strong")))
    if undone is not None:
        lines.append((say("↶ run ", "dim"), number(undone), say(" is undone", "dim")))
    for count, words in (
        (receipt.retyped, "retyped"),
        (receipt.recased, "spelt as declared"),
        (receipt.edges, "edges changed"),
        (receipt.merged, "duplicates redirected" if undone is None else "merges taken back"),
        (receipt.remaining, "rows left: P goes on with them"),
    ):
        if count:
            lines.append((*right(number(count, "strong"), 9), blank(1), drawn(words)))
    if receipt.legalized:
        lines.append((say("+ declared ", "ok"), data(", ".join(receipt.legalized), "type")))
    lines += [_conflict_line(conflict) for conflict in receipt.conflicts[:5]]
    if len(receipt.conflicts) > 5:
        lines.append(
            (
                say("≠ ", "warn"),
                counted(len(receipt.conflicts) - 5, "more row moved", "more rows moved"),
                say(" meanwhile and were left alone", "dim"),
            )
        )
    if receipt.backup:
        lines.append((say("backup ", "dim"), data(receipt.backup, "dim")))
    return lines


def _conflict_line(conflict: Conflict) -> Line:
    """A row that moved between plan and write."""
    return (
        say("≠ ", "warn"),
        data(conflict.entity),
        say(" was "),
        data(conflict.expected, "type"),
        say(", is "),
        data(conflict.found, "type"),
        say(": left alone", "dim"),
    )
