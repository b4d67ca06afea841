"""Duplicates as a person decides them: one case is a group of one name, or two names that are near.

A case that is decided keeps its place until the decision is signed: decisions can be piled up and signed together.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from ct_tui.domain.duplicates import (
    Queued,
    apart_reason,
    keep_apart,
    merge_into,
    merge_reason,
    ranked_survivors,
)
from ct_tui.domain.queue import ItemKind, QueueItem
from ct_tui.tui.signs import QUEUED_WORDS
from ct_tui.tui.text import NOTHING, blank, counted, data, drawn, number, right, say, share
from ct_tui.tui.widgets.rows import Row, columns
from ct_tui.tui.widgets.tree import Parent

if TYPE_CHECKING:
    import datetime as dt

    from ct_tui.domain.duplicates import NearGroup, SelfLoop, Weight
    from ct_tui.domain.queue import EntityView, Suggestion
    from ct_tui.domain.rulings import Body
    from ct_tui.heal.duplicates import Board, Card
    from ct_tui.tui.text import Line


class Stand(StrEnum):
    """How a case stands; the order is that of the list."""

    OPEN = "open"
    NEAR = "near"
    BY_ITSELF = "merges by itself"
    RULED = "ruled"


@dataclass(frozen=True)
class Case:
    """One case; `members` come in the order of their digits, the one most is known of first."""

    key: str
    name: str
    stand: Stand
    members: tuple[Weight, ...]
    suggestions: tuple[Suggestion, ...]
    queued: Queued | None = None
    near: NearGroup | None = None
    self_loops: tuple[SelfLoop, ...] = ()
    passages: int = 0
    ruled: int | None = None

    @property
    def ids(self) -> tuple[str, ...]:
        """The members' ids in the order of their digits."""
        return tuple(m.id for m in self.members)

    @property
    def why(self) -> tuple[str, ...]:
        """Why the names are near; empty for names that are the same."""
        return self.near.reasons if self.near is not None else ()

    def item(self) -> QueueItem:
        """The case as a question that covers its members."""
        return QueueItem(ItemKind.DUPLICATE, self.key, self.name, len(self.ids), self.ids)


@dataclass(frozen=True)
class Decision:
    """What was decided of a case: all become `survivor`, or None where they are different things."""

    case: Case
    survivor: str | None
    until: dt.date | None = None

    @property
    def body(self) -> Body:
        """The ruling."""
        return keep_apart(self.case.ids) if self.survivor is None else merge_into(self.case.ids, self.survivor)

    @property
    def reason(self) -> str:
        """The reason that it is proposed with."""
        members = self.case.members
        if self.survivor is None:
            return apart_reason(members)
        return merge_reason(members, self.survivor, self.case.why)

    @property
    def digit(self) -> int:
        """The digit of the survivor; 0 where they stay apart."""
        return 0 if self.survivor is None else self.case.ids.index(self.survivor) + 1


def case_of(item: QueueItem) -> Case | None:
    """The case that a question of the queue is about; None where it only says where to look."""
    group = item.data.get("group")
    if item.kind is not ItemKind.DUPLICATE or group is None:
        return None
    by_id = {m.id: m for m in item.data["members"]}
    return Case(
        item.id,
        item.label,
        Stand.OPEN,
        tuple(by_id[s.type] for s in item.suggestions if s.type in by_id),
        item.suggestions,
        group.queued,
        None,
        item.data["self_loops"],
    )


def cases_of(board: Board) -> tuple[Case, ...]:
    """Every case of a board: what waits for a human first, the largest ahead; what is ruled already last."""
    found = [*(_group_case(card) for card in board.groups), *(_near_case(near) for near in board.near)]
    order = list(Stand)
    return tuple(sorted(found, key=lambda c: order.index(c.stand)))


def _group_case(card: Card) -> Case:
    by_id = {m.id: m for m in card.members}
    members = tuple(by_id[s.type] for s in card.suggestions if s.type in by_id)
    stand = Stand.BY_ITSELF if card.group.queued is None else Stand.OPEN
    return Case(
        f"duplicate:{card.group.normalized_name}",
        card.name,
        Stand.RULED if card.ruled is not None else stand,
        members,
        card.suggestions,
        card.group.queued,
        None,
        card.self_loops,
        card.passages,
        card.ruled,
    )


