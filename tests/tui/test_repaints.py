"""What is read is shown once, where it is seen, and before the next key: no view is filled for nobody."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from ct_tui.tui.lanes import Batch
from ct_tui.tui.messages import CensusRead, LedgerRead, QueueRead
from ct_tui.tui.screens.base import ViewScreen
from ct_tui.tui.screens.desk import DeskScreen
from ct_tui.tui.widgets.frame import Ends
from tests.tui.deck import add_entity, deck

if TYPE_CHECKING:
    from pathlib import Path

    from textual.message import Message


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the views that were filled, in their order."""
    names: list[str] = []
    fill = ViewScreen.show_session

    def show(view: ViewScreen) -> None:
        names.append(view.VIEW)
        fill(view)

    monkeypatch.setattr(ViewScreen, "show_session", show)
    return names


@pytest.fixture
def described(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The keys of the rows that the desk described, in their order."""
    keys: list[str] = []
    describe = DeskScreen.describe

    def follow(desk: DeskScreen) -> None:
        keys.append(desk.row.key if desk.row is not None else "")
        describe(desk)

    monkeypatch.setattr(DeskScreen, "describe", follow)
    return keys


class Box:
    """Keeps the messages that are posted to it."""

    def __init__(self) -> None:
        self.messages: list[Message] = []

    def post_message(self, message: Message) -> bool:
        """Keep a message."""
        self.messages.append(message)
        return True


def test_messages_that_follow_each_other_quickly_are_posted_together() -> None:
    box = Box()
    batch = Batch(box, 3600)
    batch.begin()
    parts = [LedgerRead((), ()), LedgerRead((), ())]
    for part in parts:
        batch.post_message(part)
    assert box.messages == []
    batch.post()
    assert box.messages == parts


def test_the_first_messages_wait_for_no_other() -> None:
    box = Box()
    batch = Batch(box, 0)
    batch.begin()
    part = LedgerRead((), ())
    batch.post_message(part)
    assert box.messages == [part]


async def test_what_arrives_together_is_shown_once(october: Path, shown: list[str]) -> None:
    async with deck(october) as d:
        session = d.app.session
        assert session.report is not None
        assert session.queue is not None
        assert session.history is not None
        assert session.runs is not None
        shown.clear()
        for part in (
            CensusRead(session.report),
            QueueRead(replace(session.queue, items=session.queue.items[1:])),
            LedgerRead(session.history, session.runs),
        ):
            d.app.post_message(part)
        count = len(session.queue.items)
        await d.settle()
        assert shown == ["desk"]
        assert d.heading("queue-head") == f"Queue{count - 1} questions"


async def test_a_key_finds_what_was_read_before_it_shown(october: Path) -> None:
    async with deck(october) as d:
        queue = d.app.session.queue
        assert queue is not None
        first, second = (row.label for row in queue.items[:2])
        assert d.desk.item is not None
        assert d.desk.item.label == first
        d.app.post_message(QueueRead(replace(queue, items=queue.items[1:])))
        await d.burst("m")
        assert d.front == "MapDialog"
        title = "".join(piece.text for piece in d.app.screen.query_one("#dialog-title", Ends).left)
        assert second in title
        assert first not in title


async def test_a_covered_view_is_filled_when_it_is_seen_again(october: Path, shown: list[str]) -> None:
    async with deck(october) as d:
        await d.press("R")
        age = d.app.session.age
        shown.clear()
        add_entity(d.brain, "ent_new", "Newcomer", "never_seen_before")
        await d.until(lambda: d.app.session.age > age)
        await d.settle()
        assert shown
        assert set(shown) == {"rulings"}
        assert "153 live" in d.lines[0]
        await d.press("escape")
        assert shown[-1] == "desk"
        assert "53 of 152" not in d.heading("census-head")
        assert "54 of 153" in d.heading("census-head")
        assert "never_seen_before" in d.text


async def test_only_the_row_that_the_cursor_stops_on_is_described(october: Path, described: list[str]) -> None:
    async with deck(october) as d:
        described.clear()
        for _ in range(5):
            d.desk.rows.move_by(1)
        await d.settle()
        assert d.desk.row is not None
        assert described == [d.desk.row.key]
        assert d.desk.item is not None
        assert d.desk.item.label in d.paper
