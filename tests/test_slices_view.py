"""Slices under AppTest: the list is that of the search and its pages those of the boxes."""

from __future__ import annotations

import pytest

from evaluator import formats
from evaluator.model.dataset import join
from evaluator.protocols.snapshot.evaluation import pair
from evaluator.slices.slices import find_slices, pages_of
from tests.dashboard import SAMPLE_DATA, start

SLICES = "pages/slices.py"


def test_it_lists_what_the_search_finds(monkeypatch: pytest.MonkeyPatch) -> None:
    truth = formats.read(SAMPLE_DATA / "ground_truth.json", side="ground_truth")
    predicted = formats.read(SAMPLE_DATA / "lines.json", side="prediction")
    result = pair(join(truth, predicted)).match(min_score=0.0).at(0.5)
    expected = find_slices([result])
    app = start(monkeypatch, SLICES, of_models="A", slice_measure="recall")
    assert any(expected.summary[:30] in caption.value for caption in app.caption)
    assert expected.slices
    table = app.dataframe[0].value
    assert table["Slice"].tolist() == [each.subject for each in expected.slices]
    assert app.text[0].value == expected.slices[0].sentence
    pages = pages_of(expected.slices[0], [result])
    assert sum(page.boxes for page in pages) == expected.slices[0].boxes
    assert [page.wrong for page in pages] == sorted((page.wrong for page in pages), reverse=True)
    assert app.dataframe[1].value["Missed"].tolist() == [page.wrong for page in pages]
    assert not app.exception
