"""Merging duplicates on real brains: the acceptance cases, undo, and what rulings decide."""

from __future__ import annotations

import datetime as dt
import json
import sqlite3
import threading
from typing import TYPE_CHECKING, Any

import pytest

from ct_tui.domain.errors import BadInput
from ct_tui.domain.queue import ItemKind
from ct_tui.domain.rulings import Except, Keep, Merge, Revoke

if TYPE_CHECKING:
    from pathlib import Path

    from ct_tui.domain.duplicates import MergeReport
    from tests.heal.lab import Lab

MARKER = "alias_remap_completed"


def seed(lab: Lab, entity_id: str, name: str = "Adrian", kind: str = "concept", summary: str = "same") -> None:
    lab.case.run(
        "INSERT INTO curated_entities (id, name, entity_type, summary, created_at, updated_at) VALUES (?, ?, ?, ?, 1, 1)",
        entity_id, name, kind, summary,
    )  # fmt: skip


def edge(lab: Lab, edge_id: str, source: str, target: str, kind: str = "knows") -> None:
    lab.case.run("INSERT INTO llm_wiki_edges VALUES (?, ?, ?, ?, ?, 1)", edge_id, source, source, target, kind)


def redirects(lab: Lab) -> dict[str, str]:
    return dict(lab.case.rows("SELECT entity_id, merged_into FROM entity_redirects"))


def merge(lab: Lab, **how: Any) -> MergeReport:
    with lab.bench() as bench:
        return bench.duplicates(apply=how.pop("apply", True), by="tester", **how)


@pytest.fixture
def armed(lab: Lab) -> Lab:
    """An empty brain on which heal has run once."""
    lab.put_meta(MARKER, "1")
    return lab


# The acceptance cases


def test_md01_lowest_id_survives_and_every_redirect_is_listed(armed: Lab) -> None:
    seed(armed, "entity::aaa")
    seed(armed, "ent_zzz")
    report = merge(armed)
    assert (report.merged_groups, report.error, report.exit_code) == (1, None, 0)
    assert report.redirects_written == (("entity::aaa", "ent_zzz"),)
    assert redirects(armed) == {"entity::aaa": "ent_zzz"}
    assert armed.case.value("SELECT created_at FROM entity_redirects") == int(armed.clock())


def test_md02_every_failing_group_is_named_and_rolled_back(armed: Lab) -> None:
    for entity_id, name in (("ent_a1", "Adrian"), ("ent_a2", "Adrian"), ("ent_b1", "Bianca"), ("ent_b2", "Bianca")):
        seed(armed, entity_id, name)
    armed.case.run("CREATE TRIGGER boom BEFORE INSERT ON entity_redirects BEGIN SELECT RAISE(ABORT, 'boom'); END")
    report = merge(armed)
    assert report.merged_groups == 0
    assert report.error is not None
    assert "ent_a1" in report.error
    assert "ent_b1" in report.error
    assert report.exit_code == 1
    assert redirects(armed) == {}
    assert armed.case.count("ct_tui_merge") == 0


def test_md02_a_failing_group_leaves_the_others_merged(armed: Lab) -> None:
    for entity_id, name in (("ent_a1", "Adrian"), ("ent_a2", "Adrian"), ("ent_b1", "Bianca"), ("ent_b2", "Bianca")):
        seed(armed, entity_id, name)
    armed.case.run(
        "CREATE TRIGGER boom BEFORE INSERT ON entity_redirects WHEN NEW.entity_id = 'ent_a2' "
        "BEGIN SELECT RAISE(ABORT, 'boom'); END"
    )
    report = merge(armed)
    assert (report.merged_groups, redirects(armed)) == (1, {"ent_b2": "ent_b1"})
    assert "ent_a1" in (report.error or "")


