"""The skip ladder is total: every combination of its inputs gives one verdict, the one that the table names."""

from __future__ import annotations

import itertools
import json
from typing import Any

import pytest

from ct_tui.domain.holds import (
    ConfigHold,
    EmptyNodeTypes,
    EntityManifestUnreadable,
    NoFallback,
    OptOutLookupFailed,
    RedirectUnresolved,
    TierFactUnreadable,
)
from ct_tui.domain.ladder import Decision, Ladder, Request, Unreadable, Verdict, decide
from ct_tui.domain.manifest import TIER_FACT, ManifestRow, Manifests, read_manifest_row
from ct_tui.domain.policy import Lookup, Outcome
from ct_tui.domain.redirects import Redirects

GOOD = {"node_types": [{"type": "person"}], "fallback_node_type": "person"}
BARE = {"node_types": [{"type": "person"}]}

ROWS = {
    "absent": None,
    "off": ("off", json.dumps(GOOD)),
    "emergent": ("emergent", json.dumps(GOOD)),
    "usable": ("strict", json.dumps(GOOD)),
    "no fallback": ("strict", json.dumps(BARE)),
    "empty": ("strict", "{}"),
    "unreadable": ("strict", "{"),
    "unreadable off": ("off", "{"),
}
OPT_OUTS: dict[str, Any] = {
    "none": frozenset(),
    "own": frozenset({"e"}),
    "merged": frozenset({"loser"}),
    "fault": Unreadable("disk"),
}
REDIRECTS: dict[str, Any] = {
    "none": {},
    "survivor": {"loser": "e"},
    "merged away": {"e": "s", "loser": "s"},
    "cycle": {"e": "x", "x": "e", "loser": "x"},
    "fault": Unreadable("disk"),
}
WALKS = [(), *itertools.product(Outcome, repeat=1), *itertools.product(Outcome, repeat=2)]


def manifests(own: str, tier: str, owner: str) -> Manifests:
    rows: dict[str, ManifestRow] = {}
    for row_id, kind in ((owner, own), (TIER_FACT, tier)):
        spec = ROWS[kind]
        if spec is not None:
            rows[row_id] = read_manifest_row(row_id, *spec)
    return Manifests(rows)


def ladder(own: str, tier: str, optouts: str, redirects: str, pathless: Outcome) -> Ladder:
    def lookup(path: str | None) -> Lookup:
        outcome = pathless if path is None else Outcome(path.split("/")[0])
        return Lookup(outcome, 0, f"it is {outcome}", path, rung="2" if path else "3")

    found = REDIRECTS[redirects]
    owner = "s" if redirects == "merged away" else "e"
    made = found if isinstance(found, Unreadable) else Redirects(found)
    return Ladder(lookup, manifests(own, tier, owner), made, OPT_OUTS[optouts])


def expected(own: str, tier: str, optouts: str, redirects: str, walk: list[Outcome]) -> Any:
    """The table of the ladder, read from top to bottom: a verdict, or the class of the hold."""
    if optouts == "fault" or redirects == "fault":
        return OptOutLookupFailed
    if optouts == "own" or (optouts == "merged" and redirects != "none"):
        return Verdict.OPT_OUT
    if redirects == "cycle":
        return RedirectUnresolved
    gated = {"usable": Verdict.GATE, "no fallback": NoFallback, "empty": EmptyNodeTypes}
    if own in gated:
        return gated[own]
    own_unreadable = own.startswith("unreadable")
    tier_state: Any = gated.get(tier, TierFactUnreadable if tier.startswith("unreadable") else Verdict.OFF)
    seen = list(itertools.takewhile(lambda o: o is not Outcome.STRICT, walk))
    if len(seen) < len(walk):
        return tier_state
    if Outcome.CLIMB not in seen:
        if own_unreadable:
            return EntityManifestUnreadable
        if Outcome.HOLD in seen:
            return Verdict.OFF if tier_state is Verdict.OFF else ConfigHold
        return Verdict.OFF
    return EntityManifestUnreadable if tier_state is Verdict.OFF and own_unreadable else tier_state


