"""Pictures made of text: drift bars, sparkline, flow, time line, chain. None of them needs colour to be read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from ct_tui.domain.census import TypeStatus
from ct_tui.domain.visible import cell_width
from ct_tui.tui.signs import STATE_SIGNS
from ct_tui.tui.text import Line, Piece, blank, counted, data, drawn, fit, moment, number, right, say, stamp

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from ct_tui.domain.census import TypeCount
    from ct_tui.domain.history import HistoryRow, Ledger, MergeStep
    from ct_tui.domain.plan import ChangeKind
    from ct_tui.domain.rulings import Entry

SPARKS = "▁▂▃▄▅▆▇█"


@dataclass(frozen=True)
class Parts:
    """How the entities of one type are disposed of, as the parts of its bar."""

    fine: int
    moving: int
    asked: int
    spared: int
    unreadable: int

    @classmethod
    def of(cls, row: TypeCount) -> Parts:
        """The parts of a census row; what no disposition counts is fine where the type is declared, else asked."""
        spared = row.report_only + row.shielded + row.kept + row.held
        rest = max(0, row.count - row.retype - row.queue - spared)
        if row.status is TypeStatus.UNREADABLE:
            return cls(0, row.retype, 0, spared, row.queue + rest)
        if row.drifts:
            return cls(0, row.retype, row.queue + rest, spared, 0)
        return cls(rest, row.retype, row.queue, spared, 0)

    def cells(self, cells: int) -> tuple[int, int, int, int, int]:
        """The parts in cells of a bar: every part that is not empty shows, and the sum is never more than `cells`."""
        counts = (self.fine, self.moving, self.asked, self.spared, self.unreadable)
        total = sum(counts)
        if not total or cells <= 0:
            return (0, 0, 0, 0, 0)
        sizes = [max(1, round(count * cells / total)) if count else 0 for count in counts]
        while sum(sizes) > cells and max(sizes) > 1:
            sizes[sizes.index(max(sizes))] -= 1
        return (sizes[0], sizes[1], sizes[2], sizes[3], sizes[4])


BAR_GLYPHS = (("─", "bar-declared"), ("╍", "bar-move"), ("━", "bar-ask"), ("┄", "bar-spared"), ("!", "bar-unreadable"))


def drift_bar(row: TypeCount, longest: int, width: int) -> Line:
    """The bar of one type, as long as its count is to the longest: thin is declared, heavy is asked, dashed moves."""
    cells = max(1, round(row.count * width / longest)) if longest and row.count else 0
    sizes = Parts.of(row).cells(min(cells, width))
    return tuple(drawn(glyph * size, ink) for (glyph, ink), size in zip(BAR_GLYPHS, sizes, strict=True) if size)


def standing(row: TypeCount) -> Line:
    """What a type is, as a sign and a word."""
    parts = Parts.of(row)
    if row.status is TypeStatus.UNREADABLE:
        return (say("! unreadable", "bad"),)
    if row.status is TypeStatus.BLANK:
        return (say("∅ blank", "warn"),)
    if row.status is TypeStatus.VARIANT:
        return (say("≈ spelt ", "ok"), data(row.to, "type"))
    if row.status is TypeStatus.DECLARED:
        return (say("✓ declared", "dim"), *_spared(row))
    if row.legalized is not None:
        return (say("+ ", "ok"), say("declared by #", "ok"), number(row.legalized, "ok"))
    if row.to is not None and parts.moving:
        ruled = () if row.ruling is None else (say(" #", "dim"), number(row.ruling, "dim"))
        return (say("→ ", "ok"), data(row.to, "type"), *ruled)
    if parts.asked:
        return (say("? undeclared", "warn"), *_spared(row))
    return _spared(row)[1:] or (say("? undeclared", "warn"),)


def _spared(row: TypeCount) -> Line:
    for count, sign, word in (
        (row.shielded, "◇ ", " shielded"),
        (row.kept, "· ", " kept"),
        (row.report_only, "◇ ", " in off folders"),
        (row.held, "‖ ", " held"),
    ):
        if count:
            return (blank(1), drawn(sign, "dim"), number(count, "dim"), drawn(word, "dim"))
    return ()


def meter(value: float, width: int, ink: str = "bar-ask") -> Line:
    """A score between 0 and 1 as a bar on its ground."""
    full = max(0, min(width, round(value * width)))
    return (drawn("━" * full, ink), drawn("─" * (width - full), "faint"))


def sparkline(values: Sequence[int | None], width: int, ink: str = "warn") -> Line:
    """The last `width` values as a line of blocks; a night without a number is a gap, and a zero is a dot."""
    shown = list(values[-width:])
    top = max((v for v in shown if v is not None), default=0)
    pieces: list[Piece] = []
    for value in shown:
        if value is None:
            pieces.append(drawn(" "))
        elif value == 0:
            pieces.append(drawn("·", "ok"))
        else:
            pieces.append(drawn(SPARKS[min(7, round(value * 7 / top))], ink))
    return tuple(pieces)


def flow(from_type: str, to_type: str, kind: ChangeKind, count: int, most: int, width: int) -> Line:
    """One stream of a plan: from, an arrow as thick as it is large, to."""
    name = max(8, min(24, (width - 22) // 2))
    arrow = _arrow(count, most, max(5, min(14, width - 2 * name - 16)))
    return (
        *right(data(from_type, "bad", name), name),
        blank(1),
        drawn(arrow, "ok"),
        blank(1),
        *fit((data(to_type, "ok", name),), name),
        *right(number(count, "strong"), 7),
        blank(1),
        data(kind.value, "dim"),
    )


def _arrow(count: int, most: int, width: int) -> str:
    weight = count / most if most else 0
    shaft = "━" if weight > 2 / 3 else "─" if weight > 1 / 4 else "╌"
    return shaft * (width - 1) + "▶"


class Knot(NamedTuple):
    """One moment of an entity's life: epoch seconds, how it is drawn, what happened, and what lies behind it."""

    at: float
    rank: int
    words: Line
    behind: Line = ()


