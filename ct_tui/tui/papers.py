"""What the detail pane says of each kind of row, as lines; the evidence stands beside the question."""

from __future__ import annotations

from pathlib import PurePath
from typing import TYPE_CHECKING

from ct_tui.domain.queue import ItemKind
from ct_tui.tui.signs import KIND_SIGNS, STATE_SIGNS
from ct_tui.tui.text import (
    LONGEST_SENTENCE,
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
    stamp,
    titled,
)
from ct_tui.tui.widgets.pictures import (
    Parts,
    chain,
    change_line,
    drift_bar,
    meter,
    standing,
    time_line,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ct_tui.brain.edges import EdgeHistoryRow
    from ct_tui.domain.census import TypeCount
    from ct_tui.domain.history import HistoryRow, Ledger, MergeStep, RunRow
    from ct_tui.domain.manifest import Vocabulary
    from ct_tui.domain.queue import EdgeView, EntityView, FactView, QueueItem, Quote, Suggestion
    from ct_tui.domain.rulings import DeadAlias, Entry, RulingTable
    from ct_tui.heal.bench_reading import RunWork
    from ct_tui.tui.text import Line

    Lines = Iterator[Line]

MOST_QUOTES = 3
MOST_STEPS = 200
LONGEST_QUOTE = 400


def heading(words: str, note: Line = NOTHING) -> Line:
    """A heading inside the detail; the words are a literal."""
    return (say(words, "head"), *((blank(1), *note) if note else NOTHING))


def question_paper(item: QueueItem, entities: Sequence[EntityView] | None, *, deferred: bool = False) -> Lines:
    """A question: what it is about, then all that speaks for an answer."""
    yield (titled(item.label),)
    put_off = (say(" · put off for this session", "dim"),) if deferred else NOTHING
    entities_counted = counted(item.count, "entity", "entities")
    what = counted(item.count, "finding") if item.kind is ItemKind.FINDING else entities_counted
    covers = (say(" · ", "dim"), what) if item.entities else NOTHING
    yield (drawn(KIND_SIGNS[item.kind], "warn"), blank(1), data(item.kind.value, "warn"), *covers, *put_off)
    yield NOTHING
    yield from grounds(item, entities)


def grounds(item: QueueItem, entities: Sequence[EntityView] | None) -> Lines:
    """What a question's answer could be, why it is here, why nothing settled it, and the evidence."""
    if item.suggestions:
        yield from suggestion_lines(item.suggestions)
    yield from reason_lines("Why it is here", item.why)
    yield from reason_lines(_against_heading(item.kind), item.why_not)
    yield from _evidence(item, entities)


def _against_heading(kind: ItemKind) -> str:
    return (
        "What settles it"
        if kind in {ItemKind.PROPOSAL, ItemKind.DEAD_ALIAS, ItemKind.MANIFEST}
        else "Why nothing settles it"
    )


def reason_lines(words: str, reasons: Sequence[str]) -> Lines:
    """Reasons under a heading; nothing where there are none. The words are a literal."""
    if reasons:
        yield (drawn(words, "head"),)
        for reason in reasons:
            yield (say("  · ", "faint"), data(reason, width=LONGEST_SENTENCE))
        yield NOTHING


def suggestion_lines(suggestions: Sequence[Suggestion]) -> Lines:
    """Ranked targets with their reasons; the number is the key that takes one."""
    yield heading("What it could be", (say("1-9 takes one", "dim"),))
    names = max(22, min(40, max(len(s.type) for s in suggestions) + 1))
    for index, suggestion in enumerate(suggestions[:9], 1):
        yield suggestion_line(index, suggestion, names)
        if suggestion.why:
            yield (blank(7), data("; ".join(suggestion.why), "dim"))
    yield NOTHING


def suggestion_line(index: int, suggestion: Suggestion, names: int = 22) -> Line:
    """One ranked target: its key, its name in `names` cells, its score as a bar and a number."""
    return (
        blank(2),
        number(index, "key"),
        blank(2),
        *fit((data(suggestion.type, "type"),), names),
        *meter(suggestion.score, 10, "bar-move"),
        *right(share(suggestion.score), 6),
    )


def _evidence(item: QueueItem, entities: Sequence[EntityView] | None) -> Lines:
    if not item.entities:
        return
    shown = len(entities) if entities is not None else 0
    if item.kind is ItemKind.FINDING:
        # What a finding is about may be no entity at all, and several may be about one.
        yield heading("Evidence", (counted(item.count, "finding", ink="dim"), say(" · L shows each", "dim")))
    else:
        note = (number(shown, "dim"), say(" of ", "dim"), number(item.count, "dim"), say(" · l opens the group", "dim"))
        yield heading("Evidence", note)
    if entities is None:
        yield (say("  reading…", "faint"),)
        return
    for entity in entities:
        yield NOTHING
        yield from brief(entity)


def brief(entity: EntityView) -> Lines:
    """An entity among others: its name, summary, first quotes and edges."""
    shield = (blank(1), say("◇ shielded", "dim")) if entity.shielded else NOTHING
    yield (blank(2), titled(entity.name, "strong"), *shield, blank(2), data(entity.id, "faint"))
    if entity.summary.strip():
        yield (blank(4), data(entity.summary))
    quotes = [quote for fact in entity.facts for quote in fact.quotes if quote.text][:MOST_QUOTES]
    for quote in quotes:
        yield from quote_lines(quote, 4)
    if not quotes:
        for fact in entity.facts[:2]:
            yield (blank(4), say("• ", "faint"), data(fact.title or fact.body))
    for edge in entity.edges[:4]:
        yield _edge(edge, 4)
    if len(entity.edges) > 4:
        yield (blank(4), counted(len(entity.edges) - 4, "more edge", ink="dim"))


def quote_lines(quote: Quote, indent: int) -> Lines:
    """A passage with its place, moved in by `indent` cells."""
    yield (blank(indent), say("“", "quote"), data(quote.text, "quote", LONGEST_QUOTE), say("”", "quote"))
    yield (blank(indent + 2), data(quote.path or "the passage no longer exists", "dim"), *_line_numbers(quote))


def _line_numbers(quote: Quote) -> Line:
    if quote.start_line is None:
        return NOTHING
    end = NOTHING if quote.end_line in {None, quote.start_line} else (say("–", "dim"), number(quote.end_line, "dim"))
    return (say(":", "dim"), number(quote.start_line, "dim"), *end)


def _edge(edge: EdgeView, indent: int) -> Line:
    from ct_tui.domain.edges import EdgeState
    from ct_tui.tui.widgets.edgepictures import BY_WORD, state_words

    state: Line = (blank(1), *state_words(EdgeState(edge.state))) if edge.state in BY_WORD else NOTHING
    return (
        blank(indent),
        say("→ " if edge.outgoing else "← ", "faint"),
        data(edge.edge_type, "dim"),
        blank(1),
        titled(edge.other_name or edge.other_id, ""),
        say(" (", "faint"),
        data(edge.other_type, "type"),
        say(")", "faint"),
        *state,
    )


def entity_paper(entity: EntityView) -> Lines:
    """An entity with everything that stands behind it."""
    yield (titled(entity.name),)
    yield (titled(entity.type, "type"), say(" · ", "faint"), data(entity.id, "dim"))
    yield (
        say("minted ", "dim"),
        moment(entity.created_at, "dim"),
        say(" · changed ", "dim"),
        moment(entity.updated_at, "dim"),
    )
    if entity.deleted_at is not None:
        yield (say("✗ archived ", "bad"), moment(entity.deleted_at, "bad"))
    if entity.shielded:
        yield (say("◇ shielded: ", "warn"), data(entity.shielded))
    if entity.problem:
        yield (say("! ", "bad"), data(entity.problem))
    if len(entity.cluster) > 1:
        yield (say("≡ merged from ", "dim"), data(", ".join(entity.cluster[1:]), "dim"))
    yield NOTHING
    if entity.summary.strip():
        yield from prose(entity.summary)
        yield NOTHING
    yield from fact_lines(entity.facts)
    yield from _edges(entity.edges)


def fact_lines(facts: Sequence[FactView]) -> Lines:
    """Facts with the passages that they rest on."""
    yield heading("Facts", (number(len(facts), "dim"),))
    for fact in facts:
        yield (say("  • ", "faint"), data(fact.title or fact.id, "strong"))
        if fact.body.strip() and fact.body != fact.title:
            yield from ((blank(4), *line) for line in prose(fact.body))
        yield (
            blank(4),
            data(fact.confidence, "dim"),
            say(" · ", "faint"),
            data(fact.source_type, "dim"),
            say(" · ", "faint"),
            moment(fact.created_at / 1000, "dim"),
        )
        if fact.source_note:
            yield (blank(4), data(fact.source_note, "warn"))
        for quote in fact.quotes:
            yield from quote_lines(quote, 4)
    yield NOTHING


def _edges(edges: Sequence[EdgeView]) -> Lines:
    yield heading("Edges", (number(len(edges), "dim"),))
    for edge in edges:
        yield _edge(edge, 2)


def type_paper(row: TypeCount, vocabulary: Vocabulary | None) -> Lines:
    """A type of the census: what it is to the ontology and what becomes of its entities."""
    yield (titled(row.raw if not isinstance(row.raw, bytes) else row.type),)
    yield (*standing(row), say(" · ", "faint"), counted(row.count, "live entity", "live entities"))
    yield NOTHING
    node = vocabulary.by_key.get(row.type.strip().lower()) if vocabulary is not None else None
    if node is not None:
        if node.description:
            yield (data(node.description),)
        if node.parent_type:
            yield (say("a kind of ", "dim"), data(node.parent_type, "type"))
        yield NOTHING
    yield from _disposition(row)
    if row.looks_like is not None:
        yield (say("! looks like ", "warn"), data(row.looks_like, "type"), say(", and is not it"))
        yield NOTHING


def _disposition(row: TypeCount) -> Lines:
    parts = Parts.of(row)
    yield heading("What becomes of them")
    yield (blank(2), *drift_bar(row, row.count, 40))
    fine = say("stay as they are")
    target = (say("become "), data(row.to, "type")) if row.to is not None else (say("change"),)
    for count, glyph, ink, words in (
        (parts.fine, "─ ", "bar-declared", (fine,)),
        (parts.moving, "╍ ", "bar-move", target),
        (parts.asked, "━ ", "bar-ask", (say("wait for a ruling"),)),
        (row.shielded, "┄ ", "bar-spared", (say("are shielded: reported, never retyped"),)),
        (row.report_only, "┄ ", "bar-spared", (say("have lost a source: reported only"),)),
        (row.kept, "┄ ", "bar-spared", (say("are kept by a ruling"),)),
        (row.held, "┄ ", "bar-spared", (say("are held: the policy cannot decide"),)),
        (parts.unreadable, "! ", "bar-unreadable", (say("are unreadable and never written"),)),
    ):
        if count:
            yield (blank(2), drawn(glyph, ink), *right(number(count, "strong"), 7), blank(1), *words)
    yield NOTHING


def life_paper(ledger: Ledger) -> Lines:
    """An entity's time line, from its mint to now."""
    yield (titled(ledger.name),)
    yield (data(ledger.type, "type"), say(" · ", "faint"), data(ledger.id, "dim"))
    if ledger.asked is not None:
        yield (say("≡ asked for ", "dim"), data(ledger.asked, "dim"), say(", which was merged into it", "dim"))
    yield NOTHING
    yield heading("Time line", (counted(len(ledger.history), "change", ink="dim"),))
    yield NOTHING
    yield from ((blank(1), *line) for line in time_line(ledger))


def change_paper(row: HistoryRow) -> Lines:
    """One change, while the entity's whole ledger is still being read."""
    yield (titled(row.name or row.entity_id),)
    yield change_line(row)
    yield (say("at ", "dim"), moment(row.at, "dim"))


def standing_of(entry: Entry, table: RulingTable) -> tuple[str, str]:
    """Whether a ruling that verifies acts: one word, and where it does not, why."""
    # The rules of rulings are a large import, which the first paint does not wait for.
    from ct_tui.domain.rulings import Kind

    if not table.trusted:
        return "stopped", "the table is not trusted, so nothing ruled acts"
    by = table.retired_by(entry.seq)
    if by is not None:
        word = "revoked" if by.kind is Kind.REVOKE else "replaced"
        return word, f"{word} by ruling #{by.seq}"
    acts = entry.ruling is not None and entry.ruling in table.valid()
    return ("acts", "") if acts else ("stopped", "a later ruling took its place")


def ruling_paper(entry: Entry, table: RulingTable, dead: Sequence[DeadAlias]) -> Lines:
    """A ruling: what it decides, why, by whom, whether it verifies, and where it stands in the chain."""
    sign, ink = STATE_SIGNS[entry.state]
    ruling = entry.ruling
    yield (
        say("#", "title"),
        number(entry.seq, "title"),
        blank(1),
        titled(str(ruling.body) if ruling else entry.kind),
    )
    yield (
        drawn(sign, ink),
        blank(1),
        drawn(entry.state.value, ink),
        *((say(": ", "dim"), data(entry.problem)) if entry.problem else NOTHING),
    )
    word, why = standing_of(entry, table)
    cannot = next((d for d in dead if d.ruling.seq == entry.seq), None)
    if cannot is not None:
        yield (say("✗ cannot act: ", "bad"), data(cannot.message))
    elif entry.valid and word != "acts":
        yield (say("⊘ does not act: ", "dim"), drawn(why, "dim"))
    elif entry.valid:
        yield (say("▶ acts", "ok"),)
    yield NOTHING
    if ruling is not None:
        yield heading("Reason")
        yield from ((blank(2), *line) for line in prose(ruling.reason))
        yield NOTHING
        yield (say("ruled by ", "dim"), data(ruling.ruled_by), say(" at ", "dim"), stamp(ruling.ruled_at))
        if entry.fingerprint:
            yield (say("key      ", "dim"), data(entry.fingerprint, "dim"))
        yield (say("hash     ", "dim"), data(ruling.hash[:32], "faint"), say("… y copies it", "faint"))
        if ruling.supersedes is not None:
            yield (say("replaces ", "dim"), say("#"), number(ruling.supersedes))
        yield NOTHING
    yield heading("Chain", (say("each signature covers the entry before", "dim"),))
    yield from chain(table.entries, entry.seq)


def run_paper(run: RunRow, work: RunWork | None) -> Lines:
    """A run: what it did, and whether it can be or was undone."""
    yield (say("Run ", "title"), number(run.id, "title"), blank(1), data(run.kind, "title"))
    yield (moment(run.at), say(" by ", "dim"), data(run.by), say(" · ", "faint"), data(run.status))
    if run.undoes is not None:
        yield (say("↶ undoes run ", "warn"), number(run.undoes, "warn"))
    if run.undone_by is not None:
        yield (say("↶ undone by run ", "warn"), number(run.undone_by, "warn"))
    yield NOTHING
    for count, words in (
        (run.retyped, "retyped"),
        (run.recased, "recased"),
        (run.edges, "edges changed"),
        (merged if isinstance(merged := run.numbers.get("merged"), int) else 0, "duplicates redirected"),
        (run.conflicts, "conflicts: rows that moved meanwhile"),
    ):
        if count or words == "retyped":
            yield (*right(number(count, "strong"), 7), blank(1), drawn(words))
    if run.queued is not None:
        yield (*right(number(run.queued, "strong"), 7), say(" left in the queue"))
    if run.legalized:
        yield (say("declared ", "dim"), data(", ".join(run.legalized), "type"))
    if run.backup:
        yield (say("backup   ", "dim"), data("/".join(PurePath(run.backup).parts[-2:]), "dim"))
    yield (say("plan     ", "dim"), data(run.plan_digest[:16], "faint"))
    if work is None:
        yield NOTHING
        yield (say("reading what it did…", "faint"),)
        return
    yield from _section("Types", [_type_step(row) for row in work.changes], run.retyped + run.recased)
    yield from _section("Edges", [_edge_step(row, work.names) for row in work.edges], run.edges)
    yield from _section("Redirects", [_merge_step(step, work.names) for step in work.merges], len(work.merges))


def _section(title: str, steps: Sequence[Line], whole: int) -> Lines:
    """Some of the steps of one kind, with how many there are besides."""
    if not steps:
        return
    yield NOTHING
    yield heading(title)
    yield from steps[:MOST_STEPS]
    if (more := max(whole, len(steps)) - min(len(steps), MOST_STEPS)) > 0:
        yield (blank(2), counted(more, "more step", ink="dim"))


def _type_step(row: HistoryRow) -> Line:
    return (
        blank(2),
        data(row.name or row.entity_id),
        blank(2),
        data(row.from_type, "type"),
        say(" → "),
        data(row.to_type, "type"),
    )


def _edge_step(row: EdgeHistoryRow, names: Mapping[str, str]) -> Line:
    """A repaired edge as it was, or as it is where it was not there before."""
    edge = row.before or row.after
    if edge is None:
        return (say("  ? ", "warn"), data(row.edge, "faint"), say(" the row of it cannot be read", "warn"))
    new = row.after.edge_type if row.after is not None and row.after.edge_type != edge.edge_type else None
    renamed: Line = (say(" → "), data(new, "type")) if new is not None else NOTHING
    return (
        blank(2),
        data(row.kind, "warn"),
        blank(2),
        data(names.get(edge.source_id) or edge.source_id),
        say(" ─", "faint"),
        data(edge.edge_type, "type"),
        say("→ ", "faint"),
        data(names.get(edge.target_id) or edge.target_id),
        *renamed,
    )


def _merge_step(step: MergeStep, names: Mapping[str, str]) -> Line:
    name: Line = (data(names.get(step.loser) or step.loser), blank(1), data(step.loser, "faint"))
    if step.survivor is None:
        before = step.previous or ""
        return (blank(2), *name, say(" stands for itself again, no longer ", "dim"), data(before, "faint"))
    return (blank(2), *name, say(" ⇉ ", "warn"), data(step.survivor, "faint"))


def is_undecided(item: QueueItem, *, deferred: bool) -> bool:
    """Whether `{` and `}` stop at a question: those that a ruling of this session put off are passed over."""
    return not deferred and item.kind is not ItemKind.SHIELDED
