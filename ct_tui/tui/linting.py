"""Lint beside the screens: one run at a time, with its progress and a way to stop it, kept while views come and go.

A brain that is small enough is looked at again whenever it changed. A large one is looked at when somebody asks; until
then its last report is only weighed anew against the exceptions in force, and said to be of before.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from ct_tui.domain.errors import CtTuiError
from ct_tui.tui.findings import Catalog
from ct_tui.tui.lanes import Lane, unexpected
from ct_tui.tui.messages import Linted, LintWent

if TYPE_CHECKING:
    from ct_tui.domain.lint.report import LintReport
    from ct_tui.domain.plan import Progress
    from ct_tui.heal.workbench import Workbench
    from ct_tui.tui.app import Workstation

NAMED = 20_000
"""Entities whose names are read beside a report; the others are shown by their ids."""


class Linting:
    """What lint found last, and the run that is on its way; only the screen's own thread changes it."""

    def __init__(self, station: Workstation) -> None:
        self._station = station
        self._lane = Lane("lint")
        self._stop: threading.Event | None = None
        self._age = -1
        self.catalog: Catalog | None = None
        self.trouble: CtTuiError | None = None
        self.progress: Progress | None = None
        self.before = False
        """Whether the report is of a brain as it was before somebody wrote it."""

    @property
    def running(self) -> bool:
        """Whether a run is on its way."""
        return self._stop is not None

    def want(self, *, again: bool = False) -> None:
        """Have the report brought up to date; `again` looks at the brain whatever its size."""
        session = self._station.session
        if session.bench is None or self.running or (self._age == session.age and not again):
            return
        stop = self._stop = threading.Event()
        self._station.stops.append(stop)
        bench, age, last = session.bench, session.age, self.catalog
        self.progress = None
        self._lane.put(lambda: self._post(bench, age, None if again else last, stop))

    def stop(self) -> bool:
        """Stop the run between two rows; False where none is on its way."""
        if self._stop is None:
            return False
        self._stop.set()
        return True

    def take(self, message: Linted) -> None:
        """A run is over."""
        if self._stop is not None and self._stop in self._station.stops:
            self._station.stops.remove(self._stop)
        self._stop = self.progress = None
        self._age, self.before = message.age, message.before
        self.trouble = message.error
        if message.catalog is not None:
            self.catalog = message.catalog

    def close(self) -> None:
        """Stop, and take nothing more on."""
        self.stop()
        self._lane.close(wait=False)

    def _post(self, bench: Workbench, age: int, last: Catalog | None, stop: threading.Event) -> None:
        try:
            catalog, before = self._looked(bench, last, stop)
            message = Linted(catalog, None, age, before=before)
        except CtTuiError as error:
            message = Linted(None, error, age)
        except Exception as error:  # noqa: BLE001 - the edge of a worker: the fault is shown where the report would be
            message = Linted(None, unexpected(error), age)
        self._station.post_message(message)

    def _looked(self, bench: Workbench, last: Catalog | None, stop: threading.Event) -> tuple[Catalog, bool]:
        if last is not None and not bench.lints_by_itself():
            return Catalog(bench.reweigh(last.report), last.names), True
        report = bench.lint(progress=self._went, stop=stop)
        return Catalog(report, bench.names(_concerned(report))), False

    def _went(self, progress: Progress) -> None:
        self._station.post_message(LintWent(progress))


def _concerned(report: LintReport) -> tuple[str, ...]:
    """The entities of the first findings."""
    found = dict.fromkeys(f.entity for f in report.findings if f.entity)
    found.update(dict.fromkeys(a.finding.entity for a in report.accepted if a.finding.entity))
    return tuple(found)[:NAMED]
