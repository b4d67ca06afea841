"""Write the two lock files from pyproject.toml: `make lock`.

pip itself decides the versions, in a dry run that installs nothing; what it would install is written down as plain
`name==version` lines. The first file is what running needs, hatchling included, since the checkout is installed as an
editable package; the second adds what the checks and tests need.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
RUN_LOCK = "requirements.lock"
DEV_LOCK = "requirements-dev.lock"
EDITABLE = "editables>=0.5"
"""What hatchling asks for in addition when it builds an editable package."""


def main() -> None:
    """Resolve both sets and write both files."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    run = wanted_to_run(project)
    write(RUN_LOCK, "running ct-tui from a checkout", resolve(run))
    write(DEV_LOCK, "the checks and the tests", resolve(run + wanted_to_develop(project)))


def wanted_to_run(project: dict[str, Any]) -> list[str]:
    """The dependencies of the package and those of its build."""
    return [*project["project"]["dependencies"], *project["build-system"]["requires"], EDITABLE]


def wanted_to_develop(project: dict[str, Any]) -> list[str]:
    """The development group and every extra, so that the tests reach all of the code."""
    extras = project["project"].get("optional-dependencies", {})
    return [*project["dependency-groups"]["dev"], *(r for extra in extras.values() for r in extra)]


def resolve(requirements: list[str]) -> list[str]:
    """What pip would install for these requirements, as sorted `name==version` lines."""
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--dry-run", "--ignore-installed", "--report", "-"]
    done = subprocess.run([*command, *requirements], check=True, capture_output=True, text=True)
    found = (item["metadata"] for item in json.loads(done.stdout)["install"])
    return sorted((f"{m['name']}=={m['version']}" for m in found), key=str.lower)


def write(name: str, purpose: str, lines: list[str]) -> None:
    """Write one lock file with a line on top that says where it comes from."""
    head = f"# Exact versions for {purpose}. Made from pyproject.toml by `make lock`; do not edit by hand.\n"
    (ROOT / name).write_text(head + "\n".join(lines) + "\n", encoding="utf-8")
    print(f"{name}: {len(lines)} packages")


if __name__ == "__main__":
    main()
