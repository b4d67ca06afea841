"""One door to whatever can sign: a key file, or a key that an agent or a token holds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from ct_tui.domain.errors import TrustError
from ct_tui.trust.agent import agent_signer
from ct_tui.trust.files import read_regular
from ct_tui.trust.keys import PublicNotPrivate, load_key
from ct_tui.trust.public_keys import MAX_KEY_FILE, PublicKey, public_key_in

if TYPE_CHECKING:
    from pathlib import Path


class Signer(Protocol):
    """What signs a ruling."""

    @property
    def public(self) -> PublicKey:
        """The key whose signature it makes."""
        ...

    def sign(self, payload: bytes) -> str:
        """The armored signature over the payload; raises TrustError."""
        ...


def open_signer(path: Path, passphrase: str | None = None) -> Signer:
    """The signer of a key file; a public file stands for a key that the agent holds. Raises TrustError."""
    try:
        return load_key(path, passphrase)
    except PublicNotPrivate as refusal:
        public = public_key_in(read_regular(path, MAX_KEY_FILE), path)
        try:
            return agent_signer(public)
        except TrustError as error:
            raise PublicNotPrivate(refusal.message, f"{error.message} {refusal.remedy}") from error
