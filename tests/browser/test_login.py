"""Logging in as a reader does: a real Chromium, the server, and an identity provider on this machine."""

import importlib.util
import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.web.server.starlette.starlette_app_utils import create_signed_value, generate_xsrf_token_string
from websockets.sync.client import connect
from websockets.typing import Origin, Subprotocol

from pages.app.login import OPEN
from pages.app.login_settings import TRUSTED_HEADER_VARIABLE
from tests.browser.conftest import PATIENCE, REQUIRED, Screen, Visit, dashboard
from tests.browser.identity_provider import IdentityProvider, identity_provider
from tests.sample_part import write_part_with_pages

pytestmark = pytest.mark.browser
MISSING = [name for name in ("authlib", "httpx") if importlib.util.find_spec(name) is None]
needs_packages = pytest.mark.skipif(
    bool(MISSING) and not REQUIRED, reason=f"a login needs the extra login; missing: {', '.join(MISSING)}"
)
# Words of the data that are on every view of it, and in what the server sends for one.
TELLING = re.compile(rb"tram-options|ground_truth\.json|Precision")
USER_COOKIE = "_streamlit_user"
SHUT = b"Nothing is shown before you have logged in."


@pytest.fixture(scope="module")
def provider() -> Iterator[IdentityProvider]:
    with identity_provider(sub="u-17", name="Anna Vale", email="anna@example.org", email_verified=True) as started:
        yield started


@pytest.fixture(scope="module")
def guarded(provider: IdentityProvider, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("guarded")
    (folder / ".streamlit").mkdir()
    (folder / ".streamlit" / "secrets.toml").write_text(provider.secrets_toml())
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("NO_PROXY", "127.0.0.1")
        data = write_part_with_pages(folder / "data", "tram-options.pdf")
        with dashboard(folder, "open", str(data)) as url:
            yield url


def told(url: str, view: str = "", headers: Mapping[str, str] | None = None, token: str = "") -> bytes:
    """Everything that the server sends to a new session on a view, until a run has come to its end.

    The headers are those of the request that opens the session; with a token the cookies of a login count.
    """
    message, end, sent = BackMsg(), ForwardMsg(), []
    message.rerun_script.page_name = view
    with connect(
        f"{url.replace('http', 'ws')}/_stcore/stream", origin=Origin(url), additional_headers=headers, max_size=None,
        subprotocols=[Subprotocol(each) for each in ("streamlit", token) if each], proxy=None,
    ) as session:  # fmt: skip
        session.send(message.SerializeToString())
        while end.WhichOneof("type") != "script_finished" or end.script_finished != ForwardMsg.FINISHED_SUCCESSFULLY:
            sent.append(session.recv(timeout=PATIENCE, decode=False))
            end.ParseFromString(sent[-1])
    return b"".join(sent)


def logged_in(url: str, secret: str, name: str) -> dict[str, Any]:
    user = {"origin": url, "is_logged_in": True, "provider": "default", "email": name}
    value, token = create_signed_value(secret, USER_COOKIE, json.dumps(user)).decode(), generate_xsrf_token_string()
    return {"headers": {"Cookie": f"{USER_COOKIE}={value}; _streamlit_xsrf={token}"}, "token": token}


def closed(screen: Screen) -> str:
    """What is on the log-in screen; nothing of the data may."""
    screen.page.locator(".st-key-login").wait_for()
    screen.settled()
    text = screen.text()
    assert not re.search(r"\d", text), text
    assert not TELLING.search(screen.page.content().encode())
    assert screen.page.get_by_test_id("stTopNavLink").count() == 0
    return text


def telling(sent: bytes) -> bool:
    return TELLING.search(sent) is not None


def test_nothing_of_the_data_leaves_the_server_without_a_login_of_its_own_secret(guarded: str) -> None:
    """That every view is closed says `tests/pages/test_login.py`; here nothing is sent, and a forged cookie is refused.

    The first view is not the first one of the dashboard: it must not run alone, without app.py and its login.
    """
    forged = logged_in(guarded, "another secret of the same length, or more", "ben@example.org")
    for sent in (told(guarded, "page_browser"), told(guarded, **forged)):
        assert SHUT in sent
        assert not telling(sent)
    sent = told(guarded, **logged_in(guarded, "only for tests, " * 3, "ben@example.org"))
    assert b"Logged in as ben@example.org" in sent
    assert telling(sent), "what is above could not fail"


def test_no_view_runs_alone_when_streamlit_is_started_by_hand(
    tabs: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """There the first link of a process leads straight to a view's file; who the trusted proxy names gets in.

    That the name stands with a verdict follows from `State.vouched`, as the name of a login does.
    """
    monkeypatch.setenv(TRUSTED_HEADER_VARIABLE, "X-Forwarded-User")
    with dashboard(tmp_path, by_streamlit=True) as url:
        for sent in (told(url, "gallery"), told(url, "gallery")):
            assert b"The request names no reader. Use the address of the proxy that asks for the login." in sent
            assert not telling(sent)
        sent = told(url, headers={"X-Forwarded-User": "dora@example.org"})
        assert b"Logged in at the proxy as dora@example.org" in sent
        assert telling(sent)


@needs_packages
def test_log_in_and_log_out(visit: Visit, guarded: str, provider: IdentityProvider) -> None:
    """That the name stands with a verdict says `tests/pages/test_login.py`."""
    screen = visit(guarded, allowed=[provider.url]).open()
    assert SHUT.decode() in closed(screen)
    screen.page.get_by_role("button", name="Log in").click()
    screen.page.locator(".st-key-help").wait_for()
    screen.settled().opened("help_popover").get_by_text("Logged in as anna@example.org").wait_for()
    assert screen.page.locator(".ov-row[role=group]").count() == 2
    asked = ["/.well-known/openid-configuration", "/authorize", "/token", "/keys"]
    assert [place for place in asked if place not in provider.asked] == []
    (kept,) = (each for each in screen.page.context.cookies() if each["name"] == USER_COOKIE)
    # What docs/login.md says about the cookie: Streamlit does not mark it as secure, so the proxy has to ask for https.
    assert (kept["httpOnly"], kept["sameSite"], kept["secure"]) == (True, "Lax", False)

    screen.page.get_by_role("button", name="Log out").click()
    screen.page.get_by_role("button", name="Log in").wait_for()
    closed(screen)
    screen.wait(lambda: "/end" in provider.asked, "the end of the provider's session")
    assert [each for each in screen.page.context.cookies() if each["name"] == USER_COOKIE] == []


def test_a_header_counts_for_nothing_unless_the_proxy_is_trusted(server: str) -> None:
    """One that is trusted is above."""
    sent = told(server, headers={"X-Forwarded-User": "mallory@example.org", "X-Forwarded-For": "192.0.2.7"})
    assert OPEN.encode() in sent
    assert telling(sent)
    assert b"mallory" not in sent
