"""Average precision of resampled documents: exact against corpora with the copies, or followed within bounds."""

from collections.abc import Callable

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits  # type: ignore[import-untyped]

from evaluator.data.boxes import FloatArray, IntArray
from evaluator.metrics.average_precision import (
    RECALL_101,
    all_point_precision,
    average_precision,
    eleven_point_precision,
)
from evaluator.metrics.bootstrap_ap import (
    EXACT,
    Counts,
    Curves,
    Interpolation,
    Ranking,
    all_point,
    eleven_point,
    on_grid,
    per_document,
)

Plain = Callable[[IntArray, int], float]
UNEVEN = np.array([0.0, 0.1, 0.101, 0.102, 0.7])
WAYS = [
    pytest.param(on_grid(RECALL_101), average_precision, id="101 points"),
    pytest.param(on_grid(UNEVEN), lambda rank, n: average_precision(rank, n, recall=UNEVEN), id="uneven grid"),
    pytest.param(eleven_point, eleven_point_precision, id="11 points"),
    pytest.param(all_point, all_point_precision, id="all points"),
]


def corpus(rng: np.random.Generator, documents: int, predictions: int, thresholds: int = 1) -> list[Ranking]:
    document = rng.integers(0, documents, predictions)
    easy, decay = rng.beta(6.0, 2.0, documents), 1.0 - 0.8 * np.arange(predictions) / max(predictions, 1)
    margin = easy[document] * decay - rng.random(predictions)
    positives = np.bincount(document[margin > 0.0], minlength=documents) + rng.integers(0, 3, documents)
    return [Ranking(document, margin > 0.05 * step, positives) for step in range(thresholds)]


def copied(ranking: Ranking, weights: FloatArray, plain: Plain) -> float:
    hit = np.repeat(ranking.hit, weights[ranking.document].astype(np.int64))
    return plain(np.flatnonzero(hit) + 1, int(weights @ ranking.positives))


@pytest.mark.parametrize(("interpolated", "plain"), WAYS)
def test_a_resample_is_the_corpus_with_the_copies(interpolated: Interpolation, plain: Plain) -> None:
    rng = np.random.default_rng(5)
    for _ in range(60):
        documents = int(rng.integers(1, 6))
        (ranking,) = corpus(rng, documents, int(rng.integers(0, 40)))
        weights = np.vstack([rng.integers(0, 4, (4, documents)), np.eye(documents)]).astype(np.float64)
        expected = [copied(ranking, row, plain) for row in weights]
        once = copied(ranking, np.ones(documents), plain)
        np.testing.assert_allclose(ranking.average(interpolated), once, rtol=0, atol=1e-12)
        np.testing.assert_allclose(ranking.per_document(interpolated), expected[4:], rtol=0, atol=1e-12)
        together = Curves([ranking], interpolated).averages(weights)[:, 0]
        np.testing.assert_allclose(together, expected, rtol=0, atol=1e-12)


def test_several_labels_are_resampled_at_once_as_one_by_one() -> None:
    """Long rankings in products of several parts."""
    rng = np.random.default_rng(29)
    labels = [corpus(rng, 40, size, thresholds=3) for size in (200, 9_000, 0, 70_000, 3_000)]
    rankings = [ranking for label in labels for ranking in label]
    weights = rng.multinomial(40, np.full(40, 1 / 40), 300).astype(np.float64)
    interpolated = on_grid(RECALL_101)
    alone = [Curves(label, interpolated).averages(weights) for label in labels]
    assert np.array_equal(Curves(rankings, interpolated).averages(weights), np.hstack(alone), equal_nan=True)
    assert np.array_equal(
        np.column_stack(per_document(rankings, interpolated)),
        np.column_stack([ranking.per_document(interpolated) for ranking in rankings]),
        equal_nan=True,
    )


@pytest.mark.parametrize(("interpolated", "plain"), WAYS)
def test_thresholds_of_the_same_predictions_are_resampled_together(interpolated: Interpolation, plain: Plain) -> None:
    """Few documents, drawn alike again and again; thresholds with the same true positives; one without any."""
    rng = np.random.default_rng(7)
    for documents in (1, 3, 40):
        rankings = corpus(rng, documents, 60, thresholds=3)
        nothing = Ranking(rankings[0].document, np.zeros(60, dtype=np.bool_), rankings[0].positives)
        rankings = [*rankings, rankings[1], nothing, *corpus(rng, documents, 25)]
        weights = rng.multinomial(documents, np.full(documents, 1.0 / documents), 50).astype(np.float64)
        expected = np.array([[copied(ranking, row, plain) for ranking in rankings] for row in weights])
        averages = Curves(rankings, interpolated).averages(weights)
        np.testing.assert_allclose(averages, expected, rtol=0, atol=1e-12)


def test_the_share_of_the_grid_is_that_of_every_recall() -> None:
    """A recall that falls on a point of the grid in float64 reaches it, one digit less does not."""
    hits, positives = np.arange(1, 401), np.arange(1, 401)[:, None]
    expected = (np.minimum(hits / positives, 1.0)[..., None] >= RECALL_101).sum(axis=-1) / 101
    np.testing.assert_array_equal(on_grid(RECALL_101)(np.minimum(hits, positives), positives), expected)


@pytest.mark.parametrize("interpolated", [on_grid(RECALL_101), all_point], ids=["101 points", "all points"])
def test_the_interval_of_a_long_ranking_is_that_of_the_exact_curves(interpolated: Interpolation) -> None:
    rng = np.random.default_rng(11)
    documents = 400
    rankings = corpus(rng, documents, 16 * EXACT, thresholds=4)
    weights = rng.multinomial(documents, np.full(documents, 1.0 / documents), 300).astype(np.float64)
    curves = Curves(rankings, interpolated)
    followed = curves.averages(weights)
    exact = Curves(rankings, interpolated, exact=16 * EXACT).averages(weights)
    ends, wanted = (np.quantile(values, [0.025, 0.975], axis=0) for values in (followed, exact))
    assert not np.array_equal(followed, exact)
    assert (np.abs(ends - wanted) <= 0.02 * (wanted[1] - wanted[0])).all()
    once = np.ones((1, documents))
    point = [ranking.average(interpolated) for ranking in rankings]
    np.testing.assert_allclose(curves.averages(once)[0], point, rtol=0, atol=1e-6)


def test_long_rankings_without_ground_truth_or_true_positives() -> None:
    predictions, documents = EXACT + 1, 3
    document = np.arange(predictions) % documents
    nothing = np.zeros(predictions, dtype=bool)
    positives = np.array([0, 2, 0])
    rankings = [Ranking(document, nothing, positives), Ranking(document, nothing, np.zeros(documents, dtype=np.int64))]
    averages = Curves(rankings, on_grid(RECALL_101)).averages(np.array([[1.0, 1.0, 1.0], [2.0, 0.0, 1.0]]))
    np.testing.assert_array_equal(averages, [[0.0, np.nan], [np.nan, np.nan]])


def test_products_of_resamples_take_one_thread() -> None:
    # Two threads for products this small take five times the CPU of one.
    threads = set()

    def looked_at(counts: Counts, positives: IntArray) -> Counts:
        threads.update(each["num_threads"] for each in threadpool_info() if each["user_api"] == "blas")
        return all_point(counts, positives)

    documents = np.arange(EXACT + 40) % 40
    ranking = Ranking(documents, np.arange(EXACT + 40) % 3 == 0, np.full(40, 9))
    with threadpool_limits(limits=2, user_api="blas"):
        curves = Curves([ranking], looked_at)
        threads.clear()
        curves.averages(np.ones((3, 40)))
    assert threads == {1}
