"""The review queue: grouped questions for a human, computed from the brain and never stored.

One item is one question that one ruling settles. Each says why it is here and why nothing settled it yet, and ranks
the targets that a ruling could name, with reasons.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable


class ItemKind(StrEnum):
    """What an item asks about."""

    UNDECLARED = "undeclared type"
    BLANK = "blank type"
    DEGRADED = "degraded origin"
    UNLABELED = "unlabeled origin"
    GATE_SKIPPED = "gate-skipped origin"
    DEAD_ALIAS = "alias that cannot act"
    SHIELDED = "shielded entity"
    MANIFEST = "unreadable manifest"
    ROW = "unreadable row"
    PROPOSAL = "held proposal"
    EDGE = "edge violation"
    DUPLICATE = "duplicate group"
    FINDING = "curation finding"

    @property
    def slug(self) -> str:
        """The first part of an item's id."""
        return _SLUGS[self]


_SLUGS = {
    ItemKind.UNDECLARED: "type",
    ItemKind.BLANK: "blank",
    ItemKind.DEGRADED: "degraded",
    ItemKind.UNLABELED: "unlabeled",
    ItemKind.GATE_SKIPPED: "gate-skipped",
    ItemKind.DEAD_ALIAS: "alias",
    ItemKind.SHIELDED: "shielded",
    ItemKind.MANIFEST: "manifest",
    ItemKind.ROW: "row",
    ItemKind.PROPOSAL: "proposal",
    ItemKind.EDGE: "edge",
    ItemKind.DUPLICATE: "duplicate",
    ItemKind.FINDING: "finding",
}


@dataclass(frozen=True)
class Suggestion:
    """One ranked target with its reasons; `score` runs from 0 to 1, `edges_fit` of `edges_total` would conform."""

    type: str
    score: float
    why: tuple[str, ...] = ()
    edges_fit: int = 0
    edges_total: int = 0

    def as_json(self) -> dict[str, Any]:
        """The suggestion as the command line prints it."""
        return {
            "type": self.type,
            "score": round(self.score, 3),
            "why": "; ".join(self.why),
            "edges_fit": self.edges_fit,
            "edges_total": self.edges_total,
        }


@dataclass(frozen=True, eq=False)
class Later:
    """Suggestions for a label that are worked out whenever somebody looks: a queue may hold a hundred thousand of them.

    It may be called from any thread, and takes no lock.
    """

    label: str
    rank: Callable[[str], tuple[Suggestion, ...]]

    def __call__(self) -> tuple[Suggestion, ...]:
        """The suggestions."""
        return self.rank(self.label)

    def __eq__(self, other: object) -> bool:
        return self() == (other() if isinstance(other, Later) else other)

    def __hash__(self) -> int:
        return hash(self())


@dataclass(frozen=True)
class QueueItem:
    """One question: `key` is what it is about (a label, an id), `entities` the ids it covers.

    `entities` holds at most the first 1,000 ids of a large group; `count` is always the whole number. `ranked` are the
    suggestions, or what works them out.
    """

    kind: ItemKind
    key: str
    label: str
    count: int
    entities: tuple[str, ...] = ()
    why: tuple[str, ...] = ()
    why_not: tuple[str, ...] = ()
    ranked: tuple[Suggestion, ...] | Later = ()
    first_seen: int | None = None
    data: dict[str, Any] = field(default_factory=dict, compare=False)

    @property
    def suggestions(self) -> tuple[Suggestion, ...]:
        """The ranked targets, best first."""
        return self.ranked() if isinstance(self.ranked, Later) else self.ranked

    @property
    def id(self) -> str:
        """Stable id for commands and for keeping the cursor: kind and key."""
        return f"{self.kind.slug}:{self.key}"

    def as_json(self) -> dict[str, Any]:
        """The item as the command line prints it."""
        return {
            "id": self.id,
            "kind": self.kind.value,
            "label": self.label,
            "count": self.count,
            "entities": list(self.entities),
            "why": "; ".join(self.why),
            "why_not": "; ".join(self.why_not),
            "suggestions": [s.as_json() for s in self.suggestions],
        }


@dataclass(frozen=True)
class Queue:
    """All open questions, the most pressing first."""

    items: tuple[QueueItem, ...] = ()

    def counts(self) -> dict[str, int]:
        """Items by kind."""
        found: dict[str, int] = {}
        for item in self.items:
            found[item.kind.value] = found.get(item.kind.value, 0) + 1
        return found

    def get(self, item_id: str) -> QueueItem | None:
        """The item with this id, or None."""
        return next((i for i in self.items if i.id == item_id), None)


@dataclass(frozen=True)
class Quote:
    """A passage that stands behind a fact: the document's path, the lines, and the words."""

    path: str
    start_line: int | None
    end_line: int | None
    text: str


@dataclass(frozen=True)
class FactView:
    """One live fact as shown beside a question; `created_at` in milliseconds."""

    id: str
    title: str
    body: str
    confidence: str
    source_type: str
    created_at: int
    quotes: tuple[Quote, ...] = ()
    source_note: str = ""


@dataclass(frozen=True)
class EdgeView:
    """One edge of an entity as shown: the other end by name and type; `outgoing` from the entity's side."""

    id: str
    edge_type: str
    outgoing: bool
    other_id: str
    other_name: str
    other_type: str
    state: str = ""


@dataclass(frozen=True)
class EntityView:
    """One entity with its evidence, as the detail pane and `show` give it; times in seconds."""

    id: str
    name: str
    type: str
    summary: str
    created_at: int | None
    updated_at: int | None
    deleted_at: int | None
    cluster: tuple[str, ...] = ()
    facts: tuple[FactView, ...] = ()
    edges: tuple[EdgeView, ...] = ()
    shielded: str = ""
    problem: str = ""


@dataclass(frozen=True)
class Impact:
    """What a ruling would do before it is signed: entities that move, edges that gain, break, stay broken."""

    moves: int
    shielded: int = 0
    sample: tuple[str, ...] = ()
    gained: int = 0
    broken: int = 0
    still_violating: int = 0
    notes: tuple[str, ...] = ()
