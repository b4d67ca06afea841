"""What the core costs, as a multiple of the plainest way to the same rows: `make bench`.

Both sides of a ratio run in one process on one file, each the best of several times, so that the machine falls out of
it. CT_TUI_BENCH_ENTITIES sets the size (100,000 where it is not set).
"""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from ct_tui.brain.edges import EdgeReader
from ct_tui.domain.manifest import EdgeType
from ct_tui.domain.rulings import Alias, EdgeRepair, Legalize, Repair
from ct_tui.heal.edges import rulebook
from ct_tui.heal.workbench import Workbench
from ct_tui.policy.paths import Places
from ct_tui.policy.shipped import founding_text
from ct_tui.trust.keys import create_key
from ct_tui.trust.paths import keys_folder
from ct_tui.trust.trusting import trust
from tests.bench.grown import grow

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = pytest.mark.bench

ENTITIES = int(os.environ.get("CT_TUI_BENCH_ENTITIES", "100000"))
CURATOR = "curator@bench.invalid"
FOLDERS = {"immutable-source-files/ops": "off", "immutable-source-files/people": "strict"}
LIVE = "deleted_at IS NULL AND NOT EXISTS (SELECT 1 FROM entity_redirects r WHERE r.entity_id = curated_entities.id)"


@pytest.fixture(scope="module")
def grown(tmp_path_factory: pytest.TempPathFactory) -> Places:
    """A big brain on which the founding rulings are in force."""
    root = tmp_path_factory.mktemp("bench")
    folder = grow(Path(__file__).parents[1] / "data" / "october", root / "brain", ENTITIES)
    places = Places(folder / "brain.db", folder / "config.json", folder / "aliases", root / "user")
    key = create_key(CURATOR, keys_folder(places.user_dir))
    trust(CURATOR, f"{key.path}.pub", places.user_dir)
    places.aliases.mkdir()
    founding = places.aliases / "founding.yaml"
    founding.write_text(founding_text(), encoding="utf-8")
    with Workbench(places) as bench:
        bench.adopt(founding, key=key.path, principal=CURATOR)
    return places


@pytest.fixture
def copy(grown: Places, tmp_path: Path) -> Places:
    """The big brain again, to be written to."""
    shutil.copytree(grown.brain.parent, tmp_path / "copy")
    folder = tmp_path / "copy"
    return Places(folder / "brain.db", folder / "config.json", folder / "aliases", grown.user_dir)


def best(work: Callable[[], object], times: int = 5) -> float:
    """The shortest of several runs, in seconds."""
    taken = []
    for _ in range(times):
        began = time.perf_counter()
        work()
        taken.append(time.perf_counter() - began)
    return min(taken)


def compare(what: str, ours: float, floor: float, limit: float) -> list[str]:
    """Print one line of the table, and give it back where the ratio is above its limit."""
    line = f"{what:<34} {ours * 1000:9.1f} ms   floor {floor * 1000:9.1f} ms   {ours / floor:5.2f} × (at most {limit})"
    sys.stdout.write(f"\n{line}\n")
    return [] if ours <= limit * floor else [line]


def stream(db: Path, statement: str) -> int:
    """Read every row of a statement, one by one."""
    with closing(sqlite3.connect(f"{db.as_uri()}?mode=ro", uri=True)) as connection:
        return sum(1 for _ in connection.execute(statement))


def afresh(places: Places, ask: Callable[[Workbench], object]) -> float:
    """The time of one question to an open workbench that has to read the brain again, since something moved."""
    with Workbench(places) as bench:
        ask(bench)
        moments = iter(range(1_800_000_000, 1_900_000_000))

        def moved() -> None:
            os.utime(places.config, (next(moments),) * 2)
            ask(bench)

        return best(moved)


def test_census(grown: Places) -> None:
    floor = best(
        lambda: stream(grown.brain, f"SELECT entity_type, COUNT(*) FROM curated_entities WHERE {LIVE} GROUP BY 1")
    )
    assert compare("census", afresh(grown, lambda bench: bench.census()), floor, 1.5) == []


