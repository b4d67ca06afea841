"""Rows that are no readable text: each in its own state, never written, and the others go on."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest

from ct_tui.domain.names import label_key
from ct_tui.domain.queue import ItemKind
from tests.policy.brains import SEEDS

if TYPE_CHECKING:
    from tests.heal.lab import Lab

INSERT = (
    "INSERT INTO curated_entities (id, name, entity_type, created_at, updated_at) VALUES ({id}, {name}, {type}, 1, 1)"
)

# Each row of SQL literals, with how its id reads.
UNREADABLE = {
    "BLOB type": ("'u'", "'n'", "x'ff00'", "u"),
    "BLOB type that reads like a declared one": ("'u'", "'n'", "x'706572736f6e'", "u"),
    "type not UTF-8": ("'u'", "'n'", "CAST(x'ff41' AS TEXT)", "u"),
    "NUL in the type": ("'u'", "'n'", "'per' || char(0) || 'son'", "u"),
    "NUL after a declared type": ("'u'", "'n'", "'person' || char(0)", "u"),
    "BLOB name": ("'u'", "x'ff00'", "'person'", "u"),
    "name not UTF-8": ("'u'", "CAST(x'ff41' AS TEXT)", "'person'", "u"),
    "NUL in the name": ("'u'", "'a' || char(0) || 'b'", "'person'", "u"),
    "BLOB id": ("x'01ff'", "'n'", "'person'", "\x01\ufffd"),
    "id not UTF-8": ("CAST(x'ff41' AS TEXT)", "'n'", "'agent'", "\ufffdA"),
    "NUL in the id": ("'u' || char(0)", "'n'", "'person'", "u\0"),
    "NULL id": ("NULL", "'n'", "'agent'", "NULL"),
}


def put(lab: Lab, id_: str, name: str, kind: str) -> None:
    lab.case.run(INSERT.format(id=id_, name=name, type=kind))


def snapshot(lab: Lab) -> list[tuple[Any, ...]]:
    """Every row of the entities, the bytes of each column as hex."""
    return lab.case.rows(
        "SELECT rowid, typeof(id), hex(id), typeof(name), hex(name), typeof(entity_type), hex(entity_type), updated_at "
        "FROM curated_entities ORDER BY rowid"
    )


@pytest.mark.parametrize("case", UNREADABLE, ids=list(UNREADABLE))
def test_an_unreadable_row_is_listed_and_never_written(lab: Lab, case: str) -> None:
    id_, name, kind, shown = UNREADABLE[case]
    lab.case.tier(*SEEDS, "concept", "document", fallback="concept")
    lab.case.entity("a", "agent")
    lab.case.entity("p", "Person")
    lab.found()
    put(lab, id_, name, kind)
    before = [r for r in snapshot(lab) if r[0] == 3]
    assert [(i.count, i.entities) for i in lab.items(ItemKind.ROW)] == [(1, (shown,))]
    report = lab.heal()
    assert (report.error, report.retyped, report.recased) == (None, 1, 1)
    assert [r for r in snapshot(lab) if r[0] == 3] == before
    assert (lab.type_of("a"), lab.type_of("p")) == ("role", "person")
    assert lab.heal().retyped == 0
    with lab.bench() as bench:
        assert bench.census().census.live == 3


def test_rows_unreadable_in_different_ways_are_one_question(lab: Lab) -> None:
    """A bad type leads the survey to its row; a bad name under a declared type is found all the same."""
    lab.case.tier("person", fallback="person")
    for at, (id_, name, kind, _) in enumerate(UNREADABLE.values()):
        put(lab, id_.replace("'u'", f"'u{at}'"), name, kind)
    put(lab, "NULL", "'second'", "'person'")
    put(lab, "'fine'", "'Ada'", "'person'")
    put(lab, "'name ünïcode'", "'Жанна'", "'person'")
    [item] = lab.items(ItemKind.ROW)
    assert item.count == len(UNREADABLE) + 1
    assert item.entities.count("NULL") == 2
    assert "fine" not in item.entities
    assert "name ünïcode" not in item.entities


def test_the_same_bytes_as_blob_and_as_text_are_one_row_of_the_census(lab: Lab) -> None:
    lab.case.tier("person", fallback="person")
    put(lab, "'b'", "'n'", "x'ff41'")
    put(lab, "'t'", "'n'", "CAST(x'ff41' AS TEXT)")
    row = lab.census()["\ufffdA"]
    assert (row["status"], row["count"], sorted(row["ids"])) == ("unreadable", 2, ["b", "t"])


def test_numbers_and_null_in_columns_without_a_type(lab: Lab) -> None:
    """Another program's table may lack the affinity that turns numbers into text."""
    with closing(sqlite3.connect(lab.db)) as connection, connection:
        connection.execute("ALTER TABLE curated_entities RENAME TO old")
        connection.execute(
            "CREATE TABLE curated_entities (id, name, entity_type, summary, summary_embedding, created_at, updated_at, "
            "deleted_at)"
        )
        rows = [(1, "n", "person"), ("i", 2.5, "person"), ("j", "n", 7), ("k", None, "person"), ("l", "n", None)]
        connection.executemany("INSERT INTO curated_entities (id, name, entity_type) VALUES (?, ?, ?)", rows)
        connection.execute("INSERT INTO curated_entities (id, name, entity_type) VALUES ('ok', 'Ada', 'Person')")
    lab.case.tier("person", fallback="person")
    before = snapshot(lab)
    [item] = lab.items(ItemKind.ROW)
    assert sorted(item.entities) == ["1", "i", "j", "k", "l"]
    census = lab.census()
    assert {t: (r["status"], r["count"]) for t, r in census.items()} == {
        "person": ("declared", 3),
        "Person": ("variant", 1),
        "7": ("unreadable", 1),
        "NULL": ("unreadable", 1),
    }
    assert lab.heal().recased == 1
    changed = [b for b, a in zip(before, snapshot(lab), strict=True) if b != a]
    assert [c[2] for c in changed] == [b"ok".hex().upper()]


