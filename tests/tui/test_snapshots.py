"""How the main views are laid out, wide and narrow; what they do is tested elsewhere."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from ct_tui.domain.rulings import Alias
from tests.tui.deck import deck, make_key
from tests.tui.snapshots import check
from tests.tui.test_plan import FOUNDING, apply, rule

SIZES = [(120, 40), (80, 24)]


@pytest.fixture
def october(october: Path, user_dir: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The brain by a relative path, so that places look the same on every machine; times are UTC's."""
    monkeypatch.chdir(october.parent)
    monkeypatch.setenv("CT_TUI_CONFIG_DIR", user_dir.name)
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    return october.relative_to(october.parent)


@pytest.mark.parametrize("size", SIZES)
async def test_desk(october: Path, user_dir: Path, size: tuple[int, int]) -> None:
    async with deck(october, size) as d:
        await d.press("j")
        check(d, "desk")
        await d.press("l", "j", "j", "space")
        check(d, "desk-group")
        await d.press("escape", "C", "g")
        check(d, "census")
        await d.press("/")
        await d.type("pro")
        check(d, "filter")


@pytest.mark.parametrize("size", SIZES)
async def test_ruling(october: Path, user_dir: Path, size: tuple[int, int]) -> None:
    make_key(october, Path(user_dir.name))
    async with deck(october, size) as d:
        await d.press("j", "1")
        check(d, "ruling")
        await d.press("escape", "x")
        check(d, "keep")
        await d.press("escape", "f")
        check(d, "adopt")


@pytest.mark.parametrize("size", SIZES)
async def test_key(october: Path, user_dir: Path, size: tuple[int, int]) -> None:
    async with deck(october, size) as d:
        await d.press("j", "1", "enter")
        check(d, "key")


@pytest.mark.parametrize("size", SIZES)
async def test_plan_and_what_follows(october: Path, user_dir: Path, size: tuple[int, int]) -> None:
    rule(october, Path(user_dir.name), *FOUNDING)
    async with deck(october, size) as d:
        await d.press("P")
        check(d, "plan")
        await d.press("a")
        check(d, "confirm")
        await d.press("escape")
        await apply(d)
        await d.press("R")
        check(d, "rulings")
        await d.press("N")
        check(d, "nights")
        await d.press("H")
        check(d, "history")


@pytest.mark.parametrize("size", SIZES)
async def test_help_and_reading(october: Path, user_dir: Path, size: tuple[int, int]) -> None:
    async with deck(october, size) as d:
        await d.press("?")
        check(d, "help")
        await d.press("escape", "j", "w")
        check(d, "why")


async def test_light_and_terminal_colours(october: Path, user_dir: Path) -> None:
    async with deck(october) as d:
        d.app.theme = "ct-light"
        await d.settle()
        check(d, "desk-light")
        d.app.theme = "ansi-dark"
        await d.settle()
        check(d, "desk-ansi")


async def test_distrust_and_no_room(october: Path, user_dir: Path) -> None:
    rule(october, Path(user_dir.name), Alias("agent", "role"))
    file = october / "aliases" / "rulings.yaml"
    file.write_text(file.read_text().replace('"role"', '"person"'))
    async with deck(october, (80, 24)) as d:
        await d.press("R")
        check(d, "distrust")
    async with deck(october, (39, 9)) as d:
        check(d, "no-room")
