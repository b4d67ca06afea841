"""The root command `ct-tui`: without a verb it opens the workstation."""

from __future__ import annotations

import click

from ct_tui import __version__
from ct_tui.cli.command import Verbs, principal_option
from ct_tui.cli.registry import VERBS
from ct_tui.cli.settings import Settings

_HELP = """Curate a Curated Thoughts brain from the terminal.

Without a verb the workstation opens. Every view and every action of it has a verb here, for scripts and timers. A verb
prints text for people, or one JSON document with --json; everything else goes to stderr. It exits with 0 when it is
done or there is nothing to do, 1 when something is refused, fails or is asked wrongly, 2 when nothing is found.
"""

_EPILOG = """\b
Examples:
  ct-tui demo                         try everything on a throwaway brain
  ct-tui --brain ~/.brain census      what is declared, and what is not
  ct-tui heal --yes                   what the nightly timer runs

`ct-tui VERB --help` says more about each. Your shell completes verbs and options after:
eval "$(_CT_TUI_COMPLETE=bash_source ct-tui)", with zsh_source or fish_source in the other shells.
"""


@click.group("ct-tui", cls=Verbs, entries=VERBS, help=_HELP, epilog=_EPILOG, invoke_without_command=True)
@click.version_option(__version__, prog_name="ct-tui", message="%(prog)s %(version)s")
@click.pass_context
def root(ctx: click.Context) -> int | None:
    """Open the workstation where no verb is named."""
    if ctx.invoked_subcommand is not None:
        return None
    return ctx.ensure_object(Settings).open_workstation()


root.params.append(principal_option())
