"""The skip ladder: whether a mint or an entity is gated, skipped or held, and by which vocabulary.

Source of the rules: brain format 3.2, rungs 1a to 4. The ladder is total: every combination of opt-outs,
redirects, manifest rows and config gives exactly one verdict, and it carries the steps that led there. Rungs 2
and 3 give only a mode; the vocabulary then comes from tier_fact.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from typing import TYPE_CHECKING

from ct_tui.domain.holds import (
    ConfigHold,
    EntityManifestUnreadable,
    Hold,
    OptOutLookupFailed,
    RedirectUnresolved,
    TierFactUnreadable,
    hold_text,
    vocabulary_hold,
)
from ct_tui.domain.manifest import TIER_FACT, ManifestRow, Manifests, Vocabulary
from ct_tui.domain.policy import Lookup, LookupFn, Mode, Outcome
from ct_tui.domain.redirects import CYCLE, Redirects

if TYPE_CHECKING:
    from collections.abc import Collection


class Verdict(StrEnum):
    """What the ladder decides."""

    OPT_OUT = "opt-out"
    GATE = "gate"
    OFF = "off"
    HELD = "held"


@dataclass(frozen=True)
class Unreadable:
    """Stands in for opt-outs, redirects or manifests that the database would not give; `reason` says why."""

    reason: str


@dataclass(frozen=True)
class Step:
    """One step of the ladder: the rung, what was looked at there, what stood there, and a sentence."""

    rung: str
    why: str
    row: str | None = None
    path: str | None = None
    key: str | None = None
    value: str | None = None

    def as_json(self) -> dict[str, str | None]:
        """The step as `gate --json` shows it."""
        return {
            "rung": self.rung,
            "row": self.row,
            "path": self.path,
            "key": self.key,
            "value": self.value,
            "why": self.why,
        }


@dataclass(frozen=True)
class Decision:
    """The ladder's verdict for one entity.

    `vocabulary` and `manifest` (the row it came from) stand with GATE only, `hold` with HELD only;
    `source_directory` is the path that decided, as the origin ledger keeps it; `warning` is worth printing.
    """

    verdict: Verdict
    rung: str
    trace: tuple[Step, ...] = ()
    vocabulary: Vocabulary | None = None
    manifest: str | None = None
    hold: Hold | None = None
    source_directory: str | None = None
    warning: str = ""

    @property
    def gated(self) -> bool:
        """Whether the vocabulary decides."""
        return self.verdict is Verdict.GATE

    @property
    def skipped(self) -> bool:
        """Whether no gate runs: opted out or off."""
        return self.verdict in {Verdict.OPT_OUT, Verdict.OFF}

    @property
    def why(self) -> str:
        """The sentence of the deciding step."""
        if self.hold is not None:
            return hold_text(self.hold)
        return self.trace[-1].why if self.trace else ""


@dataclass(frozen=True)
class Request:
    """Everything the ladder looks at for one entity; `paths` are its source paths in order, none for pathless."""

    entity_id: str
    lookup: LookupFn
    manifests: Manifests | Unreadable = field(default_factory=Manifests)
    redirects: Redirects | Unreadable = field(default_factory=Redirects)
    optouts: Collection[str] | Unreadable = frozenset()
    paths: tuple[str, ...] = ()


def decide(request: Request) -> Decision:
    """Walk the ladder once; many entities of one brain go through a `Ladder`, which shares the work."""
    ladder = Ladder(request.lookup, request.manifests, request.redirects, request.optouts)
    return ladder.decide(request.entity_id, request.paths)


class Ladder:
    """The ladder over one state of a brain; rungs 2 to 4 are walked once for each set of paths."""

    def __init__(
        self,
        lookup: LookupFn,
        manifests: Manifests | Unreadable,
        redirects: Redirects | Unreadable | None = None,
        optouts: Collection[str] | Unreadable = frozenset(),
    ) -> None:
        self._lookup = lookup
        self._manifests = manifests
        self._redirects = Redirects() if redirects is None else redirects
        self._optouts = optouts
        self._climbs: dict[tuple[tuple[str, ...], str | None], Decision] = {}

    def decide(self, entity_id: str, paths: tuple[str, ...] = ()) -> Decision:
        """The verdict for one entity or a fresh id, with its source paths in order."""
        if isinstance(self._optouts, Unreadable):
            return _held("1a", OptOutLookupFailed(entity_id, self._optouts.reason), ())
        if isinstance(self._redirects, Unreadable):
            # The opt-outs of a whole merge cluster count, so without redirects rung 1a has no answer either.
            return _held("1a", OptOutLookupFailed(entity_id, self._redirects.reason), ())
        by = self._redirects.opted_out_by(entity_id, self._optouts)
        if by is not None:
            return _opted_out(entity_id, by)
        owner = self._redirects.resolve(entity_id)
        if owner is CYCLE:
            return _held("1b", RedirectUnresolved(entity_id, "they run in a circle"), ())
        return self._own_row(owner, paths)

    @cached_property
    def special(self) -> frozenset[str]:
        """Ids whose verdict may differ from that of a fresh id with the same paths: rung 1 looks at something."""
        if isinstance(self._optouts, Unreadable) or isinstance(self._redirects, Unreadable):
            return frozenset()
        named = set(self._optouts)
        if not isinstance(self._manifests, Unreadable):
            named.update(self._manifests.own_rows())
        found = {i for one in named for i in self._redirects.cluster(one)}
        found.update(self._redirects.losers)
        return frozenset(found | named)

    def _own_row(self, owner: str, paths: tuple[str, ...]) -> Decision:
        """Rungs 1b to 1d: the survivor's own manifest row."""
        row = self._row(owner)
        if isinstance(row, Unreadable):
            # The app climbs past a row that it cannot read, and holds later unless something strict decides.
            step = Step("1c", f"its own manifest row cannot be read ({row.reason}): climb", owner)
            return _prefixed(step, self._climb(paths, owner))
        if row is not None and row.strict:
            return _strict_row("1b", row, (), None)
        if row is not None:
            step = Step("1d", f"its own manifest row is {row.mode!r}, not strict: climb", owner, value=row.mode)
            return _prefixed(step, self._climb(paths, None))
        return self._climb(paths, None)

    def _row(self, row_id: str) -> ManifestRow | Unreadable | None:
        if isinstance(self._manifests, Unreadable):
            return self._manifests
        row = self._manifests.get(row_id)
        if row is not None and not row.readable:
            return Unreadable(row.error or "unreadable")
        return row

    def _climb(self, paths: tuple[str, ...], unreadable: str | None) -> Decision:
        """Rungs 2 to 4; `unreadable` is the id of an own row that could not be read."""
        key = (paths, unreadable)
        found = self._climbs.get(key)
        if found is None:
            found = _Climb(self._lookup, self._row(TIER_FACT), paths, unreadable).decide()
            self._climbs[key] = found
        return found


