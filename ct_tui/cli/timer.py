"""The nightly heal as a systemd timer and as a cron line, with every path absolute and quoted."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING

from ct_tui.domain.errors import BadInput
from ct_tui.domain.visible import visible

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ct_tui.policy.paths import Places

HOUR, MINUTE = 2, 10
"""When the nightly heal starts, local time."""


@dataclass(frozen=True)
class Timer:
    """The three texts, and the command that they run."""

    command: tuple[str, ...]
    service: str
    timer: str
    cron: str


def nightly(places: Places) -> Timer:
    """The timer for one brain; the user's folder of keys goes along where the environment names one.

    Raises BadInput for a path that no line of a timer can hold.
    """
    brain = places.brain.absolute()
    command = (
        sys.executable,
        "-m",
        "ct_tui",
        "--brain",
        str(brain),
        "--config",
        str(places.config.absolute()),
        "--aliases",
        str(places.aliases.absolute()),
        "heal",
        "--yes",
    )
    user = str(places.user_dir.absolute()) if os.environ.get("CT_TUI_CONFIG_DIR") else ""
    _require_one_line((*command, user))
    return Timer(command, _service(brain, command, user), _timer(brain), _cron(command, user))


def _require_one_line(words: Sequence[str]) -> None:
    """Refuse a path with a character that is never printed as itself: a timer copied from here would name another."""
    for word in words:
        if visible(word) != word:
            raise BadInput(f"no timer can name the path {word!r}", "give the folder a name of printable characters")


def _service(brain: Path, command: Sequence[str], user: str) -> str:
    lines = ["[Unit]", f"Description=Nightly heal of {_plain(str(brain))}", "", "[Service]", "Type=oneshot"]
    lines += [f"Environment={_systemd_quoted(f'CT_TUI_CONFIG_DIR={user}', command=False)}"] if user else []
    words = " ".join(_systemd_quoted(word, command=True) for word in command)
    return "\n".join([*lines, f"ExecStart={words}", ""])


def _timer(brain: Path) -> str:
    return "\n".join(
        [
            "[Unit]",
            f"Description=Nightly heal of {_plain(str(brain))}",
            "",
            "[Timer]",
            f"OnCalendar=*-*-* {HOUR:02}:{MINUTE:02}:00",
            "Persistent=true",
            "",
            "[Install]",
            "WantedBy=timers.target",
            "",
        ]
    )


def _cron(command: Sequence[str], user: str) -> str:
    words = [f"CT_TUI_CONFIG_DIR={quote(user)}"] if user else []
    line = " ".join([*words, *map(quote, command)])
    # cron ends the command at an unescaped percent sign, even inside quotes.
    return f"{MINUTE} {HOUR} * * * " + line.replace("%", "\\%")


def _systemd_quoted(word: str, *, command: bool) -> str:
    """A word in systemd's double quotes, its specifiers (and in a command its variables) escaped."""
    escaped = word.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%")
    escaped = escaped.replace("\n", "\\n").replace("\t", "\\t").replace("\r", "\\r")
    return f'"{escaped.replace("$", "$$") if command else escaped}"'


def _plain(text: str) -> str:
    """A description that stays on one line and expands nothing."""
    return " ".join(text.split()).replace("%", "%%")


def unit_folder() -> Path:
    """Where systemd looks for the user's units; raises BadInput where the user has no home."""
    base = os.environ.get("XDG_CONFIG_HOME", "")
    try:
        return (Path(base) if base else Path.home() / ".config") / "systemd" / "user"
    except RuntimeError as error:
        raise BadInput("you have no home folder to put the units in", "name one with XDG_CONFIG_HOME") from error
