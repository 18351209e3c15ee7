"""How the work of the app's own process grows with one size of two small files, for `bench_attack`.

    python -m tests.benchmarks.growth SIZE NUMBER

Each size is doubled, in a process of its own, through what is done between the choice of two files and the first
number: check, evaluate of every protocol that takes them, the first look at the views, and a report. A step is a line:
its processor seconds, how much memory it took besides, and how it ended.
"""

import contextlib
import io
import json
import math
import os
import random
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

Row = dict[str, Any]
Pair = tuple[Path, Path]
Ring = Callable[[random.Random], list[list[float]]]
"""Makes the points of an outline."""
MOST_SLOPE: Final = 1.3
"""Of the seconds of the last doubling, as a power of the size: n log n is 1.1 for these sizes."""
MOST_SECONDS: Final = 20.0
MOST_MEGABYTES: Final = 400
# Below this a step is lost in what every process does, and its slope says nothing.
_SECONDS_THAT_COUNT: Final = 0.25
_LIMIT: Final = 150.0
_SIDE: Final = 1000.0
_BOXES: Final = ("snapshot", "coco", "pixel", "pod")
_ITEMS: Final = ("order", "text", "tables")


# --- two files of a size ---------------------------------------------------------------------------------------------


def _coco(folder: Path, truth: Sequence[Row], model: Sequence[Row], **more: Any) -> Pair:
    """Write two COCO files of items with the name of their image, a box, and perhaps a label and an outline."""
    paths = []
    for side, items in (("truth", truth), ("model", model)):
        images = {name: at for at, name in enumerate(dict.fromkeys(item["image"] for item in items), 1)}
        labels = {name: at for at, name in enumerate(dict.fromkeys(item.get("label", "text") for item in items), 1)}
        annotations = []
        for at, item in enumerate(items, 1):
            width, height = item["bbox"][2:]
            annotation = {
                "id": at, "image_id": images[item["image"]], "category_id": labels[item.get("label", "text")],
                "bbox": item["bbox"], "area": width * height, "iscrowd": 0,
            }  # fmt: skip
            annotation |= {"score": 0.5 + 0.4 * (at % 7) / 7} if side == "model" else {}
            annotation |= {"segmentation": item["outline"]} if "outline" in item else {}
            annotations.append(annotation)
        value = {
            "images": [{"id": at, "file_name": name, "width": _SIDE, "height": _SIDE} for name, at in images.items()],
            "annotations": annotations,
            "categories": [{"id": at, "name": name} for name, at in labels.items()],
            **more,
        }
        paths.append(folder / f"{side}.json")
        paths[-1].write_text(json.dumps(value))
    return paths[0], paths[1]


