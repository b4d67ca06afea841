"""`ct-tui duplicates`: the app's merge of duplicates, reported or carried out."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from ct_tui.cli.command import principal_option, verb

if TYPE_CHECKING:
    from ct_tui.cli.settings import Settings
    from ct_tui.domain.duplicates import Group, MergeReport, NearGroup


@verb(
    "duplicates",
    "Report duplicate entities, or merge them.",
    text="""Entities with the same name key, type and summary are merged by --yes: the others redirect to the one that
    stays, no fact is moved, and `ct-tui undo` takes the run back. Groups that differ in type or summary wait for a
    ruling (`ct-tui rule merge`, or `ct-tui rule except` to keep them apart). --near also lists names that are only
    similar.""",
    examples=["ct-tui duplicates", "ct-tui duplicates --near", "ct-tui duplicates --yes --json"],
)
@click.option("--yes", is_flag=True, help="Merge what can be merged.")
@click.option("--confirm-drift", metavar="HASH", help="Take the changed config.json as meant (with --yes).")
@click.option("--waive-drift", metavar="HASH", help="Merge although config.json changed (with --yes).")
@click.option("--near", is_flag=True, help="List similar names too.")
@click.pass_obj
def command(settings: Settings, yes: bool, confirm_drift: str | None, waive_drift: str | None, near: bool) -> int:
    """Report or merge; the report is always printed."""
    from ct_tui.cli.progress import long_write

    if confirm_drift is not None and waive_drift is not None:
        raise click.UsageError("--confirm-drift and --waive-drift exclude each other.")
    if not yes and (confirm_drift is not None or waive_drift is not None):
        raise click.UsageError("--confirm-drift and --waive-drift need --yes.")
    with settings.workbench() as bench, long_write("Merging") as (_, stop):
        report = bench.duplicates(
            apply=yes, confirm=confirm_drift, waive=waive_drift, by=settings.principal or "", stop=stop
        )
        similar = bench.duplicate_groups().near if near else None
    document = report.as_json() | ({"near": [n.as_json() for n in similar]} if similar is not None else {})
    if settings.json:
        settings.out.note(*report.notes)
    settings.give(document, lambda: _lines(report, similar, settings.out.width))
    return (report.exit_code if yes else 0) or (1 if report.error else 0)


command.params.append(principal_option())


def _lines(report: MergeReport, similar: tuple[NearGroup, ...] | None, width: int) -> list[str]:
    from ct_tui.cli.output import paint
    from ct_tui.cli.text import count, paragraph, show, table

    did = "merged" if report.applied else "can be merged"
    waiting = f"{count(report.queued_groups, 'group')} for a human"
    lines = [paint(f"{count(report.merged_groups, 'group')} {did}, {waiting}.", "bold")]
    if not report.applied and report.merged_groups:
        lines.append("Report only: nothing was written; --yes merges.")
    if report.skipped_reason is not None:
        lines.append(paint(f"Nothing was merged ({report.skipped_reason}).", "yellow"))
    for note in report.notes:
        lines += paragraph(note, width)
    if report.error is not None:
        lines += [paint("Failed:", "red"), *paragraph(report.error, width)]
    rows = [_group(group) for group in report.groups]
    lines += ["", *table(rows, ("name", "because", "stays", "others"), width=width)] if rows else []
    if report.self_loops:
        lines += ["", "edges that lead back to their own start after the merge"]
        lines += table([tuple(map(show, loop)) for loop in report.self_loops], ("edge", "source", "target"))
    lines += [f"redirects in a circle: {', '.join(map(show, report.cycles))}"] if report.cycles else []
    if similar:
        pairs = [
            (f"{n.score:.2f}", show(n.pair.one.name), show(n.pair.other.name), show("; ".join(n.reasons)))
            for n in similar
        ]
        lines += ["", paint("similar names", "cyan"), *table(pairs, ("score", "one", "other", "why"), width=width)]
    return lines


def _group(group: Group) -> tuple[str, ...]:
    from ct_tui.cli.text import show

    waits = group.queued.value.replace("_", " ") if group.queued is not None else "same type and summary"
    return show(group.normalized_name), waits, show(group.survivor), show(", ".join(group.losers))
