"""The policy view: what each part decides and covers, changes by keys with their preview, and policy drift."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from ct_tui.tui.screens.policy import Part, PolicyScreen
from ct_tui.tui.widgets.frame import Notice
from tests.policy.brains import Case, new_case, ref
from tests.tui.deck import Deck, deck, make_key, write

if TYPE_CHECKING:
    from pathlib import Path

STALE = "deadbeef" * 8


@pytest.fixture
def case(tmp_path: Path, user_dir: Path) -> Case:
    """Five entities: in a folder that is off, in one that is strict, in neither, without a source, and opted out."""
    found = new_case(tmp_path)
    found.tier("person", "concept", "role", fallback="concept")
    for folder, digest in (("ops", "h1"), ("people", "h2"), ("notes", "h3")):
        found.document(f"{folder}/a.md", digest)
        found.entity(f"e_{folder}", "agent", f"Entity {folder}")
        found.fact(f"f_{folder}", f"e_{folder}", ref(digest))
    found.entity("e_none", "agent", "Entity none")
    found.entity("e_out", "agent", "Entity out")
    found.opt_out("e_out")
    found.write_config({"mine": 1, "ingest": {"folder_ontology": {"ops": "off", "people": "strict"}, "own": [1]}})
    return found


def view(d: Deck) -> PolicyScreen:
    """The policy view."""
    found = next(screen for screen in reversed(d.app.screen_stack) if isinstance(screen, PolicyScreen))
    assert isinstance(found, PolicyScreen)
    return found


async def go_to(d: Deck, kind: str, key: str = "") -> None:
    """Put the cursor on a part of the policy."""
    assert view(d).rows.move_to_key(f"{kind} {key!r}")
    await d.settle()


def row_of(d: Deck, kind: str, key: str = "") -> str:
    """A part's row as the list draws it."""
    rows = view(d).rows
    at = rows.all_rows.find(f"{kind} {key!r}")
    assert at is not None
    row = rows.all_rows.row(at)
    assert row is not None
    return "".join(piece.text for piece in row.draw(rows.size.width - 2)).rstrip()


def says(d: Deck) -> str:
    """What a dialog says would happen."""
    return "\n".join("".join(piece.text for piece in line) for line in d.app.screen.query_one("#says", Notice).lines)


def line_of(d: Deck, words: str) -> str:
    """The line of the screen that holds some words."""
    return next((line for line in d.lines if words in line), "")


def config(case: Case) -> Any:
    """The config as it stands."""
    return json.loads(case.config.read_text(encoding="utf-8"))


@pytest.mark.parametrize("size", [(120, 40), (80, 24)])
async def test_every_part_says_its_mode_its_decision_and_whom_it_covers(case: Case, size: tuple[int, int]) -> None:
    async with deck(case.folder, size) as d:
        await d.press("O")
        assert d.heading("policy-head").endswith("✓ config.json is whole")
        assert "● 3 gated" in d.text
        assert "○ 1 off" in d.text
        assert "◇ 1 opted out" in d.text
        assert "‖ 0 held" in d.text
        for kind, key, *words in (
            ("default", "", "everywhere else", "– not set", "● gated", "3 entities"),
            ("schema", "", "ontology.schema", "not set"),
            ("folder", "ops", "ops", "○ off  ", "○ off", "1 entity"),
            ("folder", "people", "people", "● strict", "● gated", "1 entity"),
            ("manifest", "tier_fact", "tier_fact", "● strict", "✓ usable", "concept, 3 types"),
            ("opt-out", "e_out", "Entity out", "◇ opted out"),
        ):
            line = row_of(d, kind, key)
            assert [word for word in words if word not in line] == []
            assert line[:40] in d.text
        await go_to(d, "folder", "ops")
        assert "rung 2 folder 'ops' is off" in d.paper
        await go_to(d, "manifest", "tier_fact")
        assert "person, concept, role" in d.paper
        assert "rung 4 the manifest 'tier_fact' is strict and declares 3 types: gated" in d.paper
        await go_to(d, "opt-out", "e_out")
        assert "rung 1a it is opted out: no gate runs" in d.paper


