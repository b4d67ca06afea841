"""`ct-tui rule list`: the table of rulings with the state of each."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from ct_tui.cli.command import verb

if TYPE_CHECKING:
    from ct_tui.cli.settings import Settings


@verb(
    "list",
    "List the table of rulings with the state of each.",
    text="""Every entry is verified as it is read. Only those that are valid act, and none of them while the table
    shows signs of having been written without a key.""",
    examples=["ct-tui rule list", "ct-tui rule list --json"],
)
@click.pass_obj
def command(settings: Settings) -> None:
    """List the table."""
    from ct_tui.cli.rulings_text import table_document, table_lines

    with settings.workbench() as bench:
        table, dead = bench.table(), bench.dead_aliases()
    settings.give(table_document(table, dead), lambda: table_lines(table, settings.out.width, dead))
