"""Starts the server with app.py as its main script; the terminal command runs this file.

Four things are said to Streamlit before the first session. It takes a folder named ``pages`` for its old kind of
multipage app until ``st.navigation`` was called once, so that the first link straight to a view would run the view
alone, without settings and style. It asks a foreign host for this machine's address when a page of another origin
knocks. It answers under any name: a web page whose name was made to point at this machine could read everything. And
it sends scripts and pictures with each message: they get the route of `by_digest`.
"""

import os
import sys
from collections.abc import Callable
from pathlib import Path

from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.routing import BaseRoute
from streamlit import __version__, config, net_util
from streamlit.runtime import Runtime
from streamlit.runtime.pages_manager import PagesManager
from streamlit.web.cli import main

try:
    from streamlit.web.server.starlette import starlette_app
except ImportError:
    starlette_app = None  # type: ignore[assignment]

HOSTS_VARIABLE = "LAYOUTSCOPE_HOSTS"
"""Environment variable with further names, separated by commas, under which the server answers: those of a proxy."""


def allowed_hosts(said: str) -> list[str]:
    """The names under which the server answers: this machine's own, and those that the user said.

    Examples
    --------
    >>> allowed_hosts(" scope.example.org ,")
    ['127.0.0.1', 'localhost', 'scope.example.org']
    """
    return ["127.0.0.1", "localhost", *(name.strip() for name in said.split(",") if name.strip())]


def guarded(make: Callable[[], list[Middleware]], hosts: list[str]) -> Callable[[], list[Middleware]]:
    """Streamlit's own layers behind one that refuses requests for other names."""
    return lambda: [Middleware(TrustedHostMiddleware, allowed_hosts=hosts, www_redirect=False), *make()]


def check_hosts(hosts: list[str]) -> None:
    """Make Streamlit's server refuse other names; ends the program when this Streamlit has no place for that."""
    make = getattr(starlette_app, "create_streamlit_middleware", None)
    if make is None:
        sys.stderr.write(
            f"LayoutScope does not start: Streamlit {__version__} is installed, and with it the server would answer "
            "under any name. Install the version that requirements.txt names.\n"
        )
        raise SystemExit(3)
    starlette_app.create_streamlit_middleware = guarded(make, hosts)


def add_route() -> None:
    """Have the server hand out scripts and pictures by their own addresses, where this Streamlit has a place for it."""
    make = getattr(starlette_app, "create_streamlit_routes", None)
    if make is None:
        return
    # This file is run by its path: the folder of app.py is not among the places of modules yet.
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
    from pages.shared import by_digest

    def routes(runtime: Runtime) -> list[BaseRoute]:
        return [by_digest.route(str(config.get_option("server.baseUrlPath") or "")), *make(runtime)]

    starlette_app.create_streamlit_routes = routes


if __name__ == "__main__":
    check_hosts(allowed_hosts(os.environ.get(HOSTS_VARIABLE, "")))
    add_route()
    PagesManager.uses_pages_directory = False
    net_util.get_external_ip = lambda: None
    main(["run", *sys.argv[1:]], prog_name="streamlit")
