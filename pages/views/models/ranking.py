"""The view Models: the open models and results of earlier runs, ranked by one measure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

import msgspec

from evaluator.compare import stored_results
from evaluator.compare.models import ModelEntry, Standings, model_entry, standings
from evaluator.compare.stored_results import StoredResult
from evaluator.data.issues import BadInput, Issue
from evaluator.matching.box_results import ALL_LABELS
from evaluator.metrics.measures import Key
from evaluator.metrics.metric import BOX_METRICS, Metric
from evaluator.metrics.results import distinct_names
from pages.app import protocol
from pages.app.cache import Cached
from pages.app.results import ResultKey, evaluation_of, result_key, result_of
from pages.app.session_files import LoadedBoxes, Model
from pages.app.state import State, state

_DEFAULT: Final = "f1"
_ENTRIES: Final = Cached[ModelEntry](16)
_STANDINGS: Final = Cached[Standings](32, spinner="Resampling the documents")


def measures() -> Mapping[str, Metric]:
    """Return what models can be ranked by: measures of a matching, and the protocol's own numbers."""
    return protocol.chosen().metrics


def is_of_protocol(name: str) -> bool:
    """Return whether a measure is the protocol's own: of all predictions at its own thresholds."""
    return name not in BOX_METRICS


@dataclass(frozen=True, slots=True)
class ExcludedResult:
    """A result of an earlier run that cannot be listed with the others, and why."""

    result: StoredResult
    why: str


@dataclass(frozen=True, slots=True, eq=False)
class RankedModels:
    """All models by a measure and by others; `places` among the open models, None for earlier results."""

    standings: Standings
    others: tuple[Standings, ...]
    places: tuple[int | None, ...]
    apart: tuple[ExcludedResult, ...]


def _chosen() -> tuple[str, ...]:
    known = measures()
    first = state.rank_by if state.rank_by in known else _DEFAULT
    return (first, *(name for name in state.rank_more if name in known and name != first))


def _asked(loaded: LoadedBoxes) -> tuple[object, ...]:
    keys = tuple(_keys(loaded, own=is_of_protocol(name)) for name in _chosen())
    return _chosen(), keys, state.label, state.iou, state.earlier


def is_ready(loaded: LoadedBoxes) -> bool:
    """Return whether this session has seen these numbers with their intervals before."""
    return state.ranked_before == _asked(loaded)


def rank_models(loaded: LoadedBoxes, *, resampled: bool = True) -> RankedModels:
    """Return open models and fitting earlier results; without resampling only values, no intervals."""
    label = state.label or ALL_LABELS
    first, *more = _chosen()
    fitting, apart = _sorted_out(loaded, label, own=is_of_protocol(first))
    names = distinct_names([*loaded.names, *(one.name for one in fitting)])

    def of(name: str) -> Standings:
        key, own = Key(name, label), is_of_protocol(name)
        if not resampled:
            return standings(_model_entries(loaded, fitting, names, own=own, mistakes=False), key, resamples=0)
        follows_from = (_keys(loaded, own=own), msgspec.json.encode(fitting), names, key, state.iou)
        return _STANDINGS.of(follows_from, lambda: standings(_model_entries(loaded, fitting, names, own=own), key))

    made = [of(name) for name in (first, *more)]
    if resampled:
        state.ranked_before = _asked(loaded)
    place_of = {name: place for place, name in enumerate(names[: len(loaded.names)])}
    places = tuple(place_of.get(model.name) for model in made[0].models)
    return RankedModels(made[0], tuple(made[1:]), places, apart)


def _keys(loaded: LoadedBoxes, *, own: bool) -> tuple[ResultKey, ...]:
    """Return what the numbers of the models follow from; the protocol's own hold at every operating point."""
    keys = (result_key(loaded, model) for model in loaded.models)
    return tuple(key._replace(min_score=0.0, iou=0.0) if own else key for key in keys)


def _sorted_out(loaded: LoadedBoxes, label: str, *, own: bool) -> tuple[list[StoredResult], tuple[ExcludedResult, ...]]:
    matching = result_of(loaded, loaded.models[0]).matching
    signature = matching.signature(state.iou).line
    fitting, apart = [], []
    for one in state.earlier:
        why = one.against(
            protocol=protocol.chosen().name,
            signature=signature,
            truth_sha256=loaded.ground_truth.sha256,
            iou=state.iou,
            own=own,
        )
        if not why and label != ALL_LABELS:
            why = "has its numbers over all labels only"
        if why:
            apart.append(ExcludedResult(one, why))
        else:
            fitting.append(one)
    return fitting, tuple(apart)


def _model_entries(
    loaded: LoadedBoxes, fitting: Sequence[StoredResult], names: Sequence[str], *, own: bool, mistakes: bool = True
) -> list[ModelEntry]:
    asked = tuple(sorted({name for name in _chosen() if not is_of_protocol(name)}))
    wanted = _Wanted(own, asked, state.label, mistakes)
    of_open = [_model_entry(loaded, *each, wanted) for each in zip(loaded.models, names, strict=False)]
    rest = zip(fitting, names[len(of_open) :], strict=True)
    return [*of_open, *(one.model_entry(state.iou, name) for one, name in rest)]


class _Wanted(NamedTuple):
    """What is asked of a model: the protocol's own numbers, metrics, a label or "", boxes to correct."""

    own: bool
    metrics: tuple[str, ...]
    label: str
    mistakes: bool


def _model_entry(loaded: LoadedBoxes, model: Model, name: str, wanted: _Wanted) -> ModelEntry:
    def entry() -> ModelEntry:
        numbers = protocol.chosen().measures(evaluation_of(loaded, model)) if wanted.own else None
        result, label = result_of(loaded, model), wanted.label or None
        return model_entry(name, result, numbers, label=label, metrics=wanted.metrics, mistakes=wanted.mistakes)

    return _ENTRIES.of((result_key(loaded, model), name, wanted), entry)


def use_earlier(files: Sequence[tuple[str, bytes]]) -> None:
    """Replace the earlier results by those of uploaded files; what is wrong with them is kept."""
    added: list[StoredResult] = []
    wrong: list[Issue] = []
    for name, content in files:
        try:
            added += [one for one in stored_results.read_results(content, name) if one not in added]
        except BadInput as problem:
            wrong += problem.issues
    state.earlier, state.earlier_rejected = tuple(added), tuple(wrong)


def remove_earlier() -> None:
    """Drop all earlier results."""
    state.earlier, state.earlier_rejected = (), ()


def choose_pair(loaded: LoadedBoxes, row: int, column: int) -> None:
    """Make the models of two places A and B of every view that shows two."""
    State.model_a.set(row)
    State.model_b.set(column)
    state.box = None


def letter_of(loaded: LoadedBoxes, place: int | None) -> str:
    """Return the letter of an open model in the views that show two; empty for others."""
    return next((model.letter for model in loaded.pair if model.index == place), "")
