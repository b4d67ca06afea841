"""The edges: the conformance matrix, now or after the plan, worst first, down to single edges and their repairs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ct_tui.domain.errors import BadInput, NothingFound
from ct_tui.heal.edge_matrix import DeskCell
from ct_tui.tui import edgepapers
from ct_tui.tui.edge_messages import CellRead, EdgeRead, EdgesRead, EndsExplained, MapRead, RowRead
from ct_tui.tui.lintpapers import raw_lines
from ct_tui.tui.messages import QuotesRead
from ct_tui.tui.repairing import asks_about_edges, declare_dialog, names_of_item, repair_dialog
from ct_tui.tui.screens.base import ViewScreen
from ct_tui.tui.screens.deciding import Deciding
from ct_tui.tui.screens.looking import Looking, quotes_of
from ct_tui.tui.screens.nights import nightly
from ct_tui.tui.text import NOTHING, blank, counted, data, drawn, say
from ct_tui.tui.widgets.edgepictures import state_bar, sums
from ct_tui.tui.widgets.edgerows import ALL, edge_row, key_of, lay_out
from ct_tui.tui.widgets.frame import Heading, Lines
from ct_tui.tui.widgets.pictures import sparkline
from ct_tui.tui.widgets.rows import Row, RowList
from ct_tui.tui.widgets.tree import SEPARATOR, Store, TreeRows, parent_key

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from textual.app import ComposeResult

    from ct_tui.domain.queue import Quote
    from ct_tui.domain.rulings import Body
    from ct_tui.heal.edge_desk import DeskEdge
    from ct_tui.heal.edge_matrix import EdgeMap
    from ct_tui.heal.edge_weigh import RepairScope, Weighed
    from ct_tui.heal.workbench import Workbench
    from ct_tui.tui.text import Line
    from ct_tui.tui.widgets.edgerows import Laid


class EdgesScreen(Deciding, Looking, ViewScreen):
    """The matrix with the edges of the cells that are open."""

    VIEW = "edges"

    def __init__(self) -> None:
        super().__init__()
        self._planned = False
        self._laid: Laid | None = None
        self._age = -1
        self._landed = False
        self._stores: dict[bool, Store[DeskEdge]] = {
            False: Store(lambda group, offset, _: self._ask_page(group, offset, planned=False)),
            True: Store(lambda group, offset, _: self._ask_page(group, offset, planned=True)),
        }
        self._cell: CellRead | None = None
        self._edge: EdgeRead | None = None

    def compose_lists(self) -> ComposeResult:
        """The sums above the matrix."""
        yield Heading((say("Edges"),), id="edges-head")
        yield Lines(id="edge-sums")
        yield RowList(((say("Counting the edges…", "dim"),),), id="edges")

    # What is under the cursor, read at the key

    @property
    def subject(self) -> str:
        """What is under the cursor."""
        thing = self.row.subject if self.row is not None else None
        if isinstance(thing, DeskCell):
            return "cell"
        return "" if thing is None else "edges" if thing == ALL else "edge"

    @property
    def cell(self) -> DeskCell | None:
        """The cell under the cursor, or that of the edge under it."""
        row = self.row
        if row is None:
            return None
        at = self.rows.all_rows.find(parent_key(row.key))
        parent = self.rows.all_rows.row(at) if at is not None else None
        return parent.subject if parent is not None and isinstance(parent.subject, DeskCell) else None

    @property
    def edges(self) -> tuple[DeskEdge, ...]:
        """The marked edges, else the one under the cursor."""
        from ct_tui.heal.edge_desk import DeskEdge

        marked = tuple(row.subject for row in self.rows.marked() if isinstance(row.subject, DeskEdge))
        if marked:
            return marked
        subject = self.row.subject if self.row is not None else None
        return (subject,) if isinstance(subject, DeskEdge) else ()

    @property
    def closed(self) -> str:
        """Why nothing can be repaired where the cursor is, or an empty text."""
        edges, cell = self.edges, self.cell
        if edges:
            shut = next((edge for edge in edges if not edge.open), None)
            return "" if shut is None else f"Edge {shut.edge.id} is not open: {_why_shut(shut)}."
        if cell is None:
            return "Put the cursor on a kind of edge, or on one edge."
        return (
            "" if cell.open else "Nothing is open here: these edges conform, are spared, kept, or mended by the plan."
        )

    @property
    def planned(self) -> bool:
        """Whether the matrix is shown as the plan leaves it."""
        return self._planned

    # Showing

    def show_rows(self) -> None:
        """Have the matrix counted anew where anything moved since."""
        bench = self.session.bench
        if bench is not None and self._age != self.session.age:
            self._age = self.session.age
            self.station.survey("edges", "counting the edges", lambda: MapRead(lay_out(bench.edge_desk.map)), self)
        self._show_sums()

    def on_map_read(self, message: MapRead) -> None:
        """The matrix is counted."""
        self._laid = message.laid
        self._cell = self._edge = None
        for planned, store in self._stores.items():
            store.renew(message.laid.matrix(planned=planned).totals)
        self._fill()

    @property
    def map(self) -> EdgeMap | None:
        """All edges, as far as they are counted."""
        return self._laid.map if self._laid is not None else None

    @property
    def cells(self) -> Sequence[DeskCell]:
        """The cells of the matrix shown, in their order."""
        return tuple(self._laid.matrix(planned=self._planned).cells.values()) if self._laid is not None else ()

    def _fill(self) -> None:
        if self._laid is None:
            return
        store, matrix = self._stores[self._planned], self._laid.matrix(planned=self._planned)
        self.rows.empty = ((say("This brain has no edges.", "dim"),),)
        self.rows.show(TreeRows(matrix.opened(store.open), store, edge_row, index=matrix.at))
        self._show_sums()
        if not self._landed and matrix.cells:
            self._land()
        self.describe()
        self.show_keys()

    def _land(self) -> None:
        """Begin on the kind of edge that the desk asks about, else on the worst one that is open."""
        self._landed = True
        asked = next((s.item for s in self.app.screen_stack if isinstance(s, ViewScreen) and s.VIEW == "desk"), None)
        if asked is not None and asks_about_edges(asked):
            names = names_of_item(asked)
            for cell in self.cells:
                if cell.asks == names and self.rows.move_to_key(key_of(cell)):
                    return
        self.rows.move_to(1 if self.map is not None and self.map.open else 0)

    def _show_sums(self) -> None:
        found = self.map
        if found is None:
            return
        now, then = ("○ ", "◉ ") if self._planned else ("◉ ", "○ ")
        note: Line = (drawn(now, "key"), say("now  "), drawn(then, "key"), say("after the plan  "))
        note += (counted(found.open, "open edge", ink="warn"),) if found.open else (say("✓ none open", "ok"),)
        self.query_one("#edges-head", Heading).show(note)
        lines = self.query_one("#edge-sums", Lines)
        width = max(20, lines.size.width or self.size.width - 2)
        counts = found.after if self._planned else found.now
        shown = sums(counts, found.now if self._planned else None, width, self._trend())
        lines.show(*((state_bar(counts, width),) if self.size.height >= 32 else ()), *shown)

    def _trend(self) -> Line:
        """The violating edges of the nights, as each run stored them; a night without a run is a gap."""
        values = nightly(self.session.runs or (), "edges.violating")
        if not any(value is not None for value in values):
            return NOTHING
        return (say("✗ by night ", "dim"), drawn("▕", "faint"), *sparkline(values, 24, "bad"), drawn("▏", "faint"))

    def describe(self) -> None:
        """Show the row under the cursor, and have what stands behind it read."""
        row, found = self.row, self.map
        if row is None or found is None or self._laid is None:
            self.paper.show((), "")
            return
        thing, width = row.subject, max(20, self.paper.size.width or 60)
        head = self.query_one("#detail-head", Heading)
        if isinstance(thing, DeskCell):
            head.show(NOTHING, (say("Kind of edge"),))
            known = self._cell.dossier if self._cell is not None and self._cell.key == row.key else None
            alike = self._laid.matrix(planned=self._planned).alike.get(thing.cell.edge_type, ())
            paper = edgepapers.cell_paper(thing, alike, known, planned=self._planned, width=width)
            self.paper.show(tuple(paper), row.key)
            if known is None:
                self._ask_cell(row.key, thing)
        elif thing == ALL:
            head.show(NOTHING, (say("Matrix"),))
            self.paper.show(tuple(edgepapers.map_paper(found, planned=self._planned, width=width)), row.key)
        else:
            head.show(NOTHING, (say("Edge"),))
            self._describe_edge(row, width)

    def _describe_edge(self, row: Row, width: int) -> None:
        from ct_tui.heal.edge_desk import DeskEdge

        edge = row.subject
        if not isinstance(edge, DeskEdge):
            return
        if self._edge is not None and self._edge.key == row.key:
            self.paper.show(tuple(edgepapers.edge_paper(self._edge.dossier, width)), row.key)
            return
        self.paper.show(tuple(edgepapers.edge_brief(edge)), row.key)
        bench, key, edge_id = self.session.bench, row.key, edge.edge.id
        if bench is not None:
            self.station.look(
                "detail", "reading an edge", lambda: EdgeRead(key, bench.edge_desk.dossier(edge_id)), self
            )

    def _ask_cell(self, key: str, cell: DeskCell) -> None:
        bench, planned = self.session.bench, self._planned
        if bench is not None:
            self.station.look(
                "detail",
                "reading a kind of edge",
                lambda: CellRead(key, bench.edge_desk.cell_dossier(cell, planned=planned)),
                self,
            )

    def on_cell_read(self, message: CellRead) -> None:
        """It is read: show it if the cursor still is there."""
        self._cell = message
        self._describe_if_there(message.key)

    def on_edge_read(self, message: EdgeRead) -> None:
        """It is read: show it if the cursor still is there."""
        self._edge = message
        self._describe_if_there(message.key)

    def _describe_if_there(self, key: str) -> None:
        if self.row is not None and self.row.key == key:
            self.describe()
            self.show_keys()

    def fit_panes(self) -> None:
        """The pictures are as wide as there is room."""
        super().fit_panes()
        self._show_sums()
        self.call_after_refresh(self.describe)

    @property
    def suggestions(self) -> int:
        """How many repairs are offered where the cursor is, as far as that is known."""
        row = self.row
        for known in (self._cell, self._edge):
            if row is not None and known is not None and known.key == row.key:
                return len(known.dossier.repairs)
        return 0

    # Groups

    def _ask_page(self, group: str, offset: int, *, planned: bool) -> None:
        bench = self.session.bench
        cell = self._laid.matrix(planned=planned).cells.get(group) if self._laid is not None else None
        if bench is None or cell is None:
            return
        members = self._stores[planned].known(group)
        after = members.rows[-1].edge.rowid if members is not None and members.rows and offset else 0
        found = cell.cell

        def read() -> EdgesRead:
            return EdgesRead(group, offset, bench.edge_desk.page(found, planned=planned, after=after))

        self.station.look(f"edges:{planned}:{group}", "reading the edges of a kind", read, self)

    def on_edges_read(self, message: EdgesRead) -> None:
        """Some edges of a cell are there."""
        if not message.rows and not message.offset:
            self.tell(say("– These edges cannot be listed: their name is no readable text.", "warn"))
        for planned, store in self._stores.items():
            members = store.known(message.group)
            if members is not None:
                members.add(message.offset, message.rows)
                if planned is self._planned:
                    self.rows.reread()
                    self.describe()
                    self.show_keys()

    def do_move_open(self) -> None:
        """Open the kind of edge under the cursor; on one edge go into the detail."""
        row = self.row
        if self.in_detail:
            return
        if row is not None and row.opens and not row.is_open:
            self._stores[self._planned].open.add(row.key)
            self._fill()
        elif row is not None and row.opens:
            self.rows.move_by(1)
        else:
            self.set_focus(self.paper)

    def do_move_close(self) -> None:
        """Go back to the list, else to the kind of edge, else close it."""
        row = self.row
        if self.in_detail:
            self.set_focus(self.rows)
        elif row is not None and SEPARATOR in row.key:
            self.rows.move_to_key(parent_key(row.key))
        elif row is not None and row.is_open:
            self._stores[self._planned].open.discard(row.key)
            self._fill()

    def do_look_detail(self) -> None:
        """Drill down: from a kind of edge to its edges, from an edge to its detail."""
        row = self.row
        if self.in_detail or row is None:
            return
        if not row.opens:
            self.set_focus(self.paper)
            return
        if not row.is_open:
            self.do_move_open()
        self.rows.move_by(1)

    def do_move_next_open(self) -> None:
        """Next kind of edge that is open."""
        self._go_open(1)

    def do_move_previous_open(self) -> None:
        """Kind of edge before that is open."""
        self._go_open(-1)

    def _go_open(self, step: int) -> None:
        rows = self.rows
        for n in range(1, rows.count + 1):
            index = (rows.at + step * n) % rows.count
            row = rows.row_at(index)
            if row is not None and isinstance(row.subject, DeskCell) and row.subject.open:
                rows.move_to(index)
                return
        self.tell(say("✓ No edge waits for a ruling.", "ok"))

    def do_look_copy(self) -> None:
        """Copy the id of the edge, or the names of its kind."""
        edges, cell = self.edges, self.cell
        if edges:
            self.station.copy_text("\n".join(edge.edge.id for edge in edges))
        elif cell is not None:
            self.station.copy_text(str(cell.cell))

    # Looking behind an edge

    def _one(self) -> DeskEdge:
        """The edge under the cursor; raises BadInput where there is none."""
        from ct_tui.heal.edge_desk import DeskEdge

        subject = self.row.subject if self.row is not None else None
        if not isinstance(subject, DeskEdge):
            raise BadInput("Put the cursor on one edge.", "l opens the kind of edge under it.")
        return subject

    def do_look_why(self) -> None:
        """What the ladder decides for either end, rung by rung."""
        bench, edge = self.session.bench, self._one().edge
        if bench is not None:
            ends = ((edge.source, edge.source_name), (edge.target, edge.target_name))
            self.station.look("why", "reading why", lambda: _whys(bench, ends), self)

    def on_ends_explained(self, message: EndsExplained) -> None:
        """The ladder's ways are read."""
        self.station.open_text(say("Why, for either end", "title"), lines=tuple(edgepapers.ladder_lines(message.ends)))

    def do_look_raw(self) -> None:
        """The edge's row exactly as the brain holds it."""
        bench, edge_id = self.session.bench, self._one().edge.id
        if bench is not None:
            self.station.look("raw", "reading the row", lambda: _raw(bench, edge_id), self)

    def on_row_read(self, message: RowRead) -> None:
        """The row is read."""
        title = (data(message.table, "title"), blank(1), data(message.row_id, "dim"))
        self.station.open_text(*title, lines=tuple(raw_lines(message.columns)))

    def do_look_source(self) -> None:
        """Open a passage that stands behind one of the ends."""
        bench, edge = self.session.bench, self._one().edge
        if bench is not None:
            ends = (edge.source, edge.target)
            self.station.look("source", "finding the sources", lambda: _passages(bench, ends), self)

    # Now, or after the plan

    def do_edge_toggle(self) -> None:
        """Show the matrix as it is now, or as the plan leaves it; the cursor stays on the kind of edge."""
        cell = self.cell
        self._planned = not self._planned
        self.rows.clear_marks()
        self._cell = None
        self._fill()
        if cell is not None:
            self._follow_cell(cell)

    def _follow_cell(self, cell: DeskCell) -> None:
        """Put the cursor where most of the edges of a cell are in the other matrix."""
        for other in self.cells:
            if other.names == cell.other:
                self.rows.move_to_key(key_of(other))
                return

    # Repairs

    async def do_edge_take(self, key: str) -> None:
        """Take a ranked repair by its number."""
        await self._repair(int(key))

    async def do_edge_keep(self) -> None:
        """Leave the edges as they are."""
        await self._repair("keep")

    async def _repair(self, at: int | str) -> None:
        cell, ids = self.cell, tuple(edge.edge.id for edge in self.edges)
        if cell is None:
            raise BadInput("Put the cursor on a kind of edge, or on one edge.")

        def scope(bench: Workbench) -> RepairScope:
            return bench.edge_desk.scope_of(ids) if ids else bench.edge_desk.scope(cell)

        def weigh(bench: Workbench) -> tuple[int, Sequence[Weighed]]:
            found = scope(bench)
            return found.count, bench.edge_desk.weigh(found)

        def make(bench: Workbench, choice: str) -> tuple[Body, ...]:
            return bench.edge_desk.bodies(scope(bench), choice)

        names, count = cell.asks or cell.names, len(ids) or cell.asked
        await self._open(repair_dialog(names, count, weigh=weigh, make=make, done=self._decided, at=at))

    async def do_edge_declare(self) -> None:
        """Declare the type of an end that nobody declared, with the edge signatures that it should join."""
        cell = self.cell
        if cell is None:
            raise BadInput("Put the cursor on a kind of edge.")
        await self._open(declare_dialog(cell.asks or cell.names, self.session, self._decided))


