"""peewee models of the brain's tables, as the app and its wiki engine made them.

They serve what a person looks at; statements over the whole brain stand in `sql`. Text columns are `Raw`: what a
column really holds reaches the caller, even where it is a BLOB or not UTF-8. Times are seconds unless said.
"""

from __future__ import annotations

from typing import Any

import peewee


class Raw(peewee.Field):
    """A text column that hands out exactly what stands in it."""

    field_type = "TEXT"

    def db_value(self, value: Any) -> Any:
        """Leave the value alone."""
        return value

    def python_value(self, value: Any) -> Any:
        """Leave the value alone."""
        return value


class Number(Raw):
    """A number column that hands out exactly what stands in it."""

    field_type = "INTEGER"


class _Table(peewee.Model):
    class Meta:
        database = None
        legacy_table_names = False


class Entity(_Table):
    """curated_entities: the things of the graph."""

    id = Raw(primary_key=True)
    name = Raw()
    entity_type = Raw()
    summary = Raw()
    created_at = Raw()
    updated_at = Raw()
    deleted_at = Raw(null=True)

    class Meta:
        table_name = "curated_entities"


class Redirect(_Table):
    """entity_redirects: a merged-away id and where it leads."""

    entity_id = Raw(primary_key=True)
    merged_into = Raw()
    created_at = Raw()

    class Meta:
        table_name = "entity_redirects"


class TypeOrigin(_Table):
    """entity_type_origin: the first origin of an entity's type."""

    entity_id = Raw(primary_key=True)
    original_type = Raw(null=True)
    reason = Raw()
    source_directory = Raw(null=True)
    recorded_at = Raw()

    class Meta:
        table_name = "entity_type_origin"


class OptOut(_Table):
    """ct_entity_optouts: entities that a curator took out of the gate."""

    entity_id = Raw(primary_key=True)
    reason = Raw(null=True)
    created_at = Raw()

    class Meta:
        table_name = "ct_entity_optouts"


class Manifest(_Table):
    """llm_wiki_entity_manifests: which types a row declares; updated_at in seconds or milliseconds, opaque."""

    entity_id = Raw(primary_key=True)
    mode = Raw()
    manifest_json = Raw()
    updated_at = Raw()

    class Meta:
        table_name = "llm_wiki_entity_manifests"


class EnsureMemo(_Table):
    """manifest_ensure_memo: manifests that need no ensuring again."""

    entity_id = Raw()
    manifest_hash = Raw()
    recorded_at = Raw()

    class Meta:
        table_name = "manifest_ensure_memo"
        primary_key = peewee.CompositeKey("entity_id", "manifest_hash")


class Meta_(_Table):  # noqa: N801 - `Meta` is peewee's own word inside a model
    """llm_wiki_meta: watermarks and markers."""

    key = Raw(primary_key=True)
    value = Raw()

    class Meta:
        table_name = "llm_wiki_meta"


class Document(_Table):
    """documents: the vault's files."""

    id = peewee.AutoField()
    path = Raw()
    hash = Raw()
    tier = Raw()
    last_indexed = Raw(null=True)
    status = Raw()

    class Meta:
        table_name = "documents"


class Chunk(_Table):
    """chunks: passages of documents; the same content_hash may stand in several documents."""

    id = peewee.AutoField()
    doc_id = Number()
    chunk_text = Raw()
    position = Number()
    start_line = Number()
    end_line = Number()
    content_hash = Raw()

    class Meta:
        table_name = "chunks"


class Fact(_Table):
    """llm_wiki_entries: facts; times in milliseconds."""

    id = Raw(primary_key=True)
    entity_id = Raw()
    title = Raw()
    body = Raw()
    confidence = Raw()
    source_type = Raw()
    source_ref = Raw(null=True)
    created_at = Raw()
    updated_at = Raw()
    deleted_at = Raw(null=True)
    okf_type = Raw(null=True)

    class Meta:
        table_name = "llm_wiki_entries"


class Task(_Table):
    """llm_wiki_tasks: tasks, which may be an edge's end; times in milliseconds."""

    id = Raw(primary_key=True)
    entity_id = Raw()
    description = Raw()
    status = Raw()
    deleted_at = Raw(null=True)
    okf_type = Raw(null=True)

    class Meta:
        table_name = "llm_wiki_tasks"


class Edge(_Table):
    """llm_wiki_edges: typed relations; created_at in milliseconds."""

    id = Raw(primary_key=True)
    entity_id = Raw()
    source_id = Raw()
    target_id = Raw()
    edge_type = Raw()
    created_at = Raw()

    class Meta:
        table_name = "llm_wiki_edges"


class WikiEvent(_Table):
    """llm_wiki_events: what happened to an entity; times in milliseconds."""

    id = Raw(primary_key=True)
    entity_id = Raw()
    event_type = Raw()
    summary = Raw()
    created_at = Raw()

    class Meta:
        table_name = "llm_wiki_events"


class Evidence(_Table):
    """librarian_evidence: the passages behind a fact, by entry id; created_at in milliseconds."""

    entry_id = Raw(primary_key=True)
    proposal_id = Raw()
    evidence_json = Raw()
    created_at = Raw()

    class Meta:
        table_name = "librarian_evidence"


