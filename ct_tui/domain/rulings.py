"""Rulings: the signed decisions of a human, and which of them are in force.

Invariants: a ruling is parsed from one entry of the table and never changed; whether it acts is decided only by
`RulingTable`, which verification alone builds; what acts on a brain is `InForce`, derived from a table and a
vocabulary. Nothing else may feed heal or the gate.
"""

from __future__ import annotations

import datetime as dt
from collections import Counter
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any, TypeVar

from ct_tui.domain.errors import BadInput
from ct_tui.domain.manifest import TIER_FACT, EdgeType, NodeType, Vocabulary
from ct_tui.domain.names import label_key, trim

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

VERSION = 1
SEED_FAMILY = "seed-family"
"""Value of a legalisation's `manifests` that means every row declaring all 17 seed types."""


class Kind(StrEnum):
    """What a ruling decides."""

    ALIAS = "alias"
    LEGALIZE = "legalize"
    RETYPE = "retype"
    KEEP = "keep"
    REVOKE = "revoke"
    EDGE = "edge"
    MERGE = "merge"
    EXCEPT = "except"


class State(StrEnum):
    """What verification says of one entry; only `valid` acts."""

    VALID = "valid"
    UNSIGNED = "unsigned"
    TAMPERED = "tampered"
    UNTRUSTED = "untrusted signer"
    EXPIRED = "expired"
    REVOKED = "revoked"
    BROKEN = "broken chain"
    ROLLED_BACK = "rolled back"
    CONFLICTING = "conflicting"


WRITTEN_WITHOUT_KEY = frozenset({State.TAMPERED, State.BROKEN, State.ROLLED_BACK})
"""States that mean the table was written without a key: then nothing ruled acts until it is mended."""


class _Decision:
    """What all bodies share."""

    @property
    def subject(self) -> str:
        """What two rulings would contradict each other about; empty for kinds that only add up."""
        return ""


@dataclass(frozen=True)
class Alias(_Decision):
    """Every live, unshielded entity of type `from_type` becomes `to_type`, now and at the write gate."""

    from_type: str
    to_type: str

    def fields(self) -> dict[str, Any]:
        """The kind's own fields as they are signed."""
        return {"from": self.from_type, "to": self.to_type}

    @property
    def subject(self) -> str:
        """What two rulings of this kind would contradict each other about."""
        return "label:" + label_key(self.from_type)

    def __str__(self) -> str:
        return f"{self.from_type} → {self.to_type}"


@dataclass(frozen=True)
class Legalize(_Decision):
    """The type is declared: an object is added to the named manifest rows."""

    type: str
    description: str
    parent_type: str | None = None
    manifests: tuple[str, ...] = (TIER_FACT,)
    edges: tuple[EdgeType, ...] = ()

    def fields(self) -> dict[str, Any]:
        """The kind's own fields as they are signed."""
        found: dict[str, Any] = {"type": self.type, "description": self.description}
        if self.parent_type is not None:
            found["parent_type"] = self.parent_type
        found["manifests"] = list(self.manifests)
        if self.edges:
            found["edges"] = [[e.name, e.source_type, e.target_type] for e in self.edges]
        return found

    @property
    def subject(self) -> str:
        """What two rulings of this kind would contradict each other about."""
        return "label:" + label_key(self.type)

    @property
    def node(self) -> NodeType:
        """The declaration that is added."""
        return NodeType(self.type, self.description, self.parent_type)

    def __str__(self) -> str:
        return f"declare {self.type}"


@dataclass(frozen=True)
class Retype(_Decision):
    """Just these entities become `to_type`; one that is no longer `from_type` is left alone."""

    entities: tuple[str, ...]
    from_type: str
    to_type: str

    def fields(self) -> dict[str, Any]:
        """The kind's own fields as they are signed."""
        return {"entities": list(self.entities), "from": self.from_type, "to": self.to_type}

    def __str__(self) -> str:
        return f"{len(self.entities)} × {self.from_type} → {self.to_type}"


@dataclass(frozen=True)
class Keep(_Decision):
    """Seen and left: out of the queue until the date, or for good; always in the census."""

    type: str | None = None
    entities: tuple[str, ...] = ()
    until: dt.date | None = None

    def fields(self) -> dict[str, Any]:
        """The kind's own fields as they are signed."""
        found: dict[str, Any] = {}
        if self.type is not None:
            found["type"] = self.type
        if self.entities:
            found["entities"] = list(self.entities)
        if self.until is not None:
            found["until"] = self.until.isoformat()
        return found

    def in_force(self, today: dt.date) -> bool:
        """Whether the item still stays out of the queue; the last day counts."""
        return self.until is None or today <= self.until

    def __str__(self) -> str:
        many = f"{len(self.entities)} {'entity' if len(self.entities) == 1 else 'entities'}"
        what = self.type if self.type is not None else many
        return f"keep {what}" + (f" until {self.until}" if self.until else "")


