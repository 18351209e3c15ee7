"""Results of the models of boxes under the chosen protocol and its thresholds, computed once for all."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Final, NamedTuple

import numpy as np

from evaluator.data.dataset import Dataset
from evaluator.matching.box_items import ClassConfusion, class_confusion
from evaluator.matching.box_results import AnyBoxPairs, AnyBoxResult, BoxMatching
from evaluator.protocols.base import BoxEvaluation
from evaluator.system.memory import release_freed_memory
from pages.app import protocol
from pages.app.cache import Cached
from pages.app.session_files import BOXES, LoadedBoxes, Model, files
from pages.app.state import OF_BOXES, RASTERED, Field, Part, State, state

# Of every protocol that matches boxes.
Result = AnyBoxResult
STANDARD: Final = "Defaults"
BEST_F1: Final = "Best F1"
# With so many boxes a result and its mistakes take some 60 MB for each model.
_MANY_BOXES: Final = 1_000_000
# More than these are resampled in the terminal: 2,000 rankings of each label and threshold take minutes.
_MOST_RESAMPLED: Final = 20_000


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


_SCORES_OF: Final = Cached[_ScoresOf](64)


def _scores_of(loaded: LoadedBoxes, model: Model) -> _ScoresOf:

    def looked_through() -> _ScoresOf:
        score = loaded.dataset.predictions[model.index].score
        known = score[~np.isnan(score)]
        return _ScoresOf(len(known) > 0, len(known) > 0 and bool((known[0] != known).any()))

    return _SCORES_OF.of((loaded.digests, model.index), looked_through)


def use_standard() -> None:
    """Set the thresholds of the protocol."""
    state.iou = protocol.standard_iou()
    SCORES.set(())


def use_best_f1(loaded: LoadedBoxes) -> None:
    """Set each model's score threshold to that of the best F1 at the IoU threshold, and note them."""
    for model in loaded.models:
        key = (loaded.digests, protocol.key(), model.index, state.iou)
        best_f1 = partial(pairs_of(loaded, model).best_f1, iou=state.iou)
        State.score.of(model.index).set(_BEST_F1.of(key, best_f1))
    state.best_f1_at = thresholds(loaded)


def preset(loaded: LoadedBoxes) -> str | None:
    """Return which of the two presets the thresholds are at; None for neither."""
    at = thresholds(loaded)
    if at[0] == protocol.standard_iou() and not any(at[1:]):
        return STANDARD
    return BEST_F1 if state.best_f1_at == at else None


# --- results -------------------------------------------------------------------------------------------------

_PAIRS: Final = Cached[AnyBoxPairs](16, spinner="Comparing the boxes")
_MATCHINGS: Final = Cached[BoxMatching](128)
_RESULTS: Final = Cached[Result](32)
_EVALUATIONS: Final = Cached[BoxEvaluation](16, spinner="Computing average precision")
_CONFUSIONS: Final = Cached[ClassConfusion](16, spinner="Naming the mistakes")
_BEST_F1: Final = Cached[float](128)


def result_key(loaded: LoadedBoxes, model: Model, *, iou: float | None = None) -> ResultKey:
    """Return what the result of a model follows from, at the chosen or another IoU threshold."""
    at = state.iou if iou is None else iou
    return ResultKey(loaded.digests, protocol.key(), model.index, score_threshold(loaded, model), at)


def most_kept(dataset: Dataset, most: int) -> int | None:
    """Return `most` where there are so many boxes that no more results of earlier thresholds are kept; else None."""
    return most if _has_many(dataset) else None


def _has_many(dataset: Dataset) -> bool:
    return sum(map(len, (dataset.ground_truth, *dataset.predictions))) >= _MANY_BOXES


def pairs_of(loaded: LoadedBoxes, model: Model) -> AnyBoxPairs:
    """Return all pairs of a model that could match."""
    kept = loaded.digests if _has_many(loaded.dataset) else None
    key = (loaded.digests, protocol.key(), model.index)
    return _PAIRS.of(key, lambda: protocol.pairs(loaded.dataset, model.index, kept))


def _matching_of(loaded: LoadedBoxes, model: Model, key: ResultKey) -> BoxMatching:
    most = most_kept(loaded.dataset, 2 * len(loaded.models))
    return _MATCHINGS.of(key[:-1], lambda: protocol.match(pairs_of(loaded, model), key.min_score), most=most)


def matching_of_all(loaded: LoadedBoxes, model: Model) -> BoxMatching:
    """Return the matching of all predictions of a model, whatever its score threshold."""
    return _matching_of(loaded, model, result_key(loaded, model)._replace(min_score=0.0))


def evaluation_of(loaded: LoadedBoxes, model: Model) -> BoxEvaluation:
    """Return the evaluation of a model at the protocol's thresholds, with all its predictions."""
    key = result_key(loaded, model)._replace(min_score=0.0, iou=0.0)

    def evaluated() -> BoxEvaluation:
        made = protocol.evaluation(matching_of_all(loaded, model))
        # What equal scores do is found out while the curves are there, which take more memory than the boxes.
        _ = made.ties
        made.release()
        release_freed_memory()
        return made

    return _EVALUATIONS.of(key, evaluated)


def result_of(loaded: LoadedBoxes, model: Model, *, iou: float | None = None) -> Result:
    """Return the result of a model at the operating point, or at another IoU; the same object for all."""
    return _result(loaded, model, result_key(loaded, model, iou=iou))


def result_of_all(loaded: LoadedBoxes, model: Model) -> Result:
    """Return the result of all predictions of a model at the chosen IoU threshold."""
    return _result(loaded, model, result_key(loaded, model)._replace(min_score=0.0))


def _result(loaded: LoadedBoxes, model: Model, key: ResultKey) -> Result:
    # At a step of the sliders, and of all predictions of it or at another IoU.
    most = most_kept(loaded.dataset, 2 * len(loaded.models))
    return _RESULTS.of(key, lambda: _matching_of(loaded, model, key).at(key.iou), most=most)


def confusion_of(loaded: LoadedBoxes, model: Model) -> ClassConfusion:
    """Return which label of a model is found as which; see `class_confusion`."""
    return _CONFUSIONS.of(result_key(loaded, model), lambda: class_confusion(result_of(loaded, model)))


def is_resampled(loaded: LoadedBoxes, chosen: Sequence[Model]) -> bool:
    """Return whether models have so few boxes that a view resamples their documents."""
    return max(len(loaded.dataset.predictions[model.index]) for model in chosen) <= _MOST_RESAMPLED
