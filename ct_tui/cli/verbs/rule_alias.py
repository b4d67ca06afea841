"""`ct-tui rule alias FROM TO`: every entity of one type becomes another."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from ct_tui.cli.command import verb
from ct_tui.cli.signing import sign, signing_options, with_principal

if TYPE_CHECKING:
    from pathlib import Path

    from ct_tui.cli.settings import Settings


@verb(
    "alias",
    "Entities of one type become another.",
    text="""Every live, unshielded entity of type FROM becomes TO, now (with the next heal) and whenever one is written
    through the gate. TO must be declared, FROM must not be.""",
    examples=["ct-tui rule alias agent role --reason 'agents are parts that are played'"],
)
@click.argument("from_type", metavar="FROM")
@click.argument("to_type", metavar="TO")
@signing_options
@click.pass_obj
def command(
    settings: Settings, from_type: str, to_type: str, reason: str | None, key: Path | None, supersedes: int | None
) -> None:
    """Sign one alias."""
    from ct_tui.domain.rulings import parse_body

    body = parse_body("alias", {"from": from_type, "to": to_type})
    with settings.workbench() as bench:
        sign(settings, bench, body, reason=reason, key=key, supersedes=supersedes)


with_principal(command)
