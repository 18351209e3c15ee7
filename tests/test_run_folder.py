"""What a run of the tests leaves behind: nothing, however it ends, and nothing where the user's own state is."""

import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from evaluator.review.store_address import state_folder
from tests import network, run_folder
from tests.children import clear_up

ROOT = Path(__file__).parents[1]
# A test that starts, in a session of its own, a process and one below it that a polite signal does not end, as a
# dashboard has one, and never comes to its end.
LEAVES = """
import os, subprocess, sys, threading
from pathlib import Path

def test_that_waits(tmp_path):
    stubborn = "import signal, time; signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGTERM, signal.SIGINT)); "
    stubborn += "print(1, flush=True); time.sleep(600)"
    above = "import subprocess, sys; subprocess.Popen([sys.executable, '-c', sys.argv[1]]); "
    words = [sys.executable, "-c", above + stubborn, stubborn]
    started = subprocess.Popen(words, cwd=tmp_path, stdout=subprocess.PIPE, start_new_session=True)
    assert started.stdout.readline() + started.stdout.readline()
    Path(os.environ["READY"]).symlink_to(os.environ["LAYOUTSCOPE_TEST_RUN"])
    threading.Event().wait()
"""


# A run in the background of a shell ignores the signal of Ctrl+C, and what it starts inherits that.
HEEDS_CTRL_C = """
import signal, sys, pytest
signal.signal(signal.SIGINT, signal.default_int_handler)
sys.exit(pytest.main(sys.argv[1:]))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the processes of a run are found in /proc")
@pytest.mark.parametrize("ending", [signal.SIGKILL, signal.SIGINT])
def test_nothing_is_left_of_a_run_that_ends_early(ending: signal.Signals, tmp_path: Path) -> None:
    (tmp_path / "test_leaves.py").write_text(LEAVES, encoding="utf-8")
    ready = tmp_path / "ready"
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    environment |= {"PYTHONPATH": network.python_path(ROOT), "READY": str(ready)}
    words = [sys.executable, "-c", HEEDS_CTRL_C, "-n1", "-ptests.conftest", f"--rootdir={tmp_path}", "test_leaves.py"]
    with (tmp_path / "said.txt").open("w") as said:
        run = subprocess.Popen(words, cwd=tmp_path, env=environment, stdout=said, stderr=said, start_new_session=True)
    while not ready.is_symlink():
        assert run.poll() is None, (tmp_path / "said.txt").read_text(encoding="utf-8")
        time.sleep(0.05)
    folder = ready.readlink()
    assert folder.is_dir()
    # The worker and the two stubborn ones.
    assert len(clear_up.left(folder)) >= 3
    run.send_signal(ending)
    run.wait()
    # The folder goes last.
    while folder.exists():
        time.sleep(0.05)
    assert clear_up.left(folder) == []


def test_no_place_of_the_users_own_is_one_of_the_tests() -> None:
    run = Path(os.environ[run_folder.VARIABLE])
    users = os.environ[run_folder.USER_FOLDERS].split(os.pathsep)
    for place in (state_folder(), Path.home(), Path(tempfile.gettempdir())):
        assert place.is_relative_to(run)
        assert not str(place).startswith(tuple(users))


@pytest.mark.parametrize("what", ["open({!r})", "import os; os.mkdir({!r})", "import sqlite3; sqlite3.connect({!r})"])
def test_what_a_process_opens_of_the_users_state_is_noted(
    what: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(run_folder.USER_FOLDERS, str(tmp_path / "state"))
    notes, place = tmp_path / "notes.txt", str(tmp_path / "state" / "layoutscope.sqlite")
    with network.noted(notes):
        subprocess.run([sys.executable, "-c", what.format(place)], check=False, stderr=subprocess.DEVNULL)
    assert f" {place!r} by " in notes.read_text(encoding="utf-8")
