"""Two models on one page and on one board: kinds of boxes, what is listed, what is where."""

from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluator.compare import differences
from evaluator.compare.differences import Difference
from evaluator.compare.ledger import Ledger, ledger
from evaluator.compare.sentences import summary
from evaluator.components.compare.comparison_summary import axis_of, board_data, link_of, sentence_parts
from evaluator.components.compare.pair import PAGE_FILTERS, pair_data
from evaluator.components.compare.pair_list import LISTED_PAGES, boxes_of, filters, listed_pages, page_list, signed
from evaluator.components.matrix.class_matrix import class_difference
from evaluator.components.payload import ModelItem
from evaluator.data.dataset import join
from evaluator.matching.box_items import class_confusion
from evaluator.matching.box_measures import box_measures
from evaluator.protocols.snapshot.evaluation import IOU_FLOOR, ThresholdResult, pair
from tests.building import Box, annotations, box, ground_truth, random_rows, read_by_browser
from tests.sample_results import box_result

Results = tuple[ThresholdResult, ThresholdResult]
LABELS = ("Figure", "Table")
NAMES = ("A", "B")
MODELS = (ModelItem("A", ""), ModelItem("B", ""))


def results_of(truth: list[Box], *models: list[Box]) -> Results:
    named = [annotations(rows, name=f"m{number}.json", documents=["a.pdf"]) for number, rows in enumerate(models)]
    dataset = join(ground_truth(truth, documents=["a.pdf"]), *named)
    first, second = (pair(dataset, model, iou_floor=IOU_FLOOR).match().at(0.5) for model in (0, 1))
    return first, second


def sample() -> Results:
    return box_result(0), box_result(1)


def changes_of(results: Results) -> tuple[Difference, ...]:
    return differences.differences(*(box_measures(result) for result in results))


@cache
def sample_differences() -> tuple[Difference, ...]:
    return changes_of(sample())


# Four ground truths, one for each outcome; one false positive that both have, and one of B alone.
BOTH, A_ONLY = box(0.1, 0.1, 0.4, 0.2, label="Table"), box(0.1, 0.3, 0.4, 0.4)
B_ONLY, NEITHER = box(0.1, 0.5, 0.4, 0.6, label="Table"), box(0.1, 0.7, 0.4, 0.8)
SHARED, ALONE = box(0.6, 0.1, 0.9, 0.2, score=0.4), box(0.6, 0.5, 0.9, 0.6, score=0.25)
CUT = box(0.1, 0.5, 0.4, 0.54, label="Table", score=0.6)


def toy() -> Results:
    """A cuts B_ONLY off at 40 per cent of its height; the rest fits."""
    first = [BOTH._replace(score=0.9), A_ONLY._replace(score=0.8), SHARED, CUT]
    second = [BOTH._replace(score=0.7), B_ONLY._replace(score=0.91), SHARED._replace(score=0.3), ALONE]
    return results_of([BOTH, A_ONLY, B_ONLY, NEITHER], first, second)


def on_page(results: Results, page: int = 0, **options: Any) -> dict[str, Any]:
    return read_by_browser(pair_data(*results, ledger(*results), page, models=MODELS, **options))


def test_every_box_has_the_outcome_of_the_ledger() -> None:
    a, b = on_page(toy())["panes"]
    truth = {"g0": ("both", False), "g1": ("a_only", True), "g2": ("b_only", True), "g3": ("neither", False)}
    for pane, predicted in (
        (a, {"a0": ("both", False), "a1": ("a_only", True), "a2": ("shared", False), "a3": ("a_invents", True)}),
        (b, {"b0": ("both", False), "b1": ("b_only", True), "b2": ("shared", False), "b3": ("b_invents", True)}),
    ):
        assert {each["key"]: (each["kind"], each["full"]) for each in pane["boxes"]} == truth | predicted


def test_both_panes_name_the_same_box_alike() -> None:
    a, b = ({each["key"]: each for each in pane["boxes"]} for pane in on_page(toy())["panes"])
    assert (a["a2"]["mate"], b["b2"]["mate"]) == ("b2", "a2")
    assert (a["a1"]["partner"], a["g1"]["partner"], b["g1"]["partner"]) == ("g1", "a1", None)
    assert (b["g2"]["partner"], a["g2"]["nearest"]["key"], a["a3"]["mate"]) == ("b1", "a3", None)


