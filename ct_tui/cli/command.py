"""The two kinds of command: a verb, and a group that imports its verbs only when one of them runs.

Both take the global options, so that those stand before the verb or after it, as the user likes; the one that stands
last wins.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

import click

from ct_tui.cli.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ct_tui.cli.registry import Entry

COMMON_HEADING = "Options of every verb, before it or after it"
HELP_NAMES = {"help_option_names": ["-h", "--help"], "max_content_width": 100}


def _remember(ctx: click.Context, param: click.Parameter, value: object) -> None:
    """Store a global option that was given; a default never overwrites what stood further left."""
    if value == "":
        # Such as a variable that was never set: the default may be another brain than the one that was meant.
        raise click.BadParameter("it is empty.", ctx, param)
    settings = ctx.find_object(Settings)
    if settings is not None and param.name is not None and value:
        setattr(settings, param.name, value)


def _common(*names: str, **how: Any) -> click.Option:
    return click.Option(names, expose_value=False, callback=_remember, **how)


def common_options() -> list[click.Option]:
    """The global options, made anew for each command."""
    return [
        _common("--brain", metavar="PATH", help="The brain: its folder or its brain.db. Else $CURATED_BRAIN_DB, "
                "$CURATED_BRAIN_DIR, ~/.brain."),
        _common("--config", metavar="PATH", help="config.json. Else $CURATED_BRAIN_CONFIG, else beside the brain."),
        _common("--aliases", metavar="DIR", help="Folder of the rulings. Else $CT_TUI_ALIASES, else beside the brain."),
        _common("--read-only", is_flag=True, help="Refuse everything that would write."),
        _common("--json", is_flag=True, help="Print one JSON document, for scripts."),
    ]  # fmt: skip


def principal_option() -> click.Option:
    """`--as`, which names who decides; the root takes it too."""
    return _common("--as", "principal", metavar="PRINCIPAL", help="Who decides. Else the principal of your one key.")


class Verb(click.Command):
    """A verb; its own options first in the help, the global ones under a heading of their own."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        kwargs.setdefault("context_settings", HELP_NAMES)
        super().__init__(*args, **kwargs)
        self.params.extend(common_options())

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the two sections of options."""
        write_options(self, ctx, formatter)


class Verbs(click.Group):
    """A group whose verbs are named by the registry and imported one by one, when they are needed."""

    def __init__(self, *args: Any, entries: Sequence[Entry] = (), **kwargs: Any) -> None:
        kwargs.setdefault("context_settings", HELP_NAMES)
        kwargs.setdefault("no_args_is_help", False)
        kwargs.setdefault("subcommand_metavar", "VERB ...")
        super().__init__(*args, **kwargs)
        self.entries = {entry.name: entry for entry in entries}
        self.params.extend(common_options())

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        """The verbs in the order of the help."""
        return list(self.entries)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """Import one verb."""
        entry = self.entries.get(cmd_name)
        if entry is None:
            return None
        command = importlib.import_module(entry.module).command
        if not isinstance(command, click.Command):
            raise TypeError(f"{entry.module}.command is no click command")
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the verb, or refuse with the one that was probably meant."""
        if args and args[0] not in self.entries and not args[0].startswith("-"):
            raise click.UsageError(self._unknown(args[0]), ctx)
        return super().resolve_command(ctx, args)

    def _unknown(self, name: str) -> str:
        from difflib import get_close_matches

        close = get_close_matches(name, list(self.entries), n=1, cutoff=0.6)
        hint = f"Did you mean {close[0]}?" if close else f"There are {', '.join(self.entries)}."
        return f"There is no verb {name}. {hint}"

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the verbs, then the two sections of options."""
        self.format_commands(ctx, formatter)
        write_options(self, ctx, formatter)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """Write the verbs under their headings, from the registry alone."""
        for section in dict.fromkeys(entry.section for entry in self.entries.values()):
            rows = [(e.name, e.help) for e in self.entries.values() if e.section == section]
            with formatter.section(section):
                formatter.write_dl(rows)


def write_options(command: click.Command, ctx: click.Context, formatter: click.HelpFormatter) -> None:
    """Write a command's own options, then those that every verb takes."""
    own: list[tuple[str, str]] = []
    common: list[tuple[str, str]] = []
    for param in command.get_params(ctx):
        record = param.get_help_record(ctx) if isinstance(param, click.Option) else None
        if record is not None:
            (own if param.callback is not _remember or param.name == "principal" else common).append(record)
    for heading, rows in (("Options", own), (COMMON_HEADING, common)):
        if rows:
            with formatter.section(heading):
                formatter.write_dl(rows)


def verb(name: str, short: str, *, text: str, examples: Sequence[str]) -> Callable[[Callable[..., Any]], Verb]:
    """Make the decorated function a verb: its one line, its paragraphs, and examples that can be pasted."""
    return click.command(name, cls=Verb, short_help=short, help=_help(short, text), epilog=_examples(examples))


def group(name: str, short: str, *, text: str, examples: Sequence[str], entries: Sequence[Entry]) -> Verbs:
    """A group of verbs that does nothing by itself."""

    @click.pass_context
    def need_a_verb(ctx: click.Context) -> None:
        if ctx.invoked_subcommand is None:
            raise click.UsageError(f"{ctx.command_path} needs a verb: {', '.join(e.name for e in entries)}.", ctx)

    return Verbs(
        name,
        short_help=short,
        help=_help(short, text),
        epilog=_examples(examples),
        entries=entries,
        callback=need_a_verb,
        invoke_without_command=True,
    )


def _help(short: str, text: str) -> str:
    return f"{short}\n\n{' '.join(text.split())}"


def _examples(lines: Sequence[str]) -> str:
    heading = "Example:" if len(lines) == 1 else "Examples:"
    return "\b\n" + heading + "".join(f"\n  {line}" for line in lines)
