"""The sources of entities: which vault documents their facts rest on, resolved for the whole brain in one pass.

Every document that shares a passage's hash counts, and the facts of a whole merge cluster do. Where no folder rule
and no ledger row can make a source matter, nothing is read at all.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from ct_tui.brain import sql
from ct_tui.brain.readers import FEW
from ct_tui.domain.census import display
from ct_tui.domain.policy import Mode
from ct_tui.domain.redirects import Redirects
from ct_tui.domain.sources import NO_SOURCES, EntitySources, Hashes, classify, classify_evidence, is_token, roll_up

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping

    from ct_tui.brain.connection import Db
    from ct_tui.brain.readers import BrainState
    from ct_tui.brain.schema import Schema
    from ct_tui.domain.history import Origin
    from ct_tui.domain.policy import Policy
    from ct_tui.domain.sources import SourceRef

Documents = dict[str, tuple[str, ...]]
"""Content hash to the paths of every document that has such a passage."""

LOST = EntitySources(unresolved=True)
"""A fact whose claim leads nowhere."""

FACTS = "llm_wiki_entries"
"""The table of facts; one that lacks a column which is read here counts as missing."""

MEMORY = 65_536
"""Distinct refs, and distinct combinations of them, that one pass remembers before it starts afresh."""


@dataclass(frozen=True)
class SourceIndex:
    """The sources of the entities that need any, by survivor; everybody else has those of `others`.

    `others` is nothing, or a lost source where the facts of the brain cannot be read: what nobody can read is never
    the same as what nobody wrote. `whole_brain` says that an unresolved source shields an entity whatever its type,
    so that nobody may be left out.
    """

    found: Mapping[str, EntitySources] = field(default_factory=dict)
    redirects: Redirects = field(default_factory=Redirects)
    whole_brain: bool = False
    others: EntitySources = NO_SOURCES

    def of(self, entity_id: str) -> EntitySources:
        """The sources of one entity; a merged-away id has those of its survivor."""
        if self.redirects:
            entity_id = self.redirects.owner(entity_id)
        return self.found.get(entity_id, self.others)


def read_sources(db: Db, schema: Schema, policy: Policy, redirects: Redirects, state: BrainState) -> SourceIndex:
    """Resolve what the policy makes matter: the whole brain under folder rules, else only the entities concerned."""
    ledger = ledger_paths(state.origins, redirects)
    if policy.paths_matter:
        others = NO_SOURCES if schema.has(FACTS) else LOST
        found = _with_ledger(_resolve(db, schema, redirects, None), ledger, others)
        return SourceIndex(found, redirects, policy.has_off_folder, others)
    concerned = set(ledger)
    if policy.host_mode is Mode.OFF:
        # Under a host that is off only an entity with a strict row of its own is gated, and an off source shields it.
        concerned.update(state.manifests.own_rows())
    return sources_of(db, schema, concerned, redirects, ledger)


def sources_of(
    db: Db, schema: Schema, ids: Collection[str], redirects: Redirects, ledger: Mapping[str, str]
) -> SourceIndex:
    """Resolve the sources of some entities with their merge clusters; no statement runs where there are none."""
    if not ids:
        return SourceIndex({}, redirects)
    found = _resolve(db, schema, redirects, {member for one in ids for member in redirects.cluster(one)})
    owners = {redirects.owner(one) for one in ids}
    return SourceIndex(_with_ledger(found, {i: p for i, p in ledger.items() if i in owners}), redirects)


def ledger_paths(origins: Mapping[str, Origin], redirects: Redirects) -> dict[str, str]:
    """The source path that an origin row remembers, by survivor; any member's row counts, in id order."""
    found: dict[str, str] = {}
    recorded = ((i, o.source_directory) for i, o in origins.items() if o.source_directory is not None)
    for entity_id, path in sorted(recorded):
        if path is not None:
            found.setdefault(redirects.owner(entity_id), path)
    return found


def _with_ledger(
    found: dict[str, EntitySources], ledger: Mapping[str, str], others: EntitySources = NO_SOURCES
) -> dict[str, EntitySources]:
    for entity_id, path in ledger.items():
        found[entity_id] = replace(found.get(entity_id, others), ledger_path=path)
    return found


def _resolve(db: Db, schema: Schema, redirects: Redirects, ids: Collection[str] | None) -> dict[str, EntitySources]:
    """The sources by survivor, for all facts or for those of some ids."""
    if not schema.has(FACTS):
        return {} if ids is None else {redirects.owner(one): LOST for one in ids}
    librarian = schema.has("librarian_evidence")
    if ids is None:
        evidence = db.stream(sql.EVIDENCE) if librarian else iter(())
        return _Pass(redirects, all_documents(db, schema), evidence).run(db.stream(sql.FACT_REFS))
    facts, told = _facts_of(db, schema, ids)
    kinds = [classify(ref) for _, ref, _ in facts] + [classify_evidence(text) for _, text in told]
    hashes = {h for kind in kinds if isinstance(kind, Hashes) for h in kind.values}
    return _Pass(redirects, _documents_of(db, schema, hashes), iter(told)).run(facts)


