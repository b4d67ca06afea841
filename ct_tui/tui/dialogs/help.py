"""`?` and the palette: both are made from the registry, so that neither can tell of a key that does not exist."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.widgets import Input

from ct_tui.tui.actions import Mode, shown_keys
from ct_tui.tui.dialogs.base import Dialog, hints
from ct_tui.tui.text import NOTHING, blank, data, fit, right, say
from ct_tui.tui.widgets.rows import MemoryRows, Row, RowList

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from textual.app import ComposeResult
    from textual.widget import Widget

    from ct_tui.tui.actions import Action, Registry
    from ct_tui.tui.text import Line

SIGNS = (
    ("✓", "declared, valid, done"),
    ("?", "undeclared, or not known: somebody has to decide"),
    ("→", "a ruling says what it becomes"),
    ("≈ ∅ !", "another spelling, blank, unreadable"),
    ("◇ · ‖", "shielded, kept by a ruling, held by the policy"),
    ("━ ╍ ─ ┄", "in bars: waits, moves, is declared, is spared"),
    ("␛ ‹U+202E› ␣", "characters that would hide or steer, made visible"),
)


def help_lines(registry: Registry, view: str) -> Iterator[Line]:
    """Every key of a view under its heading, then what the signs mean."""
    for group, actions in registry.by_group(view).items():
        yield (data(group.value, "head"),)
        for action in actions:
            keys = right(data(shown_keys(action), "key"), 11)
            yield (*keys, blank(2), data(action.help))
        yield NOTHING
    yield (say("Signs", "head"),)
    for sign, words in SIGNS:
        yield (*right(data(sign, "strong"), 14), blank(2), data(words, "dim"))
    yield NOTHING
    yield (say("Keys can be changed in keys.toml; the names are ", "dim"), data(_names(registry, view), "dim"))


def _names(registry: Registry, view: str) -> str:
    return ", ".join(action.id for action in registry.within(view) if not action.fixed)


class PaletteDialog(Dialog):
    """Every action by its name; enter does it, or says why it cannot be done."""

    def __init__(
        self,
        actions: Sequence[tuple[Action, str]],
        chosen: Callable[[Action], object],
        extras: Sequence[tuple[str, Callable[[], object]]],
    ) -> None:
        super().__init__(say("Find an action", "title"))
        self._actions = list(actions)
        self._chosen = chosen
        self._extras = list(extras)

    def compose_body(self) -> ComposeResult:
        """What is looked for, and what there is."""
        yield Input(placeholder="name or what it does", compact=True, id="search")
        yield RowList(((say("No action is called that.", "dim"),),), id="actions")

    def prepare(self) -> None:
        """All actions to begin with."""
        super().prepare()
        self._show("")

    def fields(self) -> list[Widget]:
        """The search field; the arrows move in the list meanwhile."""
        return [self.query_one("#search")]

    def hint(self) -> Line:
        """The keys of the dialog."""
        return hints(("⏎", "do it"), ("↑↓", "choose"), ("esc", "close"))

    def on_input_changed(self, event: Input.Changed) -> None:
        """Narrow."""
        event.stop()
        self._show(event.value)

    def _show(self, query: str) -> None:
        from rapidfuzz import fuzz

        entries = [
            (_action_row(action, reason), f"{action.title} {action.help} {action.id}")
            for action, reason in self._actions
        ]
        entries += [(_extra_row(at, words), words) for at, (words, _) in enumerate(self._extras)]
        low = query.strip().lower()
        if low:
            scored = [
                (fuzz.WRatio(low, text.lower()) + _nearness(low, text.lower()), row, text) for row, text in entries
            ]
            entries = [(row, text) for score, row, text in sorted(scored, key=lambda s: -s[0]) if score >= 60]
        rows = self.query_one("#actions", RowList)
        rows.show(MemoryRows([row for row, _ in entries], [text for _, text in entries]))
        rows.move_to(0)

    def do_dialog_accept(self) -> None:
        """Do the one under the cursor, once."""
        row = self.query_one("#actions", RowList).current
        if row is None or self.over:
            return
        self.close()
        if row.key.startswith("extra:"):
            self._extras[int(row.key.partition(":")[2])][1]()
        else:
            self._chosen(next(action for action, _ in self._actions if action.id == row.key))


def _nearness(query: str, text: str) -> int:
    """What is called so comes before what is only said to do so."""
    return 200 if text.startswith(query) else 100 if query in text else 0


def _action_row(action: Action, reason: str) -> Row:
    def draw(width: int) -> Line:
        title = data(action.title.capitalize(), "faint" if reason else "strong")
        tail = (say("– ", "warn"), data(reason, "dim")) if reason else (data(action.help, "dim"),)
        return (*fit((title,), min(20, width // 3)), *right(data(shown_keys(action), "key"), 9), blank(2), *tail)

    return Row(action.id, action, draw, markable=False)


def _extra_row(at: int, words: str) -> Row:
    def draw(width: int) -> Line:
        return (data(words, width=width),)

    return Row(f"extra:{at}", None, draw, markable=False)


def palette_actions(registry: Registry, view: str) -> list[Action]:
    """The actions that make sense to choose by name: those that do not just move."""
    return [
        action
        for action in registry.within(view)
        if action.mode is not Mode.TYPING
        and not action.id.startswith("move.")
        and action.id not in {"app.palette", "app.back", "app.interrupt", "rule.take"}
    ]
