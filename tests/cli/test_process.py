"""The command as a process: exit codes, the two streams, no traceback, and what importing it costs."""

from __future__ import annotations

import importlib
import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click
import pytest

from ct_tui import __version__
from ct_tui.cli.app import root
from ct_tui.cli.registry import KEYS_VERBS, ONTOLOGY_VERBS, RULE_VERBS, VERBS, Entry
from tests.cli.conftest import COMMAND, Done, spawn

if TYPE_CHECKING:
    from tests.cli.conftest import Ct

HEAVY = (
    "peewee",
    "ruamel",
    "cryptography",
    "sqlite3",
    "rich",
    "textual",
    "sshsig",
    "rfc8785",
    "platformdirs",
    "rapidfuzz",
)
CONTRACT = [
    "demo",
    "census",
    "queue",
    "show",
    "rule",
    "keys",
    "plan",
    "apply",
    "heal",
    "runs",
    "undo",
    "ledger",
    "ontology",
    "gate",
    "mint",
    "edges",
    "lint",
    "assert",
    "duplicates",
    "doctor",
    "schedule",
    "serve",
]


def imported_by(*args: str) -> set[str]:
    """The modules that one command line leaves imported in a process of its own."""
    program = (
        "import sys, io\n"
        "from ct_tui.cli.main import run\n"
        "out, sys.stdout = sys.stdout, io.StringIO()\n"
        f"code = run({list(args)!r})\n"
        "print(code, *sys.modules, file=out)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    code, *modules = done.stdout.split()
    assert code == "0"
    return set(modules)


@pytest.mark.parametrize("args", [["--version"], ["--help"], ["census", "--help"], ["rule", "alias", "--help"]])
def test_version_and_help_import_nothing_heavy(args: list[str]) -> None:
    modules = imported_by(*args)
    assert not {m for m in modules for heavy in HEAVY if m == heavy or m.startswith(heavy + ".")}


@pytest.mark.parametrize("args", [["--version"], ["--help"]])
def test_version_and_help_import_no_verb(args: list[str]) -> None:
    assert not {m for m in imported_by(*args) if m.startswith("ct_tui.cli.verbs.")}


def test_every_verb_of_the_contract_is_there() -> None:
    assert sorted(entry.name for entry in VERBS) == sorted(CONTRACT)


def entries() -> list[tuple[tuple[str, ...], Entry]]:
    groups = {"rule": RULE_VERBS, "keys": KEYS_VERBS, "ontology": ONTOLOGY_VERBS}
    return [((e.name,), e) for e in VERBS] + [((name, e.name), e) for name, group in groups.items() for e in group]


@pytest.mark.parametrize(
    ("path", "entry"), entries(), ids=lambda value: " ".join(value) if isinstance(value, tuple) else ""
)
def test_the_registry_says_of_a_verb_what_the_verb_says(path: tuple[str, ...], entry: Entry) -> None:
    command = importlib.import_module(entry.module).command
    assert isinstance(command, click.Command)
    assert command.name == entry.name == path[-1]
    assert command.short_help == entry.help


@pytest.mark.parametrize("path", [path for path, _ in entries()], ids=" ".join)
def test_every_help_reads_well_and_has_an_example(path: tuple[str, ...]) -> None:
    from click.testing import CliRunner

    done = CliRunner().invoke(root, [*path, "--help"], prog_name="ct-tui")
    assert done.exit_code == 0
    assert re.search(rf"^Usage: ct-tui {' '.join(path)}\b", done.output)
    assert re.search(rf"\n  Examples?:\n    (.*&& )?ct-tui .*{path[-1]}", done.output)
    assert all(len(line) <= 100 for line in done.output.splitlines())


def test_help_is_0_and_wrong_arguments_are_1() -> None:
    assert spawn("--help").code == 0
    assert spawn("rule", "keep", "--help").code == 0
    assert spawn("--version").out == f"ct-tui {__version__}\n"
    for wrong in (
        ["nosuch"],
        ["census", "--nosuch"],
        ["show"],
        ["rule"],
        ["undo", "x"],
        ["--brain"],
        ["census", "extra"],
    ):
        done = spawn(*wrong)
        assert done.code == 1
        assert done.sentence


def test_a_mistyped_verb_is_answered_with_the_one_meant(ct: Ct) -> None:
    assert "Did you mean census?" in ct.refused("cenus")
    assert "Did you mean legalize?" in ct.refused("rule", "legalise", "x")


def test_global_options_stand_before_or_after_the_verb(october: Path) -> None:
    before = spawn("--brain", str(october), "--json", "census")
    after = spawn("census", "--json", "--brain", str(october))
    within = spawn("rule", "--brain", str(october), "list", "--json")
    assert before.document == after.document
    assert before.document["live"] == 152
    assert within.document == {"rulings": [], "head": {"seq": 0, "hash": ""}, "distrust": ""}


def test_the_option_after_the_verb_wins(october: Path, tmp_path: Path) -> None:
    done = spawn("--brain", str(tmp_path / "nowhere"), "census", "--brain", str(october / "brain.db"), "--json")
    assert done.document["brain"] == str(october / "brain.db")


def test_the_environment_names_the_brain(october: Path) -> None:
    for name, value in (("CURATED_BRAIN_DIR", october), ("CURATED_BRAIN_DB", october / "brain.db")):
        assert spawn("census", "--json", env={name: str(value)}).document["live"] == 152


def test_without_a_terminal_the_workstation_says_so_at_once(october: Path) -> None:
    done = spawn("--brain", str(october))
    assert done.code == 1
    assert "needs a terminal" in done.sentence
    assert "ct-tui census" in done.err
    assert "\x1b" not in done.err


def test_closed_streams_do_no_harm(october: Path) -> None:
    line = f"{' '.join(COMMAND)} --brain '{october}'"

    def shell(rest: str) -> Done:
        done = subprocess.run(["sh", "-c", line + rest], capture_output=True, text=True, timeout=60, check=False)
        assert "Traceback" not in done.stderr
        return Done(done.returncode, done.stdout, done.stderr)

    assert shell(" <&-").code == 1
    assert shell(" census <&-").code == 0
    assert shell(" census >&-").sentence == "standard output is closed"
    assert shell(" census 2>&-").code == 0
    assert shell(" heal --yes --json <&- 2>&-").document["ontology"]["queued"] == 53


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
@pytest.mark.parametrize("args", [["census"], ["census", "--json"]])
def test_a_full_disk_under_stdout_is_a_sentence(october: Path, args: list[str]) -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [*COMMAND, "--brain", str(october), *args], stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )
    assert done.returncode == 1
    assert done.stderr == "ct-tui: No space left on device\n"


