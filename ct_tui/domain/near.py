"""Names that may mean one thing: what makes two names near, and how near ones are found among a million.

Two names are judged by `why_near` alone. Finding the pairs never compares all with all: every name gives a few block
keys such that near names share at least one, a first pass over the names counts the keys in a bitmap, and a second
one keeps only the names whose keys are shared. Within a crowded block each name meets its neighbours in two sort
orders; how often that happened is counted and told.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import chain, combinations, product
from typing import TYPE_CHECKING, NamedTuple

from ct_tui.domain.names import label_key, merge_key, skeleton
from ct_tui.domain.nicknames import forms_of, same_given_name

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

PERSON_TYPES = frozenset(["person", "people", "human", "individual", "contact"])
"""Types whose names may be shortened to a given name or a surname."""

LONGEST = 400
"""A name of more characters is a text; it is compared as a whole and never letter by letter."""

CROWDED = 60
"""Members of a block up to which all are compared with all."""

NEIGHBOURS = 12
"""How many next names a name meets in each sort order of a crowded block."""

_DIGITS = re.compile(r"\d+")
_DOUBLE = re.compile(r"(.)\1+")
_SMALL_WORDS = frozenset(["of", "the", "and", "for", "a", "an", "in", "on", "und", "der", "die", "das", "de", "la"])
_FOLDED = str.maketrans({"ß": "ss", "ø": "o", "æ": "ae", "œ": "oe", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "ı": "i"})


class Reason(StrEnum):
    """Why two names are near."""

    LOOK_ALIKE = "they look the same"
    ACCENTS = "they differ only in accents"
    SPACING = "they differ only in spaces and signs"
    ORDER = "the same words in another order"
    SPELLING = "they differ by a slip of the pen"
    NICKNAME = "a familiar form of the same name"
    INITIALS = "one has initials where the other has names"
    ACRONYM = "one is the initials of the other"
    SHORT = "one is a part of the other's name"


SCORES: dict[Reason, float] = {
    Reason.LOOK_ALIKE: 0.97,
    Reason.ACCENTS: 0.95,
    Reason.SPACING: 0.93,
    Reason.ORDER: 0.9,
    Reason.SPELLING: 0.85,
    Reason.NICKNAME: 0.8,
    Reason.INITIALS: 0.75,
    Reason.ACRONYM: 0.65,
    Reason.SHORT: 0.5,
}


class Shape(NamedTuple):
    """A name taken apart: `words` folded to plain lower-case letters, `digits` its numbers in order."""

    name: str
    key: str
    words: tuple[str, ...]
    compact: str
    digits: tuple[str, ...]


def shape(name: str) -> Shape:
    """Take a name apart for comparing; a text that only stands in a name's place has no parts."""
    if len(name) > LONGEST:
        return Shape(name, "", (), "", ())
    key = merge_key(name)
    plain = key if name.isascii() else merge_key(fold(name))
    words = tuple(plain.split(" ")) if plain else ()
    return Shape(name, key, words, "".join(words), tuple(_DIGITS.findall(plain)))


def fold(name: str) -> str:
    """A name without accents and with look-alike letters as the Latin ones they look like."""
    text = unicodedata.normalize("NFKD", skeleton(name))
    return "".join(c for c in text if not unicodedata.combining(c)).translate(_FOLDED)


def why_near(one: Shape, other: Shape) -> Reason | None:
    """Why two names may mean one thing, the strongest reason; None for far ones and for the same key.

    Names that differ in a number are never near: version 2 is not version 3.
    """
    if one.key == other.key or not one.words or not other.words or one.digits != other.digits:
        return None
    if one.compact == other.compact:
        return _same_letters(one, other)
    if len(one.words) > 1 and sorted(one.words) == sorted(other.words):
        return Reason.ORDER
    return _slip(one, other) or _parts(one, other)


def _same_letters(one: Shape, other: Shape) -> Reason:
    if skeleton(one.name) == skeleton(other.name):
        return Reason.LOOK_ALIKE
    return Reason.ACCENTS if one.words == other.words else Reason.SPACING


def _slip(one: Shape, other: Shape) -> Reason | None:
    """A typing slip or another romanisation: every word that differs differs by little, and is no short word."""
    from rapidfuzz.distance import OSA

    if len(one.words) != len(other.words):
        limit = _slips(one.compact, other.compact)
        near = limit and OSA.distance(one.compact, other.compact, score_cutoff=limit) <= limit
        return Reason.SPELLING if near else None
    differing = [(a, b) for a, b in zip(one.words, other.words, strict=True) if a != b]
    if len(differing) > 2:
        return None
    for a, b in differing:
        limit = _slips(a, b)
        if _is_plural(a, b) or _is_plural(b, a):
            continue
        if not limit or OSA.distance(a, b, score_cutoff=limit) > limit:
            return None
    return Reason.SPELLING


