"""The two streams: one JSON document or a person's lines on stdout, everything else on stderr.

Invariants: a document is UTF-8 and ends with one newline, whatever the data holds; every character that could act on
a terminal leaves as a JSON escape there, and as a visible sign in text. Lines pass `visible` once more on their way
out, so that a verb that forgot it still cannot let data act; styles travel as marks that `visible` never yields.
"""

from __future__ import annotations

import re
import sys
from typing import IO, TYPE_CHECKING, TextIO

from ct_tui.cli.terminal import wants_colour, width_of

if TYPE_CHECKING:
    from collections.abc import Iterable

_SURROGATE = re.compile("[\ud800-\udfff]")
# Controls, bidi and zero-width characters: legal inside JSON text, and obeyed by a terminal that shows it.
_ACTIVE = re.compile(
    "[\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202f\u205f-\u206f\u3164\ufeff\uffa0"
    "\ufff9-\ufffb\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
_SGR = {"bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33", "cyan": "36"}
# Noncharacters stand for "style on" and "style off" until a line leaves; no data can hold them once it is visible.
_ON = {style: chr(0xFDD0 + number) for number, style in enumerate(_SGR)}
_OFF = "\ufdef"
_MARKS = re.compile(f"([{''.join(_ON.values())}{_OFF}])")
_CODES = {_OFF: "\x1b[0m", **{mark: f"\x1b[{_SGR[style]}m" for style, mark in _ON.items()}}


def encode(document: object) -> str:
    """One JSON document on one line: non-ASCII as it is, what cannot be UTF-8 as U+FFFD, no active character raw."""
    import json

    text = json.dumps(_clean(document), ensure_ascii=False, allow_nan=False)
    return _ACTIVE.sub(_escaped, text)


def _escaped(match: re.Match[str]) -> str:
    """One character as JSON's escape, of two parts beyond the basic plane."""
    units = match.group().encode("utf-16-be")
    return "".join(f"\\u{units[at]:02x}{units[at + 1]:02x}" for at in range(0, len(units), 2))


def _clean(value: object) -> object:
    """A value that JSON and UTF-8 can hold: bytes decoded, lone surrogates replaced, infinities null."""
    if isinstance(value, str):
        return _SURROGATE.sub("\ufffd", str(value))
    if value is None or isinstance(value, (bool, int)):
        return value
    if isinstance(value, float):
        return value if value - value == 0 else None  # neither an infinity nor NaN, which JSON has no words for
    if isinstance(value, (bytes, bytearray)):
        return bytes(value).decode("utf-8", "replace")
    if isinstance(value, dict):
        return {str(_clean(key)): _clean(item) for key, item in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [_clean(item) for item in (sorted(value, key=str) if isinstance(value, (set, frozenset)) else value)]
    return _SURROGATE.sub("\ufffd", str(value))


class Out:
    """Where a verb writes; the streams are looked up at each write, since tests and pipes replace them."""

    def document(self, document: object) -> None:
        """Print the one JSON document."""
        data = (encode(document) + "\n").encode("utf-8")
        raw: IO[bytes] | None = getattr(_required(sys.stdout), "buffer", None)
        if raw is None:
            _required(sys.stdout).write(data.decode("utf-8"))
            return
        _required(sys.stdout).flush()
        raw.write(data)
        raw.flush()

    def lines(self, lines: Iterable[str]) -> None:
        """Print a person's lines."""
        stream = _required(sys.stdout)
        colour = wants_colour(stream)
        for line in lines:
            stream.write(_rendered(line, colour=colour) + "\n")
        stream.flush()

    def note(self, *lines: str) -> None:
        """Say something beside the result, on stderr."""
        if sys.stderr is None:
            return
        colour = wants_colour(sys.stderr)
        for line in lines:
            sys.stderr.write(_rendered(line, colour=colour) + "\n")
        sys.stderr.flush()

    @property
    def width(self) -> int:
        """Columns of stdout."""
        return width_of(sys.stdout)


def paint(text: str, *styles: str) -> str:
    """Text in styles, shown where the stream is a terminal that wants them; never the only bearer of a meaning."""
    return "".join(_ON[style] for style in styles) + text + _OFF if text else text


def unpainted(text: str) -> str:
    """The text without its styles, as it is measured."""
    return _MARKS.sub("", text)


def _rendered(line: str, *, colour: bool) -> str:
    from ct_tui.domain.visible import visible

    parts = _MARKS.split(line.rstrip(" "))
    shown = (_code(part, colour=colour) if part in _CODES else visible(part, newlines=True) for part in parts)
    return "".join(shown)


def _code(mark: str, *, colour: bool) -> str:
    return _CODES[mark] if colour else ""


def _required(stream: TextIO | None) -> TextIO:
    if stream is None:
        raise OSError("standard output is closed")
    return stream


def tolerate_narrow_encodings() -> None:
    """Let a terminal that cannot show a character show `?` in its place, instead of an exception."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="replace")
