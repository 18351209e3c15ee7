"""Results of PaddleX and PaddleOCR layout models to boxes in pixels of the image, origin top left."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

import msgspec
from msgspec import UNSET

from evaluator.data.dataset import Place
from evaluator.data.page_sizes import TURNED, UNWARPED
from evaluator.formats.build import Held, Size
from evaluator.formats.json_text import excerpt
from evaluator.formats.model_output import AGAIN, ModelOutput, OutputFile, corners_of, document_of, pairs_of

_DETECTION = re.compile(rb'"coordinate"\s*:')
_CORNERS: Final = 4


class _Detection(msgspec.Struct, gc=False):
    label: str
    coordinate: list[float]
    score: float | None = None
    order: object = None


class _Block(msgspec.Struct, gc=False):
    block_label: str
    block_bbox: list[float]
    # Only looked at where items are read.
    block_order: object = UNSET
    block_content: object = None


class _Detected(msgspec.Struct, gc=False, rename="camel"):
    category_name: str
    bbox: list[float]
    score: float | None = None


class _Region(msgspec.Struct, gc=False):
    type: str
    bbox: list[float]
    score: float | None = None
    img_idx: int | None = None


class _Settings(msgspec.Struct, gc=False):
    use_doc_unwarping: bool | None = None


class _Preprocessed(msgspec.Struct, gc=False):
    """What was done to the page before its boxes were found; -1 is for an angle that was not looked for."""

    angle: float | None = None
    model_settings: _Settings | None = None


class _Head(msgspec.Struct, gc=False):
    input_path: str | None = None
    page_index: int | None = None
    width: float | None = None
    height: float | None = None
    doc_preprocessor_res: _Preprocessed | None = None


class _SizeOf(msgspec.Struct, gc=False):
    width: float | None = None
    height: float | None = None


class _DataInfo(msgspec.Struct, gc=False):
    """The image of a request to a server, or the pages of its PDF, as they were given."""

    width: float | None = None
    height: float | None = None
    pages: list[_SizeOf] | None = None


class Paddle(ModelOutput):
    """Results that ``save_to_json`` of PaddleX and PaddleOCR 3 writes.

    PaddleOCR 3, "Layout detection", "Layout analysis" and "PP-StructureV3". Read are `boxes`, or `layout_det_res.boxes`
    of a pipeline, else `parsing_res_list`, which has no scores. The outer `res` of what is printed, lists of results,
    answers of a server (`layoutParsingResults`, `detectedObjects`) and the regions of PP-StructureV2 are taken too. The
    document is the file in `input_path`, the page its `page_index`; sizes are those of the result or `dataInfo`. Pages
    that `doc_preprocessor_res` turned by a right angle are turned back, see `page_sizes.as_given`.
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
        for index, (place, value, given) in enumerate(_results(tree, file)):
            _result(place, value, file, index, given)


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


def _results(tree: object, file: OutputFile) -> Iterator[tuple[str, dict[str, object], Size | None]]:
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
        sizes = _sizes_given(value, place, file)
        for at, (where, answer) in enumerate(answers):
            if isinstance(answer, dict):
                yield where, answer, sizes[at] if at < len(sizes) else None
            else:
                file.collector.error(where, "a result must be an object (PaddleX)", excerpt(answer), AGAIN)


def _sizes_given(value: object, place: str, file: OutputFile) -> list[Size | None]:
    stated = value.get("dataInfo") if isinstance(value, dict) else None
    info = None if stated is None else file.convert(stated, _DataInfo, f"{place}.dataInfo")
    return [] if info is None else [_size(page) for page in info.pages or ()] or [_size(info)]


def _size(stated: _Head | _SizeOf | _DataInfo) -> Size | None:
    return None if stated.width is None or stated.height is None else (stated.width, stated.height)


