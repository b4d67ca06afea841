"""Opening a brain: never creating it, one connection a thread, one writer thread, every fault in a sentence.

Text columns come back as `str`, or as `bytes` where they are not UTF-8, so that one bad row never hides the others.
The journal mode is never changed and `immutable=1` never used: both would hurt the programs that share the file.
"""

from __future__ import annotations

import os
import sqlite3
import threading
import time
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any, TypeVar

import peewee

from ct_tui.brain import sql
from ct_tui.brain.turns import Turns
from ct_tui.domain.errors import BadInput, BrainBusy, BrainError, CtTuiError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from ct_tui.brain.schema import Schema

T = TypeVar("T")

BUSY_TIMEOUT = 5.0
"""Seconds to wait for another program's write lock, as every host of the app does."""

POLL = 0.001
"""Seconds between two looks at a lock: SQLite by itself looks ever more seldom, and a writer that hardly rests would
starve us."""

# Another program has the lock; the fourth kind of it, SQLITE_BUSY_SNAPSHOT, no waiting would help.
_WAITING = frozenset({sqlite3.SQLITE_BUSY, sqlite3.SQLITE_BUSY_RECOVERY, sqlite3.SQLITE_BUSY_TIMEOUT})

# A brain in WAL mode needs two files beside it, and they cannot be made here.
_NO_WAL = frozenset(
    {sqlite3.SQLITE_READONLY_DIRECTORY, sqlite3.SQLITE_READONLY_CANTINIT, sqlite3.SQLITE_READONLY_RECOVERY}
)


class _NotUtf8(Exception):
    """Some text of the brain is not UTF-8, so it has to be read the careful way."""


