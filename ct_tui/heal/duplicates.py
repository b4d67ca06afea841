"""Duplicates: the app's merge sweep in its order, and what a human sees and decides beyond it.

Source of the order: brain format 5.3. Redirects only: the loser's row, facts, edges and ledger rows stay where they
are, and deleting a redirect restores the loser. Every redirect is kept in our history, so a run can be undone.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from ct_tui.brain import curation, own, readers
from ct_tui.brain.backup import backed_up, require_sound
from ct_tui.domain.apart import kept_apart
from ct_tui.domain.census import display
from ct_tui.domain.duplicates import (
    Ahead,
    Compression,
    Group,
    Grouping,
    MergeReport,
    NearGroup,
    Weight,
    decisions,
    find_groups,
    group_item,
    near_groups,
    planned_merges,
    ranked_survivors,
    same_evidence,
)
from ct_tui.domain.errors import BrainBusy, BrainError, CtTuiError
from ct_tui.domain.lint.names import SharedKeys
from ct_tui.domain.queue import Impact
from ct_tui.heal.heal_pass import DEGRADED, UNCONFIRMED, UNTRUSTED
from ct_tui.heal.lint import Pace
from ct_tui.heal.situation import REMAP_MARKER

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from ct_tui.brain.connection import Brain, Db
    from ct_tui.domain.duplicates import Candidate, SelfLoop
    from ct_tui.domain.near import NearPair
    from ct_tui.domain.plan import RedirectChange
    from ct_tui.domain.queue import EntityView, QueueItem, Suggestion
    from ct_tui.domain.rulings import Body, Merge
    from ct_tui.heal.situation import Situation

REMAP_NOT_RUN = "alias_remap_not_run"

NEEDED = ("llm_wiki_meta", "entity_redirects", "curated_entities")
"""Without these tables the brain waits for the app to migrate it, and the report is empty."""

QUEUE_LIMIT = 50_000
"""Live entities up to which the review queue compares names by itself; larger brains are asked for it."""


@dataclass(frozen=True)
class Asked:
    """What the caller allows: to write, and what was said to the drift."""

    apply: bool = False
    confirm: str | None = None
    waive: str | None = None
    by: str = ""


def sweep(
    brain: Brain,
    situation: Situation,
    asked: Asked,
    clock: Callable[[], float],
    stop: threading.Event | None = None,
) -> MergeReport:
    """The app's merge of duplicates: the report, and with leave to write each eligible group in its own transaction."""
    missing = [t for t in NEEDED if not situation.schema.has(t)]
    if missing:
        note = f"the brain has no table {missing[0]} yet: open it once with the app"
        return MergeReport(applied=asked.apply, notes=(note,))
    with brain.snapshot() as db:
        found = grouping(db, situation)
        loops = _loops_of(db, situation, found.groups)
    planned = [g for g in found.groups if g.queued is None]
    report = MergeReport(
        drift=situation.drift.as_json() if situation.drift else None,
        groups=found.groups,
        merged_groups=len(planned),
        queued_groups=len(found.groups) - len(planned),
        self_loops=tuple(loop for g in planned for loop in loops.get(g.survivor, ())),
        cycles=situation.redirects.cycles(),
        apart=found.apart,
    )
    if not asked.apply:
        return report
    # From here on only what was really merged counts.
    report = replace(report, applied=True, merged_groups=0)
    refusal, drift, note = _judge(brain, situation, asked)
    report = replace(report, drift=drift, notes=(note,) if note else ())
    if refusal is not None:
        return replace(report, skipped_reason=refusal)
    return _Sweep(brain, situation, asked.by, clock, stop).run(report, planned)


def grouping(db: Db, situation: Situation, pace: Pace | None = None) -> Grouping:
    """The duplicate groups of a brain; only entities whose key is shared are ever held together."""
    pace = pace or Pace()
    schema = situation.schema
    if "summary" not in schema.columns("curated_entities"):
        # Two of one name are one and the same only if their summaries say so.
        return Grouping()
    keys = SharedKeys(curation.entity_count(db, schema))
    for candidate in pace.rows(curation.candidates(db, schema)):
        keys.see(candidate.name)
    sharing = (c for c in pace.rows(curation.candidates(db, schema)) if keys.key_of(c.name) is not None)
    return find_groups(sharing, kept_apart(situation.acting, situation.today))


def _loops_of(db: Db, situation: Situation, groups: Iterable[Group]) -> dict[str, tuple[SelfLoop, ...]]:
    curation.fill_members(db, ((g.survivor, g.members) for g in groups))
    return curation.self_loops(db, situation.schema)


