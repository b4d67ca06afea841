"""The merge cases through the command line: what is reported, what is refused, and what each exit code says."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.cli.conftest import Ct
    from tests.policy.brains import Case

MARKER = "alias_remap_completed"
WATERMARK = "ontology_config_watermark"


@pytest.fixture
def twins(case: Case, on_case: Ct) -> Ct:
    """Two entities of one name, type and summary, on a brain that has been healed once."""
    for entity in ("entity::aaa", "ent_zzz"):
        named(case, entity, "Adrian")
    case.run("INSERT INTO llm_wiki_meta VALUES (?, '1760000000000')", MARKER)
    return on_case


def named(case: Case, entity: str, name: str, label: str = "person", summary: str = "Works on pipelines.") -> None:
    case.run(
        "INSERT INTO curated_entities (id, name, entity_type, summary, created_at, updated_at) VALUES (?, ?, ?, ?, 1, 1)",
        entity, name, label, summary,
    )  # fmt: skip


def redirects(case: Case) -> list[tuple[Any, ...]]:
    return case.rows("SELECT entity_id, merged_into FROM entity_redirects ORDER BY 1")


def drifted(case: Case) -> None:
    case.run("INSERT INTO llm_wiki_meta VALUES (?, ?)", WATERMARK, json.dumps({"hash": "deadbeef", "stamped_at": 7}))


def test_md01_md15_a_report_first_and_then_the_merge(case: Case, twins: Ct) -> None:
    report = twins.json("duplicates")
    assert (report["merged_groups"], report["redirects_written"], redirects(case)) == (1, [], [])
    group = report["groups"][0]
    assert (group["survivor"], group["losers"], group["queued"]) == ("ent_zzz", ["entity::aaa"], None)
    merged = twins.json("duplicates", "--yes")
    assert merged["redirects_written"] == [["entity::aaa", "ent_zzz"]]
    assert redirects(case) == [("entity::aaa", "ent_zzz")]
    assert twins.json("duplicates")["groups"] == []


def test_md02_a_write_that_fails_is_in_the_report_and_exits_1(case: Case, twins: Ct) -> None:
    case.run("CREATE TRIGGER refuse BEFORE INSERT ON entity_redirects BEGIN SELECT RAISE(ABORT, 'made to fail'); END")
    done = twins.json("duplicates", "--yes", code=1)
    assert (done["merged_groups"], redirects(case)) == (0, [])
    assert "ent_zzz" in done["error"]
    assert "made to fail" in done["error"]


def test_a_write_that_a_trigger_swallows_is_no_merge(case: Case, twins: Ct) -> None:
    case.run("CREATE TRIGGER swallow BEFORE INSERT ON entity_redirects BEGIN SELECT RAISE(IGNORE); END")
    done = twins.json("duplicates", "--yes", code=1)
    assert (done["merged_groups"], done["redirects_written"], redirects(case)) == (0, [], [])
    assert "did not take in the redirect" in done["error"]


def test_md06_md08_conflicts_wait_for_a_human(case: Case, twins: Ct) -> None:
    for entity, label, summary in (("ent_b1", "person", "x"), ("ent_b2", "concept", "x")):
        named(case, entity, "Bo", label, summary)
    for entity, summary in (("ent_c1", ""), ("ent_c2", "not empty")):
        named(case, entity, "Cy", "person", summary)
    report = twins.json("duplicates", "--yes")
    queued = {g["survivor"]: g["queued"] for g in report["groups"]}
    assert queued == {"ent_b1": "type_conflict", "ent_c1": "summary_mismatch", "ent_zzz": None}
    assert (report["merged_groups"], report["queued_groups"]) == (1, 2)


def test_md17_before_the_first_heal_nothing_is_merged(case: Case, twins: Ct) -> None:
    case.run("DELETE FROM llm_wiki_meta WHERE key = ?", MARKER)
    assert twins.json("duplicates")["merged_groups"] == 1
    assert twins.json("duplicates", "--yes", code=1)["skipped_reason"] == "alias_remap_not_run"
    assert redirects(case) == []


@pytest.mark.parametrize("flags", [[], ["--confirm-drift", "beefdead"], ["--waive-drift", "beefdead"]])
def test_md18_drift_that_nobody_confirmed_refuses(case: Case, twins: Ct, flags: list[str]) -> None:
    drifted(case)
    done = twins.json("duplicates", "--yes", *flags, code=1)
    assert (done["skipped_reason"], done["drift"]["old_hash"]) == ("unconfirmed_drift", "deadbeef")
    assert redirects(case) == []


@pytest.mark.parametrize(("flag", "said"), [("--confirm-drift", "confirmed"), ("--waive-drift", "waived")])
def test_md18_confirmed_or_waived_drift_lets_it_through(case: Case, twins: Ct, flag: str, said: str) -> None:
    drifted(case)
    before = case.value("SELECT value FROM llm_wiki_meta WHERE key = ?", WATERMARK)
    done = twins.json("duplicates", "--yes", flag, "deadbeef")
    assert done["drift"][said] is True
    assert len(done["redirects_written"]) == 1
    assert case.value("SELECT value FROM llm_wiki_meta WHERE key = ?", WATERMARK) == before


def test_md19_a_flag_without_drift_is_ignored(case: Case, twins: Ct) -> None:
    assert twins.json("duplicates", "--yes", "--confirm-drift", "deadbeef")["drift"] is None
    assert len(redirects(case)) == 1


def test_the_flags_need_yes_and_exclude_each_other(case: Case, twins: Ct) -> None:
    assert "need --yes" in twins.refused("duplicates", "--confirm-drift", "x")
    assert "exclude" in twins.refused("duplicates", "--yes", "--confirm-drift", "x", "--waive-drift", "x")
    assert redirects(case) == []
