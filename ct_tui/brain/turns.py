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
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager

TURN = 0.05
"""Seconds that new readers are held back for a writer; then they pass for as long, since others may wait for them."""

LONGEST = 60.0
"""Seconds that a writer waits for our own readers before it leaves the rest to SQLite."""


class Turns:
    """Who reads and who writes, of the threads of this process."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._readers: Counter[int] = Counter()
        self._waiting: Counter[int] = Counter()
        self._closed = False

    def reading(self) -> AbstractContextManager[None]:
        """Read; waits while a writer has its turn, but never inside a reading of the same thread."""
        return self._counted(self._readers, lambda: not self._closed)

    def waiting(self) -> AbstractContextManager[None]:
        """Wait for a write: a thread that does while it reads is not waited for, since it cannot end before."""
        return self._counted(self._waiting, lambda: True)

    @contextmanager
    def _counted(self, threads: Counter[int], ready: Callable[[], bool]) -> Iterator[None]:
        me = threading.get_ident()
        with self._changed:
            if me not in threads:
                self._changed.wait_for(ready)
            threads[me] += 1
            self._changed.notify_all()
        try:
            yield
        finally:
            with self._changed:
                threads[me] -= 1
                if not threads[me]:
                    del threads[me]
                self._changed.notify_all()

    def begin_write(self) -> None:
        """Take the writer's turn once no thread reads that could end; `end_write` ends it."""
        give_up = time.monotonic() + LONGEST
        with self._changed:
            self._closed = True
            while not self._changed.wait_for(lambda: self._readers.keys() <= self._waiting.keys(), TURN):
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
