"""Fewer than eight documents: no view has a star, an interval or "clear", nor says that it has."""

import json
import re
import zipfile
from pathlib import Path

import pymupdf
import pytest

from tests.dashboard import COMPARE, FINDINGS, MODELS, OVERVIEW, PACK, PIXELS, SLICES, start, workspace
from tests.pages.test_minus import read
from tests.sample_part import write_part_with_pages
from tests.terminal import run_command

# "no clear loss" is a condition of the rule, which is open.
SAID = re.compile(r"★|95 %|(?<!no )\bclear\b|excludes 0|resampl|[−+]\d[\d.]* to [−+]\d")
VIEWS = [(OVERVIEW, {}), (OVERVIEW, {"protocol": "coco"}), (COMPARE, {}), (MODELS, {}), (PIXELS, {}), (FINDINGS, {})]
VIEWS += [(PACK, {}), (SLICES, {}), (SLICES, {"of_models": "B minus A", "slice_measure": "all"})]


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


def words_of(part: Path) -> list[object]:
    return ["--gt", part / "ground_truth.json", "--pred", part / "lines.json"]


def test_the_terminal_says_nothing_of_intervals(part: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["snapshot", *words_of(part)]
    code, out, _ = run_command(capsys, "compare", *words, "--pred", part / "blocks.json")
    assert code == 0
    assert "3 documents are too few for an interval: 8 are needed." in " ".join(out.split())
    assert SAID.findall(out.replace("┃ clear ┃", "")) == []
    # Worse by 18.5 points.
    condition = "f1 < baseline - 5pt and significant"
    gate = ("gate", *words, "--baseline", part / "blocks.json", "--fail-if", condition)
    code, out, _ = run_command(capsys, *gate)
    assert (code, SAID.findall(out)) == (1, [])
    _, out, _ = run_command(capsys, *gate, "--json")
    (said,) = json.loads(out)["conditions"]
    assert (said["low"], said["high"], said["documents"], said["failed"]) == (None, None, 3, True)
    few = "It holds, and cannot be judged to be chance: too few documents for an interval (3)."
    assert said["reason"] == few


def test_a_pack_says_nothing_of_intervals(part: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ("report", "snapshot", *words_of(part), "--pred", part / "blocks.json", "--out", tmp_path / "pack.zip")
    assert run_command(capsys, *words)[0] == 0
    with zipfile.ZipFile(tmp_path / "pack.zip") as files:
        html, pdf = (files.read(f"pack.{ending}") for ending in ("html", "pdf"))
    seen = re.sub(r"<(script|style).*?</\1>|<[^>]*>", " ", html.decode(), flags=re.DOTALL)
    printed = " ".join(page.get_text() for page in pymupdf.open(stream=pdf))
    for text in (" ".join(each.split()) for each in (seen, printed)):
        # A condition asks for it.
        assert SAID.findall(text.replace("No clear loss of", "")) == []
        assert "cannot tell" in text
        assert re.search(r"\bholds\b", text) is None, "nobody knows"
