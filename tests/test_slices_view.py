"""Slices under AppTest: the list is that of the search and its pages those of the boxes."""

from __future__ import annotations

import pytest

from evaluator import formats
from evaluator.model.dataset import join
from evaluator.protocols.snapshot.evaluation import pair
from evaluator.slices.slices import find_slices, pages_of
from tests.dashboard import SAMPLE_DATA, html_blocks, start, viewer

SLICES = "pages/slices.py"


def test_it_lists_what_the_search_finds(monkeypatch: pytest.MonkeyPatch) -> None:
    truth = formats.read(SAMPLE_DATA / "ground_truth.json", side="ground_truth")
    predicted = formats.read(SAMPLE_DATA / "lines.json", side="prediction")
    result = pair(join(truth, predicted)).match(min_score=0.0).at(0.5)
    expected = find_slices([result])
    app = start(monkeypatch, SLICES, of_models="A", slice_measure="recall")
    assert any(f"{expected.heading} <small>{expected.tested}" in block for block in html_blocks(app))
    assert expected.slices
    payload = viewer(app)
    assert [each["title"] for each in payload["slices"]] == [each.subject for each in expected.slices]
    for shown, one in zip(payload["slices"], expected.slices, strict=True):
        pages = pages_of(one, [result])
        assert [(page["document"], page["index"], page["boxes"], page["wrong"]) for page in shown["pages"]] == [
            (page.document, page.page, page.boxes, page.wrong) for page in pages[:100]
        ]
        assert shown["page_count"] == len(pages)
        assert sum(page.boxes for page in pages) == one.boxes
        assert shown["bars"][0]["lost"] == round(one.lost)
        assert shown["rows"][0]["cells"][0] == f"{one.value:.3f}"
    assert not app.exception
