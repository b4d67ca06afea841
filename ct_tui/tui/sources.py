"""Opening a source in the user's editor: the path is an argument of its own and never meets a shell."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from ct_tui.domain.errors import BadInput

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ct_tui.domain.queue import Quote

_LINE_FIRST = frozenset(
    {"vi", "vim", "nvim", "view", "nano", "pico", "emacs", "emacsclient", "micro", "kak", "joe", "ne", "jed"}
)
"""Editors that take `+LINE` before the file."""


def place_of(quote: Quote, vault: Path | None) -> Path:
    """The file of a passage on this machine; raises BadInput where it is not here."""
    if not quote.path or "\0" in quote.path:
        raise BadInput("The passage names no file.", "i shows the row as it is.")
    path = Path(quote.path)
    for candidate in (path,) if path.is_absolute() or vault is None else (vault / path, path):
        if candidate.is_file():
            return candidate.resolve()
    raise BadInput(f"{quote.path} is not on this machine.", "The vault may lie elsewhere; y copies the path.")


def editor_command(path: Path, line: int | None, env: Mapping[str, str]) -> list[str] | None:
    """The command that edits a file in the terminal, from VISUAL or EDITOR; None where neither is set."""
    chosen = env.get("VISUAL") or env.get("EDITOR")
    if not chosen:
        return None
    try:
        words = shlex.split(chosen)
    except ValueError as error:
        raise BadInput(f"EDITOR cannot be understood: {chosen}", "It must be a command with its arguments.") from error
    if not words or shutil.which(words[0]) is None:
        raise BadInput(f"The editor {chosen} was not found.", "Set EDITOR to one that is installed.")
    at = [f"+{line}"] if line is not None and Path(words[0]).name in _LINE_FIRST else []
    return [*words, *at, str(path)]


def opener_command(path: Path) -> list[str]:
    """The desktop's own way to open a file; raises BadInput where there is none."""
    for name in ("open",) if sys.platform == "darwin" else ("xdg-open",):
        if shutil.which(name) is not None and (sys.platform == "darwin" or _has_desktop()):
            return [name, str(path)]
    raise BadInput("No editor is set.", "Set EDITOR, such as EDITOR=vim.")


def open_outside(command: list[str]) -> None:
    """Start the desktop's opener and do not wait for it; raises BadInput where it cannot be started."""
    try:
        subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
    except OSError as error:
        raise BadInput(f"{command[0]} could not be started: {error.strerror}.") from error


def _has_desktop() -> bool:
    return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))
