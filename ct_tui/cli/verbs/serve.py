"""`ct-tui serve`: the workstation in a browser, on loopback only."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from ct_tui.cli.command import verb

if TYPE_CHECKING:
    from ct_tui.cli.settings import Settings


@verb(
    "serve",
    "Open the workstation in a browser on this machine.",
    text="""Serves on loopback only, at an address with a secret that is printed once; nobody else on the machine, and
    no other web page, can use it. Needs the extra `serve`: pip install 'ct-tui[serve]'.""",
    examples=["ct-tui serve", "ct-tui --brain ~/.brain serve --port 8080"],
)
@click.option("--port", type=click.IntRange(1, 65535), default=8000, show_default=True, help="The port to listen on.")
@click.pass_obj
def command(settings: Settings, port: int) -> None:
    """Serve until it is stopped."""
    from ct_tui.domain.errors import BadInput

    try:
        from ct_tui.cli.browser import HOST, LoopbackServer
    except ModuleNotFoundError as error:
        raise BadInput(
            f"the package {error.name} is missing, and the browser needs it", "pip install 'ct-tui[serve]'"
        ) from error
    with settings.workbench():
        pass  # what cannot be opened is said here, and not in a browser
    _require_free(HOST, port)
    server = LoopbackServer(_command_line(settings), port)
    settings.give({"address": server.address}, lambda: [f"Open {server.address}", "Ctrl+C ends it."])
    server.serve()


def _require_free(host: str, port: int) -> None:
    """Refuse a port that is taken before anything is started; raises BadInput."""
    import socket

    from ct_tui.domain.errors import BadInput

    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as error:
            raise BadInput(f"port {port} cannot be used: {error.strerror}", "choose another with --port") from error


def _command_line(settings: Settings) -> str:
    """The shell command that opens the workstation on the same files."""
    from shlex import join

    places = settings.places()
    words = [sys.executable, "-m", "ct_tui", "--brain", str(places.brain.absolute())]
    words += ["--config", str(places.config.absolute()), "--aliases", str(places.aliases.absolute())]
    return join([*words, "--read-only"] if settings.read_only else words)
