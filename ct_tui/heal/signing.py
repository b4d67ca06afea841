"""Signing rulings for a brain: which key, which name, and the verified table that the new entry follows."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING

from ct_tui.domain.errors import TrustError
from ct_tui.trust.judging import Standing, names_of, standings
from ct_tui.trust.keys import KeyInfo, PassphraseNeeded, describe_key, list_keys
from ct_tui.trust.paths import keys_folder
from ct_tui.trust.signer import open_signer
from ct_tui.trust.signers import load_signers
from ct_tui.trust.signing import Draft, sign_rulings

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from ct_tui.domain.rulings import Body, Head, Ruling
    from ct_tui.policy.paths import Places
    from ct_tui.trust.public_keys import PublicKey
    from ct_tui.trust.signer import Signer


def sign_all(
    places: Places,
    drafts: Sequence[tuple[Body, str]],
    *,
    key: Path | None,
    principal: str | None,
    passphrase: Callable[[str], str] | None,
    supersedes: int | None,
    head_seen: Head,
    now: float,
) -> tuple[Ruling, ...]:
    """Sign the drafts (body and reason) with one key and append them; raises TrustError, and then signs nothing."""
    moment = dt.datetime.fromtimestamp(now, dt.UTC)
    path = key if key is not None else only_key(places, principal, moment)
    signer = _open(path, passphrase)
    signers = load_signers(places.user_dir)
    name = principal if principal is not None else only_principal(places, signer.public, moment)
    made = [Draft(body, reason, name, supersedes) for body, reason in drafts]
    return sign_rulings(made, signer, places.rulings, moment, signers=signers, head_seen=head_seen)


def own_keys(places: Places) -> tuple[KeyInfo, ...]:
    """The key files in the user's folder, usable or not."""
    return list_keys(keys_folder(places.user_dir))


def only_key(places: Places, principal: str | None, now: dt.datetime) -> Path:
    """The one key of the user that may rule as the principal, or at all; raises TrustError where there is a choice."""
    keys = own_keys(places)
    if not keys:
        raise TrustError("there is no key to sign with", "make one with: ct-tui keys new --as you@example.org")
    if len(keys) == 1:
        return keys[0].path
    names = {k.path: names_for(places, k.public, now) for k in keys}
    fitting = [path for path, may in names.items() if (principal in may if principal is not None else may)]
    if len(fitting) == 1:
        return fitting[0]
    listed = ", ".join(map(str, fitting or names))
    if fitting:
        remedy = (
            "choose one with --key" if principal is not None else "say who decides with --as, or choose one with --key"
        )
        raise TrustError(f"there are several keys to sign with: {listed}", remedy)
    who = f"as {principal}" if principal is not None else "under any name"
    raise TrustError(
        f"none of your keys may rule {who}: {listed}", "trust one with: ct-tui keys trust PRINCIPAL KEY.pub"
    )


def names_for(places: Places, key: PublicKey | None, now: dt.datetime) -> tuple[str, ...]:
    """The names that a key may rule under at a time, without patterns; none for a key that cannot be read."""
    if key is None:
        return ()
    return tuple(name for name in names_of(load_signers(places.user_dir), key, now) if not set(name) & {"*", "?"})


def only_principal(places: Places, key: PublicKey, now: dt.datetime) -> str:
    """The one name that a key is trusted for; raises TrustError where there is none or a choice to make."""
    names = names_for(places, key, now)
    if not names:
        raise TrustError(
            f"the key {key.fingerprint} is trusted for no name{_why_not(places, key, now)}",
            "trust it with: ct-tui keys trust you@example.org KEY.pub",
        )
    if len(names) > 1:
        raise TrustError(f"the key is trusted for several names: {', '.join(names)}", "choose one with --as")
    return names[0]


def _why_not(places: Places, key: PublicKey, now: dt.datetime) -> str:
    """What stands against a key that may rule under no name: the list of revoked keys, or its own lines."""
    signers = load_signers(places.user_dir)
    if key in signers.revoked:
        return ": it was revoked"
    lines = (line for line in standings(signers, now) if line.fingerprint == key.fingerprint)
    return next((f": {line.state}" for line in lines), "")


def trusted(places: Places, now: dt.datetime) -> tuple[Standing, ...]:
    """Whom this machine trusts to rule, line by line."""
    return standings(load_signers(places.user_dir), now)


def _open(path: Path, passphrase: Callable[[str], str] | None) -> Signer:
    """The signer of a key file; the passphrase is asked for only where the key needs one."""
    try:
        return open_signer(path)
    except PassphraseNeeded:
        if passphrase is None:
            raise
        return open_signer(path, passphrase(str(path)))


__all__ = ["describe_key", "names_for", "only_key", "only_principal", "own_keys", "sign_all", "trusted"]
