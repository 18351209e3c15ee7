"""Average precision and other numbers of a protocol's own, as plain values of a result file, and read back from it.

Owns the form in which the rankings of `Measures` are kept: what is needed to work the numbers out again when documents
are drawn, without boxes and scores. Columns of whole numbers are texts with spaces between, because a result file is
indented. A file is trusted in nothing: what does not fit together raises ValueError with one sentence.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Final

import msgspec
import numpy as np

from evaluator.data.boxes import FloatArray, IntArray
from evaluator.matching.box_results import ALL_LABELS
from evaluator.metrics.average_precision import RECALL_101
from evaluator.metrics.bootstrap_ap import Interpolation, Ranking, all_point, by_predictions, eleven_point, on_grid
from evaluator.metrics.measures import Averages, Key, Means, Measures, Part, Ratios
from evaluator.metrics.results import defined

# Thresholds that share a code of bits.
_BITS: Final = 60
_MOST_NUMBERS: Final = 1 << 16
_BY_NAME: Final[Mapping[str, Interpolation]] = {
    "11-point": eleven_point,
    "all-point": all_point,
    "101-point": on_grid(RECALL_101),
}


class StoredRankings(msgspec.Struct, frozen=True):
    """Rankings of the same predictions at several thresholds.

    `numbers`: places of the rankings among those of the average. `document`: that of each prediction, by falling score.
    `hit`: bit k is set where a prediction is a true positive of ``numbers[k]``. `positives`: ground truth that counts
    in each document.
    """

    numbers: tuple[int, ...]
    document: str
    hit: str
    positives: str


class StoredAverages(msgspec.Struct, frozen=True):
    """Average precisions: of how many rankings, how precision is read off their curves, and the rankings."""

    interpolation: str
    values: tuple[float | None, ...]
    rankings: tuple[StoredRankings, ...]


class StoredRatios(msgspec.Struct, frozen=True):
    """Ratios: their values, and for each the sums of the documents above and below the line."""

    values: tuple[float | None, ...]
    numerator: tuple[str, ...]
    denominator: tuple[str, ...]


class StoredMeans(msgspec.Struct, frozen=True):
    """Means over numbers; the names of the metrics, all over all labels."""

    metrics: tuple[str, ...]
    values: tuple[float | None, ...]
    members: tuple[tuple[int, ...], ...]
    undefined_is_zero: bool = False
    averages: StoredAverages | None = None
    ratios: StoredRatios | None = None


def dump_measures(measures: Measures, metrics: Collection[str]) -> list[StoredMeans]:
    """Return the numbers over all labels of some metrics; empty when there are none of them."""
    keys = {key for key in measures.keys if key.metric in metrics and key.label == ALL_LABELS}
    means = []
    for part in measures.only(keys).parts:
        whole = part if isinstance(part, Means) else _as_means(part)
        of = whole.of
        means.append(
            StoredMeans(
                tuple(key.metric for key in whole.keys),
                _plain(whole.values),
                tuple(tuple(rows.tolist()) for rows in whole.members),
                whole.undefined_is_zero,
                _averages(of) if isinstance(of, Averages) else None,
                _ratios(of) if isinstance(of, Ratios) else None,
            )
        )
    return means


def load_measures(means: Sequence[StoredMeans], documents: int) -> tuple[Part, ...]:
    """Return the parts of `Measures` again; ValueError when they do not fit together or are of other documents."""
    return tuple(_means(each, documents) for each in means)


def _as_means(part: Part) -> Means:
    return Means(part.keys, part.values, part, tuple(np.arange(len(part.keys))[:, None]))


def _plain(values: FloatArray) -> tuple[float | None, ...]:
    return tuple(defined(value) for value in values)


def _averages(of: Averages) -> StoredAverages:
    grid = of.interpolated not in (eleven_point, all_point)
    name = "101-point" if grid else "11-point" if of.interpolated is eleven_point else "all-point"
    rankings = []
    for group in by_predictions(of.rankings, _BITS):
        first = of.rankings[group[0]]
        code = np.zeros(len(first.document), dtype=np.int64)
        for bit, place in enumerate(group):
            code |= of.rankings[place].hit.astype(np.int64) << bit
        rankings.append(StoredRankings(tuple(group), _text(first.document), _text(code), _text(first.positives)))
    return StoredAverages(name, _plain(of.values), tuple(rankings))


def _ratios(of: Ratios) -> StoredRatios:
    columns = (tuple(map(_text, np.rint(side).astype(np.int64).T)) for side in (of.numerator, of.denominator))
    return StoredRatios(_plain(of.values), *columns)


def _text(column: IntArray) -> str:
    return " ".join(map(str, column.tolist()))


def _means(means: StoredMeans, documents: int) -> Means:
    of: Part
    if means.averages is not None:
        of = _averages_of(means.averages, documents)
    elif means.ratios is not None:
        of = _ratios_of(means.ratios, documents)
    else:
        raise ValueError("a mean must have averages or ratios")
    size = len(of.keys)
    members = tuple(np.array(rows, dtype=np.int64) for rows in means.members)
    if not len(means.metrics) == len(means.values) == len(members):
        raise ValueError("metrics, values and members must have one length")
    if any(len(rows) and not 0 <= rows.min() <= rows.max() < size for rows in members):
        raise ValueError(f"members must be below {size}")
    keys = tuple(Key(metric, ALL_LABELS) for metric in means.metrics)
    return Means(keys, _values(means.values), of, members, means.undefined_is_zero)


def _averages_of(stored_: StoredAverages, documents: int) -> Averages:
    if stored_.interpolation not in _BY_NAME:
        raise ValueError(f"interpolation must be one of {', '.join(_BY_NAME)}")
    size = len(stored_.values)
    rankings: dict[int, Ranking] = {}
    for each in stored_.rankings:
        if len(each.numbers) > _BITS:
            raise ValueError(f"at most {_BITS} rankings share their predictions")
        document = _column(each.document, most=documents - 1)
        code = _column(each.hit, most=(1 << len(each.numbers)) - 1)
        positives = _column(each.positives)
        if len(document) != len(code) or len(positives) != documents:
            raise ValueError("document and hit must have one length, and positives one number for each document")
        for bit, place in enumerate(each.numbers):
            rankings[place] = Ranking(document, (code >> bit & 1).astype(bool), positives)
    if sorted(rankings) != list(range(size)):
        raise ValueError("every average must have one ranking")
    return Averages(
        tuple(Key("", str(place)) for place in range(size)),
        _values(stored_.values),
        tuple(rankings[place] for place in range(size)),
        _BY_NAME[stored_.interpolation],
        documents,
    )


def _ratios_of(stored_: StoredRatios, documents: int) -> Ratios:
    size = len(stored_.values)
    sides = []
    for texts in (stored_.numerator, stored_.denominator):
        columns = [_column(text) for text in texts]
        if len(columns) != size or any(len(column) != documents for column in columns):
            raise ValueError("every ratio must have one number for each document above and below the line")
        sides.append(np.stack(columns, axis=1).astype(np.float64) if columns else np.empty((documents, 0)))
    return Ratios(tuple(Key("", str(place)) for place in range(size)), _values(stored_.values), *sides)


def _values(values: Sequence[float | None]) -> FloatArray:
    if len(values) > _MOST_NUMBERS:
        raise ValueError(f"at most {_MOST_NUMBERS} numbers are read")
    column = np.array([np.nan if value is None else value for value in values], dtype=np.float64)
    if (np.abs(column) > 1.0).any():
        raise ValueError("values must be in [0, 1]")
    return column


def _column(text: str, *, most: int = (1 << 53) - 1) -> IntArray:
    try:
        column = np.array(text.split(), dtype=np.int64)
    except (ValueError, OverflowError):
        raise ValueError("a column must be whole numbers with spaces between") from None
    if len(column) and not 0 <= column.min() <= column.max() <= most:
        raise ValueError(f"numbers of a column must be from 0 to {most}")
    return column
