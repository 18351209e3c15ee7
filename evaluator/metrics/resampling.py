"""Resampling of documents with replacement: draws, percentile intervals, correction for few documents.

Documents are drawn, not pages or boxes, because what happens on the pages of one document is not independent. A draw is
a row of weights, whole numbers: how often each document occurs in it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import lru_cache
from statistics import NormalDist
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from evaluator.data.boxes import FloatArray, IntArray

SEED: Final = 0
RESAMPLES: Final = 2000
LEVEL: Final = 0.95
"""Share of the resamples that an interval holds."""
LEAST_RESAMPLES: Final = round(2.0 / (1.0 - LEVEL))
"""An interval needs as many: with fewer, each outer 2.5 % are less than one resample."""
FEW_DOCUMENTS: Final = 8
"""With fewer documents than this an interval is given in JSON, and shown as too uncertain."""
UNDEFINED_SHARE: Final = 0.05
"""There is no interval when more than this share of the resamples leaves the difference undefined."""

# Weights that are held at once: 16 MiB.
_WEIGHTS_AT_ONCE: Final = 1 << 21
# Weights that are kept for the next threshold or measure, a byte each: 32 MiB.
_WEIGHTS_KEPT: Final = 1 << 25


Weights = npt.NDArray[np.unsignedinteger]
"""How often each document occurs in some resamples, shape (R, D)."""


def check_resamples(resamples: int) -> None:
    """Raise ValueError for fewer resamples than an interval needs; 0 is for no intervals."""
    if resamples != 0 and resamples < LEAST_RESAMPLES:
        raise ValueError(f"resamples must be 0 or at least {LEAST_RESAMPLES}; found {resamples}")


def draws(documents: int, *, resamples: int = RESAMPLES, seed: int = SEED) -> Iterator[Weights]:
    """Yield how often each of D documents occurs in each of R resamples, some resamples at a time.

    Unsigned integers of the smallest type that holds them, not to be written to, shape (some of R, D); rows add up to
    D. Resample i is draw i of ``numpy.random.default_rng(seed).integers(0, D, D)``.
    """
    keep = documents * resamples <= _WEIGHTS_KEPT
    yield from (_kept if keep else _drawn)(documents, resamples, seed)


@lru_cache(maxsize=2)
def _kept(documents: int, resamples: int, seed: int) -> tuple[Weights, ...]:
    return tuple(_drawn(documents, resamples, seed))


def _drawn(documents: int, resamples: int, seed: int) -> Iterator[Weights]:
    """Yield the draws, in the smallest type that holds them."""
    rng = np.random.default_rng(seed)
    step = max(_WEIGHTS_AT_ONCE // max(documents, 1), 1)
    for start in range(0, resamples, step):
        rows = min(step, resamples - start)
        if not documents:
            yield np.zeros((rows, 0), np.uint8)
            continue
        drawn = rng.integers(0, documents, (rows, documents))
        drawn += np.arange(rows)[:, None] * documents
        counts = np.bincount(drawn.ravel(), minlength=rows * documents)
        block = counts.reshape(rows, documents).astype(np.min_scalar_type(int(counts.max())))
        block.setflags(write=False)
        yield block


class Interval(NamedTuple):
    """Percentile intervals of M numbers, shape (M,); NaN where too many resamples are `undefined`."""

    low: FloatArray
    high: FloatArray
    undefined: IntArray


def interval(resampled: FloatArray) -> Interval:
    """Return the percentile interval of each column of `resampled`, shape (R, M), NaN where undefined.

    Undefined resamples are left out; where they are more than `UNDEFINED_SHARE`, or all, the interval is NaN. Efron's
    percentile interval, quantiles interpolated linearly; the upper end is that of the negated numbers, so that swapping
    the models negates the interval to the last digit.
    """
    undefined = np.isnan(resampled).sum(axis=0)
    low, high = _lower_end(resampled), -_lower_end(-resampled)
    known = (undefined <= UNDEFINED_SHARE * len(resampled)) & (undefined < len(resampled))
    return Interval(np.where(known, low, np.nan), np.where(known, high, np.nan), undefined)


def widen_interval(
    interval: Interval,
    estimate: FloatArray,
    documents: IntArray,
    *,
    least: FloatArray | float = -math.inf,
    most: FloatArray | float = math.inf,
) -> Interval:
    """Return intervals that hold what they say for few documents too.

    `documents`, shape (M,), have the number; each end lies `reach` times as far from the `estimate`, but within `least`
    and `most`; an end on the other side of the estimate stays.

    Resampling n documents takes their spread with n instead of n - 1, and the normal quantile where only n documents
    say how wide it is. Hesterberg, "What Teachers Should Know About the Bootstrap" (2015), section 4.1, applied to the
    distance from the estimate and not to the quantile, which 2,000 resamples do not reach.
    """
    factor = np.array([reach(int(count)) for count in documents]) - 1.0
    low = interval.low - factor * np.maximum(estimate - interval.low, 0.0)
    high = interval.high + factor * np.maximum(interval.high - estimate, 0.0)
    return Interval(np.maximum(low, least), np.minimum(high, most), interval.undefined)


@lru_cache(maxsize=4096)
def reach(documents: int) -> float:
    """Return the factor by which an interval of n documents is widened; 1.0 below 2 documents.

    >>> [round(reach(n), 2) for n in (8, 20, 50, 500)]
    [1.29, 1.1, 1.04, 1.0]
    """
    if documents < 2:
        return 1.0
    normal = NormalDist().inv_cdf((1.0 + LEVEL) / 2.0)
    return math.sqrt(documents / (documents - 1)) * _student(documents - 1) / normal


def _student(freedom: int) -> float:
    """Return the two-sided quantile of Student's t, by Abramowitz and Stegun 26.7.3 and 26.7.4."""
    # Inverted by halving; from 30 degrees of freedom on student_expansion, which then is right to six digits.
    if freedom >= 30:
        return student_expansion(LEVEL, freedom)
    low, high = 0.0, 1e6
    for _ in range(100):
        middle = (low + high) / 2.0
        low, high = (middle, high) if _within(middle, freedom) < LEVEL else (low, middle)
    return low


