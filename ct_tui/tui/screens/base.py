"""What every view has: the bar on top, banners, what was said last, the keys, and a notice where there is no room."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.containers import Horizontal, Vertical
from textual.screen import Screen

from ct_tui.tui.actions import shown_key
from ct_tui.tui.text import NOTHING, blank, counted, data, moment, number, plain, say
from ct_tui.tui.theme import VIEW_STYLES
from ct_tui.tui.widgets.filterbox import FilterBox
from ct_tui.tui.widgets.frame import Ends, Heading, KeyBar, Lines, Notice
from ct_tui.tui.widgets.paper import Paper
from ct_tui.tui.widgets.rows import RowList
from ct_tui.tui.widgets.tree import TreeRows

if TYPE_CHECKING:
    from textual import events
    from textual.app import ComposeResult
    from textual.geometry import Size
    from textual.types import CSSPathType
    from textual.widget import Widget

    from ct_tui.domain.errors import CtTuiError
    from ct_tui.domain.queue import QueueItem
    from ct_tui.tui.actions import Action, Registry
    from ct_tui.tui.app import Workstation
    from ct_tui.tui.remembered import Remembered
    from ct_tui.tui.session import Session
    from ct_tui.tui.text import Line, Piece
    from ct_tui.tui.widgets.rows import Row

WIDE = 100
LAST = 90
"""Rank of the key that stands at the right end of the last line, whatever else fits."""
LEAST_WIDTH, LEAST_HEIGHT = 40, 10
BREADTHS: list[tuple[int, str]] | None = [(0, "-slim"), (LEAST_WIDTH, "-narrow"), (WIDE, "-wide")]
HEIGHTS: list[tuple[int, str]] | None = [(0, "-flat"), (LEAST_HEIGHT, "-low"), (24, "-mid"), (44, "-tall")]


def breadth_classes(size: Size) -> tuple[str, ...]:
    """The classes that a screen of a size bears, so that it is styled once and not again after its first resize."""
    fitting = (
        [name for least, name in points or () if length >= least]
        for length, points in ((size.width, BREADTHS), (size.height, HEIGHTS))
    )
    return tuple(names[-1] for names in fitting if names)


def too_small() -> Lines:
    """The notice for a terminal below the least size."""
    return Lines(((say("Too small", "warn"),), (say("40×10 is the least"),)), classes="too-small")


class ViewScreen(Screen[None]):
    """A view: lists beside a detail, driven by the registry's keys.

    A subclass says which lists it has (`compose_lists`), what the row under the cursor is about (`describe`), and does
    what its own actions ask for (`do_…`).
    """

    VIEW: ClassVar[str] = ""
    TITLE_WORDS: ClassVar[str] = ""
    AUTO_FOCUS = ""
    CSS_PATH: ClassVar[CSSPathType | None] = VIEW_STYLES
    HORIZONTAL_BREAKPOINTS = BREADTHS
    VERTICAL_BREAKPOINTS = HEIGHTS

    def __init__(self) -> None:
        super().__init__()
        self._zoomed = False
        self._said: Line = NOTHING
        self._behind = False
        self._renewing = False

    # What it stands on

    @property
    def station(self) -> Workstation:
        """The application."""
        from ct_tui.tui.app import Workstation

        assert isinstance(self.app, Workstation)  # noqa: S101 - the only application these screens are made for
        return self.app

    @property
    def session(self) -> Session:
        """What this run knows."""
        return self.station.session

    @property
    def registry(self) -> Registry:
        """The actions and their keys."""
        return self.station.registry

    @property
    def opened_as(self) -> str:
        """The name of the view that its key opens; empty where the screen is only led to from another."""
        return self.VIEW

    # The moment, which actions ask why they cannot be done

    @property
    def not_ready(self) -> str:
        """Why nothing can be done yet."""
        return self.session.not_ready

    @property
    def write_refusal(self) -> str:
        """Why nothing may be written."""
        return self.session.write_refusal

    @property
    def subject(self) -> str:
        """What is under the cursor."""
        row = self.row
        return "" if row is None else "row"

    @property
    def question(self) -> str:
        """The id of the open question under the cursor."""
        item = self.item
        return "" if item is None else item.id

    @property
    def suggestions(self) -> int:
        """How many suggestions that question has."""
        item = self.item
        return 0 if item is None else len(item.suggestions)

    @property
    def closed(self) -> str:
        """Why nothing can be repaired under the cursor."""
        return ""

    @property
    def drift_waits(self) -> bool:
        """Whether a policy drift has to be answered first."""
        return self.session.drift_waits

    @property
    def item(self) -> QueueItem | None:
        """The open question under the cursor; read in the action, never kept."""
        return None

    # Composition

    def compose(self) -> ComposeResult:
        """The frame with the lists and the detail in it."""
        self.add_class(*breadth_classes(self.app.size), update=False)
        yield Ends(id="topbar")
        yield Notice(id="banner")
        with Horizontal(id="body"):
            with Vertical(id="lists"):
                yield from self.compose_lists()
            with Vertical(id="detail"):
                yield Heading((say("Detail"),), id="detail-head")
                yield Paper(id="paper")
        yield FilterBox(id="filter")
        yield Ends(id="said")
        yield KeyBar(id="keys")
        yield too_small()

    def compose_lists(self) -> ComposeResult:
        """The lists of this view."""
        yield from ()

    def on_mount(self) -> None:
        """Fill in what is known already, arranged for the room there is, so that the first frame need not be mended."""
        self.query_one("#banner").display = False
        self.query_one("#filter").display = False
        self.fit_panes()
        self.show_session()
        self.set_focus(self.rows)

    # Lists

    @property
    def rows(self) -> RowList:
        """The list in front: the one with the keyboard, else the last that had it."""
        return self.query_one(RowList)

    @property
    def row(self) -> Row | None:
        """The row under the cursor."""
        return self.rows.current

    @property
    def paper(self) -> Paper:
        """The detail."""
        return self.query_one(Paper)

    @property
    def in_detail(self) -> bool:
        """Whether the keyboard is in the detail."""
        return self.focused is self.paper

    @property
    def mover(self) -> RowList | Paper:
        """What the moving keys move."""
        return self.paper if self.in_detail else self.rows

    # Showing

    def show_session(self) -> None:
        """Show what the session knows now; called whenever any of it changed."""
        self._show_topbar()
        self._show_banner()
        self.show_rows()
        self.describe()
        self.show_keys()

    def outdate(self, *, renew: bool) -> None:
        """What is shown is of before; `renew` where the brain was written, too."""
        self._behind = True
        self._renewing = self._renewing or renew

    def catch_up(self) -> None:
        """Show what the session knows now, if it changed since that was shown."""
        if self._behind and self.is_mounted and self.display:
            self.come_back()

    def come_back(self) -> None:
        """Show what the session knows now: the view comes to the front again, or something changed."""
        self._behind = False
        if self._renewing:
            self._renewing = False
            self.renew()
        self.show_session()

    def show_rows(self) -> None:
        """Fill the lists."""

    def show_progress(self) -> None:
        """Long work beside the screens went on."""

    def renew(self) -> None:
        """The brain was written: forget what was read of single rows."""

    def describe(self) -> None:
        """Show the row under the cursor in the detail."""

    def tell(self, *line: Piece) -> None:
        """Say something in the line above the keys; it stays until the next thing is said."""
        self._said = line
        self.query_one("#said", Ends).show((blank(1), *line), self._marks_line())

    def show_keys(self) -> None:
        """Show the keys that matter now."""
        bar = self.query_one(KeyBar)
        ranked = (a for a in self.registry.within(self.VIEW) if 0 < a.rank <= LAST and a.id != f"view.{self.opened_as}")
        *actions, last = sorted(ranked, key=lambda a: a.rank)
        bar.show([self._key(action) for action in actions], self._key(last))
        self.query_one("#said", Ends).show((blank(1), *self._said), self._marks_line())

    def _key(self, action: Action) -> tuple[str, str, str, bool]:
        shown = shown_key(action.keys[0])
        if action.keys[:2] == ("1", "2") and self.suggestions > 1:
            shown = f"1-{min(9, self.suggestions)}"
        return action.keys[0], shown, action.title, not action.against(self)

    def _marks_line(self) -> Line:
        """What holds for the list in front: a filter that was kept, a range, marks."""
        rows = self.rows
        kept: Line = NOTHING
        if rows.needle and not self.query_one("#filter").display:
            kept = (say("/", "key"), data(rows.needle, "warn", 20), say(" "), number(rows.count, "dim"))
            kept += (say(" of ", "dim"), number(len(rows.all_rows), "dim"), say(" "))
        if rows.ranging:
            return (*kept, say("range: v ends it ", "warn"))
        marks = len(rows.marks)
        return (*kept, *((say("● ", "warn"), counted(marks, "mark", ink="warn"), say(" ")) if marks else NOTHING))

    def _show_topbar(self) -> None:
        session = self.session
        pieces: Line = (say(" ct-tui", "title"), say("  "), data(_short_brain(session), "dim"))
        report = session.report
        if report is not None:
            found = report.census
            pieces += (say("  "), number(found.live, "strong"), say(" live", "dim"))
            if found.undeclared_entities:
                pieces += (
                    say("  ? ", "warn"),
                    number(found.undeclared_entities, "warn"),
                    say(" undeclared in ", "warn"),
                    counted(found.undeclared_types, "type", ink="warn"),
                )
            else:
                pieces += (say("  ✓ every type is declared", "ok"),)
        if session.remembered is not None:
            pieces += _as_of(session.remembered)
        elif report is None and session.trouble is None:
            pieces += (say("  reading…", "dim"),)
        self.query_one("#topbar", Ends).show(pieces, self._standing())

    def _standing(self) -> Line:
        """The right end of the top bar: read-only, and how the rulings stand."""
        table = self.session.table
        bench = self.session.bench
        pieces: Line = NOTHING
        if bench is not None and bench.read_only:
            pieces += (say("◌ read-only ", "warn"),)
        if table is not None:
            acting = len(table.valid())
            problems = len(table.problems())
            if not table.trusted:
                pieces += (say("✗ rulings not trusted ", "bad"),)
            else:
                pieces += (say("✓ ", "ok"), counted(acting, "ruling acts", "rulings act", ink="dim"), blank(1))
                if problems:
                    pieces += (
                        say("! ", "warn"),
                        counted(problems, "does not verify", "do not verify", ink="warn"),
                        blank(1),
                    )
        return pieces

    def _show_banner(self) -> None:
        self.query_one("#banner", Notice).show(*self._banners())

    def _banners(self) -> tuple[Line, ...]:
        """What stands in the way of the whole brain, each with what to do."""
        session = self.session
        lines: list[Line] = []
        if session.trouble is not None:
            trouble = session.trouble
            lines.append((say(" ✗ ", "bad"), data(trouble.title, "strong"), say(": "), data(trouble.message)))
            if trouble.remedy:
                lines.append((say("   → ", "key"), data(trouble.remedy)))
            return tuple(lines)
        if session.gone:
            lines.append(
                (
                    say(
                        " ✗ The brain is gone: its file was deleted or moved. It is looked for every half second.",
                        "bad",
                    ),
                )
            )
        elif session.stale is not None:
            lines.append(_stale_banner(session.stale))
        report = session.report
        if report is not None and report.distrust:
            lines.append((say(" ✗ Nothing ruled acts: ", "bad"), data(report.distrust), say("  R shows where.", "dim")))
        if report is not None and report.degraded:
            lines.append((say(" ! The policy is degraded: ", "warn"), data(report.degraded)))
        if report is not None and report.drift is not None:
            lines.append(_drift_banner(waits=session.drift_waits))
        return tuple(lines)

    # Moving, the same in every view

    def do_move_down(self) -> None:
        """Move down."""
        self.mover.move_by(1)

    def do_move_up(self) -> None:
        """Move up."""
        self.mover.move_by(-1)

    def do_move_first(self) -> None:
        """Go to the first row."""
        self.mover.move_to(0)

    def do_move_last(self) -> None:
        """Go to the last row."""
        self.mover.move_to(self.mover.count - 1)

    def do_move_half_down(self) -> None:
        """Move half a page down."""
        self.mover.move_by(self.mover.page)

    def do_move_half_up(self) -> None:
        """Move half a page up."""
        self.mover.move_by(-self.mover.page)

    def do_move_open(self) -> None:
        """Go into the detail; lists that have groups open one instead."""
        self.set_focus(self.paper)

    def do_move_close(self) -> None:
        """Go back to the list."""
        self.set_focus(self.rows)

    def panes(self) -> list[Widget]:
        """The panes that tab goes through."""
        return [self.rows, self.paper]

    def do_move_next_pane(self) -> None:
        """Go to the next pane."""
        self._step_pane(1)

    def do_move_previous_pane(self) -> None:
        """Go to the pane before."""
        self._step_pane(-1)

    def _step_pane(self, step: int) -> None:
        panes = self.panes()
        at = panes.index(self.focused) if self.focused in panes else 0
        self.enter_pane(panes[(at + step) % len(panes)])

    def enter_pane(self, pane: Widget) -> None:
        """Give a pane the keyboard."""
        self.set_focus(pane)

    def do_filter_keep(self) -> None:
        """Keep the rows narrowed."""
        self.end_filter(keep=True)

    def do_look_detail(self) -> None:
        """Go into the detail."""
        if not self.in_detail:
            self.set_focus(self.paper)

    def do_look_zoom(self) -> None:
        """Give the pane the whole screen, and back."""
        self._zoomed = not self._zoomed
        self.fit_panes()

    def do_look_copy(self) -> None:
        """Copy the row under the cursor as it is drawn."""
        row = self.row
        if row is not None:
            self.station.copy_text(plain(row.draw(200)).strip())

    def do_app_back(self) -> None:
        """Leave what was entered last: the filter box, the detail, a zoom, marks, a filter."""
        if self.query_one("#filter").display:
            self.end_filter(keep=False)
        elif self.in_detail:
            self.set_focus(self.rows)
        elif self._zoomed:
            self.do_look_zoom()
        elif self.rows.clear_marks():
            self.show_keys()
        elif self.rows.needle:
            self.rows.filter("")
            self.after_filter()
        else:
            self.leave()

    def leave(self) -> None:
        """Leave the view: back to the one before."""
        self.station.pop_view()

    # Filter

    def do_move_filter(self) -> None:
        """Open the filter box for the list in front."""
        box = self.query_one(FilterBox)
        box.begin(self.rows)

    def end_filter(self, *, keep: bool) -> None:
        """Close the filter box; `keep` leaves the rows narrowed."""
        self.query_one(FilterBox).end(keep=keep)
        self.after_filter()

    def after_filter(self) -> None:
        """Headings and keys follow a filter."""
        self.show_keys()

    def do_move_next_match(self) -> None:
        """Next row of the filter."""
        self.rows.move_to((self.rows.at + 1) % max(1, self.rows.count))

    def do_move_previous_match(self) -> None:
        """Row of the filter before."""
        self.rows.move_to((self.rows.at - 1) % max(1, self.rows.count))

    # Marks

    def do_mark_one(self) -> None:
        """Mark the row."""
        self.rows.toggle_mark()
        self.show_keys()

    def do_mark_range(self) -> None:
        """Begin or end a range."""
        self.rows.toggle_range()
        self.show_keys()

    def do_mark_all(self) -> None:
        """Mark every row of the filter."""
        rows = self.rows
        rows.toggle_all()
        self.show_keys()
        unread = rows.all_rows.unread(rows.current) if isinstance(rows.all_rows, TreeRows) else 0
        if unread and rows.marks:
            self.tell(
                say("● Marked is what is read so far: ", "warn"),
                number(unread, "warn"),
                say(" of this group are not. Scroll down to read on, then * again.", "warn"),
            )

    # Layout

    @property
    def is_wide(self) -> bool:
        """Whether there is room for panes beside each other; known before anything is laid out."""
        return self.app.size.width >= WIDE

    def on_resize(self, event: events.Resize) -> None:
        """Arrange for the room there is."""
        del event
        self.call_after_refresh(self.fit_panes)

    def fit_panes(self) -> None:
        """Show the panes that there is room for."""
        zoom_detail = self._zoomed and self.in_detail
        self.query_one("#lists").display = not zoom_detail
        self.query_one("#detail").display = not (self._zoomed and not zoom_detail)

    def on_descendant_focus(self) -> None:
        """Headings show where the keyboard is."""
        self.strengthen()

    def strengthen(self) -> None:
        """Make the heading of the pane with the keyboard stand out."""
        for head in self.query("#lists Heading").results(Heading):
            head.strengthen(strong=self.rows.has_focus)
        self.query_one("#detail-head", Heading).strengthen(strong=self.in_detail)

    def on_row_list_moved(self, event: RowList.Moved) -> None:
        """Another row: another detail, other keys."""
        if event.rows is self.rows:
            self.describe()
            self.show_keys()

    def on_row_list_entered(self) -> None:
        """A double click goes into the detail."""
        self.do_look_detail()

    async def on_key_bar_pressed(self, event: KeyBar.Pressed) -> None:
        """A click on a key presses it."""
        await self.station.press(event.key)


def _stale_banner(error: CtTuiError) -> Line:
    """What is shown could not be read again."""
    return (
        say(" ! What is shown is of before: ", "warn"),
        data(error.message),
        say("  It is tried again by itself.", "dim"),
    )


def _drift_banner(*, waits: bool) -> Line:
    """Policy drift, with the keys that answer it."""
    if not waits:
        return (
            say(" ✓ Policy drift is confirmed: ", "ok"),
            say("P, then a applies the plan and stamps the policy as it is now."),
        )
    return (
        say(" ! Policy drift: ", "warn"),
        say("config.json changed since the last heal, so nothing is applied. "),
        say("O", "key"),
        say(", then "),
        say("c", "key"),
        say(" confirms it, "),
        say("w", "key"),
        say(" waives it this once."),
    )


def _as_of(seen: Remembered) -> Line:
    """From when what is shown is, while the brain is read."""
    since: Line = () if seen.unmoved else (say(", changed since", "warn"),)
    return (say("  ◷ as of ", "warn"), moment(seen.at, "warn"), *since, say(" · reading…", "dim"))


def _short_brain(session: Session) -> str:
    brain = session.places.brain
    return f"{brain.parent.name}/{brain.name}" if brain.parent.name else str(brain)
