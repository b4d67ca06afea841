"""`ontology set`: the mode of the host, of a folder or of one entity, and a manifest's fallback.

Source of the rules: brain format 7.6. Every check comes before the first write; each effect is one transaction or
one replaced file.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from ct_tui.brain import readers, sql
from ct_tui.brain.connection import NOT_TAKEN
from ct_tui.brain.minting import entity_exists
from ct_tui.domain.errors import BadInput, BrainError, CtTuiError, NothingFound, PolicyError
from ct_tui.domain.holds import hold_text, vocabulary_hold
from ct_tui.domain.json_text import BadJson, compact, members, set_member
from ct_tui.domain.manifest import TIER_FACT, ManifestRow, read_manifest_row, set_fallback
from ct_tui.domain.policy import Mode, normalise_key
from ct_tui.domain.redirects import CYCLE, Redirects
from ct_tui.policy.load import load_policy
from ct_tui.policy.write import check_folder, edit_config, set_default, set_folder

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from ct_tui.brain.connection import Brain, Db
    from ct_tui.brain.schema import Schema
    from ct_tui.domain.policy import Policy

OPT_OUT_REASON = "ct-tui ontology set --mode off"
COPIED = ("node_types", "edge_types", "fallback_node_type")


@dataclass(frozen=True)
class SetRequest:
    """The flags as given: `mode` off or strict, one of `entity` and `dir`, `fallback` a declared type."""

    mode: str | None = None
    entity: str | None = None
    dir: str | None = None
    fallback: str | None = None


@dataclass(frozen=True)
class SetResult:
    """What one `ontology set` did; `resolved_entity` is the survivor where the given id was merged away."""

    mode: str | None = None
    entity: str | None = None
    dir: str | None = None
    fallback: str | None = None
    resolved_entity: str | None = None
    optout_written: bool = False
    optout_deleted: bool = False
    manifest_row_written: bool = False
    fallback_written: bool = False
    config_written: bool = False
    warning: str | None = None

    def as_json(self) -> dict[str, Any]:
        """The line that the command prints; optional fields are left out when empty."""
        optional = ("mode", "entity", "dir", "fallback", "resolved_entity")
        done = ("optout_written", "optout_deleted", "manifest_row_written", "fallback_written", "config_written")
        found: dict[str, Any] = {k: getattr(self, k) for k in optional if getattr(self, k) is not None}
        found.update((k, getattr(self, k)) for k in done)
        if self.warning:
            found["warning"] = self.warning
        return found


def set_ontology(brain: Brain, config: Path, request: SetRequest, clock: Callable[[], float] = time.time) -> SetResult:
    """Check everything, then write; raises a CtTuiError and leaves all as it was where a check fails."""
    mode = _check_flags(request)
    _check_writable(brain, needs_database=request.entity is not None or request.fallback is not None)
    policy = load_policy(config)
    refusal = policy.refusal()
    if refusal is not None:
        raise refusal
    with brain.snapshot() as db:
        target = _check_brain(db, brain.schema, request, mode)
        warning = _no_manifest_warning(db, brain.schema)
    done = SetResult(
        request.mode, request.entity, request.dir, request.fallback, _differs(target, request.entity), warning=warning
    )
    at = int(clock())
    # The database comes first: it is what another program may hold locked, and then nothing has been written yet.
    if request.entity is not None and mode is not None:
        return brain.write(lambda db: _set_entity(db, brain.schema, request, mode, at, done))
    if request.fallback is not None:
        done = brain.write(lambda db: _set_fallback(db, brain.schema, request, at, done))
    return done if mode is None else _set_config(config, policy, config_edit(request, mode), done)


def clear_ontology(
    brain: Brain, config: Path, *, entity: str | None = None, folder: str | None = None, host: bool = False
) -> SetResult:
    """Take one setting back: an entity's opt-out, a folder's mode or the host default, whichever is named.

    Raises a CtTuiError as `set_ontology` does; an entity's own strict row stays (the manifests are the engine's).
    """
    if (entity is not None) + (folder is not None) + host != 1:
        raise BadInput("name one setting to take back: an entity, a folder or the host default")
    _check_writable(brain, needs_database=entity is not None)
    if entity is None:
        policy = load_policy(config)
        edit_config(config, policy, config_clearing(folder))
        return SetResult(dir=folder, config_written=True)
    with brain.snapshot() as db:
        target = resolve_entity(db, brain.schema, entity)

    def job(db: Db) -> SetResult:
        deleted = _drop_opt_outs(db, brain.schema, resolve_entity(db, brain.schema, entity))
        return SetResult(entity=entity, resolved_entity=_differs(target, entity), optout_deleted=deleted)

    return brain.write(job)


def resolve_entity(db: Db, schema: Schema, entity_id: str) -> str:
    """The survivor that a write for this id must land on; raises where there is none. Archived entities count."""
    end = Redirects(readers.redirects(db, schema)).resolve(entity_id)
    if end is CYCLE:
        raise PolicyError(
            f"the merge redirects of {entity_id!r} run in a circle; nothing was written",
            "delete one entity_redirects row of the circle, then try again",
        )
    if not entity_exists(db, end):
        raise UnknownEntity(f"there is no entity {entity_id!r} in this brain; nothing was written", "check the id")
    return end


class UnknownEntity(NothingFound):
    """An unknown id where something was to be written: a refusal, so the exit code is 1."""

    exit_code = 1


def _check_flags(request: SetRequest) -> Mode | None:
    mode = _mode(request.mode)
    if mode is None and request.fallback is None:
        raise BadInput("nothing to set: give --mode, --fallback or both")
    if request.entity is not None and request.dir is not None:
        raise BadInput("--entity and --dir exclude each other")
    if request.dir is not None:
        if mode is None:
            raise BadInput("--dir needs --mode off or --mode strict")
        check_folder(request.dir)
    if request.entity is not None and mode is Mode.OFF and request.fallback is not None:
        raise BadInput(
            "--fallback has no effect on an entity that is opted out; nothing was written", "leave one of the two away"
        )
    return mode


def _check_writable(brain: Brain, *, needs_database: bool) -> None:
    refusal = brain.write_refusal if needs_database or brain.read_only else ""
    if refusal:
        raise BrainError(f"nothing was written: {refusal}")


def _mode(given: str | None) -> Mode | None:
    if given is None:
        return None
    try:
        return Mode(given)
    except ValueError as error:
        raise BadInput(f"--mode is off or strict, not {given!r}") from error


def _check_brain(db: Db, schema: Schema, request: SetRequest, mode: Mode | None) -> str | None:
    """Every check that needs the brain; gives the survivor of the named entity."""
    target = _target(db, schema, request.entity, mode) if request.entity is not None else None
    if target is not None and mode is Mode.STRICT:
        strict_copy(db, schema, target, request.fallback)
    elif request.fallback is not None:
        fallback_rewrite(db, schema, target or TIER_FACT, request.fallback)
    return target


def _target(db: Db, schema: Schema, entity_id: str, mode: Mode | None) -> str:
    """The survivor of the named entity; a fallback alone may also name a manifest row that is no entity's."""
    if mode is None and not entity_exists(db, entity_id) and readers.manifests(db, schema).get(entity_id):
        return entity_id
    return resolve_entity(db, schema, entity_id)


