"""Commands that are killed leave the old result or the new one, whole, and say the same when they run again."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
# In a process of its own: it forks, and the tests have threads.
RUN = (
    "import json, sys; from tests.interruptions import interrupted; print(json.dumps(interrupted(sys.argv[1], 1, 1)), "
    "file=sys.stderr)"
)


@pytest.mark.skipif(sys.platform == "win32", reason="kills forked processes")
@pytest.mark.parametrize("kind", ["coco", "evaluate", "pack", "yolo"])
def test_a_killed_command_leaves_whole_results(kind: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", RUN, kind], cwd=ROOT, capture_output=True, text=True, timeout=100, check=False
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stderr.splitlines()[-1]) == [1, 0, 0]
