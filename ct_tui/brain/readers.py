"""Reading the brain: rows become domain records here and nowhere else."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

import peewee

from ct_tui.brain import models, own, sql
from ct_tui.domain.census import RawText, display, readable
from ct_tui.domain.history import Event, HistoryRow, Origin, RunRow
from ct_tui.domain.json_text import BadJson, parse_json, parse_object
from ct_tui.domain.manifest import ManifestRow, Manifests, read_manifest_row
from ct_tui.domain.rulings import GARBLED, Head

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from ct_tui.brain.connection import Db
    from ct_tui.brain.schema import Schema

JsonT = TypeVar("JsonT", list[Any], dict[str, Any])

FEW = 10_000
"""Ids that are looked up one by one; more of them are met in one pass over all rows."""

CHUNK = 500
"""How many values one statement takes; far below SQLite's limit on variables."""


@dataclass(frozen=True)
class EntityRow:
    """One row of curated_entities as it stands; times in seconds."""

    rowid: int
    id: RawText
    name: RawText
    type: RawText
    summary: RawText = ""
    created_at: int | None = None
    updated_at: int | None = None
    deleted_at: int | None = None

    @property
    def readable(self) -> bool:
        """Whether id, name and type are text that may be compared and written."""
        return readable(self.id) and readable(self.name) and readable(self.type)


@dataclass(frozen=True)
class ProposalRow:
    """A pending proposal of a new entity with its source paths; created_at in seconds."""

    id: str
    name: str
    type: str | None
    reasoning: str
    created_at: int
    paths: tuple[str, ...]
    items: int


@dataclass(frozen=True)
class FactRow:
    """One live fact as it stands; created_at in milliseconds."""

    id: str
    entity_id: str
    title: str
    body: str
    confidence: str
    source_type: str
    source_ref: RawText
    created_at: int


@dataclass(frozen=True)
class BrainState:
    """What the ladder needs of a brain besides its entities, read in one snapshot.

    `redirects` maps a merged-away id to its survivor, `opt_outs` an id to the reason; `origins` by entity id.
    """

    manifests: Manifests = field(default_factory=Manifests)
    redirects: dict[str, str] = field(default_factory=dict)
    opt_outs: dict[str, str] = field(default_factory=dict)
    origins: dict[str, Origin] = field(default_factory=dict)
    memos: dict[str, frozenset[str]] = field(default_factory=dict)


def live(db: Db, schema: Schema, statement: str) -> str:
    """A statement with its condition for live entities, honouring redirects where there are any."""
    redirects = schema.has("entity_redirects") and bool(db.scalar(sql.ANY_REDIRECT))
    return sql.live(statement, redirects=redirects)


def type_counts(db: Db, schema: Schema) -> list[tuple[RawText, int]]:
    """Live entities by type as it stands in the column."""
    found: Counter[RawText] = Counter()
    for raw, count in db.rows(live(db, schema, sql.CENSUS)):
        found[raw] += count
    return list(found.items())


def candidates(db: Db, schema: Schema, types: Iterable[RawText]) -> Iterator[tuple[Any, ...]]:
    """Rowid, id, name and type of the live entities of the given types, streamed; NULL types are found elsewhere."""
    db.execute(sql.TYPES_TABLE)
    db.execute(sql.TYPES_CLEAR)
    for raw in types:
        db.execute(sql.TYPES_FILL_BYTES if _broken(raw) else sql.TYPES_FILL, (raw,))
    return db.stream(live(db, schema, sql.CANDIDATES))


def suspicious(db: Db, schema: Schema, declared: Iterable[str]) -> Iterator[tuple[Any, ...]]:
    """Id, name and type of the live entities whose type is none of these or whose id or name is no text, streamed."""
    db.execute(sql.TYPES_TABLE)
    db.execute(sql.TYPES_CLEAR)
    db.executemany(sql.TYPES_FILL, ((name,) for name in declared if _encodes(name)))
    return db.stream(live(db, schema, sql.SUSPICIOUS))


def want_nobody(db: Db) -> None:
    """Begin to gather the ids that `wanted` fetches; rows may be streamed only after this."""
    for table in sql.TEMPORARY:
        db.execute(table)
    db.execute(sql.WANTED_CLEAR)


def want(db: Db, ids: Iterable[str]) -> None:
    """Gather some more ids; they wait in the database, since there may be very many."""
    db.executemany(sql.WANTED_FILL, ((i,) for i in ids if _encodes(i)))


