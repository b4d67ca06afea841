"""What heal would do, row by row: the frozen plan, what it is bound to, and the receipt of applying it.

Operation (intent) → Plan (before and after of every row, the ruling behind it, digest) → Receipt. A plan carries no
authority of its own: applying it derives the changes again and takes only those that the rules still allow.
"""

from __future__ import annotations

import hashlib
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from ct_tui.domain.json_text import compact

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence


class ChangeKind(StrEnum):
    """By what authority a type changes."""

    ALIAS = "alias"
    RECASE = "recase"
    RETYPE = "retype"
    UNDO = "undo"

    @property
    def reason(self) -> str:
        """The reason as the origin ledger and our history write it."""
        return _REASONS[self]


_REASONS = {
    ChangeKind.ALIAS: "alias_retype",
    ChangeKind.RECASE: "recased",
    ChangeKind.RETYPE: "queue_retype",
    ChangeKind.UNDO: "undo",
}


@dataclass(frozen=True, slots=True)
class TypeChange:
    """One entity's type before and after; `ruling` is the seq behind it (None for a mechanical recasing)."""

    entity: str
    name: str
    from_type: str
    to_type: str
    kind: ChangeKind
    ruling: int | None
    why: str

    def as_json(self) -> dict[str, Any]:
        """The row as the command line prints it."""
        return {
            "entity": self.entity,
            "name": self.name,
            "from": self.from_type,
            "to": self.to_type,
            "kind": self.kind.value,
            "ruling": self.ruling,
            "why": self.why,
        }


@dataclass(frozen=True)
class ManifestChange:
    """One manifest row before and after, as exact text; applied by compare-and-swap on `before`.

    `mode` is the row's mode, which stays as it is.
    """

    row: str
    before: str
    after: str
    added_types: tuple[str, ...] = ()
    added_edges: tuple[str, ...] = ()
    fallback: str | None = None
    rulings: tuple[int, ...] = ()
    mode: str = "strict"

    def as_json(self) -> dict[str, Any]:
        """The row as the command line prints it, without the two texts."""
        return {
            "manifest": self.row,
            "types": list(self.added_types),
            "edges": list(self.added_edges),
            "fallback": self.fallback,
            "rulings": list(self.rulings),
        }


class EdgeChangeKind(StrEnum):
    """What happens to one edge."""

    RENAME = "rename"
    REVERSE = "reverse"
    DROP = "drop"
    RESTORE = "restore"


@dataclass(frozen=True)
class EdgeRow:
    """One row of llm_wiki_edges; `created_at` in milliseconds."""

    id: str
    entity_id: str
    source_id: str
    target_id: str
    edge_type: str
    created_at: int


@dataclass(frozen=True)
class EdgeChange:
    """One edge before and after; None stands for a row that is not there."""

    edge: str
    kind: EdgeChangeKind
    before: EdgeRow | None
    after: EdgeRow | None
    ruling: int | None
    why: str

    def as_json(self) -> dict[str, Any]:
        """The row as the command line prints it."""
        return {
            "edge": self.edge,
            "kind": self.kind.value,
            "before": asdict(self.before) if self.before else None,
            "after": asdict(self.after) if self.after else None,
            "ruling": self.ruling,
            "why": self.why,
        }


@dataclass(frozen=True)
class RedirectChange:
    """One merge redirect before and after; None stands for no redirect, so that undoing a merge restores the entity."""

    entity: str
    name: str
    before: str | None
    after: str | None
    ruling: int | None
    why: str

    def as_json(self) -> dict[str, Any]:
        """The row as the command line prints it."""
        return {
            "entity": self.entity,
            "name": self.name,
            "before": self.before,
            "after": self.after,
            "ruling": self.ruling,
            "why": self.why,
        }


def gives_back(merges: Iterable[RedirectChange]) -> bool:
    """Whether redirects are taken away: then they come before everything that is written to what they give back."""
    last = {merge.entity: merge.after for merge in merges}
    return None in last.values()