def _judge(brain: Brain, situation: Situation, asked: Asked) -> tuple[str | None, dict[str, Any] | None, str]:
    """Why the merge may not write (a reason, or None), the drift with what was said to it, and a note."""
    drift = situation.drift
    shown = drift.as_json() if drift else None
    with brain.reading() as db:
        marked = readers.meta(db, situation.schema, REMAP_MARKER) is not None
    if not marked:
        return REMAP_NOT_RUN, shown, "heal has not run on this brain yet: types that it would align look like conflicts"
    if situation.degraded:
        return DEGRADED, shown, situation.degraded
    if situation.table.distrust:
        return (
            UNTRUSTED,
            shown,
            f"a ruling may keep entities apart, and none can be trusted: {situation.table.distrust}",
        )
    given = asked.confirm or asked.waive
    if drift is None:
        return None, None, "nothing drifted, so --confirm-drift and --waive-drift were ignored" if given else ""
    if given != drift.old_hash:
        return UNCONFIRMED, shown, drift.unanswered(given)
    confirmed = asked.confirm is not None
    return None, replace(drift, confirmed=confirmed, waived=not confirmed).as_json(), ""


class _Sweep:
    """One applied sweep: a run of its own, one IMMEDIATE transaction a group, every failure kept to its group."""

    def __init__(
        self,
        brain: Brain,
        situation: Situation,
        by: str,
        clock: Callable[[], float],
        stop: threading.Event | None,
    ) -> None:
        self._brain = brain
        self._situation = situation
        self._by = by
        self._clock = clock
        self._stop = stop
        self._run: int | None = None
        self._errors: list[str] = []
        self._targets: set[str] | None = None

    def run(self, report: MergeReport, groups: Sequence[Group]) -> MergeReport:
        """Merge the groups one by one and tell what came of it."""
        if not groups:
            return report
        if self._brain.write_refusal:
            return replace(report, error=f"nothing was written: {self._brain.write_refusal}")
        try:
            require_sound(self._brain)
            self._run = self._begin()
        except CtTuiError as error:
            return replace(report, error=error.message)
        merged, written, rewritten, cycles = self._merge(groups)
        stopped = len(merged) + len(self._errors) < len(groups)
        self._finish(len(written), stopped=stopped)
        done = set(merged)
        members = {m for g in groups if g.survivor in done for m in g.members}
        return replace(
            report,
            merged_groups=len(merged),
            redirects_written=tuple(written),
            redirects_rewritten=tuple(rewritten),
            self_loops=tuple(loop for loop in report.self_loops if loop[1] in members),
            cycles=tuple(sorted({*report.cycles, *cycles})),
            error="; ".join(self._errors) or None,
            run=self._run,
            notes=(*report.notes, *(("stopped between groups",) if stopped and not self._errors else ())),
        )

    def _merge(
        self, groups: Sequence[Group]
    ) -> tuple[list[str], list[tuple[str, str]], list[tuple[str, str, str]], set[str]]:
        merged: list[str] = []
        written: list[tuple[str, str]] = []
        rewritten: list[tuple[str, str, str]] = []
        cycles: set[str] = set()
        for group in groups:
            if self._stop is not None and self._stop.is_set():
                break
            try:
                result = self._brain.write(partial(self._one, group=group))
            except BrainBusy as error:
                # Whoever holds the lock now would make every further group wait in vain.
                self._errors.append(f"group {group.survivor} failed: {error.message}")
                break
            except CtTuiError as error:
                self._errors.append(f"group {group.survivor} failed: {error.message}")
                continue
            if self._targets is None:
                self._targets = set(self._situation.state.redirects.values())
            self._targets.add(group.survivor)
            merged.append(group.survivor)
            written += result.written
            rewritten += result.rewritten
            cycles.update(result.cycles)
        return merged, written, rewritten, cycles

    def _one(self, db: Db, group: Group) -> curation.RedirectResult:
        """One group inside its transaction: nothing about it may have changed since it was judged."""
        schema = self._situation.schema
        now = curation.candidates_by_id(db, schema, group.members)
        if find_groups(now).groups != (group,):
            raise BrainError("its members changed since they were compared")
        log = curation.RedirectLog(db, self._run or 0, self._by, int(self._clock()))
        for loser in group.losers:
            log.put(loser, group.survivor)
        # Once every redirect was led on, only one that leads to a loser of this group can need it again.
        led_on = self._targets is not None and self._targets.isdisjoint(group.losers)
        compressed = Compression() if led_on else log.compress()
        log.save()
        pairs = tuple((loser, group.survivor) for loser in group.losers)
        return curation.RedirectResult(pairs, compressed.rewrites, compressed.cycles)

    def _begin(self) -> int:
        saved = backed_up(self._brain, self._clock())
        at, binding = int(self._clock()), self._situation.binding

        def job(db: Db) -> int:
            own.remember_head(db, self._situation.table.head)
            return curation.start_merge_run(db, binding, by=self._by, at=at, backup=saved)

        return self._brain.write(job)

    def _finish(self, merges: int, *, stopped: bool) -> None:
        run = self._run or 0

        def job(db: Db) -> None:
            own.add_to_run(db, run, own.Wrote(merged=merges))
            own.finish_run(db, run, stopped=stopped)

        try:
            self._brain.write(job)
        except CtTuiError as error:
            self._errors.append(f"the run could not be closed: {error.message}")


