"""The demo's story as rows of a brain, table by table.

Ids are hashes of what they stand for, so the same story gives the same rows. Units are the app's: seconds for the
curated tables, milliseconds for the engine's.
"""

from __future__ import annotations

import datetime as dt
import hashlib
import json
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from ct_tui.domain.json_text import compact
from ct_tui.domain.manifest import TIER_FACT, NodeType, add_node_type
from ct_tui.policy.shipped import shipped_manifest_json

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from ct_tui.heal.demo_story import EntityName, ManifestSpec, Mention, Note, OddFact, Passage, ProposalSpec, Story

MODEL = "demo-librarian"
REVIEWER = "demo-reviewer"

Row = dict[str, Any]
Rows = dict[str, list[Row]]


def demo_rows(story: Story, vault: Path) -> Rows:
    """Every row of the demo's brain but the schema's version; `vault` is where the notes lie."""
    return _Telling(story, vault).rows()


def demo_id(kind: str, *parts: object) -> str:
    """An id of the app's shape that is the same every time: the kind, then 24 hex digits."""
    return f"{kind}_{_digest(kind, *parts)[:24]}"


@dataclass(frozen=True)
class _Telling:
    story: Story
    vault: Path

    def rows(self) -> Rows:
        facts, evidence = self._facts()
        proposals, items, sources = self._proposals()
        return {
            "documents": [self._document(n, note) for n, note in enumerate(self.story.notes, 1)],
            "chunks": list(self._chunks()),
            "folder_rules": list(_folder_rules()),
            "ingest_runs": [_ingested(n, note) for n, note in enumerate(self.story.notes, 1)],
            "curated_entities": [self._entity(e) for e in self.story.entities],
            "entity_redirects": [
                {"entity_id": self.id(a), "merged_into": self.id(b), "created_at": self.story.now - 40 * _DAY}
                for a, b in self.story.redirects.items()
            ],
            "ct_entity_optouts": [
                {"entity_id": self.id(name), "reason": reason, "created_at": self.story.now - 30 * _DAY}
                for name, reason in self.story.optouts.items()
            ],
            "entity_type_origin": list(self._ledger()),
            "llm_wiki_entity_manifests": [self._manifest(spec) for spec in self.story.manifests],
            "llm_wiki_entries": facts,
            "librarian_evidence": evidence,
            "llm_wiki_edges": list(self._edges()),
            "llm_wiki_tasks": list(self._tasks()),
            "llm_wiki_events": list(self._events()),
            "llm_wiki_meta": [{"key": "schema_version", "value": "12"}],
            "curated_proposals": proposals,
            "curated_proposal_items": items,
            "curated_proposal_sources": sources,
        }

    def id(self, name: str, twin: int = 0) -> str:
        """The id of an entity by name, of an engine entry by its own id, or the id that `id:...` spells out."""
        if name.startswith("id:"):
            return name.removeprefix("id:")
        if name in self._entry_ids:
            return name
        if (name, twin) not in self._known:
            raise KeyError(f"the demo's story has no entity {name!r}")
        return demo_id("ent", name, twin)

    @cached_property
    def _known(self) -> frozenset[tuple[str, int]]:
        return frozenset((e.name, e.twin) for e in self.story.entities)

    @cached_property
    def _entry_ids(self) -> frozenset[str]:
        return frozenset(entry.id for entry in self.story.entries)

    @cached_property
    def _first(self) -> dict[str, Mention]:
        """The first thing that the notes say about each name."""
        found: dict[str, Mention] = {}
        for mention in sorted(self.story.mentions, key=lambda m: m.note.written):
            found.setdefault(mention.entity.name, mention)
        return found

    def _document(self, number: int, note: Note) -> Row:
        return {
            "id": number,
            "path": self.path(note.path),
            "hash": hashlib.sha256(note.text.encode()).hexdigest(),
            "tier": "user_doc",
            "last_indexed": note.written + _HOUR,
            "status": "indexed",
        }

    def path(self, relative: str) -> str:
        """The absolute path of a note, as documents.path holds it."""
        return f"{self.vault.as_posix()}/{relative}"

    def _chunks(self) -> Iterator[Row]:
        for number, note in enumerate(self.story.notes, 1):
            for position, passage in enumerate(note.passages):
                yield {
                    "doc_id": number,
                    "chunk_text": passage.text,
                    "position": position,
                    "start_line": passage.first,
                    "end_line": passage.last,
                    "entity_id": TIER_FACT,
                    "content_hash": passage.hash,
                }

    def _entity(self, entity: EntityName) -> Row:
        first = self._first.get(entity.name)
        born = first.note.written + 2 * _HOUR if first else self.story.now - 100 * _DAY
        summary = self.story.summaries.get(entity.name, first.sentence.text if first else "")
        return {
            "id": self.id(entity.name, entity.twin),
            "name": entity.name,
            "entity_type": entity.type,
            "summary": summary,
            "created_at": born + entity.twin * _DAY,
            "updated_at": born + entity.twin * _DAY,
            "deleted_at": self.story.now - 20 * _DAY if entity.archived else None,
        }

    def _ledger(self) -> Iterator[Row]:
        for line in self.story.ledger:
            yield {
                "entity_id": self.id(line.entity),
                "original_type": line.original,
                "reason": line.reason,
                "source_directory": self.path(line.source) if line.source else None,
                "recorded_at": self._first[line.entity].note.written + 2 * _HOUR,
            }

    def _manifest(self, spec: ManifestSpec) -> Row:
        text = spec.json
        if spec.seed:
            text = shipped_manifest_json(spec.seed)
            for added in spec.add:
                text = add_node_type(text, NodeType(added["type"], added["description"]))
        row = spec.row or self.id(spec.entity)
        # The engine stamps milliseconds, the app's own command seconds.
        stamp = (self.story.now - 60 * _DAY) * (_MS if spec.row else 1)
        return {"entity_id": row, "mode": spec.mode, "manifest_json": text, "updated_at": stamp}

    def _facts(self) -> tuple[list[Row], list[Row]]:
        facts: list[Row] = []
        evidence: list[Row] = []
        for number, mention in enumerate(self.story.mentions):
            fact, proof = self._noted(mention, number)
            facts.append(fact)
            evidence.extend(proof)
        facts.extend(self._odd(fact, number) for number, fact in enumerate(self.story.facts))
        facts.extend(self._entry(number) for number in range(len(self.story.entries)))
        return facts, evidence

    def _noted(self, mention: Mention, number: int) -> tuple[Row, list[Row]]:
        """A sentence as a fact: two in three through the librarian, whose evidence stands in a table of its own."""
        sentence = mention.sentence
        fact_id = demo_id("fact", mention.note.path, sentence.line)
        at = (mention.note.written + 2 * _HOUR) * _MS + number
        proposal = demo_id("prop", mention.note.path)
        evidence = [_evidence(mention.passage, sentence.text, sentence.line)]
        by_librarian = number % 3 != 2
        fact = {
            **_fact(fact_id, self.id(mention.entity.name, mention.entity.twin), sentence.text, at),
            "confidence": "inferred" if by_librarian else "certain",
            "source_type": "librarian_inferred" if by_librarian else "user_confirmed",
            "source_ref": _token(fact_id) if by_librarian else _inline(evidence),
            "valid_from": sentence.since and sentence.since * _MS,
            "valid_to": sentence.until and sentence.until * _MS,
        }
        proof = {
            "entry_id": fact_id,
            "proposal_id": proposal,
            "evidence_json": compact({"proposal_id": proposal, "evidence": evidence}),
            "created_at": at,
        }
        return fact, [proof] if by_librarian else []

    def _odd(self, fact: OddFact, number: int) -> Row:
        at = (self.story.now - 10 * _DAY) * _MS + number
        fact_id = demo_id("fact", "odd", number)
        since: int | None = None
        if isinstance(fact.since, dt.datetime):
            since = int(fact.since.timestamp()) * _MS
        elif fact.since == "written":
            since = at
        elif fact.since == "seconds":
            since = self.story.now - 90 * _DAY
        return {
            **_fact(fact_id, self.id(fact.about), fact.body, at),
            "confidence": fact.confidence,
            "source_type": fact.source_type,
            "source_ref": _token(fact_id) if fact.source == "gone" else fact.source,
            "valid_from": since,
            "valid_to": fact.until and int(fact.until.timestamp()) * _MS,
        }

    def _entry(self, number: int) -> Row:
        entry = self.story.entries[number]
        at = (self.story.now - 120 * _DAY) * _MS + number
        return {
            **_fact(entry.id, TIER_FACT, entry.body, at),
            "title": entry.title,
            "confidence": "certain",
            "source_type": "immutable_document",
            "source_ref": "handbook",
            "okf_type": entry.type,
        }

    def _edges(self) -> Iterator[Row]:
        at = (self.story.now - 50 * _DAY) * _MS
        for number, (source, kind, target) in enumerate(self.story.edges):
            ends = self.id(source), self.id(target)
            anchor = ends[1] if source.startswith("id:") else ends[0]
            yield _edge(anchor, ends, kind, at + number)
        for number, (source, kind, target) in enumerate(self.story.entry_edges):
            yield _edge(TIER_FACT, (self.id(source), self.id(target)), kind, at - number)

    def _tasks(self) -> Iterator[Row]:
        at = (self.story.now - 15 * _DAY) * _MS
        for number, task in enumerate(self.story.tasks):
            yield {
                "id": demo_id("task", number),
                "entity_id": self.id(task.about),
                "description": task.description,
                "status": "done" if task.done else "pending",
                "created_at": at + number,
                "updated_at": at + number,
                "resolved_at": at + _DAY * _MS if task.done else None,
            }

    def _events(self) -> Iterator[Row]:
        at = (self.story.now - 14 * _DAY) * _MS
        for number, event in enumerate(self.story.events):
            yield {
                "id": demo_id("evt", number),
                "entity_id": self.id(event.about),
                "event_type": event.type,
                "summary": event.summary,
                "created_at": at + number * _HOUR * _MS,
            }

    def _proposals(self) -> tuple[list[Row], list[Row], list[Row]]:
        proposals: list[Row] = []
        items: list[Row] = []
        sources: list[Row] = []
        for number, spec in enumerate(self.story.proposals):
            proposal = demo_id("prop", "proposed", number)
            proposals.append(self._proposal(proposal, spec, self.story.now - (5 - number % 3) * _DAY))
            items.extend(self._items(proposal, spec))
            doc = next(n for n, note in enumerate(self.story.notes, 1) if note.path == spec.source)
            sources.append({"proposal_id": proposal, "doc_id": doc, "role": "trigger"})
        return proposals, items, sources

    def _proposal(self, proposal: str, spec: ProposalSpec, at: int) -> Row:
        pending = spec.status == "pending"
        return {
            "id": proposal,
            "kind": "new_entity" if spec.name else "update_entity",
            "entity_id": self.id(spec.entity) if spec.entity else None,
            "proposed_name": spec.name or None,
            "proposed_type": spec.type or None,
            "reasoning": spec.reasoning,
            "model": MODEL,
            "status": spec.status,
            "created_at": at,
            "resolved_at": None if pending else at + _DAY,
            "reviewed_by": None if pending else REVIEWER,
        }

    def _items(self, proposal: str, spec: ProposalSpec) -> Iterator[Row]:
        note = next(note for note in self.story.notes if note.path == spec.source)
        passage = note.passages[-1]
        quote = passage.sentences[-1]
        status = {"pending": "pending", "approved": "accepted"}.get(spec.status, "rejected")
        for number, body in enumerate(spec.facts):
            yield {
                "id": f"{proposal}_{number}",
                "proposal_id": proposal,
                "item_type": "fact_add",
                "payload": compact({"body": body, "tags": [], "confidence": "inferred"}),
                "evidence": compact([_evidence(passage, quote.text, quote.line)]),
                "status": status,
            }


