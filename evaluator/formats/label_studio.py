"""Label Studio: the JSON export of a project, and JSON_MIN, to boxes, polygons, ellipses and masks.

Per cent of the image become shares of the page, origin top left. A task is an image, whose document is the image name
without folders and ending, or a document of several pages (``item_index``), named in ``meta.file`` or by what the names
of its pages have in common.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, NamedTuple
from urllib.parse import unquote

import numpy as np

from evaluator.data.dataset import Annotations, Side
from evaluator.data.issues import Collector, examples, quote
from evaluator.formats import json_text, limits
from evaluator.formats.base import ANY_SIDE, BoxFormat, Reading
from evaluator.formats.build import FEWEST_POINTS, Builder, Shape, Size, bounds, listed, rotate
from evaluator.formats.image_paths import parts_of, without_parts
from evaluator.formats.json_text import excerpt, step
from evaluator.formats.json_values import Values
from evaluator.formats.masks import label_studio_rectangles, rings
from evaluator.formats.nesting import is_whole

_SOURCE: Final = "Label Studio"
_LABEL_MARKS: Final = (b'"rectanglelabels"', b'"polygonlabels"', b'"ellipselabels"', b'"brushlabels"')
# A record of JSON_MIN, with regions or without.
_MIN_MARKS: Final = (b'"annotation_id"', b'"annotator"')
_NOT_ANNOTATED = re.compile(rb'"data"\s*:\s*\{[^{}]*\}\s*,[^{}]*"(?:annotations|completions)"\s*:\s*\[\s*\]')
_TASK_MARKS: Final = (b'"annotations"', b'"predictions"', b'"completions"')
# What Label Studio writes into each record of JSON_MIN beside the data and the regions.
_OF_RECORDS: Final = frozenset(("id", "annotation_id", "annotator", "created_at", "updated_at", "lead_time"))
# Results that are no regions: relations between regions, and what is stated about regions or of the whole task.
_NO_REGIONS: Final = frozenset(
    ("relation", "choices", "textarea", "rating", "number", "datetime", "taxonomy", "pairwise", "ranker", "table")
)
# A region of these types has its labels in a result of the same id.
_BARE: Final = frozenset(("rectangle", "polygon", "ellipse", "brush"))
_SHAPES: Final = _BARE | {"rectanglelabels", "polygonlabels", "ellipselabels", "brushlabels", "labels"}
# What the value of a rectangle, polygon, ellipse and brush mask has.
_KEYS: Final = ({"x", "y", "width", "height"}, {"points"}, {"x", "y", "radiusX", "radiusY"}, {"rle"})
_PAGE_NUMBER = re.compile(r"(?:[ _.-]*(?:p|page)?[ _.-]*\d+)\Z", re.IGNORECASE)
_TAG_NUMBER = re.compile(r"\d{1,9}\Z")
_PAGE_FILE = re.compile(r"\.(png|jpe?g|tiff?|bmp|webp|gif|pdf)\Z", re.IGNORECASE)
_ADDRESS = re.compile(r"(?:[a-z][a-z0-9+.-]*:/)?/\S+\Z", re.IGNORECASE)
_PER_CENT: Final = 100.0


class _Work(NamedTuple):
    """What one annotator or model made of a task: its object, results, place, and the maker's name."""

    value: dict[str, object]
    results: list[tuple[dict[str, object], str]]
    place: str
    by: str


class _Task(NamedTuple):
    """A task: document, path, whether it has several pages, id, place; `repeated`: pages have own tags.

    `shows_several`: it names several images, which are no list of pages.
    """

    document: str
    path: str
    several: bool
    task_id: str
    place: str
    repeated: bool = False
    images: Sequence[str] = ()
    shows_several: bool = False


