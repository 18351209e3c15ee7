"""Tables of boxes to columns: CSV and Parquet, one row for each box.

Owns the format `Table`, the known column names, and the reading of rows that `supervision` shares. A column is taken by
its name, whatever its letter case, or as `Reading.columns` states; what could mean two things is an issue.
"""

from __future__ import annotations

import codecs
import csv
import io
import math
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar, Final, NamedTuple, cast

from evaluator.data.dataset import Annotations, Side
from evaluator.data.issues import BadInput, Collector, quote
from evaluator.formats import image_folder, json_text, limits
from evaluator.formats.base import ANY_SIDE, BoxFormat, Reading
from evaluator.formats.build import Builder, Corners, Size
from evaluator.formats.json_text import excerpt
from evaluator.formats.model_output import document_of
from evaluator.system.progress import report as report_progress

Row = tuple[str, Sequence[object]]
"""Where a row is, in words, and its values."""
Rows = Callable[[Collector], Iterator[Row]]
"""The rows of a table from the first on, with issues for those that cannot be read."""

_CORNERS: Final = ("x1", "y1", "x2", "y2")
_SIDES: Final = ("x1", "y1", "w", "h")
_CENTRE: Final = ("cx", "cy", "w", "h")
_BOXES: Final[tuple[tuple[tuple[str, ...], tuple[str, ...]], ...]] = (
    (("x1", "y1", "x2", "y2"), _CORNERS),
    (("x0", "y0", "x1", "y1"), _CORNERS),
    (("xmin", "ymin", "xmax", "ymax"), _CORNERS),
    (("x_min", "y_min", "x_max", "y_max"), _CORNERS),
    (("bbox_x1", "bbox_y1", "bbox_x2", "bbox_y2"), _CORNERS),
    (("x_1", "y_1", "x_2", "y_2"), _CORNERS),
    (("xtl", "ytl", "xbr", "ybr"), _CORNERS),
    (("left", "top", "right", "bottom"), _CORNERS),
    (("left", "top", "width", "height"), _SIDES),
    (("x", "y", "w", "h"), _SIDES),
    (("x", "y", "width", "height"), _SIDES),
    (("cx", "cy", "w", "h"), _CENTRE),
    (("x_center", "y_center", "width", "height"), _CENTRE),
)
_KNOWN: Final[Mapping[str, tuple[str, ...]]] = {
    "document": (
        "document", "doc", "doc_id", "document_id", "doc_name", "file", "filename", "file_name", "image", "image_name",
        "image_path", "img", "img_path", "image_id", "imageid",
    ),
    "page": ("page",),
    "page_index": ("page_index", "page_idx"),
    "page_number": ("page_number", "page_no", "page_num"),
    "label": ("label", "class", "class_name", "category", "category_name", "cls", "type", "labelname", "label_name"),
    "score": ("score", "confidence", "conf", "prob", "probability"),
    "page_width": ("page_width", "image_width"),
    "page_height": ("page_height", "image_height"),
}  # fmt: skip
_TARGETS: Final = (*_KNOWN, "x1", "y1", "x2", "y2", "cx", "cy", "w", "h", "unit")
_UNITS: Final = ("pixels", "page")
_NAMES_OF_EDGES: Final = [
    pair for columns, targets in _BOXES for pair in zip(columns, targets, strict=True) if columns != targets
]
_PAGES: Final = ("page", "page_index", "page_number")
_SIZE: Final = ("page_width", "page_height")
_PARQUET: Final = b"PAR1"
_BATCH: Final = 4096
_FIELD_BYTES: Final = 1 << 17
_NAME = re.compile(r"[a-z_][\w.-]*\Z")
_COMMA = re.compile(r"\s*-?\d+,\d+\s*")
_IMAGE = re.compile(r"\.(png|jpe?g|tiff?|bmp|webp|gif)\Z", re.IGNORECASE)
EXAMPLE: Final = '--columns "document=file,page_number=p,label=cls,x1=left,y1=top,x2=right,y2=bottom"'


class Plan(NamedTuple):
    """Which column holds what: position by target, and the unit of the boxes when it was stated."""

    at: dict[str, int]
    unit: str | None