def test_chips_say_status_label_score_and_what_is_wrong() -> None:
    a, b = on_page(toy())["panes"]
    chips = {each["key"]: each["chip"] for pane in (b, a) for each in pane["boxes"]}
    # A matched ground truth has no chip, and a mistake has one.
    assert {key: chips[key] for key in ("a1", "b1", "b3", "g2", "a3", "g0")} == {
        "a1": "TP Figure 0.80", "b1": "TP Table 0.91", "b3": "FP Figure 0.25", "g2": "FN Table, cut off",
        "a3": None, "g0": None,
    }  # fmt: skip


def test_the_score_stays_behind_a_label_that_runs_from_right_to_left() -> None:
    arabic = "\u0646\u0635 \u0627\u0644\u0641\u0642\u0631\u0629"
    row = BOTH._replace(label=arabic, score=0.5)
    dataset = join(
        ground_truth([row], labels=[arabic]),
        *(annotations(rows, labels=[arabic], documents=["a.pdf"], name=f"m{len(rows)}.json") for rows in ([row], [])),
    )
    first, second = (pair(dataset, model, iou_floor=IOU_FLOOR).match().at(0.5) for model in (0, 1))
    a, b = on_page((first, second))["panes"]
    (chip,) = [each["chip"] for each in a["boxes"] if each["chip"]]
    assert chip == f"TP \u2068{arabic}\u2069 0.50"
    assert [each["chip"] for each in b["boxes"]] == [f"FN \u2068{arabic}\u2069"]
    assert on_page((first, second))["differences"][0]["words"].startswith(f"\u2068{arabic}\u2069: A finds it")


def test_the_heads_say_what_each_model_does() -> None:
    for results, said in (
        (toy(), ["misses 1 that B finds, extra 1", "gains 1, loses 1, extra 1"]),
        (results_of([BOTH], [BOTH], [BOTH]), ["misses none that B finds", "gains 0, loses 0"]),
    ):
        assert [pane["words"] for pane in on_page(results)["panes"]] == said


def test_differences_are_told_in_reading_order() -> None:
    listed = on_page(toy())["differences"]
    assert [(each["key"], each["words"]) for each in listed] == [
        ("g1", "Figure: A finds it (score 0.80, IoU 1.00), B misses it."),
        ("a3", "Table 0.60: only A has this extra box (cut off)."),
        ("g2", "Table: A misses it (cut off), B finds it (score 0.91, IoU 1.00)."),
        ("b3", "Figure 0.25: only B has this extra box."),
    ]


def test_a_filter_lists_its_boxes_and_draws_them_in_full() -> None:
    for show, key in (
        ("b_fixed", "g2"), ("b_broke", "g1"), ("both_missed", "g3"), ("only_b_invents", "b3"), ("only_a_invents", "a3"),
        ("both_found", "g0"), ("both_invent", "a2"),
    ):  # fmt: skip
        words = on_page(toy(), show=show)
        assert [each["key"] for each in words["differences"]] == [key]
        assert all(each["full"] for pane in words["panes"] for each in pane["boxes"] if each["key"] == key)
    with pytest.raises(KeyError):
        on_page(toy(), show="everything")


def test_a_label_leaves_out_the_other_boxes() -> None:
    words = on_page(toy(), labels=["Table"])
    assert {each["label"] for pane in words["panes"] for each in pane["boxes"]} == {"Table"}
    assert [each["key"] for each in words["differences"]] == ["a3", "g2"]
    assert words["panes"][1]["words"] == "Table: gains 1, loses 0"


def test_a_page_that_no_file_mentions_is_empty() -> None:
    words = on_page(toy(), page=-1)
    assert (words["differences"], [pane["boxes"] for pane in words["panes"]]) == ([], [[], []])