def _whys(bench: Workbench, ends: Sequence[tuple[str, str]]) -> EndsExplained:
    """The ladder's way for each end that is an entity."""
    found: list[tuple[str, tuple[str, ...]]] = []
    for end, name in ends:
        try:
            found.append((name or end, bench.why(end)))
        except NothingFound:
            found.append((name or end, ()))
    return EndsExplained(found)


def _raw(bench: Workbench, edge_id: str) -> RowRead:
    from ct_tui.domain.lint.model import Focus, Kind

    table, columns = bench.raw_focus(Focus(Kind.EDGE, edge_id))
    return RowRead(table, edge_id, columns)


def _passages(bench: Workbench, ends: Sequence[str]) -> QuotesRead:
    """The passages behind the ends that are entities, each once."""
    found: dict[tuple[str, int | None], Quote] = {}
    vault: Path | None = None
    for end in ends:
        try:
            read = quotes_of(bench, end)
        except NothingFound:
            continue
        vault = read.vault
        found.update({(quote.path, quote.start_line): quote for quote in read.quotes})
    return QuotesRead(tuple(found.values()), vault)


def _why_shut(edge: DeskEdge) -> str:
    if edge.edge.shielded:
        return "an end is opted out or off, so it is reported and never repaired"
    if edge.kept:
        return "a ruling keeps it"
    if edge.becomes is None or edge.becomes.conforms:
        return "it conforms, or will once the plan has run"
    return "a ruling decides it already, or it is left as it is"
