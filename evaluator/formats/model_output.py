"""What readers of model outputs in JSON share: typed parts with places, unique pages, the side.

Owns `ModelOutput`, the base of these formats, and `OutputFile`. A format states the parts of its files as msgspec
structs; a part that does not fit is an issue with its JSON path.
"""

from __future__ import annotations

import math
import re
from abc import abstractmethod
from collections.abc import Collection, Hashable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import ClassVar, Final, NoReturn, TypeVar

import msgspec
import numpy as np

from evaluator.data.dataset import Annotations, Side
from evaluator.data.issues import Collector, count_of, quote
from evaluator.formats import folder, json_text, limits
from evaluator.formats.base import ANY_SIDE, BoxFormat, Reading, read_several
from evaluator.formats.build import NO_ATTRIBUTES, Builder, Corners, Held, Size, listed
from evaluator.formats.image_paths import stem_of, without_query
from evaluator.formats.json_text import excerpt
from evaluator.system.decoding import convert

AGAIN: Final = "Export the file again, or correct it."
NO_SIZE: Final = (math.nan, math.nan)
"""Size of a page whose own was reported."""

_MESSAGE = re.compile(r"(.*?)(?: - at `\$(.*)`)?\Z", re.DOTALL)
_MISSING = re.compile(r"Object missing required field `(.*)`\Z")
_EXPECTED = re.compile(r"Expected `([a-z]+)[^`]*`(?: of length (\d+))?")
_STEPS = re.compile(r"\.([^.\[]+)|\[(\d+)\]")
_LAST_KEY = re.compile(r"([A-Za-z_]\w*)((?:\[\d+\])*)\Z")
_SNAKE = re.compile(r"(?<=[a-z0-9])_([a-z0-9])")
_KINDS: Final = {
    "float": "a number", "int": "an integer", "str": "a string", "bool": "true or false", "array": "an array",
    "object": "an object",
}  # fmt: skip
_FEWEST_POINTS: Final = 2
# How far below a folder the files of its documents are, and how many files are looked at.
_FOLDERS: Final = 3
_MOST_FILES: Final = 20_000
_MOST_CORNERS: Final = 5
"""Of a box whose outline is closed."""

T = TypeVar("T")


def document_of(name: str, endings: Sequence[str] = ()) -> str:
    """Return the document of a file name or path: no folders, no endings of documents, images or the tool.

    >>> document_of("in/report.pdf"), document_of("report_v1.2"), document_of("a_middle.json", ("_middle",))
    ('report', 'report_v1.2', 'a')
    """
    base = without_query(name).replace("\\", "/").rstrip("/").rsplit("/", 1)[-1]
    stem = re.sub(r"\.(json|csv|tsv|parquet)\Z", "", base, flags=re.IGNORECASE)
    for ending in endings:
        stem = stem.removesuffix(ending)
    return stem_of(stem) or base


