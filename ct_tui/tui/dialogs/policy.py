"""Dialogs of the policy: what a change would do before it is written; choosing a folder, an entity or a fallback."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING

from textual.widgets import Input

from ct_tui.domain.errors import BadInput, CtTuiError
from ct_tui.heal.ontology_set import SetRequest
from ct_tui.heal.policy_desk import PolicyChange
from ct_tui.tui.dialogs.base import Dialog, hints
from ct_tui.tui.messages import Failed, Refused
from ct_tui.tui.policy_messages import DriftWeighed, EntitiesFound, FoldersRead, PolicySet, Previewed, Waived
from ct_tui.tui.policypapers import plan_words, preview_lines
from ct_tui.tui.text import NOTHING, blank, counted, data, fit, say
from ct_tui.tui.widgets.choice import Buttons, Choice
from ct_tui.tui.widgets.frame import Ends, Lines, Notice
from ct_tui.tui.widgets.rows import MemoryRows, Row, RowList

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from textual.app import ComposeResult
    from textual.message import Message
    from textual.widget import Widget

    from ct_tui.domain.census import Drift
    from ct_tui.domain.manifest import Vocabulary
    from ct_tui.domain.queue import EntityView
    from ct_tui.heal.heal_pass import HealReport
    from ct_tui.heal.ontology_set import SetResult
    from ct_tui.tui.text import Line, Piece


class AgreeDialog(Dialog):
    """Says what would happen. Cancel has the keyboard, and another key than the one that opened it agrees."""

    AGREE = "Write"
    KEYS = {"y": "agree", "n": "do_dialog_cancel", "left": "other", "right": "other", "h": "other", "l": "other"}  # noqa: RUF012

    def __init__(self, *title: Piece) -> None:
        super().__init__(*title)
        self.busy = False

    def compose_body(self) -> ComposeResult:
        """What would happen, and the way to agree."""
        yield Notice(id="says")
        yield Buttons((("cancel", "Cancel"), ("agree", f"{self.AGREE} (y)")), id="buttons")

    def fields(self) -> list[Widget]:
        """The buttons."""
        return [self.query_one("#buttons")]

    def hint(self) -> Line:
        """The keys of the dialog."""
        return hints(("y", self.AGREE.lower()), ("⏎", "what is chosen"), ("esc", "cancel"))

    def tell(self, *lines: Line) -> None:
        """Show what would happen, with the buttons in sight where the box is longer than the screen."""
        self.query_one("#says", Notice).show(*lines)
        self.call_after_refresh(self.query_one("#box").scroll_end, animate=False)

    def other(self) -> None:
        """The other button."""
        self.query_one(Buttons).step()

    async def do_dialog_accept(self) -> None:
        """What is chosen: Cancel, unless somebody went to the other one."""
        if self.query_one(Buttons).value == "agree":
            await self.agree()
        else:
            self.do_dialog_cancel()

    def do_dialog_cancel(self) -> None:
        """Leave, unless it is being written just now."""
        if not self.busy:
            self.close()

    async def on_buttons_pressed(self, event: Buttons.Pressed) -> None:
        """A button was clicked."""
        event.stop()
        if event.value == "agree":
            await self.agree()
        else:
            self.do_dialog_cancel()

    async def agree(self) -> None:
        """Do it, once."""
        raise NotImplementedError

    def begin_work(self) -> None:
        """Something is being written: the keys wait for it."""
        self.busy = True
        self.content_again()
        self.query_one("#dialog-hint", Ends).show((say("writing…", "warn"),))

    def on_refused(self, message: Refused) -> None:
        """It was refused: say why, nothing is written."""
        self.busy = False
        self.refuse(message.error)
        self.show_hint()

    def on_failed(self, message: Failed) -> None:
        """Something around it failed."""
        message.stop()
        self.on_refused(Refused(message.error))


class ChangeDialog(AgreeDialog):
    """One change of the policy: what it changes, how many entities it covers, and what heal would do then."""

    def __init__(self, change: PolicyChange, done: Callable[[PolicyChange, SetResult], None]) -> None:
        super().__init__(say("Change the policy: ", "title"), data(change.words, "title"))
        self._change = change
        self._done = done
        self._known = False

    @property
    def change(self) -> PolicyChange:
        """What would be written."""
        return self._change

    def prepare(self) -> None:
        """Have it previewed."""
        super().prepare()
        self.tell((say("working out what it changes…", "faint"),))
        bench, change = self.session.bench, self._change
        if bench is None:
            return

        def job() -> Message:
            try:
                return Previewed(bench.policy_desk.preview(change))
            except CtTuiError as error:
                return Previewed(None, error)

        self.station.survey("preview", "previewing a change of the policy", job, self)

    def on_previewed(self, message: Previewed) -> None:
        """It is known: show it."""
        if message.preview is None:
            self.tell((say("It cannot be done.", "warn"),))
            if message.error is not None:
                self.refuse(message.error)
            return
        self._known = True
        where = self.session.places.config if self._change.in_config else self.session.places.brain
        self.tell(*preview_lines(message.preview), (say("written into ", "dim"), data(str(where), "dim")))

    async def agree(self) -> None:
        """Write it, once it is known what it does."""
        bench, change = self.session.bench, self._change
        if self.busy or self.over or bench is None:
            return
        if not self._known:
            self.object_to(say("Nothing is written before it is known what it changes."))
            return
        self.begin_work()

        def job() -> Message:
            try:
                return PolicySet(bench.set_policy(change))
            except CtTuiError as error:
                return Refused(error)

        self.station.write("changing the policy", job, self)

    def on_policy_set(self, message: PolicySet) -> None:
        """It is written."""
        self.close()
        self.station.read_all()
        self._done(self._change, message.result)


class DriftDialog(AgreeDialog):
    """Policy drift: confirming it lets the plan be applied; nothing is written by confirming."""

    AGREE = "Confirm"

    def __init__(self, drift: Drift, done: Callable[[], Awaitable[None]]) -> None:
        super().__init__(say("Confirm the policy drift?", "title"))
        self._drift = drift
        self._done = done

    def prepare(self) -> None:
        """Have the plan made that it would let through."""
        super().prepare()
        self.tell((say("working out what the plan would do…", "faint"),))
        bench = self.session.bench
        if bench is not None:
            self.station.survey("drift", "making the plan", lambda: DriftWeighed(bench.plan(effect=False)), self)

    def on_drift_weighed(self, message: DriftWeighed) -> None:
        """The plan is known."""
        lines = list(plan_words(message.plan)) or [(say("  Heal would change nothing now.", "dim"),)]
        self.tell(
            (say("config.json changed since the last heal, and that was meant."),),
            (say("Confirming writes nothing by itself. It lets this plan be applied in this session:"),),
            *lines,
            (say("Applying it, P then a, stamps the policy as it is now: "), data(self._drift.new_hash, "dim", 13)),
        )

    async def agree(self) -> None:
        """Confirm it, once."""
        if self.over:
            return
        self.session.confirmed = self._drift
        self.close()
        result = self._done()
        if inspect.isawaitable(result):
            await result


class WaiveDialog(AgreeDialog):
    """Policy drift, waived this once: only the manifests are brought up to date."""

    AGREE = "Waive"

    def __init__(self, drift: Drift, done: Callable[[HealReport], None]) -> None:
        super().__init__(say("Waive the policy drift this once?", "title"))
        self._drift = drift
        self._done = done

    def prepare(self) -> None:
        """Have the plan made, for the manifests that it would ensure."""
        super().prepare()
        self.tell((say("working out what would be done…", "faint"),))
        bench = self.session.bench
        if bench is not None:
            self.station.survey("drift", "making the plan", lambda: DriftWeighed(bench.plan(effect=False)), self)

    def on_drift_weighed(self, message: DriftWeighed) -> None:
        """The plan is known."""
        manifests = message.plan.manifests
        rows: list[Line] = [(say("    · ", "faint"), data(change.row, "type")) for change in manifests[:5]]
        if len(manifests) > 5:
            rows.append((say("    · ", "faint"), counted(len(manifests) - 5, "more manifest", ink="dim")))
        left = len(message.plan.changes) + len(message.plan.edge_changes) + len(message.plan.merges)
        written = counted(
            len(manifests), "manifest is brought up to date", "manifests are brought up to date", "strong"
        )
        self.tell(
            (say("▸ ", "key"), written),
            *rows,
            (say("▸ ", "key"), counted(left, "other row of the plan waits", "other rows of the plan wait", "strong")),
            (say("▸ ", "key"), say("the policy is not stamped, so the next heal asks again")),
        )

    async def agree(self) -> None:
        """Heal with the drift waived, once."""
        bench, old = self.session.bench, self._drift.old_hash
        if self.busy or self.over or bench is None:
            return
        self.begin_work()

        def job() -> Message:
            report = bench.heal(apply=True, waive=old)
            return Waived(report) if not report.error else Refused(BadInput(report.error))

        self.station.write("healing with the drift waived", job, self)

    def on_waived(self, message: Waived) -> None:
        """It is done."""
        self.close()
        self.station.read_all()
        self._done(message.report)


class ChooseDialog(Dialog):
    """A list narrowed by what is typed, and a mode; what is chosen is previewed before anything is written."""

    MODES: tuple[tuple[str, str], ...] = ()
    PLACEHOLDER = ""
    EMPTY = "Nothing is like that."

    def __init__(self, *title: Piece, chosen: Callable[[PolicyChange], Awaitable[None]]) -> None:
        super().__init__(*title)
        self._chosen = chosen

    def compose_body(self) -> ComposeResult:
        """What is typed, what it finds, and the mode."""
        yield Input(placeholder=self.PLACEHOLDER, compact=True, id="search")
        yield RowList(((say("…", "faint"),),), id="found")
        if self.MODES:
            yield Choice(self.MODES, id="mode")
        yield Lines(id="note")

    def fields(self) -> list[Widget]:
        """What is typed, what it finds, the mode."""
        return [
            self.query_one(f"#{name}") for name in (("search", "found", "mode") if self.MODES else ("search", "found"))
        ]

    def hint(self) -> Line:
        """The keys of the dialog."""
        return hints(("⏎", "see what it changes"), ("↓ ↑", "choose"), ("⇥", "next field"), ("esc", "leave"))

    @property
    def found(self) -> RowList:
        """The list."""
        return self.query_one("#found", RowList)

    @property
    def query_text(self) -> str:
        """What is typed."""
        return self.query_one("#search", Input).value.strip()

    @property
    def mode(self) -> str:
        """The mode chosen."""
        return self.query_one("#mode", Choice).value

    def on_input_changed(self, event: Input.Changed) -> None:
        """Find what is typed."""
        event.stop()
        self.content_again()
        self.find(event.value.strip())

    def find(self, query: str) -> None:
        """Fill the list with what is like `query`."""
        raise NotImplementedError

    def change(self) -> PolicyChange:
        """What is chosen; raises BadInput where nothing is."""
        raise NotImplementedError

    async def do_dialog_accept(self) -> None:
        """Go on to the preview, once."""
        if self.over:
            return
        try:
            change = self.change()
        except CtTuiError as error:
            self.refuse(error)
            return
        self.close()
        await self._chosen(change)


class FolderDialog(ChooseDialog):
    """A folder of the vault and its mode."""

    MODES = (("off", "off: no gate runs"), ("strict", "strict: gated"))
    PLACEHOLDER = "a folder of the vault, such as documents/drafts"

    def __init__(self, *, chosen: Callable[[PolicyChange], Awaitable[None]]) -> None:
        super().__init__(say("A mode for a folder", "title"), chosen=chosen)
        self._folders: tuple[tuple[str, int], ...] = ()
        self._picked = False

    def prepare(self) -> None:
        """Have the folders read that documents lie in."""
        super().prepare()
        bench = self.session.bench
        if bench is not None:
            self.station.look(
                "folders",
                "reading the folders of the vault",
                lambda: FoldersRead(bench.policy_desk.vault_folders()),
                self,
            )

    def on_folders_read(self, message: FoldersRead) -> None:
        """They are known."""
        self._folders = tuple(message.folders)
        self.find(self.query_text)

    def find(self, query: str) -> None:
        """Folders that hold what is typed; what is typed is meant until somebody chooses in the list."""
        low = query.lower()
        self._picked = False
        rows = [_folder_row(folder, count) for folder, count in self._folders if low in folder.lower()]
        self.found.empty = ((say("No document lies in such a folder yet; it can be named all the same.", "dim"),),)
        self.found.show(MemoryRows(rows, [row.key for row in rows]))
        self._note()

    def do_dialog_down(self) -> None:
        """Choose in the list."""
        self._pick(1)

    def do_dialog_up(self) -> None:
        """Choose in the list."""
        self._pick(-1)

    def _pick(self, step: int) -> None:
        self.found.move_by(step if self._picked else 0)
        self._picked = True
        self._note()

    @property
    def folder(self) -> str:
        """The folder meant."""
        row = self.found.current
        return row.key if row is not None and (self._picked or not self.query_text) else self.query_text

    def _note(self) -> None:
        meant: Line = (data(self.folder, "type"),) if self.folder else (say("–", "faint"),)
        self.query_one("#note", Lines).show((say("the folder ", "dim"), *meant))

    def change(self) -> PolicyChange:
        """The folder and the mode."""
        if not self.folder:
            raise BadInput("name a folder", "relative to the vault, such as documents/drafts")
        return PolicyChange(SetRequest(mode=self.mode, dir=self.folder))


class EntityDialog(ChooseDialog):
    """An entity, and whether it is opted out, gated by a row of its own, or neither."""

    MODES = (("off", "opt out"), ("strict", "strict, by a row of its own"), ("back", "lift the opt-out"))
    PLACEHOLDER = "a part of the name, or an id"

    def __init__(self, *, chosen: Callable[[PolicyChange], Awaitable[None]]) -> None:
        super().__init__(say("Opt an entity out, or in", "title"), chosen=chosen)

    def prepare(self) -> None:
        """Nothing is searched before something is typed."""
        super().prepare()
        self.found.empty = ((say("Type a part of the name.", "dim"),),)

    def find(self, query: str) -> None:
        """Have the entities searched."""
        bench = self.session.bench
        if bench is not None and query:
            self.station.look("entities", "searching entities", lambda: EntitiesFound(query, bench.search(query)), self)

    def on_entities_found(self, message: EntitiesFound) -> None:
        """They are found, unless something else is typed by now."""
        if message.query == self.query_text:
            rows = [_entity_row(entity) for entity in message.entities]
            self.found.empty = ((say("No live entity is like that.", "dim"),),)
            self.found.show(MemoryRows(rows, [row.key for row in rows]))
            self.found.move_to(0)

    def change(self) -> PolicyChange:
        """The entity under the cursor."""
        row = self.found.current
        if row is None:
            raise BadInput("choose an entity", "type a part of its name")
        if self.mode == "back":
            return PolicyChange(SetRequest(entity=row.key), back=True)
        return PolicyChange(SetRequest(mode=self.mode, entity=row.key))


class FallbackDialog(ChooseDialog):
    """The declared type that unknown labels land on, for one manifest row; `row` is None for tier_fact."""

    PLACEHOLDER = "type to search the declared types"

    def __init__(
        self,
        row: str | None,
        vocabulary: Vocabulary,
        *,
        chosen: Callable[[PolicyChange], Awaitable[None]],
    ) -> None:
        super().__init__(say("Fallback type of ", "title"), data(row or "tier_fact", "title"), chosen=chosen)
        self._row = row
        self._vocabulary = vocabulary

    def prepare(self) -> None:
        """All declared types, the cursor on the fallback that is set."""
        super().prepare()
        self.find("")
        if self._vocabulary.fallback is not None:
            self.found.move_to_key(self._vocabulary.fallback)

    def find(self, query: str) -> None:
        """Declared types like what is typed."""
        from ct_tui.domain.suggest import types_by_name

        rows = [
            _type_row(node.name, node.description, here=node.name == self._vocabulary.fallback)
            for node in types_by_name(self._vocabulary, query)
        ]
        self.found.empty = ((say("No declared type is like that.", "dim"),),)
        self.found.show(MemoryRows(rows, [row.key for row in rows]))
        if query:
            self.found.move_to(0)

    def change(self) -> PolicyChange:
        """The type under the cursor."""
        row = self.found.current
        if row is None:
            raise BadInput("choose a declared type")
        return PolicyChange(SetRequest(entity=self._row, fallback=row.key))


def _folder_row(folder: str, count: int) -> Row:
    def draw(width: int) -> Line:
        return (*fit((data(folder),), max(20, width - 18)), blank(1), counted(count, "document", ink="dim"))

    return Row(folder, folder, draw, markable=False)


def _entity_row(entity: EntityView) -> Row:
    def draw(width: int) -> Line:
        shield: Line = (say("◇ ", "dim"),) if entity.shielded else (blank(2),)
        name = fit((*shield, data(entity.name)), max(16, width - 46))
        return (*name, blank(1), *fit((data(entity.type, "type"),), 16), data(entity.id, "faint"))

    return Row(entity.id, entity, draw, markable=False)


def _type_row(name: str, description: str, *, here: bool) -> Row:
    def draw(width: int) -> Line:
        mark: Line = (say("✓ ", "ok"),) if here else (blank(2),)
        words = (data(description, "dim"),) if description else NOTHING
        return (*mark, *fit((data(name, "type"),), min(24, width // 2)), *words)

    return Row(name, name, draw, markable=False)
