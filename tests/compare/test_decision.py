"""The decision of a comparison: rule, zones, losses, more documents, cost, and the places on its ruler."""

from typing import Any

import pytest

from evaluator import project
from evaluator.compare.comparison import compare
from evaluator.compare.decision import Cost, Rule, cost_of, decide, documents_needed, main_metric, main_metrics
from evaluator.compare.differences import Difference, decision_differences
from evaluator.components.compare.decision_scale import scale
from evaluator.data.dataset import join
from evaluator.matching.error_types import DOCUMENT
from evaluator.protocols import snapshot
from tests.building import annotations, box, ground_truth
from tests.comparing import made
from tests.dashboard import SAMPLE_DATA

NAMES = ("lines", "blocks")


def difference(metric: str = "f1", label: str = "All labels", at: float | None = 0.02, **given: Any) -> Difference:
    ends = (None, None) if at is None else (at - 0.005, at + 0.005)
    values = {
        "b": None if at is None else 0.5 + at,
        "low": ends[0],
        "high": ends[1],
        "documents": 40,
        "documents_with": 40,
    }
    return made(metric, label, at, **{**values, **given})


class TestAnswer:
    @pytest.mark.parametrize(
        ("low", "high", "answer"),
        [
            (0.011, 0.03, "ship"),
            (0.01, 0.03, "ship"),
            (0.009, 0.03, "cannot_tell"),
            (-0.02, 0.03, "cannot_tell"),
            (-0.002, 0.009, "keep"),
            (-0.03, 0.009, "keep"),
            (-0.03, -0.02, "keep"),
            (-0.03, 0.01, "cannot_tell"),
        ],
    )
    def test_the_interval_lies_in_a_zone_or_crosses_a_border(self, low: float, high: float, answer: str) -> None:
        assert decide([difference(at=(low + high) / 2, low=low, high=high)], NAMES).answer == answer

    def test_its_words(self) -> None:
        at_most = "F1 gains +0.7 points at most (−0.3 to +0.7): less than the"
        for at, least, headline, sentence in (
            (0.02, 0.01, "Ship blocks", "F1 is clearly up by more than 1 point (+1.5 to +2.5). "
             "No clear loss in F1, precision or recall."),
            (-0.02, 0.01, "Keep lines", "F1 is clearly down: −2.0 points (−2.5 to −1.5)."),
            (0.002, 0.01, "Keep lines", f"{at_most} 1 point that matters."),
            (0.002, 0.02, "Keep lines", f"{at_most} 2 points that matter."),
            (0.01, 0.01, "Cannot tell on these 40 documents",
             "F1 +1.0 points: its interval, +0.5 to +1.5, reaches from below +1 point to above."),
        ):  # fmt: skip
            told = decide([difference(at=at)], NAMES, rule=Rule(least=least))
            assert (told.headline, told.sentence) == (headline, sentence)

    def test_a_rule_without_a_least_difference_asks_for_more_than_nothing(self) -> None:
        rule = Rule(least=0.0)
        assert decide([difference(at=0.006)], NAMES, rule=rule).answer == "ship"
        assert decide([difference(at=0.005)], NAMES, rule=rule).answer == "cannot_tell", "0 is in the interval"
        assert decide([difference(at=-0.006)], NAMES, rule=rule).answer == "keep"

    def test_a_clear_loss_over_the_limit_forbids_and_is_named(self) -> None:
        loss, small = difference("recall", "Table", -0.08), difference("precision", "List-item", -0.024)
        decision = decide([difference(), loss, small], NAMES)
        assert (decision.answer, decision.headline) == ("keep", "Keep lines")
        assert decision.sentence == "Table recall −8.0 points, more than the 5 allowed. F1 +2.0 points (+1.5 to +2.5)."
        assert (decision.losses, decision.forbidding) == ((loss, small), (loss,))
        # Whatever the main measure says, nothing is left for more documents to settle.
        for main, words in (
            (difference(at=0.0), " F1 0.0 points (−0.5 to +0.5)."),
            (difference(documents=5, documents_with=5), " F1 +2.0 points."),
            (difference(at=None), ""),
        ):
            told = decide([main, loss, small], NAMES, rule=Rule(loss=0.02))
            assert (told.answer, told.documents_needed, told.more_documents) == ("keep", 0, "")
            lost = "Table recall −8.0 points, more than the 2 allowed, and 1 more such loss."
            assert told.sentence == lost + words
        allowed = decide([difference(), small], NAMES)
        assert allowed.answer == "ship"
        assert allowed.sentence.endswith(
            "1 clear loss in F1, precision or recall, within the limit: List-item precision −2.4 points."
        )
        assert decide([difference(), loss], NAMES, rule=Rule(loss=None)).answer == "ship"

    def test_nothing_is_said_beyond_its_evidence(self) -> None:
        few = decide([difference(documents=5, documents_with=5)], NAMES)
        assert (few.answer, few.documents_needed) == ("cannot_tell", None)
        assert few.sentence == "F1 +2.0 points, but 5 documents are too few for an interval: 8 are needed."
        assert few.headline == "Cannot tell on these 5 documents"
        one = decide([difference(documents=1, documents_with=1)], NAMES)
        assert one.sentence == "F1 +2.0 points, but 1 document is too few for an interval: 8 are needed."
        rare = difference("recall", "Formula", -0.4, documents_with=3)
        decision = decide([difference(), rare], NAMES)
        assert (decision.answer, decision.losses, decision.unjudged) == ("ship", (), ("Formula",))
        judged = difference("precision", "Formula", -0.01, documents_with=30)
        assert decide([difference(), rare, judged], NAMES).unjudged == (), "one of its numbers can be judged"
        undefined = difference("precision", "Formula", None, documents_with=0)
        assert decide([difference(), rare, undefined], NAMES).unjudged == ("Formula",)
        assert decide([difference(at=None)], NAMES).answer == "cannot_tell"
        assert decide([], NAMES).headline == "Cannot tell on these 0 documents"

    def test_how_well_boxes_fit_forbids_nothing(self) -> None:
        fits = difference("mean_iou", "Table", -0.3)
        assert decide([difference(), fits], NAMES).answer == "ship"
        assert decide([difference("mean_iou"), fits], NAMES, rule=Rule(metric="mean_iou")).answer == "keep"
        assert decide([difference(), fits], NAMES).counted == "F1, precision or recall"
        other = decide([difference("mean_iou")], NAMES, rule=Rule(metric="mean_iou"))
        assert other.sentence.endswith(" No clear loss in any other number.")

    @pytest.mark.parametrize("given", [{"least": -0.1}, {"least": 1.0}, {"loss": -0.1}, {"loss": 1.5}])
    def test_a_rule_that_makes_no_sense_is_refused(self, given: dict[str, float]) -> None:
        with pytest.raises(ValueError, match="must be in"):
            Rule(**given)


