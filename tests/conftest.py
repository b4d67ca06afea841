"""Fixtures shared by all tests: a fresh copy of the October brain and an isolated user folder."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

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
