"""What tables a brain has, and whether this program understands them well enough to write."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ct_tui.brain import sql
from ct_tui.domain.errors import BrainError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from ct_tui.brain.connection import Db

HIGHEST_VERSION = 26
"""The newest schema step known here; a brain without a vault root stays at 21 with every table present."""

# The columns of each table that is ever written here. One more or one less means another program's rules.
WRITTEN: dict[str, frozenset[str]] = {
    "curated_entities": frozenset(
        ["id", "name", "entity_type", "summary", "summary_embedding", "created_at", "updated_at", "deleted_at"]
    ),
    "entity_type_origin": frozenset(["entity_id", "original_type", "reason", "source_directory", "recorded_at"]),
    "entity_redirects": frozenset(["entity_id", "merged_into", "created_at"]),
    "ct_entity_optouts": frozenset(["entity_id", "reason", "created_at"]),
    "llm_wiki_entity_manifests": frozenset(["entity_id", "mode", "manifest_json", "updated_at"]),
    "llm_wiki_meta": frozenset(["key", "value"]),
    "llm_wiki_edges": frozenset(["id", "entity_id", "source_id", "target_id", "edge_type", "created_at"]),
}


@dataclass(frozen=True)
class Schema:
    """The tables and columns found; `refusal` is why nothing may be written, or empty."""

    version: int | None
    tables: Mapping[str, frozenset[str]] = field(default_factory=dict)
    refusal: str = ""

    def has(self, table: str) -> bool:
        """Whether the table or view is there."""
        return table in self.tables

    def columns(self, table: str) -> frozenset[str]:
        """The columns of a table, none where it is missing."""
        return self.tables.get(table, frozenset())


def read_schema(db: Db, path: Path) -> Schema:
    """Read what is there; raises BrainError where it is not a brain at all."""
    names = [str(name) for (name,) in db.rows(sql.TABLES)]
    if "curated_entities" not in names:
        raise BrainError(
            f"{path} is not a brain: it has no table curated_entities", "give the path of the app's own brain.db"
        )
    tables = {name: frozenset(str(c) for (c,) in db.rows(sql.COLUMNS, (name,))) for name in names}
    missing = {"id", "name", "entity_type", "deleted_at"} - tables["curated_entities"]
    if missing:
        raise BrainError(f"{path} is not a brain: curated_entities has no column {', '.join(sorted(missing))}")
    version = _version(db, tables)
    return Schema(version, tables, _refusal(version, tables))


def _version(db: Db, tables: Mapping[str, frozenset[str]]) -> int | None:
    if "schema_version" not in tables:
        return None
    value = db.scalar(sql.SCHEMA_VERSION)
    return value if isinstance(value, int) else None


def _refusal(version: int | None, tables: Mapping[str, frozenset[str]]) -> str:
    if version is not None and version > HIGHEST_VERSION:
        return f"the brain has schema version {version}, and this program knows {HIGHEST_VERSION}"
    for table, expected in WRITTEN.items():
        if table not in tables:
            return f"the brain has no table {table}; open it once with the app, which creates it"
        if extra := tables[table] - expected:
            return f"the table {table} has a column this program does not know: {', '.join(sorted(extra))}"
        if lost := expected - tables[table]:
            return f"the table {table} lacks the column {', '.join(sorted(lost))}"
    return ""
