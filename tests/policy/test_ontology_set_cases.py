"""Acceptance cases OS01 to OS07 and CO01 to CO10: `ontology set` and what it leaves behind."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest

from ct_tui.domain.errors import BadInput, BrainBusy, BrainError, CtTuiError, PolicyError
from ct_tui.domain.ladder import Verdict
from ct_tui.domain.manifest import TIER_FACT
from ct_tui.heal.ontology_set import SetRequest, SetResult, clear_ontology, set_ontology
from ct_tui.heal.ontology_show import show_ontology
from tests.policy.brains import Case, manifest, ref

if TYPE_CHECKING:
    from pathlib import Path


def do(case: Case, **flags: Any) -> SetResult:
    brain = case.open()
    try:
        return set_ontology(brain, case.config, SetRequest(**flags), clock=lambda: 1_760_000_000.0)
    finally:
        brain.close()


def snapshot(case: Case) -> tuple[Any, ...]:
    """Everything that a refused command must leave alone."""
    tables = ("llm_wiki_entity_manifests", "ct_entity_optouts", "llm_wiki_meta", "curated_entities")
    rows = tuple(tuple(case.rows(f"SELECT * FROM {t} ORDER BY 1")) for t in tables)
    return (
        rows,
        case.config.read_bytes() if case.config.exists() else None,
        sorted(p.name for p in case.folder.iterdir()),
    )


def refused(case: Case, error: type[CtTuiError], match: str, **flags: Any) -> CtTuiError:
    before = snapshot(case)
    with pytest.raises(error, match=match) as caught:
        do(case, **flags)
    assert snapshot(case) == before
    assert caught.value.exit_code == 1
    return caught.value


@pytest.fixture
def tiered(case: Case) -> Case:
    case.manifest(TIER_FACT, manifest("concept", "document", "process", fallback="document", extra=[1, 2]))
    for entity in ("ent_x", "ent_lose"):
        case.entity(entity)
    return case


def test_os01_off_then_strict(tiered: Case) -> None:
    off = do(tiered, mode="off", entity="ent_x")
    assert (off.optout_written, off.manifest_row_written) == (True, False)
    assert tiered.decide(entity="ent_x").verdict is Verdict.OPT_OUT
    strict = do(tiered, mode="strict", entity="ent_x")
    assert (strict.optout_deleted, strict.manifest_row_written) == (True, True)
    assert tiered.decide(entity="ent_x").rung == "1b"
    row = json.loads(tiered.raw("ent_x"))
    assert row == manifest("concept", "document", "process", fallback="document")
    assert tiered.count("ct_entity_optouts") == 0
    assert do(tiered, mode="strict", entity="ent_x").optout_deleted is False


def test_os02_strict_needs_tier_fact(case: Case) -> None:
    case.entity("ent_x")
    refused(case, PolicyError, "tier_fact", mode="strict", entity="ent_x")


def test_os03_a_merged_away_id_writes_on_its_survivor(tiered: Case) -> None:
    tiered.redirect("ent_lose", "ent_x")
    off = do(tiered, mode="off", entity="ent_lose")
    assert tiered.rows("SELECT entity_id, created_at FROM ct_entity_optouts") == [("ent_x", 1_760_000_000)]
    assert off.as_json()["resolved_entity"] == "ent_x"
    tiered.opt_out("ent_lose")
    assert do(tiered, mode="strict", entity="ent_lose").optout_deleted is True
    assert tiered.count("ct_entity_optouts") == 0
    assert json.loads(tiered.raw("ent_x"))["fallback_node_type"] == "document"
    assert tiered.value("SELECT COUNT(*) FROM llm_wiki_entity_manifests WHERE entity_id = 'ent_lose'") == 0


def test_os05_an_unknown_id_is_refused(tiered: Case) -> None:
    refused(tiered, CtTuiError, "no entity", mode="off", entity="ent_nobody")
    tiered.redirect("a", "b")
    tiered.redirect("b", "a")
    refused(tiered, PolicyError, "circle", mode="off", entity="a")


def test_os05_an_archived_entity_is_accepted(tiered: Case) -> None:
    tiered.run("UPDATE curated_entities SET deleted_at = 5 WHERE id = 'ent_x'")
    assert do(tiered, mode="off", entity="ent_x").optout_written


def test_os07_a_fallback_is_declared_or_refused(tiered: Case) -> None:
    assert do(tiered, fallback=" Process ").fallback_written
    assert json.loads(tiered.raw())["fallback_node_type"] == "process"
    assert json.loads(tiered.raw())["extra"] == [1, 2]
    assert tiered.value("SELECT updated_at FROM llm_wiki_entity_manifests") == 1_760_000_000
    error = refused(tiered, PolicyError, "projct", fallback="projct")
    assert "concept, document, process" in error.remedy
    refused(tiered, PolicyError, "no manifest row for ent_x", fallback="document", entity="ent_x")


def test_a_fallback_may_name_a_row_that_is_no_entitys(tiered: Case) -> None:
    tiered.manifest("tier_wisdom", manifest("Gadget"))
    assert do(tiered, fallback="gadget", entity="tier_wisdom").fallback_written
    assert json.loads(tiered.raw("tier_wisdom"))["fallback_node_type"] == "Gadget"
    assert json.loads(tiered.raw())["fallback_node_type"] == "document"
    refused(tiered, CtTuiError, "no entity", mode="strict", entity="tier_wisdom")


def test_co01_a_bare_mode_sets_the_host_default(case: Case) -> None:
    done = do(case, mode="strict").as_json()
    assert (done["config_written"], done["manifest_row_written"]) == (True, False)
    assert json.loads(case.config.read_text()) == {"ingest": {"ontology_default": "strict"}}
    assert case.count("llm_wiki_entity_manifests") == 0


def test_co02_a_folder_goes_into_the_map(case: Case) -> None:
    case.write_config({"vault_path": "/v", "ingest": {"folder_ontology": {"documents\\drafts/": "strict", "a": "off"}}})
    do(case, mode="off", dir="/documents/drafts/".strip("/") + "/")
    assert json.loads(case.config.read_text()) == {
        "vault_path": "/v",
        "ingest": {"folder_ontology": {"a": "off", "documents/drafts": "off"}},
    }


def test_co04_contradictions_are_refused_before_anything_is_written(tiered: Case) -> None:
    tiered.write_config({"ingest": {}})
    refused(tiered, BadInput, "fallback", mode="off", entity="ent_x", fallback="document")
    refused(tiered, PolicyError, "nosuchtype", mode="off", fallback="nosuchtype")


def test_co05_a_fallback_alone_leaves_the_config(tiered: Case) -> None:
    done = do(tiered, fallback="process").as_json()
    assert (done["fallback_written"], done["config_written"]) == (True, False)
    assert not tiered.config.exists()


@pytest.mark.parametrize(
    ("flags", "match"),
    [
        ({"mode": "off", "entity": "ent_x", "dir": "a"}, "exclude"),
        ({"mode": "Off"}, "off or strict"),
        ({}, "nothing to set"),
        ({"dir": "a", "fallback": "document"}, "--dir needs --mode"),
    ],
)
def test_co06_flags_that_contradict(tiered: Case, flags: dict[str, str], match: str) -> None:
    refused(tiered, BadInput, match, **flags)


@pytest.mark.parametrize("folder", ["/abs/notes", "", "/", "./notes", "a/../b", "a//b", "C:\\notes", "\\notes"])
def test_a_folder_must_be_relative_and_matchable(tiered: Case, folder: str) -> None:
    refused(tiered, PolicyError, "relative|match", mode="off", dir=folder)


def test_a_folder_that_is_no_unicode_is_refused(tiered: Case) -> None:
    refused(tiered, PolicyError, "Unicode", mode="off", dir="notes/\udcff")


def test_co07_an_entity_off_and_strict_again(tiered: Case) -> None:
    assert do(tiered, mode="off", entity="ent_x").as_json() == {
        "mode": "off", "entity": "ent_x", "optout_written": True, "optout_deleted": False,
        "manifest_row_written": False, "fallback_written": False, "config_written": False,
    }  # fmt: skip
    assert tiered.count("ct_entity_optouts") == 1
    done = do(tiered, mode="strict", entity="ent_x").as_json()
    assert (done["optout_deleted"], done["manifest_row_written"]) == (True, True)
    assert "concept" in tiered.raw("ent_x")
    assert "fallback_node_type" in tiered.raw("ent_x")


def test_co09_a_brain_without_manifests_warns(case: Case) -> None:
    case.entity("ent_x")
    done = do(case, mode="off", entity="ent_x").as_json()
    assert done["optout_written"]
    assert "manifest" in done["warning"]


def test_co10_mode_and_fallback_together(tiered: Case) -> None:
    tiered.tier("concept", "document")
    done = do(tiered, mode="strict", fallback="document")
    assert (done.config_written, done.fallback_written) == (True, True)
    assert json.loads(tiered.raw())["fallback_node_type"] == "document"


def test_a_strict_row_that_could_not_gate_is_refused(case: Case) -> None:
    case.entity("ent_x")
    case.tier("concept", "document")
    refused(case, PolicyError, "could not gate", mode="strict", entity="ent_x")
    assert do(case, mode="strict", entity="ent_x", fallback="Concept").manifest_row_written
    assert json.loads(case.raw("ent_x"))["fallback_node_type"] == "concept"
    assert "fallback_node_type" not in case.raw()


@pytest.mark.parametrize("text", ["{", "[]", '{"node_types": "x"}', '{"edge_types": []}'])
def test_a_tier_fact_that_cannot_be_copied_is_refused(case: Case, text: str) -> None:
    case.entity("ent_x")
    case.manifest(TIER_FACT, text)
    refused(case, PolicyError, "tier_fact", mode="strict", entity="ent_x")


def test_the_copy_keeps_the_bytes_of_what_it_copies(case: Case) -> None:
    case.entity("ent_x")
    case.manifest(TIER_FACT, '{"k":1, "node_types" : [ {"type":"caf\\u00e9", "n":1.50} ],"fallback_node_type":"CAFÉ"}')
    do(case, mode="strict", entity="ent_x")
    assert case.raw("ent_x") == '{"node_types":[ {"type":"caf\\u00e9", "n":1.50} ],"fallback_node_type":"CAFÉ"}'
    assert case.decide(entity="ent_x").verdict is Verdict.GATE


@pytest.mark.parametrize(
    ("config", "match"),
    [
        ("{", "DEGRADED"),
        ('{"ingest": []}', "DEGRADED"),
        ('{"ingest": {"ontology_default": "Off"}}', "DEGRADED"),
        ('{"ingest": {"folder_ontology": {"ops": "Off"}}}', "DEGRADED"),
        ('{"ingest": {"folder_ontology": {"ops": "off", "ops/": "strict"}}}', "ambiguous"),
    ],
)
@pytest.mark.parametrize("flags", [{"mode": "strict"}, {"mode": "off", "entity": "ent_x"}, {"fallback": "document"}])
def test_a_config_that_is_not_whole_refuses_everything(
    tiered: Case, config: str, match: str, flags: dict[str, str]
) -> None:
    tiered.write_config(config)
    error = refused(tiered, PolicyError, match, **flags)
    assert error.details


def test_an_ontology_block_that_cannot_be_read_stays_as_it_is(case: Case) -> None:
    case.write_config('{"ontology": {"schema": "nope"}, "ingest": {"x": 1}}')
    do(case, mode="strict")
    assert json.loads(case.config.read_text())["ontology"] == {"schema": "nope"}
    assert json.loads(case.config.read_text())["ingest"] == {"x": 1, "ontology_default": "strict"}


def test_a_locked_brain_is_said_so_and_nothing_is_half_done(tiered: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ct_tui.brain.connection.BUSY_TIMEOUT", 0.05)
    with closing(sqlite3.connect(tiered.db)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(BrainBusy):
            do(tiered, mode="off", entity="ent_x")
        with pytest.raises(BrainBusy):
            do(tiered, mode="strict", fallback="process")
    assert not tiered.config.exists()
    assert tiered.count("ct_entity_optouts") == 0


def test_a_config_that_cannot_be_replaced_is_said_with_what_was_done(tiered: Case, tmp_path: Path) -> None:
    brain = tiered.open()
    nowhere = tmp_path / "no such folder" / "config.json"
    with pytest.raises(PolicyError, match="cannot be written") as caught:
        set_ontology(brain, nowhere, SetRequest(mode="strict", fallback="process"))
    assert any("fallback had been written" in line for line in caught.value.diagnostics())


def test_a_read_only_brain_refuses(tiered: Case) -> None:
    from ct_tui.brain.connection import Brain

    brain = Brain(tiered.db, read_only=True)
    for request in (SetRequest(mode="off"), SetRequest(mode="off", entity="ent_x")):
        with pytest.raises(BrainError, match="read-only"):
            set_ontology(brain, tiered.config, request)
    assert not tiered.config.exists()


def test_settings_can_be_taken_back(tiered: Case) -> None:
    do(tiered, mode="off", entity="ent_x")
    do(tiered, mode="off", dir="ops")
    do(tiered, mode="off")
    brain = tiered.open()
    assert clear_ontology(brain, tiered.config, entity="ent_x").optout_deleted
    assert clear_ontology(brain, tiered.config, folder="ops/").config_written
    clear_ontology(brain, tiered.config, host=True)
    assert json.loads(tiered.config.read_text()) == {"ingest": {"folder_ontology": {}}}
    assert tiered.count("ct_entity_optouts") == 0
    with pytest.raises(BadInput):
        clear_ontology(brain, tiered.config)


def test_show_says_what_each_part_decides(tiered: Case) -> None:
    tiered.manifest("ent_x", "{broken")
    tiered.manifest("tier_wisdom", manifest("a"))
    tiered.opt_out("ent_lose")
    tiered.write_config({"ingest": {"folder_ontology": {"ops": "off", "./x": "off", "bad": "Off"}}})
    tiered.document("ops/a.md", "h1")
    tiered.document("notes/b.md", "h2")
    tiered.fact("f1", "ent_x", ref("h1"))
    tiered.fact("f2", "ent_x", ref("h2"))
    brain = tiered.open()
    with brain.snapshot() as db:
        shown = show_ontology(db, brain.schema, tiered.policy).as_json()
    assert [(m["id"], m["usable"]) for m in shown["manifests"]] == [
        (TIER_FACT, True), ("ent_x", False), ("tier_wisdom", False),
    ]  # fmt: skip
    assert shown["manifests"][1]["error"]
    assert shown["manifests"][2]["hold_reason"] == "NoFallback"
    assert [(f["key"], f["mode"], f["entities"]) for f in shown["policy"]["folders"]] == [
        ("ops", "off", 1), ("./x", "off", 0), ("bad", None, 0),
    ]  # fmt: skip
    assert shown["policy"]["uncovered_entities"] == 1
    assert shown["policy"]["state"] == "degraded"
    assert [(o["entity"], o["covers"]) for o in shown["optouts"]] == [("ent_lose", "ent_lose")]
    json.dumps(shown)
