"""The part of the workbench that heals: plan, apply, undo, and the nightly pass."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ct_tui.brain import own, readers
from ct_tui.brain.backup import require_sound
from ct_tui.domain.errors import BadInput, BrainError, CtTuiError, PolicyError
from ct_tui.domain.plan import Receipt
from ct_tui.heal import duplicates, heal_pass, lint, plan_file, planner
from ct_tui.heal.apply import Applier, Closing
from ct_tui.heal.bench_ruling import Deciding
from ct_tui.heal.edges import EdgeLens, undo_edge_changes
from ct_tui.heal.who import reviewer

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable
    from pathlib import Path

    from ct_tui.brain.connection import Db
    from ct_tui.domain.plan import Plan, Progress
    from ct_tui.heal.heal_pass import HealReport
    from ct_tui.heal.view import View

MOST_NAMED = 5
"""Rulings that are named by their numbers in one sentence."""


class Healing(Deciding):
    """What is written into a brain by a plan."""

    def plan(self, *, effect: bool = False) -> Plan:
        """What heal would do now; writes nothing. With `effect` edges are counted for what it does to them."""
        view = self.view()
        with view.lock:
            return replace(view.plan, edges=view.edges.effect) if effect else view.plan

    def save_plan(self, plan: Plan, file: Path) -> None:
        """Write a plan to a file."""
        plan_file.save_plan(plan, file)

    def load_plan(self, file: Path) -> Plan:
        """Read a saved plan; raises BadInput."""
        return plan_file.load_plan(file)

    def undo_plan(self, run: int, *, effect: bool = False) -> Plan:
        """The inverse of a run; raises BadInput for an unknown one. `effect` counts what it does to edges."""
        view = self.view()
        with self.brain.snapshot() as db:
            merges, moved = duplicates.undo_merges(db, view.situation, run)
            undo = _with_edge_undo(view, db, planner.make_undo_plan(db, view.situation, run, merges))
            notes = (*undo.notes, *(f"changed since, left alone: {m}" for m in moved))
            undo = replace(undo, notes=notes, _digest=[])
            undo = _with_what_still_acts(view, db, undo)
            return replace(undo, edges=EdgeLens(self.brain, view.situation, lambda: undo).effect) if effect else undo

    def apply(
        self,
        plan: Plan,
        *,
        by: str = "",
        confirm: str | None = None,
        progress: Callable[[Progress], None] | None = None,
        stop: threading.Event | None = None,
        backup: bool | None = None,
    ) -> Receipt:
        """Apply a plan that still fits; raises StalePlan with what moved, or the reason why nothing may be written.

        The receipt of a plan that was applied before, and of which nothing is left, names no run.

        `confirm` is the watermark before a policy drift, which must be confirmed first. An undo needs no policy: it
        puts back what a run of ours wrote, and only where nobody wrote since.
        """
        self.brain.require_writable()
        if plan.undoes is not None:
            rest = self._fresh_undo(plan)
            if rest.empty and self._closed(plan):
                return Receipt(None)
            return self._run(rest, lambda: Closing(numbers=self._numbers()), by, progress, stop, backup=backup)
        view = self.view()
        verdict = heal_pass.judge_heal(view.situation, confirm, None)
        if verdict.skipped is not None:
            raise PolicyError(verdict.notes[0], "nothing was written")
        with view.lock:
            rest = planner.still_allowed(plan, view.plan, self._done_by(plan))
        if rest.empty and self._closed(plan):
            return Receipt(None)
        return self._run(rest, lambda: self._closing(plan), by, progress, stop, backup=backup)

    def heal(
        self,
        *,
        apply: bool,
        confirm: str | None = None,
        waive: str | None = None,
        by: str = "",
        progress: Callable[[Progress], None] | None = None,
        stop: threading.Event | None = None,
    ) -> HealReport:
        """The whole heal in the app's order; without `apply` the report alone, and nothing is written."""
        view = self.view()
        verdict = heal_pass.judge_heal(view.situation, confirm, waive)
        with view.lock:
            plan = view.plan
        report = heal_pass.report_of(view.situation, view.found, plan, verdict)
        if not apply:
            return report
        try:
            self.brain.require_writable()
            receipt = self._heal(plan, verdict, by, progress, stop)
        except CtTuiError as error:
            written = error.receipt if isinstance(error, BrainError) else None
            return replace(heal_pass.applied_report(report, written), error=error.message)
        done = heal_pass.applied_report(report, receipt)
        return replace(done, notes=(*done.notes, *self._remember_findings(receipt)))

    def _remember_findings(self, receipt: Receipt | None) -> tuple[str, ...]:
        """Let the next night tell new findings from old ones; of a large brain only `lint` with `remember` does.

        The heal is done by then, so a fault here is a note and takes nothing back.
        """
        if receipt is None or receipt.run is None or receipt.stopped:
            return ()
        view = self.view()
        try:
            with self.brain.reading() as db:
                small = lint.automatic(db, view.situation)
            if small:
                lint.remember_night(self.brain, view.situation, receipt.run, int(self._clock()))
        except CtTuiError as error:
            return (f"the night's findings were not remembered: {error.message}",)
        return ()

    def _heal(
        self,
        plan: Plan,
        verdict: heal_pass.Verdict,
        by: str,
        progress: Callable[[Progress], None] | None,
        stop: threading.Event | None,
    ) -> Receipt | None:
        if verdict.skipped is None:
            return self._run(plan, lambda: self._closing(plan), by, progress, stop, backup=None)
        if not verdict.ensure:
            return None
        if not plan.manifests:
            self._remember_complete_manifests()
            return None
        # Drift blocks the retypes alone: the manifests are ensured all the same, as the app does it.
        only = replace(plan, changes=(), edge_changes=(), merges=(), _digest=[])
        return self._run(only, self._closing_without_marks, by, progress, stop, backup=None)

    def _remember_complete_manifests(self) -> None:
        """Note which manifests the ensure found complete, where it has nothing to write and no run is made for it."""
        memos, at = self.view().situation.memos, int(self._clock())
        if memos and self.brain.schema.has("manifest_ensure_memo"):
            self.brain.write(lambda db: own.put_memos(db, memos, at))

    def _run(
        self,
        plan: Plan,
        closing: Callable[[], Closing],
        by: str,
        progress: Callable[[Progress], None] | None,
        stop: threading.Event | None,
        *,
        backup: bool | None,
    ) -> Receipt:
        require_sound(self.brain)
        self._remember_head()
        applier = Applier(self.brain, plan, by=by or reviewer(), now=self._clock, progress=progress, stop=stop)
        receipt = applier.run(backup=backup, closing=closing)
        if receipt.run is not None and not receipt.stopped:
            self._late.start(receipt.run, self._count_edges)
        return receipt

    def _count_edges(self) -> dict[str, int]:
        """The conformance counts of this moment, for the trend."""
        return self.view().edges.numbers()

    def _closing_without_marks(self) -> Closing:
        """What a heal records that policy drift stopped after the manifests."""
        return Closing(memos=self.view().situation.memos, numbers=self._numbers())

    def _closing(self, plan: Plan) -> Closing:
        """What a whole heal records: the queue that is left, the marks, and the night's numbers."""
        view = self.view()
        marks = heal_pass.marks(plan.binding.policy, int(self._clock() * 1000))
        with view.lock:
            return Closing(view.plan.queued, marks, view.situation.memos, self._numbers())

    def _numbers(self) -> dict[str, Any]:
        """The numbers of one night, for the trend; the edges follow once they are counted."""
        view = self.view()
        found = view.census
        return {
            "live": found.live,
            "undeclared_entities": found.undeclared_entities,
            "undeclared_types": found.undeclared_types,
            "declared_types": found.declared_types,
        }

    def _done_by(self, plan: Plan) -> frozenset[str]:
        """What a stopped run of this very plan has written already."""
        with self.brain.reading() as db:
            return planner.done_by(db, self.brain.refresh_schema(), plan)

    def _closed(self, plan: Plan) -> bool:
        """Whether a run of this very plan came to its end, so that there is nothing to close either."""
        with self.brain.reading() as db:
            return planner.closed_by(db, self.brain.refresh_schema(), plan)

    def _fresh_undo(self, plan: Plan) -> Plan:
        if plan.undoes is None:
            raise BadInput("this plan undoes no run")
        done = self._done_by(plan)
        rest = planner.still_allowed(plan, self.undo_plan(plan.undoes), done)
        if rest.empty and not done:
            raise BadInput(
                f"nothing of run {plan.undoes} is left to undo", "see what became of it with: ct-tui runs", plan.notes
            )
        return rest


