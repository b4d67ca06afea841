"""Plan, apply and undo as inverses, over brains that hypothesis makes up."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ct_tui.domain.census import readable
from ct_tui.domain.names import is_blank, label_key
from ct_tui.domain.plan import ChangeKind
from ct_tui.domain.rulings import Alias, Keep, Retype
from ct_tui.heal import view
from tests.heal.lab import Lab
from tests.policy.brains import new_case
from tests.trust.desk import Desk

LABELS = st.one_of(
    st.sampled_from(
        ["agent", "Agent", " agent ", "person", "PERSON", "role", "job", "", " ", "аgent", "x\u200b", "ΣΑΣ"]
    ),
    st.text(max_size=6).filter(lambda t: "\0" not in t and not any("\ud800" <= c <= "\udfff" for c in t)),
    st.binary(max_size=3),
)
FLAGS = st.sampled_from(["", "", "", "", "archived", "opted out", "merged", "gate_skipped", "kept origin"])
BRAINS = st.lists(st.tuples(LABELS, FLAGS), max_size=12)
DECLARED = ("person", "role", "Project")
ALIASES = {"agent": "role", "job": "project", "σας": "person"}


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Lab:
    """One desk for all examples; each fills the brain anew."""
    folder = tmp_path_factory.mktemp("plans")
    case = new_case(folder)
    lab = Lab(case, Desk(case.folder, folder / "user"))
    lab.rule(*(Alias(a, b) for a, b in ALIASES.items()), Retype(("e0", "e1"), "job", "role"), Keep("x\u200b"))
    lab.case.tier(*DECLARED, fallback="person")
    return lab


def fill(lab: Lab, brain: list[tuple[str | bytes, str]]) -> None:
    tables = ("curated_entities", "ct_entity_optouts", "entity_redirects", "entity_type_origin", "llm_wiki_meta")
    with closing(sqlite3.connect(lab.db)) as connection, connection:
        found = connection.execute("SELECT name FROM sqlite_master WHERE name LIKE 'ct_tui%' AND type = 'table'")
        for table in (*tables, *(n for (n,) in found.fetchall())):
            connection.execute(f"DELETE FROM {table}")
        for at, (label, flag) in enumerate(brain):
            entity = f"e{at}"
            gone = 5 if flag == "archived" else None
            connection.execute(
                "INSERT INTO curated_entities VALUES (?, 'n', ?, '', NULL, 1, 1, ?)", (entity, label, gone)
            )
            if flag == "opted out":
                connection.execute("INSERT INTO ct_entity_optouts VALUES (?, '', 1)", (entity,))
            if flag == "merged" and at:
                connection.execute("INSERT INTO entity_redirects VALUES (?, 'e0', 1)", (entity,))
            if flag in {"gate_skipped", "kept origin"}:
                reason = "gate_skipped" if flag == "gate_skipped" else "alias_retype"
                connection.execute("INSERT INTO entity_type_origin VALUES (?, 'x', ?, NULL, 1)", (entity, reason))


def state(lab: Lab) -> list[tuple[object, ...]]:
    return lab.case.rows("SELECT id, typeof(entity_type), hex(entity_type) FROM curated_entities ORDER BY id")


@settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture]
)
@given(brain=BRAINS)
def test_plan_apply_undo_is_identity_and_plan_apply_plan_is_empty(
    lab: Lab, brain: list[tuple[str | bytes, str]]
) -> None:
    fill(lab, brain)
    before = state(lab)
    origins = lab.case.count("entity_type_origin")
    with lab.bench() as bench:
        plan = bench.plan()
        assert state(lab) == before
        receipt = bench.apply(plan, by="tester", backup=False)
        assert receipt.retyped + receipt.recased == len(plan.changes)
        assert receipt.conflicts == ()
        assert bench.plan().changes == ()
        after = {i: (k, h) for i, k, h in state(lab)}
        moved = {c.entity: c for c in plan.changes}
        for entity, kind, digits in before:
            if entity not in moved:
                assert after[entity] == (kind, digits)
        assert len(lab.history()) == len(plan.changes)
        ruled = {c.entity for c in plan.changes if c.ruling is not None}
        assert lab.case.count("entity_type_origin") <= origins + len(ruled)
        if plan.changes:
            assert receipt.run is not None
            bench.apply(bench.undo_plan(receipt.run), by="tester", backup=False)
        assert state(lab) == before


@settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture]
)
@given(brain=BRAINS)
def test_nothing_moves_without_a_rule(lab: Lab, brain: list[tuple[str | bytes, str]]) -> None:
    """Every change is a casing of a declared type, or stands in a signed ruling; the shielded never move."""
    fill(lab, brain)
    labels = {f"e{at}": label for at, (label, _) in enumerate(brain)}
    flags = {f"e{at}": flag for at, (_, flag) in enumerate(brain)}
    spelled = {label_key(d): d for d in DECLARED}
    targets = {label_key(a): spelled[label_key(b)] for a, b in ALIASES.items()}
    with lab.bench() as bench:
        plan = bench.plan()
        census = bench.census().census
    for change in plan.changes:
        label = labels[change.entity]
        assert isinstance(label, str)
        assert readable(label)
        assert not is_blank(label)
        assert flags[change.entity] not in {"archived", "opted out"}
        assert flags[change.entity] != "merged" or change.entity == "e0"
        assert flags[change.entity] != "gate_skipped" or change.kind is not ChangeKind.ALIAS
        key = label_key(label)
        allowed = {spelled.get(key), targets.get(key)}
        if change.entity in {"e0", "e1"} and key == "job":
            allowed = {"role"}
        assert change.to_type in allowed
    live = sum(1 for e, f in flags.items() if f != "archived" and (f != "merged" or e == "e0"))
    assert census.live == live


@settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture]
)
@given(brain=BRAINS)
def test_a_large_brain_is_counted_as_a_small_one_is(lab: Lab, brain: list[tuple[str | bytes, str]]) -> None:
    """The census that fetches no rows agrees with the one that judges each."""
    fill(lab, brain)
    rows = []
    for limit in (view.EXACT_UP_TO, -1):
        with pytest.MonkeyPatch.context() as patch, lab.bench() as bench:
            patch.setattr(view, "EXACT_UP_TO", limit)
            rows.append(bench.census().census.types)
    assert rows[0] == rows[1]
