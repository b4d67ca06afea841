"""The demo's brain: of the app's shape, consistent with its vault, and with something of every kind to look at."""

from __future__ import annotations

import json
import os
import re
import shutil
import sqlite3
import subprocess
import sys
from collections import Counter
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from ct_tui.brain.seed import create_brain
from ct_tui.domain.errors import BadInput, BrainError
from ct_tui.domain.manifest import read_manifest_row
from ct_tui.domain.policy import Mode
from ct_tui.domain.rulings import Alias, Keep, State
from ct_tui.domain.sources import Hashes, Plain, classify
from ct_tui.heal.demo import PRINCIPAL, DemoPlaces, build_demo, is_demo
from ct_tui.heal.demo_story import load_story, read_note
from ct_tui.policy.load import load_policy

ROOT = Path(__file__).parents[2]
OCTOBER = ROOT / "tests" / "data" / "october" / "brain.db"


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> DemoPlaces:
    """One demo for all tests of this file; nobody writes to it."""
    return build_demo(tmp_path_factory.mktemp("demo"))


def rows(db: Path, statement: str, *params: object) -> list[tuple[Any, ...]]:
    with closing(sqlite3.connect(f"{db.as_uri()}?mode=ro", uri=True)) as connection:
        return connection.execute(statement, params).fetchall()


def columns(db: Path, table: str) -> list[tuple[Any, ...]]:
    return rows(db, 'SELECT name, type, "notnull", dflt_value, pk FROM pragma_table_info(?) ORDER BY name', table)


def test_every_table_is_of_the_app_s_shape(demo: DemoPlaces) -> None:
    names = {n for (n,) in rows(OCTOBER, "SELECT name FROM sqlite_master WHERE type IN ('table', 'view')")}
    for name in names:
        assert columns(demo.brain, name) == columns(OCTOBER, name), name
    indexes = {n for (n,) in rows(OCTOBER, "SELECT name FROM sqlite_master WHERE type = 'index'")}
    assert indexes <= {n for (n,) in rows(demo.brain, "SELECT name FROM sqlite_master WHERE type = 'index'")}


def test_the_file_is_whole_and_as_the_app_leaves_it(demo: DemoPlaces) -> None:
    assert rows(demo.brain, "PRAGMA integrity_check") == [("ok",)]
    assert rows(demo.brain, "PRAGMA foreign_key_check") == []
    assert rows(demo.brain, "PRAGMA journal_mode") == [("wal",)]
    assert rows(demo.brain, "SELECT MAX(version) FROM schema_version") == [(21,)]


def test_what_is_declared_and_what_is_not(demo: DemoPlaces) -> None:
    counted = Counter(t for (t,) in rows(demo.brain, "SELECT entity_type FROM live_entities WHERE deleted_at IS NULL"))
    assert sum(counted.values()) == 184
    (raw,) = rows(demo.brain, "SELECT manifest_json FROM llm_wiki_entity_manifests WHERE entity_id = 'tier_fact'")
    vocabulary = read_manifest_row("tier_fact", "strict", raw[0]).vocabulary
    assert vocabulary is not None
    assert len(vocabulary.names) == 18
    assert vocabulary.fallback is None
    assert {t: n for t, n in counted.items() if t not in vocabulary} == {
        "document": 15,
        "agent": 9,
        "software": 8,
        "component": 6,
        "repository": 6,
        "process": 4,
        "workflow": 4,
        "servic\u0435": 1,
        "": 1,
    }
    assert {t: n for t, n in counted.items() if t in vocabulary and t not in vocabulary.names} == {
        "Person ": 2,
        "SERVICE": 2,
    }


