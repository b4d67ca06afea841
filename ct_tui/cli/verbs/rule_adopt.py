"""`ct-tui rule adopt FILE`: signs the proposals of a file."""

from __future__ import annotations

import re
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ct_tui.cli.command import verb
from ct_tui.cli.signing import (
    ask_passphrase,
    key_option,
    reason_option,
    required_reason,
    signed_document,
    signed_line,
    with_principal,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ct_tui.cli.settings import Settings

FOUNDING = "founding.yaml"
_NUMBERS = re.compile(r"\d{1,9}(,\d{1,9})*\Z")


@verb(
    "adopt",
    "Sign the proposals of a file.",
    text="""Each proposal becomes a ruling of yours, with the reason that it carries. --only takes the numbers of those
    to sign, counted from 1. founding.yaml, which ships with the program, is found by its name from anywhere.""",
    examples=["ct-tui rule adopt founding.yaml", "ct-tui rule adopt founding.yaml --only 1 4"],
)
@click.argument("words", metavar="FILE", nargs=-1)
@click.option("--only", multiple=True, metavar="N...", help="Sign just these: `--only 1 4`, or `--only 1,4`.")
@reason_option("Added to the reason that each proposal carries.")
@key_option()
@click.pass_obj
def command(
    settings: Settings, words: tuple[str, ...], only: tuple[str, ...], reason: str | None, key: Path | None
) -> None:
    """Sign what was chosen."""
    if reason is not None:
        required_reason(reason)
    file, chosen = _file_and_numbers(words, only)
    with settings.workbench() as bench, _located(file) as found:
        rulings = bench.adopt(
            found,
            chosen,
            reason or "",
            key=key,
            principal=settings.principal,
            passphrase=ask_passphrase,
        )
        table, dead = bench.table(), bench.dead_aliases()
    numbers = {ruling.seq for ruling in rulings}
    waiting = [f"#{d.ruling.seq} cannot act yet: {d.message}" for d in dead if d.ruling.seq in numbers]
    signed = [signed_document(ruling, table) for ruling in rulings]
    document = {"rulings": signed, "head": {"seq": table.head.seq, "hash": table.head.hash}}
    settings.give(document, lambda: [signed_line(r, d["state"]) for r, d in zip(rulings, signed, strict=True)])
    settings.out.note(*waiting)


with_principal(command)


def _file_and_numbers(words: tuple[str, ...], only: tuple[str, ...]) -> tuple[Path, tuple[int, ...]]:
    """Tell the file from the numbers that follow --only, wherever either stands; raises UsageError."""
    for text in only:
        if not _NUMBERS.match(text):
            raise click.UsageError(f"--only takes numbers of proposals, not {text}.")
    files = [word for word in words if not only or not _NUMBERS.match(word)]
    if len(files) != 1:
        raise click.UsageError("Name one file of proposals." if not files else f"{files[1]} is one file too many.")
    numbers = [*only, *(word for word in words if word != files[0])]
    return Path(files[0]), tuple(int(number) for text in numbers for number in text.split(","))


@contextmanager
def _located(file: Path) -> Iterator[Path]:
    """The file itself, or the founding proposals that ship with the program where that name is not here."""
    if file.exists() or file not in {Path(FOUNDING), Path("aliases", FOUNDING)}:
        yield file
        return
    from importlib.resources import as_file

    from ct_tui.policy.shipped import shipped

    with as_file(shipped("aliases", FOUNDING)) as path:
        yield path