KNOTS = ("○", "●", "◆", "○", "✗", "≡")
"""The sign of each rank: minted, origin, change, event, archived, merge."""


def time_line(ledger: Ledger) -> tuple[Line, ...]:
    """An entity's life: minted, its origin, changes of its type, merges, the app's events, newest at the bottom."""
    knots = sorted(_knots(ledger), key=lambda knot: knot[:2])
    lines: list[Line] = []
    for index, knot in enumerate(knots):
        lines.append((moment(knot.at, "dim"), blank(2), drawn(KNOTS[knot.rank], "key"), blank(1), *knot.words))
        if knot.behind or index < len(knots) - 1:
            lines.append((blank(18), drawn("│", "faint"), blank(1), *knot.behind))
    lines.append((blank(18), drawn("╰ ", "faint"), say("now "), data(ledger.type, "type")))
    return tuple(lines)


def _knots(ledger: Ledger) -> Iterator[Knot]:
    if ledger.created_at is not None:
        yield Knot(ledger.created_at, 0, (say("minted"),))
    for origin in ledger.origins:
        yield Knot(origin.recorded_at, 1, _origin_line(origin.reason, origin.original_type, origin.source_directory))
    for row in ledger.history:
        yield Knot(row.at, 2, (data(row.from_type, "type"), say(" → "), data(row.to_type, "type")), _behind(row))
    for step in ledger.merges:
        yield Knot(step.at, 5, _merge_words(step), _by_run(step.ruling, step.run, step.by))
    for event in ledger.events:
        yield Knot(event.at / 1000, 3, (data(event.type, "dim"), say(": "), data(event.summary)))
    if ledger.deleted_at is not None:
        yield Knot(ledger.deleted_at, 4, (say("archived", "bad"),))