@dataclass(frozen=True)
class Binding:
    """What the plan was made on; any difference makes it stale.

    `manifests` maps row id to SHA-256 of mode and text; `policy` is the watermark hash; `head` is seq and hash.
    """

    brain: str
    schema_version: int
    manifests: Mapping[str, str]
    policy: str
    head_seq: int
    head_hash: str


@dataclass(frozen=True)
class EdgeEffect:
    """Edges of the brain that change state by a plan: become valid, break, or stay broken."""

    gained: int = 0
    broken: int = 0
    still_violating: int = 0

    def as_json(self) -> dict[str, int]:
        """The counts as the command line prints them."""
        return {"gained": self.gained, "broken": self.broken, "still_violating": self.still_violating}


@dataclass(frozen=True)
class Plan:
    """Everything one run would write, with the counts of what it leaves alone."""

    binding: Binding
    changes: Sequence[TypeChange] = ()
    manifests: tuple[ManifestChange, ...] = ()
    edge_changes: tuple[EdgeChange, ...] = ()
    queued: int = 0
    report_only: int = 0
    shielded: int = 0
    kept: int = 0
    held: int = 0
    unreadable: int = 0
    legalized: tuple[str, ...] = ()
    unusable_manifests: tuple[str, ...] = ()
    edges: EdgeEffect | None = None
    undoes: int | None = None
    notes: tuple[str, ...] = ()
    merges: tuple[RedirectChange, ...] = ()
    made_at: int = 0
    _digest: list[str] = field(default_factory=list, compare=False, repr=False)

    @property
    def empty(self) -> bool:
        """Whether applying it would write nothing."""
        return not (self.changes or self.manifests or self.edge_changes or self.merges)

    @property
    def digest(self) -> str:
        """SHA-256 over the binding and every change: the plan's name."""
        if not self._digest:
            self._digest.append(self._hash())
        return self._digest[0]

    def _hash(self) -> str:
        digest = hashlib.sha256()
        for row in self._digested():
            # An id from outside may hold half a surrogate pair, which strict UTF-8 has no bytes for.
            digest.update(compact(row).encode("utf-8", "surrogatepass") + b"\n")
        return digest.hexdigest()

    def _digested(self) -> Iterator[object]:
        """What the digest is made of, a row a line; names and reasons are for people and no part of it."""
        yield ["ct-tui plan 1", asdict(self.binding), self.undoes]
        for change in self.changes:
            yield change.entity, change.from_type, change.to_type, change.kind.value, change.ruling
        for manifest in self.manifests:
            yield manifest.row, manifest.before, manifest.after
        for edge in self.edge_changes:
            yield {name: value for name, value in edge.as_json().items() if name != "why"}
        for merge in self.merges:
            yield "merge", merge.entity, merge.before, merge.after, merge.ruling

    def flows(self) -> tuple[tuple[str, str, ChangeKind, int], ...]:
        """The changes grouped by from → to and kind, largest first: (from, to, kind, count)."""
        counts: dict[tuple[str, str, ChangeKind], int] = {}
        for change in self.changes:
            key = (change.from_type, change.to_type, change.kind)
            counts[key] = counts.get(key, 0) + 1
        rows = [(*key, count) for key, count in counts.items()]
        return tuple(sorted(rows, key=lambda r: (-r[3], r[0], r[1])))

    def count(self, kind: ChangeKind) -> int:
        """Number of changes of one kind."""
        return sum(1 for c in self.changes if c.kind is kind)


@dataclass(frozen=True)
class Conflict:
    """One row that moved between plan and write, and was therefore left alone."""

    entity: str
    expected: str
    found: str


@dataclass(frozen=True)
class Receipt:
    """What one run did: counts of rows written, conflicts, and whether it was stopped between chunks.

    `halted` names what changed underneath so that the run could not go on; empty where a person stopped it, or nobody.
    """

    run: int | None
    retyped: int = 0
    recased: int = 0
    legalized: tuple[str, ...] = ()
    edges: int = 0
    conflicts: tuple[Conflict, ...] = ()
    stopped: bool = False
    remaining: int = 0
    backup: str | None = None
    merged: int = 0
    halted: str = ""


@dataclass(frozen=True)
class Progress:
    """How far an apply has come, in rows."""

    done: int
    total: int
