"""The rules on names, types, edges and rulings, and how their findings are weighed."""

from __future__ import annotations

import datetime as dt
import json
from pathlib import Path

import pytest

from ct_tui.domain.apart import Apart, kept_apart
from ct_tui.domain.lint.edges import EdgeVocabulary, edge_related_to, edge_type_undeclared
from ct_tui.domain.lint.model import EdgeRow, EntityRow, Finding, Focus, Kind, Severity
from ct_tui.domain.lint.names import (
    SharedKeys,
    invisible_in,
    mixed_word,
    name_duplicates,
    name_look_alike,
    name_near,
    signs_in,
)
from ct_tui.domain.lint.registry import BY_ID, RULES
from ct_tui.domain.lint.report import Exceptions, Gatherer, finding_items, rule_failed
from ct_tui.domain.lint.rulings import dead_rulings
from ct_tui.domain.lint.types import fallback_undeclared, type_look_alike, type_variant
from ct_tui.domain.manifest import EdgeType, Manifests, NodeType, Vocabulary, read_manifest_row
from ct_tui.domain.near import Named, NearPair, Reason
from ct_tui.domain.rulings import Alias, Body, Dead, Entry, Except, Ruling, RulingTable, State, in_force

VOCABULARY = Vocabulary(
    (NodeType("person"), NodeType("place"), NodeType("résumé")),
    (EdgeType("knows", "person", "person"), EdgeType("homeLocation", "person", "place")),
    "person",
)
TODAY = dt.date(2026, 10, 3)


def entity(entity_id: str, name: str, kind: str = "person") -> EntityRow:
    return EntityRow(entity_id, name, kind, 1, 1)


def table(*bodies: Body) -> RulingTable:
    moment = dt.datetime(2026, 10, 3, tzinfo=dt.UTC)
    rulings = [Ruling(seq, body, "a reason", "curator@example.org", moment) for seq, body in enumerate(bodies, 1)]
    return RulingTable(tuple(Entry(r.seq, r.kind.value, State.VALID, ruling=r) for r in rulings))


# Names


def test_every_entity_of_a_shared_name_is_found_and_names_the_others() -> None:
    group = [entity("ent_a", "Adrian"), entity("ent_b", "adrian"), entity("ent_c", "ADRIAN!")]
    found = list(name_duplicates(group))
    assert [f.focus.id for f in found] == ["ent_a", "ent_b", "ent_c"]
    assert "ent_b, ent_c" in found[0].message
    assert {(f.rule, f.severity) for f in found} == {("name-duplicate", Severity.WARNING)}


def test_names_that_a_ruling_keeps_apart_are_no_doubles() -> None:
    group = [entity("ent_a", "Adrian"), entity("ent_b", "Adrian"), entity("ent_c", "Adrian")]
    apart = Apart([("ent_a", "ent_b"), ("ent_c", "ent_a")])
    assert [f.focus.id for f in name_duplicates(group, apart)] == ["ent_b", "ent_c"]


def test_a_name_of_thousands_is_told_in_a_sentence() -> None:
    group = [entity(f"ent_{i:05}", "Adrian") for i in range(3000)]
    found = list(name_duplicates(group))
    assert len(found) == 3000
    assert found[0].message.endswith("ent_00005 and 2994 more")


def test_an_empty_key_is_shared_by_nobody() -> None:
    keys = SharedKeys(10)
    for name in ("!!!", "???", "…"):
        keys.see(name)
    assert [keys.key_of(n) for n in ("!!!", "???", "…")] == [None] * 3


@pytest.mark.parametrize(
    "name", ["Adrian\u200b", "\u202eAdrian", "Adrian\u00ad", "A\x1bdrian", "Adr\x00ian", "\ufeffAdrian", "A\u2060B"]
)
def test_characters_that_nobody_sees_are_found(name: str) -> None:
    assert invisible_in(name)
    assert signs_in(name)


