"""What every signing verb shares: its options, the passphrase, and what it prints."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from ct_tui.cli.command import principal_option
from ct_tui.domain.names import is_blank

if TYPE_CHECKING:
    from collections.abc import Callable

    from ct_tui.cli.settings import Settings
    from ct_tui.domain.rulings import Body, Ruling, RulingTable
    from ct_tui.heal.workbench import Workbench

C = TypeVar("C", bound="Callable[..., Any]")

PASSPHRASE = "CT_TUI_PASSPHRASE"  # noqa: S105 - the variable's name


def reason_option(text: str = "Why, in your words; it is signed. Required.") -> Callable[[C], C]:
    """`--reason`, which is signed with the ruling."""
    return click.option("--reason", metavar="TEXT", help=text)


def key_option() -> Callable[[C], C]:
    """`--key`, the key to sign with."""
    return click.option(
        "--key", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE", help="The key to sign with."
    )


def supersedes_option() -> Callable[[C], C]:
    """`--supersedes`, the earlier ruling that this one replaces."""
    return click.option("--supersedes", type=int, metavar="SEQ", help="The earlier ruling that this one replaces.")


def signing_options(function: C) -> C:
    """The options that every verb with one ruling of its own takes, `--as` aside."""
    return reason_option()(key_option()(supersedes_option()(function)))


def with_principal(command: click.Command) -> click.Command:
    """Add `--as` to a verb that signs."""
    command.params.append(principal_option())
    return command


def sign(
    settings: Settings, bench: Workbench, body: Body, *, reason: str | None, key: Path | None, supersedes: int | None
) -> None:
    """Check, sign and append one ruling, then print it."""
    ruling = bench.rule(
        body,
        required_reason(reason),
        key=key,
        principal=settings.principal,
        passphrase=ask_passphrase,
        supersedes=supersedes,
    )
    document = signed_document(ruling, bench.table())
    settings.give(document, lambda: [signed_line(ruling, document["state"])])


def signed_document(ruling: Ruling, table: RulingTable) -> dict[str, Any]:
    """What is printed of one signed ruling; the state is what verification says of it now."""
    entry = table.get(ruling.seq)
    state = entry.state.value if entry is not None else "unknown"
    return {"seq": ruling.seq, "hash": ruling.hash, "kind": ruling.kind.value, "state": state}


def signed_line(ruling: Ruling, state: str) -> str:
    """One signed ruling for a person."""
    from ct_tui.cli.text import show

    return f"#{ruling.seq} {show(str(ruling.body))}, signed by {show(ruling.ruled_by)}: {state}"


def required_reason(reason: str | None) -> str:
    """The reason, unless it says nothing; raises BadInput."""
    from ct_tui.domain.errors import BadInput

    if reason is None or is_blank(reason):
        raise BadInput("a ruling needs a reason", "say why with --reason")
    return reason


def ask_passphrase(key: str) -> str:
    """The passphrase of a key file: from the environment, else asked without echo; raises TrustError."""
    from ct_tui.cli.terminal import can_ask
    from ct_tui.domain.errors import TrustError

    given = os.environ.get(PASSPHRASE)
    if given is not None:
        return given
    if not can_ask():
        raise TrustError(f"{key} is encrypted, and there is no terminal to ask for its passphrase", f"set {PASSPHRASE}")
    return ask_hidden(f"Passphrase for {key}")


def ask_hidden(prompt: str) -> str:
    """Ask on the terminal; what is typed is not shown."""
    from getpass import getpass

    from ct_tui.domain.visible import visible

    return getpass(f"{visible(prompt)}: ")
