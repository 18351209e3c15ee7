"""model.json, middle.json and content_list.json of MinerU to boxes in shares of the page.

model.json has pixels of the page image (in the VLM backend shares of the page), middle.json points of the page,
content_list.json thousandths of the page.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath
from typing import Final, cast

import msgspec

from evaluator.data.issues import quote
from evaluator.formats.build import Held
from evaluator.formats.json_text import excerpt
from evaluator.formats.model_output import AGAIN, NO_SIZE, ModelOutput, OutputFile, corners_of, pairs_of

_CATEGORIES: Final = {
    0: "title", 1: "plain_text", 2: "abandon", 3: "figure", 4: "figure_caption", 5: "table", 6: "table_caption",
    7: "table_footnote", 8: "isolate_formula", 9: "formula_caption", 13: "embedding", 14: "isolated", 15: "ocr_text",
    16: "low_score_text", 101: "image_footnote",
}  # fmt: skip
_FLAT_MARKS: Final = (b'"page_idx"', b'"type"')
_THOUSAND: Final = 1000.0
_RANKED: Final = (("_middle", "_layout"), ("_model",), ("_content_list", "_content_list_v2"))
_MAX_NESTING: Final = 8
_NOT_IN_ORDER: Final = ("discarded", "header", "footer", "page_number", "aside_text")


class _PageInfo(msgspec.Struct, gc=False):
    page_no: int
    width: float
    height: float


class _Detection(msgspec.Struct, gc=False):
    category_id: int | None = None
    label: str | None = None
    poly: list[float] | None = None
    bbox: list[float] | None = None
    score: float | None = None


class _MiddlePage(msgspec.Struct, gc=False):
    page_idx: int
    page_size: tuple[float, float]


class _Block(msgspec.Struct, gc=False):
    type: str
    bbox: list[float]
    score: float | None = None
    content: object = None


class _Entry(msgspec.Struct, gc=False):
    type: str
    page_idx: int
    bbox: list[float] | None = None
    text_level: int | None = None
    # Only looked at where items are read.
    text: object = None
    table_body: object = None


class _Span(msgspec.Struct, gc=False):
    type: str
    content: str | None = None
    html: str | None = None


class _Line(msgspec.Struct, gc=False):
    spans: list[_Span] = []


class _Lines(msgspec.Struct, gc=False):
    """What is written in a block of middle.json; with `lines_deleted` it is in the block before."""

    lines: list[_Line] = []
    lines_deleted: bool = False


class MinerU(ModelOutput):
    """Output files of MinerU 0.6 to 2.7 ("Output files" of its documentation).

    model.json: all of `layout_dets`, with the documented names of category ids; OCR lines are "ocr_text". middle.json:
    `para_blocks` (without them `preproc_blocks`) and `discarded_blocks`; a block that consists of blocks, such as a
    table with its caption, is read as these, and whole at another `Reading.level`. content_list.json: every entry with
    a box; a text with a `text_level` above 0 is a title. Only model.json has scores.
    """

    name = "mineru"
    title = "MinerU model, middle or content_list (JSON)"
    # Up to three files of one document lie in a folder.
    file_per_document = False
    folder_per_document = True
    looks_for = "layout_dets with category_id, pdf_info, or a list of blocks with page_idx"
    source = "MinerU"
    endings = ("_model", "_middle", "_content_list", "_content_list_v2")

    def detect(self, head: bytes, name: str = "") -> bool:
        """Return whether the beginning is that of one of the three files."""
        if b'"pdf_info"' in head:
            return b'"page_idx"' in head or b'"para_blocks"' in head or b'"preproc_blocks"' in head
        if b'"layout_dets"' in head:
            # A page without regions has its number, and no image as in OmniDocBench.
            empty = b'"page_no"' in head and b'"image_path"' not in head
            if b'"category_type"' in head:
                return False  # OmniDocBench
            return b'"page_info"' in head and (b'"category_id"' in head or b'"cls_id"' in head or empty)
        start = head[:256].removeprefix(b"\xef\xbb\xbf").split()
        text = b"".join(start)
        if text.startswith(b"[["):
            return b'"bbox"' in head and b'"type"' in head and (b'"angle"' in head or b'"content"' in head)
        return text.startswith(b"[{") and all(mark in head for mark in _FLAT_MARKS) and b'"metadata"' not in head

    def repeated(self, names: Sequence[str]) -> Sequence[str]:
        """Return all but the middle.json of a run (layout.json of the service), else all but the model.json."""
        best: dict[PurePosixPath, int] = {}
        ranks = {name: rank for name in names if (rank := _rank(name)) is not None}
        for name, rank in ranks.items():
            where = PurePosixPath(name).parent
            best[where] = min(rank, best.get(where, rank))
        return [name for name, rank in ranks.items() if rank > best[PurePosixPath(name).parent]]

    def fill(self, tree: object, file: OutputFile) -> None:
        """Add the pages and boxes of whichever of the files this is."""
        if isinstance(tree, dict):
            _middle(tree, file)
        elif isinstance(tree, list) and tree and isinstance(tree[0], list):
            _pages_of_blocks(tree, file)
        elif isinstance(tree, list) and tree and isinstance(tree[0], dict) and "layout_dets" in tree[0]:
            _model(tree, file)
        elif isinstance(tree, list):
            _content_list(tree, file)
        else:
            file.refuse("the top level must be an array or an object with pdf_info (MinerU)", AGAIN, excerpt(tree), "$")


FORMAT: Final = MinerU()


def _rank(name: str) -> int | None:
    """Return which file of a run a name is, the one that is read first with the least; None for others."""
    stem = f"_{PurePosixPath(name).stem}"
    return next((rank for rank, endings in enumerate(_RANKED) if stem.endswith(endings)), None)


def _model(tree: list[object], file: OutputFile) -> None:
    """Add model.json of the pipeline: detections in pixels of the page image."""
    for index, value in enumerate(tree):
        place = f"$[{index}]"
        info = file.convert(
            value.get("page_info") if isinstance(value, dict) else value, _PageInfo, f"{place}.page_info"
        )
        size = NO_SIZE if info is None else (info.width, info.height)
        page = file.page(f"{place}.page_info", index=index if info is None else info.page_no, size=size)
        for where, detection in file.structs(value, "layout_dets", place, _Detection, required=True):
            _detection(detection, page, where, file)


def _detection(detection: _Detection, page: int, where: str, file: OutputFile) -> None:
    label = detection.label
    if label is None and detection.category_id is not None:
        label = _CATEGORIES.get(detection.category_id, f"category {detection.category_id}")
    if label is None:
        file.collector.error(where, "category_id is required here (MinerU)", "", "Add category_id.")
    elif detection.poly is not None:
        points = pairs_of(detection.poly, f"{where}.poly", file)
        around = file.outline(page, label, points, where, score=detection.score) if points else None
        if around is not None and detection.bbox is not None:
            again = corners_of(detection.bbox, f"{where}.bbox", file)
            file.builder.check_again(where, "poly", around, "bbox", again)
    elif detection.bbox is None:
        file.collector.error(where, "poly is required here (MinerU)", "", "Add poly, or bbox.")
    else:
        file.corners(page, label, detection.bbox, where, key="bbox", score=detection.score)


def _middle(tree: dict[str, object], file: OutputFile) -> None:
    """Add middle.json: blocks in points of the page."""
    if not isinstance(tree.get("pdf_info"), list):
        file.refuse("pdf_info must be an array (MinerU)", AGAIN, excerpt(tree.get("pdf_info")), "$.pdf_info")
    for place, value in file.items(tree, "pdf_info", "$"):
        held = file.convert(value, _MiddlePage, place)
        if held is None or not isinstance(value, dict):
            continue
        page = file.page(place, index=held.page_idx, size=held.page_size)
        if not any(key in value for key in ("para_blocks", "preproc_blocks", "discarded_blocks")):
            rule, keys = "a page must have para_blocks or preproc_blocks (MinerU)", ", ".join(map(quote, value))
            file.collector.error(place, rule, f"only {keys}", AGAIN)
        found = list(file.items(value, "para_blocks", place))
        if value.get("para_blocks") is None:
            found = list(file.items(value, "preproc_blocks", place))
        for where, block in found:
            _block(block, page, where, file, depth=0, in_order=True)
        for where, block in file.items(value, "discarded_blocks", place):
            _block(block, page, where, file, depth=0, in_order=False)


def _block(value: object, page: int, place: str, file: OutputFile, *, depth: int, in_order: bool) -> None:
    inside: Sequence[tuple[str, object]] = ()
    if isinstance(value, dict) and depth < _MAX_NESTING:
        # Most blocks have lines and none, and there are many of them.
        if "blocks" in value:
            inside = list(file.items(value, "blocks", place))
        elif "lines" not in value:
            file.check_spelling(value, "blocks", place)
    if not inside or (isinstance(value, dict) and value.get("bbox") is not None):
        block = file.convert(value, _Block, place)
        if block is not None:
            item = place if inside or depth else None
            held = _written(value, place, file, in_order=in_order) if file.reads_items else None
            file.corners(page, block.type, block.bbox, place, key="bbox", score=block.score, item=item, held=held)
    for where, inner in inside:
        file.builder.nesting.put(where, inside=place, group=True)
        _block(inner, page, where, file, depth=depth + 1, in_order=in_order)


def _written(value: object, place: str, file: OutputFile, *, in_order: bool) -> Held:
    order = (file.builder.boxes,) if in_order else None
    lines = file.convert(value, _Lines, place)
    if lines is None:
        return Held(order)
    spans = [[span for span in line.spans if span.content is not None] for line in lines.lines]
    text = "\n".join(" ".join(_text(span) for span in line) for line in spans) if any(spans) else None
    table = next((span.html for line in lines.lines for span in line.spans if span.html is not None), None)
    return Held(order, "" if lines.lines_deleted else text, table)


def _text(span: _Span) -> str:
    return f"${span.content}$" if span.type == "inline_equation" else span.content or ""


def _content_list(tree: list[object], file: OutputFile) -> None:
    read = list(file.entries(tree, "$", _Entry))
    bare = [place for place, entry in read if entry.bbox is None]
    if not file.reads_items:
        file.leave_out(
            bare,
            len(read),
            "entries",
            should="an entry should have a bbox",
            without="This is a MinerU content_list without boxes: none of its {} entries has a bbox",
            fix="Give the middle.json or model.json of the same run.",
        )
    file.in_shares()
    for place, entry in read:
        page = file.page_at(place, entry.page_idx)
        box = None if entry.bbox is None else corners_of(entry.bbox, f"{place}.bbox", file)
        label = "title" if entry.type == "text" and (entry.text_level or 0) > 0 else entry.type
        held = _listed(entry, place, file) if file.reads_items else None
        if box is not None:
            x1, y1, x2, y2 = (edge / _THOUSAND for edge in box)
            file.builder.box(page, label, (x1, y1, x2, y2), place, held=held)
        elif entry.bbox is None and held is not None:
            file.builder.box(page, label, None, place, held=held)


def _listed(entry: _Entry, place: str, file: OutputFile) -> Held:
    order = None if entry.type in _NOT_IN_ORDER else (file.builder.boxes,)
    return Held(order, file.text_of(entry.text, f"{place}.text"), file.text_of(entry.table_body, f"{place}.table_body"))


def _pages_of_blocks(tree: list[object], file: OutputFile) -> None:
    """Add lists of blocks by page: model.json of the VLM backend (shares), content_list_v2 (thousandths)."""
    file.in_shares()
    blocks = list(_nested(tree, file))
    whole = _THOUSAND if any(max(map(abs, block.bbox), default=0.0) > 1.0 for *_, block in blocks) else 1.0
    for index in range(len(tree)):
        file.page(f"$[{index}]", index=index)
    for index, place, block in blocks:
        if box := corners_of(block.bbox, f"{place}.bbox", file):
            x1, y1, x2, y2 = (edge / whole for edge in box)
            page = cast("int", file.page_of(index))
            content = block.content if isinstance(block.content, str) else None
            texts = (None, content) if block.type == "table" else (content, None)
            held = Held((file.builder.boxes,), *texts) if file.reads_items else None
            file.builder.box(page, block.type, (x1, y1, x2, y2), place, score=block.score, held=held)


def _nested(tree: list[object], file: OutputFile) -> Iterator[tuple[int, str, _Block]]:
    for index, page in enumerate(tree):
        if not isinstance(page, list):
            file.collector.error(f"$[{index}]", "a page must be an array (MinerU)", excerpt(page), AGAIN)
            continue
        for place, block in file.entries(page, f"$[{index}]", _Block):
            yield index, place, block
