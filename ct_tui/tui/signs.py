"""Signs and inks of what the core knows in words: one table for each kind of state, by the state's own word.

The core's states are words (`StrEnum`), so a table finds them by their value; none of the modules that define them is
imported here, since the first paint draws these signs and waits for no more than that.
"""

from __future__ import annotations

from ct_tui.tui.text import say

STATE_SIGNS = {
    "valid": ("✓", "ok"),
    "unsigned": ("○", "dim"),
    "tampered": ("✗", "bad"),
    "untrusted signer": ("?", "warn"),
    "expired": ("◷", "warn"),
    "revoked": ("⊘", "dim"),
    "broken chain": ("✗", "bad"),
    "rolled back": ("↶", "bad"),
    "conflicting": ("≠", "warn"),
}
"""What verification says of a ruling."""

KIND_SIGNS = {
    "undeclared type": "?",
    "blank type": "∅",
    "degraded origin": "↓",
    "unlabeled origin": "∅",
    "gate-skipped origin": "↷",
    "alias that cannot act": "✗",
    "shielded entity": "◇",
    "unreadable manifest": "!",
    "unreadable row": "!",
    "held proposal": "‖",
    "edge violation": "≠",
    "duplicate group": "≡",
    "curation finding": "!",
}
"""What a question is about."""

SEVERITY_SIGNS = {"error": ("✗", "bad"), "warning": ("!", "warn"), "info": ("i", "dim")}
"""How much a finding matters, the worst first."""

QUEUED_WORDS = {
    "type_conflict": say("types differ", "warn"),
    "summary_mismatch": say("summaries differ", "warn"),
    "kept_apart": say("some kept apart", "warn"),
}
"""Why a group of one name waits for a human."""
