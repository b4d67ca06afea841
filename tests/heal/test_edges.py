"""Edges of real brains: counted, planned, repaired and turned back, against counts written out plainly here."""

from __future__ import annotations

import json
import sqlite3
import threading
from collections import Counter
from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from ct_tui.brain.connection import Brain
from ct_tui.brain.edges import EdgeReader, Mark, Scope
from ct_tui.domain.edges import EdgeState, End, Liveness, Rulebook, Signatures, Triple
from ct_tui.domain.errors import BadInput, BrainError, StalePlan
from ct_tui.domain.manifest import EdgeType, NodeType, Vocabulary
from ct_tui.domain.plan import EdgeEffect
from ct_tui.domain.queue import ItemKind
from ct_tui.domain.redirects import Redirects
from ct_tui.domain.rulings import Alias, EdgeRepair, Keep, Legalize, Merge, Repair, Retype, Revoke

if TYPE_CHECKING:
    from pathlib import Path

    from ct_tui.domain.edges import EdgeCounts
    from ct_tui.domain.plan import Progress
    from tests.heal.lab import Lab
    from tests.policy.brains import Case

STATES = ("exact", "parent", "violating", "undetermined", "undeclared_type", "dangling")


def plain_count(db: Path) -> tuple[Counter[str], Counter[tuple[str, Any, Any, str]]]:
    """Conformance by the rule as the format states it, row by row, with nothing of the program."""
    with closing(sqlite3.connect(db)) as connection:
        connection.text_factory = lambda raw: raw.decode("utf-8", "replace")
        text = connection.execute("SELECT manifest_json FROM llm_wiki_entity_manifests WHERE entity_id = 'tier_fact'")
        manifest = json.loads(text.fetchone()[0])
        entities = {
            i: (t, d) for i, t, d in connection.execute("SELECT id, entity_type, deleted_at FROM curated_entities")
        }
        others: dict[Any, tuple[Any, Any]] = {}
        for table in ("llm_wiki_entries", "llm_wiki_tasks"):
            others.update(
                {i: (t, d) for i, t, d in connection.execute(f"SELECT id, okf_type, deleted_at FROM {table}")}
            )
        merged = dict(connection.execute("SELECT entity_id, merged_into FROM entity_redirects"))
        edges = connection.execute("SELECT edge_type, source_id, target_id FROM llm_wiki_edges").fetchall()
    parents = {n["type"].lower(): (n.get("parent_type") or "").lower() for n in manifest["node_types"]}
    states: Counter[str] = Counter()
    cells: Counter[tuple[str, Any, Any, str]] = Counter()
    for name, *ids in edges:
        types: list[Any] = []
        live = True
        for i in ids:
            rows = [r for r in (entities.get(i), others.get(i)) if r is not None and r[1] is None]
            live = live and bool(rows)
            end = i
            while end in merged:
                end = merged[end]
            is_entity = bool(rows) and rows[0] is entities.get(i)
            kind = entities.get(end, (None,))[0] if is_entity else rows[0][0] if rows else None
            types.append(kind if kind and kind.strip() else None)
        definitions = [e for e in manifest["edge_types"] if e["type"].lower() == name.lower()]
        state = "undetermined"
        if not live:
            state = "dangling"
        elif not definitions:
            state = "undeclared_type"
        elif all(types):
            state = "violating"
            low = [t.strip().lower() for t in types]
            for e in definitions:
                wanted = [e["source_type"].lower(), e["target_type"].lower()]
                if low == wanted:
                    state = "exact"
                elif all(t == w or parents.get(t) == w for t, w in zip(low, wanted, strict=True)) and state != "exact":
                    state = "parent"
        states[state] += 1
        cells[(name, *types, state)] += 1
    return states, cells


def assert_counted(lab: Lab, *, after_plan: bool = False) -> dict[str, Any]:
    """The report equals the plain count; gives the report."""
    states, cells = plain_count(lab.db)
    with lab.bench() as bench:
        document = bench.edges(after_plan=after_plan).as_json()
        listed = bench.edges(list_=True, after_plan=after_plan).as_json()
    assert {s: document[s] for s in STATES} == {s: states[s] for s in STATES}
    assert document["edges"] == sum(states.values())
    matrix = {(c["edge_type"], c["source_type"], c["target_type"], c["state"]): c["count"] for c in document["matrix"]}
    assert matrix == dict(cells)
    assert sum(v["count"] for v in document["violations"]) == states["violating"]
    assert len(listed["violations"]) == states["violating"]
    return document


def edges_table(lab: Lab) -> list[tuple[Any, ...]]:
    return lab.case.rows("SELECT * FROM llm_wiki_edges ORDER BY id")


def test_october_before_and_after_heal_and_undo(october_lab: Lab, either_way: str) -> None:
    lab = october_lab
    before = assert_counted(lab)
    assert [before[s] for s in ("edges", *STATES)] == [64, 32, 4, 26, 0, 2, 0]
    lab.found()
    with lab.bench() as bench:
        foreseen = bench.edges(after_plan=True).as_json(), bench.edges(after_plan=True, list_=True).as_json()
        plan = bench.plan(effect=True)
        assert bench.plan().edges is None
        assert bench.edges().as_json() == before
    assert plan.edges == EdgeEffect(gained=10, broken=0, still_violating=16)
    report = lab.heal()
    assert report.retyped == 20
    after = assert_counted(lab)
    assert after["violating"] == 16
    with lab.bench() as bench:
        assert (bench.edges().as_json(), bench.edges(list_=True).as_json()) == foreseen
        assert bench.runs()[0].numbers["edges"]["violating"] == 16
        assert bench.runs()[0].numbers["edges"]["exact"] == 42
    assert report.run is not None
    with lab.bench() as bench:
        # The types go back and the legalised stay, so what the heal gained is lost.
        assert bench.undo_plan(report.run, effect=True).edges == EdgeEffect(gained=0, broken=10, still_violating=16)
    lab.undo(report.run)
    again = assert_counted(lab)
    assert [again[s] for s in STATES] == [before[s] for s in STATES]


