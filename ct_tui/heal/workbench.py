"""The workbench: one brain with its policy, rulings and runs; the core that both faces share.

Every method may be called from any thread. What is shown comes from one `View`, read in one snapshot and kept while
nothing moved: neither the brain (SQLite's data_version), nor config.json, the rulings, or the trusted signers.
"""

from __future__ import annotations

import contextlib
import datetime as dt
import threading
import time
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

from ct_tui.brain import own, readers
from ct_tui.brain.connection import Brain
from ct_tui.brain.watch import Change, Watch
from ct_tui.domain.census import Census, RawText, Tally, TypeCount, census, display, with_tallies
from ct_tui.domain.errors import BadInput, BrainBusy, BrainError, CtTuiError, NothingFound, PolicyError
from ct_tui.domain.ladder import Ladder
from ct_tui.domain.lint.model import Kind as FocusKind
from ct_tui.domain.lint.report import KEPT_PER_RULE, Exceptions, finding_items
from ct_tui.domain.names import label_key
from ct_tui.domain.plan import Receipt
from ct_tui.domain.queue import ItemKind
from ct_tui.domain.rulings import GARBLED, Merge, dead_aliases
from ct_tui.heal import checks, duplicates, heal_pass, lint, plan_file, planner, views
from ct_tui.heal.apply import Applier, Closing
from ct_tui.heal.edge_desk import EdgeDesk
from ct_tui.heal.edge_queue import EdgeQuestions
from ct_tui.heal.edges import EdgeLens, undo_edge_changes
from ct_tui.heal.held import held_proposals
from ct_tui.heal.late_counts import LateCounts
from ct_tui.heal.policy_desk import PolicyDesk, make_change
from ct_tui.heal.review import build_queue
from ct_tui.heal.shields import shields
from ct_tui.heal.situation import Drift, Situation, read_situation
from ct_tui.heal.survey import Survey, quick_tally, survey
from ct_tui.heal.who import reviewer
from ct_tui.policy.load import load_policy

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence
    from pathlib import Path

    from ct_tui.brain.connection import Db
    from ct_tui.brain.readers import EntityRow
    from ct_tui.domain.assertions import Lookup, Relation
    from ct_tui.domain.duplicates import MergeReport
    from ct_tui.domain.history import HistoryRow, Ledger, RunRow
    from ct_tui.domain.lint.model import Focus
    from ct_tui.domain.lint.report import LintReport
    from ct_tui.domain.manifest import EdgeType, Vocabulary
    from ct_tui.domain.plan import EdgeEffect, Plan, Progress
    from ct_tui.domain.queue import EntityView, Impact, Queue, QueueItem
    from ct_tui.domain.rulings import Body, DeadAlias, Head, Ruling, RulingTable
    from ct_tui.heal.assertions import AssertionResult, Mints, Request
    from ct_tui.heal.duplicates import Board, Comparison
    from ct_tui.heal.edges import EdgeReport, ListedEdge
    from ct_tui.heal.heal_pass import HealReport
    from ct_tui.heal.held import ProposalVerdict
    from ct_tui.heal.ontology_set import SetResult
    from ct_tui.heal.policy_desk import PolicyChange
    from ct_tui.policy.paths import Places

Stamp = tuple[object, ...]

ROWS_OF_FINDINGS = frozenset({FocusKind.ENTITY, FocusKind.FACT, FocusKind.EDGE, FocusKind.MANIFEST})
"""What a finding can be about that is one row of one table."""

EXACT_UP_TO = 20_000
"""Live entities up to which the census fetches every row that it counts."""


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


