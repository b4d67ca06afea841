"""The rows of a plan: streams from→to that open to the changes, then manifests, edges, and what is left alone."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ct_tui.tui.text import blank, counted, data, drawn, fit, number, right, say
from ct_tui.tui.widgets.pictures import flow
from ct_tui.tui.widgets.rows import Row, columns

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from ct_tui.domain.plan import ChangeKind, EdgeChange, ManifestChange, Plan, RedirectChange, TypeChange
    from ct_tui.tui.text import Line


@dataclass(frozen=True)
class Stream:
    """All changes of one kind from one type to one other, by their place in the plan."""

    from_type: str
    to_type: str
    kind: ChangeKind
    changes: Sequence[int]

    @property
    def key(self) -> str:
        """The row's key."""
        return f"stream:{self.kind.value}:{self.from_type}\x1e{self.to_type}"


@dataclass(frozen=True)
class Merged:
    """All redirects that lead to one entity, or, where a merge is undone, away from one; by their place in the plan."""

    survivor: str
    ruling: int | None
    back: bool
    changes: Sequence[int]

    @property
    def key(self) -> str:
        """The row's key."""
        return f"merge:{'back' if self.back else 'to'}:{self.ruling}:{self.survivor}"


def merged_key(change: RedirectChange) -> str:
    """The key of the group that a redirect is shown in."""
    back = change.after is None
    return Merged((change.before if back else change.after) or "", change.ruling, back, ()).key


REACH = 1_000
"""How many places on either side a change is looked for in a plan that was made anew."""


def near_place(changes: Sequence[TypeChange] | Sequence[RedirectChange], place: int, entity: str) -> int | None:
    """The place nearest to a place where an entity is changed, or None where it is not changed near there."""
    for step in range(REACH):
        for at in dict.fromkeys((place - step, place + step)):
            if 0 <= at < len(changes) and changes[at].entity == entity:
                return at
    return None


@dataclass(frozen=True)
class Left:
    """Entities that the plan leaves alone, and why, in words of the program."""

    count: int
    sign: str
    words: str
    why: str


@dataclass(frozen=True)
class Laid:
    """A plan in the order it is shown: made once, beside the screen."""

    plan: Plan
    streams: tuple[Stream, ...]
    left: tuple[Left, ...]
    merged: tuple[Merged, ...] = ()


def lay_out(plan: Plan) -> Laid:
    """Group a plan's changes by from→to, largest first."""
    groups: dict[tuple[str, str, ChangeKind], list[int]] = {}
    for at, change in enumerate(plan.changes):
        groups.setdefault((change.from_type, change.to_type, change.kind), []).append(at)
    streams = [Stream(*key, places) for key, places in groups.items()]
    streams.sort(key=lambda s: (-len(s.changes), s.from_type, s.to_type))
    left = (
        Left(plan.queued, "?", "wait for a ruling", "Nobody ruled on their type yet: Q lists the questions."),
        Left(plan.kept, "·", "are kept by a ruling", "A signed keep ruling leaves them as they are."),
        Left(plan.shielded, "◇", "are shielded", "They are opted out: reported, never retyped."),
        Left(
            plan.report_only,
            "◇",
            "have lost a source",
            "A source of theirs no longer resolves and may have lain in a folder that is off: reported, never retyped.",
        ),
        Left(plan.held, "‖", "are held", "The policy or a manifest cannot decide about them."),
        Left(plan.unreadable, "!", "are unreadable", "Their id, name or type is no text: never written."),
    )
    return Laid(plan, tuple(streams), tuple(one for one in left if one.count), _merged(plan))


def _merged(plan: Plan) -> tuple[Merged, ...]:
    """The plan's redirects by where they lead, the largest groups first."""
    groups: dict[tuple[str, int | None, bool], list[int]] = {}
    for at, change in enumerate(plan.merges):
        back = change.after is None
        groups.setdefault(((change.before if back else change.after) or "", change.ruling, back), []).append(at)
    found = [Merged(*key, places) for key, places in groups.items()]
    return tuple(sorted(found, key=lambda m: (-len(m.changes), m.survivor)))