@pytest.mark.parametrize("name", ["Adrian", "👨‍👩‍👧 family", "می‌خواهم", "क्‍ष", "日本語", "Café", "❤️"])
def test_joiners_that_a_script_needs_are_left_alone(name: str) -> None:
    assert not invisible_in(name)


@pytest.mark.parametrize("name", ["Аdrian", "Adriаn", "Мaria Lopez", "pаypal.com", "Ρaul"])
def test_a_foreign_letter_among_latin_ones_is_found(name: str) -> None:
    assert mixed_word(name) is not None


@pytest.mark.parametrize("name", ["Адриан", "ΔT", "Αθήνα", "X線", "β-carotene", "Łódź", "Straße", "Мария Lopez"])
def test_words_of_one_alphabet_are_left_alone(name: str) -> None:
    assert mixed_word(name) is None


def test_two_encodings_of_one_name_and_look_alike_letters_are_twins() -> None:
    composed, decomposed = "Zoë", "Zoe\u0308"
    latin, cyrillic = "Adrian", "Аdrian"
    groups = [
        [entity("ent_1", composed), entity("ent_2", decomposed)],
        [entity("ent_3", latin), entity("ent_4", cyrillic)],
        [entity("ent_5", "Elena"), entity("ent_6", "elena")],
    ]
    found = list(name_look_alike(groups, [entity("ent_4", cyrillic)]))
    assert [f.focus.id for f in found] == ["ent_4", "ent_2"]
    assert "looks like “Adrian”" in found[0].message
    assert "mixes Latin letters" in found[0].message
    assert {(f.rule, f.severity) for f in found} == {("name-look-alike", Severity.WARNING)}


def test_near_names_give_one_finding_an_entity() -> None:
    one, other, third = (Named(i, n, "person") for i, n in (("a", "Alex"), ("b", "Alex Smith"), ("c", "Alex Jones")))
    rows = {n.id: entity(n.id, n.name) for n in (one, other, third)}
    pairs = [NearPair(one, other, Reason.SHORT), NearPair(one, third, Reason.SHORT)]
    found = list(name_near(pairs, rows))
    assert [f.focus.id for f in found] == ["a", "b", "c"]
    assert "“Alex Smith” (b), “Alex Jones” (c)" in found[0].message
    assert {(f.rule, f.severity) for f in found} == {("name-near", Severity.INFO)}
    assert not list(name_near(pairs[:1], rows, Apart([("a", "b")])))


# Types


def test_other_spellings_of_a_type_are_variants() -> None:
    counts = (
        ("person", 5),
        ("Person", 2),
        (" person ", 1),
        ("Agent", 1),
        ("agent", 7),
        ("place", 3),
        ("", 4),
        (b"\xff", 1),
    )
    found = list(type_variant(counts, VOCABULARY))
    assert [f.value for f in found] == ["Person", " person ", "Agent"]
    assert {(f.rule, f.severity, f.focus.kind) for f in found} == {("type-variant", Severity.WARNING, Kind.TYPE)}


def test_types_that_only_look_alike_are_found() -> None:
    counts = (
        ("person", 5),
        ("pеrson", 1),
        ("re\u0301sume\u0301", 2),
        ("agent", 3),
        ("аgent", 1),
        ("job", 1),
        ("job\u200b", 1),
    )
    found = {f.value: f.message for f in type_look_alike(counts, VOCABULARY)}
    assert set(found) == {"pеrson", "re\u0301sume\u0301", "аgent", "job\u200b"}
    assert "“person”" in found["pеrson"]


def test_a_fallback_that_nobody_declared_is_an_error() -> None:
    rows = {
        "tier_fact": {"node_types": [{"type": "person"}], "fallback_node_type": "ghost"},
        "tier_wisdom": {"node_types": [{"type": "Person"}], "fallback_node_type": "person"},
        "ent_x": {"node_types": [{"type": "person"}]},
    }
    read = {key: read_manifest_row(key, "strict", json.dumps(value)) for key, value in rows.items()}
    (found,) = fallback_undeclared(Manifests({**read, "ent_y": read_manifest_row("ent_y", "strict", "{")}))
    assert (found.rule, found.severity, found.focus) == (
        "fallback-undeclared",
        Severity.ERROR,
        Focus(Kind.MANIFEST, "tier_fact"),
    )
    assert found.fix == "set it to one of person"


