"""What a change of the policy would do, against what it does."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from ct_tui.domain.errors import CtTuiError, PolicyError
from ct_tui.heal.ontology_set import SetRequest
from ct_tui.heal.policy_desk import PolicyChange
from tests.policy.brains import ref

if TYPE_CHECKING:
    from tests.heal.lab import Lab

CHANGES = (
    PolicyChange(SetRequest(mode="off")),
    PolicyChange(SetRequest(mode="strict")),
    PolicyChange(SetRequest(), back=True),
    PolicyChange(SetRequest(mode="strict", dir="ops")),
    PolicyChange(SetRequest(mode="off", dir="notes")),
    PolicyChange(SetRequest(mode="off", dir="people/")),
    PolicyChange(SetRequest(dir="ops"), back=True),
    PolicyChange(SetRequest(mode="off", entity="e_notes")),
    PolicyChange(SetRequest(mode="strict", entity="e_out")),
    PolicyChange(SetRequest(entity="e_out"), back=True),
    PolicyChange(SetRequest(fallback="person")),
)


@pytest.fixture
def small(lab: Lab) -> Lab:
    """Five entities in folders of every mode, one opted out, the three aliases signed."""
    case = lab.case
    case.tier("person", "concept", "role", fallback="concept")
    for folder, digest in (("ops", "h1"), ("people", "h2"), ("notes", "h3")):
        case.document(f"{folder}/a.md", digest)
        case.entity(f"e_{folder}", "agent")
        case.fact(f"f_{folder}", f"e_{folder}", ref(digest))
    case.entity("e_none", "workflow")
    case.entity("e_out", "agent")
    case.opt_out("e_out")
    case.write_config({"ingest": {"folder_ontology": {"ops": "off", "people": "strict"}, "ontology_default": "strict"}})
    lab.found()
    return lab


@pytest.mark.parametrize("change", CHANGES, ids=lambda c: c.words)
def test_a_preview_says_what_the_change_then_does(small: Lab, change: PolicyChange) -> None:
    with small.bench() as bench:
        preview = bench.policy_desk.preview(change)
        before = bench.policy_desk.coverage
        assert preview.before.coverage == before
        assert preview.before.retypes == len(bench.plan().changes)
        bench.set_policy(change)
        assert bench.policy_desk.coverage == preview.after.coverage
        assert len(bench.plan().changes) == preview.after.retypes
        assert bench.plan().queued == preview.after.queued
        assert bench.plan().shielded + bench.plan().report_only == preview.after.shielded


@pytest.mark.parametrize("change", CHANGES, ids=lambda c: c.words)
def test_a_preview_writes_nothing(small: Lab, change: PolicyChange) -> None:
    config, dump = small.case.config.read_bytes(), small.case.rows("SELECT * FROM llm_wiki_entity_manifests")
    with small.bench() as bench:
        bench.policy_desk.preview(change)
    assert small.case.config.read_bytes() == config
    assert small.case.rows("SELECT * FROM llm_wiki_entity_manifests") == dump
    assert small.case.count("ct_entity_optouts") == 1


def test_a_change_that_makes_drift_says_so(small: Lab) -> None:
    with small.bench() as bench:
        bench.heal(apply=True)
        assert bench.policy_desk.preview(PolicyChange(SetRequest(mode="strict"))).drift is None
        assert bench.policy_desk.preview(PolicyChange(SetRequest(mode="off"))).drift is not None
        assert bench.policy_desk.preview(PolicyChange(SetRequest(mode="off", entity="e_notes"))).drift is None
        bench.set_policy(PolicyChange(SetRequest(mode="off")))
        assert bench.census().drift is not None


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (PolicyChange(SetRequest(mode="off", dir="../x")), "no path can match"),
        (PolicyChange(SetRequest(mode="off", dir="/abs")), "relative to the vault"),
        (PolicyChange(SetRequest(fallback="nobody")), "no type that the manifest"),
        (PolicyChange(SetRequest(mode="off", entity="nowhere")), "there is no entity"),
        (PolicyChange(SetRequest(entity="nowhere"), back=True), "there is no entity"),
    ],
)
def test_what_would_be_refused_is_refused_beforehand(small: Lab, change: PolicyChange, words: str) -> None:
    with small.bench() as bench:
        with pytest.raises(CtTuiError, match=words):
            bench.policy_desk.preview(change)
        with pytest.raises(CtTuiError, match=words):
            bench.set_policy(change)


def test_a_degraded_config_refuses_every_preview_but_lifting_an_opt_out(small: Lab) -> None:
    small.case.write_config({"ingest": {"folder_ontology": {"ops": "Off"}}})
    with small.bench() as bench:
        with pytest.raises(PolicyError, match="DEGRADED"):
            bench.policy_desk.preview(PolicyChange(SetRequest(mode="off")))
        lifting = PolicyChange(SetRequest(entity="e_out"), back=True)
        assert bench.policy_desk.preview(lifting).covers == 1
        bench.set_policy(lifting)
        assert small.case.count("ct_entity_optouts") == 0


def test_the_sheet_decides_as_the_gate_does(small: Lab) -> None:
    small.case.manifest("e_none", "{broken")
    with small.bench() as bench:
        sheet = bench.policy_desk.sheet
        assert {k: d.verdict.value for k, d in sheet.folders.items()} == {"ops": "off", "people": "gate"}
        assert {k: d.verdict.value for k, d in sheet.rows.items()} == {
            "tier_fact": "gate",
            "e_none": "gate",
            "e_out": "opt-out",
        }
        assert sheet.host.verdict.value == "gate"
        assert bench.policy_desk.members("ops") == ("e_ops",)
        assert bench.policy_desk.vault_folders() == (("notes", 1), ("ops", 1), ("people", 1))


def test_shielded_entities_say_by_what_wherever_they_are_listed(small: Lab) -> None:
    with small.bench() as bench:
        found = {e.id: e.shielded for e in bench.entities_by_type("agent")}
        assert found["e_ops"] == "folder 'ops' is off"
        assert found["e_out"] == "it is opted out: no gate runs"
        assert found["e_notes"] == found["e_people"] == ""
        assert bench.entity("e_ops").shielded == found["e_ops"]
        assert [e.shielded for e in bench.search("e_out")] == [found["e_out"]]


def test_mended_rows_are_those_that_heal_gives_a_fallback(october_lab: Lab) -> None:
    with october_lab.bench() as bench:
        sheet = bench.policy_desk.sheet
        assert "tier_fact" in sheet.mended
        assert sheet.coverage.verdicts == {"held": 152}
        bench.heal(apply=True)
        assert bench.policy_desk.coverage.verdicts == {"gate": 152}
        rows = october_lab.case.rows(
            "SELECT manifest_json FROM llm_wiki_entity_manifests WHERE entity_id = 'tier_fact'"
        )
        assert json.loads(rows[0][0])["fallback_node_type"] == "concept"
