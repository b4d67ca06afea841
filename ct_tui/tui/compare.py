"""Entities side by side: what they have in common, where they differ, and what a merge of them would do.

Where there is room the members stand in columns, as many as fit, the others in bands below; else one under the other.
"""

from __future__ import annotations

from itertools import zip_longest
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from ct_tui.tui.cases import Stand, staged_words
from ct_tui.tui.text import NOTHING, blank, counted, data, date, fit, moment, number, right, say, share, wrapped

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from ct_tui.domain.duplicates import Weight
    from ct_tui.domain.queue import EdgeView, EntityView
    from ct_tui.heal.duplicates import Comparison
    from ct_tui.tui.cases import Case, Decision
    from ct_tui.tui.text import Line

    Lines = Iterator[Line]

LABEL = 10
"""Cells of a field's name."""

NARROWEST = 20
"""Cells below which a column is not worth being one."""

DATED = 70
"""Cells from which a member's line also says when it was minted."""

MOST = 8
"""Facts, edges or sources of one member that are listed; the others are counted."""


def case_paper(case: Case, known: Comparison | None, staged: Decision | None, width: int, *, stacked: bool) -> Lines:
    """A case with its members beside each other."""
    yield (data(case.name, "title"),)
    yield from _standing(case, staged)
    yield from _common(case, known)
    yield NOTHING
    yield from _member_table(case, known, width)
    yield NOTHING
    if known is None:
        yield (say("reading facts, edges and sources…", "faint"),)
        return
    by_id = {e.id: e for e in known.entities}
    members = [(at, by_id[m.id]) for at, m in enumerate(case.members, 1) if m.id in by_id]
    fits = 1 if stacked else (width - LABEL) // NARROWEST
    if fits >= 2:
        yield from _bands(members, min(fits, len(members)), width)
    else:
        for at, entity in members:
            yield from _stacked(at, entity)


def _standing(case: Case, staged: Decision | None) -> Lines:
    """What the case waits for, or what was decided."""
    count = len(case.members)
    if case.near is not None:
        why = "; ".join(case.why)
        yield (say("≈ near names", "type"), say(" · ", "faint"), share(case.near.score), blank(1), data(why, "dim"))
    else:
        yield (
            say("≡ ", "warn"),
            counted(count, "entity of one name", "entities of one name"),
            say(" · ", "faint"),
            *_disposition(case),
        )
    if case.ruled is not None:
        yield (
            say("✓ ruling #", "ok"),
            number(case.ruled, "ok"),
            say(" makes one of them at the next heal: ", "ok"),
            say("P", "key"),
        )
    if staged is not None:
        yield (say("◆ decided and not signed yet: ", "key"), *staged_words(staged))


def _disposition(case: Case) -> Line:
    if case.stand is Stand.BY_ITSELF:
        return (say("same type and summary: ", "ok"), say("a", "key"), say(" merges them without a ruling", "ok"))
    words = {
        "type_conflict": say("their types differ, so a human decides", "warn"),
        "summary_mismatch": say("their summaries do not agree, so a human decides", "warn"),
        "kept_apart": say("a ruling keeps some of them apart", "warn"),
    }
    return (words[case.queued.value],) if case.queued is not None else NOTHING


def _common(case: Case, known: Comparison | None) -> Lines:
    """What speaks for one thing, and what a merge would leave behind."""
    if case.passages:
        yield (say("  + ", "ok"), counted(case.passages, "passage is", "passages are"), say(" quoted by more than one"))
    if known is not None and known.neighbours:
        names = ", ".join(known.neighbours[:4])
        yield (say("  + ", "ok"), say("more than one has an edge with "), data(names))
    loops = known.self_loops if known is not None else case.self_loops
    if loops:
        yield (say("  ↻ ", "warn"), *loops_words(len(loops)))
    others = len(case.members) - 1
    yield (
        say("  ⇉ ", "dim"),
        say("merging writes "),
        counted(others, "redirect"),
        say("; facts and edges stay where they are", "dim"),
    )


def loops_words(count: int) -> Line:
    """What a merge makes of edges between its members."""
    return (counted(count, "edge between them becomes a loop", "edges between them become loops", "warn"),)


def _member_table(case: Case, known: Comparison | None, width: int) -> Lines:
    """Every member in one line, its digit first."""
    created = {e.id: e.created_at for e in known.entities} if known is not None else {}
    dated = width >= DATED
    kind = max(9, min(18, width - (60 if dated else 48)))
    yield (
        blank(4),
        *fit((say("type", "head"),), kind + 2),
        *right(say("facts", "head"), 5),
        *right(say("edges", "head"), 6),
        *((say("  minted    ", "head"),) if dated else NOTHING),
        say("  id", "head"),
    )
    for at, member in enumerate(case.members, 1):
        yield (
            *right(number(at, "key"), 3),
            blank(1),
            *fit((data(member.type, "type", kind), *_undeclared(member)), kind + 2),
            *right(number(member.facts, "strong"), 5),
            *right(number(member.edges, "strong"), 6),
            *((blank(2), *fit((date(created.get(member.id), "dim"),), 10)) if dated else NOTHING),
            blank(2),
            data(member.id, "dim"),
        )


