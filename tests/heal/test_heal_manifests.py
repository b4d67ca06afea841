"""The ensure as heal runs it: signed legalisations into manifests of which every other byte stays."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest

from ct_tui.domain.queue import ItemKind
from ct_tui.domain.rulings import Alias, Legalize, Revoke
from tests.policy.brains import FOREIGN, SEEDS, manifest

if TYPE_CHECKING:
    from tests.heal.lab import Lab

ROBOT = Legalize("robot", "A machine that acts on its own.")
ADDED = '{"type":"robot","description":"A machine that acts on its own."}'


def inserted(before: str, after: str) -> list[str]:
    """What was put into a text, piece by piece; fails where anything else changed."""
    pieces: list[str] = []
    at = 0
    while at < len(before):
        if before[at] == after[at + sum(map(len, pieces))]:
            at += 1
            continue
        start = at + sum(map(len, pieces))
        rest = before[at:]
        end = after.index(rest, start) if rest in after[start:] else None
        if end is None:
            # More than one piece: the shortest insertion after which a long stretch agrees again.
            end = next(e for e in range(start + 1, len(after)) if after[e : e + 12] == rest[:12])
        pieces.append(after[start:end])
    tail = after[at + sum(map(len, pieces)) :]
    return [*pieces, tail] if tail else pieces


LAYOUTS: dict[str, str] = {
    "compact": '{"node_types":[{"type":"person"}],"edge_types":[],"fallback_node_type":"person"}',
    "spaced": '{"node_types": [{"type": "person"}], "edge_types": [], "fallback_node_type": "person"}',
    "pretty": json.dumps(
        {"node_types": [{"type": "person"}], "edge_types": [], "fallback_node_type": "person"}, indent=2
    ),
    "tabs": json.dumps(
        {"node_types": [{"type": "person"}], "edge_types": [], "fallback_node_type": "person"}, indent="\t"
    ),
    "CRLF": '{\r\n"node_types": [\r\n  "person"\r\n],\r\n"fallback_node_type": "person"\r\n}\r\n',
    "bare strings": '{"node_types":["person"],"fallback_node_type":"person"}',
    "unknown keys": (
        '{"version":7,"node_types":[{"type":"person","colour":"#fff","nested":{"node_types":[]}}],'
        '"x-ours":{"a":[1,2.50,1e3]},"fallback_node_type":"person","z":"ünïcode \\u00e9 \\" ] }"}'
    ),
    "key written twice": '{"node_types":["old"],"fallback_node_type":"person","node_types":["person"]}',
    "escaped key": '{"node\\u005ftypes":["person"],"fallback_node_type":"person"}',
    "blank inside": '{ "node_types" : [ "person" ] , "fallback_node_type" : "person" }',
    "brackets in texts": '{"a":"]}],[{","node_types":["person"],"b":"[","fallback_node_type":"person"}',
}


@pytest.mark.parametrize("layout", LAYOUTS, ids=list(LAYOUTS))
def test_every_other_byte_of_a_manifest_is_kept(lab: Lab, layout: str) -> None:
    before = LAYOUTS[layout]
    lab.case.manifest("tier_fact", before)
    lab.rule(ROBOT)
    assert lab.heal().legalized == ("robot",)
    after = lab.case.raw()
    [piece] = inserted(before, after)
    assert json.loads(piece.strip(" ,\r\n\t")) == json.loads(ADDED)
    nodes = [n if isinstance(n, str) else n["type"] for n in json.loads(after)["node_types"]]
    assert nodes == ["person", "robot"]
    assert lab.heal().legalized == ()


def test_other_columns_of_the_row_are_left_alone(lab: Lab) -> None:
    lab.case.tier("person", fallback="person", mode="emergent")
    lab.rule(ROBOT)
    lab.heal()
    rows = lab.case.rows("SELECT mode, updated_at FROM llm_wiki_entity_manifests")
    assert rows == [("emergent", 1)]


def test_a_missing_array_is_added(lab: Lab) -> None:
    lab.case.manifest("tier_fact", '{"edge_types":[]}', "off")
    lab.rule(ROBOT)
    assert lab.heal().legalized == ("robot",)
    assert json.loads(lab.case.raw())["node_types"] == [json.loads(ADDED)]


def test_a_pretty_manifest_stays_pretty(lab: Lab) -> None:
    lab.case.manifest("tier_fact", LAYOUTS["pretty"])
    lab.rule(ROBOT)
    lab.heal()
    assert '},\n    {"type":"robot"' in lab.case.raw()


def test_the_founding_rulings_on_the_october_brain(october_lab: Lab) -> None:
    """The two types beside the 18 types, and the fallback, and nothing else."""
    lab = october_lab
    before = dict(lab.case.rows("SELECT entity_id, manifest_json FROM llm_wiki_entity_manifests"))
    lab.found()
    report = lab.heal()
    assert report.legalized == ("document", "process")
    after = dict(lab.case.rows("SELECT entity_id, manifest_json FROM llm_wiki_entity_manifests"))
    assert before.keys() == after.keys()
    for row, text in before.items():
        nodes, fallback = inserted(text, after[row])
        assert [n["type"] for n in json.loads(f"[{nodes.strip(',')}]")] == ["document", "process"]
        assert fallback.strip(",") == '"fallback_node_type":"concept"'
        assert len(json.loads(after[row])["node_types"]) == 20


def test_only_the_named_rows_are_extended(lab: Lab) -> None:
    lab.case.tier(*FOREIGN, fallback="project")
    lab.case.manifest("tier_wisdom", manifest(*SEEDS, fallback="project"))
    lab.case.manifest("ent_1", manifest(*SEEDS, fallback="project"))
    lab.rule(Legalize("robot", "A machine.", manifests=("seed-family",)))
    assert lab.heal().legalized == ("robot",)
    assert "robot" not in lab.case.raw()
    assert "robot" in lab.case.raw("tier_wisdom")
    assert "robot" in lab.case.raw("ent_1")


def test_a_parent_type_is_written_in_the_manifest_s_spelling(lab: Lab) -> None:
    lab.case.tier("Machine", fallback="Machine")
    lab.rule(Legalize("robot", "Acts.", "machine"))
    lab.heal()
    assert json.loads(lab.case.raw())["node_types"][-1] == {
        "type": "robot",
        "description": "Acts.",
        "parent_type": "Machine",
    }


def test_a_parent_that_is_not_declared_stops_only_its_own_ruling(lab: Lab) -> None:
    lab.case.tier("person", fallback="person")
    lab.rule(Legalize("robot", "Acts.", "machine"), Legalize("yacht", "Floats."))
    report = lab.heal()
    assert report.legalized == ("yacht",)
    assert any("#1 cannot act on tier_fact" in note for note in report.notes)


def test_what_the_engine_drops_is_said_by_the_census_and_added_again(lab: Lab) -> None:
    lab.case.tier("person", fallback="person")
    lab.case.entity("r", "robot")
    lab.rule(ROBOT)
    lab.heal()
    assert lab.census()["robot"]["status"] == "declared"
    lab.case.tier("person", fallback="person")  # an emergent merge of the engine knows nothing of it
    row = lab.census()["robot"]
    assert (row["status"], row["legalized"], row["queue"]) == ("undeclared", 1, 0)
    with lab.bench() as bench:
        assert bench.census().census.undeclared_entities == 1
        assert bench.plan().legalized == ("robot",)
    report = lab.heal()
    assert report.legalized == ("robot",)
    assert lab.census()["robot"]["status"] == "declared"
    assert lab.type_of("r") == "robot"


def test_a_revoked_legalisation_is_not_added_again_and_what_stands_stays(lab: Lab) -> None:
    lab.case.tier("person", fallback="person")
    lab.rule(ROBOT)
    lab.heal()
    lab.rule(Revoke(1))
    assert lab.heal().legalized == ()
    assert "robot" in lab.case.raw()
    lab.case.tier("person", fallback="person")
    assert lab.heal().legalized == ()


def test_an_alias_to_a_legalised_type_acts_in_the_same_heal(lab: Lab) -> None:
    lab.case.tier("person", fallback="person")
    lab.case.entity("b", "bot")
    lab.rule(Alias("bot", "robot"), ROBOT)
    report = lab.heal()
    assert (report.retyped, report.legalized) == (1, ("robot",))
    assert lab.type_of("b") == "robot"


@pytest.mark.parametrize(
    "text",
    [
        "", "{", "[]]", '{"node_types":[', "nul", '{"a":NaN}', '{"a":1e999}', '{"a":' + "9" * 5000 + "}",
        "[" * 100_000, "\ufeff{}", '{"a":"\\ud800"}', '{"a":1}}', "'{}'",
    ],
    ids=range(13),
)  # fmt: skip
def test_a_manifest_that_the_app_cannot_read_is_a_state_and_a_message(lab: Lab, text: str) -> None:
    lab.case.tier("person", fallback="person")
    lab.case.manifest("tier_wisdom", text)
    lab.case.entity("p", "Person")
    lab.rule(Legalize("robot", "A machine.", manifests=("tier_fact", "tier_wisdom")))
    [item] = lab.items(ItemKind.MANIFEST)
    assert item.key == "tier_wisdom"
    assert "cannot be read" in item.why[0]
    report = lab.heal()
    assert (report.error, report.recased, report.legalized) == (None, 1, ("robot",))
    assert lab.case.raw("tier_wisdom") == text


@pytest.mark.parametrize(
    ("literal", "shown"),
    [("x'ff00'", b"\xff\x00"), ("CAST(x'7bff7d' AS TEXT)", b"{\xff}"), ("x'7b7d'", b"{}"), ("7", "7")],
)
def test_a_manifest_that_is_no_text_is_never_written(lab: Lab, literal: str, shown: object) -> None:
    lab.case.tier("person", fallback="person")
    lab.case.run(f"INSERT INTO llm_wiki_entity_manifests VALUES ('odd', 'strict', {literal}, 1)")
    lab.rule(Legalize("robot", "A machine.", manifests=("odd", "tier_fact")))
    assert [i.key for i in lab.items(ItemKind.MANIFEST)] == (["odd"] if literal != "7" else [])
    report = lab.heal()
    assert report.error is None
    assert report.conflicts == 0
    assert report.legalized == ("robot",)
    with closing(sqlite3.connect(lab.db)) as connection:
        connection.text_factory = bytes
        [(stored,)] = connection.execute("SELECT manifest_json FROM llm_wiki_entity_manifests WHERE entity_id = 'odd'")
    assert stored == (shown if isinstance(shown, bytes) else b"7")


@pytest.mark.parametrize("root", ["[]", "null", '"text"', "5", '{"node_types":"x"}', '{"node_types":{"type":"a"}}'])
def test_a_manifest_of_another_shape_is_read_leniently_and_left_as_it_is(lab: Lab, root: str) -> None:
    lab.case.manifest("tier_fact", root)
    lab.case.entity("p", "person")
    lab.rule(ROBOT)
    report = lab.heal()
    assert report.error is None
    assert lab.case.raw() == root
    assert lab.type_of("p") == "person"


def test_blank_types_and_three_spellings_are_read_as_one(lab: Lab) -> None:
    lab.case.manifest(
        "tier_fact",
        '{"node_types":[" ","",{"type":null},{"x":1},7,"Person",{"type":"PERSON"},"person"],"fallback_node_type":" person "}',
    )
    lab.case.entity("p", "person")
    report = lab.heal()
    assert report.recased == 1
    assert lab.type_of("p") == "Person"
    with lab.bench() as bench:
        assert bench.vocabulary().names == ("Person",)


# The fallback, unusable rows, the memo


def memos(lab: Lab) -> list[Any]:
    return lab.case.rows("SELECT entity_id, manifest_hash FROM manifest_ensure_memo ORDER BY entity_id")


def test_a_missing_fallback_is_set_by_the_app_s_rule(lab: Lab) -> None:
    lab.case.tier(*SEEDS)
    lab.heal()
    assert json.loads(lab.case.raw())["fallback_node_type"] == "project"


def test_an_unusable_row_is_named_and_left_alone(lab: Lab) -> None:
    lab.case.tier("thing", "other")
    before = lab.case.raw()
    report = lab.heal()
    assert report.unusable_manifests == ("tier_fact",)
    assert lab.case.raw() == before
    assert memos(lab) == []


def test_one_memo_a_row_after_the_commit(lab: Lab) -> None:
    lab.case.tier("person", fallback="person")
    lab.case.run("INSERT INTO manifest_ensure_memo VALUES ('tier_fact', 'older', 1)")
    lab.rule(ROBOT)
    lab.report()
    assert memos(lab) == [("tier_fact", "older")]
    lab.heal()
    [(row, memo)] = memos(lab)
    assert row == "tier_fact"
    assert memo != "older"
    lab.heal()
    assert memos(lab) == [(row, memo)]


@pytest.mark.parametrize("said", [{}, {"waive": "deadbeef"}], ids=["unconfirmed", "waived"])
def test_drift_keeps_no_memo_from_a_row_that_is_complete(lab: Lab, said: dict[str, str]) -> None:
    lab.case.tier("person", fallback="person")
    lab.put_watermark("deadbeef", 7)
    assert lab.heal(**said).run is None
    assert len(memos(lab)) == 1
    assert lab.own_tables() == set()


def test_without_the_memo_s_table_the_ensure_works_all_the_same(lab: Lab) -> None:
    lab.case.run("DROP TABLE manifest_ensure_memo")
    lab.case.tier("person", fallback="person")
    lab.rule(ROBOT)
    report = lab.heal()
    assert (report.error, report.legalized) == (None, ("robot",))
