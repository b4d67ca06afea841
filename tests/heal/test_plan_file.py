"""Saved plans: they carry no authority, and are stale as soon as anything that decides has moved."""

from __future__ import annotations

import json
import os
import resource
import shutil
import signal
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from ct_tui.domain.errors import BadInput, PolicyError, StalePlan
from ct_tui.domain.rulings import Alias, Keep
from ct_tui.heal import plan_file
from ct_tui.heal.plan_file import load_plan, save_plan
from tests.policy.brains import SEEDS

if TYPE_CHECKING:
    from collections.abc import Callable

    from ct_tui.domain.plan import Plan, Progress
    from tests.heal.lab import Lab


@pytest.fixture
def desk(lab: Lab) -> Lab:
    """Twelve agents and two variants, with the founding rulings signed."""
    lab.case.tier(*SEEDS, fallback="project")
    for n in range(12):
        lab.case.entity(f"a{n:02}", "agent", f"Agent № {n}")
    lab.case.entity("p1", "Person")
    lab.case.entity("p2", " person")
    lab.found()
    return lab


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "plan.json"


def saved(lab: Lab, file: Path) -> Plan:
    plan = lab.plan()
    save_plan(plan, file)
    return plan


def forge(file: Path, change: Callable[[dict[str, Any]], None]) -> None:
    """Change a saved plan and give it the digest that it then has."""
    document = json.loads(file.read_text())
    change(document)
    document["digest"] = plan_file._plan(plan_file._Row(document, "")).digest
    file.write_text(json.dumps(document))
    load_plan(file)


def stale(lab: Lab, plan: Plan) -> StalePlan:
    """The refusal of a plan, after which nothing has changed."""
    before = lab.types(), lab.case.raw()
    with pytest.raises(StalePlan) as caught:
        lab.apply(plan)
    assert (lab.types(), lab.case.raw()) == before
    assert caught.value.details
    assert caught.value.remedy
    return caught.value


def test_a_plan_survives_its_file(desk: Lab, file: Path) -> None:
    plan = saved(desk, file)
    loaded = load_plan(file)
    assert loaded == plan
    assert loaded.digest == plan.digest
    receipt = desk.apply(loaded)
    assert (receipt.retyped, receipt.recased, receipt.legalized) == (12, 2, ("document", "process"))


def test_making_and_saving_a_plan_writes_nothing_to_the_brain(desk: Lab, file: Path) -> None:
    before = desk.db.read_bytes()
    saved(desk, file)
    assert desk.db.read_bytes() == before


def test_the_same_brain_gives_the_same_digest(desk: Lab) -> None:
    first = desk.plan()
    desk.clock.pass_days(0.1)
    assert desk.plan().digest == first.digest
    desk.case.entity("one more", "agent")
    assert desk.plan().digest != first.digest


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"to": "role"', '"to": "person"'),
        ("a00", "p1"),
        ('"ruling": 1', '"ruling": 2'),
        ('"head_seq": 5', '"head_seq": 4'),
    ],
)
def test_a_plan_changed_by_hand_is_refused_by_its_digest(desk: Lab, file: Path, old: str, new: str) -> None:
    saved(desk, file)
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new, 1))
    with pytest.raises(BadInput, match="changed after it was made"):
        load_plan(file)


def to_person(document: dict[str, Any]) -> None:
    document["changes"][0]["to"] = "person"


def other_entity(document: dict[str, Any]) -> None:
    document["changes"][0].update(entity="victim", **{"from": "place"})


def as_undo(document: dict[str, Any]) -> None:
    for change in document["changes"]:
        change["kind"] = "undo"
    document["undoes"] = 1


def as_recasing(document: dict[str, Any]) -> None:
    document["changes"][0].update(kind="recase", ruling=None)


def by_another_ruling(document: dict[str, Any]) -> None:
    document["changes"][0]["ruling"] = 99


def own_manifest(document: dict[str, Any]) -> None:
    document["manifests"][0]["after"] = document["manifests"][0]["before"].replace("person", "pirate")


def another_manifest(document: dict[str, Any]) -> None:
    document["manifests"].append({**document["manifests"][0], "row": "tier_wisdom"})


def an_edge(document: dict[str, Any]) -> None:
    edge = {"id": "x", "entity_id": "a00", "source_id": "a00", "target_id": "a01", "edge_type": "is", "created_at": 1}
    document["edge_changes"] = [
        {"edge": "x", "kind": "restore", "before": None, "after": edge, "ruling": 1, "why": "because"}
    ]


