"""The checks behind `ct-tui doctor`: each says how one thing stands and, where it is not well, how to mend it."""

from __future__ import annotations

import os
import shutil
import sys
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ct_tui.domain.errors import CtTuiError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ct_tui.cli.settings import Settings
    from ct_tui.heal.workbench import Workbench
    from ct_tui.policy.paths import Places

WATCHER_LOCK = ".curated_thoughts.lock"
"""The file in the vault's root that the app's watcher locks while it runs."""


class Health(StrEnum):
    """How one thing stands; only `fail` prevents work."""

    OK = "ok"
    WARN = "warn"
    FAIL = "fail"


@dataclass(frozen=True)
class Check:
    """One line of the report."""

    name: str
    health: Health
    message: str
    mend: str = ""

    def as_json(self) -> dict[str, Any]:
        """The line as `doctor --json` prints it."""
        return {"name": self.name, "state": self.health.value, "message": self.message, "mend": self.mend or None}


def run_checks(settings: Settings) -> list[Check]:
    """Every check in the order of the report; a check that cannot run is a failure of its own."""
    places = settings.places()
    found = list(_paths(places))
    try:
        with settings.workbench() as bench:
            for check in (
                _schema,
                _writable,
                _write_lock,
                _manifests,
                _config,
                _policy_drift,
                _rulings,
                _watcher,
                _room,
            ):
                found += _guarded(check, bench)
    except CtTuiError as error:
        found.append(Check("brain", Health.FAIL, error.message, error.remedy))
    return [*found, *_keys(places), *_signers(places), *_terminal()]


def _guarded(check: Callable[[Workbench], Iterator[Check]], bench: Workbench) -> list[Check]:
    try:
        return list(check(bench))
    except CtTuiError as error:
        return [Check(check.__name__.strip("_").replace("_", " "), Health.FAIL, error.message, error.remedy)]


def _paths(places: Places) -> Iterator[Check]:
    yield Check("brain file", Health.OK if places.brain.is_file() else Health.FAIL, str(places.brain))
    config = places.config
    said = str(config) if config.exists() else f"{config} is not there, so nothing is set"
    yield Check("config file", Health.OK, said)
    rulings = places.rulings
    yield Check("rulings file", Health.OK, str(rulings) if rulings.exists() else f"{rulings} is not there yet")
    yield Check("your folder", Health.OK, str(places.user_dir))


def _schema(bench: Workbench) -> Iterator[Check]:
    schema = bench.brain.schema
    if schema.refusal:
        yield Check(
            "schema", Health.FAIL, f"nothing will be written: {schema.refusal}", "open the brain with the app once"
        )
    for why in schema.unread:
        if why in schema.refusal:
            continue
        yield Check("schema", Health.WARN, f"{why}: what it would hold is unknown", "open the brain with the app once")
    if schema.refusal or schema.unread:
        return
    version = schema.version
    # Without a vault root the app stamps no version above 21, although all the later tables are there.
    yield Check("schema", Health.OK, f"version {version}" if version is not None else "no version is stamped")


def _writable(bench: Workbench) -> Iterator[Check]:
    if not bench.read_only:
        yield Check("writing", Health.OK, "the brain can be written")
        return
    mend = "leave --read-only away, or check the permissions of the file and its folder"
    yield Check("writing", Health.WARN, "the brain is opened read-only: everything can be looked at", mend)


def _write_lock(bench: Workbench) -> Iterator[Check]:
    """Whether somebody holds the write lock for longer than writers may."""
    if bench.write_refusal:
        return
    bench.brain.write(lambda _: None)
    yield Check("write lock", Health.OK, "no other program holds it")


def _manifests(bench: Workbench) -> Iterator[Check]:
    from ct_tui.domain.holds import hold_text, vocabulary_hold
    from ct_tui.domain.manifest import TIER_FACT

    manifests = bench.view().situation.state.manifests
    row = manifests.tier_fact
    mend = "`ct-tui ontology show` shows every row, `ct-tui heal --yes` sets a missing fallback"
    if row is None:
        yield Check(
            "manifest", Health.WARN, f"there is no row {TIER_FACT}: no gate runs", "open the brain with the app once"
        )
    elif row.vocabulary is None:
        yield Check("manifest", Health.WARN, f"the row {TIER_FACT} cannot be read: {row.error}", mend)
    elif not row.strict:
        yield Check("manifest", Health.WARN, f"the row {TIER_FACT} has mode {row.mode}: no gate runs")
    else:
        hold = vocabulary_hold(row.vocabulary, TIER_FACT)
        said = f"{TIER_FACT} declares {len(row.vocabulary.names)} types"
        yield Check(
            "manifest", Health.WARN if hold else Health.OK, hold_text(hold) if hold else said, mend if hold else ""
        )
    broken = [i for i in manifests.own_rows() if not manifests.rows[i].readable]
    if broken:
        yield Check("manifest", Health.WARN, f"unreadable rows: {', '.join(broken)}", mend)


def _config(bench: Workbench) -> Iterator[Check]:
    policy = bench.view().situation.policy
    refusal = policy.refusal()
    if refusal is not None:
        said = "; ".join((refusal.message, *refusal.details))
        yield Check("policy", Health.FAIL, said, refusal.remedy)
        return
    notes = "; ".join(f"{p.where}: {p.message}" for p in policy.problems)
    yield Check("policy", Health.WARN if notes else Health.OK, notes or "config.json is whole")


