"""Cards of the mistakes of `order`, `text` and `tables`, together by name."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

from evaluator.components.gallery.payload import CardBoxItem, CardItem
from evaluator.components.viewer.payload import MistakeItem, PageLayers
from evaluator.components.viewer.reading import ListedPage
from evaluator.data.issues import name_in_list
from evaluator.protocols.items import ItemResult


class Entry(NamedTuple):
    """A mistake: its name, the place of its page in the result, and which one of this name it is there."""

    name: str
    at: int
    number: int

    @property
    def key(self) -> str:
        """Return what its card is called."""
        return f"{self.at}/{self.name}/{self.number}"


def entries(result: ItemResult[Any], pages: Sequence[ListedPage], names: Collection[str] = ()) -> list[Entry]:
    """Return the mistakes of some pages, of some names or all: the dearest name first, pages in their order."""
    costs: Counter[str] = Counter()
    of_name: dict[str, list[Entry]] = {}
    for page in pages:
        seen: Counter[str] = Counter()
        for name, cost in result.own_pages[page.at].costs:
            if not names or name in names:
                of_name.setdefault(name, []).append(Entry(name, page.at, seen[name]))
                costs[name] += cost
                seen[name] += 1
    return [entry for name, _ in costs.most_common() for entry in of_name[name]]


class CardPage:
    """What is drawn of a page, by name of mistakes and by key of boxes."""

    def __init__(self, layers: PageLayers) -> None:
        self._mistakes: dict[str, list[MistakeItem]] = {}
        for each in layers.mistakes:
            self._mistakes.setdefault(each.name, []).append(each)
        self._boxes = {box.key: box for box in layers.boxes}

    def mistake(self, entry: Entry) -> MistakeItem:
        """Return a mistake as the page lists it."""
        return self._mistakes[entry.name][entry.number]

    def boxes(self, mistake: MistakeItem) -> list[CardBoxItem]:
        """Return the boxes of a mistake that are drawn."""
        drawn = (self._boxes[key] for key in mistake.keys if key in self._boxes)
        return [CardBoxItem(box.key, box.side, box.status, box.xyxy, box.outline) for box in drawn]


def card(entry: Entry, page: CardPage, *, document: str, name: str, index: int) -> CardItem:
    """Return a mistake as a card, with its boxes; `name` is that of the document as people read it."""
    mistake = page.mistake(entry)
    return CardItem(
        key=entry.key,
        title=mistake.title,
        label=mistake.label,
        facts=mistake.lines,
        place=f"{name_in_list(name)}, page {index + 1}",
        tags=mistake.tags,
        family=mistake.name,
        document=document,
        index=index,
        box=next(iter(mistake.keys), ""),
        boxes=page.boxes(mistake),
    )
