"""Named statements of the curation side: streams for the lint rules, and what merging and asserting read and write.

`{live}` is filled by `sql.live()` and `{columns}` by fixed column names that were looked up in the schema; nothing
that comes from a user or from data is ever put into a statement's text. No statement is run once a row.
"""

from __future__ import annotations

ENTITIES = "SELECT e.id, e.name, e.entity_type, {columns} FROM curated_entities e WHERE {live}"
ENTITY_COUNT = "SELECT COUNT(*) FROM curated_entities e WHERE {live}"
TABLE_COUNTS = {
    "llm_wiki_entries": "SELECT COUNT(*) FROM llm_wiki_entries",
    "llm_wiki_edges": "SELECT COUNT(*) FROM llm_wiki_edges",
}
CANDIDATES = "SELECT e.id, e.name, e.entity_type, e.summary FROM curated_entities e WHERE {live}"
CANDIDATES_BY_ID = (
    "SELECT e.id, e.name, e.entity_type, e.summary FROM curated_entities e "
    "JOIN temp.ct_tui_ids i ON e.id = i.id WHERE {live}"
)
ODD_ENTITY_TIMES = (
    "SELECT e.id, e.name, e.entity_type, e.created_at, e.updated_at FROM curated_entities e WHERE {live} AND ("
    "typeof(e.created_at) <> 'integer' OR abs(e.created_at) >= ? "
    "OR typeof(e.updated_at) <> 'integer' OR abs(e.updated_at) >= ?)"
)

EDGE_TYPES = "SELECT edge_type, COUNT(*) FROM llm_wiki_edges GROUP BY edge_type"
EDGES_OF_TYPES = (
    "SELECT d.id, d.entity_id, d.source_id, d.target_id, d.edge_type, d.created_at FROM llm_wiki_edges d "
    "JOIN temp.ct_tui_types t ON d.edge_type = t.type"
)
EDGES_OF_ODD_TYPES = (
    "SELECT d.id, d.entity_id, d.source_id, d.target_id, d.edge_type, d.created_at FROM llm_wiki_edges d "
    "WHERE d.edge_type IS NULL OR (typeof(d.edge_type) = 'text' AND CAST(d.edge_type AS BLOB) IN "
    "(SELECT type FROM temp.ct_tui_types WHERE typeof(type) = 'blob'))"
)
ODD_EDGE_TIMES = (
    "SELECT id, entity_id, source_id, target_id, edge_type, created_at FROM llm_wiki_edges "
    "WHERE typeof(created_at) <> 'integer' OR (created_at <> 0 AND abs(created_at) < ?) OR abs(created_at) >= ?"
)

# The owner's type and the librarian's evidence come with the fact, so that no fact costs a query of its own.
FACTS = (
    "SELECT f.id, f.entity_id, f.title, f.body, f.confidence, f.source_type, f.source_ref, f.created_at, {columns} "
    "FROM llm_wiki_entries f LEFT JOIN curated_entities e ON e.id = f.entity_id {joins} WHERE f.deleted_at IS NULL"
)
EVIDENCE_JOIN = "LEFT JOIN librarian_evidence v ON v.entry_id = f.id"
CHUNK_HASHES = "SELECT DISTINCT content_hash FROM chunks WHERE content_hash <> ''"
CHUNK_IDS = "SELECT id FROM chunks"
INDEXED_PATHS = "SELECT path FROM documents WHERE status = 'indexed'"
ENGINE_REFS = "SELECT DISTINCT source_ref FROM llm_wiki_source_ref_index WHERE deleted_at IS NULL"

MEMBERS_TABLE = (
    "CREATE TEMP TABLE IF NOT EXISTS ct_tui_members (id TEXT PRIMARY KEY, member TEXT, grp TEXT) WITHOUT ROWID"
)
MEMBERS_CLEAR = "DELETE FROM temp.ct_tui_members"
MEMBERS_FILL = "INSERT OR IGNORE INTO temp.ct_tui_members VALUES (?, ?, ?)"
# One pass over the edges, however many groups there are; the plus keeps it from walking them in the order of their ids.
SELF_LOOPS = (
    "SELECT s.grp, d.id, d.source_id, d.target_id FROM llm_wiki_edges d "
    "JOIN temp.ct_tui_members s ON s.id = d.source_id JOIN temp.ct_tui_members t ON t.id = d.target_id "
    "WHERE s.grp = t.grp AND s.member <> t.member ORDER BY +d.id"
)
MEMBER_FACTS = (
    "SELECT m.member, COUNT(*) FROM temp.ct_tui_members m CROSS JOIN llm_wiki_entries f ON m.id = f.entity_id "
    "WHERE f.deleted_at IS NULL GROUP BY m.member"
)
MEMBER_EDGES = (
    "SELECT member, SUM(n) FROM ("
    "SELECT m.member, COUNT(*) AS n FROM llm_wiki_edges d JOIN temp.ct_tui_members m ON m.id = d.source_id "
    "GROUP BY m.member UNION ALL "
    "SELECT m.member, COUNT(*) FROM llm_wiki_edges d JOIN temp.ct_tui_members m ON m.id = d.target_id "
    "WHERE d.source_id <> d.target_id GROUP BY m.member) GROUP BY member"
)
MEMBER_REFS = (
    "SELECT m.member, f.source_ref, {columns} FROM llm_wiki_entries f "
    "JOIN temp.ct_tui_members m ON m.id = f.entity_id {joins} WHERE f.deleted_at IS NULL"
)

