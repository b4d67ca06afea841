"""kill -9 at any point of apply and undo: every row is old or new as a whole, and the same plan finishes the work."""

from __future__ import annotations

import os
import random
import signal
import sqlite3
import threading
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest

from ct_tui.brain import connection
from ct_tui.heal import apply
from tests.faults.child import die, fork, in_child, outcome_of
from tests.policy.brains import SEEDS

if TYPE_CHECKING:
    from collections.abc import Callable

    from ct_tui.domain.plan import Plan
    from tests.heal.lab import Lab

COUNT = 9


@pytest.fixture(params=["delete", "wal"])
def desk(lab: Lab, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Lab:
    """Agents and variants with the founding rulings signed, chunks of three rows, in both journal modes."""
    for name in ("FIRST_CHUNK", "SMALLEST_CHUNK", "LARGEST_CHUNK"):
        monkeypatch.setattr(apply, name, 3)
    lab.case.tier(*SEEDS, fallback="project")
    for n in range(COUNT):
        lab.case.entity(f"a{n}", "agent" if n % 3 else " Person")
    lab.found()
    with closing(sqlite3.connect(lab.db)) as setting:
        setting.execute(f"PRAGMA journal_mode = {request.param}")
    return lab


OLD = {f"a{n}": "agent" if n % 3 else " Person" for n in range(COUNT)}
NEW = {f"a{n}": "role" if n % 3 else "person" for n in range(COUNT)}


def dying_at(statement: int, job: Callable[[], Any]) -> Callable[[], Any]:
    """The job, in a process that is killed when its writer begins that statement, counted from 1."""
    seen = [0]

    def count(_: str) -> None:
        seen[0] += 1
        if seen[0] == statement:
            die()

    def killed() -> Any:
        plain = connection._WriterThread._serve

        def traced(self: Any) -> None:
            hook = connection._Database._add_conn_hooks

            def hooked(database: Any, conn: sqlite3.Connection) -> None:
                hook(database, conn)
                if threading.current_thread().name == "ct-tui writer":
                    conn.set_trace_callback(count)

            connection._Database._add_conn_hooks = hooked  # type: ignore[method-assign, assignment]
            plain(self)

        connection._WriterThread._serve = traced  # type: ignore[method-assign]
        job()
        return seen[0]

    return killed


def assert_whole(lab: Lab, old: dict[str, str], new: dict[str, str], run: int) -> int:
    """Every row is old or new with all that belongs to it; gives how many are new."""
    with closing(sqlite3.connect(lab.db)) as look:
        assert look.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    rows = [r for r in lab.history() if r[5] == run]
    written = {r[0]: (r[1], r[2]) for r in rows}
    assert len(written) == len(rows)
    for entity, kind in lab.types().items():
        if entity in written:
            assert (kind, written[entity]) == (new[entity], (old[entity], new[entity]))
        else:
            assert kind == old[entity]
    with lab.bench() as bench:
        counts = [r.retyped + r.recased for r in bench.runs() if r.id == run]
    assert counts in ([], [len(written)])
    assert bool(counts) or not written
    return len(written)


def assert_origins(lab: Lab) -> None:
    """An origin row for exactly the entities that a ruling moved."""
    ruled = {r[0] for r in lab.history() if r[3] == "alias_retype"}
    origins = lab.case.rows("SELECT entity_id, original_type, reason FROM entity_type_origin")
    assert {(e, "agent", "alias_retype") for e in ruled} == set(origins)


def apply_it(lab: Lab, plan: Plan) -> Callable[[], Any]:
    def job() -> Any:
        with lab.bench() as bench:
            return bench.apply(plan, by="tester").run

    return job


def finish(lab: Lab, plan: Plan, run: int) -> None:
    """The same plan goes on: nothing is written twice and the run is closed."""
    lab.apply(plan)
    with lab.bench() as bench:
        row = next(r for r in bench.runs() if r.id == run)
        assert len(bench.runs()) == run
    assert (row.status, row.retyped + row.recased) == ("done", COUNT)


def kill_apply(lab: Lab, statement: int) -> bool:
    """Kill an apply at one statement, check, and let the plan finish; False where it had ended before."""
    plan = lab.plan()
    if in_child(dying_at(statement, apply_it(lab, plan))) is not None:
        return False
    assert_whole(lab, OLD, NEW, 1)
    assert_origins(lab)
    finish(lab, plan, 1)
    assert lab.types() == NEW
    assert_whole(lab, OLD, NEW, 1)
    assert_origins(lab)
    with lab.bench() as bench:
        [run] = bench.runs()
        assert (run.retyped, run.recased, run.legalized) == (6, 3, ("document", "process"))
        assert bench.plan().empty
    return True


def kill_undo(lab: Lab, statement: int) -> bool:
    lab.heal()
    with lab.bench() as bench:
        plan = bench.undo_plan(1)
    if in_child(dying_at(statement, apply_it(lab, plan))) is not None:
        return False
    assert_whole(lab, NEW, OLD, 2)
    finish(lab, plan, 2)
    assert lab.types() == OLD
    with lab.bench() as bench:
        assert [(r.kind, r.undone_by, r.undoes) for r in bench.runs()] == [("undo", None, 1), ("heal", 2, None)]
    return True


# Statements of the writer at which something begins: the lock, each of a chunk's writes, the commit, the closing.
POINTS = (2, 9, 23, 31, 36, 38, 40, 44, 47)


@pytest.mark.parametrize("statement", POINTS)
def test_apply_killed_at_one_statement(desk: Lab, statement: int) -> None:
    assert kill_apply(desk, statement)


@pytest.mark.parametrize("statement", POINTS[::2])
def test_undo_killed_at_one_statement(desk: Lab, statement: int) -> None:
    assert kill_undo(desk, statement)


@pytest.mark.faults
@pytest.mark.parametrize("block", range(4))
def test_apply_and_undo_killed_at_every_statement(desk: Lab, block: int) -> None:
    """Fresh copies of one brain, one for each statement that the writer ever begins."""
    before = {p.name: p.read_bytes() for p in desk.case.folder.iterdir() if p.is_file()}
    for kill in (kill_apply, kill_undo):
        reached = 0
        for statement in range(1 + block, 400, 4):
            for name in {p.name for p in desk.case.folder.iterdir() if p.is_file()} - before.keys():
                (desk.case.folder / name).unlink()
            for name, data in before.items():
                (desk.case.folder / name).write_bytes(data)
            if not kill(desk, statement):
                break
            reached += 1
        assert reached > 10


@pytest.mark.faults
def test_apply_killed_at_random_moments(desk: Lab) -> None:
    """The signal comes from outside, at no particular statement: also in the middle of a commit's writes."""
    chance = random.Random(7)  # noqa: S311 - moments, not secrets
    with closing(sqlite3.connect(desk.db)) as filling, filling:
        rows = [(f"b{n:04}", "agent") for n in range(900)]
        filling.executemany(
            "INSERT INTO curated_entities (id, name, entity_type, created_at, updated_at) VALUES (?, 'n', ?, 1, 1)",
            rows,
        )
    old = desk.types()
    new = {e: "role" if t == "agent" else "person" for e, t in old.items()}
    plan = desk.plan()
    kills = 0
    while True:
        pid, reader = fork(apply_it(desk, plan))
        # Later each time, so that a machine on which even the beginning takes long comes to the end as well.
        moment = chance.uniform(0.01, 0.12 + 0.01 * kills)
        alarm = threading.Timer(moment, lambda p=pid: os.kill(p, signal.SIGKILL))
        alarm.start()
        ended = outcome_of(pid, reader)
        alarm.cancel()
        assert_whole(desk, old, new, 1)
        assert_origins(desk)
        if ended is not None:
            assert not isinstance(ended, BaseException), ended
            break
        kills += 1
    assert kills > 5
    assert desk.types() == new
    with desk.bench() as bench:
        [run] = bench.runs()
        assert (run.status, run.retyped + run.recased) == ("done", len(new))
