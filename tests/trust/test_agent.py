"""Keys that only a real ssh-agent holds sign as files do."""

from __future__ import annotations

import os
import re
import subprocess
from typing import TYPE_CHECKING

import pytest

from ct_tui.domain.errors import TrustError
from ct_tui.domain.rulings import Alias
from ct_tui.trust.agent import AgentSigner, agent_keys, agent_signer
from ct_tui.trust.keys import FileSigner, PublicNotPrivate, create_key, describe_key, public_path
from ct_tui.trust.paths import allowed_signers_path
from ct_tui.trust.signer import open_signer
from ct_tui.trust.signers import load_signers
from ct_tui.trust.signing import Draft, sign_ruling
from ct_tui.trust.sshsig_io import check
from ct_tui.trust.trusting import trust
from tests.trust.desk import ME, NOON, Desk, every_signature, ssh_keygen_accepts

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def agent(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A real ssh-agent of this test's own."""
    told = subprocess.run(["ssh-agent", "-s"], capture_output=True, text=True, check=True).stdout
    found = dict(re.findall(r"(SSH_\w+)=([^;]+);", told))
    environment = {**os.environ, **found}
    for name, value in found.items():
        monkeypatch.setenv(name, value)
    yield
    subprocess.run(["ssh-agent", "-k"], capture_output=True, check=True, env=environment)


@pytest.fixture
def no_agent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SSH_AUTH_SOCK", raising=False)


def _hand_over(path: Path) -> Path:
    """Give the key to the agent and keep only the public file."""
    subprocess.run(["ssh-add", "-q", str(path)], check=True, capture_output=True)
    path.unlink()
    return public_path(path)


def test_the_agent_signs_a_ruling_that_verifies_everywhere(agent: None, desk: Desk) -> None:
    public = _hand_over(create_key(ME).path)
    signer = open_signer(public)
    assert isinstance(signer, AgentSigner)
    assert agent_keys() == (signer.public,)
    trust(ME, str(public), desk.user)
    draft = Draft(Alias("agent", "role"), "a reason", ME)
    sign_ruling(draft, signer, desk.table, NOON, signers=load_signers(desk.user))
    desk.rule(Alias("other", "role"))
    assert desk.states() == ["valid", "valid"]
    for who, signature, content in every_signature(desk.table):
        assert ssh_keygen_accepts(allowed_signers_path(desk.user), who, signature, content)
    assert desk.verify().entries[0].fingerprint == signer.public.fingerprint


def test_a_private_file_is_preferred_and_needs_no_agent(no_agent: None, desk: Desk) -> None:
    info = create_key(ME)
    assert isinstance(open_signer(info.path), FileSigner)


def test_a_public_file_without_an_agent(no_agent: None, desk: Desk) -> None:
    public = public_path(create_key(ME).path)
    with pytest.raises(PublicNotPrivate, match="public half") as caught:
        open_signer(public)
    assert "no ssh-agent" in caught.value.remedy
    assert agent_keys() == ()


def test_a_public_file_whose_key_the_agent_does_not_hold(agent: None, desk: Desk) -> None:
    with pytest.raises(PublicNotPrivate) as caught:
        open_signer(public_path(create_key(ME).path))
    assert "does not hold the key SHA256:" in caught.value.remedy


def test_an_agent_that_is_gone(agent: None, desk: Desk, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    signer = open_signer(_hand_over(create_key(ME).path))
    monkeypatch.setenv("SSH_AUTH_SOCK", str(tmp_path / "nowhere"))
    with pytest.raises(TrustError, match="did not sign"):
        signer.sign(b"x")
    assert agent_keys() == ()


def test_an_agent_that_forgot_the_key_signs_nothing(agent: None, desk: Desk) -> None:
    signer = open_signer(_hand_over(create_key(ME).path))
    subprocess.run(["ssh-add", "-q", "-D"], check=True, capture_output=True)
    trust(ME, signer.public, desk.user)
    draft = Draft(Alias("agent", "role"), "a reason", ME)
    with pytest.raises(TrustError, match="did not sign"):
        sign_ruling(draft, signer, desk.table, NOON, signers=load_signers(desk.user))
    assert not desk.table.exists()


def test_an_agent_that_never_answers_is_given_up(desk: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import socket

    with socket.socket(socket.AF_UNIX) as silent:
        silent.bind(str(tmp_path / "s"))
        silent.listen()
        monkeypatch.setenv("SSH_AUTH_SOCK", str(tmp_path / "s"))
        with pytest.raises(TrustError, match=r"no answer within 0\.2 seconds"):
            AgentSigner(desk.key.public, seconds=0.2).sign(b"x")


def test_without_openssh_the_sentence_says_so(agent: None, desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")
    with pytest.raises(TrustError, match="ssh-keygen is not installed"):
        AgentSigner(desk.key.public).sign(b"x")


def test_an_agents_key_of_another_kind_is_refused(agent: None, desk: Desk, tmp_path: Path) -> None:
    path = tmp_path / "ecdsa"
    subprocess.run(["ssh-keygen", "-q", "-t", "ecdsa", "-N", "", "-f", str(path)], check=True)
    with pytest.raises(TrustError, match="ECDSA"):
        open_signer(_hand_over(path))
    (public,) = agent_keys()
    with pytest.raises(TrustError, match="ECDSA"):
        agent_signer(public)


def test_what_the_agent_signs_is_the_same_as_what_the_file_signs(agent: None, desk: Desk) -> None:
    info = create_key(ME)
    from_file = open_signer(info.path).sign(b"content")
    assert describe_key(info.path).public == info.public
    from_agent = open_signer(_hand_over(info.path)).sign(b"content")
    assert check(b"content", from_agent) == check(b"content", from_file)
