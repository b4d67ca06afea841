"""Acceptance cases EN01 to EN16: what the ensure adds to a manifest row, with signed legalisations."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

from ct_tui.brain import own, readers
from ct_tui.domain.ensure import (
    APP_EPOCH,
    Ensured,
    EnsurePlan,
    memo_epoch,
    memo_key,
    plan_manifest_ensure,
)
from ct_tui.domain.holds import EmptyNodeTypes, FallbackNotDeclared
from ct_tui.domain.manifest import TIER_FACT, EdgeType, read_manifest_row, read_vocabulary
from ct_tui.domain.plan import ManifestChange
from ct_tui.domain.redirects import Redirects
from ct_tui.domain.rulings import EdgeRepair, InForce, Legalize, Repair
from tests.policy.brains import FOREIGN, FOUNDING, SEEDS, Case, acting, manifest

if TYPE_CHECKING:
    from collections.abc import Collection


@dataclass
class Summary:
    """What one pass did."""

    visited: int = 0
    extended: int = 0
    fallbacks_set: int = 0
    unusable_vocabulary: tuple[str, ...] = ()
    raced: int = 0

    def count(self, plan: EnsurePlan, *, raced: bool = False) -> None:
        self.visited += 1
        self.raced += raced
        self.extended += plan.writes and not raced and plan.extended
        self.fallbacks_set += plan.writes and not raced and plan.fallback_set
        self.unusable_vocabulary += (plan.entity_id,) if plan.outcome is Ensured.UNUSABLE else ()


def planned(
    document: Any, mode: str = "strict", rulings: InForce = FOUNDING, memos: Collection[str] = (), row: str = TIER_FACT
) -> EnsurePlan:
    text = document if isinstance(document, str) else json.dumps(document)
    return plan_manifest_ensure(read_manifest_row(row, mode, text), rulings, memos)


def ensure(case: Case, rulings: InForce = FOUNDING) -> Summary:
    """One pass over every row of a real brain: plan, compare-and-swap, memo in the same transaction."""
    brain = case.open()
    with brain.snapshot() as db:
        state = readers.state(db, brain.schema)
    redirects, summary = Redirects(state.redirects), Summary()
    for key, row in state.manifests.rows.items():
        memos = state.memos.get(key, frozenset())
        plan = plan_manifest_ensure(row, rulings, memos, redirected=key in redirects)
        if plan.memo is not None and plan.outcome is not Ensured.ALREADY_ENSURED:
            change = ManifestChange(key, plan.old_raw, plan.new_raw)

            def job(db: Any, change: ManifestChange = change, plan: EnsurePlan = plan) -> bool:
                if plan.writes and not own.swap_manifest(db, change):
                    return False
                own.put_memo(db, plan.entity_id, str(plan.memo), 1)
                return True

            summary.count(plan, raced=not brain.write(job))
        else:
            summary.count(plan)
    brain.close()
    return summary


def test_en01_the_seed_family_is_extended_and_gets_project() -> None:
    first = planned(manifest(*SEEDS))
    assert first.outcome is Ensured.ENSURED
    assert [node.name for _, node in first.types] == ["document", "process"]
    assert [ruling.seq for ruling, _ in first.types] == [4, 5]
    assert first.fallback == "project"
    assert first.memo is not None
    second = planned(first.new_raw, memos={first.memo})
    assert (second.outcome, second.writes) == (Ensured.ALREADY_ENSURED, False)


def test_en02_concept_is_preferred() -> None:
    assert planned(manifest(*SEEDS, "Concept")).fallback == "Concept"


def test_en03_a_foreign_row_gets_only_a_fallback() -> None:
    found = planned(manifest(*FOREIGN))
    assert (found.outcome, found.types, found.fallback) == (Ensured.ENSURED, (), "project")


def test_en04_a_foreign_row_without_a_preferred_fallback_is_reported() -> None:
    found = planned(manifest(*(f"novel_{i}" for i in range(5))))
    assert (found.outcome, found.writes, found.memo) == (Ensured.FOREIGN_NO_FALLBACK, False, None)


def test_en07_a_foreign_row_without_types_is_unusable() -> None:
    found = planned(manifest(fallback="person"))
    assert (found.outcome, found.memo) == (Ensured.UNUSABLE, None)
    assert found.hold == EmptyNodeTypes(TIER_FACT, "person")


def test_en08_memos_of_an_older_planner_do_not_count(case: Case) -> None:
    case.manifest("ghost_row", manifest("person", fallback="ghost"))
    case.manifest(TIER_FACT, manifest(*SEEDS, "document", "process", fallback="ghost"))
    for row in ("ghost_row", TIER_FACT):
        digest = hashlib.sha256(case.raw(row).encode()).hexdigest()
        case.run("INSERT INTO manifest_ensure_memo VALUES (?, ?, 1)", row, digest)
    before = case.raw("ghost_row")
    summary = ensure(case)
    assert summary.unusable_vocabulary == ("ghost_row",)
    assert (summary.visited, summary.extended, summary.fallbacks_set) == (2, 0, 1)
    assert case.raw("ghost_row") == before
    assert case.rows("SELECT COUNT(*) FROM manifest_ensure_memo WHERE entity_id = ?", TIER_FACT) == [(1,)]
    again = planned(
        case.raw(), memos={case.value("SELECT manifest_hash FROM manifest_ensure_memo WHERE entity_id = ?", TIER_FACT)}
    )
    assert again.outcome is Ensured.ALREADY_ENSURED


def test_en09_only_a_strict_row_can_be_unusable() -> None:
    document = manifest("person", fallback="ghost")
    off = planned(document, mode="off")
    assert off.outcome is Ensured.ALREADY_COMPLETE
    strict = planned(document, memos={off.memo or ""})
    assert strict.hold == FallbackNotDeclared(TIER_FACT, "ghost", ("person",))


def test_en12_a_stripped_fallback_is_set_again(case: Case) -> None:
    case.manifest(TIER_FACT, manifest(*SEEDS))
    ensure(case)
    document = json.loads(case.raw())
    del document["fallback_node_type"]
    case.manifest(TIER_FACT, document)
    assert ensure(case).fallbacks_set == 1
    assert json.loads(case.raw())["fallback_node_type"] == "project"


def test_en14_a_memo_exists_only_after_the_commit(case: Case) -> None:
    case.manifest(TIER_FACT, manifest(*SEEDS))
    brain = case.open()
    plan = planned(case.raw())

    def fails(db: Any) -> None:
        own.swap_manifest(db, ManifestChange(TIER_FACT, plan.old_raw, plan.new_raw))
        own.put_memo(db, TIER_FACT, str(plan.memo), 1)
        raise RuntimeError("power cut")

    with pytest.raises(RuntimeError, match="power cut"):
        brain.write(fails)
    assert case.count("manifest_ensure_memo") == 0
    assert case.raw() == plan.old_raw
    ensure(case)
    assert case.count("manifest_ensure_memo") == 1


def test_en15_an_optout_survives_a_manifest_rewrite_and_the_ensure(case: Case) -> None:
    case.opt_out(TIER_FACT)
    case.manifest(TIER_FACT, manifest(*SEEDS), mode="emergent")
    ensure(case)
    assert case.rows("SELECT entity_id FROM ct_entity_optouts") == [(TIER_FACT,)]


def test_en16_a_pass_reports_what_it_did(case: Case) -> None:
    case.manifest(TIER_FACT, manifest(*SEEDS))
    summary = ensure(case)
    assert (summary.visited, summary.extended, summary.fallbacks_set) == (1, 1, 1)
    assert case.count("manifest_ensure_memo") == 1
    again = ensure(case)
    assert (again.visited, again.extended, again.fallbacks_set) == (1, 0, 0)


def test_the_memo_recipe() -> None:
    assert memo_key("strict", "{}") == "e4b10d11c38cb8e8338488ad4985bbf15745b48bc196a0b6f4fc8118d1cc9c32"


def test_a_row_that_the_app_would_still_extend_never_bears_the_apps_memo() -> None:
    bare = planned(manifest(*SEEDS, fallback="project"), rulings=InForce())
    assert bare.outcome is Ensured.ALREADY_COMPLETE
    assert bare.memo != memo_key("strict", bare.new_raw)
    full = read_vocabulary(manifest(*SEEDS, "Document", "process"))
    assert memo_epoch(full) == APP_EPOCH


def test_a_ruling_signed_after_the_memo_still_acts() -> None:
    first = planned(manifest(*SEEDS, "document", "process", fallback="project"))
    later = acting(Legalize("repository", "Where code lives."))
    found = planned(first.new_raw, rulings=later, memos={first.memo or ""})
    assert [node.name for _, node in found.types] == ["repository"]


def test_nothing_but_what_is_added_changes_in_the_text() -> None:
    pretty = json.dumps({"z": [1.50, "é"], **manifest(*SEEDS, "concept"), "unknown": {"a": None}}, indent=3)
    found = planned(pretty)
    for line in pretty.splitlines():
        assert line.rstrip(",") in found.new_raw
    assert json.loads(found.new_raw)["unknown"] == {"a": None}
    left = json.loads(found.new_raw)
    del left["fallback_node_type"]
    left["node_types"] = left["node_types"][:-2]
    assert left == json.loads(pretty)


def test_a_declared_type_in_another_casing_is_not_added_twice() -> None:
    assert planned(manifest(*SEEDS, " Document ", "PROCESS", fallback="project")).outcome is Ensured.ALREADY_COMPLETE


def test_legalisations_reach_only_the_rows_they_name() -> None:
    named = acting(Legalize("gadget", "A thing.", manifests=("tier_wisdom",)))
    document = manifest("person", fallback="person")
    assert planned(document, rulings=named).outcome is Ensured.ALREADY_COMPLETE
    found = planned(document, rulings=named, row="tier_wisdom")
    assert json.loads(found.new_raw)["node_types"][-1] == {"type": "gadget", "description": "A thing."}


def test_a_legalised_type_brings_its_edges_in_the_manifests_spelling() -> None:
    body = Legalize(
        "repository", "Code.", edges=(EdgeType("PARTOF", "Repository", "Project"), EdgeType("uses", "x", "y"))
    )
    document = manifest("Project", fallback="Project")
    document["edge_types"] = [{"type": "partOf", "source_type": "Project", "target_type": "Project"}]
    found = planned(document, rulings=acting(body))
    assert json.loads(found.new_raw)["edge_types"][-1] == {
        "type": "partOf", "source_type": "repository", "target_type": "Project", "description": "",
    }  # fmt: skip
    assert len(found.edges) == 1
    assert "not both of them declared" in found.problems[0]


def test_a_widened_signature_is_added_once() -> None:
    widen = acting(EdgeRepair(Repair.WIDEN, triple=("knows", "person", "Project")))
    found = planned(manifest("person", "project", fallback="person"), rulings=widen)
    assert [edge.name for _, edge in found.edges] == ["knows"]
    assert planned(found.new_raw, rulings=widen).outcome is Ensured.ALREADY_COMPLETE


@pytest.mark.parametrize("parent", ["nobody", "handoff", "gadget"])
def test_a_parent_that_the_engine_would_refuse_stops_the_type(parent: str) -> None:
    body = Legalize("gadget", "A thing.", parent_type=parent)
    document = manifest("person", fallback="person")
    document["node_types"].append({"type": "handoff", "parent_type": "person"})
    found = planned(document, rulings=acting(body))
    assert found.outcome is Ensured.ALREADY_COMPLETE
    assert found.problems


def test_a_legalised_type_makes_an_unusable_row_usable() -> None:
    body = Legalize("ghost", "A thing.")
    found = planned(manifest("person", fallback="ghost"), rulings=acting(body))
    assert (found.outcome, found.extended) == (Ensured.ENSURED, True)


def test_a_merged_away_row_is_never_reported_unusable() -> None:
    row = read_manifest_row("ent_lose", "strict", json.dumps(manifest("person", fallback="ghost")))
    found = plan_manifest_ensure(row, FOUNDING, redirected=True)
    assert (found.outcome, found.mode) == (Ensured.ALREADY_COMPLETE, "redirected")


@pytest.mark.parametrize("text", ["{", "[]", '"x"', '{"node_types": {}}', '{"a": NaN}'])
def test_what_cannot_be_edited_is_left_alone(text: str) -> None:
    found = planned(text, rulings=acting(Legalize("gadget", "A thing.")))
    assert found.outcome in {Ensured.MALFORMED, Ensured.FOREIGN_NO_FALLBACK, Ensured.UNUSABLE}
    assert not found.writes


def test_a_newer_manifest_is_never_overwritten(case: Case) -> None:
    case.manifest(TIER_FACT, manifest(*SEEDS))
    plan = planned(case.raw())
    case.manifest(TIER_FACT, manifest(*SEEDS, "newer"))
    change = ManifestChange(TIER_FACT, plan.old_raw, plan.new_raw)
    assert case.open().write(lambda db: own.swap_manifest(db, change)) is False
    assert "newer" in case.raw()
