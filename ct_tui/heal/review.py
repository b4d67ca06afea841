"""The review queue: the survey's groups as questions, each with its evidence and ranked targets."""

from __future__ import annotations

from collections import Counter
from functools import lru_cache
from typing import TYPE_CHECKING

from ct_tui.brain import readers
from ct_tui.brain.minting import fresh_id
from ct_tui.domain.census import display
from ct_tui.domain.gate import GateVerdict, admit
from ct_tui.domain.names import label_key
from ct_tui.domain.queue import ItemKind, Later, Queue, QueueItem, Suggestion
from ct_tui.domain.rulings import dead_aliases
from ct_tui.domain.suggest import Basis, suggest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from ct_tui.brain.connection import Db
    from ct_tui.domain.census import RawText
    from ct_tui.domain.rulings import DeadAlias
    from ct_tui.heal.held import ProposalVerdict
    from ct_tui.heal.situation import Situation
    from ct_tui.heal.survey import Group, Survey

REMEMBERED = 500
"""Labels whose suggestions are kept once they have been worked out."""

_KINDS = {kind.slug: kind for kind in ItemKind}
# What a curator meets first: questions that one ruling settles for many, then single cases, then housekeeping.
_ORDER = (
    ItemKind.UNDECLARED,
    ItemKind.DEGRADED,
    ItemKind.GATE_SKIPPED,
    ItemKind.UNLABELED,
    ItemKind.PROPOSAL,
    ItemKind.BLANK,
    ItemKind.DEAD_ALIAS,
    ItemKind.MANIFEST,
    ItemKind.ROW,
    ItemKind.SHIELDED,
    ItemKind.EDGE,
    ItemKind.DUPLICATE,
    ItemKind.FINDING,
)
_RANK = {kind: at for at, kind in enumerate(_ORDER)}
# Kinds whose question is "which declared type is this?".
_ASK_FOR_TYPE = frozenset(
    {ItemKind.UNDECLARED, ItemKind.DEGRADED, ItemKind.GATE_SKIPPED, ItemKind.UNLABELED, ItemKind.PROPOSAL}
)


def build_queue(
    db: Db,
    situation: Situation,
    found: Survey,
    counts: Iterable[tuple[RawText, int]],
    *,
    fits: Callable[[str], Mapping[str, tuple[int, int]]],
    held: Iterable[ProposalVerdict] = (),
    extra: Iterable[QueueItem] = (),
) -> Queue:
    """All open questions of one survey.

    `counts` are the live entities by type; `fits` gives the edges of a label that each type would satisfy.
    """
    basis = _Ranking(situation, counts, fits)
    items = [_proposal_item(verdict, situation, basis) for verdict in held]
    # The survey meets only some of the unreadable rows; they are listed below, all of them together.
    groups = ((where, group) for where, group in found.groups.items() if where[0] != ItemKind.ROW.slug)
    items += [_item(slug, key, group, basis) for (slug, key), group in groups]
    items += _dead_alias_items(situation)
    items += _unreadable_manifests(situation, found)
    items += _unreadable_rows(db, situation)
    items += extra
    items.sort(key=lambda i: (_RANK[i.kind], i.data.get("rank", 0), -i.count, i.key))
    return Queue(tuple(items))


def _proposal_item(verdict: ProposalVerdict, situation: Situation, basis: _Ranking) -> QueueItem:
    """A proposal that the gate holds, with what would let it pass."""
    proposal = verdict.proposal
    label = proposal.type or ""
    after = admit(proposal.type, situation.ladder.decide(fresh_id(), proposal.paths), situation.acting)
    fix = verdict.fix
    if after.verdict is not GateVerdict.HOLD:
        fix = f"the next heal mends this: it completes the manifest, and the proposal then lands as {after.lands_as}"
    return QueueItem(
        ItemKind.PROPOSAL,
        proposal.id,
        proposal.name,
        1,
        (),
        (f"the librarian proposes {proposal.name!r} as {label or 'no type'!r}", verdict.cause),
        (fix,) if fix else (),
        Later(label, basis.of) if label and label not in situation.vocabulary else (),
        proposal.created_at,
        {"type": proposal.type, "paths": list(proposal.paths), "reasoning": proposal.reasoning},
    )


