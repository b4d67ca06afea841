"""`doctor` and `schedule`: every check says how to mend it, and every path survives its quoting."""

from __future__ import annotations

import fcntl
import os
import shlex
import sqlite3
import subprocess
import sys
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest

from ct_tui.cli.checkup import is_locked

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Ct


def states(ct: Ct, code: int = 0) -> dict[str, Any]:
    checks = ct.json("doctor", code=code)["checks"]
    return {check["name"]: check for check in checks}


def test_a_sound_brain_is_well(founded: Ct) -> None:
    founded.json("heal", "--yes")
    found = states(founded)
    wrong = {name for name, check in found.items() if check["state"] != "ok"}
    assert wrong == {"terminal"}
    assert "paths" not in found
    assert found["brain file"]["message"] == str(founded.brain / "brain.db")
    text = founded("doctor").out.splitlines()
    assert all(line.startswith(("ok ", "warn ", " ")) for line in text)


def test_a_fresh_user_is_told_how_to_begin(ct: Ct) -> None:
    found = states(ct)
    assert "ct-tui keys new" in found["keys"]["mend"]
    assert found["signers"]["state"] == "warn"
    assert "fallback" in found["manifest"]["message"]


def test_no_brain_is_a_failure_with_a_remedy(ct: Ct, tmp_path: Path) -> None:
    done = ct("doctor", "--brain", str(tmp_path / "nowhere"), "--json")
    assert done.code == 1
    assert done.document["ok"] is False
    assert [c for c in done.document["checks"] if c["state"] == "fail" and c["mend"]]