class Table(BoxFormat):
    """A table with a row for each box, whose columns have names of `_BOXES` and `_KNOWN`.

    A Parquet file may have a row for each image instead, with lists of boxes; see `image_folder`.

    A row with four empty coordinates is a page without boxes. ``page_index`` counts from 0, ``page_number`` from 1,
    ``page`` from 0 when it has a 0, else from 1, with a warning. Without them each document is one page; without a
    column of documents the file is the document. Boxes are pixels, or shares of the page with ``unit=page``.
    """

    name = "table"
    title = "Table of boxes (CSV, Parquet)"
    looks_for = "columns such as label, x1, y1, x2, y2"
    suffixes = (".csv", ".tsv", ".parquet")
    of_all_kinds = (".csv", ".tsv", ".parquet")
    source: ClassVar[str] = "table of boxes"

    def detect(self, head: bytes, name: str = "") -> bool:
        """Return whether a file is Parquet, or its first line has the names of a box."""
        if head.startswith(_PARQUET):
            # Of a large file the names are not in the head; its reader says what is missing.
            names = [name.lower() for name in _parquet_names(head)]
            return not names or bool(_boxes_in(names)) or _is_nested(head)
        header = _header_of(head)
        return len(header) >= 4 and not is_supervision(header) and bool(_boxes_in(header))

    def side_of(self, content: bytes, name: str = "") -> Side | None:
        """Return prediction for a table with a column of scores, else ground truth."""
        names = _parquet_names(content, keys=True) if content.startswith(_PARQUET) else _header_of(content)
        return "prediction" if any(name.lower() in _KNOWN["score"] for name in names) else "ground_truth"

    def read(self, content: bytes, name: str, reading: Reading = ANY_SIDE) -> Annotations:
        """Return the columns of a file, predictions with a column of scores; ``boxes.ids`` are lines, or rows."""
        if content.startswith(_PARQUET) and _is_nested(content):
            return image_folder.read_parquet(content, name, reading, format=self.name)
        collector = Collector(name, max_per_rule=reading.max_per_rule)
        if content.startswith(_PARQUET):
            header, rows = _parquet(content, collector)
        else:
            header, rows = text_rows(content, collector)
        given = parse_columns(reading.columns, collector)
        plan = plan_of(header, given, collector, source=self.source, rows=rows)
        side: Side = "prediction" if "score" in plan.at else "ground_truth"
        columns = columns_of(
            rows,
            plan,
            collector,
            reading,
            format=self.name,
            source=self.source,
            side=side,
            sha256=json_text.digest(content),
        )
        return replace(columns, columns=reading.columns)


FORMAT: Final = Table()


# --- which column is what ------------------------------------------------------------------------------------


def parse_columns(text: str, collector: Collector) -> dict[str, str]:
    """Return the columns that ``--columns`` names, by target; `BadInput` when it cannot be understood."""
    given: dict[str, str] = {}
    for part in filter(None, map(str.strip, text.split(","))):
        target, sign, column = map(str.strip, part.partition("="))
        if not sign or not column:
            collector.error("", "--columns must have the form target=column,target=column", quote(part), _write())
        elif target not in _TARGETS:
            rule = f"a target of --columns must be one of {', '.join(_TARGETS)}"
            collector.error("", rule, quote(target), _write())
        elif target in given:
            rule = "a target must occur once in --columns"
            collector.error("", rule, quote(part), f"Keep {target}={given[target]}, or this one.")
        else:
            given[target] = column
    if (unit := given.get("unit")) and unit not in _UNITS:
        collector.error("", "unit in --columns must be pixels or page", quote(unit), "Write unit=pixels or unit=page.")
    collector.raise_if_failed()
    return given


