"""What a ruling decides, in the words that lists and refusals use."""

from __future__ import annotations

import datetime as dt

import pytest

from ct_tui.domain.rulings import Keep


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (Keep("job"), "keep job"),
        (Keep(entities=("a",)), "keep 1 entity"),
        (Keep(entities=("a", "b")), "keep 2 entities"),
        (Keep("job", until=dt.date(2027, 1, 31)), "keep job until 2027-01-31"),
    ],
)
def test_a_keep_says_what_it_leaves_alone(body: Keep, words: str) -> None:
    assert str(body) == words
