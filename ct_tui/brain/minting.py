"""What the write gate reads and writes: jobs for one transaction, nothing but database work.

A fault while reading is not an empty answer: it comes back as `Unreadable`, and the ladder holds. Times in seconds.
"""

from __future__ import annotations

import secrets
import sqlite3
from typing import TYPE_CHECKING

from ct_tui.brain import readers, sql
from ct_tui.brain.connection import NOT_TAKEN
from ct_tui.domain.errors import BrainError
from ct_tui.domain.ladder import Unreadable
from ct_tui.domain.manifest import TIER_FACT, Manifests
from ct_tui.domain.redirects import Redirects

if TYPE_CHECKING:
    from ct_tui.brain.connection import Db
    from ct_tui.brain.schema import Schema
    from ct_tui.domain.gate import LedgerRow

INITIAL_WATERMARK = "initial_drift_watermark"


def fresh_id() -> str:
    """A new entity id as the app makes them: `ent_` and 12 random bytes in hex."""
    return "ent_" + secrets.token_hex(12)


def gate_redirects(db: Db, schema: Schema) -> Redirects | Unreadable:
    """Every redirect, or why they cannot be read."""
    try:
        return Redirects(readers.redirects(db, schema))
    except sqlite3.Error as error:
        return Unreadable(str(error))


def gate_opt_outs(db: Db, schema: Schema) -> frozenset[str] | Unreadable:
    """Every opted-out id, or why they cannot be read."""
    if not schema.has("ct_entity_optouts"):
        return frozenset()
    try:
        return frozenset(i for i, *_ in db.rows(sql.OPT_OUTS) if isinstance(i, str))
    except sqlite3.Error as error:
        return Unreadable(str(error))


def gate_manifests(db: Db, schema: Schema, owner: str) -> Manifests | Unreadable:
    """The two rows that the ladder looks at for one entity: its own and tier_fact."""
    if not schema.has("llm_wiki_entity_manifests"):
        return Manifests()
    wanted = list(dict.fromkeys((owner, TIER_FACT)))
    try:
        return readers.manifests_of(db, wanted)
    except sqlite3.Error as error:
        return Unreadable(str(error))


def stamp_initial_watermark(db: Db, watermark: str) -> None:
    """Remember the policy under which the gate first decided; the first stamp stays."""
    db.execute(sql.META_FIRST, (INITIAL_WATERMARK, watermark))


def insert_entity(db: Db, entity_id: str, name: str, label: str, summary: str, at: int, *, upsert: bool) -> None:
    """Write one entity; with `upsert` an existing one gets name and summary, and keeps its type.

    Raises BrainError where the brain has a trigger that swallows the row.
    """
    statement = sql.ENTITY_UPSERT if upsert else sql.ENTITY_INSERT
    if db.execute(statement, (entity_id, name, label, summary, at, at)) != 1:
        raise BrainError("the brain did not take the entity in, so nothing was written", NOT_TAKEN)


def entity_exists(db: Db, entity_id: str) -> bool:
    """Whether an entity of this id is there, archived ones included."""
    return db.one("SELECT 1 FROM curated_entities WHERE id = ?", (entity_id,)) is not None


def insert_origin(db: Db, entity_id: str, row: LedgerRow, at: int) -> bool:
    """Write the origin row of a landing, where the entity has none yet; whether it was written."""
    values = (entity_id, row.original_type, row.reason.value, row.source_directory, at)
    return db.execute(sql.ORIGIN_INSERT, values) == 1
