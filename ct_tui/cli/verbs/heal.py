"""`ct-tui heal`: what the nightly timer runs; a report alone, or with --yes the writing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from ct_tui.cli.command import principal_option, verb

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ct_tui.cli.settings import Settings

_SKIPPED = {
    "unconfirmed_drift": "Nothing is retyped until the changed config.json is confirmed",
    "drift_waived": "The policy drift was waived: the manifests were tended, nothing was retyped",
    "degraded_config": "Nothing is done while config.json is degraded or ambiguous",
    "rulings_untrusted": "Nothing is done while the table of rulings is not sound; see `ct-tui rule verify`",
}


@verb(
    "heal",
    "Report what the nightly heal finds, or let it write.",
    text="""Without --yes nothing is written. With it, spelling variants of declared types are set right and every
    signed ruling in force is carried out; the rest waits in the queue. When the ontology part of config.json changed
    since the last heal, nothing is retyped until that is confirmed, or waived for this run, by the hash that the
    report prints.""",
    examples=["ct-tui heal", "ct-tui heal --yes --json", "ct-tui heal --yes --confirm-drift 3f9a…"],
)
@click.option("--yes", is_flag=True, help="Write to the brain.")
@click.option("--confirm-drift", metavar="HASH", help="Take the changed config.json as meant (with --yes).")
@click.option("--waive-drift", metavar="HASH", help="Let this run pass without retyping (with --yes).")
@click.pass_obj
def command(settings: Settings, yes: bool, confirm_drift: str | None, waive_drift: str | None) -> int:
    """Run the heal and print its document."""
    from ct_tui.cli.progress import long_write

    if confirm_drift is not None and waive_drift is not None:
        raise click.UsageError("--confirm-drift and --waive-drift exclude each other.")
    if not yes and (confirm_drift is not None or waive_drift is not None):
        raise click.UsageError("--confirm-drift and --waive-drift need --yes.")
    by = settings.principal or ""
    with settings.workbench() as bench, long_write("Healing") as (progress, stop):
        report = bench.heal(apply=yes, confirm=confirm_drift, waive=waive_drift, by=by, progress=progress, stop=stop)
    document = report.as_json()
    if settings.json:
        settings.out.note(*report.notes)
    settings.give(document, lambda: heal_lines(document, settings.out.width, applied=yes))
    if report.stopped and report.error is None:
        settings.out.note("It was stopped between two chunks; the next heal goes on from there.")
    return report.exit_code


command.params.append(principal_option())


def heal_lines(document: Mapping[str, Any], width: int, *, applied: bool) -> list[str]:
    """The report for a person."""
    from ct_tui.cli.output import paint
    from ct_tui.cli.text import paragraph, show

    o: Mapping[str, Any] = document["ontology"]
    lines = [
        paint(_title(document, applied=applied), "bold"),
        *_count_lines(o, "" if applied else "would be "),
        *_census_lines(o["census"]),
    ]
    if o["unusable_manifests"]:
        lines.append(f"  unusable manifests: {', '.join(map(show, o['unusable_manifests']))}")
    if o["drift"] is not None:
        lines += _drift_lines(o["drift"])
    if o["skipped_reason"] is not None:
        reason = str(o["skipped_reason"])
        lines.append(paint(f"{_SKIPPED.get(reason, 'Skipped')} ({reason}).", "yellow"))
    for note in o["notes"]:
        lines += paragraph(note, width)
    if o["error"] is not None:
        lines += [paint("Failed:", "red"), *paragraph(str(o["error"]), width)]
    if o["okf_migration_diagnostic"] is not None:
        lines += ["The app's last page conversion was aborted:", *paragraph(str(o["okf_migration_diagnostic"]), width)]
    return lines


def _title(document: Mapping[str, Any], *, applied: bool) -> str:
    if not applied:
        return "Report only: nothing was written; --yes applies it."
    word = "Healed" if document["ontology"]["error"] is None else "Not healed to the end"
    run = document.get("run")
    return f"{word}." if run is None else f"{word} (run {run})."


def _count_lines(o: Mapping[str, Any], did: str) -> list[str]:
    from ct_tui.cli.text import count, show

    lines = [f"  {count(o['retyped'], 'entity')} {did}retyped, {o['recased']:,} {did}recased"]
    if o["legalized"]:
        lines.append(f"  {did}declared: {', '.join(map(show, o['legalized']))}")
    if o["edges"]:
        lines.append(f"  {count(o['edges'], 'edge')} {did}repaired")
    if o["merged"]:
        lines.append(f"  {count(o['merged'], 'entity')} {did}merged into others")
    named = (("queued", "in the queue"), ("report_only", "report only"), ("shielded", "shielded"), ("held", "held"))
    left = [f"{o[key]:,} {words}" for key, words in named if o[key]]
    lines += [f"  {', '.join(left)}"] if left else ["  nothing waits in the queue"]
    if o["conflicts"]:
        lines.append(f"  {count(o['conflicts'], 'row')} had moved meanwhile and were left alone")
    return lines


def _census_lines(census: Mapping[str, Any]) -> list[str]:
    from ct_tui.cli.text import count

    lines: list[str] = []
    if census["incidental_off_manifests"]:
        lines.append(f"  {count(census['incidental_off_manifests'], 'manifest row')} with mode off")
    if census["unmarked_tier_fact"]:
        lines.append("  the manifest of tier_fact is missing, unreadable or not strict")
    return lines


def _drift_lines(drift: Mapping[str, Any]) -> list[str]:
    from ct_tui.cli.output import paint
    from ct_tui.cli.text import moment_ms, show

    stamped = f", stamped {moment_ms(drift['old_stamped_at'])} UTC" if drift["old_stamped_at"] else ""
    said = ", confirmed" if drift["confirmed"] else ", waived" if drift["waived"] else ""
    return [
        paint(f"Policy drift{said}: the ontology part of config.json changed since the last heal.", "yellow"),
        f"  was {show(drift['old_hash'])}{stamped}",
        f"  is  {show(drift['new_hash'])}",
    ]
