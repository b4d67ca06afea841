"""Acceptance cases CF01 to CF11, the ten watermark vectors, and config files of every shape."""

from __future__ import annotations

import json
import os
import stat
from typing import TYPE_CHECKING, Any

import pytest

from ct_tui.domain.errors import PolicyError
from ct_tui.domain.ladder import Verdict
from ct_tui.domain.policy import Mode, Outcome, Policy, read_policy
from ct_tui.policy.load import load_policy
from ct_tui.policy.write import edit_config, set_default, set_folder

if TYPE_CHECKING:
    from pathlib import Path

    from tests.policy.brains import Case


def policy(document: Any) -> Policy:
    return read_policy(json.dumps(document).encode())


def folders(modes: dict[str, Any], **more: Any) -> Policy:
    return policy({"ingest": {"folder_ontology": modes}, **more})


VECTORS = [
    ({}, "ea2f8b8586f15ec0ffebe97ea54edf92231985f9611d24f4bbdcb12ecd3280bf"),
    ({"ontology": {"schema": "schema-org"}}, "9bb09b75fbf1a73a961cade25be1a99f84c1b8cb9dd01a27d7d0c229574584f2"),
    ({"ontology": {"schema": "off"}}, "7c49f132a127056e8ab70383516310bc450c52157233c4b8debf9b0a6e052b00"),
    ({"ontology": {"schema": "Off"}}, "8b25199a4eae44e92f9cd686b4935a0572802b895b8ea95977b3b2aa7a5657e4"),
    (
        {"ingest": {"ontology_default": "strict"}, "ontology": {"schema": "off"}},
        "2667664b1a304febcf6a45a52c14e66b75a3a9c92d4618788797500192466b99",
    ),
    (
        {"ingest": {"folder_ontology": {"ops": "off"}}},
        "1e66978b707855eefb1ad6ad17e794e898fcb95404f3a9421d7d904b18d43909",
    ),
    (
        {"ingest": {"folder_ontology": {"ops/": "off", "people": "strict"}}},
        "e80e539fb07c231e85eff43e71f31adb15ccfb3b9a8ceca59c34281d46697529",
    ),
    (
        {"ingest": {"folder_ontology": {"./ops": "off"}}},
        "4e9ad1e4a9cef1b29f1f0a7bebd7addf1a1079bc20c98c45fa1047596d70defb",
    ),
    (
        {"ingest": {"folder_ontology": {"ops": "off", "ops/": "strict", "people": "strict"}}},
        "5aa5c2a0976f6a39c0de40d388a6672d9d8be20dddc50c0e2f60c1e9ccfe95ed",
    ),
    (
        {"ingest": {"folder_ontology": {"\\a\\b\\": "off"}}},
        "78c1d43ca3c1f6c8fc68d31ce88543220ecfbf2c265955ee8e22e58051801eab",
    ),
]


@pytest.mark.parametrize(("document", "expected"), VECTORS)
def test_watermark_vectors(document: Any, expected: str) -> None:
    assert policy(document).watermark == expected


def test_the_watermark_of_a_missing_file(tmp_path: Path) -> None:
    assert load_policy(tmp_path / "config.json").watermark == load_policy(None).watermark == VECTORS[0][1]


def test_cf01_modes_are_lower_case() -> None:
    assert folders({"x": "Off"}).degraded.dropped_prefixes == ("x",)
    assert folders({"x": "off"}).folders == (("x", Mode.OFF),)


def test_cf02_keys_that_can_match_nothing_are_inert_and_said() -> None:
    found = folders({"./ops": "off", "/": "off"})
    assert not found.degraded
    assert [p.where for p in found.problems] == ["ingest.folder_ontology['./ops']", "ingest.folder_ontology['/']"]
    assert found.lookup("ops/a.md").outcome is Outcome.HOLD
    assert found.lookup("ops").outcome is Outcome.HOLD
    assert found.lookup("notes/a.md").outcome is Outcome.CLIMB


