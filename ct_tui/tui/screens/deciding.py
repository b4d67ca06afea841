"""What the deciding keys do on the desk: from the row under the cursor at that key to a ruling that can be signed."""

from __future__ import annotations

from ct_tui.tui.screens.base import ViewScreen
from ct_tui.tui.text import data, say


class Deciding(ViewScreen):
    """The part of the desk that rules."""

    def do_rule_defer(self) -> None:
        """Put the question last for this session."""
        item = self.item
        if item is None:
            self.tell(say("Nothing is asked here.", "warn"))
            return
        self.session.defer(item)
        self.show_session()
        self.tell(
            say("Put off for this session: "), data(item.label, "type"), say(". It comes back when you open it again.")
        )
