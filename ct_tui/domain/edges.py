"""Whether edges conform to the ontology: judging, counting, and what a change would do to them.

Source of the rules: brain format 6.3 and 6.4. An edge conforms when some definition of its name is satisfied by both
ends; a type satisfies a declared one when they are equal or when its `parent_type` equals it, one hop and no more.
Edges are judged as counted triples (edge type, what the source is, what the target is), so that a whole brain costs
as much as the different triples in it, and a question such as "what if every agent were a role" is answered while
somebody chooses.
"""

from __future__ import annotations

from array import array
from collections import Counter
from dataclasses import dataclass, fields
from enum import StrEnum
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from ct_tui.domain.census import RawText, display, readable
from ct_tui.domain.names import is_blank, label_key
from ct_tui.domain.plan import EdgeEffect

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from ct_tui.domain.manifest import Vocabulary

_key = lru_cache(maxsize=1 << 14)(label_key)

KEPT_BOOKS = 4
"""For how many rulebooks the states of counted triples are kept."""

Pair = tuple[str, str]
"""The comparison keys of a source type and a target type."""


class EdgeState(StrEnum):
    """What an edge is to the ontology; the values are the fields of the `edges` document."""

    EXACT = "exact"
    PARENT = "parent"
    VIOLATING = "violating"
    UNDETERMINED = "undetermined"
    UNDECLARED = "undeclared_type"
    DANGLING = "dangling"

    @property
    def sign(self) -> str:
        """One character that says the state without colour."""
        return _SIGNS[self]

    @property
    def word(self) -> str:
        """The state in words."""
        return _WORDS[self]

    @property
    def conforms(self) -> bool:
        """Whether a definition is satisfied."""
        return self is EdgeState.EXACT or self is EdgeState.PARENT


_SIGNS = {
    EdgeState.EXACT: "✓",
    EdgeState.PARENT: "↑",
    EdgeState.VIOLATING: "✗",
    EdgeState.UNDETERMINED: "?",
    EdgeState.UNDECLARED: "∉",
    EdgeState.DANGLING: "⊘",
}
_WORDS = {
    EdgeState.EXACT: "exact",
    EdgeState.PARENT: "by parent",
    EdgeState.VIOLATING: "violating",
    EdgeState.UNDETERMINED: "undetermined",
    EdgeState.UNDECLARED: "undeclared edge type",
    EdgeState.DANGLING: "dangling",
}


class Liveness(StrEnum):
    """Whether an edge's end is there: no row with its id, only archived ones, or a live one."""

    LIVE = "live"
    ARCHIVED = "archived"
    MISSING = "missing"


class End(NamedTuple):
    """What one end of an edge is; `type` is None where it is unknown (NULL, blank, unreadable, nothing there).

    `entity` tells curated entities from facts and tasks, `row` names the strict manifest row that decides for it in
    place of tier_fact, `fixed` that no alias reaches it, and `after` is its type once the changes under consideration
    are made (None: the same).
    """

    type: str | None = None
    liveness: Liveness = Liveness.LIVE
    entity: bool = True
    shielded: bool = False
    row: str | None = None
    fixed: bool = False
    after: str | None = None

    @property
    def live(self) -> bool:
        """Whether a live row has this id."""
        return self.liveness is Liveness.LIVE

    @property
    def movable(self) -> bool:
        """Whether an alias for its type would reach it."""
        return self.entity and self.live and not (self.shielded or self.fixed)

    @property
    def settled(self) -> End:
        """The end once the changes under consideration are made."""
        return self if self.after is None else self._replace(type=self.after, after=None)


class Triple(NamedTuple):
    """An edge as far as the ontology is concerned; `edge_type` as it is spelled."""

    edge_type: str
    source: End
    target: End

    @property
    def shielded(self) -> bool:
        """Whether an end is opted out or off, so that no repair may touch the edge."""
        return self.source.shielded or self.target.shielded

    @property
    def live(self) -> bool:
        """Whether both ends are live."""
        return self.source.live and self.target.live

    @property
    def settled(self) -> Triple:
        """The edge once the changes under consideration are made."""
        return Triple(self.edge_type, self.source.settled, self.target.settled)


