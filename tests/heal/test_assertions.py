"""Asserting facts on real brains: looked up, shown, written in one transaction, and never by accident."""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING, Any

import pytest

from ct_tui.domain.assertions import Found
from ct_tui.domain.errors import BadInput, PolicyError, StalePlan
from ct_tui.gate import GateMints
from ct_tui.heal.assertions import Request, write_assertion
from ct_tui.policy.load import load_policy
from tests.policy.brains import manifest

if TYPE_CHECKING:
    from ct_tui.heal.assertions import AssertionResult
    from ct_tui.heal.workbench import Workbench
    from tests.heal.lab import Lab

TURN = "imessage:turn-4812"
MAY_2023 = 1_682_899_200_000
"""1 May 2023 in ms."""

EDGES = [
    {"type": "homeLocation", "source_type": "person", "target_type": "place"},
    {"type": "knows", "source_type": "person", "target_type": "person"},
    {"type": "related_to", "source_type": "person", "target_type": "place"},
]


@pytest.fixture
def town(lab: Lab) -> Lab:
    """Sara, Berlin, Rome, and an Alexander Smith who was once two."""
    lab.case.manifest("tier_fact", manifest("person", "place", fallback="person", edge_types=EDGES))
    for entity_id, kind, name in (
        ("ent_sara", "person", "Sara"),
        ("ent_berlin", "place", "Berlin"),
        ("ent_rome", "place", "Rome"),
        ("ent_smith", "person", "Alexander Smith"),
        ("ent_lexi", "person", "Lexi"),
    ):
        lab.case.entity(entity_id, kind, name)
    lab.case.redirect("ent_lexi", "ent_smith")
    return lab


def mints(bench: Workbench) -> GateMints:
    return GateMints(bench.brain, load_policy(bench.places.config))


def say(lab: Lab, subject: str, relation: str, target: str, *, apply: bool = True, **how: Any) -> AssertionResult:
    how.setdefault("provenance", TURN)
    with lab.bench() as bench:
        request = Request(subject, relation, target, **how)
        return bench.assert_fact(request, apply=apply, mints=mints(bench), by="tester")


def edges(lab: Lab) -> list[tuple[Any, ...]]:
    return lab.case.rows("SELECT entity_id, source_id, target_id, edge_type, created_at FROM llm_wiki_edges")


def recorded(lab: Lab) -> list[tuple[Any, ...]]:
    return lab.case.rows(
        "SELECT valid_from, valid_to, confidence, kind, provenance, flagged_by FROM ct_tui_assertion ORDER BY rowid"
    )


# The guide's two examples


