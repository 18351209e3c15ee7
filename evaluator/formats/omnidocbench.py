"""OmniDocBench: ground truth (``layout_dets``) and predictions (``results`` by image) to boxes.

Corners in pixels, origin top left; outlines are eight numbers. A page is an image and a document of its own, named like
the image without folders and ending, as the predictions name it.
"""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from evaluator.data.dataset import Annotations, Side
from evaluator.data.issues import Collector, quote
from evaluator.formats import json_text
from evaluator.formats.base import ANY_SIDE, BoxFormat, Reading
from evaluator.formats.build import Builder, Held, Shape
from evaluator.formats.json_text import excerpt, step
from evaluator.formats.json_values import Values

_SOURCE: Final = "OmniDocBench"
_CORNERS: Final = 4
_POLY: Final = 8


class OmniDocBench(BoxFormat):
    """OmniDocBench of opendatalab, its data format and ``detection_prediction.json``.

    Labels are the names of the file: the benchmark maps those of both sides to common ones. Regions marked ``ignore``
    are compared as any other, as its evaluation of boxes does, with an issue. Text lines in a region are not read. The
    attributes of a page (language, layout) are kept. Items have `order`, `text` (`latex` of equations) and `html`.
    """

    name = "omnidocbench"
    title = "OmniDocBench ground truth or predictions (JSON)"
    looks_for = "the keys layout_dets and category_type, or image_name and category_id"
    holds_items = True

    def detect(self, head: bytes, name: str = "") -> bool:
        """Return whether pages with typed regions, or results by the name of their image, are there."""
        return _is_truth(head) or _is_results(head)

    def side_of(self, content: bytes, name: str = "") -> Side | None:
        """Return "prediction" for results, and for pages whose regions have scores."""
        if _is_results(content):
            return "prediction"
        return "prediction" if b'"score"' in content else "ground_truth"

    def read(self, content: bytes, name: str, reading: Reading = ANY_SIDE) -> Annotations:
        """Return the columns of a file in pixels, with page sizes for pages; ``boxes.ids`` are JSON paths."""
        source = json_text.open_source(content, name)
        collector = Collector(name, max_per_rule=reading.max_per_rule)
        with json_text.garbage_collection_off():
            tree = json_text.parse_checked(source, collector)
            file = _File(collector, name, reads_items=reading.items)
            file.read(tree)
        return file.builder.annotations(source.sha256, reading, side=file.side)


FORMAT: Final = OmniDocBench()


def _is_truth(head: bytes) -> bool:
    # A page without regions has the attributes of the page, and its image.
    empty = b'"page_info"' in head and b'"image_path"' in head
    return b'"layout_dets"' in head and (b'"category_type"' in head or empty)


def _is_results(head: bytes) -> bool:
    keys = b'"image_name"' in head and b'"category_id"' in head
    return keys and b'"image_id"' not in head and b'"file_name"' not in head


