"""The acceptance cases of heal (HO…), each through the workbench on a real brain."""

from __future__ import annotations

import json
import shlex
from typing import TYPE_CHECKING, Any

import pytest

from ct_tui.domain.rulings import Alias, Keep, Legalize, Retype, Revoke
from tests.heal.lab import START, day
from tests.policy.brains import SEEDS, ref, token

if TYPE_CHECKING:
    from tests.heal.lab import Lab

RENAME_REF = "ALTER TABLE llm_wiki_entries RENAME COLUMN source_ref TO somewhere_else"
MARKER, WATERMARK = "alias_remap_completed", "ontology_config_watermark"


@pytest.fixture
def app(lab: Lab) -> Lab:
    """The app's own situation: seed vocabulary, the founding rulings signed, e1 an agent."""
    lab.case.tier(*SEEDS, fallback="project")
    lab.case.entity("e1", "agent")
    lab.found()
    return lab


def from_document(lab: Lab, entity: str, path: str) -> None:
    """One fact of an entity that rests on one document."""
    digest = path.encode().hex()[:32].ljust(32, "0")
    lab.case.document(path, digest)
    lab.case.fact(f"fact_{entity}_{digest[:8]}", entity, ref(digest))


def counts(report: Any) -> tuple[int, int]:
    return report.retyped, report.queued


def test_ho03_an_entity_with_only_an_off_source_stays(app: Lab) -> None:
    app.case.folders(ops="off")
    from_document(app, "e1", "ops/a.md")
    report = app.heal()
    assert counts(report) == (0, 0)
    assert report.shielded == 1
    assert app.type_of("e1") == "agent"
    assert app.origin("e1") is None


def test_one_strict_source_among_off_ones_gates(app: Lab) -> None:
    """Strict wins over all documents, and then an off source still shields from an automatic retype."""
    app.case.write_config({"ingest": {"folder_ontology": {"ops": "off", "people": "strict"}}})
    from_document(app, "e1", "people/a.md")
    assert counts(app.heal()) == (1, 0)


@pytest.mark.parametrize(
    "config", [{"ingest": {"ontology_default": "off"}}, {"ontology": {"schema": "off"}}], ids=["default", "schema"]
)
def test_a_host_that_is_off_shields_everybody_without_a_row_of_their_own(app: Lab, config: dict[str, Any]) -> None:
    app.case.write_config(config)
    app.case.entity("own", "agent")
    app.case.manifest("own", {"node_types": [{"type": "role"}], "edge_types": [], "fallback_node_type": "role"})
    report = app.heal()
    assert counts(report) == (1, 0)
    assert (app.type_of("e1"), app.type_of("own")) == ("agent", "role")
    assert report.shielded == 1


def test_an_off_source_shields_even_an_entity_with_a_strict_row_of_its_own(app: Lab) -> None:
    app.case.folders(ops="off")
    app.case.manifest("e1", {"node_types": [{"type": "role"}], "edge_types": [], "fallback_node_type": "role"})
    from_document(app, "e1", "ops/a.md")
    assert app.heal().retyped == 0
    assert app.type_of("e1") == "agent"


def test_a_tier_fact_that_is_not_strict_gates_nobody(app: Lab) -> None:
    app.case.run("UPDATE llm_wiki_entity_manifests SET mode = 'emergent'")
    report = app.heal()
    assert counts(report) == (0, 0)
    assert report.unmarked_tier_fact
    assert app.items() == []


def test_ho05_a_gate_skipped_origin_waits_for_a_human(app: Lab) -> None:
    app.case.origin("e1", "gate_skipped", "agent")
    report = app.heal()
    assert counts(report) == (0, 1)
    assert app.type_of("e1") == "agent"


@pytest.mark.parametrize("reason", ["degraded", "unlabeled_landing", "gate_skipped"])
def test_every_surfacing_origin_waits(app: Lab, reason: str) -> None:
    app.case.origin("e1", reason, None if reason == "unlabeled_landing" else "agent")
    assert counts(app.heal()) == (0, 1)


@pytest.mark.parametrize("reason", ["alias_retype", "queue_retype"])
def test_records_of_earlier_retypes_do_not(app: Lab, reason: str) -> None:
    app.case.origin("e1", reason, "robot")
    assert counts(app.heal()) == (1, 0)
    assert app.origin("e1") == ("robot", reason)