_MS = 1000
_HOUR = 3600
_DAY = 86_400


def _digest(*parts: object) -> str:
    return hashlib.sha256(json.dumps(["ct-tui demo", *parts], default=str).encode()).hexdigest()


def _token(entry_id: str) -> str:
    return "librarian-" + hashlib.sha256(entry_id.encode()).hexdigest()[:32]


def _inline(evidence: Sequence[Row]) -> str:
    return compact({"proposal_id": None, "evidence": list(evidence)})


def _evidence(passage: Passage, quote: str, line: int) -> Row:
    return {
        "chunk_id": None,
        "content_hash": passage.hash,
        "quote": quote,
        "start_line": line,
        "end_line": line,
        "source_kind": None,
    }


def _fact(fact_id: str, entity: str, body: str, at: int) -> Row:
    return {
        "id": fact_id,
        "entity_id": entity,
        "title": _title(body),
        "body": body,
        "created_at": at,
        "updated_at": at,
        "tier": "fact",
    }


def _title(body: str) -> str:
    words = body.rstrip(".").split()
    return " ".join(words[:7]) + (" …" if len(words) > 7 else "")


def _edge(anchor: str, ends: tuple[str, str], kind: str, at: int) -> Row:
    return {
        "id": demo_id("edge", *ends, kind),
        "entity_id": anchor,
        "source_id": ends[0],
        "target_id": ends[1],
        "edge_type": kind,
        "created_at": at,
    }


def _folder_rules() -> Iterable[Row]:
    """The two rules that the app itself puts into a new brain."""
    yield {"folder_path": "immutable-source-files/agents/", "librarian_mode": "synthesize", "auto_approve": 1}
    yield {
        "folder_path": "immutable-source-files/agents/supersessions/",
        "librarian_mode": "summarize",
        "auto_approve": 1,
    }


def _ingested(number: int, note: Note) -> Row:
    return {"doc_id": number, "run_at": note.written + _HOUR, "outcome": "indexed"}
