"""What the plan view's detail shows: streams, changes, manifests and edges, each with the authority behind it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ct_tui.domain.plan import EdgeChange, ManifestChange, RedirectChange, TypeChange
from ct_tui.tui.papers import brief, heading
from ct_tui.tui.text import NOTHING, blank, counted, data, drawn, number, prose, say, stamp, titled
from ct_tui.tui.widgets.planrows import Left, Merged, Stream

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ct_tui.domain.rulings import RulingTable
    from ct_tui.tui.messages import EvidenceRead
    from ct_tui.tui.text import Line
    from ct_tui.tui.widgets.planrows import Laid

    Lines = Iterator[Line]

MOST_NAMED = 12
"""Entities of a group that are named beside it."""


def plan_paper(thing: object, laid: Laid, table: RulingTable | None, known: EvidenceRead | None) -> Lines:
    """What the row of a plan under the cursor does, and by what authority."""
    if isinstance(thing, Stream):
        yield from _stream_paper(thing, laid, table)
    elif isinstance(thing, TypeChange):
        yield from _change_paper(thing, table, known)
    elif isinstance(thing, Merged):
        yield from _merged_paper(thing, laid, table)
    elif isinstance(thing, RedirectChange):
        yield from _redirect_paper(thing, table, known)
    elif isinstance(thing, ManifestChange):
        yield from _manifest_paper(thing, table)
    elif isinstance(thing, EdgeChange):
        yield (data(thing.kind.value, "title"), blank(1), data(thing.edge, "dim"))
        yield (data(thing.why),)
        yield from _authority(thing.ruling, table)
    elif isinstance(thing, Left):
        yield (number(thing.count, "title"), blank(1), drawn(thing.words, "title"))
        yield NOTHING
        yield (drawn(thing.why),)
    yield NOTHING
    yield from _binding(laid)


def _stream_paper(stream: Stream, laid: Laid, table: RulingTable | None) -> Lines:
    yield (titled(stream.from_type), say(" → ", "title"), titled(stream.to_type))
    yield (counted(len(stream.changes), "entity", "entities"), say(" · ", "faint"), data(stream.kind.value, "dim"))
    yield NOTHING
    seqs = {laid.plan.changes[at].ruling for at in stream.changes[:1000]}
    for seq in sorted(s for s in seqs if s is not None):
        yield from _authority(seq, table)
    if seqs == {None}:
        yield (say("Another spelling of a declared type: mechanical, no ruling needed.", "dim"),)
    yield NOTHING
    yield from _among_them(stream.changes, laid.plan.changes)


def _among_them(places: Sequence[int], changes: Sequence[TypeChange] | Sequence[RedirectChange]) -> Lines:
    """The first entities of a group, by the places of their changes in the plan."""
    yield heading("Among them", (say("l opens all", "dim"),))
    for at in places[:MOST_NAMED]:
        yield (blank(2), data(changes[at].name), blank(2), data(changes[at].entity, "faint"))
    if len(places) > MOST_NAMED:
        yield (blank(2), counted(len(places) - MOST_NAMED, "more", "more", "dim"))


def _change_paper(change: TypeChange, table: RulingTable | None, known: EvidenceRead | None) -> Lines:
    yield (titled(change.name),)
    yield (say("− ", "bad"), titled(change.from_type, "bad"))
    yield (say("+ ", "ok"), titled(change.to_type, "ok"))
    yield (data(change.why, "dim"),)
    yield NOTHING
    yield from _authority(change.ruling, table)
    if known is None:
        yield (say("reading…", "faint"),)
        return
    yield from (line for entity in known.entities for line in brief(entity))


def _merged_paper(merged: Merged, laid: Laid, table: RulingTable | None) -> Lines:
    words = say(" restored out of ", "title") if merged.back else say(" merged into ", "title")
    yield (counted(len(merged.changes), "duplicate", ink="title"), words, data(merged.survivor, "title"))
    yield (say("Only redirects are written; facts, edges and rows stay where they are.", "dim"),)
    yield NOTHING
    yield from _authority(merged.ruling, table)
    yield NOTHING
    yield from _among_them(merged.changes, laid.plan.merges)


def _redirect_paper(change: RedirectChange, table: RulingTable | None, known: EvidenceRead | None) -> Lines:
    yield (titled(change.name), blank(2), data(change.entity, "dim"))
    if change.before is not None:
        yield (say("− ", "bad"), say("leads to "), data(change.before, "bad"))
    if change.after is not None:
        yield (say("+ ", "ok"), say("leads to "), data(change.after, "ok"))
    yield (data(change.why, "dim"),)
    yield NOTHING
    yield from _authority(change.ruling, table)
    if known is None:
        yield (say("reading…", "faint"),)
        return
    yield from (line for entity in known.entities for line in brief(entity))


def _manifest_paper(change: ManifestChange, table: RulingTable | None) -> Lines:
    yield (say("Manifest ", "title"), data(change.row, "title"))
    for name in change.added_types:
        yield (say("+ type ", "ok"), data(name, "ok"))
    for name in change.added_edges:
        yield (say("+ edge ", "ok"), data(name, "ok"))
    if change.fallback is not None:
        yield (say("+ fallback ", "ok"), data(change.fallback, "ok"))
    yield (
        number(len(change.before), "dim"),
        say(" → ", "dim"),
        counted(len(change.after), "character", ink="dim"),
        say(", every other one as it was", "dim"),
    )
    yield NOTHING
    for seq in change.rulings:
        yield from _authority(seq, table)


def _authority(seq: int | None, table: RulingTable | None) -> Lines:
    """The ruling behind a change: number, body, reason, and who signed it."""
    if seq is None:
        return
    entry = table.get(seq) if table is not None else None
    if entry is None or entry.ruling is None:
        yield (say("✎ ruling #"), number(seq))
        return
    ruling = entry.ruling
    yield (say("✎ ", "key"), say("ruling #"), number(seq, "strong"), blank(1), data(str(ruling.body), "type"))
    yield from ((blank(2), *line) for line in prose(ruling.reason))
    yield (blank(2), data(ruling.ruled_by, "dim"), blank(1), stamp(ruling.ruled_at, "dim"))


def _binding(laid: Laid) -> Lines:
    plan = laid.plan
    for note in plan.notes:
        yield (say("! ", "warn"), data(note))
    if plan.edges is not None:
        effect = plan.edges
        yield (
            say("edges  ", "head"),
            say("+", "ok"),
            number(effect.gained, "ok"),
            say(" become valid  ", "dim"),
            say("−", "bad"),
            number(effect.broken, "bad"),
            say(" break  ", "dim"),
            number(effect.still_violating, "dim"),
            say(" stay broken", "dim"),
        )
    yield (
        say("bound to ruling #", "dim"),
        number(plan.binding.head_seq, "dim"),
        say(" · plan ", "dim"),
        data(plan.digest[:16], "faint"),
    )
