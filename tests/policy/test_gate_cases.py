"""Acceptance cases EG01 to EG37: vocabulary, ladder and write gate, each on a real brain file where it needs one."""

from __future__ import annotations

import pytest

from ct_tui.brain import readers
from ct_tui.domain.errors import PolicyError
from ct_tui.domain.gate import Admission, GateVerdict, Site, admit, admit_label
from ct_tui.domain.holds import (
    ConfigHold,
    EmptyNodeTypes,
    EntityManifestUnreadable,
    FallbackNotDeclared,
    Hold,
    Internal,
    NoFallback,
    OptOutLookupFailed,
    RedirectUnresolved,
    TierFactUnreadable,
    hold_text,
)
from ct_tui.domain.ladder import Decision, Verdict
from ct_tui.domain.manifest import SEED_TYPES, TIER_FACT, Vocabulary, read_vocabulary
from ct_tui.domain.redirects import CYCLE, Redirects
from ct_tui.domain.rulings import InForce
from tests.policy.brains import FOUNDING, SEEDS, Case, manifest


def vocabulary(*types: str, fallback: str | None = None) -> Vocabulary:
    return read_vocabulary(manifest(*types, fallback=fallback))


def test_eg01_an_optout_covers_the_whole_merge_cluster(case: Case) -> None:
    case.tier("person", fallback="person")
    for loser in ("e_lose", "e_other"):
        case.redirect(loser, "e_surv")
    case.opt_out("e_lose")
    for entity in ("e_surv", "e_lose", "e_other"):
        assert case.decide(entity=entity).verdict is Verdict.OPT_OUT
    assert case.decide(entity="e_unrelated").verdict is Verdict.GATE


def test_eg02_the_seed_list_has_its_17_slugs() -> None:
    assert len(SEED_TYPES) == 17
    assert set(SEEDS) == {
        "action", "creativework", "design_spec", "event", "handoff", "organization", "person", "place", "procedure",
        "product", "project", "reference_doc", "review", "role", "service", "session_recap", "software_application",
    }  # fmt: skip


def test_eg03_an_undeclared_fallback_is_kept_raw() -> None:
    assert vocabulary("person", fallback=" project ").fallback == "project"
    assert not vocabulary("person", fallback="project").usable


def test_eg04_a_fallback_without_types_holds() -> None:
    held = admit_label("person", vocabulary(fallback="project"), InForce())
    assert held.verdict is GateVerdict.HOLD
    assert held.hold == EmptyNodeTypes(None, "project")


def test_eg05_membership_ignores_case_and_space() -> None:
    declared = vocabulary("person")
    assert declared.canonical("Person") == declared.canonical("  person  ") == "person"
    assert "PERSON" in declared
    assert "agent" not in declared


def test_eg06_a_signed_alias_lands_its_target() -> None:
    found = admit_label("agent", vocabulary("person", "role", "project", fallback="project"), FOUNDING)
    assert (found.verdict, found.lands_as, found.label, found.ledger) == (GateVerdict.ALIAS, "role", "agent", None)
    assert found.ruling is not None
    assert found.ruling.seq == 1


def test_eg07_an_alias_lands_the_manifests_spelling() -> None:
    found = admit_label("agent", vocabulary("Role", fallback="Role"), FOUNDING)
    assert (found.verdict, found.lands_as) == (GateVerdict.ALIAS, "Role")


def test_eg09_an_unknown_label_degrades_with_its_original() -> None:
    found = admit_label(" character ", vocabulary("person", "role", "project", fallback="project"), FOUNDING)
    assert (found.verdict, found.lands_as) == (GateVerdict.DEGRADE, "project")
    assert found.ledger is not None
    assert (found.ledger.reason, found.ledger.original_type) == ("degraded", "character")


def test_eg10_without_a_fallback_nothing_is_admitted() -> None:
    assert admit_label("character", vocabulary("person"), FOUNDING).hold == NoFallback(None, ("person",))


def test_eg11_the_helper_declares_aliases_degrades_and_holds(case: Case) -> None:
    case.tier("person", "role", "project", fallback="project")
    gate = case.gate()
    landed = {label: gate.mint(label, label=label).admission for label in ("person", "agent", "character")}
    assert [a.verdict for a in landed.values()] == [GateVerdict.ADMIT, GateVerdict.ALIAS, GateVerdict.DEGRADE]
    assert case.rows("SELECT name, entity_type FROM curated_entities ORDER BY rowid") == [
        ("person", "person"), ("agent", "role"), ("character", "project"),
    ]  # fmt: skip
    assert case.rows("SELECT original_type, reason, source_directory FROM entity_type_origin") == [
        ("character", "degraded", None)
    ]
    assert admit_label("person", Vocabulary(), FOUNDING).verdict is GateVerdict.HOLD


