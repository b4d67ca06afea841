"""Values by id in little room: the same answers as a dictionary."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ct_tui.domain import by_id
from ct_tui.domain.by_id import ById

IDS = st.text(alphabet="ab\0é\ud800", max_size=4)
VALUES = st.sampled_from(["x", "y", None])


@given(st.dictionaries(IDS, VALUES, max_size=5), st.dictionaries(IDS, VALUES, max_size=40), IDS, st.integers(1, 3))
def test_it_answers_as_a_dictionary_does(
    few: dict[str, str | None], many: dict[str, str | None], asked: str, buckets: int
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(by_id, "BUCKETS", buckets)
        found, plain = ById(few, many.items()), {**many, **few}
        assert dict(found.items()) == dict(zip(found, found.values(), strict=True)) == plain
        assert len(list(found.items())) == len(found) == len(plain)
        assert all(found[key] == value for key, value in plain.items())
        assert (asked in found) is (asked in plain)
        assert found.get(asked, "none") == plain.get(asked, "none")


def test_what_lies_across_two_ids_is_no_id(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(by_id, "BUCKETS", 1)
    found = ById({}, [("ab", 1), ("cd", 2), ("bc", 3)])
    assert (found["bc"], found.get("b"), found.get("abc"), found.get("")) == (3, None, None, None)


def test_an_id_of_the_few_goes_first() -> None:
    assert list(ById({"a": 1}, [("a", 2), ("b", 2)]).items()) == [("a", 1), ("b", 2)]
