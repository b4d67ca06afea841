"""Writing config.json: one value changed, every other byte kept, the file replaced in one step.

Source of the rules: brain format 2.3. Writing is refused while the config is degraded or ambiguous, and where the
file is no longer the one that was read.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import uuid
from typing import TYPE_CHECKING

from ct_tui.domain.errors import PolicyError
from ct_tui.domain.json_text import members, remove_members, set_member
from ct_tui.domain.policy import Mode, Policy, is_matchable, normalise_key, read_policy

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def set_default(text: str, mode: Mode | None) -> str:
    """The config text with `ingest.ontology_default` set, or removed for None."""
    if mode is None:
        return _in_ingest(text, lambda ingest: remove_members(ingest, "ontology_default".__eq__))
    return _in_ingest(text, lambda ingest: set_member(ingest, "ontology_default", mode.value))


def set_folder(text: str, prefix: str, mode: Mode | None) -> str:
    """The config text with one folder's mode set under its normalised key, or removed for None.

    Every other spelling of the same folder goes.
    """
    key = normalise_key(prefix)
    return _in_ingest(text, lambda ingest: _in_object(ingest, "folder_ontology", lambda m: _folder(m, key, mode)))


def check_folder(prefix: str) -> None:
    """Refuse a folder that no source path can lie under."""
    if any("\ud800" <= c <= "\udfff" for c in prefix):
        raise PolicyError(f"the folder {prefix!r} is no valid Unicode, so config.json cannot hold it")
    if prefix.startswith(("/", "\\")) or prefix[1:3] in {":/", ":\\"}:
        raise PolicyError(f"--dir must be relative to the vault, not {prefix!r}", "name a folder inside the vault")
    if not is_matchable(prefix):
        raise PolicyError(
            f"no path can match the folder {prefix!r}",
            "name it without empty, '.' and '..' parts, such as notes/drafts",
        )


def edit_config(path: Path, policy: Policy, edit: Callable[[str], str]) -> bool:
    """Apply one edit to the config that `policy` was read from; whether the file changed.

    Raises PolicyError while the config is degraded or ambiguous, or when the file is not the one that was read.
    """
    refusal = policy.refusal()
    if refusal is not None:
        raise refusal
    target = path.resolve()
    old = reread(target, policy)
    new = edit(old if old is not None else "{}")
    if new == old:
        return False
    if old is None:
        new = json.dumps(json.loads(new), indent=2, ensure_ascii=False) + "\n"
    _check_result(new)
    replace_file(target, new.encode("utf-8"))
    return True


def replace_file(path: Path, content: bytes) -> None:
    """Replace a file in one step: a synced temporary beside it, its mode kept, then a rename."""
    temporary = path.with_name(f"{path.name}.{os.getpid()}.{uuid.uuid4().hex}.tmp")
    try:
        _write_synced(temporary, content, _mode_of(path))
        temporary.replace(path)
        _sync_folder(path.parent)
    except OSError as error:
        with contextlib.suppress(OSError):
            temporary.unlink()
        reason = error.strerror or str(error)
        raise PolicyError(f"{path} cannot be written: {reason}", "check the folder's permissions and space") from error


def _in_ingest(text: str, edit: Callable[[str], str]) -> str:
    return _in_object(text, "ingest", edit)


def _in_object(text: str, key: str, edit: Callable[[str], str]) -> str:
    """Edit the text of one member that is an object, adding it where it is missing."""
    found = [m for m in members(text) if m.key == key]
    if not found:
        made = edit("{}")
        return text if made == "{}" else set_member(text, key, json.loads(made))
    last = found[-1]
    return text[: last.start] + edit(text[last.start : last.end]) + text[last.end :]


def _folder(folders: str, key: str, mode: Mode | None) -> str:
    exact = mode is not None and any(m.key == key for m in members(folders))
    kept = remove_members(folders, lambda k: normalise_key(k) == key and not (exact and k == key))
    return kept if mode is None else set_member(kept, key, mode.value)


def reread(path: Path, policy: Policy) -> str | None:
    """The text of the file as it stands, or None where there is none; refused unless it is what was read."""
    try:
        raw = path.read_bytes()
    except FileNotFoundError:
        raw = None
    except OSError as error:
        raise PolicyError(f"{path} cannot be read: {error.strerror or error}", "check its permissions") from error
    digest = "" if raw is None else hashlib.sha256(raw).hexdigest()
    if digest != policy.config_hash:
        raise PolicyError(f"{path} changed while it was being edited; nothing was written", "try again")
    return None if raw is None else raw.decode("utf-8")


def _check_result(text: str) -> None:
    """An edit must leave a config that is whole; anything else is our own fault and is not written."""
    refusal = read_policy(text.encode("utf-8")).refusal()
    if refusal is not None:
        raise PolicyError(f"the edit would leave config.json unusable: {refusal.message}", "please report this")


def _mode_of(path: Path) -> int:
    try:
        return path.stat().st_mode & 0o7777
    except OSError:
        return 0o644


def _write_synced(path: Path, content: bytes, mode: int) -> None:
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "wb") as file:
        file.write(content)
        file.flush()
        os.fchmod(file.fileno(), mode)
        os.fsync(file.fileno())


def _sync_folder(folder: Path) -> None:
    """Make the rename itself durable, where the file system lets a folder be synced."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
