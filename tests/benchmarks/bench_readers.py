"""Memory and time of reading a file of 100 MB in each family of formats, as a multiple of its size.

    python -m tests.benchmarks.bench_readers [--bytes N] [--smoke] [FORMAT...]

Each file is made here from a fixed seed, and read in a process of its own, whose peak is taken above that of the same
process on a file of one page. It ends with 1 when a format takes more than 12 times the size of its file.
"""

from __future__ import annotations

import argparse
import io
import json
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

import numpy as np

MOST: Final = 12.0
_SIZE: Final = 1000
_PER_PAGE: Final = 20
_READ: Final = """
import re, sys, time
from evaluator import formats
start = time.process_time()
source = formats.read(sys.argv[1], side=sys.argv[2] or None)
# Not ru_maxrss, which a process has from the one that started it.
peak = int(re.search(r"VmHWM:\\s+(\\d+)", open("/proc/self/status").read())[1]) * 1024
print(len(source.boxes), time.process_time() - start, peak)
"""

Boxes = list[tuple[int, int, int, int]]


def pages(seed: int = 15) -> Iterator[Boxes]:
    """The boxes of one page after the other."""
    rng = np.random.default_rng(seed)
    while True:
        low = rng.integers(0, 800, (_PER_PAGE, 2))
        corners = np.hstack([low, low + rng.integers(5, 200, (_PER_PAGE, 2))])
        yield [tuple(row) for row in corners.tolist()]


def filled(size: int, head: str, page: Callable[[int, Boxes], str], between: str, tail: str) -> bytes:
    """A text of about so many bytes, a page after the other."""
    out = io.StringIO()
    out.write(head)
    for number, boxes in enumerate(pages()):
        out.write(between if number else "")
        out.write(page(number, boxes))
        if out.tell() >= size:
            break
    out.write(tail)
    return out.getvalue().encode()


def coco(size: int) -> bytes:
    """Instances with ids, areas and outlines."""
    items: list[str] = []

    def page(number: int, boxes: Boxes) -> str:
        for x1, y1, x2, y2 in boxes:
            box = [x1, y1, x2 - x1, y2 - y1]
            value = {"id": len(items) + 1, "image_id": number, "category_id": 1, "bbox": box,
                     "area": box[2] * box[3], "iscrowd": 0, "segmentation": [[x1, y1, x2, y1, x2, y2]]}  # fmt: skip
            items.append(json.dumps(value))
        return " " * sum(map(len, items[-len(boxes) :]))

    count = len(filled(size, "", page, "", "")) and len(items) // _PER_PAGE
    images = [{"id": at, "file_name": f"p{at}.png", "width": _SIZE, "height": _SIZE} for at in range(count)]
    head = json.dumps({"images": images, "categories": [{"id": 1, "name": "Text"}]})
    return f'{head[:-1]}, "annotations": [{", ".join(items)}]}}'.encode()


def snapshot(size: int) -> bytes:
    """Schema 1.3, predictions."""

    def page(number: int, boxes: Boxes) -> str:
        page_id = f"d{number}.pdf::p000"
        objects = [
            {"id": f"{page_id}:{at}", "label": "Text", "bbox": [value / _SIZE for value in box], "score": 0.5}
            for at, box in enumerate(boxes)
        ]
        return json.dumps({"page_id": page_id, "doc_id": f"d{number}.pdf", "page_index": 0, "objects": objects})

    body = filled(size, "", page, ", ", "").decode()
    count = body.count('"page_id"')
    documents = [{"doc_id": f"d{at}.pdf", "doc_name": f"d{at}.pdf", "doc_path": f"d{at}.pdf"} for at in range(count)]
    space = {"type": "normalized_xyxy", "range": [0.0, 1.0], "origin": "top_left"}
    info = {"schema_version": "1.3", "type": "prediction", "run_id": "r", "model": {"name": "m"},
            "coordinate_system": space}  # fmt: skip
    head = json.dumps({"label_map": {"1": "Text"}, "info": info, "documents": documents})
    return f'{head[:-1]}, "predictions": [{body}]}}'.encode()


