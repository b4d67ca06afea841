"""The workbench beside other programs: what it notices, what it keeps, and what it leaves untouched."""

from __future__ import annotations

import hashlib
import os
import shutil
import sqlite3
import subprocess
import sys
import threading
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from ct_tui.brain import connection
from ct_tui.brain.watch import Change
from ct_tui.domain.errors import BadInput, BrainError, NothingFound
from ct_tui.domain.queue import ItemKind
from ct_tui.domain.rulings import Alias, Keep, Legalize, Retype, Revoke
from tests.brain.test_writer import lock_held
from tests.heal.lab import day
from tests.policy.brains import SEEDS, ref
from tests.trust.desk import ME

if TYPE_CHECKING:
    from pathlib import Path

    from ct_tui.domain.rulings import Body
    from tests.heal.lab import Lab

WRITE = """
import sqlite3, sys
with sqlite3.connect(sys.argv[1]) as connection:
    connection.execute(
        "INSERT INTO curated_entities (id, name, entity_type, created_at, updated_at) VALUES ('ent_new', 'New', ?, 1, 1)",
        (sys.argv[2],),
    )
"""


def another_process_adds(db: Path, label: str) -> None:
    subprocess.run([sys.executable, "-c", WRITE, str(db), label], check=True)


@pytest.fixture
def desk(lab: Lab) -> Lab:
    lab.case.tier(*SEEDS, "document", "process", fallback="project")
    lab.case.entity("a", "agent")
    lab.case.entity("p", "person")
    return lab


# Noticing


@pytest.mark.parametrize("mode", ["delete", "wal"])
def test_a_commit_of_another_process_is_noticed(desk: Lab, mode: str) -> None:
    with closing(sqlite3.connect(desk.db)) as keeper:
        keeper.execute(f"PRAGMA journal_mode = {mode}")
        with desk.bench() as bench:
            assert bench.poll() is Change.SAME
            before = bench.census().census.live
            another_process_adds(desk.db, "repository")
            assert bench.poll() is Change.CHANGED
            assert bench.poll() is Change.SAME
            assert bench.census().census.live == before + 1
            assert bench.item("type:repository").entities == ("ent_new",)


def test_a_transaction_that_is_rolled_back_is_none(desk: Lab) -> None:
    with desk.bench() as bench:
        bench.poll()
        with closing(sqlite3.connect(desk.db)) as other:
            other.execute("UPDATE curated_entities SET entity_type = 'x'")
            other.rollback()
        assert bench.poll() is Change.SAME


def test_our_own_commit_is_noticed_too(desk: Lab) -> None:
    with desk.bench() as bench:
        bench.poll()
        desk.found()
        assert bench.poll() is Change.CHANGED
        bench.heal(apply=True)
        assert bench.poll() is Change.CHANGED
        assert bench.poll() is Change.SAME


def test_edits_of_config_rulings_and_signers_are_noticed(desk: Lab) -> None:
    with desk.bench() as bench:
        bench.poll()
        desk.case.write_config({"ingest": {"ontology_default": "off"}})
        assert bench.poll() is Change.CHANGED
        desk.case.config.unlink()
        assert bench.poll() is Change.CHANGED
        desk.rule(Keep("robot"))
        assert bench.poll() is Change.CHANGED
        signers = desk.desk.user / "allowed_signers"
        signers.write_text(signers.read_text() + "# a remark\n")
        assert bench.poll() is Change.CHANGED
        assert bench.poll() is Change.SAME


def test_an_edit_of_the_same_length_is_noticed(desk: Lab) -> None:
    desk.case.folders(ops="off")
    with desk.bench() as bench:
        first = bench.plan().binding.policy
        stat = desk.case.config.stat()
        desk.case.folders(aab="off")
        os.utime(desk.case.config, ns=(stat.st_atime_ns, stat.st_mtime_ns + 1))
        assert bench.poll() is Change.CHANGED
        assert bench.plan().binding.policy != first


