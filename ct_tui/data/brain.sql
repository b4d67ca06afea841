-- The tables, indexes and the view of a brain, in the shape that the app and its wiki engine give them.
-- Only the demo makes a brain; every other brain is opened as it is found.

-- The wiki engine's own tables. The app refuses a brain in which one of them has a column more or less.
CREATE TABLE llm_wiki_entries (
  id TEXT PRIMARY KEY,
  entity_id TEXT NOT NULL,
  title TEXT NOT NULL,
  body TEXT NOT NULL,
  tags TEXT NOT NULL DEFAULT '[]',
  confidence TEXT NOT NULL DEFAULT 'inferred',
  source_type TEXT NOT NULL DEFAULT 'librarian_inferred',
  source_hash TEXT,
  source_ref TEXT,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  last_accessed_at INTEGER,
  access_count INTEGER NOT NULL DEFAULT 0,
  deleted_at INTEGER,
  embedding TEXT,
  embedding_blob BLOB,
  okf_type TEXT,
  ontology_checked_at INTEGER,
  heal_checked_at INTEGER,
  lifecycle_status TEXT NOT NULL DEFAULT 'stable',
  stale_after INTEGER,
  generated_by TEXT,
  last_verified_at INTEGER,
  last_verified_by TEXT,
  okf_sources TEXT,
  okf_verified TEXT,
  okf_usage_window TEXT,
  embedding_failed_at INTEGER,
  embedding_failure_kind TEXT,
  embedding_attempts INTEGER NOT NULL DEFAULT 0,
  tier TEXT CHECK (tier IN ('fact', 'wisdom') OR tier IS NULL),
  valid_from INTEGER,
  valid_to INTEGER,
  superseded_by TEXT,
  superseded_at INTEGER
);
CREATE INDEX llm_wiki_entries_entity_idx ON llm_wiki_entries (entity_id);
CREATE INDEX llm_wiki_entries_source_ref_idx ON llm_wiki_entries (entity_id, source_ref);
CREATE INDEX llm_wiki_entries_source_hash_idx ON llm_wiki_entries (entity_id, source_hash)
  WHERE source_hash IS NOT NULL;
CREATE INDEX llm_wiki_entries_updated_idx ON llm_wiki_entries (updated_at DESC);
CREATE INDEX llm_wiki_entries_lifecycle_status_idx ON llm_wiki_entries (lifecycle_status);
CREATE INDEX llm_wiki_entries_stale_after_idx ON llm_wiki_entries (stale_after);
CREATE INDEX llm_wiki_entries_last_verified_at_idx ON llm_wiki_entries (last_verified_at);

CREATE TABLE llm_wiki_source_ref_index (
  id TEXT PRIMARY KEY,
  entity_id TEXT NOT NULL,
  source_hash TEXT NOT NULL,
  source_ref TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  deleted_at INTEGER
);
CREATE UNIQUE INDEX llm_wiki_idx_source_ref_hash ON llm_wiki_source_ref_index (entity_id, source_hash)
  WHERE deleted_at IS NULL;

CREATE TABLE llm_wiki_tasks (
  id TEXT PRIMARY KEY,
  entity_id TEXT NOT NULL,
  description TEXT NOT NULL,
  status TEXT NOT NULL DEFAULT 'pending',
  priority INTEGER NOT NULL DEFAULT 0,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  resolved_at INTEGER,
  deleted_at INTEGER,
  okf_type TEXT,
  lifecycle_status TEXT NOT NULL DEFAULT 'stable',
  stale_after INTEGER,
  generated_by TEXT,
  last_verified_at INTEGER,
  last_verified_by TEXT,
  okf_sources TEXT,
  okf_verified TEXT,
  okf_usage_window TEXT
);
CREATE INDEX llm_wiki_tasks_entity_idx ON llm_wiki_tasks (entity_id, status);
CREATE INDEX llm_wiki_tasks_lifecycle_status_idx ON llm_wiki_tasks (lifecycle_status);
CREATE INDEX llm_wiki_tasks_stale_after_idx ON llm_wiki_tasks (stale_after);
CREATE INDEX llm_wiki_tasks_last_verified_at_idx ON llm_wiki_tasks (last_verified_at);

