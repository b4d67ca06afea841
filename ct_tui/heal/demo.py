"""The demo: a throwaway brain with a vault, a config, a key and signed rulings, made from nothing in one folder.

Everything in it is made up, nothing is fetched, and apart from the key and its signatures it is the same every time.
"""

from __future__ import annotations

import json
import shlex
import shutil
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ct_tui.brain.connection import Brain
from ct_tui.brain.own import remember_head
from ct_tui.brain.seed import create_brain
from ct_tui.domain.errors import BadInput
from ct_tui.domain.rulings import Head, parse_body
from ct_tui.heal.demo_rows import demo_id, demo_rows
from ct_tui.heal.demo_story import load_story
from ct_tui.policy.paths import CONFIG, DATABASE, Places, expanded
from ct_tui.policy.shipped import founding_text
from ct_tui.trust.keys import create_key
from ct_tui.trust.paths import keys_folder
from ct_tui.trust.signer import open_signer
from ct_tui.trust.signers import load_signers
from ct_tui.trust.signing import Draft, sign_rulings
from ct_tui.trust.trusting import trust

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from ct_tui.heal.demo_story import Story

PRINCIPAL = "curator@demo.invalid"
"""The name under which the demo's key rules."""

FOLDER_MODES = {
    "immutable-source-files/private-ops": "off",
    "immutable-source-files/specs": "strict",
    "documents/templates": "off",
}
"""The demo's folder rules, by folder of the vault."""

_READ_ME = """\
A demo brain for ct-tui. Everything and everybody in it is made up; delete the folder when you are done.

  brain.db       the brain                       vault/    the notes that it was made from
  config.json    its folder rules                user/     the demo curator's key, and whom the demo trusts
  aliases/       two signed rulings, and the five founding proposals

Open it with

  CT_TUI_CONFIG_DIR={user} ct-tui --brain {folder}
"""


@dataclass(frozen=True)
class DemoPlaces(Places):
    """The demo's files; `key` is the curator's private key, `founding` the proposals to adopt."""

    folder: Path
    vault: Path
    key: Path
    founding: Path


def demo_places(folder: Path) -> DemoPlaces:
    """Where the files of a demo in this folder are; nothing needs to exist yet."""
    root = expanded(folder).absolute()
    user = root / "user"
    return DemoPlaces(
        brain=root / DATABASE,
        config=root / CONFIG,
        aliases=root / "aliases",
        user_dir=user,
        folder=root,
        vault=root / "vault",
        key=keys_folder(user) / PRINCIPAL,
        founding=root / "aliases" / "founding.yaml",
    )


def is_demo(folder: Path) -> bool:
    """Whether a finished demo lies in this folder: its note for readers is written last."""
    places = demo_places(folder)
    return _note(places).is_file() and places.brain.is_file()


def build_demo(folder: Path) -> DemoPlaces:
    """Make the demo in a folder that is empty or not there yet.

    Raises BadInput where something else lies there; what was begun is removed again when anything fails.
    """
    places = demo_places(folder)
    _require_empty(places.folder)
    try:
        _build(places, load_story())
    except OSError as error:
        _clear(places.folder)
        raise BadInput(
            f"the demo cannot be made in {places.folder}: {(error.strerror or str(error)).lower()}",
            "choose another folder with --dir",
        ) from error
    except BaseException:
        _clear(places.folder)
        raise
    return places


def _build(places: DemoPlaces, story: Story) -> None:
    places.aliases.mkdir(parents=True)
    for note in story.notes:
        file = places.vault / note.path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(note.text, encoding="utf-8")
    places.config.write_text(_config(places.vault), encoding="utf-8")
    places.founding.write_text(founding_text(), encoding="utf-8")
    create_brain(places.brain, demo_rows(story, places.vault))
    key = create_key(PRINCIPAL, keys_folder(places.user_dir))
    trust(PRINCIPAL, f"{key.path}.pub", places.user_dir)
    _sign(places, key.path, story)
    read_me = _READ_ME.format(folder=shlex.quote(str(places.folder)), user=shlex.quote(str(places.user_dir)))
    _note(places).write_text(read_me, encoding="utf-8")


def _config(vault: Path) -> str:
    document = {
        "vault_path": vault.as_posix(),
        "ontology": {"schema": "schema-software-org"},
        "ingest": {
            "folder_tiers": {"immutable-source-files/journal": "chunks-only"},
            "folder_ontology": FOLDER_MODES,
        },
    }
    return json.dumps(document, indent=2) + "\n"


def _sign(places: DemoPlaces, key: Path, story: Story) -> None:
    drafts = [Draft(parse_body(told["kind"], _fields(told)), told["reason"], PRINCIPAL) for told in story.rulings]
    signed = sign_rulings(drafts, open_signer(key), places.rulings, signers=load_signers(places.user_dir))
    head = Head(signed[-1].seq, signed[-1].hash)
    brain = Brain(places.brain)
    try:
        brain.write(lambda db: remember_head(db, head))
    finally:
        brain.close()


def _fields(told: Mapping[str, Any]) -> dict[str, Any]:
    """A ruling's own fields: the story names entities, a ruling holds their ids."""
    fields = {name: value for name, value in told.items() if name != "names"}
    if "names" in told:
        fields["entities"] = [demo_id("ent", name, 0) for name in told["names"]]
    return fields


def _note(places: DemoPlaces) -> Path:
    return places.folder / "README.txt"


def _require_empty(folder: Path) -> None:
    try:
        taken = folder.exists() and (not folder.is_dir() or any(folder.iterdir()))
    except OSError as error:
        raise BadInput(f"{folder} cannot be read: {(error.strerror or str(error)).lower()}") from error
    if taken:
        raise BadInput(f"{folder} is not an empty folder", "choose a new folder for the demo with --dir")


def _clear(folder: Path) -> None:
    """Remove what a failed build left; the folder was empty before."""
    if not folder.is_dir():
        return
    for item in folder.iterdir():
        if item.is_dir():
            shutil.rmtree(item, ignore_errors=True)
        else:
            item.unlink(missing_ok=True)
