"""Held proposals: found by running the ladder again, with the cause and what mends it."""

from __future__ import annotations

import json

from ct_tui.brain import readers
from ct_tui.brain.minting import gate_opt_outs
from ct_tui.domain.gate import GateVerdict
from ct_tui.domain.ladder import Ladder
from ct_tui.domain.manifest import TIER_FACT
from ct_tui.domain.redirects import Redirects
from ct_tui.gate import open_gate
from ct_tui.heal.held import ProposalVerdict, held_proposals, judge_proposals
from ct_tui.policy.paths import resolve_places
from tests.policy.brains import FOUNDING, Case


def judged(case: Case) -> tuple[ProposalVerdict, ...]:
    brain = case.open()
    with brain.snapshot() as db:
        manifests, optouts = readers.manifests(db, brain.schema), gate_opt_outs(db, brain.schema)
        ladder = Ladder(case.policy.lookup, manifests, Redirects(readers.redirects(db, brain.schema)), optouts)
        held = held_proposals(db, brain.schema, ladder, FOUNDING)
        found = judge_proposals(db, brain.schema, ladder, FOUNDING)
    assert held == tuple(p for p in found if p.held)
    return found


def test_a_missing_fallback_holds_every_proposal_until_it_is_set(case: Case) -> None:
    case.tier("person", "place")
    case.proposal("p1", "person")
    case.proposal("p2", None)
    found = judged(case)
    assert [p.held for p in found] == [True, True]
    assert "fallback" in found[0].cause
    assert "--fallback <type>` with one of: person, place" in found[0].fix
    assert json.loads(json.dumps(found[0].as_json()))["hold_reason"] == "NoFallback"
    case.tier("person", "place", fallback="person")
    assert [p.admission.verdict for p in judged(case)] == [GateVerdict.ADMIT, GateVerdict.UNLABELED]


def test_the_documents_of_a_proposal_decide(case: Case) -> None:
    case.tier("person", fallback="person")
    off, held, free = (case.document(p) for p in ("off/a.md", "bad/b.md", "notes/c.md"))
    case.write_config({"ingest": {"folder_ontology": {"off": "off", "bad": "Off"}}})
    case.proposal("p1", "x", off)
    case.proposal("p2", "x", held)
    case.proposal("p3", "x", held, free)
    case.proposal("p4", "x")
    verdicts = {p.proposal.id: p.admission.verdict for p in judged(case)}
    assert verdicts == {
        "p1": GateVerdict.SKIP, "p2": GateVerdict.HOLD, "p3": GateVerdict.DEGRADE, "p4": GateVerdict.DEGRADE,
    }  # fmt: skip
    assert "config.json" in next(p.fix for p in judged(case) if p.held)


def test_only_pending_new_entities_are_asked_about(case: Case) -> None:
    case.manifest(TIER_FACT, "{")
    for n, (kind, status) in enumerate(
        [("new_entity", "approved"), ("update_entity", "pending"), ("new_entity", "pending")]
    ):
        case.proposal(f"p{n}", "x")
        case.run("UPDATE curated_proposals SET kind = ?, status = ? WHERE id = ?", kind, status, f"p{n}")
    assert [p.proposal.id for p in judged(case)] == ["p2"]


def test_looking_writes_nothing(case: Case) -> None:
    case.tier("person")
    case.proposal("p1", "person")
    before = case.db.read_bytes()
    judged(case)
    assert case.db.read_bytes() == before


def test_open_gate_reads_config_and_rulings_once(case: Case) -> None:
    case.tier("person", "role", fallback="person")
    with open_gate(resolve_places(brain=case.folder)) as gate:
        assert gate.mint("Bot", label="agent").admission.verdict is GateVerdict.DEGRADE
        assert gate.preview("person").verdict is GateVerdict.ADMIT
    assert case.rows("SELECT entity_type FROM curated_entities") == [("person",)]
