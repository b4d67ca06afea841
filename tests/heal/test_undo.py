"""Undo: the inverse of a run, itself a run, refusing rows that changed since."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import pytest

from ct_tui.domain.errors import BadInput, StalePlan
from ct_tui.domain.plan import ChangeKind
from ct_tui.domain.rulings import Alias, Merge, Revoke
from ct_tui.heal import apply
from tests.policy.brains import SEEDS

if TYPE_CHECKING:
    from ct_tui.domain.plan import Plan, Progress
    from tests.heal.lab import Lab


@pytest.fixture
def healed(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> Lab:
    """Six agents and a variant, healed by run 1."""
    for name in ("FIRST_CHUNK", "SMALLEST_CHUNK", "LARGEST_CHUNK"):
        monkeypatch.setattr(apply, name, 2)
    lab.case.tier(*SEEDS, "document", "process", fallback="project")
    for n in range(6):
        lab.case.entity(f"a{n}", "agent")
    lab.case.entity("p", "Person ")
    lab.found()
    report = lab.heal()
    assert (report.run, report.retyped, report.recased) == (1, 6, 1)
    return lab


BEFORE = {**{f"a{n}": "agent" for n in range(6)}, "p": "Person "}
STILL_ACTS = "ruling #1 still acts: the next heal writes this again unless it is revoked, too"
AFTER = {**{f"a{n}": "role" for n in range(6)}, "p": "person"}


def undo_plan(lab: Lab, run: int) -> Plan:
    with lab.bench() as bench:
        return bench.undo_plan(run)


def runs(lab: Lab) -> list[tuple[Any, ...]]:
    with lab.bench() as bench:
        return [(r.id, r.kind, r.status, r.retyped, r.undoes, r.undone_by) for r in reversed(bench.runs())]


def test_an_undo_brings_every_type_back_and_is_itself_a_run(healed: Lab) -> None:
    receipt = healed.undo(1)
    assert healed.types() == BEFORE
    assert (receipt.run, receipt.retyped, receipt.conflicts) == (2, 7, ())
    assert runs(healed) == [(1, "heal", "done", 6, None, 2), (2, "undo", "done", 7, 1, None)]
    history = healed.history("a0")
    assert [(r[1], r[2], r[3], r[4], r[5]) for r in history] == [
        ("agent", "role", "alias_retype", 1, 1),
        ("role", "agent", "undo", 1, 2),
    ]


def test_the_first_origin_stays_through_undo_and_redo(healed: Lab) -> None:
    rows = healed.case.rows("SELECT * FROM entity_type_origin ORDER BY entity_id")
    healed.undo(1)
    healed.heal()
    assert healed.case.rows("SELECT * FROM entity_type_origin ORDER BY entity_id") == rows
    assert healed.origin("p") is None


def test_an_undo_of_an_undo_is_the_first_run_again(healed: Lab) -> None:
    healed.undo(1)
    assert healed.undo(2).retyped == 7
    assert healed.types() == AFTER
    assert [r[5] for r in runs(healed)] == [2, 3, None]
    assert healed.undo(1).retyped == 7
    assert healed.types() == BEFORE
    assert [r[5] for r in runs(healed)] == [4, 3, None, None]


def test_the_next_heal_does_again_what_its_ruling_still_says(healed: Lab) -> None:
    healed.undo(1)
    assert healed.heal().retyped == 6
    healed.undo(3)
    healed.rule(Revoke(1))
    report = healed.heal()
    assert (report.retyped, report.queued) == (0, 6)


def test_nothing_is_left_to_undo_twice(healed: Lab) -> None:
    healed.undo(1)
    plan = undo_plan(healed, 1)
    assert plan.empty
    assert len(plan.notes) == 7
    with pytest.raises(BadInput, match="nothing of run 1 is left to undo") as caught:
        healed.apply(plan)
    assert len(caught.value.details) == 7
    assert len(runs(healed)) == 2


def test_an_undo_plan_shows_itself_and_writes_nothing(healed: Lab) -> None:
    before = healed.db.read_bytes()
    plan = undo_plan(healed, 1)
    assert (plan.undoes, len(plan.changes), plan.manifests, plan.notes) == (1, 7, (), (STILL_ACTS,))
    assert {c.kind for c in plan.changes} == {ChangeKind.UNDO}
    assert healed.db.read_bytes() == before


MOVES = {
    "UPDATE curated_entities SET entity_type = 'place' WHERE id = 'a3'": "now 'place'",
    "UPDATE curated_entities SET deleted_at = 9 WHERE id = 'a3'": "archived",
    "DELETE FROM curated_entities WHERE id = 'a3'": "no longer there",
    "INSERT INTO entity_redirects VALUES ('a3', 'a4', 1)": "merged away",
    "INSERT INTO ct_entity_optouts VALUES ('a3', '', 1)": "opted out",
    "UPDATE curated_entities SET entity_type = x'00' WHERE id = 'a3'": "now None",
}


@pytest.mark.parametrize("statement", MOVES, ids=list(MOVES.values()))
def test_a_row_that_changed_since_is_named_and_left_alone(healed: Lab, statement: str) -> None:
    healed.case.run(statement)
    kept = healed.case.rows("SELECT * FROM curated_entities WHERE id = 'a3'")
    plan = undo_plan(healed, 1)
    acting, note = plan.notes
    assert acting == STILL_ACTS
    assert note.startswith("changed since, left alone: a3: ")
    assert MOVES[statement] in note
    assert healed.apply(plan).retyped == 6
    assert healed.case.rows("SELECT * FROM curated_entities WHERE id = 'a3'") == kept
    assert healed.type_of("a2") == "agent"


def test_an_opt_out_of_a_merged_id_shields_its_survivor_from_undo_too(healed: Lab) -> None:
    healed.case.redirect("a3", "a4")
    healed.case.opt_out("a3")
    assert [n.split(": ")[1] for n in undo_plan(healed, 1).notes[1:]] == ["a3", "a4"]


def test_what_one_run_retyped_and_merged_away_comes_back_whole(lab: Lab) -> None:
    lab.case.tier(*SEEDS, "document", "process", fallback="project")
    for entity in ("stays", "goes", "goes too"):
        lab.case.entity(entity, "agent")
    lab.found()
    lab.rule(Merge("stays", ("goes", "goes too")))
    before = lab.types()
    assert lab.heal().merged == 2
    merged = lab.case.rows("SELECT entity_id, merged_into FROM entity_redirects ORDER BY 1")
    healed = lab.types()
    receipt = lab.undo(1)
    assert (lab.types(), receipt.retyped, receipt.merged, receipt.conflicts) == (before, 3, 2, ())
    assert lab.case.rows("SELECT * FROM entity_redirects") == []
    lab.undo(2)
    assert lab.types() == healed
    assert lab.case.rows("SELECT entity_id, merged_into FROM entity_redirects ORDER BY 1") == merged
    lab.undo(3)
    assert lab.types() == before


def test_a_row_that_moves_between_plan_and_write_is_refused(healed: Lab) -> None:
    plan = undo_plan(healed, 1)
    healed.case.run("UPDATE curated_entities SET entity_type = 'place' WHERE id = 'a3'")
    with pytest.raises(StalePlan, match="a3"):
        healed.apply(plan)
    assert healed.type_of("a2") == "role"


def test_a_row_that_moves_while_it_is_written_is_a_conflict(healed: Lab) -> None:
    def move(progress: Progress) -> None:
        if progress.done == 2:
            healed.case.run("UPDATE curated_entities SET entity_type = 'place' WHERE id = 'a3'")

    receipt = healed.apply(undo_plan(healed, 1), progress=move)
    assert [(c.entity, c.found) for c in receipt.conflicts] == [("a3", "place")]
    assert receipt.retyped == 6


def test_an_unknown_run_is_refused(healed: Lab) -> None:
    for run in (0, -1, 2, 99, 2**70):
        with pytest.raises(BadInput):
            undo_plan(healed, run)


def test_a_brain_without_runs_has_none_to_undo(lab: Lab) -> None:
    with pytest.raises(BadInput, match="there is no run 1"):
        undo_plan(lab, 1)


def test_an_undo_says_that_its_rulings_still_act_and_no_longer_once_they_are_revoked(healed: Lab) -> None:
    assert undo_plan(healed, 1).notes == (STILL_ACTS,)
    healed.undo(1)
    assert undo_plan(healed, 2).notes == (), "what undoing an undo brings back is what the rulings say"
    healed.heal()
    healed.rule(Revoke(1))
    assert undo_plan(healed, 3).notes == ()


def test_legalisations_stay_signed_and_declared(lab: Lab) -> None:
    lab.case.tier(*SEEDS, fallback="project")
    lab.case.entity("s", "software")
    lab.found()
    lab.heal()
    manifest = lab.case.raw()
    assert undo_plan(lab, 1).notes == (
        "ruling #3 still acts: the next heal writes this again unless it is revoked, too",
        "declared by run 1 and left so: document, process",
    )
    lab.undo(1)
    assert lab.type_of("s") == "software"
    assert lab.case.raw() == manifest


def test_a_stopped_run_can_be_undone(lab: Lab, healed: Lab) -> None:
    for n in range(6):
        healed.case.entity(f"b{n}", "agent")
    stop = threading.Event()
    healed.apply(healed.plan(), progress=lambda _: stop.set(), stop=stop)
    assert runs(healed)[-1][2:4] == ("stopped", 2)
    assert healed.undo(2).retyped == 2
    assert [healed.type_of(f"b{n}") for n in range(6)] == ["agent"] * 6


def test_a_stopped_undo_goes_on_and_only_then_counts_as_done(healed: Lab) -> None:
    plan = undo_plan(healed, 1)
    stop = threading.Event()
    receipt = healed.apply(plan, progress=lambda _: stop.set(), stop=stop)
    assert (receipt.stopped, receipt.retyped) == (True, 2)
    receipt = healed.apply(plan)
    assert (receipt.run, receipt.stopped, receipt.retyped) == (2, False, 5)
    assert runs(healed)[-1] == (2, "undo", "done", 7, 1, None)
    assert runs(healed)[0][5] == 2
    assert healed.types() == BEFORE


def test_an_undo_that_wrote_nothing_has_undone_nothing(healed: Lab) -> None:
    stop = threading.Event()
    stop.set()
    receipt = healed.apply(undo_plan(healed, 1), stop=stop)
    assert (receipt.run, receipt.stopped, receipt.retyped) == (2, True, 0)
    assert runs(healed)[0][5] is None


def test_what_a_run_met_twice_comes_back_as_it_stood_first(healed: Lab) -> None:
    """A run was stopped, another program put a row back, and the same plan wrote it once more."""
    for n in range(4):
        healed.case.entity(f"b{n}", "agent")
    plan = healed.plan()
    stop = threading.Event()
    healed.apply(plan, progress=lambda _: stop.set(), stop=stop)
    healed.case.run("UPDATE curated_entities SET entity_type = 'agent' WHERE id = 'b0'")
    receipt = healed.apply(plan)
    assert (receipt.run, receipt.retyped) == (2, 3)
    assert len(healed.history("b0")) == 2
    assert healed.undo(2).retyped == 4
    assert [healed.type_of(f"b{n}") for n in range(4)] == ["agent"] * 4
    assert len(healed.history("b0")) == 3


@pytest.mark.parametrize("garbage", [b"\xff\x00", 9e999, "one"], ids=repr)
def test_a_history_whose_ruling_is_no_number_is_undone_all_the_same(healed: Lab, garbage: object) -> None:
    healed.case.run("UPDATE ct_tui_type_change SET ruling = ?", garbage)
    assert len(undo_plan(healed, 1).digest) == 64
    healed.undo(1)
    assert healed.types() == BEFORE


def test_an_undo_needs_neither_trusted_rulings_nor_settled_policy(healed: Lab) -> None:
    """It puts back what a run of ours wrote, which is what somebody needs who finds the table tampered with."""
    table = healed.places.rulings
    table.write_bytes(table.read_bytes().replace(b'"role"', b'"person"', 1))
    healed.put_watermark("deadbeef", 7)
    assert healed.undo(1).retyped == 7
    assert healed.types() == BEFORE


def test_an_undo_leaves_marker_and_watermark(healed: Lab) -> None:
    marks = [healed.meta(k) for k in ("alias_remap_completed", "ontology_config_watermark")]
    healed.clock.pass_days(1)
    healed.undo(1)
    assert [healed.meta(k) for k in ("alias_remap_completed", "ontology_config_watermark")] == marks


def test_later_runs_are_undone_apart_from_earlier_ones(healed: Lab) -> None:
    healed.case.entity("j", "job")
    healed.rule(Alias("job", "role"))
    healed.heal()
    assert healed.undo(2).retyped == 1
    assert healed.type_of("j") == "job"
    assert healed.type_of("a0") == "role"
    assert [r[5] for r in runs(healed)] == [None, 3, None]