def a_merge(document: dict[str, Any]) -> None:
    document["merges"] = [{"entity": "a00", "name": "x", "before": None, "after": "a01", "ruling": 1, "why": "because"}]


@pytest.mark.parametrize(
    "change",
    [to_person, other_entity, as_recasing, by_another_ruling, own_manifest, another_manifest, an_edge, a_merge],
)
def test_a_plan_made_by_hand_moves_nothing_that_the_rules_do_not_allow(
    desk: Lab, file: Path, change: Callable[[dict[str, Any]], None]
) -> None:
    desk.case.entity("victim", "place")
    saved(desk, file)
    forge(file, change)
    error = stale(desk, load_plan(file))
    assert "no longer" in error.details[0]
    assert desk.own_tables() == set()


def test_a_plan_made_by_hand_to_look_like_an_undo_undoes_nothing(desk: Lab, file: Path) -> None:
    saved(desk, file)
    forge(file, as_undo)
    with pytest.raises(BadInput, match="there is no run 1"):
        desk.apply(load_plan(file))
    assert desk.type_of("a00") == "agent"


def test_rows_named_twice_are_written_once(desk: Lab, file: Path) -> None:
    saved(desk, file)
    forge(file, lambda d: d.update(changes=d["changes"] * 3, manifests=d["manifests"] * 2))
    receipt = desk.apply(load_plan(file))
    assert (receipt.retyped, receipt.recased, receipt.conflicts) == (12, 2, ())
    assert len(desk.history()) == 14


def test_names_and_reasons_of_the_file_are_never_written(desk: Lab, file: Path) -> None:
    saved(desk, file)
    document = json.loads(file.read_text())
    document["changes"][0]["why"] = "because I say so"
    file.write_text(json.dumps(document))
    desk.apply(load_plan(file))
    assert {r[3] for r in desk.history()} == {"alias_retype", "recased"}


WRONG: list[tuple[str, Callable[[dict[str, Any]], Any]]] = [
    ("entity is a list", lambda d: d["changes"][0].update(entity=["a00"])),
    ("to is null", lambda d: d["changes"][0].update(to=None)),
    ("ruling is true", lambda d: d["changes"][0].update(ruling=True)),
    ("kind is unknown", lambda d: d["changes"][0].update(kind="magic")),
    ("changes is a number", lambda d: d.update(changes=5)),
    ("a change is a text", lambda d: d.update(changes=["x"])),
    ("no changes", lambda d: d.pop("changes")),
    ("no binding", lambda d: d.pop("binding")),
    ("manifests of the binding is a list", lambda d: d["binding"].update(manifests=[])),
    ("a fingerprint is a number", lambda d: d["binding"]["manifests"].update(tier_fact=7)),
    ("schema version is a text", lambda d: d["binding"].update(schema_version="21")),
    ("head is a fraction", lambda d: d["binding"].update(head_seq=1.5)),
    ("counts are gone", lambda d: d.pop("counts")),
    ("a count is a text", lambda d: d["counts"].update(queued="many")),
    ("undoes is a text", lambda d: d.update(undoes="1")),
    ("notes is a text", lambda d: d.update(notes="x")),
    ("legalized holds numbers", lambda d: d.update(legalized=[1])),
    ("an edge without an id", lambda d: d.update(edge_changes=[{"edge": "x", "kind": "drop", "before": {}}])),
    ("a merge into a number", lambda d: d.update(merges=[{"entity": "a", "name": "n", "before": None, "after": 1}])),
    ("made at night", lambda d: d.update(made_at="night")),
]


@pytest.mark.parametrize("change", [c for _, c in WRONG], ids=[name for name, _ in WRONG])
def test_a_file_of_another_shape_is_refused_in_a_sentence(
    desk: Lab, file: Path, change: Callable[[dict[str, Any]], Any]
) -> None:
    saved(desk, file)
    document = json.loads(file.read_text())
    change(document)
    file.write_text(json.dumps(document))
    with pytest.raises(BadInput, match="is not a whole plan") as caught:
        load_plan(file)
    assert caught.value.remedy


