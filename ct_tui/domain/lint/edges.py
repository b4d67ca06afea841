"""Rules on edges: the relation comes from the closed vocabulary, and never is it “related to”."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ct_tui.domain.census import RawText, display, readable
from ct_tui.domain.lint.model import EdgeRow, Finding, Kind, Severity, focus, listed, shown
from ct_tui.domain.names import skeleton, trim

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from ct_tui.domain.manifest import Vocabulary

PATH = "llm_wiki_edges.edge_type"

_NOT_A_LETTER = re.compile(r"[^a-z]+")
_VAGUE = frozenset(
    {
        "related", "relatedto", "relatedwith", "relates", "relatesto", "relateswith", "relateto", "isrelated",
        "isrelatedto", "isrelatedwith", "hasrelation", "hasrelationto", "relation", "relationto",
    }
)  # fmt: skip


def is_related_to(edge_type: RawText) -> bool:
    """Whether an edge type is some spelling of “related to”: any casing, separators, plural, or look-alike letters."""
    return isinstance(edge_type, str) and _NOT_A_LETTER.sub("", skeleton(edge_type)) in _VAGUE


class EdgeVocabulary:
    """The edge names that each anchor may use: its own strict manifest's where it has one, else tier_fact's."""

    def __init__(self, default: Vocabulary, own: Mapping[str, Vocabulary] | None = None) -> None:
        self._default = default
        self._own = dict(own or {})
        self._closest: dict[str, str | None] = {}

    @property
    def closed(self) -> bool:
        """Whether any manifest declares edge types; without one, every type is written as it comes."""
        return bool(self._default.edge_types) or any(v.edge_types for v in self._own.values())

    def declares(self, edge_type: str, anchor: RawText) -> bool:
        """Whether the vocabulary that counts for an anchor declares this edge type; an empty one declares all."""
        vocabulary = self._own.get(anchor, self._default) if isinstance(anchor, str) else self._default
        return not vocabulary.edge_types or bool(vocabulary.edge_definitions(edge_type))

    def suspects(self, types: Iterable[RawText]) -> tuple[RawText, ...]:
        """The distinct types whose edges must be looked at one by one."""
        return tuple(t for t in types if not self._clean(t))

    def _clean(self, edge_type: RawText) -> bool:
        if not isinstance(edge_type, str) or not readable(edge_type) or is_related_to(edge_type):
            return False
        vocabularies = (self._default, *self._own.values())
        return all(not v.edge_types or v.edge_definitions(edge_type) for v in vocabularies)

    def names(self) -> tuple[str, ...]:
        """Every declared edge name, once, in manifest order."""
        return tuple(dict.fromkeys(e.name for v in (self._default, *self._own.values()) for e in v.edge_types))

    def advice(self, kind: str) -> str | None:
        """A sentence that names the declared types nearest in spelling, or None; asked once for each kind."""
        if kind not in self._closest:
            names = () if is_related_to(kind) else nearest_relations(kind, self.names())
            self._closest[kind] = f"rename it to {listed(names)}" if names else None
        return self._closest[kind]


def nearest_relations(kind: str, names: Iterable[str]) -> tuple[str, ...]:
    """Declared names that differ only in separators and casing, else in a few letters, nearest first."""
    from rapidfuzz import fuzz, process

    plain = _NOT_A_LETTER.sub("", skeleton(kind))
    by_plain = {_NOT_A_LETTER.sub("", name.lower()): name for name in names}
    hits = process.extract(plain, list(by_plain), scorer=fuzz.ratio, limit=3, score_cutoff=75)
    return tuple(by_plain[hit[0]] for hit in hits)


def edge_type_undeclared(edge: EdgeRow, vocabulary: EdgeVocabulary) -> Iterator[Finding]:
    """`edge-type-undeclared`: no manifest that counts for the edge declares its type."""
    kind = edge.edge_type
    if not isinstance(kind, str) or not readable(kind):
        yield _undeclared(edge, "the edge type is not readable text")
    elif not trim(kind):
        yield _undeclared(edge, "the edge has no type")
    elif not vocabulary.declares(kind, edge.entity_id):
        yield _undeclared(edge, f"“{kind}” is not declared as an edge type", vocabulary.advice(kind))


def edge_related_to(edge: EdgeRow, vocabulary: EdgeVocabulary) -> Iterator[Finding]:
    """`edge-related-to`: an error, or a warning where a manifest declares it."""
    kind = edge.edge_type
    if not is_related_to(kind):
        return
    declared = vocabulary.closed and vocabulary.declares(display(kind), edge.entity_id)
    severity = Severity.WARNING if declared else Severity.ERROR
    tail = ", even though a manifest declares it" if declared else ""
    message = f"“{display(kind)}” only says that the two have to do with each other{tail}"
    fix = "say how they relate with a declared edge type, or drop the edge"
    where, owner = focus(Kind.EDGE, edge.id), display(edge.source_id)
    yield Finding("edge-related-to", severity, where, PATH, shown(kind), message, fix, owner)


def _undeclared(edge: EdgeRow, message: str, fix: str | None = None) -> Finding:
    where, owner = focus(Kind.EDGE, edge.id), display(edge.source_id)
    return Finding("edge-type-undeclared", Severity.ERROR, where, PATH, shown(edge.edge_type), message, fix, owner)
