"""The policy: host default, folders, manifests and opt-outs, with what each decides, set and taken back by keys."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ct_tui.domain.errors import BadInput
from ct_tui.domain.manifest import TIER_FACT
from ct_tui.domain.policy import is_matchable, normalise_key
from ct_tui.domain.queue import EntityView
from ct_tui.tui import papers, policypapers
from ct_tui.tui.messages import EvidenceRead
from ct_tui.tui.policy_messages import MembersRead, SheetRead, TextRead
from ct_tui.tui.policypapers import mode_words, path_words, verdict_words
from ct_tui.tui.rowviews import entity_row
from ct_tui.tui.screens.base import ViewScreen
from ct_tui.tui.text import NOTHING, blank, counted, data, drawn, number, prose, say
from ct_tui.tui.widgets.frame import Heading, Lines
from ct_tui.tui.widgets.rows import Row, RowList, columns
from ct_tui.tui.widgets.tree import SEPARATOR, Parent, Store, TreeRows, parent_key

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from textual.app import ComposeResult

    from ct_tui.domain.ladder import Decision
    from ct_tui.domain.policy import Problem, Tie
    from ct_tui.heal.heal_pass import HealReport
    from ct_tui.heal.ontology_set import SetResult
    from ct_tui.heal.ontology_show import FolderView, ManifestView, OptOutView
    from ct_tui.heal.policy_desk import PolicyChange, PolicySheet
    from ct_tui.tui.text import Line


@dataclass(frozen=True)
class Part:
    """One part of the policy: `kind` is drift, problem, default, schema, folder, manifest or opt-out."""

    kind: str
    key: str = ""
    thing: FolderView | ManifestView | OptOutView | Problem | None = None


class PolicyScreen(ViewScreen):
    """Everything that decides whether an entity is gated, with the keys that change it."""

    VIEW = "policy"

    def __init__(self) -> None:
        super().__init__()
        self._sheet: PolicySheet | None = None
        self._age = -1
        self._store: Store[EntityView] = Store(lambda group, offset, _: self._ask_page(group, offset))
        self._evidence: EvidenceRead | None = None

    def compose_lists(self) -> ComposeResult:
        """The sums above the parts."""
        yield Heading((say("Ontology policy"),), id="policy-head")
        yield Lines(id="policy-sums")
        yield RowList(((say("Reading the policy…", "dim"),),), id="policy")

    # What is under the cursor, read at the key

    @property
    def subject(self) -> str:
        """What is under the cursor: the kind of the part, or `entity`."""
        thing = self.row.subject if self.row is not None else None
        if isinstance(thing, Part):
            return thing.kind
        return "entity" if isinstance(thing, EntityView) else ""

    @property
    def part(self) -> Part | None:
        """The part of the policy under the cursor."""
        thing = self.row.subject if self.row is not None else None
        return thing if isinstance(thing, Part) else None

    @property
    def entity_id(self) -> str:
        """The entity that a mode would be set for: under the cursor, of a manifest row or of an opt-out."""
        thing = self.row.subject if self.row is not None else None
        if isinstance(thing, EntityView):
            return thing.id
        return thing.key if isinstance(thing, Part) and thing.kind in {"manifest", "opt-out"} else ""

    # Showing

    def show_rows(self) -> None:
        """Have the policy read anew where anything moved since."""
        bench = self.session.bench
        if bench is not None and self._age != self.session.age:
            self._age = self.session.age
            self.station.survey("policy", "reading the policy", lambda: SheetRead(bench.policy_desk.sheet), self)
        elif self._sheet is not None:
            self._fill()

    def on_sheet_read(self, message: SheetRead) -> None:
        """The policy is read."""
        self._sheet = message.sheet
        self._evidence = None
        self._store.renew({_key(part): self._members(part) for part in self._parts()})
        self._fill()

    def _members(self, part: Part) -> int:
        """How many entities open below a part."""
        if part.kind != "folder" or self._sheet is None:
            return 0
        from ct_tui.heal.coverage import counted_key

        return len(self._sheet.coverage.members.get(counted_key(part.key), ()))

    def _parts(self) -> Iterator[Part]:
        sheet = self._sheet
        if sheet is None:
            return
        if sheet.drift is not None:
            yield Part("drift")
        policy = sheet.view.policy
        for problem in policy.problems:
            yield Part("problem", problem.where, problem)
        yield Part("default")
        yield Part("schema")
        for folder in sheet.view.folders:
            yield Part("folder", folder.key, folder)
        for manifest in sheet.view.manifests:
            yield Part("manifest", manifest.row.entity_id, manifest)
        for opt_out in sheet.view.opt_outs:
            yield Part("opt-out", opt_out.entity, opt_out)

    def _fill(self) -> None:
        sheet = self._sheet
        if sheet is None:
            return
        parents = [self._part_row(part, sheet) for part in self._parts()]
        self.rows.show(TreeRows(parents, self._store, entity_row))
        note = policypapers.policy_state(sheet.view.policy)
        self.query_one("#policy-head", Heading).show(note)
        self._show_sums()
        self.describe()
        self.show_keys()

    def _show_sums(self) -> None:
        if self._sheet is None:
            return
        lines = self.query_one("#policy-sums", Lines)
        width = max(20, lines.size.width or self.size.width - 2)
        bar = (policypapers.verdict_bar(self._sheet.coverage, width),) if self.size.height >= 32 else ()
        lines.show(*bar, policypapers.verdict_counts(self._sheet.coverage))

    def _part_row(self, part: Part, sheet: PolicySheet) -> Parent:
        key, members = _key(part), self._members(part)
        is_open = key in self._store.open
        mode, verdict, rest = _cells(part, sheet, waits=self.session.drift_waits)

        def draw(width: int) -> Line:
            twist = say("▾ " if is_open else "▹ ", "faint") if members else blank(2)
            room = min(34, max(10, width - 51))
            return columns(
                width,
                ((twist,), 2),
                ((data(part.kind, "dim"),), 9),
                (_name(part, sheet, room), room),
                ((blank(1), *mode), 13),
                (verdict, 9),
                (rest, 0),
            )

        row = Row(key, part, draw, opens=bool(members), is_open=is_open, markable=False)
        return Parent(row, f"{part.kind} {part.key} {sheet.names.get(part.key, '')}", members)

    def describe(self) -> None:
        """Show the part under the cursor."""
        row, sheet = self.row, self._sheet
        if row is None or sheet is None:
            self.paper.show((), "")
            return
        self.paper.show(tuple(self._words(row, sheet)), row.key)

    def _words(self, row: Row, sheet: PolicySheet) -> Sequence[Line]:
        thing = row.subject
        head = self.query_one("#detail-head", Heading)
        if isinstance(thing, EntityView):
            head.show(NOTHING, (say("Entity"),))
            return self._entity_words(row.key, thing)
        if not isinstance(thing, Part):
            return ()
        head.show(NOTHING, (say("Policy"),))
        return tuple(_paper(thing, sheet, waits=self.session.drift_waits))

    def _entity_words(self, key: str, entity: EntityView) -> Sequence[Line]:
        bench = self.session.bench
        if self._evidence is not None and self._evidence.key == key:
            entity = self._evidence.entities[0]
        elif bench is not None:
            entity_id = entity.id
            self.station.look(
                "detail", "reading an entity", lambda: EvidenceRead(key, (bench.entity(entity_id),)), self
            )
        keys = policypapers.keys_lines("o opt out", "s strict, by a row of its own", "u lift the opt-out")
        return (*papers.entity_paper(entity), NOTHING, *keys)

    def on_evidence_read(self, message: EvidenceRead) -> None:
        """The entity is read: show it if the cursor still is there."""
        self._evidence = message
        if self.row is not None and self.row.key == message.key:
            self.describe()

    def fit_panes(self) -> None:
        """The bar is as wide as there is room."""
        super().fit_panes()
        self._show_sums()

    # Groups

    def _ask_page(self, group: str, offset: int) -> None:
        bench = self.session.bench
        part = next((p for p in self._parts() if _key(p) == group), None)
        if bench is None or part is None:
            return
        key = part.key

        def read() -> MembersRead:
            ids = bench.policy_desk.members(key)[offset : offset + 200]
            return MembersRead(group, offset, bench.entities_by_ids(ids))

        self.station.look(f"members:{group}", "reading the entities of a folder", read, self)

    def on_members_read(self, message: MembersRead) -> None:
        """Some entities of a folder are there."""
        members = self._store.known(message.group)
        if members is not None:
            members.add(message.offset, message.rows)
            self.rows.reread()
            self.show_keys()

    def do_move_open(self) -> None:
        """Open the folder under the cursor; on what has nothing below it go into the detail."""
        row = self.row
        if self.in_detail:
            return
        if row is not None and row.opens and not row.is_open:
            self._store.open.add(row.key)
            self._fill()
        elif row is not None and row.opens:
            self.rows.move_by(1)
        else:
            self.set_focus(self.paper)

    def do_move_close(self) -> None:
        """Go back to the list, else to the folder, else close it."""
        row = self.row
        if self.in_detail:
            self.set_focus(self.rows)
        elif row is not None and SEPARATOR in row.key:
            self.rows.move_to_key(parent_key(row.key))
        elif row is not None and row.is_open:
            self._store.open.discard(row.key)
            self._fill()

    def do_look_copy(self) -> None:
        """Copy the folder or the id under the cursor."""
        part = self.part
        text = self.entity_id or (part.key if part is not None else "")
        if text:
            self.station.copy_text(text)

    def do_policy_raw(self) -> None:
        """The manifest's text, or that of config.json, exactly as it stands."""
        from ct_tui.heal.ontology_show import ManifestView

        part = self.part
        if part is None:
            raise BadInput("Put the cursor on a part of the policy.")
        if isinstance(part.thing, ManifestView):
            self.station.open_text(data(part.key, "title"), lines=prose(part.thing.row.raw))
            return
        path = self.session.places.config
        self.station.look("raw", "reading config.json", lambda: TextRead(str(path), config_text(path)), self)

    def on_text_read(self, message: TextRead) -> None:
        """The config is read."""
        self.station.open_text(data(message.name, "title"), lines=prose(message.text))

    # Changing

    async def do_policy_strict(self) -> None:
        """Gate it."""
        await self._set("strict")

    async def do_policy_off(self) -> None:
        """Switch the gate off."""
        await self._set("off")

    async def _set(self, mode: str) -> None:
        from ct_tui.heal.ontology_set import SetRequest
        from ct_tui.heal.policy_desk import PolicyChange

        part, entity = self.part, self.entity_id
        if part is not None and part.kind == "default":
            await self._preview(PolicyChange(SetRequest(mode=mode)))
        elif part is not None and part.kind == "folder":
            await self._preview(PolicyChange(SetRequest(mode=mode, dir=_settable(part.key))))
        elif entity and entity != TIER_FACT:
            await self._preview(PolicyChange(SetRequest(mode=mode, entity=entity)))
        else:
            raise BadInput(
                "The mode of tier_fact is the engine's.", "A folder or the host default says where it gates."
            )

    async def do_policy_back(self) -> None:
        """Take a setting back."""
        from ct_tui.heal.ontology_set import SetRequest
        from ct_tui.heal.policy_desk import PolicyChange

        part, entity = self.part, self.entity_id
        if part is not None and part.kind == "default":
            await self._preview(PolicyChange(SetRequest(), back=True))
        elif part is not None and part.kind == "folder":
            await self._preview(PolicyChange(SetRequest(dir=part.key), back=True))
        elif entity:
            await self._preview(PolicyChange(SetRequest(entity=entity), back=True))

    async def do_policy_fallback(self) -> None:
        """Choose the type that unknown labels land on."""
        from ct_tui.heal.ontology_show import ManifestView
        from ct_tui.tui.dialogs.policy import FallbackDialog

        part = self.part
        thing = part.thing if part is not None else None
        vocabulary = thing.row.vocabulary if isinstance(thing, ManifestView) else None
        if part is None or vocabulary is None:
            raise BadInput("That manifest row cannot be read, so it takes no fallback.", "It is mended in the app.")
        row = None if part.key == TIER_FACT else part.key
        await self.station.ask(FallbackDialog(row, vocabulary, chosen=self._preview))

    async def do_policy_folder(self) -> None:
        """Name a folder and its mode."""
        from ct_tui.tui.dialogs.policy import FolderDialog

        await self.station.ask(FolderDialog(chosen=self._preview))

    async def do_policy_entity(self) -> None:
        """Search an entity to opt out or in."""
        from ct_tui.tui.dialogs.policy import EntityDialog

        await self.station.ask(EntityDialog(chosen=self._preview))

    async def _preview(self, change: PolicyChange) -> None:
        from ct_tui.tui.dialogs.policy import ChangeDialog

        await self.station.ask(ChangeDialog(change, self._changed))

    def _changed(self, change: PolicyChange, result: SetResult) -> None:
        """It is written: say so."""
        written = result.config_written or result.optout_written or result.optout_deleted
        written = written or result.manifest_row_written or result.fallback_written
        warning: Line = (say("  ! ", "warn"), data(result.warning)) if result.warning else NOTHING
        sign = say("✓ Written: ", "ok") if written else say("– Nothing had to be changed: ", "warn")
        self.tell(sign, data(change.words, "type"), *warning)

    # Drift

    async def do_policy_confirm(self) -> None:
        """Confirm the policy drift."""
        from ct_tui.tui.dialogs.policy import DriftDialog

        drift = self.session.report.drift if self.session.report is not None else None
        if drift is not None:
            await self.station.ask(DriftDialog(drift, self._confirmed))

    async def _confirmed(self) -> None:
        self.station.show_session()
        self.tell(
            say("✓ Confirmed for this session. ", "ok"), say("P", "key"), say(" shows the plan, a there writes it.")
        )

    async def do_policy_waive(self) -> None:
        """Waive the policy drift this once."""
        from ct_tui.tui.dialogs.policy import WaiveDialog

        drift = self.session.report.drift if self.session.report is not None else None
        if drift is not None:
            await self.station.ask(WaiveDialog(drift, self._waived))

    def _waived(self, report: HealReport) -> None:
        changed = report.legalized
        done: Line = (
            (say("run ", "dim"), number(report.run, "strong"))
            if report.run is not None
            else (say("nothing had to be written"),)
        )
        more: Line = (say(": declared ", "dim"), data(", ".join(changed), "type")) if changed else NOTHING
        self.tell(say("✓ Waived this once: ", "ok"), *done, *more, say(". The drift stays.", "dim"))


