"""The survey: every live entity that heal has anything to say about, with its disposition and the reason.

One pass decides for the plan, the census and the queue alike. Entities of declared types that no rule singles out
are never fetched. Source of the order of tests: brain format 3.2, 3.7 and 7.5.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from itertools import chain, islice, repeat
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from ct_tui.brain import readers
from ct_tui.brain.readers import EntityRow
from ct_tui.brain.shapes import UNRESOLVED, SourceShapes
from ct_tui.brain.sources import FACTS, SourceIndex, read_sources
from ct_tui.domain.census import Disposition, RawText, Tally, display, readable
from ct_tui.domain.changes import ChangeList, move_of
from ct_tui.domain.ladder import Decision, Verdict
from ct_tui.domain.names import is_blank, label_key
from ct_tui.domain.plan import ChangeKind, TypeChange

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from ct_tui.brain.connection import Db
    from ct_tui.domain.history import Origin
    from ct_tui.domain.manifest import Vocabulary
    from ct_tui.domain.rulings import Retype, Ruling
    from ct_tui.domain.sources import EntitySources
    from ct_tui.heal.situation import Situation


SAMPLE = 1_000
"""How many ids a group keeps; its count is always whole."""

BATCH = 2_000
"""Rows that are judged together."""

HELD_ROWS = 250_000
"""Rows that are held while the facts are read; beyond that they are read twice."""


@dataclass
class Group:
    """Entities that one question covers; `types` counts their present types."""

    label: str
    count: int = 0
    ids: list[str] = field(default_factory=list)
    why: str = ""
    decision: Decision | None = None
    types: Counter[str] = field(default_factory=Counter)

    def add(self, row: EntityRow) -> None:
        """Count one more entity."""
        self.count += 1
        self.types[display(row.type)] += 1
        if len(self.ids) < SAMPLE:
            self.ids.append(display(row.id))


@dataclass
class Survey:
    """What one pass found; `groups` by (slug, key), `tallies` by the type as it stands in the column."""

    changes: Sequence[TypeChange] = ()
    counts: Counter[Disposition] = field(default_factory=Counter)
    tallies: dict[RawText, Counter[Disposition]] = field(default_factory=dict)
    groups: dict[tuple[str, str], Group] = field(default_factory=dict)
    dead_retypes: list[tuple[Ruling, str, str]] = field(default_factory=list)

    def tally(self) -> dict[RawText, Tally]:
        """The dispositions per type, frozen."""
        return {raw: Tally(dict(counts)) for raw, counts in self.tallies.items()}


@dataclass(frozen=True)
class Judged:
    """The disposition of one entity, with the group that its question belongs to."""

    disposition: Disposition
    group: tuple[str, str] | None = None
    label: str = ""
    why: str = ""
    change: TypeChange | None = None
    decision: Decision | None = None


def survey(db: Db, situation: Situation) -> Survey:
    """Judge every live entity that may not be compliant, in one pass inside the caller's snapshot."""
    return db.decoded(lambda: _survey(db, situation))


def _survey(db: Db, situation: Situation) -> Survey:
    vocabulary, schema = situation.vocabulary, situation.schema
    declared = [name for name in vocabulary.names if _plainly_declared(name, vocabulary)]
    if situation.policy.has_off_folder and not schema.has(FACTS):
        # Anybody may have a source that is off where nobody can read which: no type is beyond suspicion.
        declared = []
    readers.want_nobody(db)
    rows = readers.suspicious(db, schema, declared)
    if situation.policy.paths_matter:
        held = _columns(islice(rows, HELD_ROWS))
        ids = chain(held[0], map(itemgetter(0), rows))
        sources = SourceShapes(db, schema, situation.policy, situation.redirects, situation.state, ids)
        whole = len(held[0]) < HELD_ROWS
        rows = zip(*held, strict=True) if whole else readers.suspicious(db, schema, declared)
        return _whole(db, situation, sources, rows)
    return _whole(db, situation, read_sources(db, schema, situation.policy, situation.redirects, situation.state), rows)


