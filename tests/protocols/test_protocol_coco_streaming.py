"""COCO in shards of pages: the numbers of the ordinary way to the last digit, and every doubt left to it."""

import contextlib
import itertools
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import BrokenExecutor, Executor, ThreadPoolExecutor
from hashlib import sha256
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluator import project
from evaluator.compare.stored_results import stored_values
from evaluator.data.issues import BadInput
from evaluator.formats import coco as reader
from evaluator.formats import column_cache, limits
from evaluator.formats.base import Reading
from evaluator.formats.coco import shard_rows
from evaluator.formats.coco import stream as coco_stream
from evaluator.metrics import tied_scores
from evaluator.project import OptionError
from evaluator.protocols import coco
from evaluator.protocols.coco import streaming
from evaluator.protocols.coco.streaming import StreamedResult, evaluate_streamed
from evaluator.system.engine import Engine, processes
from tests.engine_work import no_main
from tests.formats.test_readers_coco import NOT_PLAIN, ONE, annotation, instances, result
from tests.protocols.test_protocol_coco import BETWEEN_SIZES, assert_equal_to_official, crowded_set, random_set
from tests.terminal import run_command

Value = dict[str, Any]


@contextlib.contextmanager
def written(truth: object, predictions: object) -> Iterator[tuple[Path, Path]]:
    with tempfile.TemporaryDirectory() as folder:
        paths = Path(folder) / "gt.json", Path(folder) / "dt.json"
        for path, value in zip(paths, (truth, predictions), strict=True):
            path.write_bytes(value if isinstance(value, bytes) else json.dumps(value).encode())
        yield paths


def ordinary(paths: tuple[Path, Path], **options: Any) -> coco.CocoResult:
    truth = reader.FORMAT.read(paths[0].read_bytes(), paths[0].name, Reading(side="ground_truth"))
    predicted = reader.FORMAT.read(paths[1].read_bytes(), paths[1].name, Reading(side="prediction"))
    return coco.evaluate(truth, reader.resolve(predicted, truth), **options)


def streamed(truth: object, predictions: object, step: int = 1 << 20, **options: Any) -> StreamedResult | None:
    with written(truth, predictions) as paths, pytest.MonkeyPatch.context() as patch:
        patch.setattr(coco_stream, "_STEP", step)
        return evaluate_streamed(*paths, **options)


def assert_equal_to_ordinary(
    truth: object,
    predictions: object,
    pages: int = 7,
    executor: Callable[[], Executor] | None = None,
    **options: Any,
) -> StreamedResult:
    """Everything that a result says, and every digit of it."""
    with written(truth, predictions) as paths, Engine(executor) as engine:
        expected = ordinary(paths, **options)
        averages = evaluate_streamed(*paths, pages=pages, error_types=True, engine=engine, **options)
    assert averages is not None
    assert averages.numbers == expected.numbers
    assert averages.per_label == expected.per_label
    for one, other in zip(averages.columns, expected.columns, strict=True):
        assert one.keys() == other.keys()
        for key, column in other.items():
            np.testing.assert_array_equal(one[key], column)
    assert averages.to_json() == expected.to_json()
    assert stored_values(averages) == stored_values(expected)
    assert averages.table() == expected.table()
    return averages


def plain_set(seed: int, **options: Any) -> tuple[Value, list[Value]]:
    """A `random_set` with nothing to be told; ids, names and places of images have orders of their own."""
    truth, results = random_set(seed, **options)
    rng = np.random.default_rng(seed)
    annotations = [truth["annotations"][at] for at in rng.permutation(len(truth["annotations"]))]
    names = rng.permutation(len(truth["images"]))
    images = [{**image, "file_name": f"{name:04d}.png"} for image, name in zip(truth["images"], names, strict=True)]
    return inside_all({**truth, "images": images, "annotations": annotations}, results)


