"""The plan and the one key that writes: counts, the dialog, progress, stopping, the receipt, undo."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ct_tui.domain.rulings import Alias, Legalize
from ct_tui.tui.dialogs.apply import ConfirmDialog, rows_of
from ct_tui.tui.screens.plan import PlanScreen
from tests.tui.deck import Deck, add_entity, deck, make_key, write

if TYPE_CHECKING:
    from pathlib import Path

FOUNDING = (
    Alias("agent", "role"),
    Alias("component", "service"),
    Alias("software", "document"),
    Legalize("document", "A written artefact.", None, ("seed-family",)),
    Legalize("process", "A way of working.", None, ("seed-family",)),
)


def rule(folder: Path, user_dir: Path, *bodies: Alias | Legalize) -> None:
    """Sign rulings before the workstation opens."""
    from ct_tui.heal.workbench import Workbench
    from ct_tui.policy.paths import resolve_places

    make_key(folder, user_dir)
    with Workbench(resolve_places(folder)) as bench:
        bench.rule_all([(body, "For the test.") for body in bodies])


async def test_the_mission_from_the_keyboard(october: Path, user_dir: Path) -> None:
    async with deck(october) as d:
        await d.press("f", "enter")
        await d.type("ada@example.org")
        await d.press("enter", "P")
        assert "20 changes" in d.heading("plan-head")
        assert "2 declarations" in d.heading("plan-head")
        await d.press("a")
        assert d.front == "ConfirmDialog"
        assert "20 entities get another type" in d.text
        await d.press("y")
        await d.until(lambda: "✓ Written" in d.text)
        assert "20 retyped" in d.text
        await d.press("enter")
        assert d.types() == {
            **{kind: count for kind, count in d.types().items() if kind not in {"agent", "software", "component"}}
        }
        assert (d.types()["role"], d.types()["service"], d.types()["document"]) == (12, 9, 37)
        origins = d.rows("SELECT original_type, reason, COUNT(*) FROM entity_type_origin GROUP BY 1, 2 ORDER BY 3 DESC")
        assert origins == [
            ("agent", "alias_retype", 10),
            ("software", "alias_retype", 7),
            ("component", "alias_retype", 3),
        ]
        assert d.rows("SELECT COUNT(*) FROM ct_tui_type_change") == [(20,)]
        await d.press("H")
        assert d.desk.rows.count == 20
        assert "agent → role" in d.text
        await d.press("enter")
        assert "Time line" in d.paper
        assert "minted" in d.paper
        await d.press("escape", "P")
        assert "Nothing to do" in d.text or "0 changes" in d.heading("plan-head")


async def test_cancel_has_the_keyboard_and_the_opening_key_does_not_confirm(october: Path, user_dir: Path) -> None:
    rule(october, user_dir, Alias("agent", "role"))
    async with deck(october) as d:
        await d.press("P", "a", "enter")
        assert d.front == "plan"
        assert d.types()["agent"] == 10
        await d.burst("aaaa")
        assert d.front == "ConfirmDialog"
        assert d.types()["agent"] == 10
        await d.press("escape")
        await d.press("a", "right", "enter")
        await d.until(lambda: "✓ Written" in d.text)
        assert "agent" not in d.types()


async def test_above_a_hundred_rows_the_number_is_typed(october: Path, user_dir: Path) -> None:
    for number in range(120):
        add_entity(october / "brain.db", f"ent_more_{number:03}", f"Agent {number}", "agent")
    rule(october, user_dir, Alias("agent", "role"))
    async with deck(october) as d:
        await d.press("P", "a")
        assert isinstance(d.app.screen, ConfirmDialog)
        await d.press("enter")
        assert "Nothing was written" in d.text
        await d.type("y")
        assert d.front == "ConfirmDialog"
        await d.press("backspace")
        await d.type("130")
        await d.press("enter")
        assert d.types()["agent"] == 130, "the manifests that are extended are rows too"
        for _ in range(3):
            await d.press("backspace")
        await d.type(str(rows_of(d.app.screen.plan)))
        await d.press("enter")
        await d.until(lambda: "✓ Written" in d.text)
        assert "agent" not in d.types()


async def test_esc_stops_between_chunks_and_the_same_plan_goes_on(october: Path, user_dir: Path) -> None:
    many(october, 20_000)
    rule(october, user_dir, Alias("agent", "role"))
    async with deck(october) as d:
        await d.press("P", "a")
        assert isinstance(d.app.screen, ConfirmDialog)
        await d.burst(f"{rows_of(d.app.screen.plan)}\r\x1b")
        await d.until(lambda: "■ Stopped" in d.text or "✓ Written" in d.text)
        await d.settle()
        left = d.types().get("agent", 0)
        done = 20_010 - left
        assert d.rows("SELECT COUNT(*) FROM ct_tui_type_change") == [(done,)]
        assert d.rows("SELECT COUNT(*) FROM entity_type_origin") == [(done,)]
        assert left, "a stop right after the beginning leaves rows"
        await d.press("enter")
        await d.until(lambda: d.heading("plan-head").startswith(f"Plan{left:,} changes"))
        await d.press("a")
        assert isinstance(d.app.screen, ConfirmDialog)
        await d.type(str(rows_of(d.app.screen.plan)))
        await d.press("enter")
        await d.until(lambda: "✓ Written" in d.text)
        assert "agent" not in d.types()


async def test_a_run_is_undone_with_its_own_plan_and_dialog(october: Path, user_dir: Path) -> None:
    rule(october, user_dir, *FOUNDING)
    async with deck(october) as d:
        await apply(d)
        await d.press("N")
        assert "20 retyped" in d.text
        assert "in the queue" in d.text
        await d.press("u")
        assert "Undo of run 1" in d.heading("plan-head")
        assert "20 changes" in d.heading("plan-head")
        await d.press("a")
        assert "This undoes run 1" in d.text
        await d.press("y")
        await d.until(lambda: "✓ Written" in d.text)
        await d.press("enter")
        assert (d.types()["agent"], d.types()["software"], d.types()["component"]) == (10, 7, 3)
        assert "Nothing is left to undo of run 1" in d.text
        assert "heal would change nothing" not in d.text
        await d.press("P")
        assert "Plan20 changes" in d.heading("plan-head"), "its rulings still act"
        await d.press("escape", "N", "G", "u")
        assert "undone by run 2 already" in d.said


async def test_an_undo_says_before_it_is_written_that_its_rulings_still_act(october: Path, user_dir: Path) -> None:
    rule(october, user_dir, *FOUNDING)
    async with deck(october) as d:
        await apply(d)
        await d.press("N", "u")
        assert "rulings #1, #2, #3 still act" in d.paper


async def test_the_cursor_stays_on_its_change_when_others_write(october: Path, user_dir: Path) -> None:
    rule(october, user_dir, Alias("agent", "role"))
    async with deck(october) as d:
        await d.press("P", "l")
        await d.press("j", "j", "j")
        screen = d.app.screen
        assert isinstance(screen, PlanScreen)
        held = screen.entity_id
        first = d.rows("SELECT id FROM curated_entities WHERE entity_type = 'agent' ORDER BY rowid LIMIT 1")[0][0]
        assert first != held
        d.do("UPDATE curated_entities SET deleted_at = 1 WHERE id = ?", first)
        await d.until(lambda: "Plan9 changes" in d.heading("plan-head"))
        await d.settle()
        assert screen.entity_id == held


async def test_a_row_that_moved_meanwhile_is_a_conflict_and_said(october: Path, user_dir: Path) -> None:
    rule(october, user_dir, Alias("agent", "role"))
    async with deck(october) as d:
        await d.press("P", "a")
        (entity,) = d.rows("SELECT id FROM curated_entities WHERE entity_type = 'agent' LIMIT 1")
        d.do("UPDATE curated_entities SET entity_type = 'person' WHERE id = ?", entity[0])
        await d.press("y")
        await d.until(lambda: "Written" in d.text or "Not written" in d.text)
        assert d.rows("SELECT entity_type FROM curated_entities WHERE id = ?", entity[0]) == [("person",)]


async def test_an_empty_plan_says_so_and_cannot_be_applied(october: Path) -> None:
    async with deck(october) as d:
        await d.press("P")
        assert "0 changes · 5 manifests" in d.heading("plan-head")
        await d.press("escape")
        await apply(d)
        assert "0 changes" in d.heading("plan-head")
        await d.press("a")
        assert d.front == "plan"
        assert "The plan is empty" in d.said


async def test_streams_open_to_single_changes_with_their_authority(october: Path, user_dir: Path) -> None:
    rule(october, user_dir, *FOUNDING)
    async with deck(october) as d:
        await d.press("P")
        assert "ruling #1 agent → role" in d.paper
        await d.press("l", "j")
        assert "− agent" in d.paper
        assert "+ role" in d.paper
        assert "For the test." in d.paper
        await d.press("h", "h")
        await d.press("/")
        await d.type("ripgrep")
        await d.press("enter")
        assert "Ripgrep" in d.text
        assert "Librarian" not in d.text


async def test_the_whole_history_can_be_reached(october: Path, user_dir: Path) -> None:
    many(october, 1_200)
    rule(october, user_dir, Alias("agent", "role"))
    async with deck(october) as d:
        await d.press("P", "a")
        assert isinstance(d.app.screen, ConfirmDialog)
        await d.type(str(rows_of(d.app.screen.plan)))
        await d.press("enter")
        await d.until(lambda: "✓ Written" in d.text)
        await d.press("enter", "H")
        assert "and older" in d.heading("history-head")
        for _ in range(4):
            await d.press("G")
        assert d.desk.rows.count == 1_210
        assert "1,210 changes" in d.heading("history-head")
        assert "older" not in d.heading("history-head")
        row = d.desk.row
        assert row is not None
        add_entity(d.brain, "ent_late", "late", "later")
        await d.until(lambda: "1,353 live" in d.lines[0])
        await d.settle()
        assert d.desk.rows.count == 1_210
        assert d.desk.row is not None
        assert d.desk.row.key == row.key


async def apply(d: Deck) -> None:
    """Apply the plan with the keys."""
    await d.press("P", "a", "y")
    await d.until(lambda: "✓ Written" in d.text)
    await d.press("enter")
    await d.counted()


def many(folder: Path, count: int) -> None:
    """Many entities of one undeclared type."""
    write(
        folder / "brain.db",
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?) "
        "INSERT INTO curated_entities(id, name, entity_type, summary, created_at, updated_at) "
        "SELECT printf('ent_many_%06d', i), 'Agent ' || i, 'agent', '', 1, 1 FROM n",
        count,
    )
