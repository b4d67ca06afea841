"""`ct-tui ledger`: where an entity's type came from, or every change by one ruling or one reason."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from ct_tui.cli.command import verb

if TYPE_CHECKING:
    from ct_tui.cli.settings import Settings
    from ct_tui.domain.history import HistoryRow, Ledger, MergeStep

MOST_ROWS = 1_000_000
"""Rows that a listing may hold; the workstation pages through more."""


@verb(
    "ledger",
    "Show where an entity's type came from.",
    text="""The app's own origin row (the first origin wins for ever) and every change since, with the ruling and the
    run behind it. The id of a merged entity leads to the one that stayed. With --ruling, --reason or --run the rows of
    many entities are listed instead; where there are none it exits with 2.""",
    examples=["ct-tui ledger ent_5f0c1d", "ct-tui ledger --ruling 3", "ct-tui ledger --reason alias_retype --json"],
)
@click.argument("entity", metavar="ENTITY", required=False)
@click.option("--ruling", type=int, metavar="SEQ", help="List what one ruling changed.")
@click.option("--reason", metavar="R", help="List changes with one reason: alias_retype, queue_retype, recased, undo.")
@click.option("--run", type=int, metavar="RUN", help="List what one run changed.")
@click.pass_obj
def command(settings: Settings, entity: str | None, ruling: int | None, reason: str | None, run: int | None) -> int:
    """Show one entity's ledger, or list rows."""
    listing = ruling is not None or reason is not None or run is not None
    if listing == (entity is not None):
        raise click.UsageError("Name one entity, or list rows by --ruling, --reason or --run.")
    with settings.workbench() as bench:
        if entity is not None:
            ledger = bench.ledger(entity)
            settings.give(ledger.as_json(), lambda: _ledger_lines(ledger, settings.out.width))
            return 0
        rows = bench.history(ruling=ruling, reason=reason, run=run, limit=MOST_ROWS)
    document = {"history": [{"entity": r.entity_id, "name": r.name, **r.as_json()} for r in rows]}
    settings.give(document, lambda: _listing(rows, settings.out.width))
    return 0 if rows else 2


def _ledger_lines(ledger: Ledger, width: int) -> list[str]:
    from ct_tui.cli.output import paint
    from ct_tui.cli.text import moment, moment_ms, show, table

    lines = [f"{paint(show(ledger.name), 'bold')}  {paint(show(ledger.type), 'cyan')}  [{show(ledger.id)}]"]
    if ledger.asked is not None and ledger.asked != ledger.id:
        lines.append(f"  {show(ledger.asked)} was merged into it")
    rows = [(moment(ledger.created_at), "created", "")]
    for origin in ledger.origins:
        label = "no label" if origin.original_type is None else show(origin.original_type)
        because = f", under {show(origin.source_directory)}" if origin.source_directory else ""
        rows.append((moment(origin.recorded_at), f"origin: {show(origin.reason)}", f"was {label}{because}"))
    rows += [(moment(r.at), f"{show(r.from_type)} → {show(r.to_type)}", _by(r)) for r in ledger.history]
    rows += [(moment(m.at), _merge(m), f"run {m.run}, {show(m.by)}") for m in ledger.merges]
    lines += table(rows, width=width)
    if ledger.events:
        events = [(moment_ms(e.at), show(e.type), show(e.summary)) for e in ledger.events]
        lines += ["", "events", *table(events, width=width)]
    return lines


def _merge(step: MergeStep) -> str:
    from ct_tui.cli.text import show

    if step.survivor is None:
        return f"{show(step.loser)} stands for itself again"
    return f"{show(step.loser)} merged into {show(step.survivor)}"


def _by(row: HistoryRow) -> str:
    from ct_tui.cli.text import seq, show

    ruling = f" by {seq(row.ruling)}" if row.ruling is not None else ""
    who = f", {show(row.by)}" if row.by else ""
    return f"{show(row.reason)}{ruling}, run {row.run}{who}"


def _listing(rows: tuple[HistoryRow, ...], width: int) -> list[str]:
    from ct_tui.cli.text import moment, show, table

    if not rows:
        return ["No change is recorded there."]
    cells = [
        (moment(r.at), show(r.entity_id), f"{show(r.from_type)} → {show(r.to_type)}", show(r.name), _by(r))
        for r in rows
    ]
    return table(cells, ("at (UTC)", "entity", "change", "name", "by"), width=width)
