"""Whether the entries are all there, in order, and grown from the head last seen.

Every signed entry carries its number and the hash of the entry it follows. Entries without a signature are no part of
the chain: they may come and go. Each fault is reported once, at the entry where it shows, with its cause.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ct_tui.domain.rulings import Head, State

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence


@dataclass(frozen=True)
class Link:
    """One entry as the chain sees it: `seq` is what it claims (None: nothing usable), `hash` of the whole entry.

    `signed`: it has a signature; `holds`: and the signature is over this content.
    """

    seq: int | None
    prev: str | None
    hash: str
    signed: bool
    holds: bool


@dataclass(frozen=True)
class Fault:
    """What is wrong with the chain at one entry."""

    state: State
    problem: str


@dataclass(frozen=True)
class Chain:
    """The verdict: faults by position in the file, a fault of the file as a whole, and the last entry in order."""

    faults: Mapping[int, Fault] = field(default_factory=dict)
    missing: str = ""
    head: Head = field(default_factory=Head)


def examine(links: Sequence[Link], seen: Head) -> Chain:
    """Judge the links of a file in file order against the head last seen (seq 0: never seen)."""
    faults: dict[int, Fault] = {}
    holding = [at for at, link in enumerate(links) if link.holds]
    for at in holding:
        if not links[at].seq:
            faults[at] = Fault(State.BROKEN, "has no usable number")
    numbered = [at for at in holding if at not in faults]
    single = _without_twins(links, numbered, faults)
    ordered = _in_order(links, single, faults)
    _check_steps(links, ordered, faults)
    missing = _check_seen(links, ordered, seen, faults)
    last = links[ordered[-1]] if ordered else None
    return Chain(faults, missing, Head(last.seq or 0, last.hash) if last is not None else Head())


def _without_twins(links: Sequence[Link], numbered: list[int], faults: dict[int, Fault]) -> list[int]:
    """Of entries with one number keep the one that the chain goes through; the others are faults."""
    groups: dict[int, list[int]] = {}
    for at in numbered:
        groups.setdefault(links[at].seq or 0, []).append(at)
    if len(groups) == len(numbered):
        return numbered
    followed = {link.prev for link in links if link.holds}
    for seq, group in groups.items():
        if len(group) == 1:
            continue
        before = {links[at].hash for at in groups.get(seq - 1, ())} if seq > 1 else {None}
        kept = max(group, key=lambda at: (links[at].hash in followed, links[at].prev in before, -at))
        for at in group:
            if at != kept:
                faults[at] = Fault(State.BROKEN, _twin_problem(links[at], links[kept], seq))
    return [at for at in numbered if at not in faults]


def _twin_problem(twin: Link, kept: Link, seq: int) -> str:
    if twin.hash == kept.hash:
        return f"is a second copy of ruling {seq}"
    if twin.prev == kept.prev:
        return f"was signed beside another ruling {seq}: two tables grew from one and were joined"
    return f"was inserted: it is not the ruling {seq} that this table's chain goes through"


def _in_order(links: Sequence[Link], single: list[int], faults: dict[int, Fault]) -> list[int]:
    """The longest run of entries whose numbers rise; the others were moved."""
    ends: list[int] = []  # the smallest last number of a rising run, by length
    where: list[int] = []
    before: dict[int, int | None] = {}
    for at in single:
        seq = links[at].seq or 0
        size = bisect_left(ends, seq)
        before[at] = where[size - 1] if size else None
        ends[size : size + 1] = [seq]
        where[size : size + 1] = [at]
    run: list[int] = []
    step = where[-1] if where else None
    while step is not None:
        run.append(step)
        step = before[step]
    kept = set(run)
    for at in single:
        if at not in kept:
            faults[at] = Fault(State.BROKEN, "is out of its place")
    return run[::-1]


def _check_steps(links: Sequence[Link], ordered: list[int], faults: dict[int, Fault]) -> None:
    """Compare each entry with the one before it; a tampered entry in between accounts for a number."""
    elsewhere = [seq for at in faults if (seq := links[at].seq)]
    seq, hash_, end = 0, None, -1
    for at in ordered:
        link = links[at]
        now = link.seq or 0
        between = _stripped(links, range(end + 1, at), seq, now, faults)
        lost = now - seq - 1 - between - sum(1 for n in elsewhere if seq < n < now)
        if lost > 0:
            faults[at] = Fault(State.BROKEN, _lost_problem(seq + 1, now - 1, lost))
        elif now == seq + 1 and link.prev != hash_:
            faults[at] = Fault(State.BROKEN, _step_problem(seq))
        seq, hash_, end = now, link.hash, at


def _stripped(links: Sequence[Link], span: Iterable[int], low: int, high: int, faults: dict[int, Fault]) -> int:
    """How many entries of a span were changed: bad signatures, and signatures that were taken away."""
    count = 0
    for at in span:
        link = links[at]
        if link.signed and not link.holds:
            count += 1
        elif not link.signed and link.seq is not None and low < link.seq < high:
            faults[at] = Fault(State.TAMPERED, "has lost its signature")
            count += 1
    return count


def _lost_problem(first: int, last: int, lost: int) -> str:
    if lost < last - first + 1:
        return f"does not follow: {lost} of the rulings {first} to {last} before it are missing"
    if first == last:
        return f"does not follow: ruling {first} before it is missing"
    return f"does not follow: rulings {first} to {last} before it are missing"


def _step_problem(seq: int) -> str:
    if seq == 0:
        return "is numbered 1 and follows another ruling, so the table began earlier"
    return f"was signed after another ruling {seq} than the one above it"


def _check_seen(links: Sequence[Link], ordered: list[int], seen: Head, faults: dict[int, Fault]) -> str:
    """Compare with the head last seen; gives a fault of the whole file, or marks the entry where it shows."""
    if seen.seq <= 0 or any(link.hash == seen.hash and link.seq == seen.seq and link.holds for link in links):
        return ""
    last = links[ordered[-1]].seq or 0 if ordered else 0
    if last >= seen.seq:
        at = next((a for a in ordered if links[a].seq == seen.seq), None)
        if at is not None and not _explained(faults):
            faults[at] = Fault(State.ROLLED_BACK, "is not the ruling that was here when the table was last seen")
        return ""
    tail = range(ordered[-1] + 1 if ordered else 0, len(links))
    changed = _stripped(links, tail, last, seen.seq + 1, faults)
    if last + changed >= seen.seq:
        return ""
    problem = f"ends at ruling {last + changed}, and ended at ruling {seen.seq} when it was last seen"
    if not ordered and not changed:
        problem = f"is empty, and ended at ruling {seen.seq} when it was last seen"
    elif ordered:
        faults.setdefault(ordered[-1], Fault(State.ROLLED_BACK, f"is the last, and ruling {seen.seq} was seen already"))
    return problem


def _explained(faults: Mapping[int, Fault]) -> bool:
    """Whether a fault already says why the head has another hash."""
    return any(f.state is State.BROKEN for f in faults.values())
