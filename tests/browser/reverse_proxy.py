"""A reverse proxy on this machine: hands every request on with some headers replaced, as the one of docs/login.md does.

One request per connection: the head is read and changed, the rest is carried in both directions as it comes, so that
WebSockets work too. It asks for no login of its own; whom it names is what the test says.
"""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Iterator, Mapping
from urllib.parse import urlsplit


def _head(source: socket.socket) -> tuple[bytes, bytes]:
    """The head of a request, and what came behind it."""
    data = b""
    while b"\r\n\r\n" not in data:
        more = source.recv(65536)
        if not more:
            return b"", b""
        data += more
    head, _, rest = data.partition(b"\r\n\r\n")
    return head, rest


def _changed(head: bytes, headers: Mapping[str, str]) -> bytes:
    """The head with these headers in place of what came, closing the connection unless it becomes a WebSocket."""
    first, *lines = head.decode("latin-1").split("\r\n")
    upgrade = any(line.lower().startswith("upgrade:") for line in lines)
    new = dict(headers) if upgrade else {**headers, "Connection": "close"}
    replaced = {name.lower() for name in new}
    kept = [line for line in lines if line.partition(":")[0].lower() not in replaced]
    return "\r\n".join([first, *kept, *(f"{name}: {text}" for name, text in new.items()), "", ""]).encode("latin-1")


def _carry(source: socket.socket, target: socket.socket) -> None:
    """Everything from one side to the other, until it ends."""
    with contextlib.suppress(OSError):
        while data := source.recv(65536):
            target.sendall(data)
    with contextlib.suppress(OSError):
        target.shutdown(socket.SHUT_WR)


def _serve(client: socket.socket, app: tuple[str, int], headers: Mapping[str, str]) -> None:
    with client, contextlib.suppress(OSError):
        head, rest = _head(client)
        if not head:
            return
        with socket.create_connection(app) as server:
            server.sendall(_changed(head, headers) + rest)
            back = threading.Thread(target=_carry, args=(server, client), daemon=True)
            back.start()
            _carry(client, server)
            back.join()


@contextlib.contextmanager
def reverse_proxy(url: str, headers: Mapping[str, str]) -> Iterator[str]:
    """The address of a proxy in front of `url` that sets these headers."""
    at = urlsplit(url)
    app = (at.hostname or "", at.port or 80)
    listening = socket.create_server(("127.0.0.1", 0))

    def accept() -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = listening.accept()
                threading.Thread(target=_serve, args=(client, app, headers), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    finally:
        listening.shutdown(socket.SHUT_RDWR)
        listening.close()
