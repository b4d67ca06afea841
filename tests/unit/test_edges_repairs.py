"""Proposed repairs and what edge rulings do to single edges, as pure rules."""

from __future__ import annotations

import datetime as dt

import pytest

from ct_tui.domain.edge_repairs import (
    Past,
    ProposalKind,
    RepairPlan,
    Subject,
    Violation,
    after_triple,
    joinable_signatures,
    kept_ids,
    plan_repairs,
    propose,
    undo_repairs,
)
from ct_tui.domain.edges import End, Liveness, Rulebook, Signatures, Triple, Triples
from ct_tui.domain.manifest import EdgeType, NodeType, Vocabulary
from ct_tui.domain.plan import EdgeChangeKind, EdgeRow
from ct_tui.domain.rulings import EdgeRepair, Repair, Ruling

VOCABULARY = Vocabulary(
    (
        NodeType("person"),
        NodeType("organization"),
        NodeType("role"),
        NodeType("creativework"),
        NodeType("handoff", parent_type="creativework"),
        NodeType("document"),
    ),
    (
        EdgeType("knows", "person", "person"),
        EdgeType("worksFor", "person", "organization"),
        EdgeType("memberOf", "person", "organization"),
        EdgeType("hasRole", "person", "role"),
        EdgeType("author", "creativework", "person"),
        EdgeType("about", "creativework", "person"),
        EdgeType("supersedes", "creativework", "creativework"),
    ),
)
BOOK = Rulebook(Signatures(VOCABULARY))


def triples(*rows: tuple[str, str, str, int]) -> Triples:
    return Triples([(Triple(e, End(s), End(t)), n) for s, e, t, n in rows])


def texts(violation: Violation, counted: Triples) -> list[str]:
    return [p.text for p in propose(violation, counted, BOOK)]


def test_an_undeclared_end_is_retyped_as_a_whole_first() -> None:
    counted = triples(("person", "hasRole", "agent", 7), ("agent", "knows", "person", 3))
    found = propose(Violation("hasRole", "person", "agent", 7), counted, BOOK)
    assert [p.text for p in found] == ["retype every agent to role", "retype target to role", "drop", "keep"]
    assert found[0].whole_type == "agent"
    assert found[0].fit == (7, 10)
    assert found[0].fixes == 7
    assert [p.score for p in found] == sorted((p.score for p in found), reverse=True)


def test_a_reversed_edge_is_turned_round() -> None:
    found = propose(Violation("author", "person", "handoff", 2), triples(("person", "author", "handoff", 2)), BOOK)
    assert found[0].kind is ProposalKind.REVERSE
    assert found[0].text == "reverse"


def test_another_edge_type_whose_signature_fits() -> None:
    violation = Violation("worksfor_", "person", "organization", 4)
    counted = triples(("person", "worksfor_", "organization", 4))
    assert texts(violation, counted)[:2] == ["rename to worksFor", "rename to memberOf"]
    assert "widen the signature" in texts(violation, counted)
    by_parent = texts(Violation("wrote", "handoff", "person", 1), triples(("handoff", "wrote", "person", 1)))
    assert "rename to author" in by_parent


def test_widening_needs_two_declared_types() -> None:
    assert "widen the signature" in texts(
        Violation("author", "document", "person", 5), triples(("document", "author", "person", 5))
    )
    assert "widen the signature" not in texts(
        Violation("author", "software", "person", 5), triples(("software", "author", "person", 5))
    )


def test_both_ends_of_one_type_move_together() -> None:
    found = texts(Violation("supersedes", "memo", "memo", 6), triples(("memo", "supersedes", "memo", 6)))
    assert found[:2] == ["retype every memo to creativework", "retype every memo to handoff"]
    assert "retype both to creativework" in found


def test_facts_are_not_retyped() -> None:
    violation = Violation("hasRole", "person", "agent", 1, source_movable=False, target_movable=False)
    assert texts(violation, triples()) == ["drop", "keep"]


def test_an_edge_that_says_nothing_is_hardly_worth_declaring() -> None:
    found = texts(Violation("Related_To", "person", "person", 50), triples(("person", "Related_To", "person", 50)))
    assert found.index("widen the signature") > found.index("rename to knows")


def test_signatures_that_a_new_type_could_join() -> None:
    counted = triples(
        ("memo", "author", "person", 5),
        ("memo", "supersedes", "memo", 6),
        ("memo", "links", "role", 1),
        ("memo", "author", "ghost", 9),
        ("person", "knows", "person", 3),
    )
    assert joinable_signatures("Memo", counted, BOOK) == (
        (EdgeType("supersedes", "Memo", "Memo"), 6),
        (EdgeType("author", "Memo", "person"), 5),
        (EdgeType("links", "Memo", "role"), 1),
    )


# What rulings do


def row(edge: str, source: str = "a", edge_type: str = "author", target: str = "b", anchor: str = "x") -> EdgeRow:
    return EdgeRow(edge, anchor, source, target, edge_type, 1)


