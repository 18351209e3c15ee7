"""Resampling documents with replacement: how often each is drawn, and the interval that follows.

Owns the draws and the percentile interval. Documents are drawn, not pages or boxes, because what happens on the pages
of one document is not independent; both models see the same draws, so that what makes a document hard for both falls
out of their difference. A draw is a row of weights: how often each document occurs in it. Weights are whole numbers.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

import numpy as np

from evaluator.model.boxes import FloatArray, IntArray

SEED: Final = 0
RESAMPLES: Final = 2000
LEVEL: Final = 0.95
"""Share of the resamples that an interval holds."""
FEW_DOCUMENTS: Final = 8
"""With fewer documents than this an interval is given in JSON, and shown as too uncertain."""
UNDEFINED_SHARE: Final = 0.05
"""There is no interval when more than this share of the resamples leaves the difference undefined."""

# Weights that are held at once: 32 MiB.
_WEIGHTS_AT_ONCE: Final = 1 << 22


def draws(documents: int, *, resamples: int = RESAMPLES, seed: int = SEED) -> Iterator[FloatArray]:
    """How often each document occurs in each resample, some resamples at a time.

    Parameters
    ----------
    documents : int
        D, how many there are and how many a resample draws.
    resamples : int
        R.

    Yields
    ------
    float64, shape (some of R, D), whole numbers
        Rows add up to D. Together they have R rows, the same ones for the same seed, whatever else is done.

    Notes
    -----
    Resample i is draw i of ``numpy.random.default_rng(seed).integers(0, D, D)``, one after the other.
    """
    rng = np.random.default_rng(seed)
    step = max(_WEIGHTS_AT_ONCE // max(documents, 1), 1)
    for start in range(0, resamples, step):
        rows = min(step, resamples - start)
        if not documents:
            yield np.zeros((rows, 0))
            continue
        drawn = rng.integers(0, documents, (rows, documents))
        drawn += np.arange(rows)[:, None] * documents
        counts = np.bincount(drawn.ravel(), minlength=rows * documents)
        yield counts.reshape(rows, documents).astype(np.float64)


class Interval(NamedTuple):
    """Percentile intervals of M numbers.

    Attributes
    ----------
    low, high : float64, shape (M,)
        NaN where too many resamples are undefined.
    undefined : int64, shape (M,)
        Resamples in which the number is undefined.
    """

    low: FloatArray
    high: FloatArray
    undefined: IntArray


def interval(resampled: FloatArray, *, level: float = LEVEL) -> Interval:
    """The percentile interval of each column.

    Parameters
    ----------
    resampled : float64, shape (R, M)
        One row per resample; NaN where undefined.
    level : float
        In (0, 1).

    Returns
    -------
    Interval
        A resample in which the number is undefined (no document with the label was drawn) is left out. Where these
        are more than `UNDEFINED_SHARE`, or nothing is defined at all, the interval is NaN: its ends are those of the
        outer 2.5 %, which that many unknown values could move anywhere.

    Notes
    -----
    Efron's percentile interval, quantiles interpolated linearly. The upper end is that of the negated numbers, so
    that swapping the models negates the interval to the last digit.
    """
    undefined = np.isnan(resampled).sum(axis=0)
    low, high = _lower_end(resampled, level), -_lower_end(-resampled, level)
    known = (undefined <= UNDEFINED_SHARE * len(resampled)) & (undefined < len(resampled))
    return Interval(np.where(known, low, np.nan), np.where(known, high, np.nan), undefined)


def _lower_end(resampled: FloatArray, level: float) -> FloatArray:
    """The quantile (1 - level) / 2 of the defined values of each column; NaN without any."""
    if not resampled.size:
        return np.full(resampled.shape[1], np.nan)
    ranked = np.sort(resampled, axis=0)  # NaN last
    last = np.maximum((~np.isnan(resampled)).sum(axis=0) - 1, 0)
    # Rounded, because 1 - 0.95 is not exactly 0.05.
    place = round((1.0 - level) / 2.0, 12) * last
    below = np.floor(place).astype(np.int64)
    columns = np.arange(resampled.shape[1])
    under, over = ranked[below, columns], ranked[np.minimum(below + 1, last), columns]
    return np.asarray(under + (over - under) * (place - below))
