"""The curation side of the brain: streams for the lint rules, duplicates with their redirects, assertions.

Readers give domain records; writers are jobs for the writer's one transaction. Times of redirects are seconds, those
of edges and assertions milliseconds.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from ct_tui.brain import models, own, sql
from ct_tui.brain import sql_curation as q
from ct_tui.brain.connection import NOT_TAKEN
from ct_tui.brain.readers import CHUNK, among, end_names, live, live_by_ids
from ct_tui.domain.assertions import Existing, NameRow, Window
from ct_tui.domain.census import display, readable
from ct_tui.domain.duplicates import Candidate, Compression, cycle_ids
from ct_tui.domain.errors import BrainError
from ct_tui.domain.history import MergeStep
from ct_tui.domain.lint.facts import MS_CEILING, MS_WRITTEN_FLOOR, S_CEILING, KnownSources
from ct_tui.domain.lint.model import EdgeRow, EntityRow, FactRow
from ct_tui.domain.near import Named
from ct_tui.domain.plan import Conflict, RedirectChange
from ct_tui.domain.redirects import Redirects
from ct_tui.domain.sources import Hashes, Plain, classify, classify_evidence

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from ct_tui.brain.connection import Db
    from ct_tui.brain.schema import Schema
    from ct_tui.domain.assertions import Assertion
    from ct_tui.domain.census import RawText
    from ct_tui.domain.duplicates import SelfLoop
    from ct_tui.domain.plan import Binding

# Streams for the rules


def entity_count(db: Db, schema: Schema) -> int:
    """How many live entities there are."""
    return int(db.scalar(live(db, schema, q.ENTITY_COUNT)))


def table_count(db: Db, table: str) -> int:
    """How many rows one of the engine's tables has, archived ones included."""
    return int(db.scalar(q.TABLE_COUNTS[table]))


def entities(db: Db, schema: Schema) -> Iterator[EntityRow]:
    """Every live entity."""
    columns = _columns(schema, "curated_entities", "e", ("created_at", "updated_at"))
    statement = live(db, schema, q.ENTITIES).replace("{columns}", columns)
    return map(EntityRow._make, db.stream(statement))


def odd_entity_times(db: Db, schema: Schema) -> Iterator[EntityRow]:
    """Live entities whose times are no seconds by their size."""
    if not {"created_at", "updated_at"} <= schema.columns("curated_entities"):
        return iter(())
    return map(EntityRow._make, db.stream(live(db, schema, q.ODD_ENTITY_TIMES), (S_CEILING, S_CEILING)))


def edge_types(db: Db) -> list[tuple[RawText, int]]:
    """The distinct edge types with how many edges bear each."""
    return [(raw, count) for raw, count in db.rows(q.EDGE_TYPES)]


def edges_of_types(db: Db, types: Iterable[RawText]) -> Iterator[EdgeRow]:
    """The edges that bear exactly these types; text that is not UTF-8 is compared byte by byte."""
    wanted = list(types)
    db.execute(sql.TYPES_TABLE)
    db.execute("DELETE FROM temp.ct_tui_types")
    db.executemany("INSERT OR IGNORE INTO temp.ct_tui_types VALUES (?)", ((t,) for t in wanted if t is not None))
    yield from map(EdgeRow._make, db.stream(q.EDGES_OF_TYPES))
    if any(t is None or isinstance(t, bytes) for t in wanted):
        yield from map(EdgeRow._make, db.stream(q.EDGES_OF_ODD_TYPES))


def odd_edge_times(db: Db) -> Iterator[EdgeRow]:
    """Edges whose created_at is no milliseconds by its size."""
    return map(EdgeRow._make, db.stream(q.ODD_EDGE_TIMES, (MS_WRITTEN_FLOOR, MS_CEILING)))


def facts(db: Db, schema: Schema) -> Iterator[FactRow]:
    """Every live fact with its owner's type and the librarian's evidence."""
    optional = ("updated_at", "valid_from", "valid_to", "okf_type")
    columns = _columns(schema, "llm_wiki_entries", "f", optional)
    evidence, joins = _evidence(schema)
    statement = q.FACTS.replace("{columns}", f"{columns}, {evidence}, e.entity_type").replace("{joins}", joins)
    return map(FactRow._make, db.stream(statement))


