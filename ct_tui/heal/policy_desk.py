"""The policy as a curator works on it: what each part decides and whom it covers, and what a change would do.

A change is one of those that `ontology set` knows, or the taking back of one. It is previewed over the same brain with
the change in place, so that what is said before is what happens after.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from ct_tui.brain import readers
from ct_tui.brain.sources import ledger_paths, sources_of
from ct_tui.domain.census import Disposition
from ct_tui.domain.ladder import Ladder
from ct_tui.domain.manifest import TIER_FACT, Manifests, read_manifest_row
from ct_tui.domain.policy import Mode, is_matchable, normalise_key, normalise_path, read_policy
from ct_tui.heal.coverage import ANYBODY, Coverage, counted_key, cover
from ct_tui.heal.ontology_set import (
    SetRequest,
    clear_ontology,
    config_clearing,
    config_edit,
    fallback_rewrite,
    resolve_entity,
    set_ontology,
    strict_copy,
)
from ct_tui.heal.ontology_show import OntologyView, show_ontology
from ct_tui.heal.situation import read_drift
from ct_tui.heal.survey import survey
from ct_tui.policy.load import locate_vault
from ct_tui.policy.write import check_folder, reread

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from ct_tui.brain.connection import Brain, Db
    from ct_tui.brain.readers import BrainState
    from ct_tui.domain.census import Drift
    from ct_tui.domain.ladder import Decision
    from ct_tui.heal.ontology_set import SetResult
    from ct_tui.heal.situation import Situation
    from ct_tui.heal.survey import Survey


MOST_FOLDERS = 500
"""How many folders of the vault are offered."""


@dataclass(frozen=True)
class PolicyChange:
    """One change: a request as `ontology set` takes it, or (`back`) the taking back of what it names.

    Taken back are an entity's opt-out, a folder's mode, or, where neither is named, the host default.
    """

    request: SetRequest
    back: bool = False

    @property
    def in_config(self) -> bool:
        """Whether it is written into config.json."""
        return self.request.entity is None and (self.back or self.request.mode is not None)

    @property
    def words(self) -> str:
        """The change in a few words."""
        r = self.request
        what = f"folder {r.dir}" if r.dir is not None else r.entity if r.entity is not None else "host default"
        if self.back:
            return f"{what}: take it back"
        if r.mode is None:
            return f"{r.entity or TIER_FACT}: fallback {r.fallback}"
        return f"{what}: {r.mode}"


@dataclass(frozen=True)
class Reach:
    """What a policy makes of the brain: live entities by verdict, and what heal would do then."""

    coverage: Coverage
    retypes: int
    queued: int
    shielded: int


@dataclass(frozen=True)
class Preview:
    """What a change would do: sentences, the entities that it speaks of, and the brain before and after.

    `covers` is None where the change speaks of no entity in particular; `drift` is the policy drift that it leaves.
    """

    says: tuple[str, ...]
    covers: int | None
    before: Reach
    after: Reach
    drift: Drift | None = None


@dataclass(frozen=True)
class PolicySheet:
    """The whole policy with the ladder's decision for each part, as the gate would decide now."""

    view: OntologyView
    coverage: Coverage
    host: Decision
    folders: dict[str, Decision]
    rows: dict[str, Decision]
    """Decisions for the entities that have a manifest row or an opt-out, by that row's id."""
    names: dict[str, str]
    """Names of the entities that have a manifest row of their own."""
    drift: Drift | None = None
    mended: tuple[str, ...] = ()
    """Strict manifest rows that cannot gate now and will once heal has run."""


class _Changed(NamedTuple):
    """The situation with a change in place, sentences about it, and how many entities it speaks of."""

    situation: Situation
    says: list[str]
    covers: Callable[[Reach], int | None]


