"""Stated geometry of pages: other sizes on some pages are rescaled or said, in every protocol."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pymupdf
import pytest

from evaluator import formats
from evaluator.analysis.doctor.match_check import diagnosis_of
from evaluator.data.fixes import parse_fix
from evaluator.data.issues import BadInput
from evaluator.data.page_sizes import on_same_pages
from evaluator.project import evaluate
from tests.building import annotations, box, ground_truth, write_file
from tests.reports.making import coco as made_coco
from tests.reports.making import pages, write
from tests.terminal import run_command

PAGES, WIDTH, HEIGHT = 5, 1000, 1400
NAMES = ["Text", "Title", "Table"]
BOXES = [(100, 60, 600, 140), (52, 240, 518, 183), (177, 460, 525, 205)]
RESCALED = (
    "pred.json: both files should state one size for a page; its boxes are rescaled to the size in the ground truth; "
    "found {}. Nothing to do if both are images of one page."
)
AS_WRITTEN = (
    "pred.json: two sizes of a page should be in proportion; its boxes are compared as they are written; found {}. "
    "Correct the sizes, or give both sides the same images: the pages may be turned or cut."
)


def coco(path: Path, scales: dict[int, tuple[float, float]], *, score: float | None = None) -> Path:
    """A COCO file of five pages with three boxes; some pages at another scale in x and y, as their sizes state."""
    images, rows = [], []
    for page in range(PAGES):
        across, down = scales.get(page, (1.0, 1.0))
        size = {"width": int(WIDTH * across), "height": int(HEIGHT * down)}
        images.append({"id": page, "file_name": f"p{page}.png", **size})
        for x, y, w, h in BOXES:
            row = {"id": len(rows) + 1, "image_id": page, "category_id": 1, "iscrowd": 0, "area": w * h * across * down}
            row["bbox"] = [x * across, y * down, w * across, h * down]
            rows.append(row if score is None else {**row, "score": score})
    tree = {"images": images, "annotations": rows, "categories": [{"id": 1, "name": "Text"}]}
    path.write_text(json.dumps(tree))
    return path


def value(protocol: str, truth: Path, prediction: Path) -> tuple[float, list[str]]:
    """AP, or F1 at the first threshold, and the sentences."""
    (evaluation,) = evaluate(protocol, truth, [prediction])
    result: Any = evaluation.result
    number = evaluation.to_json()["AP"] if protocol == "coco" else result.first.micro.row(0)["f1"]
    return number, [issue.sentence for issue in evaluation.issues]


@pytest.fixture
def truth(tmp_path: Path) -> Path:
    return coco(tmp_path / "gt.json", {})


@pytest.mark.parametrize("protocol", ["snapshot", "coco", "pod"])
@pytest.mark.parametrize("scale", [1.25, 0.5, 0.333, 2.0])
def test_pages_at_another_stated_scale_are_rescaled(truth: Path, protocol: str, scale: float) -> None:
    prediction = coco(truth.with_name("pred.json"), {0: (scale, scale), 3: (scale, scale)}, score=0.9)
    size = f"({int(WIDTH * scale)} x {int(HEIGHT * scale)} instead of 1000 x 1400)"
    number, sentences = value(protocol, truth, prediction)
    assert number == pytest.approx(1.0, abs=1e-12)
    assert sentences.count(RESCALED.format(f"2 of 5 pages: p0, page 1 {size}; p3, page 1 {size}")) == 1


def test_pixels_are_those_of_the_ground_truth(truth: Path) -> None:
    prediction = coco(truth.with_name("pred.json"), dict.fromkeys(range(4), (2.0, 2.0)), score=0.9)
    (evaluation,) = evaluate("pixel", truth, [prediction])
    assert evaluation.result.size.tolist() == [[WIDTH, HEIGHT]] * PAGES  # type: ignore[attr-defined]
    assert [number for row, column, number in evaluation.result.counts.triples(0) if row != column] == []  # type: ignore[attr-defined]
    size = "(2000 x 2800 instead of 1000 x 1400)"
    said = f"4 of 5 pages: p0, page 1 {size}; p1, page 1 {size}; p2, page 1 {size} and 1 more"
    assert [issue.sentence for issue in evaluation.issues] == [RESCALED.format(said)]


@pytest.mark.parametrize("protocol", ["snapshot", "coco", "pixel"])
def test_sizes_out_of_proportion_leave_the_numbers_as_written(truth: Path, protocol: str) -> None:
    tree = json.loads(coco(truth.with_name("pred.json"), {}, score=0.9).read_text())
    tree["images"][1] |= {"width": 1400, "height": 1000}
    truth.with_name("pred.json").write_text(json.dumps(tree))
    (evaluation,) = evaluate(protocol, truth, [truth.with_name("pred.json")])
    said = AS_WRITTEN.format("1 of 5 pages: p1, page 1 (1400 x 1000 instead of 1000 x 1400)")
    assert said in [issue.sentence for issue in evaluation.issues]
    read = formats.read(truth.with_name("pred.json"), side="prediction")
    placed = formats.resolve(read, formats.read(truth))
    assert placed.boxes.xyxy.tolist() == read.boxes.xyxy.tolist()
    assert on_same_pages(placed, formats.read(truth)) is placed


def test_equal_sizes_are_left_alone(truth: Path) -> None:
    read = formats.read(coco(truth.with_name("pred.json"), {}, score=0.9), side="prediction")
    assert formats.resolve(read, formats.read(truth)).boxes is read.boxes


def test_the_areas_are_those_of_the_pixels_of_the_ground_truth(truth: Path) -> None:
    """A quarter of the scale makes boxes small for themselves; they are large in the ground truth."""
    prediction = coco(truth.with_name("pred.json"), dict.fromkeys(range(PAGES), (0.125, 0.125)), score=0.9)
    (evaluation,) = evaluate("coco", truth, [prediction])
    numbers = evaluation.to_json()
    assert (numbers["APl"], numbers["APs"], numbers["ARl"]) == (1.0, None, 1.0)


def test_check_says_it_too(truth: Path, capsys: pytest.CaptureFixture[str]) -> None:
    prediction = coco(truth.with_name("pred.json"), {1: (1.5, 1.5)}, score=0.9)
    code, out, _ = run_command(capsys, "check", truth, prediction)
    said = RESCALED.format("1 of 5 pages: p1, page 1 (1500 x 2100 instead of 1000 x 1400)")
    assert (code, out) == (0, f"warning: {said}\n2 checked: 0 errors, 1 warning\n")


def paddle(angle: float, boxes: list[list[float]], *, unwarped: bool = False, **more: Any) -> dict[str, Any]:
    """A result of PP-StructureV3 for p0.png, which was turned by an angle first."""
    settings = {"use_doc_orientation_classify": True, "use_doc_unwarping": unwarped}
    detections = [{"cls_id": 0, "label": "Text", "score": 0.9, "coordinate": box} for box in boxes]
    preprocessed = {"model_settings": settings, "angle": angle}
    return {
        "input_path": "p0.png",
        "doc_preprocessor_res": preprocessed,
        "layout_det_res": {"boxes": detections},
        **more,
    }


# The box (100, 60, 700, 200) of a page of 1000 x 1400, on that page turned counterclockwise.
TURNED_BOXES = {
    0: [100, 60, 700, 200],
    90: [60, 300, 200, 900],
    180: [300, 1200, 900, 1340],
    270: [1200, 100, 1340, 700],
}
TO_BE_TURNED = (
    "pred.json: boxes of a page that was turned before it was read are turned back where its size is known; found 1 of "
    "1 page: p0, page 1 ({} degrees). It is taken from the file that this one is compared with, or from "
    "--page-size WxH."
)


def read(folder: Path, tree: object, name: str = "pred.json") -> Any:
    (folder / name).write_text(json.dumps(tree))
    return formats.read(folder / name)


@pytest.mark.parametrize("angle", TURNED_BOXES)
def test_a_stated_right_angle_is_turned_back(truth: Path, angle: int) -> None:
    known = formats.read(truth)
    source = read(truth.parent, paddle(angle, [TURNED_BOXES[angle]]))
    placed = formats.resolve(source, known)
    assert placed.boxes.xyxy.tolist() == [[100, 60, 700, 200]]
    assert [issue.sentence for issue in placed.issues] == ([TO_BE_TURNED.format(angle)] if angle else [])
    assert formats.resolve(placed, known) is placed
    assert formats.resolve(source, known, keep_unit=True).boxes.xyxy.tolist() == [[100, 60, 700, 200]]


@pytest.mark.parametrize("angle", [90, 180, 270])
def test_with_its_size_a_page_is_turned_back_at_once(tmp_path: Path, angle: int) -> None:
    upright = (HEIGHT, WIDTH) if angle != 180 else (WIDTH, HEIGHT)
    by_result = read(tmp_path, paddle(angle, [TURNED_BOXES[angle]], width=upright[0], height=upright[1]))
    answer = {"layoutParsingResults": [{"prunedResult": paddle(angle, [TURNED_BOXES[angle]])}]}
    image = {**answer, "dataInfo": {"type": "image", "width": WIDTH, "height": HEIGHT}}
    pdf = {**answer, "dataInfo": {"type": "pdf", "numPages": 1, "pages": [{"width": WIDTH, "height": HEIGHT}]}}
    for source in (by_result, read(tmp_path, {"result": image}), read(tmp_path, {"result": pdf})):
        assert source.page_size.tolist() == [[WIDTH, HEIGHT]]
        assert source.boxes.xyxy.tolist() == [[100, 60, 700, 200]]
        assert source.attributes == {"turned back by": [str(angle)]}
        assert [issue.sentence for issue in source.issues] == [
            "pred.json: boxes of a page that was turned before it was read are turned back to the page as it was "
            f"given; found 1 of 1 page: p0, page 1 ({angle} degrees). Nothing to do if the other side has the page as "
            "it was given."
        ]


def test_outlines_are_turned_too(truth: Path) -> None:
    tree = paddle(90, [[60, 300, 200, 900]])
    tree["layout_det_res"]["boxes"][0]["coordinate"] = [60, 300, 60, 900, 200, 320, 150, 300]
    placed = formats.resolve(read(truth.parent, tree), formats.read(truth))
    assert placed.boxes.polygons[0][0].tolist() == [[700, 60], [100, 60], [680, 200], [700, 150]]
    assert placed.boxes.xyxy.tolist() == [[100, 60, 700, 200]]


def test_some_turned_pages_of_a_folder_are_named_once(truth: Path) -> None:
    folder = truth.with_name("pred")
    folder.mkdir()
    for page in range(PAGES):
        angle = 90 if page in (1, 3) else -1
        boxes = [[x, y, x + w, y + h] for x, y, w, h in BOXES]
        if angle == 90:
            boxes = [[y1, WIDTH - x2, y2, WIDTH - x1] for x1, y1, x2, y2 in boxes]
        tree = {**paddle(angle, boxes), "input_path": f"p{page}.png"}
        (folder / f"p{page}_res.json").write_text(json.dumps(tree))
    number, sentences = value("snapshot", truth, folder)
    assert number == 1.0
    assert sentences == [
        TO_BE_TURNED.replace("pred.json", "pred").replace(
            "1 of 1 page: p0, page 1 ({} degrees)", "2 of 5 pages: p1, page 1 (90 degrees); p3, page 1 (90 degrees)"
        )
    ]


def test_a_turned_page_without_a_size_is_compared_as_written(tmp_path: Path) -> None:
    source = read(tmp_path, paddle(90, [[60, 300, 200, 900]]))
    truth = read(
        tmp_path, {"input_path": "p0.png", "boxes": [{"label": "Text", "coordinate": [1, 2, 3, 4]}]}, "gt.json"
    )
    placed = formats.resolve(source, truth)
    assert placed.boxes.xyxy.tolist() == [[60, 300, 200, 900]]
    assert [issue.sentence for issue in placed.issues] == [
        TO_BE_TURNED.format(90),
        "pred.json: boxes of a page that was turned before it was read are compared as they are written without its "
        "size; found pred.json, 1 of 1 page: p0, page 1. Give one size for all pages (--page-size WxH), or "
        "compare with a file that states the sizes.",
    ]
    assert formats.resolve(placed, truth).issues == placed.issues


def test_unwarped_pages_are_named(tmp_path: Path) -> None:
    assert [issue.sentence for issue in read(tmp_path, paddle(0, [[1, 2, 3, 4]], unwarped=True)).issues] == [
        "pred.json: boxes of a page that was unwarped before it was read have no place on the page as it was given; "
        "found 1 of 1 page: p0, page 1. They are compared as they are written; run the model without unwarping "
        "(use_doc_unwarping=False)."
    ]


def test_another_angle_is_said(tmp_path: Path) -> None:
    source = read(tmp_path, paddle(45, [[1, 2, 3, 4]]))
    assert source.boxes.xyxy.tolist() == [[1, 2, 3, 4]]
    assert [issue.sentence for issue in source.issues] == [
        "pred.json: $.doc_preprocessor_res.angle: angle should be 0, 90, 180 or 270 (PaddleX); found 45. "
        "The boxes are read as they are written."
    ]


# --- the doctor -----------------------------------------------------------------------------------------------


def off_pages(folder: Path, change: Any, off: tuple[int, ...], *, score: float = 0.9) -> Path:
    """The prediction of the pages, of which some have other boxes than their file states."""
    path = coco(folder / "pred.json", {}, score=score)
    tree = json.loads(path.read_text())
    for row in tree["annotations"]:
        if row["image_id"] in off:
            x, y, w, h = row["bbox"]
            x1, y1, x2, y2 = change(x, y, x + w, y + h)
            row["bbox"] = [x1, y1, x2 - x1, y2 - y1]
    path.write_text(json.dumps(tree))
    return path


CHANGES = {
    "turned clockwise by 90 degrees": lambda x1, y1, x2, y2: (y1, WIDTH - x2, y2, WIDTH - x1),
    "turned clockwise by 180 degrees": lambda x1, y1, x2, y2: (WIDTH - x2, HEIGHT - y2, WIDTH - x1, HEIGHT - y1),
    "turned clockwise by 270 degrees": lambda x1, y1, x2, y2: (HEIGHT - y2, x1, HEIGHT - y1, x2),
    "mirrored from top to bottom": lambda x1, y1, x2, y2: (x1, HEIGHT - y2, x2, HEIGHT - y1),
    "read with x and y exchanged": lambda x1, y1, x2, y2: (y1, x1, y2, x2),
    "rescaled by 0.72": lambda *box: tuple(value / 0.72 for value in box),
    "rescaled by 1.6": lambda *box: tuple(value / 1.6 for value in box),
    "read as shares of the page": lambda x1, y1, x2, y2: (x1 / WIDTH, y1 / HEIGHT, x2 / WIDTH, y2 / HEIGHT),
}


@pytest.mark.parametrize("words", CHANGES)
@pytest.mark.parametrize("off", [(1,), (0, 3)])
def test_pages_that_are_off_by_themselves_are_named(truth: Path, words: str, off: tuple[int, ...]) -> None:
    path = off_pages(truth.parent, CHANGES[words], off)
    diagnosis = diagnosis_of(formats.read(truth), formats.read(path, side="prediction"))
    named = "; ".join(f"p{page}, page 1" for page in off)
    assert diagnosis.sentence.startswith(f"F1 {1 - len(off) / PAGES:.3f}. Boxes match when they are {words} on ")
    assert diagnosis.sentence.endswith(f" on {len(off)} of 5 pages: {named}. With that: 1.000.")
    assert (diagnosis.best, diagnosis.pages_f1, diagnosis.silent) == (None, 1.0, False)
    assert diagnosis.to_json()["pages"] == [
        {"words": words, "named": f"{len(off)} of 5 pages: {named}", "pages": len(off)}
    ]
    results = path.with_name("results.json")
    results.write_text(json.dumps(json.loads(path.read_text())["annotations"]))
    for protocol, options in (("snapshot", {}), ("coco", {}), ("coco", {"page_ranges": 1}), ("coco", {"boxes": False})):
        (evaluation,) = evaluate(protocol, truth, [results], **options)
        assert evaluation.issues[-1].sentence == (
            "results.json: boxes of some pages should not be turned, rescaled, moved or renamed where those of other "
            f"pages are not; found they match when {words} on {len(off)} of 5 pages: {named}. They are compared as "
            "they are written; write them in the frame that the ground truth has for the page."
        )


def test_evaluate_says_which_pages_are_off_where_little_matches(truth: Path) -> None:
    prediction = off_pages(truth.parent, CHANGES["turned clockwise by 180 degrees"], (0, 1, 3))
    number, sentences = value("snapshot", truth, prediction)
    assert (number, sentences) == (
        0.4,
        ["pred.json: boxes of some pages should not be turned, rescaled, moved or renamed where those of other pages "
         "are not; found they match when turned clockwise by 180 degrees on 3 of 5 pages: p0, page 1; p1, page 1; p3, "
         "page 1. They are compared as they are written; write them in the frame that the ground truth has for the "
         "page."],
    )  # fmt: skip


def test_boxes_of_some_pages_have_another_form(truth: Path) -> None:
    def centred(x1: float, y1: float, x2: float, y2: float) -> tuple[float, ...]:
        middle = ((x1 + x2) / 2, (y1 + y2) / 2)
        return (*middle, middle[0] + x2 - x1, middle[1] + y2 - y1)

    prediction = formats.read(off_pages(truth.parent, centred, (0, 3)), side="prediction")
    assert diagnosis_of(formats.read(truth), prediction).sentence == (
        "F1 0.600. Boxes match when they are read as centre, width, height on 2 of 5 pages: p0, page 1; p3, page 1. "
        "With that: 1.000."
    )


def test_a_fix_is_applied_to_pages_of_the_size_in_the_ground_truth(truth: Path) -> None:
    path = coco(truth.with_name("pred.json"), {0: (2.0, 2.0), 3: (2.0, 2.0)}, score=0.9)
    tree = json.loads(path.read_text())
    for row in tree["annotations"]:
        row["bbox"][1] = tree["images"][row["image_id"]]["height"] - row["bbox"][1] - row["bbox"][3]
    path.write_text(json.dumps(tree))
    diagnosis = diagnosis_of(formats.read(truth), formats.read(path, side="prediction"))
    assert (diagnosis.option, diagnosis.best and diagnosis.best.f1) == ("--fix y-flip", 1.0)
    (evaluation,) = evaluate("coco", truth, [path], fix=(parse_fix("y-flip"),))
    assert evaluation.to_json()["AP"] == pytest.approx(1.0)


ROWS = [
    box(x, y, x + 0.1 + 0.02 * (at + page % 4), y + 0.06 + 0.01 * (at + page % 3), page=page, label=NAMES[at % 3])
    for page in range(12)
    for at in range(6)
    for x, y in [(0.05 + 0.061 * ((5 * page + at) % 9), 0.02 + 0.15 * at)]
]
ORDER = dict(zip(NAMES, [*NAMES[1:], NAMES[0]], strict=True))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda row: row._replace(xyxy=tuple(1 - row.xyxy[at] for at in (2, 3, 0, 1))),
         "turned clockwise by 180 degrees"),
        (lambda row: row._replace(page=row.page + 1), "moved 1 page back"),
        (lambda row: row._replace(label=ORDER[row.label]),
         "renamed, each label read as the previous one of the ground truth"),
        (lambda row: row._replace(label={"Text": "Title", "Title": "Text"}.get(row.label, row.label)),
         "renamed, Text read as Title and Title read as Text"),
    ],
)  # fmt: skip
def test_pages_that_are_off_are_told_together_where_a_model_finds_half(change: Any, words: str) -> None:
    """No page by itself has enough boxes; the last four are off, and the one before them was left out."""
    kept = [row for at, row in enumerate(ROWS) if row.page not in (6, 11) and at % 2 == row.page % 2]
    changed = [change(row) if row.page > 6 else row for row in kept]
    empty = [("a.pdf", page) for page in {*range(12)} - {row.page for row in changed}]
    diagnosis = diagnosis_of(ground_truth(ROWS, labels=NAMES), annotations(changed, labels=NAMES, pages=empty))
    (apart,) = diagnosis.pages
    assert (apart.words, apart.pages, diagnosis.best) == (words, 4, None)
    assert diagnosis.pages_f1 == diagnosis_of(ground_truth(ROWS), annotations(kept)).as_given


@pytest.mark.parametrize(
    ("scale", "words", "by"),
    [(1.0, "shifted", ("-0.06, -0.08", "-0.12, -0.04")),
     (1.25, "rescaled and shifted", ("1.25, 1.25 and -0.075, -0.1", "1.25, 1.25 and -0.15, -0.05"))],
)  # fmt: skip
def test_pages_that_were_cropped_or_shifted_by_themselves_are_named(
    tmp_path: Path, scale: float, words: str, by: tuple[str, str]
) -> None:
    """Each by its own; four boxes of a page, here of the last one, are too few for a shift of its own."""
    shifts = {2: (0.06, 0.08), 7: (0.12, 0.04), 11: (0.1, 0.0)}
    ours = [
        row._replace(score=0.9) if row.page not in shifts else
        row._replace(score=0.9, xyxy=tuple(row.xyxy[of] / scale + shifts[row.page][of % 2] for of in range(4)))
        for at, row in enumerate(ROWS) if row.page != 11 or at % 6 < 4
    ]  # fmt: skip
    paths = [
        write_file(tmp_path / f"{side}.json", rows, side=side, labels=NAMES)
        for side, rows in (("ground_truth", ROWS), ("prediction", ours))
    ]
    named = f"{words} on 2 of 12 pages: a.pdf, page 3 (by {by[0]}); a.pdf, page 8 (by {by[1]})"
    diagnosis = diagnosis_of(formats.read(paths[0]), formats.read(paths[1], as_written=True))
    assert f"Boxes match when they are {named}. With that" in diagnosis.sentence
    (evaluation,) = evaluate("snapshot", paths[0], [paths[1]])
    assert f"found they match when {named}. They are" in evaluation.issues[-1].sentence


@pytest.mark.parametrize("off", [12, 4])
def test_pages_of_several_sizes_are_cropped_by_one_share(tmp_path: Path, off: int) -> None:
    """The last of twelve pages of four sizes, of which a model finds three boxes each; each page has 10 % margins."""
    whole = [page.times(1 + at % 4 / 4) for at, page in enumerate(pages(*(f"p{at:02}.png" for at in range(12))))]
    ours = [
        page._replace(boxes=[
            (label, *((edge / side - 0.1) / 0.8 * side for edge, side in zip(
                edges, 2 * (page.width, page.height), strict=True)))
            if at >= 12 - off else (label, *edges)
            for label, *edges in page.boxes[at % 3 :][:3]
        ])
        for at, page in enumerate(whole)
    ]  # fmt: skip
    write(tmp_path, {"gt.json": made_coco(whole), "pred.json": made_coco(ours)})
    truth, prediction = (formats.read(tmp_path / name) for name in ("gt.json", "pred.json"))
    diagnosis = diagnosis_of(truth, prediction)
    if off == 12:
        assert diagnosis.option == '--fix scale=0.8 --fix "shift=10%,10%"'
    else:
        assert "rescaled and shifted on 4 of 12 pages: p08, page 1 (by 0.8, 0.8 and 100, 140)" in diagnosis.sentence
        assert "; p10, page 1 (by 0.8, 0.8 and 150, 210)" in diagnosis.sentence
    assert diagnosis.reached == 0.75


def test_a_resolution_is_told_without_sizes_in_the_ground_truth_and_where_each_page_has_its_own(tmp_path: Path) -> None:
    whole = pages(*(f"p{at}.png" for at in range(10)))
    truth = made_coco(whole)
    unsized = {**truth, "images": [{"id": image["id"], "file_name": image["file_name"]} for image in truth["images"]]}
    halves, several = ([page.times(by[at % 3]) for at, page in enumerate(whole)] for by in ((0.5,) * 3, (0.5, 2, 0.75)))
    mixed = {**made_coco(several), "images": truth["images"]}
    write(tmp_path, {"unsized.json": unsized, "gt.json": truth, "halves.json": made_coco(halves), "mixed.json": mixed})
    for gt, pred, said in (
        ("unsized.json", "halves.json", "; with coordinates times 2: 1.000. Apply it with --fix scale=2, or"),
        (
            "gt.json",
            "mixed.json",
            "; with boxes that are rescaled by 2 on 4 of 10 pages: p0, page 1; p3, page 1; p6, page",
        ),
        (
            "gt.json",
            "mixed.json",
            " and rescaled by 1.33 on 3 of 10 pages: p2, page 1; p5, page 1; p8, page 1: 1.000. C",
        ),
    ):
        with pytest.raises(BadInput) as problem:
            evaluate("snapshot", tmp_path / gt, [tmp_path / pred])
        assert any(said in issue.sentence for issue in problem.value.issues)


def test_boxes_that_are_somewhere_else_are_no_page_apart(truth: Path) -> None:
    away = off_pages(truth.parent, lambda x1, y1, x2, y2: (x1, y1 + 700, x1 + 90, y2 + 800), (2,))
    diagnosis = diagnosis_of(formats.read(truth), formats.read(away, side="prediction"))
    assert (diagnosis.pages, diagnosis.silent) == ((), True)


def test_a_page_of_another_data_set_fits_by_chance() -> None:
    turned = [box(*(1 - row.xyxy[at] for at in (2, 3, 0, 1)), label=row.label) for row in ROWS if row.page == 0]
    rng = np.random.default_rng(1)
    others, strange = (
        [box(x, y, x + 0.06, y + 0.04, page=page, label="Text") for page in range(1, 99) for x, y in rng.random((2, 2))]
        for _ in range(2)
    )
    diagnosis = diagnosis_of(
        ground_truth([*ROWS[:6], *others], labels=NAMES), annotations([*turned, *strange], labels=NAMES)
    )
    assert (diagnosis.pages, diagnosis.best) == ((), None)


# --- pages at hand --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("protocol", ["snapshot", "coco", "pixel"])
def test_images_out_of_proportion_to_the_stated_sizes_are_named(truth: Path, protocol: str) -> None:
    images = truth.with_name("images")
    images.mkdir()
    for page, (width, height) in enumerate([(100, 140), (140, 100), (500, 700), (100, 141), (100, 130)]):
        pixmap = pymupdf.Pixmap(pymupdf.csGRAY, pymupdf.IRect(0, 0, width, height))
        pixmap.clear_with(255)
        pixmap.save(images / f"p{page}.png")
    prediction = coco(truth.with_name("pred.json"), {}, score=0.9)
    (evaluation,) = evaluate(protocol, truth, [prediction], pdfs=images)
    assert [issue.sentence for issue in evaluation.issues] == [
        f"{name}: the stated size of a page should be in proportion to its PDF or image; found 2 of 5 pages: p1, page "
        "1 (1000 x 1400, at hand 140 x 100); p4, page 1 (1000 x 1400, at hand 100 x 130). Give the folder of the pages "
        "that were annotated, or correct the sizes: the pages may be turned or cut."
        for name in ["gt.json", *(["pred.json"] if protocol != "pixel" else [])]
    ]
