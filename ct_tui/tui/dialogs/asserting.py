"""The form that writes one fact the guide's way: one subject, one declared relation, one object, a window, a source.

Everything is looked up while it is typed and shown as it would be written; nothing is decided here. Names are those of
the brain, or new ones where somebody says so; the beginning is unknown unless a day is given; what the guide asks
about has to be answered, and what contradicts it is shown before it is written behind another question.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.containers import Horizontal
from textual.widgets import Input

from ct_tui.domain.assertions import QUESTIONS, Found, Question, SourceKind
from ct_tui.domain.errors import BadInput, CtTuiError
from ct_tui.domain.names import is_blank, label_key
from ct_tui.tui.asserted import assertion_lines, match_row, new_row, relation_row
from ct_tui.tui.asserting import (
    EndState,
    end_words,
    landing,
    landing_words,
    limit_words,
    limits_of,
    planned,
    source_words,
)
from ct_tui.tui.dialogs.assert_confirm import AssertConfirm
from ct_tui.tui.dialogs.base import Dialog, hints
from ct_tui.tui.messages import AssertPlanned, LookedUp, RelationsRead
from ct_tui.tui.text import data, number, say
from ct_tui.tui.widgets.choice import Choice
from ct_tui.tui.widgets.frame import Ends, Lines, Notice
from ct_tui.tui.widgets.rows import MemoryRows, RowList

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual import events
    from textual.app import ComposeResult
    from textual.widget import Widget

    from ct_tui.domain.assertions import Match, Relation
    from ct_tui.heal.assertions import AssertionResult, Request
    from ct_tui.tui.text import Line, Piece
    from ct_tui.tui.widgets.rows import Row

NEW = "+new"
"""The key of the candidate that makes a new entity."""

ENDS = ("subject", "object")

KINDS = (
    ("", "source"),
    (SourceKind.USER_STATED.value, "stated"),
    (SourceKind.USER_CONFIRMED.value, "confirmed"),
    (SourceKind.CONVERSATION.value, "talk"),
    (SourceKind.INFERRED.value, "inferred"),
    (SourceKind.WEB.value, "web"),
)

LABELS: dict[str, Piece] = {
    "subject": say("Subject", "head"),
    "subject-type": say("  new, a", "dim"),
    "relation": say("Relation", "head"),
    "object": say("Object", "head"),
    "object-type": say("  new, a", "dim"),
    "from": say("From", "head"),
    "to": say("To", "head"),
    "source": say("Source", "head"),
    "kind": say("Known by", "head"),
    "confidence": say("Confidence", "head"),
    "statement": say("Words", "head"),
    Question.START_IS_NOW.value: say("? Now", "warn"),
    Question.START_IN_FUTURE.value: say("? Future", "warn"),
    Question.YEAR_DIFFERS.value: say("? Year", "warn"),
}


class AssertDialog(Dialog):
    """One fact as a form. The arrows go through the candidates while a name or a relation is typed."""

    KEYS = {**{str(n): "date_typed" for n in range(10)}, "j": "do_dialog_down", "k": "do_dialog_up"}  # noqa: RUF012

    def __init__(self, done: Callable[[AssertionResult], None], *, subject: str = "") -> None:
        super().__init__(
            say("Assert one fact", "title"),
            say(" · one subject, one relation, one object", "dim"),
        )
        self._done = done
        self._given = subject
        self._ends = {name: EndState() for name in ENDS}
        self._relations: tuple[Relation, ...] | None = None
        self._result: AssertionResult | None = None
        self._generation = 0

    # Composition

    def compose_body(self) -> ComposeResult:
        """The fields, the candidates, and what would be written."""
        yield from self._end_rows("subject")
        yield self._row("relation", Input(placeholder="such as worksFor", compact=True, id="relation"))
        yield from self._end_rows("object")
        yield self._row("from", Choice((("unknown", "unknown"), ("day", "on a day")), id="from"), _day("start"))
        yield self._row("to", Choice((("open", "still true"), ("day", "on a day")), id="to"), _day("end"))
        yield self._row("source", Input(placeholder="imessage:turn-4812 or https://…", compact=True, id="source"))
        yield self._row("kind", Choice(KINDS, id="kind"), status=False)
        yield self._row("confidence", Input(placeholder="usual", compact=True, id="confidence"))
        yield self._row("statement", Input(placeholder="as it was said, if known", compact=True, id="statement"))
        for question in Question:
            yield self._row(
                question.value, Choice((("no", "not answered"), ("yes", "yes, I mean it")), id=question.value)
            )
        yield Lines(((say("Who is meant?", "head"),),), id="candidates-head")
        yield RowList(((say("Nothing to choose among yet.", "dim"),),), id="candidates")
        yield Notice(id="planned")

    def _end_rows(self, name: str) -> ComposeResult:
        yield self._row(name, Input(placeholder="a name or an id", compact=True, id=name))
        yield self._row(f"{name}-type", Input(placeholder="type, or empty", compact=True, id=f"{name}-type"))

    @staticmethod
    def _row(name: str, *widgets: Widget, status: bool = True) -> Horizontal:
        tail = (Ends(id=f"{name}-status"),) if status else ()
        label = Lines(((LABELS[name],),), classes="form-label")
        return Horizontal(label, *widgets, *tail, id=f"row-{name}", classes="form-row")

    def prepare(self) -> None:
        """Nothing is known yet, except the entity that the form was opened on."""
        for name in ENDS:
            self.query_one(f"#row-{name}-type").display = False
        for question in Question:
            self.query_one(f"#row-{question.value}").display = False
            self._say(question.value, (say("asked below; → answers", "dim"),))
        self._fit_days()
        self._show_states()
        if self._given:
            self._input("subject").value = self._given

    def begin(self) -> None:
        """The subject, unless it is given."""
        self.set_focus(self._input("relation" if self._given else "subject"))

    def fields(self) -> list[Widget]:
        """The fields in order, those that are shown."""
        names = ["subject", "subject-type", "relation", "object", "object-type", "from", "start", "to", "end", "source"]
        names += ["kind", "confidence", "statement", *(q.value for q in Question)]
        found = [self.query_one(f"#{name}") for name in names]
        return [w for w in found if w.display and (w.parent is None or getattr(w.parent, "display", True))]

    def object_to(self, *line: Piece) -> None:
        """Say what is missing, in sight even where the form is longer than the screen."""
        super().object_to(*line)
        box = self.query_one("#box")
        self.call_after_refresh(box.scroll_end, animate=False)

    def hint(self) -> Line:
        """The keys of the form."""
        return hints(("⏎", "take, go on, write"), ("↑↓", "choose"), ("⇥", "next"), ("esc", "leave"))

    def _input(self, name: str) -> Input:
        return self.query_one(f"#{name}", Input)

    def _choice(self, name: str) -> Choice:
        return self.query_one(f"#{name}", Choice)

    def _value(self, name: str) -> str:
        return self._input(name).value.strip()

    @property
    def _here(self) -> str:
        """The name of the field with the keyboard."""
        return (self.focused.id or "") if self.focused is not None else ""

    # Typing

    def on_input_changed(self, event: Input.Changed) -> None:
        """A field says something else."""
        event.stop()
        name = event.input.id or ""
        if name in ENDS:
            self._name_typed(name)
        elif name.removesuffix("-type") in ENDS:
            self._ask_landing(name.removesuffix("-type"))
        self.changed()

    def on_choice_changed(self, event: Choice.Changed) -> None:
        """A day is wanted or not, another kind of source, a question answered."""
        event.stop()
        self._fit_days()
        if event.choice.id in {"from", "to"} and event.choice.value == "day":
            self.set_focus(self._input("start" if event.choice.id == "from" else "end"))
        self.changed()

    def date_typed(self, key: str) -> None:
        """A digit on one of the two window fields begins a date."""
        if self._here not in {"from", "to"}:
            return
        name = "start" if self._here == "from" else "end"
        self._choice(self._here).choose("day")
        self._fit_days()
        self._input(name).value = key
        self._input(name).cursor_position = 1
        self.set_focus(self._input(name))

    def _fit_days(self) -> None:
        for choice, name in (("from", "start"), ("to", "end")):
            self._input(name).display = self._choice(choice).value == "day"

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        """Another field, other candidates."""
        del event
        self._show_candidates()

    # Names

    def _name_typed(self, name: str) -> None:
        """Look the name up; whatever was picked for another text is forgotten."""
        end = self._ends[name]
        text = self._value(name)
        if end.picked is not None and text in {end.picked.name, end.picked.id}:
            return
        self._ends[name] = EndState(generation=end.generation + 1)
        self.query_one(f"#row-{name}-type").display = False
        self._relations = None
        bench, generation = self.session.bench, end.generation + 1
        if bench is not None and not is_blank(text):
            self.station.look(
                f"name:{name}", "looking a name up", lambda: LookedUp(name, generation, bench.look_up(text)), self
            )

    def on_looked_up(self, message: LookedUp) -> None:
        """The name is looked up; an answer to what was typed before is dropped."""
        end = self._ends[message.name]
        if end.generation != message.generation:
            return
        if message.lookup is not None:
            end.lookup = message.lookup
            if message.name == "subject" and self._given and end.match is not None:
                self._given = ""
                self._pick("subject", end.match)
        else:
            end.lands, end.error = message.lands, message.error
        self._ask_relations()
        self.changed()

    def _pick(self, name: str, match: Match) -> None:
        end = self._ends[name]
        end.picked, end.new = match, False
        self._input(name).value = data(match.name).text
        self.query_one(f"#row-{name}-type").display = False
        self._ask_relations()

    def _make_new(self, name: str) -> None:
        """It is a new entity, through the gate: because somebody said so, never by itself."""
        end = self._ends[name]
        end.new, end.picked = True, None
        self.query_one(f"#row-{name}-type").display = True
        self._ask_landing(name)
        self.set_focus(self._input(f"{name}-type"))

    def _ask_landing(self, name: str) -> None:
        """What a new entity would land as."""
        end, bench = self._ends[name], self.session.bench
        if not end.new or bench is None:
            return
        end.generation += 1
        generation, label = end.generation, self._value(f"{name}-type") or None
        self.station.look(f"name:{name}", "asking the gate", lambda: landing(bench, name, generation, label), self)

    # Relations

    def _ask_relations(self) -> None:
        """The relations whose signature fits the two ends."""
        source, target = (self._ends[name] for name in ENDS)
        bench = self.session.bench
        self._relations = None
        if bench is None or source.type is None or target.type is None:
            return
        types = (source.type, target.type)
        ids = tuple(end.match.id if end.match is not None and not end.new else None for end in (source, target))
        self.station.look(
            "relations",
            "finding the relations that fit",
            lambda: RelationsRead(types, bench.relations_between(*types, ids)),
            self,
        )

    def on_relations_read(self, message: RelationsRead) -> None:
        """The relations are known, unless the ends changed meanwhile."""
        if message.types == tuple(self._ends[name].type for name in ENDS):
            self._relations = message.relations
            self._show_states()
            self._show_candidates()

    # What would be written

    def changed(self) -> None:
        """Anything changed: have what would be written worked out anew."""
        self._generation += 1
        self._result = None
        self._show_states()
        self._show_candidates()
        bench, generation = self.session.bench, self._generation
        if bench is None or self._missing() is not None:
            self.query_one("#planned", Notice).show()
            self._show_questions(())
            return
        try:
            request = self._request()
        except CtTuiError as error:
            self.on_assert_planned(AssertPlanned(generation, None, error))
            return
        self.station.look(
            "planned", "working out what would be written", lambda: planned(bench, request, generation), self
        )

    def on_assert_planned(self, message: AssertPlanned) -> None:
        """Show what would be written, or why it would not."""
        if message.generation != self._generation:
            return
        self._result = message.result
        notice = self.query_one("#planned", Notice)
        if message.error is not None:
            error = message.error
            remedy = ((say("→ ", "key"), data(error.remedy)),) if error.remedy else ()
            details = tuple((say("  · ", "dim"), data(line)) for line in error.details[:5])
            notice.show((say("✗ ", "bad"), data(error.message)), *details, *remedy)
            self._show_questions(())
        elif message.result is not None:
            self._show_questions(message.result.assertion.questions)
            notice.show(*assertion_lines(message.result.assertion))

    def _show_questions(self, questions: tuple[Question, ...]) -> None:
        for question in Question:
            row = self.query_one(f"#row-{question.value}")
            if row.display and question not in questions:
                self._choice(question.value).choose("no")
            row.display = question in questions

    def _request(self) -> Request:
        """What the fields say; raises BadInput where they cannot mean anything."""
        from ct_tui.heal.assertions import Request

        source, target = (self._ends[name] for name in ENDS)
        return Request(
            self._asked("subject"),
            self._value("relation"),
            self._asked("object"),
            self._value("source"),
            self._day("from", "start"),
            self._day("to", "end"),
            self._confidence(),
            self._choice("kind").value or None,
            self._value("statement"),
            self._value("subject-type") if source.new else None,
            self._value("object-type") if target.new else None,
            tuple(q.value for q in Question if self._choice(q.value).value == "yes"),
        )

    def _asked(self, name: str) -> str:
        end = self._ends[name]
        return end.match.id if end.match is not None and not end.new else self._value(name)

    def _day(self, choice: str, name: str) -> str | None:
        if self._choice(choice).value != "day":
            return None
        text = self._value(name)
        if not text:
            raise BadInput("the day is missing", "write it as 2023, 2023-05 or 2023-05-17, or choose the other")
        return text

    def _confidence(self) -> float | None:
        text = self._value("confidence").replace(",", ".")
        if not text:
            return None
        try:
            return float(text)
        except ValueError as error:
            raise BadInput(f"{text!r} is no number", "confidence goes from above 0 to 1, such as 0.7") from error

    # States beside the fields

    def _say(self, name: str, line: Line) -> None:
        self.query_one(f"#{name}-status", Ends).show(line)

    def _show_states(self) -> None:
        for name in ENDS:
            self._say(name, end_words(self._ends[name], self._value(name)))
            end = self._ends[name]
            if end.new:
                self._say(f"{name}-type", landing_words(end))
        self._say("relation", self._relation_words())
        unknown = self._choice("from").value == "unknown"
        self._say("from", (say("nobody knows since when", "dim") if unknown else say("when it began", "dim"),))
        open_end = self._choice("to").value == "open"
        self._say("to", (say("as far as anybody knows", "dim") if open_end else say("when it ended", "dim"),))
        self._say("source", source_words(self._value("source")))
        self._say("confidence", self._limit_words())
        self._say("statement", (say("checked for the year it names", "dim"),))

    def _relation_words(self) -> Line:
        source, target = (self._ends[name].type for name in ENDS)
        if source is None or target is None:
            return (say("those that fit come with both ends", "dim"),)
        arrow: Line = (data(source, "type"), say(" → ", "faint"), data(target, "type"))
        if self._relations is None:
            return arrow
        if not self._relations:
            return (say("✗ none is declared for ", "bad"), *arrow)
        wanted = label_key(self._value("relation"))
        if any(label_key(r.name) == wanted for r in self._relations):
            return (say("✓ ", "ok"), *arrow)
        return (number(len(self._relations), "strong"), say(" fit ", "dim"), *arrow)

    def _limit_words(self) -> Line:
        limits = limits_of(self._value("source"), self._choice("kind").value or None)
        self._input("confidence").placeholder = "usual" if limits is None else f"{limits.usual:g}"
        return limit_words(limits)

    # Candidates

    @property
    def candidates(self) -> RowList:
        """The list to choose from."""
        return self.query_one("#candidates", RowList)

    def _show_candidates(self) -> None:
        """What the arrows choose among in the field with the keyboard; without any the room is given back."""
        here = self._here
        rows, words = [], say("Who is meant?", "head")
        if here in ENDS:
            rows = self._name_rows(here)
        elif here == "relation" and self._relations is not None:
            rows, words = self._relation_rows(), say("Relations that fit both ends", "head")
        self.query_one("#candidates-head", Lines).show((words,))
        for name in ("#candidates-head", "#candidates"):
            self.query_one(name).display = bool(rows)
        self.candidates.show(MemoryRows(rows, [row.key for row in rows]))

    def _name_rows(self, name: str) -> list[Row]:
        end = self._ends[name]
        if end.lookup is None or end.picked is not None or end.new:
            return []
        sure = () if end.lookup.entity is None else (end.lookup.entity,)
        rows = [match_row(match) for match in (*sure, *end.lookup.candidates)]
        if end.lookup.found in {Found.NEAR, Found.UNKNOWN}:
            rows.append(new_row(NEW, self._value(name)))
        return rows if len(rows) > len(sure) else []

    def _relation_rows(self) -> list[Row]:
        wanted = label_key(self._value("relation"))
        relations = self._relations or ()
        if any(label_key(r.name) == wanted for r in relations):
            return []
        near = [r for r in relations if wanted in label_key(r.name)]
        return [relation_row(r) for r in (near or relations)]

    def _take(self) -> bool:
        """Take the candidate under the cursor where the field needs one; whether there was one to take."""
        here, row = self._here, self.candidates.current
        if row is None or not self.candidates.display:
            return False
        if here in ENDS:
            end = self._ends[here]
            if row.key == NEW:
                self._make_new(here)
            else:
                lookup = end.lookup
                found = (lookup.entity, *lookup.candidates) if lookup is not None else ()
                match = next((m for m in found if m is not None and m.id == row.key), None)
                if match is None:
                    return False
                self._pick(here, match)
        elif here == "relation":
            self._input("relation").value = row.key
        self.changed()
        return True

    # Going on

    def _missing(self) -> tuple[str, Line] | None:
        """The first field that is missing, with what to say."""
        for name in ENDS:
            if self._ends[name].type is None:
                return name, self._unsettled(name)
        if not self._value("relation"):
            return "relation", (say("The relation is missing; where none fits, nothing is written."),)
        if not self._value("source"):
            return "source", (say("The source is missing: without one nothing is written."),)
        return None

    def _unsettled(self, name: str) -> Line:
        """Why an end is not settled."""
        error = self._ends[name].error
        if error is not None:
            return (data(error.message), *((say("  → ", "key"), data(error.remedy)) if error.remedy else ()))
        subject = say("Whom or what is it about? The name is not settled yet.")
        return (subject,) if name == "subject" else (say("The object is not settled yet."),)

    async def do_dialog_accept(self) -> None:
        """Take the candidate, else go to what is missing, else ask to write."""
        if self.over:
            return
        self.content_again()
        here = self._here
        settled = here in ENDS and self._ends[here].type is not None
        if not settled and self._take():
            self._go_on()
            return
        missing = self._missing()
        if missing is not None:
            name, words = missing
            if name == here or (name in ENDS and self._value(name)):
                self.object_to(*words)
            self.set_focus(self._input(name))
            return
        await self._ask_to_write()

    def _go_on(self) -> None:
        """To the field that is missing next, where there is one; a new entity's type first."""
        missing = self._missing()
        if missing is not None and not self._here.endswith("-type"):
            self.set_focus(self._input(missing[0]))

    async def _ask_to_write(self) -> None:
        result = self._result
        if result is None:
            self.object_to(say("It cannot be written as it stands; what is wrong is said below the fields."))
            return
        open_ones = [q for q in result.assertion.questions if self._choice(q.value).value != "yes"]
        if open_ones:
            self.object_to(say("Answer this first: "), data(QUESTIONS[open_ones[0]]))
            self.set_focus(self._choice(open_ones[0].value))
            return
        await self.station.ask(AssertConfirm(result, self._request(), self._written))

    def _written(self, result: AssertionResult) -> None:
        self.close()
        self._done(result)


def _day(name: str) -> Input:
    hint = "2023, 2023-05 or 2023-05-17"
    return Input(placeholder=hint, compact=True, select_on_focus=False, id=name, classes="form-day")
