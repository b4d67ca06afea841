"""Private keys: OpenSSH Ed25519 files, made here or the user's own, with or without a passphrase.

What a file is gets decided from its outside (its first line, the open part of OpenSSH's container) before any
passphrase is asked for, so that every file that cannot sign is refused in its own words and nothing is signed.
"""

from __future__ import annotations

import base64
import binascii
import re
import stat
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
    load_ssh_private_key,
)

from ct_tui.domain.errors import TrustError
from ct_tui.trust import sshsig_io
from ct_tui.trust.files import read_regular, reason_of, write_new
from ct_tui.trust.paths import keys_folder
from ct_tui.trust.principals import require_principal
from ct_tui.trust.public_keys import MAX_KEY_FILE, NEW_KEY, PublicKey, is_kind, kind_sentence

if TYPE_CHECKING:
    from pathlib import Path

_OPENSSH = "-----BEGIN OPENSSH PRIVATE KEY-----"
_OPENSSH_END = "-----END OPENSSH PRIVATE KEY-----"
_MAGIC = b"openssh-key-v1\x00"
_OTHERS_MAY = 0o077
_SAFE_NAME = re.compile(r"[^A-Za-z0-9@._-]+")

_FOREIGN = (
    ("-----BEGIN RSA PRIVATE KEY-----", "it is an RSA key, and only plain Ed25519 keys sign rulings", NEW_KEY),
    ("-----BEGIN EC PRIVATE KEY-----", "it is an ECDSA key, and only plain Ed25519 keys sign rulings", NEW_KEY),
    ("-----BEGIN DSA PRIVATE KEY-----", "it is a DSA key, and only plain Ed25519 keys sign rulings", NEW_KEY),
    (
        "-----BEGIN ENCRYPTED PRIVATE KEY-----",
        "it is in PKCS#8 form, not in OpenSSH's",
        "Rewrite it with `ssh-keygen -p -f KEY`, or make a new one with `ct-tui keys new --as PRINCIPAL`.",
    ),
    (
        "-----BEGIN PRIVATE KEY-----",
        "it is in PKCS#8 form, not in OpenSSH's",
        "Rewrite it with `ssh-keygen -p -f KEY`, or make a new one with `ct-tui keys new --as PRINCIPAL`.",
    ),
    ("PuTTY-User-Key-File", "it is a PuTTY key", "Export it as an OpenSSH key with PuTTYgen."),
    ("---- BEGIN SSH2 PUBLIC KEY", "it is a public key of another program", "Give the private file of OpenSSH."),
    ("-----BEGIN CERTIFICATE-----", "it is a certificate", NEW_KEY),
)


class PublicNotPrivate(TrustError):
    """A public key stands where a private one is needed; an agent may hold the private half."""


class PassphraseNeeded(TrustError):
    """The key is encrypted and no passphrase was given."""


class WrongPassphrase(TrustError):
    """The passphrase does not open the key."""


@dataclass(frozen=True)
class KeyInfo:
    """What a private key file says without its passphrase; `problem` says why it cannot sign, or is empty."""

    path: Path
    public: PublicKey | None = None
    encrypted: bool = False
    comment: str = ""
    problem: str = ""

    @property
    def fingerprint(self) -> str:
        """SHA256:…, or nothing where the file is no key."""
        return self.public.fingerprint if self.public is not None else ""


@dataclass(frozen=True)
class FileSigner:
    """Signs with a private key that was read from a file."""

    public: PublicKey
    private: Ed25519PrivateKey

    def sign(self, payload: bytes) -> str:
        """The armored signature over the payload."""
        return sshsig_io.make(payload, self.public, self.private.sign)


def create_key(principal: str, folder: Path | None = None, passphrase: str | None = None) -> KeyInfo:
    """Make an Ed25519 key pair for a principal: the private file 0600 in a folder 0700, the public one beside it.

    An existing key is never replaced: the next free name is taken. Raises TrustError.
    """
    require_principal(principal)
    place = folder or keys_folder()
    pair = _new_pair(passphrase)
    try:
        place.mkdir(parents=True, exist_ok=True, mode=0o700)
        place.chmod(0o700)
        return _write_pair(_free_name(place, principal), pair, principal)
    except OSError as error:
        raise TrustError(f"No key can be written to {place}: {reason_of(error)}.") from error


