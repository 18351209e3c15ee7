"""Cards of the mistakes of `order`, `text` and `tables`."""

from __future__ import annotations

import pytest

from evaluator import project
from evaluator.components.gallery import reading_cards
from evaluator.components.viewer import reading
from pages.app.session_files import SAMPLE_READING


@pytest.mark.parametrize("protocol", ["order", "text", "tables"])
def test_every_mistake_is_one_card_the_dearest_name_first(protocol: str) -> None:
    (made,) = project.evaluate(protocol, SAMPLE_READING / "ground_truth.jsonl", [SAMPLE_READING / "blocks.jsonl"])
    result = made.result
    listed = reading.list_pages(result)
    every = reading_cards.entries(result, listed.pages)
    assert (len(every), len({entry.key for entry in every})) == (listed.mistakes, listed.mistakes)
    named = list(dict.fromkeys(entry.name for entry in every))
    cost = {name: sum(c for page in result.own_pages for n, c in page.costs if n == name) for name in named}
    assert named == sorted(named, key=lambda name: -cost[name])
    for page in listed.pages[:6]:
        layers = reading.page_layers(result, page.at)
        own = [entry for entry in every if entry.at == page.at]
        drawn = reading_cards.CardPage(layers)
        cards = [reading_cards.card(each, drawn, document="d", name="d.pdf", index=page.page) for each in own]
        assert sorted(each.title for each in cards) == sorted(each.title for each in layers.mistakes)
        assert {box.key for card in cards for box in card.boxes} <= {box.key for box in layers.boxes}
    only = reading_cards.entries(result, listed.pages, named[:1])
    assert only == [entry for entry in every if entry.name == named[0]]
