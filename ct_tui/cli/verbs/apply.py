"""`ct-tui apply`: applies a saved plan; a stale one is refused with what moved."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ct_tui.cli.command import principal_option, verb

if TYPE_CHECKING:
    from ct_tui.cli.settings import Settings
    from ct_tui.domain.plan import Plan, Receipt
    from ct_tui.heal.workbench import Workbench


@verb(
    "apply",
    "Apply a saved plan.",
    text="""Every row is compared with what the plan saw before it is written, so nothing that another program changed
    meanwhile is lost. A plan that no longer fits exits with 1 and lists what moved. Ctrl+C stops between two chunks;
    the same plan can go on afterwards.""",
    examples=["ct-tui plan --out tonight.json && ct-tui apply tonight.json"],
)
@click.argument("file", metavar="FILE", type=click.Path(path_type=Path, dir_okay=False))
@click.option("--backup/--no-backup", default=None, help="Back up first. Else before the first write of a day.")
@click.option("--confirm-drift", metavar="HASH", help="Take a changed config.json as meant, by the hash before it.")
@click.pass_obj
def command(settings: Settings, file: Path, backup: bool | None, confirm_drift: str | None) -> int:
    """Load the plan and write it."""
    with settings.workbench() as bench:
        plan = bench.load_plan(file)
        return write_plan(settings, bench, plan, backup=backup, confirm=confirm_drift)


command.params.append(principal_option())


def write_plan(
    settings: Settings, bench: Workbench, plan: Plan, *, backup: bool | None, confirm: str | None = None
) -> int:
    """Apply a plan with progress, print the receipt, and give the exit code: 1 where a part was left undone."""
    from ct_tui.cli.progress import long_write
    from ct_tui.cli.verbs.plan import note_lines

    with long_write("Writing") as (progress, stop):
        by = settings.principal or ""
        receipt = bench.apply(plan, by=by, progress=progress, stop=stop, backup=backup, confirm=confirm)
    width = settings.out.width
    document = {**receipt_document(receipt), "notes": list(plan.notes)}
    settings.give(document, lambda: [*receipt_lines(receipt, width), *note_lines(plan, width, everything=False)])
    return 1 if receipt.stopped or receipt.conflicts else 0


def receipt_document(receipt: Receipt) -> dict[str, Any]:
    """What one run did, as JSON."""
    return {
        "run": receipt.run,
        "retyped": receipt.retyped,
        "recased": receipt.recased,
        "legalized": list(receipt.legalized),
        "edges_changed": receipt.edges,
        "merged": receipt.merged,
        "conflicts": [{"entity": c.entity, "expected": c.expected, "found": c.found} for c in receipt.conflicts],
        "stopped": receipt.stopped,
        "remaining": receipt.remaining,
        "backup": receipt.backup,
    }


def receipt_lines(receipt: Receipt, width: int) -> list[str]:
    """What one run did, for a person."""
    from ct_tui.cli.output import paint
    from ct_tui.cli.text import count, show, table

    if receipt.run is None:
        return ["Nothing to do: nothing was written."]
    parts = [f"{count(receipt.retyped, 'entity')} retyped"]
    parts += [f"{receipt.recased:,} recased"] if receipt.recased else []
    parts += [f"{', '.join(map(show, receipt.legalized))} declared"] if receipt.legalized else []
    parts += [f"{count(receipt.edges, 'edge')} changed"] if receipt.edges else []
    parts += [f"{count(receipt.merged, 'redirect')} changed"] if receipt.merged else []
    lines = [paint(f"Run {receipt.run}: {', '.join(parts)}.", "bold")]
    if receipt.stopped:
        left = count(receipt.remaining, "row")
        said = f"It was stopped with {left} left; apply the same plan again to go on."
        if receipt.halted:
            said = f"It had to stop with {left} left: another program changed {show(receipt.halted)}; make a new plan."
        lines.append(paint(said, "yellow"))
    if receipt.conflicts:
        lines.append(paint(f"{count(len(receipt.conflicts), 'row')} had moved and were left alone:", "yellow"))
        rows = [(show(c.entity), show(c.expected), show(c.found)) for c in receipt.conflicts]
        lines += table(rows, ("entity", "expected", "found"), width=width)
    lines += [f"Backup: {show(receipt.backup)}"] if receipt.backup else []
    return [*lines, f"`ct-tui undo {receipt.run}` takes it back."]
