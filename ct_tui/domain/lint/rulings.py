"""Rules on the alias table: a ruling in force that cannot act is said so."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ct_tui.domain.lint.model import Finding, Focus, Kind, Severity
from ct_tui.domain.rulings import Dead, dead_aliases

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ct_tui.domain.manifest import Vocabulary
    from ct_tui.domain.rulings import RulingTable

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
            yield Finding(why.value, Severity.WARNING, focus, "rulings.yaml", value, message, _FIX[why])