def _near_case(near: NearGroup) -> Case:
    ranked = ranked_survivors(near.weights)
    by_id = {m.id: m for m in near.weights}
    return Case(
        f"near:{' '.join(near.members)}",
        f"{near.pair.one.name} ~ {near.pair.other.name}",
        Stand.RULED if near.ruled is not None else Stand.NEAR,
        tuple(by_id[s.type] for s in ranked),
        ranked,
        None,
        near,
        passages=near.passages,
        ruled=near.ruled,
    )


SIGNS = {Stand.OPEN: ("≡", "warn"), Stand.NEAR: ("≈", "type"), Stand.BY_ITSELF: ("=", "ok"), Stand.RULED: ("✓", "ok")}


def case_row(case: Case, staged: Decision | None, *, is_open: bool, later: bool) -> Parent:
    """A case in the list: what it is, how many, and why it waits, or what was decided of it."""

    def draw(width: int) -> Line:
        sign, ink = ("◆", "key") if staged is not None else SIGNS[case.stand]
        quiet = later or case.stand is Stand.RULED
        tail = (say("· later", "dim"),) if later and staged is None else _tail(case, staged)
        words = 22 if width >= 60 else 18
        return columns(
            width,
            ((drawn("▾ " if is_open else "▹ ", "faint"),), 2),
            ((drawn(sign, "dim" if quiet else ink), blank(1), data(case.name, "dim" if quiet else "")), 0),
            ((*right(number(len(case.members), "strong"), 4), blank(2)), 6),
            (tail, words),
        )

    names = dict.fromkeys(f"{m.name} {m.type}" for m in case.members)
    text = " ".join((case.name, *names, *case.ids, case.stand.value))
    return Parent(Row(case.key, case, draw, opens=True, is_open=is_open), text, len(case.members))


def _tail(case: Case, staged: Decision | None) -> Line:
    if staged is not None:
        return staged_words(staged)
    if case.ruled is not None:
        return (say("#", "dim"), number(case.ruled), say(" at the next heal", "dim"))
    if case.near is not None:
        return (share(case.near.score, "dim"), blank(1), data(case.near.pair.reason.value, "dim"))
    return (QUEUED_WORDS[case.queued],) if case.queued is not None else (say("merges by itself", "ok"),)


def staged_words(staged: Decision) -> Line:
    """What is decided and not signed yet."""
    if staged.survivor is None:
        return (say("≠ different things", "key"),)
    kind = next((m.type for m in staged.case.members if m.id == staged.survivor), "")
    return (say("→ ", "key"), number(staged.digit, "key"), blank(1), data(kind, "type"))


def member_row(parent: Row, entity: EntityView, key: str) -> Row:
    """A member below its case, with its digit."""
    case = parent.subject
    digit = case.ids.index(entity.id) + 1 if isinstance(case, Case) and entity.id in case.ids else 0

    def draw(width: int) -> Line:
        lead: Line = (blank(4), *(right(number(digit, "key"), 2) if digit else (blank(2),)), blank(1))
        summary = NOTHING if width < 60 else (blank(1), data(entity.summary, "dim"))
        return columns(width, (lead, 7), ((data(entity.type, "type"),), 15), ((data(entity.id, "dim"), *summary), 0))

    return Row(key, entity, draw, depth=1, markable=False)


def heading_words(cases: tuple[Case, ...], staged: int, kept_apart: int) -> Line:
    """The counts behind the list's name."""
    waiting = sum(1 for c in cases if c.stand in {Stand.OPEN, Stand.NEAR})
    alone = sum(1 for c in cases if c.stand is Stand.BY_ITSELF)
    ruled = sum(1 for c in cases if c.stand is Stand.RULED)
    line: Line = (number(waiting, "warn"), say(" wait", "dim")) if waiting else (say("✓ none waits", "ok"),)
    for count, words, ink in (
        (alone, " by itself", "ok"),
        (ruled, " ruled", "dim"),
        (kept_apart, " kept apart", "dim"),
    ):
        if count:
            line += (say(" · ", "faint"), number(count, ink), drawn(words, "dim"))
    return (say("◆ ", "key"), counted(staged, "decision", ink="key"), say(" · ", "faint"), *line) if staged else line
