"""Whom the user trusts: `allowed_signers` in OpenSSH's format and the revocation list, read once.

Stricter than OpenSSH on purpose: a line counts only if it names the principal itself (no `*`), names the namespace
`ct-ruling` itself, and is no certificate authority; a revocation list that cannot be read trusts nobody.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

from sshsig.allowed_signers import AllowedSigner

from ct_tui.domain.errors import TrustError
from ct_tui.trust.files import read_if_there
from ct_tui.trust.paths import allowed_signers_path, revoked_keys_path
from ct_tui.trust.public_keys import PublicKey
from ct_tui.trust.ssh_dates import parse_ssh_date

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Iterator, Mapping
    from pathlib import Path

MAX_TRUST_FILE = 4 * 1024 * 1024


@dataclass(frozen=True)
class SignerLine:
    """One line of allowed_signers; `problem` says why it counts for nothing, or is empty."""

    number: int
    principals: tuple[str, ...] = ()
    key: PublicKey | None = None
    namespaces: tuple[str, ...] | None = None
    valid_after: dt.datetime | None = None
    valid_before: dt.datetime | None = None
    comment: str = ""
    problem: str = ""


@dataclass(frozen=True)
class Signers:
    """The trust of one user at one moment; `refusal` says why nobody is trusted at all, or is empty."""

    lines: tuple[SignerLine, ...] = ()
    revoked: frozenset[PublicKey] = field(default_factory=frozenset)
    refusal: str = ""

    @cached_property
    def by_key(self) -> Mapping[PublicKey, tuple[SignerLine, ...]]:
        """The lines of each key, in file order."""
        found: dict[PublicKey, tuple[SignerLine, ...]] = {}
        for line in self.lines:
            if line.key is not None:
                found[line.key] = (*found.get(line.key, ()), line)
        return found


def load_signers(folder: Path | None = None) -> Signers:
    """Read allowed_signers and the revocation list of the user's folder; missing files are empty.

    A file that cannot be read is never an exception here: it is a `refusal`, and nobody is trusted.
    """
    try:
        lines = tuple(_read_lines(read_if_there(allowed_signers_path(folder), MAX_TRUST_FILE)))
    except TrustError as error:
        return Signers(refusal=error.message)
    try:
        revoked = frozenset(_read_revoked(read_if_there(revoked_keys_path(folder), MAX_TRUST_FILE)))
    except TrustError as error:
        return Signers(lines, refusal=error.message)
    return Signers(lines, revoked)


def _read_lines(data: bytes) -> Iterator[SignerLine]:
    for number, raw in enumerate(data.split(b"\n"), 1):
        text = raw.decode("utf-8", "surrogateescape").strip(" \t\r")
        if text and not text.startswith("#"):
            yield _read_line(number, text)


def _read_line(number: int, text: str) -> SignerLine:
    try:
        parsed = AllowedSigner.parse(text)
        key = PublicKey.from_text(f"{parsed.key_type} {parsed.base64_key}")
        _require_plain_blanks(text[: text.index(parsed.base64_key)])
    except (ValueError, IndexError):
        return SignerLine(number, problem=f"line {number} cannot be read")
    except TrustError as error:
        return SignerLine(number, problem=f"line {number}: {error.message.rstrip('.')}")
    line = SignerLine(number, _split(parsed.principals), key, comment=(parsed.comment or "").strip())
    return _with_options(line, parsed.options or {})


def _require_plain_blanks(head: str) -> None:
    """Refuse a line that OpenSSH would cut into other words: to it only space and tab are blanks."""
    if any(char.isspace() and char not in " \t" for char in head):
        raise TrustError("it has a blank that is neither a space nor a tab")


def _with_options(line: SignerLine, options: Mapping[str, str]) -> SignerLine:
    namespaces = _split(options["namespaces"]) if "namespaces" in options else None
    after = before = None
    problem = ""
    try:
        after = parse_ssh_date(options["valid-after"]) if "valid-after" in options else None
        before = parse_ssh_date(options["valid-before"]) if "valid-before" in options else None
    except ValueError as error:
        problem = f"line {line.number}: {error}"
    if after is not None and before is not None and after >= before:
        problem = f"line {line.number} ends before it begins"
    if "cert-authority" in options:
        problem = f"line {line.number} is a certificate authority, which is not accepted"
    return replace(line, namespaces=namespaces, valid_after=after, valid_before=before, problem=problem)


def _split(text: str) -> tuple[str, ...]:
    return tuple(part for part in (p.strip() for p in text.split(",")) if part)


def _read_revoked(data: bytes) -> Iterator[PublicKey]:
    if data.startswith(b"SSHKRL"):
        raise TrustError("revoked_keys is a binary revocation list; only public keys, one a line, are read")
    for number, raw in enumerate(data.split(b"\n"), 1):
        text = raw.decode("utf-8", "replace").strip(" \t\r")
        if not text or text.startswith("#"):
            continue
        try:
            yield PublicKey.from_text(text)
        except TrustError as error:
            raise TrustError(f"line {number} of revoked_keys is no public key, so nobody is trusted") from error
