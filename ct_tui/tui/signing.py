"""Signing from the workstation: which key, whose name, what must be asked first. It runs in a lane, never on screen."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ct_tui.domain.errors import BadInput, TrustError
from ct_tui.tui.messages import KeyReady, KeyWanted, PassphraseWanted, Signed
from ct_tui.tui.session import Signer

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from textual.message import Message

    from ct_tui.domain.rulings import Body
    from ct_tui.heal.workbench import Workbench
    from ct_tui.policy.paths import Places


@dataclass(frozen=True)
class KeyChoice:
    """One of the user's key files: the names it is trusted for, and why it cannot sign where it cannot."""

    path: Path
    principals: tuple[str, ...]
    encrypted: bool
    problem: str = ""

    @property
    def usable(self) -> bool:
        """Whether it can sign under a name right away."""
        return not self.problem and bool(self.principals)


def key_choices(places: Places) -> tuple[KeyChoice, ...]:
    """The key files in the user's folder with the names they are trusted for."""
    from ct_tui.heal.signing import names_for, own_keys

    now = dt.datetime.now(dt.UTC)
    keys = own_keys(places)
    return tuple(KeyChoice(k.path, names_for(places, k.public, now), k.encrypted, k.problem) for k in keys)


def known_signer(places: Places, chosen: Signer | None) -> Signer | None:
    """The signer chosen in this session, else the one key with the one name; None where somebody has to choose."""
    if chosen is not None:
        return chosen
    usable = [choice for choice in key_choices(places) if choice.usable]
    if len(usable) == 1 and len(usable[0].principals) == 1:
        return Signer(usable[0].path, usable[0].principals[0])
    return None


def sign(
    bench: Workbench, drafts: Sequence[tuple[Body, str]], chosen: Signer | None, passphrases: Mapping[Path, str]
) -> Message:
    """Sign rulings all together, or say what must be asked first; raises what the workbench refuses."""
    from ct_tui.trust.keys import PassphraseNeeded, WrongPassphrase

    signer = known_signer(bench.places, chosen)
    if signer is None or signer.key is None:
        return KeyWanted(key_choices(bench.places))
    given = passphrases.get(signer.key)
    try:
        rulings = bench.rule_all(
            drafts,
            key=signer.key,
            principal=signer.principal,
            passphrase=None if given is None else lambda _: given,
        )
    except PassphraseNeeded:
        return PassphraseWanted(signer, wrong=False)
    except WrongPassphrase:
        return PassphraseWanted(signer, wrong=True)
    return Signed(rulings, signer)


def make_key(places: Places, principal: str, passphrase: str) -> Message:
    """Make a key and trust it; raises TrustError or BadInput."""
    from ct_tui.trust.keys import create_key, public_path
    from ct_tui.trust.paths import keys_folder
    from ct_tui.trust.trusting import trust

    info = create_key(principal, keys_folder(places.user_dir), passphrase or None)
    trust(principal, str(public_path(info.path)), places.user_dir)
    return KeyReady(Signer(info.path, principal), passphrase, made=True)


def use_key(places: Places, path: Path, principal: str) -> Message:
    """Sign with a key file of the user's, trusted for a name from now on; raises TrustError or BadInput."""
    from ct_tui.heal.signing import describe_key
    from ct_tui.trust.trusting import trust

    info = describe_key(path)
    if info.public is None:
        raise TrustError(f"{path} is no key.")
    if not principal:
        raise BadInput("A name to sign under is needed.", "Such as ada@example.org.")
    trust(principal, info.public, places.user_dir)
    return KeyReady(Signer(info.path, principal), "", made=False)
