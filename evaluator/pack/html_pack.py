"""The review pack as one HTML file: no server, no foreign host, opened from disk, printed on A4.

Text from data goes through the template's escapes only; a content security policy in the file allows only our script
and the images inside. Written page by page.
"""

from __future__ import annotations

import base64
import hashlib
import json
import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache, partial
from itertools import accumulate
from pathlib import Path
from typing import Any, Final, NamedTuple

import jinja2
import msgspec

from evaluator.compare import sentences
from evaluator.compare.differences import Difference
from evaluator.components.gallery.payload import CardItem
from evaluator.components.pack.payload import PackModelItem, PackPageItem, PackPagePayload
from evaluator.components.payload import LostText, ModelItem, ProblemItem, Rect
from evaluator.components.source import component_script, component_style
from evaluator.components.viewer.outlines import UNITS
from evaluator.components.viewer.page_overlay import DRAWN_BOXES
from evaluator.components.viewer.payload import BoxItem
from evaluator.components.viewer.text_lost import PageText, page_lost, sides_of
from evaluator.data.issues import count_of, isolated, plain
from evaluator.matching.page_rows import rows_on
from evaluator.pack import font
from evaluator.pack.blocks import Plot, printed
from evaluator.pack.chapters import FileRow, chapter_differences
from evaluator.pack.contents import Contents, key_rows, label_rows, page_layers, shown_differences
from evaluator.pack.diff import ELEMENT
from evaluator.pack.options import Model
from evaluator.pack.pictures import PAGE_WIDTHS, Picture, Pictures, fitting, page_width
from evaluator.pack.slice_cards import SliceCard
from evaluator.pack.story import Cause, documents_words, manual_work, rule_lines
from evaluator.review.decisions import STATUS_MARKS
from evaluator.review.finding_groups import VERDICT_MARKS
from evaluator.system.atomic_write import atomic_write
from evaluator.system.threads import runs_of

Progress = Callable[[int, int, str], None]
"""Called with what is done, of how much, and what comes next; it may raise to end the work."""
Drawn = tuple[Picture, PageText | None]
"""A picture of a page or of a part of it, and the words of the page."""

_FOLDER: Final = Path(__file__).parent
# Pictures are written as text: four letters for three bytes.
_AS_TEXT: Final = 4 / 3
# What a crop, the boxes of a page and everything else take: measured on the sample data, rounded up.
_CROP_BYTES: Final = 45_000
_LAYER_BYTES: Final = 16_000
_TEXT_BYTES: Final = 60_000
# Pages of one document that one worker draws, while the others draw the next ones.
_TOGETHER: Final = 6
_CHART_WIDTH: Final = 250.0
# Half of the widest number of the scale is outside of it.
_CHART_EDGE: Final = 20.0


class WrittenPack(NamedTuple):
    """What was written: bytes and shown pages; `sheets` are empty ones, for the reason `why`; `left_out` exceed the
    budget.
    """

    size: int
    pages: int
    left_out: int
    sheets: int = 0
    why: str = ""

    @property
    def shown(self) -> str:
        """Return how many pages are shown, and how many of them as empty sheets, in words."""
        pages = count_of(self.pages, "page")
        if not self.sheets:
            return pages
        return f"{pages}, {self.sheets:,} of them boxes on an empty sheet: {self.why}"


def written_pack(size: int, contents: Contents, plan: Plan, pictures: Pictures) -> WrittenPack:
    """Return what was written of a plan."""
    places = [contents.place(page)[1:] for page in plan.pages]
    left_out = len(contents.pages) - len(plan.pages)
    return WrittenPack(size, len(plan.pages), left_out, pictures.sheets(places), pictures.why_sheets(places))


def write_html(path: Path, contents: Contents, pictures: Pictures, *, progress: Progress) -> WrittenPack:
    """Write the pack; an older file stays until the new one is complete, also when `progress` raises."""
    plan = plan_of(contents, pictures)
    made = (piece.encode() for piece in pieces(contents, pictures, plan, progress))
    return written_pack(atomic_write(path, made), contents, plan, pictures)


