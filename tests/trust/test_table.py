"""Appending adds a block and changes no byte before it, whatever the file looks like and whoever else writes."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import threading
from typing import TYPE_CHECKING

import pytest

from ct_tui.domain.errors import TrustError
from ct_tui.domain.rulings import Alias, Head
from ct_tui.trust.files import FileMoved, locked
from ct_tui.trust.keys import list_keys
from ct_tui.trust.signers import load_signers
from ct_tui.trust.signing import Draft, sign_rulings
from ct_tui.trust.table import TableFile, append_entries, parse_table, read_table
from tests.trust.desk import DAY, ME, NOON, Desk

if TYPE_CHECKING:
    from pathlib import Path

FAR = NOON + 36500 * DAY
ENTRY = {"v": 1, "seq": 1, "kind": "alias"}


def _table(folder: Path, data: bytes) -> Path:
    path = folder / "rulings.yaml"
    path.write_bytes(data)
    return path


@pytest.mark.parametrize(
    ("before", "added"),
    [
        (b"", b'- v: 1\n  seq: 1\n  kind: "alias"\n'),
        (b"# only comments\n\n", b'- v: 1\n  seq: 1\n  kind: "alias"\n'),
        (b"---\n", b'- v: 1\n  seq: 1\n  kind: "alias"\n'),
        (b"- v: 1 # mine\n", b'- v: 1\n  seq: 1\n  kind: "alias"\n'),
        (b"- v: 1", b'\n- v: 1\n  seq: 1\n  kind: "alias"\n'),
        (b"- v: 1\n# the end", b'\n- v: 1\n  seq: 1\n  kind: "alias"\n'),
        (b"# x\r\n- v: 1\r\n", b'- v: 1\r\n  seq: 1\r\n  kind: "alias"\r\n'),
        (b"- v: 1\r\n- v: 1", b'\r\n- v: 1\r\n  seq: 1\r\n  kind: "alias"\r\n'),
        (b"   - v: 1\n", b'   - v: 1\n     seq: 1\n     kind: "alias"\n'),
        (b"-\n    v: 1\n\n\n", b'- v: 1\n  seq: 1\n  kind: "alias"\n'),
    ],
)
def test_only_the_block_is_added(tmp_path: Path, before: bytes, added: bytes) -> None:
    path = _table(tmp_path, before)
    table = read_table(path)
    append_entries(table, [ENTRY])
    assert path.read_bytes() == before + added
    after = read_table(path).raw.entries
    assert after[: len(table.raw.entries)] == table.raw.entries
    assert after[-1].fields == ENTRY
    assert [p.name for p in tmp_path.iterdir() if p.name.endswith(".tmp")] == []


def test_a_missing_folder_is_made(tmp_path: Path) -> None:
    path = tmp_path / "a" / "b" / "rulings.yaml"
    append_entries(TableFile(path), [ENTRY, ENTRY])
    assert len(read_table(path).raw.entries) == 2


@pytest.mark.parametrize("data", [b"[]\n", b"[{v: 1}]\n", b"- v: 1\n...\n"])
def test_a_list_that_cannot_grow_is_refused_untouched(tmp_path: Path, data: bytes) -> None:
    path = _table(tmp_path, data)
    with pytest.raises(TrustError, match="Nothing can be appended"):
        append_entries(read_table(path), [ENTRY])
    assert path.read_bytes() == data


def test_a_file_that_changed_meanwhile_is_refused_untouched(tmp_path: Path) -> None:
    path = _table(tmp_path, b"- v: 1\n")
    table = read_table(path)
    for change in (b"- v: 1\n# a comment\n", b"- v: 2\n", b""):
        path.write_bytes(change)
        with pytest.raises(FileMoved, match="by somebody else"):
            append_entries(table, [ENTRY])
        assert path.read_bytes() == change
    path.unlink()
    with pytest.raises(FileMoved):
        append_entries(table, [ENTRY])
    assert not path.exists()


def test_mode_and_link_stay(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    target = _table(tmp_path / "real", b"- v: 1\n")
    target.chmod(0o664)
    link = tmp_path / "rulings.yaml"
    link.symlink_to(target)
    append_entries(read_table(link), [ENTRY])
    assert link.is_symlink()
    assert stat.S_IMODE(target.stat().st_mode) == 0o664
    assert len(read_table(target).raw.entries) == 2


def test_a_new_table_has_the_usual_mode(tmp_path: Path) -> None:
    path = tmp_path / "rulings.yaml"
    append_entries(TableFile(path), [ENTRY])
    umask = os.umask(0o022)
    os.umask(umask)
    assert stat.S_IMODE(path.stat().st_mode) == 0o644 & ~umask


def test_a_lock_held_by_another_is_waited_for_and_then_said(tmp_path: Path) -> None:
    path = _table(tmp_path, b"")
    entered, leave = threading.Event(), threading.Event()

    def hold() -> None:
        with locked(path):
            entered.set()
            leave.wait(10)

    holder = threading.Thread(target=hold)
    holder.start()
    entered.wait(10)
    with (
        pytest.raises(TrustError, match=r"being written by another program for more than 0\.1 seconds"),
        locked(path, 0.1),
    ):
        pass
    leave.set()
    with locked(path):
        holder.join()


def test_a_place_that_cannot_be_written(tmp_path: Path) -> None:
    path = _table(tmp_path, b"") / "rulings.yaml"
    with pytest.raises(TrustError, match="cannot be written"):
        append_entries(TableFile(path), [ENTRY])


def test_no_room_left_leaves_the_table_as_it_was(desk: Desk) -> None:
    """The size limit of a process stands in for a full disk: the write fails half way."""
    desk.rule_many(3)
    before = desk.table.read_bytes()
    script = (
        "import resource, signal, sys\n"
        "from pathlib import Path\n"
        "from ct_tui.domain.errors import TrustError\n"
        "from ct_tui.trust.table import append_entries, read_table\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))\n"
        "try: append_entries(read_table(Path(sys.argv[1])), [{'v': 1}])\n"
        "except TrustError as error: print(error.message)\n"
    )
    told = subprocess.run([sys.executable, "-c", script, str(desk.table)], capture_output=True, text=True, check=True)
    assert "cannot be written: file too large" in told.stdout
    assert desk.table.read_bytes() == before
    assert not [p for p in desk.table.parent.iterdir() if p.suffix == ".tmp"]


WRITER = """
import datetime as dt, sys
from pathlib import Path
from ct_tui.domain.rulings import Alias
from ct_tui.trust.keys import load_key
from ct_tui.trust.signing import Draft, sign_ruling
table, key, name, count = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3], int(sys.argv[4])
signer = load_key(key)
print("ready", flush=True)
sys.stdin.readline()
for n in range(count):
    sign_ruling(Draft(Alias(f"{name} {n}", "role"), "why", "curator@example.org"), signer, table)
