"""Evidence: what a fact's source_ref claims, and what an entity's sources mean for heal.

Source of the rules: brain format 4.1 (classification before any look into the database) and 3.2 (strict wins over
all documents). Classifying runs over every fact of a brain and parses each claim once.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

from ct_tui.domain.json_text import BadJson, parse_json
from ct_tui.domain.policy import Mode

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from ct_tui.domain.policy import LookupFn, Policy

LIBRARIAN = "librarian-"
"""What a librarian token begins with; 32 lower-case hex digits follow, and nothing else."""

HEX_DIGITS = "0123456789abcdef"


class Plain(Enum):
    """The classes of a source_ref that carry nothing else."""

    NO_EVIDENCE = "no evidence"
    TOKEN = "librarian token"  # noqa: S105 - the name of a class of refs
    UNRESOLVED = "unresolved"


@dataclass(frozen=True)
class Hashes:
    """Inline evidence: the content hashes it names, in order, each once."""

    values: tuple[str, ...]


SourceRef = Plain | Hashes
"""What a source_ref is: no evidence, a token, inline hashes, or a claim that cannot be resolved."""


def classify(ref: object) -> SourceRef:
    """Classify one source_ref as stored; never raises, a BLOB or a number is an unresolved claim."""
    if ref is None:
        return Plain.NO_EVIDENCE
    if not isinstance(ref, str):
        return Plain.UNRESOLVED
    if ref.startswith(LIBRARIAN):
        return Plain.TOKEN if is_token(ref) else Plain.UNRESOLVED
    return classify_evidence(ref)


def is_token(ref: object) -> bool:
    """Whether a source_ref is a librarian token; anything near it, such as `librarian-notes.md`, is none."""
    # A regular expression takes twice as long, and a brain holds a million of them.
    return isinstance(ref, str) and len(ref) == len(LIBRARIAN) + 32 and ref.rstrip(HEX_DIGITS) == LIBRARIAN


def classify_evidence(text: object) -> SourceRef:
    """Classify evidence JSON: an inline ref, or what librarian_evidence keeps for a token."""
    try:
        document = parse_json(text) if isinstance(text, str) else None
    except BadJson:
        return Plain.UNRESOLVED
    evidence = document.get("evidence") if isinstance(document, dict) else None
    if not isinstance(evidence, list) or not evidence:
        return Plain.UNRESOLVED
    hashes = [e.get("content_hash") if isinstance(e, dict) else None for e in evidence]
    if not all(isinstance(h, str) and h for h in hashes):
        return Plain.UNRESOLVED
    return Hashes(tuple(dict.fromkeys(h for h in hashes if isinstance(h, str))))


@dataclass(frozen=True)
class EntitySources:
    """The sources of one entity over its whole redirect cluster.

    `paths` are the documents of every resolved fact, all documents that share a hash, each once, in the order of the
    facts; `unresolved` says that some fact claims evidence that leads nowhere; `ledger_path` is the path that an
    origin row of the cluster remembers.
    """

    paths: tuple[str, ...] = ()
    unresolved: bool = False
    ledger_path: str | None = None

    @property
    def ladder_paths(self) -> tuple[str, ...]:
        """What the ladder walks: the resolved paths, else the ledger's, else nothing (a pathless lookup)."""
        if self.paths or self.ledger_path is None:
            return self.paths
        return (self.ledger_path,)

    def report_only(self, policy: Policy) -> bool:
        """Whether heal may only report: a lost source might have been off, or the ledger says that one was."""
        return self.unresolved and (policy.has_off_folder or self.ledger_path is not None)

    def off_path(self, lookup: LookupFn) -> str | None:
        """A source that shields the entity from automatic retypes: one that is off, or the ledger's; else None."""
        off = next((p for p in self.paths if lookup(p).mode is Mode.OFF), None)
        return off if off is not None else self.ledger_path


NO_SOURCES = EntitySources()
"""The sources of an entity without facts or ledger path."""


def sources_matter(policy: Policy) -> bool:
    """Whether resolving evidence can change anything for an entity without a ledger path."""
    return policy.paths_matter or policy.host_mode is Mode.OFF


def roll_up(
    refs: Iterable[SourceRef],
    documents: Mapping[str, tuple[str, ...]] | Callable[[str], tuple[str, ...]],
    ledger_path: str | None = None,
) -> EntitySources:
    """Join the classified refs of one entity with the documents of each hash; a token must be replaced before."""
    find = documents if callable(documents) else lambda h: documents.get(h, ())
    paths: dict[str, None] = {}
    unresolved = False
    for ref in refs:
        if ref is Plain.NO_EVIDENCE:
            continue
        found = [find(h) for h in ref.values] if isinstance(ref, Hashes) else []
        if found and all(found):
            paths.update((path, None) for some in found for path in some)
        else:
            unresolved = True
    return EntitySources(tuple(paths), unresolved, ledger_path)
