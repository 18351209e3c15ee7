"""The columnar model: documents, pages and boxes as typed columns, from one file or several joined.

Coordinates are those of the displayed page, origin top left, normalised to [0, 1] unless the source has pixels only.
Readers check everything once; from here on the columns are trusted and never edited.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Final, Literal, NamedTuple, Protocol

import msgspec
import numpy as np
import numpy.typing as npt

from evaluator.data.boxes import BoolArray, FloatArray, IntArray, area
from evaluator.data.cells import Table
from evaluator.data.issues import Issue, count_of
from evaluator.data.order import begins, order_by

CodeArray = npt.NDArray[np.int32]
Side = Literal["ground_truth", "prediction"]
Level = Literal["outer", "inner", "all"]
"""Which boxes are read where some lie in others: those that hold them, those that hold none, or both."""
LevelKey = Level | Literal[""]
"""A level, "" for what is read by default."""
Place = tuple[float, ...]
"""Where an item stands in the tree of its page: its number in an ordered group, in an unordered one of that, and so on.

Items of one place are an unordered group.
"""
PageKey = tuple[str, int]
"""Document id and page in the document, from 0."""


def box_key(side: Side, row: int) -> str:
    """Return the key of a box: ``g12`` is row 12 of the ground truth, ``p12`` of the prediction."""
    return f"{'g' if side == 'ground_truth' else 'p'}{row}"


def parse_box_key(key: str) -> tuple[Side, int]:
    """Return the side and the row that a `box_key` names."""
    return "ground_truth" if key[0] == "g" else "prediction", int(key[1:])


class Document(msgspec.Struct, frozen=True):
    """Document as an annotation file names it; `doc_id` is the key that both sides share.

    The PDF is looked up under `name`; `path` is what the file states: shown, never opened.
    """

    doc_id: str
    name: str
    path: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class Boxes:
    """Boxes as columns of one length N, in file order.

    Attributes
    ----------
    document : int32, shape (N,)
        Code into the documents of the owner.
    page : int64, shape (N,), >= 0
        Page of the document, counted from 0.
    label : int32, shape (N,)
        Code into the labels of the owner.
    xyxy : float64, shape (N, 4)
        x1, y1, x2, y2; origin top left; [0, 1] unless the owner states pixels.
    score : float64, shape (N,)
        Confidence in [0, 1]; NaN means that the source has none.
    entry, position : int32, shape (N,)
        Row of the page entry in the page columns of the owner, and position of the object in that entry;
        `Annotations.source_of` makes a place of them.
    ids : list of str, length N
        The object ids of the file; not necessarily unique.
    area : float64, shape (N,), or None
        Area that the source states, in its unit; None where the box's own area is meant.
    crowd : bool, shape (N,), or None
        Regions that stand for many objects (COCO ``iscrowd``); None for none.
    polygons : mapping of int to float64 arrays of shape (K, 2)
        Outlines of some rows, in the unit of the box; one array per ring.
    box_area : float64, shape (N,), or None
        Width times height of a source that gives these instead of the second corner, to the last digit; else None.
    row : int64, shape (N,), or None
        Rows of the file that these were picked from; None for all of its rows.
    order : list of Place or None, length N, or None
        Where each item stands in the reading order of its page, None for nowhere; None where the source has no order.
        This and the next are read where `Reading.items` asks for them; corners of items without a box are NaN then.
    text : list of str or None, length N, or None
        What each item says, "" for one that was read as empty; None as for `order`.
    cells : list of `evaluator.data.cells.Table` or None, length N, or None
        The tables; None for other items, and as for `order`.
    """

    document: CodeArray
    page: IntArray
    label: CodeArray
    xyxy: FloatArray
    score: FloatArray
    entry: CodeArray
    position: CodeArray
    ids: Sequence[str]
    area: FloatArray | None = None
    crowd: BoolArray | None = None
    polygons: Mapping[int, Sequence[FloatArray]] = field(default_factory=dict)
    box_area: FloatArray | None = None
    row: IntArray | None = None
    order: Sequence[Place | None] | None = None
    text: Sequence[str | None] | None = None
    cells: Sequence[Table | None] | None = None

    def __len__(self) -> int:
        return len(self.label)

    @property
    def lacks_boxes(self) -> bool:
        """Return whether these are items of which none has a box."""
        return len(self) > 0 and bool(np.isnan(self.xyxy[:, 0]).all())


class Run(msgspec.Struct, frozen=True):
    """Run that made a file, as the file states it; `created_at` in ISO 8601 where it is a date or time."""

    run_id: str | None = None
    created_at: str | None = None


NO_RUN = Run()


class Part(msgspec.Struct, frozen=True):
    """One file of several that were read as one; the rows of the parts follow each other."""

    name: str
    sha256: str
    entries: int
    boxes: int


@dataclass(frozen=True, slots=True, eq=False)
class Annotations:
    """One annotation file: who made it, what it covers, its boxes, and what was odd about it.

    Attributes
    ----------
    name : str
        File name without folder.
    sha256 : str
        Digest of the bytes as they were read (a byte order mark excluded).
    format : str
        Key of the format in ``formats.FORMATS``, for instance ``snapshot``.
    side : "ground_truth" or "prediction"
        What the file states about itself.
    model, version : str or None
        The model's name and version; None when not given.
    labels : tuple of str
        The names behind the label codes: first the labels of the label map in the order of their integer
        keys, then labels that occur without being in it.
    evaluated : int
        How many of `labels` the label map names; the rest is kept and not scored.
    documents : tuple of Document
        In file order; ``doc_id`` is unique.
    page_document, page_index : int32 and int64, shape (M,)
        The page entries of the file, empty ones included.
    issues : tuple of Issue
        Warnings only; a file with errors is not returned.
    label_map : mapping of str to str
        Label ids to names as the file spells them; empty for formats without one.
    page_ids : sequence of str, length M
        The file's own names of its page entries; empty for formats without them.
    parts : tuple of Part
        The files of a folder that were read as one, in row order; empty for a single file.
    unit : "page" or "pixels"
        Unit of the boxes: shares of the displayed page, or pixels of its image.
    page_size : float64, shape (M, 2), or None
        Width and height of each page entry in the file's pixels, NaN where it is not stated; None when none is.
    items_at : str
        JSON path of the array of boxes, for formats with more than one form of file; empty for others.
    attributes : mapping of str to sequences of length M
        What else the file states about its page entries, as ``doc_category`` of DocLayNet; None for nothing.
    page_images : sequence of str, length M
        The name of the image file of each page entry as the file states it, "" for none; empty for files without them.
    fixes : tuple of str
        What was done to the columns after reading, as it is written on the command line; every signature states it.
    run : Run
        What the file states about the run that made it; nothing for most formats.
    columns : str
        The verdicts on the columns of a table, as ``--columns`` has it; empty for nothing.
    level : "outer", "inner", "all" or None
        Which boxes were read of a file in which some lie in others; None for those that are read by default.
    levels : mapping of str to int
        How many boxes each level of the file has, "" for those that are read by default; empty where none lie in
        others.
    """

    name: str
    sha256: str
    format: str
    side: Side
    model: str | None
    version: str | None
    labels: tuple[str, ...]
    evaluated: int
    documents: tuple[Document, ...]
    page_document: CodeArray
    page_index: IntArray
    boxes: Boxes
    issues: tuple[Issue, ...] = field(default=())
    label_map: Mapping[str, str] = field(default_factory=dict)
    page_ids: Sequence[str] = ()
    parts: tuple[Part, ...] = ()
    unit: Literal["page", "pixels"] = "page"
    page_size: FloatArray | None = None
    items_at: str = ""
    attributes: Mapping[str, Sequence[str | None]] = field(default_factory=dict)
    page_images: Sequence[str] = ()
    fixes: tuple[str, ...] = ()
    run: Run = NO_RUN
    columns: str = ""
    level: Level | None = None
    levels: Mapping[LevelKey, int] = field(default_factory=dict)

    @property
    def box_page_size(self) -> FloatArray | None:
        """Size of the page of each box in the file's pixels, float64, shape (N, 2); None when one is not stated."""
        if self.page_size is None:
            return None
        size = self.page_size[self.boxes.entry]
        return None if np.isnan(size).any() else size

    def images_by_page(self) -> dict[tuple[str, int], str]:
        """Return names of page images by document name and page index; the first one that a page has."""
        images: dict[tuple[str, int], str] = {}
        for row, image in enumerate(self.page_images):
            if image:
                name = self.documents[self.page_document[row]].name
                images.setdefault((name, int(self.page_index[row])), image)
        return images

    def source_of(self, row: int) -> tuple[str, int, int]:
        """Return where a box is from: file name, position of its page entry, position in that entry."""
        entry, position = int(self.boxes.entry[row]), int(self.boxes.position[row])
        for part in self.parts:
            if row < part.boxes:
                return part.name, entry, position
            row, entry = row - part.boxes, entry - part.entries
        return self.name, entry, position


