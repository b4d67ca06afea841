"""The one way from the bytes of a table to rulings that may act.

The bytes are read once, then parsed, then verified; the clock is read once. What comes out is frozen, and nothing
else feeds heal or the gate. Each entry gets one state. A signature that does not hold, a chain that does not close
and a head that went back mean that the table was written without a key, and nothing in it acts (`distrust`); an entry
without a signature, or of a signer who is not trusted, stops only itself. A table that cannot be read is distrusted.
"""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from ct_tui.domain.errors import BadInput, TrustError
from ct_tui.domain.rulings import WRITTEN_WITHOUT_KEY, Entry, Head, Ruling, RulingTable, State, retired
from ct_tui.trust import sshsig_io
from ct_tui.trust.canonical import SIGNATURE, entry_hash, payload
from ct_tui.trust.chain import Chain, Link, examine
from ct_tui.trust.entry import number, parse_ruling, parse_time
from ct_tui.trust.judging import judge_ruling
from ct_tui.trust.paths import TABLE_NAME
from ct_tui.trust.table import parse_table, read_table

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ct_tui.trust.public_keys import PublicKey
    from ct_tui.trust.signers import Signers
    from ct_tui.trust.yaml_reader import RawEntry

_NEVER_SEEN = Head()
_NAMED_CAUSES = 3


@dataclass(frozen=True)
class _Examined:
    """One entry after its signature was looked at; `why` says what is wrong with the signature, or is empty."""

    line: int
    fields: Mapping[str, Any] = field(default_factory=dict)
    hash: str = ""
    signed: bool = False
    why: str = ""
    key: PublicKey | None = None
    unsupported: str = ""

    @property
    def link(self) -> Link:
        prev = self.fields.get("prev")
        return Link(
            number(self.fields.get("seq")),
            prev if prev is None or isinstance(prev, str) else "",
            self.hash,
            self.signed,
            self.key is not None,
        )


def verify_table(
    source: Path | bytes | str, signers: Signers, head_seen: Head = _NEVER_SEEN, now: dt.datetime | None = None
) -> RulingTable:
    """Verify a table given as its path, its bytes or its text; never raises for what a file holds.

    `head_seen` is what the brain remembers of it (seq 0: nothing yet); `now` must know its time zone.
    """
    moment = now if now is not None else dt.datetime.now(dt.UTC)
    name = source.name if isinstance(source, Path) else TABLE_NAME
    try:
        if isinstance(source, Path):
            raw = read_table(source).raw
        else:
            raw = parse_table(source.encode("utf-8", "surrogatepass") if isinstance(source, str) else source, name)
    except TrustError as error:
        return RulingTable(distrust=" ".join((error.message, _consequence(name))))
    return verify_entries(raw.entries, signers, head_seen, moment, name)


def verify_entries(
    entries: Sequence[RawEntry], signers: Signers, head_seen: Head, now: dt.datetime, name: str = TABLE_NAME
) -> RulingTable:
    """Verify the entries of a table that was read already."""
    examined = [_look(raw) for raw in entries]
    chain = examine([one.link for one in examined], head_seen)
    judged = _judge_all(examined, chain, signers, now)
    settled = _mark_conflicts(judged)
    return RulingTable(tuple(settled), chain.head, _distrust(settled, chain, name))


def _look(raw: RawEntry) -> _Examined:
    found = _look_at(raw.line, raw.fields if raw.fields is not None else {})
    if found.signed and found.key is None and raw.strict is not None:
        strict = _look_at(raw.line, raw.strict)
        return strict if strict.key is not None else found
    return found


def _look_at(line: int, fields: dict[str, Any]) -> _Examined:
    signature = fields.get(SIGNATURE)
    found = _Examined(line, MappingProxyType(fields), signed=signature is not None and signature != "")
    try:
        content = payload(fields)
        found = replace(found, hash=entry_hash(fields))
        checked = _check(content, signature) if found.signed else None
    except sshsig_io.BadSignature as error:
        return replace(found, why=f"its signature {error.message}")
    except TrustError as error:
        return replace(found, why=error.message)
    return found if checked is None else replace(found, key=checked.key, unsupported=checked.unsupported)


def _check(content: bytes, signature: object) -> sshsig_io.Checked:
    if not isinstance(signature, str):
        raise sshsig_io.BadSignature("is not an OpenSSH signature")
    return sshsig_io.check(content, signature)


