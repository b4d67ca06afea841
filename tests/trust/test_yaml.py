"""The reader refuses what entries do not use, with the line; the writer's text reads back as what was written."""

from __future__ import annotations

import contextlib
import datetime as dt
import time
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ruamel.yaml import YAML

from ct_tui.domain.errors import BadInput
from ct_tui.domain.rulings import (
    KIND_OF,
    Alias,
    Body,
    EdgeRepair,
    Except,
    Keep,
    Kind,
    Legalize,
    Merge,
    Repair,
    Retype,
    Revoke,
)
from ct_tui.trust.canonical import payload
from ct_tui.trust.entry import FRAME, OWN_FIELDS, frame, parse_ruling
from ct_tui.trust.yaml_reader import MAX_BYTES, YamlRefused, read_entries
from ct_tui.trust.yaml_writer import block, quote

if TYPE_CHECKING:
    from pathlib import Path

PURE = pytest.mark.parametrize("pure", [True, False], ids=["pure", "fastest"])
NAMES_OF_TYPES = [
    "no",
    "on",
    "null",
    "012",
    "1e3",
    "2026-10-03",
    "true",
    "~",
    "",
    " ",
    "0x1f",
    ".inf",
    "1_000",
    "-",
    "?",
]


def _fields(text: str, *, pure: bool = True) -> dict[str, Any]:
    (entry,) = read_entries(text.encode(), "t.yaml", pure=pure).entries
    assert entry.fields is not None
    return entry.fields


BOMB = "- a: &a [x, x]\n" + "".join(f"  {b}: &{b} [*{a}, *{a}]\n" for a, b in zip("abcdefgh", "bcdefghi", strict=True))

REFUSED: dict[str, tuple[bytes, int, str]] = {
    "duplicate key": (b"- v: 1\n  from: a\n  from: b\n", 3, "stands twice"),
    "duplicate key, quoted": (b'- v: 1\n  from: a\n  "fr\\x6fm": b\n', 3, "stands twice"),
    "duplicate key below": (b"- v: 1\n  x: {a: 1, a: 2}\n", 2, "stands twice"),
    "alias bomb": (BOMB.encode(), 1, "anchor"),
    "alias": (b"- v: 1\n  a: *x\n", 2, "alias"),
    "anchor on a key": (b"- v: 1\n  &x a: 1\n", 2, "anchor"),
    "anchor on an entry": (b"- v: 1\n- &x\n  v: 1\n", 2, "anchor"),
    "python tag": (b"- v: 1\n- !!python/object/apply:os.system [touch pwned]\n", 2, "tag"),
    "tag on a text": (b"- v: 1\n  reason: !!binary aGk=\n", 2, "tag"),
    "str tag": (b"- v: 1\n  reason: !!str 1\n", 2, "tag"),
    "local tag": (b"- v: 1\n  reason: !x y\n", 2, "tag"),
    "tag without a name": (b"- v: 1\n  reason: ! y\n", 2, "tag"),
    "tag on the list": (b"!!set\n- v: 1\n", 1, "tag"),
    "merge key": (b"- v: 1\n  <<: {from: a}\n", 2, "merge key"),
    "complex key": (b"- v: 1\n  ? [a]\n  : b\n", 2, "key that is not a word"),
    "3000 brackets": (b"- v: 1\n  a: " + b"[" * 3000 + b"]" * 3000 + b"\n", 2, "nested too deeply"),
    "100000 brackets": (b"[" * 100_000, 1, "nested too deeply"),
    "3000 dashes": (b"- " * 3000 + b"x\n", 1, "nested too deeply"),
    "3000 levels of mappings": ("".join(" " * n + "a:\n" for n in range(3000)).encode(), 1, "not a list"),
    "3000 levels below an entry": (
        b"- v: 1\n  a:\n" + "".join(" " * (n + 3) + "a:\n" for n in range(3000)).encode(),
        8,
        "nested too deeply",
    ),
    "tab as indentation": (b"- v: 1\n\tfrom: a\n", 2, "tab"),
    "tab between": (b"- v: 1\n  from:\ta\n", 2, "tab"),
    "NUL": (b"- v: 1\n  from: a\0b\n", 2, "U+0000"),
    "escape": (b"- v: 1\n  from: \x1b[31m\n", 2, "U+001B"),
    "delete": (b"- v: 1\n\n  from: \x7f\n", 3, "U+007F"),
    "C1": ("- v: 1\n  from: \x9b\n".encode(), 2, "U+009B"),
    "NEL": ("- v: 1 # x\x85  from: b\n".encode(), 1, "U+0085"),
    "line separator in a comment": ("- v: 1\n# x\u2028- v: 2\n".encode(), 2, "U+2028"),
    "lone carriage return": (b"- v: 1\n# x\r- v: 2\n", 2, "carriage return"),
    "byte order mark": (b"\xef\xbb\xbf- v: 1\n", 1, "byte order mark"),
    "byte order mark inside": (b"- v: 1\n\xef\xbb\xbf- v: 1\n", 2, "U+FEFF"),
    "UTF-16": ("- v: 1\n".encode("utf-16"), 1, "UTF-8"),
    "Latin-1": ("- v: 1\n  from: rôle\n".encode("latin-1"), 2, "UTF-8"),
    "surrogate in UTF-8": (b"- v: 1\n  from: \xed\xa0\x80\n", 2, "UTF-8"),
    "surrogate as an escape": (b'- v: 1\n  from: "\\ud800"\n', 2, "surrogate|escape"),
    "directive": (b"%YAML 1.1\n---\n- v: 1\n", 1, "directive"),
    "tag directive": (b"%TAG ! tag:x,2000:\n---\n- v: 1\n", 1, "directive"),
    "two documents": (b"- v: 1\n---\n- v: 1\n", 2, "second document"),
    "mapping": (b"v: 1\n", 1, "not a list"),
    "text": (b"hello\n", 1, "not a list"),
    "unclosed quote": (b'- v: 1\n- v: 1\n  from: "a\n', 3, ""),
    "unclosed bracket": (b"- v: 1\n  from: [a\n", 2, ""),
    "wrong indentation": (b"- v: 1\n from: a\n", 2, ""),
    "at sign": (b"- v: 1\n  from: @a\n", 2, ""),
    "number of 5000 digits": (b"- v: 1\n  x: " + b"9" * 5000 + b"\n", 2, "too long"),
    "HTML": (b"<html>\n<body>: x\n", 1, ""),
}


