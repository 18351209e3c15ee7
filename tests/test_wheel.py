"""The wheel: what is inside, and that an installed dashboard starts, answers and stops from any folder."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import sysconfig
import urllib.error
import zipfile
from pathlib import Path

import pytest

from tests.serving import OPENER, ROOT, answering, free_port, lasting, processes

LEFT_OUT = shutil.ignore_patterns(".*_cache", ".git", ".hypothesis", "__pycache__", ".venv", "dist", "build", "tests")


def instructions() -> list[dict[str, str]]:
    """The Containerfile: for each stage what follows a word, one line for each time."""
    stages: list[dict[str, str]] = []
    for line in (ROOT / "Containerfile").read_text(encoding="utf-8").splitlines():
        word, _, rest = line.partition(" ")
        if word == "FROM":
            stages.append({})
        if word.isupper():
            stages[-1][word] = f"{stages[-1][word]}\n{rest}" if word in stages[-1] else rest
    return stages


def uv_command() -> str | None:
    return shutil.which("uv") or shutil.which("uv", path=str(Path(sys.executable).parent))


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A wheel of a copy of the project, so that the build leaves nothing behind in it.

    By the build backend of this environment, because ``pip wheel`` and ``uv build`` would fetch one.
    """
    source, out = tmp_path_factory.mktemp("source") / "project", tmp_path_factory.mktemp("wheel")
    shutil.copytree(ROOT, source, ignore=LEFT_OUT)
    command = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(out)]
    done = subprocess.run(command, cwd=source, capture_output=True, text=True, timeout=240, check=False)
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
        if path.suffix in (".py", ".js", ".css", ".typed") and "__pycache__" not in path.parts and not is_tool(path)
    }
    assert wanted - inside == set()
    assert [name for name in inside if name.startswith("evaluator/components/") and is_tool(ROOT / name)] == []
    odd = re.compile(r"__pycache__|\.git|^(tests/|app\.py|pages/)")
    assert [name for name in inside if odd.search(name)] == [], "only the one package may be beside others"


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
    command += ["--no-deps", "--no-index", "--quiet", str(wheel)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=240, check=False)
    assert done.returncode == 0, done.stderr
    script = home / "bin" / "layoutscope"
    assert script.is_file()
    return script


def environment() -> dict[str, str]:
    """This one's, without what would lead back to the checkout."""
    unwanted = ("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV", "LAYOUTSCOPE_WORKSPACE")
    return {name: value for name, value in os.environ.items() if name not in unwanted}


def status(url: str) -> int:
    with OPENER.open(url, timeout=30) as answer:
        return int(answer.status)


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="counts the processes left behind in /proc")
def test_the_installed_command_starts_anywhere_and_leaves_nothing_behind(installed: Path, tmp_path: Path) -> None:
    """By the command of the image, whose check of its health says so."""
    folder, port = tmp_path / "empty", free_port()
    folder.mkdir()
    image = instructions()[-1]
    places = {"layoutscope": str(installed), "/data": str(ROOT / "sample_data"), "8501": str(port)}
    command = [places.get(word, word) for part in ("ENTRYPOINT", "CMD") for word in json.loads(image[part])]
    healthy = json.loads(image["HEALTHCHECK"].partition("CMD ")[2].replace("8501", str(port)))
    healthy[0] = str(installed.with_name(healthy[0]))
    process = answering(command, folder, tmp_path / "said.txt", port, environment())
    try:
        assert status(f"http://127.0.0.1:{port}/") == 200
        assert subprocess.run(healthy, env=environment(), timeout=60, check=False).returncode == 0
        family = processes(process.pid)
        assert len(family) > 1
        assert list(folder.iterdir()) == [], "it writes nothing into the folder it was started from"
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=60) == 0
        assert lasting(family) == set()
        assert subprocess.run(healthy, env=environment(), stderr=subprocess.DEVNULL, timeout=60, check=False).returncode
        with pytest.raises(urllib.error.URLError):
            status(f"http://127.0.0.1:{port}/_stcore/health")
    finally:
        # What it has started ends with it; the number of a process that has ended may be that of another one.
        process.kill()
        process.wait(timeout=30)


def test_the_installed_command_is_the_installed_one_and_evaluates(installed: Path, tmp_path: Path) -> None:
    def said(*words: str) -> str:
        return subprocess.run(
            words, cwd=tmp_path, env=environment(), capture_output=True, text=True, timeout=120, check=True
        ).stdout  # fmt: skip

    where = said(str(installed.with_name("python")), "-c", "import evaluator; print(evaluator.__file__)")
    assert Path(where.strip()).is_relative_to(installed.parents[1])
    sides = [str(ROOT / "sample_data" / f"{name}.json") for name in ("ground_truth", "lines")]
    result = said(str(installed), "evaluate", "snapshot", "--gt", sides[0], "--pred", sides[1], "--json")
    assert json.loads(result)["thresholds"]["0.5"]["micro"]["tp"] > 0
