"""What the detail pane says of edges: all of them as a map, a cell of the matrix, or one edge with its evidence."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ct_tui.domain.edge_why import Match
from ct_tui.domain.edges import EdgeState
from ct_tui.heal.edge_matrix import RANK
from ct_tui.tui.papers import heading, quote_lines, reason_lines
from ct_tui.tui.text import (
    NOTHING,
    blank,
    counted,
    data,
    drawn,
    fit,
    moment,
    number,
    prose,
    right,
    say,
    share,
)
from ct_tui.tui.widgets.edgepictures import (
    GLYPHS,
    INKS,
    arrow_words,
    grid,
    legend,
    state_words,
    type_words,
)
from ct_tui.tui.widgets.pictures import meter

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ct_tui.brain.edges import EdgeHistoryRow
    from ct_tui.domain.edge_why import Explanation, Fitting
    from ct_tui.heal.edge_desk import CellDossier, DeskEdge, Dossier
    from ct_tui.heal.edge_ends import EndView
    from ct_tui.heal.edge_matrix import DeskCell, EdgeMap
    from ct_tui.heal.edge_weigh import Weighed
    from ct_tui.tui.text import Line, Piece

    Lines = Iterator[Line]

MATCH_INKS = {
    Match.EXACT: "ok",
    Match.PARENT: "ok",
    Match.OPEN: "dim",
    Match.UNKNOWN: "dim",
    Match.NONE: "bad",
}
MOST_SIGNATURES = 8
MOST_FACTS = 4


def map_paper(found: EdgeMap, *, planned: bool, width: int) -> Lines:
    """All edges: what waits, what the plan does, and the whole matrix of source and target types."""
    counts = found.after if planned else found.now
    yield (say("All edges ", "title"), say("after the plan" if planned else "now", "dim"))
    yield (*_waiting(found.open), say(" · ", "faint"), counted(counts.edges, "edge", ink="dim"))
    yield NOTHING
    yield heading("What the plan does to them")
    yield from _effect_lines(found)
    yield NOTHING
    yield heading("Source types by target types", (say("the worst state in each field", "dim"),))
    cells = found.cells_after if planned else found.cells
    yield from grid(cells, width)
    yield NOTHING
    yield legend()
    yield (*((drawn(GLYPHS[state], INKS[state])) for state in RANK), say(" the same states in the bar on top", "dim"))
    rest = (
        (counts.half_live, "with one live end only; the app keeps those"),
        (counts.loops, "that begin and end at the same id"),
        (counts.shielded_violating, "that violate and are shielded: reported, never repaired"),
    )
    for n, words in rest:
        if n:
            yield (*right(number(n, "strong"), 6), blank(1), drawn(words, "dim"))


def _waiting(count: int) -> Line:
    if count:
        return (counted(count, "edge waits", "edges wait", "warn"), say(" for a ruling", "warn"))
    return (say("✓ no edge waits for a ruling", "ok"),)


def _effect_lines(found: EdgeMap) -> Lines:
    effect = found.effect
    if found.now == found.after:
        yield (say("  nothing: no ruling in force changes how they are judged", "dim"),)
        return
    for n, ink, words in (
        (effect.gained, "ok", "become valid"),
        (effect.broken, "bad", "break"),
        (effect.still_violating, "dim", "stay broken"),
        (found.now.edges - found.after.edges, "warn", "are dropped"),
    ):
        if n:
            yield (*right(number(n, ink), 6), blank(1), drawn(words, "dim"))
    yield (say("  P shows the plan, a there writes it", "dim"),)


def cell_paper(
    cell: DeskCell, alike: Sequence[DeskCell], known: CellDossier | None, *, planned: bool, width: int
) -> Lines:
    """A cell of the matrix: why, what the plan makes of it, what could be done, and the grid of its edge name."""
    yield arrow_words(*cell.names)
    yield (*state_words(cell.cell.state), say(" · ", "faint"), counted(cell.cell.count, "edge"), *_cell_standing(cell))
    yield NOTHING
    if known is None:
        yield (say("  reading…", "faint"),)
        yield NOTHING
    else:
        if known.repairs:
            yield from repair_lines(known.repairs, cell.asked, width)
        yield from reason_lines("Why", known.explanation.why)
    if not planned:
        yield from _becoming(cell)
    if known is not None:
        yield from signature_lines(known.explanation, cell.cell.edge_type)
    yield heading("All edges of this name", (say("source by target", "dim"),))
    yield from grid(alike, width, (cell.cell.source_type, cell.cell.target_type))


def _cell_standing(cell: DeskCell) -> Line:
    pieces: Line = NOTHING
    if cell.open:
        pieces += (say(" · ", "faint"), number(cell.open, "warn"), say(" open", "warn"))
    if cell.kept:
        pieces += (say(" · ", "faint"), number(cell.kept, "dim"), say(" kept by a ruling", "dim"))
    if cell.cell.shielded:
        pieces += (say(" · ◇ ", "dim"), number(cell.cell.shielded, "dim"), say(" shielded", "dim"))
    return pieces


def _becoming(cell: DeskCell) -> Lines:
    if all(b.state is cell.cell.state for b in cell.becomes):
        return
    yield heading("After the plan")
    for becomes in cell.becomes:
        yield (*right(number(becomes.edges, "strong"), 6), say("  "), *state_words(becomes.state))
    yield NOTHING


def repair_lines(repairs: Sequence[Weighed], count: int, width: int) -> Lines:
    """Ranked repairs, each with what it would change in counts; the number is the key that takes one."""
    yield heading("What could be done", (say("1-9 takes one for ", "dim"), counted(count, "edge", ink="dim")))
    for index, repair in enumerate(repairs[:9], 1):
        yield repair_line(index, repair, max(16, min(40, width - 18)))
        yield (blank(5), *weight_words(repair))
        yield (blank(5), data("; ".join(repair.proposal.why), "dim"))
    yield NOTHING


def repair_line(index: int, repair: Weighed, width: int) -> Line:
    """One ranked repair: its key, what it is in `width` cells, its score as a bar and a number."""
    return (
        blank(2),
        number(index, "key"),
        blank(2),
        *fit((data(repair.proposal.text, "type"),), width),
        *meter(repair.proposal.score, 6, "bar-move"),
        *right(share(repair.proposal.score), 6),
    )


def weight_words(repair: Weighed) -> Line:
    """What a repair would change in counts."""
    effect = repair.effect
    if effect is None or repair.violating is None:
        return (say("counted when it is chosen", "dim"),)
    words: Line = (
        say("✗ ", "bad"),
        number(repair.before, "dim"),
        say(" → ", "key"),
        number(repair.violating, "strong"),
    )
    words += (say("  +", "ok"), number(effect.gained, "ok"), say(" valid", "dim"))
    if effect.broken:
        words += (say("  −", "bad"), number(effect.broken, "bad"), say(" break", "bad"))
    return words


def signature_lines(explanation: Explanation, edge_type: str) -> Lines:
    """The definitions of an edge's name, held against its ends; the nearest comes first."""
    fittings = explanation.fittings
    note: Line = (number(len(fittings), "dim"), say(" in ", "dim"), data(explanation.judged_by, "dim"))
    yield (say("Signatures of ", "head"), data(edge_type, "head"), blank(1), *note)
    if not fittings:
        yield (say("  none", "dim"),)
    for found in fittings[:MOST_SIGNATURES]:
        yield (blank(2), *_fitting(found))
    if len(fittings) > MOST_SIGNATURES:
        yield (blank(2), counted(len(fittings) - MOST_SIGNATURES, "more signature", ink="dim"))
    yield NOTHING


