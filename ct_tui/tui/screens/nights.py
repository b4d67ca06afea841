"""The nights: every run with what it did, the trend of what is undeclared, and the way to undo one."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING

from ct_tui.domain.errors import BadInput
from ct_tui.domain.history import RunRow
from ct_tui.tui import papers
from ct_tui.tui.messages import RunWorkRead
from ct_tui.tui.screens.base import ViewScreen
from ct_tui.tui.text import NOTHING, blank, counted, data, day, drawn, number, right, say
from ct_tui.tui.widgets.frame import Heading, Lines
from ct_tui.tui.widgets.pictures import sparkline
from ct_tui.tui.widgets.rows import MemoryRows, Row, RowList, columns

if TYPE_CHECKING:
    from collections.abc import Sequence

    from textual.app import ComposeResult

    from ct_tui.heal.bench_reading import RunWork
    from ct_tui.tui.text import Line

MOST_NIGHTS = 60


class NightsScreen(ViewScreen):
    """The runs, newest first."""

    VIEW = "nights"

    def __init__(self) -> None:
        super().__init__()
        self._work: RunWork | None = None

    def compose_lists(self) -> ComposeResult:
        """The trend above the runs."""
        yield Heading((say("Nights"),), id="nights-head")
        yield Lines(id="trend")
        yield RowList(((say("Reading the runs…", "dim"),),), id="nights")

    @property
    def subject(self) -> str:
        """What is under the cursor."""
        return "run" if self.row is not None else ""

    @property
    def run(self) -> RunRow | None:
        """The run under the cursor."""
        thing = self.row.subject if self.row is not None else None
        return thing if isinstance(thing, RunRow) else None

    def show_rows(self) -> None:
        """The runs and the trend."""
        runs = self.session.runs
        if runs is None:
            return
        self.rows.empty = (
            (say("Nothing was applied here yet."),),
            (say("P", "key"), say(" shows what heal would do.", "dim")),
            (say("ct-tui schedule", "key"), say(" prints a timer for every night.", "dim")),
        )
        self.rows.show(
            MemoryRows([_run_row(run) for run in runs], [f"{r.id} {r.kind} {r.by} {r.status}" for r in runs])
        )
        self.query_one("#nights-head", Heading).show((counted(len(runs), "run", ink="dim"),))
        self.query_one("#trend", Lines).show(*trend_lines(runs))

    def renew(self) -> None:
        """Another program wrote: what a run did is read again."""
        self._work = None

    def describe(self) -> None:
        """The run under the cursor, with what it did."""
        run, bench = self.run, self.session.bench
        if run is None or bench is None:
            self.paper.show((), "")
            return
        known = self._work if self._work is not None and self._work.run == run.id else None
        self.query_one("#detail-head", Heading).show(NOTHING, (say("Run"),))
        self.paper.show(tuple(papers.run_paper(run, known)), str(run.id))
        if known is None:
            number_of_it = run.id
            self.station.look(
                "detail",
                "reading a run",
                lambda: RunWorkRead(bench.run_work(number_of_it)),
                self,
            )

    def on_run_work_read(self, message: RunWorkRead) -> None:
        """What a run did is read."""
        self._work = message.work
        if self.run is not None and self.run.id == message.work.run:
            self.describe()

    async def do_nights_undo(self) -> None:
        """Show the inverse plan of the run; `a` there writes it."""
        from ct_tui.tui.screens.plan import PlanScreen

        run = self.run
        if run is None:
            raise BadInput("No run is under the cursor.")
        if run.undone_by is not None:
            raise BadInput(f"Run {run.id} was undone by run {run.undone_by} already.")
        await self.app.push_screen(PlanScreen(undo=run.id))


def _run_row(run: RunRow) -> Row:
    def draw(width: int) -> Line:
        sign, ink = (
            ("↶", "dim") if run.undone_by is not None else ("■", "warn") if run.status != "done" else ("✓", "ok")
        )
        done: Line = (number(run.retyped, "strong"), say(" retyped", "dim"))
        if run.recased:
            done += (say(" ", "dim"), number(run.recased, "strong"), say(" recased", "dim"))
        merged = run.numbers.get("merged")
        if isinstance(merged, int) and merged:
            done += (say(" ≡", "warn"), number(merged, "strong"), say(" merged", "dim"))
        if run.legalized:
            done += (say(" +", "ok"), number(len(run.legalized), "ok"), say(" declared", "dim"))
        kind: Line = (data(run.kind, "dim"),)
        if run.undoes is not None:
            kind = (say("undo of ", "dim"), number(run.undoes, "dim"))
        state: Line = (data(run.status, ink),)
        if run.undone_by is not None:
            state = (say("undone by ", "dim"), number(run.undone_by, "dim"))
        cells: list[tuple[Line, int]] = [
            ((drawn(sign, ink), blank(1), *right(number(run.id, "strong"), 4)), 7),
            ((day(run.at, "dim"),), 13),
            (kind, 11),
            (done, 0),
        ]
        if width >= 62:
            cells += [((blank(1), *state), 14)]
        if width >= 80:
            cells += [((blank(1), data(run.by, "dim")), 16)]
        return columns(width, *cells)

    return Row(str(run.id), run, draw, markable=False)


def nightly(runs: Sequence[RunRow], name: str) -> list[int | None]:
    """One number a night, oldest first: that of the night's last run, None for a night without one.

    `name` is `queued` or one of the numbers that a run stores, such as `edges.violating`.
    """
    by_day: dict[dt.date, int | None] = {}
    for run in reversed(runs):
        value = run.queued if name == "queued" else _stored(run.numbers, name)
        when = dt.datetime.fromtimestamp(run.at, tz=dt.UTC).astimezone().date()
        by_day[when] = value if isinstance(value, int) else by_day.get(when)
    if not by_day:
        return []
    first, last = min(by_day), max(by_day)
    nights = min((last - first).days, MOST_NIGHTS - 1)
    return [by_day.get(last - dt.timedelta(days=back)) for back in range(nights, -1, -1)]


def _stored(numbers: object, name: str) -> object:
    """A stored number by its name, with points between the levels; None where the run stored none."""
    for part in name.split("."):
        numbers = numbers.get(part) if isinstance(numbers, dict) else None
    return numbers


def trend_lines(runs: Sequence[RunRow]) -> tuple[Line, ...]:
    """The trend of what is undeclared, queued, and of edges that violate; a night without a run is a gap."""
    lines: list[Line] = []
    for name, words in (
        ("undeclared_entities", " undeclared "),
        ("queued", " in the queue "),
        ("edges.violating", " edges violate "),
    ):
        values = nightly(runs, name)
        known = [v for v in values if v is not None]
        if known:
            lines.append(
                (
                    *right(drawn(words, "dim"), 15),
                    *sparkline(values, 40),
                    blank(1),
                    number(known[-1], "strong"),
                    say(" now", "dim"),
                )
            )
    return tuple(lines)