# What rulings ask for, as a part of heal's plan


def ruled_merges(db: Db, situation: Situation) -> tuple[tuple[RedirectChange, ...], tuple[str, ...]]:
    """The redirects that merge rulings in force still ask for, and why some cannot be made."""
    merges = [(r.seq, b) for r, b in situation.acting.merges]
    if not merges or not situation.schema.has("entity_redirects"):
        return (), ()
    ids = {i for _, b in merges for i in (b.survivor, *b.losers)}
    ends = {str(e) for i in ids if isinstance(e := situation.redirects.resolve(i), str)}
    rows = readers.live_by_ids(db, situation.schema, sorted(ids | ends))
    live = {display(r.id): display(r.name) for r in rows if r.readable}
    return planned_merges(merges, live, situation.state.redirects, kept_apart(situation.acting, situation.today))


def undo_merges(db: Db, situation: Situation, run: int) -> tuple[tuple[RedirectChange, ...], tuple[str, ...]]:
    """What takes a run's merges back, newest first, and which of its redirects changed since."""
    changes = curation.merges_of_run(db, situation.schema, run)
    now = dict(situation.state.redirects)
    kept: list[RedirectChange] = []
    moved: list[str] = []
    names = readers.names_of(db, [c.entity for c in changes])
    for change in changes:
        if now.get(change.entity) != change.before:
            moved.append(
                f"{change.entity}: expected {_redirect(change.before)}, now {_redirect(now.get(change.entity))}"
            )
            continue
        if change.after is None:
            now.pop(change.entity, None)
        else:
            now[change.entity] = change.after
        kept.append(replace(change, name=names.get(change.entity, ("", ""))[0]))
    return tuple(kept), tuple(moved)


def _redirect(target: str | None) -> str:
    return "not merged away" if target is None else f"merged into {target}"


def merge_impact(db: Db, situation: Situation, body: Merge) -> Impact:
    """What a merge would do before anybody signs it: entities that redirect, and edges that become loops."""
    members = (body.survivor, *body.losers)
    curation.fill_members(db, [("asked", members)], situation.redirects)
    loops = curation.self_loops(db, situation.schema).get("asked", ())
    facts = sum(n for member, n in curation.fact_counts(db, situation.schema).items() if member in body.losers)
    notes = [f"{facts} facts stay where they are and are read with the survivor's"] if facts else []
    if loops:
        notes.append(f"{len(loops)} edges between them become loops: {', '.join(edge for edge, _, _ in loops[:5])}")
    notes.append("only redirects are written; undoing the run restores every one of them")
    return Impact(len(body.losers), sample=body.losers[:5], notes=tuple(notes))


# What a human looks at


@dataclass(frozen=True)
class Card:
    """A group with what speaks for each member: a suggestion and a ruling each; the last ruling keeps them apart.

    `ruled` is the number of a ruling in force that makes one of all members at the next heal.
    """

    group: Group
    name: str
    members: tuple[Weight, ...]
    suggestions: tuple[Suggestion, ...]
    bodies: tuple[Body, ...]
    self_loops: tuple[SelfLoop, ...] = ()
    passages: int = 0
    ruled: int | None = None

    def item(self) -> QueueItem:
        """The group as a question of the review queue."""
        return group_item(self.group, self.name, self.suggestions, self.self_loops, self.members)


