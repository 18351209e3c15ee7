"""Without the calls that only Linux has, files are checked and evaluated and pages are drawn.

Each process is told that it runs on macOS or Windows, after the libraries were imported, and finds nothing of what that
system lacks. It says nothing about the libraries there.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.serving import ROOT

SITE = """
import importlib, os, shutil, signal, socket, sys, time

libraries = "ctypes.util msgspec PIL.Image pymupdf subprocess tempfile "
# The processes that read documents have no memory for more.
if "-m" not in sys.orig_argv:
    libraries += (
        "asyncio concurrent.futures.process multiprocessing.connection multiprocessing.popen_spawn_posix ssl "
        "urllib.request uuid altair cyclopts filelock lxml.etree pandas platformdirs pyarrow.parquet rich.console "
        "shapely sqlalchemy.dialects.sqlite"
    )
for name in libraries.split():
    importlib.import_module(name)

sys.platform = {system!r}
lacking = {{"sched_getaffinity", "posix_fadvise", "memfd_create"}}
if sys.platform == "win32":
    for name in ("fcntl", "grp", "pwd", "resource", "termios"):
        sys.modules[name] = None
    lacking |= {{name for name in dir(os) if name.startswith("O_") and name[2:] in (
        "ASYNC", "CLOEXEC", "DIRECTORY", "NOFOLLOW", "NONBLOCK", "SYNC")}}
    lacking |= {{"fork", "getpgid", "getpriority", "getuid", "geteuid", "killpg", "setpriority", "setsid", "sysconf"}}
    shutil._use_fd_functions = False
    # There it takes a port that is in use.
    del socket.SO_REUSEADDR
    del socket.send_fds, socket.recv_fds, socket.AF_UNIX, signal.SIGXCPU, signal.SIGHUP, time.clock_gettime
for name in lacking & {{*dir(os)}}:
    delattr(os, name)


def look(event, arguments):
    if event == "open" and str(arguments[0]).startswith(("/proc", "/sys")):
        raise FileNotFoundError(2, "No such file or directory", arguments[0])


sys.addaudithook(look)
"""
WORK = """
import sys
from pathlib import Path

from evaluator import cli
from evaluator.cli.dashboard import _free_port
from evaluator.pdf.pool import PagePool
from evaluator.pdf.problems import PageProblem
from evaluator.review.identity import page_target
from tests.judging import opinion, store, stored

sample, out = Path(sys.argv[1]), Path(sys.argv[2])
truth, lines = sample / "ground_truth.json", sample / "lines.json"
sides = "--gt", truth, "--pred", lines
with PagePool(workers=1, spares=0) as pool:
    print("confined by", pool.renderer()[1])
    print("drawn", pool.page_image(sample / "pdf" / "river-districts.pdf", 0).width > 0)
    try:
        pool.page_image(lines, 0)
    except PageProblem as problem:
        print(problem.kind)
print("port", _free_port(None) > 0)
store(out / "findings.db", opinion(page_target("a.pdf", 0)))
print("kept", len(stored(out / "findings.db")))
for words in (("check", truth, lines), ("evaluate", "snapshot", *sides, "--out", out)):
    try:
        cli.main([str(word) for word in words])
    except SystemExit as left:
        print("left", words[0], left.code)
"""


@pytest.mark.parametrize("system", ["darwin", "win32"])
def test_files_are_read_and_pages_drawn_without_the_calls_of_linux(system: str, tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text(SITE.format(system=system), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-c", WORK, ROOT / "sample_data", tmp_path / "out"],
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), str(ROOT)])},
        capture_output=True, text=True, timeout=240, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    said = [
        line for line in done.stdout.splitlines() if line.startswith(("confined", "drawn", "not_pdf", "kept", "left"))
    ]
    assert said == ["confined by ()", "drawn True", "not_pdf", "kept 1", "left check 0", "left evaluate 0"]
    result = json.loads((tmp_path / "out" / "result.json").read_bytes())
    assert result["thresholds"]["0.5"]["micro"]["tp"] == 345