@dataclass
class View:
    """Everything derived from one state of the brain, each part made when it is first asked for."""

    brain: Brain
    situation: Situation
    type_counts: list[tuple[RawText, int]]
    config: Path
    lock: threading.RLock = field(default_factory=threading.RLock)

    @cached_property
    def found(self) -> Survey:
        """The survey of all entities that heal has anything to say about."""
        with self.brain.snapshot() as db:
            return survey(db, self.situation)

    @cached_property
    def types_and_merges(self) -> Plan:
        """What heal would do now, but for the repairs of edges, which depend on it."""
        return _with_merges(self, planner.make_plan(self.situation, self.found))

    @cached_property
    def plan(self) -> Plan:
        """What heal would do now."""
        return _with_edges(self, self.types_and_merges)

    @cached_property
    def edges(self) -> EdgeLens:
        """The brain's edges, as they are and as the plan makes them."""
        return EdgeLens(self.brain, self.situation, lambda: self.types_and_merges)

    @cached_property
    def edge_questions(self) -> EdgeQuestions:
        """The violations that stay open, as questions."""
        return EdgeQuestions(self.edges)

    @cached_property
    def edge_desk(self) -> EdgeDesk:
        """The edges for a person to work on."""
        return EdgeDesk(self.edges, self.edge_questions)

    @cached_property
    def policy_desk(self) -> PolicyDesk:
        """The policy for a person to work on."""
        return PolicyDesk(self.brain, self.config, self.situation, lambda: self.found)

    @cached_property
    def census(self) -> Census:
        """The drift census with dispositions."""
        vocabulary = self.situation.state.manifests.vocabulary
        tallied = with_tallies(census(self.type_counts, vocabulary), self._tallies())
        return replace(tallied, types=tuple(self._targets(t) for t in tallied.types))

    @cached_property
    def queue(self) -> Queue:
        """The review queue."""
        with self.brain.snapshot() as db:
            held = self._held(db)
            extra = [
                *self.edge_questions.items(),
                *duplicates.queue_items(db, self.situation),
                *self._finding_items(db),
            ]
            return build_queue(db, self.situation, self.found, fits=self.edges.fits, held=held, extra=extra)

    @cached_property
    def first_queue(self) -> Queue:
        """The questions that the entities alone ask, without edges, duplicates and findings."""
        with self.brain.snapshot() as db:
            return build_queue(db, self.situation, self.found, fits=lambda _: {}, held=self._held(db))

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

    @cached_property
    def lint_report(self) -> LintReport:
        """What the curation rules find."""
        return lint.lint(self.brain, self.situation)

    def _finding_items(self, db: Db) -> tuple[QueueItem, ...]:
        """The findings as questions; of a large brain one question that says where to look."""
        if lint.automatic(db, self.situation):
            return finding_items(self.lint_report)
        return (lint.too_large_item(lint.row_count(db, self.situation)),)

    def _tallies(self) -> dict[RawText, Tally]:
        """The dispositions per type; of a large brain whose survey nobody needed yet, without fetching its rows."""
        if "found" in self.__dict__ or not self.large:
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


