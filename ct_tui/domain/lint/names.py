"""Rules on names: one entity per thing, and no name that only looks like another.

Names are streamed twice: the first pass finds out which keys occur more than once (`SharedKeys`), the second keeps
only the rows that bear one. A name whose comparison key is empty (punctuation only) never counts as anybody's double.
"""

from __future__ import annotations

import unicodedata
from itertools import islice
from typing import TYPE_CHECKING

from ct_tui.domain.census import readable
from ct_tui.domain.lint.model import EntityRow, Finding, Kind, Severity, focus, listed
from ct_tui.domain.names import merge_key, scripts_of, skeleton, trim
from ct_tui.domain.near import Shared

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from ct_tui.domain.apart import Apart
    from ct_tui.domain.near import NearPair

PATH = "curated_entities.name"

_JOINERS = frozenset("\u200c\u200d")
_WORD_BREAK = frozenset("-_/.:,;()[]{}'’\"+&|")


class SharedKeys:
    """Which comparison keys, and which looks, belong to more than one name: the first pass over the names."""

    def __init__(self, expected: int) -> None:
        self._keys = Shared(expected)
        self._looks = Shared(expected)

    def see(self, name: str) -> None:
        """Count one live entity's name."""
        key = merge_key(name)
        if key:
            self._keys.see(key)
        look = skeleton(name) if not name.isascii() else trim(name).lower()
        if look:
            self._looks.see(look)

    def key_of(self, name: str) -> str | None:
        """The name's comparison key where it may be shared, else None."""
        key = merge_key(name)
        return key if key and key in self._keys else None

    def look_of(self, name: str) -> str | None:
        """The name's look where it may be shared, else None."""
        look = skeleton(name) if not name.isascii() else trim(name).lower()
        return look if look and look in self._looks else None


def name_duplicates(group: Sequence[EntityRow], apart: Apart | None = None) -> Iterator[Finding]:
    """`name-duplicate` for the live entities that share one key; pairs that a ruling keeps apart are no doubles."""
    ids = [str(entity.id) for entity in group]
    for entity, entity_id in zip(group, ids, strict=True):
        ruled = apart is not None and apart.touches(entity_id)
        others = (
            i for i in ids if i != entity_id and not (ruled and apart is not None and apart.separates(i, entity_id))
        )
        few = list(islice(others, 6))
        if few:
            rest = (
                f" and {len(ids) - 1 - 5} more" if len(few) > 5 and not ruled else " and more" if len(few) > 5 else ""
            )
            message = f"“{_short(str(entity.name))}” is also the name of {', '.join(few[:5])}{rest}"
            fix = "merge them, or rule that they are different things"
            yield _finding("name-duplicate", Severity.WARNING, entity, message, fix)


def signs_in(name: object) -> tuple[str, ...]:
    """What in one name deceives a reader: invisible characters, letters of another alphabet among Latin ones."""
    if not isinstance(name, str):
        return ()
    found: list[str] = []
    hidden = invisible_in(name)
    if hidden:
        found.append(f"the name holds characters that nobody sees: {listed(dict.fromkeys(hidden))}")
    mixed = None if name.isascii() else mixed_word(name)
    if mixed is not None:
        found.append(f"“{_short(mixed[0])}” mixes Latin letters with ones that only look Latin: {mixed[1]}")
    return tuple(found)


def name_look_alike(groups: Iterable[Collection[EntityRow]], marked: Iterable[EntityRow]) -> Iterator[Finding]:
    """`name-look-alike`: one finding for each entity that looks like another of its group, or bears signs of its own.

    `groups` are live entities of one look, `marked` those whose names `signs_in` objects to.
    """
    twins = {i: (e, found) for group in groups for i, e, found in _twins_in(group)}
    suspects = {str(e.id): e for e in marked} | {i: e for i, (e, _) in twins.items()}
    for entity_id, entity in suspects.items():
        reasons = list(signs_in(entity.name))
        if entity_id in twins:
            twin = listed(_short(t) for t in twins[entity_id][1])
            reasons.insert(0, f"it looks like “{twin}” and is spelled with other characters")
        fix = "type the name anew, or merge the entity with the one it looks like"
        yield _finding("name-look-alike", Severity.WARNING, entity, "; ".join(reasons), fix)


