"""The comparison keys, against the app's own rules."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ct_tui.domain.alphabetic import is_other_alphabetic
from ct_tui.domain.names import label_key, merge_key, skeleton, trim


@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("Intent (x)", "intent x"),
        (" Café—Olga! ", "café olga"),
        ("Cafe\u0301", "cafe"),
        ("ΣΑΣ", "σασ"),
        ("İd", "i\u0307d"),
        ("Straße 5½", "straße 5½"),
        ("Ⅷ. Ⓐ ①", "ⅷ ⓐ ①"),
        ("कुमार", "कुमार"),
        ("कूमार", "कूमार"),
        ("מִרְיָם", "מִרְיָם"),
        ("!!! …", ""),
        ("", ""),
        ("a\u00a0b\u200bc_d", "a b c d"),
        ("東京 (Tokyo)", "東京 tokyo"),
    ],
)
def test_the_key_of_a_name(name: str, key: str) -> None:
    assert merge_key(name) == key


def test_vowel_signs_tell_names_apart_and_accents_do_not() -> None:
    assert merge_key("कुमार") != merge_key("किमार") != merge_key("कमार")
    assert merge_key("e\u0301") == merge_key("e\u0300") == "e"


def test_letters_and_numbers_are_in_no_need_of_the_table() -> None:
    for code in range(0x3000):
        char = chr(code)
        if is_other_alphabetic(char):
            assert not char.isalpha()
            assert unicodedata.category(char) in {"Mn", "Mc", "So", "Cn"}


def _slow_key(name: str) -> str:
    parts: list[str] = []
    gap = False
    for char in name:
        if char.isalpha() or unicodedata.category(char) in {"Nd", "Nl", "No"} or is_other_alphabetic(char):
            parts += [" "] if gap and parts else []
            parts.append(char.lower())
            gap = False
        else:
            gap = True
    return "".join(parts)


@given(st.text())
def test_the_key_is_made_character_by_character(name: str) -> None:
    assert merge_key(name) == _slow_key(name)


@given(st.text())
def test_keys_are_stable(name: str) -> None:
    assert merge_key(merge_key(name)) == merge_key(name) or "İ" in name
    assert label_key(label_key(name)) == label_key(name) or "İ" in name
    assert trim(trim(name)) == trim(name)


@pytest.mark.parametrize(
    ("one", "other"),
    [("Аdrian", "adrian"), ("Adrian\u200b", "Adrian"), ("Zoe\u0308", "Zoë"), ("ｐｅｒｓｏｎ", "person"), (" x ", "x")],
)
def test_look_alikes_have_one_skeleton(one: str, other: str) -> None:
    assert skeleton(one) == skeleton(other)


@pytest.mark.parametrize(("one", "other"), [("Café", "Cafe"), ("person", "persons"), ("a b", "ab")])
def test_other_words_have_another(one: str, other: str) -> None:
    assert skeleton(one) != skeleton(other)
