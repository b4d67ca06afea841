"""Tables for a person: aligned, and not stretched by one cell that is far too long."""

from __future__ import annotations

from ct_tui.cli.text import table


def test_columns_are_as_wide_as_their_widest_cell() -> None:
    rows = [("a", "1", "one"), ("bcd", "22", "two")]
    assert table(rows, ("name", "n", "word"), right=(1,)) == ["  name   n  word", "  a      1  one", "  bcd   22  two"]


def test_one_monster_stretches_no_other_line() -> None:
    rows = [("a", "one"), ("x" * 5_000, "two"), ("bcd", "three")]
    assert table(rows, width=80) == ["  a    one", f"  {'x' * 5_000}  two", "  bcd  three"]


def test_the_last_column_keeps_its_room_beside_a_monster() -> None:
    lines = table([("a", "some words that fit " * 3), ("x" * 5_000, "short")], width=80)
    assert lines[0] == "  a  " + ("some words that fit " * 3)
