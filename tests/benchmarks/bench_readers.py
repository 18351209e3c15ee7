"""Memory and time of reading a file of 100 MB in each family of formats, as a multiple of its size.

    python -m tests.benchmarks.bench_readers [--bytes N] [--smoke] [FORMAT...]

Each file is made here from a fixed seed, and read in a process of its own, whose peak is taken above that of the same
process on a file of one page. It ends with 1 when a format takes more than 12 times the size of its file.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Final

from tests.benchmarks.large_files import FAMILIES, Files

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


def measured(path: Path, side: str) -> tuple[int, float, float]:
    """Boxes, CPU seconds and peak bytes of a process that reads a file."""
    ran = subprocess.run([sys.executable, "-c", _READ, str(path), side], capture_output=True, text=True, check=False)
    if ran.returncode:
        raise SystemExit(f"{path.name}: {ran.stderr.strip().splitlines()[-1][:300]}")
    count, seconds, peak = ran.stdout.split()
    return int(count), float(seconds), float(peak)


def _written(path: Path, content: bytes | Files) -> Path:
    """A file, or a folder of files."""
    if isinstance(content, bytes):
        path.write_bytes(content)
        return path
    path.mkdir()
    for name, held in content.items():
        (path / name).write_bytes(held)
    return path


def main(arguments: list[str] | None = None) -> int:
    """Print a line for each family."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("formats", nargs="*", choices=[[], *FAMILIES])
    parser.add_argument("--bytes", type=int, default=100 * 2**20)
    parser.add_argument("--smoke", action="store_true", help="1 MB: only that it runs")
    options = parser.parse_args(arguments)
    wanted = 2**20 if options.smoke else options.bytes
    most = 0.0
    for name in options.formats or FAMILIES:
        make, suffix, side = FAMILIES[name]
        with tempfile.TemporaryDirectory() as place:
            _, _, least = measured(_written(Path(place) / f"least{suffix}", make(1)), side)
            count, seconds, peak = measured(_written(Path(place) / f"{name}{suffix}", make(wanted)), side)
            times = (peak - least) / wanted
            most = max(most, times)
            what = "a folder of " if not suffix else ""
            print(
                f"{name}: {what}{wanted / 2**20:.0f} MB, {count:,} boxes, {seconds:.1f} s, {times:.1f} times its size"
            )
    return 1 if most > MOST and not options.smoke else 0


if __name__ == "__main__":
    sys.exit(main())
