"""The mission's numbers on the October brain, through the command line alone."""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from contextlib import closing
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Ct

TIER = "SELECT manifest_json FROM llm_wiki_entity_manifests WHERE entity_id = 'tier_fact'"


def types_of(brain: Path) -> dict[str, str]:
    with closing(sqlite3.connect(brain / "brain.db")) as db:
        return dict(db.execute("SELECT id, entity_type FROM curated_entities"))


def manifest_of(brain: Path) -> str:
    with closing(sqlite3.connect(brain / "brain.db")) as db:
        return str(db.execute(TIER).fetchone()[0])


def test_the_census_counts_53_entities_of_six_undeclared_types(ct: Ct) -> None:
    census = ct.json("census")
    assert (census["live"], census["declared_types"]) == (152, 18)
    assert census["undeclared"] == {"entities": 53, "types": 6}
    undeclared = {t["type"]: t["count"] for t in census["types"] if t["status"] == "undeclared"}
    assert undeclared == {"document": 30, "agent": 10, "software": 7, "component": 3, "process": 2, "job": 1}
    assert sum(t["count"] for t in census["types"]) == 152


def test_before_any_ruling_heal_retypes_nothing_and_queues_53(ct: Ct) -> None:
    before = types_of(ct.brain)
    ontology = ct.json("heal", "--yes")["ontology"]
    assert (ontology["retyped"], ontology["queued"], ontology["skipped_reason"]) == (0, 53, None)
    assert types_of(ct.brain) == before


def test_the_founding_rulings_make_a_plan_of_twenty(founded: Ct) -> None:
    plan = founded.json("plan")
    flows = Counter((c["from"], c["to"]) for c in plan["changes"])
    assert flows == {("agent", "role"): 10, ("software", "document"): 7, ("component", "service"): 3}
    assert sorted(plan["legalized"]) == ["document", "process"]
    assert {c["kind"] for c in plan["changes"]} == {"alias"}
    assert {c["ruling"] for c in plan["changes"]} == {1, 2, 3}


def test_the_mission_from_adoption_to_undo(founded: Ct) -> None:
    before, manifest = types_of(founded.brain), json.loads(manifest_of(founded.brain))
    raw = manifest_of(founded.brain)

    first = founded.json("heal", "--yes")
    assert (first["ontology"]["retyped"], first["ontology"]["queued"]) == (20, 1)
    assert sorted(first["ontology"]["legalized"]) == ["document", "process"]
    assert [i["label"] for i in founded.json("queue")["items"] if i["kind"] == "undeclared type"] == ["job"]

    second = founded.json("heal", "--yes")
    assert (second["ontology"]["retyped"], second["ontology"]["queued"]) == (0, 1)

    after = json.loads(manifest_of(founded.brain))
    added = after["node_types"][len(manifest["node_types"]) :]
    assert [n["type"] for n in added] == ["document", "process"]
    assert after["node_types"][: len(manifest["node_types"])] == manifest["node_types"]
    assert after["fallback_node_type"] == "concept"
    rest = {k: v for k, v in after.items() if k not in {"node_types", "fallback_node_type"}}
    assert rest == {k: v for k, v in manifest.items() if k != "node_types"}
    assert_only_insertions(raw, manifest_of(founded.brain))
    assert founded.json("census")["declared_types"] == 20

    assert founded.json("undo", str(first["run"]))["undoes"] == first["run"]
    assert types_of(founded.brain) != before
    undone = founded.json("undo", str(first["run"]), "--yes")
    assert undone["retyped"] == 20
    assert types_of(founded.brain) == before
    assert founded.json("runs")["runs"][-1]["undone_by"] == undone["run"]


def assert_only_insertions(before: str, after: str) -> None:
    """Every byte of the text before is still there, in order."""
    rest = iter(after)
    assert all(char in rest for char in before)


def test_a_saved_plan_is_applied_once_and_then_stale(founded: Ct, tmp_path: Path) -> None:
    file = str(tmp_path / "plan.json")
    digest = founded.json("plan", "--out", file)["digest"]
    assert json.loads((tmp_path / "plan.json").read_text())["digest"] == digest
    receipt = founded.json("apply", file)
    assert (receipt["retyped"], receipt["conflicts"]) == (20, [])
    assert founded.json("runs")["runs"][0]["id"] == receipt["run"]


def test_a_stale_plan_is_refused_with_what_moved(founded: Ct, tmp_path: Path) -> None:
    file = str(tmp_path / "plan.json")
    moved = founded.json("plan", "--out", file)["changes"][0]["entity"]
    with closing(sqlite3.connect(founded.brain / "brain.db")) as db, db:
        db.execute("UPDATE curated_entities SET entity_type = 'person' WHERE id = ?", (moved,))
    before = types_of(founded.brain)
    done = founded("apply", file, "--json")
    assert done.code == 1
    assert "no longer fits" in done.sentence
    assert moved in done.err
    assert types_of(founded.brain) == before


def test_the_ledger_tells_where_a_type_came_from(founded: Ct) -> None:
    founded.json("heal", "--yes")
    row = founded.json("ledger", "--ruling", "2")["history"][0]
    ledger = founded.json("ledger", row["entity"])
    assert ledger["entity"]["type"] == "service"
    assert ledger["entity"]["cluster"][0] == row["entity"]
    assert ledger["origin"]["original_type"] == "component"
    assert ledger["origin"]["reason"] == "alias_retype"
    assert [(h["from"], h["to"], h["reason"], h["ruling"], h["run"]) for h in ledger["history"]] == [
        ("component", "service", "alias_retype", 2, 1)
    ]
    assert len(founded.json("ledger", "--reason", "alias_retype")["history"]) == 20
    assert founded.json("ledger", "--reason", "undo", code=2) == {"history": []}


def test_the_id_of_a_merged_entity_leads_to_the_one_that_stayed(ct: Ct) -> None:
    ids = sorted(types_of(ct.brain))[:2]
    with closing(sqlite3.connect(ct.brain / "brain.db")) as db, db:
        db.execute("INSERT INTO entity_redirects VALUES (?, ?, 1)", (ids[1], ids[0]))
    assert ct.json("ledger", ids[1])["entity"]["id"] == ids[0]
    assert ids[1] in ct.json("ledger", ids[0])["entity"]["cluster"]
    assert ct.json("show", ids[1])["entity"]["id"] == ids[0]


def test_a_repository_added_later_is_ruled_on_and_healed(founded: Ct) -> None:
    founded.json("heal", "--yes")
    with closing(sqlite3.connect(founded.brain / "brain.db")) as db, db:
        db.execute(
            "INSERT INTO curated_entities (id, name, entity_type, summary, created_at, updated_at) "
            "VALUES ('ent_repo', 'The repository', 'repository', '', 1, 1)"
        )
    items: list[dict[str, Any]] = founded.json("queue")["items"]
    assert "type:repository" in {item["id"] for item in items}
    assert founded.json("show", "type:repository")["entities"][0]["id"] == "ent_repo"
    why = "it is where the program lives"
    ruled = founded.json("rule", "alias", "repository", "software_application", "--reason", why)
    assert (ruled["seq"], ruled["kind"], ruled["state"]) == (6, "alias", "valid")
    assert founded.json("heal", "--yes")["ontology"]["retyped"] == 1
    ledger = founded.json("ledger", "ent_repo")
    assert ledger["entity"]["type"] == "software_application"
    assert ledger["history"][0]["ruling"] == 6