def subject(found: EdgeRow, source: End | None = None, target: End | None = None) -> Subject:
    ends = source if source is not None else End("document"), target if target is not None else End("person")
    return Subject(found, Triple(found.edge_type, *ends))


def ruled(
    seq: int, repair: Repair, *edges: str, to: str | None = None, about: tuple[str, str, str] | None = None
) -> tuple[Ruling, EdgeRepair]:
    body = EdgeRepair(repair, edges, to, about)
    return Ruling(seq, body, "why", "me@example.org", dt.datetime(2026, 10, 3, tzinfo=dt.UTC)), body


def planned(rulings: list[tuple[Ruling, EdgeRepair]], *subjects: Subject, past: list[Past] | None = None) -> RepairPlan:
    rows = [s.row for s in subjects]

    def twin(wanted: EdgeRow) -> str | None:
        return next((r.id for r in rows if r.id != wanted.id and place(r) == place(wanted)), None)

    return plan_repairs(rulings, {r.id: s for r, s in zip(rows, subjects, strict=True)}, past or [], BOOK, twin)


def place(found: EdgeRow) -> tuple[str, str, str, str]:
    return found.entity_id, found.source_id, found.target_id, found.edge_type


def test_rename_reverse_and_drop_name_the_row_before_and_after() -> None:
    plan = planned(
        [ruled(1, Repair.RENAME, "e1", to="ABOUT"), ruled(2, Repair.REVERSE, "e2"), ruled(3, Repair.DROP, "e3")],
        subject(row("e1")),
        subject(row("e2", "p", "author", "d"), End("person"), End("handoff")),
        subject(row("e3", "q")),
    )
    changes = {c.edge: c for c in plan.changes}
    assert plan.changes[0].edge == "e3"
    assert changes["e1"].after == row("e1", edge_type="about")
    assert changes["e2"].after == row("e2", "d", "author", "p")
    assert changes["e3"].after is None
    assert [changes[e].kind for e in ("e1", "e2", "e3")] == [
        EdgeChangeKind.RENAME, EdgeChangeKind.REVERSE, EdgeChangeKind.DROP,
    ]  # fmt: skip
    assert [changes[e].ruling for e in ("e1", "e2", "e3")] == [1, 2, 3]
    assert plan.notes == ()


def test_a_case_variant_is_renamed_and_a_done_rename_is_silent() -> None:
    assert planned([ruled(1, Repair.RENAME, "e1", to="author")], subject(row("e1", edge_type="Author"))).changes
    assert planned([ruled(1, Repair.RENAME, "e1", to="Author")], subject(row("e1"))) == RepairPlan()


def test_an_undeclared_new_name_renames_nothing() -> None:
    plan = planned([ruled(1, Repair.RENAME, "e1", to="ghost")], subject(row("e1")))
    assert not plan.changes
    assert "ghost is not declared" in plan.notes[0]


@pytest.mark.parametrize(
    ("found", "about", "note"),
    [
        (None, None, "no longer there"),
        (subject(row("e1", edge_type="about")), ("author", "document", "person"), "changed since it was ruled on"),
        (subject(row("e1"), End("handoff")), ("author", "document", "person"), "conforming by now"),
        (subject(row("e1"), End("document", shielded=True)), None, "shielded"),
        (subject(row("e1"), End("document"), End(None, Liveness.ARCHIVED)), None, "not live at both ends"),
        (Subject(row("e1"), Triple("author", End("document"), End("person")), readable=False), None, "not readable"),
    ],
)
def test_what_is_left_alone_and_said(found: Subject | None, about: tuple[str, str, str] | None, note: str) -> None:
    plan = planned([ruled(4, Repair.DROP, "e1", about=about)], *([found] if found else []))
    assert plan.changes == ()
    assert len(plan.notes) == 1
    assert plan.notes[0].startswith("ruling #4: 1 edge is")
    assert note in plan.notes[0]


def test_a_conforming_edge_is_dropped_only_where_the_ruling_names_it_alone() -> None:
    conforming = subject(row("e1"), End("handoff"))
    assert planned([ruled(1, Repair.DROP, "e1")], conforming).changes
    assert not planned([ruled(1, Repair.DROP, "e1", about=("author", "document", "person"))], conforming).changes


def test_the_latest_ruling_on_an_edge_decides() -> None:
    rulings = [ruled(2, Repair.KEEP, "e1"), ruled(1, Repair.DROP, "e1", "e2")]
    plan = planned(rulings, subject(row("e1")), subject(row("e2", "z")))
    assert [c.edge for c in plan.changes] == ["e2"]
    assert kept_ids(rulings) == {"e1"}
    assert kept_ids([*rulings, ruled(3, Repair.DROP, "e1")]) == frozenset()


