"""The drift census on real brains: counts, states, dispositions, and what heal would make of each type."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ct_tui.domain.rulings import Alias, Keep, Legalize
from tests.policy.brains import SEEDS, ref

if TYPE_CHECKING:
    from tests.heal.lab import Lab


def test_october_before_any_ruling(october_lab: Lab) -> None:
    with october_lab.bench() as bench:
        report = bench.census(ids=True)
        plan = bench.plan()
    census = report.census
    assert (census.live, census.undeclared_entities, census.undeclared_types, census.declared_types) == (152, 53, 6, 18)
    drifting = {t.type: (t.count, t.queue, t.to) for t in census.types if t.drifts}
    assert drifting == {
        "document": (30, 30, None),
        "agent": (10, 10, None),
        "software": (7, 7, None),
        "component": (3, 3, None),
        "process": (2, 2, None),
        "job": (1, 1, None),
    }
    assert all(len(t.ids) == t.count for t in census.types)
    assert sum(t.count for t in census.types) == 152
    assert (plan.queued, plan.changes) == (53, ())
    assert (report.rulings_valid, report.ruling_problems, report.schema_version) == (0, 0, 21)


def test_types_come_most_frequent_first(october_lab: Lab) -> None:
    with october_lab.bench() as bench:
        rows = [(t.count, t.type) for t in bench.census().census.types]
    assert rows == sorted(rows, key=lambda r: (-r[0], r[1]))


def test_dispositions_of_one_type_add_up(lab: Lab) -> None:
    lab.case.tier(*SEEDS, fallback="project")
    lab.case.folders(ops="off")
    for n in range(7):
        lab.case.entity(f"a{n}", "agent")
    lab.case.opt_out("a1")
    lab.case.origin("a2", "gate_skipped", "agent")
    lab.case.document("ops/x.md", "f" * 32)
    lab.case.fact("f3", "a3", ref("f" * 32))
    lab.case.fact("f4", "a4", ref("0" * 32))
    lab.case.redirect("a5", "a6")
    lab.rule(Alias("agent", "role"))
    row = lab.census()["agent"]
    assert (row["count"], row["to"], row["ruling"]) == (6, "role", 1)
    assert (row["retype"], row["queue"], row["report_only"], row["shielded"]) == (2, 1, 1, 2)
    assert lab.heal().retyped == 2
    assert (lab.type_of("a0"), lab.type_of("a6")) == ("role", "role")
    assert lab.type_of("a5") == "agent"


def test_losers_and_archived_ones_do_not_count(lab: Lab) -> None:
    lab.case.tier("person", fallback="person")
    for entity in ("live", "archived", "loser", "self", "ring1", "ring2"):
        lab.case.entity(entity, "person")
    lab.case.run("UPDATE curated_entities SET deleted_at = 0 WHERE id = 'archived'")
    for loser, into in (("loser", "live"), ("self", "self"), ("ring1", "ring2"), ("ring2", "ring1")):
        lab.case.redirect(loser, into)
    with lab.bench() as bench:
        assert bench.census(ids=True).census.types[0].ids == ("live",)


def test_redirects_are_honoured_without_the_view(lab: Lab) -> None:
    lab.case.run("DROP VIEW live_entities")
    lab.case.tier("person", fallback="person")
    lab.case.entity("live", "person")
    lab.case.entity("loser", "person")
    lab.case.redirect("loser", "live")
    with lab.bench() as bench:
        assert bench.census().census.live == 1


def test_a_variant_shows_what_it_becomes(lab: Lab) -> None:
    lab.case.tier("person", fallback="person")
    lab.case.entity("p", "PERSON")
    row = lab.census()["PERSON"]
    assert (row["status"], row["to"], row["retype"], row["ruling"]) == ("variant", "person", 1, None)
    with lab.bench() as bench:
        assert bench.census().census.undeclared_entities == 0


def test_kept_types_stay_in_the_census(lab: Lab) -> None:
    lab.case.tier("person", fallback="person")
    lab.case.entity("j", "job")
    lab.rule(Keep("job"))
    row = lab.census()["job"]
    assert (row["status"], row["kept"], row["queue"]) == ("undeclared", 1, 0)


def test_a_signed_legalisation_that_is_not_written_yet_is_said(lab: Lab) -> None:
    lab.case.tier("person", fallback="person")
    lab.case.entity("r", "Robot")
    lab.rule(Legalize("robot", "A machine."))
    row = lab.census()["Robot"]
    assert (row["status"], row["legalized"]) == ("undeclared", 1)
    lab.heal()
    assert lab.census() == {"robot": {**lab.census()["robot"], "status": "declared", "count": 1}}


def test_without_a_manifest_nothing_is_declared_and_nothing_asked(lab: Lab) -> None:
    lab.case.run("DELETE FROM llm_wiki_entity_manifests")
    lab.case.entity("p", "person")
    row = lab.census()["person"]
    assert (row["status"], row["queue"]) == ("undeclared", 0)
    with lab.bench() as bench:
        assert bench.census().census.declared_types == 0
        assert bench.queue().items == ()


def test_drift_degradation_and_distrust_are_part_of_the_report(lab: Lab) -> None:
    lab.case.tier("person", fallback="person")
    lab.put_watermark("deadbeef", 7)
    lab.rule(Keep("robot"))
    with lab.bench() as bench:
        report = bench.census()
        assert report.as_json()["policy_drift"]["old_hash"] == "deadbeef"
        assert (report.rulings_valid, report.degraded, report.distrust) == (1, "", "")
        lab.case.write_config("{")
        assert bench.census().degraded
        table = lab.places.rulings
        table.write_bytes(table.read_bytes().replace(b"robot", b"rabot"))
        report = bench.census()
        assert report.distrust
        assert (report.rulings_valid, report.ruling_problems) == (0, 1)
    assert report.as_json()["rulings"] == {"valid": 0, "problems": 1}
