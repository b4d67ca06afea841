"""From a proposed repair to the rulings that are signed: an alias, retypes, or edge rulings that name the edges."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ct_tui.domain.edge_repairs import ProposalKind
from ct_tui.domain.errors import NothingFound
from ct_tui.domain.rulings import Alias, EdgeRepair, Repair, Retype

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from ct_tui.brain.edges import Edge
    from ct_tui.domain.edge_repairs import Proposal
    from ct_tui.domain.redirects import Redirects
    from ct_tui.domain.rulings import Body

IDS_A_RULING = 2_000
"""How many edges or entities one ruling names; a larger group takes several."""

Names = tuple[str, str | None, str | None]
"""Edge type, source type and target type."""


def repair_bodies(
    redirects: Redirects, names: Names, proposal: Proposal, find: Callable[[], Sequence[Edge]]
) -> tuple[Body, ...]:
    """The rulings that a proposal for some edges alike stands for; `find` gives the edges where they must be named.

    Raises NothingFound where no such edge is left.
    """
    edge_type, source, target = names
    triple = (edge_type, source or "", target or "")
    if proposal.kind is ProposalKind.WIDEN:
        return (EdgeRepair(Repair.WIDEN, triple=triple),)
    if proposal.whole_type:
        return (Alias(proposal.whole_type, proposal.to or ""),)
    edges = find()
    if not edges:
        raise NothingFound("none of these edges is there any longer", "look at the queue again")
    repair = proposal.kind.repair
    if repair is not None:
        ids = [e.row.id for e in edges]
        return tuple(EdgeRepair(repair, part, proposal.to, triple) for part in _parts(ids))
    moved = ends_to_move(redirects, edges, proposal.kind)
    return tuple(Retype(part, kind, proposal.to or "") for kind, ids in moved.items() for part in _parts(ids))


def ends_to_move(redirects: Redirects, edges: Sequence[Edge], kind: ProposalKind) -> dict[str, list[str]]:
    """The entities at the ends that a retype is about, by the type that they bear now; merged ids as their survivors.

    A ruling on single entities speaks of the type that stands in the brain, whatever the plan will make of it.
    """
    found: dict[str, str] = {}
    for edge in edges:
        ends = ((edge.row.source_id, edge.triple.source), (edge.row.target_id, edge.triple.target))
        chosen = {ProposalKind.RETYPE_SOURCE: ends[:1], ProposalKind.RETYPE_TARGET: ends[1:]}.get(kind, ends)
        for entity, end in chosen:
            owner = redirects.resolve(entity)
            if end.entity and end.type is not None and isinstance(owner, str):
                found[owner] = end.type
    by_type: dict[str, list[str]] = {}
    for owner, now in found.items():
        by_type.setdefault(now, []).append(owner)
    return by_type


def _parts(ids: Sequence[str]) -> Iterator[tuple[str, ...]]:
    for at in range(0, len(ids), IDS_A_RULING):
        yield tuple(ids[at : at + IDS_A_RULING])
