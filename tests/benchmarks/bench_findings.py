"""Findings: 1,000 writers killed, 20 writers at once, and what an identity costs.

Ratios to a plain SQLite insert with the same settings (WAL, synchronous FULL) in the same run: what the store adds to
the database itself. With LAYOUTSCOPE_POSTGRES_URL the same on PostgreSQL. Run
``python -m tests.benchmarks.bench_findings``; ``--smoke`` is a short run.
"""

from __future__ import annotations

import argparse
import sqlite3
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

from evaluator.data.dataset import join
from evaluator.protocols import snapshot
from evaluator.review.corrected_results import corrected_result
from evaluator.review.corrections import corrections
from evaluator.review.identity import mistake_targets
from evaluator.review.status import finding_statuses
from evaluator.review.store import Store
from evaluator.review.verdicts import ReviewLog
from tests.building import annotations, ground_truth, random_rows
from tests.judging import verdicts
from tests.store_process import POSTGRES, kill, own_schema, together, verdict


def killed(address: str, lives: int) -> None:
    """Writers killed at random moments."""
    told = kill(address, lives, 2, 11)
    acknowledged = told["acknowledged"]
    assert isinstance(acknowledged, list)
    with Store(address) as store:
        kept = {event.id for event in store.events()}
        store.check()
    lost = len(set(acknowledged) - kept)
    print(f"  killed {lives:,} times: {len(acknowledged):,} acknowledged, {lost} lost")
    assert lost == 0


def at_once(address: str, writers: int, count: int) -> None:
    """Writers that never pause."""
    told = together(address, writers, count)
    seconds, acknowledged = told["seconds"], told["acknowledged"]
    assert isinstance(seconds, list)
    assert isinstance(acknowledged, list)
    with Store(address) as store:
        kept = {event.id for event in store.events()}
    p50, p99 = 1_000 * np.percentile(seconds, [50, 99])
    print(
        f"  {writers} writers without pause, {len(acknowledged):,} verdicts: p50 {p50:.0f} ms, p99 {p99:.0f} ms, "
        f"{len(set(acknowledged) - kept)} lost"
    )


def threads_at_once(address: str, writers: int, count: int) -> None:
    """Reviewers of one server: threads that share a store."""
    seconds: list[float] = []
    with Store(address) as store:
        before = len(store.events())

        def write(writer: int) -> None:
            for page in range(count):
                event = verdict(page, "n" * 200, f"writer {writer}")
                start = time.perf_counter()
                store.add([event])
                seconds.append(time.perf_counter() - start)
                time.sleep(0.2)

        with ThreadPoolExecutor(writers) as pool:
            list(pool.map(write, range(writers)))
        kept = len(store.events()) - before
    p50, p99 = 1_000 * np.percentile(seconds, [50, 99])
    print(
        f"  {writers} reviewers of one server, a verdict each 0.2 s, {len(seconds):,} in all: p50 {p50:.0f} ms, "
        f"p99 {p99:.0f} ms, {len(seconds) - kept} lost"
    )


def against_plain_sqlite(folder: Path, rounds: int) -> None:
    """One verdict after the other, interleaved with a bare insert under the same settings."""
    plain = sqlite3.connect(folder / "plain.sqlite", isolation_level=None)
    for statement in ("journal_mode = WAL", "synchronous = FULL", "fullfsync = ON"):
        plain.execute(f"PRAGMA {statement}")
    plain.execute("CREATE TABLE event (seq INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT UNIQUE, body TEXT)")
    spent = {"plain": 0.0, "store": 0.0}
    with Store(folder / "ratio.sqlite") as store:
        for number in range(rounds):
            event = verdict(number, "n" * 200)
            start = time.process_time()
            plain.execute("BEGIN IMMEDIATE")
            plain.execute("INSERT INTO event (id, body) VALUES (?, ?)", (event.id, "n" * 600))
            plain.execute("COMMIT")
            spent["plain"] += time.process_time() - start
            start = time.process_time()
            store.add([event])
            spent["store"] += time.process_time() - start
    plain.close()
    each = 1e6 * spent["store"] / rounds
    print(f"  CPU of a verdict to that of a bare insert: {spent['store'] / spent['plain']:.1f} ({each:.0f} µs)")


def identities(documents: int) -> None:
    """Identities, statuses and corrected numbers, against the evaluation itself."""
    truth, predicted = random_rows(2, documents=documents, pages=10, per_page=8.0)
    dataset = join(ground_truth(truth), annotations(predicted))

    def cpu(work: Callable[[], object]) -> tuple[float, object]:
        start = time.process_time()
        made = work()
        return time.process_time() - start, made

    def evaluated() -> snapshot.ThresholdResult:
        result = snapshot.pair(dataset).match().at(0.5)
        assert len(result.mistakes)
        return result

    base, result = cpu(evaluated)
    assert isinstance(result, snapshot.ThresholdResult)
    matched = result
    page, _ = cpu(lambda: [mistake_targets(matched, row) for row in range(dataset.pages)])
    log = ReviewLog.of(verdicts(matched, "ground_truth_wrong")[::20])
    looked, _ = cpu(lambda: finding_statuses(log, [matched]))
    made, to = cpu(lambda: corrections(dataset, log))
    again, _ = cpu(lambda: corrected_result(matched, to).result.mistakes)  # type: ignore[arg-type]
    print(
        f"  {dataset.pages:,} pages, {len(matched.mistakes):,} mistakes, {len(log):,} verdicts; CPU to that of the "
        f"evaluation: identities of all pages {page / base:.1f}, statuses {looked / base:.1f}, "
        f"corrected ground truth {made / base:.1f}, corrected numbers {again / base:.1f}"
    )
    print(f"  identities of one page: {1e3 * page / dataset.pages:.2f} ms")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--smoke", action="store_true", help="a short run that only shows that it works")
    smoke = parser.parse_args().smoke
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        print("SQLite")
        killed(str(folder / "killed.sqlite"), 20 if smoke else 1_000)
        at_once(str(folder / "many.sqlite"), 4 if smoke else 20, 5 if smoke else 50)
        threads_at_once(str(folder / "server.sqlite"), 4 if smoke else 20, 5 if smoke else 50)
        against_plain_sqlite(folder, 50 if smoke else 2_000)
    if POSTGRES:
        print("PostgreSQL")
        with own_schema() as address:
            killed(address, 4 if smoke else 200)
            at_once(address, 4 if smoke else 20, 5 if smoke else 50)
            threads_at_once(address, 4 if smoke else 20, 5 if smoke else 50)
    print("Identities and corrected numbers")
    identities(5 if smoke else 200)


if __name__ == "__main__":
    main()
