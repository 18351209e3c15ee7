"""What the linked panes draw of the mistakes of two models under `order`, `text` and `tables`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from evaluator.components.compare.pair import CHANGES
from evaluator.components.compare.reading_pair import reading_pair
from evaluator.components.payload import ModelItem
from evaluator.components.viewer import reading
from tests.components.test_reading_pages import ORDER, in_order, result_of

MODELS = ModelItem("A", "a.jsonl"), ModelItem("B", "b.jsonl")
ACROSS = in_order(ORDER, 0, 2, 1, 3)
EXTRA = [*ORDER, {"label": "text", "box": [0, 300, 190, 340], "order": 4, "text": "watermark"}]


@pytest.mark.parametrize(
    ("sides", "kinds", "said"),
    [
        ((ACROSS, ORDER), ["b_only"], {"A: Column jumped (text)."}),
        ((ORDER, ACROSS), ["a_only"], {"B: Column jumped (text)."}),
        ((ACROSS, ACROSS), ["neither", "neither"], set()),
        ((ORDER, EXTRA), ["b_invents"], {"B: Extra (text)."}),
        ((EXTRA, ORDER), ["a_invents"], {"A: Extra (text)."}),
    ],
)
def test_a_mistake_is_of_the_models_that_make_it(
    tmp_path: Path, sides: tuple[list[dict[str, Any]], ...], kinds: list[str], said: set[str]
) -> None:
    layers = [reading.page_layers(result_of(tmp_path, "order", ORDER, side), 0) for side in sides]
    drawn = reading_pair(layers, models=MODELS, kinds=CHANGES)
    wrong = [box for pane in drawn.panes for box in pane.boxes if box.mistake is not None]
    assert [box.kind for box in wrong] == kinds
    assert {each.words.replace("\u2068", "").replace("\u2069", "") for each in drawn.differences} == said
    assert {box.key[0] for box in drawn.panes[0].boxes} | {box.key[0] for box in drawn.panes[1].boxes} == {*"gab"}
    assert all(key in {box.key for box in pane.boxes} for pane in drawn.panes for m in pane.mistakes for key in m.keys)
