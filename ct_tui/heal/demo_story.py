"""The demo's story, parsed: the notes of its vault and what the librarian is said to have made of them.

Both lie in `ct_tui/data/demo`, as Markdown and as one TOML file, for people to read and to change. Here they become
frozen records; nothing is decided about rows of a brain yet. Times are seconds unless said.
"""

from __future__ import annotations

import datetime as dt
import hashlib
import re
import tomllib
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from ct_tui.policy.shipped import shipped

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from importlib.resources.abc import Traversable

_DATE = re.compile(r"^Date: (\d{4}-\d{2}-\d{2})$", re.MULTILINE)
_SINCE = re.compile(r"\bsince (\d{4}-\d{2}-\d{2})\b")
_UNTIL = re.compile(r"\buntil (\d{4}-\d{2}-\d{2})\b")


@dataclass(frozen=True)
class Sentence:
    """One bullet of a note and the number of its line, from 1."""

    text: str
    line: int

    @property
    def since(self) -> int | None:
        """The day that the sentence says it is true from, or None."""
        return _day(_SINCE.search(self.text))

    @property
    def until(self) -> int | None:
        """The day that the sentence says it is true until, or None."""
        return _day(_UNTIL.search(self.text))


@dataclass(frozen=True)
class Passage:
    """One section of a note, as it is chunked: the lines from its heading to its last bullet."""

    text: str
    first: int
    last: int
    sentences: tuple[Sentence, ...]

    @property
    def hash(self) -> str:
        """The chunk's content hash: the first half of its SHA-256."""
        return hashlib.sha256(self.text.encode()).hexdigest()[:32]


@dataclass(frozen=True)
class Note:
    """One file of the vault; `path` is relative to it."""

    path: str
    text: str
    written: int
    passages: tuple[Passage, ...]


@dataclass(frozen=True)
class EntityName:
    """One entity of the story; `twin` counts those of the same name, from 0."""

    name: str
    type: str
    twin: int = 0
    archived: bool = False


@dataclass(frozen=True)
class Mention:
    """A sentence that says something about an entity, with the place where it stands."""

    entity: EntityName
    note: Note
    passage: Passage
    sentence: Sentence


@dataclass(frozen=True)
class LedgerLine:
    """What the write gate noted about an entity."""

    entity: str
    reason: str
    original: str | None = None
    source: str | None = None


@dataclass(frozen=True)
class ManifestSpec:
    """A manifest row: of a partition (`row`) or an entity; a seed with additions, or JSON as it stands."""

    mode: str
    row: str = ""
    entity: str = ""
    seed: str = ""
    add: tuple[Mapping[str, str], ...] = ()
    json: str = ""


@dataclass(frozen=True)
class EngineEntry:
    """An entry that the wiki engine wrote for itself."""

    id: str
    title: str
    body: str
    type: str | None = None


@dataclass(frozen=True)
class OddFact:
    """A fact that no note holds; `since` may be a time or a word for a mistake, see the story."""

    about: str
    body: str
    source: str | None = None
    confidence: str = "inferred"
    source_type: str = "librarian_inferred"
    since: dt.datetime | str | None = None
    until: dt.datetime | None = None


@dataclass(frozen=True)
class TaskSpec:
    """A task of an entity."""

    about: str
    description: str
    done: bool = False


@dataclass(frozen=True)
class EventSpec:
    """Something that happened to an entity."""

    about: str
    type: str
    summary: str


@dataclass(frozen=True)
class ProposalSpec:
    """What the librarian proposed: a new entity by `name` and `type`, or an update of `entity`."""

    status: str
    reasoning: str
    source: str
    facts: tuple[str, ...]
    name: str = ""
    type: str = ""
    entity: str = ""