@dataclass(frozen=True)
class Board:
    """Everything the duplicates view shows: groups of one key, near pairs, groups that rulings keep apart.

    `stopped` says that not all names were compared, `near_searched` whether near names were looked for.
    """

    groups: tuple[Card, ...] = ()
    near: tuple[NearGroup, ...] = ()
    apart: tuple[tuple[str, ...], ...] = ()
    cycles: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    names: dict[str, str] = field(default_factory=dict)
    stopped: bool = False
    near_searched: bool = True

    def as_json(self) -> dict[str, Any]:
        """The board as the command line prints it beside the report."""
        return {
            "groups": [c.group.as_json() for c in self.groups],
            "near": [n.as_json() for n in self.near],
            "kept_apart": [list(ids) for ids in self.apart],
            "cycles": list(self.cycles),
            "notes": list(self.notes),
        }


def board(db: Db, situation: Situation, *, near: bool = True, pace: Pace | None = None) -> Board:
    """The duplicates of a brain as a human decides them; `near` also searches names that are not the same."""
    pace = pace or Pace()
    if pace.progress is not None:
        # The names pass twice for groups and twice for near pairs.
        pace.total = curation.entity_count(db, situation.schema) * (4 if near else 2)
    found = grouping(db, situation, pace)
    # The conflicting groups come first, since the rest needs nobody.
    order = sorted(found.groups, key=lambda g: (g.queued is None, -len(g.members), g.normalized_name))
    shown = cards(db, situation, order)
    pairs, crowded = _near_pairs(db, situation, pace) if near else ((), 0)
    notes = [f"{crowded:,} crowded blocks of names were compared with their neighbours only"] if crowded else []
    if pace.stopped:
        notes.append("stopped before the end: not all names were compared")
    return Board(
        tuple(shown),
        _near_cards(db, situation, pairs),
        found.apart,
        situation.redirects.cycles(),
        tuple(notes),
        {w.id: w.name for c in shown for w in c.members},
        pace.stopped,
        near,
    )


def reweighed(db: Db, situation: Situation, found: Board) -> Board:
    """A board of before against the rulings in force now; the names are not compared again."""
    ahead, apart = _ahead(db, situation), kept_apart(situation.acting, situation.today)
    groups = [replace(c, ruled=ahead.settles(c.group.members)) for c in found.groups]
    split = [c.group.members for c in groups if apart.all_apart(c.group.members)]
    return replace(
        found,
        groups=tuple(c for c in groups if c.group.members not in split),
        near=tuple(replace(n, ruled=ahead.settles(n.members)) for n in found.near if not apart.separates(*n.members)),
        apart=(*found.apart, *split),
    )


def _near_cards(db: Db, situation: Situation, pairs: Sequence[NearPair]) -> tuple[NearGroup, ...]:
    """Near pairs with what speaks for either member and what rulings say of them."""
    found = near_groups(pairs, _shared_passages(db, situation, pairs), kept_apart(situation.acting, situation.today))
    if not found:
        return ()
    schema = situation.schema
    ids = dict.fromkeys(i for n in found for i in n.members)
    curation.fill_members(db, (("near", (i,)) for i in ids), situation.redirects)
    fact_counts, edge_counts = curation.fact_counts(db, schema), curation.edge_counts(db, schema)
    members = {c.id: c for c in curation.candidates_by_id(db, schema, ids)}
    weights = {i: _weight(situation, c, fact_counts, edge_counts) for i, c in members.items()}
    ahead = _ahead(db, situation)
    return tuple(
        replace(
            n,
            weights=tuple(weights[i] for i in n.members if i in weights),
            ruled=ahead.settles(n.members),
        )
        for n in found
    )


def _ahead(db: Db, situation: Situation) -> Ahead:
    return Ahead(ruled_merges(db, situation)[0], situation.state.redirects)


def cards(db: Db, situation: Situation, groups: Sequence[Group]) -> list[Card]:
    """Groups with the weight of their members; one pass over facts and one over edges, however many groups."""
    schema = situation.schema
    curation.fill_members(db, ((g.survivor, g.members) for g in groups), situation.redirects)
    fact_counts, edge_counts = curation.fact_counts(db, schema), curation.edge_counts(db, schema)
    loops = curation.self_loops(db, schema)
    passages = _passages_by_group(groups, same_evidence(curation.quotes(db, schema)))
    members = {c.id: c for c in curation.candidates_by_id(db, schema, (m for g in groups for m in g.members))}
    ahead = _ahead(db, situation)
    found: list[Card] = []
    for group in groups:
        rows = [members[m] for m in group.members if m in members]
        weights = tuple(_weight(situation, c, fact_counts, edge_counts) for c in rows)
        ranked = ranked_survivors(weights)
        name = rows[0].name if rows else group.normalized_name
        bodies = decisions(group.members, ranked)
        alike = passages.get(group.survivor, 0)
        ruled = ahead.settles(group.members)
        found.append(Card(group, name, weights, ranked, bodies, loops.get(group.survivor, ()), alike, ruled))
    return found


