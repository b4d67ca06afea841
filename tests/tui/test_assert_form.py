"""The form that writes one fact: names, relations that fit, the window, confidence, source, conflicts, and the rows."""

from __future__ import annotations

import datetime as dt
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest

from ct_tui.heal.workbench import Workbench
from ct_tui.policy.paths import resolve_places
from ct_tui.tui.dialogs.asserting import AssertDialog
from ct_tui.tui.dialogs.base import Dialog
from ct_tui.tui.widgets.frame import Ends, Notice
from tests.tui.deck import Deck, add_entity, deck, write

if TYPE_CHECKING:
    from pathlib import Path

MIRA = "ent_31708dffebaa5cb4dff338b9"
JAN_2023 = 1672531200000
ASSERTIONS = (
    "SELECT d.source_id, d.edge_type, d.target_id, a.valid_from, a.valid_to, a.confidence, a.kind, a.provenance "
    "FROM llm_wiki_edges d JOIN ct_tui_assertion a ON a.edge_id = d.id ORDER BY d.rowid"
)


def entity(d: Deck, name: str) -> str:
    found = d.rows("SELECT id FROM curated_entities WHERE name = ? AND deleted_at IS NULL", name)
    assert len(found) == 1
    return str(found[0][0])


class Form:
    """The form on a running workstation, filled in as a person does it."""

    def __init__(self, d: Deck) -> None:
        self.d = d

    @property
    def dialog(self) -> AssertDialog:
        found = next(s for s in self.d.app.screen_stack if isinstance(s, AssertDialog))
        assert isinstance(found, AssertDialog)
        return found

    @property
    def here(self) -> str:
        return str(self.dialog._here)

    @property
    def words(self) -> str:
        """Everything that the dialogs in front say, whatever line it is wrapped into."""
        screens = [s for s in self.d.app.screen_stack if isinstance(s, Dialog)]
        lines = [line for s in screens for notice in s.query(Notice) if notice.display for line in notice.lines]
        lines += [ends.left for s in screens for ends in s.query(Ends)]
        return "\n".join("".join(piece.text for piece in line) for line in lines)

    async def go_to(self, name: str) -> None:
        """Tab to a field."""
        for _ in range(20):
            if self.here == name:
                return
            await self.d.press("tab")
        raise AssertionError(f"tab does not lead to {name}")

    async def fill(self, subject: str, relation: str, target: str, source: str = "imessage:turn-4812") -> None:
        """Type the four things that are always needed, going on with enter."""
        await self.d.type(subject)
        await self.d.press("enter")
        assert self.here == "object", self.d.text
        await self.d.type(target)
        await self.d.press("enter")
        assert self.here == "relation", self.d.text
        await self.d.type(relation)
        await self.d.press("enter")
        assert self.here == "source", self.d.text
        await self.d.type(source)

    async def write(self) -> None:
        await self.d.press("enter")
        assert self.d.front == "AssertConfirm", self.d.text
        await self.d.press("y")

    def written(self) -> list[tuple[Any, ...]]:
        if not self.d.rows("SELECT 1 FROM sqlite_master WHERE name = 'ct_tui_assertion'"):
            return []
        return self.d.rows(ASSERTIONS)


async def opened(d: Deck) -> Form:
    await d.press("A")
    assert d.front == "AssertDialog"
    return Form(d)


@pytest.mark.parametrize("size", [(120, 40), (80, 24)])
async def test_a_fact_is_written_with_its_window_confidence_and_source(october: Path, size: tuple[int, int]) -> None:
    async with deck(october, size) as d:
        form = await opened(d)
        await form.fill("Mira", "worksFor", "Organization 2")
        await form.go_to("from")
        await d.type("2023-01-01")
        await d.press("enter")
        assert d.front == "AssertConfirm"
        assert "since 2023-01-01, still true" in d.text
        assert "confidence 0.7" in d.text
        assert form.written() == []
        await d.press("enter")
        assert d.front == "AssertDialog", "Cancel has the keyboard"
        assert form.written() == []
        await form.write()
        assert d.front == "desk"
        assert "✓ Written as edge_" in d.said
        assert form.written() == [
            (MIRA, "worksFor", entity(d, "Organization 2"), JAN_2023, 0, 0.7, "conversation", "imessage:turn-4812")
        ]


async def test_an_unknown_beginning_stays_unknown(october: Path) -> None:
    async with deck(october) as d:
        form = await opened(d)
        await form.fill("Mira", "worksFor", "Organization 2")
        assert "nobody knows since when" in d.text
        await form.write()
        assert [row[3] for row in form.written()] == [0]


