"""Every verb by name with its one-line help, so that `--help` need not import a single verb."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Entry:
    """One verb: its name, the module that holds its `command`, its one line, and the heading it stands under."""

    name: str
    module: str
    help: str
    section: str = "Verbs"


_VERBS = "ct_tui.cli.verbs."
_LOOK, _RULE, _ACT, _KEEP = "Look", "Decide", "Act", "Around it"

VERBS = (
    Entry("census", _VERBS + "census", "Count live entities by type, and say what each type is.", _LOOK),
    Entry("queue", _VERBS + "queue", "List the questions that wait for a human.", _LOOK),
    Entry("show", _VERBS + "show", "Show one question or one entity with its evidence.", _LOOK),
    Entry("ledger", _VERBS + "ledger", "Show where an entity's type came from.", _LOOK),
    Entry("edges", _VERBS + "edges", "Judge every edge against the signatures of the ontology.", _LOOK),
    Entry("lint", _VERBS + "lint", "Check facts, edges and names against the curation guide.", _LOOK),
    Entry("gate", _VERBS + "gate", "Say what the write gate would do with a label.", _LOOK),
    Entry("rule", _VERBS + "rule", "Sign rulings, list them and verify them.", _RULE),
    Entry("keys", _VERBS + "keys", "Make a signing key, and say whom to trust.", _RULE),
    Entry("plan", _VERBS + "plan", "Show row by row what heal would write.", _ACT),
    Entry("apply", _VERBS + "apply", "Apply a saved plan.", _ACT),
    Entry("heal", _VERBS + "heal", "Report what the nightly heal finds, or let it write.", _ACT),
    Entry("runs", _VERBS + "runs", "List the runs that wrote, newest first.", _ACT),
    Entry("undo", _VERBS + "undo", "Take one run back.", _ACT),
    Entry("ontology", _VERBS + "ontology", "Show or set the policy and the manifests.", _ACT),
    Entry("mint", _VERBS + "mint", "Write one entity through the gate.", _ACT),
    Entry("assert", _VERBS + "assert_", "Write one fact the way the curation guide asks.", _ACT),
    Entry("duplicates", _VERBS + "duplicates", "Report duplicate entities, or merge them.", _ACT),
    Entry("demo", _VERBS + "demo", "Make a throwaway brain to try everything on.", _KEEP),
    Entry("doctor", _VERBS + "doctor", "Check paths, schema, locks, keys and terminal.", _KEEP),
    Entry("schedule", _VERBS + "schedule", "Print or install the timer of the nightly heal.", _KEEP),
    Entry("serve", _VERBS + "serve", "Open the workstation in a browser on this machine.", _KEEP),
)
"""The verbs of `ct-tui`, in the order of its help."""

_RULE_GROUP = "ct_tui.cli.verbs.rule_"
RULE_VERBS = (
    Entry("alias", _RULE_GROUP + "alias", "Entities of one type become another."),
    Entry("legalize", _RULE_GROUP + "legalize", "A type is declared from now on."),
    Entry("retype", _RULE_GROUP + "retype", "Just these entities become another type."),
    Entry("keep", _RULE_GROUP + "keep", "Seen and left as it is, for good or until a day."),
    Entry("revoke", _RULE_GROUP + "revoke", "An earlier ruling stops acting."),
    Entry("settle", _RULE_GROUP + "settle", "Answer a question of the queue."),
    Entry("edge", _RULE_GROUP + "edge", "Edges are repaired, or left as they are."),
    Entry("merge", _RULE_GROUP + "merge", "Entities are one and the same."),
    Entry("except", _RULE_GROUP + "except", "A lint finding is accepted, or entities stay apart."),
    Entry("adopt", _RULE_GROUP + "adopt", "Sign the proposals of a file."),
    Entry("list", _RULE_GROUP + "list", "List the table of rulings with the state of each."),
    Entry("verify", _RULE_GROUP + "verify", "Verify every signature and the chain."),
)
"""The verbs of `ct-tui rule`."""

_KEYS_GROUP = "ct_tui.cli.verbs.keys_"
KEYS_VERBS = (
    Entry("new", _KEYS_GROUP + "new", "Make a signing key and trust it."),
    Entry("list", _KEYS_GROUP + "list", "List your keys and whom you trust."),
    Entry("trust", _KEYS_GROUP + "trust", "Trust somebody's public key."),
    Entry("revoke", _KEYS_GROUP + "revoke", "Never accept a key again."),
)
"""The verbs of `ct-tui keys`."""

_ONTOLOGY_GROUP = "ct_tui.cli.verbs.ontology_"
ONTOLOGY_VERBS = (
    Entry("show", _ONTOLOGY_GROUP + "show", "Show the manifests and what each is good for."),
    Entry("set", _ONTOLOGY_GROUP + "set", "Set a mode or a fallback type."),
    Entry("clear", _ONTOLOGY_GROUP + "clear", "Take one mode back."),
)
"""The verbs of `ct-tui ontology`."""