async def test_without_a_folder_rule_nothing_is_claimed_of_sources_that_were_not_looked_up(case: Case) -> None:
    case.write_config({"ingest": {}})
    async with deck(case.folder) as d:
        await d.press("O")
        await go_to(d, "default")
        assert "without any source" not in d.paper
        assert "5 live entities that no folder decides" in d.paper


async def test_a_folder_opens_to_the_entities_that_it_decides(case: Case) -> None:
    async with deck(case.folder) as d:
        await d.press("O")
        await go_to(d, "folder", "ops")
        await d.press("l", "j")
        assert "Entity ops" in line_of(d, "▸")
        assert "◇" in line_of(d, "▸")
        assert "a source lies in a folder that is off: ops/a.md" in d.paper or "folder 'ops' is off" in d.paper
        await d.press("h", "h")
        assert isinstance(view(d).part, Part)


async def test_a_change_is_written_only_after_it_said_what_it_does(case: Case) -> None:
    before = case.config.read_bytes()
    async with deck(case.folder) as d:
        await d.press("O")
        await go_to(d, "folder", "ops")
        await d.press("s")
        assert d.front == "ChangeDialog"
        assert "the folder ops becomes strict (it is off)" in says(d)
        assert "it covers 1 live entity" in says(d)
        assert "entities gated" in says(d)
        await d.press("enter")
        assert d.front == "policy", "Cancel has the keyboard"
        assert case.config.read_bytes() == before
        await d.press("s", "y")
        assert "✓ Written" in d.said
        assert config(case) == {
            "mine": 1,
            "ingest": {"folder_ontology": {"ops": "strict", "people": "strict"}, "own": [1]},
        }
        assert "● strict" in row_of(d, "folder", "ops")
        assert "○ 0 off" in d.text


async def test_what_enter_would_do_is_in_sight_in_the_least_room(case: Case) -> None:
    async with deck(case.folder, (40, 10)) as d:
        await d.press("O")
        await go_to(d, "default")
        await d.press("s")
        assert "▸ Cancel ◂" in d.text


async def test_settings_are_reversed_and_taken_back(case: Case) -> None:
    async with deck(case.folder) as d:
        await d.press("O")
        await go_to(d, "folder", "people")
        await d.press("u")
        assert "the folder people becomes not set (it is strict)" in says(d)
        await d.press("y")
        assert config(case)["ingest"]["folder_ontology"] == {"ops": "off"}
        await go_to(d, "default")
        await d.press("o")
        assert "ingest.ontology_default becomes off (it is not set)" in says(d)
        assert "it covers 4 live entities" in says(d)
        await d.press("y")
        assert config(case)["ingest"]["ontology_default"] == "off"
        assert "○ off" in row_of(d, "default")
        await d.press("u", "y")
        assert "ontology_default" not in config(case)["ingest"]
        assert "– not set" in row_of(d, "default")


async def test_a_folder_is_named_and_set(case: Case) -> None:
    async with deck(case.folder) as d:
        await d.press("O", "+")
        assert d.front == "FolderDialog"
        assert "notes" in d.text, "folders that documents lie in are offered"
        await d.type("notes/drafts")
        await d.press("tab", "tab", "right", "enter")
        assert d.front == "ChangeDialog"
        assert "the folder notes/drafts becomes strict (it is not set)" in says(d)
        await d.press("y")
        assert config(case)["ingest"]["folder_ontology"]["notes/drafts"] == "strict"
        await d.press("+")
        while "the folder notes " not in f"{d.text} ":
            await d.press("down")
        await d.press("enter")
        assert "the folder notes becomes off (it is not set)" in says(d)
        await d.press("escape", "+")
        await d.type("../x")
        await d.press("enter")
        assert "no path can match the folder '../x'" in d.text
        await d.press("y")
        assert "Nothing is written before it is known what it changes" in d.text
        await d.press("escape")
        assert set(config(case)["ingest"]["folder_ontology"]) == {"ops", "people", "notes/drafts"}


