"""Fixtures shared by all tests: a fresh copy of the October brain and an isolated user folder."""

from __future__ import annotations

import shutil
import signal
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType

# The same examples in every run, so that a change is what makes a test fail; `make faults` looks for new ones.
settings.register_profile("steady", derandomize=True, deadline=None)
settings.register_profile("searching", deadline=None, max_examples=1000)
settings.load_profile("steady")

DATA = Path(__file__).parent / "data"


@pytest.fixture
def october(tmp_path: Path) -> Path:
    """A folder with its own copy of the October brain: brain.db and config.json."""
    folder = tmp_path / "brain"
    shutil.copytree(DATA / "october", folder)
    return folder


@pytest.fixture(autouse=True)
def user_dir(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty user folder for keys and trust, and an environment without the tester's own settings."""
    folder = tmp_path / "user"
    folder.mkdir()
    for name in (
        "CURATED_BRAIN_DB",
        "CURATED_BRAIN_DIR",
        "CURATED_BRAIN_CONFIG",
        "CT_TUI_ALIASES",
        "CT_TUI_PASSPHRASE",
    ):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("CT_TUI_CONFIG_DIR", str(folder))
    return folder


PATIENCE = 180.0
"""Seconds after which a test that hangs fails, instead of holding up all the others."""


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    """Let a test that waits for ever fail by an alarm; the long fault runs and the measurements may take their time."""
    if item.get_closest_marker("faults") or item.get_closest_marker("bench"):
        yield
        return

    def hung(signum: int, frame: FrameType | None) -> None:
        pytest.fail(f"it did not end within {PATIENCE:.0f} seconds")

    before = signal.signal(signal.SIGALRM, hung)
    signal.setitimer(signal.ITIMER_REAL, PATIENCE)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
