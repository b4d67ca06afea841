"""`ontology show`: what the policy says, what each part of it decides, and how many live entities it covers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ct_tui.brain import readers, sql
from ct_tui.domain.census import display
from ct_tui.domain.holds import Hold, hold_name, hold_text, vocabulary_hold
from ct_tui.domain.manifest import TIER_FACT, ManifestRow
from ct_tui.domain.policy import Mode, Policy, is_matchable, normalise_key, usable_prefix
from ct_tui.domain.redirects import CYCLE, Redirects
from ct_tui.heal.coverage import counted_key, cover

if TYPE_CHECKING:
    from ct_tui.brain.connection import Db
    from ct_tui.brain.readers import BrainState
    from ct_tui.brain.schema import Schema
    from ct_tui.heal.coverage import Coverage


@dataclass(frozen=True)
class FolderView:
    """One key of ingest.folder_ontology: what it decides, and the live entities with a source under it."""

    key: str
    mode: Mode | None
    effect: str
    entities: int | None = None

    def as_json(self) -> dict[str, Any]:
        """The folder as `ontology show --json` prints it; a mode of null could not be read."""
        mode = self.mode.value if self.mode else None
        return {"key": self.key, "mode": mode, "effect": self.effect, "entities": self.entities}


@dataclass(frozen=True)
class ManifestView:
    """One manifest row: whether it gates and what it declares; `hold` is why a strict one cannot gate."""

    row: ManifestRow
    redirected: bool = False
    hold: Hold | None = None

    @property
    def usable(self) -> bool:
        """Whether the row can gate: readable, with types and a declared fallback."""
        return self.row.vocabulary is not None and self.row.vocabulary.usable

    def as_json(self) -> dict[str, Any]:
        """The row as `ontology show --json` prints it."""
        vocabulary = self.row.vocabulary
        return {
            "id": self.row.entity_id,
            "mode": self.row.mode,
            "usable": self.usable,
            "types": list(vocabulary.names) if vocabulary else [],
            "edge_types": len(vocabulary.edge_types) if vocabulary else 0,
            "fallback": vocabulary.fallback if vocabulary else None,
            "redirected": self.redirected,
            "hold_reason": hold_name(self.hold) if self.hold else None,
            "error": self.row.error or (hold_text(self.hold) if self.hold else None),
        }


@dataclass(frozen=True)
class OptOutView:
    """One opt-out row: its entity, the live entity that it covers, and why it was written; created_at in seconds."""

    entity: str
    covers: str | None
    name: str
    reason: str
    created_at: int | None = None

    def as_json(self) -> dict[str, Any]:
        """The opt-out as `ontology show --json` prints it."""
        return {
            "entity": self.entity,
            "covers": self.covers,
            "name": self.name,
            "reason": self.reason,
            "created_at": self.created_at,
        }


@dataclass(frozen=True)
class OntologyView:
    """The whole policy of a brain; `uncovered` counts live entities with a source that no folder decides."""

    policy: Policy
    folders: tuple[FolderView, ...] = ()
    manifests: tuple[ManifestView, ...] = ()
    opt_outs: tuple[OptOutView, ...] = ()
    uncovered: int | None = None
    live: int = 0

    @property
    def state(self) -> str:
        """`whole`, `degraded` or `tied`."""
        if self.policy.degraded:
            return "degraded"
        return "tied" if self.policy.ties else "whole"

    @property
    def host_sentence(self) -> str:
        """What an entity meets that no folder decides."""
        answer = self.policy.lookup(None)
        return f"{answer.outcome.value}: {answer.why}"

    def as_json(self) -> dict[str, Any]:
        """The document that `ontology show --json` prints."""
        return {
            "policy": self._policy_json(),
            "manifests": [m.as_json() for m in self.manifests],
            "optouts": [o.as_json() for o in self.opt_outs],
            "live": self.live,
        }

    def _policy_json(self) -> dict[str, Any]:
        policy = self.policy
        return {
            "state": self.state,
            "watermark": policy.watermark,
            "ontology_default": policy.default.value if policy.default else None,
            "schema": policy.schema,
            "schema_unparseable": policy.schema_unparseable,
            "vault_path": policy.vault_path,
            "host": {"outcome": policy.lookup(None).outcome.value, "why": policy.lookup(None).why},
            "folders": [f.as_json() for f in self.folders],
            "uncovered_entities": self.uncovered,
            "degraded": {
                "reason": policy.degraded.reason or None,
                "dropped_prefixes": list(policy.degraded.dropped_prefixes),
                "default_dropped": policy.degraded.default_dropped,
            },
            "ties": [str(tie) for tie in policy.ties],
            "problems": [{"where": p.where, "message": p.message} for p in policy.problems],
        }


def show_ontology(db: Db, schema: Schema, policy: Policy, counted: Coverage | None = None) -> OntologyView:
    """The policy of a brain inside the caller's snapshot; where folders matter every source is resolved.

    `counted` spares that where the coverage is known already.
    """
    state = readers.state(db, schema)
    redirects = Redirects(state.redirects)
    if counted is None and policy.paths_matter:
        counted = cover(db, schema, policy, state)
    return OntologyView(
        policy,
        _folders(policy, counted),
        tuple(_manifest(row, redirects) for row in _tier_first(state)),
        _opt_outs(db, schema, redirects),
        counted.uncovered if counted and policy.paths_matter else None,
        sum(count for _, count in readers.type_counts(db, schema)),
    )


def _tier_first(state: BrainState) -> list[ManifestRow]:
    return sorted(state.manifests.rows.values(), key=lambda row: (row.entity_id != TIER_FACT, row.entity_id))


def _manifest(row: ManifestRow, redirects: Redirects) -> ManifestView:
    redirected = row.entity_id in redirects
    judged = row.strict and not redirected and row.vocabulary is not None
    hold = vocabulary_hold(row.vocabulary, row.entity_id) if judged and row.vocabulary is not None else None
    return ManifestView(row, redirected, hold)


def _folders(policy: Policy, counted: Coverage | None) -> tuple[FolderView, ...]:
    tied = {tie.prefix for tie in policy.ties}
    found: list[FolderView] = []
    for key, mode in policy.folders:
        entities = counted.by_key[counted_key(key)] if counted else None
        found.append(FolderView(key, mode, _effect(key, mode, tied), entities))
    for prefix in policy.degraded.dropped_prefixes:
        entities = counted.by_key[prefix] if counted else None
        found.append(FolderView(prefix, None, _unusable_effect(prefix), entities))
    return tuple(found)


def _effect(key: str, mode: Mode, tied: set[str]) -> str:
    if not is_matchable(key):
        return _unusable_effect(key)
    if normalise_key(key) in tied:
        return "contradicts another spelling of this folder: what lies under it holds"
    return "no gate runs" if mode is Mode.OFF else "gated by tier_fact's vocabulary"


def _unusable_effect(key: str) -> str:
    usable = usable_prefix(key)
    return f"unusable: what lies under {usable!r} holds" if usable else "unusable: it does nothing"


def _opt_outs(db: Db, schema: Schema, redirects: Redirects) -> tuple[OptOutView, ...]:
    if not schema.has("ct_entity_optouts"):
        return ()
    rows = [(display(i), "" if reason is None else display(reason), at) for i, reason, at in db.rows(sql.OPT_OUTS)]
    ends = {i: redirects.resolve(i) for i, _, _ in rows}
    names = readers.names_of(db, [end for end in ends.values() if end is not CYCLE])
    found = []
    for entity, reason, at in sorted(rows, key=lambda row: row[0]):
        end = ends[entity]
        name = "" if end is CYCLE else names.get(end, ("", ""))[0]
        created = at if isinstance(at, int) else None
        found.append(OptOutView(entity, None if end is CYCLE else end, name, reason, created))
    return tuple(found)
