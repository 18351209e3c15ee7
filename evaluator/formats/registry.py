"""The table of formats by name, imported when asked for; a new format is one file and its name in the table."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, Literal, overload

from evaluator.data.dataset import Annotations, with_equal_pages
from evaluator.data.document_names import match_names
from evaluator.data.issues import Collector, Issue
from evaluator.data.page_sizes import on_same_pages, turned_back
from evaluator.data.polygons import polygon_issues, usable_outlines
from evaluator.formats.base import BoxFormat, Content, Format, Kind
from evaluator.formats.image_paths import by_path
from evaluator.system.registry import Registry

AnyFormat = Format[Any]
"""A format of any kind; `of_kind` gives those of one kind with what they read."""
_NAMES: Final = (
    "snapshot", "pod", "ctdar", "coco", "cvat", "page-xml", "alto", "voc", "label-studio", "omnidocbench", "yolo",
    "docling", "mineru", "paddle", "marker", "azure", "textract", "documentai", "unstructured", "supervision", "table",
    "image-folder", "items", "markdown", "fields", "posters",
)  # fmt: skip
"""The formats; the module of each has its name, with an underscore for a hyphen."""
FORMATS: Registry[AnyFormat] = Registry(
    {name: f"evaluator.formats.{name.replace('-', '_')}:FORMAT" for name in _NAMES}, "layoutscope.formats", Format
)
"""Every format by its name, of all kinds; imported when it is asked for."""


def register(format: AnyFormat) -> None:
    """Add a format to the table; ValueError when its name is taken."""
    if format.name in FORMATS:
        raise ValueError(f"there is a format {format.name} already")
    FORMATS[format.name] = format


@overload
def of_kind(kind: Literal["boxes"]) -> Mapping[str, BoxFormat]: ...


@overload
def of_kind(kind: Kind) -> Mapping[str, AnyFormat]: ...


def of_kind(kind: Kind) -> Mapping[str, AnyFormat]:
    """Return the formats of one kind, by name."""
    return {name: row for name, row in FORMATS.items() if row.kind == kind}


def suffixes() -> frozenset[str]:
    """Return the endings of files that any format has."""
    return frozenset(suffix for row in FORMATS.values() for suffix in row.suffixes)


def format_of(source: Annotations) -> BoxFormat | None:
    """Return the format that some boxes were read from; None for boxes that were made."""
    return of_kind("boxes").get(source.format)


def outline_issues(source: Annotations) -> tuple[Issue, ...]:
    """Return warnings for outlines that cannot be used as they are; empty for files without outlines."""
    issues = Collector(source.name, max_per_rule=200)
    polygon_issues(source.boxes, issues, _outline_places(source))
    return issues.issues()


def with_usable_outlines(source: Annotations) -> Annotations:
    """Return a file without outlines that take too much work, with a warning for each; the same object for none."""
    issues = Collector(source.name, max_per_rule=200)
    polygons = usable_outlines(source.boxes, issues, _outline_places(source))
    if polygons is source.boxes.polygons:
        return source
    return replace(source, boxes=replace(source.boxes, polygons=polygons), issues=(*source.issues, *issues.issues()))


def _outline_places(source: Annotations) -> Callable[[int], str]:
    format_ = format_of(source)
    return lambda row: format_.outline_place(source, row) if format_ else ""


def resolve(prediction: Annotations, truth: Annotations, *, keep_unit: bool = False) -> Annotations:
    """Return a prediction with the pages, labels and unit of its ground truth; see `BoxFormat.resolve` and `by_path`.

    `keep_unit` leaves the numbers as they are, for a fix that states what they mean.
    """
    format_ = format_of(prediction)
    resolved = format_.resolve(prediction, truth) if format_ else prediction
    resolved = by_path(with_equal_pages(resolved, truth), truth)
    lower = any(side is not None and side.lower_case for side in (format_, format_of(truth)))
    resolved = _named_as(resolved, truth, ["ending", "case"] if lower else ["ending"])
    resolved = turned_back(resolved, truth)
    return resolved if keep_unit else on_same_pages(resolved, truth)


def _named_as(prediction: Annotations, truth: Annotations, modes: Sequence[str]) -> Annotations:
    """Return a prediction with the documents of its ground truth whose names are others as written, but one so."""
    known = {document.doc_id: document for document in truth.documents}
    own = [document.doc_id for document in prediction.documents]
    partner = {} if known.keys() >= {*own} else match_names(own, list(known), modes)
    if not partner:
        return prediction
    documents = (known[partner[each.doc_id]] if each.doc_id in partner else each for each in prediction.documents)
    return replace(prediction, documents=tuple(documents))


def pair_issues(truth: Content, prediction: Content, *, lenient: bool = False) -> tuple[Issue, ...]:
    """Return what is wrong or odd about two files together; empty for two different formats."""
    format_ = FORMATS.get(truth.format)
    if format_ is None or truth.format != prediction.format:
        return ()
    return format_.pair_issues(truth, prediction, lenient=lenient)
