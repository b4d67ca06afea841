"""The write gate: what a proposed label lands as, and the ledger row that goes with it.

Source of the rules: brain format 3.4 and 3.7. The alias table is not compiled in: only a signed alias in force
maps a label. The gate invents no label; a hold writes nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from ct_tui.domain.holds import Hold, Internal, hold_name, hold_text, vocabulary_hold
from ct_tui.domain.ladder import Decision, Verdict
from ct_tui.domain.names import is_blank, label_key, trim

if TYPE_CHECKING:
    from ct_tui.domain.manifest import Vocabulary
    from ct_tui.domain.rulings import InForce, Ruling

SKIP_LABEL = "concept"
"""What a mint without a label becomes where no gate runs."""


class GateVerdict(StrEnum):
    """What the gate does with one mint."""

    ADMIT = "admit"
    ALIAS = "alias"
    DEGRADE = "degrade"
    UNLABELED = "unlabeled"
    SKIP = "skip"
    HOLD = "hold"


class Origin(StrEnum):
    """Reasons of the origin ledger (`entity_type_origin.reason`)."""

    DEGRADED = "degraded"
    UNLABELED = "unlabeled_landing"
    GATE_SKIPPED = "gate_skipped"
    ALIAS_RETYPE = "alias_retype"
    QUEUE_RETYPE = "queue_retype"


class Site(StrEnum):
    """Who mints; where no gate runs, the sites differ in what they write."""

    LABELED = "labeled"
    """A proposal or a person: the label lands as it was proposed."""
    BUNDLE = "bundle"
    """A bundle import: `concept`, no original."""
    PAGE = "page"
    """A wiki-page conversion: `concept`, with `concept` as the original."""


@dataclass(frozen=True)
class LedgerRow:
    """The origin row that goes with a landing; `source_directory` is the full path that resolved off."""

    reason: Origin
    original_type: str | None = None
    source_directory: str | None = None


@dataclass(frozen=True)
class Admission:
    """What the gate does with one mint: nothing is written where `lands_as` is None.

    `ruling` is the alias that was followed; `why_not` says what else might have been expected and did not happen.
    """

    verdict: GateVerdict
    lands_as: str | None = None
    label: str | None = None
    ledger: LedgerRow | None = None
    hold: Hold | None = None
    ruling: Ruling | None = None
    why_not: tuple[str, ...] = ()
    decision: Decision | None = None

    @property
    def _manifest(self) -> str | None:
        """The row whose vocabulary decided, or that lacks what it needs to."""
        if self.decision is not None and self.decision.manifest is not None:
            return self.decision.manifest
        return getattr(self.hold, "manifest", None)

    def as_json(self) -> dict[str, Any]:
        """The fields of `gate --json` (command line contract), with the trace and the why-not beside them."""
        decision = self.decision
        return {
            "verdict": self.verdict.value,
            "lands_as": self.lands_as,
            "rung": decision.rung if decision else None,
            "hold_reason": hold_name(self.hold) if self.hold else None,
            "source_directory": decision.source_directory if decision else None,
            "ledger_reason": self.ledger.reason.value if self.ledger else None,
            "label": self.label,
            "original_type": self.ledger.original_type if self.ledger else None,
            "ruling": self.ruling.seq if self.ruling else None,
            "manifest": self._manifest,
            "hold_message": hold_text(self.hold) if self.hold else None,
            "warning": (decision.warning or None) if decision else None,
            "why_not": list(self.why_not),
            "trace": [step.as_json() for step in decision.trace] if decision else [],
        }


def admit(label: str | None, decision: Decision, acting: InForce, site: Site = Site.LABELED) -> Admission:
    """What a mint with this label does under a ladder decision and the rulings in force; pure and total."""
    if decision.verdict is Verdict.HELD:
        hold = decision.hold or Internal("held without a reason")
        return Admission(GateVerdict.HOLD, label=label, hold=hold, decision=decision)
    if decision.skipped:
        return _skip(label, decision, site)
    if decision.vocabulary is None:
        return Admission(GateVerdict.HOLD, label=label, hold=Internal("gated without a vocabulary"), decision=decision)
    return admit_label(label, decision.vocabulary, acting, decision)


def admit_label(
    label: str | None, vocabulary: Vocabulary, acting: InForce, decision: Decision | None = None
) -> Admission:
    """The admit ladder over one vocabulary: declared, alias, fallback; held where the vocabulary cannot gate."""
    hold = vocabulary_hold(vocabulary, decision.manifest if decision else None)
    if hold is not None or vocabulary.fallback is None:
        return Admission(GateVerdict.HOLD, label=label, hold=hold or Internal("no fallback"), decision=decision)
    if is_blank(label) or label is None:
        ledger = LedgerRow(Origin.UNLABELED)
        return Admission(GateVerdict.UNLABELED, vocabulary.fallback, None, ledger, decision=decision)
    proposed = trim(label)
    declared = vocabulary.canonical(proposed)
    if declared is not None:
        why_not = _overruled(proposed, acting)
        return Admission(GateVerdict.ADMIT, declared, proposed, why_not=why_not, decision=decision)
    alias = acting.alias_for(proposed)
    target = vocabulary.canonical(alias.to_type) if alias else None
    if alias is not None and target is not None:
        return Admission(GateVerdict.ALIAS, target, proposed, ruling=alias.ruling, decision=decision)
    ledger = LedgerRow(Origin.DEGRADED, proposed)
    why_not = _why_degraded(proposed, vocabulary, acting)
    return Admission(GateVerdict.DEGRADE, vocabulary.fallback, proposed, ledger, why_not=why_not, decision=decision)


def _skip(label: str | None, decision: Decision, site: Site) -> Admission:
    """No gate ran: a labeled mint lands as proposed, everything else as `concept`."""
    proposed = None if label is None or is_blank(label) else label
    lands_as = proposed if proposed is not None and site is Site.LABELED else SKIP_LABEL
    original = {Site.LABELED: proposed, Site.BUNDLE: None, Site.PAGE: SKIP_LABEL}[site]
    ledger = LedgerRow(Origin.GATE_SKIPPED, original, decision.source_directory)
    return Admission(GateVerdict.SKIP, lands_as, proposed, ledger, decision=decision)


def _overruled(label: str, acting: InForce) -> tuple[str, ...]:
    alias = acting.alias_for(label)
    if alias is None:
        return ()
    return (f"alias #{alias.ruling.seq} ({alias.from_type} → {alias.to_type}) is dead here: the label is declared",)


def _why_degraded(label: str, vocabulary: Vocabulary, acting: InForce) -> tuple[str, ...]:
    """Why a label was neither declared nor followed as an alias."""
    found: list[str] = []
    alias = acting.alias_for(label)
    if alias is not None:
        found.append(
            f"alias #{alias.ruling.seq} ({alias.from_type} → {alias.to_type}) cannot act: "
            f"{alias.to_type} is not declared by this manifest"
        )
    key = label_key(label)
    for ruling, body in acting.legalized:
        if label_key(body.type) == key:
            found.append(f"#{ruling.seq} legalizes {body.type}, but this manifest does not declare it yet: run heal")
    if not found:
        found.append(f"{label} is not declared, and no signed alias maps it")
    elif vocabulary.fallback is not None:
        found.append(f"so it lands on the fallback, {vocabulary.fallback}")
    return tuple(found)