def test_a_reader_that_leaves_is_no_reason_to_complain(october: Path) -> None:
    process = subprocess.Popen(
        [*COMMAND, "--brain", str(october), "census", "--json", "--ids"], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()
    assert process.stderr.read() == b""
    assert process.wait(30) == 1
    process.stderr.close()


def test_json_alone_is_on_stdout_and_the_rest_on_stderr(october: Path) -> None:
    done = spawn("--brain", str(october), "undo", "1", "--json")
    assert done.code == 1
    assert done.out == ""
    report = spawn("--brain", str(october), "heal", "--json", env={"PYTHONIOENCODING": "ascii", "LC_ALL": "C"})
    assert report.document["ontology"]["queued"] == 53


def test_an_unexpected_fault_is_a_sentence_and_a_way_to_see_more(ct: Ct, monkeypatch: pytest.MonkeyPatch) -> None:
    from ct_tui.heal.workbench import Workbench

    def broken(_: object) -> None:
        raise ZeroDivisionError("made\nfor this test")

    monkeypatch.setattr(Workbench, "runs", broken)
    done = ct("runs")
    assert done.code == 1
    assert done.sentence == "something unexpected went wrong (ZeroDivisionError: made)"
    assert "CT_TUI_DEBUG=1" in done.err
    monkeypatch.setenv("CT_TUI_DEBUG", "1")
    assert "Traceback" in ct("runs").err


def test_a_signal_ends_a_verb_with_a_word(ct: Ct, monkeypatch: pytest.MonkeyPatch) -> None:
    from ct_tui.heal.workbench import Workbench

    for number, word in ((signal.SIGTERM, "stopped by SIGTERM"), (signal.SIGINT, "interrupted")):

        def struck(_: object, number: int = number) -> None:
            os.kill(os.getpid(), number)

        monkeypatch.setattr(Workbench, "runs", struck)
        assert ct.refused("runs") == word


def test_the_console_script_is_the_same_command(october: Path) -> None:
    script = shutil.which("ct-tui", path=str(Path(sys.executable).parent))
    assert script is not None, "the package is not installed beside this Python"
    done = subprocess.run([script, "--brain", str(october), "census", "--json"], capture_output=True, check=True)
    assert done.stdout.decode() == spawn("--brain", str(october), "census", "--json").out


def test_completion_names_the_verbs() -> None:
    words = {"_CT_TUI_COMPLETE": "bash_complete", "COMP_WORDS": "ct-tui ru", "COMP_CWORD": "1"}
    script = shutil.which("ct-tui", path=str(Path(sys.executable).parent))
    assert script is not None
    done = subprocess.run([script], env={**os.environ, **words}, capture_output=True, text=True, check=False)
    assert done.stdout.split() == ["plain,rule", "plain,runs"]
