"""Grouping, near names and decisions on duplicates, without a brain."""

from __future__ import annotations

import datetime as dt
from itertools import combinations
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ct_tui.domain.apart import Apart
from ct_tui.domain.duplicates import (
    Candidate,
    Queued,
    Weight,
    decisions,
    find_groups,
    keep_apart,
    merge_into,
    near_groups,
    not_now,
    planned_merges,
    ranked_survivors,
    same_evidence,
)
from ct_tui.domain.names import merge_key
from ct_tui.domain.near import Named, NearSearch, Reason, shape, why_near
from ct_tui.domain.rulings import Except, Merge

if TYPE_CHECKING:
    import random


def candidate(entity_id: str, name: str = "Adrian", kind: str = "concept", summary: str = "same") -> Candidate:
    return Candidate(entity_id, name, kind, summary)


# Groups


def test_md01_the_survivor_is_the_byte_wise_lowest_id() -> None:
    (group,) = find_groups([candidate("entity::aaa"), candidate("ent_zzz")]).groups
    assert (group.survivor, group.losers, group.queued) == ("ent_zzz", ("entity::aaa",), None)
    (group,) = find_groups([candidate("ent_b"), candidate("ent_B"), candidate("ent_é")]).groups
    assert group.members == ("ent_B", "ent_b", "ent_é")


def test_md04_the_name_key() -> None:
    assert merge_key("Intent (x)") == "intent x" != merge_key("intentx")
    assert merge_key(" Café—Olga! ") == "café olga"
    assert merge_key("Zoë") != merge_key("Zo")
    assert merge_key("Zoë") == merge_key(" zoë ")
    assert merge_key("ΣΑΣ") == "σασ"
    assert merge_key("Cafe\u0301") == "cafe"


@given(st.text(alphabet=st.characters(max_codepoint=127)))
def test_the_short_way_for_plain_names_gives_the_same_key(name: str) -> None:
    slow = "".join(c.lower() if c.isalnum() else " " for c in name).split()
    assert merge_key(name) == " ".join(slow)


def test_md06_types_are_compared_before_summaries() -> None:
    groups = find_groups([candidate("e1", kind="person"), candidate("e2", summary="other")]).groups
    assert [g.queued for g in groups] == [Queued.TYPE_CONFLICT]
    groups = find_groups([candidate("e1", kind="Person"), candidate("e2", kind="person")]).groups
    assert [g.queued for g in groups] == [Queued.TYPE_CONFLICT]


@pytest.mark.parametrize(
    ("one", "other", "queued"),
    [
        ("", "", Queued.SUMMARY_MISMATCH),
        ("", "real", Queued.SUMMARY_MISMATCH),
        ("!!!", "…", Queued.SUMMARY_MISMATCH),
        ("alpha", "beta", Queued.SUMMARY_MISMATCH),
        ("works on, pipelines", "works on pipelines!", None),
    ],
)
def test_md08_md09_summaries_must_be_given_and_equal(one: str, other: str, queued: Queued | None) -> None:
    (group,) = find_groups([candidate("e1", summary=one), candidate("e2", summary=other)]).groups
    assert group.queued is queued


def test_names_of_punctuation_alone_never_group() -> None:
    assert not find_groups([candidate("e1", "!!!"), candidate("e2", "???"), candidate("e3", "—")]).groups


def test_groups_come_in_the_order_of_their_survivors() -> None:
    rows = [candidate("e4", "Zed"), candidate("e1", "Zed"), candidate("e3"), candidate("e0"), candidate("e9", "Alone")]
    assert [g.survivor for g in find_groups(rows).groups] == ["e0", "e1"]


def test_what_rulings_keep_apart_is_no_open_group() -> None:
    rows = [candidate("e1"), candidate("e2")]
    found = find_groups(rows, Apart([("e1", "e2")]))
    assert (found.groups, found.apart) == ((), (("e1", "e2"),))
    (group,) = find_groups([*rows, candidate("e3")], Apart([("e1", "e2")])).groups
    assert group.queued is Queued.KEPT_APART


# Decisions


def test_the_best_known_member_is_the_first_suggestion_and_ties_go_to_the_lowest_id() -> None:
    def weight(entity_id: str, facts: int, *, declared: bool = True, summary: bool = True) -> Weight:
        return Weight(entity_id, "Adrian", "concept", facts, 0, summary, declared)

    ranked = ranked_survivors([weight("e1", 1), weight("e2", 9), weight("e3", 9, declared=False), weight("e0", 1)])
    assert [s.type for s in ranked] == ["e2", "e3", "e0", "e1"]
    bodies = decisions(("e0", "e1", "e2", "e3"), ranked)
    assert bodies[0] == Merge("e2", ("e0", "e1", "e3"))
    assert bodies[-1] == Except("duplicate", ("e0", "e1", "e2", "e3"))
    assert len(bodies) == 5


