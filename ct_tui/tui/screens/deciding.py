"""What the deciding keys do on the desk: from the row under the cursor at that key to a ruling that can be signed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ct_tui.domain.errors import BadInput
from ct_tui.domain.names import is_blank
from ct_tui.domain.queue import EntityView, ItemKind, QueueItem
from ct_tui.tui.answering import accept_dialog, merge_dialog, open_duplicates, open_lint
from ct_tui.tui.messages import ProposalsRead
from ct_tui.tui.repairing import asks_about_edges, declare_dialog, item_dialog, names_of_item
from ct_tui.tui.screens.base import ViewScreen
from ct_tui.tui.text import NOTHING, Piece, blank, counted, data, number, say

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ct_tui.domain.rulings import Body
    from ct_tui.heal.workbench import Workbench
    from ct_tui.tui.dialogs.ruling import Decided, RulingDialog

MAPPED = frozenset(
    {
        ItemKind.UNDECLARED,
        ItemKind.DEGRADED,
        ItemKind.GATE_SKIPPED,
        ItemKind.UNLABELED,
        ItemKind.BLANK,
        ItemKind.PROPOSAL,
    }
)
"""Questions that a declared type answers."""

LABELLED = frozenset({ItemKind.UNDECLARED, ItemKind.DEGRADED, ItemKind.GATE_SKIPPED})
"""Questions about a label that a ruling can declare or keep by its name."""

ANSWERED_APART = frozenset({ItemKind.EDGE, ItemKind.DUPLICATE, ItemKind.FINDING})
"""Questions that are left as they are by rulings of their own."""

OTHERWISE = {
    ItemKind.DEAD_ALIAS: "u revokes that ruling; or rule so that its target is declared.",
    ItemKind.SHIELDED: "A shielded entity is never retyped: x keeps it out of the queue.",
    ItemKind.MANIFEST: "A manifest that cannot be read is mended in the app, not by a ruling.",
    ItemKind.FINDING: "x accepts the findings; L shows them one by one.",
    ItemKind.ROW: "Unreadable rows are never written; they are mended in the app.",
}
"""What to do with questions that no type answers."""


class Deciding(ViewScreen):
    """The part of the desk that rules."""

    # What is decided on, read at the key

    def _questions(self) -> tuple[QueueItem, ...]:
        """The marked questions, else the one under the cursor."""
        return self._marked_questions() or ((self.item,) if self.item is not None else ())

    def _marked_questions(self) -> tuple[QueueItem, ...]:
        return tuple(row.subject for row in self.rows.marked() if isinstance(row.subject, QueueItem))

    def _entities(self) -> tuple[EntityView, ...]:
        """The marked entities, else the one under the cursor."""
        marked = tuple(row.subject for row in self.rows.marked() if isinstance(row.subject, EntityView))
        if marked:
            return marked
        subject = self.row.subject if self.row is not None else None
        return (subject,) if isinstance(subject, EntityView) else ()

    def _mapped(self) -> tuple[QueueItem, ...]:
        """The questions that a type can answer; raises BadInput with what to do instead."""
        questions = self._questions()
        for item in questions:
            if item.kind not in MAPPED:
                raise BadInput(f"{item.label}: a type is no answer here.", OTHERWISE.get(item.kind, ""))
        return questions

    # Mapping

    async def do_rule_take(self, key: str) -> None:
        """Take a suggestion by its number."""
        item = self.item
        at = int(key) - 1
        if item is None or at >= len(item.suggestions):
            count = 0 if item is None else len(item.suggestions)
            self.tell(say("– There is no suggestion "), data(key, "key"), say(": there are "), number(count), say("."))
            return
        if item.kind is ItemKind.EDGE:
            await self._mend(item, at + 1)
            return
        if item.kind is ItemKind.DUPLICATE:
            await self._open(merge_dialog(self._questions(), at, self._decided))
            return
        await self._map(at=item.suggestions[at].type)

    async def do_rule_map(self) -> None:
        """Choose among all declared types, or among the repairs of edges."""
        item = self.item
        if item is not None and item.kind is ItemKind.EDGE:
            await self._mend(item, 1)
            return
        if item is not None and item.kind is ItemKind.DUPLICATE:
            entity = self._entities()[:1]
            await self._open(merge_dialog((item,), entity[0].id if entity else 0, self._decided))
            return
        await self._map(search=True)

    async def _mend(self, item: QueueItem, at: int | str) -> None:
        """Answer a question about edges with one of its repairs."""
        if len(self._questions()) > 1:
            raise BadInput("Several kinds of edges are not repaired at once.", "esc takes the marks away.")
        await self._open(item_dialog(item, self._decided, at))

    async def _map(self, at: str = "", *, search: bool = False) -> None:
        from ct_tui.tui.dialogs.decide import MapDialog

        questions = self._mapped()
        first = questions[0]
        vocabulary = self.session.vocabulary
        if vocabulary is None:
            self.tell(say("– The vocabulary is still being read.", "warn"))
            return

        def make(bench: Workbench, target: str) -> tuple[Body, ...]:
            return tuple(body for item in questions for body in bench.settle(item, target))

        label = ", ".join(item.label for item in questions)
        await self._open(
            MapDialog(
                *_title(questions),
                label=label,
                make=make,
                suggestions=first.suggestions,
                vocabulary=vocabulary,
                done=self._decided,
                at=at,
                search=search,
            )
        )

    async def do_rule_retype(self) -> None:
        """Retype the marked entities, or the one under the cursor."""
        from ct_tui.tui.dialogs.decide import MapDialog

        entities, item, vocabulary = self._entities(), self.item, self.session.vocabulary
        if not entities:
            raise BadInput("Put the cursor on an entity, or mark some.", "l opens the group under the cursor.")
        if vocabulary is None:
            return
        ids = tuple(entity.id for entity in entities)
        types = dict.fromkeys(entity.type for entity in entities)
        await self._open(
            MapDialog(
                say("Retype ", "title"),
                data(entities[0].name, "title") if len(ids) == 1 else counted(len(ids), "entity", "entities", "title"),
                say(" · now ", "dim"),
                data(", ".join(types), "type"),
                label=", ".join(types),
                make=lambda bench, target: bench.retypes(target, ids),
                suggestions=item.suggestions if item is not None else (),
                vocabulary=vocabulary,
                done=self._decided,
                search=item is None or not item.suggestions,
            )
        )

    # Views that go on with a question

    async def do_view_lint(self) -> None:
        """The findings, those of the rule asked about first."""
        item = self.item
        await open_lint(self.station, item if item is not None and item.kind is ItemKind.FINDING else None)

    async def do_view_duplicates(self) -> None:
        """The duplicates, the group asked about first."""
        item = self.item
        await open_duplicates(self.station, item if item is not None and item.kind is ItemKind.DUPLICATE else None)

    # Declaring, keeping, putting off

    async def do_rule_legalize(self) -> None:
        """Declare the type itself."""
        from ct_tui.tui.dialogs.decide import DeclareDialog

        item, vocabulary = self.item, self.session.vocabulary
        if item is None or vocabulary is None:
            return
        if asks_about_edges(item):
            await self._open(declare_dialog(names_of_item(item), self.session, self._decided))
            return
        if len(self._marked_questions()) > 1:
            raise BadInput("Types are declared one by one, each with its own description.", "esc takes the marks away.")
        if item.kind not in LABELLED or is_blank(item.label):
            raise BadInput("Only a label can be declared.", OTHERWISE.get(item.kind, "m maps it to a declared type."))
        await self._open(DeclareDialog(item, vocabulary, done=self._decided))

    async def do_rule_keep(self) -> None:
        """Leave it as it is."""
        from ct_tui.tui.dialogs.decide import KeepDialog

        marked = self._marked_questions()
        entities = () if marked else self._entities()
        item = marked[0] if marked else self.item
        if item is not None and item.kind is ItemKind.EDGE:
            await self._mend(item, "keep")
        elif item is not None and item.kind in {ItemKind.DUPLICATE, ItemKind.FINDING}:
            await self._open(accept_dialog(marked or (item,), self._decided))
        elif entities:
            ids = tuple(entity.id for entity in entities)
            title = (counted(len(ids), "entity", "entities", "title"),)
            await self._open(KeepDialog(say("Keep ", "title"), *title, kept=((None, ids),), done=self._decided))
        elif item is not None:
            questions = marked or (item,)
            odd = next((question for question in questions if question.kind in ANSWERED_APART), None)
            if odd is not None:
                raise BadInput(f"{odd.label} is a question of another kind.", "Mark only questions of one kind.")
            many = len(questions) > 1
            named = counted(len(questions), "question", ink="title") if many else data(item.label, "title")
            kept = [_kept(question) for question in questions]
            await self._open(KeepDialog(say("Keep ", "title"), named, kept=kept, done=self._decided))

    def do_rule_defer(self) -> None:
        """Put the marked questions, or the one under the cursor, last for this session."""
        questions = self._questions()
        if not questions:
            self.tell(say("– Nothing is asked here.", "warn"))
            return
        at = self.rows.at
        for item in questions:
            self.session.defer(item)
        self.rows.clear_marks()
        self.show_rows()
        self.rows.move_to(min(at, self.rows.count - 1))
        named = data(questions[0].label, "type") if len(questions) == 1 else counted(len(questions), "question")
        self.tell(say("· Put off: "), named, say(". At the end of the queue now, for this session only.", "dim"))

    # Taking back and doing again

    async def do_rule_revoke(self) -> None:
        """Revoke the last ruling of mine, or the one that cannot act where that is the question."""
        from ct_tui.tui.dialogs.decide import RevokeDialog

        item, table = self.item, self.session.table
        ruling = self.session.revocable()
        if item is not None and item.kind is ItemKind.DEAD_ALIAS and table is not None:
            entry = table.get(int(item.data["seq"]))
            ruling = entry.ruling if entry is not None else None
        if ruling is None:
            raise BadInput("No ruling of yours acts.", "R lists all rulings; u there revokes the one chosen.")
        await self._open(RevokeDialog(ruling, done=self._decided))

    async def do_rule_repeat(self) -> None:
        """The last ruling again, for this question."""
        verb, target = self.session.last_verb, self.session.last_target
        if verb == "map":
            await self._map(at=target)
        elif verb == "repair" and self.item is not None:
            await self._mend(self.item, target)
        elif verb == "merge":
            await self.do_rule_map()
        elif verb in {"keep", "apart", "except"}:
            await self.do_rule_keep()
        elif verb == "declare":
            await self.do_rule_legalize()
        else:
            raise BadInput("Nothing was ruled in this session yet.", "m maps the question to a type.")

    def do_rule_adopt(self) -> None:
        """Read the founding proposals, then let them be adopted."""
        self.station.look("proposals", "reading the proposals", lambda: ProposalsRead(founding()), self)

    async def on_proposals_read(self, message: ProposalsRead) -> None:
        """The proposals are read: those that are not ruled on yet can be adopted."""
        from ct_tui.tui.dialogs.decide import AdoptDialog

        table = self.session.table
        ruled = {ruling.body.subject for ruling in table.valid()} if table is not None else set()
        open_ones = [pair for pair in message.proposals if pair[0].subject not in ruled]
        if not open_ones:
            self.tell(say("✓ Every founding proposal is ruled on already.", "ok"))
            return
        await self._open(AdoptDialog(open_ones, done=self._decided))

    async def _open(self, dialog: RulingDialog) -> None:
        await self.station.ask(dialog)

    def _decided(self, decided: Decided) -> None:
        """It was signed: say so, and what comes next."""
        if decided.verb != "revoke":
            self.session.last_verb, self.session.last_target = decided.verb, decided.target
        self.rows.clear_marks()
        signed = self.session.mine[-decided.rulings :]
        self.tell(
            say("✓ Signed", "ok"),
            *((say(" #", "dim"), number(signed[0], "strong")) if signed else NOTHING),
            *((say("–", "dim"), number(signed[-1], "strong")) if len(signed) > 1 else NOTHING),
            blank(1),
            data(decided.words, "type"),
            say("  P shows what heal would do.", "dim"),
        )


def _title(questions: Sequence[QueueItem]) -> tuple[Piece, ...]:
    first = questions[0]
    if len(questions) > 1:
        return (counted(len(questions), "question", ink="title"), say(" · one target for all", "dim"))
    return (
        data(first.label, "title"),
        say(" · ", "dim"),
        data(first.kind.value, "dim"),
        say(" · ", "dim"),
        counted(first.count, "entity", "entities", "dim"),
    )


def _kept(item: QueueItem) -> tuple[str | None, tuple[str, ...]]:
    """What a keep ruling on a question names: its label, or its entities."""
    if item.kind in LABELLED and not is_blank(item.label):
        return item.label, ()
    if item.kind is ItemKind.PROPOSAL and isinstance(item.data.get("type"), str):
        return str(item.data["type"]), ()
    if not item.entities:
        raise BadInput(f"{item.label}: there is nothing here to keep.", OTHERWISE.get(item.kind, ""))
    if item.count > len(item.entities):
        raise BadInput(f"{item.count} entities are too many to name in one ruling.", "Open the group and mark some.")
    return None, item.entities


def founding() -> tuple[tuple[Body, str], ...]:
    """The founding proposals that come with the program; raises TrustError."""
    from importlib.resources import as_file

    from ct_tui.policy.shipped import shipped
    from ct_tui.trust.proposals import read_proposals

    with as_file(shipped("aliases", "founding.yaml")) as file:
        return tuple((p.body, p.reason) for p in read_proposals(file))