def _fitting(found: Fitting) -> Line:
    definition = found.definition
    return (
        *_side(found.source, definition.source_type),
        say(" → ", "faint"),
        *_side(found.target, definition.target_type),
        *((say("  satisfied", "ok"),) if found.conforms else NOTHING),
    )


def _side(match: Match, asked: str | None) -> tuple[Piece, ...]:
    return (
        drawn(match.sign, MATCH_INKS[match]),
        blank(1),
        say("any", "dim") if asked is None else data(asked, "type"),
    )


def edge_brief(edge: DeskEdge) -> Lines:
    """An edge whose evidence is still being read."""
    yield from _edge_title(edge)
    yield (say("  reading…", "faint"),)


def edge_paper(found: Dossier, width: int) -> Lines:
    """One edge: what could be done, why it is what it is, and both ends with what stands behind them."""
    yield from _edge_title(found.edge)
    if found.repairs:
        yield from repair_lines(found.repairs, 1, width)
    yield from reason_lines("Why", (*found.explanation.why, *((found.cause,) if found.cause else ())))
    yield from _edge_future(found)
    if found.shielded:
        yield (say("◇ Shielded", "warn"), say(": reported, never repaired", "dim"))
        yield from ((say("  · ", "faint"), data(why)) for why in found.shielded)
        yield NOTHING
    yield from signature_lines(found.explanation, found.edge.edge.edge_type)
    yield from end_lines("Source", found.source)
    yield from end_lines("Target", found.target)
    yield from _history(found.history)


