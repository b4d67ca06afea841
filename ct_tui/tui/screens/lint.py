"""The lint view: what the curation rules find, by rule and severity, with the row that each finding is about."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING

from textual.containers import Vertical

from ct_tui.domain.errors import BadInput, CtTuiError
from ct_tui.domain.lint.model import Finding, Kind, Severity
from ct_tui.domain.rulings import Except
from ct_tui.tui import lintpapers
from ct_tui.tui.findings import (
    ALL,
    EXCEPTED,
    FAILED,
    Excepted,
    FindingRows,
    RuleCount,
    Standing,
    rule_rows,
    rule_sign,
)
from ct_tui.tui.messages import FocusRead
from ct_tui.tui.screens.base import ViewScreen
from ct_tui.tui.screens.looking import Looking
from ct_tui.tui.signs import SEVERITY_SIGNS
from ct_tui.tui.text import NOTHING, blank, counted, data, drawn, number, say
from ct_tui.tui.widgets.frame import Ends, Heading
from ct_tui.tui.widgets.rows import MemoryRows, RowList
from ct_tui.tui.widgets.strip import ChoiceStrip

if TYPE_CHECKING:
    from collections.abc import Sequence

    from textual.app import ComposeResult
    from textual.widget import Widget

    from ct_tui.domain.census import RawText
    from ct_tui.domain.rulings import Ruling
    from ct_tui.heal.workbench import Workbench
    from ct_tui.tui.dialogs.ruling import Decided
    from ct_tui.tui.findings import Catalog
    from ct_tui.tui.text import Line, Piece

RULES, FINDINGS = "rules", "findings"
"""The names of the two lists."""

SEVERITIES: tuple[Severity | None, ...] = (None, *Severity)
"""What the severity key goes through; None is all of them."""

TYPE_SAMPLE = 50
"""Entities of a type that are listed beside a finding about it."""


class LintScreen(Looking, ViewScreen):
    """Rules and their findings beside the row that a finding is about."""

    VIEW = "lint"

    def __init__(self) -> None:
        super().__init__()
        self._front = FINDINGS
        self._rule = ALL
        self._severity: Severity | None = None
        self._fresh = False
        self._shown: tuple[object, ...] = ()
        self._known: FocusRead | None = None

    # Composition

    def compose_lists(self) -> ComposeResult:
        """The tally, the rules, the findings."""
        yield Ends(id="tally")
        with Vertical(id="pane-rules"):
            yield Heading((say("Rules"),), id="rules-head")
            yield RowList(id=RULES)
        yield ChoiceStrip(id="rule-strip")
        yield Heading((say("Findings"),), id="findings-head")
        yield RowList(((say("Reading the brain…", "dim"),),), id=FINDINGS)

    @property
    def rules(self) -> RowList:
        """The list of rules."""
        return self.query_one(f"#{RULES}", RowList)

    @property
    def findings(self) -> RowList:
        """The list of findings."""
        return self.query_one(f"#{FINDINGS}", RowList)

    @property
    def rows(self) -> RowList:
        """The list in front."""
        return self.rules if self._front == RULES else self.findings

    def panes(self) -> list[Widget]:
        """The lists there is room for, and the detail."""
        return [*((self.rules,) if self.is_wide else ()), self.findings, self.paper]

    def enter_pane(self, pane: Widget) -> None:
        """Give a pane the keyboard."""
        if pane.id in {RULES, FINDINGS}:
            self._front = pane.id or FINDINGS
        self.set_focus(pane)
        self.describe()
        self.show_keys()

    @property
    def catalog(self) -> Catalog | None:
        """What lint found last."""
        return self.station.linting.result

    # What is under the cursor

    @property
    def finding(self) -> Finding | None:
        """The finding under the cursor, excepted or not."""
        thing = self.row.subject if self.row is not None else None
        if isinstance(thing, Excepted):
            return thing.finding
        return thing if isinstance(thing, Finding) else None

    @property
    def subject(self) -> str:
        """What is under the cursor."""
        thing = self.row.subject if self.row is not None else None
        if isinstance(thing, Excepted):
            return "excepted"
        if isinstance(thing, Finding):
            return FAILED if thing.rule == FAILED else "finding"
        return "rule" if thing is not None else ""

    @property
    def entity_id(self) -> str:
        """The entity that the finding concerns."""
        finding = self.finding
        return finding.entity if finding is not None else ""

    # Showing

    def show_rows(self) -> None:
        """Have the report brought up to date, and show what is known of it."""
        self.station.linting.want()
        self._show_report()

    def renew(self) -> None:
        """The brain was written: the row that a finding is about is read again."""
        self._known = None

    def show_progress(self) -> None:
        """The run went on."""
        self._show_tally()

    def _show_report(self) -> None:
        catalog, linting = self.catalog, self.station.linting
        if catalog is None:
            self.findings.empty = self._empty_words()
            self.findings.refresh()
        else:
            rows, texts = rule_rows(catalog)
            if all(row.key != self._rule for row in rows):
                self._rule = ALL
            self.rules.show(MemoryRows(rows, texts))
            if self.rules.current is None or self.rules.current.key != self._rule:
                self.rules.move_to_key(self._rule)
            self._fill()
        self._show_tally()
        if linting.trouble is not None:
            self.station.report(linting.trouble)

    def _empty_words(self) -> tuple[Line, ...]:
        trouble = self.station.linting.trouble
        if trouble is not None:
            return ((say("✗ ", "bad"), data(trouble.message)), (say("→ ", "key"), data(trouble.remedy)))
        return ((say("Looking at the brain…", "dim"),),)

    def _fill(self) -> None:
        """The findings of the rule and severity chosen; the cursor stays on its finding."""
        catalog = self.catalog
        if catalog is None:
            return
        shown = (id(catalog), self._rule, self._severity, self._fresh)
        if shown != self._shown:
            self._shown = shown
            chosen = catalog.select(self._rule, self._severity, fresh=self._fresh)
            self.findings.empty = self._none_words(catalog)
            self.findings.show(FindingRows(catalog, chosen, named=self._rule in {ALL, EXCEPTED}))
        self._show_heading(catalog)
        self._show_strip(catalog)

    def _none_words(self, catalog: Catalog) -> tuple[Line, ...]:
        """What is said where no finding is shown; never that all is clean where something was not looked at."""
        report = catalog.report
        if self._severity is not None or self._fresh or self._rule != ALL:
            return (
                (say("No finding is like that.", "dim"),),
                (
                    say("!", "key"),
                    say(" goes through the severities, ", "dim"),
                    say("+", "key"),
                    say(" shows old ones, ", "dim"),
                ),
                (say("{ }", "key"), say(" go through the rules.", "dim")),
            )
        if report.stopped:
            return ((say("? The run was stopped: what was not looked at is not clean.", "warn"),),)
        return ((say("✓ The rules find nothing wrong with this brain.", "ok"),),)

    def _show_heading(self, catalog: Catalog) -> None:
        count = len(self.findings.all_rows)
        what: Line = (say("Findings"),) if self._rule == ALL else (data(self._rule),)
        if self._rule == EXCEPTED:
            what = (say("Excepted by rulings"),)
        note: Line = (number(count, "strong"),)
        found = self._found(catalog)
        if self._severity is None and not self._fresh and found > count:
            note += (say(" listed of ", "dim"), number(found, "strong"))
        if self._severity is not None:
            sign, ink = SEVERITY_SIGNS[self._severity]
            note += (say(" · only ", "dim"), drawn(sign, ink), blank(1), data(self._severity.value, ink))
        if self._fresh:
            note += (say(" · only new ones", "ok"),)
        if self.station.linting.before:
            note += (say(" · the brain was written since: ", "warn"), say("^r", "key"), say(" looks again", "warn"))
        elif catalog.report.stopped:
            note += (say(" · stopped before the end", "warn"),)
        self.query_one("#findings-head", Heading).show(note, what)
        failed = len(catalog.report.failed_rules)
        speaking = sum(1 for r in catalog.rules if r.standing is Standing.FOUND)
        words: Line = (number(speaking, "strong"), say(" find something", "dim"))
        if failed:
            words += (say(" · ", "faint"), number(failed, "bad"), say(" could not run", "bad"))
        self.query_one("#rules-head", Heading).show(words)

    def _found(self, catalog: Catalog) -> int:
        """How many findings there are of the rule chosen, listed or not."""
        counts = catalog.report.counts
        if self._rule == EXCEPTED:
            return catalog.report.excepted
        return sum(counts.values()) if self._rule == ALL else counts.get(self._rule, 0)

    def _show_strip(self, catalog: Catalog) -> None:
        choices: list[tuple[str, Line]] = [(ALL, (say("all "), number(sum(catalog.report.counts.values()))))]
        for count in catalog.rules:
            if count.standing in {Standing.FAILED, Standing.FOUND}:
                sign, ink = rule_sign(count)
                tail = number(count.count) if count.standing is Standing.FOUND else say("failed", "bad")
                choices.append((count.rule.id, (drawn(sign, ink), blank(1), data(count.rule.id), blank(1), tail)))
        if catalog.report.excepted:
            choices.append((EXCEPTED, (say("⊘ excepted "), number(catalog.report.excepted))))
        self.query_one("#rule-strip", ChoiceStrip).show(choices, self._rule)

    def _show_tally(self) -> None:
        """One line: how many weigh how much, what is new, gone and excepted, or how far the run is."""
        catalog, linting = self.catalog, self.station.linting
        if linting.running:
            self.query_one("#tally", Ends).show(self._running_words(), (say("esc", "key"), say(" stops ", "dim")))
            return
        if catalog is None:
            self.query_one("#tally", Ends).show(NOTHING)
            return
        report = catalog.report
        left: list[Piece] = [blank(1)]
        for severity, count in ((s, report.severities()[s.value]) for s in Severity):
            sign, ink = SEVERITY_SIGNS[severity]
            here = severity is self._severity
            left += [say("▌" if here else " ", "key"), drawn(sign, ink if count else "faint"), blank(1)]
            left += [number(count, "strong" if here or count else "faint"), blank(1)]
            left += [data(_plural(severity, count), ink if count else "faint"), blank(1)]
        right: Line = NOTHING
        if report.new is not None:
            right += (say("+", "ok"), number(report.new, "ok"), say(" new ", "dim"))
            right += (say("−", "dim"), number(report.gone, "dim"), say(" gone ", "dim"))
        if report.excepted:
            right += (say("⊘ ", "dim"), number(report.excepted, "dim"), say(" excepted ", "dim"))
        self.query_one("#tally", Ends).show(tuple(left), right)

    def _running_words(self) -> Line:
        progress = self.station.linting.progress
        if progress is None or not progress.total:
            return (say(" looking at the brain…", "warn"),)
        full = round(progress.done * 12 / progress.total)
        return (
            say(" looking ", "warn"),
            drawn("━" * full, "ok"),
            drawn("─" * (12 - full), "faint"),
            blank(1),
            number(progress.done, "strong"),
            say(" of ", "dim"),
            counted(progress.total, "row", ink="dim"),
        )

    # Detail

    def describe(self) -> None:
        """The finding under the cursor with its row, or the rule."""
        row, catalog = self.row, self.catalog
        if row is None or catalog is None:
            self.paper.show((), "")
            return
        finding = self.finding
        if finding is None or not isinstance(row.subject, (Finding, Excepted)):
            self.query_one("#detail-head", Heading).show(NOTHING, (say("Rule"),))
            key = row.subject if isinstance(row.subject, RuleCount) else row.key
            self.paper.show(tuple(lintpapers.rule_paper(key, catalog.report, self._exceptions())), f"rule:{row.key}")
            return
        self.query_one("#detail-head", Heading).show(NOTHING, (say("Finding"),))
        known = self._known if self._known is not None and self._known.key == row.key else None
        self.paper.show(tuple(lintpapers.finding_paper(row.subject, known, self.session.table)), row.key)
        bench, key = self.session.bench, row.key
        if known is None and bench is not None and finding.focus.kind not in {Kind.RULE, Kind.RULING}:
            self.station.look("detail", "reading the row", lambda: _focus(bench, key, finding), self)

    def on_focus_read(self, message: FocusRead) -> None:
        """The row is there: show it if the cursor still is."""
        self._known = message
        if self.row is not None and self.row.key == message.key:
            self.describe()

    def _exceptions(self) -> Sequence[tuple[Ruling, Except]]:
        """The exceptions to rules that act today."""
        table = self.session.table
        if table is None:
            return ()
        today = dt.datetime.now(dt.UTC).date()
        return [(r, r.body) for r in table.valid() if isinstance(r.body, Except) and r.body.in_force(today)]

    # Choosing

    def on_row_list_moved(self, event: RowList.Moved) -> None:
        """Another rule narrows the findings; the cursor is read now, since the message may be of before."""
        row = self.rules.current
        if event.rows is self.rules and row is not None and row.key != self._rule:
            self._choose_rule(row.key)

    def on_choice_strip_chosen(self, event: ChoiceStrip.Chosen) -> None:
        """A rule was clicked in the strip."""
        self._choose_rule(event.key)

    def _choose_rule(self, key: str) -> None:
        self._rule = key
        self.rules.move_to_key(key)
        self._fill()
        self.findings.move_to(0)
        self.show_keys()

    def do_lint_next_rule(self) -> None:
        """The next rule that found something."""
        self._step_rule(1)

    def do_lint_previous_rule(self) -> None:
        """The rule before that found something."""
        self._step_rule(-1)

    def _step_rule(self, step: int) -> None:
        if self.catalog is None:
            return
        rows, _ = rule_rows(self.catalog)
        keys = [r.key for r in rows if not isinstance(r.subject, RuleCount) or _speaks(r.subject)]
        at = keys.index(self._rule) if self._rule in keys else 0
        self._choose_rule(keys[(at + step) % len(keys)])

    def do_lint_severity(self) -> None:
        """All, then only errors, only warnings, only hints."""
        self._severity = SEVERITIES[(SEVERITIES.index(self._severity) + 1) % len(SEVERITIES)]
        self._narrowed()

    def do_lint_new(self) -> None:
        """Only what the last night did not see, or all again."""
        catalog = self.catalog
        if catalog is not None and catalog.report.new is None:
            raise BadInput("No night is remembered yet, so nothing is new or old.", "Every heal remembers what it saw.")
        self._fresh = not self._fresh
        self._narrowed()

    def _narrowed(self) -> None:
        self._fill()
        self._show_tally()
        self.show_keys()
        self.describe()

    def show_rule(self, rule: str) -> None:
        """Show the findings of one rule, as the queue asks for."""
        self._severity, self._fresh, self._rule = None, False, rule
        self._show_report()
        self.findings.move_to(0)

    # Running

    def do_app_refresh(self) -> None:
        """Look at the brain again, whatever its size."""
        self.station.linting.want(again=True)
        self.station.do_app_refresh()
        self._show_tally()

    def do_app_back(self) -> None:
        """Stop a run that is on its way, else leave what was entered last."""
        if not self.query_one("#filter").display and self.station.linting.stop():
            self.tell(say("■ Stopping: what was not looked at will not count as clean.", "warn"))
            return
        super().do_app_back()

    # Going to the row

    def do_look_detail(self) -> None:
        """Go to the row that the finding is about."""
        if self._front == RULES and not self.in_detail:
            self.enter_pane(self.findings)
            return
        finding = self.finding
        if finding is not None and finding.focus.kind is Kind.RULE:
            raise BadInput("A rule that could not run is about no row.", "Its detail says why it could not run.")
        if finding is not None:
            self.station.call_next(self._jump, finding)

    async def _jump(self, finding: Finding) -> None:
        kind = finding.focus.kind
        if kind is Kind.RULING:
            await self._to_list("rulings", finding.focus.id)
        elif kind is Kind.TYPE:
            await self._to_list("census", f"type:{finding.focus.id!r}")
        else:
            from ct_tui.tui.dialogs.record import RecordDialog

            await self.station.ask(RecordDialog(finding))

    async def _to_list(self, name: str, key: str) -> None:
        station = self.station
        if name == "census":
            station.do_view_census()
        elif (mounted := station.show_view(name)) is not None:
            await mounted
        screen = station.screen
        if not isinstance(screen, ViewScreen) or not screen.rows.move_to_key(key):
            station.tell_front(say("– It is not there any more: ", "warn"), data(key))

    def do_look_raw(self) -> None:
        """The row exactly as the brain holds it."""
        known, row = self._known, self.row
        if row is None or known is None or known.key != row.key or not known.columns:
            raise BadInput("There is no single row behind this one.", "Its detail says what it is about.")
        finding = self.finding
        self.station.open_text(
            data(known.table, "title"),
            blank(1),
            data(finding.focus.id if finding is not None else "", "dim"),
            lines=tuple(lintpapers.raw_lines(known.columns)),
        )

    def do_look_copy(self) -> None:
        """Copy the id of what the finding is about."""
        finding = self.finding
        if finding is not None:
            self.station.copy_text(finding.focus.id)
        elif self.row is not None:
            self.station.copy_text(self.row.key)

    # Exceptions

    async def do_lint_except(self) -> None:
        """Sign an exception for the finding under the cursor, or for those that are marked."""
        from ct_tui.tui.dialogs.exempt import ExceptDialog

        marked = tuple(r.subject for r in self.findings.marked() if isinstance(r.subject, Finding))
        one = self.finding
        found = marked or ((one,) if one is not None else ())
        if found:
            await self.station.ask(ExceptDialog(found, done=self._excepted))

    def _excepted(self, decided: Decided) -> None:
        self.findings.clear_marks()
        self.tell(
            say("✓ Signed", "ok"),
            *((say(" #", "dim"), number(self.session.mine[-1], "strong")) if self.session.mine else NOTHING),
            blank(1),
            data(decided.words, "type"),
            say("  ⊘ counts as excepted from now on.", "dim"),
        )

    async def do_lint_revoke(self) -> None:
        """Revoke the exception that accepts the finding under the cursor."""
        from ct_tui.tui.dialogs.decide import RevokeDialog

        thing, table = (self.row.subject if self.row is not None else None), self.session.table
        entry = table.get(thing.ruling) if table is not None and isinstance(thing, Excepted) else None
        if entry is None or entry.ruling is None:
            raise BadInput("No exception is under the cursor.", "} leads to those in force.")
        await self.station.ask(RevokeDialog(entry.ruling, done=self._revoked))

    def _revoked(self, decided: Decided) -> None:
        self.tell(say("✓ Signed ", "ok"), data(decided.words, "type"), say("  It counts as a finding again.", "dim"))

    # Layout

    def fit_panes(self) -> None:
        """The rules as a list where there is room, else as a line."""
        super().fit_panes()
        self.query_one("#pane-rules").display = self.is_wide
        self.query_one("#rule-strip").display = not self.is_wide
        if not self.is_wide and self._front == RULES:
            self.enter_pane(self.findings)

    def strengthen(self) -> None:
        """Make the heading of the pane with the keyboard stand out."""
        super().strengthen()
        for name in (RULES, FINDINGS):
            self.query_one(f"#{name}-head", Heading).strengthen(strong=self.query_one(f"#{name}").has_focus)

    def on_descendant_focus(self) -> None:
        """A list that gets the keyboard by the mouse comes to the front."""
        focused = self.focused
        if focused is not None and focused.id in {RULES, FINDINGS} and focused.id != self._front:
            self._front = focused.id
            self.describe()
            self.show_keys()
        self.strengthen()


def _speaks(count: RuleCount) -> bool:
    """Whether a rule has something to show."""
    return count.standing in {Standing.FAILED, Standing.FOUND}


def _plural(severity: Severity, count: int) -> str:
    words = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "hint"}
    return words[severity] + ("" if count == 1 else "s")


def _focus(bench: Workbench, key: str, finding: Finding) -> FocusRead:
    """The row that a finding is about and the entities around it; what is gone meanwhile is said, not raised."""
    error: CtTuiError | None = None
    table: str = ""
    columns: tuple[tuple[str, RawText], ...] = ()
    if finding.focus.kind is Kind.TYPE:
        return FocusRead(key, "", (), bench.entities_by_type(finding.focus.id, limit=TYPE_SAMPLE))
    try:
        table, columns = bench.raw_focus(finding.focus)
    except CtTuiError as gone:
        error = gone
    try:
        entities = (bench.entity(finding.entity),) if finding.entity else ()
    except CtTuiError as gone:
        return FocusRead(key, table, columns, (), error or gone)
    return FocusRead(key, table, columns, entities, error)
