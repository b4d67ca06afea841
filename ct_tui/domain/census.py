"""The drift census: how many live entities bear each type, and what that type is to the ontology."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import StrEnum
from shlex import quote
from typing import TYPE_CHECKING, Any

from ct_tui.domain.names import is_blank, label_key

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from ct_tui.domain.manifest import Vocabulary

RawText = str | bytes | int | float | None
"""What a text column of a brain can really hold; only a `str` without NUL is readable."""


class TypeStatus(StrEnum):
    """What a type is to the vocabulary."""

    DECLARED = "declared"
    UNDECLARED = "undeclared"
    BLANK = "blank"
    VARIANT = "variant"
    UNREADABLE = "unreadable"


class Disposition(StrEnum):
    """What heal would do with one entity, and if nothing, why."""

    COMPLIANT = "compliant"
    RECASE = "recase"
    RETYPE = "retype"
    QUEUE = "queue"
    KEPT = "kept"
    REPORT_ONLY = "report only"
    SHIELDED = "shielded"
    HELD = "held"
    UNGATED = "not gated"
    UNREADABLE = "unreadable"


@dataclass(frozen=True)
class TypeCount:
    """One row of the census; `type` is how it reads, `raw` what the column holds, `to` the type heal would give.

    The dispositions count entities; `looks_like` names the declared type that this
    one can be mistaken for, `legalized` the signed ruling that declares a type which the manifest does not hold (yet).
    """

    type: str
    raw: RawText
    count: int
    status: TypeStatus
    to: str | None = None
    ruling: int | None = None
    retype: int = 0
    queue: int = 0
    report_only: int = 0
    shielded: int = 0
    kept: int = 0
    held: int = 0
    looks_like: str | None = None
    legalized: int | None = None
    ids: tuple[str, ...] = ()

    @property
    def drifts(self) -> bool:
        """Whether these entities bear a type that nobody declared."""
        return self.status in {TypeStatus.UNDECLARED, TypeStatus.BLANK}


@dataclass(frozen=True)
class Census:
    """All live entities by type, most frequent first."""

    types: tuple[TypeCount, ...] = ()
    declared_types: int = 0

    @property
    def live(self) -> int:
        """Number of live entities."""
        return sum(t.count for t in self.types)

    @property
    def undeclared_entities(self) -> int:
        """Entities whose type nobody declared."""
        return sum(t.count for t in self.types if t.status is TypeStatus.UNDECLARED)

    @property
    def undeclared_types(self) -> int:
        """Types that nobody declared."""
        return sum(1 for t in self.types if t.status is TypeStatus.UNDECLARED)


@dataclass(frozen=True)
class Tally:
    """How many entities of one type came to each disposition."""

    counts: Mapping[Disposition, int] = field(default_factory=dict)

    def get(self, disposition: Disposition) -> int:
        """Entities with this disposition."""
        return self.counts.get(disposition, 0)


@dataclass(frozen=True)
class Drift:
    """Policy drift: the config changed since the watermark; `old_stamped_at` in milliseconds, 0 if unknown."""

    old_hash: str
    old_stamped_at: int
    new_hash: str
    confirmed: bool = False
    waived: bool = False

    @property
    def word(self) -> str:
        """The hash before the change as a word of a command; what stands there is whatever another program wrote."""
        return quote(self.old_hash)

    def unanswered(self, given: str | None) -> str:
        """What changed, and the options that answer it; `given` is a hash that does not."""
        wrong = f"{given!r} is not the hash before the change; " if given else ""
        return (
            f"{wrong}the ontology part of config.json changed since the last heal: confirm with --confirm-drift "
            f"{self.word}, or waive with --waive-drift {self.word}"
        )

    def as_json(self) -> dict[str, Any]:
        """The object as the heal report prints it."""
        return {
            "old_hash": self.old_hash,
            "old_stamped_at": self.old_stamped_at,
            "new_hash": self.new_hash,
            "confirmed": self.confirmed,
            "waived": self.waived,
        }


@dataclass(frozen=True)
class CensusReport:
    """The census with what surrounds it, as `census --json` prints it."""

    brain: str
    schema_version: int | None
    census: Census
    drift: Drift | None
    rulings_valid: int
    ruling_problems: int
    degraded: str = ""
    distrust: str = ""

    def as_json(self) -> dict[str, Any]:
        """The document of `census --json`."""
        found = self.census
        return {
            "brain": self.brain,
            "schema_version": self.schema_version,
            "live": found.live,
            "declared_types": found.declared_types,
            "undeclared": {"entities": found.undeclared_entities, "types": found.undeclared_types},
            "types": [_type_json(t) for t in found.types],
            "policy_drift": self.drift.as_json() if self.drift else None,
            "rulings": {"valid": self.rulings_valid, "problems": self.ruling_problems},
            "degraded": self.degraded or None,
            "distrust": self.distrust or None,
        }


def readable(value: RawText) -> bool:
    """Whether a column holds text that may be compared and written: a string without NUL."""
    return isinstance(value, str) and "\0" not in value


def display(value: RawText) -> str:
    """A column as text for people and JSON: bytes decoded with U+FFFD for what is not UTF-8, NULL as `NULL`."""
    if value is None:
        return "NULL"
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return str(value)


def status_of(value: RawText, vocabulary: Vocabulary) -> TypeStatus:
    """What one type is to a vocabulary."""
    if value is None:
        return TypeStatus.UNREADABLE
    if not readable(value) or not isinstance(value, str):
        return TypeStatus.UNREADABLE
    if is_blank(value):
        return TypeStatus.BLANK
    canonical = vocabulary.canonical(value)
    if canonical is None:
        return TypeStatus.UNDECLARED
    return TypeStatus.DECLARED if canonical == value else TypeStatus.VARIANT


def looks_like(value: str, vocabulary: Vocabulary) -> str | None:
    """The declared type whose look-alike this undeclared label is, or None."""
    key = label_key(value)
    return next((name for name in vocabulary.look_alikes(value) if label_key(name) != key), None)


def census(counts: Iterable[tuple[RawText, int]], vocabulary: Vocabulary) -> Census:
    """Judge the counted types against a vocabulary; dispositions are added by `with_tallies`."""
    rows = [_row(raw, count, vocabulary) for raw, count in counts]
    rows.sort(key=lambda t: (-t.count, t.type))
    return Census(tuple(rows), len(vocabulary.by_key))


def with_tallies(found: Census, tallies: Mapping[RawText, Tally]) -> Census:
    """The census with what heal would do with the entities of each type."""
    return replace(found, types=tuple(_tallied(t, tallies.get(t.raw)) for t in found.types))


def _row(raw: RawText, count: int, vocabulary: Vocabulary) -> TypeCount:
    status = status_of(raw, vocabulary)
    to = vocabulary.canonical(raw) if status is TypeStatus.VARIANT and isinstance(raw, str) else None
    twin = looks_like(raw, vocabulary) if status is TypeStatus.UNDECLARED and isinstance(raw, str) else None
    return TypeCount(display(raw), raw, count, status, to, looks_like=twin)


def _tallied(row: TypeCount, tally: Tally | None) -> TypeCount:
    if tally is None:
        return row
    return replace(
        row,
        retype=tally.get(Disposition.RETYPE) + tally.get(Disposition.RECASE),
        queue=tally.get(Disposition.QUEUE),
        report_only=tally.get(Disposition.REPORT_ONLY),
        shielded=tally.get(Disposition.SHIELDED),
        kept=tally.get(Disposition.KEPT),
        held=tally.get(Disposition.HELD),
    )


def _type_json(row: TypeCount) -> dict[str, Any]:
    found: dict[str, Any] = {
        "type": row.type,
        "count": row.count,
        "status": row.status.value,
        "to": row.to,
        "retype": row.retype,
        "queue": row.queue,
        "report_only": row.report_only,
        "shielded": row.shielded,
        "kept": row.kept,
        "held": row.held,
        "ruling": row.ruling,
        "legalized": row.legalized,
        "looks_like": row.looks_like,
    }
    return {**found, "ids": list(row.ids)} if row.ids else found
