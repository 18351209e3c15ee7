"""Verdicts of a reviewer on the mistakes of a result, for tests and benchmarks; needs no test library."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from evaluator.matching.box_results import BoxResult
from evaluator.review.identity import mistake_targets
from evaluator.review.store import Store
from evaluator.review.verdicts import Event, Target, judge

NOW = datetime(2026, 1, 31, 12, 0, tzinfo=UTC)


def opinion(target: Target, verdict: str | None = "model_wrong", *, minutes: int = 0, **given: Any) -> Event:
    """An opinion of Anna on a target, some minutes after noon."""
    given = {"author": "Anna", "verified": False, "time": NOW + timedelta(minutes=minutes), **given}
    return judge(target, verdict=verdict, **given)


def verdicts(result: BoxResult[Any], verdict: str, name: str | None = None, *, minutes: int = 0) -> list[Event]:
    return [
        opinion(target, verdict, minutes=minutes)
        for page in range(result.matching.dataset.pages)
        for target in mistake_targets(result, page).targets
        if name in (None, target.mistake)
    ]


def stored(path: Path) -> Sequence[Event]:
    """The events of a file of findings."""
    with Store(path) as store:
        return store.events()


def store(path: Path, *events: Event) -> None:
    """Add events to a file of findings."""
    with Store(path) as kept:
        kept.add(events)