def inside_all(truth: Value, results: list[Value]) -> tuple[Value, list[Value]]:
    """The same with boxes that are in their images and not empty."""
    images = [{**image, "width": 1000, "height": 1000} for image in truth["images"]]
    return {**truth, "images": images, "annotations": [*map(inside, truth["annotations"])]}, [*map(inside, results)]


def inside(row: Value) -> Value:
    """The same with a box that is in the image and not empty."""
    x, y, width, height = row["bbox"]
    return {**row, "bbox": [x + 50.0, y + 50.0, max(width, 4.0), max(height, 4.0)]}


@given(
    seed=st.integers(0, 10**6),
    pages=st.sampled_from([1, 2, 7, 100]),
    step=st.sampled_from([400, 3000, 1 << 20]),
    crowds=st.sampled_from([0.0, 0.3]),
    scores=st.integers(1, 30),
)
def test_any_random_set_has_the_numbers_of_the_ordinary_way(
    seed: int, pages: int, step: int, crowds: float, scores: int
) -> None:
    truth, results = plain_set(seed, crowds=crowds, scores=scores, grid=(4.0, 8.0, 15.7)[seed % 3])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(coco_stream, "_STEP", step)
        assert_equal_to_ordinary(truth, results, pages)


@pytest.mark.parametrize("labels", [1, 2, 3])
def test_the_labels_are_averaged_in_two_parts_of_which_one_may_be_empty(labels: int) -> None:
    truth, results = plain_set(5)
    truth["annotations"], results = (
        [row for row in rows if row["category_id"] <= labels] for rows in (truth["annotations"], results)
    )
    averages = assert_equal_to_ordinary({**truth, "categories": truth["categories"][:labels]}, results, pages=3)
    assert len(averages.labels) == labels
    assert averages.f1 is not None
    assert 0.0 < averages.f1 < 1.0


@pytest.mark.parametrize("iou", [[0.5], [0.75, 0.3, 0.75], [1.0], np.linspace(0.05, 1.0, 64).tolist()])
def test_other_thresholds(iou: list[float]) -> None:
    assert assert_equal_to_ordinary(*plain_set(7), pages=5, iou=iou).iou == tuple(sorted(set(iou)))


HUGE = [0.0, 0.0, 2e5, 2e5]
SETS: dict[str, Callable[[], tuple[Value, list[Value]]]] = {
    "crowds": lambda: plain_set(0, crowds=0.2),
    "many images": lambda: plain_set(11, images=30),
    "more than a hundred predictions of a page and label": lambda: inside_all(*crowded_set(1)),
    "a prediction between sizes, matched anew for each size": lambda: BETWEEN_SIZES,
    "a prediction too large for any size": lambda: (
        instances(
            annotation(bbox=HUGE, area=5000.0), images=[{"id": 7, "width": 2e5, "height": 2e5, "file_name": "a.png"}]
        ),
        [result(bbox=HUGE), result(bbox=[1, 1, 2e5 - 1, 2e5 - 1])],
    ),
}


@pytest.mark.parametrize("name", SETS)
def test_the_numbers_are_those_of_pycocotools(name: str) -> None:
    sets = SETS[name]()
    official = assert_equal_to_official(*sets)
    for pages in (1, 2, 7, 29, 1000):
        assert assert_equal_to_ordinary(*sets, pages).numbers == official.numbers


def test_a_prediction_too_large_for_any_size_counts_where_it_matched() -> None:
    counts = assert_equal_to_ordinary(*SETS["a prediction too large for any size"]()).by_document.thresholds[0.5]
    assert [column.tolist() for column in counts] == [[1], [0], [0]]


def test_sides_without_rows() -> None:
    truth, results = plain_set(3)
    assert assert_equal_to_ordinary(truth, results[:1]).pages == 12
    # Nothing in an empty list says that it is COCO.
    assert_left_to_the_ordinary_way(truth, [])
    # An empty array of annotations may be any array; the ordinary reader looks for it.
    assert streamed({**truth, "annotations": []}, results) is None