def config_text(path: Path) -> str | bytes:
    """The config as it stands; one that is not UTF-8 as bytes; raises BadInput where it cannot be read."""
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise BadInput(f"{path} cannot be read: {error.strerror}.") from error
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        return raw


def _key(part: Part) -> str:
    return f"{part.kind} {part.key!r}"


def _settable(key: str) -> str:
    """A folder key as it can be set; raises BadInput for one that can match nothing."""
    if not is_matchable(key):
        raise BadInput(f"No path can match the folder {key!r}.", "u takes the key away, + names the folder as it is.")
    return normalise_key(key)


def _name(part: Part, sheet: PolicySheet, width: int) -> Line:
    """What a part is called."""
    if part.kind == "folder":
        return (path_words(part.key, width),)
    name = getattr(part.thing, "name", "") or sheet.names.get(part.key, "")
    words = {"drift": "config.json", "default": "everywhere else", "schema": "ontology.schema"}
    return (drawn(words[part.kind]),) if part.kind in words else (data(name or part.key, "type"),)


def _cells(part: Part, sheet: PolicySheet, *, waits: bool) -> tuple[Line, Line, Line]:
    """The mode, what the ladder decides, and whom it covers or what it is."""
    from ct_tui.heal.ontology_show import FolderView, ManifestView, OptOutView

    policy, thing = sheet.view.policy, part.thing
    if isinstance(thing, FolderView):
        return mode_words(thing.mode), _verdict(sheet.folders.get(part.key)), _entities(thing.entities or 0)
    if isinstance(thing, ManifestView):
        return _manifest_cells(thing)
    if isinstance(thing, OptOutView):
        return (say("◇ opted out", "dim"),), NOTHING, (data(thing.entity, "faint"),)
    if part.kind == "drift":
        words = (say("! waits", "warn"),) if waits else (say("✓ confirmed", "ok"),)
        return words, NOTHING, (say("c confirms", "dim"),) if waits else (say("P, then a", "dim"),)
    if part.kind == "default":
        covered = sheet.coverage.uncovered + sheet.coverage.pathless
        return mode_words(policy.default), _verdict(sheet.host), _entities(covered)
    if part.kind == "schema":
        return (say("–", "faint"),), NOTHING, (data(policy.schema or "not set", "type" if policy.schema else "faint"),)
    return (say("! unusable", "bad"),), NOTHING, (data(getattr(thing, "message", ""), "dim"),)


