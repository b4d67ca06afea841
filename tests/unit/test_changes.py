"""A plan's changes in little room: the same rows, in the same order, as a tuple of them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ct_tui.domain import changes
from ct_tui.domain.changes import ChangeList, Changes, move_of
from ct_tui.domain.plan import ChangeKind, TypeChange

TEXTS = st.text(max_size=4)
ROWS = st.lists(
    st.builds(
        TypeChange,
        TEXTS,
        TEXTS,
        st.sampled_from(["agent", "job", ""]),
        st.sampled_from(["role", "person"]),
        st.sampled_from(list(ChangeKind)),
        st.sampled_from([None, 1, 2]),
        st.sampled_from(["why", ""]),
    ),
    max_size=30,
)


def in_blocks(rows: list[TypeChange], size: int) -> Changes:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(changes, "BLOCK", size)
        found = ChangeList()
        for row in rows:
            found.append(row)
        return found.whole()


@given(rows=ROWS, size=st.integers(1, 7), start=st.integers(-9, 40), stop=st.integers(-9, 40))
def test_they_are_a_sequence_as_a_tuple_is(rows: list[TypeChange], size: int, start: int, stop: int) -> None:
    found, plain = in_blocks(rows, size), tuple(rows)
    assert (len(found), tuple(found), tuple(reversed(found))) == (len(plain), plain, plain[::-1])
    assert [found[at] for at in range(-len(plain), len(plain))] == [*plain, *plain]
    assert found[start:stop] == plain[start:stop]
    assert found[start:stop:2] == plain[start:stop:2]
    for outside in (len(plain), -len(plain) - 1):
        with pytest.raises(IndexError):
            found[outside]


@given(rows=ROWS, size=st.integers(1, 7), other=ROWS)
def test_they_are_equal_to_whatever_holds_the_same_rows(
    rows: list[TypeChange], size: int, other: list[TypeChange]
) -> None:
    found = in_blocks(rows, size)
    for same in (tuple(rows), in_blocks(rows, size), in_blocks(rows, 100)):
        assert found == same
        assert same == found
        assert hash(found) == hash(same)
    assert (found == in_blocks(other, size)) == (rows == other)
    assert found != "changes"
    assert found != 5


@given(rows=ROWS)
def test_a_change_may_be_taken_by_the_number_of_its_move(rows: list[TypeChange]) -> None:
    gathered = ChangeList()
    for row in rows:
        gathered.add(row.entity, row.name, gathered.number(move_of(row)))
    assert gathered.whole() == tuple(rows)
