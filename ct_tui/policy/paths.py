"""Where a brain, its config, its rulings and the user's keys lie: flags first, then the environment."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ct_tui.domain.errors import BadInput

if TYPE_CHECKING:
    from collections.abc import Mapping

DATABASE = "brain.db"
CONFIG = "config.json"


@dataclass(frozen=True)
class Places:
    """The files of one run: the database, config.json, the folder of rulings and the user's own folder."""

    brain: Path
    config: Path
    aliases: Path
    user_dir: Path

    @property
    def rulings(self) -> Path:
        """The table of signed rulings."""
        return self.aliases / "rulings.yaml"


def resolve_places(
    brain: str | os.PathLike[str] | None = None,
    config: str | os.PathLike[str] | None = None,
    aliases: str | os.PathLike[str] | None = None,
    env: Mapping[str, str] | None = None,
) -> Places:
    """Resolve every place from the global flags and the environment; nothing needs to exist yet.

    `brain` may be a folder or a database file. config.json lies beside the database unless it is named. Raises BadInput
    where the user has no home and nothing says where else the keys lie.
    """
    variables = os.environ if env is None else env
    database = _database(brain, variables)
    return Places(
        database,
        _first(config, variables, "CURATED_BRAIN_CONFIG") or database.parent / CONFIG,
        _first(aliases, variables, "CT_TUI_ALIASES") or database.parent / "aliases",
        _first(None, variables, "CT_TUI_CONFIG_DIR") or _user_folder(),
    )


def _database(flag: str | os.PathLike[str] | None, env: Mapping[str, str]) -> Path:
    named = _first(flag, env, "CURATED_BRAIN_DB")
    if named is not None:
        return named / DATABASE if named.is_dir() else named
    folder = _first(None, env, "CURATED_BRAIN_DIR") or expanded("~/.brain")
    return folder / DATABASE


def _first(flag: str | os.PathLike[str] | None, env: Mapping[str, str], name: str) -> Path | None:
    """The flag, else the variable, else nothing; an empty one counts as not given."""
    for given in (flag, env.get(name)):
        if given is not None and os.fspath(given):
            return expanded(given)
    return None


def expanded(path: str | os.PathLike[str]) -> Path:
    """A path with the home folder in place of its `~`; that of nobody is a name like any other, as in a shell."""
    return Path(os.path.expanduser(path))  # noqa: PTH111 - Path.expanduser raises where nobody has that name


def _user_folder() -> Path:
    from platformdirs import user_config_path

    try:
        return user_config_path("ct-tui")
    except RuntimeError as error:
        raise BadInput("you have no home folder to look for keys in", "name a folder with CT_TUI_CONFIG_DIR") from error