REDIRECT_OF = "SELECT merged_into FROM entity_redirects WHERE entity_id = ?"
REDIRECT_PUT = "INSERT OR REPLACE INTO entity_redirects (entity_id, merged_into, created_at) VALUES (?, ?, ?)"
# A ruled merge writes only what nobody decided otherwise: both ends alive, neither of them merged away.
REDIRECT_NEW = (
    "INSERT INTO entity_redirects (entity_id, merged_into, created_at) SELECT ?1, ?2, ?3 "
    "WHERE EXISTS (SELECT 1 FROM curated_entities WHERE id = ?1 AND deleted_at IS NULL) "
    "AND EXISTS (SELECT 1 FROM curated_entities WHERE id = ?2 AND deleted_at IS NULL) "
    "AND NOT EXISTS (SELECT 1 FROM entity_redirects WHERE entity_id IN (?1, ?2))"
)
REDIRECT_SWAP = "UPDATE entity_redirects SET merged_into = ? WHERE entity_id = ? AND merged_into = ?"
REDIRECT_DELETE = "DELETE FROM entity_redirects WHERE entity_id = ? AND merged_into = ?"
REDIRECTS = "SELECT entity_id, merged_into FROM entity_redirects"
# Only a row whose target is itself merged away can need rewriting; the rest already lead to a final survivor.
REDIRECTS_OPEN = (
    "SELECT r.entity_id, r.merged_into FROM entity_redirects r "
    "WHERE EXISTS (SELECT 1 FROM entity_redirects n WHERE n.entity_id = r.merged_into)"
)
ENTITY_NOW = "SELECT name, deleted_at FROM curated_entities WHERE id = ?"

FINDINGS = "SELECT fingerprint FROM ct_tui_finding"
FINDING_SEEN = (
    "INSERT INTO ct_tui_finding (fingerprint, rule, first_run, first_at, last_run) VALUES (?, ?, ?, ?, ?) "
    "ON CONFLICT (fingerprint) DO UPDATE SET last_run = excluded.last_run"
)
FINDINGS_GONE = (
    "DELETE FROM ct_tui_finding WHERE fingerprint IN "
    "(SELECT fingerprint FROM ct_tui_finding WHERE last_run <> ? LIMIT ?)"
)

EDGE_END_LIVE = (
    "SELECT EXISTS (SELECT 1 FROM curated_entities WHERE id = ?1 AND deleted_at IS NULL "
    "AND NOT EXISTS (SELECT 1 FROM entity_redirects WHERE entity_id = ?1))"
)
EDGE_PUT = (
    "INSERT OR IGNORE INTO llm_wiki_edges (id, entity_id, source_id, target_id, edge_type, created_at) "
    "VALUES (?, ?, ?, ?, ?, ?)"
)
EDGE_SAME = "SELECT id FROM llm_wiki_edges WHERE entity_id = ? AND source_id = ? AND target_id = ? AND edge_type = ?"
EDGE_THERE = "SELECT EXISTS (SELECT 1 FROM llm_wiki_edges WHERE id = ?)"
# No index leads with an edge's source, so this scans the edges once, before any lock is taken.
EDGES_FROM = "SELECT d.id, d.edge_type, d.target_id, d.created_at FROM llm_wiki_edges d WHERE d.source_id IN ({marks})"
ASSERTIONS_OF = (
    "SELECT edge_id, valid_from, valid_to, confidence, kind, provenance, flagged_by FROM ct_tui_assertion "
    "WHERE edge_id IN ({marks})"
)
ASSERTION_PUT = (
    "INSERT OR REPLACE INTO ct_tui_assertion (edge_id, valid_from, valid_to, confidence, kind, provenance, statement, "
    'flagged_by, "by", at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)'
)
ASSERTION_FLAG = "UPDATE ct_tui_assertion SET flagged_by = ? WHERE edge_id = ?"
NAMES_AND_TYPES = "SELECT e.id, e.name, e.entity_type FROM curated_entities e WHERE e.deleted_at IS NULL"

RAW_ROWS = {
    "entity": ("curated_entities", "SELECT * FROM curated_entities WHERE id = ?"),
    "fact": ("llm_wiki_entries", "SELECT * FROM llm_wiki_entries WHERE id = ?"),
    "edge": ("llm_wiki_edges", "SELECT * FROM llm_wiki_edges WHERE id = ?"),
    "manifest": ("llm_wiki_entity_manifests", "SELECT * FROM llm_wiki_entity_manifests WHERE entity_id = ?"),
}
"""By what a finding is about: the table, and the statement that reads one of its rows as it stands."""
