"""`ct-tui gate LABEL`: what the write gate would do; nothing is written."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from ct_tui.cli.command import verb

if TYPE_CHECKING:
    from ct_tui.cli.settings import Settings
    from ct_tui.domain.gate import Admission
    from ct_tui.gate import Gate
    from ct_tui.heal.workbench import Workbench


@verb(
    "gate",
    "Say what the write gate would do with a label.",
    text="""Nothing is written, not even the mark that a first mint leaves. The trace names every rung of the ladder
    that was looked at; an empty LABEL asks for a mint without one.""",
    examples=["ct-tui gate agent", "ct-tui gate workflow --source notes/ops.md --json"],
)
@click.argument("label", metavar="LABEL")
@click.option("--source", "sources", multiple=True, metavar="PATH", help="A document behind the mint; repeatable.")
@click.option("--entity", metavar="ID", help="The entity that the label is for; else a fresh one.")
@click.pass_obj
def command(settings: Settings, label: str, sources: tuple[str, ...], entity: str | None) -> None:
    """Preview one mint."""
    with settings.workbench() as bench:
        admission = open_gate(bench).preview(label, sources=sources, entity_id=entity)
    settings.give(admission.as_json(), lambda: admission_lines(admission, settings.out.width))


def open_gate(bench: Workbench) -> Gate:
    """The gate over the brain, its config and the rulings in force."""
    from ct_tui.gate import Gate, acting_rulings
    from ct_tui.policy.load import load_policy

    return Gate(bench.brain, load_policy(bench.places.config), acting_rulings(bench.brain, bench.places))


def admission_lines(admission: Admission, width: int) -> list[str]:
    """What the gate does, why, why not otherwise, and the way down the ladder."""
    from ct_tui.cli.output import paint
    from ct_tui.cli.text import paragraph, seq, show, table

    verdict = paint(admission.verdict.value, "bold")
    lands = f"  lands as {paint(show(admission.lands_as), 'cyan')}" if admission.lands_as is not None else ""
    lines = [verdict + lands + (f"  by {seq(admission.ruling.seq)}" if admission.ruling is not None else "")]
    document = admission.as_json()
    if admission.ledger is not None:
        original = admission.ledger.original_type
        was = f", was {show(original)}" if original is not None else ""
        lines.append(f"  the origin ledger notes {admission.ledger.reason.value}{was}")
    for text in (document["hold_message"], document["warning"], *admission.why_not):
        lines += paragraph(text, width) if text else []
    steps = admission.decision.trace if admission.decision is not None else ()
    rows = [(f"rung {show(step.rung)}", show(step.why)) for step in steps]
    return [*lines, *table(rows, width=width)]