class Proposal(_Table):
    """curated_proposals: what the librarian wants to write."""

    id = Raw(primary_key=True)
    kind = Raw()
    entity_id = Raw(null=True)
    proposed_name = Raw(null=True)
    proposed_type = Raw(null=True)
    reasoning = Raw(null=True)
    model = Raw()
    status = Raw()
    created_at = Raw()

    class Meta:
        table_name = "curated_proposals"


class ProposalItem(_Table):
    """curated_proposal_items: the parts of a proposal."""

    id = Raw(primary_key=True)
    proposal_id = Raw()
    item_type = Raw()
    payload = Raw()
    evidence = Raw()
    status = Raw()

    class Meta:
        table_name = "curated_proposal_items"


class ProposalSource(_Table):
    """curated_proposal_sources: the documents behind a proposal."""

    proposal_id = Raw()
    doc_id = Number()
    role = Raw()

    class Meta:
        table_name = "curated_proposal_sources"
        primary_key = peewee.CompositeKey("proposal_id", "doc_id")


class Run(_Table):
    """ct_tui_run, ours: one applied plan; `at` in seconds, `numbers` and `legalized` are JSON."""

    id = peewee.AutoField()
    kind = Raw()
    at = Number()
    by = Raw()
    status = Raw()
    plan_digest = Raw()
    rulings_seq = Number()
    rulings_hash = Raw()
    policy = Raw()
    retyped = Number(default=0)
    recased = Number(default=0)
    edges = Number(default=0)
    conflicts = Number(default=0)
    queued = Number(null=True)
    legalized = Raw(default="[]")
    undoes = Number(null=True)
    undone_by = Number(null=True)
    backup = Raw(null=True)
    numbers = Raw(default="{}")

    class Meta:
        table_name = "ct_tui_run"


class TypeChangeRow(_Table):
    """ct_tui_type_change, ours: every type change of every entity, appended only; `at` in seconds."""

    id = peewee.AutoField()
    entity_id = Raw()
    from_type = Raw(column_name="from")
    to_type = Raw(column_name="to")
    reason = Raw()
    ruling = Number(null=True)
    run = Number(index=True)
    by = Raw()
    at = Number()

    class Meta:
        table_name = "ct_tui_type_change"
        indexes = ((("entity_id",), False),)


class EdgeChangeRow(_Table):
    """ct_tui_edge_change, ours: every repaired edge, appended only; `before`, `after` JSON rows, `at` in seconds."""

    id = peewee.AutoField()
    run = Number(index=True)
    edge = Raw(index=True)
    kind = Raw()
    before = Raw(null=True)
    after = Raw(null=True)
    ruling = Number(null=True)
    by = Raw()
    at = Number()

    class Meta:
        table_name = "ct_tui_edge_change"


class StateRow(_Table):
    """ct_tui_state, ours: what this program remembers about the brain, such as the rulings' head last seen."""

    key = Raw(primary_key=True)
    value = Raw()

    class Meta:
        table_name = "ct_tui_state"


class MergeRow(_Table):
    """ct_tui_merge, ours: every redirect written, rewritten or taken back, appended only; `at` in seconds.

    `previous` is what the loser redirected to before, `survivor` what it does since; NULL stands for no redirect.
    """

    id = peewee.AutoField()
    run = Number(index=True)
    loser = Raw(index=True)
    survivor = Raw(null=True)
    previous = Raw(null=True)
    ruling = Number(null=True)
    by = Raw()
    at = Number()

    class Meta:
        table_name = "ct_tui_merge"


class AssertionRow(_Table):
    """ct_tui_assertion, ours: window, confidence and source of an edge, which has no columns for them.

    `valid_from` and `valid_to` in milliseconds, 0 for "unknown" and "still true"; `confidence` 0 to 1, NULL where it
    was never recorded; `flagged_by` is the edge of the stronger assertion that contradicts it; `at` in seconds.
    """

    edge_id = Raw(primary_key=True)
    valid_from = Number(default=0)
    valid_to = Number(default=0)
    confidence = peewee.FloatField(null=True)
    kind = Raw()
    provenance = Raw()
    statement = Raw(default="")
    flagged_by = Raw(null=True)
    by = Raw()
    at = Number()

    class Meta:
        table_name = "ct_tui_assertion"


class FindingRow(_Table):
    """ct_tui_finding, ours: what lint found at the end of the last night; `first_at` in seconds."""

    fingerprint = Number(primary_key=True)
    rule = Raw()
    first_run = Number()
    first_at = Number()
    last_run = Number()

    class Meta:
        table_name = "ct_tui_finding"


OWN: tuple[type[peewee.Model], ...] = (
    Run,
    TypeChangeRow,
    EdgeChangeRow,
    StateRow,
    MergeRow,
    AssertionRow,
    FindingRow,
)

OWN_TABLES = frozenset(str(model._meta.table_name) for model in OWN)  # noqa: SLF001 - peewee's way to ask
"""The names of our own tables."""

COLUMNS: dict[str, frozenset[str]] = {
    str(meta.table_name): frozenset(str(name) for name in meta.columns)
    for meta in (model._meta for model in _Table.__subclasses__())  # noqa: SLF001 - peewee's way to ask
}
"""The columns that the models read, by table."""
