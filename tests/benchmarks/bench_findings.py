"""Findings: 20 reviewers of one server, and what the store and an identity cost.

    python -m tests.benchmarks.bench_findings [--smoke] [--json]

Ratios to a plain SQLite insert with the same settings (WAL, synchronous FULL) in the same run: what the store adds to
the database itself. With LAYOUTSCOPE_POSTGRES_URL reviewers write to PostgreSQL as well. Writers that are killed and
writers without pause are a part of `bench_attack`.
"""

import contextlib
import sqlite3
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

from evaluator.data.dataset import join
from evaluator.protocols import snapshot
from evaluator.review.corrected_results import corrected_result
from evaluator.review.corrections import corrections
from evaluator.review.identity import mistake_targets
from evaluator.review.status import finding_statuses
from evaluator.review.store import Store
from evaluator.review.verdicts import ReviewLog
from tests.benchmarks.measuring import parsed, parser_of, tell, timed
from tests.building import annotations, ground_truth, random_rows
from tests.judging import verdicts
from tests.store_process import POSTGRES, own_schema, verdict


def threads_at_once(address: str, writers: int, count: int) -> dict[str, float]:
    """Reviewers of one server, threads that share a store: a verdict of each every 0.2 s."""
    seconds: list[float] = []
    with Store(address) as store:

        def write(writer: int) -> None:
            for page in range(count):
                event = verdict(page, "n" * 200, f"writer {writer}")
                start = time.perf_counter()
                store.add([event])
                seconds.append(time.perf_counter() - start)
                time.sleep(0.2)

        with ThreadPoolExecutor(writers) as pool:
            list(pool.map(write, range(writers)))
        lost = len(seconds) - len(store.events())
    p50, p99 = 1_000 * np.percentile(seconds, [50, 99])
    return {"verdicts": len(seconds), "p50_ms": float(p50), "p99_ms": float(p99), "lost": lost}


def against_plain_sqlite(folder: Path, rounds: int) -> dict[str, float]:
    """CPU of one verdict after the other, interleaved with a bare insert under the same settings."""
    plain = sqlite3.connect(folder / "plain.sqlite", isolation_level=None)
    for statement in ("journal_mode = WAL", "synchronous = FULL", "fullfsync = ON"):
        plain.execute(f"PRAGMA {statement}")
    plain.execute("CREATE TABLE event (seq INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT UNIQUE, body TEXT)")
    bare = ours = 0.0
    with contextlib.closing(plain), Store(folder / "ratio.sqlite") as store:
        for number in range(rounds):
            event = verdict(number, "n" * 200)
            start = time.process_time()
            plain.execute("BEGIN IMMEDIATE")
            plain.execute("INSERT INTO event (id, body) VALUES (?, ?)", (event.id, "n" * 600))
            plain.execute("COMMIT")
            middle = time.process_time()
            store.add([event])
            bare, ours = bare + middle - start, ours + time.process_time() - middle
    return {"ratio": ours / bare, "microseconds": 1e6 * ours / rounds}


def identities(documents: int) -> dict[str, Any]:
    """CPU of identities, statuses and corrected numbers, as multiples of that of the evaluation itself."""
    truth, predicted = random_rows(2, documents=documents, pages=10, per_page=8.0)
    dataset = join(ground_truth(truth), annotations(predicted))

    def evaluated() -> snapshot.ThresholdResult:
        result = snapshot.pair(dataset).match().at(0.5)
        assert len(result.mistakes)
        return result

    base = timed(evaluated)
    result: snapshot.ThresholdResult = base.answer
    log = ReviewLog.of(verdicts(result, "ground_truth_wrong")[::20])
    made = timed(lambda: corrections(dataset, log))
    runs = {
        "identities of all pages": timed(lambda: [mistake_targets(result, row) for row in range(dataset.pages)]),
        "statuses": timed(lambda: finding_statuses(log, [result])),
        "corrected ground truth": made,
        "corrected numbers": timed(lambda: corrected_result(result, made.answer).result.mistakes),
    }
    ratios = {name: run.cpu / base.cpu for name, run in runs.items()}
    page_ms = 1e3 * runs["identities of all pages"].cpu / dataset.pages
    return {"pages": dataset.pages, "verdicts": len(log), "ms_of_a_page": page_ms, "ratios": ratios}


def main() -> None:
    """Print what was measured."""
    parser = parser_of(__doc__, writers=20, verdicts=50, rounds=2_000, documents=200)
    given = parsed(parser, writers=4, verdicts=5, rounds=50, documents=5)
    report: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as name:
        report["SQLite"] = threads_at_once(str(Path(name, "server.sqlite")), given.writers, given.verdicts)
        report["against a bare insert"] = against_plain_sqlite(Path(name), given.rounds)
    if POSTGRES:
        with own_schema() as address:
            report["PostgreSQL"] = threads_at_once(address, given.writers, given.verdicts)
    report["against the evaluation"] = identities(given.documents)
    tell(report, as_json=given.json)


if __name__ == "__main__":
    main()
