"""How a line of pieces becomes a strip of the screen: inks resolved once per theme and ground."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.segment import Segment
from textual.strip import Strip
from textual.style import Style
from textual.widget import Widget

from ct_tui.tui.text import INKS, fit

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rich.style import Style as RichStyle

    from ct_tui.tui.text import Piece

PLAIN = ""
GROUNDS = {
    PLAIN: "",
    "cursor": "on $row-cursor",
    "cursor-blurred": "on $row-cursor-blurred",
    "mark": "on $row-mark",
}
"""What lies behind a line; in the terminal's own colours the cursor is drawn in reverse instead."""

_ANSI_GROUNDS = {PLAIN: "", "cursor": "reverse", "cursor-blurred": "bold", "mark": ""}


class Inked(Widget):
    """A widget that draws lines of pieces itself."""

    _inks: dict[tuple[str, str], RichStyle] | None = None
    _ink_key: object = None

    def draw(self, line: Iterable[Piece], width: int, ground: str = PLAIN) -> Strip:
        """A line as a strip of exactly `width` cells on a ground."""
        inks = self._known_inks()
        segments = [Segment(piece.text, self._style(inks, piece.ink, ground)) for piece in fit(line, width)]
        return Strip(segments, width)

    def _style(self, inks: dict[tuple[str, str], RichStyle], ink: str, ground: str) -> RichStyle:
        found = inks.get((ink, ground))
        if found is None:
            inks[(ink, ground)] = found = self._mixed(ink, ground).rich_style
        return found

    def _mixed(self, ink: str, ground: str) -> Style:
        if not self.app.native_ansi_color:
            return self.visual_style + Style.parse(GROUNDS[ground]) + Style.parse(INKS[ink])
        # Sixteen colours in reverse are a mosaic: the cursor line is one block, whatever the inks.
        mixed = self.visual_style + Style.parse(_ANSI_GROUNDS[ground])
        return mixed if mixed.reverse else mixed + Style.parse(INKS[ink])

    def _known_inks(self) -> dict[tuple[str, str], RichStyle]:
        """The inks mixed so far, forgotten when the theme or the widget's own colours change."""
        key = (self.app.theme, self.visual_style)
        if self._inks is None or key != self._ink_key:
            self._ink_key = key
            self._inks = {}
        return self._inks
