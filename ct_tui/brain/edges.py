"""Reading edges set by set, and writing repaired ones by compare-and-set.

The ends of all edges are put into one temporary table (works on a read-only connection too) and joined once, grouped
to counted triples: never a query per edge. Use inside a snapshot, so that ends and edges are of one moment.
"""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import asdict, dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

from ct_tui.brain import models, sql, sql_edges
from ct_tui.brain.edge_ends import FACT_TABLES, MISSING, EndTable, Mark, Scope, fresh, want
from ct_tui.domain.census import RawText, display, readable
from ct_tui.domain.edges import Triple, Triples, edge_text
from ct_tui.domain.plan import Conflict, EdgeChange, EdgeChangeKind, EdgeRow
from ct_tui.domain.redirects import Redirects

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

    from ct_tui.brain.connection import Db
    from ct_tui.brain.schema import Schema
    from ct_tui.domain.edges import End

__all__ = ["Edge", "EdgeHistoryRow", "EdgeReader", "Mark", "Scope", "apply_edge_chunk", "edge_history", "twin_of"]

CHUNK = 500
"""How many values one statement takes."""


@dataclass(frozen=True)
class Edge:
    """One edge with what its ends are; `rowid` pages, `readable` says whether a repair could name it."""

    rowid: int
    row: EdgeRow
    triple: Triple
    readable: bool = True


class Cause(NamedTuple):
    """One change of type: the columns of our history, or of the app's ledger where `run` is None."""

    from_type: str
    to_type: str
    reason: str
    ruling: int | None
    run: int | None


class CausedTriple(NamedTuple):
    """Edges that are older than a type change of one of their ends, or of both."""

    triple: Triple
    source: Cause | None
    target: Cause | None
    n: int


class _Tally:
    """Counts groups of edges as they come, with nothing kept but what is still open."""

    def __init__(self) -> None:
        self.loops = 0
        self.rowids: list[int] = []

    def joined(self, rows: Iterable[tuple[Any, ...]]) -> Iterator[tuple[RawText, int, int]]:
        """Edge type, packed ends and number of edges; loops, which come next to the others of their ends, are joined.

        Equal edge types are one text. The edges that have to be looked up by themselves are put aside.
        """
        types: dict[RawText, RawText] = {}
        last: tuple[RawText, int] | None = None
        count = 0
        for edge_type, packed, rowid, n in rows:
            if packed is None:
                self.rowids.append(rowid)
                continue
            self.loops += n if packed & 1 else 0
            key = types.setdefault(edge_type, edge_type), packed >> 1
            if key != last:
                if last is not None:
                    yield *last, count
                last, count = key, 0
            count += n
        if last is not None:
            yield *last, count


