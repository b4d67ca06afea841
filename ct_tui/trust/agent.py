"""Keys that only ssh-agent or a security token holds: `ssh-keygen -Y sign -U` signs, and never shows the key."""

from __future__ import annotations

import os
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from ct_tui.domain.errors import TrustError
from ct_tui.trust import sshsig_io
from ct_tui.trust.public_keys import PublicKey

SIGN_SECONDS = 120.0
"""How long a person may take to touch a token or answer the agent's question."""
_LIST_SECONDS = 10.0
_NO_AGENT = "Start one with `eval $(ssh-agent)` and load the key with `ssh-add`."


@dataclass(frozen=True)
class AgentSigner:
    """Signs through the agent that SSH_AUTH_SOCK names."""

    public: PublicKey
    seconds: float = SIGN_SECONDS

    def sign(self, payload: bytes) -> str:
        """The armored signature over the payload; raises TrustError when the agent does not give one."""
        self.public.require_usable("The agent's key")
        with tempfile.TemporaryDirectory(prefix="ct-tui-") as folder:
            name = Path(folder) / "key.pub"
            name.write_text(self.public.text + "\n", encoding="ascii")
            command = ["ssh-keygen", "-q", "-Y", "sign", "-U", "-f", str(name), "-n", sshsig_io.NAMESPACE]
            done = _run(command, payload, self.seconds)
        if done.returncode != 0:
            raise TrustError(f"The ssh-agent did not sign: {_last_line(done.stderr)}.", "Nothing was signed.")
        return done.stdout.decode("ascii", "replace")


def agent_keys() -> tuple[PublicKey, ...]:
    """The public keys that the agent holds; none where there is no agent, TrustError where it cannot be asked."""
    if not os.environ.get("SSH_AUTH_SOCK"):
        return ()
    done = _run(["ssh-add", "-L"], b"", _LIST_SECONDS)
    if done.returncode != 0:  # 1: it holds none; 2: there is none
        return ()
    found = []
    for line in done.stdout.decode("utf-8", "replace").splitlines():
        try:
            found.append(PublicKey.from_text(line))
        except TrustError:  # a kind of key that rulings cannot use anyway
            continue
    return tuple(found)


def agent_signer(public: PublicKey) -> AgentSigner:
    """A signer for a key that the agent holds; raises TrustError when it holds no such key."""
    public.require_usable("The agent's key")
    if not os.environ.get("SSH_AUTH_SOCK"):
        raise TrustError("There is no ssh-agent that could sign for that public key.", _NO_AGENT)
    if public not in agent_keys():
        raise TrustError(f"The ssh-agent does not hold the key {public.fingerprint}.", "Load it with `ssh-add KEY`.")
    return AgentSigner(public)


def _run(command: list[str], given: bytes, seconds: float) -> subprocess.CompletedProcess[bytes]:
    environment = {**os.environ, "LC_ALL": "C"}
    try:
        return subprocess.run(command, input=given, capture_output=True, timeout=seconds, env=environment, check=False)
    except FileNotFoundError as error:
        raise TrustError(f"The program {command[0]} is not installed.", "Install OpenSSH's client programs.") from error
    except subprocess.TimeoutExpired as error:
        raise TrustError(f"The ssh-agent gave no answer within {seconds:g} seconds.", "Nothing was signed.") from error


def _last_line(stderr: bytes) -> str:
    lines = [line.strip() for line in stderr.decode("utf-8", "replace").splitlines() if line.strip()]
    told = [line for line in lines if not line.startswith("Signing data")]
    return (told[-1] if told else "it gave no reason").rstrip(".?! ")
