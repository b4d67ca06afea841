"""Groups that open: parents in memory, their members (entities, edges) read in pages when they come into sight."""

from __future__ import annotations

from bisect import bisect_right
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

    def add(self, offset: int, page: Sequence[MemberT]) -> None:
        """Take a page in; one that does not follow what is there is dropped."""
        self.asked = -1
        if self.stale and offset == 0:
            self.rows.clear()
            self.index.clear()
            self.stale = False
        if offset != len(self.rows):
            return
        for member in page:
            if member.id not in self.index:
                self.index[member.id] = len(self.rows)
                self.rows.append(member)
        # A short page is the last one, whatever was counted before somebody wrote.
        if len(page) < PAGE or len(self.rows) >= self.total:
            self.done = True
            self.total = len(self.rows)


class Store(Generic[MemberT]):
    """What is read of the groups of one list; `ask` has one page read (group, offset, last id before it)."""

    def __init__(self, ask: Callable[[str, int, str], None]) -> None:
        self._ask = ask
        self._groups: dict[str, Members[MemberT]] = {}
        self.open: set[str] = set()
        """Keys of the groups that are open."""

    def members(self, group: str, total: int) -> Members[MemberT]:
        """What is read of a group."""
        found = self._groups.get(group)
        if found is None:
            found = self._groups[group] = Members(total)
        return found

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
    """Parents with the members of those that are open below them."""

    def __init__(
        self,
        parents: Sequence[Parent],
        store: Store[MemberT],
        child: Callable[[Row, MemberT, str], Row],
        needle: str = "",
    ) -> None:
        self._parents = parents
        self._store = store
        self._child = child
        self._needle = needle
        self._index = {parent.row.key: at for at, parent in enumerate(parents)}
        self._starts: list[int] = []
        at = 0
        for parent in parents:
            self._starts.append(at)
            at += 1 + self._size(parent)
        self._count = at

    def __len__(self) -> int:
        return self._count

    def row(self, index: int) -> Row | None:
        """The row at an index; None where it is not read yet."""
        if not 0 <= index < self._count:
            return None
        at = bisect_right(self._starts, index) - 1
        parent, inner = self._parents[at], index - self._starts[at] - 1
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
        if at is None:
            return None
        if not member:
            return self._starts[at]
        members = self._store.known(group)
        inner = members.index.get(member) if members is not None and group in self._store.open else None
        return None if inner is None else self._starts[at] + 1 + inner

    def want(self, start: int, stop: int) -> None:
        """Have the members in sight read."""
        if not self._parents:
            return
        at = max(0, bisect_right(self._starts, start) - 1)
        while at < len(self._parents) and self._starts[at] < stop:
            parent = self._parents[at]
            if parent.row.key in self._store.open and parent.members:
                self._store.want(parent.row.key, parent.members, stop - self._starts[at])
            at += 1

    def matching(self, needle: str) -> TreeRows[MemberT]:
        """The parents whose text holds the needle, with their members."""
        low = needle.lower()
        kept = [parent for parent in self._parents if low in parent.text.lower()]
        return TreeRows(kept, self._store, self._child, needle)

    def keys(self, like: Row | None) -> Iterable[str]:
        """The keys of the rows beside one: the other parents, or the members of the same group that are read."""
        if like is None or SEPARATOR not in like.key:
            return [parent.row.key for parent in self._parents if parent.row.markable]
        group = like.key.partition(SEPARATOR)[0]
        members = self._store.known(group)
        return [] if members is None else [child_key(group, member.id) for member in members.rows]

    def _size(self, parent: Parent) -> int:
        if parent.row.key not in self._store.open or not parent.members:
            return 0
        return self._store.members(parent.row.key, parent.members).total


def child_key(group: str, member: str) -> str:
    """The key of a member's row below its group."""
    return f"{group}{SEPARATOR}{member}"


def parent_key(key: str) -> str:
    """The key of the group that a row belongs to; a group's own key as it is."""
    return key.partition(SEPARATOR)[0]