def test_every_quote_stands_in_its_note_at_its_line(demo: DemoPlaces) -> None:
    chunks = dict(rows(demo.brain, "SELECT c.content_hash, d.path FROM chunks c JOIN documents d ON d.id = c.doc_id"))
    evidence = [e for (e,) in rows(demo.brain, "SELECT evidence_json FROM librarian_evidence")]
    inline = rows(demo.brain, "SELECT source_ref FROM llm_wiki_entries WHERE source_ref LIKE '{%'")
    checked = 0
    for text in evidence + [ref for (ref,) in inline]:
        for item in json.loads(text)["evidence"]:
            lines = Path(chunks[item["content_hash"]]).read_text(encoding="utf-8").splitlines()
            assert lines[item["start_line"] - 1] == f"- {item['quote']}"
            checked += 1
    assert checked > 180


def test_chunks_are_the_text_of_their_documents(demo: DemoPlaces) -> None:
    statement = (
        "SELECT d.path, c.chunk_text, c.start_line, c.end_line FROM chunks c JOIN documents d ON d.id = c.doc_id"
    )
    for path, text, first, last in rows(demo.brain, statement):
        assert Path(path).is_relative_to(demo.vault)
        assert Path(path).read_text(encoding="utf-8").splitlines()[first - 1 : last] == text.split("\n")


def test_all_shapes_of_provenance_occur(demo: DemoPlaces) -> None:
    found = [classify(ref) for (ref,) in rows(demo.brain, "SELECT source_ref FROM llm_wiki_entries")]
    assert any(isinstance(c, Hashes) for c in found)
    assert {Plain.TOKEN, Plain.NO_EVIDENCE, Plain.UNRESOLVED} <= {c for c in found if isinstance(c, Plain)}
    tokens = rows(demo.brain, "SELECT id FROM llm_wiki_entries WHERE source_ref LIKE 'librarian-%'")
    with_evidence = {i for (i,) in rows(demo.brain, "SELECT entry_id FROM librarian_evidence")}
    assert len([i for (i,) in tokens if i not in with_evidence]) == 1


def test_one_passage_stands_in_an_off_folder_and_in_another(demo: DemoPlaces) -> None:
    policy = load_policy(demo.config)
    shared = rows(
        demo.brain,
        "SELECT group_concat(d.path, '|') FROM chunks c JOIN documents d ON d.id = c.doc_id "
        "GROUP BY c.content_hash HAVING COUNT(*) > 1",
    )
    modes = [{policy.lookup(path).mode for path in paths.split("|")} for (paths,) in shared]
    assert modes == [{Mode.OFF, None}]


def test_the_config_is_read_without_a_problem(demo: DemoPlaces) -> None:
    policy = load_policy(demo.config)
    assert policy.problems == ()
    assert policy.ties == ()
    assert policy.has_off_folder
    assert policy.refusal() is None


def test_edges_of_every_judgement(demo: DemoPlaces) -> None:
    types = dict(rows(demo.brain, "SELECT id, entity_type FROM curated_entities"))
    (raw,) = rows(demo.brain, "SELECT manifest_json FROM llm_wiki_entity_manifests WHERE entity_id = 'tier_fact'")
    manifest = json.loads(raw[0])
    declared = {(e["type"], e["source_type"], e["target_type"]) for e in manifest["edge_types"]}
    parents = {n["type"]: n.get("parent_type") for n in manifest["node_types"]}
    names = {name for name, _, _ in declared}
    judged: Counter[str] = Counter()
    for source, kind, target in rows(demo.brain, "SELECT source_id, edge_type, target_id FROM llm_wiki_edges"):
        ends = types.get(source, "?"), types.get(target, "?")
        fits = {(kind, s, t) for s in (ends[0], parents.get(ends[0])) for t in (ends[1], parents.get(ends[1]))}
        if kind not in names:
            judged["undeclared"] += 1
        elif (kind, *ends) in declared:
            judged["exact"] += 1
        elif fits & declared:
            judged["parent"] += 1
        else:
            judged["other"] += 1
    assert judged["exact"] > 70
    assert judged["parent"] >= 10
    assert judged["other"] >= 25
    assert judged["undeclared"] >= 8
    related = rows(demo.brain, "SELECT edge_type FROM llm_wiki_edges WHERE lower(edge_type) LIKE 'relate%'")
    assert sorted(t for (t,) in related) == ["relatedTo", "related_to", "relates"]
    ids = {i for (i,) in rows(demo.brain, "SELECT id FROM curated_entities UNION SELECT id FROM llm_wiki_entries")}
    pairs = rows(demo.brain, "SELECT source_id, target_id FROM llm_wiki_edges")
    assert len([pair for pair in pairs if set(pair) - ids]) == 2


