"""Edits of JSON text leave every byte alone that they are not about."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from ct_tui.domain.json_text import members, remove_members, repeated_keys, set_member

KEYS = st.sampled_from(["a", "b", "ingest", "é", '"', "{", ""])
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.sampled_from(["", "}", ",", '"', "\\", "é"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=6,
)
BLANKS = st.sampled_from(["", " ", "\n", "\t", "\r\n  "])


@st.composite
def objects(draw: st.DrawFn) -> tuple[list[tuple[str, Any]], str]:
    """Members in file order, repeated keys among them, and a text with odd blanks."""
    pairs = draw(st.lists(st.tuples(KEYS, VALUES), max_size=5))
    blank = draw(BLANKS)
    body = f"{blank},{blank}".join(
        json.dumps(k, ensure_ascii=draw(st.booleans()))
        + f"{blank}:{blank}"
        + json.dumps(v, indent=draw(st.sampled_from([None, 1])))
        for k, v in pairs
    )
    return pairs, f"{blank}{{{blank}{body}{blank}}}{blank}"


@settings(max_examples=300, deadline=None)
@given(objects(), st.sets(KEYS))
def test_removing_members_keeps_the_text_of_the_others(made: tuple[list[tuple[str, Any]], str], gone: set[str]) -> None:
    pairs, text = made
    left = remove_members(text, gone.__contains__)
    kept = [(k, v) for k, v in pairs if k not in gone]
    assert json.loads(left) == dict(kept)
    assert [m.key for m in members(left)] == [k for k, _ in kept]
    pieces = [text[m.start : m.end] for m in members(text) if m.key not in gone]
    assert [left[m.start : m.end] for m in members(left)] == pieces


@settings(max_examples=300, deadline=None)
@given(objects(), KEYS, VALUES)
def test_setting_a_member_changes_only_that_one(made: tuple[list[tuple[str, Any]], str], key: str, value: Any) -> None:
    pairs, text = made
    changed = set_member(text, key, value)
    assert json.loads(changed) == {**dict(pairs), key: value}
    others = [text[m.start : m.end] for m in members(text)]
    now = [changed[m.start : m.end] for m in members(changed)]
    assert len(now) == len(others) + (key not in dict(pairs))
    at = max((i for i, (k, _) in enumerate(pairs) if k == key), default=len(others))
    assert now[:at] == others[:at]
    assert now[at + 1 :] == others[at + 1 :]


@settings(max_examples=300, deadline=None)
@given(objects())
def test_repeated_keys_are_found_at_any_depth(made: tuple[list[tuple[str, Any]], str]) -> None:
    pairs, text = made
    keys = [k for k, _ in pairs]
    assert set(repeated_keys(text)) == {k for k in keys if keys.count(k) > 1}
    nested = f'{{"x": [{text}, {{"y": {text}}}]}}'
    assert set(repeated_keys(nested)) == set(repeated_keys(text))
