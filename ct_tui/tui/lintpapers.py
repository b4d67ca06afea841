"""What the detail says of a finding and of a rule: what is wrong, why it matters, the fix, and the row itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ct_tui.domain.lint.model import Kind
from ct_tui.domain.lint.registry import BY_ID
from ct_tui.tui import papers
from ct_tui.tui.findings import EXCEPTED, FAILED, Excepted, RuleCount, Standing, rule_sign
from ct_tui.tui.signs import SEVERITY_SIGNS
from ct_tui.tui.text import NOTHING, blank, counted, data, drawn, fit, moment, number, prose, say
from ct_tui.tui.widgets.edgepictures import BY_WORD

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Iterator, Sequence

    from ct_tui.domain.census import RawText
    from ct_tui.domain.lint.model import Finding
    from ct_tui.domain.lint.report import LintReport
    from ct_tui.domain.queue import EntityView
    from ct_tui.domain.rulings import Except, Ruling, RulingTable
    from ct_tui.tui.messages import FocusRead
    from ct_tui.tui.text import Line

    Lines = Iterator[Line]

MILLISECONDS = frozenset({"llm_wiki_entries", "llm_wiki_edges"})
"""Tables whose times are in milliseconds; those of the others are in seconds."""

TIMES = frozenset({"created_at", "updated_at", "deleted_at", "valid_from", "valid_to", "superseded_at", "recorded_at"})
"""Columns that hold a time."""

LONGEST_VALUE = 600
"""Cells of a column's value in the row; the raw row shows all of it."""


def finding_paper(thing: Finding | Excepted, known: FocusRead | None, table: RulingTable | None) -> Lines:
    """A finding with everything that a person needs to judge it."""
    finding = thing.finding if isinstance(thing, Excepted) else thing
    rule = BY_ID[finding.rule]
    yield (data(rule.title, "title"),)
    yield _standing(finding, thing, table)
    yield (data(rule.why, "dim"),)
    yield NOTHING
    yield papers.heading("What is wrong")
    yield (blank(2), data(finding.message))
    if finding.rule != FAILED:
        yield (blank(2), data(finding.path, "dim"), say(" is ", "dim"), *_value(finding.value))
    if finding.fix is not None:
        yield (blank(2), say("→ ", "key"), data(finding.fix))
    yield NOTHING
    if finding.rule == FAILED:
        yield (say("What this rule looks for is not known to be clean.", "warn"),)
        return
    yield from _focus(finding, known, table)


def _standing(finding: Finding, thing: Finding | Excepted, table: RulingTable | None) -> Line:
    sign, ink = SEVERITY_SIGNS[finding.severity]
    line: Line = (drawn(sign, ink), blank(1), data(finding.severity.value, ink), say(" · ", "faint"))
    line += (data(finding.rule, "type"),)
    if isinstance(thing, Excepted):
        entry = table.get(thing.ruling) if table is not None else None
        why: Line = (say(": ", "dim"), data(entry.ruling.reason)) if entry is not None and entry.ruling else NOTHING
        return (*line, say(" · ⊘ excepted by ruling #", "warn"), number(thing.ruling, "warn"), *why)
    if finding.new is not None:
        words = (say("+ new since the last night", "ok"),) if finding.new else (say("as on the last night", "dim"),)
        line += (say(" · ", "faint"), *words)
    return line


def _value(value: RawText) -> Line:
    return (data(value, "strong", LONGEST_VALUE),)


def _focus(finding: Finding, known: FocusRead | None, table: RulingTable | None) -> Lines:
    """The row that the finding is about, and what stands around it."""
    if finding.focus.kind is Kind.RULING:
        entry = table.get(int(finding.focus.id)) if table is not None and finding.focus.id.isdigit() else None
        if entry is not None and table is not None:
            yield from papers.ruling_paper(entry, table, ())
        return
    if known is None:
        yield (say("reading the row…", "faint"),)
        return
    if known.error is not None:
        yield (say("! ", "warn"), data(known.error.message), say("  "), data(known.error.remedy, "dim"))
        yield NOTHING
    if known.columns and finding.focus.kind is not Kind.ENTITY:
        yield papers.heading("The row", (data(known.table, "dim"), blank(1), data(finding.focus.id, "faint")))
        yield from row_lines(known.table, known.columns, finding.path)
        yield NOTHING
    yield from _entities(finding, known.entities)


def _entities(finding: Finding, entities: Sequence[EntityView]) -> Lines:
    if finding.focus.kind is Kind.TYPE:
        yield papers.heading("Entities of this type", (counted(len(entities), "shown", "shown", "dim"),))
        for entity in entities:
            yield (blank(2), data(entity.name), blank(2), data(entity.id, "faint"))
        return
    for entity in entities:
        yield papers.heading("The entity")
        yield from papers.entity_paper(entity)
        yield NOTHING


def row_lines(table: str, columns: Sequence[tuple[str, RawText]], path: str) -> Lines:
    """A row column by column; the one that a finding is about is marked, and what is empty besides it left out."""
    at_fault = {part.partition(".")[0] for part in path.removeprefix(f"{table}.").split(",")}
    width = max((len(name) for name, _ in columns), default=0) + 2
    for name, value in columns:
        here = name in at_fault
        if not here and (value is None or value == "" or isinstance(value, bytes)):
            continue
        lead: Line = (say("▸ " if here else "  ", "bad"), *fit((data(name, "bad" if here else "head"),), width))
        yield (*lead, *_value_of(table, name, value, here=here))


