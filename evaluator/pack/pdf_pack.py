"""The review pack as a PDF that prints well on A4, in the order of the HTML pack.

Owns the form; the writing itself is done by ``pdf.writer`` in a process of its own. Text from data goes through the
template's escapes only.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from PIL import Image

from evaluator.model.issues import plain
from evaluator.pack.blocks import Heatmap, Plot
from evaluator.pack.cards import Card
from evaluator.pack.chapters import Chapter, chapter_differences
from evaluator.pack.contents import Contents, key_rows, label_rows, page_layers
from evaluator.pack.html_pack import (
    PlacedBox,
    Progress,
    Written,
    boxes_on,
    changes_of,
    crop_of,
    environment,
    files_of,
    hand_of,
    ledger_of,
    lost_of,
    lost_on,
    marks_on,
    plan_of,
    plotted,
    reasons_of,
    scale_of,
    sides_of_cause,
    slices_of,
    told_cards,
    told_pages,
    without_picture,
)
from evaluator.pack.pictures import Picture, Pictures
from evaluator.pack.story import rule_lines
from evaluator.pack.writing import Writer
from evaluator.pdf.writer import Bar, Box, Cell, Curve, Drawing, Section, Tile
from evaluator.system.whole_file import write_whole

_FOLDER: Final = Path(__file__).parent
_JPEG_QUALITY: Final = 80
# Those of the HTML pack, by their number.
_CURVE_COLOURS: Final = ("#5B6675", "#1F5FA8", "#C75000", "#00796B", "#5E35B1", "#8A5A00")


def write_pdf(path: Path, contents: Contents, pictures: Pictures, *, progress: Progress) -> Written:
    """Write the pack as PDF; an older file stays until the new one is complete.

    Raises
    ------
    Cancelled
        When `progress` does.
    WritingProblem
        When the writing process fails or takes too long.
    OSError
    """
    plan = plan_of(contents, pictures)
    css = (_FOLDER / "print.css").read_text(encoding="utf-8")
    with Writer() as writer:
        scale = scale_of(contents)
        front = _part(
            "front",
            contents=contents,
            keys=key_rows(contents),
            scale=scale,
            rule=rule_lines(contents.decision) if contents.decision else (),
            reasons=reasons_of(contents),
            hand=hand_of(contents),
        )
        writer.send(_section(front, css, _bars(scale, "scale")))
        for cause in contents.causes[: plan.causes]:
            for tile in _cause(sides_of_cause(cause, contents, pictures), css):
                writer.send(tile)
        if contents.slices.words:
            writer.send(_section(_part("slices", contents=contents), css))
            for item in slices_of(contents, pictures, plan.slices):
                for side in item["sides"]:
                    text = _part("example", card=item["card"], side=side)
                    writer.send(_tile(side.picture, tuple(_placed(side.boxes)), text, css, (2, 4, 0.62)))
        for card in told_cards(contents, pictures, plan, progress):
            writer.send(_card(card, contents, pictures, css))
        if contents.own is not None:
            writer.send(_chapter(contents.own, css, whole=False))
        middle = _part("middle", contents=contents, ledger=ledger_of(contents), labels=label_rows(contents))
        if contents.models:
            writer.send(_section(middle, css))
        for page in told_pages(contents, pictures, plan, progress):
            writer.send(_page(page, contents, pictures, plan.width, css))
        for chapter in contents.chapters:
            writer.send(_chapter(chapter, css, whole=True))
        left_out = without_picture(contents, plan)
        method = _part("method", contents=contents, files=files_of(contents), left_out=left_out)
        writer.send(_section(method, css))
        content = writer.finish(plain(contents.title))
    return Written(write_whole(path, [content]), len(plan.pages), len(contents.pages) - len(plan.pages))


def _section(html: str, css: str, bars: Iterable[Bar] = (), drawings: Iterable[Drawing] = ()) -> Section:
    """Flowing text in the parts that stay together."""
    return Section(tuple(html.split("<!--part-->")), css, tuple(bars), tuple(drawings))


def _part(name: str, **values: Any) -> str:  # noqa: ANN401 - values of the template
    """A part of the print template; every value is escaped there."""
    return environment().get_template("print.html.j2").render(part=name, **values)


def _chapter(chapter: Chapter, css: str, *, whole: bool) -> Section:
    """A chapter with its bars and curves; its own numbers alone when it is not the whole one."""
    changes = changes_of(chapter_differences(chapter), chapter.names)
    html = _part("chapter", chapter=chapter, changes=changes, whole=whole)
    drawings = [
        _curves(f"plot{place}", block) if isinstance(block, Plot) else _cells(f"plot{place}", block)
        for place, block in enumerate(chapter.blocks)
        if isinstance(block, Plot | Heatmap)
    ]
    return _section(html, css, _bars(changes) if whole else (), drawings)


def _cells(element: str, block: Heatmap) -> Drawing:
    """A heatmap as the writer draws it: names on the left and above."""
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
    """A plot as the writer draws it, in shares of its own size."""
    drawn = plotted(block)
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
    """The interval of each difference, as shares of the chart's width."""
    for place, row in enumerate(changes["rows"]):
        middle, low, high = (
            None if row[name] is None else row[name] / changes["width"] for name in ("x", "low", "high")
        )
        yield Bar(f"{named}{place}", row["kind"], changes["zero"] / changes["width"], middle, low, high)


