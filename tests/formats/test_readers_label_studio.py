"""Label Studio: columns of regions, the conversion of the World Bank, and the whole sentence for what is wrong."""

import json
from typing import Any

import numpy as np
import pytest

from evaluator import formats
from evaluator.data.dataset import Annotations
from evaluator.formats import label_studio
from tests import reading
from tests.reading import OWN, head, needs_shared, real, refusal, rows, warned

ROW = label_studio.FORMAT
SAMPLE = OWN / "label_studio.json"


def region(label: str = "Table", more: dict[str, Any] | None = None, **value: object) -> dict[str, Any]:
    numbers: dict[str, object] = {"x": 10, "y": 20, "width": 50, "height": 25, "rectanglelabels": [label]}
    sizes = {"original_width": 200, "original_height": 400}
    return {"id": "r", "type": "rectanglelabels", **sizes, "value": numbers | value, **(more or {})}


def task(*results: object, image: str = "a.png", key: int = 1, **more: object) -> dict[str, Any]:
    return {"id": key, "data": {"image": image}, "annotations": [{"id": 5, "result": [*results]}], **more}


def encoded(*tasks: object) -> bytes:
    return json.dumps([*tasks]).encode()


def read(*tasks: object, **given: Any) -> Annotations:
    return reading.read(ROW, encoded(*tasks), "l.json", **given)


def refused(*tasks: object, **given: Any) -> list[str]:
    return reading.refused(ROW, encoded(*tasks), "l.json", **given)


def test_annotations() -> None:
    source = formats.read(SAMPLE)
    assert head(source) == (
        "label-studio", "ground_truth", "page", ["a b", "report"], [0, 2], [[200, 400], [100, 100]],
    )  # fmt: skip
    # A quarter of a turn around the upper left corner: 40 x 20 pixels become 20 x 40 to the left of it.
    turned = pytest.approx([0.4, 0.25, 0.5, 0.35])
    assert [(label, corners) for _, _, label, corners in rows(source)] == [
        ("Table", [0.1, 0.2, 0.6, 0.45]), ("Table", turned), ("Figure", turned), ("Figure", [0.1, 0.1, 0.3, 0.4]),
        ("Text", [0, 0, 0.1, 0.1]), ("Table", [0, 0, 1, 0.5]),
    ]  # fmt: skip
    assert list(source.boxes.ids) == ["r1", "r2", "r2", "r3", "r4", "q1"]
    assert source.boxes.polygons[3][0] == pytest.approx(np.array([[0.1, 0.1], [0.3, 0.1], [0.2, 0.4]]))
    assert list(source.page_ids) == ["1", "report::p002"]
    assert source.attributes == {"annotator": ["5", "5"]}
    assert warned(source) == [
        "label_studio.json: $[0].annotations[1].result[1]: a region should have one label; with several each counts as "
        "a box of its own (Label Studio); found 1 with several. Leave out those that are no kind of region, or expect "
        "each of them to be found."
    ]


def test_regions_of_two_images_are_not_read_as_one_page() -> None:
    regions = [region(more={"to_name": name}) for name in ("one", "two")]
    pair = task(*regions) | {"data": {"image": "a.png", "other": "b.png"}}
    assert refused(pair) == [
        "l.json: $[0].annotations[0].result[0]: the regions of a task that names several images must be on one of them "
        '(Label Studio); found to_name 2: "one", "two". Give each image a task of its own, or name the images in a '
        "list, which is read as pages."
    ]
    # Two tags may show one image, and of two images one may have no regions.
    assert len(read(task(*regions)).boxes) == len(read(pair | task(*regions[:1])).boxes) + 1 == 2


def test_predictions_have_the_score_of_the_region_or_of_all() -> None:
    source = formats.read(SAMPLE, side="prediction")
    assert (source.side, source.model, source.boxes.score.tolist()) == ("prediction", "m1", [0.75, 0.5])
    assert source.attributes == {}
    assert warned(source) == [
        "label_studio.json: $[1]: tasks that were not predicted, or were skipped, are left out (Label Studio); found "
        "1. Nothing to do if so meant."
    ]


