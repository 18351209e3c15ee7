"""Text of items as one object: its options, how it runs, what is compared of its results."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Annotated, ClassVar, Final, Literal

import numpy as np
from msgspec import Meta

from evaluator.data.boxes import BoolArray
from evaluator.data.dataset import Annotations, Dataset, JoinedBoxes
from evaluator.data.issues import Issue, count_of
from evaluator.data.plain_text import Normalisation, WordRule
from evaluator.metrics.metric import Metric
from evaluator.metrics.observations import MeasureWords
from evaluator.protocols.base import Say
from evaluator.protocols.items import PAGES, ItemOptions, ItemProtocol, Page, Thing, position, value_of
from evaluator.protocols.omnidocbench import TextProfile
from evaluator.protocols.order.mistakes import kind_of
from evaluator.protocols.text.evaluation import (
    MEASURES,
    NAME,
    TITLE,
    VERSION,
    TextPage,
    TextPair,
    TextResult,
    compare_texts,
)
from evaluator.protocols.text.mistakes import TITLES
from evaluator.protocols.text.pdf_text import FROM_PDFS, with_pdf_text

_SAID: Final = {"plain": "plain, code points", "none": "as written, code points"}
_WORDS: Final = {"scripts": "words by script", "spaces": "words by blanks"}
_MARKUP: Final = re.compile(r"\$[^$\n]+\$|\*\*[^*\n]+\*\*|\\\(|^#{1,6} ", re.MULTILINE)

TrueText = Literal["stated", "pdf"]


class TextOptions(ItemOptions, frozen=True, kw_only=True):
    """The options of the text of items."""

    normalisation: Annotated[
        Normalisation,
        Meta(description="plain has one form for line ends, ligatures, full width and typographic marks."),
    ] = "plain"
    words: Annotated[
        WordRule,
        Meta(description="scripts: each character of a script without blanks is a word; spaces: blanks alone part."),
    ] = "scripts"
    true_text: Annotated[
        TrueText,
        Meta(description="that of the ground truth, or what the PDFs have in its boxes (--pdfs), where none exists."),
    ] = "stated"


class TextProtocol(ItemProtocol[TextOptions]):
    """What is read in the place of each item; see ``evaluation``."""

    name = NAME
    version = VERSION
    title = TITLE
    options = TextOptions
    column = "text"
    titles: ClassVar[Mapping[str, str]] = {**dict(TITLES.items()), **TextProfile.titles}
    cost = "edited character"
    by_page = "ned"
    published = TextProfile
    metrics: ClassVar[Mapping[str, Metric]] = {
        "cer": Metric("character error rate", "makes more errors", "makes fewer errors", lower_is_better=True),
        "wer": Metric("word error rate", "makes more errors", "makes fewer errors", lower_is_better=True),
        "ned": Metric("edit distance of text", "reads further off", "reads closer", lower_is_better=True),
    }
    headline: ClassVar[tuple[str, ...]] = MEASURES
    slice_measures: ClassVar[Mapping[str, MeasureWords]] = {
        "similarity": MeasureWords(
            "similarity of texts", "regions", "ill-read", "similarity lost", "region", fits=True
        ),
        "right": MeasureWords("share read right", "regions", "wrong", "regions lost", "region"),
        PAGES: MeasureWords("similarity of pages", "pages", "ill-read", "similarity lost", "page", fits=True),
    }

    def true_side(self, truth: Annotations, options: TextOptions, say: Say) -> Annotations:
        """Return a ground truth, with the text of its PDFs where that is asked for."""
        if options.true_text == "stated":
            return truth
        if options.pdfs is None:
            raise ValueError("--true-text pdf needs --pdfs, the folder of the PDFs")
        say(f"Reading the text of the PDFs of {truth.name}")
        return with_pdf_text(truth, options.pdfs)

    def takes_part(self, side: JoinedBoxes) -> BoolArray:
        """Return which items have text and no cells."""
        boxes = side.source.boxes
        if boxes.text is None:
            return np.zeros(len(side), dtype=bool)
        cells = boxes.cells or [None] * len(side)
        taken = [text is not None and table is None for text, table in zip(boxes.text, cells, strict=True)]
        return np.array(taken, dtype=bool)

    def _chosen(self, side: JoinedBoxes, dataset: Dataset, options: TextOptions) -> BoolArray:
        """Return which items are compared; with the text of PDFs those of pages that have any, without figures."""
        chosen = super()._chosen(side, dataset, options)
        truth = dataset.ground_truth
        if FROM_PDFS not in truth.source.fixes:
            return chosen
        pages = truth.page[self.takes_part(truth)]
        floats = [code for code, label in enumerate(dataset.labels) if kind_of(label) == "float"]
        return chosen & np.isin(side.page, pages) & ~np.isin(side.label, floats)

    def result(
        self, pages: Sequence[Page], dataset: Dataset, options: TextOptions, said: tuple[str, ...]
    ) -> TextResult:
        """Return the result of a dataset with one prediction."""
        forms = f"{_SAID[options.normalisation]}, {_WORDS[options.words]}"
        return TextResult(
            dataset=dataset,
            paired=pages,
            own_pages=tuple(_page(page, dataset, options) for page in pages),
            said=(*said, forms, "all regions"),
        )

    def things(self, result: TextResult, measure: str) -> Iterator[Thing]:
        """Yield the true regions with text; the similarity is 1 less NED."""
        truth, labels = result.dataset.ground_truth, result.dataset.labels
        for at, page in enumerate(result.pages):
            label_of = {position(truth, row): labels[truth.label[row]] for row in result.paired[at].truth}
            for pair in (*page.pairs, *page.formulas):
                ned = value_of(pair.ratios["ned"])
                if pair.ground_truth is not None and ned is not None:
                    value = 1.0 - ned if measure == "similarity" else float(pair.mistake is None)
                    own = {"label": label_of[pair.ground_truth], "characters": float(pair.reference_length)}
                    yield Thing(at, str(pair.ground_truth), value, own)

    def side_issues(self, dataset: Dataset) -> tuple[Issue, ...]:
        """Return a warning where one side writes math or Markdown and the other does not."""
        sides = dataset.ground_truth.source, dataset.predictions[0].source
        marked = [sum(map(_has_markup, filter(None, side.boxes.text or ()))) for side in sides]
        if not max(marked) or min(marked):
            return ()
        which = marked.index(max(marked))
        return (
            Issue(
                severity="warning",
                file=sides[which].name,
                place="",
                rule="inline math and Markdown are compared as they are written",
                found=f"{count_of(max(marked), 'item')} with some, none in {sides[1 - which].name}",
                fix="Read the numbers accordingly, or write both sides in one way.",
            ),
        )


PROTOCOL: Final = TextProtocol()


@lru_cache(maxsize=4_096)
def is_formula(label: str) -> bool:
    """Return whether items of a label are formulas.

    >>> is_formula("equation_isolated"), is_formula("formula_caption"), is_formula("Text")
    (True, False, False)
    """
    name = re.sub("[^a-z]", "", label.lower())
    return ("formula" in name or "equation" in name) and not name.endswith(("caption", "number"))


def _has_markup(text: str) -> bool:
    # Most texts have none of these, which is found much sooner.
    return ("$" in text or "*" in text or "\\" in text or "#" in text) and _MARKUP.search(text) is not None


def _page(page: Page, dataset: Dataset, options: TextOptions) -> TextPage:
    truth, prediction = dataset.ground_truth, dataset.predictions[0]
    pairs: list[TextPair] = []
    formulas: list[TextPair] = []
    for one, other in page.rows:
        label = truth.label[one] if one is not None else prediction.label[other]
        compared = compare_texts(
            _text(truth, one),
            _text(prediction, other),
            normalisation=options.normalisation,
            word_rule=options.words,
            positions=(position(truth, one), position(prediction, other)),
        )
        (formulas if is_formula(dataset.labels[label]) else pairs).append(compared)
    return TextPage(document=page.document, page=page.page, pairs=pairs, formulas=formulas)


def _text(side: JoinedBoxes, row: int | None) -> str:
    texts = side.source.boxes.text
    return "" if row is None or texts is None else texts[row] or ""
