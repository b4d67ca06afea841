"""Data as a person may see it: every character that hides, steers or misaligns is replaced by a visible sign.

What leaves this module holds no control, escape, bidi or zero-width character, and only characters whose width
terminals agree on, so that columns stay aligned and no name can act on a terminal. It is the one place that decides
this for the workstation and for the command line; it knows nothing of either.

Signs: `␛` and its like for control characters, `‹U+202E›` for what has no picture, `‹0xFF›` for a byte that is not
UTF-8, `⁀` for the joiner and `ᵛ` for the selector inside an emoji, `␣` for a space at either end, `‹blank›`.
"""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING

from ct_tui.domain.names import WHITE_SPACE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ct_tui.domain.census import RawText

BLANK = "‹blank›"
"""What an empty text is shown as."""

ELLIPSIS = "…"

_JOINER, _SELECTOR = "\u200d", "\ufe0f"
_TIE, _SELECTED = "⁀", "ᵛ"
_NO_BASE = "◌"
_MOST_MARKS = 5
_SPACES = "".join(char for char in WHITE_SPACE if unicodedata.category(char) == "Zs")
_PLAIN = re.compile(r"[ -~]*\Z")
_SIGN = re.compile(r"‹(?:U\+[0-9A-F]{4,6}|0x[0-9A-F]{2}|blank(?: [^›]+)?|NULL|flag [A-Z]{2}|\+\d+ marks)›")

# Letters and spaces that draw nothing although their category says letter or mark.
_INVISIBLE = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0") | {
    chr(c) for first, last in ((0x180B, 0x180F), (0xFE00, 0xFE0F), (0xE0100, 0xE01EF)) for c in range(first, last + 1)
}
# Terminals disagree on how wide these are: trigrams, hexagrams, counting rods, skin tones.
_DISPUTED = ((0x2630, 0x2637), (0x268A, 0x268F), (0x4DC0, 0x4DFF), (0x1D300, 0x1D376), (0x1F3FB, 0x1F3FF))
_SIGNED_CATEGORIES = frozenset({"Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp"})
_MARKS = frozenset({"Mn", "Mc", "Me"})


def visible(value: RawText, *, newlines: bool = False) -> str:
    """Any value of a text column as inert text; `newlines` keeps line ends and widens tabs, for running text."""
    text = _decoded(value)
    if newlines:
        text = text.replace("\r\n", "\n").replace("\t", "    ")
        return "\n".join(_signed(line) for line in text.split("\n"))
    if not text.strip(WHITE_SPACE):
        return _blank(text)
    return _edges_marked(_signed(text), text)


def excerpt(value: RawText, width: int) -> str:
    """The beginning of a value of any length, at most `width` cells wide; the cost does not grow with the value."""
    if isinstance(value, (str, bytes)):
        enough = width * (_MOST_MARKS + 3) + 64
        if len(value) > enough:
            return cut(visible(value[:enough]) + ELLIPSIS, width)
    return cut(visible(value), width)


def cell_width(text: str) -> int:
    """Terminal cells that a visible text takes."""
    if _PLAIN.match(text):
        return len(text)
    return sum(map(_width, text))


def graphemes(text: str) -> Iterator[str]:
    """The units of a visible text that are never cut apart: a base with its marks, a tied emoji, a sign."""
    at, end = 0, len(text)
    while at < end:
        stop = _unit_end(text, at)
        yield text[at:stop]
        at = stop


def cut(text: str, width: int) -> str:
    """A visible text of at most `width` cells; where something is left out it ends with an ellipsis."""
    if width <= 0:
        return ""
    if len(text) * 2 <= width or (len(text) <= width and _PLAIN.match(text)):
        return text
    used = 0
    for unit in graphemes(text):
        used += cell_width(unit)
        if used > width:
            return head(text, width - 1) + ELLIPSIS
    return text


def head(text: str, width: int) -> str:
    """As much of a visible text as fits into `width` cells, cut between graphemes and without a sign of the cut."""
    return text[: _units_within(text, width)]


def pad(text: str, width: int) -> str:
    """A visible text of exactly `width` cells: cut where it is longer, filled with spaces where it is shorter."""
    fitted = cut(text, width)
    return fitted + " " * (width - cell_width(fitted))


def wrap(text: str, width: int) -> list[str]:
    """A visible text in lines of at most `width` cells, broken at spaces where there are any."""
    lines: list[str] = []
    for paragraph in text.split("\n"):
        lines.extend(_wrapped(paragraph, max(1, width)))
    return lines


def _wrapped(paragraph: str, width: int) -> Iterator[str]:
    line = ""
    used = 0
    for word in re.findall(r" +|[^ ]+", paragraph):
        size = cell_width(word)
        if used and used + size > width:
            yield line.rstrip(" ")
            line, used = "", 0
            if word.startswith(" "):
                continue
        if size <= width - used:
            line, used = line + word, used + size
            continue
        for unit in graphemes(word):
            unit_size = cell_width(unit)
            if used and used + unit_size > width:
                yield line
                line, used = "", 0
            line, used = line + unit, used + unit_size
    yield line.rstrip(" ")


def _decoded(value: RawText) -> str:
    if value is None:
        return "‹NULL›"
    if isinstance(value, bytes):
        return value.decode("utf-8", "surrogateescape")
    return value if isinstance(value, str) else str(value)


