"""Edge violations as questions of the queue: grouped by what they are and what caused them, with proposed repairs.

What is asked is what stays open after the plan: a violation that a ruling in force will mend, an edge that a ruling
keeps and one that the app spares are no question.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from heapq import nsmallest
from typing import TYPE_CHECKING, Any

from ct_tui.domain.edge_repairs import Violation, kept_ids, propose
from ct_tui.domain.edges import EdgeState, Triple
from ct_tui.domain.errors import BadInput
from ct_tui.domain.names import label_key
from ct_tui.domain.queue import ItemKind, QueueItem, Suggestion
from ct_tui.domain.rulings import Repair
from ct_tui.heal.edge_rulings import IDS_A_RULING, repair_bodies

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ct_tui.brain.connection import Db
    from ct_tui.brain.edges import Cause, CausedTriple, Edge
    from ct_tui.domain.edge_repairs import Proposal
    from ct_tui.domain.edges import End, Rulebook
    from ct_tui.domain.manifest import Vocabulary
    from ct_tui.domain.rulings import Body, EdgeRepair
    from ct_tui.heal.edges import EdgeLens, ListedEdge
    from ct_tui.heal.situation import Situation

MOST_ITEMS = 200
"""How many groups of violations the queue asks about at a time, worst first; the rest is one item with their sum."""

SAMPLE = 1_000
"""How many edges and entities an item names."""

SAMPLED_BRAIN = 200_000
"""In a brain with more edges an item names no edge: finding them would take another pass over all of them."""


@dataclass(frozen=True)
class Blame:
    """What made edges violate: `slug` tells groups of one triple apart, `text` says it to a person."""

    slug: str = "mint"
    text: str = "the edges were written so"
    ruling: int | None = None
    run: int | None = None


MINT = Blame()


@dataclass(slots=True)
class _Group:
    """The open violations that are one question; a large brain has many, of which few name what they are about."""

    count: int = 0
    source_movable: bool = False
    target_movable: bool = False
    names: _Names | None = None


@dataclass(slots=True)
class _Names:
    """Some edges of a question and the entities at their ends."""

    edges: list[str] = field(default_factory=list)
    entities: dict[str, None] = field(default_factory=dict)


NOTHING = _Names()
"""What a question names whose edges were not looked for."""

GroupKey = tuple[str, str | None, str | None, Blame]


class EdgeQuestions:
    """The questions about the edges of one lens."""

    def __init__(self, lens: EdgeLens) -> None:
        self._lens = lens
        self._groups: tuple[dict[GroupKey, _Group], int, int] | None = None

    def items(self) -> list[QueueItem]:
        """One item for each group, worst first."""
        with self._lens.lock:
            groups, more, edges = self._grouped()
            self._sample(groups)
            found = [self._item(key, group) for key, group in groups.items()]
            if more:
                found.append(_rest_item(more, edges))
            return found

    def edges(self, item: QueueItem, *, after: int = 0, limit: int = 200) -> tuple[ListedEdge, ...]:
        """A page of the edges of an item; `after` is the rowid of the last one seen."""
        with self._lens.brain.snapshot() as db:
            return self._lens.listed(self._page(db, _key_of(item), after, limit))

    def bodies(self, item: QueueItem, choice: str) -> tuple[Body, ...]:
        """The rulings that one of the item's suggestions stands for: one, or several for a large group.

        Raises BadInput where `choice` is no suggestion's text.
        """
        proposals: Sequence[Proposal] = item.data.get("proposals", ())
        chosen = next((p for p in proposals if p.text == choice), None)
        if chosen is None:
            raise BadInput(f"{item.id} has no suggestion {choice!r}", f"it has: {'; '.join(p.text for p in proposals)}")
        return self._bodies(_key_of(item), chosen)

    def _bodies(self, key: GroupKey, proposal: Proposal) -> tuple[Body, ...]:
        def find() -> list[Edge]:
            with self._lens.brain.snapshot() as db:
                return list(self._all(db, key))

        return repair_bodies(self._lens.situation.redirects, key[:3], proposal, find)

    # Grouping

    def _grouped(self) -> tuple[dict[GroupKey, _Group], int, int]:
        """The groups that are shown, worst first, with how many others there are and their edges, which are let go."""
        if self._groups is None:
            open_ = self._count()
            for key in [key for key, group in open_.items() if group.count <= 0]:
                del open_[key]
            shown = nsmallest(MOST_ITEMS, open_, key=lambda key: (-open_[key].count, _sort_text(key)))
            groups = {key: open_[key] for key in shown}
            edges = sum(group.count for group in open_.values()) - sum(group.count for group in groups.values())
            self._groups = groups, len(open_) - len(groups), edges
        return self._groups

    def _count(self) -> dict[GroupKey, _Group]:
        lens = self._lens
        groups: dict[GroupKey, _Group] = {}
        with lens.brain.snapshot() as db:
            reader = lens.reader(db)
            blamed = self._blamed(reader.caused())
            for triple, n in lens.triples:
                if not self._open(triple):
                    continue
                shares = blamed.get(triple, Counter())
                shares[self._pending(triple) or MINT] += n - shares.total()
                for blame, share in shares.items():
                    _add(groups, triple.settled, blame, share)
            decided = reader.by_id(sorted(self.decided))
            causes = reader.causes() if decided else {}
            for edge in decided:
                if self._open(edge.triple):
                    _add(groups, edge.triple.settled, self.blame_of(edge, causes), -1)
        return groups

    @property
    def decided(self) -> frozenset[str]:
        """Edges that a ruling in force keeps or will change."""
        changed = (change.edge for change in self._lens.repairs.changes)
        return kept_ids(self._lens.situation.acting.repairs).union(changed)

    def _open(self, triple: Triple) -> bool:
        """Whether an edge is a question: it violates after the plan, and nothing spares it."""
        return not triple.shielded and self._lens.then.state(triple.settled) is EdgeState.VIOLATING

    def _blamed(self, caused: list[CausedTriple]) -> dict[Triple, Counter[Blame]]:
        found: dict[Triple, Counter[Blame]] = {}
        for triple, source, target, n in caused:
            blame = self._pending(triple) or self._past_blame(triple, source, target)
            if blame is not None:
                found.setdefault(triple, Counter())[blame] += n
        return found

    def _pending(self, triple: Triple) -> Blame | None:
        """The plan, where the edge conforms now and will not."""
        if triple.settled == triple or not self._lens.now.state(triple).conforms:
            return None
        moves = ", ".join(f"{e.type} → {e.after}" for e in triple[1:] if isinstance(e, tuple) and e.after is not None)
        return Blame("plan", f"the plan breaks them: {moves}")

    def _past_blame(self, triple: Triple, source: Cause | None, target: Cause | None) -> Blame | None:
        """The change of type without which the edge would conform."""
        book = self._lens.then
        was_source = None if source is None else _as_before(triple.source, source)
        was_target = None if target is None else _as_before(triple.target, target)
        for cause, ends in (
            (source, (was_source, triple.target)),
            (target, (triple.source, was_target)),
            (source, (was_source, was_target)),
        ):
            if cause is not None and _conformed(book, triple, *ends):
                return _blame(cause)
        return None

    def blame_of(self, edge: Edge, causes: dict[str, tuple[Cause, int]]) -> Blame:
        """The cause of one edge, by the same rule as the counted ones."""
        pending = self._pending(edge.triple)
        if pending is not None:
            return pending
        known = (causes.get(i) for i in (edge.row.source_id, edge.row.target_id))
        source, target = (c[0] if c is not None and edge.row.created_at < c[1] * 1000 else None for c in known)
        return self._past_blame(edge.triple, source, target) or MINT

    # Finding the edges of a group

    def _page(self, db: Db, key: GroupKey, after: int, limit: int) -> list[Edge]:
        found: list[Edge] = []
        reader = self._lens.reader(db)
        causes = reader.causes()
        decided = self.decided
        while len(found) < limit:
            rows = reader.of_type(key[0], lambda triple: self._belongs(triple, key), after=after, limit=limit)
            found += (e for e in rows if e.row.id not in decided and e.readable and self.blame_of(e, causes) == key[3])
            if len(rows) < limit:
                break
            after = rows[-1].rowid
        return found[:limit]

    def _all(self, db: Db, key: GroupKey) -> Iterator[Edge]:
        after = 0
        while True:
            page = self._page(db, key, after, IDS_A_RULING)
            yield from page
            if len(page) < IDS_A_RULING:
                return
            after = page[-1].rowid

    def _belongs(self, triple: Triple, key: GroupKey) -> bool:
        settled = triple.settled
        return (settled.edge_type, settled.source.type, settled.target.type) == key[:3] and self._open(triple)

    def _sample(self, groups: dict[GroupKey, _Group]) -> None:
        """Name the edges and entities of the shown groups, where one pass over all edges is cheap."""
        lens = self._lens
        wanted = {key[:3] for key in groups}
        if not wanted or lens.triples.edges > SAMPLED_BRAIN:
            return
        if any(group.names for group in groups.values()):
            return

        def asked(triple: Triple) -> bool:
            settled = triple.settled
            return (settled.edge_type, settled.source.type, settled.target.type) in wanted and self._open(triple)

        with lens.brain.snapshot() as db:
            reader = lens.reader(db)
            causes = reader.causes()
            for edge in reader.where(asked):
                settled = edge.triple.settled
                key = (settled.edge_type, settled.source.type, settled.target.type, self.blame_of(edge, causes))
                group = groups.get(key)
                if group is None or not edge.readable or edge.row.id in self.decided:
                    continue
                names = group.names = group.names or _Names()
                if len(names.edges) >= SAMPLE:
                    continue
                names.edges.append(edge.row.id)
                for i, end in ((edge.row.source_id, settled.source), (edge.row.target_id, settled.target)):
                    if end.entity and len(names.entities) < SAMPLE:
                        names.entities[i] = None

    def _item(self, key: GroupKey, group: _Group) -> QueueItem:
        edge_type, source, target, blame = key
        lens = self._lens
        violation = Violation(edge_type, source, target, group.count, group.source_movable, group.target_movable)
        proposals = propose(violation, lens.planned, lens.then)
        names = group.names or NOTHING
        return QueueItem(
            ItemKind.EDGE,
            f"{violation}" + ("" if blame == MINT else f" ({blame.slug})"),
            str(violation),
            group.count,
            tuple(names.entities),
            (*_declared(edge_type, lens.then.main.vocabulary), blame.text),
            (
                "neither these types nor their parent types satisfy a definition",
                "no ruling in force mends or keeps them",
            ),
            tuple(_suggestion(p) for p in proposals),
            data={
                "violation": violation,
                "blame": blame,
                "proposals": proposals,
                "edges": list(names.edges),
                "ruling": blame.ruling,
                "run": blame.run,
            },
        )


def check_repair(db: Db, situation: Situation, vocabulary: Vocabulary, body: EdgeRepair) -> None:
    """Raise BadInput where an edge ruling could not act; `vocabulary` is the one once the plan has run."""
    from ct_tui.domain.edges import Signatures

    if body.repair is Repair.WIDEN:
        _check_widen(situation, vocabulary, body)
        return
    signatures = Signatures(vocabulary)
    if body.repair is Repair.RENAME and signatures.spelling(body.to or "") is None:
        names = ", ".join(signatures.edge_names) or "none"
        raise BadInput(f"{body.to!r} is not a declared edge type, so no edge can become one", f"declared: {names}")
    for edge in _known_edges(db, situation, body):
        row = edge.row
        if not edge.readable:
            raise BadInput(f"edge {row.id} is not readable text, so it is never written")
        if edge.triple.shielded and body.repair is not Repair.KEEP:
            raise BadInput(f"edge {row.id} is shielded: one of its ends is opted out or off", "lift that first")
        if not edge.triple.live and body.repair is not Repair.KEEP:
            raise BadInput(f"edge {row.id} is not live at both ends, and the app keeps such edges as they are")
        if body.repair is Repair.REVERSE and row.source_id == row.target_id:
            raise BadInput(f"edge {row.id} begins and ends at the same id, so there is nothing to reverse")
        if body.repair is Repair.RENAME and row.edge_type == signatures.spelling(body.to or ""):
            raise BadInput(f"edge {row.id} is {row.edge_type!r} already")


def _known_edges(db: Db, situation: Situation, body: EdgeRepair) -> list[Edge]:
    from ct_tui.brain.edges import EdgeReader
    from ct_tui.heal.edges import read_scope

    edges = EdgeReader(db, situation.schema, read_scope(db, situation)).by_id(body.edges)
    known = {e.row.id for e in edges}
    for edge_id in body.edges:
        if edge_id not in known:
            raise BadInput(f"there is no edge {edge_id!r}", "ids are listed by: ct-tui edges --list --json")
    return edges


def _check_widen(situation: Situation, vocabulary: Vocabulary, body: EdgeRepair) -> None:
    from ct_tui.domain.edges import Signatures
    from ct_tui.domain.ensure import applies_to

    if body.triple is None:
        raise BadInput("widening needs a triple: edge type, source type, target type")
    name, source, target = body.triple
    for label in (source, target):
        if label not in vocabulary:
            raise BadInput(
                f"{label!r} is not declared, and an edge definition needs two declared types", "legalise it first"
            )
    if Signatures(vocabulary).judge(name, source, target) is EdgeState.EXACT:
        raise BadInput(f"{name}: {source} → {target} is declared already")
    rows = situation.manifests.rows.values()
    if not any(applies_to(body.manifests, row) for row in rows):
        raise BadInput(
            f"there is no manifest row {', '.join(body.manifests)}", f"rows: {', '.join(r.entity_id for r in rows)}"
        )


def _add(groups: dict[GroupKey, _Group], settled: Triple, blame: Blame, n: int) -> None:
    if n == 0:
        return
    group = groups.setdefault((settled.edge_type, settled.source.type, settled.target.type, blame), _Group())
    group.count += n
    if n > 0:
        # What a ruling on single entities reaches is more than what an alias does.
        group.source_movable = group.source_movable or settled.source.entity
        group.target_movable = group.target_movable or settled.target.entity


def _as_before(end: End, cause: Cause) -> End | None:
    """The end before a change, or None where its type is no longer what that change made it."""
    if end.type is None or (cause.to_type and label_key(cause.to_type) != label_key(end.type)):
        return None
    return end._replace(type=cause.from_type, after=None)


def _conformed(book: Rulebook, triple: Triple, source: End | None, target: End | None) -> bool:
    if source is None or target is None:
        return False
    return book.state(Triple(triple.edge_type, source, target)).conforms


def _blame(cause: Cause) -> Blame:
    move = f"{cause.from_type} → {cause.to_type}" if cause.to_type else f"it was {cause.from_type}"
    if cause.run is None:
        return Blame(f"app {cause.from_type}", f"a retype by the app broke them: {move}")
    by = f", ruling #{cause.ruling}" if cause.ruling is not None else ""
    return Blame(f"run {cause.run} {move}", f"run {cause.run} broke them: {move}{by}", cause.ruling, cause.run)


def _declared(edge_type: str, vocabulary: Vocabulary) -> tuple[str, ...]:
    """What is declared for an edge name, in one sentence."""
    pairs = [f"{d.source_type or '?'} → {d.target_type or '?'}" for d in vocabulary.edge_definitions(edge_type)]
    more = f" and {len(pairs) - 6} more" if len(pairs) > 6 else ""
    return (f"{edge_type} is declared for {', '.join(pairs[:6])}{more}",)


def _suggestion(proposal: Proposal) -> Suggestion:
    return Suggestion(proposal.text, proposal.score, proposal.why, proposal.fit.fit, proposal.fit.total)


def _rest_item(kinds: int, edges: int) -> QueueItem:
    why = f"{edges} more edges violate in {kinds} more ways; they come up as the worst ones are settled"
    label = f"{kinds} more kinds of violation"
    return QueueItem(ItemKind.EDGE, "more", label, edges, (), (why,), data={"rank": 1})


def _key_of(item: QueueItem) -> GroupKey:
    violation: Any = item.data.get("violation")
    if item.kind is not ItemKind.EDGE or not isinstance(violation, Violation):
        raise BadInput(f"{item.id} is no question about edges")
    return violation.edge_type, violation.source_type, violation.target_type, item.data["blame"]


def _sort_text(key: GroupKey) -> tuple[str, str, str, str]:
    return key[0], key[1] or "", key[2] or "", key[3].slug
