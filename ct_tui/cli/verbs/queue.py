"""`ct-tui queue`: the questions that wait for a human."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from ct_tui.cli.command import verb

if TYPE_CHECKING:
    from ct_tui.cli.settings import Settings
    from ct_tui.domain.queue import Queue, QueueItem


@verb(
    "queue",
    "List the questions that wait for a human.",
    text="""Each question covers everything that one ruling settles. It says why it is here and which targets the
    evidence speaks for. The id in brackets is what `ct-tui show` takes. An empty queue exits with 2.""",
    examples=["ct-tui queue", "ct-tui queue --kind 'undeclared type'", "ct-tui queue --json"],
)
@click.option("--kind", metavar="KIND", help="Only questions of one kind, by its name or by the first part of its id.")
@click.pass_obj
def command(settings: Settings, kind: str | None) -> int:
    """List the queue."""
    with settings.workbench() as bench:
        queue = bench.queue()
    if kind is not None:
        queue = _of_kind(queue, kind)
    document = {"items": [item.as_json() for item in queue.items], "counts": queue.counts()}
    settings.give(document, lambda: _lines(queue, settings.out.width))
    return 0 if queue.items else 2


def _of_kind(queue: Queue, kind: str) -> Queue:
    from ct_tui.domain.errors import BadInput
    from ct_tui.domain.queue import ItemKind, Queue

    wanted = next((k for k in ItemKind if kind.lower() in {k.value, k.slug}), None)
    if wanted is None:
        raise BadInput(f"there is no kind of question {kind}", "there are: " + ", ".join(k.value for k in ItemKind))
    return Queue(tuple(item for item in queue.items if item.kind is wanted))


def _lines(queue: Queue, width: int) -> list[str]:
    from ct_tui.cli.text import count

    if not queue.items:
        return ["Nothing waits for a ruling."]
    kinds = ", ".join(f"{number} {kind}" for kind, number in queue.counts().items())
    lines = [f"{count(len(queue.items), 'question')}: {kinds}"]
    for item in queue.items:
        lines += ["", *item_lines(item, width, brief=True)]
    return [*lines, "", "`ct-tui show ID` says more about one of them, `ct-tui rule` settles it."]


def item_lines(item: QueueItem, width: int, *, brief: bool = False) -> list[str]:
    """One question: its heading with the id, why it is here, why nothing settled it, and the suggestions."""
    from ct_tui.cli.output import paint
    from ct_tui.cli.text import count, paragraph, show, table
    from ct_tui.domain.queue import ItemKind

    noun = {ItemKind.EDGE: "edge", ItemKind.FINDING: "finding"}.get(item.kind, "entity")
    covers = f", {count(item.count, noun)}" if item.count else ""
    lines = [f"{paint(item.kind.value, 'cyan')}  {paint(show(item.label), 'bold')}{covers}  [{show(item.id)}]"]
    for why in item.why[:1] if brief else item.why:
        lines += paragraph(f"because {why}", width)
    for why in () if brief else item.why_not:
        lines += paragraph(f"but {why}", width)
    if brief and not item.suggestions and item.why[1:]:
        lines += paragraph(item.why[1], width)
    rows = [
        (show(s.type), f"{s.score:.2f}", _reasons(s.why)) for s in (item.suggestions[:3] if brief else item.suggestions)
    ]
    return lines + table(rows, ("suggested", "score", "why"), right=(1,), width=width, indent=4)


def _reasons(why: tuple[str, ...]) -> str:
    from ct_tui.cli.text import show

    return show("; ".join(why)) if why else ""
