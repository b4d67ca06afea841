"""Whether a key may rule under a name at a time.

The window of a signer (`valid-after`, `valid-before`) is compared with when the ruling was made, as
`ssh-keygen -Y verify -Overify-time=…` does: a key that expired since does not undo what it ruled while it was valid.
Two things keep a date honest. A ruling dated further ahead than the clock may be off is not trusted; and since an
entry names the hash of the entry it follows, it cannot be older than that one, so a ruling that claims to be is judged
at the time of the newest trusted ruling before it (less the same allowance).
"""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from shlex import quote
from typing import TYPE_CHECKING

from ct_tui.domain.rulings import State
from ct_tui.trust.principals import is_pattern, matches
from ct_tui.trust.ssh_dates import show
from ct_tui.trust.sshsig_io import NAMESPACE

if TYPE_CHECKING:
    from ct_tui.trust.public_keys import PublicKey
    from ct_tui.trust.signers import SignerLine, Signers

CLOCK_SKEW = dt.timedelta(hours=12)
"""How far two clocks may disagree: more than a time zone set wrongly, less than a day."""


@dataclass(frozen=True)
class Judgement:
    """`State.VALID`, or the state and the reason why the key may not rule.

    `near` says how near it came, so that of several lines for one key the most telling is reported.
    """

    state: State
    problem: str = ""
    remedy: str = ""
    near: int = 0


@dataclass(frozen=True)
class Standing:
    """One line of trust for a list: who, which key, since and until when, and how it stands now."""

    principals: tuple[str, ...]
    fingerprint: str
    key: str
    comment: str
    valid_after: dt.datetime | None
    valid_before: dt.datetime | None
    state: str
    line: int


_VALID = Judgement(State.VALID, near=3)


def judge(signers: Signers, key: PublicKey, principal: str, at: dt.datetime) -> Judgement:
    """Whether `key` may rule as `principal` at `at`; one good line of allowed_signers is enough."""
    if key in signers.revoked:
        return Judgement(State.REVOKED, f"the key {key.fingerprint} was revoked")
    if signers.refusal:
        return Judgement(State.UNTRUSTED, signers.refusal)
    lines = signers.by_key.get(key, ())
    if not lines:
        return Judgement(
            State.UNTRUSTED,
            f"the key {key.fingerprint} is not in your allowed_signers",
            f"If it is theirs, trust it with `ct-tui keys trust {quote(principal)} PUBKEY`.",
        )
    return max((_judge_line(line, principal, at) for line in lines), key=lambda verdict: verdict.near)


def judge_ruling(
    signers: Signers, key: PublicKey, principal: str, ruled_at: dt.datetime, floor: dt.datetime | None, now: dt.datetime
) -> Judgement:
    """As `judge`, at the time a ruling was made; `floor` is the newest trusted ruling before it in the chain."""
    earliest = floor - CLOCK_SKEW if floor is not None else ruled_at
    verdict = judge(signers, key, principal, max(ruled_at, earliest))
    if verdict.state is State.VALID and ruled_at > now + CLOCK_SKEW:
        return Judgement(
            State.UNTRUSTED,
            f"it is dated {show(ruled_at)}, which is still to come",
            "Set the clock of this machine, or of the one that signed it.",
        )
    if verdict.state is State.EXPIRED and ruled_at < earliest:
        why = f"{verdict.problem}, and it is dated before a ruling that it follows"
        return Judgement(verdict.state, why, verdict.remedy)
    return verdict


def names_of(signers: Signers, key: PublicKey, at: dt.datetime) -> tuple[str, ...]:
    """The principals that a key may rule as at a time, in file order: whom `--as` may mean where it is not given."""
    found = (name for line in signers.by_key.get(key, ()) for name in line.principals if not name.startswith("!"))
    return tuple(dict.fromkeys(name for name in found if judge(signers, key, name, at).state is State.VALID))


def standings(signers: Signers, now: dt.datetime) -> tuple[Standing, ...]:
    """Every line of allowed_signers with how it stands at `now`."""
    return tuple(_standing(signers, line, now) for line in signers.lines)


def _standing(signers: Signers, line: SignerLine, now: dt.datetime) -> Standing:
    if line.key is None:
        return Standing((), "", "", "", None, None, line.problem, line.number)
    return Standing(
        line.principals,
        line.key.fingerprint,
        line.key.text,
        line.comment,
        line.valid_after,
        line.valid_before,
        _stands(signers, line, now),
        line.number,
    )


def _stands(signers: Signers, line: SignerLine, now: dt.datetime) -> str:
    if line.key in signers.revoked:
        return State.REVOKED.value
    if signers.refusal:
        return signers.refusal
    verdicts = [_judge_line(line, name, now) for name in line.principals or ("",)]
    return next((v.problem for v in verdicts if v.state is not State.VALID), "trusted")


def _judge_line(line: SignerLine, principal: str, at: dt.datetime) -> Judgement:
    if line.problem:
        return Judgement(State.UNTRUSTED, f"allowed_signers {line.problem}")
    named = _named(line.principals, principal)
    if named:
        return Judgement(State.UNTRUSTED, f"allowed_signers line {line.number} {named}")
    spaces = _namespace_problem(line.namespaces)
    if spaces:
        return Judgement(State.UNTRUSTED, f"allowed_signers line {line.number} {spaces}")
    if line.valid_after is not None and at < line.valid_after:
        return Judgement(State.UNTRUSTED, f"the key is trusted only from {show(line.valid_after)} on", near=1)
    if line.valid_before is not None and at > line.valid_before:
        return Judgement(State.EXPIRED, f"the key was trusted only until {show(line.valid_before)}", near=2)
    return _VALID


def _named(patterns: tuple[str, ...], principal: str) -> str:
    """Why a list of principals does not name this one, or nothing."""
    if any(matches(p[1:], principal) for p in patterns if p.startswith("!")):
        return f"excludes {principal}"
    if principal in (p for p in patterns if not is_pattern(p)):
        return ""
    if any(is_pattern(p) for p in patterns):
        return f"trusts the key as {','.join(patterns)}; a signer must be named without * and ?"
    return f"trusts the key as {','.join(patterns)}, not as {principal}"


def _namespace_problem(namespaces: tuple[str, ...] | None) -> str:
    if namespaces is None:
        return f'has no namespaces="{NAMESPACE}"'
    if NAMESPACE not in namespaces or any(matches(n[1:], NAMESPACE) for n in namespaces if n.startswith("!")):
        return f"trusts the key for {','.join(namespaces)}, not for {NAMESPACE}"
    return ""
