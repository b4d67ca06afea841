"""Applying a plan: backup, manifests, then chunks of rows, each one short IMMEDIATE transaction.

Stopping or dying anywhere leaves whole chunks, and the same plan can go on. A row that moved is a reported
conflict and is left alone. The app and its librarian go on writing meanwhile: no lock is held for longer than about
50 ms.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

from ct_tui.brain import curation, own, readers
from ct_tui.brain.backup import backed_up
from ct_tui.brain.edges import apply_edge_chunk
from ct_tui.domain.errors import BrainError
from ct_tui.domain.manifest import TIER_FACT
from ct_tui.domain.plan import Conflict, Progress, Receipt, gives_back
from ct_tui.heal.situation import fingerprint

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable, Collection, Iterator, Sequence

    from ct_tui.brain.connection import Brain, Db
    from ct_tui.brain.own import Wrote
    from ct_tui.domain.plan import EdgeChange, ManifestChange, Plan, RedirectChange, TypeChange

LOCK_TARGET = 0.05
"""Seconds that one chunk may hold the write lock."""
FIRST_CHUNK = 500
EDGE_CHUNK = 200
"""Edges that one transaction repairs."""
MERGE_CHUNK = 200
"""Merge redirects that one transaction writes."""
SMALLEST_CHUNK, LARGEST_CHUNK = 20, 20_000


@dataclass(frozen=True)
class Closing:
    """What the run's last transaction records besides its sums.

    `meta` goes to llm_wiki_meta; `memos` (manifest row and key) say which manifests need no ensuring again.
    """

    queued: int | None = None
    meta: tuple[tuple[str, str], ...] = ()
    memos: tuple[tuple[str, str], ...] = ()
    numbers: dict[str, Any] = field(default_factory=dict)


class _Halt(Exception):
    """Ends the writing: somebody asked for it, or a manifest that the plan counts on is not what it was."""

    def __init__(self, *conflicts: Conflict) -> None:
        super().__init__()
        self.conflicts = conflicts


class Applier:
    """Writes one plan; used once."""

    def __init__(
        self,
        brain: Brain,
        plan: Plan,
        *,
        by: str,
        now: Callable[[], float],
        progress: Callable[[Progress], None] | None = None,
        stop: threading.Event | None = None,
    ) -> None:
        self._brain = brain
        self._plan = plan
        self._by = by
        self._now = now
        self._progress = progress or (lambda _: None)
        self._stop = stop
        self._wrote = own.Wrote()
        self._halted = own.Wrote()
        self._manifests = dict(plan.binding.manifests)
        self._run = 0
        self._saved: str | None = None
        self._total_rows = len(plan.changes) + len(plan.manifests) + len(plan.edge_changes) + len(plan.merges)
        self._done_rows = 0

    def run(self, *, backup: bool | None, closing: Callable[[], Closing]) -> Receipt:
        """Write everything; `closing` is called once all rows are written and gives what the run records.

        A BrainError that ends it carries the receipt of what had been written by then.
        """
        self._saved = self._back_up(backup)
        self._run = self._brain.write(self._start)
        try:
            stopped = not self._write_rows()
            end = Closing() if stopped else closing()
            self._brain.write(lambda db: self._finish(db, end, stopped=stopped))
        except BrainError as error:
            error.receipt = self._receipt(stopped=True)
            if self._done_rows:
                done = f"run {self._run} had come through {self._done_rows} of {self._total_rows} rows by then"
                error.details = (*error.details, done)
            raise
        return self._receipt(stopped=stopped)

    @property
    def _at(self) -> int:
        return int(self._now())

    def _start(self, db: Db) -> int:
        return own.start_run(db, self._plan, by=self._by, at=self._at, backup=self._saved)

    def _receipt(self, *, stopped: bool) -> Receipt:
        wrote = self._wrote
        return Receipt(
            self._run,
            wrote.retyped,
            wrote.recased,
            wrote.legalized,
            wrote.edges,
            wrote.conflicts,
            stopped,
            self._total_rows - self._done_rows,
            self._saved,
            wrote.merged,
            ", ".join(conflict.entity for conflict in self._halted.conflicts),
        )

    def _write_rows(self) -> bool:
        """Manifests, types, edges, then merges; whether all of them were come through.

        Merges that give entities back come before their types, as an undo goes backwards.
        """
        plan = self._plan
        first, last = (plan.merges, ()) if gives_back(plan.merges) else ((), plan.merges)
        try:
            for manifest in plan.manifests:
                self._write_manifest(manifest)
            for merges in _parts(first, MERGE_CHUNK):
                self._write_merges(merges)
            for part in self._chunks():
                self._write_chunk(part)
            for edges in _parts(plan.edge_changes, EDGE_CHUNK):
                self._write_edges(edges)
            for merges in _parts(last, MERGE_CHUNK):
                self._write_merges(merges)
        except _Halt as halt:
            self._halted = own.Wrote(conflicts=halt.conflicts)
            self._wrote += self._halted
            return False
        return True

    def _write(self, rows: int, job: Callable[[Db], Wrote], before: Callable[[Db], None] | None = None) -> Wrote:
        """One transaction of the run, counted in the run's row as well."""
        if self._stop is not None and self._stop.is_set():
            raise _Halt

        def whole(db: Db) -> Wrote:
            wrote = job(db)
            own.add_to_run(db, self._run, wrote)
            return wrote

        wrote = self._brain.write(whole, before=before)
        self._wrote += wrote
        self._advance(rows)
        return wrote

    def _write_manifest(self, change: ManifestChange) -> None:
        def job(db: Db) -> Wrote:
            if not own.swap_manifest(db, change):
                # Types that the rest of the plan counts on may be undeclared now.
                raise _Halt(_moved_manifest(change.row))
            self._manifests.update(_fingerprints(db, [change.row]))
            return own.Wrote(legalized=change.added_types)

        self._write(1, job)

    def _chunks(self) -> Iterator[Sequence[TypeChange]]:
        """Parts of the changes, sized by how long the last one held the lock."""
        self._size = FIRST_CHUNK
        at = 0
        changes = self._plan.changes
        while at < len(changes):
            part = changes[at : at + self._size]
            at += len(part)
            yield part

    def _write_chunk(self, part: Sequence[TypeChange]) -> None:
        held = 0.0

        def job(db: Db) -> Wrote:
            nonlocal held
            started = time.perf_counter()
            self._require_manifests(db, part)
            wrote = own.apply_chunk(db, self._run, part, by=self._by, at=self._at)
            held = time.perf_counter() - started
            return wrote

        self._write(len(part), job, lambda db: own.fill_chunk(db, part))
        self._size = _next_size(len(part), held)

    def _require_manifests(self, db: Db, part: Sequence[TypeChange]) -> None:
        """Halt where a manifest that declares the new types changed; what is taken back needs no declaration."""
        if self._plan.undoes is not None:
            return
        edited = {m.row for m in self._plan.manifests}
        rows = {TIER_FACT, *edited, *(c.entity for c in part if c.entity in self._manifests)}
        now = _fingerprints(db, rows)
        moved = sorted(row for row in rows if now.get(row) != self._manifests.get(row))
        if moved:
            raise _Halt(*map(_moved_manifest, moved))

    def _write_edges(self, part: Sequence[EdgeChange]) -> None:
        def job(db: Db) -> Wrote:
            done, conflicts = apply_edge_chunk(db, self._brain.schema, part, run=self._run, by=self._by, at=self._at)
            return own.Wrote(edges=done, conflicts=conflicts)

        self._write(len(part), job)

    def _write_merges(self, part: Sequence[RedirectChange]) -> None:
        def job(db: Db) -> Wrote:
            result = curation.write_redirects(db, part, run=self._run, by=self._by, at=self._at)
            return own.Wrote(merged=len(part) - len(result.conflicts), conflicts=result.conflicts)

        self._write(len(part), job)

    def _advance(self, rows: int) -> None:
        self._done_rows += rows
        self._progress(Progress(self._done_rows, self._total_rows))

    def _back_up(self, wanted: bool | None) -> str | None:  # noqa: FBT001 - None, True and False are three answers
        """The first backup of the day, or one on request; none where nothing is written or it was declined."""
        if wanted is False or (wanted is None and self._total_rows == 0):
            return None
        return backed_up(self._brain, self._now(), fresh=bool(wanted))

    def _finish(self, db: Db, end: Closing, *, stopped: bool) -> None:
        for key, value in end.meta:
            own.put_meta(db, key, value)
        if self._brain.schema.has("manifest_ensure_memo"):
            own.put_memos(db, end.memos, self._at)
        own.add_to_run(db, self._run, self._halted)
        own.finish_run(db, self._run, stopped=stopped, queued=end.queued, numbers=end.numbers)


def _moved_manifest(row: str) -> Conflict:
    return Conflict(f"manifest {row}", "as planned", "changed since")


def _fingerprints(db: Db, rows: Collection[str]) -> dict[str, str]:
    """The fingerprints of some manifest rows as they stand."""
    return {key: fingerprint(row.mode, row.raw) for key, row in readers.manifests_of(db, rows).rows.items()}


T = TypeVar("T")


def _parts(rows: Sequence[T], size: int) -> Iterator[Sequence[T]]:
    for at in range(0, len(rows), size):
        yield rows[at : at + size]


def _next_size(size: int, held: float) -> int:
    """The chunk size that would have held the lock for the target time, at most four times as large."""
    ideal = size * LOCK_TARGET * 0.6 / max(held, 1e-4)
    return int(max(SMALLEST_CHUNK, min(ideal, size * 4, LARGEST_CHUNK)))
