"""Types are prepared by one thread at a time: msgspec ends the process when two meet a new class at once."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path


def test_two_threads_may_meet_a_new_class_at_once() -> None:
    command = [sys.executable, "-m", "tests.children.new_classes", "300"]
    project = Path(__file__).resolve().parents[2]
    ended = subprocess.run(command, cwd=project, capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "600\n", "")