CREATE TABLE llm_wiki_edges (
  id TEXT PRIMARY KEY,
  entity_id TEXT NOT NULL,
  source_id TEXT NOT NULL,
  target_id TEXT NOT NULL,
  edge_type TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  UNIQUE (entity_id, source_id, target_id, edge_type)
);
CREATE INDEX llm_wiki_edges_entity_id_idx ON llm_wiki_edges (entity_id, id);

CREATE TABLE llm_wiki_events (
  id TEXT PRIMARY KEY,
  entity_id TEXT NOT NULL,
  event_type TEXT NOT NULL,
  summary TEXT NOT NULL,
  related_entry_id TEXT,
  created_at INTEGER NOT NULL,
  occurred_at INTEGER
);
CREATE INDEX llm_wiki_events_entity_idx ON llm_wiki_events (entity_id, created_at DESC);

CREATE TABLE llm_wiki_checkpoints (
  entity_id TEXT PRIMARY KEY,
  heal_checkpoint INTEGER NOT NULL DEFAULT 0,
  memory_checkpoint INTEGER NOT NULL DEFAULT 0
);

CREATE TABLE llm_wiki_entity_manifests (
  entity_id TEXT PRIMARY KEY,
  mode TEXT NOT NULL DEFAULT 'off',
  manifest_json TEXT NOT NULL DEFAULT '{"node_types":[],"edge_types":[]}',
  updated_at INTEGER NOT NULL
);

CREATE TABLE llm_wiki_meta (
  key TEXT PRIMARY KEY,
  value TEXT NOT NULL
);

CREATE TABLE llm_wiki_outbox (
  id TEXT PRIMARY KEY,
  entity_id TEXT NOT NULL,
  table_name TEXT NOT NULL,
  record_id TEXT NOT NULL,
  operation TEXT NOT NULL,
  payload TEXT NOT NULL,
  created_at INTEGER NOT NULL
);
CREATE INDEX llm_wiki_outbox_entity_id_created_at ON llm_wiki_outbox (entity_id, created_at);
CREATE INDEX llm_wiki_outbox_created_at ON llm_wiki_outbox (created_at);

-- The app's tables: the vault's files and how they came in.
CREATE TABLE documents (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  path TEXT NOT NULL UNIQUE,
  hash TEXT NOT NULL,
  tier TEXT NOT NULL CHECK (tier IN ('user_doc', 'wiki')),
  folder_rules_id INTEGER,
  last_indexed INTEGER,
  status TEXT NOT NULL DEFAULT 'pending'
    CHECK (status IN ('pending', 'pending_reindex', 'indexed', 'error', 'orphaned')),
  synth_hash TEXT,
  synth_model TEXT,
  synth_at INTEGER,
  quarantined_at INTEGER
);

CREATE TABLE chunks (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  doc_id INTEGER NOT NULL REFERENCES documents (id) ON DELETE CASCADE,
  chunk_text TEXT NOT NULL,
  position INTEGER NOT NULL,
  start_line INTEGER NOT NULL DEFAULT 1,
  end_line INTEGER NOT NULL DEFAULT 1,
  symbol_name TEXT,
  strategy TEXT NOT NULL DEFAULT 'prose',
  defined_symbol TEXT,
  entity_id TEXT,
  content_hash TEXT NOT NULL DEFAULT ''
);
CREATE UNIQUE INDEX idx_chunks_doc_hash ON chunks (doc_id, content_hash) WHERE content_hash != '';

CREATE TABLE folder_rules (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  folder_path TEXT NOT NULL UNIQUE,
  librarian_mode TEXT NOT NULL DEFAULT 'index' CHECK (librarian_mode IN ('index', 'summarize', 'synthesize')),
  provider_override TEXT,
  model_override TEXT,
  auto_approve INTEGER NOT NULL DEFAULT 0
);

CREATE TABLE ingest_runs (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  doc_id INTEGER NOT NULL,
  run_at INTEGER NOT NULL,
  outcome TEXT NOT NULL CHECK (outcome IN ('indexed', 'error'))
);

CREATE TABLE deposit_kick_state (
  path TEXT PRIMARY KEY,
  state TEXT NOT NULL
    CHECK (state IN ('pending', 'chunked', 'ingested', 'failed', 'no_ingest_host', 'queued_watcher')),
  error TEXT,
  updated_ms INTEGER NOT NULL
);

