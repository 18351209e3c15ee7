"""A corpus of many pages: made of two COCO files, and evaluated in place of them.

    python -m tests.benchmarks.bench_corpus [--pages N] [--smoke] [--json]

Every command is a process of its own, without the cache; its memory is that of all processes together. The numbers of
the corpus are those of the files; where a file is too large to be evaluated by itself they are not compared.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from evaluator.data.boxes import FloatArray
from evaluator.data.dataset import Annotations
from evaluator.formats.limits import MAX_FILE_BYTES
from tests.benchmarks.bench_coco import peak_mb
from tests.benchmarks.corpus import DLN_LABELS, dln_like
from tests.benchmarks.measuring import parsed, parser_of, tell

# Pages that are made at a time; they are the same again and again.
_STEP = 20_000
_SIDE = 1025


def write_pair(folder: Path, pages: int) -> tuple[Path, Path]:
    """Write instances and results of so many pages, of 20 pages a document, piece by piece."""
    paths = folder / "truth.json", folder / "model.json"
    with paths[0].open("w") as truth, paths[1].open("w") as model:
        images = (
            {"id": page, "width": _SIDE, "height": _SIDE, "file_name": f"{page}.png", "doc": f"{page // 20:06d}.pdf"}
            for page in range(1, pages + 1)
        )
        categories = [{"id": at + 1, "name": label} for at, label in enumerate(DLN_LABELS)]
        truth.write('{"images": [' + ", ".join(map(json.dumps, images)) + "], ")
        truth.write(f'"categories": {json.dumps(categories)}, "annotations": [')
        model.write("[")
        written = 0
        for start in range(0, pages, _STEP):
            sides = dln_like(min(_STEP, pages - start))
            for file, source, scored in zip((truth, model), sides, (False, True), strict=True):
                rows = list(_items(source, start, written, scored=scored))
                file.write((", " if start else "") + ", ".join(map(json.dumps, rows)))
            written += len(sides[0].boxes)
        truth.write("]}")
        model.write("]")
    return paths


def _items(source: Annotations, start: int, written: int, *, scored: bool) -> Iterator[dict[str, Any]]:
    boxes = source.boxes
    xyxy: FloatArray = np.round(boxes.xyxy * _SIDE, 2)
    xywh = np.round(np.hstack([xyxy[:, :2], xyxy[:, 2:] - xyxy[:, :2]]), 2).tolist()
    columns = zip(boxes.entry.tolist(), boxes.label.tolist(), xywh, boxes.score.tolist(), strict=True)
    for row, (page, label, bbox, score) in enumerate(columns):
        item = {"image_id": start + page + 1, "category_id": label + 1, "bbox": bbox}
        more = {"score": round(score, 6)}
        if not scored:
            more = {"id": written + row + 1, "area": bbox[2] * bbox[3], "iscrowd": 0}
        yield {**item, **more}


def measured(*words: object) -> tuple[dict[str, float], str]:
    """Return seconds and most memory of a command, and what it writes."""
    command = [sys.executable, "-m", "evaluator.cli", *map(str, words)]
    environment = {**os.environ, "LAYOUTSCOPE_CACHE": "off"}
    before, begun = os.times(), time.perf_counter()
    with tempfile.TemporaryFile("w+") as out:
        process = subprocess.Popen(command, stdout=out, stderr=subprocess.DEVNULL, text=True, env=environment)
        most = peak_mb(process)
        wall, after = time.perf_counter() - begun, os.times()
        out.seek(0)
        said = out.read()
    if process.returncode:
        raise SystemExit(f"{' '.join(map(str, words[:2]))}: exit status {process.returncode}")
    cpu = after.children_user + after.children_system - before.children_user - before.children_system
    return {"cpu": cpu, "wall": wall, "peak_mb": most}, said


def main() -> None:
    """Print seconds and memory of each command; stops with a message when the numbers differ."""
    given = parsed(parser_of(__doc__, pages=20_000), pages=200)
    report: dict[str, Any] = {"pages": given.pages}
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        files = write_pair(folder, given.pages)
        report["file_mb"] = [path.stat().st_size / 1e6 for path in files]
        kept = folder / "kept"
        report["corpus"], _ = measured("corpus", "--gt", files[0], "--pred", files[1], "--out", kept)
        report["corpus_mb"] = sum(path.stat().st_size for path in kept.rglob("*.npy")) / 1e6
        small = max(path.stat().st_size for path in files) <= MAX_FILE_BYTES
        for protocol in ("snapshot", "coco"):
            words = "evaluate", protocol, "--page-ranges", "--csv"
            if protocol == "coco":
                words = "evaluate", protocol, "--csv"
            report[protocol], said = measured(*words, "--gt", kept, "--pred", kept)
            if small:
                report[f"{protocol}_of_files"], expected = measured(*words, "--gt", files[0], "--pred", files[1])
                if said.splitlines()[1:] != expected.splitlines()[1:]:
                    raise SystemExit(f"{protocol}: other numbers than those of the files")
    tell(report, as_json=given.json)


if __name__ == "__main__":
    main()