@PURE
@pytest.mark.parametrize("case", REFUSED)
def test_what_entries_do_not_use_is_refused_with_its_line(case: str, pure: bool, tmp_path: Path) -> None:
    data, line, words = REFUSED[case]
    begun = time.monotonic()
    with pytest.raises(YamlRefused, match=words.replace("+", r"\+") or "line") as caught:
        read_entries(data, "rulings.yaml", pure=pure)
    assert time.monotonic() - begun < 2
    found = int(caught.value.message.removeprefix("rulings.yaml line ").split(":")[0])
    # Where something is never closed, the two parsers notice at its beginning or at its end.
    assert found - line in ({0, 1} if case.startswith(("unclosed", "wrong", "HTML")) else {0}), caught.value.message
    assert not (tmp_path / "pwned").exists()


def test_a_huge_file_is_refused() -> None:
    with pytest.raises(YamlRefused, match="larger than"):
        read_entries(b"#" * (MAX_BYTES + 1), "rulings.yaml")


@PURE
@pytest.mark.parametrize("text", ["", "\n\n", "# only\n# comments\n", "---\n", "---\n# x\n", "[]\n"])
def test_files_without_entries_are_empty(text: str, pure: bool) -> None:
    assert read_entries(text.encode(), "t", pure=pure).entries == ()


@PURE
@pytest.mark.parametrize("name", NAMES_OF_TYPES)
def test_a_type_name_stays_the_text_that_it_is(name: str, pure: bool) -> None:
    written = block({"from": name, "entities": [name, name], "edges": [[name, "a", "b"]]})
    assert _fields(written, pure=pure) == {"from": name, "entities": [name, name], "edges": [[name, "a", "b"]]}


@PURE
@pytest.mark.parametrize("name", ["no", "on", "null", "012", "1e3", "2026-10-03", "true", "12", "~"])
def test_a_type_name_that_a_person_did_not_quote_stays_the_text_too(name: str, pure: bool) -> None:
    written = f"- v: 1\n  from: {name}\n  to: {name} # why\n  entities: [{name}]\n  edges:\n    - [{name}, a, b]\n"
    found = _fields(written, pure=pure)
    assert found == {"v": 1, "from": name, "to": name, "entities": [name], "edges": [[name, "a", "b"]]}


@PURE
def test_numbers_and_nothing_are_what_json_calls_so(pure: bool) -> None:
    text = "- v: 1\n  seq: 012\n  a: 0\n  b: -1.5e3\n  c: true\n  d: null\n  e:\n  f: yes\n  prev: null\n  signature: ~\n  g: '1'\n"
    assert _fields(text, pure=pure) == {
        "v": 1,
        "seq": "012",
        "a": 0,
        "b": -1500.0,
        "c": True,
        "d": None,
        "e": None,
        "f": "yes",
        "prev": None,
        "signature": None,
        "g": "1",
    }


@PURE
def test_an_entry_that_is_no_mapping_is_kept_apart(pure: bool) -> None:
    found = read_entries(b"- v: 1\n- hello\n- ''\n- [a]\n", "t", pure=pure).entries
    assert [(raw.line, raw.fields) for raw in found] == [(1, {"v": 1}), (2, None), (3, None), (4, None)]


