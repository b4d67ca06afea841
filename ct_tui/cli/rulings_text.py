"""The table of rulings as `rule list` and `rule verify` print it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ct_tui.domain.rulings import Entry, RulingTable


def table_document(table: RulingTable) -> dict[str, Any]:
    """Every entry with its own fields and its state, and the head."""
    return {
        "rulings": [_entry_document(entry, table) for entry in table.entries],
        "head": {"seq": table.head.seq, "hash": table.head.hash},
        "distrust": table.distrust,
    }


def _entry_document(entry: Entry, table: RulingTable) -> dict[str, Any]:
    own = {key: value for key, value in entry.fields.items() if key not in {"signature", "v"}}
    ruling = entry.ruling
    acts = ruling is not None and any(r.seq == ruling.seq for r in table.valid())
    return {
        **own,
        "seq": entry.seq,
        "kind": entry.kind,
        "reason": own.get("reason"),
        "ruled_by": own.get("ruled_by"),
        "ruled_at": own.get("ruled_at"),
        "state": entry.state.value,
        "problem": entry.problem or None,
        "acts": acts,
        "hash": ruling.hash if ruling is not None else None,
        "fingerprint": entry.fingerprint or None,
    }


def table_lines(table: RulingTable, width: int) -> list[str]:
    """The table for a person."""
    from ct_tui.cli.output import paint
    from ct_tui.cli.text import show, value_or_dash
    from ct_tui.cli.text import table as aligned

    if table.distrust and not table.entries:
        return problem_lines(table, width)
    if not table.entries:
        return ["There is no ruling yet. `ct-tui rule adopt founding.yaml` signs the founding proposals."]
    acting = {ruling.seq for ruling in table.valid()}
    rows = []
    for entry in table.entries:
        what = show(str(entry.ruling.body)) if entry.ruling is not None else "cannot be read"
        who = value_or_dash(_text(entry.fields.get("ruled_by")))
        when = value_or_dash(_text(entry.fields.get("ruled_at")))
        rows.append((f"#{entry.seq}", show(entry.kind), _state(entry, acting), who, when, what))
    lines = aligned(rows, ("", "kind", "state", "by", "at", "ruling"), right=(0,), width=width)
    lines += problem_lines(table, width)
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


def _state(entry: Entry, acting: set[int]) -> str:
    from ct_tui.cli.output import paint

    if not entry.valid:
        return paint(f"! {entry.state.value}", "red")
    return entry.state.value if entry.seq in acting else f"{entry.state.value}, replaced"


def _text(value: object) -> str | None:
    return None if value is None else str(value)
