"""The merge of duplicates that needs no ruling: what it would write, the last question, the writing, the receipt."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from textual.widgets import Input

from ct_tui.domain.errors import CtTuiError
from ct_tui.tui.dialogs.apply import TYPED_ABOVE
from ct_tui.tui.dialogs.base import Dialog, hints
from ct_tui.tui.messages import Failed, Refused, Swept
from ct_tui.tui.text import blank, counted, data, drawn, noun, number, right, say
from ct_tui.tui.widgets.choice import Buttons
from ct_tui.tui.widgets.frame import Ends, Notice

if TYPE_CHECKING:
    from textual.app import ComposeResult
    from textual.message import Message
    from textual.widget import Widget

    from ct_tui.domain.duplicates import Group, MergeReport
    from ct_tui.tui.text import Line

SHOWN = 6
"""Groups and loops that are listed; the others are counted."""

REFUSALS = {
    "alias_remap_not_run": "Heal has to run first: P shows what it would do.",
    "unconfirmed_drift": "config.json changed since the last heal: O, then c confirms that.",
}
"""What to do where the merge refuses."""


class SweepDialog(Dialog):
    """Groups of one name, one type and one summary: merged by the app's own rule, each in its own transaction."""

    KEYS = {"y": "confirm", "n": "do_dialog_cancel", "left": "other", "right": "other", "h": "other", "l": "other"}  # noqa: RUF012

    def __init__(self) -> None:
        super().__init__(say("Merge what needs no ruling?", "title"))
        self._report: MergeReport | None = None
        self._stop = threading.Event()
        self._writing = False
        self._done = False

    def compose_body(self) -> ComposeResult:
        """What would be written, and the way to agree."""
        yield Notice(id="counts")
        yield Input(placeholder="the number of redirects", compact=True, id="typed")
        yield Buttons((("cancel", "Cancel"), ("write", "Merge (y)")), id="buttons")

    def prepare(self) -> None:
        """Have it worked out."""
        self.query_one("#typed").display = False
        self.query_one("#counts", Notice).show((say("working it out…", "faint"),))
        bench = self.session.bench
        if bench is not None:
            self.station.survey("sweep", "comparing names", lambda: Swept(bench.duplicates()), self)

    def fields(self) -> list[Widget]:
        """The typed number, or the buttons."""
        return [self.query_one("#typed" if self._typed else "#buttons")]

    @property
    def _typed(self) -> bool:
        return self._redirects > TYPED_ABOVE and not self._done

    @property
    def _redirects(self) -> int:
        report = self._report
        return 0 if report is None else sum(len(g.losers) for g in report.groups if g.queued is None)

    def on_swept(self, message: Swept) -> None:
        """It is worked out, or it is written."""
        self._report = message.report
        if message.report.applied:
            self._show_receipt(message.report)
            return
        self.query_one("#counts", Notice).show(*self._counts(message.report))
        self.query_one("#typed").display = self._typed
        self.query_one("#buttons").display = not self._typed
        self.set_focus(self.fields()[0])
        self.show_hint()

    def _counts(self, report: MergeReport) -> list[Line]:
        groups = [g for g in report.groups if g.queued is None]
        lines: list[Line] = [
            (*_many(len(groups), "group"), say(" of one name, one type and one summary")),
            (*_many(self._redirects, "redirect"), say("; no fact and no edge moves")),
        ]
        lines += [_group_line(group) for group in groups[:SHOWN]]
        if len(groups) > SHOWN:
            lines.append((blank(8), counted(len(groups) - SHOWN, "more group", ink="dim")))
        if report.self_loops:
            lines.append(
                (say("↻ ", "warn"), counted(len(report.self_loops), "edge becomes a loop", "edges become loops"))
            )
        if report.cycles:
            lines.append((say("! redirects in a circle: ", "bad"), data(", ".join(report.cycles))))
        lines += [(say("· ", "dim"), data(note, "dim")) for note in report.notes]
        lines.append((say("It is a run of its own and can be undone: N, then u.", "dim"),))
        if self._typed:
            lines.append((say("Type "), number(self._redirects, "strong"), say(" to write so many redirects.")))
        return lines

    def hint(self) -> Line:
        """The keys of the dialog."""
        if self._done:
            return hints(("⏎", "close"))
        if self._writing:
            return hints(("esc", "stop after this group"))
        if self._typed:
            return hints(("⏎", "merge, once the number is typed"), ("esc", "cancel"))
        return hints(("y", "merge"), ("⏎", "what is chosen"), ("esc", "cancel"))

    def other(self) -> None:
        """The other button."""
        if not self._typed:
            self.query_one(Buttons).step()

    def confirm(self) -> None:
        """Merge."""
        if not self._typed:
            self._write()

    def do_dialog_accept(self) -> None:
        """What is chosen: Cancel, unless somebody went to the other button or typed the number."""
        if self._done:
            self.close()
        elif self._typed:
            typed = self.query_one("#typed", Input).value.replace(",", "").replace(".", "").strip()
            if typed == str(self._redirects):
                self._write()
            else:
                self.object_to(say("That is not the number of redirects. Nothing was written."))
        elif self.query_one(Buttons).value == "write":
            self._write()
        elif not self._writing:
            self.close()

    def on_buttons_pressed(self, event: Buttons.Pressed) -> None:
        """A button was clicked."""
        event.stop()
        if event.value == "write":
            self._write()
        else:
            self.do_dialog_cancel()

    def do_dialog_cancel(self) -> None:
        """Leave, or stop between two groups."""
        if not self._writing:
            self.close()
            return
        self._stop.set()
        self.query_one("#dialog-hint", Ends).show((say("stopping after this group…", "warn"),))

    def _write(self) -> None:
        """Write, once, and only what was shown."""
        bench = self.session.bench
        if self._writing or self._done or self._report is None or bench is None or not self._redirects:
            return
        self._writing = True
        self.content_again()
        self.station.stops.append(self._stop)
        stop = self._stop
        self.query_one("#typed").display = False
        self.query_one("#buttons").display = False
        self.show_hint()

        confirm = self.session.confirmation

        def job() -> Message:
            try:
                return Swept(bench.duplicates(apply=True, confirm=confirm, stop=stop))
            except CtTuiError as error:
                return Refused(error)

        self.station.write("merging duplicates", job, self)

    def _show_receipt(self, report: MergeReport) -> None:
        self._end()
        refused = report.skipped_reason is not None or report.error is not None
        self.query_one("#dialog-title", Ends).show(
            (say("✗ Not merged", "bad"),) if refused and not report.merged_groups else (say("✓ Merged", "ok"),)
        )
        lines: list[Line] = []
        if report.run is not None:
            lines.append((say("Run ", "dim"), number(report.run, "strong")))
        lines.append((*_many(report.merged_groups, "group"), say(" merged")))
        lines.append((*_many(len(report.redirects_written), "redirect"), say(" written")))
        if report.redirects_rewritten:
            rewritten = len(report.redirects_rewritten)
            lines.append((*_many(rewritten, "older redirect"), say(" now to the final survivor")))
        if report.error is not None:
            lines.append((say("✗ ", "bad"), data(report.error)))
        if report.skipped_reason is not None:
            lines.append((say("✗ ", "bad"), data(report.skipped_reason.replace("_", " "))))
            lines.append((say("→ ", "key"), drawn(REFUSALS.get(report.skipped_reason, "See the notes below."))))
        lines += [(say("· ", "dim"), data(note, "dim")) for note in report.notes]
        self.query_one("#counts", Notice).show(*lines)

    def on_refused(self, message: Refused) -> None:
        """It was refused before anything was written."""
        self._end()
        self.query_one("#dialog-title", Ends).show((say("✗ Not merged", "bad"),))
        self.refuse(message.error)

    def on_failed(self, message: Failed) -> None:
        """It could not be worked out, or something nobody foresaw happened."""
        message.stop()
        self.on_refused(Refused(message.error))

    def _end(self) -> None:
        self._writing, self._done = False, True
        if self._stop in self.station.stops:
            self.station.stops.remove(self._stop)
        for name in ("#typed", "#buttons"):
            self.query_one(name).display = False
        self.show_hint()
        self.station.read_all()


def _many(count: int, one: str) -> Line:
    """A count in its column, with its noun."""
    return (*right(number(count, "strong"), 7), blank(1), noun(count, one))


def _group_line(group: Group) -> Line:
    """A group with who becomes whom."""
    return (
        blank(8),
        data(group.normalized_name),
        say(": ", "dim"),
        data(", ".join(group.losers[:2]), "dim"),
        say(" ⇉ ", "ok"),
        data(group.survivor, "dim"),
    )
