"""A whole desk for tests of the core: a real brain, real signed rulings, a clock that only moves when told."""

from __future__ import annotations

import datetime as dt
import json
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ct_tui.domain.rulings import Alias, Body, Legalize, Ruling
from ct_tui.heal.workbench import Workbench
from ct_tui.policy.paths import Places
from tests.trust.desk import DAY, HOUR, NOON, Desk

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from ct_tui.domain.plan import Plan, Receipt
    from ct_tui.domain.queue import ItemKind, QueueItem
    from ct_tui.heal.heal_pass import HealReport
    from tests.policy.brains import Case

START = (NOON + 30 * DAY).timestamp()
"""The time on the lab's clock when a test begins, in seconds: 2 November 2026, noon UTC."""

FOUNDING: tuple[Body, ...] = (
    Alias("agent", "role"),
    Alias("component", "service"),
    Alias("software", "document"),
    Legalize("document", "What somebody wrote.", manifests=("seed-family",)),
    Legalize("process", "A way of working.", manifests=("seed-family",)),
)


@dataclass
class Clock:
    """Seconds since the epoch, set by hand."""

    now: float = START

    def __call__(self) -> float:
        return self.now

    def pass_days(self, days: float) -> None:
        self.now += days * 86_400


@dataclass
class Lab:
    """One brain with config, rulings, key and clock."""

    case: Case
    desk: Desk
    clock: Clock = field(default_factory=Clock)
    signed: int = 0

    @property
    def db(self) -> Path:
        return self.case.db

    @property
    def places(self) -> Places:
        folder = self.case.folder
        return Places(self.case.db, self.case.config, folder / "aliases", self.desk.user)

    @contextmanager
    def bench(self, *, read_only: bool = False) -> Iterator[Workbench]:
        bench = Workbench(self.places, read_only=read_only, clock=self.clock)
        try:
            yield bench
        finally:
            bench.close()

    def rule(self, *bodies: Body, supersedes: int | None = None) -> list[Ruling]:
        """Sign rulings into the table, without asking whether they can act."""
        found = []
        for body in bodies:
            found.append(self.desk.rule(body, at=NOON + self.signed * HOUR, supersedes=supersedes))
            self.signed += 1
        return found

    def found(self) -> None:
        """Sign the three aliases and two legalisations."""
        self.rule(*FOUNDING)

    # The verbs, each on a workbench of its own, as the command line does it

    def heal(self, **kw: Any) -> HealReport:
        with self.bench() as bench:
            return bench.heal(apply=kw.pop("apply", True), by=kw.pop("by", "tester"), **kw)

    def report(self, **kw: Any) -> HealReport:
        return self.heal(apply=False, **kw)

    def plan(self) -> Plan:
        with self.bench() as bench:
            return bench.plan()

    def apply(self, plan: Plan, **kw: Any) -> Receipt:
        with self.bench() as bench:
            return bench.apply(plan, by="tester", **kw)

    def undo(self, run: int) -> Receipt:
        with self.bench() as bench:
            return bench.apply(bench.undo_plan(run), by="tester")

    def items(self, kind: ItemKind | None = None) -> list[QueueItem]:
        with self.bench() as bench:
            return [i for i in bench.queue().items if kind is None or i.kind is kind]

    def census(self) -> dict[str, dict[str, Any]]:
        """The rows of `census --json` by type."""
        with self.bench() as bench:
            document = bench.census(ids=True).as_json()
        return {row["type"]: row for row in document["types"]}

    # Looking into the brain

    def type_of(self, entity_id: str) -> Any:
        return self.case.value("SELECT entity_type FROM curated_entities WHERE id = ?", entity_id)

    def types(self) -> dict[str, Any]:
        return dict(self.case.rows("SELECT id, entity_type FROM curated_entities WHERE id IS NOT NULL"))

    def origin(self, entity_id: str) -> tuple[Any, ...] | None:
        rows = self.case.rows("SELECT original_type, reason FROM entity_type_origin WHERE entity_id = ?", entity_id)
        return rows[0] if rows else None

    def history(self, entity_id: str | None = None) -> list[tuple[Any, ...]]:
        """Rows of our history, oldest first: entity, from, to, reason, ruling, run, by, at."""
        if not self.case.value("SELECT COUNT(*) FROM sqlite_master WHERE name = 'ct_tui_type_change'"):
            return []
        rows = self.case.rows(
            'SELECT entity_id, "from", "to", reason, ruling, run, "by", at FROM ct_tui_type_change ORDER BY id'
        )
        return [r for r in rows if entity_id is None or r[0] == entity_id]

    def meta(self, key: str) -> Any:
        return self.case.value("SELECT value FROM llm_wiki_meta WHERE key = ?", key)

    def put_meta(self, key: str, value: Any) -> None:
        self.case.run("INSERT OR REPLACE INTO llm_wiki_meta VALUES (?, ?)", key, value)

    def put_watermark(self, digest: str, stamped_at: int) -> None:
        self.put_meta("ontology_config_watermark", json.dumps({"hash": digest, "stamped_at": stamped_at}))

    def own_tables(self) -> set[str]:
        return {
            n for (n,) in self.case.rows("SELECT name FROM sqlite_master WHERE type = 'table' AND name LIKE 'ct_tui%'")
        }


def day(text: str) -> dt.date:
    """A date from its ISO form."""
    return dt.date.fromisoformat(text)