def _manifest_cells(found: ManifestView) -> tuple[Line, Line, Line]:
    known = found.row.vocabulary
    if known is None:
        return mode_words(found.row.mode), (say("! broken", "bad"),), (say("cannot be read", "bad"),)
    words: Line = (data(known.fallback, "type"),) if known.fallback else (say("no fallback", "warn"),)
    words += (say(", ", "dim"), counted(len(known.names), "type", ink="dim"))
    usable = (say("✓ usable", "ok"),) if found.usable else (say("‖ holds", "warn" if found.row.strict else "dim"),)
    return mode_words(found.row.mode), usable, words


def _entities(count: int) -> Line:
    return (number(count, "strong"), say(" entity" if count == 1 else " entities", "dim"))


def _verdict(decision: Decision | None) -> Line:
    return verdict_words(decision.verdict) if decision is not None else NOTHING


def _paper(part: Part, sheet: PolicySheet, *, waits: bool) -> Iterator[Line]:
    from ct_tui.heal.ontology_show import FolderView, ManifestView, OptOutView

    thing = part.thing
    if isinstance(thing, FolderView):
        return policypapers.folder_paper(thing, sheet, _ties(sheet))
    if isinstance(thing, ManifestView):
        return policypapers.manifest_paper(thing, sheet)
    if isinstance(thing, OptOutView):
        return policypapers.opt_out_paper(thing, sheet)
    if thing is not None:
        return policypapers.problem_paper(thing)
    if part.kind == "drift" and sheet.drift is not None:
        return policypapers.drift_paper(sheet.drift, confirmed=not waits)
    return policypapers.schema_paper(sheet) if part.kind == "schema" else policypapers.default_paper(sheet)


def _ties(sheet: PolicySheet) -> dict[str, Tie]:
    """The contradictions by each key that takes part in one."""
    return {key: tie for tie in sheet.view.policy.ties for key, _ in tie.entries}