@dataclass(frozen=True, slots=True, weakref_slot=True, eq=False)
class JoinedBoxes:
    """The boxes of one file under the codes of a `Dataset`, still in file order.

    Row i is row i of ``source.boxes``; `document` and `label`, int32, shape (N,), are codes of the `Dataset`, `page`,
    int64, shape (N,), a row of its page columns, and so `entry_page`, shape (E,), for the page entries of the file.
    """

    source: Annotations
    document: CodeArray
    page: IntArray
    label: CodeArray
    entry_page: IntArray

    def __len__(self) -> int:
        return len(self.label)

    @property
    def xyxy(self) -> FloatArray:
        """Corners of the boxes, float64, shape (N, 4)."""
        return self.source.boxes.xyxy

    @property
    def score(self) -> FloatArray:
        """Scores, float64, shape (N,); NaN means none."""
        return self.source.boxes.score

    @property
    def page_share(self) -> FloatArray:
        """Share of its page that each box covers, float64, shape (N,).

        `ValueError` when the boxes are in pixels and the file does not give the sizes of its pages.
        """
        source = self.source
        areas = area(source.boxes.xyxy) if source.boxes.box_area is None else source.boxes.box_area
        if source.unit == "page":
            return areas
        size = source.box_page_size
        if size is None:
            raise ValueError("min_area needs page sizes, which the files do not give")
        return np.asarray(areas / size.prod(axis=1))


