"""The survey asks its questions of many entities at once: it must say what asking about each by itself says."""

from __future__ import annotations

import sqlite3
from collections import Counter
from contextlib import closing
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from ct_tui.brain import readers
from ct_tui.brain.readers import EntityRow
from ct_tui.brain.sources import read_sources
from ct_tui.domain.census import Disposition, display
from ct_tui.domain.manifest import TIER_FACT
from ct_tui.domain.redirects import CYCLE
from ct_tui.domain.rulings import Alias, Keep, Retype
from ct_tui.heal import survey as survey_room
from ct_tui.heal.edges import _Marker, read_scope
from ct_tui.heal.survey import Judge, Survey, survey
from tests.heal.lab import Lab
from tests.policy.brains import manifest, new_case, ref, token
from tests.trust.desk import Desk

if TYPE_CHECKING:
    from ct_tui.brain.connection import Db
    from ct_tui.brain.edges import Mark
    from ct_tui.domain.plan import TypeChange
    from ct_tui.heal.situation import Situation

DECLARED = ("person", "role", "Project")
DOCUMENTS = {
    "off/a.md": ("o", "shared"),
    "off/b.md": ("o2",),
    "strict/c.md": ("s",),
    "plain/d.md": ("p", "shared"),
    "odd/e.md": ("x", "x2"),
    "odd/f.md": ("x2", "y"),
    "/elsewhere/g.md": ("z",),
}
HASHES = ("o", "o2", "s", "p", "shared", "x", "x2", "y", "z", "gone")
POLICIES: tuple[dict[str, Any], ...] = (
    {},
    {"folder_ontology": {"off": "off"}},
    {"folder_ontology": {"strict": "strict"}},
    {"folder_ontology": {"off": "off", "strict": "strict"}},
    {"folder_ontology": {"off": "off", "strict": "strict", "./odd": "off"}},
    {"folder_ontology": {"strict": "strict", "./odd": "strict"}},
    {"folder_ontology": {"off": "off", "strict": "strict"}, "ontology_default": "off"},
    {"folder_ontology": {"off": "off"}, "ontology_default": "strict"},
    {"folder_ontology": {"odd": "Off", "off": "off"}},
    {"folder_ontology": {"odd": "off", "odd/": "strict"}},
    {"ontology_default": "off"},
)
TIERS: tuple[tuple[Any, str], ...] = (
    (manifest(*DECLARED, fallback="person"), "strict"),
    (manifest(*DECLARED), "strict"),
    (manifest(*DECLARED, fallback="person"), "off"),
    ("{", "strict"),
)
REFS = st.one_of(
    st.lists(st.sampled_from(HASHES), min_size=1, max_size=2).map(lambda hashes: ref(*hashes)),
    st.sampled_from([None, "token", "token", "token without evidence", "librarian-notes.md", "", "{}", b"\xff", 7]),
)
FACTS = st.lists(st.tuples(REFS, st.sampled_from(HASHES), st.booleans()), max_size=3)
TYPES: tuple[Any, ...] = (
    "person", "role", "Person", "agent", "Agent ", "job", "ship", "kept", "", " ", b"\xff", "x\0y", None, 5
)  # fmt: skip
NAMES = st.sampled_from(["n"] * 12 + [b"n", b"\xff", "n\0m", None])
FLAGS = st.sampled_from(
    [""] * 12
    + [
        "no text as id",
        "archived",
        "opted out",
        "gate_skipped",
        "degraded",
        "ledger path",
        "own strict",
        "own off",
        "own bad",
    ]
)
# Few types in one brain, so that many entities share a judgement.
ENTITIES = st.lists(st.sampled_from(TYPES), min_size=1, max_size=3).flatmap(
    lambda types: st.lists(st.tuples(st.sampled_from(types), NAMES, FLAGS, FACTS), min_size=1, max_size=12)
)
REDIRECTS = st.lists(st.tuples(st.integers(0, 11), st.integers(0, 11)), max_size=3)
LIMITS = st.fixed_dictionaries(
    {
        "ct_tui.heal.survey.BATCH": st.sampled_from([1, 3, 1000]),
        "ct_tui.heal.survey.HELD_ROWS": st.sampled_from([1, 4, 1000]),
        "ct_tui.heal.survey.SAMPLE": st.sampled_from([1, 1000]),
        "ct_tui.brain.shapes.MEMORY": st.sampled_from([1, 1000]),
        "ct_tui.brain.shapes.AHEAD": st.sampled_from([1, 2, 1000]),
        "ct_tui.brain.shapes.PART": st.sampled_from([1, 3, 1000]),
        "ct_tui.brain.shapes.LOST_AT_ONCE": st.sampled_from([1, 1000]),
        "ct_tui.brain.readers.FEW": st.sampled_from([0, 1000]),
        "ct_tui.brain.sources.FEW": st.sampled_from([0, 1000]),
    }
)
IDS = tuple(f"e{at}" for at in range(12))
Entity = tuple[Any, Any, str, list[tuple[Any, str, bool]]]


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Lab:
    """One desk for all examples; each fills the brain anew."""
    folder = tmp_path_factory.mktemp("surveys")
    case = new_case(folder)
    case.run("DROP TABLE curated_entities")
    columns = "name, entity_type, summary, summary_embedding, created_at, updated_at, deleted_at"
    case.run(f"CREATE TABLE curated_entities (id PRIMARY KEY, {columns})")
    for path, hashes in DOCUMENTS.items():
        case.document(path, *hashes)
    lab = Lab(case, Desk(case.folder, folder / "user"))
    lab.rule(Alias("agent", "role"), Alias("job", "Project"), Retype(("e0", "e1"), "ship", "role"), Keep("kept"))
    return lab


