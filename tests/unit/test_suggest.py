"""Suggestions: ranked, and every point of a score said in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from ct_tui.domain.manifest import SEED_TYPES, NodeType, Vocabulary
from ct_tui.domain.rulings import Alias, InForce
from ct_tui.domain.suggest import LIMIT, Basis, default_reason, suggest, types_by_name
from tests.policy.brains import acting

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ct_tui.domain.queue import Suggestion

WORDS = Vocabulary(tuple(NodeType(s) for s in SEED_TYPES))


def ranked(
    label: str,
    words: Vocabulary = WORDS,
    edges: Mapping[str, tuple[int, int]] | None = None,
    rulings: InForce | None = None,
    used: Mapping[str, int] | None = None,
) -> tuple[Suggestion, ...]:
    return suggest(label, Basis(words, rulings or InForce(), edges or {}, used or {}))


@pytest.mark.parametrize(
    ("label", "first"),
    [
        ("agent", "role"),
        ("persn", "person"),
        ("organisation", "organization"),
        ("company", "organization"),
        ("runbook", "procedure"),
    ],
)
def test_the_first_suggestion(label: str, first: str) -> None:
    assert ranked(label)[0].type == first


def test_every_suggestion_has_a_reason_and_a_score() -> None:
    for label in ("agent", "document", "software", "x", "Ünïcode", " spaced label "):
        for suggestion in ranked(label):
            assert suggestion.why
            assert 0 < suggestion.score <= 1


def test_at_most_as_many_as_there_are_number_keys_best_first() -> None:
    found = ranked("agent", edges=dict.fromkeys(SEED_TYPES, (1, 2)))
    assert len(found) == LIMIT == 9
    assert [s.score for s in found] == sorted((s.score for s in found), reverse=True)


def test_edges_that_would_conform_count_and_are_said() -> None:
    found = ranked("blob", edges={"service": (9, 10), "place": (1, 10)})
    assert found[0].type == "service"
    assert found[0].why == ("9 of 10 edges would conform",)
    assert (found[0].edges_fit, found[0].edges_total) == (9, 10)


def test_reasons_add_up_but_never_past_certainty() -> None:
    alone = ranked("agent")[0]
    both = ranked("agent", edges={"role": (10, 10)})[0]
    assert both.type == alone.type == "role"
    assert alone.score < both.score <= 1
    assert len(both.why) == 2


def test_a_precedent_needs_a_like_label() -> None:
    rulings = acting(Alias("agents", "service"))
    assert "ruling #1 sent agents there" in {w for s in ranked("agent", rulings=rulings) for w in s.why}
    assert not any("ruling" in w for s in ranked("boat", rulings=rulings) for w in s.why)


def test_equal_scores_go_by_use_and_then_by_name() -> None:
    words = Vocabulary((NodeType("b"), NodeType("a"), NodeType("c")))
    edges = dict.fromkeys("abc", (1, 1))
    assert [s.type for s in ranked("zzz", words, edges)] == ["a", "b", "c"]
    assert [s.type for s in ranked("zzz", words, edges, used={"c": 5})] == ["c", "a", "b"]


def test_no_reason_no_suggestion() -> None:
    assert ranked("qqqqqq") == ()
    assert ranked("agent", Vocabulary()) == ()


def test_a_description_that_speaks_of_it_counts() -> None:
    words = Vocabulary((NodeType("vessel", "A ship or a boat."), NodeType("place")))
    [found] = ranked("boat", words)
    assert found.type == "vessel"
    assert "its description speaks of boat" in found.why


def test_the_reason_that_a_ruling_is_prefilled_with() -> None:
    found = ranked("agent")[0]
    assert default_reason("agent", "role", found) == f"agent means role here: {'; '.join(found.why)}"
    assert default_reason("agent", "person", None) == "agent means person here"


def test_types_by_name_put_the_typed_one_first() -> None:
    assert types_by_name(WORDS, "ser")[0].name == "service"
    assert types_by_name(WORDS, "PERSON")[0].name == "person"
    assert len(types_by_name(WORDS, " ")) == len(SEED_TYPES)
    assert types_by_name(Vocabulary(), "x") == []
