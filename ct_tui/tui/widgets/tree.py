"""Groups that open: parents in memory, their members (entities, edges) read in pages when they come into sight."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from ct_tui.tui.widgets.rows import Row

PAGE = 200
SEPARATOR = "\x1f"


class Member(Protocol):
    """What a group holds: anything with an id that is its own within the group."""

    @property
    def id(self) -> str:
        """The id."""


MemberT = TypeVar("MemberT", bound=Member)


@dataclass
class Members(Generic[MemberT]):
    """The members of one group that are read so far, in order, without repeats."""

    total: int
    rows: list[MemberT] = field(default_factory=list)
    index: dict[str, int] = field(default_factory=dict)
    asked: int = -1
    done: bool = False
    stale: bool = False
    resized: Callable[[], None] = lambda: None
    """Called when there are other than `total` members after all."""

    def add(self, offset: int, page: Sequence[MemberT]) -> None:
        """Take a page in; one that does not follow what is there is dropped.

        A first page begins anew, whatever is there: pages come in the order they were asked for, so that one of before
        the last write, on its way when that was noticed, is followed by the one of now.
        """
        self.asked = -1
        if offset == 0:
            self.rows.clear()
            self.index.clear()
            self.stale = self.done = False
        if offset != len(self.rows):
            return
        for member in page:
            if member.id not in self.index:
                self.index[member.id] = len(self.rows)
                self.rows.append(member)
        # A short page is the last one, whatever was counted before somebody wrote.
        if len(page) < PAGE or len(self.rows) >= self.total:
            self.done = True
            if self.total != len(self.rows):
                self.total = len(self.rows)
                self.resized()


class Store(Generic[MemberT]):
    """What is read of the groups of one list; `ask` has one page read (group, offset, last id before it)."""

    def __init__(self, ask: Callable[[str, int, str], None]) -> None:
        self._ask = ask
        self._groups: dict[str, Members[MemberT]] = {}
        self.open: set[str] = set()
        """Keys of the groups that are open."""
        self.resizes = 0
        """How often a group turned out to have other than the counted members."""

    def members(self, group: str, total: int) -> Members[MemberT]:
        """What is read of a group."""
        found = self._groups.get(group)
        if found is None:
            found = self._groups[group] = Members(total, resized=self._resized)
        return found

    def _resized(self) -> None:
        self.resizes += 1

    def known(self, group: str) -> Members[MemberT] | None:
        """What is read of a group, or None where it was never opened."""
        return self._groups.get(group)

    def want(self, group: str, total: int, stop: int) -> None:
        """Have the next page read where rows before `stop` are not there yet."""
        members = self.members(group, total)
        if members.asked >= 0:
            return
        if members.stale:
            members.asked = 0
            self._ask(group, 0, "")
        elif not members.done and len(members.rows) < min(stop, members.total):
            members.asked = len(members.rows)
            self._ask(group, members.asked, members.rows[-1].id if members.rows else "")

    def renew(self, totals: Mapping[str, int]) -> None:
        """The brain was written: what is read stays to be seen until it is read again; `totals` are the new sizes."""
        for group, members in list(self._groups.items()):
            if group not in totals:
                del self._groups[group]
                self.open.discard(group)
                continue
            members.stale, members.done, members.asked, members.total = True, False, -1, totals[group]


@dataclass(frozen=True)
class Parent:
    """A group: its row, what the filter looks in, and how many members it has (0: it does not open)."""

    row: Row
    text: str
    members: int = 0


class TreeRows(Generic[MemberT]):
    """Parents with the members of those that are open below them.

    There may be many thousand parents and only a few of them open, so a row is found by counting those that are.
    `index` says where each parent stands, by its key, where that is known already.
    """

    def __init__(
        self,
        parents: Sequence[Parent],
        store: Store[MemberT],
        child: Callable[[Row, MemberT, str], Row],
        *,
        index: Mapping[str, int] | None = None,
    ) -> None:
        self._parents = parents
        self._store = store
        self._child = child
        self._index = index if index is not None else {parent.row.key: at for at, parent in enumerate(parents)}
        self._open = sorted(
            at for key in store.open if (at := self._index.get(key)) is not None and parents[at].members
        )
        self._starts: list[int] = []
        """The row of each open parent."""
        self._sizes: list[int] = []
        self._measure()

    def _measure(self) -> None:
        """Find out where the open parents stand, from the sizes of those before them."""
        self._measured = self._store.resizes
        self._starts.clear()
        self._sizes.clear()
        parents, inner = self._parents, 0
        for at in self._open:
            self._starts.append(at + inner)
            self._sizes.append(self._store.members(parents[at].row.key, parents[at].members).total)
            inner += self._sizes[-1]
        self._count = len(parents) + inner

    def __len__(self) -> int:
        if self._measured != self._store.resizes:
            self._measure()
        return self._count

    def row(self, index: int) -> Row | None:
        """The row at an index; None where it is not read yet."""
        if not 0 <= index < len(self):
            return None
        at, inner = self._place(index)
        parent = self._parents[at]
        if inner < 0:
            return parent.row
        members = self._store.known(parent.row.key)
        if members is None or inner >= len(members.rows):
            return None
        member = members.rows[inner]
        return self._child(parent.row, member, child_key(parent.row.key, member.id))

    def find(self, key: str) -> int | None:
        """The index of a row."""
        group, _, member = key.partition(SEPARATOR)
        at = self._index.get(group)
        if at is None or not len(self):
            return None
        if not member:
            return self._start(at)
        members = self._store.known(group)
        inner = members.index.get(member) if members is not None and group in self._store.open else None
        return None if inner is None else self._start(at) + 1 + inner

    def want(self, start: int, stop: int) -> None:
        """Have the members in sight read."""
        for at, first, size in zip(self._open, self._starts, self._sizes, strict=True):
            if first < stop and first + size >= start:
                parent = self._parents[at]
                self._store.want(parent.row.key, parent.members, stop - first)

    def matching(self, needle: str) -> TreeRows[MemberT]:
        """The parents whose text holds the needle, with their members."""
        low = needle.lower()
        kept = [parent for parent in self._parents if low in parent.text.lower()]
        return TreeRows(kept, self._store, self._child)

    def keys(self, like: Row | None) -> Iterable[str]:
        """The keys of the rows beside one: the other parents, or the members of the same group that are read."""
        if like is None or SEPARATOR not in like.key:
            return [parent.row.key for parent in self._parents if parent.row.markable]
        group = like.key.partition(SEPARATOR)[0]
        members = self._store.known(group)
        return [] if members is None else [child_key(group, member.id) for member in members.rows]

    def unread(self, like: Row | None) -> int:
        """How many members beside one are not read yet, and therefore not among the keys."""
        if like is None or SEPARATOR not in like.key:
            return 0
        members = self._store.known(parent_key(like.key))
        return 0 if members is None else members.total - len(members.rows)

    def _place(self, index: int) -> tuple[int, int]:
        """Which parent a row belongs to, and which of its members it is; -1 where it is the parent's own."""
        last = bisect_right(self._starts, index) - 1
        if last < 0:
            return index, -1
        inner = index - self._starts[last] - 1
        size = self._sizes[last]
        return (self._open[last], inner) if inner < size else (self._open[last] + inner - size + 1, -1)

    def _start(self, at: int) -> int:
        """The row of a parent."""
        return at + sum(self._sizes[: bisect_left(self._open, at)])


def child_key(group: str, member: str) -> str:
    """The key of a member's row below its group."""
    return f"{group}{SEPARATOR}{member}"


def parent_key(key: str) -> str:
    """The key of the group that a row belongs to; a group's own key as it is."""
    return key.partition(SEPARATOR)[0]
