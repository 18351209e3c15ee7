"""Results of the models of boxes under the chosen protocol and its thresholds, computed once for all."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

import numpy as np

from evaluator.data.boxes import FloatArray
from evaluator.data.dataset import Dataset
from evaluator.matching.box_items import ClassConfusion, class_confusion
from evaluator.matching.box_results import AnyBoxPairs, AnyBoxResult, BoxMatching
from evaluator.protocols.base import BoxEvaluation
from pages.app import protocol
from pages.app.cache import cached
from pages.app.session_files import BOXES, LoadedBoxes, Model, files
from pages.app.state import OF_BOXES, RASTERED, Field, Part, State, state

# Of every protocol that matches boxes.
Result = AnyBoxResult
STANDARD: Final = "Standard thresholds"
BEST_F1: Final = "Best F1"


class ResultKey(NamedTuple):
    """What a result follows from: files, protocol, model and thresholds."""

    digests: tuple[str, ...]
    protocol: str
    model: int
    min_score: float
    iou: float


def iou_range() -> tuple[float, float]:
    """Return what the IoU threshold can be set to under the chosen protocol."""
    of = protocol.chosen()
    return of.iou_floor, of.iou_ceiling


# --- thresholds ----------------------------------------------------------------------------------------------


class _Scores(Field[tuple[float, ...]]):
    """The score thresholds of all models, without the zeros at the end; each is a value of its own."""

    def get(self) -> tuple[float, ...]:
        values = [State.score.of(place).get() for place in range(len(files(BOXES).models))]
        while values and not values[-1]:
            values.pop()
        return tuple(values)

    def set(self, value: tuple[float, ...]) -> None:
        for place in range(len(files(BOXES).models)):
            State.score.of(place).set(value[place] if place < len(value) else 0.0)

    def rewrite(self) -> None:
        for place in range(len(files(BOXES).models)):
            State.score.of(place).rewrite()


SCORES: Final = _Scores((), part=Part("scores", *OF_BOXES, kinds=RASTERED))


def score_threshold(loaded: LoadedBoxes, model: Model) -> float:
    """Return the score threshold of a model; 0 for one without any score."""
    value = State.score.of(model.index).get()
    return 0.0 if value and not _scores_of(loaded, model).known else value


def thresholds(loaded: LoadedBoxes) -> tuple[float, ...]:
    """Return the IoU threshold and the score threshold of each model."""
    return (state.iou, *(score_threshold(loaded, model) for model in loaded.models))


def has_scores(loaded: LoadedBoxes, model: Model) -> bool:
    """Return whether a model has two scores that differ, so that a score threshold means anything."""
    return _scores_of(loaded, model).differ


class _ScoresOf(NamedTuple):
    """Whether a model has any score, and whether there are two that differ."""

    known: bool
    differ: bool


def _scores_of(loaded: LoadedBoxes, model: Model) -> _ScoresOf:
    return _looked_through(loaded.digests, model.index, _score=loaded.dataset.predictions[model.index].score)


@cached(64)
def _looked_through(digests: tuple[str, ...], model: int, *, _score: FloatArray) -> _ScoresOf:
    known = _score[~np.isnan(_score)]
    return _ScoresOf(len(known) > 0, len(known) > 0 and bool((known[0] != known).any()))


def use_standard() -> None:
    """Set the thresholds of the protocol."""
    state.iou = protocol.standard_iou()
    SCORES.set(())


def use_best_f1(loaded: LoadedBoxes) -> None:
    """Set each model's score threshold to that of the best F1 at the IoU threshold, and note them."""
    for model in loaded.models:
        key = (loaded.digests, protocol.key(), model.index, state.iou)
        State.score.of(model.index).set(_best_f1(key, _pairs=pairs_of(loaded, model)))
    state.best_f1_at = thresholds(loaded)


def preset(loaded: LoadedBoxes) -> str | None:
    """Return which of the two presets the thresholds are at; None for neither."""
    at = thresholds(loaded)
    if at[0] == protocol.standard_iou() and not any(at[1:]):
        return STANDARD
    return BEST_F1 if state.best_f1_at == at else None


# --- results -------------------------------------------------------------------------------------------------


def result_key(loaded: LoadedBoxes, model: Model, *, iou: float | None = None) -> ResultKey:
    """Return what the result of a model follows from, at the chosen or another IoU threshold."""
    at = state.iou if iou is None else iou
    return ResultKey(loaded.digests, protocol.key(), model.index, score_threshold(loaded, model), at)


def pairs_of(loaded: LoadedBoxes, model: Model) -> AnyBoxPairs:
    """Return all pairs of a model that could match."""
    return _pairs(loaded.digests, protocol.key(), model.index, _dataset=loaded.dataset)


def matching_of_all(loaded: LoadedBoxes, model: Model) -> BoxMatching:
    """Return the matching of all predictions of a model, whatever its score threshold."""
    key = result_key(loaded, model)
    return _matching(key.digests, key.protocol, key.model, 0.0, _pairs=lambda: pairs_of(loaded, model))


def evaluation_of(loaded: LoadedBoxes, model: Model) -> BoxEvaluation:
    """Return the evaluation of a model at the protocol's thresholds, with all its predictions."""
    key = result_key(loaded, model)._replace(min_score=0.0, iou=0.0)
    return _evaluation(key, _matching=lambda: matching_of_all(loaded, model))


@cached(16, spinner="Computing average precision")
def _evaluation(key: ResultKey, *, _matching: Callable[[], object]) -> BoxEvaluation:
    return protocol.evaluation(_matching())


def result_of(loaded: LoadedBoxes, model: Model, *, iou: float | None = None) -> Result:
    """Return the result of a model at the operating point, or at another IoU threshold."""
    return _result(result_key(loaded, model, iou=iou), _pairs=lambda: pairs_of(loaded, model))


def result_of_all(loaded: LoadedBoxes, model: Model) -> Result:
    """Return the result of all predictions of a model at the chosen IoU threshold."""
    return _result(result_key(loaded, model)._replace(min_score=0.0), _pairs=lambda: pairs_of(loaded, model))


def confusion_of(loaded: LoadedBoxes, model: Model) -> ClassConfusion:
    """Return which label of a model is found as which; see `class_confusion`."""
    return _confusion(result_key(loaded, model), _result=result_of(loaded, model))


@cached(16, spinner="Comparing the boxes")
def _pairs(digests: tuple[str, ...], of: str, model: int, *, _dataset: Dataset) -> AnyBoxPairs:
    return protocol.pairs(_dataset, model)


@cached(128)
def _matching(
    digests: tuple[str, ...], of: str, model: int, min_score: float, *, _pairs: Callable[[], AnyBoxPairs]
) -> BoxMatching:
    return protocol.match(_pairs(), min_score)


@cached(32)
def _result(key: ResultKey, *, _pairs: Callable[[], AnyBoxPairs]) -> Result:
    """Return a result, the same object for every part of a view that asks."""
    return _matching(*key[:-1], _pairs=_pairs).at(key.iou)


@cached(128)
def _best_f1(key: tuple[tuple[str, ...], str, int, float], *, _pairs: AnyBoxPairs) -> float:
    return _pairs.best_f1(iou=key[-1])


@cached(16, spinner="Naming the mistakes")
def _confusion(key: ResultKey, *, _result: Result) -> ClassConfusion:
    return class_confusion(_result)
