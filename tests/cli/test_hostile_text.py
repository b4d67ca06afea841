"""Text that would act on a terminal, break a column or break JSON: shown as signs, and never in the way."""

from __future__ import annotations

import json
import re
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from ct_tui.cli.output import encode
from ct_tui.cli.text import measure, table
from ct_tui.domain.visible import visible

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Ct

ESC = "\x1b"
NASTY = [
    "[/", "[red]x", "[@click=app.x]ok[/]", f"{ESC}[2J{ESC}]52;c;aGk={ESC}\\", f"{ESC}]8;;http://x{ESC}\\l", "a\x9b31mb",
    "nul\0nul", "bell\a", "over\u202eride", "zero\u200bwidth\ufeff", "漢字かな", "عربي", "👩‍👩‍👧‍👦", "e" + "\u0301" * 40,
    "line\nbreak", "tab\there", "   ", "", "﷽" * 20, "\u2028sep", "\ufdd0mark\ufdef", "x" * 5000,
]  # fmt: skip
ACTIVE = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufdd0-\ufdef\ufeff]")


def fill(brain: Path) -> list[str]:
    """One entity for each nasty name, bearing the same text as its type and summary."""
    ids = [f"entity::9f/é {n}" for n in range(len(NASTY))]
    with closing(sqlite3.connect(brain / "brain.db")) as db, db:
        for entity, text in zip(ids, NASTY, strict=True):
            db.execute(
                "INSERT INTO curated_entities (id, name, entity_type, summary, created_at, updated_at) "
                "VALUES (?, ?, ?, ?, 1, 1)",
                (entity, text, text, text),
            )
        db.execute(
            "INSERT INTO curated_entities (id, name, entity_type, summary, created_at, updated_at) VALUES "
            "('bad utf8', CAST(x'ff41fe' AS TEXT), CAST(x'80' AS TEXT), '', 1, 1), ('blob', x'00ff', x'00ff', '', 1, 1), "
            "('number', 7, 12, '', 'never', 99999999999999999)"
        )
    return ids


@pytest.mark.parametrize("args", [["census", "--ids"], ["queue"], ["plan", "--all"], ["lint", "--all"], ["duplicates"]])
def test_no_listing_lets_data_act_or_break_its_lines(ct: Ct, args: list[str]) -> None:
    fill(ct.brain)
    done = ct(*args)
    assert done.code in {0, 2}, done.err
    assert not ACTIVE.search(done.out + done.err)


def test_each_entity_is_shown_whole_and_inert(ct: Ct) -> None:
    for entity in [*fill(ct.brain), "bad utf8", "number"]:
        for verb in ("show", "ledger"):
            done = ct(verb, entity)
            assert done.code == 0, done.err
            assert not ACTIVE.search(done.out)
            assert ct(verb, entity, "--json").document["entity"]["id"] == entity


def test_the_document_holds_the_data_itself(ct: Ct) -> None:
    for entity, text in zip(fill(ct.brain), NASTY, strict=True):
        if "\0" not in text:
            assert ct.json("show", entity)["entity"]["name"] == text


def test_unreadable_rows_are_listed_as_such_and_never_written(ct: Ct) -> None:
    fill(ct.brain)
    rows = [t for t in ct.json("census")["types"] if t["status"] == "unreadable"]
    assert sum(t["count"] for t in rows) >= 3
    assert ct.json("heal", "--yes")["ontology"]["error"] is None
    with closing(sqlite3.connect(ct.brain / "brain.db")) as db:
        kept = db.execute("SELECT hex(entity_type) FROM curated_entities WHERE id = 'blob'").fetchone()
    assert kept == ("00FF",)


@pytest.mark.parametrize("text", NASTY)
def test_what_the_user_types_is_inert_too(ct: Ct, text: str) -> None:
    if "\0" in text:
        return  # no operating system passes a NUL in an argument
    done = ct("show", f"x{text}")
    assert done.code == 2
    assert not ACTIVE.search(done.err.replace("\n", ""))


def test_arguments_that_are_no_utf8_are_refused_like_any_other(ct: Ct) -> None:
    assert "not valid Unicode" in ct.refused("show", "x\udcff")
    assert ct("gate", "x\udcff", "--json").code in {0, 1}
    assert ct("ledger", "\udcff", "--json").code == 1
    assert ct("census", "--brain", "/\udcff").code == 1


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("é→漢", '"é→漢"'),
        ("\ud800a", '"\ufffda"'),
        (b"a\xffb", '"a\ufffdb"'),
        (float("inf"), "null"),
        ("\x1b\x7f\x9b\u202e\u200b", '"\\u001b\\u007f\\u009b\\u202e\\u200b"'),
        ({"\ud800": [1, None, True]}, '{"\ufffd": [1, null, true]}'),
        (("a", frozenset({"c", "b"})), '["a", ["b", "c"]]'),
    ],
)
def test_one_encoder_for_everything_that_data_can_be(value: object, text: str) -> None:
    assert encode(value) == text


def test_active_characters_are_the_same_value_in_the_document() -> None:
    text = "".join(map(chr, [*range(0x250), *range(0x2000, 0x2070), 0xFEFF, 0xFFF9, 0xE0001, 0x1D173]))
    encoded = encode(text)
    assert json.loads(encoded) == text
    assert not ACTIVE.search(encoded)


def test_columns_stay_aligned_whatever_stands_in_them() -> None:
    rows = [(visible(text), "end") for text in NASTY if len(text) < 50]
    assert len(rows) > 10
    lines = table(rows, ("name", "last"))
    assert len({measure(line[: line.rindex("end")]) for line in lines if line.endswith("end")}) == 1


def test_a_forged_style_mark_is_shown_as_a_sign(ct: Ct, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ct_tui.cli.output.wants_colour", lambda _: True)
    fill(ct.brain)
    done = ct("census")
    assert f"{ESC}[" in done.out
    without = re.sub(rf"{ESC}\[\d+m", "", done.out)
    assert not ACTIVE.search(without)
    assert "‹U+FDD0›mark‹U+FDEF›" in without
