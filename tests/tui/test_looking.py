"""Looking behind a row: sources open in an editor without a shell, the mouse is welcome."""

from __future__ import annotations

import json
import sqlite3
import stat
import sys
import time
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
    note = vault / "immutable-source-files" / "notes" / HOSTILE
    note.parent.mkdir(parents=True)
    note.write_text("hello")
    write(october / "brain.db", "UPDATE documents SET path = ? || '-' || id", str(tmp_path / "elsewhere"))
    write(
        october / "brain.db",
        "UPDATE documents SET path = ? WHERE id = (SELECT doc_id FROM chunks WHERE content_hash IN "
        "(SELECT json_extract(e.value, '$.content_hash') FROM librarian_evidence l, json_each(l.evidence_json, '$.evidence') e) "
        "LIMIT 1)",
        str(note),
    )
    told = tmp_path / "told"
    editor = tmp_path / "editor"
    editor.write_text(f'#!/bin/sh\nprintf "%s\\n" "$#" "$1" > "{told}"\n')
    editor.chmod(editor.stat().st_mode | stat.S_IEXEC)
    found = Terminal(october, {"EDITOR": str(editor)})
    try:
        found.until("What it could be")
        _open_the_note(found, str(note), told)
        assert told.read_text().split("\n")[:2] == ["1", str(note)]
        assert not (tmp_path / "owned").exists()
        found.until("Back from")
        found.child.send("q")
        assert found.ended() == 0
    finally:
        found.child.close(force=True)


def _open_the_note(found: Terminal, note: str, told: Path) -> None:
    """Go through the entities until one has the note among its sources, and open it."""
    with closing(sqlite3.connect(found.folder / "brain.db")) as connection:
        ids = connection.execute(
            "SELECT DISTINCT x.entity_id FROM llm_wiki_entries x JOIN librarian_evidence l ON l.entry_id = x.id, "
            "json_each(l.evidence_json, '$.evidence') e JOIN chunks c ON c.content_hash = json_extract(e.value, '$.content_hash') "
            "JOIN documents d ON d.id = c.doc_id WHERE d.path = ? AND x.deleted_at IS NULL",
            (note,),
        ).fetchall()
        (name, kind) = connection.execute(
            "SELECT name, entity_type FROM curated_entities WHERE id IN (SELECT value FROM json_each(?)) LIMIT 1",
            (json.dumps([i for (i,) in ids]),),
        ).fetchone()
    found.child.send(f"C/{kind}\r")
    found.until(kind)
    found.child.send("l")
    found.until(name)
    _walk_to(found, name[:12])
    found.child.send("o")
    end = time.monotonic() + 30
    while not told.exists():
        assert time.monotonic() < end, found.text
        found.read()
        if "Open which source?" in found.text:
            _walk_to(found, HOSTILE[:10])
            found.child.send("\r")
            found.until_gone("Open which source?")


def _walk_to(found: Terminal, words: str) -> None:
    """Go down until the cursor is on a line with these words, each step only once the one before is on the screen."""
    for _ in range(60):
        before = _cursor_lines(found)
        if any(words in line for line in before):
            return
        found.child.send("j")
        end = time.monotonic() + 5
        while _cursor_lines(found) == before and time.monotonic() < end:
            found.read()
    raise AssertionError(f"no line with {words!r} under the cursor:\n{found.text}")


def _cursor_lines(found: Terminal) -> list[str]:
    return [line for line in found.text.split("\n") if "▸" in line]


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