def test_cf03_an_empty_segment_is_inert() -> None:
    found = folders({"ops//x": "off"})
    assert found.lookup("ops//x/a.md").outcome is not Outcome.OFF
    assert found.lookup("ops/x/a.md").outcome is Outcome.HOLD
    assert found.lookup("ops/a.md").outcome is Outcome.CLIMB


def test_cf05_a_dropped_default_holds() -> None:
    found = policy({"ingest": {"ontology_default": "Off"}})
    assert found.degraded.default_dropped
    assert found.lookup("notes/a.md").outcome is Outcome.HOLD
    assert found.lookup(None).outcome is Outcome.HOLD


def test_cf06_paths_without_a_vault_root() -> None:
    found = folders({"ops": "off"})
    assert found.lookup("ops/a.md").outcome is Outcome.OFF
    assert found.lookup("notes/a.md").outcome is Outcome.CLIMB
    assert (found.lookup("/gone/ops/a.md").outcome, found.lookup("/gone/ops/a.md").row) == (Outcome.HOLD, 5)
    strict = folders({"people": "strict"})
    assert (strict.lookup("/gone/x.md").outcome, strict.lookup("/gone/x.md").row) == (Outcome.CLIMB, 6)


def test_cf08_a_folder_map_that_is_no_map_degrades_everything() -> None:
    assert policy({"ingest": {"folder_ontology": "off"}}).degraded.everywhere


@pytest.mark.parametrize("raw", [b'{"ingest": {', b"\xff\xfe{}", b""])
def test_cf09_a_file_that_cannot_be_read_is_degraded_with_full_tiers(raw: bytes) -> None:
    found = read_policy(raw)
    assert found.degraded.everywhere
    assert found.tier_for("any/path.md") == "full"
    assert not load_policy(None).degraded


def test_cf10_what_the_hash_depends_on() -> None:
    assert policy({"ontology": {"schema": "schema-org"}}).watermark != policy({"ontology": {"schema": "off"}}).watermark
    with_default = {"ingest": {"ontology_default": "off"}}
    one = policy({**with_default, "ontology": {"schema": "schema-org"}}).watermark
    assert one == policy({**with_default, "ontology": {"schema": "off"}}).watermark
    assert folders({"a": "off", "b": "strict"}).watermark == folders({"b": "strict", "a": "off"}).watermark
    assert folders({"./ops": "off"}).watermark != folders({"ops": "off"}).watermark


def test_ho22_an_edit_of_the_same_length_changes_the_hash() -> None:
    assert folders({"ops": "off"}).watermark != folders({"aab": "off"}).watermark


def test_cf11_a_write_while_degraded_leaves_the_file(tmp_path: Path) -> None:
    file = tmp_path / "config.json"
    text = '{"ingest": {"folder_ontology": {"ops": "Off"}}, "x": 1}'
    file.write_text(text)
    with pytest.raises(PolicyError, match="DEGRADED"):
        edit_config(file, load_policy(file), lambda t: set_default(t, Mode.OFF))
    assert file.read_text() == text
    assert not [p for p in tmp_path.iterdir() if p.suffix == ".tmp"]


GLOBAL = {
    "truncated": b'{"ingest": {"folder_ontology": {',
    "not UTF-8": b'{"a": "\xff"}',
    "byte order mark": b"\xef\xbb\xbf{}",
    "NaN": b'{"a": NaN}',
    "infinite": b'{"a": 1e999}',
    "5,000 digits": b'{"a": ' + b"9" * 5000 + b"}",
    "100,000 brackets": b"[" * 100_000,
    "deep": b'{"a":' * 200 + b"1" + b"}" * 200,
    "lone surrogate": b'{"a": "\\ud800"}',
    "root array": b"[]",
    "root null": b"null",
    "vault_path number": b'{"vault_path": 7}',
    "ingest array": b'{"ingest": []}',
    "ingest null": b'{"ingest": null}',
    "map null": b'{"ingest": {"folder_ontology": null}}',
    "trailing comma": b'{"a": 1,}',
    "comment": b"{} // off",
    "NUL": b"\0",
}  # fmt: skip


