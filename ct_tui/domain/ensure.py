"""The manifest ensure: what heal adds to one manifest row, and nothing else.

Source of the rules: brain format 3.5, with signed legalisations in the place of the two types that the app adds
by itself. The plan is pure; who applies it compares and swaps on `old_raw`, and records `memo` only once the
write has committed. Every byte that is not added stays as it is.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING

from ct_tui.domain.holds import Hold, vocabulary_hold
from ct_tui.domain.json_text import BadJson
from ct_tui.domain.manifest import (
    EdgeType,
    ManifestRow,
    NodeType,
    Vocabulary,
    add_edge_type,
    add_node_type,
    read_manifest_row,
    set_fallback,
)
from ct_tui.domain.names import label_key, trim
from ct_tui.domain.rulings import SEED_FAMILY, InForce, Repair

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from ct_tui.domain.rulings import Ruling

APP_EPOCH = "r26"
"""Epoch of the app's own planner in the memo key."""

OWN_EPOCH = "ct-tui-1"
"""Epoch of a memo that the app must not take for its own: its planner would still add a type."""

APP_TYPES = ("document", "process")
"""Types that the app's ensure adds to rows of the seed family."""

REDIRECTED = "redirected"
"""The mode of a row whose entity was merged away: the gate never reads it."""


class Ensured(StrEnum):
    """What the ensure does with one row."""

    ENSURED = "ensured"
    ALREADY_COMPLETE = "already_complete"
    ALREADY_ENSURED = "already_ensured"
    MALFORMED = "malformed"
    FOREIGN_NO_FALLBACK = "foreign_no_preferred_fallback"
    UNUSABLE = "unusable_vocabulary"


@dataclass(frozen=True)
class EnsurePlan:
    """The ensure of one row: `new_raw` differs from `old_raw` only with ENSURED.

    `types` and `edges` are what is added with the ruling behind each, `fallback` what is set, `memo` the key to
    record after the commit (None: record nothing), `problems` legalisations that cannot act on this row.
    """

    entity_id: str
    outcome: Ensured
    mode: str
    old_raw: str
    new_raw: str
    types: tuple[tuple[Ruling, NodeType], ...] = ()
    edges: tuple[tuple[Ruling, EdgeType], ...] = ()
    fallback: str | None = None
    memo: str | None = None
    hold: Hold | None = None
    error: str = ""
    problems: tuple[str, ...] = ()

    @property
    def writes(self) -> bool:
        """Whether the manifest text changes."""
        return self.new_raw != self.old_raw

    @property
    def extended(self) -> bool:
        """Whether a type or an edge signature is added."""
        return bool(self.types or self.edges)

    @property
    def fallback_set(self) -> bool:
        """Whether the fallback is set."""
        return self.fallback is not None


def plan_manifest_ensure(
    row: ManifestRow, acting: InForce, memos: Collection[str] = (), *, redirected: bool = False
) -> EnsurePlan:
    """Plan the ensure of one row; `memos` are the hashes recorded for it, `redirected` that its id was merged away."""
    mode = REDIRECTED if redirected else row.mode
    bare = EnsurePlan(row.entity_id, Ensured.ALREADY_COMPLETE, mode, row.raw, row.raw)
    if row.vocabulary is None:
        return replace(bare, outcome=Ensured.MALFORMED, error=row.error or "unreadable")
    try:
        edit = _Edit(row, acting)
    except BadJson as error:
        return replace(bare, outcome=Ensured.MALFORMED, error=str(error))
    bare = replace(bare, problems=tuple(edit.problems))
    planned = read_manifest_row(row.entity_id, mode, edit.raw).vocabulary or Vocabulary()
    # A strict row that still cannot gate is left alone and reported on every pass, so no memo may hide it.
    nothing_to_land_on = not row.vocabulary.is_seed_family and planned.fallback is None
    if nothing_to_land_on and (mode == "strict" or not edit.extended):
        return replace(bare, outcome=Ensured.FOREIGN_NO_FALLBACK)
    hold = vocabulary_hold(planned, row.entity_id) if mode == "strict" else None
    if hold is not None:
        return replace(bare, outcome=Ensured.UNUSABLE, hold=hold)
    memo = None if nothing_to_land_on else memo_key(mode, edit.raw, memo_epoch(planned))
    if edit.raw == row.raw:
        known = memo in memos
        return replace(bare, outcome=Ensured.ALREADY_ENSURED if known else Ensured.ALREADY_COMPLETE, memo=memo)
    added = replace(bare, new_raw=edit.raw, types=tuple(edit.types), edges=tuple(edit.edges))
    return replace(added, outcome=Ensured.ENSURED, fallback=edit.fallback, memo=memo)


def memo_key(mode: str, raw: str, epoch: str = APP_EPOCH) -> str:
    """The memo of one row: SHA-256 over epoch, gated mode and manifest text, with NUL between them."""
    return hashlib.sha256(f"{epoch}\0{mode}\0{raw}".encode()).hexdigest()


