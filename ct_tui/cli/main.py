"""The edge of the command line: every outcome becomes an exit code and, where it failed, a sentence on stderr."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

import click

from ct_tui.cli.app import root
from ct_tui.cli.output import tolerate_narrow_encodings
from ct_tui.cli.settings import Opener, Settings
from ct_tui.cli.signals import Terminated, tidy_termination
from ct_tui.domain.errors import CtTuiError

if TYPE_CHECKING:
    from collections.abc import Sequence

DONE, REFUSED, NOTHING = 0, 1, 2
"""The three exit codes: done or nothing to do; refused, failed or wrong arguments; nothing found."""

DEBUG = "CT_TUI_DEBUG"

_DETAILS = 100
"""Rows that a refusal names one by one; a plan of a million rows can go stale as a whole."""


def run(args: Sequence[str], opener: Opener | None = None) -> int:
    """Run one command line and give its exit code; never raises, never prints a traceback unless asked to."""
    _fill_closed_descriptors()
    tolerate_narrow_encodings()
    settings = Settings(opener=opener)
    try:
        with tidy_termination():
            code = _exit_code(root.main(list(args), prog_name="ct-tui", standalone_mode=False, obj=settings))
            if sys.stdout is not None:
                sys.stdout.flush()
    except BaseException as error:  # noqa: BLE001 - the edge: every fault becomes a sentence and an exit code
        code = _refused(error)
    if code != DONE:
        _let_go_of_stdout()
    return code


def _fill_closed_descriptors() -> None:
    """Keep a file of ours from becoming standard output or error where the caller closed one of those."""
    while True:
        descriptor = os.open(os.devnull, os.O_RDWR)
        if descriptor > 2:
            os.close(descriptor)
            return


def _exit_code(value: object) -> int:
    """What a verb returned: nothing means done."""
    return value if isinstance(value, int) else DONE


def _refused(error: BaseException) -> int:
    if isinstance(error, SystemExit):
        return error.code if isinstance(error.code, int) and error.code in {DONE, NOTHING} else REFUSED
    if isinstance(error, CtTuiError):
        _say(error.message, error.details, error.remedy)
        _debug(error)
        return error.exit_code
    if isinstance(error, click.ClickException):
        _say(error.format_message(), remedy=_usage(error))
        return REFUSED
    if isinstance(error, (KeyboardInterrupt, click.Abort, EOFError)):
        _say("interrupted")
        return REFUSED
    if isinstance(error, Terminated):
        _say(str(error))
        return REFUSED
    if not isinstance(error, BrokenPipeError):
        _unexpected(error)
    return REFUSED


def _unexpected(error: BaseException) -> None:
    """A fault that has no sentence of its own: its kind, its text, and the way to see more."""
    if isinstance(error, OSError):
        text = f"{error.filename}: {error.strerror}" if error.filename else error.strerror or str(error)
        _say(text)
    else:
        text = str(error).strip()
        shown = f"{type(error).__name__}: {text.splitlines()[0]}" if text else type(error).__name__
        _say(f"something unexpected went wrong ({shown})", remedy=f"set {DEBUG}=1 to see where, and report it")
    _debug(error)


def _usage(error: click.ClickException) -> str:
    ctx = getattr(error, "ctx", None)
    return f"`{ctx.command_path} --help` says how it is used" if ctx is not None else ""


def _say(message: str, details: Sequence[str] = (), remedy: str = "") -> None:
    """One sentence with its details and its remedy; data in them is made inert."""
    from ct_tui.domain.visible import visible

    lines = [f"ct-tui: {visible(message, newlines=True)}"]
    lines += [f"  {visible(detail, newlines=True)}" for detail in details[:_DETAILS]]
    if len(details) > _DETAILS:
        lines.append(f"  … and {len(details) - _DETAILS:,} more")
    if remedy:
        lines.append(f"  → {visible(remedy, newlines=True)}")
    if sys.stderr is not None:
        print(*lines, sep="\n", file=sys.stderr, flush=True)  # noqa: T201 - this is where sentences go


def _debug(error: BaseException) -> None:
    if os.environ.get(DEBUG) and sys.stderr is not None:
        import traceback

        traceback.print_exception(error, file=sys.stderr)


def _let_go_of_stdout() -> None:
    """Keep the interpreter from complaining about a reader that left, or a full disk, once more at its end."""
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except (OSError, ValueError):
        devnull = os.open(os.devnull, os.O_WRONLY)
        os.dup2(devnull, 1)
        os.close(devnull)