class Workbench:
    """One brain with its policy, its rulings and its runs."""

    def __init__(self, places: Places, *, read_only: bool = False, clock: Callable[[], float] = time.time) -> None:
        self.places = places
        self._clock = clock
        self._asked_read_only = read_only
        self._lock = threading.RLock()
        self._view: tuple[Stamp, View] | None = None
        self._open()

    def _open(self) -> None:
        brain = Brain(self.places.brain, read_only=self._asked_read_only)
        watch = Watch(brain)
        self.brain, self._watch = brain, watch
        self._late = LateCounts(brain)
        self._polled = self.stamp()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def close(self) -> None:
        """Let the counts and the writer finish and give the connections back; raises where a count failed."""
        try:
            self._late.wait()
        finally:
            self._watch.close()
            self.brain.close()

    @property
    def read_only(self) -> bool:
        """Whether nothing will be written: asked for, or the file cannot be written."""
        return self.brain.read_only

    @property
    def write_refusal(self) -> str:
        """Why nothing may be written, or an empty text."""
        return self.brain.write_refusal

    # Noticing others

    def stamp(self) -> Stamp:
        """A value that changes whenever anything that decides could have changed."""
        from ct_tui.trust.paths import allowed_signers_path, revoked_keys_path

        user = self.places.user_dir
        files = (self.places.config, self.places.rulings, allowed_signers_path(user), revoked_keys_path(user))
        return (self._watch.version(), *(_file_stamp(f) for f in files))

    def poll(self) -> Change:
        """What happened since the last call; a replaced brain is opened again."""
        change = self._watch.poll()
        if change is Change.REPLACED:
            with self._lock:
                watch, brain, late = self._watch, self.brain, self._late
                # Where the new file is no brain this raises, the old connections stay, and the next look tries again.
                self._open()
                self._view = None
                with contextlib.suppress(BrainError):  # what it counted belongs to a file that is gone
                    late.wait()
                watch.close()
                brain.close()
            return change
        if change is Change.GONE:
            return change
        stamp = self.stamp()
        if stamp == self._polled:
            return Change.SAME
        self._polled = stamp
        return Change.CHANGED

    def view(self) -> View:
        """The present view, read again only when something moved."""
        with self._lock:
            stamp = self.stamp()
            day = int(self._clock()) // 86_400
            if self._view is not None and self._view[0] == (*stamp, day):
                return self._view[1]
            view = self._read_view()
            self._view = ((*stamp, day), view)
            return view

    def _read_view(self) -> View:
        self.brain.refresh_schema()
        policy = load_policy(self.places.config)
        with self.brain.snapshot() as db:
            table = self._verify(readers.head_seen(db, self.brain.schema))
            situation = read_situation(self.brain, db, policy, table, self._clock())
            return View(self.brain, situation, readers.type_counts(db, self.brain.schema), self.places.config)

    def _verify(self, seen: Head) -> RulingTable:
        from ct_tui.trust.signers import load_signers
        from ct_tui.trust.verify import verify_table

        moment = dt.datetime.fromtimestamp(self._clock(), dt.UTC)
        table = verify_table(self.places.rulings, load_signers(self.places.user_dir), seen, moment)
        if seen is not GARBLED:
            return table
        problem = "what the brain remembers of the table of rulings (rulings_head in ct_tui_state) cannot be read"
        return replace(table, distrust=problem)

    # Reading

    def census(self, *, ids: bool = False) -> CensusReport:
        """The drift census; with `ids` every row lists its entities."""
        view = self.view()
        table = view.situation.table
        found: Census = view.part("census")
        if ids:
            with self.brain.reading() as db:
                schema = self.brain.schema
                rows = tuple(replace(t, ids=tuple(readers.ids_of_type(db, schema, t.raw))) for t in found.types)
            found = replace(found, types=rows)
        return CensusReport(
            self.brain.name,
            self.brain.schema.version,
            found,
            view.situation.drift,
            sum(1 for e in table.entries if e.valid) if table.trusted else 0,
            len(table.problems()),
            view.situation.degraded,
            table.distrust,
        )

    def queue(self, *, first: bool = False) -> Queue:
        """The review queue; of a large brain, `first` gives what can be shown before edges and names are read."""
        view = self.view()
        found: Queue = view.part("first_queue" if first and view.large else "queue")
        return found

    @property
    def large(self) -> bool:
        """Whether the whole queue takes long enough to ask for the first part of it before."""
        return self.view().large

    def item(self, item_id: str) -> QueueItem:
        """One open question; raises NothingFound."""
        found = self.queue().get(item_id)
        if found is None:
            raise NothingFound(f"there is no open question {item_id!r}", "list them with: ct-tui queue")
        return found

    def entity(self, entity_id: str) -> EntityView:
        """One entity with its evidence; a merged-away id leads to its survivor; raises NothingFound."""
        view = self.view()
        with self.brain.reading() as db:
            found = views.entity_view(db, self.brain.schema, entity_id, view.edges.views)
            return replace(found, shielded=shields(db, view.situation, {found.id}).get(found.id, ""))

    def raw_row(self, entity_id: str) -> tuple[tuple[str, RawText], ...]:
        """An entity's row exactly as the brain holds it, column by column; raises NothingFound."""
        with self.brain.reading() as db:
            row = readers.raw_entity(db, entity_id)
        if not row:
            raise NothingFound(f"there is no entity {entity_id!r}", "it may have been removed meanwhile")
        return row

    def names(self, ids: Sequence[str]) -> dict[str, tuple[str, str]]:
        """Name and type of entities by id; an id that leads nowhere is left out."""
        with self.brain.reading() as db:
            return readers.names_of(db, ids)

    def entities_of(self, item: QueueItem, offset: int = 0, limit: int = 200) -> tuple[EntityView, ...]:
        """The entities that a question covers, without their evidence."""
        return self.entities_by_ids(item.entities[offset : offset + limit])

    def entities_by_type(self, raw_type: RawText, *, after: str = "", limit: int = 500) -> tuple[EntityView, ...]:
        """One page of the live entities of a type, in id order."""
        situation = self.view().situation
        with self.brain.reading() as db:
            return _light(db, situation, readers.page_of_type(db, self.brain.schema, raw_type, after, limit))

    def entities_by_ids(self, ids: Sequence[str]) -> tuple[EntityView, ...]:
        """Some live entities in the order of their ids as given; those that are gone are left out."""
        situation = self.view().situation
        with self.brain.reading() as db:
            rows = {r.id: r for r in readers.live_by_ids(db, self.brain.schema, ids)}
            return _light(db, situation, [rows[i] for i in ids if i in rows])

    def search(self, text: str, limit: int = 50) -> tuple[EntityView, ...]:
        """Live entities by id or by a part of the name."""
        situation = self.view().situation
        with self.brain.reading() as db:
            return _light(db, situation, readers.search(db, self.brain.schema, text, limit))

    def why(self, entity_id: str) -> tuple[str, ...]:
        """The ladder's way to its decision for one entity, step by step; raises NothingFound."""
        from ct_tui.brain.sources import ledger_paths, sources_of

        situation = self.view().situation
        with self.brain.reading() as db:
            row, _ = views.resolve(db, self.brain.schema, entity_id)
            owner = display(row.id)
            ledger = ledger_paths(situation.state.origins, situation.redirects)
            sources = sources_of(db, self.brain.schema, {owner}, situation.redirects, ledger).of(owner)
        decision = situation.ladder.decide(owner, sources.ladder_paths)
        return tuple(f"rung {step.rung}: {step.why}" for step in decision.trace)

    def ledger(self, entity_id: str) -> Ledger:
        """The type-origin history of an entity; raises NothingFound."""
        with self.brain.reading() as db:
            return views.ledger(db, self.brain.refresh_schema(), entity_id)

    def history(
        self,
        *,
        ruling: int | None = None,
        reason: str | None = None,
        run: int | None = None,
        limit: int = 500,
        before: int | None = None,
    ) -> tuple[HistoryRow, ...]:
        """Type changes, newest first; `before` is the row id to go on from."""
        with self.brain.reading() as db:
            schema = self.brain.refresh_schema()
            return readers.history(db, schema, ruling=ruling, reason=reason, run=run, limit=limit, before=before)

    def runs(self) -> tuple[RunRow, ...]:
        """All runs, newest first."""
        with self.brain.reading() as db:
            return readers.runs(db, self.brain.refresh_schema())

    def table(self) -> RulingTable:
        """The verified rulings."""
        return self.view().situation.table

    def dead_aliases(self) -> tuple[DeadAlias, ...]:
        """Valid aliases that cannot act."""
        situation = self.view().situation
        return dead_aliases(situation.table, situation.state.manifests.vocabulary)

    def vocabulary(self) -> Vocabulary:
        """tier_fact's vocabulary with the signed legalisations."""
        return self.view().situation.vocabulary

    # Edges

    def edges(self, *, list_: bool = False, after_plan: bool = False) -> EdgeReport:
        """Edge conformance now or as if the plan had run; with `list_` every violating edge by itself."""
        return self.view().edges.report(list_=list_, after_plan=after_plan)

    @property
    def edge_desk(self) -> EdgeDesk:
        """The matrix, its edges and their repairs, as the brain is now."""
        return self.view().edge_desk

    @property
    def policy_desk(self) -> PolicyDesk:
        """The policy, what each part of it decides, and what a change would do, as things are now."""
        return self.view().policy_desk

    def set_policy(self, change: PolicyChange) -> SetResult:
        """Check and write one change of the policy; where a check fails a CtTuiError is raised and nothing written."""
        return make_change(self.brain, self.places.config, change)

    def edges_of(self, item: QueueItem, *, after: int = 0, limit: int = 200) -> tuple[ListedEdge, ...]:
        """A page of the edges that a question is about; `after` is the rowid of the last one seen."""
        return self.view().edge_questions.edges(item, after=after, limit=limit)

    def edges_in(
        self, edge_type: str, source_type: str | None, target_type: str | None, *, after: int = 0, limit: int = 200
    ) -> tuple[ListedEdge, ...]:
        """A page of the edges of one cell of the matrix as it is now; `after` is the rowid of the last one seen."""
        return self.view().edges.cell(edge_type, source_type, target_type, after=after, limit=limit)

    def signatures(self, label: str) -> tuple[tuple[EdgeType, int], ...]:
        """The edge signatures that a type could join once it is declared, with the edges that each mends."""
        return self.view().edges.signatures(label)

    def flows(self) -> dict[tuple[str, str], EdgeEffect]:
        """For each from → to of the plan, what it does to edges."""
        return self.view().edges.flows

    # Ruling

    def check(self, body: Body, supersedes: int | None = None) -> None:
        """Raise BadInput where a ruling could not act or contradicts one in force."""
        view = self.view()
        with self.brain.reading() as db:
            checks.check_rulings(db, view.situation, [body], supersedes)

    def retypes(self, to: str, entities: Sequence[str]) -> tuple[Body, ...]:
        """The retype bodies for some entities, one for each present type; raises BadInput for an unknown id."""
        view = self.view()
        with self.brain.reading() as db:
            return checks.retypes_of(db, view.situation, to, entities)

    def impact(self, body: Body) -> Impact:
        """What a ruling would do before anybody signs it."""
        view = self.view()
        if isinstance(body, Merge):
            with self.brain.snapshot() as db:
                return _edge_impact(view, body, duplicates.merge_impact(db, view.situation, body))
        return _edge_impact(view, body, checks.impact_of(view.situation, view.found, body))

    def rule(
        self,
        body: Body,
        reason: str,
        *,
        key: Path | None = None,
        principal: str | None = None,
        passphrase: Callable[[str], str] | None = None,
        supersedes: int | None = None,
    ) -> Ruling:
        """Check a ruling, sign it, append it to the table, and let the brain remember the table's head."""
        drafts = [(body, reason)]
        return self.rule_all(drafts, key=key, principal=principal, passphrase=passphrase, supersedes=supersedes)[0]

    def settle(self, item: QueueItem, target: str) -> tuple[Body, ...]:
        """The rulings that answer a question with a declared type, to be signed together; raises BadInput.

        A question about edges is answered with one of its suggestions.
        """
        view = self.view()
        if item.kind is ItemKind.EDGE:
            return view.edge_questions.bodies(item, target)
        with self.brain.reading() as db:
            return checks.settlement(db, view.situation, view.found, item, target)

    def rule_all(
        self,
        drafts: Sequence[tuple[Body, str]],
        *,
        key: Path | None = None,
        principal: str | None = None,
        passphrase: Callable[[str], str] | None = None,
        supersedes: int | None = None,
    ) -> tuple[Ruling, ...]:
        """Check several rulings (body and reason) and sign them together: all of them, or none."""
        view = self.view()
        with self.brain.reading() as db:
            checks.check_rulings(db, view.situation, [body for body, _ in drafts], supersedes)
        return self._sign(drafts, key, principal, passphrase, supersedes)

    def proposals(self, file: Path) -> tuple[tuple[Body, str], ...]:
        """The unsigned proposals of a file, each with its own reason; raises TrustError."""
        from ct_tui.trust.proposals import read_proposals

        return tuple((p.body, p.reason) for p in read_proposals(file))

    def adopt(
        self,
        file: Path,
        only: Sequence[int] = (),
        extra_reason: str = "",
        *,
        key: Path | None = None,
        principal: str | None = None,
        passphrase: Callable[[str], str] | None = None,
    ) -> tuple[Ruling, ...]:
        """Sign the proposals of a file, all or those with the given numbers (from 1); all or none are signed."""
        proposals = self.proposals(file)
        wanted = list(only) or list(range(1, len(proposals) + 1))
        for number in wanted:
            if not 1 <= number <= len(proposals):
                raise BadInput(f"{file} has {len(proposals)} proposals, and no number {number}")
        drafts = [proposals[number - 1] for number in wanted]
        extra = f" {extra_reason.strip()}" if extra_reason.strip() else ""
        signed = [(body, reason + extra) for body, reason in drafts]
        return self.rule_all(signed, key=key, principal=principal, passphrase=passphrase)

    def _sign(
        self,
        drafts: Sequence[tuple[Body, str]],
        key: Path | None,
        principal: str | None,
        passphrase: Callable[[str], str] | None,
        supersedes: int | None,
    ) -> tuple[Ruling, ...]:
        from ct_tui.heal.signing import sign_all

        if self._asked_read_only:
            raise BrainError("nothing was signed: the brain is opened read-only", "open it without --read-only")
        with self.brain.reading() as db:
            seen = readers.head_seen(db, self.brain.refresh_schema())
        signed = sign_all(
            self.places,
            drafts,
            key=key,
            principal=principal,
            passphrase=passphrase,
            supersedes=supersedes,
            head_seen=seen,
            now=self._clock(),
        )
        # They are signed and stand in the table by now; a brain that is busy remembers the head with the next write.
        with contextlib.suppress(BrainBusy):
            self._remember_head()
        return signed

    def _remember_head(self) -> None:
        """Let the brain remember the head, so that a cut table is noticed; a read-only brain cannot."""
        head = self.table().head
        if not self.write_refusal and self.table().trusted:
            self.brain.write(lambda db: own.remember_head(db, head))

    # Healing

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
            undo = _with_edge_undo(view, db, planner.make_undo_plan(db, view.situation, run))
            undo = _with_merge_undo(view, db, undo)
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
        if not verdict.ensure or not plan.manifests:
            return None
        # Drift blocks the retypes alone: the manifests are ensured all the same, as the app does it.
        only = replace(plan, changes=(), edge_changes=(), merges=(), _digest=[])
        return self._run(only, self._closing_without_marks, by, progress, stop, backup=None)

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

    # Curating

    def lint(
        self,
        *,
        only: Collection[str] | None = None,
        keep: int | None = KEPT_PER_RULE,
        remember: bool = False,
        progress: Callable[[Progress], None] | None = None,
        stop: threading.Event | None = None,
    ) -> LintReport:
        """What the curation rules find, new or old since the last night; a rule that crashed says so.

        `only` names the rules to run, `keep` limits the findings of each that are kept (None keeps all). With
        `remember` this counts as a night of its own, for a brain that is too large to be linted at the end of a heal.
        """
        view = self.view()
        if only is None and keep == KEPT_PER_RULE and not remember and "lint_report" in view.__dict__:
            return view.lint_report
        pace = lint.Pace(progress=progress, stop=stop)
        report = lint.lint(self.brain, view.situation, only=lint.ALL if only is None else only, keep=keep, pace=pace)
        if remember:
            self.brain.require_writable()
            last = self.runs()
            lint.remember_night(self.brain, view.situation, last[0].id if last else 0, int(self._clock()))
        return report

    def lints_by_itself(self) -> bool:
        """Whether the brain is small enough to be linted without being asked, as the queue and every heal do."""
        view = self.view()
        with self.brain.reading() as db:
            return lint.automatic(db, view.situation)

    def reweigh(self, report: LintReport) -> LintReport:
        """A report of before against the exceptions in force now; the brain is not looked at again."""
        situation = self.view().situation
        return report.reweighed(Exceptions(situation.acting, situation.today))

    def raw_focus(self, focus: Focus) -> tuple[str, tuple[tuple[str, RawText], ...]]:
        """The table and the row that a finding is about, exactly as they stand; raises NothingFound.

        Only entities, facts, edges and manifests are rows; everything else has none.
        """
        from ct_tui.brain import curation

        if focus.kind not in ROWS_OF_FINDINGS:
            return "", ()
        with self.brain.reading() as db:
            table, row = curation.raw_row(db, self.brain.refresh_schema(), focus.kind.value, focus.id)
        if not row:
            raise NothingFound(f"there is no row {focus.id!r} in {table}", "it may have been removed meanwhile")
        return table, row

    def duplicates(
        self,
        *,
        apply: bool = False,
        confirm: str | None = None,
        waive: str | None = None,
        by: str = "",
        stop: threading.Event | None = None,
    ) -> MergeReport:
        """The app's merge of duplicates; without `apply` the report alone. Every merge is a run that can be undone."""
        asked = duplicates.Asked(apply, confirm, waive, by or reviewer())
        return duplicates.sweep(self.brain, self.view().situation, asked, self._clock, stop)

    def duplicate_groups(
        self,
        *,
        near: bool = True,
        progress: Callable[[Progress], None] | None = None,
        stop: threading.Event | None = None,
    ) -> Board:
        """Groups of one name and near pairs, each with what speaks for its members and the rulings to choose from."""
        view = self.view()
        with self.brain.snapshot() as db:
            return duplicates.board(db, view.situation, near=near, pace=lint.Pace(progress=progress, stop=stop))

    def reweigh_duplicates(self, board: Board) -> Board:
        """A board of before against the rulings in force now; the names are not compared again."""
        view = self.view()
        with self.brain.snapshot() as db:
            return duplicates.reweighed(db, view.situation, board)

    def compares_by_itself(self) -> bool:
        """Whether the brain is small enough for its names to be compared without being asked."""
        view = self.view()
        with self.brain.reading() as db:
            return duplicates.automatic(db, view.situation)

    def side_by_side(self, ids: Sequence[str]) -> Comparison:
        """Entities beside each other: facts, edges, sources, what they share, and the loops a merge would make."""
        view = self.view()
        with self.brain.snapshot() as db:
            return duplicates.compare(db, view.situation, tuple(self.entity(i) for i in dict.fromkeys(ids)))

    def merges(self, ids: Sequence[str] = (), limit: int = 500) -> tuple[dict[str, Any], ...]:
        """Merges as our history keeps them, newest first."""
        from ct_tui.brain import curation

        with self.brain.reading() as db:
            return curation.merge_history(db, self.brain.refresh_schema(), ids, limit)

    def look_up(self, name: str) -> Lookup:
        """What a name or an id means: one entity, an alias of one, or the candidates with reasons."""
        from ct_tui.heal import assertions

        view = self.view()
        with self.brain.snapshot() as db:
            return assertions.look_up_name(db, view.situation, name)

    def relations_between(self, source_type: str, target_type: str) -> tuple[Relation, ...]:
        """The declared relations whose signature fits two types, exact ones first."""
        from ct_tui.heal import assertions

        return assertions.relations_between(self.view().situation, source_type, target_type)

    def assert_fact(
        self, request: Request, *, apply: bool = False, mints: Mints | None = None, by: str = ""
    ) -> AssertionResult:
        """One fact-edge the guide's way; without `apply` what would be written, with every question and conflict.

        Raises BadInput for what the guide does not allow; `mints` lets new entities in through the write gate.
        """
        from ct_tui.heal import assertions

        view, now_ms = self.view(), int(self._clock() * 1000)
        with self.brain.snapshot() as db:
            planned = assertions.plan_assertion(db, view.situation, request, mints, now_ms)
        if not apply:
            return assertions.AssertionResult(planned)
        self.brain.require_writable()
        return assertions.write_assertion(
            self.brain, planned, mints=mints, answered=request.answered, by=by or reviewer(), now_ms=now_ms
        )

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


