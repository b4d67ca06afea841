"""Rules on facts: a window and not a moment, honest confidence, and a source that can be opened.

The times of llm_wiki_entries and llm_wiki_edges are milliseconds, those of curated_entities seconds (brain format
1.4). 0 and NULL mean "unknown" for a beginning and "still true" for an end, and are legal everywhere.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeGuard

from ct_tui.domain.census import RawText, display
from ct_tui.domain.json_text import BadJson, parse_json
from ct_tui.domain.lint.model import EdgeRow, EntityRow, FactRow, Finding, Focus, Kind, Severity, focus, shown
from ct_tui.domain.names import label_key, trim
from ct_tui.domain.provenance import names_address, names_turn
from ct_tui.domain.sources import Hashes, Plain, classify, classify_evidence

if TYPE_CHECKING:
    from collections.abc import Container, Iterator

WRITE_TIME_MS = 2000
"""A beginning this close to the writing, in ms, is the writing's own time."""

HAPPENING_TYPES = frozenset(["event", "action", "session_recap"])
"""Types of what happens as it is written down: there the writing time may well be the beginning."""

MS_WRITTEN_FLOOR = 1_000_000_000_000
"""Nothing was written before September 2001; a smaller number in an ms column is seconds (the app's own threshold)."""

MS_WORLD_FLOOR = 10_000_000_000
"""A time in the world may lie before 2001: only what would fall within four months of 1970 is taken for seconds."""

MS_CEILING = 100_000_000_000_000
"""From here on (the year 5138) an ms column holds microseconds or finer."""

S_CEILING = 100_000_000_000
"""From here on (the year 5138) a column of seconds holds milliseconds or finer."""

WORDS = ("certain", "inferred", "tentative")
"""The engine's words for confidence."""

USER_SOURCES = frozenset(["user_stated", "user_confirmed"])
INFERRED_CEILING = 0.7
"""What was read out of something is at most this sure."""

_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?\Z")


def start_is_write_time(fact: FactRow) -> Iterator[Finding]:
    """`fact-start-is-write-time`: valid_from lies within two seconds of created_at."""
    start, written = fact.valid_from, fact.created_at
    if not _is_time(start) or not _is_time(written) or not start or abs(start - written) > WRITE_TIME_MS:
        return
    if _happens(fact.okf_type) or _happens(fact.entity_type):
        return
    message = "it is said to have begun the moment it was written down"
    fix = "give the date when it became true, or 0 where nobody knows"
    yield _finding("fact-start-is-write-time", Severity.WARNING, fact, "valid_from", message, fix)


def window_inverted(fact: FactRow) -> Iterator[Finding]:
    """`fact-window-inverted`: both ends are known and the end comes first."""
    start, end = fact.valid_from, fact.valid_to
    if _is_time(start) and _is_time(end) and start and end and end < start:
        message = f"it ends before it begins (valid_from is {start})"
        fix = "swap the two, or set valid_to to 0 where it is still true"
        yield _finding("fact-window-inverted", Severity.ERROR, fact, "valid_to", message, fix)


def fact_time_units(fact: FactRow) -> Iterator[Finding]:
    """`fact-time-unit` for the four times of a fact, all milliseconds."""
    owner = display(fact.entity_id)
    where = focus(Kind.FACT, fact.id)
    for column, value in (("created_at", fact.created_at), ("updated_at", fact.updated_at)):
        yield from _unit(where, f"llm_wiki_entries.{column}", value, _ms_problem(value), owner)
    for column, value in (("valid_from", fact.valid_from), ("valid_to", fact.valid_to)):
        yield from _unit(where, f"llm_wiki_entries.{column}", value, _ms_problem(value, MS_WORLD_FLOOR), owner)


def edge_time_units(edge: EdgeRow) -> Iterator[Finding]:
    """`fact-time-unit` for an edge's created_at, milliseconds."""
    where, value = focus(Kind.EDGE, edge.id), edge.created_at
    yield from _unit(where, "llm_wiki_edges.created_at", value, _ms_problem(value), display(edge.source_id))


def entity_time_units(entity: EntityRow) -> Iterator[Finding]:
    """`fact-time-unit` for an entity's times, seconds."""
    where = focus(Kind.ENTITY, entity.id)
    for column, value in (("created_at", entity.created_at), ("updated_at", entity.updated_at)):
        yield from _unit(where, f"curated_entities.{column}", value, _seconds_problem(value))


def confidence(fact: FactRow) -> Iterator[Finding]:
    """`fact-confidence`: certain without the user's word for it, or a number that is none between 0 and 1."""
    problem = _confidence_problem(fact.confidence, display(fact.source_type))
    if problem is not None:
        yield _finding("fact-confidence", Severity.WARNING, fact, "confidence", *problem)


@dataclass(frozen=True)
class KnownSources:
    """What a source_ref can lead to: hashes and ids of chunks, indexed paths, refs of the engine's own index."""

    hashes: Container[str] = field(default_factory=frozenset)
    chunk_ids: Container[int] = field(default_factory=frozenset)
    paths: Container[str] = field(default_factory=frozenset)
    engine_refs: Container[str] = field(default_factory=frozenset)


