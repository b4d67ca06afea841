"""The heal cases through the command line, on real brain files; names follow the acceptance cases."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.cli.conftest import ADA
from tests.policy.brains import SEEDS, ref

if TYPE_CHECKING:
    from tests.cli.conftest import Ct
    from tests.policy.brains import Case

WATERMARK = "ontology_config_watermark"
MARKER = "alias_remap_completed"


@pytest.fixture
def ruled(case: Case, on_case: Ct) -> Ct:
    """A brain of the seed types with fallback concept, on which the founding rulings have been signed."""
    case.tier(*SEEDS, "concept", fallback="concept")
    assert on_case("keys", "new", "--as", ADA).code == 0
    assert on_case("rule", "adopt", "founding.yaml").code == 0
    return on_case


def heal(ct: Ct, *flags: str, code: int = 0) -> Any:
    return ct.json("heal", *flags, code=code)["ontology"]


def counts(done: Any) -> tuple[int, int]:
    return done["retyped"], done["queued"]


def type_of(case: Case, entity: str = "e1") -> Any:
    return case.value("SELECT entity_type FROM curated_entities WHERE id = ?", entity)


def meta(case: Case, key: str) -> Any:
    return case.value("SELECT value FROM llm_wiki_meta WHERE key = ?", key)


def with_source(case: Case, path: str, entity: str = "e1") -> None:
    """One fact of the entity, resting on one passage of one document."""
    digest = f"hash of {path}"
    case.document(path, digest)
    case.fact(f"fact of {entity} from {path}", entity, ref(digest))


def drifted(case: Case) -> None:
    case.run("INSERT INTO llm_wiki_meta VALUES (?, ?)", WATERMARK, json.dumps({"hash": "deadbeef", "stamped_at": 7}))


def test_ho03_an_off_source_alone_shields(case: Case, ruled: Ct) -> None:
    case.folders(ops="off")
    case.entity("e1", "agent")
    with_source(case, "ops/a.md")
    done = heal(ruled, "--yes")
    assert counts(done) == (0, 0)
    assert done["report_only"] + done["shielded"] == 1
    assert type_of(case) == "agent"


def test_ho05_a_gate_skipped_origin_is_queued(case: Case, ruled: Ct) -> None:
    case.entity("e1", "agent")
    case.origin("e1", "gate_skipped", "agent")
    assert counts(heal(ruled, "--yes")) == (0, 1)
    assert type_of(case) == "agent"


def test_ho07_a_report_writes_nothing(case: Case, ruled: Ct) -> None:
    case.entity("e1", "agent")
    before = case.db.read_bytes()
    assert heal(ruled)["retyped"] == 1
    assert type_of(case) == "agent"
    assert meta(case, MARKER) is None
    assert case.count("entity_type_origin") == 0
    assert case.db.read_bytes() == before


def test_ho08_the_first_run_stores_marker_and_watermark(case: Case, ruled: Ct) -> None:
    done = heal(ruled, "--yes")
    assert (done["drift"], done["error"], done["skipped_reason"]) == (None, None, None)
    assert int(meta(case, MARKER)) > 1_000_000_000_000
    stored = json.loads(meta(case, WATERMARK))
    assert stored["hash"] == "ea2f8b8586f15ec0ffebe97ea54edf92231985f9611d24f4bbdcb12ecd3280bf"
    assert stored["stamped_at"] > 1_000_000_000_000


def test_ho09_unconfirmed_drift_retypes_nothing(case: Case, ruled: Ct) -> None:
    case.entity("e1", "agent")
    drifted(case)
    before = meta(case, WATERMARK)
    done = heal(ruled, "--yes", code=1)
    assert done["skipped_reason"] == "unconfirmed_drift"
    assert (done["drift"]["old_hash"], done["drift"]["old_stamped_at"]) == ("deadbeef", 7)
    assert done["drift"]["new_hash"] != "deadbeef"
    assert done["retyped"] == 0
    assert (meta(case, WATERMARK), meta(case, MARKER), type_of(case)) == (before, None, "agent")


def test_ho09_the_ensure_still_runs_under_unconfirmed_drift(case: Case, ruled: Ct) -> None:
    drifted(case)
    heal(ruled, "--yes", code=1)
    assert {"document", "process"} <= {n["type"] for n in json.loads(case.raw())["node_types"]}


def test_ho10_a_report_under_drift_still_previews(case: Case, ruled: Ct) -> None:
    case.entity("e1", "agent")
    drifted(case)
    before = case.db.read_bytes()
    done = heal(ruled)
    assert (done["skipped_reason"], done["retyped"]) == ("unconfirmed_drift", 1)
    assert case.db.read_bytes() == before


def test_ho12_a_corrupt_tier_fact_is_unmarked(case: Case, ruled: Ct) -> None:
    case.manifest("tier_fact", "{broken")
    case.entity("e1", "agent")
    done = heal(ruled, "--yes")
    assert done["census"]["unmarked_tier_fact"] is True
    assert done["retyped"] == 0
    assert case.raw() == "{broken"


def test_ho13_waived_drift_passes_without_retyping(case: Case, ruled: Ct) -> None:
    case.entity("e1", "agent")
    drifted(case)
    before = meta(case, WATERMARK)
    done = heal(ruled, "--yes", "--waive-drift", "deadbeef")
    assert (done["skipped_reason"], done["drift"]["waived"], done["retyped"]) == ("drift_waived", True, 0)
    assert (meta(case, WATERMARK), type_of(case)) == (before, "agent")


@pytest.mark.parametrize("flag", ["--confirm-drift", "--waive-drift"])
def test_ho14_the_wrong_hash_confirms_nothing(case: Case, ruled: Ct, flag: str) -> None:
    case.entity("e1", "agent")
    drifted(case)
    assert heal(ruled, "--yes", flag, "beefdead", code=1)["skipped_reason"] == "unconfirmed_drift"
    assert type_of(case) == "agent"


def test_confirmed_drift_heals_and_moves_the_watermark(case: Case, ruled: Ct) -> None:
    case.entity("e1", "agent")
    drifted(case)
    done = heal(ruled, "--yes", "--confirm-drift", "deadbeef")
    assert (done["skipped_reason"], done["drift"]["confirmed"], done["retyped"]) == (None, True, 1)
    assert json.loads(meta(case, WATERMARK))["hash"] == done["drift"]["new_hash"]
    assert type_of(case) == "role"
    assert heal(ruled, "--yes")["drift"] is None


def test_a_flag_without_drift_is_ignored_with_a_note(case: Case, ruled: Ct) -> None:
    case.entity("e1", "agent")
    done = ruled("heal", "--yes", "--confirm-drift", "deadbeef", "--json")
    assert (done.code, done.document["ontology"]["retyped"]) == (0, 1)
    assert "ignored" in done.err


def test_ho17_component_and_software_follow_their_aliases(case: Case, ruled: Ct) -> None:
    case.entity("e1", "component")
    case.entity("e2", "software")
    assert counts(heal(ruled, "--yes")) == (2, 0)
    assert (type_of(case, "e1"), type_of(case, "e2")) == ("service", "document")
    rows = case.rows("SELECT entity_id, original_type, reason, source_directory FROM entity_type_origin ORDER BY 1")
    assert rows == [("e1", "component", "alias_retype", None), ("e2", "software", "alias_retype", None)]


def test_ho18_a_legalized_type_needs_nothing_more(case: Case, ruled: Ct) -> None:
    case.entity("e1", "process")
    assert counts(heal(ruled, "--yes")) == (0, 0)
    assert type_of(case) == "process"


@pytest.mark.parametrize(
    ("path", "folders"),
    [("/gone/vault/ops/a.md", {"ops": "off"}), ("/elsewhere/x.md", {"ops": "off", "people": "strict"})],
)
def test_ho19_ho20_a_source_that_cannot_be_placed_is_not_retyped(
    case: Case, ruled: Ct, path: str, folders: dict[str, str]
) -> None:
    case.folders(**folders)
    case.entity("e1", "agent")
    with_source(case, path)
    assert heal(ruled, "--yes")["retyped"] == 0
    assert type_of(case) == "agent"


def test_ho21_without_tier_fact_nothing_moves(case: Case, ruled: Ct) -> None:
    case.run("DELETE FROM llm_wiki_entity_manifests")
    case.folders(people="strict")
    case.entity("e1", "agent")
    with_source(case, "people/x.md")
    done = heal(ruled, "--yes")
    assert counts(done) == (0, 0)
    assert done["census"]["unmarked_tier_fact"] is True


def test_ho22_an_edit_of_the_same_length_is_drift(case: Case, ruled: Ct) -> None:
    case.folders(ops="off", people="strict")
    heal(ruled, "--yes")
    case.folders(people="strict", ops="off")
    assert heal(ruled)["drift"] is None
    case.folders(aab="off", people="strict")
    assert heal(ruled)["drift"] is not None


def test_ho26_an_opt_out_survives_the_engines_rewrite(case: Case, ruled: Ct) -> None:
    case.entity("e1", "agent")
    case.opt_out("e1")
    assert heal(ruled, "--yes")["retyped"] == 0
    case.tier(*SEEDS, "concept", fallback="concept")
    done = heal(ruled, "--yes")
    assert (done["retyped"], sorted(done["legalized"])) == (0, ["document", "process"])
    assert case.rows("SELECT entity_id FROM ct_entity_optouts") == [("e1",)]
    assert type_of(case) == "agent"


def test_ho27_an_own_row_that_cannot_be_read_queues(case: Case, ruled: Ct) -> None:
    case.entity("e1", "agent")
    case.manifest("e1", "{broken")
    assert counts(heal(ruled, "--yes")) == (0, 1)
    assert type_of(case) == "agent"


def test_ho30_the_apps_diagnostic_is_echoed(case: Case, ruled: Ct) -> None:
    case.run("INSERT INTO llm_wiki_meta VALUES ('okf_migration_diagnostic', 'page 7 has no title')")
    assert heal(ruled)["okf_migration_diagnostic"] == "page 7 has no title"
    assert "page 7 has no title" in ruled("heal").out


@pytest.mark.parametrize(
    "config",
    ['{"ingest": ', '{"ingest": {"folder_ontology": {"ops": "Off"}}}',
     '{"ingest": {"folder_ontology": {"ops": "off", "ops/": "strict"}}}', '{"ingest": {"ontology_default": "Off"}}'],
)  # fmt: skip
def test_a_degraded_or_tied_config_refuses_everything(case: Case, ruled: Ct, config: str) -> None:
    case.write_config(config)
    case.entity("e1", "agent")
    raw = case.raw()
    done = heal(ruled, "--yes", code=1)
    assert (done["skipped_reason"], done["retyped"]) == ("degraded_config", 0)
    assert (type_of(case), case.raw(), meta(case, MARKER)) == ("agent", raw, None)
    assert heal(ruled)["skipped_reason"] == "degraded_config"
    assert ruled.json("doctor", code=1)["ok"] is False


def test_casing_is_set_right_without_a_ruling(case: Case, on_case: Ct) -> None:
    case.tier("person", "Role", fallback="person")
    for entity, label in (("e1", " Person "), ("e2", "ROLE"), ("e3", "person")):
        case.entity(entity, label)
    done = heal(on_case, "--yes")
    assert (done["retyped"], done["recased"]) == (0, 2)
    assert [type_of(case, e) for e in ("e1", "e2", "e3")] == ["person", "Role", "person"]
    assert case.count("entity_type_origin") == 0
    assert on_case.json("ledger", "e1")["history"][0]["reason"] == "recased"


def test_the_ensure_sets_the_fallback_and_names_what_is_unusable(case: Case, on_case: Ct) -> None:
    case.tier(*SEEDS)
    case.manifest("e9", {"node_types": [], "fallback_node_type": "person"})
    case.entity("e9", "person")
    done = heal(on_case, "--yes")
    assert done["unusable_manifests"] == ["e9"]
    assert json.loads(case.raw())["fallback_node_type"] == "project"


def test_neither_schema_version_nor_journal_mode_is_touched(case: Case, ruled: Ct) -> None:
    before = case.rows("SELECT version FROM schema_version ORDER BY 1"), case.value("PRAGMA journal_mode")
    heal(ruled, "--yes")
    assert (case.rows("SELECT version FROM schema_version ORDER BY 1"), case.value("PRAGMA journal_mode")) == before
