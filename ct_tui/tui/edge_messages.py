"""What lanes tell the edges view and the repair dialog."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.message import Message

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ct_tui.domain.census import RawText
    from ct_tui.domain.errors import CtTuiError
    from ct_tui.domain.manifest import EdgeType
    from ct_tui.heal.edge_desk import CellDossier, DeskEdge, Dossier
    from ct_tui.heal.edge_weigh import Weighed
    from ct_tui.tui.widgets.edgerows import Laid


class MapRead(Message):
    """The matrix is known, now and after the plan, and laid out for the screen."""

    def __init__(self, laid: Laid) -> None:
        super().__init__()
        self.laid = laid


class EdgesRead(Message):
    """Some edges of a cell are known."""

    def __init__(self, group: str, offset: int, rows: Sequence[DeskEdge]) -> None:
        super().__init__()
        self.group = group
        self.offset = offset
        self.rows = rows


class CellRead(Message):
    """Why the edges of a cell are what they are is known; `key` is the row's that asked."""

    def __init__(self, key: str, dossier: CellDossier) -> None:
        super().__init__()
        self.key = key
        self.dossier = dossier


class EdgeRead(Message):
    """Everything about one edge is known; `key` is the row's that asked."""

    def __init__(self, key: str, dossier: Dossier) -> None:
        super().__init__()
        self.key = key
        self.dossier = dossier


class RepairsWeighed(Message):
    """The ranked repairs for some edges are known, or why there are none; `count` is how many edges they are about."""

    def __init__(self, count: int, repairs: Sequence[Weighed], error: CtTuiError | None = None) -> None:
        super().__init__()
        self.count = count
        self.repairs = repairs
        self.error = error


class SignaturesRead(Message):
    """The edge signatures that a type could join are known, with the edges that each would make valid."""

    def __init__(self, signatures: Sequence[tuple[EdgeType, int]]) -> None:
        super().__init__()
        self.signatures = signatures


class EndsExplained(Message):
    """The ladder's way for both ends of an edge, by their names; an end that is no entity has none."""

    def __init__(self, ends: Sequence[tuple[str, tuple[str, ...]]]) -> None:
        super().__init__()
        self.ends = ends


class RowRead(Message):
    """A row of a table exactly as it stands."""

    def __init__(self, table: str, row_id: str, columns: Sequence[tuple[str, RawText]]) -> None:
        super().__init__()
        self.table = table
        self.row_id = row_id
        self.columns = columns
