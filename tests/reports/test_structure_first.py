"""Labels and ids that stand for one another, and names that hide the sizes of pages: found, said and applied."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from evaluator import formats
from evaluator.analysis.doctor import match_check
from evaluator.analysis.doctor.diagnosis import Diagnosis
from evaluator.data.fixes import apply_fixes, parse_fix
from evaluator.data.issues import BadInput
from evaluator.project import evaluate
from tests.building import annotations, box, ground_truth

FOLDER = Path(__file__).parent / "result_names"
NAMES = ["Text", "Title", "Caption", "Table", "Figure"]
NEXT = dict(zip(NAMES, [*NAMES[1:], NAMES[0]], strict=True))
# Boxes of each label, on pages of other places.
ROWS = [
    box(0.1 + 0.01 * page, 0.05 + 0.15 * at, 0.5 + 0.05 * at, 0.15 + 0.15 * at, page=page, label=label)
    for page in range(6)
    for at, label in enumerate(NAMES)
]


def labels_of(change: dict[str, str], rows: list[Any] = ROWS) -> Diagnosis:
    """The diagnosis of predictions in the right places under other labels."""
    changed = [row._replace(label=change.get(row.label, row.label), score=0.9) for row in rows]
    return match_check.diagnosis_of(ground_truth(rows, labels=NAMES), annotations(changed, labels=NAMES))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (NEXT, "each label read as the previous one of the ground truth"),
        ({new: old for old, new in NEXT.items()}, "each label read as the next one of the ground truth"),
        (dict(zip(NAMES, sorted(NAMES), strict=True)), "labels in alphabetical order read as in the order of the file"),
        (dict(zip(sorted(NAMES), NAMES, strict=True)), "labels in the order of the file read as in alphabetical order"),
        ({"Title": "Text", "Text": "Title"}, "Text read as Title and Title read as Text"),
    ],
)  # fmt: skip
def test_labels_that_stand_for_one_another(change: dict[str, str], words: str) -> None:
    diagnosis = labels_of(change)
    assert diagnosis.best is not None
    back = {new: old for old, new in change.items() if new != old}
    assert {fix.value.partition("=")[0]: fix.value.partition("=")[2] for fix in diagnosis.best.fixes} == back
    f1 = sum(change.get(name, name) == name for name in NAMES) / len(NAMES)
    assert diagnosis.sentence == f"F1 {f1:.3f}. With {words}: 1.000."
    assert (diagnosis.labels, diagnosis.labels_f1) == ((), None)


def test_a_label_of_few_boxes_follows_the_rule_of_the_others() -> None:
    rows = [row for row in ROWS if row.label != "Figure" or row.page == 0]
    diagnosis = labels_of(NEXT, rows)
    assert "--fix label=Text=Figure" in diagnosis.option
    assert diagnosis.sentence == "F1 0.000. With each label read as the previous one of the ground truth: 1.000."


def test_a_rule_that_few_labels_break_is_no_rule() -> None:
    change = {"Text": "Title", "Title": "Caption", "Caption": "Text", "Table": "Figure", "Figure": "Table"}
    diagnosis = labels_of(change, [row for row in ROWS if row.label not in ("Caption", "Figure") or row.page < 3])
    assert diagnosis.best is not None
    assert {fix.value for fix in diagnosis.best.fixes} == {f"{new}={old}" for old, new in change.items()}
    assert diagnosis.best.f1 == 1.0


def test_labels_are_exchanged_beside_boxes_that_are_moved() -> None:
    changed = [
        row._replace(label={"Title": "Text", "Text": "Title"}.get(row.label, row.label), score=0.9,
                     xyxy=(row.xyxy[0], 1.0 - row.xyxy[3], row.xyxy[2], 1.0 - row.xyxy[1]))
        for row in ROWS
    ]  # fmt: skip
    diagnosis = match_check.diagnosis_of(ground_truth(ROWS, labels=NAMES), annotations(changed, labels=NAMES))
    assert diagnosis.sentence.endswith("With the y axis flipped, Text read as Title and Title read as Text: 1.000."), (
        diagnosis.sentence
    )


def test_a_kind_that_a_model_takes_for_another_is_no_other_name() -> None:
    assert labels_of({"Title": "Text", "Table": "Text", "Figure": "Text"}).best is None


# --- ids of images and categories ----------------------------------------------------------------------------------


def test_ids_that_are_the_numbers_of_other_files(tmp_path: Path) -> None:
    truth, results = FOLDER / "b_gt.json", FOLDER / "b_int_of_stem.json"
    with pytest.raises(BadInput) as problem:
        evaluate("coco", truth, [results])
    assert [issue.sentence for issue in problem.value.issues] == [
        "b_int_of_stem.json: boxes should match those of b_gt.json; little does; found F1 0.111; with image ids read "
        "as the numbers in file names: 1.000. Apply it with --fix image-ids=names, or allow the numbers as they are "
        "with --allow-no-match."
    ]
    (evaluation,) = evaluate("coco", truth, [results], fix=(parse_fix("image-ids=names"),))
    assert evaluation.to_json()["AP"] == pytest.approx(1.0, abs=1e-12)
    named = FOLDER / "b_int_of_stem_with_file_name.json"
    assert match_check.diagnosis_of(formats.read(truth), formats.read(named)).silent


def coco(
    folder: Path,
    *,
    images: int = 0,
    categories: int = 0,
    of: int = 8,
    below: bool = False,
    exchanged: bool = False,
    shifted: bool = False,
) -> tuple[Path, Path]:
    """A ground truth with ids from 1, and the same boxes as results whose ids are moved by so much.

    `below`: their y axis begins at the bottom of the page; `exchanged`: the first two categories are; `shifted`: by 32
    pixels.
    """
    rows = [
        {"id": 3 * page + at + 1, "image_id": page + 1, "category_id": at + 1,
         "bbox": [20 + 9 * page, 20 + 90 * at + (page * 37) % 50, 200 + 30 * (page % 3), 25], "area": 1, "iscrowd": 0}
        for page in range(8) for at in range(3)
    ]  # fmt: skip
    pages = [
        {"id": page + 1, "file_name": f"scan-{chr(97 + page)}{page + 41}.png", "width": 400, "height": 400}
        for page in range(8)
    ]
    names = [{"id": at + 1, "name": name} for at, name in enumerate(NAMES[:3])]
    results = [
        {"image_id": row["image_id"] + images, "category_id": row["category_id"] + categories, "bbox": row["bbox"],
         "score": 0.9}
        for row in rows if of >= row["image_id"]
    ]  # fmt: skip
    for row in results if exchanged else []:
        row["category_id"] = {1: 2, 2: 1}.get(row["category_id"], row["category_id"])
    for row in results if below else []:
        x, y, w, h = row["bbox"]
        row["bbox"] = [x, 400 - y - h, w, h]
    for row in results if shifted else []:
        row["bbox"] = [row["bbox"][0] - 32, row["bbox"][1] + 32, *row["bbox"][2:]]
    truth, prediction = folder / "gt.json", folder / "results.json"
    truth.write_text(json.dumps({"images": pages, "categories": names, "annotations": rows}))
    prediction.write_text(json.dumps(results))
    return truth, prediction


@pytest.mark.parametrize(
    ("given", "words", "fixes"),
    [
        ({"images": -1}, "1 added to image ids", ["image-ids=+1"]),
        ({"images": 1}, "1 subtracted from image ids", ["image-ids=-1"]),
        ({"images": 1, "of": 7}, "1 subtracted from image ids", ["image-ids=-1"]),
        ({"images": 40}, "image ids read as the numbers in file names", ["image-ids=names"]),
        ({"categories": -1}, "1 added to category ids", ["label=0=Text", "label=1=Title", "label=2=Caption"]),
        ({"images": -1, "categories": 1}, "1 added to image ids and 1 subtracted from category ids",
         ["image-ids=+1", "label=2=Text", "label=3=Title", "label=4=Caption"]),
        ({"images": 1, "exchanged": True}, "1 subtracted from image ids and Text read as Title and Title read as Text",
         ["image-ids=-1", "label=Text=Title", "label=Title=Text"]),
        ({"images": 1, "below": True}, "1 subtracted from image ids and the y axis flipped",
         ["image-ids=-1", "y-flip"]),
        ({"images": 40, "shifted": True},
         "image ids read as the numbers in file names and boxes shifted by 8%,-8%",
         ["image-ids=names", "shift=8%,-8%"]),
    ],
)  # fmt: skip
def test_ids_that_are_counted_from_elsewhere(
    tmp_path: Path, given: dict[str, int], words: str, fixes: list[str]
) -> None:
    truth, prediction = coco(tmp_path, **given)
    diagnosis = match_check.diagnosis_of(formats.read(truth), formats.read(prediction))
    assert diagnosis.best is not None
    right = match_check.diagnosis_of(*map(formats.read, coco(tmp_path, of=given.get("of", 8)))).as_given
    coco(tmp_path, **given)
    assert (diagnosis.best.words, [fix.text for fix in diagnosis.best.fixes]) == (words, fixes)
    assert diagnosis.best.f1 == right
    with pytest.raises(BadInput) as problem:
        evaluate("snapshot", truth, [prediction])
    assert f"; with {words}: {right:.3f}. Apply it with " in problem.value.issues[-1].sentence
    (evaluation,) = evaluate("snapshot", truth, [prediction], fix=tuple(map(parse_fix, fixes)))
    assert evaluation.to_json()["thresholds"]["0.5"]["micro"]["f1"] == right


def test_ids_that_fit_are_not_looked_at(tmp_path: Path) -> None:
    assert match_check.diagnosis_of(*map(formats.read, coco(tmp_path))).silent


def test_image_ids_are_of_results_lists_alone(tmp_path: Path) -> None:
    rule = "with image-ids=+1 each result of a COCO results list must have an image of "
    snapshot = annotations(ROWS)
    results, truth = (formats.read(path) for path in coco(tmp_path)[::-1])
    for source, other, found in ((snapshot, snapshot, "30 of 30 without"), (results, truth, "3 of 24 without")):
        with pytest.raises(BadInput) as problem:
            apply_fixes(source, other, [parse_fix("image-ids=+1")])
        (issue,) = problem.value.issues
        assert (issue.rule, issue.found, issue.fix) == (f"{rule}{other.name}", found, "Leave it out.")


# --- names before sizes --------------------------------------------------------------------------------------------


def test_names_that_differ_are_said_before_sizes_are_asked_for(tmp_path: Path) -> None:
    """Roboflow renames report-1.png to report-1_png.rf.<hash>.jpg."""
    boxes = [(20, 30 + 80 * at, 200 + 20 * at, 50) for at in range(4)]
    files = [f"report-{page}_png.rf.{page}2e42dcac7aa4ced.jpg" for page in range(1, 5)]
    truth = {
        "images": [{"id": at, "file_name": name, "width": 400, "height": 400} for at, name in enumerate(files)],
        "categories": [{"id": 0, "name": "Text"}],
        "annotations": [
            {"id": 4 * page + at + 1, "image_id": page, "category_id": 0, "bbox": bbox, "area": 1, "iscrowd": 0}
            for page in range(4)
            for at, bbox in enumerate(boxes)
        ],
    }
    (tmp_path / "gt.json").write_text(json.dumps(truth))
    (tmp_path / "dt" / "labels").mkdir(parents=True)
    (tmp_path / "dt" / "data.yaml").write_text("names: [Text]\n")
    lines = [f"0 {(x + w / 2) / 400} {(y + h / 2) / 400} {w / 400} {h / 400} 0.9" for x, y, w, h in boxes]
    for page in range(1, 5):
        (tmp_path / "dt" / "labels" / f"report-{page}.txt").write_text("\n".join(lines))
    with pytest.raises(BadInput) as problem:
        evaluate("coco", tmp_path / "gt.json", [tmp_path / "dt"])
    assert [issue.sentence for issue in problem.value.issues] == [
        "dt: documents should be those of gt.json, which states the sizes of pages; none is; found "
        '"report-1", where gt.json has "report-1_png.rf.12e42dcac7aa4ced". Give both sides the same documents, or one '
        "size for all pages (--page-size WxH).",
        "dt: boxes should match those of gt.json; none is compared; found F1 n/a; with document names compared without "
        "a common suffix: 1.000. Apply it with --fix names=suffix, or allow the numbers as they are with "
        "--allow-no-match.",
    ]
    (evaluation,) = evaluate("coco", tmp_path / "gt.json", [tmp_path / "dt"], fix=(parse_fix("names=suffix"),))
    assert evaluation.to_json()["AP"] == pytest.approx(1.0)
