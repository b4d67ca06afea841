"""Who runs it, where nobody said so: named as the app names its reviewers."""

from __future__ import annotations

import os


def reviewer() -> str:
    """USER, else USERNAME, else `cli-operator`; a blank variable counts as unset."""
    for name in ("USER", "USERNAME"):
        value = os.environ.get(name, "").strip()
        if value:
            return value
    return "cli-operator"
