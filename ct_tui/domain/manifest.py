"""Ontology manifests: the lenient reader, the vocabulary it yields, and edits that keep every other byte.

Source of the rules: brain format 3.1 (vocabulary), 6.3 (edge definitions). The reader takes objects and bare
strings, skips what has no usable `type`, and treats a missing array as empty.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from ct_tui.domain.json_text import BadJson, append_to_array, parse_json, set_member
from ct_tui.domain.names import label_key, skeleton, trim

if TYPE_CHECKING:
    from collections.abc import Mapping

TIER_FACT = "tier_fact"
"""Id of the manifest row that rungs 2 to 4 of the skip ladder take their vocabulary from."""

SEED_TYPES = (
    "person", "organization", "place", "event", "project", "action", "creativework", "review", "product",
    "software_application", "service", "role", "design_spec", "handoff", "procedure", "session_recap",
    "reference_doc",
)  # fmt: skip
"""The 17 node types of the schema-software-org seed; a row that declares them all is of the seed family."""

PREFERRED_FALLBACKS = ("concept", "project")


@dataclass(frozen=True)
class NodeType:
    """One declared node type in its canonical spelling."""

    name: str
    description: str = ""
    parent_type: str | None = None


@dataclass(frozen=True)
class EdgeType:
    """One declared edge signature; ends are None where the manifest names only the edge."""

    name: str
    source_type: str | None = None
    target_type: str | None = None
    description: str = ""


@dataclass(frozen=True)
class Vocabulary:
    """The node and edge types that a manifest declares, first spelling of each key first.

    `fallback` is the declared spelling where it names a declared type, else the raw trimmed text, else None.
    """

    node_types: tuple[NodeType, ...] = ()
    edge_types: tuple[EdgeType, ...] = ()
    fallback: str | None = None

    @cached_property
    def _by_key(self) -> dict[str, NodeType]:
        found: dict[str, NodeType] = {}
        for node in self.node_types:
            found.setdefault(label_key(node.name), node)
        return found

    @property
    def by_key(self) -> Mapping[str, NodeType]:
        """Declared node types by comparison key."""
        return MappingProxyType(self._by_key)

    @property
    def names(self) -> tuple[str, ...]:
        """Canonical spellings in manifest order."""
        return tuple(node.name for node in self._by_key.values())

    def canonical(self, label: str) -> str | None:
        """The declared spelling of a label, or None where it is undeclared."""
        node = self._by_key.get(label_key(label))
        return node.name if node else None

    def __contains__(self, label: object) -> bool:
        return isinstance(label, str) and label_key(label) in self._by_key

    def look_alikes(self, label: str) -> tuple[str, ...]:
        """Declared types that a reader could take a label for, or it for them."""
        return self._by_skeleton.get(skeleton(label), ())

    @cached_property
    def _by_skeleton(self) -> dict[str, tuple[str, ...]]:
        found: dict[str, tuple[str, ...]] = {}
        for name in self.names:
            found[skeleton(name)] = (*found.get(skeleton(name), ()), name)
        return found

    def parent_of(self, label: str) -> str | None:
        """The declared parent of a type, one hop."""
        node = self._by_key.get(label_key(label))
        return node.parent_type if node else None

    @property
    def fallback_declared(self) -> bool:
        """Whether the fallback names a declared type."""
        return self.fallback is not None and self.fallback in self

    @property
    def usable(self) -> bool:
        """At least one node type and a fallback that is declared: the gate can land every label."""
        return bool(self._by_key) and self.fallback_declared

    @property
    def is_seed_family(self) -> bool:
        """Whether all 17 seed types are declared, in any casing."""
        return all(label_key(seed) in self._by_key for seed in SEED_TYPES)

    def preferred_fallback(self) -> str | None:
        """`concept` if declared, else `project`, in the manifest's spelling, else None."""
        for choice in PREFERRED_FALLBACKS:
            found = self.canonical(choice)
            if found is not None:
                return found
        return None

    def edge_definitions(self, name: str) -> tuple[EdgeType, ...]:
        """All definitions of one edge name."""
        return self._edges_by_key.get(label_key(name), ())

    @cached_property
    def _edges_by_key(self) -> dict[str, tuple[EdgeType, ...]]:
        found: dict[str, list[EdgeType]] = {}
        for edge in self.edge_types:
            found.setdefault(label_key(edge.name), []).append(edge)
        return {key: tuple(edges) for key, edges in found.items()}