def known_sources(db: Db, schema: Schema) -> KnownSources:
    """What a source_ref of this brain can lead to."""
    chunks, documents = schema.has("chunks"), schema.has("documents")
    index = schema.has("llm_wiki_source_ref_index")
    return KnownSources(
        frozenset(r for (r,) in db.stream(q.CHUNK_HASHES)) if chunks else frozenset(),
        frozenset(r for (r,) in db.stream(q.CHUNK_IDS)) if chunks else frozenset(),
        frozenset(r for (r,) in db.stream(q.INDEXED_PATHS)) if documents else frozenset(),
        frozenset(r for (r,) in db.stream(q.ENGINE_REFS)) if index else frozenset(),
    )


def named(db: Db, schema: Schema) -> Iterator[Named]:
    """Id, name and type key of every live entity that can be read."""
    from ct_tui.domain.near import person_key

    for row in entities(db, schema):
        if isinstance(row.id, str) and isinstance(row.name, str) and readable(row.id) and readable(row.name):
            yield Named(row.id, row.name, person_key(row.type) if isinstance(row.type, str) else "")


def raw_row(db: Db, schema: Schema, kind: str, row_id: str) -> tuple[str, tuple[tuple[str, Any], ...]]:
    """The table of a row and the row exactly as it stands, as pairs of column and value; empty where there is none."""
    table, statement = q.RAW_ROWS[kind]
    if not schema.has(table):
        return table, ()
    cursor = db.connection.execute(statement, (row_id,))
    row = cursor.fetchone()
    return table, () if row is None else tuple(zip((c[0] for c in cursor.description), row, strict=True))


# The night's findings


def findings_before(db: Db, schema: Schema) -> frozenset[int] | None:
    """The fingerprints that the last night left, or None where no night was remembered."""
    if not schema.has("ct_tui_finding") or _finding_run(db, schema) is None:
        return None
    return frozenset(int(f) for (f,) in db.stream(q.FINDINGS))


def _finding_run(db: Db, schema: Schema) -> str | None:
    return own.get_state(db, FINDINGS_RUN) if schema.has("ct_tui_state") else None


FINDINGS_RUN = "findings_run"
"""The state key that holds the run whose findings are remembered."""

FINDINGS_CHUNK = 5000
"""How many findings one transaction remembers, so that no lock is held for long."""


def see_findings(db: Db, findings: Sequence[tuple[int, str]], run: int, at: int) -> None:
    """Remember some findings of a run, by fingerprint and rule; those that were known keep their first night."""
    own.create_tables(db)
    db.executemany(q.FINDING_SEEN, ((fingerprint, rule, run, at, run) for fingerprint, rule in findings))


def forget_findings(db: Db, run: int) -> int:
    """Forget some findings that a run no longer had; gives how many, 0 when all are gone."""
    return db.execute(q.FINDINGS_GONE, (run, FINDINGS_CHUNK))


def close_findings(db: Db, run: int) -> None:
    """Record that all findings of a run are remembered."""
    own.create_tables(db)
    own.put_state(db, FINDINGS_RUN, str(run))


# Duplicates


def candidates(db: Db, schema: Schema) -> Iterator[Candidate]:
    """Every live entity that was not merged away and can be read, as grouping needs it."""
    return _candidates(db.stream(live(db, schema, q.CANDIDATES)))


def candidates_by_id(db: Db, schema: Schema, ids: Iterable[str]) -> list[Candidate]:
    """Those of the given entities that still are candidates."""
    db.fill_ids(ids)
    return list(_candidates(db.stream(live(db, schema, q.CANDIDATES_BY_ID))))


def _candidates(rows: Iterable[tuple[Any, ...]]) -> Iterator[Candidate]:
    for row in rows:
        if all(isinstance(value, str) and readable(value) for value in row):
            yield Candidate._make(row)


def fill_members(db: Db, groups: Iterable[tuple[str, Sequence[str]]], redirects: Redirects | None = None) -> None:
    """Name the members of groups for the statements below; with `redirects` ids that lead to a member count as it."""
    db.execute(q.MEMBERS_TABLE)
    db.execute(q.MEMBERS_CLEAR)
    db.executemany(q.MEMBERS_FILL, _member_rows(groups, redirects))


def _member_rows(
    groups: Iterable[tuple[str, Sequence[str]]], redirects: Redirects | None
) -> Iterator[tuple[str, str, str]]:
    for group, members in groups:
        for member in members:
            for entity_id in redirects.cluster(member) if redirects is not None else (member,):
                yield entity_id, member, group


