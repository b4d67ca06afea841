"""Signals while a verb runs: the first asks it to stop at a clean place, so that the brain is whole."""

from __future__ import annotations

import signal
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import FrameType

    Handler = Callable[[int, FrameType | None], None]

_TERMINATION = ("SIGTERM", "SIGHUP")


class Terminated(BaseException):
    """A signal asked the process to end; every open transaction is rolled back on the way out."""


@contextmanager
def tidy_termination() -> Iterator[None]:
    """Turn SIGTERM and SIGHUP into `Terminated`, so that what is open is closed."""

    def stop(number: int, _frame: FrameType | None) -> None:
        raise Terminated(f"stopped by {signal.Signals(number).name}")

    with _handled(_TERMINATION, stop):
        yield


@contextmanager
def default_termination() -> Iterator[None]:
    """Leave the signals to whoever takes the terminal over."""
    with _handled(_TERMINATION, signal.SIG_DFL):
        yield


@contextmanager
def stoppable() -> Iterator[threading.Event]:
    """An event that the first SIGINT, SIGTERM or SIGHUP sets; a second signal ends at once."""
    stop = threading.Event()

    def ask(number: int, _frame: FrameType | None) -> None:
        if stop.is_set():
            raise (
                KeyboardInterrupt
                if number == signal.SIGINT
                else Terminated(f"stopped by {signal.Signals(number).name}")
            )
        stop.set()

    with _handled(("SIGINT", *_TERMINATION), ask):
        yield stop


@contextmanager
def _handled(names: tuple[str, ...], handler: Handler | signal.Handlers) -> Iterator[None]:
    """Handle signals for a while; only the main thread of a process may, elsewhere nothing changes."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    numbers = [getattr(signal, name) for name in names if hasattr(signal, name)]
    # SIGHUP that is ignored stays ignored: that is what nohup asks for.
    before = {n: signal.getsignal(n) for n in numbers if signal.getsignal(n) is not signal.SIG_IGN}
    try:
        for number in before:
            signal.signal(number, handler)
        yield
    finally:
        for number, old in before.items():
            signal.signal(number, old if old is not None else signal.SIG_DFL)
