"""The review pack as a PDF for A4, in the order of the HTML pack; ``pdf.writer`` writes it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from evaluator.components.viewer.outlines import path_rings
from evaluator.data.issues import plain
from evaluator.pack.blocks import Heatmap, Plot
from evaluator.pack.chapters import Chapter, chapter_differences
from evaluator.pack.contents import Contents, key_rows, label_rows, page_layers
from evaluator.pack.font import fonts
from evaluator.pack.html_pack import (
    Drawn,
    PlacedBox,
    Plan,
    Progress,
    Side,
    WrittenPack,
    boxes_on,
    causes_with_sides,
    changes_of,
    draw_crops,
    environment,
    files_of,
    ledger_of,
    lost_text_on,
    lost_word_boxes,
    manual_work_of,
    pages_with_pictures,
    plan_of,
    plot_paths,
    reasons_of,
    scale_of,
    slices_of,
    without_picture,
    written_pack,
)
from evaluator.pack.pictures import Picture, Pictures
from evaluator.pack.story import rule_lines
from evaluator.pack.writing import Writer
from evaluator.pdf.writer import Bar, Box, Cell, Curve, Drawing, Pane, Row, Rows, Section
from evaluator.system.atomic_write import atomic_write

_FOLDER: Final = Path(__file__).parent
_PAGE_HEIGHT: Final = 288.0
_MESSAGE_BYTES: Final = 4 * 2**20
_LEGEND: Final = (
    ("TP", "matched (TP)"),
    ("FP", "extra (FP)"),
    ("FN", "missed (FN)"),
)
_PAGES_LEGEND: Final = (*_LEGEND, ("lost", "text lost"))
# Those of the HTML pack, by their number.
_CURVE_COLOURS: Final = ("#5B6675", "#1F5FA8", "#C75000", "#00796B", "#5E35B1", "#8A5A00")


def write_pdf(path: Path, contents: Contents, pictures: Pictures, *, progress: Progress) -> WrittenPack:
    """Write the pack as PDF; an older file stays until the new one is complete, also if `progress` raises.

    WritingProblem when the writing process fails or takes too long; OSError.
    """
    pictures = pictures.encoded("jpeg")
    plan = plan_of(contents, pictures)
    css = (_FOLDER / "print.css").read_text(encoding="utf-8")
    with Writer() as writer:
        writer.send(fonts())
        for message in _messages(contents, pictures, plan, css, progress):
            writer.send(message)
        content = writer.finish(plain(contents.title))
    return written_pack(atomic_write(path, [content]), contents, plan, pictures)


def _messages(
    contents: Contents, pictures: Pictures, plan: Plan, css: str, progress: Progress
) -> Iterator[Section | Rows]:
    scale = scale_of(contents)
    front = _part(
        "front",
        contents=contents,
        rule=rule_lines(contents.decision) if contents.decision else (),
        reasons=reasons_of(contents),
    )
    yield _section(front, css)
    draw_crops(contents, pictures, plan, progress)
    yield from _rows(_causes(contents, pictures, plan), css)
    yield _section(
        _part("numbers", contents=contents, keys=key_rows(contents), scale=scale, hand=manual_work_of(contents)),
        css,
        _bars(scale, "scale"),
    )
    if contents.slices.words:
        yield from _rows(_slices(contents, pictures, plan), css)
    if contents.findings is not None:
        yield _section(_part("findings", findings=contents.findings), css)
    if contents.own is not None:
        yield _chapter(contents.own, css, whole=False)
    if contents.models:
        middle = _part("middle", contents=contents, ledger=ledger_of(contents), labels=label_rows(contents))
        yield _section(middle, css)
        yield from _rows(_pages(contents, pictures, plan, progress), css)
    for chapter in contents.chapters:
        yield _chapter(chapter, css, whole=True)
    left_out = without_picture(contents, plan)
    yield _section(_part("method", contents=contents, files=files_of(contents), left_out=left_out), css)


def _rows(rows: Iterable[Row], css: str) -> Iterator[Rows]:
    some: list[Row] = []
    size = 0
    for row in rows:
        some.append(row)
        size += sum(len(pane.picture or b"") for pane in row.panes) + len(row.html)
        if size > _MESSAGE_BYTES:
            yield Rows(tuple(some), css)
            some, size = [], 0
    if some:
        yield Rows(tuple(some), css)


def _section(html: str, css: str, bars: Iterable[Bar] = (), drawings: Iterable[Drawing] = ()) -> Section:
    return Section(tuple(html.split("<!--part-->")), css, tuple(bars), tuple(drawings))


def _part(name: str, **values: Any) -> str:  # noqa: ANN401 - values of the template
    """Return a part of the print template; every value is escaped there."""
    return environment().get_template("print.html.j2").render(part=name, **values)


def _chapter(chapter: Chapter, css: str, *, whole: bool) -> Section:
    """Return a chapter with its bars and curves; its own numbers alone when it is not the `whole` one."""
    changes = changes_of(chapter_differences(chapter), chapter.names)
    html = _part("chapter", chapter=chapter, changes=changes, whole=whole)
    drawings = [
        _curves(f"plot{place}", block) if isinstance(block, Plot) else _cells(f"plot{place}", block)
        for place, block in enumerate(chapter.blocks)
        if isinstance(block, Plot | Heatmap)
    ]
    return _section(html, css, _bars(changes) if whole else (), drawings)


def _cells(element: str, block: Heatmap) -> Drawing:
    """Return a heatmap as the writer draws it: names on the left and above."""
    size = len(block.classes)
    left, head, height = 0.16, 24.0 / (15 * size + 24), 15.0 / (15 * size + 24)
    across = (1.0 - left) / size

    def place(row: int, column: int) -> tuple[float, float, float, float]:
        x, y = left + column * across, head + row * height
        return x, y, x + 0.97 * across, y + 0.94 * height

    cells = [
        Cell(place(row, column), cell.fill, cell.ink, cell.text)
        for row, line in enumerate(block.cells)
        for column, cell in enumerate(line)
    ]
    # A name may take its column and a half, on two levels by turns.
    most = max(4, int(across * 515 / 3.6 * 1.8))
    texts = [(0.0, head + (row + 0.65) * height, plain(name)[:20]) for row, name in enumerate(block.classes)]
    texts += [
        (left + column * across, head * (0.85 if column % 2 else 0.45), plain(name)[:most])
        for column, name in enumerate(block.classes)
    ]
    return Drawing(element, cells=tuple(cells), texts=tuple(texts))


def _curves(element: str, block: Plot) -> Drawing:
    drawn = plot_paths(block)
    across, down = drawn["width"], drawn["height"]

    def share(point: tuple[float, float]) -> tuple[float, float]:
        return point[0] / across, point[1] / down

    texts = [(drawn["left"] / across, 0.03, block.y), (0.86, 0.99, block.x)]
    for tick in drawn["ticks"]:
        texts += [(0.03, tick["y"] / down + 0.015, tick["y_text"])]
        texts += [(tick["x"] / across - 0.02, drawn["bottom"] / down + 0.06, tick["x_text"])]
    curves = (
        Curve(_CURVE_COLOURS[line["colour"]], tuple(map(share, line["points"])), line["dot"] and share(line["dot"]))
        for line in drawn["lines"]
    )
    frame = (drawn["left"] / across, drawn["ticks"][-1]["y"] / down, drawn["right"] / across, drawn["bottom"] / down)
    return Drawing(element, frame, tuple(curves), texts=tuple(texts))


def _bars(changes: Mapping[str, Any], named: str = "bar") -> Iterator[Bar]:
    for place, row in enumerate(changes["rows"]):
        middle, low, high = (
            None if row[name] is None else row[name] / changes["width"] for name in ("x", "low", "high")
        )
        yield Bar(f"{named}{place}", row["kind"], changes["zero"] / changes["width"], middle, low, high)


def _causes(contents: Contents, pictures: Pictures, plan: Plan) -> Iterator[Row]:
    """Yield the decided causes, and then all; no row is on two pages, and a heading is on that of its first row."""
    items = causes_with_sides(contents, pictures, plan)
    decided = [item for item in items if item["cause"].decided]
    for name, rows in (("decisions", decided), ("causes", items)):
        heading = _part(name, contents=contents)
        if not rows and contents.models:
            yield Row(heading)
        for place, item in enumerate(rows):
            panes = [_words(_part("cause", item=item, contents=contents))]
            panes += _panes(item["sides"], "letter") or [_words("")] * len(contents.models[:2])
            parts = ("verdict", "effect") if name == "decisions" else ("what", "change")
            values = {"contents": contents, "cause": item["cause"], "row": item["cause"].row}
            panes += [_words(_part(each, **values)) for each in parts]
            widths = (1.25, *[1.15] * len(contents.models[:2]), 1.25, 1.0)
            head, legend = ("", ()) if place else (heading, _LEGEND)
            yield Row(head, tuple(panes), height=90.0, legend=legend, widths=widths)


def _words(html: str) -> Pane:
    return Pane(None, 0.0, (), html or "<p></p>")


def _slices(contents: Contents, pictures: Pictures, plan: Plan) -> Iterator[Row]:
    yield Row(_part("slices", contents=contents))
    for item in slices_of(contents, pictures, plan.slices):
        yield Row(_part("slice", card=item["card"]), _panes(item["sides"]), 2, 170.0)


def _pages(contents: Contents, pictures: Pictures, plan: Plan, progress: Progress) -> Iterator[Row]:
    panes: list[Pane] = []
    heading = _part("pages", contents=contents)
    for page, drawn in pages_with_pictures(contents, pictures, plan, progress):
        panes.append(_page(page, contents, drawn))
        if len(panes) == 2:
            yield Row(heading, tuple(panes), 2, _PAGE_HEIGHT, _PAGES_LEGEND if heading else ())
            heading, panes = "", []
    if panes:
        yield Row(heading, tuple(panes), 2, _PAGE_HEIGHT, _PAGES_LEGEND if heading else ())


def _panes(sides: Iterable[Side], part: str = "side") -> tuple[Pane, ...]:
    return tuple(_pane(side.picture, tuple(_placed(side.boxes)), _part(part, side=side)) for side in sides)


def _placed(boxes: Iterable[PlacedBox], status: str = "") -> Iterator[Box]:
    for box in boxes:
        rings = path_rings(box.outline, box.part) if box.outline else ()
        yield Box(status or box.status, box.x, box.y, box.width, box.height, box.faint, rings)


def _page(page: int, contents: Contents, drawn: Drawn) -> Pane:
    _, name, index = contents.place(page)
    picture, words = drawn
    shown = page_layers(contents, page, None)
    counts = [(model.letter, data.counts) for model, data in zip(contents.models, shown, strict=True)]
    boxes = [box for box in shown[-1].boxes if box.status != "truth"]
    title = f"{plain(name)}, page {index + 1}"
    model = contents.models[-1]
    lost = lost_word_boxes(lost_text_on(model, page, words).lost, picture)
    text = _part("page", title=title, counts=counts, problem=picture.problem, shown=f"{model.letter} {model.name}")
    return _pane(picture, (*_placed(lost, "lost"), *_placed(boxes_on(boxes, picture))), text)


def _pane(picture: Picture, placed: tuple[Box, ...], text: str) -> Pane:
    return Pane(picture.jpeg, picture.size[0] / picture.size[1], placed, text)
