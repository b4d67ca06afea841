"""Named statements over edges: the ends of all edges in one temporary table, joined once.

No index is ever made on anybody else's table, and none of theirs leads with an edge's ends, so whatever asks for the
edges of some entities scans the edges once. `{…}` is filled with fixed text by `ends()` and never with data.
"""

from __future__ import annotations

# Beyond the default of 2 MB the table of a large brain would be read back from disk for every look-up.
TEMP_CACHE = "PRAGMA temp.cache_size = -65536"

ENDS_DROP = "DROP TABLE IF EXISTS temp.ct_tui_ends"
ENDS_TABLE = (
    "CREATE TEMP TABLE ct_tui_ends (id TEXT PRIMARY KEY, type TEXT, mark INTEGER NOT NULL, after TEXT) WITHOUT ROWID"
)
MARKS_DROP = "DROP TABLE IF EXISTS temp.ct_tui_marks"
MARKS_TABLE = "CREATE TEMP TABLE ct_tui_marks (id TEXT PRIMARY KEY, mark INTEGER) WITHOUT ROWID"
MARKS_FILL = "INSERT OR REPLACE INTO temp.ct_tui_marks VALUES (?, ?)"
MOVES_DROP = "DROP TABLE IF EXISTS temp.ct_tui_moves"
MOVES_TABLE = "CREATE TEMP TABLE ct_tui_moves (id TEXT PRIMARY KEY, after TEXT) WITHOUT ROWID"
MOVES_FILL = "INSERT OR REPLACE INTO temp.ct_tui_moves VALUES (?, ?)"
LOSERS_DROP = "DROP TABLE IF EXISTS temp.ct_tui_losers"
LOSERS_TABLE = "CREATE TEMP TABLE ct_tui_losers (id TEXT PRIMARY KEY, survivor TEXT) WITHOUT ROWID"
LOSERS_FILL = "INSERT OR REPLACE INTO temp.ct_tui_losers VALUES (?, ?)"
WANTED_DROP = "DROP TABLE IF EXISTS temp.ct_tui_wanted"
WANTED_TABLE = "CREATE TEMP TABLE ct_tui_wanted (id TEXT PRIMARY KEY) WITHOUT ROWID"
WANTED_FILL = "INSERT OR IGNORE INTO temp.ct_tui_wanted VALUES (?)"

ARCHIVED = -1
"""The mark of an id that only archived rows have."""

# An id may stand in several tables: a live row comes before an archived one, else the first table wins.
_LIVE_WINS = (
    " ON CONFLICT (id) DO UPDATE SET type = excluded.type, mark = excluded.mark, after = excluded.after "
    "WHERE ct_tui_ends.mark < 0 AND excluded.mark >= 0"
)
# A merged-away id counts as its survivor, but lives by its own row.
MERGED_ENDS = (
    "INSERT INTO temp.ct_tui_ends SELECT e.id, s.entity_type, {mark}, {after} FROM curated_entities e {only} "
    "JOIN temp.ct_tui_losers l ON l.id = e.id LEFT JOIN curated_entities s ON s.id = l.survivor {joins} "
    "WHERE e.deleted_at IS NULL AND typeof(e.id) = 'text'" + _LIVE_WINS
)
ENTITY_ENDS = (
    "INSERT INTO temp.ct_tui_ends SELECT e.id, CASE WHEN e.deleted_at IS NULL THEN e.entity_type END, "
    "CASE WHEN e.deleted_at IS NULL THEN {mark} ELSE -1 END, CASE WHEN e.deleted_at IS NULL THEN {after} END "
    "FROM curated_entities e {only} {joins} WHERE typeof(e.id) = 'text'" + _LIVE_WINS
)
_OWNED = (
    "INSERT INTO temp.ct_tui_ends SELECT e.id, CASE WHEN e.deleted_at IS NULL THEN e.okf_type END, "
    "CASE WHEN e.deleted_at IS NULL THEN 1 + {mark} ELSE -1 END, NULL "
    "FROM {table} e {only} {joins} WHERE typeof(e.id) = 'text'" + _LIVE_WINS
)
FACT_ENDS = _OWNED.replace("{table}", "llm_wiki_entries")
TASK_ENDS = _OWNED.replace("{table}", "llm_wiki_tasks")

