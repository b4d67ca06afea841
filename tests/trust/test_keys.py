"""Keys: made with the right modes, opened with and without passphrase, and refused each in its own words."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from ct_tui.domain.errors import BadInput, TrustError
from ct_tui.trust.keys import (
    PassphraseNeeded,
    PublicNotPrivate,
    WrongPassphrase,
    create_key,
    describe_key,
    list_keys,
    load_key,
    public_path,
)
from ct_tui.trust.public_keys import PublicKey, read_public_key
from ct_tui.trust.sshsig_io import check
from tests.trust.desk import ME

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

SECRET = "correct horse ß"


def _keygen(path: Path, *options: str, passphrase: str = "") -> Path:
    subprocess.run(["ssh-keygen", "-q", *options, "-N", passphrase, "-C", "mine", "-f", str(path)], check=True)
    return path


def _mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.parametrize("passphrase", [None, SECRET])
def test_a_new_key_is_one_of_openssh(user_dir: Path, passphrase: str | None) -> None:
    info = create_key(ME, passphrase=passphrase)
    assert info.path.parent == user_dir / "keys"
    assert (_mode(info.path), _mode(info.path.parent)) == (0o600, 0o700)
    told = subprocess.run(
        ["ssh-keygen", "-y", "-P", passphrase or "", "-f", str(info.path)], capture_output=True, check=True
    ).stdout.decode()
    assert info.public is not None
    assert told.split()[:2] == info.public.text.split()
    printed = subprocess.run(["ssh-keygen", "-lf", str(public_path(info.path))], capture_output=True, check=True).stdout
    assert info.fingerprint in printed.decode()
    assert ME in printed.decode()
    signer = load_key(info.path, passphrase)
    assert check(b"x", signer.sign(b"x")).key == info.public


def test_a_new_key_never_replaces_one_and_has_a_safe_name(user_dir: Path) -> None:
    first, second = create_key(ME), create_key(ME)
    assert first.path != second.path
    assert first.public != second.public
    odd = create_key("../../etc/passwd")
    assert odd.path.parent == user_dir / "keys"


@pytest.mark.parametrize("principal", ["", "two words", "a,b", "*", 'a"b', "a\nb", "#a", "x" * 500])
def test_a_name_that_could_mean_another_is_refused(principal: str, user_dir: Path) -> None:
    with pytest.raises(BadInput):
        create_key(principal)
    assert not (user_dir / "keys").exists()


@pytest.mark.parametrize("passphrase", ["", SECRET])
@pytest.mark.parametrize("extra", [(), ("-a", "3")])
def test_the_users_own_key_opens(tmp_path: Path, passphrase: str, extra: tuple[str, ...]) -> None:
    path = _keygen(tmp_path / "own", "-t", "ed25519", *extra, passphrase=passphrase)
    info = describe_key(path)
    assert (info.encrypted, info.comment) == (bool(passphrase), "mine")
    assert load_key(path, passphrase).public == info.public


def test_a_passphrase_for_an_open_key_does_no_harm(tmp_path: Path) -> None:
    load_key(_keygen(tmp_path / "own", "-t", "ed25519"), "not needed")


def test_keys_are_listed_with_what_is_wrong_with_them(user_dir: Path) -> None:
    assert list_keys() == ()
    create_key(ME, passphrase=SECRET)
    _keygen(user_dir / "keys" / "rsa", "-t", "rsa", "-b", "2048")
    (user_dir / "keys" / "notes").write_text("not a key")
    found = {info.path.name: info for info in list_keys()}
    assert found[ME].encrypted
    assert found[ME].fingerprint.startswith("SHA256:")
    assert found[ME].comment == ME
    assert "RSA" in found["rsa"].problem
    assert "not a key" in found["notes"].problem


def _good(folder: Path) -> Path:
    return _keygen(folder / "own", "-t", "ed25519")


def _written(folder: Path, data: bytes) -> Path:
    path = folder / "file"
    path.write_bytes(data)
    path.chmod(0o600)
    return path


def _public(folder: Path) -> Path:
    return public_path(_good(folder))


def _open_mode(folder: Path, mode: int) -> Path:
    path = _good(folder)
    path.chmod(mode)
    return path


def _pem(folder: Path, *options: str) -> Path:
    return _keygen(folder / "own", *options, "-m", "PEM")


def _sk(folder: Path) -> Path:
    """The container of a security key's file, with the open part that OpenSSH writes."""
    kind = b"sk-ssh-ed25519@openssh.com"
    blob = _string(kind) + _string(b"k" * 32) + _string(b"ssh:")
    body = b"openssh-key-v1\x00" + _string(b"none") * 2 + _string(b"") + b"\x00\x00\x00\x01" + _string(blob)
    return _written(folder, _armored(body + _string(b"\x00" * 16)))


