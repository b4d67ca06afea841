"""The edges view: its key, and what can be done about edges that are open."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ct_tui.tui.actions import Action, Group, can_write, ready
from ct_tui.tui.views import View

if TYPE_CHECKING:
    from ct_tui.tui.actions import Moment
    from ct_tui.tui.screens.edges import EdgesScreen


EDGES = frozenset({"edges"})


def can_repair(now: Moment) -> str:
    """It needs open edges under the cursor, or marked ones, and the right to write."""
    return can_write(now) or now.closed


def _open() -> EdgesScreen:
    from ct_tui.tui.screens.edges import EdgesScreen

    return EdgesScreen()


VIEW = View(
    "edges",
    "E",
    "Edges",
    "Edges by kind and state, worst first, now or after the plan, with their repairs.",
    _open,
    (
        Action(
            "edge.take",
            tuple("123456789"),
            "repair",
            "Take that repair for the kind of edge, the edge, or the marked edges: a ruling to read, then sign.",
            Group.DECIDE,
            EDGES,
            can_repair,
            rank=1,
        ),
        Action(
            "edge.keep",
            ("x",),
            "keep",
            "Leave these edges as they are: a ruling that takes them out of the queue.",
            Group.DECIDE,
            EDGES,
            can_repair,
            rank=2,
        ),
        Action(
            "edge.declare",
            ("+",),
            "declare",
            "Declare the undeclared type at an end, with the edge signatures that it joins.",
            Group.DECIDE,
            EDGES,
            can_write,
            rank=3,
        ),
        Action(
            "edge.toggle",
            ("t",),
            "now or after",
            "Show the matrix as it is now, or as the plan leaves it.",
            Group.LOOK,
            EDGES,
            ready,
            rank=4,
        ),
    ),
    rank=76,
)
