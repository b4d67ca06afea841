"""Named set-based statements: the SQLite-only SQL of this program, in one room.

`{live}` is filled by `live()` with the condition for live entities; nothing that comes from a user or from data is
ever put into a statement's text.
"""

from __future__ import annotations

TABLES = (
    "SELECT name, type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL%' FROM sqlite_master WHERE type IN ('table', 'view')"
)
# The extended form also lists generated columns, which another program may have added.
COLUMNS = "SELECT name FROM pragma_table_xinfo(?)"
SCHEMA_VERSION = "SELECT MAX(version) FROM schema_version"
JOURNAL_MODE = "PRAGMA journal_mode"
TOUCH = "SELECT 1 FROM sqlite_master LIMIT 1"
# Looks at every page before any row; the first answer tells of damaged pages if there are any.
QUICK_CHECK = "PRAGMA quick_check(1)"
DATA_VERSION = "PRAGMA data_version"

ENTITY_COUNT = "SELECT COUNT(*) FROM curated_entities"
ANY_REDIRECT = "SELECT EXISTS (SELECT 1 FROM entity_redirects)"
REDIRECTS = "SELECT entity_id, merged_into FROM entity_redirects"
OPT_OUTS = "SELECT entity_id, reason, created_at FROM ct_entity_optouts"
MANIFESTS = "SELECT entity_id, mode, manifest_json FROM llm_wiki_entity_manifests ORDER BY entity_id"
MEMOS = "SELECT entity_id, manifest_hash FROM manifest_ensure_memo"
META = "SELECT value FROM llm_wiki_meta WHERE key = ?"
# Rows that record what heal did decide nothing, and there may be as many of them as entities.
DECIDING_ORIGINS = (
    "SELECT entity_id, original_type, reason, source_directory, recorded_at FROM entity_type_origin "
    "WHERE reason NOT IN ('alias_retype', 'queue_retype') OR source_directory IS NOT NULL"
)

_LIVE = "deleted_at IS NULL"
_NOT_MERGED = " AND NOT EXISTS (SELECT 1 FROM entity_redirects r WHERE r.entity_id = e.id)"

CENSUS = "SELECT entity_type, COUNT(*) FROM curated_entities e WHERE {live} GROUP BY entity_type"
CANDIDATES = (
    "SELECT e.rowid, e.id, e.name, e.entity_type FROM curated_entities e "
    "JOIN temp.ct_tui_types t ON e.entity_type = t.type WHERE {live}"
)
NULL_TYPES = (
    "SELECT e.rowid, e.id, e.name, e.entity_type FROM curated_entities e WHERE {live} AND e.entity_type IS NULL"
)
# Types that stand in the temporary table are plainly declared. The two statements share every live entity out.
_PLAIN = "(e.entity_type IN (SELECT type FROM temp.ct_tui_types) AND typeof(e.id) = 'text' AND typeof(e.name) = 'text')"
SUSPICIOUS = f"SELECT e.id, e.name, e.entity_type FROM curated_entities e WHERE {{live}} AND {_PLAIN} IS NOT TRUE"
WANTED = (
    "SELECT e.id, e.name, e.entity_type FROM temp.ct_tui_wanted w {join} curated_entities e ON e.id = w.id "
    f"WHERE {{live}} AND {_PLAIN} ORDER BY e.rowid"
)
ALL_LIVE = "SELECT e.rowid, e.id, e.name, e.entity_type FROM curated_entities e WHERE {live}"
LIVE_BY_ID = (
    "SELECT e.rowid, e.id, e.name, e.entity_type FROM temp.ct_tui_ids i {join} curated_entities e ON e.id = i.id "
    "WHERE {live} ORDER BY e.rowid"
)
IDS_OF_TYPE = "SELECT e.id FROM curated_entities e WHERE {live} AND {same_type} ORDER BY e.id"
PAGE_OF_TYPE = (
    "SELECT {details} FROM curated_entities e WHERE {live} AND {same_type} AND e.id > ?2 ORDER BY e.id LIMIT ?3"
)
ENTITY = "SELECT {details} FROM curated_entities e WHERE e.id = ?"
SEARCH = (
    "SELECT {details} FROM curated_entities e WHERE {live} AND (e.id = ?1 OR instr(lower(e.name), lower(?1)) > 0) "
    "ORDER BY e.name, e.id LIMIT ?2"
)
NOT_TEXT = (
    "SELECT e.rowid, e.id, e.name, e.entity_type FROM curated_entities e WHERE {live} AND "
    "(typeof(e.id) <> 'text' OR typeof(e.name) <> 'text')"
)
# GLOB finds what is not printable ASCII in C, as far as the first NUL; only those rows are then judged one by one.
# Types are few and are judged as they are counted.
SUSPECTS = (
    "SELECT e.rowid, e.id, e.name, e.entity_type FROM curated_entities e WHERE {live} AND ("
    "typeof(e.id) <> 'text' OR typeof(e.name) <> 'text' OR e.id GLOB '*[^ -~]*' OR e.name GLOB '*[^ -~]*' "
    "OR instr(e.id, char(0)) OR instr(e.name, char(0)))"
)