class LabelStudio(BoxFormat):
    """Label Studio, "Label Studio JSON format of annotated tasks" and "JSON_MIN".

    ``rotation`` is clockwise around the upper left corner, in degrees; rotate rectangles keep their outline; that of
    an ellipse is around its centre. An ellipse has an outline of 64 points, a brush its pixels. As ground
    truth the annotations are read, as predictions the predictions, if there are any. Of several annotations of a task
    the one marked as ground truth is read, else the first; of several models the first; each with an issue. A region
    without a score has that of its prediction. The annotator of a page is an attribute. Of a document of several pages
    those with regions are listed. Regions in others (``parentID``) are read by one level, see `Reading.level`.
    """

    name = "label-studio"
    title = "Label Studio export (JSON or JSON_MIN)"
    looks_for = "tasks with annotations or predictions that have results, or regions with rectanglelabels"

    def detect(self, head: bytes, name: str = "") -> bool:
        """Return whether labelled regions, or tasks with annotations or predictions of results, are there."""
        if head.removeprefix(b"\xef\xbb\xbf").lstrip()[:1] not in (b"[", b"{"):
            return False
        of_tasks = b'"data"' in head and any(mark in head for mark in _TASK_MARKS)
        return (
            any(mark in head for mark in _LABEL_MARKS)
            or all(mark in head for mark in _MIN_MARKS)
            or (of_tasks and (b'"result"' in head or b'"total_annotations"' in head))
            or (of_tasks and _NOT_ANNOTATED.search(head) is not None)
        )

    def side_of(self, content: bytes, name: str = "") -> Side | None:
        """Return "prediction" for tasks with results of models only, else "ground_truth"; either may be given."""
        made = re.search(rb'"(?:annotations|completions)"\s*:\s*\[\s*[^\s\]]', content)
        return "prediction" if made is None and re.search(rb'"predictions"\s*:\s*\[\s*\{', content) else "ground_truth"

    def read(self, content: bytes, name: str, reading: Reading = ANY_SIDE) -> Annotations:
        """Return the columns of a file in unit page; see `Format.read`.

        Page sizes are there when every listed page has a region. ``boxes.ids`` are the ids of the regions.
        """
        source = json_text.open_source(content, name)
        collector = Collector(name, max_per_rule=reading.max_per_rule)
        with json_text.garbage_collection_off():
            tree = json_text.parse_checked(source, collector)
            file = _File(collector, reading.side, nested=b'"parentID"' in source.content)
            file.read(tree)
        annotations = file.builder.annotations(source.sha256, reading, side=file.side)
        return replace(annotations, model=file.model) if annotations.side == "prediction" else annotations


FORMAT: Final = LabelStudio()


