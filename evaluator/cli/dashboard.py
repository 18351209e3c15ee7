"""Commands that start the dashboard, on the sample data or on the user's files, and keep it running."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Final

import msgspec
from cyclopts import Parameter

from evaluator.cli.paths import PasswordFile, passwords_of
from evaluator.cli.program import INTERNAL_ERROR, OK, UsageError, need_folder
from evaluator.data.issues import BadInput, issues_text
from evaluator.pdf.passwords import FILE_VARIABLE
from evaluator.review.store_address import FINDINGS_VARIABLE, FINDINGS_WORKSPACE_VARIABLE, in_home, state_folder

if TYPE_CHECKING:
    from evaluator.workspace.roles import Workspace

_FIRST_PORT: Final = 8501
_PORTS_TRIED: Final = 100
_START_SECONDS: Final = 60.0
_STOP_SECONDS: Final = 5.0
_MOST_STARTS: Final = 4
_WITHIN_SECONDS: Final = 600.0
"""So often a server is started within this time: one that ends again and again would do so for ever."""


_Workspace = Annotated[
    Path | None, Parameter(help="Folder that keeps uploads and filters across reloads and restarts.")
]
_Port = Annotated[int | None, Parameter(help="Port on this machine; the first free one from 8501 when not given.")]
_Browser = Annotated[bool, Parameter(help="Open the browser when the dashboard is up.")]


def dashboard(*, workspace: _Workspace = None, port: _Port = None, browser: _Browser = True) -> int:
    """Start the dashboard on the bundled sample data and print its address."""
    # The page keeps room for the bar of the sample data where nothing is named.
    return _serve(None, _workspace_variable(workspace), port=port, browser=browser)


def open_paths(
    paths: Annotated[tuple[Path, ...], Parameter(negative="")] = (),
    /,
    *,
    gt: Annotated[tuple[Path, ...], Parameter(negative="")] = (),
    pred: Annotated[tuple[Path, ...], Parameter(negative="")] = (),
    pdfs: Path | None = None,
    password_file: PasswordFile = None,
    as_reference: Annotated[bool, Parameter(negative="")] = False,
    findings: str | None = None,
    findings_workspace: str | None = None,
    workspace: _Workspace = None,
    port: _Port = None,
    browser: _Browser = True,
) -> int:
    """Start the dashboard on folders and files; ground truth, predictions and PDFs are recognised by content.

    Parameters
    ----------
    paths
        Folders or files, or a layoutscope.toml alone, which lists what to open; without any file or folder at all, the
        bundled sample data.
    gt
        The ground truth, when it should not be guessed; repeat it to merge files of different documents. Several in a
        folder are no error: the dashboard opens on the list of files, where they are merged or one is chosen.
    pred
        A prediction file; repeat it for more models.
    pdfs
        The folder under which the PDFs are looked up by name.
    as_reference
        Allow --gt to be a prediction file; the dashboard shows that in a banner.
    findings
        Where verdicts and notes are kept: a file, or a database address for a team. Beside the ground truth when not
        given.
    findings_workspace
        Name of the project in a database that several projects share.
    """
    from evaluator.workspace import project_file
    from evaluator.workspace.roles import find

    address, workspace_files = "", None
    files = [path for path in paths if path.suffix.lower() == project_file.SUFFIX and path.is_file()]
    if files:
        if len(paths) > 1 or gt or pred or pdfs or as_reference:
            raise UsageError(f"{files[0].name} lists what to open; give it alone.")
        workspace_files, address = project_file.read(files[0])
        project_file.remember(files[0], state_folder())
    elif paths or gt or pred or pdfs:
        if pdfs is not None:
            need_folder("--pdfs", pdfs)
        workspace_files = find(paths, ground_truth=gt, predictions=pred, pdfs=pdfs, as_reference=as_reference)
        _need_something(workspace_files)
    elif as_reference:
        raise UsageError("--as-reference needs the file that --gt names.")
    if workspace_files is not None:
        sys.stderr.write(issues_text(workspace_files.issues))
    if findings is not None and "://" not in findings:
        findings = str(in_home(findings).resolve())
    kept = {FINDINGS_VARIABLE: findings, FINDINGS_WORKSPACE_VARIABLE: findings_workspace}
    if password_file is not None:
        passwords_of(password_file)
        kept[FILE_VARIABLE] = str(in_home(password_file).resolve())
    variables = {name: value for name, value in kept.items() if value} | _workspace_variable(workspace)
    return _serve(workspace_files, variables, port=port, browser=browser, query=address)


def _workspace_variable(folder: Path | None) -> dict[str, str]:
    from evaluator.workspace.variables import FOLDER_VARIABLE

    if folder is None:
        return {}
    root = in_home(folder).resolve()
    if root.exists() and not root.is_dir():
        raise UsageError(f"--workspace must name a folder; {folder.name} is a file.")
    return {FOLDER_VARIABLE: str(root)}


def _need_something(workspace_files: Workspace) -> None:
    """Refuse an empty dashboard: nothing could be read, and there are no PDFs either; BadInput says why."""
    if any(workspace_files.sides.values()):
        return
    if any(sides.pdfs for sides in workspace_files.sides.values()):
        sys.stderr.write("note: no annotations were found; the dashboard starts with the PDFs alone.\n")
        return
    if not workspace_files.issues:
        raise UsageError("nothing was found to open; name a folder or file with annotations or PDFs.")
    first = msgspec.structs.replace(workspace_files.issues[0], severity="error")
    raise BadInput([first, *workspace_files.issues[1:]])


def _dashboard_folder() -> Path:
    """Return the folder of app.py: beside this package in a checkout, inside it in an installed wheel."""
    package = Path(__file__).resolve().parent.parent
    return package.parent if (package.parent / "app.py").is_file() else package / "dashboard"


def _serve(
    workspace_files: Workspace | None,
    variables: Mapping[str, str] = MappingProxyType({}),
    *,
    port: int | None,
    browser: bool,
    query: str = "",
) -> int:
    """Run the dashboard until it is stopped, on the sample data for None; return its exit code."""
    import webbrowser

    from evaluator.workspace.variables import QUERY_VARIABLE, WORKSPACE_VARIABLE

    chosen = _free_port(port)
    described = workspace_files.to_json() if workspace_files is not None else ""
    environment = {**os.environ, **variables, WORKSPACE_VARIABLE: described}
    environment[QUERY_VARIABLE] = query
    address = f"http://127.0.0.1:{chosen}"

    def announce() -> None:
        shown = f"{address}/?{query}" if query else address
        print(f"LayoutScope is running at {shown} (Ctrl+C stops it)", flush=True)
        if browser:
            webbrowser.open(shown)

    _interrupted_by("SIGTERM", "SIGHUP")
    return _keep_running(_server_command(chosen), environment, f"{address}/_stcore/health", announce)


def _server_command(port: int) -> list[str]:
    """Return the command of the server, which ends when its standard input closes."""
    folder = _dashboard_folder()
    # -P: the folder of the script must not come before the standard library in the search for modules.
    server = str(folder / "pages" / "app" / "server.py")
    # Nothing comes on its standard input; it ends when our end closes: also when we are killed.
    command = [sys.executable, "-P", server, "--end-with-command", str(folder / "app.py")]
    # Said here as well as in config.toml: a config of the folder we are started from must not loosen these.
    safe = {"server.port": str(port), "server.address": "127.0.0.1", "server.headless": "true"}
    safe |= {"browser.gatherUsageStats": "false", "server.fileWatcherType": "none"}
    # One line with the address: ours, once the server answers.
    safe |= {"logger.hideWelcomeMessage": "true", "logger.level": "warning"}
    return [*command, *(word for name, value in safe.items() for word in (f"--{name}", value))]


def _keep_running(
    command: Sequence[str], environment: Mapping[str, str], health: str, announce: Callable[[], None]
) -> int:
    """Run a server until it is stopped, again after crashes; call `announce` when it first answers."""
    starts: list[float] = []
    while True:
        # Its own messages are messages: they go to standard error, and our line alone to standard output.
        child = subprocess.Popen(command, env=environment, stdin=subprocess.PIPE, stdout=2)
        starts.append(time.monotonic())
        try:
            answered = _answers(health, child)
            if answered and len(starts) == 1:
                announce()
            code = child.wait()
        except (KeyboardInterrupt, BrokenPipeError):
            code = OK
        finally:
            _stop(child)
        if code in (OK, -signal.SIGTERM, -signal.SIGINT):
            return OK
        lately = [start for start in starts if time.monotonic() - start < _WITHIN_SECONDS]
        again = answered and len(lately) < _MOST_STARTS
        # Open tabs knock until it answers, and go on where they were: all that a crash takes is what was on its way.
        words = "it is started again" if again else "it is not started again"
        with contextlib.suppress(BrokenPipeError):
            sys.stderr.write(f"note: the server ended by itself ({_ending(code)}); {words}.\n")
        if not again:
            return INTERNAL_ERROR


def _ending(code: int) -> str:
    """Return how a process ended, from its code.

    >>> _ending(1)
    'exit code 1'
    >>> _ending(-9)
    'SIGKILL'
    """
    try:
        return signal.Signals(-code).name
    except ValueError:
        return f"exit code {code}"


def _interrupted_by(*names: str) -> None:
    """Let signals stop the dashboard as Ctrl+C does; one that is ignored, as by nohup, stays so."""
    for number in (getattr(signal, name) for name in names if hasattr(signal, name)):
        if signal.getsignal(number) != signal.SIG_IGN:
            with contextlib.suppress(ValueError):  # only the main thread may set it; elsewhere the caller stops us
                signal.signal(number, signal.default_int_handler)


def _stop(child: subprocess.Popen[bytes]) -> None:
    """End the server: it writes when it stops, and hangs there when nobody reads its output any more."""
    child.terminate()
    try:
        child.wait(_STOP_SECONDS)
    except (subprocess.TimeoutExpired, KeyboardInterrupt):  # a second signal does not wait
        child.kill()
        child.wait()


def _free_port(wanted: int | None) -> int:
    candidates = [wanted] if wanted is not None else range(_FIRST_PORT, _FIRST_PORT + _PORTS_TRIED)
    for port in candidates:
        with socket.socket() as probe:
            if sys.platform != "win32":  # there it takes a port that is in use
                # The server sets it too: without it a port counts as taken for a minute after the last run.
                probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            with contextlib.suppress(OSError, OverflowError):
                probe.bind(("127.0.0.1", port))
                return int(probe.getsockname()[1])
    raise UsageError(f"port {wanted or _FIRST_PORT} is in use or not allowed; choose another with --port.")


def _answers(url: str, child: subprocess.Popen[bytes]) -> bool:
    import urllib.request

    deadline = time.monotonic() + _START_SECONDS
    # An explicit opener: a proxy named in the environment has no business with this machine's own address.
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    while time.monotonic() < deadline and child.poll() is None:
        with contextlib.suppress(OSError), opener.open(url, timeout=1):
            return True
        time.sleep(0.1)
    return False