@dataclass(frozen=True, eq=False)
class Dataset:
    """One ground truth and its predictions under shared codes.

    Attributes
    ----------
    documents : tuple of Document
        Every document that any side names, sorted by ``doc_id``.
    labels : tuple of str
        Label names; the first `evaluated` of them are scored.
    page_document : int32, shape (P,)
        Code of the document of each page.
    page_index : int64, shape (P,)
        Page in that document, from 0. Rows are sorted by (document, page) and unique.
    predictions : tuple of JoinedBoxes
        In the order in which the models were given (A, B, ...).
    """

    documents: tuple[Document, ...]
    labels: tuple[str, ...]
    evaluated: int
    page_document: CodeArray
    page_index: IntArray
    ground_truth: JoinedBoxes
    predictions: tuple[JoinedBoxes, ...]

    @property
    def pages(self) -> int:
        """Number of pages that any side mentions."""
        return len(self.page_index)

    @property
    def document_ids(self) -> tuple[str, ...]:
        """Ids of the documents, in the order of their codes."""
        return tuple(document.doc_id for document in self.documents)

    def scored_labels(
        self, labels: Sequence[str] | None, *, unknown: str = "labels not in the label map"
    ) -> tuple[str, ...]:
        """Return the labels to score, in the order of the dataset; None asks for all that a file maps.

        `ValueError` when a wanted label is not mapped; its sentence begins with `unknown`.
        """
        mapped = self.labels[: self.evaluated]
        strange = [label for label in labels or () if self.label_code.get(label, self.evaluated) >= self.evaluated]
        if strange:
            raise ValueError(f"{unknown}: {', '.join(strange)}")
        return mapped if labels is None else tuple(sorted({*labels}, key=self.label_code.__getitem__))

    @cached_property
    def label_code(self) -> Mapping[str, int]:
        """Code of each label."""
        return {label: code for code, label in enumerate(self.labels)}

    @cached_property
    def document_code(self) -> Mapping[str, int]:
        """Code of each document, by its id."""
        return {document.doc_id: code for code, document in enumerate(self.documents)}

    @cached_property
    def page_size(self) -> FloatArray:
        """Width and height of each page in the files' pixels, float64, shape (P, 2); NaN where unknown.

        The ground truth goes before the predictions, of several entries of one page the first.
        """
        sizes = np.full((self.pages, 2), np.nan)
        # What counts most is written last.
        for side in (*reversed(self.predictions), self.ground_truth):
            given = side.source.page_size
            if given is not None:
                known = ~np.isnan(given).any(axis=1)
                sizes[side.entry_page[known][::-1]] = given[known][::-1]
        return sizes

    @cached_property
    def page_images(self) -> Mapping[tuple[str, int], str]:
        """Names of page images by (document name, page index), ground truth first; for `PdfFolder.find_page`."""
        images: dict[tuple[str, int], str] = {}
        for side in (self.ground_truth, *self.predictions):
            images = {**side.source.images_by_page(), **images}
        return images

    def page_row(self, document: str, page_index: int) -> int | None:
        """Return the row of a page (from 0) in the page columns; None when no file mentions the page."""
        code = self.document_code.get(document)
        if code is None:
            return None
        low, high = np.searchsorted(self.page_document, [code, code + 1])
        row = low + int(np.searchsorted(self.page_index[low:high], page_index))
        return int(row) if row < high and self.page_index[row] == page_index else None

    def page_rows(self, other: Dataset) -> IntArray:
        """Return the row of each page of another dataset in this one's page columns, int64; -1 for none."""
        return rows_of_pages(other, self)

    def documents_only_in(self, prediction: int = 0) -> dict[Side, tuple[str, ...]]:
        """Return the sorted ids of documents that only one of the two files names, by side."""
        truth, predicted = self._named[0], self._named[1 + prediction]
        return {"ground_truth": tuple(sorted(truth - predicted)), "prediction": tuple(sorted(predicted - truth))}

    @cached_property
    def _named(self) -> list[frozenset[str]]:
        sides = (self.ground_truth, *self.predictions)
        return [frozenset(document.doc_id for document in side.source.documents) for side in sides]

    def in_both(self, prediction: int = 0) -> BoolArray:
        """Return which documents the ground truth and a prediction both name, bool, shape (D,)."""
        only = self.documents_only_in(prediction)
        lonely = {*only["ground_truth"], *only["prediction"]}
        return np.array([document.doc_id not in lonely for document in self.documents], dtype=bool)