class Plan(NamedTuple):
    """Which pages get a picture, how sharp, and how many causes and slices are shown with crops."""

    pages: tuple[int, ...]
    width: int
    causes: int
    slices: int


def plan_of(contents: Contents, pictures: Pictures) -> Plan:
    """Return what fits the budget: crops first, then pages as sharp as they may be."""
    fixed = len(font.css()) + len(component_script("pack")) + len(component_style("viewer")) + _TEXT_BYTES
    fixed += len(msgspec.json.encode(contents.record))
    left = int(contents.options.budget) - fixed
    causes = min(len(contents.causes), max(0, left // (2 * _CROP_BYTES)))
    left -= causes * _CROP_BYTES
    of_slices = [len(card.examples) * _CROP_BYTES for card in contents.slices.cards]
    slices = sum(total <= left // 2 for total in accumulate(of_slices))
    left -= sum(of_slices[:slices])
    per_page = _LAYER_BYTES * len(contents.models)
    places = [contents.place(page)[1:] for page in contents.pages]
    pages = len(places)
    # The pages that are looked at go into a pack of the sharpest ones as they are.
    width = page_width(pages, _for_pictures(left, pages, per_page), pictures.density(places, PAGE_WIDTHS[0]))
    if width == PAGE_WIDTHS[0]:
        return Plan(_first_needed(contents, pages), width, causes, slices)
    density = pictures.density(places, PAGE_WIDTHS[2])
    # As many pages as fit at the smallest width, then as sharp as those may be.
    while pages and fitting(pages, _for_pictures(left, pages, per_page), density) < pages:
        pages -= max(1, pages // 50)
    width = page_width(pages, _for_pictures(left, pages, per_page), density)
    return Plan(_first_needed(contents, pages), width, causes, slices)


def _for_pictures(left: float, pages: int, per_page: int) -> int:
    return int(max(0.0, left - pages * per_page) / _AS_TEXT)


def _first_needed(contents: Contents, count: int) -> tuple[int, ...]:
    """Return `count` pages in their order, those of decided causes before all others."""
    decided = {cause.example.page for cause in contents.causes if cause.decided}
    return tuple(sorted(sorted(contents.pages, key=lambda page: page not in decided)[:count]))


def with_pictures(contents: Contents, plan: Plan) -> set[int]:
    """Return the numbers of the causes that get crops: the decided ones first."""
    order = sorted(contents.causes, key=lambda cause: not cause.decided)
    return {cause.number for cause in order[: plan.causes]}


def pieces(contents: Contents, pictures: Pictures, plan: Plan, progress: Progress) -> Iterator[str]:
    """Yield the file in pieces, each made when the one before is written."""
    script = component_script("pack")
    draw_crops(contents, pictures, plan, progress)
    pages = (
        _page(page, place, contents, drawn, plan)
        for place, (page, drawn) in enumerate(pages_with_pictures(contents, pictures, plan, progress))
    )
    template = environment().get_template("pack.html.j2")
    yield from template.generate(
        contents=contents,
        policy=_policy(script),
        script=script,
        style=font.css() + component_style("pack"),
        viewer_style=component_style("viewer"),
        keys=key_rows(contents),
        scale=scale_of(contents),
        rule=rule_lines(contents.decision) if contents.decision else (),
        reasons=reasons_of(contents),
        hand=manual_work_of(contents),
        causes=causes_with_sides(contents, pictures, plan),
        positions={page: place for place, page in enumerate(plan.pages)},
        slices=slices_of(contents, pictures, plan.slices),
        changes=changes_of(shown_differences(contents), contents.names),
        labels=label_rows(contents),
        ledger=ledger_of(contents),
        pages=pages,
        page_count=len(plan.pages),
        left_out=without_picture(contents, plan),
        files=files_of(contents),
        record=_in_script(contents.record),
        record_element=ELEMENT,
        chapters=[(chapter, changes_of(chapter_differences(chapter), chapter.names)) for chapter in contents.chapters],
    )


def files_of(contents: Contents) -> list[FileRow]:
    """Return the files behind all numbers, each once; those of a further chapter with its title."""
    rows = list(contents.files)
    known = {(row.name, row.sha256) for row in rows}
    for chapter in contents.chapters:
        new = [row for row in chapter.files if (row.name, row.sha256) not in known]
        rows += [row._replace(role=f"{row.role}, {chapter.title}") for row in new]
    return rows


def draw_crops(contents: Contents, pictures: Pictures, plan: Plan, progress: Progress) -> None:
    """Draw the crops of causes and slices in all workers, those of a page together."""
    drawn: dict[int, list[Callable[[], object]]] = {}
    pictured = with_pictures(contents, plan)
    for cause in contents.causes:
        if cause.number in pictured:
            drawn.setdefault(cause.example.page, []).append(partial(_drawn_of_cause, cause, contents, pictures))
    for shown in contents.slices.cards[: plan.slices]:
        for example in shown.examples:
            page = _page_of_example(example, contents)
            if page is not None:
                drawn.setdefault(page, []).append(partial(_drawn_of_example, example, contents, pictures))

    def draw(page: int) -> None:
        for each in drawn[page]:
            each()

    runs = _of_documents(sorted(drawn), contents)
    for _ in pictures.ahead([(page, partial(draw, page)) for page in run] for run in runs):
        progress(0, len(plan.pages), "Parts of pages")


def _of_documents(pages: Iterable[int], contents: Contents) -> Iterator[Sequence[int]]:
    return runs_of(pages, lambda page: contents.place(page)[0], most=_TOGETHER)


def _drawn_of_cause(cause: Cause, contents: Contents, pictures: Pictures) -> Picture:
    _, name, index = contents.place(cause.example.page)
    places = zip(_boxes_of_cause(cause, contents), compared_with(cause, contents.models), strict=True)
    near = [box.xyxy for boxes, model in places for box in _own(boxes, _keys(cause, contents, model))]
    return pictures.crop(name, index, near)


def compared_with(cause: Cause, models: Sequence[Model]) -> tuple[Model, ...]:
    """Return the models that are shown beside each other: the compared ones, or the first and that of the example."""
    pair, own = tuple(models[:2]), models[cause.example.model]
    return pair if own in pair else (pair[0], own)


def _keys(cause: Cause, contents: Contents, model: Model) -> frozenset[str]:
    return cause.example.boxes[contents.models.index(model)].keys


def _boxes_of_cause(cause: Cause, contents: Contents) -> list[list[BoxItem]]:
    return [contents.boxes_beside(model, cause.example.page) for model in compared_with(cause, contents.models)]


def _own(boxes: Iterable[BoxItem], keys: frozenset[str]) -> list[BoxItem]:
    return [box for box in boxes if box.key in keys]


def _page_of_example(example: CardItem, contents: Contents) -> int | None:
    return None if contents.dataset is None else contents.dataset.page_row(example.document, example.index)


def _drawn_of_example(example: CardItem, contents: Contents, pictures: Pictures) -> Picture | None:
    page = _page_of_example(example, contents)
    if page is None:
        return None
    _, name, index = contents.place(page)
    return pictures.crop(name, index, [box.xyxy for box in example.boxes])


def _drawn_of_page(page: int, contents: Contents, pictures: Pictures, width: int) -> Drawn:
    _, name, index = contents.place(page)
    return pictures.page(name, index, width=width), pictures.text(name, index)


def pages_with_pictures(
    contents: Contents, pictures: Pictures, plan: Plan, progress: Progress
) -> Iterator[tuple[int, Drawn]]:
    """Yield the pages with their pictures, each reported before it is worked on and drawn ahead."""
    total = len(plan.pages)
    runs = _of_documents(plan.pages, contents)
    things = ([(page, partial(_drawn_of_page, page, contents, pictures, plan.width)) for page in run] for run in runs)
    for done, (page, drawn) in enumerate(pictures.ahead(things)):
        progress(done, total, f"Page {done + 1} of {len(plan.pages)}")
        yield page, drawn
    progress(total, total, "Writing the file")


def without_picture(contents: Contents, plan: Plan) -> int:
    """Return the number of pages with mistakes that get no picture or do not fit the budget."""
    return contents.left_out + len(contents.pages) - len(plan.pages)


def _policy(script: str) -> str:
    """Return what a browser may do with the file: run our script, show what is inside."""
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode("ascii")
    return (
        f"default-src 'none'; script-src 'sha256-{digest}'; style-src 'unsafe-inline'; img-src data:; font-src data:; "
        "base-uri 'none'; form-action 'none'"
    )


def _closed(text: str) -> str:
    """Return right-to-left text closed by a mark, as PDF writers know no isolates."""
    return text if isolated(text) == text else f"{text}\u200e"


@cache
def environment() -> jinja2.Environment:
    """Return the templates, with every value escaped and every missing one an error."""
    templates = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_FOLDER),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    templates.globals.update(marks=(VERDICT_MARKS, STATUS_MARKS))
    templates.filters.update(
        closed=_closed,
        ratio=printed,
        count=lambda value: f"{value:,}",
        count_of=count_of,
        plotted=plot_paths,
        share=lambda value: f"{100 * value:.4f}%",
        plain=plain,
    )
    return templates


class PlacedBox(NamedTuple):
    """A box on a picture; its place is in shares of the picture."""

    status: str
    label: str
    score: float | None
    x: float
    y: float
    width: float
    height: float
    outline: str | None = None
    """as in `BoxItem`"""
    part: Rect = (0.0, 0.0, 1.0, 1.0)
    """the part of the page that the picture shows"""
    faint: bool = False
    """drawn pale: beside what is shown"""

    @property
    def view(self) -> str:
        """Return the picture in the unit of the outline, as an SVG ``viewBox``."""
        x1, y1, x2, y2 = self.part
        return " ".join(f"{UNITS * share:.1f}" for share in (x1, y1, x2 - x1, y2 - y1))


def boxes_on(boxes: Iterable[BoxItem], picture: Picture) -> list[PlacedBox]:
    """Return boxes as shares of a picture: pale ones first, then large ones."""
    x1, y1, x2, y2 = picture.part
    across, down = x2 - x1, y2 - y1
    placed = []
    for box in boxes:
        left, top, right, bottom = box.xyxy
        size = (right - left) / across, (bottom - top) / down
        where = (left - x1) / across, (top - y1) / down, *size
        look = (box.outline, picture.part, box.faded)
        placed.append(PlacedBox(box.status, plain(box.label), box.score, *where, *look))
    return sorted(placed, key=lambda box: (not box.faint, -(box.width * box.height)))


def _page(page: int, position: int, contents: Contents, drawn: Drawn, plan: Plan) -> dict[str, Any]:
    document, name, index = contents.place(page)
    picture, text = drawn
    points = picture.points if picture.webp is not None else None
    shown = page_layers(contents, page, points)
    lost = [lost_text_on(model, page, text) for model in contents.models]
    payload = PackPagePayload(
        page=PackPageItem(
            document=document,
            name=plain(name),
            index=index,
            position=position + 1,
            total=len(plan.pages),
            width=picture.points[0],
            height=picture.points[1],
            image_width=picture.size[0],
            problem=ProblemItem(picture.problem, "", "") if picture.problem else None,
        ),
        models=[
            PackModelItem(model=ModelItem(model.letter, model.name), data=data, text=words)
            for model, data, words in zip(contents.models, shown, lost, strict=True)
        ],
    )
    return {
        "position": position,
        "anchor": f"page-{position + 1}",
        "title": f"{plain(name)}, page {index + 1}",
        "picture": picture,
        "counts": [
            (model.letter, data.counts, len(data.mistakes)) for model, data in zip(contents.models, shown, strict=True)
        ],
        "boxes": boxes_on([box for box in shown[-1].boxes if box.status != "truth"], picture),
        "lost": lost_word_boxes(lost[-1].lost, picture),
        "data": _in_script(payload),
    }


def _in_script(value: object) -> str:
    """Return plain values as ASCII JSON without markup characters, so that no element is closed by it."""
    text = json.dumps(msgspec.to_builtins(value), ensure_ascii=True, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def changes_of(differences: Sequence[Difference], names: Sequence[str]) -> dict[str, Any]:
    """Return the interval chart: a scale for all rows, and one row per difference."""
    if not differences:
        return {"rows": [], "ticks": [], "zero": 0.0}
    values: list[float] = [0.0]
    for one in differences:
        ends = (one.difference,) if one.too_few else (one.difference, one.low, one.high)
        values += [100 * end for end in ends if end is not None]
    low, high = min(values), max(values)
    steps = (1, 2, 5, 10, 20, 50, 100, 200)
    step = next((step for step in steps if (high - low) / step <= 4), math.ceil((high - low) / 4))
    start, stop = step * (low // step), step * -(-high // step)
    stop = stop if stop > start else start + step

    def at(points: float) -> float:
        return round(_CHART_EDGE + (_CHART_WIDTH - 2 * _CHART_EDGE) * (points - start) / (stop - start), 2)

    ticks = [start + step * place for place in range(round((stop - start) / step) + 1)]
    return {
        "width": _CHART_WIDTH,
        "rows": [_change(one, names, at) for one in differences],
        "ticks": [{"x": at(tick), "text": sentences.tick_text(tick)} for tick in ticks],
        "zero": at(0.0),
    }


def reasons_of(contents: Contents) -> str:
    """Return the summary without the answer and its reason, which the head of the pack shows."""
    if contents.decision is None:
        return contents.summary
    return contents.summary.removeprefix(f"{contents.decision.headline}. {contents.decision.sentence}").strip()


def scale_of(contents: Contents) -> dict[str, Any]:
    """Return the key numbers on one scale; rows with what each is called."""
    chart = changes_of([row.difference for row in contents.keys], contents.names)
    for row, key in zip(chart["rows"], contents.keys, strict=True):
        one = key.difference
        row |= {
            "name": key.name,
            "note": key.note,
            "a": one.a,
            "b": one.b,
            "moved": sentences.difference_points(one),
            "span": "too few documents" if one.too_few else sentences.interval_text(one, signed=True) or "n/a",
            "better": one.documents_better,
            "worse": one.documents_worse,
        }
    return chart


def manual_work_of(contents: Contents) -> dict[str, Any] | None:
    """Return the cost of correction with the first two models, and whether the documents are enough; None without."""
    made = contents.decision
    if made is None or made.cost is None:
        return None
    most = max(*made.cost, 1e-9)
    bars = [
        {"letter": letter, "boxes": boxes, "share": boxes / most}
        for letter, boxes in zip(contents.names, made.cost, strict=True)
    ]
    spent, saved = manual_work(made.cost, contents.options)
    return {"bars": bars, "spent": spent, "saved": saved, "documents": documents_words(made, contents.differences)}


class Side(NamedTuple):
    """What one model has on a part of a page: the picture and the boxes on it."""

    letter: str
    name: str
    picture: Picture
    boxes: list[PlacedBox]
    counts: str
    chips: Sequence[tuple[str, str]]


def causes_with_sides(contents: Contents, pictures: Pictures, plan: Plan) -> list[dict[str, Any]]:
    """Return all causes, those with crops with what each shown model has at the example."""
    pictured = with_pictures(contents, plan)
    return [
        {"cause": cause, "sides": sides_of_cause(cause, contents, pictures) if cause.number in pictured else []}
        for cause in contents.causes
    ]


def sides_of_cause(cause: Cause, contents: Contents, pictures: Pictures) -> list[Side]:
    """Return the example of a cause under each shown model: its own boxes strong, others pale."""
    picture = _drawn_of_cause(cause, contents, pictures)
    sides = []
    for model, boxes in zip(compared_with(cause, contents.models), _boxes_of_cause(cause, contents), strict=True):
        keys = _keys(cause, contents, model)
        shown = [box for box in boxes if _overlaps(box.xyxy, picture.part)]
        words = cause.example.boxes[contents.models.index(model)].words
        if len(shown) > DRAWN_BOXES:
            words += f" · {DRAWN_BOXES:,} of {count_of(len(shown), 'box')} drawn"
            shown = sorted(shown, key=lambda box: box.key not in keys)[:DRAWN_BOXES]
        shown = [box if box.key in keys else msgspec.structs.replace(box, faded=True) for box in shown]
        sides.append(Side(model.letter, model.name, picture, boxes_on(shown, picture), words, ()))
    return sides


def slices_of(contents: Contents, pictures: Pictures, pictured: int) -> list[dict[str, Any]]:
    """Return the slices of a pack, the first few with the crops of their examples."""
    return [
        {"card": card, "sides": _examples(card, contents, pictures) if place < pictured else []}
        for place, card in enumerate(contents.slices.cards)
    ]


def _examples(card: SliceCard, contents: Contents, pictures: Pictures) -> list[Side]:
    sides = []
    for example in card.examples:
        picture = _drawn_of_example(example, contents, pictures)
        if picture is None:
            continue
        boxes = boxes_on(
            (
                BoxItem(box.key, box.side, box.status, example.label, box.xyxy, outline=box.outline)
                for box in example.boxes
                if box.status != "truth"
            ),
            picture,
        )
        counts = Counter(box.status for box in boxes)
        chips = [(status, f"{count} {status} {example.label}") for status, count in counts.most_common(4)]
        sides.append(Side(card.letter, example.place, picture, boxes, "", chips))
    return sides


def lost_text_on(model: Model, page: int, text: PageText | None) -> LostText:
    """Return what the browser marks as lost on a page."""
    if text is None:
        return LostText()
    sides = sides_of(model.result, *rows_on(model.result, page, None))
    return page_lost(text, sides) if sides.placed else LostText()


def lost_word_boxes(rects: Iterable[Rect], picture: Picture) -> list[PlacedBox]:
    """Return words that are lost as shares of a picture."""
    return boxes_on([BoxItem("", "ground_truth", "truth", "", rect) for rect in rects], picture)


def _overlaps(box: Rect, part: Rect) -> bool:
    return box[0] < part[2] and box[2] > part[0] and box[1] < part[3] and box[3] > part[1]


_PLOT: Final = (340.0, 300.0)
_PLOT_EDGES: Final = (38.0, 18.0, 12.0, 40.0)
_COLOURS: Final = 6


def plot_paths(plot: Plot) -> dict[str, Any]:
    """Return a plot in places of a drawing: ticks, lines as paths, and the marked points."""
    left, top, right, bottom = _PLOT_EDGES
    across, down = _PLOT[0] - left - right, _PLOT[1] - top - bottom

    def at(x: float, y: float) -> tuple[float, float]:
        share = (x - plot.start) / (1.0 - plot.start) if plot.start < 1.0 else 0.0
        return round(left + across * share, 1), round(top + down * (1.0 - y), 1)

    ticks = []
    for step in range(6):
        x, y = plot.start + (1.0 - plot.start) * step / 5, step / 5
        place = at(x, y)
        ticks.append({"x": place[0], "y": place[1], "x_text": f"{x:.1f}", "y_text": f"{y:.1f}"})
    lines = [
        {
            "name": line.name,
            "colour": row % _COLOURS,
            "points": [at(*point) for point in line.points],
            "dot": None if line.now is None or math.isnan(sum(line.now)) else at(*line.now),
        }
        for row, line in enumerate(plot.lines)
        if line.points
    ]
    edges = {"left": left, "right": _PLOT[0] - right, "bottom": _PLOT[1] - bottom}
    return {"width": _PLOT[0], "height": _PLOT[1], "ticks": ticks, "lines": lines, **edges}


def _change(one: Difference, names: Sequence[str], at: Callable[[float], float]) -> dict[str, Any]:
    bar = one.low is not None and one.high is not None and not one.too_few
    return {
        "kind": one.kind,
        "starred": one.is_clear,
        "sentence": plain(sentences.sentence(one, names)),
        "x": None if one.difference is None else at(100 * one.difference),
        "low": at(100 * one.low) if bar and one.low is not None else None,
        "high": at(100 * one.high) if bar and one.high is not None else None,
    }


def ledger_of(contents: Contents) -> dict[str, Any] | None:
    """Return the ledger in all and by label; None with one model."""
    if contents.ledger is None:
        return None
    rows = [{"label": plain(label), **counts} for label, counts in contents.ledger.to_json().items()]
    return {"total": contents.ledger.total.rows()[0], "rows": rows}
