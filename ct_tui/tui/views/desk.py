"""The desk: the view that the workstation opens with."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ct_tui.tui.views import View

if TYPE_CHECKING:
    from ct_tui.tui.screens.desk import DeskScreen


def _open() -> DeskScreen:
    from ct_tui.tui.screens.desk import DeskScreen

    return DeskScreen()


VIEW = View("desk", "", "Desk", "Census, queue and history with the detail beside them.", _open)
