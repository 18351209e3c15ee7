"""Further cases of the kinds that were reported, each with its right value or its right sentence."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from evaluator.data.issues import BadInput
from evaluator.project import evaluate
from tests.reports.making import coco, each, paddle, pages, size_of, voc, write


def counted(folder: Path, truth: str = "gt.json", prediction: str = "pred", **options: Any) -> tuple[Any, str]:
    """True positives, false positives and false negatives, None where it is refused, and all issues."""
    try:
        (made,) = evaluate("snapshot", folder / truth, [folder / prediction], iou=[0.5], **options)
    except BadInput as problem:
        return None, "\n".join(issue.sentence for issue in problem.issues)
    row = made.to_json()["thresholds"]["0.5"]["micro"]
    return tuple(row[key] for key in ("tp", "fp", "fn")), "\n".join(issue.sentence for issue in made.issues)


THREE = pages("a.jpg", "b.jpg", "c.jpg")
TWICE = [page.times(2) for page in THREE]
RESCALED = "2 of 3 pages: a, page 1 (2000 x 2800 instead of 1000 x 1400); b, page 1"


@pytest.mark.parametrize(
    "files",
    [
        {**each(TWICE[:2], voc, ".xml"), **each(THREE[2:], lambda page: voc(page, sized=False), ".xml")},
        {**each(TWICE[:2], lambda page: paddle(page, **size_of(page)), ".json"), **each(THREE[2:], paddle, ".json")},
        {"pred": {**coco([*TWICE[:2], THREE[2]]), "images": [
            *coco(TWICE)["images"][:2], {"id": 3, "file_name": "c.jpg"}]}},
    ],
)  # fmt: skip
def test_sizes_that_some_pages_state_are_used(tmp_path: Path, files: dict[str, Any]) -> None:
    write(tmp_path, {"gt.json": coco(THREE), **files})
    value, said = counted(tmp_path)
    assert value == (15, 0, 0)
    assert RESCALED in said
