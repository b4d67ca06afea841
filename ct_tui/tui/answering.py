"""From a question about duplicates or findings to what answers it; the desk and the views of their own share it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ct_tui.domain.errors import BadInput
from ct_tui.domain.queue import ItemKind

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ct_tui.domain.lint.model import Finding
    from ct_tui.domain.queue import QueueItem
    from ct_tui.tui.app import Workstation
    from ct_tui.tui.cases import Case
    from ct_tui.tui.dialogs.ruling import Decided, RulingDialog


def merge_dialog(items: Sequence[QueueItem], stays: int | str, done: Callable[[Decided], None]) -> RulingDialog:
    """The dialog that makes one thing of a group: of the member at an index, or with an id.

    Of several groups each becomes its own member of that number, and all are signed together. Raises BadInput.
    """
    from ct_tui.tui.cases import Decision
    from ct_tui.tui.dialogs.merge import MergeDialog, PileDialog

    cases = [_case(item) for item in items]
    if len(cases) == 1:
        case = cases[0]
        return MergeDialog(case, at=case.ids[stays] if isinstance(stays, int) else stays, done=done)
    at = stays if isinstance(stays, int) else 0
    short = next((case for case in cases if at >= len(case.ids)), None)
    if short is not None:
        raise BadInput(
            f"{short.name} has no member {at + 1}: there are {len(short.ids)}.", "1 takes the first of each."
        )
    return PileDialog([Decision(case, case.ids[at]) for case in cases], done=done)


def accept_dialog(items: Sequence[QueueItem], done: Callable[[Decided], None]) -> RulingDialog:
    """The dialog that leaves things as they are: members kept apart, findings excepted; raises BadInput."""
    from ct_tui.tui.cases import Decision
    from ct_tui.tui.dialogs.exempt import ExceptDialog
    from ct_tui.tui.dialogs.merge import ApartDialog, PileDialog

    if all(item.kind is ItemKind.FINDING for item in items):
        return ExceptDialog([f for item in items for f in _findings(item)], done=done)
    cases = [_case(item) for item in items]
    if len(cases) == 1:
        return ApartDialog(cases[0], done=done)
    return PileDialog([Decision(case, None) for case in cases], done=done)


def _case(item: QueueItem) -> Case:
    from ct_tui.tui.cases import case_of

    if item.kind is not ItemKind.DUPLICATE:
        raise BadInput(f"{item.label} is no duplicate group.", "Mark only questions of one kind.")
    case = case_of(item)
    if case is None:
        raise BadInput("The names of a brain of this size are not compared in the queue.", "D compares them.")
    return case


def _findings(item: QueueItem) -> Sequence[Finding]:
    found: Sequence[Finding] = item.data.get("findings", ())
    if not found:
        raise BadInput("A brain of this size is not looked at in the queue.", "L looks at it.")
    if item.count > len(found):
        raise BadInput(f"{item.count:,} findings are too many for one ruling.", "L shows them: mark some there.")
    return found


async def open_lint(station: Workstation, item: QueueItem | None) -> None:
    """Bring the lint view to the front, on the rule that a question is about."""
    from ct_tui.tui.screens.lint import LintScreen

    await _open(station, "lint")
    screen = station.screen
    if item is not None and isinstance(screen, LintScreen):
        screen.show_rule(item.key)


async def open_duplicates(station: Workstation, item: QueueItem | None) -> None:
    """Bring the duplicates view to the front, on the group that a question is about."""
    from ct_tui.tui.screens.duplicates import DuplicatesScreen

    await _open(station, "duplicates")
    screen = station.screen
    if item is not None and isinstance(screen, DuplicatesScreen):
        screen.show_case(item.id)


async def _open(station: Workstation, name: str) -> None:
    mounted = station.show_view(name)
    if mounted is not None:
        await mounted
