"""The desk: drift census, review queue and ledger history as panes, with the detail of what is under the cursor."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.containers import Vertical

from ct_tui.domain.census import TypeCount
from ct_tui.domain.history import HistoryRow
from ct_tui.domain.queue import EntityView, ItemKind, QueueItem
from ct_tui.tui import papers
from ct_tui.tui.messages import Compared, EvidenceRead, LifeRead, OlderRead, PageRead
from ct_tui.tui.rowviews import change_row, entity_row, item_row, type_row
from ct_tui.tui.screens.base import ViewScreen
from ct_tui.tui.screens.deciding import Deciding
from ct_tui.tui.screens.looking import Looking
from ct_tui.tui.text import NOTHING, counted, data, number, say
from ct_tui.tui.widgets.frame import Heading, Tabs
from ct_tui.tui.widgets.rows import GrowingRows, MemoryRows, RowList
from ct_tui.tui.widgets.tree import SEPARATOR, Parent, Store, TreeRows, parent_key

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from textual.app import ComposeResult
    from textual.message import Message
    from textual.widget import Widget

    from ct_tui.heal.workbench import Workbench
    from ct_tui.tui.cases import Case
    from ct_tui.tui.text import Line
    from ct_tui.tui.widgets.rows import Row

SAMPLE = 4
"""Entities of a question that are shown with their evidence at once."""

HISTORY_ROWS = 500
"""Changes that are read at a time."""

PANES = ("census", "queue", "history")


class DeskScreen(Deciding, Looking, ViewScreen):
    """The screen that the workstation opens with."""

    VIEW = "desk"
    CSS_PATH = None  # its styles are those of the application, which is all that the first paint waits for

    def __init__(self) -> None:
        super().__init__()
        self._front = "queue"
        self._stores: dict[str, Store[EntityView]] = {
            "census": Store(lambda group, offset, after: self._ask_page("census", group, offset, after)),
            "queue": Store(lambda group, offset, after: self._ask_page("queue", group, offset, after)),
        }
        self._landed = False
        self._older: tuple[HistoryRow, ...] = ()
        self._oldest_known = False
        self._evidence: EvidenceRead | None = None
        self._compared: Compared | None = None
        self._life: LifeRead | None = None

    # Composition

    def compose_lists(self) -> ComposeResult:
        """The three panes."""
        yield Tabs([(name, (data(name),)) for name in PANES], id="tabs")
        with Vertical(id="pane-census", classes="pane"):
            yield Heading((say("Census"),), id="census-head")
            yield RowList(((say("Reading the brain…", "dim"),),), id="census")
        with Vertical(id="pane-queue", classes="pane"):
            yield Heading((say("Queue"),), id="queue-head")
            yield RowList(((say("Reading the brain…", "dim"),),), id="queue")
        with Vertical(id="pane-history", classes="pane"):
            yield Heading((say("History"),), id="history-head")
            yield RowList(((say("Reading the brain…", "dim"),),), id="history")

    def pane_list(self, name: str) -> RowList:
        """The list of a pane."""
        return self.query_one(f"#{name}", RowList)

    @property
    def rows(self) -> RowList:
        """The list of the pane in front."""
        return self.pane_list(self._front)

    @property
    def front(self) -> str:
        """The name of the pane in front."""
        return self._front

    def panes(self) -> list[Widget]:
        """The lists and the detail."""
        return [*(self.pane_list(name) for name in PANES), self.paper]

    def enter_pane(self, pane: Widget) -> None:
        """Bring a pane to the front and give it the keyboard."""
        if pane.id in PANES:
            self._front = pane.id or self._front
        self.fit_panes()
        self.set_focus(pane)
        self.describe()
        self.show_keys()

    def show_pane(self, name: str) -> None:
        """Bring a pane to the front by its name."""
        self.enter_pane(self.pane_list(name))

    # What is under the cursor

    @property
    def subject(self) -> str:
        """What is under the cursor."""
        thing = self.row.subject if self.row is not None else None
        kinds = ((EntityView, "entity"), (QueueItem, "question"), (HistoryRow, "change"), (TypeCount, "type"))
        return next((word for kind, word in kinds if isinstance(thing, kind)), "")

    @property
    def item(self) -> QueueItem | None:
        """The open question under the cursor: in the queue, of the group an entity is in, or about a type."""
        row = self.row
        if row is None:
            return None
        group = row.subject
        if SEPARATOR in row.key:
            at = self.rows.all_rows.find(parent_key(row.key))
            parent = self.rows.all_rows.row(at) if at is not None else None
            group = parent.subject if parent is not None else None
        if isinstance(group, QueueItem):
            return group
        if isinstance(group, TypeCount) and group.drifts:
            return self.session.question_of(group.type)
        return None

    @property
    def entity_id(self) -> str:
        """The id of the entity under the cursor, or an empty text."""
        thing = self.row.subject if self.row is not None else None
        if isinstance(thing, EntityView):
            return thing.id
        if isinstance(thing, HistoryRow):
            return thing.entity_id
        return ""

    # Showing

    def show_rows(self) -> None:
        """Fill the three lists from what the session knows."""
        self._show_census()
        self._show_queue()
        self._show_history()
        self._show_tabs()

    def _show_census(self) -> None:
        report = self.session.report
        if report is None:
            return
        types = sorted(report.census.types, key=lambda t: (not t.drifts, -t.count, t.type))
        longest = max((t.count for t in types), default=0)
        store = self._stores["census"]
        parents = [type_row(t, longest, is_open=f"type:{t.raw!r}" in store.open) for t in types]
        self._fill("census", parents, store)
        self.pane_list("census").empty = ((say("No live entity is in this brain.", "dim"),),)
        undeclared = report.census.undeclared_entities
        note: Line = (
            (
                number(undeclared, "warn"),
                say(" of ", "dim"),
                number(report.census.live, "dim"),
                say(" undeclared", "dim"),
            )
            if undeclared
            else (say("✓ all declared", "ok"),)
        )
        self.query_one("#census-head", Heading).show(note)

    def _show_queue(self) -> None:
        if self.session.queue is None:
            return
        items = self.session.items()
        store = self._stores["queue"]
        parents = [item_row(i, is_open=i.id in store.open, deferred=self.session.is_deferred(i)) for i in items]
        self._fill("queue", parents, store)
        rows = self.pane_list("queue")
        rows.empty = (
            (say("✓ Nothing is waiting for you.", "ok"),),
            (say("P shows what heal would do, N what it did.", "dim"),),
        )
        note: Line = (counted(len(items), "question", ink="warn"),) if items else (say("✓ none open", "ok"),)
        self.query_one("#queue-head", Heading).show(note)
        if not self._landed and items:
            self._landed = True
            self._go_open(1, start=-1)

    def _show_history(self) -> None:
        newest = self.session.history
        if newest is None:
            return
        history = self._with_older(newest)
        drawn = [change_row(row) for row in history]
        kept, texts = [row for row, _ in drawn], [text for _, text in drawn]
        more = len(newest) >= HISTORY_ROWS and not self._oldest_known
        rows = self.pane_list("history")
        rows.show(GrowingRows(kept, texts, self._ask_older) if more else MemoryRows(kept, texts))
        rows.empty = (
            (say("No type was changed here yet.", "dim"),),
            (say("Rulings are applied from the plan: P.", "dim"),),
        )
        note: Line = (say("none yet", "dim"),)
        if history:
            note = (counted(len(history), "change", ink="dim"), *((say(" and older", "dim"),) if more else NOTHING))
        self.query_one("#history-head", Heading).show(note)

    def _with_older(self, newest: tuple[HistoryRow, ...]) -> tuple[HistoryRow, ...]:
        """The newest changes with those read before them; where a gap has opened between the two, they are dropped."""
        known = tuple(row for row in self._older if not newest or row.id < newest[-1].id)
        if not newest or (known and known[0].id != newest[-1].id - 1):
            known, self._oldest_known = (), False
        self._older = known
        return newest + known

    def _ask_older(self) -> None:
        bench, newest = self.session.bench, self.session.history
        if bench is None or not newest:
            return
        before = (self._older or newest)[-1].id

        def read() -> OlderRead:
            return OlderRead(before, bench.history(before=before, limit=HISTORY_ROWS))

        self.station.look("older", "reading older changes", read, self)

    def on_older_read(self, message: OlderRead) -> None:
        """Older changes are there: they follow those known, unless somebody wrote meanwhile."""
        newest = self.session.history
        if newest and (self._older or newest)[-1].id == message.before:
            self._older += message.rows
            self._oldest_known = len(message.rows) < HISTORY_ROWS
            self._show_history()

    def _show_tabs(self) -> None:
        queue = self.session.queue
        count: Line = (say(" "), number(len(queue.items), "warn")) if queue is not None else NOTHING
        words = {
            "census": (say("C", "key"), say(" Census")),
            "queue": (say("Q", "key"), say(" Queue"), *count),
            "history": (say("H", "key"), say(" History")),
        }
        self.query_one(Tabs).show([(name, words[name]) for name in PANES], self._front)

    def _fill(self, name: str, parents: Sequence[Parent], store: Store[EntityView]) -> None:
        self.pane_list(name).show(TreeRows(parents, store, entity_row))

    def renew(self) -> None:
        """The brain was written: read again what the open groups show, and the detail."""
        for name, store in self._stores.items():
            totals = self._totals(name)
            if totals is not None:
                store.renew(totals)
        self._evidence = self._life = self._compared = None

    def _totals(self, name: str) -> dict[str, int] | None:
        session = self.session
        if name == "census":
            return None if session.report is None else {f"type:{t.raw!r}": t.count for t in session.report.census.types}
        return None if session.queue is None else {i.id: min(i.count, len(i.entities)) for i in session.queue.items}

    # Detail

    def describe(self) -> None:
        """Show the row under the cursor, and have its evidence read."""
        row = self.row
        if row is None:
            self.paper.show((), "")
            return
        self.query_one("#detail-head", Heading).show(NOTHING, _named(row.subject))
        self._show_words(row)
        self._ask_evidence(row)

    def _show_words(self, row: Row) -> None:
        case = _case_of(row.subject)
        if case is None:
            self.paper.show(tuple(self._words(row)), row.key)
            return
        from ct_tui.tui.compare import case_paper

        known = self._compared.comparison if self._compared is not None and self._compared.key == row.key else None
        stacked = not self.is_wide
        self.paper.show(lambda width: tuple(case_paper(case, known, None, width, stacked=stacked)), row.key)

    def _words(self, row: Row) -> Sequence[Line]:
        thing = row.subject
        known = self._evidence if self._evidence is not None and self._evidence.key == row.key else None
        if isinstance(thing, QueueItem):
            entities = known.entities if known is not None else None
            return tuple(papers.question_paper(thing, entities, deferred=self.session.is_deferred(thing)))
        if isinstance(thing, TypeCount):
            return self._type_words(thing, known)
        if isinstance(thing, EntityView):
            return tuple(papers.entity_paper(known.entities[0] if known is not None and known.entities else thing))
        if isinstance(thing, HistoryRow):
            if self._life is not None and self._life.key == row.key:
                return tuple(papers.life_paper(self._life.ledger))
            return tuple(papers.change_paper(thing))
        return ()

    def _type_words(self, row: TypeCount, known: EvidenceRead | None) -> Sequence[Line]:
        lines = list(papers.type_paper(row, self.session.vocabulary))
        item = self.session.question_of(row.type) if row.drifts else None
        if item is not None:
            lines += papers.grounds(item, known.entities if known else None)
        return lines

    def _ask_evidence(self, row: Row) -> None:
        bench = self.session.bench
        if bench is None:
            return
        thing, key, item = row.subject, row.key, self.item
        if isinstance(thing, EntityView):
            self._look(key, lambda: EvidenceRead(key, (bench.entity(thing.id),)))
        elif isinstance(thing, HistoryRow):
            if self._life is None or self._life.key != key:
                self.station.look(
                    "detail", "reading a ledger", lambda: LifeRead(key, bench.ledger(thing.entity_id)), self
                )
        elif isinstance(thing, QueueItem) and _case_of(thing) is not None:
            if self._compared is None or self._compared.key != key:
                self.station.look(
                    "detail", "reading the members", lambda: Compared(key, bench.side_by_side(thing.entities)), self
                )
        elif item is not None and item.entities:
            self._look(key, lambda: EvidenceRead(key, _sample(bench, item)))

    def _look(self, key: str, job: Callable[[], Message]) -> None:
        if self._evidence is None or self._evidence.key != key:
            self.station.look("detail", "reading the evidence", job, self)

    def on_evidence_read(self, message: EvidenceRead) -> None:
        """The evidence is there: show it if the cursor still is."""
        self._evidence = message
        self._show_if_there(message.key)

    def on_compared(self, message: Compared) -> None:
        """The members of a group are read: show them if the cursor still is there."""
        self._compared = message
        self._show_if_there(message.key)

    def on_life_read(self, message: LifeRead) -> None:
        """The ledger is there: show it if the cursor still is."""
        self._life = message
        self._show_if_there(message.key)

    def _show_if_there(self, key: str) -> None:
        row = self.row
        if row is not None and row.key == key:
            self._show_words(row)

    # Groups

    def do_move_open(self) -> None:
        """Open the group under the cursor; on what has none go into the detail."""
        row = self.row
        if self.in_detail:
            return
        if row is not None and row.opens and not row.is_open:
            self._stores[self._front].open.add(row.key)
            self._refill()
        elif row is not None and row.opens:
            self.rows.move_by(1)
        else:
            self.enter_pane(self.paper)

    def do_move_close(self) -> None:
        """Go back to the list, else to the group's own row, else close it."""
        row = self.row
        if self.in_detail:
            self.enter_pane(self.rows)
        elif row is not None and SEPARATOR in row.key:
            self.rows.move_to_key(parent_key(row.key))
        elif row is not None and row.is_open:
            self._stores[self._front].open.discard(row.key)
            self._refill()

    def _refill(self) -> None:
        if self._front == "census":
            self._show_census()
        elif self._front == "queue":
            self._show_queue()
        self.show_keys()

    def _ask_page(self, name: str, group: str, offset: int, after: str) -> None:
        bench = self.session.bench
        at = self.pane_list(name).all_rows.find(group)
        row = self.pane_list(name).all_rows.row(at) if at is not None else None
        if bench is None or row is None:
            return
        thing, age = row.subject, self.session.age

        def read() -> PageRead:
            if isinstance(thing, TypeCount):
                return PageRead(group, offset, bench.entities_by_type(thing.raw, after=after, limit=200), age)
            assert isinstance(thing, QueueItem)  # noqa: S101 - only these two open
            return PageRead(group, offset, bench.entities_of(thing, offset, 200), age)

        self.station.look(f"page:{name}:{group}", "reading the entities of a group", read, self)

    def on_page_read(self, message: PageRead) -> None:
        """Some entities of a group are there."""
        for name, store in self._stores.items():
            members = store.known(message.group)
            if members is not None:
                members.add(message.offset, message.rows)
                self.pane_list(name).reread()
                if name == self._front:
                    self.show_keys()

    # Moving among questions

    def do_move_next_open(self) -> None:
        """Next undecided question."""
        self._go_open(1)

    def do_move_previous_open(self) -> None:
        """Undecided question before."""
        self._go_open(-1)

    def _go_open(self, step: int, start: int | None = None) -> None:
        if self._front != "queue":
            self.show_pane("queue")
        rows = self.pane_list("queue")
        source = rows.all_rows if not rows.needle else None
        if source is None:
            rows.filter("")
        at = rows.at if start is None else start
        for index in _around(at, step, rows.count):
            row = rows.all_rows.row(index)
            if row is not None and isinstance(row.subject, QueueItem) and self._is_undecided(row.subject):
                rows.move_to(index)
                return
        self.tell(say("No undecided question is left.", "ok"))

    def _is_undecided(self, item: QueueItem) -> bool:
        return papers.is_undecided(item, deferred=self.session.is_deferred(item))

    # Layout

    def fit_panes(self) -> None:
        """Three panes and the detail where there is room; else one pane at a time, the detail below it."""
        wide = self.is_wide
        zoom_detail = self._zoomed and self.in_detail
        for name in PANES:
            pane = self.query_one(f"#pane-{name}")
            pane.display = (wide and not self._zoomed) or name == self._front
            pane.set_class(name == self._front, "front")
        self.query_one("#tabs").display = not wide
        self.query_one("#lists").display = not zoom_detail
        self.query_one("#detail").display = not (self._zoomed and not zoom_detail)
        self._show_tabs()

    def strengthen(self) -> None:
        """Make the heading of the pane with the keyboard stand out."""
        super().strengthen()
        for name in PANES:
            self.query_one(f"#{name}-head", Heading).strengthen(strong=self.pane_list(name).has_focus)

    def on_descendant_focus(self) -> None:
        """A pane that gets the keyboard by the mouse comes to the front."""
        focused = self.focused
        if focused is not None and focused.id in PANES and focused.id != self._front:
            self._front = focused.id
            self.fit_panes()
            self.describe()
            self.show_keys()
        self.strengthen()

    def on_tabs_chosen(self, event: Tabs.Chosen) -> None:
        """A tab was clicked."""
        self.show_pane(event.name)

    def leave(self) -> None:
        """There is nothing behind the desk: say which key quits."""
        self.station.do_app_interrupt()


def _case_of(thing: object) -> Case | None:
    """The duplicate group that a question is about, or None."""
    if not isinstance(thing, QueueItem) or thing.kind is not ItemKind.DUPLICATE:
        return None
    from ct_tui.tui.cases import case_of

    return case_of(thing)


def _named(thing: object) -> Line:
    """What the detail shows, for its heading."""
    if isinstance(thing, QueueItem):
        return (say("Question"),)
    if isinstance(thing, EntityView):
        return (say("Entity"),)
    return (say("Time line"),) if isinstance(thing, HistoryRow) else (say("Type"),)


def _sample(bench: Workbench, item: QueueItem) -> tuple[EntityView, ...]:
    """The first entities of a question with their evidence; one that vanished meanwhile is left out."""
    from ct_tui.domain.errors import NothingFound

    found: list[EntityView] = []
    for entity_id in item.entities[:SAMPLE]:
        try:
            found.append(bench.entity(entity_id))
        except NothingFound:
            continue
    return tuple(found)


def _around(at: int, step: int, count: int) -> list[int]:
    """All indexes after (or before) one, round the end, itself last."""
    return [(at + step * n) % count for n in range(1, count + 1)] if count else []
