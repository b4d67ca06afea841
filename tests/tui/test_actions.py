"""The registry: one list that keys, footer, help, palette, README and keys.toml agree with."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from ct_tui.domain.errors import BadInput
from ct_tui.tui.actions import BASE, DIALOGS, IN_DIALOGS, Action, Group, Mode, Registry, key_name, key_table, shown_key
from ct_tui.tui.app import all_actions
from ct_tui.tui.keyfile import load_registry
from ct_tui.tui.screens.base import ViewScreen
from ct_tui.tui.views import find_views
from tests.tui.deck import deck

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def registry(tmp_path: Path) -> Registry:
    """The registry as it is without a keys.toml."""
    return load_registry(all_actions(find_views()), tmp_path)


def test_the_key_map_is_the_one_that_was_designed(registry: Registry) -> None:
    wanted = {
        "desk": "j k down up g G ctrl+d ctrl+u h l tab { } / C Q H R P N ? ctrl+p 1 2 3 4 5 6 7 8 9 m + r x s u . space v * enter w i o y z",
        "plan": "a",
    }
    for view, keys in wanted.items():
        for key in keys.split():
            assert registry.find(view, key_name(key), typing=False, filtered=False) is not None, key
    for key, action in {"n": "move.next-match", "N": "move.previous-match"}.items():
        found = registry.find("desk", key, typing=False, filtered=True)
        assert found is not None
        assert found.id == action


def test_only_one_key_writes_the_brain_and_only_in_the_plan(registry: Registry) -> None:
    assert registry["plan.apply"].where == {"plan"}
    found = registry.find("desk", "a", typing=False, filtered=False)
    assert found is None


def test_capitals_only_open_views(registry: Registry) -> None:
    for action in registry:
        for key in action.keys:
            if len(key) == 1 and key.isupper() and action.mode is None and action.id != "move.last":
                assert action.group is Group.VIEW, action.id


def test_no_key_means_two_things(registry: Registry) -> None:
    assert registry.clash() is None


def test_every_action_can_be_done_somewhere(registry: Registry) -> None:
    from ct_tui.tui.app import Workstation
    from ct_tui.tui.dialogs.base import Dialog

    screens = {view.name: view.open() for view in find_views()}
    for action in registry:
        if action.id.startswith("view.") and action.id.partition(".")[2] in screens:
            continue
        if action.where == DIALOGS:
            assert hasattr(Dialog, action.method), action.id
            continue
        homes = list(screens) if "*" in action.where else sorted(action.where)
        for home in homes:
            assert home in screens, f"{action.id} applies in {home}, which is no view"
            made = screens[home]
            assert hasattr(made, action.method) or hasattr(Workstation, action.method), f"{action.id} in {home}"


def test_every_view_is_a_view_screen_with_its_name() -> None:
    for view in find_views():
        screen = view.open()
        assert isinstance(screen, ViewScreen)
        assert view.name == screen.VIEW


def test_help_and_titles_are_sentences_and_words(registry: Registry) -> None:
    for action in registry:
        assert action.help.endswith("."), action.id
        assert action.title, action.id
        assert len(action.title) <= 20, action.id


def test_the_key_table_lists_every_action_with_its_keys(registry: Registry) -> None:
    table = key_table(registry)
    for action in registry:
        assert action.help in table
    assert "| Write | `a` |" in table
    assert "`1-9`" in table


def test_while_something_is_typed_only_some_actions_act(registry: Registry) -> None:
    for key in ("a", "x", "question_mark", "plus", "slash", "1", "space", "q", "j"):
        assert registry.find("desk", key, typing=True, filtered=True) is None, key
    kept = registry.find("desk", "enter", typing=True, filtered=False)
    assert kept is not None
    assert kept.mode is Mode.TYPING
    assert registry.find("desk", "escape", typing=True, filtered=False) is not None


@pytest.mark.parametrize(
    ("key", "name", "shown"),
    [
        ("+", "plus", "+"),
        ("/", "slash", "/"),
        ("G", "G", "G"),
        ("ctrl+d", "ctrl+d", "^d"),
        ("shift+tab", "shift+tab", "⇤"),
        ("space", "space", "space"),
        (".", "full_stop", "."),
        ("ctrl++", "ctrl+plus", "^+"),
    ],
)
def test_key_names(key: str, name: str, shown: str) -> None:
    assert key_name(key) == name
    assert shown_key(key) == shown


# keys.toml


def load(folder: Path, content: str | bytes) -> Registry:
    file = folder / "keys.toml"
    file.write_bytes(content if isinstance(content, bytes) else content.encode())
    return load_registry(all_actions(find_views()), folder)


def test_the_user_can_choose_keys(tmp_path: Path) -> None:
    found = load(tmp_path, '[keys]\n"rule.map" = "M"\n"move.down" = ["j", "down", "ctrl+j"]\n')
    assert found["rule.map"].keys == ("M",)
    assert found.find("desk", "M", typing=False, filtered=False) is not None
    assert found.find("desk", "m", typing=False, filtered=False) is None
    assert found.find("desk", "ctrl+j", typing=False, filtered=False) is not None


def test_two_actions_can_swap_keys(tmp_path: Path) -> None:
    found = load(tmp_path, '[keys]\n"rule.map" = "x"\n"rule.keep" = "m"\n')
    swapped = found.find("desk", "x", typing=False, filtered=False)
    assert swapped is not None
    assert swapped.id == "rule.map"


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ('[keys]\n"rule.nonsense" = "m"\n', "there is no action 'rule.nonsense'"),
        ('[keys]\n"rule.map" = "x"\n', "would be both"),
        ('[keys]\n"rule.map" = "nokey"\n', "'nokey' is no key"),
        ('[keys]\n"rule.map" = ""\n', "is no key"),
        ('[keys]\n"rule.map" = 7\n', "must be a key"),
        ('[keys]\n"rule.map" = []\n', "must be a key"),
        ('[keys]\n"app.back" = "b"\n', "cannot be changed"),
        ('[keys]\n"rule.take" = "t"\n', "cannot be changed"),
        ("[keys\n", "is no TOML file"),
        (b"\xff\xfe", "is no TOML file"),
        ('[colours]\nx = "y"\n', "which is not the table"),
        ("keys = 3\n", "which is not the table"),
    ],
)
def test_what_cannot_be_meant_is_refused_in_one_sentence(tmp_path: Path, content: str | bytes, words: str) -> None:
    with pytest.raises(BadInput) as raised:
        load(tmp_path, content)
    assert words in raised.value.message


def test_a_keys_file_that_is_a_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "keys.toml").mkdir()
    with pytest.raises(BadInput):
        load_registry(all_actions(find_views()), tmp_path)


async def test_chosen_keys_work_and_are_shown(october: Path, user_dir: Path) -> None:
    (user_dir / "keys.toml").write_text('[keys]\n"rule.map" = "M"\n')
    async with deck(october) as d:
        assert "M map" in d.lines[-1]
        await d.press("m")
        assert d.front == "desk"
        await d.press("M")
        assert d.front == "MapDialog"


def test_an_action_of_one_view_may_share_a_key_with_another_views() -> None:
    first = Action("one.do", ("f5",), "one", "One.", Group.LOOK, frozenset({"desk"}))
    second = Action("two.do", ("f5",), "two", "Two.", Group.LOOK, frozenset({"plan"}))
    assert Registry((*BASE, *IN_DIALOGS, first, second)).clash() is None