def join(ground_truth: Annotations, *predictions: Annotations) -> Dataset:
    """Return one ground truth and any number of predictions under shared document, page and label codes.

    Documents are sorted by id, pages by (document, page); evaluated labels in the order of the ground truth's label
    map, then those that only a prediction's label map has, then unmapped ones. A label counts as evaluated when any
    file maps it. Whether label maps must agree is the protocol's rule (snapshot 1.3, section 9.2).
    """
    files = (ground_truth, *predictions)
    by_id: dict[str, Document] = {}
    for source in files:
        for document in source.documents:
            by_id.setdefault(document.doc_id, document)
    documents = tuple(by_id[doc_id] for doc_id in sorted(by_id))
    document_code = {document.doc_id: code for code, document in enumerate(documents)}

    mapped = list(dict.fromkeys(label for source in files for label in source.labels[: source.evaluated]))
    unmapped = dict.fromkeys(label for source in files for label in source.labels[source.evaluated :])
    labels = tuple(dict.fromkeys((*mapped, *unmapped)))
    label_code = {label: code for code, label in enumerate(labels)}

    recoded = [_recode(source, document_code, label_code) for source in files]
    # One sortable number per page: page indices are below 2**31 by the readers' rule. A box is on the page of its
    # entry, so the pages of the entries are all there are, and looking those up is enough.
    entries = [
        (document.astype(np.int64) << 32) | source.page_index
        for source, (_, _, document) in zip(files, recoded, strict=True)
    ]
    # Not np.unique: it imports numpy.ma, which takes as long as a small evaluation.
    known = np.sort(np.concatenate(entries))
    known = known[begins(known)]
    sides = tuple(
        JoinedBoxes(source=source, document=document, page=pages[source.boxes.entry], label=label, entry_page=pages)
        for source, (document, label, _), pages in zip(
            files, recoded, (known.searchsorted(keys).astype(np.int64, copy=False) for keys in entries), strict=True
        )
    )
    return Dataset(
        documents=documents,
        labels=labels,
        evaluated=len(mapped),
        page_document=(known >> 32).astype(np.int32),
        page_index=known & 0xFFFFFFFF,
        ground_truth=sides[0],
        predictions=sides[1:],
    )


