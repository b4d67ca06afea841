"""The part of the workbench that curates: lint, duplicates, assertions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ct_tui.domain.errors import NothingFound
from ct_tui.domain.lint.model import Kind as FocusKind
from ct_tui.domain.lint.report import KEPT_PER_RULE, Exceptions
from ct_tui.heal import duplicates, lint
from ct_tui.heal.bench_healing import Healing
from ct_tui.heal.who import reviewer

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable, Collection, Sequence

    from ct_tui.domain.assertions import Lookup, Relation
    from ct_tui.domain.census import RawText
    from ct_tui.domain.duplicates import MergeReport
    from ct_tui.domain.lint.model import Focus
    from ct_tui.domain.lint.report import LintReport
    from ct_tui.domain.plan import Progress
    from ct_tui.heal.assertions import AssertionResult, Mints, Request
    from ct_tui.heal.duplicates import Board, Comparison

ROWS_OF_FINDINGS = frozenset({FocusKind.ENTITY, FocusKind.FACT, FocusKind.EDGE, FocusKind.MANIFEST})
"""What a finding can be about that is one row of one table."""


class Curating(Healing):
    """What the curation guide asks of a brain."""

    def lint(
        self,
        *,
        only: Collection[str] | None = None,
        keep: int | None = KEPT_PER_RULE,
        remember: bool = False,
        progress: Callable[[Progress], None] | None = None,
        stop: threading.Event | None = None,
    ) -> LintReport:
        """What the curation rules find, new or old since the last night; a rule that crashed says so.

        `only` names the rules to run, `keep` limits the findings of each that are kept (None keeps all). With
        `remember` this counts as a night of its own, for a brain that is too large to be linted at the end of a heal.
        """
        view = self.view()
        if only is None and keep == KEPT_PER_RULE and not remember and "lint_report" in view.__dict__:
            return view.lint_report
        pace = lint.Pace(progress=progress, stop=stop)
        report = lint.lint(self.brain, view.situation, only=lint.ALL if only is None else only, keep=keep, pace=pace)
        if remember:
            self.brain.require_writable()
            last = self.runs()
            lint.remember_night(self.brain, view.situation, last[0].id if last else 0, int(self._clock()))
        return report

    def lints_by_itself(self) -> bool:
        """Whether the brain is small enough to be linted without being asked, as the queue and every heal do."""
        view = self.view()
        with self.brain.reading() as db:
            return lint.automatic(db, view.situation)

    def reweigh(self, report: LintReport) -> LintReport:
        """A report of before against the exceptions in force now; the brain is not looked at again."""
        situation = self.view().situation
        return report.reweighed(Exceptions(situation.acting, situation.today))

    def raw_focus(self, focus: Focus) -> tuple[str, tuple[tuple[str, RawText], ...]]:
        """The table and the row that a finding is about, exactly as they stand; raises NothingFound.

        Only entities, facts, edges and manifests are rows; everything else has none.
        """
        from ct_tui.brain import curation

        if focus.kind not in ROWS_OF_FINDINGS:
            return "", ()
        with self.brain.reading() as db:
            table, row = curation.raw_row(db, self.brain.refresh_schema(), focus.kind.value, focus.id)
        if not row:
            raise NothingFound(f"there is no row {focus.id!r} in {table}", "it may have been removed meanwhile")
        return table, row

    def duplicates(
        self,
        *,
        apply: bool = False,
        confirm: str | None = None,
        waive: str | None = None,
        by: str = "",
        stop: threading.Event | None = None,
    ) -> MergeReport:
        """The app's merge of duplicates; without `apply` the report alone. Every merge is a run that can be undone."""
        asked = duplicates.Asked(apply, confirm, waive, by or reviewer())
        return duplicates.sweep(self.brain, self.view().situation, asked, self._clock, stop)

    def duplicate_groups(
        self,
        *,
        near: bool = True,
        progress: Callable[[Progress], None] | None = None,
        stop: threading.Event | None = None,
    ) -> Board:
        """Groups of one name and near pairs, each with what speaks for its members and the rulings to choose from."""
        view = self.view()
        with self.brain.snapshot() as db:
            return duplicates.board(db, view.situation, near=near, pace=lint.Pace(progress=progress, stop=stop))

    def reweigh_duplicates(self, board: Board) -> Board:
        """A board of before against the rulings in force now; the names are not compared again."""
        view = self.view()
        with self.brain.snapshot() as db:
            return duplicates.reweighed(db, view.situation, board)

    def compares_by_itself(self) -> bool:
        """Whether the brain is small enough for its names to be compared without being asked."""
        view = self.view()
        with self.brain.reading() as db:
            return duplicates.automatic(db, view.situation)

    def side_by_side(self, ids: Sequence[str]) -> Comparison:
        """Entities beside each other: facts, edges, sources, what they share, and the loops a merge would make."""
        view = self.view()
        with self.brain.snapshot() as db:
            return duplicates.compare(db, view.situation, tuple(self.entity(i) for i in dict.fromkeys(ids)))

    def look_up(self, name: str) -> Lookup:
        """What a name or an id means: one entity, an alias of one, or the candidates with reasons."""
        from ct_tui.heal import assertions

        view = self.view()
        with self.brain.snapshot() as db:
            return assertions.look_up_name(db, view.situation, name)

    def relations_between(
        self, source_type: str, target_type: str, ends: Sequence[str | None] = ()
    ) -> tuple[Relation, ...]:
        """The declared relations whose signature fits two types, exact ones first; `ends` are the ids of the two."""
        from ct_tui.heal import assertions

        return assertions.relations_between(self.view().situation, source_type, target_type, ends)

    def assert_fact(
        self, request: Request, *, apply: bool = False, mints: Mints | None = None, by: str = ""
    ) -> AssertionResult:
        """One fact-edge the guide's way; without `apply` what would be written, with every question and conflict.

        Raises BadInput for what the guide does not allow; `mints` lets new entities in through the write gate.
        """
        from ct_tui.heal import assertions

        view, now_ms = self.view(), int(self._clock() * 1000)
        with self.brain.snapshot() as db:
            planned = assertions.plan_assertion(db, view.situation, request, mints, now_ms)
        if not apply:
            return assertions.AssertionResult(planned)
        self.brain.require_writable()
        return assertions.write_assertion(
            self.brain, planned, mints=mints, answered=request.answered, by=by or reviewer(), now_ms=now_ms
        )
