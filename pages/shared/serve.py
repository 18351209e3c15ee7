"""Starts the server with app.py as its main script; the terminal command runs this file.

Ten things are said to Streamlit before the first session. It takes a folder named ``pages`` for its old kind of
multipage app until ``st.navigation`` was called once, so that the first link straight to a view would run the view
alone, without settings and style. It asks a foreign host for this machine's address when a page of another origin
knocks. It answers under any name: a web page whose name was made to point at this machine could read everything. It
sends scripts and pictures with each message: they get the route of `by_digest`. It ends a callback for the next
message: `callbacks`. It says of a part that was drawn that its run was broken off: `part_ends`. It keeps the last
session for good: `ended_sessions`. It compresses each message without the one before, of which most is the same. It
collects garbage after every run, while all others wait: `collect_rarely`. And it lets pages of other origins frame it,
and opens a session for any port of this machine: `evaluator.web.guard`.
"""

import contextlib
import gc
import importlib
import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

import streamlit
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.routing import BaseRoute
from streamlit import __version__, config, net_util
from streamlit.runtime import Runtime
from streamlit.runtime.pages_manager import PagesManager
from streamlit.web.cli import main

from evaluator.web.guard import Guard, inline_scripts

try:
    from streamlit.web.server.starlette import starlette_app
except ImportError:
    starlette_app = None  # type: ignore[assignment]

OWN_NAMES = ("127.0.0.1", "localhost")
WATCHED = "--end-with-command"
"""First argument: the command holds the other end of standard input for as long as it lives."""
STOP_SECONDS = 5.0
WINDOW_BITS = 15
"""Of the compressed messages to a browser: 32 kB."""
COLLECT_SECONDS = 60.0
"""Between two collections of garbage."""
FIRST_VIEW = "overview"
"""The file of the default page of app.py."""
HOSTS_VARIABLE = "LAYOUTSCOPE_HOSTS"
"""Environment variable with further names, separated by commas, under which the server answers: those of a proxy."""
EVERY_VIEW = (
    "evaluator.project_file", "evaluator.match_check", "evaluator.uploads", "evaluator.drawing.mistake_filter",
    "evaluator.review.problems", "evaluator.compare.comparison", "evaluator.review.groups",
)  # fmt: skip
"""Modules, with all that they import, that every view needs."""
SOME_VIEWS = ("evaluator.charts.boxes", "evaluator.drawing.field_pair", "evaluator.charts.fields", "rapidfuzz")
"""Those that take Overview, Fields and Posters longest to open; a third of all, and not needed to show a page."""
RUN_THREAD = "ScriptRunner.scriptThread"
"""Name of a thread in which Streamlit runs a view."""


def allowed_hosts(said: str) -> list[str]:
    """The names under which the server answers: this machine's own, and those that the user said.

    Examples
    --------
    >>> allowed_hosts(" scope.example.org ,")
    ['127.0.0.1', 'localhost', 'scope.example.org']
    """
    return [*OWN_NAMES, *(name.strip() for name in said.split(",") if name.strip())]


def guarded(make: Callable[[], list[Middleware]], hosts: list[str]) -> Callable[[], list[Middleware]]:
    """Streamlit's own layers behind ours: one refuses requests for other names, one says what a browser may do."""

    def layers() -> list[Middleware]:
        page = (Path(streamlit.__file__).parent / "static" / "index.html").read_text(encoding="utf-8")
        public = [name for name in hosts if name not in OWN_NAMES]
        below = config.get_option("server.baseUrlPath") or ""
        return [
            Middleware(Guard, public=public, scripts=inline_scripts(page), below=below, first=FIRST_VIEW),
            Middleware(TrustedHostMiddleware, allowed_hosts=hosts, www_redirect=False),
            *make(),
        ]

    return layers


def refuse(why: str) -> NoReturn:
    """End the program: with this Streamlit it would do harm."""
    sys.stderr.write(
        f"LayoutScope does not start: Streamlit {__version__} is installed, and with it {why}. Install the version "
        "that requirements.txt names.\n"
    )
    raise SystemExit(3)


def check_hosts(hosts: list[str]) -> None:
    """Make Streamlit's server refuse other names; ends the program when this Streamlit has no place for that."""
    make = getattr(starlette_app, "create_streamlit_middleware", None)
    if make is None:
        refuse("the server would answer under any name")
    starlette_app.create_streamlit_middleware = guarded(make, hosts)