def test_what_surrounds_the_annotations_may_stand_anywhere(monkeypatch: pytest.MonkeyPatch) -> None:
    truth, results = plain_set(5)
    orders = (("annotations", "images", "categories"), ("images", "annotations", "categories", "info"), tuple(truth))
    values = {**truth, "info": {"annotations": "none", "text": "}] ü"}}
    # Each order with and without indentation, in small steps and in one, in turns.
    for place, (order, indent) in enumerate(itertools.product(orders, (None, 1))):
        text = json.dumps({key: values[key] for key in order}, indent=indent, ensure_ascii=False).encode()
        monkeypatch.setattr(coco_stream, "_STEP", (400, 1 << 20)[(place + place // 2) % 2])
        assert_equal_to_ordinary(b" \n" + text + b"\n\n", json.dumps(results, indent=indent).encode() + b" ")


def test_the_digest_is_that_of_the_bytes() -> None:
    sides = [json.dumps(value).encode() for value in plain_set(1)]
    averages = streamed(*sides, step=300)
    assert [averages.ground_truth.sha256, averages.prediction.sha256] == [sha256(side).hexdigest() for side in sides]


def test_processes_that_are_lost_again_and_again_leave_it_to_the_ordinary_way(monkeypatch: pytest.MonkeyPatch) -> None:
    class Lost(ThreadPoolExecutor):
        def submit(self, *_given: object) -> Any:  # type: ignore[override]
            raise BrokenExecutor

    monkeypatch.setattr(streaming, "_LARGE", 0)
    assert streamed(*plain_set(3), engine=Engine(Lost)) is None


def test_large_files_are_left_to_processes_and_small_ones_are_not(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[Executor] = []

    def noted() -> Executor:
        made.append(processes())
        return made[-1]

    assert streamed(*plain_set(3), engine=Engine(noted)) is not None
    assert not made
    monkeypatch.setattr(streaming, "_LARGE", 0)
    monkeypatch.setattr("evaluator.system.engine.processors", lambda: 1)
    with no_main():
        assert_equal_to_ordinary(*plain_set(3), executor=noted)
    assert len(made) == 1


ODD_TRUTHS = (
    annotation(segmentation=[[0, 0, 5, 0, 5, 5]]),
    annotation(segmentation=[]),
    annotation(note="}, {"),
    annotation(score=0.5),
    annotation(ignore=1),
    annotation(iscrowd=2),
    annotation(area=-1.0),
    annotation(id=2**63),
    annotation(image_id=8),
    annotation(category_id=5),
    annotation(bbox=[0, 0, 0, 5]),
    annotation(bbox=[0, 0, -1, 5]),
    annotation(bbox=[0, 0, 1e200, 1e200]),
    annotation(bbox=[0, 0, 5000, 5]),
    annotation(bbox=[-5, 0, 10, 10]),
    *({key: value for key, value in annotation().items() if key != left_out} for left_out in ("area", "iscrowd", "id")),
)
ODD_FRAMES: tuple[Value, ...] = (
    {"images": [{"id": 7, "file_name": "a.png"}]},
    {"images": [{"id": 7, "width": 0, "height": 5, "file_name": "a.png"}]},
    {"images": [{"id": 7, "width": 300, "height": 300}] * 2},
    {"images": [{"id": 7, "width": 300, "height": 300, "file_name": f"{folder}/a.png"} for folder in "ab"]},
    {"images": [{"id": row, "width": 300, "height": 300, "doc": "a", "page": 1} for row in (7, 8)]},
    {"images": [{"id": 7, "width": 300, "height": 300, "doc": "a", "page_no": 0}]},
    {"images": [{"id": "7", "width": 300, "height": 300}]},
    {"images": [{"id": 2**64, "width": 300, "height": 300}]},
    {"images": None},
    {"categories": [{"id": 2, "name": ""}]},
    {"categories": [{"id": 2, "name": "a"}, {"id": 3, "name": "a"}]},
    {"categories": [{"id": 2, "name": "a"}, {"id": 2, "name": "b"}]},
    {"categories": [{"id": row, "name": str(row)} for row in range(limits.MAX_LABELS + 1)]},
)


def said(truth: object, predictions: object, *, page_ranges: bool) -> Any:
    """What an evaluation says: its values and issues, or the issues that stop it."""
    with written(truth, predictions) as paths:
        options = {"page_ranges": True} if page_ranges else {}
        try:
            (evaluated,) = project.evaluate("coco", paths[0], [paths[1]], **options)
        except BadInput as problem:
            return problem.issues
    return evaluated.to_json()


def assert_left_to_the_ordinary_way(truth: object, predictions: object) -> None:
    assert streamed(truth, predictions) is None
    assert said(truth, predictions, page_ranges=True) == said(truth, predictions, page_ranges=False)


@pytest.mark.parametrize("odd", ODD_TRUTHS, ids=str)
def test_odd_annotations(odd: Value) -> None:
    plain = annotation(id=5)
    for rows in ([odd, plain], [plain, odd]):
        # The last key decides nothing when all annotations lack it: then they are alike.
        assert streamed(instances(*rows), [result()]) is None
    assert_left_to_the_ordinary_way(instances(plain, odd, annotation(id=6)), [result()])


def test_annotations_that_are_all_without_ids_or_crowds_are_plain() -> None:
    for key in ("id", "iscrowd"):
        rows = [{name: value for name, value in annotation(id=row + 1).items() if name != key} for row in range(3)]
        assert_equal_to_ordinary(instances(*rows), [result()])


@pytest.mark.parametrize("ids", [[1, 1], [2, 5, 1, 2], [1, 2, 3, 4, 1]])
def test_annotation_ids_that_occur_twice(ids: list[int]) -> None:
    truth = instances(*(annotation(id=number) for number in ids))
    assert streamed(truth, [result()], step=100) is None
    assert_left_to_the_ordinary_way(truth, [result()])


@pytest.mark.parametrize("frame", ODD_FRAMES, ids=lambda frame: str(frame)[:60])
def test_odd_images_and_categories(frame: Value) -> None:
    assert_left_to_the_ordinary_way(instances(annotation(), **frame), [result()])


@pytest.mark.parametrize(
    "odd",
    [
        result(score=1.5),
        result(score=-0.25),
        result(bbox=[0, 0, 5, 0]),
        result(bbox=[0, 0, 5, -1]),
        result(bbox=[0, 0, 500, 5]),
        result(image_id=8),
        result(category_id=9),
        result(category_name="Table"),
        result(category_name="Text"),
        result(category_id=9, category_name="Table"),
        result(segmentation={"counts": "ab", "size": [1, 2]}),
        {key: value for key, value in result().items() if key != "score"},
    ],
    ids=str,
)
def test_odd_results(odd: Value) -> None:
    for rows in ([odd], [result(), odd]):
        assert streamed(instances(annotation()), rows) is None
    assert_left_to_the_ordinary_way(instances(annotation()), [odd, result()])


def test_a_results_list_that_was_loaded_once_has_keys_of_annotations() -> None:
    rows = [result(id=row, area=3.0, iscrowd=0) for row in range(3)]
    assert_equal_to_ordinary(instances(annotation()), rows)


ONE_IMAGE = instances(annotation(image_id=1), images=[{"id": 1, "width": 9, "height": 9, "file_name": "a.png"}])


@pytest.mark.parametrize("odd", NOT_PLAIN)
def test_records_that_are_not_plain_numbers(odd: bytes) -> None:
    for rows in ([ONE, odd, ONE], [ONE, odd], [odd, ONE]):
        for step in (1, 100, 1 << 20):
            assert streamed(ONE_IMAGE, b"[%b]" % b", ".join(rows), step) is None


@pytest.mark.parametrize(
    "text",
    [
        b"", b" ", b"[", b"]", b"[]]", b"[[]]", b"[ ]", b"{}", b"null", b"\xef\xbb\xbf[%b]" % ONE, b"[%b" % ONE,
        b"[%b,]" % ONE, b"[,%b]" % ONE, b"[%b]\0" % ONE, b"[%b\0]" % ONE, b"[%b, \0 %b]" % (ONE, ONE),
        b"[%b} {%b]" % (ONE, ONE), b"[%b\xff]" % ONE, b"[%b]" % ONE.replace(b"image_id", b"im\\u0061ge_id"),
        b"[%b]" % b",".join([ONE.replace(b": ", b":\x0b")] * 2), b"[%b]" % b" ,".join([ONE] * 2),
        b"[%b %b]" % (ONE, ONE), b"[\xef\xbb\xbf%b]" % ONE, b"[%b, \xef\xbb\xbf%b]" % (ONE, ONE),
    ],
)  # fmt: skip
def test_texts_that_are_not_plain(text: bytes) -> None:
    assert [streamed(ONE_IMAGE, text, step) for step in (1, 100)] == [None, None]
    assert_left_to_the_ordinary_way(ONE_IMAGE, text)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b'"categories"', b'"images"'),
        (b'"categories"', b'"annotations"'),
        (b'"annotations": [', b'"annotations": [], "annotations": ['),
        (b'"annotations"', b'"annotations": {}, "x"'),
        (b'"file_name"', b'"id": 9, "file_name"'),
        (b"scans", b"\xff"),
        (b"scans", b"\\ud800"),
        (b"scans", b"\0"),
        (b'{"images"', b'{"label_map": {}, "page_index": 0, "images"'),
        (b'{"images"', b'\xef\xbb\xbf{"images"'),
    ],
)
def test_frames_that_are_not_plain(old: bytes, new: bytes) -> None:
    text = json.dumps(instances(annotation())).encode()
    assert old in text
    assert_left_to_the_ordinary_way(text.replace(old, new, 1), [result()])


@given(data=st.data(), step=st.sampled_from([1, 150, 1 << 20]), side=st.sampled_from([0, 1]))
def test_damaged_files_have_the_numbers_of_the_ordinary_way_or_none(data: st.DataObject, step: int, side: int) -> None:
    rows = [annotation(id=row + 1, bbox=[row, 0, 30, 40], image_id=(3, 7)[row % 2]) for row in range(4)]
    results = [result(image_id=(3, 7)[row % 2], score=row / 4, bbox=[row, 1, 30, 40]) for row in range(4)]
    texts = [bytearray(json.dumps(value).encode()) for value in (instances(*rows), results)]
    pieces = [b"", *b'1e999 " [ ] } { null NaN \\ {} , 9 \0 }, }]'.split(b" ")]
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(texts[side]) - 1))
        texts[side][at : at + data.draw(st.integers(0, 3))] = data.draw(st.sampled_from(pieces))
    with pytest.MonkeyPatch.context() as patch, written(*map(bytes, texts)) as paths:
        patch.setattr(coco_stream, "_STEP", step)
        averages = evaluate_streamed(*paths, pages=1)
        if averages is not None:
            expected = ordinary(paths)
            assert averages.to_json() == {**expected.to_json(), "error_types": None}
            assert not expected.matching.dataset.ground_truth.source.issues
            assert not expected.matching.prediction.source.issues


