"""The ensure does its work once, and touches no byte that it does not add."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from ct_tui.domain.ensure import Ensured, plan_manifest_ensure
from ct_tui.domain.manifest import SEED_TYPES, EdgeType, read_manifest_row
from ct_tui.domain.names import label_key
from ct_tui.domain.rulings import Legalize
from tests.policy.brains import acting

NAMES = st.sampled_from(["person", "Concept", "project", " document ", "process", "ghost", "", "café", "Ⅷ"])
NODES = st.one_of(NAMES, NAMES.map(lambda n: {"type": n}), st.just({"x": 1}), st.just(3))
FALLBACKS = st.sampled_from([None, "concept", "PROJECT", "ghost", " ", 7])
EXTRA = st.recursive(
    st.none() | st.booleans() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=5),
    lambda c: st.lists(c, max_size=3),
    max_leaves=4,
)
RULINGS = acting(
    Legalize("document", "What somebody wrote.", manifests=("seed-family", "row")),
    Legalize("process", "A way of working.", manifests=("seed-family",)),
    Legalize("spec", "A document.", "document", ("row",), (EdgeType("about", "spec", "person"),)),
)


@st.composite
def documents(draw: st.DrawFn) -> dict[str, Any]:
    seeds: list[Any] = list(SEED_TYPES) if draw(st.booleans()) else []
    found: dict[str, Any] = {"before": draw(EXTRA), "node_types": seeds + draw(st.lists(NODES, max_size=4))}
    if draw(st.booleans()):
        found["edge_types"] = []
    fallback = draw(FALLBACKS)
    if fallback is not None:
        found["fallback_node_type"] = fallback
    found["after"] = draw(EXTRA)
    return found


TEXTS = st.builds(
    lambda d, indent, ascii_only: json.dumps(d, indent=indent, ensure_ascii=ascii_only),
    documents(),
    st.sampled_from([None, 0, 1, 4, "\t"]),
    st.booleans(),
)
MODES = st.sampled_from(["strict", "off", "emergent"])


@settings(max_examples=300, deadline=None)
@given(TEXTS, MODES)
def test_the_second_pass_finds_nothing_to_do(text: str, mode: str) -> None:
    first = plan_manifest_ensure(read_manifest_row("row", mode, text), RULINGS)
    memos = {first.memo} if first.memo else set()
    second = plan_manifest_ensure(read_manifest_row("row", mode, first.new_raw), RULINGS, memos)
    assert not second.writes
    if first.memo is not None:
        assert second.outcome is Ensured.ALREADY_ENSURED
    elif first.outcome is Ensured.ENSURED:
        assert second.outcome is Ensured.FOREIGN_NO_FALLBACK
    else:
        assert second.outcome is first.outcome


@settings(max_examples=300, deadline=None)
@given(TEXTS, MODES)
def test_only_additions_change_the_text(text: str, mode: str) -> None:
    plan = plan_manifest_ensure(read_manifest_row("row", mode, text), RULINGS)
    assert (plan.new_raw == text) == (plan.outcome is not Ensured.ENSURED)
    assert plan.old_raw == text
    old, new = json.loads(text), json.loads(plan.new_raw)
    assert new["node_types"][: len(old["node_types"])] == old["node_types"]
    assert (new["before"], new["after"]) == (old["before"], old["after"])
    added = [node["type"] for node in new["node_types"][len(old["node_types"]) :]]
    assert added == [node.name for _, node in plan.types]
    assert not is_subsequence_broken(text, plan.new_raw, fallback_replaced="fallback_node_type" in old)


def is_subsequence_broken(old: str, new: str, *, fallback_replaced: bool) -> bool:
    """Whether some character of the old text is gone; a replaced fallback value may go."""
    if fallback_replaced:
        return False
    rest = iter(new)
    return not all(char in rest for char in old)


@settings(max_examples=300, deadline=None)
@given(TEXTS)
def test_a_planned_strict_row_can_gate_or_is_reported(text: str) -> None:
    plan = plan_manifest_ensure(read_manifest_row("row", "strict", text), RULINGS)
    usable = read_manifest_row("row", "strict", plan.new_raw).vocabulary
    assert usable is not None
    assert usable.usable == (plan.outcome in {Ensured.ENSURED, Ensured.ALREADY_COMPLETE})
    keys = [label_key(n.name) for _, n in plan.types]
    assert len(set(keys)) == len(keys)
