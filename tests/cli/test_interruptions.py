"""Commands that are killed leave the old result or the new one, whole, and say the same when they run again."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from evaluator.cli import command_line
from evaluator.system.atomic_write import atomic_write
from tests.interruptions import COMMANDS
from tests.terminal import run_command

ROOT = Path(__file__).resolve().parents[2]
# What has files that could be torn.
KINDS = [kind for kind in COMMANDS if kind != "evaluate"]
# In a process of its own: it forks, and the tests have threads.
RUN = (
    "import json, sys; from tests.interruptions import interrupted; "
    "print(json.dumps({kind: interrupted(kind, 1, 1) for kind in sys.argv[1:]}))"
)


@pytest.mark.skipif(sys.platform == "win32", reason="kills forked processes")
def test_killed_commands_leave_whole_results() -> None:
    done = subprocess.run([sys.executable, "-c", RUN, *KINDS], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == {kind: [1, 0, 0] for kind in KINDS}


# Holds the unfinished file until it is killed.
WRITING = (
    "import sys, time; from pathlib import Path; from evaluator.system.atomic_write import atomic_write\n"
    "def pieces():\n"
    "    yield b'half'\n"
    "    print('writing', flush=True)\n"
    "    time.sleep(600)\n"
    "atomic_write(Path(sys.argv[1]), pieces())"
)


@pytest.mark.skipif(sys.platform == "win32", reason="locks of files")
def test_the_unfinished_file_of_a_killed_process_goes_with_the_next_write_and_that_of_a_living_one_stays(
    tmp_path: Path,
) -> None:
    path, other = tmp_path / "pack.html", tmp_path / ".pack.html.more.abcdefgh.part"
    other.write_bytes(b"of another file")
    writing = subprocess.Popen([sys.executable, "-c", WRITING, str(path)], cwd=ROOT, stdout=subprocess.PIPE)
    try:
        assert writing.stdout is not None
        assert writing.stdout.readline() == b"writing\n"
        (unfinished,) = set(tmp_path.iterdir()) - {other}
        atomic_write(path, [b"new"])
        assert set(tmp_path.iterdir()) == {path, other, unfinished}
    finally:
        writing.kill()
        writing.communicate()
    atomic_write(path, [b"newer"])
    assert {each.name: each.read_bytes() for each in tmp_path.iterdir()} == {
        path.name: b"newer", other.name: b"of another file",
    }  # fmt: skip


@pytest.mark.skipif(sys.platform == "win32", reason="locks of files")
def test_a_link_that_looks_like_an_unfinished_file_leads_nowhere(tmp_path: Path) -> None:
    outside = tmp_path / "outside.txt"
    outside.write_bytes(b"kept")
    link = tmp_path / ".a.txt.abcdefgh.part"
    link.symlink_to(outside)
    atomic_write(tmp_path / "a.txt", [b"new"])
    assert outside.read_bytes() == b"kept"


def test_writers_of_one_file_at_once_each_end_with_a_whole_one(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    with ThreadPoolExecutor(8) as threads:
        sizes = list(threads.map(lambda size: atomic_write(path, [b"x" * size], durable=False), range(400)))
    assert sizes == list(range(400))
    assert [each.name for each in tmp_path.iterdir()] == ["a.txt"]


def test_what_was_there_stays_when_writing_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = tmp_path / "out.json"
    out.write_bytes(b"old")

    def full(_number: int) -> None:
        raise OSError(28, "No space left on device")

    def broken() -> Iterator[bytes]:
        yield b"half"
        raise RuntimeError("stop")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        atomic_write(out, [b"new"])
    with pytest.raises(RuntimeError, match=r"^stop$"):
        atomic_write(out, broken())
    assert out.read_bytes() == b"old"
    assert [each.name for each in tmp_path.iterdir()] == ["out.json"]


def test_an_interrupt_while_libraries_are_imported_is_quiet(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupt(_arguments: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(command_line, "_code_of", interrupt)
    assert run_command(capsys, "evaluate") == (130, "", "")
