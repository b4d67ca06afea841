"""The desk: what it lands on, how one moves, what is beside the question, and what it does in little room."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from ct_tui.tui.messages import CensusRead
from tests.tui.deck import add_entity, deck

if TYPE_CHECKING:
    from pathlib import Path


async def test_it_lands_on_the_first_undecided_question_with_its_evidence(october: Path) -> None:
    async with deck(october) as d:
        assert d.desk.rows.id == "queue"
        assert d.desk.question == "type:document"
        assert "30 entities" in d.paper
        assert "Why it is here" in d.paper
        assert "Runbook" in d.paper
        assert "Line 4 of note 20" in d.paper
        assert "53 of 152 undeclared" in d.heading("census-head")


async def test_all_panes_are_there_on_a_wide_terminal(october: Path) -> None:
    async with deck(october) as d:
        for words in ("Census", "Queue", "History", "Question", "? keys", "document", "✓ declared", "? undeclared"):
            assert words in d.text


async def test_moving_keys(october: Path) -> None:
    async with deck(october) as d:
        await d.press("j", "down", "k")
        assert d.desk.question == "type:agent"
        await d.press("G")
        assert d.desk.rows.at == d.desk.rows.count - 1
        await d.press("g")
        assert d.desk.rows.at == 0
        await d.press("ctrl+d")
        half = d.desk.rows.at
        assert half > 1
        await d.press("ctrl+u")
        assert d.desk.rows.at == 0


async def test_tab_goes_through_the_panes_and_capitals_open_them(october: Path) -> None:
    async with deck(october) as d:
        await d.press("C")
        assert d.desk.front == "census"
        await d.press("tab")
        assert d.desk.front == "queue"
        await d.press("tab", "tab")
        assert d.desk.in_detail
        await d.press("escape", "H")
        assert d.desk.front == "history"
        await d.press("Q")
        assert d.desk.front == "queue"


async def test_a_group_opens_to_its_entities_and_their_evidence(october: Path) -> None:
    async with deck(october) as d:
        await d.press("j", "l", "j")
        row = d.desk.row
        assert row is not None
        assert row.depth == 1
        assert "Facts" in d.paper
        assert "Edges" in d.paper
        assert d.desk.question == "type:agent"
        await d.press("h")
        assert d.desk.row is not None
        assert d.desk.row.key == "type:agent"
        before = d.desk.rows.count
        await d.press("h")
        assert d.desk.rows.count == before - 10


async def test_every_entity_of_a_census_type_can_be_reached(october: Path) -> None:
    for number in range(450):
        add_entity(october / "brain.db", f"ent_many_{number:04}", f"Thing {number}", "thing")
    async with deck(october) as d:
        await d.press("C", "g", "l")
        count = d.desk.rows.count
        assert count >= 450
        seen = d.desk.rows.all_rows
        assert seen.row(300) is None
        d.desk.rows.move_to(450)
        await d.settle()
        assert all(seen.row(at) is not None for at in range(1, 451))
        assert d.desk.row is not None
        assert d.desk.row.depth == 1


async def test_braces_go_to_undecided_questions_and_pass_over_those_put_off(october: Path) -> None:
    async with deck(october) as d:
        await d.press("s")
        assert "Put off" in d.said
        assert d.desk.question == "type:agent"
        await d.press("}")
        assert d.desk.question == "type:software"
        await d.press("{", "{")
        assert d.desk.question != "type:document"
        assert d.desk.rows.at == d.desk.rows.count - 2
        await d.press("G")
        assert d.desk.question == "type:document"
        assert "put off for this session" in d.paper
        assert d.table == ""


async def test_the_filter_narrows_and_its_keys_only_type(october: Path) -> None:
    async with deck(october) as d:
        await d.press("/")
        await d.type("agax?+1")
        assert d.front == "desk"
        assert d.desk.rows.needle == "agax?+1"
        assert d.desk.rows.count == 0
        for _ in range(5):
            await d.press("backspace")
        assert d.desk.rows.needle == "ag"
        await d.press("enter")
        assert d.desk.rows.has_focus
        narrowed = d.desk.rows.count
        await d.press("n", "n")
        assert d.desk.rows.at == 2
        await d.press("N")
        assert d.desk.rows.at == 1
        assert d.front == "desk"
        await d.press("escape")
        assert d.desk.rows.count > narrowed
        assert d.table == ""


async def test_a_filter_that_leaves_no_row_says_so_and_not_that_nothing_waits(october: Path) -> None:
    async with deck(october) as d:
        await d.press("/")
        await d.type("nobody is called so")
        assert "No row holds what the filter looks for" in d.text
        assert "Nothing is waiting for you" not in d.text
        await d.press("escape")
        assert d.desk.rows.count == 37


async def test_a_filter_that_is_kept_stays_in_sight(october: Path) -> None:
    async with deck(october, (80, 24)) as d:
        await d.press("/")
        await d.type("agent")
        await d.press("enter")
        assert f"/agent {d.desk.rows.count} of 37" in d.text
        await d.press("escape")
        assert "/agent" not in d.text


async def test_a_mark_of_all_says_what_it_could_not_mark_yet(october: Path) -> None:
    with closing(sqlite3.connect(october / "brain.db")) as db, db:
        rows = [(f"ent_g{number:04}", f"G {number}", "group") for number in range(450)]
        statement = "INSERT INTO curated_entities(id, name, entity_type, created_at, updated_at) VALUES (?, ?, ?, 1, 1)"
        db.executemany(statement, rows)
    async with deck(october) as d:
        await d.press("g", "l", "j", "*")
        assert len(d.desk.rows.marks) == 200
        assert "250 of this group are not" in d.said


async def test_what_a_finding_is_about_need_be_no_entity(october: Path) -> None:
    """A fact may belong to a tier: its group has fewer entities than were counted, and none is waited for for ever."""
    async with deck(october) as d:
        await d.go_to("finding:fact-confidence")
        assert "Evidence 4 findings · L shows each" in d.paper
        rows = d.desk.rows
        await d.press("l")
        assert all(rows.row_at(at) is not None for at in range(rows.count))


async def test_without_a_filter_capital_n_opens_the_nights(october: Path) -> None:
    async with deck(october) as d:
        await d.press("N")
        assert d.front == "nights"
        await d.press("escape")
        assert d.front == "desk"


async def test_marks_ranges_and_all(october: Path) -> None:
    async with deck(october) as d:
        await d.press("space", "space")
        assert d.desk.rows.marks == {"type:document", "type:agent"}
        await d.press("v", "j", "j", "v")
        assert len(d.desk.rows.marks) == 5
        assert "5 marks" in d.text
        await d.press("escape")
        assert not d.desk.rows.marks
        await d.press("*")
        assert len(d.desk.rows.marks) == d.desk.rows.count
        await d.press("*")
        assert not d.desk.rows.marks


async def test_zoom_gives_a_pane_all_the_room_and_back(october: Path) -> None:
    async with deck(october) as d:
        await d.press("z")
        assert "Question" not in d.text
        assert "Census 53" not in d.text
        await d.press("z", "enter", "z")
        assert "Queue" not in d.lines[1]
        assert "What it could be" in d.text
        await d.press("escape", "escape")
        assert "Census" in d.text


async def test_narrow_terminals_show_one_pane_at_a_time(october: Path) -> None:
    async with deck(october, (80, 24)) as d:
        assert "C Census" in d.lines[1]
        assert "▌Q Queue" in d.lines[1]
        assert "document" in d.lines[2]
        assert "What it could be" in d.text
        assert "? keys" in d.lines[-1]
        await d.press("H")
        assert "▌H History" in d.lines[1]
        assert "No type was changed here yet." in d.text


async def test_sixty_columns_keep_the_question_and_its_answer_in_sight(october: Path) -> None:
    async with deck(october, (60, 20)) as d:
        assert "document" in d.text
        assert "What it could be" in d.text
        assert all(len(line) <= 60 for line in d.lines)


async def test_too_small_is_said(october: Path) -> None:
    async with deck(october, (39, 9)) as d:
        assert "Too small" in d.text
        assert "Queue" not in d.text
        await d.resize(120, 40)
        assert "Too small" not in d.text
        assert "Queue" in d.text


async def test_resizing_in_a_dialog_never_crashes(october: Path) -> None:
    async with deck(october, (200, 60)) as d:
        await d.press("m")
        for size in ((20, 5), (1, 1), (60, 20), (39, 40), (80, 9), (200, 60)):
            await d.resize(*size)
        assert d.front == "MapDialog"
        assert "Reason" in d.text


async def test_help_and_palette_come_from_the_registry(october: Path) -> None:
    async with deck(october) as d:
        await d.press("?")
        assert d.front == "ReadingDialog"
        assert "Take that suggestion" in d.text
        await d.press("escape", "ctrl+p")
        assert d.front == "PaletteDialog"
        await d.type("rulings")
        await d.press("enter")
        await d.settle()
        assert d.front == "rulings"


async def test_a_key_that_cannot_act_says_why(october: Path) -> None:
    async with deck(october, read_only=True) as d:
        assert "read-only" in d.lines[0]
        await d.press("m")
        assert d.front == "desk"
        assert "read-only" in d.said
    async with deck(october) as d:
        await d.press("C", "G", "x")
        assert d.front == "desk"
        assert "Nothing is asked here" in d.said


async def test_a_key_of_another_view_or_state_says_where_it_acts(october: Path) -> None:
    async with deck(october) as d:
        await d.press("n")
        assert "n does nothing here.  next match while a filter is set" in d.said
        await d.press("R", "m")
        assert "m does nothing here.  map in Q" in d.said
        await d.press("a")
        assert "apply in P" in d.said
        assert "sweep in D" in d.said


async def test_why_raw_and_copy(october: Path) -> None:
    async with deck(october) as d:
        await d.press("j", "l", "j", "w")
        assert d.front == "ReadingDialog"
        assert "The ladder, rung by rung" in d.text
        await d.press("escape", "i")
        assert "entity_type" in d.text
        assert "agent" in d.text
        await d.press("escape", "y")
        assert "Copied" in d.said
        assert d.app.clipboard.startswith("ent_")


async def test_an_empty_brain_says_what_comes_next(october: Path) -> None:
    from tests.tui.deck import write

    for table in ("curated_entities", "llm_wiki_edges", "llm_wiki_entries", "curated_proposals"):
        write(october / "brain.db", f"DELETE FROM {table}")
    async with deck(october) as d:
        assert "Nothing is waiting for you" in d.text
        assert "every type is declared" in d.text


async def test_no_brain_is_said_with_a_remedy(tmp_path: Path) -> None:
    folder = tmp_path / "nowhere"
    folder.mkdir()
    async with deck(folder) as d:
        assert "✗" in d.text
        assert "brain" in d.text
        await d.press("m")
        assert d.front == "desk"
        assert not (folder / "brain.db").exists()


@pytest.mark.parametrize("view", ["E", "O", "D"])
async def test_a_result_that_arrives_while_the_screens_are_taken_down_is_dropped(october: Path, view: str) -> None:
    async with deck(october) as d:
        await d.press(view)
        report, screen = d.app.session.report, d.app.screen
        assert report is not None
        # As when the program ends: the screen loses its widgets, and stands in the stack until all screens have.
        await d.app._prune(screen)
        d.app.post_message(CensusRead(report))
