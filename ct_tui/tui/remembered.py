"""The last census and the first questions of a brain, kept in the user's cache, so that the first paint shows them.

They are drawn as what they are, a memory with its time, until the brain has been read; nothing is ever decided on them.
A cache that cannot be read or written is no fault: the brain is read all the same.
"""

from __future__ import annotations

import contextlib
import json
import os
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ct_tui import __version__
from ct_tui.domain.census import Census, CensusReport, TypeCount, TypeStatus
from ct_tui.domain.queue import ItemKind, Queue, QueueItem, Suggestion

if TYPE_CHECKING:
    from pathlib import Path

    from ct_tui.policy.paths import Places

MOST_QUESTIONS, MOST_TYPES, MOST_IDS = 200, 500, 4
LARGEST = 2_000_000
"""Bytes that are read of a memory; a larger file is none of ours."""

Stamp = list[list[int] | None]
"""Size, time of the last write (ns) and number of each file that the reading rests on; None where there is none."""


@dataclass(frozen=True)
class Remembered:
    """What was last seen of a brain, `at` in seconds; `unmoved` where no file of it was written since."""

    report: CensusReport
    queue: Queue
    at: float
    unmoved: bool


class Memory:
    """The memory of one brain: read once at the start, kept after each whole reading."""

    def __init__(self, places: Places) -> None:
        self._places = places
        self._noted: Stamp = []
        self._kept: tuple[Stamp, dict[str, Any]] | None = None

    def recall(self) -> Remembered | None:
        """What was last seen, or None where nothing was, or another file lies there now."""
        try:
            raw = self._file.read_bytes() if self._file.stat().st_size <= LARGEST else b""
            found = json.loads(raw)
            if [found["program"], found["brain"]] != [__version__, self._name]:
                return None
            now, then = stamp_of(self._places), found["stamp"]
            if now[0] is None or now[0][2:] != then[0][2:]:
                return None
            types = tuple(_type(row) for row in found["types"])
            census = Census(types, int(found["declared_types"]))
            report = CensusReport(
                self._name, None, census, None, 0, 0, _text(found["degraded"]), _text(found["distrust"])
            )
            queue = Queue(tuple(_item(row) for row in found["questions"]))
            return Remembered(report, queue, float(found["at"]), now == then)
        except (OSError, ValueError, KeyError, TypeError, IndexError, RecursionError):
            return None

    def note(self) -> None:
        """A reading begins: what is written from now on is not in it."""
        self._noted = stamp_of(self._places)

    def keep(self, report: CensusReport, queue: Queue) -> None:
        """A reading is whole: keep the first of it."""
        document = {
            "program": __version__,
            "brain": self._name,
            "at": time.time(),
            "declared_types": report.census.declared_types,
            "degraded": report.degraded,
            "distrust": report.distrust,
            "types": [_type_row(t) for t in report.census.types[:MOST_TYPES]],
            "questions": [_item_row(i) for i in queue.items[:MOST_QUESTIONS]],
        }
        self._kept = (self._noted, document)
        self._write(self._noted, document)

    def settle(self, before: Stamp) -> None:
        """The brain was closed, which may have written its log into it: that is no change to what was kept."""
        if self._kept is not None and self._kept[0] == before:
            self._write(stamp_of(self._places), self._kept[1])

    @property
    def _name(self) -> str:
        return os.fsdecode(self._places.brain.absolute()).encode("utf-8", "replace").decode()

    @property
    def _file(self) -> Path:
        from hashlib import sha256

        name = sha256(os.fsencode(self._places.brain.absolute())).hexdigest()[:32]
        return cache_folder(self._places) / f"{name}.json"

    def _write(self, stamp: Stamp, document: dict[str, Any]) -> None:
        file = self._file
        new = file.with_name(f"{file.name}.{os.getpid()}")
        with contextlib.suppress(OSError):
            file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            new.write_text(json.dumps({**document, "stamp": stamp}), encoding="utf-8")
            new.chmod(0o600)
            new.replace(file)


def cache_folder(places: Places) -> Path:
    """Where memories lie: the user's cache folder, or beside the user's own folder where that was named."""
    from platformdirs import user_cache_path, user_config_path

    with contextlib.suppress(RuntimeError):
        if places.user_dir == user_config_path("ct-tui"):
            return user_cache_path("ct-tui")
    return places.user_dir / "cache"


def stamp_of(places: Places) -> Stamp:
    """The files that a reading rests on, as they are now; an empty log counts as none."""
    log = places.brain.with_name(f"{places.brain.name}-wal")
    found = [_file_stamp(f) for f in (places.brain, log, places.config, places.rulings)]
    return [None if at == 1 and stamp is not None and not stamp[0] else stamp for at, stamp in enumerate(found)]


def _file_stamp(path: Path) -> list[int] | None:
    try:
        stat = path.stat()
    except (OSError, ValueError):
        return None
    return [stat.st_size, stat.st_mtime_ns, stat.st_dev, stat.st_ino]


def _type_row(row: TypeCount) -> dict[str, Any]:
    raw = row.raw if isinstance(row.raw, str | None) else row.type
    return {
        "type": row.type,
        "raw": raw,
        "status": row.status.value,
        "to": row.to,
        "looks_like": row.looks_like,
        "counts": [row.count, row.retype, row.queue, row.report_only, row.shielded, row.kept, row.held],
        "rulings": [row.ruling, row.legalized],
    }


def _type(row: dict[str, Any]) -> TypeCount:
    count, retype, queue, report_only, shielded, kept, held = map(int, row["counts"])
    ruling, legalized = (None if seq is None else int(seq) for seq in row["rulings"])
    return TypeCount(
        _text(row["type"]),
        _text_or_none(row["raw"]),
        count,
        TypeStatus(row["status"]),
        _text_or_none(row["to"]),
        ruling,
        retype,
        queue,
        report_only,
        shielded,
        kept,
        held,
        _text_or_none(row["looks_like"]),
        legalized,
    )


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError
    return value


def _text_or_none(value: object) -> str | None:
    return None if value is None else _text(value)


def _texts(values: object) -> tuple[str, ...]:
    if not isinstance(values, list):
        raise TypeError
    return tuple(map(_text, values))


def _item_row(item: QueueItem) -> dict[str, Any]:
    named = item.kind is ItemKind.DUPLICATE
    return {
        "kind": item.kind.value,
        "key": item.key,
        "label": item.label,
        "count": item.count,
        "entities": item.entities[:MOST_IDS],
        "why": item.why,
        "why_not": item.why_not,
        # What a duplicate group suggests are its members, whose names are not kept.
        "suggestions": []
        if named
        else [[s.type, s.score, s.why, s.edges_fit, s.edges_total] for s in item.suggestions],
        "severity": item.data.get("severity"),
    }


def _item(row: dict[str, Any]) -> QueueItem:
    return QueueItem(
        ItemKind(row["kind"]),
        _text(row["key"]),
        _text(row["label"]),
        int(row["count"]),
        _texts(row["entities"]),
        _texts(row["why"]),
        _texts(row["why_not"]),
        tuple(_suggestion(*suggestion) for suggestion in row["suggestions"]),
        data={} if row["severity"] is None else {"severity": _text(row["severity"])},
    )


def _suggestion(target: object, score: float, why: object, fit: int, total: int) -> Suggestion:
    return Suggestion(_text(target), float(score), _texts(why), int(fit), int(total))
