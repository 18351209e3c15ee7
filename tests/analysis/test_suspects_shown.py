"""Suspects as the browser shows them: boxes as shares of the page, evidence, and the name of a list."""

from dataclasses import replace

import numpy as np
import pytest

from evaluator.analysis.suspects.listing import Suspects, suspect_target, suspects
from evaluator.components.suspects.view import in_file, shares_of, suspect_item, suspects_payload
from evaluator.data.boxes import iou
from evaluator.data.dataset import Dataset, join
from tests.building import annotations, box, ground_truth
from tests.planting import ground_truth_errors
from tests.sample_part import sample_dataset

NAMES = [("A", "lines 1.0"), ("B", "blocks 1.0")]


@pytest.fixture(scope="module")
def every() -> Suspects:
    sample = sample_dataset()
    truth, _ = ground_truth_errors(sample.ground_truth.source, 2)
    return suspects(join(truth, *(side.source for side in sample.predictions)))


def pixels(size: tuple[float, float]) -> Dataset:
    sides = ground_truth([box(0.1, 0.1, 0.4, 0.2)]), annotations([box(0.1, 0.1, 0.4, 0.2)])
    return join(*(replace(side, unit="pixels", page_size=np.array([size])) for side in sides))


def test_boxes_in_pixels_are_shares_where_the_size_of_the_page_is_known() -> None:
    sides = ground_truth([box(0.1, 0.1, 0.4, 0.2)]), annotations([box(0.1, 0.1, 0.4, 0.2)])
    assert shares_of(join(*sides), 0, (0.1, 0.2, 0.3, 0.4)) == (0.1, 0.2, 0.3, 0.4)
    dataset = pixels((200.0, 400.0))
    assert shares_of(dataset, 0, (20.0, 40.0, 100.0, 200.0)) == pytest.approx((0.1, 0.1, 0.5, 0.5))
    assert in_file(dataset, 0, (0.1, 0.1, 0.5, 0.5)) == pytest.approx((20.0, 40.0, 100.0, 200.0))
    unknown = pixels((np.nan, np.nan))
    assert shares_of(unknown, 0, (20.0, 40.0, 100.0, 200.0)) is None
    assert in_file(unknown, 0, (0.1, 0.1, 0.5, 0.5)) is None


def test_every_suspect_of_the_sample_with_its_boxes_and_evidence(every: Suspects) -> None:
    kinds = set()
    for place in range(len(every)):
        suspect = every[place]
        shown = suspect_item(every, place, suspect_target(every, place), NAMES)
        kinds.add(shown.kind)
        assert (shown.now is None) == (suspect.kind == "missing")
        assert (shown.proposed is None) == (suspect.kind == "extra")
        assert (shown.new_label is None) == (suspect.kind == "extra")
        if shown.new_label is not None:
            assert every.dataset.labels[shown.new_label] == suspect.proposal.label
        if shown.now is not None:
            assert shown.now == pytest.approx(suspect.bbox, abs=1e-6)
        for model in shown.models:
            side = every.dataset.predictions[0 if model.letter == "A" else 1]
            row = int(every.ranked.prediction[place, 0 if model.letter == "A" else 1])
            assert model.xyxy == pytest.approx(side.xyxy[row], abs=1e-6)
            (fit,) = [cells for cells in shown.fit if cells[0].startswith(f"IoU with {model.letter} ")]
            if suspect.kind != "missing":
                assert fit[1] == f"{iou(side.xyxy[[row]], np.array([suspect.bbox]))[0]:.2f}"
        assert shown.fit[-1][0] == "Label"
        assert ("no box" in shown.fit[-1]) == (suspect.kind in ("missing", "extra"))
    assert {"Border", "Extra"} <= kinds


def test_the_name_of_a_list_follows_from_the_list(every: Suspects) -> None:
    def made(places: list[int]) -> str:
        chosen = [(place, suspect_target(every, place)) for place in places]
        return suspects_payload(every, chosen, NAMES, more=0).set

    assert made([0, 1]) == made([0, 1])
    assert made([0, 1]) != made([1, 0])
    assert made([]) != made([0])
