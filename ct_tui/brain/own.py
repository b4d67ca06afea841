"""Our own tables and the writes of a run: each function is a job for the writer's one transaction.

Never a column on anybody else's table, never a schema_version row. All times in seconds.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ct_tui.brain import models, sql
from ct_tui.domain.census import display
from ct_tui.domain.plan import Conflict, TypeChange

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ct_tui.brain.connection import Db
    from ct_tui.domain.plan import ManifestChange, Plan
    from ct_tui.domain.rulings import Head


@dataclass(frozen=True)
class ChunkResult:
    """What one transaction wrote: how many rows, and the rows that had moved."""

    changed: int
    conflicts: tuple[Conflict, ...] = ()


@dataclass(frozen=True)
class RunTotals:
    """The sums that close a run."""

    retyped: int = 0
    recased: int = 0
    edges: int = 0
    conflicts: int = 0
    queued: int | None = None
    legalized: tuple[str, ...] = ()
    numbers: dict[str, Any] = field(default_factory=dict)


def create_tables(db: Db) -> None:
    """Make our tables where they are missing."""
    db.create_tables(models.OWN)


def start_run(db: Db, plan: Plan, *, by: str, at: int, backup: str | None) -> int:
    """Open a run for a plan, or go on with the one that was stopped; gives its number."""
    create_tables(db)
    r = models.Run
    open_runs = db.run(r.select().where((r.plan_digest == plan.digest) & (r.status != "done")).order_by(r.id.desc()))
    if open_runs:
        db.do(r.update(status="running").where(r.id == open_runs[0].id))
        return int(open_runs[0].id)
    return int(
        db.do(
            r.insert(
                kind="heal" if plan.undoes is None else "undo",
                at=at,
                by=by,
                status="running",
                plan_digest=plan.digest,
                rulings_seq=plan.binding.head_seq,
                rulings_hash=plan.binding.head_hash,
                policy=plan.binding.policy,
                undoes=plan.undoes,
                backup=backup,
            )
        )
    )


def fill_chunk(db: Db, changes: Sequence[TypeChange]) -> None:
    """Put the next rows into this connection's temporary table, before any lock on the brain is taken."""
    db.execute(sql.CHUNK_TABLE)
    db.execute(sql.CHUNK_CLEAR)
    db.executemany(sql.CHUNK_FILL, (_chunk_row(n, change) for n, change in enumerate(changes)))


def apply_chunk(db: Db, run: int, size: int, *, by: str, at: int) -> ChunkResult:
    """Write one chunk of `size` rows by compare-and-set: history first, then origins and types of what it took in.

    Casing is mechanical and leaves no origin row; an undo restores what the first origin already tells.
    """
    last = db.scalar(sql.LAST_CHANGE)
    changed = db.execute(sql.CHUNK_HISTORY, (run, by, at))
    moved = db.rows(sql.CHUNK_MOVED) if changed < size else []
    db.execute(sql.CHUNK_ORIGIN, (last,))
    db.execute(sql.CHUNK_UPDATE, (at, last))
    return ChunkResult(changed, tuple(_conflict(row) for row in moved))


def swap_manifest(db: Db, change: ManifestChange) -> bool:
    """Write one manifest if it still is what the plan saw; updated_at is left alone, as the app's ensure does."""
    return db.execute(sql.MANIFEST_SWAP, (change.after, change.row, change.before)) == 1


def put_memo(db: Db, row: str, memo: str, at: int) -> None:
    """Record that a manifest needs no ensuring; a row keeps one memo."""
    db.execute(sql.MEMO_CLEAR, (row,))
    db.execute(sql.MEMO_PUT, (row, memo, at))


def put_meta(db: Db, key: str, value: str) -> None:
    """Write one value of llm_wiki_meta."""
    db.execute(sql.META_PUT, (key, value))


def remember_head(db: Db, head: Head) -> None:
    """Remember the rulings' head, so that a cut or rolled-back table is noticed later."""
    create_tables(db)
    put_state(db, "rulings_head", json.dumps({"seq": head.seq, "hash": head.hash}))


def put_state(db: Db, key: str, value: str) -> None:
    """Remember one value about this brain."""
    db.do(models.StateRow.insert(key=key, value=value).on_conflict_replace())


def get_state(db: Db, key: str) -> str | None:
    """One remembered value, or None; the table must be there."""
    rows = db.run(models.StateRow.select().where(models.StateRow.key == key))
    return str(rows[0].value) if rows else None


def finish_run(db: Db, run: int, totals: RunTotals, *, stopped: bool) -> None:
    """Close a run with its sums, or leave it stopped so that the same plan can go on."""
    r = models.Run
    row = db.run(r.select().where(r.id == run))[0]
    values: dict[str, Any] = {
        "status": "stopped" if stopped else "done",
        "retyped": row.retyped + totals.retyped,
        "recased": row.recased + totals.recased,
        "edges": row.edges + totals.edges,
        "conflicts": totals.conflicts,
        "queued": totals.queued,
        "legalized": json.dumps(sorted({*json.loads(row.legalized), *totals.legalized})),
        "numbers": json.dumps(totals.numbers),
    }
    db.do(r.update(**values).where(r.id == run))
    if row.undoes is not None and not stopped:
        db.do(r.update(undone_by=run).where(r.id == row.undoes))


def changes_of_run(db: Db, run: int) -> list[tuple[str, str, str, int | None]]:
    """The type changes that a run made, oldest first: entity, from, to, ruling."""
    rows = db.stream(sql.CHANGES_OF_RUN, (run,))
    return [(display(entity), display(old), display(new), ruling) for entity, old, new, ruling in rows]


def _chunk_row(n: int, change: TypeChange) -> tuple[Any, ...]:
    return n, change.entity, change.from_type, change.to_type, change.kind.reason, change.ruling


def _conflict(row: tuple[Any, ...]) -> Conflict:
    entity, expected, found, deleted = row
    if found is None and deleted is None:
        return Conflict(display(entity), display(expected), "no longer there")
    if deleted is not None:
        return Conflict(display(entity), display(expected), "archived")
    if found == expected:
        return Conflict(display(entity), display(expected), "merged away or opted out")
    return Conflict(display(entity), display(expected), display(found))
