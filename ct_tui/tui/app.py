"""The application: it opens the brain beside the first paint, routes keys to actions, and lets nothing crash it."""

from __future__ import annotations

import asyncio
import contextlib
import importlib
import inspect
import pkgutil
import time
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from textual import events
from textual.app import App

from ct_tui.domain.errors import CtTuiError
from ct_tui.tui import theme
from ct_tui.tui.actions import BASE, IN_DIALOGS, Action, Group, key_name, shown_key, shown_keys
from ct_tui.tui.beside import Comparing, Linting
from ct_tui.tui.keyfile import load_registry
from ct_tui.tui.lanes import Batch, Lane, errand, unexpected
from ct_tui.tui.messages import (
    CensusRead,
    Failed,
    LedgerRead,
    Noticed,
    NotOpened,
    Opened,
    QueueRead,
    TableRead,
    WorkDone,
    WorkWent,
)
from ct_tui.tui.remembered import Memory, stamp_of
from ct_tui.tui.screens.base import ViewScreen
from ct_tui.tui.session import Session
from ct_tui.tui.text import data, error_lines, say
from ct_tui.tui.theme import DARK, DIALOG_STYLES, LIGHT, STYLES, VIEW_STYLES, first_theme, plain_colours
from ct_tui.tui.tidy import Tidying
from ct_tui.tui.views import find_views

if TYPE_CHECKING:
    import threading
    from collections.abc import Awaitable, Callable, Sequence

    from textual.message import Message
    from textual.message_pump import MessagePump
    from textual.screen import Screen
    from textual.widget import Widget

    from ct_tui.heal.workbench import Workbench
    from ct_tui.policy.paths import Places
    from ct_tui.tui.actions import Registry
    from ct_tui.tui.dialogs.base import Dialog
    from ct_tui.tui.text import Line, Piece
    from ct_tui.tui.views import View

POLL_SECONDS = 0.5

RETRY_SECONDS = 3.0
"""How long after a reading that failed the brain is read again, although nobody wrote it."""

PARTS = frozenset({"reading the census", "reading the queue", "reading the ledger", "reading the rulings"})
"""What is read of the brain, in the words that say so where it fails."""

PATIENCE_SECONDS = 2.0
"""How long leaving waits for what is being read."""

TOGETHER_SECONDS = 0.1
"""How long a part of what is read anew waits for the next ones, so that they are shown together."""

HISTORY_ROWS = 500
CATCH_UP_SECONDS = 1.0


