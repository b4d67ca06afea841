"""From a question about edges to the dialog that answers it; the desk and the edges view share it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ct_tui.domain.errors import BadInput
from ct_tui.domain.queue import ItemKind
from ct_tui.tui.text import counted, say

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ct_tui.domain.queue import QueueItem
    from ct_tui.domain.rulings import Body
    from ct_tui.heal.edge_matrix import Names
    from ct_tui.heal.edge_weigh import Weighed
    from ct_tui.heal.workbench import Workbench
    from ct_tui.tui.dialogs.decide import DeclareDialog
    from ct_tui.tui.dialogs.repair import RepairDialog
    from ct_tui.tui.dialogs.ruling import Decided
    from ct_tui.tui.session import Session


def asks_about_edges(item: QueueItem) -> bool:
    """Whether a question is answered with a repair of its edges."""
    return item.kind is ItemKind.EDGE and "violation" in item.data


def names_of_item(item: QueueItem) -> Names:
    """Edge type and end types of a question about edges."""
    violation = item.data["violation"]
    return violation.edge_type, violation.source_type, violation.target_type


def words_of(names: Names) -> str:
    """A kind of edge in words, as reasons and notes name it."""
    edge_type, source, target = names
    return f"{source or '?'} {edge_type} {target or '?'}"


def repair_dialog(
    names: Names,
    count: int,
    *,
    weigh: Callable[[Workbench], tuple[int, Sequence[Weighed]]],
    make: Callable[[Workbench, str], tuple[Body, ...]],
    done: Callable[[Decided], None],
    at: str | int,
) -> RepairDialog:
    """The dialog for edges of one kind."""
    from ct_tui.tui.dialogs.repair import RepairDialog
    from ct_tui.tui.widgets.edgepictures import arrow_words

    title = (*arrow_words(*names), say(" · ", "dim"), counted(count, "edge", ink="dim"))
    return RepairDialog(*title, what=words_of(names), weigh=weigh, make=make, done=done, at=at)


def item_dialog(item: QueueItem, done: Callable[[Decided], None], at: str | int) -> RepairDialog:
    """The dialog for a question of the queue; raises BadInput for the sum of those that are not listed yet."""
    if not asks_about_edges(item):
        raise BadInput(f"{item.label}: no single repair answers this.", "The worst kinds come first; E lists them all.")
    return repair_dialog(
        names_of_item(item),
        item.count,
        weigh=lambda bench: (item.count, bench.edge_desk.weigh_item(item)),
        make=lambda bench, choice: bench.settle(item, choice),
        done=done,
        at=at,
    )


def declare_dialog(names: Names, session: Session, done: Callable[[Decided], None]) -> DeclareDialog:
    """The dialog that declares an end's undeclared type, which joins this edge; raises BadInput where there is none."""
    from ct_tui.domain.manifest import EdgeType
    from ct_tui.tui.dialogs.decide import DeclareDialog

    vocabulary = session.vocabulary
    if vocabulary is None:
        raise BadInput("The vocabulary is still being read.")
    edge_type, source, target = names
    for label in (source, target):
        item = session.question_of(label) if label is not None and label not in vocabulary else None
        if item is not None:
            return DeclareDialog(item, vocabulary, done=done, joins=(EdgeType(edge_type, source, target),))
    raise BadInput("No type at the ends waits to be declared.", "Widening the signature may be among the repairs.")
