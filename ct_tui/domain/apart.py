"""Which entities signed rulings call different things, kept by ruling and never as pairs.

A ruling that keeps a thousand namesakes apart would be half a million pairs.
"""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Iterable, Sequence

    from ct_tui.domain.rulings import InForce

APART = "duplicate"
"""The rule name of an exception that keeps entities apart; its focus are the entities' ids."""


class Apart:
    """Groups of entities that are all different things; two are apart where one group names both."""

    def __init__(self, groups: Iterable[Iterable[str]] = ()) -> None:
        self._groups_of: dict[str, set[int]] = {}
        for number, ids in enumerate(groups):
            for entity_id in ids:
                self._groups_of.setdefault(entity_id, set()).add(number)

    def __bool__(self) -> bool:
        return bool(self._groups_of)

    def touches(self, entity_id: str) -> bool:
        """Whether any group names an entity."""
        return entity_id in self._groups_of

    def separates(self, one: str, other: str) -> bool:
        """Whether two entities are ruled to be different things."""
        if one == other:
            return False
        return not self._groups_of.get(one, _NONE).isdisjoint(self._groups_of.get(other, _NONE))

    def pair_within(self, ids: Iterable[str]) -> tuple[str, str] | None:
        """Two of some entities that are kept apart, or None."""
        first: dict[int, str] = {}
        for entity_id in dict.fromkeys(ids):
            for group in self._groups_of.get(entity_id, ()):
                if group in first:
                    return first[group], entity_id
                first[group] = entity_id
        return None

    def all_apart(self, ids: Sequence[str]) -> bool:
        """Whether every two of some entities are kept apart."""
        if not self or not all(self.touches(i) for i in ids):
            return False
        if set.intersection(*(self._groups_of[i] for i in ids)):
            return True
        return all(self.separates(a, b) for a, b in combinations(ids, 2))


_NONE: frozenset[int] = frozenset()


def kept_apart(acting: InForce, today: dt.date) -> Apart:
    """What the rulings in force on a day keep apart."""
    return Apart(body.focus for _, body in acting.exceptions if body.rule == APART and body.in_force(today))