@dataclass(frozen=True)
class Story:
    """Everything that the demo's brain is made from; edges are (source, edge type, target) by name."""

    now: int
    notes: tuple[Note, ...]
    entities: tuple[EntityName, ...]
    summaries: Mapping[str, str]
    redirects: Mapping[str, str]
    optouts: Mapping[str, str]
    ledger: tuple[LedgerLine, ...]
    manifests: tuple[ManifestSpec, ...]
    edges: tuple[tuple[str, str, str], ...]
    entries: tuple[EngineEntry, ...]
    entry_edges: tuple[tuple[str, str, str], ...]
    facts: tuple[OddFact, ...]
    tasks: tuple[TaskSpec, ...]
    events: tuple[EventSpec, ...]
    proposals: tuple[ProposalSpec, ...]
    rulings: tuple[Mapping[str, Any], ...]

    @cached_property
    def mentions(self) -> tuple[Mention, ...]:
        """What the notes say, sentence by sentence, each about the entity that it names first.

        A passage that stands in two notes is read once; of entities that share a name each gets its turn.
        """
        twins = {n: [e for e in self.entities if e.name == n] for n in {e.name for e in self.entities}}
        # Longest first, so that of two names that begin at the same place the longer one is taken.
        names = re.compile(
            "|".join(rf"(?<![\w-]){re.escape(n)}(?![\w-])" for n in sorted(twins, key=len, reverse=True))
        )
        found: list[Mention] = []
        for note, passage, sentence in self._sentences():
            hit = names.search(sentence.text)
            if hit:
                alike = twins[hit.group()]
                said = sum(m.entity.name == hit.group() for m in found)
                found.append(Mention(alike[said % len(alike)], note, passage, sentence))
        return tuple(found)

    def _sentences(self) -> Iterator[tuple[Note, Passage, Sentence]]:
        seen: set[str] = set()
        for note in self.notes:
            for passage in note.passages:
                if passage.hash not in seen:
                    seen.add(passage.hash)
                    yield from ((note, passage, sentence) for sentence in passage.sentences)


def load_story() -> Story:
    """Read the shipped story and its vault."""
    demo = shipped("demo")
    told = tomllib.loads(demo.joinpath("story.toml").read_text(encoding="utf-8"))
    return Story(
        now=int(told["now"].timestamp()),
        notes=tuple(_notes(demo.joinpath("vault"))),
        entities=(*_entities(told["types"]), *_entities(told["archived"], archived=True)),
        summaries=told["summaries"],
        redirects=told["redirects"],
        optouts=told["optouts"],
        ledger=tuple(LedgerLine(**line) for line in told["ledger"]),
        manifests=tuple(ManifestSpec(**{**m, "add": tuple(m.get("add", ()))}) for m in told["manifests"]),
        edges=_triples(told["edges"]),
        entries=tuple(EngineEntry(**entry) for entry in told["entries"]),
        entry_edges=_triples(told["entry_edges"]),
        facts=tuple(OddFact(**fact) for fact in told["facts"]),
        tasks=tuple(TaskSpec(**task) for task in told["tasks"]),
        events=tuple(EventSpec(**event) for event in told["events"]),
        proposals=tuple(ProposalSpec(**{**p, "facts": tuple(p["facts"])}) for p in told["proposals"]),
        rulings=tuple(told["rulings"]),
    )


def _entities(types: Mapping[str, list[str]], *, archived: bool = False) -> Iterator[EntityName]:
    seen: dict[str, int] = {}
    for type_, names in types.items():
        for name in names:
            yield EntityName(name, type_, seen.get(name, 0), archived)
            seen[name] = seen.get(name, 0) + 1


def _triples(groups: Mapping[str, list[list[str]]]) -> tuple[tuple[str, str, str], ...]:
    return tuple((source, edge, target) for group in groups.values() for source, edge, target in group)


def _notes(folder: Traversable, at: str = "") -> Iterator[Note]:
    for item in sorted(folder.iterdir(), key=lambda i: i.name):
        path = f"{at}{item.name}"
        if item.is_dir():
            yield from _notes(item, f"{path}/")
        elif item.name.endswith(".md"):
            yield read_note(path, item.read_text(encoding="utf-8"))


def read_note(path: str, text: str) -> Note:
    """Parse one note: its date and its sections."""
    date = _day(_DATE.search(text))
    if date is None:
        raise ValueError(f"{path} has no line `Date: YYYY-MM-DD`")
    return Note(path, text, date + 9 * 3600, tuple(_passages(text)))


def _passages(text: str) -> Iterator[Passage]:
    lines = text.splitlines()
    heads = [n for n, line in enumerate(lines) if line.startswith("## ")]
    for head, end in zip(heads, [*heads[1:], len(lines)], strict=True):
        bullets = [n for n in range(head, end) if lines[n].startswith("- ")]
        if bullets:
            sentences = tuple(Sentence(lines[n][2:], n + 1) for n in bullets)
            yield Passage("\n".join(lines[head : bullets[-1] + 1]), head + 1, bullets[-1] + 1, sentences)


def _day(match: re.Match[str] | None) -> int | None:
    if match is None:
        return None
    return int(dt.datetime.fromisoformat(match.group(1)).replace(tzinfo=dt.UTC).timestamp())
