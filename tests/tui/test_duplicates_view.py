"""Duplicates by keys: side by side, one thing or different things, piled up or one by one, healed and undone."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from ct_tui.domain.rulings import Except, Merge
from ct_tui.heal.workbench import Workbench
from ct_tui.policy.paths import resolve_places
from ct_tui.tui.screens.duplicates import DuplicatesScreen
from tests.tui.deck import NAMES, Deck, add_entity, deck, make_key, write

if TYPE_CHECKING:
    from pathlib import Path

    from ct_tui.domain.rulings import Body
    from ct_tui.tui.cases import Case

SIZES = [(120, 40), (80, 24)]


class Table:
    """The duplicates view on a running workstation, with its keys counted."""

    def __init__(self, d: Deck) -> None:
        self.d = d
        self.pressed = 0

    async def press(self, *keys: str) -> None:
        for key in keys:
            self.pressed += 1
            await self.d.pilot.press(NAMES.get(key, key))
            await self.rest()

    async def rest(self) -> None:
        """Wait until the names are compared."""
        await self.d.until(lambda: not self.d.app.comparing.running)
        await self.d.settle()

    @property
    def screen(self) -> DuplicatesScreen:
        found = next(s for s in self.d.app.screen_stack if isinstance(s, DuplicatesScreen))
        assert isinstance(found, DuplicatesScreen)
        return found

    @property
    def case(self) -> Case:
        case = self.screen.case
        assert case is not None, self.d.text
        return case

    def open_ones(self) -> list[Case]:
        return [case for case in self.screen._cases if self.screen._waits(case)]

    async def go_to(self, key: str) -> None:
        assert self.screen.rows.move_to_key(key), self.d.text
        await self.rest()

    def bodies(self) -> list[Body]:
        table = self.d.app.session.table
        assert table is not None
        return [e.ruling.body for e in table.entries if e.ruling is not None and e.valid]

    def redirects(self) -> dict[str, str]:
        return dict(self.d.rows("SELECT entity_id, merged_into FROM entity_redirects"))


async def opened(d: Deck) -> Table:
    table = Table(d)
    await table.press("D")
    assert d.front == "duplicates"
    table.pressed = 0
    return table


def heal(folder: Path) -> int:
    """Apply the plan as the plan view does, beside the workstation; the run's number."""
    with closing(Workbench(resolve_places(folder))) as bench:
        receipt = bench.apply(bench.plan(), by="tester")
        assert receipt.run is not None
        return receipt.run


def undo(folder: Path, run: int) -> None:
    with closing(Workbench(resolve_places(folder))) as bench:
        bench.apply(bench.undo_plan(run), by="tester")


async def test_56_rows_of_18_names_are_settled_with_at_most_two_keys_a_group(october: Path, user_dir: Path) -> None:
    make_key(october, user_dir)
    async with deck(october) as d:
        table = await opened(d)
        groups = table.open_ones()
        assert len(groups) == 18
        assert sum(len(case.ids) for case in groups) == 56
        wanted: dict[str, str] = {}
        while table.open_ones():
            case = table.case
            assert table.screen._waits(case), "the cursor went on to a group that still waits"
            wanted |= dict.fromkeys(case.ids[1:], case.ids[0])
            await table.press("1", "enter")
        assert table.pressed <= 2 * 18
        assert len(table.bodies()) == 18
        assert all(isinstance(body, Merge) for body in table.bodies())
        assert table.redirects() == {}, "a ruling alone writes nothing"
        await table.press("P")
        assert "38 redirects" in d.heading("plan-head")
        await table.press("a", "y")
        assert "38 duplicates redirected" in d.text
        await table.press("enter")
        assert table.redirects() == wanted
        assert len(wanted) == 56 - 18
        await table.press("N")
        assert "Redirects" in d.paper
        loser = next(one for case in groups for one in case.ids[1:] if one in wanted)
        assert f"{loser} ⇉ {wanted[loser]}" in d.paper
        await table.press("u")
        assert d.heading("plan-head").startswith("Undo of run 1")
        await table.press("a", "y")
        assert "38 merges taken back" in d.text
        assert table.redirects() == {}


