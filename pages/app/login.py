"""Who reads: somebody who logged in, somebody whom a trusted proxy names, or anybody.

`require_access` runs in app.py before the navigation: without access the script ends there and no file is read. In
doubt (unreadable secrets, half a login, a request past the proxy) access is refused; see docs/login.md.
"""

from __future__ import annotations

import functools
import hashlib
import html
import importlib.util
import ipaddress
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urlsplit

import streamlit as st

from evaluator.data.issues import plain
from pages.app import connections, ended_sessions, frame, login_settings
from pages.app.state import state

OPEN: Final = "Open to anyone who reaches this address; no login."
THIS_MACHINE: Final = "This machine only; no login."
UNNAMED: Final = "readers/unnamed"
"""The folder of all whom nobody vouches for and who come from elsewhere."""
SHORTEST_COOKIE_SECRET: Final = 32
_NEEDED: Final = ("redirect_uri", "cookie_secret")
_NEEDED_OF_PROVIDER: Final = ("client_id", "client_secret", "server_metadata_url")
# What a proxy adds to a request: the server listens on this machine only, and others reach it all the same.
_FORWARDED: Final = ("Forwarded", "Via", "X-Forwarded-For", "X-Forwarded-Host", "X-Real-IP")


@dataclass(frozen=True, slots=True)
class Access:
    """Whether the data may be shown to this reader; `refusal` says why not, empty with access.

    `name` is empty when nobody vouches for one, `by` is "login", "proxy" or empty; `providers` are the buttons of the
    log-in screen, "default" for the only one.
    """

    name: str = ""
    by: str = ""
    refusal: str = ""
    providers: tuple[str, ...] = ()


def require_access() -> None:
    """Let the reader in, or show the log-in screen and end the script."""
    access = _access()
    state.access = not access.refusal
    state.vouched = "" if access.refusal else access.name
    state.reader_folder = _reader_folder(access)
    session = ended_sessions.current_session()
    if session:
        named = st.context.headers.get(connections.NAME_HEADER)
        connections.note_reader(session, named, None if access.refusal else access.name)
        ended_sessions.call_at_end("reader", functools.partial(connections.forget_reader, session))
    if access.refusal:
        _screen(access)
        st.stop()


def _access() -> Access:
    """Return the access; the login counts before the proxy's header, without both everybody may read."""
    wanted, auth = login_settings.section()
    if wanted:
        return login_access(auth, st.user.to_dict())
    header = login_settings.trusted_header()
    return proxy_access(st.context.headers.get_all(header)) if header else Access()


def _reader_folder(access: Access) -> str:
    """Return the folder below those of the account for what is kept for a reader; empty for the account's own."""
    if access.name:
        return f"readers/{hashlib.sha256(access.name.encode()).hexdigest()}"
    own = reachable_by(st.get_option("server.address"), st.context.headers) == THIS_MACHINE
    return "" if own else UNNAMED


def login_access(auth: Mapping[str, object] | None, user: Mapping[str, object]) -> Access:
    """Return the access under a login: open only for complete settings and a reader with a name.

    `auth` is section [auth] of the secrets, None when it cannot be read; `user` holds the provider's claims and
    ``is_logged_in``.
    """
    if auth is None:
        return Access(
            refusal="A login is set up, but the file of its secrets cannot be read. The server's log has the reason."
        )
    wrong = incomplete(auth)
    if wrong:
        return Access(refusal=f"A login is set up, but not complete: {'; '.join(wrong)}.")
    if user.get("is_logged_in") is True:
        name = login_settings.claimed_name(user)
        return Access(name, "login") if name else Access(refusal="The identity provider did not send your name.")
    if not _can_log_in():
        text = (
            "A login is set up, but the packages for it are missing: "
            'run uv pip install -e ".[login]" in the clone and start again.'
        )
        return Access(refusal=text)
    return Access(refusal="Nothing is shown before you have logged in.", providers=tuple(providers(auth)))