class ModelOutput(BoxFormat):
    """A format of JSON files that a model wrote.

    `source` is what the rules come from, `endings` what the tool adds to the name of the document. With `normalise`
    pixels become shares of the page; with `folder_per_document` a folder of folders named by document is one side.
    """

    file_per_document = True
    holds_items = True
    folder_per_document: ClassVar[bool] = False
    source: ClassVar[str]
    endings: ClassVar[tuple[str, ...]] = ()
    normalise: ClassVar[bool] = True

    def side_of(self, content: bytes, name: str = "") -> Side | None:
        """Return prediction; a file without scores can be given as ground truth all the same."""
        return "prediction"

    def read(self, content: bytes, name: str, reading: Reading = ANY_SIDE) -> Annotations:
        """Return the columns of a file, predictions unless given as ground truth; ``boxes.ids`` are JSON paths."""
        collector = Collector(name, max_per_rule=reading.max_per_rule)
        source = json_text.open_source(content, name)
        source = source._replace(content=self.tree_text(source.content))
        file = OutputFile(collector, format=self.name, source=self.source, document=document_of(name, self.endings))
        file.reads_items = reading.items
        with json_text.garbage_collection_off():
            tree = json_text.parse_sound(source, collector)
            self.fill(tree, file)
            del tree
            normalise = self.normalise and not file.shares
            side = self.side_of(content, name)
            return file.builder.annotations(source.sha256, reading, side=side, normalise=normalise)

    def reads_whole(self, path: Path) -> bool:
        """Return whether a path is a folder of folders of documents, for tools that write these."""
        return self.folder_per_document and folder.is_folder(path) and bool(self._documents_below(path))

    def read_path(self, path: Path, reading: Reading = ANY_SIDE) -> Annotations:
        """Return the columns of a file, or of a folder of files or document folders; see `Format.read_path`."""
        if not self.reads_whole(path):
            return super().read_path(path, reading)
        files = folder.on_disk(self._documents_below(path), path)
        return read_several(files, path.resolve().name, reading, lambda _content, _name: self)

    def merged_groups(
        self, groups: Mapping[Path, Sequence[tuple[Path, bytes]]], given: Collection[Path]
    ) -> dict[Path, Path]:
        """Return, by group, the folder above those of documents, else that of the files of a run; one is read."""
        wholes: dict[Path, Path] = {}
        for group, files in groups.items() if self.folder_per_document else ():
            file = files[0][0]
            above = [each for each in file.parents[:_FOLDERS] if each.name == self._document(file)]
            if group in given:
                continue
            if above and self._is_below(above[-1], given):
                wholes[group] = above[-1].parent
            elif len(self._run(file)) > 1:
                wholes[group] = file.parent
        return wholes

    def _is_below(self, of_document: Path, given: Collection[Path]) -> bool:
        """Return whether the folder of a document is below one that was given, and lies among folders of documents."""
        return any(each in of_document.parents for each in given) and self.reads_whole(of_document.parent)

    def _run(self, file: Path) -> list[Path]:
        """Return the files beside one that have its boxes as well, where no other annotations lie there; else none."""
        names = [each.name for each in folder.list_files(file.parent) if each.suffix.lower() in self.suffixes]
        several = len(names) - len(self.repeated(names)) == 1
        return [file.parent / name for name in names] if several else []

    def _document(self, file: Path) -> str:
        return document_of(file.name, self.endings)

    def _documents_below(self, path: Path) -> list[Path]:
        """Return the files in folders that are named by document; none where other files lie beside these folders."""
        files = [
            file for file in folder.files_below(path, _FOLDERS, _MOST_FILES) if file.suffix.lower() in self.suffixes
        ]
        named = [file for file in files if self._document(file) in file.relative_to(path).parts[:1]]
        own = [file for file in named if self.detect(folder.head(file), file.name)]
        # Beside their own, tools write files about them, which are of no format.
        others = (file for file in files if file not in own and file.parent == path)
        return [] if any(others) else own

    def tree_text(self, content: bytes) -> bytes:
        """Return the JSON of a file; lines of JSON in an array."""
        return content

    @abstractmethod
    def fill(self, tree: object, file: OutputFile) -> None:
        """Add the pages and boxes of a parsed file, or raise `BadInput`."""