async def test_a_beginning_that_is_now_is_never_written_by_accident(october: Path) -> None:
    async with deck(october) as d:
        form = await opened(d)
        await form.fill("Mira", "worksFor", "Organization 2")
        await form.go_to("from")
        await d.press("right")
        await d.type("today")
        assert "did you only learn of it today?" in form.words
        await d.press("enter")
        assert d.front == "AssertDialog"
        assert "Answer this first" in form.words
        assert form.here == "start-is-now"
        await d.press("enter")
        assert d.front == "AssertDialog"
        assert form.written() == []
        await d.press("right")
        await form.write()
        start = form.written()[0][3]
        assert dt.datetime.fromtimestamp(start / 1000, dt.UTC).date() == dt.datetime.now(dt.UTC).date()


async def test_a_day_that_is_wanted_and_missing_is_asked_for(october: Path) -> None:
    async with deck(october) as d:
        form = await opened(d)
        await form.fill("Mira", "worksFor", "Organization 2")
        await form.go_to("to")
        await d.press("right")
        assert form.here == "end"
        assert "the day is missing" in d.text
        await d.press("enter")
        assert d.front == "AssertDialog"
        assert form.written() == []
        await d.type("2023-13")
        assert "is not a date" in d.text


async def test_the_year_in_the_words_is_compared_with_the_beginning(october: Path) -> None:
    async with deck(october) as d:
        form = await opened(d)
        await form.fill("Mira", "worksFor", "Organization 2")
        await form.go_to("from")
        await d.type("2024")
        await form.go_to("statement")
        await d.type("Mira joined them in 2023.")
        assert "the statement names another year" in form.words
        await d.press("enter")
        assert form.here == "year-differs"
        assert form.written() == []


async def test_of_several_of_one_name_one_is_chosen(october: Path) -> None:
    async with deck(october) as d:
        form = await opened(d)
        await d.type("Adrian")
        assert "several are called that" in d.text
        rows = form.dialog.candidates
        assert rows.count == 10
        await d.press("down", "down")
        chosen = rows.current
        assert chosen is not None
        await d.press("enter")
        end = form.dialog._ends["subject"]
        assert end.match is not None
        assert end.match.id == chosen.key
        assert chosen.key in d.text


async def test_near_names_are_offered_and_a_new_entity_only_when_asked_for(october: Path) -> None:
    with closing(Workbench(resolve_places(october))) as bench:
        bench.heal(apply=True, by="tester")
    async with deck(october) as d:
        form = await opened(d)
        await d.type("Myra")
        assert "nobody is called that" in d.text or "unknown" in d.text
        await d.press(*["backspace"] * 4)
        await d.type("Fatimah")
        assert "but these are near" in d.text
        assert "Fatima" in d.text
        assert "a new entity Fatimah, through the gate" in d.text
        await d.press("enter")
        end = form.dialog._ends["subject"]
        assert end.match is not None
        assert end.match.name == "Fatima"
        assert form.here == "object"
        await d.type("Northwind Traders")
        assert "unknown" in d.text
        await d.press("enter")
        assert form.here == "object-type"
        assert "lands as" in d.text
        await d.type("organization")
        assert "lands as organization" in d.text
        await d.press("enter")
        assert form.here == "relation"
        await d.type("worksFor")
        await d.press("enter")
        await d.type("https://example.org/people")
        assert "a web address" in d.text
        await d.press("enter")
        assert "1 new through the gate" in form.words
        assert d.rows("SELECT 1 FROM curated_entities WHERE name = 'Northwind Traders'") == []
        await d.press("y")
        minted = d.rows("SELECT id, entity_type FROM curated_entities WHERE name = 'Northwind Traders'")
        assert [kind for _, kind in minted] == ["organization"]
        (row,) = form.written()
        assert row[:3] == (entity(d, "Fatima"), "worksFor", minted[0][0])
        assert row[5:7] == (0.5, "web")


async def test_what_the_gate_holds_cannot_be_new(october: Path) -> None:
    async with deck(october) as d:
        form = await opened(d)
        await d.type("Nobody Yet")
        await d.press("enter")
        assert "the gate holds a new entity back" in form.words
        await d.press("enter")
        assert d.front == "AssertDialog"
        assert form.written() == []


async def test_a_merged_name_leads_to_its_survivor(october: Path) -> None:
    brain = october / "brain.db"
    add_entity(brain, "ent_old", "Mirabelle", "person")
    write(brain, "INSERT INTO entity_redirects(entity_id, merged_into, created_at) VALUES ('ent_old', ?, 1)", MIRA)
    async with deck(october) as d:
        form = await opened(d)
        await d.type("Mirabelle")
        assert "merged into Mira" in d.text
        end = form.dialog._ends["subject"]
        assert end.match is not None
        assert end.match.id == MIRA


