"""Real processes for fault tests: forked, so that they start at once, and ended without a chance to tidy up."""

from __future__ import annotations

import os
import pickle
import signal
import sys
import traceback
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

NOBODY = 65_534


def fork(job: Callable[[], Any], *, uid: int | None = None) -> tuple[int, int]:
    """Start a process that does the job and ends; gives its id and the reading end of a pipe with the outcome."""
    reader, writer = os.pipe()
    pid = os.fork()
    if pid:
        os.close(writer)
        return pid, reader
    try:
        os.close(reader)
        if uid is not None:
            os.setgroups([])
            os.setgid(uid)
            os.setuid(uid)
        outcome: Any = job()
    except BaseException as error:  # noqa: BLE001 - the parent judges it
        outcome = error
    try:
        with os.fdopen(writer, "wb") as pipe:
            pickle.dump(outcome, pipe)
    except BaseException:  # noqa: BLE001 - what cannot be sent is said
        traceback.print_exc(file=sys.stderr)
        os._exit(3)
    os._exit(0)


def outcome_of(pid: int, reader: int) -> Any:
    """What a process gave back: a value or an exception; None where it was killed."""
    with os.fdopen(reader, "rb") as pipe:
        data = pipe.read()
    _, status = os.waitpid(pid, 0)
    if os.WIFSIGNALED(status):
        assert os.WTERMSIG(status) == signal.SIGKILL
        return None
    assert os.waitstatus_to_exitcode(status) == 0
    return pickle.loads(data)  # noqa: S301 - from our own child


def in_child(job: Callable[[], Any], *, uid: int | None = None) -> Any:
    """Do a job in a process of its own; its exception is raised here. None where it was killed."""
    found = outcome_of(*fork(job, uid=uid))
    if isinstance(found, BaseException):
        raise found
    return found


def die() -> None:
    """End this process at once, as `kill -9` does."""
    os.kill(os.getpid(), signal.SIGKILL)
