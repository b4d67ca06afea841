"""The lint view by keys: findings by rule and severity, the row behind them, exceptions, failed rules, stopped runs."""

from __future__ import annotations

import asyncio
import datetime as dt
from contextlib import closing
from typing import TYPE_CHECKING

import pytest
from textual.events import Key

from ct_tui.domain.rulings import Except, Revoke
from ct_tui.heal.workbench import Workbench
from ct_tui.policy.paths import resolve_places
from ct_tui.tui.findings import EXCEPTED, RuleCount, Standing
from ct_tui.tui.screens.lint import LintScreen
from ct_tui.tui.widgets.frame import Ends
from ct_tui.tui.widgets.strip import ChoiceStrip
from tests.tui.deck import NAMES, Deck, add_entity, deck, make_key, write

if TYPE_CHECKING:
    from pathlib import Path

    from ct_tui.domain.lint.model import Finding
    from ct_tui.domain.lint.report import LintReport
    from ct_tui.domain.rulings import Body

KEYS = NAMES | {"}": "right_curly_bracket", "{": "left_curly_bracket", "!": "exclamation_mark"}
EDGE = "INSERT INTO llm_wiki_edges(id, entity_id, source_id, target_id, edge_type, created_at) VALUES (?, ?, ?, ?, ?, 1759276500000)"


class Lint:
    """The lint view on a running workstation."""

    def __init__(self, d: Deck) -> None:
        self.d = d

    async def press(self, *keys: str) -> None:
        for key in keys:
            await self.d.pilot.press(KEYS.get(key, key))
            await self.rest()

    async def rest(self) -> None:
        """Wait until the run is over and shown."""
        await self.d.until(lambda: not self.d.app.linting.running)
        await self.d.settle()

    @property
    def screen(self) -> LintScreen:
        found = next(s for s in self.d.app.screen_stack if isinstance(s, LintScreen))
        assert isinstance(found, LintScreen)
        return found

    @property
    def finding(self) -> Finding:
        finding = self.screen.finding
        assert finding is not None, self.d.text
        return finding

    @property
    def tally(self) -> str:
        ends = self.screen.query_one("#tally", Ends)
        return "".join(p.text for p in (*ends.left, *ends._right))

    @property
    def shown(self) -> int:
        return len(self.screen.findings.all_rows)

    def rule(self, rule: str) -> RuleCount:
        catalog = self.screen.catalog
        assert catalog is not None
        return next(count for count in catalog.rules if count.rule.id == rule)

    def choose(self, rule: str) -> None:
        self.screen.show_rule(rule)

    def bodies(self) -> list[Body]:
        table = self.d.app.session.table
        assert table is not None
        return [e.ruling.body for e in table.entries if e.ruling is not None and e.valid]


async def opened(d: Deck) -> Lint:
    lint = Lint(d)
    await lint.press("L")
    assert d.front == "lint"
    return lint


def report_of(folder: Path) -> LintReport:
    with closing(Workbench(resolve_places(folder))) as bench:
        return bench.lint()


@pytest.mark.parametrize("size", [(120, 40), (80, 24)])
async def test_the_header_counts_severities_and_rules_in_signs_and_words(october: Path, size: tuple[int, int]) -> None:
    report = report_of(october)
    weights = report.severities()
    async with deck(october, size) as d:
        lint = await opened(d)
        assert f"✗ {weights['error']} errors" in lint.tally
        assert f"! {weights['warning']} warnings" in lint.tally
        assert f"i {weights['info']} hints" in lint.tally
        if size[0] >= 100:
            shown = "\n".join(d.lines)
            for rule, count in report.counts.items():
                line = next(left for line in d.lines if f" {rule} " in (left := line.partition("│")[0]))
                assert f" {count} " in line, shown
            assert any("fact-window-inverted" in line and "clean" in line for line in d.lines)
        else:
            strip = next(line for line in d.lines if "▌all" in line)
            assert f"▌all {sum(report.counts.values())}" in strip
            assert strip.rstrip().endswith("›"), "what does not fit is hinted at"
        assert lint.shown == len(report.findings)


async def test_the_finding_under_the_cursor_is_in_sight_in_the_least_room(october: Path) -> None:
    async with deck(october, (40, 10)) as d:
        await d.press("L")
        await d.settle()
        assert any(line.startswith("▸") for line in d.lines)


