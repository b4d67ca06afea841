"""Named statements over edges: what the ends are in one temporary table, joined once and grouped.

No index is ever made on anybody else's table, and none of theirs leads with an edge's ends, so whatever asks for the
edges of some entities scans the edges once.
"""

from __future__ import annotations

# The default of 2 MB would read the table of a large brain back for nearly every look-up; this costs a large brain no
# noticeable time against four times as much, since what does not fit stays in the system's own cache.
TEMP_CACHE = "PRAGMA temp.cache_size = -16384"

# `code` numbers what an end is, so that a million ends take little room and compare fast; see `EndTable`.
ENDS_DROP = "DROP TABLE IF EXISTS temp.ct_tui_ends"
ENDS_TABLE = "CREATE TEMP TABLE ct_tui_ends (id TEXT PRIMARY KEY, code INTEGER NOT NULL) WITHOUT ROWID"
KINDS_DROP = "DROP TABLE IF EXISTS temp.ct_tui_kinds"
KINDS_TABLE = "CREATE TEMP TABLE ct_tui_kinds (type TEXT PRIMARY KEY, entity INTEGER, fact INTEGER) WITHOUT ROWID"
KINDS_FILL = "INSERT INTO temp.ct_tui_kinds VALUES (?, ?, ?)"
GIVEN_DROP = "DROP TABLE IF EXISTS temp.ct_tui_given"
GIVEN_TABLE = "CREATE TEMP TABLE ct_tui_given (id TEXT PRIMARY KEY, value) WITHOUT ROWID"
GIVEN_FILL = "INSERT OR REPLACE INTO temp.ct_tui_given VALUES (?, ?)"
MARKS_DROP = "DROP TABLE IF EXISTS temp.ct_tui_marks"
MARKS_TABLE = "CREATE TEMP TABLE ct_tui_marks (id TEXT PRIMARY KEY, value INTEGER) WITHOUT ROWID"
MARKS_FILL = "INSERT OR REPLACE INTO temp.ct_tui_marks VALUES (?, ?)"
GIVEN_MARKS = "INSERT INTO temp.ct_tui_given SELECT id, value FROM temp.ct_tui_marks"
GIVEN_OWN = (
    "INSERT OR IGNORE INTO temp.ct_tui_given SELECT f.id, m.value FROM temp.ct_tui_marks m "
    "JOIN {table} f ON f.entity_id = m.id WHERE typeof(f.id) = 'text' AND f.deleted_at IS NULL"
)
RECODE_DROP = "DROP TABLE IF EXISTS temp.ct_tui_recode"
RECODE_TABLE = (
    "CREATE TEMP TABLE ct_tui_recode (code INTEGER, value, new INTEGER, PRIMARY KEY (code, value)) WITHOUT ROWID"
)
RECODE_FILL = "INSERT INTO temp.ct_tui_recode VALUES (?, ?, ?)"
RECODE_PAIRS = "SELECT DISTINCT n.code, g.value FROM temp.ct_tui_given g CROSS JOIN temp.ct_tui_ends n ON n.id = g.id"
# The sub-select fixes the order of the look-ups: from the few given ids to their ends, never the other way round.
RECODE = (
    "UPDATE temp.ct_tui_ends SET code = found.new FROM (SELECT n.id, r.new FROM temp.ct_tui_given g "
    "CROSS JOIN temp.ct_tui_ends n ON n.id = g.id CROSS JOIN temp.ct_tui_recode r ON r.code = n.code "
    "AND r.value = g.value) found WHERE temp.ct_tui_ends.id = found.id"
)
LOSERS_DROP = "DROP TABLE IF EXISTS temp.ct_tui_losers"
LOSERS_TABLE = "CREATE TEMP TABLE ct_tui_losers (id TEXT PRIMARY KEY, survivor TEXT) WITHOUT ROWID"
LOSERS_FILL = "INSERT OR REPLACE INTO temp.ct_tui_losers VALUES (?, ?)"
# Emptied and not dropped: a table cannot be dropped while edges are being streamed.
WANTED_TABLE = "CREATE TEMP TABLE IF NOT EXISTS ct_tui_wanted (id TEXT PRIMARY KEY) WITHOUT ROWID"
WANTED_CLEAR = "DELETE FROM temp.ct_tui_wanted"
WANTED_FILL = "INSERT OR IGNORE INTO temp.ct_tui_wanted VALUES (?)"

ENTITY_TYPES = "SELECT DISTINCT entity_type FROM curated_entities WHERE typeof(entity_type) = 'text'"
OWN_TYPES = "SELECT DISTINCT okf_type FROM {table} WHERE typeof(okf_type) = 'text'"

