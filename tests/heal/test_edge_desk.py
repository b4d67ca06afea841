"""The edges as a curator works on them: what is said before a ruling is what happens after it."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest

from ct_tui.domain.edges import EdgeState
from ct_tui.domain.errors import BadInput, NothingFound
from ct_tui.domain.queue import ItemKind
from ct_tui.domain.rulings import Alias, EdgeRepair, Repair, Retype
from tests.heal.test_edges import plain_count

if TYPE_CHECKING:
    from ct_tui.heal.edge_desk import EdgeDesk
    from ct_tui.heal.edge_matrix import DeskCell
    from ct_tui.heal.workbench import Workbench
    from tests.heal.lab import Lab


def cell_of(desk: EdgeDesk, edge_type: str, source: str | None, target: str | None) -> DeskCell:
    return next(c for c in desk.map.cells if c.names == (edge_type, source, target))


def listed(desk: EdgeDesk, *, planned: bool) -> Counter[tuple[Any, ...]]:
    """Every edge of every cell, page by page."""
    found: Counter[tuple[Any, ...]] = Counter()
    for cell in desk.map.cells_after if planned else desk.map.cells:
        after = 0
        while True:
            page = desk.page(cell.cell, planned=planned, after=after, limit=3)
            found.update((*cell.names, cell.cell.state.value, edge.edge.id) for edge in page)
            if len(page) < 3:
                break
            after = page[-1].edge.rowid
    return found


def apply(bench: Workbench) -> None:
    bench.apply(bench.plan(), by="tester")


def test_the_map_is_an_independent_count_now_and_after_the_plan(october_lab: Lab) -> None:
    october_lab.found()
    with october_lab.bench() as bench:
        desk = bench.edge_desk
        now, cells = plain_count(october_lab.db)
        assert {(*c.names, c.cell.state.value): c.cell.count for c in desk.map.cells} == dict(cells)
        promised = {(*c.names, c.cell.state.value): c.cell.count for c in desk.map.cells_after}
        apply(bench)
        after, cells = plain_count(october_lab.db)
        assert promised == dict(cells)
        assert (now["violating"], after["violating"]) == (26, 16)


def test_what_becomes_of_a_cell_is_said_before(october_lab: Lab) -> None:
    october_lab.found()
    with october_lab.bench() as bench:
        cell = cell_of(bench.edge_desk, "hasRole", "person", "agent")
        assert [(b.state, b.edges) for b in cell.becomes] == [(EdgeState.EXACT, 7)]
        assert (cell.open, cell.mended, cell.other) == (0, True, ("hasRole", "person", "role"))
        with pytest.raises(BadInput, match="nothing is open"):
            bench.edge_desk.scope(cell)


@pytest.mark.parametrize("planned", [False, True])
def test_every_edge_is_in_exactly_one_cell_page_by_page(october_lab: Lab, planned: bool) -> None:
    october_lab.found()
    edges = [row[0] for row in october_lab.case.rows("SELECT id FROM llm_wiki_edges ORDER BY rowid")]
    october_lab.rule(EdgeRepair(Repair.DROP, (edges[40],)), EdgeRepair(Repair.REVERSE, (edges[45],)))
    with october_lab.bench() as bench:
        desk = bench.edge_desk
        found = listed(desk, planned=planned)
        assert set(found.values()) == {1}
        gone = {edges[40]} if planned else set()
        assert {row[-1] for row in found} == set(edges) - gone
        if planned:
            apply(bench)
            _, cells = plain_count(october_lab.db)
            assert Counter(row[:-1] for row in found.elements()) == cells


def test_each_repair_does_to_the_counts_what_was_weighed(october_lab: Lab) -> None:
    with october_lab.bench() as bench:
        desk = bench.edge_desk
        weighed = [
            (cell, repair, desk.bodies(desk.scope(cell), repair.proposal.text))
            for cell in desk.map.cells
            if cell.open
            for repair in desk.weigh(desk.scope(cell))
        ]
        assert len(weighed) > 20
        for cell, repair, bodies in weighed:
            effects = [bench.impact(body) for body in bodies]
            told = (sum(e.gained for e in effects), sum(e.broken for e in effects))
            assert repair.effect is not None
            assert told == (repair.effect.gained, repair.effect.broken), f"{cell.cell}: {repair.proposal.text}"


@pytest.mark.parametrize("choice", ["retype every agent to role", "retype target to role", "drop", "keep"])
def test_a_signed_repair_leaves_as_many_violations_as_was_said(october_lab: Lab, choice: str) -> None:
    with october_lab.bench() as bench:
        desk = bench.edge_desk
        scope = desk.scope(cell_of(desk, "hasRole", "person", "agent"))
        said = next(r.violating for r in desk.weigh(scope) if r.proposal.text == choice)
        october_lab.rule(*desk.bodies(scope, choice))
        assert bench.edge_desk.map.after.violating == said
        apply(bench)
        assert plain_count(october_lab.db)[0]["violating"] == said


def test_edges_of_a_kind_are_ruled_on_by_themselves(october_lab: Lab) -> None:
    with october_lab.bench() as bench:
        desk = bench.edge_desk
        page = desk.page(cell_of(desk, "supersedes", "document", "document").cell, planned=False)
        scope = desk.scope_of([e.edge.id for e in page[:2]])
        assert (scope.count, scope.names) == (2, ("supersedes", "document", "document"))
        assert all(not r.proposal.whole_type for r in desk.weigh(scope))
        [body] = desk.bodies(scope, "drop")
        assert isinstance(body, EdgeRepair)
        assert set(body.edges) == {e.edge.id for e in page[:2]}
        with pytest.raises(BadInput, match="there is no repair"):
            desk.bodies(scope, "retype every document to creativework")


def test_only_open_edges_that_are_alike_are_ruled_on_together(october_lab: Lab) -> None:
    with october_lab.bench() as bench:
        desk = bench.edge_desk
        one = desk.page(cell_of(desk, "hasRole", "person", "agent").cell, planned=False)[0].edge.id
        other = desk.page(cell_of(desk, "knows", "agent", "person").cell, planned=False)[0].edge.id
        fine = desk.page(cell_of(desk, "worksFor", "person", "organization").cell, planned=False)[0].edge.id
        with pytest.raises(BadInput, match="differ after the plan"):
            desk.scope_of([one, other])
        with pytest.raises(BadInput, match=f"edge {fine} is not open"):
            desk.scope_of([one, fine])
        with pytest.raises(NothingFound, match="there is no edge 'nowhere'"):
            desk.scope_of([one, "nowhere"])
        with pytest.raises(NothingFound):
            desk.dossier("nowhere")


def test_a_retype_names_the_type_that_stands_in_the_brain(october_lab: Lab) -> None:
    october_lab.rule(Alias("agent", "role"))
    with october_lab.bench() as bench:
        desk = bench.edge_desk
        cell = cell_of(desk, "knows", "agent", "person")
        assert cell.asks == ("knows", "role", "person")
        [body] = desk.bodies(desk.scope(cell), "retype source to person")
        bench.check(body)
        october_lab.rule(body)
        said = bench.edge_desk.map.after.violating
        apply(bench)
        assert plain_count(october_lab.db)[0]["violating"] == said


def test_one_edge_tells_which_run_broke_it(october_lab: Lab) -> None:
    person = october_lab.case.value("SELECT source_id FROM llm_wiki_edges WHERE edge_type = 'worksFor' LIMIT 1")
    october_lab.rule(Retype((person,), "person", "concept"))
    with october_lab.bench() as bench:
        apply(bench)
        desk = bench.edge_desk
        causes = {}
        for item in bench.queue().items:
            if item.kind is ItemKind.EDGE:
                causes.update(dict.fromkeys(item.data["edges"], item.data["blame"].text))
        assert set(causes.values()) == {"the edges were written so", "run 1 broke them: person → concept, ruling #1"}
        assert {edge: desk.dossier(edge).cause for edge in causes} == causes


def test_shielded_edges_are_counted_and_closed(october_lab: Lab) -> None:
    agents = october_lab.case.rows("SELECT id FROM curated_entities WHERE entity_type = 'agent'")
    for (entity,) in agents:
        october_lab.case.opt_out(entity)
    with october_lab.bench() as bench:
        desk = bench.edge_desk
        cell = cell_of(desk, "hasRole", "person", "agent")
        assert (cell.open, cell.cell.shielded) == (0, 7)
        edge = desk.page(cell.cell, planned=False)[0]
        assert (edge.open, edge.edge.shielded) == (False, True)
        dossier = desk.dossier(edge.edge.id)
        assert dossier.shielded == ("target: it is opted out: no gate runs",)
        assert dossier.repairs == ()