def test_each_flow_of_the_plan_and_each_entity_says_what_it_does(october_lab: Lab) -> None:
    lab = october_lab
    lab.found()
    with lab.bench() as bench:
        assert bench.flows() == {
            ("agent", "role"): EdgeEffect(7, 0, 3),
            ("component", "service"): EdgeEffect(3, 0, 0),
            ("software", "document"): EdgeEffect(0, 0, 2),
        }
        plan = bench.plan()
        effects = bench.view().edges.entity_effects([c.entity for c in plan.changes])
    assert sum(e.gained for e in effects.values()) == 10
    assert sum(e.still_violating for e in effects.values()) == 5
    assert set(effects) == {c.entity for c in plan.changes}


PREFERRED = ("rename", "reverse", "widen", "retype every")


def test_a_curator_brings_the_violations_to_zero_by_rulings(october_lab: Lab) -> None:
    lab = october_lab
    lab.found()
    seen = 0
    while True:
        with lab.bench() as bench:
            items = [i for i in bench.queue().items if i.kind is ItemKind.EDGE]
            if not items:
                assert bench.edges(after_plan=True).counts.violating == 0
                break
            item = items[0]
            choice = next(s.type for s in item.suggestions if s.type.startswith(PREFERRED))
            bodies = bench.settle(item, choice)
            gained = 0
            for body in bodies:
                bench.check(body)
                gained += bench.impact(body).gained
            assert gained == item.count
            assert sum(i.count for i in items) == bench.edges(after_plan=True).counts.violating
        lab.rule(*bodies)
        seen += 1
        assert seen < 10
    report = lab.heal()
    assert report.error is None
    assert assert_counted(lab)["violating"] == 0
    assert lab.heal().edges == 0


def test_every_suggestion_of_every_question_can_be_signed(october_lab: Lab) -> None:
    with october_lab.bench() as bench:
        items = [i for i in bench.queue().items if i.kind is ItemKind.EDGE]
        assert sum(i.count for i in items) == 26
        assert [i.count for i in items] == sorted((i.count for i in items), reverse=True)
        for item in items:
            assert item.why
            assert item.why_not
            assert len(item.data["edges"]) == item.count
            assert {e.id for e in bench.edges_of(item)} == set(item.data["edges"])
            for suggestion in item.suggestions:
                for body in bench.settle(item, suggestion.type):
                    bench.check(body)
                    assert bench.impact(body).gained <= item.count + 7
            with pytest.raises(BadInput):
                bench.settle(item, "no such suggestion")


# A small brain with everything in it

NODES = (
    ("person", None), ("organization", None), ("role", None), ("service", None), ("creativework", None),
    ("handoff", "creativework"), ("document", None), ("concept", None),
)  # fmt: skip
DEFINED = (
    ("knows", "person", "person"),
    ("worksFor", "person", "organization"),
    ("memberOf", "person", "organization"),
    ("hasRole", "person", "role"),
    ("author", "creativework", "person"),
    ("supersedes", "creativework", "creativework"),
)


def manifest(nodes: Any = NODES, edges: Any = DEFINED) -> dict[str, Any]:
    return {
        "node_types": [{"type": n, "description": "", **({"parent_type": p} if p else {})} for n, p in nodes],
        "edge_types": [
            {"type": e[0], "source_type": e[1], "target_type": e[2]} if isinstance(e, tuple) else e for e in edges
        ],
        "fallback_node_type": "concept",
    }


@pytest.fixture
def small(lab: Lab) -> Lab:
    """A strict brain with one entity of each declared type, `agent` among them, and no edges."""
    lab.case.manifest("tier_fact", manifest())
    for name, _ in NODES:
        lab.case.entity(name, name)
    for n in range(3):
        lab.case.entity(f"agent{n}", "agent")
    return lab


