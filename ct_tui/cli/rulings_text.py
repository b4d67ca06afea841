"""The table of rulings as `rule list` and `rule verify` print it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from ct_tui.domain.rulings import DeadAlias, Entry, RulingTable


def table_document(table: RulingTable, dead: Iterable[DeadAlias] = ()) -> dict[str, Any]:
    """Every entry with its own fields and its state, and the head; `dead` are valid aliases that cannot act."""
    acting, why = {ruling.seq for ruling in table.valid()}, _why(dead)
    return {
        "rulings": [_entry_document(entry, acting, why) for entry in table.entries],
        "head": {"seq": table.head.seq, "hash": table.head.hash},
        "distrust": table.distrust,
    }


def _why(dead: Iterable[DeadAlias]) -> dict[int, str]:
    return {alias.ruling.seq: f"it cannot act: {alias.message}" for alias in dead}


def _entry_document(entry: Entry, acting: set[int], why: Mapping[int, str]) -> dict[str, Any]:
    own = {key: value for key, value in entry.fields.items() if key not in {"signature", "v"}}
    ruling = entry.ruling
    acts = ruling is not None and ruling.seq in acting and ruling.seq not in why
    return {
        **own,
        "seq": entry.seq,
        "kind": entry.kind,
        "reason": own.get("reason"),
        "ruled_by": own.get("ruled_by"),
        "ruled_at": own.get("ruled_at"),
        "state": entry.state.value,
        "problem": entry.problem or (why.get(entry.seq) if ruling is not None and entry.valid else None),
        "acts": acts,
        "hash": ruling.hash if ruling is not None else None,
        "fingerprint": entry.fingerprint or None,
    }


def table_lines(table: RulingTable, width: int, dead: Iterable[DeadAlias] = ()) -> list[str]:
    """The table for a person; `dead` are valid aliases that cannot act."""
    from ct_tui.cli.output import paint
    from ct_tui.cli.text import paragraph, show, value_or_dash
    from ct_tui.cli.text import table as aligned

    if table.distrust and not table.entries:
        return problem_lines(table, width)
    if not table.entries:
        return ["There is no ruling yet. `ct-tui rule adopt founding.yaml` signs the founding proposals."]
    why = _why(dead)
    acting = {ruling.seq for ruling in table.valid()} - why.keys()
    rows = []
    for entry in table.entries:
        what = show(str(entry.ruling.body)) if entry.ruling is not None else "cannot be read"
        who = value_or_dash(_text(entry.fields.get("ruled_by")))
        when = value_or_dash(_text(entry.fields.get("ruled_at")))
        rows.append((f"#{entry.seq}", show(entry.kind), _state(entry, acting, why), who, when, what))
    lines = aligned(rows, ("", "kind", "state", "by", "at", "ruling"), right=(0,), width=width)
    lines += problem_lines(table, width)
    for seq, told in why.items():
        lines += paragraph(f"#{seq}: {told}", width)
    head = f"head #{table.head.seq} {show(table.head.hash[:16])}" if table.head.seq else "no head"
    return [*lines, paint(f"{len(table.entries)} rulings, {len(acting)} act, {head}", "dim")]


def problem_lines(table: RulingTable, width: int) -> list[str]:
    """Every problem in a sentence, the one that stops everything first."""
    from ct_tui.cli.output import paint
    from ct_tui.cli.text import paragraph

    lines: list[str] = []
    if table.distrust:
        lines += [paint("Nothing ruled acts until this is mended:", "red"), *paragraph(table.distrust, width)]
    for entry in table.problems():
        lines += paragraph(f"#{entry.seq} is {entry.state.value}: {entry.problem or 'no more is known'}", width)
    return lines


def _state(entry: Entry, acting: set[int], why: Mapping[int, str]) -> str:
    from ct_tui.cli.output import paint

    if not entry.valid:
        return paint(f"! {entry.state.value}", "red")
    if entry.seq in why:
        return paint(f"! {entry.state.value}, cannot act", "yellow")
    return entry.state.value if entry.seq in acting else f"{entry.state.value}, replaced"


def _text(value: object) -> str | None:
    return None if value is None else str(value)
