"""OpenSSH signatures (SSHSIG, armored) of the namespace `ct-ruling`: made with `cryptography`, checked with `sshsig`.

`ssh-keygen -Y verify` accepts what is made here, and what `ssh-keygen -Y sign` makes is accepted here. Checking is
stricter than either: an armor has one spelling, so that no byte of a signature can change unnoticed.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import struct
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import sshsig
from sshsig.sshsig import SshsigSignature

from ct_tui.domain.errors import TrustError
from ct_tui.trust.public_keys import ED25519, PublicKey, kind_sentence

if TYPE_CHECKING:
    from collections.abc import Callable

NAMESPACE = "ct-ruling"
_MAGIC = b"SSHSIG"
_VERSION = 1
_HASH = "sha512"
_HASHES = (b"sha512", b"sha256")
_BEGIN = "-----BEGIN SSH SIGNATURE-----"
_END = "-----END SSH SIGNATURE-----"
_WIDTH = 70
_MAX_ARMOR = 16 * 1024


class BadSignature(TrustError):
    """The signature is not one, or not over these bytes."""


@dataclass(frozen=True)
class Checked:
    """What a signature that holds says: the key that made it, and why such a key cannot count (or nothing)."""

    key: PublicKey
    unsupported: str = ""


def make(payload: bytes, key: PublicKey, raw_sign: Callable[[bytes], bytes]) -> str:
    """The armored signature over `payload`; `raw_sign` gives the 64 bytes of Ed25519 over what it is handed."""
    digest = hashlib.sha512(payload).digest()
    parts = (NAMESPACE.encode(), b"", _HASH.encode())
    inner = _string(ED25519.encode()) + _string(raw_sign(_MAGIC + b"".join(map(_string, (*parts, digest)))))
    blob = _MAGIC + struct.pack("!L", _VERSION) + b"".join(map(_string, (key.blob, *parts, inner)))
    return armor(blob)


def armor(blob: bytes) -> str:
    """The text that OpenSSH writes around a signature: lines of 70 characters, a line break at the end."""
    text = base64.b64encode(blob).decode()
    lines = [text[at : at + _WIDTH] for at in range(0, len(text), _WIDTH)]
    return "\n".join((_BEGIN, *lines, _END, ""))


@lru_cache(maxsize=8192)
def check(payload: bytes, armored: str) -> Checked:
    """The key that signed `payload`; raises BadSignature in a phrase that follows "the signature".

    A signature by a kind of key that is known and not accepted is reported with its reason in `unsupported`.
    """
    parsed = _parse(armored)
    key = _key_of(parsed.public_key)
    if key.kind != ED25519:
        return Checked(key, kind_sentence(key.kind))
    _check_inner(parsed.signature)
    try:
        sshsig.check_signature(payload, armored, NAMESPACE)
    except (sshsig.InvalidSignature, NotImplementedError, ValueError) as error:
        raise BadSignature("is not over this content") from error
    return Checked(key)


def _parse(armored: str) -> SshsigSignature:
    blob = _dearmor(armored)
    try:
        parsed = SshsigSignature(blob)
    except (ValueError, NotImplementedError) as error:
        raise BadSignature("is damaged") from error
    if bytes(parsed) != blob:
        raise BadSignature("carries bytes that no signature has")
    if parsed.namespace != NAMESPACE.encode():
        raise BadSignature(f"was made for another purpose than {NAMESPACE}")
    if parsed.hash_algo not in _HASHES:
        raise BadSignature("uses a hash that is not accepted")
    return parsed


def _dearmor(armored: str) -> bytes:
    lines = armored.rstrip("\n").split("\n")
    if len(armored) > _MAX_ARMOR or len(lines) < 3 or lines[0] != _BEGIN or lines[-1] != _END:
        raise BadSignature("is not an OpenSSH signature")
    try:
        blob = base64.b64decode("".join(lines[1:-1]), validate=True)
    except (binascii.Error, ValueError) as error:
        raise BadSignature("is damaged") from error
    if armor(blob) != armored.rstrip("\n") + "\n":
        raise BadSignature("is not spelled as OpenSSH spells it")
    return blob


def _key_of(blob: bytes) -> PublicKey:
    try:
        return PublicKey.from_blob(blob)
    except TrustError as error:
        raise BadSignature("names no key that OpenSSH knows") from error


def _check_inner(signature: bytes) -> None:
    """The signature proper has one shape for Ed25519: its name, then 64 bytes."""
    prefix = _string(ED25519.encode()) + struct.pack("!L", 64)
    if not signature.startswith(prefix) or len(signature) != len(prefix) + 64:
        raise BadSignature("is damaged")


def _string(data: bytes) -> bytes:
    return struct.pack("!L", len(data)) + data