class _File:
    def __init__(self, collector: Collector, asked: Side | None, *, nested: bool) -> None:
        self._collector, self._asked, self._nested = collector, asked, nested
        self._values = Values(collector, _SOURCE)
        self._documents: dict[str, str] = {}
        self._kinds: dict[str, list[str]] = {}
        self._not_made: list[str] = []
        self._no_regions: list[str] = []
        self._unlabelled: list[str] = []
        self._of_several: list[str] = []
        self._unpainted: list[str] = []
        self.builder = Builder(collector, format=LabelStudio.name, source=_SOURCE, unit="page")
        self.side: Side | None = None
        self.model: str | None = None

    def read(self, tree: object) -> None:
        top = "$"
        if isinstance(tree, dict) and isinstance(tree.get("tasks"), list):
            tree, top = tree["tasks"], "$.tasks"
        elif isinstance(tree, dict):
            tree = [tree]
        tasks = list(self._values.objects(tree, "the tasks", top))
        whole = [(task, place) for task, place in tasks if _is_whole(task)]
        if len(whole) < len(tasks):
            self._read_min([(task, place) for task, place in tasks if not _is_whole(task)])
        tasks.clear()
        if isinstance(tree, list):
            tree.clear()
        if whole:
            self._read_whole(whole)
        for kind, places in self._kinds.items():
            rule = f"only rectangles, polygons, ellipses and brush masks are read ({_SOURCE})"
            what = f"{len(places):,} of the kind {quote(kind)}"
            self.builder.left_out(places[0], rule, what, "They are left out; draw regions as rectangles or polygons.")
        if self._unlabelled:
            rule = f"a region should have a label ({_SOURCE})"
            fix = "They are left out; label them to have them compared."
            self.builder.left_out(self._unlabelled[0], rule, f"{len(self._unlabelled):,} without", fix)
        if self._of_several:
            rule = f"a region should have one label; with several each counts as a box of its own ({_SOURCE})"
            fix = "Leave out those that are no kind of region, or expect each of them to be found."
            self._collector.warning(self._of_several[0], rule, f"{len(self._of_several):,} with several", fix)
        if self._no_regions and not self.builder.boxes:
            rule = f"a result must be a region, or be about one ({_SOURCE})"
            what, fix = f"{len(self._no_regions):,} and no region", "They are left out; give a project with regions."
            self.builder.left_out(self._no_regions[0], rule, what, fix)
        if self._unpainted:
            rule = f"a brush mask should have a pixel ({_SOURCE})"
            fix = "They are left out; remove them, or paint them."
            self.builder.left_out(self._unpainted[0], rule, f"{len(self._unpainted):,} without", fix)
        if self._not_made:
            side = "annotated" if self.side == "ground_truth" else "predicted"
            rule = f"tasks that were not {side}, or were skipped, are left out ({_SOURCE})"
            self._collector.warning(self._not_made[0], rule, f"{len(self._not_made):,}", "Nothing to do if so meant.")

    # --- the whole export -----------------------------------------------------------------------------------------

    def _read_whole(self, tasks: list[tuple[dict[str, object], str]]) -> None:
        has = {key: any(_made(task, key) for task, _ in tasks) for key in ("annotations", "completions", "predictions")}
        annotated = has["annotations"] or has["completions"]
        predicted = has["predictions"] and (self._asked == "prediction" or not annotated)
        self.side = "prediction" if predicted else "ground_truth"
        key = "predictions" if predicted else "annotations" if has["annotations"] or not annotated else "completions"
        works = [(task, place, self._works(task, key, place)) for task, place in tasks]
        if predicted:
            works = self._one_model(works)
        # Each task is given up when its boxes are there, so that the file is not held twice.
        tasks.clear()
        works.reverse()
        while works:
            task, place, made = works.pop()
            if work := self._one(made):
                self._task(self._named(task, place), work)
            else:
                self._not_made.append(place)

    def _works(self, task: dict[str, object], key: str, place: str) -> list[_Work]:
        works = []
        for made, where in self._values.objects(task.get(key) or [], key, f"{place}.{key}"):
            if made.get("was_cancelled") is True or made.get("skipped") is True:
                continue
            by = _text(made.get("model_version")) if key == "predictions" else _annotator(made.get("completed_by"))
            if "result" not in made:
                rule = f"an annotation or prediction must have a result, also an empty one ({_SOURCE})"
                self._collector.error(where, rule, excerpt(made), "Export the file again.")
                continue
            results = list(self._values.objects(made["result"], "result", f"{where}.result"))
            works.append(_Work(made, results, where, by))
        return works

    def _one_model(
        self, tasks: Sequence[tuple[dict[str, object], str, list[_Work]]]
    ) -> list[tuple[dict[str, object], str, list[_Work]]]:
        """Return the tasks with what the first model made of them; a warning names the other models."""
        models = Counter(work.by for _, _, made in tasks for work in made)
        self.model = next(iter(models), "") or None
        if len(models) > 1:
            rule = f"predictions of one model_version are read ({_SOURCE})"
            others = ", ".join(f"{quote(by)} {count:,} times" for by, count in [*models.items()][1:4])
            what = f"{quote(self.model or '')}, and {others}, which are left out"
            place = next(work.place for _, _, made in tasks for work in made if work.by != (self.model or ""))
            self._collector.warning(place, rule, what, "Export the predictions of one model to compare another.")
        first = self.model or ""
        return [(task, place, [work for work in made if work.by == first]) for task, place, made in tasks]

    def _one(self, works: Sequence[_Work]) -> _Work | None:
        """Return the annotation that is read: the one marked as ground truth, else the first."""
        if len(works) < 2:
            return works[0] if works else None
        chosen = next((work for work in works if work.value.get("ground_truth") is True), works[0])
        rule = f"one annotation of a task is read, the one marked as ground truth or else the first ({_SOURCE})"
        names = {work.place: quote(work.by) if work.by else work.place for work in works}
        others = ", ".join(name for place, name in names.items() if place != chosen.place)
        what = f"{len(works)}: {names[chosen.place]} is read, {others} left out"
        self._collector.warning(chosen.place, rule, what, "Export the annotations of one annotator to compare another.")
        return chosen

    def _task(self, task: _Task, work: _Work) -> None:
        score = math.nan
        if self.side == "prediction" and work.value.get("score") is not None:
            score = self._values.number(work.value, "score", work.place)
        labels = _labels_by_id(result for result, _ in work.results)
        # Ids and types may be anything, also what cannot be in a set.
        shaped = {str(result.get("id")) for result, _ in work.results if str(result.get("type")) in _BARE}
        regions = []
        for result, place in work.results:
            kind = result.get("type")
            if not isinstance(kind, str):
                rule = f"a result must have a type ({_SOURCE})"
                self._collector.error(place, rule, excerpt(kind) if "type" in result else "", "Export the file again.")
            elif kind == "labels" and str(result.get("id")) in shaped:
                continue
            elif kind == "labels" and not _is_shape(result.get("value")):
                self._kinds.setdefault(kind, []).append(place)
            elif kind in _SHAPES:
                value = self._values.mapping(result, "value", place)
                stated = labels.get(str(result.get("id")), ()) if kind in _BARE else _labels(value)
                regions.append(_Region(value, result, stated, f"{place}.value", place))
            elif kind in _NO_REGIONS:
                self._no_regions.append(place)
            else:
                self._kinds.setdefault(kind, []).append(place)
        attributes = {"annotator": work.by} if self.side == "ground_truth" and work.by else {}
        self._pages(task, regions, attributes, score)

    # --- JSON_MIN -------------------------------------------------------------------------------------------------

    def _read_min(self, records: Sequence[tuple[dict[str, object], str]]) -> None:
        """Add records that are one annotation each; those of one task are of several annotators."""
        self.side = "ground_truth"
        by_task: dict[object, list[_Work]] = {}
        for record, place in records:
            if not any(isinstance(value, list) or key in _OF_RECORDS for key, value in record.items()):
                rule = f"a task must have data, and a record of JSON_MIN an id or regions ({_SOURCE})"
                self._collector.error(place, rule, excerpt(record), "Export the project as JSON or JSON_MIN.")
                continue
            key = record.get("id")
            work = _Work(record, [], place, _annotator(record.get("annotator")))
            by_task.setdefault(key if isinstance(key, int | str) else place, []).append(work)
        of_regions = {key for record, _ in records for key, values in record.items() if _has_regions(values)}
        for works in by_task.values():
            if chosen := self._one(works):
                attributes = {"annotator": chosen.by} if chosen.by else {}
                task = self._named({"data": chosen.value, "id": chosen.value.get("id")}, chosen.place)
                self._pages(task, self._regions_min(chosen, of_regions), attributes, math.nan)

    def _regions_min(self, work: _Work, of_regions: Collection[str]) -> list[_Region]:
        """Return the regions of a record; what has no label in one list may have it in another, at the same place."""
        regions = []
        for key, values in work.value.items():
            regions_there = key in of_regions and values is not None
            for value, place in self._values.objects(values, key, step(work.place, key)) if regions_there else ():
                if _is_shape(value):
                    regions.append(_Region(value, value, _labels(value), place, place))
                else:
                    kind = next((name for name in value if name.endswith("labels")), "")
                    self._kinds.setdefault(kind, []).append(place)
        labelled = {_geometry(region.value) for region in regions if region.labels}
        return [region for region in regions if region.labels or _geometry(region.value) not in labelled]

    # --- pages and regions ----------------------------------------------------------------------------------------

    def _named(self, task: dict[str, object], place: str) -> _Task:
        data, meta = self._values.mapping(task, "data", place), task.get("meta")
        key = task.get("id")
        own = str(key) if isinstance(key, int | str) else ""
        stated = meta.get("file") if isinstance(meta, dict) else None
        # The first text that names an image, or else a file, is the page; what else a task has is up to its project.
        texts = [value for value in data.values() if isinstance(value, str)]
        lists = [value for value in data.values() if isinstance(value, list)]
        named = [pair for value in lists if (pair := (value, _page_names(value, _is_image)))[1]]
        if not named and not any(map(_is_image, texts)):
            named = [pair for value in lists if (pair := (value, _page_names(value, _is_word)))[1]]
        pages, urls = named[0] if named else ([], [])
        if pages:
            names = {_PAGE_NUMBER.sub("", _stem(url)) for url in urls}
            common = names.pop() if len(names) == 1 else ""
            images = [*map(_path, urls)]
            folders = {parts_of(image)[:-1] for image in images}
            if not common and len(folders) == 1 and (folder := without_parts(folders.pop())):
                common = folder[-1]
            document = stated if isinstance(stated, str) and stated.strip() else common or f"task {own or place}"
            return _Task(document, document, True, own, place, isinstance(pages[0], dict), images)
        files = [text for text in texts if re.search(r"\.\w{2,5}\Z", _file(text))]
        shown = {text for text in files if _PAGE_FILE.search(_file(text))}
        image = next((text for text in files if text in shown), next(iter(files), ""))
        if not image and isinstance(stated, str):
            image = stated
        if not image:
            upload = task.get("file_upload")
            image = upload if isinstance(upload, str) and upload else f"task {own or place}"
        return _Task(_file(image), _path(image), False, own, place, shows_several=len(shown) > 1)

    def _pages(self, task: _Task, regions: Sequence[_Region], attributes: Mapping[str, str], score: float) -> None:
        by_page: dict[int, list[_Region]] = {}
        labels = {str(region.outer.get("id")): region.labels for region in regions} if self._nested else {}
        for region in regions:
            by_page.setdefault(self._index(region, task) if task.several else 0, []).append(region)
        # Images of one name in several folders are told apart by the builder.
        stated = task.document if task.several else task.path
        if (first := self._documents.setdefault(stated, task.place)) != task.place:
            rule = f"a document must be one task ({_SOURCE})"
            self._collector.error(task.place, rule, f"{quote(task.document)}, as in {first}", "Keep one of the tasks.")
            return
        if task.shows_several:
            self._need_one_image(regions)
        if task.several:
            self.builder.document(task.document)
        for index in sorted(by_page or ({} if task.several else {0: []})):
            of_page = by_page.get(index, [])
            size = next((size for region in of_page if (size := _size(region.outer))), None)
            if task.several:
                name = f"{task.document}::p{index:03d}"
                image = task.images[index] if index < len(task.images) else ""
                page = self.builder.page(
                    task.document, task.place, index=index, size=size, page_id=name, image=image, attributes=attributes
                )
            else:
                page = self.builder.image(task.path, task.place, size=size, page_id=task.task_id, attributes=attributes)
            for region in of_page:
                self._box(page, region, score, self._item(task, region, labels) if labels else None)

    def _need_one_image(self, regions: Sequence[_Region]) -> None:
        tags = {name: region.place for region in reversed(regions) if (name := _text(region.outer.get("to_name")))}
        if len(tags) > 1:
            rule = f"the regions of a task that names several images must be on one of them ({_SOURCE})"
            fix = "Give each image a task of its own, or name the images in a list, which is read as pages."
            self._collector.error(min(tags.values()), rule, f"to_name {examples(sorted(tags))}", fix)

    def _item(self, task: _Task, region: _Region, labels: Mapping[str, Sequence[str]]) -> Hashable:
        """Return what a region is in the nesting, and state in which other one of its task it lies (``parentID``)."""
        parent, key = region.outer.get("parentID"), region.outer.get("id")
        if isinstance(parent, str) and labels.get(parent):
            group = not any(map(is_whole, labels[parent]))
            self.builder.nesting.put((task.place, str(key)), inside=(task.place, parent), group=group)
        return task.place, str(key)

    def _index(self, region: _Region, task: _Task) -> int:
        # A <Repeater> makes a tag of its own for each page: page_0, page_1.
        tag = _TAG_NUMBER.search(str(region.outer.get("to_name"))) if task.repeated else None
        index = region.outer.get("item_index", int(tag[0]) if tag else 0)
        if isinstance(index, int) and not isinstance(index, bool) and 0 <= index <= limits.MAX_PAGE_INDEX:
            return index
        rule = f"item_index must be a whole number from 0 ({_SOURCE})"
        self._collector.error(region.place, rule, excerpt(index), "Correct the page.")
        return 0

    def _box(self, page: int, region: _Region, score: float, item: Hashable) -> None:
        shape = self._shape(region)
        stated = region.outer.get("score")
        if self.side == "prediction" and stated is not None:
            score = self._values.number(region.outer, "score", region.place)
        if shape is None:
            return
        if not region.labels:
            self._unlabelled.append(region.place)
        if len(region.labels) > 1:
            self._of_several.append(region.place)
        key = region.outer.get("id")
        for label in region.labels:
            self.builder.box(
                page,
                label,
                shape.xyxy,
                region.place,
                score=score,
                rings=shape.rings,
                box_id=key if isinstance(key, str) else region.place,
                item=item,
            )

    def _shape(self, region: _Region) -> Shape | None:
        value, place, error = region.value, region.at, self._collector.error
        rotated = region.outer.get("image_rotation")
        if rotated not in (None, 0):
            rule = f"the image must not be turned in the editor, image_rotation must be 0 ({_SOURCE})"
            error(region.place, rule, excerpt(rotated), "Turn the image back, and export the file again.")
            return None
        if "points" in value:
            ring = self._values.pairs(value["points"], "points", f"{place}.points")
            if ring is not None and len(ring) < FEWEST_POINTS:
                rule = f"a polygon must have at least {FEWEST_POINTS} points ({_SOURCE})"
                error(f"{place}.points", rule, excerpt(value["points"]), "Correct the polygon, or remove it.")
                return None
            return None if ring is None else Shape.of(ring / _PER_CENT)
        if "rle" in value:
            return self._mask(region)
        sides = ("radiusX", "radiusY") if "radiusX" in value else ("width", "height")
        x, y, width, height = (self._values.number(value, key, place) for key in ("x", "y", *sides))
        rotation = self._values.number(value, "rotation", place) if value.get("rotation") is not None else 0.0
        if any(map(math.isnan, (x, y, width, height, rotation))):
            return None
        if width < 0.0 or height < 0.0:
            rule = f"{' and '.join(sides)} must not be negative ({_SOURCE})"
            error(place, rule, listed((width, height)), "Correct the region, or remove it.")
            return None
        if rotation % 360.0 == 0.0:
            x, y, width, height = x / _PER_CENT, y / _PER_CENT, width / _PER_CENT, height / _PER_CENT
            if "radiusX" in value:
                return Shape.of_ellipse((x, y), (width, height))
            return Shape((x, y, x + width, y + height))
        size = _size(region.outer)
        if size is None:
            rule = f"a region that is turned must have original_width and original_height above 0 ({_SOURCE})"
            error(region.place, rule, f"rotation {rotation:.12g} without", "Write the size of the image in pixels.")
            return None
        pixels = np.array(size) / _PER_CENT
        # What is too large for a number is refused with the other boxes that are not finite.
        with np.errstate(over="ignore", invalid="ignore"):
            if "radiusX" in value:
                return _ellipse((x, y), (width, height), rotation, size)
            corners = np.array([[0.0, 0.0], [width, 0.0], [width, height], [0.0, height]]) * pixels
            ring = rotate(corners, np.array([x, y]) * pixels, math.radians(rotation)) / np.array(size)
        return Shape.of(ring)

    def _mask(self, region: _Region) -> Shape | None:
        rle, size = region.value["rle"], _size(region.outer)
        try:
            if size is None:
                raise ValueError("no original_width and original_height above 0")
            if not isinstance(rle, list):
                raise ValueError("rle must be a list of bytes")
            rectangles = label_studio_rectangles(rle, int(size[0]), int(size[1]))
        except ValueError as problem:
            rule = f"a brush mask must have an rle of original_width x original_height pixels ({_SOURCE})"
            self._collector.error(region.at, rule, str(problem), "Export the file again, or remove the mask.")
            return None
        if not len(rectangles):
            self._unpainted.append(region.place)
            return None
        corners = rings(rectangles) / np.array(size)
        return Shape(bounds(corners.reshape(-1, 2)), list(corners))