class PolicyDesk:
    """The policy of one situation; `found` gives the survey of the brain as it is."""

    def __init__(self, brain: Brain, config: Path, situation: Situation, found: Callable[[], Survey]) -> None:
        self._brain = brain
        self._config = config
        self._situation = situation
        self._found = found

    @cached_property
    def coverage(self) -> Coverage:
        """What the policy makes of the live entities now."""
        s = self._situation
        with self._brain.snapshot() as db:
            return cover(db, s.schema, s.policy, s.state)

    @cached_property
    def sheet(self) -> PolicySheet:
        """Everything that the policy says, with what it decides."""
        s = self._situation
        ladder = Ladder(s.policy.lookup, s.state.manifests, s.redirects, s.state.opt_outs)
        coverage = self.coverage
        with self._brain.snapshot() as db:
            view = show_ontology(db, s.schema, s.policy, coverage)
            ids = [m.row.entity_id for m in view.manifests] + [o.entity for o in view.opt_outs]
            ledger = ledger_paths(s.state.origins, s.redirects)
            sources = sources_of(db, s.schema, set(ids), s.redirects, ledger)
            names = {i: name for i, (name, _) in readers.names_of(db, ids).items()}
        folders = {f.key: ladder.decide(ANYBODY, (f"{_example(f.key)}/…",)) for f in view.folders}
        rows = {i: ladder.decide(i, sources.of(i).ladder_paths) for i in ids if i != TIER_FACT}
        rows[TIER_FACT] = ladder.decide(ANYBODY)
        stuck = {m.row.entity_id for m in view.manifests if m.hold is not None}
        mended = tuple(sorted(stuck - set(s.unusable)))
        return PolicySheet(view, coverage, ladder.decide(ANYBODY), folders, rows, names, s.drift, mended)

    def members(self, key: str) -> tuple[str, ...]:
        """The first entities with a source that a folder key decides."""
        return tuple(self.coverage.members.get(counted_key(key), ()))

    def vault_folders(self) -> tuple[tuple[str, int], ...]:
        """Folders of the vault that documents lie in, each with the number of documents below it, most first."""
        vault = self._situation.policy.vault
        found: Counter[str] = Counter()
        with self._brain.reading() as db:
            for path in readers.document_paths(db, self._situation.schema):
                placed = vault.relative(path) if path.startswith("/") else normalise_path(path)
                parts = (placed or "").split("/")[:-1]
                found.update("/".join(parts[:depth]) for depth in range(1, len(parts) + 1))
        return tuple(sorted(found.items(), key=lambda row: (-row[1], row[0]))[:MOST_FOLDERS])

    # What a change would do

    def preview(self, change: PolicyChange) -> Preview:
        """What a change would do; raises a CtTuiError where it would be refused."""
        s = self._situation
        refusal = s.policy.refusal() if change.in_config or not change.back else None
        if refusal is not None:
            raise refusal
        with self._brain.snapshot() as db:
            changed = self._changed(db, change)
            after = changed.situation
            coverage = cover(db, after.schema, after.policy, after.state)
            reach = _reach(coverage, survey(db, after))
            drift = read_drift(db, s.schema, after.policy.watermark)
        return Preview(tuple(changed.says), changed.covers(reach), self._before, reach, drift)

    @cached_property
    def _before(self) -> Reach:
        found = self._found()
        return _reach(self.coverage, found)

    def _changed(self, db: Db, change: PolicyChange) -> _Changed:
        request, schema = change.request, self._situation.schema
        if change.in_config:
            return self._config_changed(change)
        if request.mode is not None or change.back:
            return self._entity_changed(db, change, resolve_entity(db, schema, request.entity or ""))
        row = request.entity or TIER_FACT
        if row not in self._situation.state.manifests.rows:
            row = resolve_entity(db, schema, row)
        return self._fallback_changed(db, row, request.fallback or "")

    def _config_changed(self, change: PolicyChange) -> _Changed:
        s, request = self._situation, change.request
        if request.dir is not None and not change.back:
            check_folder(request.dir)
        mode = None if change.back or request.mode is None else Mode(request.mode)
        edit = config_clearing(request.dir) if mode is None else config_edit(request, mode)
        text = edit(reread(self._config.resolve(), s.policy) or "{}")
        after = replace(s, policy=read_policy(text.encode("utf-8"), locate_vault))
        if request.dir is None:
            says = [_becomes("ingest.ontology_default", s.policy.default, mode)]
            return _Changed(after, says, lambda reach: reach.coverage.uncovered + reach.coverage.pathless)
        key = normalise_key(request.dir)
        same = [(k, m) for k, m in s.policy.folders if is_matchable(k) and normalise_key(k) == key]
        was = same[0][1] if same else None
        says = [_becomes(f"the folder {key}", was, mode)]
        others = [k for k, _ in same if k != key]
        if others:
            says.append(f"its other spellings go: {', '.join(others)}")
        old = self.coverage.by_key[key]
        return _Changed(after, says, lambda reach: max(old, reach.coverage.by_key[key]))

    def _fallback_changed(self, db: Db, row: str, fallback: str) -> _Changed:
        s = self._situation
        old, new = fallback_rewrite(db, s.schema, row, fallback)
        known = s.state.manifests.rows[row].vocabulary
        was = known.fallback if known is not None else None
        until = f"on {was}" if was else "nowhere: the gate holds them"
        says = [f"labels that nobody declared land on {fallback} by {row}; until now {until}"]
        if old == new:
            says.append("that is so already")
        return _Changed(_with_row(s, row, s.state.manifests.rows[row].mode, new), says, lambda _: None)

    def _entity_changed(self, db: Db, change: PolicyChange, target: str) -> _Changed:
        s, request = self._situation, change.request
        cluster = s.redirects.cluster(target)
        outs = {i: why for i, why in s.state.opt_outs.items() if i not in cluster}
        lifted = len(outs) != len(s.state.opt_outs)
        name = readers.names_of(db, [target]).get(target, ("", ""))[0] or target
        if not change.back and request.mode == Mode.OFF.value:
            says = [f"{name} is opted out: no gate runs for it, and heal never retypes it"]
            state = replace(s.state, opt_outs={**s.state.opt_outs, target: "opted out"})
            return _Changed(replace(s, state=state), says, lambda _: len(cluster))
        says = [f"{name} is no longer opted out"] if lifted else [f"{name} has no opt-out to lift"]
        after = replace(s, state=replace(s.state, opt_outs=outs))
        if change.back:
            return _Changed(after, says, lambda _: len(cluster))
        says = says if lifted else []
        text = strict_copy(db, s.schema, target, request.fallback)
        says.append(f"{name} gets a strict manifest row of its own, a copy of {TIER_FACT}")
        if target in s.state.manifests.rows:
            says.append("the row that it has now is replaced")
        return _Changed(_with_row(after, target, "strict", text), says, lambda _: len(cluster))


