"""`ct-tui ontology`: the group of verbs about policy and manifests."""

from __future__ import annotations

from ct_tui.cli.command import group
from ct_tui.cli.registry import ONTOLOGY_VERBS

command = group(
    "ontology",
    "Show or set the policy and the manifests.",
    text="""The policy stands in config.json (folders, host default, schema), the vocabularies in the brain's manifest
    rows. Together they decide whether an entity is gated, and by what.""",
    examples=["ct-tui ontology show", "ct-tui ontology set --mode off --dir documents/drafts"],
    entries=ONTOLOGY_VERBS,
)
