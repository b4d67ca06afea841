"""The ledger: one origin row of the app, our whole history, and both over a merge cluster."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from ct_tui.domain.rulings import Alias, Retype
from tests.heal.lab import START
from tests.policy.brains import SEEDS

if TYPE_CHECKING:
    from ct_tui.domain.history import Ledger
    from tests.heal.lab import Lab


@pytest.fixture
def desk(lab: Lab) -> Lab:
    lab.case.tier(*SEEDS, "document", "process", fallback="project")
    lab.case.entity("a", "agent", "Ada")
    lab.case.entity("b", "agent", "Bob")
    lab.found()
    return lab


def ledger(lab: Lab, entity: str) -> Ledger:
    with lab.bench() as bench:
        return bench.ledger(entity)


def test_an_entity_that_nothing_happened_to(desk: Lab) -> None:
    found = ledger(desk, "a")
    assert (found.id, found.name, found.type, found.cluster) == ("a", "Ada", "agent", ("a",))
    assert (found.origin, found.history, found.events, found.asked) == (None, (), (), None)


def test_the_whole_story_oldest_first(desk: Lab) -> None:
    desk.heal(by="Ada")
    desk.clock.pass_days(1)
    desk.undo(1)
    desk.clock.pass_days(1)
    desk.rule(Retype(("a",), "agent", "person"))
    desk.heal(by="Grace")
    found = ledger(desk, "a")
    assert [(h.from_type, h.to_type, h.reason, h.ruling, h.run, h.by) for h in found.history] == [
        ("agent", "role", "alias_retype", 1, 1, "Ada"),
        ("role", "agent", "undo", 1, 2, "tester"),
        ("agent", "person", "queue_retype", 6, 3, "Grace"),
    ]
    assert [h.at - int(START) for h in found.history] == [0, 86_400, 172_800]
    assert found.origin is not None
    assert (found.origin.original_type, found.origin.reason) == ("agent", "alias_retype")
    assert found.as_json()["origin"]["recorded_at"] == int(START)


def test_the_app_s_origin_is_shown_with_its_source(desk: Lab) -> None:
    desk.case.origin("a", "gate_skipped", None, "ops/a.md")
    document = ledger(desk, "a").as_json()
    assert document["origin"] == {
        "original_type": None,
        "reason": "gate_skipped",
        "source_directory": "ops/a.md",
        "recorded_at": 1,
    }


def test_a_merged_id_leads_to_its_survivor(desk: Lab) -> None:
    desk.heal()
    for loser, into in (("b", "mid"), ("mid", "a"), ("x", "a")):
        desk.case.redirect(loser, into)
    desk.case.origin("x", "degraded", "boat")
    found = ledger(desk, "b")
    assert (found.id, found.asked) == ("a", "b")
    assert found.cluster[0] == "a"
    assert set(found.cluster) == {"a", "b", "mid", "x"}
    assert [h.entity_id for h in found.history] == ["a", "b"]
    assert {o.entity_id for o in found.origins} == {"a", "b", "x"}
    assert found.origin is not None
    assert found.origin.entity_id == "a"


def test_a_cluster_beyond_every_limit_on_variables(desk: Lab) -> None:
    import sqlite3
    from contextlib import closing

    with closing(sqlite3.connect(desk.db)) as connection, connection:
        rows = [(f"loser {n}", "a") for n in range(1_200)]
        connection.executemany("INSERT INTO entity_redirects VALUES (?, ?, 1)", rows)
    desk.heal()
    with desk.bench() as bench:
        found = bench.ledger("loser 7")
        assert len(found.cluster) == 1_201
        assert len(found.history) == 1
        assert bench.entity("loser 7").id == "a"


def test_events_of_the_app_are_part_of_it(desk: Lab) -> None:
    desk.case.run(
        "INSERT INTO llm_wiki_events (id, entity_id, event_type, summary, created_at) VALUES "
        "('e1', 'a', 'approved', 'first', 1000), ('e2', 'a', 'healed', 'second', 2000)"
    )
    assert [(e.type, e.at) for e in ledger(desk, "a").events] == [("healed", 2000), ("approved", 1000)]


def test_an_archived_entity_has_one_too(desk: Lab) -> None:
    desk.heal()
    desk.case.run("UPDATE curated_entities SET deleted_at = 77 WHERE id = 'a'")
    found = ledger(desk, "a")
    assert found.deleted_at == 77
    assert len(found.history) == 1


def test_history_by_ruling_reason_and_run_and_in_pages(desk: Lab) -> None:
    desk.case.entity("p", "Person")
    desk.case.entity("s", "software")
    desk.heal()
    desk.rule(Alias("job", "role"))
    desk.case.entity("j", "job")
    desk.heal()
    with desk.bench() as bench:
        everything = bench.history()
        assert len(everything) == 5
        assert [h.entity_id for h in bench.history(ruling=1)] == ["b", "a"]
        assert [h.entity_id for h in bench.history(reason="recased")] == ["p"]
        assert [h.entity_id for h in bench.history(run=2)] == ["j"]
        assert bench.history(ruling=99) == ()
        assert [h.name for h in bench.history(ruling=1)] == ["Bob", "Ada"]
        first = bench.history(limit=2)
        assert first == everything[:2]
        assert bench.history(before=first[-1].id) == everything[2:]
        assert bench.history(before=everything[-1].id) == ()


def test_runs_say_what_they_did(desk: Lab) -> None:
    desk.case.entity("p", "Person")
    desk.case.entity("s", "ship")
    report = desk.heal(by="Ada")
    with desk.bench() as bench:
        [run] = bench.runs()
        plan = bench.plan()
    assert (run.id, run.kind, run.by, run.status, run.at) == (1, "heal", "Ada", "done", int(START))
    assert (run.retyped, run.recased, run.queued, run.conflicts) == (2, 1, 1, 0)
    assert run.legalized == report.legalized == ()
    assert (run.undoes, run.undone_by) == (None, None)
    assert (run.numbers["live"], run.numbers["undeclared_entities"]) == (4, 1)
    assert plan.binding.head_seq == 5


def test_garbled_rows_of_ours_are_shown_as_far_as_they_go(desk: Lab) -> None:
    desk.heal()
    desk.case.run("UPDATE ct_tui_run SET legalized = '{', numbers = 'x', \"by\" = x'ff'")
    desk.case.run("UPDATE ct_tui_type_change SET \"from\" = x'ff' WHERE entity_id = 'a'")
    with desk.bench() as bench:
        [run] = bench.runs()
        assert (run.retyped, run.legalized, run.numbers) == (2, (), {})
        assert bench.ledger("a").history[0].from_type == "\ufffd"
