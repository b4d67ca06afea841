"""Whom the user trusts: agrees with `ssh-keygen -Y verify`, stricter where OpenSSH would let a stranger rule."""

from __future__ import annotations

import datetime as dt
import re
import subprocess
import threading
import time
from typing import TYPE_CHECKING

import pytest

from ct_tui.domain.errors import BadInput, TrustError
from ct_tui.domain.rulings import State
from ct_tui.trust.judging import CLOCK_SKEW, judge, judge_ruling, names_of, standings
from ct_tui.trust.keys import create_key, public_path
from ct_tui.trust.paths import allowed_signers_path, revoked_keys_path, user_folder
from ct_tui.trust.public_keys import PublicKey
from ct_tui.trust.signers import Signers, load_signers
from ct_tui.trust.ssh_dates import format_ssh_date, parse_ssh_date
from ct_tui.trust.trusting import revoke, trust
from tests.trust.desk import DAY, HOUR, ME, NOON, OTHER, Desk, ssh_keygen_accepts

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

CONTENT = b"what is signed"


def _write(folder: Path, *lines: str) -> Signers:
    allowed_signers_path(folder).write_bytes("".join(line + "\n" for line in lines).encode())
    return load_signers(folder)


@pytest.fixture
def zone(request: pytest.FixtureRequest) -> Iterator[str]:
    """The system's time zone for one test."""
    name: str = request.param
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TZ", name)
        time.tzset()
        yield name
    time.tzset()


ZONES = pytest.mark.parametrize("zone", ["UTC", "Asia/Tokyo", "America/New_York", "Europe/Berlin"], indirect=True)
WINDOWS = [
    *("", ',valid-after="20260701"', ',valid-before="20260701"', ',valid-after="20260701Z"'),
    *(',valid-before="20260701120000Z"', ',valid-after="202607011200"', ',valid-before="20260701120000"'),
    *(',valid-after="20260101",valid-before="20261231Z"', ',valid-before="202607011200utc"'),
]
MOMENTS = [
    dt.datetime(2026, 6, 30, 14, 59, tzinfo=dt.UTC),
    dt.datetime(2026, 6, 30, 15, 0, tzinfo=dt.UTC),
    dt.datetime(2026, 6, 30, 22, 30, tzinfo=dt.UTC),
    dt.datetime(2026, 7, 1, 0, 0, tzinfo=dt.UTC),
    dt.datetime(2026, 7, 1, 4, 30, tzinfo=dt.UTC),
    dt.datetime(2026, 7, 1, 11, 0, 0, tzinfo=dt.UTC),
    dt.datetime(2026, 7, 1, 11, 0, 1, tzinfo=dt.UTC),
    dt.datetime(2026, 7, 1, 12, 0, 1, tzinfo=dt.UTC),
    dt.datetime(2026, 12, 31, 12, 0, tzinfo=dt.UTC),
]


@ZONES
@pytest.mark.parametrize("window", WINDOWS)
def test_windows_are_judged_as_ssh_keygen_judges_them(desk: Desk, window: str, zone: str) -> None:
    signature = desk.key.sign(CONTENT)
    signers = _write(desk.user, f'{ME} namespaces="ct-ruling"{window} {desk.key.public.text}')
    for moment in MOMENTS:
        verdict = judge(signers, desk.key.public, ME, moment)
        option = f"-Overify-time={format_ssh_date(moment)}"
        theirs = ssh_keygen_accepts(allowed_signers_path(desk.user), ME, signature, CONTENT, option, zone=zone)
        assert (verdict.state is State.VALID) == theirs, (moment, verdict)


LINES = [
    ('{me} namespaces="ct-ruling" {key}', True),
    ('{me} namespaces="git,ct-ruling" {key} a comment', True),
    ('{me},someone@example.org namespaces="ct-ruling" {key}', True),
    ('"{me},two" namespaces="ct-ruling" {key}', True),
    ('   {me}   NAMESPACES="ct-ruling"   {key}', True),
    ('# {me} namespaces="ct-ruling" {key}', False),
    ('someone@example.org namespaces="ct-ruling" {key}', False),
    ('!{me},{me} namespaces="ct-ruling" {key}', False),
    ('{me} namespaces="git" {key}', False),
    ('{me} namespaces="!ct-ruling,ct-ruling" {key}', False),
    ('{me} namespaces="ct-ruling",valid-before="yesterday" {key}', False),
    ('{me} namespaces="ct-ruling",valid-after="20270101",valid-before="20260101" {key}', False),
    ('{me} namespaces="ct-ruling",unknown="1" {key}', False),
    ('{me} namespaces="ct-ruling" ssh-ed25519 AAAA', False),
    ('{me} cert-authority,namespaces="ct-ruling" {key}', False),
    ('{me} namespaces="ct-ruling" {key}==', False),
    ('{me}\u00a0namespaces="ct-ruling" {key}', False),
    ('{me} namespaces="ct-ruling"\u2003{key}', False),
    ('{me} namespaces="ct-ruling" {key} a\u00a0comment', True),
    ("", False),
]


