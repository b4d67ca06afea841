"""Unsigned rulings in a file of their own, to be adopted by a signature."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ct_tui.domain.errors import BadInput, TrustError
from ct_tui.domain.names import is_blank
from ct_tui.domain.rulings import VERSION
from ct_tui.trust.canonical import SIGNATURE
from ct_tui.trust.entry import parse_own
from ct_tui.trust.files import read_regular
from ct_tui.trust.yaml_reader import MAX_BYTES, RawEntry, read_entries

if TYPE_CHECKING:
    from pathlib import Path

    from ct_tui.domain.rulings import Body

_OF_A_TABLE = ("seq", "prev", SIGNATURE, "supersedes")


@dataclass(frozen=True)
class Proposal:
    """One proposed ruling: its place in the file from 1 on, what it decides, why, and its line."""

    number: int
    body: Body
    reason: str
    line: int


def read_proposals(path: Path) -> tuple[Proposal, ...]:
    """Read a file of proposals: a list of entries without number, chain and signature.

    Raises BadInput or TrustError naming the file, the proposal and the line.
    """
    try:
        data = read_regular(path, MAX_BYTES)
    except FileNotFoundError as error:
        raise BadInput(f"There is no file {path}.") from error
    try:
        entries = read_entries(data, path.name).entries
    except TrustError as error:
        raise BadInput(error.message, "A file of proposals is a YAML list of entries.") from error
    if not entries:
        raise BadInput(f"{path} holds no proposals.")
    return tuple(_proposal(number, raw, path.name) for number, raw in enumerate(entries, 1))


def _proposal(number: int, raw: RawEntry, name: str) -> Proposal:
    where = f"Proposal {number} ({name} line {raw.line})"
    if raw.fields is None:
        raise BadInput(f"{where} is not an entry: it has no fields.")
    found = [key for key in _OF_A_TABLE if raw.fields.get(key) is not None]
    if found:
        raise BadInput(f"{where} has {', '.join(found)}, which only entries of a table have.")
    reason = raw.fields.get("reason")
    if not isinstance(reason, str) or is_blank(reason):
        raise BadInput(f"{where} gives no reason.")
    try:
        body = parse_own({"v": VERSION, **raw.fields})
    except BadInput as error:
        raise BadInput(f"{where} cannot be adopted: {error.message}.") from error
    return Proposal(number, body, reason, raw.line)