@pytest.fixture(params=["few", "many"])
def either_way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Ends that are no live entities are looked up one by one, or all put into the table first."""
    monkeypatch.setattr("ct_tui.brain.edge_ends.FEW", {"few": 1.0, "many": -1.0}[request.param])
    return str(request.param)


def edge(case: Case, edge_id: Any, source: Any, name: Any, target: Any, anchor: Any = "x", at: Any = 1_000) -> None:
    case.run("INSERT INTO llm_wiki_edges VALUES (?, ?, ?, ?, ?, ?)", edge_id, anchor, source, target, name, at)


def counts(lab: Lab, *, after_plan: bool = False) -> EdgeCounts:
    with lab.bench() as bench:
        return bench.edges(after_plan=after_plan).counts


def state_of(lab: Lab) -> dict[str, str]:
    """The state of each edge by id."""
    with lab.bench() as bench:
        lens = bench.view().edges
        with bench.brain.snapshot() as db:
            return {e.row.id: lens.now.state(e.triple).value for e in lens.reader(db).where(lambda _: True)}


def test_every_kind_of_end(small: Lab, either_way: str) -> None:
    case = small.case
    case.entity("gone", "person")
    case.run("UPDATE curated_entities SET deleted_at = 5 WHERE id = 'gone'")
    case.entity("blank", "  ")
    case.entity("odd", "person")
    case.run("UPDATE curated_entities SET entity_type = ? WHERE id = 'odd'", b"\xff\xfe")
    case.entity("variant", " Person ")
    case.fact("fact_person", "person", None)
    case.run("UPDATE llm_wiki_entries SET okf_type = 'Person' WHERE id = 'fact_person'")
    case.fact("fact_untyped", "person", None)
    case.fact("fact_gone", "person", None)
    case.run("UPDATE llm_wiki_entries SET okf_type = 'person', deleted_at = 5 WHERE id = 'fact_gone'")
    case.run(
        "INSERT INTO llm_wiki_tasks (id, entity_id, description, created_at, updated_at, okf_type) "
        "VALUES ('task', 'person', 'd', 1, 1, 'organization')"
    )
    edge(case, "exact", "person", "knows", "person")
    edge(case, "case", "variant", "KNOWS", "person")
    edge(case, "fact", "fact_person", "worksfor", "task")
    edge(case, "child", "handoff", "author", "person")
    edge(case, "children", "handoff", "supersedes", "creativework")
    edge(case, "wrong", "person", "hasRole", "agent0")
    edge(case, "null", "fact_untyped", "knows", "person")
    edge(case, "blank", "blank", "knows", "person")
    edge(case, "odd", "person", "knows", "odd")
    edge(case, "free", "person", "related_to", "person")
    edge(case, "half", "person", "knows", "gone")
    edge(case, "half_missing", "nobody", "knows", "person")
    edge(case, "dead", "gone", "related_to", "fact_gone")
    assert state_of(small) == {
        "exact": "exact", "case": "exact", "fact": "exact", "child": "parent", "children": "parent",
        "wrong": "violating", "null": "undetermined", "blank": "undetermined", "odd": "undetermined",
        "free": "undeclared_type", "half": "dangling", "half_missing": "dangling", "dead": "dangling",
    }  # fmt: skip
    found = counts(small)
    assert (found.half_live, found.archived, found.missing, found.loops) == (2, 2, 1, 2)
    with small.bench() as bench:
        by_id = {e.id: e.state for e in bench.entity("person").edges}
    assert by_id["half"] == "dangling"
    assert by_id["wrong"] == "violating"


def test_a_live_row_in_another_table_keeps_an_end_alive(small: Lab, either_way: str) -> None:
    case = small.case
    case.entity("twin", "person")
    case.run("UPDATE curated_entities SET deleted_at = 5 WHERE id = 'twin'")
    case.fact("twin", "person", None)
    case.run("UPDATE llm_wiki_entries SET okf_type = 'person' WHERE id = 'twin'")
    edge(case, "e1", "twin", "knows", "person")
    assert state_of(small) == {"e1": "exact"}


def test_merged_ids_have_the_type_of_their_survivor(small: Lab, either_way: str) -> None:
    case = small.case
    for name in ("loser", "middle", "ring_a", "ring_b"):
        case.entity(name, "agent")
    case.redirect("loser", "middle")
    case.redirect("middle", "person")
    case.redirect("ring_a", "ring_b")
    case.redirect("ring_b", "ring_a")
    edge(case, "e1", "loser", "knows", "middle")
    edge(case, "e2", "ring_a", "knows", "person")
    edge(case, "e3", "person", "hasRole", "agent0")
    assert state_of(small) == {"e1": "exact", "e2": "undetermined", "e3": "violating"}
    small.rule(Alias("agent", "role"))
    assert counts(small, after_plan=True).exact == 2
    small.heal()
    assert state_of(small) == {"e1": "exact", "e2": "undetermined", "e3": "exact"}


def test_rows_that_are_no_text_are_counted_and_never_written(small: Lab, either_way: str) -> None:
    case = small.case
    edge(case, None, "person", "hasRole", "agent0")
    edge(case, b"\xff", "person", "hasRole", "agent1")
    edge(case, "blob_end", "person", "knows", b"person")
    edge(case, "blob_name", "person", b"\xffknows", "person")
    edge(case, "text_time", "person", "hasRole", "agent2", at="soon")
    edge(case, "missing_text", "person", "hasRole", b"agent2")
    found = counts(small)
    assert (found.edges, found.violating, found.dangling, found.undeclared_type) == (6, 3, 2, 1)
    before = case.rows("SELECT quote(id), source_id, quote(edge_type) FROM llm_wiki_edges")
    small.rule(EdgeRepair(Repair.DROP, ("text_time", "�", "NULL")))
    report = small.heal()
    assert report.edges == 0
    assert any("not readable text" in n for n in report.notes)
    assert case.rows("SELECT quote(id), source_id, quote(edge_type) FROM llm_wiki_edges") == before


@pytest.mark.parametrize(
    ("edges", "expected"),
    [
        (["knows", "hasRole"], {"e1": "undetermined", "e2": "undetermined", "e3": "undeclared_type"}),
        ([{"type": "knows", "source_type": "person"}], {"e1": "undetermined", "e2": "undeclared_type", "e3": "undeclared_type"}),
        ([{"type": "hasRole", "target_type": "person"}, 7, None, {"type": " "}, "author"],
         {"e1": "undeclared_type", "e2": "violating", "e3": "undetermined"}),
        ([], {"e1": "undeclared_type", "e2": "undeclared_type", "e3": "undeclared_type"}),
    ],
)  # fmt: skip
def test_manifests_of_strings_and_without_ends(small: Lab, edges: list[Any], expected: dict[str, str]) -> None:
    small.case.manifest("tier_fact", manifest(edges=edges))
    edge(small.case, "e1", "person", "knows", "person")
    edge(small.case, "e2", "person", "hasRole", "agent0")
    edge(small.case, "e3", "handoff", "author", "person")
    assert state_of(small) == expected


def test_an_own_strict_row_judges_the_edges_of_its_cluster(small: Lab, either_way: str) -> None:
    case = small.case
    case.entity("own", "agent")
    case.entity("lost", "agent")
    case.redirect("lost", "own")
    case.manifest("own", manifest(edges=[("knows", "agent", "person"), ("hasRole", "person", "role")]))
    case.manifest("tier_wisdom", {"node_types": ["concept"], "edge_types": [], "fallback_node_type": "concept"})
    case.fact("wise", "tier_wisdom", None)
    case.run("UPDATE llm_wiki_entries SET okf_type = 'person' WHERE id = 'wise'")
    edge(case, "e1", "own", "knows", "person")
    edge(case, "e2", "lost", "knows", "person")
    edge(case, "e3", "agent0", "knows", "person")
    edge(case, "e4", "wise", "knows", "person")
    assert state_of(small) == {"e1": "exact", "e2": "exact", "e3": "violating", "e4": "exact"}


def test_what_the_app_spares_is_shielded_and_no_question(small: Lab, either_way: str) -> None:
    case = small.case
    case.entity("cluster", "agent")
    case.redirect("cluster", "agent1")
    case.opt_out("cluster")
    case.fact("fact", "agent1", None)
    case.run("UPDATE llm_wiki_entries SET okf_type = 'agent' WHERE id = 'fact'")
    edge(case, "open", "person", "hasRole", "agent0")
    for name, target in (("s1", "agent1"), ("s2", "cluster"), ("s3", "fact")):
        edge(case, name, "person", "hasRole", target)
    found = counts(small)
    assert (found.violating, found.shielded, found.shielded_violating) == (4, 3, 3)
    (item,) = small.items(ItemKind.EDGE)
    assert item.count == 1
    assert item.data["edges"] == ["open"]
    with small.bench() as bench:
        with pytest.raises(BadInput, match="shielded"):
            bench.check(EdgeRepair(Repair.DROP, ("s2",)))
        bench.check(EdgeRepair(Repair.KEEP, ("s2",)))
        assert bench.impact(Alias("agent", "role")).gained == 1
    small.rule(EdgeRepair(Repair.DROP, ("open", "s1", "s2", "s3")))
    report = small.heal()
    assert report.edges == 1
    assert [r[0] for r in edges_table(small)] == ["s1", "s2", "s3"]
    assert any("shielded" in n for n in report.notes)


def test_ends_in_a_folder_that_is_off_are_shielded(small: Lab) -> None:
    case = small.case
    case.write_config({"vault_path": "/vault", "ingest": {"folder_ontology": {"private": "off"}}})
    case.document("/vault/private/a.md", "a" * 32)
    case.fact("f1", "agent1", json.dumps({"evidence": [{"content_hash": "a" * 32, "quote": "q"}]}))
    edge(case, "open", "person", "hasRole", "agent0")
    edge(case, "off", "person", "hasRole", "agent1")
    found = counts(small)
    assert (found.violating, found.shielded_violating) == (2, 1)
    assert [i.count for i in small.items(ItemKind.EDGE)] == [1]


def test_a_host_that_is_off_shields_everything(small: Lab) -> None:
    small.case.write_config({"ingest": {"ontology_default": "off"}})
    edge(small.case, "e1", "person", "hasRole", "agent0")
    found = counts(small)
    assert (found.violating, found.shielded) == (1, 1)
    assert small.items(ItemKind.EDGE) == []


# Repairs


def repaired(lab: Lab, *bodies: EdgeRepair) -> int:
    """Sign, heal, and give the run."""
    with lab.bench() as bench:
        for body in bodies:
            bench.check(body)
    lab.rule(*bodies)
    with lab.bench() as bench:
        foreseen = bench.edges(after_plan=True).as_json(), bench.edges(after_plan=True, list_=True).as_json()
    report = lab.heal()
    assert report.error is None
    assert report.run is not None
    with lab.bench() as bench:
        assert (bench.edges().as_json(), bench.edges(list_=True).as_json()) == foreseen
    return report.run


@pytest.mark.parametrize(
    ("body", "row"),
    [
        (EdgeRepair(Repair.RENAME, ("e1",), "WORKSFOR"), ("e1", "x", "organization", "person", "worksFor", 1_000)),
        (EdgeRepair(Repair.REVERSE, ("e1",)), ("e1", "x", "person", "organization", "memberOf", 1_000)),
        (EdgeRepair(Repair.DROP, ("e1",)), None),
        (EdgeRepair(Repair.KEEP, ("e1",)), ("e1", "x", "organization", "person", "memberOf", 1_000)),
    ],
)
def test_a_repair_is_written_kept_in_history_and_undone(
    small: Lab, body: EdgeRepair, row: tuple[Any, ...] | None
) -> None:
    edge(small.case, "e1", "organization", "memberOf", "person")
    edge(small.case, "loop", "agent0", "knows", "agent0")
    before = edges_table(small)
    run = repaired(small, body)
    assert edges_table(small) == [r for r in (row, before[1]) if r is not None]
    history = small.case.rows('SELECT run, edge, kind, before, after, ruling, "by" FROM ct_tui_edge_change')
    if body.repair is Repair.KEEP:
        assert history == []
        assert [i.data["edges"] for i in small.items(ItemKind.EDGE)] == [["loop"]]
        return
    assert len(history) == 1
    assert history[0][:3] == (run, "e1", body.repair.value)
    assert json.loads(history[0][3])["source_id"] == "organization"
    assert (history[0][4] is None) == (row is None)
    assert history[0][5:] == (1, "tester")
    with small.bench() as bench:
        assert bench.runs()[0].edges == 1
    assert small.heal().edges == 0
    with small.bench() as bench:
        effect = bench.undo_plan(run, effect=True).edges
    assert effect is not None
    mended = body.repair is Repair.REVERSE
    assert effect == EdgeEffect(broken=int(mended), still_violating=2 - int(mended))
    receipt = small.undo(run)
    assert receipt.edges == 1
    assert edges_table(small) == before
    with small.bench() as bench:
        assert bench.runs()[0].undoes == run
        assert bench.runs()[0].numbers["edges"]["violating"] == 2
        assert bench.runs()[-1].numbers["edges"]["violating"] == (2 if body.repair is Repair.RENAME else 1)
    assert small.heal().edges == 1


def test_a_dropped_loop_leaves_the_count_of_loops(small: Lab) -> None:
    edge(small.case, "loop", "agent0", "knows", "agent0")
    repaired(small, EdgeRepair(Repair.DROP, ("loop",)))
    assert counts(small).loops == 0


def test_a_signature_is_widened_in_the_manifest(small: Lab) -> None:
    edge(small.case, "e1", "document", "author", "person")
    with small.bench() as bench:
        body = EdgeRepair(Repair.WIDEN, triple=("AUTHOR", "Document", "person"))
        assert bench.impact(body).gained == 1
        for wrong in (("author", "agent", "person"), ("author", "creativework", "person")):
            with pytest.raises(BadInput):
                bench.check(EdgeRepair(Repair.WIDEN, triple=wrong))
        with pytest.raises(BadInput, match="manifest row"):
            bench.check(replace(body, manifests=("nowhere",)))
    repaired(small, body)
    assert state_of(small) == {"e1": "exact"}
    assert json.loads(small.case.raw())["edge_types"][-1]["source_type"] == "document"


def test_a_repair_that_gives_a_second_copy_drops_it_and_undo_brings_it_back(small: Lab) -> None:
    edge(small.case, "e1", "organization", "memberOf", "person")
    edge(small.case, "e2", "person", "memberOf", "organization")
    before = edges_table(small)
    body = EdgeRepair(Repair.REVERSE, ("e1",), triple=("memberOf", "organization", "person"))
    with small.bench() as bench:
        assert any("second copy" in n for n in bench.impact(body).notes)
    run = repaired(small, body)
    assert edges_table(small) == before[1:]
    assert small.case.rows("SELECT edge, kind FROM ct_tui_edge_change") == [("e1", "drop")]
    assert small.heal().edges == 0
    small.undo(run)
    assert edges_table(small) == before


def test_what_changed_since_the_ruling_is_left_alone_and_said(small: Lab) -> None:
    case = small.case
    for name in ("renamed", "gone", "healed"):
        edge(case, name, "organization", "memberOf", "person", anchor=name)
    about = ("memberOf", "organization", "person")
    small.rule(EdgeRepair(Repair.DROP, ("renamed", "gone", "healed"), triple=about))
    case.run("UPDATE llm_wiki_edges SET edge_type = 'worksFor' WHERE id = 'renamed'")
    case.run("DELETE FROM llm_wiki_edges WHERE id = 'gone'")
    case.run("UPDATE llm_wiki_edges SET source_id = 'person', target_id = 'organization' WHERE id = 'healed'")
    report = small.heal()
    assert report.edges == 0
    assert [r[0] for r in edges_table(small)] == ["healed", "renamed"]
    said = " / ".join(report.notes)
    assert "changed since" in said
    assert "no longer there" in said
    assert "conforming by now" in said


def test_a_ruling_on_types_that_mends_an_edge_saves_it_from_being_dropped(small: Lab) -> None:
    edge(small.case, "e1", "person", "hasRole", "agent0")
    small.rule(EdgeRepair(Repair.DROP, ("e1",), triple=("hasRole", "person", "agent")), Alias("agent", "role"))
    assert small.heal().retyped == 3
    assert state_of(small) == {"e1": "exact"}


def test_rows_that_move_between_plan_and_write_are_conflicts(small: Lab) -> None:
    case = small.case
    for name in ("moved", "archived", "opted", "fine", "taken"):
        case.entity(f"p_{name}", "person")
        edge(case, name, "organization", "memberOf", f"p_{name}")
    small.rule(EdgeRepair(Repair.REVERSE, ("moved", "archived", "opted", "fine", "taken")))
    with small.bench() as bench:
        plan = bench.plan()
        assert len(plan.edge_changes) == 5
        case.run("UPDATE llm_wiki_edges SET edge_type = 'worksFor' WHERE id = 'moved'")
        case.run("UPDATE curated_entities SET deleted_at = 9 WHERE id = 'p_archived'")
        case.opt_out("p_opted")
        edge(case, "new", "p_taken", "memberOf", "organization")
        with pytest.raises(StalePlan) as stale:
            bench.apply(plan)
        assert any("moved" in d for d in stale.value.details)
        from ct_tui.heal.apply import Applier, Closing

        receipt = Applier(bench.brain, plan, by="t", now=small.clock).run(backup=False, closing=Closing)
    assert receipt.edges == 1
    found = {c.entity: c.found for c in receipt.conflicts}
    assert found["moved"] == "now organization worksFor p_moved"
    assert found["archived"] == "an end is no longer live"
    assert found["opted"] == "an end is opted out"
    assert found["taken"] == "the same edge is already there as new"
    assert ("fine", "p_fine") in [(r[0], r[2]) for r in edges_table(small)]


def test_an_edge_is_not_restored_onto_an_end_that_died(small: Lab) -> None:
    edge(small.case, "e1", "organization", "memberOf", "person")
    run = repaired(small, EdgeRepair(Repair.DROP, ("e1",)))
    small.case.run("UPDATE curated_entities SET deleted_at = 9 WHERE id = 'person'")
    receipt = small.undo(run)
    assert receipt.edges == 0
    assert [c.found for c in receipt.conflicts] == ["an end is no longer live"]
    assert edges_table(small) == []


def test_undo_leaves_an_edge_that_changed_since(small: Lab) -> None:
    edge(small.case, "e1", "organization", "memberOf", "person")
    run = repaired(small, EdgeRepair(Repair.REVERSE, ("e1",)))
    small.case.run("UPDATE llm_wiki_edges SET edge_type = 'worksFor' WHERE id = 'e1'")
    with small.bench() as bench:
        plan = bench.undo_plan(run)
    assert plan.edge_changes == ()
    assert any("e1" in n for n in plan.notes)


@pytest.mark.parametrize(
    ("column", "value"), [("before", "{}"), ("before", b"\xff"), ("after", "[1]"), ("after", "NaN"), ("kind", "x")]
)
def test_a_garbled_row_of_our_history_decides_nothing(small: Lab, column: str, value: Any) -> None:
    edge(small.case, "e1", "organization", "memberOf", "person")
    about = ("memberOf", "organization", "person")
    run = repaired(small, EdgeRepair(Repair.REVERSE, ("e1",), triple=about))
    small.case.run(f"UPDATE ct_tui_edge_change SET {column} = ?", value)
    written = edges_table(small)
    with small.bench() as bench:
        plan = bench.undo_plan(run)
    assert plan.edge_changes == ()
    assert any("cannot be read" in n for n in plan.notes)
    report = small.heal()
    assert report.edges == 0
    assert edges_table(small) == written


def test_a_saved_plan_with_repairs_is_read_back_and_applied(small: Lab, tmp_path: Path) -> None:
    edge(small.case, "e1", "organization", "memberOf", "person")
    small.rule(EdgeRepair(Repair.REVERSE, ("e1",)))
    with small.bench() as bench:
        plan = bench.plan()
        bench.save_plan(plan, tmp_path / "plan.json")
        read = bench.load_plan(tmp_path / "plan.json")
        assert read.digest == plan.digest
        assert bench.apply(read).edges == 1
        assert bench.plan().edge_changes == ()
        assert bench.apply(read).edges == 0


def test_more_repairs_than_one_chunk_takes(small: Lab) -> None:
    with closing(sqlite3.connect(small.db)) as connection, connection:
        connection.executemany(
            "INSERT INTO llm_wiki_edges VALUES (?, ?, 'organization', 'person', 'memberOf', 1)",
            ((f"e{n:04d}", f"a{n}") for n in range(701)),
        )
    (item,) = small.items(ItemKind.EDGE)
    assert item.count == 701
    with small.bench() as bench:
        pages = [bench.edges_of(item, limit=300)]
        while pages[-1]:
            pages.append(bench.edges_of(item, after=pages[-1][-1].rowid, limit=300))
        assert [len(p) for p in pages] == [300, 300, 101, 0]
        (body,) = bench.settle(item, "reverse")
    run = repaired(small, *([body] if isinstance(body, EdgeRepair) else []))
    assert counts(small).exact == 701
    assert small.undo(run).edges == 701
    assert counts(small).violating == 701


def test_a_stopped_repair_goes_on_with_the_same_plan(small: Lab) -> None:
    with closing(sqlite3.connect(small.db)) as connection, connection:
        connection.executemany(
            "INSERT INTO llm_wiki_edges VALUES (?, ?, 'organization', 'person', 'memberOf', 1)",
            ((f"e{n:04d}", f"a{n}") for n in range(450)),
        )
    before = edges_table(small)
    small.rule(EdgeRepair(Repair.REVERSE, tuple(f"e{n:04d}" for n in range(450))))
    stop = threading.Event()
    with small.bench() as bench:
        plan = bench.plan()

        def halt(progress: Progress) -> None:
            if progress.total - progress.done < 450:
                stop.set()

        first = bench.apply(plan, stop=stop, progress=halt)
        assert first.stopped
        assert 0 < first.edges < 450
        assert first.remaining == 450 - first.edges
    with small.bench() as bench:
        rest = bench.apply(plan)
    assert rest.run == first.run
    assert rest.edges == 450 - first.edges
    assert counts(small).exact == 450
    assert first.run is not None
    assert small.undo(first.run).edges == 450
    assert edges_table(small) == before


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (EdgeRepair(Repair.DROP, ("nope",)), "no edge"),
        (EdgeRepair(Repair.RENAME, ("e1",), "ghost"), "not a declared edge type"),
        (EdgeRepair(Repair.RENAME, ("e1",), "MEMBEROF"), "already"),
        (EdgeRepair(Repair.REVERSE, ("loop",)), "same id"),
        (EdgeRepair(Repair.DROP, ("half",)), "not live"),
    ],
)
def test_what_cannot_be_ruled(small: Lab, body: EdgeRepair, said: str) -> None:
    edge(small.case, "e1", "organization", "memberOf", "person")
    edge(small.case, "loop", "agent0", "knows", "agent0")
    edge(small.case, "half", "agent0", "knows", "nobody")
    with small.bench() as bench, pytest.raises(BadInput, match=said):
        bench.check(body)


# What a ruling would do


def test_impact_of_every_kind_of_ruling(small: Lab) -> None:
    case = small.case
    edge(case, "e1", "person", "hasRole", "agent0")
    edge(case, "e2", "agent0", "knows", "person")
    edge(case, "e3", "person", "knows", "person")
    edge(case, "e4", "software", "author", "person")
    case.entity("software", "software")
    with small.bench() as bench:

        def effect(body: Any) -> tuple[int, int, int]:
            found = bench.impact(body)
            return found.gained, found.broken, found.still_violating

        assert effect(Alias("agent", "role")) == (1, 0, 1)
        assert effect(Alias("agent", "person")) == (1, 0, 1)
        assert effect(Alias("software", "handoff")) == (1, 0, 0)
        assert effect(Retype(("agent0",), "agent", "person")) == (1, 0, 1)
        assert effect(Retype(("person",), "person", "role")) == (0, 1, 3)
        assert effect(Legalize("software", "d", "creativework")) == (1, 0, 0)
        assert effect(Legalize("software", "d", edges=(EdgeType("author", "software", "person"),))) == (1, 0, 0)
        assert effect(Legalize("software", "d")) == (0, 0, 0)
        assert effect(EdgeRepair(Repair.DROP, ("e1",))) == (0, 0, 0)
        assert effect(EdgeRepair(Repair.REVERSE, ("e2",))) == (0, 0, 1)
        assert effect(EdgeRepair(Repair.KEEP, ("e2",))) == (0, 0, 0)
        assert effect(Keep("agent")) == (0, 0, 0)
        assert effect(Revoke(1)) == (0, 0, 0)
        assert bench.signatures("software") == ((EdgeType("author", "software", "person"), 1),)


def test_impact_stands_on_what_is_signed_already(small: Lab) -> None:
    edge(small.case, "e1", "agent0", "knows", "person")
    body = EdgeRepair(Repair.WIDEN, triple=("knows", "role", "person"))
    with small.bench() as bench:
        assert bench.impact(body).gained == 0
    small.rule(Alias("agent", "role"))
    with small.bench() as bench:
        assert bench.impact(body).gained == 1


def test_suggestions_for_a_type_count_the_edges_that_each_target_would_satisfy(small: Lab) -> None:
    edge(small.case, "e1", "person", "hasRole", "agent0")
    edge(small.case, "e2", "agent1", "knows", "person")
    edge(small.case, "e3", "person", "hasRole", "agent2")
    (item,) = small.items(ItemKind.UNDECLARED)
    fits = {s.type: (s.edges_fit, s.edges_total) for s in item.suggestions}
    assert fits["role"] == (2, 3)
    assert fits["person"] == (1, 3)
    with small.bench() as bench:
        lens = bench.view().edges
        assert lens.fits("AGENT")["role"] == (2, 3)
        assert lens.fits_of(["agent1"])["person"] == (1, 1)
        assert lens.fits_of(["agent0", "agent1"])["role"] == (1, 2)


def test_a_ruled_merge_gives_the_edges_their_survivors_type(small: Lab) -> None:
    edge(small.case, "e1", "agent0", "knows", "person")
    body = Merge("person", ("agent0",))
    with small.bench() as bench:
        assert bench.impact(body).gained == 1
    small.rule(body)
    assert counts(small, after_plan=True).exact == 1
    report = small.heal()
    assert report.run is not None
    assert counts(small).exact == 1
    with small.bench() as bench:
        assert bench.undo_plan(report.run, effect=True).edges == EdgeEffect(broken=1)


def test_a_count_that_fails_is_said_when_the_brain_is_closed(small: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    edge(small.case, "e1", "person", "hasRole", "agent0")
    small.rule(Alias("agent", "role"))

    def fail(self: object) -> dict[str, int]:
        raise BrainError("the disk is full", "make room")

    monkeypatch.setattr("ct_tui.heal.edges.EdgeLens.numbers", fail)
    with pytest.raises(BrainError, match="run 1 is done, but its edges were not counted") as said:
        small.heal()
    assert said.value.remedy == "make room"
    assert small.type_of("agent0") == "role"
    assert "edges" not in json.loads(str(small.case.value("SELECT numbers FROM ct_tui_run")))


# Causes


def causes(lab: Lab) -> dict[str, int]:
    return {i.data["blame"].slug: i.count for i in lab.items(ItemKind.EDGE)}


def test_violations_are_grouped_by_what_caused_them(small: Lab, either_way: str) -> None:
    case = small.case
    edge(case, "minted", "person", "knows", "agent1", at=1_000)
    small.rule(Alias("agent", "role"))
    edge(case, "before", "agent0", "knows", "agent0", at=1_000)
    case.run("UPDATE curated_entities SET entity_type = 'person' WHERE id = 'agent0'")
    assert causes(small) == {"mint": 1}
    small.heal()
    small.rule(Retype(("agent0",), "person", "role"))
    assert causes(small) == {"mint": 1, "plan": 1}
    report = small.heal()
    edge(case, "later", "agent0", "knows", "person", at=int((small.clock.now + 60) * 1000))
    found = {i.data["blame"].slug: i for i in small.items(ItemKind.EDGE)}
    assert set(found) == {"mint", f"run {report.run} person → role"}
    run_item = found[f"run {report.run} person → role"]
    assert run_item.data["edges"] == ["before"]
    assert run_item.data["run"] == report.run
    assert run_item.data["ruling"] == 2
    assert "ruling #2" in run_item.why[-1]
    with small.bench() as bench:
        assert [e.id for e in bench.edges_of(run_item)] == ["before"]
        (body,) = bench.settle(run_item, "drop")
    assert isinstance(body, EdgeRepair)
    assert body.edges == ("before",)


def test_a_retype_by_the_app_is_a_cause_too(small: Lab) -> None:
    case = small.case
    edge(case, "e1", "person", "hasRole", "agent0", at=1_000)
    case.run("INSERT INTO entity_type_origin VALUES ('agent0', 'role', 'alias_retype', NULL, 1000)")
    assert causes(small) == {"app role": 1}


def test_a_keep_ruling_takes_its_edges_out_of_the_question(small: Lab) -> None:
    for n in range(3):
        edge(small.case, f"e{n}", "person", "hasRole", f"agent{n}")
    small.rule(EdgeRepair(Repair.KEEP, ("e0", "e2")))
    (item,) = small.items(ItemKind.EDGE)
    assert (item.count, item.data["edges"]) == (1, ["e1"])
    assert counts(small).violating == 3


def test_the_worst_come_first_and_the_rest_is_summed(small: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ct_tui.heal.edge_queue.MOST_ITEMS", 2)
    for n, count in enumerate((4, 3, 5, 4)):
        for k in range(count):
            edge(
                small.case,
                f"e{n}{k}",
                "organization",
                ("knows", "hasRole", "author", "supersedes")[n],
                "person",
                f"a{k}",
            )
    items = small.items(ItemKind.EDGE)
    *shown, rest = items
    assert [i.count for i in shown] == [5, 4]
    assert (rest.key, rest.count) == ("more", 7)
    with small.bench() as bench, pytest.raises(BadInput):
        bench.settle(rest, "drop")


# The reader


def test_the_reader_works_on_a_file_that_cannot_be_written(october: Path) -> None:
    db = october / "brain.db"
    with closing(sqlite3.connect(db)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    db.chmod(0o444)
    brain = Brain(db, read_only=True)
    with brain.snapshot() as reading:
        assert EdgeReader(reading, brain.schema).triples().edges == 64
    brain.close()


def test_the_reader_pages_a_cell_and_finds_edges_by_end_and_by_id(small: Lab) -> None:
    for n in range(5):
        edge(small.case, f"e{n}", "person", "hasRole", f"agent{n % 3}", anchor=f"a{n}")
    edge(small.case, "other", "person", "knows", "person")
    brain = small.case.open()
    with brain.snapshot() as db:
        reader = EdgeReader(db, brain.schema, Scope(moves={"agent1": "role"}))
        page = reader.of_type("hasRole", lambda t: t.target.type == "agent", limit=2)
        assert [e.row.id for e in page] == ["e0", "e1"]
        rest = reader.of_type("hasRole", lambda t: t.target.type == "agent", after=page[-1].rowid)
        assert [e.row.id for e in rest] == ["e2", "e3", "e4"]
        assert [e.row.id for e in reader.touching(["agent1"])] == ["e1", "e4"]
        assert [e.row.id for e in reader.touching(["person"], limit=2)] == ["e0", "e1"]
        assert [e.row.id for e in reader.by_id(["other", "e3", "zzz"])] == ["e3", "other"]
        assert reader.triples_of(["agent1"]).edges == 2
        assert dict(reader.triples())[Triple("hasRole", End("person"), End("agent", after="role"))] == 2
        assert reader.ends(["nobody", "agent0"]) == {
            "nobody": End(None, Liveness.MISSING, entity=False), "agent0": End("agent"),
        }  # fmt: skip
        marked = EdgeReader(db, brain.schema, Scope(Redirects(), {"agent0": Mark(shielded=True)}, Mark(row="other")))
        assert marked.ends(["agent0", "agent1"]) == {
            "agent0": End("agent", shielded=True), "agent1": End("agent", row="other"),
        }  # fmt: skip
    brain.close()


def test_a_brain_without_edges_or_facts_is_no_error(small: Lab) -> None:
    for table in ("llm_wiki_edges", "llm_wiki_entries", "llm_wiki_tasks"):
        small.case.run(f"DROP TABLE {table}")
    brain = small.case.open()
    with brain.snapshot() as db:
        reader = EdgeReader(db, brain.schema)
        book = Rulebook(Signatures(Vocabulary((NodeType("person"),))))
        assert reader.triples().counts(book).edges == 0
        assert reader.touching(["person"]) == reader.by_id(["e"]) == list(reader.where(lambda _: True)) == []
        assert reader.of_type("knows", lambda _: True) == ()
        assert reader.caused() == []
    brain.close()


def test_every_state_is_said_in_the_document(small: Lab) -> None:
    edge(small.case, "e1", "person", "hasRole", "agent0")
    with small.bench() as bench:
        listed = bench.edges(list_=True).as_json()["violations"]
        in_cell = bench.edges_in("hasRole", "person", "agent")
    assert [e.id for e in in_cell] == ["e1"]
    assert in_cell[0].state is EdgeState.VIOLATING
    assert listed == [
        {
            "id": "e1", "edge_type": "hasRole", "source": "person", "source_name": "person", "source_type": "person",
            "target": "agent0", "target_name": "agent0", "target_type": "agent", "entity": "x", "state": "violating",
            "shielded": False, "created_at": 1000, "count": 1,
        }
    ]  # fmt: skip
