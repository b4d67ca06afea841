"""Looking behind a row: sources open in an editor without a shell, the mouse is welcome."""

from __future__ import annotations

import sqlite3
import stat
import sys
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from ct_tui.domain.errors import BadInput
from ct_tui.domain.queue import Quote
from ct_tui.tui.sources import editor_command, place_of
from tests.tui.deck import deck, write
from tests.tui.test_terminal import Terminal

if TYPE_CHECKING:
    from pathlib import Path

HOSTILE = "-o $(touch owned); `x` 'y\" é.md"


def test_the_path_is_one_argument_whatever_it_holds(tmp_path: Path) -> None:
    file = tmp_path / HOSTILE
    file.write_text("x")
    path = place_of(Quote(HOSTILE, 3, 3, "x"), tmp_path)
    assert path.is_absolute()
    command = editor_command(path, 3, {"EDITOR": f"{sys.executable} -c pass"})
    assert command == [sys.executable, "-c", "pass", str(path)]


def test_editors_that_know_lines_are_told_the_line(tmp_path: Path) -> None:
    editor = tmp_path / "vim"
    editor.write_text("#!/bin/sh\n")
    editor.chmod(0o755)
    assert editor_command(tmp_path, 12, {"VISUAL": str(editor), "EDITOR": "no"}) == [str(editor), "+12", str(tmp_path)]


def test_without_an_editor_there_is_no_command(tmp_path: Path) -> None:
    assert editor_command(tmp_path, None, {}) is None


@pytest.mark.parametrize("editor", ["'unclosed", "/nowhere/at/all --wait"])
def test_an_editor_that_cannot_be_is_said(tmp_path: Path, editor: str) -> None:
    with pytest.raises(BadInput):
        editor_command(tmp_path, None, {"EDITOR": editor})


@pytest.mark.parametrize("path", ["", "nul\0", "/nowhere/note.md", "note.md", "."])
def test_a_source_that_is_not_here_is_said(tmp_path: Path, path: str) -> None:
    with pytest.raises(BadInput):
        place_of(Quote(path, None, None, ""), tmp_path)


async def test_a_source_that_lies_elsewhere_is_said_on_the_desk(october: Path) -> None:
    async with deck(october) as d:
        await d.press("o")
        if d.front == "PickDialog":
            await d.press("enter")
        assert "is not on this machine" in d.said


def test_a_source_opens_in_the_editor_and_the_screen_comes_back(october: Path, tmp_path: Path) -> None:
    vault = tmp_path / "vault"
    vault.mkdir()
    with closing(sqlite3.connect(october / "brain.db")) as connection:
        numbers = [number for (number,) in connection.execute("SELECT id FROM documents")]
    for number in numbers:
        note = vault / f"{number} {HOSTILE}"
        note.write_text("hello")
        write(october / "brain.db", "UPDATE documents SET path = ? WHERE id = ?", str(note), number)
    told = tmp_path / "told"
    editor = tmp_path / "editor"
    editor.write_text(f'#!/bin/sh\nprintf "%s\\n" "$#" "$1" > "{told}.part" && mv "{told}.part" "{told}"\n')
    editor.chmod(editor.stat().st_mode | stat.S_IEXEC)
    found = Terminal(october, {"EDITOR": str(editor)})
    try:
        found.until("What it could be")
        found.child.send("o")
        found.until("Back from")
        count, path = told.read_text().split("\n")[:2]
        assert count == "1"
        assert path in {str(vault / f"{number} {HOSTILE}") for number in numbers}
        assert not (tmp_path / "owned").exists()
        found.child.send("q")
        assert found.ended() == 0
    finally:
        found.child.close(force=True)


async def test_the_mouse_is_welcome(october: Path) -> None:
    async with deck(october) as d:
        await d.pilot.click(offset=(118 - 3, 39))
        await d.settle()
        assert d.front == "ReadingDialog"
        await d.press("escape")
        await d.pilot.click(offset=(10, 3))
        await d.settle()
        assert d.desk.front == "census"
        assert d.desk.rows.at == 1
        await d.pilot.click(offset=(10, 3), times=2)
        await d.settle()
        assert d.desk.in_detail
    async with deck(october, (80, 24)) as d:
        at = d.lines[1].index("History")
        await d.pilot.click(offset=(at + 1, 1))
        await d.settle()
        assert d.desk.front == "history"