@pytest.mark.parametrize(
    "content", [b"", b"[]", b"null", b"{", b"\xff\xfe", b'{"format": "other"}', b"[" * 100_000, b'{"format": 1e999}']
)
def test_what_is_no_plan_is_refused_in_a_sentence(file: Path, content: bytes) -> None:
    file.write_bytes(content)
    with pytest.raises(BadInput, match="is not a plan"):
        load_plan(file)


def test_a_file_that_is_not_there_or_cannot_be_written(tmp_path: Path, desk: Lab) -> None:
    with pytest.raises(BadInput, match="cannot be read"):
        load_plan(tmp_path / "none.json")
    with pytest.raises(BadInput, match="cannot be read"):
        load_plan(tmp_path)
    with pytest.raises(BadInput, match="cannot be written"):
        save_plan(desk.plan(), tmp_path / "no folder" / "plan.json")


# Stale, by each cause


def test_a_save_that_fails_midway_leaves_the_older_file_and_no_part(desk: Lab, file: Path) -> None:
    saved(desk, file)
    before, (_, most) = file.read_bytes(), resource.getrlimit(resource.RLIMIT_FSIZE)
    plan = desk.plan()
    ignored = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (len(before) // 2, most))
    try:
        with pytest.raises(BadInput, match="cannot be written"):
            save_plan(plan, file)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
        signal.signal(signal.SIGXFSZ, ignored)
    assert file.read_bytes() == before
    assert list(file.parent.glob("*.part")) == []


def test_a_plan_can_be_saved_into_a_device_and_through_a_link(desk: Lab, file: Path) -> None:
    save_plan(desk.plan(), Path(os.devnull))
    link = file.with_name("link.json")
    link.symlink_to(file)
    saved(desk, link)
    assert link.is_symlink()
    assert load_plan(file).changes


def test_stale_by_an_entity_that_moved(desk: Lab) -> None:
    plan = desk.plan()
    desk.case.run("UPDATE curated_entities SET entity_type = 'place' WHERE id = 'a03'")
    error = stale(desk, plan)
    assert error.details == ("a03: agent → role is no longer what the rules say",)
    assert "a03" in error.message


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE curated_entities SET deleted_at = 1 WHERE id = 'a03'",
        "DELETE FROM curated_entities WHERE id = 'a03'",
        "INSERT INTO entity_redirects VALUES ('a03', 'a04', 1)",
        "INSERT INTO ct_entity_optouts VALUES ('a03', 'x', 1)",
        "INSERT INTO entity_type_origin VALUES ('a03', 'bot', 'degraded', NULL, 1)",
        "UPDATE curated_entities SET name = x'00' WHERE id = 'a03'",
    ],
)
def test_stale_by_what_became_of_an_entity(desk: Lab, statement: str) -> None:
    plan = desk.plan()
    desk.case.run(statement)
    assert stale(desk, plan).details == ("a03: agent → role is no longer what the rules say",)


def test_every_row_that_moved_is_listed(desk: Lab) -> None:
    plan = desk.plan()
    desk.case.run("UPDATE curated_entities SET entity_type = 'place' WHERE id IN ('a03', 'a05', 'p1')")
    error = stale(desk, plan)
    assert len(error.details) == 3
    assert "and 2 more" in error.message


def test_a_new_entity_does_not_make_a_plan_stale(desk: Lab) -> None:
    plan = desk.plan()
    desk.case.entity("late", "agent")
    assert desk.apply(plan).retyped == 12
    assert desk.type_of("late") == "agent"


def test_stale_by_a_manifest_that_the_engine_rewrote(desk: Lab) -> None:
    plan = desk.plan()
    desk.case.tier(*SEEDS, "yacht", fallback="project")
    assert "the manifest tier_fact changed" in stale(desk, plan).details


def test_stale_by_a_manifest_row_that_came_or_went(desk: Lab) -> None:
    plan = desk.plan()
    desk.case.manifest("a01", {"node_types": [], "edge_types": []}, "off")
    assert "the manifest a01 changed" in stale(desk, plan).details
    plan = desk.plan()
    desk.case.run("DELETE FROM llm_wiki_entity_manifests WHERE entity_id = 'a01'")
    assert "the manifest a01 changed" in stale(desk, plan).details


def test_stale_by_the_mode_of_a_manifest(desk: Lab) -> None:
    plan = desk.plan()
    desk.case.run("UPDATE llm_wiki_entity_manifests SET mode = 'emergent'")
    assert "the manifest tier_fact changed" in stale(desk, plan).details


