"""What only one of two files lists is said: documents, and pages with boxes of the documents that both list."""

from __future__ import annotations

import numpy as np
import pytest

from evaluator.data.unshared_pages import unshared_issues
from tests.building import Box, annotations, box

FIX = "Compare files of the same {}; nothing to do if nothing is on them."


def rows(*pages: int, document: str = "a") -> list[Box]:
    return [box(0.1, 0.1, 0.5, 0.5, document=document, page=page) for page in pages]


@pytest.mark.parametrize(
    ("truth", "predicted", "said"),
    [
        (rows(0, 1), rows(1, 0), []),
        (rows(0, 1), rows(0), ["pages that only gt lists count as missed; found 1 of 2 pages: a, page 2."]),
        (
            rows(1),
            rows(0, 1, 2),
            ["pages that only dt lists count as invented; found 2 of 3 pages: a, page 1; a, page 3."],
        ),
        (
            rows(*range(6)),
            [*rows(5), *rows(0, document="b")],
            [
                "pages that only gt lists count as missed; "
                "found 5 of 6 pages: a, page 1; a, page 2; a, page 3 and 2 more.",
                'documents that only dt lists count as invented; found 1: "b".',
            ],
        ),
    ],
)
def test_what_one_file_lacks_is_named(truth: list[Box], predicted: list[Box], said: list[str]) -> None:
    sides = annotations(truth, side="ground_truth", name="gt"), annotations(predicted, name="dt")
    issues = unshared_issues(*sides)
    places = {"documents": "$.documents", "pages": "$.predictions"}
    nouns = [each.split()[0] for each in said]
    wanted = [f"dt: {places[noun]}: {each} {FIX.format(noun)}" for noun, each in zip(nouns, said, strict=True)]
    assert [issue.sentence for issue in issues] == wanted
    counts = [np.bincount(side.boxes.entry, minlength=len(side.page_index)) for side in sides]
    without = [annotations([], pages=[(row.document, row.page) for row in side]) for side in (truth, predicted)]
    assert [issue.found for issue in unshared_issues(*without, (counts[0], counts[1]))] == [
        each.found for each in issues
    ]
    assert unshared_issues(*sides, invented=False) == tuple(each for each in issues if "missed" in each.rule)


def test_a_page_without_boxes_is_missed_by_nobody() -> None:
    listed = annotations(rows(0), pages=[("a", 1), ("a", 2)])
    assert unshared_issues(listed, annotations(rows(0))) == ()
    assert unshared_issues(annotations(rows(0)), listed) == ()