async def test_rules_and_severities_narrow_the_list(october: Path) -> None:
    report = report_of(october)
    async with deck(october) as d:
        lint = await opened(d)
        await lint.press("}")
        first = next(iter(report.counts))
        assert {lint.finding.rule} == {first}
        assert lint.shown == report.counts[first]
        await lint.press("{")
        assert lint.shown == len(report.findings)
        await lint.press("!")
        assert lint.shown == report.severities()["error"]
        assert "only ✗ error" in d.heading("findings-head")
        await lint.press("!", "!", "!")
        assert lint.shown == len(report.findings)
        await lint.press("/")
        await d.type("adrian")
        assert 0 < lint.screen.findings.count < lint.shown
        assert all("Adrian" in line for line in d.lines if line.startswith(("▸ ✗", "  ✗ ", "  ! ")) and "it " in line)
        await lint.press("escape")


async def test_the_strip_shows_the_rule_chosen_and_takes_clicks(october: Path) -> None:
    async with deck(october, (80, 24)) as d:
        lint = await opened(d)
        for _ in range(4):
            await lint.press("}")
        strip = next(line for line in d.lines if "▌" in line and "fact-start" in line)
        assert strip.startswith("‹")
        assert "▌! fact-start-is-write-time" in strip
        widget = lint.screen.query_one("#rule-strip", ChoiceStrip)
        x = strip.index("fact-confidence")
        await d.pilot.click(widget, offset=(x, 0))
        await lint.rest()
        assert {lint.finding.rule} == {"fact-confidence"}


async def test_the_detail_says_what_is_wrong_why_it_matters_and_shows_the_row(october: Path) -> None:
    async with deck(october) as d:
        lint = await opened(d)
        lint.choose("fact-provenance")
        await lint.rest()
        finding, paper = lint.finding, d.paper
        assert "A fact without a source" in paper
        assert "can neither be checked nor withdrawn" in paper
        assert finding.message in paper
        assert "llm_wiki_entries.source_ref is ‹NULL›" in paper
        assert str(finding.fix) in paper
        assert any(line.startswith("▸ source_ref") for line in paper.split("\n")), paper
        assert finding.focus.id in paper
        assert finding.owner in paper
        assert "Facts" in paper
        assert "Edges" in paper


async def test_enter_goes_to_the_row_and_back_to_the_same_finding(october: Path) -> None:
    async with deck(october) as d:
        lint = await opened(d)
        lint.choose("edge-related-to")
        await lint.rest()
        here = lint.finding
        await lint.press("enter")
        assert d.front == "RecordDialog"
        assert "▌Edge" in d.text
        assert "related_to" in d.text
        await lint.press("tab")
        assert "▌Entity" in d.text
        await lint.press("tab")
        assert "▌Time line" in d.text
        assert "minted" in d.text
        await lint.press("tab")
        assert "▌Raw row" in d.text
        assert "edge_type" in d.text
        await lint.press("escape")
        assert d.front == "lint"
        assert lint.finding == here
        await lint.press("y")
        assert d.app.clipboard == here.focus.id
        await lint.press("i")
        assert d.front == "ReadingDialog"
        assert "created_at" in d.text


async def test_enter_on_a_type_leads_to_the_census_and_on_a_ruling_to_the_rulings(
    october: Path, user_dir: Path
) -> None:
    make_key(october, user_dir)
    add_entity(october / "brain.db", "ent_v", "Variant", " Person ")
    async with deck(october) as d:
        await d.press("j", "1", "enter")
        lint = await opened(d)
        lint.choose("type-variant")
        await lint.press("enter")
        assert d.front == "desk"
        row = d.desk.rows.current
        assert row is not None
        assert row.key == "type:' Person '"
    # The ruling of before cannot act once its target is no longer declared.
    write(
        october / "brain.db",
        "UPDATE llm_wiki_entity_manifests SET manifest_json = replace(manifest_json, '\"role\"', '\"roles\"')",
    )
    async with deck(october) as d:
        lint = await opened(d)
        lint.choose("ruling-target-undeclared")
        await lint.rest()
        assert "agent → role" in d.paper
        await lint.press("enter")
        assert d.front == "rulings"
        assert "#1" in d.paper


