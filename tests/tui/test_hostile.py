"""Names that a language model could write: shown as they are, inert, aligned, and never in the way."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

import pytest
from rich.cells import cell_len

from ct_tui.domain.rulings import Retype
from tests.tui.deck import add_entity, deck, make_key

if TYPE_CHECKING:
    from pathlib import Path

NAMES = (
    "[/",
    "[/]",
    "see [/etc/config]",
    "[red]x[/red]",
    "[live]",
    "[@click=app.quit]ok[/]",
    "\x1b]52;c;aGFja2Vk\x07",
    "\x1b]8;;http://example.org\x1b\\link\x1b]8;;\x1b\\",
    "\x9b2J",
    "nul\0bel\x07",
    "rtl\u202egnp.exe",
    "zero\u200bwidth\u2060\ufeff",
    "日本語テキスト",
    "مرحبا بالعالم",
    "👩\u200d👩\u200d👧\u200d👦 family",
    "⚙\ufe0f gear",
    "e" + "\u0301" * 60,
    "   ",
    "",
    "a\nb\tc",
    "$(rm -rf ~)",
)


async def test_hostile_names_are_shown_inert_and_aligned(october: Path) -> None:
    for number, name in enumerate(NAMES):
        add_entity(october / "brain.db", f"ent_{number:02} é/[x]", name, "weird [/]")
    async with deck(october, (120, 60)) as d:
        await d.go_to("type:weird [/]")
        await d.press("l")
        for at in range(len(NAMES)):
            await d.press("j")
            row = d.desk.row
            assert row is not None, at
        shown = d.text
        for char in "\x1b\x07\0\x9b\u202e\u200b\u2060\ufeff\u200d\ufe0f":
            assert char not in shown
        for sign in ("[@click=app.quit]ok[/]", "␛]52;c;", "‹U+202E›", "‹U+200B›", "‹blank", "[/etc/config]", "日本語"):
            assert sign in shown, sign
        for strip in d.app.screen._compositor.render_strips():
            assert sum(cell_len(segment.text) for segment in strip) == 120
        borders = {cell_len(line.split("│")[0]) for line in d.lines[1:-2] if "│" in line}
        assert len(borders) == 1, borders


async def test_markup_in_a_name_does_nothing_when_it_is_clicked(october: Path) -> None:
    add_entity(october / "brain.db", "ent_click", "[@click=app.quit]ok[/]", "clicky")
    async with deck(october) as d:
        await d.go_to("type:clicky")
        await d.press("l", "j")
        for y in range(1, 38, 2):
            for x in (8, 66):
                await d.pilot.click(offset=(x, y))
        await d.settle()
        assert d.app.is_running
        assert d.front == "desk"


async def test_hostile_labels_can_be_ruled_on_and_stay_what_they_are(october: Path, user_dir: Path) -> None:
    make_key(october, user_dir)
    for at, label in enumerate(("[/red]", "no", "\u202eevil", "аgent")):
        add_entity(october / "brain.db", f"ent_label_{at}", "x", label)
    async with deck(october) as d:
        for key in ("type:[/red]", "type:no", "type:\u202eevil", "type:аgent"):
            await d.go_to(key)
            await d.press("m")
            await d.type("concept")
            await d.press("enter")
            assert d.front == "desk", d.text
        await d.press("P")
        assert "4 changes" in d.heading("plan-head")
        await d.press("a", "y")
        await d.until(lambda: "✓ Written" in d.text)
        assert d.rows("SELECT DISTINCT entity_type FROM curated_entities WHERE id LIKE 'ent_label_%'") == [("concept",)]


@pytest.mark.parametrize("value", [b"\xff\xfe", 7, 1.5, None])
async def test_unreadable_types_are_shown_and_the_rest_goes_on(october: Path, value: object) -> None:
    with closing(sqlite3.connect(october / "brain.db")) as connection, connection:
        # Another host's table may take a NULL.
        connection.execute("PRAGMA writable_schema = 1")
        connection.execute(
            "UPDATE sqlite_master SET sql = replace(sql, 'entity_type TEXT NOT NULL', 'entity_type TEXT') "
            "WHERE name = 'curated_entities'"
        )
    add_entity(october / "brain.db", "ent_odd", "odd", value)
    async with deck(october) as d:
        assert "153 live" in d.lines[0]
        await d.press("C", "G")
        assert "document" in d.text


async def test_a_name_of_five_megabytes_stalls_nothing(october: Path) -> None:
    add_entity(october / "brain.db", "ent_huge", "e\u0301" * 2_500_000, "huge")
    async with deck(october) as d:
        await d.go_to("type:huge")
        await d.press("l", "j", "i", "escape", "k")
        assert d.desk.question == "type:huge"


async def test_the_evidence_stays_in_sight_below_a_monstrous_type_or_name(october: Path) -> None:
    add_entity(october / "brain.db", "ent_huge", "n" * 10_000, "t" * 10_000)
    async with deck(october, (80, 24)) as d:
        await d.go_to("type:" + "t" * 10_000)
        assert "Why it is here" in d.text
        assert "…" in d.text
        await d.press("l", "j", "enter")
        assert "Facts 0" in d.text
        await d.press("i", "G")
        assert "t" * 20 in d.text, "the raw row still shows it"


async def test_ids_that_are_no_identifiers_work(october: Path, user_dir: Path) -> None:
    make_key(october, user_dir)
    add_entity(october / "brain.db", "entity::9f/é 1", "Odd id", "odd")
    async with deck(october) as d:
        await d.go_to("type:odd")
        await d.press("l", "j", "r")
        await d.type("concept")
        await d.press("enter")
        table = d.app.session.table
        assert table is not None
        assert table.entries[0].ruling is not None
        assert table.entries[0].ruling.body == Retype(("entity::9f/é 1",), "odd", "concept")


async def test_a_pasted_reason_is_made_inert(october: Path, user_dir: Path) -> None:
    from textual import events

    make_key(october, user_dir)
    async with deck(october) as d:
        await d.press("x")
        d.app.post_message(events.Paste("seen\x1b[31m \u202ered"))
        await d.settle()
        await d.press("enter")
        table = d.app.session.table
        assert table is not None
        assert table.entries[0].ruling is not None
        assert table.entries[0].ruling.reason == "seen␛[31m ‹U+202E›red"


async def test_pasted_lines_stay_lines_however_the_terminal_ends_them(october: Path, user_dir: Path) -> None:
    from textual import events

    make_key(october, user_dir)
    async with deck(october) as d:
        await d.press("x")
        d.app.post_message(events.Paste("one\rtwo\r\nthree\nfour"))
        await d.settle()
        await d.press("enter")
        table = d.app.session.table
        assert table is not None
        assert table.entries[0].ruling is not None
        assert table.entries[0].ruling.reason == "one\ntwo\nthree\nfour"
