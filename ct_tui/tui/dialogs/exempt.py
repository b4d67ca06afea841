"""The ruling that accepts findings: an exception to a rule, for good or until a day."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ct_tui.domain.rulings import Except
from ct_tui.tui.dialogs.common import UntilDialog
from ct_tui.tui.text import NOTHING, blank, counted, data, say
from ct_tui.tui.widgets.frame import Notice

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from textual.app import ComposeResult

    from ct_tui.domain.lint.model import Finding
    from ct_tui.domain.queue import Impact
    from ct_tui.domain.rulings import Body
    from ct_tui.heal.workbench import Workbench
    from ct_tui.tui.dialogs.ruling import Decided
    from ct_tui.tui.text import Line

SHOWN = 4
"""Findings that are listed in the dialog; the others are counted."""


class ExceptDialog(UntilDialog):
    """These findings are seen and accepted; one ruling for each rule that they belong to."""

    VERB = "except"

    def __init__(self, findings: Sequence[Finding], *, done: Callable[[Decided], None]) -> None:
        super().__init__(
            say("Except ", "title"),
            counted(len(findings), "finding", ink="title"),
            say(" · ", "dim"),
            data(", ".join(dict.fromkeys(f.rule for f in findings)), "type"),
            done=done,
        )
        self._findings = tuple(findings)

    def compose_fields(self) -> ComposeResult:
        """What is accepted, and until when."""
        yield Notice(id="accepted")
        yield from super().compose_fields()

    def prepare(self) -> None:
        """List what is accepted."""
        super().prepare()
        lines = [_finding_line(f) for f in self._findings[:SHOWN]]
        more = len(self._findings) - SHOWN
        self.query_one("#accepted", Notice).show(
            *lines, *(((say("  and "), counted(more, "more", "more")),) if more > 0 else ())
        )

    def words(self) -> str:
        """What is decided."""
        rules = ", ".join(dict.fromkeys(f.rule for f in self._findings))
        return f"except {rules}: {len(self._findings)} findings" if len(self._findings) > 1 else f"except {rules}"

    def deciding(self) -> Callable[[Workbench], tuple[Body, ...]]:
        """One body a rule, with everything that is accepted of it."""
        until = self.until()
        by_rule: dict[str, dict[str, None]] = {}
        for finding in self._findings:
            by_rule.setdefault(finding.rule, {})[finding.focus.id] = None
        bodies = tuple(Except(rule, tuple(ids), until) for rule, ids in by_rule.items())
        return lambda _: bodies

    def impact_words(self, impacts: Sequence[Impact]) -> tuple[Line, ...]:
        """Nothing moves: the findings count as excepted."""
        notes = dict.fromkeys(note for impact in impacts for note in impact.notes)
        return tuple((say("▸ ", "key"), data(note)) for note in notes)


def _finding_line(finding: Finding) -> Line:
    value = (say(": ", "dim"), data(finding.value, "", 40)) if finding.value is not None else NOTHING
    return (say("  ⊘ ", "dim"), data(finding.focus.id, "dim"), blank(2), data(finding.message), *value)