@dataclass(frozen=True)
class ManifestRow:
    """One row of llm_wiki_entity_manifests as read: `raw` is exactly what stands there.

    `vocabulary` is None where the JSON is unreadable, whatever the mode; `error` then says why.
    """

    entity_id: str
    mode: str
    raw: str
    vocabulary: Vocabulary | None = None
    error: str | None = None

    @property
    def readable(self) -> bool:
        """Whether the JSON could be parsed."""
        return self.error is None

    @property
    def strict(self) -> bool:
        """Whether the row's mode gates; anything but `strict` does not."""
        return self.mode == "strict"


@dataclass(frozen=True)
class Manifests:
    """All manifest rows of a brain by entity id."""

    rows: Mapping[str, ManifestRow] = field(default_factory=dict)

    def get(self, entity_id: str) -> ManifestRow | None:
        """The row of one entity, or None where there is none."""
        return self.rows.get(entity_id)

    @property
    def tier_fact(self) -> ManifestRow | None:
        """The row that rungs 2 to 4 use."""
        return self.rows.get(TIER_FACT)

    @property
    def vocabulary(self) -> Vocabulary:
        """The vocabulary of tier_fact, empty where it is absent or unreadable."""
        row = self.tier_fact
        return row.vocabulary if row is not None and row.vocabulary is not None else Vocabulary()

    def own_rows(self) -> tuple[str, ...]:
        """Ids of every row but tier_fact: where an entity's own row may decide."""
        return tuple(i for i in self.rows if i != TIER_FACT)


def read_manifest_row(entity_id: str, mode: object, raw: object) -> ManifestRow:
    """Parse one manifest row; never raises, an unreadable row carries its reason."""
    mode_text = mode if isinstance(mode, str) else "off"
    if not isinstance(mode, str):
        # The app cannot read such a row either, and an unreadable row must never pass for one that is off.
        return ManifestRow(entity_id, mode_text, raw if isinstance(raw, str) else "", None, "the mode is not text")
    if isinstance(raw, bytes):
        # The app reads text and nothing else, and a comparison with text would never find a BLOB.
        return ManifestRow(entity_id, mode_text, "", None, "a BLOB, or text that is not UTF-8")
    if not isinstance(raw, str):
        return ManifestRow(entity_id, mode_text, "", None, "the manifest is not text")
    try:
        document = parse_json(raw)
    except BadJson as error:
        return ManifestRow(entity_id, mode_text, raw, None, str(error))
    return ManifestRow(entity_id, mode_text, raw, read_vocabulary(document))


def read_vocabulary(document: Any) -> Vocabulary:
    """Read a parsed manifest leniently; anything of the wrong shape is skipped."""
    if not isinstance(document, dict):
        return Vocabulary()
    nodes = tuple(n for n in map(_node, _array(document, "node_types")) if n is not None)
    edges = tuple(e for e in map(_edge, _array(document, "edge_types")) if e is not None)
    bare = Vocabulary(nodes, edges)
    fallback = _text(document.get("fallback_node_type"))
    if fallback is not None:
        fallback = bare.canonical(fallback) or fallback
    return Vocabulary(nodes, edges, fallback)


def add_node_type(raw: str, node: NodeType) -> str:
    """The manifest text with one node type appended to node_types."""
    entry: dict[str, str] = {"type": node.name, "description": node.description}
    if node.parent_type is not None:
        entry["parent_type"] = node.parent_type
    return append_to_array(raw, "node_types", entry)


def add_edge_type(raw: str, edge: EdgeType) -> str:
    """The manifest text with one edge signature appended to edge_types."""
    entry = {"type": edge.name, "source_type": edge.source_type, "target_type": edge.target_type}
    return append_to_array(raw, "edge_types", {**entry, "description": edge.description})


def set_fallback(raw: str, fallback: str) -> str:
    """The manifest text with its fallback type set."""
    return set_member(raw, "fallback_node_type", fallback)


def _array(document: dict[str, Any], key: str) -> list[Any]:
    value = document.get(key)
    return value if isinstance(value, list) else []


def _text(value: object) -> str | None:
    if not isinstance(value, str):
        return None
    return trim(value) or None


def _node(item: object) -> NodeType | None:
    if isinstance(item, str):
        name = _text(item)
        return NodeType(name) if name else None
    if not isinstance(item, dict):
        return None
    name = _text(item.get("type"))
    if name is None:
        return None
    description = item.get("description")
    return NodeType(name, description if isinstance(description, str) else "", _text(item.get("parent_type")))


def _edge(item: object) -> EdgeType | None:
    if isinstance(item, str):
        name = _text(item)
        return EdgeType(name) if name else None
    if not isinstance(item, dict):
        return None
    name = _text(item.get("type"))
    if name is None:
        return None
    description = item.get("description")
    return EdgeType(
        name,
        _text(item.get("source_type")),
        _text(item.get("target_type")),
        description if isinstance(description, str) else "",
    )
