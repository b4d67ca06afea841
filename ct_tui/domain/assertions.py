"""Asserting one fact the guide's way: one subject, one declared relation, one object, a window, honest confidence.

Invariants: an unknown beginning is 0 and never "now"; a beginning that is now, or that contradicts the year in the
statement, is a question that has to be answered; nothing is written while a question is open. Times are ms, UTC.
"""

from __future__ import annotations

import calendar
import datetime as dt
import re
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any, NamedTuple

from ct_tui.domain.edges import EdgeState
from ct_tui.domain.errors import BadInput
from ct_tui.domain.lint.edges import is_related_to, nearest_relations
from ct_tui.domain.names import merge_key, trim
from ct_tui.domain.near import SCORES, shape, why_near
from ct_tui.domain.provenance import Origin, Provenance

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

    from ct_tui.domain.edges import Signatures
    from ct_tui.domain.near import Shape

NEAR_NOW_MS = 36 * 3600 * 1000
"""A beginning this close to now, in ms, is asked about: it may be when it was learned, not when it became true."""

NEAR_LIMIT = 10
"""So many near names are listed at most."""

CONTAINS_SCORE = 0.4
UNRECORDED_CEILING = 0.7
"""An edge without recorded confidence was read out of something, so it counts as at most this sure."""


# Names


class Found(StrEnum):
    """What looking a name up gave."""

    ENTITY = "entity"
    ALIAS = "alias"
    AMBIGUOUS = "ambiguous"
    NEAR = "near"
    UNKNOWN = "unknown"


class NameRow(NamedTuple):
    """An entity as looked up; `survivor` is its own id, or where it was merged to."""

    id: str
    name: str
    type: str
    survivor: str


@dataclass(frozen=True)
class Match:
    """An entity that a name may mean, with the reason; `score` from 0 to 1."""

    id: str
    name: str
    type: str
    why: str
    score: float = 1.0

    def as_json(self) -> dict[str, Any]:
        """The match as the command line prints it."""
        return {"id": self.id, "name": self.name, "type": self.type, "why": self.why, "score": round(self.score, 3)}