@pytest.mark.parametrize("iou", [[], [0.0], [1.1], [float("nan")], np.linspace(0.01, 1.0, 65).tolist()])
def test_thresholds_that_are_left_to_the_ordinary_way(iou: list[float]) -> None:
    assert streamed(*plain_set(0), iou=iou) is None


def test_paths_that_are_no_files(tmp_path: Path) -> None:
    with written(*plain_set(0)) as (truth, predictions):
        for odd in (tmp_path, tmp_path / "missing", Path("/dev/null"), Path("a\0b")):
            assert evaluate_streamed(odd, predictions) is None
            assert evaluate_streamed(truth, odd) is None
        assert evaluate_streamed(predictions, predictions) is None
        assert evaluate_streamed(truth, truth) is None
        # Read as a file of another format, although it would do.
        predictions.write_bytes(b"<document>" + predictions.read_bytes())
        assert evaluate_streamed(truth, predictions) is None


@pytest.mark.parametrize("which", [0, 1])
def test_a_file_that_is_cut_off_while_it_is_read(which: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(coco_stream, "_STEP", 300)
    with written(*plain_set(1)) as paths:
        size, read = paths[which].stat().st_size, coco_stream._File.bytes

        def cut_then_read(file: coco_stream._File, start: int, stop: int) -> bytes:
            # Beyond the first look at the end, so that only the way through finds it.
            if file.size == size and 1000 < start < size // 2:
                with paths[which].open("r+b") as other:
                    other.truncate(size // 2)
            return read(file, start, stop)

        monkeypatch.setattr(coco_stream._File, "bytes", cut_then_read)
        assert evaluate_streamed(*paths) is None
        assert paths[which].stat().st_size == size // 2


def test_a_file_beyond_the_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    truth, results = plain_set(1)
    for name, limit in (("MAX_FILE_BYTES", 100), ("MAX_BOXES", len(truth["annotations"]) - 1)):
        with monkeypatch.context() as patch:
            patch.setattr(limits, name, limit)
            assert streamed(truth, results) is None
    assert streamed(truth, results, step=400) is not None
    monkeypatch.setattr(coco_stream, "_MOST_AROUND", 500)
    assert streamed(truth, results, step=400) is None


def test_a_disk_that_is_full(monkeypatch: pytest.MonkeyPatch) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("this system has no device that is always full")
    monkeypatch.setattr(shard_rows, "place_of", lambda _folder, _side, _shard: Path("/dev/full"))
    assert streamed(*plain_set(1)) is None


@pytest.mark.parametrize("problem", [OSError, ZeroDivisionError])
def test_the_temporary_folder_is_gone_after_an_error(
    problem: type[Exception], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    there: list[int] = []

    def broken(*_given: Any) -> Any:
        there.append(len(list(tmp_path.rglob("*.rows"))))
        raise problem

    monkeypatch.setattr(shard_rows.Results, "rows", broken)
    with contextlib.suppress(ZeroDivisionError):
        assert streamed(*plain_set(1)) is None
    assert there
    assert not list(tmp_path.iterdir())


def test_an_error_of_ours_is_no_doubt(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_given: Any, **_more: Any) -> Any:
        raise ZeroDivisionError

    monkeypatch.setattr(coco_stream, "_placed", broken)
    with pytest.raises(ZeroDivisionError):
        streamed(*plain_set(1))


def run(capsys: pytest.CaptureFixture[str], paths: tuple[Path, Path], *words: str) -> tuple[int, str, str]:
    return run_command(capsys, "evaluate", "coco", "--gt", paths[0], "--pred", paths[1], *words)


@pytest.mark.parametrize(
    "words", [(), ("--json",), ("--csv",), ("--markdown",), ("--iou", "0.5:0.6:0.05"), ("--format", "coco")]
)
def test_the_terminal_says_the_same(capsys: pytest.CaptureFixture[str], words: tuple[str, ...]) -> None:
    truth, results = plain_set(4)
    odd = {**truth, "images": [{**image, "width": 100} for image in truth["images"]]}
    broken = {**truth, "annotations": [{**row, "area": -1} for row in truth["annotations"]]}
    # What is said of a file stands beside its numbers, whatever their form.
    told = () if words else ((odd, 0), (broken, 2))
    for value, code in ((truth, 0), *told):
        with written(value, results) as paths:
            expected = run(capsys, paths, *words)
            for ranges in (("--page-ranges",), ("--page-ranges", "3")):
                assert run(capsys, paths, *words, *ranges) == expected
            assert expected[0] == code
    assert words != ("--json",) or json.loads(expected[1])["error_types"] is not None


@pytest.mark.parametrize(
    "options",
    [
        {"labels": ("label 1",)}, {"min_score": 0.5}, {"min_area": 0.5}, {"polygons": True}, {"map_label": {"a": "b"}},
        {"as_reference": True}, {"format": "snapshot"},
    ],
    ids=lambda options: next(iter(options)),
)  # fmt: skip
def test_options_that_need_boxes_are_refused(options: dict[str, Any]) -> None:
    option = next(iter(options)).replace("_", "-")
    with pytest.raises(OptionError, match=f"^--page-ranges goes with --iou alone, and not with --{option}$"):
        project.evaluate("coco", Path("gt.json"), [Path("dt.json")], page_ranges=True, **options)


def test_folders_and_comparisons_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(OptionError, match=f"^--page-ranges reads files, and {tmp_path.name} is a folder$"):
        project.evaluate("coco", tmp_path, [Path("dt.json")], page_ranges=True)
    sentence = r"^--page-ranges leaves no boxes to compare; it belongs to layoutscope evaluate$"
    with pytest.raises(OptionError, match=sentence):
        project.evaluate_together("coco", Path("gt.json"), [Path("dt.json")], page_ranges=True)
    code, _, said_wrong = run(capsys, (tmp_path, tmp_path), "--page-ranges", "--findings", "store")
    assert code == 2
    assert "--page-ranges leaves no boxes that --findings could correct; choose one of them." in said_wrong


@pytest.mark.parametrize("iou", [(0.0,), (1.5,)])
def test_thresholds_that_make_no_sense_are_told_as_ever(iou: tuple[float]) -> None:
    with written(*plain_set(0)) as paths:
        for page_ranges in (None, True):
            with pytest.raises(OptionError, match=rf"^--iou must have numbers above 0, up to 1; found \[{iou[0]}\]$"):
                project.evaluate("coco", paths[0], [paths[1]], iou=iou, page_ranges=page_ranges)


def test_each_model_goes_its_own_way(tmp_path: Path) -> None:
    truth, results = plain_set(6)
    odd = tmp_path / "odd.json"
    odd.write_text(json.dumps([{**row, "score": row["score"] + 2.0} for row in results]))
    with written(truth, results) as (gt, dt):
        both = project.evaluate("coco", gt, [dt, odd], page_ranges=True)
    assert [type(one.result) for one in both] == [StreamedResult, coco.CocoResult]
    (ties,) = both[0].issues
    assert ties.rule == tied_scores.RULE
    assert [msgspec.structs.replace(one, file="dt.json") for one in both[1].issues[1:]] == [ties]
    assert both[0].result.to_json()["AP"] == both[1].result.to_json()["AP"]


def good_set() -> tuple[Value, list[Value]]:
    truth, results = plain_set(4, crowds=0.0)
    keys = ("image_id", "category_id", "bbox")
    copies = [{**{key: row[key] for key in keys}, "score": 0.5} for row in truth["annotations"]]
    return truth, copies + results[: len(copies) // 2]


def test_a_table_needs_no_boxes_and_everything_else_does() -> None:
    truth, results = good_set()
    with written(truth, results) as paths:
        (table,) = project.evaluate("coco", paths[0], [paths[1]], boxes=False)
        (whole,) = project.evaluate("coco", paths[0], [paths[1]])
        filtered = project.evaluate("coco", paths[0], [paths[1]], boxes=False, min_score=0.1)
        two = project.evaluate("coco", paths[0], [paths[1]] * 2, boxes=False)
    assert isinstance(table.result, StreamedResult)
    assert isinstance(whole.result, coco.CocoResult)
    assert (table.result.table(), table.issues) == (whole.result.table(), whole.issues)
    assert table.result.f1 == whole.result.first.micro.row(0)["f1"]
    assert {type(one.result) for one in (*filtered, *two)} == {coco.CocoResult}


def test_where_little_matches_or_something_is_odd_the_boxes_are_looked_at() -> None:
    truth, results = good_set()
    # Everything is predicted again where nothing is: F1 falls below a half.
    away = [{**row, "bbox": [900.0, 900.0, 5.0, 5.0]} for row in results]
    odd = [{**row, "score": 1.5} for row in results]
    for predictions in (results + away * 2, results + away * 5, odd):
        with written(truth, predictions) as paths:
            (one,) = project.evaluate("coco", paths[0], [paths[1]], boxes=False)
            (other,) = project.evaluate("coco", paths[0], [paths[1]])
        assert isinstance(one.result, coco.CocoResult)
        assert (one.result.table(), one.issues) == (other.result.table(), other.issues)


def test_columns_that_are_kept_are_used(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("LAYOUTSCOPE_CACHE", str(tmp_path))
    monkeypatch.setattr(column_cache, "SMALLEST", 0)
    with written(*good_set()) as paths:
        (first,) = project.evaluate("coco", paths[0], [paths[1]], boxes=False)
        (whole,) = project.evaluate("coco", paths[0], [paths[1]])
        (again,) = project.evaluate("coco", paths[0], [paths[1]], boxes=False)
        shutil.rmtree(tmp_path)
        (last,) = project.evaluate("coco", paths[0], [paths[1]], boxes=False)
    kinds = [type(one.result) for one in (first, whole, again, last)]
    assert kinds == [StreamedResult, coco.CocoResult, coco.CocoResult, StreamedResult]


@pytest.mark.parametrize(("page_ranges", "pages"), [(True, 1_000), (1, 1), (3, 3)])
def test_page_ranges_are_the_size_of_a_part(
    monkeypatch: pytest.MonkeyPatch, page_ranges: bool | int, pages: int
) -> None:
    sizes: list[int] = []
    plan = streaming.plan
    monkeypatch.setattr(streaming, "plan", lambda document, size: (sizes.append(size), plan(document, size))[1])
    with written(*good_set()) as paths:
        project.evaluate("coco", paths[0], [paths[1]], page_ranges=page_ranges)
    assert sizes == [pages]


# The command, which waits when both sides are packed.
WAITS = """
import sys, time
from evaluator import cli
from evaluator.protocols.coco import streaming
def wait(_boxes):
    print("packed", file=sys.__stdout__, flush=True)
    time.sleep(600)
streaming._check_pair_counts = wait
cli.main()
"""


def test_a_command_that_is_told_to_end_leaves_no_folder(tmp_path: Path) -> None:
    with written(*plain_set(7)) as (gt, dt):
        words = ["evaluate", "coco", "--gt", str(gt), "--pred", str(dt), "--page-ranges", "1"]
        with subprocess.Popen(
            [sys.executable, "-c", WAITS, *words], env={**os.environ, "TMPDIR": str(tmp_path)}, stdout=subprocess.PIPE
        ) as process:
            assert process.stdout.readline() == b"packed\n"
            assert list(tmp_path.glob("layoutscope-*/*"))
            process.send_signal(signal.SIGTERM)
    assert process.returncode == 143
    assert list(tmp_path.iterdir()) == []


def test_a_page_with_too_many_boxes_is_left_to_the_ordinary_way(monkeypatch: pytest.MonkeyPatch) -> None:
    truth, results = good_set()
    assert streamed(truth, results) is not None
    monkeypatch.setattr(streaming, "most_pairs", lambda _boxes: 3)
    assert streamed(truth, results) is None


def test_two_files_of_one_name_are_told_apart(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    truth, results = plain_set(4)
    with written(truth, results) as (gt, pred):
        paths = [tmp_path / name / "pred.json" for name in ("a", "b")]
        for path in paths:
            shutil.copytree(pred.parent, path.parent)
            (path.parent / "dt.json").rename(path)
        _, printed, _ = run(capsys, (gt, paths[0]), "--pred", str(paths[1]), "--page-ranges", "--json")
    assert [one["predictions"]["name"] for one in json.loads(printed)] == ["a/pred.json", "b/pred.json"]