def config_edit(request: SetRequest, mode: Mode) -> Callable[[str], str]:
    """The edit of the config's text that sets a mode, of the folder named or else of the host."""
    folder = request.dir
    if folder is None:
        return lambda text: set_default(text, mode)
    return lambda text: set_folder(text, folder, mode)


def config_clearing(folder: str | None) -> Callable[[str], str]:
    """The edit of the config's text that takes a folder's mode back, or without one the host default."""
    if folder is None:
        return lambda text: set_default(text, None)
    return lambda text: set_folder(text, normalise_key(folder), None)


def _set_config(config: Path, policy: Policy, edit: Callable[[str], str], done: SetResult) -> SetResult:
    """Edit the config; where that fails after a fallback was written, the error says so."""
    try:
        edit_config(config, policy, edit)
    except CtTuiError as error:
        if done.fallback_written:
            error.details = (*error.details, "the fallback had been written already and stays")
        raise
    return replace(done, config_written=True)


def _set_entity(db: Db, schema: Schema, request: SetRequest, mode: Mode, at: int, done: SetResult) -> SetResult:
    """Opt an entity out, or give it a strict row of its own and clear its cluster's opt-outs."""
    # Resolved again inside the transaction, so that a merge in between cannot redirect the id.
    target = resolve_entity(db, schema, request.entity or "")
    done = replace(done, resolved_entity=_differs(target, request.entity))
    if mode is Mode.OFF:
        _require_taken(db.execute(sql.OPT_OUT_PUT, (target, OPT_OUT_REASON, at)), "the opt-out")
        return replace(done, optout_written=True)
    text = strict_copy(db, schema, target, request.fallback)
    deleted = _drop_opt_outs(db, schema, target)
    _require_taken(db.execute(sql.MANIFEST_PUT, (target, text, at)), "the manifest row")
    written = request.fallback is not None
    return replace(done, optout_deleted=deleted, manifest_row_written=True, fallback_written=written)


