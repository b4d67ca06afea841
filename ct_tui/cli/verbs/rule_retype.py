"""`ct-tui rule retype TO ENTITY…`: just these entities become another type."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from ct_tui.cli.command import verb
from ct_tui.cli.signing import sign, signing_options, with_principal

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from ct_tui.cli.settings import Settings
    from ct_tui.domain.rulings import Body
    from ct_tui.heal.workbench import Workbench


@verb(
    "retype",
    "Just these entities become another type.",
    text="""The entities must all bear one type now; one that bears another when heal runs is left alone. TO must be
    declared.""",
    examples=["ct-tui rule retype product ent_5f0c1d ent_77a2be --reason 'sold, not written'"],
)
@click.argument("to_type", metavar="TO")
@click.argument("entities", metavar="ENTITY...", nargs=-1, required=True)
@signing_options
@click.pass_obj
def command(
    settings: Settings,
    to_type: str,
    entities: tuple[str, ...],
    reason: str | None,
    key: Path | None,
    supersedes: int | None,
) -> None:
    """Sign one retype."""
    with settings.workbench() as bench:
        body = _body(bench, to_type, tuple(dict.fromkeys(entities)))
        sign(settings, bench, body, reason=reason, key=key, supersedes=supersedes)


def _body(bench: Workbench, to_type: str, entities: Sequence[str]) -> Body:
    """The one ruling for entities of one type; raises BadInput where they bear several."""
    from ct_tui.domain.errors import BadInput

    bodies = bench.retypes(to_type, entities)
    if len(bodies) != 1:
        details = tuple(str(body) for body in bodies)
        raise BadInput("these entities bear several types, and one ruling changes one", "sign one for each", details)
    return bodies[0]


with_principal(command)
