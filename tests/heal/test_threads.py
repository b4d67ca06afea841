"""Several threads that ask one workbench for its parts, as the workstation's lanes do."""

from __future__ import annotations

import sys
import threading
from typing import TYPE_CHECKING

import pytest

from ct_tui.domain.rulings import Alias, EdgeRepair, Repair

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.heal.lab import Lab

ROUNDS = 12
PATIENCE = 30.0
"""Seconds that a round may take."""


@pytest.fixture
def eager() -> Iterator[None]:
    """Threads that take turns as often as they can."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(before)


def test_no_two_threads_wait_for_each_other(october_lab: Lab, eager: None) -> None:
    edges = [row[0] for row in october_lab.case.rows("SELECT id FROM llm_wiki_edges WHERE edge_type = 'hasRole'")]
    october_lab.rule(EdgeRepair(Repair.DROP, tuple(edges)), Alias("document", "creativework"))
    with october_lab.bench() as bench:
        for _ in range(ROUNDS):
            bench._view = None
            asked: list[Callable[[], object]] = [
                lambda: bench.edge_desk.map,
                lambda: bench.edge_desk.dossier(edges[0]),
                bench.plan,
                bench.queue,
                bench.census,
                bench.edges,
                lambda: bench.policy_desk.sheet,
                lambda: bench.signatures("agent"),
                lambda: bench.impact(Alias("agent", "role")),
            ]
            failed: list[BaseException] = []
            threads = [threading.Thread(target=_guarded, args=(ask, failed), daemon=True) for ask in asked]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join(PATIENCE)
            assert not any(thread.is_alive() for thread in threads), "they wait for each other"
            assert failed == []


def _guarded(ask: Callable[[], object], failed: list[BaseException]) -> None:
    try:
        ask()
    except BaseException as error:  # noqa: BLE001 - whatever it was, the test has to see it
        failed.append(error)
