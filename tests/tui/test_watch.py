"""Other writers: what they do is on the screen within two seconds, and the cursor stays where it was."""

from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING

from ct_tui.tui.app import POLL_SECONDS
from tests.tui.deck import add_entity, deck, make_key, write

if TYPE_CHECKING:
    from pathlib import Path


def test_the_brain_is_looked_at_often_enough_to_show_a_change_within_two_seconds() -> None:
    assert POLL_SECONDS <= 0.5


async def test_another_writer_is_noticed_and_the_cursor_stays(october: Path) -> None:
    async with deck(october) as d:
        await d.go_to("type:process")
        for number in range(40):
            add_entity(d.brain, f"ent_new_{number}", f"Repo {number}", "repository")
        await d.until(lambda: "192 live" in d.lines[0] and "▹ repository" in d.text)
        await d.settle()
        assert d.desk.question == "type:process"


async def test_a_repository_that_appears_is_ruled_on_signed_and_healed_by_keys(october: Path, user_dir: Path) -> None:
    make_key(october, user_dir)
    async with deck(october) as d:
        add_entity(d.brain, "ent_repo", "ct-tools", "repository")
        await d.until(
            lambda: d.app.session.queue is not None and d.app.session.queue.get("type:repository") is not None
        )
        await d.settle()
        await d.go_to("type:repository")
        await d.press("m")
        await d.type("software_app")
        await d.press("enter", "P", "a", "y")
        await d.until(lambda: "✓ Written" in d.text)
        await d.press("enter", "H")
        assert "ct-tools" in d.text
        assert "repository → software_application" in d.text
        await d.press("enter")
        assert "origin: " in d.paper
        assert "repository" in d.paper
        assert d.rows("SELECT entity_type FROM curated_entities WHERE id = 'ent_repo'") == [("software_application",)]


async def test_an_open_group_follows_the_brain_with_cursor_and_marks_on_their_rows(october: Path) -> None:
    async with deck(october) as d:
        await d.press("j", "l", "j", "space", "j")
        row = d.desk.row
        assert row is not None
        key, marks = row.key, set(d.desk.rows.marks)
        add_entity(d.brain, "ent_000000_first", "A new first agent", "agent")
        await d.until(lambda: "11 entities" in d.text or "  11" in d.text)
        await d.settle()
        assert d.desk.row is not None
        assert d.desk.row.key == key
        assert d.desk.rows.marks == marks
        assert "A new first agent" in d.text


async def test_a_row_that_vanishes_leaves_the_cursor_on_a_neighbour(october: Path) -> None:
    async with deck(october) as d:
        await d.go_to("type:component")
        write(d.brain, "UPDATE curated_entities SET entity_type = 'service' WHERE entity_type = 'component'")
        await d.until(lambda: d.app.session.queue is not None and d.app.session.queue.get("type:component") is None)
        await d.settle()
        assert d.desk.question == "type:process"


async def test_what_could_not_be_read_again_is_said_to_be_of_before_until_it_is_read(october: Path) -> None:
    async with deck(october) as d:
        d.do("ALTER TABLE curated_entities RENAME TO elsewhere")
        await d.until(lambda: "What is shown is of before" in d.text)
        await d.press("j", "Q", "g")
        assert "What is shown is of before" in d.text, "a key takes the line of a moment away, not this"
        assert "has no table curated_entities" in d.text
        d.do("ALTER TABLE elsewhere RENAME TO curated_entities")
        await d.until(lambda: "What is shown is of before" not in d.text)
        await d.settle()
        assert "152 live" in d.lines[0]


async def test_a_brain_that_is_deleted_is_said_and_found_again(october: Path, tmp_path: Path) -> None:
    aside = tmp_path / "aside"
    shutil.copytree(october, aside)
    async with deck(october) as d:
        for name in ("brain.db", "brain.db-wal", "brain.db-shm"):
            (october / name).unlink(missing_ok=True)
        await d.until(lambda: "The brain is gone" in d.text)
        await d.press("j", "m")
        assert d.front == "desk"
        assert "gone" in d.said
        shutil.copy(aside / "brain.db", october / "brain.db")
        await d.until(lambda: "The brain is gone" not in d.text)
        await d.settle()
        assert "152 live" in d.lines[0]


async def test_a_brain_that_is_replaced_is_said_and_shown(october: Path, tmp_path: Path) -> None:
    other = tmp_path / "restored.db"
    shutil.copy(october / "brain.db", other)
    write(other, "DELETE FROM curated_entities WHERE entity_type = 'agent'")
    async with deck(october) as d:
        os.replace(other, october / "brain.db")  # noqa: PTH105 - a restore, as another program does it
        await d.until(lambda: "142 live" in d.text)
        assert "replaced" in d.said


async def test_a_table_written_without_a_key_is_said_on_top(october: Path, user_dir: Path) -> None:
    make_key(october, user_dir)
    async with deck(october) as d:
        await d.press("j", "1", "enter")
        file = october / "aliases" / "rulings.yaml"
        file.write_text(file.read_text().replace('"role"', '"person"'))
        await d.until(lambda: "Nothing ruled acts" in d.text)
        await d.settle()
        await d.press("R")
        assert "✗ not trusted" in d.heading("rulings-head")
        assert "tampered" in d.text
        assert "Chain" in d.paper
        file.write_text("- v: 1\n\ttab: x\n")
        await d.until(lambda: "No entry can be shown" in d.text)
        assert "Nobody ruled on this brain yet" not in d.text


async def test_a_broken_config_is_said(october: Path) -> None:
    async with deck(october) as d:
        (october / "config.json").write_text("{")
        await d.until(lambda: "degraded" in d.text)
