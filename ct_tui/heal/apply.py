"""Applying a plan: backup, manifests, then chunks of rows, each one short IMMEDIATE transaction.

Stopping or dying anywhere leaves whole chunks, and the same plan can go on. A row that moved is a reported
conflict and is left alone. The app and its librarian go on writing meanwhile: no lock is held for longer than about
50 ms.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ct_tui.brain import own
from ct_tui.brain.backup import back_up, backup_name
from ct_tui.brain.edges import apply_edge_chunk
from ct_tui.domain.plan import ChangeKind, Conflict, Progress, Receipt

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable, Iterator, Sequence

    from ct_tui.brain.connection import Brain, Db
    from ct_tui.brain.own import ChunkResult
    from ct_tui.domain.plan import EdgeChange, ManifestChange, Plan, RedirectChange, TypeChange

LOCK_TARGET = 0.05
"""Seconds that one chunk may hold the write lock."""
FIRST_CHUNK = 500
EDGE_CHUNK = 200
"""Edges that one transaction repairs."""
MERGE_CHUNK = 200
"""Merge redirects that one transaction writes."""
SMALLEST_CHUNK, LARGEST_CHUNK = 20, 20_000


@dataclass
class Totals:
    """What a run has written so far."""

    changed: int = 0
    recased: int = 0
    edges: int = 0
    merged: int = 0
    legalized: list[str] = field(default_factory=list)
    conflicts: list[Conflict] = field(default_factory=list)


@dataclass(frozen=True)
class Closing:
    """What the run's last transaction records besides its sums; `meta` goes to llm_wiki_meta,
    `memos` (manifest row and key) say which manifests need no ensuring again."""

    queued: int | None = None
    meta: tuple[tuple[str, str], ...] = ()
    memos: tuple[tuple[str, str], ...] = ()
    numbers: dict[str, Any] = field(default_factory=dict)


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
        self._totals = Totals()
        self._total_rows = len(plan.changes) + len(plan.manifests) + len(plan.edge_changes) + len(plan.merges)
        self._done_rows = 0

    def run(self, *, backup: bool | None, closing: Callable[[], Closing]) -> Receipt:
        """Write everything; `closing` is called once all rows are written and gives what the run records."""
        saved = self._back_up(backup)
        run = self._brain.write(lambda db: own.start_run(db, self._plan, by=self._by, at=self._at, backup=saved))
        remaining = self._write_rows(run)
        stopped = remaining > 0
        end = Closing() if stopped else closing()
        self._brain.write(lambda db: self._finish(db, run, end, stopped=stopped))
        totals = self._totals
        return Receipt(
            run,
            totals.changed - totals.recased,
            totals.recased,
            tuple(dict.fromkeys(totals.legalized)),
            totals.edges,
            tuple(totals.conflicts),
            stopped,
            remaining,
            saved,
            totals.merged,
        )

    @property
    def _at(self) -> int:
        return int(self._now())

    def _write_rows(self, run: int) -> int:
        """Manifests, types, edges, then merges; gives the number of rows left when it was stopped."""
        for manifest in self._plan.manifests:
            if self._stopped:
                return self._left
            self._write_manifest(manifest)
        for part in self._chunks():
            if self._stopped:
                return self._left
            self._write_chunk(run, part)
        edges = self._plan.edge_changes
        for at in range(0, len(edges), EDGE_CHUNK):
            if self._stopped:
                return self._left
            self._write_edges(run, edges[at : at + EDGE_CHUNK])
        merges = self._plan.merges
        for at in range(0, len(merges), MERGE_CHUNK):
            if self._stopped:
                return self._left
            self._write_merges(run, merges[at : at + MERGE_CHUNK])
        return 0

    @property
    def _stopped(self) -> bool:
        return self._stop is not None and self._stop.is_set()

    @property
    def _left(self) -> int:
        return self._total_rows - self._done_rows

    def _write_manifest(self, change: ManifestChange) -> None:
        if self._brain.write(lambda db: own.swap_manifest(db, change)):
            self._totals.legalized += change.added_types
        else:
            self._totals.conflicts.append(Conflict(f"manifest {change.row}", "as planned", "changed since"))
        self._advance(1)

    def _chunks(self) -> Iterator[list[TypeChange]]:
        """Parts of the changes, sized by how long the last one held the lock."""
        self._size = FIRST_CHUNK
        at = 0
        changes = self._plan.changes
        while at < len(changes):
            part = list(changes[at : at + self._size])
            at += len(part)
            yield part

    def _write_chunk(self, run: int, part: list[TypeChange]) -> None:
        held = 0.0

        def job(db: Db) -> ChunkResult:
            nonlocal held
            started = time.perf_counter()
            result = own.apply_chunk(db, run, len(part), by=self._by, at=self._at)
            held = time.perf_counter() - started
            return result

        result = self._brain.write(job, before=lambda db: own.fill_chunk(db, part))
        self._totals.changed += result.changed
        moved = {c.entity for c in result.conflicts}
        self._totals.recased += sum(1 for c in part if c.kind is ChangeKind.RECASE and c.entity not in moved)
        self._totals.conflicts += result.conflicts
        self._size = _next_size(len(part), held)
        self._advance(len(part))

    def _write_edges(self, run: int, part: Sequence[EdgeChange]) -> None:
        def job(db: Db) -> tuple[int, tuple[Conflict, ...]]:
            return apply_edge_chunk(db, self._brain.schema, part, run=run, by=self._by, at=self._at)

        done, conflicts = self._brain.write(job)
        self._totals.edges += done
        self._totals.conflicts += conflicts
        self._advance(len(part))

    def _write_merges(self, run: int, part: Sequence[RedirectChange]) -> None:
        from ct_tui.brain import curation

        result = self._brain.write(lambda db: curation.write_redirects(db, part, run=run, by=self._by, at=self._at))
        self._totals.merged += len(part) - len(result.conflicts)
        self._totals.conflicts += result.conflicts
        self._advance(len(part))

    def _advance(self, rows: int) -> None:
        self._done_rows += rows
        self._progress(Progress(self._done_rows, self._total_rows))

    def _back_up(self, wanted: bool | None) -> str | None:  # noqa: FBT001 - None, True and False are three answers
        """The first backup of the day, or one on request; none where nothing is written or it was declined."""
        if wanted is False or (wanted is None and self._total_rows == 0):
            return None
        stamp = time.strftime("%Y-%m-%d" if wanted is None else "%Y-%m-%dT%H%M%SZ", time.gmtime(self._now()))
        target = backup_name(self._brain.path, stamp)
        if wanted is None and target.exists():
            return str(target)
        return str(back_up(self._brain, target))

    def _finish(self, db: Db, run: int, end: Closing, *, stopped: bool) -> None:
        for key, value in end.meta:
            own.put_meta(db, key, value)
        if self._brain.schema.has("manifest_ensure_memo"):
            for row, memo in end.memos:
                own.put_memo(db, row, memo, self._at)
        totals = self._totals
        sums = own.RunTotals(
            totals.changed - totals.recased,
            totals.recased,
            totals.edges,
            len(totals.conflicts),
            end.queued,
            tuple(totals.legalized),
            {**end.numbers, "merged": totals.merged} if self._plan.merges else end.numbers,
        )
        own.finish_run(db, run, sums, stopped=stopped)


def _next_size(size: int, held: float) -> int:
    """The chunk size that would have held the lock for the target time, at most four times as large."""
    ideal = size * LOCK_TARGET * 0.6 / max(held, 1e-4)
    return int(max(SMALLEST_CHUNK, min(ideal, size * 4, LARGEST_CHUNK)))
