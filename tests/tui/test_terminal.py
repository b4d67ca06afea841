"""The workstation in a real pseudo-terminal: it restores what it changed, and refuses what is no terminal."""

from __future__ import annotations

import os
import re
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from contextlib import closing
from typing import TYPE_CHECKING

import pexpect
import pyte
import pytest

from ct_tui.domain.rulings import Alias
from tests.tui.test_plan import many, rule

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

ARGS = ["-m", "ct_tui"]
RESTORED = "\x1b[?1049l"
SHOWN = "\x1b[?25h"


class Terminal:
    """The installed command in a pseudo-terminal, with a screen that understands what it sends."""

    def __init__(self, folder: Path, env: dict[str, str] | None = None, rows: int = 30, columns: int = 100) -> None:
        self.folder = folder
        environment = {**os.environ, "TERM": "xterm-256color", "COLORTERM": "truecolor", **(env or {})}
        self.screen = pyte.Screen(columns, rows)
        self.stream = pyte.Stream(self.screen)
        self.sent = ""
        self.child = pexpect.spawn(
            sys.executable,
            [*ARGS, "--brain", str(folder)],
            env=environment,
            dimensions=(rows, columns),
            encoding="utf-8",
            codec_errors="replace",
            timeout=20,
        )

    def read(self) -> None:
        """Take in what was sent so far."""
        try:
            chunk = self.child.read_nonblocking(65536, timeout=0.1)
        except (pexpect.TIMEOUT, pexpect.EOF):
            return
        self.sent += chunk
        # pyte does not know the private sequences of newer terminals, and they draw nothing.
        self.stream.feed(chunk.replace("\x1b[>", "\x1b[").replace("\x1b[<", "\x1b["))

    def until(self, words: str, seconds: float = 20) -> None:
        """Wait until words are on the screen."""
        end = time.monotonic() + seconds
        while words not in self.text:
            assert time.monotonic() < end, self.text
            self.read()

    def until_match(self, pattern: str, seconds: float = 20) -> re.Match[str]:
        """Wait until something on the screen is of a pattern; a screen may arrive in pieces."""
        end = time.monotonic() + seconds
        while (found := re.search(pattern, self.text)) is None:
            assert time.monotonic() < end, self.text
            self.read()
        return found

    def until_gone(self, words: str, seconds: float = 20) -> None:
        """Wait until words are on the screen no more."""
        end = time.monotonic() + seconds
        while words in self.text:
            assert time.monotonic() < end, self.text
            self.read()

    def ended(self, seconds: float = 20) -> int:
        """Wait until the program has ended; its exit code."""
        end = time.monotonic() + seconds
        while self.child.isalive():
            assert time.monotonic() < end, self.text
            self.read()
        self.read()
        self.child.close()
        return self.child.exitstatus if self.child.exitstatus is not None else -int(self.child.signalstatus or 0)

    @property
    def text(self) -> str:
        """The screen."""
        return "\n".join(self.screen.display)


@pytest.fixture
def terminal(october: Path) -> Iterator[Terminal]:
    """The workstation on the October brain."""
    found = Terminal(october)
    found.until("What it could be")
    yield found
    if found.child.isalive():
        found.child.kill(signal.SIGKILL)
    found.child.close()


def whole(folder: Path) -> bool:
    """Whether the brain is in order."""
    with closing(sqlite3.connect(folder / "brain.db")) as connection:
        return bool(connection.execute("PRAGMA integrity_check").fetchone() == ("ok",))


def test_q_leaves_and_restores_the_terminal(terminal: Terminal, october: Path) -> None:
    terminal.child.send("q")
    assert terminal.ended() == 0
    assert RESTORED in terminal.sent
    assert SHOWN in terminal.sent
    assert whole(october)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_a_signal_restores_the_terminal(terminal: Terminal, october: Path, number: signal.Signals) -> None:
    terminal.child.kill(number)
    assert terminal.ended() == 128 + number
    assert RESTORED in terminal.sent
    assert SHOWN in terminal.sent
    assert whole(october)


def test_a_signal_while_the_brain_is_written_leaves_whole_chunks(october: Path, user_dir: Path) -> None:
    many(october, 30_000)
    rule(october, user_dir, Alias("agent", "role"))
    found = Terminal(october)
    found.until("What it could be")
    found.child.send("P")
    found.until("30,010 changes")
    found.child.send("a")
    found.until("Write this into the brain?")
    asked = found.until_match(r"Type ([\d,]+) to write")
    found.child.send(asked.group(1) + "\r")
    found.until("Writing")
    found.child.kill(signal.SIGTERM)
    assert found.ended() == 128 + signal.SIGTERM
    assert RESTORED in found.sent
    assert whole(october)
    with closing(sqlite3.connect(october / "brain.db")) as connection:
        left = connection.execute("SELECT COUNT(*) FROM curated_entities WHERE entity_type = 'agent'").fetchone()[0]
        done = connection.execute("SELECT COUNT(*) FROM ct_tui_type_change").fetchone()[0]
        origins = connection.execute("SELECT COUNT(*) FROM entity_type_origin").fetchone()[0]
    assert left + done == 30_010
    assert origins == done