class Provenance:
    """`fact-provenance`: the source_ref names a source, else an error, and it is still there, else a warning."""

    def __init__(self, known: KnownSources) -> None:
        self._known = known

    def __call__(self, fact: FactRow) -> Iterator[Finding]:
        """The finding for one fact, if any."""
        problem = self.problem(fact.source_ref, fact.evidence)
        if problem is not None:
            severity, message, fix = problem
            yield _finding("fact-provenance", severity, fact, "source_ref", message, fix)

    def problem(self, ref: RawText, evidence: RawText) -> tuple[Severity, str, str] | None:
        """What is wrong with a source_ref (`evidence` is what librarian_evidence keeps for its fact), or None."""
        if ref is None or (isinstance(ref, str) and not trim(ref)):
            return (
                Severity.ERROR,
                "it names no source",
                "name the turn or the document it was read from, or withdraw it",
            )
        if not isinstance(ref, str):
            return Severity.ERROR, "the source is not readable text", "write the source as text"
        if not ref.lstrip().startswith("{") and classify(ref) is not Plain.TOKEN:
            return self._named(ref)
        token = classify(ref) is Plain.TOKEN
        if token and evidence is None:
            return (
                Severity.ERROR,
                "the librarian kept no evidence for its token",
                "withdraw it, or let it be read again",
            )
        return self._claimed(evidence if token else ref)

    def _named(self, ref: str) -> tuple[Severity, str, str] | None:
        if names_address(ref) or names_turn(ref) or ref in self._known.paths or ref in self._known.engine_refs:
            return None
        return Severity.WARNING, "no indexed document has this path any more", "point it to where the document is now"

    def _claimed(self, evidence: RawText) -> tuple[Severity, str, str] | None:
        found = classify_evidence(evidence)
        if isinstance(found, Hashes):
            lost = [h for h in found.values if h not in self._known.hashes]
            if not lost:
                return None
            message = f"{len(lost)} of the {len(found.values)} passages it quotes are no longer in any document"
            return Severity.WARNING, message, "look whether the document still says so"
        chunk_ids = _chunk_ids(evidence)
        if not chunk_ids:
            return (
                Severity.ERROR,
                "it claims evidence and names none",
                "name the passage it was read from, or withdraw it",
            )
        if any(i in self._known.chunk_ids for i in chunk_ids):
            message = "it names its passages only by chunk number, which changes when a document is read again"
        else:
            message = "the chunks it names are no longer there"
        return Severity.WARNING, message, "let the librarian anchor it again"


def _chunk_ids(evidence: RawText) -> list[int]:
    try:
        document: Any = parse_json(evidence) if isinstance(evidence, str) else None
    except BadJson:
        return []
    items = document.get("evidence") if isinstance(document, dict) else None
    found = [i.get("chunk_id") for i in items if isinstance(i, dict)] if isinstance(items, list) else []
    return [i for i in found if isinstance(i, int) and not isinstance(i, bool)]


def _confidence_problem(raw: RawText, source: str) -> tuple[str, str] | None:
    if isinstance(raw, str):
        word = raw.strip()
        if word == "certain":
            return _certain_problem(source)
        if word in WORDS:
            return None
        if not _NUMBER.match(word):
            return f"“{word}” is neither a word for confidence nor a number", f"use {', '.join(WORDS)}, or 0 to 1"
        return _number_problem(float(word), source)
    if not isinstance(raw, (int, float)):
        return "the confidence is not readable", f"use {', '.join(WORDS)}, or 0 to 1"
    return _number_problem(raw, source)


def _number_problem(raw: float, source: str) -> tuple[str, str] | None:
    if not 0 <= raw <= 1:
        return "a confidence lies between 0 and 1", "give a number from 0 to 1"
    if raw == 1:
        return _certain_problem(source)
    if "inferred" in source and raw > INFERRED_CEILING:
        return f"what was inferred is at most {INFERRED_CEILING} sure", f"lower it to {INFERRED_CEILING} or less"
    return None


def _certain_problem(source: str) -> tuple[str, str] | None:
    if source in USER_SOURCES:
        return None
    return f"certain is what the user typed or confirmed, and this is {source or 'of no source'}", "make it inferred"


def _ms_problem(value: RawText, floor: int = MS_WRITTEN_FLOOR) -> str | None:
    if value is None or value == 0:
        return None
    if not isinstance(value, (int, float)):
        return "the time is not a number"
    if abs(value) < floor:
        return "this looks like seconds in a column of milliseconds"
    return "this looks finer than the milliseconds of its column" if abs(value) >= MS_CEILING else None


def _seconds_problem(value: RawText) -> str | None:
    if value is None or value == 0:
        return None
    if not isinstance(value, (int, float)):
        return "the time is not a number"
    return "this looks like milliseconds in a column of seconds" if abs(value) >= S_CEILING else None


def _unit(where: Focus, path: str, value: RawText, problem: str | None, owner: str = "") -> Iterator[Finding]:
    if problem is not None:
        fix = _right_unit(path, value)
        yield Finding("fact-time-unit", Severity.WARNING, where, path, shown(value), problem, fix, owner)


def _right_unit(path: str, value: RawText) -> str | None:
    if not isinstance(value, (int, float)):
        return None
    number = int(value)
    if path.startswith("curated_entities."):
        return f"write {number // 1000}"
    return f"write {number // 1000 if abs(number) >= MS_CEILING else number * 1000}"


def _is_time(value: RawText) -> TypeGuard[int | float]:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _happens(kind: RawText) -> bool:
    return isinstance(kind, str) and label_key(kind) in HAPPENING_TYPES


def _finding(rule: str, severity: Severity, fact: FactRow, column: str, message: str, fix: str) -> Finding:
    value, path = _short(getattr(fact, column)), f"llm_wiki_entries.{column}"
    return Finding(rule, severity, focus(Kind.FACT, fact.id), path, value, message, fix, display(fact.entity_id))


def _short(value: RawText, limit: int = 200) -> str | int | float | None:
    text = shown(value)
    return text[:limit] + "…" if isinstance(text, str) and len(text) > limit else text
