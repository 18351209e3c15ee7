"""Formats that are recognised and not read: what they are called, and what to export instead."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from evaluator import formats
from evaluator.formats import known
from evaluator.model.issues import BadInput
from tests.reading import needs_shared, real

FIFTYONE = {"samples": [{"filepath": "a.png", "gt": {"_cls": "Detections", "detections": []}}]}
LAYOUT_PARSER = {"page_data": {}, "blocks": [{"block_type": "rectangle", "x_1": 1, "y_1": 2, "x_2": 3, "y_2": 4}]}
HOCR = '<!DOCTYPE html PUBLIC "-//W3C//DTD"><html><body><div class="ocr_page" title="bbox 0 0 9 9"/></body></html>'


def refused(content: str, name: str) -> str:
    with pytest.raises(BadInput) as bad:
        formats.read_bytes(content.encode(), name)
    return str(bad.value)


@pytest.mark.parametrize(
    ("content", "name", "sentence"),
    [
        (HOCR, "a.hocr", 'this is hOCR, which is not read. Export ALTO instead, as "tesseract IMAGE OUT alto" does.'),
        (HOCR, "a.xml", 'this is hOCR, which is not read. Export ALTO instead, as "tesseract IMAGE OUT alto" does.'),
        (json.dumps(FIFTYONE), "samples.json", "this is a FiftyOne dataset, which is not read. Export it with "
         "dataset_type=fiftyone.types.COCODetectionDataset."),
        (json.dumps(LAYOUT_PARSER), "a.json", "this is a LayoutParser layout, which is not read. Write its blocks as "
         "COCO annotations, bbox as [x_1, y_1, x_2 - x_1, y_2 - y_1]."),
    ],
)  # fmt: skip
def test_sentences(content: str, name: str, sentence: str) -> None:
    assert refused(content, name) == f"{name}: {sentence}"


def test_other_files_have_no_such_name() -> None:
    assert known.name_of(b"") is None
    assert known.name_of(b'{"images": [], "annotations": []}') is None
    assert refused('{"page_data": {}}', "a.json").startswith("a.json: the content must be of a known format")


@needs_shared
@pytest.mark.parametrize("name", ["tess.hocr", "sample.html"])
def test_real_files(name: str) -> None:
    path: Path = real("formats", "hocr", name)
    assert refused(path.read_text(encoding="utf-8"), name) == (
        f'{name}: this is hOCR, which is not read. Export ALTO instead, as "tesseract IMAGE OUT alto" does.'
    )
