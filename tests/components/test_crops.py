"""Crops: the part of a page around some boxes, cut where it was asked for, and what a card says."""

import io

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from evaluator.components.gallery.crops import CARD_ASPECT, cards, cut, region
from evaluator.data.dataset import join
from evaluator.matching.box_items import items
from evaluator.protocols.snapshot import pair
from tests.building import annotations, ground_truth, read_by_browser
from tests.matching.test_box_items import PREDICTED, TRUTH, box, result_of


def test_a_small_box_is_shown_with_its_surroundings_in_the_shape_of_a_card() -> None:
    # 0.34 of 600 points across; 204 points / 1.7 = 120 points down, 0.15 of 800.
    assert region(np.array([[0.4, 0.4, 0.6, 0.5]]), (600.0, 800.0)) == (0.33, 0.375, 0.67, 0.525)
    # At the corner of the page the crop moves inside.
    assert region(np.array([[0.0, 0.9, 0.1, 1.0]]), (600.0, 800.0)) == (0.0, 0.85, 0.34, 1.0)


@given(
    st.lists(
        st.tuples(st.floats(0, 1), st.floats(0, 1), st.floats(0, 1), st.floats(0, 1)).map(
            lambda c: (min(c[0], c[2]), min(c[1], c[3]), max(c[0], c[2]), max(c[1], c[3]))
        ),
        min_size=1,
        max_size=5,
    ),
    st.floats(100, 3000),
    st.floats(100, 3000),
)
def test_a_crop_lies_in_the_page_and_holds_its_boxes(
    boxes: list[tuple[float, float, float, float]], width: float, height: float
) -> None:
    rows = np.array(boxes)
    x1, y1, x2, y2 = region(rows, (width, height))
    assert 0.0 <= x1 < x2 <= 1.0
    assert 0.0 <= y1 < y2 <= 1.0
    assert ((x1, y1) <= rows[:, :2].min(axis=0) + 1e-5).all()
    assert ((x2, y2) >= rows[:, 2:].max(axis=0) - 1e-5).all()
    shape = (x2 - x1) * width / ((y2 - y1) * height)
    assert shape == pytest.approx(CARD_ASPECT, rel=1e-3) or x2 - x1 > 0.999 or y2 - y1 > 0.999


def test_a_cut_shows_what_stands_there() -> None:
    page = np.full((400, 300, 3), 255, dtype=np.uint8)
    page[100:200, 150:225] = (200, 0, 0)
    written = io.BytesIO()
    Image.fromarray(page).save(written, format="WEBP", lossless=True)
    picture = Image.open(io.BytesIO(cut(written.getvalue(), (0.5, 0.25, 0.75, 0.5), width=60)))
    assert (picture.format, picture.size) == ("WEBP", (60, 80))
    middle = np.asarray(picture.convert("RGB"))[10:-10, 10:-10].reshape(-1, 3).mean(axis=0)
    assert middle == pytest.approx([200, 0, 0], abs=6)
    assert Image.open(io.BytesIO(cut(written.getvalue(), (0.0, 0.0, 1.0, 1.0), width=5_000))).size == (300, 400)


def test_two_labels_from_right_to_left_stand_in_their_order() -> None:
    place = (0.0, 0.5, 0.4, 0.7)
    labels = ("\u05d0", "\u0639")
    truth = ground_truth([box(*place, label=labels[0])], labels=labels)
    predicted = annotations([box(*place, label=labels[1], score=0.8)], labels=labels)
    result = pair(join(truth, predicted)).match().at(0.5)
    shown = {card["label"] for card in read_by_browser(cards(result, items(result)))}
    assert shown == {"\u2068\u05d0\u2069 → \u2068\u0639\u2069"}


def test_what_a_card_says_by_hand() -> None:
    result = result_of(TRUTH, PREDICTED)
    drawn = read_by_browser(cards(result, items(result)))
    assert [(card["title"], card["label"], card["tags"]) for card in drawn] == [
        ("Matched", "Figure", ["TP"]), ("Missed", "Table", ["FN"]), ("Wrong class", "Figure → Table", ["FP", "FN"]),
        ("Extra", "Figure", ["FP"]), ("Matched", "Table", ["TP"]),
    ]  # fmt: skip
    fit = "IoU 1.00 · coverage 1.00 · purity 1.00"
    assert [card["facts"] for card in drawn[:3]] == [[fit, "score 0.90"], [], [fit, "score 0.80"]]
    assert [card["place"] for card in drawn[-2:]] == ["a, page 1", "a, page 2"]
    assert drawn[2]["boxes"] == [
        {"key": "g1", "side": "ground_truth", "status": "FN", "xyxy": [0.0, 0.5, 0.4, 0.7], "outline": None},
        {"key": "p1", "side": "prediction", "status": "FP", "xyxy": [0.0, 0.5, 0.4, 0.7], "outline": None},
    ]
    assert drawn[2]["box"] == "p1"
    assert len({card["key"] for card in drawn}) == len(drawn)
    result = result_of(TRUTH, [row._replace(score=None) for row in PREDICTED])
    assert read_by_browser(cards(result, items(result)))[0]["facts"][1] == "no score"
