"""Long work beside the screens: one run at a time, with progress and a way to stop it, kept while views come and go.

A brain that is small enough is looked at again whenever it changed. A large one is looked at when somebody asks; until
then the last result is at most weighed anew against what was ruled since, and said to be of before.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Generic, TypeVar

from ct_tui.domain.errors import CtTuiError
from ct_tui.tui.lanes import Lane, unexpected
from ct_tui.tui.messages import WorkDone, WorkWent

if TYPE_CHECKING:
    from collections.abc import Callable

    from ct_tui.domain.lint.report import LintReport
    from ct_tui.domain.plan import Progress
    from ct_tui.heal.duplicates import Board
    from ct_tui.heal.workbench import Workbench
    from ct_tui.tui.app import Workstation
    from ct_tui.tui.findings import Catalog

ResultT = TypeVar("ResultT")

NAMED = 20_000
"""Entities whose names are read beside a lint report; the others are shown by their ids."""


class Beside(Generic[ResultT]):
    """What was found last, and the run that is on its way; only the screen's own thread changes it."""

    NAME = ""

    def __init__(self, station: Workstation) -> None:
        self._station = station
        self._lane = Lane(self.NAME)
        self._stop: threading.Event | None = None
        self._age = -1
        self.result: ResultT | None = None
        self.trouble: CtTuiError | None = None
        self.progress: Progress | None = None
        self.before = False
        """Whether the result is of a brain as it was before somebody wrote it."""

    def look(
        self,
        bench: Workbench,
        last: ResultT | None,
        went: Callable[[Progress], None],
        stop: threading.Event,
    ) -> tuple[ResultT, bool]:
        """Look at the brain, in the lane's thread; the result, and whether it is of before."""
        raise NotImplementedError

    @property
    def running(self) -> bool:
        """Whether a run is on its way."""
        return self._stop is not None

    def want(self, *, again: bool = False) -> None:
        """Have the result brought up to date; `again` looks at the brain whatever its size."""
        session = self._station.session
        if session.bench is None or self.running or (self._age == session.age and not again):
            return
        stop = self._stop = threading.Event()
        self._station.stops.append(stop)
        bench, age, last = session.bench, session.age, None if again else self.result
        self.progress = None
        self._lane.put(lambda: self._post(bench, age, last, stop))

    def stop(self) -> bool:
        """Stop the run at the next row; False where none is on its way."""
        if self._stop is None:
            return False
        self._stop.set()
        return True

    def take(self, message: WorkDone) -> None:
        """A run is over."""
        if self._stop is not None and self._stop in self._station.stops:
            self._station.stops.remove(self._stop)
        self._stop = self.progress = None
        self._age, self.before, self.trouble = message.age, message.before, message.error
        if message.error is None:
            self.result = message.result

    def close(self) -> Lane:
        """Stop, and take nothing more on; gives the lane, which may be waited for."""
        self.stop()
        self._lane.close(wait=False)
        return self._lane

    def _post(self, bench: Workbench, age: int, last: ResultT | None, stop: threading.Event) -> None:
        try:
            result, before = self.look(bench, last, self._went, stop)
            message = WorkDone(self, result, None, age, before=before)
        except CtTuiError as error:
            message = WorkDone(self, None, error, age)
        except Exception as error:  # noqa: BLE001 - the edge of a worker: the fault is shown where the result would be
            message = WorkDone(self, None, unexpected(error), age)
        self._station.post_message(message)

    def _went(self, progress: Progress) -> None:
        self._station.post_message(WorkWent(self, progress))


class Linting(Beside["Catalog"]):
    """What the curation rules found last."""

    NAME = "lint"

    def look(
        self, bench: Workbench, last: Catalog | None, went: Callable[[Progress], None], stop: threading.Event
    ) -> tuple[Catalog, bool]:
        """Run the rules, or weigh the last report against the exceptions in force now."""
        from ct_tui.tui.findings import Catalog

        if last is not None and not bench.lints_by_itself():
            return Catalog(bench.reweigh(last.report), last.names), True
        report = bench.lint(progress=went, stop=stop)
        return Catalog(report, bench.names(_concerned(report))), False


class Comparing(Beside["Board"]):
    """The duplicates found last; of a large brain those of one name, until near names are asked for, too."""

    NAME = "compare"

    def __init__(self, station: Workstation) -> None:
        super().__init__(station)
        self.near = False
        """Whether near names were asked for, whatever the size of the brain."""

    def look(
        self, bench: Workbench, last: Board | None, went: Callable[[Progress], None], stop: threading.Event
    ) -> tuple[Board, bool]:
        """Compare the names, near ones only where that is quick or was asked for."""
        quick = bench.compares_by_itself()
        if last is not None and not quick:
            return bench.reweigh_duplicates(last), True
        return bench.duplicate_groups(near=quick or self.near, progress=went, stop=stop), False


def _concerned(report: LintReport) -> tuple[str, ...]:
    """The entities of the first findings."""
    found = dict.fromkeys(f.entity for f in report.findings if f.entity)
    found.update(dict.fromkeys(a.finding.entity for a in report.accepted if a.finding.entity))
    return tuple(found)[:NAMED]
