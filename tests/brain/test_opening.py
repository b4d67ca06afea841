"""Opening a brain: never created, never taken for what it is not, and read as far as it can be understood."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from ct_tui.brain import readers
from ct_tui.brain.connection import Brain
from ct_tui.brain.schema import HIGHEST_VERSION, WRITTEN
from ct_tui.domain.errors import BrainError
from ct_tui.heal.workbench import Workbench
from ct_tui.policy.paths import resolve_places
from tests.conftest import DATA

OCTOBER = DATA / "october" / "brain.db"
PAGE = 4096


def change(db: Path, *statements: str) -> None:
    with closing(sqlite3.connect(db)) as connection, connection:
        for statement in statements:
            connection.execute(statement)


def refused(path: Path) -> BrainError:
    """The refusal of a file, which it names and leaves as it was."""
    before = path.read_bytes() if path.is_file() else None
    listing = sorted(path.parent.iterdir()) if path.parent.is_dir() else None
    with pytest.raises(BrainError) as caught:
        Workbench(resolve_places(path)).census()
    assert str(path) in caught.value.message
    assert (path.read_bytes() if path.is_file() else None) == before
    assert (sorted(path.parent.iterdir()) if path.parent.is_dir() else None) == listing
    return caught.value


@pytest.mark.parametrize("name", ["brian.db", "no/such/folder/brain.db", "brain.db/brain.db"])
def test_a_typo_in_the_path_is_refused_and_creates_nothing(october: Path, name: str) -> None:
    error = refused(october / name)
    assert "there is no brain" in error.message or "cannot be read" in error.message
    assert error.remedy


def test_a_folder_without_a_brain_is_refused(tmp_path: Path) -> None:
    assert "there is no brain" in refused(tmp_path / "brain.db").message
    (tmp_path / "brain.db").mkdir()
    with pytest.raises(BrainError, match="is not a file"):
        Brain(tmp_path / "brain.db")


def test_an_empty_file_is_no_brain(tmp_path: Path) -> None:
    (tmp_path / "brain.db").touch()
    assert "empty file" in refused(tmp_path / "brain.db").message


@pytest.mark.parametrize(
    "content",
    [b"hello, this is text\n" * 300, b"\xff" * PAGE, b"\xff" * 10, OCTOBER.read_bytes()[1:], b"{}", b"\0" * PAGE],
    ids=["text", "page of FF", "a few FF", "one byte cut off", "json", "zeros"],
)
def test_what_is_no_database_is_refused_by_name(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "brain.db"
    path.write_bytes(content)
    assert "is not a brain" in refused(path).message


def test_another_program_s_database_is_refused_by_name(tmp_path: Path) -> None:
    path = tmp_path / "brain.db"
    change(path, "CREATE TABLE contacts (id INTEGER PRIMARY KEY, name TEXT)")
    assert "no table curated_entities" in refused(path).message


@pytest.mark.parametrize("kept", [100, PAGE, PAGE * 3 + 17])
def test_a_truncated_brain_is_said_to_be_damaged(tmp_path: Path, kept: int) -> None:
    path = tmp_path / "brain.db"
    path.write_bytes(OCTOBER.read_bytes()[:kept])
    message = refused(path).message
    assert "is damaged" in message or "is not a brain" in message or "no table" in message


def test_a_page_of_ff_bytes_is_named_and_nothing_is_written(october: Path) -> None:
    path = october / "brain.db"
    with closing(sqlite3.connect(path)) as connection:
        (root,) = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = 'curated_entities'").fetchone()
    data = bytearray(path.read_bytes())
    data[(root - 1) * PAGE : root * PAGE] = b"\xff" * PAGE
    path.write_bytes(bytes(data))
    with closing(Workbench(resolve_places(october))) as bench:
        with pytest.raises(BrainError, match="is damaged") as caught:
            bench.census()
        assert str(path) in caught.value.message
        with pytest.raises(BrainError, match="is damaged"):
            bench.heal(apply=True)
    assert path.read_bytes() == bytes(data)


def test_a_bad_page_elsewhere_leaves_the_rest_to_look_at(october: Path) -> None:
    """What a damaged page does not touch can still be shown."""
    path = october / "brain.db"
    with closing(sqlite3.connect(path)) as connection:
        (root,) = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = 'llm_wiki_events'").fetchone()
    data = bytearray(path.read_bytes())
    data[(root - 1) * PAGE : root * PAGE] = b"\xff" * PAGE
    path.write_bytes(bytes(data))
    with closing(Workbench(resolve_places(october))) as bench:
        assert bench.census().census.live == 152


@pytest.mark.parametrize("name", ["a?mode=rwc.db", "50%.db", "hash#1.db", "zwei  Wörter.db", "новый\nline.db"])
def test_odd_file_names_are_opened_as_they_are(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    shutil.copyfile(OCTOBER, path)
    with closing(Brain(path)) as brain, brain.reading() as db:
        assert sum(n for _, n in readers.type_counts(db, brain.schema)) == 152
    assert [p.name for p in tmp_path.iterdir() if p.is_file()] == [name]


def test_a_path_that_is_not_utf_8_works(tmp_path: Path) -> None:
    folder = Path(bytes(tmp_path).decode() + "/caf\udce9")
    folder.mkdir()
    shutil.copyfile(OCTOBER, folder / "brain.db")
    with closing(Workbench(resolve_places(folder))) as bench:
        report = bench.census()
        assert report.census.live == 152
        report.brain.encode()
        assert len(bench.plan().digest) == 64
        bench.save_plan(bench.plan(), tmp_path / "plan.json")
        assert bench.apply(bench.load_plan(tmp_path / "plan.json")).run == 1


def test_a_newer_schema_is_read_and_never_written(october: Path) -> None:
    change(october / "brain.db", f"INSERT INTO schema_version VALUES ({HIGHEST_VERSION + 1})")
    before = (october / "brain.db").read_bytes()
    with closing(Workbench(resolve_places(october))) as bench:
        assert bench.census().census.live == 152
        assert len(bench.queue().items) > 6
        assert "schema version 27" in bench.write_refusal
        report = bench.heal(apply=True)
        assert report.error is not None
        assert "schema version 27" in report.error
        with pytest.raises(BrainError, match="schema version 27"):
            bench.apply(bench.plan())
    assert (october / "brain.db").read_bytes() == before


@pytest.mark.parametrize(
    "statement",
    [
        "ALTER TABLE curated_entities ADD COLUMN colour TEXT",
        "ALTER TABLE curated_entities ADD COLUMN loud TEXT GENERATED ALWAYS AS (upper(name)) VIRTUAL",
        "ALTER TABLE entity_type_origin ADD COLUMN colour TEXT",
        "ALTER TABLE llm_wiki_entity_manifests ADD COLUMN colour TEXT",
        "ALTER TABLE llm_wiki_meta ADD COLUMN colour TEXT",
        "ALTER TABLE manifest_ensure_memo ADD COLUMN colour TEXT",
    ],
)
def test_extra_columns_are_read_past_and_never_written(october: Path, statement: str) -> None:
    change(october / "brain.db", statement)
    with closing(Workbench(resolve_places(october))) as bench:
        assert bench.census().census.live == 152
        assert "column this program does not know" in bench.write_refusal
        report = bench.heal(apply=True)
    assert report.exit_code == 1
    assert "does not know" in str(report.error)


def test_extra_columns_of_tables_that_are_only_read_do_not_matter(october: Path) -> None:
    change(october / "brain.db", "ALTER TABLE llm_wiki_entries ADD COLUMN colour TEXT")
    with closing(Workbench(resolve_places(october))) as bench:
        assert bench.write_refusal == ""
        assert bench.heal(apply=True).error is None


TABLES = [
    n
    for (n,) in sqlite3.connect(OCTOBER).execute(
        "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite%'"
    )
    if n != "curated_entities"
]


@pytest.mark.parametrize("table", TABLES)
def test_a_missing_table_hides_only_what_it_held(october: Path, table: str) -> None:
    kind = "VIEW" if table == "live_entities" else "TABLE"
    change(october / "brain.db", f"DROP {kind} {table}")
    with closing(Workbench(resolve_places(october))) as bench:
        census = bench.census().census
        assert census.live == 152
        if table != "llm_wiki_entity_manifests":
            assert census.undeclared_entities == 53
        look_everywhere(bench)
        if table in WRITTEN:
            assert table in bench.write_refusal
            assert bench.heal(apply=True).exit_code == 1
        else:
            assert bench.heal(apply=True).error is None


def look_everywhere(bench: Workbench) -> None:
    """Ask for everything that is shown of a brain."""
    queue = bench.queue()
    plan = bench.plan()
    assert plan.digest
    entity = next(iter(bench.entities_by_type("person", limit=1)))
    assert bench.entity(entity.id).name == entity.name
    assert bench.ledger(entity.id).id == entity.id
    assert bench.search(entity.name)[0].type
    assert bench.why(entity.id)
    assert bench.runs() == ()
    assert bench.history() == ()
    assert bench.dead_aliases() == ()
    for item in queue.items:
        bench.entities_of(item)


def only_entities(path: Path, columns: str) -> Path:
    change(
        path,
        f"CREATE TABLE curated_entities ({columns})",
        "INSERT INTO curated_entities (id, name, entity_type) VALUES ('e1', 'Ada', 'person'), ('e2', 'Bot', 'agent')",
    )
    return path


@pytest.mark.parametrize(
    "columns",
    [
        "id TEXT PRIMARY KEY, name TEXT, entity_type TEXT, deleted_at INTEGER",
        "id, name, entity_type, deleted_at",
        "id TEXT PRIMARY KEY, name TEXT, entity_type TEXT, summary TEXT, created_at, updated_at, deleted_at",
    ],
)
def test_a_brain_of_entities_alone_can_be_looked_at(tmp_path: Path, columns: str) -> None:
    path = only_entities(tmp_path / "brain.db", columns)
    before = path.read_bytes()
    with closing(Workbench(resolve_places(path))) as bench:
        census = bench.census(ids=True).census
        assert {t.type: (t.count, t.ids) for t in census.types} == {"person": (1, ("e1",)), "agent": (1, ("e2",))}
        look_everywhere(bench)
        assert "has no table" in bench.write_refusal or "lacks the column" in bench.write_refusal
        assert bench.heal(apply=True).exit_code == 1
    assert path.read_bytes() == before


@pytest.mark.parametrize("column", ["id", "name", "entity_type", "deleted_at"])
def test_without_the_columns_of_an_entity_it_is_no_brain(tmp_path: Path, column: str) -> None:
    rest = [c for c in ("id", "name", "entity_type", "deleted_at") if c != column]
    change(tmp_path / "brain.db", f"CREATE TABLE curated_entities ({', '.join(rest)})")
    assert f"has no column {column}" in refused(tmp_path / "brain.db").message


def test_a_table_that_lacks_a_column_counts_as_missing(october: Path) -> None:
    change(
        october / "brain.db",
        "ALTER TABLE llm_wiki_events DROP COLUMN summary",
        "ALTER TABLE schema_version RENAME COLUMN version TO v",
    )
    with closing(Workbench(resolve_places(october))) as bench:
        look_everywhere(bench)
        report = bench.census()
        assert (report.census.live, report.schema_version) == (152, None)


def test_broken_views_and_unknown_virtual_tables_hide_nothing(october: Path) -> None:
    with closing(sqlite3.connect(october / "brain.db")) as connection, connection:
        connection.execute("CREATE VIEW broken AS SELECT * FROM no_such_table")
        connection.execute("PRAGMA writable_schema = 1")
        connection.execute(
            "INSERT INTO sqlite_master VALUES ('table', 'vectors', 'vectors', 0, "
            "'CREATE VIRTUAL TABLE vectors USING no_such_module(embedding)')"
        )
    with closing(Workbench(resolve_places(october))) as bench:
        look_everywhere(bench)
        assert bench.heal(apply=True).error is None


def test_our_tables_of_another_version_are_not_written_on(october: Path) -> None:
    change(october / "brain.db", "CREATE TABLE ct_tui_run (id INTEGER PRIMARY KEY, at INTEGER)")
    with closing(Workbench(resolve_places(october))) as bench:
        assert bench.runs() == ()
        assert "another version of this program" in bench.write_refusal
        assert bench.heal(apply=True).exit_code == 1
