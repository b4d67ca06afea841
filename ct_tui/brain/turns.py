"""Reading and writing of one process take turns, where SQLite would let them wait for each other.

Without WAL a commit waits for everybody who reads, and meanwhile nobody may begin to read. Two of our own threads could
so hold up a third: one reads and wants what the other is making, the other is making it and wants to read. So a write
begins only when nobody here reads, and nobody here begins to read until it is over.
"""

from __future__ import annotations

import threading
import time
from collections import Counter
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

TURN = 0.05
"""Seconds that new readers are held back for a writer; then they pass for as long, since others may wait for them."""

LONGEST = 60.0
"""Seconds that a writer waits for our own readers before it leaves the rest to SQLite."""


class Turns:
    """Who reads and who writes, of the threads of this process."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._readers: Counter[int] = Counter()
        self._closed = False

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Read; waits while a writer has its turn, but never inside a reading of the same thread."""
        me = threading.get_ident()
        with self._changed:
            if not self._readers[me]:
                self._changed.wait_for(lambda: not self._closed)
            self._readers[me] += 1
        try:
            yield
        finally:
            with self._changed:
                self._readers[me] -= 1
                self._readers += Counter()
                self._changed.notify_all()

    def begin_write(self, for_thread: int) -> None:
        """Take the writer's turn once no thread reads but the one that waits for this write; `end_write` ends it."""
        give_up = time.monotonic() + LONGEST
        with self._changed:
            self._closed = True
            while not self._changed.wait_for(lambda: not self._others(for_thread), TURN):
                if time.monotonic() >= give_up:
                    break
                self._closed = not self._closed
                self._changed.notify_all()
            self._closed = True

    def end_write(self) -> None:
        """End the writer's turn."""
        with self._changed:
            self._closed = False
            self._changed.notify_all()

    def _others(self, thread: int) -> bool:
        return any(reader != thread for reader in self._readers)