class _Region(NamedTuple):
    """A region: its shape `value`, the result `outer` around it, labels, and the places of both."""

    value: dict[str, object]
    outer: dict[str, object]
    labels: Sequence[str]
    at: str
    place: str


def _is_whole(task: Mapping[str, object]) -> bool:
    return "data" in task or any(key in task for key in ("annotations", "completions", "predictions"))


def _made(task: Mapping[str, object], key: str) -> bool:
    return isinstance(task.get(key), list) and bool(task[key])


def _is_shape(value: object) -> bool:
    """Return whether a value is a rectangle, polygon, ellipse or brush mask, whatever its numbers are."""
    return isinstance(value, dict) and any(keys <= value.keys() for keys in _KEYS)


def _has_regions(values: object) -> bool:
    return isinstance(values, list) and any(
        _is_shape(each) or (isinstance(each, dict) and any(key.endswith("labels") for key in each)) for each in values
    )


def _ellipse(centre: Size, radii: Size, rotation: float, size: Size) -> Shape:
    """Return the shape of an ellipse in per cent, turned in pixels, as shares of the page."""
    width, height = size
    middle, sides = ((x / _PER_CENT * width, y / _PER_CENT * height) for x, y in (centre, radii))
    (x1, y1, x2, y2), (ring,) = Shape.of_ellipse(middle, sides, math.radians(rotation))
    return Shape((x1 / width, y1 / height, x2 / width, y2 / height), (ring / np.array(size),))


