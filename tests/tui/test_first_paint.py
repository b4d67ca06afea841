"""What the first paint may import: the desk and the words it draws, and nothing that opens, signs or judges."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from textual.css.stylesheet import Stylesheet

from ct_tui.domain.duplicates import Queued
from ct_tui.domain.lint.model import Severity
from ct_tui.domain.queue import ItemKind
from ct_tui.domain.rulings import State
from ct_tui.tui.signs import KIND_SIGNS, QUEUED_WORDS, SEVERITY_SIGNS, STATE_SIGNS
from ct_tui.tui.views import find_views
from tests.tui.deck import deck

if TYPE_CHECKING:
    from pathlib import Path

DESK = """
import sys
import ct_tui.tui.app
from ct_tui.tui.views import find_views
for view in find_views():
    if view.name == "desk":
        view.open()
print("\\n".join(sys.modules))
"""


@pytest.fixture(scope="module")
def imported() -> frozenset[str]:
    """Every module that stands in memory when the desk is first painted."""
    done = subprocess.run([sys.executable, "-c", DESK], check=True, capture_output=True, text=True)
    return frozenset(done.stdout.split())


@pytest.mark.parametrize(
    "late",
    [
        "peewee",
        "ruamel",
        "cryptography",
        "sshsig",
        "rapidfuzz",
        "rfc8785",
        "sqlite3",
        "tomllib",
        "textual.widgets._text_area",
    ],
)
def test_the_desk_is_painted_before_heavy_libraries_are_imported(imported: frozenset[str], late: str) -> None:
    assert late not in imported


@pytest.mark.parametrize("room", ["brain", "trust", "policy", "heal"])
def test_the_desk_is_painted_before_the_core_is_imported(imported: frozenset[str], room: str) -> None:
    assert [name for name in imported if name.startswith(f"ct_tui.{room}.")] == []


def test_of_the_rules_only_the_records_that_the_desk_lists_are_imported_first(imported: frozenset[str]) -> None:
    rules = {name.removeprefix("ct_tui.domain.") for name in imported if name.startswith("ct_tui.domain.")}
    assert rules <= {"alphabetic", "census", "errors", "history", "names", "queue", "visible"}


def test_other_views_and_every_dialog_are_imported_when_they_are_opened(imported: frozenset[str]) -> None:
    screens = {name.rpartition(".")[2] for name in imported if name.startswith("ct_tui.tui.screens.")}
    assert screens <= {"base", "deciding", "desk", "looking"}
    assert [name for name in imported if name.startswith("ct_tui.tui.dialogs.")] == []


WARM = """
import asyncio, sys
from pathlib import Path
from ct_tui.tui.app import later_modules
from tests.tui.deck import deck

async def main():
    async with deck(Path(sys.argv[1])) as d:
        await d.until(lambda: d.app._warm and d.app._warming.idle)
        print(sorted(set(later_modules()) - set(sys.modules)), len(later_modules()))

asyncio.run(main())
"""


def test_what_keys_open_is_imported_once_everything_was_read(october: Path, user_dir: Path) -> None:
    env = {**os.environ, "CT_TUI_CONFIG_DIR": str(user_dir)}
    command = [sys.executable, "-c", WARM, str(october)]
    done = subprocess.run(command, check=True, capture_output=True, text=True, env=env)
    missing, _, count = done.stdout.strip().rpartition(" ")
    assert missing == "[]"
    assert int(count) > len(find_views())


async def test_an_import_that_fails_is_said(october: Path) -> None:
    async with deck(october) as d:
        d.app._warming.put(lambda: d.app._import("ct_tui.tui.dialogs.no_such_dialog"))
        await d.until(lambda: "no_such_dialog" in d.said)


async def test_what_dialogs_and_views_are_styled_with_is_read_once_after_the_first_paint(
    october: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    anew: list[str] = []
    monkeypatch.setattr(Stylesheet, "reparse", lambda sheet: anew.append(str(sheet)))
    async with deck(october) as d:
        for view in find_views():
            if view.key:
                await d.press(view.key)
                assert d.front == view.name
        await d.press("?")
        assert d.front == "ReadingDialog"
        assert d.app.screen.query_one("#box").styles.border_top[0] == "round"
    assert anew == []


def test_every_view_opens_the_screen_of_its_own_name() -> None:
    views = find_views()
    assert {view.name: view.open().VIEW for view in views} == {view.name: view.name for view in views}


def test_there_is_a_sign_for_every_state() -> None:
    assert list(STATE_SIGNS) == [state.value for state in State]
    assert set(KIND_SIGNS) == {kind.value for kind in ItemKind}
    assert list(SEVERITY_SIGNS) == [severity.value for severity in Severity]
    assert set(QUEUED_WORDS) == {queued.value for queued in Queued}