def _passages_by_group(groups: Sequence[Group], shared: dict[frozenset[str], int]) -> dict[str, int]:
    """By survivor, how many passages two members of a group both quote."""
    group_of = {m: g.survivor for g in groups for m in g.members}
    found: dict[str, int] = {}
    for pair, count in shared.items():
        one, other = (group_of.get(i) for i in pair)
        if one is not None and one == other:
            found[one] = found.get(one, 0) + count
    return found


def _weight(
    situation: Situation, candidate: Candidate, fact_counts: dict[str, int], edge_counts: dict[str, int]
) -> Weight:
    return Weight(
        candidate.id,
        candidate.name,
        candidate.type,
        fact_counts.get(candidate.id, 0),
        edge_counts.get(candidate.id, 0),
        bool(candidate.summary.strip()),
        candidate.type in situation.vocabulary,
    )


def _near_pairs(db: Db, situation: Situation, pace: Pace) -> tuple[tuple[NearPair, ...], int]:
    from ct_tui.domain.near import NearSearch

    search = NearSearch()
    schema = situation.schema
    pairs = tuple(search.pairs(lambda: pace.rows(curation.named(db, schema)), curation.entity_count(db, schema)))
    return pairs, search.crowded


def _shared_passages(db: Db, situation: Situation, pairs: Sequence[NearPair]) -> dict[frozenset[str], int]:
    if not pairs:
        return {}
    members = dict.fromkeys(i for p in pairs for i in (p.one.id, p.other.id))
    curation.fill_members(db, (("near", (m,)) for m in members), situation.redirects)
    return same_evidence(curation.quotes(db, situation.schema))


@dataclass(frozen=True)
class Comparison:
    """Entities beside each other; `shared` are the passages that two of them quote, `neighbours` what both lead to."""

    entities: tuple[EntityView, ...]
    near: tuple[str, ...] = ()
    shared: tuple[str, ...] = ()
    neighbours: tuple[str, ...] = ()
    self_loops: tuple[SelfLoop, ...] = ()


def compare(db: Db, situation: Situation, entities: tuple[EntityView, ...]) -> Comparison:
    """What entities have in common, for a human who decides whether they are one thing."""
    ids = [e.id for e in entities]
    curation.fill_members(db, [("asked", ids)], situation.redirects)
    quoted: dict[str, set[str]] = {}
    for passage, member in curation.quotes(db, situation.schema):
        quoted.setdefault(passage, set()).add(member)
    ends: dict[str, set[str]] = {}
    for entity in entities:
        for edge in entity.edges:
            ends.setdefault(edge.other_name, set()).add(entity.id)
    return Comparison(
        entities,
        _why_near(entities),
        tuple(sorted(p for p, who in quoted.items() if len(who) > 1)),
        tuple(sorted(name for name, who in ends.items() if len(who) > 1)),
        curation.self_loops(db, situation.schema).get("asked", ()),
    )


def _why_near(entities: Sequence[EntityView]) -> tuple[str, ...]:
    from ct_tui.domain.near import shape, why_near

    shapes = [shape(e.name) for e in entities]
    reasons = (why_near(a, b) for at, a in enumerate(shapes) for b in shapes[at + 1 :])
    return tuple(dict.fromkeys(r.value for r in reasons if r is not None))


def queue_items(db: Db, situation: Situation) -> Iterator[QueueItem]:
    """The duplicate groups that wait for a human, as questions; a large brain gives one question that says so.

    A group that a ruling makes one at the next heal waits for nobody.
    """
    count = curation.entity_count(db, situation.schema)
    if count > QUEUE_LIMIT:
        yield _too_large(count)
        return
    groups = [g for g in grouping(db, situation).groups if g.queued is not None]
    for card in cards(db, situation, groups) if groups else ():
        if card.ruled is None:
            yield card.item()


def automatic(db: Db, situation: Situation) -> bool:
    """Whether names are compared without being asked."""
    return curation.entity_count(db, situation.schema) <= QUEUE_LIMIT


def _too_large(count: int) -> QueueItem:
    from ct_tui.domain.queue import ItemKind, QueueItem

    return QueueItem(
        ItemKind.DUPLICATE,
        "*",
        "names not compared here",
        0,
        (),
        (f"comparing the names of {count:,} entities takes a while, so the queue leaves it to the duplicates view",),
        ("open the duplicates view, or run: ct-tui duplicates",),
    )
