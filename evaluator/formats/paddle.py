"""Results of PaddleX and PaddleOCR layout models to boxes in pixels of the image, origin top left."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

import msgspec

from evaluator.formats.build import Size
from evaluator.formats.json_text import excerpt
from evaluator.formats.model_output import AGAIN, ModelOutput, OutputFile, corners_of, document_of, pairs_of

_DETECTION = re.compile(rb'"coordinate"\s*:')
_CORNERS: Final = 4


class _Detection(msgspec.Struct, gc=False):
    label: str
    coordinate: list[float]
    score: float | None = None


class _Block(msgspec.Struct, gc=False):
    block_label: str
    block_bbox: list[float]


class _Detected(msgspec.Struct, gc=False, rename="camel"):
    category_name: str
    bbox: list[float]
    score: float | None = None


class _Region(msgspec.Struct, gc=False):
    type: str
    bbox: list[float]
    score: float | None = None
    img_idx: int | None = None


class _Head(msgspec.Struct, gc=False):
    input_path: str | None = None
    page_index: int | None = None
    width: float | None = None
    height: float | None = None


class Paddle(ModelOutput):
    """Results that ``save_to_json`` of PaddleX and PaddleOCR 3 writes.

    PaddleOCR 3, "Layout detection", "Layout analysis" and "PP-StructureV3". Read are `boxes`, or `layout_det_res.boxes`
    of a pipeline, else `parsing_res_list`, which has no scores. The outer `res` of what is printed, lists of results,
    answers of a server (`layoutParsingResults`, `detectedObjects`) and the regions of PP-StructureV2 are taken too. The
    document is the file in `input_path`, the page its `page_index`.
    """

    name = "paddle"
    title = "PP-DocLayout or PP-StructureV3 result (JSON)"
    looks_for = "boxes with a coordinate, or parsing_res_list"
    source = "PaddleX"
    endings = ("_res",)
    normalise = False
    pages_apart = True

    def detect(self, head: bytes, name: str = "") -> bool:
        """Return whether the keys of a layout result are there."""
        boxes = b'"boxes"' in head and _DETECTION.search(head) is not None
        empty = b'"input_path"' in head and b'"boxes"' in head
        server = b'"layoutParsingResults"' in head or (b'"detectedObjects"' in head and b'"categoryName"' in head)
        return boxes or empty or server or b'"parsing_res_list"' in head or _is_second(head)

    def fill(self, tree: object, file: OutputFile) -> None:
        """Add the page of each result."""
        if isinstance(tree, list) and any(
            isinstance(value, dict) and "res" in value and "type" in value for value in tree
        ):
            _second(tree, file)
            return
        for index, (place, value) in enumerate(_results(tree, file)):
            _result(place, value, file, index)


FORMAT: Final = Paddle()


def _is_second(head: bytes) -> bool:
    """Return whether a file begins like the list of regions of PP-StructureV2."""
    start = head[:64].removeprefix(b"\xef\xbb\xbf").lstrip()
    return start.startswith(b"[") and all(mark in head for mark in (b'"type"', b'"bbox"', b'"res"', b'"img_idx"'))


def _second(tree: list[object], file: OutputFile) -> None:
    """Add the regions of PP-StructureV2, each with the number of its page."""
    for place, region in file.entries(tree, "$", _Region):
        if box := corners_of(region.bbox, f"{place}.bbox", file):
            page = file.page_at(place, region.img_idx or 0)
            file.builder.box(page, region.type, box, place, score=region.score)


def _results(tree: object, file: OutputFile) -> Iterator[tuple[str, dict[str, object]]]:
    """Yield places and values of the results in a file, without what is around them."""
    values = [(f"$[{index}]", value) for index, value in enumerate(tree)] if isinstance(tree, list) else [("$", tree)]
    for place, value in values:
        if isinstance(value, dict) and isinstance(value.get("result"), dict):
            value, place = value["result"], f"{place}.result"  # noqa: PLW2901
        if isinstance(value, dict) and "layoutParsingResults" in value:
            answers = [
                (f"{where}.prunedResult", answer.get("prunedResult") if isinstance(answer, dict) else answer)
                for where, answer in file.items(value, "layoutParsingResults", place)
            ]
        elif isinstance(value, dict) and isinstance(value.get("res"), dict):
            answers = [(f"{place}.res", value["res"])]
        else:
            answers = [(place, value)]
        for where, answer in answers:
            if isinstance(answer, dict):
                yield where, answer
            else:
                file.collector.error(where, "a result must be an object (PaddleX)", excerpt(answer), AGAIN)


def _result(place: str, value: dict[str, object], file: OutputFile, position: int) -> None:
    head = file.convert(value, _Head, place)
    if head is None:
        return
    path = head.input_path or ""
    size: Size | None = None
    if head.width is not None and head.height is not None:
        size = head.width, head.height
    document = document_of(path) if path.strip() else file.document
    index = head.page_index
    if index is None:
        index = 0 if path.strip() else position
    page = file.page(place, index=index, size=size, document=document, name=path.rsplit("/", 1)[-1], path=path)
    layout = value.get("layout_det_res")
    if "detectedObjects" in value:
        for where, detected in file.structs(value, "detectedObjects", place, _Detected):
            file.corners(page, detected.category_name, detected.bbox, where, key="bbox", score=detected.score)
    elif isinstance(layout, dict) and "boxes" in layout:
        _detections(layout, page, f"{place}.layout_det_res", file)
    elif "boxes" in value:
        _detections(value, page, place, file)
    elif "parsing_res_list" in value:
        for where, block in file.structs(value, "parsing_res_list", place, _Block):
            file.corners(page, block.block_label, block.block_bbox, where, key="block_bbox")
    else:
        rule = "a result must have boxes, layout_det_res or parsing_res_list (PaddleX)"
        file.collector.error(place, rule, ", ".join(map(excerpt, list(value)[:6])), AGAIN)


def _detections(value: dict[str, object], page: int, place: str, file: OutputFile) -> None:
    for where, detection in file.structs(value, "boxes", place, _Detection):
        label, values, score = detection.label, detection.coordinate, detection.score
        if len(values) <= _CORNERS:
            file.corners(page, label, values, where, key="coordinate", score=score)
        elif points := pairs_of(values, f"{where}.coordinate", file):
            file.outline(page, label, points, where, score=score)