def wanted(db: Db, schema: Schema) -> Iterator[tuple[Any, ...]]:
    """Id, name and type of the live entities that were gathered and that `suspicious` left out, streamed."""
    few = int(db.scalar(sql.WANTED_COUNT)) <= FEW
    return db.stream(live(db, schema, sql.joined(sql.WANTED, few=few)))


def null_types(db: Db, schema: Schema) -> Iterator[tuple[Any, ...]]:
    """The same of live entities whose type is NULL, which no join on the type finds."""
    return db.stream(live(db, schema, sql.NULL_TYPES))


def live_by_ids(db: Db, schema: Schema, ids: Iterable[str]) -> list[EntityRow]:
    """The live entities among the given ids, in row order."""
    wanted = list(ids)
    db.fill_ids(wanted)
    statement = sql.joined(sql.LIVE_BY_ID, few=len(wanted) <= FEW)
    return [EntityRow(*row) for row in db.rows(live(db, schema, statement))]


def all_live(db: Db, schema: Schema) -> Iterator[tuple[Any, ...]]:
    """Rowid, id, name and type of every live entity, streamed."""
    return db.stream(live(db, schema, sql.ALL_LIVE))


def ids_of_type(db: Db, schema: Schema, raw: RawText) -> list[str]:
    """Ids of the live entities that bear exactly this type."""
    statement = sql.same_type(live(db, schema, sql.IDS_OF_TYPE), broken=_broken(raw))
    return [display(i) for (i,) in db.rows(statement, (raw,))]


def page_of_type(db: Db, schema: Schema, raw: RawText, after: str, limit: int) -> list[EntityRow]:
    """One page of the live entities of a type, in id order."""
    statement = sql.same_type(live(db, schema, sql.PAGE_OF_TYPE), broken=_broken(raw))
    return [_detailed(row) for row in db.rows(_with_details(schema, statement), (raw, after, limit))]


def not_text(db: Db, schema: Schema) -> list[EntityRow]:
    """Live rows whose id or name is no text at all: a BLOB, a number or NULL."""
    return [EntityRow(*row) for row in db.stream(live(db, schema, sql.NOT_TEXT))]


def unreadable_rows(db: Db, schema: Schema) -> list[EntityRow]:
    """Live rows whose id, name or type is not readable text, in row order; a pass over all of them."""
    bad = [raw for raw, _ in type_counts(db, schema) if not readable(raw)]
    by_type = [
        *candidates(db, schema, [b for b in bad if b is not None]),
        *(null_types(db, schema) if None in bad else ()),
    ]
    found = {row[0]: EntityRow(*row) for row in by_type}
    for rowid, entity_id, name, kind in db.stream(live(db, schema, sql.SUSPECTS)):
        if not (readable(entity_id) and readable(name)):
            found[rowid] = EntityRow(rowid, entity_id, name, kind)
    return [found[rowid] for rowid in sorted(found)]


def entity(db: Db, schema: Schema, entity_id: str) -> EntityRow | None:
    """One entity by id, archived ones included, or None."""
    row = db.one(_with_details(schema, sql.ENTITY), (entity_id,))
    return None if row is None else _detailed(row)


def raw_entity(db: Db, entity_id: str) -> tuple[tuple[str, Any], ...]:
    """An entity's row exactly as it stands, as pairs of column and value; empty where there is none."""
    cursor = db.connection.execute(sql.RAW_ENTITY, (entity_id,))
    row = cursor.fetchone()
    return () if row is None else tuple(zip((column[0] for column in cursor.description), row, strict=True))


def search(db: Db, schema: Schema, text: str, limit: int) -> list[EntityRow]:
    """Live entities whose id is the text or whose name contains it, in name order."""
    statement = _with_details(schema, live(db, schema, sql.SEARCH))
    return [_detailed(row) for row in db.rows(statement, (text, limit))]


def state(db: Db, schema: Schema) -> BrainState:
    """Manifests, redirects, opt-outs, origins and memos, each empty where its table is missing."""
    return BrainState(
        manifests(db, schema),
        redirects(db, schema),
        _opt_outs(db, schema),
        origins(db, schema),
        _memos(db, schema),
    )


def manifests(db: Db, schema: Schema) -> Manifests:
    """Every manifest row, the unreadable ones with their reason."""
    if not schema.has("llm_wiki_entity_manifests"):
        return Manifests()
    return _manifests(db.rows(sql.MANIFESTS))


def manifests_of(db: Db, ids: Collection[str]) -> Manifests:
    """Some manifest rows; the table must be there."""
    return _manifests(
        row for part in _parts(list(ids)) for row in db.rows(sql.marks(sql.MANIFEST_ROWS, len(part)), part)
    )


