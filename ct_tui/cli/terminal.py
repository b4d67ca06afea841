"""What the process knows of its terminal: whether there is one, its width, and whether colours are wanted."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from ct_tui.domain.errors import BadInput

if TYPE_CHECKING:
    from typing import TextIO

DUMB = frozenset({"dumb", "unknown"})
PIPE_WIDTH = 120
"""Columns that running text is wrapped to where no terminal says how wide it is."""


def is_terminal(stream: TextIO | None) -> bool:
    """Whether a stream of this process is a terminal; a closed one is none."""
    try:
        return stream is not None and stream.isatty()
    except ValueError:
        return False


def is_dumb() -> bool:
    """Whether TERM says that the terminal can only print lines."""
    return os.environ.get("TERM", "").lower() in DUMB


def no_terminal() -> str:
    """Why the workstation cannot be opened here, or nothing; a browser that Textual draws to stands for a terminal."""
    if "web_driver" in os.environ.get("TEXTUAL_DRIVER", ""):
        return ""
    if not is_terminal(sys.stdin) or not is_terminal(sys.stdout):
        return "standard input and output are no terminal"
    if not is_terminal(sys.stderr):
        return "standard error, which it is drawn on, is no terminal"
    if is_dumb():
        return f"TERM is {os.environ['TERM'].lower()}, which cannot move its cursor"
    return ""


def require_terminal() -> None:
    """Refuse before anything that would hang or print codes without a terminal; raises BadInput."""
    why = no_terminal()
    if why:
        raise BadInput(
            f"the workstation needs a terminal, and {why}",
            "without one, use a verb: `ct-tui census`, `ct-tui queue`, `ct-tui heal`, or `ct-tui --help` for all",
        )


def can_ask() -> bool:
    """Whether a person can be asked for something that must not be echoed."""
    return is_terminal(sys.stdin) and is_terminal(sys.stderr)


def wants_colour(stream: TextIO | None) -> bool:
    """Whether colours may be sent to a stream: a terminal that can, and no NO_COLOR."""
    return is_terminal(stream) and not is_dumb() and not os.environ.get("NO_COLOR")


def width_of(stream: TextIO | None) -> int:
    """Columns to fit a person's text into."""
    if not is_terminal(stream):
        return PIPE_WIDTH
    import shutil

    return max(40, shutil.get_terminal_size((80, 24)).columns)
