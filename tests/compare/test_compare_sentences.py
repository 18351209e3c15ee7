"""What is stated about a difference, word for word."""

from dataclasses import replace

import pytest

from evaluator.compare.differences import Difference
from evaluator.compare.metrics import METRICS, headlines
from evaluator.compare.sentences import difference_points, interval_text, name_of, points, sentence, summary
from evaluator.matching.box_results import ALL_LABELS
from tests.comparing import made

GAIN = made("recall", ALL_LABELS, 0.026, 0.017, 0.035)
UNCLEAR = made("precision", ALL_LABELS, 0.007, -0.002, 0.016, documents_better=21, documents_worse=14)
LOSS = made("precision", "List-item", -0.024, -0.043, -0.005, documents_better=9, documents_worse=19)


NAMES = ("A", "B")


@pytest.mark.parametrize(
    ("one", "expected"),
    [
        (GAIN, "B finds more: recall +2.6 points, 95 % interval 1.7 to 3.5; 29 documents better, 6 worse."),
        (
            UNCLEAR,
            "Precision: no clear difference, +0.7 points, 95 % interval −0.2 to 1.6; 21 documents better, 14 worse.",
        ),
        (
            LOSS,
            "B is less precise (List-item): precision −2.4 points, 95 % interval −4.3 to −0.5; "
            "9 documents better, 19 worse.",
        ),
        (
            made("f1", "Table", -0.01, -0.02, 0.01, documents_better=1),
            "F1 of Table: no clear difference, −1.0 points, 95 % interval −2.0 to 1.0; 1 document better, 6 worse.",
        ),
        (made("mean_iou", ALL_LABELS, 0.0, 0.0, 0.0), "Mean IoU: no difference."),
        (
            made("recall", ALL_LABELS, 0.026, 0.017, 0.035, documents=7, documents_better=5, documents_worse=0),
            "Recall +2.6 points; 5 documents better, 0 worse. Too few documents for an interval: 7.",
        ),
        (
            made("recall", "Table", -0.026, documents=1),
            "Recall of Table −2.6 points. With 1 document there is no interval.",
        ),
        (
            made("recall", "Logo", 0.5, undefined=312, documents_better=2, documents_worse=0),
            "Recall of Logo +50.0 points; 2 documents better, 0 worse. "
            "No interval: 312 of 2,000 resamples leave it undefined.",
        ),
        (
            made("recall", "Logo", 0.5, 0.1, 0.9, documents_with=3, documents_better=3, documents_worse=0),
            "Recall of Logo +50.0 points; 3 documents better, 0 worse. "
            "Too few documents for an interval: recall is defined in 3 of 38.",
        ),
        (made("precision", "Logo", None, a=None), "Precision of Logo: not defined for A."),
        (made("precision", ALL_LABELS, None, a=None, b=None), "Precision: not defined for A and B."),
        (
            made("recall", ALL_LABELS, 0.0004, 0.0001, 0.012),
            "B finds more: recall +0.04 points, 95 % interval 0.01 to 1.20; 29 documents better, 6 worse.",
        ),
        (
            made("field_proportion", "All posters", -0.2, -0.3, -0.1),
            "B writes fewer fields (All posters): field proportion −20.0 points, 95 % interval −30.0 to −10.0; "
            "29 documents better, 6 worse.",
        ),
    ],
)  # fmt: skip
def test_sentences(one: Difference, expected: str) -> None:
    assert sentence(one, NAMES) == expected


def test_the_minus_sign_is_a_real_one() -> None:
    assert points(-0.004) == "\u22120.4"
    assert (points(0.0), points(0.026), points(0.026, signed=False)) == ("0.0", "+2.6", "2.6")
    assert interval_text(LOSS, signed=True) == "\u22124.3 to \u22120.5"
    assert interval_text(UNCLEAR, signed=True) == "\u22120.2 to +1.6"
    assert (interval_text(made("recall", "x", 0.1)), difference_points(made("recall", "x", None))) == (None, None)


def test_names_of_rows() -> None:
    assert [name_of(one) for one in (GAIN, LOSS)] == ["Recall, all labels", "List-item precision"]
    assert name_of(made("f1", ALL_LABELS, 0.1)) == "F1, all labels"


def test_the_summary_of_the_picture() -> None:
    told = summary([UNCLEAR, LOSS, GAIN, made("recall", "Table", -0.01, -0.02, -0.001)], NAMES)
    assert told.headline == sentence(GAIN, NAMES)
    assert told.notes == "Precision: no clear difference. Worst loss: List-item precision −2.4 points."


def test_a_summary_leads_with_the_clear_difference_that_is_largest() -> None:
    told = summary([GAIN, made("precision", ALL_LABELS, -0.09, -0.1, -0.08)], NAMES)
    assert told.headline.startswith("B is less precise: precision −9.0 points")
    assert told.notes == "Recall +2.6 points."


def test_a_summary_without_a_clear_difference() -> None:
    told = summary([UNCLEAR, made("recall", ALL_LABELS, 0.0, 0.0, 0.0)], NAMES)
    assert told.headline.startswith("Precision: no clear difference, +0.7 points")
    assert told.notes == "Recall: no difference."
    ends = (("recall", 0.1, 0.05, 0.2), ("precision", 0.01, 0.0, 0.2))
    few = summary([made(metric, ALL_LABELS, *at, documents=3) for metric, *at in ends], NAMES)
    assert few.headline == "Recall +10.0 points; 29 documents better, 6 worse. Too few documents for an interval: 3."
    assert few.notes == "Precision +1.0 points."


def test_a_summary_of_nothing() -> None:
    nothing = ("Nothing can be compared: no metric is defined for both models.", "")
    assert summary([], NAMES) == nothing
    assert summary([made("recall", ALL_LABELS, None, a=None)], NAMES) == nothing


def test_the_words_name_what_is_drawn() -> None:
    """Where documents are called something else, the counts are of that."""
    few = made("recall", ALL_LABELS, 0.1, 0.05, 0.2, documents=3, noun="poster")
    assert sentence(few, NAMES) == (
        "Recall +10.0 points; 29 posters better, 6 worse. Too few posters for an interval: 3."
    )
    assert "29 posters better" in summary([replace(GAIN, noun="poster")], NAMES).headline


def test_every_headline_is_a_metric_with_words() -> None:
    assert {metric for group in headlines() for metric in group} <= set(METRICS)
    assert len(METRICS) == len(set(METRICS)) == len(METRICS.items())
    assert all(metric.title and metric.better != metric.worse for metric in METRICS.values())
