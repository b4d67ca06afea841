"""How rows of each kind are drawn in a list, from wide terminals down to forty columns."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ct_tui.domain.queue import ItemKind
from ct_tui.tui.signs import KIND_SIGNS, QUEUED_WORDS, SEVERITY_SIGNS, STATE_SIGNS
from ct_tui.tui.text import blank, data, day, drawn, fit, number, right, say, share
from ct_tui.tui.widgets.pictures import drift_bar, standing
from ct_tui.tui.widgets.rows import Row, columns
from ct_tui.tui.widgets.tree import Parent

if TYPE_CHECKING:
    from ct_tui.domain.census import TypeCount
    from ct_tui.domain.history import HistoryRow
    from ct_tui.domain.queue import EntityView, QueueItem
    from ct_tui.domain.rulings import Entry
    from ct_tui.tui.text import Line


def _twist(*, opens: bool, is_open: bool) -> Line:
    return (drawn("▾ " if is_open else "▹ " if opens else "  ", "faint"),)


def type_row(row: TypeCount, longest: int, *, is_open: bool) -> Parent:
    """A type of the census: name, count, bar, and what it is, in signs and words."""
    key = f"type:{row.raw!r}"

    def draw(width: int) -> Line:
        name = max(8, min(20, width // 3))
        word = 17 if width >= 44 else 14
        bar = width - name - word - 10
        counts = right(number(row.count, "strong"), 6)
        if bar < 4:
            return columns(
                width,
                (_twist(opens=True, is_open=is_open), 2),
                ((data(row.raw, "type" if row.drifts else "", name),), 0),
                (counts, 6),
                ((blank(1), *standing(row)), word),
            )
        return columns(
            width,
            (_twist(opens=True, is_open=is_open), 2),
            ((data(row.raw, "type" if row.drifts else "", name),), name),
            (counts, 6),
            ((blank(1), *drift_bar(row, longest, bar)), 0),
            ((blank(1), *standing(row)), word + 1),
        )

    return Parent(
        Row(key, row, draw, opens=True, is_open=is_open, markable=False), f"{row.type} {row.status.value}", row.count
    )


def item_row(item: QueueItem, *, is_open: bool, deferred: bool) -> Parent:
    """A question: what it is about, how many entities, its kind, and the best suggestion."""
    members = min(item.count, len(item.entities))

    def draw(width: int) -> Line:
        name = max(10, min(26, width * 2 // 5))
        shown = "dim" if deferred else "warn"
        kind: Line = (data(item.kind.value, "dim"),)
        best: Line = (say("· later", "dim"),) if deferred else _best(item)
        cells: list[tuple[Line, int]] = [
            (_twist(opens=bool(members), is_open=is_open), 2),
            ((drawn(KIND_SIGNS[item.kind], shown), blank(1), data(item.label, "dim" if deferred else "type")), name),
            ((*right(number(item.count, "strong"), 6), blank(2)), 8),
        ]
        if width >= 76:
            cells += [(best, 0), ((blank(1), *kind), 21)]
        else:
            cells.append((best or kind, 0))
        return columns(width, *cells)

    return Parent(
        Row(item.id, item, draw, opens=bool(members), is_open=is_open), f"{item.label} {item.kind.value}", members
    )


def _best(item: QueueItem) -> Line:
    """The best suggestion with its score; of a duplicate group why it waits, since an id says nothing."""
    group = item.data.get("group") if item.kind is ItemKind.DUPLICATE else None
    if group is not None and group.queued is not None:
        return (QUEUED_WORDS[group.queued],)
    if item.kind is ItemKind.FINDING and item.data.get("severity"):
        sign, ink = SEVERITY_SIGNS[item.data["severity"]]
        return (drawn(sign, ink), blank(1), data(item.data["severity"], ink))
    if not item.suggestions:
        return ()
    first = item.suggestions[0]
    return (say("→ ", "faint"), data(first.type, "type"), blank(1), share(first.score, "dim"))


def entity_row(parent: Row, entity: EntityView, key: str) -> Row:
    """An entity below its group."""

    def draw(width: int) -> Line:
        shield: Line = (
            (say("◇ ", "dim"),) if entity.shielded else (say("! ", "bad"),) if entity.problem else (blank(2),)
        )
        name = (blank(4), *shield, data(entity.name))
        if width < 56:
            return columns(width, (name, 0), ((blank(1), data(entity.type, "dim")), 14))
        return columns(
            width, (name, 0), ((blank(1), data(entity.type, "dim")), 16), ((blank(1), data(entity.id, "faint")), 18)
        )

    del parent
    return Row(key, entity, draw, depth=1)


def change_row(row: HistoryRow) -> tuple[Row, str]:
    """A change of a type in the history."""

    def draw(width: int) -> Line:
        name = max(8, min(28, width // 3))
        why: Line = (
            (say(" #", "dim"), number(row.ruling, "dim"))
            if row.ruling is not None
            else (blank(1), data(row.reason, "dim"))
        )
        return columns(
            width,
            ((day(row.at, "dim"),), 12),
            ((data(row.name or row.entity_id),), name),
            ((blank(1), data(row.from_type, "type"), say(" → ", "faint"), data(row.to_type, "type"), *why), 0),
        )

    text = f"{row.name} {row.entity_id} {row.from_type} {row.to_type} {row.reason}"
    return Row(f"change:{row.id}", row, draw, markable=False), text


def ruling_row(entry: Entry, at: int, standing: str) -> tuple[Row, str]:
    """A ruling of the table with its state; `standing` is the word for one that verifies."""

    def draw(width: int) -> Line:
        sign, ink = STATE_SIGNS[entry.state]
        ruling = entry.ruling
        what = data(str(ruling.body)) if ruling is not None else data(entry.kind, "dim")
        who: Line = (data(ruling.ruled_by, "dim"),) if ruling is not None else ()
        standing_words: Line = (
            (drawn(standing, "ok" if standing == "acts" else "dim"),)
            if entry.valid
            else (drawn(entry.state.value, ink),)
        )
        cells: list[tuple[Line, int]] = [
            ((drawn(sign, ink), say(" #", "faint"), number(entry.seq, "strong")), 7),
            ((data(entry.kind, "dim"),), 9),
            ((what,), 0),
            ((blank(1), *standing_words), 18 if width >= 60 else 10),
        ]
        if width >= 90:
            cells.append(((blank(1), *fit(who, 25)), 26))
        return columns(width, *cells)

    text = f"#{entry.seq} {entry.kind} {entry.state.value} {standing} {entry.ruling.body if entry.ruling else ''}"
    return Row(f"{entry.seq}:{at}", entry, draw, markable=False), text
