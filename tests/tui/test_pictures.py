"""Pictures made of text: right in number, aligned, and readable without colour."""

from __future__ import annotations

import dataclasses
import datetime as dt

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from ct_tui.domain.census import TypeCount, TypeStatus
from ct_tui.domain.history import HistoryRow, Ledger, MergeStep, Origin
from ct_tui.domain.plan import ChangeKind
from ct_tui.domain.rulings import Alias, Entry, Ruling, State
from ct_tui.tui.text import plain
from ct_tui.tui.widgets.pictures import Parts, chain, drift_bar, flow, meter, sparkline, standing, time_line

counts = st.integers(0, 500)


def entry(seq: int, state: State = State.VALID) -> Entry:
    ruling = Ruling(seq, Alias("agent", "role"), "Because.", "ada@example.org", dt.datetime(2026, 1, 1, tzinfo=dt.UTC))
    return Entry(seq, "alias", state, "", ruling)


@given(counts, counts, counts, counts, st.sampled_from(list(TypeStatus)), st.integers(1, 60))
def test_a_bar_has_room_for_every_part(
    moving: int, asked: int, shielded: int, rest: int, status: TypeStatus, width: int
) -> None:
    count = moving + asked + shielded + rest
    row = TypeCount("x", "x", count, status, retype=moving, queue=asked, shielded=shielded)
    parts = Parts.of(row)
    assert parts.fine + parts.moving + parts.asked + parts.spared + parts.unreadable == count
    sizes = parts.cells(width)
    kinds = sum(1 for n in dataclasses.astuple(parts) if n)
    assert sum(sizes) <= max(width, kinds)
    for size, number in zip(sizes, dataclasses.astuple(parts), strict=True):
        assert bool(size) == bool(number)
    assert cell_len(plain(drift_bar(row, max(count, 1), width))) <= max(width, kinds)


def test_bars_are_told_apart_without_colour() -> None:
    declared = TypeCount("concept", "concept", 10, TypeStatus.DECLARED)
    asked = TypeCount("job", "job", 10, TypeStatus.UNDECLARED, queue=10)
    moving = TypeCount("agent", "agent", 10, TypeStatus.UNDECLARED, "role", 1, retype=10)
    mixed = TypeCount("x", "x", 10, TypeStatus.UNDECLARED, retype=4, queue=4, kept=2)
    assert plain(drift_bar(declared, 10, 10)) == "─" * 10
    assert plain(drift_bar(asked, 10, 10)) == "━" * 10
    assert plain(drift_bar(moving, 10, 10)) == "╍" * 10
    assert plain(drift_bar(mixed, 10, 10)) == "╍╍╍╍━━━━┄┄"


@pytest.mark.parametrize(
    ("row", "words"),
    [
        (TypeCount("a", "a", 1, TypeStatus.DECLARED), "✓ declared"),
        (TypeCount("a", "a", 1, TypeStatus.UNDECLARED, queue=1), "? undeclared"),
        (TypeCount("a", "a", 1, TypeStatus.UNDECLARED, "role", 3, retype=1), "→ role #3"),
        (TypeCount("Person", "Person", 1, TypeStatus.VARIANT, "person", retype=1), "≈ spelt person"),
        (TypeCount("", "", 1, TypeStatus.BLANK, queue=1), "∅ blank"),
        (TypeCount("?", b"\xff", 1, TypeStatus.UNREADABLE), "! unreadable"),
        (TypeCount("a", "a", 2, TypeStatus.UNDECLARED, kept=2), "· 2 kept"),
        (TypeCount("a", "a", 2, TypeStatus.UNDECLARED, shielded=2), "◇ 2 shielded"),
        (TypeCount("a", "a", 1, TypeStatus.UNDECLARED, legalized=4, queue=1), "+ declared by #4"),
    ],
)
def test_every_state_has_a_sign_and_a_word(row: TypeCount, words: str) -> None:
    assert plain(standing(row)) == words


def test_a_night_without_a_run_is_a_gap_and_nothing_undeclared_a_dot() -> None:
    assert plain(sparkline([8, None, 4, 0, 1], 10)) == "█ ▅·▂"
    assert plain(sparkline([1, 2, 3, 4], 2)) == "▆█"
    assert plain(sparkline([None, None], 5)) == "  "


@given(st.floats(0, 1), st.integers(1, 30))
def test_a_meter_has_its_width(value: float, width: int) -> None:
    assert cell_len(plain(meter(value, width))) == width


@pytest.mark.parametrize("width", [40, 55, 80, 120])
def test_a_stream_is_aligned_and_thick_by_its_size(width: int) -> None:
    large = plain(flow("agent", "role", ChangeKind.ALIAS, 1000, 1000, width))
    small = plain(flow("日本語のとても長いタイプ名" * 3, "document", ChangeKind.RECASE, 1, 1000, width))
    assert "━▶" in large.replace("━━", "━")
    assert "╌▶" in small.replace("╌╌", "╌")
    assert cell_len(large[: large.index("▶")]) == cell_len(small[: small.index("▶")])


def test_a_time_line_goes_from_the_mint_to_now() -> None:
    origin = Origin("ent_1", "agent", "degraded", None, 200)
    changes = tuple(HistoryRow("ent_1", "concept", "role", "queue_retype", 7, 3, "ada", 300 + n) for n in range(2))
    merges = (MergeStep(4, "ent_2", "ent_1", None, 8, "ada", 400), MergeStep(5, "ent_2", None, "ent_1", None, "", 500))
    ledger = Ledger("ent_1", "Bot", "role", ("ent_1",), (origin,), changes, (), 100, merges=merges)
    lines = [plain(line) for line in time_line(ledger)]
    assert "minted" in lines[0]
    assert "degraded from agent" in lines[2]
    assert "concept → role" in lines[4]
    assert "queue_retype · ruling #7 · run 3 by ada" in lines[5]
    assert "≡ ent_2 merged into ent_1" in lines[8]
    assert "ruling #8 · run 4 by ada" in lines[9]
    assert "≡ ent_2 stands for itself again" in lines[10]
    assert lines[-1].strip() == "╰ now role"


def test_a_broken_link_is_drawn_broken() -> None:
    entries = [entry(1), entry(2, State.TAMPERED), entry(3, State.BROKEN)]
    lines = "\n".join(plain(line) for line in chain(entries, at=2))
    assert "✓━ #1" in lines
    assert "▸ ✗━ #2" in lines
    assert lines.count("broken here") == 2
    assert "tampered" in lines


def test_a_long_chain_shows_the_links_around_one() -> None:
    lines = [plain(line) for line in chain([entry(n) for n in range(1, 101)], at=50)]
    assert "45 earlier rulings" in lines[0]
    assert "46 later rulings" in lines[-1]
    assert any("▸ ✓━ #50" in line for line in lines)