def test_a_view_is_kept_while_nothing_moves(desk: Lab) -> None:
    with desk.bench() as bench:
        view = bench.view()
        assert bench.view() is view
        assert bench.plan(effect=False) is bench.plan(effect=False)
        another_process_adds(desk.db, "job")
        assert bench.view() is not view
        view = bench.view()
        desk.clock.pass_days(1)
        assert bench.view() is not view


def test_a_replaced_brain_is_said_and_opened_again(desk: Lab, tmp_path: Path) -> None:
    shutil.copyfile(desk.db, tmp_path / "older.db")
    with desk.bench() as bench:
        desk.case.entity("late", "agent")
        bench.heal(apply=True)
        assert bench.census().census.live == 3
        (tmp_path / "older.db").replace(desk.db)
        assert bench.poll() is Change.REPLACED
        assert bench.census().census.live == 2
        assert bench.poll() is Change.SAME
        assert bench.heal(apply=True).error is None


def test_a_deleted_brain_is_said_and_never_made_again(desk: Lab, tmp_path: Path) -> None:
    shutil.copyfile(desk.db, tmp_path / "copy.db")
    with desk.bench() as bench:
        bench.census()
        desk.db.unlink()
        assert bench.poll() is Change.GONE
        assert bench.poll() is Change.GONE
        report = bench.heal(apply=True)
        assert report.exit_code == 1
        assert "no longer there" in str(report.error) or "deleted or replaced" in str(report.error)
        assert not desk.db.exists()
        (tmp_path / "copy.db").replace(desk.db)
        assert bench.poll() is Change.REPLACED
        assert bench.census().census.live == 2


@pytest.mark.parametrize("content", [b"", b"text", b"\xff" * 4096])
def test_a_brain_replaced_by_something_else_is_refused_until_it_is_one_again(
    desk: Lab, tmp_path: Path, content: bytes
) -> None:
    shutil.copyfile(desk.db, tmp_path / "good.db")
    with desk.bench() as bench:
        bench.census()
        (tmp_path / "bad").write_bytes(content)
        (tmp_path / "bad").replace(desk.db)
        for _ in range(2):
            with pytest.raises(BrainError, match=r"brain\.db is"):
                bench.poll()
        assert bench.heal(apply=True).exit_code == 1
        assert desk.db.read_bytes() == content
        (tmp_path / "good.db").replace(desk.db)
        assert bench.poll() is Change.REPLACED
        assert bench.census().census.live == 2


def test_a_migration_meanwhile_is_noticed_before_the_write(desk: Lab) -> None:
    with desk.bench() as bench:
        bench.census()
        desk.case.run("ALTER TABLE curated_entities ADD COLUMN colour TEXT")
        report = bench.heal(apply=True)
    assert "does not know: colour" in str(report.error)


# Reading writes nothing


def fingerprint(folder: Path) -> dict[str, str]:
    return {p.name: hashlib.sha256(p.read_bytes()).hexdigest() for p in folder.iterdir() if p.is_file()}


def test_looking_at_everything_leaves_every_byte(desk: Lab) -> None:
    desk.case.entity("b", "")
    desk.case.entity("c", "Agent")
    before, stat = fingerprint(desk.case.folder), desk.db.stat()
    with desk.bench() as bench:
        bench.census(ids=True)
        for item in bench.queue().items:
            bench.entities_of(item)
        bench.plan()
        bench.heal(apply=False)
        bench.entity("a")
        bench.ledger("a")
        bench.why("a")
        bench.search("a")
        bench.runs()
        bench.history()
        bench.lint()
        bench.duplicates()
    assert fingerprint(desk.case.folder) == before
    assert desk.db.stat().st_mtime_ns == stat.st_mtime_ns


def test_looking_at_a_brain_in_wal_mode_writes_no_frame(desk: Lab) -> None:
    with closing(sqlite3.connect(desk.db)) as keeper:
        keeper.execute("PRAGMA journal_mode = wal")
        keeper.execute("INSERT INTO llm_wiki_meta VALUES ('x', 'y')")
        keeper.commit()
        before = {n: h for n, h in fingerprint(desk.case.folder).items() if not n.endswith("-shm")}
        with desk.bench() as bench:
            bench.census(ids=True)
            bench.queue()
            bench.plan()
        after = {n: h for n, h in fingerprint(desk.case.folder).items() if not n.endswith("-shm")}
    assert before == after
    assert "brain.db-wal" in after