ANY_TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=60)


@given(text=ANY_TEXT, other=ANY_TEXT, column=st.integers(0, 6), crlf=st.booleans())
@settings(max_examples=200, deadline=None)
def test_any_text_reads_back_as_it_was_written(text: str, other: str, column: int, crlf: bool) -> None:
    fields = {
        "reason": text,
        "from": other,
        "entities": [text, other] * 5,
        "edges": [[text, other, "x"]],
        "x": {text: other},
    }
    written = block(fields, column, "\r\n" if crlf else "\n")
    assert written.isascii() or all(c.isprintable() for c in written if c not in "\r\n")
    for pure in (True, False):
        (entry,) = read_entries(written.encode(), "t", pure=pure).entries
        assert entry.fields == fields
    assert YAML(typ="safe", pure=True).load(written) == [fields]


@given(data=st.binary(max_size=60) | ANY_TEXT.map(lambda t: f"- v: 1\n  a: {t}\n".encode()))
@settings(max_examples=300, deadline=None)
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    for pure in (True, False):
        with contextlib.suppress(YamlRefused):
            read_entries(data, "t", pure=pure)


def test_half_a_surrogate_pair_is_refused() -> None:
    with pytest.raises(BadInput, match="surrogate"):
        quote("a\ud800b")


def test_invisible_and_direction_changing_characters_are_written_visibly() -> None:
    assert quote("a\u202eb\u200bc\ufeffd\x00e\U000e0001") == r'"a\u202eb\u200bc\ufeffd\x00e\U000e0001"'


_ID = st.text(min_size=1, max_size=12).filter(
    lambda t: bool(t.strip()) and not any("\ud800" <= c <= "\udfff" for c in t)
)
_IDS = st.lists(_ID, min_size=1, max_size=30).map(tuple)
_DAY = st.none() | st.dates(dt.date(2000, 1, 1))
BODIES: dict[Kind, st.SearchStrategy[Body]] = {
    Kind.ALIAS: st.builds(Alias, _ID, _ID),
    Kind.LEGALIZE: st.builds(Legalize, _ID, ANY_TEXT, st.none() | _ID, _IDS),
    Kind.RETYPE: st.builds(Retype, _IDS, _ID, _ID),
    Kind.KEEP: st.builds(Keep, _ID, st.just(()), _DAY) | st.builds(Keep, st.none(), _IDS, _DAY),
    Kind.REVOKE: st.builds(Revoke, st.integers(1, 6)),
    Kind.EDGE: st.builds(EdgeRepair, st.just(Repair.RENAME), _IDS, _ID)
    | st.builds(EdgeRepair, st.just(Repair.WIDEN), st.just(()), st.none(), st.tuples(_ID, _ID, _ID), _IDS),
    Kind.MERGE: st.builds(Merge, _ID, _IDS),
    Kind.EXCEPT: st.builds(Except, _ID, _IDS, _DAY),
}


@pytest.mark.parametrize("kind", list(Kind))
@given(data=st.data(), reason=ANY_TEXT.filter(lambda t: bool(t.strip())))
@settings(max_examples=25, deadline=None)
def test_every_kind_of_ruling_comes_back_from_the_file(kind: Kind, data: st.DataObject, reason: str) -> None:
    body = data.draw(BODIES[kind])
    at = dt.datetime(2026, 10, 3, tzinfo=dt.UTC)
    fields = frame(body, kind, 7, reason, "curator@example.org", at, supersedes=3) | {"prev": "a" * 64}
    assert fields.keys() <= FRAME | OWN_FIELDS[KIND_OF[type(body)]]
    back = _fields(block(fields))
    assert payload(back) == payload(fields)
    ruling = parse_ruling(back, "h")
    assert (ruling.body, ruling.reason, ruling.ruled_at, ruling.supersedes) == (body, reason, at, 3)


def test_a_written_entry_is_readable() -> None:
    fields = {"v": 1, "seq": 2, "kind": "retype", "entities": ["ent_1", "ent_2"], "from": "no", "prev": None}
    long = {"entities": [f"ent_{n:024}" for n in range(4)], "signature": "A\nB\n"}
    assert block(fields) == (
        '- v: 1\n  seq: 2\n  kind: "retype"\n  entities: ["ent_1", "ent_2"]\n  from: "no"\n  prev: null\n'
    )
    assert block(long, 2) == (
        '  - entities:\n      - "ent_000000000000000000000000"\n      - "ent_000000000000000000000001"\n'
        '      - "ent_000000000000000000000002"\n      - "ent_000000000000000000000003"\n    signature: |\n      A\n      B\n'
    )