@pytest.mark.parametrize(("line", "good"), LINES)
def test_lines_count_as_they_do_for_ssh_keygen(desk: Desk, line: str, good: bool) -> None:
    text = line.format(me=ME, key=desk.key.public.text)
    signers = _write(desk.user, "# above", text, "garbage")
    verdict = judge(signers, desk.key.public, ME, NOON)
    signature = desk.key.sign(CONTENT)
    assert ssh_keygen_accepts(allowed_signers_path(desk.user), ME, signature, CONTENT) is good
    assert (verdict.state is State.VALID) is good, verdict
    assert bool(verdict.problem) is not good


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ('* namespaces="ct-ruling" {key}', "without \\* and \\?"),
        ('*@example.org namespaces="ct-ruling" {key}', "without \\* and \\?"),
        ("{me} {key}", 'has no namespaces="ct-ruling"'),
        ('{me} namespaces="*" {key}', "not for ct-ruling"),
        ('{me} namespaces="ct-*" {key}', "not for ct-ruling"),
    ],
)
def test_lines_that_ssh_keygen_takes_and_rulings_do_not(desk: Desk, line: str, why: str) -> None:
    signers = _write(desk.user, line.format(me=ME, key=desk.key.public.text))
    signature = desk.key.sign(CONTENT)
    assert ssh_keygen_accepts(allowed_signers_path(desk.user), ME, signature, CONTENT)
    verdict = judge(signers, desk.key.public, ME, NOON)
    assert verdict.state is State.UNTRUSTED
    assert re.search(why, verdict.problem)


def test_one_good_line_is_enough_and_else_the_most_telling_reason_is_given(desk: Desk) -> None:
    key = desk.key.public.text
    over = f'{ME} namespaces="ct-ruling",valid-before="20260101Z" {key}'
    stranger = f'x@example.org namespaces="ct-ruling" {key}'
    good = f'{ME} namespaces="ct-ruling" {key}'
    assert judge(_write(desk.user, over, stranger, good), desk.key.public, ME, NOON).state is State.VALID
    verdict = judge(_write(desk.user, stranger, over, stranger), desk.key.public, ME, NOON)
    assert verdict.state is State.EXPIRED
    assert "2026-01-01" in verdict.problem


def test_two_keys_for_one_name_and_two_names_for_one_key(desk: Desk) -> None:
    second = desk.new_key(ME)
    trust(ME, second.public, desk.user)
    trust(OTHER, desk.key.public, desk.user)
    signers = load_signers(desk.user)
    for key, name, good in [(desk.key, ME, True), (second, ME, True), (desk.key, OTHER, True), (second, OTHER, False)]:
        assert (judge(signers, key.public, name, NOON).state is State.VALID) is good


def test_a_stranger_is_untrusted_with_the_way_to_trust_him(desk: Desk) -> None:
    verdict = judge(load_signers(desk.user), desk.new_key(OTHER).public, OTHER, NOON)
    assert verdict.state is State.UNTRUSTED
    assert "not in your allowed_signers" in verdict.problem
    assert f"keys trust {OTHER}" in verdict.remedy
    odd = "x;rm\u00a0-rf~"
    assert f"keys trust '{odd}' PUBKEY" in judge(load_signers(desk.user), desk.new_key(OTHER).public, odd, NOON).remedy


def test_no_file_means_nobody_is_trusted(tmp_path: Path) -> None:
    assert load_signers(tmp_path / "nowhere") == Signers()


@pytest.mark.parametrize("name", ["allowed_signers", "revoked_keys"])
def test_a_trust_file_that_cannot_be_read_trusts_nobody(desk: Desk, name: str) -> None:
    path = desk.user / name
    path.unlink(missing_ok=True)
    path.mkdir()
    signers = load_signers(desk.user)
    assert judge(signers, desk.key.public, ME, NOON).state is State.UNTRUSTED
    with pytest.raises(TrustError, match="is a folder"):
        trust(OTHER, desk.key.public, desk.user)
    with pytest.raises(TrustError, match="is a folder"):
        revoke(desk.key.public, desk.user)


