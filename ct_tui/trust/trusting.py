"""Changing whom the user trusts: lines are only added, and what a person wrote in the files stays byte for byte."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING

from ct_tui.domain.errors import BadInput, TrustError
from ct_tui.domain.rulings import State
from ct_tui.trust.files import append_whole, locked, read_if_there, reason_of
from ct_tui.trust.judging import judge
from ct_tui.trust.paths import allowed_signers_path, revoked_keys_path, user_folder
from ct_tui.trust.principals import require_principal
from ct_tui.trust.public_keys import PublicKey, read_public_key
from ct_tui.trust.signers import MAX_TRUST_FILE, load_signers
from ct_tui.trust.ssh_dates import format_ssh_date
from ct_tui.trust.sshsig_io import NAMESPACE

if TYPE_CHECKING:
    from pathlib import Path


def trust(
    principal: str,
    pubkey: str | PublicKey,
    folder: Path | None = None,
    *,
    valid_after: dt.datetime | None = None,
    valid_before: dt.datetime | None = None,
) -> PublicKey:
    """Let a key rule under a name; a key that already may is left as it is. Raises BadInput or TrustError.

    `pubkey` is the key, its text, or the path of its `.pub` file; the window is open where it is not given.
    """
    require_principal(principal)
    key = pubkey if isinstance(pubkey, PublicKey) else read_public_key(pubkey)
    key.require_usable("That key")
    if valid_after is not None and valid_before is not None and valid_after >= valid_before:
        raise BadInput("That window ends before it begins.")
    place = _own_folder(folder)
    path = allowed_signers_path(place)
    with locked(path):
        signers = load_signers(place)
        if signers.refusal:
            raise TrustError(f"Nobody can be trusted: {signers.refusal.rstrip('.')}.", "Mend that file first.")
        if key in signers.revoked:
            raise TrustError(f"The key {key.fingerprint} was revoked.", f"Its line is in {revoked_keys_path(place)}.")
        open_window = valid_after is None and valid_before is None
        if not (open_window and judge(signers, key, principal, dt.datetime.now(dt.UTC)).state is State.VALID):
            _append_line(path, f"{principal} {_options(valid_after, valid_before)} {key.text}")
    return key


def revoke(pubkey: str | PublicKey, folder: Path | None = None) -> PublicKey:
    """Put a key on the revocation list: from now on nothing that it signed acts. Raises TrustError.

    `pubkey` is the key, its text, the path of its `.pub` file, or the fingerprint of a key in allowed_signers.
    """
    place = _own_folder(folder)
    path = revoked_keys_path(place)
    with locked(path):
        signers = load_signers(place)
        if signers.refusal:
            raise TrustError(f"Nothing can be revoked: {signers.refusal.rstrip('.')}.", "Mend that file first.")
        key = pubkey if isinstance(pubkey, PublicKey) else _find(pubkey, tuple(signers.by_key))
        if key not in signers.revoked:
            _append_line(path, key.text)
    return key


def _find(source: str, known: tuple[PublicKey, ...]) -> PublicKey:
    if not source.startswith("SHA256:"):
        return read_public_key(source)
    found = next((key for key in known if key.fingerprint == source), None)
    if found is None:
        raise TrustError(f"No key in allowed_signers has the fingerprint {source}.", "Give the key itself.")
    return found


def _options(after: dt.datetime | None, before: dt.datetime | None) -> str:
    parts = [f'namespaces="{NAMESPACE}"']
    if after is not None:
        parts.append(f'valid-after="{format_ssh_date(after)}"')
    if before is not None:
        parts.append(f'valid-before="{format_ssh_date(before)}"')
    return ",".join(parts)


def _append_line(path: Path, line: str) -> None:
    before = read_if_there(path, MAX_TRUST_FILE)
    gap = b"" if not before or before.endswith(b"\n") else b"\n"
    append_whole(path, before, gap + line.encode() + b"\n")


def _own_folder(folder: Path | None) -> Path:
    place = folder or user_folder()
    try:
        place.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError as error:
        raise TrustError(f"{place} cannot be made: {reason_of(error)}.") from error
    return place
