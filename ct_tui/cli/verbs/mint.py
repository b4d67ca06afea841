"""`ct-tui mint NAME`: one entity through the gate."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from ct_tui.cli.command import verb

if TYPE_CHECKING:
    from ct_tui.cli.settings import Settings


@verb(
    "mint",
    "Write one entity through the gate.",
    text="""The label lands as the gate decides (`ct-tui gate` says it beforehand), with its row in the origin ledger,
    in one transaction. A hold writes nothing and exits with 1.""",
    examples=["ct-tui mint 'Release train' --type process --summary 'How we ship.' --source notes/ops.md"],
)
@click.argument("name", metavar="NAME")
@click.option("--type", "label", metavar="LABEL", help="The proposed type; else the fallback of the vocabulary.")
@click.option("--summary", default="", metavar="S", help="A sentence about it.")
@click.option("--source", "sources", multiple=True, metavar="PATH", help="A document behind it; repeatable.")
@click.pass_obj
def command(settings: Settings, name: str, label: str | None, summary: str, sources: tuple[str, ...]) -> int:
    """Mint one entity."""
    from ct_tui.cli.text import show
    from ct_tui.cli.verbs.gate import admission_lines, open_gate

    settings.require_write()
    with settings.workbench() as bench:
        minted = open_gate(bench).mint(name, label=label, summary=summary, sources=sources)

    def lines() -> list[str]:
        head = [f"{show(name)} is {show(minted.entity)}"] if minted.entity is not None else ["Nothing was written."]
        return [*head, *admission_lines(minted.admission, settings.out.width)]

    settings.give(minted.as_json(), lines)
    return 1 if minted.held else 0