TYPES_TABLE = "CREATE TEMP TABLE IF NOT EXISTS ct_tui_types (type PRIMARY KEY)"
TYPES_CLEAR = "DELETE FROM temp.ct_tui_types"
TYPES_FILL = "INSERT OR IGNORE INTO temp.ct_tui_types VALUES (?)"
# Bytes that are no UTF-8 stand for a BLOB or for such a text, which SQLite tells apart.
TYPES_FILL_BYTES = "INSERT OR IGNORE INTO temp.ct_tui_types VALUES (?1), (CAST(?1 AS TEXT))"
WANTED_TABLE = "CREATE TEMP TABLE IF NOT EXISTS ct_tui_wanted (id PRIMARY KEY)"
WANTED_COUNT = "SELECT COUNT(*) FROM temp.ct_tui_wanted"
WANTED_CLEAR = "DELETE FROM temp.ct_tui_wanted"
WANTED_FILL = "INSERT OR IGNORE INTO temp.ct_tui_wanted VALUES (?)"
IDS_TABLE = "CREATE TEMP TABLE IF NOT EXISTS ct_tui_ids (id PRIMARY KEY)"
THESE_IDS = "(SELECT id FROM temp.ct_tui_ids)"

CHUNK_TABLE = (
    "CREATE TEMP TABLE IF NOT EXISTS ct_tui_chunk (n INTEGER PRIMARY KEY, id TEXT, old TEXT, new TEXT, "
    "reason TEXT, ruling INTEGER, entity INTEGER)"
)
CHUNK_CLEAR = "DELETE FROM temp.ct_tui_chunk"
# The rowid is looked up before any lock is taken; under the lock the row must still bear the planned id.
CHUNK_FILL = (
    "INSERT INTO temp.ct_tui_chunk VALUES (?1, ?2, ?3, ?4, ?5, ?6, (SELECT rowid FROM curated_entities WHERE id = ?2))"
)
# One condition decides which rows still are what the plan saw.
_UNMOVED = (
    "e.rowid = c.entity AND e.id = c.id AND e.deleted_at IS NULL AND e.entity_type = c.old "
    "AND NOT EXISTS (SELECT 1 FROM entity_redirects r WHERE r.entity_id = e.id) "
    "AND NOT EXISTS (SELECT 1 FROM ct_entity_optouts o WHERE o.entity_id = e.id)"
)
LAST_CHANGE = "SELECT COALESCE(MAX(id), 0) FROM ct_tui_type_change"
CHUNK_HISTORY = (
    'INSERT INTO ct_tui_type_change (entity_id, "from", "to", reason, ruling, run, "by", at) '
    "SELECT c.id, c.old, c.new, c.reason, c.ruling, ?, ?, ? FROM temp.ct_tui_chunk c CROSS JOIN curated_entities e "
    f"WHERE {_UNMOVED} ORDER BY c.n"
)
# What the history just took in is what may be written: the two statements below follow it inside the same lock.
CHUNK_ORIGIN = (
    "INSERT OR IGNORE INTO entity_type_origin (entity_id, original_type, reason, source_directory, recorded_at) "
    'SELECT entity_id, "from", reason, NULL, at FROM ct_tui_type_change '
    "WHERE id > ? AND reason IN ('alias_retype', 'queue_retype')"
)
CHUNK_UPDATE = (
    'UPDATE curated_entities AS e SET entity_type = t."to", updated_at = ? FROM ct_tui_type_change t '
    "WHERE t.id > ? AND e.id = t.entity_id"
)
CHUNK_MOVED = (
    "SELECT c.id, c.old, e.entity_type, e.deleted_at FROM temp.ct_tui_chunk c "
    "LEFT JOIN curated_entities e ON e.id = c.id "
    f"WHERE NOT EXISTS (SELECT 1 FROM curated_entities e WHERE {_UNMOVED})"
)
CHANGES_OF_RUN = 'SELECT entity_id, "from", "to", ruling FROM ct_tui_type_change WHERE run = ? ORDER BY id'