def test_md03_brackets_make_no_difference(armed: Lab) -> None:
    seed(armed, "e1", "Memory Architecture Intent 2026-09-01")
    seed(armed, "e2", "Memory Architecture Intent (2026-09-01)")
    report = merge(armed)
    assert (report.groups[0].normalized_name, redirects(armed)) == (
        "memory architecture intent 2026 09 01",
        {"e2": "e1"},
    )


def test_md05_accents_make_a_difference(armed: Lab) -> None:
    seed(armed, "e1", "Café")
    seed(armed, "e2", "Cafe")
    assert merge(armed).groups == ()
    seed(armed, "e3", "café")
    assert merge(armed).redirects_written == (("e3", "e1"),)


def test_md06_a_type_conflict_is_queued_and_writes_nothing(armed: Lab) -> None:
    seed(armed, "e1", kind="person")
    seed(armed, "e2")
    report = merge(armed)
    assert (report.merged_groups, report.queued_groups) == (0, 1)
    assert report.as_json()["groups"][0]["queued"] == "type_conflict"
    assert redirects(armed) == {}
    assert report.run is None


def test_md08_an_empty_summary_agrees_with_nothing(armed: Lab) -> None:
    seed(armed, "e1", summary="real")
    seed(armed, "e2", summary="")
    seed(armed, "e3", "Bianca", summary="")
    seed(armed, "e4", "Bianca", summary="")
    report = merge(armed)
    assert [g.as_json()["queued"] for g in report.groups] == ["summary_mismatch"] * 2
    assert redirects(armed) == {}


def test_md09_punctuation_in_summaries_makes_no_difference(armed: Lab) -> None:
    seed(armed, "e1", summary="works on, pipelines")
    seed(armed, "e2", summary="works on pipelines!")
    seed(armed, "e3", "Zed", summary="alpha")
    seed(armed, "e4", "Zed", summary="beta")
    report = merge(armed)
    assert (report.merged_groups, report.queued_groups) == (1, 1)
    assert redirects(armed) == {"e2": "e1"}


def test_md10_merged_away_and_archived_entities_are_no_candidates(armed: Lab) -> None:
    seed(armed, "e1")
    seed(armed, "e2")
    armed.case.redirect("e2", "e1")
    seed(armed, "e3")
    armed.case.run("UPDATE curated_entities SET deleted_at = 9 WHERE id = 'e3'")
    report = merge(armed)
    assert report.groups == ()
    assert redirects(armed) == {"e2": "e1"}


def test_md15_without_leave_nothing_is_written_and_the_loops_are_shown_beforehand(armed: Lab) -> None:
    seed(armed, "e1")
    seed(armed, "e2")
    edge(armed, "ed1", "e1", "e2")
    edge(armed, "ed2", "e1", "e1")
    before = armed.db.read_bytes()
    report = merge(armed, apply=False)
    assert (report.merged_groups, report.self_loops) == (1, (("ed1", "e1", "e2"),))
    assert (report.redirects_written, report.exit_code) == ((), 1)
    assert armed.db.read_bytes() == before
    assert merge(armed).self_loops == (("ed1", "e1", "e2"),)


def test_md17_without_the_marker_the_merge_is_refused_and_the_report_is_not(lab: Lab) -> None:
    seed(lab, "e1")
    seed(lab, "e2")
    report = merge(lab, apply=False)
    assert (len(report.groups), report.skipped_reason) == (1, None)
    report = merge(lab)
    assert (report.skipped_reason, report.merged_groups, report.exit_code) == ("alias_remap_not_run", 0, 1)
    assert redirects(lab) == {}
    assert len(report.groups) == 1