# Any numbers, so that boxes that differ are not likely to have one sum.
_TIMES: Final = (1e3 * np.e, 1e2 * np.pi, 7.07, 1.0, np.sqrt(2.0), np.sqrt(3.0), np.sqrt(5.0))


def repeated(boxes: Boxes) -> BoolArray:
    """Tell which boxes repeat another one of their page and label, the first one excepted."""
    columns = [boxes.document, boxes.page, boxes.label, *boxes.xyxy.T]
    again = np.zeros(len(boxes), dtype=bool)
    # Equal boxes have equal sums, which are quick to compare; most files have none.
    sums = np.sort(sum((times * column for times, column in zip(_TIMES, columns, strict=True)), np.zeros(len(boxes))))
    if not (sums[1:] == sums[:-1]).any():
        return again
    order = order_by(columns)
    same = np.ones(len(boxes) - 1, dtype=bool)
    for column in columns:
        same &= np.diff(np.asarray(column)[order]) == 0
    again[order[1:][same]] = True
    return again


class Repeats(NamedTuple):
    """How many boxes a file has, and how many of them are `repeated`."""

    boxes: int
    again: int

    @classmethod
    def of(cls, boxes: Boxes) -> Repeats:
        """Count those of some boxes."""
        return cls(len(boxes), int(repeated(boxes).sum()))

    @classmethod
    def merged(cls, parts: Iterable[Repeats]) -> Repeats:
        """Add up those of different pages."""
        return cls(*map(sum, zip(*parts, strict=True)))

    def issues(self, file: str, side: Side) -> tuple[Issue, ...]:
        """Return a warning for a file that lists boxes again, of which one can match; empty for none."""
        if not self.again:
            return ()
        what, counts = ("a ground truth", "missed") if side == "ground_truth" else ("predictions", "invented")
        rule = f"{what} should list a box once: a label in one place of a page"
        found = f"{self.again:,} of {count_of(self.boxes, 'box')} again"
        fix = f"Each counts by itself, so it is {counts}; remove it."
        return (Issue(severity="warning", file=file, place="", rule=rule, found=found, fix=fix),)


def repeated_issues(source: Annotations, side: Side) -> tuple[Issue, ...]:
    """Return a warning for boxes that a file, as this side, lists again; empty for none."""
    return Repeats.of(source.boxes).issues(source.name, side)


def page_keys(source: Annotations | Dataset) -> list[PageKey]:
    """Return document and page of each page entry of a file, or of each page of a dataset."""
    names = [document.doc_id for document in source.documents]
    pages = zip(source.page_document.tolist(), source.page_index.tolist(), strict=True)
    return [(names[document], index) for document, index in pages]


def rows_of_pages(source: Annotations | Dataset, other: Annotations | Dataset) -> IntArray:
    """Return the first row of each page of a file or dataset in the page columns of another one, int64; -1 for none."""
    codes = {document.doc_id: code for code, document in enumerate(other.documents)}
    document = np.array([codes.get(each.doc_id, -1) for each in source.documents], dtype=np.int64)
    known = (other.page_document.astype(np.int64) << 32) | other.page_index
    wanted = (document[source.page_document] << 32) | source.page_index
    order = np.argsort(known, kind="stable")
    place = known[order].searchsorted(wanted)
    there = np.append(known[order], -1)[place] == wanted
    return np.where(there, np.append(order, -1)[place], -1)


_PAGE_COLUMNS: Final = ("documents", "page_document", "page_index", "page_size", "page_images")


