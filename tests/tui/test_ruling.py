"""Ruling by keys: from the row under the cursor to a signed entry of the table."""

from __future__ import annotations

import datetime as dt
import sqlite3
import subprocess
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from ct_tui.domain.errors import BadInput
from ct_tui.domain.rulings import Alias, Keep, Legalize, Retype, Revoke
from ct_tui.tui.dialogs.common import parse_until
from tests.tui.deck import Deck, deck, make_key, write

if TYPE_CHECKING:
    from pathlib import Path

    from ct_tui.domain.rulings import Body


def bodies(d: Deck) -> list[Body]:
    """What the table's valid entries decide."""
    table = d.app.session.table
    assert table is not None
    return [entry.ruling.body for entry in table.entries if entry.ruling is not None and entry.valid]


async def test_the_first_ruling_leads_through_making_a_key(october: Path, user_dir: Path) -> None:
    async with deck(october) as d:
        await d.press("j", "1")
        assert d.front == "MapDialog"
        assert "You have no key to sign with yet" in d.text
        await d.press("enter")
        assert d.front == "KeyDialog"
        await d.type("ada@example.org")
        await d.press("enter")
        assert d.front == "desk"
        assert bodies(d) == [Alias("agent", "role")]
        assert "✓ Signed #1" in d.said
        assert "1 ruling acts" in d.lines[0]
        keys = list((user_dir / "keys").glob("*"))
        assert any(key.stat().st_mode & 0o777 == 0o600 for key in keys)


async def test_a_suggestion_is_taken_with_its_evidence_as_the_reason(october: Path, user_dir: Path) -> None:
    make_key(october, user_dir)
    async with deck(october) as d:
        await d.press("j", "1")
        assert "10 entities move" in d.text
        assert "signed as ada@example.org" in d.text
        assert "agent means role here" in d.text
        await d.press("enter")
        table = d.app.session.table
        assert table is not None
        ruling = table.entries[0].ruling
        assert ruling is not None
        assert ruling.reason.startswith("agent means role here: ")
        assert ruling.ruled_by == "ada@example.org"
        assert d.types()["agent"] == 10, "a ruling alone writes no entity"


async def test_all_types_can_be_searched_and_the_reason_edited(october: Path, user_dir: Path) -> None:
    make_key(october, user_dir)
    async with deck(october) as d:
        await d.press("j", "m")
        await d.type("servic")
        assert "service" in d.text
        await d.press("tab", "tab")
        for _ in range(60):
            await d.pilot.press("backspace")
        await d.pilot.press("ctrl+u", "ctrl+k")
        await d.type("It serves.")
        await d.press("enter")
        assert bodies(d) == [Alias("agent", "service")]
        table = d.app.session.table
        assert table is not None
        assert table.entries[0].ruling is not None
        assert table.entries[0].ruling.reason.endswith("It serves.")


async def test_what_is_typed_into_a_reason_goes_on_after_what_stands_there(october: Path, user_dir: Path) -> None:
    make_key(october, user_dir)
    async with deck(october) as d:
        await d.press("j", "1", "e")
        await d.type(" and seen")
        await d.press("enter")
        table = d.app.session.table
        assert table is not None
        assert table.entries[0].ruling is not None
        assert table.entries[0].ruling.reason.startswith("agent means role here: ")
        assert table.entries[0].ruling.reason.endswith(" and seen")


async def test_an_empty_reason_is_refused(october: Path, user_dir: Path) -> None:
    make_key(october, user_dir)
    async with deck(october) as d:
        await d.press("x")
        assert d.front == "KeepDialog"
        await d.press("enter")
        assert d.front == "KeepDialog"
        assert "A reason is required" in d.text
        await d.press("space", "enter")
        assert "A reason is required" in d.text
        await d.press("escape")
        assert d.table == ""


async def test_the_passphrase_is_asked_once_and_a_wrong_one_signs_nothing(october: Path, user_dir: Path) -> None:
    make_key(october, user_dir, passphrase="open sesame")
    async with deck(october) as d:
        await d.press("j", "1", "enter")
        assert d.front == "PassphraseDialog"
        await d.type("wrong")
        await d.press("enter")
        assert d.front == "PassphraseDialog"
        assert "does not open it" in d.text
        assert d.table == ""
        assert "wrong" not in d.text.replace("does not open it", "")
        await d.type("open sesame")
        await d.press("enter")
        assert d.front == "desk"
        assert len(bodies(d)) == 1
        await d.press("1", "enter")
        assert d.front == "desk"
        assert len(bodies(d)) == 2
    assert not [file for file in _files(user_dir) if b"open sesame" in file.read_bytes()]


