"""The start of the server with app.py as its main script; the terminal command runs this file.

Before Streamlit stand `evaluator.components.guard`, the limits of `pages.app.connections`, and a layer that refuses
other host names: a name that was made to point at this machine could read everything.
"""

import contextlib
import logging
import os
import signal
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

import streamlit as st
import uvicorn
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from streamlit.web.bootstrap import load_config_options
from streamlit.web.cli import main_run

from evaluator.components.guard import Application, Guard, Scope, inline_scripts
from evaluator.components.page_styles import PageStyles

OWN_NAMES = ("127.0.0.1", "localhost")
WATCHED = "--end-with-command"
"""First argument: the command holds the other end of standard input for as long as it lives."""
STOP_SECONDS = 5.0
PING_SECONDS = 30.0
FIRST_VIEW = "overview"
"""The file of the default page of app.py."""
HOSTS_VARIABLE = "LAYOUTSCOPE_HOSTS"
"""Environment variable with further names, separated by commas, under which the server answers: those of a proxy."""


def allowed_hosts(said: str) -> list[str]:
    """Return the names under which the server answers: this machine's own, and the user's.

    >>> allowed_hosts(" scope.example.org ,")
    ['127.0.0.1', 'localhost', 'scope.example.org']
    """
    return [*OWN_NAMES, *(name.strip() for name in said.split(",") if name.strip())]


def middleware(hosts: Sequence[str]) -> list[Middleware]:
    """Return what stands before Streamlit: who may ask, and what a browser may do."""
    from pages.app import connections, page_style

    page = (Path(st.__file__).parent / "static" / "index.html").read_text(encoding="utf-8")
    ours = page_style.page_styles()
    public = [name for name in hosts if name not in OWN_NAMES]

    def guarded(application: Application) -> Guard:
        # Made when the server starts and has its settings.
        below = str(st.get_option("server.baseUrlPath") or "")
        scripts = inline_scripts(page + ours["head"])
        return Guard(application, public=public, scripts=scripts, below=below, first=FIRST_VIEW)

    def reader_of(scope: Scope) -> str | None:
        # Imported for the first session: it reads settings, which the server does not have before.
        from pages.app import login_settings

        return login_settings.reader_of(scope)

    return [
        Middleware(cast(Any, guarded)),
        Middleware(cast(Any, connections.Limits), reader_of=reader_of),
        Middleware(TrustedHostMiddleware, allowed_hosts=list(hosts), www_redirect=False),
        Middleware(cast(Any, PageStyles), **ours),
    ]


def server_settings(words: Sequence[str]) -> dict[str, Any]:
    """Return settings from the words of a command and the environment, as `streamlit run` has them.

    >>> server_settings(["app.py", "--server.port", "8501", "--server.headless", "true"])["server.port"]
    8501
    """
    said = main_run.make_context("streamlit run", list(words)).params
    del said["target"], said["args"]
    return {name.replace("_", "."): value for name, value in said.items() if value is not None and value != ()}


def build_app(script: str) -> st.App:
    """Return the dashboard as an ASGI application."""
    from pages.app import connections, routes, streamlit_patch

    streamlit_patch.protect_messages()
    # Streamlit takes a folder named ``pages`` for its old kind of multipage app until a navigation was made once: the
    # first link straight to a view would run it alone, without app.py. Outside of a run it warns.
    logging.disable(logging.WARNING)
    st.navigation([st.Page(script)], position="hidden")
    logging.disable(logging.NOTSET)
    hosts = allowed_hosts(os.environ.get(HOSTS_VARIABLE, ""))
    return st.App(script, routes=routes.routes(), middleware=middleware(hosts), lifespan=connections.quiet_log)


def serve(app: st.App, settings: dict[str, Any]) -> None:
    """Answer until the server is stopped, with limits that `st.App.run` does not set."""
    from pages.app import connections

    load_config_options(settings)
    connections.allow_open_files()
    # The server sends itself the signal that stopped it, once it has stopped: what is temporary goes then.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit())
    uvicorn.run(
        app,
        host=str(st.get_option("server.address")),
        port=int(st.get_option("server.port")),
        ssl_certfile=st.get_option("server.sslCertFile"),
        ssl_keyfile=st.get_option("server.sslKeyFile"),
        http=connections.HttpConnection,
        h11_max_incomplete_event_size=connections.HEAD_BYTES,
        ws=connections.SessionConnection,
        ws_max_size=connections.MESSAGE_BYTES,
        ws_per_message_deflate=bool(st.get_option("server.enableWebsocketCompression")),
        ws_ping_interval=PING_SECONDS,
        ws_ping_timeout=PING_SECONDS,
        backlog=connections.BACKLOG,
        access_log=False,
        # The one line with the address is the command's.
        log_level="warning",
        use_colors=False,
    )


def end_with_command() -> None:
    """End this server when the command at the other end of its standard input has ended."""

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
    # This file is run by its path: the folder of app.py is not among the places of modules yet.
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
    # Streamlit looks for settings beside what the first word names.
    sys.argv = words[:1]
    serve(build_app(words[0]), server_settings(words))
