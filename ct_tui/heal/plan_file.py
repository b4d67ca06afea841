"""Plans as files: written as JSON, and read back with every field's kind checked, since anybody may have written them.

A saved plan carries no authority. Its digest only tells a plan that was changed by accident from one that was not; what
it may do is derived anew when it is applied.
"""

from __future__ import annotations

import json
import os
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from ct_tui.domain.errors import BadInput
from ct_tui.domain.json_text import BadJson, kind_of, parse_object
from ct_tui.domain.plan import (
    Binding,
    ChangeKind,
    EdgeChange,
    EdgeChangeKind,
    EdgeEffect,
    EdgeRow,
    ManifestChange,
    Plan,
    RedirectChange,
    TypeChange,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

ValueT = TypeVar("ValueT")
KindT = TypeVar("KindT", ChangeKind, EdgeChangeKind)

FORMAT = "ct-tui plan 1"
_MAKE = "make a new one with: ct-tui plan --out FILE"


def save_plan(plan: Plan, file: Path) -> None:
    """Write a plan as JSON, whole or not at all; raises BadInput where the file cannot be written."""
    try:
        if file.exists() and not file.is_file():  # a pipe or a device takes the lines as they come
            _write_lines(plan, file)
            return
        target = Path(os.path.realpath(file))
        part = target.with_name(f"{target.name}.{os.getpid()}.part")
        try:
            _write_lines(plan, part)
            part.replace(target)
        finally:
            part.unlink(missing_ok=True)
    except OSError as error:
        raise BadInput(f"{file} cannot be written: {error.strerror}") from error


def _write_lines(plan: Plan, file: Path) -> None:
    with file.open("w", encoding="utf-8") as opened:
        opened.writelines(_lines(plan))


def load_plan(file: Path) -> Plan:
    """Read a saved plan; raises BadInput where it is no plan or was changed after it was made."""
    try:
        document = parse_object(file.read_bytes())
    except OSError as error:
        raise BadInput(f"{file} cannot be read: {error.strerror}") from error
    except BadJson as error:
        raise BadInput(f"{file} is not a plan: {error}", _MAKE) from error
    if document.get("format") != FORMAT:
        raise BadInput(f"{file} is not a plan of this program", _MAKE)
    try:
        plan = _plan(_Row(document, ""))
    except _WrongKind as error:
        raise BadInput(f"{file} is not a whole plan: {error}", _MAKE) from error
    if plan.digest != document.get("digest"):
        raise BadInput(f"{file} was changed after it was made", _MAKE)
    return plan


def _lines(plan: Plan) -> Iterator[str]:
    """The file piece by piece, a change a line: a plan of a million rows is never held as one text."""
    head = {"format": FORMAT, "digest": plan.digest, "made_at": plan.made_at, **_head(plan)}
    yield json.dumps(head, ensure_ascii=False, indent=1)[:-2]
    yield from _list("changes", (c.as_json() for c in plan.changes))
    yield from _list("manifests", map(asdict, plan.manifests))
    yield from _list("edge_changes", (e.as_json() for e in plan.edge_changes))
    yield from _list("merges", (m.as_json() for m in plan.merges))
    yield "\n}\n"


def _list(name: str, rows: Iterable[dict[str, Any]]) -> Iterator[str]:
    yield f',\n "{name}": ['
    for at, row in enumerate(rows):
        yield ("," if at else "") + "\n  " + json.dumps(row, ensure_ascii=False)
    yield "\n ]"


def _head(plan: Plan) -> dict[str, Any]:
    return {
        "binding": {**asdict(plan.binding), "manifests": dict(plan.binding.manifests)},
        "counts": {
            "queued": plan.queued,
            "report_only": plan.report_only,
            "shielded": plan.shielded,
            "kept": plan.kept,
            "held": plan.held,
            "unreadable": plan.unreadable,
        },
        "legalized": list(plan.legalized),
        "unusable_manifests": list(plan.unusable_manifests),
        "edges": asdict(plan.edges) if plan.edges else None,
        "undoes": plan.undoes,
        "notes": list(plan.notes),
    }


class _WrongKind(ValueError):
    """A field is missing or holds another kind of value; the message names it."""


class _Row:
    """One object of the file, asked for its fields by the kind that they must have."""

    def __init__(self, value: object, where: str) -> None:
        if not isinstance(value, dict):
            raise _WrongKind(f"{where or 'the plan'} is {kind_of(value)}, not an object")
        self._fields: dict[str, Any] = value
        self._where = f"{where}." if where else ""

    def text(self, key: str) -> str:
        return self._of(key, str, "a text")

    def number(self, key: str) -> int:
        return self._of(key, int, "a whole number")

    def text_or_none(self, key: str) -> str | None:
        return None if self._fields.get(key) is None else self.text(key)

    def number_or_none(self, key: str) -> int | None:
        return None if self._fields.get(key) is None else self.number(key)

    def row(self, key: str) -> _Row:
        return _Row(self._fields.get(key), self._where + key)

    def row_or_none(self, key: str) -> _Row | None:
        return None if self._fields.get(key) is None else self.row(key)

    def rows(self, key: str) -> list[_Row]:
        return [_Row(v, f"{self._where}{key}[{at}]") for at, v in enumerate(self._of(key, list, "a list"))]

    def texts(self, key: str) -> tuple[str, ...]:
        return self._all(key, str, "texts")

    def numbers(self, key: str) -> tuple[int, ...]:
        return self._all(key, int, "whole numbers")

    def texts_by_key(self) -> dict[str, str]:
        return {key: self.text(key) for key in self._fields}

    def _all(self, key: str, kind: type[ValueT], name: str) -> tuple[ValueT, ...]:
        found = self._of(key, list, "a list")
        if not all(type(v) is kind for v in found):
            raise _WrongKind(f"{self._where}{key} is not a list of {name}")
        return tuple(found)

    def _of(self, key: str, kind: type[ValueT], name: str) -> ValueT:
        value = self._fields.get(key)
        # Not isinstance: true and false are whole numbers to Python.
        if type(value) is not kind:
            raise _WrongKind(f"{self._where}{key} is {kind_of(value)}, not {name}")
        return value


def _plan(row: _Row) -> Plan:
    counts = row.row("counts")
    edges = row.row_or_none("edges")
    return Plan(
        binding=_binding(row.row("binding")),
        changes=tuple(map(_change, row.rows("changes"))),
        manifests=tuple(map(_manifest, row.rows("manifests"))),
        edge_changes=tuple(map(_edge_change, row.rows("edge_changes"))),
        merges=tuple(map(_merge, row.rows("merges"))),
        queued=counts.number("queued"),
        report_only=counts.number("report_only"),
        shielded=counts.number("shielded"),
        kept=counts.number("kept"),
        held=counts.number("held"),
        unreadable=counts.number("unreadable"),
        legalized=row.texts("legalized"),
        unusable_manifests=row.texts("unusable_manifests"),
        edges=EdgeEffect(*map(edges.number, ("gained", "broken", "still_violating"))) if edges else None,
        undoes=row.number_or_none("undoes"),
        notes=row.texts("notes"),
        made_at=row.number("made_at"),
    )


def _binding(row: _Row) -> Binding:
    return Binding(
        row.text("brain"),
        row.number("schema_version"),
        row.row("manifests").texts_by_key(),
        row.text("policy"),
        row.number("head_seq"),
        row.text("head_hash"),
    )


def _change(row: _Row) -> TypeChange:
    kind = _kind(row, ChangeKind)
    names = (row.text("entity"), row.text("name"), row.text("from"), row.text("to"))
    return TypeChange(*names, kind, row.number_or_none("ruling"), row.text("why"))


def _manifest(row: _Row) -> ManifestChange:
    return ManifestChange(
        row.text("row"),
        row.text("before"),
        row.text("after"),
        row.texts("added_types"),
        row.texts("added_edges"),
        row.text_or_none("fallback"),
        row.numbers("rulings"),
        row.text("mode"),
    )


def _edge_change(row: _Row) -> EdgeChange:
    before, after = (_edge(found) if (found := row.row_or_none(key)) else None for key in ("before", "after"))
    kind = _kind(row, EdgeChangeKind)
    return EdgeChange(row.text("edge"), kind, before, after, row.number_or_none("ruling"), row.text("why"))


def _edge(row: _Row) -> EdgeRow:
    ends = (row.text("source_id"), row.text("target_id"))
    return EdgeRow(row.text("id"), row.text("entity_id"), *ends, row.text("edge_type"), row.number("created_at"))


def _merge(row: _Row) -> RedirectChange:
    ends = (row.text_or_none("before"), row.text_or_none("after"))
    return RedirectChange(row.text("entity"), row.text("name"), *ends, row.number_or_none("ruling"), row.text("why"))


def _kind(row: _Row, kinds: type[KindT]) -> KindT:
    given = row.text("kind")
    try:
        return kinds(given)
    except ValueError:
        raise _WrongKind(f"{given!r} is no kind of change") from None