-- The graph that is curated.
CREATE TABLE curated_entities (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  entity_type TEXT NOT NULL DEFAULT 'concept',
  summary TEXT NOT NULL DEFAULT '',
  summary_embedding BLOB,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  deleted_at INTEGER
);

CREATE TABLE curated_proposals (
  id TEXT PRIMARY KEY,
  kind TEXT NOT NULL CHECK (kind IN ('new_entity', 'update_entity')),
  entity_id TEXT,
  proposed_name TEXT,
  proposed_type TEXT,
  reasoning TEXT,
  model TEXT NOT NULL,
  status TEXT NOT NULL DEFAULT 'pending'
    CHECK (status IN ('pending', 'approved', 'rejected', 'partial', 'superseded')),
  reject_reason TEXT,
  created_at INTEGER NOT NULL,
  resolved_at INTEGER,
  reviewed_by TEXT
);

CREATE TABLE curated_proposal_items (
  id TEXT PRIMARY KEY,
  proposal_id TEXT NOT NULL REFERENCES curated_proposals (id) ON DELETE CASCADE,
  item_type TEXT NOT NULL
    CHECK (item_type IN ('fact_add', 'fact_update', 'fact_archive', 'edge_add', 'task_add', 'summary_update')),
  target_id TEXT,
  payload TEXT NOT NULL,
  evidence TEXT NOT NULL DEFAULT '[]',
  status TEXT NOT NULL DEFAULT 'pending' CHECK (status IN ('pending', 'accepted', 'rejected')),
  edited_payload TEXT
);

CREATE TABLE curated_proposal_sources (
  proposal_id TEXT NOT NULL REFERENCES curated_proposals (id) ON DELETE CASCADE,
  doc_id INTEGER NOT NULL REFERENCES documents (id) ON DELETE CASCADE,
  role TEXT NOT NULL DEFAULT 'evidence' CHECK (role IN ('trigger', 'evidence')),
  PRIMARY KEY (proposal_id, doc_id)
);

CREATE TABLE curated_proposal_deleted_sources (
  proposal_id TEXT NOT NULL REFERENCES curated_proposals (id) ON DELETE CASCADE,
  doc_path TEXT NOT NULL,
  doc_hash TEXT NOT NULL,
  role TEXT NOT NULL CHECK (role IN ('trigger', 'evidence')),
  deleted_at INTEGER NOT NULL,
  PRIMARY KEY (proposal_id, doc_path)
);
CREATE INDEX idx_curated_proposal_deleted_sources_hash ON curated_proposal_deleted_sources (doc_hash);

CREATE TABLE librarian_evidence (
  entry_id TEXT PRIMARY KEY REFERENCES llm_wiki_entries (id) ON DELETE CASCADE,
  proposal_id TEXT NOT NULL,
  evidence_json TEXT NOT NULL CHECK (json_valid(evidence_json)),
  unanchored INTEGER NOT NULL DEFAULT 0,
  created_at INTEGER NOT NULL
);

-- What the write gate and the merge remember.
CREATE TABLE entity_type_origin (
  entity_id TEXT PRIMARY KEY,
  original_type TEXT,
  reason TEXT NOT NULL,
  source_directory TEXT,
  recorded_at INTEGER NOT NULL
);

CREATE TABLE entity_redirects (
  entity_id TEXT PRIMARY KEY,
  merged_into TEXT NOT NULL,
  created_at INTEGER NOT NULL
);

CREATE TABLE ct_entity_optouts (
  entity_id TEXT PRIMARY KEY,
  reason TEXT,
  created_at INTEGER NOT NULL
);

CREATE TABLE manifest_ensure_memo (
  entity_id TEXT NOT NULL,
  manifest_hash TEXT NOT NULL,
  recorded_at INTEGER NOT NULL,
  PRIMARY KEY (entity_id, manifest_hash)
);

CREATE TABLE schema_version (version INTEGER PRIMARY KEY);

CREATE TABLE curated_agent_log (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  client TEXT NOT NULL,
  tool TEXT NOT NULL,
  operation TEXT NOT NULL CHECK (operation IN ('read', 'write')),
  entity_id TEXT,
  summary TEXT,
  created_at INTEGER NOT NULL DEFAULT (unixepoch())
);

CREATE VIEW live_entities AS
  SELECT * FROM curated_entities ce
  WHERE NOT EXISTS (SELECT 1 FROM entity_redirects r WHERE r.entity_id = ce.id);