def test_census_of_a_brain_that_stands_still(grown: Places) -> None:
    with Workbench(grown) as bench:
        first = bench.census()
        taken = best(bench.census, 50)
        assert bench.census().as_json() == first.as_json()
    sys.stdout.write(f"\n{'census, nothing moved':<34} {taken * 1000:9.3f} ms\n")
    assert taken < 0.002


def test_plan_without_folder_rules(grown: Places) -> None:
    floor = best(lambda: stream(grown.brain, "SELECT id, entity_type FROM curated_entities"))
    assert compare("plan, no folder rules", afresh(grown, lambda bench: bench.plan()), floor, 2) == []


def test_plan_with_folder_rules(copy: Places) -> None:
    config = json.loads(copy.config.read_text(encoding="utf-8"))
    config["ingest"]["folder_ontology"] = FOLDERS
    copy.config.write_text(json.dumps(config), encoding="utf-8")
    statement = "SELECT entity_id, source_ref FROM llm_wiki_entries WHERE deleted_at IS NULL"
    floor = best(lambda: stream(copy.brain, statement))
    assert compare("plan, folder rules", afresh(copy, lambda bench: bench.plan()), floor, 3) == []


def set_based(db: Path) -> None:
    """The three founding aliases as two statements of one transaction."""
    cases = "CASE entity_type WHEN 'agent' THEN 'role' WHEN 'component' THEN 'service' ELSE 'document' END"
    moved = f"entity_type IN ('agent', 'component', 'software') AND {LIVE}"
    with closing(sqlite3.connect(db, isolation_level=None)) as connection:
        connection.execute("BEGIN IMMEDIATE")
        connection.execute(
            "INSERT OR IGNORE INTO entity_type_origin (entity_id, original_type, reason, recorded_at) "
            f"SELECT id, entity_type, 'alias_retype', 1 FROM curated_entities WHERE {moved}"
        )
        connection.execute(f"UPDATE curated_entities SET entity_type = {cases}, updated_at = 1 WHERE {moved}")
        connection.execute("COMMIT")


def test_apply_and_undo(copy: Places, grown: Places, tmp_path: Path) -> None:
    other = tmp_path / "floor.db"
    shutil.copy(grown.brain, other)
    floor = best(lambda: set_based(other), 1)
    with Workbench(copy) as bench:
        whole = bench.plan()
        began = time.perf_counter()
        receipt = bench.apply(whole, backup=False)
        applied = time.perf_counter() - began
        assert receipt.run is not None
        undoing = bench.undo_plan(receipt.run)
        began = time.perf_counter()
        undone = bench.apply(undoing, backup=False)
        taken_back = time.perf_counter() - began
    assert receipt.retyped == undone.retyped == len(whole.changes) > ENTITIES * DRIFTING
    assert compare("apply", applied, floor, 2) + compare("undo", taken_back, floor, 2) == []


DRIFTING = 0.2 * 3 / 40 * 0.9
"""The least share of the entities that the three aliases move."""


def plain_conformance(db: Path) -> int:
    """The plainest way to counted triples: a temporary table of ids and types, one join, one GROUP BY."""
    with closing(sqlite3.connect(f"{db.as_uri()}?mode=ro", uri=True)) as connection:
        connection.execute("CREATE TEMP TABLE ends (id TEXT PRIMARY KEY, type TEXT)")
        connection.execute("INSERT INTO ends SELECT id, entity_type FROM curated_entities WHERE deleted_at IS NULL")
        rows = connection.execute(
            "SELECT e.edge_type, s.type, t.type, COUNT(*) FROM llm_wiki_edges e LEFT JOIN ends s ON s.id = e.source_id "
            "LEFT JOIN ends t ON t.id = e.target_id GROUP BY 1, 2, 3"
        )
        return sum(1 for _ in rows)