@pytest.mark.parametrize("size", SIZES)
async def test_piled_up_decisions_are_signed_together_with_less_than_two_keys_a_group(
    october: Path, user_dir: Path, size: tuple[int, int]
) -> None:
    make_key(october, user_dir)
    async with deck(october, size) as d:
        table = await opened(d)
        await table.press("p")
        for at in range(18):
            await table.press("x" if at == 4 else "2" if at == 5 else "1")
        assert "none is left" in d.said
        assert table.bodies() == [], "nothing is signed before the pile is"
        await table.press("p")
        assert d.front == "PileDialog"
        assert "redirects in 17 groups" in d.text
        assert "1 group is kept apart for good" in d.text
        await table.press("enter")
        assert d.front == "duplicates"
        assert table.pressed == 21
        bodies = table.bodies()
        assert len(bodies) == 18
        apart = [body for body in bodies if isinstance(body, Except)]
        assert [body.rule for body in apart] == ["duplicate"]
        assert "18 decisions" in d.said
        assert table.open_ones() == []
        heal(october)
        kept = set(apart[0].focus)
        assert not kept & table.redirects().keys()
        reasons = {e.ruling.reason for e in d.app.session.table.entries if e.ruling}  # type: ignore[union-attr]
        assert len(reasons) == 18, "each carries its own reason"


async def test_a_decision_on_the_pile_can_be_taken_back_and_outlives_the_view(october: Path, user_dir: Path) -> None:
    make_key(october, user_dir)
    async with deck(october) as d:
        table = await opened(d)
        first = table.case.key
        await table.press("p", "2", "escape")
        assert d.front == "desk"
        assert "1 decision on duplicates not signed yet" in d.said
        await table.press("D")
        assert table.case.key != first, "what is on the pile waits no more"
        await table.go_to(first)
        assert "decided and not signed yet: → 2" in d.paper
        await table.press("p")
        assert d.front == "PileDialog"
        await table.press("escape")
        assert d.app.session.piled.keys() == {first}
        assert table.bodies() == []


async def test_members_stand_side_by_side_and_at_80_columns_one_under_the_other(october: Path) -> None:
    async with deck(october) as d:
        table = await opened(d)
        await table.go_to("duplicate:shared name 4")
        assert any(
            line.split("│")[-1].split() == ["1", "organization", "2", "review", "3", "document"] for line in d.lines
        )
        paper = d.paper
        for word in ("facts", "edges", "sources", "summary ≠", "id"):
            assert word in paper
        for member in table.case.ids:
            assert member in paper.replace("\n", "")
    async with deck(october, (80, 24)) as d:
        table = await opened(d)
        await table.go_to("duplicate:shared name 4")
        heads = [line for line in d.paper.split("\n") if " · " in line and "ent_" in line]
        assert len(heads) == 3, d.paper


async def test_x_keeps_them_apart_for_good_and_they_never_merge(october: Path, user_dir: Path) -> None:
    make_key(october, user_dir)
    async with deck(october) as d:
        table = await opened(d)
        await table.go_to("duplicate:shared name 1")
        ids = table.case.ids
        await table.press("x")
        assert "Different things" in d.text
        assert "no heal and no merge joins them" in d.text
        await table.press("enter")
        assert table.pressed == 2
        assert table.bodies() == [Except("duplicate", tuple(sorted(ids)))]
        assert all(case.key != "duplicate:shared name 1" for case in table.screen._cases)
        assert "1 kept apart" in d.heading("duplicates-head")
        assert not any(item.key == "shared name 1" for item in d.app.session.items())


async def test_the_loops_that_a_merge_makes_are_shown_before_it_is_signed(october: Path, user_dir: Path) -> None:
    make_key(october, user_dir)
    row = "SELECT id FROM curated_entities WHERE name = 'Tessera' ORDER BY id"
    async with deck(october) as d:
        ids = [i for (i,) in d.rows(row)]
    edge = "INSERT INTO llm_wiki_edges(id, entity_id, source_id, target_id, edge_type, created_at) VALUES ('e_loop', ?, ?, ?, 'knows', 1759276800000)"
    write(october / "brain.db", edge, ids[0], ids[0], ids[1])
    async with deck(october) as d:
        table = await opened(d)
        await table.go_to("duplicate:tessera")
        assert "1 edge between them becomes a loop" in d.paper
        assert "merging writes 4 redirects" in d.paper
        await table.press("1")
        assert "1 edges between them become loops: e_loop" in d.text
        assert "4 redirects" in d.text
        await table.press("escape")
        assert table.bodies() == []