class _File:
    def __init__(self, collector: Collector, name: str, *, reads_items: bool) -> None:
        self._collector, self._name, self._reads_items = collector, name, reads_items
        self._values = Values(collector, _SOURCE)
        self._rows: dict[str, int] = {}
        self._ignored: list[str] = []
        self.builder = Builder(collector, format=OmniDocBench.name, source=_SOURCE)
        self.side: Side | None = None

    def read(self, tree: object) -> None:
        if isinstance(tree, dict) and "layout_dets" in tree:
            self._page(tree, "$")
        elif isinstance(tree, list):
            for page, place in self._values.objects(tree, "the pages", "$"):
                self._page(page, place)
        elif isinstance(tree, dict) and "results" in tree:
            self.side = "prediction"
            self._results(tree)
        else:
            rule = f"the top level must be a list of pages, or an object with results and categories ({_SOURCE})"
            self._collector.error("$", rule, excerpt(tree), "Export the file again.")
        if self._ignored:
            rule = f'regions marked "ignore" are compared as any other ({_SOURCE})'
            self._collector.warning(self._ignored[0], rule, f"{len(self._ignored):,}", "Remove them to leave them out.")

    def _page(self, page: dict[str, object], place: str) -> None:
        info = self._values.mapping(page, "page_info", place)
        there = f"{place}.page_info"
        size = None
        if "width" in info or "height" in info:
            size = (self._values.number(info, "width", there), self._values.number(info, "height", there))
        image = self._values.text(info, "image_path", there)
        number = info.get("page_no", self.builder.pages)
        image = image or f"{self._name.removesuffix('.json')}_{number}"
        attributes = {
            key: ", ".join(map(str, value)) if isinstance(value, list) else str(value)
            for key, value in self._values.mapping(info, "page_attribute", there).items()
        }
        if self._reads_items:
            attributes |= self._truncated(page, place)
        row = self.builder.image(image, place, size=size, page_id=str(number), attributes=attributes)
        if "layout_dets" not in page:
            rule = f"a page must have layout_dets ({_SOURCE})"
            fix = 'Write results as {"results": [...], "categories": {"1": "title"}}.'
            self._collector.error(place, rule, ", ".join(map(quote, list(page)[:6])), fix)
        for region, where in self._values.objects(page.get("layout_dets", []), "layout_dets", f"{place}.layout_dets"):
            self._box(row, region, where, self._values.text(region, "category_type", where))
            if region.get("ignore") is True:
                self._ignored.append(where)

    def _truncated(self, page: dict[str, object], place: str) -> dict[str, str]:
        """Return which regions of a page go on in others, by their positions, as an attribute; empty for none."""
        regions = self._values.objects(page.get("layout_dets", []), "layout_dets", f"{place}.layout_dets")
        positions = {str(region.get("anno_id")): at for at, (region, _) in reversed(list(enumerate(regions)))}
        relations = self._values.mapping(page, "extra", place).get("relation") or []
        pairs = [
            [positions.get(str(relation.get(f"{end}_anno_id"))) for end in ("source", "target")]
            for relation, _ in self._values.objects(relations, "relation", f"{place}.extra.relation")
            if relation.get("relation_type") == "truncated"
        ]
        stated = [f"{first}>{second}" for first, second in pairs if first is not None and second is not None]
        return {"truncated": " ".join(stated)} if stated else {}

    def _results(self, tree: dict[str, object]) -> None:
        labels = self._names(tree)
        for result, place in self._values.objects(tree["results"], "results", "$.results"):
            image = self._values.text(result, "image_name", place)
            if not image.strip():
                self._collector.error(place, f"a result must have an image_name ({_SOURCE})", "", "Name the image.")
                continue
            if image not in self._rows:
                self._rows[image] = self.builder.image(image, place, page_id=image)
            self._box(self._rows[image], result, place, self._category(result, labels, place))

    def _names(self, tree: dict[str, object]) -> dict[str, object]:
        if not isinstance(tree.get("categories"), list):
            return self._values.mapping(tree, "categories", "$")
        listed = self._values.objects(tree["categories"], "categories", "$.categories")
        return {str(each.get("id")): each.get("name") for each, _ in listed}

    def _category(self, result: dict[str, object], labels: dict[str, object], place: str) -> str:
        key = result.get("category_id")
        label = labels.get(str(key)) if isinstance(key, int | str) and not isinstance(key, bool) else None
        if isinstance(label, str) and label.strip():
            return label
        rule = f"category_id must be a key of categories that has a name ({_SOURCE})"
        where = step(place, "category_id") if "category_id" in result else place
        found = excerpt(key) if "category_id" in result else "none"
        self._collector.error(where, rule, found, "Correct the id, or add it to categories.")
        return "?"

    def _box(self, row: int, region: dict[str, object], place: str, label: str) -> None:
        score = math.nan
        if region.get("score") is not None:
            score = self._values.number(region, "score", place)
        if shape := self._shape(region, place):
            held = self._held(region, label, place) if self._reads_items else None
            self.builder.box(row, label, shape.xyxy, place, score=score, rings=shape.rings, held=held)

    def _held(self, region: dict[str, object], label: str, place: str) -> Held:
        """Return the order, the text and the table of a region; LaTeX is the text of formulas alone."""
        stated = {key for key in ("order", "text", "latex", "html") if region.get(key) is not None}
        order = self._values.number(region, "order", place) if "order" in stated else None
        key = "text" if "text" in stated else "latex" if "latex" in stated and "equation" in label else None
        text = None if key is None else self._values.text(region, key, place)
        html = self._values.text(region, "html", place) if "html" in stated else None
        return Held(None if order is None else (order,), text, html)

    def _shape(self, region: dict[str, object], place: str) -> Shape | None:
        shapes = {key: self._stated(region, key, place) for key in ("poly", "bbox") if region.get(key) is not None}
        if not shapes:
            rule = f"a region must have poly or bbox ({_SOURCE})"
            self._collector.error(place, rule, "neither", "Add it, or remove the region.")
            return None
        used, *others = shapes.values()
        if used is not None and others and others[0] is not None:
            self.builder.check_again(place, "poly", used.xyxy, "bbox", others[0].xyxy)
        return used

    def _stated(self, region: dict[str, object], key: str, place: str) -> Shape | None:
        where = step(place, key)
        values = self._values.numbers(region[key], key, where)
        if not isinstance(region[key], list) or any(map(math.isnan, values)):
            return None
        if len(values) == _POLY:
            return Shape.of(np.array(values, dtype=np.float64).reshape(-1, 2))
        if len(values) != _CORNERS:
            rule = f"{key} must have 4 numbers, x1, y1, x2, y2, or 8, the corners one after the other ({_SOURCE})"
            self._collector.error(where, rule, excerpt(region[key]), "Correct the region, or remove it.")
            return None
        x1, y1, x2, y2 = values
        return Shape((x1, y1, x2, y2))
