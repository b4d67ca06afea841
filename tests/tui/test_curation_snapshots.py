"""How the views of lint and duplicates and the form of an assertion are laid out, wide and narrow."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.tui.deck import deck, make_key
from tests.tui.snapshots import check
from tests.tui.test_snapshots import SIZES, october

__all__ = ["october"]


@pytest.mark.parametrize("size", SIZES)
async def test_lint(october: Path, user_dir: Path, size: tuple[int, int]) -> None:
    make_key(october, Path(user_dir.name))
    async with deck(october, size) as d:
        await d.press("L", "right_curly_bracket")
        check(d, "lint")
        await d.press("enter")
        check(d, "lint-edge")
        await d.press("escape", "x")
        check(d, "except")


@pytest.mark.parametrize("size", SIZES)
async def test_duplicates(october: Path, user_dir: Path, size: tuple[int, int]) -> None:
    make_key(october, Path(user_dir.name))
    async with deck(october, size) as d:
        await d.press("D", "j")
        check(d, "duplicates")
        await d.press("2")
        check(d, "merge")
        await d.press("escape", "p", "1", "x", "p")
        check(d, "pile")


@pytest.mark.parametrize("size", SIZES)
async def test_assertion(october: Path, user_dir: Path, size: tuple[int, int]) -> None:
    async with deck(october, size) as d:
        await d.press("A")
        await d.type("Adrian")
        check(d, "assert-several")
        await d.press(*["backspace"] * 6)
        await d.type("Fatima")
        await d.press("enter")
        await d.type("Organization 2")
        await d.press("enter")
        check(d, "assert-relations")
        await d.press("enter")
        await d.type("https://example.org/fatima")
        check(d, "assert-conflict")
