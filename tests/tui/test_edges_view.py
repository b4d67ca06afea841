"""The edges view: the matrix against an independent count, drilling down, repairs by keys, down to no violation."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pytest

from ct_tui.tui.screens.edges import EdgesScreen
from tests.heal.test_edges import plain_count
from tests.tui.deck import Deck, add_entity, deck, make_key, write

if TYPE_CHECKING:
    from pathlib import Path

    from ct_tui.heal.edge_matrix import DeskCell

SIGNS = {"exact": "✓ exact", "parent": "↑ by parent", "violating": "✗ violating", "undeclared_type": "∉ undeclared"}


def view(d: Deck) -> EdgesScreen:
    """The edges view."""
    found = next(screen for screen in reversed(d.app.screen_stack) if isinstance(screen, EdgesScreen))
    assert isinstance(found, EdgesScreen)
    return found


def cells(d: Deck) -> list[DeskCell]:
    """The matrix shown, in its order."""
    return list(view(d).cells)


async def go_to(d: Deck, *names: str) -> None:
    """Put the cursor on a kind of edge: source type, edge name, target type."""
    source, name, target = names
    cell = next(c for c in cells(d) if c.names == (name, source, target))
    assert view(d).rows.move_to_key(f"{cell.names!r} {cell.cell.state.value}")
    await d.settle()


def add_edge(brain: Path, edge_id: Any, name: Any, source: str, target: str) -> None:
    """Write an edge as the librarian would."""
    write(brain, "INSERT INTO llm_wiki_edges VALUES (?, ?, ?, ?, ?, 1)", edge_id, source, source, target, name)


def rulings(d: Deck) -> list[dict[str, Any]]:
    """The signed rulings, as far as their own fields go."""
    from ct_tui.heal.workbench import Workbench
    from ct_tui.policy.paths import resolve_places

    with Workbench(resolve_places(d.folder)) as bench:
        return [{"kind": r.kind.value, **r.body.fields()} for r in bench.table().valid()]


@pytest.mark.parametrize("size", [(120, 40), (80, 24)])
async def test_the_matrix_is_what_an_independent_count_says(
    october: Path, user_dir: Path, size: tuple[int, int]
) -> None:
    async with deck(october, size) as d:
        await d.press("E")
        states, counted = plain_count(d.brain)
        shown = {(*c.names, c.cell.state.value): c.cell.count for c in cells(d)}
        assert shown == dict(counted)
        for state, words in (("violating", "violating"), ("exact", "exact"), ("parent", "by parent")):
            assert f"{states[state]} {words}" in d.text
        assert f"{states['undeclared_type']} undeclared edge type" in d.text
        assert "0 dangling" in d.text
        assert "0 undetermined" in d.text
        assert "0 shielded" in d.text
        for state in {c.cell.state.value for c in cells(d)[:7]}:
            assert SIGNS[state] in d.text


async def test_worst_cells_come_first_and_the_cursor_begins_on_the_worst(october: Path, user_dir: Path) -> None:
    async with deck(october) as d:
        await d.press("E")
        ranks = [c.cell.state.conforms for c in cells(d)]
        assert ranks == sorted(ranks)
        bad = [c.cell.count for c in cells(d) if c.cell.state.value == "violating"]
        assert bad == sorted(bad, reverse=True)
        cell = view(d).cell
        assert cell is not None
        assert cell.names == ("hasRole", "person", "agent")


async def test_one_edge_shows_its_ends_facts_quotes_signatures_and_reasons(october: Path, user_dir: Path) -> None:
    async with deck(october) as d:
        await d.press("E", "enter")
        edge = view(d).edges[0]
        ends = d.rows("SELECT source_id, target_id FROM llm_wiki_edges WHERE id = ?", edge.edge.id)[0]
        names = [d.rows("SELECT name FROM curated_entities WHERE id = ?", end)[0][0] for end in ends]
        fact = d.rows("SELECT body FROM llm_wiki_entries WHERE entity_id = ? AND deleted_at IS NULL", ends[0])
        for name in names:
            assert name in d.paper
        assert any(body in d.paper for (body,) in fact)
        assert "“" in d.paper
        assert "Signatures of hasRole" in d.paper
        assert "✓ person → ✗ role" in d.paper
        assert "the target is agent, where role is asked for; nobody declared that type" in d.paper
        assert "✗ 26 → 25" in d.paper
        await d.press("enter")
        assert view(d).in_detail
        await d.press("escape", "h", "h")
        assert view(d).row is not None
        assert not view(d).row.is_open  # type: ignore[union-attr]


async def test_violations_go_to_zero_by_rulings_from_the_keyboard(october: Path, user_dir: Path) -> None:
    make_key(october, user_dir)
    async with deck(october) as d:
        await d.press("E")
        before, _ = plain_count(d.brain)
        said = before["violating"]
        steps = 0
        while any(c.open and c.cell.state.value == "violating" for c in cells(d)):
            await d.press("g", "j", "1")
            assert d.front == "RepairDialog"
            line = next(line for line in d.lines if re.search(r"▸ 1 ", line))
            now, then = (int(n) for n in re.findall(r"✗ (\d+) → (\d+)", line)[0])
            assert now == said
            assert then < now
            await d.press("enter")
            found = view(d).map
            assert found is not None
            assert found.after.violating == then, "what the dialog promised is what the plan now does"
            assert plain_count(d.brain)[0] == before, "nothing is written before the plan is applied"
            said = then
            steps += 1
            assert steps < 20
        assert said == 0
        assert f"{before['violating']} → 0 violating" not in d.text
        await d.press("t")
        assert f"{before['violating']} → 0 violating" in d.text
        await d.press("P", "a", "y")
        await d.until(lambda: "✓ Written" in d.text)
        await d.press("enter")
        after, cells_after = plain_count(d.brain)
        assert after["violating"] == 0
        assert sum(after.values()) == sum(before.values()) - (
            before["exact"] + before["violating"] - before["exact"] - before["violating"]
        )
        await d.press("E")
        assert {(*c.names, c.cell.state.value): c.cell.count for c in cells(d)} == dict(cells_after)
        assert "0 violating" in d.text


async def test_undoing_the_run_brings_every_edge_back(october: Path, user_dir: Path) -> None:
    make_key(october, user_dir)
    async with deck(october) as d:
        edges = d.rows("SELECT * FROM llm_wiki_edges ORDER BY id")
        await d.press("E")
        await go_to(d, "person", "hasRole", "agent")
        await d.press("4")
        assert "keep" in d.text
        await d.press("3", "enter")
        assert rulings(d)[0]["repair"] == "drop"
        await d.press("P", "a", "y")
        await d.until(lambda: "✓ Written" in d.text)
        await d.press("enter")
        assert len(d.rows("SELECT * FROM llm_wiki_edges")) == len(edges) - 7
        await d.press("N")
        assert d.paper.count("drop") == 7
        assert "─hasRole→" in d.paper
        await d.press("u", "a", "y")
        await d.until(lambda: "✓ Written" in d.text)
        assert d.rows("SELECT * FROM llm_wiki_edges ORDER BY id") == edges


async def test_marked_edges_of_a_kind_are_kept_with_one_ruling(october: Path, user_dir: Path) -> None:
    make_key(october, user_dir)
    async with deck(october) as d:
        await d.press("E", "enter", "space", "space")
        ids = sorted(row.subject.edge.id for row in view(d).rows.marked())  # type: ignore[attr-defined]
        assert len(ids) == 2
        await d.press("x")
        assert "2 edges" in d.text
        await d.press("enter")
        [ruling] = rulings(d)
        assert ruling["repair"] == "keep"
        assert sorted(ruling["edges"]) == ids
        cell = next(c for c in cells(d) if c.names == ("hasRole", "person", "agent"))
        assert (cell.cell.count, cell.open, cell.kept) == (7, 5, 2)
        assert "26 violating" in d.text
        await d.press("g", "j", "enter")
        await d.press("1")
        assert d.front == "RepairDialog" or "keeps it" in d.said


async def test_a_range_and_all_of_a_kind_are_marked(october: Path, user_dir: Path) -> None:
    make_key(october, user_dir)
    async with deck(october) as d:
        await d.press("E", "enter", "v", "j", "j", "v")
        assert len(view(d).rows.marks) == 3
        await d.press("*")
        assert len(view(d).rows.marks) == 7
        await d.press("1")
        assert "7 edges" in d.text
        assert "retype every" not in d.text, "marked edges are about just their own ends"
        await d.press("enter")
        [ruling] = rulings(d)
        assert ruling["kind"] == "retype"
        targets = d.rows("SELECT DISTINCT target_id FROM llm_wiki_edges WHERE edge_type = 'hasRole' AND target_id IN "
                         "(SELECT id FROM curated_entities WHERE entity_type = 'agent')")  # fmt: skip
        assert sorted(ruling["entities"]) == sorted(t for (t,) in targets)
        assert (ruling["from"], ruling["to"]) == ("agent", "role")


async def test_now_and_after_the_plan(october: Path, user_dir: Path) -> None:
    make_key(october, user_dir)
    async with deck(october) as d:
        await d.press("E")
        await go_to(d, "person", "hasRole", "agent")
        await d.press("1", "enter")
        await go_to(d, "person", "hasRole", "agent")
        assert "After the plan" in d.paper
        assert "→ ✓ exact" in d.text
        assert "◉ now" in d.text
        await d.press("t")
        assert "◉ after the plan" in d.text
        cell = view(d).cell
        assert cell is not None
        assert cell.names == ("hasRole", "person", "role")
        assert "26 → 19 violating" in d.text
        await d.press("t")
        assert view(d).cell is not None
        assert "26 violating" in d.text


async def test_a_type_is_declared_with_the_signatures_that_it_joins(october: Path, user_dir: Path) -> None:
    make_key(october, user_dir)
    async with deck(october) as d:
        await d.press("E")
        await go_to(d, "person", "hasRole", "agent")
        await d.press("+")
        assert d.front == "DeclareDialog"
        await d.type("A program that acts")
        assert "+7 become valid" in d.text
        await d.press("tab", "tab", "tab")
        await d.press("j", "space")
        assert "+10 become valid" in d.text
        await d.press("tab")
        await d.type("We keep agents")
        await d.press("enter")
        [ruling] = rulings(d)
        assert ruling["kind"] == "legalize"
        assert sorted(ruling["edges"]) == [["hasRole", "person", "agent"], ["knows", "agent", "person"]]
        await d.press("P", "a", "y")
        await d.until(lambda: "✓ Written" in d.text)
        manifest = json.loads(
            d.rows("SELECT manifest_json FROM llm_wiki_entity_manifests WHERE entity_id = 'tier_fact'")[0][0]
        )
        triples = [(e["type"], e["source_type"], e["target_type"]) for e in manifest["edge_types"]]
        joined = [triple for triple in triples if "agent" in triple[1:]]
        assert sorted(joined) == [("hasRole", "person", "agent"), ("knows", "agent", "person")]
        assert plain_count(d.brain)[0]["violating"] == 16


async def test_a_question_of_the_queue_is_answered_from_its_own_keys(october: Path, user_dir: Path) -> None:
    make_key(october, user_dir)
    async with deck(october) as d:
        await d.go_to("edge:document supersedes document")
        assert "retype every document to creativework" in d.paper
        await d.press("1")
        assert d.front == "RepairDialog"
        assert "✗ 26 → 15" in d.text
        await d.press("enter")
        assert rulings(d) == [{"kind": "alias", "from": "document", "to": "creativework"}]
        await d.go_to("edge:agent knows person")
        await d.press("x")
        assert "keep" in next(line for line in d.lines if "▸" in line and "keep" in line)
        await d.press("enter")
        assert [r.get("repair") for r in rulings(d)] == [None, "keep"]
        assert all(item.id != "edge:agent knows person" for item in d.app.session.items())


async def test_the_view_opens_on_what_the_queue_asks_about(october: Path, user_dir: Path) -> None:
    async with deck(october) as d:
        await d.go_to("edge:design_spec specifies component")
        await d.press("E")
        cell = view(d).cell
        assert cell is not None
        assert cell.names == ("specifies", "design_spec", "component")


async def test_shielded_edges_are_marked_and_never_repaired(october: Path, user_dir: Path) -> None:
    make_key(october, user_dir)
    agent = "(SELECT target_id FROM llm_wiki_edges WHERE edge_type = 'hasRole' ORDER BY rowid DESC LIMIT 1)"
    write(october / "brain.db", f"INSERT INTO ct_entity_optouts VALUES ({agent}, 'left alone', 1)")
    async with deck(october) as d:
        await d.press("E")
        assert "1 shielded" in d.text or "2 shielded" in d.text
        await go_to(d, "person", "hasRole", "agent")
        cell = view(d).cell
        assert cell is not None
        assert cell.open == cell.cell.count - cell.cell.shielded
        await d.press("l", "G")
        while not (view(d).edges and view(d).edges[0].edge.shielded):
            await d.press("k")
        assert "◇" in next(line for line in d.lines if "▸" in line)
        assert "it is opted out: no gate runs" in d.paper
        await d.press("1")
        assert d.front == "edges"
        assert "opted out or off" in d.said
        assert rulings(d) == []


async def test_a_filter_narrows_the_kinds(october: Path, user_dir: Path) -> None:
    async with deck(october) as d:
        await d.press("E", "/")
        await d.type("x1a")
        assert view(d).rows.count == 0
        assert rulings(d) == []
        await d.press("escape", "/")
        await d.type("author")
        await d.press("enter")
        assert view(d).rows.count == 2
        await d.press("escape")
        assert view(d).rows.count == len(cells(d)) + 1


async def test_thousands_of_edges_of_one_kind_are_read_in_pages(october: Path, user_dir: Path) -> None:
    brain = october / "brain.db"
    for n in range(30):
        add_entity(brain, f"ent_a{n:02}", f"Agent {n:02}", "agent")
        add_entity(brain, f"ent_p{n:02}", f"Person {n:02}", "person")
    for n in range(30):
        for m in range(30):
            add_edge(brain, f"edge_x{n:02}{m:02}", "knows", f"ent_a{n:02}", f"ent_p{m:02}")
    async with deck(october) as d:
        await d.press("E")
        await go_to(d, "agent", "knows", "person")
        await d.press("l", "j")
        store = view(d)._stores[False]
        members = store.known(view(d).row.key.partition("\x1f")[0])  # type: ignore[union-attr]
        assert members is not None
        assert len(members.rows) == 200
        assert view(d).rows.count == len(cells(d)) + 1 + 903
        last = view(d).rows.all_rows.find(f"{view(d).cell.names!r} violating")  # type: ignore[union-attr]
        assert last is not None
        view(d).rows.move_to(last + 903)
        await d.until(lambda: members.done)
        await d.settle()
        assert len(members.rows) == 903
        assert view(d).edges[0].edge.id == "edge_x2929"
        assert "Agent 29" in d.paper
        assert "Person 29" in d.paper


async def test_after_the_plan_a_kind_lists_the_edges_that_end_up_in_it(october: Path, user_dir: Path) -> None:
    make_key(october, user_dir)
    person, firm = (
        "(SELECT MIN(id) FROM curated_entities WHERE entity_type = 'person')",
        ("(SELECT MAX(id) FROM curated_entities WHERE entity_type = 'organization')"),
    )
    write(october / "brain.db", f"INSERT INTO llm_wiki_edges SELECT 'edge_x', {person}, {person}, {firm}, 'knows', 1")
    async with deck(october) as d:
        await d.press("E")
        await go_to(d, "person", "knows", "organization")
        assert "rename to worksFor" in d.paper
        before = next(c for c in cells(d) if c.names == ("worksFor", "person", "organization")).cell.count
        await d.press("1")
        while "rename to worksFor" not in next(line for line in d.lines if re.search(r"▸ \d ", line)):
            await d.press("j")
        await d.press("enter")
        assert rulings(d) == [
            {"kind": "edge", "repair": "rename", "edges": ["edge_x"], "to": "worksFor",
             "triple": ["knows", "person", "organization"]}
        ]  # fmt: skip
        await d.press("t")
        await go_to(d, "person", "worksFor", "organization")
        cell = view(d).cell
        assert cell is not None
        assert cell.cell.count == before + 1
        await d.press("l", "j", "G")
        members = view(d)._stores[True].known(f"{cell.names!r} exact")
        assert members is not None
        assert "edge_x" in {row.edge.id for row in members.rows}
        assert len(members.rows) == before + 1


async def test_hostile_names_are_shown_as_written(october: Path, user_dir: Path) -> None:
    brain = october / "brain.db"
    add_entity(brain, "ent_x1", "[/] \x1b]52;c;AAAA\x07 name", "[@click=app.quit]agent[/]")
    add_entity(brain, "ent_x2", "plain", "person")
    add_edge(brain, "edge_x", "[red]knows[/", "ent_x1", "ent_x2")
    add_edge(brain, "edge_y\x1f1", "knows", "ent_x1", "ent_x2")
    async with deck(october) as d:
        await d.press("E")
        found = [c for c in cells(d) if c.cell.source_type == "[@click=app.quit]agent[/]"]
        assert {c.names[0] for c in found} == {"[red]knows[/", "knows"}
        await go_to(d, "[@click=app.quit]agent[/]", "knows", "person")
        await d.press("enter")
        assert view(d).edges[0].edge.id == "edge_y\x1f1"
        assert "[/] ␛]52;c;AAAA" in d.paper
        assert "\x1b" not in d.text
        await go_to(d, "[@click=app.quit]agent[/]", "[red]knows[/", "person")
        assert "[red]knows[/" in d.paper


async def test_a_brain_without_edges_says_so(october: Path, user_dir: Path) -> None:
    write(october / "brain.db", "DELETE FROM llm_wiki_edges")
    async with deck(october) as d:
        await d.press("E")
        assert "This brain has no edges." in d.text
        await d.press("enter", "l", "1", "x", "t", "}", "y")
        assert d.front == "edges"


async def test_what_cannot_be_done_says_why(october: Path, user_dir: Path) -> None:
    async with deck(october) as d:
        await d.press("E")
        await go_to(d, "person", "worksFor", "organization")
        await d.press("1")
        assert "Nothing is open here" in d.said
        await d.press("+")
        assert "No type at the ends waits to be declared" in d.said
        await d.press("g", "x")
        assert "Put the cursor on a kind of edge" in d.said
    async with deck(october, read_only=True) as d:
        await d.press("E", "1")
        assert "read-only" in d.said


async def test_the_trend_has_gaps_for_nights_without_a_run(october: Path, user_dir: Path) -> None:
    make_key(october, user_dir)
    async with deck(october) as d:
        await d.press("E", "1", "enter", "P", "a", "y")
        await d.until(lambda: "✓ Written" in d.text)
        await d.press("enter")
    brain = october / "brain.db"
    day = 86_400
    write(brain, "INSERT INTO ct_tui_run SELECT NULL, kind, at - ?, by, status, retyped, recased, legalized, queued, conflicts, "
          "edges, plan_digest || 'x', rulings_seq, rulings_hash, policy, undoes, undone_by, backup, "
          "json_set(numbers, '$.edges.violating', 26) FROM ct_tui_run", 3 * day)  # fmt: skip
    async with deck(october) as d:
        await d.press("E")
        trend = next(line for line in d.lines if "by night" in line)
        assert re.search(r"▕█  [▁▂▃▄▅▆▇]▏", trend), trend


async def test_another_writer_leaves_the_cursor_where_it_was(october: Path, user_dir: Path) -> None:
    async with deck(october) as d:
        await d.press("E")
        await go_to(d, "agent", "knows", "person")
        d.do("INSERT INTO llm_wiki_edges SELECT 'edge_new', source_id, source_id, target_id, 'hasRole', 1 FROM llm_wiki_edges "
             "WHERE edge_type = 'knows' LIMIT 1")  # fmt: skip
        await d.until(lambda: any(c.cell.edge_type == "hasRole" and c.cell.count == 1 for c in cells(d)))
        await d.settle()
        cell = view(d).cell
        assert cell is not None
        assert cell.names == ("knows", "agent", "person")


async def test_keys_that_come_in_one_burst_never_sign_twice(october: Path, user_dir: Path) -> None:
    make_key(october, user_dir)
    async with deck(october) as d:
        await d.press("E")
        await d.burst("11\r\r\r")
        await d.press("escape")
        assert len(rulings(d)) <= 1
        await d.press("1")
        await d.burst("\r\r\r")
        assert len(rulings(d)) <= 2


async def test_the_looking_keys_show_what_is_behind_an_edge(october: Path, user_dir: Path) -> None:
    async with deck(october) as d:
        await d.press("E", "w")
        assert "Put the cursor on an entity first" in d.said
        await d.press("enter", "i")
        edge = view(d).edges[0].edge
        assert d.front == "ReadingDialog"
        assert "llm_wiki_edges" in d.text
        assert edge.id in d.text
        assert "hasRole" in d.text
        await d.press("escape", "w")
        assert "Why, for either end" in d.text
        assert edge.source_name in d.text
        assert "rung 4" in d.text
        await d.press("escape", "o")
        assert d.front == "PickDialog" or "Opened" in d.said or "No passage" in d.said
