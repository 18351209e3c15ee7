"""Gates: the grammar, every verdict by hand, and that nothing passes because it could not be seen."""

import contextlib
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluator.compare.gate import ConditionError, Verdict, judge, parse, verdict_table
from evaluator.metrics.measures import Key, Measures, Ratios
from evaluator.metrics.tied_scores import Range
from tests.texts import character

Pair = tuple[float, float] | None
"""A number in the worst and in the best order of equal scores."""
REFUSED = 'a condition must look like "recall[Table] < baseline - 0.5pt"; found '


def model(recall: float, *, table: float | None = None, documents: int = 10, metric: str = "recall") -> Measures:
    """A model with the same recall in every document, and that of Table where it is given; NaN is undefined."""
    keys = [Key(metric, "All labels")] + ([] if table is None else [Key(metric, "Table")])
    values = np.array([value for value in (recall, table) if value is not None])
    below = np.where(np.isnan(values), 0.0, 10.0)
    above = np.nan_to_num(values) * below
    part = Ratios(tuple(keys), values, np.tile(above, (documents, 1)), np.tile(below, (documents, 1)))
    return Measures(tuple(f"{row:03d}" for row in range(documents)), "All labels", (part,))


def one(text: str, prediction: Measures, baseline: Measures | None = None) -> Verdict:
    (verdict,) = judge([parse(text)], prediction, baseline, resamples=200)
    return verdict


def refused(text: str, *models: Measures) -> str:
    with pytest.raises(ConditionError) as problem:
        one(text, *models) if models else parse(text)
    return str(problem.value)


@pytest.mark.parametrize(
    ("text", "metric", "label", "operator", "significant"),
    [
        ("recall < 0.9", "recall", None, "<", False),
        ("  recall[all]<0.9 ", "recall", None, "<", False),
        ('recall["all"] < 0.9', "recall", "all", "<", False),
        ("f1[ List-item ] <= baseline", "f1", "List-item", "<=", False),
        ("f1[Page header] >= 0.5", "f1", "Page header", ">=", False),
        (r'recall["a]b \"c\" \\ \n"] > 0', "recall", 'a]b "c" \\ n', ">", False),
        ("AP50 < baseline - 0.5pt and significant", "AP50", None, "<", True),
        ("mean_iou < baseline and   significant", "mean_iou", None, "<", True),
    ],
)
def test_conditions_are_read(text: str, metric: str, label: str | None, operator: str, significant: bool) -> None:
    parsed = parse(text)
    assert (parsed.metric, parsed.label, parsed.operator, parsed.significant) == (metric, label, operator, significant)
    assert parsed.text == text.strip()


@pytest.mark.parametrize(
    ("right", "limit"),
    [
        ("0.9", 0.9), ("90 %", 0.9), ("90%", 0.9), ("85.5pt", 0.855), ("1", 1.0), ("0", 0.0),
        ("baseline", 0.8), ("baseline - 0.5pt", 0.795), ("baseline-2points", 0.78), ("baseline − 1 point", 0.79),
        ("baseline + 1 pts", 0.81), ("baseline - 1 %", 0.792), ("baseline + 10%", 0.88),
    ],
)  # fmt: skip
def test_limits(right: str, limit: float) -> None:
    assert parse(f"recall < {right}").limit.value(0.8) == pytest.approx(limit, abs=1e-15)
    assert parse(f"recall < {right}").limit.value(None) == (None if "baseline" in right else pytest.approx(limit))


@pytest.mark.parametrize(
    "text",
    [
        "", "recall", "recall <", "recall = 0.5", "recall == 0.5", "< 0.5", "recall[] < 0.5", "recall[Table < 0.5",
        'recall["Table] < 0.5', "recall < baseline - 0.5", "recall < baseline - pt", "recall < base", "recall < -1",
        "recall < 0.5 and", "recall < 0.5 and relevant", "recall < 0.5 or f1 < 0.5", "recall < 0.5; f1 < 1",
        "recall < 1e3", "recall < nan", "recall < baseline * 2", "recall[a][b] < 1",
    ],
)  # fmt: skip
def test_what_cannot_be_read_is_refused(text: str) -> None:
    assert refused(text) == f"{REFUSED}{text}"


