"""`ct-tui plan`: row by row what heal would write; nothing is written to the brain."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from ct_tui.cli.command import verb

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ct_tui.cli.settings import Settings
    from ct_tui.domain.plan import Plan, TypeChange

SAMPLE = 20
"""Rows shown of each from → to group, unless all are asked for."""


@verb(
    "plan",
    "Show row by row what heal would write.",
    text="""Writes nothing to the brain. A saved plan can be read, mailed and applied later with `ct-tui apply`; it
    refuses where the rows that it speaks of have moved since.""",
    examples=["ct-tui plan", "ct-tui plan --out tonight.json && ct-tui apply tonight.json"],
)
@click.option("--out", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE", help="Save the plan to a file.")
@click.option("--all", "everything", is_flag=True, help=f"Show every row instead of {SAMPLE} of each group.")
@click.pass_obj
def command(settings: Settings, out: Path | None, everything: bool) -> None:
    """Make, save and print the plan."""
    from ct_tui.heal.planner import plan_as_json

    with settings.workbench() as bench:
        plan = bench.plan(effect=True)
        if out is not None:
            refuse_to_overwrite(out)
            bench.save_plan(plan, out)
            settings.out.note(f"The plan is saved in {out}.")
    settings.give(plan_as_json(plan), lambda: plan_lines(plan, settings.out.width, everything=everything))


def refuse_to_overwrite(file: Path) -> None:
    """Let a plan replace an older plan and nothing else; raises BadInput."""
    from ct_tui.domain.errors import BadInput
    from ct_tui.heal.plan_file import FORMAT

    try:
        with file.open("rb") as opened:
            start = opened.read(200)
    except FileNotFoundError:
        return
    except OSError as error:
        raise BadInput(f"{file} cannot be written: {error.strerror}") from error
    if start and FORMAT.encode() not in start:
        raise BadInput(f"{file} is there already and is no plan", "name another file")


def plan_lines(plan: Plan, width: int, *, everything: bool = False) -> list[str]:
    """A plan for a person: what it would change, grouped by from → to, and what it leaves alone."""
    from ct_tui.cli.output import paint
    from ct_tui.cli.text import count, show

    lines = [paint(_title(plan), "bold"), *_manifest_lines(plan)]
    groups: dict[tuple[str, str, str], list[TypeChange]] = {}
    for change in plan.changes:
        groups.setdefault((change.from_type, change.to_type, change.kind.value), []).append(change)
    for start, end, kind, number in plan.flows():
        heading = f"{show(start)} → {show(end)}"
        lines += ["", f"{paint(heading, 'cyan')}  {number:,} by {kind.value}"]
        rows = [(c.entity, c.name, c.why) for c in groups[start, end, kind.value]]
        lines += _rows(rows, width, everything=everything)
    if plan.edge_changes:
        lines += ["", f"{paint('edges', 'cyan')}  {count(len(plan.edge_changes), 'edge')} change"]
        lines += _rows([(e.edge, e.kind.value, e.why) for e in plan.edge_changes], width, everything=everything)
    if plan.merges:
        lines += ["", f"{paint('merges', 'cyan')}  {count(len(plan.merges), 'redirect')} change"]
        rows = [(m.entity, f"{_end(m.before)} → {_end(m.after)}", m.why) for m in plan.merges]
        lines += _rows(rows, width, everything=everything)
    return [*lines, "", *_left_alone(plan), *_effects(plan, width, everything=everything), f"  plan {plan.digest[:16]}"]


def _title(plan: Plan) -> str:
    from ct_tui.cli.text import count

    undo = plan.undoes is not None
    if plan.empty:
        return (
            f"Nothing of run {plan.undoes} is left to take back."
            if undo
            else "Nothing to do: heal would write nothing."
        )
    counted = (
        (len(plan.changes), "entity"),
        (len(plan.manifests), "manifest row"),
        (len(plan.edge_changes), "edge"),
        (len(plan.merges), "redirect"),
    )
    parts = ", ".join(count(number, noun) for number, noun in counted if number)
    return f"Undo of run {plan.undoes}: {parts} would change back." if undo else f"The plan changes {parts}."


def _end(target: str | None) -> str:
    return "itself" if target is None else target


def _manifest_lines(plan: Plan) -> list[str]:
    from ct_tui.cli.text import show

    lines: list[str] = []
    for change in plan.manifests:
        parts = [f"declares {show(name)}" for name in change.added_types]
        parts += [f"adds the edge {show(edge)}" for edge in change.added_edges]
        parts += [f"gets the fallback {show(change.fallback)}"] if change.fallback else []
        lines.append(f"  manifest {show(change.row)} {', '.join(parts)}")
    return lines


def _rows(rows: Sequence[tuple[str, str, str]], width: int, *, everything: bool) -> list[str]:
    from ct_tui.cli.text import show, table

    shown = rows if everything else rows[:SAMPLE]
    lines = table([tuple(map(show, row)) for row in shown], width=width, indent=4)
    left = len(rows) - len(shown)
    return [*lines, f"    … and {left:,} more; --all shows them"] if left else lines


def _left_alone(plan: Plan) -> list[str]:
    counts = (
        (plan.queued, "queued"),
        (plan.report_only, "report only"),
        (plan.shielded, "shielded"),
        (plan.kept, "kept by a ruling"),
        (plan.held, "held"),
        (plan.unreadable, "unreadable"),
    )
    said = ", ".join(f"{number:,} {words}" for number, words in counts if number)
    return [f"  left alone: {said}"] if said else []


def _effects(plan: Plan, width: int, *, everything: bool) -> list[str]:
    from ct_tui.cli.text import show

    lines: list[str] = []
    if plan.edges is not None:
        e = plan.edges
        lines.append(f"  edges: {e.gained:,} become valid, {e.broken:,} break, {e.still_violating:,} stay violating")
    if plan.unusable_manifests:
        lines.append(f"  unusable manifests: {', '.join(map(show, plan.unusable_manifests))}")
    return [*lines, *note_lines(plan, width, everything=everything)]


def note_lines(plan: Plan, width: int, *, everything: bool) -> list[str]:
    """What a plan leaves alone and why; the first of them where there are many."""
    from ct_tui.cli.text import paragraph

    shown = plan.notes if everything else plan.notes[:SAMPLE]
    lines = [line for note in shown for line in paragraph(f"note: {note}", width)]
    left = len(plan.notes) - len(shown)
    return [*lines, f"  … and {left:,} more notes; --all shows them"] if left else lines
