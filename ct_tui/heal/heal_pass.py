"""One heal: drift, refusals, ensure, retypes, marker and watermark, in the app's order; and its report.

Source of the order: brain format 7.5. The source heal stays the app's.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from ct_tui.domain.census import Disposition, Drift
from ct_tui.heal.situation import REMAP_MARKER, WATERMARK

if TYPE_CHECKING:
    from ct_tui.domain.plan import Plan, Receipt
    from ct_tui.heal.situation import Situation
    from ct_tui.heal.survey import Survey

UNCONFIRMED, WAIVED, DEGRADED, UNTRUSTED = "unconfirmed_drift", "drift_waived", "degraded_config", "rulings_untrusted"
FAILING = frozenset({UNCONFIRMED, DEGRADED, UNTRUSTED})
"""Reasons to skip that make an applied heal exit 1; a waiver is what was asked for."""

HALTED = "it had to stop: another program changed {} meanwhile; the next heal goes on from there"


@dataclass(frozen=True)
class HealReport:
    """What one heal did or, where `applied` is false, would do; counts are entities."""

    applied: bool
    drift: Drift | None = None
    incidental_off_manifests: int = 0
    unmarked_tier_fact: bool = False
    retyped: int = 0
    recased: int = 0
    legalized: tuple[str, ...] = ()
    queued: int = 0
    report_only: int = 0
    shielded: int = 0
    kept: int = 0
    held: int = 0
    conflicts: int = 0
    edges: int = 0
    merged: int = 0
    error: str | None = None
    skipped_reason: str | None = None
    okf_migration_diagnostic: str | None = None
    unusable_manifests: tuple[str, ...] = ()
    run: int | None = None
    notes: tuple[str, ...] = ()
    stopped: bool = False
    receipt: Receipt | None = field(default=None, compare=False)

    @property
    def exit_code(self) -> int:
        """What the command line ends with: a report alone never fails."""
        if not self.applied:
            return 1 if self.error else 0
        return 1 if self.error or self.skipped_reason in FAILING or self.stopped else 0

    def as_json(self) -> dict[str, Any]:
        """The document that `heal --json` prints."""
        return {
            "ontology": {
                "drift": self.drift.as_json() if self.drift else None,
                "census": {
                    "incidental_off_manifests": self.incidental_off_manifests,
                    "unmarked_tier_fact": self.unmarked_tier_fact,
                },
                "retyped": self.retyped,
                "recased": self.recased,
                "legalized": list(self.legalized),
                "queued": self.queued,
                "report_only": self.report_only,
                "shielded": self.shielded,
                "kept": self.kept,
                "held": self.held,
                "conflicts": self.conflicts,
                "edges": self.edges,
                "merged": self.merged,
                "error": self.error,
                "skipped_reason": self.skipped_reason,
                "okf_migration_diagnostic": self.okf_migration_diagnostic,
                "unusable_manifests": list(self.unusable_manifests),
                "notes": list(self.notes),
            },
            "run": self.run,
        }


@dataclass(frozen=True)
class Verdict:
    """Whether a heal may go on, and the drift with what was said to it."""

    drift: Drift | None
    skipped: str | None
    ensure: bool
    notes: tuple[str, ...] = ()


def judge_heal(situation: Situation, confirm: str | None, waive: str | None) -> Verdict:
    """Decide in the app's order: degraded config, rulings written without a key, then policy drift."""
    drift = situation.drift
    if situation.degraded:
        return Verdict(drift, DEGRADED, ensure=False, notes=(situation.degraded,))
    if situation.table.distrust:
        return Verdict(drift, UNTRUSTED, ensure=False, notes=(situation.table.distrust,))
    if drift is None:
        unused = "nothing drifted, so --confirm-drift and --waive-drift were ignored"
        return Verdict(None, None, ensure=True, notes=(unused,) if confirm or waive else ())
    if confirm is not None and confirm == drift.old_hash:
        return Verdict(replace(drift, confirmed=True), None, ensure=True)
    if waive is not None and waive == drift.old_hash:
        note = "the drift is waived: no retypes and no new watermark this time"
        return Verdict(replace(drift, waived=True), WAIVED, ensure=True, notes=(note,))
    return Verdict(drift, UNCONFIRMED, ensure=True, notes=(drift.unanswered(confirm or waive),))


def report_of(situation: Situation, found: Survey, plan: Plan, verdict: Verdict) -> HealReport:
    """The read-only report: what the plan would do, with the reason it may not."""
    rows = situation.manifests.rows.values()
    tier_fact = situation.manifests.tier_fact
    return HealReport(
        applied=False,
        drift=verdict.drift,
        incidental_off_manifests=sum(1 for r in rows if r.mode == "off"),
        unmarked_tier_fact=tier_fact is None or not tier_fact.readable or not tier_fact.strict,
        retyped=found.counts[Disposition.RETYPE],
        recased=found.counts[Disposition.RECASE],
        legalized=plan.legalized,
        queued=plan.queued,
        report_only=plan.report_only,
        shielded=plan.shielded,
        kept=plan.kept,
        held=plan.held,
        edges=len(plan.edge_changes),
        merged=len(plan.merges),
        skipped_reason=verdict.skipped,
        okf_migration_diagnostic=situation.okf_diagnostic,
        unusable_manifests=situation.unusable,
        notes=(*verdict.notes, *plan.notes),
    )


def applied_report(report: HealReport, receipt: Receipt | None) -> HealReport:
    """The report after writing: what was really written takes the place of what would be."""
    if receipt is None:
        return replace(report, applied=True, retyped=0, recased=0, legalized=(), edges=0, merged=0)
    return replace(
        report,
        applied=True,
        retyped=receipt.retyped,
        recased=receipt.recased,
        legalized=receipt.legalized,
        edges=receipt.edges,
        merged=receipt.merged,
        conflicts=len(receipt.conflicts),
        error=report.error or (HALTED.format(receipt.halted) if receipt.halted else None),
        run=receipt.run,
        stopped=receipt.stopped,
        receipt=receipt,
    )


def marks(watermark_hash: str, now_ms: int) -> tuple[tuple[str, str], ...]:
    """The marker and the watermark that close a whole heal, written in one transaction; stamps in ms.

    The hash is that of the policy that the plan was made under: what changed since was seen by nobody.
    """
    watermark = json.dumps({"hash": watermark_hash, "stamped_at": now_ms}, separators=(",", ":"))
    return ((REMAP_MARKER, str(now_ms)), (WATERMARK, watermark))