def test_a_held_write_lock_is_named(ct: Ct, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ct_tui.brain.connection.BUSY_TIMEOUT", 0.05)
    with closing(sqlite3.connect(ct.brain / "brain.db", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        lock = states(ct, code=1)["write lock"]
    assert "held the lock" in lock["message"]
    assert lock["mend"]


def test_a_tampered_table_is_a_failure(founded: Ct) -> None:
    table = founded.brain / "aliases" / "rulings.yaml"
    table.write_text(table.read_text().replace('"role"', '"person"', 1))
    assert states(founded, code=1)["rulings"]["state"] == "fail"


def test_a_newer_schema_is_a_failure(ct: Ct) -> None:
    with closing(sqlite3.connect(ct.brain / "brain.db")) as db, db:
        db.execute("INSERT INTO schema_version VALUES (99)")
    assert "99" in states(ct, code=1)["schema"]["message"]
    assert ct.json("census")["live"] == 152


def test_an_open_key_is_warned_about(signer: Ct, user_dir: Path) -> None:
    key = next(p for p in (user_dir / "keys").iterdir() if p.suffix != ".pub")
    key.chmod(0o644)
    assert "0644" in states(signer)["keys"]["message"] or "0644" in signer("doctor").out


def test_a_lock_of_the_app_is_seen_and_left_alone(tmp_path: Path) -> None:
    lock = tmp_path / ".curated_thoughts.lock"
    assert not is_locked(lock)
    assert not lock.exists()
    lock.touch()
    assert not is_locked(lock)
    with lock.open("rb") as held:
        fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        assert is_locked(lock)
    assert not is_locked(lock)


@pytest.fixture
def odd(ct: Ct, tmp_path: Path) -> Path:
    """A brain in a folder whose name needs every kind of quoting."""
    folder = tmp_path / 'my "brain" 100% $HOME \'n \\ é'
    ct.brain.rename(folder)
    return folder


def test_the_cron_line_survives_its_quoting(ct: Ct, odd: Path, user_dir: Path) -> None:
    cron = ct.json("schedule", "--brain", str(odd))["cron"]
    assert cron.startswith("10 2 * * * ")
    # cron takes the backslash away before a percent sign and hands the rest to the shell.
    words = shlex.split(cron.removeprefix("10 2 * * * ").replace("\\%", "%"))
    assert words[0] == f"CT_TUI_CONFIG_DIR={user_dir}"
    assert words[1:4] == [sys.executable, "-m", "ct_tui"]
    assert words[words.index("--brain") + 1] == str(odd / "brain.db")
    assert words[-2:] == ["heal", "--yes"]
    assert "%" not in cron.replace("\\%", "")


def test_the_cron_line_runs(ct: Ct, odd: Path) -> None:
    line = ct.json("schedule", "--brain", str(odd))["cron"].removeprefix("10 2 * * * ").replace("\\%", "%")
    done = subprocess.run(["sh", "-c", line], capture_output=True, text=True, check=True, cwd="/")
    assert "Healed" in done.stdout


@pytest.mark.parametrize("name", ["two\nlines", "a\ttab", "esc\x1b", "byte\udcff", "rtl\u202e", "zero\u200b"])
def test_a_path_that_no_timer_can_hold_is_refused(ct: Ct, tmp_path: Path, name: str) -> None:
    ct.brain.rename(tmp_path / name)
    assert "no timer can name" in ct.refused("schedule", "--brain", str(tmp_path / name))


def systemd_words(line: str) -> list[str]:
    """The words of an ExecStart line, unquoted as systemd.syntax(7) says."""
    words, word, at = [], "", 0
    while at < len(line):
        assert line[at] == '"'
        at += 1
        while line[at] != '"':
            pair = line[at : at + 2]
            known = {"\\\\": "\\", '\\"': '"', "%%": "%", "$$": "$"}
            word += known.get(pair, line[at])
            at += 2 if pair in known else 1
        words.append(word)
        word, at = "", at + 2
    return words


def test_the_units_survive_their_quoting(ct: Ct, odd: Path, user_dir: Path) -> None:
    made = ct.json("schedule", "--brain", str(odd))
    lines = made["service"].splitlines()
    start = next(line for line in lines if line.startswith("ExecStart="))
    assert systemd_words(start.removeprefix("ExecStart=")) == made["command"]
    assert f'Environment="CT_TUI_CONFIG_DIR={user_dir}"' in lines
    assert "OnCalendar=*-*-* 02:10:00" in made["timer"].splitlines()
    assert "Persistent=true" in made["timer"].splitlines()


def install(ct: Ct, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, systemctl: str | None, *args: str) -> Any:
    """Run --install with a systemctl of our own on the path, or with none."""
    tools = tmp_path / "tools"
    tools.mkdir(exist_ok=True)
    if systemctl is not None:
        (tools / "systemctl").write_text(f"#!{sys.executable}\n{systemctl}\n")
        (tools / "systemctl").chmod(0o755)
    monkeypatch.setenv("PATH", str(tools))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "xdg"))
    return ct("schedule", "--install", *args, "--json")


def test_install_writes_the_units_and_enables_the_timer(
    ct: Ct, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = tmp_path / "calls"
    note = f"import sys; open({str(log)!r}, 'a').write(' '.join(sys.argv[1:]) + '\\n')"
    done = install(ct, tmp_path, monkeypatch, note)
    assert (done.code, done.document["enabled"]) == (0, True)
    folder = tmp_path / "xdg" / "systemd" / "user"
    assert sorted(p.name for p in folder.iterdir()) == ["ct-tui-heal.service", "ct-tui-heal.timer"]
    assert log.read_text().splitlines() == ["--user daemon-reload", "--user enable --now ct-tui-heal.timer"]
    assert install(ct, tmp_path, monkeypatch, note).code == 0


def test_install_never_replaces_what_runs_something_else(
    ct: Ct, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "xdg" / "systemd" / "user"
    folder.mkdir(parents=True)
    (folder / "ct-tui-heal.service").write_text("[Service]\nExecStart=/bin/true\n")
    assert "runs something else" in install(ct, tmp_path, monkeypatch, "").sentence
    assert install(ct, tmp_path, monkeypatch, "", "--name", "second").code == 0
    assert (folder / "second.timer").exists()
    assert install(ct, tmp_path, monkeypatch, "", "--name", "../x").code == 1


def test_install_without_systemctl_says_so(ct: Ct, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    done = install(ct, tmp_path, monkeypatch, None)
    assert (done.code, done.document["enabled"]) == (0, False)
    assert "there is no systemctl here" in done.err
    assert len(done.document["installed"]) == 2


def test_a_systemctl_that_fails_is_a_failure(ct: Ct, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    done = install(ct, tmp_path, monkeypatch, "import sys; sys.exit('Failed to connect to bus')")
    assert done.code == 1
    assert "Failed to connect to bus" in done.err
    assert os.environ["PATH"] == str(tmp_path / "tools")