def _policy_drift(bench: Workbench) -> Iterator[Check]:
    drift = bench.view().situation.drift
    if drift is None:
        yield Check("policy drift", Health.OK, "none since the last heal")
        return
    mend = f"`ct-tui heal --yes --confirm-drift {drift.word}` takes it as meant"
    yield Check("policy drift", Health.WARN, "config.json changed since the last heal, which retypes nothing now", mend)


def _rulings(bench: Workbench) -> Iterator[Check]:
    table = bench.table()
    mend = "`ct-tui rule verify` says what is wrong"
    if table.distrust:
        yield Check("rulings", Health.FAIL, f"nothing ruled acts: {table.distrust}", mend)
    elif table.problems():
        said = f"{len(table.problems())} of {len(table.entries)} entries do not act"
        yield Check("rulings", Health.WARN, said, mend)
    else:
        yield Check("rulings", Health.OK, f"{len(table.entries)} entries, all valid")


def _watcher(bench: Workbench) -> Iterator[Check]:
    vault = bench.view().situation.policy.vault_path
    if vault is None:
        yield Check("app", Health.OK, "config.json names no vault, so a running app cannot be told")
        return
    held = is_locked(Path(vault) / WATCHER_LOCK)
    said = "its watcher is running beside us, which is fine" if held else "its watcher is not running"
    yield Check("app", Health.OK, said)


def is_locked(lock: Path) -> bool:
    """Whether some process holds an advisory lock on a file; taking and leaving it where the system keeps no list."""
    try:
        inode = lock.stat().st_ino
    except OSError:
        return False
    listing = Path("/proc/locks")
    if listing.exists():
        # Each line ends in `MAJOR:MINOR:INODE START END`.
        fields = (line.split() for line in listing.read_text(encoding="ascii", errors="replace").splitlines())
        return any(part.endswith(f":{inode}") for line in fields for part in line)
    return _is_locked_by_trying(lock)


def _is_locked_by_trying(lock: Path) -> bool:
    import fcntl

    try:
        with lock.open("rb") as opened:
            fcntl.flock(opened, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    return False


def _room(bench: Workbench) -> Iterator[Check]:
    folder = bench.places.brain.absolute().parent
    free = shutil.disk_usage(folder).free
    need = 2 * bench.places.brain.stat().st_size
    said = f"{free // 1_000_000:,} MB free beside the brain"
    enough = free > need
    yield Check(
        "disk", Health.OK if enough else Health.WARN, said, "" if enough else "make room: a backup needs its size"
    )


def _keys(places: Places) -> Iterator[Check]:
    from ct_tui.trust.keys import list_keys
    from ct_tui.trust.paths import keys_folder

    make = "`ct-tui keys new --as you@example.org` makes one"
    try:
        keys = list_keys(keys_folder(places.user_dir))
    except CtTuiError as error:
        yield Check("keys", Health.WARN, error.message, error.remedy)
        return
    for key in keys:
        if key.problem:
            yield Check("keys", Health.WARN, key.problem, f"mend or move {key.path}")
    usable = [key.path.name for key in keys if not key.problem]
    if usable:
        yield Check("keys", Health.OK, f"can sign: {', '.join(usable)}")
    else:
        yield Check("keys", Health.WARN, "there is no key, so nothing can be ruled yet", make)


def _signers(places: Places) -> Iterator[Check]:
    from ct_tui.trust.paths import allowed_signers_path
    from ct_tui.trust.signers import load_signers

    signers = load_signers(places.user_dir)
    path = allowed_signers_path(places.user_dir)
    if signers.refusal:
        yield Check("signers", Health.FAIL, f"nobody is trusted: {signers.refusal}", "mend that file")
        return
    for line in signers.lines:
        if line.problem:
            yield Check("signers", Health.WARN, f"{path}: {line.problem}", "mend or remove that line")
    good = [
        p for line in signers.lines if not line.problem and line.key not in signers.revoked for p in line.principals
    ]
    names = ", ".join(dict.fromkeys(good))
    mend = "`ct-tui keys new` trusts its own key, `ct-tui keys trust` somebody else's"
    yield (
        Check("signers", Health.OK, f"trusted: {names}")
        if good
        else Check("signers", Health.WARN, "nobody is trusted", mend)
    )


def _terminal() -> Iterator[Check]:
    from ct_tui.cli.terminal import no_terminal, wants_colour

    why = no_terminal()
    if why:
        yield Check(
            "terminal", Health.WARN, f"{why}: the verbs work, the workstation does not", "run it from a terminal"
        )
        return
    columns, rows = shutil.get_terminal_size()
    small = columns < 40 or rows < 10
    colours = "colours" if wants_colour(sys.stdout) else "no colours"
    said = f"{os.environ.get('TERM', 'no TERM')}, {columns} × {rows}, {colours}"
    yield Check("terminal", Health.WARN if small else Health.OK, said, "make it at least 40 × 10" if small else "")
    encoding = (sys.stdout.encoding or "").lower().replace("-", "")
    if encoding != "utf8":
        mend = "set a UTF-8 locale, such as LANG=C.UTF-8"
        yield Check("encoding", Health.WARN, f"{sys.stdout.encoding}: some signs are shown as ?", mend)