def test_md18_drift_must_be_confirmed_or_waived_and_the_watermark_stays(armed: Lab) -> None:
    armed.put_watermark("deadbeef", 7)
    seed(armed, "e1")
    seed(armed, "e2")
    watermark = armed.meta("ontology_config_watermark")
    report = merge(armed)
    assert report.skipped_reason == "unconfirmed_drift"
    assert report.drift is not None
    assert (report.drift["old_hash"], report.drift["old_stamped_at"]) == ("deadbeef", 7)
    assert (report.merged_groups, len(report.groups), redirects(armed)) == (0, 1, {})
    assert merge(armed, confirm="beef").skipped_reason == "unconfirmed_drift"
    report = merge(armed, confirm="deadbeef")
    assert (report.skipped_reason, report.merged_groups) == (None, 1)
    assert report.drift is not None
    assert (report.drift["confirmed"], report.drift["waived"]) == (True, False)
    assert armed.meta("ontology_config_watermark") == watermark


def test_md18_waiving_proceeds_too(armed: Lab) -> None:
    armed.put_watermark("deadbeef", 7)
    seed(armed, "e1")
    seed(armed, "e2")
    report = merge(armed, waive="deadbeef")
    assert report.drift is not None
    assert (report.drift["waived"], redirects(armed)) == (True, {"e2": "e1"})


def test_md19_a_flag_without_drift_is_ignored_and_the_initial_watermark_counts(armed: Lab) -> None:
    seed(armed, "e1")
    seed(armed, "e2")
    report = merge(armed, confirm="zzz")
    assert (report.drift, report.merged_groups) == (None, 1)
    assert "ignored" in report.notes[0]
    armed.put_meta("initial_drift_watermark", "deadbeef")
    report = merge(armed, apply=False)
    assert report.drift is not None
    assert report.drift["old_hash"] == "deadbeef"


def test_a_degraded_config_refuses_the_write(armed: Lab) -> None:
    armed.case.write_config({"ingest": {"folder_ontology": "off"}})
    seed(armed, "e1")
    seed(armed, "e2")
    report = merge(armed)
    assert (report.skipped_reason, len(report.groups), redirects(armed)) == ("degraded_config", 1, {})


def test_tied_folders_refuse_it_too(armed: Lab) -> None:
    armed.case.write_config({"ingest": {"folder_ontology": {"ops": "off", "ops/": "strict"}}})
    seed(armed, "e1")
    seed(armed, "e2")
    assert merge(armed).skipped_reason == "degraded_config"


def test_a_brain_that_waits_for_its_migration_gives_an_empty_report(armed: Lab) -> None:
    seed(armed, "e1")
    seed(armed, "e2")
    armed.case.run("DROP VIEW live_entities")
    armed.case.run("DROP TABLE entity_redirects")
    for apply in (False, True):
        report = merge(armed, apply=apply)
        assert (report.groups, report.merged_groups, report.error) == ((), 0, None)


def test_the_report_has_every_field_of_the_contract(armed: Lab) -> None:
    seed(armed, "e1")
    seed(armed, "e2")
    document = merge(armed).as_json()
    assert json.loads(json.dumps(document)) == document
    assert set(document) >= {
        "drift", "groups", "merged_groups", "queued_groups", "redirects_written", "redirects_rewritten", "self_loops",
        "cycles", "error", "skipped_reason",
    }  # fmt: skip
    assert document["groups"] == [
        {"normalized_name": "adrian", "members": ["e1", "e2"], "survivor": "e1", "losers": ["e2"], "queued": None}
    ]
    assert document["redirects_written"] == [["e2", "e1"]]


# Chains and circles


def test_older_redirects_are_led_to_the_final_survivor(armed: Lab) -> None:
    seed(armed, "m_y", "Kurt")
    seed(armed, "m_x", "Kurt")
    armed.case.redirect("m_a", "m_y")
    armed.case.redirect("m_0", "m_a")
    report = merge(armed)
    assert redirects(armed) == {"m_y": "m_x", "m_a": "m_x", "m_0": "m_x"}
    assert report.redirects_rewritten == (("m_0", "m_a", "m_x"), ("m_a", "m_y", "m_x"))


