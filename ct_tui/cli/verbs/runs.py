"""`ct-tui runs`: the runs that wrote to the brain, newest first."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from ct_tui.cli.command import verb

if TYPE_CHECKING:
    from ct_tui.cli.settings import Settings
    from ct_tui.domain.history import RunRow


@verb(
    "runs",
    "List the runs that wrote, newest first.",
    text="Each applied plan, heal or undo is one run, with what it did and whether it was taken back.",
    examples=["ct-tui runs", "ct-tui runs --json"],
)
@click.pass_obj
def command(settings: Settings) -> None:
    """List the runs."""
    with settings.workbench() as bench:
        runs = bench.runs()
    settings.give({"runs": [run.as_json() for run in runs]}, lambda: _lines(runs, settings.out.width))


def _lines(runs: tuple[RunRow, ...], width: int) -> list[str]:
    from ct_tui.cli.text import moment, show, table

    if not runs:
        return ["No run has written to this brain yet."]
    rows = [
        (str(r.id), moment(r.at), show(r.by), r.kind, r.status, f"{r.retyped:,}", f"{r.recased:,}", _notes(r))
        for r in runs
    ]
    head = ("run", "at (UTC)", "by", "kind", "status", "retyped", "recased", "")
    return table(rows, head, right=(0, 5, 6), width=width)


def _notes(run: RunRow) -> str:
    from ct_tui.cli.text import count, show

    parts = [f"declared {', '.join(map(show, run.legalized))}"] if run.legalized else []
    parts += [count(run.edges, "edge")] if run.edges else []
    parts += [count(run.conflicts, "conflict")] if run.conflicts else []
    parts += [f"undoes {run.undoes}"] if run.undoes is not None else []
    parts += [f"undone by {run.undone_by}"] if run.undone_by is not None else []
    return ", ".join(parts)
