"""One entry of the table: the fields of its frame and of each kind, made from a ruling and parsed into one."""

from __future__ import annotations

import datetime as dt
import re
from typing import TYPE_CHECKING, Any

from ct_tui.domain.errors import BadInput
from ct_tui.domain.names import trim
from ct_tui.domain.rulings import VERSION, Body, Kind, Revoke, Ruling, parse_body
from ct_tui.trust.canonical import SIGNATURE

if TYPE_CHECKING:
    from collections.abc import Mapping

FRAME = frozenset({"v", "seq", "kind", "reason", "ruled_by", "ruled_at", "supersedes", "prev", SIGNATURE})
OWN_FIELDS: dict[Kind, frozenset[str]] = {
    Kind.ALIAS: frozenset({"from", "to"}),
    Kind.LEGALIZE: frozenset({"type", "description", "parent_type", "manifests", "edges"}),
    Kind.RETYPE: frozenset({"entities", "from", "to"}),
    Kind.KEEP: frozenset({"type", "entities", "until"}),
    Kind.REVOKE: frozenset({"revokes"}),
    Kind.EDGE: frozenset({"repair", "edges", "to", "triple", "manifests"}),
    Kind.MERGE: frozenset({"survivor", "losers"}),
    Kind.EXCEPT: frozenset({"rule", "focus", "until"}),
}
"""The fields of each kind; an entry with another one means more than this program understands, and never acts."""

_RFC3339 = re.compile(r"\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d{1,9})?([Zz]|[+-]\d\d:\d\d)", re.ASCII)
_LARGEST = 2**53 - 1


def frame(
    ruling_body: Body, kind: Kind, seq: int, reason: str, ruled_by: str, at: dt.datetime, supersedes: int | None
) -> dict[str, Any]:
    """The fields of a new entry in the order in which they are written, without `prev` and `signature`."""
    fields: dict[str, Any] = {"v": VERSION, "seq": seq, "kind": kind.value, **ruling_body.fields()}
    fields |= {"reason": reason, "ruled_by": ruled_by, "ruled_at": format_time(at)}
    if supersedes is not None:
        fields["supersedes"] = supersedes
    return fields


def parse_ruling(fields: Mapping[str, Any], hash_: str) -> Ruling:
    """The ruling of a signed entry; raises BadInput in a phrase when this program cannot act on it."""
    seq = number(fields.get("seq"))
    if seq is None:
        raise BadInput("seq must be a number from 1 on")
    body = parse_own(fields)
    ruled_at = parse_time(fields.get("ruled_at"))
    supersedes = _earlier(fields, "supersedes", seq) if fields.get("supersedes") is not None else None
    if isinstance(body, Revoke):
        _earlier(fields, "revokes", seq)
    prev = fields.get("prev")
    return Ruling(
        seq,
        body,
        _text(fields, "reason"),
        _text(fields, "ruled_by"),
        ruled_at,
        supersedes,
        prev if isinstance(prev, str) else None,
        hash_,
    )


def parse_own(fields: Mapping[str, Any]) -> Body:
    """What an entry decides; raises BadInput for a version, a kind or a field that is unknown, missing or wrong."""
    version = fields.get("v")
    if type(version) is not int or version != VERSION:
        raise BadInput(f"its version is {version!r}, and this ct-tui knows version {VERSION}")
    kind = _text(fields, "kind")
    body = parse_body(kind, fields)
    strange = sorted(fields.keys() - FRAME - OWN_FIELDS[Kind(kind)])
    if strange:
        raise BadInput(f"it has fields that this ct-tui does not know for {kind}: {', '.join(map(repr, strange))}")
    return body


def number(value: object) -> int | None:
    """A number of an entry, counting from 1, or None."""
    return value if type(value) is int and 1 <= value <= _LARGEST else None


def format_time(moment: dt.datetime) -> str:
    """RFC 3339 in UTC, to the second."""
    return moment.astimezone(dt.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def parse_time(value: object) -> dt.datetime:
    """The moment of an RFC 3339 time, in UTC; raises BadInput."""
    if not isinstance(value, str) or _RFC3339.fullmatch(value) is None:
        raise BadInput("ruled_at must be a time such as 2026-10-03T10:00:00Z")
    try:
        return dt.datetime.fromisoformat(value.upper()).astimezone(dt.UTC)
    except (ValueError, OverflowError) as error:
        raise BadInput(f"ruled_at is not a time: {value}") from error


def _earlier(fields: Mapping[str, Any], key: str, seq: int) -> int:
    value = number(fields.get(key))
    if value is None or value >= seq:
        raise BadInput(f"{key} must be the number of an earlier ruling")
    return value


def _text(fields: Mapping[str, Any], key: str) -> str:
    value = fields.get(key)
    if not isinstance(value, str) or not trim(value):
        raise BadInput(f"{key} must be a text")
    return value