def test_a_later_import_with_a_lower_id_takes_over(armed: Lab) -> None:
    seed(armed, "bbb")
    seed(armed, "ccc")
    merge(armed)
    seed(armed, "aaa")
    report = merge(armed)
    assert ("bbb", "aaa") in report.redirects_written
    assert redirects(armed) == {"bbb": "aaa", "ccc": "aaa"}


def test_a_circle_is_reported_on_every_arm_and_never_touched(armed: Lab) -> None:
    for loser, into in (("cyc_a", "cyc_b"), ("cyc_b", "cyc_a"), ("d", "cyc_a")):
        armed.case.redirect(loser, into)
    seed(armed, "x1", "Zed")
    seed(armed, "x2", "Zed")
    assert {"cyc_a", "cyc_b"} <= set(merge(armed, apply=False).cycles)
    report = merge(armed)
    assert report.merged_groups == 1
    assert {"cyc_a", "cyc_b"} <= set(report.cycles)
    assert redirects(armed) == {"cyc_a": "cyc_b", "cyc_b": "cyc_a", "d": "cyc_a", "x2": "x1"}


# Ours: names without a key, unreadable rows, undo, stopping, other writers


def test_names_of_punctuation_alone_never_merge(armed: Lab) -> None:
    seed(armed, "e1", "!!!")
    seed(armed, "e2", "???")
    assert merge(armed).groups == ()


def test_unreadable_rows_are_left_out_and_the_others_go_on(armed: Lab) -> None:
    seed(armed, "e1")
    seed(armed, "e2")
    armed.case.run(
        "INSERT INTO curated_entities (id, name, entity_type, summary, created_at, updated_at) "
        "VALUES ('e0', CAST(x'ff41' AS TEXT), 'concept', 'same', 1, 1)"
    )
    armed.case.run(
        "INSERT INTO curated_entities (id, name, entity_type, summary, created_at, updated_at) "
        "VALUES ('e3', 'Adrian', x'00ff', 'same', 1, 1)"
    )
    assert merge(armed).redirects_written == (("e2", "e1"),)


def test_a_merge_is_a_run_that_can_be_undone(armed: Lab) -> None:
    seed(armed, "m_y", "Kurt")
    seed(armed, "m_x", "Kurt")
    armed.case.redirect("m_a", "m_y")
    rows = armed.case.rows("SELECT * FROM curated_entities ORDER BY id")
    report = merge(armed)
    assert report.run is not None
    with armed.bench() as bench:
        (run,) = bench.runs()
        assert (run.kind, run.by, run.status, run.numbers["merged"]) == ("merge", "tester", "done", 1)
        assert [(m.loser, m.previous, m.survivor) for m in bench.run_work(run.id).merges] == [
            ("m_a", "m_y", "m_x"),
            ("m_y", None, "m_x"),
        ]
        assert [(m.loser, m.survivor) for m in bench.ledger("m_y").merges] == [("m_y", "m_x"), ("m_a", "m_x")]
    receipt = armed.undo(report.run)
    with armed.bench() as bench:
        assert [(m.loser, m.survivor) for m in bench.ledger("m_x").merges][2:] == [("m_a", "m_y"), ("m_y", None)]
    assert (receipt.merged, receipt.conflicts) == (2, ())
    assert redirects(armed) == {"m_a": "m_y"}
    assert armed.case.rows("SELECT * FROM curated_entities ORDER BY id") == rows
    with armed.bench() as bench:
        assert bench.runs()[-1].undone_by == receipt.run


def test_undo_leaves_alone_what_changed_since(armed: Lab) -> None:
    seed(armed, "bbb")
    seed(armed, "ccc")
    first = merge(armed).run
    seed(armed, "aaa")
    second = merge(armed).run
    assert first is not None
    assert second is not None
    with armed.bench() as bench:
        plan = bench.undo_plan(first)
    assert (plan.merges, plan.notes) == (
        (),
        ("changed since, left alone: ccc: expected merged into bbb, now merged into aaa",),
    )
    armed.undo(second)
    armed.undo(first)
    assert redirects(armed) == {}