@dataclass(frozen=True)
class Revoke(_Decision):
    """The named ruling stops acting from here on; what it did stays until undone."""

    revokes: int

    def fields(self) -> dict[str, Any]:
        """The kind's own fields as they are signed."""
        return {"revokes": self.revokes}

    def __str__(self) -> str:
        return f"revoke #{self.revokes}"


class Repair(StrEnum):
    """What an edge ruling does to a violating edge."""

    RENAME = "rename"
    REVERSE = "reverse"
    DROP = "drop"
    WIDEN = "widen"
    KEEP = "keep"


@dataclass(frozen=True)
class EdgeRepair(_Decision):
    """Repair edges: by id (rename, reverse, drop, keep), or widen the manifest by one signature."""

    repair: Repair
    edges: tuple[str, ...] = ()
    to: str | None = None
    triple: tuple[str, str, str] | None = None
    manifests: tuple[str, ...] = (TIER_FACT,)

    def fields(self) -> dict[str, Any]:
        """The kind's own fields as they are signed."""
        found: dict[str, Any] = {"repair": self.repair.value}
        if self.edges:
            found["edges"] = list(self.edges)
        if self.to is not None:
            found["to"] = self.to
        if self.triple is not None:
            found["triple"] = list(self.triple)
        if self.repair is Repair.WIDEN:
            found["manifests"] = list(self.manifests)
        return found

    def __str__(self) -> str:
        if self.repair is Repair.WIDEN and self.triple is not None:
            name, source, target = self.triple
            return f"widen {name}: {source} → {target}"
        tail = f" to {self.to}" if self.to else ""
        return f"{self.repair.value} {len(self.edges)} edges{tail}"


@dataclass(frozen=True)
class Merge(_Decision):
    """These duplicates redirect to the survivor."""

    survivor: str
    losers: tuple[str, ...]

    def fields(self) -> dict[str, Any]:
        """The kind's own fields as they are signed."""
        return {"survivor": self.survivor, "losers": list(self.losers)}

    def __str__(self) -> str:
        return f"merge {len(self.losers)} into {self.survivor}"


@dataclass(frozen=True)
class Except(_Decision):
    """An exception to a lint rule for one focus, or (rule `duplicate`) ids that stay apart."""

    rule: str
    focus: tuple[str, ...]
    until: dt.date | None = None

    def fields(self) -> dict[str, Any]:
        """The kind's own fields as they are signed."""
        found: dict[str, Any] = {"rule": self.rule, "focus": list(self.focus)}
        if self.until is not None:
            found["until"] = self.until.isoformat()
        return found

    def in_force(self, today: dt.date) -> bool:
        """Whether the exception still holds; the last day counts."""
        return self.until is None or today <= self.until

    def __str__(self) -> str:
        return f"except {self.rule}: {', '.join(self.focus)}"


Body = Alias | Legalize | Retype | Keep | Revoke | EdgeRepair | Merge | Except
BodyT = TypeVar("BodyT", Alias, Legalize, Retype, Keep, Revoke, EdgeRepair, Merge, Except)

KIND_OF: dict[type, Kind] = {
    Alias: Kind.ALIAS,
    Legalize: Kind.LEGALIZE,
    Retype: Kind.RETYPE,
    Keep: Kind.KEEP,
    Revoke: Kind.REVOKE,
    EdgeRepair: Kind.EDGE,
    Merge: Kind.MERGE,
    Except: Kind.EXCEPT,
}


@dataclass(frozen=True)
class Ruling:
    """One entry of the table, parsed; `hash` is the SHA-256 of the whole entry, signature included."""

    seq: int
    body: Body
    reason: str
    ruled_by: str
    ruled_at: dt.datetime
    supersedes: int | None = None
    prev: str | None = None
    hash: str = ""

    @property
    def kind(self) -> Kind:
        """What it decides."""
        return KIND_OF[type(self.body)]


