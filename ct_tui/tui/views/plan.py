"""The plan view: its key, and the one key that writes the brain."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ct_tui.tui.actions import Action, Group, can_write
from ct_tui.tui.views import View

if TYPE_CHECKING:
    from ct_tui.tui.actions import Moment
    from ct_tui.tui.screens.plan import PlanScreen


def _can_apply(now: Moment) -> str:
    """It needs a plan that writes something, and the right to write."""
    refusal = can_write(now)
    if refusal:
        return refusal
    if now.drift_waits:
        return "The policy drifted since the last heal: O, then c confirms it, w waives it this once."
    return "" if now.subject != "empty" else "The plan is empty: there is nothing to write."


def _open() -> PlanScreen:
    from ct_tui.tui.screens.plan import PlanScreen

    return PlanScreen()


VIEW = View(
    "plan",
    "P",
    "Plan",
    "What heal would write, row by row, and what it would leave alone.",
    _open,
    (
        Action(
            "plan.apply",
            ("a",),
            "apply",
            "Write the plan into the brain, behind a dialog that states the counts.",
            Group.WRITE,
            frozenset({"plan"}),
            _can_apply,
            rank=1,
        ),
    ),
    rank=61,
)