def make_change(brain: Brain, config: Path, change: PolicyChange) -> SetResult:
    """Check and write one change; raises a CtTuiError and leaves all as it was where a check fails."""
    request = change.request
    if not change.back:
        return set_ontology(brain, config, request)
    if request.entity is not None:
        return clear_ontology(brain, config, entity=request.entity)
    return clear_ontology(brain, config, folder=request.dir, host=request.dir is None)


def _reach(coverage: Coverage, found: Survey) -> Reach:
    counts = found.counts
    moved = counts[Disposition.RETYPE] + counts[Disposition.RECASE]
    spared = counts[Disposition.SHIELDED] + counts[Disposition.REPORT_ONLY]
    return Reach(coverage, moved, counts[Disposition.QUEUE], spared)


def _with_row(situation: Situation, row: str, mode: str, text: str) -> Situation:
    rows = {**situation.state.manifests.rows, row: read_manifest_row(row, mode, text)}
    state: BrainState = replace(situation.state, manifests=Manifests(rows))
    return replace(situation, state=state)


def _becomes(what: str, was: Mode | None, mode: Mode | None) -> str:
    old, new = (m.value if m is not None else "not set" for m in (was, mode))
    if old == new:
        return f"{what} is {new} already"
    return f"{what} becomes {new} (it is {old})"


def _example(key: str) -> str:
    return normalise_key(key) if is_matchable(key) else key