class _Ranking:
    """Suggestions for labels, with the declared types' use as the tie-break."""

    def __init__(
        self,
        situation: Situation,
        counts: Iterable[tuple[RawText, int]],
        fits: Callable[[str], Mapping[str, tuple[int, int]]],
    ) -> None:
        self.situation = situation
        self._fits = fits
        used: Counter[str] = Counter()
        for raw, count in counts:
            used[label_key(display(raw))] += count
        self._used = {name: used[label_key(name)] for name in situation.vocabulary.names}
        # Ranked targets for a label; those that were just asked for are asked for again.
        self.of = lru_cache(REMEMBERED)(self._rank)

    def _rank(self, label: str) -> tuple[Suggestion, ...]:
        situation = self.situation
        return suggest(label, Basis(situation.vocabulary, situation.acting, self._fits(label), self._used))


def _item(slug: str, key: str, group: Group, basis: _Ranking) -> QueueItem:
    kind = ItemKind.MANIFEST if slug == "held" else _KINDS[slug]
    label = group.label
    asks = kind in _ASK_FOR_TYPE and kind is not ItemKind.UNLABELED
    types = ", ".join(f"{n} × {t}" for t, n in group.types.most_common(5))
    why = [group.why, *_trace(group)]
    if kind in {ItemKind.DEGRADED, ItemKind.SHIELDED, ItemKind.MANIFEST}:
        why.append(f"their types now: {types}")
    return QueueItem(
        kind,
        f"hold:{key}" if slug == "held" else key,
        label,
        group.count,
        tuple(group.ids),
        tuple(dict.fromkeys(w for w in why if w)),
        _why_not(kind, label, basis.situation),
        Later(label, basis.of) if asks else (),
        data={"types": dict(group.types)},
    )


def _trace(group: Group) -> list[str]:
    """The last steps of the ladder, which say by what row or folder the question stands here."""
    if group.decision is None:
        return []
    return [f"rung {step.rung}: {step.why}" for step in group.decision.trace[-2:]]


def _why_not(kind: ItemKind, label: str, situation: Situation) -> tuple[str, ...]:
    """Why nothing has settled it yet."""
    if kind is ItemKind.SHIELDED:
        return ("a shielded entity is reported and never retyped; lift the opt-out or the folder rule first",)
    if kind not in _ASK_FOR_TYPE:
        return ()
    found = ["it is no other spelling of a declared type"]
    alias = situation.acting.alias_for(label)
    if alias is None:
        found.append("no valid ruling names it")
    elif situation.vocabulary.canonical(alias.to_type) is None:
        found.append(f"ruling #{alias.ruling.seq} names it, but its target {alias.to_type} is not declared")
    else:
        found.append(f"ruling #{alias.ruling.seq} names it, but an alias never touches these entities by itself")
    problem = next((e for e in situation.table.problems() if _names(e.fields, label)), None)
    if problem is not None:
        found.append(f"ruling #{problem.seq} names it and does not act: {problem.state.value}")
    if situation.table.distrust:
        found.append(f"no ruling acts: {situation.table.distrust}")
    return tuple(found)


def _names(fields: Mapping[str, object], label: str) -> bool:
    named = (fields.get("from"), fields.get("type"))
    return any(isinstance(n, str) and label_key(n) == label_key(label) for n in named)


def _dead_alias_items(situation: Situation) -> list[QueueItem]:
    return [_dead_item(d) for d in dead_aliases(situation.table, situation.state.manifests.vocabulary)]


def _dead_item(dead: DeadAlias) -> QueueItem:
    seq = dead.ruling.seq
    return QueueItem(
        ItemKind.DEAD_ALIAS,
        str(seq),
        str(dead.ruling.body),
        1,
        (),
        (f"ruling #{seq} is valid and cannot act: {dead.message}",),
        ("revoke it, or rule so that its target is declared",),
        data={"seq": seq, "rule": dead.why.value},
    )


def _unreadable_manifests(situation: Situation, found: Survey) -> list[QueueItem]:
    known = {key for slug, key in found.groups if slug == "manifest"}
    rows = situation.state.manifests.rows.values()
    return [
        QueueItem(
            ItemKind.MANIFEST,
            row.entity_id,
            row.entity_id,
            1,
            (),
            (f"the manifest row cannot be read: {row.error}",),
            ("repair the row in the app, or remove it; it is never written here",),
        )
        for row in rows
        if not row.readable and row.entity_id not in known
    ]


def _unreadable_rows(db: Db, situation: Situation) -> list[QueueItem]:
    """Rows of which id, name or type is no readable text, as one question."""
    rows = readers.unreadable_rows(db, situation.schema)
    if not rows:
        return []
    ids = tuple(display(r.id) for r in rows[:1000])
    why = "id, name or type is not readable text, so these rows are shown and never written"
    return [QueueItem(ItemKind.ROW, "unreadable", "unreadable rows", len(rows), ids, (why,))]