def test_something_of_every_other_kind(demo: DemoPlaces) -> None:
    def count(table: str) -> int:
        return int(rows(demo.brain, f"SELECT COUNT(*) FROM {table}")[0][0])

    reasons = {r for (r,) in rows(demo.brain, "SELECT reason FROM entity_type_origin")}
    assert reasons == {"degraded", "unlabeled_landing", "gate_skipped", "alias_retype"}
    assert rows(demo.brain, "SELECT COUNT(*) FROM entity_type_origin WHERE original_type = ''") == [(0,)]
    assert count("entity_redirects") == 1
    assert count("ct_entity_optouts") == 1
    assert rows(demo.brain, "SELECT status, COUNT(*) FROM curated_proposals GROUP BY status ORDER BY status") == [
        ("approved", 1),
        ("pending", 4),
        ("rejected", 1),
    ]
    readable = {
        row: read_manifest_row(row, mode, raw)
        for row, mode, raw in rows(demo.brain, "SELECT entity_id, mode, manifest_json FROM llm_wiki_entity_manifests")
    }
    own = [r for i, r in readable.items() if i.startswith("ent_")]
    assert [r.readable and r.vocabulary is not None and r.vocabulary.usable for r in own].count(True) == 1
    assert [r.readable for r in own].count(False) == 1
    twins = "SELECT name FROM live_entities WHERE deleted_at IS NULL GROUP BY name HAVING COUNT(*) > 1 ORDER BY name"
    assert rows(demo.brain, twins) == [("Demo Person C",), ("Demo Person F",)]


def test_times_are_in_the_units_of_their_tables(demo: DemoPlaces) -> None:
    seconds, milliseconds = range(1_700_000_000, 1_900_000_000), range(1_700_000_000_000, 1_900_000_000_000)
    for table in ("curated_entities", "curated_proposals", "entity_redirects", "ct_entity_optouts"):
        assert all(t in seconds for (t,) in rows(demo.brain, f"SELECT created_at FROM {table}")), table
    for table in ("llm_wiki_entries", "llm_wiki_edges", "llm_wiki_tasks", "llm_wiki_events", "librarian_evidence"):
        assert all(t in milliseconds for (t,) in rows(demo.brain, f"SELECT created_at FROM {table}")), table
    dated = rows(demo.brain, "SELECT valid_from FROM llm_wiki_entries WHERE body LIKE '%harbour master in Northmouth%'")
    assert dated == [(1_559_347_200_000,)]


def test_two_rulings_are_signed_and_the_founding_five_wait(demo: DemoPlaces) -> None:
    from ct_tui.heal.workbench import Workbench

    with Workbench(demo) as bench:
        table = bench.table()
        assert [e.state for e in table.entries] == [State.VALID, State.VALID]
        alias, keep = (r for r in table.valid())
        assert alias.body == Alias("workflow", "procedure")
        assert isinstance(keep.body, Keep)
        assert [bench.entity(i).name for i in keep.body.entities] == ["tideline-app", "tideline-admin"]
        assert {r.ruled_by for r in table.valid()} == {PRINCIPAL}
    assert demo.founding.read_text(encoding="utf-8").count("\n- v: 1\n") == 5


def test_the_plan_does_what_the_rulings_say(demo: DemoPlaces) -> None:
    from ct_tui.heal.workbench import Workbench

    with Workbench(demo) as bench:
        plan = bench.plan()
        names = {bench.entity(c.entity).name: (c.from_type, c.to_type) for c in plan.changes}
    assert names == {
        "Nightly Forecast Run": ("workflow", "procedure"),
        "Hotfix Path": ("workflow", "procedure"),
        "Translation Round": ("workflow", "procedure"),
        "Demo Person Q": ("Person ", "person"),
        "Demo Person R": ("Person ", "person"),
        "Weather Feed": ("SERVICE", "service"),
        "Time Signal": ("SERVICE", "service"),
    }


