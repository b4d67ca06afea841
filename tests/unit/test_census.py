"""What one type is to a vocabulary, and how anything a column holds is shown."""

from __future__ import annotations

from typing import Any

import pytest

from ct_tui.domain.census import (
    Disposition,
    Tally,
    TypeStatus,
    census,
    display,
    looks_like,
    readable,
    status_of,
    with_tallies,
)
from ct_tui.domain.manifest import NodeType, Vocabulary

WORDS = Vocabulary((NodeType("person"), NodeType("Role"), NodeType("résumé")))

STATES: list[tuple[Any, TypeStatus]] = [
    ("person", TypeStatus.DECLARED),
    ("Role", TypeStatus.DECLARED),
    ("role", TypeStatus.VARIANT),
    ("person ", TypeStatus.VARIANT),
    ("", TypeStatus.BLANK),
    ("\u2003", TypeStatus.BLANK),
    ("\x1f", TypeStatus.UNDECLARED),
    ("\u200b", TypeStatus.UNDECLARED),
    ("persona", TypeStatus.UNDECLARED),
    ("re\u0301sume\u0301", TypeStatus.UNDECLARED),
    (None, TypeStatus.UNREADABLE),
    (b"person", TypeStatus.UNREADABLE),
    (7, TypeStatus.UNREADABLE),
    (1.5, TypeStatus.UNREADABLE),
    ("per\0son", TypeStatus.UNREADABLE),
]


@pytest.mark.parametrize(("raw", "status"), STATES)
def test_the_state_of_a_type(raw: Any, status: TypeStatus) -> None:
    assert status_of(raw, WORDS) is status
    assert readable(raw) is (status is not TypeStatus.UNREADABLE)


def test_anything_is_shown_as_text() -> None:
    shown = {None: "NULL", b"\xff": "\ufffd", b"ok": "ok", 7: "7", 1.5: "1.5", "x": "x"}
    assert {k: display(k) for k in shown} == shown


def test_look_alikes_name_their_twin_and_nothing_else_does() -> None:
    assert looks_like("pers\u043en", WORDS) == "person"
    assert looks_like("re\u0301sume\u0301", WORDS) == "résumé"
    assert looks_like("ｒｏｌｅ", WORDS) == "Role"
    assert looks_like("persons", WORDS) is None
    assert looks_like("", WORDS) is None


def test_rows_come_by_number_and_then_by_name() -> None:
    found = census([("b", 1), ("a", 1), ("person", 5), (None, 2), (b"\xff", 2)], WORDS)
    assert [t.type for t in found.types] == ["person", "NULL", "\ufffd", "a", "b"]
    assert (found.live, found.undeclared_entities, found.undeclared_types, found.declared_types) == (11, 2, 2, 3)


def test_tallies_are_joined_by_what_stands_in_the_column() -> None:
    found = census([("role", 3), (b"role", 2)], WORDS)
    counts = Tally({Disposition.RECASE: 2, Disposition.SHIELDED: 1})
    rows = {t.raw: t for t in with_tallies(found, {"role": counts}).types}
    assert (rows["role"].retype, rows["role"].shielded, rows["role"].to) == (2, 1, "Role")
    assert rows[b"role"].retype == 0


def test_as_many_types_as_a_language_model_can_think_of_are_judged() -> None:
    words = Vocabulary(tuple(NodeType(f"declared type {n}") for n in range(200)))
    found = census([(f"label {n}", 1) for n in range(20_000)], words)
    assert (found.undeclared_types, found.live) == (20_000, 20_000)
