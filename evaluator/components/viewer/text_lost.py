"""The words of a page compared with its boxes: text that a prediction loses, and foreign text in it.

A word belongs to a box when its middle lies in it. Boxes are x1, y1, x2, y2 as shares of the displayed page, origin top
left; words are in document order. A page without a text layer is compared by its ink, see `pdf.ink`.

*Lost*: in a ground truth and in no prediction of the model. *Elsewhere*: in a ground truth and only in predictions of
other labels. *Foreign*: in a prediction, and in no ground truth of its label nor in that of the mistake.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import numpy as np

from evaluator.components.payload import LostText, Rect
from evaluator.data.boxes import BoolArray, FloatArray, IntArray
from evaluator.data.dataset import CodeArray
from evaluator.data.issues import count_of
from evaluator.matching.box_results import AnyBoxResult
from evaluator.matching.page_rows import page_shares, rows_on
from evaluator.pdf.ink import MARKED, ink_lost, inked_stretches
from evaluator.pdf.pool import Ink, Words

_AT_ONCE: Final = 4_000_000
_QUOTED: Final = 40


class TextCounts(NamedTuple):
    """Words per label code, int64, shape (L,): `words` in a ground truth; the others as in the module."""

    words: IntArray
    lost: IntArray
    elsewhere: IntArray
    foreign: IntArray

    def plus(self, other: TextCounts) -> TextCounts:
        """Return the sums of both."""
        return TextCounts(*(mine + theirs for mine, theirs in zip(self, other, strict=True)))


def no_counts(labels: int) -> TextCounts:
    """Return zeros for so many labels."""
    return TextCounts(*(np.zeros(labels, dtype=np.int64) for _ in range(4)))


@dataclass(frozen=True, slots=True, eq=False)
class Sides:
    """The boxes of one page that take part, shape (G, 4) and (P, 4), and their label codes."""

    truth: FloatArray
    truth_label: CodeArray
    prediction: FloatArray
    prediction_label: CodeArray

    @property
    def placed(self) -> bool:
        """Return whether all boxes are known as shares of the page; False for pixels of a page without a size."""
        return not (np.isnan(self.truth).any() or np.isnan(self.prediction).any())


def sides_of(
    result: AnyBoxResult,
    truth_rows: IntArray,
    prediction_rows: IntArray,
    *,
    stated: tuple[float, float] | None = None,
) -> Sides:
    """Return the boxes in some rows of a result; for `stated` see `page_shares`."""
    dataset, prediction = result.matching.dataset, result.matching.prediction
    return Sides(
        page_shares(dataset, dataset.ground_truth, truth_rows, stated=stated),
        dataset.ground_truth.label[truth_rows],
        page_shares(dataset, prediction, prediction_rows, stated=stated),
        prediction.label[prediction_rows],
    )


def words_in_boxes(words: FloatArray, boxes: FloatArray) -> BoolArray:
    """Return which words have their middle in any of some boxes, edges included, shape (N,).

    >>> words = np.array([[0.0, 0.0, 0.2, 0.1], [0.1, 0.0, 0.4, 0.1]])
    >>> words_in_boxes(words, np.array([[0.0, 0.0, 0.2, 0.5]])).tolist()
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
    """Return which words of a page are in a ground truth and in no prediction, shape (N,)."""
    return words_in_boxes(words, sides.truth) & ~words_in_boxes(words, sides.prediction)


def count_page(words: FloatArray, sides: Sides, labels: int) -> TextCounts:
    """Count the words of a page by label code; one under ground truths of two labels counts for both."""
    counts = no_counts(labels)
    predicted = words_in_boxes(words, sides.prediction)
    for code in np.union1d(sides.truth_label, sides.prediction_label).tolist():
        mine = words_in_boxes(words, sides.truth[sides.truth_label == code])
        covered = words_in_boxes(words, sides.prediction[sides.prediction_label == code])
        counts.words[code] = mine.sum()
        counts.lost[code] = (mine & ~predicted).sum()
        counts.elsewhere[code] = (mine & predicted & ~covered).sum()
        counts.foreign[code] = (covered & ~mine).sum()
    return counts


class TextSummary(NamedTuple):
    """Lost text of `pages` pages by label; `silent` ones (no readable words or size) are not in `counts`."""

    counts: TextCounts
    pages: int
    silent: int

    def rows(self, labels: Sequence[str]) -> list[dict[str, Any]]:
        """Return a row per label with words, most lost first, then one of all; `share` None without words."""
        some = np.flatnonzero(self.counts.words + self.counts.foreign)
        order = some[np.argsort(-self.counts.lost[some], kind="stable")]
        rows = [_row(labels[code], *(int(column[code]) for column in self.counts)) for code in order.tolist()]
        return [*rows, _row(None, *(int(column.sum()) for column in self.counts))] if rows else []


