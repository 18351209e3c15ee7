"""Equal scores: average precision in the best and in the worst order of them is said beside the number."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from evaluator.analysis.slices.named_slices import numbers_of, read_named, slices_part
from evaluator.compare.comparison import compare
from evaluator.compare.decision import Rule
from evaluator.compare.sentences import sentence
from evaluator.metrics.tied_scores import RULE, Range, Ties, one_within_the_other, run_starts, tied_ranks, widest
from evaluator.project import evaluate, evaluate_together
from tests.dashboard import start, texts, workspace
from tests.terminal import run_command

FOLDER = Path(__file__).parent / "equal_scores"
GT, FIRST, LAST = (FOLDER / f"{name}.json" for name in ("gt", "right_first", "right_last"))
WORDS = (
    "4 of 4 predictions (100.0%) with the score of others of their label, right and wrong ones; AP is 0.337 in the "
    "best order of them and 0.084 in the worst"
)
SENTENCE = (
    "right_last.json: average precision ranks by score, and the order of equal scores is that of the rows in the file; "
    f"found {WORDS}. Export scores that differ, or report the range beside the number."
)


def test_ap_of_both_orders_is_that_of_the_files_in_these_orders() -> None:
    first, last = evaluate("coco", GT, [FIRST, LAST])
    values = [first.to_json(), last.to_json()]
    assert [round(value["AP"], 4) for value in values] == [0.3366, 0.0842]
    assert values[0]["ties"] == values[1]["ties"] == {
        "metric": "AP", "predictions": 4, "tied": 4, "share": 1.0, "best": values[0]["AP"], "worst": values[1]["AP"],
    }  # fmt: skip
    assert [issue.sentence for issue in last.issues] == [SENTENCE]
    (in_parts,) = evaluate("coco", GT, [LAST], page_ranges=1)
    assert in_parts.to_json() == values[1]


@pytest.mark.parametrize("options", [{}, {"page_ranges": 1}])
def test_pod_names_the_threshold(options: dict[str, int]) -> None:
    (evaluation,) = evaluate("pod", GT, [LAST], **options)
    ties = evaluation.to_json()["ties"]
    assert (ties["metric"], ties["tied"]) == ("mAP at IoU > 0.60", 4)
    assert (ties["best"], ties["worst"]) == pytest.approx((4 / 11, 1 / 11))


def test_nothing_is_said_where_no_order_matters(tmp_path: Path) -> None:
    rows = json.loads(FIRST.read_text())
    for place, scores in enumerate(([0.9, 0.8, 0.7, 0.6], [0.9, 0.5, 0.5, 0.5])):
        path = tmp_path / f"{place}.json"
        path.write_text(json.dumps([{**row, "score": score} for row, score in zip(rows, scores, strict=True)]))
        (evaluation,) = evaluate("coco", GT, [path])
        assert (evaluation.issues, evaluation.to_json()["ties"]) == ((), None)


def test_check_compare_and_evaluate_say_the_same_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    for words in (
        ["check", str(GT), str(LAST)],
        ["evaluate", "coco", "--gt", str(GT), "--pred", str(LAST)],
        ["compare", "coco", "--gt", str(GT), "--pred", str(FIRST), "--pred", str(LAST)],
    ):
        code, out, err = run_command(capsys, *words)
        assert code == 0
        assert f"warning: {SENTENCE}\n" in out + err


def test_the_overview_says_it_whole_beside_ap() -> None:
    app = start(files=workspace(GT, [FIRST, LAST]), protocol="coco")
    made = "The order of equal scores alone can make the difference of AP, AP50, AP75."
    assert f"Equal scores in A: {WORDS}. Equal scores in B: {WORDS}. {made}" in texts(app.caption)


def test_ranks_of_runs() -> None:
    score = np.array([0.9, 0.5, 0.5, 0.5, 0.1])
    starts = run_starts(score)
    assert starts is not None
    true, counts = np.array([1, 0, 1, 1, 0], dtype=bool), np.array([1, 1, 1, 1, 1], dtype=bool)
    best, worst, mixed = tied_ranks(starts, true, counts)
    assert (best.tolist(), worst.tolist(), mixed.tolist()) == ([1, 2, 3], [1, 3, 4], [False, True, False])
    # What does not count has no rank.
    best, worst, _ = tied_ranks(starts, true, np.array([1, 0, 1, 1, 1], dtype=bool))
    assert best.tolist() == worst.tolist() == [1, 2, 3]
    assert run_starts(np.array([])) is None
    assert run_starts(np.array([0.9, 0.1])) is None


def test_the_widest_range_is_that_which_matters() -> None:
    narrow, wide = Ties("AP", 5, 2, 0.5, 0.4995), Ties("AP", 5, 3, 0.5, 0.4)
    assert widest([None, narrow, wide]) is wide
    assert widest([None, narrow]) is None


def test_fields_without_confidence_have_no_order(tmp_path: Path) -> None:
    def write(side: str, place: float, document: str) -> None:
        (tmp_path / side).mkdir(exist_ok=True)
        field = {"_value": "1", "_bbox": [place, 0.1, place + 0.2, 0.2]}
        (tmp_path / side / f"{document}.json").write_text(json.dumps({"total": field}))

    for document, worst, best in (("a", 0.7, 0.1), ("b", 0.1, 0.7)):
        write("gt", 0.1, document)
        write("pred", worst, document)
        write("other", best, document)
    evaluation, other = evaluate_together("fields", tmp_path / "gt", [tmp_path / "pred", tmp_path / "other"])
    ties = evaluation.to_json()["ties"]
    assert (ties["metric"], ties["predictions"], ties["tied"]) == ("mean AP", 2, 2)
    assert [ties["best"], ties["worst"]] == pytest.approx([51 / 101, 51 / 202])
    assert RULE in [issue.rule for issue in evaluation.issues]
    every = compare([evaluation.result, other.result], ["A", "B"]).differences
    averages = ["mean_ap", "map_50", "map_75", "ap", "ap_50", "ap_75"]
    assert sorted(one.metric for one in every if one.by_ties) == sorted(averages)


@pytest.mark.parametrize(("protocol", "title"), [("coco", "AP"), ("pod", "MAP")])
def test_compare_does_not_call_the_order_of_equal_scores_a_difference(protocol: str, title: str) -> None:
    results = [one.result for one in evaluate_together(protocol, GT, [FIRST, LAST])]
    comparison = compare(results, ["A", "B"])
    by_ties = [one for one in comparison.differences if one.by_ties]
    names = {"coco": {"AP", "AP50", "AP75"}, "pod": {"ap", "map"}}[protocol]
    assert {one.metric for one in by_ties} == names
    assert not any(one.is_clear for one in by_ties)
    said = sentence(by_ties[0], ["A", "B"])
    assert "no difference beyond the order of equal scores, which alone can make" in said
    assert title.lower() in said.lower()
    decided = compare(results, ["A", "B"], rule=Rule(metric={"coco": "AP", "pod": "map"}[protocol])).decision
    assert decided.answer == "cannot_tell"
    assert decided.sentence.endswith("which the order of equal scores alone can make.")


def test_gate_does_not_fail_by_the_order_of_equal_scores(capsys: pytest.CaptureFixture[str]) -> None:
    sides = ["--gt", str(GT), "--pred", str(LAST), "--baseline", str(FIRST), "--json"]
    code, out, _ = run_command(capsys, "gate", "coco", *sides, "--fail-if", "AP < baseline - 1pt")
    assert (code, json.loads(out)["conditions"][0]["reason"]) == (
        0,
        "It holds, but the order of equal scores alone can make this difference.",
    )
    # An absolute limit is judged by the number as it is.
    assert run_command(capsys, "gate", "coco", *sides, "--fail-if", "AP < 0.2")[0] == 1


@pytest.mark.parametrize("prediction", [FIRST, LAST])
def test_gate_does_not_pass_what_the_order_of_equal_scores_decides(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, prediction: Path
) -> None:
    baseline = tmp_path / "scored.json"
    rows = json.loads(FIRST.read_text())
    baseline.write_text(json.dumps([{**row, "score": 0.9 - place / 10} for place, row in enumerate(rows)]))
    sides = ["--gt", str(GT), "--pred", str(prediction), "--baseline", str(baseline), "--json"]
    code, out, _ = run_command(capsys, "gate", "coco", *sides, "--fail-if", "AP < baseline - 1pt")
    assert (code, json.loads(out)["conditions"][0]["reason"]) == (
        1,
        "It cannot be judged: the order of equal scores decides it. Export scores that differ.",
    )


@pytest.mark.parametrize(("protocol", "metric"), [("coco", "AP"), ("pod", "map")])
def test_slices_know_the_order_of_equal_scores(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, protocol: str, metric: str
) -> None:
    named = tmp_path / "slices.json"
    named.write_text('{"texts": [{"attribute": "label", "op": "==", "value": "Text"}]}')
    scored = tmp_path / "scored.json"
    rows = json.loads(FIRST.read_text())
    scored.write_text(json.dumps([{**row, "score": 0.9 - place / 10} for place, row in enumerate(rows)]))
    for baseline, code, reason in (
        (FIRST, 0, "It holds, but the order of equal scores alone can make this difference."),
        (scored, 1, "It cannot be judged: the order of equal scores decides it. Export scores that differ."),
    ):
        sides = ["--gt", str(GT), "--pred", str(LAST), "--baseline", str(baseline), "--slices", str(named), "--json"]
        given = run_command(capsys, "gate", protocol, *sides, "--fail-if", f"{metric}[slice:texts] < baseline - 1pt")
        assert (given[0], json.loads(given[1])["conditions"][0]["reason"]) == (code, reason)
    results = [one.result for one in evaluate_together(protocol, GT, [FIRST, LAST])]
    numbers = [numbers_of(result, read_named(named)) for result in results]
    more = [slices_part(each) for each in numbers]
    made = compare(results, ["A", "B"], more=more, more_ties=[each.ties for each in numbers]).differences
    assert next(one for one in made if (one.metric, one.label) == (metric, "slice:texts")).by_ties


def test_ranges_that_are_not_within_each_other_differ() -> None:
    assert one_within_the_other(Range(0.1, 0.4), Range(0.1, 0.4))
    assert not one_within_the_other(Range(0.3, 0.3), Range(0.3, 0.3))
    assert not one_within_the_other(Range(0.1, 0.4), Range(0.5, 0.5))
