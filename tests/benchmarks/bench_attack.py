"""Files from strangers, in numbers, and what goes wrong in the middle of work; ends with 1 when anything did harm.

    python -m tests.benchmarks.bench_attack [--part NAME] [--count N] [--seed N] [--reader NAME] [--smoke] [--json]

========== ===================================================================================== ===================
part       what is counted                                                                       count when not given
========== ===================================================================================== ===================
readers    changed files, guided by lines reached: errors that are no issues, over 2 s of CPU     100,000 for each
values     good files with every so manyth value changed: boxes that leave without an issue              1
documents  changed PDFs: errors that are not typed, freezes of the asking process over 50 ms     100,000
names      names of documents: anything that is opened outside their folder                      100,000
geometry   legal pages at 72 to 300 dpi: the box is more than a pixel off                        220
growth     sizes of two small files, doubled through all steps: more than n log n, 20 s or 400 MB    1
crowded    100 pages of 10,000 equal boxes a side: more than 500 MB, or no issue                 1
killed     commands that are killed: a result that is torn, or other bytes when it runs again    50 for each
properties what must hold for every input (Hypothesis): examples of each test                    10,000
corpus     the hostile files, as the suite tests them: another outcome than wanted               1
pages      pages of any size: more than 25 million pixels, or a worker over 512 MiB              1
sessions   seconds of twenty readers at once: p95 of a second, errors, a server over 500 MB      60
meeting    moves of a presenter, twenty followers: p95 of a second until their page, one not seen 20
poisoned   seconds with and without a reader of pages that never end: p95 of the others by 1.10  60
findings   writers that are killed and twenty at once, on each store: a verdict that is lost     1,000
labels     hostile names on every view and in every output: markup, requests, broken lines       1
network    the suite itself, where nothing leads out: what is sent to another machine             1
static     what a linter for security finds; a requirement without a hash                        1
start      starts of the dashboard: over 3 seconds to the first page                             3
========== ===================================================================================== ===================

Runs with other seeds add up. Times are of a whole machine, so they say something when nothing else runs on it; a
short run shows them and does not judge them.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Final

import numpy as np

from evaluator.formats import FORMATS
from evaluator.pdf.pool import PagePool
from evaluator.review.store import Store
from tests import no_way_out, store_process
from tests.attacks import attempts, good_files
from tests.attacks_pages import drawn_documents, freezes, geometry_offs
from tests.attacks_values import losses
from tests.benchmarks import growth as doubled
from tests.benchmarks import sessions as readers_at_once
from tests.benchmarks.measuring import parsed, parser_of
from tests.building import box, write_file
from tests.interruptions import COMMANDS, interrupted
from tests.pdf_fixtures import crossed_lines
from tests.red_box import MOST_OFF

MOST_SECONDS: Final = 2.0
MOST_FREEZE: Final = 0.05
MOST_MEGABYTES: Final = 500
MOST_PIXELS, MOST_WORKER_MIB = 25_000_000, 512
MOST_WRITE_SECONDS: Final = 0.2
ROOT: Final = Path(__file__).resolve().parents[2]
# The tests of properties: those that Hypothesis makes inputs for.
PROPERTY_TESTS: Final = (
    "tests/protocols/test_protocols.py", "tests/matching/test_matching.py", "tests/data/test_boxes.py",
    "tests/data/test_polygons.py", "tests/metrics/test_average_precision.py", "tests/metrics/test_pixel_counts.py",
    "tests/matching/test_crowding.py", "tests/matching/test_causes.py", "tests/metrics/test_confidence.py",
    "tests/compare/test_compare_differences.py", "tests/data/test_text.py", "tests/components/test_pair.py",
)  # fmt: skip
# Of low severity in bandit: asserts, processes started without a shell, chance that is no secret.
_LOW: Final = "S101,S110,S112,S311,S404,S603,S607"
Row = dict[str, Any]
"""What a part counted; ``harm`` is the number of things that must not happen."""


def readers(count: int, seed: int, only: str | None) -> dict[str, Row]:
    """Changed files for every reader."""
    report: dict[str, Row] = {}
    for reader in [only] if only else sorted(good_files()):
        uncaught: Counter[str] = Counter()
        slow, slowest, done = 0, 0.0, 0
        for attempt in attempts(reader, count, seed):
            done += 1
            slow += attempt.seconds > MOST_SECONDS
            slowest = max(slowest, attempt.seconds)
            if attempt.uncaught:
                uncaught[attempt.uncaught[:160]] += 1
        report[reader] = {
            "files": done, "uncaught": dict(uncaught.most_common(5)), "slowest_s": round(slowest, 3),
            "harm": uncaught.total() + slow,
        }  # fmt: skip
    return report


def values(count: int, seed: int, only: str | None) -> dict[str, Row]:
    """One value of a good file changed at a time."""
    report: dict[str, Row] = {}
    for reader in [only] if only else sorted(FORMATS.keys() & good_files().keys()):
        silent = dict(losses(reader, step=count))
        lost = [change for change, is_lost in silent.items() if is_lost]
        report[reader] = {"changes": len(silent), "lost": lost[:5], "harm": len(lost)}
    return report


def documents(count: int, seed: int, only: str | None) -> dict[str, Row]:
    """Changed PDFs, while a thread of this process looks whether it is kept from running."""
    outcomes: Counter[str] = Counter()
    uncaught: Counter[str] = Counter()
    slowest = 0.0
    with freezes() as late:
        for drawn in drawn_documents(count, seed):
            outcomes[drawn.outcome] += 1
            slowest = max(slowest, drawn.seconds)
            if drawn.uncaught:
                uncaught[drawn.uncaught[:160]] += 1
    frozen = sum(each.frozen > MOST_FREEZE for each in late)
    longest, latest = (max((getattr(each, name) for each in late), default=0.0) for name in ("frozen", "seconds"))
    row = {
        "files": outcomes.total(), "outcomes": dict(outcomes.most_common()), "uncaught": dict(uncaught),
        "slowest_s": round(slowest, 3), "longest_freeze_ms": round(1000 * longest), "latest_ms": round(1000 * latest),
        "freezes_over_50_ms": frozen, "harm": uncaught.total() + frozen,
    }  # fmt: skip
    return {"documents": row}


def names(count: int, seed: int, only: str | None) -> dict[str, Row]:
    """Names that lead out of the folder, in a process whose every opening is noted."""
    done = _python("-m", "tests.attacks_pages", str(count), str(seed))
    looked_up, outside, *examples = done.splitlines()
    return {"names": {"names": int(looked_up), "opened_outside": examples, "harm": int(outside)}}


def geometry(count: int, seed: int, only: str | None) -> dict[str, Row]:
    """Boxes on the pictures of legal pages."""
    offs = [far for _, _, far in geometry_offs(count, seed)]
    row = {"pages": len(offs), "worst_px": round(max(offs), 3), "harm": sum(far > MOST_OFF for far in offs)}
    return {"geometry": row}


def growth(count: int, seed: int, only: str | None) -> dict[str, Row]:
    """The processor seconds of each step as one size of the files is doubled; a short run takes two small sizes."""
    report: dict[str, Row] = {}
    for size in [only] if only else doubled.SIZES if count else ["depth"]:
        _, first, doublings = doubled.SIZES[size]
        numbers = [first << at for at in range(doublings if count else 2)]
        report |= doubled.grown(size, numbers, judged=bool(count))
    return report


def crowded(count: int, seed: int, only: str | None) -> dict[str, Row]:
    """The memory of a process that is given 100 pages of 10,000 equal boxes on both sides."""
    pages = 100 if count else 4
    with tempfile.TemporaryDirectory() as place:
        for side, score in (("ground_truth", None), ("prediction", 0.5)):
            rows = [box(0.1, 0.1, 0.9, 0.9, score=score, page=page) for page in range(pages) for _ in range(10_000)]
            write_file(Path(place, f"{side}.json"), rows, side=side)  # type: ignore[arg-type]
        # Not by getrusage, which counts the process that started it as well.
        code = (
            "import re, sys; from evaluator import cli\n"
            "try: cli.main(sys.argv[1:])\n"
            "except SystemExit as left:\n"
            "    most = re.search(r'VmHWM:\\s+([0-9]+)', open('/proc/self/status').read())\n"
            "    print(left.code, int(most[1]) // 1024)"
        )
        report: dict[str, Row] = {}
        for command in (("evaluate", "snapshot", "--gt", "{0}", "--pred", "{1}"), ("check", "{0}", "{1}")):
            files = (f"{place}/ground_truth.json", f"{place}/prediction.json")
            said = _python("-c", code, *(word.format(*files) for word in command)).splitlines()[-1].split()
            megabytes = int(said[1])
            row = {"exit": int(said[0]), "mb": megabytes, "harm": int(said[0] != "2") + (megabytes > MOST_MEGABYTES)}
            report[command[0]] = row
    return report


def killed(count: int, seed: int, only: str | None) -> dict[str, Row]:
    """Commands that are killed in the middle."""
    report: dict[str, Row] = {}
    for kind in [only] if only else sorted(COMMANDS):
        ended = interrupted(kind, count, seed)
        report[kind] = {**ended._asdict(), "harm": ended.torn + ended.differing}
    return report


def properties(count: int, seed: int, only: str | None) -> dict[str, Row]:
    """The tests that Hypothesis makes inputs for, with so many examples each."""
    report: dict[str, Row] = {}
    for file in [only] if only else PROPERTY_TESTS:
        words = ("-n", "0", "-m", "hypothesis", "--timeout", "0", f"--hypothesis-seed={seed}", file)
        report[file] = {"examples_each": count, **_suite(*words, LAYOUTSCOPE_EXAMPLES=str(count))}
    return report


def corpus(count: int, seed: int, only: str | None) -> dict[str, Row]:
    """The files of hostile/ and those made here; the damaged ones alone in a short run."""
    files = [str(path.relative_to(ROOT)) for path in sorted(Path(ROOT, "tests", "formats").glob("test_readers_*.py"))]
    pages = ["tests/pdf/test_pages_pdf.py", "tests/pdf/test_pdf_folder.py"]
    files = [*files, *pages] if count else ["tests/formats/test_readers_damaged.py"]
    return {"corpus": _suite("-n", "0", "-k", "hostile or corpus", *files)}


def pages(count: int, seed: int, only: str | None) -> dict[str, Row]:
    """Pages of any legal and illegal size, as first shown and as sharp as they can be."""
    report: dict[str, Row] = {}
    made = {path.stem: path.read_bytes for path in Path(ROOT, "tests", "hostile", "pdf").glob("size_*.pdf")}
    made |= {"200 inches": lambda: crossed_lines(14_400, 14_400), "A0": lambda: crossed_lines(2_384, 3_370)}
    with (
        tempfile.TemporaryDirectory() as folder,
        PagePool(workers=1, spares=0, time_limit=60.0) as pool,
        ThreadPoolExecutor(1) as threads,
    ):
        for name, build in made.items() if count else [("A0", made["A0"])]:
            path = Path(folder, f"{name}.pdf")
            path.write_bytes(build())
            row: Row = {}
            most = 0
            for way, asked in (("first", {"dpi": 90.0, "most_pixels": 8_000_000}), ("sharpest", {"width": 16_000})):
                pool.describe(path)
                start = time.perf_counter()
                drawing = threads.submit(pool.page_image, path, 0, **asked)  # type: ignore[arg-type]
                # A worker whose page is slow is replaced at its end: it is looked at meanwhile.
                while not drawing.done():
                    most = max(most, *(_highest(worker.process.pid) for worker in list(pool._live)), 0)
                    time.sleep(0.02)
                image = drawing.result()
                row |= {f"{way}_s": round(time.perf_counter() - start, 2), f"{way}_px": [image.width, image.height]}
            over = image.width * image.height > MOST_PIXELS
            report[name] = {**row, "worker_mib": most, "harm": int(over) + (most > MOST_WORKER_MIB)}
    return report


def sessions(count: int, seed: int, only: str | None) -> dict[str, Row]:
    """Twenty readers on the sample data for so many seconds."""
    judged = count >= PARTS["sessions"][1]
    return {"sessions": readers_at_once.together(20 if judged else 4, count, seed, judged=judged)}


def meeting(count: int, seed: int, only: str | None) -> dict[str, Row]:
    """Twenty followers of so many moves."""
    judged = count >= PARTS["meeting"][1]
    return {"meeting": readers_at_once.meeting(20 if judged else 3, count, seed, judged=judged)}


def poisoned(count: int, seed: int, only: str | None) -> dict[str, Row]:
    """Six readers for so many seconds, twice alone and twice beside pages that never end."""
    judged = count >= PARTS["poisoned"][1]
    return {"poisoned": readers_at_once.poisoned(6 if judged else 2, count, seed, 2 if judged else 1, judged=judged)}


def start(count: int, seed: int, only: str | None) -> dict[str, Row]:
    """From the command to the first page."""
    return {"start": readers_at_once.first_page(count, judged=count >= PARTS["start"][1])}


def findings(count: int, seed: int, only: str | None) -> dict[str, Row]:
    """Writers that are killed at any moment, and twenty at once that never pause."""
    many = count >= 100
    report: dict[str, Row] = {}

    def store(name: str, address: str, lives: int) -> None:
        told = store_process.kill(address, lives, 2, seed)
        at_once = store_process.together(address, 20 if many else 4, 50 if many else 5)
        acknowledged = {*told["acknowledged"], *at_once["acknowledged"]}  # type: ignore[misc]
        with Store(address) as kept:
            lost = len(acknowledged - {event.id for event in kept.events()})
            kept.check()
        p50, p99 = (round(1000 * float(each)) for each in np.percentile(at_once["seconds"], [50, 99]))  # type: ignore[arg-type]
        report[name] = {
            "kills": lives, "acknowledged": len(acknowledged), "lost": lost, "writers": 20 if many else 4,
            "p50_ms": p50, "p99_ms": p99, "harm": lost + (many and p99 >= 1000 * MOST_WRITE_SECONDS),
        }  # fmt: skip

    if only in (None, "sqlite"):
        with tempfile.TemporaryDirectory() as folder:
            store("sqlite", str(Path(folder, "findings.sqlite")), count)
    if store_process.POSTGRES and only in (None, "postgresql"):
        with store_process.own_schema() as address:
            store("postgresql", address, count)
    return report


def labels(count: int, seed: int, only: str | None) -> dict[str, Row]:
    """The audit of everything that is put out, also in a real browser; in a short run that of JSON alone."""
    words = "hostile or long or markup or out" if count else "test_json_is_json"
    names = ("test_hostile_names", *(("test_long_names", "browser/test_app", "browser/test_guard") if count else ()))
    return {"labels": _suite("-n", "0", "-k", words, *(f"tests/{name}.py" for name in names))}


def network(count: int, seed: int, only: str | None) -> dict[str, Row]:
    """The whole suite, or one file of it, with no way to another machine: whatever any process sends there is counted.

    Where no such network can be made, what tests, Python processes and Chromium look for is noted, as in every run.
    """
    words = [only] if only else ["-n", "2"] if count else ["-n", "0", "tests/pdf/test_network.py"]
    around = ("tests.no_way_out", sys.executable, "-m") if no_way_out.possible() else ()
    return {"network": {**_suite(*words, around=around), "all_processes": bool(around)}}


def static(count: int, seed: int, only: str | None) -> dict[str, Row]:
    """The rules of bandit in ruff over all that is shipped, and the hashes of all that is installed."""
    # bandit knows nothing of what ruff was told to pass over.
    words = (
        f"ruff check --select S --ignore {_LOW} --ignore-noqa --output-format concise app.py evaluator pages".split()
    )
    done = subprocess.run([sys.executable, "-m", *words], cwd=ROOT, capture_output=True, text=True, check=False)
    issues = [line for line in done.stdout.splitlines() if re.search(r":\d+: S\d", line)]
    bare = []
    for name in ("requirements.txt", "requirements-dev.txt", "requirements-notebook.txt", "requirements-build.txt"):
        locked = re.split(r"\n(?=[a-zA-Z0-9])", (ROOT / name).read_text(encoding="utf-8"))
        bare += [each.split()[0] for each in locked if "==" in each and "--hash=sha256:" not in each]
    return {"static": {"issues": issues[:5], "without_hash": bare[:5], "harm": len(issues) + len(bare)}}


PARTS: Final[dict[str, tuple[Callable[[int, int, str | None], dict[str, Row]], int, int]]] = {
    "readers": (readers, 100_000, 50),
    "values": (values, 1, 50),
    "documents": (documents, 100_000, 50),
    "names": (names, 100_000, 500),
    "geometry": (geometry, 220, 5),
    "growth": (growth, 1, 0),
    "crowded": (crowded, 1, 0),
    "killed": (killed, 50, 1),
    "properties": (properties, 10_000, 5),
    "corpus": (corpus, 1, 0),
    "pages": (pages, 1, 0),
    "sessions": (sessions, 60, 3),
    "meeting": (meeting, 20, 2),
    "poisoned": (poisoned, 60, 3),
    "findings": (findings, 1_000, 6),
    "labels": (labels, 1, 0),
    "network": (network, 1, 0),
    "static": (static, 1, 1),
    "start": (start, 3, 1),
}
"""Each part, its full count, and that of a short run which only shows that it works."""


def _python(*words: str) -> str:
    """What a Python process of its own prints."""
    done = subprocess.run([sys.executable, *words], cwd=ROOT, capture_output=True, text=True, check=True)
    return done.stdout


def _suite(*words: str, around: Sequence[str] = (), **variables: str) -> Row:
    """What tests of the suite say."""
    done = subprocess.run(
        [sys.executable, "-m", *around, "pytest", "-q", *words], cwd=ROOT, env={**os.environ, **variables},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    last = done.stdout.strip().splitlines()[-1] if done.stdout.strip() else done.stderr[-200:]
    sent = [line for line in done.stderr.splitlines() if line.startswith("sent off")]
    return {"said": last, **({"sent": sent[:5]} if around else {}), "harm": int(done.returncode != 0)}


def _highest(pid: int) -> int:
    """The most memory that a process has held, in MiB."""
    try:
        peak = re.search(r"VmHWM:\s+([0-9]+)", Path(f"/proc/{pid}/status").read_text(encoding="ascii"))
    except OSError:  # it has ended
        return 0
    return int(peak[1]) // 1024 if peak else 0


def main() -> None:
    """Run the parts and print one line for each thing that was attacked."""
    parser = parser_of(__doc__, seed=0)
    parser.add_argument("--part", choices=sorted(PARTS))
    parser.add_argument("--count", type=int)
    parser.add_argument("--reader", help="one reader, one command, one size, or one file of tests")
    asked = parsed(parser)
    report: dict[str, dict[str, Row]] = {}
    for name in [asked.part] if asked.part else [part for part in PARTS if not (asked.smoke and part == "properties")]:
        part, full, short = PARTS[name]
        count = short if asked.smoke else full if asked.count is None else asked.count
        report[name] = part(count, asked.seed, asked.reader)
        if not asked.json:
            for what, row in report[name].items():
                print(f"  {name:10} {what:16} " + ", ".join(f"{key} {value}" for key, value in row.items()), flush=True)
    if asked.json:
        print(json.dumps(report))
    if any(row["harm"] for rows in report.values() for row in rows.values()):
        sys.exit(1)


if __name__ == "__main__":
    main()
