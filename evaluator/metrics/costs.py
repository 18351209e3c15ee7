"""Which pages a model failed on, and what time and money it took, beside the quality of what it returned."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import fsum
from statistics import fmean, median
from typing import Any, Final, Literal, get_args

import msgspec

from evaluator.metrics.results import JsonObject, ResultTable

Status = Literal["ok", "failed", "timeout", "skipped"]
STATUSES: Final[tuple[Status, ...]] = get_args(Status)


class PageCosts(msgspec.Struct, frozen=True, kw_only=True):
    """What is stated of a page, None for what is not; `more` has the other columns of the table."""

    document: str
    page: int
    status: Status = "ok"
    seconds: float | None = None
    cost: float | None = None
    input_tokens: float | None = None
    output_tokens: float | None = None
    error: str | None = None
    more: dict[str, str] = {}


@dataclass(frozen=True)
class Costs:
    """What is stated of the pages of one model, of `pages` in all; nothing is guessed of the others."""

    name: str
    pages: int
    stated: tuple[PageCosts, ...]
    currency: str | None

    def to_json(self) -> JsonObject:
        """Return counts, totals, means and medians over the pages that state them, and these; undefined is None."""
        seconds, cost = (self._known(name) for name in ("seconds", "cost"))
        ok = [page.seconds for page in self.stated if page.status == "ok" and page.seconds is not None]
        return {
            "pages": self.pages,
            "stated": len(self.stated),
            **{status: self.count(status) for status in STATUSES},
            "unknown": self.pages - len(self.stated),
            "seconds": {**_numbers(seconds), "ok_mean": fmean(ok) if ok else None},
            "cost": {**_numbers(cost), "currency": self.currency},
            "tokens": {name: _numbers(self._known(f"{name}_tokens"))["total"] for name in ("input", "output")},
            "by_page": msgspec.to_builtins(self.stated),
        }

    def count(self, status: Status) -> int:
        """Return on how many pages it ended so."""
        return sum(page.status == status for page in self.stated)

    def row(self) -> dict[str, Any]:
        """Return the numbers by the columns of a table."""
        values = self.to_json()
        row: dict[str, Any] = {"model": self.name, **{name: values[name] for name in ("pages", "stated", *STATUSES)}}
        for name in ("seconds", "cost"):
            row |= {name: values[name]["total"], f"{name}_per_page": values[name]["per_page_mean"]}
        return {**row, "currency": self.currency}

    def _known(self, name: str) -> list[float]:
        return [value for page in self.stated if (value := getattr(page, name)) is not None]


def costs_tables(models: Iterable[Costs | None], signature: str) -> tuple[ResultTable, ...]:
    """Return a table with a row for each model of which something is stated; none for none."""
    rows = [costs.row() for costs in models if costs is not None]
    if not rows:
        return ()
    values = tuple(tuple(row.values()) for row in rows)
    return (ResultTable(title="Failed pages, time and cost", signature=signature, columns=tuple(rows[0]), rows=values),)


def _numbers(values: Sequence[float]) -> JsonObject:
    return {
        "total": fsum(values) if values else None,
        "per_page_mean": fmean(values) if values else None,
        "per_page_median": median(values) if values else None,
        "pages": len(values),
    }