class OutputFile:
    """A file while it is read: `document` of pages that name none; with `shares` boxes are shares of the page.

    With `reads_items` their order, text and cells are read besides; see `Reading`.
    """

    def __init__(self, collector: Collector, *, format: str, source: str, document: str) -> None:
        self.collector, self.source, self.document = collector, source, document
        self.builder = Builder(collector, format=format, source=source)
        self.shares = self.reads_items = False
        self._format = format
        self._rows: dict[tuple[str, int, str], tuple[int, str]] = {}

    def in_shares(self) -> None:
        """Take boxes as shares of their page; called before the first page."""
        self.shares = True
        self.builder = Builder(self.collector, format=self._format, source=self.source, unit="page")

    def refuse(self, rule: str, fix: str, found: str = "", place: str = "") -> NoReturn:
        """Raise `BadInput` with this error and all issues so far."""
        self.collector.fail(place, rule, found, fix)

    def document_in(self, tree: object, place: str = "$") -> dict[str, object]:
        """Return the object that a file holds; a list of several, and anything else, is refused."""
        if isinstance(tree, dict):
            return tree
        if isinstance(tree, list) and tree and all(isinstance(each, dict) for each in tree):
            rule, found = f"a file must hold one document ({self.source})", f"a list of {len(tree):,}"
            fix = "Write each document to a file of its own, without a list around it; a folder of them is read as one."
            self.refuse(rule, fix, found, place)
        self.refuse(f"the top level must be an object ({self.source})", AGAIN, excerpt(tree), place)

    def convert(self, value: object, kind: type[T], place: str) -> T | None:
        """Return a part of the tree as a struct; None with an issue when it does not fit."""
        try:
            return convert(value, kind)
        except msgspec.ValidationError as error:
            self._report(str(error), value, place)
            return None

    def text_of(self, value: object, place: str) -> str | None:
        """Return a text; None for none, and with an issue for anything else."""
        if value is None or isinstance(value, str):
            return value
        self.collector.error(place, f"a text must be a string ({self.source})", excerpt(value), AGAIN)
        return None

    def items(self, value: object, key: str, place: str, *, required: bool = False) -> Iterator[tuple[str, object]]:
        """Yield JSON path and value of the entries of an array under a key; none without the key or for null.

        Anything else under the key is an issue, and so is the key in another spelling; so are null and no key at all
        where it is `required`.
        """
        held = value.get(key) if isinstance(value, dict) else None
        if isinstance(value, dict) and key not in value:
            self.check_spelling(value, key, place, required=required)
            return
        where = json_text.step(place, key)
        if isinstance(held, list):
            for index, item in enumerate(held):
                yield f"{where}[{index}]", item
        elif held is not None or (required and isinstance(value, dict)):
            self.collector.error(where, f"{key} must be an array ({self.source})", excerpt(held), AGAIN)

    def check_spelling(self, value: Mapping[str, object], key: str, place: str, *, required: bool = False) -> None:
        """Report a missing key that is there in another spelling, and any missing one that is required."""
        if (other := json_text.spelled_otherwise(value, key)) is not None:
            rule, fix = f"a key must be spelled as its format does ({self.source})", f"Write {key}."
            self.collector.error(json_text.step(place, other), rule, quote(other), fix)
        elif required and key not in value:
            self._missing(key, value, place)

    def entries(self, values: Sequence[object], place: str, kind: type[T]) -> Iterator[tuple[str, T]]:
        """Yield JSON path and struct of the entries of an array that fit; see `convert`."""
        for index, value in enumerate(values):
            if (held := self.convert(value, kind, f"{place}[{index}]")) is not None:
                yield f"{place}[{index}]", held

    def structs(
        self, value: object, key: str, place: str, kind: type[T], *, required: bool = False
    ) -> Iterator[tuple[str, T]]:
        """Yield JSON path and struct of the entries under a key that fit; see `items` and `convert`."""
        for where, item in self.items(value, key, place, required=required):
            if (held := self.convert(item, kind, where)) is not None:
                yield where, held

    def page(
        self,
        place: str,
        *,
        index: int,
        size: Size | None = None,
        document: str = "",
        page_id: str = "",
        name: str = "",
        path: str = "",
        attributes: Mapping[str, str] = NO_ATTRIBUTES,
    ) -> int:
        """Add a page entry, and return its row; an issue when it occurred before, or cannot be a page."""
        document = document or self.document
        numbered = 0 <= index <= limits.MAX_PAGE_INDEX
        if not numbered:
            rule = f"pages must be numbered from the first on ({self.source})"
            self.collector.error(place, rule, f"page {index + 1}", "Correct the number of the page.")
            index = 0
        elif (document, index, path) in self._rows:
            rule = f"a page must occur once ({self.source})"
            found = f"page {index + 1} again, as in {self._rows[document, index, path][1]}"
            self.collector.error(place, rule, found, "Join the two, or remove one of them.")
        if size is not None and not all(math.isnan(side) or 0.0 < side < math.inf for side in size):
            rule = f"width and height must be above 0 ({self.source})"
            self.collector.error(place, rule, listed(size), "Write the size of the page.")
            size = NO_SIZE
        row = self.builder.page(
            document, place, index=index, size=size, page_id=page_id, name=name, path=path, attributes=attributes
        )
        if numbered:
            self._rows.setdefault((document, index, path), (row, place))
        return row

    def page_of(self, index: int, document: str = "", path: str = "") -> int | None:
        """Return the row of a page that was added; None when it was not."""
        held = self._rows.get((document or self.document, index, path))
        return held and held[0]

    def page_at(self, place: str, index: int) -> int:
        """Return the row of a page of the file's own document, which is added when it is new."""
        row = self.page_of(index)
        return self.page(place, index=index) if row is None else row

    def leave_out(self, bare: Sequence[str], total: int, noun: str, *, should: str, without: str, fix: str) -> None:
        """Warn of the places of entries, of `total`, without a box; refuse a file in which none has one."""
        if bare and len(bare) == total:
            self.refuse(without.format(f"{total:,}"), fix)
        if bare:
            found = f"{len(bare):,} of {total:,} {noun} without" if noun else f"{len(bare):,} without"
            self.collector.warning(bare[0], f"{should} ({self.source})", found, "They are left out.")

    def say_unread(
        self, pages: Mapping[int, object], whole: object, keys: Sequence[str], place: str, *, should: str, fix: str
    ) -> None:
        """Warn of the pages, by row, without a box, and of what they hold under these keys, which is not read.

        A file without any box is refused when they or the `whole` around them hold such; else its pages are empty.
        """
        bare = [page for row, page in pages.items() if not self.builder.has_boxes(row)]
        empty = not self.builder.boxes
        if self.collector.failed or not bare:
            return
        held = [{key for key in keys if isinstance(each, dict) and each.get(key)} for each in (whole, *bare)]
        there = ", ".join(quote(key) for key in keys if key in set().union(*held[0 if empty else 1 :]))
        rule = f"{should} ({self.source})"
        if there and empty:
            self.refuse(rule, fix, f"only {there}", place)
        if there or empty:
            found = f"only {there} on {sum(map(bool, held[1:])):,} of" if there else "none on"
            again = f"They are pages without boxes. {fix}"
            self.collector.warning(place, rule, f"{found} {count_of(len(pages), 'page')}", again)

    def needed_page(self, number: int, place: str) -> int | None:
        """Return the row of a box's page, counted from 1; None with an issue when the file has none such."""
        row = self.page_of(number - 1)
        if row is None:
            rule = f"a box must be on a page of the file ({self.source})"
            self.collector.error(place, rule, f"page {number}", "Add the page with its size, or remove the box.")
        return row

    def outline(
        self,
        page: int,
        label: str,
        points: Sequence[Sequence[float]],
        place: str,
        *,
        score: float | None = None,
        item: Hashable = None,
        held: Held | None = None,
    ) -> Corners | None:
        """Add and return the box around some points; they are kept as an outline when they are no plain box."""
        if len(points) < _FEWEST_POINTS:
            rule = f"a polygon must have at least {_FEWEST_POINTS} points ({self.source})"
            self.collector.error(place, rule, f"{len(points)}", AGAIN)
            return None
        xs, ys = [point[0] for point in points], [point[1] for point in points]
        box = min(xs), min(ys), max(xs), max(ys)
        # Arrays cost more than all the rest, and nearly all polygons are boxes.
        plain = len(points) <= _MOST_CORNERS and len(set(xs)) <= 2 and len(set(ys)) <= 2
        rings = () if plain else (np.array(points, dtype=np.float64),)
        self.builder.box(page, label, box, place, score=score, rings=rings, item=item, held=held)
        return box

    def corners(
        self,
        page: int,
        label: str,
        values: Sequence[float],
        place: str,
        *,
        key: str,
        score: float | None = None,
        item: Hashable = None,
        held: Held | None = None,
    ) -> None:
        """Add the box of four numbers that an entry has under a key."""
        if box := corners_of(values, f"{place}.{key}", self):
            self.builder.box(page, label, box, place, score=score, item=item, held=held)

    def _missing(self, key: str, value: object, place: str) -> None:
        there = ", ".join(map(excerpt, list(value)[:6])) if isinstance(value, dict) else ""
        rule = f"{key} is required here ({self.source})"
        self.collector.error(place, rule, f"only {there}" if there else "", f"Add {key}.")

    def _report(self, message: str, value: object, place: str) -> None:
        match = _MESSAGE.match(message)
        what, path = (match[1], match[2] or "") if match else (message, "")
        where = place + path
        for key, index in _STEPS.findall(path):
            if isinstance(value, dict) and key in value:
                value = value[key]
            elif isinstance(value, list) and index:
                value = value[int(index)]
        if missing := _MISSING.match(what):
            self._missing(missing[1], value, where)
            return
        last = _LAST_KEY.search(where)
        named = last[0] if last else "an entry"
        expected = _EXPECTED.match(what)
        kind = _KINDS.get(expected[1], "of another kind") if expected else "of another kind"
        if what == "Number out of range" or (expected and expected[1] == "int" and type(value) in (int, float)):
            kind = "a number that fits"
        if expected and expected[2]:
            kind = f"an array of {expected[2]}"
        self.collector.error(where, f"{named} must be {kind} ({self.source})", excerpt(value), AGAIN)


