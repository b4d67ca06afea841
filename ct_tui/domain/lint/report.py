"""What a lint run found: gathered, counted, weighed against the exceptions in force and against the last night."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from ct_tui.domain.apart import APART, kept_apart
from ct_tui.domain.lint.model import Finding, Focus, Kind, Severity
from ct_tui.domain.lint.registry import RULES, severity_of
from ct_tui.domain.queue import ItemKind, QueueItem

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Container, Iterable, Iterator, Mapping

    from ct_tui.domain.rulings import InForce

KEPT_PER_RULE = 10_000
"""So many findings of one rule are kept in memory; the counts are always whole."""

_ITEM_ENTITIES = 1000


class Exceptions:
    """The exceptions in force on a day: which findings a signed ruling has looked at and accepted."""

    def __init__(self, acting: InForce, today: dt.date) -> None:
        self._by_rule: dict[str, dict[str, int]] = {}
        self.apart = kept_apart(acting, today)
        for ruling, body in acting.exceptions:
            if body.in_force(today) and body.rule != APART:
                self._by_rule.setdefault(body.rule, {}).update(dict.fromkeys(body.focus, ruling.seq))

    def covers(self, finding: Finding) -> int | None:
        """The number of the ruling that accepts a finding, or None; nothing accepts that a rule failed."""
        if finding.rule == "rule-failed":
            return None
        return self._by_rule.get(finding.rule, {}).get(finding.focus.id)


@dataclass(frozen=True, slots=True)
class Accepted:
    """A finding that a signed exception covers, with the number of that ruling."""

    finding: Finding
    ruling: int


@dataclass(frozen=True)
class LintReport:
    """The findings, worst first; `counts` by rule are whole even where `findings` holds only the first of many.

    `new` and `gone` compare with the last remembered night and are None where there was none; `excepted` counts
    findings that a signed exception covers, `accepted` holds the first of them; `notes` say what could not be judged
    the usual way; `stopped` is True where somebody stopped the run, so that not everything was looked at.
    """

    findings: tuple[Finding, ...] = ()
    counts: Mapping[str, int] = field(default_factory=dict)
    excepted: int = 0
    new: int | None = None
    gone: int | None = None
    left_out: int = 0
    notes: tuple[str, ...] = ()
    accepted: tuple[Accepted, ...] = ()
    stopped: bool = False
    weights: Mapping[tuple[str, Severity], int] = field(default_factory=dict)

    def severities(self) -> dict[str, int]:
        """How many findings weigh how much, the ones that were not kept included."""
        tally: Counter[Severity] = Counter()
        for (_, severity), count in self.weights.items():
            tally[severity] += count
        return {severity.value: tally[severity] for severity in Severity}

    def of_severity(self, severity: Severity) -> LintReport:
        """The findings of one weight and their counts; a rule that could not run is told in any case."""
        weights = {key: n for key, n in self.weights.items() if key[1] is severity or key[0] == "rule-failed"}
        kept = tuple(f for f in self.findings if (f.rule, f.severity) in weights)
        counts = _by_rule(weights)
        return replace(self, findings=kept, counts=counts, left_out=sum(counts.values()) - len(kept), weights=weights)

    @property
    def failed(self) -> bool:
        """Whether some rule could not run, so that the report is not the whole truth."""
        return bool(self.counts.get("rule-failed"))

    @property
    def failed_rules(self) -> frozenset[str]:
        """The rules that could not run."""
        return frozenset(f.focus.id for f in self.findings if f.rule == "rule-failed")

    def reweighed(self, exceptions: Exceptions) -> LintReport:
        """The same findings against the exceptions that are in force now, without looking at the brain again."""
        seen = [(f, exceptions.covers(f)) for f in self.findings]
        back = [(a.finding, exceptions.covers(a.finding)) for a in self.accepted]
        now = [Accepted(f, seq) for f, seq in (*seen, *back) if seq is not None]
        again = [replace(f, new=None if self.new is None else True) for f, seq in back if seq is None]
        weights = Counter(self.weights)
        weights.subtract((f.rule, f.severity) for f, seq in seen if seq is not None)
        weights.update((f.rule, f.severity) for f in again)
        left = (f for f, seq in seen if seq is None)
        return replace(
            self,
            findings=_sorted([*left, *again]),
            counts=_by_rule(weights),
            excepted=self.excepted + len(now) - len(self.accepted),
            new=None
            if self.new is None
            else self.new + len(again) - sum(1 for f, s in seen if s is not None and f.new),
            accepted=tuple(now),
            weights={key: n for key, n in weights.items() if n > 0},
        )

    def as_json(self) -> dict[str, Any]:
        """The document that `lint --json` prints."""
        return {
            "findings": [f.as_json() for f in self.findings],
            "counts": dict(self.counts),
            "severities": self.severities(),
            "excepted": self.excepted,
            "new": self.new,
            "gone": self.gone,
            "left_out": self.left_out,
            "notes": list(self.notes),
        }


@dataclass
class Gatherer:
    """Takes findings one by one, so that a brain of any size can be linted in little memory."""

    exceptions: Exceptions | None = None
    before: Container[int] | None = None
    keep: int | None = KEPT_PER_RULE
    excepted: int = field(default=0, init=False)
    new: int = field(default=0, init=False)
    old: int = field(default=0, init=False)
    _counts: Counter[str] = field(default_factory=Counter, init=False)
    _weights: Counter[tuple[str, Severity]] = field(default_factory=Counter, init=False)
    _kept: list[Finding] = field(default_factory=list, init=False)
    _accepted: list[Accepted] = field(default_factory=list, init=False)

    def take(self, findings: Iterable[Finding]) -> Iterator[Finding]:
        """Count and keep findings, and pass on those that no exception covers."""
        for finding in findings:
            ruling = self.exceptions.covers(finding) if self.exceptions is not None else None
            if ruling is not None:
                self._accept(finding, ruling)
                continue
            yield self._one(finding)

    def _accept(self, finding: Finding, ruling: int) -> None:
        self.excepted += 1
        if self.keep is None or len(self._accepted) < self.keep:
            self._accepted.append(Accepted(finding, ruling))

    def _one(self, finding: Finding) -> Finding:
        self._counts[finding.rule] += 1
        self._weights[finding.rule, finding.severity] += 1
        if self.before is not None:
            is_new = finding.fingerprint not in self.before
            self.new += is_new
            self.old += not is_new
            finding = replace(finding, new=is_new)
        if self.keep is None or self._counts[finding.rule] <= self.keep:
            self._kept.append(finding)
        return finding

    def report(self, *, remembered: int = 0, notes: Iterable[str] = (), stopped: bool = False) -> LintReport:
        """The report of everything taken; `remembered` is how many findings the last night had."""
        known = self.before is not None
        return LintReport(
            _sorted(self._kept),
            _by_rule(self._weights),
            self.excepted,
            self.new if known else None,
            max(0, remembered - self.old) if known else None,
            self._counts.total() - len(self._kept),
            tuple(notes),
            tuple(self._accepted),
            stopped,
            dict(self._weights),
        )


_ORDER = {rule.id: at for at, rule in enumerate(RULES)}


def _by_rule(weights: Mapping[tuple[str, Severity], int]) -> dict[str, int]:
    """The counts by rule, in the order in which the rules are listed."""
    counts: Counter[str] = Counter()
    for (rule, _), count in weights.items():
        counts[rule] += count
    return {rule.id: counts[rule.id] for rule in RULES if counts[rule.id] > 0}


def _sorted(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """The worst first, then as the rules are listed."""
    return tuple(sorted(findings, key=lambda f: (f.severity.rank, _ORDER[f.rule], f.focus.id, f.path)))


def rule_failed(rule_id: str, why: str) -> Finding:
    """`rule-failed`: a rule that could not run, told as what it is and never as clean."""
    message = f"{rule_id} could not run: {why}"
    return Finding("rule-failed", Severity.ERROR, Focus(Kind.RULE, rule_id), rule_id, None, message)


def finding_items(report: LintReport) -> tuple[QueueItem, ...]:
    """The findings as questions for the review queue: one item a rule, the worst and most frequent first.

    Duplicate names are left to the duplicate groups, and rulings that cannot act to their own items.
    """
    by_rule: dict[str, list[Finding]] = {}
    for finding in report.findings:
        by_rule.setdefault(finding.rule, []).append(finding)
    items = [
        _item(rule.id, rule.title, rule.why, by_rule[rule.id], report) for rule in RULES if _asks(rule.id, by_rule)
    ]
    return tuple(sorted(items, key=lambda i: (i.data["rank"], -i.count)))


_OWN_ITEMS = frozenset(["name-duplicate", "name-near", "type-variant"])


def _asks(rule_id: str, by_rule: Mapping[str, list[Finding]]) -> bool:
    return rule_id in by_rule and rule_id not in _OWN_ITEMS and not rule_id.startswith("ruling-")


def _item(rule_id: str, title: str, why: str, found: list[Finding], report: LintReport) -> QueueItem:
    worst = min((f.severity for f in found), key=lambda s: s.rank)
    fresh = sum(1 for f in found if f.new)
    return QueueItem(
        ItemKind.FINDING,
        rule_id,
        title,
        report.counts[rule_id],
        tuple(dict.fromkeys(f.entity for f in found[:_ITEM_ENTITIES] if f.entity)),
        (f"{worst.value}: {why}", *((f"{fresh:,} of them are new since the last night",) if fresh else ())),
        (f"no ruling accepts them; {found[0].fix}" if found[0].fix else "no ruling accepts them",),
        data={"rank": worst.rank, "severity": severity_of(rule_id).value, "findings": tuple(found[:_ITEM_ENTITIES])},
    )
