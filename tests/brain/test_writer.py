"""The one writer: short IMMEDIATE transactions beside other programs, whole or not at all."""

from __future__ import annotations

import shutil
import sqlite3
import subprocess
import sys
import threading
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from ct_tui.brain import connection, own, readers
from ct_tui.brain.connection import Brain, Db
from ct_tui.brain.curation import merge_history
from ct_tui.brain.models import StateRow
from ct_tui.domain.errors import BadInput, BrainBusy, BrainError

if TYPE_CHECKING:
    from collections.abc import Iterator

HOLD = """
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
connection.execute("BEGIN IMMEDIATE")
connection.execute("INSERT INTO llm_wiki_meta VALUES ('theirs', '1')")
print("locked", flush=True)
sys.stdin.readline()
connection.execute("COMMIT")
print("released", flush=True)
"""


@contextmanager
def lock_held(db: Path) -> Iterator[None]:
    """A second process that holds the write lock for as long as the block runs."""
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, str(db)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stdout.readline() == "locked\n"
        try:
            yield
        finally:
            process.stdin.write("\n")
            process.stdin.flush()
            assert process.stdout.readline() == "released\n"


@pytest.fixture
def brain(october: Path) -> Iterator[Brain]:
    with closing(Brain(october / "brain.db")) as opened:
        yield opened


def rows(db: Path, statement: str) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(db)) as other:
        return other.execute(statement).fetchall()


def test_a_job_is_committed_and_seen_by_others(brain: Brain) -> None:
    assert brain.write(lambda db: db.execute("INSERT INTO llm_wiki_meta VALUES ('a', '1')")) == 1
    assert rows(brain.path, "SELECT value FROM llm_wiki_meta WHERE key = 'a'") == [("1",)]


def test_a_failing_job_leaves_nothing_and_the_next_one_works(brain: Brain) -> None:
    def fail(db: Db) -> None:
        db.execute("INSERT INTO llm_wiki_meta VALUES ('half', '1')")
        raise BadInput("no")

    with pytest.raises(BadInput, match="no"):
        brain.write(fail)
    with pytest.raises(BrainError, match="no such table: nowhere"):
        brain.write(lambda db: db.execute("INSERT INTO nowhere VALUES (1)"))
    brain.write(lambda db: db.execute("INSERT INTO llm_wiki_meta VALUES ('whole', '1')"))
    assert rows(brain.path, "SELECT key FROM llm_wiki_meta WHERE key IN ('half', 'whole')") == [("whole",)]


def test_a_failure_before_the_lock_leaves_the_writer_usable(brain: Brain) -> None:
    def before(db: Db) -> None:
        db.execute("CREATE TEMP TABLE t (x)")
        raise BadInput("not yet")

    with pytest.raises(BadInput, match="not yet"):
        brain.write(lambda _: None, before=before)
    assert brain.write(lambda db: db.execute("INSERT INTO llm_wiki_meta VALUES ('b', '1')")) == 1


