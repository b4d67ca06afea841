"""An assertion in words, and the candidates that its form offers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ct_tui.domain.assertions import QUESTIONS, Weaker
from ct_tui.tui.text import NOTHING, blank, counted, data, drawn, fit, right, say, share
from ct_tui.tui.widgets.rows import Row

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ct_tui.domain.assertions import Assertion, Contradiction, End, Match, Relation
    from ct_tui.heal.assertions import AssertionResult
    from ct_tui.tui.text import Line


def assertion_lines(assertion: Assertion) -> Iterator[Line]:
    """What would be written: the fact, its window, how sure, where from, and what stands against it."""
    yield (
        say("▸ ", "key"),
        *_end(assertion.subject),
        blank(1),
        data(assertion.relation, "type"),
        blank(1),
        *_end(assertion.object),
    )
    yield (
        blank(2),
        data(str(assertion.window)),
        say(" · confidence ", "dim"),
        drawn(f"{assertion.confidence:g}", "strong"),
        say(" (", "dim"),
        data(assertion.kind.value, "dim"),
        say(") · ", "dim"),
        data(assertion.provenance),
    )
    if assertion.exists is not None:
        stands = assertion.exists
        recorded = stands.recorded
        yield (
            say("= ", "warn"),
            say("it stands already as ", "warn"),
            data(stands.edge, "dim"),
            *((say(": nothing would change", "warn"),) if recorded else (say(": its window and source are added"),)),
        )
    for question in assertion.questions:
        yield (say("? ", "warn"), data(QUESTIONS[question], "warn"))
    for conflict in assertion.conflicts:
        yield conflict_line(conflict, assertion)


def conflict_line(conflict: Contradiction, assertion: Assertion) -> Line:
    """What contradicts an assertion, with both confidences, and which of them is flagged."""
    e = conflict.existing
    theirs = (say("never recorded", "dim"),) if e.confidence is None else (drawn(f"{e.confidence:g}", "strong"),)
    flagged = {
        Weaker.NEW: say("this one is flagged as weaker", "warn"),
        Weaker.EXISTING: say("that one is flagged as weaker", "warn"),
        Weaker.NEITHER: say("neither is flagged", "warn"),
    }
    return (
        say("≠ ", "bad"),
        data(e.relation, "type"),
        blank(1),
        data(e.object_name),
        say(" (", "faint"),
        data(str(e.window), "dim"),
        say(") confidence ", "dim"),
        *theirs,
        say(" against ", "dim"),
        drawn(f"{assertion.confidence:g}", "strong"),
        say(": ", "dim"),
        flagged[conflict.weaker],
    )


def _end(end: End) -> Line:
    sign: Line = (say("+", "warn"),) if end.is_new else NOTHING
    return (*sign, data(end.name, "strong"), say(" (", "faint"), data(end.type, "type"), say(")", "faint"))


def match_row(match: Match) -> Row:
    """An entity that a name may mean, with the reason; where there is little room the id comes before the reason."""

    def draw(width: int) -> Line:
        why: Line = (data(match.why, "dim"),)
        if width < WIDE_ROW:
            return (
                *fit((data(match.name),), max(10, width // 5)),
                blank(1),
                *fit((data(match.type, "type"),), 12),
                blank(1),
                *fit((data(match.id, "dim"),), 29),
                *why,
            )
        return (
            *fit((data(match.name),), width // 4),
            blank(1),
            *fit((data(match.type, "type"),), 14),
            *right(share(match.score, "dim"), 6),
            blank(2),
            *fit(why, width // 3),
            data(match.id, "faint"),
        )

    return Row(match.id, match, draw, markable=False)


WIDE_ROW = 90
"""Cells from which a candidate's row also shows its score."""


def new_row(key: str, name: str) -> Row:
    """The candidate that is no entity yet."""

    def draw(width: int) -> Line:
        return (say("+ ", "warn"), say("a new entity "), data(name, "strong", width // 2), say(", through the gate"))

    return Row(key, None, draw, markable=False)


def relation_row(relation: Relation) -> Row:
    """A declared relation that fits the two ends."""

    def draw(width: int) -> Line:
        how = (say("through a parent type", "dim"),) if relation.by_parent else NOTHING
        return (*fit((data(relation.name, "type"),), min(30, width // 2)), blank(1), *how)

    return Row(relation.name, relation, draw, markable=False)


def written_line(result: AssertionResult) -> Line:
    """What became of an assertion, for the line above the keys."""
    if not result.recorded:
        return (say("= It stands already as ", "warn"), data(result.edge), say("; nothing was changed."))
    line: Line = (say("✓ Written as ", "ok"), data(result.edge))
    if result.minted:
        line += (say(" · ", "faint"), counted(len(result.minted), "new entity", "new entities"))
    if result.flagged:
        line += (say(" · ", "faint"), counted(len(result.flagged), "weaker one flagged", "weaker ones flagged", "warn"))
    return line
