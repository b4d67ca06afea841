"""Asserting one fact: names, relation, window, confidence, provenance and conflicts, without a brain."""

from __future__ import annotations

import pytest

from ct_tui.domain.assertions import (
    LIMITS,
    QUESTIONS,
    Existing,
    Found,
    NameRow,
    Question,
    SourceKind,
    Weaker,
    Window,
    choose_relation,
    contradictions,
    day_of,
    fitting,
    honest_confidence,
    kind_of_source,
    look_up,
    make_window,
    parse_when,
    questions_about,
    require_answers,
    require_entity,
)
from ct_tui.domain.edges import Signatures
from ct_tui.domain.errors import BadInput
from ct_tui.domain.manifest import EdgeType, NodeType, Vocabulary
from ct_tui.domain.provenance import Origin, parse_provenance

NOW = 1_790_942_400_000
"""Now in these tests, in ms: 2 October 2026, noon UTC."""

HOUR = 3_600_000
DAY = 24 * HOUR

VOCABULARY = Vocabulary(
    (NodeType("person"), NodeType("place"), NodeType("creativework"), NodeType("handoff", parent_type="creativework")),
    (
        EdgeType("knows", "person", "person"),
        EdgeType("homeLocation", "person", "place"),
        EdgeType("workLocation", "person", "place"),
        EdgeType("author", "creativework", "person"),
        EdgeType("related_to", "person", "place"),
    ),
    "person",
)
SIGNATURES = Signatures(VOCABULARY)

ROWS = (
    NameRow("ent_sara", "Sara", "person", "ent_sara"),
    NameRow("ent_berlin", "Berlin", "place", "ent_berlin"),
    NameRow("ent_as", "Alexander Smith", "person", "ent_as"),
    NameRow("ent_old", "Lexi Smith", "person", "ent_as"),
    NameRow("ent_n1", "Noor", "person", "ent_n1"),
    NameRow("ent_n2", "noor", "person", "ent_n2"),
    NameRow("ent_lost", "Lost", "person", "ent_archived"),
)


def find(entity_id: str) -> NameRow | None:
    return next((r for r in ROWS if r.id == entity_id and r.survivor == entity_id), None)


# Names are resolved before anything is written


def test_an_existing_entity_is_found_by_name_and_by_id() -> None:
    for asked in ("Sara", "sara", " SARA ", "ent_sara"):
        found = look_up(asked, ROWS, find)
        assert (found.found, found.entity.id if found.entity else None) == (Found.ENTITY, "ent_sara")


@pytest.mark.parametrize("asked", ["Lexi Smith", "lexi smith", "ent_old"])
def test_a_merged_away_name_is_an_alias_of_its_survivor(asked: str) -> None:
    found = look_up(asked, ROWS, find)
    assert found.found is Found.ALIAS
    assert found.entity is not None
    assert (found.entity.id, found.entity.name) == ("ent_as", "Alexander Smith")


def test_alex_may_be_alexander_smith_and_is_never_made_by_the_way() -> None:
    found = look_up("Alex", ROWS, find)
    assert (found.found, [m.id for m in found.candidates]) == (Found.NEAR, ["ent_as"])
    with pytest.raises(BadInput) as refused:
        require_entity(found, "subject")
    assert "ent_as" in refused.value.details[0]


def test_two_of_one_name_are_refused_and_both_are_listed() -> None:
    found = look_up("Noor", ROWS, find)
    assert found.found is Found.AMBIGUOUS
    with pytest.raises(BadInput) as refused:
        require_entity(found, "object")
    assert [d.split()[0] for d in refused.value.details] == ["ent_n1", "ent_n2"]


@pytest.mark.parametrize("asked", ["Nobody at all", "Lost", "!!!"])
def test_an_unknown_name_and_one_that_leads_to_an_archived_entity_are_unknown(asked: str) -> None:
    found = look_up(asked, ROWS, find)
    assert (found.found, found.entity, found.candidates) == (Found.UNKNOWN, None, ())
    with pytest.raises(BadInput):
        require_entity(found, "subject")


