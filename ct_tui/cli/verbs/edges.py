"""`ct-tui edges`: every edge judged against the signatures of the ontology."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from ct_tui.cli.command import verb

if TYPE_CHECKING:
    from ct_tui.cli.settings import Settings
    from ct_tui.domain.edges import Cell
    from ct_tui.heal.edges import EdgeReport, ListedEdge


EDGE_COLUMNS = ("relation", "source", "target", "edge")


@verb(
    "edges",
    "Judge every edge against the signatures of the ontology.",
    text="""An edge is exact, right by its ends' parent types, violating, undetermined (an end without a type), of an
    edge type that nobody declares, or dangling. The matrix counts them by source type, edge type and target type.
    --after-plan counts as if the plan had run.""",
    examples=["ct-tui edges", "ct-tui edges --list", "ct-tui edges --after-plan --json"],
)
@click.option("--list", "list_", is_flag=True, help="Name every violating edge instead of the groups.")
@click.option("--after-plan", is_flag=True, help="Count as if the plan had run.")
@click.pass_obj
def command(settings: Settings, list_: bool, after_plan: bool) -> None:
    """Count and judge."""
    with settings.workbench() as bench:
        report = bench.edges(list_=list_, after_plan=after_plan)
    settings.give(report.as_json(), lambda: _lines(report, settings.out.width, after_plan=after_plan))


def _lines(report: EdgeReport, width: int, *, after_plan: bool) -> list[str]:
    from ct_tui.cli.output import paint
    from ct_tui.cli.text import count, table

    counts = report.counts
    when = " once the plan has run" if after_plan else ""
    lines = [paint(f"{count(counts.edges, 'edge')}{when}.", "bold"), *_state_lines(report)]
    extra = ((counts.shielded, "shielded"), (counts.loops, "to itself"), (counts.half_live, "half live"))
    said = ", ".join(f"{number:,} {words}" for number, words in extra if number)
    lines += [f"  of them {said}"] if said else []
    if report.listed is not None:
        listed = table([edge_row(edge) for edge in report.listed], EDGE_COLUMNS, width=width)
        lines += ["", paint("violating edges", "cyan"), *listed]
    head = ("edges", "state", "source type", "edge type", "target type")
    cells = sorted(report.matrix, key=lambda c: (c.state.conforms, -c.count))
    return [*lines, "", paint("matrix", "cyan"), *table(list(map(_cell, cells)), head, right=(0,), width=width)]


def _state_lines(report: EdgeReport) -> list[str]:
    from ct_tui.cli.text import table
    from ct_tui.domain.edges import EdgeState

    return table(
        [(state.sign, f"{report.counts.get(state):,}", state.word) for state in EdgeState if report.counts.get(state)],
        right=(1,),
    )


def _cell(cell: Cell) -> tuple[str, ...]:
    from ct_tui.cli.text import show, value_or_dash

    shielded = f" ({cell.shielded:,} shielded)" if cell.shielded else ""
    return (
        f"{cell.count:,}",
        f"{cell.state.sign} {cell.state.word}{shielded}",
        value_or_dash(cell.source_type),
        show(cell.edge_type),
        value_or_dash(cell.target_type),
    )


def edge_row(edge: ListedEdge) -> tuple[str, ...]:
    """One edge as a row under `EDGE_COLUMNS`."""
    from ct_tui.cli.text import show, value_or_dash

    source, target = show(edge.source_name or edge.source), show(edge.target_name or edge.target)
    return (
        show(edge.edge_type),
        f"{source} ({value_or_dash(edge.source_type)})",
        f"{target} ({value_or_dash(edge.target_type)})",
        show(edge.id) + (", shielded" if edge.shielded else ""),
    )
