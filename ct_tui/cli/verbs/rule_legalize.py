"""`ct-tui rule legalize TYPE`: a type is declared from now on."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from ct_tui.cli.command import verb
from ct_tui.cli.signing import sign, signing_options, with_principal

if TYPE_CHECKING:
    from pathlib import Path

    from ct_tui.cli.settings import Settings


@verb(
    "legalize",
    "A type is declared from now on.",
    text="""The next heal adds the type to the manifest rows that are named: tier_fact unless told otherwise;
    seed-family stands for every row that declares all 17 seed types. An edge signature can join in the same ruling.""",
    examples=["ct-tui rule legalize dataset --description 'A body of data.' --reason 'asked for weekly'"],
)
@click.argument("type_", metavar="TYPE")
@click.option("--description", required=True, metavar="D", help="What the type is for.")
@click.option("--parent", metavar="P", help="The declared type that it is a kind of.")
@click.option(
    "--manifest", "manifests", multiple=True, metavar="ROW", help="A manifest row, or seed-family; repeatable."
)
@click.option(
    "--edge",
    "edges",
    nargs=3,
    multiple=True,
    metavar="EDGE SOURCE TARGET",
    help="An edge signature that the type joins; repeatable.",
)
@signing_options
@click.pass_obj
def command(
    settings: Settings,
    type_: str,
    description: str,
    parent: str | None,
    manifests: tuple[str, ...],
    edges: tuple[tuple[str, str, str], ...],
    reason: str | None,
    key: Path | None,
    supersedes: int | None,
) -> None:
    """Sign one legalisation."""
    from ct_tui.domain.rulings import parse_body

    fields: dict[str, object] = {"type": type_, "description": description}
    fields |= {"parent_type": parent} if parent is not None else {}
    fields |= {"manifests": list(dict.fromkeys(manifests))} if manifests else {}
    fields |= {"edges": [list(edge) for edge in edges]} if edges else {}
    body = parse_body("legalize", fields)
    with settings.workbench() as bench:
        sign(settings, bench, body, reason=reason, key=key, supersedes=supersedes)


with_principal(command)
