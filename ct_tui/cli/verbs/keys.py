"""`ct-tui keys`: the group of verbs about keys and trust."""

from __future__ import annotations

from ct_tui.cli.command import group
from ct_tui.cli.registry import KEYS_VERBS

command = group(
    "keys",
    "Make a signing key, and say whom to trust.",
    text="""Keys and trust lie in your own folder (`ct-tui doctor` names it), never beside the rulings: whoever can
    write the table of rulings cannot say who may sign it.""",
    examples=["ct-tui keys new --as ada@example.org", "ct-tui keys list"],
    entries=KEYS_VERBS,
)
