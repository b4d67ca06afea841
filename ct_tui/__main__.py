"""Where the two faces meet: `ct-tui` and `python -m ct_tui`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ct_tui.policy.paths import Places


def main() -> None:
    """Run the command line; the workstation is imported only when it is opened."""
    from ct_tui.cli.main import run

    sys.exit(run(sys.argv[1:], _open_workstation))


def _open_workstation(places: Places, read_only: bool) -> int:  # noqa: FBT001 - the command line's Opener
    from ct_tui.tui.tidy import hold, leave_all

    hold()
    from ct_tui.tui.start import run

    try:
        return run(places, read_only)
    finally:
        leave_all()


if __name__ == "__main__":
    main()