def _blank(text: str) -> str:
    if not text:
        return BLANK
    shown = "".join("␣" if char in _SPACES else _SIGNS[ord(char)] for char in text[:8])
    return f"‹blank {shown}{ELLIPSIS if len(text) > 8 else ''}›"


def _edges_marked(shown: str, text: str) -> str:
    """The spaces at either end made visible; every one of them is a single character in `shown` too."""
    lead = len(text) - len(text.lstrip(_SPACES))
    tail = len(text) - len(text.rstrip(_SPACES))
    if not lead and not tail:
        return shown
    return "␣" * lead + shown[lead : len(shown) - tail] + "␣" * tail


def _signed(text: str) -> str:
    if _PLAIN.match(text):
        return text
    chars = set(text)
    if any(char in _CONTEXT or _is_mark(char) or _is_flag(char) for char in chars):
        return "".join(_in_context(text))
    return text.translate(_SIGNS)


_CONTEXT = frozenset({_JOINER, _SELECTOR})


def _in_context(text: str) -> Iterator[str]:
    """The text unit by unit, where what a character means depends on the one before it."""
    marks = 0
    at, end = 0, len(text)
    while at < end:
        char = text[at]
        before = text[at - 1] if at else ""
        if _is_mark(char):
            marks += 1
            if marks <= _MOST_MARKS:
                yield char if _can_bear(before) else (_NO_BASE + char if marks == 1 else char)
        else:
            if marks > _MOST_MARKS:
                yield f"‹+{marks - _MOST_MARKS} marks›"
            marks = 0
            if _is_flag(char) and at + 1 < end and _is_flag(text[at + 1]):
                yield f"‹flag {_flag_letter(char)}{_flag_letter(text[at + 1])}›"
                at += 1
            else:
                yield _one(char, before, text[at + 1 : at + 2])
        at += 1
    if marks > _MOST_MARKS:
        yield f"‹+{marks - _MOST_MARKS} marks›"


def _one(char: str, before: str, after: str) -> str:
    if char == _SELECTOR and _is_symbol(before):
        return _SELECTED
    if char == _JOINER and after and _is_symbol(after) and (_is_symbol(before) or before == _SELECTOR):
        return _TIE
    return _SIGNS[ord(char)]


def _is_symbol(char: str) -> bool:
    """Whether an emoji can begin or end with this character."""
    return bool(char) and (unicodedata.category(char) in {"So", "Sk", "Sm"} or char in "0123456789#*‼⁉〰〽")


def _is_mark(char: str) -> bool:
    if char in _INVISIBLE:
        return False
    return unicodedata.category(char) in _MARKS or _is_jamo_tail(char)


def _is_jamo_tail(char: str) -> bool:
    inside = "\u1161" <= char <= "\u11ff" or "\ud7b0" <= char <= "\ud7fb"
    return inside and unicodedata.category(char) not in _SIGNED_CATEGORIES


def _can_bear(before: str) -> bool:
    """Whether a mark may sit on this character, as it cannot on nothing, on a space or on a sign."""
    return bool(before) and before not in WHITE_SPACE and _SIGNS[ord(before)] == before


def _is_flag(char: str) -> bool:
    return "\U0001f1e6" <= char <= "\U0001f1ff"


def _flag_letter(char: str) -> str:
    return chr(ord(char) - 0x1F1E6 + ord("A"))


class _Signs(dict[int, str]):
    """What each code point is shown as, worked out once; usable by `str.translate`."""

    def __missing__(self, point: int) -> str:
        self[point] = found = _sign_of(point)
        return found


_SIGNS = _Signs()


def _sign_of(point: int) -> str:
    char = chr(point)
    if point < 0x20:
        return chr(0x2400 + point)
    if point == 0x7F:
        return "␡"
    if 0xDC80 <= point <= 0xDCFF:
        return f"‹0x{point - 0xDC00:02X}›"
    hidden = char in _INVISIBLE or unicodedata.category(char) in _SIGNED_CATEGORIES or _is_flag(char)
    if hidden or any(first <= point <= last for first, last in _DISPUTED):
        return f"‹U+{point:04X}›"
    return char


class _Widths(dict[str, int]):
    """Cells per character, worked out once."""

    def __missing__(self, char: str) -> int:
        self[char] = found = _measure(char)
        return found


def _measure(char: str) -> int:
    if _is_jamo_tail(char) or unicodedata.category(char) in _MARKS:
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1


_width = _Widths().__getitem__


def _unit_end(text: str, at: int) -> int:
    if text[at] == "‹":
        sign = _SIGN.match(text, at)
        if sign is not None:
            return _marks_end(text, sign.end())
    at = _marks_end(text, at + 1)
    while at < len(text) and (text[at] == _SELECTED or (text[at] == _TIE and at + 1 < len(text))):
        at = _marks_end(text, at + (1 if text[at] == _SELECTED else 2))
    return at


def _marks_end(text: str, at: int) -> int:
    while at < len(text) and _width(text[at]) == 0:
        at += 1
    return at


def _units_within(text: str, width: int) -> int:
    """Index after the last unit that still fits into `width` cells."""
    used = 0
    index = 0
    for unit in graphemes(text):
        used += cell_width(unit)
        if used > width:
            break
        index += len(unit)
    return index