class PlanRows:
    """A plan as rows; single changes are made into rows only when they come into sight."""

    def __init__(self, laid: Laid, is_open: frozenset[str], needle: str = "") -> None:
        self._laid = laid
        self._is_open = is_open
        self._needle = needle
        self._heads: list[tuple[Row, Sequence[int], Callable[[int], Row]]] = list(self._make_heads(needle.lower()))
        self._starts: list[int] = []
        at = 0
        for row, places, _ in self._heads:
            self._starts.append(at)
            at += 1 + (len(places) if row.is_open else 0)
        self._count = at
        self._index = {row.key: index for index, (row, _, _) in enumerate(self._heads)}

    def __len__(self) -> int:
        return self._count

    def row(self, index: int) -> Row | None:
        """The row at an index."""
        if not 0 <= index < self._count:
            return None
        at = bisect_right(self._starts, index) - 1
        row, places, make = self._heads[at]
        inner = index - self._starts[at] - 1
        return row if inner < 0 else make(places[inner])

    def find(self, key: str) -> int | None:
        """The index of a row."""
        if key in self._index:
            return self._starts[self._index[key]]
        kind, _, number_of_it = key.partition(":")
        if kind not in {"change", "redirect"}:
            return None
        place = int(number_of_it)
        for at, (row, places, _) in enumerate(self._heads):
            if row.is_open and places and isinstance(row.subject, Merged) == (kind == "redirect"):
                inner = bisect_left(places, place)
                if inner < len(places) and places[inner] == place:
                    return self._starts[at] + 1 + inner
        return None

    def want(self, start: int, stop: int) -> None:
        """Everything is there."""

    def matching(self, needle: str) -> PlanRows:
        """The streams whose types hold the needle, and within the others the changes whose names do."""
        return PlanRows(self._laid, self._is_open, needle)

    def keys(self, like: Row | None) -> Iterable[str]:  # noqa: ARG002 - nothing in a plan is marked
        """Nothing in a plan is marked."""
        return ()

    def _make_heads(self, needle: str) -> Iterable[tuple[Row, Sequence[int], Callable[[int], Row]]]:
        most = max((len(s.changes) for s in self._laid.streams), default=0)
        for stream in self._laid.streams:
            places = self._matching(stream, needle)
            if places:
                yield (
                    _stream_row(stream, len(places), most, is_open=stream.key in self._is_open or bool(needle)),
                    places,
                    self._change,
                )
        plan = self._laid.plan
        for merged in self._laid.merged:
            places = self._merging(merged, needle)
            if places:
                is_open = merged.key in self._is_open or bool(needle)
                yield _merged_row(merged, plan.merges[places[0]], len(places), is_open=is_open), places, self._redirect
        for manifest in plan.manifests:
            if needle in manifest.row.lower():
                yield _manifest_row(manifest), (), self._change
        for edge in plan.edge_changes:
            if needle in edge.edge.lower():
                yield _edge_row(edge), (), self._change
        if not needle:
            for left in self._laid.left:
                yield _left_row(left), (), self._change

    def _change(self, place: int) -> Row:
        return _change_row(place, self._laid.plan.changes[place])

    def _redirect(self, place: int) -> Row:
        return _redirect_row(place, self._laid.plan.merges[place])

    def _merging(self, merged: Merged, needle: str) -> Sequence[int]:
        if not needle or needle in merged.survivor.lower():
            return merged.changes
        merges = self._laid.plan.merges
        return [at for at in merged.changes if needle in f"{merges[at].name} {merges[at].entity}".lower()]

    def _matching(self, stream: Stream, needle: str) -> Sequence[int]:
        if not needle or needle in f"{stream.from_type} {stream.to_type}".lower():
            return stream.changes
        changes = self._laid.plan.changes
        return [at for at in stream.changes if needle in f"{changes[at].name} {changes[at].entity}".lower()]