def _columns(rows: Iterator[Row]) -> tuple[list[Any], list[Any], list[RawText]]:
    """Ids, names and types of rows, side by side: they take less room than the rows, and equal types are one text."""
    ids: list[Any] = []
    names: list[Any] = []
    types: list[RawText] = []
    met: dict[RawText, RawText] = {}
    for entity, name, kind in rows:
        ids.append(entity)
        names.append(name)
        types.append(met.setdefault(kind, kind) if type(kind) is str else kind)
    return ids, names, types


def _whole(db: Db, situation: Situation, sources: Sources, rows: Iterator[Row]) -> Survey:
    """Judge the suspicious, then those of declared types that something singles out or whose source leads nowhere."""
    judge = Judge(situation, sources)
    work = _Pass(judge, sources)
    work.run(rows)
    readers.want(db, judge.singled_out)
    work.run(readers.wanted(db, situation.schema))
    return work.end()


def quick_tally(db: Db, situation: Situation, counts: list[tuple[RawText, int]]) -> dict[RawText, Tally]:
    """The dispositions per type without fetching the entities: one judgement a type, then what is singled out.

    A name that is no UTF-8 is only noticed when its row is fetched, so such a row counts with its type here.
    """
    sources = read_sources(db, situation.schema, situation.policy, situation.redirects, situation.state)
    if sources.found:
        return survey(db, situation).tally()
    judge = Judge(situation, sources)
    vocabulary = situation.vocabulary
    shared = {
        raw: judge.judge(_anybody(raw)).disposition for raw, _ in counts if not _plainly_declared(raw, vocabulary)
    }
    found = {raw: Counter({shared[raw]: count}) for raw, count in counts if raw in shared}
    alone = readers.live_by_ids(db, situation.schema, judge.singled_out)
    odd = readers.not_text(db, situation.schema)
    for row in {r.rowid: r for r in (*odd, *alone)}.values():
        tally = found.setdefault(row.type, Counter())
        if row.type in shared:
            tally[shared[row.type]] -= 1
        tally[judge.judge(row).disposition] += 1
    return {raw: Tally(dict(tally)) for raw, tally in found.items()}


def _anybody(raw: RawText) -> EntityRow:
    """An entity of a type that nothing singles out; its id is one that no program makes."""
    return EntityRow(0, "ct-tui:anybody", "anybody", raw)


SourceClass = tuple[object, ...]
"""What the sources of an entity amount to: entities of one type and one class have one disposition."""

Sources = SourceIndex | SourceShapes
"""Where the sources of entities come from: of few, or of the whole brain."""

Row = tuple[Any, Any, RawText]
"""A streamed entity: id, name, type."""


