"""The installed command in a pseudo-terminal: what it asks, draws and leaves behind."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pexpect
import pyte
import pytest

from tests.cli.conftest import ADA, spawn

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Start = Callable[..., Any]

COLUMNS, ROWS = 120, 40


@pytest.fixture
def start(october: Path) -> Iterator[Start]:
    """Start the installed command on the October brain in a terminal of its own."""
    script = shutil.which("ct-tui", path=str(Path(sys.executable).parent))
    assert script is not None, "the package is not installed beside this Python"
    begun: list[Any] = []

    def begin(*args: str, **env: str) -> Any:
        variables = {**os.environ, "TERM": "xterm-256color", "LANG": "C.UTF-8", **env}
        child = pexpect.spawn(
            script, ["--brain", str(october), *args], env=variables, timeout=30, encoding="utf-8",
            dimensions=(ROWS, COLUMNS),
        )  # fmt: skip
        begun.append(child)
        return child

    yield begin
    for child in begun:
        child.close(force=True)


def finish(child: Any) -> tuple[int, str]:
    """Everything the command still prints, and its exit code."""
    child.expect(pexpect.EOF)
    child.close()
    return child.exitstatus, child.before


def test_a_passphrase_is_asked_for_and_never_shown(start: Start, october: Path) -> None:
    child = start("keys", "new", "--as", ADA)
    for prompt in ("Passphrase \\(empty for none\\): ", "The same once more: "):
        child.expect(prompt)
        child.sendline("correct horse")
    code, said = finish(child)
    assert code == 0
    assert "with a passphrase" in said
    assert "horse" not in said

    child = start("rule", "alias", "agent", "role", "--reason", "parts that are played")
    child.expect("Passphrase for .*: ")
    child.sendline("wrong horse")
    code, said = finish(child)
    assert (code, "does not open" in said, "horse" in said) == (1, True, False)

    child = start("rule", "alias", "agent", "role", "--reason", "parts that are played")
    child.expect("Passphrase for .*: ")
    child.sendline("correct horse")
    code, said = finish(child)
    assert (code, "#1 agent → role" in said, "horse" in said) == (0, True, False)
    assert spawn("--brain", str(october), "rule", "verify").code == 0


def test_two_different_passphrases_make_no_key(start: Start, user_dir: Path) -> None:
    child = start("keys", "new", "--as", ADA)
    child.expect("Passphrase .*: ")
    child.sendline("one")
    child.expect("once more: ")
    child.sendline("two")
    code, said = finish(child)
    assert (code, "differ" in said) == (1, True)
    assert not (user_dir / "keys").exists()


def test_an_empty_passphrase_means_none(start: Start) -> None:
    child = start("keys", "new", "--as", ADA)
    child.expect("Passphrase .*: ")
    child.sendline("")
    code, said = finish(child)
    assert (code, "without a passphrase" in said) == (0, True)


def test_colours_are_for_terminals_that_want_them(start: Start) -> None:
    code, coloured = finish(start("census"))
    assert code == 0
    assert "\x1b[33mundeclared\x1b[0m" in coloured
    for env in ({"NO_COLOR": "1"}, {"TERM": "dumb"}):
        assert "\x1b" not in finish(start("census", **env))[1]
    plain = finish(start("census", NO_COLOR="1"))[1]
    assert "undeclared" in plain, "the word says what the colour says"


def test_a_document_holds_no_code_even_on_a_terminal(start: Start) -> None:
    code, said = finish(start("census", "--json"))
    assert code == 0
    assert "\x1b" not in said


def test_a_long_write_shows_a_bar_and_takes_it_away(start: Start, october: Path) -> None:
    spawn("--brain", str(october), "keys", "new", "--as", ADA)
    spawn("--brain", str(october), "rule", "adopt", "founding.yaml")
    code, said = finish(start("heal", "--yes"))
    assert code == 0
    assert "Healing ██████████████████████████████ 100%" in said
    screen = pyte.Screen(COLUMNS, ROWS)
    pyte.Stream(screen).feed(said)
    shown = "\n".join(screen.display)
    assert "Healing" not in shown
    assert "20 entities retyped" in shown


@pytest.mark.parametrize("env", [{"TERM": "dumb"}, {"TERM": "unknown"}])
def test_a_dumb_terminal_gets_a_hint_and_no_codes(start: Start, env: dict[str, str]) -> None:
    code, said = finish(start(**env))
    assert code == 1
    assert "ct-tui census" in said
    assert "\x1b" not in said


def test_without_a_verb_the_workstation_opens_and_gives_the_terminal_back(start: Start) -> None:
    child = start()
    child.expect("agent")
    child.send("\x11")
    code, rest = finish(child)
    assert code == 0
    assert "\x1b[?1049l" in rest


def test_demo_opens_what_it_made(start: Start, tmp_path: Path) -> None:
    child = start("demo", "--dir", str(tmp_path / "demo"))
    child.expect("\x1b\\[\\?1049h")
    child.expect("undeclared|Queue|queue|agent")
    child.send("\x11")
    assert finish(child)[0] == 0
    assert (tmp_path / "demo" / "brain.db").exists()


def test_a_brain_that_is_none_is_said_before_anything_is_drawn(start: Start, tmp_path: Path) -> None:
    child = start("--brain", str(tmp_path / "nowhere"))
    code, said = finish(child)
    assert code == 1
    assert "there is no brain" in said
    assert "\x1b[?1049h" not in said
