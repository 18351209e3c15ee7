"""COCO files: columns of good ones, and the exact sentence for each way to be wrong.

Every good file is read on both paths; they must agree in every column.
"""

import contextlib
import itertools
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluator import formats
from evaluator.analysis.doctor.match_check import with_fixes
from evaluator.data.dataset import Annotations, join, map_labels
from evaluator.data.fixes import Fix
from evaluator.data.issues import BadInput
from evaluator.formats import coco
from evaluator.formats.base import Reading
from evaluator.formats.coco import Coco
from evaluator.formats.coco import chunks as coco_pieces
from evaluator.formats.coco import shape as coco_shape
from tests.building import box, ground_truth
from tests.model_outputs import changed, paths
from tests.reading import head, outlines, plain, refusal, walked, warned

Value = dict[str, Any]


def annotation(**given: Any) -> Value:
    return {"id": 1, "image_id": 7, "category_id": 2, "bbox": [10, 20, 30.5, 40], "area": 1220.0, "iscrowd": 0} | given


def instances(*annotations: Value, **given: Any) -> Value:
    return {
        "images": [
            {"id": 7, "width": 300, "height": 400, "file_name": "scans/b.png"},
            {"id": 3, "width": 200, "height": 100, "file_name": "scans/a.png"},
        ],
        "categories": [{"id": 2, "name": "Table"}, {"id": 1, "name": "Text"}],
        "annotations": list(annotations),
    } | given


def result(**given: Any) -> Value:
    return {"image_id": 7, "category_id": 2, "bbox": [10, 20, 30.5, 40], "score": 0.75} | given


def encoded(value: object) -> bytes:
    return value if isinstance(value, bytes) else json.dumps(value).encode()


def read(value: object, **given: Any) -> Annotations:
    """Read on the fast path where the file allows it, and on the exact path; both say the same."""
    exact = walked(coco.FORMAT, encoded(value), "gt.json", Reading(**given))
    annotations = coco.FORMAT.read(encoded(value), "gt.json", Reading(**given))
    assert plain(annotations) == plain(exact)
    return annotations


def sentences(value: object, **given: Any) -> list[str]:
    """The issues of a file that cannot be read; both paths give the same."""
    said = refusal(coco.FORMAT.read, encoded(value), "gt.json", Reading(**given))
    assert said == refusal(walked, coco.FORMAT, encoded(value), "gt.json", Reading(**given))
    return said


def resolved(results: list[Value], truth: Value | None = None) -> Annotations:
    return coco.resolve(read(results), read(truth or instances()))


def test_instances_become_columns_in_pixels() -> None:
    source = read(instances(annotation(), annotation(id=9, image_id=3, category_id=1, bbox=[0, 0, 5, 5], area=20)))
    sizes = [[300.0, 400.0], [200.0, 100.0]]
    assert head(source) == ("coco", "ground_truth", "pixels", ["b", "a"], [0, 0], sizes)
    assert (source.labels, source.label_map) == (("Text", "Table"), {"1": "Text", "2": "Table"})
    assert (source.documents[0].path, source.page_ids) == ("scans/b.png", ["7", "3"])
    boxes = source.boxes
    assert boxes.xyxy.tolist() == [[10.0, 20.0, 40.5, 60.0], [0.0, 0.0, 5.0, 5.0]]
    assert boxes.xyxy.dtype == np.float64
    assert (boxes.label.tolist(), boxes.entry.tolist(), boxes.position.tolist()) == ([1, 0], [0, 1], [0, 1])
    assert [None if column is None else column.tolist() for column in (boxes.area, boxes.box_area, boxes.crowd)] == [
        [1220.0, 20.0], [1220.0, 25.0], None,
    ]  # fmt: skip
    assert list(boxes.ids) == ["1", "9"]
    assert np.isnan(boxes.score).all()
    assert (source.issues, source.source_of(1)) == ((), ("gt.json", 1, 1))


def test_the_area_is_that_of_width_and_height_to_the_last_digit() -> None:
    # 0.1 + 0.2 - 0.1 is not 0.2: corners alone would lose the digits that decide ties.
    boxes = read(instances(annotation(bbox=[0.1, 0.1, 0.2, 0.7], area=0.2 * 0.7))).boxes
    assert boxes.box_area[0] == 0.2 * 0.7 != (boxes.xyxy[0, 2] - boxes.xyxy[0, 0]) * 0.7


def test_crowds_and_polygons_are_kept() -> None:
    triangle, square = [0, 0, 5, 0, 5, 5], [1.5, 1, 2, 1, 2, 2, 1, 2]
    rows = (
        annotation(bbox=[0, 0, 5, 5], segmentation=[triangle]), annotation(id=2, iscrowd=1),
        annotation(id=3, bbox=[0, 0, 5, 5], segmentation=[square, triangle]), annotation(id=4, segmentation=[]),
    )  # fmt: skip
    source = read(instances(*rows))
    np.testing.assert_array_equal(source.boxes.crowd, [False, True, False, False])
    ring = [[0.0, 0.0], [5.0, 0.0], [5.0, 5.0]]
    assert outlines(source) == {0: [ring], 2: [[[1.5, 1.0], [2.0, 1.0], [2.0, 2.0], [1.0, 2.0]], ring]}
    assert source.boxes.polygons.get(1) is None
    assert source.issues == ()


