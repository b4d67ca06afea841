"""The write gate for other writers: mint an entity as the app would, or look at what a mint would do.

Config and rulings are read before; the transaction holds nothing but database work. A hold writes nothing, not
even the first watermark. An example:

    with open_gate(resolve_places(brain="~/.brain")) as gate:
        minted = gate.mint("Release train", label="workflow", sources=["notes/ops.md"])
"""

from __future__ import annotations

import datetime as dt
import time
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ct_tui.brain import minting, readers
from ct_tui.brain.connection import Brain
from ct_tui.domain.errors import BadInput, PolicyError
from ct_tui.domain.gate import Admission, GateVerdict, Site, admit
from ct_tui.domain.holds import hold_text
from ct_tui.domain.ladder import Decision, Ladder, Unreadable
from ct_tui.domain.names import is_blank
from ct_tui.domain.redirects import CYCLE, Redirects
from ct_tui.domain.rulings import InForce, in_force
from ct_tui.policy.load import load_policy

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from ct_tui.brain.connection import Db
    from ct_tui.brain.schema import Schema
    from ct_tui.domain.policy import Policy
    from ct_tui.policy.paths import Places

__all__ = [
    "Admission",
    "Gate",
    "GateMints",
    "GateVerdict",
    "MintHeld",
    "MintRequest",
    "Minted",
    "Site",
    "acting_rulings",
    "decide_mint",
    "mint_in",
    "open_gate",
]


@dataclass(frozen=True)
class MintRequest:
    """One mint as asked for; `at` in seconds, `sources` the paths of its documents, none for a mint by hand."""

    name: str
    at: int
    label: str | None = None
    summary: str = ""
    sources: tuple[str, ...] = ()
    entity_id: str | None = None
    site: Site = Site.LABELED
    upsert: bool = False


@dataclass(frozen=True)
class Minted:
    """What a mint did: the admission, and the id written (None with a hold, which wrote nothing)."""

    admission: Admission
    entity: str | None = None

    @property
    def held(self) -> bool:
        """Whether nothing was written."""
        return self.admission.verdict is GateVerdict.HOLD

    def as_json(self) -> dict[str, Any]:
        """The document that `mint --json` prints."""
        return {**self.admission.as_json(), "entity": self.entity}