def actual(decision: Decision) -> Any:
    return type(decision.hold) if decision.verdict is Verdict.HELD else decision.verdict


@pytest.mark.parametrize("tier", ROWS)
@pytest.mark.parametrize("own", ROWS)
def test_every_combination_gives_the_verdict_of_the_table(own: str, tier: str) -> None:
    for optouts, redirects, pathless in itertools.product(OPT_OUTS, REDIRECTS, Outcome):
        found = ladder(own, tier, optouts, redirects, pathless)
        for walk in WALKS:
            paths = tuple(f"{outcome}/{n}.md" for n, outcome in enumerate(walk))
            decision = found.decide("e", paths)
            at = (own, tier, optouts, redirects, pathless, walk)
            assert actual(decision) == expected(own, tier, optouts, redirects, list(walk) or [pathless]), at
            assert (decision.vocabulary is not None) == (decision.verdict is Verdict.GATE), at
            assert (decision.manifest is not None) == (decision.verdict is Verdict.GATE), at
            assert (decision.hold is not None) == (decision.verdict is Verdict.HELD), at
            assert decision.trace
            assert decision.why, at


def directory(walk: str, own: str = "absent", tier: str = "usable") -> str | None:
    paths = tuple(f"{outcome}/{n}.md" for n, outcome in enumerate(walk.split()))
    return ladder(own, tier, "none", "none", Outcome.CLIMB).decide("e", paths).source_directory


def test_the_path_that_decided_is_carried() -> None:
    assert directory("off off") == "off/0.md"
    assert directory("climb strict off") == "strict/1.md"
    assert directory("off climb") is None
    assert directory("off climb", tier="absent") == "off/0.md"
    assert directory("strict", tier="absent") is None
    assert directory("hold off", tier="absent") is None
    assert directory("off hold") == "hold/1.md"
    assert directory("off", own="unreadable") is None


def test_the_walk_stops_at_the_first_strict_path() -> None:
    asked: list[str | None] = []

    def lookup(path: str | None) -> Lookup:
        asked.append(path)
        return Lookup(Outcome.STRICT if path == "b" else Outcome.OFF, 3, "x", path)

    Ladder(lookup, Manifests()).decide("e", ("a", "b", "c"))
    assert asked == ["a", "b"]


def test_an_unreadable_table_of_manifests_is_every_row_unreadable() -> None:
    def lookup(path: str | None) -> Lookup:
        return Lookup(Outcome.CLIMB, 9, "x", path)

    found = decide(Request("e", lookup, Unreadable("disk")))
    assert isinstance(found.hold, TierFactUnreadable)


def test_special_ids_are_all_whose_verdict_may_differ() -> None:
    rows = {i: read_manifest_row(i, "strict", json.dumps(GOOD)) for i in ("own", TIER_FACT)}
    redirects = Redirects({"l1": "out", "l2": "own", "plain": "end"})

    def lookup(path: str | None) -> Lookup:
        return Lookup(Outcome.CLIMB, 9, "x", path)

    found = Ladder(lookup, Manifests(rows), redirects, frozenset({"out"}))
    assert found.special == {"own", "out", "l1", "l2", "plain"}
    fresh = found.decide("fresh")
    assert all(found.decide(i) == fresh for i in ("a", "b", "end"))


def test_decisions_with_the_same_paths_are_shared() -> None:
    def lookup(path: str | None) -> Lookup:
        return Lookup(Outcome.CLIMB, 9, "x", path)

    found = Ladder(lookup, Manifests({TIER_FACT: read_manifest_row(TIER_FACT, "strict", json.dumps(GOOD))}))
    assert found.decide("a", ("p",)) is found.decide("b", ("p",))
