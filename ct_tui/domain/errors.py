"""The small tree of errors that a person gets to read."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ct_tui.domain.plan import Receipt


@dataclass(eq=False)
class CtTuiError(Exception):
    """A refusal in a clear sentence; `remedy` says what to do next, `details` lists the rows concerned."""

    message: str
    remedy: str = ""
    details: tuple[str, ...] = field(default=())

    title = "Refused"
    exit_code = 1

    def __post_init__(self) -> None:
        super().__init__(self.message)

    def __str__(self) -> str:
        return self.message

    def diagnostics(self) -> tuple[str, ...]:
        """Every line worth printing, the sentence first and the remedy last."""
        return (self.message, *self.details, *((self.remedy,) if self.remedy else ()))


class BadInput(CtTuiError):
    """What the user gave cannot be used."""

    title = "Cannot use that"


class NothingFound(CtTuiError):
    """The question was fine and the answer is empty."""

    title = "Nothing found"
    exit_code = 2


class BrainError(CtTuiError):
    """The brain file cannot be opened, read or written; `receipt` says what a run had written before it failed."""

    title = "The brain"
    receipt: Receipt | None = None


class BrainBusy(BrainError):
    """Another program holds the write lock for longer than the busy timeout."""

    title = "The brain is busy"


class PolicyError(CtTuiError):
    """config.json or a manifest does not allow the step."""

    title = "The ontology policy"


class TrustError(CtTuiError):
    """A key, a signature or the table of rulings is not what it must be."""

    title = "Signing and trust"


class StalePlan(CtTuiError):
    """The brain moved since the plan was made; `details` lists what moved."""

    title = "The plan is stale"
