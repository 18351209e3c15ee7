"""Logging in as a reader does: a real Chromium, the server, and an identity provider on this machine."""

from __future__ import annotations

import importlib.util
import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from streamlit.web.server.starlette.starlette_app_utils import create_signed_value

from evaluator.review.place import FINDINGS_VARIABLE
from evaluator.review.store import Store
from evaluator.review.verdicts import Event
from pages.shared.login import OPEN
from tests.browser.conftest import REQUIRED, Screen, dashboard
from tests.browser.identity_provider import IdentityProvider, identity_provider
from tests.browser.reverse_proxy import reverse_proxy

pytestmark = pytest.mark.browser
Visit = Callable[..., Screen]
MISSING = [name for name in ("authlib", "httpx") if importlib.util.find_spec(name) is None]
needs_packages = pytest.mark.skipif(
    bool(MISSING) and not REQUIRED, reason=f"a login needs the extra login; missing: {', '.join(MISSING)}"
)
# Words of the sample data that are on every view of it, and in what the server sends for one.
TELLING = re.compile(rb"harvest-survey|ground_truth\.json|Precision|ls-card")
USER_COOKIE = "_streamlit_user"


@pytest.fixture(scope="module")
def provider() -> Iterator[IdentityProvider]:
    with identity_provider(sub="u-17", name="Anna Vale", email="anna@example.org", email_verified=True) as started:
        yield started


@pytest.fixture(scope="module")
def guarded(provider: IdentityProvider, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Path]]:
    """Address and file of findings of a dashboard with a login, started in the folder of its secrets."""
    folder = tmp_path_factory.mktemp("guarded")
    (folder / ".streamlit").mkdir()
    (folder / ".streamlit" / "secrets.toml").write_text(provider.secrets_toml())
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(FINDINGS_VARIABLE, str(folder / "findings.sqlite"))
        patch.setenv("NO_PROXY", "127.0.0.1")
        with dashboard(folder) as url:
            yield url, folder / "findings.sqlite"


def events(path: Path) -> list[Event]:
    with Store(path) as store:
        return store.events()


def judge_first(screen: Screen, path: Path) -> Event:
    """Give a verdict on the first mistake; what the store then holds last."""
    before = len(events(path)) if path.exists() else 0
    screen.go("Page browser")
    screen.page.locator(".pane").first.click(position={"x": 4, "y": 4})
    screen.page.keyboard.press("n")
    screen.settled()
    screen.page.locator(".verdict-button", has_text="Ground truth wrong").click()
    screen.wait(lambda: path.exists() and len(events(path)) == before + 1, "the verdict in the store")
    return events(path)[-1]


def received(screen: Screen) -> list[bytes]:
    """Everything that the server sends to this tab from now on."""
    frames: list[bytes] = []

    def keep(payload: str | bytes) -> None:
        frames.append(payload if isinstance(payload, bytes) else payload.encode())

    screen.page.on("websocket", lambda socket: socket.on("framereceived", keep))
    return frames


def cookie(url: str, secret: str, name: str) -> dict[str, Any]:
    """The login cookie as the server writes it, for anybody who knows the secret."""
    user = {"origin": url, "is_logged_in": True, "provider": "default", "email": name}
    value = create_signed_value(secret, USER_COOKIE, json.dumps(user)).decode()
    return {"name": USER_COOKIE, "value": value, "url": url, "httpOnly": True, "sameSite": "Lax"}


def closed(screen: Screen) -> str:
    """What is on the log-in screen; nothing of the data may."""
    screen.page.locator(".st-key-login").wait_for()
    screen.settled()
    text = screen.text()
    assert not re.search(r"\d", text), text
    assert not TELLING.search(screen.page.content().replace(".ls-card", "").encode())
    assert screen.page.get_by_test_id("stSidebarNav").count() == 0
    return text


def telling(frames: list[bytes]) -> list[bytes]:
    """What of it has words of the data."""
    return [frame for frame in frames if TELLING.search(frame.replace(b".ls-card", b""))]


