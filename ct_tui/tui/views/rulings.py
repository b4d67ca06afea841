"""The rulings view: its key."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ct_tui.tui.views import View

if TYPE_CHECKING:
    from ct_tui.tui.screens.rulings import RulingsScreen


def _open() -> RulingsScreen:
    from ct_tui.tui.screens.rulings import RulingsScreen

    return RulingsScreen()


VIEW = View(
    "rulings",
    "R",
    "Rulings",
    "Every ruling, who signed it, whether it verifies, and the chain.",
    _open,
    rank=76,
)