async def test_an_entity_is_opted_out_and_in_again(case: Case) -> None:
    async with deck(case.folder) as d:
        await d.press("O", "e")
        await d.type("notes")
        await d.press("enter")
        assert "Entity notes is opted out: no gate runs for it, and heal never retypes it" in says(d)
        assert "it covers 1 live entity" in says(d)
        await d.press("y")
        assert d.rows("SELECT entity_id FROM ct_entity_optouts ORDER BY 1") == [("e_notes",), ("e_out",)]
        assert "◇ 2 opted out" in d.text
        await go_to(d, "opt-out", "e_notes")
        await d.press("u", "y")
        assert d.rows("SELECT entity_id FROM ct_entity_optouts") == [("e_out",)]
        await go_to(d, "opt-out", "e_out")
        await d.press("s")
        assert "gets a strict manifest row of its own" in says(d)
        await d.press("y")
        assert d.rows("SELECT COUNT(*) FROM ct_entity_optouts") == [(0,)]
        [(mode, text)] = d.rows("SELECT mode, manifest_json FROM llm_wiki_entity_manifests WHERE entity_id = 'e_out'")
        assert mode == "strict"
        assert json.loads(text)["fallback_node_type"] == "concept"
        assert [n["type"] for n in json.loads(text)["node_types"]] == ["person", "concept", "role"]


async def test_an_entity_below_a_folder_is_opted_out(case: Case) -> None:
    async with deck(case.folder) as d:
        await d.press("O")
        await go_to(d, "folder", "people")
        await d.press("l", "j", "o", "y")
        assert ("e_people",) in d.rows("SELECT entity_id FROM ct_entity_optouts")


async def test_a_fallback_lets_the_gate_decide(october: Path, user_dir: Path) -> None:
    async with deck(october) as d:
        await d.press("O")
        assert "‖ 152 held" in d.text
        await go_to(d, "manifest", "tier_fact")
        assert "names no fallback_node_type" in d.paper
        assert "heal mends it" in d.paper
        await d.press("f")
        await d.type("proj")
        await d.press("enter")
        assert "labels that nobody declared land on project by tier_fact; until now nowhere" in says(d)
        assert "0 →     152  entities gated" in says(d)
        assert "152 →       0  entities held" in says(d)
        await d.press("y")
        [(text,)] = d.rows("SELECT manifest_json FROM llm_wiki_entity_manifests WHERE entity_id = 'tier_fact'")
        assert json.loads(text)["fallback_node_type"] == "project"
        assert "● 152 gated" in d.text
        assert "project, 18 types" in row_of(d, "manifest", "tier_fact")


async def test_a_degraded_config_is_said_and_nothing_is_set(case: Case) -> None:
    case.write_config({"ingest": {"folder_ontology": {"ops": "Off", "people": "strict"}}})
    before = case.config.read_bytes()
    async with deck(case.folder) as d:
        await d.press("O")
        assert "config.json is degraded" in d.heading("policy-head")
        await go_to(d, "problem", "ingest.folder_ontology['ops']")
        assert '"Off" is neither off nor strict' in d.paper
        await go_to(d, "folder", "people")
        await d.press("o")
        assert "DEGRADED" in d.text
        await d.press("y", "escape")
        assert case.config.read_bytes() == before
        case.write_config({"ingest": {"folder_ontology": {"ops": "off"}}})
        await d.until(lambda: "✓ config.json is whole" in d.heading("policy-head"))


async def test_keys_that_contradict_each_other_are_shown_with_each_other(case: Case) -> None:
    case.write_config({"ingest": {"folder_ontology": {"ops": "off", "ops/": "strict"}}})
    async with deck(case.folder) as d:
        await d.press("O")
        assert "ambiguous" in d.heading("policy-head")
        await go_to(d, "folder", "ops/")
        assert '"ops" is off, "ops/" is strict' in d.paper
        assert "‖ held" in row_of(d, "folder", "ops/")


