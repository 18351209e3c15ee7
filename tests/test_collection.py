"""The suite is collected without a look at the shared folder, so that it runs for those who have none."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
SAMPLES = ("alto", "coco", "label-studio", "page-xml", "pascal-voc", "yolo")
# Every look at a folder or file under SHARED while tests are collected, noted where the interpreter itself sees it.
WATCH = """
import os
import sys

SHARED = os.environ["LAYOUTSCOPE_SHARED"]
looks = []


def note(event, arguments):
    if event in ("open", "os.listdir", "os.scandir") and arguments and str(arguments[0]).startswith(SHARED):
        frame, place = sys._getframe(1), "?"
        while frame is not None and place == "?":
            if os.sep + "tests" + os.sep in frame.f_code.co_filename:
                place = f"{frame.f_code.co_filename}:{frame.f_lineno}"
            frame = frame.f_back
        looks.append(f"{place} looks at {arguments[0]}")


sys.addaudithook(note)


def pytest_collection_finish():
    for look in looks:
        print("LOOK", look)
"""


@pytest.mark.timeout(600)
def test_no_test_module_touches_the_shared_folder_while_it_is_collected(tmp_path: Path) -> None:
    shared = tmp_path / "shared"
    # With the folders of the samples: a search in a folder that is not there is no look on every version of Python.
    for name in SAMPLES:
        (shared / "real" / "formats" / name).mkdir(parents=True)
    (tmp_path / "watch_shared.py").write_text(WATCH)
    environment = os.environ | {"LAYOUTSCOPE_SHARED": str(shared), "PYTHONPATH": str(tmp_path)}
    command = [sys.executable, "-m", "pytest", "tests", "--collect-only", "-q", "-p", "watch_shared"]
    command += ["-p", "no:cacheprovider"]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    looks = [line for line in done.stdout.splitlines() if line.startswith("LOOK")]
    assert looks == []
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