class _Pass:
    """Records judgements; entities that only their type and sources decide share one.

    A million rows are the reason why they are taken in batches, about which most questions are asked at once.
    """

    def __init__(self, judge: Judge, sources: Sources) -> None:
        self._found = Survey()
        self._judge = judge
        self._alone = judge.singled_out
        self._shapes = sources if isinstance(sources, SourceShapes) else None
        self._classes: dict[int, SourceClass] = {}
        self._changes = ChangeList()
        self._shares: dict[Key, _Share] = {}
        # Of the shares, those that change a type, by the number of the change, and those whose question lacks ids.
        self._moving: dict[Key, int] = {}
        self._asking: dict[Key, Group] = {}

    def run(self, rows: Iterator[Row]) -> None:
        """Judge some rows."""
        while batch := list(islice(rows, BATCH)):
            odd = self._odd(batch)
            self._look_up(batch[at][0] for at in odd if batch[at][0] in self._alone)
            start = 0
            for at in odd:
                self._take(batch[start:at])
                self._record(EntityRow(0, *batch[at]))
                start = at + 1
            self._take(batch[start:] if odd else batch)

    def end(self) -> Survey:
        """What was found in all of them."""
        for share in self._shares.values():
            self._count(share.kind, share.judged.disposition, share.count)
            if share.group is not None:
                share.group.count += share.count
                share.group.types[display(share.kind)] += share.count
        self._found.changes = self._changes.whole()
        return self._found

    def _odd(self, batch: list[Row]) -> list[int]:
        """The places of rows that have to be judged by themselves."""
        ids, names = [row[0] for row in batch], [row[1] for row in batch]
        if _plain(ids) and _plain(names) and self._alone.isdisjoint(ids):
            return []
        alone = self._alone
        return [at for at, (i, name, _) in enumerate(batch) if i in alone or not (readable(i) and readable(name))]

    def _take(self, batch: list[Row]) -> None:
        """Count rows in which nothing is odd."""
        if not batch:
            return
        ids: list[str] = [row[0] for row in batch]
        keys = list(zip([row[2] for row in batch], self._classes_of(ids), strict=True))
        counts = Counter(keys)
        if counts.keys() - self._shares.keys():
            self._meet(keys, batch)
        for key, count in counts.items():
            self._shares[key].count += count
        if not self._moving.keys().isdisjoint(counts):
            for key, (entity, name, _) in zip(keys, batch, strict=True):
                if key in self._moving:
                    self._changes.add(entity, name, self._moving[key])
        if self._asking:
            self._name(ids, keys)

    def _classes_of(self, ids: list[str]) -> list[SourceClass]:
        """What each entity's sources amount to: nothing where no source can matter."""
        if self._shapes is None:
            return [()] * len(ids)
        found = list(map(self._shapes.shapes.get, ids, repeat(UNRESOLVED)))
        for shape in set(found) - self._classes.keys():
            self._classes[shape] = self._judge.source_class(self._shapes.like(shape))
        return list(map(self._classes.__getitem__, found))

    def _meet(self, keys: list[Key], batch: list[Row]) -> None:
        """Judge the first entity of each new type and class for all that are like it."""
        first: dict[Key, Row] = {}
        for key, row in zip(keys, batch, strict=True):
            if key not in self._shares and key not in first:
                first[key] = row
        self._look_up(row[0] for row in first.values())
        for key, row in first.items():
            judged = self._judge.judge(EntityRow(0, *row))
            group = self._group(judged)
            self._shares[key] = _Share(row[2], judged, group)
            if judged.change is not None:
                self._moving[key] = self._changes.number(move_of(judged.change))
            elif group is not None:
                self._asking[key] = group

    def _name(self, ids: list[str], keys: list[Key]) -> None:
        """Let each question name its first entities."""
        asking = self._asking
        full = False
        for entity, key in zip(ids, keys, strict=True):
            group = asking.get(key)
            if group is not None:
                if len(group.ids) < SAMPLE:
                    group.ids.append(entity)
                full = full or len(group.ids) >= SAMPLE
        if full:
            self._asking = {key: group for key, group in asking.items() if len(group.ids) < SAMPLE}

    def _look_up(self, ids: Iterable[str]) -> None:
        """Read the sources of entities that are judged by themselves."""
        if self._shapes is not None:
            self._shapes.look_up(ids)

    def _record(self, row: EntityRow) -> None:
        """One entity that has to be judged by itself."""
        judged = self._judge.judge(row)
        self._count(row.type, judged.disposition, 1)
        if judged.change is not None:
            self._changes.append(judged.change)
        group = self._group(judged)
        if group is not None:
            group.add(row)

    def _count(self, kind: RawText, disposition: Disposition, count: int) -> None:
        self._found.counts[disposition] += count
        self._found.tallies.setdefault(kind, Counter())[disposition] += count

    def _group(self, judged: Judged) -> Group | None:
        if judged.group is None:
            return None
        groups = self._found.groups
        if judged.group not in groups:
            groups[judged.group] = Group(judged.label, why=judged.why, decision=judged.decision)
        return groups[judged.group]


Key = tuple[RawText, SourceClass]
"""What entities that share a judgement have in common."""


@dataclass
class _Share:
    """One judgement that many entities of a type share, and how many there were."""

    kind: RawText
    judged: Judged
    group: Group | None
    count: int = 0


