"""Which image a result belongs to: that of its file name, else of its id, which may be the name of an image."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from evaluator import formats
from evaluator.data.issues import BadInput
from evaluator.project import evaluate

FOLDER = Path(__file__).parent / "result_names"


@pytest.mark.parametrize(
    ("truth", "results", "said"),
    [
        ("a_gt.json", "a_stem_ids.json", 'report-a, as the image "report-a.jpg"'),
        ("a_gt.json", "a_stem_ids_with_file_name.json", 'report-a for "report-a.jpg", whose id is 1'),
        ("b_gt.json", "b_int_of_stem_with_file_name.json", '1 for "0001.jpg", whose id is 2'),
    ],
)
def test_results_of_ultralytics(truth: str, results: str, said: str) -> None:
    (evaluation,) = evaluate("coco", FOLDER / truth, [FOLDER / results])
    assert evaluation.to_json()["AP"] == pytest.approx(1.0, abs=1e-12)
    assert {issue.severity for issue in evaluation.issues} == {"warning"}
    assert evaluation.issues[-1].found == said
    (in_parts,) = evaluate("coco", FOLDER / truth, [FOLDER / results], page_ranges=1)
    assert in_parts.to_json() == evaluation.to_json()


@pytest.mark.parametrize("page_ranges", [None, 1])
def test_ids_that_are_numbers_in_names_are_found_in_parts_too(page_ranges: int | None) -> None:
    files = FOLDER / "b_gt.json", [FOLDER / "b_int_of_stem.json"]
    with pytest.raises(BadInput) as refused:
        evaluate("coco", *files, page_ranges=page_ranges)
    assert refused.value.issues[-1].found == ("F1 0.111; with image ids read as the numbers in file names: 1.000")


def resolved(tmp_path: Path, files: list[str], *results: tuple[Any, str | None]) -> list[int] | list[str]:
    """The page entries of results by id and file name, or the sentences that refuse them; ids are 1, 2, ..."""
    images = [{"id": row, "file_name": name, "width": 9, "height": 9} for row, name in enumerate(files, 1)]
    truth = {"images": images, "categories": [{"id": 1, "name": "Text"}], "annotations": []}
    rows = [{"image_id": key, "category_id": 1, "bbox": [0, 0, 5, 5], "score": 0.5} for key, _ in results]
    rows = [row if name is None else {**row, "file_name": name} for row, (_, name) in zip(rows, results, strict=True)]
    for name, value in (("gt.json", truth), ("dt.json", rows)):
        (tmp_path / name).write_text(json.dumps(value))
    read = formats.read(tmp_path / "dt.json", side="prediction"), formats.read(tmp_path / "gt.json")
    try:
        return formats.resolve(*read).boxes.entry.tolist()
    except BadInput as problem:
        return [issue.sentence for issue in problem.issues if issue.severity == "error"]


def test_names_with_more_and_fewer_folders_are_one_image(tmp_path: Path) -> None:
    files = ["scans/a.png", "b.png", "x/c.png", "y/c.png"]
    named = ["a.png", "scans\\a.png", "in/b.png", "y/c.png"]
    assert resolved(tmp_path, files, *((7, name) for name in named)) == [0, 0, 1, 3]


def test_an_id_of_another_image_than_the_file_name_is_refused(tmp_path: Path) -> None:
    assert resolved(tmp_path, ["a.png", "b.png"], (1, "a.png"), (2, "a.png"), (3, "b.png")) == [
        "dt.json: $[1].image_id: image_id and file_name of a result must be those of one image; "
        'found 2, which is "b.png", for "a.png". Correct one of them, or leave out file_name.'
    ]


def test_names_that_no_image_or_several_have_are_refused(tmp_path: Path) -> None:
    rule = "file_name must be that of one image of gt.json"
    fix = 'The images there are named as "x/a.png". Give the ground truth of these results, or correct the name.'
    assert resolved(tmp_path, ["x/a.png", "y/a.png"], (1, "a.png"), (1, "z/a.png"), (2, "y/a.png"), (2, "b.png")) == [
        f'dt.json: $[{row}].file_name: {rule}; found "{name}". {fix}'
        for row, name in ((0, "a.png"), (1, "z/a.png"), (3, "b.png"))
    ]


def test_ids_that_are_no_names_are_refused_with_what_both_sides_look_like(tmp_path: Path) -> None:
    rule = "image_id must be an id of gt.json (COCO format)"
    for key, kind in (("c", "texts, as stems of file names are"), ("c.png", "file names"), (7, "whole numbers")):
        assert resolved(tmp_path, ["a.png", "b.png"], (key, None)) == [
            f'dt.json: $[0].image_id: {rule}; found {key}. The ids there are whole numbers, as 1 of "a.png"; those of '
            f"the results are {kind}. Give the ground truth of these results, or correct the id.",
        ]
