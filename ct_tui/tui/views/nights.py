"""The nights view: its key, and undoing a run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ct_tui.tui.actions import Action, Group, can_write
from ct_tui.tui.views import View

if TYPE_CHECKING:
    from ct_tui.tui.actions import Moment
    from ct_tui.tui.screens.nights import NightsScreen


def _can_undo(now: Moment) -> str:
    """It needs a run under the cursor and the right to write."""
    return can_write(now) or ("" if now.subject == "run" else "There is no run to undo.")


def _open() -> NightsScreen:
    from ct_tui.tui.screens.nights import NightsScreen

    return NightsScreen()


VIEW = View(
    "nights",
    "N",
    "Nights",
    "Every run: what it did, the trend over the nights, and undo.",
    _open,
    (
        Action(
            "nights.undo",
            ("u",),
            "undo",
            "Show what undoing this run would write; it has its own plan and its own dialog.",
            Group.WRITE,
            frozenset({"nights"}),
            _can_undo,
            rank=1,
        ),
    ),
    rank=77,
)
