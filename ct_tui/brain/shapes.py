"""What the sources of entities amount to, in one pass over the facts of a whole brain.

Heal asks of an entity's sources only which answers the policy gives about them. That is one small number for each
entity of interest; which documents they are is looked up for the few that somebody reads about. `sources` has the
exact reading, and a test holds the two together.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ct_tui.brain import readers, sql
from ct_tui.brain.sources import FACTS, LOST, Documents, all_documents, ledger_paths, resolve_from
from ct_tui.domain.policy import Outcome
from ct_tui.domain.sources import NO_SOURCES, EntitySources, Hashes, classify_evidence, is_token

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from ct_tui.brain.connection import Db
    from ct_tui.brain.readers import BrainState
    from ct_tui.brain.schema import Schema
    from ct_tui.domain.policy import Policy
    from ct_tui.domain.redirects import Redirects

Shape = int
"""The answers about an entity's sources as bits, and above them the number of the first path that the policy holds."""

BITS = {Outcome.STRICT: 1, Outcome.OFF: 2, Outcome.CLIMB: 4, Outcome.HOLD: 8}
UNRESOLVED = 16
MASK = 31
HELD_SHIFT = 5

MEMORY = 10_000
"""Distinct claims that one pass remembers before it starts afresh."""

AHEAD = 100_000
"""Evidence that is read before its fact and waits for it; beyond that each is looked up by itself."""

PART = 400_000
"""Entities whose shapes are held together where those of all are asked for."""

LOST_AT_ONCE = 10_000
"""Ids of entities with a lost source that are gathered before they go into the database's temporary table."""


class SourceShapes:
    """The shapes of some entities, and the sources of any where they are asked for.

    Where an unresolved source matters whatever an entity's type is, the others that have one are put among the ids of
    `readers.want`. It reads through the connection that it was made on, and lives no longer than that snapshot.
    """

    def __init__(
        self,
        db: Db,
        schema: Schema,
        policy: Policy,
        redirects: Redirects,
        state: BrainState,
        entities: Iterable[object],
    ) -> None:
        self._db = db
        self._schema = schema
        self._policy = policy
        self._redirects = redirects
        self._ledger = ledger_paths(state.origins, redirects)
        self._documents: Documents = all_documents(db, schema)
        self._claims = _Claims(policy, self._documents)
        self._known: dict[str, EntitySources] = {}
        self._readable = schema.has(FACTS)
        self.shapes: dict[object, Shape] = dict.fromkeys(entities, 0 if self._readable else UNRESOLVED)
        if self._readable:
            self._read()

    def of(self, entity_id: str) -> EntitySources:
        """The sources of one entity; a merged-away id has those of its survivor."""
        if entity_id not in self._known:
            self.look_up((entity_id,))
        return self._known[entity_id]

    def look_up(self, ids: Iterable[str]) -> None:
        """Read the sources of some entities together, since somebody will ask for each."""
        owners = {one: self._redirects.owner(one) for one in ids if one not in self._known}
        members = {member for owner in owners.values() for member in self._redirects.cluster(owner)}
        found: dict[str, EntitySources] = {}
        if members and self._readable:
            found = resolve_from(self._db, self._schema, self._redirects, members, self._documents)
        for one, owner in owners.items():
            sources = found.get(owner, NO_SOURCES if self._readable else LOST)
            path = self._ledger.get(owner)
            self._known[one] = sources if path is None else EntitySources(sources.paths, sources.unresolved, path)

    def like(self, shape: Shape) -> EntitySources:
        """Sources that decide as those of a shape do; the paths are some that the policy answers so."""
        return self._claims.like(shape)

    def _read(self) -> None:
        """Join the answers about each entity's facts; a million of them are the reason why this loop does so little."""
        found, claims = self.shapes, self._claims
        known, told = claims.known.get, _told(self._db, self._schema, claims)
        lost = _Lost(self._db) if self._policy.has_off_folder else None
        for entity, ref, fact in _facts(self._db, self._redirects):
            shape = known(ref)
            if shape is None:
                # A token stands for what the librarian keeps under its fact, or leads nowhere.
                shape = told(fact) if is_token(ref) else claims.shape_of(ref)
            if entity in found:
                before = found[entity]
                # Of several held paths the first one counts.
                found[entity] = before | (shape if before <= MASK else shape & MASK)
            elif shape & UNRESOLVED and lost is not None:
                lost.add(entity)
        if lost is not None:
            lost.flush()