def docling(size: int) -> bytes:
    """A DoclingDocument with the text of each item."""
    sizes: list[int] = []

    def page(number: int, boxes: Boxes) -> str:
        sizes.append(number + 1)
        items = [
            {"self_ref": f"#/texts/{at}", "children": [], "label": "text", "orig": "word " * 20, "text": "word " * 20,
             "prov": [{"page_no": number + 1, "charspan": [0, 9],
                       "bbox": {"l": x1, "t": y1, "r": x2, "b": y2, "coord_origin": "TOPLEFT"}}]}
            for at, (x1, y1, x2, y2) in enumerate(boxes)
        ]  # fmt: skip
        return json.dumps(items)[1:-1]

    body = filled(size, "", page, ", ", "").decode()
    sheets = {str(at): {"page_no": at, "size": {"width": _SIZE, "height": _SIZE}} for at in sizes}
    head = json.dumps({"schema_name": "DoclingDocument", "version": "1.0.0", "name": "d", "pages": sheets})
    return f'{head[:-1]}, "texts": [{body}]}}'.encode()


def cvat(size: int) -> bytes:
    """CVAT for images."""

    def page(number: int, boxes: Boxes) -> str:
        shapes = "".join(
            f'<box label="Text" xtl="{x1}" ytl="{y1}" xbr="{x2}" ybr="{y2}" occluded="0"/>\n'
            for x1, y1, x2, y2 in boxes
        )
        return f'<image id="{number}" name="p{number}.png" width="{_SIZE}" height="{_SIZE}">{shapes}</image>\n'

    return filled(size, "<annotations>", page, "", "</annotations>")


def table(size: int) -> bytes:
    """A CSV file."""

    def page(number: int, boxes: Boxes) -> str:
        return "".join(f"p{number}.png,Text,{x1},{y1},{x2},{y2},0.5\n" for x1, y1, x2, y2 in boxes)

    return filled(size, "document,label,x1,y1,x2,y2,score\n", page, "", "")


def archive(size: int) -> bytes:
    """A zip archive of ALTO files, by the size of what is in it."""
    out = io.BytesIO()
    total = 0
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as packed:
        for number, boxes in enumerate(pages()):
            blocks = "".join(
                f'<TextBlock ID="b{at}" HPOS="{x1}" VPOS="{y1}" WIDTH="{x2 - x1}" HEIGHT="{y2 - y1}">'
                f'<TextLine><String CONTENT="{"word " * 300}"/></TextLine></TextBlock>\n'
                for at, (x1, y1, x2, y2) in enumerate(boxes)
            )
            sheet = f'<Page WIDTH="1000" HEIGHT="1000"><PrintSpace>{blocks}</PrintSpace></Page>'
            text = f"<alto><Layout>{sheet}</Layout></alto>"
            packed.writestr(f"p{number}.xml", text)
            total += len(text)
            if total >= size:
                break
    return out.getvalue()


FAMILIES: Final[dict[str, tuple[Callable[[int], bytes], str, str]]] = {
    "coco": (coco, ".json", ""),
    "snapshot": (snapshot, ".json", ""),
    "docling": (docling, ".json", ""),
    "cvat": (cvat, ".xml", ""),
    "table": (table, ".csv", ""),
    "zip": (archive, ".zip", "ground_truth"),
}


def measured(path: Path, side: str) -> tuple[int, float, float]:
    """Boxes, CPU seconds and peak bytes of a process that reads a file."""
    ran = subprocess.run([sys.executable, "-c", _READ, str(path), side], capture_output=True, text=True, check=False)
    if ran.returncode:
        raise SystemExit(f"{path.name}: {ran.stderr.strip().splitlines()[-1][:300]}")
    count, seconds, peak = ran.stdout.split()
    return int(count), float(seconds), float(peak)


def main(arguments: list[str] | None = None) -> int:
    """Print a line for each family."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("formats", nargs="*", choices=[[], *FAMILIES])
    parser.add_argument("--bytes", type=int, default=100 * 2**20)
    parser.add_argument("--smoke", action="store_true", help="1 MB: only that it runs")
    options = parser.parse_args(arguments)
    wanted = 2**20 if options.smoke else options.bytes
    most = 0.0
    with tempfile.TemporaryDirectory() as place:
        for name in options.formats or FAMILIES:
            make, suffix, side = FAMILIES[name]
            path = Path(place) / f"{name}{suffix}"
            path.write_bytes(make(1))
            _, _, least = measured(path, side)
            path.write_bytes(make(wanted))
            count, seconds, peak = measured(path, side)
            times = (peak - least) / wanted
            most = max(most, times)
            print(f"{name}: {wanted / 2**20:.0f} MB, {count:,} boxes, {seconds:.1f} s, {times:.1f} times its size")
            path.unlink()
    return 1 if most > MOST and not options.smoke else 0


if __name__ == "__main__":
    sys.exit(main())
