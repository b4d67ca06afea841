"""`ct-tui demo`: a throwaway brain with a vault, a key and rulings, opened in the workstation."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ct_tui.cli.command import verb

if TYPE_CHECKING:
    from ct_tui.cli.settings import Settings
    from ct_tui.heal.demo import DemoPlaces


@verb(
    "demo",
    "Make a throwaway brain to try everything on.",
    text="""Everybody and everything in it is made up. The brain, its vault, a key and two signed rulings lie in one
    folder, a new temporary one unless --dir names it; a demo that is there already is opened again.""",
    examples=["ct-tui demo", "ct-tui demo --dir /tmp/demo --no-open"],
)
@click.option("--dir", "folder", type=click.Path(path_type=Path), metavar="D", help="The folder to make it in.")
@click.option("--no-open", is_flag=True, help="Only print where everything is.")
@click.pass_obj
def command(settings: Settings, folder: Path | None, no_open: bool) -> int:
    """Make it, or find it, and open it."""
    from ct_tui.cli.terminal import require_terminal

    opens = not (no_open or settings.json)
    if opens:
        require_terminal()
    places = _made(settings, folder)
    if not opens:
        settings.give(_document(places), lambda: _lines(places))
        return 0
    os.environ["CT_TUI_CONFIG_DIR"] = str(places.user_dir)
    return settings.open_places(places)


def _made(settings: Settings, folder: Path | None) -> DemoPlaces:
    from tempfile import mkdtemp

    from ct_tui.heal.demo import build_demo, demo_places, is_demo

    if folder is not None and is_demo(folder):
        return demo_places(folder)
    settings.require_write()
    return build_demo(Path(mkdtemp(prefix="ct-tui-demo-")) if folder is None else folder)


def _document(places: DemoPlaces) -> dict[str, Any]:
    names = ("folder", "brain", "config", "aliases", "vault", "user_dir", "key", "founding")
    return {name: str(getattr(places, name)) for name in names}


def _lines(places: DemoPlaces) -> list[str]:
    from shlex import quote

    from ct_tui.cli.text import show, table

    rows = [
        ("brain", show(str(places.brain))),
        ("config", show(str(places.config))),
        ("rulings", show(str(places.rulings))),
        ("proposals", show(str(places.founding))),
        ("vault", show(str(places.vault))),
        ("key", show(str(places.key))),
    ]
    run = f"CT_TUI_CONFIG_DIR={quote(str(places.user_dir))} ct-tui --brain {quote(str(places.folder))}"
    return ["The demo is made.", *table(rows), "", "Open it, or try a verb on it, with", f"  {show(run)}"]