class TestMoreDocuments:
    def test_by_hand(self) -> None:
        """Half the interval is 4 points, the border is 2 away: n (4 / 2)² - n = 3 n."""
        one = difference(at=0.03, low=-0.01, high=0.07, documents=20)
        assert documents_needed(one, 0.01) == 60
        assert documents_needed(one, 0.0) == 16, "20 (4 / 3)² - 20 = 15.6"
        assert documents_needed(one, 0.03) is None, "the difference is on the border"
        assert documents_needed(difference(), 0.01) == 0
        assert documents_needed(None, 0.01) is None

    def test_in_words(self) -> None:
        decision = decide([difference(at=0.03, low=-0.01, high=0.07, documents=20)], NAMES)
        assert decision.more_documents == "60 more documents would settle F1 if the difference stays at +3.0 points."
        near = decide([difference(at=0.0101, low=-0.03, high=0.05, documents=20)], NAMES)
        assert near.more_documents == "More documents are unlikely to settle it."
        assert decide([difference()], NAMES).more_documents == ""


class TestCost:
    def test_one_correction_for_each_box_that_is_touched(self) -> None:
        table = box(0.1, 0.1, 0.9, 0.5, label="Table")
        lines = [box(0.1, 0.1 + 0.1 * row, 0.9, 0.19 + 0.1 * row, label="Table", score=0.9) for row in range(4)]
        truth = [table, box(0.1, 0.6, 0.4, 0.7), box(0.1, 0.8, 0.4, 0.9)]
        moved = box(0.2, 0.6, 0.6, 0.7, score=0.9)
        dataset = join(ground_truth(truth), annotations([*lines, moved]), annotations([table._replace(score=0.9)]))
        a, b = (snapshot.pair(dataset, model, iou_floor=snapshot.IOU_FLOOR).match().at(0.5) for model in (0, 1))
        by_name = dict(zip((DOCUMENT[kind] for kind in a.mistakes.kind), a.mistakes.corrections.tolist(), strict=True))
        assert by_name == {"split": 4, "near_miss": 1, "missed": 1}
        assert cost_of(a, b) == Cost(600.0, 200.0)

    def test_in_words(self) -> None:
        assert decide([], NAMES, cost=Cost(167.2, 146.6)).cost_words == (
            "Saves 20.6 corrected boxes per 100 pages",
            "146.6 instead of 167.2",
        )
        assert decide([], NAMES, cost=Cost(1.0, 3.5)).cost_words[0] == "Costs 2.5 more corrected boxes per 100 pages"
        assert decide([], NAMES, cost=Cost(2.0, 2.0)).cost_words[0] == "As many corrected boxes per 100 pages"
        assert decide([], NAMES).cost_words == ("", "")


