"""The rulings that a curator makes on questions: map to a type, declare a type, keep, revoke, adopt proposals."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.widgets import Input

from ct_tui.domain.errors import BadInput
from ct_tui.domain.manifest import TIER_FACT, EdgeType
from ct_tui.domain.names import label_key
from ct_tui.domain.rulings import SEED_FAMILY, Keep, Legalize, Revoke
from ct_tui.tui.dialogs.base import hints
from ct_tui.tui.dialogs.common import MarkedDialog, UntilDialog
from ct_tui.tui.dialogs.ruling import RulingDialog, required
from ct_tui.tui.edge_messages import SignaturesRead
from ct_tui.tui.papers import suggestion_line
from ct_tui.tui.text import blank, counted, data, fit, number, say
from ct_tui.tui.widgets.choice import Choice
from ct_tui.tui.widgets.edgepictures import arrow_words
from ct_tui.tui.widgets.frame import Lines
from ct_tui.tui.widgets.rows import MemoryRows, Row, RowList

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from textual.app import ComposeResult
    from textual.widget import Widget

    from ct_tui.domain.manifest import NodeType, Vocabulary
    from ct_tui.domain.queue import QueueItem, Suggestion
    from ct_tui.domain.rulings import Body, Ruling
    from ct_tui.heal.workbench import Workbench
    from ct_tui.tui.dialogs.ruling import Decided
    from ct_tui.tui.text import Line, Piece


class MapDialog(RulingDialog):
    """Which declared type it is: ranked suggestions first, then every type, narrowed by what is typed."""

    VERB = "map"
    KEYS = {str(n): "take" for n in range(1, 10)} | {
        "j": "do_dialog_down",
        "k": "do_dialog_up",
        "e": "edit",
        "slash": "search",
    }

    def __init__(
        self,
        *title: Piece,
        label: str,
        make: Callable[[Workbench, str], tuple[Body, ...]],
        suggestions: Sequence[Suggestion],
        vocabulary: Vocabulary,
        done: Callable[[Decided], None],
        at: str = "",
        search: bool = False,
    ) -> None:
        super().__init__(*title, done=done)
        self._label = label
        self._make = make
        self._suggestions = tuple(suggestions)
        self._vocabulary = vocabulary
        self._at = at
        self._search = search
        self._filled = ""
        # Where nothing speaks for a type, none is chosen before somebody looked for one.
        self._chosen = bool(suggestions or at)

    def compose_fields(self) -> ComposeResult:
        """The search field and the types."""
        yield Input(placeholder="type to search all declared types", compact=True, id="search")
        yield RowList(((say("No declared type is like that.", "dim"),),), id="types")

    def prepare(self) -> None:
        """Rank the types, and put the cursor on the one asked for."""
        super().prepare()
        self._rank("")
        if self._at:
            self.types.move_to_key(self._at)

    def begin(self) -> None:
        """Search, or choose among the suggestions."""
        self.set_focus(self.query_one("#search") if self._search else self.types)

    def own_fields(self) -> list[Widget]:
        """Search and types."""
        return [self.query_one("#search"), self.types]

    @property
    def types(self) -> RowList:
        """The list of types."""
        return self.query_one("#types", RowList)

    def hint(self) -> Line:
        """The keys of the dialog."""
        return hints(("⏎", "sign"), ("1-9", "take"), ("/", "search"), ("e", "edit the reason"), ("esc", "leave"))

    def target(self) -> str:
        """The type under the cursor, once one is chosen."""
        row = self.types.current
        return row.key if row is not None and self._chosen else ""

    def words(self) -> str:
        """What is decided."""
        return f"{self._label} → {self.target()}"

    def deciding(self) -> Callable[[Workbench], tuple[Body, ...]]:
        """The bodies for the type under the cursor."""
        target = self.target()
        if not target:
            raise BadInput(
                "choose a declared type", "type a part of its name, or ↓ to it; + on the desk declares a new one"
            )
        return lambda bench: self._make(bench, target)

    def take(self, key: str) -> None:
        """Put the cursor on a suggestion by its number."""
        at = int(key) - 1
        if at < len(self._suggestions):
            self.types.move_to_key(self._suggestions[at].type)

    def edit(self) -> None:
        """Edit the reason."""
        self.set_focus(self.reason)

    def search(self) -> None:
        """Search again."""
        self.set_focus(self.query_one("#search"))

    def typed(self, text: str) -> None:
        """Rank by what is typed."""
        self._chosen = self._chosen or bool(text.strip())
        self._rank(text)

    def on_row_list_moved(self, event: RowList.Moved) -> None:
        """Another type: another reason, another impact."""
        event.stop()
        self._chosen = self._chosen or self.types.at > 0
        self._fill_reason()
        self.changed()

    def _rank(self, query: str) -> None:
        from ct_tui.domain.suggest import types_by_name

        ranked = {label_key(s.type): (at, s) for at, s in enumerate(self._suggestions, 1)}
        nodes = list(types_by_name(self._vocabulary, query))
        if not query.strip():
            nodes.sort(key=lambda n: ranked.get(label_key(n.name), (99, None))[0])
        rows = [_type_row(node, ranked.get(label_key(node.name))) for node in nodes]
        self.types.show(MemoryRows(rows, [row.key for row in rows]))
        if query.strip():
            self.types.move_to(0)

    def _fill_reason(self) -> None:
        """The reason from the suggestion's evidence, as long as nobody wrote one."""
        from ct_tui.domain.suggest import default_reason

        target = self.target()
        if not target or self.reason.text.strip() not in {"", self._filled}:
            return
        suggestion = next((s for s in self._suggestions if label_key(s.type) == label_key(target)), None)
        self._filled = data(default_reason(self._label, target, suggestion)).text.strip()
        self.reason.text = self._filled


