"""Whether a login is wanted, and who has one, as the server knows it before the first run of a session.

Light, because the first session waits for its import, and nothing of a view may be made outside of a run.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final

import streamlit as st
from starlette.requests import HTTPConnection
from streamlit.web.server.server_util import get_cookie_secret
from streamlit.web.server.starlette.starlette_app_utils import decode_signed_value
from streamlit.web.server.starlette.starlette_server_config import USER_COOKIE_NAME

from evaluator.components.guard import Scope

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


def is_vouched_for(scope: Scope) -> bool:
    """Return whether a new session needs no login, or has the cookie of one that the server has signed."""
    if not section()[0]:
        return True
    cookies = HTTPConnection(scope).cookies
    signed = decode_signed_value(get_cookie_secret(), USER_COOKIE_NAME, cookies.get(USER_COOKIE_NAME, ""))
    return signed is not None