def test_an_unreadable_row_is_named_when_asked_for(lab: Lab) -> None:
    lab.case.tier("person", fallback="person")
    put(lab, "'u'", "x'ff00'", "'person'")
    with lab.bench() as bench:
        assert "never written" in bench.entity("u").problem
        [view] = bench.entities_by_type("person")
        assert view.problem
        assert bench.ledger("u").name == "\ufffd\0"


def test_times_that_are_no_numbers_are_left_out(lab: Lab) -> None:
    lab.case.tier("person", fallback="person")
    lab.case.entity("p", "person")
    lab.case.run("UPDATE curated_entities SET created_at = 'yesterday', updated_at = x'00'")
    with lab.bench() as bench:
        view = bench.entity("p")
        assert (view.created_at, view.updated_at, view.deleted_at) == (None, None, None)
    lab.case.run("UPDATE curated_entities SET deleted_at = 'long ago'")
    with lab.bench() as bench:
        assert bench.entity("p").deleted_at is not None


STATES = {
    "": "blank",
    "   ": "blank",
    "\u3000\u2028": "blank",
    "person": "declared",
    " person ": "variant",
    "Person": "variant",
    "PERSON\n": "variant",
    "\u00a0person": "variant",
    "re\u0301sume\u0301": "undeclared",
    "résumé": "declared",
    "RÉSUMÉ": "variant",
    "\u0430gent": "undeclared",
    "agent": "declared",
    "Straße": "declared",
    "STRASSE": "undeclared",
    "straße": "variant",
    "i\u0307d": "declared",
    "İd": "variant",
    "id": "undeclared",
    "σας": "declared",
    "ΣΑΣ": "variant",
    "σασ": "undeclared",
    "\x1fperson": "undeclared",
    "person\u200b": "undeclared",
    "\u200bperson": "undeclared",
    "\ufeffperson": "undeclared",
}
DECLARED = ("person", "résumé", "agent", "Straße", "i\u0307d", "σας")


def test_every_spelling_has_a_state_of_its_own(lab: Lab) -> None:
    lab.case.tier(*DECLARED, fallback="person")
    for at, label in enumerate(STATES):
        lab.case.entity(f"e{at:02}", label)
    census = lab.census()
    assert {t: r["status"] for t, r in census.items()} == STATES
    assert all(r["count"] == 1 for r in census.values())


def test_only_what_has_the_app_s_key_is_recased(lab: Lab) -> None:
    """A look-alike or another normal form is never merged silently."""
    lab.case.tier(*DECLARED, fallback="person")
    for at, label in enumerate(STATES):
        lab.case.entity(f"e{at:02}", label)
    report = lab.heal()
    assert report.recased == sum(1 for s in STATES.values() if s == "variant")
    for at, (label, state) in enumerate(STATES.items()):
        now = lab.type_of(f"e{at:02}")
        if state == "variant":
            assert now != label
            assert label_key(now) == label_key(label)
            assert now in DECLARED
        else:
            assert now == label


def test_look_alikes_say_what_they_look_like(lab: Lab) -> None:
    lab.case.tier(*DECLARED, fallback="person")
    for at, label in enumerate(STATES):
        lab.case.entity(f"e{at:02}", label)
    twins = {t: r["looks_like"] for t, r in lab.census().items() if r["looks_like"]}
    assert twins == {
        "re\u0301sume\u0301": "résumé",
        "\u0430gent": "agent",
        "id": "i\u0307d",
        "\x1fperson": "person",
        "person\u200b": "person",
        "\u200bperson": "person",
        "\ufeffperson": "person",
    }