def plan_of(
    header: Sequence[str],
    given: Mapping[str, str],
    collector: Collector,
    *,
    source: str,
    unread: bool = True,
    rows: Rows = lambda _issues: iter(()),
) -> Plan:
    """Return which column holds what; raise `BadInput` for a target without a column or with several.

    `given`, columns by target, go before known names. `unread` warns of other columns. Columns "width" and "height"
    beside the corners of boxes are the size of the page where all boxes of the `rows` are in it.
    """
    error = collector.error
    columns = ", ".join(map(quote, header[:20]))
    for name in dict.fromkeys(name for name in header if header.count(name) > 1):
        error("line 1", f"a column must occur once ({source})", f"{quote(name)} twice", "Rename one of them.")
    at: dict[str, int] = {}
    for target, column in given.items():
        if target == "unit":
            continue
        if column in header:
            at[target] = header.index(column)
        else:
            fix = "Name a column of the table."
            error("", f"the column {quote(column)} of --columns must be in the table ({source})", columns, fix)
    free = {
        name.strip().lower(): index for index, name in reversed(list(enumerate(header))) if index not in at.values()
    }
    if not set(at) & {"x1", "y1", "x2", "y2", "cx", "cy", "w", "h"}:
        _guess_box(free, at, collector, source)
    for target, names in _KNOWN.items():
        spare = [name for name in names if name in free and free[name] not in at.values()]
        if target in at or (target in _PAGES and any(other in at for other in _PAGES)):
            continue
        if len(spare) > 1:
            what = " and ".join(map(quote, spare))
            error("", f"one column must be the {target} ({source})", what, f"Say which: --columns {target}={spare[0]}.")
        elif spare:
            at[target] = free[spare[0]]
    if not any(all(target in at for target in form) for form in (_CORNERS, _SIDES, _CENTRE)) and not collector.failed:
        error(
            "", f"columns must hold a box: x1, y1, x2, y2 or x1, y1, w, h or cx, cy, w, h ({source})", columns, _write()
        )
    if "label" not in at and not collector.failed:
        error("", f"a column must hold the label ({source})", columns, _write())
    sides = [free.get(name, -1) for name in ("width", "height")]
    if not {*_SIZE} & {*at} and min(sides) >= 0 and {*_CORNERS} <= {*at} and _hold_boxes(rows, at, sides):
        at |= dict(zip(_SIZE, sides, strict=True))
    if ("page_width" in at) != ("page_height" in at):
        error("", f"page_width and page_height must both be there ({source})", "only one", "Name both, or none.")
    collector.raise_if_failed()
    if unread and (others := [name for index, name in enumerate(header) if index not in at.values()]):
        rule, fix = f"columns should have a known name ({source})", "They are not read; --columns names what they hold."
        collector.warning("", rule, ", ".join(map(quote, others[:10])), fix)
    return Plan(at, given.get("unit"))


def _hold_boxes(rows: Rows, at: Mapping[str, int], sides: Sequence[int]) -> bool:
    """Return whether no box leaves the page whose width and height two columns would be; False without any box."""
    held = False
    for _, values in rows(Collector("", max_per_rule=0)):
        for edge, side in zip(("x2", "y2"), sides, strict=True):
            try:
                held = float(cast("Any", values[at[edge]])) <= float(cast("Any", values[side])) + 1.0
            except (TypeError, ValueError):
                continue  # a row without a box, or one that is reported when it is read
            if not held:
                return False
    return held


def _boxes_in(names: Iterable[str]) -> list[tuple[tuple[str, ...], tuple[str, ...]]]:
    there = set(names)
    return [(columns, targets) for columns, targets in _BOXES if there.issuperset(columns)]


def _guess_box(free: Mapping[str, int], at: dict[str, int], collector: Collector, source: str) -> None:
    boxes = _boxes_in(free)
    # Corners beside a width and a height are a box and the size of the image in well-known tables, and as often not.
    corners = [entry for entry in boxes if entry[1] == _CORNERS]
    boxes = corners or boxes
    if len(boxes) > 1:
        what = " and ".join(f"({', '.join(columns)})" for columns, _ in boxes)
        fix = f"Say which: {EXAMPLE}."
        collector.error("", f"one set of columns must be the box ({source})", what, fix)
    elif boxes:
        columns, targets = boxes[0]
        at.update({target: free[column] for column, target in zip(columns, targets, strict=True)})


def _write() -> str:
    return f"Write for example {EXAMPLE}."


# --- rows ----------------------------------------------------------------------------------------------------


