"""The duplicates view: its key, and how cases are decided."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ct_tui.tui.actions import Action, Group, can_write, ready
from ct_tui.tui.views import View

if TYPE_CHECKING:
    from ct_tui.tui.actions import Moment
    from ct_tui.tui.screens.duplicates import DuplicatesScreen


DUPLICATES = frozenset({"duplicates"})


def _can_decide(now: Moment) -> str:
    """It needs a case under the cursor that is not ruled on yet, and the right to write."""
    reasons = {
        "group": "",
        "entity": "",
        "ruled": "A ruling makes one of them already: P shows it, R revokes it.",
    }
    return can_write(now) or reasons.get(now.subject, "There is no group under the cursor.")


def _can_sweep(now: Moment) -> str:
    """It needs groups that merge without a ruling, and the right to write."""
    return can_write(now) or (
        "" if getattr(now, "by_itself", 0) else "No group merges without a ruling: a human decides on each."
    )


def _open() -> DuplicatesScreen:
    from ct_tui.tui.screens.duplicates import DuplicatesScreen

    return DuplicatesScreen()


VIEW = View(
    "duplicates",
    "D",
    "Duplicates",
    "Groups of one name and names that are near, side by side.",
    _open,
    (
        Action(
            "duplicates.stays",
            tuple("123456789"),
            "that one stays",
            "One thing: the member with that digit stays, the others lead to it.",
            Group.DECIDE,
            DUPLICATES,
            _can_decide,
            rank=1,
        ),
        Action(
            "duplicates.choose",
            ("m",),
            "choose",
            "One thing: the member under the cursor stays, or one is chosen among all.",
            Group.DECIDE,
            DUPLICATES,
            _can_decide,
        ),
        Action(
            "duplicates.apart",
            ("x",),
            "different",
            "Different things: kept apart for good, or until a day.",
            Group.DECIDE,
            DUPLICATES,
            _can_decide,
            rank=2,
        ),
        Action(
            "duplicates.later",
            ("s",),
            "later",
            "Not now: put it last, for this session only.",
            Group.DECIDE,
            DUPLICATES,
            ready,
            rank=3,
        ),
        Action(
            "duplicates.pile",
            ("p",),
            "pile",
            "Decide now and sign later: digits and x only note it; p again signs everything noted.",
            Group.DECIDE,
            DUPLICATES,
            can_write,
            rank=4,
        ),
        Action(
            "duplicates.sweep",
            ("a",),
            "sweep",
            "Merge the groups of one name, type and summary, behind a dialog that states the counts.",
            Group.WRITE,
            DUPLICATES,
            _can_sweep,
            rank=6,
        ),
        Action(
            "duplicates.near",
            ("~",),
            "near names",
            "Search near names, too, in a brain that is too large for it to be done unasked.",
            Group.LOOK,
            DUPLICATES,
            ready,
        ),
        Action(
            "duplicates.next", ("}",), "next", "Go to the next group that waits.", Group.MOVE, DUPLICATES, ready, rank=5
        ),
        Action(
            "duplicates.previous", ("{",), "before", "Go to the group before that waits.", Group.MOVE, DUPLICATES, ready
        ),
    ),
    rank=79,
)
