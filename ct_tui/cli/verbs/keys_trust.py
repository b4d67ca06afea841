"""`ct-tui keys trust PRINCIPAL PUBKEY`: somebody's key may rule."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from ct_tui.cli.command import verb

if TYPE_CHECKING:
    from ct_tui.cli.settings import Settings


@verb(
    "trust",
    "Trust somebody's public key.",
    text="""A line is added to your allowed_signers: rulings that this key signed under this name are valid for you.
    PUBKEY is a .pub file or the text of the key.""",
    examples=["ct-tui keys trust ada@example.org ada.pub", "ct-tui keys trust ada@example.org 'ssh-ed25519 AAAA…'"],
)
@click.argument("principal", metavar="PRINCIPAL")
@click.argument("pubkey", metavar="PUBKEY")
@click.pass_obj
def command(settings: Settings, principal: str, pubkey: str) -> None:
    """Add the line."""
    from ct_tui.cli.text import show
    from ct_tui.trust.trusting import trust

    settings.require_write()
    key = trust(principal, pubkey, settings.places().user_dir)
    document = {"principal": principal, "fingerprint": key.fingerprint, "public": key.text, "trusted": True}
    settings.give(document, lambda: [f"{show(principal)} is trusted with {key.fingerprint}."])
