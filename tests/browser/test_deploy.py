"""A dashboard behind a trusted proxy: docs/deploy.md with the real nginx and the real Caddy, from its own blocks."""

import base64
import contextlib
import os
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from pages.app.login_settings import TRUSTED_HEADER_VARIABLE
from tests.browser.conftest import Visit, dashboard
from tests.pages.test_server import asked, handshake
from tests.serving import ROOT, answering, free_port, stop

pytestmark = pytest.mark.browser
PASSWORD = "correct horse"
NGINX = shutil.which("nginx", path=os.environ["PATH"] + ":/usr/sbin")
CADDY = shutil.which("caddy")
HTPASSWD = shutil.which("htpasswd")
# The tests with the programs themselves are for those who have them: `.ci/run` installs them.
PROXIES = os.environ.get("LAYOUTSCOPE_REQUIRE_PROXIES") == "1"
needs_proxies = pytest.mark.skipif(
    not PROXIES, reason="nginx, caddy and htpasswd are started where LAYOUTSCOPE_REQUIRE_PROXIES=1 says they are there"
)
LOGIN = "Basic " + base64.b64encode(f"anna:{PASSWORD}".encode()).decode()


def block(kind: str) -> str:
    match = re.search(rf"^```{kind}\n(.*?)^```$", (ROOT / "docs" / "deploy.md").read_text(), re.DOTALL | re.MULTILINE)
    assert match is not None
    return match[1]


def replaced(text: str, exchanged: dict[str, str]) -> str:
    """The text with other addresses and places; each has to be there."""
    for old, new in exchanged.items():
        assert old in text, old
        text = text.replace(old, new)
    return text


@contextlib.contextmanager
def running(command: list[str], port: int, folder: Path) -> Iterator[str]:
    """A proxy that answers; without a password it says 401."""
    environment = {**os.environ, "HOME": str(folder), "XDG_DATA_HOME": str(folder), "XDG_CONFIG_HOME": str(folder)}
    process = answering(command, folder, folder / "proxy.log", port, environment, path="/", refuses=True)
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        stop(process)


@contextlib.contextmanager
def nginx(app: str, folder: Path) -> Iterator[str]:
    """The block of nginx without its certificate."""
    port, readers = free_port(), folder / "readers"
    assert NGINX is not None
    assert HTPASSWD is not None
    subprocess.run([HTPASSWD, "-cbB", str(readers), "anna", PASSWORD], check=True, capture_output=True)
    readers.chmod(0o644)
    text = re.sub(r"^ *ssl_.*\n", "", block("nginx"), flags=re.MULTILINE)
    text = replaced(
        text,
        {
            "listen 443 ssl": f"listen 127.0.0.1:{port}",
            "/etc/nginx/readers": str(readers),
            "http://127.0.0.1:8501": app,
        },
    )
    places = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    temporary = "".join(f"{name}_temp_path {folder}/{name};\n" for name in places)
    # One process of our own user, for the test alone.
    (folder / "nginx.conf").write_text(
        f"daemon off;\nmaster_process off;\npid {folder}/pid;\nerror_log {folder}/error.log;\nevents {{}}\n"
        f"http {{\naccess_log off;\n{temporary}{text}}}\n"
    )
    with running([NGINX, "-c", str(folder / "nginx.conf"), "-e", str(folder / "error.log")], port, folder) as url:
        yield url


@contextlib.contextmanager
def caddy(app: str, folder: Path) -> Iterator[str]:
    port = free_port()
    assert CADDY is not None
    made = subprocess.run([CADDY, "hash-password", "--plaintext", PASSWORD], check=True, capture_output=True, text=True)
    text = replaced(
        block("caddy"),
        {
            "layout.example.org {": f"http://127.0.0.1:{port} {{\n    bind 127.0.0.1",
            "HASH": made.stdout.strip(),
            "127.0.0.1:8501": app.removeprefix("http://"),
        },
    )
    (folder / "Caddyfile").write_text(f"{{\n    admin off\n    auto_https off\n}}\n{text}")
    with running([CADDY, "run", "--config", "Caddyfile", "--adapter", "caddyfile"], port, folder) as url:
        yield url


@pytest.fixture(scope="module")
def app(tabs: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(TRUSTED_HEADER_VARIABLE, "X-Forwarded-User")
        with dashboard(tmp_path_factory.mktemp("app")) as url:
            yield url


@needs_proxies
@pytest.mark.parametrize("proxy", [nginx, caddy])
def test_a_proxy_with_a_password_as_the_page_says(
    proxy: Callable[[str, Path], Any], visit: Visit, app: str, tmp_path: Path
) -> None:
    with proxy(app, tmp_path) as public:
        own = public.removeprefix("http://")
        for path in ("/", "/gallery", "/_stcore/health", "/_stcore/stream"):
            assert asked(public, path, Host=own)[0] == 401
        assert handshake(public, host=own, origin=public) == 401
        code, sent, _ = asked(public, "/", Authorization=LOGIN)
        assert (code, sent["x-frame-options"]) == (200, "DENY")
        forged = {"X-Forwarded-User": "mallory"}
        screen = visit(
            public,
            more={
                "http_credentials": {"username": "anna", "password": PASSWORD},
                "extra_http_headers": forged,
            },
        ).open()
        assert "Logged in at the proxy as anna" in screen.opened("help_popover").inner_text()
        assert "mallory" not in screen.text()
        screen.leave()