MANIFEST_SWAP = "UPDATE llm_wiki_entity_manifests SET manifest_json = ? WHERE entity_id = ? AND manifest_json = ?"
META_PUT = "INSERT OR REPLACE INTO llm_wiki_meta (key, value) VALUES (?, ?)"
MEMO_CLEAR = "DELETE FROM manifest_ensure_memo WHERE entity_id = ?"
MEMO_PUT = "INSERT OR REPLACE INTO manifest_ensure_memo (entity_id, manifest_hash, recorded_at) VALUES (?, ?, ?)"

QUOTES = (
    "SELECT c.content_hash, d.path, c.start_line, c.end_line FROM chunks c JOIN documents d ON d.id = c.doc_id "
    "WHERE c.content_hash IN ({marks})"
)
NAMES = "SELECT id, name, entity_type FROM curated_entities WHERE id IN ({marks})"
ENTRY_TITLES = "SELECT id, title, okf_type FROM llm_wiki_entries WHERE id IN ({marks})"
TASK_TITLES = "SELECT id, description, okf_type FROM llm_wiki_tasks WHERE id IN ({marks})"


def live(statement: str, *, redirects: bool) -> str:
    """Fill in the condition for live entities; the redirect test only where a redirect exists at all."""
    return statement.replace("{live}", _LIVE + (_NOT_MERGED if redirects else ""))


def joined(statement: str, *, few: bool) -> str:
    """Fill in how ids are joined: a few are looked up by an index one by one, many are met in one pass."""
    return statement.replace("{join}", "CROSS JOIN" if few else "JOIN")


def same_type(statement: str, *, broken: bool) -> str:
    """Fill in the comparison with a type (?1); bytes that are no UTF-8 stand for a BLOB or for such a text."""
    condition = "e.entity_type IN (?1, CAST(?1 AS TEXT))" if broken else "e.entity_type IS ?1"
    return statement.replace("{same_type}", condition)


def marks(statement: str, count: int) -> str:
    """Fill in as many question marks as there are values (at most 500 at a time, far below SQLite's limit)."""
    return statement.replace("{marks}", ",".join("?" * count))