# Edges


def edge(kind: object, anchor: str = "ent_a") -> EdgeRow:
    return EdgeRow("edge_1", anchor, "ent_a", "ent_b", kind, 1)  # type: ignore[arg-type]


@pytest.mark.parametrize("kind", ["lives_in", "", "  ", b"\xff", "related_to", None])
def test_a_relation_outside_the_vocabulary_is_an_error(kind: object) -> None:
    (found,) = edge_type_undeclared(edge(kind), EdgeVocabulary(VOCABULARY))
    assert (found.rule, found.severity, found.focus.kind) == ("edge-type-undeclared", Severity.ERROR, Kind.EDGE)
    assert found.entity == "ent_a"


@pytest.mark.parametrize("kind", ["knows", "KNOWS", " homeLocation "])
def test_a_declared_relation_is_left_alone(kind: str) -> None:
    assert not list(edge_type_undeclared(edge(kind), EdgeVocabulary(VOCABULARY)))


def test_the_nearest_declared_relation_is_offered() -> None:
    (found,) = edge_type_undeclared(edge("home_location"), EdgeVocabulary(VOCABULARY))
    assert found.fix == "rename it to homeLocation"


def test_an_entity_with_a_vocabulary_of_its_own_is_judged_by_it() -> None:
    own = Vocabulary(edge_types=(EdgeType("mentors", "person", "person"),))
    vocabulary = EdgeVocabulary(VOCABULARY, {"ent_own": own})
    assert not list(edge_type_undeclared(edge("mentors", "ent_own"), vocabulary))
    assert list(edge_type_undeclared(edge("knows", "ent_own"), vocabulary))
    assert list(edge_type_undeclared(edge("mentors"), vocabulary))
    assert set(vocabulary.suspects(["knows", "mentors", "KNOWS"])) == {"knows", "mentors", "KNOWS"}
    assert EdgeVocabulary(VOCABULARY).suspects(["knows", "homelocation", "relates"]) == ("relates",)


def test_without_declared_relations_none_is_undeclared() -> None:
    vocabulary = EdgeVocabulary(Vocabulary())
    assert not vocabulary.closed
    assert not list(edge_type_undeclared(edge("anything"), vocabulary))


@pytest.mark.parametrize(
    "kind",
    [
        "related_to",
        "relatedTo",
        "related-to",
        "RELATED TO",
        "relates",
        "relates_to",
        "RelatesTo",
        "isRelatedTo",
        "rеlated_to",
    ],
)
def test_related_to_in_any_spelling_is_an_error(kind: str) -> None:
    (found,) = edge_related_to(edge(kind), EdgeVocabulary(VOCABULARY))
    assert (found.rule, found.severity) == ("edge-related-to", Severity.ERROR)


@pytest.mark.parametrize("kind", ["knows", "correlates_with_growth", "relative", "relatedToWork", "parent"])
def test_other_relations_are_not_taken_for_it(kind: str) -> None:
    assert not list(edge_related_to(edge(kind), EdgeVocabulary(VOCABULARY)))


def test_a_manifest_that_declares_it_turns_it_into_a_warning() -> None:
    declared = Vocabulary(edge_types=(EdgeType("related_to", "person", "person"),))
    (found,) = edge_related_to(edge("Related_To"), EdgeVocabulary(declared))
    assert found.severity is Severity.WARNING
    (other,) = edge_related_to(edge("relates"), EdgeVocabulary(declared))
    assert other.severity is Severity.ERROR


# Rulings


