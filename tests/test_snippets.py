"""Commands and snippets of the documentation, run in a folder that has the files they name."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

import evaluator
from evaluator import cli
from evaluator.protocols.base import BoxEvaluation
from tests.judging import store, verdicts
from tests.pdf.test_parquet_pictures import picture, row, table
from tests.protocols.test_same_numbers import FORMS, TRUTH, A
from tests.serving import ROOT

FENCE = re.compile(r"^ *```(\w*)(?: not run: ([^\n]+))?\n(.*?)^ *```$", re.MULTILINE | re.DOTALL)
ALONE = re.compile(r"^ *```", re.MULTILINE)
SAMPLE = ROOT / "sample_data"
# Its snippets are parts of files of the project.
ELSEWHERE = {"docs/new-format.md": "tests/formats/test_new_format.py"}
RUN: dict[str, list[str]] = {"bash": ["bash", "-euo", "pipefail"], "python": [sys.executable]}


class Snippet(NamedTuple):
    language: str
    reason: str
    """Why it is not run; empty when it is."""
    text: str


def snippets(text: str) -> list[Snippet]:
    every = [Snippet(*each) for each in FENCE.findall(text)]
    assert len(ALONE.findall(text)) == 2 * len(every), "a block that is not read"
    return every


PAGES = {
    path.relative_to(ROOT).as_posix(): snippets(path.read_text(encoding="utf-8"))
    for path in sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), SAMPLE / "README.md"])
    if path.name != "CHANGELOG.md"
}


def is_run(snippet: Snippet) -> bool:
    return snippet.language in RUN and not snippet.reason


def convert(*words: object) -> None:
    with pytest.raises(SystemExit) as left:
        cli.main(["convert", *map(str, words)])
    assert not left.value.code


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the snippets read: the sample data under their names, in the formats of the tools too."""
    folder = tmp_path_factory.mktemp("files")
    names = {
        "ground_truth": ("truth", "ground_truth"),
        "lines": ("a", "released", "model"),
        "blocks": ("b", "candidate"),
    }
    for name, others in names.items():
        for other in others:
            shutil.copy(SAMPLE / f"{name}.json", folder / f"{other}.json")
    for name in ("pdf", "fields", "posters"):
        (folder / name).symlink_to(SAMPLE / name)
    (folder / "sample_data").symlink_to(SAMPLE)
    for form, suffix in (("coco", ".json"), ("label-studio", ".json"), ("yolo", "")):
        (folder / form).mkdir()
        for side in ("truth", "model"):
            target = folder / form / f"{side}{suffix}"
            convert(folder / f"{side}.json", "--to", form, "--out", target, "--pdfs", SAMPLE / "pdf")
    for form in ("docling", "mineru", "table"):
        (folder / form).mkdir()
        for side, content in (("truth", FORMS[form].truth(TRUTH)), ("model", FORMS[form].prediction(A))):
            whole = isinstance(content, str)
            for name, text in ({f"{side}{FORMS[form].suffix}": content} if whole else content).items():
                path = folder / form / (name if whole else f"{side}/{name}")
                path.parent.mkdir(exist_ok=True)
                path.write_text(text.replace("document,label", "file,cls", 1))
    (folder / "items").mkdir()
    for side, name in (("truth", "ground_truth"), ("model", "lines")):
        shutil.copy(ROOT / "sample_reading" / f"{name}.jsonl", folder / "items" / f"{side}.jsonl")
    (folder / "hugging-face").mkdir()
    table(folder / "hugging-face" / "test.parquet", row(picture(1025), "1.png"))
    (folder / "hugging-face" / "model.csv").write_text("document,label,score,x1,y1,x2,y2\n1,Table,0.9,1,2,4,6\n")
    rows = "document,pages\nriver-districts.pdf,long\n"
    (folder / "pages.csv").write_text(rows)
    evaluated = evaluator.open(folder / "truth.json", folder / "a.json").evaluate("snapshot")[0].evaluation.result
    assert isinstance(evaluated, BoxEvaluation)
    store(folder / "review.sqlite", *verdicts(evaluated.first, "ground_truth_wrong", "missed")[:1])
    return folder


@pytest.mark.parametrize(
    "page", [name for name, held in PAGES.items() if any(map(is_run, held)) and name not in ELSEWHERE]
)
def test_every_snippet_works_as_it_is_written(page: str, files: Path, tmp_path: Path) -> None:
    place = tmp_path / "place"
    shutil.copytree(files, place, symlinks=True)
    environment = {
        **os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT), "LAYOUTSCOPE_CACHE": "off", "XDG_STATE_HOME": str(tmp_path),
    }  # fmt: skip
    for language, command in RUN.items():
        text = "\n".join(each.text for each in PAGES[page] if each.language == language and is_run(each))
        if text:
            done = subprocess.run(
                command,
                input=text,
                cwd=place,
                env=environment,
                capture_output=True,
                text=True,
                timeout=250,
                check=False,
            )
            assert done.returncode == 0, done.stderr + done.stdout


def test_a_block_states_its_language_and_only_a_snippet_why_it_is_not_run() -> None:
    every = [(page, each) for page, held in PAGES.items() for each in held]
    assert [page for page, each in every if not each.language] == []
    assert [page for page, each in every if each.reason and each.language not in RUN] == []
    assert [page for page, test in ELSEWHERE.items() if Path(page).name not in (ROOT / test).read_text("utf-8")] == []


def test_a_block_in_another_form_is_noticed() -> None:
    with pytest.raises(AssertionError, match="a block that is not read"):
        snippets("```bash because\nfalse\n```\n")