def known_type(raw: RawText) -> str | None:
    """A type column as an edge's end bears it: None where it holds no readable, non-blank text."""
    if not readable(raw) or not isinstance(raw, str) or is_blank(raw):
        return None
    return raw


class Signatures:
    """The edge definitions of one vocabulary, indexed so that judging an edge takes a few look-ups."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self.vocabulary = vocabulary
        self._pairs: dict[str, set[Pair]] = {}
        self._open: dict[str, list[tuple[str | None, str | None]]] = {}
        for edge in vocabulary.edge_types:
            name = _key(edge.name)
            pairs = self._pairs.setdefault(name, set())
            if edge.source_type is not None and edge.target_type is not None:
                pairs.add((_key(edge.source_type), _key(edge.target_type)))
            else:
                ends = (_key_or_none(edge.source_type), _key_or_none(edge.target_type))
                self._open.setdefault(name, []).append(ends)
        nodes = vocabulary.by_key.items()
        self._parent = {k: _key(n.parent_type) for k, n in nodes if n.parent_type is not None}
        self._allowed: dict[tuple[str, str, bool], frozenset[str]] = {}

    def judge(self, edge_type: str, source: str | None, target: str | None) -> EdgeState:
        """The state of an edge between two types, None standing for an unknown one; live ends are assumed."""
        return self.judge_keys(_key(edge_type), _key_or_none(source), _key_or_none(target))

    def judge_keys(self, name: str, source: str | None, target: str | None) -> EdgeState:
        """As `judge`, over comparison keys."""
        pairs = self._pairs.get(name)
        if pairs is None:
            return EdgeState.UNDECLARED
        if source is None or target is None:
            return EdgeState.UNDETERMINED
        if (source, target) in pairs:
            return EdgeState.EXACT
        if self._by_parent(pairs, source, target):
            return EdgeState.PARENT
        if name in self._open and self._may_conform(name, source, target):
            return EdgeState.UNDETERMINED
        return EdgeState.VIOLATING

    def conforms(self, edge_type: str, source: str | None, target: str | None) -> bool:
        """Whether an edge between two types satisfies a definition."""
        return self.judge(edge_type, source, target).conforms

    def spelling(self, edge_type: str) -> str | None:
        """The declared spelling of an edge name, or None where it is undeclared."""
        found = self.vocabulary.edge_definitions(edge_type)
        return found[0].name if found else None

    @cached_property
    def edge_names(self) -> tuple[str, ...]:
        """The declared edge names in manifest order, each once."""
        first: dict[str, str] = {}
        for edge in self.vocabulary.edge_types:
            first.setdefault(_key(edge.name), edge.name)
        return tuple(first.values())

    def others(self, name: str, one: str, *, outgoing: bool) -> frozenset[str]:
        """Keys of the types that conform at the other end of an edge, `one` being its source if outgoing."""
        asked = (name, one, outgoing)
        found = self._allowed.get(asked)
        if found is None:
            near = {one, self._parent.get(one)}
            ends = (pair if outgoing else pair[::-1] for pair in self._pairs.get(name, ()))
            declared = {far for this, far in ends if this in near}
            found = frozenset(declared | {c for c, p in self._parent.items() if p in declared})
            self._allowed[asked] = found
        return found

    def differences(self, other: Signatures) -> Difference:
        """Where this and another index may judge differently."""
        parents = {*self._parent, *other._parent}
        types = frozenset(t for t in parents if self._parent.get(t) != other._parent.get(t))
        names: set[str] = set()
        parts: set[Pair] = set()
        for name in {*self._pairs, *other._pairs}:
            mine, theirs = self._pairs.get(name), other._pairs.get(name)
            if mine is None or theirs is None or self._open.get(name) != other._open.get(name):
                names.add(name)
                continue
            for source, _ in mine ^ theirs:
                parts.update((name, s) for s in self._satisfying(source) | other._satisfying(source))
        return Difference(frozenset(names), frozenset(parts), types)

    def _satisfying(self, declared: str) -> set[str]:
        return {declared} | {child for child, parent in self._parent.items() if parent == declared}

    def _by_parent(self, pairs: set[Pair], source: str, target: str) -> bool:
        up_source, up_target = self._parent.get(source), self._parent.get(target)
        if up_source is not None and ((up_source, target) in pairs or (up_source, up_target) in pairs):
            return True
        return up_target is not None and (source, up_target) in pairs

    def _may_conform(self, name: str, source: str, target: str) -> bool:
        """Whether a definition that lacks an end is not contradicted by the end that it has."""
        near, far = {source, self._parent.get(source)}, {target, self._parent.get(target)}
        return any((s is None or s in near) and (t is None or t in far) for s, t in self._open[name])


class Difference(NamedTuple):
    """Where two indexes may judge differently, as keys: edge names, edge name with source type, types at either end."""

    names: frozenset[str]
    parts: frozenset[Pair]
    types: frozenset[str]


class Rulebook:
    """Which definitions judge which edge: those of an end's own strict manifest row, the source's first, else the rest.

    `own` maps the row's id to its signatures.
    """

    def __init__(self, main: Signatures, own: Mapping[str, Signatures] | None = None) -> None:
        self.main = main
        self.own = dict(own or {})

    def signatures(self, triple: Triple) -> Signatures:
        """The definitions that judge this edge."""
        if self.own:
            for end in (triple.source, triple.target):
                found = self.own.get(end.row) if end.row is not None else None
                if found is not None:
                    return found
        return self.main

    def state(self, triple: Triple) -> EdgeState:
        """What the edge is to the ontology, as its ends are now."""
        if not (triple.source.live and triple.target.live):
            return EdgeState.DANGLING
        return self.signatures(triple).judge(triple.edge_type, triple.source.type, triple.target.type)


@dataclass(frozen=True)
class EdgeCounts:
    """How many edges are in each state; the first seven are the `edges` document's own.

    Of the dangling ones, `half_live` have one live end, `archived` lack no row and `missing` lack one. `shielded`
    edges have an end that is opted out or off, `loops` begin and end at the same id.
    """

    edges: int = 0
    exact: int = 0
    parent: int = 0
    violating: int = 0
    undetermined: int = 0
    undeclared_type: int = 0
    dangling: int = 0
    half_live: int = 0
    archived: int = 0
    missing: int = 0
    shielded: int = 0
    shielded_violating: int = 0
    loops: int = 0

    @property
    def conforming(self) -> int:
        """Edges that satisfy a definition."""
        return self.exact + self.parent

    def get(self, state: EdgeState) -> int:
        """Edges in one state."""
        return int(getattr(self, state.value))

    def as_json(self) -> dict[str, int]:
        """Every count by its name."""
        return {f.name: int(getattr(self, f.name)) for f in fields(self)}


class Cell(NamedTuple):
    """One cell of the matrix; a type of None is unknown; `shielded` edges have an end that is opted out or off."""

    edge_type: str
    source_type: str | None
    target_type: str | None
    count: int  # type: ignore[assignment]  # the `edges` document's name; nobody searches a cell like a tuple
    state: EdgeState
    shielded: int = 0

    @property
    def open(self) -> int:
        """Edges that a repair may touch."""
        return self.count - self.shielded

    def as_json(self) -> dict[str, Any]:
        """The cell as the command line prints it."""
        return {
            "edge_type": self.edge_type,
            "source_type": self.source_type,
            "target_type": self.target_type,
            "count": self.count,
            "state": self.state.value,
            "shielded": self.shielded,
        }

    def __str__(self) -> str:
        return f"{self.source_type or '?'} {self.edge_type} {self.target_type or '?'}"


class Fit(NamedTuple):
    """Of `total` edges that touch the entities in question, `fit` would conform."""

    fit: int
    total: int


class _Row(NamedTuple):
    """One counted triple with the comparison keys of its parts, worked out once."""

    triple: Triple
    n: int
    name: str
    source: str | None
    target: str | None
    live: bool
    shielded: bool


class Triples:
    """The edges of a brain (or of some entities), counted by triple."""

    def __init__(self, counts: Iterable[tuple[Triple, int]], loops: int = 0) -> None:
        self._rows = [_row(triple, n) for triple, n in counts if n > 0]
        self.loops = loops
        self._judged: dict[Rulebook, list[EdgeState]] = {}

    def __len__(self) -> int:
        return len(self._rows)

    def __iter__(self) -> Iterator[tuple[Triple, int]]:
        return ((row.triple, row.n) for row in self._rows)

    @property
    def edges(self) -> int:
        """How many edges were counted."""
        return sum(row.n for row in self._rows)

    def counts(self, book: Rulebook) -> EdgeCounts:
        """The edges by state."""
        by_state: dict[EdgeState, int] = dict.fromkeys(EdgeState, 0)
        more: Counter[str] = Counter(loops=self.loops)
        for row, state in zip(self._rows, self.states(book), strict=True):
            by_state[state] += row.n
            if row.shielded:
                more["shielded"] += row.n
                more["shielded_violating"] += row.n if state is EdgeState.VIOLATING else 0
            if state is EdgeState.DANGLING:
                for name in _how_dangling(row.triple):
                    more[name] += row.n
        states = {state.value: n for state, n in by_state.items()}
        return EdgeCounts(sum(by_state.values()), **states, **more)

    def states(self, book: Rulebook) -> Sequence[EdgeState]:
        """The state of every counted triple, in the order of iteration; judged once for a rulebook."""
        found = self._judged.get(book)
        if found is None:
            if len(self._judged) >= KEPT_BOOKS:
                self._judged.clear()
            found = self._judged[book] = [_state(book, row) for row in self._rows]
        return found

    def matrix(self, book: Rulebook) -> tuple[Cell, ...]:
        """The edges by edge type, end types and state, in the order of their names."""
        all_: dict[tuple[str, str | None, str | None, EdgeState], int] = {}
        shielded: dict[tuple[str, str | None, str | None, EdgeState], int] = {}
        for row, state in zip(self._rows, self.states(book), strict=True):
            edge_type, source, target = row.triple
            key = (edge_type, source.type, target.type, state)
            all_[key] = all_.get(key, 0) + row.n
            if row.shielded:
                shielded[key] = shielded.get(key, 0) + row.n
        cells = [Cell(*key[:3], n, key[3], shielded.get(key, 0)) for key, n in all_.items()]
        return tuple(sorted(cells, key=_cell_order))

    def touching(self, label: str) -> Iterator[tuple[Triple, int]]:
        """The counted triples with an end of this type."""
        for index in self._by_type.get(_key(label), ()):
            yield self._rows[index].triple, self._rows[index].n

    def after(self, moves: Mapping[str, str] | None = None) -> Triples:
        """The triples once the changes under consideration are made, and every movable end of a type in `moves` moved.

        `moves` maps comparison keys to new types.
        """
        kept: list[_Row] = []
        moved: Counter[Triple] = Counter()
        for row in self._rows:
            edge_type, source, target = row.triple
            ends = _moved(source, moves), _moved(target, moves)
            if ends[0] is source and ends[1] is target:
                kept.append(row)
            else:
                moved[Triple(edge_type, *ends)] += row.n
        if not moved:
            return self
        # What does not move is shared with this count: of a large brain that is nearly everything.
        rows = [row._replace(n=row.n + moved.pop(row.triple)) if row.triple in moved else row for row in kept]
        found = Triples(moved.items(), self.loops)
        found._rows[:0] = rows
        return found

    def changed(self, gone: Iterable[Triple], come: Iterable[Triple], loops: int = 0) -> Triples:
        """The triples with single edges taken out and put in; `loops` is by how many the loops change."""
        counts: Counter[Triple] = Counter()
        for triple, n in self:
            counts[triple] += n
        counts.subtract(gone)
        counts.update(come)
        return Triples(counts.items(), self.loops + loops)

    def effect(
        self, book: Rulebook, *, moves: Mapping[str, str] | None = None, after: Rulebook | None = None
    ) -> EdgeEffect:
        """What moving types, changing definitions, or the changes under consideration do to the edges they touch."""
        tally = EffectTally()
        moved = {key: _key(to) for key, to in (moves or {}).items()}
        states = self.states(book)
        for index in self._touched(book, moved, after):
            row = self._rows[index]
            tally.add(states[index], _state(after or book, _moved_row(row, moved)), row.n)
        return tally.effect

    def fit_by_type(self, label: str, book: Rulebook) -> dict[str, Fit]:
        """For every declared type, how many edges of the entities of type `label` would conform if they bore it."""
        sides = _Sides(self._rows[i] for i in self._by_type.get(_key(label), ()))
        sides.collect(_key(label))
        return sides.fits(book.main)

    def fit_of_marked(self, book: Rulebook) -> dict[str, Fit]:
        """As `fit_by_type`, for the ends whose `after` is set, whatever that is: a set of chosen entities."""
        sides = _Sides(self._rows)
        sides.collect(None)
        return sides.fits(book.main)

    @cached_property
    def _by_type(self) -> dict[str, array[int]]:
        found: dict[str, array[int]] = {}
        for index, row in enumerate(self._rows):
            for key in {row.source, row.target}:
                if key is not None:
                    found.setdefault(key, array("I")).append(index)
        return found

    @cached_property
    def _by_name(self) -> dict[str, dict[str | None, array[int]]]:
        found: dict[str, dict[str | None, array[int]]] = {}
        for index, row in enumerate(self._rows):
            found.setdefault(row.name, {}).setdefault(row.source, array("I")).append(index)
        return found

    @cached_property
    def _pending(self) -> list[int]:
        """Rows with an end that the changes under consideration move."""
        return [
            i
            for i, r in enumerate(self._rows)
            if r.triple.source.after is not None or r.triple.target.after is not None
        ]

    def _touched(self, book: Rulebook, moves: Mapping[str, str], after: Rulebook | None) -> Collection[int]:
        found = set(self._pending)
        for key in moves:
            found.update(self._by_type.get(key, ()))
        if after is not None and after is not book:
            found.update(self._redefined(book, after))
        return found

    def _redefined(self, book: Rulebook, after: Rulebook) -> Iterator[int]:
        """Rows that two rulebooks judge differently."""
        if book.own != after.own:
            indexes: Iterable[int] = range(len(self._rows))
        else:
            indexes = self._under(book.main.differences(after.main))
        states = self.states(book)
        for index in indexes:
            if states[index] is not _state(after, self._rows[index]):
                yield index

    def _under(self, found: Difference) -> set[int]:
        indexes = {i for t in found.types for i in self._by_type.get(t, ())}
        for name in found.names:
            indexes.update(i for part in self._by_name.get(name, {}).values() for i in part)
        for name, source in found.parts:
            indexes.update(self._by_name.get(name, {}).get(source, ()))
        return indexes


class EffectTally:
    """Adds up edges that gain, break and stay broken."""

    def __init__(self) -> None:
        self._gained = self._broken = self._still = 0

    def add(self, before: EdgeState | None, after: EdgeState | None, count: int = 1) -> None:
        """Count edges that go from one state to another; None stands for no edge."""
        was, is_ = before is not None and before.conforms, after is not None and after.conforms
        if is_ and not was:
            self._gained += count
        elif was and not is_:
            self._broken += count
        elif not was and after is EdgeState.VIOLATING:
            self._still += count

    @property
    def effect(self) -> EdgeEffect:
        """The sums."""
        return EdgeEffect(self._gained, self._broken, self._still)


class _Sides:
    """The edges of some entities by the end they are at, for trying one type after another on them."""

    def __init__(self, rows: Iterable[_Row]) -> None:
        self._all = rows
        self._out: dict[str, Counter[str]] = {}
        self._in: dict[str, Counter[str]] = {}
        self._both: Counter[str] = Counter()
        self.total = 0

    def collect(self, label: str | None) -> None:
        """Take the edges whose movable ends bear a type, or without one those whose ends are marked."""
        for row in self._all:
            if not row.live:
                continue
            out = _chosen(row.triple.source, row.source, label)
            into = _chosen(row.triple.target, row.target, label)
            if not (out or into):
                continue
            self.total += row.n
            if out and into:
                self._both[row.name] += row.n
            elif out and row.target is not None:
                self._out.setdefault(row.name, Counter())[row.target] += row.n
            elif into and row.source is not None:
                self._in.setdefault(row.name, Counter())[row.source] += row.n

    def fits(self, signatures: Signatures) -> dict[str, Fit]:
        """How many would conform, by declared type in manifest order."""
        return {n: Fit(self._fit(signatures, _key(n)), self.total) for n in signatures.vocabulary.names}

    def _fit(self, signatures: Signatures, key: str) -> int:
        found = sum(n for name, n in self._both.items() if key in signatures.others(name, key, outgoing=True))
        for sides, outgoing in ((self._out, True), (self._in, False)):
            for name, others in sides.items():
                allowed = signatures.others(name, key, outgoing=outgoing)
                found += sum(others[other] for other in allowed if other in others)
        return found


def _chosen(end: End, key: str | None, label: str | None) -> bool:
    return end.after is not None if label is None else (end.movable and key == label)


def _row(triple: Triple, n: int) -> _Row:
    edge_type, source, target = triple
    live = source.liveness is Liveness.LIVE and target.liveness is Liveness.LIVE
    shielded = source.shielded or target.shielded
    return _Row(triple, n, _key(edge_type), _key_or_none(source.type), _key_or_none(target.type), live, shielded)


def _state(book: Rulebook, row: _Row) -> EdgeState:
    if not row.live:
        return EdgeState.DANGLING
    if not book.own:
        return book.main.judge_keys(row.name, row.source, row.target)
    return book.signatures(row.triple).judge_keys(row.name, row.source, row.target)


def _moved(end: End, moves: Mapping[str, str] | None) -> End:
    if end.after is not None:
        return end.settled
    if not moves or end.type is None or not end.movable:
        return end
    to = moves.get(_key(end.type))
    return end if to is None else end._replace(type=to)


def _moved_row(row: _Row, moves: Mapping[str, str]) -> _Row:
    """The row with the keys that its ends have after the changes; the triple itself is only asked who judges it."""
    source, target = _key_after(row.triple.source, row.source, moves), _key_after(row.triple.target, row.target, moves)
    return _Row(row.triple, row.n, row.name, source, target, row.live, row.shielded)


def _key_after(end: End, key: str | None, moves: Mapping[str, str]) -> str | None:
    if end.after is not None:
        return _key(end.after)
    if key is None or key not in moves or not end.movable:
        return key
    return moves[key]


def _how_dangling(triple: Triple) -> Iterator[str]:
    if triple.source.live or triple.target.live:
        yield "half_live"
    yield "missing" if Liveness.MISSING in {triple.source.liveness, triple.target.liveness} else "archived"


def _key_or_none(label: str | None) -> str | None:
    return None if label is None else _key(label)


def _cell_order(cell: Cell) -> tuple[str, str, str, str]:
    return cell.edge_type, cell.source_type or "", cell.target_type or "", cell.state.value


def edge_text(edge_type: RawText, source: RawText, target: RawText) -> str:
    """An edge in one line for messages, by the ids of its ends."""
    return f"{display(source)} {display(edge_type)} {display(target)}"
