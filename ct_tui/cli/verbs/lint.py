"""`ct-tui lint`: the curation guide's rules over facts, edges, names, types and rulings."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from ct_tui.cli.command import verb

if TYPE_CHECKING:
    from collections.abc import Collection

    from ct_tui.cli.settings import Settings
    from ct_tui.domain.lint.model import Finding, Severity
    from ct_tui.domain.lint.report import LintReport
    from ct_tui.heal.workbench import Workbench

SAMPLE = 20
"""Findings of one rule that are shown, unless all are asked for."""


@verb(
    "lint",
    "Check facts, edges and names against the curation guide.",
    text="""Each finding names its rule, the row and what stands there. A signed exception (`ct-tui rule except`) takes
    a finding out for good. A rule that could not run is reported as rule-failed, and the verb then exits with 1.""",
    examples=["ct-tui lint", "ct-tui lint --rule fact-provenance --all", "ct-tui lint --severity error --json"],
)
@click.option("--rule", "rules", multiple=True, metavar="RULE", help="Run just this rule; repeatable.")
@click.option("--severity", metavar="S", help="Show findings of this weight only: error, warning or info.")
@click.option("--all", "everything", is_flag=True, help="Keep and show every finding.")
@click.pass_obj
def command(settings: Settings, rules: tuple[str, ...], severity: str | None, everything: bool) -> int:
    """Lint the brain."""
    only = _known(rules)
    wanted = _severity(severity)
    with settings.workbench() as bench:
        report = _lint(bench, only, everything=everything)
    if wanted is not None:
        report = report.of_severity(wanted)
    settings.give(report.as_json(), lambda: _lines(report, settings.out.width, everything=everything))
    return 1 if report.failed else 0


def _lint(bench: Workbench, only: Collection[str] | None, *, everything: bool) -> LintReport:
    from ct_tui.cli.progress import long_write
    from ct_tui.domain.lint.report import KEPT_PER_RULE

    with long_write("Looking") as (progress, stop):
        keep = None if everything else KEPT_PER_RULE
        return bench.lint(only=only, keep=keep, progress=progress, stop=stop)


def _known(rules: tuple[str, ...]) -> Collection[str] | None:
    from ct_tui.domain.errors import BadInput
    from ct_tui.domain.lint.registry import BY_ID

    for rule in rules:
        if rule not in BY_ID:
            raise BadInput(f"there is no rule {rule}", f"there are: {', '.join(BY_ID)}")
    return frozenset(rules) or None


def _severity(name: str | None) -> Severity | None:
    from ct_tui.domain.errors import BadInput
    from ct_tui.domain.lint.model import Severity

    if name is not None and name not in list(Severity):
        raise BadInput(f"there is no severity {name}", f"there are: {', '.join(Severity)}")
    return Severity(name) if name is not None else None


def _lines(report: LintReport, width: int, *, everything: bool) -> list[str]:
    from ct_tui.cli.output import paint
    from ct_tui.cli.text import count, paragraph, show
    from ct_tui.domain.lint.registry import BY_ID

    lines = [paint(_summary(report), "bold")]
    for note in report.notes:
        lines += paragraph(note, width)
    by_rule: dict[str, list[Finding]] = {}
    for finding in report.findings:
        by_rule.setdefault(finding.rule, []).append(finding)
    for rule, found in by_rule.items():
        heading = f"{found[0].severity.value}  {rule}  {count(report.counts[rule], 'finding')}"
        lines += ["", paint(heading, "red" if found[0].severity.rank == 0 else "yellow")]
        lines += paragraph(BY_ID[rule].why, width) if rule in BY_ID else []
        shown = found if everything else found[:SAMPLE]
        for finding in shown:
            lines.append(f"    {finding.focus.kind.value} {show(finding.focus.id)}  {finding.path}{_news(finding)}")
            lines += paragraph(finding.message + (f" → {finding.fix}" if finding.fix else ""), width, 6)
        left = report.counts[rule] - len(shown)
        lines += [f"    … and {left:,} more; --all shows them"] if left > 0 else []
    return lines


def _news(finding: Finding) -> str:
    return "  (new)" if finding.new else ""


def _summary(report: LintReport) -> str:
    from ct_tui.cli.text import count

    total = sum(report.counts.values())
    parts = [f"{number:,} {name}" for name, number in report.severities().items() if number]
    said = f"{count(total, 'finding')}: {', '.join(parts)}" if total else "No finding"
    said += f", {report.excepted:,} excepted by rulings" if report.excepted else ""
    said += f", {report.new:,} new and {report.gone:,} gone since the last night" if report.new is not None else ""
    return said + "."