class _Climb:
    """Rungs 2 to 4 for one set of paths."""

    def __init__(
        self,
        lookup: LookupFn,
        tier_fact: ManifestRow | Unreadable | None,
        paths: tuple[str, ...],
        unreadable: str | None,
    ) -> None:
        self._tier_fact = tier_fact
        self._unreadable = unreadable
        self._answers = _until_strict(lookup, paths)
        self._trace = tuple(_lookup_step(answer) for answer in self._answers)

    def decide(self) -> Decision:
        strict = self._first(Outcome.STRICT)
        if strict is not None:
            return self._by_strict(strict)
        climbs = self._first(Outcome.CLIMB) is not None
        held = self._first(Outcome.HOLD)
        if held is not None and not climbs:
            return self._by_hold(held)
        off = self._first(Outcome.OFF)
        if off is not None and not climbs:
            return self._own_row_hold() or self._off(off.rung, off.why, off.path)
        return self._by_tier_fact(off.path if off is not None else None)

    def _first(self, outcome: Outcome) -> Lookup | None:
        return next((a for a in self._answers if a.outcome is outcome), None)

    def _by_strict(self, strict: Lookup) -> Decision:
        row = self._tier_fact
        if isinstance(row, Unreadable):
            return self._held("4", TierFactUnreadable(row.reason), strict.path)
        if row is None or not row.strict:
            why = f"{strict.why}, and tier_fact is {_mode_of(row)}: no vocabulary to gate with, so no gate runs"
            return self._off(strict.rung, why, None, warning=why)
        return _strict_row(strict.rung, row, self._trace, strict.path)

    def _by_hold(self, held: Lookup) -> Decision:
        own = self._own_row_hold()
        if own is not None:
            return own
        row = self._tier_fact
        if not isinstance(row, Unreadable) and (row is None or not row.strict):
            why = f"{held.why}, but tier_fact is {_mode_of(row)}: there is nothing to protect"
            return self._off(held.rung, why, None)
        return self._held(held.rung, ConfigHold(held.path, held.why), held.path)

    def _by_tier_fact(self, off_path: str | None) -> Decision:
        row = self._tier_fact
        if isinstance(row, Unreadable):
            return self._held("4", TierFactUnreadable(row.reason), None)
        if row is not None and row.strict:
            return _strict_row("4", row, self._trace, None)
        own = self._own_row_hold()
        return own or self._off("4", f"tier_fact is {_mode_of(row)}: no gate runs", off_path)

    def _own_row_hold(self) -> Decision | None:
        if self._unreadable is None:
            return None
        return self._held("1c", EntityManifestUnreadable(self._unreadable), None)

    def _off(self, rung: str, why: str, path: str | None, *, warning: str = "") -> Decision:
        row = TIER_FACT if rung == "4" else None
        trace = (*self._trace, Step(rung, why, row, path))
        return Decision(Verdict.OFF, rung, trace, source_directory=path, warning=warning)

    def _held(self, rung: str, hold: Hold, path: str | None) -> Decision:
        return _held(rung, hold, self._trace, path)


