"""The `ontology set` cases and the gate's through the command line, on real brain files."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.cli.conftest import Ct
    from tests.policy.brains import Case

SET = ("ontology", "set")


@pytest.fixture
def tiered(case: Case, on_case: Ct) -> Ct:
    """tier_fact strict with concept, document, process and the fallback document; one entity ent_x."""
    case.tier("concept", "document", "process", fallback="document")
    case.entity("ent_x")
    return on_case


def config(case: Case) -> Any:
    return json.loads(case.config.read_text()) if case.config.exists() else None


def own_rows(case: Case) -> list[tuple[Any, ...]]:
    return case.rows("SELECT entity_id FROM llm_wiki_entity_manifests WHERE entity_id <> 'tier_fact'")


def test_co01_a_bare_mode_sets_the_host_default(case: Case, on_case: Ct) -> None:
    done = on_case.json(*SET, "--mode", "strict")
    assert (done["mode"], done["config_written"], done["manifest_row_written"]) == ("strict", True, False)
    assert config(case)["ingest"]["ontology_default"] == "strict"
    assert case.count("llm_wiki_entity_manifests") == 0


def test_co02_a_folders_mode_stands_in_the_config(case: Case, tiered: Ct) -> None:
    done = tiered.json(*SET, "--mode", "off", "--dir", "documents/drafts")
    assert (done["dir"], done["config_written"]) == ("documents/drafts", True)
    assert config(case)["ingest"]["folder_ontology"] == {"documents/drafts": "off"}


def test_co04_off_with_a_fallback_is_refused_before_anything_is_written(case: Case, tiered: Ct) -> None:
    assert tiered.refused(*SET, "--mode", "off", "--entity", "ent_x", "--fallback", "concept")
    assert case.count("ct_entity_optouts") == 0
    assert tiered.refused(*SET, "--mode", "off", "--fallback", "nosuchtype", "--json")
    assert config(case) is None


def test_co05_a_fallback_alone_leaves_the_config(case: Case, tiered: Ct) -> None:
    done = tiered.json(*SET, "--fallback", "process")
    assert (done["fallback_written"], done["config_written"]) == (True, False)
    assert json.loads(case.raw())["fallback_node_type"] == "process"


def test_co06_entity_and_folder_exclude_each_other(case: Case, tiered: Ct) -> None:
    assert tiered.refused(*SET, "--mode", "off", "--entity", "ent_x", "--dir", "ops")
    assert config(case) is None


def test_co07_an_entity_is_opted_out_and_then_made_strict(case: Case, tiered: Ct) -> None:
    off = tiered.json(*SET, "--mode", "off", "--entity", "ent_x")
    assert (off["optout_written"], case.count("ct_entity_optouts")) == (True, 1)
    assert tiered.json("gate", "x", "--entity", "ent_x")["verdict"] == "skip"
    strict = tiered.json(*SET, "--mode", "strict", "--entity", "ent_x")
    assert (strict["optout_deleted"], strict["manifest_row_written"]) == (True, True)
    assert case.count("ct_entity_optouts") == 0
    row = json.loads(case.raw("ent_x"))
    assert "concept" in {n["type"] for n in row["node_types"]}
    assert row["fallback_node_type"] == "document"
    assert tiered.json("gate", "concept", "--entity", "ent_x")["rung"] == "1b"
    assert tiered.json(*SET, "--mode", "strict", "--entity", "ent_x")["optout_deleted"] is False


def test_co09_without_manifests_it_works_and_warns(case: Case, on_case: Ct) -> None:
    case.entity("ent_x")
    done = on_case(*SET, "--mode", "off", "--entity", "ent_x", "--json")
    assert done.code == 0
    assert done.document["warning"]
    assert done.document["warning"] in done.err


def test_co10_mode_and_fallback_in_one_go(case: Case, tiered: Ct) -> None:
    done = tiered.json(*SET, "--mode", "strict", "--fallback", "concept")
    assert (done["fallback_written"], done["config_written"]) == (True, True)
    assert json.loads(case.raw())["fallback_node_type"] == "concept"


@pytest.mark.parametrize(
    "flags",
    [[], ["--mode", "Off"], ["--mode", "loose"], ["--dir", "ops"], ["--mode", "off", "--dir", "/"],
     ["--mode", "off", "--dir", "../x"], ["--mode", "off", "--dir", "a//b"], ["--mode", "off", "--entity", "nosuch"],
     ["--mode", "strict", "--entity", "nosuch"], ["--fallback", "projct"], ["--fallback", "concept", "--entity", "ent_x"]],
    ids=" ".join,
)  # fmt: skip
def test_refusals_leave_everything_as_it_was(case: Case, tiered: Ct, flags: list[str]) -> None:
    before = case.db.read_bytes()
    assert tiered.refused(*SET, *flags, "--json")
    assert config(case) is None
    assert case.db.read_bytes() == before


def test_a_merged_id_lands_on_the_one_that_stayed(case: Case, tiered: Ct) -> None:
    case.entity("ent_lose")
    case.redirect("ent_lose", "ent_x")
    done = tiered.json(*SET, "--mode", "off", "--entity", "ent_lose")
    assert done["resolved_entity"] == "ent_x"
    assert case.rows("SELECT entity_id FROM ct_entity_optouts") == [("ent_x",)]


def test_a_degraded_config_is_refused_in_that_word(case: Case, tiered: Ct) -> None:
    case.write_config('{"ingest": {"folder_ontology": {"ops": "Off"}}}')
    before = case.config.read_bytes()
    assert "DEGRADED" in tiered.refused(*SET, "--mode", "off")
    assert case.config.read_bytes() == before


def test_what_was_set_is_taken_back(case: Case, tiered: Ct) -> None:
    tiered.json(*SET, "--mode", "off", "--dir", "ops")
    tiered.json(*SET, "--mode", "off", "--entity", "ent_x")
    tiered.json("ontology", "clear", "--dir", "ops")
    assert tiered.json("ontology", "clear", "--entity", "ent_x")["optout_deleted"] is True
    assert config(case)["ingest"].get("folder_ontology", {}) == {}
    assert case.count("ct_entity_optouts") == 0
    assert tiered.refused("ontology", "clear")


def gate(ct: Ct, label: str, *sources: str, entity: str | None = None) -> tuple[str, str | None, str | None]:
    flags = [word for source in sources for word in ("--source", source)] + (["--entity", entity] if entity else [])
    done = ct.json("gate", label, *flags)
    return done["verdict"], done["lands_as"], done["source_directory"]


def test_eg19_to_eg24_folders_and_the_host_decide(case: Case, on_case: Ct) -> None:
    case.tier("person", "concept", fallback="concept")
    case.folders(ops="off")
    assert gate(on_case, "x", "ops/a.md") == ("skip", "x", "ops/a.md")
    assert gate(on_case, "x", "ops/a.md", "ops/b.md") == ("skip", "x", "ops/a.md")
    assert gate(on_case, "x", "ops/a.md", "notes/b.md")[:2] == ("degrade", "concept")
    case.folders(ops="strict")
    assert gate(on_case, "person", "ops/a.md") == ("admit", "person", "ops/a.md")
    case.write_config({"ingest": {"ontology_default": "off"}})
    assert gate(on_case, "x") == ("skip", "x", None)
    case.write_config("{broken")
    held = on_case.json("gate", "x")
    assert (held["verdict"], held["hold_reason"]) == ("hold", "ConfigHold")


def test_eg32_to_eg34_a_row_that_cannot_gate_holds(case: Case, on_case: Ct) -> None:
    case.tier("person", "place")
    assert on_case.json("gate", "person")["hold_reason"] == "NoFallback"
    case.tier("person", fallback="thing")
    assert on_case.json("gate", "person")["hold_reason"] == "FallbackNotDeclared"
    case.tier(fallback="person")
    assert on_case.json("gate", "person")["hold_reason"] == "EmptyNodeTypes"
    before = case.count("curated_entities")
    assert on_case("mint", "A name", "--type", "person").code == 1
    assert case.count("curated_entities") == before


def test_eg18_a_brain_without_manifests_skips_and_stamps_once(case: Case, on_case: Ct) -> None:
    first = on_case.json("mint", "One", "--type", "Thing")
    assert (first["verdict"], first["lands_as"]) == ("skip", "Thing")
    on_case.json("mint", "Two")
    assert case.value("SELECT COUNT(*) FROM llm_wiki_meta WHERE key = 'initial_drift_watermark'") == 1
    reasons = case.rows("SELECT original_type, reason FROM entity_type_origin ORDER BY original_type IS NULL")
    assert reasons == [("Thing", "gate_skipped"), (None, "gate_skipped")]


def test_eg01_an_opt_out_of_a_merged_id_counts(case: Case, on_case: Ct) -> None:
    case.tier("person", fallback="person")
    for entity in ("e_surv", "e_lose", "e_other", "e_free"):
        case.entity(entity)
    case.redirect("e_lose", "e_surv")
    case.redirect("e_other", "e_surv")
    case.opt_out("e_lose")
    for entity in ("e_surv", "e_lose", "e_other"):
        assert gate(on_case, "x", entity=entity)[0] == "skip"
    assert gate(on_case, "x", entity="e_free")[0] == "degrade"


def test_eg37_a_circle_of_redirects_holds(case: Case, on_case: Ct) -> None:
    case.tier("person", fallback="person")
    case.redirect("a", "b")
    case.redirect("b", "a")
    assert on_case.json("gate", "x", "--entity", "a")["hold_reason"] == "RedirectUnresolved"
