"""`ct-tui rule`: the group of verbs about rulings."""

from __future__ import annotations

from ct_tui.cli.command import group
from ct_tui.cli.registry import RULE_VERBS

command = group(
    "rule",
    "Sign rulings, list them and verify them.",
    text="""A ruling is one decision with its reason, signed with your key and appended to aliases/rulings.yaml beside
    the brain. Heal and the write gate act on valid rulings and on nothing else.""",
    examples=[
        "ct-tui rule adopt founding.yaml",
        "ct-tui rule alias agent role --reason 'agents are parts that are played'",
        "ct-tui rule list",
    ],
    entries=RULE_VERBS,
)
