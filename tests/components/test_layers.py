"""What the viewer is given to draw: status, partner, nearest box, mistakes, filtered ones and lost text."""

import json
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from evaluator.components.viewer import mistake_filter, page_overlay
from evaluator.components.viewer.mistake_filter import MistakeFilter
from evaluator.components.viewer.text_lost import PageText
from evaluator.data.dataset import join
from evaluator.matching.box_results import BoxResult
from evaluator.matching.error_types import MistakeOptions
from evaluator.pdf.pool import Words
from evaluator.protocols import snapshot
from tests.building import LABELS, Box, box, ground_truth, random_rows, read_by_browser
from tests.building import annotations as prediction
from tests.sample_results import box_result, sample


def result_of(
    truth: Sequence[Box], predicted: Sequence[Box], *, iou: float = 0.5, min_score: float = 0.0, **given: Any
) -> snapshot.ThresholdResult:
    dataset = join(ground_truth(truth, **given), prediction(predicted))
    return snapshot.pair(dataset, 0, iou_floor=snapshot.IOU_FLOOR).match(min_score=min_score).at(iou)


def page_of_the_sample() -> tuple[snapshot.ThresholdResult, int]:
    row = sample().page_row("harvest-survey-2024.pdf", 3)
    assert row is not None
    return box_result(), row


def page_data(result: BoxResult[Any], page: int, **options: Any) -> dict[str, Any]:
    drawn: dict[str, Any] = read_by_browser(page_overlay.page_data(result, page, **options))
    return drawn


def page_of(truth: Sequence[Box], predicted: Sequence[Box], **given: Any) -> dict[str, Any]:
    return page_data(result_of(truth, predicted, **given), 0)


