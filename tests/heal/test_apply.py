"""Applying: chunks by compare-and-set beside other writers, and what becomes of a run that cannot go on."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest

from ct_tui.brain import connection
from ct_tui.domain.errors import BrainBusy, BrainError
from ct_tui.domain.rulings import Legalize
from ct_tui.heal import apply
from ct_tui.heal.apply import Applier, Closing
from tests.brain.test_writer import lock_held
from tests.heal.lab import START
from tests.policy.brains import SEEDS, manifest

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager
    from pathlib import Path

    from ct_tui.domain.plan import Plan, Progress, Receipt
    from tests.heal.lab import Lab

COUNT = 12


@pytest.fixture
def desk(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> Lab:
    """Twelve agents with the founding rulings signed, and chunks of three rows."""
    for name in ("FIRST_CHUNK", "SMALLEST_CHUNK", "LARGEST_CHUNK"):
        monkeypatch.setattr(apply, name, 3)
    lab.case.tier(*SEEDS, "document", "process", fallback="project")
    for n in range(COUNT):
        lab.case.entity(f"a{n:02}", "agent")
    lab.found()
    return lab


def meanwhile(lab: Lab, *statements: str, after: int = 3) -> Callable[[Progress], None]:
    """A progress callback that lets another connection write once so many rows are done."""
    waiting = [True]

    def act(progress: Progress) -> None:
        if waiting and progress.done >= after:
            waiting.clear()
            for statement in statements:
                lab.case.run(statement)

    return act


def run_of(lab: Lab) -> Any:
    with lab.bench() as bench:
        return bench.runs()[0]


MOVES = {
    "another type": ("UPDATE curated_entities SET entity_type = 'place' WHERE id = 'a07'", "place"),
    "archived": ("UPDATE curated_entities SET deleted_at = 5 WHERE id = 'a07'", "archived"),
    "deleted": ("DELETE FROM curated_entities WHERE id = 'a07'", "no longer there"),
    "merged": ("INSERT INTO entity_redirects VALUES ('a07', 'a01', 1)", "merged away or opted out"),
    "opted out": ("INSERT INTO ct_entity_optouts VALUES ('a07', '', 1)", "merged away or opted out"),
    "a BLOB": ("UPDATE curated_entities SET entity_type = x'6167656e74' WHERE id = 'a07'", "agent"),
    "another spelling": ("UPDATE curated_entities SET entity_type = 'Agent' WHERE id = 'a07'", "Agent"),
}


@pytest.mark.parametrize("move", MOVES, ids=list(MOVES))
def test_a_row_that_moved_is_a_reported_conflict_and_left_alone(desk: Lab, move: str) -> None:
    statement, found = MOVES[move]
    receipt = desk.apply(desk.plan(), progress=meanwhile(desk, statement))
    [conflict] = receipt.conflicts
    assert (conflict.entity, conflict.expected) == ("a07", "agent")
    assert conflict.found == found
    assert (receipt.retyped, receipt.stopped) == (COUNT - 1, False)
    assert desk.history("a07") == []
    assert desk.origin("a07") is None
    assert desk.type_of("a07") != "role"
    run = run_of(desk)
    assert (run.retyped, run.conflicts, run.status) == (COUNT - 1, 1, "done")


def test_a_conflict_shows_in_the_report(desk: Lab) -> None:
    report = desk.heal(progress=meanwhile(desk, MOVES["another type"][0]))
    assert (report.retyped, report.conflicts, report.exit_code) == (COUNT - 1, 1, 0)


def test_other_columns_may_change_meanwhile(desk: Lab) -> None:
    statement = "UPDATE curated_entities SET name = 'renamed', summary = 'new' WHERE id = 'a07'"
    receipt = desk.apply(desk.plan(), progress=meanwhile(desk, statement))
    assert receipt.conflicts == ()
    row = desk.case.rows("SELECT name, summary, entity_type FROM curated_entities WHERE id = 'a07'")
    assert row == [("renamed", "new", "role")]


def test_a_row_that_moved_and_came_back_is_written(desk: Lab) -> None:
    there = "UPDATE curated_entities SET entity_type = 'place' WHERE id = 'a07'"
    back = "UPDATE curated_entities SET entity_type = 'agent' WHERE id = 'a07'"
    receipt = desk.apply(desk.plan(), progress=meanwhile(desk, there, back))
    assert (receipt.retyped, receipt.conflicts) == (COUNT, ())


def test_an_origin_written_meanwhile_stays_the_first(desk: Lab) -> None:
    statement = "INSERT INTO entity_type_origin VALUES ('a07', 'bot', 'degraded', NULL, 1)"
    receipt = desk.apply(desk.plan(), progress=meanwhile(desk, statement))
    assert receipt.retyped == COUNT
    assert desk.origin("a07") == ("bot", "degraded")


def test_each_change_is_one_update_one_origin_and_one_history_row(desk: Lab) -> None:
    receipt = desk.apply(desk.plan())
    assert set(desk.types().values()) == {"role"}
    assert desk.case.count("entity_type_origin") == COUNT
    history = desk.history()
    assert [r[0] for r in history] == sorted(desk.types())
    assert {r[1:] for r in history} == {("agent", "role", "alias_retype", 1, receipt.run, "tester", int(START))}


# A manifest that moves while the plan is written


def test_a_manifest_rewritten_meanwhile_halts_the_run(desk: Lab) -> None:
    """The engine may have dropped the type that the rest of the rows would become."""
    text = json.dumps(manifest(*(s for s in SEEDS if s != "role"), fallback="project"))
    statement = f"UPDATE llm_wiki_entity_manifests SET manifest_json = '{text}' WHERE entity_id = 'tier_fact'"
    receipt = desk.apply(desk.plan(), progress=meanwhile(desk, statement))
    assert (receipt.stopped, receipt.retyped, receipt.remaining) == (True, 3, COUNT - 3)
    assert [c.entity for c in receipt.conflicts] == ["manifest tier_fact"]
    assert sorted(desk.types().values()).count("role") == 3
    run = run_of(desk)
    assert (run.status, run.retyped, run.conflicts) == ("stopped", 3, 1)
    assert desk.meta("alias_remap_completed") is None
    assert desk.heal().queued == COUNT - 3 + 3


def test_an_own_row_that_moves_meanwhile_halts_before_its_entity(desk: Lab) -> None:
    own = json.dumps(manifest("role", fallback="role"))
    desk.case.manifest("a07", own)
    statement = "UPDATE llm_wiki_entity_manifests SET manifest_json = '{}' WHERE entity_id = 'a07'"
    receipt = desk.apply(desk.plan(), progress=meanwhile(desk, statement))
    assert (receipt.stopped, receipt.retyped) == (True, 6)
    assert desk.type_of("a07") == "agent"


def test_a_heal_that_has_to_stop_says_what_changed_and_is_an_error(desk: Lab) -> None:
    desk.heal()
    desk.case.entity("late", "agent")
    desk.case.run(
        "CREATE TRIGGER other AFTER INSERT ON ct_tui_run BEGIN UPDATE llm_wiki_entity_manifests "
        "SET manifest_json = manifest_json || ' ' WHERE entity_id = 'tier_fact'; END"
    )
    report = desk.heal()
    assert (report.stopped, report.retyped, report.exit_code) == (True, 0, 1)
    assert "manifest tier_fact" in (report.error or "")
    desk.case.run("DROP TRIGGER other")
    report = desk.heal()
    assert (report.error, report.retyped, report.exit_code) == (None, 1, 0)


def test_a_manifest_swapped_under_the_plan_is_not_overwritten(desk: Lab) -> None:
    """Compare-and-swap: what the engine wrote between plan and write stays, and nothing counts on ours."""
    desk.rule(Legalize("robot", "A machine."))
    desk.case.entity("r", "robot")
    with desk.bench() as bench:
        plan = bench.plan()
        theirs = json.dumps(manifest(*SEEDS, "pirate", fallback="project"))
        desk.case.manifest("tier_fact", theirs)
        receipt = Applier(bench.brain, plan, by="me", now=desk.clock).run(backup=False, closing=Closing)
    assert (receipt.stopped, receipt.retyped, receipt.legalized) == (True, 0, ())
    assert [c.entity for c in receipt.conflicts] == ["manifest tier_fact"]
    assert desk.case.raw() == theirs
    assert set(desk.types().values()) == {"agent", "robot"}
    assert (run_of(desk).status, run_of(desk).legalized, run_of(desk).conflicts) == ("stopped", (), 1)
    assert desk.heal().legalized == ("document", "process", "robot")


def test_a_config_edited_meanwhile_was_seen_by_nobody(desk: Lab) -> None:
    """The watermark is that of the policy that the plan was made under, so the next heal asks about the edit."""
    plan = desk.plan()

    def edit(progress: Progress) -> None:
        desk.case.folders(ops="off")

    desk.apply(plan, progress=edit)
    assert json.loads(desk.meta("ontology_config_watermark"))["hash"] == plan.binding.policy
    assert desk.report().skipped_reason == "unconfirmed_drift"


# Faults in the middle


def apply_under(lab: Lab, plan: Plan, block: Callable[[], AbstractContextManager[None]], after: int = 3) -> Receipt:
    """Apply while something stands in the way from some row on."""
    waiting = [block]
    entered: list[AbstractContextManager[None]] = []

    def act(progress: Progress) -> None:
        if waiting and progress.done >= after:
            entered.append(waiting.pop()())
            entered[0].__enter__()

    try:
        return lab.apply(plan, progress=act)
    finally:
        for opened in entered:
            opened.__exit__(None, None, None)


def test_a_lock_in_the_middle_leaves_whole_chunks_and_the_plan_goes_on(
    desk: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection, "BUSY_TIMEOUT", 0.1)
    plan = desk.plan()
    with pytest.raises(BrainBusy) as caught:
        apply_under(desk, plan, lambda: lock_held(desk.db))
    assert caught.value.details == ("run 1 had come through 3 of 12 rows by then",)
    assert caught.value.receipt is not None
    assert (caught.value.receipt.retyped, caught.value.receipt.remaining) == (3, 9)
    assert sorted(desk.types().values()).count("role") == 3
    assert len(desk.history()) == desk.case.count("entity_type_origin") == 3
    assert (run_of(desk).status, run_of(desk).retyped) == ("running", 3)
    receipt = desk.apply(plan)
    assert (receipt.run, receipt.retyped) == (1, 9)
    assert (run_of(desk).status, run_of(desk).retyped) == ("done", 12)


def test_heal_reports_what_it_had_written_before_the_fault(desk: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "BUSY_TIMEOUT", 0.1)
    held: list[AbstractContextManager[None]] = []

    def lock(progress: Progress) -> None:
        if not held:
            held.append(lock_held(desk.db))
            held[0].__enter__()

    try:
        report = desk.heal(progress=lock)
    finally:
        held[0].__exit__(None, None, None)
    assert (report.retyped, report.run, report.exit_code) == (3, 1, 1)
    assert "held the lock" in str(report.error)
    assert desk.heal().retyped == COUNT - 3
    with desk.bench() as bench:
        assert [(r.id, r.status, r.retyped) for r in bench.runs()] == [(2, "done", 9), (1, "stopped", 3)]


def test_a_full_disk_in_the_middle_is_rolled_back_and_the_plan_goes_on(desk: Lab) -> None:
    desk.case.run("CREATE TABLE filler (x)")
    for n in range(400):
        desk.case.entity(f"b{n:03}", "agent", "a name that takes room " * 20)
    plan = desk.plan()

    def fill(limit: int) -> Callable[[Progress], None]:
        def act(progress: Progress) -> None:
            if progress.done == limit:
                bench.brain.write(lambda db: db.execute("PRAGMA max_page_count = 1"))

        return act

    with desk.bench() as bench, pytest.raises(BrainError, match="the disk is full") as caught:
        bench.apply(plan, by="tester", progress=fill(30))
    assert str(desk.db) in caught.value.message
    assert "run the same plan again" in caught.value.remedy
    written = {r[0] for r in desk.history()}
    assert 30 <= len(written) < 412
    assert {i for i, t in desk.types().items() if t == "role"} == written
    assert desk.case.count("entity_type_origin") == len(written) == run_of(desk).retyped
    assert desk.case.rows("PRAGMA integrity_check") == [("ok",)]
    assert desk.apply(plan).retyped == 412 - len(written)
    assert set(desk.types().values()) == {"role"}


@pytest.mark.parametrize(("action", "said"), [("ABORT, 'not today'", "not today"), ("IGNORE", "did not take in every")])
def test_a_trigger_that_refuses_a_row_stops_its_whole_chunk(desk: Lab, action: str, said: str) -> None:
    desk.case.run(
        f"CREATE TRIGGER no BEFORE UPDATE ON curated_entities WHEN old.id = 'a07' BEGIN SELECT RAISE({action}); END"
    )
    plan = desk.plan()
    with pytest.raises(BrainError, match=said):
        desk.apply(plan)
    assert sorted(i for i, t in desk.types().items() if t == "role") == [f"a{n:02}" for n in range(6)]
    assert len(desk.history()) == desk.case.count("entity_type_origin") == 6
    desk.case.run("DROP TRIGGER no")
    assert desk.apply(plan).retyped == 6


def test_a_brain_replaced_in_the_middle_is_not_written_to(desk: Lab, tmp_path: Path) -> None:
    def replace_it(progress: Progress) -> None:
        if progress.done == 3:
            (tmp_path / "restored.db").write_bytes(desk.db.read_bytes())
            (tmp_path / "restored.db").replace(desk.db)

    with pytest.raises(BrainError, match="deleted or replaced"):
        desk.apply(desk.plan(), progress=replace_it)
    assert sorted(desk.types().values()).count("role") == 3


# Backups


def backups(lab: Lab) -> list[str]:
    folder = lab.case.folder / "ct-tui-backups"
    return sorted(p.name for p in folder.iterdir()) if folder.is_dir() else []


def types_in(file: Path) -> set[str]:
    with closing(sqlite3.connect(f"{file.as_uri()}?mode=ro", uri=True)) as opened:
        assert opened.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        return {t for (t,) in opened.execute("SELECT entity_type FROM curated_entities")}


@pytest.mark.parametrize("mode", ["delete", "wal"])
def test_the_first_run_of_a_day_is_backed_up_before_it(desk: Lab, mode: str) -> None:
    with closing(sqlite3.connect(desk.db)) as keeper:
        keeper.execute(f"PRAGMA journal_mode = {mode}")
        desk.case.entity("late", "robot")  # in WAL mode this one stands in the log alone
        receipt = desk.apply(desk.plan())
        folder = desk.case.folder / "ct-tui-backups"
        assert receipt.backup == str(folder / "brain-2026-11-02.db")
        assert backups(desk) == ["brain-2026-11-02.db"]
    assert types_in(folder / "brain-2026-11-02.db") == {"agent", "robot"}
    assert run_of(desk).backup == receipt.backup


def test_the_second_run_of_a_day_is_not(desk: Lab) -> None:
    desk.heal()
    desk.case.entity("late", "agent")
    receipt = desk.apply(desk.plan())
    assert receipt.backup is not None
    assert backups(desk) == ["brain-2026-11-02.db"]
    desk.clock.pass_days(1)
    desk.case.entity("later", "agent")
    desk.heal()
    assert backups(desk) == ["brain-2026-11-02.db", "brain-2026-11-03.db"]


def test_a_backup_on_request_and_none_at_all(desk: Lab) -> None:
    receipt = desk.apply(desk.plan(), backup=False)
    assert (receipt.backup, backups(desk)) == (None, [])
    desk.apply(desk.plan(), backup=True)
    assert backups(desk) == ["brain-2026-11-02T120000Z.db"]
    assert types_in(desk.case.folder / "ct-tui-backups" / backups(desk)[0]) == {"role"}


def test_nothing_to_write_needs_no_backup(desk: Lab) -> None:
    desk.case.run("DELETE FROM curated_entities")
    assert desk.heal().error is None
    assert backups(desk) == []


def test_without_a_backup_nothing_is_changed(desk: Lab) -> None:
    (desk.case.folder / "ct-tui-backups").write_text("in the way")
    with pytest.raises(BrainError, match="no backup could be made"):
        desk.apply(desk.plan())
    assert set(desk.types().values()) == {"agent"}
    assert desk.history() == []


def test_a_backup_does_not_wait_for_ever(desk: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    from ct_tui.brain.backup import back_up

    monkeypatch.setattr(connection, "BUSY_TIMEOUT", 0.1)
    with desk.bench() as bench, closing(sqlite3.connect(desk.db, isolation_level=None)) as other:
        with bench.brain.reading():
            pass
        other.execute("BEGIN EXCLUSIVE")
        with pytest.raises(BrainError, match="held the lock"):
            back_up(bench.brain, desk.case.folder / "copy.db")
    assert not list(desk.case.folder.glob("copy*"))


def test_a_read_only_workbench_applies_nothing(desk: Lab) -> None:
    before = desk.db.read_bytes()
    with desk.bench(read_only=True) as bench:
        plan = bench.plan()
        with pytest.raises(BrainError, match="opened read-only"):
            bench.apply(plan)
        report = bench.heal(apply=True)
        assert (report.exit_code, report.retyped) == (1, 0)
        assert bench.read_only
    assert desk.db.read_bytes() == before