def incomplete(auth: Mapping[str, Any]) -> list[str]:
    """Return what section [auth] lacks, a part of a sentence each; none of its values is repeated."""
    wrong = [f"{key} is missing in [auth]" for key in _NEEDED if not auth.get(key)]
    secret = auth.get("cookie_secret")
    if secret and len(str(secret)) < SHORTEST_COOKIE_SECRET:
        # Whoever guesses it writes a cookie that says "logged in".
        wrong.append(f"cookie_secret in [auth] is shorter than {SHORTEST_COOKIE_SECRET} characters")
    address = auth.get("redirect_uri")
    if address and not str(address).endswith("/oauth2callback"):
        wrong.append("redirect_uri in [auth] does not end with /oauth2callback")
    for name in providers(auth):
        section = auth if name == "default" else auth[name]
        place = "[auth]" if name == "default" else f"[auth.{plain(name)}]"
        wrong += [f"{key} is missing in {place}" for key in _NEEDED_OF_PROVIDER if not section.get(key)]
        if "_" in name:
            wrong.append(f"the name of {place} has an underscore")
    return wrong


def providers(auth: Mapping[str, object]) -> list[str]:
    """Return the identity providers: "default" for one in [auth] itself, and those of [auth.NAME]."""
    named = [
        str(name)
        for name, section in auth.items()
        if isinstance(section, Mapping) and any(key in section for key in _NEEDED_OF_PROVIDER)
    ]
    own = any(key in auth for key in _NEEDED_OF_PROVIDER)
    return ["default", *named] if own or not named else named


def proxy_access(named: Sequence[str]) -> Access:
    """Return the access by all values of a trusted proxy's header; more than one is refused.

    Then the proxy added its own to one from outside, and which is which cannot be determined.
    """
    if len(named) > 1:
        return Access(
            refusal="The request names more than one reader: the proxy has to replace the header, not add to it."
        )
    name = named[0].strip() if named else ""
    if not name:
        return Access(refusal="The request names no reader. Use the address of the proxy that asks for the login.")
    return Access(name, "proxy")


def reachable_by(address: str | None, headers: Mapping[str, str]) -> str:
    """Return who can reach an app without login, as a sentence.

    `THIS_MACHINE` only when nothing speaks against it: a proxy in front makes a local server public. `address` is where
    the server listens, None or empty for every address; `headers` are looked up without regard to case.
    """
    host = headers.get("Host")
    asked_for = urlsplit(f"//{host}").hostname if host else "localhost"
    if any(name in headers for name in _FORWARDED):
        return OPEN
    return THIS_MACHINE if _is_loopback(address) and _is_loopback(asked_for) else OPEN


def _is_loopback(host: str | None) -> bool:
    name = (host or "").strip("[]").lower()
    if name == "localhost" or name.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False


def _can_log_in() -> bool:
    return all(importlib.util.find_spec(name) is not None for name in ("authlib", "httpx"))


def _screen(access: Access) -> None:
    with st.container(key="login", border=True, width=420, gap="medium"):
        frame.title("LayoutScope")
        st.html(f'<p class="ls-shut">{html.escape(plain(access.refusal))}</p>')
        for name in access.providers:
            label = "Log in" if name == "default" else f"Log in with {frame.escaped(name)}"
            st.button(label, key=f"login_{name}", on_click=st.login, args=(name,), width="stretch")


def foot() -> None:
    """Draw who reads, or who can reach the dashboard, and the way out of a login."""
    access = _access()
    if access.by == "login":
        frame.small_lines([f"Logged in as {access.name}"])
        st.button("Log out", on_click=st.logout, icon=":material/logout:", width="stretch")
    elif access.by == "proxy":
        frame.small_lines([f"Logged in at the proxy as {access.name}"])
    else:
        frame.small_lines([reachable_by(st.get_option("server.address"), st.context.headers)])
