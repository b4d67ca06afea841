"""Reading config.json: its bytes once, and where the vault really lies on this machine."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from ct_tui.domain.policy import Policy, Vault, read_policy, unreadable_policy

if TYPE_CHECKING:
    from pathlib import Path


def load_policy(path: Path | None) -> Policy:
    """The policy of one config file; never raises.

    A missing file, or no file at all (a brain in memory), is the default policy. Anything else that cannot be read
    is a degraded one, in which everything holds.
    """
    if path is None:
        return Policy()
    try:
        raw = path.read_bytes()
    except FileNotFoundError:
        return Policy()
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        return unreadable_policy(f"it cannot be read: {reason}")
    return read_policy(raw, locate_vault)


def locate_vault(vault_path: str | None) -> Vault:
    """The vault of a configured path, with its canonical form where it exists; a blank path is no vault."""
    if not vault_path:
        return Vault()
    return Vault(vault_path, _canonical(vault_path), _canonical)


def _canonical(path: str) -> str | None:
    """The path with every symlink followed, or None where it does not exist."""
    try:
        return os.path.realpath(path, strict=True)
    except (OSError, ValueError):
        return None