def _value_of(table: str, name: str, value: RawText, *, here: bool) -> Line:
    ink = "strong" if here else ""
    if name in TIMES and isinstance(value, int) and not isinstance(value, bool):
        seconds = value / 1000 if table in MILLISECONDS else value
        shown: Line = (moment(seconds, "dim"),) if value else (say("unknown", "dim"),)
        return (data(value, ink), blank(2), *shown)
    return (data(value, ink, LONGEST_VALUE),)


def edge_lines(entity: EntityView, edge_id: str) -> Lines:
    """An edge with both of its ends, seen from one of them; nothing where it is no edge of that entity."""
    for edge in entity.edges:
        if edge.id != edge_id:
            continue
        sign, ink = BY_WORD.get(edge.state, ("?", "dim"))
        here: Line = (data(entity.name, "strong"), say(" (", "faint"), data(entity.type, "type"), say(")", "faint"))
        other: Line = (data(edge.other_name, "strong"), say(" (", "faint"), data(edge.other_type, "type"))
        other += (say(")", "faint"),)
        source, target = (here, other) if edge.outgoing else (other, here)
        yield source
        yield (say("  │ ", "faint"), data(edge.edge_type, "type"))
        yield (say("  ▼", "faint"),)
        yield target
        yield NOTHING
        yield (drawn(sign, ink), blank(1), data(edge.state.replace("_", " "), ink))
        yield (data(edge.id, "dim"),)


def raw_lines(columns: Sequence[tuple[str, RawText]]) -> Lines:
    """A row exactly as it stands, every column with its kind."""
    width = max((len(name) for name, _ in columns), default=0) + 2
    for name, value in columns:
        lead: Line = fit((data(name, "head"),), width)
        kind = {str: "text", bytes: "blob", int: "integer", float: "real"}.get(type(value), "null")
        if isinstance(value, bytes) and len(value) > 64:
            yield (*lead, data(kind, "faint"), blank(max(1, 8 - len(kind))), counted(len(value), "byte", ink="dim"))
            continue
        first, *rest = prose(value)
        yield (*lead, data(kind, "faint"), blank(max(1, 8 - len(kind))), *first)
        yield from ((blank(width + 8), *line) for line in rest)


def rule_paper(key: str | RuleCount, report: LintReport, exceptions: Sequence[tuple[Ruling, Except]]) -> Lines:
    """A rule: what it looks for, what this run says of it, and the exceptions in force; or the whole run."""
    if isinstance(key, RuleCount):
        yield (data(key.rule.title, "title"),)
        sign, ink = rule_sign(key)
        yield (drawn(sign, ink), blank(1), data(key.rule.id, "type"), say(" · ", "faint"), *_found(key))
        yield (data(key.rule.why, "dim"),)
        yield NOTHING
        yield from _exceptions([pair for pair in exceptions if pair[1].rule == key.rule.id])
        return
    yield ((say("Excepted by rulings", "title"),) if key == EXCEPTED else (say("All findings", "title"),))
    yield NOTHING
    yield from _run(report)
    yield from _exceptions(exceptions)


def _found(count: RuleCount) -> Line:
    if count.standing is Standing.FAILED:
        return (say("it could not run, so nothing is known to be clean", "bad"),)
    if count.standing is Standing.UNFINISHED:
        return (say("the run was stopped before it was through", "warn"),)
    if count.standing is Standing.CLEAN:
        return (say("nothing found", "ok"),)
    line: Line = (counted(count.count, "finding"),)
    if count.fresh:
        line += (say(" · ", "faint"), number(count.fresh, "ok"), say(" new since the last night", "ok"))
    return line


def _run(report: LintReport) -> Lines:
    """What the run as a whole says."""
    for severity, (sign, ink) in SEVERITY_SIGNS.items():
        count = report.severities()[severity]
        yield (blank(2), drawn(sign, ink), blank(1), number(count, "strong"), blank(1), data(severity, "dim"))
    if report.new is None:
        yield (blank(2), say("No night is remembered yet, so nothing is new or old: every heal remembers.", "dim"))
    else:
        gone = report.gone or 0
        yield (blank(2), say("+ ", "ok"), number(report.new, "ok"), say(" new since the last night", "dim"))
        yield (blank(2), say("− ", "dim"), number(gone, "dim"), say(" gone since then", "dim"))
    if report.left_out:
        yield (blank(2), number(report.left_out, "warn"), say(" more are counted and not listed", "warn"))
    for note in report.notes:
        yield (blank(2), say("! ", "warn"), data(note))
    yield NOTHING


def _exceptions(exceptions: Sequence[tuple[Ruling, Except]]) -> Lines:
    if not exceptions:
        return
    yield papers.heading("Exceptions in force", (number(len(exceptions), "dim"),))
    for ruling, body in exceptions:
        yield (
            say("  ⊘ #", "dim"),
            number(ruling.seq, "strong"),
            blank(1),
            data(body.rule, "type"),
            *_until(body.until),
        )
        yield (blank(4), data(ruling.reason), say(" · ", "faint"), data(ruling.ruled_by, "dim"))
        shown = body.focus[:3]
        more = len(body.focus) - len(shown)
        yield (
            blank(4),
            data(", ".join(shown), "dim"),
            *((say(" and ", "dim"), counted(more, "more", "more", "dim")) if more else NOTHING),
        )


def _until(day: dt.date | None) -> Line:
    return (say(" for good", "dim"),) if day is None else (say(" until ", "dim"), data(day.isoformat(), "dim"))
