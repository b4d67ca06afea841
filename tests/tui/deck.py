"""The workstation under test: the real application on a real brain, driven by keys, read by its screen and its rows."""

from __future__ import annotations

import asyncio
import sqlite3
import time
from contextlib import asynccontextmanager, closing
from typing import TYPE_CHECKING, Any

from ct_tui.policy.paths import resolve_places
from ct_tui.tui.app import Workstation
from ct_tui.tui.screens.desk import DeskScreen
from ct_tui.tui.widgets.frame import Ends, Heading
from ct_tui.tui.widgets.paper import Paper

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from pathlib import Path

    from textual.pilot import Pilot

NAMES = {
    " ": "space",
    ".": "full_stop",
    "@": "at",
    "-": "minus",
    "+": "plus",
    "/": "slash",
    "*": "asterisk",
    "?": "question_mark",
}
PATIENCE = 20.0
"""Seconds that a condition may take before a test fails."""


class Deck:
    """One running workstation."""

    def __init__(self, app: Workstation, pilot: Pilot[int], folder: Path) -> None:
        self.app = app
        self.pilot = pilot
        self.folder = folder

    @property
    def brain(self) -> Path:
        """The brain's file."""
        return (self.folder / "brain.db").absolute()

    # Keys

    async def press(self, *keys: str) -> None:
        """Press keys one by one, each after all that the one before began has ended."""
        for key in keys:
            await self.pilot.press(NAMES.get(key, key))
            await self.settle()

    async def type(self, text: str) -> None:
        """Type a text."""
        await self.pilot.press(*(NAMES.get(char, char) for char in text))
        await self.settle()

    async def burst(self, keys: str) -> None:
        """Send keys as a terminal does that received them at once, and wait only afterwards."""
        from textual import events

        for char in keys:
            named = {"\r": "enter", "\x1b": "escape"}.get(char)
            key, shown = (named, None) if named else (NAMES.get(char, char), char)
            self.app.post_message(events.Key(key, shown))
        await self.settle()

    # Waiting

    async def settle(self) -> None:
        """Wait until nothing is being read, written, or left to be shown."""
        await self.until(self._idle)
        await self.pilot.pause()
        await self.until(self._idle)
        await self.pilot.pause()

    def _idle(self) -> bool:
        # A new size is taken up by a timer, and so is what has to be laid out or painted; no message tells of them.
        screen = self.app.screen
        shown = not (screen._layout_required or screen._repaint_required or screen._dirty_widgets or screen._callbacks)
        return self.app.resting and self.app._resize_timer is None and shown

    async def counted(self) -> None:
        """Wait until the edges of all runs are counted, which happens beside the screens, and the screens know it."""
        await self.until(lambda: all("edges" in run.numbers for run in self.app.session.runs or ()))
        await self.settle()

    async def resize(self, width: int, height: int) -> None:
        """Give the terminal another size."""
        await self.pilot.resize_terminal(width, height)
        await self.settle()

    async def until(self, condition: Callable[[], bool]) -> None:
        """Wait for a condition; fail where it does not come true."""
        end = time.monotonic() + PATIENCE
        while True:
            await self.pilot.pause()
            if condition():
                return
            assert time.monotonic() < end, f"it did not come true:\n{self.text}"
            # The threads that it waits for need the interpreter.
            await asyncio.sleep(0.005)

    # The screen

    @property
    def text(self) -> str:
        """The screen as text."""
        strips = self.app.screen._compositor.render_strips()
        return "\n".join("".join(segment.text for segment in strip).rstrip() for strip in strips)

    @property
    def lines(self) -> list[str]:
        """The screen line by line."""
        return self.text.split("\n")

    @property
    def said(self) -> str:
        """What the line above the keys says."""
        return _plain(self.app.screen.query_one("#said", Ends).left)

    @property
    def paper(self) -> str:
        """The whole detail, as far as it is not cut."""
        return "\n".join(_plain(line) for line in self.app.screen.query_one(Paper).lines)

    def heading(self, name: str) -> str:
        """A pane's heading."""
        return _plain(self.app.screen.query_one(f"#{name}", Heading).words)

    @property
    def desk(self) -> DeskScreen:
        """The desk."""
        found = next(screen for screen in self.app.screen_stack if isinstance(screen, DeskScreen))
        assert isinstance(found, DeskScreen)
        return found

    @property
    def front(self) -> str:
        """The name of what is in front: a view, or a dialog's class."""
        screen = self.app.screen
        view = getattr(screen, "VIEW", "")
        return type(screen).__name__ if view == "dialog" else str(view)

    async def go_to(self, key: str) -> None:
        """Put the cursor of the list in front on a row."""
        self.desk.rows.move_to_key(key)
        await self.settle()

    # The brain

    def rows(self, statement: str, *params: Any) -> list[tuple[Any, ...]]:
        """Rows of the brain, read beside the workstation."""
        with closing(sqlite3.connect(f"{self.brain.as_uri()}?mode=ro", uri=True)) as connection:
            return connection.execute(statement, params).fetchall()

    def do(self, statement: str, *params: Any) -> None:
        """Write the brain as another program would."""
        write(self.brain, statement, *params)

    def types(self) -> dict[str, int]:
        """Live entities by type."""
        found = self.rows("SELECT entity_type, COUNT(*) FROM curated_entities WHERE deleted_at IS NULL GROUP BY 1")
        return {str(kind): count for kind, count in found}

    @property
    def table(self) -> str:
        """The table of rulings as it stands."""
        file = self.folder / "aliases" / "rulings.yaml"
        return file.read_text(encoding="utf-8") if file.exists() else ""


@asynccontextmanager
async def deck(folder: Path, size: tuple[int, int] = (120, 40), *, read_only: bool = False) -> AsyncIterator[Deck]:
    """Open the workstation on a brain and wait until everything is shown."""
    app = Workstation(resolve_places(folder), read_only=read_only)
    async with app.run_test(size=size) as pilot:
        found = Deck(app, pilot, folder)
        await found.until(lambda: app.session.table is not None or app.session.trouble is not None)
        await found.settle()
        yield found


def write(brain: Path, statement: str, *params: Any) -> None:
    """Write a brain as another program would: in a transaction of its own."""
    with closing(sqlite3.connect(brain, timeout=10)) as connection, connection:
        connection.execute(statement, params)


def add_entity(brain: Path, entity_id: Any, name: Any, kind: Any) -> None:
    """Mint an entity as another program would."""
    statement = "INSERT INTO curated_entities(id, name, entity_type, summary, created_at, updated_at) VALUES (?, ?, ?, '', 1, 1)"
    write(brain, statement, entity_id, name, kind)


def make_key(folder: Path, user_dir: Path, principal: str = "ada@example.org", passphrase: str = "") -> None:
    """Give the user a trusted key."""
    from ct_tui.tui.signing import make_key as make

    made = make(resolve_places(folder), principal, passphrase)
    assert user_dir in made.signer.key.parents  # type: ignore[attr-defined]


def _plain(line: Any) -> str:
    return "".join(piece.text for piece in line)