class EdgeReader:
    """Edges of one moment of a brain, with their ends; every method joins or scans a fixed number of times."""

    def __init__(self, db: Db, schema: Schema, scope: Scope | None = None) -> None:
        self._db = db
        self._schema = schema
        self._scope = scope or Scope()
        self._table = EndTable(db, schema, self._scope)

    @property
    def _has_edges(self) -> bool:
        return self._schema.has("llm_wiki_edges")

    def triples(self) -> Triples:
        """All edges of the brain, counted."""
        if not self._has_edges:
            return Triples(())
        self._table.fill()
        tally = _Tally()
        rows = tally.joined(self._db.stream(sql_edges.COUNT_TRIPLES))
        joined = ((self._unpacked(edge_type, pack), n) for edge_type, pack, n in rows)
        # An end that was looked up alone is of no kind that the table has, so no triple is counted in both ways. Which
        # those are is known once the others were read.
        found = Triples(chain(joined, self._single(tally)))
        found.loops = tally.loops
        return found

    def _single(self, tally: _Tally) -> Iterator[tuple[Triple, int]]:
        """The edges with an end that the table does not know, counted."""
        counts: Counter[Triple] = Counter()
        for edge in self._by_rowid(tally.rowids):
            counts[edge.triple] += 1
            tally.loops += edge.row.source_id == edge.row.target_id
        yield from counts.items()

    def triples_of(self, ids: Collection[str]) -> Triples:
        """The edges that touch some ids, counted."""
        edges = self.touching(ids)
        loops = sum(1 for e in edges if e.row.source_id == e.row.target_id)
        return Triples(((e.triple, 1) for e in edges), loops)

    def touching(self, ids: Collection[str], limit: int = -1) -> list[Edge]:
        """The edges that begin or end at one of some ids, oldest first: one scan; a negative limit is none."""
        if not ids or not self._has_edges:
            return []
        want(self._db, ids)
        return self._with_ends(self._db.rows(sql_edges.TOUCHING, (limit,)))

    def by_id(self, ids: Collection[str]) -> list[Edge]:
        """The edges with these ids, in id order."""
        if not ids or not self._has_edges:
            return []
        want(self._db, ids)
        return self._with_ends(self._db.rows(sql_edges.BY_ID))

    def where(self, test: Callable[[Triple], bool], always: Collection[str] = ()) -> Iterator[Edge]:
        """Every edge whose triple passes a test (asked once a triple), or whose id is in `always`, oldest first."""
        if not self._has_edges:
            return
        self._table.fill()
        passed: dict[tuple[RawText, int, int], bool] = {}
        for row in self._db.stream(sql_edges.ALL_EDGES):
            edge_type, source, target = row[5], row[7], row[8]
            if source is None or target is None:
                (edge,) = self._with_ends([row])
                if test(edge.triple) or row[1] in always:
                    yield edge
                continue
            key = (edge_type, source, target)
            wanted = passed.get(key)
            if wanted is None:
                wanted = passed[key] = test(self._triple(*key))
            if wanted or row[1] in always:
                yield _edge(row, self._triple(*key))

    def of_type(
        self, edge_type: str, test: Callable[[Triple], bool], *, after: int = 0, limit: int = 200
    ) -> tuple[Edge, ...]:
        """A page of the edges of one name whose triple passes a test; `after` is the rowid of the last one seen."""
        found: list[Edge] = []
        while self._has_edges and len(found) < limit:
            rows = self._db.rows(sql_edges.PAGE_OF_EDGE_TYPE, (edge_type, after, max(limit, CHUNK)))
            if not rows:
                break
            after = rows[-1][0]
            found += self._with_ends(rows, test)
        return tuple(found[:limit])

    def ends(self, ids: Iterable[str]) -> dict[str, End]:
        """What some ids are as ends of an edge."""
        return self._table.look_up(ids)

    def caused(self) -> list[CausedTriple]:
        """The edges older than the last type change of an end, counted with what that change was."""
        if not self._has_edges:
            return []
        self._table.prepare()
        known = self._fill_causes()
        if not known:
            return []
        self._table.fill()
        self._db.execute(sql_edges.CAUSES_OF_LOSERS)
        found: list[CausedTriple] = []
        single: dict[int, tuple[Cause | None, Cause | None]] = {}
        for edge_type, packed, rowid, source, target, n in self._db.stream(sql_edges.COUNT_CAUSED):
            of_source, of_target = (None if c is None else known[c] for c in (source, target))
            if packed is None:
                single[rowid] = (of_source, of_target)
            else:
                found.append(CausedTriple(self._unpacked(edge_type, packed >> 1), of_source, of_target, n))
        found += (CausedTriple(e.triple, *single[e.rowid], 1) for e in self._by_rowid(list(single)))
        return found

    def causes(self) -> dict[str, tuple[Cause, int]]:
        """The last type change of every entity and when it was (seconds): ours, else the one the app's ledger tells.

        Merged-away ids have their survivor's.
        """
        found = {i: (cause, at) for i, cause, at in self._last_changes()}
        for loser in self._scope.redirects.losers:
            end = self._scope.redirects.resolve(loser)
            if isinstance(end, str) and end in found:
                found[loser] = found[end]
        return found

    def _last_changes(self) -> Iterator[tuple[str, Cause, int]]:
        """The changes that `causes` tells; of two about one entity the later one given counts."""
        if self._schema.has("entity_type_origin"):
            for i, original, reason, at in self._db.stream(sql_edges.HEALED_ORIGINS):
                if isinstance(i, str):
                    yield i, Cause(display(original), "", display(reason), None, None), _int(at)
        if self._schema.has("ct_tui_type_change"):
            for i, was, to, reason, ruling, run, at in self._db.stream(sql_edges.LATEST_CHANGES):
                if isinstance(i, str):
                    yield i, Cause(display(was), display(to), reason, ruling, run), _int(at)

    def _fill_causes(self) -> list[Cause]:
        """Put the last change of every entity into a table, which may be as many as entities; gives them by number."""
        numbered: dict[Cause, int] = {}
        fresh(self._db, sql_edges.CAUSES_DROP, sql_edges.CAUSES_TABLE)
        rows = ((i, numbered.setdefault(cause, len(numbered)), at) for i, cause, at in self._last_changes())
        self._db.executemany(sql_edges.CAUSES_FILL, rows)
        return list(numbered)

    def _by_rowid(self, rowids: Sequence[int]) -> Iterator[Edge]:
        for at in range(0, len(rowids), CHUNK):
            part = rowids[at : at + CHUNK]
            yield from self._with_ends(self._db.rows(sql.marks(sql_edges.BY_ROWID, len(part)), part))

    def _with_ends(self, rows: Sequence[tuple[Any, ...]], test: Callable[[Triple], bool] | None = None) -> list[Edge]:
        """The edges with their ends looked up, those that pass the test."""
        ids = {end for row in rows for end in row[3:5] if isinstance(end, str)}
        ends = self._table.look_up(ids)
        found: list[Edge] = []
        for row in rows:
            triple = Triple(display(row[5]), ends.get(row[3], MISSING), ends.get(row[4], MISSING))
            if test is None or test(triple):
                found.append(_edge(row, triple))
        return found

    def _unpacked(self, edge_type: RawText, packed: int) -> Triple:
        return self._triple(edge_type, *divmod(packed, sql_edges.SIDE))

    def _triple(self, edge_type: RawText, source: int, target: int) -> Triple:
        return Triple(display(edge_type), self._table[source], self._table[target])


