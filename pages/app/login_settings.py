"""Whether a login is wanted, and who reads, as the server knows it before the first run of a session.

Light, because the first session waits for its import, and nothing of a view may be made outside of a run.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import streamlit as st
from starlette.requests import HTTPConnection
from streamlit.auth_util import get_cookie_with_chunks
from streamlit.web.server.server_util import get_cookie_secret
from streamlit.web.server.starlette.starlette_app_utils import decode_signed_value
from streamlit.web.server.starlette.starlette_server_config import USER_COOKIE_NAME

from evaluator.components.guard import Scope

TRUSTED_HEADER_VARIABLE: Final = "LAYOUTSCOPE_TRUSTED_USER_HEADER"
# Kept for the process: a secrets file that is taken away or half written while it runs must not give access.
_SEEN: Final[set[str]] = set()


def section() -> tuple[bool, Mapping[str, object] | None]:
    """Return whether readers must log in, and the section [auth]; None when it cannot be read."""
    try:
        readable = st.secrets.load_if_toml_exists()
        # Streamlit takes a file with an error for no file.
        broken = not readable and any(Path(path).exists() for path in st.get_option("secrets.files"))
    except (OSError, UnicodeDecodeError):
        readable, broken = False, True
    if readable and "auth" in st.secrets:
        _SEEN.add("auth")
        section = st.secrets["auth"]
        return True, section if isinstance(section, Mapping) else None
    return broken or bool(_SEEN), None


def trusted_header() -> str:
    """Return the header in which a trusted proxy names the reader; empty without one."""
    return os.environ.get(TRUSTED_HEADER_VARIABLE, "").strip()


def claimed_name(user: Mapping[str, object]) -> str:
    """Return the name shown with a reader's verdicts: email, name or identifier; empty for none.

    OpenID Connect Core 1.0, section 5.1: with ``email_verified`` false the provider does not vouch for the address, so
    that anybody could have typed it; then the next claim counts.
    """
    claims = ("name", "sub") if user.get("email_verified") in (False, "false") else ("email", "name", "sub")
    return next((name for claim in claims if (name := str(user.get(claim) or "").strip())), "")


def reader_of(scope: Scope) -> str | None:
    """Return who sends a request or opens a session, by the cookie that the server has signed or by the proxy.

    Empty where anybody may read, None before the login.
    """
    request = HTTPConnection(scope)
    if not section()[0]:
        header = trusted_header()
        return "\n".join(request.headers.getlist(header)).strip() if header else ""

    def signed(name: str) -> bytes | None:
        return decode_signed_value(get_cookie_secret(), name, request.cookies.get(name, ""))

    user = get_cookie_with_chunks(signed, USER_COOKIE_NAME)
    return None if user is None else claimed_name(json.loads(user))
