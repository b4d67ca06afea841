"""`ct-tui doctor`: one line for everything that has to be right, with the way to mend it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from ct_tui.cli.command import verb

if TYPE_CHECKING:
    from ct_tui.cli.checkup import Check
    from ct_tui.cli.settings import Settings


@verb(
    "doctor",
    "Check paths, schema, locks, keys and terminal.",
    text="""One line each, with the way to mend what is not well. It exits with 1 when something prevents work; a
    warning does not.""",
    examples=["ct-tui doctor", "ct-tui --brain ~/.brain doctor --json"],
)
@click.pass_obj
def command(settings: Settings) -> int:
    """Run every check."""
    from ct_tui.cli.checkup import Health, run_checks

    checks = run_checks(settings)
    well = not any(check.health is Health.FAIL for check in checks)
    document = {"ok": well, "checks": [check.as_json() for check in checks]}
    settings.give(document, lambda: _lines(checks, settings.out.width))
    return 0 if well else 1


def _lines(checks: list[Check], width: int) -> list[str]:
    from ct_tui.cli.output import paint
    from ct_tui.cli.text import show, table

    colours = {"ok": "green", "warn": "yellow", "fail": "red"}
    rows: list[tuple[str, str, str]] = []
    for check in checks:
        state = paint(check.health.value, colours[check.health.value])
        mend = f" → {show(check.mend)}" if check.mend else ""
        rows.append((state, check.name, show(check.message) + mend))
    return table(rows, width=width, indent=0)