@pytest.mark.parametrize("raw", GLOBAL.values(), ids=list(GLOBAL))
def test_a_config_that_cannot_be_understood_is_never_no_policy(raw: bytes, case: Case) -> None:
    case.config.write_bytes(raw)
    case.tier("person", fallback="person")
    found = case.policy
    assert found.degraded.everywhere
    assert found.problems
    assert found.refusal() is not None
    assert case.decide().verdict is Verdict.HELD
    assert case.decide("ops/a.md").verdict is Verdict.HELD


def test_a_folder_or_an_unreadable_file_is_degraded(tmp_path: Path) -> None:
    (tmp_path / "config.json").mkdir()
    assert load_policy(tmp_path / "config.json").degraded.everywhere
    assert load_policy(tmp_path / "config.json" / "below").degraded.everywhere is False
    file = tmp_path / "file"
    file.write_text("{}")
    assert load_policy(file / "config.json").degraded.everywhere
    assert load_policy(tmp_path / "nul\0name").degraded.everywhere


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_without_permission_is_degraded(tmp_path: Path) -> None:
    file = tmp_path / "config.json"
    file.write_text("{}")
    file.chmod(0)
    assert load_policy(file).degraded.everywhere


def test_each_part_is_salvaged_by_itself() -> None:
    found = policy(
        {
            "ingest": {
                "folder_tiers": {"a": "chunks-only", "b": "most", "c": 3},
                "folder_ontology": {"good": "off", "bad\\": 1, "worse": None},
                "ontology_default": "strict",
            },
            "ontology": {"schema": "emergent", "later": True},
        }
    )
    assert found.tiers == (("a", "chunks-only"),)
    assert found.folders == (("good", Mode.OFF),)
    assert found.degraded.dropped_prefixes == ("bad", "worse")
    assert (found.default, found.schema, found.degraded.default_dropped) == (Mode.STRICT, "emergent", False)
    assert len(found.problems) == 4


def test_a_bad_tier_does_not_degrade_the_ontology() -> None:
    found = policy({"ingest": {"folder_tiers": {"a": "most"}}})
    assert not found.degraded
    assert found.problems
    assert not policy({"ingest": {"folder_tiers": []}}).degraded


@pytest.mark.parametrize("block", [None, [], "off", {"schema": "Off"}, {"schema": 1}, {"schema": ["off"]}])
def test_an_unparseable_ontology_block_holds_what_climbs(block: Any) -> None:
    found = policy({"ontology": block})
    assert (found.schema, found.schema_unparseable) == (None, True)
    assert not found.degraded
    assert (found.lookup("a/b.md").row, found.lookup("/a/b.md").row, found.lookup(None).row) == (8, 4, 8)
    decided = policy({"ontology": block, "ingest": {"ontology_default": "off"}})
    assert decided.lookup(None).outcome is Outcome.OFF


def test_a_null_schema_or_default_is_absent() -> None:
    found = policy({"ontology": {"schema": None}, "ingest": {"ontology_default": None}, "vault_path": None})
    assert (found.schema, found.schema_unparseable, found.default, bool(found.degraded)) == (None, False, None, False)


def test_a_schema_that_is_off_turns_the_host_off() -> None:
    found = policy({"ontology": {"schema": "off"}})
    assert found.lookup(None).outcome is Outcome.OFF
    assert found.host_mode is Mode.OFF
    assert policy({"ontology": {"schema": "off"}, "ingest": {"ontology_default": "strict"}}).host_mode is Mode.STRICT


