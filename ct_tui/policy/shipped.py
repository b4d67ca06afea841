"""The files that come with the program: seed manifests, the founding proposals, the demo's story.

They are read the same way from a checkout, where `ontology/` and `aliases/` stand beside the package, and from an
installed wheel, where the build has put them under `ct_tui/data/`.
"""

from __future__ import annotations

from importlib import resources
from typing import TYPE_CHECKING, Any

from ruamel.yaml import YAML

from ct_tui.domain.errors import PolicyError
from ct_tui.domain.json_text import compact
from ct_tui.domain.manifest import Vocabulary, read_vocabulary

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

SEED_MANIFESTS = ("schema-software-org", "schema-org")
"""Names of the shipped manifests, as config.json spells them in `ontology.schema`."""


def shipped_vocabulary(name: str) -> Vocabulary:
    """The vocabulary of a shipped manifest; raises PolicyError for a name that is not shipped."""
    return read_vocabulary(_manifest_document(name))


def shipped_manifest_json(name: str) -> str:
    """A shipped manifest as the compact JSON that a brain keeps; raises PolicyError for a name that is not shipped."""
    return compact(_manifest_document(name))


def founding_text() -> str:
    """The founding proposals, as the YAML text that `rule adopt` reads."""
    return shipped("aliases", "founding.yaml").read_text(encoding="utf-8")


def shipped(folder: str, *names: str) -> Traversable:
    """A shipped file or folder; raises PolicyError where the installation lacks it."""
    package = resources.files("ct_tui")
    candidates = [package.joinpath("data", folder, *names)]
    if folder in {"ontology", "aliases"}:
        candidates.append(package.joinpath("..", folder, *names))
    for candidate in candidates:
        if candidate.is_file() or candidate.is_dir():
            return candidate
    raise PolicyError(
        f"This installation lacks its file {'/'.join((folder, *names))}.",
        "Install ct-tui again; the wheel and the checkout both hold it.",
    )


def _manifest_document(name: str) -> dict[str, Any]:
    if name not in SEED_MANIFESTS:
        raise PolicyError(f"There is no shipped manifest {name!r}.", f"Shipped are {' and '.join(SEED_MANIFESTS)}.")
    text = shipped("ontology", f"{name}.yaml").read_text(encoding="utf-8")
    document = YAML(typ="safe").load(text)
    return {key: list(document[key]) for key in ("node_types", "edge_types")}
