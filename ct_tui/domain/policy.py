"""The ontology part of config.json as pure rules: salvage, prefix resolver, lookup, ties, watermark.

Source of the rules: brain format 2.1 to 2.7. Nothing here touches a disk; the `policy` layer reads the bytes and
says where the vault really is. A config that cannot be read is never taken for "no policy": it is degraded, and
what it might have said holds.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from typing import Any

from ct_tui.domain.errors import PolicyError
from ct_tui.domain.json_text import BadJson, kind_of, parse_json, repeated_keys

SCHEMAS = ("schema-org", "schema-software-org", "emergent", "off")
"""Every value that `ontology.schema` may take; any other makes the whole block unparseable."""

TIERS = ("none", "chunks-only", "full")
"""Ingestion tiers, the most conservative first: that one wins a tie."""


class Mode(StrEnum):
    """What a folder, the host default or an entity says to the gate; spelled exactly so."""

    OFF = "off"
    STRICT = "strict"


class Outcome(StrEnum):
    """What rungs 2 and 3 say of one source path."""

    STRICT = "strict"
    OFF = "off"
    HOLD = "hold"
    CLIMB = "climb"


@dataclass(frozen=True)
class Lookup:
    """The answer for one path, with the row of the lookup table (brain format 2.5) that gave it.

    `key` is the config key that decided, `value` what stands there, `path` the path that was asked for (None
    for a mint without sources), `rung` 2 where a folder decided and 3 where the host default did.
    """

    outcome: Outcome
    row: int
    why: str
    path: str | None = None
    key: str | None = None
    value: str | None = None
    rung: str = "3"

    @property
    def mode(self) -> Mode | None:
        """The mode, where the lookup found one."""
        return Mode(self.outcome.value) if self.outcome in {Outcome.OFF, Outcome.STRICT} else None


@dataclass(frozen=True)
class Degraded:
    """What of the config could not be read and therefore holds.

    `reason` is empty unless everything holds; `dropped_prefixes` are normalised keys whose value was unusable.
    """

    reason: str = ""
    dropped_prefixes: tuple[str, ...] = ()
    default_dropped: bool = False

    @property
    def everywhere(self) -> bool:
        """Whether every mint holds."""
        return bool(self.reason)

    def __bool__(self) -> bool:
        return self.everywhere or bool(self.dropped_prefixes) or self.default_dropped


@dataclass(frozen=True)
class Problem:
    """One thing in config.json that a person should know: where it is, and a sentence."""

    where: str
    message: str


@dataclass(frozen=True)
class Tie:
    """Several spellings of one folder that contradict each other: raw key and mode of each."""

    prefix: str
    entries: tuple[tuple[str, Mode], ...]

    def __str__(self) -> str:
        return f"{self.prefix}: " + ", ".join(f"{json.dumps(k, ensure_ascii=False)} is {m}" for k, m in self.entries)


@dataclass(frozen=True)
class Vault:
    """Where absolute paths are placed: the configured root, its canonical form, and a way to canonicalise a path."""

    root: str | None = None
    canonical: str | None = None
    canonicalise: Callable[[str], str | None] | None = None

    def relative(self, path: str) -> str | None:
        """The path below the vault, or None where it cannot be placed."""
        for root in (self.root, self.canonical):
            found = below(path, root) if root else None
            if found is not None:
                return found
        if not self.canonical or self.canonicalise is None:
            return None
        real = self.canonicalise(path)
        return below(real, self.canonical) if real is not None else None


@dataclass(frozen=True)
class Policy:
    """What config.json says about the ontology; the default value is what a missing file means.

    `folders` holds the raw keys as written. `config_hash` is the SHA-256 of the file's bytes, empty where there
    was no file.
    """

    folders: tuple[tuple[str, Mode], ...] = ()
    default: Mode | None = None
    schema: str | None = None
    schema_unparseable: bool = False
    degraded: Degraded = field(default_factory=Degraded)
    tiers: tuple[tuple[str, str], ...] = ()
    vault_path: str | None = None
    vault: Vault = field(default_factory=Vault, compare=False)
    problems: tuple[Problem, ...] = ()
    config_hash: str = ""

    @cached_property
    def ties(self) -> tuple[Tie, ...]:
        """Folders whose keys contradict each other; inert keys never tie."""
        groups: dict[str, list[tuple[str, Mode]]] = {}
        for key, mode in self.folders:
            if is_matchable(key):
                groups.setdefault(normalise_key(key), []).append((key, mode))
        tied = ((p, e) for p, e in sorted(groups.items()) if len({m for _, m in e}) > 1)
        return tuple(Tie(prefix, tuple(entries)) for prefix, entries in tied)

    @cached_property
    def has_off_folder(self) -> bool:
        """Whether any folder entry says off, matchable or not."""
        return any(mode is Mode.OFF for _, mode in self.folders)

    @property
    def paths_matter(self) -> bool:
        """Whether a source path can change a lookup; where not, every lookup equals the pathless one."""
        return bool(self.folders) or bool(self.degraded.dropped_prefixes)

    @property
    def host_mode(self) -> Mode | None:
        """Rung 3: the explicit default, else off where the schema is off, else nothing."""
        if self.default is not None:
            return self.default
        return Mode.OFF if self.schema == "off" else None

    @property
    def watermark(self) -> str:
        """The SHA-256 that policy drift is measured by."""
        return watermark_hash(self)

    def lookup(self, path: str | None) -> Lookup:
        """Rungs 2 and 3 for one source path; None is a mint without sources."""
        return self._resolver.lookup(path)

    def tier_for(self, path: str) -> str:
        """The ingestion tier of one path; a tie goes to the most conservative, no match is full."""
        found = self._tier_map.match(_relative(path, self.vault) or "") if self.tiers else None
        return min(found.values, key=TIERS.index) if found is not None else "full"

    def refusal(self) -> PolicyError | None:
        """Why heal and every writer of the config must refuse, or None where the config is whole."""
        if self.degraded:
            where = tuple(f"{p.where}: {p.message}" for p in self.problems)
            message = "config.json is DEGRADED: what cannot be read holds, and nothing is written"
            return PolicyError(message, "mend config.json, then try again", where)
        if self.ties:
            message = "config.json is ambiguous: several keys name one folder and contradict each other"
            return PolicyError(message, "leave one key for each folder", tuple(map(str, self.ties)))
        return None

    @cached_property
    def _resolver(self) -> _Resolver:
        return _Resolver(self)

    @cached_property
    def _tier_map(self) -> _PrefixMap:
        return _PrefixMap(self.tiers)


def read_policy(raw: bytes, vault_of: Callable[[str | None], Vault] | None = None) -> Policy:
    """Read the policy from the bytes of config.json, salvaging key by key; never raises.

    `vault_of` turns the configured vault path into a Vault (the policy layer knows symlinks; without it only the
    configured spelling places absolute paths).
    """
    digest = hashlib.sha256(raw).hexdigest()
    try:
        document = parse_json(raw)
        if not isinstance(document, dict):
            return unreadable_policy(f"the root is {kind_of(document)}, not an object", digest)
        vault_path = document.get("vault_path")
        if vault_path is not None and not isinstance(vault_path, str):
            return unreadable_policy(f"vault_path is {kind_of(vault_path)}, not a string", digest)
    except BadJson as error:
        return unreadable_policy(str(error), digest)
    salvage = _Salvage(document)
    salvage.note_repeats(raw.decode("utf-8"))
    schema, unparseable = salvage.schema()
    folders, tiers, default, degraded = salvage.ingest()
    vault = vault_of(vault_path) if vault_of is not None else Vault(vault_path or None)
    return Policy(
        folders,
        default,
        schema,
        unparseable,
        degraded,
        tiers,
        vault_path,
        vault,
        tuple(salvage.problems) + _inert_problems(folders),
        digest,
    )


def unreadable_policy(reason: str, config_hash: str = "") -> Policy:
    """The policy of a config that cannot be read at all: everything holds."""
    return Policy(degraded=Degraded(reason), problems=(Problem("config.json", reason),), config_hash=config_hash)


def watermark_hash(policy: Policy) -> str:
    """The watermark of brain format 2.6; what could not be salvaged takes no part."""
    explicit = policy.default is not None
    payload = {
        "degraded": bool(policy.ties),
        "folder_ontology": _hashed_folders(policy),
        "ontology_default": policy.default.value if policy.default else None,
        "schema": None if explicit else policy.schema,
        "schema_unparseable": False if explicit else policy.schema_unparseable,
    }
    text = json.dumps(payload, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


def normalise_key(key: str) -> str:
    """A folder key as it is compared: slashes forward, none at the ends; `./` stays."""
    return key.replace("\\", "/").strip("/")


def is_matchable(key: str) -> bool:
    """Whether a folder key can ever match a path: no empty, `.` or `..` segment."""
    return all(segment not in {"", ".", ".."} for segment in normalise_key(key).split("/"))


def usable_prefix(key: str) -> str | None:
    """The folder that an unusable key still holds: its `.` and empty segments dropped; None where `..` is in it."""
    segments = [s for s in normalise_key(key).split("/") if s not in {"", "."}]
    return "/".join(segments) if segments and ".." not in segments else None


def normalise_path(path: str) -> str:
    """A relative path as it is matched: slashes forward, every leading `./` gone, nothing else."""
    found = path.replace("\\", "/")
    while found.startswith("./"):
        found = found[2:]
    return found


def below(path: str, root: str) -> str | None:
    """The rest of an absolute path below a root, compared segment by segment; None where it is not below."""
    wanted = [s for s in root.split("/") if s not in {"", "."}]
    at = 0
    for segment in wanted:
        at = _skip_blank(path, at)
        end = _segment_end(path, at)
        if path[at:end] != segment:
            return None
        at = end
    return path[_skip_blank(path, at) :]


def _skip_blank(path: str, at: int) -> int:
    """Past slashes and `.` segments."""
    while path.startswith(("/", "./"), at) or path[at:] == ".":
        at += 1
    return at


def _segment_end(path: str, at: int) -> int:
    end = path.find("/", at)
    return len(path) if end < 0 else end


def _relative(path: str, vault: Vault) -> str | None:
    """The path as it is matched, or None for an absolute one that cannot be placed."""
    if path.startswith("/"):
        placed = vault.relative(path)
        return normalise_path(placed) if placed is not None else None
    return normalise_path(path)


@dataclass(frozen=True)
class _Match:
    """The deepest key above a path: its normalised form, depth, raw spellings and their values."""

    prefix: str
    depth: int
    keys: tuple[str, ...]
    values: tuple[str, ...]

    @property
    def tied(self) -> bool:
        return len(set(self.values)) > 1


class _PrefixMap:
    """Folder keys by normalised form; the deepest that lies above a path wins."""

    def __init__(self, entries: tuple[tuple[str, str], ...]) -> None:
        groups: dict[str, list[tuple[str, str]]] = {}
        for key, value in entries:
            if is_matchable(key):
                groups.setdefault(normalise_key(key), []).append((key, value))
        self._by_prefix = {
            prefix: _Match(prefix, prefix.count("/") + 1, tuple(k for k, _ in found), tuple(v for _, v in found))
            for prefix, found in groups.items()
        }

    def match(self, path: str) -> _Match | None:
        """The winning key for a relative path: the longest of its folders that is in the map."""
        if not self._by_prefix:
            return None
        end = path.rfind("/")
        while end > 0:
            found = self._by_prefix.get(path[:end])
            if found is not None:
                return found
            end = path.rfind("/", 0, end)
        return None


class _Resolver:
    """The lookup table of brain format 2.5 over one policy, each path answered once."""

    def __init__(self, policy: Policy) -> None:
        self._policy = policy
        self._map = _PrefixMap(tuple((k, m.value) for k, m in policy.folders))
        self._holds = _hold_prefixes(policy)
        self._answers: dict[str | None, Lookup] = {}

    def lookup(self, path: str | None) -> Lookup:
        found = self._answers.get(path)
        if found is None:
            found = self._pathless() if path is None else self._placed(path)
            self._answers[path] = found
        return found

    def _pathless(self) -> Lookup:
        degraded = self._policy.degraded
        if degraded.everywhere:
            return _hold(0, f"config.json cannot be read: {degraded.reason}", None)
        if degraded.default_dropped:
            return _hold(7, "the value of ingest.ontology_default is unusable", None, "ontology_default")
        return self._unknown_schema(8, None) or self._rung3(9, None)

    def _placed(self, path: str) -> Lookup:
        degraded = self._policy.degraded
        if degraded.everywhere:
            return _hold(0, f"config.json cannot be read: {degraded.reason}", path)
        relative = _relative(path, self._policy.vault)
        if relative is None:
            return self._unplaceable(path)
        match = self._map.match(relative)
        held = self._held(relative, match)
        if held is not None:
            return _hold(1, f"the key {held!r} of ingest.folder_ontology is unusable and covers this path", path, held)
        if match is not None:
            return _matched(path, match)
        if degraded.default_dropped:
            return _hold(7, "no folder matches and the value of ingest.ontology_default is unusable", path)
        return self._unknown_schema(8, path) or self._rung3(9, path)

    def _held(self, relative: str, match: _Match | None) -> str | None:
        """The unusable key that holds a path: the deepest one, unless a usable deeper key decides."""
        if not self._holds:
            return None
        end = len(relative)
        while end > 0:
            raw = self._holds.get(relative[:end])
            if raw is not None:
                depth = relative.count("/", 0, end) + 1
                return raw if match is None or match.tied or match.depth <= depth else None
            end = relative.rfind("/", 0, end)
        return None

    def _unplaceable(self, path: str) -> Lookup:
        policy = self._policy
        unknown = self._unknown_schema(4, path)
        if unknown is not None:
            return unknown
        if policy.has_off_folder or self._holds or policy.ties or policy.degraded:
            return _hold(5, "the path lies outside the vault, and some folder is off or unreadable", path)
        return self._rung3(6, path)

    def _unknown_schema(self, row: int, path: str | None) -> Lookup | None:
        policy = self._policy
        if policy.default is None and policy.schema is None and policy.schema_unparseable:
            why = "no ingest.ontology_default, and the ontology block cannot be read"
            return _hold(row, why, path, "ontology")
        return None

    def _rung3(self, row: int, path: str | None) -> Lookup:
        policy = self._policy
        if policy.default is not None:
            why = f"no folder decides; ingest.ontology_default is {policy.default}"
            return Lookup(Outcome(policy.default.value), row, why, path, "ontology_default", policy.default.value)
        if policy.schema == "off":
            return Lookup(Outcome.OFF, row, "no folder decides; ontology.schema is off", path, "schema", "off")
        why = "no folder decides and the config sets no default"
        return Lookup(Outcome.CLIMB, row, why, path, "schema" if policy.schema else None, policy.schema)


def _hold(row: int, why: str, path: str | None, key: str | None = None) -> Lookup:
    return Lookup(Outcome.HOLD, row, why, path, key, None, "2" if row in {1, 2, 5} else "3")


def _matched(path: str, match: _Match) -> Lookup:
    key = match.keys[0]
    if match.tied:
        spelled = ", ".join(f"{k!r} is {v}" for k, v in zip(match.keys, match.values, strict=True))
        return _hold(2, f"the keys of folder {match.prefix!r} contradict each other: {spelled}", path, match.prefix)
    value = match.values[0]
    return Lookup(Outcome(value), 3, f"folder {match.prefix!r} is {value}", path, key, value, "2")


def _hold_prefixes(policy: Policy) -> dict[str, str]:
    """Folders that unusable entries hold, by usable form: dropped values and keys that can never match."""
    inert = (k for k, _ in policy.folders if not is_matchable(k))
    found: dict[str, str] = {}
    for raw in (*policy.degraded.dropped_prefixes, *inert):
        usable = usable_prefix(raw)
        if usable is not None:
            found.setdefault(usable, raw)
    return found


def _hashed_folders(policy: Policy) -> dict[str, str]:
    tied = {tie.prefix for tie in policy.ties}
    found: dict[str, str] = {}
    for key, mode in policy.folders:
        if not is_matchable(key):
            found["/raw:" + key] = mode.value
        elif normalise_key(key) not in tied:
            found[normalise_key(key)] = mode.value
    return found


def _inert_problems(folders: tuple[tuple[str, Mode], ...]) -> tuple[Problem, ...]:
    found: list[Problem] = []
    for key, _ in folders:
        if is_matchable(key):
            continue
        usable = usable_prefix(key)
        effect = f"paths under {usable!r} hold until it is mended" if usable else "it does nothing"
        found.append(Problem(f"ingest.folder_ontology[{key!r}]", f"this key can match no path; {effect}"))
    return tuple(found)


class _Salvage:
    """Reads the blocks of a parsed config one by one, noting what it had to drop."""

    def __init__(self, document: dict[str, Any]) -> None:
        self._document = document
        self.problems: list[Problem] = []

    def note(self, where: str, message: str) -> None:
        self.problems.append(Problem(where, message))

    def note_repeats(self, text: str) -> None:
        for key in repeated_keys(text):
            self.note(key, "this key stands there more than once; the last one counts")

    def schema(self) -> tuple[str | None, bool]:
        """The schema, and whether the ontology block is unparseable."""
        if "ontology" not in self._document:
            return None, False
        block = self._document["ontology"]
        if not isinstance(block, dict):
            self.note("ontology", f"{kind_of(block)}, not an object: what it meant is unknown")
            return None, True
        value = block.get("schema")
        if value is None or value in SCHEMAS:
            return value, False
        self.note("ontology.schema", f"{_shown(value)} is none of {', '.join(SCHEMAS)}: what it meant is unknown")
        return None, True

    def ingest(self) -> tuple[tuple[tuple[str, Mode], ...], tuple[tuple[str, str], ...], Mode | None, Degraded]:
        """Folder modes, folder tiers, the default and what of them is degraded."""
        if "ingest" not in self._document:
            return (), (), None, Degraded()
        block = self._document["ingest"]
        if not isinstance(block, dict):
            reason = f"ingest is {kind_of(block)}, not an object"
            self.note("ingest", reason)
            return (), (), None, Degraded(reason)
        tiers = self._tiers(block.get("folder_tiers", {}))
        folders, dropped, reason = self._folders(block.get("folder_ontology", {}))
        default, default_dropped = self._default(block.get("ontology_default"))
        return folders, tiers, default, Degraded(reason, dropped, default_dropped)

    def _tiers(self, block: object) -> tuple[tuple[str, str], ...]:
        if not isinstance(block, dict):
            self.note("ingest.folder_tiers", f"{kind_of(block)}, not an object: every folder is full")
            return ()
        found: list[tuple[str, str]] = []
        for key, value in block.items():
            if value in TIERS:
                found.append((key, value))
            else:
                self.note(f"ingest.folder_tiers[{key!r}]", f"{_shown(value)} is none of {', '.join(TIERS)}: dropped")
        return tuple(found)

    def _folders(self, block: object) -> tuple[tuple[tuple[str, Mode], ...], tuple[str, ...], str]:
        if not isinstance(block, dict):
            reason = f"ingest.folder_ontology is {kind_of(block)}, not an object"
            self.note("ingest.folder_ontology", reason)
            return (), (), reason
        found: list[tuple[str, Mode]] = []
        dropped: list[str] = []
        for key, value in block.items():
            mode = _mode(value)
            if mode is not None:
                found.append((key, mode))
                continue
            dropped.append(normalise_key(key))
            message = f"{_shown(value)} is neither off nor strict: paths under this folder hold"
            self.note(f"ingest.folder_ontology[{key!r}]", message)
        return tuple(found), tuple(dropped), ""

    def _default(self, value: object) -> tuple[Mode | None, bool]:
        mode = _mode(value)
        if mode is None and value is not None:
            message = f"{_shown(value)} is neither off nor strict: whatever no folder decides holds"
            self.note("ingest.ontology_default", message)
            return None, True
        return mode, False


def _mode(value: object) -> Mode | None:
    return Mode(value) if isinstance(value, str) and value in ("off", "strict") else None


def _shown(value: object) -> str:
    """A config value in a message, never longer than a line."""
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 60 else text[:59] + "…"


LookupFn = Callable[[str | None], Lookup]
"""What the ladder needs of a policy: one path, or None for a mint without sources, to one answer."""
