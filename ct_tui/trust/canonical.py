"""What is signed and what is hashed: RFC 8785 canonical JSON, so that the file's layout never matters."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

import rfc8785

from ct_tui.domain.errors import TrustError

if TYPE_CHECKING:
    from collections.abc import Mapping

SIGNATURE = "signature"


class NotCanonical(TrustError):
    """A value that JSON cannot carry: half a surrogate pair, a number out of range."""


def payload(fields: Mapping[str, Any]) -> bytes:
    """The bytes that are signed: every field but `signature`; raises NotCanonical."""
    return _dumps({key: value for key, value in fields.items() if key != SIGNATURE})


def entry_hash(fields: Mapping[str, Any]) -> str:
    """SHA-256 (hex) of the whole entry, signature included; raises NotCanonical.

    The armor counts with exactly one line break at its end, whatever the end of the file did to it.
    """
    whole = dict(fields)
    if isinstance(whole.get(SIGNATURE), str):
        whole[SIGNATURE] = whole[SIGNATURE].rstrip("\r\n") + "\n"
    return hashlib.sha256(_dumps(whole)).hexdigest()


def _dumps(value: dict[str, Any]) -> bytes:
    try:
        return rfc8785.dumps(value)
    except rfc8785.CanonicalizationError as error:
        raise NotCanonical(f"an entry holds what cannot be signed: {error}") from error