class Workstation(App[int], inherit_bindings=False):
    """The workstation on one brain."""

    CSS_PATH = STYLES / "app.tcss"
    TITLE = "ct-tui"
    AUTO_FOCUS = ""
    ENABLE_COMMAND_PALETTE = False
    BINDINGS: ClassVar = []

    def __init__(self, places: Places, *, read_only: bool = False, registry: Registry | None = None) -> None:
        super().__init__(ansi_color=True if plain_colours() else None)
        self.register_theme(DARK)
        self.register_theme(LIGHT)
        wanted = first_theme()
        self.theme = wanted if wanted in self.available_themes else DARK.name
        self._styled_with: dict[str, str] | None = self.get_css_variables()
        self.stylesheet.set_variables(self._styled_with)
        self.views = {view.name: view for view in find_views()}
        self.registry = registry or load_registry(all_actions(tuple(self.views.values())), places.user_dir)
        self.session = Session(places)
        self._memory = Memory(places)
        self.session.recall(self._memory.recall())
        self._read_only = read_only
        self._look = Lane("look")
        self._survey = Lane("survey")
        self._watching = Lane("watch")
        self._warming = Lane("warm")
        self.writing = Lane("write")
        self.stops: list[threading.Event] = []
        self.linting = Linting(self)
        self.comparing = Comparing(self)
        self._reading = False
        self._fault: CtTuiError | None = None
        """The first thing that failed in the reading that goes on."""
        self._retry_at = 0.0
        self._read_again = False
        self._behind = False
        self._showing = False
        self._warm = False
        self._tidying = Tidying()

    def get_theme_variable_defaults(self) -> dict[str, str]:
        """The inks in themes that do not name them."""
        colours = self.current_theme.to_color_system().generate()
        return {name: _resolved(value, colours) for name, value in theme.DEFAULTS.items()}

    def refresh_css(self, animate: bool = True) -> None:  # noqa: FBT001, FBT002 - Textual's own signature
        """Parse the styles and style every node anew, but at the start where the theme changed nothing in them.

        Textual does it once more at each start, and the first paint would have to wait for it.
        """
        first, self._styled_with = self._styled_with, None
        if first is None or first != self.get_css_variables():
            super().refresh_css(animate=animate)

    # Opening

    def get_default_screen(self) -> Screen[None]:
        """The desk."""
        return self.views["desk"].open()

    def on_ready(self) -> None:
        """The frame is painted: now the brain is opened, with all the imports that needs."""
        self._tidying.begin()
        self._survey.put(errand(self._open, NotOpened, self))
        self.set_interval(POLL_SECONDS, self._poll)
        # Parsed now, and not when the first of these screens opens: then all there is would have to be styled anew.
        self.stylesheet.read_all((DIALOG_STYLES, VIEW_STYLES))
        self.stylesheet.parse()

    def _open(self) -> Message:
        from ct_tui.heal.workbench import Workbench

        return Opened(Workbench(self.session.places, read_only=self._read_only))

    def on_opened(self, message: Opened) -> None:
        """The brain is open: read it."""
        self.session.bench = message.bench
        self.session.trouble = None
        self.read_all()

    def on_not_opened(self, message: NotOpened) -> None:
        """The brain could not be opened: say why, and stay."""
        self.session.trouble = message.error
        self.session.forget()
        self.show_session()

    @property
    def resting(self) -> bool:
        """Whether nothing is being read, written, or waiting to be, or to be shown."""
        lanes = (self._look, self._survey, self.writing)
        beside = self.linting.running or self.comparing.running
        return all(lane.idle for lane in lanes) and not (self._reading or self._showing or beside)

    # Reading

    def read_all(self) -> None:
        """Read everything the screens show; asked again meanwhile, it is read once more afterwards."""
        if self.session.bench is None:
            return
        if self._reading:
            self._read_again = True
            return
        self._reading = True
        self._fault = None
        bench = self.session.bench
        # The first time each part is shown as soon as it is read; later what is read quickly is shown together.
        batch = Batch(self, TOGETHER_SECONDS if self.session.table is not None else 0)
        parts: tuple[tuple[str, Callable[[], Message]], ...] = (
            ("reading the census", lambda: CensusRead(bench.census())),
            # Of a large brain the first questions are shown before its edges and names are read.
            ("reading the queue", lambda: QueueRead(bench.queue(first=True))),
            ("reading the ledger", lambda: _ledger(bench)),
            ("reading the queue", lambda: QueueRead(bench.queue())),
            ("reading the rulings", lambda: _table(bench)),
        )
        for job in (self._memory.note, batch.begin, *(errand(j, self._failed(d), batch) for d, j in parts), batch.post):
            self._survey.put(job)

    def on_census_read(self, message: CensusRead) -> None:
        """The census is known."""
        self.session.report = message.report
        self.session.age += 1
        self.show_session(renew=True)

    def on_queue_read(self, message: QueueRead) -> None:
        """The questions are known."""
        self.session.queue = message.queue
        self.session.remembered = None
        report = self.session.report
        if report is not None:
            self._survey.put(lambda: self._memory.keep(report, message.queue))
        self.show_session(renew=True)

    def on_ledger_read(self, message: LedgerRead) -> None:
        """The changes and runs are known."""
        self.session.history, self.session.runs = message.history, message.runs
        self.show_session()

    def on_table_read(self, message: TableRead) -> None:
        """The rulings are known, and with them everything: read again if something moved meanwhile."""
        session = self.session
        session.table, session.dead, session.vocabulary = message.table, message.dead, message.vocabulary
        session.me = message.me
        self._tidying.settled()
        self._end_reading()
        self._import_the_rest()
        self.show_session()

    def _end_reading(self) -> None:
        self._reading = False
        if self._fault is not None or self.session.stale is not None:
            self.session.stale = self._fault
            self._retry_at = time.monotonic() + RETRY_SECONDS
            self.show_session()
        if self._read_again:
            self._read_again = False
            self.read_all()

    def _import_the_rest(self) -> None:
        """Import what keys open while nobody waits for it, so that the first dialog opens as fast as the second.

        Module by module, so that leaving waits for one at most, as does a key that needs the one on its way.
        """
        if self._warm:
            return
        self._warm = True
        for name in later_modules():
            self._warming.put(partial(self._import, name))

    def _import(self, name: str) -> None:
        try:
            importlib.import_module(name)
        except Exception as error:  # noqa: BLE001 - the edge of a worker: the fault is said, and said again at the key
            self.post_message(Failed("importing a view", unexpected(error)))

    def on_failed(self, message: Failed) -> None:
        """Work failed: say what and why."""
        if message.doing in {"reading the census", "reading the queue"}:
            self.session.forget()
            self.show_session()
        known = self.session.stale
        if message.doing in PARTS:
            self._fault = self._fault or message.error
        if message.doing == "reading the rulings":
            self._end_reading()
        if message.doing not in PARTS or known is None or known.message != message.error.message:
            self.report(message.error)

    def show_session(self, *, renew: bool = False) -> None:
        """Let every view show what is known now: once, after what waits to be handled, or when the view is seen again.

        A key that comes before that finds it shown.
        """
        for screen in self.screen_stack:
            if isinstance(screen, ViewScreen):
                screen.outdate(renew=renew)
        if not self._showing:
            self._showing = True
            self.call_later(self._show_now)

    def _show_now(self) -> None:
        self._showing = False
        view = self._view_in_sight()
        if view is not None:
            view.catch_up()

    def _view_in_sight(self) -> ViewScreen | None:
        """The view in front, or behind the dialogs; it covers those that it was opened over."""
        return next((screen for screen in reversed(self.screen_stack) if isinstance(screen, ViewScreen)), None)

    def look(self, slot: str, doing: str, job: Callable[[], Message], to: MessagePump) -> None:
        """Have something small read for a screen; what still waits in the same slot is dropped."""
        self._look.put(errand(job, self._failed(doing), to), slot)

    def survey(self, slot: str, doing: str, job: Callable[[], Message], to: MessagePump) -> None:
        """Have something large worked out for a screen."""
        self._survey.put(errand(job, self._failed(doing), to), slot)

    def write(self, doing: str, job: Callable[[], Message], to: MessagePump) -> None:
        """Have something written: all writes go one after another, and none is ever dropped."""
        self.writing.put(errand(job, self._failed(doing), to))

    @staticmethod
    def _failed(doing: str) -> Callable[[CtTuiError], Message]:
        return lambda error: Failed(doing, error)

    def on_work_done(self, message: WorkDone) -> None:
        """Long work is over: the views that show it show the result."""
        message.work.take(message)
        self.show_session()

    def on_work_went(self, message: WorkWent) -> None:
        """Long work went on: the views that show it say how far."""
        if message.work.running:
            message.work.progress = message.progress
            view = self._view_in_sight()
            if view is not None and view.is_mounted and view.display:
                view.show_progress()

    # Noticing others

    def _poll(self) -> None:
        self._tidying.tidy(resting=self.resting)
        bench = self.session.bench
        if self.session.stale is not None and time.monotonic() > self._retry_at:
            self.read_all()
        if bench is not None and self._watching.idle:
            self._watching.put(errand(lambda: Noticed(bench.poll()), self._failed("watching the brain"), self), "poll")

    def on_noticed(self, message: Noticed) -> None:
        """Somebody wrote, replaced or removed the brain, its config or its rulings."""
        change = message.change.value
        was_gone, self.session.gone = self.session.gone, change == "gone"
        if change == "gone":
            if not was_gone:
                self.show_session()
            return
        if change == "replaced":
            self.tell_front(say("↻ ", "warn"), say("The brain was replaced by another file, which is open now."))
        if change != "same" or was_gone:
            self.read_all()

    # Keys

    async def on_event(self, event: events.Event) -> None:
        """Keys that the registry knows are done here, one after another, before any widget sees them.

        So each finds the screen as the key before it left it, however fast they come.
        """
        if isinstance(event, (events.Key, events.Paste)) and not event.is_forwarded:
            self._tidying.pressed()
            if isinstance(event, events.Key) and await self._act_on(event.key):
                event.stop()
                return
            self._behind = True
        await super().on_event(event)

    async def press(self, key: str) -> None:
        """Do what a key would do, such as when it is clicked."""
        await self._act_on(key_name(key))

    async def _act_on(self, key: str) -> bool:
        screen = self.screen
        view = getattr(screen, "VIEW", "")
        if not view:
            return False
        if self._showing:
            self._show_now()
        typing = takes_text(self.focused)
        own = getattr(screen, "KEYS", {}).get(key)
        if own is not None and not typing:
            await self._catch_up()
            await self._call(getattr(screen, own), key)
            return True
        filtered = isinstance(screen, ViewScreen) and bool(screen.rows.needle)
        action = self.registry.find(view, key, typing=typing, filtered=filtered)
        if action is None and not typing and isinstance(screen, ViewScreen):
            self._say_elsewhere(screen, key)
        if action is None or not getattr(screen, "takes", lambda _: True)(action):
            return False
        await self._catch_up()
        await self.perform(action, key)
        return True

    def _say_elsewhere(self, screen: ViewScreen, key: str) -> None:
        """Say of a key that does nothing here where it does something."""
        actions = self.registry.elsewhere(key)
        if not actions:
            return
        line: list[Piece] = [say("– ", "warn"), data(shown_key(key), "key"), say(" does nothing here.", "dim")]
        for action in actions:
            line += [say("  "), data(action.title), say(" ")]
            line += [data(action.mode.value, "dim")] if action.mode is not None else [say("in", "dim")]
            for name in sorted({"queue" if name == "desk" else name for name in action.where} - {"*"}):
                line += [say(" "), data(shown_keys(self.registry[f"view.{name}"]), "key")]
        screen.tell(*line)

    async def _catch_up(self) -> None:
        """Wait until what was typed before stands in its field, so that no action reads half a text."""
        if not self._behind:
            return
        self._behind = False
        for node in (self.focused, self.screen):
            if node is not None:
                caught_up = asyncio.Event()
                node.call_later(caught_up.set)
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(caught_up.wait(), CATCH_UP_SECONDS)

    async def perform(self, action: Action, key: str = "") -> None:
        """Do an action, or say why it cannot be done."""
        screen = self.screen
        if isinstance(screen, ViewScreen):
            reason = action.against(screen)
            if reason:
                screen.tell(
                    say("– ", "warn"),
                    data(shown_keys(action), "key"),
                    say(" "),
                    data(action.title),
                    say(": ", "dim"),
                    data(reason),
                )
                return
        handler = getattr(screen, action.method, None) or getattr(self, action.method, None)
        group, _, name = action.id.partition(".")
        if handler is None and group == "view":
            handler = partial(self.show_view, name)
        if handler is not None:
            await self._call(handler, key)

    async def _call(self, handler: Callable[..., object], key: str) -> None:
        try:
            result = handler(key) if inspect.signature(handler).parameters else handler()
            if inspect.isawaitable(result):
                await result
        except CtTuiError as error:
            self.report(error)
        except Exception as error:  # noqa: BLE001 - the edge of every action: a fault is said, the screen stays
            self.report(unexpected(error))

    # Saying

    def tell_front(self, *line: object) -> None:
        """Say something in the view in front."""
        for screen in reversed(self.screen_stack):
            if isinstance(screen, ViewScreen):
                screen.tell(*line)  # type: ignore[arg-type]
                return

    def report(self, error: CtTuiError) -> None:
        """Say what went wrong, in one line, with what to do."""
        lines = error_lines(error)
        remedy = (say("  → ", "key"), data(error.remedy)) if error.remedy else ()
        self.tell_front(lines[0][0], lines[1][0], *remedy)

    def copy_text(self, text: str) -> None:
        """Put a text on the clipboard, as far as the terminal allows it."""
        self.copy_to_clipboard(text)
        self.tell_front(say("Copied ", "dim"), data(text))

    # Actions of the application

    def show_view(self, name: str) -> Awaitable[None] | None:
        """Bring a view to the front; where it is opened anew, what can be waited for until it is there."""
        view = self.views[name]
        if isinstance(self.screen, ViewScreen) and name == self.screen.opened_as:
            return None
        for screen in [s for s in self.screen_stack if isinstance(s, ViewScreen)]:
            if name == screen.opened_as:
                while self.screen is not screen:
                    self.pop_screen()
                screen.come_back()
                return None
        return self.push_screen(view.open())

    async def ask(self, dialog: Dialog) -> None:
        """Put a dialog in front; it has the keyboard before the next key is looked at."""
        await self.push_screen(dialog)
        dialog.begin()

    def open_text(self, *title: Piece, lines: Sequence[Line]) -> None:
        """Show a text in front of the view."""
        from ct_tui.tui.dialogs.reading import ReadingDialog

        self.call_next(self.ask, ReadingDialog(*title, lines=lines))

    def pop_view(self) -> None:
        """Go back to the view before."""
        if len(self.screen_stack) > 1:
            self.pop_screen()
        if isinstance(self.screen, ViewScreen):
            self.screen.come_back()

    def do_view_census(self) -> None:
        """The census pane."""
        self._show_pane("census")

    def do_view_queue(self) -> None:
        """The queue pane."""
        self._show_pane("queue")

    def do_view_history(self) -> None:
        """The history pane."""
        self._show_pane("history")

    def _show_pane(self, name: str) -> None:
        self.show_view("desk")
        screen = self.screen
        if hasattr(screen, "show_pane"):
            screen.show_pane(name)

    async def do_view_assert(self) -> None:
        """The form that writes one fact, about the entity under the cursor where there is one."""
        from ct_tui.tui.asserted import written_line
        from ct_tui.tui.dialogs.asserting import AssertDialog

        screen = self.screen
        subject = getattr(screen, "entity_id", "") if getattr(screen, "subject", "") == "entity" else ""
        await self.ask(AssertDialog(lambda result: self.tell_front(*written_line(result)), subject=subject))

    def do_app_help(self) -> None:
        """Every key of the view in front."""
        from ct_tui.tui.dialogs.help import help_lines

        view = getattr(self.screen, "VIEW", "desk")
        self.open_text(say("Keys", "title"), lines=tuple(help_lines(self.registry, view)))

    async def do_app_palette(self) -> None:
        """Find an action by its name."""
        from ct_tui.tui.dialogs.help import PaletteDialog, palette_actions

        screen = self.screen
        if not isinstance(screen, ViewScreen):
            return
        actions = [(a, a.against(screen)) for a in palette_actions(self.registry, screen.VIEW)]
        themes = [
            (f"Theme: {name}", lambda name=name: setattr(self, "theme", name)) for name in sorted(self.available_themes)
        ]
        await self.ask(PaletteDialog(actions, lambda action: self.call_next(self.perform, action), themes))

    def do_app_refresh(self) -> None:
        """Read the brain again, or try to open it again."""
        if self.session.bench is None:
            self.session.trouble = None
            self._survey.put(errand(self._open, NotOpened, self))
        self.read_all()
        self.tell_front(say("Reading the brain again…", "dim"))

    def do_app_interrupt(self) -> None:
        """Say which key leaves."""
        self.tell_front(
            data(shown_keys(self.registry["app.quit"]).split(" ")[0], "key"), say(" leaves the workstation.")
        )

    def do_app_suspend(self) -> None:
        """Give the terminal back to the shell until it calls."""
        self.action_suspend_process()

    def do_app_quit(self) -> None:
        """Leave."""
        self.exit(0)

    # Leaving

    async def on_unmount(self) -> None:
        """Let the writer finish its chunk, then give the brain back."""
        for stop in self.stops:
            stop.set()
        besides = (self.linting.close(), self.comparing.close())
        lanes = (self._look, self._survey, self._watching, self._warming, *besides)
        for lane in lanes:
            lane.close(wait=False)
        await asyncio.to_thread(self.writing.close, wait=True)
        # A connection must not be closed under a thread that reads with it; one that reads on ends with the process.
        rested = [await asyncio.to_thread(lane.rests, PATIENCE_SECONDS) for lane in lanes]
        if self.session.bench is not None and all(rested):
            before = stamp_of(self.session.places)
            self.session.bench.close()
            self._memory.settle(before)


