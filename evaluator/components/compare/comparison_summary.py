"""The payload of the comparison board: positions as shares of an axis, links as a filter and a label."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final, Literal

from evaluator.compare.differences import Difference, decision_differences, in_reading_order
from evaluator.compare.ledger import Ledger
from evaluator.compare.sentences import (
    difference_points,
    interval_text,
    loss_text,
    name_of,
    sentence,
    summary,
    tick_text,
    worst_loss,
)
from evaluator.components.compare.pair import PAGE_FILTERS
from evaluator.components.compare.pair_list import boxes_of
from evaluator.components.compare.payload import (
    BoardPayload,
    DifferenceRowItem,
    DifferenceTableItem,
    FalsePositivesItem,
    LabelCellItem,
    LabelRowItem,
    LedgerCellItem,
    LinkItem,
    SentenceItem,
    TickItem,
)
from evaluator.data.issues import count_of, cut, displayed
from evaluator.metrics.resampling import FEW_DOCUMENTS
from evaluator.metrics.results import signed

SHOWN_DIFFERENCES: Final = 8
TABLE_METRICS: Final = ("recall", "precision", "f1")
"""The metrics of the whole table."""
_MISSING: Final = "–"
_STEPS: Final = (1, 2, 5)
_MOST_TICKS: Final = 5
_BEYOND: Final = 0.03
Outcome = Literal["both", "a_only", "b_only", "neither"]
# The filter behind each cell, its title and its words, with places for the names of the two models.
_CELLS: Final[tuple[tuple[Outcome, str, str, str], ...]] = (
    ("both", "both_found", "both", "found by both"),
    ("a_only", "b_broke", "boxes lost in {1}", "found by {0} only"),
    ("b_only", "b_fixed", "boxes gained in {1}", "found by {1} only"),
    ("neither", "both_missed", "neither", "missed by both"),
)
_INVENTED: Final = (("shared", "both_invent"), ("{0} only", "only_a_invents"), ("{1} only", "only_b_invents"))


def board_data(
    ledger: Ledger, differences: Sequence[Difference], names: Sequence[str], *, show: str, label: str
) -> BoardPayload:
    """Return all that the comparison board shows; lists are empty without documents or differences."""
    few = decision_differences(differences, limit=SHOWN_DIFFERENCES)
    every = in_reading_order([one for one in differences if one.difference is not None])
    return BoardPayload(
        sentence=sentence_parts(differences, names),
        tables=[_table(few, names), _table(every, names)],
        reason=_reason(differences),
        ledger=[
            _cell(ledger, name, show_, title.format(*names), words.format(*names))
            for name, show_, title, words in _CELLS
        ],
        false_positives=[
            FalsePositivesItem(title.format(*names), int(boxes_of(ledger.total, name).sum()), LinkItem(name, ""))
            for title, name in _INVENTED
        ],
        labels=_labels(ledger, names),
        chosen=LinkItem(show, cut(label)),
    )


def sentence_parts(differences: Sequence[Difference], names: Sequence[str]) -> list[SentenceItem]:
    """Return the summary of `evaluator.compare.sentences` in linked parts, to be joined by spaces."""
    whole, worst = summary(differences, names), worst_loss(differences)
    head = next((one for one in differences if one.overall and sentence(one, names) == whole.headline), None)
    parts = [SentenceItem(displayed(whole.headline), strong=True, link=link_of(head) if head else None)]
    loss = loss_text(worst) if worst else ""
    loss = loss if whole.notes.endswith(loss) else ""
    notes = whole.notes.removesuffix(loss).rstrip()
    if notes:
        parts.append(SentenceItem(displayed(notes), strong=False, link=None))
    if worst and loss:
        parts.append(SentenceItem(displayed(loss), strong=False, link=link_of(worst)))
    return parts


def link_of(one: Difference) -> LinkItem:
    """Return the link of a difference: lost or gained boxes for recall, one model's own FP for precision."""
    fell = (one.difference or 0.0) < 0.0
    shows = {
        "recall": "b_broke" if fell else "b_fixed",
        "precision": "only_b_invents" if fell else "only_a_invents",
    }
    return LinkItem(shows.get(one.metric, "changed"), "" if one.overall else cut(one.label))


