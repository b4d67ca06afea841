"""A curator's desk for tests: a user folder, a trusted key, a table, and real OpenSSH beside it."""

from __future__ import annotations

import datetime as dt
import subprocess
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ct_tui.domain.rulings import Alias, Body, Head, Ruling, RulingTable
from ct_tui.trust.canonical import payload
from ct_tui.trust.keys import FileSigner, create_key, load_key
from ct_tui.trust.signers import load_signers
from ct_tui.trust.signing import Draft, sign_ruling
from ct_tui.trust.table import read_table
from ct_tui.trust.trusting import trust
from ct_tui.trust.verify import verify_table

if TYPE_CHECKING:
    from pathlib import Path

ME = "curator@example.org"
OTHER = "second@example.org"
NOON = dt.datetime(2026, 10, 3, 12, 0, tzinfo=dt.UTC)
HOUR = dt.timedelta(hours=1)
DAY = dt.timedelta(days=1)


@dataclass
class Desk:
    folder: Path
    user: Path
    table: Path = field(init=False)
    key: FileSigner = field(init=False)

    def __post_init__(self) -> None:
        self.table = self.folder / "aliases" / "rulings.yaml"
        self.key = self.new_key(ME)
        trust(ME, self.key.public, self.user)

    def new_key(self, principal: str) -> FileSigner:
        return load_key(create_key(principal, self.user / "keys").path)

    def rule(
        self,
        body: Body,
        *,
        by: str = ME,
        key: FileSigner | None = None,
        at: dt.datetime = NOON,
        supersedes: int | None = None,
        seen: Head | None = None,
    ) -> Ruling:
        draft = Draft(body, "because the two words mean the same", by, supersedes)
        signers = load_signers(self.user)
        return sign_ruling(
            draft, key or self.key, self.table, at, signers=signers, head_seen=seen if seen is not None else Head()
        )

    def rule_many(self, count: int) -> list[Ruling]:
        return [self.rule(Alias(f"label {n}", "role"), at=NOON + n * HOUR) for n in range(1, count + 1)]

    def verify(self, seen: Head | None = None, now: dt.datetime = NOON + 30 * DAY) -> RulingTable:
        return verify_table(self.table, load_signers(self.user), seen if seen is not None else Head(), now)

    def states(self, seen: Head | None = None) -> list[str]:
        return [entry.state.value for entry in self.verify(seen).entries]

    def blocks(self) -> list[bytes]:
        """The entries of the table as they stand in the file, one block of bytes each."""
        parts = self.table.read_bytes().split(b"- v: 1\n")
        return [b"- v: 1\n" + part for part in parts[1:]]

    def put(self, blocks: list[bytes]) -> None:
        self.table.write_bytes(b"".join(blocks))


def ssh_keygen_accepts(
    allowed: Path, principal: str, signature: str, content: bytes, *options: str, zone: str = "UTC"
) -> bool:
    """Whether `ssh-keygen -Y verify` of this machine accepts a signature."""
    name = allowed.parent / "one.sig"
    name.write_text(signature)
    command = ["ssh-keygen", "-Y", "verify", "-f", str(allowed), "-I", principal, "-n", "ct-ruling", "-s", str(name)]
    done = subprocess.run(
        [*command, *options], input=content, capture_output=True, env={"TZ": zone, "PATH": "/usr/bin:/bin"}, check=False
    )
    return done.returncode == 0


def every_signature(table: Path) -> list[tuple[str, str, bytes]]:
    """Who signed, the signature and the signed bytes of each entry of a table."""
    found = []
    for raw in read_table(table).raw.entries:
        assert raw.fields is not None
        found.append((raw.fields["ruled_by"], raw.fields["signature"], payload(raw.fields)))
    return found
