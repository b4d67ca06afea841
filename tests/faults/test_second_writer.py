"""A second program writing at full speed while a plan is applied and undone: nothing of either is lost."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from collections import Counter, defaultdict
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, Any

import pytest

from ct_tui.heal import apply
from tests.policy.brains import SEEDS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ct_tui.domain.plan import Receipt
    from tests.heal.lab import Lab

# Writes as the app does: its own short IMMEDIATE transactions, and a log of each in the same transaction. Every type it
# gives is new, so that the order of events can be told from the types alone.
WRITER = """
import random, sqlite3, sys, threading, time
db, seed = sys.argv[1], int(sys.argv[2])
chance = random.Random(seed)
connection = sqlite3.connect(db, isolation_level=None, timeout=30)
ids = [i for (i,) in connection.execute("SELECT id FROM curated_entities")]
stop = threading.Event()
threading.Thread(target=lambda: (sys.stdin.readline(), stop.set()), daemon=True).start()
# Without WAL, a writer that never rests lets nobody read.
rest = connection.execute("PRAGMA journal_mode").fetchone() != ("wal",)
print("writing", flush=True)
done = 0
while not stop.is_set():
    entity = chance.choice(ids)
    connection.execute("BEGIN IMMEDIATE")
    kind = chance.random()
    (old, gone) = connection.execute("SELECT entity_type, deleted_at FROM curated_entities WHERE id = ?", (entity,)).fetchone()
    if kind < 0.6:
        new = f"theirs {seed} {done}"
        connection.execute("UPDATE curated_entities SET entity_type = ? WHERE id = ?", (new, entity))
    elif kind < 0.7:
        new = old
        connection.execute("UPDATE curated_entities SET deleted_at = 1 WHERE id = ?", (entity,))
    elif kind < 0.8:
        new = old
        connection.execute("INSERT OR IGNORE INTO ct_entity_optouts VALUES (?, 'theirs', 1)", (entity,))
    else:
        new = old
        connection.execute("UPDATE curated_entities SET name = name || '.' WHERE id = ?", (entity,))
    connection.execute("INSERT INTO their_log VALUES (NULL, ?, ?, ?, ?)", (seed, entity, old, new))
    connection.execute("COMMIT")
    done += 1
    if rest:
        time.sleep(0.002)
print(done, flush=True)
"""


@contextmanager
def writing(lab: Lab, count: int = 1) -> Iterator[list[int]]:
    """Other processes that write until the block ends; their numbers of commits come after it."""
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", WRITER, str(lab.db), str(seed)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for seed in range(count)
    ]
    commits: list[int] = []
    try:
        for process in processes:
            assert process.stdout is not None
            assert process.stdout.readline() == "writing\n"
        yield commits
    finally:
        for process in processes:
            out, _ = process.communicate("stop\n", timeout=60)
            assert process.returncode == 0
            commits.append(int(out))


def prepare(lab: Lab, rows: int, mode: str) -> None:
    lab.case.tier(*SEEDS, "document", "process", fallback="project")
    lab.found()
    with closing(sqlite3.connect(lab.db)) as filling:
        filling.execute(f"PRAGMA journal_mode = {mode}")
        filling.execute("CREATE TABLE their_log (n INTEGER PRIMARY KEY, seed INTEGER, entity TEXT, old TEXT, new TEXT)")
        filling.executemany(
            "INSERT INTO curated_entities (id, name, entity_type, created_at, updated_at) VALUES (?, 'n', 'agent', 1, 1)",
            [(f"e{n:06}",) for n in range(rows)],
        )
        filling.commit()


def chained(first: str, last: str, steps: Counter[tuple[str, str]]) -> bool:
    """Whether all steps (from, to) can be put into one order that leads from the first type to the last."""
    waiting = [(first, steps)]
    while waiting:
        at, left = waiting.pop()
        if not left:
            if at == last:
                return True
            continue
        waiting += [(step[1], left - Counter([step])) for step in left if step[0] == at]
    return False


def check(lab: Lab, receipts: list[tuple[Receipt, set[str]]], commits: list[int], start: dict[str, Any]) -> None:
    """Replay both histories: the types of each entity form one chain from its first type to its last."""
    with closing(sqlite3.connect(lab.db)) as look:
        assert look.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    log = lab.case.rows("SELECT seed, entity, old, new FROM their_log")
    assert Counter(seed for seed, *_ in log) == Counter(dict(enumerate(commits)))
    steps: dict[str, Counter[tuple[str, str]]] = defaultdict(Counter)
    for _, entity, old, new in log:
        if old != new:
            steps[entity][old, new] += 1
    history = lab.history()
    for entity, old, new, *_ in history:
        steps[entity][old, new] += 1
    for entity, kind in lab.types().items():
        assert chained(start[entity], kind, steps[entity]), f"{entity}: somebody's type was overwritten unseen"
    by_run: dict[int, set[str]] = defaultdict(set)
    for row in history:
        assert row[0] not in by_run[row[5]]
        by_run[row[5]].add(row[0])
    for receipt, planned in receipts:
        assert receipt.run is not None
        written = by_run[receipt.run]
        assert receipt.retyped == len(written)
        assert {c.entity for c in receipt.conflicts} == planned - written
        assert not receipt.stopped


def duel(lab: Lab, writers: int) -> None:
    start = lab.types()
    with writing(lab, writers) as commits, lab.bench() as bench:
        plan = bench.plan()
        applied = apply.Applier(bench.brain, plan, by="us", now=lab.clock).run(backup=False, closing=apply.Closing)
        assert applied.run is not None
        undo = bench.undo_plan(applied.run)
        undone = apply.Applier(bench.brain, undo, by="us", now=lab.clock).run(backup=False, closing=apply.Closing)
    check(
        lab, [(applied, {c.entity for c in plan.changes}), (undone, {c.entity for c in undo.changes})], commits, start
    )
    assert sum(commits) > 0
    origins = {e for (e,) in lab.case.rows("SELECT entity_id FROM entity_type_origin")}
    assert origins == {r[0] for r in lab.history() if r[3] == "alias_retype"}


@pytest.mark.parametrize("mode", ["wal", "delete"])
def test_one_other_writer(lab: Lab, mode: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("FIRST_CHUNK", "SMALLEST_CHUNK", "LARGEST_CHUNK"):
        monkeypatch.setattr(apply, name, 10)
    prepare(lab, 300, mode)
    duel(lab, 1)


@pytest.mark.faults
@pytest.mark.parametrize("mode", ["wal", "delete"])
def test_three_other_writers_on_a_larger_brain(lab: Lab, mode: str) -> None:
    prepare(lab, 20_000, mode)
    duel(lab, 3)


@pytest.mark.parametrize("mode", ["wal", "delete"])
def test_a_whole_heal_beside_another_writer(lab: Lab, mode: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Through the workbench: whatever moved meanwhile is a conflict or waits for the next heal, and no error."""
    for name in ("FIRST_CHUNK", "SMALLEST_CHUNK", "LARGEST_CHUNK"):
        monkeypatch.setattr(apply, name, 10)
    prepare(lab, 100, mode)
    start = lab.types()
    with writing(lab) as commits:
        report = lab.heal()
    assert report.error is None
    assert report.receipt is not None
    planned = {r[0] for r in lab.history()} | {c.entity for c in report.receipt.conflicts}
    check(lab, [(report.receipt, planned)], commits, start)
    assert report.retyped + report.conflicts <= 100
