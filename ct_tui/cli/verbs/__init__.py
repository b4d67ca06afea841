"""The verbs, one a file: each has a `command` that `ct_tui.cli.registry` names."""
