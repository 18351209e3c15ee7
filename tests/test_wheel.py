"""The wheel: what is inside, and that an installed dashboard starts, answers and stops from any folder."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import sysconfig
import time
import urllib.error
import urllib.request
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.dashboard import ROOT

LEFT_OUT = shutil.ignore_patterns(
    ".git",
    ".hypothesis",
    ".mypy_cache",
    ".pytest_cache",
    ".ruff_cache",
    "__pycache__",
    ".venv",
    "dist",
    "build",
    "tests",
)
OPENER = urllib.request.build_opener(urllib.request.ProxyHandler({}))


def uv_command() -> str | None:
    """The uv of this machine or of this environment."""
    return shutil.which("uv") or shutil.which("uv", path=str(Path(sys.executable).parent))


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A wheel of a copy of the project, so that the build leaves nothing behind in it.

    By the build backend of this environment, because ``pip wheel`` and ``uv build`` would fetch one.
    """
    source, out = tmp_path_factory.mktemp("source") / "project", tmp_path_factory.mktemp("wheel")
    shutil.copytree(ROOT, source, ignore=LEFT_OUT)
    done = subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(out)],
        cwd=source,
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return next(out.glob("*.whl"))


def is_tool(path: Path) -> bool:
    """Whether a file only serves those who work on the front end."""
    web = ROOT / "evaluator" / "components"
    if not path.is_relative_to(web):
        return False
    parts = path.relative_to(web).parts
    return parts[0] in ("node_modules", "tests") or (len(parts) == 1 and path.suffix != ".py")


def test_what_is_inside(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        inside = set(archive.namelist())
    folder = "evaluator/dashboard/"
    wanted = {f"{folder}{name}" for name in ("app.py", ".streamlit/config.toml", "pages/app.css", "pages/icon.png")}
    for pattern in ("pages/*.py", "sample_data/*.json", "sample_data/pdf/*.pdf"):
        files = {f"{folder}{path.relative_to(ROOT)}" for path in ROOT.glob(pattern)}
        assert files
        wanted |= files
    wanted |= {
        str(path.relative_to(ROOT))
        for path in (ROOT / "evaluator").rglob("*")
        if path.suffix in (".py", ".js", ".css") and "__pycache__" not in path.parts and not is_tool(path)
    }
    assert wanted - inside == set()
    assert "evaluator/components/viewer/viewer.js" in inside
    assert "evaluator/components/viewer/viewer.css" in inside
    assert [name for name in inside if name.startswith("evaluator/components/") and is_tool(ROOT / name)] == []
    odd = [
        name
        for name in inside
        if "__pycache__" in name or name.startswith(("tests/", "app.py", "pages/")) or ".git" in name
    ]
    assert odd == [], "only the one package may be beside others"


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The command of a fresh environment with the wheel; everything it needs is lent by this one."""
    home = tmp_path_factory.mktemp("venv") / "env"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(home)], check=True, timeout=120)
    packages = Path(sysconfig.get_path("purelib", "venv", {"base": str(home), "platbase": str(home)}))
    # Behind the environment's own packages on the path; the checkout itself must not be on it.
    lent = [sysconfig.get_path("purelib"), sysconfig.get_path("platlib")]
    (packages / "lent.pth").write_text("\n".join(dict.fromkeys(lent)) + "\n", encoding="utf-8")
    python, uv = str(home / "bin" / "python"), uv_command()
    # An environment that uv made has no pip, one that pip made need not have uv.
    command = [uv, "pip", "install", "--python", python] if uv else [sys.executable, "-m", "pip", "--python", python]
    command += [] if uv else ["install", "--force-reinstall"]
    done = subprocess.run(
        [*command, "--no-deps", "--no-index", "--quiet", str(wheel)],
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    script = home / "bin" / "layoutscope"
    assert script.is_file()
    return script


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def environment() -> dict[str, str]:
    """This one's, without what would lead back to the checkout."""
    unwanted = ("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV", "LAYOUTSCOPE_WORKSPACE")
    return {name: value for name, value in os.environ.items() if name not in unwanted}


def children(process: int) -> list[int]:
    """Living processes below a process."""
    table: dict[int, list[int]] = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError, ValueError):
            fields = path.read_text().rsplit(")", 1)[1].split()
            if fields[0] != "Z":
                table.setdefault(int(fields[1]), []).append(int(path.parent.name))
    processes, queue = [], [process]
    while queue:
        below = table.get(queue.pop(), [])
        processes += below
        queue += below
    return processes


def alive(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


@contextlib.contextmanager
def running(command: list[str], folder: Path, port: int) -> Iterator[subprocess.Popen[str]]:
    """The dashboard, up; ended hard if the test did not end it."""
    log = folder.parent / f"{folder.name}.log"
    with log.open("w+") as said:
        process = subprocess.Popen(
            [*command, "--no-browser", "--port", str(port)],
            cwd=folder,
            env=environment(),
            stdout=said,
            stderr=said,
            text=True,
        )
        try:
            deadline = time.monotonic() + 90
            while time.monotonic() < deadline and process.poll() is None:
                with contextlib.suppress(OSError), OPENER.open(f"http://127.0.0.1:{port}/_stcore/health", timeout=2):
                    break
                time.sleep(0.1)
            else:
                pytest.fail(f"the dashboard did not come up: {log.read_text()}")
            yield process
        finally:
            # What it has started ends with it; the number of a process that has ended may be that of another one.
            process.kill()
            process.wait(timeout=30)


def status(url: str) -> int:
    with OPENER.open(url, timeout=30) as answer:
        return int(answer.status)


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="counts the processes left behind in /proc")
def test_the_installed_command_starts_anywhere_and_leaves_nothing_behind(installed: Path, tmp_path: Path) -> None:
    folder, port = tmp_path / "empty", free_port()
    folder.mkdir()
    with running([str(installed)], folder, port) as process:
        assert status(f"http://127.0.0.1:{port}/") == 200
        assert status(f"http://127.0.0.1:{port}/_stcore/health") == 200
        family = children(process.pid)
        assert family
        assert list(folder.iterdir()) == [], "it writes nothing into the folder it was started from"
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=60) == 0
        deadline = time.monotonic() + 30
        while any(alive(each) for each in family) and time.monotonic() < deadline:
            time.sleep(0.1)
        assert [each for each in family if alive(each)] == []
        with pytest.raises(urllib.error.URLError):
            status(f"http://127.0.0.1:{port}/_stcore/health")


def test_the_installed_command_is_the_installed_one_and_evaluates(installed: Path, tmp_path: Path) -> None:
    python = str(installed.with_name("python"))
    where = subprocess.run(
        [python, "-c", "import evaluator; print(evaluator.__file__)"],
        cwd=tmp_path, env=environment(), capture_output=True, text=True, timeout=60, check=True,
    ).stdout  # fmt: skip
    assert Path(where.strip()).is_relative_to(installed.parents[1])
    sample = ROOT / "sample_data"
    words = [
        "evaluate",
        "snapshot",
        "--gt",
        str(sample / "ground_truth.json"),
        "--pred",
        str(sample / "lines.json"),
        "--json",
    ]
    done = subprocess.run(
        [str(installed), *words],
        cwd=tmp_path,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["thresholds"]["0.5"]["micro"]["tp"] > 0
