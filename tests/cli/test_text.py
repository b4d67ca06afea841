"""Tables for a person: aligned, and not stretched by one cell that is far too long."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

from ct_tui.cli.text import table

if TYPE_CHECKING:
    from tests.cli.conftest import Ct


def test_columns_are_as_wide_as_their_widest_cell() -> None:
    rows = [("a", "1", "one"), ("bcd", "22", "two")]
    assert table(rows, ("name", "n", "word"), right=(1,)) == ["  name   n  word", "  a      1  one", "  bcd   22  two"]


def test_one_monster_stretches_no_other_line() -> None:
    rows = [("a", "one"), ("x" * 5_000, "two"), ("bcd", "three")]
    assert table(rows, width=80) == ["  a    one", f"  {'x' * 5_000}  two", "  bcd  three"]


def test_the_last_column_keeps_its_room_beside_a_monster() -> None:
    lines = table([("a", "some words that fit " * 3), ("x" * 5_000, "short")], width=80)
    assert lines[0] == "  a  " + ("some words that fit " * 3)


def test_an_undo_shows_a_part_of_what_it_does_and_leaves_and_all_of_it_when_asked(founded: Ct) -> None:
    with closing(sqlite3.connect(founded.brain / "brain.db")) as db, db:
        rows = [(f"ent_more{n:03}", "one more", "agent") for n in range(60)]
        more = "INSERT INTO curated_entities (id, name, entity_type, created_at, updated_at) VALUES (?, ?, ?, 1, 1)"
        db.executemany(more, rows)
    assert founded("heal", "--yes").code == 0
    with closing(sqlite3.connect(founded.brain / "brain.db")) as db, db:
        db.execute("UPDATE curated_entities SET entity_type = 'job' WHERE id BETWEEN 'ent_more000' AND 'ent_more029'")
    part, whole = founded("undo", "1").out, founded("undo", "1", "--all").out
    assert "… and 20 more; --all shows them" in part
    assert "… and 12 more notes; --all shows them" in part
    assert (part.count("changed since"), whole.count("changed since")) == (19, 30)
    assert whole.count("ent_more0") == 60
    assert "declared by run 1 and left so: document, process" in whole


def test_what_an_undo_leaves_alone_is_said_when_it_is_written_too(founded: Ct) -> None:
    run = founded.json("heal", "--yes")["run"]
    (entity,) = founded.json("ledger", "--ruling", "1")["history"][:1]
    founded.json("ontology", "set", "--entity", entity["entity"], "--mode", "off")
    done = founded("undo", str(run), "--yes")
    assert done.code == 0
    assert f"{entity['entity']}: expected 'role', opted out" in " ".join(done.out.split())


def test_the_document_of_an_undo_names_what_it_leaves_alone(founded: Ct) -> None:
    run = founded.json("heal", "--yes")["run"]
    assert "declared by run 1 and left so: document, process" in founded.json("undo", str(run), "--yes")["notes"]
