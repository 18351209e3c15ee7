"""OmniDocBench: columns of both sides, against a count of its own on real files, and the sentence for what is wrong."""

import json
from typing import Any

import numpy as np
import pytest

from evaluator import formats
from evaluator.formats import omnidocbench
from tests import reading
from tests.reading import OWN, head, rows, warned

ROW = omnidocbench.FORMAT
TRUTH, RESULTS = OWN / "omnidocbench.json", OWN / "omnidocbench_results.json"


def page(*regions: object, image: object = "a.jpg", size: tuple[object, object] = (300, 400)) -> dict[str, Any]:
    info = {"image_path": image, "width": size[0], "height": size[1], "page_no": 1}
    return {"layout_dets": [*regions], "page_info": info}


def region(poly: object = (10, 20, 110, 20, 110, 70, 10, 70), **more: object) -> dict[str, object]:
    return {"category_type": "table", "poly": poly, **more}


def result(bbox: object = (10, 20, 110, 70), **more: object) -> dict[str, object]:
    return {"image_name": "a", "bbox": bbox, "category_id": 0, **more}


def results(*given: object) -> dict[str, object]:
    return {"results": [*given], "categories": {"0": "table", "1": " "}}


def test_ground_truth() -> None:
    source = formats.read(TRUTH)
    # A page number behind a dot is no ending: the names of predictions have no ending.
    pages = ["report.pdf_7", "report.pdf_8"]
    assert head(source) == ("omnidocbench", "ground_truth", "pixels", pages, [0, 0], [[300, 400], [300, 400]])
    assert rows(source) == [
        ("report.pdf_7", 0, "title", [10, 20, 110, 70]), ("report.pdf_7", 0, "table", [10, 100, 200, 300]),
    ]  # fmt: skip
    assert list(source.boxes.polygons) == [1]
    assert list(source.boxes.ids) == ["$[0].layout_dets[0]", "$[0].layout_dets[1]"]
    assert source.attributes == {
        "data_source": ["book", None], "language": ["english", None], "special_issue": ["fuzzy_scan, watermark", None],
    }  # fmt: skip
    assert warned(source) == [
        'omnidocbench.json: $[0].layout_dets[1]: regions marked "ignore" are compared as any other (OmniDocBench); '
        "found 1. Remove them to leave them out."
    ]


def test_predictions() -> None:
    source = formats.read(RESULTS)
    assert head(source)[:3] == ("omnidocbench", "prediction", "pixels")
    assert rows(source) == [
        ("report.pdf_7", 0, "title", [10, 20, 110, 70]), ("report.pdf_9", 0, "plain text", [0, 0, 9, 9]),
        ("report.pdf_7", 0, "plain text", [1, 2, 3, 4]),
    ]  # fmt: skip
    np.testing.assert_array_equal(source.boxes.score, [0.75, 0.5, np.nan])
    assert source.issues == ()


def test_pages_whose_width_and_height_are_exchanged_are_named_once() -> None:
    low = (10, 20, 110, 20, 110, 390, 10, 390)
    over = region((10, 20, 110, 20, 110, 420, 10, 420))
    pages = [page(region(low), region(), image=f"{n}.jpg", size=(400, 300)) for n in range(22)]
    # One page that boxes leave when it is turned, too, and one whose box is drawn over its edge.
    pages += [
        page(region(low), over, image="x.jpg", size=(400, 300)),
        page(region(low), image="y.jpg", size=(400, 385)),
    ]
    source = reading.read(ROW, json.dumps(pages).encode(), "a.json")
    names = ", ".join(f'"{n}, page 1"' for n in range(20))
    assert warned(source) == [
        f"a.json: $[{at}]: a region should not leave its image by more than 1 px; found [10, 20, 110, {end}] (corners) "
        f"in 400 x {height}. It is compared as it is; check the size of the image."
        for at, end, height in (
            ("22].layout_dets[0", 390, 300),
            ("22].layout_dets[1", 420, 300),
            ("23].layout_dets[0", 390, 385),
        )
    ] + [
        "a.json: $[0]: the regions of a page should lie within its width and height (OmniDocBench); found 22 pages "
        f"where they would if these were exchanged: {names} and 2 more. Exchange width and height where the image is "
        "so; boxes are compared as they are.",
    ]


def test_pages_with_scores_are_predictions_and_coco_does_not_claim_them() -> None:
    content = json.dumps([page(region(score=0.5))]).encode()
    assert ROW.side_of(content) == "prediction"
    for each in (content, TRUTH.read_bytes(), RESULTS.read_bytes()):
        assert formats.detect_bytes(each, "a.json") == "omnidocbench"
    assert formats.detect_bytes(b'[{"image_id": 1, "category_id": 1, "image_name": "a"}]', "a.json") == "coco"


AT = "$[0].layout_dets[0]"
AGAIN = "Export the file again."
BY_ID = "category_id must be a key of categories that has a name (O); found"
ADD_ID = "Correct the id, or add it to categories."
WRONG = [
    ([page(region([1, 2, 3]))], f"{AT}.poly: poly must have 4 numbers, x1, y1, x2, y2, or 8, the corners one after the "
     "other (O); found [1, 2, 3]. Correct the region, or remove it."),
    ([page(region([1, 2, 3, "x"]))], f'{AT}.poly[3]: poly must be a finite number (O); found "x". Correct it.'),
    ([page(region("no"))], f'{AT}.poly: poly must be a list of numbers (O); found "no". {AGAIN}'),
    ([page(region(None))], f"{AT}: a region must have poly or bbox (O); found neither. Add it, or remove the region."),
    ([page(region(category_type=5))], f"{AT}.category_type: category_type must be a string (O); found 5. Write it as "
     "text."),
    ([page(size=("x", 5))], '$[0].page_info.width: width must be a finite number (O); found "x". Correct it.'),
    ([page(), page()], '$[1]: an image must occur once (O); found "a.jpg", as in $[0]. Join the two.'),
    ([{"layout_dets": 5}], f"$[0].layout_dets: layout_dets must be a list (O); found 5. {AGAIN}"),
    ([{"layout_dets": [], "page_info": []}], f"$[0].page_info: page_info must be an object (O); found []. {AGAIN}"),
    ([5], f"$[0]: each of the pages must be an object (O); found 5. {AGAIN}"),
    ({"a": 1}, "$: the top level must be a list of pages, or an object with results and categories (O); found "
     f'{{"a":1}}. {AGAIN}'),
    (results(result(category_id=7)), f"$.results[0].category_id: {BY_ID} 7. {ADD_ID}"),
    (results(result(category_id=1)), f"$.results[0].category_id: {BY_ID} 1. {ADD_ID}"),
    (results(result(category_id=True)), f"$.results[0].category_id: {BY_ID} true. {ADD_ID}"),
    (results(result(image_name="")), "$.results[0]: a result must have an image_name (O). Name the image."),
    (results(result(score="high")), '$.results[0].score: score must be a finite number (O); found "high". '
     "Correct it."),
]  # fmt: skip


@pytest.mark.parametrize(("value", "sentence"), WRONG)
def test_sentences(value: object, sentence: str) -> None:
    said = reading.refused(ROW, json.dumps(value).encode(), "o.json")
    assert said[0] == f"o.json: {sentence.replace('(O)', '(OmniDocBench)')}"