@dataclass(frozen=True)
class Entry:
    """One entry of the table with what verification says of it; `ruling` is None where it cannot be parsed."""

    seq: int
    kind: str
    state: State
    problem: str = ""
    ruling: Ruling | None = None
    fields: Mapping[str, Any] = field(default_factory=dict)
    fingerprint: str = ""
    line: int = 0

    @property
    def valid(self) -> bool:
        """Whether it may act."""
        return self.state is State.VALID and self.ruling is not None


@dataclass(frozen=True)
class Head:
    """The last entry of a table: what the brain remembers of it."""

    seq: int = 0
    hash: str = ""


GARBLED = Head(1, "garbled")
"""Stands for a remembered head that cannot be read: no table ever ended there, so none of them is trusted."""


@dataclass(frozen=True)
class RulingTable:
    """The verified table: what `trust.verify` yields and the only thing that heal and gate accept.

    `distrust` says why nothing ruled may act (tampered, broken or rolled back), or is empty.
    """

    entries: tuple[Entry, ...] = ()
    head: Head = field(default_factory=Head)
    distrust: str = ""

    @property
    def trusted(self) -> bool:
        """Whether valid rulings of this table may act."""
        return not self.distrust

    def valid(self) -> tuple[Ruling, ...]:
        """The rulings that act, oldest first: valid, not revoked, not superseded; none of a distrusted table."""
        if not self.trusted:
            return ()
        # Conflicting rulings do not act, but what they superseded does not come back to life either.
        signed = {State.VALID, State.CONFLICTING}
        gone = retired([e.ruling for e in self.entries if e.ruling is not None and e.state in signed])
        return tuple(e.ruling for e in self.entries if e.valid and e.ruling is not None and e.ruling.seq not in gone)

    def retired_by(self, seq: int) -> Ruling | None:
        """The acting ruling that revokes or supersedes the one of this number, or None."""
        return next((r for r in reversed(self.valid()) if seq in (_revoked(r), r.supersedes)), None)

    def problems(self) -> tuple[Entry, ...]:
        """Entries that do not act because of what they are, not because a later ruling says so."""
        return tuple(e for e in self.entries if not e.valid)

    @property
    def problem_count(self) -> int:
        """How many problems there are; a table that is distrusted as a whole, or gone, is one without any entry."""
        return max(len(self.problems()), 0 if self.trusted else 1)

    def get(self, seq: int) -> Entry | None:
        """The entry with this number, or None."""
        return next((e for e in self.entries if e.seq == seq), None)


def retired(rulings: Sequence[Ruling]) -> frozenset[int]:
    """Numbers that a later ruling revokes or supersedes, of rulings given oldest first.

    Read newest first: a ruling that is retired itself retires nothing, and none reaches a ruling that follows it.
    """
    gone: set[int] = set()
    for ruling in reversed(rulings):
        if ruling.seq in gone:
            continue
        gone.update(seq for seq in (_revoked(ruling), ruling.supersedes) if seq is not None and seq < ruling.seq)
    return frozenset(gone)


def _revoked(ruling: Ruling) -> int | None:
    return ruling.body.revokes if isinstance(ruling.body, Revoke) else None


class Dead(StrEnum):
    """Why a valid alias cannot act; the values are lint rule ids."""

    DEAD = "ruling-dead"
    CHAIN = "ruling-chain"
    CYCLE = "ruling-cycle"
    TARGET_UNDECLARED = "ruling-target-undeclared"
    DUPLICATE = "ruling-duplicate"


@dataclass(frozen=True)
class DeadAlias:
    """An alias that is valid and cannot act, with the reason."""

    ruling: Ruling
    why: Dead
    message: str


@dataclass(frozen=True)
class AliasInForce:
    """An alias as the ladder uses it: the target in the manifest's spelling is looked up per vocabulary."""

    ruling: Ruling
    from_type: str
    to_type: str


@dataclass(frozen=True)
class InForce:
    """The rulings that act, indexed for the ladder, the planner and the queue."""

    aliases: Mapping[str, AliasInForce] = field(default_factory=dict)
    legalized: tuple[tuple[Ruling, Legalize], ...] = ()
    retypes: tuple[tuple[Ruling, Retype], ...] = ()
    keeps: tuple[tuple[Ruling, Keep], ...] = ()
    repairs: tuple[tuple[Ruling, EdgeRepair], ...] = ()
    merges: tuple[tuple[Ruling, Merge], ...] = ()
    exceptions: tuple[tuple[Ruling, Except], ...] = ()

    def alias_for(self, label: str) -> AliasInForce | None:
        """The alias whose `from` has this label's comparison key."""
        return self.aliases.get(label_key(label))

    def keeps_label(self, label: str, today: dt.date) -> Ruling | None:
        """The keep ruling that leaves this type alone today."""
        key = label_key(label)
        hits = (r for r, k in self.keeps if k.type is not None and label_key(k.type) == key and k.in_force(today))
        return next(hits, None)

    def kept_entities(self, today: dt.date) -> frozenset[str]:
        """Entities that a keep ruling leaves alone today."""
        return frozenset(i for _, k in self.keeps if k.in_force(today) for i in k.entities)