@dataclass(frozen=True)
class Lookup:
    """What a name means in a brain: one entity, or the candidates to choose from; near ones are listed in any case."""

    asked: str
    found: Found
    entity: Match | None = None
    candidates: tuple[Match, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """The lookup as the command line prints it."""
        return {
            "asked": self.asked,
            "found": self.found.value,
            "entity": self.entity.as_json() if self.entity else None,
            "candidates": [m.as_json() for m in self.candidates],
        }


def look_up(asked: str, rows: Iterable[NameRow], find: Callable[[str], NameRow | None]) -> Lookup:
    """What `asked` (a name or an id) means among live entities and merged-away ones; one pass over the names.

    `find` gives the live entity with an id, which is asked for the survivors of merged-away ones.
    """
    wanted, key = shape(asked), merge_key(asked)
    by_id: dict[str, str] = {}
    by_name: dict[str, str] = {}
    near: list[Match] = []
    for row in rows:
        via = "" if row.survivor == row.id else " of an entity merged into it"
        if row.id == asked:
            by_id[row.survivor] = f"the id{via}"
        elif row.name == asked or (key and merge_key(row.name) == key):
            by_name.setdefault(row.survivor, f"the name{via}")
        elif not via and (found := _near(wanted, row)) is not None:
            near.append(found)
            if len(near) > _CROWD:
                near = _likeliest(near)
    return _verdict(asked, by_id or by_name, _likeliest(near), find)


_CROWD = 2000


def _near(wanted: Shape, row: NameRow) -> Match | None:
    other = shape(row.name)
    reason = why_near(wanted, other)
    if reason is not None:
        return Match(row.id, row.name, row.type, reason.value, SCORES[reason])
    if wanted.words and len(wanted.words) < len(other.words) and _contains(other.words, wanted.words):
        return Match(row.id, row.name, row.type, "its name contains this one", CONTAINS_SCORE)
    return None


def _contains(words: Sequence[str], part: Sequence[str]) -> bool:
    size = len(part)
    return any(tuple(words[at : at + size]) == tuple(part) for at in range(len(words) - size + 1))


def _likeliest(near: list[Match]) -> list[Match]:
    return sorted(near, key=lambda m: (-m.score, m.name, m.id))[:NEAR_LIMIT]


def _verdict(
    asked: str, hits: Mapping[str, str], near: Sequence[Match], find: Callable[[str], NameRow | None]
) -> Lookup:
    # A merged-away entity's survivor is shown by its own name; one that is archived leads nowhere.
    alive = [Match(row.id, row.name, row.type, why) for i, why in hits.items() if (row := find(i)) is not None]
    others = tuple(m for m in near if m.id not in hits)
    if len(alive) > 1:
        return Lookup(asked, Found.AMBIGUOUS, None, (*alive, *others))
    if alive:
        match = alive[0]
        direct = match.id == asked or merge_key(match.name) == merge_key(asked)
        return Lookup(asked, Found.ENTITY if direct else Found.ALIAS, match, others)
    return Lookup(asked, Found.NEAR if others else Found.UNKNOWN, None, others)


def require_entity(lookup: Lookup, role: str) -> Match:
    """The one entity that a lookup found; raises BadInput that lists the candidates otherwise."""
    if lookup.entity is not None:
        return lookup.entity
    lines = tuple(f"{m.id}  {m.name} [{m.type}]: {m.why}" for m in lookup.candidates)
    if lookup.found is Found.AMBIGUOUS:
        raise BadInput(f"the {role} {lookup.asked!r} may be several entities", "name one by its id", lines)
    if lookup.found is Found.NEAR:
        remedy = f"name the one you mean by its id, or say that it is a new entity: --new-{role} TYPE"
        raise BadInput(f"no entity is called {lookup.asked!r}, but the {role} may be one of these", remedy, lines)
    raise BadInput(f"no entity is called {lookup.asked!r}", f"if it is a new entity, say so: --new-{role} TYPE")


# Relations


@dataclass(frozen=True)
class Relation:
    """A declared relation that fits two types; `by_parent` where a type's parent satisfies the signature."""

    name: str
    by_parent: bool = False


def fitting(signatures: Signatures, source: str, target: str) -> tuple[Relation, ...]:
    """The relations whose signature fits two types, exact ones first."""
    states = ((name, signatures.judge(name, source, target)) for name in signatures.edge_names)
    found = [Relation(name, state is EdgeState.PARENT) for name, state in states if state.conforms]
    return tuple(sorted((r for r in found if not is_related_to(r.name)), key=lambda r: r.by_parent))


def choose_relation(asked: str, signatures: Signatures, source: str, target: str) -> str:
    """The declared spelling of a relation that fits; raises BadInput with the ones that do."""
    fits = tuple(r.name for r in fitting(signatures, source, target))
    remedy = _fitting_text(fits, source, target)
    if is_related_to(asked):
        raise BadInput(f"{asked!r} only says that the two have to do with each other, so it is never written", remedy)
    spelled = signatures.spelling(asked)
    if spelled is None:
        close = nearest_relations(asked, signatures.edge_names)
        meant = f"; did you mean {', '.join(close)}?" if close else ""
        raise BadInput(f"{asked!r} is not a declared relation, and none is invented{meant}", remedy)
    state = signatures.judge(spelled, source, target)
    if state.conforms or (state is EdgeState.UNDETERMINED and source and target):
        return spelled
    turned = " (it fits the other way round)" if signatures.conforms(spelled, target, source) else ""
    raise BadInput(f"{spelled} does not lead from {source or 'no type'} to {target or 'no type'}{turned}", remedy)


def _fitting_text(fits: Sequence[str], source: str, target: str) -> str:
    if fits:
        return f"from {source} to {target} fit: {', '.join(fits)}"
    return f"no declared relation leads from {source or 'no type'} to {target or 'no type'}, so nothing is written"


# Time


@dataclass(frozen=True)
class Window:
    """When it was true, in ms; 0 is "unknown" for the beginning and "still true" for the end."""

    start: int = 0
    end: int = 0

    def overlaps(self, other: Window) -> bool:
        """Whether both can have been true at one moment; an unknown beginning reaches back as far as it may."""
        return (not self.end or not other.start or other.start < self.end) and (
            not other.end or not self.start or self.start < other.end
        )

    def as_json(self) -> dict[str, int]:
        """The window as the command line prints it."""
        return {"from": self.start, "to": self.end}

    def __str__(self) -> str:
        start = f"since {day_of(self.start)}" if self.start else "since an unknown day"
        return f"{start}, until {day_of(self.end)}" if self.end else f"{start}, still true"


_DATE = re.compile(r"(-?\d{4})(?:-(\d{2})(?:-(\d{2})(?:[T ](\d{2}):(\d{2})(?::(\d{2}))?(Z|\+00:00)?)?)?)?\Z")
_NOW_WORDS = frozenset(["now", "today"])
_OPEN_WORDS = frozenset(["", "0", "unknown", "open", "still true", "-"])


def parse_when(text: str | None, now_ms: int) -> int:
    """A date as ms since 1970 in UTC: a year, a month, a day or a minute; nothing, `0` and `unknown` are 0.

    `now` and `today` mean what they say and only because somebody wrote them. Raises BadInput for anything else.
    """
    word = trim(text or "").lower()
    if word in _OPEN_WORDS:
        return 0
    if word in _NOW_WORDS:
        return now_ms if word == "now" else now_ms - now_ms % 86_400_000
    found = _DATE.match(trim(text or "").upper())
    if found is None:
        raise BadInput(f"{text!r} is not a date", "write it as 2023, 2023-05, 2023-05-17 or 2023-05-17T10:30")
    year, month, day, hour, minute, second = (int(g) if g else d for g, d in zip(found.groups(), _FIRST, strict=False))
    try:
        moment = dt.datetime(year, month, day, hour, minute, second, tzinfo=dt.UTC)
    except ValueError as error:
        raise BadInput(f"{text!r} is not a date: {error}", "write it as 2023-05-17") from error
    ms = calendar.timegm(moment.utctimetuple()) * 1000
    if ms == 0:
        raise BadInput("1970-01-01 is how an unknown day is stored", "give the day after, or leave it unknown")
    return ms


_FIRST = (0, 1, 1, 0, 0, 0)


def day_of(ms: int) -> str:
    """The day of a time in ms, in UTC."""
    return (dt.datetime(1970, 1, 1, tzinfo=dt.UTC) + dt.timedelta(milliseconds=ms)).date().isoformat()


class Question(StrEnum):
    """What has to be answered with yes before an assertion is written; the values are how it is answered."""

    START_IS_NOW = "start-is-now"
    START_IN_FUTURE = "start-in-future"
    YEAR_DIFFERS = "year-differs"


QUESTIONS: dict[Question, str] = {
    Question.START_IS_NOW: "it would begin now: did it become true today, or did you only learn of it today?",
    Question.START_IN_FUTURE: "it would begin in the future: is that what you mean?",
    Question.YEAR_DIFFERS: "the statement names another year than the one it would begin in: is the beginning right?",
}

_YEAR = re.compile(r"(?<![\d.-])(1[5-9]\d\d|20\d\d)(?![\d])")


def make_window(start: str | None, end: str | None, now_ms: int) -> Window:
    """The window of two dates; raises BadInput where it ends before it begins. No beginning given is an unknown one."""
    window = Window(parse_when(start, now_ms), parse_when(end, now_ms))
    if window.start and window.end and window.end <= window.start:
        raise BadInput(
            f"it would end on {day_of(window.end)}, and begin on {day_of(window.start)}",
            "a window ends after it begins",
        )
    return window


def questions_about(window: Window, statement: str, now_ms: int) -> tuple[Question, ...]:
    """What to ask about a beginning before it is believed."""
    found: list[Question] = []
    if window.start and abs(window.start - now_ms) <= NEAR_NOW_MS:
        found.append(Question.START_IS_NOW)
    elif window.start > now_ms:
        found.append(Question.START_IN_FUTURE)
    years = set(_YEAR.findall(statement))
    if window.start and years and day_of(window.start)[:4] not in years:
        found.append(Question.YEAR_DIFFERS)
    return tuple(found)


# Confidence


class SourceKind(StrEnum):
    """How it is known."""

    USER_STATED = "user_stated"
    USER_CONFIRMED = "user_confirmed"
    CONVERSATION = "conversation"
    INFERRED = "inferred"
    WEB = "web"


class Limits(NamedTuple):
    """The usual and the highest confidence of a kind of source."""

    usual: float
    highest: float
    meaning: str


LIMITS: dict[SourceKind, Limits] = {
    SourceKind.USER_STATED: Limits(1.0, 1.0, "typed by the user, word for word"),
    SourceKind.USER_CONFIRMED: Limits(0.9, 0.99, "confirmed by the user in other words"),
    SourceKind.CONVERSATION: Limits(0.7, 0.99, "read in a turn of a conversation"),
    SourceKind.INFERRED: Limits(0.7, 0.7, "inferred from what was read"),
    SourceKind.WEB: Limits(0.5, 0.7, "found on the open web"),
}


def kind_of_source(provenance: Provenance, asked: str | None) -> SourceKind:
    """The kind of source: as asked, else a web address is the web and a turn a conversation; raises BadInput."""
    if asked is None:
        return SourceKind.WEB if provenance.origin is Origin.WEB else SourceKind.CONVERSATION
    try:
        kind = SourceKind(asked)
    except ValueError as error:
        kinds = ", ".join(f"{k.value} ({LIMITS[k].meaning})" for k in SourceKind)
        raise BadInput(f"{asked!r} is no kind of source", f"kinds: {kinds}") from error
    if provenance.origin is Origin.WEB and kind in {SourceKind.USER_STATED, SourceKind.CONVERSATION}:
        raise BadInput(f"a web address is no source for {kind.value}", "name the turn as <channel>:<turn-id>")
    return kind


def honest_confidence(kind: SourceKind, asked: float | None) -> float:
    """The confidence: as asked within what the kind allows, else the kind's usual one; raises BadInput."""
    limits = LIMITS[kind]
    if asked is None:
        return limits.usual
    if not 0 < asked <= 1:
        raise BadInput(f"{asked:g} is no confidence", "give a number above 0 and up to 1")
    if asked > limits.highest:
        top = (
            "1.0 is only for what the user typed word for word"
            if asked == 1
            else f"{kind.value} goes up to {limits.highest:g}"
        )
        raise BadInput(f"{asked:g} is too sure for what was {limits.meaning}: {top}", f"usual is {limits.usual:g}")
    return asked


# Conflicts


@dataclass(frozen=True)
class Existing:
    """An assertion that stands in the brain; `confidence` None where none was ever recorded."""

    edge: str
    relation: str
    object_id: str
    object_name: str
    window: Window = field(default_factory=Window)
    confidence: float | None = None
    provenance: str = ""
    recorded: bool = False
    flagged_by: str | None = None

    @property
    def counted(self) -> float:
        """The confidence it is weighed with."""
        return UNRECORDED_CEILING if self.confidence is None else self.confidence


class Weaker(StrEnum):
    """Which of two contradicting assertions is less sure."""

    NEW = "new"
    EXISTING = "existing"
    NEITHER = "neither"


@dataclass(frozen=True)
class Contradiction:
    """The same subject and relation at one time with another object; the weaker is flagged, never dropped."""

    existing: Existing
    weaker: Weaker

    def as_json(self) -> dict[str, Any]:
        """The conflict as the command line prints it."""
        e = self.existing
        return {
            "edge": e.edge,
            "relation": e.relation,
            "object": {"id": e.object_id, "name": e.object_name},
            **e.window.as_json(),
            "confidence": e.confidence,
            "provenance": e.provenance or None,
            "weaker": self.weaker.value,
        }

    def sentence(self, confidence: float) -> str:
        """The conflict for a person, with both confidences."""
        e = self.existing
        theirs = "no recorded confidence" if e.confidence is None else f"confidence {e.confidence:g}"
        told = {Weaker.NEW: "this one", Weaker.EXISTING: "that one", Weaker.NEITHER: "neither"}[self.weaker]
        stands = f"{e.relation} {e.object_name} ({e.window}, {theirs}) stands against {confidence:g}"
        return f"{stands}: {told} is flagged as weaker"


def contradictions(
    object_id: str, window: Window, confidence: float, existing: Iterable[Existing]
) -> tuple[Contradiction, ...]:
    """The existing assertions of this subject and relation that a new one contradicts."""
    found = (e for e in existing if e.object_id != object_id and e.window.overlaps(window))
    return tuple(Contradiction(e, _weaker(confidence, e)) for e in found)


def _weaker(confidence: float, existing: Existing) -> Weaker:
    if confidence == existing.counted and existing.confidence is not None:
        return Weaker.NEITHER
    # What was recorded at all outweighs an equal guess.
    return Weaker.NEW if confidence < existing.counted else Weaker.EXISTING


# The whole


@dataclass(frozen=True)
class End:
    """One end of an assertion: an entity there is, or a new one that the gate would let in as `type`."""

    id: str | None
    name: str
    type: str
    how: str
    label: str | None = None

    @property
    def is_new(self) -> bool:
        """Whether it is to be minted."""
        return self.id is None

    def as_json(self) -> dict[str, Any]:
        """The end as the command line prints it."""
        return {"id": self.id, "name": self.name, "type": self.type, "how": self.how}


@dataclass(frozen=True)
class Assertion:
    """One assertion as it would be written, with everything that a person should see before."""

    subject: End
    relation: str
    object: End
    window: Window
    confidence: float
    kind: SourceKind
    provenance: str
    statement: str = ""
    questions: tuple[Question, ...] = ()
    conflicts: tuple[Contradiction, ...] = ()
    near: tuple[Match, ...] = ()
    exists: Existing | None = None

    def as_json(self) -> dict[str, Any]:
        """The assertion as the command line prints it."""
        return {
            "subject": self.subject.as_json(),
            "relation": self.relation,
            "object": self.object.as_json(),
            **self.window.as_json(),
            "confidence": self.confidence,
            "kind": self.kind.value,
            "provenance": self.provenance,
            "questions": [{"answer": q.value, "question": QUESTIONS[q]} for q in self.questions],
            "conflicts": [c.as_json() for c in self.conflicts],
            "near": [m.as_json() for m in self.near],
            "exists": self.exists.edge if self.exists else None,
        }


def require_answers(questions: Collection[Question], answered: Collection[str]) -> None:
    """Raise BadInput while a question about the beginning has not been answered with yes."""
    open_ones = [q for q in questions if q.value not in answered]
    if open_ones:
        ways = ", ".join(q.value for q in open_ones)
        remedy = f"give the day it became true, leave the beginning unknown, or answer yes with: {ways}"
        raise BadInput(QUESTIONS[open_ones[0]], remedy, tuple(QUESTIONS[q] for q in open_ones[1:]))


def refuse_same(subject: End, target: End) -> None:
    """Raise BadInput for an edge from an entity to itself or to one of its own name, which the app drops."""
    if subject.id is not None and subject.id == target.id:
        raise BadInput(f"{subject.name!r} cannot be the object of its own assertion")
    if trim(subject.name) == trim(target.name):
        raise BadInput(
            f"both ends are called {subject.name!r}, and the app drops such edges", "settle the duplicate first"
        )
