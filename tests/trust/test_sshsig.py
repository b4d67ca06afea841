"""Signatures agree with OpenSSH in both directions, and no byte of one can change unnoticed."""

from __future__ import annotations

import base64
import subprocess
from typing import TYPE_CHECKING

import pytest

from ct_tui.domain.rulings import Alias, Legalize
from ct_tui.trust import sshsig_io
from ct_tui.trust.canonical import entry_hash, payload
from ct_tui.trust.keys import load_key
from ct_tui.trust.paths import allowed_signers_path
from ct_tui.trust.sshsig_io import BadSignature, armor, check
from tests.trust.desk import ME, Desk, every_signature, ssh_keygen_accepts

if TYPE_CHECKING:
    from pathlib import Path

CONTENT = '{"from":"agent","to":"rôle"}'.encode()


def _blob(armored: str) -> bytes:
    return base64.b64decode("".join(armored.splitlines()[1:-1]))


def _keygen(folder: Path, *options: str) -> Path:
    path = folder / "own"
    subprocess.run(["ssh-keygen", "-q", *options, "-N", "", "-f", str(path)], check=True)
    return path


def _keygen_sign(key: Path, content: bytes, namespace: str = "ct-ruling", *options: str) -> str:
    command = ["ssh-keygen", "-q", "-Y", "sign", "-f", str(key), "-n", namespace, *options]
    return subprocess.run(command, input=content, capture_output=True, check=True).stdout.decode()


def test_ssh_keygen_accepts_every_signature_of_a_table(desk: Desk) -> None:
    desk.rule(Alias("agent", "role"))
    desk.rule(Legalize("no", "naïve «text» \u202e\n\x00 end"))
    desk.rule(Alias("012", "null"))
    signed = every_signature(desk.table)
    assert len(signed) == 3
    for who, signature, content in signed:
        assert ssh_keygen_accepts(allowed_signers_path(desk.user), who, signature, content)
        assert not ssh_keygen_accepts(allowed_signers_path(desk.user), who, signature, content + b" ")


@pytest.mark.parametrize("options", [(), ("-O", "hashalg=sha256"), ("-O", "hashalg=sha512")])
def test_a_signature_of_ssh_keygen_is_accepted(tmp_path: Path, options: tuple[str, ...]) -> None:
    key = _keygen(tmp_path, "-t", "ed25519")
    checked = check(CONTENT, _keygen_sign(key, CONTENT, "ct-ruling", *options))
    assert checked.key == load_key(key).public
    assert not checked.unsupported


def test_the_same_key_makes_the_same_signature_as_ssh_keygen(tmp_path: Path) -> None:
    key = _keygen(tmp_path, "-t", "ed25519")
    assert load_key(key).sign(CONTENT) == _keygen_sign(key, CONTENT)


def test_a_signature_for_another_purpose_is_refused(tmp_path: Path) -> None:
    key = _keygen(tmp_path, "-t", "ed25519")
    with pytest.raises(BadSignature, match="another purpose"):
        check(CONTENT, _keygen_sign(key, CONTENT, "git"))


@pytest.mark.parametrize(
    ("options", "name"), [(("-t", "rsa", "-b", "2048"), "RSA"), (("-t", "ecdsa"), "ECDSA")], ids=["rsa", "ecdsa"]
)
def test_a_signature_of_another_kind_of_key_says_so(tmp_path: Path, options: tuple[str, ...], name: str) -> None:
    key = _keygen(tmp_path, *options)
    assert name in check(CONTENT, _keygen_sign(key, CONTENT)).unsupported


def test_every_character_of_a_signature_counts(desk: Desk) -> None:
    armored = desk.key.sign(CONTENT)
    for at, char in enumerate(armored[:-1]):
        other = "B" if char == "A" else "A"
        changed = armored[:at] + other + armored[at + 1 :]
        try:
            checked = check(CONTENT, changed)
        except BadSignature:
            continue
        # Only the name of the key's kind can change so that nothing can be verified: then the key does not count.
        assert checked.unsupported, changed


@pytest.mark.parametrize(
    "armored",
    ["", "hello", "-----BEGIN SSH SIGNATURE-----\n-----END SSH SIGNATURE-----\n", "x" * 100_000, "\n" * 10_000],
)
def test_what_is_no_signature_is_refused(armored: str) -> None:
    with pytest.raises(BadSignature):
        check(CONTENT, armored)


@pytest.mark.parametrize("cut", range(0, 180, 7))
def test_a_cut_signature_is_refused(desk: Desk, cut: int) -> None:
    with pytest.raises(BadSignature):
        check(CONTENT, armor(_blob(desk.key.sign(CONTENT))[:cut]))


def test_bytes_that_openssh_ignores_are_refused(desk: Desk) -> None:
    blob = _blob(desk.key.sign(CONTENT))
    at = blob.index(b"ct-ruling") + len(b"ct-ruling")
    reserved = blob[:at] + b"\x00\x00\x00\x01x" + blob[at + 4 :]
    for changed in (blob + b"x", reserved):
        with pytest.raises(BadSignature, match="no signature has"):
            check(CONTENT, armor(changed))


def test_white_space_inside_an_armor_is_refused(desk: Desk) -> None:
    armored = desk.key.sign(CONTENT)
    for changed in (armored.replace("\n", "\n ", 1), armored.replace("\n", "\n\n", 1), " " + armored, "x\n" + armored):
        with pytest.raises(BadSignature):
            check(CONTENT, changed)


def test_what_is_signed_has_sorted_keys_and_no_signature() -> None:
    fields = {"v": 1, "to": "ü", "from": 'a"', "prev": None, "signature": "x"}
    assert payload(fields) == '{"from":"a\\"","prev":null,"to":"ü","v":1}'.encode()


def test_the_hash_covers_the_signature_and_not_the_end_of_the_file() -> None:
    fields = {"v": 1, "signature": "armor\n"}
    assert (
        entry_hash(fields)
        == entry_hash({"signature": "armor", "v": 1})
        == entry_hash({**fields, "signature": "armor\n\n"})
    )
    assert entry_hash(fields) != entry_hash({**fields, "signature": "other\n"})
    assert entry_hash(fields) != entry_hash({"v": 1})


def test_the_namespace_is_the_one_of_rulings(desk: Desk) -> None:
    assert sshsig_io.NAMESPACE == "ct-ruling"
    desk.rule(Alias("agent", "role"))
    who, signature, content = every_signature(desk.table)[0]
    assert who == ME
    assert check(content, signature).key == desk.key.public
