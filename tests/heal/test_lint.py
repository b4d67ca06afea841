"""Lint over real brains: the October brain's numbers, every rule end to end, nights, exceptions, crashes."""

from __future__ import annotations

import json
import sqlite3
import threading
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest

from ct_tui.domain.errors import BrainError
from ct_tui.domain.lint import facts
from ct_tui.domain.lint.registry import BY_ID
from ct_tui.domain.queue import ItemKind
from ct_tui.domain.rulings import Alias, Except
from tests.policy.brains import manifest, ref, token

if TYPE_CHECKING:
    from collections.abc import Collection

    from ct_tui.domain.lint.report import LintReport
    from tests.heal.lab import Lab

WRITTEN = 1_759_276_800_000
"""When the facts of these tests were written, in ms."""


def lint(lab: Lab, **how: Any) -> LintReport:
    with lab.bench() as bench:
        return bench.lint(**how)


def hits(lab: Lab, rule: str) -> list[str]:
    """The ids that one rule finds, in order."""
    return sorted(f.focus.id for f in lint(lab).findings if f.rule == rule)


def fact(lab: Lab, fact_id: str, entity_id: str = "ent_sara", **columns: Any) -> None:
    usual: dict[str, Any] = {
        "id": fact_id, "entity_id": entity_id, "title": "t", "body": "b", "confidence": "inferred",
        "source_type": "librarian_inferred", "source_ref": "imessage:turn-1", "created_at": WRITTEN,
        "updated_at": WRITTEN,
    }  # fmt: skip
    row = {**usual, **columns}
    marks = ", ".join("?" * len(row))
    lab.case.run(f"INSERT INTO llm_wiki_entries ({', '.join(row)}) VALUES ({marks})", *row.values())


def entity(lab: Lab, entity_id: str, name: str, kind: str = "person", at: int = 1_759_276_800) -> None:
    lab.case.run(
        "INSERT INTO curated_entities (id, name, entity_type, summary, created_at, updated_at) VALUES (?, ?, ?, '', ?, ?)",
        entity_id, name, kind, at, at,
    )  # fmt: skip


def edge(lab: Lab, edge_id: str, kind: str, anchor: str = "ent_sara", at: int = WRITTEN) -> None:
    target = f"target_of_{edge_id}"
    lab.case.run("INSERT INTO llm_wiki_edges VALUES (?, ?, ?, ?, ?, ?)", edge_id, anchor, anchor, target, kind, at)


@pytest.fixture
def tidy(lab: Lab) -> Lab:
    """A small brain in which no rule finds anything."""
    edges = [
        {"type": "knows", "source_type": "person", "target_type": "person"},
        {"type": "homeLocation", "source_type": "person", "target_type": "place"},
    ]
    lab.case.manifest("tier_fact", manifest("person", "place", "role", fallback="person", edge_types=edges))
    lab.case.document("/vault/notes.md", "a" * 32)
    entity(lab, "ent_sara", "Sara")
    entity(lab, "ent_berlin", "Berlin", "place")
    fact(lab, "fact_ok", source_ref="/vault/notes.md", valid_from=WRITTEN - 10**11, valid_to=0)
    edge(lab, "edge_ok", "knows")
    return lab


# The October brain


def test_the_october_brain_has_these_findings_and_no_others(october_lab: Lab) -> None:
    case = october_lab.case
    event_like = "('event', 'action', 'session_recap')"
    counted = {
        "edge-type-undeclared": case.value("SELECT COUNT(*) FROM llm_wiki_edges WHERE edge_type = 'related_to'"),
        "edge-related-to": case.value("SELECT COUNT(*) FROM llm_wiki_edges WHERE edge_type = 'related_to'"),
        "fact-provenance": case.value(
            "SELECT COUNT(*) FROM llm_wiki_entries WHERE deleted_at IS NULL AND (source_ref IS NULL OR source_ref LIKE 'documents/%')"
        ),
        "fact-start-is-write-time": case.value(
            "SELECT COUNT(*) FROM llm_wiki_entries f JOIN curated_entities e ON e.id = f.entity_id WHERE f.deleted_at IS NULL "
            f"AND abs(f.valid_from - f.created_at) <= 2000 AND e.entity_type NOT IN {event_like}"
        ),
        "fact-confidence": case.value(
            "SELECT COUNT(*) FROM llm_wiki_entries WHERE confidence = 'certain' AND source_type = 'immutable_document'"
        ),
        "name-duplicate": 56,
    }
    report = lint(october_lab)
    assert report.counts == counted
    assert counted["fact-provenance"] == 62
    severities = {f.value: f.severity.value for f in report.findings if f.rule == "fact-provenance"}
    assert severities == {None: "error", "documents/notes.md": "warning"}
    assert (report.new, report.excepted, report.left_out, report.notes) == (None, 0, 0, ())


