"""The command line as tests use it: most in this process, where one costs little; the rest as the installed command."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

from ct_tui.cli.main import run
from tests.policy.brains import Case, new_case

if TYPE_CHECKING:
    from pathlib import Path

ADA = "ada@example.org"
COMMAND = (sys.executable, "-m", "ct_tui")


@dataclass(frozen=True)
class Done:
    """What one command did."""

    code: int
    out: str
    err: str

    @property
    def document(self) -> Any:
        """The one JSON document on stdout, and nothing beside it."""
        assert self.out.endswith("\n")
        assert "\n" not in self.out[:-1]
        return json.loads(self.out)

    @property
    def sentence(self) -> str:
        """The first line of a refusal, which left stdout empty and printed no traceback."""
        assert self.out == ""
        assert "Traceback" not in self.err
        said = self.err.lstrip("\n")
        assert said.startswith("ct-tui: ")
        return said.splitlines()[0].removeprefix("ct-tui: ")


class Ct:
    """The command line on one brain, in this process."""

    def __init__(self, brain: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.brain = brain
        self._capsys = capsys

    def __call__(self, *args: str) -> Done:
        self._capsys.readouterr()
        code = run(["--brain", str(self.brain), *args])
        out, err = self._capsys.readouterr()
        return Done(code, out, err)

    def json(self, *args: str, code: int = 0) -> Any:
        """The document of a verb that ends with this exit code."""
        done = self(*args, "--json")
        assert done.code == code, done.err
        return done.document

    def refused(self, *args: str, code: int = 1) -> str:
        """The sentence of a verb that is refused."""
        done = self(*args)
        assert done.code == code, (done.code, done.out, done.err)
        return done.sentence


def spawn(*args: str, env: dict[str, str] | None = None, **how: Any) -> Done:
    """Run the command as a process of its own."""
    variables = {**os.environ, **(env or {})}
    how.setdefault("stdin", subprocess.DEVNULL)
    done = subprocess.run([*COMMAND, *args], capture_output=True, timeout=60, check=False, env=variables, **how)
    return Done(done.returncode, done.stdout.decode("utf-8"), done.stderr.decode("utf-8"))


@pytest.fixture
def ct(october: Path, capsys: pytest.CaptureFixture[str]) -> Ct:
    """The command line on a copy of the October brain."""
    return Ct(october, capsys)


@pytest.fixture
def signer(ct: Ct) -> Ct:
    """The same, with a key that is trusted."""
    assert ct("keys", "new", "--as", ADA).code == 0
    return ct


@pytest.fixture
def founded(signer: Ct) -> Ct:
    """The same, with the five founding rulings adopted."""
    assert signer("rule", "adopt", "founding.yaml").code == 0
    return signer


@pytest.fixture
def case(tmp_path: Path) -> Case:
    """An empty brain with the app's schema and no config."""
    return new_case(tmp_path)


@pytest.fixture
def on_case(case: Case, capsys: pytest.CaptureFixture[str]) -> Ct:
    """The command line on the empty brain."""
    return Ct(case.folder, capsys)