def test_stale_by_the_config(desk: Lab) -> None:
    plan = desk.plan()
    desk.case.folders(ops="off")
    assert "the ontology part of config.json changed" in stale(desk, plan).details


def test_a_change_elsewhere_in_the_config_does_not_matter(desk: Lab) -> None:
    plan = desk.plan()
    desk.case.write_config({"generation": {"model": "other"}})
    assert desk.apply(plan).retyped == 12


def test_stale_by_rulings_that_were_appended(desk: Lab) -> None:
    plan = desk.plan()
    desk.rule(Keep("robot"))
    assert "the table of rulings ended at #5 and ends at #6" in stale(desk, plan).details


def test_stale_on_another_brain(desk: Lab, tmp_path: Path) -> None:
    plan = desk.plan()
    other = tmp_path / "other"
    shutil.copytree(desk.case.folder, other)
    original, desk.case = desk.case, type(desk.case)(other)
    assert "the plan was made on" in stale(desk, plan).details[0]
    desk.case = original
    assert desk.apply(plan).retyped == 12


def test_the_same_brain_by_another_path_is_the_same(desk: Lab, tmp_path: Path) -> None:
    plan = desk.plan()
    (tmp_path / "link").symlink_to(desk.case.folder)
    desk.case = type(desk.case)(tmp_path / "link")
    assert desk.apply(plan).retyped == 12


