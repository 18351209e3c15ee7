"""What the comparison draws of one page: the boxes of two models with what they agree and differ on.

Keys are side and row: ``g12`` of the ground truth, ``a3`` and ``b3`` of the models. A ground truth and its matches have
its outcome as kind: ``both``, ``a_only``, ``b_only``, ``neither``; a false positive is ``shared``, ``a_invents`` or
``b_invents``.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Final, Literal, NamedTuple

import msgspec
import numpy as np

from evaluator.compare.ledger import A_ONLY, B_ONLY, OUTCOMES, Ledger
from evaluator.components.compare.payload import DifferenceItem, PairBoxItem, PaneItem
from evaluator.components.payload import LimitItem, ModelItem, PairKind
from evaluator.components.viewer.page_overlay import cause_chips, page_data
from evaluator.components.viewer.payload import BoxItem, CauseItem, MistakeItem, PageLayers
from evaluator.data.issues import isolated
from evaluator.matching.box_results import UNMATCHED, AnyBoxResult
from evaluator.matching.page_rows import rows_on


class PageFilter(NamedTuple):
    """A way to list pages by kinds of boxes; `words` is a title with places for the models' names."""

    words: str
    kinds: tuple[PairKind, ...]
    main: bool

    def title(self, names: Sequence[str]) -> str:
        """Return the title with the names of the two models."""
        return self.words.format(*names)


CHANGES: Final[tuple[PairKind, ...]] = ("a_only", "b_only", "a_invents", "b_invents")
"""The kinds on which the models differ."""

PAGE_FILTERS: Final[Mapping[str, PageFilter]] = {
    "changed": PageFilter("Changed", CHANGES, main=True),
    "b_broke": PageFilter("Lost in {1}", ("a_only",), main=True),
    "b_fixed": PageFilter("Gained in {1}", ("b_only",), main=True),
    "both_missed": PageFilter("Both missed", ("neither",), main=True),
    "only_b_invents": PageFilter("Extra only in {1}", ("b_invents",), main=True),
    "only_a_invents": PageFilter("Extra only in {0}", ("a_invents",), main=False),
    "both_found": PageFilter("Both found", ("both",), main=False),
    "both_invent": PageFilter("Extra in both", ("shared",), main=False),
}
"""The filters of the comparison by name, in the order of the view: the categories of the ledger, and what else it
counts."""

Order = Literal[0, 1]
_FIRST: Final[Order] = 0
_SECOND: Final[Order] = 1


PREFIXES: Final = ("a", "b")
"""Of the keys of each model's predictions."""
ALONE: Final[tuple[PairKind, PairKind]] = ("a_invents", "b_invents")
"""What only one model has, by model."""


class PairLayers(NamedTuple):
    """What is drawn of one page of two models; the differences are those that the filter asks for."""

    panes: tuple[PaneItem, PaneItem]
    differences: tuple[DifferenceItem, ...]
    notes: tuple[str, ...]


def pair_layers(
    panes: Sequence[PaneItem], differences: Iterable[DifferenceItem], notes: Iterable[str] = ()
) -> PairLayers:
    """Return two panes, with their differences in reading order and each note once."""
    first, second = panes
    ordered = sorted(differences, key=lambda each: (round(each.xyxy[1], 2), each.xyxy[0], each.key))
    return PairLayers((first, second), tuple(ordered), tuple(dict.fromkeys(notes)))


def pane(
    model: ModelItem,
    words: str,
    boxes: Sequence[PairBoxItem],
    mistakes: Sequence[MistakeItem],
    *,
    total: int | None = None,
    by_outline: bool = False,
) -> PaneItem:
    """Return the page of a model; a limit is stated where `total` has more boxes than are drawn."""
    limit = None if total in (None, len(boxes)) else LimitItem(len(boxes), total or 0)
    return PaneItem(model.letter, model.name, words, boxes, mistakes, limit, by_outline)