def test_a_repeated_key_counts_once_and_is_said() -> None:
    found = read_policy(b'{"ingest": {"folder_ontology": {"ops": "strict", "ops": "off"}}, "a": 1, "a": 2}')
    assert found.folders == (("ops", Mode.OFF),)
    assert {p.where for p in found.problems} == {"ops", "a"}
    assert not found.ties


def test_a_tie_holds_its_folder_and_no_other() -> None:
    found = folders({"ops": "off", "ops/": "strict", "same": "off", "same\\": "off", "./t": "off", "././t": "strict"})
    assert [tie.prefix for tie in found.ties] == ["ops"]
    assert (found.lookup("ops/a.md").outcome, found.lookup("ops/a.md").row) == (Outcome.HOLD, 2)
    assert found.lookup("same/a.md").outcome is Outcome.OFF
    assert found.lookup("notes/a.md").outcome is Outcome.CLIMB
    assert found.lookup(None).outcome is Outcome.CLIMB
    assert not found.degraded
    refusal = found.refusal()
    assert refusal is not None
    assert '"ops/" is strict' in refusal.details[0]


def test_a_deeper_usable_key_beats_a_dropped_one() -> None:
    found = folders({"ops": "Off", "ops/good": "strict", "ops/good/bad": 1})
    assert found.lookup("ops/a.md").outcome is Outcome.HOLD
    assert found.lookup("ops/good/a.md").outcome is Outcome.STRICT
    assert found.lookup("ops/good/bad/a.md").outcome is Outcome.HOLD


def test_a_key_that_leads_out_of_the_vault_holds_nothing() -> None:
    found = folders({"../ops": "off", "a/..": 1})
    assert found.lookup("ops/a.md").outcome is Outcome.CLIMB
    assert found.lookup("a/b.md").outcome is Outcome.CLIMB


def test_tiers_tie_on_the_conservative_side() -> None:
    found = policy({"ingest": {"folder_tiers": {"j": "full", "j/": "none", "j/deep": "chunks-only"}}})
    assert found.tier_for("j/a.md") == "none"
    assert found.tier_for("j/deep/a.md") == "chunks-only"
    assert found.tier_for("x.md") == "full"


class TestVault:
    """Absolute paths are placed below the configured root, its canonical form, or by their own canonical form."""

    @pytest.fixture
    def vault(self, tmp_path: Path) -> Path:
        (tmp_path / "real" / "ops").mkdir(parents=True)
        (tmp_path / "real" / "ops" / "a.md").write_text("x")
        (tmp_path / "link").symlink_to(tmp_path / "real")
        (tmp_path / "other").symlink_to(tmp_path / "real" / "ops")
        return tmp_path

    def lookup(self, folder: Path, vault_path: str, path: str) -> Outcome:
        file = folder / "config.json"
        file.write_text(json.dumps({"vault_path": vault_path, "ingest": {"folder_ontology": {"ops": "off"}}}))
        return load_policy(file).lookup(path).outcome

    def test_configured_root(self, vault: Path) -> None:
        assert self.lookup(vault, "/no/such/vault", "/no/such/vault/ops/a.md") is Outcome.OFF
        assert self.lookup(vault, "/no/such/vault/", "/no//such/./vault/ops/a.md") is Outcome.OFF
        assert self.lookup(vault, "/no/such/vault", "/no/such/vault2/ops/a.md") is Outcome.HOLD

    def test_canonical_root(self, vault: Path) -> None:
        assert self.lookup(vault, str(vault / "link"), str(vault / "real/ops/a.md")) is Outcome.OFF

    def test_canonical_path(self, vault: Path) -> None:
        assert self.lookup(vault, str(vault / "real"), str(vault / "link/ops/a.md")) is Outcome.OFF
        assert self.lookup(vault, str(vault / "real"), str(vault / "other/a.md")) is Outcome.OFF

    def test_outside(self, vault: Path) -> None:
        assert self.lookup(vault, str(vault / "real"), "/elsewhere/ops/a.md") is Outcome.HOLD
        assert self.lookup(vault, "", str(vault / "real/ops/a.md")) is Outcome.HOLD

    def test_folder_names_above_the_vault_never_match(self, vault: Path) -> None:
        assert self.lookup(vault, "/home/ops/vault", "/home/ops/vault/x.md") is Outcome.CLIMB


