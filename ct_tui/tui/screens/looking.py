"""What the looking keys do: why and why not, the raw row, the source of the evidence, the clipboard."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

from textual.app import SuspendNotSupported

from ct_tui.domain.errors import BadInput
from ct_tui.tui.messages import QuotesRead, RawRead, WhyRead
from ct_tui.tui.screens.base import ViewScreen
from ct_tui.tui.sources import editor_command, open_outside, opener_command, place_of
from ct_tui.tui.text import LONGEST_SENTENCE, NOTHING, blank, counted, data, fit, number, prose, say, titled

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ct_tui.domain.census import RawText
    from ct_tui.domain.queue import EntityView, QueueItem, Quote
    from ct_tui.heal.workbench import Workbench
    from ct_tui.tui.text import Line


class Looking(ViewScreen):
    """The part of a view that shows what stands behind a row."""

    @property
    def entity_id(self) -> str:
        """The id of the entity under the cursor, or an empty text."""
        return ""

    def _meant(self) -> str:
        """The entity under the cursor, else the first of the question; raises BadInput where there is none."""
        if self.entity_id:
            return self.entity_id
        item = self.item
        if item is not None and item.entities:
            return item.entities[0]
        raise BadInput("No entity is under the cursor.", "l opens the group under it.")

    # Why and why not

    def do_look_why(self) -> None:
        """Why it is here, and why not something else."""
        bench, item = self.session.bench, self.item
        if bench is None:
            return
        if item is not None and not item.entities and not self.entity_id:
            self.station.open_text(data(item.label, "title"), lines=_why_lines(None, (), item.why, item.why_not))
            return
        entity_id = self._meant()
        self.station.look("why", "reading why", lambda: _why(bench, entity_id, item), self)

    def on_why_read(self, message: WhyRead) -> None:
        """The ladder's way is read."""
        item = self.item
        lines = _why_lines(message.entity, message.steps, item.why if item is not None else (), message.why_not)
        self.station.open_text(say("Why, and why not", "title"), lines=lines)

    # The row as it is

    def do_look_raw(self) -> None:
        """The row exactly as the brain holds it."""
        bench, entity_id = self.session.bench, self._meant()
        if bench is not None:
            self.station.look("raw", "reading the row", lambda: RawRead(entity_id, bench.raw_row(entity_id)), self)

    def on_raw_read(self, message: RawRead) -> None:
        """The row is read."""
        self.station.open_text(
            say("curated_entities ", "title"), data(message.entity_id, "dim"), lines=_raw_lines(message.columns)
        )

    # The clipboard

    def do_look_copy(self) -> None:
        """Copy the id of the entity under the cursor, else what the row is called."""
        item = self.item
        if self.entity_id:
            self.station.copy_text(self.entity_id)
        elif item is not None:
            self.station.copy_text(item.label)
        else:
            super().do_look_copy()

    # The source

    def do_look_source(self) -> None:
        """Open the source of the evidence."""
        bench, entity_id = self.session.bench, self._meant()
        if bench is not None:
            self.station.look("source", "finding the source", lambda: quotes_of(bench, entity_id), self)

    async def on_quotes_read(self, message: QuotesRead) -> None:
        """The passages are known: open the one there is, or let one be picked."""
        from ct_tui.tui.dialogs.reading import PickDialog

        quotes = message.quotes
        if not quotes:
            self.tell(say("– No passage stands behind this entity.", "warn"))
        elif len(quotes) == 1:
            self._open_quote(quotes[0], message.vault)
        else:
            things = [
                f"{q.path}:{q.start_line}  {q.text}" if q.start_line is not None else f"{q.path}  {q.text}"
                for q in quotes
            ]
            await self.station.ask(
                PickDialog(
                    say("Open which source?", "title"),
                    things=things,
                    picked=lambda at: self._open_quote(quotes[at], message.vault),
                )
            )

    def _open_quote(self, quote: Quote, vault: Path | None) -> None:
        try:
            path = place_of(quote, vault)
            command = editor_command(path, quote.start_line, os.environ)
            if command is None:
                open_outside(opener_command(path))
                self.tell(say("Opened ", "dim"), data(str(path)))
            else:
                self._edit(command, path)
        except BadInput as error:
            self.station.report(error)

    def _edit(self, command: list[str], path: Path) -> None:
        """Give the terminal to the editor until it ends."""
        try:
            with self.app.suspend():
                ended = subprocess.run(command, check=False).returncode
        except SuspendNotSupported as error:
            raise BadInput("An editor cannot be opened from here.", "y copies the path.") from error
        except OSError as error:
            raise BadInput(f"{command[0]} could not be started: {error.strerror}.") from error
        self.refresh()
        self.tell(
            say("Back from ", "dim"),
            data(str(path)),
            *((say(", which ended with ", "warn"), number(ended, "warn")) if ended else NOTHING),
        )


def _why(bench: Workbench, entity_id: str, item: QueueItem | None) -> WhyRead:
    return WhyRead(bench.entity(entity_id), bench.why(entity_id), item.why_not if item is not None else ())


def quotes_of(bench: Workbench, entity_id: str) -> QuotesRead:
    """The passages behind an entity, each once, and where the vault lies; raises NothingFound."""
    from ct_tui.policy.load import load_policy

    entity = bench.entity(entity_id)
    found = {(q.path, q.start_line): q for fact in entity.facts for q in fact.quotes if q.path}
    vault = load_policy(bench.places.config).vault_path
    return QuotesRead(tuple(found.values()), Path(vault) if vault else None)


def _why_lines(
    entity: EntityView | None, steps: Sequence[str], why: Sequence[str], why_not: Sequence[str]
) -> Sequence[Line]:
    lines: list[Line] = []
    if entity is not None:
        lines += [
            (titled(entity.name, "strong"), blank(2), titled(entity.type, "type"), blank(2), data(entity.id, "dim")),
            NOTHING,
        ]
    for heading, reasons in (("Why it is here", why), ("Why not something else", why_not)):
        if reasons:
            lines.append((say(heading, "head"),))
            lines += [(say("  · ", "faint"), data(reason, width=LONGEST_SENTENCE)) for reason in reasons]
            lines.append(NOTHING)
    if steps:
        lines.append((say("The ladder, rung by rung", "head"),))
        for at, step in enumerate(steps):
            knot = "╰─ " if at == len(steps) - 1 else "├─ "
            lines.append((blank(2), say(knot, "faint"), data(step)))
        lines.append(NOTHING)
    if entity is not None and entity.shielded:
        lines.append((say("◇ shielded: ", "warn"), data(entity.shielded)))
    return lines


def _raw_lines(columns: Sequence[tuple[str, RawText]]) -> Sequence[Line]:
    lines: list[Line] = []
    width = max((len(name) for name, _ in columns), default=0) + 2
    for name, value in columns:
        head: Line = fit((data(name, "head"),), width)
        if isinstance(value, bytes) and name.endswith("embedding"):
            lines.append((*head, counted(len(value), "byte", ink="dim")))
            continue
        kind = {str: "text", bytes: "blob", int: "integer", float: "real"}.get(type(value), "null")
        first, *rest = prose(value)
        lines.append((*head, data(kind, "faint"), blank(max(1, 8 - len(kind))), *first))
        lines += [(blank(width + 8), *line) for line in rest]
    return lines