def test_near_names_are_listed_beside_the_one_that_was_found() -> None:
    rows = (*ROWS, NameRow("ent_sarah", "Sarah", "person", "ent_sarah"))
    found = look_up("Sara", rows, lambda i: next((r for r in rows if r.id == i), None))
    assert found.found is Found.ENTITY
    assert [m.id for m in found.candidates] == ["ent_sarah"]


def test_a_name_that_thousands_contain_lists_the_likeliest_ten() -> None:
    rows = [NameRow(f"ent_{i}", f"Project Number {i}", "project", f"ent_{i}") for i in range(5000)]
    assert len(look_up("Project", rows, lambda _: None).candidates) == 10


# The relation comes from the closed vocabulary


def test_the_relations_that_fit_are_offered_and_related_to_is_not() -> None:
    assert [r.name for r in fitting(SIGNATURES, "person", "place")] == ["homeLocation", "workLocation"]
    assert [(r.name, r.by_parent) for r in fitting(SIGNATURES, "handoff", "person")] == [("author", True)]
    assert fitting(SIGNATURES, "place", "place") == ()


@pytest.mark.parametrize("asked", ["homeLocation", "HOMELOCATION", " homelocation "])
def test_a_fitting_relation_gets_its_declared_spelling(asked: str) -> None:
    assert choose_relation(asked, SIGNATURES, "person", "place") == "homeLocation"


@pytest.mark.parametrize("asked", ["related_to", "relatedTo", "relates", "Related To"])
def test_related_to_is_refused_even_where_it_is_declared(asked: str) -> None:
    with pytest.raises(BadInput) as refused:
        choose_relation(asked, SIGNATURES, "person", "place")
    assert "homeLocation, workLocation" in refused.value.remedy


def test_a_relation_is_never_invented() -> None:
    with pytest.raises(BadInput) as refused:
        choose_relation("home_location", SIGNATURES, "person", "place")
    assert "did you mean homeLocation" in refused.value.message
    with pytest.raises(BadInput):
        choose_relation("lives_in", SIGNATURES, "person", "place")
    with pytest.raises(BadInput):
        choose_relation("knows", Signatures(Vocabulary()), "person", "person")


def test_a_relation_whose_signature_does_not_fit_is_refused_with_those_that_do() -> None:
    with pytest.raises(BadInput) as refused:
        choose_relation("knows", SIGNATURES, "person", "place")
    assert "homeLocation" in refused.value.remedy
    with pytest.raises(BadInput) as turned:
        choose_relation("homeLocation", SIGNATURES, "place", "person")
    assert "the other way round" in turned.value.message


# A window and not a moment


def test_no_beginning_is_an_unknown_one_and_never_now() -> None:
    assert make_window(None, None, NOW) == Window(0, 0)
    assert make_window("", "still true", NOW) == Window(0, 0)
    assert make_window("unknown", "0", NOW) == Window(0, 0)


@pytest.mark.parametrize(
    ("text", "day"),
    [("2023", "2023-01-01"), ("2023-05", "2023-05-01"), ("2023-05-17", "2023-05-17"), ("1955-11-05", "1955-11-05")],
)
def test_dates_are_read_in_utc(text: str, day: str) -> None:
    assert day_of(parse_when(text, NOW)) == day
    assert parse_when(text, NOW) % DAY == 0


def test_a_minute_is_read_as_well() -> None:
    assert parse_when("2023-05-17T10:30", NOW) == parse_when("2023-05-17", NOW) + 10 * HOUR + 1_800_000
    assert parse_when("2023-05-17 10:30:00Z", NOW) == parse_when("2023-05-17T10:30", NOW)


@pytest.mark.parametrize(
    "text", ["yesterday", "17.05.2023", "2023-13", "2023-02-30", "23", "1970-01-01", "1e9", "1759276800", "2023-5-1"]
)
def test_what_is_no_date_is_refused(text: str) -> None:
    with pytest.raises(BadInput):
        parse_when(text, NOW)


