"""Fill the generated blocks of README.md: key table, verbs, and what the command line prints on the October brain.

`python tools/readme.py` writes README.md; with `--check` it exits 1 where README.md is not what it would write.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
README = ROOT / "README.md"
OCTOBER = ROOT / "tests" / "data" / "october"
BLOCK = re.compile(r"(<!-- generated: (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)
ROWS_SHOWN = 3


def blocks() -> dict[str, str]:
    """Every generated block by its name."""
    with tempfile.TemporaryDirectory() as folder:
        brain = Path(folder) / ".brain"
        shutil.copytree(OCTOBER, brain)
        census = _run(folder, "census")
        _run(folder, "keys", "new", "--as", "you@example.org")
        _run(folder, "rule", "adopt", str(ROOT / "aliases" / "founding.yaml"), "--reason", "Agreed.")
        plan = _run(folder, "plan")
    return {
        "census": _shell("ct-tui census", census),
        "plan": _shell("ct-tui plan", _shortened(plan)),
        "keys": _key_table(),
        "verbs": _verb_table(),
    }


def filled(text: str) -> str:
    """The README with its blocks filled."""
    made = blocks()
    return BLOCK.sub(lambda m: m[1] + made[m[2]] + m[3], text)


def _run(home: str, *words: str) -> str:
    env = {**os.environ, "HOME": home, "CT_TUI_CONFIG_DIR": f"{home}/user", "COLUMNS": "100", "NO_COLOR": "1"}
    for name in ("CURATED_BRAIN_DB", "CURATED_BRAIN_DIR", "CURATED_BRAIN_CONFIG", "CT_TUI_ALIASES"):
        env.pop(name, None)
    done = subprocess.run(
        [sys.executable, "-m", "ct_tui", *words], env=env, check=True, capture_output=True, encoding="utf-8"
    )
    return done.stdout.replace(home, "~")


def _shell(command: str, output: str) -> str:
    return f"```console\n$ {command}\n{output.rstrip()}\n```\n"


def _shortened(plan: str) -> str:
    """The plan with a few rows of each group and without its digest, which no two machines share."""
    shown: list[str] = []
    rows = 0
    for line in plan.splitlines():
        rows = rows + 1 if re.match(r"\s+ent_", line) else 0
        if rows == ROWS_SHOWN + 1:
            shown.append("    …")
        if rows <= ROWS_SHOWN and not re.match(r"\s+plan [0-9a-f]{16}", line):
            shown.append(line.rstrip())
    return "\n".join(shown)


def _key_table() -> str:
    from ct_tui.tui.actions import Registry, key_table
    from ct_tui.tui.app import all_actions
    from ct_tui.tui.views import find_views

    return key_table(Registry(all_actions(find_views())))


def _verb_table() -> str:
    from ct_tui.cli.registry import VERBS

    return "| verb | what |\n|---|---|\n" + "".join(f"| `{v.name}` | {v.help} |\n" for v in VERBS)


def main() -> int:
    """Write or check the README."""
    before = README.read_text(encoding="utf-8")
    after = filled(before)
    if "--check" in sys.argv[1:]:
        return int(before != after)
    README.write_text(after, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
