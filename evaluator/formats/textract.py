"""Responses of AWS Textract to boxes in shares of the page, origin top left; they state no page size."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Annotated, Final

import msgspec
import numpy as np
from msgspec import Meta

from evaluator.data.boxes import iou
from evaluator.data.cells import Cell
from evaluator.data.issues import quote
from evaluator.formats import limits
from evaluator.formats.build import Corners, Held
from evaluator.formats.json_text import excerpt
from evaluator.formats.model_output import AGAIN, ModelOutput, OutputFile, box_around
from evaluator.formats.nesting import MOST_ABOVE

_LAYOUT: Final = "LAYOUT_"
_PER_CENT: Final = 100.0
_NOT_IN_ORDER: Final = ("LAYOUT_HEADER", "LAYOUT_FOOTER", "LAYOUT_PAGE_NUMBER", "TABLE")
_HEADER: Final = "COLUMN_HEADER"
_Number = Annotated[int, Meta(ge=1, le=limits.MAX_PAGE_INDEX)]


class _Box(msgspec.Struct, gc=False):
    Width: float
    Height: float
    Left: float
    Top: float


class _Point(msgspec.Struct, gc=False):
    X: float
    Y: float


class _Geometry(msgspec.Struct, gc=False):
    BoundingBox: _Box
    Polygon: list[_Point] | None = None


class _Cell(msgspec.Struct, gc=False):
    """What a block says as a cell; rows and columns count from 1."""

    RowIndex: _Number
    ColumnIndex: _Number
    RowSpan: _Number | None = None
    ColumnSpan: _Number | None = None
    EntityTypes: list[str] | None = None


class _Relation(msgspec.Struct, gc=False):
    Type: str
    Ids: list[str]


class _Block(msgspec.Struct, gc=False):
    BlockType: str
    Geometry: _Geometry | None = None
    Page: int | None = None
    Confidence: float | None = None
    Id: object = None
    Relationships: list[_Relation] | None = None
    # Only looked at where items are read.
    Text: object = None
    RowIndex: object = None
    ColumnIndex: object = None
    RowSpan: object = None
    ColumnSpan: object = None
    EntityTypes: object = None

    @property
    def children(self) -> Iterable[str]:
        return self.related("CHILD")

    def related(self, kind: str) -> Iterable[str]:
        """Return the ids of other blocks, each once."""
        return dict.fromkeys(key for each in self.Relationships or () if each.Type == kind for key in each.Ids)

    @property
    def corners(self) -> Corners | None:
        if self.Geometry is None:
            return None
        box = self.Geometry.BoundingBox
        return box.Left, box.Top, box.Left + box.Width, box.Top + box.Height


class Textract(ModelOutput):
    """Responses of AnalyzeDocument, DetectDocumentText and their asynchronous twins.

    Amazon Textract, "Block" and "Layout response objects". ``LAYOUT_`` blocks are read alone, so that a table is not
    read twice; a response without is read by TABLE and LINE blocks, with a warning. The blocks of a list, and lines of
    which all words are in a table, are read at another `Reading.level`. Labels are block types, the score
    is ``Confidence`` / 100, boxes are ``Geometry.BoundingBox``. Items have the order of the layout blocks, the text of
    their lines and the cells of the TABLE that lies on them; a TABLE on none is an item of its own. Lists of responses
    or blocks, and responses under a name in an object, are read as one; responses that each have a page 1 are pages in
    their order. Without ``Page`` it is page 1.
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
        parts = _Parts(blocks, file) if file.reads_items else None
        tables = parts.tables() if parts else {}
        for place, block in blocks:
            whole = block.BlockType.startswith(_LAYOUT) or place in tables
            if whole if layout else block.BlockType in ("TABLE", "LINE"):
                read += 1
                held = parts.held(block, place, tables.get(place)) if parts else None
                _add(block, place, file, first, nested=nested, held=held)
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
    parts: dict[object, Iterable[str]] = {block.Id: block.children for block in blocks if isinstance(block.Id, str)}
    # By way of the cells, so that tables that share one do not each go through its words.
    table_of_cell = {cell: block.Id for block in blocks if block.BlockType == "TABLE" for cell in block.children}
    table_of = {word: table for cell, table in table_of_cell.items() for word in parts.get(cell, ())}
    for block in blocks:
        if block.BlockType.startswith(_LAYOUT):
            for part in block.children:
                file.builder.nesting.put(part, inside=block.Id, group=False)
        elif block.BlockType == "LINE" and isinstance(block.Id, str):
            tables = {table_of.get(word) for word in block.children}
            if len(tables) == 1 and None not in tables:
                file.builder.nesting.put(block.Id, inside=tables.pop(), group=False)