def _geometry(value: Mapping[str, object]) -> str:
    return repr([value.get(key) for key in ("x", "y", "width", "height", "rotation", "points")])


def _labels(value: Mapping[str, object]) -> list[str]:
    lists = (names for key, names in value.items() if key.endswith("labels") and isinstance(names, list))
    return [label for names in lists for label in names if isinstance(label, str)]


def _labels_by_id(results: Iterator[dict[str, Any]]) -> dict[str, list[str]]:
    labels: dict[str, list[str]] = {}
    for result in results:
        if result.get("type") == "labels" and isinstance(value := result.get("value"), dict):
            labels.setdefault(str(result.get("id")), []).extend(_labels(value))
    return labels


def _size(outer: Mapping[str, Any]) -> Size | None:
    width, height = outer.get("original_width"), outer.get("original_height")
    if isinstance(width, int | float) and isinstance(height, int | float) and width > 0 and height > 0:
        return float(width), float(height)
    return None


def _annotator(value: object) -> str:
    """Return who annotated: an e-mail address where there is one, else a number."""
    if isinstance(value, dict):
        value = value.get("email") or value.get("id")
    return _text(value)


def _text(value: object) -> str:
    return str(value) if isinstance(value, int | str) and not isinstance(value, bool) else ""


def _page_names(value: Sequence[object], is_name: Callable[[object], bool]) -> list[str]:
    """Return the names of a document's pages, texts by themselves or in objects; empty for a list of anything else."""
    names = [next(filter(_is_image, each.values()), None) if isinstance(each, dict) else each for each in value]
    return [name for name in names if isinstance(name, str)] if all(map(is_name, names)) else []


def _is_image(value: object) -> bool:
    return isinstance(value, str) and bool(_ADDRESS.match(value) or _PAGE_FILE.search(_file(value)))


def _is_word(value: object) -> bool:
    """Return whether a value may name a page where nothing else does."""
    return isinstance(value, str) and len(value.split()) == 1


def _path(url: str) -> str:
    """Return the path of an address; addresses of local files have it behind ``?d=``."""
    path = url.rpartition("?d=")[2] if "?d=" in url else url.partition("?")[0]
    return unquote(path).replace("\\", "/").rstrip("/")


def _file(url: str) -> str:
    return _path(url).rpartition("/")[2]


def _stem(url: str) -> str:
    name = _file(url)
    return name.rpartition(".")[0] or name
