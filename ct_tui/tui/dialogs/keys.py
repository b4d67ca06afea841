"""The way to a key: make one, take one of one's own, and open one that is locked."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from textual.widgets import Input

from ct_tui.domain.errors import CtTuiError
from ct_tui.tui.dialogs.base import Dialog, hints
from ct_tui.tui.messages import Failed, KeyReady, Refused
from ct_tui.tui.signing import make_key, use_key
from ct_tui.tui.text import blank, data, say
from ct_tui.tui.widgets.choice import Choice
from ct_tui.tui.widgets.frame import Ends, Lines, Notice

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from textual.app import ComposeResult
    from textual.message import Message
    from textual.widget import Widget

    from ct_tui.tui.session import Signer
    from ct_tui.tui.signing import KeyChoice
    from ct_tui.tui.text import Line

NEW, FILE = "new", "file"


class PassphraseDialog(Dialog):
    """The passphrase of a locked key; it is kept in memory for the session and nowhere else."""

    def __init__(self, signer: Signer, done: Callable[[Signer, str], None], *, wrong: bool) -> None:
        super().__init__(say("Unlock the key", "title"))
        self._signer = signer
        self._done = done
        self._wrong = wrong

    def compose_body(self) -> ComposeResult:
        """Which key, and the field."""
        yield Notice(id="about")
        yield Input(password=True, placeholder="passphrase", compact=True, id="passphrase")

    def prepare(self) -> None:
        """Say which key it is."""
        super().prepare()
        path = "" if self._signer.key is None else str(self._signer.key)
        self.query_one("#about", Notice).show(
            (data(path),), (say("Asked once; kept in memory until you leave.", "dim"),)
        )
        if self._wrong:
            self.object_to(say("That passphrase does not open it. Nothing was signed."))

    def fields(self) -> list[Widget]:
        """The one field."""
        return [self.query_one("#passphrase")]

    def hint(self) -> Line:
        """The keys of the dialog."""
        return hints(("⏎", "unlock and sign"), ("esc", "leave"))

    def do_dialog_accept(self) -> None:
        """Take the passphrase."""
        given = self.query_one("#passphrase", Input).value
        if not given:
            self.object_to(say("The key needs its passphrase."))
        elif not self.over:
            self.close()
            self._done(self._signer, given)


class KeyDialog(Dialog):
    """Make a key, or say which of one's own to sign with; it is trusted on this machine for the name given."""

    def __init__(self, choices: Sequence[KeyChoice], done: Callable[[Signer, str], None]) -> None:
        super().__init__(say("A key to sign with", "title"))
        self._choices = list(choices)
        self._done = done
        self._busy = False

    def compose_body(self) -> ComposeResult:
        """What to do, and the fields it takes."""
        yield Notice(id="about")
        values = [(str(at), _called(choice)) for at, choice in enumerate(self._choices) if not choice.problem]
        yield Choice([*values, (NEW, "make a new key"), (FILE, "use a key file")], id="which")
        yield Lines(((say("Your name, as others trust it", "head"),),), classes="label", id="name-label")
        yield Input(placeholder="you@example.org", compact=True, id="name")
        yield Lines(((say("Key file", "head"),),), classes="label", id="path-label")
        yield Input(placeholder="~/.ssh/id_ed25519", compact=True, id="path")
        yield Lines(((say("Passphrase, empty for none", "head"),),), classes="label", id="pass-label")
        yield Input(password=True, compact=True, id="pass")
        yield Lines(((say("The same once more", "head"),),), classes="label", id="again-label")
        yield Input(password=True, compact=True, id="again")

    def prepare(self) -> None:
        """Say what a key is for, and show the fields of the first choice."""
        super().prepare()
        folder = self.session.places.user_dir
        lines: list[Line] = [(say("Rulings are signed, so that nothing moves without a person's name on it."),)]
        lines += [
            (say("! ", "warn"), data(choice.path.name), say(": ", "dim"), data(choice.problem))
            for choice in self._choices
            if choice.problem
        ]
        lines.append((say("Keys and trust stay in ", "dim"), data(str(folder), "dim")))
        self.query_one("#about", Notice).show(*lines)
        self._fit_fields()

    def begin(self) -> None:
        """The name is what is asked for first where a key is made."""
        self.set_focus(self.query_one("#name") if self._which == NEW else self.query_one("#which"))

    @property
    def _which(self) -> str:
        return self.query_one("#which", Choice).value

    def fields(self) -> list[Widget]:
        """The fields that the choice takes."""
        return [self.query_one(f"#{name}") for name in ("which", "name", "path", "pass", "again")]

    def on_choice_changed(self, event: Choice.Changed) -> None:
        """Other fields for another way."""
        event.stop()
        self._fit_fields()

    def _fit_fields(self) -> None:
        which = self._which
        chosen = self._choices[int(which)] if which.isdigit() else None
        shown = {
            "name": chosen is None or len(chosen.principals) != 1,
            "path": which == FILE,
            "pass": which == NEW,
            "again": which == NEW,
        }
        for name, visible in shown.items():
            self.query_one(f"#{name}").display = visible
            self.query_one(f"#{name}-label").display = visible
        self.content_again()

    def do_dialog_cancel(self) -> None:
        """Leave, unless a key is being made just now."""
        if not self._busy:
            self.close()

    def hint(self) -> Line:
        """The keys of the dialog."""
        return hints(("⏎", "go on"), ("⇥", "next field"), ("←→", "choose"), ("esc", "leave"))

    def do_dialog_accept(self) -> None:
        """Make or take the key, once."""
        if self._busy or self.over:
            return
        which, name = self._which, self._value("name").strip()
        if which.isdigit():
            self._take(self._choices[int(which)], name)
            return
        if not name:
            self.object_to(say("A name is needed: it stands under every ruling."))
            self.set_focus(self.query_one("#name"))
        elif which == NEW:
            self._make(name)
        else:
            path = Path(os.path.expanduser(self._value("path").strip() or "~/.ssh/id_ed25519"))  # noqa: PTH111
            self._run(lambda: use_key(self.session.places, path, name))

    def _take(self, choice: KeyChoice, name: str) -> None:
        principal = choice.principals[0] if len(choice.principals) == 1 else name
        if not principal:
            self.object_to(say("A name is needed: it stands under every ruling."))
            self.set_focus(self.query_one("#name"))
            return
        self._run(lambda: use_key(self.session.places, choice.path, principal))

    def _make(self, name: str) -> None:
        first, again = self._value("pass"), self._value("again")
        if first != again:
            self.object_to(say("The two passphrases differ; no key was made."))
            self.set_focus(self.query_one("#again"))
            return
        self._run(lambda: make_key(self.session.places, name, first))

    def _value(self, name: str) -> str:
        return self.query_one(f"#{name}", Input).value

    def _run(self, job: Callable[[], Message]) -> None:
        self._busy = True
        self.query_one("#dialog-hint", Ends).show((blank(1), say("one moment…", "warn")))

        def guarded() -> Message:
            try:
                return job()
            except CtTuiError as error:
                return Refused(error)

        self.station.write("making a key", guarded, self)

    def on_key_ready(self, message: KeyReady) -> None:
        """There is a key: go on."""
        self.close()
        self._done(message.signer, message.passphrase)

    def on_refused(self, message: Refused) -> None:
        """It was refused: say why."""
        self._busy = False
        self.refuse(message.error)
        self.show_hint()

    def on_failed(self, message: Failed) -> None:
        """Something around it failed."""
        message.stop()
        self._busy = False
        self.refuse(message.error)
        self.show_hint()


def _called(choice: KeyChoice) -> str:
    names = ", ".join(choice.principals) or "not trusted yet"
    return f"{choice.path.name} ({names})"
