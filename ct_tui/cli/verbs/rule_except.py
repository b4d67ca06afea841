"""`ct-tui rule except RULE FOCUS…`: a lint finding is accepted, or entities stay apart."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from ct_tui.cli.command import verb
from ct_tui.cli.signing import sign, signing_options, with_principal

if TYPE_CHECKING:
    from pathlib import Path

    from ct_tui.cli.settings import Settings


@verb(
    "except",
    "A lint finding is accepted, or entities stay apart.",
    text="""RULE is a rule of `ct-tui lint`, FOCUS the ids of its findings. With the rule `duplicate` the entities named
    are different things, and no merge ever joins them.""",
    examples=[
        "ct-tui rule except fact-provenance fact_17 --reason 'told by the user in person'",
        "ct-tui rule except duplicate ent_5f0c1d ent_77a2be --reason 'father and son'",
    ],
)
@click.argument("rule", metavar="RULE")
@click.argument("focus", metavar="FOCUS...", nargs=-1, required=True)
@click.option("--until", metavar="DATE", help="The last day on which it holds, such as 2027-01-31.")
@signing_options
@click.pass_obj
def command(
    settings: Settings,
    rule: str,
    focus: tuple[str, ...],
    until: str | None,
    reason: str | None,
    key: Path | None,
    supersedes: int | None,
) -> None:
    """Sign one exception."""
    from ct_tui.domain.rulings import parse_body

    fields: dict[str, object] = {"rule": rule, "focus": list(dict.fromkeys(focus))}
    fields |= {"until": until} if until is not None else {}
    body = parse_body("except", fields)
    with settings.workbench() as bench:
        sign(settings, bench, body, reason=reason, key=key, supersedes=supersedes)


with_principal(command)
