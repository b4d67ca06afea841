"""`ct-tui rule settle ITEM ANSWER`: answers a question of the queue with every ruling that it takes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from ct_tui.cli.command import verb
from ct_tui.cli.signing import (
    ask_passphrase,
    key_option,
    reason_option,
    required_reason,
    signed_document,
    signed_line,
    with_principal,
)

if TYPE_CHECKING:
    from pathlib import Path

    from ct_tui.cli.settings import Settings


@verb(
    "settle",
    "Answer a question of the queue.",
    text="""ITEM is the id that `ct-tui queue` prints, ANSWER a declared type, for a question about edges one of its
    suggestions, for a group of one name the id of the one that stays. An undeclared type becomes an alias; for a
    degraded label the entities that it degraded are retyped too, whatever they bear now. All rulings that the answer
    takes are signed together.""",
    examples=["ct-tui rule settle type:agent role --reason 'agents are parts that are played'"],
)
@click.argument("item", metavar="ITEM")
@click.argument("target", metavar="ANSWER")
@reason_option()
@key_option()
@click.pass_obj
def command(settings: Settings, item: str, target: str, reason: str | None, key: Path | None) -> None:
    """Sign the answer."""
    why = required_reason(reason)
    with settings.workbench() as bench:
        drafts = [(body, why) for body in bench.settle(bench.item(item), target)]
        rulings = bench.rule_all(drafts, key=key, principal=settings.principal, passphrase=ask_passphrase)
        table = bench.table()
    signed = [signed_document(ruling, table) for ruling in rulings]
    document = {"rulings": signed, "head": {"seq": table.head.seq, "hash": table.head.hash}}
    settings.give(document, lambda: [signed_line(r, d["state"]) for r, d in zip(rulings, signed, strict=True)])


with_principal(command)