def add_route() -> None:
    """Have the server hand out scripts and pictures by their own addresses, where this Streamlit has a place for it."""
    make = getattr(starlette_app, "create_streamlit_routes", None)
    if make is None:
        return
    from pages.shared import by_digest

    def routes(runtime: Runtime) -> list[BaseRoute]:
        return [by_digest.route(str(config.get_option("server.baseUrlPath") or "")), *make(runtime)]

    starlette_app.create_streamlit_routes = routes


def keep_callbacks() -> None:
    """Have no message of a browser end what an earlier one began; see `callbacks`."""
    from pages.shared import callbacks

    callbacks.keep_whole()


def keep_ends_of_parts() -> None:
    """Have a part of a view that was drawn end as such; see `part_ends`."""
    from pages.shared import part_ends

    part_ends.keep()


def compress_across_messages() -> None:
    """Have a compressed message refer to those before it.

    Each run begins with the same 2.7 kB of Streamlit: views and theme. The server's own window of 4 kB has lost them by
    the next run, one of 32 kB takes 0.1 MB more for each tab and holds them.
    """
    with contextlib.suppress(ImportError, AttributeError):
        sockets = importlib.import_module("uvicorn.protocols.websockets.websockets_sansio_impl")
        make = sockets.ServerPerMessageDeflateFactory
        sockets.ServerPerMessageDeflateFactory = lambda **options: make(  # type: ignore[attr-defined]
            **{**options, "server_max_window_bits": WINDOW_BITS}
        )


def end_sessions() -> None:
    """Have a session whose tab was closed end by itself; ends the program when this Streamlit has no place for that."""
    from pages.shared import ended_sessions

    try:
        ended_sessions.keep_watch()
    except ended_sessions.UnknownStreamlit:
        refuse("uploads of a closed tab would stay")


def collect_rarely() -> None:
    """Have garbage collected once in a minute in which something was done, instead of after every run of a view.

    A collection looks at what all sessions hold, 50 to 70 ms of the processor with twenty readers, and no other thread
    of the process runs meanwhile. What fifty runs leave to it are a few thousand small objects.
    """
    # Not as a word of the command: a Streamlit without this setting would not start.
    os.environ["STREAMLIT_RUNNER_POST_SCRIPT_GC"] = "false"

    def collect() -> None:
        seen = -1
        while True:
            time.sleep(COLLECT_SECONDS)
            # Python's own collections of what is new: without any, there is nothing new.
            young = gc.get_stats()[1]["collections"]
            if young != seen:
                gc.collect()
                seen = young

    threading.Thread(target=collect, name="layoutscope-garbage", daemon=True).start()


def import_ahead() -> None:
    """Import what views need while the browser still opens: the first view then begins about a second sooner."""

    def load() -> None:
        # The server itself comes first: it has to answer the browser.
        while not Runtime.exists():
            time.sleep(0.05)
        for name in EVERY_VIEW:
            importlib.import_module(name)
        for name in SOME_VIEWS:
            # A view that runs imports what it needs; the rest would take half of the processor from it.
            while any(thread.name == RUN_THREAD for thread in threading.enumerate()):
                time.sleep(0.05)
            importlib.import_module(name)

    threading.Thread(target=load, name="layoutscope-imports", daemon=True).start()


def end_with_command() -> None:
    """End this server when the command that holds the other end of its standard input has gone, however that ended."""

    def watch() -> None:
        # Nothing is ever written there.
        with contextlib.suppress(OSError):
            while os.read(0, 1024):
                continue
        os.kill(os.getpid(), signal.SIGTERM)
        # It writes when it stops, and hangs there when nobody reads its output any more. Workers end with this process.
        time.sleep(STOP_SECONDS)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


if __name__ == "__main__":
    words = sys.argv[1:]
    if words[:1] == [WATCHED]:
        end_with_command()
        del words[0]
    check_hosts(allowed_hosts(os.environ.get(HOSTS_VARIABLE, "")))
    # This file is run by its path: the folder of app.py is not among the places of modules yet.
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
    add_route()
    keep_callbacks()
    keep_ends_of_parts()
    compress_across_messages()
    end_sessions()
    collect_rarely()
    import_ahead()
    PagesManager.uses_pages_directory = False
    net_util.get_external_ip = lambda: None
    main(["run", *words], prog_name="streamlit")