def _row(label: str | None, words: int, lost: int, elsewhere: int, foreign: int) -> dict[str, object]:
    share = lost / words if words else None
    return {"label": label, "words": words, "lost": lost, "share": share, "elsewhere": elsewhere, "foreign": foreign}


def count_pages(
    result: AnyBoxResult, pages: IntArray, words_of: Callable[[int], FloatArray | None]
) -> Iterator[TextSummary]:
    """Yield the summary of the words of the pages so far, page after page; nothing for no pages.

    `words_of` gives the boxes of the words of a page, float64, shape (N, 4), or None when it cannot be read.
    """
    labels = len(result.matching.dataset.labels)
    counts, silent = no_counts(labels), 0
    for number, page in enumerate(pages.tolist(), start=1):
        words, sides = words_of(page), sides_of(result, *rows_on(result, page))
        if words is None or not len(words) or not sides.placed:
            silent += 1
        else:
            counts = counts.plus(count_page(words, sides, labels))
        yield TextSummary(counts, number, silent)


class MistakeText(NamedTuple):
    """The words of one mistake: rows of the words of the page, int64."""

    lost: IntArray
    elsewhere: IntArray
    foreign: IntArray


class WordsHeld:
    """The words (shape (N, 4)) of a page in its boxes, computed once for all mistakes of the page."""

    def __init__(self, words: FloatArray, sides: Sides) -> None:
        self._words = words
        self._sides = sides
        self._predicted = words_in_boxes(words, sides.prediction)
        self._by_label: dict[tuple[str, int], BoolArray] = {}

    def of_mistake(self, truths: IntArray, predictions: IntArray) -> MistakeText:
        """Return the words that a mistake loses and takes in; rows are those of its boxes in the sides."""
        sides = self._sides
        mine = words_in_boxes(self._words, sides.truth[truths])
        own = words_in_boxes(self._words, sides.prediction[predictions])
        labelled, alike = own.copy(), mine.copy()
        for code in np.unique(sides.truth_label[truths]).tolist():
            labelled |= self._of_label("prediction", code)
        for code in np.unique(sides.prediction_label[predictions]).tolist():
            alike |= self._of_label("truth", code)
        parts = (mine & ~self._predicted, mine & self._predicted & ~labelled, own & ~alike)
        return MistakeText(*(np.flatnonzero(part) for part in parts))

    def _of_label(self, side: str, code: int) -> BoolArray:
        if (side, code) not in self._by_label:
            boxes, labels = getattr(self._sides, side), getattr(self._sides, f"{side}_label")
            self._by_label[side, code] = words_in_boxes(self._words, boxes[labels == code])
        return self._by_label[side, code]


def quoted(texts: Sequence[str], rows: IntArray, what: str) -> str:
    """Return a line of what happened to some words, the first of them, their number; empty for none."""
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
    """The words of a page, without rows when it has no text layer, and then its ink."""

    words: Words
    ink: Ink | None = None


def page_lost(text: PageText, sides: Sides) -> LostText:
    """Return what is marked as lost: ``lost_words`` or, without a text layer, ``lost_ink``; else neither."""
    if len(text.words.texts):
        lost = lost_words(text.words.boxes, sides)
        return LostText(lost=_rects(text.words.boxes[lost]), lost_words=int(lost.sum()))
    if text.ink is None:
        return LostText()
    ink = ink_lost(text.ink, sides.truth, sides.prediction)
    return LostText(lost=inked_stretches(text.ink, ink.cells), lost_ink=ink.share)


class WordsOfMistake(NamedTuple):
    """A mistake's effect on the text; counts are None without a text layer, `boxes` of foreign words."""

    lines: tuple[str, ...]
    lost: int | None = None
    foreign: int | None = None
    boxes: tuple[Rect, ...] = ()


def mistake_texts(
    text: PageText, sides: Sides, mistakes: Sequence[tuple[IntArray, IntArray]]
) -> tuple[WordsOfMistake, ...]:
    """Return what each mistake does to the text; a mistake is its truth and prediction rows of `sides`."""
    words = WordsHeld(text.words.boxes, sides) if len(text.words.texts) else None
    return tuple(
        _ink_line(text, sides, truths)
        if words is None
        else _word_lines(text.words, words.of_mistake(truths, predictions))
        for truths, predictions in mistakes
    )


def _word_lines(words: Words, mistake: MistakeText) -> WordsOfMistake:
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
    share = None if text.ink is None else ink_lost(text.ink, sides.truth[truths], sides.prediction).share
    return WordsOfMistake((f"no text layer: {100 * share:.1f} % of its ink lost",) if share else ())


def _rects(boxes: FloatArray) -> tuple[Rect, ...]:
    return tuple((x1, y1, x2, y2) for x1, y1, x2, y2 in boxes[:MARKED].tolist())
