"""One state of a brain and everything derived from it, each part made when it is first asked for."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from ct_tui.brain import readers
from ct_tui.domain.census import Census, RawText, Tally, TypeCount, census, with_tallies
from ct_tui.domain.ladder import Ladder
from ct_tui.domain.lint.report import finding_items
from ct_tui.domain.names import label_key
from ct_tui.heal import duplicates, lint, planner
from ct_tui.heal.edge_desk import EdgeDesk
from ct_tui.heal.edge_queue import EdgeQuestions
from ct_tui.heal.edges import EdgeLens
from ct_tui.heal.held import held_proposals
from ct_tui.heal.kept import kept
from ct_tui.heal.policy_desk import PolicyDesk
from ct_tui.heal.review import build_queue
from ct_tui.heal.survey import Survey, quick_tally, survey

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from ct_tui.brain.connection import Brain, Db
    from ct_tui.domain.edges import Fit
    from ct_tui.domain.lint.report import LintReport
    from ct_tui.domain.plan import Plan
    from ct_tui.domain.queue import Queue, QueueItem
    from ct_tui.heal.held import ProposalVerdict
    from ct_tui.heal.situation import Situation

EXACT_UP_TO = 20_000
"""Live entities up to which the census fetches every row that it counts."""


@dataclass
class View:
    """Everything derived from one state of the brain, each part made when it is first asked for."""

    brain: Brain
    situation: Situation
    config: Path
    lock: threading.RLock = field(default_factory=threading.RLock)

    @kept
    def type_counts(self) -> list[tuple[RawText, int]]:
        """Live entities by type as it stands in the column."""
        with self.brain.snapshot() as db:
            return readers.type_counts(db, self.situation.schema)

    @kept
    def found(self) -> Survey:
        """The survey of all entities that heal has anything to say about."""
        with self.brain.snapshot() as db:
            return survey(db, self.situation)

    @kept
    def types_and_merges(self) -> Plan:
        """What heal would do now, but for the repairs of edges, which depend on it."""
        return _with_merges(self, planner.make_plan(self.situation, self.found))

    @kept
    def plan(self) -> Plan:
        """What heal would do now."""
        return _with_edges(self, self.types_and_merges)

    @kept
    def edges(self) -> EdgeLens:
        """The brain's edges, as they are and as the plan makes them."""
        return EdgeLens(self.brain, self.situation, lambda: self.types_and_merges, self.lock)

    @kept
    def edge_questions(self) -> EdgeQuestions:
        """The violations that stay open, as questions."""
        return EdgeQuestions(self.edges)

    @kept
    def edge_desk(self) -> EdgeDesk:
        """The edges for a person to work on."""
        return EdgeDesk(self.edges, self.edge_questions)

    @kept
    def policy_desk(self) -> PolicyDesk:
        """The policy for a person to work on."""
        return PolicyDesk(self.brain, self.config, self.situation, lambda: self.found)

    @kept
    def census(self) -> Census:
        """The drift census with dispositions."""
        vocabulary = self.situation.state.manifests.vocabulary
        tallied = with_tallies(census(self.type_counts, vocabulary), self._tallies())
        return replace(tallied, types=tuple(self._targets(t) for t in tallied.types))

    @kept
    def queue(self) -> Queue:
        """The review queue."""
        with self.brain.snapshot() as db:
            held = self._held(db)
            extra = [
                *self.edge_questions.items(),
                *duplicates.queue_items(db, self.situation),
                *self._finding_items(db),
            ]
            return build_queue(
                db, self.situation, self.found, self.type_counts, fits=self._fits(), held=held, extra=extra
            )

    @kept
    def first_queue(self) -> Queue:
        """The questions that the entities alone ask, without edges, duplicates and findings."""
        with self.brain.snapshot() as db:
            return build_queue(db, self.situation, self.found, self.type_counts, fits=lambda _: {}, held=self._held(db))

    @property
    def large(self) -> bool:
        """Whether reading edges and names takes long enough to show the first questions before."""
        return sum(count for _, count in self.type_counts) > EXACT_UP_TO

    def part(self, name: str) -> Any:
        """A part by name: at once where it is made already, else made while nobody else makes one."""
        if name in self.__dict__:
            return self.__dict__[name]
        with self.lock:
            return getattr(self, name)

    @kept
    def lint_report(self) -> LintReport:
        """What the curation rules find."""
        return lint.lint(self.brain, self.situation)

    def _fits(self) -> Callable[[str], Mapping[str, Fit]]:
        """What `EdgeLens.fits` says, for whoever looks later; it takes no lock: all that it reads is made here."""
        planned, then = self.edges.planned, self.edges.then
        planned.fit_by_type("", then)
        return lambda label: planned.fit_by_type(label, then)

    def _finding_items(self, db: Db) -> tuple[QueueItem, ...]:
        """The findings as questions; of a large brain one question that says where to look."""
        if lint.automatic(db, self.situation):
            return finding_items(self.lint_report)
        return (lint.too_large_item(lint.row_count(db, self.situation)),)

    def _tallies(self) -> dict[RawText, Tally]:
        """The dispositions per type; of a large brain whose survey nobody needed yet, without fetching its rows."""
        if "found" in self.__dict__ or not self.large or self.situation.policy.paths_matter:
            return self.found.tally()
        with self.brain.snapshot() as db:
            return quick_tally(db, self.situation, self.type_counts)

    def _targets(self, row: TypeCount) -> TypeCount:
        """The alias in force for a type, or the ruling that declares it."""
        acting = self.situation.acting
        if not row.drifts or not isinstance(row.raw, str):
            return row
        legalized = next((r.seq for r, b in acting.legalized if label_key(b.type) == label_key(row.raw)), None)
        alias = acting.alias_for(row.raw)
        if alias is None:
            return replace(row, legalized=legalized)
        target = self.situation.vocabulary.canonical(alias.to_type) or alias.to_type
        return replace(row, to=target, ruling=alias.ruling.seq, legalized=legalized)

    def _held(self, db: Db) -> tuple[ProposalVerdict, ...]:
        """Pending proposals that the gate holds; what heal would add counts only once it stands in the brain."""
        s = self.situation
        ladder = Ladder(s.policy.lookup, s.state.manifests, s.redirects, s.state.opt_outs)
        return held_proposals(db, s.schema, ladder, s.acting)


def _with_edges(view: View, plan: Plan) -> Plan:
    """The plan with what it does to edges."""
    repairs = view.edges.repairs
    return replace(plan, edge_changes=repairs.changes, notes=(*plan.notes, *repairs.notes), _digest=[])


def _with_merges(view: View, plan: Plan) -> Plan:
    """The plan with the merges that rulings in force still ask for."""
    if not view.situation.acting.merges:
        return plan
    with view.brain.snapshot() as db:
        changes, notes = duplicates.ruled_merges(db, view.situation)
    return replace(plan, merges=changes, notes=(*plan.notes, *notes), _digest=[])