async def test_an_exception_is_signed_counted_and_revoked(october: Path, user_dir: Path) -> None:
    make_key(october, user_dir)
    async with deck(october) as d:
        lint = await opened(d)
        lint.choose("edge-related-to")
        await lint.rest()
        finding, before = lint.finding, len(report_of(october).findings)
        await lint.press("x")
        assert d.front == "ExceptDialog"
        assert finding.focus.id in d.text
        await lint.press("enter")
        assert "A reason is required" in d.text
        await d.type("Known, and on purpose.")
        await lint.press("enter")
        assert lint.bodies() == [Except("edge-related-to", (finding.focus.id,))]
        assert report_of(october).excepted == 1
        assert "⊘ 1 excepted" in lint.tally
        assert len(report_of(october).findings) == before - 1
        lint.choose(EXCEPTED)
        await lint.rest()
        assert lint.finding == finding
        assert "excepted by ruling #1: Known, and on purpose." in d.paper
        await lint.press("x")
        assert "A ruling accepts it already" in d.said
        await lint.press("u")
        assert d.front == "RevokeDialog"
        await d.type("It is no longer on purpose.")
        await lint.press("enter")
        assert isinstance(lint.bodies()[1], Revoke)
        assert "excepted" not in lint.tally
        assert lint.rule("edge-related-to").count == 2


async def test_marked_findings_are_excepted_together_until_a_day(october: Path, user_dir: Path) -> None:
    make_key(october, user_dir)
    async with deck(october) as d:
        lint = await opened(d)
        lint.choose("fact-confidence")
        await lint.press(" ", " ", "x")
        assert "Except 2 findings" in d.text
        await d.type("Read again in winter.")
        await lint.press("shift+tab")
        await d.type("+30")
        await lint.press("enter")
        (body,) = lint.bodies()
        assert isinstance(body, Except)
        assert len(body.focus) == 2
        assert body.until == dt.datetime.now(dt.UTC).date() + dt.timedelta(days=30)
        assert lint.rule("fact-confidence").count == 2


async def test_what_the_last_night_did_not_see_is_marked_new(october: Path) -> None:
    with closing(Workbench(resolve_places(october))) as bench:
        bench.heal(apply=True, by="tester")
    async with deck(october) as d:
        lint = await opened(d)
        assert "+0 new" in lint.tally
        write(
            october / "brain.db",
            EDGE,
            "e_new",
            "ent_1f5e973d8b00932e9b474d64",
            "ent_1f5e973d8b00932e9b474d64",
            "ent_102334ec78bfbe46d6b860d5",
            "relates",
        )
        await d.until(lambda: "+2 new" in lint.tally)
        await lint.press("+")
        assert lint.shown == 2
        assert {f.focus.id for f in (lint.finding,)} == {"e_new"}
        assert "new since the last night" in d.paper
        assert any(line.startswith("▸ ✗+") for line in d.lines)
        await lint.press("+")
        assert lint.shown > 2


async def test_without_a_night_the_key_for_new_ones_says_why_not(october: Path) -> None:
    async with deck(october) as d:
        lint = await opened(d)
        await lint.press("+")
        assert "No night is remembered yet" in d.said


async def test_a_rule_that_could_not_run_is_never_shown_as_clean(october: Path, user_dir: Path) -> None:
    make_key(october, user_dir)
    write(october / "brain.db", "DROP TABLE chunks")
    async with deck(october) as d:
        lint = await opened(d)
        assert lint.rule("fact-provenance").standing is Standing.FAILED
        assert "could not run" in d.heading("rules-head")
        line = next(line for line in d.lines if " fact-provenance " in line)
        assert "‼" in line
        assert "could not run" in line
        assert "clean" not in line
        lint.choose("fact-provenance")
        await lint.rest()
        assert lint.finding.rule == "rule-failed"
        assert "has no table chunks" in d.paper
        assert "is not known to be clean" in d.paper
        await lint.press("x")
        assert "A rule that could not run cannot be excepted" in d.said
        await lint.press("enter")
        assert "about no row" in d.said