def twin_of(db: Db, row: EdgeRow) -> str | None:
    """The id of another edge with the same anchor, ends and type, or None."""
    found = db.rows(sql_edges.TWINS, (row.entity_id, row.source_id, row.target_id, row.edge_type))
    return next((display(i) for (i,) in found if i != row.id), None)


@dataclass(frozen=True)
class EdgeHistoryRow:
    """One repaired edge as our history keeps it; `at` in seconds, None stands for a row that is not there.

    `readable` is false where somebody garbled the row: it is shown as far as it goes, and decides nothing.
    """

    id: int
    run: int
    edge: str
    kind: str
    before: EdgeRow | None
    after: EdgeRow | None
    ruling: int | None
    by: str
    at: int
    readable: bool = True


def edge_history(
    db: Db,
    schema: Schema,
    *,
    run: int | None = None,
    ruling: int | None = None,
    edges: Sequence[str] = (),
    limit: int | None = None,
) -> list[EdgeHistoryRow]:
    """Our edge history, newest first."""
    if not schema.has("ct_tui_edge_change"):
        return []
    t = models.EdgeChangeRow
    query = t.select().order_by(t.id.desc())
    if run is not None:
        query = query.where(t.run == run)
    if ruling is not None:
        query = query.where(t.ruling == ruling)
    if limit is not None:
        query = query.limit(limit)
    if not edges:
        return [_history_row(r) for r in db.run(query)]
    parts = [list(edges[at : at + CHUNK]) for at in range(0, len(edges), CHUNK)]
    rows = [_history_row(r) for part in parts for r in db.run(query.where(t.edge.in_(part)))]
    return sorted(rows, key=lambda r: -r.id)


def apply_edge_chunk(
    db: Db, schema: Schema, changes: Sequence[EdgeChange], *, run: int, by: str, at: int
) -> tuple[int, tuple[Conflict, ...]]:
    """Write some repairs inside the caller's transaction; gives the rows written and those that could not be.

    Each is compared with the whole row that the plan saw. Nothing is written onto an end that is not live or that is
    opted out, and never onto a triple that is there already.
    """
    ids = {i for c in changes for row in (c.before, c.after) if row is not None for i in (row.source_id, row.target_id)}
    live = _live_ids(db, schema, sorted(ids))
    spared = _opted_out(db, schema, sorted(ids))
    done = 0
    conflicts: list[Conflict] = []
    for change in changes:
        problem = _unwritable(change, live, spared)
        if not problem and _write(db, change) != 1:
            problem = _found_instead(db, change)
        if problem:
            conflicts.append(Conflict(change.edge, _expected(change), problem))
            continue
        done += 1
        _remember(db, change, run=run, by=by, at=at)
    return done, tuple(conflicts)


def _write(db: Db, change: EdgeChange) -> int:
    """The rows that one compare-and-set changed: 1, or 0 where the edge is not what the plan saw."""
    before, after = change.before, change.after
    if before is None and after is not None:
        return db.execute(sql_edges.EDGE_RESTORE, _values(after))
    if before is not None and after is None:
        return db.execute(sql_edges.EDGE_DROP, _values(before))
    if before is None or after is None:
        return 0
    new = (after.source_id, after.target_id, after.edge_type)
    return db.execute(sql_edges.EDGE_SWAP, (*new, *_values(before)))


def _values(row: EdgeRow) -> tuple[Any, ...]:
    return row.id, row.entity_id, row.source_id, row.target_id, row.edge_type, row.created_at