def test_ho07_a_report_writes_nothing(app: Lab) -> None:
    before = app.db.read_bytes()
    report = app.report()
    assert counts(report) == (1, 0)
    assert (report.applied, report.run, report.exit_code) == (False, None, 0)
    assert app.type_of("e1") == "agent"
    assert (app.meta(MARKER), app.meta(WATERMARK), app.origin("e1")) == (None, None, None)
    assert app.db.read_bytes() == before


def test_ho08_the_first_run_stores_marker_and_watermark(app: Lab) -> None:
    report = app.heal()
    assert (report.drift, report.error, report.skipped_reason) == (None, None, None)
    now = int(START * 1000)
    assert app.meta(MARKER) == str(now)
    with app.bench() as bench:
        policy = bench.plan().binding.policy
    assert json.loads(app.meta(WATERMARK)) == {"hash": policy, "stamped_at": now}


def test_ho09_unconfirmed_drift_stops_the_retypes(app: Lab) -> None:
    app.put_watermark("deadbeef", 7)
    report = app.heal()
    assert report.skipped_reason == "unconfirmed_drift"
    assert report.drift is not None
    assert (report.drift.old_hash, report.drift.old_stamped_at) == ("deadbeef", 7)
    assert (report.retyped, report.exit_code) == (0, 1)
    assert json.loads(app.meta(WATERMARK)) == {"hash": "deadbeef", "stamped_at": 7}
    assert app.meta(MARKER) is None
    assert app.type_of("e1") == "agent"


def test_ho09_the_ensure_still_runs_under_drift(app: Lab) -> None:
    app.put_watermark("deadbeef", 7)
    report = app.heal()
    assert report.legalized == ("document", "process")
    assert '"document"' in app.case.raw()


def test_ho10_a_report_under_drift_shows_what_would_be(app: Lab) -> None:
    app.put_watermark("deadbeef", 7)
    before = app.db.read_bytes()
    report = app.report()
    assert (report.skipped_reason, report.retyped, report.exit_code) == ("unconfirmed_drift", 1, 0)
    assert app.db.read_bytes() == before


def test_the_initial_watermark_counts_where_heal_left_none(app: Lab) -> None:
    app.put_meta("initial_drift_watermark", "deadbeef")
    report = app.heal()
    assert report.skipped_reason == "unconfirmed_drift"
    assert report.drift is not None
    assert (report.drift.old_hash, report.drift.old_stamped_at) == ("deadbeef", 0)


@pytest.mark.parametrize("stored", ["deadbeef", '"deadbeef"', '{"hash": 7}', "{", b"\xff\x00", "[1]"])
def test_a_watermark_that_cannot_be_read_is_drift_and_no_crash(app: Lab, stored: str | bytes) -> None:
    app.put_meta(WATERMARK, stored)
    report = app.heal()
    assert report.skipped_reason == "unconfirmed_drift"
    assert report.drift is not None
    assert report.drift.old_hash
    assert app.heal(confirm=report.drift.old_hash).retyped == 1


@pytest.mark.parametrize("stored", ["", "a; rm -rf b", "it's"])
def test_the_hash_to_confirm_is_a_word_for_a_shell_whatever_it_is(app: Lab, stored: str) -> None:
    app.put_meta(WATERMARK, stored)
    (note,) = app.heal().notes
    words = shlex.split(note.split("confirm with ", 1)[1].split(", or waive", 1)[0])
    assert words == ["--confirm-drift", stored]
    assert app.heal(confirm=words[1]).skipped_reason is None


def test_ho12_a_corrupt_tier_fact_is_reported(app: Lab) -> None:
    app.case.manifest("tier_fact", '{"node_types": [')
    report = app.heal()
    assert report.unmarked_tier_fact
    assert counts(report)[0] == 0
    assert app.case.raw() == '{"node_types": ['


def test_ho13_a_waiver_lets_this_run_pass(app: Lab) -> None:
    app.put_watermark("deadbeef", 7)
    report = app.heal(waive="deadbeef")
    assert report.skipped_reason == "drift_waived"
    assert report.drift is not None
    assert report.drift.waived
    assert (report.retyped, report.exit_code) == (0, 0)
    assert json.loads(app.meta(WATERMARK)) == {"hash": "deadbeef", "stamped_at": 7}
    assert app.meta(MARKER) is None
    assert "document" in app.case.raw()