def test_jobs_of_many_threads_come_one_after_another(brain: Brain) -> None:
    def count(db: Db) -> None:
        old = int(db.scalar("SELECT value FROM llm_wiki_meta WHERE key = 'n'") or 0)
        db.execute("INSERT OR REPLACE INTO llm_wiki_meta VALUES ('n', ?)", (str(old + 1),))

    threads = [threading.Thread(target=lambda: [brain.write(count) for _ in range(20)]) for _ in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert rows(brain.path, "SELECT value FROM llm_wiki_meta WHERE key = 'n'") == [("100",)]


def test_a_lock_held_too_long_is_said_and_nothing_is_half_done(brain: Brain, monkeypatch: pytest.MonkeyPatch) -> None:
    assert connection.BUSY_TIMEOUT == 5.0
    monkeypatch.setattr(connection, "BUSY_TIMEOUT", 0.2)
    with lock_held(brain.path):
        with pytest.raises(BrainBusy) as caught:
            brain.write(lambda db: db.execute("INSERT INTO llm_wiki_meta VALUES ('ours', '1')"))
        assert str(brain.path) in caught.value.message
        assert "held the lock" in caught.value.message
        assert caught.value.remedy
        with brain.reading() as db:
            assert readers.meta(db, brain.schema, "theirs") is None
    brain.write(lambda db: db.execute("INSERT INTO llm_wiki_meta VALUES ('ours', '1')"))
    assert len(rows(brain.path, "SELECT key FROM llm_wiki_meta WHERE key IN ('ours', 'theirs')")) == 2


def test_a_short_lock_is_waited_for(brain: Brain) -> None:
    done = threading.Event()

    def write() -> None:
        brain.write(lambda db: db.execute("INSERT INTO llm_wiki_meta VALUES ('ours', '1')"))
        done.set()

    with lock_held(brain.path):
        thread = threading.Thread(target=write)
        thread.start()
        assert not done.wait(0.2)
    thread.join()
    assert done.is_set()


@contextmanager
def nobody_may_read(db: Path) -> Iterator[None]:
    """Another connection in the moment of its commit, which without WAL keeps readers out as well."""
    with closing(sqlite3.connect(db, isolation_level=None, check_same_thread=False)) as other:
        other.execute("BEGIN EXCLUSIVE")
        yield
        other.execute("COMMIT")


def test_whatever_peewee_does_waits_for_a_short_lock_too(brain: Brain) -> None:
    brain.write(lambda db: own.put_state(db, "k", "1"), before=own.create_tables)
    read = threading.Event()

    def look() -> None:
        with brain.reading() as db:
            assert [row.value for row in db.run(StateRow.select())] == ["1"]
        read.set()

    with nobody_may_read(brain.path):
        thread = threading.Thread(target=look)
        thread.start()
        assert not read.wait(0.2)
        assert thread.is_alive()
    thread.join()
    assert read.is_set()


@pytest.mark.parametrize("mode", ["delete", "wal"])
def test_another_commit_between_read_and_write_is_no_error(october: Path, mode: str) -> None:
    """A read transaction that is upgraded would fail with BUSY_SNAPSHOT; every write is IMMEDIATE from the start."""
    with closing(sqlite3.connect(october / "brain.db")) as other:
        other.execute(f"PRAGMA journal_mode = {mode}")
        with closing(Brain(october / "brain.db")) as brain:
            with brain.snapshot() as db:
                assert readers.meta(db, brain.schema, "k") is None
            other.execute("INSERT INTO llm_wiki_meta VALUES ('k', 'theirs')")
            other.commit()
            seen = brain.write(lambda db: db.scalar("SELECT value FROM llm_wiki_meta WHERE key = 'k'"))
            assert seen == "theirs"


def test_a_snapshot_stands_still_while_others_write(october: Path) -> None:
    with closing(sqlite3.connect(october / "brain.db")) as other:
        other.execute("PRAGMA journal_mode = wal")
        with closing(Brain(october / "brain.db")) as brain, brain.snapshot() as db:
            assert readers.meta(db, brain.schema, "k") is None
            other.execute("INSERT INTO llm_wiki_meta VALUES ('k', 'theirs')")
            other.commit()
            assert readers.meta(db, brain.schema, "k") is None
            with brain.reading() as same:
                assert readers.meta(same, brain.schema, "k") is None


@pytest.mark.parametrize("mode", ["delete", "wal", "truncate"])
def test_the_journal_mode_is_never_changed(october: Path, mode: str) -> None:
    with closing(sqlite3.connect(october / "brain.db")) as other:
        assert other.execute(f"PRAGMA journal_mode = {mode}").fetchone() == (mode,)
    header = (october / "brain.db").read_bytes()[18:20]
    with closing(Brain(october / "brain.db")) as brain:
        brain.write(lambda db: db.execute("INSERT INTO llm_wiki_meta VALUES ('a', '1')"))
    assert (october / "brain.db").read_bytes()[18:20] == header == (b"\x02\x02" if mode == "wal" else b"\x01\x01")


def test_a_replaced_brain_is_not_written_to(brain: Brain, tmp_path: Path) -> None:
    brain.write(lambda db: db.execute("INSERT INTO llm_wiki_meta VALUES ('a', '1')"))
    shutil.copyfile(brain.path, tmp_path / "restored.db")
    (tmp_path / "restored.db").replace(brain.path)
    with pytest.raises(BrainError, match="deleted or replaced"):
        brain.write(lambda db: db.execute("INSERT INTO llm_wiki_meta VALUES ('b', '1')"))
    assert rows(brain.path, "SELECT key FROM llm_wiki_meta WHERE key = 'b'") == []


def test_a_brain_replaced_while_the_lock_was_waited_for_is_not_written_to(brain: Brain, tmp_path: Path) -> None:
    """The old file is still open and would take the write; nobody would ever read it."""

    def replace_it(_: Db) -> None:
        shutil.copyfile(brain.path, tmp_path / "restored.db")
        (tmp_path / "restored.db").replace(brain.path)

    with pytest.raises(BrainError, match="deleted or replaced"):
        brain.write(lambda db: db.execute("INSERT INTO llm_wiki_meta VALUES ('b', '1')"), before=replace_it)


def test_a_deleted_brain_is_not_made_again(brain: Brain) -> None:
    brain.path.unlink()
    with pytest.raises(BrainError, match="deleted or replaced"):
        brain.write(lambda db: db.execute("INSERT INTO llm_wiki_meta VALUES ('b', '1')"))
    with pytest.raises(BrainError, match="no longer there"), brain.reading() as db:
        db.rows("SELECT 1 FROM curated_entities")
    assert not brain.path.exists()


def test_a_brain_opened_read_only_is_never_written_to(october: Path) -> None:
    before = (october / "brain.db").read_bytes()
    with closing(Brain(october / "brain.db", read_only=True)) as brain:
        with pytest.raises(BrainError, match="opened read-only"):
            brain.write(lambda db: db.execute("INSERT INTO llm_wiki_meta VALUES ('b', '1')"))
        with pytest.raises(BrainError, match="cannot be written"), brain.reading() as db:
            db.execute("INSERT INTO llm_wiki_meta VALUES ('b', '1')")
    assert (october / "brain.db").read_bytes() == before


@pytest.mark.parametrize("value", ["\udce9", 2**64])
def test_a_value_that_no_brain_can_hold_is_refused_in_a_sentence(brain: Brain, value: object) -> None:
    with pytest.raises(BadInput), brain.reading() as db:
        db.scalar("SELECT 1 FROM curated_entities WHERE id = ?", (value,))
    with pytest.raises(BadInput):
        brain.write(lambda db: db.execute("INSERT INTO llm_wiki_meta VALUES ('v', ?)", (value,)))
    assert brain.write(lambda db: db.execute("INSERT INTO llm_wiki_meta VALUES ('v', 1)")) == 1


def test_a_list_of_ids_beyond_every_limit_on_variables(brain: Brain) -> None:
    brain.write(own.create_tables)
    brain.refresh_schema()
    ids = [f"nobody {n}" for n in range(2_000)]
    with brain.snapshot() as db:
        # The limit is 32,766 on most machines; a low one finds every list that grows with the data.
        db.connection.setlimit(sqlite3.SQLITE_LIMIT_VARIABLE_NUMBER, 999)
        first = next(iter(readers.all_live(db, brain.schema)))[1]
        assert [r.id for r in readers.live_by_ids(db, brain.schema, [*ids, str(first)])] == [first]
        assert list(readers.names_of(db, [*ids, first])) == [first]
        assert readers.origin_rows(db, brain.schema, ids) == ()
        assert readers.history(db, brain.schema, ids=ids) == ()
        assert readers.events(db, brain.schema, ids) == ()
        assert readers.facts(db, brain.schema, ids) == ()
        assert readers.evidence_of(db, brain.schema, ids) == {}
        assert readers.chunk_places(db, brain.schema, ids) == {}
        assert readers.end_names(db, brain.schema, ids) == {}
        assert merge_history(db, brain.schema, ids) == ()


def test_closing_twice_and_writing_after_closing(brain: Brain) -> None:
    brain.write(lambda db: db.execute("INSERT INTO llm_wiki_meta VALUES ('a', '1')"))
    brain.close()
    brain.close()
    brain.write(lambda db: db.execute("INSERT INTO llm_wiki_meta VALUES ('b', '1')"))
    assert len(rows(brain.path, "SELECT key FROM llm_wiki_meta WHERE key IN ('a', 'b')")) == 2


def test_no_file_is_left_open_by_readers(brain: Brain) -> None:
    def read() -> None:
        with brain.reading() as db:
            db.rows("SELECT 1")

    threads = [threading.Thread(target=read) for _ in range(10)]
    before = len(list(Path("/dev/fd").iterdir()))
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(list(Path("/dev/fd").iterdir())) == before
