"""What is made ready for other thresholds in the background: the same numbers, made once."""

from __future__ import annotations

from unittest.mock import patch

import msgspec
import numpy as np
import pytest

from evaluator.compare import ledger as ledgers
from evaluator.metrics import error_types
from evaluator.model.dataset import join
from evaluator.protocols import snapshot
from evaluator.protocols.snapshot.evaluation import Pairs
from tests.building import annotations, ground_truth
from tests.comparing import two_models


def _pairs(seed: int) -> tuple[Pairs, Pairs]:
    truth, *models = two_models(seed)
    dataset = join(ground_truth(truth), *(annotations(rows) for rows in models))
    return snapshot.pair(dataset, 0), snapshot.pair(dataset, 1)


@pytest.mark.parametrize("seed", range(4))
def test_mistakes_after_preparing_are_those_without(seed: int) -> None:
    (prepared, _), (plain, _) = _pairs(seed), _pairs(seed)
    for pairs in (prepared, plain):
        assert len(pairs.match(min_score=0.2).at(0.5).mistakes)
    with patch.object(error_types, "touching_pairs", wraps=error_types.touching_pairs) as made:
        prepared.prepare()
        prepared.prepare()
        assert made.call_count == 1
        results = [pairs.match(min_score=0.4).at(0.6).mistakes for pairs in (prepared, plain)]
        # That of the second, which was not prepared.
        assert made.call_count <= 2
    for name in ("kind", "page", "truth_rows", "prediction_rows"):
        np.testing.assert_array_equal(*(getattr(each, name) for each in results))


def test_nothing_is_made_where_no_mistake_was_named() -> None:
    pairs, _ = _pairs(1)
    pairs.match().at(0.5)
    with patch.object(error_types, "touching_pairs") as made:
        pairs.prepare()
    assert not made.called


@pytest.mark.parametrize("seed", range(4))
def test_ledgers_after_preparing_are_those_without(seed: int) -> None:
    counts = []
    for prepares in (True, False):
        a, b = _pairs(seed)
        ledgers.ledger(a.match(min_score=0.1).at(0.5), b.match(min_score=0.3).at(0.5))
        if prepares:
            ledgers.prepare(a.match(min_score=0.1).at(0.5), b.match(min_score=0.3).at(0.5))
            assert ledgers._KNOWN[a][b] is not None
        made = ledgers.ledger(a.match(min_score=0.5).at(0.6), b.match(min_score=0.4).at(0.6))
        counts.append(msgspec.json.encode(made.to_json()))
    assert counts[0] == counts[1]