async def test_only_relations_that_fit_are_offered_and_related_to_is_never_written(october: Path) -> None:
    async with deck(october) as d:
        form = await opened(d)
        await d.type("Mira")
        await d.press("enter")
        await d.type("Organization 2")
        await d.press("enter")
        names = {form.dialog.candidates._source.row(at).key for at in range(form.dialog.candidates.count)}  # type: ignore[union-attr]
        assert names == {"worksFor", "memberOf"}
        await d.type("related_to")
        await form.go_to("source")
        await d.type("imessage:turn-1")
        assert "only says that the two have to do with each other" in form.words
        await d.press("enter")
        assert d.front == "AssertDialog"
        assert form.written() == []


async def test_without_a_source_of_the_right_shape_nothing_is_written(october: Path) -> None:
    async with deck(october) as d:
        form = await opened(d)
        await form.fill("Mira", "worksFor", "Organization 2", source="")
        await d.press("enter")
        assert "The source is missing" in d.text
        await d.type("somebody told me")
        assert "names no turn and no address" in form.words
        await d.press("enter")
        assert d.front == "AssertDialog"
        assert form.written() == []


async def test_confidence_is_as_honest_as_its_kind_of_source(october: Path) -> None:
    async with deck(october) as d:
        form = await opened(d)
        await form.fill("Mira", "worksFor", "Organization 2")
        assert "usual 0.7, at most 0.99" in form.words
        await form.go_to("confidence")
        await d.type("1.0")
        assert "1.0 is only for what the user typed word for word" in form.words
        await form.go_to("kind")
        await d.press("right")
        assert "usual 1, at most 1" in form.words
        await form.write()
        (row,) = form.written()
        assert row[5:7] == (1.0, "user_stated")


async def test_a_contradiction_is_shown_with_both_confidences_and_the_weaker_is_flagged(october: Path) -> None:
    async with deck(october) as d:
        form = await opened(d)
        await form.fill("Mira", "worksFor", "Organization 2")
        await form.go_to("confidence")
        await d.type("0.9")
        await form.write()
        form = await opened(d)
        await form.fill("Mira", "worksFor", "Organization 3", source="https://example.org/mira")
        said = "worksFor Organization 2 (since an unknown day, still true) confidence 0.9 against 0.5"
        assert said in form.words
        assert "this one is flagged as weaker" in form.words
        await form.write()
        assert "1 weaker one flagged" in d.said
        flags = d.rows("SELECT a.flagged_by IS NOT NULL, a.confidence FROM ct_tui_assertion a ORDER BY a.confidence")
        assert flags == [(1, 0.5), (0, 0.9)]
        assert len(form.written()) == 2, "the weaker one is flagged, never dropped"


async def test_what_stands_already_is_said_and_not_written_twice(october: Path) -> None:
    async with deck(october) as d:
        form = await opened(d)
        await form.fill("Mira", "worksFor", "Organization 2")
        await form.write()
        form = await opened(d)
        await form.fill("Mira", "worksFor", "Organization 2")
        assert "it stands already as" in form.words
        await form.write()
        assert "nothing was changed" in d.said
        assert len(form.written()) == 1


async def test_the_form_opens_on_the_entity_under_the_cursor(october: Path) -> None:
    async with deck(october) as d:
        await d.press("C")
        await d.go_to("type:'person'")
        await d.press("l", "j")
        entity_id = d.desk.entity_id
        assert entity_id
        form = await opened(d)
        end = form.dialog._ends["subject"]
        assert end.match is not None
        assert end.match.id == entity_id
        assert form.here in {"object", "relation"}


async def test_letters_typed_fast_land_in_the_field_and_never_act(october: Path) -> None:
    async with deck(october) as d:
        await d.burst("AQjaxq?Mira")
        form = Form(d)
        assert d.front == "AssertDialog"
        assert form.dialog._value("subject") == "Qjaxq?Mira"
        assert d.table == ""


async def test_names_that_look_like_markup_stay_text(october: Path) -> None:
    add_entity(october / "brain.db", "[b]1", "[red]Wei[/] \x1b[31m", "person")
    async with deck(october) as d:
        form = await opened(d)
        await d.type("[b]1")
        assert "person" in d.text
        await d.press("enter")
        assert "[red]Wei[/] ␛[31m" in form.words
        assert "\x1b" not in d.text
        end = form.dialog._ends["subject"]
        assert end.match is not None
        assert end.match.id == "[b]1"


async def test_read_only_says_why_there_is_no_form(october: Path) -> None:
    async with deck(october, read_only=True) as d:
        await d.press("A")
        assert d.front == "desk"
        assert "read-only" in d.said


async def test_leaving_the_form_writes_nothing(october: Path) -> None:
    async with deck(october) as d:
        form = await opened(d)
        await form.fill("Mira", "worksFor", "Organization 2")
        await d.press("enter", "escape", "escape")
        assert d.front == "desk"
        assert Form(d).written() == []
