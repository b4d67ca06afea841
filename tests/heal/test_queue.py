"""The review queue: one question a ruling, why it is here and why nothing settled it, what could settle it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from ct_tui.domain.queue import ItemKind
from ct_tui.domain.rulings import Alias, Keep, Legalize, Retype
from ct_tui.heal.review import build_queue
from tests.heal.lab import day
from tests.policy.brains import SEEDS, manifest, ref

if TYPE_CHECKING:
    from ct_tui.domain.queue import QueueItem
    from tests.heal.lab import Lab


@pytest.fixture
def desk(lab: Lab) -> Lab:
    lab.case.tier(*SEEDS, "concept", "document", "process", fallback="concept")
    return lab


def kinds(lab: Lab) -> list[str]:
    return [i.kind.value for i in lab.items()]


def one(lab: Lab, kind: ItemKind) -> QueueItem:
    [item] = lab.items(kind)
    return item


def test_a_compliant_brain_asks_nothing(desk: Lab) -> None:
    desk.case.entity("p", "person")
    desk.case.entity("v", "Person")
    assert desk.items() == []


def test_an_undeclared_type_is_one_question_for_all_its_spellings(desk: Lab) -> None:
    for at, label in enumerate(("job", "Job", " JOB ", "job")):
        desk.case.entity(f"j{at}", label)
    item = one(desk, ItemKind.UNDECLARED)
    assert (item.id, item.count, item.entities) == ("type:job", 4, ("j0", "j1", "j2", "j3"))
    assert item.data["types"] == {"job": 2, "Job": 1, " JOB ": 1}
    assert "no manifest declares" in item.why[0]
    assert "no valid ruling names it" in item.why_not


def test_questions_come_by_weight(desk: Lab) -> None:
    for n in range(3):
        desk.case.entity(f"s{n}", "ship")
    desk.case.entity("j", "job")
    desk.case.entity("b", "")
    labels = [(i.kind, i.label) for i in desk.items()]
    assert labels == [
        (ItemKind.UNDECLARED, "ship"),
        (ItemKind.UNDECLARED, "job"),
        (ItemKind.BLANK, "blank type"),
    ]


def test_a_degraded_origin_waits_under_the_label_that_was_lost(desk: Lab) -> None:
    desk.case.entity("d1", "concept")
    desk.case.entity("d2", "concept")
    desk.case.entity("d3", "concept")
    desk.case.origin("d1", "degraded", "Boat")
    desk.case.origin("d2", "degraded", "boat ")
    desk.case.origin("d3", "degraded", "ferry")
    items = desk.items(ItemKind.DEGRADED)
    assert [(i.key, i.count, i.entities) for i in items] == [("boat", 2, ("d1", "d2")), ("ferry", 1, ("d3",))]
    assert "nobody had declared" in items[0].why[0]
    assert desk.report().queued == 0  # their types are declared: nothing of theirs is drift


def test_a_degraded_entity_that_moved_on_asks_nothing(desk: Lab) -> None:
    desk.case.entity("d1", "person")
    desk.case.origin("d1", "degraded", "boat")
    assert desk.items() == []


def test_a_degraded_label_can_be_kept_or_retyped(desk: Lab) -> None:
    desk.case.entity("d1", "concept")
    desk.case.entity("d2", "concept")
    for entity in ("d1", "d2"):
        desk.case.origin(entity, "degraded", "boat")
    desk.rule(Retype(("d1",), "concept", "product"))
    assert one(desk, ItemKind.DEGRADED).entities == ("d2",)
    desk.rule(Keep("boat"))
    assert desk.items() == []
    desk.heal()
    assert desk.type_of("d1") == "product"
    assert desk.origin("d1") == ("boat", "degraded")


def test_surfacing_origins_of_undeclared_types_are_questions_of_their_own(desk: Lab) -> None:
    for entity, reason in (("g", "gate_skipped"), ("u", "unlabeled_landing"), ("d", "degraded")):
        desk.case.entity(entity, "job")
        desk.case.origin(entity, reason, None if reason == "unlabeled_landing" else "job")
    desk.case.entity("plain", "job")
    desk.rule(Alias("job", "role"))
    assert {i.id: i.entities for i in desk.items()} == {
        "degraded:job": ("d",),
        "gate-skipped:job": ("g",),
        "unlabeled:job": ("u",),
    }
    assert any("an alias never touches these" in w for w in one(desk, ItemKind.GATE_SKIPPED).why_not)
    assert desk.heal().retyped == 1


def test_an_alias_that_cannot_act_is_said(desk: Lab) -> None:
    desk.case.entity("j", "job")
    desk.rule(Alias("job", "nowhere"), Alias("a", "b"), Alias("b", "role"), Alias("x", "y"), Alias("y", "x"))
    dead = {i.key: i.data["rule"] for i in desk.items(ItemKind.DEAD_ALIAS)}
    assert dead == {
        "1": "ruling-target-undeclared",
        "2": "ruling-chain",
        "4": "ruling-cycle",
        "5": "ruling-cycle",
    }
    assert "its target nowhere is not declared" in str(one(desk, ItemKind.UNDECLARED).why_not)
    desk.case.tier(*SEEDS, "job", fallback="project")
    assert {i.data["rule"] for i in desk.items(ItemKind.DEAD_ALIAS) if i.key == "1"} == {"ruling-dead"}


def test_a_dead_alias_moves_nothing(desk: Lab) -> None:
    desk.case.entity("a1", "a")
    desk.case.entity("x1", "x")
    desk.rule(Alias("a", "b"), Alias("b", "role"), Alias("x", "y"), Alias("y", "x"))
    report = desk.heal()
    assert (report.retyped, report.queued) == (0, 2)
    assert (desk.type_of("a1"), desk.type_of("x1")) == ("a", "x")


def test_shielded_entities_are_one_question_a_label(desk: Lab) -> None:
    for entity in ("s1", "s2"):
        desk.case.entity(entity, "agent")
        desk.case.opt_out(entity)
    desk.case.entity("s3", "person")
    desk.case.opt_out("s3")
    item = one(desk, ItemKind.SHIELDED)
    assert (item.key, item.count) == ("agent", 2)
    assert "opted out" in item.why[0]
    assert "never retyped" in item.why_not[0]


def test_an_opt_out_of_a_merged_id_shields_the_survivor(desk: Lab) -> None:
    desk.case.entity("survivor", "agent")
    desk.case.entity("loser", "agent")
    desk.case.redirect("loser", "survivor")
    desk.case.opt_out("loser")
    desk.rule(Alias("agent", "role"))
    report = desk.heal()
    assert (report.retyped, report.shielded) == (0, 1)
    item = one(desk, ItemKind.SHIELDED)
    assert item.entities == ("survivor",)
    assert "'loser', merged with it, is opted out" in item.why[0]


def test_an_unreadable_manifest_asks_once(desk: Lab) -> None:
    desk.case.entity("e", "job")
    desk.case.manifest("e", "{")
    desk.case.manifest("nobody", "{")
    items = {i.key: i.entities for i in desk.items(ItemKind.MANIFEST)}
    assert items == {"e": ("e",), "nobody": ()}


def test_without_a_usable_vocabulary_everything_is_held(desk: Lab) -> None:
    desk.case.tier("thing", "other")
    desk.case.entity("j1", "job")
    desk.case.entity("j2", "ship")
    desk.rule(Alias("job", "thing"))
    report = desk.heal()
    assert (report.retyped, report.held, report.queued) == (0, 2, 0)
    [item] = [i for i in desk.items() if i.kind is ItemKind.MANIFEST]
    assert item.count == 2
    assert "fallback" in item.why[0]


def test_a_redirect_circle_holds_nobody_else(desk: Lab) -> None:
    for entity in ("a", "b", "c"):
        desk.case.entity(entity, "agent")
    desk.case.redirect("a", "b")
    desk.case.redirect("b", "a")
    desk.rule(Alias("agent", "role"))
    assert desk.heal().retyped == 1
    assert desk.type_of("c") == "role"


def test_a_held_proposal_names_cause_and_fix(desk: Lab) -> None:
    desk.case.tier("person", "role")
    document = desk.case.document("notes/a.md")
    desk.case.proposal("prop_1", "robot", document)
    item = one(desk, ItemKind.PROPOSAL)
    assert (item.id, item.data["type"], item.data["paths"]) == ("proposal:prop_1", "robot", ["notes/a.md"])
    assert "fallback" in " ".join((*item.why, *item.why_not))


def test_a_proposal_that_would_land_is_no_question(desk: Lab) -> None:
    desk.case.proposal("prop_1", "person", desk.case.document("notes/a.md"))
    assert desk.items(ItemKind.PROPOSAL) == []


def test_a_tampered_table_is_said_beside_every_question(desk: Lab) -> None:
    desk.case.entity("j", "job")
    desk.rule(Alias("job", "role"))
    table = desk.places.rulings
    table.write_bytes(table.read_bytes().replace(b'"role"', b'"person"', 1))
    item = one(desk, ItemKind.UNDECLARED)
    assert any("no ruling acts" in w for w in item.why_not)
    assert any("#1 names it and does not act: tampered" in w for w in item.why_not)


def test_keeps_take_a_question_out_until_their_day(desk: Lab) -> None:
    desk.case.entity("j", "job")
    desk.rule(Keep("job", until=day("2026-11-03")))
    assert desk.items() == []
    desk.clock.pass_days(2)
    assert kinds(desk) == ["undeclared type"]


def test_suggestions_say_every_point_of_theirs(desk: Lab) -> None:
    desk.case.entity("a", "agent")
    desk.case.entity("p", "persn")
    agent, person = sorted(desk.items(ItemKind.UNDECLARED), key=lambda i: i.label)
    assert agent.suggestions[0].type == "role"
    assert agent.suggestions[0].why == ("near in meaning",)
    assert person.suggestions[0].type == "person"
    assert "spelled like person" in person.suggestions[0].why
    assert all(s.why and 0 < s.score <= 1 for i in (agent, person) for s in i.suggestions)
    scores = [s.score for s in agent.suggestions]
    assert scores == sorted(scores, reverse=True)


def test_an_earlier_ruling_is_a_precedent(desk: Lab) -> None:
    desk.case.entity("a", "agents")
    desk.rule(Alias("agent", "service"))
    item = one(desk, ItemKind.UNDECLARED)
    why = {s.type: s.why for s in item.suggestions}
    assert "ruling #1 sent agent there" in why["service"]


def test_the_used_type_comes_first_among_equals(desk: Lab) -> None:
    """Spellings of one type count together."""
    desk.case.tier("assistant", "operator", fallback="operator")
    desk.case.entity("x", "bot")
    for n in range(3):
        desk.case.entity(f"a{n}", "assistant")
    for n in range(2):
        desk.case.entity(f"o{n}", "operator")
    desk.case.entity("o9", "Operator")
    desk.case.entity("o8", " operator")
    item = one(desk, ItemKind.UNDECLARED)
    assert [s.type for s in item.suggestions] == ["operator", "assistant"]


def test_large_groups_keep_a_sample_and_the_whole_count(desk: Lab) -> None:
    import sqlite3
    from contextlib import closing

    with closing(sqlite3.connect(desk.db)) as connection, connection:
        connection.executemany(
            "INSERT INTO curated_entities (id, name, entity_type, created_at, updated_at) VALUES (?, 'n', 'job', 1, 1)",
            [(f"j{n:05}",) for n in range(1_500)],
        )
    item = one(desk, ItemKind.UNDECLARED)
    assert (item.count, len(item.entities)) == (1_500, 1_000)
    assert desk.report().queued == 1_500


def test_an_item_can_be_asked_for_by_its_id(desk: Lab) -> None:
    desk.case.entity("j", "a: strange/label [x]")
    with desk.bench() as bench:
        item = bench.item("type:a: strange/label [x]")
        assert item.as_json()["id"] == item.id
        assert bench.queue().counts() == {"undeclared type": 1}


def test_an_own_vocabulary_asks_about_its_own_entity(desk: Lab) -> None:
    desk.case.entity("e", "person")
    desk.case.manifest("e", manifest("thing", fallback="thing"))
    item = one(desk, ItemKind.UNDECLARED)
    assert item.entities == ("e",)
    assert any("'e' is strict" in w for w in item.why)


def test_an_unresolved_source_is_report_only(desk: Lab) -> None:
    desk.case.folders(ops="off")
    desk.case.entity("e", "job")
    desk.case.entity("declared", "person")
    desk.case.fact("f1", "e", ref("0" * 32))
    desk.case.fact("f2", "declared", ref("0" * 32))
    report = desk.report()
    assert (report.queued, report.report_only) == (0, 2)
    item = one(desk, ItemKind.SHIELDED)
    assert (item.key, item.count) == ("unresolved source", 2)


def test_what_a_ruling_would_do_is_said_before_it_is_signed(desk: Lab) -> None:
    for n in range(3):
        desk.case.entity(f"j{n}", "job")
    desk.case.opt_out("j2")
    desk.case.entity("d", "concept")
    desk.case.origin("d", "degraded", "job")
    with desk.bench() as bench:
        impact = bench.impact(Alias("Job", "role"))
        assert (impact.moves, impact.shielded, impact.sample) == (2, 1, ("j0", "j1"))
        assert any("1 entities that the gate degraded" in n for n in impact.notes)
        assert bench.impact(Legalize("job", "x")).moves == 0
    desk.rule(Alias("job", "role"))
    assert desk.heal().retyped == 2


def test_suggestions_are_worked_out_for_whoever_looks_and_stay_those_of_their_state(desk: Lab) -> None:
    """A queue may hold a hundred thousand questions of which a person looks at one."""
    desk.case.entity("a", "persn")
    asked: list[str] = []

    def fits(label: str) -> dict[str, tuple[int, int]]:
        asked.append(label)
        return {}

    with desk.bench() as bench:
        view = bench.view()
        with bench.brain.snapshot() as db:
            queue = build_queue(db, view.situation, view.found, view.type_counts, fits=fits)
        whole = bench.queue()
    assert asked == []
    item = queue.items[0]
    assert item.suggestions[0].type == "person"
    assert asked == ["persn"]
    assert item.suggestions == item.suggestions
    assert asked == ["persn"]
    assert item == replace(item, ranked=item.suggestions)
    assert item != replace(item, ranked=())
    assert hash(item) == hash(replace(item, ranked=item.suggestions))
    # The brain is closed and the rulings have moved on: what was built says what it said.
    desk.rule(Alias("persn", "person"))
    assert whole.items[0].suggestions == item.suggestions