class _Parts:
    """The blocks of a file by id, and how often each was reached from another."""

    def __init__(self, blocks: Sequence[tuple[str, _Block]], file: OutputFile) -> None:
        self._blocks, self._file = blocks, file
        self._by_id = {block.Id: (place, block) for place, block in blocks if isinstance(block.Id, str)}
        self._reached = Counter[str]()

    def tables(self) -> dict[str, _Block]:
        """Return each TABLE by the place of its item: the LAYOUT_TABLE of the greatest IoU, else its own."""
        layouts: dict[int, list[tuple[str, Corners]]] = {}
        for place, block, box in self._boxed("LAYOUT_TABLE"):
            layouts.setdefault(_number(block), []).append((place, box))
        boxes = {page: np.array([box for _, box in held]) for page, held in layouts.items()}
        free = {page: np.ones(len(held)) for page, held in layouts.items()}
        tables: dict[str, _Block] = {}
        for own, table, box in self._boxed("TABLE"):
            place, page = own, _number(table)
            if page in layouts and (shared := iou(boxes[page], np.array(box)) * free[page]).any():
                best = int(shared.argmax())
                place, free[page][best] = layouts[page][best][0], 0.0
            tables[place] = table
        return tables

    def _boxed(self, kind: str) -> Iterator[tuple[str, _Block, Corners]]:
        for place, block in self._blocks:
            if block.BlockType == kind and block.corners is not None:
                yield place, block, block.corners

    def held(self, block: _Block, place: str, table: _Block | None) -> Held:
        order = None if block.BlockType in _NOT_IN_ORDER else (self._file.builder.boxes,)
        lines = self._texts(block, place, "LINE")
        return Held(order, "\n".join(lines) if lines else None, None if table is None else tuple(self._cells(table)))

    def _known(self, ids: Iterable[str]) -> Iterator[str]:
        """Yield the ids of blocks of the file; an error for one that has been reached too often."""
        for key in ids:
            if key in self._by_id:
                self._reached[key] += 1
                if self._reached[key] <= MOST_ABOVE:
                    yield key
                elif self._reached[key] == MOST_ABOVE + 1:
                    rule = f"a block must lie in at most {MOST_ABOVE} others, by way of others (Textract)"
                    self._file.collector.error(self._by_id[key][0], rule, "more", AGAIN)

    def _texts(self, block: _Block, place: str, kind: str) -> list[str]:
        """Return the texts of the blocks of a kind in one, or its own; what holds them is gone through once."""
        texts: list[str] = []
        seen: set[str] = set()
        waiting = [(place, block)]
        while waiting:
            where, part = waiting.pop()
            if part.BlockType == kind:
                if (text := self._file.text_of(part.Text, f"{where}.Text")) is not None:
                    texts.append(text)
            elif where not in seen:
                seen.add(where)
                waiting += [self._by_id[child] for child in self._known(part.children)][::-1]
        return texts

    def _cells(self, table: _Block) -> Iterator[Cell]:
        merged = {
            child: key for key in self._known(table.related("MERGED_CELL")) for child in self._by_id[key][1].children
        }
        wholes = {*merged.values()}
        for key in self._known(dict.fromkeys(merged.get(child, child) for child in table.children)):
            place, block = self._by_id[key]
            parts = [self._by_id[child][1] for child in block.children if child in self._by_id] if key in wholes else []
            stated = self._file.convert(msgspec.structs.asdict(block), _Cell, place)
            if stated is None:
                continue
            header = any(_HEADER in str(each.EntityTypes) for each in (block, *parts))
            text = " ".join(self._texts(block, place, "WORD"))
            spans = stated.RowSpan or 1, stated.ColumnSpan or 1
            yield Cell(stated.RowIndex - 1, stated.ColumnIndex - 1, *spans, header, text, block.corners)


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


def _add(block: _Block, place: str, file: OutputFile, first: int, *, nested: bool, held: Held | None = None) -> None:
    """Add the box of a block of a file whose first page is `first`; `nested`: it may lie in others, or hold them."""
    if block.corners is None:
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
    score = None if block.Confidence is None else block.Confidence / _PER_CENT
    item = block.Id if nested and isinstance(block.Id, str) else None
    if block.Geometry is not None and (polygon := block.Geometry.Polygon):
        again = box_around([(point.X, point.Y) for point in polygon])
        file.builder.check_again(place, "BoundingBox", block.corners, "Polygon", again)
    file.builder.box(page, block.BlockType, block.corners, place, score=score, item=item, held=held)