def create_key_at(path: Path, principal: str, passphrase: str | None = None) -> KeyInfo:
    """Make a key pair in a file of the caller's choice, whose folder must exist; raises TrustError.

    An existing file is never replaced.
    """
    require_principal(principal)
    pair = _new_pair(passphrase)
    for taken in (path, public_path(path)):
        if taken.exists() or taken.is_symlink():
            raise TrustError(f"{taken} is there already, and no key is ever replaced.", "Name another file.")
    try:
        return _write_pair(path, pair, principal)
    except OSError as error:
        raise TrustError(f"No key can be written to {path}: {reason_of(error)}.") from error


@dataclass(frozen=True)
class _Pair:
    """A new key pair: the bytes of the private file, and the public half."""

    data: bytes
    public: PublicKey
    encrypted: bool


def _new_pair(passphrase: str | None) -> _Pair:
    private = Ed25519PrivateKey.generate()
    public = PublicKey.from_raw(private.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw))
    try:
        data = private.private_bytes(Encoding.PEM, PrivateFormat.OpenSSH, _encryption(passphrase))
    except UnsupportedAlgorithm as error:
        raise _bcrypt_missing("A key with a passphrase cannot be made") from error
    except ValueError as error:
        raise TrustError(f"That passphrase cannot be used: {error}.") from error
    return _Pair(data, public, bool(passphrase))


def _write_pair(path: Path, pair: _Pair, principal: str) -> KeyInfo:
    write_new(path, pair.data, 0o600)
    write_new(public_path(path), f"{pair.public.text} {principal}\n".encode(), 0o644)
    return KeyInfo(path, pair.public, pair.encrypted, principal)


def list_keys(folder: Path | None = None) -> tuple[KeyInfo, ...]:
    """The key files of the user's key folder by name; a file that cannot sign carries its problem."""
    place = folder or keys_folder()
    try:
        found = sorted(p for p in place.iterdir() if not p.name.startswith(".") and p.suffix != ".pub")
    except FileNotFoundError:
        return ()
    except OSError as error:
        raise TrustError(f"{place} cannot be listed: {reason_of(error)}.") from error
    return tuple(_info_or_problem(path) for path in found)


def describe_key(path: Path) -> KeyInfo:
    """What a private key file is, without its passphrase; raises TrustError unless it can sign once opened."""
    return _describe(path)[0]


def load_key(path: Path, passphrase: str | None = None) -> FileSigner:
    """Open a private key file; raises TrustError in its own sentence for every file that cannot sign."""
    info, data = _describe(path)
    if info.encrypted and not passphrase:
        raise PassphraseNeeded(
            f"{path} is encrypted and no passphrase was given.", "Type it when asked, or set CT_TUI_PASSPHRASE."
        )
    try:
        private = load_ssh_private_key(data, _secret(passphrase) if info.encrypted and passphrase else None)
    except UnsupportedAlgorithm as error:
        if info.encrypted and not _bcrypt_works():
            raise _bcrypt_missing(f"{path} is encrypted and cannot be opened") from error
        raise TrustError(f"{path} is encrypted in a way that cannot be opened here.", _REENCRYPT) from error
    except (ValueError, TypeError) as error:
        if info.encrypted:
            raise WrongPassphrase(f"The passphrase does not open {path}.", "Nothing was signed; try again.") from error
        raise TrustError(f"{path} is damaged: it is no complete OpenSSH key.", NEW_KEY) from error
    if not isinstance(private, Ed25519PrivateKey) or info.public is None:
        raise TrustError(f"{path} is damaged: it does not hold the key that it names.", NEW_KEY)
    public = PublicKey.from_raw(private.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw))
    if public != info.public:
        raise TrustError(f"{path} is damaged: its two halves do not belong together.", NEW_KEY)
    return FileSigner(public, private)


def public_path(path: Path) -> Path:
    """The file of the public half."""
    return path.with_name(path.name + ".pub")


_REENCRYPT = "Encrypt it again with `ssh-keygen -p -f KEY`."