def _edge_title(desk: DeskEdge) -> Lines:
    edge = desk.edge
    yield (
        data(edge.source_name or edge.source, "title"),
        say(" ─", "faint"),
        data(edge.edge_type, "strong"),
        say("→ ", "faint"),
        data(edge.target_name or edge.target, "title"),
    )
    standing: Line = (say(" · open", "warn"),) if desk.open else NOTHING
    standing += (say(" · kept by a ruling", "dim"),) if desk.kept else NOTHING
    standing += (say(" · ◇ shielded", "dim"),) if edge.shielded else NOTHING
    yield (*state_words(edge.state), *standing)
    yield (data(edge.id, "faint"), say("  written ", "dim"), moment(edge.created_at / 1000, "dim"))
    yield (say("for ", "dim"), data(edge.entity, "faint"))
    yield NOTHING


def _edge_future(found: Dossier) -> Lines:
    """What the plan and the rulings make of it, where that is something else."""
    lines: list[Line] = []
    if found.change is not None:
        lines.append((say("▸ ", "key"), data(found.change.why)))
    state = None if found.after is None else found.after.state
    if state is not found.edge.edge.state:
        lines.append((say("▸ it is then ", "dim"), *state_words(state)))
        if found.after is not None and found.after.state is EdgeState.VIOLATING:
            lines += [(say("  · ", "faint"), data(why)) for why in found.after.why]
    named = [r for r in found.rulings if found.change is None or r.seq != found.change.ruling]
    lines += [
        (say("  #", "dim"), number(ruling.seq, "strong"), say(" rules on it: ", "dim"), data(str(ruling.body)))
        for ruling in named
    ]
    if lines:
        yield heading("After the plan")
        yield from lines
        yield NOTHING


def end_lines(words: str, end: EndView) -> Lines:
    """One end with its facts and their passages; the words are a literal."""
    moves = (say(" → ", "key"), type_words(end.after)) if end.after is not None else NOTHING
    yield heading(words, (data(end.kind, "dim"),))
    yield (blank(2), data(end.name or end.id, "strong"), blank(2), type_words(end.type), *moves)
    merged = end.entity is not None and end.entity.id != end.id
    yield (
        blank(2),
        data(end.id, "faint"),
        *((say(", merged into ", "dim"), data(end.entity.id, "faint")) if merged and end.entity else NOTHING),
    )
    if end.kind == "nothing":
        yield (say("  no row has this id", "bad"),)
    elif not end.live:
        yield (say("  ✗ archived", "bad"),)
    if end.shielded:
        yield (say("  ◇ ", "dim"), data(end.shielded, "dim"))
    if end.entity is not None and end.entity.summary.strip():
        yield from ((blank(2), *line) for line in prose(end.entity.summary))
    yield from _end_facts(end)
    yield NOTHING


def _end_facts(end: EndView) -> Lines:
    facts = end.entity.facts if end.entity is not None else (end.fact,) if end.fact is not None else ()
    for fact in facts[:MOST_FACTS]:
        yield (say("  • ", "faint"), data(fact.body or fact.title or fact.id))
        if fact.source_note:
            yield (blank(4), data(fact.source_note, "warn"))
        for quote in fact.quotes[:2]:
            yield from quote_lines(quote, 4)
    if len(facts) > MOST_FACTS:
        yield (blank(2), counted(len(facts) - MOST_FACTS, "more fact", ink="dim"))


def _history(rows: Sequence[EdgeHistoryRow]) -> Lines:
    if not rows:
        return
    yield heading("What runs did to it")
    for row in rows:
        ruled: Line = (say(" ruling #", "dim"), number(row.ruling, "dim")) if row.ruling is not None else NOTHING
        yield (
            blank(2),
            moment(row.at, "dim"),
            blank(2),
            data(row.kind),
            say(" run ", "dim"),
            number(row.run, "dim"),
            *ruled,
        )


def ladder_lines(ends: Sequence[tuple[str, tuple[str, ...]]]) -> Lines:
    """What the ladder decides for either end, rung by rung."""
    for name, steps in ends:
        yield (data(name, "strong"),)
        if not steps:
            yield (
                say("  no entity, so no rung decides for it; it is judged with the entity that it belongs to", "dim"),
            )
        for at, step in enumerate(steps):
            yield (blank(2), drawn("╰─ " if at == len(steps) - 1 else "├─ ", "faint"), data(step))
        yield NOTHING