def test_eg12_an_unlabeled_mint_lands_on_the_fallback(case: Case) -> None:
    case.tier("person", "place", fallback="Person")
    minted = case.gate().mint("Somebody", label="  ")
    assert (minted.admission.verdict, minted.admission.lands_as) == (GateVerdict.UNLABELED, "person")
    assert case.value("SELECT entity_type FROM curated_entities WHERE id = ?", minted.entity) == "person"
    assert case.rows("SELECT original_type, reason FROM entity_type_origin") == [(None, "unlabeled_landing")]


def test_eg14_a_skip_lands_by_its_site(case: Case) -> None:
    gate = case.gate()
    gate.mint("verbatim", label=" Odd label ")
    gate.mint("blank")
    gate.mint("imported", label="concept", site=Site.BUNDLE)
    gate.mint("page", site=Site.PAGE)
    rows = case.rows(
        "SELECT e.name, e.entity_type, o.original_type, o.reason FROM curated_entities e "
        "JOIN entity_type_origin o ON o.entity_id = e.id ORDER BY e.rowid"
    )
    assert rows == [
        ("verbatim", " Odd label ", " Odd label ", "gate_skipped"),
        ("blank", "concept", None, "gate_skipped"),
        ("imported", "concept", None, "gate_skipped"),
        ("page", "concept", "concept", "gate_skipped"),
    ]


def test_eg15_an_upsert_never_touches_the_type(case: Case) -> None:
    case.entity("entity::aa", "document", "Old name")
    case.gate().mint("New name", entity_id="entity::aa", site=Site.PAGE, summary="s", upsert=True)
    assert case.rows("SELECT name, entity_type, summary, created_at, updated_at FROM curated_entities") == [
        ("New name", "document", "s", 1, 1_760_000_000)
    ]


def test_eg16_a_held_mint_leaves_no_row_and_no_stamp(case: Case) -> None:
    case.manifest(TIER_FACT, '{"node_types": [')
    minted = case.gate().mint("Held", label="character")
    assert minted.held
    assert minted.entity is None
    assert isinstance(minted.admission.hold, TierFactUnreadable)
    assert case.count("curated_entities") == case.count("entity_type_origin") == 0
    assert case.value("SELECT value FROM llm_wiki_meta WHERE key = 'initial_drift_watermark'") is None


def test_eg18_the_first_watermark_is_stamped_once(case: Case) -> None:
    gate = case.gate()
    assert gate.mint("One", label="x").admission.verdict is GateVerdict.SKIP
    case.folders(ops="off")
    case.gate().mint("Two", label="x")
    assert case.rows("SELECT value FROM llm_wiki_meta WHERE key = 'initial_drift_watermark'") == [
        ("ea2f8b8586f15ec0ffebe97ea54edf92231985f9611d24f4bbdcb12ecd3280bf",)
    ]


def test_eg18_a_preview_stamps_nothing(case: Case) -> None:
    assert case.gate().preview("x").verdict is GateVerdict.SKIP
    assert case.value("SELECT COUNT(*) FROM llm_wiki_meta WHERE key = 'initial_drift_watermark'") == 0


def test_eg19_a_strict_folder_gates_and_carries_its_path(case: Case) -> None:
    case.folders(ops="strict")
    case.tier("person", fallback="person")
    decision = case.decide("ops/a.md")
    assert (decision.verdict, decision.source_directory, decision.manifest) == (Verdict.GATE, "ops/a.md", TIER_FACT)


def test_eg20_an_off_folder_skips_and_carries_its_path(case: Case) -> None:
    case.folders(ops="off")
    decision = case.decide("ops/a.md")
    assert (decision.verdict, decision.source_directory) == (Verdict.OFF, "ops/a.md")
    minted = case.gate().mint("From ops", label="repository", sources=["ops/a.md"])
    assert case.rows("SELECT original_type, reason, source_directory FROM entity_type_origin") == [
        ("repository", "gate_skipped", "ops/a.md")
    ]
    assert minted.as_json()["source_directory"] == "ops/a.md"


def test_eg21_an_off_host_skips_a_pathless_mint(case: Case) -> None:
    case.tier("person", "concept", fallback="concept")
    case.write_config({"ingest": {"ontology_default": "off"}})
    decision = case.decide()
    assert (decision.verdict, decision.source_directory, decision.rung) == (Verdict.OFF, None, "3")


def test_eg22_a_degraded_config_holds_a_pathless_mint(case: Case) -> None:
    case.tier("person", "concept", fallback="concept")
    case.write_config("{")
    hold = case.decide().hold
    assert isinstance(hold, ConfigHold)
    assert hold.source is None


