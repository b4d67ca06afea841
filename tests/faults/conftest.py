"""Fixtures of the fault tests: the desk of the core's tests."""

from __future__ import annotations

from tests.heal.conftest import lab, october_lab

__all__ = ["lab", "october_lab"]