def takes_text(widget: Widget | None) -> bool:
    """Whether a widget is a field that keys type into."""
    # The text area is a large import, which the first paint does not wait for.
    from textual.widgets import Input, TextArea

    return isinstance(widget, (Input, TextArea))


def later_modules() -> tuple[str, ...]:
    """The modules of the views and dialogs, by name; most of them are imported when they are opened."""
    names: list[str] = []
    for room in ("screens", "dialogs"):
        package = importlib.import_module(f"ct_tui.tui.{room}")
        names += [f"{package.__name__}.{module.name}" for module in pkgutil.iter_modules(package.__path__)]
    return tuple(names)


def all_actions(views: tuple[View, ...]) -> tuple[Action, ...]:
    """Every action of the workstation: the common ones, one that opens each view, and each view's own."""
    opening = tuple(
        Action(f"view.{v.name}", (v.key,), v.title, v.help, Group.VIEW, rank=v.rank) for v in views if v.key
    )
    return (*BASE, *opening, *(action for view in views for action in view.actions), *IN_DIALOGS)


def _ledger(bench: Workbench) -> Message:
    return LedgerRead(bench.history(limit=HISTORY_ROWS), bench.runs())


def _table(bench: Workbench) -> Message:
    from ct_tui.tui.signing import known_signer

    signer = known_signer(bench.places, None)
    me = signer.principal if signer is not None else None
    return TableRead(bench.table(), bench.dead_aliases(), bench.vocabulary(), me or "")


def _resolved(value: str, colours: dict[str, str]) -> str:
    """A value with the variables in it replaced, since a variable cannot name another."""
    words = [colours.get(word[1:], word) if word.startswith("$") else word for word in value.split(" ")]
    return " ".join(words)
