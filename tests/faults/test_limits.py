"""Write errors of the system itself: a file that may not grow, a full file system, folders that may not be written."""

from __future__ import annotations

import os
import resource
import shutil
import signal
import sqlite3
import stat
import subprocess
import tempfile
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from ct_tui.domain.errors import BrainError, CtTuiError
from ct_tui.heal import apply
from tests.faults.child import NOBODY, in_child
from tests.heal.lab import Lab
from tests.policy.brains import SEEDS, Case

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ct_tui.domain.plan import Plan

ROOT = os.getuid() == 0


def fill(lab: Lab, rows: int) -> Plan:
    lab.case.tier(*SEEDS, fallback="project")
    lab.found()
    with closing(sqlite3.connect(lab.db)) as filling, filling:
        filling.executemany(
            "INSERT INTO curated_entities (id, name, entity_type, created_at, updated_at) VALUES (?, ?, 'agent', 1, 1)",
            [(f"e{n:05}", "a long name " * 10) for n in range(rows)],
        )
    with closing(sqlite3.connect(lab.db)) as packing:
        packing.execute("VACUUM")
    return lab.plan()


def said(job: Callable[[], Any]) -> tuple[str, tuple[str, ...]]:
    """The sentence of a refusal and its details, as a child can send them."""
    try:
        job()
    except CtTuiError as error:
        return f"{error.message} / {error.remedy}", error.details
    return "", ()


def applying(lab: Lab, plan: Plan) -> Callable[[], tuple[str, tuple[str, ...]]]:
    def job() -> tuple[str, tuple[str, ...]]:
        with lab.bench() as bench:
            return said(lambda: bench.apply(plan, by="tester", backup=False))

    return job


def assert_whole(lab: Lab) -> int:
    """Every row is old or new as a whole; gives how many are new."""
    with closing(sqlite3.connect(lab.db)) as look:
        assert look.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    written = {r[0] for r in lab.history()}
    types = lab.types()
    assert {e for e, t in types.items() if t == "role"} == written
    assert set(types.values()) <= {"agent", "role"}
    assert lab.case.count("entity_type_origin") == len(written)
    with lab.bench() as bench:
        runs = bench.runs()
    assert sum(r.retyped for r in runs) == len(written)
    return len(written)