def test_an_image_belongs_to_its_document() -> None:
    def pages(*images: Value) -> list[tuple[str, int]]:
        listed = [{"id": row, "width": 9, "height": 9, **image} for row, image in enumerate(images)]
        source = read(instances(images=listed))
        names = [source.documents[code].doc_id for code in source.page_document.tolist()]
        return list(zip(names, source.page_index.tolist(), strict=True))

    assert pages({"doc": "a.pdf"}, {"doc": "b.pdf"}, {"doc": "a.pdf"}) == [("a.pdf", 0), ("b.pdf", 0), ("a.pdf", 1)]
    named = {"doc_name": "a.pdf"}
    assert pages({**named, "page_no": 3}, {**named, "page_no": 1}) == [("a.pdf", 2), ("a.pdf", 0)]
    assert pages({"doc": "a.pdf", "page_index": 4}, {"file_name": "c/x.1.png", "page": 2}) == [("a.pdf", 4), ("x.1", 2)]
    assert pages({"file_name": "C:\\scans\\y.png"}, {}) == [("y", 0), ("1", 0)]


def test_keys_of_other_tools_are_left_alone() -> None:
    value = instances(
        annotation(attributes={"rotated": True, "text": 'a } , { b \\ "'}, precedence=0), info={"year": 2026}
    )
    value["images"][0]["license"] = 1
    value["categories"][0]["supercategory"] = "layout"
    assert coco_shape.decode(encoded(value)) is not None
    assert len(read(value).boxes) == 1


def test_an_empty_file_has_columns_without_rows() -> None:
    source = read(instances(images=[], categories=[]))
    assert (len(source.boxes), source.documents, source.labels) == (0, (), ())
    assert source.boxes.xyxy.shape == (0, 4)


EMPTY = "a results list should have results; found an empty list. Nothing to do if the model found nothing."
UNCLEAR = (
    "none.json: the content must be of a known format; found an empty list, which could be of several. Give it as "
    "predictions of a model that found nothing, or name its format with --format coco."
)


def test_a_list_without_results_takes_everything_from_its_ground_truth() -> None:
    results = read([])
    assert (len(results.boxes), results.side, coco.is_unresolved(results)) == (0, "prediction", True)
    (issue,) = results.issues
    assert (issue.severity, issue.sentence.replace(" (COCO format)", "")) == ("warning", f"gt.json: $: {EMPTY}")
    for truth in (read(instances(annotation())), ground_truth([box(0.1, 0.1, 0.5, 0.5)])):
        resolved = coco.resolve(results, truth)
        assert (resolved.labels, resolved.documents, resolved.unit) == (truth.labels, truth.documents, truth.unit)
        dataset = join(truth, resolved)
        assert (len(dataset.predictions[0]), dataset.pages) == (0, len(truth.page_index))
    with pytest.raises(BadInput, match="a COCO results list needs a COCO ground truth"):
        coco.resolve(results, read([]))


