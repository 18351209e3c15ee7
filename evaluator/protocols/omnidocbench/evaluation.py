"""The numbers of OmniDocBench 1.5, quick match, for pages of its ground truth and a folder of Markdown.

Pages without a Markdown file are left out of everything, as its program does, and are counted. CDM, and so its overall
number, needs TeX and is undefined here. Nothing of this is comparable with the protocols' own numbers.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import fsum
from typing import Any, ClassVar, Final, NamedTuple

import msgspec
import numpy as np

from evaluator.data.dataset import Annotations, Side, join, page_keys
from evaluator.data.issues import Issue, refuse
from evaluator.metrics.results import JsonObject, ResultTable
from evaluator.protocols.base import Evaluation, raise_on_errors
from evaluator.protocols.items import (
    MOST_TEXT,
    Cell,
    ItemOptions,
    Page,
    PageNumbers,
    PublishedResult,
    Ratio,
    Sums,
    mean,
    page_means,
    page_sum,
    value_of,
)
from evaluator.protocols.omnidocbench.markdown import Item, items_of
from evaluator.protocols.omnidocbench.normal_forms import (
    NEEDED,
    letters_of,
    needed,
    normal_table,
    text_of_latex,
    texts_of_cells,
)
from evaluator.protocols.omnidocbench.quick_match import (
    FORMULA,
    IGNORED,
    Entry,
    Truth,
    assigned,
    distances,
    quick_match,
)
from evaluator.protocols.omnidocbench.table_trees import teds_of_markup

PROFILE: Final = "omnidocbench-1.5"
_VERSION: Final = f"{PROFILE} (7bd6c2e)"
_TEXTS: Final = (
    "text_block", "title", "code_txt", "code_txt_caption", "reference", "equation_caption", "figure_caption",
    "figure_footnote", "table_caption", "table_footnote", "code_algorithm", "code_algorithm_caption", "header",
    "footer", "page_footnote", "page_number",
)  # fmt: skip
MOST_COMPARED: Final = 10_000_000
"""Texts of a side of a page times characters of the other."""
TRUNCATED: Final = "truncated"
"""The attribute of a page with the positions of items that go on in others."""


class Sample(msgspec.Struct, frozen=True):
    """A true text and the predicted one as they are compared, and their edit distance."""

    truth: str
    predicted: str
    edits: int

    @property
    def ratio(self) -> Ratio:
        """Return the edits over the length of the longer text."""
        return self.edits, max(len(self.truth), len(self.predicted))


class TableSample(msgspec.Struct, frozen=True):
    """The same of a table, with TEDS and TEDS-S."""

    text: Sample
    teds: float
    teds_s: float


class OrderSample(msgspec.Struct, frozen=True):
    """Numbers of the true order as they are, and as they are read, and their edit distance."""

    truth: list[float]
    predicted: list[float]
    edits: int

    @property
    def ratio(self) -> Ratio:
        """Return the edits over the length of the longer list."""
        return self.edits, max(len(self.truth), len(self.predicted))


class Difference(NamedTuple):
    """Two samples of a page that are not the same: the name of what they are, and what it costs."""

    name: str
    cost: int
    sample: Sample | TableSample | OrderSample


class ProfilePage(PageNumbers, frozen=True, kw_only=True):
    """A page; `moved` are formulas that were read as text and count there."""

    image: str
    texts: list[Sample]
    moved: list[Sample]
    formulas: list[Sample]
    tables: list[TableSample]
    order: OrderSample | None

    @property
    def ratios(self) -> Mapping[str, Ratio]:
        """Return what protocols compare: edits of text and of the order, TEDS over the tables of the page."""
        return {
            "ned": _sum(sample.ratio for sample in (*self.texts, *self.moved)),
            "edit_distance": (0, 0) if self.order is None else self.order.ratio,
            **{
                name: (fsum(getattr(table, name) for table in self.tables), len(self.tables))
                for name in ("teds", "teds_s")
            },
        }

    @property
    def costs(self) -> Sequence[tuple[str, int]]:
        """Return the differences."""
        return [(each.name, each.cost) for each in self.differences]

    @property
    def differences(self) -> Sequence[Difference]:
        """Return what the protocol compares on the page and is not the same, the dearest first."""
        raise NotImplementedError

    def to_json(self) -> JsonObject:
        """Return what is compared on the page."""
        return {
            name: msgspec.to_builtins(getattr(self, name)) for name in ("texts", "moved", "formulas", "tables", "order")
        }


class TextProfilePage(ProfilePage, frozen=True, kw_only=True):
    """A page by its texts and formulas."""

    @property
    def differences(self) -> Sequence[Difference]:
        """See `ProfilePage.differences`; each costs its edits."""
        groups = (("text_differs", self.texts), ("formula_as_text", self.moved), ("formula_differs", self.formulas))
        return _dearest(
            Difference(name, sample.edits, sample) for name, samples in groups for sample in samples if sample.edits
        )


class OrderProfilePage(ProfilePage, frozen=True, kw_only=True):
    """A page by its reading order."""

    @property
    def differences(self) -> Sequence[Difference]:
        """See `ProfilePage.differences`; one for the page, which costs its edits."""
        order = self.order
        return [Difference("order_differs", order.edits, order)] if order is not None and order.edits else []


class TablesProfilePage(ProfilePage, frozen=True, kw_only=True):
    """A page by its tables."""

    @property
    def differences(self) -> Sequence[Difference]:
        """See `ProfilePage.differences`; tables that differ cost one each, the least TEDS first."""
        tables = sorted(self.tables, key=lambda table: table.teds)
        return [Difference("table_differs", 1, table) for table in tables if min(table.teds, table.teds_s) < 1.0]


def _dearest(differences: Iterable[Difference]) -> list[Difference]:
    return sorted(differences, key=lambda each: -each.cost)


@dataclass(frozen=True, eq=False)
class ProfileResult(PublishedResult[ProfilePage]):
    """The numbers of one prediction; `measures` are those of the protocol that are compared, page by page.

    `files_only_in`: pages without a file, and files of no page.
    """

    files_only_in: Mapping[Side, tuple[str, ...]] = field(kw_only=True)
    version = _VERSION
    measures: ClassVar[tuple[str, ...]]
    titles: ClassVar[Mapping[str, str]]
    page: ClassVar[type[ProfilePage]]

    @classmethod
    def prepare(
        cls, truth: Annotations, predicted: Annotations, options: ItemOptions
    ) -> tuple[Annotations, tuple[Issue, ...]]:
        """See `PublishedResult.prepare`: a folder of Markdown, and a ground truth of OmniDocBench."""
        chosen = sorted({*options.chosen()} - {"profile", "page_ranges", "allow_no_match"})
        if chosen:
            raise ValueError(f"--profile {PROFILE} is as published; leave out --{chosen[0].replace('_', '-')}")
        for module in NEEDED:
            needed(module)
        issues = raise_on_errors(truth.issues, predicted.issues, _kind_issues(truth, predicted))
        for at, image, _, markdown in _pages_of(truth, predicted):
            _refuse_much(_read(truth, at, markdown), predicted.name, image)
        return predicted, issues

    @classmethod
    def evaluate(cls, truth: Annotations, models: Sequence[Annotations], options: ItemOptions) -> list[Evaluation]:
        """Return the evaluations of models, folders of Markdown, against a ground truth of OmniDocBench."""
        evaluations = []
        for model in models:
            _, issues = cls.prepare(truth, model, options)
            pages: list[ProfilePage] = []
            paired: list[Page] = []
            used: set[str] = set()
            keys = page_keys(truth)
            for at, image, file, markdown in _pages_of(truth, model):
                used.add(file)
                pages.append(cls.page(**_page(truth, at, image, markdown)))
                paired.append(Page(*keys[at], np.flatnonzero(truth.boxes.entry == at).tolist(), [], {}))
            left_out = len(truth.page_index) - len(pages)
            said = ("quick match", f"pages without prediction left out: {left_out}")
            only_in: dict[Side, tuple[str, ...]] = {
                "ground_truth": tuple(sorted({document for document, _ in keys} - {page.document for page in pages})),
                "prediction": tuple(sorted({*model.boxes.ids} - used)),
            }
            result = cls(join(truth, model), paired, tuple(pages), said, files_only_in=only_in)
            evaluations.append(Evaluation(result, (*issues, *result.own_issues(model.name))))
        return evaluations

    def sums(self, names: Iterable[str]) -> Sums:
        """Return what adds up the measures of the profile, as means over pages."""
        return {name: page_sum(name) for name in self.measures}

    def summary(self, pages: Sequence[ProfilePage]) -> JsonObject:
        """Return each measure over some pages."""
        return {name: page_means(pages, name) for name in self.measures}

    def row(self, pages: Sequence[ProfilePage]) -> tuple[Cell, ...]:
        """Return the means over pages."""
        return (len(pages), *(mean(value_of(page.ratios[name]) for page in pages) for name in self.measures))

    def to_json(self) -> JsonObject:
        """Return the result with the numbers under the names that they are published by."""
        names = {"ground_truth": "ground_truth", "predictions": "prediction"}
        only_in = {key: list(self.files_only_in[side]) for key, side in names.items()}  # type: ignore[index]
        return {**super().to_json(), "documents_only_in": only_in, "omnidocbench": self.published()}

    def published(self) -> JsonObject:
        """Return the published numbers; None where nothing is compared."""
        raise NotImplementedError

    def tables_beside(self) -> Sequence[ResultTable]:
        """Return the published numbers, one in a row."""
        rows: list[tuple[Cell, ...]] = []
        for element, numbers in self.published().items():
            for name, value in (numbers or {}).items():
                named = value.items() if isinstance(value, dict) else [("", value)]
                rows += [(element, f"{name} {inner}".strip(), number) for inner, number in named]
        return (self.as_table(("element", "number", "value"), rows),)


class TextProfile(ProfileResult):
    """Text and display formulas."""

    name = "text"
    columns = ("pages", "ned")
    measures = ("ned",)
    cost = "edited character"
    page = TextProfilePage
    titles: ClassVar[Mapping[str, str]] = {
        "text_differs": "Text differs", "formula_differs": "Formula differs", "formula_as_text": "Formula read as text",
    }  # fmt: skip

    def published(self) -> JsonObject:
        """Return the edit distances of texts and of formulas; formulas read as text count where there is any text."""
        some = any(page.texts for page in self.pages)
        texts = [[sample.ratio for sample in (*page.texts, *page.moved)] if some else [] for page in self.pages]
        formulas = [[sample.ratio for sample in page.formulas] for page in self.pages]
        return {"text_block": _edit_json(texts), "display_formula": _edit_json(formulas), "overall": None}

    def csv_files(self) -> Mapping[str, ResultTable]:
        """Return what is compared, one pair in a row, with the beginnings of the texts."""
        rows: list[tuple[Cell, ...]] = [
            (
                page.document,
                kind,
                sample.edits,
                value_of(sample.ratio),
                sample.truth[:MOST_TEXT],
                sample.predicted[:MOST_TEXT],
            )
            for page in self.pages
            for kind, samples in (("text_block", [*page.texts, *page.moved]), ("display_formula", page.formulas))
            for sample in samples
        ]
        columns = ("document", "element", "edits", "ned", "reference", "hypothesis")
        return {"pairs.csv": self.as_table(columns, rows)}


class OrderProfile(ProfileResult):
    """Reading order."""

    name = "order"
    columns = ("pages", "edit_distance")
    measures = ("edit_distance",)
    cost = "misplaced item"
    page = OrderProfilePage
    titles: ClassVar[Mapping[str, str]] = {"order_differs": "Order differs"}

    def published(self) -> JsonObject:
        """Return the edit distances of the order."""
        return {"reading_order": _edit_json([[page.order.ratio] if page.order else [] for page in self.pages])}


class TablesProfile(ProfileResult):
    """Tables."""

    name = "tables"
    columns = ("pages", "teds", "teds_s")
    measures = ("teds", "teds_s")
    cost = "wrong table"
    page = TablesProfilePage
    titles: ClassVar[Mapping[str, str]] = {"table_differs": "Table differs"}

    def published(self) -> JsonObject:
        """Return edit distances and TEDS, over pages and over tables."""
        edits = _edit_json([[table.text.ratio for table in page.tables] for page in self.pages])
        if edits is None:
            return {"table": None}
        teds: JsonObject = {}
        for name in self.measures:
            teds[f"{name}_tables"] = mean(getattr(table, name) for page in self.pages for table in page.tables)
            teds[f"{name}_pages"] = mean(value_of(page.ratios[name]) for page in self.pages)
        return {"table": {**edits, **teds}}


def _sum(ratios: Iterable[Ratio]) -> Ratio:
    every = list(ratios)
    return sum(part for part, _ in every), sum(whole for _, whole in every)


def _edit_json(pages: Sequence[Sequence[Ratio]]) -> JsonObject | None:
    samples = [ratio for page in pages for ratio in page if ratio[1]]
    if not samples:
        return None
    return {
        "edit_distance": {
            "ALL_page_avg": mean(value_of(_sum(page)) for page in pages),
            "edit_whole": value_of(_sum(samples)),
            "edit_sample_avg": mean(map(value_of, samples)),
        }
    }


def _kind_issues(truth: Annotations, model: Annotations) -> tuple[Issue, ...]:
    asked = (
        (truth, "omnidocbench", "its ground truth in JSON"),
        (model, "markdown", "a folder of Markdown, a file for each page"),
    )
    return tuple(
        Issue(
            severity="error",
            file=side.name,
            place="",
            rule=f"{PROFILE} compares {what}",
            found=side.format,
            fix="Give that, or leave out --profile.",
        )
        for side, format, what in asked
        if side.format != format
    )


class _Read(NamedTuple):
    """A page before it is compared: true and predicted texts, and each true table with the one that is most like it."""

    texts: Sequence[Truth]
    items: Sequence[Item]
    tables: Sequence[tuple[str, str]]


def _refuse_much(page: _Read, name: str, image: str) -> None:
    """Raise `BadInput` for a page whose texts take too long: each is looked for at every place of the others."""
    truths, read = [len(each.text) for each in page.texts], [len(each.text) for each in page.items]
    characters = len(truths) * sum(read) + len(read) * sum(truths)
    if characters > MOST_COMPARED:
        rule = f"{PROFILE} takes pages of up to {MOST_COMPARED:,} texts times characters of the other side"
        fix = "Split the page, or evaluate it without --profile."
        refuse(name, image, rule, f"{characters:,}", fix)


def _pages_of(truth: Annotations, model: Annotations) -> Iterator[tuple[int, str, str, str]]:
    """Yield the pages that have Markdown: the row, the name of the image, that of the file, and its text."""
    files, keys = dict(zip(model.boxes.ids, model.boxes.text or (), strict=True)), page_keys(truth)
    for at in sorted(range(len(keys)), key=keys.__getitem__):
        image = (truth.page_images[at] if len(truth.page_images) else "") or keys[at][0]
        image = image.replace("\\", "/").rsplit("/", 1)[-1]
        file = next((name for name in _files_of(image) if name in files), None)
        if file is not None:
            yield at, image, file, files[file] or ""


def _files_of(image: str) -> tuple[str, ...]:
    """Return the names that the Markdown of an image may have, the first one that is there counts."""
    stem = image[:-4]
    other = stem.replace(".pdf", "")
    return f"{stem}.md", f"{other}.mmd", f"{other}.md", f"{image}.md"


def _read(truth: Annotations, entry: int, markdown: str) -> _Read:
    texts, tables = _truths(truth, entry)
    mixed: dict[str, list[Item]] = {}
    for item in items_of(markdown):
        mixed.setdefault(item.kind, []).append(item)
    of_tables = {kind: mixed.pop(kind, []) for kind in ("html", "latex")}
    # Those of one kind come together, in the order in which the kinds do.
    rest = [item for some in mixed.values() for item in some]
    pairs, cells = _tables(tables, **of_tables) if tables else ([], [])
    return _Read(texts, [*rest, *cells], pairs)


def _page(truth: Annotations, entry: int, image: str, markdown: str) -> dict[str, Any]:
    """Return the fields of a `ProfilePage`."""
    texts, items, tables = _read(truth, entry, markdown)
    entries = [each for each in quick_match(texts, items) if each.category not in IGNORED]
    written = [each for each in entries if each.category != FORMULA]
    formulas = [each for each in entries if each.category == FORMULA]
    moved = [each for each in formulas if each.of_formula is False]
    return {
        "document": truth.documents[truth.page_document[entry]].doc_id,
        "page": int(truth.page_index[entry]),
        "image": image,
        "texts": [_sample(each.truth or each.raw_truth, each.predicted or each.raw_predicted) for each in written],
        "moved": list(map(_as_text, moved)),
        "formulas": [
            _sample(each.truth or each.raw_truth, each.predicted or each.raw_predicted)
            for each in formulas
            if each.of_formula is not False
        ],
        "tables": [_table(*pair) for pair in tables],
        "order": _order(written),
    }


def _sample(truth: str, predicted: str) -> Sample:
    from rapidfuzz.distance import Levenshtein

    return Sample(truth, predicted, Levenshtein.distance(truth, predicted))


def _as_text(entry: Entry) -> Sample:
    said = text_of_latex(entry.raw_truth)
    return _sample(letters_of(said) or said, entry.predicted or entry.raw_predicted)


def _order(entries: Sequence[Entry]) -> OrderSample | None:
    from rapidfuzz.distance import Levenshtein

    read = sorted((each for each in entries if each.position is not None), key=lambda each: each.position or 0)
    truth = sorted(order for each in entries for order in each.orders if order)
    predicted = [order for each in read for order in each.orders if order]
    if not truth and not predicted:
        return None
    return OrderSample(truth, predicted, Levenshtein.distance(truth, predicted))


def _tables(
    truths: Sequence[str], html: Sequence[Item], latex: Sequence[Item]
) -> tuple[list[tuple[str, str]], list[Item]]:
    """Return the true tables with those that are most like them, and the cells of others as texts.

    Where there are more tables of LaTeX these are taken, and each counts as an empty one.
    """
    items = latex if len(latex) > len(html) else html
    true, read = [text for text in truths if text], [item for item in items if item.text]
    pairs = dict(assigned(distances(true, [item.text for item in read]))) if true and read else {}
    tables = [(raw, read[pairs[at]].text if at in pairs and items is not latex else "") for at, raw in enumerate(true)]
    left = [item for at, item in enumerate(read) if true and at not in pairs.values()]
    return tables, [Item("text", text, item.start) for item in left for text in texts_of_cells(item.text)]


def _table(raw: str, text: str) -> TableSample:
    forms = [normal_table(raw) or raw, (normal_table(text) or text) if text else ""]
    return TableSample(_sample(*forms), *teds_of_markup(*forms))


def _truths(truth: Annotations, entry: int) -> tuple[list[Truth], list[str]]:
    """Return the texts and formulas of a page in the order of its program, and its tables; cut texts are joined."""
    boxes = truth.boxes
    rows = np.flatnonzero(boxes.entry == entry).tolist()
    by_position = {int(boxes.position[row]): row for row in rows}

    def order_of(row: int) -> float | None:
        place = boxes.order[row] if boxes.order is not None else None
        return None if place is None else place[0]

    def text_of(row: int) -> str:
        return (boxes.text[row] or "") if boxes.text is not None else ""

    chains: list[list[int]] = []
    stated = truth.attributes.get(TRUNCATED)
    for pair in ((stated[entry] if stated is not None else None) or "").split():
        own = [by_position[at] for at in map(int, pair.split(">")) if at in by_position]
        joined = [chain for chain in chains if any(row in chain for row in own)]
        for chain in joined:
            chain.extend(own)
        if own and not joined:
            chains.append(own)
    chained = {row for chain in chains for row in chain}
    by_category: dict[str, list[Truth]] = {}
    for row in rows:
        if row not in chained:
            category = truth.labels[boxes.label[row]]
            by_category.setdefault(category, []).append(Truth(category, text_of(row), order_of(row)))
    for chain in chains:
        own = sorted(chain, key=lambda row: order_of(row) or 0.0)
        category = truth.labels[boxes.label[own[0]]]
        whole = Truth(category, "".join(map(text_of, own)), order_of(own[0]))
        by_category.setdefault(category, []).append(whole)
    texts = [each for category in (*_TEXTS, FORMULA) for each in by_category.get(category, ())]
    texts.sort(key=lambda each: each.order or 0.0)
    tables = [row for row in rows if truth.labels[boxes.label[row]] == "table" and row not in chained]
    tables.sort(key=lambda row: order_of(row) or 0.0)
    markup = boxes.cells or [None] * len(boxes)
    return texts, [str(markup[row] or "") for row in tables]
