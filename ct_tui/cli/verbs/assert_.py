"""`ct-tui assert SUBJECT RELATION OBJECT`: one fact, the way the curation guide asks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from ct_tui.cli.command import principal_option, verb

if TYPE_CHECKING:
    from ct_tui.cli.settings import Settings
    from ct_tui.domain.assertions import Assertion, End
    from ct_tui.heal.assertions import AssertionResult


@verb(
    "assert",
    "Write one fact the way the curation guide asks.",
    text="""One subject, one declared relation, one object. Both names are looked up first; near ones are shown, and a
    new entity comes in through the gate with --new-subject or --new-object. --from is when it became true and stays
    unknown where nobody knows; a beginning that is now has to be answered for. Without --yes only what would be
    written is shown. It is weighed against what stands there already: the weaker one is flagged, never dropped.""",
    examples=["ct-tui assert Sara lives_in Berlin --from 2023-01-01 --provenance imessage:turn-4812"],
)
@click.argument("subject", metavar="SUBJECT")
@click.argument("relation", metavar="RELATION")
@click.argument("target", metavar="OBJECT")
@click.option("--from", "start", metavar="DATE", help="When it became true: 2023, 2023-05 or 2023-05-17. Else unknown.")
@click.option("--to", "end", metavar="DATE", help="When it ended. Else it is still true.")
@click.option("--confidence", type=float, metavar="X", help="From 0 to 1. Else what is usual for the kind of source.")
@click.option("--provenance", metavar="P", help="<channel>:<turn-id>, or a stable web address. Required.")
@click.option("--kind", metavar="KIND", help="user_stated, user_confirmed, conversation, inferred or web.")
@click.option("--statement", default="", metavar="TEXT", help="The words it was read from.")
@click.option("--new-subject", metavar="TYPE", help="The subject is a new entity of this type.")
@click.option("--new-object", metavar="TYPE", help="The object is a new entity of this type.")
@click.option("--answer", "answered", multiple=True, metavar="Q", help="Answer a question with yes; repeatable.")
@click.option("--yes", is_flag=True, help="Write it.")
@click.pass_obj
def command(
    settings: Settings,
    subject: str,
    relation: str,
    target: str,
    start: str | None,
    end: str | None,
    confidence: float | None,
    provenance: str | None,
    kind: str | None,
    statement: str,
    new_subject: str | None,
    new_object: str | None,
    answered: tuple[str, ...],
    yes: bool,
) -> None:
    """Look everything up, and write it with --yes."""
    from ct_tui.domain.rulings import in_force
    from ct_tui.gate import GateMints
    from ct_tui.heal.assertions import Request
    from ct_tui.policy.load import load_policy

    request = Request(
        subject, relation, target, provenance or "", start, end, confidence, kind, statement, new_subject, new_object,
        answered,
    )  # fmt: skip
    with settings.workbench() as bench:
        mints = GateMints(bench.brain, load_policy(bench.places.config), in_force(bench.table()))
        result = bench.assert_fact(request, apply=yes, mints=mints, by=settings.principal or "")
    settings.give(result.as_json(), lambda: _lines(result, settings.out.width))


command.params.append(principal_option())


def _lines(result: AssertionResult, width: int) -> list[str]:
    from ct_tui.cli.output import paint
    from ct_tui.cli.text import paragraph, show
    from ct_tui.domain.assertions import QUESTIONS

    a = result.assertion
    lines = [paint(_headline(result), "bold"), f"  {_end(a.subject)}  {show(a.relation)}  {_end(a.object)}"]
    lines.append(f"  {a.window}, confidence {a.confidence:g} ({a.kind.value}), {show(a.provenance)}")
    for question in () if result.applied else a.questions:
        lines += paragraph(f"? {QUESTIONS[question]} (yes: --answer {question.value})", width)
    for conflict in a.conflicts:
        lines += paragraph(f"! {conflict.sentence(a.confidence)}", width)
    lines += _near_lines(a)
    for note in result.notes:
        lines += paragraph(note, width)
    return lines


def _headline(result: AssertionResult) -> str:
    from ct_tui.cli.text import show

    if not result.applied:
        return "Nothing was written; --yes writes it."
    return f"Written as {show(result.edge)}." if result.recorded else "It stands already; nothing was changed."


def _end(end: End) -> str:
    from ct_tui.cli.text import show

    where = show(end.id) if end.id is not None else "new"
    return f"{show(end.name)} [{show(end.type)}, {where}]"


def _near_lines(assertion: Assertion) -> list[str]:
    from ct_tui.cli.text import show, table

    rows = [(show(m.name), show(m.type), show(m.id), show(m.why)) for m in assertion.near]
    return ["  near names, in case another is meant:", *table(rows, indent=4)] if rows else []
