"""A progress bar on stderr while a long write runs, and a clean stop between chunks when a signal asks for it."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

from ct_tui.cli.signals import stoppable
from ct_tui.cli.terminal import is_dumb, is_terminal

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable, Iterator

    from ct_tui.domain.plan import Progress

_CELLS = 30


class Bar:
    """A bar that is redrawn in place on stderr, and is nothing at all where that is no terminal."""

    def __init__(self, label: str) -> None:
        self._label = label
        self._shown = is_terminal(sys.stderr) and not is_dumb()
        self._percent = -1

    def __call__(self, progress: Progress) -> None:
        """Redraw where the whole percent changed."""
        percent = 100 if not progress.total else min(100, progress.done * 100 // progress.total)
        if not self._shown or percent == self._percent:
            return
        self._percent = percent
        filled = percent * _CELLS // 100
        bar = "█" * filled + "░" * (_CELLS - filled)
        sys.stderr.write(f"\r{self._label} {bar} {percent:3}%  {progress.done:,} of {progress.total:,}")
        sys.stderr.flush()

    def clear(self) -> None:
        """Take the bar away."""
        if self._percent >= 0:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()


@contextmanager
def long_write(label: str) -> Iterator[tuple[Callable[[Progress], None], threading.Event]]:
    """A progress callback and a stop event for one long write."""
    bar = Bar(label)
    with stoppable() as stop:
        try:
            yield bar, stop
        finally:
            bar.clear()