def student_expansion(level: float, freedom: float) -> float:
    """Return `_student` by Abramowitz and Stegun 26.7.5; within 0.002 at 95 % from 6 degrees on."""
    z = NormalDist().inv_cdf((1.0 + level) / 2.0)
    first = (z**3 + z) / 4.0
    second = (5 * z**5 + 16 * z**3 + 3 * z) / 96.0
    third = (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384.0
    return z + first / freedom + second / freedom**2 + third / freedom**3


def _within(t: float, freedom: int) -> float:
    """Return the share of Student's t between -t and t."""
    angle = math.atan2(t, math.sqrt(freedom))
    cosine, sine = math.cos(angle), math.sin(angle)
    odd = freedom % 2
    if freedom == 1:
        return 2.0 * angle / math.pi
    term = total = cosine if odd else 1.0
    for step in range(3 if odd else 2, freedom - 1, 2):
        term *= cosine * cosine * (step - 1) / step
        total += term
    return 2.0 / math.pi * (angle + sine * total) if odd else sine * total


def _lower_end(resampled: FloatArray) -> FloatArray:
    """Return the quantile (1 - LEVEL) / 2 of the defined values of each column; NaN without any."""
    if not resampled.size:
        return np.full(resampled.shape[1], np.nan)
    ranked = np.sort(resampled, axis=0)  # NaN last
    last = np.maximum((~np.isnan(resampled)).sum(axis=0) - 1, 0)
    # Rounded, because 1 - 0.95 is not exactly 0.05.
    place = round((1.0 - LEVEL) / 2.0, 12) * last
    below = np.floor(place).astype(np.int64)
    columns = np.arange(resampled.shape[1])
    under, over = ranked[below, columns], ranked[np.minimum(below + 1, last), columns]
    return np.asarray(under + (over - under) * (place - below))