def fill(db: sqlite3.Connection, brain: list[Entity], redirects: list[tuple[int, int]]) -> None:
    emptied = (
        "curated_entities", "ct_entity_optouts", "entity_redirects", "entity_type_origin", "llm_wiki_entries",
        "librarian_evidence", "llm_wiki_entity_manifests",
    )  # fmt: skip
    for table in emptied:
        db.execute(f"DELETE FROM {table}")
    waiting: list[tuple[str, str]] = []
    for at, (kind, name, flag, facts) in enumerate(brain):
        entity = f"e{at}"
        # What SQLite keeps as text with a broken encoding comes in by a cast.
        db.execute(
            "INSERT INTO curated_entities VALUES "
            "(?1, CASE WHEN ?2 = x'ff' THEN CAST(?2 AS TEXT) ELSE ?2 END, ?3, '', NULL, 1, 1, ?4)",
            (
                entity.encode() if flag == "no text as id" else entity,
                name,
                kind,
                5 if flag == "archived" else None,
            ),
        )
        for number, (claim, under, gone) in enumerate(facts):
            fact = f"{entity}_f{number}"
            given = token(fact) if isinstance(claim, str) and claim.startswith("token") else claim
            if claim == "token":
                waiting.append((fact, ref(under)))
            db.execute(
                "INSERT INTO llm_wiki_entries (id, entity_id, title, body, source_ref, created_at, updated_at, "
                "deleted_at) VALUES (?, ?, 't', 'b', ?, 1, 1, ?)",
                (fact, entity, given, 5 if gone else None),
            )
        _flag(db, entity, flag)
    db.executemany("INSERT INTO librarian_evidence VALUES (?, 'p', ?, 0, 1)", reversed(waiting[::2]))
    db.executemany("INSERT INTO librarian_evidence VALUES (?, 'p', ?, 0, 1)", waiting[1::2])
    pairs = [(f"e{loser}", f"e{into}") for loser, into in redirects]
    db.executemany("INSERT OR REPLACE INTO entity_redirects VALUES (?, ?, 1)", pairs)


def _flag(db: sqlite3.Connection, entity: str, flag: str) -> None:
    if flag == "opted out":
        db.execute("INSERT INTO ct_entity_optouts VALUES (?, '', 1)", (entity,))
    elif flag in {"gate_skipped", "degraded", "ledger path"}:
        reason, path = ("gate_skipped", "off/old.md") if flag == "ledger path" else (flag, None)
        db.execute("INSERT INTO entity_type_origin VALUES (?, 'ship', ?, ?, 1)", (entity, reason, path))
    elif flag.startswith("own"):
        document = "{" if flag == "own bad" else '{"node_types": [{"type": "ship"}], "fallback_node_type": "ship"}'
        mode = "off" if flag == "own off" else "strict"
        db.execute("INSERT INTO llm_wiki_entity_manifests VALUES (?, ?, ?, 1)", (entity, mode, document))


def _seen(kind: Any, name: Any, flag: str, facts: list[tuple[Any, str, bool]]) -> Entity:
    """Text that is not readable is noticed only where a row is fetched, and a declared type's is not."""
    return (kind, "n" if kind in DECLARED and name in {b"\xff", "n\0m"} else name, flag, facts)


@dataclass
class Slow:
    """What asking about each entity by itself says."""

    changes: list[TypeChange] = field(default_factory=list)
    tallies: dict[Any, Counter[Disposition]] = field(default_factory=dict)
    groups: dict[tuple[str, str], dict[str, Any]] = field(default_factory=dict)
    words: dict[tuple[str, str], set[tuple[str, str, str]]] = field(default_factory=dict)


