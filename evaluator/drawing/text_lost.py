"""How much of a page's text a prediction loses, and how much foreign text it takes in.

Owns the comparison of the words of a page with the boxes of both sides. A word belongs to a box when its middle lies
in it: a word that an edge cuts is wholly in or wholly out, and no word counts twice under boxes that overlap. Boxes are
x1, y1, x2, y2 as shares of the displayed page, origin top left; words come in the order of the document. A page
without a text layer, such as a scan, is compared by its ink: the share of its dark (on dark paper: light) pixels in
cells of a small grid. Nothing here opens a document.

The words, everywhere the same:

- *lost*: in a ground truth, and in no prediction of the model at all;
- *elsewhere*: in a ground truth, and only in predictions of other labels;
- *foreign*: in a prediction, and in no ground truth of its label (nor in the ground truth that the mistake is about).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import numpy as np

from evaluator.drawing.page_ink import MARKED, ink_lost, inked_stretches
from evaluator.drawing.page_rows import by_page, page_shares
from evaluator.drawing.payloads import LostText, Rect
from evaluator.metrics.box_results import AnyBoxResult
from evaluator.metrics.results import count_of
from evaluator.model.boxes import BoolArray, FloatArray, IntArray
from evaluator.model.dataset import CodeArray
from evaluator.pdf.pool import Ink, Words

_AT_ONCE: Final = 4_000_000
_QUOTED: Final = 40


class TextCounts(NamedTuple):
    """Words per label, int64 columns of shape (L,): in a ground truth of the label, and those named by the module."""

    words: IntArray
    lost: IntArray
    elsewhere: IntArray
    foreign: IntArray

    def plus(self, other: TextCounts) -> TextCounts:
        """The sums of both."""
        return TextCounts(*(mine + theirs for mine, theirs in zip(self, other, strict=True)))


def no_counts(labels: int) -> TextCounts:
    """Zeros for so many labels."""
    return TextCounts(*(np.zeros(labels, dtype=np.int64) for _ in range(4)))


@dataclass(frozen=True, slots=True, eq=False)
class Sides:
    """The boxes of one page that take part.

    Attributes
    ----------
    truth, prediction : float64, shape (G, 4) and (P, 4)
    truth_label, prediction_label : int32, shape (G,) and (P,)
    """

    truth: FloatArray
    truth_label: CodeArray
    prediction: FloatArray
    prediction_label: CodeArray

    @property
    def placed(self) -> bool:
        """Whether all boxes are known as shares of the page; False for pixels of a page without a size."""
        return not (np.isnan(self.truth).any() or np.isnan(self.prediction).any())


def sides_of(
    result: AnyBoxResult,
    truth_rows: IntArray,
    prediction_rows: IntArray,
    *,
    stated: tuple[float, float] | None = None,
) -> Sides:
    """The boxes in some rows of a result; for `stated` see `page_shares`."""
    dataset, prediction = result.matching.dataset, result.matching.prediction
    return Sides(
        page_shares(dataset, dataset.ground_truth, truth_rows, stated=stated),
        dataset.ground_truth.label[truth_rows],
        page_shares(dataset, prediction, prediction_rows, stated=stated),
        prediction.label[prediction_rows],
    )


def held(words: FloatArray, boxes: FloatArray) -> BoolArray:
    """Which words have their middle in any of some boxes, edges included, bool, shape (N,); all False without boxes.

    Examples
    --------
    >>> held(np.array([[0.0, 0.0, 0.2, 0.1], [0.1, 0.0, 0.4, 0.1]]), np.array([[0.0, 0.0, 0.2, 0.5]])).tolist()
    [True, False]
    """
    covered = np.zeros(len(words), dtype=bool)
    if not len(boxes):
        return covered
    x, y = (words[:, 0] + words[:, 2]) / 2, (words[:, 1] + words[:, 3]) / 2
    step = max(1, _AT_ONCE // len(boxes))
    for start in range(0, len(words), step):
        u, v = x[start : start + step, None], y[start : start + step, None]
        inside = (u >= boxes[:, 0]) & (u <= boxes[:, 2]) & (v >= boxes[:, 1]) & (v <= boxes[:, 3])
        covered[start : start + step] = inside.any(axis=1)
    return covered


def lost_words(words: FloatArray, sides: Sides) -> BoolArray:
    """Which words of a page are in a ground truth and in no prediction, bool, shape (N,)."""
    return held(words, sides.truth) & ~held(words, sides.prediction)


def count_page(words: FloatArray, sides: Sides, labels: int) -> TextCounts:
    """Words of one page by label code; a word under ground truths of two labels counts for both."""
    counts = no_counts(labels)
    predicted = held(words, sides.prediction)
    for code in np.union1d(sides.truth_label, sides.prediction_label).tolist():
        mine = held(words, sides.truth[sides.truth_label == code])
        covered = held(words, sides.prediction[sides.prediction_label == code])
        counts.words[code] = mine.sum()
        counts.lost[code] = (mine & ~predicted).sum()
        counts.elsewhere[code] = (mine & predicted & ~covered).sum()
        counts.foreign[code] = (covered & ~mine).sum()
    return counts


class TextSummary(NamedTuple):
    """How much text a model loses on some pages.

    Attributes
    ----------
    counts : TextCounts
        By label of the dataset.
    pages : int
        Pages that were looked at.
    silent : int
        Of those, pages without a text layer or a known size, or that cannot be read: nothing of them is in `counts`.
    """

    counts: TextCounts
    pages: int
    silent: int

    def rows(self, labels: Sequence[str]) -> list[dict[str, Any]]:
        """One row per label that has words, most lost first, and all labels together (``label`` None) at the end.

        ``share`` is lost words of all words, None without words. Empty when no label has words.
        """
        some = np.flatnonzero(self.counts.words + self.counts.foreign)
        order = some[np.argsort(-self.counts.lost[some], kind="stable")]
        rows = [_row(labels[code], *(int(column[code]) for column in self.counts)) for code in order.tolist()]
        return [*rows, _row(None, *(int(column.sum()) for column in self.counts))] if rows else []


def _row(label: str | None, words: int, lost: int, elsewhere: int, foreign: int) -> dict[str, object]:
    """A row of `TextSummary.rows`."""
    share = lost / words if words else None
    return {"label": label, "words": words, "lost": lost, "share": share, "elsewhere": elsewhere, "foreign": foreign}


def count_pages(
    result: AnyBoxResult, pages: IntArray, words_of: Callable[[int], FloatArray | None]
) -> Iterator[TextSummary]:
    """The words of some pages by label, page after page, so that a long count can be shown and stopped.

    `words_of` gives the boxes of the words of a page, float64, shape (N, 4), or None when it cannot be read. Yields the
    summary of the pages so far; nothing for no pages.
    """
    labels = len(result.matching.dataset.labels)
    truths, predictions = by_page(result)
    counts, silent = no_counts(labels), 0
    for number, page in enumerate(pages.tolist(), start=1):
        words, sides = words_of(page), sides_of(result, truths.on(page), predictions.on(page))
        if words is None or not len(words) or not sides.placed:
            silent += 1
        else:
            counts = counts.plus(count_page(words, sides, labels))
        yield TextSummary(counts, number, silent)


class MistakeText(NamedTuple):
    """The words that one mistake is about: rows of the words of the page, int64."""

    lost: IntArray
    elsewhere: IntArray
    foreign: IntArray


class WordsHeld:
    """Which words of a page lie in which boxes; what several mistakes ask is answered once.

    Parameters
    ----------
    words : float64, shape (N, 4)
    """

    def __init__(self, words: FloatArray, sides: Sides) -> None:
        self._words = words
        self._sides = sides
        self._predicted = held(words, sides.prediction)
        self._by_label: dict[tuple[str, int], BoolArray] = {}

    def of_mistake(self, truths: IntArray, predictions: IntArray) -> MistakeText:
        """The words that a mistake loses and takes in; rows are those of its boxes in the sides."""
        sides = self._sides
        mine = held(self._words, sides.truth[truths])
        own = held(self._words, sides.prediction[predictions])
        labelled, alike = own.copy(), mine.copy()
        for code in np.unique(sides.truth_label[truths]).tolist():
            labelled |= self._of_label("prediction", code)
        for code in np.unique(sides.prediction_label[predictions]).tolist():
            alike |= self._of_label("truth", code)
        parts = (mine & ~self._predicted, mine & self._predicted & ~labelled, own & ~alike)
        return MistakeText(*(np.flatnonzero(part) for part in parts))

    def _of_label(self, side: str, code: int) -> BoolArray:
        """The words in any box of a label on one side."""
        if (side, code) not in self._by_label:
            boxes, labels = getattr(self._sides, side), getattr(self._sides, f"{side}_label")
            self._by_label[side, code] = held(self._words, boxes[labels == code])
        return self._by_label[side, code]


def quoted(texts: Sequence[str], rows: IntArray, what: str) -> str:
    """Words in a line of the list: what happened to them, the first of them, how many.

    Returns
    -------
    str
        For instance ``lost “Figure 3. Households by region” (5 words)``; empty for no words.
    """
    if not len(rows):
        return ""
    text = ""
    for row in rows.tolist():
        longer = f"{text} {texts[row]}".strip()
        if text and len(longer) > _QUOTED:
            text += " …"
            break
        text = longer
    shown = text if len(text) <= _QUOTED + 2 else text[:_QUOTED] + "…"
    return f"{what} “{shown}” ({count_of(len(rows), 'word')})"


# --- the text of a page, whatever it is made of ---------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class PageText:
    """What is known of a page's text.

    Attributes
    ----------
    words : Words
        Without rows for a page that has no text layer.
    ink : Ink or None
        Of a page without words.
    """

    words: Words
    ink: Ink | None = None


def page_lost(text: PageText, sides: Sides) -> LostText:
    """What the viewer marks on a page as lost.

    Returns
    -------
    LostText
        A page with words has no ``lost_ink`` (None), one without has no ``lost_words``; both are None for a blank page.
    """
    if len(text.words.texts):
        lost = lost_words(text.words.boxes, sides)
        return LostText(lost=_rects(text.words.boxes[lost]), lost_words=int(lost.sum()))
    if text.ink is None:
        return LostText()
    ink = ink_lost(text.ink, sides.truth, sides.prediction)
    return LostText(lost=inked_stretches(text.ink, ink.cells), lost_ink=ink.share)


class WordsOfMistake(NamedTuple):
    """What a mistake does to the text, for the list and for the page.

    Attributes
    ----------
    lines : tuple of str
        In sentences.
    lost, foreign : int or None
        How many words are lost and taken in; None without a text layer.
    boxes : tuple of Rect
        Of the foreign words.
    """

    lines: tuple[str, ...]
    lost: int | None = None
    foreign: int | None = None
    boxes: tuple[Rect, ...] = ()


def mistake_texts(
    text: PageText, sides: Sides, mistakes: Sequence[tuple[IntArray, IntArray]]
) -> tuple[WordsOfMistake, ...]:
    """What each mistake of a page does to the text; mistakes are rows of `sides`, ground truth and predictions."""
    words = WordsHeld(text.words.boxes, sides) if len(text.words.texts) else None
    return tuple(
        _ink_line(text, sides, truths)
        if words is None
        else _word_lines(text.words, words.of_mistake(truths, predictions))
        for truths, predictions in mistakes
    )


def _word_lines(words: Words, mistake: MistakeText) -> WordsOfMistake:
    """The words of a mistake in sentences."""
    elsewhere = len(mistake.elsewhere)
    lines = (
        quoted(words.texts, mistake.lost, "lost"),
        f"{count_of(elsewhere, 'word')} under other labels" if elsewhere else "",
        quoted(words.texts, mistake.foreign, "takes in"),
    )
    return WordsOfMistake(
        tuple(line for line in lines if line),
        len(mistake.lost),
        len(mistake.foreign),
        _rects(words.boxes[mistake.foreign]),
    )


def _ink_line(text: PageText, sides: Sides, truths: IntArray) -> WordsOfMistake:
    """The ink of a mistake in a sentence."""
    share = None if text.ink is None else ink_lost(text.ink, sides.truth[truths], sides.prediction).share
    return WordsOfMistake((f"no text layer: {100 * share:.1f} % of its ink lost",) if share else ())


def _rects(boxes: FloatArray) -> tuple[Rect, ...]:
    """Boxes of words for the viewer, as many as are marked."""
    return tuple((x1, y1, x2, y2) for x1, y1, x2, y2 in boxes[:MARKED].tolist())
