"""The two ends of one edge for a person to look at: an entity with its facts, a single fact, a task, or nothing."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ct_tui.brain import readers
from ct_tui.domain.errors import NothingFound
from ct_tui.heal import views
from ct_tui.heal.shields import shields

if TYPE_CHECKING:
    from ct_tui.brain.connection import Db
    from ct_tui.brain.edges import Edge
    from ct_tui.domain.edges import End
    from ct_tui.domain.queue import EntityView, FactView
    from ct_tui.heal.situation import Situation


@dataclass(frozen=True)
class EndView:
    """One end: what it is by name and type, what stands behind it, and what shields it.

    `kind` is `entity`, `fact`, `task` or `nothing`; `after` is the type that the plan gives it; `entity` carries its
    facts with their quotes and is the survivor where `id` was merged away.
    """

    id: str
    kind: str
    name: str
    type: str | None
    after: str | None = None
    live: bool = True
    entity: EntityView | None = None
    fact: FactView | None = None
    shielded: str = ""


def end_views(db: Db, situation: Situation, edge: Edge) -> tuple[EndView, EndView]:
    """Source and target of an edge."""
    ids = (edge.row.source_id, edge.row.target_id)
    names = readers.end_names(db, situation.schema, ids)
    ends = (edge.triple.source, edge.triple.target)
    source, target = (
        _end_view(db, situation, i, end, names.get(i, ("", ""))[0]) for i, end in zip(ids, ends, strict=True)
    )
    return source, target


def _end_view(db: Db, situation: Situation, end_id: str, end: End, name: str) -> EndView:
    schema = situation.schema
    found = EndView(end_id, "nothing", name, end.type, end.after, end.live)
    if end.entity or not end.live:
        try:
            entity = views.entity_view(db, schema, end_id, lambda _: ())
        except NothingFound:
            pass
        else:
            why = shields(db, situation, {entity.id}).get(entity.id, "")
            return replace(found, kind="entity", name=entity.name, entity=replace(entity, shielded=why), shielded=why)
    fact = views.fact_view(db, schema, end_id)
    if fact is not None:
        return replace(found, kind="fact", fact=fact)
    return replace(found, kind="task") if name else found
