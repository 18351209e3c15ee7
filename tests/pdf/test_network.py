"""The guard of the tests themselves: connections to other machines are refused and noted."""

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from tests import network, no_way_out


def test_no_test_reaches_another_machine() -> None:
    for host in ("192.0.2.1", "203.0.113.9", "2001:db8::1"):
        before = len(network.reached)
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        with socket.socket(family, socket.SOCK_STREAM) as connection, pytest.raises(OSError, match="this machine only"):
            connection.connect((host, 9))
        with pytest.raises(OSError, match="this machine only"):
            socket.getaddrinfo(host, 9)
        assert len(network.reached) == before + 2
        del network.reached[before:]
    with socket.create_server(("127.0.0.1", 0)) as server, socket.create_connection(server.getsockname()[:2]):
        pass
    assert (network.is_this_machine("::1"), network.is_this_machine("10.0.0.1")) == (True, False)


@pytest.mark.parametrize(
    ("sends", "said"),
    [
        ("socket.socket(type=socket.SOCK_DGRAM).sendto(b'x', ('192.0.2.1', 9))", "udp 192.0.2.1 9, 1 packets"),
        ("socket.socket().connect_ex(('203.0.113.9', 80))", "tcp 203.0.113.9 80"),
        ("own = socket.create_server(('127.0.0.1', 0)); socket.create_connection(own.getsockname())", ""),
    ],
)
def test_whatever_is_sent_off_this_machine_is_seen(sends: str, said: str) -> None:
    if not no_way_out.possible():
        pytest.skip("a network of its own cannot be made here")
    code = f"import socket; socket.setdefaulttimeout(1); {sends}"
    words = [sys.executable, "-m", "tests.no_way_out", sys.executable, "-I", "-c", code]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == (no_way_out.SENT if said else 0), done.stderr
    assert said in done.stderr


@pytest.mark.parametrize(("host", "noted"), [("192.0.2.1", True), ("127.0.0.1", False)])
def test_what_a_started_process_looks_for_is_noted(host: str, noted: bool, tmp_path: Path) -> None:
    notes = tmp_path / "notes.txt"
    # A number is no question to anybody.
    words = [sys.executable, "-c", f"import socket; socket.getaddrinfo({host!r}, 9)"]
    with network.noted(notes):
        subprocess.run(words, check=True, env={**os.environ, "PYTHONPATH": network.python_path(tmp_path)})
    assert notes.exists() == noted
    assert not noted or notes.read_text(encoding="utf-8").startswith(f"socket.getaddrinfo '{host}' by")