def memo_epoch(vocabulary: Vocabulary) -> str:
    """The app's epoch where its own planner would find nothing to add either, else ours."""
    lacking = vocabulary.is_seed_family and any(name not in vocabulary for name in APP_TYPES)
    return OWN_EPOCH if lacking else APP_EPOCH


def applies_to(manifests: Collection[str], row: ManifestRow) -> bool:
    """Whether a ruling's `manifests` names this row, by id or as one of the seed family."""
    if row.entity_id in manifests:
        return True
    return SEED_FAMILY in manifests and row.vocabulary is not None and row.vocabulary.is_seed_family


class _Edit:
    """The edited text of one row; raises BadJson where its arrays cannot take an element."""

    def __init__(self, row: ManifestRow, acting: InForce) -> None:
        self.raw = row.raw
        self.types: list[tuple[Ruling, NodeType]] = []
        self.edges: list[tuple[Ruling, EdgeType]] = []
        self.problems: list[str] = []
        self._row = row
        before = row.vocabulary or Vocabulary()
        self._known = before
        # The choice is made before anything is added, as the app makes it.
        self.fallback = _fallback_choice(before)
        self._add_types(acting)
        self._add_edges(acting)
        if self.fallback is not None:
            self.raw = set_fallback(self.raw, self.fallback)

    @property
    def extended(self) -> bool:
        return bool(self.types or self.edges)

    def _add_types(self, acting: InForce) -> None:
        for ruling, body in acting.legalized:
            node = body.node
            if not applies_to(body.manifests, self._row) or node.name in self._known:
                continue
            problem = _parent_problem(node, self._known)
            if problem:
                self.problems.append(f"#{ruling.seq} cannot act on {self._row.entity_id}: {problem}")
                continue
            node = replace(node, name=trim(node.name), parent_type=_spelled(node.parent_type, self._known))
            self.raw = add_node_type(self.raw, node)
            self.types.append((ruling, node))
            self._known = replace(self._known, node_types=(*self._known.node_types, node))

    def _add_edges(self, acting: InForce) -> None:
        for ruling, edge in _signatures(acting, self._row):
            if edge.source_type not in self._known or edge.target_type not in self._known:
                message = f"{edge.name} joins {edge.source_type} and {edge.target_type}, not both of them declared"
                self.problems.append(f"#{ruling.seq} cannot act on {self._row.entity_id}: {message}")
                continue
            spelled = self._as_spelled(edge)
            if any(_same_signature(spelled, other) for other in self._known.edge_definitions(edge.name)):
                continue
            self.raw = add_edge_type(self.raw, spelled)
            self.edges.append((ruling, spelled))
            self._known = replace(self._known, edge_types=(*self._known.edge_types, spelled))

    def _as_spelled(self, edge: EdgeType) -> EdgeType:
        """The signature in the spellings that the manifest already has."""
        same = self._known.edge_definitions(edge.name)
        source = _spelled(edge.source_type, self._known)
        target = _spelled(edge.target_type, self._known)
        return replace(edge, name=same[0].name if same else trim(edge.name), source_type=source, target_type=target)


def _fallback_choice(vocabulary: Vocabulary) -> str | None:
    """The fallback to set, or None: a foreign row keeps one that it has, the seed family gets one that is declared."""
    keep = vocabulary.fallback_declared if vocabulary.is_seed_family else vocabulary.fallback is not None
    return None if keep else vocabulary.preferred_fallback()


def _signatures(acting: InForce, row: ManifestRow) -> Iterator[tuple[Ruling, EdgeType]]:
    """Edge signatures that rulings add to a row: those of legalisations, then widened ones."""
    for ruling, body in acting.legalized:
        if applies_to(body.manifests, row):
            yield from ((ruling, edge) for edge in body.edges)
    for ruling, repair in acting.repairs:
        if repair.repair is Repair.WIDEN and repair.triple is not None and applies_to(repair.manifests, row):
            yield ruling, EdgeType(*repair.triple)


def _parent_problem(node: NodeType, known: Vocabulary) -> str:
    """Why the engine would refuse a node's parent; it allows one level."""
    parent = node.parent_type
    if parent is None:
        return ""
    if label_key(parent) == label_key(node.name):
        return f"{node.name} cannot be its own parent"
    if parent not in known:
        return f"the parent type {parent} is not declared"
    return f"the parent type {parent} has a parent itself" if known.parent_of(parent) else ""


def _spelled(name: str | None, known: Vocabulary) -> str | None:
    return None if name is None else known.canonical(name) or trim(name)


def _same_signature(one: EdgeType, other: EdgeType) -> bool:
    ends = ((one.source_type, other.source_type), (one.target_type, other.target_type))
    return all(a is not None and b is not None and label_key(a) == label_key(b) for a, b in ends)
