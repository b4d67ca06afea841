"""`ct-tui rule merge SURVIVOR LOSER…`: entities are one and the same."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from ct_tui.cli.command import verb
from ct_tui.cli.signing import sign, signing_options, with_principal

if TYPE_CHECKING:
    from pathlib import Path

    from ct_tui.cli.settings import Settings


@verb(
    "merge",
    "Entities are one and the same.",
    text="""With the next heal every LOSER redirects to SURVIVOR. Redirects only: no fact and no edge is moved, and undo
    restores all of them.""",
    examples=["ct-tui rule merge ent_5f0c1d ent_77a2be --reason 'the same person, written twice'"],
)
@click.argument("survivor", metavar="SURVIVOR")
@click.argument("losers", metavar="LOSER...", nargs=-1, required=True)
@signing_options
@click.pass_obj
def command(
    settings: Settings,
    survivor: str,
    losers: tuple[str, ...],
    reason: str | None,
    key: Path | None,
    supersedes: int | None,
) -> None:
    """Sign one merge."""
    from ct_tui.domain.rulings import parse_body

    body = parse_body("merge", {"survivor": survivor, "losers": list(dict.fromkeys(losers))})
    with settings.workbench() as bench:
        sign(settings, bench, body, reason=reason, key=key, supersedes=supersedes)


with_principal(command)