def test_sara_lives_in_berlin_the_guides_way(town: Lab) -> None:
    result = say(town, "Sara", "homeLocation", "Berlin", start="2023-05-01", confidence=0.9)
    now_ms = int(town.clock() * 1000)
    assert edges(town) == [("ent_sara", "ent_sara", "ent_berlin", "homeLocation", now_ms)]
    assert recorded(town) == [(MAY_2023, 0, 0.9, "conversation", TURN, None)]
    assert result.edge is not None
    assert result.edge.startswith("edge_")
    assert len(result.edge) == len("edge_") + 24
    assert town.case.rows('SELECT edge_id, "by", at FROM ct_tui_assertion') == [(result.edge, "tester", now_ms // 1000)]
    assert (result.created, result.recorded, result.applied) == (True, True, True)


def test_the_web_is_half_as_sure_and_an_unknown_beginning_stays_unknown(town: Lab) -> None:
    say(town, "Sara", "knows", "Alexander Smith", provenance="https://example.org/people")
    assert recorded(town) == [(0, 0, 0.5, "web", "https://example.org/people", None)]


# The three anti-patterns


def test_related_to_is_never_written(town: Lab) -> None:
    with pytest.raises(BadInput) as refused:
        say(town, "Sara", "related_to", "Berlin")
    assert "homeLocation" in refused.value.remedy
    assert edges(town) == []


def test_moved_to_berlin_in_2023_never_begins_now_by_accident(town: Lab) -> None:
    said: dict[str, Any] = {"statement": "moved to Berlin in 2023"}
    shown = say(town, "Sara", "homeLocation", "Berlin", apply=False, start="today", **said)
    assert [q["answer"] for q in shown.as_json()["questions"]] == ["start-is-now", "year-differs"]
    for answered in ((), ("start-is-now",), ("year-differs",)):
        with pytest.raises(BadInput):
            say(town, "Sara", "homeLocation", "Berlin", start="today", answered=answered, **said)
    assert edges(town) == []
    say(town, "Sara", "homeLocation", "Berlin", **said)
    assert [row[:2] for row in recorded(town)] == [(0, 0)]


def test_no_entity_is_made_for_a_spelling(town: Lab) -> None:
    with pytest.raises(BadInput) as near:
        say(town, "Alex", "homeLocation", "Berlin")
    assert any("ent_smith" in line for line in near.value.details)
    with pytest.raises(BadInput):
        say(town, "Nobody", "homeLocation", "Berlin")
    assert town.case.count("curated_entities") == 5
    assert edges(town) == []


# Names


def test_a_merged_away_name_writes_to_its_survivor(town: Lab) -> None:
    result = say(town, "Lexi", "homeLocation", "Rome")
    assert edges(town)[0][:3] == ("ent_smith", "ent_smith", "ent_rome")
    assert result.assertion.subject.how == "alias"


def test_a_name_of_two_is_refused_and_either_can_be_named_by_its_id(town: Lab) -> None:
    town.case.entity("ent_berlin2", "place", "berlin")
    with pytest.raises(BadInput, match="several"):
        say(town, "Sara", "homeLocation", "Berlin")
    assert say(town, "Sara", "homeLocation", "ent_berlin2").created


def test_the_form_can_look_names_and_relations_up(town: Lab) -> None:
    with town.bench() as bench:
        assert bench.look_up("Lexi").found is Found.ALIAS
        assert bench.look_up("Alex").found is Found.NEAR
        assert [r.name for r in bench.relations_between("person", "place")] == ["homeLocation"]


def test_a_new_entity_comes_through_the_gate_and_only_when_it_was_asked_for(town: Lab) -> None:
    shown = say(town, "Sara", "homeLocation", "Porto", apply=False, new_object="Place")
    assert (shown.assertion.object.is_new, shown.assertion.object.type) == (True, "place")
    assert town.case.count("curated_entities") == 5
    result = say(town, "Sara", "homeLocation", "Porto", new_object="Place")
    (minted,) = result.minted
    row = town.case.rows("SELECT name, entity_type FROM curated_entities WHERE id = ?", minted)
    assert row == [("Porto", "place")]
    assert edges(town)[0][2] == minted


def test_what_is_there_is_not_made_anew(town: Lab) -> None:
    for name in ("Berlin", "berlin", "Lexi"):
        with pytest.raises(BadInput, match="there already"):
            say(town, "Sara", "homeLocation", name, new_object="place")


def test_a_held_mint_writes_neither_entity_nor_edge(town: Lab) -> None:
    town.case.manifest("tier_fact", manifest("person", "place", edge_types=EDGES))
    with pytest.raises(PolicyError):
        say(town, "Sara", "homeLocation", "Porto", new_object="place")
    assert (town.case.count("curated_entities"), edges(town)) == (5, [])


def test_an_edge_that_fails_takes_the_new_entity_back_with_it(town: Lab) -> None:
    town.case.run("CREATE TRIGGER boom BEFORE INSERT ON llm_wiki_edges BEGIN SELECT RAISE(ABORT, 'boom'); END")
    from ct_tui.domain.errors import BrainError

    with pytest.raises(BrainError):
        say(town, "Sara", "homeLocation", "Porto", new_object="place")
    assert town.case.count("curated_entities") == 5


def test_without_a_gate_nothing_new_is_let_in(town: Lab) -> None:
    with town.bench() as bench, pytest.raises(BadInput, match="no gate"):
        bench.assert_fact(Request("Sara", "homeLocation", "Porto", TURN, new_object="place"), apply=True)


def test_an_entity_is_not_related_to_itself_or_to_its_namesake(town: Lab) -> None:
    town.case.entity("ent_sara2", "person", "Sara ")
    with pytest.raises(BadInput):
        say(town, "ent_sara", "knows", "ent_sara")
    with pytest.raises(BadInput):
        say(town, "ent_sara", "knows", "ent_sara2")


# Showing first


def test_without_leave_nothing_is_written(town: Lab) -> None:
    before = town.db.read_bytes()
    shown = say(town, "Sara", "homeLocation", "Berlin", apply=False, start="2023")
    assert town.db.read_bytes() == before
    document = shown.as_json()
    assert (document["applied"], document["edge"], document["relation"]) == (False, None, "homeLocation")
    assert document["subject"] == {"id": "ent_sara", "name": "Sara", "type": "person", "how": "entity"}


@pytest.mark.parametrize(
    "how",
    [
        {"provenance": ""},
        {"provenance": "notes.md"},
        {"confidence": 1.0},
        {"confidence": 2.0},
        {"kind": "inferred", "confidence": 0.8},
        {"kind": "hearsay"},
        {"start": "17.5.2023"},
        {"start": "2023", "end": "2022"},
        {"provenance": "https://example.org/x", "kind": "user_stated"},
    ],
)
def test_what_the_guide_does_not_allow_is_refused_before_anything_is_written(town: Lab, how: dict[str, Any]) -> None:
    with pytest.raises(BadInput):
        say(town, "Sara", "homeLocation", "Berlin", **how)
    assert edges(town) == []


def test_only_words_of_the_user_are_certain(town: Lab) -> None:
    say(town, "Sara", "homeLocation", "Berlin", kind="user_stated")
    assert [row[2:4] for row in recorded(town)] == [(1.0, "user_stated")]


# Conflicts: the weaker is flagged, not dropped


def test_a_weaker_newcomer_is_flagged(town: Lab) -> None:
    first = say(town, "Sara", "homeLocation", "Berlin", start="2020", confidence=0.9)
    second = say(town, "Sara", "homeLocation", "Rome", start="2021", confidence=0.6)
    (conflict,) = second.as_json()["conflicts"]
    assert (conflict["object"]["name"], conflict["confidence"], conflict["weaker"]) == ("Berlin", 0.9, "new")
    assert second.flagged == (second.edge,)
    assert [row[5] for row in recorded(town)] == [None, first.edge]
    assert len(edges(town)) == 2


def test_a_weaker_one_that_stands_is_flagged_and_stays(town: Lab) -> None:
    first = say(town, "Sara", "homeLocation", "Berlin", confidence=0.6)
    second = say(town, "Sara", "homeLocation", "Rome", confidence=0.9)
    assert second.flagged == (first.edge,)
    assert [row[5] for row in recorded(town)] == [second.edge, None]
    assert len(edges(town)) == 2


def test_an_edge_of_the_librarian_counts_as_inferred_and_is_flagged_without_a_record(town: Lab) -> None:
    town.case.run(
        "INSERT INTO llm_wiki_edges VALUES ('edge_old', 'ent_sara', 'ent_sara', 'ent_berlin', 'homelocation', 5)"
    )
    second = say(town, "Sara", "homeLocation", "Rome", confidence=0.9)
    assert second.as_json()["conflicts"][0]["confidence"] is None
    assert second.flagged == ("edge_old",)
    assert town.case.rows("SELECT confidence, kind, flagged_by FROM ct_tui_assertion WHERE edge_id = 'edge_old'") == [
        (None, "unrecorded", second.edge)
    ]
    # Recording it later keeps the flag.
    again = say(town, "Sara", "homeLocation", "Berlin", confidence=0.6)
    assert (again.edge, again.created, again.recorded) == ("edge_old", False, True)
    assert town.case.value("SELECT flagged_by FROM ct_tui_assertion WHERE edge_id = 'edge_old'") == second.edge


def test_windows_that_do_not_overlap_are_no_conflict(town: Lab) -> None:
    say(town, "Sara", "homeLocation", "Berlin", start="2010", end="2015")
    assert say(town, "Sara", "homeLocation", "Rome", start="2015").as_json()["conflicts"] == []


def test_merged_ids_count_in_conflicts(town: Lab) -> None:
    town.case.run(
        "INSERT INTO llm_wiki_edges VALUES ('edge_old', 'ent_lexi', 'ent_lexi', 'ent_rome', 'homeLocation', 5)"
    )
    (conflict,) = say(town, "Alexander Smith", "homeLocation", "Berlin", apply=False).as_json()["conflicts"]
    assert conflict["object"]["name"] == "Rome"


# What stands already, and other writers


def test_what_stands_already_is_told_and_not_changed(town: Lab) -> None:
    first = say(town, "Sara", "homeLocation", "Berlin", start="2023-05-01", confidence=0.9)
    again = say(town, "Sara", "HOMELOCATION", "Berlin", start="2020", confidence=0.5)
    assert (again.edge, again.created, again.recorded) == (first.edge, False, False)
    assert "stands already" in again.notes[0]
    assert recorded(town) == [(MAY_2023, 0, 0.9, "conversation", TURN, None)]
    assert len(edges(town)) == 1


def test_an_edge_without_a_record_gets_one(town: Lab) -> None:
    town.case.run(
        "INSERT INTO llm_wiki_edges VALUES ('edge_old', 'ent_sara', 'ent_sara', 'ent_berlin', 'homeLocation', 5)"
    )
    result = say(town, "Sara", "homeLocation", "Berlin", start="2023-05-01")
    assert (result.edge, result.created, result.recorded) == ("edge_old", False, True)
    assert recorded(town)[0][:3] == (MAY_2023, 0, 0.7)
    assert len(edges(town)) == 1


@pytest.mark.parametrize(
    "meanwhile",
    [
        "UPDATE curated_entities SET deleted_at = 5 WHERE id = 'ent_berlin'",
        "INSERT INTO entity_redirects VALUES ('ent_sara', 'ent_smith', 1)",
        "DELETE FROM curated_entities WHERE id = 'ent_sara'",
    ],
)
def test_an_end_that_died_meanwhile_is_noticed_inside_the_transaction(town: Lab, meanwhile: str) -> None:
    with town.bench() as bench:
        shown = bench.assert_fact(Request("Sara", "homeLocation", "Berlin", TURN))
        town.case.run(meanwhile)
        with pytest.raises(StalePlan):
            write_assertion(bench.brain, shown.assertion, mints=None, answered=(), by="tester", now_ms=1)
    assert edges(town) == []


def test_no_column_is_added_to_anybody_elses_table(town: Lab) -> None:
    def columns() -> list[Any]:
        connection = sqlite3.connect(town.db)
        try:
            return connection.execute("SELECT sql FROM sqlite_master WHERE name NOT LIKE '%ct_tui%'").fetchall()
        finally:
            connection.close()

    before = columns()
    say(town, "Sara", "homeLocation", "Berlin")
    assert columns() == before


def test_a_read_only_brain_shows_and_refuses(town: Lab) -> None:
    from ct_tui.domain.errors import BrainError

    with town.bench(read_only=True) as bench:
        assert bench.assert_fact(Request("Sara", "homeLocation", "Berlin", TURN)).assertion.relation == "homeLocation"
        with pytest.raises(BrainError):
            bench.assert_fact(Request("Sara", "homeLocation", "Berlin", TURN), apply=True)
