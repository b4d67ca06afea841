"""What a policy makes of the live entities: how many are gated, off, opted out or held, and whom a folder decides."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ct_tui.brain import readers
from ct_tui.brain.sources import read_sources
from ct_tui.domain.census import display
from ct_tui.domain.ladder import Ladder
from ct_tui.domain.policy import is_matchable, normalise_key
from ct_tui.domain.redirects import Redirects

if TYPE_CHECKING:
    from ct_tui.brain.connection import Db
    from ct_tui.brain.readers import BrainState
    from ct_tui.brain.schema import Schema
    from ct_tui.brain.sources import SourceIndex
    from ct_tui.domain.ladder import Verdict
    from ct_tui.domain.policy import Policy

SAMPLE = 1_000
"""How many entities of a folder are named."""

ANYBODY = "ct-tui:anybody"
"""An id that no program makes: an entity that nothing singles out."""


@dataclass
class Coverage:
    """Live entities by the ladder's verdict as the manifests stand, and by the folder keys that decide their sources.

    `uncovered` have a source that no folder decides, `pathless` none at all; `members` names the first of each key.
    """

    verdicts: Counter[Verdict] = field(default_factory=Counter)
    by_key: Counter[str] = field(default_factory=Counter)
    members: dict[str, list[str]] = field(default_factory=dict)
    uncovered: int = 0
    pathless: int = 0

    @property
    def live(self) -> int:
        """All live entities."""
        return self.verdicts.total()


def counted_key(key: str) -> str:
    """The form of a folder key under which its entities are counted."""
    return normalise_key(key) if is_matchable(key) else key


def cover(db: Db, schema: Schema, policy: Policy, state: BrainState) -> Coverage:
    """Put every live entity through the ladder, inside the caller's snapshot; without sources nobody is fetched."""
    redirects = Redirects(state.redirects)
    sources = read_sources(db, schema, policy, redirects, state)
    ladder = Ladder(policy.lookup, state.manifests, redirects, state.opt_outs)
    if sources.found:
        return _Pass(policy, ladder, sources).run(db, schema)
    found = Coverage(pathless=sum(count for _, count in readers.type_counts(db, schema)))
    alone = [row.id for row in readers.live_by_ids(db, schema, ladder.special)]
    found.verdicts[ladder.decide(ANYBODY).verdict] += found.pathless - len(alone)
    found.verdicts.update(ladder.decide(display(i)).verdict for i in alone)
    return found


class _Pass:
    """One pass over the live entities."""

    def __init__(self, policy: Policy, ladder: Ladder, sources: SourceIndex) -> None:
        self._policy = policy
        self._ladder = ladder
        self._sources = sources
        self._keys: dict[tuple[str, ...], frozenset[str | None]] = {}

    def run(self, db: Db, schema: Schema) -> Coverage:
        found = Coverage()
        for _, raw, *_ in readers.all_live(db, schema):
            entity = display(raw)
            paths = self._sources.of(entity).ladder_paths
            found.verdicts[self._ladder.decide(entity, paths).verdict] += 1
            if not paths:
                found.pathless += 1
                continue
            keys = self._deciding(paths)
            found.uncovered += None in keys
            for key in keys:
                if key is not None:
                    self._take(found, key, entity)
        return found

    def _deciding(self, paths: tuple[str, ...]) -> frozenset[str | None]:
        """The folder keys that decide these paths; None stands for a path that no folder decides."""
        keys = self._keys.get(paths)
        if keys is None:
            answers = [self._policy.lookup(path) for path in paths]
            found = {counted_key(a.key) if a.rung == "2" and a.key is not None else None for a in answers}
            keys = self._keys[paths] = frozenset(found)
        return keys

    @staticmethod
    def _take(found: Coverage, key: str, entity: str) -> None:
        found.by_key[key] += 1
        members = found.members.setdefault(key, [])
        if len(members) < SAMPLE:
            members.append(entity)