def test_linting_writes_nothing(october_lab: Lab) -> None:
    before = october_lab.db.read_bytes()
    lint(october_lab)
    assert october_lab.db.read_bytes() == before
    assert october_lab.own_tables() == set()


def test_the_report_has_the_contracts_shape(october_lab: Lab) -> None:
    document = lint(october_lab).as_json()
    assert json.loads(json.dumps(document)) == document
    for found in document["findings"]:
        assert {"rule", "severity", "focus", "path", "value", "message"} <= set(found)
        assert set(found["focus"]) == {"kind", "id"}
        assert BY_ID[found["rule"]].severity.value == found["severity"] or found["rule"] == "fact-provenance"
    assert sum(document["counts"].values()) == len(document["findings"])


# Every rule, on a brain where nothing else is found


def test_a_tidy_brain_is_clean(tidy: Lab) -> None:
    assert lint(tidy).findings == ()


def test_edge_rules_find_their_rows(tidy: Lab) -> None:
    for number, kind in enumerate(("lives_in", "relatedTo", "relates", "KNOWS", " homelocation ")):
        edge(tidy, f"edge_{number}", kind)
    assert hits(tidy, "edge-type-undeclared") == ["edge_0", "edge_1", "edge_2"]
    assert hits(tidy, "edge-related-to") == ["edge_1", "edge_2"]


def test_an_entitys_own_manifest_decides_for_its_edges(tidy: Lab) -> None:
    edge_types = [{"type": "mentors", "source_type": "person", "target_type": "person"}]
    tidy.case.manifest("ent_berlin", manifest("person", fallback="person", edge_types=edge_types))
    edge(tidy, "edge_1", "mentors", "ent_berlin")
    edge(tidy, "edge_2", "mentors")
    edge(tidy, "edge_3", "knows", "ent_berlin")
    assert hits(tidy, "edge-type-undeclared") == ["edge_2", "edge_3"]


def test_fact_rules_find_their_rows(tidy: Lab) -> None:
    fact(tidy, "fact_now", valid_from=WRITTEN + 1)
    fact(tidy, "fact_event", valid_from=WRITTEN, okf_type="event")
    fact(tidy, "fact_back", valid_from=WRITTEN, valid_to=WRITTEN - 10**10)
    fact(tidy, "fact_seconds", valid_from=1_672_531_200)
    fact(tidy, "fact_sure", confidence="certain")
    fact(tidy, "fact_said", confidence="certain", source_type="user_stated")
    fact(tidy, "fact_two", body="Sara moved to Berlin and works for Acme.")
    fact(tidy, "fact_dead", body="Sara moved to Berlin and works for Acme.", deleted_at=WRITTEN)
    assert hits(tidy, "fact-start-is-write-time") == ["fact_back", "fact_now"]
    assert hits(tidy, "fact-window-inverted") == ["fact_back"]
    assert hits(tidy, "fact-time-unit") == ["fact_seconds"]
    assert hits(tidy, "fact-confidence") == ["fact_sure"]
    assert hits(tidy, "fact-compound") == ["fact_two"]


def test_a_fact_of_an_event_may_begin_as_it_is_written(tidy: Lab) -> None:
    entity(tidy, "ent_launch", "Launch", "event")
    fact(tidy, "fact_launch", "ent_launch", valid_from=WRITTEN)
    assert hits(tidy, "fact-start-is-write-time") == []


