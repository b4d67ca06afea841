"""Hostile text becomes inert, visible and aligned."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len

from ct_tui.domain.visible import cell_width, cut, excerpt, graphemes, pad, visible, wrap

HOSTILE = "\u200d\ufe0f\u2060\u202e\u0301\x1b\x9b\x07\0 \t\n[/]@日한\u1161👩❤🔥🇩🇪👍\U0001f3fd1\u20e3اب‹›"
texts = st.text(st.one_of(st.sampled_from(HOSTILE), st.characters(exclude_categories=[])), max_size=14)


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        ("person", "person"),
        ("[/", "[/"),
        ("[@click=app.quit]ok[/]", "[@click=app.quit]ok[/]"),
        ("\x1b]52;c;aGk=\x07", "␛]52;c;aGk=␇"),
        ("a\x9b2J", "a‹U+009B›2J"),
        ("a\u202eb", "a‹U+202E›b"),
        ("a\u2060b", "a‹U+2060›b"),
        ("per\u200bson", "per‹U+200B›son"),
        ("a\0b", "a␀b"),
        ("a\nb", "a␊b"),
        ("a\u2028b", "a‹U+2028›b"),
        ("", "‹blank›"),
        ("  ", "‹blank ␣␣›"),
        ("\xa0\n", "‹blank ␣␊›"),
        (" person ", "␣person␣"),
        (None, "‹NULL›"),
        (12, "12"),
        (b"ab\xff", "ab‹0xFF›"),
        ("\ud800", "‹U+D800›"),
        ("👩\u200d💻", "👩⁀💻"),
        ("❤\ufe0f", "❤ᵛ"),
        ("a\ufe0f", "a‹U+FE0F›"),
        ("🇩🇪", "‹flag DE›"),
        ("\u0301a", "◌\u0301a"),
        ("e" + "\u0301" * 9, "e" + "\u0301" * 5 + "‹+4 marks›"),
        ("日本", "日本"),
        ("\u3164", "‹U+3164›"),
        ("\ud7c7", "‹U+D7C7›"),
        ("a\ud7fc", "a‹U+D7FC›"),
    ],
)
def test_what_is_shown(raw: str | bytes | int | None, shown: str) -> None:
    assert visible(raw) == shown


@given(texts)
@settings(max_examples=1500)
def test_nothing_that_steers_a_terminal_is_left(text: str) -> None:
    for char in visible(text):
        assert unicodedata.category(char) not in {"Cc", "Cf", "Cs", "Cn", "Co", "Zl", "Zp"}, ascii(char)


@given(texts, st.integers(0, 12))
@settings(max_examples=1500)
def test_widths_are_those_the_screen_library_uses(text: str, width: int) -> None:
    shown = visible(text)
    assert cell_width(shown) == cell_len(shown)
    assert cell_len(pad(shown, width)) == width
    assert cell_len(cut(shown, width)) <= width
    assert "".join(graphemes(shown)) == shown


def test_every_character_alone_keeps_columns_aligned() -> None:
    for point in range(0x20, 0x110000):
        shown = visible(f"x{chr(point)}y")
        assert cell_width(shown) == cell_len(shown), hex(point)


def test_running_text_keeps_its_lines() -> None:
    assert visible("a\r\n\tb\x1b", newlines=True) == "a\n    b␛"


@pytest.mark.parametrize(
    ("text", "width", "expected"),
    [
        ("person", 6, "person"),
        ("person", 5, "pers…"),
        ("日本語", 5, "日本…"),
        ("日本語", 4, "日…"),
        ("a👩⁀👩⁀👧b", 6, "a…"),
        ("e\u0301e\u0301e\u0301", 2, "e\u0301…"),
        ("a‹U+202E›b", 6, "a…"),
        ("person", 1, "…"),
        ("person", 0, ""),
    ],
)
def test_cuts_between_graphemes(text: str, width: int, expected: str) -> None:
    assert cut(text, width) == expected


def test_a_cell_of_five_megabytes_is_cut_before_any_work() -> None:
    for text in ("a" * 5_000_000, "e\u0301" * 2_500_000, "\x1b[" * 2_500_000, "\u200d" * 5_000_000):
        shown = excerpt(text, 40)
        assert cell_width(shown) <= 40
        assert shown.endswith("…")


@given(st.text(st.sampled_from("ab 日👩⁀\n‹›e\u0301"), max_size=40), st.integers(8, 20))
def test_wrapping_loses_no_word(text: str, width: int) -> None:
    shown = visible(text, newlines=True)
    lines = wrap(shown, width)
    assert all(cell_width(line) <= width or len(list(graphemes(line))) == 1 for line in lines)
    assert "".join("".join(lines).split()) == "".join(shown.split())
