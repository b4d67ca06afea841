"""Layout snapshots: the screen as SVG, with what differs from run to run made the same."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.tui.deck import Deck

FOLDER = Path(__file__).parent / "snapshots"
UPDATE = "UPDATE_SNAPSHOTS"
"""Set in the environment, it makes the tests write the snapshots instead of comparing them."""

_SAME = (
    (re.compile(r"terminal-\d+"), "terminal"),
    (re.compile(r"\d{4}-\d\d-\d\d(&#160;| )\d\d:\d\d"), r"2026-01-01\g<1>00:00"),
    (re.compile(r"\b\d\d-\d\d(&#160;| )\d\d:\d\d"), r"01-01\g<1>00:00"),
    (re.compile(r"brain-\d{4}-\d\d-\d\d"), "brain-2026-01-01"),
    (re.compile(r"\b(?!ent_)[0-9a-f]{12,64}\b"), lambda m: "0" * len(m.group(0))),
    (re.compile(r"SHA256:[A-Za-z0-9+/]{10,43}"), lambda m: "SHA256:" + "A" * (len(m.group(0)) - 7)),
)


def same(svg: str) -> str:
    """A screenshot without random ids, times and hashes."""
    for pattern, instead in _SAME:
        svg = pattern.sub(instead, svg)
    return svg


def check(d: Deck, name: str) -> None:
    """Compare the screen with its snapshot, or write it."""
    size = f"{d.app.size.width}x{d.app.size.height}"
    file = FOLDER / f"{name}-{size}.svg"
    found = same(d.app.export_screenshot(title="ct-tui"))
    if os.environ.get(UPDATE):
        FOLDER.mkdir(exist_ok=True)
        file.write_text(found, encoding="utf-8")
        return
    assert file.exists(), f"no snapshot {file.name}: run the tests with {UPDATE}=1 and look at it"
    stored = file.read_text(encoding="utf-8")
    assert words(found) == words(stored), f"{file.name} differs in its words:\n{d.text}"
    assert found == stored, f"{file.name} differs in its colours"


def words(svg: str) -> list[str]:
    """The texts of a screenshot, for a difference that can be read."""
    return [part.replace("&#160;", " ") for part in re.findall(r"<text[^>]*>(.*?)</text>", svg)]