def test_annotations_serve_as_predictions_of_another_annotator() -> None:
    source = read(task(region()), side="prediction")
    assert (source.side, len(source.boxes), source.model) == ("prediction", 1, None)
    assert np.isnan(source.boxes.score).all()


def test_predictions_serve_as_the_reference_on_request_only() -> None:
    predicted = {"id": 1, "data": {"image": "a.png"}, "predictions": [{"score": 0.5, "result": [region()]}]}
    assert ROW.side_of(encoded(predicted)) == "prediction"
    assert ROW.side_of(encoded(task(region()))) == "ground_truth"
    assert len(read(predicted, side="ground_truth", as_reference=True).boxes) == 1
    assert refused(predicted, side="ground_truth") == [
        "l.json: $[0].predictions[0].result[0]: a ground truth file must not have a score (Label Studio); found 1 of 1 "
        "regions with one. Give this file as the prediction, or remove the score."
    ]


def test_json_min() -> None:
    source = formats.read(OWN / "label_studio_min.json")
    assert (source.format, source.side) == ("label-studio", "ground_truth")
    assert rows(source) == [("a", 0, "Table", [0.1, 0.2, 0.6, 0.45]), ("a", 0, "Figure", [0.1, 0.1, 0.3, 0.4])]
    assert list(source.page_ids) == ["1", "2"]
    assert source.attributes == {"annotator": ["5", "5"]}
    assert warned(source) == [
        "label_studio_min.json: $[0].label[2]: only rectangles, polygons, ellipses and brush masks are read (Label "
        'Studio); found 1 of the kind "keypointlabels". They are left out; draw regions as rectangles or polygons.'
    ]


def test_older_exports_and_one_task() -> None:
    old = {"id": 1, "data": {"image": "a.png"}, "completions": [{"result": [region()]}]}
    assert len(read(old).boxes) == 1
    assert len(reading.read(ROW, json.dumps(task(region())).encode(), "l.json").boxes) == 1
    assert ROW.detect(encoded(task()))
    assert not ROW.detect(b'{"images": [], "annotations": [], "data": 1}')


def test_a_document_takes_the_name_that_its_task_states() -> None:
    pages = {"data": {"pages": ["a.png", "b.png"]}, "meta": {"file": "r.pdf"}}
    unnamed = {"data": {"pages": ["c.png", "d.png"]}}
    empty = {"data": {"text": "no image"}}
    source = read(task(region(), **pages), task(key=2, **unnamed), task(key=3, **empty))
    assert [document.doc_id for document in source.documents] == ["r.pdf", "task 2", "task 3"]
    assert len(source.page_ids) == 2


@pytest.mark.parametrize("several", [False, True])
def test_of_several_annotators_one_is_read(several: bool) -> None:
    made = [
        {"completed_by": 1, "result": [region("A")]},
        {"completed_by": 2, "result": [region("B")], "ground_truth": several},
    ]
    source = read({"id": 1, "data": {"image": "a.png"}, "annotations": made})
    (label,) = source.labels
    assert label == ("B" if several else "A")
    assert source.attributes == {"annotator": ["2" if several else "1"]}
    at, chosen, other = (1, "2", "1") if several else (0, "1", "2")
    assert warned(source) == [
        f"l.json: $[0].annotations[{at}]: one annotation of a task is read, the one marked as ground truth or else the "
        f'first (Label Studio); found 2: "{chosen}" is read, "{other}" left out. Export the annotations of one '
        "annotator to compare another."
    ]
    unnamed = [{key: value for key, value in each.items() if key != "completed_by"} for each in made]
    (said,) = warned(read({"id": 1, "data": {"image": "a.png"}, "annotations": unnamed}))
    assert f"; found 2: $[0].annotations[{at}] is read, $[0].annotations[{1 - at}] left out. " in said


