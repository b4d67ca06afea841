"""The plan as a value: its digest is its name, and it knows whether it is empty."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ct_tui.domain.plan import (
    Binding,
    ChangeKind,
    EdgeChange,
    EdgeChangeKind,
    ManifestChange,
    Plan,
    RedirectChange,
    TypeChange,
)

BINDING = Binding("/brain.db", 21, {"tier_fact": "f" * 64}, "p" * 64, 5, "h" * 64)
CHANGE = TypeChange("e1", "Name", "agent", "role", ChangeKind.ALIAS, 1, "why")
MANIFEST = ManifestChange("tier_fact", "{}", '{"a":1}')
EDGE = EdgeChange("x", EdgeChangeKind.DROP, None, None, 1, "why")
MERGE = RedirectChange("e1", "Name", None, "e2", 1, "why")
PLAN = Plan(BINDING, (CHANGE,), (MANIFEST,), (EDGE,), merges=(MERGE,))

OTHERS = {
    "brain": replace(PLAN, binding=replace(BINDING, brain="/other.db")),
    "version": replace(PLAN, binding=replace(BINDING, schema_version=22)),
    "manifests": replace(PLAN, binding=replace(BINDING, manifests={})),
    "policy": replace(PLAN, binding=replace(BINDING, policy="q")),
    "head": replace(PLAN, binding=replace(BINDING, head_hash="q")),
    "entity": replace(PLAN, changes=(replace(CHANGE, entity="e2"),)),
    "from": replace(PLAN, changes=(replace(CHANGE, from_type="Agent"),)),
    "to": replace(PLAN, changes=(replace(CHANGE, to_type="person"),)),
    "kind": replace(PLAN, changes=(replace(CHANGE, kind=ChangeKind.RETYPE),)),
    "ruling": replace(PLAN, changes=(replace(CHANGE, ruling=None),)),
    "fewer": replace(PLAN, changes=()),
    "twice": replace(PLAN, changes=(CHANGE, CHANGE)),
    "manifest": replace(PLAN, manifests=(replace(MANIFEST, after="{}"),)),
    "edge": replace(PLAN, edge_changes=()),
    "merge": replace(PLAN, merges=(replace(MERGE, after="e3"),)),
    "undoes": replace(PLAN, undoes=1),
}


@pytest.mark.parametrize("other", OTHERS.values(), ids=list(OTHERS))
def test_every_difference_that_matters_gives_another_digest(other: Plan) -> None:
    fresh = replace(other, _digest=[])
    assert fresh.digest != PLAN.digest
    assert len(fresh.digest) == 64


def test_words_for_people_and_counts_are_no_part_of_it() -> None:
    other = replace(
        PLAN,
        changes=(replace(CHANGE, name="Other", why="other"),),
        edge_changes=(replace(EDGE, why="other"),),
        queued=7,
        notes=("x",),
        made_at=9,
        _digest=[],
    )
    assert other.digest == PLAN.digest


def test_names_that_no_utf_8_holds_have_a_digest_too() -> None:
    assert replace(PLAN, changes=(replace(CHANGE, entity="\udce9"),), _digest=[]).digest
    assert replace(PLAN, binding=replace(BINDING, brain="/caf\udce9"), _digest=[]).digest


def test_boundaries_between_fields_are_part_of_it() -> None:
    one = replace(CHANGE, from_type="ab", to_type="c")
    other = replace(CHANGE, from_type="a", to_type="bc")
    digests = {replace(PLAN, changes=(c,), _digest=[]).digest for c in (one, other)}
    assert len(digests) == 2


def test_empty_means_nothing_to_write() -> None:
    assert Plan(BINDING, queued=5).empty
    for part in ({"changes": (CHANGE,)}, {"manifests": (MANIFEST,)}, {"edge_changes": (EDGE,)}, {"merges": (MERGE,)}):
        assert not replace(Plan(BINDING), **part).empty


def test_flows_are_grouped_and_the_largest_comes_first() -> None:
    changes = [replace(CHANGE, entity=f"e{n}") for n in range(3)]
    changes.append(replace(CHANGE, from_type="Person", to_type="person", kind=ChangeKind.RECASE))
    plan = replace(PLAN, changes=tuple(changes))
    assert plan.flows() == (("agent", "role", ChangeKind.ALIAS, 3), ("Person", "person", ChangeKind.RECASE, 1))
    assert (plan.count(ChangeKind.ALIAS), plan.count(ChangeKind.UNDO)) == (3, 0)


def test_reasons_are_the_app_s_words() -> None:
    assert {k.value: k.reason for k in ChangeKind} == {
        "alias": "alias_retype",
        "recase": "recased",
        "retype": "queue_retype",
        "undo": "undo",
    }
