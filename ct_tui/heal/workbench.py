"""The workbench: one brain with its policy, rulings and runs; the core that both faces share.

Every method may be called from any thread. What is shown comes from one `View`, read in one snapshot and kept while
nothing moved: neither the brain (SQLite's data_version), nor config.json, the rulings, or the trusted signers.
Each part stands in a room of its own and may use the ones before: `bench`, `bench_reading`, `bench_ruling`,
`bench_healing`, `bench_curating`.
"""

from __future__ import annotations

from ct_tui.domain.census import CensusReport
from ct_tui.heal.bench_curating import Curating
from ct_tui.heal.view import View

__all__ = ["CensusReport", "View", "Workbench"]


class Workbench(Curating):
    """One brain with its policy, its rulings and its runs."""