def test_ho14_a_wrong_confirmation_confirms_nothing(app: Lab) -> None:
    app.put_watermark("deadbeef", 7)
    for wrong in ("beef", "DEADBEEF", ""):
        assert app.heal(confirm=wrong).skipped_reason == "unconfirmed_drift"
        assert app.heal(waive=wrong).skipped_reason == "unconfirmed_drift"


def test_a_right_confirmation_heals_and_stamps_anew(app: Lab) -> None:
    app.put_watermark("deadbeef", 7)
    report = app.heal(confirm="deadbeef")
    assert (report.retyped, report.skipped_reason, report.exit_code) == (1, None, 0)
    assert report.drift is not None
    assert report.drift.confirmed
    assert json.loads(app.meta(WATERMARK))["stamped_at"] == int(START * 1000)
    assert app.heal().drift is None


def test_a_confirmation_without_drift_is_ignored_with_a_note(app: Lab) -> None:
    report = app.heal(confirm="deadbeef")
    assert (report.retyped, report.skipped_reason) == (1, None)
    assert any("ignored" in note for note in report.notes)


def test_ho17_the_other_two_aliases(app: Lab) -> None:
    app.case.run("DELETE FROM curated_entities")
    app.case.entity("c", "component")
    app.case.entity("s", "software")
    report = app.heal()
    assert counts(report) == (2, 0)
    assert (app.type_of("c"), app.type_of("s")) == ("service", "document")
    assert app.origin("c") == ("component", "alias_retype")


def test_ho18_a_type_that_the_ensure_declares_needs_nothing(app: Lab) -> None:
    app.case.run("DELETE FROM curated_entities")
    app.case.entity("p", "process")
    report = app.heal()
    assert counts(report) == (0, 0)
    assert report.legalized == ("document", "process")
    assert app.type_of("p") == "process"


def test_ho19_an_absolute_source_of_an_unknown_vault_is_not_guessed(app: Lab) -> None:
    app.case.folders(ops="off")
    from_document(app, "e1", "/gone/vault/ops/a.md")
    report = app.heal()
    assert report.retyped == 0
    assert app.type_of("e1") == "agent"


def test_ho20_nor_one_outside_of_every_folder(app: Lab) -> None:
    app.case.write_config({"ingest": {"folder_ontology": {"ops": "off", "people": "strict"}}})
    from_document(app, "e1", "/elsewhere/x.md")
    assert app.heal().retyped == 0


def test_ho21_without_tier_fact_a_strict_folder_has_no_vocabulary(app: Lab) -> None:
    app.case.run("DELETE FROM llm_wiki_entity_manifests")
    app.case.folders(people="strict")
    from_document(app, "e1", "people/x.md")
    report = app.heal()
    assert counts(report) == (0, 0)
    assert report.unmarked_tier_fact


def test_ho22_another_folder_of_the_same_length_is_drift(app: Lab) -> None:
    app.case.folders(ops="off")
    assert app.heal().drift is None
    app.case.folders(aab="off")
    assert app.heal().skipped_reason == "unconfirmed_drift"
    app.case.write_config('{"ingest":{"folder_ontology":{"ops":"off"}},"vault_path":null}')
    assert app.heal().drift is None


def test_ho26_an_opt_out_outlives_the_engine_s_rewrite(app: Lab) -> None:
    app.case.opt_out("e1")
    assert app.heal().retyped == 0
    app.case.tier(*SEEDS, "document", "process", fallback="project")
    report = app.heal()
    assert (report.retyped, report.shielded) == (0, 1)
    assert app.case.count("ct_entity_optouts") == 1
    assert app.type_of("e1") == "agent"


def test_ho27_a_corrupt_row_of_its_own_waits_for_a_human(app: Lab) -> None:
    app.case.manifest("e1", "{]")
    report = app.heal()
    assert counts(report) == (0, 1)
    assert app.case.raw("e1") == "{]"


def test_ho30_the_app_s_diagnostic_is_echoed(app: Lab) -> None:
    app.put_meta("okf_migration_diagnostic", "page 7: no title")
    assert app.report().okf_migration_diagnostic == "page 7: no title"
    assert app.heal().as_json()["ontology"]["okf_migration_diagnostic"] == "page 7: no title"