def _judge_all(examined: Sequence[_Examined], chain: Chain, signers: Signers, now: dt.datetime) -> list[Entry]:
    """The state of each entry; `floor` is the newest trusted ruling so far, which no later entry can be older than."""
    numbers = {one.link.seq for one in examined if one.signed}
    floor: dt.datetime | None = None
    found: list[Entry] = []
    for at, one in enumerate(examined):
        entry = _blank(one, numbers)
        fault = chain.faults.get(at)
        if one.signed and one.key is None:
            entry = replace(entry, state=State.TAMPERED, problem=f"was changed after it was signed: {one.why}")
        elif fault is not None:
            entry = replace(entry, state=fault.state, problem=fault.problem)
        elif one.signed:
            entry = _judge(entry, one, signers, floor, now)
            if entry.valid and entry.ruling is not None:
                floor = max(floor, entry.ruling.ruled_at) if floor is not None else entry.ruling.ruled_at
        found.append(entry)
    return found


def _blank(one: _Examined, numbers: set[int | None]) -> Entry:
    """The entry before its signer is judged; an unsigned one may not borrow the number of a signed one."""
    link, kind = one.link, one.fields.get("kind")
    seq = link.seq or 0
    if not one.signed and seq in numbers:
        seq = 0
    ruling, _ = _ruling(one)
    print_ = one.key.fingerprint if one.key is not None else ""
    problem = "is not signed, so it never acts" if one.fields else "is not an entry: it has no fields"
    name = kind if isinstance(kind, str) else ""
    return Entry(seq, name, State.UNSIGNED, problem, ruling, one.fields, print_, one.line)


def _judge(entry: Entry, one: _Examined, signers: Signers, floor: dt.datetime | None, now: dt.datetime) -> Entry:
    ruled_by = one.fields.get("ruled_by")
    if one.unsupported or one.key is None:
        return replace(entry, state=State.UNTRUSTED, problem=f"its key cannot count: {one.unsupported}")
    if not isinstance(ruled_by, str) or not ruled_by:
        return replace(entry, state=State.UNTRUSTED, problem="names nobody in ruled_by")
    try:
        ruled_at = parse_time(one.fields.get("ruled_at"))
    except BadInput as error:
        return replace(entry, state=State.UNTRUSTED, problem=error.message)
    verdict = judge_ruling(signers, one.key, ruled_by, ruled_at, floor, now)
    if verdict.state is not State.VALID:
        said = f"{verdict.problem}. {verdict.remedy}" if verdict.remedy else verdict.problem
        return replace(entry, state=verdict.state, problem=said)
    ruling, problem = _ruling(one)
    return replace(entry, state=State.VALID, problem=problem, ruling=ruling)


def _ruling(one: _Examined) -> tuple[Ruling | None, str]:
    try:
        return parse_ruling(one.fields, one.hash), ""
    except BadInput as error:
        return None, f"never acts: {error.message}"


def _mark_conflicts(entries: Sequence[Entry]) -> list[Entry]:
    """Two rulings in force for one label stop each other."""
    acting = [e.ruling for e in entries if e.valid and e.ruling is not None]
    gone = retired(acting)
    rivals: dict[str, list[int]] = {}
    for ruling in acting:
        if ruling.seq not in gone and ruling.body.subject:
            rivals.setdefault(ruling.body.subject, []).append(ruling.seq)
    return [_conflict(entry, rivals, gone) for entry in entries]


def _conflict(entry: Entry, rivals: Mapping[str, list[int]], gone: frozenset[int]) -> Entry:
    if not entry.valid or entry.ruling is None or entry.ruling.seq in gone:
        return entry
    others = [seq for seq in rivals.get(entry.ruling.body.subject, ()) if seq != entry.ruling.seq]
    if not others:
        return entry
    many = "rulings" if len(others) > 1 else "ruling"
    problem = f"rules on the same label as {many} {', '.join(map(str, others))}: revoke or supersede one of them"
    return replace(entry, state=State.CONFLICTING, problem=problem)


def _distrust(entries: Sequence[Entry], chain: Chain, name: str) -> str:
    """The causes in one sentence, and what to do; empty for a table that was written with keys only."""
    guilty = [e for e in entries if e.state in WRITTEN_WITHOUT_KEY]
    if chain.missing:
        guilty = [e for e in guilty if e.state is not State.ROLLED_BACK]
    causes = [f"{_called(e)} {e.problem}" for e in guilty]
    if chain.missing:
        causes.append(f"{name} {chain.missing}")
    if not causes:
        return ""
    told = "; ".join(causes[:_NAMED_CAUSES])
    more = len(causes) - _NAMED_CAUSES
    return f"{told}{f'; and {more} more' if more > 0 else ''}. {_consequence(name)}"


def _called(entry: Entry) -> str:
    return f"Ruling {entry.seq} (line {entry.line})" if entry.seq else f"The entry at line {entry.line}"


def _consequence(name: str) -> str:
    return f"No ruling acts until {name} is put back as it was signed, from version control or a backup."