def test_of_several_models_one_is_read() -> None:
    made = [{"model_version": name, "result": [region(name)]} for name in ("m1", "m2")]
    tasks = [{"id": at, "data": {"image": f"{at}.png"}, "predictions": made} for at in range(2)]
    source = read(*tasks)
    assert (source.model, source.labels, len(source.boxes)) == ("m1", ("m1",), 2)
    assert warned(source) == [
        'l.json: $[0].predictions[1]: predictions of one model_version are read (Label Studio); found "m1", and "m2" '
        "2 times, which are left out. Export the predictions of one model to compare another."
    ]


def test_a_turned_rectangle_keeps_its_outline() -> None:
    # An eighth of a turn on a page twice as high as wide: corners at 100 x 50 pixels, clockwise on screen.
    source = read(task(region(x=50, y=50, width=20, height=0, rotation=45)))
    (ring,) = source.boxes.polygons[0]
    along = 40 * 0.5**0.5
    assert ring[1] == pytest.approx([(100 + along) / 200, (200 + along) / 400])
    assert source.boxes.xyxy[0] == pytest.approx([0.5, 0.5, (100 + along) / 200, (200 + along) / 400])


AT = "$[0].annotations[0].result[0]"
AGAIN = "Export the file again."
WRONG = [
    (task(region(width=-5)), f"{AT}.value: width and height must not be negative (LS); found [-5, 25]. Correct the "
     "region, or remove it."),
    (task(region(x="10")), f'{AT}.value.x: x must be a finite number (LS); found "10". Correct it.'),
    (task(region(x=True)), f"{AT}.value.x: x must be a finite number (LS); found true. Correct it."),
    (task(region(x=None)), f"{AT}.value.x: x must be a finite number (LS); found null. Correct it."),
    (task(region(x=float("nan"))), f"{AT}.value.x: numbers must be finite and fit float64 (RFC 8259, section 6); found "
     "NaN. Correct it."),
    (task(region(" ")), f'{AT}: a region must have a label (LS); found " ". Label it, or remove it.'),
    (task(region(rotation=5, more={"original_width": 0})), f"{AT}: a region that is turned must have original_width "
     "and original_height above 0 (LS); found rotation 5 without. Write the size of the image in pixels."),
    (task(region(more={"image_rotation": 90})), f"{AT}: the image must not be turned in the editor, image_rotation "
     "must be 0 (LS); found 90. Turn the image back, and export the file again."),
    (task(region(more={"type": "polygonlabels", "value": {"points": [[1, 2], [3, 4]], "polygonlabels": ["a"]}})),
     f"{AT}.value.points: a polygon must have at least 3 points (LS); found [[1,2], [3,4]]. Correct the polygon, or "
     "remove it."),
    (task(region(points=[1, 2, 3])),
     f"{AT}.value.points: points must be a list of pairs of numbers (LS); found [1, 2, 3]. {AGAIN}"),
    (task(region(more={"value": 5})), f"{AT}.value: value must be an object (LS); found 5. {AGAIN}"),
    (task(region(more={"type": None})), f"{AT}: a result must have a type (LS); found null. {AGAIN}"),
    (task(annotations=[{"id": 5}]), "$[0].annotations[0]: an annotation or prediction must have a result, also an "
     f'empty one (LS); found {{"id":5}}. {AGAIN}'),
    (task(5), f"{AT}: each of result must be an object (LS); found 5. {AGAIN}"),
    (task(region(more={"item_index": -1}), data={"pages": ["a", "b"]}), f"{AT}: item_index must be a whole number "
     "from 0 (LS); found -1. Correct the page."),
    (task(annotations=5), f"$[0].annotations: annotations must be a list (LS); found 5. {AGAIN}"),
    (7, f"$[0]: each of the tasks must be an object (LS); found 7. {AGAIN}"),
]  # fmt: skip


