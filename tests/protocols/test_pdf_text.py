"""Text against the text layer of the PDFs, where a ground truth has none."""

from __future__ import annotations

import json
from pathlib import Path

import pymupdf
import pytest

from tests.building import write_items
from tests.terminal import run_command

SIZE = {"document": "a.pdf", "width": 200, "height": 100}
OUTER, INNER, FIGURE = [0, 0, 150, 100], [0, 50, 150, 80], [150, 0, 200, 100]


@pytest.fixture
def given(tmp_path: Path) -> tuple[object, ...]:
    """Two pages, the second one without text; the model writes of both, and of what is in a figure."""
    pdf = pymupdf.open()
    first = pdf.new_page(width=200, height=100)
    for place, text in (((5, 20), "two recom-"), ((5, 35), "mended lines"), ((5, 65), "inside"), ((155, 20), "1990")):
        first.insert_text(place, text, fontsize=9)
    pdf.new_page(width=200, height=100)
    (tmp_path / "pdf").mkdir()
    pdf.save(tmp_path / "pdf" / "a.pdf")
    labels = (("Text", OUTER, "two recommended lines"), ("Text", INNER, "inside"), ("Figure", FIGURE, "1990 or so"))
    bare = [{"label": label, "box": box} for label, box, _ in labels]
    read = [{"label": label, "box": box, "text": text} for label, box, text in labels]
    truth, model = (
        write_items(tmp_path / f"{name}.jsonl", [{**SIZE, "page": page, "items": items} for page in (0, 1)])
        for name, items in (("truth", bare), ("model", read))
    )
    return ("evaluate", "text", "--gt", truth, "--pred", model, "--true-text", "pdf", "--pdfs", tmp_path / "pdf")


def test_words_in_the_smallest_box_are_the_true_text_and_pages_without_take_no_part(
    given: tuple[object, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, _ = run_command(capsys, *given, "--json")
    values = json.loads(out)
    numbers = values["dataset"]
    assert (code, numbers["pairs"], numbers["missing"], numbers["extra"]) == (0, 2, 0, 0)
    assert numbers["cer"]["micro"] == 0
    assert "fix of the ground truth: text of the PDFs" in values["signature"]
    assert run_command(capsys, *given)[2].splitlines() == [
        "warning: truth.jsonl: a page must have a text layer in its PDF and a known size to be compared with it; found "
        'pages without 1: "a.pdf, page 2". These pages take no part; give the PDFs with --pdfs, and a text for scans.'
    ]


def test_the_folder_of_the_pdfs_is_needed(given: tuple[object, ...], capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(capsys, *given[:-2]) == (2, "", "error: --true-text pdf needs --pdfs, the folder of the PDFs.\n")