def test_moved_to_berlin_in_2023_cannot_begin_now_by_accident() -> None:
    said = "moved to Berlin in 2023"
    # Nothing given: the beginning stays unknown.
    assert questions_about(make_window(None, None, NOW), said, NOW) == ()
    # Now given, in whatever way: two questions stand before it, and neither answers the other.
    for typed in ("now", "today", "2026-10-02", "2026-10-03", "2026-10-01", "2026-10-02T11:59"):
        asked = questions_about(make_window(typed, None, NOW), said, NOW)
        assert asked == (Question.START_IS_NOW, Question.YEAR_DIFFERS)
        for answered in ((), ("start-is-now",), ("year-differs",)):
            with pytest.raises(BadInput):
                require_answers(asked, answered)
        require_answers(asked, ("start-is-now", "year-differs"))
    assert questions_about(make_window("2023", None, NOW), said, NOW) == ()


def test_a_beginning_that_is_now_is_questioned_without_a_statement_too() -> None:
    assert questions_about(Window(NOW), "", NOW) == (Question.START_IS_NOW,)
    assert questions_about(Window(NOW - 37 * HOUR), "", NOW) == ()
    assert questions_about(Window(NOW + 90 * DAY), "", NOW) == (Question.START_IN_FUTURE,)
    assert set(QUESTIONS) == set(Question)


def test_years_in_a_statement_are_years_only() -> None:
    window = make_window("2023-05", None, NOW)
    assert questions_about(window, "in May 2023 she moved", NOW) == ()
    assert questions_about(window, "since 2019 or 2023", NOW) == ()
    assert questions_about(window, "flat 2019", NOW) == (Question.YEAR_DIFFERS,)
    assert questions_about(window, "room 20190, 3.2019, v1-2019", NOW) == ()


def test_a_window_ends_after_it_begins() -> None:
    assert make_window("2020", "2023", NOW).end == parse_when("2023", NOW)
    for end in ("2019", "2020", "2020-01-01"):
        with pytest.raises(BadInput):
            make_window("2020", end, NOW)
    assert make_window(None, "2019", NOW).start == 0


@pytest.mark.parametrize(
    ("one", "other", "overlap"),
    [
        ((0, 0), (0, 0), True),
        ((5, 0), (0, 5), False),
        ((5, 0), (0, 6), True),
        ((5, 9), (9, 0), False),
        ((5, 9), (8, 0), True),
        ((5, 9), (0, 0), True),
        ((5, 9), (1, 4), False),
    ],
)
def test_open_ends_reach_as_far_as_they_may(one: tuple[int, int], other: tuple[int, int], overlap: bool) -> None:
    assert Window(*one).overlaps(Window(*other)) is overlap
    assert Window(*other).overlaps(Window(*one)) is overlap


# Honest confidence and provenance


@pytest.mark.parametrize(
    ("text", "origin"),
    [
        ("imessage:turn-4812", Origin.TURN),
        ("slack-eng:C012/1690000000.000100", Origin.TURN),
        ("iMessage:turn-1", Origin.TURN),
        ("c:1", Origin.TURN),
        ("sms:+15550100/7", Origin.TURN),
        ("email:<abc@example.org>", Origin.TURN),
        ("https://example.org/people/sara", Origin.WEB),
        ("http://archive.example.org/x?y=1#z", Origin.WEB),
    ],
)
def test_a_turn_or_a_stable_address_is_a_provenance(text: str, origin: Origin) -> None:
    assert parse_provenance(text).origin is origin


