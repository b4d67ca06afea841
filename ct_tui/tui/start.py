"""The way in: whether a workstation can be shown here, the signals that end it, and the exit code."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import sys
import threading
import time
from typing import TYPE_CHECKING

from ct_tui.domain.errors import CtTuiError
from ct_tui.tui.app import Workstation

if TYPE_CHECKING:
    from ct_tui.policy.paths import Places

GRACE_SECONDS = 3.0
"""How long the orderly end after a signal may take once nothing is being written."""


def run(places: Places, read_only: bool) -> int:  # noqa: FBT001 - the one way in, called by position
    """Open the workstation on the terminal; the exit code, 128 and the signal's number where one ended it."""
    refusal = _refusal()
    if refusal:
        sys.stderr.write(f"{refusal}\n")
        return 1
    try:
        app = Workstation(places, read_only=read_only)
    except CtTuiError as error:
        sys.stderr.write("\n".join(error.diagnostics()) + "\n")
        return 1
    return asyncio.run(_serve(app))


async def _serve(app: Workstation) -> int:
    """Run until the user leaves or a signal asks to end; the terminal is restored either way."""
    ended: list[int] = []
    loop = asyncio.get_running_loop()

    def end(number: int) -> None:
        if not ended:
            threading.Thread(target=_end_for_good, args=(app, number), daemon=True).start()
        ended.append(number)
        app.exit(128 + number)

    for name in ("SIGTERM", "SIGHUP", "SIGINT"):
        with contextlib.suppress(NotImplementedError, AttributeError, ValueError):
            number = getattr(signal, name)
            loop.add_signal_handler(number, end, number)
    result = await app.run_async()
    if ended:
        return 128 + ended[0]
    return result if isinstance(result, int) else app.return_code or 0


def _end_for_good(app: Workstation, number: int) -> None:
    """End the process where a terminal that has gone away holds up the orderly end; no write is cut."""
    for stop in app.stops:
        stop.set()
    app.writing.close(wait=True)
    time.sleep(GRACE_SECONDS)
    os._exit(128 + number)


def _refusal() -> str:
    """Why there can be no workstation here, with what to use instead; a browser stands for a terminal."""
    if "web_driver" in os.environ.get("TEXTUAL_DRIVER", ""):
        return ""
    hint = "without one, use a verb such as `ct-tui census` or `ct-tui heal`; `ct-tui --help` lists them all"
    # Textual reads from the first and draws on the last, which is standard error.
    for stream in (sys.stdin, sys.stdout, sys.stderr):
        try:
            if stream is None or not stream.isatty():
                return f"The workstation needs a terminal; {hint}."
        except ValueError:
            return f"The workstation needs a terminal; {hint}."
    if os.environ.get("TERM", "") in {"dumb", "unknown", ""}:
        return f"This terminal cannot show the workstation (TERM={os.environ.get('TERM', '')}); {hint}."
    return ""
