"""Merge redirects: who a merged-away id leads to, and which ids belong together.

Source of the rules: brain format 1.5 and 3.6. Everything here is total: a cycle is an answer, not a hang, and no
walk takes more steps than there are redirect rows. A brain without redirects costs nothing.
"""

from __future__ import annotations

from enum import Enum
from functools import cached_property
from typing import TYPE_CHECKING, Final, Literal

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

HOP_LIMIT = 64
"""The opt-out lookup climbs at most this many redirects, as the app's query does."""


class _Cycle(Enum):
    """The type of `CYCLE`."""

    CYCLE = "cycle"

    def __repr__(self) -> str:
        return "CYCLE"


CYCLE: Final = _Cycle.CYCLE
"""A redirect chain that runs in a circle: no survivor, never guessed."""

Survivor = str | Literal[_Cycle.CYCLE] | None
"""The end of a chain; None where the id has no redirect of its own."""


class Redirects:
    """The redirect rows of a brain, loser to `merged_into`, as a read-only mapping."""

    def __init__(self, rows: Mapping[str, str] | Iterable[tuple[str, str]] = ()) -> None:
        self._next: dict[str, str] = dict(rows)
        self._ends: dict[str, Survivor] = {}

    def __len__(self) -> int:
        return len(self._next)

    def __contains__(self, entity_id: object) -> bool:
        """Whether the id is a merged-away loser (or on a cycle): it has a redirect row of its own."""
        return entity_id in self._next

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Redirects) and self._next == other._next

    def __hash__(self) -> int:
        return hash(frozenset(self._next.items()))

    @property
    def losers(self) -> Collection[str]:
        """Every id with a redirect row."""
        return self._next.keys()

    def survivor(self, entity_id: str) -> Survivor:
        """Where an id's chain ends: None without a row of its own, CYCLE where it has no end."""
        if entity_id not in self._next:
            return None
        walked: list[str] = []
        at = entity_id
        on_walk: set[str] = set()
        while at in self._next and at not in self._ends and at not in on_walk:
            on_walk.add(at)
            walked.append(at)
            at = self._next[at]
        end: Survivor = CYCLE if at in on_walk else self._ends.get(at, at)
        self._ends.update(dict.fromkeys(walked, end))
        return end

    def resolve(self, entity_id: str) -> str | Literal[_Cycle.CYCLE]:
        """The id to use in place of another: itself where it was never merged away."""
        found = self.survivor(entity_id)
        return entity_id if found is None else found

    def owner(self, entity_id: str) -> str:
        """The id whose facts and sources count for an id: its survivor, or itself where its chain has no end."""
        end = self.resolve(entity_id)
        return entity_id if end is CYCLE else end

    def cluster(self, entity_id: str) -> tuple[str, ...]:
        """The survivor and every id that leads to it, survivor first; of a cycle, all ids that lead into it."""
        if not self._next:
            return (entity_id,)
        end = self.resolve(entity_id)
        return self._leading_to(self._next[self._on_cycle(entity_id)] if end is CYCLE else end)

    def optout_cluster(self, entity_id: str) -> tuple[str, ...]:
        """The ids whose opt-out counts for an id: at most 64 redirects up, then everything that leads there."""
        if not self._next:
            return (entity_id,)
        at = entity_id
        for _ in range(HOP_LIMIT):
            if at not in self._next:
                break
            at = self._next[at]
        return self._leading_to(at)

    def opted_out_by(self, entity_id: str, optouts: Collection[str]) -> str | None:
        """The id whose opt-out row covers an entity, or None; its own comes first."""
        if not optouts:
            return None
        if entity_id in optouts:
            return entity_id
        if not self._touches(entity_id):
            return None
        return next((i for i in self.optout_cluster(entity_id) if i in optouts), None)

    def cycles(self) -> tuple[str, ...]:
        """Every id whose chain never ends, sorted."""
        return tuple(sorted(i for i in self._next if self.survivor(i) is CYCLE))

    def _touches(self, entity_id: str) -> bool:
        return entity_id in self._next or entity_id in self._losers_of

    def _on_cycle(self, entity_id: str) -> str:
        """Some id on the cycle that a chain runs into."""
        seen: set[str] = set()
        at = entity_id
        while at not in seen:
            seen.add(at)
            at = self._next[at]
        return at

    def _leading_to(self, target: str) -> tuple[str, ...]:
        found = {target: None}
        waiting = [target]
        while waiting:
            for loser in self._losers_of.get(waiting.pop(), ()):
                if loser not in found:
                    found[loser] = None
                    waiting.append(loser)
        return tuple(found)

    @cached_property
    def _losers_of(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for loser, into in sorted(self._next.items()):
            found.setdefault(into, []).append(loser)
        return found