def test_eg23_a_default_config_gates(case: Case) -> None:
    case.tier("person", "concept", fallback="concept")
    decision = case.decide()
    assert (decision.verdict, decision.rung, decision.manifest) == (Verdict.GATE, "4", TIER_FACT)


def test_eg24_the_first_off_path_is_carried(case: Case) -> None:
    case.tier("person", "concept", fallback="concept")
    case.folders(ops="off")
    decision = case.decide("ops/a.md", "ops/b.md")
    assert (decision.verdict, decision.source_directory) == (Verdict.OFF, "ops/a.md")


def test_eg29_strict_without_a_vocabulary_skips_with_a_warning(case: Case) -> None:
    case.folders(people="strict")
    decision = case.decide("people/x.md")
    assert (decision.verdict, decision.source_directory) == (Verdict.OFF, None)
    assert "tier_fact" in decision.warning


def test_eg30_a_degraded_config_only_protects_a_strict_vocabulary(case: Case) -> None:
    case.write_config("[]")
    assert case.decide().verdict is Verdict.OFF
    case.tier("person", fallback="person")
    hold = case.decide().hold
    assert isinstance(hold, ConfigHold)
    assert hold.source is None


def test_eg31_a_climbing_source_beats_an_off_one(case: Case) -> None:
    case.tier("person", fallback="person")
    case.folders(ops="off")
    assert case.decide("ops/a.md", "notes/b.md").verdict is Verdict.GATE


def test_eg32_a_declared_label_is_held_without_a_fallback(case: Case) -> None:
    case.tier("place", "person")
    minted = case.gate().mint("Ann", label="person")
    assert minted.admission.hold == NoFallback(TIER_FACT, ("person", "place"))
    assert (minted.as_json()["manifest"], minted.as_json()["hold_reason"]) == (TIER_FACT, "NoFallback")
    assert case.count("curated_entities") == 0


def test_eg33_an_undeclared_fallback_holds(case: Case) -> None:
    case.tier("person", fallback="thing")
    assert case.decide().hold == FallbackNotDeclared(TIER_FACT, "thing", ("person",))


def test_eg34_a_fallback_does_not_make_up_for_types(case: Case) -> None:
    case.tier(fallback="person")
    assert case.decide().hold == EmptyNodeTypes(TIER_FACT, "person")


HOSTILE = "ent'; rm -rf ~ #"


def test_eg36_hold_messages_name_a_command_that_can_be_pasted() -> None:
    tier = hold_text(NoFallback(TIER_FACT, ("person", "place")))
    assert "`ct ontology set --fallback <type>`" in tier
    assert "person, place" in tier
    assert "--entity=ent_x --fallback" in hold_text(FallbackNotDeclared("ent_x", "thing", ("person",)))
    assert "[" not in hold_text(NoFallback(None, ("person",)))
    hostile = hold_text(NoFallback(HOSTILE, ("person",)))
    assert "--entity='ent'\"'\"'; rm -rf ~ #'" in hostile
    assert "--entity=ent_x --mode strict" in hold_text(EmptyNodeTypes("ent_x"))
    assert "bug" in hold_text(Internal("x"))


@pytest.mark.parametrize(
    "hold",
    [
        EmptyNodeTypes(TIER_FACT, "person"),
        EmptyNodeTypes("ent_x", None),
        OptOutLookupFailed("e"),
        RedirectUnresolved("e"),
        Internal("x"),
        EntityManifestUnreadable("e"),
        TierFactUnreadable(),
        ConfigHold("ops/a.md"),
        ConfigHold(None),
    ],
)
def test_eg36_other_causes_never_speak_of_a_fallback_flag(hold: Hold) -> None:
    assert "--fallback" not in hold_text(hold)
    assert hold.message
    assert hold.remedy


def test_eg37_redirects_lead_to_their_end() -> None:
    assert Redirects({"a": "B"}).survivor("a") == "B"
    assert Redirects({"a": "a"}).survivor("a") is CYCLE
    assert Redirects({"a": "b", "b": "c"}).survivor("a") == "c"
    assert Redirects().survivor("a") is None


def test_a_merged_away_id_lands_on_its_survivor(case: Case) -> None:
    case.entity("ent_b", "person")
    case.redirect("ent_a", "ent_b")
    minted = case.gate().mint("Better name", entity_id="ent_a", site=Site.PAGE, upsert=True)
    assert minted.entity == "ent_b"
    assert case.rows("SELECT id, name FROM curated_entities") == [("ent_b", "Better name")]


