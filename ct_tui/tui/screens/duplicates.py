"""The duplicates view: groups of one name and names that are near, side by side, decided with one key each.

A digit says which one stays, `x` that they are different things. Each opens the ruling to read and sign; with the pile
open they are only noted, and signed together at the end.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ct_tui.domain.errors import BadInput
from ct_tui.domain.queue import EntityView
from ct_tui.tui import papers
from ct_tui.tui.cases import Case, Decision, Stand, case_row, cases_of, heading_words, member_row, staged_words
from ct_tui.tui.compare import case_paper
from ct_tui.tui.messages import Compared, EvidenceRead, PageRead
from ct_tui.tui.screens.base import ViewScreen
from ct_tui.tui.screens.looking import Looking
from ct_tui.tui.text import NOTHING, blank, counted, data, drawn, number, say
from ct_tui.tui.widgets.frame import Ends, Heading
from ct_tui.tui.widgets.rows import RowList
from ct_tui.tui.widgets.tree import SEPARATOR, Store, TreeRows, parent_key

if TYPE_CHECKING:
    from collections.abc import Sequence

    from textual.app import ComposeResult

    from ct_tui.domain.plan import Progress
    from ct_tui.heal.duplicates import Board
    from ct_tui.tui.dialogs.ruling import Decided
    from ct_tui.tui.text import Line, Piece


class DuplicatesScreen(Looking, ViewScreen):
    """The cases beside a comparison of their members."""

    VIEW = "duplicates"

    def __init__(self) -> None:
        super().__init__()
        self._cases: tuple[Case, ...] = ()
        self._board: Board | None = None
        self._store: Store[EntityView] = Store(self._ask_members)
        self._known: Compared | None = None
        self._evidence: EvidenceRead | None = None
        self._piling = False
        self._landed = False
        self._wanted = ""

    # Composition

    def compose_lists(self) -> ComposeResult:
        """The cases."""
        yield Ends(id="tally")
        yield Heading((say("Duplicates"),), id="duplicates-head")
        yield RowList(((say("Comparing the names…", "dim"),),), id="cases")

    # What is under the cursor

    @property
    def case(self) -> Case | None:
        """The case under the cursor, or that of the member under it."""
        row = self.row
        if row is None:
            return None
        subject = row.subject
        if SEPARATOR in row.key:
            at = self.rows.all_rows.find(parent_key(row.key))
            parent = self.rows.all_rows.row(at) if at is not None else None
            subject = parent.subject if parent is not None else None
        return subject if isinstance(subject, Case) else None

    @property
    def subject(self) -> str:
        """What is under the cursor."""
        case = self.case
        if case is None:
            return ""
        if case.ruled is not None:
            return "ruled"
        return "entity" if isinstance(self.row.subject if self.row is not None else None, EntityView) else "group"

    @property
    def entity_id(self) -> str:
        """The member under the cursor, else the first of the case."""
        thing = self.row.subject if self.row is not None else None
        if isinstance(thing, EntityView):
            return thing.id
        case = self.case
        return case.ids[0] if case is not None and case.ids else ""

    @property
    def suggestions(self) -> int:
        """How many members a digit can choose."""
        case = self.case
        return 0 if case is None else min(9, len(case.ids))

    @property
    def by_itself(self) -> int:
        """How many groups merge without a ruling."""
        return sum(1 for case in self._cases if case.stand is Stand.BY_ITSELF)

    # Showing

    def show_rows(self) -> None:
        """Have the names compared where anything moved, and show what is known."""
        self.station.comparing.want()
        comparing = self.station.comparing
        if comparing.result is not None and comparing.result is not self._board:
            self._board = comparing.result
            self._cases = cases_of(comparing.result)
            self._store.renew({case.key: len(case.ids) for case in self._cases})
            self._known = None
        self._fill()
        self._land()
        if comparing.trouble is not None:
            self.rows.empty = (
                (say("✗ ", "bad"), data(comparing.trouble.message)),
                (say("→ ", "key"), data(comparing.trouble.remedy)),
            )
            self.station.report(comparing.trouble)

    def show_progress(self) -> None:
        """The comparing went on."""
        self._show_tally()

    def renew(self) -> None:
        """The brain was written: what was read of members is read again."""
        self._known = self._evidence = None

    def _ordered(self) -> list[Case]:
        """The cases with those put off behind the others that wait, and what is ruled last."""
        later = self.session.deferred
        waiting = {Stand.OPEN, Stand.NEAR}
        return sorted(
            self._cases,
            key=lambda c: (c.stand not in waiting, later.index(c.key) if c.key in later else -1),
        )

    def _fill(self) -> None:
        staged, later = self.session.piled, self.session.deferred
        if self._board is not None:
            self.rows.empty = (
                (say("✓ No two entities have one name, or names that are near.", "ok"),),
                *((say("? The comparing was stopped before the end.", "warn"),) for _ in range(self._board.stopped)),
            )
        parents = [
            case_row(c, staged.get(c.key), is_open=c.key in self._store.open, later=c.key in later)
            for c in self._ordered()
        ]
        self.rows.show(TreeRows(parents, self._store, member_row))
        apart = len(self._board.apart) if self._board is not None else 0
        if self._board is not None:
            self.query_one("#duplicates-head", Heading).show(heading_words(self._cases, len(staged), apart))
        self._show_tally()

    def _show_tally(self) -> None:
        """One line: how far the comparing is, whether the pile is open, what is not compared."""
        comparing, board = self.station.comparing, self._board
        right: Line = NOTHING
        if comparing.running:
            left: Line = (say(" comparing names ", "warn"), *_progress(comparing.progress))
            right = (say("esc", "key"), say(" stops ", "dim"))
        elif self._piling:
            left = (say(" ◆ pile open · ", "key"), say("p", "key"), say(" signs all of it"))
        elif comparing.before:
            left = (say(" ! the brain was written since: ", "warn"), say("^r", "key"), say(" compares again", "warn"))
        elif board is not None and not board.near_searched:
            left = (say(" · near names are not compared unasked here: ", "dim"), say("~", "key"), say(" does", "dim"))
        elif board is not None and board.notes:
            left = (say(" · ", "dim"), data(board.notes[0], "dim"))
        else:
            left = (say(" 1-9", "key"), say(" that one stays  ", "dim"), say("x", "key"), say(" different  ", "dim"))
            left += (say("p", "key"), say(" pile up", "dim"))
        self.query_one("#tally", Ends).show(left, right)

    # Detail

    def describe(self) -> None:
        """The case side by side, or the member alone."""
        row, case = self.row, self.case
        if row is None or case is None:
            self.paper.show((), "")
            return
        thing = row.subject
        if isinstance(thing, EntityView):
            self._describe_member(row.key, thing)
            return
        self.query_one("#detail-head", Heading).show(NOTHING, (say("Side by side"),))
        known = self._known.comparison if self._known is not None and self._known.key == case.key else None
        staged, stacked = self.session.piled.get(case.key), not self.is_wide
        self.paper.show(lambda width: tuple(case_paper(case, known, staged, width, stacked=stacked)), case.key)
        bench, ids, key = self.session.bench, case.ids, case.key
        if known is None and bench is not None:
            self.station.look("detail", "reading the members", lambda: Compared(key, bench.side_by_side(ids)), self)

    def _describe_member(self, key: str, entity: EntityView) -> None:
        self.query_one("#detail-head", Heading).show(NOTHING, (say("Member"),))
        known = self._evidence.entities if self._evidence is not None and self._evidence.key == key else ()
        self.paper.show(tuple(papers.entity_paper(known[0] if known else entity)), key)
        bench = self.session.bench
        if not known and bench is not None:
            self.station.look(
                "detail", "reading an entity", lambda: EvidenceRead(key, (bench.entity(entity.id),)), self
            )

    def on_compared(self, message: Compared) -> None:
        """The members are read: show them if the cursor still is there."""
        self._known = message
        if self.case is not None and self.case.key == message.key:
            self.describe()

    def on_evidence_read(self, message: EvidenceRead) -> None:
        """The member is read."""
        self._evidence = message
        if self.row is not None and self.row.key == message.key:
            self.describe()

    # Groups that open

    def do_move_open(self) -> None:
        """Show the members below the case; on one that is open go on, on a member go into the detail."""
        row = self.row
        if self.in_detail or row is None:
            return
        if row.opens and not row.is_open:
            self._store.open.add(row.key)
            self._fill()
        elif row.opens:
            self.rows.move_by(1)
        else:
            self.set_focus(self.paper)

    def do_move_close(self) -> None:
        """Back to the list, to the case, or close it."""
        row = self.row
        if self.in_detail:
            self.set_focus(self.rows)
        elif row is not None and SEPARATOR in row.key:
            self.rows.move_to_key(parent_key(row.key))
        elif row is not None and row.is_open:
            self._store.open.discard(row.key)
            self._fill()

    def _ask_members(self, group: str, offset: int, after: str) -> None:
        del after
        bench, age = self.session.bench, self.session.age
        case = next((c for c in self._cases if c.key == group), None)
        if bench is None or case is None:
            return
        item = case.item()
        self.station.look(
            f"page:{group}",
            "reading the members of a group",
            lambda: PageRead(group, offset, bench.entities_of(item, offset, 200), age),
            self,
        )

    def on_page_read(self, message: PageRead) -> None:
        """Some members are there."""
        members = self._store.known(message.group)
        if members is not None:
            members.add(message.offset, message.rows)
            self.rows.reread()
            self.show_keys()

    # Moving among open cases

    def do_duplicates_next(self) -> None:
        """The next case that waits."""
        self._go_open()

    def do_duplicates_previous(self) -> None:
        """The case before that waits."""
        self._go_open(step=-1)

    def _go_open(self, *, step: int = 1, start: int | None = None) -> bool:
        rows = self.rows
        at, count = (rows.at if start is None else start), rows.count
        for index in ((at + step * n) % count for n in range(1, count + 1)) if count else ():
            row = rows.shown_row(index)
            if row is not None and isinstance(row.subject, Case) and self._waits(row.subject):
                rows.move_to(index)
                return True
        return False

    def _waits(self, case: Case) -> bool:
        return (
            case.stand in {Stand.OPEN, Stand.NEAR}
            and case.key not in self.session.piled
            and case.key not in self.session.deferred
        )

    def show_case(self, key: str) -> None:
        """Put the cursor on a case, as the queue asks for; once the names are compared where they are not yet."""
        self._wanted = key
        self._land()

    def _land(self) -> None:
        """Where the cursor begins: on the case that was asked for, else on the first that waits."""
        if not self._cases:
            return
        if self._wanted:
            self.rows.move_to_key(self._wanted)
        elif not self._landed:
            self._go_open(start=-1)
        self._landed, self._wanted = True, ""

    # Deciding

    async def do_duplicates_stays(self, key: str) -> None:
        """The member with that digit stays."""
        case = self.case
        at = int(key) - 1
        if case is None:
            return
        if at >= len(case.ids):
            raise BadInput(f"There is no {key}: the group has {len(case.ids)} members.", "m chooses among all of them.")
        await self._merge(case, case.ids[at])

    async def do_duplicates_choose(self) -> None:
        """The member under the cursor stays, or one is chosen among all."""
        case = self.case
        if case is None:
            return
        thing = self.row.subject if self.row is not None else None
        if isinstance(thing, EntityView):
            await self._merge(case, thing.id)
        else:
            await self._ask_merge(case, "")

    async def _merge(self, case: Case, survivor: str) -> None:
        if self._piling:
            self._pile(Decision(case, survivor))
        else:
            await self._ask_merge(case, survivor)

    async def _ask_merge(self, case: Case, survivor: str) -> None:
        from ct_tui.tui.dialogs.merge import MergeDialog

        await self.station.ask(MergeDialog(case, at=survivor, done=self._decided))

    async def do_duplicates_apart(self) -> None:
        """They are different things."""
        from ct_tui.tui.dialogs.merge import ApartDialog

        case = self.case
        if case is None:
            return
        if self._piling:
            self._pile(Decision(case, None))
        else:
            await self.station.ask(ApartDialog(case, done=self._decided))

    def do_duplicates_later(self) -> None:
        """Not now: behind all others for this session."""
        case = self.case
        if case is None:
            self.tell(say("– There is no group under the cursor.", "warn"))
            return
        key = case.key
        self.session.piled.pop(key, None)
        if key in self.session.deferred:
            self.session.deferred.remove(key)
        self._go_open()
        self.session.deferred.append(key)
        self._fill()
        self.tell(say("· Put off: "), data(case.name), say(". It waits at the end, for this session only.", "dim"))

    def _decided(self, decided: Decided) -> None:
        """It was signed: say so, and go on to the next that waits."""
        session = self.session
        if decided.verb == "pile":
            for key in decided.target.split("\n"):
                session.piled.pop(key, None)
            self._piling = bool(session.piled)
        elif self.case is not None:
            session.piled.pop(self.case.key, None)
        self._go_open()
        self._fill()
        numbers = session.mine[-decided.rulings :]
        self.tell(
            say("✓ Signed", "ok"),
            *((say(" #", "dim"), number(numbers[0], "strong")) if numbers else NOTHING),
            *((say("–", "dim"), number(numbers[-1], "strong")) if len(numbers) > 1 else NOTHING),
            blank(1),
            data(decided.words),
            say("  P shows what heal would do.", "dim"),
        )

    # Piling up

    def _pile(self, decision: Decision) -> None:
        """Note a decision; the same again takes it back."""
        piled, case = self.session.piled, decision.case
        if piled.get(case.key) == decision:
            del piled[case.key]
            self._fill()
            self.tell(say("· Taken back: "), data(case.name))
            return
        piled[case.key] = decision
        more = self._go_open()
        self._fill()
        self.tell(
            say("◆ ", "key"),
            data(case.name),
            blank(1),
            *staged_words(decision),
            say("  p signs the pile", "dim") if more else say("  none is left: p signs the pile", "ok"),
        )

    async def do_duplicates_pile(self) -> None:
        """Open the pile; with decisions on it, sign them."""
        from ct_tui.tui.dialogs.merge import PileDialog

        if self.session.piled:
            known = {c.key: c for c in self._cases}
            decisions = [d for key, d in self.session.piled.items() if key in known and known[key].ruled is None]
            await self.station.ask(PileDialog(decisions, done=self._decided))
            return
        self._piling = not self._piling
        self._show_tally()
        self.tell(say("◆ The pile is open.", "key") if self._piling else say("· The pile is closed.", "dim"))

    # What needs no ruling

    async def do_duplicates_sweep(self) -> None:
        """Merge the groups that need no ruling, behind a dialog that states the counts."""
        from ct_tui.tui.dialogs.sweep import SweepDialog

        await self.station.ask(SweepDialog())

    def do_duplicates_near(self) -> None:
        """Search near names, whatever the size of the brain."""
        self.station.comparing.near = True
        self.station.comparing.want(again=True)
        self._show_tally()

    def do_app_refresh(self) -> None:
        """Compare the names again."""
        self.station.comparing.want(again=True)
        self.station.do_app_refresh()
        self._show_tally()

    def do_app_back(self) -> None:
        """Stop the comparing, else leave what was entered last."""
        if not self.query_one("#filter").display and self.station.comparing.stop():
            self.tell(say("■ Stopping: what was not compared may still be double.", "warn"))
            return
        super().do_app_back()

    def leave(self) -> None:
        """The pile stays for this session, and it is said so."""
        piled = len(self.session.piled)
        super().leave()
        if piled:
            self.station.tell_front(
                say("◆ ", "key"), counted(piled, "decision"), say(" on duplicates not signed yet: D, then p.")
            )

    def fit_panes(self) -> None:
        """Columns where there is room, else one under the other."""
        super().fit_panes()
        self.describe()

    def do_look_copy(self) -> None:
        """Copy the id under the cursor, or all ids of the case."""
        case = self.case
        thing = self.row.subject if self.row is not None else None
        if isinstance(thing, EntityView):
            self.station.copy_text(thing.id)
        elif case is not None:
            self.station.copy_text(" ".join(case.ids))

    def strengthen(self) -> None:
        """Make the heading of the pane with the keyboard stand out."""
        super().strengthen()
        self.query_one("#duplicates-head", Heading).strengthen(strong=not self.in_detail)


def _progress(progress: Progress | None) -> Sequence[Piece]:
    if progress is None or not progress.total:
        return ()
    full = round(progress.done * 12 / progress.total)
    return (
        drawn("━" * full, "ok"),
        drawn("─" * (12 - full), "faint"),
        blank(1),
        number(progress.done, "strong"),
        say(" of ", "dim"),
        counted(progress.total, "name", ink="dim"),
    )
