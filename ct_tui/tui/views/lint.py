"""The lint view: its key, and what can be done with findings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ct_tui.tui.actions import Action, Group, always, can_write
from ct_tui.tui.views import View

if TYPE_CHECKING:
    from ct_tui.tui.actions import Moment
    from ct_tui.tui.screens.lint import LintScreen


LINT = frozenset({"lint"})


def _can_except(now: Moment) -> str:
    """It needs a finding that a ruling can accept, and the right to write."""
    reasons = {
        "finding": "",
        "rule-failed": "A rule that could not run cannot be excepted: what it looks for is not known.",
        "excepted": "A ruling accepts it already; u revokes that ruling.",
        "rule": "Exceptions are made finding by finding: tab goes to them.",
    }
    return can_write(now) or reasons.get(now.subject, "There is no finding under the cursor.")


def _can_revoke(now: Moment) -> str:
    """It needs a finding that a ruling accepts."""
    return can_write(now) or (
        "" if now.subject == "excepted" else "Only an exception can be revoked here: } leads to those in force."
    )


def _open() -> LintScreen:
    from ct_tui.tui.screens.lint import LintScreen

    return LintScreen()


VIEW = View(
    "lint",
    "L",
    "Lint",
    "What the curation rules find, by rule and severity.",
    _open,
    (
        Action(
            "lint.except",
            ("x",),
            "except",
            "Sign an exception: this finding is seen and accepted, for good or until a day.",
            Group.DECIDE,
            LINT,
            _can_except,
            rank=1,
        ),
        Action(
            "lint.revoke",
            ("u",),
            "revoke",
            "Revoke the exception that accepts this finding.",
            Group.DECIDE,
            LINT,
            _can_revoke,
        ),
        Action(
            "lint.next-rule",
            ("}",),
            "next rule",
            "Only the findings of the next rule.",
            Group.MOVE,
            LINT,
            always,
            rank=2,
        ),
        Action(
            "lint.previous-rule",
            ("{",),
            "rule before",
            "Only the findings of the rule before.",
            Group.MOVE,
            LINT,
            always,
        ),
        Action(
            "lint.severity",
            ("!",),
            "severity",
            "Only errors, only warnings, only hints, or all.",
            Group.MOVE,
            LINT,
            always,
            rank=3,
        ),
        Action(
            "lint.new",
            ("+",),
            "only new",
            "Only what the last night did not see, or all again.",
            Group.MOVE,
            LINT,
            always,
            rank=4,
        ),
    ),
    rank=79,
)
