"""The registry of actions: the one list that feeds keys, footer, help, palette, README and the user's keys.toml.

An action is something a person can ask for with a key. It says where it applies and, through `against`, why it cannot
be done just now: a key that cannot act answers with that sentence instead of doing nothing. A view adds its own
actions when it registers (see `ct_tui.tui.views`); nothing else binds a key.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Protocol

from textual.keys import _character_to_key, format_key

from ct_tui.domain.errors import BadInput

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping


class Group(StrEnum):
    """Under which heading an action is listed."""

    DECIDE = "Decide"
    WRITE = "Write"
    LOOK = "Look"
    VIEW = "Views"
    MOVE = "Move"
    DIALOG = "In dialogs"
    APP = "Workstation"


class Mode(StrEnum):
    """A state of a view that some actions need."""

    FILTERED = "while a filter is set"
    TYPING = "while something is typed"


class Moment(Protocol):
    """What an action may ask about the screen it is pressed on, to say why it cannot be done."""

    @property
    def not_ready(self) -> str:
        """Why nothing can be done yet: the brain is still being read, or could not be."""

    @property
    def write_refusal(self) -> str:
        """Why nothing may be written at all, or an empty text."""

    @property
    def subject(self) -> str:
        """What is under the cursor: `question`, `entity`, `type`, `change`, `ruling`, `run`, or nothing."""

    @property
    def question(self) -> str:
        """The id of the open question under the cursor, or an empty text."""

    @property
    def suggestions(self) -> int:
        """How many suggestions that question has."""

    @property
    def closed(self) -> str:
        """Why nothing can be repaired under the cursor, or an empty text."""

    @property
    def drift_waits(self) -> bool:
        """Whether a policy drift has to be answered first."""


Reason = str
"""A sentence that says why not, or an empty text."""


def always(_now: Moment) -> Reason:
    """Nothing speaks against it."""
    return ""


def ready(now: Moment) -> Reason:
    """It needs a brain that has been read."""
    return now.not_ready


def can_write(now: Moment) -> Reason:
    """It needs a brain that may be written."""
    return now.not_ready or now.write_refusal


def can_decide(now: Moment) -> Reason:
    """It needs an open question under the cursor and the right to write."""
    return can_write(now) or (
        "" if now.question else "Nothing is asked here: put the cursor on a question of the queue."
    )


def can_take(now: Moment) -> Reason:
    """It needs a question that has suggestions."""
    return can_decide(now) or (
        "" if now.suggestions else "This question has no suggestions: m chooses among all types."
    )


ENTITY_SUBJECTS = frozenset({"entity", "edge", "question", "change", "finding", "excepted", "group"})
"""What can be under the cursor that leads to an entity."""


def on_entity(now: Moment) -> Reason:
    """It needs an entity under the cursor, or a question whose entities can be named."""
    if now.not_ready:
        return now.not_ready
    return "" if now.subject in ENTITY_SUBJECTS else "Put the cursor on an entity first; l opens a group."


def on_something(now: Moment) -> Reason:
    """It needs any row under the cursor."""
    return now.not_ready or ("" if now.subject else "There is no row under the cursor.")


EVERYWHERE = frozenset({"*"})
DESK = frozenset({"desk"})
WAITING = frozenset({"desk", "edges"})
MARKING = frozenset({"desk", "edges", "lint", "duplicates"})
LOOKING = frozenset({"desk", "plan", "edges", "lint", "duplicates"})
DIALOGS = frozenset({"dialog"})


@dataclass(frozen=True)
class Action:
    """One thing a person can ask for.

    `where` names the views it applies in; `rank` orders the footer, 0 keeps it out; `typing` actions work also while a
    text box has the keyboard; `fixed` ones cannot be given other keys. One with a `mode` acts only in that, and then
    comes before another action of the same key.
    """

    id: str
    keys: tuple[str, ...]
    title: str
    help: str
    group: Group
    where: frozenset[str] = EVERYWHERE
    against: Callable[[Moment], Reason] = always
    rank: int = 0
    typing: bool = False
    fixed: bool = False
    mode: Mode | None = None

    def applies(self, view: str) -> bool:
        """Whether the action exists in a view; dialogs have only their own."""
        return view in self.where or ("*" in self.where and view != "dialog")

    @property
    def method(self) -> str:
        """The name of the method that does it: the id with underscores, after `do_`."""
        return "do_" + self.id.replace(".", "_").replace("-", "_")


_LISTS = EVERYWHERE

BASE = (
    Action("move.down", ("j", "down"), "down", "Move down.", Group.MOVE, _LISTS),
    Action("move.up", ("k", "up"), "up", "Move up.", Group.MOVE, _LISTS),
    Action("move.first", ("g", "home"), "first", "Go to the first row.", Group.MOVE, _LISTS),
    Action("move.last", ("G", "end"), "last", "Go to the last row.", Group.MOVE, _LISTS),
    Action("move.half-down", ("ctrl+d", "pagedown"), "half a page down", "Move half a page down.", Group.MOVE, _LISTS),
    Action("move.half-up", ("ctrl+u", "pageup"), "half a page up", "Move half a page up.", Group.MOVE, _LISTS),
    Action("move.open", ("l", "right"), "open", "Open the group under the cursor: its entities or rows.", Group.MOVE),
    Action("move.close", ("h", "left"), "close", "Close the group, or go back to the list.", Group.MOVE),
    Action("move.next-pane", ("tab",), "next pane", "Go to the next pane.", Group.MOVE, typing=True),
    Action("move.previous-pane", ("shift+tab",), "previous pane", "Go to the pane before.", Group.MOVE, typing=True),
    Action(
        "move.next-open", ("}",), "next undecided", "Go to the next undecided question.", Group.MOVE, WAITING, ready
    ),
    Action(
        "move.previous-open",
        ("{",),
        "previous undecided",
        "Go to the undecided question before.",
        Group.MOVE,
        WAITING,
        ready,
    ),
    Action(
        "move.filter",
        ("/",),
        "filter",
        "Show only the rows that hold a text; esc shows all again.",
        Group.MOVE,
        rank=60,
    ),
    Action(
        "filter.keep",
        ("enter",),
        "keep",
        "Keep the rows narrowed and go back to them.",
        Group.MOVE,
        fixed=True,
        mode=Mode.TYPING,
    ),
    Action(
        "move.next-match",
        ("n",),
        "next match",
        "While a filter is set: go to the next row of it.",
        Group.MOVE,
        mode=Mode.FILTERED,
    ),
    Action(
        "move.previous-match",
        ("N",),
        "match before",
        "While a filter is set: go to the row before.",
        Group.MOVE,
        mode=Mode.FILTERED,
    ),
    Action("view.census", ("C",), "Census", "Types by count, and what each is to the ontology.", Group.VIEW, rank=72),
    Action("view.queue", ("Q",), "Queue", "The open questions.", Group.VIEW, rank=73),
    Action("view.history", ("H",), "History", "Every change of a type, newest first.", Group.VIEW, rank=74),
    Action(
        "view.assert",
        ("A",),
        "Assert",
        "Write one fact the guide's way: a form.",
        Group.VIEW,
        against=can_write,
        rank=81,
    ),
    Action(
        "rule.take",
        tuple("123456789"),
        "take",
        "Take that suggestion: a ruling to read, then sign.",
        Group.DECIDE,
        DESK,
        can_take,
        rank=1,
    ),
    Action(
        "rule.map",
        ("m",),
        "map",
        "Choose the type among all that are declared.",
        Group.DECIDE,
        DESK,
        can_decide,
        rank=2,
    ),
    Action(
        "rule.legalize",
        ("+",),
        "declare",
        "Declare the type, so that it is right from now on.",
        Group.DECIDE,
        DESK,
        can_decide,
        rank=3,
    ),
    Action(
        "rule.retype",
        ("r",),
        "retype",
        "Retype just this entity, or the marked ones.",
        Group.DECIDE,
        DESK,
        can_write,
        rank=4,
    ),
    Action(
        "rule.keep",
        ("x",),
        "keep",
        "Leave it, or the marked ones, as they are, for good or until a day.",
        Group.DECIDE,
        DESK,
        can_decide,
        rank=5,
    ),
    Action(
        "rule.defer",
        ("s",),
        "later",
        "Put the question, or the marked ones, last, for this session only.",
        Group.DECIDE,
        DESK,
        ready,
        rank=6,
    ),
    Action(
        "rule.revoke",
        ("u",),
        "revoke",
        "Revoke the last ruling of mine that acts.",
        Group.DECIDE,
        frozenset({"desk", "edges", "rulings"}),
        can_write,
        rank=62,
    ),
    Action(
        "rule.repeat", (".",), "repeat", "Make the last ruling again for this question.", Group.DECIDE, DESK, can_decide
    ),
    Action(
        "rule.adopt",
        ("f",),
        "founding",
        "Adopt the founding proposals, each or all: a curator's first signature.",
        Group.DECIDE,
        frozenset({"desk", "rulings"}),
        can_write,
        rank=63,
    ),
    Action("mark.one", ("space",), "mark", "Mark the row, or take the mark away.", Group.DECIDE, MARKING),
    Action("mark.range", ("v",), "range", "Mark a range: again to end it, esc to give it up.", Group.DECIDE, MARKING),
    Action(
        "mark.all", ("*",), "mark all", "Mark every row of the filter, or take all marks away.", Group.DECIDE, MARKING
    ),
    Action("look.detail", ("enter",), "detail", "Go into the detail; esc goes back.", Group.LOOK, against=on_something),
    Action(
        "look.why",
        ("w",),
        "why",
        "Why this is here, and why not something else.",
        Group.LOOK,
        LOOKING,
        on_entity,
        rank=30,
    ),
    Action(
        "look.raw",
        ("i",),
        "raw row",
        "The row exactly as the brain holds it.",
        Group.LOOK,
        LOOKING,
        on_entity,
    ),
    Action(
        "look.source",
        ("o",),
        "open source",
        "Open the source of the evidence shown.",
        Group.LOOK,
        LOOKING,
        on_entity,
    ),
    Action("look.copy", ("y",), "copy", "Copy the id or the text under the cursor.", Group.LOOK, against=on_something),
    Action("look.zoom", ("z",), "zoom", "Give the pane the whole screen, and back.", Group.LOOK),
    Action(
        "app.back",
        ("escape",),
        "back",
        "Leave the detail, the filter, the marks, or the view.",
        Group.APP,
        typing=True,
        fixed=True,
    ),
    Action("app.help", ("?",), "keys", "Every key, by what it is for.", Group.APP, rank=90),
    Action("app.palette", ("ctrl+p",), "palette", "Find an action by its name.", Group.APP, typing=True, rank=91),
    Action("app.refresh", ("ctrl+r",), "read again", "Read the brain again.", Group.APP, typing=True),
    Action("app.suspend", ("ctrl+z",), "to the shell", "Go to the shell; `fg` comes back.", Group.APP),
    Action("app.quit", ("q", "ctrl+q"), "quit", "Leave the workstation.", Group.APP, rank=99),
    Action(
        "app.interrupt",
        ("ctrl+c",),
        "how to quit",
        "Say which key leaves the workstation.",
        Group.APP,
        typing=True,
        fixed=True,
    ),
)
"""Every action that does not belong to one view of its own."""

IN_DIALOGS = (
    Action("dialog.down", ("down", "ctrl+n"), "down", "Next choice.", Group.DIALOG, DIALOGS, typing=True, fixed=True),
    Action("dialog.up", ("up",), "up", "Choice before.", Group.DIALOG, DIALOGS, typing=True, fixed=True),
    Action("dialog.next", ("tab",), "next field", "Next field.", Group.DIALOG, DIALOGS, typing=True, fixed=True),
    Action(
        "dialog.previous",
        ("shift+tab",),
        "field before",
        "Field before.",
        Group.DIALOG,
        DIALOGS,
        typing=True,
        fixed=True,
    ),
    Action(
        "dialog.accept",
        ("enter",),
        "accept",
        "Sign the ruling, or take what is chosen.",
        Group.DIALOG,
        DIALOGS,
        typing=True,
        fixed=True,
    ),
    Action(
        "dialog.cancel",
        ("escape",),
        "cancel",
        "Leave without doing anything.",
        Group.DIALOG,
        DIALOGS,
        typing=True,
        fixed=True,
    ),
    Action(
        "dialog.interrupt",
        ("ctrl+c",),
        "cancel",
        "Leave without doing anything.",
        Group.DIALOG,
        DIALOGS,
        typing=True,
        fixed=True,
    ),
)
"""What dialogs bind; these keys are the same for everyone."""


class Registry:
    """All actions of this run, with the user's keys; ids and keys are unique where they can meet."""

    def __init__(self, actions: Iterable[Action], keys: Mapping[str, tuple[str, ...]] | None = None) -> None:
        chosen = keys or {}
        self._keyed: dict[str, dict[str, list[Action]]] = {}
        self._actions = {a.id: replace(a, keys=chosen[a.id]) if a.id in chosen else a for a in actions}

    def __iter__(self) -> Iterator[Action]:
        return iter(self._actions.values())

    def __getitem__(self, action_id: str) -> Action:
        return self._actions[action_id]

    def __contains__(self, action_id: object) -> bool:
        return action_id in self._actions

    def within(self, view: str) -> tuple[Action, ...]:
        """The actions that apply in a view."""
        return tuple(a for a in self if a.applies(view))

    def find(self, view: str, key: str, *, typing: bool, filtered: bool) -> Action | None:
        """What a key (by Textual's name) means in a view just now, or None."""
        found: Action | None = None
        for action in self._by_key(view).get(key, ()):
            if typing and not (action.typing or action.mode is Mode.TYPING):
                continue
            if action.mode is Mode.TYPING and typing:
                return action
            if action.mode is Mode.FILTERED and filtered:
                return action
            if action.mode is None:
                found = action
        return found

    def elsewhere(self, key: str) -> tuple[Action, ...]:
        """What a key that means nothing just now means in other views or states."""
        named = (a for a in self if key in {key_name(k) for k in a.keys} and a.group is not Group.DIALOG)
        return tuple(a for a in named if a.mode is not Mode.TYPING)

    def _by_key(self, view: str) -> dict[str, list[Action]]:
        if view not in self._keyed:
            keyed = self._keyed[view] = {}
            for action in self.within(view):
                for key in action.keys:
                    keyed.setdefault(key_name(key), []).append(action)
        return self._keyed[view]

    def clash(self) -> tuple[str, Action, Action] | None:
        """The first key that two actions of one view share, or None."""
        for view in {v for a in self for v in a.where if v != "*"}:
            taken: dict[str, Action] = {}
            for action in self.within(view):
                for key in action.keys:
                    name = key_name(key)
                    if action.mode is not None:
                        continue
                    if name in taken and taken[name].id != action.id:
                        return key, taken[name], action
                    taken[name] = action
        return None

    def by_group(self, view: str | None = None) -> dict[Group, list[Action]]:
        """The actions under their headings, of one view or of all."""
        found: dict[Group, list[Action]] = {}
        for action in self:
            if view is None or action.applies(view):
                found.setdefault(action.group, []).append(action)
        return {group: found[group] for group in Group if group in found}


