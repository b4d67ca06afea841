"""Groups that open: every row is where a plain list of parents with the members of the open ones has it."""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import given
from hypothesis import strategies as st

from ct_tui.tui.text import NOTHING, Line
from ct_tui.tui.widgets.rows import Row
from ct_tui.tui.widgets.tree import Parent, Store, TreeRows, child_key


@dataclass(frozen=True)
class Thing:
    """A member."""

    id: str


def line(width: int) -> Line:
    """An empty line."""
    del width
    return NOTHING


def child(parent: Row, member: Thing, key: str) -> Row:
    """A member's row."""
    del parent
    return Row(key, member, line, depth=1)


groups = st.lists(st.tuples(st.integers(0, 4), st.booleans(), st.integers(0, 4)), max_size=12)


@given(groups)
def test_rows_are_where_a_plain_list_has_them(sizes: list[tuple[int, bool, int]]) -> None:
    asked: list[str] = []
    store: Store[Thing] = Store(lambda group, _offset, _after: asked.append(group))
    parents: list[Parent] = []
    plain: list[str | None] = []
    unread: list[str] = []
    for number, (size, is_open, read) in enumerate(sizes):
        key = f"g{number}"
        parents.append(Parent(Row(key, key, line, opens=bool(size), is_open=is_open), key, size))
        plain.append(key)
        if is_open:
            store.open.add(key)
        if is_open and size:
            members = store.members(key, size)
            members.rows.extend(Thing(f"m{at}") for at in range(min(read, size)))
            members.index.update({thing.id: at for at, thing in enumerate(members.rows)})
            members.done = read >= size
            if not members.done:
                unread.append(key)
            plain += [child_key(key, f"m{at}") if at < read else None for at in range(size)]
    index = {parent.row.key: at for at, parent in enumerate(parents)}
    for rows in (TreeRows(parents, store, child), TreeRows(parents, store, child, index=index)):
        assert len(rows) == len(plain)
        found = [rows.row(at) for at in range(-1, len(plain) + 1)]
        assert [None if row is None else row.key for row in found] == [None, *plain, None]
        assert {key: rows.find(key) for key in plain if key} == {key: at for at, key in enumerate(plain) if key}
        assert rows.find("nowhere") is None
    rows.want(0, len(plain))
    assert asked == unread


@given(groups, st.integers(0, 40), st.integers(1, 10))
def test_only_the_open_groups_in_sight_are_read(sizes: list[tuple[int, bool, int]], top: int, height: int) -> None:
    asked: list[str] = []
    store: Store[Thing] = Store(lambda group, _offset, _after: asked.append(group))
    parents: list[Parent] = []
    spans: list[tuple[str, int, int]] = []
    at = 0
    for number, (size, is_open, _) in enumerate(sizes):
        key = f"g{number}"
        parents.append(Parent(Row(key, key, line), key, size))
        if is_open and size:
            store.open.add(key)
            spans.append((key, at + 1, at + size))
        at += 1 + (size if is_open else 0)
    rows = TreeRows(parents, store, child)
    rows.want(top, top + height)
    in_sight = [key for key, first, last in spans if first < top + height and last >= top]
    assert set(asked) >= set(in_sight)
    assert all(
        key in {name for name, first, last in spans if first - 1 < top + height and last >= top} for key in asked
    )


def test_a_page_of_before_a_write_is_followed_by_the_page_of_now() -> None:
    """The first was on its way when the write was noticed, and is answered first."""
    asked: list[tuple[str, int]] = []
    store: Store[Thing] = Store(lambda group, offset, _after: asked.append((group, offset)))
    store.open.add("g")
    parents = [Parent(Row("g", "g", line, opens=True, is_open=True), "g", 2)]
    rows = TreeRows(parents, store, child)
    rows.want(0, 5)
    store.renew({"g": 3})
    rows.want(0, 5)
    assert asked == [("g", 0), ("g", 0)]
    members = store.known("g")
    assert members is not None
    members.add(0, [Thing("old"), Thing("older")])
    members.add(0, [Thing("new"), Thing("old"), Thing("older")])
    assert [thing.id for thing in members.rows] == ["new", "old", "older"]
    assert len(rows) == 4
    assert rows.find(child_key("g", "older")) == 3


def test_a_group_that_has_fewer_members_than_were_counted_has_no_row_that_is_never_read() -> None:
    store: Store[Thing] = Store(lambda _group, _offset, _after: None)
    store.open.add("g")
    parents = [Parent(Row("g", "g", line, opens=True, is_open=True), "g", 4), Parent(Row("h", "h", line), "h")]
    rows = TreeRows(parents, store, child)
    assert len(rows) == 6
    store.members("g", 4).add(0, [Thing("only")])
    assert [row.key if row is not None else None for row in map(rows.row, range(len(rows)))] == [
        "g",
        child_key("g", "only"),
        "h",
    ]
    assert rows.find("h") == 2
