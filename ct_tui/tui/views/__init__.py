"""The views, one a file. A module here that defines `VIEW` is a view: its key, name and actions join the registry.

To add a view, add a module with a `VIEW`; nothing else needs to know of it. What a view looks like stands in
`ct_tui.tui.screens` and is imported when it is first opened, so that the first paint waits for the desk alone.
"""

from __future__ import annotations

import importlib
import pkgutil
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from ct_tui.tui.actions import Action
    from ct_tui.tui.screens.base import ViewScreen


@dataclass(frozen=True)
class View:
    """One view: `name` is what actions say they apply in, `key` opens it, `open` makes its screen.

    `rank` orders it in the footer. `key` is empty for the screen that the workstation opens with.
    """

    name: str
    key: str
    title: str
    help: str
    open: Callable[[], ViewScreen]
    actions: tuple[Action, ...] = ()
    rank: int = 80


def find_views() -> tuple[View, ...]:
    """Every view there is, in the order of their names."""
    names = sorted(module.name for module in pkgutil.iter_modules(__path__))
    modules = (importlib.import_module(f"{__name__}.{name}") for name in names)
    return tuple(module.VIEW for module in modules if hasattr(module, "VIEW"))
