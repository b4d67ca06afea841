"""The one boundary for data on the screen.

Everything that a widget draws is a `Line` of `Piece`s, or the `Content` made of one. A piece is made here and only
here: of the program's own words (`say`), of data (`data`, which lets nothing through that hides, steers or
misaligns), or of a number. None of it is ever markup. Inks name what a piece means; the theme decides how that looks,
and nothing is told by ink alone.
"""

from __future__ import annotations

import datetime as dt
import re
from typing import TYPE_CHECKING, NamedTuple

from textual.content import Content, Span

from ct_tui.domain.visible import ELLIPSIS, cell_width, cut, excerpt, graphemes, head, visible

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ct_tui.domain.census import RawText
    from ct_tui.domain.errors import CtTuiError

INKS = {
    "": "",
    "strong": "bold",
    "dim": "$ink-dim",
    "faint": "$ink-faint",
    "title": "bold $ink-title",
    "head": "bold $ink-head",
    "type": "$ink-type",
    "key": "bold $ink-key",
    "ok": "$ink-ok",
    "warn": "$ink-warn",
    "bad": "$ink-bad",
    "quote": "italic $ink-dim",
    "match": "underline bold $ink-key",
    "bar-declared": "$ink-faint",
    "bar-move": "$ink-ok",
    "bar-ask": "$ink-warn",
    "bar-spared": "$ink-dim",
    "bar-unreadable": "$ink-bad",
}
"""What each ink looks like, in the theme's variables."""

LONGEST_TEXT = 4000
LONGEST_TITLE = 160
LONGEST_SENTENCE = 400
"""Characters of one running text, a name above its evidence, and a reason that are shown."""

_GROUPED = re.compile(r"\d{1,3}(?:,\d{3})+\Z")
_UNITS = (("k", 10**3), ("M", 10**6), ("G", 10**9))


class Piece(NamedTuple):
    """A run of inert text in one ink."""

    text: str
    ink: str = ""


Line = tuple[Piece, ...]
"""One line to draw, of pieces side by side."""

NOTHING: Line = ()


def say(words: str, ink: str = "") -> Piece:
    """The program's own words; always a literal, which a test holds."""
    return Piece(words, ink)


def data(value: RawText, ink: str = "", width: int | None = None) -> Piece:
    """Any value from outside in one line, cut to `width` cells where one is given."""
    return Piece(excerpt(value, LONGEST_TEXT if width is None else width), ink)


def titled(value: RawText, ink: str = "title") -> Piece:
    """A name or a type above its evidence: a monstrous one is cut, so that the evidence stays in sight."""
    return data(value, ink, LONGEST_TITLE)


def number(value: int | None, ink: str = "") -> Piece:
    """A count with its thousands apart; None is a dash."""
    return Piece("–" if value is None else f"{value:,}", ink)


def counted(value: int, one: str, many: str = "", ink: str = "") -> Piece:
    """A count with its noun, such as `1 edge` or `2,000 edges`; the nouns are literals."""
    return Piece(f"{value:,} {noun(value, one, many).text}", ink)


def noun(value: int, one: str, many: str = "", ink: str = "") -> Piece:
    """The noun that stands behind a count; the nouns are literals."""
    return Piece(one if value == 1 else many or one + "s", ink)


def share(value: float, ink: str = "") -> Piece:
    """A score between 0 and 1 in percent."""
    return Piece(f"{round(value * 100):d} %", ink)


def moment(seconds: float | None, ink: str = "") -> Piece:
    """A point in time (epoch seconds) as local date and minute; None is a dash."""
    return Piece(_moment_text(seconds, "%Y-%m-%d %H:%M"), ink)


def date(seconds: float | None, ink: str = "") -> Piece:
    """A point in time (epoch seconds) as local date; None is a dash."""
    return Piece(_moment_text(seconds, "%Y-%m-%d"), ink)


def day(seconds: float | None, ink: str = "") -> Piece:
    """A point in time (epoch seconds) as local month, day and minute, for narrow columns."""
    return Piece(_moment_text(seconds, "%m-%d %H:%M"), ink)


def stamp(moment_given: dt.datetime, ink: str = "") -> Piece:
    """A moment with its zone as local date and minute."""
    return moment(moment_given.timestamp(), ink)


def blank(width: int) -> Piece:
    """Room between two pieces, in cells."""
    return Piece(" " * max(0, width))


def drawn(picture: str, ink: str = "") -> Piece:
    """A picture that the program drew itself, such as a bar; it never holds data."""
    return Piece(picture, ink)


def prose(value: RawText, ink: str = "") -> tuple[Line, ...]:
    """A running text in its own lines; what is beyond the longest shown is counted."""
    length = len(value) if isinstance(value, (str, bytes)) else 0
    shown = value[:LONGEST_TEXT] if isinstance(value, (str, bytes)) else value
    lines = [(Piece(line, ink),) for line in visible(shown, newlines=True).rstrip("\n").split("\n")]
    if length > LONGEST_TEXT:
        lines.append((Piece(f"… {length - LONGEST_TEXT:,} more characters", "dim"),))
    return tuple(lines)