def test_a_redirect_circle_is_an_error_and_writes_nothing(case: Case) -> None:
    case.redirect("ent_a", "ent_b")
    case.redirect("ent_b", "ent_a")
    case.tier("person", fallback="person")
    assert isinstance(case.decide(entity="ent_a").hold, RedirectUnresolved)
    with pytest.raises(PolicyError, match="circle"):
        case.gate().mint("Lost", entity_id="ent_a", label="person")
    assert case.count("curated_entities") == 0
    assert case.value("SELECT COUNT(*) FROM llm_wiki_meta WHERE key = 'initial_drift_watermark'") == 0


def test_the_survivors_own_strict_row_decides_for_a_loser(case: Case) -> None:
    case.redirect("ent_a", "ent_b")
    case.manifest("ent_b", manifest("gadget", fallback="gadget"))
    case.manifest("ent_a", manifest("never", fallback="never"))
    decision = case.decide(entity="ent_a")
    assert (decision.verdict, decision.rung, decision.manifest) == (Verdict.GATE, "1b", "ent_b")


def test_an_unreadable_own_row_is_held_unless_something_strict_decides(case: Case) -> None:
    case.manifest("ent_x", "{not json")
    assert isinstance(case.decide(entity="ent_x").hold, EntityManifestUnreadable)
    case.folders(ops="off")
    assert isinstance(case.decide("ops/a.md", entity="ent_x").hold, EntityManifestUnreadable)
    case.tier("person", fallback="person")
    assert case.decide(entity="ent_x").verdict is Verdict.GATE


def test_an_unreadable_row_of_any_mode_is_unreadable(case: Case) -> None:
    case.manifest("ent_x", "{not json", mode="off")
    assert isinstance(case.decide(entity="ent_x").hold, EntityManifestUnreadable)


def test_a_held_source_beside_a_climbing_one_goes_to_tier_fact(case: Case) -> None:
    case.write_config({"ingest": {"folder_ontology": {"ops": "Off"}}})
    case.tier("person", fallback="person")
    assert case.decide("ops/a.md", "notes/b.md").verdict is Verdict.GATE
    hold = case.decide("ops/a.md").hold
    assert isinstance(hold, ConfigHold)
    assert hold.source == "ops/a.md"


def test_the_trace_names_rung_key_path_and_row(case: Case) -> None:
    case.folders(ops="off")
    case.tier("person", fallback="person")
    found = case.gate().preview("person", sources=["ops/a.md", "notes/b.md"]).as_json()
    assert [(s["rung"], s["key"], s["path"]) for s in found["trace"][:2]] == [
        ("2", "ops", "ops/a.md"), ("3", None, "notes/b.md"),
    ]  # fmt: skip
    assert found["trace"][-1]["row"] == TIER_FACT
    assert (found["verdict"], found["rung"], found["lands_as"]) == ("admit", "4", "person")


def test_the_why_not_says_that_an_alias_target_is_undeclared() -> None:
    found = admit_label("agent", vocabulary("person", fallback="person"), FOUNDING)
    assert found.verdict is GateVerdict.DEGRADE
    assert any("alias #1" in line and "role is not declared" in line for line in found.why_not)
    legal = admit_label("process", vocabulary("person", fallback="person"), FOUNDING)
    assert any("run heal" in line for line in legal.why_not)


def test_a_decision_without_its_parts_is_held_as_a_bug() -> None:
    for decision in (Decision(Verdict.GATE, "4"), Decision(Verdict.HELD, "4")):
        found: Admission = admit("x", decision, InForce())
        assert isinstance(found.hold, Internal)


def test_a_taken_id_is_refused(case: Case) -> None:
    from ct_tui.domain.errors import BadInput

    case.entity("ent_x")
    with pytest.raises(BadInput, match="already"):
        case.gate().mint("Again", entity_id="ent_x")
    with pytest.raises(BadInput, match="name"):
        case.gate().mint(" \t")


def test_first_origin_wins(case: Case) -> None:
    case.origin("entity::aa", "alias_retype", "agent")
    case.gate().mint("Page", entity_id="entity::aa", site=Site.PAGE, upsert=True)
    assert case.rows("SELECT reason, original_type FROM entity_type_origin") == [("alias_retype", "agent")]


def test_unreadable_optouts_hold_the_mint(case: Case) -> None:
    from ct_tui.domain.ladder import Ladder, Unreadable

    brain = case.open()
    with brain.snapshot() as db:
        manifests = readers.manifests(db, brain.schema)
    for optouts, redirects in ((Unreadable("disk"), Redirects()), (frozenset[str](), Unreadable("disk"))):
        found = Ladder(case.policy.lookup, manifests, redirects, optouts).decide("ent_x")
        assert isinstance(found.hold, OptOutLookupFailed)