@pytest.mark.parametrize("mode", ["delete", "wal"])
def test_a_file_that_may_not_grow(lab: Lab, mode: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The limit of a quota: writes fail in the middle of a run, in a process that has it."""
    for name in ("FIRST_CHUNK", "SMALLEST_CHUNK", "LARGEST_CHUNK"):
        monkeypatch.setattr(apply, name, 50)
    plan = fill(lab, 600)
    with closing(sqlite3.connect(lab.db)) as setting:
        setting.execute(f"PRAGMA journal_mode = {mode}")
    limit = lab.db.stat().st_size + 110_000 if mode == "delete" else 200_000

    def limited() -> Any:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
        return applying(lab, plan)()

    sentence, details = in_child(limited)
    assert "could not be" in sentence
    assert str(lab.db) in sentence
    assert "run the same plan again" in sentence
    assert len(details) == 1
    written = assert_whole(lab)
    assert 0 < written < 600
    receipt = lab.apply(plan)
    assert receipt.retyped == 600 - written
    assert assert_whole(lab) == 600


@pytest.fixture
def tmpfs() -> Iterator[Path]:
    """A small file system of its own."""
    folder = Path(tempfile.mkdtemp())
    made = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", str(folder)], capture_output=True, check=False
    )
    if made.returncode:
        folder.rmdir()
        pytest.skip("no file system can be mounted here")
    try:
        yield folder
    finally:
        subprocess.run(["umount", str(folder)], check=True)
        folder.rmdir()


@pytest.mark.faults
@pytest.mark.parametrize("mode", ["delete", "wal"])
def test_a_full_file_system(lab: Lab, tmpfs: Path, mode: str) -> None:
    fill(lab, 3_000)
    with closing(sqlite3.connect(lab.db)) as setting:
        setting.execute(f"PRAGMA journal_mode = {mode}")
    shutil.copytree(lab.case.folder, tmpfs, dirs_exist_ok=True)
    moved = Lab(Case(tmpfs), lab.desk)
    plan = moved.plan()
    free = shutil.disk_usage(tmpfs).free
    (tmpfs / "filler").write_bytes(b"x" * max(0, free - 120_000))
    with moved.bench() as bench:
        sentence, _ = said(lambda: bench.apply(plan, by="tester", backup=False))
        assert "the disk is full" in sentence
        assert "make room and run the same plan again" in sentence
        with pytest.raises(BrainError, match="no backup could be made, so nothing was changed: the disk is full"):
            bench.apply(plan, backup=True)
    written = assert_whole(moved)
    assert written < 3_000
    (tmpfs / "filler").unlink()
    assert moved.apply(plan, backup=False).retyped == 3_000 - written
    assert assert_whole(moved) == 3_000


# Folders and files that may not be written, as somebody whom permissions bind


@pytest.fixture
def shared(lab: Lab) -> Iterator[Lab]:
    """A brain in a folder that everybody may read."""
    lab.case.tier(*SEEDS, fallback="project")
    lab.case.entity("a", "agent")
    folder = Path(tempfile.mkdtemp())
    try:
        shutil.copytree(lab.case.folder, folder / "brain")
        folder.chmod(0o755)
        yield Lab(Case(folder / "brain"), lab.desk)
    finally:
        for path in (folder / "brain", *(folder / "brain").iterdir()):
            path.chmod(0o755)
        shutil.rmtree(folder)


def as_nobody(job: Callable[[], Any]) -> Any:
    return in_child(job, uid=NOBODY if ROOT else None)


def look(lab: Lab) -> Callable[[], dict[str, Any]]:
    """What somebody sees and may do; everything that it needs is imported before the user changes."""
    lab.report()

    def job() -> dict[str, Any]:
        with lab.bench() as bench:
            report = bench.heal(apply=True)
            return {
                "live": bench.census().census.live,
                "queue": len(bench.queue().items),
                "read_only": bench.read_only,
                "refusal": bench.write_refusal,
                "error": report.error,
                "exit": report.exit_code,
            }

    return job


def test_a_read_only_file_is_looked_at_and_not_written(shared: Lab) -> None:
    job = look(shared)
    shared.db.chmod(0o444)
    before = shared.db.read_bytes()
    found = as_nobody(job)
    assert (found["live"], found["queue"], found["read_only"], found["exit"]) == (1, 1, True, 1)
    assert "read-only" in found["refusal"]
    assert "nothing was written" in found["error"]
    assert shared.db.read_bytes() == before


def test_a_read_only_folder_is_looked_at_and_not_written(shared: Lab) -> None:
    job = look(shared)
    shared.db.chmod(0o666)
    shared.case.folder.chmod(0o555)
    found = as_nobody(job)
    assert (found["live"], found["read_only"], found["exit"]) == (1, True, 1)
    assert sorted(p.name for p in shared.case.folder.iterdir()) == ["brain.db"]


def test_a_file_that_may_not_be_read_is_said(shared: Lab) -> None:
    look(shared)
    shared.db.chmod(0)
    sentence, _ = as_nobody(lambda: said(shared.census))
    assert "cannot be read" in sentence
    assert str(shared.db) in sentence
    assert "permissions" in sentence


def test_a_folder_that_may_not_be_entered_is_said(shared: Lab) -> None:
    look(shared)
    shared.case.folder.chmod(0)
    sentence, _ = as_nobody(lambda: said(shared.census))
    assert str(shared.db) in sentence
    assert "cannot be read" in sentence or "there is no brain" in sentence


def to_wal(lab: Lab) -> None:
    """WAL mode, closed properly: neither -wal nor -shm is left."""
    with closing(sqlite3.connect(lab.db)) as setting:
        setting.execute("PRAGMA journal_mode = wal")
    assert [p.name for p in lab.case.folder.iterdir()] == ["brain.db"]


def test_a_wal_brain_without_its_files_in_a_read_only_folder(shared: Lab) -> None:
    """SQLite cannot open it there without `immutable=1`, which would hide committed rows: a clear error."""
    job = look(shared)
    to_wal(shared)
    shared.db.chmod(0o444)
    shared.case.folder.chmod(0o555)
    sentence, _ = as_nobody(lambda: said(job))
    assert str(shared.db) in sentence
    assert "-wal and -shm" in sentence
    assert stat.S_IMODE(shared.db.stat().st_mode) == 0o444
    assert [p.name for p in shared.case.folder.iterdir()] == ["brain.db"]


def test_a_wal_brain_without_its_files_in_a_writable_folder(shared: Lab) -> None:
    job = look(shared)
    to_wal(shared)
    found = job()
    assert (found["live"], found["error"]) == (1, None)
    assert shared.db.read_bytes()[18:20] == b"\x02\x02"


def test_rows_that_stand_in_the_wal_alone_are_seen_in_a_read_only_folder(shared: Lab) -> None:
    job = look(shared)
    with closing(sqlite3.connect(shared.db)) as keeper:
        keeper.execute("PRAGMA journal_mode = wal")
        keeper.execute("UPDATE curated_entities SET entity_type = 'ship'")
        keeper.commit()
        for path in shared.case.folder.iterdir():
            path.chmod(0o444)
        shared.case.folder.chmod(0o555)
        found = as_nobody(job)
        assert (found["live"], found["queue"], found["read_only"]) == (1, 1, True)
        shown = as_nobody(lambda: sorted(shared.census()))
        assert shown == ["ship"]


def test_a_brain_on_a_read_only_mount(shared: Lab) -> None:
    """Permission bits do not bind the superuser; a read-only file system does."""
    job = look(shared)
    folder = str(shared.case.folder)
    made = subprocess.run(["mount", "--bind", folder, folder], capture_output=True, check=False)
    if made.returncode:
        pytest.skip("nothing can be mounted here")
    try:
        subprocess.run(["mount", "-o", "remount,ro,bind", folder], check=True)
        found = job()
        assert (found["live"], found["read_only"], found["exit"]) == (1, True, 1)
    finally:
        subprocess.run(["umount", folder], check=True)