def test_the_three_answers_to_a_group() -> None:
    day = dt.date(2026, 12, 1)
    assert merge_into(("a", "b", "c"), "b") == Merge("b", ("a", "c"))
    assert keep_apart(("b", "a")) == Except("duplicate", ("a", "b"))
    assert not_now(("b", "a"), day) == Except("duplicate", ("a", "b"), day)


def test_ruled_merges_become_redirects_and_say_why_they_cannot() -> None:
    live = {"a": "Alex", "b": "Alexander", "c": "Alec", "x": "X"}
    merges = [(1, Merge("a", ("b",))), (2, Merge("c", ("a",))), (3, Merge("gone", ("x",))), (4, Merge("x", ("away",)))]
    changes, notes = planned_merges(merges, live, {"away": "elsewhere"})
    assert [(c.entity, c.before, c.after, c.ruling) for c in changes] == [("b", None, "a", 1), ("a", None, "c", 2)]
    assert notes == (
        "ruling #3: the survivor gone is no live entity",
        "ruling #4: away was merged into elsewhere already",
    )


def test_a_merge_that_stands_already_asks_for_nothing() -> None:
    assert planned_merges([(1, Merge("a", ("b",)))], {"a": "A"}, {"b": "a"}) == ((), ())
    assert planned_merges([(1, Merge("a", ("b",)))], {"c": "C"}, {"b": "a", "a": "c"}) == ((), ())


def test_merges_in_a_circle_or_against_another_ruling_are_refused() -> None:
    live = {"a": "A", "b": "B"}
    _, notes = planned_merges([(1, Merge("a", ("b",))), (2, Merge("b", ("a",)))], live, {})
    assert notes == ("ruling #2: a would be merged into itself",)
    _, notes = planned_merges([(1, Merge("p", ("a",)))], live, {"p": "q", "q": "p"})
    assert notes == ("ruling #1: p stands on a circle of redirects",)
    _, notes = planned_merges([(1, Merge("a", ("b",)))], live, {}, Apart([("a", "b")]))
    assert notes == ("ruling #1: b and a are kept apart by another ruling",)


# Near names


NEAR = [
    ("Alex", "Alexander Smith", Reason.SHORT),
    ("Smith", "Alexander Smith", Reason.SHORT),
    ("Alex Smith", "Alexander Smith", Reason.NICKNAME),
    ("Bob Jones", "Robert Jones", Reason.NICKNAME),
    ("Bill Gates", "Will Gates", Reason.NICKNAME),
    ("A. Smith", "Alexander Smith", Reason.INITIALS),
    ("J.R. Tolkien", "John Ronald Tolkien", Reason.INITIALS),
    ("WHO", "World Health Organization", Reason.ACRONYM),
    ("Smith, Alexander", "Alexander Smith", Reason.ORDER),
    ("Data Center", "DataCenter", Reason.SPACING),
    ("Café Olga", "Cafe Olga", Reason.ACCENTS),
    ("Adrian", "Аdrian", Reason.LOOK_ALIKE),
    ("Zoë", "Zoe\u0308", Reason.LOOK_ALIKE),
    ("Adrian", "Adrien", Reason.SPELLING),
    ("Watcher lock", "Wacther lock", Reason.SPELLING),
    ("Elisabeth Mueller", "Elizabeth Muller", Reason.SPELLING),
    ("Concept Map", "Concept Maps", Reason.SPELLING),
]

FAR = [
    ("Concept 17", "Concept 18"),
    ("Project 1", "Project 11"),
    ("Release 2025-01-01", "Release 2026-01-01"),
    ("Team A", "Team B"),
    ("Jonas", "Tomas"),
    ("Wei", "Mei"),
    ("North Station", "South Station"),
    ("Product", "Project"),
    ("Memo", "Memo 18"),
    ("Bob Jones", "Robert Johnson"),
    ("A. Smith", "Bernard Smith"),
    ("who", "World Health Organization"),
    ("Adrian", "adrian!"),
    ("!!!", "???"),
]


@pytest.mark.parametrize(("one", "other", "reason"), NEAR)
def test_near_names_are_near_both_ways_with_their_reason(one: str, other: str, reason: Reason) -> None:
    assert why_near(shape(one), shape(other)) is reason
    assert why_near(shape(other), shape(one)) is reason


@pytest.mark.parametrize(("one", "other"), FAR)
def test_far_names_are_far(one: str, other: str) -> None:
    assert why_near(shape(one), shape(other)) is None
    assert why_near(shape(other), shape(one)) is None


