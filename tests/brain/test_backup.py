"""Backups: whole files or none, and nothing left behind."""

from __future__ import annotations

import os
import sqlite3
import time
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from ct_tui.brain import connection
from ct_tui.brain.backup import back_up, require_sound
from ct_tui.brain.connection import Brain
from ct_tui.domain.errors import BrainBusy, BrainError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def brain(october: Path) -> Iterator[Brain]:
    with closing(Brain(october / "brain.db")) as opened:
        yield opened


def test_a_backup_is_the_brain_and_replaces_an_older_one(brain: Brain, tmp_path: Path) -> None:
    target = tmp_path / "backups" / "b.db"
    target.parent.mkdir()
    target.write_text("older")
    assert back_up(brain, target) == target
    with closing(sqlite3.connect(target)) as copy:
        assert copy.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        assert copy.execute("SELECT COUNT(*) FROM curated_entities").fetchone() == (158,)
    assert [p.name for p in target.parent.iterdir()] == ["b.db"]


def test_a_backup_beside_a_busy_writer_is_one_state(brain: Brain, tmp_path: Path) -> None:
    """Another connection has uncommitted work; the copy holds none of it."""
    with closing(sqlite3.connect(brain.path, isolation_level=None)) as other:
        other.execute("PRAGMA journal_mode = wal")
        other.execute("BEGIN IMMEDIATE")
        other.execute("UPDATE curated_entities SET entity_type = 'half'")
        back_up(brain, tmp_path / "b.db")
        other.execute("ROLLBACK")
    with closing(sqlite3.connect(tmp_path / "b.db")) as copy:
        assert copy.execute("SELECT COUNT(*) FROM curated_entities WHERE entity_type = 'half'").fetchone() == (0,)


def test_a_failed_backup_names_its_own_file_and_leaves_the_older_one(
    brain: Brain, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "b.db"
    target.write_text("older")
    with closing(sqlite3.connect(brain.path, isolation_level=None)) as other:
        monkeypatch.setattr(connection, "BUSY_TIMEOUT", 0.05)
        other.execute("BEGIN EXCLUSIVE")
        with pytest.raises(BrainBusy, match="no backup could be made"):
            back_up(brain, target)
    folder = tmp_path / "in the way"
    folder.write_text("")
    with pytest.raises(BrainError, match="no backup could be made"):
        back_up(brain, folder / "b.db")
    assert target.read_text() == "older"
    assert sorted(p.name for p in tmp_path.iterdir() if p.is_file()) == ["b.db", "in the way"]


def test_what_killed_backups_left_is_cleared_away(brain: Brain, tmp_path: Path) -> None:
    old, new = tmp_path / "brain-2026-01-01.part1-2", tmp_path / "brain-2026-01-02.part3-4"
    for part in (old, new):
        part.write_bytes(b"half")
    os.utime(old, (time.time() - 90_000,) * 2)
    back_up(brain, tmp_path / "b.db")
    assert not old.exists()
    assert new.exists()


def test_a_damaged_page_is_noticed_whatever_it_holds(october: Path) -> None:
    path = october / "brain.db"
    with closing(Brain(path)) as opened:
        require_sound(opened)
    size = 4096
    with closing(sqlite3.connect(path)) as db:
        (page,) = db.execute("SELECT rootpage FROM sqlite_master WHERE name = 'curated_agent_log'").fetchone()
    data = bytearray(path.read_bytes())
    data[(page - 1) * size : page * size] = b"\xff" * size
    path.write_bytes(data)
    with closing(Brain(path)) as opened, pytest.raises(BrainError, match="is damaged"):
        require_sound(opened)


def test_rows_that_break_their_tables_rules_are_no_damage(october: Path) -> None:
    path = october / "brain.db"
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("PRAGMA writable_schema = ON")
        db.execute("UPDATE sqlite_master SET sql = replace(sql, 'name TEXT NOT NULL', 'name TEXT')")
        db.execute("PRAGMA writable_schema = RESET")
        db.execute("UPDATE curated_entities SET name = NULL WHERE rowid = 3")
        db.execute("PRAGMA writable_schema = ON")
        db.execute("UPDATE sqlite_master SET sql = replace(sql, 'name TEXT,', 'name TEXT NOT NULL,')")
    with closing(sqlite3.connect(path)) as db:
        assert "NULL value" in db.execute("PRAGMA quick_check(1)").fetchone()[0]
    with closing(Brain(path)) as opened:
        require_sound(opened)