class EveryShape:
    """The shapes of all entities that have facts, a part of them at a time: a million of them then need little room."""

    def __init__(self, db: Db, schema: Schema, policy: Policy, redirects: Redirects) -> None:
        self._db = db
        self._schema = schema
        self._redirects = redirects
        self._claims = _Claims(policy, all_documents(db, schema))

    def parts(self) -> Iterator[dict[str, Shape]]:
        """Shapes by survivor; each part is one pass over the facts, which must be there."""
        count = 1 + int(self._db.scalar(sql.ENTITY_COUNT)) // PART
        return (self._part(number, count) for number in range(count))

    def like(self, shape: Shape) -> EntitySources:
        """Sources that decide as those of a shape do; the paths are some that the policy answers so."""
        return self._claims.like(shape)

    def _part(self, number: int, count: int) -> dict[str, Shape]:
        found: dict[str, Shape] = {}
        claims = self._claims
        known, told = claims.known.get, _told(self._db, self._schema, claims)
        for entity, ref, fact in _facts(self._db, self._redirects):
            shape = known(ref)
            if shape is None:
                # Evidence of the other parts is passed over as well, so that it does not pile up.
                shape = told(fact) if is_token(ref) else claims.shape_of(ref)
            if type(entity) is str and hash(entity) % count == number:
                before = found.get(entity, 0)
                found[entity] = before | (shape if before <= MASK else shape & MASK)
        return found


def _facts(db: Db, redirects: Redirects) -> Iterator[tuple[Any, ...]]:
    """Owner, ref and id of every fact that claims anything; the survivor speaks for a merged-away id."""
    facts = db.stream(sql.CLAIMS)
    if not redirects:
        return facts
    owners = {loser: redirects.owner(loser) for loser in redirects.losers}
    return ((owners.get(entity, entity), ref, fact) for entity, ref, fact in facts)


class _Claims:
    """Shapes of claims, each judged once and remembered for a while."""

    def __init__(self, policy: Policy, documents: Documents) -> None:
        self._lookup = policy.lookup
        self._documents = documents
        self._bits: dict[str, int] = {}
        self._likely: dict[int, str] = {}
        self._held: dict[str, int] = {}
        self._held_paths: list[str] = []
        self.known: dict[object, Shape] = {}

    def shape_of(self, claim: object) -> Shape:
        """The shape of what one claim names; it is unresolved as a whole where any of it leads nowhere."""
        found = self.known.get(claim)
        if found is None:
            found = self._judged(claim)
            if len(self.known) >= MEMORY:
                self.known.clear()
            # No token may be remembered: it stands for something else under each fact.
            if not is_token(claim):
                self.known[claim] = found
        return found

    def like(self, shape: Shape) -> EntitySources:
        """Sources that decide as those of a shape do."""
        paths = [path for bit, path in self._likely.items() if shape & bit and bit != BITS[Outcome.HOLD]]
        if shape > MASK:
            paths.append(self._held_paths[(shape >> HELD_SHIFT) - 1])
        return EntitySources(tuple(paths), bool(shape & UNRESOLVED))

    def _judged(self, claim: object) -> Shape:
        evidence = classify_evidence(claim)
        documents = [self._documents.get(h, ()) for h in evidence.values] if isinstance(evidence, Hashes) else []
        if not documents or not all(documents):
            return UNRESOLVED
        mask, held = 0, 0
        for path in (path for some in documents for path in some):
            bit = self._bit(path)
            mask |= bit
            if bit == BITS[Outcome.HOLD] and not held:
                held = self._number(path)
        return mask | held << HELD_SHIFT

    def _number(self, path: str) -> int:
        """The number of a held path, from 1 on."""
        if path not in self._held:
            self._held_paths.append(path)
            self._held[path] = len(self._held_paths)
        return self._held[path]

    def _bit(self, path: str) -> int:
        bit = self._bits.get(path)
        if bit is None:
            bit = self._bits[path] = BITS[self._lookup(path).outcome]
            self._likely.setdefault(bit, path)
        return bit


def _told(db: Db, schema: Schema, claims: _Claims) -> Callable[[object], Shape]:
    """What the librarian keeps under a fact, each asked for once; unresolved where nothing stands there.

    The evidence is read beside the facts: both were written in the same order nearly always, so that little has to be
    remembered.
    """
    if not schema.has("librarian_evidence"):
        return lambda _: UNRESOLVED
    rows, known = db.stream(sql.EVIDENCE), claims.known.get
    ahead: dict[object, Shape] = {}

    def told(fact: object) -> Shape:
        if ahead:
            waiting = ahead.pop(fact, None)
            if waiting is not None:
                return waiting
            if len(ahead) >= AHEAD:
                return looked_up(fact)
        for entry, text in rows:
            shape = known(text)
            if shape is None:
                shape = claims.shape_of(text)
            if entry == fact:
                return shape
            ahead[entry] = shape
            if len(ahead) >= AHEAD:
                return looked_up(fact)
        return UNRESOLVED

    def looked_up(fact: object) -> Shape:
        row = db.one(sql.EVIDENCE_UNDER, (fact,))
        return UNRESOLVED if row is None else claims.shape_of(row[0])

    return told


class _Lost:
    """Entities with a source that leads nowhere: there may be as many as entities, so they wait in the database."""

    def __init__(self, db: Db) -> None:
        self._db = db
        self._some: set[str] = set()

    def add(self, entity: object) -> None:
        """One more; whatever is no text is the id of nobody."""
        if type(entity) is str:
            self._some.add(entity)
            if len(self._some) >= LOST_AT_ONCE:
                self.flush()

    def flush(self) -> None:
        """Hand on those that are still here."""
        readers.want(self._db, self._some)
        self._some = set()