def resolve_from(
    db: Db, schema: Schema, redirects: Redirects, ids: Collection[str], documents: Documents
) -> dict[str, EntitySources]:
    """The sources by survivor for the facts of some ids, where every document is known already."""
    facts, told = _facts_of(db, schema, ids)
    return _Pass(redirects, documents, iter(told)).run(facts)


def _facts_of(db: Db, schema: Schema, ids: Collection[str]) -> tuple[list[tuple[Any, ...]], list[tuple[Any, ...]]]:
    """The facts of some ids, and what the librarian keeps for them."""
    db.fill_ids(ids)
    few = len(ids) <= FEW and _is_indexed(db, "llm_wiki_entries", "entity_id")
    told = db.rows(sql.joined(sql.EVIDENCE_OF, few=few)) if schema.has("librarian_evidence") else []
    return db.rows(sql.joined(sql.FACT_REFS_OF, few=few)), told


def all_documents(db: Db, schema: Schema) -> Documents:
    """The documents of every passage."""
    if not (schema.has("chunks") and schema.has("documents")):
        return {}
    return _joined(db, db.stream(sql.HASH_DOCUMENTS))


def _documents_of(db: Db, schema: Schema, hashes: Iterable[str]) -> Documents:
    """The documents of some hashes: by an index where the brain has one, else in one pass over the small index."""
    wanted = list(hashes)
    if not wanted or not (schema.has("chunks") and schema.has("documents")):
        return {}
    db.execute(sql.HASHES_TABLE)
    db.execute(sql.HASHES_CLEAR)
    db.executemany(sql.HASHES_FILL, ((h,) for h in wanted))
    indexed = _is_indexed(db, "chunks", "content_hash")
    return _joined(db, db.stream(sql.HASH_DOCUMENTS_INDEXED if indexed else sql.HASH_DOCUMENTS_OF))


def _is_indexed(db: Db, table: str, column: str) -> bool:
    return any(name == column for (name,) in db.rows(sql.LEADING_COLUMNS, (table,)))


def _joined(db: Db, passages: Iterator[tuple[Any, ...]]) -> Documents:
    paths = {doc: (display(path),) for doc, path in db.stream(sql.DOCUMENT_PATHS)}
    found: Documents = {}
    for doc, content_hash in passages:
        path = paths.get(doc, ())
        known = found.get(content_hash)
        if known is None:
            found[content_hash] = path
        elif path and path[0] not in known:
            found[content_hash] = known + path
    return found


class _Pass:
    """One pass over facts: equal refs are resolved once, and equal combinations share one record."""

    def __init__(self, redirects: Redirects, documents: Documents, evidence: Iterator[tuple[Any, ...]]) -> None:
        self._redirects = redirects
        self._documents = documents
        self._by_ref: dict[object, EntitySources] = {}
        self._sums: dict[tuple[int, int], tuple[EntitySources, EntitySources, EntitySources]] = {}
        # What the librarian keeps for a fact, by the fact's id; equal texts share one record here too.
        self._told = {entry: self._known(text, classify_evidence) for entry, text in evidence}

    def run(self, facts: Iterable[tuple[Any, ...]]) -> dict[str, EntitySources]:
        """The sources by survivor."""
        known, sums, merged = self._by_ref, self._sums, bool(self._redirects)
        found: dict[str, EntitySources] = {}
        for entity_id, ref, fact in facts:
            share = known.get(ref)
            if share is None:
                share = self._share(ref, fact)
            if type(entity_id) is not str:
                continue
            key = self._redirects.owner(entity_id) if merged else entity_id
            before = found.get(key)
            if before is None:
                found[key] = share
            elif before is not share:
                joined = sums.get((id(before), id(share)))
                found[key] = joined[2] if joined is not None else self._sum(before, share)
        return found

    def _share(self, ref: object, fact: object) -> EntitySources:
        """What one fact contributes; a token stands for the evidence under its fact, or leads nowhere."""
        if is_token(ref):
            return self._told.get(fact, LOST)
        return self._known(ref, classify)

    def _known(self, text: object, judge: Callable[[object], SourceRef]) -> EntitySources:
        found = self._by_ref.get(text)
        if found is None:
            if len(self._by_ref) >= MEMORY:
                self._by_ref.clear()
            found = roll_up((judge(text),), self._documents)
            # No token may be remembered: it stands for something else under each fact.
            if not is_token(text):
                self._by_ref[text] = found
        return found

    def _sum(self, one: EntitySources, other: EntitySources) -> EntitySources:
        # Keyed by identity, which is cheap; the records are kept beside their sum, so that no identity is reused.
        key = (id(one), id(other))
        known = self._sums.get(key)
        if known is None:
            if len(self._sums) >= MEMORY:
                self._sums.clear()
            paths = tuple(dict.fromkeys((*one.paths, *other.paths)))
            known = (one, other, EntitySources(paths, one.unresolved or other.unresolved))
            self._sums[key] = known
        return known[2]
