"""The ruling dialog: what is decided, its reason, what it would do, and the signature."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from textual.widgets import Input, TextArea

from ct_tui.domain.errors import BadInput, CtTuiError
from ct_tui.domain.visible import visible
from ct_tui.tui.dialogs.base import Dialog, hints
from ct_tui.tui.dialogs.keys import KeyDialog, PassphraseDialog
from ct_tui.tui.lanes import unexpected
from ct_tui.tui.messages import BodiesKnown, Failed, KeyWanted, PassphraseWanted, Refused, Signed, SignerSeen
from ct_tui.tui.signing import known_signer, sign
from ct_tui.tui.text import NOTHING, counted, data, drawn, number, say
from ct_tui.tui.widgets.frame import Ends, Lines, Notice

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from textual import events
    from textual.app import ComposeResult
    from textual.message import Message
    from textual.widget import Widget

    from ct_tui.domain.queue import Impact
    from ct_tui.domain.rulings import Body
    from ct_tui.heal.workbench import Workbench
    from ct_tui.tui.session import Signer
    from ct_tui.tui.text import Line, Piece

STALE_SECONDS = 0.3
"""How long the impact of the choice before may stand where that of the new one is not there yet."""


@dataclass(frozen=True)
class Decided:
    """What was signed, for the line that says so and for repeating it."""

    rulings: int
    words: str
    verb: str
    target: str = ""


class ReasonArea(TextArea):
    """The reason in a few lines; what is pasted is made inert first."""

    def __init__(self, text: str, words: str) -> None:
        super().__init__(
            text,
            placeholder=words,
            soft_wrap=True,
            show_line_numbers=False,
            compact=True,
            tab_behavior="focus",
            id="reason",
        )

    def on_focus(self) -> None:
        """What is typed goes on after what stands there; until then its beginning is in sight."""
        if self.cursor_location == (0, 0):
            self.move_cursor(self.document.end)

    async def _on_paste(self, event: events.Paste) -> None:
        """Paste text only: nothing that hides or steers."""
        event.stop()
        event.prevent_default()
        # A terminal sends the end of a pasted line as the key that ends one: a carriage return.
        text = event.text.replace("\r\n", "\n").replace("\r", "\n")
        self.insert(visible(text, newlines=True))


class RulingDialog(Dialog):
    """What every ruling needs: a subclass says what is decided (`bodies`) and what fields that takes."""

    VERB = ""
    REASON_WORDS = "Reason"
    NEEDS_REASON = True

    def __init__(self, *title: Piece, done: Callable[[Decided], None], reason: str = "") -> None:
        super().__init__(*title)
        self._done = done
        self._reason = visible(reason, newlines=True) if reason else ""
        self._generation = 0
        self._answered = 0
        self._objected = False
        self._bodies: tuple[Body, ...] = ()
        self._busy = False

    # Composition

    def compose_body(self) -> ComposeResult:
        """The fields, the reason, and what it would do."""
        yield from self.compose_fields()
        yield Lines(((drawn(self.REASON_WORDS, "head"),),), classes="label")
        yield ReasonArea(self._reason, self.REASON_WORDS)
        yield Lines(((say("If signed", "head"),),), classes="label")
        yield Notice(id="impact")
        yield Ends(id="signer")

    def compose_fields(self) -> ComposeResult:
        """The fields of this kind of ruling."""
        yield from ()

    def prepare(self) -> None:
        """Find out who signs and what it would do."""
        super().prepare()
        self.query_one("#impact", Notice).show((say("working it out…", "faint"),))
        places, chosen = self.session.places, self.session.signer
        self.station.look("signer", "finding the key", lambda: SignerSeen(known_signer(places, chosen)), self)
        self.changed()

    @property
    def reason(self) -> ReasonArea:
        """The reason's field."""
        return self.query_one(ReasonArea)

    def fields(self) -> list[Widget]:
        """The reason comes last."""
        return [*self.own_fields(), self.reason]

    def own_fields(self) -> list[Widget]:
        """The fields of this kind of ruling."""
        return []

    def hint(self) -> Line:
        """The keys of the dialog."""
        return hints(("⏎", "sign"), ("⇥", "next field"), ("esc", "leave"))

    # What is decided

    def deciding(self) -> Callable[[Workbench], tuple[Body, ...]]:
        """How to make the bodies from what the fields say now; raises BadInput where they do not say enough."""
        raise NotImplementedError

    def words(self) -> str:
        """What is decided, for the line that says that it was signed."""
        return ""

    def target(self) -> str:
        """The type chosen, for repeating it."""
        return ""

    def changed(self) -> None:
        """A field says something else: what would be signed and what it would do are worked out anew."""
        self._generation += 1
        bench, generation = self.session.bench, self._generation
        if bench is None:
            return
        try:
            make = self.deciding()
        except CtTuiError as error:
            self._show_impact((), error)
            return
        if self._objected:
            self._show_working()
        else:
            # What is shown is of the choice before: it is taken away where the new numbers let wait for them.
            self.set_timer(STALE_SECONDS, lambda: self._show_working(generation))
        self.station.look("impact", "working out the impact", lambda: _worked_out(bench, make, generation), self)

    def _show_working(self, generation: int | None = None) -> None:
        if generation is None or (generation == self._generation and self._answered != generation):
            self.query_one("#impact", Notice).show((say("working it out…", "faint"),))

    def on_bodies_known(self, message: BodiesKnown) -> None:
        """Show what it would do, unless something else is chosen meanwhile."""
        if message.generation == self._generation:
            self._answered = message.generation
            self._bodies = message.bodies
            self._show_impact(message.impacts, message.error)

    def _show_impact(self, impacts: Sequence[Impact], error: CtTuiError | None) -> None:
        self._objected = error is not None
        if error is not None:
            remedy = (say("  → ", "key"), data(error.remedy)) if error.remedy else NOTHING
            self.query_one("#impact", Notice).show((say("– ", "warn"), data(error.message), *remedy))
            return
        self.query_one("#impact", Notice).show(*self.impact_words(impacts))

    def impact_words(self, impacts: Sequence[Impact]) -> tuple[Line, ...]:
        """What it would do, for kinds that do something else than moving entities to say in their own words."""
        return impact_lines(impacts)

    # Who signs

    def on_signer_seen(self, message: SignerSeen) -> None:
        """Say who would sign."""
        signer = message.signer
        if signer is None or signer.principal is None:
            line: Line = (
                say("○ ", "warn"),
                say("You have no key to sign with yet: signing leads through making one.", "dim"),
            )
        else:
            line = (say("✎ signed as ", "dim"), data(signer.principal, "strong"))
        self.query_one("#signer", Ends).show(line)

    # Signing

    def do_dialog_accept(self) -> None:
        """Sign, once: a second press while it is being signed does nothing."""
        if self._busy or self.over:
            return
        try:
            make = self.deciding()
        except CtTuiError as error:
            self.refuse(error)
            return
        reason = self.reason.text.strip()
        if not reason and self.NEEDS_REASON:
            self.object_to(say("A reason is required: it is signed with the ruling."))
            self.set_focus(self.reason)
            return
        self._sign(make, self.reasons_of(visible(reason, newlines=True) if reason else reason))

    def do_dialog_cancel(self) -> None:
        """Leave, unless it is being signed just now."""
        if not self._busy:
            self.close()

    def reasons_of(self, typed: str) -> Callable[[Body], str]:
        """The reason that is signed with each body: what is typed, unless a body brings its own."""
        return lambda _: typed

    def _sign(self, make: Callable[[Workbench], tuple[Body, ...]], reason: Callable[[Body], str]) -> None:
        bench = self.session.bench
        if bench is None:
            return
        self._busy = True
        self.content_again()
        self.query_one("#dialog-hint", Ends).show((say("signing…", "warn"),))
        chosen, passphrases = self.session.signer, dict(self.session.passphrases)

        def job() -> Message:
            try:
                return sign(bench, [(body, reason(body)) for body in make(bench)], chosen, passphrases)
            except CtTuiError as error:
                return Refused(error)

        self.station.write("signing", job, self)

    def on_signed(self, message: Signed) -> None:
        """It stands in the table."""
        session = self.session
        session.signer = message.signer
        session.mine += [ruling.seq for ruling in message.rulings]
        self.close()
        self.station.read_all()
        self._done(Decided(len(message.rulings), self.words(), self.VERB, self.target()))

    def on_refused(self, message: Refused) -> None:
        """It was refused: say why, and let the fields be changed."""
        self._busy = False
        self.refuse(message.error)
        self.show_hint()

    def on_failed(self, message: Failed) -> None:
        """Something around it failed."""
        message.stop()
        self._busy = False
        self.refuse(message.error)
        self.show_hint()

    async def on_key_wanted(self, message: KeyWanted) -> None:
        """No key yet: make or choose one, then sign."""
        self._busy = False
        self.show_hint()
        await self.station.ask(KeyDialog(message.choices, self._with_signer))

    async def on_passphrase_wanted(self, message: PassphraseWanted) -> None:
        """The key is locked: ask once, then sign."""
        self._busy = False
        self.show_hint()
        signer = message.signer
        if message.wrong and signer.key is not None:
            self.session.passphrases.pop(signer.key, None)
        await self.station.ask(PassphraseDialog(signer, self._with_passphrase, wrong=message.wrong))

    def _with_signer(self, signer: Signer, passphrase: str) -> None:
        self.session.signer = signer
        self.on_signer_seen(SignerSeen(signer))
        if passphrase and signer.key is not None:
            self.session.passphrases[signer.key] = passphrase
        self.do_dialog_accept()

    def _with_passphrase(self, signer: Signer, passphrase: str) -> None:
        self.session.signer = signer
        if signer.key is not None:
            self.session.passphrases[signer.key] = passphrase
        self.do_dialog_accept()

    def on_input_changed(self, event: Input.Changed) -> None:
        """A field says something else."""
        event.stop()
        self.typed(event.value)

    def typed(self, text: str) -> None:  # noqa: ARG002 - which text it was matters to some fields only
        """Something was typed into a field."""
        self.changed()