@pytest.mark.parametrize(
    "config",
    [
        '{"ingest": {"folder_ontology": {"ops": "Off"}}}',
        "{",
        '{"ingest": {"folder_ontology": {"a": "off", "a/": "strict"}}}',
    ],
    ids=["dropped", "truncated", "tie"],
)
def test_a_degraded_or_tied_config_stops_everything(app: Lab, config: str) -> None:
    app.case.write_config(config)
    before = app.db.read_bytes()
    report = app.heal()
    assert (report.skipped_reason, report.retyped, report.legalized, report.exit_code) == ("degraded_config", 0, (), 1)
    assert app.db.read_bytes() == before


def test_a_tampered_table_stops_everything(app: Lab) -> None:
    table = app.places.rulings
    table.write_bytes(table.read_bytes().replace(b'"role"', b'"person"', 1))
    before = app.db.read_bytes()
    report = app.heal()
    assert (report.skipped_reason, report.retyped, report.legalized, report.exit_code) == (
        "rulings_untrusted",
        0,
        (),
        1,
    )
    assert app.db.read_bytes() == before


def test_a_rolled_back_table_stops_everything(app: Lab) -> None:
    last_week = app.places.rulings.read_bytes()
    app.heal()
    app.rule(Keep("robot"))
    app.heal()
    app.case.entity("e2", "agent")
    app.places.rulings.write_bytes(last_week)
    before = app.db.read_bytes()
    report = app.heal()
    assert (report.skipped_reason, report.retyped) == ("rulings_untrusted", 0)
    assert app.db.read_bytes() == before
    app.places.rulings.unlink()
    assert app.heal().skipped_reason == "rulings_untrusted"


@pytest.mark.parametrize("state", ["{", "[]", '{"seq": "one"}', "", "null", '{"seq": 1e400, "hash": ""}', '{"seq": 1}'])
def test_a_head_that_somebody_garbled_in_the_brain_is_distrust_and_no_crash(app: Lab, state: str) -> None:
    app.heal()
    app.case.entity("e2", "agent")
    app.case.run("UPDATE ct_tui_state SET value = ? WHERE key = 'rulings_head'", state)
    report = app.heal()
    assert (report.skipped_reason, report.retyped) == ("rulings_untrusted", 0)
    assert app.census()["agent"]["count"] == 1


def test_a_blank_type_waits_and_no_alias_takes_it(app: Lab) -> None:
    app.case.entity("b", "  ")
    report = app.heal()
    assert counts(report) == (1, 1)
    assert app.type_of("b") == "  "


def test_casing_is_mechanical_and_goes_into_our_history_alone(app: Lab) -> None:
    app.case.entity("p", " Person ")
    report = app.heal()
    assert (report.recased, report.retyped) == (1, 1)
    assert app.type_of("p") == "person"
    assert app.origin("p") is None
    [row] = app.history("p")
    assert row == ("p", " Person ", "person", "recased", None, report.run, "tester", int(START))


def test_casing_needs_no_ruling(lab: Lab) -> None:
    lab.case.tier("Person", fallback="Person")
    lab.case.entity("p", "person")
    report = lab.heal()
    assert (report.recased, report.retyped, report.queued) == (1, 0, 0)
    assert lab.type_of("p") == "Person"


def test_an_alias_leaves_origin_and_history_in_one_go(app: Lab) -> None:
    report = app.heal(by="Ada")
    assert app.origin("e1") == ("agent", "alias_retype")
    assert app.history() == [("e1", "agent", "role", "alias_retype", 1, report.run, "Ada", int(START))]
    row = app.case.rows("SELECT source_directory, recorded_at FROM entity_type_origin WHERE entity_id = 'e1'")
    assert row == [(None, int(START))]
    assert app.case.value("SELECT updated_at FROM curated_entities WHERE id = 'e1'") == int(START)


def test_the_manifest_s_spelling_of_a_target_is_written(lab: Lab) -> None:
    lab.case.tier("Role", "person", fallback="person")
    lab.case.entity("e1", " AGENT")
    lab.rule(Alias("Agent", " ROLE "))
    assert lab.heal().retyped == 1
    assert lab.type_of("e1") == "Role"
    assert lab.origin("e1") == (" AGENT", "alias_retype")