def self_loops(db: Db, schema: Schema) -> dict[str, tuple[SelfLoop, ...]]:
    """By group, the edges between two different members of it."""
    if not schema.has("llm_wiki_edges"):
        return {}
    found: dict[str, list[SelfLoop]] = {}
    for group, edge, source, target in db.stream(q.SELF_LOOPS):
        found.setdefault(group, []).append((display(edge), display(source), display(target)))
    return {group: tuple(loops) for group, loops in found.items()}


def fact_counts(db: Db, schema: Schema) -> dict[str, int]:
    """Live facts by member."""
    return dict(db.rows(q.MEMBER_FACTS)) if schema.has("llm_wiki_entries") else {}


def edge_counts(db: Db, schema: Schema) -> dict[str, int]:
    """Edges that begin or end at a member."""
    return dict(db.rows(q.MEMBER_EDGES)) if schema.has("llm_wiki_edges") else {}


def quotes(db: Db, schema: Schema) -> Iterator[tuple[str, str]]:
    """Passage and member for everything that the members' live facts quote."""
    if not schema.has("llm_wiki_entries"):
        return
    evidence, joins = _evidence(schema)
    for member, ref, stored in db.stream(q.MEMBER_REFS.replace("{columns}", evidence).replace("{joins}", joins)):
        found = classify(ref)
        if found is Plain.TOKEN:
            found = classify_evidence(stored)
        if isinstance(found, Hashes):
            for passage in found.values:
                yield passage, member


def redirect_rows(db: Db) -> dict[str, str]:
    """Every redirect, as it stands inside the caller's transaction."""
    return {a: b for a, b in db.rows(q.REDIRECTS) if isinstance(a, str) and isinstance(b, str)}


@dataclass(frozen=True)
class RedirectResult:
    """What one transaction wrote: new redirects, rewritten ones, and entities that had moved."""

    written: tuple[tuple[str, str], ...] = ()
    rewritten: tuple[tuple[str, str, str], ...] = ()
    cycles: tuple[str, ...] = ()
    conflicts: tuple[Conflict, ...] = ()


@dataclass
class RedirectLog:
    """Writes redirects of one run and keeps every one in our history."""

    db: Db
    run: int
    by: str
    at: int
    _rows: list[dict[str, Any]] = field(default_factory=list, init=False)

    def put(self, loser: str, survivor: str, ruling: int | None = None) -> None:
        """Redirect as the app does: whatever stood there is replaced. Raises BrainError where a trigger swallows it."""
        before = self.db.scalar(q.REDIRECT_OF, (loser,))
        self._require(self.db.execute(q.REDIRECT_PUT, (loser, survivor, self.at)), loser)
        self._note(loser, before, survivor, ruling)

    def change(self, change: RedirectChange) -> Conflict | None:
        """Make one planned change where the redirect still is what the plan saw, else give the conflict."""
        if change.before is None and change.after is not None:
            done = self.db.execute(q.REDIRECT_NEW, (change.entity, change.after, self.at))
        elif change.before is not None and change.after is None:
            done = self.db.execute(q.REDIRECT_DELETE, (change.entity, change.before))
        else:
            done = self.db.execute(q.REDIRECT_SWAP, (change.after, change.entity, change.before))
        if done != 1:
            return Conflict(change.entity, _as_redirect(change.before), self._found(change))
        self._note(change.entity, change.before, change.after, change.ruling)
        return None

    def compress(self) -> Compression:
        """Lead every redirect to its final survivor; gives what was rewritten, and ids on circles, left alone."""
        leading_on = self.db.rows(q.REDIRECTS_OPEN)
        if not leading_on:
            return Compression()
        redirects = Redirects(redirect_rows(self.db))
        rewrites: list[tuple[str, str, str]] = []
        for loser, target in sorted(leading_on):
            end = redirects.survivor(loser)
            if isinstance(end, str) and end != target:
                self._require(self.db.execute(q.REDIRECT_SWAP, (end, loser, target)), loser)
                self._note(loser, target, end, None)
                rewrites.append((loser, target, end))
        return Compression(tuple(rewrites), cycle_ids(redirects))

    def save(self) -> None:
        """Write the history rows; to be called once, at the end of the transaction."""
        for row in self._rows:
            self.db.do(models.MergeRow.insert(**row))

    @staticmethod
    def _require(done: int, loser: str) -> None:
        if done != 1:
            raise BrainError(f"the brain did not take in the redirect of {loser}", NOT_TAKEN)

    def _note(self, loser: str, before: str | None, after: str | None, ruling: int | None) -> None:
        common = {"run": self.run, "by": self.by, "at": self.at, "ruling": ruling}
        self._rows.append({"loser": loser, "previous": before, "survivor": after, **common})

    def _found(self, change: RedirectChange) -> str:
        now = self.db.scalar(q.REDIRECT_OF, (change.entity,))
        if now != change.before:
            return _as_redirect(None if now is None else display(now))
        for entity in (change.entity, change.after):
            row = self.db.one(q.ENTITY_NOW, (entity,))
            if row is None or row[1] is not None:
                return f"{entity} is {'archived' if row else 'no longer there'}"
        return f"{change.after} was merged away"