def test_a_ratio_above_1_is_most_likely_a_share() -> None:
    assert refused("recall < 85") == "a ratio is at most 1, so write 85 % or a number up to 1; found recall < 85"
    assert parse("field_proportion > 1.5").limit.amount == 1.5


@given(text=st.text(character, max_size=60))
def test_any_text_is_read_or_refused(text: str) -> None:
    condition = None
    with contextlib.suppress(ConditionError):
        condition = parse(text)
    assert condition is None or condition.text == text.strip()


@given(label=st.text(character, min_size=1, max_size=20))
def test_any_label_can_be_quoted(label: str) -> None:
    quoted = label.replace("\\", "\\\\").replace('"', '\\"')
    if "\n" not in label:
        assert parse(f'recall["{quoted}"] < 0.5').label == label


@pytest.mark.parametrize(
    ("text", "failed", "reason"),
    [
        ("recall < 0.9", True, "It holds by 10.00 points."),
        ("recall < 0.8", False, "It does not hold."),
        ("recall <= 0.8", True, "It holds by 0.00 points."),
        ("recall > 0.8", False, "It does not hold."),
        ("recall >= 0.8", True, "It holds by 0.00 points."),
        ("recall < baseline - 0.5pt", True, "It holds by 0.50 points."),
        # 0.81 - 0.01 is 0.8 but for the last digit.
        ("recall < baseline - 1pt", False, "It does not hold."),
        ("recall < baseline - 2pt", False, "It does not hold."),
        ("recall < baseline - 1 %", True, "It holds by 0.19 points."),
        ("recall < baseline and significant", True, "It holds, and the difference is clear (the interval excludes 0)."),
        ("recall > baseline and significant", False, "It does not hold."),
    ],
)
def test_verdicts(text: str, failed: bool, reason: str) -> None:
    verdict = one(text, model(0.8), model(0.81))
    assert (verdict.failed, verdict.reason) == (failed, reason)
    assert (verdict.value, verdict.baseline) == (0.8, 0.81)
    assert verdict.difference.difference == pytest.approx(-0.01)


DECIDES = "It cannot be judged: the order of equal scores decides it. Export scores that differ."


@pytest.mark.parametrize(
    ("text", "baseline", "prediction", "failed", "reason"),
    [
        # As they are written, the prediction has 0.8 and the baseline 0.81.
        ("< baseline", None, (0.3, 0.9), True, DECIDES),
        ("> baseline", (0.3, 0.9), None, True, DECIDES),
        ("< baseline", (0.3, 0.9), (0.3, 0.9), False, "It holds, but the order of equal scores alone can make this "
         "difference."),
        ("> baseline", (0.3, 0.81), (0.4, 0.9), True, "It holds in the best and in the worst order of equal scores, "
         "if not in that of the files."),
        ("< baseline - 2pt", None, (0.7995, 0.8002), False, "It does not hold."),
        ("< baseline - 2pt", (0.3, 0.9), (0.3, 0.9), False, "It does not hold."),
        ("< baseline - 0.5pt", None, (0.5, 0.801), True, "It holds by 0.50 points."),
        ("< 0.5", None, (0.3, 0.9), False, "It does not hold."),
    ],
)  # fmt: skip
def test_the_order_of_equal_scores_decides_nothing(
    text: str, baseline: Pair, prediction: Pair, failed: bool, reason: str
) -> None:
    ties = [{} if each is None else {Key("recall", "All labels"): Range(*each)} for each in (baseline, prediction)]
    sides = model(0.8), model(0.81)
    (verdict,) = judge([parse(f"recall {text}")], *sides, resamples=200, ties=(ties[0], ties[1]))
    assert (verdict.failed, verdict.reason) == (failed, reason)


def test_no_baseline_is_needed_for_a_number() -> None:
    verdict = one("recall < 0.9", model(0.8))
    assert (verdict.failed, verdict.baseline, verdict.difference) == (True, None, None)
    for text in ("recall < baseline", "recall < 0.9 and significant"):
        assert refused(text, model(0.8)) == f"{text} needs --baseline"


