"""Held proposals: nothing in the brain says that a mint is held, so the ladder is run again for each, read-only.

Source of the rules: brain format 8. A held proposal is an ordinary pending one; mending the cause is enough, and the
librarian's next try goes through.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ct_tui.brain import readers
from ct_tui.brain.minting import fresh_id
from ct_tui.domain.gate import Admission, GateVerdict, admit

if TYPE_CHECKING:
    from ct_tui.brain.connection import Db
    from ct_tui.brain.readers import ProposalRow
    from ct_tui.brain.schema import Schema
    from ct_tui.domain.ladder import Ladder
    from ct_tui.domain.rulings import InForce


@dataclass(frozen=True)
class ProposalVerdict:
    """A pending proposal of a new entity and what the gate would do with it today."""

    proposal: ProposalRow
    admission: Admission

    @property
    def held(self) -> bool:
        """Whether approving it would fail."""
        return self.admission.verdict is GateVerdict.HOLD

    @property
    def cause(self) -> str:
        """Why it is held, or an empty text."""
        return self.admission.hold.message if self.admission.hold else ""

    @property
    def fix(self) -> str:
        """What would let it pass, or an empty text."""
        return self.admission.hold.remedy if self.admission.hold else ""

    def as_json(self) -> dict[str, Any]:
        """The proposal with the fields of `gate --json`."""
        row = self.proposal
        shown = {
            "id": row.id,
            "name": row.name,
            "type": row.type,
            "paths": list(row.paths),
            "created_at": row.created_at,
        }
        return {"proposal": shown, "held": self.held, "cause": self.cause, "fix": self.fix, **self.admission.as_json()}


def judge_proposals(db: Db, schema: Schema, ladder: Ladder, acting: InForce) -> tuple[ProposalVerdict, ...]:
    """What the gate would do with every pending proposal of a new entity, oldest first; writes nothing.

    `ladder` must see the manifests as they stand in the brain: what heal would add counts only once it is there.
    """
    return tuple(
        ProposalVerdict(proposal, admit(proposal.type, ladder.decide(fresh_id(), proposal.paths), acting))
        for proposal in readers.pending_proposals(db, schema)
    )


def held_proposals(db: Db, schema: Schema, ladder: Ladder, acting: InForce) -> tuple[ProposalVerdict, ...]:
    """The pending proposals that the gate holds, each with its cause and what mends it."""
    return tuple(p for p in judge_proposals(db, schema, ladder, acting) if p.held)
