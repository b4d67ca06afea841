"""Where the files of a run lie: flags, then the environment, then beside the brain."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ct_tui.domain.errors import BadInput
from ct_tui.policy.paths import Places, resolve_places

CASES: list[tuple[dict[str, Any], dict[str, str], str, str, str]] = [
    ({}, {}, "~/.brain/brain.db", "~/.brain/config.json", "~/.brain/aliases"),
    ({}, {"CURATED_BRAIN_DIR": "/b"}, "/b/brain.db", "/b/config.json", "/b/aliases"),
    ({}, {"CURATED_BRAIN_DB": "/d/x.db", "CURATED_BRAIN_DIR": "/b"}, "/d/x.db", "/d/config.json", "/d/aliases"),
    ({"brain": "/f/y.db"}, {"CURATED_BRAIN_DB": "/d/x.db"}, "/f/y.db", "/f/config.json", "/f/aliases"),
    ({}, {"CURATED_BRAIN_CONFIG": "/c.json"}, "~/.brain/brain.db", "/c.json", "~/.brain/aliases"),
    ({"config": "/k.json"}, {"CURATED_BRAIN_CONFIG": "/c.json"}, "~/.brain/brain.db", "/k.json", "~/.brain/aliases"),
    ({}, {"CT_TUI_ALIASES": "~/a"}, "~/.brain/brain.db", "~/.brain/config.json", "~/a"),
    ({"aliases": "/z"}, {"CT_TUI_ALIASES": "/a"}, "~/.brain/brain.db", "~/.brain/config.json", "/z"),
    ({"brain": ""}, {"CURATED_BRAIN_DIR": ""}, "~/.brain/brain.db", "~/.brain/config.json", "~/.brain/aliases"),
]


@pytest.mark.parametrize(("flags", "env", "brain", "config", "aliases"), CASES)
def test_places(flags: dict[str, Any], env: dict[str, str], brain: str, config: str, aliases: str) -> None:
    found = resolve_places(**flags, env={"CT_TUI_CONFIG_DIR": "/u", **env})
    expected = (Path(p).expanduser() for p in (brain, config, aliases))
    assert (found.brain, found.config, found.aliases) == tuple(expected)
    assert found.user_dir == Path("/u")
    assert found.rulings == found.aliases / "rulings.yaml"


def test_a_folder_means_its_brain(tmp_path: Path) -> None:
    for flags, env in (({"brain": tmp_path}, {}), ({}, {"CURATED_BRAIN_DB": str(tmp_path)})):
        assert resolve_places(**flags, env=env).brain == tmp_path / "brain.db"


def test_a_home_of_nobody_is_a_name_like_any_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "~nobody.at.all").mkdir()
    assert resolve_places("~nobody.at.all").brain.exists() is False
    assert resolve_places("~nobody.at.all").brain == Path("~nobody.at.all/brain.db")


def test_without_a_home_the_folder_of_keys_must_be_named(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HOME", "XDG_CONFIG_HOME"):
        monkeypatch.delenv(name, raising=False)
    # An account that the system's list of users does not know, as in many containers.
    monkeypatch.setattr("pwd.getpwuid", _unknown)
    with pytest.raises(BadInput, match="no home") as caught:
        resolve_places("/b", env={})
    assert "CT_TUI_CONFIG_DIR" in caught.value.remedy
    assert resolve_places("/b", env={"CT_TUI_CONFIG_DIR": "/u"}).user_dir == Path("/u")


def _unknown(uid: int) -> None:
    raise KeyError(uid)


def test_the_environment_of_the_process_is_the_default(user_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CURATED_BRAIN_DIR", "/from/env")
    found: Places = resolve_places()
    assert (found.brain, found.user_dir) == (Path("/from/env/brain.db"), user_dir)
    assert "ct-tui" in str(resolve_places(env={}).user_dir)