def _files(folder: Path) -> list[Path]:
    return [file for file in folder.rglob("*") if file.is_file()]


async def test_two_passphrases_that_differ_make_no_key(october: Path, user_dir: Path) -> None:
    async with deck(october) as d:
        await d.press("j", "1", "enter")
        await d.type("ada@example.org")
        await d.press("tab")
        await d.type("one")
        await d.press("tab")
        await d.type("two")
        await d.press("enter")
        assert "differ" in d.text
        assert not (user_dir / "keys").exists()
        await d.press("escape", "escape")
        assert d.front == "desk"


async def test_a_burst_of_keys_rules_on_the_row_that_was_under_the_cursor(october: Path, user_dir: Path) -> None:
    make_key(october, user_dir)
    async with deck(october) as d:
        await d.burst("j1\r")
        await d.until(lambda: len(bodies(d)) == 1)
        assert bodies(d) == [Alias("agent", "role")]
        at = d.desk.rows.at
        row = d.desk.rows.all_rows.row(at + 1)
        await d.burst("jjjkk1")
        assert d.front == "MapDialog"
        await d.press("enter")
        assert len(bodies(d)) == 2
        second = bodies(d)[1]
        assert isinstance(second, Alias)
        assert row is not None
        assert row.key == f"type:{second.from_type}"


async def test_the_same_key_twice_rules_once(october: Path, user_dir: Path) -> None:
    make_key(october, user_dir)
    async with deck(october) as d:
        await d.burst("j11\r\r\r")
        await d.until(lambda: bool(bodies(d)))
        assert bodies(d) == [Alias("agent", "role")]
        assert d.table.count("kind:") == 1


async def test_declaring_a_type_asks_for_a_description(october: Path, user_dir: Path) -> None:
    make_key(october, user_dir)
    async with deck(october) as d:
        await d.press("+")
        assert d.front == "DeclareDialog"
        await d.press("enter")
        assert d.front == "DeclareDialog"
        await d.type("A written artefact.")
        await d.press("tab")
        await d.type("nosuchtype")
        assert "'nosuchtype' is not declared" in d.text
        for _ in range(10):
            await d.press("backspace")
        await d.type("creativework")
        await d.press("shift+tab", "shift+tab")
        await d.type("Notes speak of documents.")
        await d.press("enter")
        assert d.front == "desk"
        assert bodies(d) == [Legalize("document", "A written artefact.", "creativework", ("seed-family",))]


async def test_keeping_until_a_day_takes_the_question_away(october: Path, user_dir: Path) -> None:
    make_key(october, user_dir)
    async with deck(october) as d:
        await d.press("x", "shift+tab")
        await d.type("+30")
        await d.press("tab")
        await d.type("Seen.")
        await d.press("enter")
        kept = bodies(d)[0]
        assert isinstance(kept, Keep)
        assert kept.type == "document"
        assert kept.until is not None
        assert d.desk.question == "type:agent"
        assert "· 30 kept" in d.text


async def test_single_and_marked_entities_are_retyped_by_id(october: Path, user_dir: Path) -> None:
    make_key(october, user_dir)
    async with deck(october) as d:
        await d.press("j", "l", "j")
        ids = [str(d.desk.rows.all_rows.row(d.desk.rows.at + n).key).rpartition("\x1f")[2] for n in range(3)]  # type: ignore[union-attr]
        await d.press("r")
        assert d.front == "MapDialog"
        await d.press("2", "enter")
        assert bodies(d) == [Retype((ids[0],), "agent", "person")]
        await d.press("j")
        await d.go_to(f"type:agent\x1f{ids[1]}")
        await d.press("space", "space", "r", "1", "enter")
        assert bodies(d)[1] == Retype((ids[1], ids[2]), "agent", "role")
        assert not d.desk.rows.marks


async def test_marked_questions_get_one_target_for_all(october: Path, user_dir: Path) -> None:
    make_key(october, user_dir)
    async with deck(october) as d:
        await d.go_to("type:component")
        await d.press("space")
        await d.go_to("type:software")
        await d.press("space", "m")
        assert "one target for all" in d.text
        await d.type("service")
        await d.press("enter")
        assert set(bodies(d)) == {Alias("component", "service"), Alias("software", "service")}


