"""`ct-tui keys revoke PUBKEY`: a key is never accepted again."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from ct_tui.cli.command import verb

if TYPE_CHECKING:
    from ct_tui.cli.settings import Settings


@verb(
    "revoke",
    "Never accept a key again.",
    text="""The key goes on your revocation list: nothing that it ever signed is valid for you from now on. PUBKEY is a
    .pub file, the text of the key, or the fingerprint of a signer that you trust.""",
    examples=["ct-tui keys revoke ada.pub"],
)
@click.argument("pubkey", metavar="PUBKEY")
@click.pass_obj
def command(settings: Settings, pubkey: str) -> None:
    """Put it on the list."""
    from ct_tui.trust.trusting import revoke

    settings.require_write()
    key = revoke(pubkey, settings.places().user_dir)
    document = {"fingerprint": key.fingerprint, "public": key.text, "revoked": True}
    settings.give(document, lambda: [f"{key.fingerprint} is revoked: nothing that it signed acts any more."])
