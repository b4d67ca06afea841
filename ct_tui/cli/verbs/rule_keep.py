"""`ct-tui rule keep LABEL`: seen and left as it is."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from ct_tui.cli.command import verb
from ct_tui.cli.signing import sign, signing_options, with_principal

if TYPE_CHECKING:
    from pathlib import Path

    from ct_tui.cli.settings import Settings


@verb(
    "keep",
    "Seen and left as it is, for good or until a day.",
    text="""Entities of the type (or just those named by --entity) leave the queue until the day, or for good. They
    stay in the census, where nothing is hidden.""",
    examples=[
        "ct-tui rule keep job --until 2027-01-31 --reason 'wait for the vocabulary review'",
        "ct-tui rule keep --entity ent_5f0c1d --reason 'a test entry'",
    ],
)
@click.argument("label", metavar="LABEL", required=False)
@click.option(
    "--entity", "entities", multiple=True, metavar="ID", help="Keep one entity instead of a type; repeatable."
)
@click.option("--until", metavar="DATE", help="The last day on which it is left alone, such as 2027-01-31.")
@signing_options
@click.pass_obj
def command(
    settings: Settings,
    label: str | None,
    entities: tuple[str, ...],
    until: str | None,
    reason: str | None,
    key: Path | None,
    supersedes: int | None,
) -> None:
    """Sign one keep."""
    from ct_tui.domain.rulings import parse_body

    if (label is None) == (not entities):
        raise click.UsageError("Keep one type, or entities named by --entity.")
    fields: dict[str, object] = {"type": label} if label is not None else {"entities": list(dict.fromkeys(entities))}
    fields |= {"until": until} if until is not None else {}
    body = parse_body("keep", fields)
    with settings.workbench() as bench:
        sign(settings, bench, body, reason=reason, key=key, supersedes=supersedes)


with_principal(command)
