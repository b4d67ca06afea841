"""Evidence and sources: what a ref claims, and the documents behind an entity, on real brain files."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ct_tui.brain import readers
from ct_tui.brain.sources import SourceIndex, ledger_paths, read_sources, sources_of
from ct_tui.domain.redirects import Redirects
from ct_tui.domain.sources import NO_SOURCES, EntitySources, Hashes, Plain, classify
from tests.policy.brains import Case, manifest, ref, token

TOKEN = "librarian-c8cfedff94072c312dcd6b8b6e4e43f6"

REFS = [
    (None, Plain.NO_EVIDENCE),
    (TOKEN, Plain.TOKEN),
    ("librarian-notes.md", Plain.UNRESOLVED),
    (TOKEN.upper(), Plain.UNRESOLVED),
    (TOKEN + "\n", Plain.UNRESOLVED),
    (TOKEN[:-1], Plain.UNRESOLVED),
    ("", Plain.UNRESOLVED),
    ("documents/notes.md", Plain.UNRESOLVED),
    ('{"evidence": [', Plain.UNRESOLVED),
    ("{}", Plain.UNRESOLVED),
    ("[]", Plain.UNRESOLVED),
    ('{"proposal_id": null, "evidence": []}', Plain.UNRESOLVED),
    ('{"evidence": {"content_hash": "a"}}', Plain.UNRESOLVED),
    ('{"evidence": [{"chunk_id": 3}]}', Plain.UNRESOLVED),
    ('{"evidence": [{"content_hash": ""}]}', Plain.UNRESOLVED),
    ('{"evidence": [{"content_hash": 7}]}', Plain.UNRESOLVED),
    ('{"evidence": [{"content_hash": "a"}, {"quote": "q"}]}', Plain.UNRESOLVED),
    ('{"evidence": [{"content_hash": "a"}, "b"]}', Plain.UNRESOLVED),
    ('{"evidence": [{"content_hash": "a", "n": NaN}]}', Plain.UNRESOLVED),
    ('{"evidence": [{"content_hash": "a", "n": 1e999}]}', Plain.UNRESOLVED),
    ('{"evidence": [{"content_hash": "\\ud800"}]}', Plain.UNRESOLVED),
    ('{"evidence": ' + "[" * 200 + "]" * 200 + "}", Plain.UNRESOLVED),
    (b"\xff", Plain.UNRESOLVED),
    (12, Plain.UNRESOLVED),
    ('{"evidence": [{"content_hash": "a"}, {"content_hash": "b"}, {"content_hash": "a"}]}', Hashes(("a", "b"))),
    ('{"evidence": [], "evidence": [{"content_hash": "a"}]}', Hashes(("a",))),
]  # fmt: skip


@pytest.mark.parametrize(("given", "kind"), REFS)
def test_a_ref_is_classified_before_anything_is_looked_up(given: Any, kind: Any) -> None:
    assert classify(given) == kind


def resolve(case: Case, *ids: str) -> SourceIndex:
    brain = case.open()
    with brain.snapshot() as db:
        state = readers.state(db, brain.schema)
        redirects = Redirects(state.redirects)
        whole = read_sources(db, brain.schema, case.policy, redirects, state)
        some = sources_of(db, brain.schema, set(ids), redirects, ledger_paths(state.origins, redirects))
    brain.close()
    assert all(whole.of(i) == some.of(i) for i in ids), "the whole pass and the pass by entity disagree"
    return whole


@pytest.fixture
def vault(case: Case) -> Case:
    """Three documents; the passage h2 stands in two of them."""
    case.folders(ops="off")
    case.document("ops/a.md", "h1", "h2")
    case.document("notes/b.md", "h2")
    case.document("notes/c.md", "h3", "")
    return case


def test_all_documents_that_share_a_hash_count(vault: Case) -> None:
    vault.fact("f1", "e", ref("h2"))
    assert resolve(vault, "e").of("e") == EntitySources(("ops/a.md", "notes/b.md"))


def test_one_lost_hash_makes_the_fact_unresolved(vault: Case) -> None:
    vault.fact("f1", "e", ref("h3", "gone"))
    vault.fact("f2", "e", ref("h1"))
    assert resolve(vault, "e").of("e") == EntitySources(("ops/a.md",), unresolved=True)


def test_a_token_is_looked_up_by_the_entry_and_not_by_itself(vault: Case) -> None:
    evidence = json.dumps({"proposal_id": "p", "evidence": [{"content_hash": "h1"}]})
    for fact, source_ref in (("f1", token("other")), ("f2", "librarian-notes.md"), ("f3", token("f3"))):
        vault.fact(fact, f"e_{fact}", source_ref)
    for entry in ("f1", "f2"):
        vault.run("INSERT INTO librarian_evidence VALUES (?, 'p', ?, 0, 1)", entry, evidence)
    index = resolve(vault, "e_f1", "e_f2", "e_f3")
    assert index.of("e_f1") == EntitySources(("ops/a.md",))
    assert index.of("e_f2") == EntitySources(unresolved=True)
    assert index.of("e_f3") == EntitySources(unresolved=True)


def test_deleted_facts_and_facts_without_evidence_say_nothing(vault: Case) -> None:
    vault.fact("f1", "e", None)
    vault.fact("f2", "e", ref("gone"))
    vault.run("UPDATE llm_wiki_entries SET deleted_at = 5 WHERE id = 'f2'")
    assert resolve(vault, "e").of("e") is NO_SOURCES


def test_facts_of_merged_away_ids_count_for_the_survivor(vault: Case) -> None:
    vault.redirect("mid", "e")
    vault.redirect("lose", "mid")
    vault.redirect("x", "y")
    vault.redirect("y", "x")
    vault.fact("f1", "lose", ref("h1"))
    vault.fact("f2", "e", ref("h3"))
    vault.fact("f3", "x", ref("h3"))
    vault.origin("lose", "gate_skipped", None, "ops/old.md")
    index = resolve(vault, "e", "x")
    assert index.of("e") == EntitySources(("ops/a.md", "notes/c.md"), ledger_path="ops/old.md")
    assert index.of("lose") == index.of("e")
    assert index.of("x") == EntitySources(("notes/c.md",))


def test_an_index_on_the_hash_is_used_and_changes_no_answer(vault: Case) -> None:
    vault.fact("f1", "e", ref("h2", "h3"))
    before = resolve(vault, "e").of("e")
    vault.run("CREATE INDEX somebodys ON chunks(content_hash)")
    assert resolve(vault, "e").of("e") == before


def test_the_same_ref_on_many_facts_and_many_refs_on_one(vault: Case) -> None:
    for n in range(50):
        vault.fact(f"f{n}", f"e{n % 5}", ref(*(("h1",) if n % 2 else ("h2", "h3"))))
    index = resolve(vault, *(f"e{n}" for n in range(5)))
    assert {frozenset(index.of(f"e{n}").paths) for n in range(5)} == {
        frozenset({"ops/a.md", "notes/b.md", "notes/c.md"})
    }


class CountingDb:
    """Counts the statements that reach a connection."""

    def __init__(self, db: Any) -> None:
        self._db = db
        self.statements = 0

    def __getattr__(self, name: str) -> Any:
        self.statements += 1
        return getattr(self._db, name)


@pytest.mark.parametrize(
    ("config", "works"),
    [
        ({}, False),
        ({"ingest": {"ontology_default": "strict"}}, False),
        ({"ingest": {"folder_ontology": {"x": "strict"}}}, True),
    ],
)
def test_nothing_is_read_where_no_source_can_matter(case: Case, config: Any, works: bool) -> None:
    case.write_config(config)
    case.fact("f1", "e", ref("h1"))
    case.manifest("own", manifest("a", fallback="a"))
    brain = case.open()
    with brain.snapshot() as db:
        state = readers.state(db, brain.schema)
        counting: Any = CountingDb(db)
        read_sources(counting, brain.schema, case.policy, Redirects(), state)
    assert (counting.statements > 0) == works


def test_a_ledger_path_alone_is_enough_to_look(case: Case) -> None:
    case.fact("f1", "e", ref("gone"))
    case.fact("f2", "other", ref("gone"))
    case.origin("e", "gate_skipped", "x", "ops/a.md")
    index = resolve(case, "e")
    assert index.of("e") == EntitySources(unresolved=True, ledger_path="ops/a.md")
    assert index.of("other") is NO_SOURCES
    assert index.of("e").report_only(case.policy)
    assert not index.of("other").report_only(case.policy)
    assert not index.whole_brain


def test_under_an_off_host_a_strict_row_of_its_own_is_shielded_by_its_source(case: Case) -> None:
    case.write_config({"ingest": {"ontology_default": "off"}})
    case.document("notes/b.md", "h1")
    case.manifest("own", manifest("a", fallback="a"))
    case.fact("f1", "own", ref("h1"))
    sources = resolve(case, "own").of("own")
    assert sources.off_path(case.policy.lookup) == "notes/b.md"
    assert case.decide(*sources.ladder_paths, entity="own").gated


def test_what_the_rollup_means_for_heal(vault: Case) -> None:
    policy = vault.policy
    assert EntitySources(("notes/b.md", "ops/a.md")).off_path(policy.lookup) == "ops/a.md"
    assert EntitySources(("notes/b.md",)).off_path(policy.lookup) is None
    assert EntitySources((), ledger_path="ops/x.md").ladder_paths == ("ops/x.md",)
    assert EntitySources(("notes/b.md",), ledger_path="ops/x.md").ladder_paths == ("notes/b.md",)
    assert EntitySources(("notes/b.md",), ledger_path="ops/x.md").off_path(policy.lookup) == "ops/x.md"
    assert EntitySources((), unresolved=True).report_only(policy)


def test_sources_in_a_table_that_is_missing_lead_nowhere(vault: Case) -> None:
    vault.fact("f1", "e", ref("h1"))
    vault.fact("f2", "e2", token("f2"))
    vault.run("DROP TABLE librarian_evidence")
    assert resolve(vault, "e", "e2").of("e") == EntitySources(("ops/a.md",))
    vault.run("DROP TABLE chunks")
    assert resolve(vault, "e").of("e") == EntitySources(unresolved=True)
    vault.run("DROP TABLE llm_wiki_entries")
    assert resolve(vault, "e").of("e") == EntitySources(unresolved=True)


def test_a_memory_that_overflows_changes_no_answer(vault: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    for n in range(60):
        vault.fact(f"f{n}", f"e{n % 7}", json.dumps({"n": n, **json.loads(ref(f"h{n % 4}"))}))
    ids = [f"e{n}" for n in range(7)]
    before = [resolve(vault, *ids).of(i) for i in ids]
    monkeypatch.setattr("ct_tui.brain.sources.MEMORY", 2)
    assert [resolve(vault, *ids).of(i) for i in ids] == before