def _manifests(found: Iterable[tuple[Any, ...]]) -> Manifests:
    rows: dict[str, ManifestRow] = {}
    for entity_id, mode, raw in found:
        key = display(entity_id)
        rows[key] = read_manifest_row(key, mode, raw)
    return Manifests(rows)


def redirects(db: Db, schema: Schema) -> dict[str, str]:
    """Merged-away ids and where each leads."""
    if not schema.has("entity_redirects"):
        return {}
    pairs = db.rows(sql.REDIRECTS)
    return {a: b for a, b in pairs if isinstance(a, str) and isinstance(b, str)}


def origins(db: Db, schema: Schema) -> dict[str, Origin]:
    """The origin rows that can decide anything, by entity id; records of retypes are left out."""
    if not schema.has("entity_type_origin"):
        return {}
    return {row[0]: _origin(row) for row in db.stream(sql.DECIDING_ORIGINS) if isinstance(row[0], str)}


def origin_rows(db: Db, schema: Schema, ids: Sequence[str]) -> tuple[Origin, ...]:
    """The origin rows of some entities, in the order of the ids."""
    if not schema.has("entity_type_origin"):
        return ()
    t = models.TypeOrigin
    found = {r.entity_id: r for r in in_chunks(db, ids, lambda part: t.select().where(t.entity_id.in_(part)))}
    rows = (found[i] for i in ids if i in found)
    return tuple(_origin((r.entity_id, r.original_type, r.reason, r.source_directory, r.recorded_at)) for r in rows)


def meta(db: Db, schema: Schema, key: str) -> str | None:
    """One value of llm_wiki_meta."""
    if not schema.has("llm_wiki_meta"):
        return None
    value = db.scalar(sql.META, (key,))
    return None if value is None else display(value)


def head_seen(db: Db, schema: Schema) -> Head:
    """The head of the rulings' table that this brain saw last; seq 0 where it never saw one.

    A record that somebody garbled comes back as `GARBLED`, which no table agrees with.
    """
    value = own.get_state(db, "rulings_head") if schema.has("ct_tui_state") else None
    if value is None:
        return Head()
    try:
        found = parse_object(value)
    except BadJson:
        return GARBLED
    seq, digest = found.get("seq"), found.get("hash")
    return Head(seq, digest) if type(seq) is int and isinstance(digest, str) else GARBLED


def history(
    db: Db,
    schema: Schema,
    *,
    ids: Sequence[str] = (),
    ruling: int | None = None,
    reason: str | None = None,
    run: int | None = None,
    before: int | None = None,
    limit: int = 500,
) -> tuple[HistoryRow, ...]:
    """Rows of our history, newest first, with the entities' present names; `before` pages by row id."""
    if not schema.has("ct_tui_type_change"):
        return ()
    t = models.TypeChangeRow
    query = t.select().order_by(t.id.desc()).limit(limit)
    if ids:
        query = query.where(among(db, t.entity_id, ids))
    if ruling is not None:
        query = query.where(t.ruling == ruling)
    if reason is not None:
        query = query.where(t.reason == reason)
    if run is not None:
        query = query.where(t.run == run)
    if before is not None:
        query = query.where(t.id < before)
    rows = db.run(query)
    names = names_of(db, [r.entity_id for r in rows])
    return tuple(
        HistoryRow(
            display(r.entity_id),
            display(r.from_type),
            display(r.to_type),
            display(r.reason),
            _int_or_none(r.ruling),
            _int(r.run),
            display(r.by),
            _int(r.at),
            names.get(r.entity_id, ("", ""))[0],
            _int(r.id),
        )
        for r in rows
    )


def runs(db: Db, schema: Schema) -> tuple[RunRow, ...]:
    """All runs, newest first."""
    if not schema.has("ct_tui_run"):
        return ()
    return tuple(_run(r) for r in db.run(models.Run.select().order_by(models.Run.id.desc())))


def run_row(db: Db, schema: Schema, run: int) -> RunRow | None:
    """One run, or None where there is none of that number."""
    if not schema.has("ct_tui_run"):
        return None
    return next((_run(r) for r in db.run(models.Run.select().where(models.Run.id == run))), None)


