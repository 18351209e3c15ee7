"""A format, a protocol and a view that the product does not have work like the others once they are registered; and
what CONTRIBUTING and the other pages of the documentation point to is there.
"""

import asyncio
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.testing.v1 import AppTest

from evaluator import formats, project, protocols
from evaluator.workspace.roles import Sides, find
from tests import sessions
from tests.dashboard import ROOT, add, cards, signature, start, workspace
from tests.serving import answering, free_port, stop
from tests.terminal import run_command
from tests.test_wheel import uv_command
from tests.toys.centres import PROTOCOL
from tests.toys.lines import FORMAT

pytestmark = pytest.mark.usefixtures("store_path")

TRUTH = """# boxes ground_truth
a.pdf 0 Table 0.1 0.1 0.5 0.5
a.pdf 0 Text 0.1 0.6 0.9 0.9
b.pdf 1 Table 0.2 0.2 0.8 0.8
"""
A = """# boxes prediction
a.pdf 0 Table 0.1 0.1 0.5 0.5 0.9
a.pdf 0 Text 0.5 0.6 0.9 0.9 0.8
b.pdf 1 Text 0.2 0.2 0.8 0.8 0.7
"""
B = """# boxes prediction
a.pdf 0 Table 0.1 0.1 0.5 0.5 0.9
b.pdf 1 Table 0.2 0.2 0.8 0.8 0.7
"""
# By hand: the centre of A's Text, (0.7, 0.75), lies in the ground truth with IoU 0.5; its Text of b.pdf has no partner.
COUNTS = {"a": (2, 1, 1), "b": (2, 0, 1)}


@pytest.fixture(autouse=True)
def toys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(formats.FORMATS, FORMAT.name, FORMAT)
    monkeypatch.setitem(protocols.PROTOCOLS, PROTOCOL.name, PROTOCOL)


@pytest.fixture
def files(tmp_path: Path) -> dict[str, Path]:
    paths = {name: tmp_path / f"{name}.boxes" for name in ("truth", "a", "b")}
    for path, text in zip(paths.values(), (TRUTH, A, B), strict=True):
        path.write_text(text)
    return paths


def counts(values: dict[str, Any]) -> tuple[int, int, int]:
    micro = values["thresholds"]["0.25"]["micro"]
    return micro["tp"], micro["fp"], micro["fn"]


def counts_of_cards(app: AppTest) -> list[tuple[int, ...]]:
    return [tuple(int(card[name]) for name in ("TP", "FP", "FN")) for card in cards(app)]


def test_plain_python(files: dict[str, Path]) -> None:
    evaluated = project.evaluate("centres", files["truth"], [files["a"], files["b"]])
    assert [counts(one.to_json()) for one in evaluated] == list(COUNTS.values())


def test_the_terminal_evaluates(files: dict[str, Path], capsys: pytest.CaptureFixture[str]) -> None:
    words = ("evaluate", "centres", "--gt", files["truth"], "--pred", files["a"], "--json")
    code, out, err = run_command(capsys, *words)
    assert (code, err) == (0, "")
    assert counts(json.loads(out)) == COUNTS["a"]
    code, out, _ = run_command(capsys, *words, "--min-score", "0.75")
    assert counts(json.loads(out)) == (2, 0, 1)


def test_the_terminal_compares_and_judges(files: dict[str, Path], capsys: pytest.CaptureFixture[str]) -> None:
    sides = ("--gt", files["truth"], "--pred", files["a"])
    code, out, _ = run_command(capsys, "compare", "centres", *sides, "--pred", files["b"], "--json")
    compared = json.loads(out)
    assert code == 0
    ledger = compared["ledger"]["Table"]
    assert [ledger[name] for name in ("both", "a_only", "b_only", "neither")] == [1, 0, 1, 0]
    hits = next(one for one in compared["differences"] if one["metric"] == "hits")
    assert (hits["a"], hits["b"]) == (2.0, 2.0)
    assert run_command(capsys, "gate", "centres", *sides, "--fail-if", "precision < 0.9")[0] == 1
    assert run_command(capsys, "gate", "centres", *sides, "--fail-if", "precision < 0.6")[0] == 0