def _grid(count: int, *, shift: float = 0.0) -> list[list[float]]:
    """Return x, y, width, height of boxes that do not overlap."""
    across = math.ceil(math.sqrt(count))
    step = _SIDE / across
    return [[at % across * step + shift * step, at // across * step, 0.8 * step, 0.8 * step] for at in range(count)]


def _boxes_apart(folder: Path, count: int) -> Pair:
    truth, model = ([{"image": "a.png", "bbox": box} for box in _grid(count, shift=shift)] for shift in (0.0, 0.1))
    return _coco(folder, truth, model)


def _boxes_anywhere(folder: Path, count: int, side: float | None = None) -> Pair:
    """Boxes of any size up to a side; without one they are as dense whatever their number."""
    chance, most = random.Random(count), side or 3 * _SIDE / math.sqrt(count)

    def boxes() -> list[Row]:
        corners = [[chance.uniform(0, 900) for _ in range(2)] for _ in range(count)]
        return [
            {"image": "a.png", "bbox": [*each, chance.uniform(1, most), chance.uniform(1, most)]} for each in corners
        ]

    return _coco(folder, boxes(), boxes())


def _boxes_equal(folder: Path, count: int) -> Pair:
    items = [{"image": "a.png", "bbox": [10, 10, 900, 900]} for _ in range(count)]
    return _coco(folder, items, items)


def _pages_of_other_boxes(folder: Path, count: int) -> Pair:
    """Pages on which nothing fits: all that may have been done to each of them is tried."""
    chance = random.Random(count)
    truth, model = (
        [
            {"image": f"{page}.png", "bbox": [*(chance.uniform(0, 800) for _ in range(2)), chance.uniform(20, 190), 60]}
            for page in range(count)
            for _ in range(100)
        ]
        for _ in range(2)
    )
    return _coco(folder, truth, model)


def _outlined(folder: Path, rings: Ring, outlines: int, images: int) -> Pair:
    chance = random.Random(outlines)

    def items() -> list[Row]:
        made = []
        for at in range(outlines):
            ring = [round(number, 1) for point in rings(chance) for number in point]
            left, top = min(ring[::2]), min(ring[1::2])
            box = [left, top, max(ring[::2]) - left, max(ring[1::2]) - top]
            made.append({"image": f"{at % images}.png", "bbox": box, "outline": [ring]})
        return made

    return _coco(folder, items(), items())


def _around(points: int, low: float, high: float, middle: float = 500.0) -> Ring:
    """Return what makes outlines around a middle, between two distances from it."""

    def ring(chance: random.Random) -> list[list[float]]:
        off = chance.uniform(-5, 5)
        angles = [2 * math.pi * at / points for at in range(points)]
        far = [chance.uniform(low, high) for _ in range(points)]
        return [[middle + off + r * math.cos(a), middle + r * math.sin(a)] for a, r in zip(angles, far, strict=True)]

    return ring


def _anywhere(points: int) -> Ring:
    return lambda chance: [[chance.uniform(0, _SIDE), chance.uniform(0, _SIDE)] for _ in range(points)]


def _teeth(points: int) -> Ring:
    """Return what makes combs of upright or lying teeth in turns: each crosses all of the other's."""
    turns = iter(range(sys.maxsize))

    def ring(_chance: random.Random) -> list[list[float]]:
        lying, teeth = next(turns) % 2, points // 4
        step = _SIDE / teeth
        ends = [
            [[at * step, 20], [at * step, 990], [(at + 0.5) * step, 990], [(at + 0.5) * step, 20]]
            for at in range(teeth)
        ]
        comb = [*(end for tooth in ends for end in tooth), [_SIDE, 10], [0, 10]]
        return [point[::-1] for point in comb] if lying else comb

    return ring


def _two_sets(folder: Path, count: int) -> Pair:
    chance = random.Random(count)
    truth = [f"PMC{chance.randrange(10**7):07d}_{chance.randrange(100):05d}.jpg" for _ in range(count)]
    model = [f"{chance.getrandbits(128):032x}.png" for _ in range(count)]
    return _names(folder, truth, model)


def _names(folder: Path, truth: Sequence[str], model: Sequence[str]) -> Pair:
    return _coco(folder, *([{"image": name, "bbox": [50, 50, 200, 100]} for name in names] for names in (truth, model)))


def _mixed_names(folder: Path, count: int) -> Pair:
    chance = random.Random(count)

    def names() -> list[str]:
        return ["".join(chance.choices("abc01_-. /", k=chance.randint(3, 40))) + "x" for _ in range(count)]

    return _names(folder, list(dict.fromkeys(names())), list(dict.fromkeys(names())))


def _long_names(folder: Path, length: int) -> Pair:
    ends = ("a" * length, "1" * length + "x1", "1x" * (length // 2), ". " * (length // 2) + "x", "a.b" * (length // 3))
    truth = [f"{number}{end}" for number in range(4) for end in ends]
    return _names(folder, truth, [f"{name}-{number}" for number, name in enumerate(truth)])


def _all_lengths(folder: Path, count: int) -> Pair:
    return _names(folder, ["a" * (3 + at) for at in range(count)], ["b" + "a" * (3 + at) for at in range(count)])


def _labels(folder: Path, count: int) -> Pair:
    boxes = _grid(count)
    truth, model = (
        [{"image": f"{at % 10}.png", "bbox": box, "label": f"{word} {at}"} for at, box in enumerate(boxes)]
        for word in ("label", "class")
    )
    return _coco(folder, truth, model)


def _same_labels(folder: Path, count: int) -> Pair:
    truth, model = (
        [{"image": f"{at % 10}.png", "bbox": box, "label": f"label {at}"} for at, box in enumerate(_grid(count))]
        for _ in range(2)
    )
    return _coco(folder, truth, model[::-1])


def _documents(folder: Path, count: int) -> Pair:
    truth, model = (
        [{"image": f"document {at}.png", "bbox": [50 + shift, 50, 200, 100]} for at in range(count)]
        for shift in (0, 20)
    )
    return _coco(folder, truth, model)


def _depth(folder: Path, depth: int) -> Pair:
    items = [{"image": "a.png", "bbox": [50, 50, 200, 100]}]
    truth, model = _coco(folder, items, items, info={"x": "deep"})
    for path in (truth, model):
        path.write_text(path.read_text().replace('"deep"', "[" * depth + "]" * depth))
    return truth, model


def _items(folder: Path, make: Callable[[random.Random], list[Row]]) -> Pair:
    """Write two files with a page of items each."""
    chance = random.Random(1)
    paths = folder / "truth.jsonl", folder / "model.jsonl"
    for path in paths:
        page = {"document": "a.pdf", "page": 0, "width": _SIDE, "height": _SIDE, "items": make(chance)}
        path.write_text(json.dumps(page))
    return paths


def _words(chance: random.Random, length: int) -> str:
    return "".join(chance.choices("abcdefgh ", k=length))


def _without_boxes(folder: Path, count: int) -> Pair:
    return _items(
        folder, lambda chance: [{"box": None, "label": "text", "order": 0, "text": _words(chance, 30)}] * count
    )


def _long_text(folder: Path, length: int) -> Pair:
    box = [1, 1, 9, 9]
    return _items(folder, lambda chance: [{"box": box, "label": "text", "order": 0, "text": _words(chance, length)}])


def _table(folder: Path, cells: Callable[[random.Random], object], key: str) -> Pair:
    return _items(folder, lambda chance: [{"box": [1, 1, 9, 9], "label": "table", "order": 0, key: cells(chance)}])


def _long_table(folder: Path, rows: int) -> Pair:
    def cells(chance: random.Random) -> list[Row]:
        return [{"row": row, "col": column, "text": _words(chance, 5)} for row in range(rows) for column in range(3)]

    return _table(folder, cells, "cells")


def _wide_cell(folder: Path, span: int) -> Pair:
    return _table(folder, lambda _: [{"row": 0, "col": 0, "row_span": span, "col_span": span, "text": "a"}], "cells")


def _marks(folder: Path, count: int) -> Pair:
    return _table(folder, lambda _: "<fcel>a<nl>" * count, "html")


def _nested(folder: Path, count: int) -> Pair:
    """Write two results of Document Intelligence: a table of so many paragraphs, in as many figures."""

    def region(at: int) -> list[Row]:
        x, y = at % 100 * 5, at // 100 % 100 * 5
        return [{"pageNumber": 1, "polygon": [x, y, x + 4, y, x + 4, y + 4, x, y + 4]}]

    elements = [f"/paragraphs/{at}" for at in range(count)]
    result = {
        "apiVersion": "2024-11-30", "content": "",
        "pages": [{"pageNumber": 1, "width": 600, "height": 600, "unit": "pixel"}],
        "paragraphs": [{"content": "a", "boundingRegions": region(at)} for at in range(count)],
        "tables": [{"boundingRegions": region(0), "cells": [{"content": "", "elements": elements}]}],
        "figures": [{"boundingRegions": region(at), "elements": ["/tables/0"]} for at in range(count)],
    }  # fmt: skip
    paths = folder / "truth.json", folder / "model.json"
    for path in paths:
        path.write_text(json.dumps({"status": "succeeded", "analyzeResult": result}))
    return paths


SIZES: Final[dict[str, tuple[Callable[[Path, int], Pair], int, int]]] = {
    "boxes of a page, apart": (_boxes_apart, 1_000, 4),
    "boxes of a page, anywhere": (_boxes_anywhere, 1_000, 4),
    "boxes of a page, large": (lambda folder, count: _boxes_anywhere(folder, count, 100.0), 1_000, 4),
    "boxes of a page, equal": (_boxes_equal, 500, 4),
    "pages of other boxes": (_pages_of_other_boxes, 50, 4),
    "points of an outline, crossing": (lambda folder, count: _outlined(folder, _anywhere(count), 1, 1), 500, 6),
    "points of 20 outlines, star": (
        lambda folder, count: _outlined(folder, _around(count, 50, 450), 20, 1), 250, 5,
    ),
    "points of an outline, smooth": (lambda folder, count: _outlined(folder, _around(count, 400, 401), 1, 1), 5_000, 4),
    "points of an outline, combs": (lambda folder, count: _outlined(folder, _teeth(count), 2, 1), 200, 8),
    "outlines of a page, nested": (
        lambda folder, count: _outlined(folder, _around(24, 300, 305), count, 1), 100, 6,
    ),
    "outlines, crossing": (lambda folder, count: _outlined(folder, _anywhere(54), count, count), 250, 4),
    "names of two data sets": (_two_sets, 1_250, 4),
    "names of two data sets, mixed": (_mixed_names, 1_250, 4),
    "names, each of its own length": (_all_lengths, 200, 4),
    "characters of a name": (_long_names, 2_000, 5),
    "labels, other": (_labels, 500, 4),
    "labels, exchanged": (_same_labels, 500, 4),
    "documents": (_documents, 2_000, 4),
    "depth": (_depth, 16, 14),
    "items in a table in figures": (_nested, 500, 4),
    "items without boxes": (_without_boxes, 250, 4),
    "characters of a text": (_long_text, 12_500, 5),
    "rows of a table": (_long_table, 125, 5),
    "span of a cell": (_wide_cell, 10, 8),
    "marks of a table": (_marks, 10_000, 4),
}  # fmt: skip
"""The makers of the files, the smallest size, and how many sizes, each twice the one before."""


# --- the steps, in a process of their own -----------------------------------------------------------------------------


def _command(*words: str) -> str:
    """Return how a command ended: its exit code, and what it said first when it refused."""
    from evaluator import cli

    out, said = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(said):
        try:
            cli.main(list(words))
        except SystemExit as left:
            code = left.code or 0
    return f"{code} {said.getvalue()[:160] if code else ''}".strip()


def _view(name: str, pair: Pair) -> str:
    from tests import dashboard

    app = dashboard.start(getattr(dashboard, name), files=dashboard.workspace(pair[0], [pair[1]]))
    return " ".join([each.value for each in (*app.error, *app.warning)])[:160]


def _steps(pair: Pair, folder: Path, *, outlines: bool) -> Iterator[tuple[str, Callable[[], str]]]:
    sides = "--gt", str(pair[0]), "--pred", str(pair[1])
    yield "check", lambda: _command("check", str(pair[0]), str(pair[1]))
    of_items = pair[0].suffix == ".jsonl"
    for protocol in _ITEMS if of_items else _BOXES:
        yield f"evaluate {protocol}", lambda protocol=protocol: _command("evaluate", protocol, *sides)  # type: ignore[misc]
        if outlines and protocol != "pixel":
            yield (
                f"evaluate {protocol}, outlines",
                lambda protocol=protocol: _command("evaluate", protocol, *sides, "--polygons"),  # type: ignore[misc]
            )
    if of_items:
        return
    yield "suspects", lambda: _command("suspects", "snapshot", *sides)
    for view in ("OVERVIEW", "PAGE_BROWSER", "FILES", "SUSPECTS"):
        yield f"view {view.lower()}", lambda view=view: _view(view, pair)  # type: ignore[misc]
    yield "report", lambda: _command("report", *sides, "--out", str(folder / "pack.html"))


def _megabytes(what: str) -> int:
    line = re.search(rf"{what}:\s+([0-9]+)", Path("/proc/self/status").read_text(encoding="ascii"))
    return int(line[1]) // 1024 if line else 0


def work(size: str, number: int) -> None:
    """Print a line for each step at a size, JSON; the line of a step that does not end is missing."""
    os.environ["LAYOUTSCOPE_CACHE"] = "off"
    with tempfile.TemporaryDirectory() as place:
        # What is imported and made once is no work of a file.
        for name, count in (("documents", 3), (size, number)):
            folder = Path(place, "first" if count == 3 else "files")
            folder.mkdir()
            pair = SIZES[name][0](folder, count)
            for step, act in _steps(pair, folder, outlines="outline" in size):
                Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
                before, start = _megabytes("VmRSS"), time.process_time()
                ended = act()
                seconds, most = time.process_time() - start, _megabytes("VmHWM") - before
                row = {"step": step, "seconds": seconds, "mb": most, "ended": ended}
                if folder.name == "files":
                    print(json.dumps({**row, "kb": sum(path.stat().st_size for path in pair) // 2048}), flush=True)


def grown(size: str, numbers: Sequence[int], *, judged: bool) -> dict[str, Row]:
    """Return the seconds of each step at rising numbers, the slope of each doubling, and what did harm."""
    steps: dict[str, list[Row]] = {}
    report: dict[str, Row] = {}
    for number in numbers:
        words = [sys.executable, "-m", "tests.benchmarks.growth", size, str(number)]
        try:
            lines = subprocess.run(words, capture_output=True, text=True, check=True, timeout=_LIMIT).stdout
        except subprocess.TimeoutExpired as late:
            lines = (late.stdout or b"").decode()
            report[f"{size}: not done"] = {"number": number, "steps_done": len(lines.splitlines()), "harm": 1}
        for line in lines.splitlines():
            row = json.loads(line)
            steps.setdefault(row["step"], []).append(row)
        if report:
            break
    for step, rows in steps.items():
        seconds, most = [row["seconds"] for row in rows], max(row["mb"] for row in rows)
        slopes = [round(math.log2(last / before), 1) for before, last in pairwise(seconds)]
        steep = bool(slopes) and seconds[-1] > _SECONDS_THAT_COUNT and slopes[-1] > MOST_SLOPE
        report[f"{size}: {step}"] = {
            "numbers": [*numbers[: len(rows)]], "kb": [row["kb"] for row in rows],
            "seconds": [round(each, 2) for each in seconds], "slopes": slopes, "mb": most, "ended": rows[-1]["ended"],
            "harm": int(judged and (steep or max(seconds) > MOST_SECONDS or most > MOST_MEGABYTES)),
        }  # fmt: skip
    return report


if __name__ == "__main__":
    work(sys.argv[1], int(sys.argv[2]))