def events(db: Db, schema: Schema, ids: Sequence[str], limit: int = 100) -> tuple[Event, ...]:
    """The latest events of some entities, newest first."""
    if not schema.has("llm_wiki_events"):
        return ()
    t = models.WikiEvent
    query = t.select().where(among(db, t.entity_id, ids)).order_by(t.created_at.desc()).limit(limit)
    return tuple(Event(_int(r.created_at), display(r.event_type), display(r.summary)) for r in db.run(query))


def facts(db: Db, schema: Schema, ids: Sequence[str], limit: int = 50) -> tuple[FactRow, ...]:
    """The live facts of some entities, newest first."""
    if not schema.has("llm_wiki_entries"):
        return ()
    t = models.Fact
    where = among(db, t.entity_id, ids) & t.deleted_at.is_null()
    return tuple(_fact(r) for r in db.run(t.select().where(where).order_by(t.created_at.desc(), t.id).limit(limit)))


def fact(db: Db, schema: Schema, entry_id: str) -> FactRow | None:
    """One fact, archived ones too, or None."""
    if not schema.has("llm_wiki_entries"):
        return None
    rows = db.run(models.Fact.select().where(models.Fact.id == entry_id))
    return _fact(rows[0]) if rows else None


def _fact(r: Any) -> FactRow:
    return FactRow(
        display(r.id),
        display(r.entity_id),
        display(r.title),
        display(r.body),
        display(r.confidence),
        display(r.source_type),
        r.source_ref,
        _int(r.created_at),
    )


def evidence_of(db: Db, schema: Schema, entry_ids: Sequence[str]) -> dict[str, str]:
    """The librarian's evidence JSON by entry id."""
    if not schema.has("librarian_evidence") or not entry_ids:
        return {}
    t = models.Evidence
    rows = in_chunks(db, entry_ids, lambda part: t.select().where(t.entry_id.in_(part)))
    return {display(r.entry_id): display(r.evidence_json) for r in rows}


def chunk_places(db: Db, schema: Schema, hashes: Sequence[str]) -> dict[str, tuple[str, int, int]]:
    """Where each passage stands, by content hash: path, first and last line."""
    if not (schema.has("chunks") and schema.has("documents")) or not hashes:
        return {}
    found: dict[str, tuple[str, int, int]] = {}
    for part in _parts(hashes):
        for content_hash, path, start, end in db.rows(sql.marks(sql.QUOTES, len(part)), part):
            found.setdefault(content_hash, (display(path), start, end))
    return found


def document_paths(db: Db, schema: Schema) -> Iterator[str]:
    """The path of every document, streamed."""
    if schema.has("documents"):
        yield from (display(path) for _, path in db.stream(sql.DOCUMENT_PATHS))


def names_of(db: Db, ids: Sequence[Any]) -> dict[Any, tuple[str, str]]:
    """Name and type of entities by id."""
    found: dict[Any, tuple[str, str]] = {}
    wanted = [i for i in dict.fromkeys(ids) if isinstance(i, str)]
    for part in _parts(wanted):
        for entity_id, name, kind in db.rows(sql.marks(sql.NAMES, len(part)), part):
            found[entity_id] = (display(name), display(kind))
    return found


def end_names(db: Db, schema: Schema, ids: Sequence[str]) -> dict[str, tuple[str, str]]:
    """Name and type of an edge's ends: entities, else facts and tasks with their own type."""
    found: dict[str, tuple[str, str]] = {}
    for table, statement in (("llm_wiki_tasks", sql.TASK_TITLES), ("llm_wiki_entries", sql.ENTRY_TITLES)):
        if schema.has(table):
            for part in _parts(list(ids)):
                for end, title, kind in db.rows(sql.marks(statement, len(part)), part):
                    found[display(end)] = (display(title), "" if kind is None else display(kind))
    found.update(names_of(db, ids))
    return found


def pending_proposals(db: Db, schema: Schema) -> list[ProposalRow]:
    """Pending proposals of new entities, oldest first, with all their source paths."""
    if not all(schema.has(t) for t in ("curated_proposals", "curated_proposal_sources", "documents")):
        return []
    p = models.Proposal
    where = (p.status == "pending") & (p.kind == "new_entity")
    found = db.run(p.select().where(where).order_by(p.created_at, p.id))
    return [_proposal(db, schema, row) for row in found]


def among(db: Db, column: Any, ids: Sequence[str]) -> Any:
    """The condition that a column holds one of the ids; a long list is joined, since SQLite limits variables."""
    if len(ids) <= CHUNK:
        return column.in_(list(ids))
    db.fill_ids(ids)
    return column.in_(peewee.SQL(sql.THESE_IDS))


