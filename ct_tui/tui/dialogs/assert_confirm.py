"""The last question before a fact is written, and the writing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ct_tui.domain.errors import CtTuiError
from ct_tui.tui.asserted import assertion_lines
from ct_tui.tui.asserting import mints_of
from ct_tui.tui.dialogs.policy import AgreeDialog
from ct_tui.tui.messages import Asserted, Refused
from ct_tui.tui.text import data, number, say

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual.message import Message

    from ct_tui.heal.assertions import AssertionResult, Request
    from ct_tui.tui.text import Line


class AssertConfirm(AgreeDialog):
    """The last question before a fact is written."""

    AGREE = "Write"

    def __init__(self, planned: AssertionResult, request: Request, done: Callable[[AssertionResult], None]) -> None:
        super().__init__(say("Write this fact into the brain?", "title"))
        self._planned = planned
        self._request = request
        self._done = done

    def prepare(self) -> None:
        """State what is written."""
        new = sum(1 for end in (self._planned.assertion.subject, self._planned.assertion.object) if end.is_new)
        rows: Line = (say("1 edge, 1 row of our own with window, confidence and source", "strong"),)
        if new:
            rows += (say(", ", "dim"), number(new, "strong"), say(" new through the gate", "strong"))
        self.tell((data(str(self.session.places.brain), "dim"),), rows, *assertion_lines(self._planned.assertion))
        super().prepare()

    async def agree(self) -> None:
        """Write it, once."""
        bench, request = self.session.bench, self._request
        if self.busy or self.over or bench is None:
            return
        self.begin_work()

        def job() -> Message:
            try:
                return Asserted(bench.assert_fact(request, apply=True, mints=mints_of(bench)))
            except CtTuiError as error:
                return Refused(error)

        self.station.write("writing a fact", job, self)

    def on_asserted(self, message: Asserted) -> None:
        """It stands in the brain."""
        self.close()
        self.station.read_all()
        self._done(message.result)