def test_deleting_the_losers_redirect_restores_it_wholly(armed: Lab) -> None:
    seed(armed, "e1")
    seed(armed, "e2")
    armed.case.fact("fact_1", "e2", "imessage:turn-1")
    merge(armed)
    armed.case.run("DELETE FROM entity_redirects WHERE entity_id = 'e2'")
    with armed.bench() as bench:
        assert [f.id for f in bench.entity("e2").facts] == ["fact_1"]


def test_nothing_but_redirects_and_our_own_tables_is_written(armed: Lab) -> None:
    seed(armed, "e1")
    seed(armed, "e2")
    armed.case.fact("fact_1", "e2", None)
    edge(armed, "ed1", "e1", "e2")
    armed.case.opt_out("e2")
    armed.case.origin("e2", "degraded", "Agent")
    tables = (
        "curated_entities",
        "llm_wiki_entries",
        "llm_wiki_edges",
        "ct_entity_optouts",
        "entity_type_origin",
        "llm_wiki_meta",
    )
    before = {t: armed.case.rows(f"SELECT * FROM {t} ORDER BY 1") for t in tables}
    merge(armed)
    assert {t: armed.case.rows(f"SELECT * FROM {t} ORDER BY 1") for t in tables} == before


def test_stopping_leaves_whole_groups_and_the_next_run_finishes(armed: Lab) -> None:
    for n in range(3):
        seed(armed, f"e{n}a", f"Name {n}")
        seed(armed, f"e{n}b", f"Name {n}")
    stop = threading.Event()
    stop.set()
    report = merge(armed, stop=stop)
    assert (report.merged_groups, redirects(armed)) == (0, {})
    assert "stopped" in report.notes[-1]
    assert merge(armed).merged_groups == 3


