"""A list of entries, read from YAML without constructing anything.

ruamel.yaml only cuts the text into events (its C parser where that is installed); the values are built here, so that
no tag is resolved, no alias is followed and no depth is reached that an entry does not have. What the two parsers or
other readers of YAML might take differently is refused with its line: tabs, control characters, other line breaks
than LF and CRLF, directives, merge keys, repeated keys, several documents.

A plain scalar under a field that holds text is that text as typed, so `null`, `12` and `1e3` stay type names; under
other fields what JSON calls a number, true, false or null is one, and nothing else: `no`, `012` and `2026-10-03` are
texts everywhere.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.events import (
    AliasEvent,
    DocumentEndEvent,
    DocumentStartEvent,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
    StreamEndEvent,
)

from ct_tui.domain.errors import TrustError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

MAX_BYTES = 32 * 1024 * 1024
MAX_DEPTH = 6
"""Entries are a list of mappings of lists of lists; nothing needs more."""

_Plain = Literal["json", "text", "text or null"]
"""How a scalar without quotes is read."""

# Fields that hold text, whatever it looks like. A hash or a signature may also be absent.
_TEXT = (
    *("kind", "reason", "ruled_by", "ruled_at", "from", "to", "type", "description", "parent_type", "manifests"),
    *("entities", "until", "repair", "edges", "triple", "survivor", "losers", "rule", "focus"),
)
_PLAIN: dict[str, _Plain] = {**dict.fromkeys(_TEXT, "text"), "prev": "text or null", "signature": "text or null"}

_REFUSED_CHARACTER = re.compile(
    "[^\t\n\r\x20-\x7e\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]"
)
_LONE_RETURN = re.compile("\r(?!\n)")
_TAB = re.compile("^(?! *#)[^\n]*\t", re.MULTILINE)
_DIRECTIVE = re.compile("^%", re.MULTILINE)
_INTEGER = re.compile(r"-?(?:0|[1-9][0-9]*)", re.ASCII)
_FLOAT = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?", re.ASCII)
_LONGEST_NUMBER = 40
_WORDS = {"": None, "null": None, "~": None, "true": True, "false": False}


class YamlRefused(TrustError):
    """The file is not a list of entries that this program reads; the message names the line."""


@dataclass(frozen=True)
class RawEntry:
    """One item of the list as written; `fields` is None where the item is no mapping. Lines count from 1.

    `strict` is there where it differs: unquoted scalars of text fields taken for what JSON calls them. Whoever signed
    a number in such a field (a newer program, say) is not to be called a forger.
    """

    line: int
    fields: dict[str, Any] | None
    strict: dict[str, Any] | None = None


class _Bare(str):
    """An unquoted scalar of a text field that JSON would take for a number, true, false or null."""

    __slots__ = ()


@dataclass(frozen=True)
class RawList:
    """The items of a file; `column` is where the dashes stand, `closed` says why nothing can be appended."""

    entries: tuple[RawEntry, ...] = ()
    column: int = 0
    closed: str = ""


@dataclass
class _Reader:
    """Walks the events of one document."""

    name: str
    events: Iterator[Any]
    at: Any = field(default=None)
    bare: bool = False

    def next(self) -> Any:
        self.at = next(self.events)
        return self.at

    def refuse(self, what: str) -> YamlRefused:
        return _refusal(self.name, self.at.start_mark.line + 1, what)


def read_entries(data: bytes, name: str, *, pure: bool = False) -> RawList:
    """Read the entries of a file called `name` in messages; raises YamlRefused with the line.

    `pure` leaves the C parser alone where it is installed.
    """
    text = _decode(data, name)
    try:
        return _read_stream(_Reader(name, iter(YAML(typ="safe", pure=pure).parse(text))))
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = mark.line + 1 if mark is not None else 1
        raise _refusal(name, line, str(error.problem or error.context or "it is not YAML")) from error
    except (YAMLError, ValueError, IndexError, AttributeError, RecursionError, StopIteration) as error:
        raise YamlRefused(f"{name} cannot be read: it is not YAML.", _MEND) from error


_MEND = "Put it back as it was signed, from version control or a backup."


def _decode(data: bytes, name: str) -> str:
    if len(data) > MAX_BYTES:
        raise YamlRefused(f"{name} is larger than {MAX_BYTES // 1024 // 1024} MiB, which no table should be.")
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise _refusal(name, data.count(b"\n", 0, error.start) + 1, "it is not UTF-8") from error
    _refuse_characters(text, name)
    return text


def _refuse_characters(text: str, name: str) -> None:
    if text.startswith("\ufeff"):
        raise _refusal(name, 1, "it begins with a byte order mark")
    for pattern, what in (
        (_REFUSED_CHARACTER, "a character that a text file does not hold (U+{:04X})"),
        (_LONE_RETURN, "a carriage return without a line feed"),
        (_TAB, "a tab; write \\t inside double quotes"),
        (_DIRECTIVE, "a YAML directive"),
    ):
        match = pattern.search(text)
        if match is not None:
            line = text.count("\n", 0, match.end()) + 1
            raise _refusal(name, line, what.format(ord(match.group()[-1])))


def _read_stream(reader: _Reader) -> RawList:
    reader.next()  # the start of the stream
    if isinstance(reader.next(), StreamEndEvent):
        return RawList()
    event = reader.next()
    if isinstance(event, SequenceStartEvent):
        found = _read_root(reader, event)
    elif isinstance(event, ScalarEvent) and _is_empty(reader, event):
        found = RawList()
    else:
        raise reader.refuse("the file is not a list of entries")
    end = reader.next()
    if isinstance(end, DocumentEndEvent) and end.explicit:
        found = RawList(found.entries, found.column, "it ends with the mark ...")
    if isinstance(reader.next(), DocumentStartEvent):
        raise reader.refuse("a second document begins")
    return found


def _is_empty(reader: _Reader, event: ScalarEvent) -> bool:
    _check_node(reader, event, 0)
    return not event.style and event.value == ""


def _read_root(reader: _Reader, start: SequenceStartEvent) -> RawList:
    _check_node(reader, start, 0)
    entries = []
    while not isinstance(event := reader.next(), SequenceEndEvent):
        entries.append(_read_entry(reader, event))
    if start.flow_style:
        return RawList(tuple(entries), 0, "its list is written in brackets")
    return RawList(tuple(entries), start.start_mark.column)


def _read_entry(reader: _Reader, event: Any) -> RawEntry:
    line = event.start_mark.line + 1
    reader.bare = False
    value = _read_node(reader, event, 1, "json")
    if not isinstance(value, dict):
        return RawEntry(line, None)
    if not reader.bare:
        return RawEntry(line, value)
    return RawEntry(line, _settle(value, str), _settle(value, _as_json))


def _settle(value: Any, read: Callable[[_Bare], Any]) -> Any:
    if isinstance(value, _Bare):
        return read(value)
    if isinstance(value, dict):
        return {key: _settle(item, read) for key, item in value.items()}
    return [_settle(item, read) for item in value] if isinstance(value, list) else value


def _read_node(reader: _Reader, event: Any, depth: int, plain: _Plain) -> Any:
    _check_node(reader, event, depth)
    if isinstance(event, ScalarEvent):
        return _scalar(reader, event, plain)
    if isinstance(event, MappingStartEvent):
        return _read_mapping(reader, depth, plain)
    if isinstance(event, SequenceStartEvent):
        items = []
        while not isinstance(item := reader.next(), SequenceEndEvent):
            items.append(_read_node(reader, item, depth + 1, plain))
        return items
    raise reader.refuse("something that is no value")


def _read_mapping(reader: _Reader, depth: int, plain: _Plain) -> dict[str, Any]:
    found: dict[str, Any] = {}
    while not isinstance(event := reader.next(), MappingEndEvent):
        _check_node(reader, event, depth)
        if not isinstance(event, ScalarEvent):
            raise reader.refuse("a key that is not a word")
        key = _whole(reader, event)
        if key == "<<" and not event.style:
            raise reader.refuse("a merge key (<<)")
        if key in found:
            raise reader.refuse(f"the key {key!r} stands twice")
        below = _PLAIN.get(key, plain) if depth == 1 else plain
        found[key] = _read_node(reader, reader.next(), depth + 1, below)
    return found


def _check_node(reader: _Reader, event: Any, depth: int) -> None:
    if isinstance(event, AliasEvent):
        raise reader.refuse("an alias (*), which entries do not use")
    if event.anchor is not None:
        raise reader.refuse("an anchor (&), which entries do not use")
    if event.tag is not None:
        raise reader.refuse("a tag (!), which entries do not use")
    if depth > MAX_DEPTH:
        raise reader.refuse("it is nested too deeply")


def _scalar(reader: _Reader, event: ScalarEvent, plain: _Plain) -> Any:
    value = _whole(reader, event)
    if event.style:
        return value
    if plain == "json":
        if len(value) > _LONGEST_NUMBER and _FLOAT.fullmatch(value):
            raise reader.refuse("a number that is too long")
        return _as_json(value)
    if not value or (plain == "text or null" and value in ("null", "~")):
        return None
    if len(value) > _LONGEST_NUMBER or _as_json(value) == value:
        return value
    reader.bare = True
    return _Bare(value)


def _as_json(value: str) -> Any:
    if value in _WORDS:
        return _WORDS[value]
    if _FLOAT.fullmatch(value) is None:
        return str(value)
    return int(value) if _INTEGER.fullmatch(value) else float(value)


def _whole(reader: _Reader, event: ScalarEvent) -> str:
    value: str = event.value
    if any("\ud800" <= c <= "\udfff" for c in value):
        raise reader.refuse("half a surrogate pair in a text")
    return value


def _refusal(name: str, line: int, what: str) -> YamlRefused:
    return YamlRefused(f"{name} line {line}: {what}.", _MEND)