def _with_edge_undo(view: View, db: Db, plan: Plan) -> Plan:
    """The undo plan with the run's edge repairs turned back."""
    if plan.undoes is None:
        return plan
    repairs = undo_edge_changes(db, view.situation, plan.undoes)
    return replace(plan, edge_changes=repairs.changes, notes=(*plan.notes, *repairs.notes), _digest=[])


def _with_what_still_acts(view: View, db: Db, plan: Plan) -> Plan:
    """The undo plan saying which of the rulings behind the run still act, since the next heal follows them again.

    A run that was an undo itself wrote against its rulings: what follows them is what undoing it brings back.
    """
    undone = readers.run_row(db, view.situation.schema, plan.undoes) if plan.undoes is not None else None
    if undone is None or undone.undoes is not None:
        return plan
    behind = {c.ruling for c in plan.changes} | {e.ruling for e in plan.edge_changes} | {m.ruling for m in plan.merges}
    acting = sorted(ruling.seq for ruling in view.situation.table.valid() if ruling.seq in behind)
    if not acting:
        return plan
    named = ", ".join(f"#{seq}" for seq in acting[:MOST_NAMED])
    more = f" and {len(acting) - MOST_NAMED} more" if len(acting) > MOST_NAMED else ""
    words = f"ruling {named} still acts" if len(acting) == 1 else f"rulings {named}{more} still act"
    note = f"{words}: the next heal writes this again unless {'it is' if len(acting) == 1 else 'they are'} revoked, too"
    return replace(plan, notes=(note, *plan.notes), _digest=[])
