"""What the views of lint and duplicates read: weighing anew, rulings ahead, long reads that stop, the row of a finding."""

from __future__ import annotations

import datetime as dt
import threading
from typing import TYPE_CHECKING

import pytest

from ct_tui.domain.duplicates import Ahead, Weight, apart_reason, merge_reason
from ct_tui.domain.errors import NothingFound
from ct_tui.domain.lint.model import Focus, Kind
from ct_tui.domain.plan import RedirectChange
from ct_tui.domain.queue import ItemKind
from ct_tui.domain.rulings import Except, Merge, Revoke

if TYPE_CHECKING:
    from ct_tui.domain.lint.report import LintReport
    from ct_tui.domain.plan import Progress
    from ct_tui.heal.duplicates import Board
    from tests.heal.lab import Lab


def change(loser: str, survivor: str, ruling: int) -> RedirectChange:
    return RedirectChange(loser, loser, None, survivor, ruling, "")


def seed(lab: Lab, entity_id: str, name: str, kind: str = "concept", summary: str = "") -> None:
    lab.case.run(
        "INSERT INTO curated_entities (id, name, entity_type, summary, created_at, updated_at) VALUES (?, ?, ?, ?, 1, 1)",
        entity_id, name, kind, summary,
    )  # fmt: skip


def lint(lab: Lab) -> LintReport:
    with lab.bench() as bench:
        return bench.lint()


def board(lab: Lab, *, near: bool = True) -> Board:
    with lab.bench() as bench:
        return bench.duplicate_groups(near=near)


# Rulings ahead


def test_a_group_is_settled_only_when_all_members_end_in_one() -> None:
    ahead = Ahead([change("b", "a", 3), change("c", "a", 5)], {"e": "d"})
    assert ahead.settles(("a", "b")) == 3
    assert ahead.settles(("a", "b", "c")) == 5
    assert ahead.settles(("a", "b", "x")) is None
    assert ahead.settles(("d", "e")) is None, "what is merged already needs no ruling"


def test_a_group_that_runs_in_a_circle_is_never_settled() -> None:
    assert Ahead([change("a", "b", 1)], {"b": "a"}).settles(("a", "b")) is None


def test_a_ruled_group_leaves_the_queue_and_stays_on_the_board_until_it_is_merged(october_lab: Lab) -> None:
    lab = october_lab
    card = next(c for c in board(lab, near=False).groups if c.group.normalized_name == "shared name 9")
    assert card.ruled is None
    survivor, *losers = card.group.members
    lab.rule(Merge(survivor, tuple(losers)))
    ruled = next(c for c in board(lab, near=False).groups if c.group.normalized_name == "shared name 9")
    assert ruled.ruled == 1
    assert not any(i.key == "shared name 9" for i in lab.items(ItemKind.DUPLICATE))
    lab.heal()
    assert not any(c.group.normalized_name == "shared name 9" for c in board(lab, near=False).groups)


def test_a_ruling_on_some_members_only_leaves_the_group_open(october_lab: Lab) -> None:
    lab = october_lab
    card = next(c for c in board(lab, near=False).groups if c.group.normalized_name == "tessera")
    lab.rule(Merge(card.group.members[0], card.group.members[1:2]))
    again = next(c for c in board(lab, near=False).groups if c.group.normalized_name == "tessera")
    assert again.ruled is None
    assert any(i.key == "tessera" for i in lab.items(ItemKind.DUPLICATE))


def test_a_board_of_before_follows_what_was_ruled_since(october_lab: Lab) -> None:
    lab = october_lab
    with lab.bench() as bench:
        before = bench.duplicate_groups(near=False)
        first, second = before.groups[0].group, before.groups[1].group
        lab.rule(Merge(first.survivor, first.losers), Except("duplicate", second.members))
        now = bench.reweigh_duplicates(before)
    assert now.groups[0].ruled == 1
    assert all(c.group.members != second.members for c in now.groups)
    assert second.members in now.apart


def test_near_pairs_say_what_speaks_for_either_and_what_is_ruled(lab: Lab) -> None:
    seed(lab, "ent_a", "Alexandra Lindqvist", "person", "She writes.")
    seed(lab, "ent_b", "Alexandra Lindquist", "person")
    (near,) = board(lab).near
    assert {w.id: w.summary for w in near.weights} == {"ent_a": True, "ent_b": False}
    assert near.ruled is None
    lab.rule(Merge("ent_a", ("ent_b",)))
    (ruled,) = board(lab).near
    assert ruled.ruled == 1


# Long reads


def test_comparing_names_tells_its_progress_and_stops(october_lab: Lab) -> None:
    steps: list[Progress] = []
    stop = threading.Event()
    with october_lab.bench() as bench:
        whole = bench.duplicate_groups(progress=steps.append)
        assert not whole.stopped
        assert whole.near_searched
        assert steps[-1].done == steps[-1].total == 4 * 152
        stop.set()
        stopped = bench.duplicate_groups(progress=steps.append, stop=stop)
    assert stopped.stopped
    assert any("not all names were compared" in note for note in stopped.notes)


