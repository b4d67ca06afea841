"""What was last seen of a brain is painted first: as a memory with its time, and nothing is decided on it."""

from __future__ import annotations

import json
import shutil
import sqlite3
from contextlib import asynccontextmanager, contextmanager
from typing import TYPE_CHECKING

import pytest

from ct_tui.policy.paths import resolve_places
from ct_tui.tui.app import Workstation
from ct_tui.tui.remembered import Memory
from tests.tui.deck import Deck, deck, write

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator
    from pathlib import Path

    from rich.console import RenderableType
    from textual.screen import Screen

SCROLLBAR = 54
"""Column of the scrollbars of the lists on a screen of 120."""


@contextmanager
def held(brain: Path) -> Iterator[None]:
    """Another program holds the brain, so that nothing can be read of it."""
    connection = sqlite3.connect(brain, isolation_level=None)
    connection.execute("BEGIN EXCLUSIVE")
    try:
        yield
    finally:
        connection.execute("ROLLBACK")
        connection.close()


@asynccontextmanager
async def unread(folder: Path) -> AsyncIterator[Deck]:
    """The workstation as it is before anything of the brain could be read."""
    with held(folder / "brain.db"):
        app = Workstation(resolve_places(folder))
        async with app.run_test(size=(120, 40)) as pilot:
            found = Deck(app, pilot, folder)
            await pilot.pause()
            yield found


async def test_the_last_census_and_questions_are_shown_before_the_brain_is_read(october: Path) -> None:
    async with deck(october) as d:
        read = [(row.label, row.count) for row in d.app.session.items()]
        heading = d.heading("queue-head")
    async with unread(october) as d:
        assert [(row.label, row.count) for row in d.app.session.items()] == read
        assert d.heading("queue-head") == heading
        assert "152 live" in d.lines[0]
        assert "◷ as of 20" in d.lines[0]
        assert "changed since" not in d.lines[0]
        assert "▸ ▹ ? document" in d.text


async def test_the_first_frame_is_whole_and_needs_no_mending(october: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with deck(october):
        pass
    frames: list[list[str]] = []
    paint = Workstation._display

    def painted(app: Workstation, screen: Screen[object], update: RenderableType | None) -> None:
        if update is not None:
            frames.append([strip.text.rstrip() for strip in screen._compositor.render_strips()])
        paint(app, screen, update)

    monkeypatch.setattr(Workstation, "_display", painted)
    async with unread(october) as d:
        await d.until(lambda: "▸ ▹ ? document" in "\n".join(frames[-1]))
    assert "What it could be" in "\n".join(frames[0])
    places = [[line[1:SCROLLBAR] + line[SCROLLBAR + 1 :] for line in frame] for frame in (frames[0], frames[-1])]
    assert places[0] == places[1], "all is in its place but scrollbars and the mark of the keyboard"


async def test_nothing_is_decided_on_what_is_remembered(october: Path) -> None:
    async with deck(october):
        pass
    async with unread(october) as d:
        for key in ("1", "x", "plus", "m", "r", "f", "u"):
            await d.pilot.press(key)
            assert d.front == "desk"
            assert "still being" in d.said
        assert d.table == ""


async def test_a_fresh_reading_takes_the_place_of_what_is_remembered(october: Path) -> None:
    async with deck(october):
        pass
    write(october / "brain.db", "UPDATE curated_entities SET entity_type = 'brand_new' WHERE entity_type = 'agent'")
    async with unread(october) as d:
        assert "changed since" in d.lines[0]
        assert "brand_new" not in d.text
    async with deck(october) as d:
        assert "as of" not in d.lines[0]
        assert "brand_new" in d.text


async def test_another_file_under_the_same_name_is_not_taken_for_the_one_remembered(october: Path) -> None:
    async with deck(october):
        pass
    shutil.copy(october / "brain.db", october / "other.db")
    (october / "other.db").replace(october / "brain.db")
    async with unread(october) as d:
        assert d.app.session.report is None
        assert "reading…" in d.lines[0]


async def test_what_cannot_be_opened_is_not_shown_as_it_was(october: Path) -> None:
    async with deck(october):
        pass
    (october / "brain.db").write_bytes(b"no brain any more")
    async with deck(october) as d:
        assert d.app.session.report is None
        assert d.app.session.queue is None
        assert "not a brain" in d.text


@pytest.mark.parametrize("garbled", ["", "{", "[]", "null", '{"program": 1}', "[" * 100_000, '"\\ud800"', "\0"])
async def test_a_memory_that_cannot_be_read_is_none(october: Path, user_dir: Path, garbled: str) -> None:
    async with deck(october):
        pass
    (file,) = (user_dir / "cache").iterdir()
    file.write_text(garbled, encoding="utf-8")
    assert Memory(resolve_places(october)).recall() is None


async def test_no_part_of_a_memory_is_believed_where_one_is_not_what_it_should_be(
    october: Path, user_dir: Path
) -> None:
    async with deck(october):
        pass
    (file,) = (user_dir / "cache").iterdir()
    whole = json.loads(file.read_text(encoding="utf-8"))
    memory = Memory(resolve_places(october))
    for part in ("types", "questions"):
        for name in whole[part][0]:
            changed = json.loads(json.dumps(whole))
            changed[part][0][name] = {"no": "such"}
            file.write_text(json.dumps(changed), encoding="utf-8")
            assert memory.recall() is None, f"{part}: {name}"
    file.write_text(json.dumps(whole), encoding="utf-8")
    assert memory.recall() is not None


async def test_a_memory_is_for_the_user_alone(october: Path, user_dir: Path) -> None:
    async with deck(october):
        pass
    (file,) = (user_dir / "cache").iterdir()
    assert file.stat().st_mode & 0o077 == 0


async def test_a_folder_that_cannot_be_written_keeps_nobody_from_reading(october: Path, user_dir: Path) -> None:
    (user_dir / "cache").write_text("a file lies in the way", encoding="utf-8")
    async with deck(october) as d:
        assert "152 live" in d.lines[0]
