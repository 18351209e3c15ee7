"""The course of a review: the half width so far is that of the bound, and what is expected ends below the margin."""

import numpy as np
import pytest

from evaluator.analysis.suspects.review_plan import LEAST_PAGES, Counts, Plan, bound, course, plan
from evaluator.charts.review import half_width
from tests.charting import specification


def planned(pages: int = 400, margin: float = 0.01) -> Plan:
    rng = np.random.default_rng(5)
    boxes = rng.poisson(3.0, pages)
    return plan(boxes, rng.binomial(boxes, 0.8), rng.exponential(0.1, pages), margin=margin)


def test_before_the_first_bound_only_the_expectation_is_drawn() -> None:
    known = course(planned(), {})
    assert known.seen == ()
    assert known.expected[0][0] == LEAST_PAGES
    assert known.expected[0][1] > 0.01 > known.expected[-1][1]
    assert [half for _, half in known.expected] == sorted((half for _, half in known.expected), reverse=True)


def test_the_half_width_so_far_is_that_of_the_bound() -> None:
    asked = planned()
    reviewed = {
        row: Counts(int(asked.boxes[row]) + (at % 9 == 0), int(asked.matched[row]))
        for at, row in enumerate(asked.order[:60].tolist())
    }
    known, now = course(asked, reviewed), bound(asked, reviewed)
    assert known.seen[0][0] == LEAST_PAGES
    assert known.seen[-1] == (60, now.half)
    assert known.expected[0] == pytest.approx((60, now.half))
    assert known.expected[-1][0] >= min(60 + now.more, 400)


def test_no_pages_have_no_course() -> None:
    empty = np.zeros(0, dtype=np.int64)
    assert course(plan(empty, empty, np.zeros(0), margin=0.03), {}) == ((), ())
    none = np.zeros(50, dtype=np.int64)
    assert course(plan(none, none, np.zeros(50), margin=0.03), {}) == ((), ())


def test_the_chart_has_the_margin_and_every_point() -> None:
    known = course(planned(), {})
    chart = specification(half_width({"A": known}, margin=0.01, baseline="A", dark=False))
    values = [row for rows in chart["datasets"].values() for row in rows]
    assert {"points": 1.0, "text": "±1"} in values
    assert sum("part" in row for row in values) == len(known.expected)


@pytest.mark.parametrize("reviewed", [0, 60])
def test_no_layer_of_the_chart_is_empty(reviewed: int) -> None:
    # The browser warns of a layer without a point in its console.
    asked = planned()
    seen = {row: Counts(int(asked.boxes[row]), int(asked.matched[row])) for row in asked.order[:reviewed].tolist()}
    chart = specification(half_width({"A": course(asked, seen)}, margin=0.01, baseline="A", dark=False))
    assert all(chart["datasets"].values())
    assert ("point" in [each["mark"]["type"] for each in chart["layer"]]) == (reviewed > 0)


def test_a_plan_after_another_one_is_that_of_a_fresh_draw() -> None:
    rng = np.random.default_rng(3)
    boxes = rng.poisson(9.0, 400)
    expected = rng.exponential(0.1, 400)
    other = expected.copy()
    other[7] += 0.5
    earlier = None
    for at, promised in enumerate((expected, expected, other, expected, expected)):
        now = boxes if at != 3 else boxes + 1
        matched, margin = rng.binomial(now, 0.5 + 0.1 * at), (0.03, 0.01)[at % 2]
        one = plan(now, matched, promised, margin=margin, earlier=earlier)
        fresh = plan(now, matched, promised, margin=margin)
        for name in ("boxes", "matched", "stratum", "promise", "order", "expected"):
            np.testing.assert_array_equal(getattr(one, name), getattr(fresh, name))
        assert (one.margin, one.pages, one.official) == (fresh.margin, fresh.pages, fresh.official)
        reviewed = {int(row): Counts(int(now[row]), int(matched[row])) for row in fresh.order[: 25 * at]}
        assert bound(one, reviewed) == bound(fresh, reviewed)
        assert course(one, reviewed) == course(fresh, reviewed)
        assert earlier is None or (one.order is earlier.order) == (at in {1, 5})
        earlier = one
