"""Rules on the alias table: a ruling in force that cannot act is said so."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ct_tui.domain.lint.model import Finding, Focus, Kind, Severity
from ct_tui.domain.rulings import Dead, State, dead_aliases
from ct_tui.domain.rulings import Kind as RulingKind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ct_tui.domain.manifest import Vocabulary
    from ct_tui.domain.rulings import RulingTable

PATH = "rulings.yaml"

_FIX = {
    Dead.DEAD: "revoke it, since the type is declared",
    Dead.CHAIN: "rule anew, straight to the declared type at the end",
    Dead.CYCLE: "revoke one of the two",
    Dead.TARGET_UNDECLARED: "declare the target, or rule anew to a declared type",
    Dead.DUPLICATE: "revoke one of the two",
}


def dead_rulings(why: Dead, table: RulingTable, vocabulary: Vocabulary) -> Iterator[Finding]:
    """`ruling-…`: the valid aliases that cannot act for one reason."""
    for dead in dead_aliases(table, vocabulary):
        if dead.why is why:
            focus = Focus(Kind.RULING, str(dead.ruling.seq))
            message = f"ruling #{dead.ruling.seq}, {dead.ruling.body}, cannot act: {dead.message}"
            value = str(dead.ruling.body)
            yield Finding(why.value, Severity.WARNING, focus, PATH, value, message, _FIX[why])
    if why is Dead.DUPLICATE:
        yield from _conflicting(table)


def _conflicting(table: RulingTable) -> Iterator[Finding]:
    """Aliases that verification itself found to contradict each other: none of them acts."""
    for entry in table.entries:
        if entry.state is State.CONFLICTING and entry.kind == RulingKind.ALIAS.value:
            focus = Focus(Kind.RULING, str(entry.seq))
            value = str(entry.ruling.body) if entry.ruling is not None else entry.kind
            message = f"ruling #{entry.seq}, {value}, contradicts another: {entry.problem or 'one label, two rulings'}"
            yield Finding(Dead.DUPLICATE.value, Severity.WARNING, focus, PATH, value, message, _FIX[Dead.DUPLICATE])
