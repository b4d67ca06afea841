"""Duplicates: the app's groups with their dispositions, near pairs beyond them, and what a human may decide.

Source of the rules: brain format 5. One difference is ours: names whose comparison key is empty (punctuation only)
never form a group, since they have nothing in common but that. And a pair that a signed exception keeps apart never
merges by itself.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any, NamedTuple

from ct_tui.domain.apart import APART, Apart
from ct_tui.domain.names import label_key, merge_key
from ct_tui.domain.plan import RedirectChange
from ct_tui.domain.queue import ItemKind, QueueItem, Suggestion
from ct_tui.domain.redirects import CYCLE, Redirects
from ct_tui.domain.rulings import Except, Merge

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from ct_tui.domain.near import NearPair
    from ct_tui.domain.rulings import Body

EVIDENCE_BONUS = 0.1
"""What shared evidence adds to the score of a near pair."""

COMMON_PASSAGE = 6
"""A passage that more entities than this quote says nothing about any two of them."""


class Candidate(NamedTuple):
    """A live entity that was not merged away, as grouping sees it."""

    id: str
    name: str
    type: str
    summary: str


class Queued(StrEnum):
    """Why a group waits for a human."""

    TYPE_CONFLICT = "type_conflict"
    SUMMARY_MISMATCH = "summary_mismatch"
    KEPT_APART = "kept_apart"


@dataclass(frozen=True)
class Group:
    """Entities of one name key; `queued` is None where the app's rule merges them by itself.

    `members` are in byte order of their ids and the first is the survivor.
    """

    normalized_name: str
    members: tuple[str, ...]
    queued: Queued | None = None

    @property
    def survivor(self) -> str:
        """The byte-wise lowest id."""
        return self.members[0]

    @property
    def losers(self) -> tuple[str, ...]:
        """Everybody else."""
        return self.members[1:]

    def as_json(self) -> dict[str, Any]:
        """The group as the report prints it."""
        return {
            "normalized_name": self.normalized_name,
            "members": list(self.members),
            "survivor": self.survivor,
            "losers": list(self.losers),
            "queued": self.queued.value if self.queued else None,
        }


SelfLoop = tuple[str, str, str]
"""An edge between two members of a group: its id, source and target; after the merge it leads back to its start."""

Rewrite = tuple[str, str, str]
"""A redirect that now leads to the final survivor: id, old target, new target."""


@dataclass(frozen=True)
class MergeReport:
    """What `duplicates` prints; `drift` is the heal's drift object. `apart` lists groups that rulings keep apart."""

    drift: Mapping[str, Any] | None = None
    groups: tuple[Group, ...] = ()
    merged_groups: int = 0
    queued_groups: int = 0
    redirects_written: tuple[tuple[str, str], ...] = ()
    redirects_rewritten: tuple[Rewrite, ...] = ()
    self_loops: tuple[SelfLoop, ...] = ()
    cycles: tuple[str, ...] = ()
    error: str | None = None
    skipped_reason: str | None = None
    applied: bool = False
    run: int | None = None
    apart: tuple[tuple[str, ...], ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def exit_code(self) -> int:
        """1 without leave to write, on an error, or when the merge was refused."""
        return 1 if not self.applied or self.error or self.skipped_reason else 0

    def as_json(self) -> dict[str, Any]:
        """The document of `duplicates --json`."""
        return {
            "drift": dict(self.drift) if self.drift is not None else None,
            "groups": [g.as_json() for g in self.groups],
            "merged_groups": self.merged_groups,
            "queued_groups": self.queued_groups,
            "redirects_written": [list(r) for r in self.redirects_written],
            "redirects_rewritten": [list(r) for r in self.redirects_rewritten],
            "self_loops": [list(s) for s in self.self_loops],
            "cycles": list(self.cycles),
            "error": self.error,
            "skipped_reason": self.skipped_reason,
            "run": self.run,
            "kept_apart": [list(ids) for ids in self.apart],
            "notes": list(self.notes),
        }


@dataclass(frozen=True)
class Grouping:
    """The groups to decide, and the ones that rulings have decided to be different things."""

    groups: tuple[Group, ...] = ()
    apart: tuple[tuple[str, ...], ...] = ()


def find_groups(candidates: Iterable[Candidate], apart: Apart | None = None) -> Grouping:
    """Group candidates by name key, in the order of the survivors' ids; `apart` is what rulings keep apart."""
    apart = apart or Apart()
    by_key: dict[str, list[Candidate]] = {}
    for candidate in candidates:
        key = merge_key(candidate.name)
        if key:
            by_key.setdefault(key, []).append(candidate)
    groups: list[Group] = []
    settled: list[tuple[str, ...]] = []
    for key, found in by_key.items():
        if len(found) < 2:
            continue
        members = sorted(found, key=lambda c: id_order(c.id))
        ids = tuple(m.id for m in members)
        if apart.all_apart(ids):
            settled.append(ids)
        else:
            groups.append(Group(key, ids, Queued.KEPT_APART if apart.pair_within(ids) else disposition(members)))
    groups.sort(key=lambda g: id_order(g.survivor))
    return Grouping(tuple(groups), tuple(sorted(settled, key=lambda ids: id_order(ids[0]))))


def disposition(members: Sequence[Candidate]) -> Queued | None:
    """Why a group must wait: types that differ, then summaries that are not all given and equal; else None."""
    if len({m.type for m in members}) > 1:
        return Queued.TYPE_CONFLICT
    summaries = {merge_key(m.summary) for m in members}
    return Queued.SUMMARY_MISMATCH if len(summaries) > 1 or "" in summaries else None


def id_order(entity_id: str) -> bytes:
    """Ids are ordered by their bytes, never by locale or casing."""
    return entity_id.encode("utf-8", "surrogatepass")


@dataclass(frozen=True)
class Compression:
    """What leading every redirect to its final survivor gave: rows rewritten, and ids whose chains never end."""

    rewrites: tuple[Rewrite, ...] = ()
    cycles: tuple[str, ...] = ()


def cycle_ids(redirects: Redirects) -> tuple[str, ...]:
    """The ids whose redirect chains never end, sorted."""
    return redirects.cycles()


# What a human decides


def planned_merges(
    merges: Iterable[tuple[int, Merge]],
    live: Mapping[str, str],
    rows: Mapping[str, str],
    apart: Apart | None = None,
) -> tuple[tuple[RedirectChange, ...], tuple[str, ...]]:
    """The redirects that rulings in force still ask for, and why some of them cannot be made.

    `merges` are ruling numbers with their bodies, oldest first; `live` maps the ids of live entities that were not
    merged away to their names; `rows` are the redirects there are.
    """
    changes: list[RedirectChange] = []
    notes: list[str] = []
    after = dict(rows)
    for seq, body in merges:
        for loser in body.losers:
            found = _one_merge(seq, loser, body.survivor, live, after, apart or Apart())
            if isinstance(found, str):
                notes.append(f"ruling #{seq}: {found}")
            elif found is not None:
                changes.append(found)
                after[loser] = found.after or loser
    return tuple(changes), tuple(notes)


def _one_merge(
    seq: int,
    loser: str,
    wanted: str,
    live: Mapping[str, str],
    rows: Mapping[str, str],
    apart: Apart,
) -> RedirectChange | str | None:
    redirects = Redirects(rows)
    survivor = redirects.resolve(wanted)
    if survivor is CYCLE:
        return f"{wanted} stands on a circle of redirects"
    now = redirects.survivor(loser)
    if now == survivor:
        return None
    if now is CYCLE:
        return f"{loser} stands on a circle of redirects"
    if now is not None:
        return f"{loser} was merged into {now} already"
    if survivor == loser:
        return f"{loser} would be merged into itself"
    if survivor not in live:
        return f"the survivor {survivor} is no live entity"
    if loser not in live:
        return f"{loser} is no live entity"
    if apart.separates(loser, survivor):
        return f"{loser} and {survivor} are kept apart by another ruling"
    why = f"ruling #{seq} merges it into {live[survivor]!r}"
    return RedirectChange(loser, live[loser], None, survivor, seq, why)


class Weight(NamedTuple):
    """What speaks for an entity as the survivor."""

    id: str
    name: str
    type: str
    facts: int
    edges: int
    summary: bool
    declared: bool


def ranked_survivors(members: Sequence[Weight]) -> tuple[Suggestion, ...]:
    """The members as survivors, the one most is known of first; ties go to the lowest id, as in the app."""
    most = max((m.facts + m.edges for m in members), default=0) or 1
    scored = [(_worth(m, most), m) for m in members]
    scored.sort(key=lambda s: (-s[0], id_order(s[1].id)))
    return tuple(Suggestion(m.id, round(score, 3), _reasons(m)) for score, m in scored)


def _worth(member: Weight, most: int) -> float:
    return 0.5 * (member.facts + member.edges) / most + 0.3 * member.declared + 0.2 * member.summary


def _reasons(member: Weight) -> tuple[str, ...]:
    declared = "declared" if member.declared else "undeclared"
    known = f"{member.facts} facts, {member.edges} edges"
    return (f"{member.name} [{member.type}, {declared}]", known, "has a summary" if member.summary else "no summary")


def decisions(members: Sequence[str], ranked: Sequence[Suggestion]) -> tuple[Body, ...]:
    """One body for each suggestion, merging the others into it, and last the one that calls them different things."""
    merges = [Merge(s.type, tuple(m for m in members if m != s.type)) for s in ranked]
    return (*merges, keep_apart(members))


def merge_into(members: Sequence[str], survivor: str) -> Merge:
    """The ruling that all members are one thing, `survivor`."""
    return Merge(survivor, tuple(m for m in members if m != survivor))


def keep_apart(members: Sequence[str]) -> Except:
    """The ruling that the members are different things, for good."""
    return Except(APART, tuple(sorted(set(members), key=id_order)))


def not_now(members: Sequence[str], until: dt.date) -> Except:
    """The ruling that the members are not merged before a day."""
    return Except(APART, tuple(sorted(set(members), key=id_order)), until)


class Ahead:
    """Where entities lead once the next heal has merged what rulings in force still ask for."""

    def __init__(self, changes: Iterable[RedirectChange], rows: Mapping[str, str]) -> None:
        """`changes` are those merges, `rows` the redirects there are."""
        after = {c.entity: c.after for c in changes if c.after is not None}
        self._seqs = {c.entity: c.ruling for c in changes if c.after is not None and c.ruling is not None}
        self._redirects = Redirects({**rows, **after})

    def settles(self, members: Sequence[str]) -> int | None:
        """The number of the last ruling that makes one of all members, or None where some stay apart."""
        seqs = [self._seqs[m] for m in members if m in self._seqs]
        if not seqs:
            return None
        ends = {self._redirects.resolve(m) for m in members}
        return max(seqs) if len(ends) == 1 and CYCLE not in ends else None


def merge_reason(members: Sequence[Weight], survivor: str, why: Sequence[str] = ()) -> str:
    """The reason that a merge is proposed with: what makes them one, and what speaks for the survivor."""
    names = list(dict.fromkeys(m.name for m in members))
    stays = next((m for m in members if m.id == survivor), None)
    shown = f"“{names[0]}”" if len(names) == 1 else " and ".join(f"“{n}”" for n in names[:3])
    one = f"One thing: {len(members)} entities are called {shown}" if len(names) == 1 else f"One thing: {shown}"
    near = f" ({'; '.join(why)})" if why and len(names) > 1 else ""
    if stays is None:
        return f"{one}{near}."
    known = f"{_count(stays.facts, 'fact')}, {_count(stays.edges, 'edge')}"
    summary = "a summary" if stays.summary else "no summary"
    return f"{one}{near}. The {stays.type} {stays.id} stays: it has {known} and {summary}."


def apart_reason(members: Sequence[Weight]) -> str:
    """The reason that keeping apart is proposed with: what tells them from each other."""
    names = list(dict.fromkeys(m.name for m in members))
    types = list(dict.fromkeys(m.type for m in members))
    shown = f"of the name “{names[0]}”" if len(names) == 1 else " and ".join(f"“{n}”" for n in names[:3])
    kinds = f": {', '.join(types[:6])}" if len(types) > 1 else ""
    return f"Different things {shown}{kinds}." if len(names) == 1 else f"Different things: {shown}{kinds}."


def _count(value: int, noun: str) -> str:
    return f"{value:,} {noun if value == 1 else noun + 's'}"


_WHY = {
    Queued.TYPE_CONFLICT: "they have one name and different types, so the app leaves them to a human",
    Queued.SUMMARY_MISMATCH: "they have one name and one type, and no summaries that agree",
    Queued.KEPT_APART: "some of them are ruled to be different things, the rest is open",
    None: "one name, one type and one summary: `duplicates --yes` merges them by itself",
}


def group_item(
    group: Group, name: str, ranked: Sequence[Suggestion], loops: Sequence[SelfLoop], members: Sequence[Weight] = ()
) -> QueueItem:
    """A duplicate group as a question; `data["bodies"]` holds one ruling for each suggestion and one to keep apart.

    `data["members"]` says what speaks for each of them.
    """
    why = [_WHY[group.queued]]
    if loops:
        why.append(f"merging turns {len(loops)} edges between them into loops: {', '.join(e for e, _, _ in loops[:5])}")
    return QueueItem(
        ItemKind.DUPLICATE,
        group.normalized_name,
        name,
        len(group.members),
        group.members[:1000],
        tuple(why),
        ("no ruling says whether they are one thing",),
        tuple(ranked),
        data={
            "group": group,
            "bodies": decisions(group.members, ranked),
            "self_loops": tuple(loops),
            "members": tuple(members),
        },
    )


@dataclass(frozen=True)
class NearGroup:
    """A pair that is no duplicate by its key and may be one all the same; `passages` both quote.

    `weights` say what speaks for either, `ruled` which ruling makes one of them at the next heal.
    """

    pair: NearPair
    passages: int = 0
    reasons: tuple[str, ...] = field(default=())
    weights: tuple[Weight, ...] = ()
    ruled: int | None = None

    @property
    def score(self) -> float:
        """How much speaks for one thing, 0 to 1."""
        same = 0.03 if self.pair.one.type == self.pair.other.type else -0.1
        return max(0.0, min(1.0, self.pair.score + same + (EVIDENCE_BONUS if self.passages else 0.0)))

    @property
    def members(self) -> tuple[str, str]:
        """The two ids, byte-wise lowest first."""
        return self.pair.one.id, self.pair.other.id

    def as_json(self) -> dict[str, Any]:
        """The pair as the command line prints it."""
        return {
            "members": list(self.members),
            "names": [self.pair.one.name, self.pair.other.name],
            "score": round(self.score, 3),
            "why": "; ".join(self.reasons),
        }


def near_groups(
    pairs: Iterable[NearPair],
    passages: Mapping[frozenset[str], int],
    apart: Apart | None = None,
) -> tuple[NearGroup, ...]:
    """Near pairs that no ruling keeps apart, with the evidence they share, the likeliest first."""
    found: list[NearGroup] = []
    for pair in pairs:
        ids = frozenset({pair.one.id, pair.other.id})
        if apart is not None and apart.separates(pair.one.id, pair.other.id):
            continue
        shared = passages.get(ids, 0)
        reasons = [pair.reason.value]
        if shared:
            reasons.append(f"both quote {shared} of the same passages")
        if label_key(pair.one.type) != label_key(pair.other.type):
            reasons.append(f"but one is {pair.one.type} and the other {pair.other.type}")
        found.append(NearGroup(pair, shared, tuple(reasons)))
    return tuple(sorted(found, key=lambda g: (-g.score, id_order(g.members[0]), id_order(g.members[1]))))


def same_evidence(quotes: Iterable[tuple[str, str]]) -> dict[frozenset[str], int]:
    """How many rare passages two entities both quote, from pairs of (passage, entity).

    Blocked by passage: one that many entities quote is left out, so that never all are compared with all.
    """
    by_passage: dict[str, set[str]] = {}
    for passage, entity in quotes:
        who = by_passage.setdefault(passage, set())
        if len(who) <= COMMON_PASSAGE:
            who.add(entity)
    found: dict[frozenset[str], int] = {}
    for who in by_passage.values():
        if 2 <= len(who) <= COMMON_PASSAGE:
            for pair in _pairs(sorted(who)):
                found[pair] = found.get(pair, 0) + 1
    return found


def _pairs(ids: Sequence[str]) -> Iterator[frozenset[str]]:
    return (frozenset({a, b}) for at, a in enumerate(ids) for b in ids[at + 1 :])