def write_redirects(db: Db, changes: Sequence[RedirectChange], *, run: int, by: str, at: int) -> RedirectResult:
    """Make planned redirect changes in the caller's transaction, each by compare-and-set, then compress the chains."""
    log = RedirectLog(db, run, by, at)
    written: list[tuple[str, str]] = []
    conflicts: list[Conflict] = []
    for change in changes:
        conflict = log.change(change)
        if conflict is not None:
            conflicts.append(conflict)
        elif change.after is not None:
            written.append((change.entity, change.after))
    # Taking a merge back must not rewrite what other merges left; only a new redirect can lengthen a chain.
    compressed = log.compress() if written and any(c.before is None for c in changes) else Compression()
    log.save()
    return RedirectResult(tuple(written), compressed.rewrites, compressed.cycles, tuple(conflicts))


def start_merge_run(db: Db, binding: Binding, *, by: str, at: int, backup: str | None) -> int:
    """Open the run of a merge sweep; gives its number."""
    return int(
        db.do(
            models.Run.insert(
                kind="merge",
                at=at,
                by=by,
                status="running",
                plan_digest="",
                rulings_seq=binding.head_seq,
                rulings_hash=binding.head_hash,
                policy=binding.policy,
                backup=backup,
            )
        )
    )


def merges_of_run(db: Db, schema: Schema, run: int) -> list[RedirectChange]:
    """What a run did to redirects, turned round and newest first: the changes that take it back."""
    if not schema.has("ct_tui_merge"):
        return []
    t = models.MergeRow
    rows = db.run(t.select().where(t.run == run).order_by(t.id.desc()))
    why = f"undo of run {run}"
    return [RedirectChange(display(r.loser), "", r.survivor, r.previous, r.ruling, why) for r in rows]


def merge_history(
    db: Db, schema: Schema, ids: Sequence[str] = (), *, run: int | None = None, limit: int = 500
) -> tuple[MergeStep, ...]:
    """Merges as our history keeps them, newest first; of some entities, or of one run, where these are given."""
    if not schema.has("ct_tui_merge"):
        return ()
    t = models.MergeRow
    query = t.select().order_by(t.id.desc()).limit(limit)
    if ids:
        query = query.where(among(db, t.loser, ids) | among(db, t.survivor, ids) | among(db, t.previous, ids))
    if run is not None:
        query = query.where(t.run == run)
    return tuple(
        MergeStep(r.run, display(r.loser), _shown(r.survivor), _shown(r.previous), r.ruling, display(r.by), r.at)
        for r in db.run(query)
    )


def _shown(raw: RawText) -> str | None:
    return None if raw is None else display(raw)


# Assertions


def name_rows(db: Db, schema: Schema, redirects: Redirects, ids: Sequence[str] | None = None) -> Iterator[NameRow]:
    """Unarchived entities with where each was merged to; of `ids` only those, and none that was merged away."""
    if ids is not None:
        for row in live_by_ids(db, schema, ids):
            if row.readable:
                yield NameRow(str(row.id), str(row.name), str(row.type), str(row.id))
        return
    for entity_id, name, kind in db.stream(q.NAMES_AND_TYPES):
        if isinstance(entity_id, str) and isinstance(name, str) and readable(entity_id) and readable(name):
            survivor = redirects.resolve(entity_id)
            if isinstance(survivor, str):
                yield NameRow(entity_id, name, kind if isinstance(kind, str) else "", survivor)


