"""Our own tables and the writes of a run: each function is a job for the writer's one transaction.

Never a column on anybody else's table, never a schema_version row. All times in seconds.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ct_tui.brain import models, sql
from ct_tui.brain.connection import NOT_TAKEN
from ct_tui.domain.census import display
from ct_tui.domain.errors import BrainError
from ct_tui.domain.plan import ChangeKind, Conflict, TypeChange

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from ct_tui.brain.connection import Db
    from ct_tui.domain.plan import ManifestChange, Plan
    from ct_tui.domain.rulings import Head


@dataclass(frozen=True)
class Wrote:
    """What one transaction of a run wrote: rows by kind, the types it declared, and the rows that had moved."""

    retyped: int = 0
    recased: int = 0
    edges: int = 0
    merged: int = 0
    legalized: tuple[str, ...] = ()
    conflicts: tuple[Conflict, ...] = ()

    def __add__(self, other: Wrote) -> Wrote:
        return Wrote(
            self.retyped + other.retyped,
            self.recased + other.recased,
            self.edges + other.edges,
            self.merged + other.merged,
            tuple(dict.fromkeys((*self.legalized, *other.legalized))),
            (*self.conflicts, *other.conflicts),
        )


def create_tables(db: Db) -> None:
    """Make our tables where they are missing."""
    db.create_tables(models.OWN)


def start_run(db: Db, plan: Plan, *, by: str, at: int, backup: str | None) -> int:
    """Open a run for a plan, or go on with the one that was stopped; gives its number.

    Raises BrainError where a trigger of the brain swallows the row: a run that nobody can look up cannot be undone.
    """
    create_tables(db)
    r = models.Run
    # Whoever was at work on another plan and never closed its run is not at work any more.
    db.do(r.update(status="stopped").where((r.status == "running") & (r.plan_digest != plan.digest)))
    open_runs = db.run(r.select().where((r.plan_digest == plan.digest) & (r.status != "done")).order_by(r.id.desc()))
    if open_runs:
        db.do(r.update(status="running").where(r.id == open_runs[0].id))
        return int(open_runs[0].id)
    run = int(
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
    if not db.run(r.select().where((r.id == run) & (r.plan_digest == plan.digest))):
        raise BrainError("nothing was written: the brain did not take the run in", NOT_TAKEN)
    return run


def fill_chunk(db: Db, changes: Sequence[TypeChange]) -> None:
    """Put the next rows into this connection's temporary table, before any lock on the brain is taken."""
    db.execute(sql.CHUNK_TABLE)
    db.execute(sql.CHUNK_CLEAR)
    db.executemany(sql.CHUNK_FILL, (_chunk_row(n, change) for n, change in enumerate(changes)))


def apply_chunk(db: Db, run: int, changes: Sequence[TypeChange], *, by: str, at: int) -> Wrote:
    """Write the chunk that `fill_chunk` laid out, by compare-and-set: history first, then what it took in.

    Casing is mechanical and leaves no origin row; an undo restores what the first origin already tells.
    """
    last = db.scalar(sql.LAST_CHANGE)
    changed = db.execute(sql.CHUNK_HISTORY, (run, by, at))
    moved = db.rows(sql.CHUNK_MOVED) if changed < len(changes) else []
    db.execute(sql.CHUNK_ORIGIN, (last,))
    if db.execute(sql.CHUNK_UPDATE, (at, last)) != changed:
        raise BrainError("the brain did not take in every change, so none of this chunk was written")
    conflicts = tuple(_conflict(row) for row in moved)
    left = {c.entity for c in conflicts}
    recased = sum(1 for c in changes if c.kind is ChangeKind.RECASE and c.entity not in left)
    return Wrote(changed - recased, recased, conflicts=conflicts)


def add_to_run(db: Db, run: int, wrote: Wrote) -> None:
    """Count what a transaction wrote in that same transaction, so that a run that dies tells the truth too."""
    r = models.Run
    counts = {
        r.retyped: r.retyped + wrote.retyped,
        r.recased: r.recased + wrote.recased,
        r.edges: r.edges + wrote.edges,
        r.conflicts: r.conflicts + len(wrote.conflicts),
    }
    db.do(r.update(counts).where(r.id == run))
    if wrote.legalized or wrote.merged:
        row = _run(db, run)
        legalized = sorted({*json.loads(row.legalized), *wrote.legalized})
        numbers = json.loads(row.numbers)
        if wrote.merged:
            numbers["merged"] = numbers.get("merged", 0) + wrote.merged
        db.do(r.update(legalized=json.dumps(legalized), numbers=json.dumps(numbers)).where(r.id == run))


def swap_manifest(db: Db, change: ManifestChange) -> bool:
    """Write one manifest if it still is what the plan saw; updated_at is left alone, as the app's ensure does."""
    return db.execute(sql.MANIFEST_SWAP, (change.after, change.row, change.before)) == 1


def put_memo(db: Db, row: str, memo: str, at: int) -> None:
    """Record that a manifest needs no ensuring; a row keeps one memo."""
    db.execute(sql.MEMO_CLEAR, (row,))
    db.execute(sql.MEMO_PUT, (row, memo, at))


def put_memos(db: Db, memos: Iterable[tuple[str, str]], at: int) -> None:
    """Record several manifest rows, each with its memo."""
    for row, memo in memos:
        put_memo(db, row, memo, at)


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


def finish_run(
    db: Db, run: int, *, stopped: bool, queued: int | None = None, numbers: Mapping[str, Any] | None = None
) -> None:
    """Close a run, or leave it stopped so that the same plan can go on; a run is undone once something of it is."""
    r = models.Run
    row = _run(db, run)
    known = json.dumps({**json.loads(row.numbers), **(numbers or {})})
    db.do(r.update(status="stopped" if stopped else "done", queued=queued, numbers=known).where(r.id == run))
    wrote = row.retyped or row.recased or row.edges or json.loads(row.numbers).get("merged")
    if row.undoes is not None and wrote:
        db.do(r.update(undone_by=run).where(r.id == row.undoes))


def add_numbers(db: Db, run: int, numbers: Mapping[str, Any]) -> None:
    """Store more numbers with a run."""
    known = json.dumps({**json.loads(_run(db, run).numbers), **numbers})
    db.do(models.Run.update(numbers=known).where(models.Run.id == run))


def changes_of_run(db: Db, run: int) -> list[tuple[str, str, str, int | None]]:
    """The type changes that a run made, oldest first: entity, from, to, ruling (None where no number stands)."""
    rows = db.stream(sql.CHANGES_OF_RUN, (run,))
    return [
        (display(entity), display(old), display(new), ruling if isinstance(ruling, int) else None)
        for entity, old, new, ruling in rows
    ]


def _run(db: Db, run: int) -> Any:
    return db.run(models.Run.select().where(models.Run.id == run))[0]


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
