"""What is handed out: the wheel's content, the pins, and the two commands that a newcomer runs."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
import zipfile
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[2]
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A wheel built from the checkout as it is."""
    folder = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    (built,) = folder.glob("*.whl")
    return built


def test_the_wheel_holds_code_types_data_and_licence(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    version = metadata.version("ct-tui")
    assert wheel.name == f"ct_tui-{version}-py3-none-any.whl"
    wanted = {
        "ct_tui/__main__.py",
        "ct_tui/py.typed",
        "ct_tui/data/brain.sql",
        "ct_tui/data/demo/story.toml",
        "ct_tui/data/demo/vault/immutable-source-files/people/team.md",
        "ct_tui/data/ontology/schema-software-org.yaml",
        "ct_tui/data/ontology/schema-org.yaml",
        "ct_tui/data/aliases/founding.yaml",
        f"ct_tui-{version}.dist-info/licenses/LICENSE",
    }
    assert wanted - names == set()
    assert [n for n in names if not n.startswith(("ct_tui/", f"ct_tui-{version}.dist-info/"))] == []


def test_the_wheel_carries_every_file_of_the_vault(wheel: Path) -> None:
    names = {n for n in zipfile.ZipFile(wheel).namelist() if n.startswith("ct_tui/data/demo/vault/")}
    vault = ROOT / "ct_tui" / "data" / "demo" / "vault"
    assert names == {f"ct_tui/data/demo/vault/{p.relative_to(vault).as_posix()}" for p in vault.rglob("*.md")}


def test_the_wheel_has_the_command_and_its_dependencies(wheel: Path) -> None:
    (folder,) = {n.split("/")[0] for n in zipfile.ZipFile(wheel).namelist() if ".dist-info/" in n}
    with zipfile.ZipFile(wheel) as archive:
        entry_points = archive.read(f"{folder}/entry_points.txt").decode()
        about = archive.read(f"{folder}/METADATA").decode()
    assert "ct-tui = ct_tui.__main__:main" in entry_points
    assert "Requires-Python: >=3.11" in about
    assert "Requires-Dist: textual==8.2.8" in about
    assert "License-Expression: MIT" in about


def test_shipped_files_load_from_an_installed_wheel(wheel: Path, tmp_path: Path) -> None:
    zipfile.ZipFile(wheel).extractall(tmp_path / "site")
    script = (
        "import ct_tui, pathlib\n"
        "from ct_tui.policy.shipped import founding_text, shipped, shipped_vocabulary\n"
        "print(pathlib.Path(ct_tui.__file__).parents[1])\n"
        "print(len(shipped_vocabulary('schema-software-org').edge_types), len(shipped_vocabulary('schema-org').names))\n"
        "print(founding_text().count('- v: 1'), shipped('demo', 'story.toml').is_file())\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(tmp_path / "site")}
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=tmp_path, env=environment, check=True, capture_output=True, text=True
    )
    assert done.stdout.split() == [str(tmp_path / "site"), "40", "9", "5", "True"]


def locked(name: str) -> dict[str, str]:
    lines = (ROOT / name).read_text(encoding="utf-8").splitlines()
    pins = [line for line in lines if not line.startswith("#")]
    assert all(re.fullmatch(r"[A-Za-z0-9._-]+==[A-Za-z0-9.+!]+", pin) for pin in pins), pins
    return {canonicalize_name(pin.split("==")[0]): pin.split("==")[1] for pin in pins}


def requirements(*groups: list[str]) -> list[Requirement]:
    return [Requirement(text) for group in groups for text in group]


def test_the_locks_satisfy_the_project() -> None:
    run, develop = locked("requirements.lock"), locked("requirements-dev.lock")
    project = PROJECT["project"]
    to_run = requirements(project["dependencies"], PROJECT["build-system"]["requires"])
    to_develop = requirements(PROJECT["dependency-groups"]["dev"], *project["optional-dependencies"].values())
    for wanted, lock in ((to_run, run), (to_run + to_develop, develop)):
        for requirement in wanted:
            assert lock[canonicalize_name(requirement.name)] in requirement.specifier
    assert run.items() <= develop.items()


def test_textual_is_pinned_and_everything_else_bounded() -> None:
    for requirement in requirements(PROJECT["project"]["dependencies"]):
        operators = {s.operator for s in requirement.specifier}
        assert operators == ({"=="} if requirement.name == "textual" else {">=", "<"}), str(requirement)


def test_python_of_the_makefile_and_the_project_agree() -> None:
    assert PROJECT["project"]["requires-python"] == ">=3.11"
    assert "sys.version_info < (3, 11)" in MAKEFILE


def test_help_lists_every_target() -> None:
    phony = re.search(r"^\.PHONY: (.*)$", MAKEFILE, re.MULTILINE)
    assert phony
    done = subprocess.run(["make", "help"], cwd=ROOT, check=True, capture_output=True, text=True)
    listed = re.findall(r"^make (\w+) ", done.stdout, re.MULTILINE)
    assert set(listed) | {"help"} == set(phony.group(1).split())
    assert {"demo", "test", "check", "bench", "faults", "screenshots", "format", "clean", "dist"} <= set(listed)


def test_without_a_new_enough_python_make_says_so(tmp_path: Path) -> None:
    (tmp_path / "Makefile").write_text(MAKEFILE, encoding="utf-8")
    for name in ("pyproject.toml", "requirements.lock", "requirements-dev.lock"):
        (tmp_path / name).write_text("", encoding="utf-8")
    done = subprocess.run(["make", "PYTHON=", "demo"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert "Python 3.11 or newer" in done.stderr
    assert not (tmp_path / ".venv").exists()


def test_a_python_without_venv_is_told_what_to_install(tmp_path: Path) -> None:
    (tmp_path / "Makefile").write_text(MAKEFILE, encoding="utf-8")
    for name in ("pyproject.toml", "requirements.lock", "requirements-dev.lock"):
        (tmp_path / name).write_text("", encoding="utf-8")
    done = subprocess.run(["make", "PYTHON=false", "test"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert "python3-venv" in done.stderr


def test_continuous_integration_runs_the_checks_and_the_tests() -> None:
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    assert "set -euo pipefail" in script
    assert re.findall(r"^make (\w+)$", script, re.MULTILINE) == ["check", "test"]
    subprocess.run(["bash", "-n", str(ROOT / ".ci" / "run")], check=True)


@pytest.mark.parametrize("name", ["CONTRIBUTING.md", "README.md", "ontology/README.md", "aliases/README.md"])
def test_every_path_that_a_document_names_is_there(name: str) -> None:
    text = (ROOT / name).read_text(encoding="utf-8")
    named = set(re.findall(r"(?<![\w/.-])((?:ct_tui|tests|ontology|tools|screenshots|\.ci)/[\w./-]*[\w/])", text))
    assert [path for path in sorted(named) if not (ROOT / path).exists()] == []


def test_the_map_names_every_room() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    rooms = {p.name for p in (ROOT / "ct_tui").iterdir() if (p / "__init__.py").is_file()}
    areas = {p.name for p in (ROOT / "tests").iterdir() if (p / "__init__.py").is_file()}
    assert [room for room in sorted(rooms) if f"ct_tui/{room}" not in text] == []
    assert [area for area in sorted(areas) if f"`tests/{area}`" not in text] == []
