"""`ct-tui show ID`: one question or one entity with its evidence."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from ct_tui.cli.command import verb
from ct_tui.cli.verbs.edges import EDGE_COLUMNS, edge_row

if TYPE_CHECKING:
    from ct_tui.cli.settings import Settings
    from ct_tui.domain.history import Ledger
    from ct_tui.domain.queue import EntityView, FactView, QueueItem
    from ct_tui.heal.workbench import Workbench

MOST_ENTITIES = 200
"""How many entities of one question are listed."""


@verb(
    "show",
    "Show one question or one entity with its evidence.",
    text="""The id is one that `ct-tui queue` prints, or an entity's. An entity comes with its facts and the quotes
    behind them, its edges, and the steps that led to its disposition; the id of a merged entity leads to the one that
    stayed.""",
    examples=["ct-tui show type:agent", "ct-tui show ent_5f0c1d"],
)
@click.argument("id", metavar="ID")
@click.pass_obj
def command(settings: Settings, id: str) -> None:  # noqa: A002 - the argument's name on the command line
    """Show whatever bears the id."""
    from ct_tui.domain.errors import NothingFound

    with settings.workbench() as bench:
        try:
            view = bench.entity(id)
        except NothingFound as error:
            item = bench.queue().get(id)
            if item is None:
                raise NothingFound(
                    f"there is neither a question nor an entity {id}", "`ct-tui queue` lists the questions"
                ) from error
            _show_item(settings, bench, item)
            return
        _show_entity(settings, view, bench.why(view.id), bench.ledger(view.id))


def _show_item(settings: Settings, bench: Workbench, item: QueueItem) -> None:
    from ct_tui.cli.text import table
    from ct_tui.cli.verbs.queue import item_lines
    from ct_tui.domain.queue import ItemKind

    views = bench.entities_of(item, 0, MOST_ENTITIES)
    edges = bench.edges_of(item, limit=MOST_ENTITIES) if item.kind is ItemKind.EDGE else ()
    document = {"item": item.as_json(), "entities": [_brief(v) for v in views], "edges": [e.as_json() for e in edges]}

    def lines() -> list[str]:
        width = settings.out.width
        if edges:
            listed = table([edge_row(e) for e in edges], EDGE_COLUMNS, width=width)
        else:
            listed = table([_entity_row(v) for v in views], ("entity", "name", "type", ""), width=width)
        left = item.count - len(edges or views)
        more = [f"  … and {left:,} more"] if listed and left > 0 else []
        return [*item_lines(item, width), *([""] if listed else []), *listed, *more]

    settings.give(document, lines)


def _entity_row(view: EntityView) -> tuple[str, ...]:
    from ct_tui.cli.text import show

    return show(view.id), show(view.name), show(view.type), show(view.shielded) if view.shielded else ""


def _brief(view: EntityView) -> dict[str, Any]:
    return {"id": view.id, "name": view.name, "type": view.type, "summary": view.summary, "shielded": view.shielded}


def _show_entity(settings: Settings, view: EntityView, why: tuple[str, ...], ledger: Ledger) -> None:
    fields = asdict(view)
    facts, edges = fields.pop("facts"), fields.pop("edges")
    origin = ledger.origin
    document = {
        "entity": fields,
        "facts": facts,
        "edges": edges,
        "why": list(why),
        "origin": origin.as_json() if origin else None,
        "history": [row.as_json() for row in ledger.history],
    }
    settings.give(document, lambda: _entity_lines(view, why, settings.out.width))


def _entity_lines(view: EntityView, why: tuple[str, ...], width: int) -> list[str]:
    from ct_tui.cli.output import paint
    from ct_tui.cli.text import moment, paragraph, show, table

    lines = [f"{paint(show(view.name), 'bold')}  {paint(show(view.type), 'cyan')}  [{show(view.id)}]"]
    lines += paragraph(view.summary, width) if view.summary else []
    times = f"created {moment(view.created_at)}, updated {moment(view.updated_at)}"
    lines.append(f"  {times}" + (f", archived {moment(view.deleted_at)}" if view.deleted_at is not None else ""))
    merged = [show(i) for i in view.cluster if i != view.id]
    lines += [f"  merged into it: {', '.join(merged)}"] if merged else []
    lines += [f"  {paint('problem', 'red')}: {show(view.problem)}"] if view.problem else []
    lines += [f"  {paint('shielded', 'yellow')}: {show(view.shielded)}"] if view.shielded else []
    lines += ["", "why"] if why else []
    for step in why:
        lines += paragraph(step, width)
    lines += ["", f"facts ({len(view.facts)})"] if view.facts else []
    for fact in view.facts:
        lines += _fact_lines(fact, width)
    if view.edges:
        rows = [_edge_row(e.edge_type, e.other_name, e.other_type, e.state, outgoing=e.outgoing) for e in view.edges]
        lines += ["", f"edges ({len(view.edges)})", *table(rows, width=width)]
    return lines


def _fact_lines(fact: FactView, width: int) -> list[str]:
    from ct_tui.cli.output import paint
    from ct_tui.cli.text import moment_ms, paragraph, show

    note = f", {show(fact.source_note)}" if fact.source_note else ""
    lines = [
        f"  {paint(show(fact.title), 'bold')}",
        f"    {show(fact.confidence)}, {show(fact.source_type)}, {moment_ms(fact.created_at)}{note}",
    ]
    lines += paragraph(fact.body, width, 4) if fact.body else []
    for quote in fact.quotes:
        place = f"{quote.path}:{quote.start_line}" if quote.start_line is not None else quote.path
        lines.append(f"    {paint(show(place), 'dim')}")
        lines += paragraph(f"“{quote.text}”", width, 6)
    return lines


def _edge_row(name: str, other: str, other_type: str, state: str, *, outgoing: bool) -> tuple[str, ...]:
    from ct_tui.cli.text import show

    arrow = f"─{show(name)}→" if outgoing else f"←{show(name)}─"
    return arrow, show(other), show(other_type), show(state) if state else ""