def test_provenance_is_followed_to_chunks_documents_and_the_engines_index(tidy: Lab) -> None:
    case = tidy.case
    fact(tidy, "fact_none", source_ref=None)
    fact(tidy, "fact_inline", source_ref=ref("a" * 32))
    fact(tidy, "fact_lost", source_ref=ref("a" * 32, "b" * 32))
    fact(tidy, "fact_token", source_ref=token("fact_token"))
    fact(tidy, "fact_anchored", source_ref=token("fact_anchored"))
    case.run("INSERT INTO librarian_evidence VALUES ('fact_anchored', 'p', ?, 0, 1)", ref("a" * 32))
    fact(tidy, "fact_gone", source_ref="documents/gone.md")
    fact(tidy, "fact_pending", source_ref="/vault/new.md")
    case.run("INSERT INTO documents (path, hash, tier, status) VALUES ('/vault/new.md', 'h', 'user_doc', 'pending')")
    fact(tidy, "fact_engine", source_ref="handbook")
    case.run("INSERT INTO llm_wiki_source_ref_index VALUES ('s', 'tier_fact', 'h', 'handbook', 1, NULL)")
    found = {f.focus.id: f.severity.value for f in lint(tidy).findings if f.rule == "fact-provenance"}
    assert found == {
        "fact_none": "error",
        "fact_lost": "warning",
        "fact_token": "error",
        "fact_gone": "warning",
        "fact_pending": "warning",
    }


def test_times_of_edges_and_entities_are_looked_at_too(tidy: Lab) -> None:
    edge(tidy, "edge_seconds", "knows", at=1_759_276_800)
    edge(tidy, "edge_zero", "knows", "ent_berlin", at=0)
    entity(tidy, "ent_ms", "Milli", at=WRITTEN)
    found = {(f.focus.kind.value, f.focus.id, f.path) for f in lint(tidy).findings if f.rule == "fact-time-unit"}
    assert found == {
        ("edge", "edge_seconds", "llm_wiki_edges.created_at"),
        ("entity", "ent_ms", "curated_entities.created_at"),
        ("entity", "ent_ms", "curated_entities.updated_at"),
    }


def test_name_rules_find_their_rows(tidy: Lab) -> None:
    entity(tidy, "ent_sara2", "sara!")
    entity(tidy, "ent_cyr", "Bеrlin", "place")
    entity(tidy, "ent_nfc", "Zoë")
    entity(tidy, "ent_nfd", "Zoe\u0308")
    entity(tidy, "ent_alex", "Alex")
    entity(tidy, "ent_as", "Alexander Smith")
    entity(tidy, "ent_blank", "!!!")
    entity(tidy, "ent_blank2", "???")
    assert hits(tidy, "name-duplicate") == ["ent_sara", "ent_sara2"]
    assert hits(tidy, "name-look-alike") == ["ent_cyr", "ent_nfd"]
    assert {"ent_alex", "ent_as"} <= set(hits(tidy, "name-near"))
    tidy.rule(Except("duplicate", ("ent_alex", "ent_as")))
    assert not {"ent_alex", "ent_as"} & set(hits(tidy, "name-near"))


def test_type_and_manifest_rules_find_their_rows(tidy: Lab) -> None:
    entity(tidy, "ent_1", "One", "Person")
    entity(tidy, "ent_2", "Two", "pеrson")
    assert hits(tidy, "type-variant") == ["Person"]
    assert hits(tidy, "type-look-alike") == ["pеrson"]
    tidy.case.manifest("tier_wisdom", manifest("person", fallback="ghost"))
    assert hits(tidy, "fallback-undeclared") == ["tier_wisdom"]


def test_rulings_that_cannot_act_are_found(tidy: Lab) -> None:
    tidy.rule(Alias("agent", "role"), Alias("person", "role"), Alias("bot", "agent"), Alias("x", "nowhere"))
    tidy.rule(Alias("u", "v"), Alias("v", "u"))
    found = {f.rule: f.focus.id for f in lint(tidy).findings}
    assert found == {"ruling-dead": "2", "ruling-chain": "3", "ruling-target-undeclared": "4", "ruling-cycle": "6"}


# Rules that could not run


