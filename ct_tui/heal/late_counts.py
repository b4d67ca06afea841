"""Edge conformance after a run, counted beside whatever comes next and stored with the run.

Counting a large brain's edges takes longer than the run's own writes, so nobody waits for it: `start` returns once a
snapshot stands, and what others write from then on does not enter the numbers.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from ct_tui.brain import own
from ct_tui.domain.errors import BrainBusy, BrainError, CtTuiError

if TYPE_CHECKING:
    from collections.abc import Callable

    from ct_tui.brain.connection import Brain


ATTEMPTS = 3
"""How often a busy brain is asked to take the numbers."""


class LateCounts:
    """Counts for the runs of one workbench; `wait` before the brain is closed."""

    def __init__(self, brain: Brain) -> None:
        self._brain = brain
        self._threads: list[threading.Thread] = []
        self._faults: list[tuple[int, CtTuiError]] = []

    def start(self, run: int, count: Callable[[], dict[str, int]]) -> None:
        """Count in a thread of its own, from the state of this moment, and store the numbers with the run."""
        standing = threading.Event()
        thread = threading.Thread(target=self._work, args=(run, count, standing), name=f"ct-tui counts of run {run}")
        self._threads.append(thread)
        thread.start()
        standing.wait()

    def wait(self) -> None:
        """Wait for every count; raises BrainError where one could not be made or stored."""
        threads, self._threads = self._threads, []
        for thread in threads:
            thread.join()
        faults, self._faults = self._faults, []
        if faults:
            run, error = faults[0]
            raise BrainError(
                f"run {run} is done, but its edges were not counted for the trend: {error.message}", error.remedy
            )

    def _store(self, run: int, numbers: dict[str, int]) -> None:
        """Write the numbers; nobody waits for them, so a busy brain is asked more than once."""
        for left in reversed(range(ATTEMPTS)):
            try:
                self._brain.write(lambda db: own.add_numbers(db, run, {"edges": numbers}))
                return
            except BrainBusy:
                if not left:
                    raise

    def _work(self, run: int, count: Callable[[], dict[str, int]], standing: threading.Event) -> None:
        try:
            with self._brain.snapshot() as db:
                # A snapshot stands from its first read on.
                db.scalar("SELECT COUNT(*) FROM ct_tui_run")
                standing.set()
                numbers = count()
            self._store(run, numbers)
        except CtTuiError as error:
            self._faults.append((run, error))
        finally:
            standing.set()
