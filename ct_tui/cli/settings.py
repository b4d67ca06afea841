"""What the global options said, and the brain that they lead to."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ct_tui.cli.output import Out

if TYPE_CHECKING:
    from ct_tui.heal.workbench import Workbench
    from ct_tui.policy.paths import Places

_MAGIC = b"SQLite format 3\0"

Opener = Callable[["Places", bool], int]
"""Opens the workstation on a brain, read-only or not, and gives its exit code."""


@dataclass
class Settings:
    """The global options as given before or after the verb, the later one winning, and where output goes."""

    brain: str | None = None
    config: str | None = None
    aliases: str | None = None
    read_only: bool = False
    json: bool = False
    principal: str | None = None
    opener: Opener | None = None
    out: Out = field(default_factory=Out)
    unread: tuple[str, ...] = ()
    """Of each table of the brain last opened that cannot be read, why: what it holds is unknown, and not nothing."""

    def places(self) -> Places:
        """Every file of this run, by options, then environment, then default."""
        from ct_tui.policy.paths import resolve_places

        return resolve_places(self.brain, self.config, self.aliases)

    def workbench(self) -> Workbench:
        """The brain with its policy and rulings, to be closed after use; raises BrainError where it is none."""
        from ct_tui.heal.workbench import Workbench

        bench = Workbench(self.places(), read_only=self.read_only)
        self.unread = bench.brain.schema.unread
        return bench

    def require_write(self) -> None:
        """Refuse what writes to the brain or to files of its own when --read-only was given; raises BadInput."""
        from ct_tui.domain.errors import BadInput

        if self.read_only:
            raise BadInput("nothing was written: --read-only was given", "leave it away to write")

    def give(self, document: object, lines: Callable[[], list[str]]) -> None:
        """Print the one document with --json, else the lines for a person; say what could not be read for it."""
        self.out.note(*(f"ct-tui: {why}, so what it would hold is missing here" for why in self.unread))
        if self.json:
            told = {**document, "unreadable": self.unread} if self.unread and isinstance(document, dict) else document
            self.out.document(told)
        else:
            self.out.lines(lines())

    def open_workstation(self) -> int:
        """Open the workstation on the chosen brain; raises BadInput without a terminal."""
        from ct_tui.domain.errors import BadInput

        if self.json:
            raise BadInput("the workstation has no JSON", "name a verb, such as `ct-tui census --json`")
        return self.open_places(self.places())

    def open_places(self, places: Places) -> int:
        """Open the workstation on these files; raises BadInput without a terminal."""
        from ct_tui.cli.signals import default_termination
        from ct_tui.cli.terminal import require_terminal
        from ct_tui.domain.errors import BadInput

        require_terminal()
        _require_database(places)
        if self.opener is None:
            raise BadInput("this process has no workstation", "run the command ct-tui itself")
        with default_termination():
            return self.opener(places, self.read_only)


def _require_database(places: Places) -> None:
    """Say what is no brain before anything is drawn; a file that begins as one costs a look at 16 bytes."""
    try:
        with places.brain.open("rb") as file:
            if file.read(len(_MAGIC)) == _MAGIC:
                return
    except (OSError, ValueError):
        pass  # opening it properly says what is wrong with it
    from ct_tui.heal.workbench import Workbench

    Workbench(places).close()
