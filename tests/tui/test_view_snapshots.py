"""How the edges and policy views are laid out, wide and narrow; what they do is tested elsewhere."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.tui.deck import deck, make_key
from tests.tui.snapshots import check
from tests.tui.test_snapshots import SIZES, october

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["october"]


@pytest.mark.parametrize("size", SIZES)
async def test_edges(october: Path, user_dir: Path, size: tuple[int, int]) -> None:
    from pathlib import Path

    make_key(october, Path(user_dir.name))
    async with deck(october, size) as d:
        await d.press("E")
        check(d, "edges")
        await d.press("1")
        check(d, "repair")
        await d.press("enter", "g", "t")
        check(d, "edges-after")
        await d.press("t", "g", "}", "enter")
        check(d, "edge")
        await d.press("g", "enter", "z")
        check(d, "edge-map")


@pytest.mark.parametrize("size", SIZES)
async def test_policy(october: Path, user_dir: Path, size: tuple[int, int]) -> None:
    config = october / "config.json"
    config.write_text(
        '{"ingest": {"folder_ontology": {"immutable-source-files/ops": "off", '
        '"immutable-source-files/people": "strict"}}}',
        encoding="utf-8",
    )
    async with deck(october, size) as d:
        await d.press("O")
        check(d, "policy")
        await d.press("j", "j", "s")
        check(d, "policy-change")
        await d.press("escape", "+")
        check(d, "policy-folder")
