"""When Python looks for cyclic garbage: while nobody waits, and never while a key is on its way.

A full search goes through all that is in memory while everything else stands still, for half a second where a brain of
some hundred thousand entities was read. What is read of a brain holds no cycles and is given back without any search;
what does are mostly screens that were left. So the search of the old is put off until nothing is read and nobody has
pressed a key for a while, the longer the more there is to search.
"""

from __future__ import annotations

import gc
import sys
import time

SWITCH_SECONDS = 0.001
"""How long the screen waits for a busy thread whenever it needs the interpreter; Python's own is five times that."""

NEVER = 1_000_000_000
ENOUGH = 20
"""Searches of the young (seven thousand new objects each) after which a full one is worth while."""

IDLE_SECONDS = 10.0
IDLE_FACTOR = 30.0
"""A search that takes a second waits until nobody has pressed a key for half a minute."""

LONG_SECONDS = 0.05
"""A search that takes longer is not made twice over the same: what is alive after it, is left out of the next."""


def hold() -> None:
    """Before the first paint: search for nothing, since nothing that is imported for it is ever garbage."""
    gc.disable()
    sys.setswitchinterval(SWITCH_SECONDS)


def leave_all() -> None:
    """At the end: leave what is in memory to the end of the process, which needs no search."""
    gc.freeze()


class Tidying:
    """The searches of one run; they are Python's own business where nobody asked to `hold` them."""

    def __init__(self) -> None:
        self._active = False
        self._pressed = 0.0
        self._took = 0.0
        self._settled = False

    def begin(self) -> None:
        """The first frame is painted: search the young from now on, as ever, and the old only when asked."""
        if gc.isenabled():
            return
        self._active = True
        self._pressed = time.monotonic()
        gc.freeze()
        young, middle, _ = gc.get_threshold()
        gc.set_threshold(young, middle, NEVER)
        gc.enable()

    def settled(self) -> None:
        """Everything was read for the first time: none of it, and nothing imported for it, is searched either."""
        if self._active and not self._settled:
            self._settled = True
            gc.freeze()

    def pressed(self) -> None:
        """Somebody pressed a key."""
        self._pressed = time.monotonic()

    def tidy(self, *, resting: bool) -> bool:
        """Search everything where it is time for that; whether it was."""
        idle = time.monotonic() - self._pressed
        if not (self._active and resting) or idle < max(IDLE_SECONDS, IDLE_FACTOR * self._took):
            return False
        if gc.get_count()[2] < ENOUGH:
            return False
        began = time.monotonic()
        gc.collect()
        self._took = time.monotonic() - began
        if self._took > LONG_SECONDS:
            gc.freeze()
        return True
