"""Which entities are shielded, and by what: an opt-out, a folder or a host that is off, or a source that is lost.

The same tests as the survey's dispositions, asked about a few entities at a time for whoever looks at them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ct_tui.brain.sources import SourceIndex, ledger_paths, sources_of
from ct_tui.domain.ladder import Verdict
from ct_tui.domain.sources import sources_matter

if TYPE_CHECKING:
    from collections.abc import Collection

    from ct_tui.brain.connection import Db
    from ct_tui.domain.sources import EntitySources
    from ct_tui.heal.situation import Situation


def shields(db: Db, situation: Situation, ids: Collection[str]) -> dict[str, str]:
    """What shields some entities, by id, in a sentence each; those that nothing shields are not in it."""
    index = _sources(db, situation, ids)
    found = ((i, shield_of(situation, i, index.of(i))) for i in ids)
    return {i: why for i, why in found if why}


def shield_of(situation: Situation, entity_id: str, sources: EntitySources) -> str:
    """What shields one entity whose sources are known, or an empty text."""
    decision = situation.ladder.decide(entity_id, sources.ladder_paths)
    if decision.verdict is Verdict.OPT_OUT or (decision.verdict is Verdict.OFF and decision.rung != "4"):
        return decision.why
    if sources.report_only(situation.policy):
        return "a source no longer resolves, and it may have lain in a folder that is off"
    off = sources.off_path(situation.policy.lookup)
    return f"a source lies in a folder that is off: {off}" if off else ""


def _sources(db: Db, situation: Situation, ids: Collection[str]) -> SourceIndex:
    """The sources of these entities, as far as the policy makes any matter."""
    ledger = ledger_paths(situation.state.origins, situation.redirects)
    if sources_matter(situation.policy):
        return sources_of(db, situation.schema, ids, situation.redirects, ledger)
    owners = {situation.redirects.resolve(i) for i in ids}
    concerned = {i for i in ledger if i in owners}
    return sources_of(db, situation.schema, concerned, situation.redirects, ledger)
