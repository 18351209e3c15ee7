"""Responses of AWS Textract to boxes in shares of the page, origin top left; they state no page size."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

import msgspec

from evaluator.data.issues import quote
from evaluator.formats import limits
from evaluator.formats.json_text import excerpt
from evaluator.formats.model_output import AGAIN, ModelOutput, OutputFile

_LAYOUT: Final = "LAYOUT_"
_PER_CENT: Final = 100.0


class _Box(msgspec.Struct, gc=False):
    Width: float
    Height: float
    Left: float
    Top: float


class _Geometry(msgspec.Struct, gc=False):
    BoundingBox: _Box


class _Block(msgspec.Struct, gc=False):
    BlockType: str
    Geometry: _Geometry | None = None
    Page: int | None = None
    Confidence: float | None = None
    Id: object = None
    Relationships: object = None

    @property
    def children(self) -> list[object]:
        """Return the ids of its parts."""
        held = self.Relationships if isinstance(self.Relationships, list) else []
        lists = [each.get("Ids") for each in held if isinstance(each, dict) and each.get("Type") == "CHILD"]
        return [key for ids in lists if isinstance(ids, list) for key in ids if isinstance(key, str)]


class Textract(ModelOutput):
    """Responses of AnalyzeDocument, DetectDocumentText and their asynchronous twins.

    Amazon Textract, "Block" and "Layout response objects". ``LAYOUT_`` blocks are read alone, so that a table is not
    read twice; a response without is read by TABLE and LINE blocks, with a warning. The blocks of a list, and lines of
    which all words are in a table, are read at another `Reading.level`. Labels are block types, the score
    is ``Confidence`` / 100, boxes are ``Geometry.BoundingBox``. Lists of responses or blocks, and responses under a
    name in an object, are read as one; responses that each have a page 1 are pages in their order. Without ``Page`` it
    is page 1.
    """

    name = "textract"
    title = "AWS Textract response (JSON)"
    looks_for = "Blocks with a BlockType"
    source = "Textract"

    def detect(self, head: bytes, name: str = "") -> bool:
        """Return whether the keys of a response are there."""
        start = head[:64].removeprefix(b"\xef\xbb\xbf").lstrip()
        other = b'"ExpenseDocuments"' in head or b'"IdentityDocuments"' in head
        return not other and b'"BlockType"' in head and (b'"Blocks"' in head or start.startswith(b"["))

    def fill(self, tree: object, file: OutputFile) -> None:
        """Add the pages, then the blocks that are layout."""
        file.in_shares()
        blocks = list(_blocks(tree, file))
        layout = any(block.BlockType.startswith(_LAYOUT) for _, block in blocks)
        for place, block in blocks:
            if block.BlockType == "PAGE":
                file.page(place, index=_number(block) - 1)
        first = min((_number(block) for _, block in blocks if block.BlockType == "PAGE"), default=limits.MAX_PAGE_INDEX)
        if related := [block for _, block in blocks if block.Relationships]:
            _nest(related, file)
        nested = bool(related)
        read = 0
        kinds = dict.fromkeys(block.BlockType for _, block in blocks)
        for place, block in blocks:
            if block.BlockType.startswith(_LAYOUT) if layout else block.BlockType in ("TABLE", "LINE"):
                read += 1
                _add(block, place, file, first, nested=nested)
        if not read and kinds.keys() - {"PAGE"}:
            rule = "a response must have LAYOUT, TABLE or LINE blocks (Textract)"
            fix = "Call AnalyzeDocument with the feature LAYOUT for regions."
            file.collector.error("$", rule, ", ".join(map(quote, kinds)), fix)
        elif read and not layout:
            rule = "a response should have LAYOUT blocks (Textract)"
            fix = "Its lines and tables are read; call AnalyzeDocument with the feature LAYOUT for regions."
            file.collector.warning("$", rule, "none", fix)


FORMAT: Final = Textract()


def _blocks(tree: object, file: OutputFile) -> Iterator[tuple[str, _Block]]:
    if isinstance(tree, list) and tree and isinstance(tree[0], dict) and "BlockType" in tree[0]:
        tree = {"Blocks": tree}
    top = "$"
    if isinstance(tree, dict) and "Blocks" not in tree:
        answers = {key: held for key, held in tree.items() if isinstance(held, dict | list) and _is_answer(held)}
        if len(answers) == 1:
            key, tree = answers.popitem()
            top = f"$.{key}"
    parts = [(f"{top}[{index}]", part) for index, part in enumerate(tree)] if isinstance(tree, list) else [(top, tree)]
    alone = len(parts) > 1 and all(_is_page_one(part) for _, part in parts)
    for at, (place, part) in enumerate(parts):
        if not isinstance(part, dict) or not isinstance(part.get("Blocks"), list):
            file.collector.error(place, "a response must have an array of Blocks (Textract)", excerpt(part), AGAIN)
            continue
        for where, block in file.structs(part, "Blocks", place, _Block):
            if alone:
                block.Page = at + 1
            yield where, block


def _nest(blocks: Sequence[_Block], file: OutputFile) -> None:
    """State which layout blocks lie in lists and other blocks, and which lines have all their words in a table."""
    parts: dict[object, list[object]] = {block.Id: block.children for block in blocks if isinstance(block.Id, str)}
    table_of = {
        word: block.Id
        for block in blocks
        if block.BlockType == "TABLE"
        for cell in block.children
        for word in parts.get(cell, ())
    }
    for block in blocks:
        if block.BlockType.startswith(_LAYOUT):
            for part in block.children:
                file.builder.nesting.put(part, inside=block.Id, group=False)
        elif block.BlockType == "LINE":
            tables = {table_of.get(word) for word in block.children}
            if len(tables) == 1 and None not in tables:
                file.builder.nesting.put(block.Id, inside=tables.pop(), group=False)


def _is_answer(value: object) -> bool:
    parts = value if isinstance(value, list) and value else [value]
    return all(isinstance(part, dict) and isinstance(part.get("Blocks"), list) for part in parts)


def _is_page_one(part: object) -> bool:
    """Return whether a response is to a single page: one PAGE block, which states no other number."""
    blocks = part.get("Blocks") if isinstance(part, dict) else None
    pages = [
        block.get("Page")
        for block in (blocks if isinstance(blocks, list) else ())
        if isinstance(block, dict) and block.get("BlockType") == "PAGE"
    ]
    return len(pages) == 1 and pages[0] in (None, 1)


def _number(block: _Block) -> int:
    return 1 if block.Page is None else block.Page


def _add(block: _Block, place: str, file: OutputFile, first: int, *, nested: bool) -> None:
    """Add the box of a block of a file whose first page is `first`; `nested`: it may lie in others, or hold them."""
    if block.Geometry is None:
        file.collector.error(place, "Geometry is required here (Textract)", "", "Add Geometry.")
        return
    number = _number(block)
    row = file.page_of(number - 1)
    if row is None and 0 < number < first:
        # A part of an asynchronous answer goes on with a page whose PAGE block is in the part before.
        row = file.page(place, index=number - 1)
    page = file.needed_page(number, place) if row is None else row
    if page is None:
        return
    box = block.Geometry.BoundingBox
    score = None if block.Confidence is None else block.Confidence / _PER_CENT
    corners = box.Left, box.Top, box.Left + box.Width, box.Top + box.Height
    item = block.Id if nested and isinstance(block.Id, str) else None
    file.builder.box(page, block.BlockType, corners, place, score=score, item=item)
