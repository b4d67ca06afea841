"""Any brain's edges, counted by joins, against the same brain walked row by row."""

from __future__ import annotations

import sqlite3
from collections import Counter
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ct_tui.brain.edges import EdgeReader, Mark, Scope
from ct_tui.brain.readers import manifests
from ct_tui.domain.edges import Rulebook, Signatures
from ct_tui.domain.redirects import Redirects
from tests.heal.test_edges import STATES, plain_count
from tests.policy.brains import new_case

if TYPE_CHECKING:
    from pathlib import Path

    from tests.policy.brains import Case

IDS = [f"i{n}" for n in range(6)]
TYPES = ["person", "Person ", "role", "child", "ghost", ""]
MANIFEST = {
    "node_types": [{"type": "person"}, {"type": "role"}, {"type": "child", "parent_type": "role"}],
    "edge_types": [
        {"type": "knows", "source_type": "person", "target_type": "person"},
        {"type": "hasRole", "source_type": "person", "target_type": "role"},
        {"type": "hasRole", "source_type": "child", "target_type": "child"},
    ],
    "fallback_node_type": "person",
}

ids = st.sampled_from(IDS)
entities = st.dictionaries(ids, st.tuples(st.sampled_from(TYPES), st.booleans()))
facts = st.dictionaries(ids, st.tuples(st.one_of(st.none(), st.sampled_from(TYPES)), st.booleans(), ids))
merges = st.dictionaries(st.sampled_from(IDS[:3]), st.sampled_from(IDS[3:]), max_size=2)
edges = st.lists(st.tuples(ids, st.sampled_from(["knows", "HASROLE", "other"]), ids), max_size=12, unique=True)


@pytest.fixture(scope="module")
def case(tmp_path_factory: pytest.TempPathFactory) -> Case:
    """One brain that every example empties and fills again."""
    case = new_case(tmp_path_factory.mktemp("edges"))
    case.manifest("tier_fact", MANIFEST)
    return case


def fill(db: Path, rows: dict[str, Any], own: dict[str, Any], merged: dict[str, str], found: list[Any]) -> None:
    with closing(sqlite3.connect(db)) as connection, connection:
        connection.execute("PRAGMA synchronous = OFF")
        for table in ("curated_entities", "llm_wiki_entries", "entity_redirects", "llm_wiki_edges"):
            connection.execute(f"DELETE FROM {table}")
        for i, (kind, gone) in rows.items():
            connection.execute(
                "INSERT INTO curated_entities (id, name, entity_type, created_at, updated_at, deleted_at) "
                "VALUES (?, ?, ?, 1, 1, ?)",
                (i, i, kind, 5 if gone else None),
            )
        for i, (kind, gone, owner) in own.items():
            connection.execute(
                "INSERT INTO llm_wiki_entries (id, entity_id, title, body, created_at, updated_at, okf_type, deleted_at) "
                "VALUES (?, ?, 't', 'b', 1, 1, ?, ?)",
                (i, owner, kind, 5 if gone else None),
            )
        connection.executemany("INSERT INTO entity_redirects VALUES (?, ?, 1)", merged.items())
        connection.executemany(
            "INSERT INTO llm_wiki_edges VALUES (?, 'x', ?, ?, ?, 1)",
            ((f"e{n}", s, t, name) for n, (s, name, t) in enumerate(found)),
        )


@pytest.mark.parametrize("few", [1.0, -1.0])
@given(
    rows=entities,
    own=facts,
    merged=merges,
    found=edges,
    moved=st.dictionaries(ids, st.sampled_from(["role", "person"])),
    spared=st.sets(ids),
)
@settings(max_examples=80, deadline=None)
def test_counted_by_joins_and_row_by_row(
    case: Case,
    few: float,
    rows: dict[str, Any],
    own: dict[str, Any],
    merged: dict[str, str],
    found: list[Any],
    moved: dict[str, str],
    spared: set[str],
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("ct_tui.brain.edge_ends.FEW", few)
        fill(case.db, rows, own, merged, found)
        states, _ = plain_count(case.db)
        brain = case.open()
        redirects = Redirects(merged)
        marks = {m: Mark(shielded=True) for i in spared for m in redirects.cluster(i)}
        with brain.snapshot() as db:
            book = Rulebook(Signatures(manifests(db, brain.schema).vocabulary))
            counts = EdgeReader(db, brain.schema, Scope(redirects)).triples().counts(book)
            reader = EdgeReader(db, brain.schema, Scope(redirects, marks, moves=moved))
            one_by_one = {e.row.id: e.triple for e in reader.by_id([f"e{n}" for n in range(len(found))])}
            streamed = {e.row.id: e.triple for e in reader.where(lambda _: True)}
            joined = dict(reader.triples())
        brain.close()
    assert counts.edges == len(found)
    assert {s: getattr(counts, s) for s in STATES} == {s: states[s] for s in STATES}
    assert one_by_one == streamed
    assert joined == Counter(one_by_one.values())
    for triple in one_by_one.values():
        for end in (triple.source, triple.target):
            assert end.after in {None, *moved.values()}
            assert end.after is None or end.entity
            assert not end.shielded or spared
