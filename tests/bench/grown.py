"""A brain of any size for the benchmarks: the October brain with as many entities, facts and edges as asked for.

The same size gives the same rows.
"""

from __future__ import annotations

import hashlib
import json
import random
import shutil
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

BORN = 1_760_000_000
"""Seconds; the birthday of every grown row."""

DRIFT = 0.2
UNDECLARED = ("agent", "component", "software", "document", *(f"novelty{n}" for n in range(36)))


def grow(october: Path, folder: Path, entities: int) -> Path:
    """Copy the October brain and let it grow; gives the folder.

    A fifth of the new entities is undeclared in 40 types; each has two facts and three edges. Half of the facts name
    their passage inline, a quarter by a librarian token, the rest nothing.
    """
    shutil.copytree(october, folder)
    with closing(sqlite3.connect(folder / "brain.db")) as db:
        db.execute("PRAGMA synchronous = OFF")
        _fill(db, entities, random.Random(entities))  # noqa: S311 - not for secrets
        db.commit()
        db.execute("PRAGMA journal_mode = WAL")
    return folder


def _fill(db: sqlite3.Connection, count: int, dice: random.Random) -> None:
    (manifest,) = db.execute(
        "SELECT manifest_json FROM llm_wiki_entity_manifests WHERE entity_id = 'tier_fact'"
    ).fetchone()
    declared = [node["type"] for node in json.loads(manifest)["node_types"]]
    edges = [edge["type"] for edge in json.loads(manifest)["edge_types"]]
    passages = [h for (h,) in db.execute("SELECT content_hash FROM chunks WHERE content_hash != ''")]
    ids = [f"ent_{dice.getrandbits(96):024x}" for _ in range(count)]
    types = [dice.choice(UNDECLARED if dice.random() < DRIFT else declared) for _ in ids]
    db.executemany(
        "INSERT INTO curated_entities (id, name, entity_type, created_at, updated_at) VALUES (?, ?, ?, ?, ?)",
        ((i, f"grown {n}", t, BORN, BORN) for n, (i, t) in enumerate(zip(ids, types, strict=True))),
    )
    facts = list(_facts(ids, passages, dice))
    db.executemany(
        "INSERT INTO llm_wiki_entries (id, entity_id, title, body, source_ref, created_at, updated_at) "
        "VALUES (?, ?, 'grown', 'grown', ?, ?, ?)",
        ((f, e, ref, BORN * 1000, BORN * 1000) for f, e, ref, _ in facts),
    )
    db.executemany(
        "INSERT INTO librarian_evidence (entry_id, proposal_id, evidence_json, created_at) VALUES (?, 'prop_grown', ?, ?)",
        ((f, evidence, BORN * 1000) for f, _, _, evidence in facts if evidence),
    )
    db.executemany(
        "INSERT OR IGNORE INTO llm_wiki_edges (id, entity_id, source_id, target_id, edge_type, created_at) "
        "VALUES (?, ?, ?, ?, ?, ?)",
        _edges(ids, edges, dice),
    )


def _facts(ids: list[str], passages: list[str], dice: random.Random) -> Iterator[tuple[str, str, str | None, str]]:
    for number, entity in enumerate(id_ for id_ in ids for _ in range(2)):
        fact = f"fact_{dice.getrandbits(96):024x}"
        evidence = json.dumps(
            {"proposal_id": None, "evidence": [{"content_hash": dice.choice(passages), "quote": "q"}]}
        )
        if number % 4 < 2:
            yield fact, entity, evidence, ""
        elif number % 4 == 2:
            yield fact, entity, "librarian-" + hashlib.sha256(fact.encode()).hexdigest()[:32], evidence
        else:
            yield fact, entity, None, ""


def _edges(ids: list[str], names: list[str], dice: random.Random) -> Iterator[tuple[str, str, str, str, str, int]]:
    for source in ids:
        for _ in range(3):
            yield f"edge_{dice.getrandbits(96):024x}", source, source, dice.choice(ids), dice.choice(names), BORN * 1000