def _is_plural(one: str, many: str) -> bool:
    return len(one) > 2 and many == one + "s"


def _slips(a: str, b: str) -> int:
    """How many letters two words may differ by; 0 where they are too short to tell a slip from another word."""
    shorter = min(len(a), len(b))
    if shorter < 4 or a.isdigit() or b.isdigit() or max(len(a), len(b)) < 5:
        return 0
    return 2 if shorter >= 9 else 1


def _parts(one: Shape, other: Shape) -> Reason | None:
    """Nicknames, initials, acronyms and short forms."""
    short, long = sorted((one, other), key=lambda s: (len(s.words), len(s.compact)))
    if len(short.words) == 1:
        if _is_acronym(short, long):
            return Reason.ACRONYM
        return Reason.SHORT if _is_short_form(short.words[0], long) else None
    if short.words[-1] != long.words[-1] or len(short.words[-1]) < 3 or short.words[-1].isdigit():
        return None
    ahead, behind = short.words[:-1], long.words[:-1]
    if len(ahead[0]) == 1 or len(behind[0]) == 1:
        fits = all(any(w == v or (w[0] == v[0] and 1 in (len(w), len(v))) for v in behind) for w in ahead)
        return Reason.INITIALS if fits and ahead[0][0] == behind[0][0] else None
    if same_given_name(ahead[0], behind[0]) and all(w in behind or len(w) == 1 for w in ahead[1:]):
        return Reason.NICKNAME
    return None


def _is_acronym(short: Shape, long: Shape) -> bool:
    letters = short.compact
    if not (3 <= len(letters) <= 8 and letters.isalpha() and short.name.strip().isupper()):
        return False
    return letters in {_heads(long.words), _heads(w for w in long.words if w not in _SMALL_WORDS)}


def _is_short_form(word: str, long: Shape) -> bool:
    if not (2 <= len(long.words) <= 4 and len(word) >= 3 and word.isalpha()):
        return False
    return word == long.words[-1] or same_given_name(word, long.words[0])


class Named(NamedTuple):
    """One entity for the search: `type` is its type's comparison key."""

    id: str
    name: str
    type: str


@dataclass(frozen=True, slots=True)
class NearPair:
    """Two entities whose names are near; `one` is the byte-wise lower id."""

    one: Named
    other: Named
    reason: Reason

    @property
    def score(self) -> float:
        """How much the names alone speak for one thing, 0 to 1."""
        return SCORES[self.reason]


class Shared:
    """Which keys occur more than once, told by a bitmap: never misses one, seldom names one too many."""

    def __init__(self, expected: int) -> None:
        """`expected` is about how many keys will come; the bitmap takes two bytes for each, at most 64 MB."""
        bits = max(16, min(28, (max(expected, 1) * 8).bit_length()))
        self._mask = (1 << bits) - 1
        self._once = bytearray(1 << (bits - 3))
        self._again = bytearray(1 << (bits - 3))

    def see(self, key: object) -> None:
        """Count one occurrence."""
        place = hash(key) & self._mask
        at, bit = place >> 3, 1 << (place & 7)
        if self._once[at] & bit:
            self._again[at] |= bit
        else:
            self._once[at] |= bit

    def __contains__(self, key: object) -> bool:
        place = hash(key) & self._mask
        return bool(self._again[place >> 3] & (1 << (place & 7)))


@dataclass
class NearSearch:
    """The search for near pairs; afterwards `crowded` tells how many blocks were too full to compare all with all."""

    crowded: int = field(default=0, init=False)

    def pairs(self, names: Callable[[], Iterable[Named]], expected: int) -> Iterator[NearPair]:
        """Every near pair once; `names` is called twice and must give the same names both times."""
        shared = Shared(expected * 7)
        for named in names():
            _count(named, shared)
        blocks: dict[int, list[int]] = {}
        parts: dict[int, tuple[list[int], list[int]]] = {}
        kept: list[tuple[Named, Shape]] = []
        for named in names():
            taken = shape(named.name)
            alike = [hash(k) for k in block_keys(taken) if k in shared]
            partly = [(hash(k), short) for k, short in part_keys(named, taken) if k in shared]
            for place in alike:
                blocks.setdefault(place, []).append(len(kept))
            for place, short in partly:
                parts.setdefault(place, ([], []))[short].append(len(kept))
            if alike or partly:
                kept.append((named, taken))
        yield from self._judge(blocks, parts, kept)

    def _judge(
        self,
        blocks: dict[int, list[int]],
        parts: dict[int, tuple[list[int], list[int]]],
        kept: list[tuple[Named, Shape]],
    ) -> Iterator[NearPair]:
        told: set[tuple[int, int]] = set()
        for i, j in chain(self._meetings(blocks, kept), self._part_meetings(parts)):
            pair = (i, j) if i < j else (j, i)
            if pair in told:
                continue
            found = _pair(kept[i], kept[j])
            if found is not None:
                told.add(pair)
                yield found

    def _meetings(self, blocks: dict[int, list[int]], kept: list[tuple[Named, Shape]]) -> Iterator[tuple[int, int]]:
        for members in blocks.values():
            if len(members) <= CROWDED:
                yield from combinations(members, 2)
            else:
                self.crowded += 1
                yield from _neighbours(members, kept)

    def _part_meetings(self, parts: dict[int, tuple[list[int], list[int]]]) -> Iterator[tuple[int, int]]:
        for longs, shorts in parts.values():
            self.crowded += len(longs) > CROWDED
            yield from product(shorts, longs[:CROWDED])