async def test_groups_that_need_no_ruling_merge_behind_a_dialog_and_can_be_undone(
    october: Path, user_dir: Path
) -> None:
    brain = october / "brain.db"
    for entity_id in ("ent_b2", "ent_b1"):
        add_entity(brain, entity_id, "Quiet Harbour", "concept")
        write(brain, "UPDATE curated_entities SET summary = 'A port.' WHERE id = ?", entity_id)
    async with deck(october) as d:
        table = await opened(d)
        await table.press("a")
        assert "1 redirect; no fact and no edge moves" in d.text
        assert "quiet harbour" in d.text
        await table.press("enter")
        assert d.front == "duplicates", "enter on the chosen Cancel writes nothing"
        assert table.redirects() == {}
        await table.press("a", "y")
        assert "alias remap not run" in d.text, "heal comes first"
        assert table.redirects() == {}
        await table.press("enter")
        heal(october)
        await d.until(lambda: d.app.session.runs is not None and len(d.app.session.runs) == 1)
        await table.rest()
        await table.press("a", "y")
        assert "1 group merged" in d.text
        assert table.redirects() == {"ent_b2": "ent_b1"}
        await table.press("enter")
        run = max(r for (r,) in d.rows("SELECT id FROM ct_tui_run"))
        undo(october, run)
        assert table.redirects() == {}


async def test_near_names_are_shown_with_their_reasons_and_ruled_in_the_same_way(october: Path, user_dir: Path) -> None:
    make_key(october, user_dir)
    brain = october / "brain.db"
    add_entity(brain, "ent_n1", "Alexandra Lindqvist", "person")
    add_entity(brain, "ent_n2", "Alexandra Lindquist", "person")
    async with deck(october) as d:
        table = await opened(d)
        await table.go_to("near:ent_n1 ent_n2")
        assert "differ by a slip of the pen" in d.paper
        await table.press("2", "enter")
        assert table.bodies() == [Merge("ent_n2", ("ent_n1",))]
        ruling = d.app.session.table.entries[0].ruling  # type: ignore[union-attr]
        assert ruling is not None
        assert "slip of the pen" in ruling.reason
        heal(october)
        assert table.redirects() == {"ent_n1": "ent_n2"}


async def test_not_now_puts_a_group_last_for_the_session(october: Path) -> None:
    async with deck(october) as d:
        table = await opened(d)
        first = table.case.key
        await table.press("s")
        assert "Put off" in d.said
        assert table.case.key != first
        keys = [row.key for at in range(table.screen.rows.count) if (row := table.screen.rows.shown_row(at))]
        assert keys[-1] == first
        assert d.app.session.deferred == [first], "the queue puts it last, too"


async def test_a_member_beyond_the_ninth_is_chosen_by_opening_the_group(october: Path, user_dir: Path) -> None:
    make_key(october, user_dir)
    async with deck(october) as d:
        table = await opened(d)
        await table.go_to("duplicate:adrian")
        tenth = table.case.ids[9]
        await table.press("l")
        assert table.screen.rows.move_to_key(f"duplicate:adrian\x1f{tenth}")
        await table.rest()
        assert tenth in d.paper
        await table.press("m", "enter")
        body = table.bodies()[0]
        assert isinstance(body, Merge)
        assert body.survivor == tenth
        assert len(body.losers) == 9


async def test_a_disabled_key_says_why(october: Path) -> None:
    async with deck(october, read_only=True) as d:
        table = await opened(d)
        await table.press("1")
        assert d.front == "duplicates"
        assert "read-only" in d.said
    async with deck(october) as d:
        table = await opened(d)
        await table.press("a")
        assert "No group merges without a ruling" in d.said
        await table.go_to("duplicate:shared name 9")
        await table.press("7")
        assert "There is no 7: the group has 2 members." in d.said


