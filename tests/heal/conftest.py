"""Fixtures of the core's tests: desks around small brains and around the October brain."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.heal.lab import Lab
from tests.policy.brains import Case, new_case
from tests.trust.desk import Desk

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def lab(tmp_path: Path, user_dir: Path) -> Lab:
    """A desk around an empty brain with the app's schema and no config."""
    case = new_case(tmp_path)
    return Lab(case, Desk(case.folder, user_dir))


@pytest.fixture
def october_lab(october: Path, user_dir: Path) -> Lab:
    """A desk around the October brain."""
    return Lab(Case(october), Desk(october, user_dir))