def test_the_main_measure_is_f1_or_what_the_protocol_speaks_of() -> None:
    assert main_metric([difference("recall"), difference("f1")]) == "f1"
    assert main_metric([difference("recall"), difference("precision")]) == "recall"
    assert main_metric([difference("f1", at=None), difference("map")]) == "map"
    assert main_metric([difference("recall", "Table")]) is None
    assert main_metrics([difference("recall"), difference("f1"), difference("f1", "Table")]) == ("recall", "f1")


def test_all_clear_losses_are_among_the_decisive_differences() -> None:
    losses = [difference("recall", f"Label {row}", -0.01 * row - 0.01) for row in range(12)]
    gains = [difference("precision", f"Label {row}", 0.05) for row in range(12)]
    shown = decision_differences(
        [difference("recall"), *gains, *losses, difference("precision"), difference("f1")], limit=8
    )
    assert [one.metric for one in shown[:3]] == ["f1", "precision", "recall"]
    assert list(shown[3:]) == losses[::-1], "more than the limit, and no room for gains"


def test_a_failed_condition_decides_the_sample_everywhere() -> None:
    files = [SAMPLE_DATA / f"{name}.json" for name in NAMES]
    evaluations = project.evaluate_together("snapshot", SAMPLE_DATA / "ground_truth.json", files, lambda *_: None)
    comparison = compare([one.result for one in evaluations], NAMES)
    value = comparison.to_json([one.to_json() for one in evaluations])["decision"]
    assert (value["answer"], value["headline"]) == ("keep", "Keep lines")
    assert value["rule"] == {"metric": "f1", "least": 0.01, "loss": 0.05}
    assert value["low"] < 0.01 < value["high"]
    assert value["documents_needed"] == 0
    cost = value["corrected_boxes_per_100_pages"]
    assert cost["difference"] == pytest.approx(cost["b"] - cost["a"])
    assert {each["metric"] for each in value["losses"]} <= {"f1", "precision", "recall"}
    assert comparison.tables(["a.json", "b.json"])[0].title.count("Keep lines.") == 1


class TestConditions:
    def test_what_fails_comes_first_and_lies_on_one_scale(self) -> None:
        main, loss = difference(low=-0.02, high=0.05), difference("recall", "Text", at=-0.14)
        made = decide([main, loss], NAMES).conditions
        assert [(each.state, each.words, each.one) for each in made] == [
            ("fails", "no clear loss over 5 points", loss), ("open", "F1 up by 1 point or more", main),
        ]  # fmt: skip
        (first, second), ticks = scale(made)
        assert 0.0 < first.low < first.value < first.high < first.limit < second.limit < second.high < 1.0
        assert "0" in [text for _, text in ticks]

    @pytest.mark.parametrize(
        ("one", "states"),
        [
            (difference(), ["holds", "holds"]),
            (difference(at=-0.02), ["fails", "holds"]),
            (difference(at=0.0), ["fails", "holds"]),
            (difference(documents=4), ["open", "open"]),
            (difference(at=None), ["open", "open"]),
        ],
    )
    def test_each_state(self, one: Difference, states: list[str]) -> None:
        made = decide([one], NAMES).conditions
        assert [each.state for each in made] == states
        assert all(0.0 <= each.limit <= 1.0 for each in scale(made)[0])