async def test_a_manifest_that_cannot_be_read_or_used_says_why(case: Case) -> None:
    case.manifest("e_notes", "{broken")
    case.manifest("e_none", {"node_types": [{"type": "person"}], "edge_types": []})
    async with deck(case.folder) as d:
        await d.press("O")
        assert "! broken" in row_of(d, "manifest", "e_notes")
        await go_to(d, "manifest", "e_notes")
        assert "cannot be read" in d.paper
        await d.press("f")
        assert "cannot be read, so it takes no fallback" in d.said
        await go_to(d, "manifest", "e_none")
        assert "names no fallback_node_type" in d.paper


async def test_drift_is_confirmed_then_the_plan_is_applied(october: Path, user_dir: Path) -> None:
    from ct_tui.domain.rulings import Alias
    from ct_tui.heal.workbench import Workbench
    from ct_tui.policy.paths import resolve_places

    make_key(october, user_dir)
    with Workbench(resolve_places(october)) as bench:
        bench.rule(Alias("agent", "role"), "For the test.")
    drifted(october / "brain.db")
    async with deck(october) as d:
        assert "Policy drift" in d.text
        await d.press("P", "a")
        assert d.front == "plan"
        assert "O, then c confirms it" in d.said
        await d.press("O")
        assert "! waits" in row_of(d, "drift")
        await d.press("c")
        assert d.front == "DriftDialog"
        assert "10 entities get another type" in says(d)
        assert "Confirming writes nothing by itself" in says(d)
        await d.press("enter")
        assert "! waits" in row_of(d, "drift"), "Cancel has the keyboard"
        await d.press("c", "y")
        assert "✓ Confirmed" in d.said
        assert stamped(d)["hash"] == STALE, "confirming writes nothing"
        await d.press("P", "a", "y")
        await d.until(lambda: "✓ Written" in d.text)
        await d.press("enter")
        assert stamped(d)["hash"] != STALE
        assert d.types().get("agent") is None
        await d.press("O", "c")
        assert "There is no policy drift" in d.said
        assert "Policy drift" not in d.text


async def test_a_confirmed_drift_can_be_stamped_although_the_plan_changes_no_row(october: Path, user_dir: Path) -> None:
    from ct_tui.domain.rulings import Legalize
    from tests.tui.test_plan import apply, rule

    rule(october, user_dir, Legalize("document", "A text.", None, ("seed-family",)))
    config = october / "config.json"
    config.write_text('{"vault_path": "/vault"}')
    async with deck(october) as d:
        await apply(d)
        config.write_text('{"vault_path": "/vault", "ingest": {"folder_ontology": {"nowhere": "off"}}}')
        await d.until(lambda: "Policy drift" in d.text)
        await d.settle()
        assert "0 changes" in d.heading("plan-head")
        assert "have lost a source" in d.text
        await d.press("O", "c", "y", "P", "a")
        assert d.front == "ConfirmDialog"
        assert "which you confirmed" in d.text
        await d.press("y")
        await d.until(lambda: "✓ Written" in d.text)
        await d.press("enter")
        assert "Policy drift" not in d.text
        await d.press("a")
        assert "The plan is empty" in d.said


async def test_a_waived_drift_only_brings_the_manifests_up_to_date(october: Path, user_dir: Path) -> None:
    from ct_tui.domain.rulings import Alias
    from ct_tui.heal.workbench import Workbench
    from ct_tui.policy.paths import resolve_places

    make_key(october, user_dir)
    with Workbench(resolve_places(october)) as bench:
        bench.rule(Alias("agent", "role"), "For the test.")
    drifted(october / "brain.db")
    async with deck(october) as d:
        types = d.types()
        await d.press("O", "w")
        assert d.front == "WaiveDialog"
        assert "manifests are brought up to date" in says(d)
        assert "10 other rows of the plan wait" in says(d)
        await d.press("y")
        assert "✓ Waived this once" in d.said
        assert d.types() == types
        assert stamped(d)["hash"] == STALE
        [(text,)] = d.rows("SELECT manifest_json FROM llm_wiki_entity_manifests WHERE entity_id = 'tier_fact'")
        assert json.loads(text)["fallback_node_type"] == "concept"
        assert "! waits" in row_of(d, "drift")