@pytest.mark.parametrize(
    ("bodies", "why", "seqs"),
    [
        ((Alias("person", "place"),), Dead.DEAD, ["1"]),
        ((Alias("agent", "worker"), Alias("worker", "person")), Dead.CHAIN, ["1"]),
        ((Alias("agent", "worker"), Alias("worker", "agent")), Dead.CYCLE, ["1", "2"]),
        ((Alias("agent", "nothing"),), Dead.TARGET_UNDECLARED, ["1"]),
        ((Alias("agent", "person"), Alias(" AGENT ", "place")), Dead.DUPLICATE, ["2"]),
    ],
)
def test_an_alias_that_cannot_act_is_found(bodies: tuple[Body, ...], why: Dead, seqs: list[str]) -> None:
    found = list(dead_rulings(why, table(*bodies), VOCABULARY))
    assert [f.focus for f in found] == [Focus(Kind.RULING, seq) for seq in seqs]
    assert {(f.rule, f.severity) for f in found} == {(why.value, Severity.WARNING)}
    for other in Dead:
        expected = [f.focus.id for f in found] if other is why else []
        if other is not Dead.CHAIN or why is Dead.CHAIN:
            assert [f.focus.id for f in dead_rulings(other, table(*bodies), VOCABULARY)] == expected


def test_an_alias_that_acts_is_left_alone() -> None:
    for why in Dead:
        assert not list(dead_rulings(why, table(Alias("agent", "person")), VOCABULARY))


def test_rulings_that_verification_found_contradicting_are_told() -> None:
    moment = dt.datetime(2026, 10, 3, tzinfo=dt.UTC)
    ruling = Ruling(4, Alias("agent", "place"), "r", "c", moment)
    entry = Entry(4, "alias", State.CONFLICTING, "ruling #1 decides agent", ruling)
    (found,) = dead_rulings(Dead.DUPLICATE, RulingTable((entry,)), VOCABULARY)
    assert found.focus == Focus(Kind.RULING, "4")


# Weighing


def finding(rule: str = "name-duplicate", focus_id: str = "ent_a") -> Finding:
    return Finding(rule, BY_ID[rule].severity, Focus(Kind.ENTITY, focus_id), "p", "v", "m", "f")


def test_an_exception_covers_its_rule_and_focus_until_its_day() -> None:
    acting = in_force(table(Except("name-duplicate", ("ent_a",), TODAY)))
    gatherer = Gatherer(Exceptions(acting, TODAY))
    passed = list(gatherer.take([finding(), finding(focus_id="ent_b"), finding("name-near")]))
    assert [(f.rule, f.focus.id) for f in passed] == [("name-duplicate", "ent_b"), ("name-near", "ent_a")]
    assert gatherer.report().excepted == 1
    later = Gatherer(Exceptions(acting, TODAY + dt.timedelta(days=1)))
    assert len(list(later.take([finding()]))) == 1


def test_nothing_excepts_that_a_rule_failed() -> None:
    acting = in_force(table(Except("rule-failed", ("name-near",))))
    assert list(Gatherer(Exceptions(acting, TODAY)).take([rule_failed("name-near", "it crashed")]))


def test_new_and_gone_are_told_against_the_last_night() -> None:
    old, new, gone = finding(), finding(focus_id="ent_b"), finding(focus_id="ent_c")
    gatherer = Gatherer(before={old.fingerprint, gone.fingerprint})
    flags = {f.focus.id: f.new for f in gatherer.take([old, new])}
    assert flags == {"ent_a": False, "ent_b": True}
    report = gatherer.report(remembered=2)
    assert (report.new, report.gone) == (1, 1)
    assert Gatherer().report().new is None


def test_the_counts_are_whole_however_few_findings_are_kept() -> None:
    gatherer = Gatherer(keep=3)
    assert len(list(gatherer.take(finding(focus_id=f"ent_{i}") for i in range(10)))) == 10
    report = gatherer.report()
    assert (len(report.findings), report.counts, report.left_out) == (3, {"name-duplicate": 10}, 7)


