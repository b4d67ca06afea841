"""The survey: every live entity that heal has anything to say about, with its disposition and the reason.

One pass decides for the plan, the census and the queue alike. Entities of declared types that no rule singles out
are never fetched. Source of the order of tests: brain format 3.2, 3.7 and 7.5.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ct_tui.brain import readers
from ct_tui.brain.connection import NotUtf8
from ct_tui.brain.readers import EntityRow
from ct_tui.brain.sources import read_sources
from ct_tui.domain.census import Disposition, RawText, Tally, display, readable
from ct_tui.domain.changes import ChangeList, move_of
from ct_tui.domain.ladder import Decision, Verdict
from ct_tui.domain.names import is_blank, label_key
from ct_tui.domain.plan import ChangeKind, TypeChange

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ct_tui.brain.connection import Db
    from ct_tui.brain.sources import SourceIndex
    from ct_tui.domain.history import Origin
    from ct_tui.domain.manifest import Vocabulary
    from ct_tui.domain.rulings import Retype, Ruling
    from ct_tui.domain.sources import EntitySources
    from ct_tui.heal.situation import Situation


SAMPLE = 1_000
"""How many ids a group keeps; its count is always whole."""


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
    try:
        with db.utf8_only():
            return _survey(db, situation)
    except NotUtf8:
        return _survey(db, situation)


def _survey(db: Db, situation: Situation) -> Survey:
    found = Survey()
    counts = readers.type_counts(db, situation.schema)
    sources = read_sources(db, situation.schema, situation.policy, situation.redirects, situation.state)
    judge = Judge(situation, sources)
    _Pass(found, judge, sources).run(_rows(db, situation, counts, judge))
    return found


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

Row = tuple[int, RawText, RawText, RawText]
"""A streamed entity: rowid, id, name, type."""


def _rows(db: Db, situation: Situation, counts: list[tuple[RawText, int]], judge: Judge) -> Iterator[Row]:
    """Each entity once: those of suspicious types, then those that something singles out."""
    schema = situation.schema
    if judge.sources.whole_brain:
        # An unresolved source makes even a declared entity report-only, so nobody may be left out.
        yield from readers.all_live(db, schema)
        return
    vocabulary = situation.vocabulary
    suspicious = {raw for raw, _ in counts if not _plainly_declared(raw, vocabulary)}
    yield from readers.candidates(db, schema, suspicious)
    if None in suspicious:
        yield from readers.null_types(db, schema)
    for row in readers.live_by_ids(db, schema, judge.singled_out):
        if row.type not in suspicious:
            yield row.rowid, row.id, row.name, row.type


class _Pass:
    """Records judgements; entities that only their type and sources decide share one."""

    def __init__(self, found: Survey, judge: Judge, sources: SourceIndex) -> None:
        self._found = found
        self._judge = judge
        self._sources = sources
        self._alone = judge.singled_out
        self._changes = ChangeList()
        self._shared: dict[tuple[RawText, SourceClass], _Share] = {}
        # By the identity of the sources' record, which equal combinations share and the index keeps alive.
        self._classes: dict[int, SourceClass] = {}

    def run(self, rows: Iterator[Row]) -> None:
        """Judge the rows; a million of them are the reason why this loop does so little."""
        alone, shared, sources_of, changes = self._alone, self._shared, self._sources.of, self._changes
        classes = self._classes
        for rowid, entity, name, kind in rows:
            if type(entity) is not str or type(name) is not str or entity in alone or "\0" in entity or "\0" in name:
                self._record(EntityRow(rowid, entity, name, kind))
                continue
            sources = sources_of(entity)
            kept = classes.get(id(sources))
            if kept is None:
                kept = classes[id(sources)] = self._judge.source_class(sources)
            key = (kind, kept)
            share = shared.get(key)
            if share is None:
                share = shared[key] = self._share(EntityRow(rowid, entity, name, kind))
            share.count += 1
            if share.move is not None:
                changes.add(entity, name, share.move)
            elif share.group is not None and len(share.group.ids) < SAMPLE:
                share.group.ids.append(entity)
        for (kind, _), share in shared.items():
            self._settle(kind, share)
        self._found.changes = changes.whole()

    def _share(self, row: EntityRow) -> _Share:
        judged = self._judge.judge(row)
        move = None if judged.change is None else self._changes.number(move_of(judged.change))
        return _Share(judged, self._group(judged), move)

    def _settle(self, kind: RawText, share: _Share) -> None:
        self._count(kind, share.judged.disposition, share.count)
        if share.group is not None:
            share.group.count += share.count
            share.group.types[display(kind)] += share.count

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


@dataclass
class _Share:
    """One judgement that many entities share, how many there were, and the number of their change."""

    judged: Judged
    group: Group | None
    move: int | None
    count: int = 0


def _plainly_declared(raw: RawText, vocabulary: Vocabulary) -> bool:
    return isinstance(raw, str) and vocabulary.canonical(raw) == raw


class Judge:
    """Gives one entity its disposition; built once for a situation."""

    def __init__(self, situation: Situation, sources: SourceIndex) -> None:
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


def is_readable_label(raw: RawText) -> bool:
    """Whether a type can be ruled on: readable and not blank."""
    return readable(raw) and isinstance(raw, str) and not is_blank(raw)
