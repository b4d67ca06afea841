"""`rulings.yaml` as a file: read once, append only.

Appending keeps every byte that is there and adds one block for each new entry: it neither parses nor verifies again
what the caller already did, only makes sure, under the lock, that the file still is what the caller read.
"""

from __future__ import annotations

import contextlib
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from ct_tui.domain.errors import TrustError
from ct_tui.trust.files import append_whole, locked, read_if_there
from ct_tui.trust.yaml_reader import MAX_BYTES, RawList, read_entries
from ct_tui.trust.yaml_writer import block

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path


@dataclass(frozen=True)
class TableFile:
    """The bytes of a table as they were read once, and the entries in them."""

    path: Path
    data: bytes = b""
    raw: RawList = field(default_factory=RawList)


def read_table(path: Path) -> TableFile:
    """Read a table; a missing file is an empty one. Raises TrustError, naming the line where there is one."""
    data = read_if_there(path, MAX_BYTES)
    return TableFile(path, data, parse_table(data, path.name))


@lru_cache(maxsize=4)
def parse_table(data: bytes, name: str) -> RawList:
    """The entries of a table's bytes; raises YamlRefused with the line."""
    return read_entries(data, name)


def append_entries(table: TableFile, entries: Sequence[Mapping[str, Any]], *, held: bool = False) -> None:
    """Append signed entries to the file that `table` was read from, whole or not at all.

    Raises FileMoved when the file changed since, TrustError when it cannot be written or appended to. `held` says that
    the caller has the lock already.
    """
    if table.raw.closed:
        raise TrustError(
            f"Nothing can be appended to {table.path.name}: {table.raw.closed}.", "Write it as a plain list of blocks."
        )
    text = blocks_text(table, entries)
    with contextlib.nullcontext() if held else locked(table.path):
        append_whole(table.path, table.data, text.encode())


def blocks_text(table: TableFile, entries: Sequence[Mapping[str, Any]]) -> str:
    """What is written behind the table's last byte, in the table's own line breaks and indentation."""
    line_break = "\r\n" if b"\r\n" in table.data else "\n"
    gap = "" if not table.data or table.data.endswith(b"\n") else line_break
    return gap + "".join(block(entry, table.raw.column, line_break) for entry in entries)