def with_equal_pages(source: Annotations, other: Annotations) -> Annotations:
    """Return a file with the pages of another one in the place of its own where they are equal.

    They are in memory once then, and whoever compares the pages of the two sees at once that they are the same.
    """
    own, others = ([getattr(each, name) for name in _PAGE_COLUMNS] for each in (source, other))
    if source.page_index is other.page_index or not all(map(_equal, own, others)):
        return source
    return replace(source, **dict(zip(_PAGE_COLUMNS, others, strict=True)))


def _equal(column: Any, other: Any) -> bool:  # noqa: ANN401 - an array, texts, or None
    if isinstance(column, np.ndarray):
        return np.array_equal(column, other, equal_nan=column.dtype.kind == "f")
    return column is other or (column is not None and bool(column == other))


def with_pages(source: Annotations, known: Mapping[str, Document], keys: Sequence[PageKey]) -> Annotations:
    """Return a file with other pages, a document and a page index for each; `known` are documents to be used."""
    paged = {source.documents[code].doc_id for code in set(source.page_document.tolist())}
    own = {document.doc_id: document for document in source.documents}
    names = dict.fromkeys([*(name for name in own if name not in paged), *(name for name, _ in keys)])
    code = {name: at for at, name in enumerate(names)}
    document = np.array([code[name] for name, _ in keys], dtype=np.int32)
    index = np.array([page for _, page in keys], dtype=np.int64)
    entry = source.boxes.entry
    return replace(
        source,
        documents=tuple(known.get(name) or own.get(name) or Document(name, name, name) for name in names),
        page_document=document,
        page_index=index,
        boxes=replace(source.boxes, document=document[entry], page=index[entry]),
    )


def map_labels(annotations: Annotations, names: Mapping[str, str]) -> Annotations:
    """Return the annotations with labels renamed; two labels that get one name become one label.

    The same object when nothing is renamed. A label counts as evaluated when any of its old names was.
    """
    if not any(label in names for label in annotations.labels):
        return annotations
    renamed = [names.get(label, label) for label in annotations.labels]
    mapped = dict.fromkeys(renamed[: annotations.evaluated])
    labels = tuple(dict.fromkeys([*mapped, *renamed]))
    code = {label: at for at, label in enumerate(labels)}
    codes = np.array([code[label] for label in renamed], dtype=np.int32)
    boxes = replace(annotations.boxes, label=codes[annotations.boxes.label])
    label_map = {key: names.get(label, label) for key, label in annotations.label_map.items()}
    return replace(annotations, labels=labels, evaluated=len(mapped), boxes=boxes, label_map=label_map)


class HasFixes(Protocol):
    """Anything that was read, with what was done to it afterwards."""

    @property
    def fixes(self) -> tuple[str, ...]:
        """Return as they are written on the command line."""


def fix_texts(ground_truth: HasFixes, prediction: HasFixes) -> tuple[str, ...]:
    """Return which level of two files was read and what was done to them, for a signature; empty for nothing."""
    sides = (("fix of the ground truth", ground_truth), ("fix", prediction))
    fixes = [f"{name}: {', '.join(source.fixes)}" for name, source in sides if source.fixes]
    levels = level_texts(*(source for _, source in sides if isinstance(source, Annotations)))
    return (*levels, *fixes)


def level_texts(*sources: Annotations) -> tuple[str, ...]:
    """Return which levels of some files were read, each once, in words of the signature; nothing for the default."""
    return tuple(dict.fromkeys(f"level {source.level}" for source in sources if source.level))


def _recode(
    source: Annotations, document_code: Mapping[str, int], label_code: Mapping[str, int]
) -> tuple[CodeArray, CodeArray, CodeArray]:
    documents = [document_code[document.doc_id] for document in source.documents]
    labels = [label_code[label] for label in source.labels]
    return (
        _renumbered(source.boxes.document, documents),
        _renumbered(source.boxes.label, labels),
        _renumbered(source.page_document, documents),
    )


def _renumbered(codes: CodeArray, new: Sequence[int]) -> CodeArray:
    """Return codes under new numbers, by their old ones; the same array where all stay."""
    if new == list(range(len(new))):
        return codes
    return np.array(new, dtype=np.int32)[codes]