def by_key(data: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {each["key"]: each for each in data["boxes"]}


def said(data: dict[str, Any]) -> list[str]:
    return [
        " ".join([each["title"], *map("".join, zip(each["tags"], each["keys"], strict=True)), *each["lines"]])
        for each in data["mistakes"]
    ]


WHOLE, UPPER, LOWER = box(0.1, 0.1, 0.5, 0.5), box(0.1, 0.1, 0.5, 0.28), box(0.1, 0.3, 0.5, 0.48)
MOST, FAR = box(0.1, 0.1, 0.5, 0.4), box(0.6, 0.6, 0.9, 0.9)
CUT = [WHOLE], [box(0.1, 0.1, 0.5, 0.2, score=0.8)]
TABLE = WHOLE._replace(label="Table", score=0.8)


def test_the_nearest_box_is_looked_for_among_those_that_touch(monkeypatch: pytest.MonkeyPatch) -> None:
    corners = [(x / 30, y / 30, (x + 0.8) / 30, (y + 0.8) / 30) for x in range(30) for y in range(30)]
    result = result_of([box(*each) for each in corners], [box(*each, score=0.5) for each in corners])
    fit, compared = page_overlay._fit, list[int]()
    monkeypatch.setattr(page_overlay, "_fit", lambda *given: (compared.append(len(given[2])), fit(*given))[1])
    page_data(result, 0)
    assert 0 < sum(compared) <= 4 * len(corners)


def test_a_matched_pair_names_each_other() -> None:
    data = page_of([WHOLE], [box(0.1, 0.1, 0.5, 0.4, score=0.9)])
    boxes = by_key(data)
    fit = {"iou": pytest.approx(0.75), "coverage": pytest.approx(0.75), "purity": 1.0}
    pair = fit | {"label": "Figure", "nearest": None, "mistake": None, "faded": False, "cause": None, "outline": None}
    pair |= {"other": False, "name": None}
    assert boxes == {
        "g0": pair | {
            "key": "g0", "side": "ground_truth", "status": "truth", "partner": "p0", "score": None,
            "xyxy": [0.1, 0.1, 0.5, 0.5], "source": "ground_truth.json, $.predictions[0].objects[0]",
        },
        "p0": pair | {
            "key": "p0", "side": "prediction", "status": "TP", "partner": "g0", "score": 0.9,
            "xyxy": [0.1, 0.1, 0.5, 0.4], "source": "prediction.json, $.predictions[0].objects[0]",
        },
    }  # fmt: skip
    assert data["counts"] == {"TP": 1, "FP": 0, "FN": 0, "ground_truth": 1, "predictions": 1}
    assert (data["mistakes"], data["labels"], data["limit"]) == ([], ["Figure"], None)


def test_a_box_says_where_it_stands_in_its_file() -> None:
    truth = [box(0.1, 0.1, 0.2, 0.2, page=0), box(0.3, 0.1, 0.4, 0.2, page=1), box(0.5, 0.1, 0.6, 0.2, page=1)]
    data = page_data(result_of(truth, []), 1)
    assert [each["source"] for each in data["boxes"]] == [
        "ground_truth.json, $.predictions[1].objects[0]",
        "ground_truth.json, $.predictions[1].objects[1]",
    ]


def test_a_near_miss_is_one_mistake_with_one_number_on_two_boxes() -> None:
    data = page_of([WHOLE], [box(0.1, 0.3, 0.5, 0.7, score=0.8)])
    boxes = by_key(data)
    assert [(each["status"], each["mistake"]) for each in boxes.values()] == [("FN", 1), ("FP", 1)]
    assert boxes["g0"]["nearest"] == {"key": "p0", "iou": pytest.approx(1 / 3)}
    assert boxes["p0"]["nearest"] == {"key": "g0", "iou": pytest.approx(1 / 3)}
    lines = ["overlaps too little for the IoU threshold", "IoU 0.33 · score 0.80"]
    assert data["mistakes"] == [
        {
            "number": 1, "name": "near_miss", "status": "FP", "title": "Near miss", "label": "Figure", "lines": lines,
            "tags": ["FP", "FN"], "keys": ["p0", "g0"], "cut": None, "lost_words": None, "foreign_words": None,
            "foreign": [], "row": None, "target": None, "verdict": None, "unsaved": None,
            "alike": 0, "family": None, "pieces": [], "table": None,
        }
    ]  # fmt: skip
    assert data["counts"] == {"TP": 0, "FP": 1, "FN": 1, "ground_truth": 1, "predictions": 1}


def test_a_cut_off_box_says_which_side_and_how_much() -> None:
    (mistake,) = page_data(result_of(*CUT), 0, page_points=(600.0, 800.0))["mistakes"]
    assert mistake["cut"] == {"side": "bottom", "share": pytest.approx(0.75), "points": pytest.approx(240.0)}
    assert mistake["lines"] == ["bottom −75 %, 240 pt", "IoU 0.25 · score 0.80"]
    sideways = [box(0.2, 0.1, 0.5, 0.5)], [box(0.35, 0.1, 0.5, 0.5)]
    (mistake,) = page_data(result_of(*sideways, iou=0.75), 0, page_points=(600.0, 800.0))["mistakes"]
    assert mistake["cut"] == {"side": "left", "share": pytest.approx(0.5), "points": pytest.approx(90.0)}
    assert mistake["lines"][0] == "left −50 %, 90 pt"
    unmeasured = page_of(*CUT)["mistakes"][0]
    assert (unmeasured["cut"]["points"], unmeasured["lines"][0]) == (None, "bottom −75 %"), "a size that nobody knows"


@pytest.mark.parametrize(
    ("truth", "predicted", "mistakes"),
    [
        (*CUT, ["Cut off FPp0 FNg0 bottom −75 % IoU 0.25 · score 0.80"]),
        (*CUT[::-1], ["Over-cropped FPp0 FNg0 bottom +300 % IoU 0.25 · no score"]),
        ([WHOLE], [UPPER, LOWER], ["Split FPp0 FPp1 FNg0 1 ground truth, 2 predictions"]),
        ([UPPER, LOWER], [WHOLE], ["Merged FPp0 FNg0 FNg1 2 ground truths, 1 prediction"]),
        # A matched part belongs to its split without being a mistake.
        ([WHOLE], [MOST, box(0.1, 0.41, 0.5, 0.5)], ["Split FPp1 1 ground truth, 2 predictions"]),
        ([WHOLE], [TABLE], ["Wrong class FPp0 FNg0 predicted as Table IoU 1.00 · score 0.80"]),
        ([WHOLE], [FAR], ["Missed FNg0 no prediction here", "Extra FPp0 no ground truth here no score"]),
        # IoU 0.0526: nearest, but not near.
        (
            [WHOLE], [box(0.1, 0.46, 0.5, 0.86)],
            [
                "Missed FNg0 overlaps an extra Figure IoU 0.05",
                "Extra FPp0 overlaps a missed Figure IoU 0.05 · no score",
            ],
        ),
        ([WHOLE], [WHOLE, MOST], ["Duplicate FPp1 overlaps a matched Figure IoU 0.75 · no score"]),
    ],
    ids=["cut", "over-cropped", "split", "merged", "split of a match", "class", "far", "touching", "duplicate"],
)  # fmt: skip
def test_what_is_said_of_a_mistake(truth: list[Box], predicted: list[Box], mistakes: list[str]) -> None:
    data = page_of(truth, predicted)
    assert said(data) == mistakes
    # Each box of a mistake has its number, and no other box has one.
    numbers = {key: each["number"] for each in data["mistakes"] for key in each["keys"]}
    assert {key: each["mistake"] for key, each in by_key(data).items() if each["mistake"]} == numbers


def test_a_pair_is_told_how_it_fits_whatever_else_is_nearer() -> None:
    # The Table is nearer to the ground truth, but another Table has it.
    table = box(0.1, 0.14, 0.5, 0.54, label="Table")
    data = page_of([WHOLE, table], [table, box(0.1, 0.3, 0.5, 0.7)])
    boxes = by_key(data)
    assert [(each["title"], each["keys"]) for each in data["mistakes"]] == [("Near miss", ["p1", "g0"])]
    assert boxes["g0"]["nearest"] == {"key": "p0", "iou": pytest.approx(0.36 / 0.44)}
    assert boxes["g0"]["iou"] == boxes["p1"]["iou"] == pytest.approx(1 / 3)


def test_a_mistake_keeps_its_name_when_only_a_part_of_it_is_shown() -> None:
    result = result_of([WHOLE], [TABLE])
    whole, tables = page_data(result, 0), page_data(result, 0, labels=["Table"])
    assert (whole["labels"], whole["mistakes"][0]["label"]) == (["Figure", "Table"], "Figure")
    assert said(tables) == ["Wrong class FPp0 FNg0 predicted as Table IoU 1.00 · score 0.80 other half: FN Figure"]
    assert {key: each["other"] for key, each in by_key(tables).items()} == {"p0": False, "g0": True}


def test_a_label_that_is_shown_alone_changes_no_sentence() -> None:
    result, row = page_of_the_sample()
    whole, tables = page_data(result, row), page_data(result, row, labels=["Table"])
    sentences = {tuple(each["keys"]): each["lines"] for each in whole["mistakes"]}
    missed = next(each for each in tables["mistakes"] if each["title"] == "Missed")
    assert missed["lines"][:2] == ["overlaps an extra Section-header", "IoU 0.08"]
    assert missed["lines"][:2] == sentences[tuple(missed["keys"])]
    (key,) = missed["keys"]
    assert by_key(tables)[key]["nearest"] == by_key(whole)[key]["nearest"]
    assert by_key(tables)[by_key(tables)[key]["nearest"]["key"]]["other"], "the half that no label asked for"


@pytest.mark.parametrize("seed", range(8))
def test_what_is_known_of_a_box_does_not_depend_on_what_is_shown(seed: int) -> None:
    result = result_of(*random_rows(seed))
    for row in range(result.matching.dataset.pages):
        whole = by_key(page_data(result, row))
        for label in LABELS:
            for key, each in by_key(page_data(result, row, labels=[label])).items():
                shown = {"mistake": None, "other": None, "cause": None}
                assert {**each, **shown} == {**whole[key], **shown}
                assert each["other"] <= (each["label"] != label or each["status"] != "truth")


def test_boxes_of_other_labels_are_not_said_to_be_absent() -> None:
    dataset = join(ground_truth([WHOLE, FAR._replace(label="Table")]), prediction([FAR, TABLE]))
    result = snapshot.pair(dataset, 0).match(labels=["Figure"]).at(0.5)
    lines = [each["lines"][0] for each in page_data(result, 0)["mistakes"]]
    assert lines == ["no prediction of these labels here", "no ground truth of these labels here"]


def test_of_two_that_want_the_same_box_the_nearer_one_gets_it() -> None:
    data = page_of([WHOLE], [box(0.1, 0.1, 0.5, 0.2), box(0.1, 0.12, 0.5, 0.29)])
    boxes = by_key(data)
    assert boxes["g0"]["nearest"]["key"] == "p1"
    assert boxes["g0"]["mistake"] == boxes["p1"]["mistake"] != boxes["p0"]["mistake"]
    assert sorted(each["tags"] for each in data["mistakes"]) == [["FP"], ["FP", "FN"]]


def test_mistakes_stand_in_reading_order_whatever_the_file_says() -> None:
    rows = [box(0.1, 0.8, 0.2, 0.9), box(0.6, 0.1, 0.7, 0.2), box(0.1, 0.103, 0.2, 0.2), box(0.1, 0.4, 0.2, 0.5)]
    data = page_of(rows, [])
    # 0.100 and 0.103 are on one line, so the left one comes first.
    assert [(each["number"], each["keys"]) for each in data["mistakes"]] == [
        (1, ["g2"]), (2, ["g1"]), (3, ["g3"]), (4, ["g0"]),
    ]  # fmt: skip
    assert {key: each["mistake"] for key, each in by_key(data).items()} == {"g0": 4, "g1": 2, "g2": 1, "g3": 3}


def test_a_page_without_boxes_and_a_page_that_no_file_mentions() -> None:
    result = result_of([box(0.1, 0.1, 0.2, 0.2)], [], pages=[("a.pdf", 1)])
    for row in (1, -1):
        data = page_data(result, row)
        assert (data["boxes"], data["mistakes"], data["labels"], data["limit"]) == ([], [], [], None)
        assert data["counts"] == dict.fromkeys(("TP", "FP", "FN", "ground_truth", "predictions"), 0)


def test_predictions_below_the_score_threshold_are_not_there() -> None:
    data = page_of([WHOLE], [WHOLE._replace(score=0.2), box(0.6, 0.6, 0.7, 0.7, score=0.9)], min_score=0.5)
    assert {key: each["status"] for key, each in by_key(data).items()} == {"g0": "FN", "p1": "FP"}
    assert data["counts"]["predictions"] == 1


def test_labels_that_are_not_scored_and_labels_that_are_not_chosen_are_left_out() -> None:
    truth = [box(0.1, 0.1, 0.2, 0.2), box(0.3, 0.1, 0.4, 0.2, label="Table"), box(0.5, 0.1, 0.6, 0.2, label="Stamp")]
    result = result_of(truth, [])
    assert [each["label"] for each in page_data(result, 0)["boxes"]] == ["Figure", "Table"]
    chosen = page_data(result, 0, labels=["Table"])
    assert [each["label"] for each in chosen["boxes"]] == ["Table"], "nothing is beside it"
    assert (chosen["counts"]["FN"], chosen["labels"]) == (1, ["Table"])
    assert page_data(result, 0, labels=[])["boxes"] == []


def test_boxes_beyond_the_limit_are_counted_and_not_drawn() -> None:
    many = page_overlay.DRAWN_BOXES + 7
    side = int(np.ceil(np.sqrt(many)))
    places = (divmod(number, side) for number in range(many))
    truth = [box(column / side, row / side, (column + 0.9) / side, (row + 0.9) / side) for row, column in places]
    data = page_of(truth, truth[:3])
    assert len(data["boxes"]) == page_overlay.DRAWN_BOXES + 3
    assert data["limit"] == {"drawn": page_overlay.DRAWN_BOXES + 3, "total": many + 3}
    assert data["counts"] == {"TP": 3, "FP": 0, "FN": many - 3, "ground_truth": many, "predictions": 3}
    assert len(data["mistakes"]) == page_overlay.DRAWN_BOXES - 3


def test_every_box_names_boxes_that_are_drawn_even_beyond_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """The partner of a drawn box may be beyond the limit: the viewer must cope with its name, not with a wrong box."""
    monkeypatch.setattr(page_overlay, "DRAWN_BOXES", 2)
    truth = [box(0.1 * i, 0.1, 0.1 * i + 0.08, 0.2) for i in range(5)]
    data = page_of(truth, truth[::-1])
    boxes = by_key(data)
    assert boxes.keys() == {"g0", "g1", "p0", "p1"}
    assert {key: each["partner"] for key, each in boxes.items()} == {"g0": "p4", "g1": "p3", "p0": "g4", "p1": "g3"}
    assert data["mistakes"] == []


@pytest.mark.parametrize("seed", range(8))
def test_on_random_pages_counts_numbers_and_partners_agree_with_the_core(seed: int) -> None:
    truth, predicted = random_rows(seed)
    result = result_of(truth, predicted)
    dataset = result.matching.dataset
    for row in range(dataset.pages):
        data = json.loads(json.dumps(page_data(result, row), allow_nan=False))
        page = result.per_page.row(row)
        assert [data["counts"][name] for name in ("TP", "FP", "FN")] == [page[name] for name in ("tp", "fp", "fn")]
        boxes = by_key(data)
        assert len(boxes) == len(data["boxes"])
        statuses = [each["status"] for each in data["boxes"]]
        assert statuses.count("TP") == statuses.count("truth") == page["tp"]
        assert [each["number"] for each in data["mistakes"]] == list(range(1, len(data["mistakes"]) + 1))
        assert sorted(key for each in data["mistakes"] for key in each["keys"]) == sorted(
            key for key, each in boxes.items() if each["status"] in ("FP", "FN")
        )
        for mistake in data["mistakes"]:
            assert {boxes[key]["mistake"] for key in mistake["keys"]} == {mistake["number"]}
            assert [boxes[key]["status"] for key in mistake["keys"]] == mistake["tags"]
        for key, each in boxes.items():
            if each["partner"]:
                assert boxes[each["partner"]]["partner"] == key
                assert each["label"] == boxes[each["partner"]]["label"]
                assert each["iou"] >= 0.5
            if each["nearest"]:
                assert boxes[each["nearest"]["key"]]["side"] != each["side"]


def kept(
    result: snapshot.ThresholdResult, chosen: MistakeFilter, options: MistakeOptions | None = None
) -> page_overlay.FilteredMistakes:
    mistakes = mistake_filter.mistakes_of(result, options)
    columns = mistake_filter.mistake_columns(result, mistakes)
    return page_overlay.FilteredMistakes(mistakes, mistake_filter.passing(columns, result.matching.dataset, chosen))


def test_a_filter_fades_the_boxes_of_the_mistakes_that_it_hides() -> None:
    result = result_of([box(0.6, 0.6, 0.9, 0.9), WHOLE], CUT[1])
    assert [each["title"] for each in page_data(result, 0)["mistakes"]] == ["Cut off", "Missed"]
    data = page_data(result, 0, kept=kept(result, MistakeFilter(names=("missed",))))
    assert [(each["number"], each["title"]) for each in data["mistakes"]] == [(1, "Missed")]
    assert data["hidden_mistakes"] == 1
    boxes = by_key(data)
    assert {key: (each["faded"], each["mistake"]) for key, each in boxes.items()} == {
        "g0": (False, 1), "g1": (True, None), "p0": (True, None)
    }  # fmt: skip
    assert data["counts"] == {"TP": 0, "FP": 1, "FN": 2, "ground_truth": 2, "predictions": 1}, "a filter counts nothing"
    assert page_data(result, 0, kept=kept(result, MistakeFilter()))["hidden_mistakes"] == 0


@pytest.mark.parametrize(
    "chosen", [*(MistakeFilter(label=label) for label in ("Text", "Figure")), MistakeFilter(names=("merged",))]
)
def test_a_filter_leaves_mistakes_whole(chosen: MistakeFilter) -> None:
    """The boxes of a shown mistake, the rest of its cause and what it overlaps are drawn, muted where not asked for."""
    result = box_result()
    filtered, mistakes, causes = kept(result, chosen), result.mistakes, result.causes
    labels = None if chosen.label is None else [chosen.label]
    for row in np.unique(mistakes.page[filtered.keep]).tolist():
        drawn = page_overlay.page_data(result, row, labels=labels, kept=filtered, causes=causes)
        boxes = {box.key: box for box in drawn.boxes}
        whole = {box.key: box for box in page_overlay.page_data(result, row).boxes}
        own = set(np.flatnonzero(filtered.keep & (mistakes.page == row)).tolist())
        assert len(drawn.mistakes) == len(own)
        together = {int(causes.of_mistake[mistake]) for mistake in own}
        for key, each in whole.items():
            mistake = mistakes.of_box(key)
            if mistake == -1 or int(causes.of_mistake[mistake]) not in together:
                continue
            assert not boxes[key].faded, key
            asked = mistake in own and chosen.label in (None, each.label)
            assert boxes[key].other == (not asked), key
            if mistake in own and each.nearest:
                partner = whole[each.nearest.key].partner or ""
                assert {each.nearest.key, partner} & set(boxes), "what it overlaps, or the match of that"
        muted = [box for box in drawn.boxes if box.other]
        assert all(box.mistake for box in muted), "it belongs to a mistake of the list"
        assert {box.mistake for box in muted} == {
            mistake.number for mistake in drawn.mistakes if mistake.lines[-1].startswith("other half: ")
        }
        wrong = Counter(box.mistake for box in drawn.boxes if box.status != "TP" and mistakes.of_box(box.key) in own)
        for cause in drawn.causes:
            assert cause.boxes == sum(wrong[number] for number in cause.numbers), "what the filter keeps of it"


def test_a_poor_match_is_a_mistake_when_asked_for() -> None:
    result = result_of([WHOLE], [box(0.1, 0.1, 0.5, 0.35, score=0.8)])
    assert page_data(result, 0)["mistakes"] == []
    options = MistakeOptions(min_coverage=0.7, min_purity=0.7)
    data = page_data(result, 0, kept=kept(result, MistakeFilter(), options))
    (mistake,) = data["mistakes"]
    assert (mistake["title"], mistake["tags"], sorted(mistake["keys"])) == ("Cut off", ["TP"], ["g0", "p0"])
    assert mistake["lines"] == ["bottom −38 %", "IoU 0.62 · score 0.80"]
    assert data["counts"]["TP"] == 1, "a poor match is a match"


def test_the_text_that_a_mistake_loses_is_listed_and_marked() -> None:
    words = np.array([[0.1, 0.12, 0.2, 0.14], [0.1, 0.42, 0.2, 0.44], [0.3, 0.42, 0.4, 0.44], [0.8, 0.8, 0.9, 0.82]])
    text = PageText(Words(words, ("Figure", "3.", "Households", "elsewhere")))
    result = result_of(*CUT)
    (mistake,) = page_data(result, 0, text=text)["mistakes"]
    assert mistake["lines"][-1] == "lost “3. Households” (2 words)"
    assert (mistake["lost_words"], mistake["foreign_words"], mistake["foreign"]) == (2, 0, [])
    lost = read_by_browser(page_overlay.lost_text(result, 0, text))
    assert lost == {"lost": words[1:3].tolist(), "lost_words": 2, "lost_ink": None}
    (mistake,) = page_data(result_of(*CUT[::-1]), 0, text=text)["mistakes"]
    assert mistake["lines"][-1] == "takes in “3. Households” (2 words)"
    assert mistake["foreign"] == words[1:3].tolist()


def test_a_duplicate_loses_no_text_of_the_ground_truth_that_it_repeats() -> None:
    words = PageText(Words(np.array([[0.1, 0.45, 0.2, 0.47]]), ("end",)))
    result = result_of([WHOLE], [box(0.1, 0.1, 0.5, 0.44), box(0.1, 0.1, 0.5, 0.4, score=0.3)])
    (mistake,) = page_data(result, 0, text=words)["mistakes"]
    assert (mistake["title"], mistake["lost_words"], mistake["lines"][-1]) == ("Duplicate", 0, "IoU 0.75 · score 0.30")
    assert page_overlay.lost_text(result, 0, words).lost_words == 1, "the matched pair loses it"


def test_labels_from_strangers_are_text_that_turns_no_direction() -> None:
    label = '<img src=x onerror=alert(1)>![b](http://example.invalid/x.png)"\n\u202e'
    data = page_of([box(0.1, 0.1, 0.5, 0.5, label=label)], [], labels=[label])
    shown = '<img src=x onerror=alert(1)>![b](http://example.invalid/x.png)"\\n\\u202e'
    assert data["boxes"][0]["label"] == data["mistakes"][0]["label"] == data["labels"][0] == shown


def test_boxes_of_one_cause_have_one_chip() -> None:
    """The table of page 4 that was read as lines: one chip, on the missed table."""
    result, row = page_of_the_sample()
    data = page_data(result, row, causes=result.causes)
    (cause,) = [each for each in data["causes"] if each["title"] == "Table read as 14 boxes"]
    own = [each for each in data["boxes"] if each["mistake"] in cause["numbers"]]
    assert [(each["label"], each["status"]) for each in own if each["cause"]] == [("Table", "FN")]
    assert {each["cause"] for each in own} == {"Table read as 14 boxes", ""}
    assert {each["cause"] for each in data["boxes"] if each not in own} == {None}
    assert {each["cause"] for each in page_data(result, row)["boxes"]} == {None}
