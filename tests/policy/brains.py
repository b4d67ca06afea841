"""Small real brains for the cases: the October file emptied, then filled with exactly what a case names."""

from __future__ import annotations

import hashlib
import json
import shutil
import sqlite3
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ct_tui.brain.connection import Brain
from ct_tui.domain.manifest import SEED_TYPES, TIER_FACT
from ct_tui.domain.rulings import Alias, Body, Entry, InForce, Legalize, Ruling, RulingTable, State, in_force
from ct_tui.gate import Gate, decide_mint
from ct_tui.policy.load import load_policy
from tests.conftest import DATA

if TYPE_CHECKING:
    from pathlib import Path

    from ct_tui.domain.ladder import Decision
    from ct_tui.domain.policy import Policy

EMPTIED = (
    "curated_entities", "curated_proposals", "curated_proposal_items", "curated_proposal_sources", "chunks",
    "documents", "librarian_evidence", "llm_wiki_entries", "llm_wiki_edges", "llm_wiki_events",
    "llm_wiki_entity_manifests", "entity_redirects", "entity_type_origin", "ct_entity_optouts",
    "manifest_ensure_memo",
)  # fmt: skip

SEEDS = tuple(SEED_TYPES)
FOREIGN = ("person", "organization", "place", "event", "project", "action", "creativework", "review", "product")


def manifest(*types: str, fallback: str | None = None, **more: Any) -> dict[str, Any]:
    """A manifest document with these types."""
    document: dict[str, Any] = {"node_types": [{"type": t} for t in types], "edge_types": [], **more}
    return document if fallback is None else {**document, "fallback_node_type": fallback}


def ruling(seq: int, body: Body) -> Ruling:
    """A ruling as verification would hand it on."""
    import datetime as dt

    return Ruling(seq, body, "a reason", "curator@example.org", dt.datetime(2026, 10, 3, tzinfo=dt.UTC))


def acting(*bodies: Body) -> InForce:
    """The rulings in force that these bodies make."""
    entries = []
    for seq, body in enumerate(bodies, 1):
        made = ruling(seq, body)
        entries.append(Entry(seq, made.kind.value, State.VALID, ruling=made))
    return in_force(RulingTable(tuple(entries)))


THREE_ALIASES = (Alias("agent", "role"), Alias("component", "service"), Alias("software", "document"))
TWO_TYPES = (
    Legalize("document", "What somebody wrote.", manifests=("seed-family",)),
    Legalize("process", "A way of working.", manifests=("seed-family",)),
)
FOUNDING = acting(*THREE_ALIASES, *TWO_TYPES)
"""The five founding rulings, signed."""


