"""Draw every view of the workstation on the demo brain: one SVG and one PNG each, into a folder.

The demo is made anew for it, and two nights with founding rulings lie behind it, so that the views have a history.
"""

from __future__ import annotations

import asyncio
import os
import re
import shutil
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import resvg_py

if TYPE_CHECKING:
    from textual.pilot import Pilot

    from ct_tui.heal.demo import DemoPlaces
    from ct_tui.tui.app import Workstation

SIZE = (120, 36)
SMALL = (80, 24)
SECONDS = 30.0
"""How long a view may take to come to rest."""
FONTS = "'Fira Code','DejaVu Sans Mono','Liberation Mono',monospace"

SHOTS: tuple[tuple[str, tuple[str, ...], tuple[int, int]], ...] = (
    ("queue", (), SIZE),
    ("queue-80x24", (), SMALL),
    ("ruling", ("m",), SIZE),
    ("why", ("w",), SIZE),
    ("census", ("C",), SIZE),
    ("plan", ("P",), SIZE),
    ("history", ("H",), SIZE),
    ("rulings", ("R",), SIZE),
    ("nights", ("N",), SIZE),
    ("edges", ("E",), SIZE),
    ("policy", ("O",), SIZE),
    ("lint", ("L",), SIZE),
    ("duplicates", ("D",), SIZE),
    ("keys", ("question_mark",), SIZE),
)
"""Name of the picture, keys pressed on the way to it, columns and lines."""


def prepare(folder: Path) -> DemoPlaces:
    """The demo brain with a night behind it."""
    from ct_tui.heal.demo import PRINCIPAL, build_demo
    from ct_tui.heal.workbench import Workbench

    places = build_demo(folder)
    os.environ["CT_TUI_CONFIG_DIR"] = str(places.user_dir)
    with Workbench(places) as bench:
        bench.heal(apply=True, by=PRINCIPAL)
        bench.adopt(places.founding, [2, 4, 5], key=places.key, principal=PRINCIPAL)
        bench.heal(apply=True, by=PRINCIPAL)
        bench.adopt(places.founding, [1, 3], key=places.key, principal=PRINCIPAL)
    return places


async def draw(places: DemoPlaces, folder: Path) -> None:
    """Draw every picture, each in a workstation opened for it."""
    from ct_tui.tui.app import Workstation

    for name, keys, size in SHOTS:
        app = Workstation(places)
        async with app.run_test(size=size) as pilot:
            await _rest(app, pilot)
            for key in keys:
                await pilot.press(key)
                await _rest(app, pilot)
            svg = tidy(app.export_screenshot(title=f"ct-tui · {name.split('-')[0]}"))
        folder.joinpath(f"{name}.svg").write_text(svg, encoding="utf-8")
        png = resvg_py.svg_to_bytes(svg_string=svg, monospace_family="DejaVu Sans Mono", zoom=1.0)
        folder.joinpath(f"{name}.png").write_bytes(bytes(png))
        sys.stdout.write(f"{folder / name}.svg and .png\n")


def tidy(svg: str) -> str:
    """The drawing without fonts from the network and without its random ids."""
    svg = re.sub(r"@font-face\s*\{.*?\}", "", svg, flags=re.DOTALL)
    svg = svg.replace("Fira Code, monospace", FONTS).replace("font-family: Fira Code", f"font-family: {FONTS}")
    return re.sub(r"terminal-\d+", "terminal-0", svg)


async def _rest(app: Workstation, pilot: Pilot[int]) -> None:
    """Wait until nothing is being read or left to be shown."""
    loop = asyncio.get_running_loop()
    end = loop.time() + SECONDS
    await pilot.pause()
    while not app.resting:
        if loop.time() > end:
            raise TimeoutError("the workstation did not come to rest")
        await pilot.pause(0.05)
    await pilot.pause()


def main() -> int:
    """Draw into the folder named on the command line, `screenshots` by default."""
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else "screenshots")
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as made:
        # A short path without chance in it, so that the pictures show the same every time.
        home = Path(made).parent / "demo"
        if home.exists():
            raise SystemExit(f"{home} is in the way: remove it first")
        try:
            asyncio.run(draw(prepare(home), folder))
        finally:
            shutil.rmtree(home, ignore_errors=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