"""


def test_two_curators_at_the_same_time_lose_no_ruling(desk: Desk) -> None:
    (key,) = list_keys(desk.user / "keys")
    command = [sys.executable, "-c", WRITER, str(desk.table), str(key.path)]
    writers = [
        subprocess.Popen([*command, name, "15"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for name in ("one", "two")
    ]
    for writer in writers:
        assert writer.stdout is not None
        assert writer.stdout.readline() == "ready\n"
    for writer in writers:
        assert writer.stdin is not None
        writer.stdin.write("\n")
        writer.stdin.flush()
    for writer in writers:
        writer.communicate(timeout=60)
        assert writer.returncode == 0
    table = desk.verify(now=FAR)
    assert table.trusted, table.distrust
    assert [e.seq for e in table.entries] == list(range(1, 31))
    labels = sorted(str(r.body) for r in table.valid())
    assert labels == sorted(f"{name} {n} → role" for name in ("one", "two") for n in range(15))


def test_killed_while_appending_leaves_a_whole_table(desk: Desk) -> None:
    (key,) = list_keys(desk.user / "keys")
    writer = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(desk.table), str(key.path), "one", "100000"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert writer.stdin is not None
    assert writer.stdout is not None
    writer.stdout.readline()
    writer.stdin.write("\n")
    writer.stdin.flush()
    while not desk.table.exists() or desk.table.stat().st_size < 5000:
        assert writer.poll() is None
    writer.kill()
    writer.communicate()
    table = desk.verify(now=FAR)
    assert table.trusted, table.distrust
    assert len(table.valid()) > 3
    desk.rule(Alias("after", "role"), at=max(r.ruled_at for r in table.valid()))
    assert desk.verify(now=FAR).trusted


def test_appending_to_a_thousand_neither_parses_nor_verifies(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    drafts = [Draft(Alias(f"t{n}", "role"), "why", ME) for n in range(1000)]
    sign_rulings(drafts, desk.key, desk.table, NOON, signers=load_signers(desk.user))
    table = read_table(desk.table)
    hits = parse_table.cache_info().misses
    append_entries(table, [ENTRY])
    assert parse_table.cache_info().misses == hits
    assert desk.table.read_bytes().startswith(table.data)


def test_the_head_grows_with_each_ruling(desk: Desk) -> None:
    rulings = desk.rule_many(3)
    assert desk.verify().head == Head(3, rulings[-1].hash)
    assert [r.prev for r in rulings] == [None, rulings[0].hash, rulings[1].hash]