# A merged-away id counts as its survivor, but lives by its own row. The parameter is the code of an unknown type.
MERGED_ENDS = (
    "INSERT INTO temp.ct_tui_ends SELECT e.id, COALESCE(k.entity, ?) FROM curated_entities e "
    "JOIN temp.ct_tui_losers l ON l.id = e.id LEFT JOIN curated_entities s ON s.id = l.survivor "
    "LEFT JOIN temp.ct_tui_kinds k ON k.type = s.entity_type WHERE e.deleted_at IS NULL AND typeof(e.id) = 'text'"
)
ENTITY_ENDS = (
    "INSERT OR IGNORE INTO temp.ct_tui_ends SELECT e.id, COALESCE(k.entity, ?) FROM curated_entities e "
    "LEFT JOIN temp.ct_tui_kinds k ON k.type = e.entity_type WHERE e.deleted_at IS NULL AND typeof(e.id) = 'text'"
)
OWN_ENDS = (
    "INSERT OR IGNORE INTO temp.ct_tui_ends SELECT e.id, COALESCE(k.fact, ?) FROM {table} e "
    "LEFT JOIN temp.ct_tui_kinds k ON k.type = e.okf_type WHERE e.deleted_at IS NULL AND typeof(e.id) = 'text'"
)
ARCHIVED_ENDS = (
    "INSERT OR IGNORE INTO temp.ct_tui_ends SELECT e.id, ? FROM {table} e "
    "WHERE e.deleted_at IS NOT NULL AND typeof(e.id) = 'text'"
)

WANTED_ENTITIES = (
    "SELECT e.id, CASE WHEN l.id IS NULL THEN e.entity_type ELSE s.entity_type END, e.deleted_at IS NULL, e.id "
    "FROM temp.ct_tui_wanted w JOIN curated_entities e ON e.id = w.id LEFT JOIN temp.ct_tui_losers l ON l.id = e.id "
    "LEFT JOIN curated_entities s ON s.id = l.survivor"
)
WANTED_OWN = (
    "SELECT e.id, e.okf_type, e.deleted_at IS NULL, e.entity_id FROM temp.ct_tui_wanted w JOIN {table} e ON e.id = w.id"
)

_JOINED = (
    "FROM llm_wiki_edges e LEFT JOIN temp.ct_tui_ends s ON s.id = e.source_id "
    "LEFT JOIN temp.ct_tui_ends t ON t.id = e.target_id"
)
SIDE = 1 << 30
"""One packed number holds both ends' codes and whether they are the same id: (source * SIDE + target) * 2 + same."""

# An edge with an end that the table does not know is a group of its own, so that one pass also says which they are.
COUNT_TRIPLES = (
    "SELECT e.edge_type, "
    f"CASE WHEN s.code AND t.code THEN (s.code * {SIDE} + t.code) * 2 + (e.source_id = e.target_id) END, "
    "CASE WHEN s.code AND t.code THEN NULL ELSE e.rowid END, COUNT(*) " + _JOINED + " GROUP BY 1, 2, 3 ORDER BY 1, 2, 3"
)
# Rows spread evenly over the table, by which the way to count is chosen.
SAMPLE = (
    "WITH RECURSIVE step(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM step WHERE n < 255), "
    "span(low, high) AS (SELECT MIN(rowid), MAX(rowid) FROM llm_wiki_edges) "
    "SELECT AVG(s.id IS NULL OR t.id IS NULL) FROM span CROSS JOIN step CROSS JOIN llm_wiki_edges e "
    "ON e.rowid = (SELECT x.rowid FROM llm_wiki_edges x WHERE x.rowid >= low + (high - low) * n / 255 "
    "ORDER BY x.rowid LIMIT 1) "
    "LEFT JOIN temp.ct_tui_ends s ON s.id = e.source_id LEFT JOIN temp.ct_tui_ends t ON t.id = e.target_id"
)

_ROW = "SELECT e.rowid, e.id, e.entity_id, e.source_id, e.target_id, e.edge_type, e.created_at"
ALL_EDGES = _ROW + ", s.code, t.code " + _JOINED + " ORDER BY e.rowid"
BY_ROWID = _ROW + " FROM llm_wiki_edges e WHERE e.rowid IN ({marks})"
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
# A merged-away id has what its survivor has, a survivor being no loser itself.
CAUSES_OF_LOSERS = (
    "INSERT OR REPLACE INTO temp.ct_tui_causes "
    "SELECT l.id, c.cause, c.at FROM temp.ct_tui_losers l JOIN temp.ct_tui_causes c ON c.id = l.survivor"
)
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
    f"SELECT e.edge_type, CASE WHEN s.code AND t.code THEN (s.code * {SIDE} + t.code) * 2 END, "
    "CASE WHEN s.code AND t.code THEN NULL ELSE e.rowid END, "
    "CASE WHEN e.created_at < cs.at * 1000 THEN cs.cause END, CASE WHEN e.created_at < ct.at * 1000 THEN ct.cause END, "
    "COUNT(*) "
    + _JOINED
    + " LEFT JOIN temp.ct_tui_causes cs ON cs.id = e.source_id LEFT JOIN temp.ct_tui_causes ct ON ct.id = e.target_id "
    # Asked of the edge alone, before any of its ends is looked up.
    "WHERE e.source_id IN (SELECT id FROM temp.ct_tui_causes) OR e.target_id IN (SELECT id FROM temp.ct_tui_causes) "
    "GROUP BY 1, 2, 3, 4, 5"
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


def of(statement: str, table: str) -> str:
    """Fill in which of the app's tables a statement reads; `table` is one of this program's own constants."""
    return statement.replace("{table}", table)