def test_a_relative_path_gives_the_same_plan(desk: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    digest = desk.plan().digest
    monkeypatch.chdir(desk.case.folder)
    desk.case = type(desk.case)(desk.case.folder.relative_to(desk.case.folder))
    assert desk.plan().digest == digest


def test_stale_by_the_schema_version(desk: Lab) -> None:
    plan = desk.plan()
    desk.case.run("INSERT INTO schema_version VALUES (22)")
    assert "the schema version was 21 and is 22" in stale(desk, plan).details


def test_a_plan_is_not_applied_under_unconfirmed_drift(desk: Lab) -> None:
    plan = desk.plan()
    desk.put_watermark("deadbeef", 7)
    with pytest.raises(PolicyError, match="confirm with --confirm-drift"):
        desk.apply(plan)
    assert desk.type_of("a00") == "agent"
    assert desk.apply(plan, confirm="deadbeef").retyped == 12


def test_nor_while_the_rulings_are_not_trusted(desk: Lab) -> None:
    plan = desk.plan()
    table = desk.places.rulings
    table.write_bytes(table.read_bytes().replace(b'"role"', b'"person"', 1))
    with pytest.raises(PolicyError):
        desk.apply(plan)
    assert desk.type_of("a00") == "agent"


# Going on with a plan that was stopped


class StopAfter:
    """A stop event that is set once so many rows are done."""

    def __init__(self, rows: int) -> None:
        self.rows = rows
        self.event = threading.Event()

    def __call__(self, progress: Progress) -> None:
        if progress.done >= self.rows:
            self.event.set()


def apply_until(lab: Lab, plan: Plan, rows: int) -> Any:
    stop = StopAfter(rows)
    return lab.apply(plan, progress=stop, stop=stop.event)


@pytest.fixture
def small_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    from ct_tui.heal import apply

    for name in ("FIRST_CHUNK", "SMALLEST_CHUNK", "LARGEST_CHUNK"):
        monkeypatch.setattr(apply, name, 3)


@pytest.mark.usefixtures("small_chunks")
def test_a_stopped_plan_leaves_whole_chunks_and_goes_on(desk: Lab, file: Path) -> None:
    plan = saved(desk, file)
    first = apply_until(desk, plan, 5)
    assert first.stopped
    assert (first.retyped, first.recased, first.remaining) == (6, 0, 8)
    assert first.legalized == ("document", "process")
    with desk.bench() as bench:
        [run] = bench.runs()
    assert (run.status, run.retyped, run.recased, run.legalized) == ("stopped", 6, 0, ("document", "process"))
    assert (desk.meta("alias_remap_completed"), run.queued) == (None, None)
    second = desk.apply(load_plan(file))
    assert (second.run, second.stopped, second.retyped, second.recased) == (first.run, False, 6, 2)
    with desk.bench() as bench:
        [run] = bench.runs()
    assert (run.status, run.retyped, run.recased, run.legalized) == ("done", 12, 2, ("document", "process"))
    assert desk.meta("alias_remap_completed")
    assert len(desk.history()) == 14


@pytest.mark.usefixtures("small_chunks")
def test_a_plan_stopped_between_its_manifests_goes_on(desk: Lab) -> None:
    desk.case.tier(*SEEDS, fallback="project")
    desk.case.manifest("tier_wisdom", json.loads(desk.case.raw()))
    plan = desk.plan()
    first = apply_until(desk, plan, 1)
    assert (first.retyped, first.remaining) == (0, 15)
    assert "process" not in desk.case.raw("tier_wisdom")
    second = desk.apply(plan)
    assert (second.run, second.retyped, second.legalized) == (first.run, 12, ("document", "process"))
    assert "process" in desk.case.raw("tier_wisdom")


@pytest.mark.usefixtures("small_chunks")
def test_a_stopped_plan_is_stale_by_what_is_left_of_it_alone(desk: Lab) -> None:
    plan = desk.plan()
    apply_until(desk, plan, 5)
    done = {r[0] for r in desk.history()}
    left = sorted({c.entity for c in plan.changes} - done)
    desk.case.run("UPDATE curated_entities SET entity_type = 'place' WHERE id = ?", min(done))
    assert desk.apply(plan).retyped == 6
    assert left


@pytest.mark.usefixtures("small_chunks")
def test_a_manifest_that_moved_after_the_stop_makes_the_rest_stale(desk: Lab) -> None:
    plan = desk.plan()
    apply_until(desk, plan, 5)
    desk.case.run("UPDATE llm_wiki_entity_manifests SET mode = 'emergent'")
    assert "the manifest tier_fact changed" in stale(desk, plan).details
    desk.case.run("UPDATE llm_wiki_entity_manifests SET mode = 'strict', manifest_json = manifest_json || ' '")
    assert "the manifest tier_fact changed" in stale(desk, plan).details


@pytest.mark.usefixtures("small_chunks")
def test_a_stop_before_the_first_row_writes_no_row(desk: Lab) -> None:
    stop = threading.Event()
    stop.set()
    before = desk.types(), desk.case.raw()
    receipt = desk.apply(desk.plan(), stop=stop)
    assert (receipt.stopped, receipt.remaining, receipt.retyped) == (True, 15, 0)
    assert (desk.types(), desk.case.raw()) == before


@pytest.mark.usefixtures("small_chunks")
def test_a_stopped_heal_says_so_and_the_next_one_finishes(desk: Lab) -> None:
    stop = StopAfter(5)
    report = desk.heal(progress=stop, stop=stop.event)
    assert (report.stopped, report.exit_code, report.retyped) == (True, 1, 6)
    assert desk.meta("alias_remap_completed") is None
    report = desk.heal()
    assert (report.stopped, report.exit_code, report.retyped, report.recased) == (False, 0, 6, 2)
    with desk.bench() as bench:
        assert [(r.status, r.retyped) for r in bench.runs()] == [("done", 6), ("stopped", 6)]


def test_an_applied_plan_has_nothing_left_to_do(desk: Lab) -> None:
    plan = desk.plan()
    desk.apply(plan)
    before = desk.db.read_bytes()
    again = desk.apply(plan)
    assert (again.run, again.retyped, again.recased, again.legalized, again.conflicts) == (None, 0, 0, (), ())
    assert desk.db.read_bytes() == before
    assert desk.plan().empty


def test_progress_counts_every_row(desk: Lab) -> None:
    seen: list[tuple[int, int]] = []
    desk.apply(desk.plan(), progress=lambda p: seen.append((p.done, p.total)))
    assert seen[-1] == (15, 15)
    assert [d for d, _ in seen] == sorted(d for d, _ in seen)


def test_a_plan_says_what_it_is(desk: Lab) -> None:
    desk.case.entity("j", "job")
    desk.case.entity("s", "agent")
    desk.case.opt_out("s")
    plan = desk.plan()
    assert (len(plan.changes), plan.queued, plan.shielded, plan.legalized) == (14, 1, 1, ("document", "process"))
    assert plan.flows()[0][:2] == ("agent", "role")
    [agent] = {c.why for c in plan.changes if c.from_type == "agent"}
    assert agent == "ruling #1: agent → role"
    assert desk.rule(Alias("job", "role"))
    assert desk.plan().queued == 0