def _count(named: Named, shared: Shared) -> None:
    taken = shape(named.name)
    for key in block_keys(taken):
        shared.see(key)
    # A long name meets only short ones: these mark the key at once, and long ones alone never do.
    for key, short in part_keys(named, taken):
        if short:
            shared.see(key)
            shared.see(key)


def _neighbours(members: list[int], kept: list[tuple[Named, Shape]]) -> Iterator[tuple[int, int]]:
    forward = sorted(members, key=lambda i: kept[i][1].compact)
    backward = sorted(members, key=lambda i: kept[i][1].compact[::-1])
    for order in (forward, backward):
        for at, i in enumerate(order):
            for j in order[at + 1 : at + 1 + NEIGHBOURS]:
                yield i, j


def _pair(one: tuple[Named, Shape], other: tuple[Named, Shape]) -> NearPair | None:
    reason = why_near(one[1], other[1])
    if reason is None or (reason is Reason.SHORT and not _both_persons(one[0], other[0])):
        return None
    low, high = sorted((one[0], other[0]), key=lambda n: n.id.encode("utf-8", "surrogatepass"))
    return NearPair(low, high, reason)


def _both_persons(one: Named, other: Named) -> bool:
    return one.type in PERSON_TYPES and other.type in PERSON_TYPES


def block_keys(taken: Shape) -> Iterator[tuple[str, ...]]:
    """The keys under which names meet their like: names near by letters, order, slips or first name share one."""
    words, compact = taken.words, taken.compact
    if not compact:
        return
    yield ("letters", compact)
    if len(words) > 1:
        yield ("words", *sorted(words))
    # One slip in either half leaves the other half whole (Pass-Join); two neighbours swapped over the middle keep
    # their letters, and two slips mostly keep the sound.
    size = len(compact)
    if size >= 4:
        numbers = "/".join(taken.digits)
        for length in (size, size - 1):
            half = length // 2
            yield ("head", numbers, str(length), compact[:half])
            yield ("tail", numbers, str(length), compact[size - (length - half) :])
        yield ("anagram", "".join(sorted(compact)))
        if compact.isalpha():
            yield ("sound", sound(words))
    last = words[-1]
    if len(words) > 1 and len(last) > 2 and not last.isdigit():
        yield ("initial", last, words[0][0])
        for form in forms_of(words[0]):
            yield ("given", last, form)


def part_keys(named: Named, taken: Shape) -> Iterator[tuple[tuple[str, str], bool]]:
    """The keys under which one word meets the longer names it may stand for, and whether this name is the one word."""
    words = taken.words
    if not words:
        return
    single, last = len(words) == 1, words[-1]
    if single and 3 <= len(last) <= 8 and last.isalpha() and named.name.strip().isupper():
        yield ("acronym", last), True
    elif len(words) > 2:
        for heads in {_heads(words), _heads([w for w in words if w not in _SMALL_WORDS])}:
            yield ("acronym", heads), False
    if named.type not in PERSON_TYPES:
        return
    if single or 2 <= len(words) <= 4:
        for form in forms_of(words[0]):
            yield ("first", form), single
        yield ("last", last), single


def _heads(words: Iterable[str]) -> str:
    return "".join(word[0] for word in words)


def sound(words: tuple[str, ...]) -> str:
    """Roughly how a name sounds: common spellings of one sound as one letter, vowels after the first letter dropped."""
    return " ".join(_sound(w) for w in words)


_SOUNDS = (("ph", "f"), ("th", "t"), ("ck", "k"), ("sch", "s"), ("sh", "s"), ("ch", "k"), ("dt", "t"), ("qu", "k"))
_ONE_SOUND = str.maketrans("czvwyj", "ksffii")
_SILENT = str.maketrans("", "", "aeiouh")


def _sound(word: str) -> str:
    for spelling, letter in _SOUNDS:
        word = word.replace(spelling, letter)
    word = _DOUBLE.sub(r"\1", word.translate(_ONE_SOUND))
    return word[:1] + word[1:].translate(_SILENT)


def person_key(raw_type: str) -> str:
    """The comparison key of a type, as `Named.type` wants it."""
    return label_key(raw_type)