def test_an_alias_of_which_the_target_is_undeclared_moves_nothing(lab: Lab) -> None:
    lab.case.tier("person", fallback="person")
    lab.case.entity("e1", "agent")
    lab.rule(Alias("agent", "role"))
    assert counts(lab.heal()) == (0, 1)


def test_an_own_strict_row_decides_for_its_entity(app: Lab) -> None:
    app.case.manifest("e1", {"node_types": [{"type": "agent"}], "edge_types": [], "fallback_node_type": "agent"})
    app.case.manifest("e2", {"node_types": [{"type": "thing"}], "edge_types": [], "fallback_node_type": "thing"})
    app.case.entity("e2", "person")
    report = app.heal()
    assert counts(report) == (0, 1)
    assert (app.type_of("e1"), app.type_of("e2")) == ("agent", "person")


def test_a_retype_ruling_moves_just_its_entities_and_first_origin_wins(app: Lab) -> None:
    app.case.entity("e2", "job")
    app.case.entity("e3", "job")
    app.case.origin("e2", "degraded", "vacancy")
    app.rule(Retype(("e2",), "job", "role"))
    report = app.heal()
    assert (report.retyped, report.queued) == (2, 1)
    assert (app.type_of("e2"), app.type_of("e3")) == ("role", "job")
    assert app.origin("e2") == ("vacancy", "degraded")
    assert [r[3] for r in app.history("e2")] == ["queue_retype"]
    app.rule(Retype(("e3",), "job", "role"))
    app.heal()
    assert app.origin("e3") == ("job", "queue_retype")


def test_a_retype_reaches_declared_types_too(app: Lab) -> None:
    app.case.entity("e2", "person")
    app.rule(Retype(("e2",), "person", "organization"))
    assert app.heal().retyped == 2
    assert app.origin("e2") == ("person", "queue_retype")


def test_a_retype_leaves_alone_who_is_something_else_by_now(app: Lab) -> None:
    app.case.entity("e2", "person")
    app.rule(Retype(("e2", "gone"), "job", "role"))
    assert app.heal().retyped == 1
    assert app.type_of("e2") == "person"


def test_a_retype_never_moves_a_shielded_entity(app: Lab) -> None:
    app.rule(Retype(("e1",), "agent", "person"))
    app.case.opt_out("e1")
    report = app.heal()
    assert (report.retyped, report.shielded) == (0, 1)


def test_keep_ends_with_its_day(app: Lab) -> None:
    app.case.run("DELETE FROM curated_entities")
    app.case.entity("j", "job")
    app.rule(Keep("Job", until=day("2026-11-10")))
    assert counts(app.heal()) == (0, 0)
    assert app.census()["job"]["kept"] == 1
    app.clock.pass_days(8)  # the last day itself
    assert app.report().queued == 0
    app.clock.pass_days(1)
    assert app.report().queued == 1


def test_keep_for_good_and_by_entity(app: Lab) -> None:
    app.case.run("DELETE FROM curated_entities")
    for entity in ("j1", "j2"):
        app.case.entity(entity, "job")
    app.rule(Keep(entities=("j1",)))
    report = app.report()
    assert (report.queued, report.kept) == (1, 1)
    app.clock.pass_days(5_000)
    assert app.report().kept == 1


def test_a_revoked_alias_stops_and_what_it_did_stays(app: Lab) -> None:
    app.heal()
    app.rule(Revoke(1))
    app.case.entity("e2", "agent")
    report = app.heal()
    assert counts(report) == (0, 1)
    assert (app.type_of("e1"), app.type_of("e2")) == ("role", "agent")


def test_a_superseding_alias_takes_over(app: Lab) -> None:
    app.rule(Alias("agent", "person"), supersedes=1)
    app.heal()
    assert app.type_of("e1") == "person"


def test_a_legalisation_of_a_row_that_is_not_there_adds_nothing(lab: Lab) -> None:
    lab.case.tier("person", fallback="person")
    lab.rule(Legalize("robot", "A machine.", manifests=("no_such_row",)))
    report = lab.heal()
    assert (report.legalized, report.error) == ((), None)


