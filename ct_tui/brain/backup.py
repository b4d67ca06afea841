"""Backups of a brain beside it: SQLite's backup API in one step, since a stepwise one restarts for ever."""

from __future__ import annotations

import contextlib
import os
import sqlite3
import threading
import time
from typing import TYPE_CHECKING

from ct_tui.brain import connection, sql
from ct_tui.brain.connection import explain, path_text
from ct_tui.domain.errors import BrainError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from ct_tui.brain.connection import Brain

FOLDER = "ct-tui-backups"
PART = ".part"
"""The ending of a backup that is not whole yet."""

CHECKED_BYTES = 32 * 1024 * 1024
"""Up to this size a brain is looked through before a run writes to it, which takes less than 50 ms."""

_DAMAGED_PAGES = "*** in database"


def backup_name(brain: Path, day: str) -> Path:
    """Where the backup of a day (such as 2027-01-31) lies."""
    return brain.parent / FOLDER / f"{brain.stem}-{day}.db"


def require_sound(brain: Brain) -> None:
    """Raise BrainError where a page of the brain is damaged, whether or not a run would come to it.

    A large brain is not looked through: that would hold others up; what a run reads of it is noticed all the same.
    Rows that break a rule of their table are no damage.
    """
    try:
        if brain.path.stat().st_size > CHECKED_BYTES:
            return
        with brain.reading() as db:
            found = str(db.scalar(sql.QUICK_CHECK))
    except OSError:
        return  # a file that is gone is noticed by whoever opens it
    if found.startswith(_DAMAGED_PAGES):
        told = found.splitlines()[1:] or [found]
        raise explain(brain.path, sqlite3.DatabaseError(f"database disk image is malformed ({told[0]})"))


def backed_up(brain: Brain, now: float, *, fresh: bool = False) -> str:
    """The path of the day's backup, made where it is missing, or of a new one; `now` in seconds. Raises BrainError."""
    if fresh:
        return path_text(back_up(brain, backup_name(brain.path, time.strftime("%Y-%m-%dT%H%M%SZ", time.gmtime(now)))))
    target = backup_name(brain.path, time.strftime("%Y-%m-%d", time.gmtime(now)))
    return path_text(target if target.exists() else back_up(brain, target))


def back_up(brain: Brain, target: Path) -> Path:
    """Copy the brain to `target` under a temporary name, then rename; raises BrainError, leaving no half file."""
    failure: list[BaseException] = []
    part = target.with_suffix(f"{PART}{os.getpid()}-{threading.get_ident()}")

    def copy() -> None:
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            _clear_leftovers(target.parent)
            with brain.reading() as db:
                _copy(db.connection, part)
            part.replace(target)
        except BaseException as error:  # noqa: BLE001 - raised by the caller, outside this thread
            failure.append(error)

    worker = threading.Thread(target=copy, name="ct-tui backup")
    worker.start()
    worker.join()
    if failure:
        with contextlib.suppress(OSError):
            part.unlink(missing_ok=True)
        raise _explained(brain, failure[0])
    return target


def _copy(source: sqlite3.Connection, part: Path) -> None:
    try:
        with contextlib.closing(sqlite3.connect(part)) as out:
            source.backup(out, pages=-1, progress=_patience(), sleep=connection.POLL)
    except sqlite3.Error as error:
        if "malformed" in str(error) or "locked" in str(error):
            raise
        raise explain(part, error) from error


def _clear_leftovers(folder: Path) -> None:
    """Remove what backups that were killed left behind; one that is at work now is younger than a day."""
    for old in folder.glob(f"*{PART}*"):
        with contextlib.suppress(OSError):
            if time.time() - old.stat().st_mtime > 86_400:
                old.unlink()


def _patience() -> Callable[[int, int, int], None]:
    """A progress callback that gives up on a lock: SQLite's own loop would try for ever."""
    started = time.monotonic()

    def look(status: int, _remaining: int, _total: int) -> None:
        busy = status & 0xFF in {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}
        if busy and time.monotonic() - started > connection.BUSY_TIMEOUT:
            raise sqlite3.OperationalError("database is locked")

    return look


def _explained(brain: Brain, error: BaseException) -> BaseException:
    if isinstance(error, BrainError):
        return type(error)(f"no backup could be made, so nothing was changed: {error.message}", error.remedy)
    if isinstance(error, sqlite3.Error):
        return _explained(brain, explain(brain.path, error))
    if isinstance(error, OSError):
        return BrainError(
            f"no backup could be made, so nothing was changed: {error.strerror}", "make room or check the permissions"
        )
    return error