def _cause(compared: Mapping[str, Any], css: str) -> Iterator[Tile]:
    """A cause with the same part of its page for both models, side by side."""
    sides = compared["sides"]
    for place, side in enumerate(sides):
        text = _part("cause", cause=compared["cause"], side=side, first=place == 0, last=sides[-1].letter)
        placed = (*_placed(side.lost, "lost"), *_placed(side.boxes))
        yield _tile(side.picture, placed, text, css, (2, 4, 0.62))


def _placed(boxes: Iterable[PlacedBox], status: str = "") -> Iterator[Box]:
    """Boxes as the writer draws them."""
    return (Box(status or box.status, box.x, box.y, box.width, box.height) for box in boxes)


def _card(card: Card, contents: Contents, pictures: Pictures, css: str) -> Tile:
    """One finding."""
    picture = crop_of(card, contents, pictures)
    text = _part("card", card=card, problem="" if picture is None else picture.problem)
    lost = lost_of(card, contents, pictures, picture)
    placed = () if picture is None else (*_placed(lost, "lost"), *_placed(boxes_on(card.boxes, picture)))
    return _tile(picture, placed, text, css, (2, 3, 0.56))


def _page(page: int, contents: Contents, pictures: Pictures, width: int, css: str) -> Tile:
    """One page with the boxes of the last model."""
    _, name, index = contents.place(page)
    picture = pictures.page(name, index, width=width)
    shown = page_layers(contents, page, None)
    counts = [(model.letter, data.counts) for model, data in zip(contents.models, shown, strict=True)]
    boxes = [box for box in shown[-1].boxes if box.status != "truth"]
    title = f"{plain(name)}, page {index + 1}"
    model = contents.models[-1]
    lost = marks_on(lost_on(model, page, pictures.text(name, index)).lost, picture)
    text = _part("page", title=title, counts=counts, problem=picture.problem, shown=f"{model.letter} {model.name}")
    placed = (*_placed(lost, "lost"), *_placed(boxes_on(boxes, picture)))
    return _tile(picture, placed, text, css, (2, 2, 0.9))


def _tile(picture: Picture | None, placed: tuple[Box, ...], text: str, css: str, grid: tuple[int, int, float]) -> Tile:
    """A picture with its boxes and text below it; columns, rows and the share of the picture as `Tile` has them."""
    columns, rows, share = grid
    if picture is None:
        return Tile(columns, rows, None, 1.84, 0.04, (), text, css)
    return Tile(columns, rows, _jpeg(picture), picture.size[0] / picture.size[1], share, placed, text, css)


def _jpeg(picture: Picture) -> bytes | None:
    """The picture in a form that a PDF holds."""
    if picture.webp is None:
        return None
    with Image.open(io.BytesIO(picture.webp)) as image:
        written = io.BytesIO()
        image.convert("RGB").save(written, format="JPEG", quality=_JPEG_QUALITY)
        return written.getvalue()
