"""Where the user's own trust lives: never beside the table, so that who writes the table cannot write the trust."""

from __future__ import annotations

import os
from pathlib import Path

from platformdirs import user_config_path

CONFIG_VARIABLE = "CT_TUI_CONFIG_DIR"
TABLE_NAME = "rulings.yaml"


def user_folder() -> Path:
    """The user's configuration folder: CT_TUI_CONFIG_DIR, else the platform's; it may not exist yet."""
    chosen = os.environ.get(CONFIG_VARIABLE, "")
    return expanded(chosen) if chosen else user_config_path("ct-tui", appauthor=False)


def expanded(path: str | Path) -> Path:
    """A path with the home folder in place of its `~`; that of nobody is a name like any other, as in a shell."""
    return Path(os.path.expanduser(path))  # noqa: PTH111 - Path.expanduser raises where nobody has that name


def keys_folder(folder: Path | None = None) -> Path:
    """Where `keys new` puts private keys."""
    return (folder or user_folder()) / "keys"


def allowed_signers_path(folder: Path | None = None) -> Path:
    """The list of keys that may rule, in OpenSSH's format."""
    return (folder or user_folder()) / "allowed_signers"


def revoked_keys_path(folder: Path | None = None) -> Path:
    """The optional revocation list: one public key a line."""
    return (folder or user_folder()) / "revoked_keys"