def search(names: list[str], kind: str = "person") -> set[frozenset[str]]:
    rows = [Named(f"ent_{i:05}", n, kind) for i, n in enumerate(names)]
    pairs = list(NearSearch().pairs(lambda: rows, len(rows)))
    assert len({frozenset({p.one.id, p.other.id}) for p in pairs}) == len(pairs)
    return {frozenset({p.one.name, p.other.name}) for p in pairs}


@pytest.mark.parametrize(("one", "other", "reason"), NEAR)
def test_the_search_finds_every_kind_of_near_pair(one: str, other: str, reason: Reason) -> None:
    assert search([one, "Somebody Else", other, "A Third Thing"]) == {frozenset({one, other})}


def test_parts_of_names_count_among_persons_only() -> None:
    assert search(["Watcher", "Watcher lock"], "component") == set()
    assert search(["Alex", "Alexander Smith"], "component") == set()
    assert search(["Alex Smith", "Alexander Smith"], "component") == {frozenset({"Alex Smith", "Alexander Smith"})}


_WORDS = ("adrian", "bellona", "cascade", "dorothea", "ember", "fjord", "gantry", "harbour", "isolde", "juniper")


@settings(max_examples=60, deadline=None)
@given(st.randoms(use_true_random=False), st.integers(2, 40))
def test_the_search_finds_what_comparing_all_with_all_finds(rng: random.Random, count: int) -> None:
    names = [_slipped(rng, " ".join(rng.sample(_WORDS, rng.randint(1, 3)))) for _ in range(count)]
    shapes = {n: shape(n) for n in names}
    one_slip = {
        frozenset({a, b})
        for a, b in combinations(set(names), 2)
        if why_near(shapes[a], shapes[b]) in {Reason.SPELLING, Reason.ORDER, Reason.SPACING}
        and _slips(shapes[a].compact, shapes[b].compact) <= 1
    }
    assert one_slip <= search(names, "concept")


def _slipped(rng: random.Random, name: str) -> str:
    at = rng.randrange(len(name))
    kind = rng.randrange(4)
    if kind == 0:
        return name
    if kind == 1:
        return name[:at] + rng.choice("aeiou") + name[at + 1 :]
    if kind == 2:
        return name[:at] + name[at + 1 :]
    return name[:at] + name[at : at + 2][::-1] + name[at + 2 :]


def _slips(one: str, other: str) -> int:
    from rapidfuzz.distance import OSA

    return OSA.distance(one, other)


def test_a_crowded_block_meets_its_neighbours_and_is_counted() -> None:
    letters = "bcdfghjkmnpqrstvwxz"
    names = [
        f"Working group {letters[i % 19]}{letters[i // 19 % 19]}{letters[(i * 7) % 19]}ashford" for i in range(300)
    ]
    rows = [Named(f"ent_{i:05}", n, "concept") for i, n in enumerate([*names, names[17][:-1] + "t"])]
    search_ = NearSearch()
    found = {frozenset({p.one.name, p.other.name}) for p in search_.pairs(lambda: rows, len(rows))}
    assert search_.crowded > 0
    assert frozenset({names[17], names[17][:-1] + "t"}) in found


def test_a_common_given_name_does_not_meet_itself() -> None:
    names = [f"Alexander {chr(65 + i % 26)}{'xyz'[i % 3] * 3}{chr(97 + i // 26)}berg" for i in range(300)]
    rows = [Named(f"ent_{i:05}", n, "person") for i, n in enumerate([*names, "Alex"])]
    pairs = [p for p in NearSearch().pairs(lambda: rows, len(rows)) if p.reason is Reason.SHORT]
    assert 0 < len(pairs) <= 60
    assert all("Alex" in {p.one.name, p.other.name} for p in pairs)


# Evidence


def test_rare_passages_count_and_common_ones_do_not() -> None:
    quotes = [("p1", "a"), ("p1", "b"), ("p2", "a"), ("p2", "b"), ("p3", "a"), *(("common", f"e{i}") for i in range(9))]
    assert same_evidence(quotes) == {frozenset({"a", "b"}): 2}


def test_shared_evidence_and_types_weigh_near_pairs() -> None:
    rows = [
        Named("a", "Adrian", "person"),
        Named("b", "Adrien", "person"),
        Named("c", "Elena", "person"),
        Named("d", "Elina", "place"),
    ]
    pairs = list(NearSearch().pairs(lambda: rows, 4))
    found = near_groups(pairs, {frozenset({"a", "b"}): 2})
    assert [g.members for g in found] == [("a", "b"), ("c", "d")]
    assert "both quote 2 of the same passages" in found[0].reasons
    assert "but one is person and the other place" in found[1].reasons
    assert not near_groups(pairs[:0], {})
    assert [g.members for g in near_groups(pairs, {}, Apart([("a", "b")]))] == [("c", "d")]