def test_a_stopped_lint_says_so_and_calls_nothing_clean(october_lab: Lab) -> None:
    stop = threading.Event()
    stop.set()
    with october_lab.bench() as bench:
        report = bench.lint(only={"name-duplicate"}, stop=stop)
        assert report.stopped
        assert not bench.lint(only={"name-duplicate"}).stopped


def test_only_small_brains_are_looked_at_unasked(october_lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    with october_lab.bench() as bench:
        assert bench.lints_by_itself()
        assert bench.compares_by_itself()
        monkeypatch.setattr("ct_tui.heal.lint.AUTOMATIC_ROWS", 10)
        monkeypatch.setattr("ct_tui.heal.duplicates.QUEUE_LIMIT", 10)
        assert not bench.lints_by_itself()
        assert not bench.compares_by_itself()


# Exceptions


def test_a_report_of_before_is_weighed_against_the_exceptions_of_now(october_lab: Lab) -> None:
    lab = october_lab
    with lab.bench() as bench:
        before = bench.lint()
        target = next(f for f in before.findings if f.rule == "edge-related-to")
        lab.rule(Except("edge-related-to", (target.focus.id,)))
        now = bench.reweigh(before)
        assert now == bench.lint()
        assert [(a.finding.focus, a.ruling) for a in now.accepted] == [(target.focus, 1)]
        assert target not in now.findings
        assert now.counts["edge-related-to"] == before.counts["edge-related-to"] - 1
        lab.rule(Revoke(1))
        assert bench.reweigh(now) == before
    assert lint(lab) == before


def test_an_exception_of_yesterday_accepts_nothing_today(october_lab: Lab) -> None:
    lab = october_lab
    target = next(f for f in lint(lab).findings if f.rule == "edge-related-to")
    day = dt.datetime.fromtimestamp(lab.clock.now, dt.UTC).date()
    lab.rule(Except("edge-related-to", (target.focus.id,), day))
    with lab.bench() as bench:
        accepted = bench.lint()
        assert accepted.excepted == 1
        lab.clock.pass_days(1)
        assert bench.reweigh(accepted).excepted == 0


# The row of a finding


def test_the_row_of_a_finding_is_read_as_it_stands(october_lab: Lab) -> None:
    report = lint(october_lab)
    with october_lab.bench() as bench:
        for rule, table in (("edge-related-to", "llm_wiki_edges"), ("fact-provenance", "llm_wiki_entries")):
            found = next(f for f in report.findings if f.rule == rule)
            where, columns = bench.raw_focus(found.focus)
            assert where == table
            assert dict(columns)["id"] == found.focus.id
            column = found.path.rpartition(".")[2]
            assert dict(columns)[column] == found.value
        assert bench.raw_focus(Focus(Kind.RULING, "1")) == ("", ())
        with pytest.raises(NothingFound):
            bench.raw_focus(Focus(Kind.FACT, "gone"))


def test_names_of_entities_are_read_together(october_lab: Lab) -> None:
    with october_lab.bench() as bench:
        found = bench.names(["ent_31708dffebaa5cb4dff338b9", "nobody"])
    assert found == {"ent_31708dffebaa5cb4dff338b9": ("Mira", "person")}


# Reasons


def weight(entity_id: str, name: str, kind: str, facts: int = 1, edges: int = 0, *, summary: bool = False) -> Weight:
    return Weight(entity_id, name, kind, facts, edges, summary, True)


def test_a_merge_is_proposed_with_what_makes_them_one_and_what_speaks_for_the_survivor() -> None:
    members = (weight("e1", "Adrian", "person", 3, 1, summary=True), weight("e2", "Adrian", "concept"))
    assert merge_reason(members, "e1") == (
        "One thing: 2 entities are called “Adrian”. The person e1 stays: it has 3 facts, 1 edge and a summary."
    )
    near = (weight("e1", "Jon Smith", "person"), weight("e2", "John Smith", "person"))
    assert merge_reason(near, "e2", ("they differ by a slip of the pen",)) == (
        "One thing: “Jon Smith” and “John Smith” (they differ by a slip of the pen). "
        "The person e2 stays: it has 1 fact, 0 edges and no summary."
    )


def test_keeping_apart_is_proposed_with_what_tells_them_from_each_other() -> None:
    members = (weight("e1", "Adrian", "person"), weight("e2", "Adrian", "concept"))
    assert apart_reason(members) == "Different things of the name “Adrian”: person, concept."
    near = (weight("e1", "Jon", "person"), weight("e2", "John", "person"))
    assert apart_reason(near) == "Different things: “Jon” and “John”."