@pytest.mark.parametrize(
    "text",
    [
        "", "  ", "imessage", "imessage:", ":turn-1", "imessage::1", "imessage: turn-1", "imessage:turn 1",
        "C:\\notes.md", "c:/notes.md", "FILE:x", "notes.md", "documents/notes.md", "file:///etc/passwd", "file:x", "javascript:alert",
        "mailto:sara@example.org", "https://", "https://localhost/x", "http://127.0.0.1/x", "http://192.168.1.4/x",
        "https://intranet/x", "https://user:secret@example.org/x", "https://exa mple.org", "https://[::1]/x", "https://[x",
        "imessage:turn-1\n", "imessage:\x1b[31m", "imessage:\u202eturn",
    ],
)  # fmt: skip
def test_anything_else_is_no_provenance(text: str) -> None:
    with pytest.raises(BadInput):
        parse_provenance(text)


def test_every_kind_of_source_has_the_guides_confidence() -> None:
    assert {k.value: LIMITS[k].usual for k in SourceKind} == {
        "user_stated": 1.0,
        "user_confirmed": 0.9,
        "conversation": 0.7,
        "inferred": 0.7,
        "web": 0.5,
    }
    assert honest_confidence(SourceKind.WEB, None) == 0.5
    assert honest_confidence(SourceKind.CONVERSATION, 0.9) == 0.9


@pytest.mark.parametrize("kind", [k for k in SourceKind if k is not SourceKind.USER_STATED])
def test_only_what_the_user_typed_is_certain(kind: SourceKind) -> None:
    with pytest.raises(BadInput):
        honest_confidence(kind, 1.0)
    assert honest_confidence(SourceKind.USER_STATED, 1.0) == 1.0


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        (SourceKind.INFERRED, 0.71),
        (SourceKind.WEB, 0.8),
        (SourceKind.USER_STATED, 1.01),
        (SourceKind.USER_STATED, 0.0),
        (SourceKind.USER_STATED, -1.0),
        (SourceKind.USER_STATED, float("nan")),
        (SourceKind.USER_STATED, float("inf")),
    ],
)
def test_a_confidence_beyond_its_kind_is_refused(kind: SourceKind, value: float) -> None:
    with pytest.raises(BadInput):
        honest_confidence(kind, value)


def test_the_kind_follows_the_provenance_unless_it_is_said() -> None:
    turn, web = parse_provenance("imessage:turn-1"), parse_provenance("https://example.org/x")
    assert kind_of_source(turn, None) is SourceKind.CONVERSATION
    assert kind_of_source(web, None) is SourceKind.WEB
    assert kind_of_source(turn, "user_stated") is SourceKind.USER_STATED
    for wrong in ("user_stated", "conversation", "hearsay"):
        with pytest.raises(BadInput):
            kind_of_source(web, wrong)


# Conflicts


def existing(object_id: str = "ent_rome", confidence: float | None = 0.8, window: Window | None = None) -> Existing:
    return Existing("edge_1", "homeLocation", object_id, "Rome", window or Window(), confidence)


@pytest.mark.parametrize(
    ("mine", "theirs", "weaker"),
    [
        (0.9, 0.8, Weaker.EXISTING),
        (0.5, 0.8, Weaker.NEW),
        (0.8, 0.8, Weaker.NEITHER),
        (0.9, None, Weaker.EXISTING),
        (0.7, None, Weaker.EXISTING),
        (0.5, None, Weaker.NEW),
    ],
)
def test_the_weaker_of_two_is_named(mine: float, theirs: float | None, weaker: Weaker) -> None:
    (found,) = contradictions("ent_berlin", Window(), mine, [existing(confidence=theirs)])
    assert found.weaker is weaker
    assert "Rome" in found.sentence(mine)
    assert (f"{theirs:g}" if theirs is not None else "no recorded confidence") in found.sentence(mine)


def test_another_time_or_the_same_object_is_no_conflict() -> None:
    then = Window(parse_when("2010", NOW), parse_when("2015", NOW))
    now = Window(parse_when("2023", NOW))
    assert contradictions("ent_berlin", now, 0.9, [existing(window=then)]) == ()
    assert contradictions("ent_rome", now, 0.9, [existing()]) == ()
