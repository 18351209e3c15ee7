"""What a browser may do with the dashboard: the layer in front of the server that sends it with every answer.

Owns the content security policy and its sister headers, which origins may open a session, and which of the server's
addresses are shut because no view needs them. It speaks plain ASGI, so that it can be chained with other layers,
and knows the server by its addresses alone.

It asks for no login (docs/login.md) and does not choose the names under which the server answers.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from typing import Any, Final, TypeAlias
from urllib.parse import urlsplit

Scope: TypeAlias = MutableMapping[str, Any]
Message: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[Message]]
Send: TypeAlias = Callable[[Message], Awaitable[None]]
Application: TypeAlias = Callable[[Scope, Receive, Send], Awaitable[None]]

SHUT: Final = ("_stcore/metrics", "_stcore/agent", "_stcore/script-health-check", "component", "app/static")
"""Addresses, and what is below them, that nobody is answered under."""
HOST_CONFIG: Final = "_stcore/host-config"
# No page of another origin may hold the dashboard in a frame and talk to it; the rest is what Streamlit answers too.
_NO_HOST: Final = (
    b'{"allowedOrigins":[],"useExternalAuthToken":false,"enableCustomParentMessages":false,'
    b'"enforceDownloadInNewTab":false,"metricsUrl":"","blockErrorDialogs":false,"resourceCrossOriginMode":null}'
)
_ALWAYS: Final = (
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"permissions-policy", b"camera=(), geolocation=(), microphone=(), payment=(), usb=()"),
)
_READING: Final = ("GET", "HEAD", "OPTIONS")
_HOST: Final = re.compile(r"[A-Za-z0-9.:\[\]-]+")


def inline_scripts(page: str) -> tuple[str, ...]:
    """The hashes by which a policy lets the scripts of a page run.

    Examples
    --------
    >>> inline_scripts("<script>go()</script><script src='x.js'></script>")
    ("'sha256-5KYv+PUboo5h+0+YAtGRPbwv5d/QxzHslP4YGnUaxRw='",)
    """
    scripts = re.findall(r"<script>(.*?)</script>", page, re.DOTALL)
    digests = (hashlib.sha256(script.encode()).digest() for script in scripts)
    return tuple(f"'sha256-{base64.b64encode(digest).decode()}'" for digest in digests)


def content_policy(host: str, scripts: Iterable[str]) -> str:
    """The content security policy of a page under one host.

    Parameters
    ----------
    host : str
        Name and port as the browser sends them; empty when they are not fit for a header.
    scripts : iterable of str
        What `inline_scripts` gave.

    Notes
    -----
    ``blob:`` is how Streamlit runs the scripts of components, and styles are in the elements that it makes. Sockets
    are named because not every browser counts them to ``'self'``.
    """
    sockets = f" ws://{host} wss://{host}" if _HOST.fullmatch(host) else ""
    rules = {
        "default-src": "'none'",
        "script-src": " ".join(("'self'", "blob:", *scripts)),
        "style-src": "'self' 'unsafe-inline'",
        "img-src": "'self' data: blob:",
        "font-src": "'self' data:",
        "connect-src": f"'self'{sockets}",
        "worker-src": "'self' blob:",
        "manifest-src": "'self'",
        "form-action": "'self'",
        "base-uri": "'none'",
        "frame-ancestors": "'none'",
    }
    return "; ".join(f"{name} {allowed}" for name, allowed in rules.items())


# A picture or a download needs nothing, should somebody open it as a page.
MEDIA_POLICY: Final = "default-src 'none'; frame-ancestors 'none'; sandbox"


def same_origin(origin: str, host: str, public: Iterable[str] = ()) -> bool:
    """Whether a page of this origin is one of ours: the host and the port of the request itself, or a public name.

    Examples
    --------
    >>> same_origin("http://127.0.0.1:8501", "127.0.0.1:8501"), same_origin("http://127.0.0.1:9000", "127.0.0.1:8501")
    (True, False)
    >>> same_origin("https://scope.example.org", "127.0.0.1:8501", ["scope.example.org"])
    True
    """
    try:
        parts = urlsplit(origin)
        name = parts.hostname or ""
    except ValueError:
        return False
    if parts.scheme not in ("http", "https"):
        return False
    return parts.netloc.lower() == host.lower() or name in {each.lower() for each in public}


class Guard:
    """The layer; `application` is what is behind it.

    Parameters
    ----------
    application : ASGI application
    public : iterable of str
        Names of a proxy in front, under which pages of ours live besides the server's own.
    scripts : iterable of str
        What `inline_scripts` gave for the server's page.
    below : str
        Path under which the server answers; empty for its root.
    first : str
        Name of the first view, which Streamlit answers under the bare address alone: its own leads there.
    """

    def __init__(
        self,
        application: Application,
        *,
        public: Iterable[str] = (),
        scripts: Iterable[str] = (),
        below: str = "",
        first: str = "",
    ) -> None:
        self._application = application
        self._first = first
        self._public = tuple(public)
        self._scripts = tuple(scripts)
        self._root = "/" + below.strip("/") + "/" if below.strip("/") else "/"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request or one session."""
        if scope["type"] not in ("http", "websocket"):
            await self._application(scope, receive, send)
            return
        host, origin = _header(scope, b"host"), _header(scope, b"origin")
        foreign = origin != "" and not same_origin(origin, host, self._public)
        if scope["type"] == "websocket":
            if foreign:
                # Before it is accepted: the browser gets status 403.
                await send({"type": "websocket.close", "code": 1008})
            else:
                # About an origin of a proxy Streamlit would ask a foreign host whether it is this machine.
                headers = [
                    (name, _own(host) if name.lower() == b"origin" else value) for name, value in scope["headers"]
                ]
                await self._application({**scope, "headers": headers}, receive, send)
            return
        path = scope["path"].removeprefix(self._root) if scope["path"].startswith(self._root) else ""
        answer = self._protected(send, path, host)
        if path == HOST_CONFIG:
            await _answer(answer, 200, b"application/json", _NO_HOST)
        elif any(path == shut or path.startswith(f"{shut}/") for shut in SHUT):
            await _answer(answer, 404, b"text/plain; charset=utf-8", b"Not found")
        elif path and path.removesuffix("/") == self._first and scope["method"] in ("GET", "HEAD"):
            # Relative, so that it is right behind a proxy that cuts a part of the path off.
            place = b".." if path.endswith("/") else b"."
            query = scope.get("query_string", b"")
            await _answer(answer, 307, b"text/plain; charset=utf-8", b"", location=place + b"?" * bool(query) + query)
        elif foreign and scope["method"] not in _READING:
            await _answer(answer, 403, b"text/plain; charset=utf-8", b"A page of another origin may not send this.")
        else:
            await self._application(scope, receive, answer)

    def _protected(self, send: Send, path: str, host: str) -> Send:
        """The same channel, with our headers in front of each answer in place of others of their names."""
        policy = MEDIA_POLICY if path.startswith("media/") else content_policy(host, self._scripts)
        ours = [*_ALWAYS, (b"content-security-policy", policy.encode())]
        names = {name for name, _ in ours}

        async def protected(message: Message) -> None:
            if message["type"] == "http.response.start":
                # No other origin may read an answer, whatever the server thinks of other ports of this machine.
                kept = [
                    (name, value)
                    for name, value in message.get("headers", ())
                    if name.lower() not in names and not name.lower().startswith(b"access-control-")
                ]
                message = {**message, "headers": [*kept, *ours]}
            await send(message)

        return protected


def _own(host: str) -> bytes:
    """The origin of a page under a host."""
    return f"http://{host}".encode("latin-1")


def _header(scope: Scope, wanted: bytes) -> str:
    """A header of a request; empty when it is missing, and something that fits nothing when it came twice."""
    values = [value for name, value in scope["headers"] if name.lower() == wanted]
    return values[0].decode("latin-1") if len(values) == 1 else "twice" if values else ""


async def _answer(send: Send, status: int, kind: bytes, content: bytes, location: bytes | None = None) -> None:
    headers = [
        (b"content-type", kind),
        (b"content-length", str(len(content)).encode()),
        (b"cache-control", b"no-cache"),
        *([] if location is None else [(b"location", location)]),
    ]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": content})
