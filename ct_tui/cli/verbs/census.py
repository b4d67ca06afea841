"""`ct-tui census`: live entities by type, and what each type is to the ontology."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from ct_tui.cli.command import verb

if TYPE_CHECKING:
    from ct_tui.cli.settings import Settings
    from ct_tui.domain.census import TypeCount
    from ct_tui.heal.workbench import CensusReport


@verb(
    "census",
    "Count live entities by type, and say what each type is.",
    text="""A type is declared, a variant of a declared one (casing, spaces), undeclared, blank, or unreadable. The last
    column says what heal would do with its entities, by which ruling, and what it leaves to a human.""",
    examples=["ct-tui census", "ct-tui census --json --ids"],
)
@click.option("--ids", is_flag=True, help="List the entity ids of each type (in the JSON document).")
@click.pass_obj
def command(settings: Settings, ids: bool) -> None:
    """Count and judge."""
    with settings.workbench() as bench:
        report = bench.census(ids=ids)
    settings.give(report.as_json(), lambda: _lines(report, settings.out.width))


def _lines(report: CensusReport, width: int) -> list[str]:
    from ct_tui.cli.output import paint
    from ct_tui.cli.text import count, show, table

    census = report.census
    facts = (f"schema {report.schema_version}", count(census.live, "live entity"))
    lines = [
        paint(show(report.brain), "bold"),
        ", ".join((*facts, count(census.declared_types, "declared type"))),
        "",
        _verdict(report),
        *_warnings(report),
        "",
    ]
    rows = [(f"{t.count:,}", show(t.type), _status(t), _outcome(t)) for t in census.types]
    lines += table(rows, ("count", "type", "status", "what heal would do"), right=(0,), width=width)
    for kind in census.types:
        lines += [f"  {show(kind.type)}: {', '.join(show(i) for i in kind.ids)}"] if kind.ids else []
    return lines


def _verdict(report: CensusReport) -> str:
    from ct_tui.cli.text import count

    census = report.census
    if not census.undeclared_types:
        return "No type drift: every type is declared."
    bear = "bears" if census.undeclared_entities == 1 else "bear"
    types = count(census.undeclared_types, "type")
    return f"Type drift: {count(census.undeclared_entities, 'entity')} {bear} {types} that nobody declared."


def _warnings(report: CensusReport) -> list[str]:
    from ct_tui.cli.output import paint
    from ct_tui.cli.text import count, show

    found = [f"Rulings: {report.rulings_valid} valid."]
    if report.ruling_problems:
        problems = count(report.ruling_problems, "problem")
        found = [paint(f"Rulings: {report.rulings_valid} valid, {problems}: see `ct-tui rule list`.", "yellow")]
    if report.drift is not None:
        found.append(
            paint(
                f"Policy drift: config.json changed since the last heal, from {report.drift.old_hash[:12]} to "
                f"{report.drift.new_hash[:12]}.",
                "yellow",
            )
        )
    found += [paint(show(text), "red") for text in (report.degraded, report.distrust) if text]
    return found


def _status(row: TypeCount) -> str:
    from ct_tui.cli.output import paint
    from ct_tui.cli.text import show
    from ct_tui.domain.census import TypeStatus

    if row.status is TypeStatus.DECLARED:
        return row.status.value
    twin = f", looks like {show(row.looks_like)}" if row.looks_like else ""
    return paint(f"{row.status.value}{twin}", "yellow")


def _outcome(row: TypeCount) -> str:
    """What heal would do with the entities of one type, in counted words."""
    from ct_tui.cli.text import seq, show

    parts: list[str] = []
    if row.retype:
        ruling = f" ({seq(row.ruling)})" if row.ruling is not None else ""
        parts.append(f"{row.retype:,} become {show(row.to)}{ruling}" if row.to else f"{row.retype:,} are retyped")
    if row.legalized is not None:
        parts.append(f"becomes declared ({seq(row.legalized)})")
    counts = (
        (row.queue, "in the queue"),
        (row.kept, "kept by a ruling"),
        (row.held, "held"),
        (row.report_only, "report only"),
        (row.shielded, "shielded"),
    )
    parts += [f"{number:,} {words}" for number, words in counts if number]
    return ", ".join(parts)