def axis_of(differences: Sequence[Difference]) -> tuple[float, float, list[float]]:
    """Return ends and ticks, in points, of an axis that holds the differences, their intervals and 0.

    At most five ticks, 0 among them; from -1 to 1 for nothing.

    >>> axis_of([])
    (-1.0, 1.0, [-1.0, 0.0, 1.0])
    """
    held = [100.0 * end for one in differences for end in _ends(one)]
    low, high = min([0.0, *held]), max([0.0, *held])
    span = high - low
    if span < 0.2:
        return -1.0, 1.0, [-1.0, 0.0, 1.0]
    power = math.floor(math.log10(span / _MOST_TICKS))
    steps = [step * 10.0**exponent for exponent in (power, power + 1) for step in _STEPS]
    step = next(step for step in steps if math.floor(high / step) - math.ceil(low / step) < _MOST_TICKS)
    ticks = [round(place * step, 6) + 0.0 for place in range(math.ceil(low / step), math.floor(high / step) + 1)]
    return low - _BEYOND * span, high + _BEYOND * span, ticks


def _ends(one: Difference) -> list[float]:
    if one.difference is None:
        return []
    shown = [] if one.too_few or one.low is None or one.high is None else [one.low, one.high]
    return [one.difference, *shown]


def _table(differences: Sequence[Difference], names: Sequence[str]) -> DifferenceTableItem:
    low, high, ticks = axis_of(differences)
    return DifferenceTableItem(
        rows=[_row(one, low, high, names) for one in differences],
        zero=(0.0 - low) / (high - low),
        ticks=[TickItem((tick - low) / (high - low), tick_text(tick)) for tick in ticks],
    )


def _row(one: Difference, low: float, high: float, names: Sequence[str]) -> DifferenceRowItem:
    """Return one line of the table; `low` and `high` are the ends of the axis."""
    hidden = one.too_few or one.low is None or one.high is None

    def place(value: float | None) -> float | None:
        return None if value is None else (100.0 * value - low) / (high - low)

    return DifferenceRowItem(
        title=displayed(name_of(one)),
        points=difference_points(one) or _MISSING,
        value=place(one.difference),
        low=None if hidden else place(one.low),
        high=None if hidden else place(one.high),
        interval=interval_text(one, signed=True) or _MISSING,
        star=one.is_clear,
        tone=one.kind if one.kind in ("loss", "gain") else "unclear",
        better=f"{one.documents_better:,}",
        worse=f"{one.documents_worse:,}",
        words=displayed(sentence(one, names)),
        link=link_of(one),
    )


def _reason(differences: Sequence[Difference]) -> str:
    if not differences:
        return "No difference is defined."
    one = differences[0]
    if one.few_documents:
        few = count_of(one.documents, "document")
        return f"No intervals: with {few} an interval means little; {FEW_DOCUMENTS} are needed."
    return f"★ the interval excludes 0; {one.resamples:,} resamples of the documents in pairs, seed 0"


def _cell(ledger: Ledger, name: Outcome, show: str, title: str, words: str) -> LedgerCellItem:
    boxes = int(getattr(ledger.total, name)[0])
    pages = int((getattr(ledger.per_page, name) > 0).sum())
    text = f"{count_of(boxes, 'ground-truth box')} {words}, on {count_of(pages, 'page')}. Open them"
    return LedgerCellItem(boxes, text, LinkItem(show, ""), name, title)


def _labels(ledger: Ledger, names: Sequence[str]) -> list[LabelRowItem]:
    """Return the ledger by label, the one that lost most first; labels without any box are left out."""
    counts = ledger.per_label
    rows = [row for row in range(len(ledger.labels)) if (counts.both + counts.changed + counts.neither)[row]]
    rows.sort(key=lambda row: int(counts.net_found[row]))
    items = []
    for row in rows:
        label = ledger.labels[row]
        cells = []
        for name, show in (("a_only", "b_broke"), ("b_only", "b_fixed"), ("neither", "both_missed")):
            boxes = int(getattr(counts, name)[row])
            words = f"{displayed(label)}, {PAGE_FILTERS[show].title(names)}: {boxes:,}. Open the pages"
            cells.append(LabelCellItem(boxes, words, LinkItem(show, cut(label))))
        items.append(LabelRowItem(cut(label), displayed(label), cells, signed(int(counts.net_found[row]))))
    return items
