"""`ct-tui keys list`: your keys, and whom you trust."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from ct_tui.cli.command import verb

if TYPE_CHECKING:
    from ct_tui.cli.settings import Settings
    from ct_tui.trust.keys import KeyInfo
    from ct_tui.trust.signers import SignerLine, Signers


@verb(
    "list",
    "List your keys and whom you trust.",
    text="""Your private keys by file, and every line of allowed_signers with what is wrong with it, if anything.""",
    examples=["ct-tui keys list"],
)
@click.pass_obj
def command(settings: Settings) -> None:
    """List keys and signers."""
    from ct_tui.trust.keys import list_keys
    from ct_tui.trust.paths import keys_folder
    from ct_tui.trust.signers import load_signers

    folder = settings.places().user_dir
    keys, signers = list_keys(keys_folder(folder)), load_signers(folder)
    document = {
        "folder": str(folder),
        "keys": [_key_document(key) for key in keys],
        "signers": [_signer_document(line, signers) for line in signers.lines],
        "problem": signers.refusal or None,
    }
    settings.give(document, lambda: _lines(str(folder), keys, signers, settings.out.width))


def _key_document(key: KeyInfo) -> dict[str, Any]:
    return {
        "key": str(key.path),
        "principal": key.comment or None,
        "fingerprint": key.fingerprint or None,
        "public": key.public.text if key.public is not None else None,
        "encrypted": key.encrypted,
        "problem": key.problem or None,
    }


def _signer_document(line: SignerLine, signers: Signers) -> dict[str, Any]:
    return {
        "principals": list(line.principals),
        "fingerprint": line.key.fingerprint if line.key is not None else None,
        "public": line.key.text if line.key is not None else None,
        "valid_after": line.valid_after.isoformat() if line.valid_after else None,
        "valid_before": line.valid_before.isoformat() if line.valid_before else None,
        "revoked": line.key in signers.revoked,
        "problem": line.problem or None,
    }


def _lines(folder: str, keys: tuple[KeyInfo, ...], signers: Signers, width: int) -> list[str]:
    from ct_tui.cli.output import paint
    from ct_tui.cli.text import show, table

    lines = [f"Keys and trust in {show(folder)}", "", paint("your keys", "cyan")]
    rows = [
        (
            show(k.path.name),
            k.fingerprint or "-",
            "passphrase" if k.encrypted else "open",
            show(k.problem or "can sign"),
        )
        for k in keys
    ]
    lines += table(rows, width=width) or ["  none; `ct-tui keys new --as PRINCIPAL` makes one"]
    lines += ["", paint("trusted signers", "cyan")]
    if signers.refusal:
        lines.append(paint(f"  nobody: {show(signers.refusal)}", "red"))
    trusted = [
        (
            show(", ".join(s.principals)) if s.principals else f"line {s.number}",
            s.key.fingerprint if s.key is not None else "-",
            _standing(s, signers),
        )
        for s in signers.lines
    ]
    return lines + (table(trusted, width=width) or ["  none"])


def _standing(line: SignerLine, signers: Signers) -> str:
    from ct_tui.cli.output import paint
    from ct_tui.cli.text import show

    if line.problem:
        return paint(f"! {show(line.problem)}", "red")
    if line.key in signers.revoked:
        return paint("! revoked", "red")
    after = f" after {line.valid_after:%Y-%m-%d %H:%M}" if line.valid_after else ""
    before = f" before {line.valid_before:%Y-%m-%d %H:%M}" if line.valid_before else ""
    return f"trusted{after}{before}"
