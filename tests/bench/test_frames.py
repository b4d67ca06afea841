"""How long until something is seen, as a multiple of a bare Textual app with a table of fifty rows: `make bench`.

Both run in a pseudo-terminal as a person runs them, in turn, each the best of several times.
"""

from __future__ import annotations

import os
import select
import sys
import time
from typing import TYPE_CHECKING

import pexpect
import pytest

from tests.bench.test_ratios import compare

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.bench

BARE = """
from textual.app import App
from textual.widgets import DataTable

class Bare(App):
    def compose(self):
        yield DataTable(cursor_type="row")

    def on_mount(self):
        table = self.query_one(DataTable)
        table.add_columns("type", "count", "state")
        for number in range(50):
            table.add_row(f"row {number}", str(number), "undeclared")

Bare().run()
"""
TIMES, ROUNDS, KEYS = 9, 4, 20
PATIENCE = 20.0


class Run:
    """A program in a terminal of 120 by 40, and when its words came."""

    def __init__(self, args: list[str], env: dict[str, str]) -> None:
        self._began = time.perf_counter()
        environment = {**os.environ, "TERM": "xterm-256color", "COLORTERM": "truecolor", **env}
        self._child = pexpect.spawn(sys.executable, args, env=environment, dimensions=(40, 120))
        self._child.delaybeforesend = None
        self.sent = b""

    def until(self, words: bytes) -> float:
        """Seconds from the start until some words were sent."""
        while words not in self.sent:
            assert time.perf_counter() - self._began < PATIENCE, self.sent[-2000:]
            self._take(0.05)
        return time.perf_counter() - self._began

    def answer(self, key: str) -> float:
        """Seconds from a key until the first of what it changed was sent."""
        while self._take(0.15):
            pass
        began = time.perf_counter()
        self._child.send(key)
        while not self._take(0.05):
            assert time.perf_counter() - began < PATIENCE
        return time.perf_counter() - began

    def end(self) -> None:
        """End it."""
        self._child.kill(9)
        self._child.close()

    def leave(self) -> None:
        """Have it end by itself, so that it remembers what it saw."""
        self._child.send("q")
        self._child.expect(pexpect.EOF, timeout=PATIENCE)
        self._child.close()

    def _take(self, seconds: float) -> bool:
        ready, _, _ = select.select([self._child.child_fd], [], [], seconds)
        if ready:
            self.sent += os.read(self._child.child_fd, 65536)
        return bool(ready)


@pytest.fixture
def ours(october: Path, tmp_path: Path) -> tuple[list[str], dict[str, str]]:
    """How the workstation is run on a brain that it has seen before."""
    found = (["-m", "ct_tui", "--brain", str(october)], {"CT_TUI_CONFIG_DIR": str(tmp_path / "user")})
    seen = Run(*found)
    seen.until(b"What it could be")
    seen.until(b"ruling")
    seen.leave()
    return found


@pytest.fixture
def bare(tmp_path: Path) -> tuple[list[str], dict[str, str]]:
    """How the bare app is run."""
    file = tmp_path / "bare.py"
    file.write_text(BARE, encoding="utf-8")
    return [str(file)], {}


def first(how: tuple[list[str], dict[str, str]], words: bytes) -> float:
    """Seconds from the start of a program until some words are seen."""
    run = Run(*how)
    taken = run.until(words)
    run.end()
    return taken


def answered(how: tuple[list[str], dict[str, str]], words: bytes) -> float:
    """The median of the seconds from a key that moves the cursor until it is painted."""
    run = Run(*how)
    run.until(words)
    answers = sorted(run.answer("\x1b[B") for _ in range(KEYS))
    run.end()
    return answers[len(answers) // 2]


def test_first_useful_paint(ours: tuple[list[str], dict[str, str]], bare: tuple[list[str], dict[str, str]]) -> None:
    pairs = [(first(ours, b"What it could be"), first(bare, b"row 3")) for _ in range(TIMES)]
    taken, floor = (min(side) for side in zip(*pairs, strict=True))
    assert compare("first useful paint", taken, floor, 1.5) == []


def test_key_to_paint(ours: tuple[list[str], dict[str, str]], bare: tuple[list[str], dict[str, str]]) -> None:
    pairs = [(answered(ours, b"ruling"), answered(bare, b"row 3")) for _ in range(ROUNDS)]
    taken, floor = (min(side) for side in zip(*pairs, strict=True))
    assert compare("key to paint", taken, floor, 1.5) == []
