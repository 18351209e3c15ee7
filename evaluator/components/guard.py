"""The layer in front of the server: content security policy and headers, foreign origins, addresses that are shut.

Plain ASGI, so that it can be chained; it knows the server by its addresses alone. It asks for no login (docs/login.md)
and does not choose the names under which the server answers.
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
    """Return the hashes by which a policy lets the inline scripts of a page run.

    >>> inline_scripts("<script>go()</script><script src='x.js'></script>")
    ("'sha256-5KYv+PUboo5h+0+YAtGRPbwv5d/QxzHslP4YGnUaxRw='",)
    """
    scripts = re.findall(r"<script>(.*?)</script>", page, re.DOTALL)
    digests = (hashlib.sha256(script.encode()).digest() for script in scripts)
    return tuple(f"'sha256-{base64.b64encode(digest).decode()}'" for digest in digests)


def content_policy(host: str, scripts: Iterable[str]) -> str:
    """Return the content security policy of a page under one host.

    `host`: name and port as the browser sends them; unfit for a header, it is left out. `scripts`: see
    `inline_scripts`. Streamlit runs scripts of components from ``blob:`` and sets styles in elements; sockets are named
    because not every browser counts them to ``'self'``.
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
    """Tell whether an origin is the host and port of the request itself, or a public name.

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
    """The layer in front of an ASGI application.

    `public`: names of a proxy under which pages of ours live. `scripts`: see `inline_scripts`. `below`: path under
    which the server answers, empty for its root. `first`: name of the first view, which Streamlit answers under the
    bare address alone; its own address is redirected there.
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
        """Answer one request or one session."""
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
        protected = self._protected(send, path, host)
        if path == HOST_CONFIG:
            await answer(protected, 200, b"application/json", _NO_HOST)
        elif any(path == shut or path.startswith(f"{shut}/") for shut in SHUT):
            await answer(protected, 404, b"text/plain; charset=utf-8", b"Not found")
        elif path and path.removesuffix("/") == self._first and scope["method"] in ("GET", "HEAD"):
            # Relative, so that it is right behind a proxy that cuts a part of the path off.
            place = b".." if path.endswith("/") else b"."
            query = scope.get("query_string", b"")
            await answer(protected, 307, b"text/plain; charset=utf-8", b"", location=place + b"?" * bool(query) + query)
        elif foreign and scope["method"] not in _READING:
            await answer(protected, 403, b"text/plain; charset=utf-8", b"A page of another origin may not send this.")
        else:
            await self._application(scope, receive, protected)

    def _protected(self, send: Send, path: str, host: str) -> Send:
        """Return the channel with our headers in each answer in place of others of their names."""
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
    return f"http://{host}".encode("latin-1")


def _header(scope: Scope, wanted: bytes) -> str:
    values = [value for name, value in scope["headers"] if name.lower() == wanted]
    return values[0].decode("latin-1") if len(values) == 1 else "twice" if values else ""


async def answer(send: Send, status: int, kind: bytes, content: bytes, location: bytes | None = None) -> None:
    """Send a whole answer."""
    headers = [
        (b"content-type", kind),
        (b"content-length", str(len(content)).encode()),
        (b"cache-control", b"no-cache"),
        *([] if location is None else [(b"location", location)]),
    ]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": content})
