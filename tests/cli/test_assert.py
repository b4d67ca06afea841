"""`assert` through the command line: the guide's example, its anti-patterns, and what stands in the brain after."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest

from tests.policy.brains import manifest

if TYPE_CHECKING:
    from tests.cli.conftest import Ct
    from tests.policy.brains import Case

SOURCE = ("--provenance", "imessage:turn-4812")
SARA = ("assert", "Sara", "lives_in", "Berlin")
JANUARY_2023 = 1_672_531_200_000


@pytest.fixture
def town(case: Case, on_case: Ct) -> Ct:
    """A brain that knows Sara, Berlin, Rome and the relation lives_in."""
    document = manifest("person", "place", fallback="person")
    document["edge_types"] = [{"type": "lives_in", "source_type": "person", "target_type": "place"}]
    case.manifest("tier_fact", document)
    case.entity("ent_sara", "person", "Sara")
    case.entity("ent_berlin", "place", "Berlin")
    case.entity("ent_rome", "place", "Rome")
    return on_case


def edges(case: Case) -> list[tuple[Any, ...]]:
    return case.rows("SELECT source_id, edge_type, target_id FROM llm_wiki_edges")


def test_the_guides_example(case: Case, town: Ct) -> None:
    words = (*SARA, "--from", "2023-01-01", "--confidence", "0.9", *SOURCE)
    shown = town.json(*words)
    assert (shown["applied"], shown["edge"]) == (False, None)
    assert (shown["subject"]["id"], shown["object"]["id"]) == ("ent_sara", "ent_berlin")
    assert edges(case) == []
    written = town.json(*words, "--yes")
    assert (written["applied"], written["created"]) == (True, True)
    assert (written["from"], written["to"], written["confidence"]) == (JANUARY_2023, 0, 0.9)
    assert edges(case) == [("ent_sara", "lives_in", "ent_berlin")]
    assert town.json(*words, "--yes")["created"] is False
    assert len(edges(case)) == 1


def test_an_unknown_beginning_is_never_now(case: Case, town: Ct) -> None:
    assert town.json(*SARA, *SOURCE, "--yes")["from"] == 0


def test_a_beginning_that_is_now_has_to_be_answered_for(case: Case, town: Ct) -> None:
    asked = town.json(*SARA, "--from", "today", *SOURCE)["questions"]
    assert [q["answer"] for q in asked] == ["start-is-now"]
    assert "become true today" in town.refused(*SARA, "--from", "today", *SOURCE, "--yes")
    moved = ("--statement", "moved to Berlin in 2023")
    assert town.refused(*SARA, "--from", "now", *moved, *SOURCE, "--yes", "--answer", "start-is-now")
    assert edges(case) == []
    assert (
        town(
            "assert", "Sara", "lives_in", "Berlin", "--from", "today", *SOURCE, "--yes", "--answer", "start-is-now"
        ).code
        == 0
    )


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["Sara", "related_to", "Berlin", *SOURCE], "never written"),
        (["Sara", "hates", "Berlin", *SOURCE], "not a declared relation"),
        (["Berlin", "lives_in", "Sara", *SOURCE], "the other way round"),
        (["Sara", "lives_in", "Sara", *SOURCE], "Sara"),
        (["Nobody", "lives_in", "Berlin", *SOURCE], "no entity is called"),
        (["Sara", "lives_in", "Berlin"], "provenance"),
        (["Sara", "lives_in", "Berlin", "--provenance", "somewhere"], "no turn and no address"),
        (["Sara", "lives_in", "Berlin", *SOURCE, "--confidence", "1.0"], "word for word"),
        (["Sara", "lives_in", "Berlin", *SOURCE, "--confidence", "7"], "no confidence"),
        (["Sara", "lives_in", "Berlin", *SOURCE, "--from", "someday"], "is not a date"),
        (["Sara", "lives_in", "Berlin", *SOURCE, "--from", "2023", "--to", "2021"], "begin"),
        (["Sara", "lives_in", "Berlin", *SOURCE, "--kind", "gossip"], "no kind of source"),
    ],
)  # fmt: skip
def test_what_the_guide_does_not_allow(case: Case, town: Ct, words: list[str], said: str) -> None:
    assert said in town.refused("assert", *words, "--yes")
    assert edges(case) == []


def test_a_new_entity_comes_in_through_the_gate(case: Case, town: Ct) -> None:
    before = case.count("curated_entities")
    shown = town.json("assert", "Sara", "lives_in", "Lisbon", "--new-object", "place", *SOURCE)
    assert shown["object"] == {"id": None, "name": "Lisbon", "type": "place", "how": "new"}
    assert case.count("curated_entities") == before
    written = town.json("assert", "Sara", "lives_in", "Lisbon", "--new-object", "place", *SOURCE, "--yes")
    assert written["minted"] == [written["object"]["id"]]
    assert town.json("ledger", written["minted"][0])["entity"]["type"] == "place"
    case.tier("person", "place")
    held = town.refused("assert", "Sara", "lives_in", "Porto", "--new-object", "place", *SOURCE, "--yes")
    assert "gate holds" in held
    assert case.value("SELECT COUNT(*) FROM curated_entities WHERE name = 'Porto'") == 0


def test_the_weaker_of_two_contradicting_facts_is_flagged_not_dropped(case: Case, town: Ct) -> None:
    first = town.json(*SARA, "--from", "2023-01-01", "--confidence", "0.9", *SOURCE, "--yes")
    rome = ("assert", "Sara", "lives_in", "Rome", "--from", "2023-06-01", "--confidence", "0.5", *SOURCE)
    conflict = town.json(*rome)["conflicts"][0]
    assert (conflict["edge"], conflict["confidence"], conflict["weaker"]) == (first["edge"], 0.9, "new")
    second = town.json(*rome, "--yes")
    assert second["flagged"] == [second["edge"]]
    assert len(edges(case)) == 2


def test_an_unknown_name_comes_with_the_option_that_makes_it(town: Ct) -> None:
    assert "--new-subject TYPE" in town("assert", "Nobody", "lives_in", "Berlin", *SOURCE).err
    assert "--new-object TYPE" in town("assert", "Sara", "lives_in", "Berlim", *SOURCE).err


def test_a_name_that_may_be_several_is_asked_about(ct: Ct) -> None:
    done = ct("assert", "Noor", "worksFor", "Tessera", *SOURCE)
    assert done.code == 1
    assert "may be several" in done.sentence
    with closing(sqlite3.connect(ct.brain / "brain.db")) as db:
        ids = [i for (i,) in db.execute("SELECT id FROM curated_entities WHERE name = 'Tessera'")]
    assert all(i in done.err for i in ids)


def test_read_only_shows_and_never_writes(case: Case, town: Ct) -> None:
    assert town("--read-only", *SARA, *SOURCE).code == 0
    assert "read-only" in town.refused("--read-only", *SARA, *SOURCE, "--yes")
    assert edges(case) == []
    assert json.loads(case.raw())["edge_types"]