def impact_lines(impacts: Sequence[Impact]) -> tuple[Line, ...]:
    """What rulings would do, summed: entities that move, edges that gain or lose, what is spared."""
    moves = sum(i.moves for i in impacts)
    gained, broken = sum(i.gained for i in impacts), sum(i.broken for i in impacts)
    still, shielded = sum(i.still_violating for i in impacts), sum(i.shielded for i in impacts)
    first: Line = (say("▸ ", "key"), counted(moves, "entity moves", "entities move", "strong"))
    if shielded:
        first += (say(" · ◇ ", "dim"), counted(shielded, "shielded one stays", "shielded ones stay", "dim"))
    edges: Line = (say("▸ edges ", "key"), *edge_counts(gained, broken, still))
    notes = dict.fromkeys(note for impact in impacts for note in impact.notes)
    return (first, edges, *((say("▸ ", "key"), data(note)) for note in notes))


def edge_counts(gained: int, broken: int, still: int) -> Line:
    """What happens to edges, as three counts; one that is nothing is dim."""
    return (
        say("+", "ok" if gained else "dim"),
        number(gained, "ok" if gained else "dim"),
        say(" become valid  ", "dim"),
        say("−", "bad" if broken else "dim"),
        number(broken, "bad" if broken else "dim"),
        say(" break  ", "dim"),
        number(still, "dim"),
        say(" stay broken", "dim"),
    )


def _worked_out(bench: Workbench, make: Callable[[Workbench], tuple[Body, ...]], generation: int) -> BodiesKnown:
    try:
        bodies = make(bench)
        if len(bodies) == 1:
            # Several are checked together when they are signed: one may declare what another needs.
            bench.check(bodies[0])
        return BodiesKnown(generation, bodies, tuple(bench.impact(body) for body in bodies), None)
    except CtTuiError as error:
        return BodiesKnown(generation, (), (), error)
    except Exception as error:  # noqa: BLE001 - the edge of a worker: the fault is shown where the impact would be
        return BodiesKnown(generation, (), (), unexpected(error))


def required(text: str, what: str, example: str) -> str:
    """A field's text without the spaces around it; raises BadInput where it is empty."""
    found = text.strip()
    if not found:
        raise BadInput(f"{what} is missing", example)
    return found
