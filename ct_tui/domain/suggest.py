"""Ranked targets for an undeclared label: the edges that would conform, the word itself, and earlier rulings.

A suggestion is only ever a suggestion; every point of its score is said in words beside it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from rapidfuzz import fuzz, process

from ct_tui.domain.names import label_key
from ct_tui.domain.queue import Suggestion

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ct_tui.domain.manifest import NodeType, Vocabulary
    from ct_tui.domain.rulings import AliasInForce, InForce

LIMIT = 9
"""As many suggestions as there are number keys."""

# Words that people and models use for one another when they name kinds of things. One line is one neighbourhood;
# a label and a declared type that share a line are near in meaning.
_NEIGHBOURS = (
    "agent assistant bot operator role job position function duty responsibility persona actor",
    "person human individual user contact author character people",
    "organization company firm business team group institution agency department org vendor",
    "component service module api backend microservice endpoint server database infrastructure subsystem library",
    "software software_application app application program tool package repository repo codebase system platform cli",
    "document creativework article note paper report file page book blog post text document_type memo",
    "design_spec spec specification design rfc adr architecture proposal",
    "procedure process runbook playbook workflow protocol recipe howto guide checklist skill",
    "handoff handover transition",
    "session_recap recap summary minutes journal log meeting_notes standup",
    "reference_doc reference manual documentation glossary handbook cheatsheet",
    "place location city country venue address region site building",
    "event meeting conference incident release milestone appointment occasion",
    "project initiative effort program campaign epic workstream",
    "action task todo activity step decision",
    "review feedback critique rating evaluation assessment audit",
    "product good item device hardware artifact",
    "concept idea topic theme term notion principle theory subject category technology",
)

_LINES = {
    word: frozenset(at for at, line in enumerate(_NEIGHBOURS) if word in line.split())
    for word in " ".join(_NEIGHBOURS).split()
}
"""For each word the neighbourhoods that it belongs to."""


@dataclass(frozen=True)
class Basis:
    """What the ranking may use: edges as (conforming, all) by target type, and how often each type is used."""

    vocabulary: Vocabulary
    acting: InForce
    edges: Mapping[str, tuple[int, int]]
    used: Mapping[str, int]


def suggest(label: str, basis: Basis, *, limit: int = LIMIT) -> tuple[Suggestion, ...]:
    """The best targets for a label, best first; none scores without a reason."""
    asked = _Asked(label, _term(label), _precedents(label_key(label), basis.acting))
    scored = [_score(asked, node, basis) for node in basis.vocabulary.by_key.values()]
    useful = [s for s in scored if s is not None]
    useful.sort(key=lambda s: (-s.score, -basis.used.get(s.type, 0), s.type))
    return tuple(useful[:limit])


def default_reason(label: str, target: str, suggestion: Suggestion | None) -> str:
    """The reason that a ruling is prefilled with: the evidence of the suggestion taken."""
    if suggestion is None or not suggestion.why:
        return f"{label} means {target} here"
    return f"{label} means {target} here: {'; '.join(suggestion.why)}"


@dataclass(frozen=True)
class _Term:
    """A label or a declared type, as it is compared: key, words, and the neighbourhoods that it belongs to."""

    key: str
    words: frozenset[str]
    lines: frozenset[int]


@dataclass(frozen=True)
class _Asked:
    """The label that targets are ranked for, with the earlier rulings on labels like it by their target's key."""

    label: str
    term: _Term
    precedents: Mapping[str, AliasInForce]


def _score(asked: _Asked, node: NodeType, basis: Basis) -> Suggestion | None:
    term = _node_term(node)
    found = (_edges(node, basis), _spelling(asked, term, node), _meaning(asked, term, node), _precedent(asked, term))
    parts = [part for part in found if part]
    if not parts:
        return None
    miss = 1.0
    for weight, _ in parts:
        miss *= 1 - weight
    fit, total = basis.edges.get(node.name, (0, 0))
    return Suggestion(node.name, round(1 - miss, 4), tuple(why for _, why in parts), fit, total)


def _edges(node: NodeType, basis: Basis) -> tuple[float, str] | None:
    fit, total = basis.edges.get(node.name, (0, 0))
    if not fit:
        return None
    best = max((f for f, _ in basis.edges.values()), default=0)
    return 0.75 * fit / max(total, 1) * (1.0 if fit == best else 0.8), f"{fit:,} of {total:,} edges would conform"


def _spelling(asked: _Asked, term: _Term, node: NodeType) -> tuple[float, str] | None:
    ratio = fuzz.ratio(asked.term.key, term.key, score_cutoff=75) / 100
    if ratio:
        return 0.7 * ratio, f"spelled like {node.name}"
    shared = asked.term.words & term.words
    if shared:
        return 0.5, f"shares the word {', '.join(sorted(shared))}"
    return None


def _meaning(asked: _Asked, term: _Term, node: NodeType) -> tuple[float, str] | None:
    if asked.term.lines & term.lines:
        return 0.55, "near in meaning"
    if asked.term.words and asked.term.words <= _described(node):
        return 0.4, f"its description speaks of {asked.label}"
    return None


def _precedent(asked: _Asked, term: _Term) -> tuple[float, str] | None:
    alias = asked.precedents.get(term.key)
    return None if alias is None else (0.45, f"ruling #{alias.ruling.seq} sent {alias.from_type} there")


def _precedents(key: str, acting: InForce) -> dict[str, AliasInForce]:
    """Earlier rulings on labels like this one, the nearest of each target."""
    near = process.extract(key, list(acting.aliases), scorer=fuzz.ratio, score_cutoff=80, limit=None)
    found: dict[str, AliasInForce] = {}
    for ruled, *_ in near:
        alias = acting.aliases[ruled]
        found.setdefault(label_key(alias.to_type), alias)
    return found


def _term(label: str) -> _Term:
    key = label_key(label)
    return _Term(key, _words(key), _LINES.get(key, frozenset()))


@lru_cache(maxsize=4_096)
def _node_term(node: NodeType) -> _Term:
    return _term(node.name)


@lru_cache(maxsize=4_096)
def _described(node: NodeType) -> frozenset[str]:
    return _words(node.description.lower())


def _words(text: str) -> frozenset[str]:
    return frozenset(w for w in re.split(r"[^\w]+|_", text) if len(w) > 2)


def types_by_name(vocabulary: Vocabulary, query: str) -> Sequence[NodeType]:
    """Declared types in the order in which they match what somebody types; all of them for an empty query."""
    nodes = list(vocabulary.by_key.values())
    key = label_key(query)
    if not key:
        return nodes
    scored = [(fuzz.WRatio(key, f"{label_key(n.name)} {n.description.lower()}"), n) for n in nodes]
    prefix = [(200.0 if label_key(n.name).startswith(key) else 0.0) + s for s, n in scored]
    order = sorted(range(len(nodes)), key=lambda i: -prefix[i])
    return [nodes[i] for i in order if prefix[i] >= 55]
