"""Lint: runs the curation rules over a whole brain in a few streams, and remembers what a night found.

Every rule is watched on its own: one that crashes is reported as `rule-failed` and never as clean, and the others go
on. A rule whose table the brain lacks could not run either, and says so.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from ct_tui.brain import curation, readers
from ct_tui.domain.census import display
from ct_tui.domain.lint import compound, facts, names, rulings, types
from ct_tui.domain.lint.edges import EdgeVocabulary, edge_related_to, edge_type_undeclared
from ct_tui.domain.lint.registry import BY_ID
from ct_tui.domain.lint.report import KEPT_PER_RULE, Exceptions, Gatherer, LintReport, rule_failed
from ct_tui.domain.manifest import TIER_FACT
from ct_tui.domain.plan import Progress
from ct_tui.domain.rulings import Dead

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping

    from ct_tui.brain.connection import Brain, Db
    from ct_tui.domain.lint.model import EntityRow, Finding
    from ct_tui.domain.queue import QueueItem
    from ct_tui.heal.situation import Situation

AUTOMATIC_ROWS = 40_000
"""Entities, facts and edges together up to which the review queue and every heal lint by themselves."""

STEP = 2000
"""Rows between two looks at `stop` and two reports of progress."""

ALL = frozenset(BY_ID)

Row = TypeVar("Row")


@dataclass
class Pace:
    """Lets a long run be watched and stopped between rows."""

    total: int = 0
    progress: Callable[[Progress], None] | None = None
    stop: threading.Event | None = None
    done: int = field(default=0, init=False)
    stopped: bool = field(default=False, init=False)

    def rows(self, rows: Iterable[Row]) -> Iterator[Row]:
        """The rows, until they end or the run is stopped."""
        rows = iter(rows)
        while not self.stopped and (part := list(itertools.islice(rows, STEP))):
            yield from part
            self.done += len(part)
            self.stopped = self.stop is not None and self.stop.is_set()
            if self.progress is not None:
                self.progress(Progress(min(self.done, self.total), self.total))


class Linter:
    """One lint over one snapshot of a brain; `only` names the rules to run."""

    def __init__(self, db: Db, situation: Situation, *, only: Collection[str] = ALL, pace: Pace | None = None) -> None:
        self._db = db
        self._situation = situation
        self._schema = situation.schema
        self._only = frozenset(only) | {"rule-failed"}
        self._pace = pace or Pace()
        self.exceptions = Exceptions(situation.acting, situation.today)
        self.notes: list[str] = []

    def findings(self) -> Iterator[Finding]:
        """Everything the rules find, family by family; exceptions are not yet taken out."""
        yield from self._ruling_rules()
        yield from self._type_rules()
        yield from self._edge_rules()
        yield from self._fact_rules()
        yield from self._entity_rules()
        if self._pace.stopped:
            self.notes.append("stopped before the end: what was not looked at is not clean")

    def rows(self) -> int:
        """How many rows a whole run looks at, roughly."""
        return row_count(self._db, self._situation)

    # Rulings, manifests and types

    def _ruling_rules(self) -> Iterator[Finding]:
        s = self._situation
        declared = s.state.manifests.vocabulary
        for why in Dead:
            yield from self._guarded([why.value], partial(rulings.dead_rulings, why, s.table, declared))
        yield from self._guarded(["fallback-undeclared"], lambda: types.fallback_undeclared(s.state.manifests))

    def _type_rules(self) -> Iterator[Finding]:
        vocabulary = self._situation.vocabulary
        yield from self._guarded(["type-variant"], lambda: types.type_variant(self._types(), vocabulary))
        yield from self._guarded(["type-look-alike"], lambda: types.type_look_alike(self._types(), vocabulary))

    def _types(self) -> types.TypeCounts:
        return tuple(readers.type_counts(self._db, self._schema))

    # Edges

    def _edge_rules(self) -> Iterator[Finding]:
        rules = ["edge-type-undeclared", "edge-related-to", "fact-time-unit"]
        if not self._has("llm_wiki_edges", rules):
            yield from self._lacking("llm_wiki_edges", rules)
            return
        vocabulary = _edge_vocabulary(self._situation)
        if not vocabulary.closed:
            self.notes.append("no manifest declares edge types, so none of them is undeclared")
        yield from self._guarded(rules[:2], lambda: self._edges_by_type(vocabulary))
        yield from self._over(lambda: curation.odd_edge_times(self._db), {"fact-time-unit": facts.edge_time_units})

    def _edges_by_type(self, vocabulary: EdgeVocabulary) -> Iterator[Finding]:
        suspects = vocabulary.suspects(raw for raw, _ in curation.edge_types(self._db))
        yield from self._over(
            lambda: curation.edges_of_types(self._db, suspects),
            {
                "edge-type-undeclared": lambda edge: edge_type_undeclared(edge, vocabulary),
                "edge-related-to": lambda edge: edge_related_to(edge, vocabulary),
            },
        )

    # Facts

    def _fact_rules(self) -> Iterator[Finding]:
        checks: dict[str, Callable[..., Iterable[Finding]]] = {
            "fact-window-inverted": facts.window_inverted,
            "fact-start-is-write-time": facts.start_is_write_time,
            "fact-time-unit": facts.fact_time_units,
            "fact-confidence": facts.confidence,
            "fact-compound": compound.fact_compound,
        }
        if not self._has("llm_wiki_entries", [*checks, "fact-provenance"]):
            yield from self._lacking("llm_wiki_entries", [*checks, "fact-provenance"])
            return
        missing = next((t for t in ("documents", "chunks") if not self._schema.has(t)), None)
        if missing is not None:
            yield from self._lacking(missing, ["fact-provenance"])
        elif "fact-provenance" in self._only:
            yield from self._guarded(["fact-provenance"], lambda: self._add_provenance(checks))
        yield from self._over(lambda: curation.facts(self._db, self._schema), checks)

    def _add_provenance(self, checks: dict[str, Callable[..., Iterable[Finding]]]) -> tuple[Finding, ...]:
        """Add the rule that needs to know what sources there are; reading them may fail on its own."""
        checks["fact-provenance"] = facts.Provenance(curation.known_sources(self._db, self._schema))
        return ()

    # Entities and their names

    def _entity_rules(self) -> Iterator[Finding]:
        yield from self._over(
            lambda: curation.odd_entity_times(self._db, self._schema), {"fact-time-unit": facts.entity_time_units}
        )
        yield from self._guarded(["name-duplicate", "name-look-alike"], self._shared_names)
        yield from self._guarded(["name-near"], self._near_names)

    def _shared_names(self) -> Iterator[Finding]:
        keys = names.SharedKeys(curation.entity_count(self._db, self._schema))
        for row in self._named():
            keys.see(str(row.name))
        by_key: dict[str, list[EntityRow]] = {}
        by_look: dict[str, list[EntityRow]] = {}
        marked: list[EntityRow] = []
        for row in self._named():
            name = str(row.name)
            if (key := keys.key_of(name)) is not None:
                by_key.setdefault(key, []).append(row)
            if (look := keys.look_of(name)) is not None:
                by_look.setdefault(look, []).append(row)
            if names.signs_in(name):
                marked.append(row)
        apart = self.exceptions.apart
        doubles = [g for g in by_key.values() if len(g) > 1]
        alike = [g for g in by_look.values() if len({str(e.name) for e in g}) > 1]
        yield from self._guarded(
            ["name-duplicate"], lambda: (f for group in doubles for f in names.name_duplicates(group, apart))
        )
        yield from self._guarded(["name-look-alike"], lambda: names.name_look_alike(alike, marked))

    def _near_names(self) -> Iterator[Finding]:
        from ct_tui.domain.lint.model import EntityRow
        from ct_tui.domain.near import NearSearch

        search = NearSearch()
        count = curation.entity_count(self._db, self._schema)
        pairs = list(search.pairs(lambda: self._pace.rows(curation.named(self._db, self._schema)), count))
        rows = {n.id: EntityRow(n.id, n.name, n.type) for p in pairs for n in (p.one, p.other)}
        if search.crowded:
            self.notes.append(f"{search.crowded:,} crowded blocks of names were compared with neighbours only")
        yield from names.name_near(pairs, rows, self.exceptions.apart)

    def _named(self) -> Iterator[EntityRow]:
        rows = self._pace.rows(curation.entities(self._db, self._schema))
        return (row for row in rows if isinstance(row.name, str) and isinstance(row.id, str))

    # Watching over the rules

    def _has(self, table: str, rules: Iterable[str]) -> bool:
        return self._schema.has(table) or not self._only.intersection(rules)

    def _lacking(self, table: str, rules: Iterable[str]) -> Iterator[Finding]:
        return (rule_failed(r, f"the brain has no table {table}") for r in rules if r in self._only)

    def _guarded(self, rules: Collection[str], job: Callable[[], Iterable[Finding]]) -> Iterator[Finding]:
        """What a job finds for some rules; where it crashes, each of them is told as failed."""
        wanted = [r for r in rules if r in self._only]
        if not wanted:
            return
        try:
            for finding in job():
                if finding.rule in self._only:
                    yield finding
        except Exception as error:  # noqa: BLE001 - a rule's fault is a finding, and the other rules go on
            for rule in wanted:
                yield rule_failed(rule, _said(error))

    def _over(
        self, rows: Callable[[], Iterable[Row]], checks: Mapping[str, Callable[[Row], Iterable[Finding]]]
    ) -> Iterator[Finding]:
        """What several rules find in one stream; each is stopped by its own first crash, all by one of the stream."""
        active = [(rule, check) for rule, check in checks.items() if rule in self._only]
        if not active:
            return
        try:
            for row in self._pace.rows(rows()):
                for rule, check in active:
                    try:
                        yield from check(row)
                    except Exception as error:  # noqa: BLE001 - a rule's fault is a finding
                        active = [a for a in active if a[0] != rule]
                        yield rule_failed(rule, f"at {display(_id_of(row))}: {_said(error)}")
        except Exception as error:  # noqa: BLE001 - the stream's fault is every rule's
            for rule, _ in active:
                yield rule_failed(rule, _said(error))


def lint(
    brain: Brain,
    situation: Situation,
    *,
    only: Collection[str] = ALL,
    keep: int | None = KEPT_PER_RULE,
    pace: Pace | None = None,
) -> LintReport:
    """Lint a brain in one snapshot; `keep` limits the findings of each rule that are kept, None keeps all."""
    with brain.snapshot() as db:
        pace = pace or Pace()
        linter = Linter(db, situation, only=only, pace=pace)
        if pace.progress is not None:
            # Entities pass five times: twice for shared names, twice for near ones, once with the facts' owners.
            pace.total = row_count(db, situation) + 4 * curation.entity_count(db, situation.schema)
        before = curation.findings_before(db, situation.schema)
        gatherer = Gatherer(linter.exceptions, before, keep)
        for _ in gatherer.take(linter.findings()):
            pass
        return gatherer.report(remembered=len(before or ()), notes=linter.notes, stopped=pace.stopped)


def remember_night(brain: Brain, situation: Situation, run: int, at: int, pace: Pace | None = None) -> int:
    """Lint at the end of a heal run and remember what it found, so that the next night can tell new from old.

    Gives how many findings there are. Nothing is remembered of a run that was stopped.
    """
    pace = pace or Pace()
    with brain.snapshot() as db:
        linter = Linter(db, situation, pace=pace)
        # Nothing is written while the snapshot is open, and two numbers a finding fit into memory for any brain.
        taken = Gatherer(linter.exceptions, keep=0).take(linter.findings())
        found = [(finding.fingerprint, finding.rule) for finding in taken]
    if pace.stopped:
        return len(found)
    remember(brain, found, run, at)
    return len(found)


def remember(brain: Brain, findings: Iterable[tuple[int, str]], run: int, at: int) -> None:
    """Keep a night's findings by fingerprint and rule and forget those that are gone, in short transactions."""
    rows = iter(findings)
    while part := list(itertools.islice(rows, curation.FINDINGS_CHUNK)):
        brain.write(partial(curation.see_findings, findings=part, run=run, at=at))
    brain.write(partial(curation.close_findings, run=run))
    while brain.write(partial(curation.forget_findings, run=run)):
        pass


