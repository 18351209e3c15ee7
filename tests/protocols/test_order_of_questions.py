"""A result follows from files, options and thresholds alone: what was asked for before changes no byte and no code."""

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from itertools import product
from pathlib import Path
from types import CodeType, FrameType
from typing import Any, Final, NamedTuple, get_args

import numpy as np
import pytest

import evaluator
from evaluator.compare.changed_causes import changed_causes
from evaluator.compare.ledger import ledger
from evaluator.data.boxes import AnyArray
from evaluator.data.dataset import Dataset, join
from evaluator.matching.box_results import AnyBoxPairs, AnyBoxResult
from evaluator.metrics.results import Fit, MetricColumns
from evaluator.protocols import coco, pod, snapshot
from tests.building import annotations, ground_truth
from tests.comparing import two_models

OURS: Final = str(Path(evaluator.__file__).parent)
PROTOCOLS: Final[Mapping[str, Callable[[Dataset, int], AnyBoxPairs]]] = {
    "snapshot": snapshot.pair,
    "coco": coco.pair,
    "pod": pod.pair,
}


class Point(NamedTuple):
    iou: float
    min_score: float
    min_area: float = 0.0
    labels: tuple[str, ...] | None = None


POINTS: Final = (
    Point(0.5, 0.0),
    Point(0.51, 0.37),
    Point(0.9, 0.371),
    Point(0.5, 0.2, min_area=0.01),
    Point(0.75, 0.0, labels=("Table",)),
)


def _columns(table: MetricColumns) -> list[AnyArray]:
    return [getattr(table, name) for name in ("tp", "fp", "fn", *(f"mean_{name}" for name in get_args(Fit)))]


def _counts(results: list[AnyBoxResult]) -> list[AnyArray]:
    tables = ("micro", "per_label", "per_document", "per_document_and_label")
    return [column for result in results for name in tables for column in _columns(getattr(result, name))]


def _curves(results: list[AnyBoxResult]) -> list[AnyArray]:
    curves = [result.score_curve() for result in results]
    binned = [(result.true_positives_in_bins, result.binned_scores) for result in results]
    bins = [column for right, (counts, totals) in binned for column in (right, counts, totals.limbs)]
    return [column for curve in curves for column in (curve.tp, curve.predictions, curve.ground_truth)] + bins


def _mistakes(results: list[AnyBoxResult]) -> list[AnyArray]:
    names = ("kind", "page", "label", "truth_rows", "prediction_rows", "side", "share", "of_truth", "of_prediction")
    return [getattr(result.mistakes, name) for result in results for name in names]


def _causes(results: list[AnyBoxResult]) -> list[AnyArray]:
    return [getattr(result.causes, name) for result in results for name in ("kind", "page", "counts", "of_mistake")]


def _pages(results: list[AnyBoxResult]) -> list[AnyArray]:
    partners = [each for result in results for each in (result.truth_partner, result.prediction_partner)]
    return [column for result in results for column in _columns(result.per_page)] + partners


def _ledger(results: list[AnyBoxResult]) -> list[AnyArray]:
    both = ledger(*results)
    changed = changed_causes(*results, both)
    return [both.truth_outcome, both.a.partner, both.b.partner, both.per_page.net, changed.solved, changed.family]


VIEWS: Final = (_counts, _curves, _mistakes, _causes, _pages, _ledger)
QUESTIONS: Final = tuple(product(POINTS, VIEWS))


class Asked:
    def __init__(self, protocol: str, dataset: Dataset) -> None:
        self._pairs = [PROTOCOLS[protocol](dataset, model) for model in (0, 1)]
        self._results: dict[Point, list[AnyBoxResult]] = {}

    def answer(self, question: int) -> bytes:
        point, view = QUESTIONS[question]
        if point not in self._results:
            options: dict[str, Any] = point._asdict()
            iou = options.pop("iou")
            self._results[point] = [pairs.match(**options).at(iou) for pairs in self._pairs]
        return b"|".join(np.ascontiguousarray(column).tobytes() for column in view(self._results[point]))


@contextmanager
def functions_run() -> Iterator[set[CodeType]]:
    ran: set[CodeType] = set()

    def note(frame: FrameType, event: str, _given: object) -> None:
        if event == "call" and frame.f_code.co_filename.startswith(OURS):
            ran.add(frame.f_code)

    sys.setprofile(note)
    try:
        yield ran
    finally:
        sys.setprofile(None)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_thirty_questions_in_three_orders_have_the_same_answers_from_the_same_code(protocol: str) -> None:
    truth, *models = two_models(5, documents=3)
    dataset = join(ground_truth(truth), *(annotations(rows) for rows in models))
    first, alone = Asked(protocol, dataset), []
    for question in range(len(QUESTIONS)):
        first.answer(question)  # so that all modules are imported
    for question in range(len(QUESTIONS)):
        fresh = Asked(protocol, dataset)
        with functions_run() as ran:
            alone.append((fresh.answer(question), ran))
    assert len(QUESTIONS) == 30
    assert len({answer for answer, _ in alone}) > 20
    for seed in range(3):
        session = Asked(protocol, dataset)
        for question in np.random.default_rng(seed).permutation(len(QUESTIONS)).tolist():
            with functions_run() as ran:
                answer = session.answer(question)
            point, view = QUESTIONS[question]
            assert answer == alone[question][0], (seed, point, view.__name__)
            # What is kept is not made again; nothing else may differ.
            others = {code.co_qualname for code in ran - alone[question][1]}
            assert not others, (seed, point, view.__name__, others)