def test_a_burst_of_keys_through_the_terminal(terminal: Terminal, user_dir: Path) -> None:
    terminal.child.send("jjjkk")
    terminal.child.send("m")
    terminal.until("Reason")
    terminal.child.send("\x1b")
    terminal.until_gone("Reason")
    terminal.child.send("?")
    terminal.until("Take that suggestion")


def test_ctrl_z_goes_to_the_shell_and_fg_comes_back(terminal: Terminal) -> None:
    terminal.child.send("\x1a")
    waiting = threading.Thread(
        target=lambda: stopped.append(os.waitpid(terminal.child.pid, os.WUNTRACED)[1]), daemon=True
    )
    stopped: list[int] = []
    waiting.start()
    while waiting.is_alive():
        terminal.read()
    assert os.WIFSTOPPED(stopped[0])
    terminal.read()
    assert RESTORED in terminal.sent
    terminal.sent = ""
    os.kill(terminal.child.pid, signal.SIGCONT)
    terminal.child.send("j")
    end = time.monotonic() + 15
    while "\x1b[?1049h" not in terminal.sent:
        assert time.monotonic() < end
        terminal.read()
    terminal.child.send("q")
    assert terminal.ended() == 0


def test_the_terminal_can_go_away(october: Path) -> None:
    found = Terminal(october)
    found.until("What it could be")
    os.close(found.child.child_fd)
    waiting = threading.Thread(target=os.waitpid, args=(found.child.pid, 0), daemon=True)
    waiting.start()
    waiting.join(15)
    if waiting.is_alive():
        os.kill(found.child.pid, signal.SIGKILL)
        pytest.fail("it went on without its terminal")
    assert whole(october)


@pytest.mark.parametrize("term", ["dumb", ""])
def test_a_dumb_terminal_is_refused(october: Path, term: str) -> None:
    found = Terminal(october, {"TERM": term})
    assert found.ended() == 1
    assert "ct-tui census" in found.sent
    assert "\x1b" not in found.sent


@pytest.mark.parametrize("stdin", [subprocess.DEVNULL, subprocess.PIPE])
def test_without_a_terminal_it_refuses_with_a_hint_and_does_not_hang(october: Path, stdin: int) -> None:
    ended = subprocess.run(
        [sys.executable, *ARGS, "--brain", str(october)],
        stdin=subprocess.DEVNULL if stdin == subprocess.DEVNULL else None,
        input=b"q" if stdin == subprocess.PIPE else None,
        capture_output=True,
        timeout=20,
        check=False,
    )
    assert ended.returncode == 1
    assert b"ct-tui census" in ended.stderr
    assert b"\x1b" not in ended.stdout + ended.stderr


def test_a_closed_stdin_is_refused(october: Path) -> None:
    command = f'exec "{sys.executable}" -m ct_tui --brain "{october}" <&-'
    ended = subprocess.run(["sh", "-c", command], capture_output=True, timeout=20, check=False)
    assert ended.returncode == 1
    assert b"Traceback" not in ended.stderr


def test_where_errors_go_elsewhere_it_says_so_there_and_draws_nothing(october: Path, tmp_path: Path) -> None:
    log = tmp_path / "errors.txt"
    command = f'exec "{sys.executable}" -m ct_tui --brain "{october}" 2>"{log}"'
    child = pexpect.spawn("sh", ["-c", command], timeout=20, encoding="utf-8")
    child.expect(pexpect.EOF)
    child.close()
    assert child.exitstatus == 1
    assert "standard error" in log.read_text()
    assert "ct-tui census" in log.read_text()
    assert "\x1b" not in log.read_text() + (child.before or "")


def test_a_browser_stands_for_a_terminal(october: Path) -> None:
    """What `serve` starts for a page has pipes for streams, and a driver of Textual's that speaks through them."""
    served = subprocess.Popen(
        [sys.executable, *ARGS, "--brain", str(october)],
        env={**os.environ, "TEXTUAL_DRIVER": "textual.drivers.web_driver:WebDriver"},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        bufsize=0,
    )
    assert served.stdin is not None
    assert served.stdout is not None
    try:
        assert served.stdout.readline() == b"__GANGLION__\n"
        drawn = b""
        while b"What it could be" not in drawn:
            read = os.read(served.stdout.fileno(), 65536)
            assert read, drawn[-500:]
            drawn += read
    finally:
        served.kill()
        served.communicate()


def test_bad_keys_are_refused_before_the_screen_changes(october: Path, user_dir: Path) -> None:
    (user_dir / "keys.toml").write_text('[keys]\n"rule.nonsense" = "m"\n')
    found = Terminal(october)
    assert found.ended() == 1
    assert "rule.nonsense" in found.sent
    assert "\x1b[?1049h" not in found.sent


def test_without_colours_states_are_still_told_by_signs_and_words(october: Path) -> None:
    found = Terminal(october, {"NO_COLOR": "1"})
    found.until("What it could be")
    found.until("? undeclared")
    found.until("▸")
    colours = [part for part in found.sent.split("\x1b[") if part[:3] in {"38;", "48;"}]
    assert not colours
    found.child.send("q")
    assert found.ended() == 0
