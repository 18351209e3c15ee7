"""Memory and time of reading a file of 100 MB in each family of formats, as a multiple of its size.

    python -m tests.benchmarks.bench_readers [--bytes N] [--formats NAME,...] [--smoke] [--json]

Each file is made here from a fixed seed, and read in a process of its own, whose peak is taken above that of the same
process on a file of one page. It ends with 1 when a format takes more than 12 times the size of its file.
"""

import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, Final

from tests.benchmarks.measuring import parsed, parser_of, tell
from tests.format_files import FAMILIES

MOST: Final = 12.0
_READ: Final = """
import re, sys, time
from evaluator import formats
start = time.process_time()
source = formats.read(sys.argv[1], side=sys.argv[2] or None)
# Not ru_maxrss, which a process has from the one that started it.
peak = int(re.search(r"VmHWM:\\s+(\\d+)", open("/proc/self/status").read())[1]) * 1024
print(len(source.boxes), time.process_time() - start, peak)
"""


def measured(name: str, size: int) -> tuple[int, float, float]:
    """Boxes, CPU seconds and peak bytes of a process that reads a file, or a folder of files."""
    family = FAMILIES[name]
    content = family.make(size)
    with tempfile.TemporaryDirectory() as place:
        path = Path(place) / f"{name}{family.suffix}"
        if isinstance(content, bytes):
            path.write_bytes(content)
        else:
            path.mkdir()
            for file, held in content.items():
                (path / file).write_bytes(held)
        command = [sys.executable, "-c", _READ, str(path), family.side]
        ran = subprocess.run(command, capture_output=True, text=True, check=False)
    if ran.returncode:
        raise SystemExit(f"{name}: {ran.stderr.strip().splitlines()[-1][:300]}")
    count, seconds, peak = ran.stdout.split()
    return int(count), float(seconds), float(peak)


def main() -> int:
    """Print a line for each family."""
    given = parsed(parser_of(__doc__, bytes=100 * 2**20, formats=",".join(FAMILIES)), bytes=2**20)
    report: dict[str, Any] = {}
    for name in given.formats.split(","):
        _, _, least = measured(name, 1)
        count, seconds, peak = measured(name, given.bytes)
        report[name] = {"boxes": count, "seconds": seconds, "times_its_size": (peak - least) / given.bytes}
    tell(report, as_json=given.json)
    return int(not given.smoke and any(row["times_its_size"] > MOST for row in report.values()))


if __name__ == "__main__":
    sys.exit(main())
