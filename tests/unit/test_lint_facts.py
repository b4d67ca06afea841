"""The rules on facts: each with rows that it must find and rows that it must leave alone."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ct_tui.domain.lint.compound import fact_compound, why_compound
from ct_tui.domain.lint.facts import (
    KnownSources,
    Provenance,
    confidence,
    edge_time_units,
    entity_time_units,
    fact_time_units,
    start_is_write_time,
    window_inverted,
)
from ct_tui.domain.lint.model import EdgeRow, EntityRow, FactRow, Kind, Severity

WRITTEN = 1_759_276_800_000
"""When the facts of these tests were written, in ms: 1 October 2025."""

KNOWN = KnownSources(
    frozenset({"a" * 32, "b" * 32}), frozenset({7}), frozenset({"/vault/notes.md"}), frozenset({"seedhandbook"})
)
TOKEN = "librarian-" + "0" * 32


def fact(**columns: Any) -> FactRow:
    usual: dict[str, Any] = {
        "id": "fact_1", "entity_id": "ent_1", "title": "A title", "body": "A body.", "confidence": "inferred",
        "source_type": "librarian_inferred", "source_ref": TOKEN, "created_at": WRITTEN, "updated_at": WRITTEN,
    }  # fmt: skip
    return FactRow(**{**usual, **columns})


def evidence(*elements: dict[str, Any]) -> str:
    return json.dumps({"proposal_id": None, "evidence": list(elements)})


# A window and not a moment


@pytest.mark.parametrize("start", [WRITTEN, WRITTEN + 2000, WRITTEN - 2000])
def test_a_beginning_at_the_time_of_writing_is_found(start: int) -> None:
    (found,) = start_is_write_time(fact(valid_from=start))
    assert (found.rule, found.severity) == ("fact-start-is-write-time", Severity.WARNING)
    assert (found.focus.kind, found.focus.id, found.path) == (Kind.FACT, "fact_1", "llm_wiki_entries.valid_from")
    assert found.value == start
    assert found.entity == "ent_1"


@pytest.mark.parametrize("start", [None, 0, WRITTEN - 2001, WRITTEN + 2001, WRITTEN - 86_400_000, "soon", b"\xff"])
def test_an_unknown_or_another_beginning_is_none(start: Any) -> None:
    assert not list(start_is_write_time(fact(valid_from=start)))


@pytest.mark.parametrize("columns", [{"okf_type": "event"}, {"entity_type": "Action"}, {"okf_type": " session_recap "}])
def test_what_happens_as_it_is_written_may_begin_then(columns: dict[str, str]) -> None:
    assert not list(start_is_write_time(fact(valid_from=WRITTEN, **columns)))


def test_a_window_that_ends_before_it_begins_is_found() -> None:
    (found,) = window_inverted(fact(valid_from=WRITTEN, valid_to=WRITTEN - 1))
    assert (found.rule, found.severity) == ("fact-window-inverted", Severity.ERROR)


@pytest.mark.parametrize(
    ("start", "end"),
    [(WRITTEN, 0), (WRITTEN, None), (0, WRITTEN), (None, WRITTEN), (WRITTEN, WRITTEN), (-5_000_000_000_000, WRITTEN)],
)
def test_open_windows_and_early_beginnings_are_in_order(start: Any, end: Any) -> None:
    assert not list(window_inverted(fact(valid_from=start, valid_to=end)))


@pytest.mark.parametrize(
    ("columns", "path"),
    [
        ({"created_at": 1_759_276_800}, "llm_wiki_entries.created_at"),
        ({"updated_at": 1_759_276_800}, "llm_wiki_entries.updated_at"),
        ({"valid_from": 1_759_276_800}, "llm_wiki_entries.valid_from"),
        ({"valid_to": 1_759_276_800}, "llm_wiki_entries.valid_to"),
        ({"valid_from": 1_759_276_800_000_000}, "llm_wiki_entries.valid_from"),
        ({"valid_from": "2023"}, "llm_wiki_entries.valid_from"),
    ],
)
def test_a_time_in_another_unit_is_found(columns: dict[str, Any], path: str) -> None:
    (found,) = fact_time_units(fact(**columns))
    assert (found.rule, found.severity, found.path) == ("fact-time-unit", Severity.WARNING, path)


@pytest.mark.parametrize("start", [0, None, 473_385_600_000, -473_385_600_000, -14_182_940_000])
def test_years_long_before_the_writing_are_milliseconds_all_the_same(start: Any) -> None:
    assert not list(fact_time_units(fact(valid_from=start, valid_to=start)))


def test_the_right_unit_is_offered() -> None:
    (found,) = fact_time_units(fact(valid_from=1_759_276_800))
    assert found.fix == "write 1759276800000"
    (found,) = entity_time_units(EntityRow("ent_1", "n", "t", WRITTEN, 1_759_276_800))
    assert found.fix == "write 1759276800"


def test_entities_keep_seconds_and_edges_milliseconds() -> None:
    assert not list(entity_time_units(EntityRow("ent_1", "n", "t", 1_759_276_800, 0)))
    assert [f.focus.kind for f in entity_time_units(EntityRow("ent_1", "n", "t", WRITTEN, WRITTEN))] == [
        Kind.ENTITY
    ] * 2
    assert not list(edge_time_units(EdgeRow("edge_1", "a", "a", "b", "knows", WRITTEN)))
    (found,) = edge_time_units(EdgeRow("edge_1", "a", "a", "b", "knows", 1_759_276_800))
    assert (found.focus.kind, found.path, found.entity) == (Kind.EDGE, "llm_wiki_edges.created_at", "a")


# Honest confidence


@pytest.mark.parametrize(
    ("value", "source"),
    [
        ("certain", "librarian_inferred"),
        ("certain", "immutable_document"),
        ("certain", "user"),
        ("1.0", "librarian_inferred"),
        (1, "web"),
        ("0.9", "librarian_inferred"),
        ("1.5", "user_stated"),
        ("-0.1", "user_stated"),
        ("fairly sure", "user_stated"),
        ("", "user_stated"),
        ("nan", "user_stated"),
        (None, "user_stated"),
    ],
)
def test_confidence_that_cannot_be_meant_is_found(value: Any, source: str) -> None:
    (found,) = confidence(fact(confidence=value, source_type=source))
    assert (found.rule, found.severity, found.path) == (
        "fact-confidence",
        Severity.WARNING,
        "llm_wiki_entries.confidence",
    )


@pytest.mark.parametrize(
    ("value", "source"),
    [
        ("certain", "user_stated"),
        ("certain", "user_confirmed"),
        ("1.0", "user_stated"),
        ("inferred", "librarian_inferred"),
        ("tentative", "web"),
        ("0.7", "librarian_inferred"),
        ("0.5", "web"),
        (0, "web"),
    ],
)
def test_honest_confidence_is_left_alone(value: Any, source: str) -> None:
    assert not list(confidence(fact(confidence=value, source_type=source)))


# A source that can be opened


@pytest.mark.parametrize(
    ("ref", "kept"),
    [
        (None, None),
        ("", None),
        ("  ", None),
        (b"\xff\xfe", None),
        (TOKEN, None),
        (TOKEN, evidence()),
        (TOKEN, "{}"),
        (evidence(), None),
        ('{"evidence": "x"}', None),
        ('{"proposal_id": null, "evidence": [', None),
        (evidence({"quote": "no hash and no chunk"}), None),
    ],
)
def test_a_missing_source_and_an_empty_claim_are_errors(ref: Any, kept: str | None) -> None:
    (found,) = Provenance(KNOWN)(fact(source_ref=ref, evidence=kept))
    assert (found.rule, found.severity) == ("fact-provenance", Severity.ERROR)


@pytest.mark.parametrize(
    ("ref", "kept"),
    [
        ("documents/notes.md", None),
        ("librarian-notes.md", None),
        (evidence({"content_hash": "c" * 32}), None),
        (evidence({"content_hash": "a" * 32}, {"content_hash": "c" * 32}), None),
        (TOKEN, evidence({"content_hash": "c" * 32})),
        (evidence({"chunk_id": 7, "content_hash": ""}), None),
        (evidence({"chunk_id": 8}), None),
    ],
)
def test_a_source_that_no_longer_resolves_is_a_warning(ref: str, kept: str | None) -> None:
    (found,) = Provenance(KNOWN)(fact(source_ref=ref, evidence=kept))
    assert (found.rule, found.severity) == ("fact-provenance", Severity.WARNING)


@pytest.mark.parametrize(
    ("ref", "kept"),
    [
        (evidence({"content_hash": "a" * 32}), None),
        (TOKEN, evidence({"content_hash": "a" * 32}, {"content_hash": "b" * 32})),
        ("/vault/notes.md", None),
        ("seedhandbook", None),
        ("imessage:turn-4812", None),
        ("https://example.org/a/page", None),
    ],
)
def test_a_source_that_is_named_and_there_is_left_alone(ref: str, kept: str | None) -> None:
    assert not list(Provenance(KNOWN)(fact(source_ref=ref, evidence=kept)))


# One subject, one predicate, one object


@pytest.mark.parametrize(
    "body",
    [
        "Sara moved to Berlin in 2023 and works for Acme.",
        "Sara is a nurse, but lives in Rome.",
        "Sara lives in Berlin. She works for Acme.",
        "The outbox is a component; it also holds the queue.",
        "- lives in Berlin\n- works for Acme",
        "1. lives in Berlin\n2. works for Acme",
        "Tomas owns the boat while he lives in Porto.",
    ],
)
def test_two_assertions_in_one_fact_are_found(body: str) -> None:
    (found,) = fact_compound(fact(body=body))
    assert (found.rule, found.severity, found.path) == ("fact-compound", Severity.INFO, "llm_wiki_entries.body")


@pytest.mark.parametrize(
    "body",
    [
        "Memo is mentioned in note 23.",
        "Sara lives in Berlin.",
        "She likes salt and pepper.",
        "The team supports search and ranking.",
        "Research and Development moved to Ghent.",
        "Ann and Bob work at Acme.",
        "Speaks German and French.",
        "Dr. Smith lives in St. Louis.",
        "Version 2.0 is out. It was mentioned in note 4.",
        'He said "I am here. She is there and works."',
        "The lock holds between 2 and 3 seconds.",
        "",
        "body of ent_1",
        "and is",
    ],
)
def test_one_assertion_is_left_alone(body: str) -> None:
    assert why_compound(body) is None


@pytest.mark.parametrize("body", [" " * 200_000 + "and is", '"' * 200_000 + " and is", ", " * 200_000 + "and is"])
def test_a_body_made_to_stall_the_reader_does_not(body: str) -> None:
    assert why_compound(body) is None
