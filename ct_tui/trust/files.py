"""Files at the edge: read once and only if regular, locked while they grow, replaced whole.

A reader sees the old file or the new one, never a mixture; a crash at any point leaves one of the two.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import stat
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from ct_tui.domain.errors import TrustError

if TYPE_CHECKING:
    from collections.abc import Iterator

LOCK_SECONDS = 10.0
_POLL_SECONDS = 0.02


class FileMoved(TrustError):
    """The file is no longer what was read: somebody else wrote it in between."""


def read_regular(path: Path, limit: int) -> bytes:
    """Read a regular file of at most `limit` bytes.

    Raises FileNotFoundError as it is; TrustError for a folder, a device, a pipe, too many bytes or a refused read.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        raise
    except OSError as error:
        raise TrustError(f"{path} cannot be opened: {reason_of(error)}.") from error
    try:
        mode = os.fstat(descriptor).st_mode
        if stat.S_ISDIR(mode):
            raise TrustError(f"{path} is a folder, not a file.")
        if not stat.S_ISREG(mode):
            raise TrustError(f"{path} is not a regular file.")
        data = _read_up_to(descriptor, limit + 1)
    except OSError as error:
        raise TrustError(f"{path} cannot be read: {reason_of(error)}.") from error
    finally:
        os.close(descriptor)
    if len(data) > limit:
        raise TrustError(f"{path} is larger than {limit // 1024} KiB, which no file of its kind should be.")
    return data


def read_if_there(path: Path, limit: int) -> bytes:
    """Read a regular file, or nothing where there is no file."""
    try:
        return read_regular(path, limit)
    except FileNotFoundError:
        return b""


@contextlib.contextmanager
def locked(path: Path, seconds: float = LOCK_SECONDS) -> Iterator[None]:
    """Hold the lock that every writer of `path` takes; raises TrustError when another holds it for `seconds`."""
    lock = path.with_name(f".{path.name}.lock")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o666)
    except OSError as error:
        raise TrustError(f"{path.parent} cannot be written: {reason_of(error)}.") from error
    try:
        _wait_for(descriptor, path, seconds)
        yield
    finally:
        os.close(descriptor)  # which also gives the lock back


def append_whole(path: Path, before: bytes, block: bytes, mode: int = 0o644) -> None:
    """Let `path`, which holds `before`, hold `before + block`; call it under `locked`.

    Raises FileMoved when the file holds something else by now, TrustError when it cannot be written.
    """
    try:
        target = Path(os.path.realpath(path))  # a link stays a link, its target grows
        now, state = _look(target)
        if now != before:
            raise _moved(path)
        _replace(target, before + block, state, mode)
    except OSError as error:
        raise TrustError(f"{path} cannot be written: {reason_of(error)}.") from error


def write_new(path: Path, data: bytes, mode: int) -> None:
    """Create a file that must not exist yet, with exactly this mode, and make it durable; raises OSError."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode)
    with open(descriptor, "wb") as file:  # noqa: PTH123 - created with its mode, never readable by others meanwhile
        os.fchmod(descriptor, mode)
        file.write(data)
        file.flush()
        os.fsync(descriptor)
    _sync_folder(path.parent)


def reason_of(error: OSError) -> str:
    """The system's words for an error, without its number and path."""
    return (error.strerror or str(error)).lower()


def _read_up_to(descriptor: int, limit: int) -> bytes:
    with open(descriptor, "rb", closefd=False) as file:
        return file.read(limit)


def _wait_for(descriptor: int, path: Path, seconds: float) -> None:
    end = time.monotonic() + seconds
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() >= end:
                raise TrustError(
                    f"{path.name} is being written by another program for more than {seconds:g} seconds.",
                    "Wait until it is done, or end it, and repeat the step.",
                ) from None
            time.sleep(_POLL_SECONDS)
        else:
            return


def _look(path: Path) -> tuple[bytes, os.stat_result | None]:
    try:
        with path.open("rb") as file:
            return file.read(), os.fstat(file.fileno())
    except FileNotFoundError:
        return b"", None


def _replace(path: Path, data: bytes, state: os.stat_result | None, mode: int) -> None:
    descriptor, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".tmp", dir=path.parent)
    temporary = Path(name)
    try:
        with open(descriptor, "wb") as file:  # noqa: PTH123 - mkstemp gives a descriptor
            file.write(data)
            file.flush()
            _same_owner_and_mode(descriptor, state, mode)
            os.fsync(descriptor)
        _require_still(path, state)
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    _sync_folder(path.parent)


def _same_owner_and_mode(descriptor: int, state: os.stat_result | None, mode: int) -> None:
    if state is None:
        umask = os.umask(0)
        os.umask(umask)
        os.fchmod(descriptor, mode & ~umask)
        return
    with contextlib.suppress(PermissionError):  # only root may give a file to another; the content matters more
        os.fchown(descriptor, state.st_uid, state.st_gid)
    os.fchmod(descriptor, stat.S_IMODE(state.st_mode))


def _require_still(path: Path, state: os.stat_result | None) -> None:
    """Raise FileMoved unless the file is the one that was looked at; an editor takes no lock."""
    try:
        now: os.stat_result | None = path.stat()
    except FileNotFoundError:
        now = None
    if _identity(now) != _identity(state):
        raise _moved(path)


def _moved(path: Path) -> FileMoved:
    return FileMoved(f"{path} was changed by somebody else meanwhile.", "Look at it again and repeat the step.")


def _identity(state: os.stat_result | None) -> tuple[int, int, int, int] | None:
    return None if state is None else (state.st_dev, state.st_ino, state.st_size, state.st_mtime_ns)


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