def test_a_token_stands_for_the_evidence_of_its_fact(app: Lab) -> None:
    app.case.folders(ops="off")
    app.case.document("ops/a.md", "f" * 32)
    app.case.fact("fact_1", "e1", token("fact_1"))
    evidence = json.dumps({"proposal_id": "p", "evidence": [{"content_hash": "f" * 32, "quote": "q"}]})
    app.case.run("INSERT INTO librarian_evidence VALUES ('fact_1', 'p', ?, 0, 1)", evidence)
    assert counts(app.heal()) == (0, 0)


def test_a_lost_source_is_reported_where_an_off_folder_might_have_held_it(app: Lab) -> None:
    app.case.fact("fact_1", "e1", ref("0" * 32))
    app.case.folders(ops="off")
    report = app.heal()
    assert (report.retyped, report.report_only) == (0, 1)


@pytest.mark.parametrize("damage", ["DROP TABLE llm_wiki_entries", RENAME_REF], ids=["no table", "no column"])
def test_facts_that_cannot_be_read_are_lost_sources_and_no_absent_ones(app: Lab, damage: str) -> None:
    app.case.folders(ops="off")
    from_document(app, "e1", "ops/a.md")
    app.case.run(damage)
    report = app.heal()
    assert counts(report) == (0, 0)
    assert report.report_only == 1
    assert app.type_of("e1") == "agent"
    assert app.census()["agent"]["report_only"] == 1


def test_a_lost_source_matters_to_nobody_without_off_folders(app: Lab) -> None:
    app.case.fact("fact_1", "e1", ref("0" * 32))
    assert app.heal().retyped == 1


def test_an_archived_entity_is_left_alone(app: Lab) -> None:
    app.case.run("UPDATE curated_entities SET deleted_at = 5")
    assert counts(app.heal()) == (0, 0)
    assert app.type_of("e1") == "agent"


def test_a_second_heal_finds_nothing_left(app: Lab) -> None:
    app.case.entity("p", "Person")
    app.case.entity("j", "job")
    first = app.heal()
    assert (first.retyped, first.recased, first.queued, first.legalized) == (1, 1, 1, ("document", "process"))
    before = app.types()
    second = app.heal()
    assert (second.retyped, second.recased, second.queued, second.legalized) == (0, 0, 1, ())
    assert app.types() == before
    assert len(app.history()) == 2


def test_the_file_stays_the_app_s(app: Lab) -> None:
    """No version row, no column on foreign tables, only tables of our own are added."""
    schema = "SELECT type, name, tbl_name, sql FROM sqlite_master WHERE name NOT LIKE 'ct_tui%' AND tbl_name NOT LIKE 'ct_tui%'"
    before, versions = app.case.rows(schema), app.case.rows("SELECT * FROM schema_version")
    app.heal()
    assert app.case.rows(schema) == before
    assert app.case.rows("SELECT * FROM schema_version") == versions
    assert {"ct_tui_run", "ct_tui_type_change", "ct_tui_state"} <= app.own_tables()


def test_october(october_lab: Lab) -> None:
    """The numbers that the October brain must give, from the first report to the undo."""
    lab = october_lab
    before, manifest = lab.types(), lab.case.raw()
    first = lab.heal()
    assert (first.retyped, first.queued, first.skipped_reason) == (0, 53, None)
    with lab.bench() as bench:
        bench.adopt(founding_file(lab))
    with lab.bench() as bench:
        plan = bench.plan()
    assert {(f, t): n for f, t, _, n in plan.flows()} == {
        ("agent", "role"): 10,
        ("software", "document"): 7,
        ("component", "service"): 3,
    }
    second = lab.heal()
    assert (second.retyped, second.queued, second.legalized) == (20, 1, ("document", "process"))
    census = lab.census()
    assert census["document"]["status"] == census["process"]["status"] == "declared"
    with lab.bench() as bench:
        assert bench.census().census.declared_types == 20
        assert bench.vocabulary().fallback == "concept"
    [job] = [i for i in lab.items() if i.kind.slug == "type"]
    assert (job.label, job.count) == ("job", 1)
    third = lab.heal()
    assert (third.retyped, third.queued) == (0, 1)
    assert second.run is not None
    assert lab.undo(second.run).retyped == 20
    assert lab.types() == before
    assert manifest != lab.case.raw()


def founding_file(lab: Lab) -> Any:
    from ct_tui.policy.shipped import founding_text

    file = lab.case.folder / "founding.yaml"
    file.write_text(founding_text(), encoding="utf-8")
    return file
