"""A signal in the middle of a long write: whole chunks, a receipt that says so, and the next run finishes the work."""

from __future__ import annotations

import json
import signal
import sqlite3
import subprocess
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest

from tests.cli.conftest import ADA, COMMAND, spawn

if TYPE_CHECKING:
    from pathlib import Path

AGENTS = 1_500
SLOW_ROWS = """
    CREATE TRIGGER slow_rows AFTER UPDATE OF entity_type ON curated_entities
    BEGIN SELECT COUNT(*) FROM curated_entities a JOIN (SELECT 1 FROM curated_entities LIMIT 12); END
"""
"""Makes every row cost about a millisecond, so that a run has many chunks and takes longer than a signal."""


@pytest.fixture
def slow(october: Path) -> Path:
    """The October brain with many more agents, the founding rulings, and rows that are slow to write."""
    with closing(sqlite3.connect(october / "brain.db")) as db, db:
        db.executemany(
            "INSERT INTO curated_entities (id, name, entity_type, summary, created_at, updated_at) "
            "VALUES (?, ?, 'agent', '', 1, 1)",
            ((f"ent_{n:05}", f"Agent number {n}") for n in range(AGENTS)),
        )
        db.execute(SLOW_ROWS)
    for args in (["keys", "new", "--as", ADA], ["rule", "adopt", "founding.yaml"]):
        assert spawn("--brain", str(october), *args).code == 0
    return october


def wait_for_the_first_rows(brain: Path) -> None:
    """Return as soon as the other process has written a chunk of its run."""
    with closing(sqlite3.connect(brain / "brain.db", timeout=20)) as db:
        while not db.execute("SELECT 1 FROM sqlite_master WHERE name = 'ct_tui_type_change'").fetchone():
            pass
        while not db.execute("SELECT 1 FROM ct_tui_type_change").fetchone():
            pass


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP], ids=lambda n: n.name)
def test_a_signal_stops_heal_between_chunks(slow: Path, number: signal.Signals) -> None:
    process = subprocess.Popen(
        [*COMMAND, "--brain", str(slow), "heal", "--yes", "--json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    wait_for_the_first_rows(slow)
    process.send_signal(number)
    out, err = process.communicate(timeout=30)
    assert err.splitlines()[-1] == b"It was stopped between two chunks; the next heal goes on from there."
    assert b"Traceback" not in err
    assert process.returncode == 1
    first = json.loads(out)
    with closing(sqlite3.connect(slow / "brain.db")) as db, db:
        moved = db.execute("SELECT COUNT(*) FROM ct_tui_type_change").fetchone()[0]
        assert db.execute("SELECT COUNT(*) FROM entity_type_origin").fetchone()[0] == moved
        assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        db.execute("DROP TRIGGER slow_rows")
    assert 0 < moved == first["ontology"]["retyped"] < AGENTS
    second: Any = spawn("--brain", str(slow), "heal", "--yes", "--json").document["ontology"]
    assert moved + second["retyped"] == AGENTS + 20
