"""Noticing other programs: a commit, a replaced file, a deleted one."""

from __future__ import annotations

import sqlite3
import threading
from enum import StrEnum
from typing import TYPE_CHECKING

from ct_tui.brain import sql
from ct_tui.brain.connection import patiently, translated

if TYPE_CHECKING:
    from pathlib import Path

    from ct_tui.brain.connection import Brain


class Change(StrEnum):
    """What happened to the brain since the last look."""

    SAME = "same"
    CHANGED = "changed"
    REPLACED = "replaced"
    GONE = "gone"


class Watch:
    """One kept connection whose `data_version` moves when another connection commits.

    Every thread that reads asks it, and one closes it: a lock keeps them one after another, since a connection that is
    closed under a query takes the whole process with it.
    """

    def __init__(self, brain: Brain) -> None:
        self._path: Path = brain.path
        self._identity = brain.identity
        self._lock = threading.Lock()
        uri = f"{self._path.absolute().as_uri()}?mode=ro"
        with translated(self._path):
            self._connection = sqlite3.connect(uri, uri=True, check_same_thread=False, timeout=0)
            self._seen = self._version()

    def poll(self) -> Change:
        """What happened since the last call."""
        try:
            stat = self._path.stat()
        except OSError:
            return Change.GONE
        if (stat.st_dev, stat.st_ino) != self._identity:
            return Change.REPLACED
        version = self.version()
        if version == self._seen:
            return Change.SAME
        self._seen = version
        return Change.CHANGED

    def version(self) -> int:
        """SQLite's counter of commits by others; raises BrainError when it cannot be read."""
        with translated(self._path):
            return self._version()

    def close(self) -> None:
        """Give the connection back."""
        with self._lock:
            self._connection.close()

    def _version(self) -> int:
        with self._lock:
            row = patiently(lambda: self._connection.execute(sql.DATA_VERSION).fetchone())
        return int(row[0])
