"""Redirect walks are total and linear, on chains, trees and circles."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ct_tui.domain.redirects import CYCLE, Redirects

IDS = [f"e{n}" for n in range(8)]
ROWS = st.dictionaries(st.sampled_from(IDS), st.sampled_from(IDS), max_size=8)


def slow_survivor(rows: dict[str, str], start: str) -> object:
    if start not in rows:
        return None
    seen, at = [start], rows[start]
    while at in rows:
        if at in seen:
            return CYCLE
        seen.append(at)
        at = rows[at]
    return CYCLE if at in seen else at


def reaches(rows: dict[str, str], start: str, target: str) -> bool:
    at = start
    for _ in range(len(rows) + 1):
        if at == target:
            return True
        if at not in rows:
            return False
        at = rows[at]
    return at == target


@given(ROWS)
def test_survivors_equal_the_obvious_walk(rows: dict[str, str]) -> None:
    redirects = Redirects(rows)
    for start in IDS:
        assert redirects.survivor(start) == slow_survivor(rows, start)


@given(ROWS)
def test_clusters_are_all_ids_that_end_alike(rows: dict[str, str]) -> None:
    redirects = Redirects(rows)
    for start in IDS:
        cluster = redirects.cluster(start)
        assert start in cluster
        assert len(set(cluster)) == len(cluster)
        end = redirects.resolve(start)
        if end is not CYCLE:
            assert cluster[0] == end
            assert set(cluster) == {i for i in {*IDS} if redirects.resolve(i) == end}
        assert set(redirects.optout_cluster(start)) == {
            i for i in IDS if reaches(rows, i, redirects.optout_cluster(start)[0])
        }


@given(ROWS, st.sets(st.sampled_from(IDS)))
def test_an_optout_counts_for_its_whole_cluster(rows: dict[str, str], optouts: set[str]) -> None:
    redirects = Redirects(rows)
    for start in IDS:
        by = redirects.opted_out_by(start, optouts)
        assert (by is not None) == bool(optouts & set(redirects.optout_cluster(start)))


def test_a_very_long_chain_is_walked_once() -> None:
    size = 200_000
    redirects = Redirects({f"n{i}": f"n{i + 1}" for i in range(size)})
    assert redirects.survivor("n0") == f"n{size}"
    assert redirects.survivor(f"n{size - 1}") == f"n{size}"
    assert len(redirects.cluster("n5")) == size + 1
    assert redirects.cycles() == ()


def test_the_optout_lookup_climbs_64_redirects() -> None:
    redirects = Redirects({f"n{i:03}": f"n{i + 1:03}" for i in range(100)})
    assert redirects.opted_out_by("n000", {"n064"}) == "n064"
    assert redirects.opted_out_by("n000", {"n065"}) is None
    assert redirects.opted_out_by("n065", {"n000"}) == "n000"