def _result(place: str, value: dict[str, object], file: OutputFile, position: int, given: Size | None) -> None:
    head = file.convert(value, _Head, place)
    if head is None:
        return
    path = head.input_path or ""
    attributes = _preprocessing(head.doc_preprocessor_res, place, file)
    # The size of a result is that of the page after it was turned, on which its boxes are.
    size = _size(head)
    if size is None and given is not None:
        size = given[::-1] if attributes.get(TURNED) in ("90", "270") else given
    document = document_of(path) if path.strip() else file.document
    index = head.page_index
    if index is None:
        index = 0 if path.strip() else position
    name = path.rsplit("/", 1)[-1]
    page = file.page(place, index=index, size=size, document=document, name=name, path=path, attributes=attributes)
    _add_boxes(value, page, place, file)


def _preprocessing(stated: _Preprocessed | None, place: str, file: OutputFile) -> dict[str, str]:
    if stated is None:
        return {}
    attributes: dict[str, str] = {}
    if stated.angle in (90, 180, 270):
        attributes[TURNED] = f"{stated.angle:.0f}"
    elif stated.angle not in (None, 0, -1):
        rule, fix = "angle should be 0, 90, 180 or 270 (PaddleX)", "The boxes are read as they are written."
        file.collector.warning(f"{place}.doc_preprocessor_res.angle", rule, f"{stated.angle:g}", fix)
    if stated.model_settings is not None and stated.model_settings.use_doc_unwarping:
        attributes[UNWARPED] = "yes"
    return attributes


def _add_boxes(value: dict[str, object], page: int, place: str, file: OutputFile) -> None:
    layout = value.get("layout_det_res")
    file.check_spelling(value, "layout_det_res", place)
    if "detectedObjects" in value:
        for where, detected in file.structs(value, "detectedObjects", place, _Detected):
            file.corners(page, detected.category_name, detected.bbox, where, key="bbox", score=detected.score)
    elif file.reads_items and "parsing_res_list" in value:
        _blocks(value, page, place, file)
    elif layout is not None and not isinstance(layout, dict):
        rule = "layout_det_res must be an object (PaddleX)"
        file.collector.error(f"{place}.layout_det_res", rule, excerpt(layout), AGAIN)
    elif layout is not None:
        _detections(layout, page, f"{place}.layout_det_res", file)
    elif "boxes" in value:
        _detections(value, page, place, file)
    elif "parsing_res_list" in value:
        _blocks(value, page, place, file)
    else:
        rule = "a result must have boxes, layout_det_res or parsing_res_list (PaddleX)"
        file.collector.error(place, rule, ", ".join(map(excerpt, list(value)[:6])), AGAIN)


def _blocks(value: dict[str, object], page: int, place: str, file: OutputFile) -> None:
    for at, (where, block) in enumerate(file.structs(value, "parsing_res_list", place, _Block)):
        held = None
        if file.reads_items:
            stated = at if block.block_order is UNSET else block.block_order
            content = file.text_of(block.block_content, f"{where}.block_content")
            texts = (None, content) if block.block_label == "table" else (content, None)
            held = Held(_order(stated, f"{where}.block_order", file), *texts)
        file.corners(page, block.block_label, block.block_bbox, where, key="block_bbox", held=held)


def _order(value: object, place: str, file: OutputFile) -> Place | None:
    number = None if value is None else file.convert(value, float, place)
    return None if number is None else (number,)


def _detections(value: dict[str, object], page: int, place: str, file: OutputFile) -> None:
    for where, detection in file.structs(value, "boxes", place, _Detection, required=True):
        label, values, score = detection.label, detection.coordinate, detection.score
        held = Held(_order(detection.order, f"{where}.order", file)) if file.reads_items else None
        if len(values) <= _CORNERS:
            file.corners(page, label, values, where, key="coordinate", score=score, held=held)
        elif points := pairs_of(values, f"{where}.coordinate", file):
            file.outline(page, label, points, where, score=score, held=held)