def _remember(db: Db, change: EdgeChange, *, run: int, by: str, at: int) -> None:
    before, after = (None if row is None else json.dumps(asdict(row)) for row in (change.before, change.after))
    values = {"run": run, "edge": change.edge, "kind": change.kind.value, "before": before, "after": after}
    db.do(models.EdgeChangeRow.insert(**values, ruling=change.ruling, by=by, at=at))


def _unwritable(change: EdgeChange, live: set[str], spared: set[str]) -> str:
    row = change.after or change.before
    if row is None:
        return "nothing to do"
    ends = (row.source_id, row.target_id)
    if any(i in spared for i in ends):
        return "an end is opted out"
    if change.after is not None and not all(i in live for i in ends):
        return "an end is no longer live"
    return ""


def _found_instead(db: Db, change: EdgeChange) -> str:
    """Why a compare-and-set changed nothing."""
    found = db.one("SELECT id, source_id, edge_type, target_id FROM llm_wiki_edges WHERE id = ?", (change.edge,))
    if found is None and change.before is not None:
        return "no longer there"
    if change.after is not None:
        twin = twin_of(db, change.after)
        if twin is not None:
            return f"the same edge is already there as {twin}"
    return "changed since" if found is None else f"now {edge_text(found[2], found[1], found[3])}"


def _expected(change: EdgeChange) -> str:
    row = change.before
    return "not there" if row is None else edge_text(row.source_id, row.edge_type, row.target_id)


def _live_ids(db: Db, schema: Schema, ids: Sequence[str]) -> set[str]:
    found: set[str] = set()
    for table in ("curated_entities", *FACT_TABLES):
        if schema.has(table):
            found.update(i for (i,) in _in_parts(db, sql_edges.of(sql_edges.LIVE_IDS, table), ids))
    return found


def _opted_out(db: Db, schema: Schema, ids: Sequence[str]) -> set[str]:
    """The ids that are opted out, by themselves, by their owner or by their merge cluster."""
    if not schema.has("ct_entity_optouts") or not db.scalar(sql_edges.ANY_OPT_OUT):
        return set()
    opt_outs = {i for i, _, _ in db.rows(sql.OPT_OUTS) if isinstance(i, str)}
    rows = db.rows(sql.REDIRECTS) if schema.has("entity_redirects") else []
    redirects = Redirects((a, b) for a, b in rows if isinstance(a, str) and isinstance(b, str))
    owners = {i: i for i in ids}
    for table in FACT_TABLES:
        if schema.has(table):
            owners.update(_in_parts(db, sql_edges.of(sql_edges.OWNERS, table), ids))
    return {i for i, owner in owners.items() if redirects.opted_out_by(owner, opt_outs) is not None}


def _in_parts(db: Db, statement: str, ids: Sequence[str]) -> Iterator[tuple[Any, ...]]:
    for at in range(0, len(ids), CHUNK):
        part = ids[at : at + CHUNK]
        yield from db.rows(sql.marks(statement, len(part)), part)


def _edge(row: Sequence[Any], triple: Triple) -> Edge:
    rowid, *texts, created_at = row[:7]
    clean = all(readable(t) for t in texts) and isinstance(created_at, int)
    edge_id, entity_id, source, target, edge_type = (display(t) for t in texts)
    found = EdgeRow(edge_id, entity_id, source, target, edge_type, _int(created_at))
    return Edge(rowid, found, triple, clean)


def _history_row(r: Any) -> EdgeHistoryRow:
    before, kept_before = _kept(r.before)
    after, kept_after = _kept(r.after)
    readable = kept_before and kept_after and r.kind in set(EdgeChangeKind)
    ruling = r.ruling if isinstance(r.ruling, int) else None
    edge, kind, by = display(r.edge), display(r.kind), display(r.by)
    return EdgeHistoryRow(r.id, _int(r.run), edge, kind, before, after, ruling, by, _int(r.at), readable)


def _kept(text: str | bytes | None) -> tuple[EdgeRow | None, bool]:
    """An edge row from our JSON, and whether that could be read."""
    if text is None:
        return None, True
    try:
        found = json.loads(text)
        row = EdgeRow(**found)
    except (ValueError, TypeError):
        return None, False
    texts = (row.id, row.entity_id, row.source_id, row.target_id, row.edge_type)
    clean = all(isinstance(t, str) for t in texts) and isinstance(row.created_at, int)
    return (row, True) if clean else (None, False)


def _int(value: object) -> int:
    return value if isinstance(value, int) else 0