def _require_taken(rows: int, what: str) -> None:
    if rows != 1:
        raise BrainError(f"the brain did not take {what} in, so nothing was written", NOT_TAKEN)


def _drop_opt_outs(db: Db, schema: Schema, target: str) -> bool:
    cluster = Redirects(readers.redirects(db, schema)).cluster(target)
    return sum(db.execute(sql.OPT_OUT_DROP, (member,)) for member in cluster) > 0


def strict_copy(db: Db, schema: Schema, target: str, fallback: str | None) -> str:
    """The text of an entity's strict row: tier_fact's types, edges and fallback as they stand, and nothing else."""
    tier = _row(db, schema, TIER_FACT)
    _require_array(tier, "node_types")
    found = {m.key: tier.raw[m.start : m.end] for m in members(tier.raw) if m.key in COPIED}
    text = "{" + ",".join(f"{compact(key)}:{found[key]}" for key in COPIED if key in found) + "}"
    if fallback is not None:
        text = set_member(text, "fallback_node_type", _declared(tier, fallback))
    copied = read_manifest_row(target, "strict", text)
    hold = vocabulary_hold(copied.vocabulary, TIER_FACT) if copied.vocabulary is not None else None
    if hold is not None:
        raise PolicyError(f"a strict row for {target!r} could not gate: {hold_text(hold)}; nothing was written")
    return text


def _set_fallback(db: Db, schema: Schema, request: SetRequest, at: int, done: SetResult) -> SetResult:
    target = TIER_FACT if request.entity is None else _target(db, schema, request.entity, None)
    old, new = fallback_rewrite(db, schema, target, request.fallback or "")
    if db.execute(sql.FALLBACK_SWAP, (new, at, target, old)) != 1:
        raise PolicyError(f"the manifest of {target} changed meanwhile; nothing was written", "try again")
    return replace(done, fallback_written=True)


def fallback_rewrite(db: Db, schema: Schema, target: str, fallback: str) -> tuple[str, str]:
    """The manifest text as it stands and with the fallback, in the spelling that the manifest declares."""
    row = _row(db, schema, target)
    try:
        return row.raw, set_fallback(row.raw, _declared(row, fallback))
    except BadJson as error:
        raise PolicyError(f"the manifest of {target} cannot take a fallback: {error}; nothing was written") from error


def _row(db: Db, schema: Schema, row_id: str) -> ManifestRow:
    row = readers.manifests(db, schema).get(row_id)
    if row is None:
        raise PolicyError(
            f"there is no manifest row for {row_id}; nothing was written",
            "the wiki engine makes the rows when the app opens this brain: open it once, then try again",
        )
    if not row.readable:
        raise PolicyError(f"the manifest row of {row_id} cannot be read: {row.error}; nothing was written")
    return row


def _require_array(row: ManifestRow, key: str) -> None:
    try:
        kinds = [row.raw[m.start] for m in members(row.raw) if m.key == key]
    except BadJson as error:
        raise PolicyError(f"the manifest of {row.entity_id} is no object: {error}; nothing was written") from error
    if not kinds or kinds[-1] != "[":
        raise PolicyError(f"the manifest of {row.entity_id} has no {key}; nothing was written")


def _declared(row: ManifestRow, fallback: str) -> str:
    found = row.vocabulary.canonical(fallback) if row.vocabulary is not None else None
    if found is None:
        names = ", ".join(sorted(row.vocabulary.names)) if row.vocabulary is not None else ""
        raise PolicyError(
            f"{fallback!r} is no type that the manifest of {row.entity_id} declares; nothing was written",
            f"it declares: {names}" if names else "",
        )
    return found


def _no_manifest_warning(db: Db, schema: Schema) -> str | None:
    count = db.scalar(sql.MANIFEST_COUNT) if schema.has("llm_wiki_entity_manifests") else 0
    if count:
        return None
    return "this brain has no manifest row, so nothing is gated until the app has opened it once"


def _differs(resolved: str | None, given: str | None) -> str | None:
    return resolved if resolved != given else None