def test_a_busy_brain_says_so_and_writes_nothing(armed: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ct_tui.brain.connection.BUSY_TIMEOUT", 0.05)
    seed(armed, "e1")
    seed(armed, "e2")
    holder = sqlite3.connect(armed.db)
    try:
        holder.execute("BEGIN IMMEDIATE")
        report = merge(armed)
    finally:
        holder.rollback()
        holder.close()
    assert "lock" in (report.error or "")
    assert report.exit_code == 1
    assert redirects(armed) == {}


def test_a_read_only_brain_reports_and_refuses(armed: Lab) -> None:
    seed(armed, "e1")
    seed(armed, "e2")
    with armed.bench(read_only=True) as bench:
        assert bench.duplicates().merged_groups == 1
        report = bench.duplicates(apply=True)
    assert (report.merged_groups, report.exit_code) == (0, 1)
    assert "read-only" in (report.error or "")


# What rulings decide


def test_a_signed_merge_is_planned_written_by_heal_and_undone(lab: Lab) -> None:
    lab.case.tier("person", "concept", fallback="concept")
    seed(lab, "ent_alex", "Alex", "person", "")
    seed(lab, "ent_smith", "Alexander Smith", "person", "the whole name")
    lab.rule(Merge("ent_smith", ("ent_alex",)))
    plan = lab.plan()
    assert [(m.entity, m.after, m.ruling) for m in plan.merges] == [("ent_alex", "ent_smith", 1)]
    report = lab.heal()
    assert (report.merged, report.as_json()["ontology"]["merged"]) == (1, 1)
    assert redirects(lab) == {"ent_alex": "ent_smith"}
    assert lab.heal().merged == 0
    with lab.bench() as bench:
        assert bench.entity("ent_alex").id == "ent_smith"
        assert report.run is not None
        (step,) = bench.run_work(report.run).merges
    assert (step.loser, step.survivor, step.ruling, step.by, step.run) == (
        "ent_alex",
        "ent_smith",
        1,
        "tester",
        report.run,
    )
    assert lab.undo(report.run).merged == 1
    assert redirects(lab) == {}
    lab.rule(Revoke(1))
    assert lab.heal().merged == 0


def test_a_saved_plan_with_merges_applies_once_and_goes_stale_when_things_move(lab: Lab, tmp_path: Path) -> None:
    lab.case.tier("person", fallback="person")
    for entity_id in ("a", "b", "c"):
        seed(lab, entity_id, f"Name {entity_id}", "person")
    lab.rule(Merge("a", ("b", "c")))
    with lab.bench() as bench:
        bench.save_plan(bench.plan(), tmp_path / "plan.json")
        plan = bench.load_plan(tmp_path / "plan.json")
    assert [m.entity for m in plan.merges] == ["b", "c"]
    lab.case.run("UPDATE curated_entities SET deleted_at = 5 WHERE id = 'c'")
    from ct_tui.domain.errors import StalePlan

    with pytest.raises(StalePlan) as stale:
        lab.apply(plan)
    assert any("c:" in d for d in stale.value.details)
    assert redirects(lab) == {}


def test_a_merge_that_cannot_be_made_is_said_so_in_the_plan(lab: Lab) -> None:
    lab.case.tier("person", fallback="person")
    seed(lab, "a", kind="person")
    lab.rule(Merge("a", ("nobody",)))
    plan = lab.plan()
    assert plan.merges == ()
    assert plan.notes == ("ruling #1: nobody is no live entity",)


def test_things_ruled_to_be_different_never_merge_and_leave_queue_and_lint(armed: Lab) -> None:
    seed(armed, "e1")
    seed(armed, "e2")
    armed.rule(Except("duplicate", ("e1", "e2")))
    report = merge(armed)
    assert (report.groups, report.apart, redirects(armed)) == ((), (("e1", "e2"),), {})
    assert armed.items(ItemKind.DUPLICATE) == []
    with armed.bench() as bench:
        assert "name-duplicate" not in bench.lint().counts


def test_not_now_holds_until_its_day(armed: Lab) -> None:
    seed(armed, "e1", summary="")
    seed(armed, "e2", summary="")
    today = dt.datetime.fromtimestamp(armed.clock(), dt.UTC).date()
    armed.rule(Except("duplicate", ("e1", "e2"), today + dt.timedelta(days=3)))
    assert armed.items(ItemKind.DUPLICATE) == []
    armed.clock.pass_days(4)
    assert [i.key for i in armed.items(ItemKind.DUPLICATE)] == ["adrian"]


def test_a_table_written_without_a_key_stops_the_merge(armed: Lab) -> None:
    seed(armed, "e1")
    seed(armed, "e2")
    armed.rule(Except("duplicate", ("e1", "e2")))
    text = armed.desk.table.read_text(encoding="utf-8")
    armed.desk.table.write_text(text.replace("e2", "e9"), encoding="utf-8")
    report = merge(armed)
    assert (report.skipped_reason, redirects(armed)) == ("rulings_untrusted", {})


@pytest.mark.parametrize(
    "body",
    [
        Merge("e1", ("e1",)),
        Merge("e1", ("nobody",)),
        Merge("gone", ("e1",)),
        Except("duplicate", ("e1",)),
        Except("duplicate", ("e1", "nobody")),
        Except("no-such-rule", ("e1",)),
        Except("rule-failed", ("name-near",)),
        Except("name-near", ("e1",), dt.date(2020, 1, 1)),
    ],
)
def test_rulings_that_cannot_act_are_refused_before_they_are_signed(armed: Lab, body: Merge | Except | Keep) -> None:
    seed(armed, "e1")
    seed(armed, "e2", "Bianca")
    seed(armed, "gone", "Gone")
    armed.case.run("UPDATE curated_entities SET deleted_at = 5 WHERE id = 'gone'")
    with armed.bench() as bench, pytest.raises(BadInput):
        bench.check(body)


def test_merging_what_is_kept_apart_is_refused(armed: Lab) -> None:
    seed(armed, "e1")
    seed(armed, "e2")
    armed.rule(Except("duplicate", ("e1", "e2")))
    with armed.bench() as bench, pytest.raises(BadInput, match="different things"):
        bench.check(Merge("e1", ("e2",)))


def test_the_impact_of_a_merge_tells_facts_and_loops_beforehand(armed: Lab) -> None:
    seed(armed, "e1")
    seed(armed, "e2", "Bianca")
    armed.case.fact("fact_1", "e2", None)
    edge(armed, "ed1", "e2", "e1")
    with armed.bench() as bench:
        impact = bench.impact(Merge("e1", ("e2",)))
    assert impact.moves == 1
    assert any("1 facts stay" in n for n in impact.notes)
    assert any("ed1" in n for n in impact.notes)


# The board and the queue


def test_the_56_rows_that_share_18_names_are_18_questions_with_an_answer_each(october_lab: Lab) -> None:
    items = october_lab.items(ItemKind.DUPLICATE)
    assert (len(items), sum(i.count for i in items)) == (18, 56)
    assert items[0].label == "Adrian"
    for item in items:
        bodies = item.data["bodies"]
        assert len(bodies) == len(item.suggestions) + 1
        assert bodies[0] == Merge(
            item.suggestions[0].type, tuple(m for m in item.entities if m != item.suggestions[0].type)
        )
        assert isinstance(bodies[-1], Except)
        assert set(bodies[-1].focus) == set(item.entities)


def test_every_group_of_that_brain_is_settled_by_its_first_answer(october_lab: Lab) -> None:
    october_lab.rule(*(item.data["bodies"][0] for item in october_lab.items(ItemKind.DUPLICATE)))
    report = october_lab.heal()
    assert report.merged == 56 - 18
    assert october_lab.items(ItemKind.DUPLICATE) == []
    with october_lab.bench() as bench:
        assert bench.duplicates().groups == ()
        assert "name-duplicate" not in bench.lint().counts
    assert report.run is not None
    assert october_lab.undo(report.run).merged == 38
    assert redirects(october_lab) == {}


def test_near_pairs_come_with_shared_evidence_and_a_comparison(armed: Lab) -> None:
    armed.case.document("/vault/n.md", "a" * 32)
    seed(armed, "e1", "Adrian Roe", "person")
    seed(armed, "e2", "Adrien Roe", "person")
    seed(armed, "e3", "Elena Poe", "person")
    inline = json.dumps({"evidence": [{"content_hash": "a" * 32}]})
    for entity_id in ("e1", "e2"):
        armed.case.fact(f"fact_{entity_id}", entity_id, inline)
        edge(armed, f"ed_{entity_id}", entity_id, "e3")
    with armed.bench() as bench:
        board = bench.duplicate_groups()
        compared = bench.side_by_side(["e1", "e2"])
    (pair,) = board.near
    assert (pair.members, pair.passages) == (("e1", "e2"), 1)
    assert "both quote 1" in "; ".join(pair.reasons)
    assert [e.id for e in compared.entities] == ["e1", "e2"]
    assert (compared.shared, compared.neighbours) == (("a" * 32,), ("Elena Poe",))
    assert compared.near == ("they differ by a slip of the pen",)


def test_facts_of_merged_ids_count_for_their_survivor(armed: Lab) -> None:
    seed(armed, "e1", summary="")
    seed(armed, "e2", summary="")
    seed(armed, "old", "Old name")
    armed.case.redirect("old", "e2")
    armed.case.fact("fact_1", "old", None)
    with armed.bench() as bench:
        (card,) = bench.duplicate_groups(near=False).groups
    assert {w.id: w.facts for w in card.members} == {"e1": 0, "e2": 1}
    assert card.suggestions[0].type == "e2"
