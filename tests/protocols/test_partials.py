"""A corpus that is cut anywhere between documents: the partials of its parts, merged, give the bits of the whole.

Those of fields are `ComparedFields`, merged in `test_protocol_fields.py`.
"""

from __future__ import annotations

import itertools
import json
import pickle
from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import ModuleType
from typing import TypeVar

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluator.formats.posters import Posters, read_poster
from evaluator.matching.box_scores import ReliabilityPartial, box_calibrations
from evaluator.metrics.confidence import Calibration
from evaluator.metrics.results import MetricColumns, ScoreCurve
from evaluator.protocols import pixel, pod, posters, snapshot
from evaluator.protocols.pixel.evaluation import PixelPartial
from evaluator.protocols.pod.evaluation import PodPartial
from evaluator.protocols.posters.evaluation import PostersPartial
from evaluator.protocols.snapshot.evaluation import SnapshotPartial
from tests.building import Box, annotations, ground_truth, plain_curve, random_rows

DOCUMENTS = 6
PartialT = TypeVar("PartialT")
corpora = given(seed=st.integers(0, 10**6), cuts=st.lists(st.integers(0, DOCUMENTS), max_size=3))


def rows_of(seed: int) -> tuple[list[Box], list[Box]]:
    """Both sides; the documents of the predictions take turns in their file, some have none, and scores are equal."""
    truth, predicted = random_rows(seed, documents=DOCUMENTS)
    rng = np.random.default_rng(seed)
    absent = f"{rng.integers(2 * DOCUMENTS)}.pdf"
    kept = [row._replace(score=round(row.score or 0.0, 1)) for row in predicted if row.document != absent]
    return truth, [kept[place] for place in rng.permutation(len(kept)).tolist()]


def parts_of(truth: list[Box], predicted: list[Box], cuts: Sequence[int]) -> list[tuple[list[Box], list[int]]]:
    """The ground truth of each part, and the places of its predictions."""
    made = []
    for first, last in itertools.pairwise([0, *sorted(cuts), DOCUMENTS]):
        names = {f"{document}.pdf" for document in range(first, last)}
        places = [place for place, row in enumerate(predicted) if row.document in names]
        made.append(([row for row in truth if row.document in names], places))
    return made


def sent(partial: PartialT) -> PartialT:
    """The partial as another process gets it."""
    again: PartialT = pickle.loads(pickle.dumps(partial))
    return again


@corpora
@pytest.mark.parametrize("class_weight", [{}, {"Table": 0.3}], ids=["plain", "weighted"])
def test_snapshot(seed: int, cuts: list[int], class_weight: dict[str, float]) -> None:
    truth, predicted = rows_of(seed)
    whole = snapshot.evaluate(ground_truth(truth), annotations(predicted), class_weight=class_weight)
    results = [
        snapshot.evaluate(
            ground_truth(of_part), annotations([predicted[at] for at in places]), class_weight=class_weight
        )
        for of_part, places in parts_of(truth, predicted, cuts)
    ]
    merged = SnapshotPartial.merged([sent(SnapshotPartial.of(result)) for result in results])
    assert merged.to_json().items() <= whole.to_json().items()
    assert ("common_documents" in merged.to_json()) is ("common_documents" in whole.to_json())
    assert replace(whole, merged=merged).table() == whole.table()


@corpora
@pytest.mark.parametrize("ap", ["11-point", "all-point"])
def test_pod(seed: int, cuts: list[int], ap: pod.evaluation.AveragePrecision) -> None:
    truth, predicted = rows_of(seed)
    whole = pod.evaluate(ground_truth(truth), annotations(predicted), ap=ap)
    parts = []
    for of_part, places in parts_of(truth, predicted, cuts):
        side = annotations([predicted[at] for at in places])
        side = replace(side, boxes=replace(side.boxes, row=np.array(places, dtype=np.int64)))
        parts.append(sent(PodPartial.of(pod.evaluate(ground_truth(of_part), side, ap=ap))))
    merged = PodPartial.merged(parts)
    assert merged.to_json() == whole.to_json()["thresholds"]
    assert tuple(merged.rows()) == whole.table().rows