class Gate:
    """The gate over one open brain, one reading of its config and the rulings in force."""

    def __init__(
        self,
        brain: Brain,
        policy: Policy,
        acting: InForce | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._brain = brain
        self._policy = policy
        self._acting = acting if acting is not None else InForce()
        self._clock = clock

    def preview(
        self,
        label: str | None,
        *,
        sources: Sequence[str] = (),
        entity_id: str | None = None,
        site: Site = Site.LABELED,
    ) -> Admission:
        """What a mint with this label and these sources would do; writes and stamps nothing."""
        with self._brain.snapshot() as db:
            decision = decide_mint(db, self._brain.schema, self._policy, entity_id, tuple(sources))
        return admit(label, decision, self._acting, site)

    def mint(
        self,
        name: str,
        *,
        label: str | None = None,
        summary: str = "",
        sources: Sequence[str] = (),
        entity_id: str | None = None,
        site: Site = Site.LABELED,
        upsert: bool = False,
    ) -> Minted:
        """Write one entity through the gate in one IMMEDIATE transaction; a hold writes nothing.

        Raises BadInput for a blank name or an id that is taken, PolicyError for an id on a redirect circle and
        BrainError where the brain cannot be written.
        """
        if is_blank(name):
            raise BadInput("an entity needs a name")
        at = int(self._clock())
        request = MintRequest(name, at, label, summary, tuple(sources), entity_id, site, upsert)
        try:
            return self._brain.write(lambda db: mint_in(db, self._brain.schema, self._policy, self._acting, request))
        except MintHeld as held:
            return Minted(held.admission)


class GateMints:
    """New entities for an assertion: what one would land as, and its mint inside the assertion's transaction."""

    def __init__(self, brain: Brain, policy: Policy, acting: InForce | None = None) -> None:
        self._brain = brain
        self._policy = policy
        self._acting = acting if acting is not None else InForce()

    def lands_as(self, label: str | None) -> str:
        """The type that a new entity with this label would get; raises PolicyError where the gate holds it."""
        admission = Gate(self._brain, self._policy, self._acting).preview(label)
        if admission.lands_as is None:
            raise _held(admission)
        return admission.lands_as

    def mint_in(self, db: Db, name: str, label: str | None, at: int) -> str:
        """Write a new entity inside the caller's transaction and give its id; `at` in seconds.

        Raises PolicyError where the gate holds it.
        """
        try:
            minted = mint_in(db, self._brain.schema, self._policy, self._acting, MintRequest(name, at, label))
        except MintHeld as held:
            raise _held(held.admission) from held
        if minted.entity is None:
            raise _held(minted.admission)
        return minted.entity


def _held(admission: Admission) -> PolicyError:
    reason = hold_text(admission.hold) if admission.hold is not None else "no reason was given"
    return PolicyError(f"the gate holds a new entity back: {reason}; nothing was written")


class MintHeld(Exception):
    """Carries a hold out of the transaction, so that it rolls back; not a fault."""

    def __init__(self, admission: Admission) -> None:
        super().__init__("held")
        self.admission = admission


@contextmanager
def open_gate(places: Places, *, read_only: bool = False, clock: Callable[[], float] = time.time) -> Iterator[Gate]:
    """The gate over a brain's own files, with its config read and its rulings verified once."""
    brain = Brain(places.brain, read_only=read_only)
    try:
        yield Gate(brain, load_policy(places.config), acting_rulings(brain, places, clock), clock)
    finally:
        brain.close()


def acting_rulings(brain: Brain, places: Places, clock: Callable[[], float] = time.time) -> InForce:
    """The signed rulings that act on this brain now; none where the table was written without a key."""
    from ct_tui.trust.signers import load_signers
    from ct_tui.trust.verify import verify_table

    with brain.reading() as db:
        seen = readers.head_seen(db, brain.schema)
    moment = dt.datetime.fromtimestamp(clock(), dt.UTC)
    return in_force(verify_table(places.rulings, load_signers(places.user_dir), seen, moment))


def mint_in(db: Db, schema: Schema, policy: Policy, acting: InForce, request: MintRequest) -> Minted:
    """One mint inside the caller's IMMEDIATE transaction; a hold is raised as MintHeld, so the stamp rolls back too."""
    decision = decide_mint(db, schema, policy, request.entity_id, request.sources)
    minting.stamp_initial_watermark(db, policy.watermark)
    entity_id = _landing_id(db, schema, request.entity_id)
    admission = admit(request.label, decision, acting, request.site)
    if admission.lands_as is None:
        raise MintHeld(admission)
    if not request.upsert and request.entity_id is not None and minting.entity_exists(db, entity_id):
        raise BadInput(f"there already is an entity {entity_id!r}", "mint without an id, or edit that entity")
    minting.insert_entity(
        db, entity_id, request.name, admission.lands_as, request.summary, request.at, upsert=request.upsert
    )
    if admission.ledger is not None:
        minting.insert_origin(db, entity_id, admission.ledger, request.at)
    return Minted(admission, entity_id)


def decide_mint(
    db: Db, schema: Schema, policy: Policy, entity_id: str | None, sources: tuple[str, ...] = ()
) -> Decision:
    """The ladder's verdict for a mint: with a caller's id its cluster counts, a fresh one has neither past nor row."""
    if entity_id is None:
        fresh = minting.fresh_id()
        return Ladder(policy.lookup, minting.gate_manifests(db, schema, fresh)).decide(fresh, sources)
    redirects = minting.gate_redirects(db, schema)
    owner = entity_id if isinstance(redirects, Unreadable) else redirects.resolve(entity_id)
    manifests = minting.gate_manifests(db, schema, owner if isinstance(owner, str) else entity_id)
    ladder = Ladder(policy.lookup, manifests, redirects, minting.gate_opt_outs(db, schema))
    return ladder.decide(entity_id, sources)


def _landing_id(db: Db, schema: Schema, entity_id: str | None) -> str:
    if entity_id is None:
        return minting.fresh_id()
    redirects = minting.gate_redirects(db, schema)
    end = redirects.resolve(entity_id) if isinstance(redirects, Redirects) else entity_id
    if end is CYCLE:
        raise PolicyError(
            f"the merge redirects of {entity_id!r} run in a circle; nothing was written",
            "delete one entity_redirects row of the circle, then try again",
        )
    return end
