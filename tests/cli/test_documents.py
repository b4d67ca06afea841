"""The JSON documents that scripts rely on: their fields, and that nothing but the document is on stdout."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest

from tests.cli.conftest import ADA

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Ct


def has(document: Any, *fields: str) -> None:
    assert set(fields) <= set(document), set(fields) - set(document)


def test_census(ct: Ct) -> None:
    census = ct.json("census")
    has(census, "brain", "schema_version", "live", "declared_types", "undeclared", "types", "policy_drift", "rulings")
    assert census["rulings"] == {"valid": 0, "problems": 0}
    assert census["policy_drift"] is None
    for row in census["types"]:
        has(row, "type", "count", "status", "to", "retype", "queue", "report_only", "shielded")
        assert row["status"] in {"declared", "undeclared", "blank", "variant", "unreadable"}
        assert "ids" not in row
    for row in ct.json("census", "--ids")["types"]:
        assert len(row["ids"]) == row["count"]


def test_the_census_names_the_alias_in_force(founded: Ct) -> None:
    rows = {t["type"]: t for t in founded.json("census")["types"]}
    assert (rows["agent"]["to"], rows["agent"]["retype"], rows["agent"]["queue"]) == ("role", 10, 0)
    assert (rows["job"]["to"], rows["job"]["queue"]) == (None, 1)


def test_queue(ct: Ct) -> None:
    queue = ct.json("queue")
    has(queue, "items", "counts")
    assert sum(queue["counts"].values()) == len(queue["items"])
    for item in queue["items"]:
        has(item, "id", "kind", "label", "count", "entities", "why", "suggestions")
        assert isinstance(item["why"], str)
        for suggestion in item["suggestions"]:
            has(suggestion, "type", "score", "why")
    assert {i["label"]: i["count"] for i in queue["items"] if i["kind"] == "undeclared type"}["agent"] == 10


def test_an_empty_queue_exits_with_2_and_still_prints_its_document(on_case: Ct) -> None:
    assert on_case.json("queue", code=2) == {"items": [], "counts": {}}
    assert on_case("queue").code == 2


def test_one_kind_of_question(ct: Ct) -> None:
    kinds = {item["kind"] for item in ct.json("queue", "--kind", "held proposal")["items"]}
    assert kinds == {"held proposal"}
    assert ct.json("queue", "--kind", "blank", code=2)["items"] == []


def test_show(ct: Ct) -> None:
    item = ct.json("show", "type:agent")
    assert item["item"]["id"] == "type:agent"
    assert len(item["entities"]) == 10
    entity = ct.json("show", item["entities"][0]["id"])
    has(entity, "entity", "facts", "edges", "why", "origin", "history")
    assert entity["entity"]["type"] == "agent"
    assert entity["edges"] or entity["facts"]
    has(entity["facts"][0], "id", "title", "body", "confidence", "quotes")


def test_a_question_about_edges_shows_them_and_is_settled_by_a_suggestion(signer: Ct) -> None:
    shown = signer.json("show", "edge:agent knows person")
    assert shown["item"]["count"] == len(shown["edges"]) == 3
    assert {e["edge_type"] for e in shown["edges"]} == {"knows"}
    settled = signer.json("rule", "settle", "edge:agent knows person", "drop", "--reason", "nobody meant these")
    assert [r["kind"] for r in settled["rulings"]] == ["edge"]
    plan = signer.json("plan")
    assert {c["edge"] for c in plan["edges"]["changes"]} == {e["id"] for e in shown["edges"]}
    assert "3 edges" in signer("plan").out
    healed = signer.json("heal", "--yes")
    assert healed["ontology"]["edges"] == 3
    assert signer.json("edges")["edges"] == 61
    signer.json("undo", str(healed["run"]), "--yes")
    assert signer.json("edges")["edges"] == 64


def test_a_merge_that_was_ruled_is_planned_and_healed(signer: Ct) -> None:
    adrian = sorted(signer.json("show", "duplicate:adrian")["item"]["entities"])
    signer.json("rule", "merge", *adrian[:2], "--reason", "one and the same")
    assert [m["entity"] for m in signer.json("plan")["merges"]] == adrian[1:2]
    assert "1 redirect" in signer("plan").out
    healed = signer.json("heal", "--yes")
    assert healed["ontology"]["merged"] == 1
    assert signer.json("ledger", adrian[1])["entity"]["id"] == adrian[0]
    assert signer.json("undo", str(healed["run"]), "--yes")["merged"] == 1
    assert signer.json("ledger", adrian[1])["entity"]["id"] == adrian[1]


def test_a_signed_ruling(signer: Ct) -> None:
    ruled = signer.json("rule", "alias", "agent", "role", "--reason", "because")
    assert (ruled["seq"], ruled["kind"], ruled["state"]) == (1, "alias", "valid")
    assert len(ruled["hash"]) == 64
    assert signer.json("rule", "list")["head"] == {"seq": 1, "hash": ruled["hash"]}


def test_every_kind_of_ruling(signer: Ct) -> None:
    census = {t["type"]: t["ids"] for t in signer.json("census", "--ids")["types"]}
    why = ["--reason", "because"]
    calls = [
        ["alias", "agent", "role"],
        ["legalize", "job", "--description", "Work that recurs.", "--parent", "action", "--manifest", "seed-family"],
        ["retype", "product", *census["software"][:2]],
        ["keep", "component", "--until", "2999-01-31"],
        ["keep", "--entity", census["document"][0]],
        ["revoke", "1"],
        ["edge", "widen", "--triple", "hasRole", "person", "product"],
        ["merge", *sorted(census["document"][:2])],
        ["except", "duplicate", *census["document"][2:4]],
    ]
    for seq, call in enumerate(calls, 1):
        ruled = signer.json("rule", *call, *why)
        assert (ruled["seq"], ruled["kind"], ruled["state"]) == (seq, call[0], "valid")
    rulings = signer.json("rule", "list")["rulings"]
    for row in rulings:
        has(row, "seq", "kind", "reason", "ruled_by", "ruled_at", "state", "problem")
        assert (row["ruled_by"], row["state"], row["problem"]) == (ADA, "valid", None)
    assert rulings[0]["from"] == "agent"
    assert rulings[0]["acts"] is False
    assert rulings[1]["parent_type"] == "action"
    assert rulings[2]["from"] == "software"
    assert rulings[3]["until"] == "2999-01-31"
    assert signer.json("rule", "verify")["head"]["seq"] == len(calls)


def test_adopt_signs_each_or_all(signer: Ct) -> None:
    one = signer.json("rule", "adopt", "founding.yaml", "--only", "1", "4", "--reason", "agreed on Monday")
    assert [(r["seq"], r["kind"], r["state"]) for r in one["rulings"]] == [
        (1, "alias", "valid"),
        (2, "legalize", "valid"),
    ]
    assert signer.json("rule", "adopt", "--only", "2", "--only", "3,5", "founding.yaml")["head"]["seq"] == 5
    reasons = [r["reason"] for r in signer.json("rule", "list")["rulings"]]
    assert reasons[0].endswith("agreed on Monday")
    assert not reasons[2].endswith("agreed on Monday")
    assert signer.refused("rule", "adopt", "founding.yaml")


def test_a_question_is_settled_by_its_id(signer: Ct) -> None:
    done = signer.json("rule", "settle", "type:agent", "role", "--reason", "parts that are played")
    assert [r["kind"] for r in done["rulings"]] == ["alias"]
    assert signer.refused("rule", "settle", "type:nosuch", "role", "--reason", "x", code=2)


def test_verify_exits_1_on_any_problem(founded: Ct) -> None:
    table = founded.brain / "aliases" / "rulings.yaml"
    assert founded("rule", "verify").code == 0
    table.write_text(table.read_text().replace('"role"', '"person"', 1))
    done = founded.json("rule", "verify", code=1)
    assert done["rulings"][0]["state"] == "tampered"
    assert done["rulings"][0]["problem"]
    assert done["distrust"]
    assert founded.json("rule", "list")["rulings"][0]["state"] == "tampered"
    heal = founded.json("heal", "--yes", code=1)["ontology"]
    assert (heal["skipped_reason"], heal["retyped"]) == ("rulings_untrusted", 0)
    census = founded.json("census")
    assert census["rulings"]["valid"] == 0
    assert census["rulings"]["problems"] >= 1


def test_a_table_cut_at_its_end_is_noticed(founded: Ct) -> None:
    table = founded.brain / "aliases" / "rulings.yaml"
    whole = table.read_text()
    table.write_text(whole[: whole.rindex("\n- ")] + "\n")
    assert founded.json("heal", "--yes", code=1)["ontology"]["skipped_reason"] == "rulings_untrusted"
    table.write_text(whole)
    assert founded.json("heal", "--yes")["ontology"]["retyped"] == 20


def test_keys(ct: Ct, tmp_path: Path, user_dir: Path) -> None:
    out = tmp_path / "mine"
    new = ct.json("keys", "new", "--as", ADA, "--out", str(out))
    has(new, "principal", "key", "public", "fingerprint", "encrypted")
    assert (new["key"], new["encrypted"]) == (str(out), False)
    assert out.stat().st_mode & 0o777 == 0o600
    assert ct.refused("keys", "new", "--as", ADA, "--out", str(out))
    assert ct.json("keys", "new", "--as", "bo@example.org")["key"].startswith(str(user_dir))
    listed = ct.json("keys", "list")
    assert [k["principal"] for k in listed["keys"]] == ["bo@example.org"]
    assert [s["principals"] for s in listed["signers"]] == [[ADA], ["bo@example.org"]]
    ct.json("rule", "alias", "agent", "role", "--reason", "x", "--key", str(out))
    assert ct.json("keys", "trust", "cy@example.org", f"{out}.pub")["fingerprint"] == new["fingerprint"]
    assert ct.json("keys", "revoke", new["public"])["revoked"] is True
    assert ct.json("rule", "list")["rulings"][0]["state"] == "revoked"


def test_plan(founded: Ct) -> None:
    plan = founded.json("plan")
    has(plan, "digest", "changes", "legalized", "queued", "report_only", "shielded", "edges")
    has(plan["edges"], "gained", "broken", "still_violating")
    for change in plan["changes"]:
        has(change, "entity", "name", "from", "to", "kind", "ruling", "why")
    assert plan["digest"] == founded.json("plan")["digest"]


def test_heal(founded: Ct) -> None:
    for done in (founded.json("heal"), founded.json("heal", "--yes")):
        has(done, "ontology", "run")
        has(
            done["ontology"], "drift", "census", "retyped", "recased", "legalized", "queued", "report_only", "error",
            "skipped_reason", "okf_migration_diagnostic", "unusable_manifests",
        )  # fmt: skip
        assert set(done["ontology"]["census"]) == {"incidental_off_manifests", "unmarked_tier_fact"}
    assert done["run"] == 1


def test_runs_newest_first(founded: Ct) -> None:
    assert founded.json("runs") == {"runs": []}
    for _ in range(2):
        founded.json("heal", "--yes")
    runs = founded.json("runs")["runs"]
    assert [r["id"] for r in runs] == [2, 1]
    has(runs[0], "id", "at", "by", "retyped", "undone_by")


def test_gate_writes_nothing_and_says_everything(founded: Ct) -> None:
    founded.json("heal", "--yes")
    before = (founded.brain / "brain.db").read_bytes()
    verdicts = {
        "person": ("admit", "person", None),
        " Person ": ("admit", "person", None),
        "agent": ("alias", "role", None),
        "workflow": ("degrade", "concept", "degraded"),
        "": ("unlabeled", "concept", "unlabeled_landing"),
    }
    for label, expected in verdicts.items():
        gate = founded.json("gate", label)
        has(gate, "verdict", "lands_as", "rung", "hold_reason", "source_directory", "ledger_reason")
        assert (gate["verdict"], gate["lands_as"], gate["ledger_reason"]) == expected
        assert gate["rung"] == "4"
        assert gate["hold_reason"] is None
    assert (founded.brain / "brain.db").read_bytes() == before


def test_mint_writes_what_gate_said(founded: Ct) -> None:
    founded.json("heal", "--yes")
    minted = founded.json("mint", "Release train", "--type", "workflow", "--summary", "How we ship.")
    assert (minted["verdict"], minted["lands_as"]) == ("degrade", "concept")
    ledger = founded.json("ledger", minted["entity"])
    assert ledger["origin"]["reason"] == "degraded"
    assert ledger["origin"]["original_type"] == "workflow"
    assert ledger["entity"] == {
        "id": minted["entity"], "name": "Release train", "type": "concept", "cluster": [minted["entity"]]
    }  # fmt: skip


def test_a_held_mint_exits_1_with_its_reason_and_writes_nothing(ct: Ct) -> None:
    before = ct.json("census")["live"]
    gate = ct.json("gate", "person")
    assert (gate["verdict"], gate["lands_as"]) == ("hold", None)
    held = ct.json("mint", "X", "--type", "person", code=1)
    assert (held["verdict"], held["entity"], held["hold_reason"]) == ("hold", None, gate["hold_reason"])
    assert "--fallback" in held["hold_message"]
    assert ct.json("census")["live"] == before


def test_edges(founded: Ct) -> None:
    edges = founded.json("edges")
    states = ("exact", "parent", "violating", "undetermined", "undeclared_type", "dangling")
    has(edges, "edges", *states, "matrix", "violations")
    assert edges["edges"] == sum(edges[state] for state in states) == sum(c["count"] for c in edges["matrix"])
    has(edges["matrix"][0], "edge_type", "source_type", "target_type", "count", "state")
    assert len(founded.json("edges", "--list")["violations"]) == edges["violating"]
    after = founded.json("edges", "--after-plan")
    founded.json("heal", "--yes")
    now = founded.json("edges")
    assert {s: now[s] for s in states} == {s: after[s] for s in states}
    assert now["violating"] < edges["violating"]


def test_lint(ct: Ct) -> None:
    report = ct.json("lint")
    has(report, "findings", "counts")
    assert sum(report["counts"].values()) == len(report["findings"]) > 0
    for finding in report["findings"]:
        has(finding, "rule", "severity", "focus", "path", "value", "message")
        assert set(finding["focus"]) == {"kind", "id"}
    one = ct.json("lint", "--rule", "edge-related-to")
    assert set(one["counts"]) == {"edge-related-to"}
    errors = ct.json("lint", "--severity", "error")
    assert {f["severity"] for f in errors["findings"]} == {"error"}
    assert ct.refused("lint", "--rule", "nosuch")
    assert ct.refused("lint", "--severity", "awful")


def test_an_exception_takes_a_finding_out(signer: Ct) -> None:
    first = signer.json("lint", "--rule", "edge-related-to")["findings"]
    signer.json("rule", "except", "edge-related-to", first[0]["focus"]["id"], "--reason", "imported, will be redone")
    assert len(signer.json("lint", "--rule", "edge-related-to")["findings"]) == len(first) - 1


DUPLICATES = ("drift", "groups", "merged_groups", "queued_groups", "redirects_written", "redirects_rewritten",
              "self_loops", "cycles", "error", "skipped_reason")  # fmt: skip


def test_duplicates_reports_and_merges(ct: Ct) -> None:
    report = ct.json("duplicates")
    has(report, *DUPLICATES)
    assert (report["queued_groups"], report["redirects_written"]) == (18, [])
    has(report["groups"][0], "normalized_name", "members", "survivor", "losers", "queued")
    assert sum(len(g["members"]) for g in report["groups"]) == 56
    refused = ct.json("duplicates", "--yes", code=1)
    has(refused, *DUPLICATES)
    assert refused["skipped_reason"] == "alias_remap_not_run"
    ct.json("heal", "--yes")
    assert ct.json("duplicates", "--yes")["skipped_reason"] is None
    with closing(sqlite3.connect(ct.brain / "brain.db")) as db, db:
        for entity, name in (("ent_near_1", "Wilhelmina Harker"), ("ent_near_2", "Wilhelmine Harker")):
            db.execute(
                "INSERT INTO curated_entities (id, name, entity_type, summary, created_at, updated_at) "
                "VALUES (?, ?, 'person', '', 1, 1)",
                (entity, name),
            )
    near = ct.json("duplicates", "--near")["near"]
    assert [pair["members"] for pair in near] == [["ent_near_1", "ent_near_2"]]


def test_a_mergeable_group_is_merged_and_undone(ct: Ct) -> None:
    with closing(sqlite3.connect(ct.brain / "brain.db")) as db, db:
        for entity in ("ent_zzz", "entity::aaa"):
            db.execute(
                "INSERT INTO curated_entities (id, name, entity_type, summary, created_at, updated_at) "
                "VALUES (?, 'Zora the first', 'person', 'The same.', 1, 1)",
                (entity,),
            )
    assert ct.json("duplicates")["merged_groups"] == 1
    ct.json("heal", "--yes")
    merged = ct.json("duplicates", "--yes")
    assert merged["redirects_written"] == [["entity::aaa", "ent_zzz"]]
    assert ct.json("ledger", "entity::aaa")["entity"]["id"] == "ent_zzz"


def test_ontology_show(ct: Ct) -> None:
    shown = ct.json("ontology", "show")
    has(shown, "policy", "manifests", "optouts")
    tier = next(m for m in shown["manifests"] if m["id"] == "tier_fact")
    assert (tier["mode"], tier["usable"], tier["fallback"]) == ("strict", False, None)
    ct.json("ontology", "set", "--fallback", "Concept")
    assert next(m for m in ct.json("ontology", "show")["manifests"] if m["id"] == "tier_fact")["usable"] is True


def test_demo_makes_a_brain_and_finds_it_again(ct: Ct, tmp_path: Path) -> None:
    folder = tmp_path / "demo"
    first = ct.json("demo", "--dir", str(folder), "--no-open")
    has(first, "brain", "config", "aliases", "vault", "user_dir", "key")
    assert ct.json("demo", "--dir", str(folder)) == first
    census = ct.json("census", "--brain", str(folder))
    assert census["undeclared"]["entities"] > 0
    assert "not an empty folder" in ct.refused("demo", "--dir", str(ct.brain), "--no-open")
    text = ct("demo", "--dir", str(folder), "--no-open")
    assert first["key"] in text.out
    assert "needs a terminal" in ct.refused("demo", "--dir", str(folder))


@pytest.mark.parametrize(
    "args",
    [["census"], ["queue"], ["plan"], ["heal"], ["heal", "--yes"], ["runs"], ["rule", "list"], ["edges"], ["lint"],
     ["duplicates"], ["ontology", "show"], ["gate", "x"], ["keys", "list"], ["doctor"], ["schedule"]],
    ids=" ".join,
)  # fmt: skip
def test_text_is_for_people_and_json_is_one_line(founded: Ct, args: list[str]) -> None:
    text = founded(*args)
    assert text.out.strip()
    with pytest.raises(json.JSONDecodeError):
        json.loads(text.out)
    assert founded(*args, "--json").document
    assert "\x1b" not in text.out + text.err
    assert not [line for line in text.out.splitlines() if line != line.rstrip()]


def test_the_list_of_rulings_says_which_alias_cannot_act(signer: Ct) -> None:
    signer.json("rule", "alias", "agent", "role", "--reason", "parts that are played")
    (entry,) = signer.json("rule", "list")["rulings"]
    assert (entry["acts"], entry["problem"]) == (True, None)
    with closing(sqlite3.connect(signer.brain / "brain.db")) as db, db:
        db.execute(
            "UPDATE llm_wiki_entity_manifests SET manifest_json = replace(manifest_json, '\"role\"', '\"part\"')"
        )
    (entry,) = signer.json("rule", "list")["rulings"]
    assert (entry["state"], entry["acts"]) == ("valid", False)
    assert "role is not declared" in entry["problem"]
    assert "cannot act: role is not declared" in " ".join(signer("rule", "list").out.split())
    assert signer("rule", "verify").code == 0


def test_of_several_keys_the_principal_chooses(signer: Ct) -> None:
    signer.json("keys", "new", "--as", "bo@example.org")
    asked = signer("rule", "keep", "job", "--reason", "x")
    assert asked.code == 1
    assert "--as" in asked.err
    for label, who in (("job", "bo@example.org"), ("agent", ADA)):
        assert signer.json("rule", "keep", label, "--reason", "x", "--as", who)["state"] == "valid"
    assert [r["ruled_by"] for r in signer.json("rule", "list")["rulings"]] == ["bo@example.org", ADA]
    assert "none of your keys may rule as nobody@example.org" in signer.refused(
        "rule", "keep", "software", "--reason", "x", "--as", "nobody@example.org"
    )


def test_of_several_keys_one_that_may_still_rule_is_taken(signer: Ct, user_dir: Path) -> None:
    signer.json("keys", "new", "--as", ADA)
    (first, second) = sorted((user_dir / "keys").glob("*.pub"))
    assert "several keys" in signer.refused("rule", "keep", "job", "--reason", "x", "--as", ADA)
    signer.json("keys", "revoke", str(first))
    assert signer.json("rule", "keep", "job", "--reason", "x")["state"] == "valid"
    signer.json("keys", "revoke", str(second))
    assert "none of your keys" in signer.refused("rule", "keep", "agent", "--reason", "x")


def test_a_group_of_one_name_is_settled_by_the_one_that_stays(signer: Ct) -> None:
    items = {item["id"]: item for item in signer.json("queue")["items"]}
    group = items["duplicate:tessera"]
    stays = group["suggestions"][1]["type"]
    assert "is no member of this group" in signer.refused("rule", "settle", group["id"], "role", "--reason", "x")
    signed = signer.json("rule", "settle", group["id"], stays, "--reason", "the one with the facts")
    assert [r["kind"] for r in signed["rulings"]] == ["merge"]
    assert group["id"] not in {item["id"] for item in signer.json("queue")["items"]}
    assert signer.json("heal", "--yes")["ontology"]["merged"] == len(group["entities"]) - 1
    for entity in group["entities"]:
        assert signer.json("ledger", entity)["entity"]["id"] == stays


def test_founding_proposals_can_be_adopted_one_by_one_in_their_order(signer: Ct) -> None:
    for number in ("1", "2", "3", "4", "5"):
        done = signer("rule", "adopt", "founding.yaml", "--only", number, number, "--json")
        assert (done.code, len(done.document["rulings"])) == (0, 1)
        waits = "#3 cannot act yet: document is not declared"
        assert (waits in done.err) is (number == "3")
    assert all(entry["acts"] for entry in signer.json("rule", "list")["rulings"])
    assert len(signer.json("plan")["changes"]) == 20
