"""Why an edge is what it is to the ontology: which definitions of its name exist, and which end falls short of each.

A judgement says only a state; a person who has to repair an edge needs to see how near each definition comes.
"""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING

from ct_tui.domain.edges import EdgeState, Liveness, Rulebook, Triple
from ct_tui.domain.manifest import TIER_FACT, EdgeType, Vocabulary
from ct_tui.domain.names import label_key

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ct_tui.domain.edges import End, Signatures


class Match(IntEnum):
    """How well one end satisfies what a definition asks of it, best first."""

    EXACT = 0
    PARENT = 1
    OPEN = 2
    UNKNOWN = 3
    NONE = 4

    @property
    def sign(self) -> str:
        """One character that says it without colour."""
        return "✓↑??✗"[self]

    @property
    def satisfies(self) -> bool:
        """Whether the end is right for the definition."""
        return self in {Match.EXACT, Match.PARENT}


@dataclass(frozen=True)
class Fitting:
    """One definition of an edge's name, held against its two ends."""

    definition: EdgeType
    source: Match
    target: Match

    @property
    def conforms(self) -> bool:
        """Whether the definition is satisfied."""
        return self.source.satisfies and self.target.satisfies


@dataclass(frozen=True)
class Explanation:
    """An edge's state with what led to it: the row that judges, the definitions nearest first, and sentences."""

    state: EdgeState
    judged_by: str
    fittings: tuple[Fitting, ...]
    why: tuple[str, ...]


def explain(triple: Triple, book: Rulebook) -> Explanation:
    """Why an edge is exact, by parent, violating, undetermined, of an undeclared type, or dangling."""
    state = book.state(triple)
    signatures = book.signatures(triple)
    vocabulary = signatures.vocabulary
    judged_by = TIER_FACT if signatures is book.main else _row_of(triple, book)
    fittings = _fittings(triple, vocabulary)
    return Explanation(state, judged_by, fittings, tuple(_sentences(state, triple, fittings, signatures)))


def fitting(definition: EdgeType, source: str | None, target: str | None, vocabulary: Vocabulary) -> Fitting:
    """One definition held against two types, None standing for an unknown one."""
    return Fitting(
        definition,
        _match(definition.source_type, source, vocabulary),
        _match(definition.target_type, target, vocabulary),
    )


def _row_of(triple: Triple, book: Rulebook) -> str:
    return next((end.row for end in (triple.source, triple.target) if end.row in book.own), TIER_FACT) or TIER_FACT


def _fittings(triple: Triple, vocabulary: Vocabulary) -> tuple[Fitting, ...]:
    found = (
        fitting(definition, triple.source.type, triple.target.type, vocabulary)
        for definition in vocabulary.edge_definitions(triple.edge_type)
    )
    return tuple(sorted(found, key=lambda f: (f.source + f.target, f.source, f.target)))


def _match(asked: str | None, found: str | None, vocabulary: Vocabulary) -> Match:
    if asked is None:
        return Match.OPEN
    if found is None:
        return Match.UNKNOWN
    if label_key(asked) == label_key(found):
        return Match.EXACT
    parent = vocabulary.parent_of(found)
    return Match.PARENT if parent is not None and label_key(parent) == label_key(asked) else Match.NONE


def _sentences(
    state: EdgeState, triple: Triple, fittings: tuple[Fitting, ...], signatures: Signatures
) -> Iterable[str]:
    ends = (("source", triple.source), ("target", triple.target))
    if state is EdgeState.DANGLING:
        yield from (f"the {side} is not there: {_absence(end)}" for side, end in ends if not end.live)
        return
    if state is EdgeState.UNDECLARED:
        yield f"no manifest declares an edge called {triple.edge_type!r}"
        near = difflib.get_close_matches(triple.edge_type, signatures.edge_names, 3, 0.6)
        if near:
            yield f"declared names like it: {', '.join(near)}"
        return
    if state is EdgeState.UNDETERMINED:
        yield from _undetermined(triple, fittings)
        return
    if state.conforms and fittings:
        yield from _satisfied(fittings[0], triple, signatures.vocabulary)
        return
    yield from _violated(triple, fittings, signatures.vocabulary)


def _absence(end: End) -> str:
    return "its row is archived" if end.liveness is Liveness.ARCHIVED else "no row has its id"


def _undetermined(triple: Triple, fittings: tuple[Fitting, ...]) -> Iterable[str]:
    for side, end in (("source", triple.source), ("target", triple.target)):
        if end.type is None:
            yield f"the {side} has no type that can be read, so nothing can be said of it"
    if all(end.type is not None for end in (triple.source, triple.target)):
        lacking = sum(1 for f in fittings if Match.OPEN in {f.source, f.target})
        yield f"{lacking} of {len(fittings)} definitions name no type for an end, and none of them is contradicted"


def _satisfied(best: Fitting, triple: Triple, vocabulary: Vocabulary) -> Iterable[str]:
    definition = best.definition
    for side, match, end, asked in (
        ("source", best.source, triple.source, definition.source_type),
        ("target", best.target, triple.target, definition.target_type),
    ):
        if match is Match.EXACT:
            yield f"the {side} is the {asked} that is asked for"
        else:
            yield f"the {side} is a {end.type}, and the parent type of that is {vocabulary.parent_of(end.type or '')}"


def _violated(triple: Triple, fittings: tuple[Fitting, ...], vocabulary: Vocabulary) -> Iterable[str]:
    sources, targets = [f.source for f in fittings], [f.target for f in fittings]
    yield _shortfall("source", triple.source, sources, [f.definition.source_type for f in fittings], vocabulary)
    yield _shortfall("target", triple.target, targets, [f.definition.target_type for f in fittings], vocabulary)
    if any(m.satisfies for m in sources) and any(m.satisfies for m in targets):
        yield "each end is right for some definition, but never both for the same one"


def _shortfall(side: str, end: End, matches: list[Match], asked: list[str | None], vocabulary: Vocabulary) -> str:
    right = sum(1 for match in matches if match.satisfies)
    if right == len(matches):
        return f"the {side} is right: {end.type}"
    if right:
        return f"the {side}, {end.type}, is right for {right} of {len(matches)} definitions"
    names = list(dict.fromkeys(name for name in asked if name is not None))
    wanted = ", ".join(names[:4]) + (f" or {len(names) - 4} others" if len(names) > 4 else "")
    return f"the {side} is {end.type}, where {wanted} is asked for{_lineage(end, vocabulary)}"


def _lineage(end: End, vocabulary: Vocabulary) -> str:
    if end.type is None or end.type not in vocabulary:
        return "; nobody declared that type"
    parent = vocabulary.parent_of(end.type)
    return f"; its parent type is {parent}" if parent is not None else "; it has no parent type"
