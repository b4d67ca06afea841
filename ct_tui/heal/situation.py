"""Everything that decides, read once: brain state, config.json, the verified rulings, and what they make together."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from ct_tui.brain import readers
from ct_tui.brain.connection import path_text
from ct_tui.domain.census import Drift
from ct_tui.domain.ensure import Ensured, EnsurePlan, plan_manifest_ensure
from ct_tui.domain.json_text import BadJson, parse_json
from ct_tui.domain.ladder import Ladder
from ct_tui.domain.manifest import Manifests, Vocabulary, read_manifest_row
from ct_tui.domain.plan import Binding
from ct_tui.domain.redirects import Redirects
from ct_tui.domain.rulings import InForce, RulingTable, in_force

if TYPE_CHECKING:
    from ct_tui.brain.connection import Brain, Db
    from ct_tui.brain.readers import BrainState
    from ct_tui.brain.schema import Schema
    from ct_tui.domain.policy import Policy

WATERMARK = "ontology_config_watermark"
INITIAL_WATERMARK = "initial_drift_watermark"
REMAP_MARKER = "alias_remap_completed"
OKF_DIAGNOSTIC = "okf_migration_diagnostic"


@dataclass(frozen=True)
class Situation:
    """One consistent view of a brain and what rules over it; `now` in seconds."""

    brain: str
    schema: Schema
    policy: Policy
    state: BrainState
    table: RulingTable
    drift: Drift | None
    okf_diagnostic: str | None
    now: int
    acting: InForce = field(default_factory=InForce)

    @property
    def today(self) -> dt.date:
        """The day in UTC, which `until` dates are compared with."""
        return dt.datetime.fromtimestamp(self.now, dt.UTC).date()

    @cached_property
    def redirects(self) -> Redirects:
        """Merged-away ids."""
        return Redirects(self.state.redirects)

    @cached_property
    def ensures(self) -> tuple[EnsurePlan, ...]:
        """What the ensure would do with every manifest row."""
        rows = self.state.manifests.rows
        memos = self.state.memos
        return tuple(
            plan_manifest_ensure(row, self.acting, memos.get(key, frozenset()), redirected=key in self.redirects)
            for key, row in rows.items()
        )

    @property
    def unusable(self) -> tuple[str, ...]:
        """Strict rows that cannot gate even once the ensure has run: every mint and every retype there holds."""
        stuck = {Ensured.UNUSABLE, Ensured.FOREIGN_NO_FALLBACK}
        return tuple(e.entity_id for e in self.ensures if e.outcome in stuck and e.mode == "strict")

    @property
    def memos(self) -> tuple[tuple[str, str], ...]:
        """Manifest rows that are complete and have no memo of it yet, with the memo's key."""
        done = (e for e in self.ensures if e.outcome is Ensured.ALREADY_COMPLETE and e.memo is not None)
        return tuple((e.entity_id, e.memo) for e in done if e.memo is not None)

    @cached_property
    def manifests(self) -> Manifests:
        """The manifest rows as they stand once the ensure has run."""
        rows = dict(self.state.manifests.rows)
        for plan in self.ensures:
            if plan.writes:
                rows[plan.entity_id] = read_manifest_row(plan.entity_id, rows[plan.entity_id].mode, plan.new_raw)
        return Manifests(rows)

    @property
    def vocabulary(self) -> Vocabulary:
        """tier_fact's vocabulary once the ensure has run."""
        return self.manifests.vocabulary

    @cached_property
    def ladder(self) -> Ladder:
        """The skip ladder over this state."""
        return Ladder(self.policy.lookup, self.manifests, self.redirects, self.state.opt_outs)

    @property
    def degraded(self) -> str:
        """Why the config refuses every ontology change, or an empty text."""
        refusal = self.policy.refusal()
        return refusal.message if refusal is not None else ""

    @cached_property
    def binding(self) -> Binding:
        """What a plan made now is bound to."""
        return Binding(
            self.brain,
            self.schema.version or 0,
            {key: fingerprint(row.mode, row.raw) for key, row in self.state.manifests.rows.items()},
            self.policy.watermark,
            self.table.head.seq,
            self.table.head.hash,
        )


def read_situation(brain: Brain, db: Db, policy: Policy, table: RulingTable, now: float) -> Situation:
    """Read the brain's part inside the caller's snapshot and join it with policy and rulings."""
    schema = brain.schema
    return Situation(
        path_text(brain.path.resolve()),
        schema,
        policy,
        readers.state(db, schema),
        table,
        read_drift(db, schema, policy.watermark),
        readers.meta(db, schema, OKF_DIAGNOSTIC),
        int(now),
        in_force(table),
    )


def fingerprint(mode: str, raw: str) -> str:
    """SHA-256 of a manifest row, for a plan's binding."""
    import hashlib

    return hashlib.sha256(f"{mode}\0{raw}".encode("utf-8", "surrogatepass")).hexdigest()


def read_drift(db: Db, schema: Schema, live: str) -> Drift | None:
    """How a watermark differs from the one that the brain remembers, or None where it does not."""
    old = _old_watermark(db, schema)
    if old is None or old[0] == live:
        return None
    return Drift(old[0], old[1], live)


def _old_watermark(db: Db, schema: Schema) -> tuple[str, int] | None:
    """The last watermark and its stamp (ms): heal's own, else the first one that a gate left."""
    value = readers.meta(db, schema, WATERMARK)
    if value is not None:
        return _parsed(value)
    initial = readers.meta(db, schema, INITIAL_WATERMARK)
    return None if initial is None else (initial, 0)


def _parsed(value: str) -> tuple[str, int]:
    """The watermark row: an object with hash and stamp, or a bare hash."""
    try:
        document = parse_json(value)
    except BadJson:
        return value, 0
    if not isinstance(document, dict) or not isinstance(document.get("hash"), str):
        return value, 0
    stamp = document.get("stamped_at")
    return document["hash"], stamp if isinstance(stamp, int) else 0
