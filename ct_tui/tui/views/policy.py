"""The policy view: its key, and the keys that change the policy."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ct_tui.tui.actions import Action, Group, can_write, ready
from ct_tui.tui.views import View

if TYPE_CHECKING:
    from collections.abc import Callable

    from ct_tui.tui.actions import Moment
    from ct_tui.tui.screens.policy import PolicyScreen


POLICY = frozenset({"policy"})


def can_mode(now: Moment) -> str:
    """It needs something that has a mode under the cursor."""
    refusal = can_write(now)
    if refusal or now.subject in {"default", "folder", "manifest", "opt-out", "entity"}:
        return refusal
    return "Put the cursor on the host default, a folder, an entity's manifest, an opt-out, or an entity."


def can_take_back(now: Moment) -> str:
    """It needs a setting that can be taken back under the cursor."""
    refusal = can_write(now)
    if refusal or now.subject in {"default", "folder", "opt-out", "entity"}:
        return refusal
    return "Only the host default, a folder's mode and an opt-out can be taken back."


def can_fall_back(now: Moment) -> str:
    """It needs a manifest row under the cursor."""
    return can_write(now) or ("" if now.subject == "manifest" else "Put the cursor on a manifest row.")


def can_answer_drift(now: Moment) -> str:
    """It needs a policy drift that nobody answered yet."""
    refusal = can_write(now)
    if refusal:
        return refusal
    if now.drift_waits:
        return ""
    return "There is no policy drift to answer: the policy is what the last heal saw, or is confirmed."


def _action(name: str, key: str, title: str, text: str, against: Callable[[Moment], str], rank: int) -> Action:
    return Action(f"policy.{name}", (key,), title, text, Group.WRITE, POLICY, against, rank=rank)


def _open() -> PolicyScreen:
    from ct_tui.tui.screens.policy import PolicyScreen

    return PolicyScreen()


VIEW = View(
    "policy",
    "O",
    "Ontology policy",
    "Folders, default, manifests and opt-outs: what each decides, whom it covers, and keys to change it.",
    _open,
    (
        _action(
            "strict", "s", "strict", "Gate what is under the cursor; it says first what that changes.", can_mode, 1
        ),
        _action("off", "o", "off", "Switch the gate off for what is under the cursor, or opt it out.", can_mode, 2),
        _action("back", "u", "take back", "Take the setting under the cursor back.", can_take_back, 3),
        _action("fallback", "f", "fallback", "Choose the type that unknown labels land on.", can_fall_back, 4),
        _action("folder", "+", "folder", "Set the mode of a folder that has none yet.", can_write, 5),
        _action("entity", "e", "entity", "Search an entity to opt it out, or in.", can_write, 6),
        _action(
            "confirm",
            "c",
            "confirm drift",
            "Confirm the policy drift, so that the plan may be applied.",
            can_answer_drift,
            7,
        ),
        _action(
            "waive",
            "w",
            "waive drift",
            "Waive the policy drift this once: only the manifests are brought up to date.",
            can_answer_drift,
            8,
        ),
        Action(
            "policy.raw",
            ("i",),
            "raw text",
            "The manifest, or config.json, exactly as it stands.",
            Group.LOOK,
            POLICY,
            ready,
        ),
    ),
    rank=78,
)