def listed_in(value: object, key: str) -> list[object]:
    """Return the list under a key of an object; empty for anything else."""
    held = value.get(key) if isinstance(value, dict) else None
    return held if isinstance(held, list) else []


def camel_keys(value: object) -> object:
    """Return a tree with its keys in snake case written in camel case.

    >>> camel_keys([{"page_number": 1, "unit": {"a_b": None}}])
    [{'pageNumber': 1, 'unit': {'aB': None}}]
    """
    if isinstance(value, dict):
        return {_SNAKE.sub(lambda match: match[1].upper(), key): camel_keys(held) for key, held in value.items()}
    return [camel_keys(held) for held in value] if isinstance(value, list) else value


def corners_of(values: Sequence[float], place: str, file: OutputFile) -> Corners | None:
    """Return four numbers as corners; None with an issue for any other number of them."""
    if len(values) == 4:
        x1, y1, x2, y2 = values
        return x1, y1, x2, y2
    rule = f"a box must have 4 numbers ({file.source})"
    file.collector.error(place, rule, listed(values[:8]), AGAIN)
    return None


def box_around(points: Sequence[tuple[float, float]]) -> Corners | None:
    """Return the box around some points; None for none."""
    xs, ys = [x for x, _ in points], [y for _, y in points]
    return (min(xs), min(ys), max(xs), max(ys)) if points else None


def pairs_of(values: Sequence[float], place: str, file: OutputFile) -> list[tuple[float, float]]:
    """Return numbers x, y, x, y... as points; none with an issue for an odd number or under two points."""
    if len(values) % 2 or len(values) < 2 * _FEWEST_POINTS:
        rule = f"a polygon must have pairs of numbers, two at least ({file.source})"
        file.collector.error(place, rule, listed(values[:9]), AGAIN)
        return []
    return list(zip(values[::2], values[1::2], strict=True))