def _describe(path: Path) -> tuple[KeyInfo, bytes]:
    data = _read(path)
    text = data.decode("utf-8", "replace").lstrip()
    if not text:
        raise TrustError(f"{path} is empty: there is no key in it.", NEW_KEY)
    words = text.split(None, 1)
    if is_kind(words[0]):
        _refuse_public(path, words[0])
    for start, why, remedy in _FOREIGN:
        if text.startswith(start):
            raise TrustError(f"{path} cannot sign: {why}.", remedy)
    if not text.startswith(_OPENSSH):
        raise TrustError(f"{path} is not a key.", NEW_KEY)
    info = _open_part(path, text)
    if info.public is None or kind_sentence(info.public.kind):
        why = kind_sentence(info.public.kind) if info.public else "it holds no key"
        raise TrustError(f"{path} cannot sign: {why}.", NEW_KEY)
    _require_private_mode(path)
    return info, data


def _read(path: Path) -> bytes:
    try:
        return read_regular(path, MAX_KEY_FILE)
    except FileNotFoundError as error:
        raise TrustError(f"There is no key {path}.", NEW_KEY) from error
    except ValueError as error:
        raise TrustError("That is no path of a key file.", NEW_KEY) from error


def _refuse_public(path: Path, kind: str) -> None:
    why = kind_sentence(kind)
    if why:
        raise TrustError(f"{path} cannot sign: {why}.", NEW_KEY)
    raise PublicNotPrivate(
        f"{path} is the public half of a key, and only the private one signs.",
        "Give the file without .pub at its end, or load the key into ssh-agent.",
    )


def _open_part(path: Path, text: str) -> KeyInfo:
    """Read what OpenSSH's container says in the open: the cipher and the public half."""
    body, found, _ = text[len(_OPENSSH) :].partition(_OPENSSH_END)
    try:
        blob = base64.b64decode("".join(body.split()), validate=True)
    except (binascii.Error, ValueError):
        blob = b""
    if not found or not blob.startswith(_MAGIC):
        raise TrustError(f"{path} is damaged: it is no complete OpenSSH key.", NEW_KEY)
    cipher, rest = _take(blob[len(_MAGIC) :])
    _, rest = _take(rest)
    _, rest = _take(rest)
    count, (public, _) = rest[:4], _take(rest[4:])
    if count != b"\x00\x00\x00\x01" or not public:
        raise TrustError(f"{path} is damaged: it is no complete OpenSSH key.", NEW_KEY)
    return KeyInfo(path, PublicKey.from_blob(public), encrypted=cipher != b"none", comment=_comment(path))


def _take(data: bytes) -> tuple[bytes, bytes]:
    size = int.from_bytes(data[:4], "big")
    return data[4 : 4 + size], data[4 + size :]


def _comment(path: Path) -> str:
    """The comment of the public file beside the key, which `keys new` sets to the principal."""
    try:
        words = read_regular(public_path(path), MAX_KEY_FILE).decode("utf-8", "replace").split(None, 2)
    except (FileNotFoundError, TrustError):
        return ""
    return words[2].strip() if len(words) > 2 else ""


def _require_private_mode(path: Path) -> None:
    mode = stat.S_IMODE(path.stat().st_mode)
    if mode & _OTHERS_MAY:
        raise TrustError(
            f"{path} has mode {mode:04o}: others than its owner may reach it.", f"Close it with `chmod 600 {path}`."
        )


def _info_or_problem(path: Path) -> KeyInfo:
    try:
        return describe_key(path)
    except TrustError as error:
        return KeyInfo(path, problem=error.message)


def _free_name(place: Path, principal: str) -> Path:
    base = _SAFE_NAME.sub("_", principal).lstrip(".-")[:80] or "key"
    names = (base if n == 1 else f"{base}-{n}" for n in range(1, 10_000))
    return next(p for p in (place / n for n in names) if not p.exists() and not public_path(p).exists())


def _encryption(passphrase: str | None) -> BestAvailableEncryption | NoEncryption:
    return BestAvailableEncryption(_secret(passphrase)) if passphrase else NoEncryption()


def _secret(passphrase: str) -> bytes:
    return passphrase.encode("utf-8", "surrogateescape")  # an environment variable may hold any bytes


def _bcrypt_works() -> bool:
    try:
        import bcrypt  # noqa: F401
    except ImportError:
        return False
    return True


def _bcrypt_missing(what: str) -> TrustError:
    return TrustError(f"{what}: the Python package bcrypt is missing.", "Install it with `pip install bcrypt`.")