async def test_marked_questions_are_kept_and_put_off_together(october: Path, user_dir: Path) -> None:
    make_key(october, user_dir)
    async with deck(october) as d:
        await d.press("j", "space", "space", "g", "x")
        assert "Keep 2 questions" in d.text, "what is marked counts, wherever the cursor is"
        await d.type("Seen.")
        await d.press("enter")
        assert bodies(d) == [Keep("agent", ()), Keep("software", ())]
        assert "✓ Signed #1–2 keep 2 questions" in d.said
        await d.press("g", "space", "space", "s")
        assert "2 questions" in d.said
        assert not d.desk.rows.marks
        last = [d.desk.rows.row_at(d.desk.rows.count - at) for at in (2, 1)]
        assert [row.key for row in last if row is not None] == ["type:document", "type:component"]


async def test_marks_that_one_answer_does_not_fit_are_refused(october: Path, user_dir: Path) -> None:
    make_key(october, user_dir)
    async with deck(october) as d:
        await d.press("*", "x")
        assert d.front == "desk"
        assert "Mark only questions of one kind" in d.said
        await d.press("+")
        assert d.front == "desk"
        assert "one by one" in d.said


async def test_every_number_of_what_was_signed_together_is_said(october: Path, user_dir: Path) -> None:
    make_key(october, user_dir)
    async with deck(october) as d:
        await d.press("f", "enter")
        assert "✓ Signed #1–5 adopt 5 proposals" in d.said


async def test_no_objection_stands_beside_a_choice_whose_impact_is_not_known_yet(october: Path, user_dir: Path) -> None:
    make_key(october, user_dir)
    async with deck(october) as d:
        await d.press("j", "m")
        await d.type("zzz")
        assert "choose a declared type" in d.text
        with closing(sqlite3.connect(d.brain, isolation_level=None)) as other:
            other.execute("BEGIN EXCLUSIVE")
            for _ in range(3):
                await d.pilot.press("backspace")
            await d.until(lambda: "working it out" in d.text)
            assert "choose a declared type" not in d.text
            other.execute("ROLLBACK")
        await d.until(lambda: "10 entities move" in d.text)
        await d.settle()


async def test_the_last_ruling_is_revoked_and_repeated(october: Path, user_dir: Path) -> None:
    make_key(october, user_dir)
    async with deck(october) as d:
        await d.press("u")
        assert "No ruling of yours acts" in d.said
        await d.press(".")
        assert "Nothing was ruled" in d.said
        await d.go_to("type:component")
        await d.press("1", "enter")
        await d.go_to("type:software")
        await d.press(".")
        assert d.front == "MapDialog"
        await d.press("enter")
        assert bodies(d) == [Alias("component", "service"), Alias("software", "service")]
        await d.press("u")
        assert d.front == "RevokeDialog"
        await d.type("Not so.")
        await d.press("enter")
        assert bodies(d)[2] == Revoke(2)
        assert d.desk.session.queue is not None
        assert d.desk.session.queue.get("type:software") is not None


async def test_a_ruling_that_does_not_act_says_which_ruling_stopped_it(october: Path, user_dir: Path) -> None:
    make_key(october, user_dir)
    async with deck(october) as d:
        await d.press("j", "1", "enter", "j", "1", "enter", "u")
        await d.type("Wrong.")
        await d.press("enter", "R", "j")
        assert "revoked by ruling #3" in d.paper
        assert "revoked" in d.lines[3]
        assert "acts" in d.lines[4]
        (october / "aliases" / "rulings.yaml").write_text(d.table.replace("Wrong.", "Right."))
        await d.until(lambda: "not trusted" in d.heading("rulings-head"))
        await d.press("G")
        assert "the table is not trusted" in d.paper
        assert "stopped" in d.text


async def test_the_last_ruling_of_mine_is_revoked_in_another_session_too(october: Path, user_dir: Path) -> None:
    from tests.tui.test_plan import rule

    rule(october, user_dir, Alias("agent", "role"), Alias("component", "service"))
    async with deck(october) as d:
        await d.press("u")
        assert d.front == "RevokeDialog"
        assert "component → service" in d.text
        await d.type("Not so.")
        await d.press("enter")
        assert bodies(d)[-1] == Revoke(2)
        await d.press("u")
        assert "Revoke #1" in d.text


async def test_the_founding_rulings_are_adopted_each_or_all(october: Path, user_dir: Path) -> None:
    make_key(october, user_dir)
    async with deck(october) as d:
        await d.press("f")
        assert d.front == "AdoptDialog"
        await d.press("*", "space", "enter")
        assert bodies(d) == [Alias("agent", "role")]
        await d.press("f", "enter")
        assert len(bodies(d)) == 5
        await d.press("f")
        assert "ruled on already" in d.said