def conformance(places: Places) -> object:
    """Every edge judged, facts and archived ends among them, and the matrix drawn up."""
    with Workbench(places) as bench, bench.brain.snapshot() as db:
        book = rulebook(bench.view().situation.manifests)
        triples = EdgeReader(db, bench.brain.schema).triples()
        return triples.counts(book), triples.matrix(book)


def test_edge_conformance(grown: Places) -> None:
    floor = best(lambda: plain_conformance(grown.brain), 3)
    assert compare("edge conformance", best(lambda: conformance(grown), 3), floor, 1.2) == []


def test_what_if_while_somebody_chooses(grown: Places) -> None:
    with Workbench(grown) as bench:
        bodies = (
            Alias("novelty1", "role"),
            Legalize("novelty2", "A thing.", edges=(EdgeType("knows", "novelty2", "person"),)),
            EdgeRepair(Repair.WIDEN, triple=("knows", "role", "person")),
        )
        for body in bodies:
            bench.impact(body)
            taken = best(lambda body=body: bench.impact(body), 20)  # type: ignore[misc]
            sys.stdout.write(f"\n{f'what if: {body}'[:34]:<34} {taken * 1000:9.3f} ms   (at most 20 ms)\n")
            assert taken < 0.02


def run(*command: str) -> Any:
    return subprocess.run([sys.executable, *command], check=True, capture_output=True)


def test_version_starts_fast() -> None:
    floor = best(lambda: run("-c", "import click"), 10)
    assert compare("--version", best(lambda: run("-m", "ct_tui", "--version"), 10), floor, 2) == []
    assert compare("--help", best(lambda: run("-m", "ct_tui", "--help"), 10), floor, 2) == []


BARE = """
import asyncio
from textual.app import App
from textual.widgets import DataTable

class Bare(App):
    def compose(self):
        yield DataTable()

    def on_mount(self):
        table = self.query_one(DataTable)
        table.add_columns("a", "b")
        for row in range(50):
            table.add_row(str(row), "x")

async def main():
    async with Bare().run_test(size=(120, 40)) as pilot:
        await pilot.pause()

asyncio.run(main())
"""

OURS = """
import sys
from pathlib import Path
import ct_tui.tui.app
from ct_tui.heal.workbench import Workbench
from ct_tui.policy.paths import Places

brain, config, user, *questions = sys.argv[1:]
folder = Path(brain).parent
with Workbench(Places(Path(brain), Path(config), folder / "aliases", Path(user))) as bench:
    for question in questions:
        {"census": bench.census, "plan": bench.plan, "queue": bench.queue,
         "first": lambda: bench.queue(first=True)}[question]()
"""


PEAK = """
print(next(line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM")))
"""
# What getrusage calls the peak begins with that of the process which started this one.


def peak(script: str, *arguments: str) -> float:
    """The peak of a process of its own, in megabytes."""
    return int(run("-c", script + PEAK, *arguments).stdout) / 1024


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the peak is read where Linux tells it")
def test_memory(grown: Places, tmp_path: Path) -> None:
    """The peak of a process that opens the brain as the application does, with and without folder rules."""
    bare = peak(BARE)
    rules = tmp_path / "config.json"
    config = json.loads(grown.config.read_text(encoding="utf-8"))
    config["ingest"]["folder_ontology"] = FOLDERS
    rules.write_text(json.dumps(config), encoding="utf-8")
    over = []
    for what, path, questions in (
        ("opening", grown.config, ("census", "first", "plan")),
        ("opening, folder rules", rules, ("census", "first", "plan")),
        ("whole queue", grown.config, ("census", "first", "queue")),
        ("whole queue, folder rules", rules, ("census", "first", "queue")),
    ):
        ours = peak(OURS, str(grown.brain), str(path), str(grown.user_dir), *questions)
        line = f"{what:<34} {ours:9.0f} MB   bare  {bare:9.0f} MB   {ours - bare:5.0f} MB more (at most 150)"
        sys.stdout.write(f"\n{line}\n")
        over += [line] if ours > bare + 150 else []
    assert over == []