def in_force(table: RulingTable) -> InForce:
    """Index the rulings of a verified table that act; a later alias for the same label never silently wins."""
    rulings = table.valid()
    aliases: dict[str, AliasInForce] = {}
    for ruling, body in _of(rulings, Alias):
        aliases.setdefault(label_key(body.from_type), AliasInForce(ruling, body.from_type, body.to_type))
    return InForce(
        aliases,
        tuple(_of(rulings, Legalize)),
        tuple(_of(rulings, Retype)),
        tuple(_of(rulings, Keep)),
        tuple(_of(rulings, EdgeRepair)),
        tuple(_of(rulings, Merge)),
        tuple(_of(rulings, Except)),
    )


def dead_aliases(table: RulingTable, vocabulary: Vocabulary) -> tuple[DeadAlias, ...]:
    """Aliases that cannot act on a vocabulary (legalisations in force included): dead, chain, cycle, undeclared."""
    acting = in_force(table)
    declared = with_legalized(vocabulary, acting)
    pairs = {key: label_key(a.to_type) for key, a in acting.aliases.items()}
    found: list[DeadAlias] = []
    for key, alias in acting.aliases.items():
        verdict = _why_dead(key, alias, declared, pairs)
        if verdict is not None:
            found.append(DeadAlias(alias.ruling, *verdict))
    counts = Counter(label_key(b.from_type) for _, b in _of(table.valid(), Alias))
    for ruling, body in _of(table.valid(), Alias):
        key = label_key(body.from_type)
        if counts[key] > 1 and acting.aliases[key].ruling.seq != ruling.seq:
            found.append(DeadAlias(ruling, Dead.DUPLICATE, f"#{acting.aliases[key].ruling.seq} already rules {key}"))
    return tuple(found)


def with_legalized(vocabulary: Vocabulary, acting: InForce) -> Vocabulary:
    """The vocabulary as it stands once heal has added the legalised types of tier_fact and the seed family."""
    nodes = list(vocabulary.node_types)
    known = {label_key(n.name) for n in nodes}
    for _, body in acting.legalized:
        if label_key(body.type) not in known:
            nodes.append(body.node)
            known.add(label_key(body.type))
    return Vocabulary(tuple(nodes), vocabulary.edge_types, vocabulary.fallback)


def _why_dead(key: str, alias: AliasInForce, declared: Vocabulary, pairs: dict[str, str]) -> tuple[Dead, str] | None:
    name, target = alias.from_type, alias.to_type
    if _cycles(key, pairs):
        return Dead.CYCLE, f"{name} leads back to itself"
    if name in declared:
        return Dead.DEAD, f"{name} is declared, and a declared type comes before an alias"
    if target in declared:
        return None
    if label_key(target) in pairs:
        return Dead.CHAIN, f"{target} is itself an alias, and aliases are not followed twice"
    return Dead.TARGET_UNDECLARED, f"{target} is not declared"


def _cycles(start: str, pairs: dict[str, str]) -> bool:
    seen: set[str] = set()
    at = start
    while at in pairs and at not in seen:
        seen.add(at)
        at = pairs[at]
    return at == start and bool(seen)


def _of(rulings: Iterable[Ruling], kind: type[BodyT]) -> Iterator[tuple[Ruling, BodyT]]:
    for ruling in rulings:
        if isinstance(ruling.body, kind):
            yield ruling, ruling.body


def parse_body(kind: str, fields: Mapping[str, Any]) -> Body:
    """Read a kind's own fields; raises BadInput with the field at fault."""
    try:
        reader = _READERS[Kind(kind)]
    except ValueError as error:
        raise BadInput(f"unknown kind of ruling: {kind!r}") from error
    return reader(fields)


def _alias(fields: Mapping[str, Any]) -> Alias:
    return Alias(_label(fields, "from"), _label(fields, "to"))


