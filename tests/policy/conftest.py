"""Fixtures for the policy cases."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.policy.brains import Case, new_case

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def case(tmp_path: Path) -> Case:
    """An empty brain with the app's schema."""
    return new_case(tmp_path)