def utf8_of(content: bytes, collector: Collector) -> bytes:
    """Return the bytes of a CSV file without byte order mark; `BadInput` if too large or not UTF-8."""
    if len(content) > limits.MAX_FILE_BYTES:
        rule = f"a file may have {limits.MAX_FILE_BYTES:,} bytes"
        collector.fail("", rule, f"{len(content):,}", "Split the file.")
    content = content.removeprefix(codecs.BOM_UTF8)
    try:
        # Only to see that it is text: the reader takes it line by line.
        content.decode()
    except UnicodeDecodeError as error:
        place, found = f"byte {error.start}", f"0x{content[error.start]:02X}"
        collector.fail(place, "the text must be UTF-8 (RFC 3629)", found, "Save the file as UTF-8.")
    return content


def text_rows(content: bytes, collector: Collector) -> tuple[list[str], Rows]:
    """Return header and rows of a CSV file; raise `BadInput` when it is too large, not UTF-8 or not CSV.

    The separator is the most frequent of comma, semicolon and tab in the header.
    """
    content = utf8_of(content, collector)
    first = content.partition(b"\n")[0]
    separator = max(",;\t", key=lambda sign: first.count(sign.encode()))

    def reader(of: io.BytesIO) -> Any:  # noqa: ANN401 - csv has no name for it
        text = io.TextIOWrapper(of, encoding="utf-8", newline="")
        return csv.reader(text, delimiter=separator, strict=True)

    def rows(issues: Collector) -> Iterator[Row]:
        of = io.BytesIO(content)
        for number, row in enumerate(_text_rows(reader(of), len(header), issues)):
            if number % _BATCH == 0:
                report_progress(of.tell(), len(content))
            yield row

    try:
        header = [name.strip() for name in next(reader(io.BytesIO(content)), [])]
    except csv.Error as error:
        collector.fail("line 1", "the text must be CSV (RFC 4180)", str(error), "Export the table again.")
    return header, rows


def _text_rows(reader: Any, width: int, collector: Collector) -> Iterator[Row]:  # noqa: ANN401 - csv has no name for it
    header = True
    while True:
        line = reader.line_num + 1
        try:
            values = next(reader, None)
        except csv.Error as error:
            collector.error(f"line {line}", "the text must be CSV (RFC 4180)", str(error), "Export the table again.")
            return
        if values is None:
            return
        if header or not values:
            header = False
        elif len(values) != width:
            rule = "a line must have a value for each column (RFC 4180)"
            what = f"{len(values)} where the first line has {width}"
            collector.error(f"line {line}", rule, what, "Export the table again; a line may be cut off.")
        else:
            yield f"line {line}", values


def _parquet(content: bytes, collector: Collector) -> tuple[list[str], Rows]:
    # Only here: it takes as long to load as all of the readers.
    from pyarrow import parquet  # type: ignore[import-untyped]

    def rows(issues: Collector) -> Iterator[Row]:
        number = 0
        with image_folder.readable_parquet(issues):
            for batch in parquet.ParquetFile(io.BytesIO(content)).iter_batches(batch_size=_BATCH):
                report_progress(number, count)
                for values in zip(*(column.to_pylist() for column in batch.columns), strict=True):
                    number += 1
                    yield f"row {number}", values

    with image_folder.readable_parquet(collector):
        file = parquet.ParquetFile(io.BytesIO(content))
        header, count = list(file.schema_arrow.names), file.metadata.num_rows
    if count > limits.MAX_BOXES:
        rule = f"a file may have {limits.MAX_BOXES:,} boxes"
        collector.fail("", rule, f"{count:,}", "Split the table.")
    return header, rows


def _is_nested(content: bytes) -> bool:
    import pyarrow as pa
    from pyarrow import parquet

    try:
        return image_folder.is_nested(parquet.read_schema(io.BytesIO(content)))
    except (pa.ArrowException, OSError, ValueError):
        return False


def _parquet_names(content: bytes, *, keys: bool = False) -> list[str]:
    """Return the names of the columns of a Parquet file, with `keys` of lists of boxes too; none if unreadable."""
    import pyarrow as pa
    from pyarrow import parquet

    try:
        schema = parquet.read_schema(io.BytesIO(content))
        return image_folder.leaves(schema) if keys and image_folder.is_nested(schema) else list(schema.names)
    except (pa.ArrowException, OSError, ValueError):
        return []