def assertions_from(db: Db, schema: Schema, redirects: Redirects, subject: str | None) -> tuple[Existing, ...]:
    """What is asserted of an entity (its merged ids included), with window and confidence where they were recorded."""
    if subject is None or not schema.has("llm_wiki_edges"):
        return ()
    cluster = redirects.cluster(subject)
    edges = [row for part in _parts(cluster) for row in db.rows(sql.marks(q.EDGES_FROM, len(part)), part)]
    recorded = _recorded(db, schema, [display(row[0]) for row in edges])
    names = end_names(db, schema, [display(row[2]) for row in edges])
    found: list[Existing] = []
    for edge, relation, target, _ in edges:
        end = redirects.resolve(display(target))
        name = names.get(display(target), (display(target), ""))[0]
        bare = Existing(display(edge), display(relation), end if isinstance(end, str) else display(target), name)
        found.append(recorded[bare.edge](bare) if bare.edge in recorded else bare)
    return tuple(found)


def _recorded(db: Db, schema: Schema, edges: Sequence[str]) -> dict[str, Callable[[Existing], Existing]]:
    if not schema.has("ct_tui_assertion"):
        return {}
    rows = [row for part in _parts(edges) for row in db.rows(sql.marks(q.ASSERTIONS_OF, len(part)), part)]
    return {display(row[0]): partial(_with_record, row=row) for row in rows}


def _with_record(existing: Existing, row: tuple[Any, ...]) -> Existing:
    _, start, end, confidence, kind, provenance, flagged_by = row
    return replace(
        existing,
        window=Window(start, end),
        confidence=confidence,
        provenance=provenance,
        recorded=kind != UNRECORDED,
        flagged_by=flagged_by,
    )


UNRECORDED = "unrecorded"
"""The kind of a row that only flags an edge whose window and confidence nobody recorded."""


def is_live_end(db: Db, entity_id: str) -> bool:
    """Whether an entity is there, not archived and not merged away."""
    return bool(db.scalar(q.EDGE_END_LIVE, (entity_id,)))


def put_edge(db: Db, edge: str, subject: str, target: str, relation: str, now_ms: int) -> str:
    """Write an edge anchored at its subject; gives its id, or that of the same edge where it stands already.

    Raises BrainError where the brain has a trigger that swallows the row.
    """
    if db.execute(q.EDGE_PUT, (edge, subject, subject, target, relation, now_ms)) == 1:
        return edge
    same = db.scalar(q.EDGE_SAME, (subject, subject, target, relation))
    if same is None:
        raise BrainError("the brain did not take the edge in, so nothing was written", NOT_TAKEN)
    return display(same)


def edge_exists(db: Db, edge: str) -> bool:
    """Whether an edge is still there."""
    return bool(db.scalar(q.EDGE_THERE, (edge,)))


def assertion_of(db: Db, edge: str) -> Existing | None:
    """What our table records of an edge, or None."""
    row = db.one(sql.marks(q.ASSERTIONS_OF, 1), (edge,))
    return None if row is None else _with_record(Existing(edge, "", "", ""), row)


def put_assertion(db: Db, edge: str, assertion: Assertion, *, flagged_by: str | None, by: str, at: int) -> None:
    """Record window, confidence and source of an edge; a row that only flagged it is replaced."""
    a = assertion
    values = (edge, a.window.start, a.window.end, a.confidence, a.kind.value, a.provenance, a.statement, flagged_by)
    db.execute(q.ASSERTION_PUT, (*values, by, at))


def flag_assertion(db: Db, existing: Existing, *, flagged_by: str, by: str, at: int) -> None:
    """Flag an edge as the weaker of two that contradict each other; it stays where it is."""
    if db.execute(q.ASSERTION_FLAG, (flagged_by, existing.edge)) == 0:
        db.execute(q.ASSERTION_PUT, (existing.edge, 0, 0, None, UNRECORDED, "", "", flagged_by, by, at))


def _parts(values: Sequence[str]) -> Iterator[Sequence[str]]:
    return (values[at : at + CHUNK] for at in range(0, len(values), CHUNK))


def _as_redirect(target: str | None) -> str:
    return "not merged away" if target is None else f"merged into {target}"


def _columns(schema: Schema, table: str, alias: str, names: Sequence[str]) -> str:
    """Column names of a table for a statement, NULL for those that an older brain lacks."""
    there = schema.columns(table)
    return ", ".join(f"{alias}.{name}" if name in there else "NULL" for name in names)


def _evidence(schema: Schema) -> tuple[str, str]:
    """The evidence column and its join, NULL and nothing where the table is missing."""
    return ("v.evidence_json", q.EVIDENCE_JOIN) if schema.has("librarian_evidence") else ("NULL", "")