@pytest.mark.parametrize(
    ("condition", "table", "of_baseline", "failed", "reason"),
    [
        ("< 0.1", math.nan, 0.9, True, "It cannot be judged: the number is not defined for the prediction."),
        ("< baseline", 0.9, math.nan, True, "It cannot be judged: the number is not defined for the baseline."),
        # Also a condition that an undefined number could not break: nobody has seen it hold.
        ("> 0.1", math.nan, None, True, "It cannot be judged: the number is not defined for the prediction."),
        # A label that the prediction has no number for at all.
        ("< 0.1", None, 0.9, True, "It cannot be judged: the number is not defined for the prediction."),
        ("< 0.5", 0.9, math.nan, False, "It does not hold."),
    ],
)
def test_what_cannot_be_judged_fails(
    condition: str, table: float | None, of_baseline: float | None, failed: bool, reason: str
) -> None:
    verdict = one(f"recall[Table] {condition}", model(0.8, table=table), model(0.8, table=of_baseline))
    assert (verdict.failed, verdict.reason) == (failed, reason)


@pytest.mark.parametrize(
    ("documents", "reason"),
    [
        (1, "It holds, and cannot be judged to be chance: there is no interval."),
        (4, "It holds, and cannot be judged to be chance: too few documents for an interval (4)."),
    ],
)
def test_significance_with_few_documents(documents: int, reason: str) -> None:
    sides = (model(recall, documents=documents) for recall in (0.8, 0.9))
    verdict = one("recall < baseline and significant", *sides)
    assert (verdict.failed, verdict.reason) == (True, reason)


def test_a_loss_that_may_be_chance_passes_when_it_must_be_significant() -> None:
    sides = []
    for values in ([0.40, 0.58] * 6, [0.50] * 12):
        column = np.array(values)[:, None]
        part = Ratios((Key("recall", "All labels"),), column.mean(axis=0), column, np.ones((12, 1)))
        sides.append(Measures(tuple(map(str, range(12))), "All labels", (part,)))
    worse, better = sides
    assert one("recall < baseline", worse, better).failed
    verdict = one("recall < baseline and significant", worse, better)
    assert (verdict.failed, verdict.reason) == (False, "It holds, and the interval of the difference includes 0.")


def test_unknown_names_are_refused_with_what_there_is() -> None:
    assert refused("recal < 0.5", model(0.8)) == "there is no metric recal; there are recall"
    wrong = refused("recall[Tabel] < 0.5", model(0.8, table=0.9))
    assert wrong == "there is no label Tabel; recall is there for All labels, Table"
    part = Ratios((Key("ap", "Total"),), np.ones(1), np.ones((1, 1)), np.ones((1, 1)))
    wrong = refused("ap < 0.5", Measures(("a",), "All fields", (part,)))
    assert wrong == "there is no value of ap over all labels; ap is there for Total"


def test_case_does_not_matter_where_it_is_clear() -> None:
    assert one("Recall < 0.9", model(0.8)).failed
    assert one("ap < 0.9", model(0.8, metric="AP")).key == Key("AP", "All labels")


def test_plain_values_and_the_table() -> None:
    verdicts = judge([parse("recall < baseline - 0.5pt"), parse("recall > 0.9")], model(0.8), model(0.81), resamples=50)
    assert verdicts[0].to_json() == {
        "condition": "recall < baseline - 0.5pt", "metric": "recall", "label": "All labels", "failed": True,
        "value": 0.8, "baseline": 0.81, "limit": pytest.approx(0.805), "difference": pytest.approx(-0.01),
        "low": pytest.approx(-0.01), "high": pytest.approx(-0.01), "documents": 10,
        "reason": "It holds by 0.50 points.",
    }  # fmt: skip
    first, second = verdict_table(verdicts, "Gate", "signature").rows
    assert first[:2] + first[5:] == (
        "FAILED", "recall < baseline - 0.5pt", "−1.0", "−1.0 to −1.0", "It holds by 0.50 points.",
    )  # fmt: skip
    assert second[:2] == ("passed", "recall > 0.9")
