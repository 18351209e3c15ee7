"""Verdicts of a reviewer on the mistakes of a result, for tests and benchmarks; needs no test library."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from evaluator.matching.box_results import BoxResult
from evaluator.review.identity import page_mistakes
from evaluator.review.verdicts import Event, judge

NOW = datetime(2026, 1, 31, 12, 0, tzinfo=UTC)


def verdicts(result: BoxResult[Any], verdict: str, name: str | None = None, *, minutes: int = 0) -> list[Event]:
    """One verdict on every mistake, or on those of a name."""
    return [
        judge(
            target,
            verdict=verdict,
            author="Anna",
            verified=False,
            time=NOW + timedelta(minutes=minutes),
        )
        for page in range(result.matching.dataset.pages)
        for target in page_mistakes(result, page).targets
        if name in (None, target.mistake)
    ]
