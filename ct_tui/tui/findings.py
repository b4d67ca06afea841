"""What a lint run found, as the lint view lists it: the rules with their counts, and the findings of any size.

A run on a large brain finds a hundred thousand rows, so that nothing here is made once a finding before it is seen:
rows are drawn when they come into sight, and the texts that the filter looks in when somebody filters.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import TYPE_CHECKING

from ct_tui.domain.lint.model import Severity
from ct_tui.domain.lint.registry import RULES
from ct_tui.tui.signs import SEVERITY_SIGNS
from ct_tui.tui.text import NOTHING, blank, data, drawn, number, right, say
from ct_tui.tui.widgets.rows import Row, columns

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from ct_tui.domain.lint.model import Finding, Rule
    from ct_tui.domain.lint.report import LintReport
    from ct_tui.tui.text import Line

ALL, EXCEPTED = "*", "⊘"
"""Keys of the two rows that are no rule: everything, and what exceptions accept."""

FAILED = "rule-failed"


class Standing(StrEnum):
    """What a run says of one rule."""

    FAILED = "could not run"
    FOUND = "found"
    CLEAN = "clean"
    UNFINISHED = "not finished"


@dataclass(frozen=True)
class RuleCount:
    """One rule with what it found; `fresh` of the findings are new, `excepted` were accepted by rulings."""

    rule: Rule
    standing: Standing
    count: int = 0
    fresh: int = 0
    excepted: int = 0
    severity: Severity = Severity.INFO


@dataclass(frozen=True)
class Excepted:
    """A finding that a ruling accepts, as a row of the list."""

    finding: Finding
    ruling: int


class Catalog:
    """One report made ready for the screen; `names` are those of the entities concerned, as far as they were read."""

    def __init__(self, report: LintReport, names: Mapping[str, tuple[str, str]]) -> None:
        self.report = report
        self.names = names
        self.findings: tuple[Finding, ...] = (*report.findings, *(a.finding for a in report.accepted))
        self._rulings = {len(report.findings) + at: a.ruling for at, a in enumerate(report.accepted)}
        self.keys = _keys(self.findings)
        self.index = {key: at for at, key in enumerate(self.keys)}

    @cached_property
    def texts(self) -> tuple[str, ...]:
        """What the filter looks in, in small letters."""
        return tuple(self._text(f).lower() for f in self.findings)

    @cached_property
    def rules(self) -> tuple[RuleCount, ...]:
        """Every rule: those that failed, those that found something, worst first, and those that found nothing."""
        fresh = Counter(f.rule for f in self.report.findings if f.new)
        accepted = Counter(a.finding.rule for a in self.report.accepted)
        worst: dict[str, Severity] = {}
        for finding in self.report.findings:
            worst.setdefault(finding.rule, finding.severity)
        found = [
            RuleCount(
                rule,
                self._standing(rule.id),
                self.report.counts.get(rule.id, 0),
                fresh[rule.id],
                accepted[rule.id],
                worst.get(rule.id, rule.severity),
            )
            for rule in RULES
            if rule.id != FAILED
        ]
        order = list(Standing)
        return tuple(sorted(found, key=lambda r: (order.index(r.standing), r.severity.rank if r.count else 0)))

    def name(self, finding: Finding) -> str:
        """The name of the entity that a finding concerns, else the id that it is about."""
        return self.names.get(finding.entity, ("", ""))[0] or finding.entity or finding.focus.id

    def thing(self, at: int) -> Finding | Excepted:
        """What the row at an index is about."""
        ruling = self._rulings.get(at)
        return self.findings[at] if ruling is None else Excepted(self.findings[at], ruling)

    def select(self, rule: str = ALL, severity: Severity | None = None, *, fresh: bool = False) -> Sequence[int]:
        """The indexes of the findings of a rule, a severity, and of those only the new ones where that is asked."""
        open_ones = len(self.report.findings)
        if rule == EXCEPTED:
            return range(open_ones, len(self.findings))
        if rule == ALL and severity is None and not fresh:
            return range(open_ones)
        return [
            at
            for at, f in enumerate(self.report.findings)
            if (rule in {ALL, f.rule} or (f.rule == FAILED and f.focus.id == rule))
            and (severity is None or f.severity is severity)
            and (not fresh or f.new)
        ]

    def _standing(self, rule: str) -> Standing:
        if rule in self.report.failed_rules:
            return Standing.FAILED
        if self.report.counts.get(rule):
            return Standing.FOUND
        return Standing.UNFINISHED if self.report.stopped else Standing.CLEAN

    def _text(self, f: Finding) -> str:
        value = f.value if isinstance(f.value, str) else str(f.value)
        return "\n".join((f.rule, f.severity.value, self.name(f), f.focus.id, f.owner, f.path, value[:400], f.message))


class FindingRows:
    """The list of some findings of a catalog; a row is made when it is looked at."""

    def __init__(self, catalog: Catalog, chosen: Sequence[int], *, named: bool) -> None:
        self._catalog = catalog
        self._chosen = chosen
        self._named = named
        self._places: dict[int, int] | None = None

    def __len__(self) -> int:
        return len(self._chosen)

    def row(self, index: int) -> Row | None:
        """The row at an index."""
        if not 0 <= index < len(self._chosen):
            return None
        at = self._chosen[index]
        return finding_row(self._catalog, at, named=self._named)

    def find(self, key: str) -> int | None:
        """The index of a row."""
        at = self._catalog.index.get(key)
        if at is None:
            return None
        if isinstance(self._chosen, range):
            return self._chosen.index(at) if at in self._chosen else None
        if self._places is None:
            self._places = {at: index for index, at in enumerate(self._chosen)}
        return self._places.get(at)

    def want(self, start: int, stop: int) -> None:
        """Nothing to read: the report is in memory."""

    def matching(self, needle: str) -> FindingRows:
        """The rows whose text holds the needle, in any case."""
        low, texts = needle.lower(), self._catalog.texts
        return FindingRows(self._catalog, [at for at in self._chosen if low in texts[at]], named=self._named)

    def keys(self, like: Row | None) -> Iterable[str]:  # noqa: ARG002 - all rows here are of one sort
        """The keys of all rows."""
        return (self._catalog.keys[at] for at in self._chosen)


def finding_row(catalog: Catalog, at: int, *, named: bool) -> Row:
    """A finding: sign, whether it is new, the entity, what is wrong; with `named` the rule where there is room."""
    thing = catalog.thing(at)
    finding = catalog.findings[at]

    def draw(width: int) -> Line:
        sign, ink = SEVERITY_SIGNS[finding.severity]
        lead: Line = (drawn(sign, ink), drawn("+" if finding.new else " ", "ok"))
        if isinstance(thing, Excepted):
            lead = (say("⊘ ", "dim"),)
        name = max(10, min(24, width // 3))
        cells: list[tuple[Line, int]] = [(lead, 3), ((data(catalog.name(finding), width=name - 1),), name)]
        if isinstance(thing, Excepted):
            cells.append(((say("#", "dim"), number(thing.ruling, "strong"), blank(1)), 6))
        if named and width >= 76:
            cells.append(((data(finding.rule, "type"),), 26))
        cells.append(((data(finding.message, "dim" if isinstance(thing, Excepted) else ""),), 0))
        return columns(width, *cells)

    return Row(catalog.keys[at], thing, draw, markable=finding.rule != FAILED)


def rule_rows(catalog: Catalog) -> tuple[list[Row], list[str]]:
    """The rules as rows: everything, what failed, what was found, what is accepted, and what is clean."""
    report = catalog.report
    rows = [_sum_row(ALL, "∑", "all findings", sum(report.counts.values()), report.new or 0)]
    ruled = [count for count in catalog.rules if count.standing in {Standing.FAILED, Standing.FOUND}]
    rest = [count for count in catalog.rules if count not in ruled]
    nights = report.new is not None
    rows += [_rule_row(count, nights=nights) for count in ruled]
    if report.excepted:
        rows.append(_sum_row(EXCEPTED, "⊘", "excepted by rulings", report.excepted, 0))
    rows += [_rule_row(count, nights=nights) for count in rest]
    texts = [row.key if not isinstance(row.subject, RuleCount) else _rule_text(row.subject) for row in rows]
    return rows, texts


def rule_sign(count: RuleCount) -> tuple[str, str]:
    """The sign and the ink of a rule's standing."""
    if count.standing is Standing.FAILED:
        return "‼", "bad"
    if count.standing is Standing.FOUND:
        return SEVERITY_SIGNS[count.severity]
    return ("✓", "ok") if count.standing is Standing.CLEAN else ("?", "warn")


