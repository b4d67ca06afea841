"""Any edge rulings over any edges: what is planned can be written row by row, done once, and turned back whole."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING

from hypothesis import given, settings
from hypothesis import strategies as st

from ct_tui.domain.edge_repairs import Past, RepairPlan, Subject, plan_repairs, undo_repairs
from ct_tui.domain.edges import End, Liveness, Rulebook, Signatures, Triple
from ct_tui.domain.manifest import EdgeType, NodeType, Vocabulary
from ct_tui.domain.plan import EdgeChangeKind, EdgeRow
from ct_tui.domain.rulings import EdgeRepair, Repair, Ruling

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ct_tui.domain.plan import EdgeChange

BOOK = Rulebook(
    Signatures(
        Vocabulary(
            (NodeType("p"), NodeType("o")),
            (EdgeType("x", "p", "o"), EdgeType("y", "p", "o"), EdgeType("z", "p", "p")),
        )
    )
)
TYPES = {"a": "p", "b": "p", "c": "o", "d": "ghost"}
WHEN = dt.datetime(2026, 10, 3, tzinfo=dt.UTC)

ids = st.sampled_from(list(TYPES))
names = st.sampled_from(["x", "y", "z", "X"])
places = st.tuples(st.sampled_from(["m", "n"]), ids, ids, names)
tables = st.lists(places, max_size=8, unique=True).map(
    lambda rows: {f"e{n}": EdgeRow(f"e{n}", *place, created_at=n) for n, place in enumerate(rows)}
)
bodies = st.builds(
    EdgeRepair,
    st.sampled_from([Repair.RENAME, Repair.REVERSE, Repair.DROP, Repair.KEEP]),
    st.lists(st.sampled_from([f"e{n}" for n in range(8)]), min_size=1, max_size=5, unique=True).map(tuple),
    st.sampled_from(["x", "y", "Z"]),
)
rulings = st.lists(bodies, max_size=4).map(
    lambda found: [(Ruling(n, b, "r", "m", WHEN), b) for n, b in enumerate(found, 1)]
)


class Table:
    """The edges with the brain's unique key, and the history of repairs."""

    def __init__(self, rows: dict[str, EdgeRow]) -> None:
        self.rows = dict(rows)
        self.past: list[Past] = []

    def place(self, row: EdgeRow) -> tuple[str, str, str, str]:
        return row.entity_id, row.source_id, row.target_id, row.edge_type

    def twin(self, row: EdgeRow) -> str | None:
        return next((r.id for r in self.rows.values() if r.id != row.id and self.place(r) == self.place(row)), None)

    def subjects(self) -> dict[str, Subject]:
        def end(i: str) -> End:
            return End(TYPES[i], Liveness.LIVE)

        return {i: Subject(r, Triple(r.edge_type, end(r.source_id), end(r.target_id))) for i, r in self.rows.items()}

    def plan(self, found: list[tuple[Ruling, EdgeRepair]]) -> RepairPlan:
        return plan_repairs(found, self.subjects(), self.past, BOOK, self.twin)

    def write(self, changes: Iterable[EdgeChange]) -> None:
        for change in changes:
            assert self.rows.get(change.edge) == change.before
            if change.after is None:
                del self.rows[change.edge]
            else:
                assert self.twin(change.after) is None
                self.rows[change.edge] = change.after
            self.past.insert(0, Past(change.edge, change.ruling, change.kind, change.before, change.after))


@given(tables, rulings)
@settings(max_examples=400)
def test_a_plan_is_written_once_and_undone_whole(
    rows: dict[str, EdgeRow], found: list[tuple[Ruling, EdgeRepair]]
) -> None:
    table = Table(rows)
    plan = table.plan(found)
    assert len({c.edge for c in plan.changes}) == len(plan.changes)
    table.write(plan.changes)
    made = list(table.past)
    written = dict(table.rows)
    again = table.plan(found)
    assert {c.edge for c in again.changes}.isdisjoint(c.edge for c in plan.changes)
    undo = undo_repairs(made, table.rows, 1, table.twin)
    assert undo.notes == ()
    table.write(undo.changes)
    assert table.rows == rows
    redone = table.plan(found)
    assert [(c.edge, c.after) for c in redone.changes] == [(c.edge, c.after) for c in plan.changes]
    table.write(redone.changes)
    assert table.rows == written


@given(tables, rulings)
def test_only_ruled_edges_change_and_only_as_ruled(
    rows: dict[str, EdgeRow], found: list[tuple[Ruling, EdgeRepair]]
) -> None:
    by_seq = {r.seq: b for r, b in found}
    for change in Table(rows).plan(found).changes:
        assert change.before == rows[change.edge]
        assert change.ruling is not None
        body = by_seq[change.ruling]
        assert change.edge in body.edges
        assert body.repair is not Repair.KEEP
        if change.after is None:
            assert body.repair is Repair.DROP or "already there" in change.why
            continue
        assert change.kind.value == body.repair.value
        before, after = change.before, change.after
        assert (after.id, after.entity_id, after.created_at) == (before.id, before.entity_id, before.created_at)
        if change.kind is EdgeChangeKind.REVERSE:
            assert (after.source_id, after.target_id) == (before.target_id, before.source_id)
        else:
            assert after.edge_type == BOOK.main.spelling(body.to or "")
