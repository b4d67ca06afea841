"""`ct-tui schedule`: the timer of the nightly heal, printed or installed."""

from __future__ import annotations

import re
import subprocess
from typing import TYPE_CHECKING, Any

import click

from ct_tui.cli.command import verb

if TYPE_CHECKING:
    from pathlib import Path

    from ct_tui.cli.settings import Settings
    from ct_tui.cli.timer import Timer

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,60}\Z")
_SECONDS = 30
"""How long systemctl may take."""


@verb(
    "schedule",
    "Print or install the timer of the nightly heal.",
    text="""Prints a systemd service with its timer and a cron line, each of which heals the brain every night at
    02:10. --install writes the two units into your own systemd folder and enables the timer where systemctl is
    there.""",
    examples=["ct-tui --brain ~/.brain schedule", "ct-tui --brain ~/.brain schedule --install"],
)
@click.option("--install", is_flag=True, help="Write and enable the user's systemd units.")
@click.option("--name", default="ct-tui-heal", show_default=True, metavar="NAME", help="The name of the units.")
@click.pass_obj
def command(settings: Settings, install: bool, name: str) -> int:
    """Print the timer, or install it."""
    from ct_tui.cli.timer import nightly, unit_folder
    from ct_tui.domain.errors import BadInput

    if not _NAME.match(name):
        raise BadInput(f"{name} cannot be the name of a unit", "use letters, digits, hyphens")
    places = settings.places()
    made = nightly(places)
    document: dict[str, Any] = {
        "command": list(made.command),
        "service": made.service,
        "timer": made.timer,
        "cron": made.cron,
        "installed": [],
        "enabled": False,
    }
    if not install:
        settings.give(document, lambda: _lines(made, name))
        return 0
    settings.require_write()
    with settings.workbench():
        written = _write_units(unit_folder(), name, made)
    trouble = _enable(f"{name}.timer")
    document |= {"installed": [str(path) for path in written], "enabled": not trouble}
    settings.give(document, lambda: [f"Written: {path}" for path in written] + ([] if trouble else ["It is enabled."]))
    if trouble:
        settings.out.note(f"ct-tui: {trouble}")
    return 1 if trouble and not trouble.startswith(_NO_SYSTEMCTL) else 0


_NO_SYSTEMCTL = "there is no systemctl here"


def _lines(made: Timer, name: str) -> list[str]:
    from ct_tui.cli.output import paint

    return [
        paint(f"# {name}.service", "cyan"),
        *made.service.splitlines(),
        "",
        paint(f"# {name}.timer", "cyan"),
        *made.timer.splitlines(),
        "",
        paint("# or one line of crontab -e", "cyan"),
        made.cron,
    ]


def _write_units(folder: Path, name: str, made: Timer) -> list[Path]:
    """Write both units; one that runs something else is never replaced. Raises BadInput."""
    from ct_tui.domain.errors import BadInput

    service, timer = folder / f"{name}.service", folder / f"{name}.timer"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if service.exists() and service.read_text(encoding="utf-8") != made.service:
            raise BadInput(f"{service} is there already and runs something else", "choose another name with --name")
        service.write_text(made.service, encoding="utf-8")
        timer.write_text(made.timer, encoding="utf-8")
    except (OSError, UnicodeError) as error:
        raise BadInput(f"the units cannot be written to {folder}: {error}") from error
    return [service, timer]


def _enable(unit: str) -> str:
    """Enable the timer; says what went wrong, or nothing."""
    later = f"enable it with: systemctl --user enable --now {unit}"
    for words in (["daemon-reload"], ["enable", "--now", unit]):
        try:
            done = subprocess.run(
                ["systemctl", "--user", *words], capture_output=True, text=True, timeout=_SECONDS, check=False
            )
        except FileNotFoundError:
            return f"{_NO_SYSTEMCTL}; where there is one, {later}"
        except (OSError, subprocess.TimeoutExpired) as error:
            return f"systemctl could not be run ({error}); {later}"
        if done.returncode:
            said = done.stderr.strip().splitlines()
            return f"systemctl {words[0]} failed: {said[0] if said else 'no reason given'}; {later}"
    return ""