def pair_data(
    first: AnyBoxResult,
    second: AnyBoxResult,
    ledger: Ledger,
    page: int,
    *,
    models: tuple[ModelItem, ModelItem],
    show: str = "changed",
    only: Collection[str] | None = None,
    labels: Sequence[str] | None = None,
    page_points: tuple[float, float] | None = None,
) -> PairLayers:
    """Return the boxes of both models on one page (-1: no file mentions it), and their differences.

    Boxes of `show`, a name of `PAGE_FILTERS`, are drawn in full; with `only`, keys of ground truths (for their matches
    too) and false positives, these alone. Boxes are those of `layers.page_data`.
    """
    wanted = PAGE_FILTERS[show].kinds
    sides = [
        _side(result, ledger, page, _layers(result, page, labels, page_points), order, wanted=wanted, only=only)
        for result, order in ((first, _FIRST), (second, _SECOND))
    ]
    outcome = ledger.truth_outcome[rows_on(first, page, labels)[0]]
    counts = np.bincount(outcome[outcome >= 0], minlength=len(OUTCOMES)).tolist()
    names = [model.letter for model in models]
    of = "" if labels is None else f"{', '.join(isolated(label) for label in labels)}: "
    words = [of + text for text in _pane_words(names, fixed=counts[B_ONLY], broke=counts[A_ONLY])]
    panes = [
        PaneItem(
            letter=model.letter,
            name=model.name,
            words=text + _extra_words(side, kind),
            boxes=side.boxes,
            mistakes=side.layers.mistakes,
            limit=side.layers.limit,
            by_outline=side.layers.by_outline,
            causes=side.layers.causes,
        )
        for model, text, side, kind in zip(models, words, sides, ALONE, strict=True)
    ]
    notes = (note for side in sides for note in side.layers.notes)
    return pair_layers(panes, _differences(sides, wanted, names, only), notes)


def _layers(
    result: AnyBoxResult, page: int, labels: Sequence[str] | None, page_points: tuple[float, float] | None
) -> PageLayers:
    return page_data(result, page, labels=labels, page_points=page_points, causes=result.causes)


class _Side(NamedTuple):
    layers: PageLayers
    boxes: tuple[PairBoxItem, ...]
    titles: Mapping[int | None, str]
    """what each mistake of the page is called, by its number"""
    by_key: Mapping[str, PairBoxItem]


def _side(
    result: AnyBoxResult,
    ledger: Ledger,
    row: int,
    page: PageLayers,
    order: Order,
    *,
    wanted: Sequence[PairKind],
    only: Collection[str] | None,
) -> _Side:
    layers = with_keys(page, PREFIXES[order])
    own = (ledger.a, ledger.b)[order]
    here = np.flatnonzero(own.page == row)
    mates = dict(zip(own.row[here].tolist(), own.partner[here].tolist(), strict=True))
    keys = [int(box.key[1:]) for box in layers.boxes if box.side == "prediction"]
    partners = result.prediction_partner[np.array(keys, dtype=np.int64)].tolist()
    truth_of = dict(zip(keys, partners, strict=True))
    titles: dict[int | None, str] = {mistake.number: mistake.title.lower() for mistake in layers.mistakes}
    drawn, boxes = {*CHANGES, *wanted}, []
    for box in layers.boxes:
        kind, mate = _kind(box, truth_of, ledger, mates, order)
        full = (
            kind in drawn
            and not box.other
            and (only is None or (box.partner or box.key if box.status == "TP" else box.key) in only)
        )
        facts = msgspec.structs.asdict(box)
        boxes.append(PairBoxItem(**facts, kind=kind, full=full, chip=_chip(box, titles), mate=mate))
    shown = _cause_chips(_quiet_parts(boxes), layers.causes)
    return _Side(layers, shown, titles, {box.key: box for box in shown})


def with_keys(page: PageLayers, prefix: str) -> PageLayers:
    """Return a page whose predictions have the keys of one of two models."""
    replace = msgspec.structs.replace

    def named(key: str) -> str:
        return prefix + key[1:] if key.startswith("p") else key

    boxes = [
        replace(
            box,
            key=named(box.key),
            partner=box.partner and named(box.partner),
            nearest=box.nearest and replace(box.nearest, key=named(box.nearest.key)),
        )
        for box in page.boxes
    ]
    mistakes = [replace(mistake, keys=[named(key) for key in mistake.keys]) for mistake in page.mistakes]
    return replace(page, boxes=boxes, mistakes=mistakes)


def page_mistakes(pane: PaneItem) -> list[MistakeItem]:
    """Return the mistakes of a pane, with the keys of their boxes on the page of its model alone."""

    def alone(key: str) -> str:
        return "p" + key[1:] if key.startswith(PREFIXES) else key

    return [msgspec.structs.replace(mistake, keys=[*map(alone, mistake.keys)]) for mistake in pane.mistakes]