@corpora
def test_pixel(seed: int, cuts: list[int]) -> None:
    truth, predicted = rows_of(seed)
    whole = pixel.evaluate(ground_truth(truth), annotations(predicted), page_size=(64.0, 48.0))
    results = [
        pixel.evaluate(ground_truth(of_part), annotations([predicted[at] for at in places]), page_size=(64.0, 48.0))
        for of_part, places in parts_of(truth, predicted, cuts)
    ]
    merged = PixelPartial.merged([sent(PixelPartial.of(result)) for result in results])
    assert merged.to_json(exact=True).items() <= whole.to_json(exact=True).items()
    assert replace(whole, merged=merged).table() == whole.table()


@corpora
@pytest.mark.parametrize("protocol", [snapshot, pod], ids=["snapshot", "pod"])
def test_score_curves_and_reliability(seed: int, cuts: list[int], protocol: ModuleType) -> None:
    truth, predicted = rows_of(seed)
    whole = protocol.evaluate(ground_truth(truth), annotations(predicted)).first
    results = [
        protocol.evaluate(ground_truth(of_part), annotations([predicted[at] for at in places])).first
        for of_part, places in parts_of(truth, predicted, cuts)
    ]
    merged = ScoreCurve.merged([sent(result.score_curve()) for result in results])
    assert plain_curve(merged) == plain_curve(whole.score_curve())
    calibrations = ReliabilityPartial.merged([sent(ReliabilityPartial.of(result)) for result in results]).calibrations()
    assert plain_calibrations(calibrations) == plain_calibrations(box_calibrations(whole))


def plain_calibrations(calibrations: Mapping[str | None, Calibration | None]) -> dict[str | None, list[str]]:
    """The bits of each; NaN is equal to itself in text."""
    return {
        label: []
        if bins is None
        else [repr(getattr(bins, name).tolist()) for name in ("count", "accuracy", "mean_confidence")]
        for label, bins in calibrations.items()
    }


def posters_of(names: Sequence[int], rng: np.random.Generator) -> dict[str, str]:
    """Extractions of some posters as text; one that is broken among them."""
    words = ["rain", "soil", "2.5", "17 plots", "leaf", "error of 4", "river"]
    texts = {f"p{name}": " ".join(rng.choice(words, size=rng.integers(1, 9))) for name in names}
    return {
        name: json.dumps({"posterContent": {"sections": [{"sectionContent": text}]}}) for name, text in texts.items()
    }


def side(name: str, texts: dict[str, str]) -> Posters:
    read = {key: read_poster(text.encode(), f"{key}.json", key)[0] for key, text in sorted(texts.items())}
    return Posters(name, "0" * 64, read, {}, ())


@corpora
def test_posters(seed: int, cuts: list[int]) -> None:
    rng = np.random.default_rng(seed)
    truth, predicted = (posters_of(range(DOCUMENTS), rng) for _ in range(2))
    del predicted[f"p{rng.integers(DOCUMENTS)}"]
    whole = posters.evaluate(side("gold", truth), side("run", predicted))
    parts = []
    for first, last in itertools.pairwise([0, *sorted(cuts), DOCUMENTS]):
        names = [f"p{name}" for name in range(first, last)]
        sides = [{name: texts[name] for name in names if name in texts} for texts in (truth, predicted)]
        parts.append(sent(PostersPartial.of(posters.evaluate(side("gold", sides[0]), side("run", sides[1])))))
    merged = PostersPartial.merged(parts[::-1])
    assert merged.to_json().items() <= whole.to_json().items()
    assert (merged.columns, tuple(merged.rows())) == (whole.table().columns, whole.table().rows)


def test_columns_that_know_no_fit_are_sent_as_they_are() -> None:
    counts = np.array([1, 2])
    again = sent(MetricColumns(counts, counts, counts, sum_of_fit=None))
    assert again.f1.tolist() == [0.5, 0.5]
    assert np.isnan(again.mean_iou).all()