def _undeclared(member: Weight) -> Line:
    return NOTHING if member.declared else (say(" ?", "warn"),)


# In columns


def _bands(members: Sequence[tuple[int, EntityView]], fits: int, width: int) -> Lines:
    same = {
        "name": _same([e.name for _, e in members]),
        "summary": _same([e.summary for _, e in members]),
    }
    for start in range(0, len(members), fits):
        yield from _band(members[start : start + fits], same, (width - LABEL) // fits)
        yield NOTHING


def _band(band: Sequence[tuple[int, EntityView]], same: Mapping[str, Line], cell: int) -> Lines:
    entities = [entity for _, entity in band]
    yield from _beside(NOTHING, [[(number(at, "key"), blank(1), data(e.type, "type"))] for at, e in band], cell)
    rows: tuple[tuple[Line, Sequence[Sequence[Line]]], ...] = (
        ((say("name", "head"), *same["name"]), [_name(e) for e in entities]),
        ((say("summary", "head"), *same["summary"]), [_summary(e) for e in entities]),
        ((say("facts", "head"),), [_facts(e) for e in entities]),
        ((say("edges", "head"),), [_edges(e.edges) for e in entities]),
        ((say("sources", "head"),), [_sources(e) for e in entities]),
        ((say("merged", "head"),), [_merged(e) for e in entities]),
        ((say("changed", "head"),), [[(moment(e.updated_at, "dim"),)] for e in entities]),
        ((say("id", "head"),), [[(data(e.id, "dim"),)] for e in entities]),
    )
    for label, cells in rows:
        if any(cells):
            yield from _beside(label, cells, cell)


def _same(values: Sequence[str]) -> Line:
    """Whether a field is the same everywhere, as a sign."""
    return (say(" =", "dim"),) if len(set(values)) == 1 else (say(" ≠", "warn"),)


def _beside(label: Line, cells: Sequence[Sequence[Line]], cell: int) -> Lines:
    """Fields side by side, each wrapped to its column."""
    wrapped_cells = [[row for line in lines for row in wrapped(line, cell - 2, 2)] for lines in cells]
    for at, row in enumerate(zip_longest(*wrapped_cells, fillvalue=NOTHING)):
        lead = fit(label if at == 0 else NOTHING, LABEL)
        yield (*lead, *(piece for line in row for piece in fit(line, cell)))


def _name(entity: EntityView) -> Sequence[Line]:
    return [(data(entity.name, "strong"),)]


def _summary(entity: EntityView) -> Sequence[Line]:
    return [(data(entity.summary, "", 300),) if entity.summary.strip() else (say("none", "dim"),)]


def _facts(entity: EntityView) -> Sequence[Line]:
    """What is stated; where a statement begins with the entity's own name, an ellipsis stands for it."""
    lines: list[Line] = []
    for fact in entity.facts:
        text = fact.body if fact.body.strip() else fact.title
        own = bool(entity.name.strip()) and text.startswith(entity.name) and len(text) > len(entity.name)
        rest = text[len(entity.name) :] if own else text
        lines.append((say("• …", "faint") if own else say("• ", "faint"), data(rest.strip() if own else rest, "", 160)))
    return _listed(lines)


def _edges(edges: Sequence[EdgeView]) -> Sequence[Line]:
    return _listed([_edge(edge) for edge in edges])


def _edge(edge: EdgeView) -> Line:
    return (
        say("→ " if edge.outgoing else "← ", "faint"),
        data(edge.edge_type, "dim"),
        blank(1),
        data(edge.other_name or edge.other_id),
    )


def _sources(entity: EntityView) -> Sequence[Line]:
    """The last parts of the paths, since that is where documents differ."""
    found: dict[str, Line] = {}
    for fact in entity.facts:
        for quote in fact.quotes:
            place = "/".join(PurePosixPath(quote.path).parts[-2:]) or "the passage is gone"
            line = f":{quote.start_line}" if quote.start_line is not None and quote.path else ""
            found.setdefault(place + line, (data(place + line, "dim"),))
        if fact.source_note:
            found.setdefault(fact.source_note, (data(fact.source_note, "warn"),))
    return _listed(list(found.values()))


def _merged(entity: EntityView) -> Sequence[Line]:
    return [(say("≡ ", "dim"), data(i, "dim")) for i in entity.cluster[1 : MOST + 1]]


def _listed(lines: Sequence[Line]) -> Sequence[Line]:
    more = len(lines) - MOST
    return [*lines[:MOST], (counted(more, "more", "more", "dim"),)] if more > 0 else list(lines)


# One under the other

_STACKED: tuple[Callable[[EntityView], Sequence[Line]], ...] = (
    _summary,
    _facts,
    lambda e: _edges(e.edges),
    _sources,
    _merged,
)


def _stacked(at: int, entity: EntityView) -> Lines:
    yield (
        *right(number(at, "key"), 3),
        blank(1),
        data(entity.name, "strong"),
        say(" · ", "faint"),
        data(entity.type, "type"),
        say(" · ", "faint"),
        data(entity.id, "dim"),
    )
    for part in _STACKED:
        yield from ((blank(4), *line) for line in part(entity))
    yield NOTHING
