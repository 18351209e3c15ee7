"""What the PDFs say of pages, as attributes of slices."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from evaluator import formats
from evaluator.model.dataset import join
from evaluator.pdf.folder import PdfFolder
from evaluator.pdf.pool import PagePool
from evaluator.slices.attributes import attributes_of, joined
from evaluator.slices.pdf_pages import of_pdf_pages

SAMPLE = Path(__file__).resolve().parents[1] / "sample_data"


def test_the_pages_of_the_sample() -> None:
    truth, prediction = formats.read(SAMPLE / "ground_truth.json"), formats.read(SAMPLE / "lines.json")
    dataset = join(truth, prediction)
    calls: list[tuple[int, int]] = []
    with PagePool() as pool:
        known = of_pdf_pages(dataset, PdfFolder(SAMPLE), pool, lambda *at: calls.append(at))
        document, index = next(key for key in known if key[1] is not None)
        assert index is not None
        path = PdfFolder(SAMPLE).find(next(each.name for each in dataset.documents if each.doc_id == document))
        assert known[document, index]["words"] == len(pool.words(path, index).texts)
    assert len(calls) == dataset.pages
    table = {one.name: one for one in attributes_of(dataset, dataset.ground_truth, of_pages=known)}
    assert table["words"].kind == "number"
    assert set(table["text layer"].names) <= {"yes", "no"}
    ink = table["ink"].values
    assert ((ink >= 0) & (ink <= 1) | np.isnan(ink)).all()


def test_a_page_that_cannot_be_read_has_no_attributes(tmp_path: Path) -> None:
    truth, prediction = formats.read(SAMPLE / "ground_truth.json"), formats.read(SAMPLE / "lines.json")
    with PagePool() as pool:
        assert of_pdf_pages(join(truth, prediction), PdfFolder(tmp_path), pool) == {}


def test_the_second_table_counts() -> None:
    assert joined({("a", 0): {"words": 1, "ink": 0.5}}, {("a", 0): {"words": 2}, ("b", None): {"x": "y"}}) == {
        ("a", 0): {"words": 2, "ink": 0.5},
        ("b", None): {"x": "y"},
    }
