"""Where a statement comes from, as it is written down: a turn of a conversation, or a stable address.

The one place for both shapes; lint reads them, and an assertion is not written without one.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from urllib.parse import urlsplit

from ct_tui.domain.errors import BadInput

CHANNEL = re.compile(r"(?P<channel>[A-Za-z][A-Za-z0-9]*(?:[-_.+][A-Za-z0-9]+)*):(?P<turn>[^\s/\\:]\S*)\Z")
"""`<channel>:<turn-id>`, such as `imessage:turn-4812`; the turn is named as its channel names it, without blanks.

A drive letter or a scheme is no channel: what follows those begins with a slash.
"""

URL = re.compile(r"https?://[^\s/?#]+(?:[/?#][^\s]*)?\Z", re.IGNORECASE)
"""A web address without blanks."""

_NO_CHANNEL = frozenset(["http", "https", "file", "ftp", "data", "blob", "javascript", "mailto", "about", "chrome"])
_LOCAL = re.compile(r"(?:localhost|127\.|0\.0\.0\.0|10\.|192\.168\.|\[)", re.IGNORECASE)
_SHAPE = "write it as <channel>:<turn-id>, such as imessage:turn-4812, or as a stable https address"


class Origin(StrEnum):
    """What a provenance names."""

    TURN = "turn"
    WEB = "web"


@dataclass(frozen=True)
class Provenance:
    """A source as written, with what it names."""

    text: str
    origin: Origin


def names_turn(text: str) -> bool:
    """Whether a text has the shape `<channel>:<turn-id>`; the scheme of an address is no channel."""
    found = CHANNEL.match(text)
    return found is not None and text.isprintable() and found["channel"].lower() not in _NO_CHANNEL


def names_address(text: str) -> bool:
    """Whether a text is a web address."""
    return URL.match(text) is not None


def parse_provenance(text: str) -> Provenance:
    """Read a provenance strictly; raises BadInput for none, another shape, or an address that nobody else can open."""
    if not text.strip():
        raise BadInput("an assertion needs its provenance", _SHAPE)
    if names_turn(text):
        return Provenance(text, Origin.TURN)
    if not names_address(text):
        raise BadInput(f"{text!r} names no turn and no address", _SHAPE)
    try:
        parts = urlsplit(text)
        host, user = parts.hostname or "", parts.username
    except ValueError as error:
        raise BadInput(f"{text!r} is no address: {error}", _SHAPE) from error
    if user is not None:
        raise BadInput("an address with a user name in it is not kept", _SHAPE)
    if "." not in host or _LOCAL.match(parts.netloc):
        raise BadInput(f"{host or text!r} is reachable from one machine only, so it is no stable address", _SHAPE)
    return Provenance(text, Origin.WEB)
