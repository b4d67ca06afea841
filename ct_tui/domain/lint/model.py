"""What a rule is, what it finds, and the records it looks at."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any, NamedTuple

from ct_tui.domain.census import RawText, display

if TYPE_CHECKING:
    from collections.abc import Iterable

_SEPARATOR = "\x1f"
_MASK = (1 << 63) - 1


class Severity(StrEnum):
    """How much a finding matters."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"

    @property
    def rank(self) -> int:
        """0 for the worst."""
        return list(Severity).index(self)


class Kind(StrEnum):
    """What a finding is about: where a reader jumps to."""

    ENTITY = "entity"
    FACT = "fact"
    EDGE = "edge"
    TYPE = "type"
    RULING = "ruling"
    MANIFEST = "manifest"
    RULE = "rule"


@dataclass(frozen=True, slots=True)
class Focus:
    """The row that a finding is about."""

    kind: Kind
    id: str

    def as_json(self) -> dict[str, str]:
        """The focus as the command line prints it."""
        return {"kind": self.kind.value, "id": self.id}


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule of the guide: `severity` is its usual weight, `why` the reason to keep to it."""

    id: str
    severity: Severity
    title: str
    why: str


@dataclass(frozen=True, slots=True)
class Finding:
    """One place where a rule is not kept; `path` is table and column, `value` what stands there.

    `owner` is the entity that a fact or an edge belongs to (of an edge, its source). `new` is True where the last
    night did not see it, False where it did, None where no night was remembered.
    """

    rule: str
    severity: Severity
    focus: Focus
    path: str
    value: str | int | float | None
    message: str
    fix: str | None = None
    owner: str = ""
    new: bool | None = None

    @property
    def entity(self) -> str:
        """The entity to look at: the focus itself or its owner; empty where no entity is concerned."""
        return self.focus.id if self.focus.kind is Kind.ENTITY else self.owner

    @property
    def fingerprint(self) -> int:
        """A 63-bit number that stays the same from night to night while the same thing is wrong at the same place."""
        parts = (self.rule, self.severity.value, self.focus.kind.value, self.focus.id, self.path)
        text = _SEPARATOR.join(parts).encode("utf-8", "surrogatepass")
        return int.from_bytes(hashlib.blake2b(text, digest_size=8).digest(), "big") & _MASK

    def as_json(self) -> dict[str, Any]:
        """The finding as the command line prints it."""
        found: dict[str, Any] = {
            "rule": self.rule,
            "severity": self.severity.value,
            "focus": self.focus.as_json(),
            "path": self.path,
            "value": self.value,
            "message": self.message,
        }
        if self.fix is not None:
            found["fix"] = self.fix
        if self.owner:
            found["entity"] = self.owner
        if self.new is not None:
            found["new"] = self.new
        return found


class EntityRow(NamedTuple):
    """A live entity as the rules need it; times in seconds, whatever really stands there."""

    id: RawText
    name: RawText
    type: RawText
    created_at: RawText = None
    updated_at: RawText = None


class EdgeRow(NamedTuple):
    """An edge as the rules need it; `entity_id` is the entity it is anchored at, created_at in ms."""

    id: RawText
    entity_id: RawText
    source_id: RawText
    target_id: RawText
    edge_type: RawText
    created_at: RawText


class FactRow(NamedTuple):
    """A live fact as the rules need it; times in ms, `evidence` the librarian's JSON, `entity_type` the owner's."""

    id: RawText
    entity_id: RawText
    title: RawText
    body: RawText
    confidence: RawText
    source_type: RawText
    source_ref: RawText
    created_at: RawText
    updated_at: RawText = None
    valid_from: RawText = None
    valid_to: RawText = None
    okf_type: RawText = None
    evidence: RawText = None
    entity_type: RawText = None


def focus(kind: Kind, raw: RawText) -> Focus:
    """The focus on a row whose id may be anything."""
    return Focus(kind, display(raw))


def shown(value: RawText) -> str | int | float | None:
    """A column's value for a finding: numbers stay numbers, bytes become text."""
    return display(value) if isinstance(value, bytes) else value


def listed(names: Iterable[str], limit: int = 5) -> str:
    """A few names for a sentence, and how many more there are."""
    found = list(names)
    more = len(found) - limit
    return ", ".join(found[:limit]) + (f" and {more} more" if more > 0 else "")