def test_many_threads_may_look_while_one_heals(desk: Lab) -> None:
    for n in range(200):
        desk.case.entity(f"b{n}", "agent")
    desk.found()
    failures: list[BaseException] = []
    done = threading.Event()

    with desk.bench() as bench:

        def look() -> None:
            try:
                while not done.is_set():
                    assert bench.census().census.live == 202
                    bench.queue()
                    bench.poll()
            except BaseException as error:  # noqa: BLE001 - told by the test below
                failures.append(error)

        threads = [threading.Thread(target=look) for _ in range(3)]
        for thread in threads:
            thread.start()
        report = bench.heal(apply=True)
        done.set()
        for thread in threads:
            thread.join()
    assert failures == []
    assert (report.error, report.retyped) == (None, 201)


# Ruling from the workbench


def test_a_ruling_is_signed_and_its_head_remembered(desk: Lab) -> None:
    with desk.bench() as bench:
        signed = bench.rule(Alias("agent", "role"), "an agent is a role", principal=ME)
        assert (signed.seq, bench.table().head.seq) == (1, 1)
        assert bench.plan().flows()[0][:2] == ("agent", "role")
    assert desk.case.value("SELECT value FROM ct_tui_state WHERE key = 'rulings_head'")


def test_a_busy_brain_does_not_undo_a_signature(desk: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "BUSY_TIMEOUT", 0.1)
    with desk.bench() as bench:
        with lock_held(desk.db):
            signed = bench.rule(Alias("agent", "role"), "an agent is a role")
        assert bench.table().head == type(bench.table().head)(1, signed.hash)
        assert bench.heal(apply=True).retyped == 1
    assert desk.case.value("SELECT value FROM ct_tui_state WHERE key = 'rulings_head'")


def test_a_brain_that_cannot_be_written_does_not_undo_a_signature(desk: Lab) -> None:
    with desk.bench() as bench:
        bench.rule(Alias("agent", "role"), "an agent is a role")
    desk.case.run("CREATE TRIGGER full BEFORE INSERT ON ct_tui_state BEGIN SELECT RAISE(ABORT, 'no room'); END")
    with desk.bench() as bench:
        signed = bench.rule(Alias("thing", "role"), "a thing is a role")
        assert bench.table().head.seq == signed.seq == 2


def test_a_read_only_workbench_signs_nothing(desk: Lab) -> None:
    with desk.bench(read_only=True) as bench, pytest.raises(BrainError, match="nothing was signed"):
        bench.rule(Alias("agent", "role"), "x")
    assert not desk.places.rulings.exists()


REFUSED: list[tuple[Body, str]] = [
    (Alias("agent", "nobody"), "'nobody' is not declared"),
    (Alias("agent", "Rol"), "'Rol' is not declared"),
    (Alias(" ", "role"), "neither of them blank"),
    (Alias("Person", "role"), "'Person' is already declared"),
    (Legalize("person", "x"), "'person' is already declared"),
    (Legalize("robot", "  "), "needs a description"),
    (Legalize(" ", "x"), "not blank"),
    (Legalize("robot", "x", manifests=("nowhere",)), "no manifest row 'nowhere'"),
    (Legalize("robot", "x", "machine"), "'machine' is not declared"),
    (Legalize("robot", "x", "robot"), "its own parent"),
    (Retype(("a",), "agent", "nobody"), "'nobody' is not declared"),
    (Retype(("ghost",), "agent", "role"), "there is no entity 'ghost'"),
    (Retype(("p",), "agent", "role"), "p is 'person', not 'agent'"),
    (Retype(("p",), "person", "person"), "'person' already"),
    (Keep("unheard-of"), "nothing in this brain bears the type"),
    (Keep("person"), "already declared"),
    (Keep("agent", until=day("2026-11-01")), "is over already"),
    (Keep(entities=("ghost",)), "there is no entity 'ghost'"),
    (Revoke(1), "there is no ruling #1"),
]