class TestWriting:
    """One value changes; every other byte, the mode and the links of the file stay."""

    TEXT = '{\r\n\t"z" : [1.50, "\\u00e9"],\r\n\t"ingest": { "later":{"a":1},\t"folder_ontology" : {"a": "off"} },\r\n\t"ontology": 5\r\n}\r\n'

    def write(self, file: Path, text: str, edit: Any) -> str:
        file.write_bytes(text.encode())
        edit_config(file, load_policy(file), edit)
        return file.read_bytes().decode()

    def test_a_changed_value_is_the_only_change(self, tmp_path: Path) -> None:
        file = tmp_path / "config.json"
        new = self.write(file, self.TEXT, lambda t: set_folder(t, "a/", Mode.STRICT))
        assert new == self.TEXT.replace('"a": "off"', '"a": "strict"')

    def test_an_added_value_keeps_what_was_there(self, tmp_path: Path) -> None:
        file = tmp_path / "config.json"
        new = self.write(file, self.TEXT, lambda t: set_default(t, Mode.OFF))
        expected = json.loads(self.TEXT)
        expected["ingest"]["ontology_default"] = "off"
        assert json.loads(new) == expected
        for piece in (
            '"z" : [1.50, "\\u00e9"]',
            '"later":{"a":1}',
            '"folder_ontology" : {"a": "off"}',
            '"ontology": 5',
        ):
            assert piece in new
        assert list(json.loads(new)) == list(expected)

    def test_every_spelling_of_a_folder_goes(self, tmp_path: Path) -> None:
        text = '{"ingest":{"folder_ontology":{"x/y":"off","/x/y/":"off","x\\\\y":"off","./x/y":"off","x":"strict"}}}'
        new = self.write(tmp_path / "config.json", text, lambda t: set_folder(t, "x/y", Mode.STRICT))
        assert json.loads(new)["ingest"]["folder_ontology"] == {"./x/y": "off", "x": "strict", "x/y": "strict"}

    def test_taking_back_what_is_not_there_changes_nothing(self, tmp_path: Path) -> None:
        file = tmp_path / "config.json"
        file.write_text(self.TEXT)
        before = file.stat().st_ino
        assert edit_config(file, load_policy(file), lambda t: set_default(t, None)) is False
        assert file.stat().st_ino == before

    def test_mode_and_links_stay(self, tmp_path: Path) -> None:
        real = tmp_path / "real.json"
        real.write_text("{}")
        real.chmod(0o640)
        link = tmp_path / "config.json"
        link.symlink_to(real)
        edit_config(link, load_policy(link), lambda t: set_default(t, Mode.OFF))
        assert link.is_symlink()
        assert stat.S_IMODE(real.stat().st_mode) == 0o640
        assert json.loads(real.read_text()) == {"ingest": {"ontology_default": "off"}}
        assert not [p for p in tmp_path.iterdir() if p.suffix == ".tmp"]

    def test_a_file_that_changed_meanwhile_is_left(self, tmp_path: Path) -> None:
        file = tmp_path / "config.json"
        file.write_text("{}")
        read = load_policy(file)
        file.write_text('{"newer": 1}')
        with pytest.raises(PolicyError, match="changed"):
            edit_config(file, read, lambda t: set_default(t, Mode.OFF))
        assert file.read_text() == '{"newer": 1}'

    def test_a_tie_refuses(self, tmp_path: Path) -> None:
        text = '{"ingest":{"folder_ontology":{"x":"off","x/":"strict"}}}'
        with pytest.raises(PolicyError, match="ambiguous"):
            self.write(tmp_path / "config.json", text, lambda t: set_default(t, Mode.OFF))