@pytest.mark.parametrize("content", [b"[]", b" [\n]\n", b"\xef\xbb\xbf[ ]"])
def test_an_empty_list_is_read_as_results_where_it_is_given_as_such(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "none.json"
    path.write_bytes(content)
    for how in ({"side": "prediction"}, {"format": "coco"}, {"unscored": True}):
        for source in (formats.read(path, **how), formats.read_bytes(content, "none.json", **how)):  # type: ignore[arg-type]
            assert (source.format, source.side, len(source.boxes)) == ("coco", "prediction", 0)
    for side in (None, "ground_truth"):
        assert refusal(formats.read, path, side=side) == [UNCLEAR]
    with pytest.raises(BadInput, match="must have images, annotations and categories"):
        formats.read(path, side="ground_truth", format="coco")
    with pytest.raises(BadInput, match="snapshot"):
        formats.read(path, side="prediction", format="snapshot")


def test_in_a_folder_an_empty_list_is_left_out(tmp_path: Path) -> None:
    (tmp_path / "none.json").write_bytes(b"[]")
    (tmp_path / "some.json").write_bytes(encoded([result()]))
    source = formats.read(tmp_path, side="prediction")
    assert len(source.boxes) == 1
    assert [issue.found for issue in source.issues] == ['1: "none.json"']


def test_results_take_pages_and_labels_from_their_ground_truth() -> None:
    results = read([result(), result(image_id=3, category_id=1, bbox=[1, 2, 3, 4], score=0.5)])
    assert (results.side, coco.is_unresolved(results)) == ("prediction", True)
    assert (results.labels, results.page_ids, results.label_map) == (("1", "2"), ["3", "7"], {})
    truth = read(instances(annotation()))
    prediction = coco.resolve(results, truth)
    assert not coco.is_unresolved(prediction)
    assert (prediction.labels, prediction.documents) == (truth.labels, truth.documents)
    boxes = prediction.boxes
    assert (boxes.entry.tolist(), boxes.label.tolist(), boxes.document.tolist()) == ([0, 1], [1, 0], [0, 1])
    assert (boxes.score.tolist(), boxes.area, list(boxes.ids)) == ([0.75, 0.5], None, ["0", "1"])
    assert join(truth, prediction).pages == 2
    assert coco.resolve(prediction, truth) is prediction


def test_renamed_labels_meet_their_category_ids() -> None:
    truth = map_labels(read(instances(annotation(), annotation(id=2, category_id=1))), {"Text": "Table"})
    prediction = coco.resolve(read([result(), result(category_id=1)]), truth)
    assert truth.labels == ("Table",)
    assert prediction.boxes.label.tolist() == [0, 0]


def texts(value: Value) -> Value:
    def named(entry: Value) -> Value:
        return {key: f"k{text}" if key == "id" or key.endswith("_id") else text for key, text in entry.items()}

    return {key: [named(entry) for entry in entries] for key, entries in value.items()}


def test_ids_that_are_texts() -> None:
    plain = instances(annotation(), annotation(id=9, image_id=3, category_id=1))
    source, whole = read(texts(plain)), read(plain)
    assert list(source.page_ids) == ["k7", "k3"]
    assert source.label_map == {"k1": "Text", "k2": "Table"}
    assert list(source.boxes.ids) == ["k1", "k9"]
    np.testing.assert_array_equal(source.boxes.xyxy, whole.boxes.xyxy)
    fix = "They are compared as they are written; a number and the same in quotes are one id."
    assert warned(source) == [
        f'gt.json: $.images[0].id: ids of images should be whole numbers (COCO format); found "k7". {fix}',
        f'gt.json: $.categories[0].id: ids of categories should be whole numbers (COCO format); found "k2". {fix}',
        f'gt.json: $.annotations[0].id: ids of annotations should be whole numbers (COCO format); found "k1". {fix}',
    ]
    results = read([result(image_id="k3", category_id="k1")])
    assert (list(results.page_ids), results.labels) == (["k3"], ("k1",))
    assert warned(results)[0] == (
        f'gt.json: $[0].image_id: ids of images should be whole numbers (COCO format); found "k3". {fix}'
    )
    placed = coco.resolve(results, source)
    assert [placed.documents[code].doc_id for code in placed.boxes.document.tolist()] == ["a"]
    assert [placed.labels[code] for code in placed.boxes.label.tolist()] == ["Text"]


def test_numbers_in_quotes_are_the_numbers() -> None:
    source = read(instances(annotation(image_id="7", id="4", category_id="2")))
    assert (list(source.page_ids), list(source.boxes.ids), source.issues) == (["7", "3"], ["4"], ())
    assert coco.resolve(read([result(image_id="7")]), source).boxes.document.tolist() == [0]


def test_texts_that_name_nothing_or_twice_are_said_as_they_are_written() -> None:
    value = texts(instances(annotation(), annotation(image_id=5, category_id=8)))
    value["images"].append(value["images"][0])
    said = [sentence.partition("found ")[2].split(". ")[0] for sentence in sentences(value)]
    assert said[:4] == ['"k7", as $.images[0]', '"k5"', '"k8"', '"k1", as $.annotations[0]']


@pytest.mark.parametrize(("bbox", "spelling"), [(None, "bbox null"), ([], "bbox []")])
def test_an_empty_bbox_is_that_of_the_outline(bbox: object, spelling: str) -> None:
    source = read(instances(annotation(bbox=bbox, segmentation=[[1, 1, 5, 1, 5, 9]])))
    assert source.boxes.xyxy.tolist() == [[1, 1, 5, 9]]
    assert warned(source) == [
        "gt.json: $.annotations[0]: an entry without bbox has the box around its segmentation, as in pycocotools; "
        f"found {spelling}. Nothing to do, or add the bbox."
    ]


def test_annotations_can_be_given_as_predictions() -> None:
    without = read(instances(annotation()), side="prediction")
    assert (without.side, np.isnan(without.boxes.score).all(), without.issues) == ("prediction", True, ())
    assert read(instances(annotation(score=0.5)), side="prediction").boxes.score.tolist() == [0.5]


def test_big_files_are_cut_between_objects_wherever_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = [{"note": "}, {"}, {"parts": [{"a": 1}, {"b": 2}]}, {}, {"segmentation": [[0, 0, 5, 0, 5, 5]]}]
    rows = [annotation(id=row + 1, bbox=[row, 0, 1, 1], **texts[row % 4]) for row in range(50)]
    for step in (1, 7, 100, 1000):
        monkeypatch.setattr(coco_pieces, "_SMALL_STEP", step)
        for indent in (None, 1):
            source = read(json.dumps(instances(*rows), indent=indent).encode())
            assert source.boxes.xyxy[:, 0].tolist() == list(range(50))


def test_all_but_odd_files_take_the_fast_path() -> None:
    for value in (
        [result()],
        instances(annotation()),
        instances(annotation(segmentation={"counts": "ab\\c", "size": [1, 2]})),
        instances(annotation(), annotation(id=2, score=0.5)),
        [result(id=4, area=3.0), result()],
    ):
        assert coco_shape.decode(encoded(value)) is not None
    for text in (
        *(b"[%b]" % record for record in NOT_PLAIN[:2]),
        b'[{"image_id": 1, "category_id": 2, "bbox": [0, 0, 1, 1], "score": 0.5, "x": 1, "bbox": [0, 0, 2, 2]}]',
        b'{"images": [], "categories": [], "annotations": [], "images": []}',
        b'{"images": [], "categories": [{"id": 1, "id": 2, "name": "a"}], "annotations": []}',
        b'{"images": [{"id": 1, "id": 2}], "categories": [], "annotations": []}',
    ):
        assert coco_shape.decode(text) is None


ONE = b'{"image_id": 1, "category_id": 2, "bbox": [0.5, 0, 1, 1.25], "score": 0.5}'
PLAIN = b'{"image_id": 1, "category_id": 2, "bbox": [0, 0, 1, 1], "score": 0.5}'
NOT_PLAIN = (
    *(PLAIN.replace(old, new) for old, new in (
        (b"0.5", b'0.5, "score": 0.9'), (b"0.5", b'0.5, "sc\\u006fre": 0.9'), (b"0.5", b"NaN"), (b"0.5", b"-Infinity"),
        (b"0.5", b"1e400"), (b"[0, 0, 1, 1]", b"[0, 0, NaN, 1]"), (b"1, 1]", b"1, null]"), (b"1, 1]", b"1]"),
        (b"1, 1]", b"1, 1, 1]"), (b"[0, 0, 1, 1]", b"null"), (b"0.5", b"null"), (b"0.5", b'"0.5"'), (b"0.5", b"true"),
        (b"0.5", b"01.5"), (b"0.5", b"1."), (b"0.5", b".5"), (b"0.5", b"0x1"), (b'_id": 1', b'_id": 1.5'),
        (b'_id": 1', b'_id": 9223372036854775808'), (b', "score": 0.5', b""), (b"0.5", b'0.5, "note": "}, {"'),
        (b"0.5", b'0.5, "parts": [{}, {}]'), (b"0.5", b"0.5,"), (b"0.5", b"0.5 /* good */"),
    )),
    b"{}", b"5", b"[]", b"null", b"", b" ", b'{"image_id": 1',
)  # fmt: skip


ALIKE = (
    b'{"image_id": 1, "category_id": 2, "bbox": [0.5, -1, 12.25, 3], "score": 0.75}',
    b'{"bbox":[0.5,-1,12.25,3],"image_id":1,"score":0.75,"category_id":2}',
    b'{\n "id" : 7,\n "image_id" : 1,\n "category_id" : 2,\n "bbox" : [\n 0.5,\n -1,\n 12.25,\n 3\n ]\n}',
)
"""Records that are read without the decoder where all of an array are spelled like the first."""
SPELLED_OTHERWISE = tuple(
    ALIKE[0].replace(old, new, 1)
    for old, new in (
        (b"image_id", b"image5_id"), (b"image_id", b"5image_id"), (b'"image_id"', b'5"image_id"'),
        (b'"image_id":', b'"image_id"5:'), (b": 1,", b":5 1,"), (b": 1,", b": 1 5,"), (b": 1,", b": ,"),
        (b"[0.5", b"5[0.5"), (b"3]", b"3]5"), (b'"score"', b'-"score"'), (b"0.75}", b"0.75}5"), (b"{", b"5{"),
        (b"0.5", b"00.5"), (b"0.5", b"+0.5"), (b"0.5", b"0.5.5"), (b"0.5", b"-"), (b"0.5", b"Infinity"),
        (b"0.5", b"0.5e"), (b"0.5", b"05e-5"), (b"0.5", b"1e5e5"), (b"0.5", b"1e5.5"), (b"0.5", b"9" * 400),
        (b"[0.5", b"[[0.5"), (b'"score": 0.75', b'"image_id": 1'), (b": 1,", b": 9007199254740993,"), (b", -1", b""),
        (b"image_id", b"imag\\u0065_id"), (b"score", b"image_id"), (b"score", b"note"),
    )
)  # fmt: skip


def pieces_are_plain(text: bytes) -> bool:
    with coco_pieces.ChunkReader(text, 0, len(text)) as reading:
        return reading.columns() is not None


@pytest.fixture
def small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(coco_pieces, "_FEWEST_BYTES", 0)


@pytest.mark.usefixtures("small_pieces")
@pytest.mark.parametrize("odd", [*NOT_PLAIN, *SPELLED_OTHERWISE])
def test_an_odd_record_is_what_the_exact_walk_makes_of_it(odd: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    plain_one = ALIKE[0] if odd in SPELLED_OTHERWISE else ONE
    for step in (1, 1 << 20):
        monkeypatch.setattr(coco_pieces, "_STEP", step)
        for rows in ([plain_one, odd], [plain_one, odd, plain_one], [odd, plain_one], [odd, odd]):
            text = b"[%b]" % b", ".join(rows)
            assert outcome(text) == outcome(text, by=walked)


@pytest.mark.usefixtures("small_pieces")
@pytest.mark.parametrize("record", ALIKE)
def test_records_that_are_spelled_alike_are_read_without_the_decoder(record: bytes) -> None:
    for rows in ([record], [record, record.replace(b"12.25", b"1e-7")], [record] * 5):
        text = b"[ %b\n]" % b",\n".join(rows)
        assert pieces_are_plain(text)
        assert outcome(text) == outcome(text, by=walked)


@pytest.mark.usefixtures("small_pieces")
@pytest.mark.parametrize(
    "text",
    [
        *(b"[%b%b%b]" % (ONE, between, ONE) for between in (
            b"", b" ", b",,", b", ,", b"\x0b,", b",\x0c", b":", b"]", b", 5, ", b"\n", b"},", b"//",
        )),
        *(around % b", ".join([ONE] * 3) for around in (
            b"[,%b]", b"[%b,]", b"[%b", b"%b]", b"[[%b]]", b"[%b]]", b"[%b] 5", b"\x0b[%b]", b"[\x0c%b]",
        )),
    ],
)  # fmt: skip
def test_what_is_no_array_of_records_is_left_to_the_decoder(text: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    for step in (1, 1 << 20):
        monkeypatch.setattr(coco_pieces, "_STEP", step)
        assert coco_shape.decode(text) is None


@pytest.mark.usefixtures("small_pieces")
@pytest.mark.parametrize("indent", [None, 0, 1])
@pytest.mark.parametrize("step", [1, 300, 1 << 20])
def test_plain_pieces_have_the_columns_of_the_exact_walk(
    indent: int | None, step: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(coco_pieces, "_STEP", step)
    scores = [
        0.1, 1 / 3, 5e-324, 1.7976931348623157e308, -0.0, 12345678901234567890, 2**53 + 1, 1e22, 123456.7890625, 3,
    ]  # fmt: skip
    results = [result(image_id=7 - row, bbox=[score / 1e300, -row, row, 1e-5]) for row, score in enumerate(scores)]
    results = [{**row, "score": score} for row, score in zip(results, scores, strict=True)]
    text = json.dumps(results, indent=indent).encode()
    assert pieces_are_plain(text)
    assert read(text).boxes.score.tobytes() == np.array(scores, dtype=np.float64).tobytes()
    rows = [annotation(id=2**62 + row, area=row / 7, iscrowd=row % 2, ignore=row % 3 // 2) for row in range(9)]
    assert len(read(json.dumps(instances(*rows), indent=indent).encode()).boxes) == 9


def test_an_outline_that_is_not_that_of_its_box_is_said() -> None:
    boxes = [[0, 0, 5, 5], [0.4, 0, 5, 5.5], [3, 0, 5, 5], [0, 0, 9, 5]]
    rows = (annotation(id=at, bbox=bbox, segmentation=[[0, 0, 5, 0, 5, 5]]) for at, bbox in enumerate(boxes, 1))
    (issue,) = read(instances(*rows)).issues
    assert (issue.severity, issue.sentence) == (
        "warning",
        "gt.json: $.annotations[2]: segmentation should be the outline of bbox, to 1 px; found [0.0,0.0,5.0,5.0] and "
        "[3.0,0.0,8.0,5.0] and 1 more. Boxes are compared, and outlines on request; correct the other one.",
    )


@pytest.mark.usefixtures("small_pieces")
def test_plain_pieces_and_those_of_the_decoder_make_one_file(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(coco_pieces, "_STEP", 200)
    odd = {5: {"segmentation": [[5, 0, 6, 0, 6, 1]]}, 11: {"note": "x"}, 17: {"iscrowd": 1}, 23: {"ignore": 1}}
    rows = [annotation(id=row + 1, bbox=[row, 0, 1, 1], iscrowd=0) | odd.get(row, {}) for row in range(40)]
    source = read(encoded(instances(*rows)))
    assert source.boxes.xyxy[:, 0].tolist() == list(range(40))
    assert list(source.boxes.polygons) == [5]
    assert np.flatnonzero(source.boxes.crowd).tolist() == [17]
    assert [issue.place for issue in source.issues] == ["$.annotations[23].ignore"]


@pytest.mark.parametrize("order", list(itertools.permutations(("images", "annotations", "categories", "info"))))
def test_annotations_are_found_wherever_they_stand(order: tuple[str, ...]) -> None:
    values = instances(annotation(), annotation(id=2, note=[{"a": 1}])) | {"info": {"annotations": [{"b": [1]}]}}
    for file in ({key: values[key] for key in order}, {"x": '"annotations": [{}]'} | values):
        for indent in (None, 1):
            text = json.dumps(file, indent=indent).encode()
            assert coco_shape.decode(text) is not None
            assert len(read(text).boxes) == 2


def test_a_folder_of_files_is_read_as_one(tmp_path: Path) -> None:
    rows = [annotation(segmentation=[[0, 0, 5, 0, 5, 5]]), annotation(id=2, iscrowd=1, area=3)]
    for number, row in enumerate(rows):
        value = instances(row)
        for image in value["images"]:
            image |= {"id": image["id"] + number, "doc": f"{number}-{image['id']}"}
        value["annotations"][0]["image_id"] += number
        (tmp_path / f"{number}.json").write_bytes(encoded(value))
    merged = formats.read(tmp_path)
    boxes = merged.boxes
    assert head(merged)[2:] == ("pixels", ["0-7", "0-3", "1-7", "1-3"], [0] * 4, [[300, 400], [200, 100]] * 2)
    assert (boxes.crowd.tolist(), boxes.area.tolist()) == ([False, True], [1220.0, 3.0])
    assert (list(boxes.polygons), merged.source_of(1)) == ([0], ("1.json", 0, 0))


def test_unknown_ids() -> None:
    add = "Correct the id, or add it to"
    assert sentences(instances(annotation(image_id=8, category_id=5))) == [
        f"gt.json: $.annotations[0].image_id: image_id must be the id of one of images (COCO format); found 8. {add} "
        "images.",
        f"gt.json: $.annotations[0].category_id: category_id must be the id of one of categories (COCO format); found "
        f"5. {add} categories.",
    ]
    give = "Give the ground truth of these results, or correct the id."
    assert refusal(resolved, [result(), result(image_id=8), result(category_id=5)]) == [
        "gt.json: $[1].image_id: image_id must be an id of gt.json (COCO format); found 8. The ids there are whole "
        f'numbers, as 7 of "scans/b.png"; those of the results are whole numbers. {give}',
        f"gt.json: $[2].category_id: category_id must be an id of gt.json (COCO format); found 5. {give}",
    ]


def test_results_that_name_their_image() -> None:
    for named, sentence in (
        ({"image_id": "b"}, "image_id should be an id of gt.json (COCO format); found b, as the image "
         '"scans/b.png". The ids are used as names of images.'),
        ({"image_id": "b", "file_name": "b.png"}, "image_id should be the id that gt.json has for file_name (COCO "
         'format); found b for "b.png", whose id is 7. The file names are used.'),
    ):  # fmt: skip
        assert warned(resolved([result(**named)]))[-1] == f"gt.json: $: {sentence}"


NOT_THAT_NAME = (
    'found "Tables". The categories there are named as "Text". Correct the name, also by --fix label=OLD=NEW, or '
    "leave out category_name."
)


@pytest.mark.parametrize(
    ("named", "label", "said"),
    [
        ({"category_name": "Table"}, "Table", []),
        ({"category_name": None}, "Table", []),
        ({"category_name": "Text", "category_id": 0}, "Text", [
            "gt.json: $: category_id should be the id that gt.json has for category_name (COCO format); found 0 for "
            '"Text", whose id is 1. The names are used.'
        ]),
    ],
)  # fmt: skip
def test_the_category_name_of_a_result_is_its_label(named: Value, label: str, said: list[str]) -> None:
    source = resolved([result(**named)])
    assert ([source.labels[code] for code in source.boxes.label], warned(source)) == ([label], said)


def test_a_category_name_stands_for_an_id() -> None:
    row = result(category_name="Text")
    del row["category_id"]
    assert formats.detect_bytes(encoded([row]), "a.json") == "coco"
    source = resolved([row, row | {"category_name": "Table"}])
    assert [source.labels[code] for code in source.boxes.label] == ["Text", "Table"]


def test_category_names_that_contradict_ids() -> None:
    assert refusal(resolved, [result(category_name="Text"), result(category_id=1, category_name="Tables")]) == [
        f"gt.json: $[1].category_name: category_name must be that of a category of gt.json; {NOT_THAT_NAME}",
        "gt.json: $[0].category_id: category_id and category_name of a result must be those of one category; "
        'found 2, which is "Table", for "Text". Leave out the one that is wrong.',
    ]
    assert sentences([result(category_name="Text"), result(category_name="Table")]) == [
        'gt.json: $[1].category_name: a category_id must have one category_name (COCO format); found "Table" after '
        '"Text" for 2. Correct the name or the id, or leave out category_name.'
    ]
    assert sentences(instances(annotation(category_name="Table"), annotation(id=2, category_name="Text"))) == [
        "gt.json: $.annotations[1].category_name: category_name must be the name of the category of category_id (COCO "
        'format); found "Text", while 2 is "Table". Correct one of them, or leave out category_name.'
    ]


def test_a_file_name_that_contradicts_the_image_id() -> None:
    rows = [
        annotation(file_name="b.png"),
        annotation(id=2, file_name="other/b.png"),
        annotation(id=3, file_name="a.png"),
    ]
    assert sentences(instances(*rows)) == [
        f"gt.json: $.annotations[{row}].file_name: file_name of an annotation must be that of the image of "
        f'image_id (COCO format); found "{name}", while 7 is "scans/b.png". Correct one of them, or leave out '
        "file_name."
        for row, name in ((1, "other/b.png"), (2, "a.png"))
    ]


@pytest.mark.parametrize("fix", ["label=TEXT=Text", "label=1=Text", "labels=case"])
def test_a_category_name_of_another_spelling_is_fixed(fix: str) -> None:
    kind, _, value = fix.partition("=")
    source = with_fixes(read([result(category_id=1, category_name="TEXT")]), read(instances()), [Fix(kind, value)])
    assert [source.labels[code] for code in source.boxes.label] == ["Text"]


def test_results_in_several_files_name_the_categories_that_they_have(tmp_path: Path) -> None:
    def folder_of(name: str) -> Annotations:
        (tmp_path / "b.json").write_bytes(encoded([result(image_id=3, category_id=1, category_name=name)]))
        return coco.resolve(formats.read(tmp_path), read(instances()))

    (tmp_path / "a.json").write_bytes(encoded([result(category_name="Table"), result(category_name="Table")]))
    source = folder_of("Text")
    assert [source.labels[code] for code in source.boxes.label] == ["Table", "Table", "Text"]
    (tmp_path / "a.json").write_bytes(encoded([result(category_id=1, category_name="Table")]))
    (sentence,) = refusal(folder_of, "Text")
    assert sentence.endswith('; found {"1":"Text"} and {"1":"Table"}. Give all files the same ids and names.')


def test_boxes_that_are_none() -> None:
    value = instances(
        annotation(bbox=[1, 2, -3, 4]),
        annotation(id=2, bbox=[1, 2, 1e200, 1e200], area=-1),
        annotation(id=3, iscrowd=2),
    )
    assert sentences(value) == [
        "gt.json: $.annotations[0].bbox: width and height must not be negative (COCO format); "
        "found [1.0,2.0,-3.0,4.0]. Write x, y of the upper left corner, then width and height.",
        "gt.json: $.annotations[1].bbox: the corners and the area of a box must fit float64; "
        "found [1.0,2.0,1e200,1e200]. Correct the box.",
        "gt.json: $.annotations[1].area: area must not be negative (COCO format); found -1.0. "
        "Write the area in pixels.",
        "gt.json: $.annotations[2].iscrowd: iscrowd must be 0 or 1 (COCO format); found 2. Write 0 or 1.",
    ]


@pytest.mark.parametrize("text", ["NaN", "1e400", '"1"', "true"])
def test_numbers_that_are_none(text: str) -> None:
    value = f'[{{"image_id": 1, "category_id": 2, "bbox": [{text}, 0, 1, 1], "score": 0.5}}]'
    assert sentences(value.encode()) == [
        "gt.json: $[0].bbox: bbox must be four finite numbers, x, y, width, height (COCO format); found "
        f"[{text}, 0, 1, 1]. Write them as [x, y, width, height], without quotes."
    ]


def test_repeated_keys_and_ids() -> None:
    assert sentences(b'[{"image_id": 1, "category_id": 2, "bbox": [0, 0, 1, 1], "score": 0.5, "score": 0.9}]') == [
        'gt.json: $[0].score: a key must not be repeated in one object (RFC 8259, section 4); found "score" 2 times. '
        "Keep one of them."
    ]
    value = instances(annotation(), annotation())
    value["images"][1]["id"] = 7
    value["categories"][1] = {"id": 2, "name": "Table"}
    assert sentences(value) == [
        "gt.json: $.images[1].id: the id of an image must occur once (COCO format); found 7, as $.images[0]. "
        "Give each its own id.",
        "gt.json: $.categories[1].id: the id of a category must occur once (COCO format); found 2, as "
        "$.categories[0]. Give each its own id.",
        'gt.json: $.categories[1].name: two categories must not have one name; found "Table", as $.categories[0]. '
        "Name them apart, or give their annotations one category_id.",
        "gt.json: $.annotations[1].id: the id of an annotation must occur once (COCO format); found 1, as "
        "$.annotations[0]. Give each its own id.",
    ]


def test_missing_and_mistyped_keys() -> None:
    value = instances(annotation(image_id=[7]), {"id": 2, "image_id": 7}, 5)
    value["categories"][0] = {"id": 2}
    del value["annotations"][0]["bbox"]
    assert sentences(value) == [
        'gt.json: $.categories[0]: name is required here (COCO format); found only "id". Add name.',
        'gt.json: $.annotations[0]: bbox is required here (COCO format); found only "id", "image_id", "category_id", '
        '"area", "iscrowd". Add bbox.',
        "gt.json: $.annotations[0].image_id: image_id must be an integer of 64 bits (COCO format); found [7]. "
        "Write the number of the id without quotes.",
        'gt.json: $.annotations[1]: category_id is required here (COCO format); found only "id", "image_id". '
        "Add category_id.",
        'gt.json: $.annotations[1]: bbox is required here (COCO format); found only "id", "image_id". Add bbox.',
        "gt.json: $.annotations[2]: an entry must be an object with image_id, category_id, bbox (COCO format); "
        "found 5. Write it as an object, or remove it.",
        "gt.json: $.annotations[1]: every annotation must have an area (COCO format); found 2 without area. "
        "Width times height of the box is used to distinguish small from large.",
    ]


def test_pages_that_cannot_be() -> None:
    images = [
        {"id": 1, "width": 0, "height": 9, "doc": "a", "page": 0},
        {"id": 2, "width": 9, "height": 9, "doc": "a", "page": 0},
        {"id": 4, "width": 9, "height": 9, "doc": "a"},
    ]
    assert sentences(instances(images=images)) == [
        'gt.json: $.images[1].page: two images must not be the same page of a document; found page 0 of "a", as '
        "$.images[0]. Correct the page, or name the document of each.",
        "gt.json: $.images[2]: all images of a document must give their page by the same key, or none; found null "
        'after "page". Use one key for all.',
        "gt.json: $.images[0].width: width must be above 0 (COCO format); found 0.0. "
        "Write the size of the image in pixels.",
    ]


def test_results_need_scores_and_are_no_ground_truth() -> None:
    value = [result()]
    assert sentences(value, side="ground_truth") == [
        "gt.json: $: a file given as ground truth must have images, annotations and categories (COCO format); "
        "found a results list. Give the instances file here and this one as predictions."
    ]
    del value[0]["score"]
    assert sentences(value) == [
        "gt.json: $[0]: every result must have a score (COCO format). Write the model's confidence."
    ]
    assert refusal(coco.resolve, read([result()]), read([result()])) == [
        "gt.json: a COCO results list needs a COCO ground truth, which has the images and categories; "
        "found gt.json (coco). Give the ground truth of these results."
    ]


def test_a_value_that_is_no_coco_file() -> None:
    assert sentences(b"5") == [
        "gt.json: $: the top level must be an object with images, annotations, categories, or an array of results "
        "(COCO format); found 5. Export the file again in one of the two forms."
    ]
    assert sentences({"images": {}, "annotations": []}) == [
        'gt.json: $: categories is required here (COCO format); found only "images", "annotations". Add categories.',
        "gt.json: $.images: images must be an array (COCO format); found {}. Put the entries in [ ].",
    ]


def test_oddities_are_said_and_nothing_is_changed() -> None:
    source = read(
        instances(
            annotation(bbox=[10, 20, 0, 40], area=0, ignore=1),
            annotation(id=2, bbox=[280, 0, 30, 9], score=0.5),
            annotation(id=3, segmentation={"counts": "x", "size": [1, 2]}),
            annotation(id=4, segmentation=[[1, 2, 3]]),
            {"id": 5, "image_id": 7, "category_id": 2, "bbox": [0, 0, 2, 3]},
        )
    )
    assert warned(source) == [
        "gt.json: $.annotations[0].bbox: a box without width or height overlaps nothing (pycocotools); "
        "found [10.0,20.0,0.0,40.0]. It counts; correct it if it is wrong.",
        "gt.json: $.annotations[4]: every annotation must have an area (COCO format); found 1 without area. "
        "Width times height of the box is used to distinguish small from large.",
        "gt.json: $.annotations: the scores of a ground truth are not used; found score. "
        "Give the file as predictions if it is a model's.",
        "gt.json: $.annotations[0].ignore: ignore is not read; iscrowd marks what is ignored (pycocotools); "
        "found 1 with ignore. They count; use iscrowd.",
        "gt.json: $.annotations[2].segmentation: a run-length mask must have a size and runs that "
        "fill it (COCO format, RLE); found counts must be compressed runs. Its box is used; export the mask again.",
        "gt.json: $.annotations[3].segmentation: an outline must be an array of rings [x1, y1, x2, y2, x3, y3, ...] "
        "(COCO format); found [[1,2,3]]. Its box is used; correct the outline, or leave it out.",
        "gt.json: $.annotations[1].bbox: a box should not leave its image by more than 1 px; "
        "found [280.0,0.0,310.0,9.0] (corners) in 300 x 400. It is compared as it is; check the size of the image.",
    ]
    np.testing.assert_array_equal(source.boxes.area, [0.0, 1220.0, 1220.0, 1220.0, 6.0])
    assert source.boxes.polygons == {}


def test_oddities_of_results() -> None:
    prediction = resolved([result(score=1.5), result(bbox=[-9, 0, 9, 9]), result(bbox=[0, 0, 0, 9])])
    assert warned(prediction) == [
        "gt.json: $[2].bbox: a box without width or height overlaps nothing (pycocotools); found [0.0,0.0,0.0,9.0]. "
        "It counts; correct it if it is wrong.",
        "gt.json: $[0].score: scores are expected to be in [0, 1]; found 1 outside. "
        "They are ranked as they are; thresholds on the score refer to them.",
        "gt.json: $[1].bbox: a box should not leave its image by more than 1 px; found [-9.0,0.0,0.0,9.0] (corners) "
        "in 300 x 400. It is compared as it is; check the size of the image.",
    ]
    assert prediction.boxes.xyxy[1].tolist() == [-9.0, 0.0, 0.0, 9.0]


def test_images_of_one_name_and_pages_from_zero() -> None:
    images = [{"id": 1, "file_name": "x/a.png"}, {"id": 2, "file_name": "y/a.png"}]
    assert warned(read(instances(images=images))) == [
        "gt.json: $.images: images of one name in several folders are read as documents of their own; found "
        '"x/a": "x/a.png", "y/a": "y/a.png". Give the images a key doc if other images belong together.',
        "gt.json: $.images: width and height of every image are needed to draw boxes on a page (COCO format); "
        "found an image without them. Nothing else is lost; add them.",
    ]
    images = [{"id": 1, "width": 9, "height": 9, "doc": "a", "page_no": 0}]
    source = read(instances(images=images))
    assert source.page_index.tolist() == [0]
    assert warned(source) == [
        "gt.json: $.images: page_no counts from 1; found 0. The page_no of this file are read as counted from 0."
    ]


_ROWS = [
    encoded([result(image_id=row, score=row / 7) for row in range(4)]),
    encoded(instances(*[annotation(id=row + 1, bbox=[row, 0, 1, 1]) for row in range(3)])),
    encoded(instances(annotation(segmentation=[[0, 0, 5, 0, 5, 5]]))),
    *(b"[%b]" % b", ".join([record] * 3) for record in ALIKE),
]


@given(data=st.data(), step=st.sampled_from([1, 150, 1 << 20]))
def test_what_pieces_say_is_what_the_exact_walk_says(data: st.DataObject, step: int) -> None:
    content = bytearray(data.draw(st.sampled_from(_ROWS)))
    pieces = [
        b"", b"1e999", b"null", b"NaN", b"true", b"{}", b"\x0b", b"},",
        *(bytes([each]) for each in b'0159.-+eE,:"[]{} \n_ai\\/'),
    ]  # fmt: skip
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(content) - 1))
        content[at : at + data.draw(st.integers(0, 3))] = data.draw(st.sampled_from(pieces))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(coco_pieces, "_FEWEST_BYTES", 0)
        patch.setattr(coco_pieces, "_STEP", step)
        assert outcome(bytes(content)) == outcome(bytes(content), by=walked)


def outcome(content: bytes, by: Callable[..., Annotations] = Coco.read) -> Any:
    try:
        return plain(by(coco.FORMAT, content, "x.json"))
    except BadInput as bad:
        return bad.issues


@pytest.mark.parametrize("by", [Coco.read, walked])
def test_sampled_values_in_every_place(by: Callable[..., Annotations]) -> None:
    values: list[Any] = [None, True, -1, 0, 1.5, 2**70, "x", [], {}, [1], {"a": 1}, float("nan"), "\ud800"]
    for base in ([result()], instances(annotation(segmentation=[[0, 0, 5, 0, 5, 5]]))):
        for at, path in enumerate(paths(base)):
            for value in values[at % 3 :: 3]:
                with contextlib.suppress(BadInput):
                    source = by(coco.FORMAT, encoded(changed(base, *path, to=value)), "x.json")
                    assert np.isfinite(source.boxes.xyxy).all()


@pytest.mark.parametrize(
    ("scores", "side"),
    [((0.5, 0.9), "prediction"), ((0.5, None), "ground_truth"), ((None, None), "ground_truth"), ((), "ground_truth")],
)
def test_an_object_of_which_every_box_has_a_score_is_a_prediction_unless_given_otherwise(
    scores: tuple[float | None, ...], side: str
) -> None:
    boxes = [annotation(id=at, **({} if score is None else {"score": score})) for at, score in enumerate(scores, 1)]
    content = encoded(instances(*boxes))
    assert coco.FORMAT.side_of(content) == formats.read_bytes(content, "a.json").side == side
    assert formats.read_bytes(content, "a.json", side="ground_truth").side == "ground_truth"
    assert coco.FORMAT.side_of(encoded([result()])) == "prediction"
    assert coco.FORMAT.side_of(b"{}") is None
