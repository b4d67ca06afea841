"""Many type changes in little room: a plan of a large brain holds hundreds of thousands of them.

What changes alike have in common (types, ruling, reason) is kept once, ids and names as long texts with the places
where each ends. A change becomes a `TypeChange` when somebody looks at it, and is forgotten afterwards.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple, overload

from ct_tui.domain.plan import TypeChange

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ct_tui.domain.plan import ChangeKind

BLOCK = 10_000
"""Changes after which a text is closed; a single change is found by its block."""


class Move(NamedTuple):
    """What a change is besides the entity that it is about."""

    from_type: str
    to_type: str
    kind: ChangeKind
    ruling: int | None
    why: str


class _Block(NamedTuple):
    """Some changes: where each id and each name ends in its text, and which move it is."""

    ids: str
    id_ends: array[int]
    names: str
    name_ends: array[int]
    moves: array[int]


class Changes(Sequence[TypeChange]):
    """The changes of a plan, in order; made by a `ChangeList`, and equal to any sequence of the same changes."""

    def __init__(self, blocks: tuple[_Block, ...], moves: tuple[Move, ...]) -> None:
        self._blocks = blocks
        self._moves = moves
        self._starts = [0, *accumulate(len(block.moves) for block in blocks)]

    def __len__(self) -> int:
        return self._starts[-1]

    @overload
    def __getitem__(self, at: int) -> TypeChange: ...
    @overload
    def __getitem__(self, at: slice) -> tuple[TypeChange, ...]: ...
    def __getitem__(self, at: int | slice) -> TypeChange | tuple[TypeChange, ...]:
        if isinstance(at, slice):
            return tuple(self[place] for place in range(*at.indices(len(self))))
        place = at + len(self) if at < 0 else at
        if not 0 <= place < len(self):
            raise IndexError(at)
        number = bisect_right(self._starts, place) - 1
        block, inside = self._blocks[number], place - self._starts[number]
        entity, name = _piece(block.ids, block.id_ends, inside), _piece(block.names, block.name_ends, inside)
        return TypeChange(entity, name, *self._moves[block.moves[inside]])

    def __iter__(self) -> Iterator[TypeChange]:
        moves = self._moves
        for block in self._blocks:
            ids, names = _cut(block.ids, block.id_ends), _cut(block.names, block.name_ends)
            for entity, name, move in zip(ids, names, block.moves, strict=True):
                yield TypeChange(entity, name, *moves[move])

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Sequence) or isinstance(other, str):
            return NotImplemented
        if isinstance(other, Changes) and self._moves == other._moves and self._blocks == other._blocks:
            return True
        return len(self) == len(other) and all(one == two for one, two in zip(self, other, strict=True))

    def __hash__(self) -> int:
        return hash(tuple(self))

    def __repr__(self) -> str:
        return f"Changes({len(self)})"


class ChangeList:
    """Gathers changes one by one or many at once; `whole` gives them."""

    def __init__(self) -> None:
        self._blocks: list[_Block] = []
        self._numbers: dict[Move, int] = {}
        self._ids: list[str] = []
        self._names: list[str] = []
        self._moves: list[int] = []

    def number(self, move: Move) -> int:
        """The number that a move goes by in `add`."""
        return self._numbers.setdefault(move, len(self._numbers))

    def append(self, change: TypeChange) -> None:
        """Take one change."""
        self.add(change.entity, change.name, self.number(move_of(change)))

    def add(self, entity: str, name: str, move: int) -> None:
        """Take one change whose move has a number already."""
        self._ids.append(entity)
        self._names.append(name)
        self._moves.append(move)
        if len(self._ids) >= BLOCK:
            self._close_block()

    def whole(self) -> Changes:
        """All changes taken so far."""
        if self._ids:
            self._close_block()
        return Changes(tuple(self._blocks), tuple(self._numbers))

    def _close_block(self) -> None:
        ids, names = _joined(self._ids), _joined(self._names)
        self._blocks.append(_Block(*ids, *names, array("Q", self._moves)))
        self._ids, self._names, self._moves = [], [], []


def move_of(change: TypeChange) -> Move:
    """What a change is besides the entity that it is about."""
    return Move(change.from_type, change.to_type, change.kind, change.ruling, change.why)


def _joined(texts: list[str]) -> tuple[str, array[int]]:
    return "".join(texts), array("Q", accumulate(map(len, texts)))


def _piece(text: str, ends: array[int], at: int) -> str:
    return text[ends[at - 1] if at else 0 : ends[at]]


def _cut(text: str, ends: array[int]) -> Iterator[str]:
    start = 0
    for end in ends:
        yield text[start:end]
        start = end
