"""The README shows what is so: its generated blocks are up to date and its links lead somewhere."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pytest

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "README.md").read_text(encoding="utf-8")


def test_generated_blocks_are_up_to_date(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "tools"))
    readme = __import__("readme")
    try:
        assert readme.filled(TEXT) == TEXT, "run: make readme"
    finally:
        sys.modules.pop("readme", None)


def test_it_begins_with_the_two_commands() -> None:
    first = re.search(r"```sh\n(.*?)```", TEXT, re.DOTALL)
    assert first is not None
    commands = [line.split("#")[0].strip() for line in first[1].splitlines()]
    assert commands == ["make demo", "make test"]


def test_every_local_link_and_picture_is_there() -> None:
    targets = re.findall(r"\]\((?!https?:)([^)#]+)\)", TEXT)
    assert targets
    assert [t for t in targets if not (ROOT / t).exists()] == []
