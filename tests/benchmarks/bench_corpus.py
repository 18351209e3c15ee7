"""A corpus of many pages: made of two COCO files, and evaluated in place of them.

    python -m tests.benchmarks.bench_corpus [--pages N] [--smoke] [--json]

Every command is a process of its own, without the cache; its memory is that of all processes together. The numbers of
the corpus are those of the files; where a file is too large to be evaluated by itself they are not compared.
"""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from evaluator.formats.limits import MAX_FILE_BYTES
from tests.benchmarks.bench_coco import peak_mb
from tests.benchmarks.corpus import write_pair
from tests.benchmarks.measuring import parsed, parser_of, tell


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
