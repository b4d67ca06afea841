"""One entity for a person to look at: its facts with their quotes, its edges, its shield, its ledger."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ct_tui.brain import readers
from ct_tui.brain.curation import merge_history
from ct_tui.domain.census import display
from ct_tui.domain.errors import NothingFound
from ct_tui.domain.history import Ledger
from ct_tui.domain.json_text import BadJson, parse_json
from ct_tui.domain.queue import EdgeView, EntityView, FactView, Quote
from ct_tui.domain.redirects import Redirects
from ct_tui.domain.sources import Plain, classify

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ct_tui.brain.connection import Db
    from ct_tui.brain.readers import EntityRow, FactRow
    from ct_tui.brain.schema import Schema


def resolve(db: Db, schema: Schema, entity_id: str) -> tuple[EntityRow, tuple[str, ...]]:
    """The entity that an id leads to and its whole cluster; raises NothingFound."""
    redirects = Redirects(readers.redirects(db, schema))
    survivor = redirects.resolve(entity_id)
    owner = survivor if isinstance(survivor, str) else entity_id
    row = readers.entity(db, schema, owner)
    if row is None:
        raise NothingFound(
            f"there is no entity {entity_id!r}", "look for it with: ct-tui census --ids, or / in the app"
        )
    return row, redirects.cluster(owner)


def entity_view(
    db: Db, schema: Schema, entity_id: str, edges: Callable[[Sequence[str]], tuple[EdgeView, ...]]
) -> EntityView:
    """An entity with its evidence; `edges` gives the edges of its cluster."""
    row, cluster = resolve(db, schema, entity_id)
    return EntityView(
        display(row.id),
        display(row.name),
        display(row.type),
        display(row.summary),
        row.created_at,
        row.updated_at,
        row.deleted_at,
        cluster,
        fact_views(db, schema, cluster),
        edges(cluster),
        problem="" if row.readable else "its id, name or type is not readable text: it is never written",
    )


def light_view(row: EntityRow) -> EntityView:
    """An entity without its evidence, for lists."""
    return EntityView(
        display(row.id),
        display(row.name),
        display(row.type),
        display(row.summary),
        row.created_at,
        row.updated_at,
        row.deleted_at,
        problem="" if row.readable else "unreadable",
    )


def fact_views(db: Db, schema: Schema, cluster: Sequence[str], limit: int = 50) -> tuple[FactView, ...]:
    """The live facts of a cluster with the passages that they rest on."""
    return _with_quotes(db, schema, readers.facts(db, schema, cluster, limit))


def fact_view(db: Db, schema: Schema, entry_id: str) -> FactView | None:
    """One fact with the passages that it rests on, or None."""
    row = readers.fact(db, schema, entry_id)
    return None if row is None else _with_quotes(db, schema, (row,))[0]


def _with_quotes(db: Db, schema: Schema, facts: Sequence[FactRow]) -> tuple[FactView, ...]:
    evidence = readers.evidence_of(db, schema, [f.id for f in facts if classify(f.source_ref) is Plain.TOKEN])
    elements = {f.id: _elements(f, evidence) for f in facts}
    hashes = [e.content_hash for found in elements.values() for e in found if e.content_hash]
    places = readers.chunk_places(db, schema, hashes)
    return tuple(_fact_view(f, elements[f.id], places) for f in facts)


def ledger(db: Db, schema: Schema, entity_id: str) -> Ledger:
    """The type-origin history of an entity over its whole cluster."""
    row, cluster = resolve(db, schema, entity_id)
    return Ledger(
        display(row.id),
        display(row.name),
        display(row.type),
        cluster,
        readers.origin_rows(db, schema, cluster),
        tuple(reversed(readers.history(db, schema, ids=cluster, limit=10_000))),
        readers.events(db, schema, cluster),
        row.created_at,
        row.deleted_at,
        entity_id if entity_id != row.id else None,
        tuple(reversed(merge_history(db, schema, cluster))),
    )


@dataclass(frozen=True)
class _Element:
    """One element of an evidence array; what has the wrong shape is empty."""

    content_hash: str
    quote: str
    start_line: int | None
    end_line: int | None


def _elements(fact: FactRow, evidence: dict[str, str]) -> tuple[_Element, ...]:
    text = evidence.get(fact.id) if classify(fact.source_ref) is Plain.TOKEN else fact.source_ref
    if not isinstance(text, str):
        return ()
    try:
        document = parse_json(text)
    except BadJson:
        return ()
    found = document.get("evidence") if isinstance(document, dict) else None
    return tuple(_element(e) for e in found if isinstance(e, dict)) if isinstance(found, list) else ()


def _element(element: dict[str, Any]) -> _Element:
    return _Element(
        _text(element.get("content_hash")),
        _text(element.get("quote")),
        _line(element.get("start_line")),
        _line(element.get("end_line")),
    )


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _line(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _fact_view(fact: FactRow, elements: tuple[_Element, ...], places: dict[str, tuple[str, int, int]]) -> FactView:
    quotes = tuple(_quote(e, places) for e in elements)
    lost = sum(1 for e in elements if e.content_hash not in places)
    return FactView(
        fact.id,
        fact.title,
        fact.body,
        fact.confidence,
        fact.source_type,
        fact.created_at,
        quotes,
        _note(fact, len(elements), lost),
    )


def _quote(element: _Element, places: dict[str, tuple[str, int, int]]) -> Quote:
    place = places.get(element.content_hash)
    path = place[0] if place else ""
    start = element.start_line if element.start_line is not None else place[1] if place else None
    end = element.end_line if element.end_line is not None else place[2] if place else None
    return Quote(path, start, end, element.quote)


def _note(fact: FactRow, elements: int, lost: int) -> str:
    """What is to be said of a fact's source besides its quotes."""
    if fact.source_ref is None:
        return "names no source"
    if elements == 0:
        return (
            f"source: {display(fact.source_ref)}" if classify(fact.source_ref) is not Plain.TOKEN else "evidence lost"
        )
    return f"{lost} of {elements} passages no longer exist" if lost else ""
