"""Rulings: which of them are in force, which cannot act, and how their fields are read."""

from __future__ import annotations

import datetime as dt
from typing import Any

import pytest

from ct_tui.domain.errors import BadInput
from ct_tui.domain.manifest import EdgeType, NodeType, Vocabulary
from ct_tui.domain.rulings import (
    KIND_OF,
    Alias,
    Body,
    Dead,
    EdgeRepair,
    Entry,
    Except,
    Keep,
    Legalize,
    Merge,
    Repair,
    Retype,
    Revoke,
    Ruling,
    RulingTable,
    State,
    dead_aliases,
    in_force,
    parse_body,
    retired,
    with_legalized,
)

NOON = dt.datetime(2026, 11, 2, 12, tzinfo=dt.UTC)
TODAY = NOON.date()


def made(seq: int, body: Body, supersedes: int | None = None) -> Ruling:
    return Ruling(seq, body, "a reason", "me@example.org", NOON, supersedes)


def table(*bodies: Body | tuple[Body, State] | tuple[Body, int], distrust: str = "") -> RulingTable:
    """Entries in order; a body alone is valid, else it comes with its state or with what it supersedes."""
    entries = []
    for seq, given in enumerate(bodies, 1):
        body, extra = given if isinstance(given, tuple) else (given, State.VALID)
        state = extra if isinstance(extra, State) else State.VALID
        ruling = made(seq, body, None if isinstance(extra, State) else extra)
        entries.append(Entry(seq, ruling.kind.value, state, ruling=ruling))
    return RulingTable(tuple(entries), distrust=distrust)


def acting(found: RulingTable) -> list[int]:
    return [r.seq for r in found.valid()]


def test_only_valid_entries_act() -> None:
    states = [s for s in State if s is not State.VALID]
    found = table(Alias("a", "b"), *((Alias(f"x{n}", "b"), s) for n, s in enumerate(states)))
    assert acting(found) == [1]
    assert len(found.problems()) == len(states)
    assert len(in_force(found).aliases) == 1


def test_nothing_acts_of_a_table_that_was_written_without_a_key() -> None:
    found = table(Alias("a", "b"), Keep("x"), distrust="entry 2 was changed")
    assert acting(found) == []
    assert not found.trusted
    assert in_force(found) == in_force(RulingTable())


def test_a_revocation_stops_what_came_before_it() -> None:
    assert acting(table(Alias("a", "b"), Revoke(1))) == [2]
    assert acting(table(Alias("a", "b"), Revoke(1), Revoke(2))) == [1, 3]
    assert acting(table(Alias("a", "b"), (Alias("a", "c"), 1), Revoke(2))) == [1, 3]


@pytest.mark.parametrize("state", [State.UNTRUSTED, State.EXPIRED, State.UNSIGNED, State.TAMPERED])
def test_a_revocation_that_is_not_valid_revokes_nothing(state: State) -> None:
    assert acting(table(Alias("a", "b"), (Revoke(1), state))) == [1]


def test_a_revocation_does_not_reach_forward() -> None:
    """It stops what was ruled before it; what somebody signs later is a decision of its own."""
    assert acting(table(Revoke(2), Alias("a", "b"))) == [1, 2]
    assert retired([made(1, Revoke(1))]) == frozenset()


def test_what_conflicting_rulings_superseded_stays_dead() -> None:
    found = table(Alias("a", "b"), (Alias("a", "c"), State.CONFLICTING))
    entries = list(found.entries)
    entries[1] = Entry(2, "alias", State.CONFLICTING, ruling=made(2, Alias("a", "c"), 1))
    assert acting(RulingTable(tuple(entries))) == []


def test_aliases_are_found_by_the_app_s_key() -> None:
    found = in_force(table(Alias(" Agent", "role")))
    assert found.alias_for("AGENT\n") is not None
    assert found.alias_for("agents") is None


def test_the_first_alias_of_a_label_wins_and_the_other_is_said() -> None:
    found = table(Alias("agent", "role"), Alias("Agent", "person"))
    alias = in_force(found).alias_for("agent")
    assert alias is not None
    assert alias.to_type == "role"
    [dead] = dead_aliases(found, words("role", "person"))
    assert (dead.ruling.seq, dead.why) == (2, Dead.DUPLICATE)


def words(*names: str) -> Vocabulary:
    return Vocabulary(tuple(NodeType(n) for n in names))


DEAD: list[tuple[list[tuple[str, str]], dict[int, Dead]]] = [
    ([("a", "role")], {}),
    ([("a", "ROLE ")], {}),
    ([("role", "person")], {1: Dead.DEAD}),
    ([("Role ", "person")], {1: Dead.DEAD}),
    ([("a", "nowhere")], {1: Dead.TARGET_UNDECLARED}),
    ([("a", "b"), ("b", "role")], {1: Dead.CHAIN}),
    ([("a", "b"), ("b", "c"), ("c", "role")], {1: Dead.CHAIN, 2: Dead.CHAIN}),
    ([("a", "a")], {1: Dead.CYCLE}),
    ([("a", "A ")], {1: Dead.CYCLE}),
    ([("a", "b"), ("b", "a")], {1: Dead.CYCLE, 2: Dead.CYCLE}),
    ([("x", "a"), ("a", "b"), ("b", "a")], {1: Dead.CHAIN, 2: Dead.CYCLE, 3: Dead.CYCLE}),
]


