"""The filter box: what is typed into it narrows a list, and never rules."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.widgets import Input

if TYPE_CHECKING:
    from ct_tui.tui.widgets.rows import RowList


class FilterBox(Input):
    """One line that narrows a list while it is typed."""

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id, placeholder="filter", compact=True, select_on_focus=False)
        self._rows: RowList | None = None

    def begin(self, rows: RowList) -> None:
        """Take the keyboard for a list."""
        self._rows = rows
        self.value = rows.needle
        self.display = True
        self.screen.set_focus(self)

    def end(self, *, keep: bool) -> None:
        """Give the keyboard back to the list, narrowed or whole."""
        rows, self._rows = self._rows, None
        self.display = False
        if rows is None:
            return
        rows.filter(self.value if keep else "")
        rows.screen.set_focus(rows)

    def on_input_changed(self, event: Input.Changed) -> None:
        """Narrow while typing."""
        event.stop()
        if self._rows is not None:
            self._rows.filter(event.value)