async def test_keys_typed_into_the_filter_never_rule(october: Path, user_dir: Path) -> None:
    make_key(october, user_dir)
    async with deck(october) as d:
        table = await opened(d)
        await d.burst("/shared name 1\r")
        await table.rest()
        assert d.front == "duplicates"
        assert table.screen.rows.count == 6
        assert table.bodies() == []
        assert table.screen.rows.needle == "shared name 1"


async def test_a_burst_hits_the_group_under_the_cursor_at_each_key(october: Path, user_dir: Path) -> None:
    make_key(october, user_dir)
    async with deck(october) as d:
        table = await opened(d)
        first, second, third = (row.key for at in range(3) if (row := table.screen.rows.shown_row(at)))
        await d.burst("p121")
        await table.rest()
        assert {key: d.app.session.piled[key].digit for key in d.app.session.piled} == {first: 1, second: 2, third: 1}


async def test_the_queue_answers_duplicate_groups_with_the_same_keys(october: Path, user_dir: Path) -> None:
    make_key(october, user_dir)
    async with deck(october) as d:
        await d.go_to("duplicate:shared name 2")
        assert "3 entities of one name" in d.paper
        await d.press("2")
        assert d.front == "MergeDialog"
        await d.press("enter")
        table = Table(d)
        body = table.bodies()[0]
        assert isinstance(body, Merge)
        assert not any(i.id == "duplicate:shared name 2" for i in d.app.session.items()), "it waits for nobody now"
        await d.go_to("duplicate:shared name 3")
        await d.press("x", "enter")
        assert isinstance(table.bodies()[1], Except)
        await d.go_to("duplicate:shared name 5")
        await d.press(" ", " ")
        await d.press("1")
        assert d.front == "PileDialog", "several groups are signed together"
        await d.press("enter")
        assert len(table.bodies()) == 4
        await d.go_to("duplicate:shared name 12")
        await d.press("D")
        await table.rest()
        assert table.case.key == "duplicate:shared name 12"


async def test_names_that_look_like_markup_stay_text(october: Path) -> None:
    brain = october / "brain.db"
    name = "[/] [red]x \x1b]52;c;aGk=\x07 \u202e[@click=app.quit]ok[/]"
    for entity_id, kind in (("entity::9f/é 1", "concept"), ("[b]", "person")):
        add_entity(brain, entity_id, name, kind)
    async with deck(october) as d:
        table = await opened(d)
        case = next(c for c in table.screen._cases if "[b]" in c.ids)
        await table.go_to(case.key)
        assert "[red]x ␛]52;c;aGk=␇ ‹U+202E›[@click=app.quit]ok[/]" in d.paper.replace("\n", "")
        assert "\x1b" not in d.text
        await table.press("1")
        assert d.front == "MergeDialog"
        await table.press("escape")


async def test_another_writer_is_noticed_and_the_cursor_stays(october: Path) -> None:
    async with deck(october) as d:
        table = await opened(d)
        await table.go_to("duplicate:shared name 6")
        add_entity(october / "brain.db", "ent_a0", "Adrian", "person")
        await d.until(lambda: any("ent_a0" in case.ids for case in table.screen._cases))
        assert table.case.key == "duplicate:shared name 6"
        assert len(table.open_ones()) == 18


async def test_the_plan_shows_each_merge_with_its_ruling_and_opens_to_who_redirects(
    october: Path, user_dir: Path
) -> None:
    make_key(october, user_dir)
    async with deck(october) as d:
        table = await opened(d)
        await table.go_to("duplicate:shared name 4")
        ids = table.case.ids
        await table.press("1", "enter", "P")
        line = next(line for line in d.lines if "≡ Shared name 4" in line)
        assert "2 ⇉" in line
        assert "#1" in line
        assert "2 duplicates merged into" in d.paper
        assert "One thing: 3 entities are called “Shared name 4”" in d.paper
        await table.press("l", "l")
        assert d.app.screen.entity_id in ids[1:]  # type: ignore[attr-defined]
        assert f"leads to {ids[0]}" in d.paper
        await table.press("h", "h", "/")
        await d.type(ids[2])
        assert any("≡ Shared name 4" in line and "1 ⇉" in line for line in d.lines)