@pytest.mark.parametrize("data", [b"ssh-ed25519 AAAA broken\n", b"SSHKRL\n\0\0", b"\xff\xfe\n"])
def test_a_revocation_list_that_is_not_understood_trusts_nobody(desk: Desk, data: bytes) -> None:
    revoked_keys_path(desk.user).write_bytes(data)
    verdict = judge(load_signers(desk.user), desk.key.public, ME, NOON)
    assert verdict.state is State.UNTRUSTED
    assert "revoked_keys" in verdict.problem


def test_a_revoked_key_rules_nothing_and_openssh_agrees(desk: Desk) -> None:
    revoked_keys_path(desk.user).write_text("# lost laptop\n\n")
    revoke(desk.key.public.text + " a comment", desk.user)
    revoke(desk.key.public.fingerprint, desk.user)
    assert revoked_keys_path(desk.user).read_text() == f"# lost laptop\n\n{desk.key.public.text}\n"
    assert judge(load_signers(desk.user), desk.key.public, ME, NOON).state is State.REVOKED
    signature, allowed = desk.key.sign(CONTENT), allowed_signers_path(desk.user)
    assert ssh_keygen_accepts(allowed, ME, signature, CONTENT)
    assert not ssh_keygen_accepts(allowed, ME, signature, CONTENT, "-r", str(revoked_keys_path(desk.user)))
    with pytest.raises(TrustError, match="was revoked"):
        trust(ME, desk.key.public, desk.user)


def test_what_cannot_be_revoked_says_so(desk: Desk) -> None:
    with pytest.raises(TrustError, match="has the fingerprint"):
        revoke("SHA256:nothing", desk.user)
    with pytest.raises(TrustError, match="no public key file"):
        revoke("nothing", desk.user)


def test_a_key_of_another_kind_can_be_revoked_and_not_trusted(tmp_path: Path, desk: Desk) -> None:
    path = tmp_path / "rsa"
    subprocess.run(["ssh-keygen", "-q", "-t", "rsa", "-b", "2048", "-N", "", "-f", str(path)], check=True)
    with pytest.raises(TrustError, match="RSA"):
        trust(ME, str(public_path(path)), desk.user)
    revoke(str(public_path(path)), desk.user)
    assert len(load_signers(desk.user).revoked) == 1


def test_trusting_keeps_what_a_person_wrote(desk: Desk) -> None:
    path = allowed_signers_path(desk.user)
    path.write_bytes(b"# my \xff friends\r\n\r\nx@example.org   ssh-rsa AAAA # odd\n\n# no line break at the end")
    path.chmod(0o640)
    before = path.read_bytes()
    trust(ME, desk.key.public, desk.user)
    trust(ME, desk.key.public, desk.user)
    assert path.read_bytes() == before + f'\n{ME} namespaces="ct-ruling" {desk.key.public.text}\n'.encode()
    assert path.stat().st_mode & 0o777 == 0o640
    assert judge(load_signers(desk.user), desk.key.public, ME, NOON).state is State.VALID


def test_trust_with_a_window(desk: Desk) -> None:
    key = desk.new_key(OTHER).public
    trust(OTHER, key, desk.user, valid_after=NOON, valid_before=NOON + DAY)
    signers = load_signers(desk.user)
    assert judge(signers, key, OTHER, NOON - HOUR).problem == "the key is trusted only from 2026-10-03 12:00 UTC on"
    assert judge(signers, key, OTHER, NOON).state is State.VALID
    assert judge(signers, key, OTHER, NOON + 2 * DAY).state is State.EXPIRED
    with pytest.raises(BadInput, match="ends before"):
        trust(OTHER, key, desk.user, valid_after=NOON, valid_before=NOON)


@pytest.mark.parametrize("principal", ["", "a b", "a,b", "*", "?", "!a", 'a"', "a\n", "#a"])
def test_a_name_that_is_no_principal_is_refused(desk: Desk, principal: str) -> None:
    before = allowed_signers_path(desk.user).read_bytes()
    with pytest.raises(BadInput):
        trust(principal, desk.key.public, desk.user)
    assert allowed_signers_path(desk.user).read_bytes() == before