@pytest.mark.parametrize(("body", "said"), REFUSED, ids=[str(b) for b, _ in REFUSED])
def test_a_ruling_that_could_not_act_is_refused_before_it_is_signed(desk: Lab, body: Body, said: str) -> None:
    with desk.bench() as bench, pytest.raises(BadInput) as caught:
        bench.rule(body, "a reason")
    assert said in caught.value.message
    assert not desk.places.rulings.exists()


def test_a_ruling_about_what_is_shielded_archived_or_merged_is_refused(desk: Lab) -> None:
    for entity in ("shielded", "archived", "loser"):
        desk.case.entity(entity, "agent")
    desk.case.opt_out("shielded")
    desk.case.run("UPDATE curated_entities SET deleted_at = 1 WHERE id = 'archived'")
    desk.case.redirect("loser", "a")
    for entity, said in {"shielded": "opted out", "archived": "is archived", "loser": "was merged into a"}.items():
        with desk.bench() as bench, pytest.raises(BadInput, match=said):
            bench.rule(Retype((entity,), "agent", "role"), "a reason")


def test_a_retype_under_an_off_folder_is_refused_since_it_could_not_act(desk: Lab) -> None:
    desk.case.folders(ops="off")
    desk.case.document("ops/a.md", "f" * 32)
    desk.case.fact("fact_1", "a", ref("f" * 32))
    with desk.bench() as bench, pytest.raises(BadInput, match="shielded"):
        bench.rule(Retype(("a",), "agent", "role"), "a reason")


def test_two_rulings_for_one_label_need_a_supersession(desk: Lab) -> None:
    with desk.bench() as bench:
        bench.rule(Alias("agent", "role"), "one")
        with pytest.raises(BadInput, match="ruling #1 already decides"):
            bench.rule(Alias("Agent ", "person"), "two")
        bench.rule(Alias("Agent", "person"), "two", supersedes=1)
        assert bench.heal(apply=True).retyped == 1
    assert desk.type_of("a") == "person"


# Asking for what is not there


def test_unknown_ids_are_said(desk: Lab) -> None:
    with desk.bench() as bench:
        for ask in (bench.entity, bench.ledger, bench.why):
            with pytest.raises(NothingFound, match="there is no entity"):
                ask("ent_ghost")
        with pytest.raises(NothingFound, match="there is no open question"):
            bench.item("type:ghost")


def test_text_from_the_command_line_that_is_no_unicode(desk: Lab) -> None:
    with desk.bench() as bench:
        for ask in (bench.entity, bench.ledger, bench.why, bench.search):
            with pytest.raises(BadInput, match="not valid Unicode"):
                ask("caf\udce9")


def test_why_goes_up_the_ladder(desk: Lab) -> None:
    desk.case.opt_out("a")
    with desk.bench() as bench:
        assert "opted out" in bench.why("a")[-1]
        assert "rung 4" in bench.why("p")[-1]


def test_search_is_by_id_or_part_of_a_name(desk: Lab) -> None:
    desk.case.entity("x1", "person", "Zoë O'Hara 100% [/]")
    with desk.bench() as bench:
        assert [v.id for v in bench.search("o'hara 100%")] == ["x1"]
        assert [v.id for v in bench.search("x1")] == ["x1"]
        assert bench.search("%") == bench.search("100%")


def test_pages_of_a_type_meet_everybody_once(desk: Lab) -> None:
    for n in range(25):
        desk.case.entity(f"b{n:02}", "job")
    desk.case.entity("B", "Job")
    found: list[str] = []
    with desk.bench() as bench:
        while page := bench.entities_by_type("job", after=found[-1] if found else "", limit=10):
            found += [v.id for v in page]
    assert found == [f"b{n:02}" for n in range(25)]


def test_an_item_shows_its_entities_in_order(desk: Lab) -> None:
    for n in range(5):
        desk.case.entity(f"b{n}", "job")
    with desk.bench() as bench:
        item = bench.item("type:job")
        assert [v.id for v in bench.entities_of(item, offset=1, limit=3)] == ["b1", "b2", "b3"]
        assert item.kind is ItemKind.UNDECLARED