def _string(data: bytes) -> bytes:
    return len(data).to_bytes(4, "big") + data


def _armored(body: bytes) -> bytes:
    import base64

    begin, end = b"-----BEGIN OPENSSH PRIVATE KEY-----\n", b"\n-----END OPENSSH PRIVATE KEY-----\n"
    return begin + base64.b64encode(body) + end


def _pkcs8(folder: Path) -> Path:
    path = folder / "own"
    subprocess.run(["openssl", "genpkey", "-algorithm", "ed25519", "-out", str(path)], check=True, capture_output=True)
    return path


def _cut(folder: Path) -> Path:
    path = _good(folder)
    path.write_bytes(path.read_bytes()[:-120])
    return path


def _other_halves(folder: Path) -> Path:
    """A file whose open half is another key's."""
    path, other = _good(folder), _keygen(folder / "other", "-t", "ed25519")
    import base64

    def body(name: Path) -> bytes:
        return base64.b64decode("".join(name.read_text().splitlines()[1:-1]))

    mine, theirs = describe_key(path).public, describe_key(other).public
    assert mine is not None
    assert theirs is not None
    path.write_bytes(_armored(body(path).replace(mine.blob, theirs.blob, 1)))
    return path


def _pipe(folder: Path) -> Path:
    os.mkfifo(folder / "pipe", 0o600)
    return folder / "pipe"


def _loop(folder: Path) -> Path:
    (folder / "loop").symlink_to(folder / "loop")
    return folder / "loop"


def _certificate(folder: Path) -> Path:
    authority, key = _good(folder), _keygen(folder / "holder", "-t", "ed25519")
    subprocess.run(["ssh-keygen", "-q", "-s", str(authority), "-I", "id", "-n", ME, str(public_path(key))], check=True)
    return folder / "holder-cert.pub"


UNUSABLE: dict[str, tuple[Callable[[Path], Path], str]] = {
    "rsa": (lambda f: _keygen(f / "own", "-t", "rsa", "-b", "2048"), "it is an RSA key"),
    "rsa in pem": (lambda f: _pem(f, "-t", "rsa", "-b", "2048"), "it is an RSA key"),
    "encrypted rsa": (lambda f: _keygen(f / "own", "-t", "rsa", "-b", "2048", passphrase=SECRET), "it is an RSA key"),
    "ecdsa": (lambda f: _keygen(f / "own", "-t", "ecdsa"), "it is an ECDSA key"),
    "ecdsa in pem": (lambda f: _pem(f, "-t", "ecdsa"), "it is an ECDSA key"),
    "security key": (_sk, "FIDO security key"),
    "pkcs8": (_pkcs8, "PKCS#8"),
    "putty": (lambda f: _written(f, b"PuTTY-User-Key-File-3: ssh-ed25519\n"), "PuTTY"),
    "public": (_public, "public half"),
    "public rsa": (lambda f: public_path(_keygen(f / "own", "-t", "rsa", "-b", "2048")), "it is an RSA key"),
    "certificate": (_certificate, "certificate"),
    "0644": (lambda f: _open_mode(f, 0o644), "mode 0644"),
    "0640": (lambda f: _open_mode(f, 0o640), "mode 0640"),
    "0660": (lambda f: _open_mode(f, 0o660), "mode 0660"),
    "empty": (lambda f: _written(f, b""), "is empty"),
    "blank": (lambda f: _written(f, b" \n\n"), "is empty"),
    "text": (lambda f: _written(f, b"hello"), "is not a key"),
    "binary": (lambda f: _written(f, bytes(range(256))), "is not a key"),
    "huge": (lambda f: _written(f, b"-" * 1_000_000), "larger than"),
    "cut": (_cut, "is damaged"),
    "hollow": (lambda f: _written(f, _armored(b"openssh-key-v1\x00")), "is damaged"),
    "two halves": (_other_halves, "is damaged"),
    "missing": (lambda f: f / "nothing", "There is no key"),
    "folder": (lambda f: f, "is a folder"),
    "pipe": (_pipe, "not a regular file"),
    "loop": (_loop, "cannot be opened"),
    "below a file": (lambda f: _written(f, b"x") / "key", "cannot be opened"),
}