def _plain(values: Sequence[Any]) -> bool:
    """Whether all values are readable text."""
    return set(map(type, values)) == {str} and "\0" not in "".join(values)


def _plainly_declared(raw: RawText, vocabulary: Vocabulary) -> bool:
    return isinstance(raw, str) and vocabulary.canonical(raw) == raw


class Judge:
    """Gives one entity its disposition; built once for a situation."""

    def __init__(self, situation: Situation, sources: Sources) -> None:
        self._situation = situation
        self._ladder = situation.ladder
        self.sources = sources
        self._retypes = _retypes_by_entity(situation)
        self._kept = situation.acting.kept_entities(situation.today)
        self._origins = situation.state.origins
        self._has_redirects = bool(situation.state.redirects)

    @property
    def singled_out(self) -> set[str]:
        """Ids whose disposition may differ from that of their type."""
        resolve = self._situation.redirects.resolve
        owners = {owner for owner in map(resolve, self._origins) if isinstance(owner, str)}
        return {*self._ladder.special, *self._retypes, *self._origins, *owners, *self._kept}

    def judge(self, row: EntityRow) -> Judged:
        """The disposition of one live entity."""
        if not row.readable:
            why = "its id, name or type is not readable text, so it is never written"
            return Judged(Disposition.UNREADABLE, ("row", "unreadable"), "unreadable rows", why)
        entity, label = str(row.id), str(row.type)
        origin = self.origin_of(entity)
        sources = self.sources.of(entity)
        if sources.report_only(self._situation.policy):
            why = "a source no longer resolves, and it may have lain in a folder that is off"
            return Judged(Disposition.REPORT_ONLY, ("shielded", "unresolved source"), "unresolved source", why)
        own = self._situation.manifests.get(entity)
        if own is not None and not own.readable:
            why = f"its own manifest row cannot be read: {own.error}"
            return Judged(Disposition.QUEUE, ("manifest", entity), entity, why)
        decision = self._ladder.decide(entity, sources.ladder_paths)
        if decision.verdict is not Verdict.GATE or decision.vocabulary is None:
            return self._ungated(label, decision)
        return self._gated(row, entity, label, decision, decision.vocabulary, origin, sources)

    def source_class(self, sources: EntitySources) -> SourceClass:
        """All that the sources of an entity that nothing singles out decide."""
        policy = self._situation.policy
        decision = self._ladder.decide("ct-tui:anybody", sources.ladder_paths)
        off = sources.off_path(policy.lookup) is not None
        return sources.report_only(policy), off, decision.verdict, decision.rung, decision.manifest, decision.hold

    def origin_of(self, entity: str) -> Origin | None:
        """The origin row that speaks for an entity: of its whole cluster, one that surfaces comes first."""
        if not self._has_redirects:
            return self._origins.get(entity)
        rows = [self._origins[i] for i in self._situation.redirects.cluster(entity) if i in self._origins]
        return next((row for row in rows if row.surfaces), rows[0] if rows else None)

    def _ungated(self, label: str, decision: Decision) -> Judged:
        drifting = label not in self._situation.vocabulary
        if decision.verdict is Verdict.HELD:
            if not drifting:
                return Judged(Disposition.COMPLIANT)
            return Judged(Disposition.HELD, ("held", decision.why), label, decision.why, decision=decision)
        if not drifting or is_blank(label):
            return Judged(Disposition.COMPLIANT)
        if decision.verdict is Verdict.OFF and decision.rung == "4":
            return Judged(Disposition.UNGATED)
        return Judged(Disposition.SHIELDED, ("shielded", label_key(label)), label, decision.why, decision=decision)

    def _gated(
        self,
        row: EntityRow,
        entity: str,
        label: str,
        decision: Decision,
        vocabulary: Vocabulary,
        origin: Origin | None,
        sources: EntitySources,
    ) -> Judged:
        off = sources.off_path(self._situation.policy.lookup)
        ruled = None if off else self._retype(row, entity, label, vocabulary)
        if ruled is not None:
            return ruled
        canonical = vocabulary.canonical(label)
        if canonical is not None:
            if canonical == label or off:
                return self._compliant(entity, label, origin)
            why = f"another spelling of the declared type {canonical}"
            return _changed(row, Disposition.RECASE, canonical, ChangeKind.RECASE, None, why)
        if is_blank(label):
            return self._queued(entity, label, ("blank", "blank"), "blank type", "its type is blank", decision)
        if origin is not None and origin.surfaces:
            return self._surfaced(entity, label, origin, decision)
        if off:
            why = f"a source lies in a folder that is off: {off}"
            return Judged(Disposition.SHIELDED, ("shielded", label_key(label)), label, why, decision=decision)
        alias = self._situation.acting.alias_for(label)
        target = vocabulary.canonical(alias.to_type) if alias is not None else None
        if alias is not None and target is not None:
            why = f"ruling #{alias.ruling.seq}: {alias.from_type} → {target}"
            return _changed(row, Disposition.RETYPE, target, ChangeKind.ALIAS, alias.ruling.seq, why)
        return self._queued(
            entity, label, ("type", label_key(label)), label, f"no manifest declares {label!r}", decision
        )

    def _compliant(self, entity: str, label: str, origin: Origin | None) -> Judged:
        """A declared type; a label that the gate degraded still waits for a ruling of its own."""
        original = origin.original_type if origin is not None and origin.reason == "degraded" else None
        if original is None or entity in self._kept or is_blank(original):
            return Judged(Disposition.COMPLIANT)
        situation = self._situation
        fallback = situation.vocabulary.fallback
        landed = fallback is not None and label_key(label) == label_key(fallback)
        if not landed or situation.acting.keeps_label(original, situation.today) is not None:
            return Judged(Disposition.COMPLIANT)
        why = f"the gate landed it as {label}, since nobody had declared {original!r}"
        return Judged(Disposition.COMPLIANT, ("degraded", label_key(original)), original, why)

    def _surfaced(self, entity: str, label: str, origin: Origin, decision: Decision) -> Judged:
        slug = {"degraded": "degraded", "unlabeled_landing": "unlabeled"}.get(origin.reason, "gate-skipped")
        why = f"the origin ledger says {origin.reason}, so it waits for a ruling on just these entities"
        return self._queued(entity, label, (slug, label_key(label)), label, why, decision)

    def _queued(
        self, entity: str, label: str, group: tuple[str, str], shown: str, why: str, decision: Decision
    ) -> Judged:
        situation = self._situation
        kept = entity in self._kept or situation.acting.keeps_label(label, situation.today) is not None
        if kept:
            return Judged(Disposition.KEPT)
        return Judged(Disposition.QUEUE, group, shown, why, decision=decision)

    def _retype(self, row: EntityRow, entity: str, label: str, vocabulary: Vocabulary) -> Judged | None:
        found = self._retypes.get(entity)
        if found is None:
            return None
        ruling, body = found
        target = vocabulary.canonical(body.to_type)
        if label_key(label) != label_key(body.from_type) or target is None or target == label:
            return None
        why = f"ruling #{ruling.seq} on this entity: {body.from_type} → {target}"
        return _changed(row, Disposition.RETYPE, target, ChangeKind.RETYPE, ruling.seq, why)


def _retypes_by_entity(situation: Situation) -> dict[str, tuple[Ruling, Retype]]:
    """The latest retype ruling on each entity, merged-away ids leading to their survivor."""
    found: dict[str, tuple[Ruling, Retype]] = {}
    for ruling, body in situation.acting.retypes:
        for entity in body.entities:
            owner = situation.redirects.resolve(entity)
            found[owner if isinstance(owner, str) else entity] = (ruling, body)
    return found


def _changed(
    row: EntityRow, disposition: Disposition, to: str, kind: ChangeKind, ruling: int | None, why: str
) -> Judged:
    change = TypeChange(str(row.id), display(row.name), str(row.type), to, kind, ruling, why)
    return Judged(disposition, change=change)
