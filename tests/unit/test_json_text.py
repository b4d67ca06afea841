"""JSON as the app reads it, and edits that leave every other byte alone."""

from __future__ import annotations

import json

import pytest

from ct_tui.domain.json_text import (
    MAX_DEPTH,
    BadJson,
    append_to_array,
    compact,
    kind_of,
    members,
    parse_json,
    parse_object,
    set_member,
)

REFUSED = {
    "": "Expecting value",
    " ": "Expecting value",
    "{": "line 1 column",
    '{"a":1': "line 1 column",
    '{"a":1}x': "Extra data",
    "{'a':1}": "line 1 column",
    '{"a":1,}': "line 1 column",
    "[1,]": "line 1 column",
    "nul": "Expecting value",
    "NaN": "NaN is not JSON",
    '{"a":[-Infinity]}': "-Infinity is not JSON",
    "1e999": "out of range",
    '{"a":' + "9" * 5000 + "}": "out of range",
    "-" + "9" * 5000: "out of range",
    "\ufeff{}": "byte order mark",
    '"\\ud800"': "lone surrogate",
    '{"\\udfff":1}': "lone surrogate",
    '["\\ud83d x"]': "lone surrogate",
    '"a\nb"': "control character",
    '"\\x41"': "line 1 column",
    "01": "Extra data",
    "+1": "Expecting value",
    ".5": "Expecting value",
    "[" * 100_000: "nested too deeply",
    '{"a":' * 100_000: "nested too deeply",
    "[" * (MAX_DEPTH + 1) + "]" * (MAX_DEPTH + 1): "nested too deeply",
}


@pytest.mark.parametrize("text", REFUSED, ids=range(len(REFUSED)))
def test_what_the_app_would_refuse_is_refused_with_a_reason(text: str) -> None:
    with pytest.raises(BadJson) as caught:
        parse_json(text)
    assert REFUSED[text].lower() in str(caught.value).lower()


ACCEPTED = [
    "null", "true", "0", "-0", "1.5e-400", "12345678901234567890", "1E5", '"é\\u00e9\\ud83d\\ude00"', "[]", "{}",
    '{"a":1,"a":2}', '\t{ "a" :\r\n[ 1 , 2 ] } \n', "[" * MAX_DEPTH + "]" * MAX_DEPTH, '"' + "[" * 500 + '"',
    '{"' + "{" * 500 + '\\"":1}',
]  # fmt: skip


@pytest.mark.parametrize("text", ACCEPTED, ids=range(len(ACCEPTED)))
def test_what_the_app_would_take_is_taken(text: str) -> None:
    assert parse_json(text) == json.loads(text)


def test_a_number_beyond_64_bits_is_a_fraction_as_the_app_has_it() -> None:
    assert parse_json("123456789012345678901234567890") == 1.2345678901234568e29
    assert type(parse_json("123456789012345678901234567890")) is float


def test_the_last_of_a_repeated_key_counts() -> None:
    assert parse_json('{"a":1,"a":2}') == {"a": 2}


def test_bytes_must_be_utf_8() -> None:
    assert parse_json('"é"'.encode()) == "é"
    with pytest.raises(BadJson, match="not UTF-8 at byte 1"):
        parse_json(b'"\xff"')
    with pytest.raises(BadJson, match="byte order mark"):
        parse_json(b"\xef\xbb\xbf{}")


def test_the_root_of_an_object_is_named() -> None:
    for text, kind in {
        "[]": "an array",
        "null": "null",
        "1": "a number",
        '"x"': "a string",
        "true": "a boolean",
    }.items():
        with pytest.raises(BadJson, match=f"the root is {kind}"):
            parse_object(text)
        assert kind_of(json.loads(text)) == kind
    assert kind_of({}) == "an object"


def test_members_are_found_with_their_offsets() -> None:
    text = ' { "a" : [1, 2] ,\n"b":"}","a":null } '
    found = members(text)
    assert [(m.key, text[m.start : m.end]) for m in found] == [("a", "[1, 2]"), ("b", '"}"'), ("a", "null")]


APPENDS = [
    ("{}", '{"k":[1]}'),
    ("{ }", '{ "k":[1] }'),
    ('{"a":2}', '{"a":2,"k":[1]}'),
    ('{"a": 2}', '{"a": 2,"k": [1]}'),
    ('{"k":[]}', '{"k":[1]}'),
    ('{"k":[ ]}', '{"k":[1 ]}'),
    ('{"k":[0]}', '{"k":[0,1]}'),
    ('{"k":[0 ]}', '{"k":[0,1 ]}'),
    ('{"k": [\n  0\n]}', '{"k": [\n  0,\n  1\n]}'),
    ('{\n  "k": [\n    0\n  ],\n  "z": 1\n}\n', '{\n  "k": [\n    0,\n    1\n  ],\n  "z": 1\n}\n'),
    ('{\r\n\t"k": [0]\r\n}', '{\r\n\t"k": [0,1]\r\n}'),
    ('{\n  "a": 2\n}', '{\n  "a": 2,\n  "k": [1]\n}'),
    ('{"k":[9],"k":[0]}', '{"k":[9],"k":[0,1]}'),
    ('{"\\u006b":[0]}', '{"\\u006b":[0,1]}'),
    ('{"x":{"k":[]},"k":["]"]}', '{"x":{"k":[]},"k":["]",1]}'),
]


@pytest.mark.parametrize(("before", "after"), APPENDS)
def test_appending_changes_no_other_byte(before: str, after: str) -> None:
    assert append_to_array(before, "k", 1) == after
    assert parse_json(after)["k"][-1] == 1


@pytest.mark.parametrize("text", ['{"k":null}', '{"k":{}}', '{"k":"[]"}', '{"k":0}'])
def test_nothing_is_appended_to_what_is_no_array(text: str) -> None:
    with pytest.raises(BadJson, match="k is not an array"):
        append_to_array(text, "k", 1)


SETS = [
    ("{}", '{"k":"v"}'),
    ('{"k":1}', '{"k":"v"}'),
    ('{"k" :  {"k":1} , "z":2}', '{"k" :  "v" , "z":2}'),
    ('{"k":1,"k":2}', '{"k":1,"k":"v"}'),
    ('{\n "a": 1\n}\n', '{\n "a": 1,\n  "k": "v"\n}\n'),
]


@pytest.mark.parametrize(("before", "after"), SETS)
def test_setting_changes_no_other_byte(before: str, after: str) -> None:
    assert set_member(before, "k", "v") == after


@pytest.mark.parametrize("text", ["[]", "null", "{", "1"])
def test_only_objects_are_edited(text: str) -> None:
    with pytest.raises(BadJson):
        set_member(text, "k", 1)


def test_compact_is_the_app_s_encoding() -> None:
    assert compact({"a": ["é", 1.5, None, True]}) == '{"a":["é",1.5,null,true]}'
    with pytest.raises(ValueError, match="JSON compliant"):
        compact(float("nan"))


def test_a_document_of_five_megabytes_is_read_without_a_stall() -> None:
    text = '{"a":"' + "[{" * 2_500_000 + '"}'
    assert len(parse_json(text)["a"]) == 5_000_000