def test_nothing_of_the_data_leaves_the_server_without_a_login_of_its_own_secret(
    visit: Visit, guarded: tuple[str, Path]
) -> None:
    """That every view is closed says `tests/test_login.py`; here nothing is sent, and a forged cookie opens nothing.

    The first view is not the first one of the dashboard: it must not run alone, without app.py and its login.
    """
    url, _ = guarded
    screen = visit(url)
    cookies = screen.page.context
    frames = received(screen)
    closed(screen.open("page_browser"))
    cookies.add_cookies([cookie(url, "another secret of the same length, or more", "ben@example.org")])
    before = len(frames)
    closed(screen.open())
    assert len(frames) > before > 0
    assert telling(frames) == []
    cookies.add_cookies([cookie(url, "only for tests, " * 3, "ben@example.org")])
    screen.open().page.get_by_text("Logged in as ben@example.org").wait_for()
    screen.page.locator(".ls-card").first.wait_for()
    assert telling(frames), "what is above could not fail"


def test_no_view_runs_alone_when_streamlit_is_started_by_hand(
    visit: Visit, provider: IdentityProvider, tmp_path: Path
) -> None:
    """There the first link of a process leads straight to a view's file."""
    (tmp_path / ".streamlit").mkdir()
    (tmp_path / ".streamlit" / "secrets.toml").write_text(provider.secrets_toml())
    with dashboard(tmp_path, by_streamlit=True) as url:
        screen = visit(url)
        frames = received(screen)
        for _ in range(2):
            screen.page.goto(f"{url}/gallery")
            screen.page.locator(".st-key-login").wait_for()
        screen.leave()
    assert telling(frames) == []


@needs_packages
def test_log_in_judge_log_out(visit: Visit, guarded: tuple[str, Path], provider: IdentityProvider) -> None:
    url, findings = guarded
    screen = visit(url, allowed=[provider.url]).open()
    assert "Nothing is shown before you have logged in." in closed(screen)
    screen.page.get_by_role("button", name="Log in").click()
    screen.page.get_by_text("Logged in as anna@example.org").wait_for()
    screen.settled()
    assert screen.page.locator(".ls-card").count() == 2
    asked = ["/.well-known/openid-configuration", "/authorize", "/token", "/keys"]
    assert [place for place in asked if place not in provider.asked] == []
    event = judge_first(screen, findings)
    assert (event.author, event.verified) == ("anna@example.org", True)
    screen.go("Findings")
    assert screen.page.get_by_role("textbox", name="Your name").count() == 0

    (kept,) = (each for each in screen.page.context.cookies() if each["name"] == USER_COOKIE)
    # What docs/login.md says about the cookie: Streamlit does not mark it as secure, so the proxy has to ask for https.
    assert (kept["httpOnly"], kept["sameSite"], kept["secure"]) == (True, "Lax", False)

    screen.page.get_by_role("button", name="Log out").click()
    screen.page.get_by_role("button", name="Log in").wait_for()
    closed(screen)
    screen.wait(lambda: "/end" in provider.asked, "the end of the provider's session")
    assert [each for each in screen.page.context.cookies() if each["name"] == USER_COOKIE] == []
    closed(screen.open("page_browser"))


def test_a_header_counts_for_nothing_unless_the_proxy_is_trusted(
    visit: Visit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One that is trusted is in `test_deploy`."""
    findings = tmp_path / "findings.sqlite"
    monkeypatch.setenv(FINDINGS_VARIABLE, str(findings))
    headers = {"X-Forwarded-User": "mallory@example.org", "X-Forwarded-For": "192.0.2.7"}
    with dashboard(tmp_path) as url, reverse_proxy(url, headers) as public:
        screen = visit(public).open()
        assert OPEN in screen.text()
        assert "mallory" not in screen.text()
        screen.go("Findings")
        field = screen.page.get_by_role("textbox", name="Your name")
        field.fill("Chidi")
        field.press("Enter")
        screen.settled()
        event = judge_first(screen, findings)
        assert (event.author, event.verified) == ("Chidi", False)
        screen.leave()