def test_the_terminal_checks_the_format(files: dict[str, Path], capsys: pytest.CaptureFixture[str]) -> None:
    files["b"].write_text("# boxes prediction\na.pdf 0 Table\n")
    code, out, _ = run_command(capsys, "check", files["truth"], files["b"])
    assert code == 2
    assert "b.boxes: line 2: a line must have 7 or 8 words; found a.pdf 0 Table. Write one box a line." in out


def test_a_folder_is_opened(files: dict[str, Path]) -> None:
    assert find([files["a"].parent]).of("boxes") == Sides(files["truth"], (files["a"], files["b"]), None)


def test_the_review_pack(files: dict[str, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pack = tmp_path / "pack.html"
    sides = ("--gt", files["truth"], "--pred", files["a"], "--pred", files["b"])
    code, _, err = run_command(capsys, "report", "centres", *sides, "--out", pack)
    assert (code, err) == (0, "")
    assert "centres 0" in pack.read_text(encoding="utf-8")


@pytest.mark.parametrize("view", ["overview", "page_browser", "compare", "gallery", "review_pack", "files"])
def test_the_dashboard(view: str, files: dict[str, Path]) -> None:
    opened = workspace(files["truth"], [files["a"], files["b"]])
    app = start(f"pages/{view}.py", files=opened, protocol="centres")
    if view == "files":
        assert list(app.dataframe[0].value["File"]) == ["truth.boxes", "a.boxes", "b.boxes"]
        assert list(app.dataframe[0].value["Issues"]) == ["none"] * 3
        return
    assert "centres 0" in signature(app)
    if view == "overview":
        assert "centres 0" in next(box for box in app.selectbox if box.label == "Protocol").options
        assert counts_of_cards(app) == list(COUNTS.values())


@pytest.mark.usefixtures("whole_app")
def test_an_upload(files: dict[str, Path]) -> None:
    """The second model is uploaded and is beside the first on Overview, with the numbers worked by hand."""
    app = start("pages/files.py", files=workspace(files["truth"], [files["a"]]), protocol="centres")
    add(app, {"b.boxes": B.encode()})
    assert counts_of_cards(app) == list(COUNTS.values())


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the toys as an installed package, and with another one that names what is not there."""
    folder = tmp_path_factory.mktemp("packages")
    shutil.copytree(ROOT / "tests" / "toys", folder / "toys", ignore=shutil.ignore_patterns("__pycache__"))
    uv = uv_command()
    if uv is None:
        pytest.skip("uv is not installed")
    command = [uv, "pip", "install", "-q", "--no-deps", "--no-build-isolation", "--no-index"]
    subprocess.run([*command, "--target", folder / "site", folder / "toys"], check=True)
    broken = folder / "site" / "broken-1.dist-info"
    broken.mkdir()
    (broken / "METADATA").write_text("Name: broken\nVersion: 1\n")
    points = (
        "gone = layoutscope_gone:FORMAT",
        "coco = json:loads",
        "title = json:loads",
        "line = layoutscope_toys.lines:FORMAT",
    )
    (broken / "entry_points.txt").write_text("\n".join(["[layoutscope.formats]", *points]))
    return folder / "site"


LEFT_OUT = "The plugin {} (layoutscope.formats) of broken is left out: {}."
SAID = [
    LEFT_OUT.format("gone", "ModuleNotFoundError: No module named 'layoutscope_gone'"),
    LEFT_OUT.format("coco", "ValueError: the name is taken"),
    LEFT_OUT.format("title", "TypeError: json:loads must be a Format, not a function"),
    LEFT_OUT.format("line", "ValueError: layoutscope_toys.lines:FORMAT has the name lines"),
]


def with_plugins(site: Path) -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": f"{site}{os.pathsep}{ROOT}"}


def test_an_installed_package_adds_a_format_and_a_protocol(files: dict[str, Path], site: Path) -> None:
    """A broken one is named, and the rest works."""
    words = ["evaluate", "centres", "--gt", files["truth"], "--pred", files["a"], "--json"]
    ended = subprocess.run(
        [sys.executable, "-m", "evaluator.cli", *words],
        env=with_plugins(site), cwd=site, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert ended.returncode == 0, ended.stderr
    assert counts(json.loads(ended.stdout)) == COUNTS["a"]
    assert ended.stderr.splitlines() == [f"note: {sentence}" for sentence in SAID]


def test_an_installed_package_adds_a_view(files: dict[str, Path], site: Path, tmp_path: Path) -> None:
    """With its own word, its numbers and its part of the address; Files says what was left out."""
    port = free_port()
    words = ["open", "--gt", files["truth"], "--pred", files["a"], "--pred", files["b"], "--no-browser", "--port", port]
    command = [sys.executable, "-m", "evaluator.cli", *map(str, words)]
    process = answering(command, tmp_path, tmp_path / "server.log", port, with_plugins(site))
    try:
        word, one = asyncio.run(shown(f"http://127.0.0.1:{port}", "page_scores", "iou=0.6&within=a.pdf"))
        _, every = asyncio.run(shown(f"http://127.0.0.1:{port}", "page_scores", "iou=0.6"))
        said, _ = asyncio.run(shown(f"http://127.0.0.1:{port}", "files", ""))
    finally:
        stop(process)
    assert "Page scores" in word
    assert "IoU ≥ 0.60" in word
    # By hand: on page 1 of a.pdf A has one of two boxes at IoU 0.6 and B has one of two, and no other; on b.pdf A has
    # another label. The halves of the Text reach IoU 0.5 only.
    assert [one[name] for name in ("Document", "Page", "Mistakes, A", "Mistakes, B")] == [["a.pdf"], [1], [2], [1]]
    assert [every[name] for name in ("Document", "Page")] == [["b.pdf", "a.pdf"], [2, 1]]
    assert every["F1, A"] == [0.0, 0.5]
    assert all(sentence.partition("(")[0] in said for sentence in SAID)


async def shown(url: str, view: str, query: str) -> tuple[str, dict[str, list[Any]]]:
    """What a view says, and its table of documents."""
    session = await sessions.Session(url).connected()
    session.page, session.query = view, query
    texts, tables = [], []
    async for message, _ in session.answers(BackMsg()):
        texts.append(str(message))
        if message.delta.new_element.WhichOneof("type") == "dataframe":
            content = message.delta.new_element.dataframe.arrow_data.data
            tables.append(pa.ipc.open_stream(content).read_all().to_pydict())
    await session.left()
    return "".join(texts), next((table for table in tables if "Document" in table), {})


def test_every_path_in_the_documentation_is_there() -> None:
    """Modules are named for a reader who follows them: a renamed one is named anew."""
    # Examples of files to be written, and what a reader puts in.
    examples = re.compile(r"NAME|ROOM|/my\.py$|_my\.py$|/rows\.py$")
    # In places of a browser's component paths start at its folder.
    below = ("", "evaluator/components/", "docs/")
    missing = []
    for page in [*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")]:
        if page.name == "CHANGELOG.md":
            continue
        text = page.read_text("utf-8")
        paths = re.findall(r"(?<![\w/.-])(?:evaluator|pages|tests|docs|sample_data|shared|viewer)/[\w./-]*\w", text)
        modules = re.findall(r"python -m ([\w.]+)", text)
        paths += [name.replace(".", "/") + ".py" for name in modules if "." in name]
        missing += [
            f"{page.name}: {path}"
            for path in paths
            if not examples.search(path) and not any((ROOT / start / path).exists() for start in below)
        ]
    assert missing == []


def test_a_walk_names_what_is_in_the_module() -> None:
    """A numbered line begins with a module; every other name on it is in that module."""
    wrong = []
    for page in (ROOT / "docs" / "architecture.md", ROOT / "CONTRIBUTING.md"):
        for path, rest in re.findall(
            r"^\d+\. `((?:evaluator|pages)/[\w/]+\.\w+)`(.*)$", page.read_text("utf-8"), re.MULTILINE
        ):
            code = (ROOT / path).read_text("utf-8")
            names = [name for name in re.findall(r"`([\w.]+)`", rest) if "/" not in name]
            wrong += [f"{path}: {name}" for name in names if name.rpartition(".")[2] not in code]
    assert wrong == []
