"""One folder for all that a run of the tests writes outside of the repository: its temporary files and its home.
Another process (``children/clear_up.py``) removes it at its end; what is opened of the user's own state is noted.
"""

import atexit
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, Final

import pytest

from tests.network import CHILDREN

VARIABLE: Final = "LAYOUTSCOPE_TEST_RUN"
USER_FOLDERS: Final = "LAYOUTSCOPE_TEST_USER_FOLDERS"
_MOVED: Final = ("XDG_STATE_HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "LOCALAPPDATA", "APPDATA")
# Below a home: Linux, macOS, Windows, and Streamlit on all of them.
_STATE: Final = (
    ".local/state/layoutscope", ".cache/layoutscope", "Library/Application Support/LayoutScope",
    "Library/Caches/layoutscope", "AppData/Local/LayoutScope", "AppData/Local/layoutscope", ".streamlit",
)  # fmt: skip

opened: list[str] = []
"""What this process has opened of the user's state."""


def begin(config: pytest.Config) -> None:
    """Move temporary files and home of this process and its children; a worker of xdist has its controller's."""
    if not hasattr(config, "workerinput"):
        _make()
    tempfile.tempdir = os.environ["TMPDIR"]
    places = tuple(os.environ[USER_FOLDERS].split(os.pathsep))

    def note(event: str, arguments: tuple[Any, ...]) -> None:
        if event in ("open", "os.mkdir", "sqlite3.connect") and str(arguments[0]).startswith(places):
            opened.append(f"{event} {arguments[0]}")

    sys.addaudithook(note)


def user_folders() -> list[str]:
    """Where the dashboard and Streamlit keep what is the user's, as the variables of this process say."""
    chosen = [os.path.join(os.environ[name], "layoutscope") for name in _MOVED if os.environ.get(name)]
    return [*chosen, *(str(Path.home() / place) for place in _STATE)]


def _make() -> None:
    folder = Path(tempfile.mkdtemp(prefix="layoutscope-tests-"))
    # A test gives itself up to a user who may do nothing but pass through.
    folder.chmod(0o711)
    words = [sys.executable, "-I", "-S", str(CHILDREN / "clear_up.py"), str(folder), str(os.getpid())]
    # In a session of its own, because Ctrl+C is not for it, and without the variables by which it finds the others.
    clearing = subprocess.Popen(words, stdin=subprocess.PIPE, start_new_session=True)
    # The last to be called at exit, so that pytest has put its own folders in order before.
    atexit.register(clearing.communicate)
    os.environ |= {VARIABLE: str(folder), USER_FOLDERS: os.pathsep.join(user_folders())}
    for name in _MOVED:
        os.environ.pop(name, None)
    for names, part in ((("TMPDIR", "TEMP", "TMP"), "tmp"), (("HOME", "USERPROFILE"), "home")):
        (folder / part).mkdir()
        os.environ |= dict.fromkeys(names, str(folder / part))
