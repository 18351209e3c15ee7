"""CPU seconds of reading order, texts and tables of 10,000 pages.

    python -m tests.benchmarks.bench_items [--pages 10000] [--tables 5000] [--smoke] [--json]

A page has twenty items of 200 characters in two columns. The model misses one in twenty-five, moves the borders of the
rest by up to 4 of 595 points and changes three characters in a hundred. Orders are exchanged among a tenth of the items
of a page, and, as hard data, among half. A table has 40 cells of ten characters, a tenth of them changed and some rows
lost. Files are read before; each number is the best of three runs.
"""

import json
import random
import tempfile
from pathlib import Path
from typing import Any

from evaluator.components.viewer.reading import READINGS
from evaluator.project import read_content
from tests.benchmarks.measuring import parsed, parser_of, tell, timed

BARS = {"order": 2.0, "text": 10.0}
LABELS = ("text", "text", "text", "title", "header", "footnote", "figure", "table")
LETTERS = "abcdefghijklmnopqrstuvwxyz "

Items = list[dict[str, Any]]


def changed(text: str, share: float, draw: random.Random) -> str:
    return "".join(draw.choice(LETTERS) if draw.random() < share else letter for letter in text)


def text_page(draw: random.Random, moved: float) -> tuple[Items, Items]:
    truth: Items = []
    for at in range(20):
        x, y = 20 + at // 10 * 280, 20 + at % 10 * 75
        text = "".join(draw.choices(LETTERS, k=200))
        truth.append({"box": [x, y, x + 260, y + 65], "label": draw.choice(LABELS), "order": at + 1, "text": text})
    predicted = [
        item | {"box": [side + draw.uniform(-4, 4) for side in item["box"]], "text": changed(item["text"], 0.03, draw)}
        for item in truth
        if draw.random() >= 0.04
    ]
    others = [item for item in predicted if draw.random() < moved]
    for item, order in zip(others, draw.sample([item["order"] for item in others], len(others)), strict=True):
        item["order"] = order
    return truth, predicted


def table_page(draw: random.Random, _moved: float) -> tuple[Items, Items]:
    rows = [["".join(draw.choices(LETTERS, k=10)) for _ in range(4)] for _ in range(10)]
    other = [[changed(cell, 0.1, draw) for cell in row] for row in rows if draw.random() >= 0.05]
    sides = []
    for side in (rows, other):
        body = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in side)
        sides.append([{"box": [20, 20, 500, 500], "label": "table", "html": f"<table>{body}</table>"}])
    return sides[0], sides[1]


def seconds(name: str, make: Any, pages: int, moved: float, folder: Path) -> float:
    """The CPU seconds of one protocol on made pages."""
    draw = random.Random(7)
    sides: tuple[list[str], list[str]] = ([], [])
    for page in range(pages):
        place = {"document": f"d{page // 20:04}", "page": page % 20, "width": 595, "height": 842}
        for side, items in zip(sides, make(draw, moved), strict=True):
            side.append(json.dumps(place | {"items": items}))
    protocol = READINGS[name]
    options = protocol.options()
    read = []
    for side, lines in zip(("ground_truth", "prediction"), sides, strict=True):
        path = folder / f"{side}.jsonl"
        path.write_text("\n".join(lines), encoding="utf-8")
        read.append(read_content(path, protocol.reading(side, options), "boxes"))
    runs = [timed(protocol.evaluate, read[0], [read[1]], options) for _ in range(3)]
    return min(run.cpu for run in runs)


def main() -> None:
    """Run the benchmark and print it."""
    given = parsed(parser_of(__doc__, pages=10_000, tables=5_000), pages=40, tables=20)
    works = [(name, text_page, given.pages, moved) for name in ("order", "text") for moved in (0.1, 0.5)]
    rows = []
    for name, make, pages, moved in [*works, ("tables", table_page, given.tables, 0.0)]:
        with tempfile.TemporaryDirectory() as folder:
            cpu = seconds(name, make, pages, moved, Path(folder))
        rows.append({"protocol": name, "pages": pages, "moved": moved, "cpu_seconds": cpu, "bar": BARS.get(name)})
    tell({"protocols": rows}, as_json=given.json)


if __name__ == "__main__":
    main()