async def test_what_cannot_be_done_says_why(case: Case) -> None:
    async with deck(case.folder) as d:
        await d.press("O", "c")
        assert "There is no policy drift to answer" in d.said
        await go_to(d, "schema")
        await d.press("s")
        assert "Put the cursor on the host default" in d.said
        await d.press("f")
        assert "Put the cursor on a manifest row" in d.said
        await go_to(d, "manifest", "tier_fact")
        await d.press("o")
        assert "The mode of tier_fact is the engine's" in d.said
        await d.press("u")
        assert "Only the host default" in d.said
    async with deck(case.folder, read_only=True) as d:
        await d.press("O", "s")
        assert "read-only" in d.said


async def test_folders_and_entities_with_hostile_names_are_text(case: Case) -> None:
    name = "[@click=app.quit]x[/] \x1b[31m"
    case.entity("e_x", "agent", name)
    case.opt_out("e_x")
    case.write_config({"ingest": {"folder_ontology": {"[/b]": "off", "a\u202eb": "strict", "ops": "off"}}})
    async with deck(case.folder) as d:
        await d.press("O")
        assert "[/b]" in row_of(d, "folder", "[/b]")
        assert "\x1b" not in d.text
        assert "\u202e" not in d.text
        await go_to(d, "opt-out", "e_x")
        assert "[@click=app.quit]x[/]" in d.paper
        await go_to(d, "folder", "[/b]")
        await d.press("s", "y")
        assert config(case)["ingest"]["folder_ontology"]["[/b]"] == "strict"


async def test_shielded_entities_are_marked_in_census_queue_and_detail(case: Case) -> None:
    async with deck(case.folder) as d:
        await d.press("C", "g", "l")
        lines = {name: line_of(d, name) for name in ("Entity ops", "Entity out", "Entity notes")}
        assert "◇" in lines["Entity ops"]
        assert "◇" in lines["Entity out"]
        assert "◇" not in lines["Entity notes"]
        while "Entity out" not in line_of(d, "▸"):
            await d.press("j")
        assert "shielded: it is opted out" in d.paper
        await d.press("Q")
        shielded = next(item for item in d.app.session.items() if item.kind.value == "shielded entity")
        await d.go_to(shielded.id)
        await d.press("l", "j")
        assert "◇" in line_of(d, "▸")
        assert "shielded" in d.paper


def drifted(brain: Path) -> None:
    """Let the brain remember another policy."""
    stamp = json.dumps({"hash": STALE, "stamped_at": 1_759_276_800_000})
    write(brain, "INSERT OR REPLACE INTO llm_wiki_meta VALUES ('ontology_config_watermark', ?)", stamp)


def stamped(d: Deck) -> Any:
    """The watermark that the brain remembers."""
    return json.loads(d.rows("SELECT value FROM llm_wiki_meta WHERE key = 'ontology_config_watermark'")[0][0])


async def test_the_raw_text_of_manifest_and_config_is_shown(case: Case) -> None:
    case.manifest("e_notes", '{"broken\x1b[31m": ')
    async with deck(case.folder) as d:
        await d.press("O")
        await go_to(d, "manifest", "e_notes")
        await d.press("i")
        assert d.front == "ReadingDialog"
        assert '{"broken␛[31m":' in d.text
        await d.press("escape")
        await go_to(d, "folder", "ops")
        await d.press("i")
        assert '"folder_ontology": {"ops": "off"' in d.text