def error_lines(error: CtTuiError) -> tuple[Line, ...]:
    """What went wrong, the rows concerned, and what to do next."""
    lines: list[Line] = [(say("✗ ", "bad"), data(error.title, "strong")), (data(error.message),)]
    lines += [(say("  · ", "dim"), data(detail)) for detail in error.details[:20]]
    if len(error.details) > 20:
        lines.append((say("  · ", "dim"), number(len(error.details) - 20), say(" more")))
    if error.remedy:
        lines.append((say("→ ", "key"), data(error.remedy)))
    return tuple(lines)


def width_of(line: Iterable[Piece]) -> int:
    """Cells that a line takes."""
    return sum(cell_width(piece.text) for piece in line)


def plain(line: Iterable[Piece]) -> str:
    """A line without its inks."""
    return "".join(piece.text for piece in line)


def fit(line: Iterable[Piece], width: int) -> Line:
    """A line of exactly `width` cells: cut at a grapheme with an ellipsis, or filled with spaces."""
    pieces = tuple(line)
    room = width - width_of(pieces)
    if room >= 0:
        return (*pieces, Piece(" " * room)) if room else pieces
    return _cut_line(pieces, width)


def _cut_line(pieces: Line, width: int) -> Line:
    room = width - 1
    kept: list[Piece] = []
    for piece in pieces:
        size = cell_width(piece.text)
        if size > room:
            part = head(piece.text, room)
            room -= cell_width(part)
            kept += [Piece(part, piece.ink), Piece(ELLIPSIS + " " * room, piece.ink)]
            break
        kept.append(piece)
        room -= size
    return tuple(kept) if width > 0 else ()


def right(piece: Piece, width: int) -> Line:
    """A piece at the right end of `width` cells; a number that is wider is written shorter, never cut."""
    text = cut(_shorter(piece.text, width), width)
    return (Piece(" " * (width - cell_width(text))), Piece(text, piece.ink))


def _shorter(text: str, width: int) -> str:
    """A grouped number in `width` cells: without its commas where that is enough, else in thousands or millions."""
    if len(text) <= width or not _GROUPED.match(text):
        return text
    value = int(text.replace(",", ""))
    unit, size = next(((unit, size) for unit, size in _UNITS if value < size * 1000), _UNITS[-1])
    forms = (str(value), f"{value // (size // 10) / 10}{unit}", f"{value // size}{unit}")
    return next((form for form in forms if len(form) <= width), text)


def wrapped(line: Line, width: int, indent: int = 0) -> Iterator[Line]:
    """A line in lines of at most `width` cells, broken at spaces, all but the first moved in by `indent` cells."""
    width = max(1, width)
    if width_of(line) <= width:
        yield line
        return
    indent = indent if indent < width // 2 else 0
    current: list[Piece] = []
    used = 0
    for piece in _words(line):
        size = cell_width(piece.text)
        # A row of nothing but its indent is never left behind: a word too long for it is cut instead.
        if used + size > width and not all(p.text.isspace() for p in current):
            yield tuple(current)
            current, used = [Piece(" " * indent)] if indent else [], indent
            if piece.text.isspace():
                continue
        if used + size <= width:
            current.append(piece)
            used += size
            continue
        for unit in graphemes(piece.text):
            unit_size = cell_width(unit)
            if used + unit_size > width and used > indent:
                yield tuple(current)
                current, used = [Piece(" " * indent)] if indent else [], indent
            current.append(Piece(unit, piece.ink))
            used += unit_size
    if current:
        yield tuple(current)


def content(*pieces: Piece) -> Content:
    """One line as Textual's content, for the widgets that are not drawn line by line."""
    return contents((pieces,))


def contents(lines: Iterable[Iterable[Piece]]) -> Content:
    """Several lines as one content."""
    text: list[str] = []
    spans: list[Span] = []
    at = 0
    for row, line in enumerate(lines):
        if row:
            text.append("\n")
            at += 1
        for piece in line:
            text.append(piece.text)
            if piece.ink:
                spans.append(Span(at, at + len(piece.text), INKS[piece.ink]))
            at += len(piece.text)
    return Content("".join(text), spans=spans)


def _moment_text(seconds: float | None, form: str) -> str:
    if seconds is None:
        return "–"
    try:
        return dt.datetime.fromtimestamp(seconds, tz=dt.UTC).astimezone().strftime(form)
    except (OverflowError, ValueError, OSError):
        return f"{seconds:g} s"


def _words(line: Line) -> Iterator[Piece]:
    """The pieces of a line cut into words and gaps."""
    for piece in line:
        word: list[str] = []
        gap = False
        for char in piece.text:
            if (char == " ") != gap and word:
                yield Piece("".join(word), piece.ink)
                word = []
            gap = char == " "
            word.append(char)
        if word:
            yield Piece("".join(word), piece.ink)
