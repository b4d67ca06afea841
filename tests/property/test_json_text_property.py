"""Appending to JSON text, and reading any text: what the strict reader takes, Python's own reader takes as well."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from ct_tui.domain.json_text import BadJson, append_to_array, members, parse_json

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=5)
KEYS = st.one_of(st.sampled_from(["k", "a", "]", "[", '"']), TEXTS)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=5,
)
LAYOUT = st.tuples(st.sampled_from([None, 1, "\t"]), st.booleans(), st.sampled_from(["", "\n", " \r\n"]))


def laid_out(document: Any, layout: tuple[Any, bool, str]) -> str:
    indent, ascii_only, edge = layout
    return edge + json.dumps(document, indent=indent, ensure_ascii=ascii_only) + edge


@settings(max_examples=300, deadline=None)
@given(st.dictionaries(KEYS, VALUES, max_size=4), st.none() | st.lists(VALUES, max_size=3), VALUES, LAYOUT)
def test_appending_only_inserts(rest: dict[str, Any], array: list[Any] | None, value: Any, layout: Any) -> None:
    document = {**rest, "k": array} if array is not None else {n: v for n, v in rest.items() if n != "k"}
    text = laid_out(document, layout)
    after = append_to_array(text, "k", value)
    assert parse_json(after) == {**document, "k": [*(array or []), value]}
    start = next(i for i, (a, b) in enumerate(zip(text, after, strict=False)) if a != b)
    grown = len(after) - len(text)
    # The inserted piece may begin like what follows it, so the cut may lie a little earlier.
    assert any(text == after[:at] + after[at + grown :] for at in range(start + 1))


@settings(max_examples=300, deadline=None)
@given(st.lists(st.tuples(KEYS, VALUES), max_size=5), st.sampled_from(["", " ", "\n\t"]))
def test_members_stand_where_they_are_said_to_stand(pairs: list[tuple[str, Any]], blank: str) -> None:
    text = "{" + ",".join(f"{blank}{json.dumps(k)}{blank}:{blank}{json.dumps(v)}{blank}" for k, v in pairs) + "}"
    assert [(m.key, json.loads(text[m.start : m.end])) for m in members(text)] == pairs


def same(one: Any, other: Any) -> bool:
    """Whether two values are equal, but for numbers beyond 64 bits, which the app reads as fractions."""
    if isinstance(one, list):
        return isinstance(other, list) and len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, dict):
        return isinstance(other, dict) and one.keys() == other.keys() and all(same(one[k], other[k]) for k in one)
    if isinstance(one, int) and not -(2**63) <= one < 2**64:
        return isinstance(other, float) and other == float(one)
    return type(one) is type(other) and one == other


@settings(max_examples=500, deadline=None)
@given(st.text(st.sampled_from('{}[]",:\\u0123456789dDaAfFeE+-. \ntrufalsn\ud83d\ude00é'), max_size=25) | st.text())
def test_reading_never_does_more_than_refuse(text: str) -> None:
    try:
        found = parse_json(text)
    except BadJson:
        return
    assert same(json.loads(text), found)


@settings(max_examples=300, deadline=None)
@given(VALUES, LAYOUT)
def test_whatever_the_app_writes_is_read(value: Any, layout: Any) -> None:
    assert parse_json(laid_out(value, layout)) == value
    assert parse_json(laid_out(value, layout).encode()) == value
