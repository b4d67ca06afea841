"""Fixtures of the trust tests."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.trust.desk import Desk

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def desk(tmp_path: Path, user_dir: Path) -> Desk:
    """A curator with a trusted key and a table that does not exist yet."""
    return Desk(tmp_path / "brain", user_dir)