def _stream_row(stream: Stream, count: int, most: int, *, is_open: bool) -> Row:
    def draw(width: int) -> Line:
        picture = flow(stream.from_type, stream.to_type, stream.kind, count, most, width - 2)
        return (drawn("▾ " if is_open else "▹ ", "faint"), *picture)

    return Row(stream.key, stream, draw, opens=True, is_open=is_open, markable=False)


def _change_row(place: int, change: TypeChange) -> Row:
    def draw(width: int) -> Line:
        cells: list[tuple[Line, int]] = [((blank(4), data(change.name)), 0)]
        if width >= 60:
            cells.append(((blank(1), data(change.entity, "faint")), 30))
        ruling: Line = (
            (say(" #", "dim"), number(change.ruling, "dim"))
            if change.ruling is not None
            else (say(" spelling", "dim"),)
        )
        return columns(width, *cells, (ruling, 10))

    return Row(f"change:{place}", change, draw, depth=1, markable=False)


def _merged_row(merged: Merged, first: RedirectChange, count: int, *, is_open: bool) -> Row:
    def draw(width: int) -> Line:
        ruling: Line = (say(" #", "dim"), number(merged.ruling, "dim")) if merged.ruling is not None else ()
        way = say(" out of ", "warn") if merged.back else say(" ⇉ ", "ok")
        cells: list[tuple[Line, int]] = [
            ((drawn("▾ " if is_open else "▹ ", "faint"), say("≡ ", "warn")), 4),
            ((data(first.name or first.entity),), max(10, width // 3)),
            ((*right(number(count, "strong"), 5), way), 13 if merged.back else 9),
            ((data(merged.survivor, "dim"),), 0),
            (ruling, 7),
        ]
        return columns(width, *cells)

    return Row(merged.key, merged, draw, opens=True, is_open=is_open, markable=False)


def _redirect_row(place: int, change: RedirectChange) -> Row:
    def draw(width: int) -> Line:
        way = say("restored", "warn") if change.after is None else say("redirects", "dim")
        return columns(
            width,
            ((blank(4), data(change.name)), 0),
            ((blank(1), data(change.entity, "dim")), 30),
            ((blank(1), way), 11),
        )

    return Row(f"redirect:{place}", change, draw, depth=1, markable=False)


def _manifest_row(change: ManifestChange) -> Row:
    def draw(width: int) -> Line:
        del width
        types: Line = (
            (say("declares "), data(", ".join(change.added_types), "type"), blank(1)) if change.added_types else ()
        )
        edges: Line = (counted(len(change.added_edges), "edge signature"), blank(1)) if change.added_edges else ()
        fallback: Line = (say("fallback ", "dim"), data(change.fallback, "type"), blank(1)) if change.fallback else ()
        return (say("+ ", "ok"), *types, *edges, *fallback, say("in ", "dim"), data(change.row, "dim"))

    return Row(f"manifest:{change.row}", change, draw, markable=False)


def _edge_row(change: EdgeChange) -> Row:
    def draw(width: int) -> Line:
        before = change.before.edge_type if change.before is not None else None
        after = change.after.edge_type if change.after is not None else None
        what = (data(before, "type"), say(" → "), data(after, "type"))
        return columns(
            width, ((say("≠ ", "warn"), data(change.kind.value), blank(1), data(change.edge, "faint")), 40), (what, 0)
        )

    return Row(f"edge:{change.edge}", change, draw, markable=False)


def _left_row(left: Left) -> Row:
    def draw(width: int) -> Line:
        return fit(
            (drawn(left.sign, "dim"), *right(number(left.count, "strong"), 7), blank(1), drawn(left.words, "dim")),
            width,
        )

    return Row(f"left:{left.words}", left, draw, markable=False)
