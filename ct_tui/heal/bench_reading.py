"""The part of the workbench that reads: census, queue, entities, ledger, edges, policy."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from ct_tui.brain import readers
from ct_tui.domain.census import Census, CensusReport, RawText, display
from ct_tui.domain.errors import NothingFound
from ct_tui.domain.rulings import dead_aliases
from ct_tui.heal import views
from ct_tui.heal.bench import Bench
from ct_tui.heal.policy_desk import PolicyDesk, make_change
from ct_tui.heal.shields import shields

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ct_tui.brain.connection import Db
    from ct_tui.brain.edges import EdgeHistoryRow
    from ct_tui.brain.readers import EntityRow
    from ct_tui.domain.history import HistoryRow, Ledger, MergeStep, RunRow
    from ct_tui.domain.manifest import EdgeType, Vocabulary
    from ct_tui.domain.plan import EdgeEffect
    from ct_tui.domain.queue import EntityView, Queue, QueueItem
    from ct_tui.domain.rulings import DeadAlias, RulingTable
    from ct_tui.heal.edge_desk import EdgeDesk
    from ct_tui.heal.edges import EdgeReport, ListedEdge
    from ct_tui.heal.ontology_set import SetResult
    from ct_tui.heal.policy_desk import PolicyChange
    from ct_tui.heal.situation import Situation


@dataclass(frozen=True)
class RunWork:
    """What one run did, with the names of the entities that its edges and redirects join."""

    run: int
    changes: tuple[HistoryRow, ...]
    edges: tuple[EdgeHistoryRow, ...] = ()
    merges: tuple[MergeStep, ...] = ()
    names: Mapping[str, str] = field(default_factory=dict)


class Reading(Bench):
    """What is read of a brain."""

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
            table.problem_count,
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
        """The ladder's way to its decision for one entity, step by step; raises NothingFound.

        Sources that lead to the same step give it once.
        """
        from ct_tui.brain.sources import ledger_paths, sources_of

        situation = self.view().situation
        with self.brain.reading() as db:
            row, _ = views.resolve(db, self.brain.schema, entity_id)
            owner = display(row.id)
            ledger = ledger_paths(situation.state.origins, situation.redirects)
            sources = sources_of(db, self.brain.schema, {owner}, situation.redirects, ledger).of(owner)
        decision = situation.ladder.decide(owner, sources.ladder_paths)
        return tuple(dict.fromkeys(f"rung {step.rung}: {step.why}" for step in decision.trace))

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

    def run_work(self, run: int, limit: int = 500) -> RunWork:
        """What one run did to types, edges and redirects, newest first and up to a limit of each, with the names."""
        from ct_tui.brain.curation import merge_history
        from ct_tui.brain.edges import edge_history

        with self.brain.snapshot() as db:
            schema = self.brain.refresh_schema()
            changes = readers.history(db, schema, run=run, limit=limit)
            edges = tuple(edge_history(db, schema, run=run, limit=limit))
            merges = merge_history(db, schema, run=run, limit=limit)
            rows = [row for edge in edges for row in (edge.before, edge.after) if row is not None]
            ids = {i for row in rows for i in (row.source_id, row.target_id)}
            ids |= {i for step in merges for i in (step.loser, step.survivor, step.previous) if i is not None}
            names = {i: name for i, (name, _) in readers.names_of(db, sorted(ids)).items()}
        return RunWork(run, changes, edges, merges, names)

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


def _light(db: Db, situation: Situation, rows: Sequence[EntityRow]) -> tuple[EntityView, ...]:
    """Entities for a list, each with what shields it."""
    why = shields(db, situation, {r.id for r in rows if isinstance(r.id, str)})
    return tuple(replace(views.light_view(r), shielded=why.get(display(r.id), "")) for r in rows)
