"""`serve`: on loopback, and only for the one who started it."""

from __future__ import annotations

import http.client
import socket
import subprocess
import sys
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import pytest

from tests.cli.conftest import COMMAND

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.cli.conftest import Ct

pytest.importorskip("textual_serve", reason="the optional extra `serve` is not installed")


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.fixture
def address(october: Path) -> Iterator[str]:
    """The address that a running server printed."""
    port = str(free_port())
    process = subprocess.Popen(
        [*COMMAND, "--brain", str(october), "serve", "--port", port], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    found = process.stdout.readline().removeprefix("Open ").strip()
    process.stdout.readline()
    wait_for(int(port))
    yield found
    process.terminate()
    process.wait(10)
    process.stdout.close()


def wait_for(port: int) -> None:
    """Connect until the server listens; the kernel answers at once either way."""
    import time

    end = time.monotonic() + 20
    while time.monotonic() < end:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
    raise AssertionError("the server never listened")


def ask(address: str, path: str, **headers: str) -> http.client.HTTPResponse:
    connection = http.client.HTTPConnection(urlsplit(address).netloc, timeout=20)
    connection.request("GET", path, headers={name.replace("_", "-"): value for name, value in headers.items()})
    response = connection.getresponse()
    response.read()
    return response


WEBSOCKET = {"Upgrade": "websocket", "Connection": "Upgrade", "Sec_WebSocket_Version": "13",
             "Sec_WebSocket_Key": "dGhlIHNhbXBsZSBub25jZQ=="}  # fmt: skip


def test_the_printed_address_opens_the_page_and_nothing_else_does(address: str) -> None:
    assert address.startswith("http://127.0.0.1:")
    url = urlsplit(address)
    opened = ask(address, f"{url.path}?{url.query}")
    assert opened.status == 200
    cookie = (opened.getheader("Set-Cookie") or "").split(";")[0]
    assert ask(address, "/", Cookie=cookie).status == 200
    assert ask(address, "/").status == 403
    assert ask(address, "/?key=guess").status == 403
    assert ask(address, "/ws", **WEBSOCKET).status == 403
    assert ask(address, "/ws", Cookie=cookie, Origin="http://evil.example", **WEBSOCKET).status == 403
    assert ask(address, "/", Cookie=cookie, Host="evil.example").status == 403


def test_a_taken_port_and_a_missing_brain_are_said_at_once(ct: Ct, tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        assert "cannot be used" in ct.refused("serve", "--port", str(taken.getsockname()[1]))
    assert "there is no brain" in ct.refused("serve", "--brain", str(tmp_path / "nowhere"))


def test_without_the_extra_it_says_what_to_install(october: Path) -> None:
    program = (
        "import sys\nsys.modules['textual_serve'] = None\nfrom ct_tui.cli.main import run\n"
        f"sys.exit(run(['--brain', {str(october)!r}, 'serve']))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "ct-tui[serve]" in done.stderr
    assert "Traceback" not in done.stderr
