"""Many readers of one dashboard in numbers, for `bench_attack`: what they wait, and what the server takes for it."""

import asyncio
import random
import tempfile
import time
from pathlib import Path
from typing import Any, Final

from tests.benchmarks.bench_screen import dashboard
from tests.sessions import (
    GOOD,
    Act,
    Attendee,
    Reader,
    by_name,
    health,
    memory,
    poison,
    poisoned_files,
    quantile,
    wander,
)

MOST_P95: Final = 1.0
MOST_RATIO: Final = 1.10
MOST_SERVER_MEGABYTES: Final = 500
MOST_ERROR_SECONDS: Final = 7.0
"""The limit of a page, and two more."""
MOST_HEALTH: Final = 0.1
MOST_START: Final = 3.0
Row = dict[str, Any]


def together(readers: int, seconds: float, seed: int, *, judged: bool) -> Row:
    """Readers who think for one to four seconds between two acts, on the sample data; `judged` by their times."""

    async def all_of_them(url: str) -> tuple[list[Act], list[float]]:
        # A server that has just started reads the files for the first reader; that is `start`.
        await wander(url, 3.0, seed, (0.1, 0.2))
        walks = [wander(url, seconds, seed + number, (1.0, 4.0)) for number in range(readers)]
        *done, well = await asyncio.gather(*walks, health(url, seconds))
        return [act for acts in done for act in acts], well

    with tempfile.TemporaryDirectory() as folder, dashboard(Path(folder)) as (url, pid):
        acts, well = asyncio.run(all_of_them(url))
        server, workers = memory(pid)
    errors = [error for act in acts for error in act.errors]
    took = [act.seconds for act in acts]
    p95 = quantile(took, 0.95)
    return {
        "readers": readers, "acts": len(acts), "p50_s": round(quantile(took, 0.5), 3), "p95_s": round(p95, 3),
        "slowest_s": round(max(took), 3), "health_p95_ms": round(1000 * quantile(well, 0.95)),
        "server_mb": round(server), "workers_mb": round(workers), "errors": errors[:3],
        "p95_ms_of": {name: round(1000 * last) for name, (_, _, last) in by_name(acts).items()},
        "harm": len(errors) + (judged and p95 >= MOST_P95) + (server >= MOST_SERVER_MEGABYTES),
    }  # fmt: skip


def poisoned(readers: int, seconds: float, seed: int, rounds: int, *, judged: bool) -> Row:
    """Readers of a good document, in turns alone and beside one who opens pages that never end."""
    bombs_a_round = max(1, round(seconds / 5.0))
    calm: list[Act] = []
    beside: list[Act] = []
    told: list[tuple[float, str]] = []
    well: list[float] = []

    async def one_round(url: str, number: int) -> None:
        for acts, bombs in ((calm, range(0)), (beside, range(number * bombs_a_round, (number + 1) * bombs_a_round))):
            walks = [
                wander(url, seconds, seed + 100 * number + each, (0.5, 1.5), ("page_browser", "", "models", "files"),
                       order="page", within=GOOD, page=str(1 + 20 * each))
                for each in range(readers)
            ]  # fmt: skip
            *done, said, asked = await asyncio.gather(*walks, poison(url, bombs), health(url, seconds))
            acts += [act for walk in done for act in walk]
            told.extend(said)
            well.extend(asked if bombs else [])

    async def run(url: str) -> None:
        await wander(url, 2.0, seed, (0.1, 0.2), order="page", within=GOOD)
        for number in range(rounds):
            await one_round(url, number)

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        poisoned_files(folder, 20 * readers + 20, rounds * bombs_a_round)
        with dashboard(folder, name) as (url, _):
            asyncio.run(run(url))
    p95s = [quantile([act.seconds for act in acts], 0.95) for acts in (calm, beside)]
    errors = [error for act in (*calm, *beside) for error in act.errors]
    untyped = sum(not title for _, title in told)
    late = sum(seconds > MOST_ERROR_SECONDS for seconds, _ in told)
    missed = late + (p95s[1] > MOST_RATIO * p95s[0]) + (quantile(well, 0.95) >= MOST_HEALTH)
    return {
        "readers": readers, "acts": len(calm) + len(beside), "bombs": len(told),
        "p95_ms_alone": round(1000 * p95s[0]), "p95_ms_beside": round(1000 * p95s[1]),
        "ratio": round(p95s[1] / p95s[0], 2), "slowest_error_s": round(max(seconds for seconds, _ in told), 2),
        "health_p95_ms": round(1000 * quantile(well, 0.95)), "errors": errors[:3],
        "harm": len(errors) + untyped + judged * missed,
    }  # fmt: skip


def meeting(followers: int, moves: int, seed: int, *, judged: bool) -> Row:
    """Followers of a meeting on the sample data whose presenter goes on every two to four seconds: their waits."""

    async def followed(url: str) -> list[float]:
        chance, end = random.Random(seed), asyncio.Event()
        presenter = await Attendee(url).joined()
        await presenter.send("present", True)
        follows = [asyncio.create_task((await Attendee(url).joined()).follow(end)) for _ in range(followers)]
        moved: dict[tuple[str, int], float] = {}
        for row in presenter.board["agenda"][1 : moves + 1]:
            await asyncio.sleep(chance.uniform(2.0, 4.0))
            moved[row["key"], 0] = time.perf_counter()
            await presenter.send("show", {"item": row["key"], "example": 0})
        await asyncio.sleep(4.0)
        end.set()
        return [at - moved[place] for task in follows for place, at in await task if place in moved]

    with tempfile.TemporaryDirectory() as folder, dashboard(Path(folder)) as (url, pid):
        took = asyncio.run(followed(url))
        server, workers = memory(pid)
    missed, p95 = followers * moves - len(took), quantile(took, 0.95)
    return {
        "followers": followers, "moves": moves, "missed": missed, "p50_s": round(quantile(took, 0.5), 3),
        "p95_s": round(p95, 3), "slowest_s": round(max(took), 3), "server_mb": round(server),
        "workers_mb": round(workers),
        "harm": judged * missed + (judged and p95 >= MOST_P95) + (server >= MOST_SERVER_MEGABYTES),
    }  # fmt: skip


def first_page(times: int, *, judged: bool) -> Row:
    """Seconds from the start of the command until a reader has the first page with its picture, and all small ones."""

    async def opened(url: str) -> Act:
        reader = await Reader(url).connected()
        try:
            return await reader.open("page_browser")
        finally:
            await reader.left()

    took, complete, errors = [], [], []
    for _ in range(times):
        start = time.perf_counter()
        with tempfile.TemporaryDirectory() as folder, dashboard(Path(folder)) as (url, _):
            up = time.perf_counter() - start
            act = asyncio.run(opened(url))
            errors += act.errors
            took.append(up + act.page_seconds)
            complete.append(up + act.seconds)
    best = min(took)
    return {
        "starts": times, "best_s": round(best, 2), "slowest_s": round(max(took), 2),
        "small_pictures_s": round(min(complete), 2), "errors": errors[:3],
        "harm": len(errors) + (judged and best >= MOST_START),
    }  # fmt: skip