BOX_FORMS: Final[Mapping[str, tuple[str, ...]]] = {
    "Two corners": _CORNERS,
    "Corner, width and height": _SIDES,
    "Centre, width and height": _CENTRE,
}
"""The targets of a box by what they are called."""


def header_names(content: bytes, name: str) -> list[str]:
    """Return the names of the columns as they are written; none for what is no table."""
    if content.startswith(_PARQUET):
        return _parquet_names(content)
    try:
        return text_rows(content, Collector(name, max_per_rule=None))[0] if _header_of(content) else []
    except BadInput:
        return []


def guessed_column(target: str, header: Sequence[str]) -> str | None:
    """Return the column whose name is one of the target's; None for none."""
    names = (target, *_KNOWN.get(target, ()), *(old for old, new in _NAMES_OF_EDGES if new == target))
    return next((column for name in names for column in header if column.strip().lower() == name), None)


def columns_text(chosen: Mapping[str, str]) -> str:
    """Return which column holds what, as ``--columns`` has it."""
    return ",".join(f"{target}={column}" for target, column in chosen.items())


def looks_like_table(head: bytes) -> bool:
    """Return whether a file is Parquet, or begins with a line of four names or more."""
    return head.startswith(_PARQUET) or sum(bool(_NAME.match(name)) for name in _header_of(head)) >= 4


def _header_of(head: bytes) -> list[str]:
    line = head[:_FIELD_BYTES].removeprefix(b"\xef\xbb\xbf").partition(b"\n")[0].strip()
    if not line or line[:1] in b"{[<" or b"\0" in line:
        return []
    try:
        text = line.decode()
        names = next(csv.reader([text], delimiter=max(",;\t", key=text.count), strict=True), [])
    except (UnicodeDecodeError, csv.Error):
        return []
    return [name.strip().lower() for name in names]


def is_supervision(header: Sequence[str]) -> bool:
    """Return whether columns are those of the sinks of supervision."""
    return {"x_min", "y_min", "x_max", "y_max", "class_id", "confidence", "tracker_id"} <= set(header)


# --- values --------------------------------------------------------------------------------------------------


def columns_of(
    rows: Rows, plan: Plan, collector: Collector, reading: Reading, *, format: str, source: str, side: Side, sha256: str
) -> Annotations:
    """Return the columns of a table, each row as long as the plan's header; `BadInput` with all issues."""
    with json_text.garbage_collection_off():
        first = _first_page(rows, plan, collector, source)
        reader = _Boxes(plan, collector, first=first, format=format, source=source)
        for place, values in rows(collector):
            reader.take(place, values)
        reader.check_unit()
        return reader.builder.annotations(sha256, reading, side=side)


def _first_page(rows: Rows, plan: Plan, collector: Collector, source: str) -> int:
    """Return the number of the first page of a document; a column "page" is searched for a 0."""
    if "page_number" in plan.at:
        return 1
    if "page" not in plan.at:
        return 0
    column = plan.at["page"]
    from_zero = [str(values[column]).strip() in ("0", "0.0") for _, values in rows(Collector("", max_per_rule=0))]
    if any(from_zero) or not from_zero:
        return 0
    rule = f"it should be clear whether pages are counted from 0 or from 1 ({source})"
    what = 'a column "page" without a 0'
    collector.warning("", rule, what, "They are counted from 1; --columns page_index=... counts from 0.")
    return 1