async def test_a_question_without_suggestions_says_what_to_do(october: Path, user_dir: Path) -> None:
    write(october / "brain.db", "UPDATE curated_entities SET entity_type = 'zzqx' WHERE entity_type = 'job'")
    async with deck(october) as d:
        await d.go_to("type:zzqx")
        await d.press("1")
        assert d.front == "desk"
        assert "no suggestion" in d.said
        await d.go_to("type:agent")
        await d.press("9")
        assert d.front == "desk"
        assert "There is no suggestion 9" in d.said


async def test_without_suggestions_no_type_is_signed_before_one_was_chosen(october: Path, user_dir: Path) -> None:
    make_key(october, user_dir)
    write(october / "brain.db", "UPDATE curated_entities SET entity_type = 'zzqx' WHERE entity_type = 'job'")
    async with deck(october) as d:
        await d.go_to("type:zzqx")
        await d.press("m", "enter")
        assert d.front == "MapDialog"
        assert "choose a declared type" in d.text
        assert d.table == ""
        await d.press("down", "up", "enter")
        assert d.front == "desk"
        [body] = bodies(d)
        assert isinstance(body, Alias)
        assert body.from_type == "zzqx"


async def test_deciding_works_from_the_census_too(october: Path, user_dir: Path) -> None:
    make_key(october, user_dir)
    async with deck(october) as d:
        await d.press("C", "g", "j", "1", "enter")
        assert bodies(d) == [Alias("agent", "role")]
        assert "→ role" in d.text


async def test_a_ruling_that_somebody_else_made_meanwhile_is_refused_in_the_dialog(
    october: Path, user_dir: Path
) -> None:
    from ct_tui.heal.workbench import Workbench

    make_key(october, user_dir)
    async with deck(october) as d:
        await d.press("j", "1")
        with Workbench(d.app.session.places) as other:
            other.rule(Alias("agent", "person"), "Mine.")
        await d.press("enter")
        assert d.front == "MapDialog"
        assert "already decides" in d.text
        await d.press("escape")
        await d.until(lambda: bodies(d) == [Alias("agent", "person")])


@pytest.mark.parametrize(
    ("text", "expected"),
    [("", None), ("2027-01-31", dt.date(2027, 1, 31)), ("+30", dt.date(2026, 1, 31)), ("+ 1 day", dt.date(2026, 1, 2))],
)
def test_until(text: str, expected: dt.date | None) -> None:
    assert parse_until(text, dt.date(2026, 1, 1)) == expected


@pytest.mark.parametrize("text", ["tomorrow", "2027-02-30", "+99999", "+", "31.1.2027"])
def test_until_refuses(text: str) -> None:
    with pytest.raises(BadInput):
        parse_until(text, dt.date(2026, 1, 1))


async def test_what_is_typed_and_signed_in_one_burst_is_signed_whole(october: Path, user_dir: Path) -> None:
    make_key(october, user_dir)
    async with deck(october) as d:
        await d.burst("xSeen, and left as it is for the winter.\r")
        await d.until(lambda: bool(bodies(d)))
        table = d.app.session.table
        assert table is not None
        assert table.entries[0].ruling is not None
        assert table.entries[0].ruling.reason == "Seen, and left as it is for the winter."


async def test_a_key_of_ones_own_is_taken_and_trusted(october: Path, user_dir: Path, tmp_path: Path) -> None:
    file = tmp_path / "id_ed25519"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(file)], check=True)  # noqa: ASYNC221
    (user_dir / "keys").mkdir()
    (user_dir / "keys" / "rubbish").write_text("no key")
    async with deck(october) as d:
        await d.press("j", "1", "enter")
        assert d.front == "KeyDialog"
        assert "rubbish" in d.text
        await d.press("shift+tab", "right")
        await d.press("tab")
        await d.type("grace@example.org")
        await d.press("tab")
        await d.type(str(tmp_path / "nothing"))
        await d.press("enter")
        assert d.front == "KeyDialog"
        assert "✗ There is no key" in d.text, d.text
        for _ in range(len(str(tmp_path / "nothing"))):
            await d.pilot.press("backspace")
        await d.type(str(file))
        await d.press("enter")
        assert d.front == "desk", d.text
        table = d.app.session.table
        assert table is not None
        assert table.entries[0].ruling is not None
        assert table.entries[0].ruling.ruled_by == "grace@example.org"
    assert "grace@example.org" in (user_dir / "allowed_signers").read_text()
    assert list((user_dir / "keys").iterdir()) == [user_dir / "keys" / "rubbish"], "the user's own key is not copied"
