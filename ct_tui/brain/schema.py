"""What tables a brain has, and whether this program understands them well enough to write."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ct_tui.brain import models, sql
from ct_tui.domain.errors import BrainError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
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

# Written only where it is there.
WRITTEN_IF_THERE: dict[str, frozenset[str]] = {
    "manifest_ensure_memo": frozenset(["entity_id", "manifest_hash", "recorded_at"]),
}

# What a brain must have to be looked at at all; the other columns of an entity are shown where they are there.
ENTITIES = "curated_entities"
NEEDED = frozenset(["id", "name", "entity_type", "deleted_at"])


@dataclass(frozen=True)
class Schema:
    """The tables that can be read, with their columns; `refusal` is why nothing may be written, or empty.

    A table that lacks a column which is read here counts as missing: the rest of the brain can still be looked at.
    `unread` says of each of the app's tables that counts as missing why it does, since what it holds is unknown then
    and not nothing.
    """

    version: int | None
    tables: Mapping[str, frozenset[str]] = field(default_factory=dict)
    refusal: str = ""
    unread: tuple[str, ...] = ()

    def has(self, table: str) -> bool:
        """Whether the table or view is there."""
        return table in self.tables

    def columns(self, table: str) -> frozenset[str]:
        """The columns of a table, none where it is missing."""
        return self.tables.get(table, frozenset())


def read_schema(db: Db, path: Path) -> Schema:
    """Read what is there; raises BrainError where it is not a brain at all."""
    found = {str(name): bool(plain) for name, plain in db.rows(sql.TABLES)}
    if not found.get(ENTITIES):
        raise BrainError(
            f"{path} is not a brain: it has no table {ENTITIES}", "give the path of the app's own brain.db"
        )
    # Views and virtual tables are never read, and a broken one must not hide the tables beside it.
    tables = {name: _columns(db, name) if plain else frozenset() for name, plain in found.items()}
    missing = NEEDED - tables[ENTITIES]
    if missing:
        raise BrainError(f"{path} is not a brain: {ENTITIES} has no column {', '.join(sorted(missing))}")
    version = _version(db, tables)
    readable = {name: columns for name, columns in tables.items() if not _lacking(name, columns)}
    return Schema(version, readable, _refusal(version, tables), tuple(_unread(tables)))


def _columns(db: Db, table: str) -> frozenset[str]:
    return frozenset(str(c) for (c,) in db.rows(sql.COLUMNS, (table,)))


def _lacking(table: str, columns: frozenset[str]) -> frozenset[str]:
    """The columns that are read from a table and are not there."""
    return (NEEDED if table == ENTITIES else models.COLUMNS.get(table, frozenset())) - columns


def _unread(tables: Mapping[str, frozenset[str]]) -> Iterator[str]:
    """A sentence for each of the app's tables that cannot be read."""
    for table in sorted(models.COLUMNS.keys() - models.OWN_TABLES - WRITTEN_IF_THERE.keys()):
        if table not in tables:
            yield f"the brain has no table {table}"
        elif lost := _lacking(table, tables[table]):
            yield f"the table {table} lacks the column {', '.join(sorted(lost))}"


def _version(db: Db, tables: Mapping[str, frozenset[str]]) -> int | None:
    if "version" not in tables.get("schema_version", ()):
        return None
    value = db.scalar(sql.SCHEMA_VERSION)
    return value if isinstance(value, int) else None


def _refusal(version: int | None, tables: Mapping[str, frozenset[str]]) -> str:
    if version is not None and version > HIGHEST_VERSION:
        return f"the brain has schema version {version}, and this program knows {HIGHEST_VERSION}"
    for table, expected in {**WRITTEN, **WRITTEN_IF_THERE}.items():
        if table not in tables:
            if table in WRITTEN_IF_THERE:
                continue
            return f"the brain has no table {table}; open it once with the app, which creates it"
        if extra := tables[table] - expected:
            return f"the table {table} has a column this program does not know: {', '.join(sorted(extra))}"
        if lost := expected - tables[table]:
            return f"the table {table} lacks the column {', '.join(sorted(lost))}"
    return _own_refusal(tables)


def _own_refusal(tables: Mapping[str, frozenset[str]]) -> str:
    """Why the tables of another version of this program cannot be written on, or an empty text."""
    for table in models.OWN_TABLES & tables.keys():
        if lost := _lacking(table, tables[table]):
            return f"the table {table} of another version of this program lacks the column {', '.join(sorted(lost))}"
    return ""
