"""`ct-tui undo RUN`: shows the inverse of a run, and applies it with --yes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from ct_tui.cli.command import principal_option, verb
from ct_tui.cli.verbs.plan import SAMPLE, plan_lines

if TYPE_CHECKING:
    from ct_tui.cli.settings import Settings


@verb(
    "undo",
    "Take one run back.",
    text="""Without --yes only the plan is shown. Rows that changed since the run are named and left alone, and types
    that the run declared stay declared. An undo is itself a run and can be undone; what heal would do again the next
    night it does again, so revoke the ruling as well.""",
    examples=["ct-tui undo 4", "ct-tui undo 4 --yes"],
)
@click.argument("run", metavar="RUN", type=int)
@click.option("--yes", is_flag=True, help="Write the plan to the brain.")
@click.option("--all", "everything", is_flag=True, help=f"Show every row instead of {SAMPLE} of each group.")
@click.option("--backup/--no-backup", default=None, help="Back up first. Else before the first write of a day.")
@click.pass_obj
def command(settings: Settings, run: int, yes: bool, everything: bool, backup: bool | None) -> int:
    """Show or apply the inverse plan."""
    from ct_tui.cli.verbs.apply import write_plan
    from ct_tui.heal.planner import plan_as_json

    with settings.workbench() as bench:
        plan = bench.undo_plan(run, effect=True)
        if yes:
            return write_plan(settings, bench, plan, backup=backup)
    settings.give(plan_as_json(plan), lambda: plan_lines(plan, settings.out.width, everything=everything))
    if not plan.empty:
        settings.out.note("Nothing was written: --yes applies it.")
    return 0


command.params.append(principal_option())