@pytest.mark.parametrize("case", UNUSABLE)
def test_a_file_that_cannot_sign_says_why(case: str, tmp_path: Path) -> None:
    make, sentence = UNUSABLE[case]
    with pytest.raises(TrustError, match=sentence) as caught:
        load_key(make(tmp_path), SECRET)
    assert caught.value.message.endswith(".")


def test_every_unusable_file_has_its_own_sentence(tmp_path: Path) -> None:
    told = set()
    for number, case in enumerate(
        ["rsa", "ecdsa", "security key", "public", "0644", "empty", "text", "missing", "folder"]
    ):
        folder = tmp_path / str(number)
        folder.mkdir()
        path = UNUSABLE[case][0](folder)
        with pytest.raises(TrustError) as caught:
            load_key(path, None)
        told.add(caught.value.message.replace(str(path), "PATH"))
    assert len(told) == 9


def test_an_encrypted_key_without_a_passphrase(tmp_path: Path) -> None:
    path = _keygen(tmp_path / "own", "-t", "ed25519", passphrase=SECRET)
    for nothing in (None, ""):
        with pytest.raises(PassphraseNeeded, match="no passphrase was given"):
            load_key(path, nothing)


def test_a_wrong_passphrase(tmp_path: Path) -> None:
    path = _keygen(tmp_path / "own", "-t", "ed25519", passphrase=SECRET)
    for wrong in ("wrong", SECRET + " ", "\udcff", "x" * 5000):
        with pytest.raises(WrongPassphrase, match="does not open"):
            load_key(path, wrong)


def test_a_file_that_may_not_be_read(tmp_path: Path) -> None:
    path = _good(tmp_path)
    path.chmod(0o000)
    root = os.geteuid() == 0
    try:
        if root:  # root reads everything, so be somebody else meanwhile
            os.seteuid(65534)
        with pytest.raises(TrustError, match="cannot be opened: permission denied"):
            load_key(path)
    finally:
        if root:
            os.seteuid(0)


def test_without_bcrypt_an_encrypted_key_is_refused_in_its_own_words(tmp_path: Path) -> None:
    path = _keygen(tmp_path / "own", "-t", "ed25519", passphrase=SECRET)
    script = (
        "import sys; sys.modules['bcrypt'] = None\n"
        "from pathlib import Path\n"
        "from ct_tui.domain.errors import TrustError\n"
        "from ct_tui.trust.keys import create_key, load_key\n"
        "for what in (lambda: load_key(Path(sys.argv[1]), sys.argv[2]), lambda: create_key('me', passphrase='x')):\n"
        "    try: what()\n"
        "    except TrustError as error: print(error.message, error.remedy)\n"
    )
    told = subprocess.run([sys.executable, "-c", script, str(path), SECRET], capture_output=True, text=True, check=True)
    first, second = told.stdout.splitlines()
    assert "is encrypted and cannot be opened: the Python package bcrypt is missing" in first
    assert "pip install bcrypt" in first
    assert "with a passphrase cannot be made" in second


def test_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    blocked = _written(tmp_path, b"x")
    with pytest.raises(TrustError, match="No key can be written"):
        create_key(ME, blocked / "keys")


def test_public_keys_are_read_from_text_and_from_files(tmp_path: Path) -> None:
    path = _good(tmp_path)
    public = describe_key(path).public
    assert public is not None
    text = public_path(path).read_text()
    assert read_public_key(text) == read_public_key(str(public_path(path))) == public == PublicKey.from_text(text)


@pytest.mark.parametrize(
    ("source", "sentence"),
    [
        ("ssh-ed25519", "not a public key"),
        ("ssh-ed25519 !!!!", "damaged"),
        ("ssh-ed25519 AAAA", "not a public key"),
        ("ssh-rsa AAAAC3NzaC1lZDI1NTE5AAAAIJXmHeDEQxORPvONeutEt+QdUyYkfQOTKG/nD0Rxu49S", "says ssh-rsa"),
        ("ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAAA==", "wrong length"),
        ("nowhere.pub", "no public key file"),
        ("\0", "no public key file"),
    ],
)
def test_what_is_no_public_key(source: str, sentence: str) -> None:
    with pytest.raises(TrustError, match=sentence):
        read_public_key(source)


def test_a_private_key_given_as_public_one_is_refused(tmp_path: Path) -> None:
    with pytest.raises(TrustError, match="is a private key"):
        read_public_key(str(_good(tmp_path)))


def test_a_public_file_is_told_from_a_private_one(tmp_path: Path) -> None:
    with pytest.raises(PublicNotPrivate):
        describe_key(_public(tmp_path))
