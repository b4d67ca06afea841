"""The looks: two themes of our own, the terminal's sixteen colours, and which of them to begin with."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from textual.theme import Theme

if TYPE_CHECKING:
    from collections.abc import Mapping

STYLES = Path(__file__).with_name("styles")
DIALOG_STYLES, VIEW_STYLES = STYLES / "dialogs.tcss", STYLES / "views.tcss"
"""What only dialogs, and only the views beside the desk, are styled with."""

DARK = Theme(
    name="ct-dark",
    primary="#7aa2c9",
    secondary="#8d9bb0",
    accent="#d9a862",
    warning="#d9a862",
    error="#e08585",
    success="#8fbf8f",
    foreground="#d5d8de",
    background="#16181d",
    surface="#1b1e24",
    panel="#22262e",
    dark=True,
    variables={
        "ink-dim": "#959cab",
        "ink-faint": "#666e7d",
        "ink-title": "#eceff4",
        "ink-head": "#8fb4d9",
        "ink-type": "#a9c7e6",
        "ink-key": "#d9a862",
        "ink-ok": "#8fbf8f",
        "ink-warn": "#e0b36c",
        "ink-bad": "#e58f8f",
        "row-cursor": "#2d3a4b",
        "row-cursor-blurred": "#252a33",
        "row-mark": "#3a3325",
        "border-blurred": "#3a404c",
        "border": "#7aa2c9",
        "input-selection-background": "#3d5a7a",
        "scrollbar": "#343b47",
        "scrollbar-hover": "#465062",
        "scrollbar-active": "#5a6880",
        "scrollbar-background": "#16181d",
        "scrollbar-background-hover": "#16181d",
        "scrollbar-background-active": "#16181d",
        "scrollbar-corner-color": "#16181d",
    },
)

LIGHT = Theme(
    name="ct-light",
    primary="#2f5f8f",
    secondary="#5b6778",
    accent="#8a5a12",
    warning="#8a5a12",
    error="#a83232",
    success="#2d6e3e",
    foreground="#23262d",
    background="#f7f6f2",
    surface="#f1efe9",
    panel="#e6e3da",
    dark=False,
    variables={
        "ink-dim": "#5d6470",
        "ink-faint": "#868c98",
        "ink-title": "#101217",
        "ink-head": "#2f5f8f",
        "ink-type": "#1f5384",
        "ink-key": "#8a5a12",
        "ink-ok": "#2d6e3e",
        "ink-warn": "#8a5a12",
        "ink-bad": "#a83232",
        "row-cursor": "#d3dfec",
        "row-cursor-blurred": "#e4e3de",
        "row-mark": "#f0e3c4",
        "border-blurred": "#c5c2b8",
        "border": "#2f5f8f",
        "input-selection-background": "#b7cfe8",
        "scrollbar": "#cfccc2",
        "scrollbar-hover": "#b9b6ab",
        "scrollbar-active": "#a29f94",
        "scrollbar-background": "#f7f6f2",
        "scrollbar-background-hover": "#f7f6f2",
        "scrollbar-background-active": "#f7f6f2",
        "scrollbar-corner-color": "#f7f6f2",
    },
)

DEFAULTS = {
    "ink-dim": "$foreground-muted",
    "ink-faint": "$foreground-muted",
    "ink-title": "$foreground",
    "ink-head": "$text-primary",
    "ink-type": "$text-primary",
    "ink-key": "$text-accent",
    "ink-ok": "$text-success",
    "ink-warn": "$text-warning",
    "ink-bad": "$text-error",
    "row-cursor": "$primary 30%",
    "row-cursor-blurred": "$primary 12%",
    "row-mark": "$warning 15%",
}
"""What the inks are in a theme that does not name them."""

ANSI_DARK, ANSI_LIGHT = "ansi-dark", "ansi-light"


def plain_colours(env: Mapping[str, str] | None = None) -> bool:
    """Whether to draw with the terminal's own sixteen colours, or with none: NO_COLOR, or a terminal without more."""
    env = os.environ if env is None else env
    if "NO_COLOR" in env:
        return True
    term = env.get("TERM", "")
    rich = "256color" in term or "direct" in term or env.get("COLORTERM", "") in {"truecolor", "24bit"}
    return not rich and term in {"linux", "xterm", "screen", "vt100", "vt220", "ansi", "rxvt", "tmux"}


def first_theme(env: Mapping[str, str] | None = None) -> str:
    """The name of the theme to begin with: TEXTUAL_THEME, else by the terminal; COLORFGBG tells a light one."""
    env = os.environ if env is None else env
    if env.get("TEXTUAL_THEME"):
        return env["TEXTUAL_THEME"]
    light = env.get("COLORFGBG", "").rpartition(";")[2] in {"7", "15"}
    if plain_colours(env):
        return ANSI_LIGHT if light else ANSI_DARK
    return LIGHT.name if light else DARK.name
