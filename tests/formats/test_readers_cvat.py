"""CVAT for images: columns of boxes and polygons, and the whole sentence for what is wrong."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from evaluator import formats
from evaluator.data.dataset import Annotations
from evaluator.formats import cvat, limits
from evaluator.formats.base import Reading
from tests.reading import head, needs_shared, outlines, real, refusal, warned


def box(corners: Sequence[object] = (10, 20, 110, 70), label: str = "Table", **more: object) -> str:
    given = dict(zip(("xtl", "ytl", "xbr", "ybr"), corners, strict=True)) | more
    return f'<box label="{label}" {" ".join(f"{key}={str(value)!r}" for key, value in given.items())}/>'


def polygon(points: str = "10,10;90,10;50,60", label: str = "Figure") -> str:
    return f'<polygon label="{label}" points="{points}"/>'


def image(*shapes: str, name: str = "scans/a.png", size: tuple[object, object] = (300, 400), key: int = 0) -> str:
    head = f'<image id="{key}" name="{name}" width="{size[0]}" height="{size[1]}">'
    return "\n".join([head, *shapes, "</image>"])


def file(*images: str) -> bytes:
    return "\n".join(["<annotations>", *images, "</annotations>"]).encode()


def read(content: bytes, **given: Any) -> Annotations:
    return cvat.FORMAT.read(content, "c.xml", Reading(**given))


def refused(content: bytes) -> list[str]:
    return refusal(read, content)


def test_columns() -> None:
    source = read(
        b"<?xml version='1.0' encoding='utf-8'?>\n"
        + file(
            "<version>1.1</version><meta><task><labels><label><name>x</name></label></labels></task></meta>",
            image(box(), polygon(), box((0, 0, 0.5, 1e1), "Text", occluded=1)),
            image(name="b.c.jpg", size=(30, 40.5), key=7),
            image(box(label="Figure"), name="d.png", key=9),
        )
    )
    sizes = [[300, 400], [30, 40.5], [300, 400]]
    assert head(source) == ("cvat", "ground_truth", "pixels", ["a", "b.c", "d"], [0, 0, 0], sizes)
    assert (source.name, source.labels, source.evaluated) == ("c.xml", ("Table", "Figure", "Text"), 3)
    assert [document.path for document in source.documents] == ["scans/a.png", "b.c.jpg", "d.png"]
    assert list(source.page_ids) == ["0", "7", "9"]
    boxes = source.boxes
    assert boxes.xyxy.tolist() == [[10, 20, 110, 70], [10, 10, 90, 60], [0, 0, 0.5, 10], [10, 20, 110, 70]]
    assert boxes.entry.tolist() == boxes.document.tolist() == [0, 0, 0, 2]
    assert (boxes.position.tolist(), boxes.label.tolist()) == ([0, 1, 2, 0], [0, 1, 2, 1])
    assert boxes.ids == ["line 5", "line 6", "line 7", "line 12"]
    assert np.isnan(boxes.score).all()
    assert outlines(source) == {1: [[[10, 10], [90, 10], [50, 60]]]}
    assert source.issues == ()


def test_a_turned_box_is_an_outline() -> None:
    # A quarter of a turn exchanges the sides; an eighth of a turn of a square is on its corner.
    source = read(
        file(image(box((10, 20, 110, 70), rotation="90.00"), box((0, 0, 20, 20), rotation=45), box(rotation=360)))
    )
    assert source.boxes.xyxy[0] == pytest.approx([35, -5, 85, 95])
    assert source.boxes.xyxy[1] == pytest.approx([10 - 200**0.5, 10 - 200**0.5, 10 + 200**0.5, 10 + 200**0.5])
    assert list(source.boxes.polygons) == [0, 1]
    # Clockwise on screen: the upper left corner goes to the upper right.
    assert source.boxes.polygons[0][0][0] == pytest.approx([85, -5])


def test_as_predictions_and_without_regions() -> None:
    source = read(file(image(box())), side="prediction")
    assert (source.side, len(source.boxes)) == ("prediction", 1)
    empty = read(file(image()))
    assert (len(empty.boxes), empty.labels, empty.boxes.xyxy.shape) == (0, (), (0, 4))
    assert len(read(b"<annotations><version>1.1</version></annotations>").page_ids) == 0


def test_the_format_is_told_by_content() -> None:
    content = file(image(box()))
    assert formats.detect_bytes('\ufeff<?xml version="1.0"?>\n'.encode() + content, "b.xml") == "cvat"
    assert not cvat.FORMAT.detect(b'<document filename="a"/>')
    assert not cvat.FORMAT.detect(b'{"annotations": "<annotations><image >"}')
    assert [cvat.FORMAT.side_of(each) for each in (content, b"<annotations/>")] == ["ground_truth", None]


AS_PAIRS = "points must be pairs x,y of finite numbers with semicolons between them (CVAT); found"
WRITE_PAIRS = 'Write them, for example points="10,10;90,10;50,60".'
WRONG = [
    (image(box((10, 20, 5, 70))), "line 3, <box>: xbr must not be less than xtl, nor ybr less than ytl (CVAT); found "
     "[10, 20, 5, 70]. Exchange the corners, or remove the box."),
    (image(box(("nan", 0, 1, 1))), 'line 3, <box>: xtl must be a finite number (CVAT); found "nan". Correct it.'),
    (image(box(rotation="x")), 'line 3, <box>: rotation must be a finite number (CVAT); found "x". Correct it.'),
    (image(polygon("1,2;3,4")), 'line 3, <polygon>: a polygon must have at least 3 points (CVAT); found "1,2;3,4". '
     "Correct the polygon, or remove it."),
    (image(polygon("1,2;3;4,5")), f'line 3, <polygon>: {AS_PAIRS} "3" in "1,2;3;4,5". {WRITE_PAIRS}'),
    (image(polygon("")), f'line 3, <polygon>: {AS_PAIRS} "". {WRITE_PAIRS}'),
    (image(size=("wide", 4)), 'line 2, <image>: width must be a finite number (CVAT); found "wide". Correct it.'),
    (image(name=" "), "line 2, <image>: an image must have a name (CVAT). Name the image."),
    (image() + image(), 'line 3, <image>: an image must occur once (CVAT); found "scans/a.png", as in line 2, <image>. '
     "Join the two."),
    ("<track id='0'/>" + image(), "line 2, <track>: tracks are not read, they belong to videos (CVAT for video 1.1); "
     'found a track. Export the task as "CVAT for images 1.1".'),
]  # fmt: skip


@pytest.mark.parametrize(("images", "sentence"), WRONG)
def test_sentences(images: str, sentence: str) -> None:
    assert refused(file(images)) == [f"c.xml: {sentence.replace('(CVAT)', '(CVAT for images 1.1)')}"]


def test_what_is_no_image_is_left_out_with_a_warning() -> None:
    source = read(file(image(box()) + image(name="b.png").replace("image", "picture")))
    assert len(source.documents) == 1
    assert warned(source) == [
        "c.xml: line 4, <picture>: only images are read, beside version and meta (CVAT for images 1.1); found "
        '"picture". It is left out; correct its name.'
    ]


def test_files_that_are_none() -> None:
    assert refused(b"<!-- nothing -->") == [
        "c.xml: the outermost element must be <annotations> (CVAT for images 1.1); found no element. Export the "
        "file again."
    ]
    assert refused(file() + file()) == [
        "c.xml: line 2, <annotations>: the file must have one outermost element, <annotations> (CVAT for images 1.1); "
        'found "annotations". Export the file again.'
    ]
    assert refused(file(image(box()))[:-20])[0].startswith("c.xml: line 4")


def test_warnings() -> None:
    lines = '<polyline label="order" points="1,2;3,4"/>'
    source = read(file(image(lines, box(), lines, "<tag/>"), image(box((0, 0, 302, 4)), name="other/a.png")))
    kinds = (
        "c.xml: line {}: only boxes, polygons, ellipses and masks are read (CVAT for images 1.1); found {}. "
        "They are left out; draw regions as boxes or polygons."
    )
    assert warned(source) == [
        kinds.format("3, <polyline>", '2 of the kind "polyline"'),
        kinds.format("6, <tag>", '1 of the kind "tag"'),
        "c.xml: line 9, <box>: a region should not leave its image by more than 1 px; found [0, 0, 302, 4] (corners) "
        "in 300 x 400. It is compared as it is; check the size of the image.",
        'c.xml: images of one name in several folders are read as documents of their own; found "scans/a": '
        '"scans/a.png", "other/a": "other/a.png". Rename the images if other images belong together.',
    ]
    assert (source.boxes.position.tolist(), source.boxes.document.tolist()) == ([1, 0], [0, 1])


def test_regions_without_a_label_are_left_out_and_said() -> None:
    source = read(file(image(box(label=" "), box(), polygon(label=""), '<box xtl="1" ytl="2" xbr="3" ybr="4"/>')))
    assert warned(source) == [
        "c.xml: line 3, <box>: a region should have a label (CVAT for images 1.1); found 3 without. "
        "They are left out; label them to have them compared."
    ]
    assert (len(source.boxes), source.labels) == (1, ("Table",))


def test_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "MAX_OBJECTS_PER_PAGE", 2)
    monkeypatch.setattr(limits, "MAX_LABELS", 1)
    assert refused(file(image(box(), box(), box(label="b")))) == [
        "c.xml: line 2, <image>: an image may have 2 regions; found 3. Remove some.",
        "c.xml: a file may have 1 labels; found 2. Check the labels.",
    ]


def test_images_of_one_name_in_several_subsets_and_tasks() -> None:
    def of(subset: str, task: int, name: str = "a.png") -> str:
        return image(box(), name=name).replace("<image ", f'<image subset="{subset}" task_id="{task}" ')

    source = read(file(of("Train", 1), of("Test", 1), of("Test", 2), of("Test", 2, "b.png")))
    assert [document.doc_id for document in source.documents] == ["b", "Train/1/a", "Test/1/a", "Test/2/a"]
    assert source.page_index.tolist() == [0, 0, 0, 0]
    assert source.attributes == {"subset": ["Train", "Test", "Test", "Test"]}
    assert warned(source) == [
        "c.xml: images of one name in several folders are read as documents of their own; found "
        '"Train/1/a": "Train/1/a.png", "Test/1/a": "Test/1/a.png". Rename the images if other images belong together.'
    ]
    assert refused(file(of("Train", 1), of("Train", 1))) == [
        'c.xml: line 5, <image>: an image must occur once (CVAT for images 1.1); found "Train/1/a.png", as in '
        "line 2, <image>. Join the two."
    ]
    # A name that only one subset has is the document, as without subsets.
    assert [document.doc_id for document in read(file(of("Train", 1), of("Train", 1, "b.png"))).documents] == ["a", "b"]


def test_videos_are_refused_by_name() -> None:
    content = file("<track id='0'/>", "<track id='1'/>")
    assert formats.detect_bytes(content, "c.xml") == "cvat"
    assert refused(content) == [
        "c.xml: line 2, <track>: tracks are not read, they belong to videos (CVAT for video 1.1); found 2 tracks. "
        'Export the task as "CVAT for images 1.1".'
    ]


@needs_shared
@pytest.mark.parametrize("name", ["case_01", "case_02", "case_03"])
def test_real_exports(name: str) -> None:
    path = real("cvat", f"{name}_annotations.xml")
    source, text = formats.read(path), path.read_text(encoding="utf-8")
    assert source.format == "cvat"
    assert (len(source.boxes), len(source.page_ids)) == (text.count("<box "), text.count("<image "))
    rule = "only boxes, polygons, ellipses and masks are read (CVAT for images 1.1)"
    assert [issue.rule for issue in source.issues] == [rule]
    assert (source.boxes.xyxy[:, 2:] >= source.boxes.xyxy[:, :2]).all()
