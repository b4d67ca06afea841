"""Making a brain.db: for the demo only, and the one place where such a file is ever created.

Every other brain is the app's, and is opened as it is found.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from importlib import resources
from typing import TYPE_CHECKING, Any

import peewee

from ct_tui.brain.connection import translated
from ct_tui.domain.errors import BrainError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

ROOTLESS_VERSION = 21
"""The schema step at which a brain stays until the app opens it with its vault; only the app stamps more."""

_ROWS_AT_ONCE = 200


def create_brain(path: Path, rows: Mapping[str, Sequence[Mapping[str, Any]]]) -> None:
    """Create a brain.db with the given rows by table; raises BrainError where the file exists or cannot be written."""
    try:
        path.touch(exist_ok=False)
    except FileExistsError as error:
        raise BrainError(f"{path} exists already", "choose a folder that has no brain yet") from error
    except OSError as error:
        raise BrainError(
            f"{path} cannot be created: {error.strerror}", "check the permissions of the folder"
        ) from error
    with translated(path):
        with closing(sqlite3.connect(path)) as connection:
            connection.execute("PRAGMA journal_mode = WAL")  # what the app sets at every open
            connection.executescript(_schema())
        database = peewee.SqliteDatabase(str(path), pragmas={"foreign_keys": 1})
        with database.connection_context(), database.atomic():
            _fill(database, {**rows, "schema_version": [{"version": v} for v in range(1, ROOTLESS_VERSION + 1)]})


def _schema() -> str:
    return resources.files("ct_tui").joinpath("data", "brain.sql").read_text(encoding="utf-8")


def _fill(database: peewee.SqliteDatabase, rows: Mapping[str, Sequence[Mapping[str, Any]]]) -> None:
    for table, records in rows.items():
        for columns, alike in _by_columns(records).items():
            target = peewee.Table(table, columns).bind(database)
            for start in range(0, len(alike), _ROWS_AT_ONCE):
                target.insert(alike[start : start + _ROWS_AT_ONCE]).execute()


def _by_columns(records: Sequence[Mapping[str, Any]]) -> dict[tuple[str, ...], list[dict[str, Any]]]:
    """Records grouped by the columns they set, since one statement has one list of columns."""
    found: dict[tuple[str, ...], list[dict[str, Any]]] = {}
    for record in records:
        found.setdefault(tuple(record), []).append(dict(record))
    return found