def _type_row(node: NodeType, ranked: tuple[int, Suggestion] | None) -> Row:
    def draw(width: int) -> Line:
        if ranked is not None:
            return (*suggestion_line(*ranked)[1:], blank(2), data("; ".join(ranked[1].why), "dim"))
        return (blank(3), *fit((data(node.name, "type"),), min(22, width // 2)), data(node.description, "dim"))

    return Row(node.name, node, draw, markable=False)


class DeclareDialog(RulingDialog):
    """A type is right from now on: its description, its parent, the manifests, and the edge signatures that it joins.

    `joins` are signatures that are taken in to begin with.
    """

    VERB = "declare"
    KEYS = {"space": "toggle", "asterisk": "toggle_all", "j": "do_dialog_down", "k": "do_dialog_up"}  # noqa: RUF012

    def __init__(
        self,
        item: QueueItem,
        vocabulary: Vocabulary,
        *,
        done: Callable[[Decided], None],
        joins: Sequence[EdgeType] = (),
    ) -> None:
        super().__init__(
            say("Declare ", "title"),
            data(item.label, "title"),
            say(" · ", "dim"),
            counted(item.count, "entity", "entities", "dim"),
            done=done,
            reason="",
        )
        self._item = item
        self._vocabulary = vocabulary
        self._joins = {_signature_key(edge): edge for edge in joins}

    def compose_fields(self) -> ComposeResult:
        """Description, parent, manifests and signatures."""
        yield Lines(((say("Description: what such an entity is, in one sentence", "head"),),), classes="label")
        yield Input(placeholder="what such an entity is, in one sentence", compact=True, id="description")
        yield Lines(((say("Parent type, or empty", "head"),),), classes="label")
        yield Input(placeholder="parent type, or none", compact=True, id="parent")
        rows = [(TIER_FACT, "tier_fact only")]
        if self._vocabulary.is_seed_family:
            rows.insert(0, (SEED_FAMILY, "every manifest of the seed family"))
        yield Choice(rows, id="manifests")
        yield Lines(((say("Edge signatures that it joins: space takes one in", "head"),),), classes="label")
        yield RowList(((say("looking for edges that would conform…", "dim"),),), id="joins")

    def prepare(self) -> None:
        """Have the signatures looked for that the type could join."""
        super().prepare()
        bench, label = self.session.bench, self._item.label
        if bench is not None:
            self.station.look("joins", "looking for signatures", lambda: SignaturesRead(bench.signatures(label)), self)

    def on_signatures_read(self, message: SignaturesRead) -> None:
        """They are known: those asked for are taken in."""
        offered = list(message.signatures)
        known = {_signature_key(edge) for edge, _ in offered}
        offered += [(edge, 0) for key, edge in self._joins.items() if key not in known]
        rows = [_signature_row(edge, count) for edge, count in offered]
        joins = self.joins
        joins.empty = ((say("No edge of this type waits for a signature.", "dim"),),)
        joins.show(MemoryRows(rows, [row.key for row in rows]))
        joins.marks = {row.key for row in rows if row.key in self._joins}
        joins.refresh()
        self.changed()

    @property
    def joins(self) -> RowList:
        """The list of signatures."""
        return self.query_one("#joins", RowList)

    def toggle(self) -> None:
        """Take a signature in or leave it out."""
        if self.focused is self.joins:
            self.joins.toggle_mark()
            self.changed()
        elif isinstance(self.focused, Choice):
            self.focused.step()

    def toggle_all(self) -> None:
        """Take every signature in, or none."""
        if self.focused is self.joins:
            self.joins.toggle_all()
            self.changed()

    def hint(self) -> Line:
        """The keys of the dialog."""
        return hints(("⏎", "sign"), ("⇥", "next field"), ("space", "in or out"), ("esc", "leave"))

    def own_fields(self) -> list[Widget]:
        """The fields in order."""
        return [self.query_one(f"#{name}") for name in ("description", "parent", "manifests", "joins")]

    def on_choice_changed(self, event: Choice.Changed) -> None:
        """Other manifests."""
        event.stop()
        self.changed()

    def words(self) -> str:
        """What is decided."""
        return f"declare {self._item.label}"

    def deciding(self) -> Callable[[Workbench], tuple[Body, ...]]:
        """The body from the fields."""
        description = required(self._value("description"), "a description", "say what such an entity is")
        parent = self._value("parent").strip()
        if parent and parent not in self._vocabulary:
            raise BadInput(f"{parent!r} is not declared, so it cannot be a parent", self._near(parent))
        spelled = self._vocabulary.canonical(parent) if parent else None
        manifests = (self.query_one("#manifests", Choice).value,)
        body = Legalize(self._item.label, description, spelled, manifests, self._joined())
        return lambda _: (body,)

    def _joined(self) -> tuple[EdgeType, ...]:
        """The signatures that are taken in; before the offered ones are known, those asked for."""
        rows = self.joins.marked()
        if not self.joins.count:
            return tuple(self._joins.values())
        return tuple(row.subject for row in rows if isinstance(row.subject, EdgeType))

    def _near(self, parent: str) -> str:
        from ct_tui.domain.suggest import types_by_name

        near = [node.name for node in types_by_name(self._vocabulary, parent)[:3]]
        return f"near: {', '.join(near)}" if near else ""

    def _value(self, name: str) -> str:
        return self.query_one(f"#{name}", Input).value


def _signature_key(edge: EdgeType) -> str:
    return repr((edge.name, edge.source_type, edge.target_type))


def _signature_row(edge: EdgeType, count: int) -> Row:
    def draw(width: int) -> Line:
        words: Line = (counted(count, "edge becomes valid", "edges become valid", "dim"),) if count else ()
        return (*fit(arrow_words(edge.name, edge.source_type, edge.target_type), max(20, width - 24)), blank(1), *words)

    return Row(_signature_key(edge), edge, draw)


class KeepDialog(UntilDialog):
    """Seen and left: out of the queue until a day or for good, always in the census.

    `kept` are the questions, each by its label or by its entities.
    """

    VERB = "keep"

    def __init__(
        self, *title: Piece, kept: Sequence[tuple[str | None, tuple[str, ...]]], done: Callable[[Decided], None]
    ) -> None:
        super().__init__(*title, done=done)
        self._kept = tuple(kept)

    def words(self) -> str:
        """What is decided."""
        if len(self._kept) > 1:
            return f"keep {len(self._kept)} questions"
        label, entities = self._kept[0]
        if label is not None:
            return f"keep {label}"
        return f"keep {counted(len(entities), 'entity', 'entities').text}"

    def deciding(self) -> Callable[[Workbench], tuple[Body, ...]]:
        """The bodies, all until the day of the field."""
        until = self.until()
        bodies = tuple(Keep(label, entities, until) for label, entities in self._kept)
        return lambda _: bodies


class RevokeDialog(RulingDialog):
    """A ruling stops acting from here on; what it did stays until it is undone."""

    VERB = "revoke"

    def __init__(self, ruling: Ruling, *, done: Callable[[Decided], None]) -> None:
        super().__init__(
            say("Revoke #", "title"),
            number(ruling.seq, "title"),
            say(": ", "title"),
            data(str(ruling.body), "title"),
            done=done,
        )
        self._ruling = ruling

    def begin(self) -> None:
        """The reason is what is missing."""
        self.set_focus(self.reason)

    def words(self) -> str:
        """What is decided."""
        return f"revoke #{self._ruling.seq}"

    def deciding(self) -> Callable[[Workbench], tuple[Body, ...]]:
        """The body."""
        body = Revoke(self._ruling.seq)
        return lambda _: (body,)


class AdoptDialog(MarkedDialog):
    """Proposals that come unsigned: adopting them, each or all, makes them the curator's rulings."""

    VERB = "adopt"

    def __init__(self, proposals: Sequence[tuple[Body, str]], *, done: Callable[[Decided], None]) -> None:
        super().__init__(say("Adopt proposals", "title"), drafts=proposals, done=done)

    def draft_row(self, at: int) -> Row:
        """One proposal with its reason."""
        body, reason = self.drafts[at]

        def draw(width: int) -> Line:
            return (blank(1), *fit((data(str(body), "type"),), max(20, width // 3)), blank(1), data(reason, "dim"))

        return Row(str(at), body, draw)

    def words(self) -> str:
        """What is decided."""
        return f"adopt {len(self.marked)} proposals"
