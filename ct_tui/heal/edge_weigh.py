"""What a repair of some edges would change in counts, on top of the plan, before anybody signs it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ct_tui.domain.edge_repairs import ProposalKind
from ct_tui.domain.edges import EdgeState, EffectTally, Triple
from ct_tui.domain.names import label_key
from ct_tui.domain.rulings import Alias, EdgeRepair, Repair
from ct_tui.heal.edge_matrix import names_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ct_tui.domain.edge_repairs import Proposal
    from ct_tui.domain.edges import Rulebook, Triples
    from ct_tui.domain.plan import EdgeEffect
    from ct_tui.domain.rulings import Body
    from ct_tui.heal.edge_matrix import Names
    from ct_tui.heal.edges import EdgeLens

WEIGHED_EDGES = 200
"""How many edges of a cell are looked at one by one to say beforehand what a retype of their ends would do."""

WEIGHED_BRAIN = 300_000
"""In a brain with more edges that is left to the dialog, since finding the edges of an entity takes a pass over all."""


@dataclass(frozen=True)
class RepairScope:
    """What a repair is about: the names that the edges bear after the plan, and the edges where only some are meant.

    `edges` of None are all that are open.
    """

    names: Names
    count: int
    edges: tuple[str, ...] | None = None
    source_movable: bool = False
    target_movable: bool = False

    def __str__(self) -> str:
        name, source, target = self.names
        return f"{source or '?'} {name} {target or '?'}"


@dataclass(frozen=True)
class Weighed:
    """One proposed repair with what it would change on top of the plan, which leaves `before` edges violating.

    `violating` is their number with the repair; it and `effect` are None where finding out takes a pass over the
    brain, and the dialog that signs it says so then.
    """

    proposal: Proposal
    before: int
    effect: EdgeEffect | None = None
    violating: int | None = None


Pairs = list[tuple[Triple, Triple | None, int]]
"""Edges alike before and after a repair (None: dropped), and how many."""


class Scale:
    """Weighs repairs on one lens; `bodies` gives the rulings that one stands for."""

    def __init__(self, lens: EdgeLens, bodies: Callable[[RepairScope, Proposal], Sequence[Body]]) -> None:
        self._lens = lens
        self._bodies = bodies

    def weigh(self, scope: RepairScope, proposal: Proposal) -> Weighed:
        """What one repair would change."""
        before = self._lens.planned.counts(self._lens.then).violating
        pairs = self._pairs(scope, proposal)
        if pairs is None:
            return Weighed(proposal, before)
        book = self._book_after(scope, proposal)
        tally = EffectTally()
        violating = before
        for old, new, n in pairs:
            was = self._lens.then.state(old)
            becomes = None if new is None else book.state(new)
            tally.add(was, becomes, n)
            violating += n * ((becomes is EdgeState.VIOLATING) - (was is EdgeState.VIOLATING))
        return Weighed(proposal, before, tally.effect, violating)

    def _book_after(self, scope: RepairScope, proposal: Proposal) -> Rulebook:
        if proposal.kind is not ProposalKind.WIDEN:
            return self._lens.then
        edge_type, source, target = scope.names
        return self._lens.widened(EdgeRepair(Repair.WIDEN, triple=(edge_type, source or "", target or "")))

    def _pairs(self, scope: RepairScope, proposal: Proposal) -> Pairs | None:
        """The edges that a repair touches, before and after it; None where they would have to be looked for."""
        planned = self._lens.planned
        if proposal.kind is ProposalKind.WIDEN:
            return [(t, t, n) for t, n in planned if label_key(t.edge_type) == label_key(scope.names[0])]
        if proposal.whole_type:
            return _moved(planned, Alias(proposal.whole_type, proposal.to or ""))
        change = _CHANGES.get(proposal.kind)
        if change is not None:
            example = next((t for t, _ in planned if names_of(t) == scope.names and not t.shielded), None)
            return [(example, change(example, proposal), scope.count)] if example is not None else []
        cheap = scope.count <= WEIGHED_EDGES and self._lens.triples.edges <= WEIGHED_BRAIN
        return self._retyped(scope, proposal) if cheap else None

    def _retyped(self, scope: RepairScope, proposal: Proposal) -> Pairs:
        lens = self._lens
        to = proposal.to or ""
        owners = {i for body in self._bodies(scope, proposal) for i in getattr(body, "entities", ())}
        members = {m for i in owners for m in lens.situation.redirects.cluster(i)}
        with lens.brain.snapshot() as db:
            edges = lens.reader(db).touching(members)
        found: Pairs = []
        for edge in edges:
            before = edge.triple.settled
            source = before.source._replace(type=to) if edge.row.source_id in members else before.source
            target = before.target._replace(type=to) if edge.row.target_id in members else before.target
            found.append((before, before._replace(source=source, target=target), 1))
        return found


def _moved(planned: Triples, alias: Alias) -> Pairs:
    """The edges that an alias would reach, before and after it."""
    key = label_key(alias.from_type)
    found: Pairs = []
    for triple, n in planned.touching(alias.from_type):
        ends = [
            end._replace(type=alias.to_type)
            if end.movable and end.type is not None and label_key(end.type) == key
            else end
            for end in (triple.source, triple.target)
        ]
        found.append((triple, triple._replace(source=ends[0], target=ends[1]), n))
    return found


_CHANGES: dict[ProposalKind, Callable[[Triple, Proposal], Triple | None]] = {
    ProposalKind.RENAME: lambda t, p: t._replace(edge_type=p.to or t.edge_type),
    ProposalKind.REVERSE: lambda t, _: t._replace(source=t.target, target=t.source),
    ProposalKind.DROP: lambda _t, _p: None,
    ProposalKind.KEEP: lambda t, _: t,
}
"""What a repair that leaves both ends alone makes of an edge."""
