"""Why the gate holds a mint, and what mends it: one record for each cause.

Source of the rules: brain format 3.3. A hold is never blamed on something else: only the three causes that lie in
a vocabulary speak of `--fallback`. Ids are quoted for a shell wherever a command is printed.
"""

from __future__ import annotations

import shlex
from dataclasses import dataclass

from ct_tui.domain.manifest import TIER_FACT, Vocabulary

SET_COMMAND = "ct ontology set"
"""The command that mends a policy, as the app spells it."""

SAME_FLAGS = "(ct-tui takes the same flags)"


@dataclass(frozen=True)
class EmptyNodeTypes:
    """A strict row declares no node type; a fallback that it names does not help."""

    manifest: str | None = None
    fallback: str | None = None

    @property
    def message(self) -> str:
        """What is wrong."""
        return f"{_row(self.manifest)} declares no node types, so nothing can be admitted"

    @property
    def remedy(self) -> str:
        """What mends it."""
        if self.manifest not in (None, TIER_FACT):
            command = f"`{SET_COMMAND} {_entity_flag(self.manifest)} --mode strict` {SAME_FLAGS}"
            return f"copy tier_fact's vocabulary into it with {command}, once tier_fact itself can gate"
        if self.fallback is not None:
            return f"the wiki engine owns that row: have it declare node types, {self.fallback!r} among them"
        command = f"`{SET_COMMAND} --fallback <type>` {SAME_FLAGS}"
        return f"the wiki engine owns that row: have it declare node types, then name one of them with {command}"


@dataclass(frozen=True)
class NoFallback:
    """A strict row declares types and no fallback: every mint holds, one of a declared type too."""

    manifest: str | None = None
    declared: tuple[str, ...] = ()

    @property
    def message(self) -> str:
        """What is wrong."""
        return f"{_row(self.manifest)} names no fallback_node_type, so every mint holds, of declared types too"

    @property
    def remedy(self) -> str:
        """What mends it."""
        return _fallback_remedy(self.manifest, self.declared)


@dataclass(frozen=True)
class FallbackNotDeclared:
    """A strict row's fallback is none of its types: landing it would write an undeclared type."""

    manifest: str | None = None
    fallback: str = ""
    declared: tuple[str, ...] = ()

    @property
    def message(self) -> str:
        """What is wrong."""
        return f"{_row(self.manifest)} names {self.fallback!r} as its fallback, which is none of its node types"

    @property
    def remedy(self) -> str:
        """What mends it."""
        return _fallback_remedy(self.manifest, self.declared)


@dataclass(frozen=True)
class OptOutLookupFailed:
    """The opt-outs could not be read, so an opted-out entity might be gated."""

    entity_id: str
    detail: str = ""

    @property
    def message(self) -> str:
        """What is wrong."""
        return f"the opt-outs of {self.entity_id!r} could not be read{_because(self.detail)}"

    @property
    def remedy(self) -> str:
        """What mends it."""
        return "try again; if it stays, check the brain's database"


@dataclass(frozen=True)
class RedirectUnresolved:
    """The merge redirects of an entity run in a circle, so the row that governs it is unknown."""

    entity_id: str
    detail: str = ""

    @property
    def message(self) -> str:
        """What is wrong."""
        return f"the merge redirects of {self.entity_id!r} lead nowhere{_because(self.detail)}"

    @property
    def remedy(self) -> str:
        """What mends it."""
        return "delete one entity_redirects row of the circle, then try again"


@dataclass(frozen=True)
class Internal:
    """A state that the rules never reach; said as the bug it is."""

    detail: str

    @property
    def message(self) -> str:
        """What is wrong."""
        return f"the gate contradicts itself ({self.detail}): this is a bug"

    @property
    def remedy(self) -> str:
        """What mends it."""
        return "please report it with this message"


@dataclass(frozen=True)
class EntityManifestUnreadable:
    """The entity's own row cannot be read and nothing strict decided: it might have said strict."""

    entity_id: str
    detail: str = ""

    @property
    def message(self) -> str:
        """What is wrong."""
        return f"the manifest row of {self.entity_id!r} cannot be read{_because(self.detail)}"

    @property
    def remedy(self) -> str:
        """What mends it."""
        return "repair or remove that row of llm_wiki_entity_manifests"


@dataclass(frozen=True)
class TierFactUnreadable:
    """The tier_fact row cannot be read."""

    detail: str = ""

    @property
    def message(self) -> str:
        """What is wrong."""
        return f"the tier_fact manifest row cannot be read{_because(self.detail)}"

    @property
    def remedy(self) -> str:
        """What mends it."""
        return "repair that row of llm_wiki_entity_manifests"


@dataclass(frozen=True)
class ConfigHold:
    """config.json is unreadable or contradictory here while a strict vocabulary exists; no source means pathless."""

    source: str | None = None
    detail: str = ""

    @property
    def message(self) -> str:
        """What is wrong."""
        what = f"the source {self.source!r}" if self.source is not None else "a mint without sources"
        return f"config.json does not say which mode {what} has{_because(self.detail)}"

    @property
    def remedy(self) -> str:
        """What mends it."""
        return "mend ingest.folder_ontology and ingest.ontology_default in config.json"


Hold = (
    EmptyNodeTypes
    | NoFallback
    | FallbackNotDeclared
    | OptOutLookupFailed
    | RedirectUnresolved
    | Internal
    | EntityManifestUnreadable
    | TierFactUnreadable
    | ConfigHold
)


def hold_name(hold: Hold) -> str:
    """The cause's name in JSON, such as `NoFallback` or `ConfigHold`."""
    return type(hold).__name__


def hold_text(hold: Hold) -> str:
    """The whole sentence: what is wrong and what mends it."""
    return f"{hold.message}; {hold.remedy}"


def vocabulary_hold(vocabulary: Vocabulary, manifest: str | None = None) -> Hold | None:
    """Why a strict vocabulary cannot gate, or None where it can; `manifest` names the row it came from."""
    if vocabulary.usable:
        return None
    if not vocabulary.names:
        return EmptyNodeTypes(manifest, vocabulary.fallback)
    declared = tuple(sorted(vocabulary.names))
    if vocabulary.fallback is None:
        return NoFallback(manifest, declared)
    return FallbackNotDeclared(manifest, vocabulary.fallback, declared)


def _row(manifest: str | None) -> str:
    return f"the strict manifest {manifest!r}" if manifest is not None else "the strict manifest"


def _because(detail: str) -> str:
    return f" ({detail})" if detail else ""


def _entity_flag(entity_id: str | None) -> str:
    return f"--entity={shlex.quote(entity_id or '')}"


def _fallback_remedy(manifest: str | None, declared: tuple[str, ...]) -> str:
    flag = "" if manifest in (None, TIER_FACT) else _entity_flag(manifest) + " "
    note = "" if manifest is not None else "; where an entity's own row holds the mint, give its id with --entity"
    return f"`{SET_COMMAND} {flag}--fallback <type>` with one of: {', '.join(declared)} {SAME_FLAGS}{note}"