class _Boxes:
    def __init__(self, plan: Plan, collector: Collector, *, first: int, format: str, source: str) -> None:
        self._at, self._unit, self._collector, self._source = plan.at, plan.unit, collector, source
        unit = "page" if plan.unit == "page" else "pixels"
        self.builder = Builder(collector, format=format, source=source, unit=cast("Any", unit))
        self._form = next(form for form in (_CORNERS, _SIDES, _CENTRE) if all(target in plan.at for target in form))
        self._pages: dict[tuple[str, int | None], tuple[int, Size | None, str]] = {}
        self._first = first
        self._largest = 0.0

    def take(self, place: str, values: Sequence[object]) -> None:
        given = [values[self._at[target]] for target in self._form]
        page = self._page(place, values)
        if page is None or all(_is_empty(value) for value in given):
            return
        numbers = [self._number(value, f"{place}, {target}") for target, value in zip(self._form, given, strict=True)]
        if any(map(math.isnan, numbers)):
            return
        score = math.nan
        if "score" in self._at and not _is_empty(values[self._at["score"]]):
            score = self._number(values[self._at["score"]], f"{place}, score")
        box = self._corners(numbers)
        self._largest = max(self._largest, *map(abs, box))
        # Every row of a file has a label of its own in memory, and there are few labels.
        label = sys.intern(_text(values[self._at["label"]]))
        self.builder.box(page, label, box, place, score=score)

    def check_unit(self) -> None:
        """Report boxes whose unit is not stated when all coordinates are between 0 and 1."""
        if self._unit is None and 0.0 < self._largest <= 1.0:
            rule = f"the unit of the boxes must be clear ({self._source})"
            fix = "Add unit=page to --columns for shares of the page, or unit=pixels."
            self._collector.error("", rule, "all coordinates between 0 and 1", fix)

    def _corners(self, numbers: Sequence[float]) -> Corners:
        a, b, c, d = numbers
        if self._form == _CORNERS:
            return a, b, c, d
        if self._form == _SIDES:
            return a, b, a + c, b + d
        return a - c / 2.0, b - d / 2.0, a + c / 2.0, b + d / 2.0

    def _page(self, place: str, values: Sequence[object]) -> int | None:
        index: int | None = None
        target = next((key for key in _PAGES if key in self._at), None)
        if target is not None:
            number = self._number(values[self._at[target]], f"{place}, {target}")
            if math.isnan(number):
                return None
            if number != int(number) or not self._first <= number <= limits.MAX_PAGE_INDEX:
                rule = f"a page must be a whole number, {self._first} or more ({self._source})"
                self._collector.error(f"{place}, {target}", rule, f"{number:.12g}", "Correct the number of the page.")
                return None
            index = int(number) - self._first
        name = _text(values[self._at["document"]]) if "document" in self._at else self._collector.file
        size = self._size(place, values)
        known = self._pages.get((name, index))
        if known is None:
            known = self._add_page(name, index, place, size), size, place
            self._pages[name, index] = known
        elif known[1] != size and not (size and any(map(math.isnan, size))):
            rule = f"the rows of a page must state one size ({self._source})"
            what = f"{_shown(size)}, and {_shown(known[1])} in {known[2]}"
            self._collector.error(place, rule, what, "Correct the size of the page.")
        return known[0]

    def _add_page(self, name: str, index: int | None, place: str, size: Size | None) -> int:
        if index is None and _IMAGE.search(name):
            return self.builder.image(name, place, size=size)
        if not name.strip():
            rule = f"a box must name its document ({self._source})"
            self._collector.error(place, rule, "", "Fill in the document.")
        return self.builder.page(document_of(name), place, index=index or 0, size=size, name=name, path=name)

    def _size(self, place: str, values: Sequence[object]) -> Size | None:
        if "page_width" not in self._at or all(_is_empty(values[self._at[key]]) for key in _SIZE):
            return None
        width, height = (self._number(values[self._at[key]], f"{place}, {key}") for key in _SIZE)
        return width, height

    def _number(self, value: object, place: str) -> float:
        try:
            number = float(cast("Any", value)) if not isinstance(value, bool) else math.nan
        except (TypeError, ValueError, OverflowError):
            number = math.nan
        if not math.isfinite(number):
            rule = f"{place.rsplit(', ', 1)[-1]} must be a finite number ({self._source})"
            found = excerpt(value) if not isinstance(value, float) else f"{value}"
            fix = "Write it with a point." if isinstance(value, str) and _COMMA.fullmatch(value) else "Correct the row."
            self._collector.error(place, rule, found if not _is_empty(value) else "nothing", fix)
            return math.nan
        return number


def _is_empty(value: object) -> bool:
    return value is None or (isinstance(value, str) and not value.strip())


def _text(value: object) -> str:
    if value is None:
        return ""
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def _shown(size: Size | None) -> str:
    return "no size" if size is None else f"{size[0]:g} x {size[1]:g}"