@pytest.mark.parametrize(("pairs", "dead"), DEAD)
def test_an_alias_that_cannot_act_is_told_apart(pairs: list[tuple[str, str]], dead: dict[int, Dead]) -> None:
    found = table(*(Alias(a, b) for a, b in pairs))
    assert {d.ruling.seq: d.why for d in dead_aliases(found, words("role", "person"))} == dead


def test_a_long_chain_of_aliases_is_walked_once() -> None:
    pairs = [(f"a{n}", f"a{n + 1}") for n in range(2_000)]
    found = table(*(Alias(a, b) for a, b in pairs))
    assert len(dead_aliases(found, words("role"))) == 2_000


def test_a_signed_legalisation_counts_as_declared() -> None:
    found = table(Alias("software", "document"), Legalize("document", "x"))
    assert dead_aliases(found, words("person")) == ()
    assert with_legalized(words("Document"), in_force(found)).names == ("Document",)
    assert with_legalized(words("person"), in_force(found)).names == ("person", "document")


def test_keeps_hold_to_their_last_day() -> None:
    found = in_force(table(Keep("Job", until=TODAY), Keep(entities=("e1",), until=TODAY), Keep("ship")))
    tomorrow, later = TODAY + dt.timedelta(days=1), TODAY + dt.timedelta(days=9_000)
    assert found.keeps_label(" job", TODAY) is not None
    assert found.keeps_label("job", tomorrow) is None
    assert found.kept_entities(TODAY) == {"e1"}
    assert found.kept_entities(tomorrow) == frozenset()
    assert found.keeps_label("ship", later) is not None


BODIES: list[Body] = [
    Alias("a", "b"),
    Legalize("t", "d"),
    Legalize("t", "d", "p", ("seed-family", "x"), (EdgeType("e", "s", "t"),)),
    Retype(("e1", "e2"), "a", "b"),
    Keep("t"),
    Keep("t", until=TODAY),
    Keep(entities=("e",)),
    Revoke(3),
    EdgeRepair(Repair.RENAME, ("e",), "to"),
    EdgeRepair(Repair.REVERSE, ("e",)),
    EdgeRepair(Repair.WIDEN, triple=("e", "s", "t"), manifests=("x",)),
    Merge("s", ("l1", "l2")),
    Except("rule", ("f",), TODAY),
]


@pytest.mark.parametrize("body", BODIES, ids=str)
def test_fields_and_bodies_are_inverse(body: Body) -> None:
    assert parse_body(KIND_OF[type(body)].value, body.fields()) == body


WRONG: list[tuple[str, dict[str, Any]]] = [
    ("alias", {}),
    ("alias", {"from": "a", "to": 7}),
    ("alias", {"from": " ", "to": "b"}),
    ("alias", {"from": "a", "to": "\u3000"}),
    ("legalize", {"type": "t"}),
    ("legalize", {"type": "t", "description": 7}),
    ("legalize", {"type": "t", "description": "d", "manifests": "tier_fact"}),
    ("legalize", {"type": "t", "description": "d", "manifests": []}),
    ("legalize", {"type": "t", "description": "d", "edges": [["a", "b"]]}),
    ("retype", {"entities": [], "from": "a", "to": "b"}),
    ("retype", {"entities": "e1", "from": "a", "to": "b"}),
    ("retype", {"entities": [7], "from": "a", "to": "b"}),
    ("keep", {}),
    ("keep", {"type": "t", "entities": ["e"]}),
    ("keep", {"type": "t", "until": "soon"}),
    ("keep", {"type": "t", "until": "2026-13-01"}),
    ("keep", {"type": "t", "until": 20261101}),
    ("revoke", {"revokes": "1"}),
    ("revoke", {"revokes": True}),
    ("edge", {"repair": "magic"}),
    ("edge", {"repair": "rename", "edges": ["e"]}),
    ("edge", {"repair": "drop"}),
    ("edge", {"repair": "widen"}),
    ("merge", {"survivor": "s"}),
    ("except", {"rule": "r"}),
    ("nonsense", {}),
]


@pytest.mark.parametrize(("kind", "fields"), WRONG)
def test_fields_of_another_shape_are_refused_in_a_sentence(kind: str, fields: dict[str, Any]) -> None:
    with pytest.raises(BadInput) as caught:
        parse_body(kind, fields)
    assert caught.value.message


def test_type_names_stay_the_strings_that_they_are() -> None:
    for name in ("no", "on", "null", "012", "1e3", "2026-10-03", "true"):
        assert parse_body("alias", {"from": name, "to": "role"}) == Alias(name, "role")
