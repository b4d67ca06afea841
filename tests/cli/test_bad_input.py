"""Every kind of bad input: one clear sentence, exit 1, and nothing written."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from hashlib import sha256
from typing import TYPE_CHECKING

import pytest

from tests.cli.conftest import ADA, spawn

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Ct


KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAINLva4u74eZwBTRxfo/0JUApSMMoPAZS2RWy84QpZQSV"


def some_entity(brain: Path, label: str) -> str:
    with closing(sqlite3.connect(brain / "brain.db")) as db:
        return str(db.execute("SELECT id FROM curated_entities WHERE entity_type = ?", (label,)).fetchone()[0])


def digest(brain: Path) -> str:
    return sha256((brain / "brain.db").read_bytes()).hexdigest()


def test_no_brain_there(tmp_path: Path) -> None:
    missing = tmp_path / "nowhere" / "brain.db"
    assert "there is no brain" in spawn("--brain", str(missing), "census").sentence
    assert not missing.parent.exists()


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("empty", b""),
        ("text", b"hello there\n" * 400),
        ("ff", b"\xff" * 8192),
        ("torn", b"SQLite format 3\0" + b"\1" * 500),
    ],
)
def test_a_file_that_is_no_brain(tmp_path: Path, ct: Ct, name: str, content: bytes) -> None:
    file = tmp_path / f"{name}.db"
    file.write_bytes(content)
    for verb in (["census"], ["heal", "--yes"], ["plan"], ["queue"], ["ledger", "x"]):
        assert str(file) in ct.refused(*verb, "--brain", str(file))
    assert file.read_bytes() == content


def test_a_brain_with_a_damaged_page_is_never_written_to(founded: Ct) -> None:
    path = founded.brain / "brain.db"
    with closing(sqlite3.connect(path)) as db:
        (page,) = db.execute("SELECT rootpage FROM sqlite_master WHERE name = 'curated_agent_log'").fetchone()
    data = bytearray(path.read_bytes())
    data[(page - 1) * 4096 : page * 4096] = b"\xff" * 4096
    path.write_bytes(data)
    before = path.read_bytes()
    report = founded.json("heal", "--yes", code=1)
    assert str(path) in report["ontology"]["error"]
    assert report["ontology"]["retyped"] == 0
    assert founded.json("census")["live"] == 152
    assert path.read_bytes() == before


def test_another_programs_database(tmp_path: Path, ct: Ct) -> None:
    file = tmp_path / "other.db"
    with closing(sqlite3.connect(file)) as db:
        db.execute("CREATE TABLE songs (id INTEGER)")
    assert "is not a brain" in ct.refused("census", "--brain", str(file))


def test_ruling_without_a_key(ct: Ct) -> None:
    sentence = ct.refused("rule", "alias", "agent", "role", "--reason", "because")
    assert "no key to sign with" in sentence
    assert not (ct.brain / "aliases").exists()


def test_a_key_that_is_none(signer: Ct, tmp_path: Path) -> None:
    wrong = tmp_path / "wrong"
    wrong.write_text("not a key\n")
    wrong.chmod(0o600)
    for key, word in ((wrong, "is not a key"), (tmp_path / "absent", "There is no key")):
        assert word in signer.refused("rule", "alias", "agent", "role", "--reason", "x", "--key", str(key))
    assert signer.json("rule", "list")["rulings"] == []


def test_a_wrong_passphrase(ct: Ct, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CT_TUI_PASSPHRASE", "right")
    assert ct.json("keys", "new", "--as", ADA)["encrypted"] is True
    monkeypatch.setenv("CT_TUI_PASSPHRASE", "wrong")
    assert "passphrase does not open" in ct.refused("rule", "alias", "agent", "role", "--reason", "x")
    monkeypatch.delenv("CT_TUI_PASSPHRASE")
    done = ct("rule", "alias", "agent", "role", "--reason", "x")
    assert "there is no terminal to ask" in done.sentence
    assert "CT_TUI_PASSPHRASE" in done.err
    monkeypatch.setenv("CT_TUI_PASSPHRASE", "right")
    assert ct.json("rule", "alias", "agent", "role", "--reason", "x")["state"] == "valid"


def test_an_unknown_principal(signer: Ct) -> None:
    refused = signer.refused("rule", "alias", "agent", "role", "--reason", "x", "--as", "somebody@example.org")
    assert "somebody@example.org" in refused
    assert signer.json("rule", "list")["rulings"] == []


@pytest.mark.parametrize("reason", ["", "   ", "\t\n", "\u3000"])
def test_an_empty_reason(signer: Ct, reason: str) -> None:
    assert "needs a reason" in signer.refused("rule", "alias", "agent", "role", "--reason", reason)
    assert "needs a reason" in signer.refused("rule", "adopt", "founding.yaml", "--reason", reason)


def test_no_reason_at_all(signer: Ct) -> None:
    assert "needs a reason" in signer.refused("rule", "alias", "agent", "role")
    assert "needs a reason" in signer.refused("rule", "keep", "job")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["alias", "agent", "wizard"], "wizard"),
        (["alias", "person", "role"], "declared"),
        (["alias", "agent", "agent"], "agent"),
        (["alias", "", "role"], "blank"),
        (["legalize", "person", "--description", "d"], "declared"),
        (["legalize", " ", "--description", "d"], "blank"),
        (["legalize", "x", "--description", "d", "--parent", "wizard"], "wizard"),
        (["legalize", "x", "--description", "d", "--edge", "knows", "x", "wizard"], "wizard"),
        (["legalize", "x", "--description", "d", "--edge", "knows", "person", "role"], "does not join"),
        (["retype", "wizard", "ENTITY"], "wizard"),
        (["retype", "role", "ent_unknown"], "ent_unknown"),
        (["keep", "job", "--until", "someday"], "someday"),
        (["keep", "job", "--entity", "x"], "type, or entities"),
        (["keep"], "type, or entities"),
        (["revoke", "9"], "9"),
        (["revoke", "x"], "x"),
        (["alias", "agent", "role", "--supersedes", "9"], "9"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_rulings_that_could_not_act(signer: Ct, words: list[str], said: str) -> None:
    args = [some_entity(signer.brain, "agent") if word == "ENTITY" else word for word in words]
    assert said in signer.refused("rule", *args, "--reason", "because")
    assert signer.json("rule", "list")["rulings"] == []


def test_only_a_near_name_is_offered_for_an_undeclared_target(signer: Ct) -> None:
    assert "did you mean person?" in signer("rule", "alias", "agent", "persn", "--reason", "x").err
    assert "did you mean" not in signer("rule", "alias", "agent", "document", "--reason", "x").err


def test_entities_of_two_types_take_two_rulings(signer: Ct) -> None:
    both = [some_entity(signer.brain, "agent"), some_entity(signer.brain, "job")]
    assert "several types" in signer.refused("rule", "retype", "role", *both, "--reason", "x")


def test_two_rulings_for_one_label(signer: Ct) -> None:
    assert signer("rule", "alias", "agent", "role", "--reason", "x").code == 0
    assert "agent" in signer.refused("rule", "alias", "Agent", "person", "--reason", "x")
    assert signer.json("rule", "alias", "agent", "person", "--reason", "x", "--supersedes", "1")["seq"] == 2


@pytest.mark.parametrize("only", [["0"], ["6"], ["1", "9"], ["x"]])
def test_proposals_that_are_not_there(signer: Ct, only: list[str]) -> None:
    assert signer.refused("rule", "adopt", "founding.yaml", "--only", *only)
    assert signer.json("rule", "list")["rulings"] == []


def test_proposal_files_that_are_none(signer: Ct, tmp_path: Path) -> None:
    bad = tmp_path / "bad.yaml"
    bad.write_text("- v: 1\n  kind: [\n")
    for file in (bad, tmp_path / "absent.yaml", tmp_path):
        assert signer.refused("rule", "adopt", str(file))


def test_unknown_ids_and_runs(ct: Ct) -> None:
    assert "nosuch" in ct.refused("show", "nosuch", code=2)
    assert "nosuch" in ct.refused("ledger", "nosuch", code=2)
    assert "9" in ct.refused("undo", "9")
    assert "9" in ct.refused("undo", "9", "--yes")


def test_plans_that_are_none(ct: Ct, tmp_path: Path) -> None:
    notes = tmp_path / "notes.txt"
    notes.write_text("dear diary\n")
    for file in (notes, tmp_path / "absent.json", tmp_path):
        assert ct.refused("apply", str(file))
    assert "no plan" in ct.refused("plan", "--out", str(notes))
    assert notes.read_text() == "dear diary\n"
    assert "no plan" in ct.refused("plan", "--out", str(ct.brain / "brain.db"))
    assert ct.json("census")["live"] == 152


def test_what_is_no_brain_is_said_without_a_verb_too(ct: Ct, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ct_tui.cli.terminal.no_terminal", lambda: "")
    (tmp_path / "text.db").write_text("hello")
    for path in (tmp_path / "nowhere", tmp_path / "text.db", tmp_path):
        assert "brain" in ct.refused("--brain", str(path))


def test_a_plan_changed_by_hand(founded: Ct, tmp_path: Path) -> None:
    file = tmp_path / "plan.json"
    founded.json("plan", "--out", str(file))
    file.write_text(file.read_text().replace('"to": "role"', '"to": "person"'))
    assert "changed after it was made" in founded.refused("apply", str(file))


def test_a_stale_plan_names_what_moved_and_floods_nobody(founded: Ct, tmp_path: Path) -> None:
    with closing(sqlite3.connect(founded.brain / "brain.db")) as db, db:
        rows = [(f"ent_more{n:04}", "one more", "agent") for n in range(300)]
        more = "INSERT INTO curated_entities (id, name, entity_type, created_at, updated_at) VALUES (?, ?, ?, 1, 1)"
        db.executemany(more, rows)
    file = tmp_path / "plan.json"
    assert founded("plan", "--out", str(file)).code == 0
    with closing(sqlite3.connect(founded.brain / "brain.db")) as db, db:
        db.execute("UPDATE curated_entities SET entity_type = 'job' WHERE id LIKE 'ent_more%'")
    said = founded("apply", str(file)).err.splitlines()
    assert sum("no longer what the rules say" in line for line in said[1:]) == 100
    assert said[-2:] == ["  … and 200 more", "  → make a new plan and look at it again"]


def test_heal_flags_that_need_each_other(ct: Ct) -> None:
    before = digest(ct.brain)
    assert "need --yes" in ct.refused("heal", "--confirm-drift", "x")
    assert "need --yes" in ct.refused("heal", "--waive-drift", "x")
    assert "exclude" in ct.refused("heal", "--yes", "--confirm-drift", "x", "--waive-drift", "x")
    assert digest(ct.brain) == before


@pytest.mark.parametrize(
    "args",
    [
        ["heal", "--yes"],
        ["mint", "X"],
        ["ontology", "set", "--mode", "off"],
        ["rule", "alias", "agent", "role", "--reason", "x"],
        ["rule", "adopt", "founding.yaml"],
        ["keys", "new", "--as", "bob@example.org"],
        ["keys", "trust", "bob@example.org", KEY],
        ["keys", "revoke", KEY],
        ["schedule", "--install"],
        ["demo", "--no-open"],
    ],
    ids=" ".join,
)
def test_read_only_writes_nothing(signer: Ct, user_dir: Path, args: list[str]) -> None:
    before, config = digest(signer.brain), (signer.brain / "config.json").read_bytes()
    own = {file: file.read_bytes() for file in user_dir.rglob("*") if file.is_file()}
    done = signer("--read-only", *args)
    assert done.code == 1
    assert "read-only" in done.err + done.out
    assert (digest(signer.brain), (signer.brain / "config.json").read_bytes()) == (before, config)
    assert not (signer.brain / "aliases" / "rulings.yaml").exists()
    assert {file: file.read_bytes() for file in user_dir.rglob("*") if file.is_file()} == own


@pytest.mark.parametrize("option", ["--brain", "--config", "--aliases", "--as"])
def test_an_empty_option_is_no_option_left_away(signer: Ct, option: str) -> None:
    for words in ([option, "", "rule", "keep", "job"], ["rule", "keep", "job", option, ""]):
        assert "empty" in signer.refused(*words, "--reason", "x")
    assert not (signer.brain / "aliases").exists()


def test_a_revoked_key_is_said_to_be_revoked(signer: Ct, user_dir: Path) -> None:
    (public,) = (user_dir / "keys").glob("*.pub")
    assert signer("keys", "revoke", str(public)).code == 0
    assert "was revoked" in signer.refused("rule", "keep", "job", "--reason", "x")


@pytest.mark.parametrize("verb", [["rule", "list"], ["rule", "verify"]], ids=" ".join)
def test_a_table_that_cannot_be_read_is_not_said_to_be_empty(ct: Ct, tmp_path: Path, verb: list[str]) -> None:
    (tmp_path / "file").write_text("no folder\n")
    done = ct(*verb, "--aliases", str(tmp_path / "file"))
    assert "not a directory" in " ".join(done.out.split())
    assert "no ruling yet" not in " ".join(done.out.split())


@pytest.mark.parametrize(
    "content", [None, b"", b"\xff\xfe", b"- {a: &b 1}\n"], ids=["gone", "empty", "bytes", "anchor"]
)
def test_a_table_without_entries_that_is_not_trusted_is_a_problem(founded: Ct, content: bytes | None) -> None:
    founded.json("heal", "--yes")
    table = founded.brain / "aliases" / "rulings.yaml"
    table.unlink() if content is None else table.write_bytes(content)
    assert founded.json("census")["rulings"] == {"valid": 0, "problems": 1}


@pytest.mark.parametrize("args", [["keys", "new"], ["keys", "new", "--as", "two words"], ["keys", "new", "--as", "*"]])
def test_principals_that_cannot_be(ct: Ct, args: list[str], user_dir: Path) -> None:
    assert ct.refused(*args)
    assert not (user_dir / "keys").exists()


def test_keys_that_cannot_be_trusted(ct: Ct, tmp_path: Path) -> None:
    rsa = tmp_path / "rsa.pub"
    rsa.write_text("ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAAAgQ== me\n")
    for key in ("ssh-ed25519 AAAA", "nonsense", str(tmp_path / "absent.pub"), str(rsa)):
        assert ct.refused("keys", "trust", ADA, key)
    for key in ("ssh-ed25519 AAAA", "nonsense", str(tmp_path / "absent.pub"), "SHA256:unknown"):
        assert ct.refused("keys", "revoke", key)


def test_the_workstation_has_no_json(ct: Ct) -> None:
    assert "no JSON" in ct.refused("--json")


def test_ledger_asks_one_thing(ct: Ct) -> None:
    assert "Name one entity" in ct.refused("ledger")
    assert "Name one entity" in ct.refused("ledger", "x", "--ruling", "1")


@pytest.mark.parametrize(
    ("damage", "why"),
    [
        ("DROP TABLE llm_wiki_edges", "the brain has no table llm_wiki_edges"),
        (
            "ALTER TABLE llm_wiki_edges RENAME COLUMN edge_type TO kind",
            "the table llm_wiki_edges lacks the column edge_type",
        ),
    ],
)
def test_what_cannot_be_read_is_said_to_be_unknown_and_not_nothing(ct: Ct, damage: str, why: str) -> None:
    assert "unreadable" not in ct.json("edges")
    with closing(sqlite3.connect(ct.brain / "brain.db")) as db:
        db.execute(damage)
    done = ct("edges", "--json")
    assert (done.code, done.document["unreadable"]) == (0, [why])
    assert why in done.err
    assert why in ct("queue").err
    assert any(why in check["message"] for check in ct.json("doctor", code=1)["checks"])


def test_the_doctor_names_a_table_that_is_only_read(ct: Ct) -> None:
    with closing(sqlite3.connect(ct.brain / "brain.db")) as db:
        db.execute("DROP TABLE documents")
    warned = [c for c in ct.json("doctor")["checks"] if c["name"] == "schema"]
    assert [(c["state"], "no table documents" in c["message"]) for c in warned] == [("warn", True)]


def test_an_entity_that_a_trigger_swallows_is_not_said_to_be_written(founded: Ct) -> None:
    founded.json("heal", "--yes")
    with closing(sqlite3.connect(founded.brain / "brain.db")) as db:
        db.execute("CREATE TRIGGER swallow BEFORE INSERT ON curated_entities BEGIN SELECT RAISE(IGNORE); END")
        ledger = db.execute("SELECT COUNT(*) FROM entity_type_origin").fetchone()
    assert "did not take the entity in" in founded.refused("mint", "Nobody", "--type", "wizard")
    with closing(sqlite3.connect(founded.brain / "brain.db")) as db:
        assert db.execute("SELECT COUNT(*) FROM entity_type_origin").fetchone() == ledger


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ("ct_entity_optouts", ["ontology", "set", "--mode", "off", "--entity", "ENTITY"]),
        ("llm_wiki_entity_manifests", ["ontology", "set", "--mode", "strict", "--entity", "ENTITY"]),
        ("llm_wiki_edges", ["assert", "Mira", "knows", "Jonas", "--provenance", "chat:1", "--yes"]),
    ],
    ids=["opt-out", "manifest", "edge"],
)
def test_whatever_a_trigger_swallows_is_an_error(founded: Ct, table: str, words: list[str]) -> None:
    founded.json("heal", "--yes")
    entity = some_entity(founded.brain, "role")
    with closing(sqlite3.connect(founded.brain / "brain.db")) as db:
        db.execute(f"CREATE TRIGGER swallow BEFORE INSERT ON {table} BEGIN SELECT RAISE(IGNORE); END")
    assert "did not take" in founded.refused(*(entity if word == "ENTITY" else word for word in words))


def test_nothing_is_retyped_in_a_run_that_a_trigger_swallows(founded: Ct) -> None:
    founded.json("heal", "--yes")
    with closing(sqlite3.connect(founded.brain / "brain.db")) as db:
        db.execute("CREATE TRIGGER swallow BEFORE INSERT ON ct_tui_run BEGIN SELECT RAISE(IGNORE); END")
        db.execute("UPDATE curated_entities SET entity_type = 'agent' WHERE entity_type = 'role'")
        db.commit()
    report = founded.json("heal", "--yes", code=1)
    assert (report["ontology"]["retyped"], report["run"]) == (0, None)
    assert "did not take the run in" in report["ontology"]["error"]
    told = founded("heal", "--yes")
    assert told.code == 1
    assert told.out.startswith("Not healed to the end.")
    with closing(sqlite3.connect(founded.brain / "brain.db")) as db:
        assert db.execute("SELECT COUNT(*) FROM curated_entities WHERE entity_type = 'agent'").fetchone() == (12,)