def _light(db: Db, situation: Situation, rows: Sequence[EntityRow]) -> tuple[EntityView, ...]:
    """Entities for a list, each with what shields it."""
    why = shields(db, situation, {r.id for r in rows if isinstance(r.id, str)})
    return tuple(replace(views.light_view(r), shielded=why.get(display(r.id), "")) for r in rows)


def _with_edges(view: View, plan: Plan) -> Plan:
    """The plan with what it does to edges."""
    repairs = view.edges.repairs
    return replace(plan, edge_changes=repairs.changes, notes=(*plan.notes, *repairs.notes), _digest=[])


def _with_edge_undo(view: View, db: Db, plan: Plan) -> Plan:
    """The undo plan with the run's edge repairs turned back."""
    if plan.undoes is None:
        return plan
    repairs = undo_edge_changes(db, view.situation, plan.undoes)
    return replace(plan, edge_changes=repairs.changes, notes=(*plan.notes, *repairs.notes), _digest=[])


def _with_merges(view: View, plan: Plan) -> Plan:
    """The plan with the merges that rulings in force still ask for."""
    if not view.situation.acting.merges:
        return plan
    with view.brain.snapshot() as db:
        changes, notes = duplicates.ruled_merges(db, view.situation)
    return replace(plan, merges=changes, notes=(*plan.notes, *notes), _digest=[])


def _with_merge_undo(view: View, db: Db, plan: Plan) -> Plan:
    """The undo plan with the run's merges taken back."""
    if plan.undoes is None:
        return plan
    changes, moved = duplicates.undo_merges(db, view.situation, plan.undoes)
    notes = (*plan.notes, *(f"changed since, left alone: {m}" for m in moved))
    return replace(plan, merges=changes, notes=notes, _digest=[])


def _edge_impact(view: View, body: Body, impact: Impact) -> Impact:
    effect, notes = view.edges.impact(body)
    return replace(
        impact,
        gained=effect.gained,
        broken=effect.broken,
        still_violating=effect.still_violating,
        notes=(*impact.notes, *notes),
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


def _file_stamp(path: Path) -> tuple[int, int, int] | None:
    try:
        stat = path.stat()
    except OSError:
        return None
    return stat.st_mtime_ns, stat.st_size, stat.st_ino