def test_a_crashing_rule_is_an_error_and_the_others_go_on(tidy: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    def crash(_: object) -> list[Any]:
        raise ZeroDivisionError("by hand")

    monkeypatch.setattr(facts, "confidence", crash)
    fact(tidy, "fact_sure", confidence="certain")
    fact(tidy, "fact_back", valid_from=WRITTEN - 10, valid_to=WRITTEN - 10**10)
    report = lint(tidy)
    (failed,) = [f for f in report.findings if f.rule == "rule-failed"]
    assert (failed.focus.kind.value, failed.focus.id, failed.severity.value) == ("rule", "fact-confidence", "error")
    assert "ZeroDivisionError: by hand" in failed.message
    assert report.counts["fact-window-inverted"] == 1
    assert report.failed


@pytest.mark.parametrize(
    ("table", "rules"),
    [
        ("llm_wiki_edges", {"edge-type-undeclared", "edge-related-to", "fact-time-unit"}),
        (
            "llm_wiki_entries",
            {
                "fact-window-inverted",
                "fact-start-is-write-time",
                "fact-time-unit",
                "fact-confidence",
                "fact-compound",
                "fact-provenance",
            },
        ),
        ("documents", {"fact-provenance"}),
        ("chunks", {"fact-provenance"}),
    ],
)
def test_a_missing_table_makes_its_rules_fail_and_no_others(tidy: Lab, table: str, rules: Collection[str]) -> None:
    tidy.case.run(f"DROP TABLE {table}")
    report = lint(tidy)
    failed = {f.focus.id for f in report.findings if f.rule == "rule-failed"}
    assert failed == rules
    assert all(f"no table {table}" in f.message for f in report.findings if f.rule == "rule-failed")


def test_an_older_brain_without_windows_is_read_all_the_same(tidy: Lab) -> None:
    with closing(sqlite3.connect(tidy.db)) as connection, connection:
        for column in ("valid_from", "valid_to"):
            connection.execute(f"ALTER TABLE llm_wiki_entries DROP COLUMN {column}")
        connection.execute("DROP TABLE librarian_evidence")
        connection.execute("DROP TABLE llm_wiki_source_ref_index")
    fact(tidy, "fact_none", source_ref=None)
    report = lint(tidy)
    assert report.counts == {"fact-provenance": 1}, report.findings


def test_rows_that_cannot_be_read_do_not_hide_the_others(tidy: Lab) -> None:
    tidy.case.run(
        "INSERT INTO curated_entities (id, name, entity_type, summary, created_at, updated_at) "
        "VALUES (CAST(x'ff' AS TEXT), CAST(x'fe' AS TEXT), x'00', '', 'x', 1)"
    )
    tidy.case.run("INSERT INTO llm_wiki_edges VALUES (CAST(x'ff' AS TEXT), 'a', 'a', 'b', CAST(x'fe' AS TEXT), 'soon')")
    fact(tidy, "fact_odd", body=b"\xff", title=b"\xff", confidence=b"\xff", source_ref=b"\xff", valid_from="soon")
    report = lint(tidy)
    assert not report.failed
    assert {f.rule for f in report.findings} >= {
        "edge-type-undeclared",
        "fact-time-unit",
        "fact-confidence",
        "fact-provenance",
    }
    assert json.dumps(report.as_json())


def test_only_the_rules_asked_for_run(tidy: Lab) -> None:
    fact(tidy, "fact_none", source_ref=None, confidence="certain")
    assert lint(tidy, only={"fact-confidence"}).counts == {"fact-confidence": 1}
    tidy.case.run("DROP TABLE llm_wiki_edges")
    assert lint(tidy, only={"fact-confidence"}).counts == {"fact-confidence": 1}


def test_a_stopped_run_says_that_it_is_not_the_whole_truth(tidy: Lab) -> None:
    stop = threading.Event()
    stop.set()
    report = lint(tidy, stop=stop)
    assert any("not clean" in n for n in report.notes)


def test_progress_runs_up_to_the_total(tidy: Lab) -> None:
    seen: list[tuple[int, int]] = []
    lint(tidy, progress=lambda p: seen.append((p.done, p.total)))
    assert seen == sorted(seen)
    assert seen[-1][0] <= seen[-1][1]


def test_findings_beyond_the_limit_are_counted_and_not_kept(tidy: Lab) -> None:
    for number in range(5):
        fact(tidy, f"fact_{number}", source_ref=None)
    report = lint(tidy, keep=2)
    assert (report.counts["fact-provenance"], len(report.findings), report.left_out) == (5, 2, 3)
    assert len(lint(tidy, keep=None).findings) == 5


# Exceptions and nights


def test_a_signed_exception_suppresses_and_is_counted(tidy: Lab) -> None:
    fact(tidy, "fact_a", source_ref=None)
    fact(tidy, "fact_b", source_ref=None)
    tidy.rule(Except("fact-provenance", ("fact_a",)))
    report = lint(tidy)
    assert [f.focus.id for f in report.findings] == ["fact_b"]
    assert report.as_json()["excepted"] == 1


def test_findings_are_new_or_old_since_the_last_night(tidy: Lab) -> None:
    fact(tidy, "fact_old", source_ref=None)
    fact(tidy, "fact_mended", source_ref=None)
    assert lint(tidy).new is None
    tidy.heal()
    assert (lint(tidy).new, lint(tidy).gone) == (0, 0)
    tidy.case.run("UPDATE llm_wiki_entries SET source_ref = 'imessage:turn-9' WHERE id = 'fact_mended'")
    fact(tidy, "fact_new", source_ref=None)
    report = lint(tidy)
    assert {f.focus.id: f.new for f in report.findings} == {"fact_old": False, "fact_new": True}
    assert (report.new, report.gone) == (1, 1)
    tidy.clock.pass_days(1)
    run = tidy.heal().run
    assert (lint(tidy).new, lint(tidy).gone) == (0, 0)
    rows = tidy.case.rows("SELECT first_run, last_run FROM ct_tui_finding ORDER BY first_run")
    assert rows == [(1, run), (run, run)]


def test_a_clean_night_is_remembered_as_one(tidy: Lab) -> None:
    tidy.heal()
    fact(tidy, "fact_new", source_ref=None)
    assert lint(tidy).new == 1


def test_a_lint_can_be_made_a_night_of_its_own(tidy: Lab) -> None:
    fact(tidy, "fact_a", source_ref=None)
    assert lint(tidy, remember=True).new is None
    assert lint(tidy).new == 0
    with tidy.bench(read_only=True) as bench, pytest.raises(BrainError):
        bench.lint(remember=True)


def test_a_night_that_cannot_be_remembered_takes_nothing_of_the_heal_back(tidy: Lab) -> None:
    tidy.heal()
    fact(tidy, "fact_new", source_ref=None)
    tidy.case.run("CREATE TRIGGER boom BEFORE INSERT ON ct_tui_finding BEGIN SELECT RAISE(ABORT, 'boom'); END")
    report = tidy.heal()
    assert (report.error, report.exit_code) == (None, 0)
    assert "not remembered" in report.notes[-1]


def test_one_cell_of_five_megabytes_stalls_nothing(tidy: Lab) -> None:
    entity(tidy, "ent_long", "x" * 5_000_000)
    entity(tidy, "ent_long2", "é\u200b" * 200_000)
    fact(tidy, "fact_long", body="and is " * 700_000, source_ref="y" * 5_000_000)
    report = lint(tidy)
    assert all(len(str(f.value)) <= 201 and len(f.message) < 1000 for f in report.findings)
    with tidy.bench() as bench:
        assert bench.look_up("Sara").entity is not None


def test_findings_wait_in_the_queue_by_rule_worst_first(october_lab: Lab) -> None:
    items = october_lab.items(ItemKind.FINDING)
    assert [i.key for i in items] == [
        "fact-provenance",
        "edge-related-to",
        "edge-type-undeclared",
        "fact-start-is-write-time",
        "fact-confidence",
    ]
    assert items[0].count == 62
    assert set(items[1].entities) <= {i for (i,) in october_lab.case.rows("SELECT id FROM curated_entities")}


def test_a_large_brain_is_linted_only_when_asked(october_lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ct_tui.heal.lint.AUTOMATIC_ROWS", 100)
    monkeypatch.setattr("ct_tui.heal.duplicates.QUEUE_LIMIT", 100)
    assert [i.id for i in october_lab.items(ItemKind.FINDING)] == ["finding:*"]
    assert [i.id for i in october_lab.items(ItemKind.DUPLICATE)] == ["duplicate:*"]
    october_lab.heal()
    assert october_lab.case.count("ct_tui_finding") == 0
    assert lint(october_lab).counts["name-duplicate"] == 56
