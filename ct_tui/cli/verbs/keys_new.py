"""`ct-tui keys new`: an Ed25519 key, trusted from the start."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ct_tui.cli.command import verb
from ct_tui.cli.signing import PASSPHRASE, with_principal

if TYPE_CHECKING:
    from ct_tui.cli.settings import Settings


@verb(
    "new",
    "Make a signing key and trust it.",
    text="""An OpenSSH Ed25519 key pair, the private file readable by you alone, and a line in allowed_signers that
    lets it rule under your name. At a terminal a passphrase is asked for; elsewhere CT_TUI_PASSPHRASE gives one, and
    without it the key has none.""",
    examples=["ct-tui keys new --as ada@example.org"],
)
@click.option("--out", type=click.Path(path_type=Path), metavar="FILE", help="Where the private key goes.")
@click.pass_obj
def command(settings: Settings, out: Path | None) -> None:
    """Make the pair and trust it."""
    from ct_tui.cli.text import show
    from ct_tui.trust.keys import create_key, create_key_at, public_path
    from ct_tui.trust.paths import keys_folder
    from ct_tui.trust.principals import require_principal
    from ct_tui.trust.trusting import trust

    principal = settings.principal
    if principal is None:
        raise click.UsageError("Say who signs with it: --as PRINCIPAL, such as --as ada@example.org.")
    require_principal(principal)
    settings.require_write()
    folder = settings.places().user_dir
    passphrase = _new_passphrase()
    if out is None:
        info = create_key(principal, keys_folder(folder), passphrase)
    else:
        info = create_key_at(out, principal, passphrase)
    public = trust(principal, str(public_path(info.path)), folder)
    document = {
        "principal": principal,
        "key": str(info.path),
        "public": public.text,
        "fingerprint": public.fingerprint,
        "encrypted": info.encrypted,
        "trusted": True,
    }
    sealed = "with a passphrase" if info.encrypted else "without a passphrase"
    lines = [
        f"New key of {show(principal)}, {sealed}: {show(str(info.path))}",
        f"  {public.fingerprint}",
        f"  {public.text}",
        "It is trusted from now on. Others trust it with: ct-tui keys trust PRINCIPAL 'ssh-ed25519 …'",
    ]
    settings.give(document, lambda: lines)


with_principal(command)


def _new_passphrase() -> str | None:
    """The passphrase for a new key: from the environment, asked twice on a terminal, or none."""
    from ct_tui.cli.signing import ask_hidden
    from ct_tui.cli.terminal import can_ask
    from ct_tui.domain.errors import BadInput

    if PASSPHRASE in os.environ:
        return os.environ[PASSPHRASE] or None
    if not can_ask():
        return None
    first = ask_hidden("Passphrase (empty for none)")
    if first and ask_hidden("The same once more") != first:
        raise BadInput("the two passphrases differ", "no key was made; try again")
    return first or None
