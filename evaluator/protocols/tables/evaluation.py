"""Tables of pages: TEDS, TEDS-S and GriTS of paired tables, and what is wrong with them by name.

A true table that has no partner counts 0; a prediction without partner counts nothing in TEDS and lowers the precision
of GriTS. A prediction that is unreadable or has no cells counts 0 and is counted; a true table without cells is
undefined and left out. PubTabNet's program never reads the text of header cells and counts header marks as nodes, so
that these lower its numbers; docling-eval drops documents with another number of tables, which makes its higher.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Final

import msgspec

from evaluator.data.cells import Table, cells_of
from evaluator.data.issues import Issue, count_of
from evaluator.metrics.results import JsonObject, ResultTable
from evaluator.protocols.items import Cell, ItemResult, PageNumbers, Ratio, mean, page_means, pooled, value_of
from evaluator.protocols.tables import grits
from evaluator.protocols.tables.grits import Grid, Score
from evaluator.protocols.tables.mistakes import Mistake, Name, mistakes_of
from evaluator.protocols.tables.teds import teds_of

NAME: Final = "tables"
VERSION: Final = "1"
TITLE: Final = "Table structure"
TEDS: Final = ("teds", "teds_s")
GRITS: Final = ("grits_con", "grits_top", "grits_loc")
MEASURES: Final = (*TEDS, *GRITS)
MOST_PAIRS: Final = 10_000_000
"""Pairs of cells, and of slots, of two tables; of more there is no number."""
MOST_SLOTS: Final = 64
"""Pairs of slots for each pair of cells, beyond the first `_FEW_PAIRS`: a few cells may span a grid of any size."""
_FEW_PAIRS: Final = 100_000


class TablePair(msgspec.Struct, frozen=True, kw_only=True):
    """A true table, a predicted one, or both: positions in the files, shapes, numbers and mistakes.

    `undefined`: the true one has no cells; such a pair has no numbers. `grits` has the scores that are defined.
    """

    ground_truth: int | None
    prediction: int | None
    shape: tuple[tuple[int, int], tuple[int, int]]
    undefined: bool
    teds: float | None
    teds_s: float | None
    grits: dict[str, Score]
    mistakes: list[Mistake]

    @property
    def has_truth(self) -> bool:
        """Return whether there is a true table with cells."""
        return self.ground_truth is not None and not self.undefined

    @property
    def is_too_large(self) -> bool:
        """Return whether the two tables have too many pairs of cells or slots for some number."""
        return not self.undefined and "grits_con" not in self.grits

    def is_called(self, name: str) -> bool:
        """Return whether there is a mistake of a name."""
        return any(each.name == name for each in self.mistakes)

    def to_json(self) -> JsonObject:
        """Return the pair as plain values."""
        return {
            "ground_truth": self.ground_truth,
            "prediction": self.prediction,
            "shape": self.shape,
            "teds": self.teds,
            "teds_s": self.teds_s,
            **{name: _score_json(self.grits.get(name)) for name in GRITS},
            "mistakes": msgspec.to_builtins(self.mistakes),
        }


def _score_json(score: Score | None) -> JsonObject | None:
    if score is None:
        return None
    return {**score._asdict(), **{name: getattr(score, name) for name in ("precision", "recall", "f")}}


def compare_tables(
    truth: Table | None, predicted: Table | None, positions: tuple[int | None, int | None] = (0, 0)
) -> TablePair:
    """Return how a table differs from a true one; None for one that is not there."""
    cells, others = (None if table is None else cells_of(table) for table in (truth, predicted))
    one, other = Grid(cells or ()), Grid(others or ())
    undefined = truth is not None and not cells
    scores: dict[str, Score] = {}
    mistakes: list[Mistake] = []
    fits = _fits(one, other)
    if fits and not undefined:
        contents = grits.align(grits.of_contents(one, other))
        scores = {"grits_con": contents.score, "grits_top": grits.align(grits.of_spans(one, other)).score}
        if one.has_boxes and other.has_boxes:
            scores["grits_loc"] = grits.align(grits.of_boxes(one, other)).score
        if cells and others:
            mistakes = mistakes_of(one, other, contents)
    if truth is None:
        mistakes = [Mistake(name="extra", cost=other.slots)]
    elif not undefined and not others:
        name: Name = "missing" if predicted is None else "unreadable" if others is None else "empty"
        mistakes = [Mistake(name=name, cost=one.slots)]
    teds = teds_of(cells or (), others or ()) if fits and truth is not None else None
    return TablePair(
        ground_truth=positions[0],
        prediction=positions[1],
        shape=(one.shape, other.shape),
        undefined=undefined,
        teds=teds and teds[0],
        teds_s=teds and teds[1],
        grits=scores,
        mistakes=mistakes,
    )


def _fits(one: Grid, other: Grid) -> bool:
    cells, slots = len(one.cells) * len(other.cells), one.slots * other.slots
    return max(cells, slots) <= MOST_PAIRS and slots <= _FEW_PAIRS + MOST_SLOTS * cells


class TablesPage(PageNumbers, frozen=True, kw_only=True):
    """The tables of a page: true ones in file order with their partners, then what only the prediction has."""

    tables: list[TablePair]

    @property
    def ratios(self) -> Mapping[str, Ratio]:
        """Return the measures of the page: TEDS over its true tables, F of GriTS over slots of both sides."""
        return {
            **{name: _teds(self.tables, name) for name in TEDS},
            **{name: _grits(self.tables, name) for name in GRITS},
        }

    @property
    def by_cost(self) -> list[tuple[int, Mistake]]:
        """Return each mistake with the place of its table among `tables`, the dearest first."""
        every = [(at, mistake) for at, pair in enumerate(self.tables) for mistake in pair.mistakes]
        return sorted(every, key=lambda each: -each[1].cost)

    @property
    def costs(self) -> Sequence[tuple[str, int]]:
        """Return the mistakes; their cost is slots."""
        return [(mistake.name, mistake.cost) for _, mistake in self.by_cost]

    def to_json(self) -> list[JsonObject]:
        """Return every pair."""
        return [pair.to_json() for pair in self.tables]


def _teds(tables: Sequence[TablePair], name: str) -> Ratio:
    values = [value for pair in tables if (value := getattr(pair, name)) is not None]
    return sum(values), len(values)


def _grits(tables: Sequence[TablePair], name: str) -> Ratio:
    scores = [score for pair in tables if (score := pair.grits.get(name)) is not None]
    return 2.0 * sum(score.similar for score in scores), sum(
        score.true_cells + score.predicted_cells for score in scores
    )


def _counts(tables: Sequence[TablePair]) -> dict[str, int]:
    return {
        "tables": sum(pair.ground_truth is not None for pair in tables),
        **{name: sum(pair.is_called(name) for pair in tables) for name in ("missing", "extra", "unreadable", "empty")},
        "undefined": sum(pair.undefined for pair in tables),
    }


class TablesResult(ItemResult[TablesPage]):
    """The tables of one prediction."""

    name = NAME
    version = VERSION
    columns: ClassVar[tuple[str, ...]] = (
        "pages", "tables", "missing", "extra", "unreadable", "empty", "undefined", *MEASURES,
    )  # fmt: skip

    def summary(self, pages: Sequence[TablesPage]) -> JsonObject:
        """Return counts, TEDS as means, GriTS pooled over slots and as the mean over true tables, and the mistakes."""
        tables = [pair for page in pages for pair in page.tables]
        values: dict[str, Any] = dict(_counts(tables))
        for name in TEDS:
            means = page_means(pages, name)
            values[name] = {
                "table_mean": means["micro"],
                **{key: means[key] for key in ("page_mean", "document_mean", "pages")},
            }
        for name in GRITS:
            scored = [(pair, score) for pair in tables if (score := pair.grits.get(name)) is not None]
            values[name] = {
                "precision": pooled((score.similar, score.predicted_cells) for _, score in scored),
                "recall": pooled((score.similar, score.true_cells) for _, score in scored),
                "f": value_of(_grits(tables, name)),
                "table_mean": mean(score.f for pair, score in scored if pair.has_truth),
            }
        names = [each.name for pair in tables for each in pair.mistakes]
        return {**values, "mistakes": {name: names.count(name) for name in sorted({*names})}}

    def row(self, pages: Sequence[TablesPage]) -> tuple[Cell, ...]:
        """Return counts and pooled measures."""
        tables = [pair for page in pages for pair in page.tables]
        ratios = [*(_teds(tables, name) for name in TEDS), *(_grits(tables, name) for name in GRITS)]
        return (len(pages), *_counts(tables).values(), *map(value_of, ratios))

    def csv_files(self) -> Mapping[str, ResultTable]:
        """Return the pairs, and their mistakes, one in a row."""
        every = [(page, pair) for page in self.pages for pair in page.tables]
        places = ("document", "page", "ground_truth", "prediction")

        def place(page: TablesPage, pair: TablePair) -> tuple[Cell, ...]:
            return page.document, page.page, pair.ground_truth, pair.prediction

        pairs: list[tuple[Cell, ...]] = [
            (*place(page, pair), pair.teds, pair.teds_s, *(score and score.f for score in map(pair.grits.get, GRITS)))
            for page, pair in every
        ]
        mistakes: list[tuple[Cell, ...]] = [
            (
                *place(page, pair),
                each.name,
                each.cost,
                each.row,
                each.column,
                *map(_listed, (each.cells, each.predictions)),
            )
            for page, pair in every
            for each in pair.mistakes
        ]
        columns = ("mistake", "cost", "row", "column", "cells", "predicted_cells")
        return {
            "pairs.csv": self.as_table((*places, *MEASURES), pairs),
            "mistakes.csv": self.as_table((*places, *columns), mistakes),
        }

    def own_issues(self, file: str) -> tuple[Issue, ...]:
        """Return a warning for true tables without cells, and one for tables that are too large for some number."""
        every = [(page, pair) for page in self.pages for pair in page.tables]
        undefined = [page for page, pair in every if pair.undefined]
        large = [page for page, pair in every if pair.is_too_large]
        issues = []
        if undefined:
            rule, fix = (
                "a table of the ground truth must have cells to be compared",
                "It is left out; correct its markup.",
            )
            issues.append(_issue(self.ground_truth.name, undefined, rule, fix))
        if large:
            rule = f"two tables may have {MOST_PAIRS:,} pairs of slots, {MOST_SLOTS} for each pair of cells"
            issues.append(_issue(file, large, rule, "They have no numbers; split them."))
        return tuple(issues)


def _listed(numbers: Sequence[int]) -> str:
    return " ".join(map(str, numbers))


def _issue(file: str, pages: Sequence[TablesPage], rule: str, fix: str) -> Issue:
    found = f"{count_of(len(pages), 'table')}, the first on {pages[0].document}, page {pages[0].page + 1}"
    return Issue(severity="warning", file=file, place="", rule=rule, found=found, fix=fix)