def _behind(row: HistoryRow) -> Line:
    """By what authority a type was changed, in which run, by whom."""
    return (data(row.reason, "dim"), say(" · ", "dim"), *_by_run(row.ruling, row.run, row.by))


def _by_run(ruling: int | None, run: int, by: str) -> Line:
    ruled: Line = () if ruling is None else (say("ruling #", "dim"), number(ruling, "dim"), say(" · ", "dim"))
    name: Line = (say(" by ", "dim"), data(by, "dim")) if by else ()
    return (*ruled, say("run ", "dim"), number(run, "dim"), *name)


def _merge_words(step: MergeStep) -> Line:
    """A redirect that was written, or one that was taken back."""
    if step.survivor is None:
        return (data(step.loser, "dim"), say(" stands for itself again"))
    return (data(step.loser, "dim"), say(" merged into "), data(step.survivor, "dim"))


def _origin_line(reason: str, original: str | None, source: str | None) -> Line:
    label: Line = (say("no label"),) if original is None else (data(original, "type"),)
    words = {
        "degraded": "degraded from ",
        "unlabeled_landing": "landed without a label: ",
        "gate_skipped": "the gate was skipped for ",
    }
    lead = (drawn(words[reason]),) if reason in words else (data(reason), say(" from "))
    tail = () if source is None else (say(", by "), data(source, "dim"))
    return (say("origin: ", "dim"), *lead, *label, *tail)


def change_line(row: HistoryRow) -> Line:
    """One change of a type in one line, without its time."""
    return (data(row.from_type, "type"), say(" → "), data(row.to_type, "type"), blank(2), *_behind(row))


def chain(entries: Iterable[Entry], at: int | None = None, around: int = 4) -> tuple[Line, ...]:
    """The signatures as a chain, each vouching for those before it; a broken link is drawn broken."""
    rows = list(entries)
    middle = next((i for i, entry in enumerate(rows) if entry.seq == at), len(rows) - 1)
    first, last = max(0, middle - around), min(len(rows), middle + around + 1)
    lines: list[Line] = []
    if first:
        lines.append((say("   ⋮ ", "dim"), counted(first, "earlier ruling", ink="dim")))
    for index in range(first, last):
        lines.append(_link(rows[index], here=rows[index].seq == at))
        lines.append((*_joint(rows[index + 1] if index < last - 1 else None), *_signed(rows[index])))
    if last < len(rows):
        lines.append((say("   ⋮ ", "dim"), counted(len(rows) - last, "later ruling", ink="dim")))
    return tuple(lines)


def _link(entry: Entry, *, here: bool) -> Line:
    sign, ink = STATE_SIGNS[entry.state]
    ruling = entry.ruling
    what: Line = (data(str(ruling.body)),) if ruling is not None else (data(entry.kind, "dim"),)
    return (
        drawn("▸" if here else " ", "key"),
        drawn(" "),
        drawn(sign, ink),
        drawn("━ #", "faint"),
        number(entry.seq, "strong"),
        blank(1),
        *what,
        blank(2),
        drawn(entry.state.value, ink),
    )


def _joint(following: Entry | None) -> Line:
    """What holds an entry to the one that follows it."""
    from ct_tui.domain.rulings import State

    if following is None:
        return (blank(5),)
    if following.state in {State.BROKEN, State.TAMPERED}:
        return (drawn("  ╳ broken here ", "bad"),)
    return (drawn("  ┃  ", "ok"),)


def _signed(entry: Entry) -> Line:
    """Who signed an entry, and when."""
    ruling = entry.ruling
    return () if ruling is None else (data(ruling.ruled_by, "dim"), blank(1), stamp(ruling.ruled_at, "dim"))


def rule_line(title: Line, width: int, *, strong: bool) -> Line:
    """A heading with a rule to the end of its width."""
    used = sum(cell_width(piece.text) for piece in title)
    return (*title, blank(1), drawn("─" * max(0, width - used - 1), "head" if strong else "faint"))
