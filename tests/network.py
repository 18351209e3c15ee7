"""Tests connect to this machine only.

The guard refuses and notes anything else in their own process; the Python processes that they start note it
(``tests/children``), and so does the proxy that Chromium asks for everything that is not this machine. What any other
process tries is seen where the whole suite runs without a way out: ``python -m tests.no_way_out``.
"""

import contextlib
import os
import socket
import socketserver
import sys
import threading
from collections.abc import Iterator
from pathlib import Path


def _own_names() -> frozenset[str]:
    """The name of this machine and its addresses: a test looks whether the dashboard answers there."""
    with contextlib.suppress(OSError):
        name, others, addresses = socket.gethostbyname_ex(socket.gethostname())
        return frozenset((socket.gethostname(), name, *others, *addresses))
    return frozenset((socket.gethostname(),))


OWN_NAMES = _own_names()
# What tests of this process tried to reach on other machines.
reached: list[str] = []


def _only_this_machine(event: str, arguments: tuple[object, ...]) -> None:
    """An audit hook: it sees every connection and every look-up of a name, whoever asks, and refuses foreign ones."""
    if event == "socket.connect":
        address = arguments[1]
        host = address[0] if isinstance(address, tuple) else "localhost"
    elif event == "socket.getaddrinfo":
        host = arguments[0]
    else:
        return
    if not is_this_machine(host):
        reached.append(f"{event} {host!r}")
        raise OSError(f"tests connect to this machine only; {event} {host!r}")


def is_this_machine(host: object) -> bool:
    """Whether a host of a connection is the loopback, or any address of it."""
    name = host.decode() if isinstance(host, bytes) else host
    if name is None or not isinstance(name, str):
        return name is None
    own = name in ("", "localhost", "::1", "0.0.0.0", "::") or name.startswith(("127.", "::ffff:127."))
    return own or name in OWN_NAMES


def guard() -> None:
    """Begin; an audit hook cannot be taken back."""
    sys.addaudithook(_only_this_machine)


CHILDREN = Path(__file__).with_name("children")


def python_path(*places: Path) -> str:
    """Where a process that a test starts looks for modules: these places, and the note of its connections."""
    return os.pathsep.join(map(str, (*places, CHILDREN)))


_NOTES = "LAYOUTSCOPE_TEST_CONNECTIONS"


@contextlib.contextmanager
def browser_flags() -> Iterator[list[str]]:
    """Options with which Chromium asks a proxy for other machines, looks up no name, and has no way past both.

    The proxy refuses, and notes what was asked for where the processes of the tests note it.
    """
    notes = Path(os.environ[_NOTES])

    class Refuse(socketserver.StreamRequestHandler):
        timeout = 10

        def handle(self) -> None:
            with contextlib.suppress(OSError):
                asked = self.rfile.readline(4096).decode("latin-1").strip()
                with notes.open("a", encoding="utf-8") as out:
                    out.write(f"Chromium asked for {asked!r}\n")
                self.wfile.write(b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")

    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Refuse) as proxy:
        proxy.daemon_threads = True
        thread = threading.Thread(target=proxy.serve_forever, daemon=True)
        thread.start()
        try:
            yield [
                # The loopback never goes by way of a proxy.
                f"--proxy-server=http://127.0.0.1:{proxy.server_address[1]}",
                "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost",
                "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
                # What Chromium asks its maker at each start and about each form.
                "--component-updater=url-source=http://127.0.0.1:9/",
                "--gaia-url=http://127.0.0.1:9",
                "--gcm-checkin-url=http://127.0.0.1:9/",
                "--gcm-registration-url=http://127.0.0.1:9/",
                "--autofill-server-url=http://127.0.0.1:9/",
            ]
        finally:
            proxy.shutdown()
            thread.join()


@contextlib.contextmanager
def noted(notes: Path) -> Iterator[None]:
    """Have every Python process and Chromium that is started in the block note connections to other machines."""
    told = {
        _NOTES: str(notes),
        "LAYOUTSCOPE_TEST_OWN_NAMES": ",".join(OWN_NAMES),
        "PYTHONPATH": os.pathsep.join(filter(None, (os.environ.get("PYTHONPATH"), str(CHILDREN)))),
    }
    before = {name: os.environ.get(name) for name in told}
    os.environ.update(told)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
