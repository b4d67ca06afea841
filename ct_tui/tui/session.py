"""What one run of the workstation knows: the open brain, what was read of it, and what lasts only for the session."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ct_tui.domain.names import label_key
from ct_tui.domain.queue import ItemKind, Queue

if TYPE_CHECKING:
    from pathlib import Path

    from ct_tui.domain.census import Drift
    from ct_tui.domain.errors import CtTuiError
    from ct_tui.domain.history import HistoryRow, RunRow
    from ct_tui.domain.manifest import Vocabulary
    from ct_tui.domain.queue import QueueItem
    from ct_tui.domain.rulings import DeadAlias, Ruling, RulingTable
    from ct_tui.heal.workbench import CensusReport, Workbench
    from ct_tui.policy.paths import Places
    from ct_tui.tui.cases import Decision
    from ct_tui.tui.remembered import Remembered


@dataclass(frozen=True)
class Signer:
    """Whom this session signs as: the key file and the name; both None leave the choice to the one key there is."""

    key: Path | None = None
    principal: str | None = None


@dataclass
class Session:
    """The state behind every screen; only handlers on the screen's own thread change it."""

    places: Places
    bench: Workbench | None = None
    trouble: CtTuiError | None = None
    gone: bool = False
    stale: CtTuiError | None = None
    """Why the last reading of the brain failed; what is shown is of the one before. None where it did not."""
    report: CensusReport | None = None
    queue: Queue | None = None
    history: tuple[HistoryRow, ...] | None = None
    runs: tuple[RunRow, ...] | None = None
    table: RulingTable | None = None
    dead: tuple[DeadAlias, ...] = ()
    vocabulary: Vocabulary | None = None
    signer: Signer | None = None
    passphrases: dict[Path, str] = field(default_factory=dict, repr=False)
    deferred: list[str] = field(default_factory=list)
    mine: list[int] = field(default_factory=list)
    me: str = ""
    piled: dict[str, Decision] = field(default_factory=dict)
    last_verb: str = ""
    last_target: str = ""
    confirmed: Drift | None = None
    """The policy drift that was confirmed in this session; another change of the config has to be confirmed anew."""
    age: int = 0
    remembered: Remembered | None = None
    """What `report` and `queue` were filled with before the brain is read; None once they are of now."""

    def recall(self, found: Remembered | None) -> None:
        """Show what was last seen of the brain, until it is read."""
        if found is not None:
            self.remembered, self.report, self.queue = found, found.report, found.queue

    def forget(self) -> None:
        """Show no longer what only was remembered."""
        if self.remembered is not None:
            self.report = None if self.report is self.remembered.report else self.report
            self.queue = None if self.queue is self.remembered.queue else self.queue
            self.remembered = None

    @property
    def drift(self) -> Drift | None:
        """The policy drift that there is."""
        return self.report.drift if self.report is not None else None

    @property
    def drift_waits(self) -> bool:
        """Whether the config changed since the last heal and nobody confirmed that yet."""
        return self.drift is not None and self.drift != self.confirmed

    @property
    def confirmation(self) -> str | None:
        """The watermark before the drift, as applying wants it to be confirmed; None where nobody confirmed it."""
        return self.drift.old_hash if self.drift is not None and not self.drift_waits else None

    @property
    def not_ready(self) -> str:
        """Why nothing can be done yet, or an empty text."""
        if self.trouble is not None:
            return self.trouble.message
        if self.gone:
            return "The brain is gone: its file was deleted or moved."
        if self.bench is None:
            return "The brain is still being opened."
        return "" if self.remembered is None else "The brain is still being read: what is shown is of before."

    @property
    def write_refusal(self) -> str:
        """Why nothing may be written, or an empty text."""
        if self.bench is None:
            return self.not_ready
        if self.bench.read_only:
            return self.bench.write_refusal or "The brain is open read-only."
        return self.bench.write_refusal

    def items(self) -> tuple[QueueItem, ...]:
        """The open questions in the order of this session: those put off come last."""
        if self.queue is None:
            return ()
        order = {item_id: at for at, item_id in enumerate(self.deferred)}
        return tuple(sorted(self.queue.items, key=lambda item: order.get(item.id, -1)))

    def is_deferred(self, item: QueueItem) -> bool:
        """Whether the question was put off in this session."""
        return item.id in self.deferred

    def defer(self, item: QueueItem) -> None:
        """Put a question behind all others for this session."""
        if item.id in self.deferred:
            self.deferred.remove(item.id)
        self.deferred.append(item.id)

    def question_of(self, label: str) -> QueueItem | None:
        """The open question about a type, or None."""
        kinds = {ItemKind.UNDECLARED, ItemKind.BLANK}
        return next((i for i in self.items() if i.kind in kinds and i.key == label_key(label)), None)

    def revocable(self) -> Ruling | None:
        """The last ruling of mine that acts: of this session, else under the one name that I sign with."""
        from ct_tui.domain.rulings import Revoke

        if self.table is None:
            return None
        # A revocation is not taken back by the same key: pressed again, it goes on to the ruling before.
        acting = {ruling.seq: ruling for ruling in self.table.valid() if not isinstance(ruling.body, Revoke)}
        found = next((acting[seq] for seq in reversed(self.mine) if seq in acting), None)
        me = self.signer.principal if self.signer is not None else self.me
        return found or next((r for r in reversed(acting.values()) if me and r.ruled_by == me), None)
