"""One entry as a YAML block: every text in double quotes on one line, so that no reader takes it for anything else."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from ct_tui.domain.errors import BadInput
from ct_tui.trust.canonical import SIGNATURE

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_SHORT = 100
"""A list of scalars longer than this many characters gets a line for each item."""
_PLAIN_KEY = re.compile(r"[a-z][a-z0-9_]*", re.ASCII)
_NAMED = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"}
_LOST_KEYS = frozenset({"y", "n", "yes", "no", "on", "off", "true", "false", "null"})


def block(fields: Mapping[str, Any], column: int = 0, line_break: str = "\n") -> str:
    """The entry as one block of a list whose dashes stand at `column`; raises BadInput for half a surrogate pair."""
    lines: list[str] = []
    for key, value in fields.items():
        lines.extend(_field(key, value))
    first, *rest = lines
    return "".join(" " * column + line + line_break for line in ("- " + first, *("  " + line for line in rest)))


def quote(text: str) -> str:
    """The text in double quotes; what a reader cannot see, or YAML cannot carry, is escaped."""
    return '"' + "".join(map(_escape, text)) + '"'


def _field(key: str, value: Any) -> Iterator[str]:
    name = key if _PLAIN_KEY.fullmatch(key) and key not in _LOST_KEYS else quote(key)
    if key == SIGNATURE and isinstance(value, str):
        yield f"{name}: |"
        yield from ("  " + line for line in value.rstrip("\n").split("\n"))
    elif isinstance(value, list) and not _fits(value):
        yield f"{name}:"
        yield from ("  - " + _flow(item) for item in value)
    else:
        yield f"{name}: {_flow(value)}"


def _fits(items: list[Any]) -> bool:
    return not any(isinstance(item, (list, dict)) for item in items) and len(_flow(items)) <= _SHORT


def _flow(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return quote(value)
    if isinstance(value, list):
        return "[" + ", ".join(map(_flow, value)) + "]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{quote(key)}: {_flow(item)}" for key, item in value.items()) + "}"
    return str(value)


def _escape(char: str) -> str:
    if char in _NAMED:
        return _NAMED[char]
    if char.isprintable():
        return char
    code = ord(char)
    if 0xD800 <= code <= 0xDFFF:
        raise BadInput("The text holds half a surrogate pair, which no file can carry.")
    if code <= 0xFF:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"
