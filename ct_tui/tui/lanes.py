"""Threads that do the work: reads beside the screen, writes one after another.

A lane runs its jobs in order. A job may name a slot; one that waits in a slot is replaced by the next for that slot, so
that a fast cursor leaves no queue behind it. Jobs never touch the screen: they post a message and are done.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from itertools import count
from typing import TYPE_CHECKING, Protocol

from ct_tui.domain.errors import CtTuiError

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual.message import Message


class Unexpected(CtTuiError):
    """Something went wrong that nobody foresaw."""

    title = "That should not happen"


def unexpected(error: BaseException) -> CtTuiError:
    """Any error as one that can be shown."""
    if isinstance(error, CtTuiError):
        return error
    return Unexpected(
        f"{type(error).__name__}: {error}", "Nothing was half done; please report it with the steps before it."
    )


class Lane:
    """One thread that runs jobs in the order they came."""

    def __init__(self, name: str) -> None:
        self._waiting: OrderedDict[str, Callable[[], None]] = OrderedDict()
        self._changed = threading.Condition()
        self._closed = False
        self._numbers = count()
        self._busy = False
        self._thread = threading.Thread(target=self._run, name=f"ct-tui-{name}", daemon=True)
        self._started = False

    def put(self, job: Callable[[], None], slot: str = "") -> None:
        """Run a job after those before it; one that still waits in the same slot is dropped."""
        with self._changed:
            if self._closed:
                return
            if not self._started:
                self._started = True
                self._thread.start()
            self._waiting.pop(slot, None)
            self._waiting[slot or f"#{next(self._numbers)}"] = job
            self._changed.notify_all()

    @property
    def idle(self) -> bool:
        """Whether nothing runs and nothing waits."""
        with self._changed:
            return not self._busy and not self._waiting

    def close(self, *, wait: bool) -> None:
        """Take no more jobs and drop those that wait; `wait` lets the one that runs finish."""
        with self._changed:
            self._closed = True
            self._waiting.clear()
            self._changed.notify_all()
        if wait and self._started:
            self._thread.join()

    def rests(self, seconds: float) -> bool:
        """After it was closed: wait for the job that runs, at most so long; whether nothing runs any more."""
        if self._started:
            self._thread.join(seconds)
        return not self._thread.is_alive()

    def _run(self) -> None:
        while True:
            with self._changed:
                self._busy = False
                self._changed.notify_all()
                while not self._waiting and not self._closed:
                    self._changed.wait()
                if self._closed and not self._waiting:
                    return
                _, job = self._waiting.popitem(last=False)
                self._busy = True
            job()


class Receiver(Protocol):
    """What takes messages in from a thread: a node of the screen, or a batch on the way to one."""

    def post_message(self, message: Message) -> bool:
        """Take a message in; whether it was."""


class Batch:
    """Messages of errands that follow each other quickly, posted together so that they are shown together.

    What has waited for `seconds` is posted, with 0 each message at once. Only the thread of one lane uses a batch.
    """

    def __init__(self, to: Receiver, seconds: float) -> None:
        self._to = to
        self._seconds = seconds
        self._held: list[Message] = []
        self._since = 0.0

    def begin(self) -> None:
        """The first errand begins: from now on the messages wait."""
        self._since = time.monotonic()

    def post_message(self, message: Message) -> bool:
        """Keep a message for the others, unless it is time to post them."""
        self._held.append(message)
        if time.monotonic() - self._since >= self._seconds:
            self.post()
        return True

    def post(self) -> None:
        """Post what waits."""
        held, self._held, self._since = self._held, [], time.monotonic()
        for message in held:
            self._to.post_message(message)


def errand(job: Callable[[], Message], failed: Callable[[CtTuiError], Message], to: Receiver) -> Callable[[], None]:
    """A job for a lane: its message, or the one that says why there is none, is posted to a node of the screen."""

    def run() -> None:
        try:
            message = job()
        except CtTuiError as error:
            message = failed(error)
        except Exception as error:  # noqa: BLE001 - the edge of a worker: nothing may vanish or crash the screen
            message = failed(unexpected(error))
        to.post_message(message)

    return run
