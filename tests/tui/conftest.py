"""Tests of the workstation are coroutines: each runs in a loop of its own."""

from __future__ import annotations

import asyncio
import inspect
from typing import Any

import pytest
import textual.app
import textual.pilot


async def at_rest(min_sleep: float = 0, max_sleep: float = 1) -> None:
    """Wait until the loop has nothing left to do but to wait, for keys, threads or timers.

    Textual's own `wait_for_idle` sleeps and looks how busy the process was: twenty milliseconds for each key, and up to
    a second while a thread reads. The deck waits for the threads itself.
    """
    del min_sleep
    loop: Any = asyncio.get_running_loop()
    end = loop.time() + max_sleep
    await asyncio.sleep(0)
    while loop._ready and loop.time() < end:  # noqa: ASYNC110 - the loop itself is what is waited for
        await asyncio.sleep(0)


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Run a test that is a coroutine."""
    if not inspect.iscoroutinefunction(pyfuncitem.obj):
        return None
    names = inspect.signature(pyfuncitem.obj).parameters
    given: dict[str, Any] = {name: pyfuncitem.funcargs[name] for name in names}
    asyncio.run(pyfuncitem.obj(**given))
    return True


@pytest.fixture(autouse=True)
def quick_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keys that wait no longer than what they began."""
    monkeypatch.setattr(textual.app, "wait_for_idle", at_rest)
    monkeypatch.setattr(textual.pilot, "wait_for_idle", at_rest)


@pytest.fixture(autouse=True)
def colours(monkeypatch: pytest.MonkeyPatch) -> None:
    """A terminal with all colours, whatever the tester's own can do."""
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("COLORTERM", "truecolor")
    for name in ("NO_COLOR", "COLORFGBG", "EDITOR", "VISUAL"):
        monkeypatch.delenv(name, raising=False)