class Db:
    """One thread's connection, for plain statements and for peewee queries."""

    def __init__(self, database: _Database) -> None:
        self._database = database
        self._connection: sqlite3.Connection = database.connection()  # type: ignore[no-untyped-call]

    @property
    def connection(self) -> sqlite3.Connection:
        """The sqlite3 connection itself, for backup and interrupt."""
        return self._connection

    def rows(self, statement: str, params: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """All rows of a statement."""
        return self._cursor(statement, params).fetchall()

    def stream(self, statement: str, params: Sequence[Any] = ()) -> Iterator[tuple[Any, ...]]:
        """The rows of a statement one by one."""
        return iter(self._cursor(statement, params))

    def one(self, statement: str, params: Sequence[Any] = ()) -> tuple[Any, ...] | None:
        """The first row, or None."""
        row: tuple[Any, ...] | None = self._cursor(statement, params).fetchone()
        return row

    def scalar(self, statement: str, params: Sequence[Any] = ()) -> Any:
        """The first column of the first row, or None."""
        row = self.one(statement, params)
        return row[0] if row else None

    def execute(self, statement: str, params: Sequence[Any] = ()) -> int:
        """Run a statement and give the number of rows it changed."""
        return self._cursor(statement, params).rowcount

    def executemany(self, statement: str, params: Iterable[Sequence[Any]]) -> None:
        """Run a statement once for every row of parameters."""
        with _bindable():
            self._connection.executemany(statement, params)

    def close(self) -> None:
        """Give the connection up."""
        self._database.close()

    def commit(self) -> None:
        """End the transaction; without WAL this waits for readers."""
        patiently(self._connection.commit)

    def run(self, query: Any) -> list[Any]:
        """The models that a peewee select yields."""
        with _bindable():
            return patiently(lambda: list(query.bind(self._database)))

    def do(self, query: Any) -> Any:
        """Execute a peewee write query."""
        with _bindable():
            return patiently(query.bind(self._database).execute)

    def _cursor(self, statement: str, params: Sequence[Any]) -> sqlite3.Cursor:
        with _bindable():
            return patiently(lambda: self._connection.execute(statement, params))

    def create_tables(self, models: Sequence[type[peewee.Model]]) -> None:
        """Create our own tables where they are missing."""
        with self._database.bind_ctx(models, bind_refs=False, bind_backrefs=False):
            for model in models:
                model.create_table(safe=True)

    def decoded(self, job: Callable[[], T]) -> T:
        """Do a job that reads much with text decoded in C, several times as fast; once more where some is no UTF-8."""
        try:
            with self._utf8_only():
                return job()
        except _NotUtf8:
            return job()

    @contextmanager
    def _utf8_only(self) -> Iterator[None]:
        """Decode text in C while this lasts; raises at the first text that is not UTF-8."""
        before = self._connection.text_factory
        self._connection.text_factory = str
        try:
            yield
        except sqlite3.OperationalError as error:
            if "decode to UTF-8" in str(error):
                raise _NotUtf8(str(error)) from error
            raise
        finally:
            self._connection.text_factory = before

    def fill_ids(self, ids: Iterable[str]) -> None:
        """Put ids into the temporary table that statements join, in place of an unbounded IN list."""
        self.execute(sql.IDS_TABLE)
        self.execute("DELETE FROM temp.ct_tui_ids")
        self.executemany("INSERT OR IGNORE INTO temp.ct_tui_ids VALUES (?)", ((i,) for i in ids))


class Brain:
    """One brain.db, opened by as many threads as read it and by one that writes."""

    def __init__(self, path: Path, *, read_only: bool = False) -> None:
        """Open and check the file; raises BrainError where it is not a brain."""
        self.path = path
        _refuse_what_is_no_file(path)
        self.identity = _identity(path)
        self._reader = _Database(_uri(path, "ro"), uri=True, timeout=0)
        self._writer: _WriterThread | None = None
        self._lock = threading.Lock()
        self.turns = Turns()
        self.schema: Schema = self._read_schema()
        self.read_only = read_only or not _writable(path)

    @property
    def name(self) -> str:
        """The whole path as text that UTF-8 can hold, whatever bytes the path is made of."""
        return path_text(self.path)

    def _read_schema(self) -> Schema:
        from ct_tui.brain.schema import read_schema

        with self.reading() as db:
            return read_schema(db, self.path)

    def refresh_schema(self) -> Schema:
        """Read the schema again, since another program may have migrated the file."""
        self.schema = self._read_schema()
        return self.schema

    @contextmanager
    def reading(self) -> Iterator[Db]:
        """A read-only connection of this thread; nested use shares it."""
        with translated(self.path):
            if not self._reader.is_closed():
                yield Db(self._reader)
                return
            self._reader.connect()
            try:
                yield Db(self._reader)
            finally:
                self._reader.close()

    @contextmanager
    def snapshot(self) -> Iterator[Db]:
        """A read transaction: every statement inside sees the same state of the brain."""
        with self.reading() as db:
            if db.connection.in_transaction:
                yield db
                return
            with self.turns.reading():
                db.execute("BEGIN")
                try:
                    yield db
                finally:
                    db.connection.rollback()

    @property
    def write_refusal(self) -> str:
        """Why nothing may be written, or an empty text."""
        if self.read_only:
            return f"{self.path} is opened read-only"
        return self.schema.refusal

    def write(self, job: Callable[[Db], T], *, before: Callable[[Db], None] | None = None) -> T:
        """Run a job on the one writer thread inside BEGIN IMMEDIATE; commits, or rolls back and raises.

        `before` runs on the same connection before any lock is taken, to fill temporary tables. Raises BrainBusy
        when another program holds the lock for longer than BUSY_TIMEOUT.
        """
        self.require_writable()
        self.require_same_file()
        with self._lock:
            if self._writer is None:
                self._writer = _WriterThread(self)
            writer = self._writer
        return writer.run(job, before)

    def require_writable(self) -> None:
        """Raise BrainError where nothing may be written, with the reason."""
        if self.read_only:
            remedy = "open it without --read-only, or check the permissions of the file and its folder"
        else:
            remedy = "use a version of this program that knows the format"
        if self.write_refusal:
            raise BrainError(f"nothing was written: {self.write_refusal}", remedy)

    def require_same_file(self) -> None:
        """Raise BrainError where the file is no longer the one that was opened under this path."""
        try:
            same = _identity(self.path) == self.identity
        except OSError:
            same = False
        if not same:
            raise BrainError(
                f"nothing was written: {self.path} was deleted or replaced since it was opened", "open the brain again"
            )

    def close(self) -> None:
        """Let the writer finish and close this thread's connection."""
        with self._lock:
            writer, self._writer = self._writer, None
        if writer is not None:
            writer.close()
        if not self._reader.is_closed():
            self._reader.close()


class _Database(peewee.SqliteDatabase):
    """peewee's database with a text factory that survives text which is not UTF-8."""

    def __init__(self, database: str, **kwargs: Any) -> None:
        super().__init__(database, autoconnect=False, **kwargs)

    def _add_conn_hooks(self, conn: sqlite3.Connection) -> None:
        super()._add_conn_hooks(conn)  # type: ignore[misc]
        conn.text_factory = _text


@dataclass(frozen=True)
class _Job:
    job: Callable[[Db], Any]
    before: Callable[[Db], None] | None
    future: Future[Any]


class _WriterThread:
    """The one thread that writes: jobs one after another, each its own IMMEDIATE transaction."""

    def __init__(self, brain: Brain) -> None:
        self._brain = brain
        self._path = brain.path
        self._jobs: SimpleQueue[_Job | None] = SimpleQueue()
        self._thread = threading.Thread(target=self._serve, name="ct-tui writer", daemon=True)
        self._thread.start()

    def run(self, job: Callable[[Db], T], before: Callable[[Db], None] | None) -> T:
        """Queue a job and wait for it."""
        future: Future[T] = Future()
        with self._brain.turns.waiting():
            self._jobs.put(_Job(job, before, future))
            return future.result()

    def close(self) -> None:
        """Finish what is queued and end."""
        self._jobs.put(None)
        self._thread.join()

    def _serve(self) -> None:
        database = _Database(_uri(self._path, "rw"), uri=True, timeout=0)
        while (item := self._jobs.get()) is not None:
            try:
                item.future.set_result(self._one(database, item))
            except BaseException as error:  # noqa: BLE001 - handed to the caller, who raises it
                item.future.set_exception(error)
        if not database.is_closed():
            database.close()

    def _one(self, database: _Database, item: _Job) -> Any:
        with translated(self._path):
            if database.is_closed():
                database.connect()
            db = Db(database)
            if item.before is not None:
                self._prepare(db, item.before)
            with self._begun(db):
                # Under the lock once more: the file may have been replaced while another program held it.
                self._brain.require_same_file()
                result = item.job(db)
                db.commit()
            return result

    @contextmanager
    def _begun(self, db: Db) -> Iterator[None]:
        """A write transaction that is over afterwards; without WAL our own readers and it take turns."""
        # With WAL nobody waits for anybody: turns that nobody else knows of hold up nobody.
        turns = Turns() if db.scalar(sql.JOURNAL_MODE) == "wal" else self._brain.turns

        def begin() -> None:
            turns.begin_write()
            try:
                db.connection.execute("BEGIN IMMEDIATE")
            except sqlite3.Error:
                # While another program has the lock, whoever wants to read here may.
                turns.end_write()
                raise

        patiently(begin)
        try:
            yield
        except BaseException:
            _roll_back(db)
            raise
        finally:
            turns.end_write()

    def _prepare(self, db: Db, before: Callable[[Db], None]) -> None:
        # A plain BEGIN keeps nobody from writing as long as only temporary tables are written. What it reads of the
        # brain is read under one lock, which is waited for here and not in the middle of many statements.
        db.execute("BEGIN")
        try:
            db.scalar(sql.TOUCH)
            before(db)
            db.commit()
        except BaseException:
            _roll_back(db)
            raise


def _roll_back(db: Db) -> None:
    """Leave no transaction behind; a connection that cannot even roll back is given up, which rolls back too."""
    try:
        db.connection.rollback()
    except sqlite3.Error:
        db.close()


@contextmanager
def translated(path: Path) -> Iterator[None]:
    """Turn a database fault into a sentence that names the file and says what to do."""
    try:
        yield
    except CtTuiError:
        raise
    except (sqlite3.Error, peewee.DatabaseError) as error:
        raise explain(path, error) from error


def patiently(action: Callable[[], T]) -> T:
    """Try an action again while another program holds the lock, for at most BUSY_TIMEOUT seconds."""
    give_up = time.monotonic() + BUSY_TIMEOUT
    while True:
        try:
            return action()
        except (sqlite3.OperationalError, peewee.OperationalError) as error:
            if _code(error) not in _WAITING or time.monotonic() >= give_up:
                raise
        time.sleep(POLL)


def _code(error: BaseException) -> int | None:
    """SQLite's extended code of a fault, also of one that peewee wrapped."""
    code = getattr(error, "sqlite_errorcode", None)
    # peewee raises its own fault while it handles SQLite's, and not from it.
    inner = error.__cause__ or error.__context__
    return _code(inner) if code is None and inner is not None else code


@contextmanager
def _bindable() -> Iterator[None]:
    """Turn a value that SQLite cannot hold into a sentence: half a surrogate pair, a number beyond 64 bits."""
    try:
        yield
    except UnicodeEncodeError as error:
        raise BadInput(f"{error.object!r} is not valid Unicode, so no brain can hold it") from error
    except OverflowError as error:
        raise BadInput("a number is too large for a brain to hold") from error


def explain(path: Path, error: Exception) -> BrainError:
    """The sentence for a database fault."""
    text = str(error)
    lowered = text.lower()
    if "locked" in lowered or "busy" in lowered:
        return BrainBusy(
            f"another program held the lock on {path} for more than {BUSY_TIMEOUT:g} seconds",
            "wait until it has finished, then try again; nothing was half done",
        )
    if "not a database" in lowered or "encrypted" in lowered:
        return BrainError(f"{path} is not a brain: the file is not an SQLite database", "give the path of a brain.db")
    if "malformed" in lowered or "corrupt" in lowered:
        return BrainError(f"{path} is damaged: {text}", "restore a backup, or let SQLite's .recover read it")
    if "disk is full" in lowered:
        return BrainError(f"the disk is full: {path} could not be written", "make room and run the same plan again")
    if "i/o error" in lowered:
        return BrainError(
            f"{path} could not be read or written: {text}",
            "check the disk and its limits, then run the same plan again",
        )
    if _code(error) in _NO_WAL:
        return BrainError(f"{path} cannot be opened: {text}", _WAL_REMEDY)
    if "readonly" in lowered or "read-only" in lowered:
        return BrainError(f"{path} cannot be written: {text}", "check the permissions of the file and its folder")
    if "unable to open" in lowered:
        return _not_opened(path, text)
    return BrainError(f"{path}: {text}")


NOT_TAKEN = "look at the triggers in the brain: one of them keeps rows out"
"""What to do where a write that met no obstacle left no row."""

_WAL_REMEDY = "a brain in WAL mode needs its -wal and -shm files, or a folder in which they can be made"


def _not_opened(path: Path, text: str) -> BrainError:
    if not path.exists():
        return BrainError(f"{path} is no longer there", "put it back, or open another brain")
    return BrainError(
        f"{path} cannot be opened: {text}", f"check the permissions of the file and its folder; {_WAL_REMEDY}"
    )


def path_text(path: Path) -> str:
    """An absolute path as text that UTF-8 can hold; bytes that are no UTF-8 are written as escapes."""
    return os.fsencode(path.absolute()).decode("utf-8", "backslashreplace")


def _text(raw: bytes) -> str | bytes:
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        return raw


def _refuse_what_is_no_file(path: Path) -> None:
    try:
        if not path.exists():
            raise BrainError(
                f"there is no brain at {path}", "give --brain a folder with a brain.db, or the file itself"
            )
        if not path.is_file():
            raise BrainError(f"{path} is not a file", "give --brain a folder with a brain.db, or the file itself")
        if path.stat().st_size == 0:
            raise BrainError(f"{path} is an empty file, not a brain", "give the path of a brain.db with tables in it")
        with path.open("rb"):
            pass
    except OSError as error:
        raise BrainError(f"{path} cannot be read: {error.strerror}", "check the permissions of the file") from error


def _identity(path: Path) -> tuple[int, int]:
    stat = path.stat()
    return stat.st_dev, stat.st_ino


def _writable(path: Path) -> bool:
    return os.access(path, os.W_OK) and os.access(path.parent, os.W_OK)


def _uri(path: Path, mode: str) -> str:
    return f"{Path(path).absolute().as_uri()}?mode={mode}"