def test_the_key_is_private_and_trusted_only_here(demo: DemoPlaces) -> None:
    assert demo.key.stat().st_mode & 0o777 == 0o600
    signers = (demo.user_dir / "allowed_signers").read_text(encoding="utf-8")
    assert signers.startswith(f'{PRINCIPAL} namespaces="ct-ruling"')


def test_an_entry_can_be_verified_by_hand_as_the_format_s_description_says(demo: DemoPlaces, tmp_path: Path) -> None:
    (by_hand,) = re.findall(r"```sh\n(.*?)```", (ROOT / "aliases" / "README.md").read_text(encoding="utf-8"), re.DOTALL)
    shutil.copytree(demo.aliases, tmp_path / "aliases")
    shutil.copy(demo.user_dir / "allowed_signers", tmp_path)
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}

    def verify(number: int) -> subprocess.CompletedProcess[str]:
        script = by_hand.replace("python - 1 ", f"python - {number} ")
        command = ["bash", "-eu", "-c", script]
        return subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)

    assert verify(1).stdout.startswith(f'Good "ct-ruling" signature for {PRINCIPAL}')
    assert verify(2).returncode == 0
    table = tmp_path / "aliases" / "rulings.yaml"
    table.write_text(table.read_text(encoding="utf-8").replace('to: "procedure"', 'to: "project"'), encoding="utf-8")
    assert verify(1).returncode != 0


def test_the_same_story_gives_the_same_rows(demo: DemoPlaces, tmp_path: Path) -> None:
    again = build_demo(tmp_path / "again")
    for (table,) in rows(demo.brain, "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'ct_tui%'"):
        first, second = (repr(rows(p.brain, f"SELECT * FROM {table}")) for p in (demo, again))
        assert first.replace(str(demo.folder), "DEMO") == second.replace(str(again.folder), "DEMO"), table


def test_a_folder_with_something_in_it_is_refused_and_left_alone(tmp_path: Path) -> None:
    (tmp_path / "letter.txt").write_text("mine", encoding="utf-8")
    with pytest.raises(BadInput, match="not an empty folder"):
        build_demo(tmp_path)
    assert [p.name for p in tmp_path.iterdir() if p.name != "user"] == ["letter.txt"]
    with pytest.raises(BadInput, match="not an empty folder"):
        build_demo(tmp_path / "letter.txt")


def test_a_build_that_fails_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("ct_tui.heal.demo.create_brain", full)
    with pytest.raises(BadInput, match="no space left"):
        build_demo(tmp_path / "demo")
    assert list((tmp_path / "demo").iterdir()) == []
    assert not is_demo(tmp_path / "demo")


def test_a_finished_demo_is_known_by_its_folder(demo: DemoPlaces, tmp_path: Path, october: Path) -> None:
    assert is_demo(demo.folder)
    assert not is_demo(tmp_path)
    assert not is_demo(october)


def test_a_brain_is_never_made_over_another(october: Path) -> None:
    before = (october / "brain.db").read_bytes()
    with pytest.raises(BrainError, match="exists already"):
        create_brain(october / "brain.db", {})
    assert (october / "brain.db").read_bytes() == before


def test_every_bullet_of_the_vault_says_something_about_somebody() -> None:
    story = load_story()
    said = {m.sentence.text for m in story.mentions}
    assert [s.text for n in story.notes for p in n.passages for s in p.sentences if s.text not in said] == []


def test_only_made_up_people() -> None:
    people = {e.name for e in load_story().entities if e.type.strip().lower() == "person"}
    assert all("Person" in name or "Persn" in name for name in people)
    assert all(name.startswith("Dem") for name in people)


def test_a_note_without_a_date_is_a_mistake_of_the_story() -> None:
    with pytest.raises(ValueError, match="no line `Date"):
        read_note("a.md", "# A\n\n## B\n\n- C\n")
