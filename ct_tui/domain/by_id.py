"""Few different values under many ids, in little room: a large brain has hundreds of thousands of such ids."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import ItemsView, Mapping
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

ValueT = TypeVar("ValueT")

BUCKETS = 1 << 10
"""Over how many texts the ids are spread; one is searched as a whole."""


class ById(Mapping[str, ValueT]):
    """A read-only mapping of ids to hashable values.

    Those of `few` come first and go before what `many` says of the same id; otherwise no id may come twice.
    """

    def __init__(self, few: Mapping[str, ValueT], many: Iterable[tuple[str, ValueT]] = ()) -> None:
        self._few = dict(few)
        self._buckets: dict[int, _Bucket] = {}
        self._count = len(few)
        numbers: dict[ValueT, int] = {}
        for key, value in many:
            if key in self._few:
                continue
            if key:
                raw = _bytes(key)
                bucket = self._buckets.get(hash(raw) % BUCKETS)
                if bucket is None:
                    bucket = self._buckets[hash(raw) % BUCKETS] = _Bucket()
                bucket.add(raw, numbers.setdefault(value, len(numbers)))
            else:
                # Nothing cannot be found in a text.
                self._few[key] = value
            self._count += 1
        self._values = list(numbers)

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[str]:
        return (key for key, _ in self.items())

    def __getitem__(self, key: str) -> ValueT:
        if key in self._few:
            return self._few[key]
        raw = _bytes(key)
        bucket = self._buckets.get(hash(raw) % BUCKETS) if key else None
        number = None if bucket is None else bucket.find(raw)
        if number is None:
            raise KeyError(key)
        return self._values[number]

    def items(self) -> ItemsView[str, ValueT]:
        """Ids with their values, read in one go."""
        return _Items(self)

    def pairs(self) -> Iterator[tuple[str, ValueT]]:
        """The same one by one."""
        yield from self._few.items()
        values = self._values
        for bucket in self._buckets.values():
            for raw, number in bucket:
                yield raw.decode("utf-8", "surrogatepass"), values[number]


class _Items(ItemsView[str, ValueT]):
    """Items without a search for each."""

    _mapping: ById[ValueT]

    def __iter__(self) -> Iterator[tuple[str, ValueT]]:
        return self._mapping.pairs()


class _Bucket:
    """Some ids as one text, the places where each ends, and the number of its value."""

    __slots__ = ("ends", "numbers", "text")

    def __init__(self) -> None:
        self.text = bytearray()
        self.ends = array("I")
        self.numbers = array("I")

    def add(self, raw: bytes, number: int) -> None:
        """Take one more id."""
        self.text += raw
        self.ends.append(len(self.text))
        self.numbers.append(number)

    def find(self, raw: bytes) -> int | None:
        """The number of an id's value; what only lies across two ids, or inside one, is no id."""
        at = self.text.find(raw)
        while at >= 0:
            place = bisect_left(self.ends, at + len(raw))
            end = self.ends[place] if place < len(self.ends) else -1
            if end == at + len(raw) and at == (self.ends[place - 1] if place else 0):
                return self.numbers[place]
            at = self.text.find(raw, at + 1)
        return None

    def __iter__(self) -> Iterator[tuple[bytes, int]]:
        start = 0
        for end, number in zip(self.ends, self.numbers, strict=True):
            yield bytes(self.text[start:end]), number
            start = end


def _bytes(key: str) -> bytes:
    return key.encode("utf-8", "surrogatepass")
