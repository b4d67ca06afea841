"""What the ends of edges are, in one temporary table that whole-brain statements join.

Every kind of end (its type, whether a fact, spared, …) has a number, and the table holds ids and numbers only. Most
brains' edges join entities, so facts and archived rows are looked up for the few edges that need them; where a sample
says that many do, all of them are put into the table first.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from ct_tui.brain import sql_edges
from ct_tui.domain.edges import End, Liveness, known_type
from ct_tui.domain.redirects import CYCLE, Redirects

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from ct_tui.brain.connection import Db
    from ct_tui.brain.schema import Schema
    from ct_tui.domain.census import RawText

MISSING = End(None, Liveness.MISSING, entity=False)
"""An end whose id no row has."""
GONE = End(None, Liveness.ARCHIVED, entity=False)
"""An end whose id only archived rows have."""

FEW = 0.05
"""Up to this share of edges with an end that is no live entity, such ends are looked up one by one."""

FACT_TABLES = ("llm_wiki_entries", "llm_wiki_tasks")


class Mark(NamedTuple):
    """What rules over an end besides its own row: `fixed` says that no alias reaches it, `row` is a manifest row."""

    shielded: bool = False
    row: str | None = None
    fixed: bool = False


@dataclass(frozen=True)
class Scope:
    """How the ends are seen: merges, marks by owner (the whole cluster listed), and types after a plan by entity id.

    `default` marks every owner that is not listed.
    """

    redirects: Redirects = field(default_factory=Redirects)
    marks: Mapping[str, Mark] = field(default_factory=dict)
    default: Mark = field(default_factory=Mark)
    moves: Mapping[str, str] = field(default_factory=dict)


class EndTable:
    """The ends of one snapshot, seen through a scope."""

    def __init__(self, db: Db, schema: Schema, scope: Scope) -> None:
        self._db = db
        self._schema = schema
        self._scope = scope
        self._codes: dict[End, int] = {}
        self._known: dict[tuple[RawText, bool, Mark | None, str | None], End] = {}
        self._ends: list[End] = [MISSING]
        self._moves: Mapping[str, str] | None = None
        self._prepared = False
        self.filled = False

    def __getitem__(self, code: int) -> End:
        return self._ends[code]

    def fill(self) -> None:
        """Put every live entity into the table, and the rest too where a sample says that many edges lead there."""
        if self.filled:
            return
        self.filled = True
        self.prepare()
        fresh(self._db, sql_edges.ENDS_DROP, sql_edges.ENDS_TABLE)
        self._fill_kinds(sql_edges.ENTITY_TYPES)
        unknown = self._code(self._end(None, entity=True))
        if len(self._scope.redirects):
            self._db.execute(sql_edges.MERGED_ENDS, (unknown,))
        self._db.execute(sql_edges.ENTITY_ENDS, (unknown,))
        share = self._db.scalar(sql_edges.SAMPLE)
        if share is not None and share > FEW:
            self._fill_rest()
        self._recode_marks()
        self._given()
        self._db.executemany(sql_edges.GIVEN_FILL, self.moves.items())
        self._recode(lambda end, to: end._replace(after=known_type(to)) if end.entity else end)

    @property
    def moves(self) -> Mapping[str, str]:
        """The types after the plan, by every id that has them: merged-away ids share their survivor's."""
        if self._moves is None:
            # As many as the plan's changes, so they are only copied where merges add to them.
            merged = self._scope.moves and self._scope.redirects.losers
            self._moves = self._with_merged(merged) if merged else self._scope.moves
        return self._moves

    def _with_merged(self, losers: Iterable[str]) -> Mapping[str, str]:
        moves = dict(self._scope.moves)
        for loser in losers:
            end = self._scope.redirects.resolve(loser)
            if isinstance(end, str) and end in moves and loser not in moves:
                moves[loser] = moves[end]
        return moves

    def look_up(self, ids: Iterable[str]) -> dict[str, End]:
        """What some ids are, one by one: a live row comes before an archived one, an entity before a fact."""
        wanted = list(dict.fromkeys(ids))
        self.prepare()
        want(self._db, wanted)
        found: dict[str, End] = {}
        for table, statement in self._look_ups():
            entity = table == "curated_entities"
            for end_id, kind, live, owner in self._db.rows(statement):
                if not live:
                    found.setdefault(end_id, GONE)
                elif not found.get(end_id, GONE).live:
                    found[end_id] = self._seen(end_id, kind, owner, entity=entity)
        return {i: found.get(i, MISSING) for i in wanted}

    def _look_ups(self) -> Iterable[tuple[str, str]]:
        yield "curated_entities", sql_edges.WANTED_ENTITIES
        for table in FACT_TABLES:
            if self._schema.has(table):
                yield table, sql_edges.of(sql_edges.WANTED_OWN, table)

    def _seen(self, end_id: str, kind: RawText, owner: object, *, entity: bool) -> End:
        mark = self._scope.marks.get(owner) if isinstance(owner, str) else None
        to = self.moves.get(end_id) if entity else None
        asked = (kind, entity, mark, to)
        end = self._known.get(asked)
        if end is None:
            end = self._end(kind, entity=entity)
            end = end if mark is None else _marked(end, mark)
            end = self._known[asked] = end if to is None else end._replace(after=known_type(to))
        return end

    def _end(self, kind: RawText, *, entity: bool) -> End:
        return _marked(End(known_type(kind), Liveness.LIVE, entity), self._scope.default)

    def _code(self, end: End) -> int:
        code = self._codes.get(end)
        if code is None:
            code = self._codes[end] = len(self._ends)
            self._ends.append(end)
        return code

    def prepare(self) -> None:
        """Give temporary tables the room they need, and fill the one of merged-away ids."""
        if self._prepared:
            return
        self._prepared = True
        redirects = self._scope.redirects
        self._db.execute(sql_edges.TEMP_CACHE)
        fresh(self._db, sql_edges.LOSERS_DROP, sql_edges.LOSERS_TABLE)
        ends = ((i, redirects.resolve(i)) for i in redirects.losers)
        self._db.executemany(sql_edges.LOSERS_FILL, ((i, None if end is CYCLE else end) for i, end in ends))

    def _fill_kinds(self, *statements: str) -> None:
        fresh(self._db, sql_edges.KINDS_DROP, sql_edges.KINDS_TABLE)
        kinds = {kind for statement in statements for (kind,) in self._db.rows(statement)}
        codes = ((k, *(self._code(self._end(k, entity=entity)) for entity in (True, False))) for k in kinds)
        self._db.executemany(sql_edges.KINDS_FILL, codes)

    def _fill_rest(self) -> None:
        """Facts and tasks, then whatever is archived."""
        tables = [t for t in FACT_TABLES if self._schema.has(t)]
        self._fill_kinds(*(sql_edges.of(sql_edges.OWN_TYPES, t) for t in tables))
        unknown = self._code(self._end(None, entity=False))
        for table in tables:
            self._db.execute(sql_edges.of(sql_edges.OWN_ENDS, table), (unknown,))
        for table in ("curated_entities", *tables):
            self._db.execute(sql_edges.of(sql_edges.ARCHIVED_ENDS, table), (self._code(GONE),))

    def _recode_marks(self) -> None:
        """Mark entities by their own id, facts and tasks by their owner's."""
        if not self._scope.marks:
            return
        db = self._db
        numbers: dict[Mark, int] = {}
        fresh(db, sql_edges.MARKS_DROP, sql_edges.MARKS_TABLE)
        pairs = ((i, numbers.setdefault(mark, len(numbers))) for i, mark in self._scope.marks.items())
        db.executemany(sql_edges.MARKS_FILL, pairs)
        marks = list(numbers)
        self._given(sql_edges.GIVEN_MARKS)
        self._recode(lambda end, n: _marked(end, marks[n]) if end.live and end.entity else end)
        self._given(*(sql_edges.of(sql_edges.GIVEN_OWN, t) for t in FACT_TABLES if self._schema.has(t)))
        self._recode(lambda end, n: end if end.entity or not end.live else _marked(end, marks[n]))

    def _given(self, *statements: str) -> None:
        """Fill the table of ids and values that `_recode` goes by."""
        fresh(self._db, sql_edges.GIVEN_DROP, sql_edges.GIVEN_TABLE)
        for statement in statements:
            self._db.execute(statement)

    def _recode(self, change: Callable[[End, Any], End]) -> None:
        """Change what the given ids are, as far as the table has them."""
        db = self._db
        pairs = db.rows(sql_edges.RECODE_PAIRS)
        if pairs:
            fresh(db, sql_edges.RECODE_DROP, sql_edges.RECODE_TABLE)
            new = ((code, value, self._code(change(self._ends[code], value))) for code, value in pairs)
            db.executemany(sql_edges.RECODE_FILL, new)
            db.execute(sql_edges.RECODE)


def fresh(db: Db, drop: str, create: str) -> None:
    """An empty temporary table in place of the last one."""
    db.execute(drop)
    db.execute(create)


def want(db: Db, ids: Iterable[str]) -> None:
    """Put ids into the temporary table that statements join in place of an unbounded list."""
    db.execute(sql_edges.WANTED_TABLE)
    db.execute(sql_edges.WANTED_CLEAR)
    db.executemany(sql_edges.WANTED_FILL, ((i,) for i in ids))


def _marked(end: End, mark: Mark) -> End:
    return end._replace(shielded=mark.shielded, row=mark.row, fixed=mark.fixed)