def _rule_text(count: RuleCount) -> str:
    return f"{count.rule.id} {count.rule.title} {count.standing.value} {count.severity.value}"


def _rule_row(count: RuleCount, *, nights: bool) -> Row:
    def draw(width: int) -> Line:
        sign, ink = rule_sign(count)
        quiet = count.standing is not Standing.FOUND
        words: Line = (data(count.rule.title, "dim"),)
        if quiet:
            words = (data(count.standing.value, ink if count.standing is not Standing.CLEAN else "dim"),)
        return columns(
            width,
            ((drawn(sign, ink),), 2),
            ((data(count.rule.id, "dim" if count.standing is Standing.CLEAN else "type"),), 25),
            (right(number(count.count, "strong"), 8) if not quiet else NOTHING, 8),
            (_fresh(count.fresh), 6 if nights else 2),
            (words, 0),
        )

    return Row(count.rule.id, count, draw, markable=False)


def _sum_row(key: str, sign: str, words: str, count: int, fresh: int) -> Row:
    def draw(width: int) -> Line:
        return columns(
            width,
            ((drawn(sign, "dim"),), 2),
            ((drawn(words),), 25),
            (right(number(count, "strong"), 8), 8),
            (_fresh(fresh), 0),
        )

    return Row(key, key, draw, markable=False)


def _fresh(count: int) -> Line:
    return (say(" +", "ok"), number(count, "ok")) if count else NOTHING


def _keys(findings: Sequence[Finding]) -> list[str]:
    """One key for each finding; where the same thing is found twice, as of rows without an id, a number is added."""
    seen: Counter[str] = Counter()
    keys = []
    for f in findings:
        key = f"{f.rule}\x1e{f.focus.kind.value}\x1e{f.focus.id}\x1e{f.path}"
        seen[key] += 1
        keys.append(key if seen[key] == 1 else f"{key}\x1e{seen[key]}")
    return keys