def _until_strict(lookup: LookupFn, paths: tuple[str, ...]) -> tuple[Lookup, ...]:
    """The answers in order, up to the first strict one; one pathless answer where there are no paths."""
    if not paths:
        return (lookup(None),)
    found: list[Lookup] = []
    for path in paths:
        answer = lookup(path)
        found.append(answer)
        if answer.mode is Mode.STRICT:
            break
    return tuple(found)


def _lookup_step(answer: Lookup) -> Step:
    return Step(answer.rung, answer.why, None, answer.path, answer.key, answer.value or answer.outcome.value)


def _strict_row(rung: str, row: ManifestRow, trace: tuple[Step, ...], path: str | None) -> Decision:
    """GATE with a strict row's vocabulary, or held by what that vocabulary lacks."""
    vocabulary = row.vocabulary or Vocabulary()
    hold = vocabulary_hold(vocabulary, row.entity_id)
    if hold is not None:
        return _held(rung, hold, trace, path)
    why = f"the manifest {row.entity_id!r} is strict and declares {len(vocabulary.names)} types: gated"
    step = Step(rung if path is None else "4", why, row.entity_id, value=row.mode)
    return Decision(Verdict.GATE, rung, (*trace, step), vocabulary, row.entity_id, source_directory=path)


def _held(rung: str, hold: Hold, trace: tuple[Step, ...], path: str | None = None) -> Decision:
    step = Step(rung, hold_text(hold), _row_of(hold), path)
    return Decision(Verdict.HELD, rung, (*trace, step), hold=hold, source_directory=path)


def _row_of(hold: Hold) -> str | None:
    if isinstance(hold, TierFactUnreadable):
        return TIER_FACT
    return getattr(hold, "manifest", None) or getattr(hold, "entity_id", None)


def _opted_out(entity_id: str, by: str) -> Decision:
    whose = "it is" if by == entity_id else f"{by!r}, merged with it, is"
    return Decision(Verdict.OPT_OUT, "1a", (Step("1a", f"{whose} opted out: no gate runs", by),))


def _prefixed(step: Step, decision: Decision) -> Decision:
    return Decision(
        decision.verdict,
        decision.rung,
        (step, *decision.trace),
        decision.vocabulary,
        decision.manifest,
        decision.hold,
        decision.source_directory,
        decision.warning,
    )


def _mode_of(row: ManifestRow | None) -> str:
    return "absent" if row is None else f"{row.mode!r}"
