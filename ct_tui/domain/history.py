"""Where an entity's type came from: the app's one origin row, our append-only history, and both as one time line."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Origin:
    """The entity's row of entity_type_origin: the first origin wins for ever; `recorded_at` in seconds.

    `source_directory` holds the full path of the source that switched the gate off, whatever its name says.
    """

    entity_id: str
    original_type: str | None
    reason: str
    source_directory: str | None
    recorded_at: int

    SURFACING = ("degraded", "unlabeled_landing", "gate_skipped")

    @property
    def surfaces(self) -> bool:
        """Whether the row asks for a human; the others are records of what heal did."""
        return self.reason in self.SURFACING

    def as_json(self) -> dict[str, Any]:
        """The row as the command line prints it."""
        return {
            "original_type": self.original_type,
            "reason": self.reason,
            "source_directory": self.source_directory,
            "recorded_at": self.recorded_at,
        }


@dataclass(frozen=True)
class HistoryRow:
    """One type change of one entity, as our history keeps it; `at` in seconds, `id` the row's number to page by."""

    entity_id: str
    from_type: str
    to_type: str
    reason: str
    ruling: int | None
    run: int
    by: str
    at: int
    name: str = ""
    id: int = 0

    def as_json(self) -> dict[str, Any]:
        """The row as the command line prints it."""
        return {
            "at": self.at,
            "from": self.from_type,
            "to": self.to_type,
            "reason": self.reason,
            "ruling": self.ruling,
            "run": self.run,
            "by": self.by,
        }


@dataclass(frozen=True)
class Event:
    """One row of llm_wiki_events about the entity; `at` in milliseconds."""

    at: int
    type: str
    summary: str

    def as_json(self) -> dict[str, Any]:
        """The row as the command line prints it."""
        return {"at": self.at, "type": self.type, "summary": self.summary}


@dataclass(frozen=True)
class MergeStep:
    """One redirect that a run wrote, rewrote or took back; `at` in seconds, None stands for no redirect."""

    run: int
    loser: str
    survivor: str | None
    previous: str | None
    ruling: int | None
    by: str
    at: int


@dataclass(frozen=True)
class Ledger:
    """An entity's type-origin history; `asked` is the id given where that one was merged away.

    `cluster` lists every id that leads to this entity, itself first.
    """

    id: str
    name: str
    type: str
    cluster: tuple[str, ...]
    origins: tuple[Origin, ...]
    history: tuple[HistoryRow, ...]
    events: tuple[Event, ...]
    created_at: int | None = None
    deleted_at: int | None = None
    asked: str | None = None
    merges: tuple[MergeStep, ...] = ()

    @property
    def origin(self) -> Origin | None:
        """The entity's own origin row, else the first of its cluster."""
        return self.origins[0] if self.origins else None

    def as_json(self) -> dict[str, Any]:
        """The document that `ledger ENTITY --json` prints."""
        entity = {"id": self.id, "name": self.name, "type": self.type, "cluster": list(self.cluster)}
        origin = self.origin
        return {
            "entity": entity,
            "origin": origin.as_json() if origin else None,
            "history": [row.as_json() for row in self.history],
            "events": [event.as_json() for event in self.events],
        }


@dataclass(frozen=True)
class RunRow:
    """One applied plan; `at` in seconds, `status` is running, done or stopped."""

    id: int
    kind: str
    at: int
    by: str
    status: str
    retyped: int
    recased: int
    legalized: tuple[str, ...]
    queued: int | None
    conflicts: int
    edges: int
    plan_digest: str
    undoes: int | None
    undone_by: int | None
    backup: str | None
    numbers: dict[str, Any]

    def as_json(self) -> dict[str, Any]:
        """The row as the command line prints it."""
        return {
            "id": self.id,
            "kind": self.kind,
            "at": self.at,
            "by": self.by,
            "status": self.status,
            "retyped": self.retyped,
            "recased": self.recased,
            "legalized": list(self.legalized),
            "queued": self.queued,
            "conflicts": self.conflicts,
            "edges": self.edges,
            "plan": self.plan_digest,
            "undoes": self.undoes,
            "undone_by": self.undone_by,
            "backup": self.backup,
            "numbers": self.numbers,
        }
