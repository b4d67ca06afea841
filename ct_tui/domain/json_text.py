"""JSON as the app reads it: serde_json's strictness, and edits that leave every other byte alone.

Python's reader is laxer (NaN, 1e999, lone surrogates, any depth); a row that the app calls unreadable must be
unreadable here too. A repeated key is legal for both and the last one wins.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn

if TYPE_CHECKING:
    from collections.abc import Callable

MAX_DEPTH = 127
_WS = " \t\n\r"
_STRING = re.compile(r'"(?:[^"\\]|\\.)*"', re.DOTALL)


class BadJson(ValueError):
    """The text is not JSON that the app would accept; the message says why and where."""


@dataclass(frozen=True)
class Member:
    """Where one member of the top-level object stands in the text: offsets of its value."""

    key: str
    start: int
    end: int


def parse_json(text: str | bytes) -> Any:
    """Parse one JSON document; raises BadJson where serde_json would refuse it."""
    if isinstance(text, bytes):
        try:
            text = text.decode("utf-8")
        except UnicodeDecodeError as error:
            raise BadJson(f"not UTF-8 at byte {error.start}") from error
    if text.startswith("\ufeff"):
        raise BadJson("starts with a byte order mark")
    _check_depth(text)
    try:
        value = _DECODER.decode(text)
    except json.JSONDecodeError as error:
        raise BadJson(f"{error.msg} at line {error.lineno} column {error.colno}") from error
    except RecursionError as error:  # pragma: no cover - the depth check comes first
        raise BadJson("nested too deeply") from error
    if "\\u" in text:
        _refuse_surrogates(value)
    return value


def parse_object(text: str | bytes) -> dict[str, Any]:
    """Parse a document whose root must be an object."""
    value = parse_json(text)
    if not isinstance(value, dict):
        raise BadJson(f"the root is {kind_of(value)}, not an object")
    return value


def kind_of(value: object) -> str:
    """The JSON name of a value's kind, for messages."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "a boolean"
    if isinstance(value, (int, float)):
        return "a number"
    if isinstance(value, str):
        return "a string"
    return "an array" if isinstance(value, list) else "an object"


def members(text: str) -> list[Member]:
    """The members of the top-level object in file order, repeated keys included."""
    parse_object(text)
    at = _skip(text, _skip(text, 0) + 1)
    found: list[Member] = []
    while text[at] != "}":
        key, at = _DECODER.raw_decode(text, at)
        at = _skip(text, _skip(text, at) + 1)  # past the colon
        start = at
        _, at = _DECODER.raw_decode(text, at)
        found.append(Member(key, start, at))
        at = _skip(text, at)
        if text[at] == ",":
            at = _skip(text, at + 1)
    return found


def repeated_keys(text: str) -> tuple[str, ...]:
    """Keys that stand more than once in one object, at any depth; the last of them counts."""
    found: dict[str, None] = {}

    def note(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        made = dict(pairs)
        if len(made) != len(pairs):
            counts = Counter(key for key, _ in pairs)
            found.update((key, None) for key, count in counts.items() if count > 1)
        return made

    json.loads(text, object_pairs_hook=note, parse_float=_finite, parse_int=_integer)
    return tuple(found)


def append_to_array(text: str, key: str, value: object) -> str:
    """Append one value to a top-level array, or add the array, changing no other byte."""
    last = _last(text, key)
    if last is None:
        return set_member(text, key, [value])
    inner = text[last.start : last.end]
    if not inner.startswith("["):
        raise BadJson(f"{key} is not an array")
    body = inner[:-1].rstrip(_WS)
    encoded = compact(value)
    if body.endswith("["):
        new = body + encoded
    else:
        new = body + "," + _separator(inner) + encoded
    tail = inner[len(inner[:-1].rstrip(_WS)) : -1]
    return text[: last.start] + new + tail + "]" + text[last.end :]


def set_member(text: str, key: str, value: object) -> str:
    """Set one top-level member, changing no other byte; a new member is added at the end."""
    last = _last(text, key)
    encoded = compact(value)
    if last is not None:
        return text[: last.start] + encoded + text[last.end :]
    close = text.rstrip(_WS).rfind("}")
    body = text[:close].rstrip(_WS)
    comma = "" if body.endswith("{") else ","
    gap = text[len(body) : close]
    return body + comma + _indent_of(gap) + compact(key) + ":" + _colon_gap(text) + encoded + gap + text[close:]


def remove_members(text: str, drop: Callable[[str], bool]) -> str:
    """Remove top-level members by key, each with one comma, changing no other byte."""
    found = members(text)
    kept = [m for m in found if not drop(m.key)]
    if len(kept) == len(found):
        return text
    first = _skip(text, 0) + 1
    close = text.rstrip(_WS).rfind("}")
    if not kept:
        return text[:first] + text[close:]
    starts = [first, *(text.index(",", m.end) + 1 for m in found[:-1])]
    pieces = [text[at : m.end] for at, m in zip(starts, found, strict=True) if not drop(m.key)]
    return text[:first] + ",".join(pieces) + text[found[-1].end :]


def compact(value: object) -> str:
    """Encode as the app does: no spaces, non-ASCII left as it is."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def _last(text: str, key: str) -> Member | None:
    hits = [m for m in members(text) if m.key == key]
    return hits[-1] if hits else None


def _separator(array: str) -> str:
    """The blank between the last two elements' worth of layout: a pretty-printed array stays pretty."""
    match = re.match(r"\[(\s*)", array)
    return match.group(1) if match else ""


def _indent_of(gap: str) -> str:
    """The line break and indent for a new last member, one level deeper than the closing brace."""
    if "\n" not in gap:
        return gap
    return gap + "  "


def _colon_gap(text: str) -> str:
    return " " if re.match(r'\s*\{\s*"(?:[^"\\]|\\.)*"\s*:\s', text, re.DOTALL) else ""


def _skip(text: str, at: int) -> int:
    while at < len(text) and text[at] in _WS:
        at += 1
    return at


def _check_depth(text: str) -> None:
    if text.count("[") + text.count("{") <= MAX_DEPTH:
        return
    depth = 0
    for char in _STRING.sub("", text):
        if char in "[{":
            depth += 1
            if depth > MAX_DEPTH:
                raise BadJson("nested too deeply")
        elif char in "]}":
            depth -= 1


def _refuse_constant(name: str) -> NoReturn:
    raise BadJson(f"{name} is not JSON")


def _finite(digits: str) -> float:
    number = float(digits)
    if not math.isfinite(number):
        raise BadJson("a number is out of range")
    return number


def _integer(digits: str) -> int | float:
    """A whole number, or a fraction where it does not fit into 64 bits, as serde_json has it."""
    number = int(digits) if len(digits) <= 20 else None
    return number if number is not None and -(2**63) <= number < 2**64 else _finite(digits)


def _refuse_surrogates(value: object) -> None:
    stack: list[object] = [value]
    while stack:
        item = stack.pop()
        if isinstance(item, str):
            if any("\ud800" <= c <= "\udfff" for c in item):
                raise BadJson("a lone surrogate in a string")
        elif isinstance(item, dict):
            stack.extend(item.keys())
            stack.extend(item.values())
        elif isinstance(item, list):
            stack.extend(item)


_DECODER = json.JSONDecoder(parse_constant=_refuse_constant, parse_float=_finite, parse_int=_integer)
