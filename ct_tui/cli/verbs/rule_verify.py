"""`ct-tui rule verify`: every signature and the chain."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from ct_tui.cli.command import verb

if TYPE_CHECKING:
    from ct_tui.cli.settings import Settings


@verb(
    "verify",
    "Verify every signature and the chain.",
    text="""Signatures, signers, the chain from entry to entry, and the head that the brain remembers. Any problem
    exits with 1 and is named.""",
    examples=["ct-tui rule verify && echo sound"],
)
@click.pass_obj
def command(settings: Settings) -> int:
    """Verify the table."""
    from ct_tui.cli.rulings_text import problem_lines, table_document
    from ct_tui.cli.text import count

    with settings.workbench() as bench:
        table = bench.table()
    sound = not table.problems() and not table.distrust
    said = f"{count(len(table.entries), 'ruling')}, all of them valid, chain unbroken."
    settings.give(table_document(table), lambda: [said] if sound else problem_lines(table, settings.out.width))
    return 0 if sound else 1
