"""An open brain: the view of it, and noticing what other programs do."""

from __future__ import annotations

import contextlib
import datetime as dt
import threading
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Self

from ct_tui.brain import readers
from ct_tui.brain.connection import Brain
from ct_tui.brain.watch import Change, Watch
from ct_tui.domain.errors import BrainError
from ct_tui.domain.rulings import GARBLED
from ct_tui.heal.late_counts import LateCounts
from ct_tui.heal.situation import read_situation
from ct_tui.heal.view import View
from ct_tui.policy.load import load_policy

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from ct_tui.domain.rulings import Head, RulingTable
    from ct_tui.policy.paths import Places

Stamp = tuple[object, ...]


class Bench:
    """One open brain: its view, kept while nothing moved, and what other programs do to it meanwhile."""

    def __init__(self, places: Places, *, read_only: bool = False, clock: Callable[[], float] = time.time) -> None:
        self.places = places
        self._clock = clock
        self._asked_read_only = read_only
        self._lock = threading.RLock()
        self._view: tuple[Stamp, View] | None = None
        self._open()

    def _open(self) -> None:
        brain = Brain(self.places.brain, read_only=self._asked_read_only)
        watch = Watch(brain)
        self.brain, self._watch = brain, watch
        self._late = LateCounts(brain)
        self._polled = self.stamp()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def close(self) -> None:
        """Let the counts and the writer finish and give the connections back; raises where a count failed."""
        try:
            self._late.wait()
        finally:
            self._watch.close()
            self.brain.close()

    @property
    def read_only(self) -> bool:
        """Whether nothing will be written: asked for, or the file cannot be written."""
        return self.brain.read_only

    @property
    def write_refusal(self) -> str:
        """Why nothing may be written, or an empty text."""
        return self.brain.write_refusal

    # Noticing others

    def stamp(self) -> Stamp:
        """A value that changes whenever anything that decides could have changed."""
        from ct_tui.trust.paths import allowed_signers_path, revoked_keys_path

        user = self.places.user_dir
        files = (self.places.config, self.places.rulings, allowed_signers_path(user), revoked_keys_path(user))
        return (self._watch.version(), *(_file_stamp(f) for f in files))

    def poll(self) -> Change:
        """What happened since the last call; a replaced brain is opened again."""
        change = self._watch.poll()
        if change is Change.REPLACED:
            with self._lock:
                watch, brain, late = self._watch, self.brain, self._late
                # Where the new file is no brain this raises, the old connections stay, and the next look tries again.
                self._open()
                self._view = None
                with contextlib.suppress(BrainError):  # what it counted belongs to a file that is gone
                    late.wait()
                watch.close()
                brain.close()
            return change
        if change is Change.GONE:
            return change
        stamp = self.stamp()
        if stamp == self._polled:
            return Change.SAME
        self._polled = stamp
        return Change.CHANGED

    def view(self) -> View:
        """The present view, read again only when something moved."""
        with self._lock:
            stamp = self.stamp()
            day = int(self._clock()) // 86_400
            if self._view is not None and self._view[0] == (*stamp, day):
                return self._view[1]
            view = self._read_view()
            self._view = ((*stamp, day), view)
            return view

    def _read_view(self) -> View:
        self.brain.refresh_schema()
        policy = load_policy(self.places.config)
        with self.brain.snapshot() as db:
            table = self._verify(readers.head_seen(db, self.brain.schema))
            situation = read_situation(self.brain, db, policy, table, self._clock())
            return View(self.brain, situation, self.places.config)

    def _verify(self, seen: Head) -> RulingTable:
        from ct_tui.trust.signers import load_signers
        from ct_tui.trust.verify import verify_table

        moment = dt.datetime.fromtimestamp(self._clock(), dt.UTC)
        table = verify_table(self.places.rulings, load_signers(self.places.user_dir), seen, moment)
        if seen is not GARBLED:
            return table
        problem = "what the brain remembers of the table of rulings (rulings_head in ct_tui_state) cannot be read"
        return replace(table, distrust=problem)


def _file_stamp(path: Path) -> tuple[int, int, int] | None:
    try:
        stat = path.stat()
    except OSError:
        return None
    return stat.st_mtime_ns, stat.st_size, stat.st_ino