def _twins_in(group: Collection[EntityRow]) -> Iterator[tuple[str, EntityRow, list[str]]]:
    spellings = sorted({str(e.name) for e in group})
    twins = {name: _twins(name, spellings) for name in spellings}
    return ((str(e.id), e, twins[str(e.name)]) for e in group if twins[str(e.name)])


def _twins(name: str, spellings: Collection[str]) -> list[str]:
    found = [other for other in spellings if other != name and _only_looks_alike(name, other)]
    # The plainest spelling is the word itself; the others are its look-alikes.
    return found if found and name != _plainest([name, *found]) else []


def name_near(
    pairs: Iterable[NearPair], names: Mapping[str, EntityRow], apart: Apart | None = None
) -> Iterator[Finding]:
    """`name-near`: for each entity one finding that lists the entities it may be the same as."""
    partners: dict[str, list[tuple[str, str]]] = {}
    for pair in pairs:
        if apart is None or not apart.separates(pair.one.id, pair.other.id):
            partners.setdefault(pair.one.id, []).append((f"“{pair.other.name}” ({pair.other.id})", pair.reason.value))
            partners.setdefault(pair.other.id, []).append((f"“{pair.one.name}” ({pair.one.id})", pair.reason.value))
    for entity_id, found in partners.items():
        who = listed((name for name, _ in found), 3)
        message = f"may be the same as {who}: {found[0][1]}"
        fix = "merge them, or rule that they are different things"
        yield _finding("name-near", Severity.INFO, names[entity_id], message, fix)


def invisible_in(name: str) -> list[str]:
    """The code points of a name that no reader sees; a joiner inside a script or an emoji that needs it is none."""
    found: list[str] = []
    for at, char in enumerate(name):
        if unicodedata.category(char) not in {"Cf", "Cc"}:
            continue
        if char in _JOINERS and _needs_joiner(name, at):
            continue
        found.append(f"U+{ord(char):04X}")
    return found


def mixed_word(name: str) -> tuple[str, str] | None:
    """The first word in which a letter of another alphabet passes for a Latin one, with those letters."""
    for word in _words(name):
        if "LATIN" not in scripts_of("".join(set(word))):
            continue
        foreign = [c for c in word if c.isalpha() and not c.isascii() and _passes_for_latin(c)]
        if foreign:
            return word, ", ".join(f"{c} (U+{ord(c):04X})" for c in dict.fromkeys(foreign))
    return None


def _passes_for_latin(char: str) -> bool:
    script = unicodedata.name(char, "").split(" ", 1)[0]
    return script in {"CYRILLIC", "GREEK", "ARMENIAN", "CHEROKEE"} and skeleton(char).isascii()


def _words(name: str) -> list[str]:
    return "".join(" " if c.isspace() or c in _WORD_BREAK or c.isdigit() else c for c in name).split()


def _needs_joiner(name: str, at: int) -> bool:
    around = name[max(0, at - 2) : at] + name[at + 1 : at + 2]
    return any(unicodedata.category(c) in {"So", "Lo", "Mn", "Mc", "Sk"} for c in around)


def _only_looks_alike(one: str, other: str) -> bool:
    """The same look by other characters; mere casing, blanks and punctuation are no look-alikes."""
    if merge_key(one) == merge_key(other):
        return one != other and unicodedata.normalize("NFC", one) == unicodedata.normalize("NFC", other)
    return skeleton(one) == skeleton(other)


def _plainest(names: Collection[str]) -> str:
    """The spelling a keyboard gives: fewest foreign characters, then composed, then the first."""
    return min(names, key=lambda n: (sum(not c.isascii() for c in n), len(n), n))


def _finding(rule: str, severity: Severity, entity: EntityRow, message: str, fix: str) -> Finding:
    name = entity.name
    value = _short(name) if isinstance(name, str) and readable(name) else _short(repr(name))
    return Finding(rule, severity, focus(Kind.ENTITY, entity.id), PATH, value, message, fix)


def _short(name: str, limit: int = 200) -> str:
    return name if len(name) <= limit else name[:limit] + "…"