# Evidence. The first statement over chunks reads only the partial index (doc_id, content_hash) where there is one.
FACT_REFS = (
    "SELECT f.entity_id, f.source_ref, f.id FROM llm_wiki_entries f "
    "WHERE f.deleted_at IS NULL AND f.source_ref IS NOT NULL"
)
# The fact itself is of interest only where its ref may be a token; one comparison leaves out all inline evidence.
CLAIMS = (
    "SELECT f.entity_id, f.source_ref, CASE WHEN f.source_ref < 'm' THEN f.id END FROM llm_wiki_entries f "
    "WHERE f.deleted_at IS NULL AND f.source_ref IS NOT NULL"
)
FACT_REFS_OF = (
    "SELECT f.entity_id, f.source_ref, f.id FROM temp.ct_tui_ids i {join} llm_wiki_entries f ON f.entity_id = i.id "
    "WHERE f.deleted_at IS NULL AND f.source_ref IS NOT NULL ORDER BY f.rowid"
)
EVIDENCE = "SELECT v.entry_id, v.evidence_json FROM librarian_evidence v WHERE v.entry_id IS NOT NULL"
EVIDENCE_UNDER = "SELECT v.evidence_json FROM librarian_evidence v WHERE v.entry_id = ?"
EVIDENCE_OF = (
    "SELECT v.entry_id, v.evidence_json FROM temp.ct_tui_ids i {join} llm_wiki_entries f ON f.entity_id = i.id "
    "{join} librarian_evidence v ON v.entry_id = f.id WHERE f.deleted_at IS NULL"
)
HASH_DOCUMENTS = "SELECT doc_id, content_hash FROM chunks WHERE content_hash != ''"
HASH_DOCUMENTS_OF = (
    "SELECT doc_id, content_hash FROM chunks WHERE content_hash != '' "
    "AND content_hash IN (SELECT hash FROM temp.ct_tui_hashes)"
)
HASH_DOCUMENTS_INDEXED = (
    "SELECT c.doc_id, c.content_hash FROM temp.ct_tui_hashes h CROSS JOIN chunks c ON c.content_hash = h.hash "
    "WHERE c.content_hash != ''"
)
DOCUMENT_PATHS = "SELECT id, path FROM documents"
HASHES_TABLE = "CREATE TEMP TABLE IF NOT EXISTS ct_tui_hashes (hash PRIMARY KEY)"
# A table that is made while rows are being read would end the reading, so that all of them are made before.
TEMPORARY = (TYPES_TABLE, WANTED_TABLE, IDS_TABLE, HASHES_TABLE)
HASHES_CLEAR = "DELETE FROM temp.ct_tui_hashes"
HASHES_FILL = "INSERT OR IGNORE INTO temp.ct_tui_hashes VALUES (?)"
LEADING_COLUMNS = (
    "SELECT c.name FROM pragma_index_list(?) i JOIN pragma_index_info(i.name) c WHERE c.seqno = 0 AND i.partial = 0"
)

# The write gate: every statement runs inside the mint's one transaction.
MANIFEST_ROWS = "SELECT entity_id, mode, manifest_json FROM llm_wiki_entity_manifests WHERE entity_id IN ({marks})"
ENTITY_INSERT = (
    "INSERT INTO curated_entities (id, name, entity_type, summary, summary_embedding, created_at, updated_at, "
    "deleted_at) VALUES (?, ?, ?, ?, NULL, ?, ?, NULL)"
)
ENTITY_UPSERT = (
    ENTITY_INSERT + " ON CONFLICT (id) DO UPDATE SET name = excluded.name, summary = excluded.summary, "
    "updated_at = excluded.updated_at"
)
ORIGIN_INSERT = (
    "INSERT OR IGNORE INTO entity_type_origin (entity_id, original_type, reason, source_directory, recorded_at) "
    "VALUES (?, ?, ?, ?, ?)"
)
META_FIRST = "INSERT OR IGNORE INTO llm_wiki_meta (key, value) VALUES (?, ?)"

# `ontology set`.
OPT_OUT_PUT = "INSERT OR REPLACE INTO ct_entity_optouts (entity_id, reason, created_at) VALUES (?, ?, ?)"
OPT_OUT_DROP = "DELETE FROM ct_entity_optouts WHERE entity_id = ?"
MANIFEST_PUT = (
    "INSERT OR REPLACE INTO llm_wiki_entity_manifests (entity_id, mode, manifest_json, updated_at) "
    "VALUES (?, 'strict', ?, ?)"
)
FALLBACK_SWAP = (
    "UPDATE llm_wiki_entity_manifests SET manifest_json = ?, updated_at = ? WHERE entity_id = ? AND manifest_json = ?"
)
MANIFEST_COUNT = "SELECT COUNT(*) FROM llm_wiki_entity_manifests"

RAW_ENTITY = "SELECT * FROM curated_entities WHERE id = ?"