def key_name(key: str) -> str:
    """A key as Textual names it: a character or a name, with its modifiers, such as `ctrl+d` or `slash`."""
    modifiers, plus, last = key.rpartition("+")
    if key == "+" or (plus and not last):
        modifiers, last = key[:-1].rstrip("+"), "+"
    name = _character_to_key(last) if len(last) == 1 else last
    return f"{modifiers}+{name}" if modifiers else name


def shown_key(key: str) -> str:
    """A key as people read it: `^d`, `⏎`, `↓`, `?`."""
    name = key_name(key)
    modifiers, _, last = name.rpartition("+")
    sign = {"escape": "esc", "enter": "⏎", "shift+tab": "⇤", "tab": "⇥"}.get(name) or format_key(last)
    if name == "shift+tab":
        return "⇤"
    return sign if not modifiers else modifiers.replace("ctrl", "^").replace("shift", "⇧").replace("+", "") + sign


def shown_keys(action: Action) -> str:
    """The keys of an action as people read them; a run of digits as a range."""
    keys = [shown_key(key) for key in action.keys]
    if len(keys) > 2 and all(len(k) == 1 and k.isdigit() for k in keys):
        return f"{keys[0]}-{keys[-1]}"
    return " ".join(keys)


def key_table(registry: Registry) -> str:
    """The keys as a Markdown table, for the README."""
    lines = ["| | keys | what |", "|---|---|---|"]
    for group, actions in registry.by_group().items():
        for action in actions:
            keys = " ".join(f"`{key}`" for key in shown_keys(action).split(" "))
            lines.append(f"| {group.value} | {keys} | {action.help} |")
    return "\n".join(lines) + "\n"


def require_no_clash(registry: Registry, source: str) -> None:
    """Raise BadInput where one key would mean two things."""
    found = registry.clash()
    if found is not None:
        key, first, second = found
        raise BadInput(
            f"{source}: the key {shown_key(key)} would be both `{first.id}` and `{second.id}`.",
            "Give one of them another key; `?` in the workstation lists them all.",
        )