def row_count(db: Db, situation: Situation) -> int:
    """Entities, facts and edges together."""
    schema = situation.schema
    tables = [t for t in ("llm_wiki_entries", "llm_wiki_edges") if schema.has(t)]
    return curation.entity_count(db, schema) + sum(curation.table_count(db, t) for t in tables)


def automatic(db: Db, situation: Situation) -> bool:
    """Whether the brain is small enough to be linted without being asked."""
    return row_count(db, situation) <= AUTOMATIC_ROWS


def too_large_item(rows: int) -> QueueItem:
    """The question that stands for all findings of a brain too large to be linted without being asked."""
    from ct_tui.domain.queue import ItemKind, QueueItem

    return QueueItem(
        ItemKind.FINDING,
        "*",
        "rules not run here",
        0,
        (),
        (f"looking at {rows:,} rows takes a while, so the queue leaves it to the lint view",),
        ("open the lint view, or run: ct-tui lint",),
    )


def _edge_vocabulary(situation: Situation) -> EdgeVocabulary:
    """What is declared once the ensure has run; an entity's or partition's own strict row decides for it."""
    rows = situation.manifests.rows
    own_rows = {k: r.vocabulary for k, r in rows.items() if k != TIER_FACT and r.strict and r.vocabulary is not None}
    return EdgeVocabulary(situation.manifests.vocabulary, own_rows)


def _said(error: Exception) -> str:
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__


def _id_of(row: object) -> str:
    return str(getattr(row, "id", "an unknown row"))