async def test_a_large_brain_is_linted_beside_the_screens_and_can_be_stopped(october: Path, user_dir: Path) -> None:
    make_key(october, user_dir)
    write(
        october / "brain.db",
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 50000) "
        "INSERT INTO llm_wiki_edges(id, entity_id, source_id, target_id, edge_type, created_at) "
        "SELECT 'e' || i, 'ent_1f5e973d8b00932e9b474d64', 'ent_1f5e973d8b00932e9b474d64', 'x' || i, 'relatesTo', 1759276500000 FROM n",
    )
    async with deck(october) as d:
        lint = Lint(d)
        # The pilot waits for the processor to rest, which it does not while the rules run.
        d.app.post_message(Key("L", "L"))
        while not (d.app.screen.query("#tally") and "rows" in lint.tally):  # noqa: ASYNC110 - a screen tells no event
            await asyncio.sleep(0.01)
        assert d.app.linting.running
        assert "esc stops" in lint.tally
        d.app.post_message(Key("escape", None))
        await lint.rest()
        assert d.front == "lint", "esc stops the run and leaves nothing"
        catalog = lint.screen.catalog
        assert catalog is not None
        assert catalog.report.stopped
        assert "stopped before the end" in d.heading("findings-head")
        assert lint.rule("name-duplicate").standing is not Standing.CLEAN
        assert not any("✓ name-duplicate" in line for line in d.lines)
        # A ruling is weighed at once, without looking at 50,000 rows again.
        lint.choose("edge-related-to")
        await lint.rest()
        excepted = lint.finding
        await lint.press("x")
        await d.type("It may stay.")
        await lint.press("enter")
        assert lint.screen.catalog is not None
        assert excepted not in lint.screen.catalog.report.findings
        assert "⊘ 1 excepted" in lint.tally
        assert "the brain was written since" in d.heading("findings-head")


async def test_the_cursor_stays_on_its_finding_when_somebody_else_writes(october: Path) -> None:
    async with deck(october) as d:
        lint = await opened(d)
        lint.choose("fact-provenance")
        await lint.press("j", "j", "j")
        here, shown = lint.finding, lint.shown
        write(october / "brain.db", "UPDATE llm_wiki_entries SET source_ref = NULL WHERE id = 'n_app'")
        await d.until(lambda: lint.shown == shown + 1)
        assert lint.finding == here


async def test_hostile_values_stay_text(october: Path) -> None:
    name = "[/] [red]x \x1b]52;c;aGk=\x07\u202e[@click=app.quit]ok[/]"
    brain = october / "brain.db"
    add_entity(brain, "entity::9f/é 1", name, "concept")
    write(brain, EDGE, "[b]e[/]", "entity::9f/é 1", "entity::9f/é 1", "ent_102334ec78bfbe46d6b860d5", "[/relates_to]")
    async with deck(october) as d:
        lint = await opened(d)
        lint.choose("edge-related-to")
        await lint.rest()
        row = next(i for i in range(lint.shown) if lint.screen.findings.shown_row(i).subject.focus.id == "[b]e[/]")  # type: ignore[union-attr]
        lint.screen.findings.move_to(row)
        await lint.rest()
        assert "[/relates_to]" in d.paper
        assert "␛" in d.paper
        assert "\x1b" not in d.text
        await lint.press("enter")
        assert d.front == "RecordDialog"
        await lint.press("escape")
        assert d.front == "lint"


async def test_the_queue_accepts_findings_with_x_and_leads_to_them_with_capital_l(
    october: Path, user_dir: Path
) -> None:
    make_key(october, user_dir)
    async with deck(october) as d:
        await d.go_to("finding:fact-confidence")
        await d.press("m")
        assert "L shows them" in d.said
        await d.press("x")
        assert "Except 4 findings" in d.text
        await d.type("As the app writes them.")
        await d.press("enter")
        lint = Lint(d)
        (body,) = lint.bodies()
        assert isinstance(body, Except)
        assert len(body.focus) == 4
        assert not any(item.id == "finding:fact-confidence" for item in d.app.session.items())
        await d.go_to("finding:fact-provenance")
        await lint.press("L")
        assert lint.finding.rule == "fact-provenance"
        assert d.heading("findings-head").startswith("fact-provenance")


async def test_read_only_says_why_nothing_is_signed(october: Path) -> None:
    async with deck(october, read_only=True) as d:
        lint = await opened(d)
        await lint.press("x")
        assert "read-only" in d.said
        assert lint.bodies() == []