@pytest.mark.parametrize(("value", "sentence"), WRONG)
def test_sentences(value: object, sentence: str) -> None:
    # A value that is no object has no numbers either, and a list that is none has no annotation: more is said then.
    assert refused(value)[0] == f"l.json: {sentence.replace('(LS)', '(Label Studio)')}"


def test_other_top_levels() -> None:
    assert len(read(task(annotations={})).boxes) == 0
    assert reading.refused(ROW, b"5", "l.json") == [
        f"l.json: $: the tasks must be a list (Label Studio); found 5. {AGAIN}"
    ]


def test_a_document_of_two_tasks_is_refused() -> None:
    assert refused(task(), task(key=2)) == [
        'l.json: $[1]: a document must be one task (Label Studio); found "a.png", as in $[0]. Keep one of the tasks.'
    ]


def test_regions_without_a_label_are_left_out() -> None:
    source = read(task(region(), region(rectanglelabels=[]), region(rectanglelabels=None)))
    assert len(source.boxes) == 1
    assert warned(source) == [
        "l.json: $[0].annotations[0].result[1]: a region should have a label (Label Studio); found 2 without. They are "
        "left out; label them to have them compared."
    ]


def test_pages_of_a_repeater_are_known_by_their_tags() -> None:
    regions = [region(more={"to_name": "page_0"}), region(more={"to_name": "page_11"})]
    pages = [{"url": f"https://x.org/report_{page}.png"} for page in range(1, 13)]
    source = read({**task(*regions), "data": {"pages": pages}})
    assert [document.doc_id for document in source.documents] == ["report"]
    assert source.boxes.page.tolist() == [0, 11]


@needs_shared
def test_the_export_of_the_world_bank_gives_its_reference() -> None:
    source, reference = (formats.read(real("worldbank", f"labelstudio_{name}.json")) for name in ("raw", "ref"))
    assert rows(source) == rows(reference)
    assert list(source.boxes.ids) == list(reference.boxes.ids)
    assert list(source.page_ids) == list(reference.page_ids)
    assert source.page_index.tolist() == reference.page_index.tolist()
    assert [(each.doc_id, each.name) for each in source.documents] == [
        (each.doc_id, each.name) for each in reference.documents
    ]
    assert (source.labels, source.side, source.issues) == (reference.labels, reference.side, ())


def test_a_key_of_json_min_with_regions_has_nothing_else() -> None:
    tree = json.loads((OWN / "label_studio_min.json").read_bytes())
    tree[0]["label"][1] = 0
    tree[1] |= {"label": "x", "note": ["any"]}
    assert refusal(formats.read_bytes, json.dumps(tree).encode(), "l.json")[:2] == [
        f"l.json: $[0].label[1]: each of label must be an object (Label Studio); found 0. {AGAIN}",
        f'l.json: $[1].label: label must be a list (Label Studio); found "x". {AGAIN}',
    ]
    tree[0]["label"].pop(1)
    tree[1]["label"] = None
    assert len(formats.read_bytes(json.dumps(tree).encode(), "l.json").boxes) == 1


@pytest.mark.parametrize(("content", "quoted"), [("{}", "{}"), ('[{"a": 1}]', '{"a":1}')])
def test_a_record_that_is_neither_a_task_nor_of_json_min_is_refused(content: str, quoted: str) -> None:
    assert refusal(formats.read_bytes, content.encode(), "a.json", format="label-studio") == [
        "a.json: $[0]: a task must have data, and a record of JSON_MIN an id or regions (Label Studio); "
        f"found {quoted}. Export the project as JSON or JSON_MIN."
    ]
    # A record of a task without regions.
    assert len(formats.read_bytes(b'{"id": 1, "image": "a.png"}', "a.json", format="label-studio").boxes) == 0
