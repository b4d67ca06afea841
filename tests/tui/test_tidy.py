"""When the collector may search: never while somebody works, and all of it once nobody does."""

from __future__ import annotations

import gc
import subprocess
import sys
import weakref
from typing import TYPE_CHECKING

import pytest

from ct_tui.tui import tidy
from ct_tui.tui.tidy import NEVER, Tidying

if TYPE_CHECKING:
    from collections.abc import Iterator


class Knot:
    """Something that only a search finds to be garbage."""

    def __init__(self) -> None:
        self.itself = self


@pytest.fixture(autouse=True)
def collector() -> Iterator[None]:
    """The collector as it was before, whatever a test makes of it."""
    enabled, thresholds, interval = gc.isenabled(), gc.get_threshold(), sys.getswitchinterval()
    yield
    gc.unfreeze()
    gc.set_threshold(*thresholds)
    sys.setswitchinterval(interval)
    if enabled:
        gc.enable()


def old_garbage() -> weakref.ref[Knot]:
    """Garbage that outlived the searches of the young."""
    knot = Knot()
    gc.collect(0)
    gc.collect(1)
    return weakref.ref(knot)


def held(monkeypatch: pytest.MonkeyPatch, idle_seconds: float) -> Tidying:
    """The searches of a process that began without any."""
    monkeypatch.setattr(tidy, "ENOUGH", 0)
    monkeypatch.setattr(tidy, "IDLE_SECONDS", idle_seconds)
    tidy.hold()
    found = Tidying()
    found.begin()
    return found


def test_the_old_is_searched_only_once_nobody_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    tidying = held(monkeypatch, 0)
    assert gc.isenabled()
    assert gc.get_threshold()[2] == NEVER
    garbage = old_garbage()
    assert not tidying.tidy(resting=False)
    assert garbage() is not None
    assert tidying.tidy(resting=True)
    assert garbage() is None


def test_nothing_is_searched_shortly_after_a_key(monkeypatch: pytest.MonkeyPatch) -> None:
    tidying = held(monkeypatch, 3600)
    tidying.pressed()
    garbage = old_garbage()
    assert not tidying.tidy(resting=True)
    assert garbage() is not None


def test_what_was_read_first_is_left_out_of_every_search(monkeypatch: pytest.MonkeyPatch) -> None:
    tidying = held(monkeypatch, 0)
    before = gc.get_freeze_count()
    read = [[number] for number in range(1000)]
    tidying.settled()
    assert gc.get_freeze_count() >= before + len(read)
    frozen = gc.get_freeze_count()
    later = [[number] for number in range(1000)]
    tidying.settled()
    assert gc.get_freeze_count() <= frozen, "only the first reading is left out unseen"
    assert len(later) == len(read)


def test_a_process_that_did_not_ask_keeps_its_own_collector(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tidy, "ENOUGH", 0)
    monkeypatch.setattr(tidy, "IDLE_SECONDS", 0)
    before = gc.get_threshold()
    tidying = Tidying()
    tidying.begin()
    assert gc.get_threshold() == before
    assert not tidying.tidy(resting=True)


def test_the_command_line_does_not_touch_the_collector() -> None:
    code = "import gc, sys, ct_tui.__main__\nsys.argv = ['ct-tui', '--version']\ntry:\n    ct_tui.__main__.main()\nfinally:\n    print(gc.isenabled())"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout.split()[-1] == "True"
