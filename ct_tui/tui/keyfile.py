"""The user's own keys: `keys.toml` in the user's folder, checked as a whole before the workstation opens.

[keys]
"rule.map" = "M"
"move.down" = ["j", "down", "ctrl+j"]
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.keys import Keys

from ct_tui.domain.errors import BadInput
from ct_tui.tui.actions import Registry, key_name, require_no_clash

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from ct_tui.tui.actions import Action

FILE_NAME = "keys.toml"
_LONGEST = 100_000
_NAMED = frozenset(key.value for key in Keys) | {"space"}
_MODIFIERS = frozenset({"ctrl", "shift", "alt"})


def load_registry(actions: Iterable[Action], user_dir: Path) -> Registry:
    """The registry with the user's keys; raises BadInput in one sentence for anything that cannot be meant."""
    file = user_dir / FILE_NAME
    actions = tuple(actions)
    chosen = _read(file, {a.id: a for a in actions})
    registry = Registry(actions, chosen)
    require_no_clash(registry, str(file) if chosen else "the built-in keys")
    return registry


def _read(file: Path, actions: dict[str, Action]) -> dict[str, tuple[str, ...]]:
    try:
        raw = file.read_bytes()
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise BadInput(f"{file} cannot be read: {error.strerror}.") from error
    if len(raw) > _LONGEST:
        raise BadInput(f"{file} is too large for a list of keys.")
    import tomllib  # only for those who have such a file

    try:
        document = tomllib.loads(raw.decode("utf-8"))
    except (UnicodeDecodeError, tomllib.TOMLDecodeError, RecursionError) as error:
        raise BadInput(f"{file} is no TOML file: {error}.") from error
    table = document.get("keys", {})
    unknown = sorted(set(document) - {"keys"})
    if unknown or not isinstance(table, dict):
        raise BadInput(f"{file} holds {unknown[0] if unknown else 'keys'!r}, which is not the table [keys].")
    return {name: _keys(file, name, value, actions) for name, value in table.items()}


def _keys(file: Path, name: str, value: object, actions: dict[str, Action]) -> tuple[str, ...]:
    action = actions.get(name)
    if action is None:
        raise BadInput(f"{file}: there is no action {name!r}.", "`?` in the workstation lists the actions by name.")
    if action.fixed:
        raise BadInput(f"{file}: the key of {name!r} is the same for everyone and cannot be changed.")
    keys = (value,) if isinstance(value, str) else value
    if not isinstance(keys, (list, tuple)) or not keys or not all(isinstance(key, str) for key in keys):
        raise BadInput(f"{file}: {name!r} must be a key or a list of keys.")
    if name == "rule.take":
        raise BadInput(f"{file}: the digits of {name!r} count the suggestions and cannot be changed.")
    for key in keys:
        if not _is_key(key):
            raise BadInput(f"{file}: {key!r} is no key.", 'Such as "m", "ctrl+d", "f5", "space" or "enter".')
    return tuple(keys)


def _is_key(key: str) -> bool:
    if len(key) == 1:
        return key.isprintable() and not key.isspace()
    modifiers, _, last = key_name(key).rpartition("+")
    if modifiers and not set(modifiers.split("+")) <= _MODIFIERS:
        return False
    if modifiers and len(last) == 1:
        return last.isalnum() or last.isprintable()
    return last in _NAMED or (bool(modifiers) and key_name(last) != last)