def in_chunks(db: Db, values: Sequence[str], query: Any) -> list[Any]:
    """Run a query for every part of the values, so that no IN list grows without bound."""
    return [row for part in _parts(values) for row in db.run(query(part))]


# What is shown of an entity besides id, name and type, where the brain has it.
_DETAILS = {"summary": "''", "created_at": "NULL", "updated_at": "NULL"}


def _broken(raw: RawText) -> bool:
    """Whether bytes are no UTF-8: only then may they also have been a text in the brain."""
    if not isinstance(raw, bytes):
        return False
    try:
        raw.decode("utf-8")
    except UnicodeDecodeError:
        return True
    return False


def _encodes(text: str) -> bool:
    """Whether a text can stand in a brain at all; half of a surrogate pair cannot."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _with_details(schema: Schema, statement: str) -> str:
    """Fill in the columns of an `EntityRow`."""
    there = schema.columns("curated_entities")
    details = [f"e.{column}" if column in there else absent for column, absent in _DETAILS.items()]
    return statement.replace("{details}", ", ".join(["e.rowid, e.id, e.name, e.entity_type", *details, "e.deleted_at"]))


def _detailed(row: Sequence[Any]) -> EntityRow:
    rowid, entity_id, name, kind, summary, created_at, updated_at, deleted_at = row
    gone = None if deleted_at is None else _time(deleted_at) or 0
    return EntityRow(rowid, entity_id, name, kind, summary, _time(created_at), _time(updated_at), gone)


def _time(value: object) -> int | None:
    return value if isinstance(value, int) else None


def _proposal(db: Db, schema: Schema, row: Any) -> ProposalRow:
    s, d, i = models.ProposalSource, models.Document, models.ProposalItem
    joined = s.select(d.path).join(d, on=(s.doc_id == d.id)).where(s.proposal_id == row.id).order_by(s.doc_id)
    paths = tuple(display(x.document.path if hasattr(x, "document") else x.path) for x in db.run(joined.objects()))
    count = 0
    if schema.has("curated_proposal_items"):
        count = len(db.run(i.select(i.id).where((i.proposal_id == row.id) & (i.status != "rejected"))))
    return ProposalRow(
        display(row.id),
        "" if row.proposed_name is None else display(row.proposed_name),
        None if row.proposed_type is None else display(row.proposed_type),
        "" if row.reasoning is None else display(row.reasoning),
        _int(row.created_at),
        paths,
        count,
    )


def _run(r: Any) -> RunRow:
    return RunRow(
        r.id,
        display(r.kind),
        _int(r.at),
        display(r.by),
        display(r.status),
        _int(r.retyped),
        _int(r.recased),
        tuple(str(t) for t in _json(r.legalized, [])),
        _int_or_none(r.queued),
        _int(r.conflicts),
        _int(r.edges),
        display(r.plan_digest),
        _int_or_none(r.undoes),
        _int_or_none(r.undone_by),
        None if r.backup is None else display(r.backup),
        _json(r.numbers, {}),
    )


def _json(text: object, empty: JsonT) -> JsonT:
    """A JSON value of the same kind as `empty`, which stands for what somebody garbled."""
    try:
        found = parse_json(text) if isinstance(text, str) else empty
    except BadJson:
        return empty
    return found if type(found) is type(empty) else empty


def _origin(row: Sequence[Any]) -> Origin:
    entity_id, original, reason, path, at = row
    return Origin(
        entity_id,
        None if original is None else display(original),
        display(reason),
        None if path is None else display(path),
        _int(at),
    )


def _opt_outs(db: Db, schema: Schema) -> dict[str, str]:
    if not schema.has("ct_entity_optouts"):
        return {}
    return {i: "" if r is None else display(r) for i, r, _ in db.rows(sql.OPT_OUTS) if isinstance(i, str)}


def _memos(db: Db, schema: Schema) -> dict[str, frozenset[str]]:
    if not schema.has("manifest_ensure_memo"):
        return {}
    found: dict[str, set[str]] = {}
    for entity_id, memo in db.rows(sql.MEMOS):
        found.setdefault(display(entity_id), set()).add(display(memo))
    return {key: frozenset(value) for key, value in found.items()}


def _parts(values: Sequence[str]) -> Iterator[list[str]]:
    unique = list(dict.fromkeys(values))
    for at in range(0, len(unique), CHUNK):
        yield unique[at : at + CHUNK]


def _int(value: object) -> int:
    return value if isinstance(value, int) else 0


def _int_or_none(value: object) -> int | None:
    return value if isinstance(value, int) else None
