"""Public keys in OpenSSH's text form, and a sentence for every kind that cannot sign a ruling."""

from __future__ import annotations

import base64
import binascii
import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ct_tui.domain.errors import TrustError
from ct_tui.trust.files import read_regular
from ct_tui.trust.paths import expanded

if TYPE_CHECKING:
    from pathlib import Path

ED25519 = "ssh-ed25519"
MAX_KEY_FILE = 64 * 1024
_ED25519_BYTES = 32

NEW_KEY = "Make an Ed25519 key with `ct-tui keys new --as PRINCIPAL`."

_KIND_NAMES = {
    "ssh-rsa": "an RSA key",
    "ssh-dss": "a DSA key",
    "ecdsa-sha2-nistp256": "an ECDSA key",
    "ecdsa-sha2-nistp384": "an ECDSA key",
    "ecdsa-sha2-nistp521": "an ECDSA key",
    "sk-ssh-ed25519@openssh.com": "a FIDO security key (sk-ssh-ed25519)",
    "sk-ecdsa-sha2-nistp256@openssh.com": "a FIDO security key (sk-ecdsa)",
    "webauthn-sk-ecdsa-sha2-nistp256@openssh.com": "a FIDO security key (sk-ecdsa)",
}


def kind_sentence(kind: str) -> str:
    """Why a key of this kind cannot sign a ruling; empty for Ed25519."""
    if kind == ED25519:
        return ""
    if kind.endswith("-cert-v01@openssh.com"):
        return "it is a certificate, and only plain Ed25519 keys sign rulings"
    name = _KIND_NAMES.get(kind, f"a key of kind {kind}")
    return f"it is {name}, and only plain Ed25519 keys sign rulings"


def is_kind(word: str) -> bool:
    """Whether a word is the name of a kind of key that OpenSSH writes."""
    return word == ED25519 or word in _KIND_NAMES or word.endswith("-cert-v01@openssh.com")


@dataclass(frozen=True)
class PublicKey:
    """One public key: its kind, its bytes, and the comment of the line it came from (which compares as nothing)."""

    kind: str
    blob: bytes

    @classmethod
    def from_blob(cls, blob: bytes) -> PublicKey:
        """Read the binary form; raises TrustError when it is not one."""
        size = int.from_bytes(blob[:4], "big")
        name = blob[4 : 4 + size]
        if len(blob) < 4 or len(name) != size or not is_kind(name.decode("ascii", "replace")):
            raise TrustError("That is not a public key of OpenSSH.")
        kind = name.decode("ascii")
        if kind == ED25519 and blob != _ed25519_blob(blob[-_ED25519_BYTES:]):
            raise TrustError("That Ed25519 public key has the wrong length.")
        return cls(kind, blob)

    @classmethod
    def from_text(cls, text: str) -> PublicKey:
        """Read a line such as `ssh-ed25519 AAAA… comment`; raises TrustError when it is not one."""
        words = text.split(None, 2)
        if len(words) < 2 or not is_kind(words[0]):
            raise TrustError("That is not a public key of OpenSSH.", "It reads like: ssh-ed25519 AAAA… comment")
        try:
            blob = base64.b64decode(words[1], validate=True)
        except (binascii.Error, ValueError) as error:
            raise TrustError("That public key is damaged: its second word is not base64.") from error
        if base64.b64encode(blob).decode() != words[1]:
            # Python reads past padding that OpenSSH refuses, and nobody is trusted whom `ssh-keygen` would not know.
            raise TrustError("That public key is damaged: its second word is not base64 as OpenSSH writes it.")
        key = cls.from_blob(blob)
        if key.kind != words[0]:
            raise TrustError(f"That public key says {words[0]} and holds {key.kind}.")
        return key

    @classmethod
    def from_raw(cls, raw: bytes) -> PublicKey:
        """The key of 32 bytes of Ed25519."""
        return cls.from_blob(_ed25519_blob(raw))

    @property
    def text(self) -> str:
        """The two words that OpenSSH writes, without a comment."""
        return f"{self.kind} {base64.b64encode(self.blob).decode()}"

    @property
    def fingerprint(self) -> str:
        """SHA256:…, as `ssh-keygen -lf` prints it."""
        return "SHA256:" + base64.b64encode(hashlib.sha256(self.blob).digest()).decode().rstrip("=")

    def require_usable(self, what: str) -> None:
        """Raise TrustError unless it is a plain Ed25519 key; `what` begins the sentence."""
        why = kind_sentence(self.kind)
        if why:
            raise TrustError(f"{what} cannot be used: {why}.", NEW_KEY)


def _ed25519_blob(raw: bytes) -> bytes:
    name = ED25519.encode()
    return len(name).to_bytes(4, "big") + name + len(raw).to_bytes(4, "big") + raw


def read_public_key(source: str) -> PublicKey:
    """A public key given as its text or as the path of its `.pub` file; raises TrustError."""
    words = source.split(None, 1)
    if words and is_kind(words[0]):
        return PublicKey.from_text(source)
    path = expanded(source)
    try:
        data = read_regular(path, MAX_KEY_FILE)
    except (FileNotFoundError, ValueError) as error:
        raise TrustError(
            f"There is no public key file {source}.", "Give the .pub file, or its text: ssh-ed25519 AAAA…"
        ) from error
    return public_key_in(data, path)


def public_key_in(data: bytes, path: Path) -> PublicKey:
    """The one public key that a `.pub` file holds; raises TrustError."""
    if b"PRIVATE KEY-----" in data:
        raise TrustError(f"{path} is a private key.", "Give the file with .pub at its end; a private key stays yours.")
    lines = [line.strip() for line in data.decode("utf-8", "replace").splitlines()]
    lines = [line for line in lines if line and not line.startswith("#")]
    if not lines:
        raise TrustError(f"{path} is empty.", NEW_KEY)
    if len(lines) > 1:
        raise TrustError(f"{path} holds {len(lines)} lines, and a public key is one.")
    return PublicKey.from_text(lines[0])
