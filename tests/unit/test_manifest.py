"""Manifests: read as leniently as the app does, and the vocabulary that comes of it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ct_tui.domain.manifest import (
    SEED_TYPES,
    TIER_FACT,
    EdgeType,
    Manifests,
    NodeType,
    Vocabulary,
    add_edge_type,
    add_node_type,
    read_manifest_row,
    read_vocabulary,
)


def vocabulary(*types: Any, fallback: Any = None, edges: Any = ()) -> Vocabulary:
    return read_vocabulary({"node_types": list(types), "edge_types": list(edges), "fallback_node_type": fallback})


def test_objects_and_bare_strings_are_types() -> None:
    found = vocabulary("person", {"type": "place", "description": "Where."}, {"type": " role "})
    assert found.names == ("person", "place", "role")
    assert found.by_key["place"] == NodeType("place", "Where.")


@pytest.mark.parametrize(
    "item", ["", " ", "\u3000", None, 7, [], {}, {"type": None}, {"type": ""}, {"name": "x"}, True]
)
def test_what_names_no_type_is_skipped(item: Any) -> None:
    assert vocabulary(item, "person").names == ("person",)


def test_the_first_spelling_of_a_key_is_canonical() -> None:
    found = vocabulary("Person", "PERSON", {"type": " person"})
    assert found.names == ("Person",)
    assert found.canonical(" pErSoN\n") == "Person"
    assert "PERSON" in found
    assert 7 not in found
    assert len(found.by_key) == 1


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("PERSON", "Person"),
        (" person ", "Person"),
        ("thing", "thing"),
        (" Thing ", "Thing"),
        ("", None),
        (7, None),
        (None, None),
    ],
)
def test_the_fallback_is_spelled_as_it_is_declared_or_kept_raw(given: Any, kept: str | None) -> None:
    found = vocabulary("Person", fallback=given)
    assert found.fallback == kept
    assert found.usable is (kept == "Person")


def test_usable_needs_a_type_and_a_declared_fallback() -> None:
    assert not vocabulary(fallback="person").usable
    assert not vocabulary("person").usable
    assert vocabulary("person", fallback="person").usable


@pytest.mark.parametrize(
    "document", [None, [], "x", 7, {}, {"node_types": None}, {"node_types": "x"}, {"node_types": {}}]
)
def test_any_other_shape_is_an_empty_vocabulary(document: Any) -> None:
    assert read_vocabulary(document) == Vocabulary()


def test_edges_keep_every_signature_of_a_name() -> None:
    found = vocabulary(
        "person",
        edges=[
            {"type": "knows", "source_type": "person", "target_type": "person"},
            {"type": " Knows ", "source_type": "person", "target_type": "place"},
            "likes",
            {"type": "odd", "source_type": 7},
            None,
        ],
    )
    assert [(e.source_type, e.target_type) for e in found.edge_definitions("KNOWS")] == [
        ("person", "person"),
        ("person", "place"),
    ]
    assert found.edge_definitions("likes") == (EdgeType("likes"),)
    assert found.edge_definitions("odd")[0].source_type is None
    assert found.edge_definitions("none") == ()


def test_the_parent_is_one_hop() -> None:
    found = vocabulary({"type": "spec", "parent_type": "work"}, {"type": "work", "parent_type": "thing"}, "thing")
    assert found.parent_of("SPEC") == "work"
    assert found.parent_of("thing") is None
    assert found.parent_of("nobody") is None


def test_the_seed_family_in_any_casing() -> None:
    assert len(SEED_TYPES) == 17
    assert vocabulary(*(s.upper() for s in SEED_TYPES), "more").is_seed_family
    assert not vocabulary(*SEED_TYPES[1:]).is_seed_family


def test_concept_before_project_as_a_fallback() -> None:
    assert vocabulary("Project", "Concept").preferred_fallback() == "Concept"
    assert vocabulary("PROJECT").preferred_fallback() == "PROJECT"
    assert vocabulary("person").preferred_fallback() is None


@pytest.mark.parametrize("mode", ["strict", "off", "emergent", "Strict", ""])
def test_only_strict_is_strict(mode: str) -> None:
    row = read_manifest_row("x", mode, "{}")
    assert row.strict is (mode == "strict")
    assert row.readable


@pytest.mark.parametrize("mode", [None, 7, b"strict"])
def test_a_mode_that_is_no_text_is_not_strict_and_the_row_unreadable(mode: Any) -> None:
    row = read_manifest_row("x", mode, "{}")
    assert (row.strict, row.readable) == (False, False)


@pytest.mark.parametrize("raw", ["{", None, 7, 1.5, b"{}", b"\xff"])
def test_a_row_that_cannot_be_read_says_why_whatever_its_mode(raw: Any) -> None:
    for mode in ("strict", "off"):
        row = read_manifest_row("x", mode, raw)
        assert not row.readable
        assert row.error
        assert row.vocabulary is None


def test_the_rows_of_a_brain() -> None:
    rows = {key: read_manifest_row(key, "strict", '{"node_types":["person"]}') for key in (TIER_FACT, "ent_1")}
    found = Manifests(rows)
    assert found.vocabulary.names == ("person",)
    assert found.own_rows() == ("ent_1",)
    assert found.get("nobody") is None
    assert Manifests().vocabulary == Vocabulary()
    assert Manifests({TIER_FACT: read_manifest_row(TIER_FACT, "strict", "{")}).vocabulary == Vocabulary()


def test_added_types_carry_a_parent_only_where_they_have_one() -> None:
    """The engine refuses `parent_type: null`."""
    text = add_node_type("{}", NodeType("a", "d"))
    text = add_node_type(text, NodeType("b", "", "a"))
    text = add_edge_type(text, EdgeType("e", "a", "b"))
    assert json.loads(text) == {
        "node_types": [{"type": "a", "description": "d"}, {"type": "b", "description": "", "parent_type": "a"}],
        "edge_types": [{"type": "e", "source_type": "a", "target_type": "b", "description": ""}],
    }
