"""Our own threads on a brain without WAL: what one reads never makes another's writing fail."""

from __future__ import annotations

import contextlib
import sqlite3
import threading
import time
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from ct_tui.brain import connection
from ct_tui.brain.connection import Brain, Db
from ct_tui.domain.errors import BrainBusy

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

LIVE = "SELECT COUNT(*) FROM curated_entities WHERE deleted_at IS NULL"


@pytest.fixture
def brain(october: Path) -> Iterator[Brain]:
    with closing(sqlite3.connect(october / "brain.db")) as found:
        assert found.execute("PRAGMA journal_mode").fetchone() == ("delete",)
    with closing(Brain(october / "brain.db")) as opened:
        yield opened


def note(db: Db) -> None:
    db.execute("INSERT INTO llm_wiki_meta VALUES ('note', '1')")


def renew(db: Db) -> None:
    db.execute("INSERT OR REPLACE INTO llm_wiki_meta VALUES ('note', '2')")


def test_a_write_waits_for_a_reader_that_takes_longer_than_any_other_program_may(
    brain: Brain, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection, "BUSY_TIMEOUT", 0.2)
    reads, done = threading.Event(), threading.Event()

    def reader() -> None:
        with brain.snapshot() as db:
            db.scalar(LIVE)
            reads.set()
            assert not done.wait(1.0), "it was written while somebody here read"

    thread = threading.Thread(target=reader)
    thread.start()
    reads.wait()
    brain.write(note)
    done.set()
    thread.join()


def test_two_readers_of_which_one_waits_for_the_other_hold_up_no_writer(brain: Brain) -> None:
    making = threading.Lock()
    reads, writes = threading.Event(), threading.Event()
    got: list[object] = []

    def wants_what_is_made() -> None:
        with brain.snapshot() as db:
            db.scalar(LIVE)
            reads.set()
            writes.wait()
            with making:
                got.append(db.scalar(LIVE))

    def makes_it() -> None:
        with making:
            reads.wait()
            writes.wait()
            # The writer has had the time to ask for its turn, so a new reader is held back.
            end = time.monotonic() + 10
            while not brain.turns._closed:
                assert time.monotonic() < end
            with brain.snapshot() as db:
                got.append(db.scalar(LIVE))

    threads = [threading.Thread(target=target) for target in (wants_what_is_made, makes_it)]
    threads.append(threading.Thread(target=brain.write, args=(note,)))
    for thread in threads:
        thread.start()
    reads.wait()
    writes.set()
    for thread in threads:
        thread.join()
    assert got == [152, 152]
    with brain.snapshot() as db:
        assert db.scalar("SELECT value FROM llm_wiki_meta WHERE key = 'note'") == "1"


def test_whoever_writes_while_it_reads_does_not_wait_for_itself(brain: Brain) -> None:
    with closing(sqlite3.connect(brain.path)) as found:
        found.execute("PRAGMA journal_mode = WAL")
    with brain.snapshot() as db:
        before = db.scalar(LIVE)
        brain.write(note)
        assert db.scalar(LIVE) == before


def test_a_reader_that_waits_for_its_own_write_holds_up_no_other(brain: Brain, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "BUSY_TIMEOUT", 0.2)
    with brain.snapshot() as db:
        db.scalar(LIVE)
        others = [threading.Thread(target=swallowed, args=(brain, renew)) for _ in range(2)]
        for thread in others:
            thread.start()
        began = time.monotonic()
        # SQLite itself refuses to write what this thread reads; that has to be said, and soon.
        with pytest.raises(BrainBusy):
            brain.write(renew)
        assert time.monotonic() - began < 10
    for thread in others:
        thread.join()
    brain.write(renew)


def swallowed(brain: Brain, job: Callable[[Db], None]) -> None:
    with contextlib.suppress(BrainBusy):
        brain.write(job)


def test_readers_pass_while_another_program_has_the_lock(brain: Brain, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "BUSY_TIMEOUT", 30.0)
    with closing(sqlite3.connect(brain.path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        writer = threading.Thread(target=brain.write, args=(note,))
        writer.start()
        for _ in range(20):
            with brain.snapshot() as db:
                assert db.scalar(LIVE) == 152
        assert writer.is_alive()
        other.execute("ROLLBACK")
    writer.join()
    assert not brain.turns._closed


def test_many_readers_never_starve_a_writer(brain: Brain) -> None:
    over = threading.Event()

    def read_on() -> None:
        while not over.is_set():
            with brain.snapshot() as db:
                db.rows("SELECT id, name FROM curated_entities")

    readers = [threading.Thread(target=read_on) for _ in range(4)]
    for thread in readers:
        thread.start()
    try:
        for _ in range(20):
            brain.write(lambda db: db.execute("DELETE FROM llm_wiki_meta WHERE key = 'note'"))
    finally:
        over.set()
        for thread in readers:
            thread.join()
