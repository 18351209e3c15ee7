"""Fewer than eight documents: no view has a star, an interval or "clear", nor says that it has."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.dashboard import COMPARE, FINDINGS, MODELS, OVERVIEW, PIXELS, start, workspace
from tests.pages.test_minus import read
from tests.sample_part import write_part_with_pages
from tests.terminal import run_command

# "no clear loss" is a condition of the rule, which is open.
SAID = re.compile(r"★|95 %|(?<!no )\bclear\b|excludes 0|[−+]\d[\d.]* to [−+]\d")
VIEWS = [(OVERVIEW, {}), (OVERVIEW, {"protocol": "coco"}), (COMPARE, {}), (MODELS, {}), (PIXELS, {}), (FINDINGS, {})]


@pytest.fixture(scope="module")
def part(tmp_path_factory: pytest.TempPathFactory) -> Path:
    names = "school-census.pdf", "harvest-survey-2024.pdf", "tram-options.pdf"
    return write_part_with_pages(tmp_path_factory.mktemp("few") / "part", *names)


@pytest.mark.usefixtures("store_path")
@pytest.mark.parametrize(("view", "address"), VIEWS)
def test_no_view_says_that_a_difference_is_clear(part: Path, view: str, address: dict[str, str]) -> None:
    files = workspace(part / "ground_truth.json", [part / "lines.json", part / "blocks.json"], part / "pdf")
    app = start(view, files=files, **address)
    heads = [("head", str(name)) for element in app.dataframe for name in element.value.columns]
    assert [each for each in (*read(app), *heads) if SAID.search(each[1])] == []


def test_the_terminal_says_nothing_of_intervals(part: Path, capsys: pytest.CaptureFixture[str]) -> None:
    preds = [word for name in ("lines", "blocks") for word in ("--pred", part / f"{name}.json")]
    code, out, _ = run_command(capsys, "compare", "snapshot", "--gt", part / "ground_truth.json", *preds)
    assert code == 0
    assert "3 documents are too few for an interval: 8 are needed." in " ".join(out.split())
    assert "95 %" not in out
    assert "★" not in out