def _legalize(fields: Mapping[str, Any]) -> Legalize:
    parent = fields.get("parent_type")
    rows = _strings(fields, "manifests") if "manifests" in fields else (TIER_FACT,)
    edges = tuple(_signature(item) for item in _list(fields, "edges"))
    return Legalize(
        _label(fields, "type"),
        _string(fields, "description"),
        _label(fields, "parent_type") if parent is not None else None,
        rows,
        edges,
    )


def _retype(fields: Mapping[str, Any]) -> Retype:
    return Retype(_strings(fields, "entities"), _string(fields, "from"), _label(fields, "to"))


def _keep(fields: Mapping[str, Any]) -> Keep:
    label = fields.get("type")
    entities = _strings(fields, "entities") if "entities" in fields else ()
    if (label is None) == (not entities):
        raise BadInput("a keep ruling names a type or entities")
    return Keep(_string(fields, "type") if label is not None else None, entities, _date(fields))


def _revoke(fields: Mapping[str, Any]) -> Revoke:
    seq = fields.get("revokes")
    if not isinstance(seq, int) or isinstance(seq, bool):
        raise BadInput("revokes must be the number of a ruling")
    return Revoke(seq)


def _edge(fields: Mapping[str, Any]) -> EdgeRepair:
    try:
        repair = Repair(_string(fields, "repair"))
    except ValueError as error:
        raise BadInput(f"unknown repair: {fields.get('repair')!r}") from error
    triple: tuple[str, str, str] | None = None
    if fields.get("triple") is not None:
        edge = _signature(fields["triple"])
        triple = (edge.name, edge.source_type or "", edge.target_type or "")
    edges = _strings(fields, "edges") if "edges" in fields else ()
    to = _label(fields, "to") if fields.get("to") is not None else None
    rows = _strings(fields, "manifests") if "manifests" in fields else (TIER_FACT,)
    if repair is Repair.WIDEN and triple is None:
        raise BadInput("widening needs a triple: edge type, source type, target type")
    if repair is not Repair.WIDEN and not edges:
        raise BadInput(f"{repair.value} needs edge ids")
    if repair is Repair.RENAME and to is None:
        raise BadInput("renaming needs the new edge type")
    return EdgeRepair(repair, edges, to, triple, rows)


def _merge(fields: Mapping[str, Any]) -> Merge:
    return Merge(_string(fields, "survivor"), _strings(fields, "losers"))


def _except(fields: Mapping[str, Any]) -> Except:
    return Except(_string(fields, "rule"), _strings(fields, "focus"), _date(fields))


_READERS: dict[Kind, Callable[[Mapping[str, Any]], Body]] = {
    Kind.ALIAS: _alias,
    Kind.LEGALIZE: _legalize,
    Kind.RETYPE: _retype,
    Kind.KEEP: _keep,
    Kind.REVOKE: _revoke,
    Kind.EDGE: _edge,
    Kind.MERGE: _merge,
    Kind.EXCEPT: _except,
}


def _string(fields: Mapping[str, Any], key: str) -> str:
    value = fields.get(key)
    if not isinstance(value, str):
        raise BadInput(f"{key} must be a text")
    return value


def _label(fields: Mapping[str, Any], key: str) -> str:
    value = _string(fields, key)
    if not trim(value):
        raise BadInput(f"{key} must not be blank")
    return value


def _strings(fields: Mapping[str, Any], key: str) -> tuple[str, ...]:
    value = fields.get(key)
    if not isinstance(value, list) or not value or not all(isinstance(v, str) for v in value):
        raise BadInput(f"{key} must be a list of texts")
    return tuple(value)


def _list(fields: Mapping[str, Any], key: str) -> list[Any]:
    value = fields.get(key)
    if value is not None and not isinstance(value, list):
        raise BadInput(f"{key} must be a list")
    return value or []


def _signature(item: object) -> EdgeType:
    if not isinstance(item, list) or len(item) != 3 or not all(isinstance(v, str) and trim(v) for v in item):
        raise BadInput("an edge signature is a list of edge type, source type and target type")
    return EdgeType(item[0], item[1], item[2])


def _date(fields: Mapping[str, Any]) -> dt.date | None:
    value = fields.get("until")
    if value is None:
        return None
    if not isinstance(value, str):
        raise BadInput("until must be a date such as 2027-01-31")
    try:
        return dt.date.fromisoformat(value)
    except ValueError as error:
        raise BadInput(f"until is not a date: {value}") from error
