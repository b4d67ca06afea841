"""`ct-tui rule edge REPAIR EDGE…`: edges are repaired, or left as they are."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from ct_tui.cli.command import verb
from ct_tui.cli.signing import sign, signing_options, with_principal

if TYPE_CHECKING:
    from pathlib import Path

    from ct_tui.cli.settings import Settings


@verb(
    "edge",
    "Edges are repaired, or left as they are.",
    text="""REPAIR is rename (give the new edge type with --to), reverse, drop, keep, or widen. The first four take the
    ids that `ct-tui edges --list` prints; widen takes --triple and declares that signature, so that every edge of its
    shape is right from then on. Heal carries repairs out, and undo brings a dropped edge back.""",
    examples=[
        "ct-tui rule edge rename edge_17 --to documents --reason 'it is the text that documents'",
        "ct-tui rule edge widen --triple hasRole person role --reason 'people play roles'",
    ],
)
@click.argument("repair", metavar="REPAIR")
@click.argument("edges", metavar="[EDGE]...", nargs=-1)
@click.option("--to", metavar="EDGE_TYPE", help="The new edge type of a rename.")
@click.option("--triple", nargs=3, metavar="EDGE SOURCE TARGET", help="The signature that widen declares.")
@click.option("--manifest", "manifests", multiple=True, metavar="ROW", help="The manifest rows to widen; repeatable.")
@signing_options
@click.pass_obj
def command(
    settings: Settings,
    repair: str,
    edges: tuple[str, ...],
    to: str | None,
    triple: tuple[str, str, str] | None,
    manifests: tuple[str, ...],
    reason: str | None,
    key: Path | None,
    supersedes: int | None,
) -> None:
    """Sign one repair."""
    from ct_tui.domain.rulings import parse_body

    fields: dict[str, object] = {"repair": repair}
    fields |= {"edges": list(dict.fromkeys(edges))} if edges else {}
    fields |= {"to": to} if to is not None else {}
    fields |= {"triple": list(triple)} if triple else {}
    fields |= {"manifests": list(dict.fromkeys(manifests))} if manifests else {}
    body = parse_body("edge", fields)
    with settings.workbench() as bench:
        sign(settings, bench, body, reason=reason, key=key, supersedes=supersedes)


with_principal(command)