def slowly(db: Db, situation: Situation) -> Slow:
    """Every live entity with all its sources, one after another."""
    sources = read_sources(db, situation.schema, situation.policy, situation.redirects, situation.state)
    judge, found = Judge(situation, sources), Slow()
    for raw in readers.all_live(db, situation.schema):
        row = EntityRow(*raw)
        judged = judge.judge(row)
        found.tallies.setdefault(row.type, Counter())[judged.disposition] += 1
        if judged.change is not None:
            found.changes.append(judged.change)
        if judged.group is not None:
            group = found.groups.setdefault(judged.group, {"count": 0, "types": Counter(), "ids": set()})
            group["count"] += 1
            group["types"][display(row.type)] += 1
            group["ids"].add(display(row.id))
            words = (judged.label, judged.why, repr(judged.decision))
            found.words.setdefault(judged.group, set()).add(words)
    return found


def scope_slowly(db: Db, situation: Situation, default: Mark) -> dict[str, Mark]:
    """The mark of every id by itself; of a merge cluster any member's origin may speak. Circles have no owner."""
    index = read_sources(db, situation.schema, situation.policy, situation.redirects, situation.state)
    marker = _Marker(situation, index)
    assert default == marker.mark("")
    found = {one: marker.mark(one) for one in IDS if situation.redirects.resolve(one) is not CYCLE}
    return {
        one: mark._replace(fixed=any(found[m].fixed for m in situation.redirects.cluster(one) if m in found))
        for one, mark in found.items()
    }


def acted_on(tallies: dict[Any, Counter[Disposition]]) -> dict[str, dict[Disposition, int]]:
    """The dispositions that heal has anything to say about; the compliant are not all looked at."""
    found: dict[str, dict[Disposition, int]] = {
        repr(kind): {d: n for d, n in counts.items() if n and d is not Disposition.COMPLIANT}
        for kind, counts in tallies.items()
    }
    return {kind: counts for kind, counts in found.items() if counts}


def agree(fast: Survey, slow: Slow) -> None:
    assert sorted(fast.changes, key=lambda c: c.entity) == sorted(slow.changes, key=lambda c: c.entity)
    assert acted_on(fast.tallies) == acted_on(slow.tallies)
    total: Counter[Disposition] = sum(fast.tallies.values(), Counter())
    assert {d: n for d, n in fast.counts.items() if n} == dict(total)
    assert fast.groups.keys() == slow.groups.keys()
    for key, group in fast.groups.items():
        whole = slow.groups[key]
        assert (group.count, group.types) == (whole["count"], whole["types"])
        assert len(group.ids) == len(set(group.ids)) == min(group.count, survey_room.SAMPLE)
        assert set(group.ids) <= whole["ids"]
        assert (group.label, group.why, repr(group.decision)) in slow.words[key]


@settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture]
)
@given(
    brain=ENTITIES,
    redirects=REDIRECTS,
    policy=st.sampled_from(POLICIES),
    tier=st.sampled_from(TIERS),
    limits=LIMITS,
    indexed=st.booleans(),
)
@example(
    brain=[("ship", "n", "", [(ref("x"), "o", False)]), ("ship", "n", "", [(ref("y"), "o", False)])],
    redirects=[],
    policy=POLICIES[4],
    tier=TIERS[0],
    limits={},
    indexed=True,
)
def test_asking_of_many_at_once_says_what_asking_of_each_says(
    lab: Lab,
    brain: list[Entity],
    redirects: list[tuple[int, int]],
    policy: dict[str, Any],
    tier: tuple[Any, str],
    limits: dict[str, int],
    indexed: bool,
) -> None:
    lab.case.write_config({"ingest": policy})
    with closing(sqlite3.connect(lab.db)) as connection, connection:
        connection.execute("PRAGMA synchronous = OFF")
        fill(connection, [_seen(*entity) for entity in brain], redirects)
        for name in ("llm_wiki_entries_entity_idx", "llm_wiki_entries_source_ref_idx"):
            connection.execute(f"DROP INDEX IF EXISTS {name}")
        if indexed:
            connection.execute("CREATE INDEX llm_wiki_entries_entity_idx ON llm_wiki_entries (entity_id)")
    lab.case.manifest(TIER_FACT, *tier)
    with lab.bench() as bench, pytest.MonkeyPatch.context() as patch:
        for name, value in limits.items():
            patch.setattr(name, value)
        situation = bench.view().situation
        with bench.brain.snapshot() as db:
            agree(survey(db, situation), slowly(db, situation))
            scope = read_scope(db, situation)
            marks = scope_slowly(db, situation, scope.default)
            assert {i: scope.marks.get(i, scope.default) for i in marks} == marks