@dataclass(frozen=True)
class Case:
    """One real brain on disk with its config."""

    folder: Path

    @property
    def db(self) -> Path:
        return self.folder / "brain.db"

    @property
    def config(self) -> Path:
        return self.folder / "config.json"

    @property
    def policy(self) -> Policy:
        return load_policy(self.config)

    def run(self, statement: str, *params: Any) -> None:
        with closing(sqlite3.connect(self.db)) as connection, connection:
            connection.execute(statement, params)

    def rows(self, statement: str, *params: Any) -> list[tuple[Any, ...]]:
        with closing(sqlite3.connect(self.db)) as connection:
            return connection.execute(statement, params).fetchall()

    def value(self, statement: str, *params: Any) -> Any:
        found = self.rows(statement, *params)
        return found[0][0] if found else None

    def count(self, table: str) -> int:
        return int(self.value(f"SELECT COUNT(*) FROM {table}"))

    def write_config(self, document: Any) -> None:
        self.config.write_text(document if isinstance(document, str) else json.dumps(document), encoding="utf-8")

    def folders(self, **modes: str) -> None:
        """A config whose only content is a folder map."""
        self.write_config({"ingest": {"folder_ontology": modes}})

    def manifest(self, row: str, document: Any, mode: str = "strict") -> None:
        text = document if isinstance(document, str) else json.dumps(document, separators=(",", ":"))
        self.run("INSERT OR REPLACE INTO llm_wiki_entity_manifests VALUES (?, ?, ?, 1)", row, mode, text)

    def tier(self, *types: str, fallback: str | None = None, mode: str = "strict") -> None:
        self.manifest(TIER_FACT, manifest(*types, fallback=fallback), mode)

    def raw(self, row: str = TIER_FACT) -> str:
        return str(self.value("SELECT manifest_json FROM llm_wiki_entity_manifests WHERE entity_id = ?", row))

    def entity(self, entity_id: str, label: str = "concept", name: str | None = None) -> None:
        self.run(
            "INSERT INTO curated_entities (id, name, entity_type, summary, created_at, updated_at) "
            "VALUES (?, ?, ?, '', 1, 1)",
            entity_id, name or entity_id, label,
        )  # fmt: skip

    def redirect(self, loser: str, survivor: str) -> None:
        self.run("INSERT INTO entity_redirects VALUES (?, ?, 1)", loser, survivor)

    def opt_out(self, entity_id: str) -> None:
        self.run("INSERT INTO ct_entity_optouts VALUES (?, 'test', 1)", entity_id)

    def document(self, path: str, *hashes: str) -> int:
        digest = hashlib.sha256(path.encode()).hexdigest()
        self.run("INSERT INTO documents (path, hash, tier, status) VALUES (?, ?, 'user_doc', 'indexed')", path, digest)
        doc = int(self.value("SELECT id FROM documents WHERE path = ?", path))
        for at, content_hash in enumerate(hashes):
            self.run(
                "INSERT INTO chunks (doc_id, chunk_text, position, content_hash) VALUES (?, 'text', ?, ?)",
                doc, at, content_hash,
            )  # fmt: skip
        return doc

    def fact(self, fact_id: str, entity_id: str, ref: Any) -> None:
        self.run(
            "INSERT INTO llm_wiki_entries (id, entity_id, title, body, source_ref, created_at, updated_at) "
            "VALUES (?, ?, 't', 'b', ?, 1, 1)",
            fact_id, entity_id, ref,
        )  # fmt: skip

    def origin(self, entity_id: str, reason: str, original: str | None = None, path: str | None = None) -> None:
        self.run("INSERT INTO entity_type_origin VALUES (?, ?, ?, ?, 1)", entity_id, original, reason, path)

    def proposal(self, proposal_id: str, label: str | None, *documents: int) -> None:
        self.run(
            "INSERT INTO curated_proposals (id, kind, proposed_name, proposed_type, model, status, created_at) "
            "VALUES (?, 'new_entity', 'A name', ?, 'model', 'pending', 1)",
            proposal_id, label,
        )  # fmt: skip
        self.run(
            "INSERT INTO curated_proposal_items (id, proposal_id, item_type, payload) VALUES (?, ?, 'fact_add', '{}')",
            proposal_id + "_0", proposal_id,
        )  # fmt: skip
        for doc in documents:
            self.run("INSERT INTO curated_proposal_sources VALUES (?, ?, 'evidence')", proposal_id, doc)

    def open(self) -> Brain:
        return Brain(self.db)

    def gate(self, rulings: InForce = FOUNDING) -> Gate:
        return Gate(self.open(), self.policy, rulings, clock=lambda: 1_760_000_000.0)

    def decide(self, *paths: str, entity: str | None = None) -> Decision:
        brain = self.open()
        with brain.snapshot() as db:
            return decide_mint(db, brain.schema, self.policy, entity, paths)


def new_case(tmp_path: Path) -> Case:
    """An empty brain with the app's schema, without a config file."""
    folder = tmp_path / "case"
    folder.mkdir()
    shutil.copyfile(DATA / "october" / "brain.db", folder / "brain.db")
    with closing(sqlite3.connect(folder / "brain.db")) as connection, connection:
        for table in EMPTIED:
            connection.execute(f"DELETE FROM {table}")
    return Case(folder)


def ref(*hashes: str) -> str:
    """Inline evidence naming these passages."""
    return json.dumps({"proposal_id": None, "evidence": [{"content_hash": h, "quote": "q"} for h in hashes]})


def token(fact_id: str) -> str:
    """The librarian's token for a fact."""
    return "librarian-" + hashlib.sha256(fact_id.encode()).hexdigest()[:32]