def test_many_trust_at_once_and_nobody_is_lost(desk: Desk) -> None:
    keys = [PublicKey.from_raw(bytes([n]) * 32) for n in range(12)]
    threads = [threading.Thread(target=trust, args=(f"p{n}@example.org", key, desk.user)) for n, key in enumerate(keys)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    signers = load_signers(desk.user)
    assert all(judge(signers, k, f"p{n}@example.org", NOON).state is State.VALID for n, k in enumerate(keys))
    assert not [p for p in desk.user.iterdir() if p.suffix == ".tmp"]


def test_the_list_says_how_each_line_stands(desk: Desk) -> None:
    old, gone = desk.new_key(OTHER), desk.new_key("third@example.org")
    trust(OTHER, old.public, desk.user, valid_before=NOON)
    trust("third@example.org", gone.public, desk.user)
    revoke(gone.public, desk.user)
    with allowed_signers_path(desk.user).open("a") as file:
        file.write("garbage\n")
    mine, expired, revoked, broken = standings(load_signers(desk.user), NOON + DAY)
    assert (mine.principals, mine.state, mine.fingerprint) == ((ME,), "trusted", desk.key.public.fingerprint)
    assert expired.state == "the key was trusted only until 2026-10-03 12:00 UTC"
    assert revoked.state == "revoked"
    assert "line 4 cannot be read" in broken.state


def test_a_ruling_is_judged_when_it_was_made_and_not_when_it_is_read(desk: Desk) -> None:
    key = desk.new_key(OTHER).public
    trust(OTHER, key, desk.user, valid_after=NOON, valid_before=NOON + DAY)
    signers = load_signers(desk.user)

    def state(ruled_at: dt.datetime, floor: dt.datetime | None = None, now: dt.datetime = NOON + 300 * DAY) -> State:
        return judge_ruling(signers, key, OTHER, ruled_at, floor, now).state

    assert state(NOON + HOUR) is State.VALID
    assert state(NOON + 2 * DAY) is State.EXPIRED
    assert state(NOON - HOUR) is State.UNTRUSTED
    # Backdated into the window: it follows a ruling that is younger than the window.
    assert state(NOON + HOUR, floor=NOON + 10 * DAY) is State.EXPIRED
    assert (
        "dated before a ruling"
        in judge_ruling(signers, key, OTHER, NOON + HOUR, NOON + 10 * DAY, NOON + 300 * DAY).problem
    )
    assert state(NOON + HOUR, floor=NOON + 5 * HOUR) is State.VALID


@pytest.mark.parametrize(
    ("ahead", "good"), [(HOUR, True), (CLOCK_SKEW, True), (DAY - dt.timedelta(seconds=2), False), (DAY, False)]
)
def test_a_ruling_from_a_clock_a_day_ahead_is_not_trusted(desk: Desk, ahead: dt.timedelta, good: bool) -> None:
    verdict = judge_ruling(load_signers(desk.user), desk.key.public, ME, NOON + ahead, None, NOON)
    assert (verdict.state is State.VALID) is good
    assert good or "still to come" in verdict.problem


@ZONES
@pytest.mark.parametrize("text", ["20261003120000Z", "202610031200Z", "202610031200utc"])
def test_dates_with_a_zone_mean_the_same_everywhere(text: str, zone: str) -> None:
    assert parse_ssh_date(text) == NOON
    assert parse_ssh_date(format_ssh_date(NOON)) == NOON


@pytest.mark.parametrize(
    "text", ["", "2026", "20261301", "20260230", "2026-10-03", "20261003T12", "٢٠٢٦١٠٠٣", "20261003 Z", "99999999"]
)
def test_what_is_no_date_of_openssh(text: str) -> None:
    with pytest.raises(ValueError, match="not a date"):
        parse_ssh_date(text)


def test_the_users_folder_is_where_the_environment_says(user_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert user_folder() == user_dir
    monkeypatch.delenv("CT_TUI_CONFIG_DIR")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(user_dir / "xdg"))
    assert user_folder() == user_dir / "xdg" / "ct-tui"
    assert create_key(ME).path == user_dir / "xdg" / "ct-tui" / "keys" / ME


def test_new_folders_are_the_users_own(tmp_path: Path, desk: Desk) -> None:
    trust(ME, desk.key.public, tmp_path / "fresh")
    assert (tmp_path / "fresh").stat().st_mode & 0o777 == 0o700


def test_the_names_of_a_key_are_those_it_may_use_now(desk: Desk) -> None:
    key = desk.key.public
    trust(OTHER, key, desk.user, valid_before=NOON)
    with allowed_signers_path(desk.user).open("a") as file:
        file.write(f'!no@example.org,a@example.org,*,{ME} namespaces="ct-ruling" {key.text}\n')
    signers = load_signers(desk.user)
    assert names_of(signers, key, NOON - DAY) == (ME, OTHER, "a@example.org")
    assert names_of(signers, key, NOON + DAY) == (ME, "a@example.org")
    assert names_of(signers, desk.new_key(OTHER).public, NOON) == ()
