"""One end of an assertion while it is typed, in words, and what the form's lanes read."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ct_tui.domain.assertions import LIMITS, Found, kind_of_source
from ct_tui.domain.errors import BadInput, CtTuiError
from ct_tui.domain.names import is_blank
from ct_tui.domain.provenance import Origin, parse_provenance
from ct_tui.tui.lanes import unexpected
from ct_tui.tui.messages import AssertPlanned, LookedUp
from ct_tui.tui.text import NOTHING, data, drawn, say

if TYPE_CHECKING:
    from ct_tui.domain.assertions import Limits, Lookup, Match
    from ct_tui.gate import GateMints
    from ct_tui.heal.assertions import Request
    from ct_tui.heal.workbench import Workbench
    from ct_tui.tui.text import Line


@dataclass
class EndState:
    """What is known of one end while it is typed."""

    lookup: Lookup | None = None
    picked: Match | None = None
    new: bool = False
    lands: str = ""
    error: CtTuiError | None = None
    generation: int = field(default=0)

    @property
    def match(self) -> Match | None:
        """The entity meant: the one picked, else the only one of that name."""
        if self.picked is not None:
            return self.picked
        return self.lookup.entity if self.lookup is not None else None

    @property
    def type(self) -> str | None:
        """Its type, or that of a new one; None while it is not known."""
        if self.new:
            return self.lands or None
        return self.match.type if self.match is not None else None


def end_words(end: EndState, text: str) -> Line:
    """What is known of an end, beside its field."""
    if is_blank(text):
        return (say("who or what", "dim"),)
    if end.new:
        return (say("+ new, through the gate", "warn"),)
    lookup, match = end.lookup, end.match
    if match is not None:
        how: Line = (say("≡ merged into ", "ok"),) if _by_alias(end) else (say("✓ ", "ok"),)
        name = (data(match.name), say(" · ", "faint")) if data(match.name).text != text else NOTHING
        return (*how, *name, data(match.type, "type"), say(" · ", "faint"), data(match.id, "dim"))
    if lookup is None:
        return (say("looking…", "faint"),)
    if lookup.found is Found.AMBIGUOUS:
        return (say("? several are called that: choose one below", "warn"),)
    if lookup.found is Found.NEAR:
        return (say("? nobody is called that, but these are near", "warn"),)
    return (say("✗ unknown: the list below makes a new one", "bad"),)


def _by_alias(end: EndState) -> bool:
    return end.picked is None and end.lookup is not None and end.lookup.found is Found.ALIAS


def landing_words(end: EndState) -> Line:
    """What the gate would make of a new entity."""
    if end.error is not None:
        return (say("✗ ", "bad"), data(end.error.message))
    if not end.lands:
        return (say("asking the gate…", "faint"),)
    return (say("✓ lands as ", "ok"), data(end.lands, "type"))


def source_words(text: str) -> Line:
    """What a source is, or the shape that it must have."""
    if not text:
        return (say("required: <channel>:<turn-id> or https://…", "warn"),)
    try:
        origin = parse_provenance(text).origin
    except BadInput as error:
        return (say("✗ ", "bad"), data(error.message))
    return (say("✓ a web address", "ok"),) if origin is Origin.WEB else (say("✓ a turn of a conversation", "ok"),)


def limits_of(source: str, kind: str | None) -> Limits | None:
    """How sure one may be of what a source says; None while its kind is not known."""
    try:
        return LIMITS[kind_of_source(parse_provenance(source), kind)]
    except BadInput:
        return None


def limit_words(limits: Limits | None) -> Line:
    """The usual and the highest confidence, with what they stand for."""
    if limits is None:
        return (say("by the kind of source", "dim"),)
    return (
        say("usual ", "dim"),
        drawn(f"{limits.usual:g}", "strong"),
        say(", at most ", "dim"),
        drawn(f"{limits.highest:g}"),
        say(": ", "dim"),
        data(limits.meaning, "dim"),
    )


def mints_of(bench: Workbench) -> GateMints:
    """The gate that lets new entities in, under the policy and the rulings of this moment."""
    from ct_tui.domain.rulings import in_force
    from ct_tui.gate import GateMints
    from ct_tui.policy.load import load_policy

    return GateMints(bench.brain, load_policy(bench.places.config), in_force(bench.table()))


def landing(bench: Workbench, name: str, generation: int, label: str | None) -> LookedUp:
    """What a new entity with a label would land as, or why the gate holds it."""
    try:
        return LookedUp(name, generation, None, mints_of(bench).lands_as(label))
    except CtTuiError as error:
        return LookedUp(name, generation, None, "", error)


def planned(bench: Workbench, request: Request, generation: int) -> AssertPlanned:
    """What an assertion would write, or why it would not."""
    try:
        return AssertPlanned(generation, bench.assert_fact(request, mints=mints_of(bench)), None)
    except CtTuiError as error:
        return AssertPlanned(generation, None, error)
    except Exception as error:  # noqa: BLE001 - the edge of a worker: the fault is shown where the fact would be
        return AssertPlanned(generation, None, unexpected(error))