def test_one_weight_can_be_looked_at_with_whole_counts() -> None:
    gatherer = Gatherer(keep=1)
    soft = Finding("fact-provenance", Severity.WARNING, Focus(Kind.FACT, "fact_w"), "p", "v", "m")
    hard = [Finding("fact-provenance", Severity.ERROR, Focus(Kind.FACT, f"fact_{n}"), "p", "v", "m") for n in range(3)]
    list(gatherer.take([*hard, soft, finding(), rule_failed("name-near", "why")]))
    report = gatherer.report()
    assert report.severities() == {"error": 4, "warning": 2, "info": 0}
    errors = report.of_severity(Severity.ERROR)
    assert (dict(errors.counts), errors.left_out) == ({"fact-provenance": 3, "rule-failed": 1}, 2)
    assert {f.rule for f in report.of_severity(Severity.INFO).findings} == {"rule-failed"}


def test_a_fingerprint_depends_on_rule_place_and_weight_alone() -> None:
    one = finding()
    assert (
        one.fingerprint == Finding(one.rule, one.severity, one.focus, one.path, "another", "said otherwise").fingerprint
    )
    assert one.fingerprint != finding(focus_id="ent_b").fingerprint
    assert 0 <= one.fingerprint < 2**63


def test_the_report_is_sorted_worst_first_and_the_queue_too() -> None:
    gatherer = Gatherer()
    list(
        gatherer.take(
            [
                finding("fact-compound"),
                finding("name-look-alike"),
                finding("fact-provenance"),
                rule_failed("name-near", "why"),
            ]
        )
    )
    report = gatherer.report()
    assert [f.severity.value for f in report.findings] == ["error", "error", "warning", "info"]
    assert report.failed
    items = finding_items(report)
    assert [i.key for i in items] == ["fact-provenance", "rule-failed", "name-look-alike", "fact-compound"]
    assert items[0].entities == ("ent_a",)


def test_what_is_apart_comes_from_exceptions_in_force() -> None:
    acting = in_force(table(Except("duplicate", ("b", "a", "c")), Except("duplicate", ("x", "y"), dt.date(2020, 1, 1))))
    apart = kept_apart(acting, TODAY)
    assert apart.separates("a", "c")
    assert not apart.separates("x", "y")
    assert not apart.separates("a", "a")
    assert not apart.separates("a", "unknown")
    assert apart.pair_within(("d", "b", "a")) == ("b", "a")
    assert apart.pair_within(("d", "b", "b")) is None


def test_thousands_can_be_kept_apart_from_each_other() -> None:
    ids = [f"ent_{i}" for i in range(20_000)]
    apart = Apart([ids])
    assert apart.all_apart(ids)
    assert not apart.all_apart([*ids, "other"])
    assert Apart([("a", "b"), ("b", "c"), ("c", "a")]).all_apart(("a", "b", "c"))
    assert not Apart([("a", "b"), ("b", "c")]).all_apart(("a", "b", "c"))


def test_every_rule_of_the_contract_is_there_once_with_its_severity() -> None:
    contract = {
        "edge-type-undeclared": "error", "edge-related-to": "error", "fact-start-is-write-time": "warning",
        "fact-window-inverted": "error", "fact-time-unit": "warning", "fact-confidence": "warning",
        "fact-provenance": "error", "fact-compound": "info", "name-duplicate": "warning", "name-near": "info",
        "name-look-alike": "warning", "type-look-alike": "warning", "type-variant": "warning", "ruling-dead": "warning",
        "ruling-chain": "warning", "ruling-cycle": "warning", "ruling-target-undeclared": "warning",
        "ruling-duplicate": "warning", "fallback-undeclared": "error", "rule-failed": "error",
    }  # fmt: skip
    assert {r.id: r.severity.value for r in RULES} == contract
    assert len(RULES) == len(contract)


def test_the_rules_import_no_database_and_no_terminal() -> None:
    folder = Path(__file__).parents[2] / "ct_tui" / "domain" / "lint"
    text = "".join(f.read_text(encoding="utf-8") for f in folder.glob("*.py"))
    assert "ct_tui.brain" not in text
    assert "sqlite3" not in text