def _kind(
    box: BoxItem, truth_of: Mapping[int, int], ledger: Ledger, mates: Mapping[int, int], order: Order
) -> tuple[PairKind, str | None]:
    row = int(box.key[1:])
    truth = row if box.side == "ground_truth" else truth_of[row]
    if truth != UNMATCHED:
        return OUTCOMES[ledger.truth_outcome[truth]], None
    mate = mates.get(row, UNMATCHED)
    if mate == UNMATCHED:
        return ALONE[order], None
    return "shared", f"{PREFIXES[1 - order]}{mate}"


def _chip(box: BoxItem, titles: Mapping[int | None, str]) -> str | None:
    if box.status == "truth":
        return None
    score = "" if box.score is None else f" {box.score:.2f}"
    title = titles.get(box.mistake, "")
    # The status of a missed box that is nothing more is enough.
    wrong = f", {title}" if title and title not in ("missed", "extra") else ""
    return f"{box.status} {isolated(box.label)}{score}{wrong}"


def _quiet_parts(boxes: Sequence[PairBoxItem]) -> tuple[PairBoxItem, ...]:
    """Return one chip for one mistake: a false positive has none beside the missed box that it belongs to."""
    missed = {box.mistake for box in boxes if box.status == "FN" and box.full and box.mistake is not None}
    return tuple(
        msgspec.structs.replace(box, chip=None) if box.status == "FP" and box.mistake in missed else box
        for box in boxes
    )


def _cause_chips(boxes: Sequence[PairBoxItem], of: Sequence[CauseItem]) -> tuple[PairBoxItem, ...]:
    chips = cause_chips([box for box in boxes if box.full], of)
    return tuple(
        msgspec.structs.replace(box, chip=chips[box.key] or None) if box.key in chips else box for box in boxes
    )


def _pane_words(names: Sequence[str], *, fixed: int, broke: int) -> tuple[str, str]:
    return f"misses {f'{fixed:,}' if fixed else 'none'} that {names[1]} finds", f"gains {fixed:,}, loses {broke:,}"


def _extra_words(side: _Side, kind: PairKind) -> str:
    """Return how many false positives only one model has; empty for none."""
    extra = sum(box.kind == kind for box in side.boxes)
    return f", extra {extra:,}" if extra else ""


def _differences(
    sides: Sequence[_Side], kinds: Sequence[PairKind], names: Sequence[str], only: Collection[str] | None
) -> Iterator[DifferenceItem]:
    for order, side in enumerate(sides):
        for box in side.boxes:
            is_truth = box.side == "ground_truth"
            if (
                box.other
                or box.kind not in kinds
                or box.status == "TP"
                or (order == _SECOND and (is_truth or box.mate))
            ):
                continue
            if only is not None and box.key not in only:
                continue
            words = _truth_words(box, sides, names) if is_truth else _false_words(box, side.titles, names)
            yield DifferenceItem(box.key, box.kind, box.xyxy, words)


def _truth_words(truth: PairBoxItem, sides: Sequence[_Side], names: Sequence[str]) -> str:
    parts = []
    for name, side in zip(names, sides, strict=True):
        own = side.by_key.get(truth.key)
        if own is None:
            continue
        if own.status == "FN":
            title = side.titles.get(own.mistake, "missed")
            parts.append(f"{name} misses it" + ("" if title == "missed" else f" ({title})"))
        else:
            partner = side.by_key.get(own.partner or "")
            facts = [f"score {partner.score:.2f}"] if partner and partner.score is not None else []
            facts += [] if own.iou is None else [f"IoU {own.iou:.2f}"]
            parts.append(f"{name} finds it" + (f" ({', '.join(facts)})" if facts else ""))
    return f"{isolated(truth.label)}: {', '.join(parts)}."


def _false_words(box: PairBoxItem, titles: Mapping[int | None, str], names: Sequence[str]) -> str:
    score = "" if box.score is None else f" {box.score:.2f}"
    who = "both have" if box.kind == "shared" else f"only {names[ALONE.index(box.kind)]} has"
    title = titles.get(box.mistake, "")
    return f"{isolated(box.label)}{score}: {who} this extra box{f' ({title})' if title not in ('', 'extra') else ''}."