_JOINED = (
    "FROM llm_wiki_edges e LEFT JOIN temp.ct_tui_ends s ON s.id = e.source_id "
    "LEFT JOIN temp.ct_tui_ends t ON t.id = e.target_id"
)
COUNT_TRIPLES = (
    "SELECT e.edge_type, s.type, s.mark, NULL, t.type, t.mark, NULL, COUNT(*), SUM(e.source_id = e.target_id) "
    + _JOINED
    + " GROUP BY 1, 2, 3, 5, 6"
)
COUNT_MOVED_TRIPLES = (
    "SELECT e.edge_type, s.type, s.mark, s.after, t.type, t.mark, t.after, COUNT(*), SUM(e.source_id = e.target_id) "
    + _JOINED
    + " GROUP BY 1, 2, 3, 4, 5, 6, 7"
)
_ROW = "SELECT e.rowid, e.id, e.entity_id, e.source_id, e.target_id, e.edge_type, e.created_at"
ALL_EDGES = _ROW + ", s.type, s.mark, s.after, t.type, t.mark, t.after " + _JOINED + " ORDER BY e.rowid"
TOUCHING = (
    _ROW + " FROM llm_wiki_edges e WHERE e.source_id IN (SELECT id FROM temp.ct_tui_wanted) "
    "OR e.target_id IN (SELECT id FROM temp.ct_tui_wanted) ORDER BY e.rowid LIMIT ?"
)
BY_ID = _ROW + " FROM llm_wiki_edges e JOIN temp.ct_tui_wanted w ON w.id = e.id ORDER BY e.id"
PAGE_OF_EDGE_TYPE = _ROW + " FROM llm_wiki_edges e WHERE e.edge_type = ? AND e.rowid > ? ORDER BY e.rowid LIMIT ?"
TWINS = "SELECT id FROM llm_wiki_edges WHERE entity_id = ? AND source_id = ? AND target_id = ? AND edge_type = ?"

CAUSES_DROP = "DROP TABLE IF EXISTS temp.ct_tui_causes"
CAUSES_TABLE = "CREATE TEMP TABLE ct_tui_causes (id TEXT PRIMARY KEY, cause INTEGER, at INTEGER) WITHOUT ROWID"
CAUSES_FILL = "INSERT OR REPLACE INTO temp.ct_tui_causes VALUES (?, ?, ?)"
LATEST_CHANGES = (
    'SELECT c.entity_id, c."from", c."to", c.reason, c.ruling, c.run, c.at FROM ct_tui_type_change c '
    "JOIN (SELECT MAX(id) AS id FROM ct_tui_type_change GROUP BY entity_id) latest ON latest.id = c.id"
)
HEALED_ORIGINS = (
    "SELECT o.entity_id, o.original_type, o.reason, o.recorded_at FROM entity_type_origin o "
    "WHERE o.reason IN ('alias_retype', 'queue_retype')"
)
# An edge written after an end was retyped cannot have been broken by that.
COUNT_CAUSED = (
    "SELECT e.edge_type, s.type, s.mark, s.after, t.type, t.mark, t.after, "
    "CASE WHEN e.created_at < cs.at * 1000 THEN cs.cause END, CASE WHEN e.created_at < ct.at * 1000 THEN ct.cause END, "
    "COUNT(*) "
    + _JOINED
    + " LEFT JOIN temp.ct_tui_causes cs ON cs.id = e.source_id LEFT JOIN temp.ct_tui_causes ct ON ct.id = e.target_id "
    "WHERE cs.cause IS NOT NULL OR ct.cause IS NOT NULL GROUP BY 1, 2, 3, 4, 5, 6, 7, 8, 9"
)

# Compare-and-set over the whole row; a triple that is there already is left alone and changes no row.
EDGE_SWAP = (
    "UPDATE OR IGNORE llm_wiki_edges SET source_id = ?, target_id = ?, edge_type = ? "
    "WHERE id = ? AND entity_id = ? AND source_id = ? AND target_id = ? AND edge_type = ? AND created_at = ?"
)
EDGE_DROP = (
    "DELETE FROM llm_wiki_edges "
    "WHERE id = ? AND entity_id = ? AND source_id = ? AND target_id = ? AND edge_type = ? AND created_at = ?"
)
EDGE_RESTORE = (
    "INSERT OR IGNORE INTO llm_wiki_edges (id, entity_id, source_id, target_id, edge_type, created_at) "
    "VALUES (?, ?, ?, ?, ?, ?)"
)
ANY_OPT_OUT = "SELECT EXISTS (SELECT 1 FROM ct_entity_optouts)"
OWNERS = "SELECT id, entity_id FROM {table} WHERE id IN ({marks})"
LIVE_IDS = "SELECT id FROM {table} WHERE deleted_at IS NULL AND id IN ({marks})"


def ends(statement: str, *, owner: str, marked: bool, moving: bool, only: bool) -> str:
    """Fill in a statement that collects ends: `owner` is the column that marks and moves are looked up by."""
    joins = []
    if marked:
        joins.append(f"LEFT JOIN temp.ct_tui_marks m ON m.id = {owner}")
    if moving:
        joins.append(f"LEFT JOIN temp.ct_tui_moves c ON c.id = {owner}")
    return (
        statement.replace("{mark}", "COALESCE(m.mark, 0)" if marked else "0")
        .replace("{after}", "c.after" if moving else "NULL")
        .replace("{only}", "JOIN temp.ct_tui_wanted w ON w.id = e.id" if only else "")
        .replace("{joins}", " ".join(joins))
    )
