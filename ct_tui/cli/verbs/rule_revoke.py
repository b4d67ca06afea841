"""`ct-tui rule revoke SEQ`: an earlier ruling stops acting."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from ct_tui.cli.command import verb
from ct_tui.cli.signing import sign, signing_options, with_principal

if TYPE_CHECKING:
    from pathlib import Path

    from ct_tui.cli.settings import Settings


@verb(
    "revoke",
    "An earlier ruling stops acting.",
    text="""From here on it decides nothing. What it did stays until the run that did it is undone (`ct-tui ledger
    --ruling SEQ` lists the changes, `ct-tui runs` the runs).""",
    examples=["ct-tui rule revoke 3 --reason 'components are not services after all'"],
)
@click.argument("seq", metavar="SEQ", type=int)
@signing_options
@click.pass_obj
def command(settings: Settings, seq: int, reason: str | None, key: Path | None, supersedes: int | None) -> None:
    """Sign one revocation."""
    from ct_tui.domain.rulings import parse_body

    body = parse_body("revoke", {"revokes": seq})
    with settings.workbench() as bench:
        sign(settings, bench, body, reason=reason, key=key, supersedes=supersedes)


with_principal(command)