@given(seed=st.integers(0, 10**6))
def test_the_boxes_of_a_page_add_up_to_the_ledger(seed: int) -> None:
    truth, first = random_rows(seed, documents=1, pages=2)
    _, second = random_rows(seed, documents=1, pages=2)
    results = results_of(truth, first, [row._replace(score=0.5) for row in second][: len(second) // 2])
    both = ledger(*results)
    for page in range(both.dataset.pages):
        drawn = read_by_browser(pair_data(*results, both, page, models=MODELS))
        counts = both.per_page
        for letter, pane in zip("ab", drawn["panes"], strict=True):
            truths = [each["kind"] for each in pane["boxes"] if each["side"] == "ground_truth"]
            for kind in ("both", "a_only", "b_only", "neither"):
                assert truths.count(kind) == getattr(counts, kind)[page]
            false = [each["kind"] for each in pane["boxes"] if each["status"] == "FP"]
            assert false.count("shared") == counts.shared[page]
            assert false.count(f"{letter}_invents") == getattr(counts, f"{letter}_invents")[page]
        for show in ("b_fixed", "b_broke", "both_missed", "both_found"):
            told = read_by_browser(pair_data(*results, both, page, models=MODELS, show=show))["differences"]
            assert len(told) == boxes_of(counts, show)[page]


@pytest.mark.parametrize("show", PAGE_FILTERS)
@pytest.mark.parametrize("label", [None, "Text"])
def test_the_pages_behind_a_number_add_up_to_it(show: str, label: str | None) -> None:
    both = ledger(*sample()).only(labels=None if label is None else {label})
    rows = listed_pages(both, show)
    counts = boxes_of(both.per_page, show)
    assert counts[rows].sum() == boxes_of(both.total, show)[0]
    assert (counts[rows] > 0).all()
    offered = {each["name"]: each["pages"] for each in read_by_browser(filters(both, show, NAMES))}
    assert offered[show] == len(rows)
    if show == "changed":
        assert (np.diff(both.per_page.net[rows]) >= 0).all()
    else:
        assert (np.diff(counts[rows]) <= 0).all()


def test_the_extra_filters_show_only_while_they_are_chosen() -> None:
    both = ledger(*sample())
    assert [each["title"] for each in read_by_browser(filters(both, "changed", NAMES))] == [
        "Changed", "Lost in B", "Gained in B", "Both missed", "Extra only in B",
    ]  # fmt: skip
    assert [each["name"] for each in read_by_browser(filters(both, "both_invent", NAMES))][-1] == "both_invent"


def test_the_list_tells_net_change_and_the_unchanged_pages() -> None:
    both = ledger(*sample())
    rows = listed_pages(both, "changed")
    drawn = read_by_browser(page_list(both, "changed", rows, 3, NAMES))
    strip = drawn["strip"]
    assert [each["current"] for each in strip].index(True) == 3
    nets = both.per_page.net[rows].tolist()
    assert [(each["gained"] - each["lost"], each["number"]) for each in strip] == [(net, signed(net)) for net in nets]
    (gap,) = [place for place, each in enumerate(strip) if each["above"]]
    assert nets[gap] > 0 >= nets[gap - 1]
    assert int(strip[gap]["above"].split()[0]) == both.dataset.pages - len(rows), "those that are unchanged"
    assert drawn["look"]["scale"] == max(max(each["gained"], each["lost"]) for each in strip)


def test_of_a_long_list_only_the_pages_around_are_handed_over() -> None:
    rows = [box(0.1, 0.1, 0.5, 0.5, page=page) for page in range(LISTED_PAGES + 60)]
    both = ledger(*results_of(rows, rows[:1], rows[1:]))
    order = listed_pages(both, "changed")
    for position in (0, 130, len(order) - 1):
        strip = read_by_browser(page_list(both, "changed", order, position, NAMES))["strip"]
        assert len(strip) == LISTED_PAGES
        (current,) = [each for each in strip if each["current"]]
        assert current["index"] == both.dataset.page_index[order[position]]


def test_changes_have_a_sign_and_zero_has_none() -> None:
    assert [signed(value) for value in (2, -5, 0, 1_204)] == ["+2", "−5", "0", "+1,204"]


def board_of(both: Ledger, changes: tuple[Difference, ...]) -> dict[str, Any]:
    return read_by_browser(board_data(both, changes, NAMES, show="changed", label=""))


def test_the_sentence_in_parts_is_the_summary() -> None:
    parts = read_by_browser(sentence_parts(sample_differences(), NAMES))
    told = summary(sample_differences(), NAMES)
    assert " ".join(part["text"] for part in parts) == f"{told.headline} {told.notes}"
    assert (parts[0]["strong"], parts[0]["link"]) == (True, {"show": "b_fixed", "label": ""})
    assert parts[-1]["text"].startswith("Worst loss: Text recall")
    assert parts[-1]["link"] == {"show": "b_broke", "label": "Text"}
    without_a_clear_one = read_by_browser(sentence_parts(changes_of(toy()), NAMES))
    assert not any("Worst loss" in part["text"] for part in without_a_clear_one)


def test_the_cells_of_the_board_are_the_ledger() -> None:
    both = ledger(*sample())
    board = board_of(both, sample_differences())
    total = both.total.rows()[0]
    assert {each["name"]: each["boxes"] for each in board["ledger"]} == {
        name: total[name] for name in ("both", "a_only", "b_only", "neither")
    }
    assert [each["boxes"] for each in board["false_positives"]] == [
        total["false_positives_shared"], total["false_positives_a_only"], total["false_positives_b_only"],
    ]  # fmt: skip
    for row in board["labels"]:
        counts = both.to_json()[row["label"]]
        assert [cell["boxes"] for cell in row["cells"]] == [counts["a_only"], counts["b_only"], counts["neither"]]
        for cell in row["cells"]:
            only = both.only(labels={cell["link"]["label"]})
            assert boxes_of(only.total, cell["link"]["show"])[0] == cell["boxes"], "the link opens what it counts"


def test_bars_stand_where_their_numbers_say() -> None:
    few, every = board_of(ledger(*sample()), sample_differences())["tables"]
    assert len(few["rows"]) == 8 < len(every["rows"])
    for table in (few, every):
        for row in table["rows"]:
            assert 0.0 <= row["value"] <= 1.0
            if row["low"] is None:
                assert (row["interval"], row["star"], row["tone"]) == ("–", False, "unclear")
                continue
            assert 0.0 <= row["low"] <= row["value"] <= row["high"] <= 1.0
            assert row["star"] == (row["high"] < table["zero"] or row["low"] > table["zero"])
            assert row["tone"] == ("unclear" if not row["star"] else "loss" if row["points"][0] == "−" else "gain")
    tones = [row["tone"] for row in few["rows"]]
    first = [row["title"] for row in few["rows"][:3]]
    assert first == [f"{name}, all labels" for name in ("F1", "Precision", "Recall")]
    assert tones[3:] == sorted(tones[3:], key=["loss", "gain", "unclear"].index)


def test_few_documents_have_no_interval_and_say_why() -> None:
    board = board_of(ledger(*toy()), changes_of(toy()))
    assert board["reason"] == "No intervals: with 1 document an interval means little; 8 are needed."
    for row in board["tables"][0]["rows"]:
        shown = row["interval"], row["star"], row["low"], row["high"], row["tone"]
        assert shown == ("–", False, None, None, "unclear")
        assert row["value"] is not None


def difference_of(value: float | None, low: float | None = None, high: float | None = None, **given: Any) -> Difference:
    facts = {"metric": "recall", "label": "Table", "overall": False, "a": 0.5, "b": 0.5, "documents": 20}
    counts = {"documents_better": 0, "documents_worse": 0, "undefined": 0, "resamples": 2000}
    return Difference(**(facts | counts | {"difference": value, "low": low, "high": high} | given))


@given(
    st.lists(st.tuples(st.floats(-1, 1), st.floats(0, 0.5), st.floats(0, 0.5)), min_size=1, max_size=8),
)
def test_an_axis_holds_everything_and_zero(rows: list[tuple[float, float, float]]) -> None:
    changes = [difference_of(value, value - below, value + above) for value, below, above in rows]
    low, high, ticks = axis_of(changes)
    for one in changes:
        assert low <= 100 * one.low <= 100 * one.high <= high  # type: ignore[operator]
    assert 0.0 in ticks
    assert 1 <= len(ticks) <= 5
    assert ticks == sorted(set(ticks))
    assert low <= ticks[0] <= ticks[-1] <= high


def test_a_difference_opens_the_boxes_behind_it() -> None:
    for metric, value, show in (
        ("recall", -0.1, "b_broke"), ("recall", 0.1, "b_fixed"), ("precision", -0.1, "only_b_invents"),
        ("precision", 0.1, "only_a_invents"), ("f1", 0.1, "changed"),
    ):  # fmt: skip
        assert read_by_browser(link_of(difference_of(value, metric=metric))) == {"show": show, "label": "Table"}
        assert read_by_browser(link_of(difference_of(value, metric=metric, overall=True)))["label"] == ""


def test_the_class_confusion_difference_is_b_minus_a() -> None:
    sides = [class_confusion(result) for result in sample()]
    a, b = (side.counts for side in sides)
    labels = sample()[0].matching.labels
    data = read_by_browser(class_difference(*sides, names=NAMES))
    assert data["classes"] == ["Background", *labels]
    assert (data["text"][0][0], data["unit"]) == ("", "boxes")
    place = labels.index("Text")
    assert data["text"][place + 1][place + 1] == signed(int(b[place, place] - a[place, place]))
    assert data["text"][place + 1][0] == signed(int(b[place, -1] - a[place, -1]))
    gain = np.array(data["facts"]["gain"])
    assert gain[place + 1, place + 1] == np.sign(b[place, place] - a[place, place])
    assert gain[0, place + 1] == -np.sign(b[-1, place] - a[-1, place])
