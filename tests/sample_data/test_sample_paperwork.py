"""The sample invoices and forms: what they contain, boxes on ink, and extractors that fail in ways of their own."""

from pathlib import Path

import numpy as np
import pymupdf
import pytest

from evaluator.data.fields import FieldDocuments, leaves
from evaluator.formats.fields import FORMAT, check_pair
from evaluator.protocols import fields
from evaluator.protocols.fields.drill_down import linked_rows
from sample_data import make

FOLDER = Path(make.__file__).parent / "fields"
SIDES = ("ground_truth", *make.FIELD_EXTRACTORS)
INK = 160


@pytest.fixture(scope="module")
def sides() -> dict[str, FieldDocuments]:
    return {name: FORMAT.read_path(FOLDER / name) for name in SIDES}


def test_the_set_has_what_it_is_made_to_show(sides: dict[str, FieldDocuments]) -> None:
    truth = sides["ground_truth"]
    pages = {path.stem: len(pymupdf.open(path)) for path in (FOLDER / "pdf").glob("*.pdf")}
    assert sorted(pages) == sorted(truth.documents)
    assert 10 <= len(pages) <= 20
    assert sum(count == 2 for count in pages.values()) >= 2
    paths = {path for tree in truth.documents.values() for path, _ in leaves(tree)}
    assert {"line_items[2].amount", "vendor.address.city", "goods[1]", "pitch.days[0]", "signed"} <= paths
    every = [field for tree in truth.documents.values() for _, field in leaves(tree)]
    assert {field.page for field in every} == {0, 1}
    for side in sides.values():
        assert side.issues == ()
        assert sorted(side.documents) == sorted(pages)


def test_boxes_lie_in_the_page_and_confidences_in_their_range(sides: dict[str, FieldDocuments]) -> None:
    for name, side in sides.items():
        for tree in side.documents.values():
            for path, field in leaves(tree):
                assert field.box is not None, path
                x1, y1, x2, y2 = field.box
                assert 0 <= x1 < x2 <= 1, path
                assert 0 <= y1 < y2 <= 1, path
                assert np.isnan(field.confidence) if name == "ground_truth" else 0 < field.confidence < 1


def test_ground_truth_lies_on_ink(sides: dict[str, FieldDocuments]) -> None:
    for name, tree in sides["ground_truth"].documents.items():
        document = pymupdf.open(FOLDER / "pdf" / f"{name}.pdf")
        greys = []
        for page in document:
            pixmap = page.get_pixmap(dpi=144, colorspace=pymupdf.csGRAY)
            greys.append(np.frombuffer(pixmap.samples, dtype=np.uint8).reshape(pixmap.height, pixmap.stride))
        for path, field in leaves(tree):
            assert field.box is not None
            grey = greys[field.page]
            x1, y1, x2, y2 = field.box
            inside = grey[int(y1 * 1684) : int(np.ceil(y2 * 1684)), int(x1 * 1190) : int(np.ceil(x2 * 1190))]
            assert inside.min() < INK, (name, path)


@pytest.mark.parametrize("name", make.FIELD_EXTRACTORS)
def test_an_extractor_is_neither_perfect_nor_useless(name: str, sides: dict[str, FieldDocuments]) -> None:
    result = fields.evaluate(sides["ground_truth"], sides[name])
    assert result.mean_ap is not None
    assert 0.2 < result.mean_ap < 0.9
    for link in ("true_positive", "below_threshold", "missed", "value_wrong_box_right"):
        assert len(linked_rows(result, link, iou=0.5)), link
    overall = result.confidence().to_json()
    assert overall["auroc"] is not None
    assert overall["auroc"] > 0.6


def test_one_is_better_and_one_makes_things_up(sides: dict[str, FieldDocuments]) -> None:
    first, second = (fields.evaluate(sides["ground_truth"], sides[name]) for name in make.FIELD_EXTRACTORS)
    assert first.mean_ap is not None
    assert second.mean_ap is not None
    assert first.mean_ap < second.mean_ap
    assert len(linked_rows(first, "spurious", iou=0.5))
    for name in make.FIELD_EXTRACTORS:
        assert check_pair(sides["ground_truth"], sides[name]) == ()
