"""The steps of `action.yml` in a plain shell: the comment whole, its renewal, and the code that decides."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from evaluator.system.version import __version__
from tests.building import box, write_file
from tests.dashboard import ROOT

PAGES = [box(0.1, 0.1, 0.5, 0.3, document="a.pdf"), box(0.1, 0.5, 0.5, 0.9, document="b.pdf", label="Table")]
SIGNED = f"snapshot 1.3 · IoU ≥ 0.50, 0.75 · score ≥ 0.00 · 2 documents, 2 pages · layoutscope {__version__}"


@pytest.fixture
def inputs(tmp_path: Path) -> dict[str, str]:
    """A candidate that no longer finds the table."""
    write_file(tmp_path / "truth.json", PAGES, side="ground_truth")
    write_file(tmp_path / "released.json", PAGES)
    write_file(tmp_path / "candidate.json", PAGES[:1], pages=[("b.pdf", 0)])
    (tmp_path / "temp").mkdir()
    return {
        "protocol": "snapshot", "ground-truth": "truth.json", "baseline": "released.json",
        "prediction": "candidate.json", "fail-if": "recall[Table] < baseline\n\n", "options": "", "pdfs": "",
    }  # fmt: skip


def step(name: str, inputs: dict[str, str], folder: Path, **more: str) -> subprocess.CompletedProcess[str]:
    """Run a step as the runner does: its expressions are filled in its variables, never in its script."""
    steps: list[dict[str, Any]] = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))["runs"]["steps"]
    of = next(each for each in steps if name in (each.get("id"), each.get("name")))
    assert "${{" not in of["run"]
    given = {key: inputs.get(str(value).strip("${} ").removeprefix("inputs."), "") for key, value in of["env"].items()}
    places = {"RUNNER_TEMP": "temp", "GITHUB_STEP_SUMMARY": "summary.md", "GITHUB_OUTPUT": "output"}
    path = f"{folder}{os.pathsep}{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, **given, **{key: str(folder / value) for key, value in places.items()}, **more}
    return subprocess.run(
        ["bash", "-e", "-o", "pipefail", "-c", of["run"]],
        cwd=folder, env={**environment, "PATH": path}, capture_output=True, text=True, check=False,
    )  # fmt: skip


def test_the_comment_has_conditions_decision_and_worst_pages(inputs: dict[str, str], tmp_path: Path) -> None:
    ended = step("judge", inputs, tmp_path)
    assert ended.returncode == 0, ended.stderr
    assert (tmp_path / "output").read_text() == "code=1\n"
    comment = (tmp_path / "temp" / "layoutscope" / "comment.md").read_text(encoding="utf-8")
    assert comment == (tmp_path / "summary.md").read_text(encoding="utf-8")
    assert (
        comment
        == f"""<!-- layoutscope -->

**Gate failed, 1 of 1 condition: candidate.json against released.json**

{SIGNED}

| gate | condition | value | baseline | limit | points | interval | why |
| --- | --- | ---: | ---: | ---: | --- | ---: | --- |
| FAILED | recall\\[Table\\] \\< baseline | 0.0000 | 1.0000 | 1.0000 | −100.0 | n/a | It holds by 100.00 points. |

**A released.json, B candidate.json. Cannot tell on these 2 documents. F1 −33.3 points, but 2 documents are too few \
for an interval: 8 are needed. Recall −50.0 points; 0 documents better, 1 worse. Too few documents for an interval: 2. \
Precision: no difference.**

{SIGNED}

| metric | label | a | b | points | interval | clear | better | worse |
| ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |

**Pages with most boxes that B alone gets wrong: A released.json, B candidate.json**

{SIGNED}

| document | page | B alone wrong | A alone wrong |
| --- | ---: | ---: | ---: |
| b.pdf | 1 | 1 | 0 |
"""
    )
    assert (tmp_path / "temp" / "layoutscope" / "review-pack.html").stat().st_size > 100_000


def test_what_is_wrong_with_a_file_stands_in_the_comment(inputs: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "candidate.json").write_text("{")
    step("judge", inputs, tmp_path)
    assert (tmp_path / "output").read_text() == "code=2\n"
    comment = (tmp_path / "summary.md").read_text(encoding="utf-8")
    assert comment.startswith("<!-- layoutscope -->")
    assert "candidate.json: " in comment
    assert not (tmp_path / "temp" / "layoutscope" / "review-pack.html").exists()


@pytest.mark.parametrize(
    ("known", "asked"), [("7", "-X PATCH repos/o/r/issues/comments/7"), ("", "-X POST repos/o/r/issues/3/comments")]
)
def test_the_comment_is_renewed(known: str, asked: str, tmp_path: Path) -> None:
    """By a stand-in for GitHub's own command, which notes what it is asked."""
    gh = tmp_path / "gh"
    gh.write_text(f'#!/bin/sh\necho "$@" >> {tmp_path}/asked\ncase "$*" in *--jq*) echo "{known}" ;; esac\n')
    gh.chmod(0o755)
    (tmp_path / "temp" / "layoutscope").mkdir(parents=True)
    text = tmp_path / "temp" / "layoutscope" / "comment.md"
    text.write_text("numbers\n")
    ended = step(
        "comment", {}, tmp_path, NUMBER="3", GITHUB_REPOSITORY="o/r", RUN="https://code.example/o/r/actions/runs/1"
    )
    assert ended.returncode == 0, ended.stderr
    assert (tmp_path / "asked").read_text().splitlines()[-1] == f"api {asked} -F body=@{text} --silent"
    assert (
        text.read_text()
        == "numbers\n\n[Review pack with pages and mistakes](https://code.example/o/r/actions/runs/1#artifacts)\n"
    )