def test_what_is_done_is_not_done_again_unless_it_was_undone() -> None:
    old, new = row("e1", "p", "author", "d"), row("e1", "d", "author", "p")
    reverse = [ruled(7, Repair.REVERSE, "e1")]
    done = Past("e1", 7, EdgeChangeKind.REVERSE, old, new)
    undone = Past("e1", None, EdgeChangeKind.REVERSE, new, old)
    assert planned(reverse, subject(new), past=[done]) == RepairPlan()
    assert planned(reverse, subject(old), past=[undone, done]).changes[0].after == new
    elsewhere = planned(reverse, subject(row("e1", "p", "about", "d")), past=[done])
    assert not elsewhere.changes
    assert "changed since it was repaired" in elsewhere.notes[0]
    dropped = Past("e2", 7, EdgeChangeKind.DROP, row("e2"), None)
    assert planned([ruled(7, Repair.DROP, "e2")], past=[dropped]) == RepairPlan()


def test_a_loop_is_not_reversed() -> None:
    plan = planned([ruled(1, Repair.REVERSE, "e1")], subject(row("e1", "a", "author", "a")))
    assert not plan.changes
    assert "same id" in plan.notes[0]


def test_a_second_copy_is_dropped_and_says_so() -> None:
    plan = planned(
        [ruled(1, Repair.RENAME, "e1", to="about")], subject(row("e1")), subject(row("e2", edge_type="about"))
    )
    (change,) = plan.changes
    assert change.kind is EdgeChangeKind.DROP
    assert change.after is None
    assert "already there as e2" in change.why
    other_anchor = subject(row("e3", edge_type="about", anchor="y"))
    kept = planned([ruled(1, Repair.RENAME, "e1", to="about")], subject(row("e1")), other_anchor)
    assert kept.changes[0].kind is EdgeChangeKind.RENAME


def test_two_that_would_become_one() -> None:
    rulings = [ruled(1, Repair.RENAME, "e1", "e2", to="about")]
    plan = planned(rulings, subject(row("e1")), subject(row("e2", edge_type="Author")))
    kinds = {c.edge: c.kind for c in plan.changes}
    assert kinds == {"e1": EdgeChangeKind.RENAME, "e2": EdgeChangeKind.DROP}


def test_a_dropped_edge_makes_room() -> None:
    rulings = [ruled(1, Repair.RENAME, "e1", to="about"), ruled(2, Repair.DROP, "e2")]
    plan = planned(rulings, subject(row("e1")), subject(row("e2", edge_type="about")))
    assert [(c.edge, c.kind) for c in plan.changes] == [("e2", EdgeChangeKind.DROP), ("e1", EdgeChangeKind.RENAME)]


def test_two_that_would_change_places_wait() -> None:
    ends = End("person"), End("person")
    plan = planned(
        [ruled(1, Repair.REVERSE, "e1", "e2")],
        subject(row("e1", "a", "author", "b"), *ends),
        subject(row("e2", "b", "author", "a"), *ends),
    )
    assert plan.changes == ()
    assert len(plan.notes) == 2
    assert all("ruled on too" in n for n in plan.notes)


def test_undo_turns_each_repair_back_and_leaves_what_changed() -> None:
    renamed, dropped, reversed_ = row("e1", edge_type="about"), row("e2", "q"), row("e3", "b", "author", "a")
    past = [
        Past("e1", 1, EdgeChangeKind.RENAME, row("e1"), renamed),
        Past("e2", 1, EdgeChangeKind.DROP, dropped, None),
        Past("e3", 1, EdgeChangeKind.REVERSE, row("e3"), reversed_),
        Past("e4", 1, EdgeChangeKind.RESTORE, None, row("e4", "r")),
        Past("e5", 1, EdgeChangeKind.RENAME, row("e5", "s"), row("e5", "s", "about")),
        Past("e6", 1, EdgeChangeKind.DROP, row("e6", "t"), None),
    ]
    present = {"e1": renamed, "e3": reversed_, "e4": row("e4", "r"), "e5": row("e5", "s", "knows")}
    plan = undo_repairs(past, present, 3, lambda r: "other" if r.id == "e6" else None)
    assert {c.edge: (c.kind, c.after) for c in plan.changes} == {
        "e1": (EdgeChangeKind.RENAME, row("e1")),
        "e2": (EdgeChangeKind.RESTORE, dropped),
        "e3": (EdgeChangeKind.REVERSE, row("e3")),
        "e4": (EdgeChangeKind.DROP, None),
    }
    assert all(c.ruling is None and c.why == "undo of run 3" for c in plan.changes)
    assert any("e5" in n and "knows" in n for n in plan.notes)
    assert any("e6" in n and "other" in n for n in plan.notes)


def test_after_triple_follows_the_change() -> None:
    plan = planned(
        [ruled(1, Repair.RENAME, "e1", to="about"), ruled(2, Repair.REVERSE, "e2"), ruled(3, Repair.DROP, "e3")],
        subject(row("e1")),
        subject(row("e2", "q"), End("person"), End("handoff")),
        subject(row("e3", "r")),
    )
    changes = {c.edge: c for c in plan.changes}
    before = Triple("author", End("document"), End("person"))
    assert after_triple(changes["e1"], before) == Triple("about", End("document"), End("person"))
    assert after_triple(changes["e2"], before) == Triple("author", End("person"), End("document"))
    assert after_triple(changes["e3"], before) is None
