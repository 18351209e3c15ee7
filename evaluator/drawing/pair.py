"""What the comparison draws of one page: the boxes of two models with what they agree and differ on.

Owns the hand-over from two results and their ledger to the two linked panes; each pane's boxes are those of the page
viewer (`layers`), under keys that both panes share: ``g12`` is row 12 of the ground truth, ``a3`` and ``b3`` are row 3
of the predictions of model A and model B. A box has one kind. That of a ground truth, and of what matched it, is its
outcome in the ledger: ``both``, ``a_only`` (A finds it, B misses it), ``b_only``, ``neither``. A false positive is
``shared``, ``a_invents`` or ``b_invents``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, NamedTuple

import msgspec
import numpy as np

from evaluator.compare.ledger import OUTCOMES, Ledger
from evaluator.drawing.layers import page_data
from evaluator.drawing.page_rows import rows_on
from evaluator.drawing.payloads import BoxItem, DifferenceItem, PageLayers, PairBoxItem, PairKind, PaneItem
from evaluator.metrics.box_results import UNMATCHED, BoxResult


class PageFilter(NamedTuple):
    """One way to list pages, and which boxes it is about.

    Attributes
    ----------
    title : str
        As people read it.
    kinds : tuple of PairKind
        The boxes that it asks for.
    main : bool
        Always offered; the others only while they are chosen.
    """

    title: str
    kinds: tuple[PairKind, ...]
    main: bool


CHANGES: Final[tuple[PairKind, ...]] = ("a_only", "b_only", "a_invents", "b_invents")
"""The kinds on which the models differ."""

PAGE_FILTERS: Final[Mapping[str, PageFilter]] = {
    "changed": PageFilter("Changed", CHANGES, main=True),
    "b_fixed": PageFilter("Gained in B", ("b_only",), main=True),
    "b_broke": PageFilter("Lost in B", ("a_only",), main=True),
    "both_missed": PageFilter("Both missed", ("neither",), main=True),
    "only_b_invents": PageFilter("Extra only in B", ("b_invents",), main=True),
    "only_a_invents": PageFilter("Extra only in A", ("a_invents",), main=False),
    "both_found": PageFilter("Both found", ("both",), main=False),
    "both_invent": PageFilter("Extra in both", ("shared",), main=False),
}
"""The filters of the comparison by name, in the order of the view: the categories of the ledger, and what else it
counts."""

_LETTERS: Final = ("A", "B")


class PairLayers(NamedTuple):
    """What is drawn of one page of two models.

    Attributes
    ----------
    panes : pair of PaneItem
        Of A and B.
    differences : tuple of DifferenceItem
        Those that the filter asks for, in reading order.
    notes : tuple of str
        Sentences about boxes that cannot be drawn.
    """

    panes: tuple[PaneItem, PaneItem]
    differences: tuple[DifferenceItem, ...]
    notes: tuple[str, ...]


def pair_data(
    first: BoxResult[Any],
    second: BoxResult[Any],
    ledger: Ledger,
    page: int,
    *,
    show: str = "changed",
    labels: Sequence[str] | None = None,
    page_points: tuple[float, float] | None = None,
    names: tuple[str, str] = ("", ""),
) -> PairLayers:
    """Boxes of both models on one page, and the differences that a filter asks for, as the panes read them.

    Parameters
    ----------
    first, second : BoxResult
        Model A and model B on one dataset.
    ledger : Ledger
        Of the two results, whole or of some labels.
    page : int
        Row of the page in the dataset; -1 for a page that no file mentions.
    show : str
        A name of `PAGE_FILTERS`: its boxes are drawn in full, and its differences are listed.
    labels : sequence of str, optional
        Boxes of these labels only; all that are scored when absent.
    page_points : tuple of float, optional
        Width and height of the page in points.
    names : pair of str
        What the models are called.

    Returns
    -------
    PairLayers
        Boxes and mistakes as in `layers.page_data`. All empty for a page without boxes.

    Raises
    ------
    KeyError
        When `show` is unknown.
    """
    wanted = PAGE_FILTERS[show].kinds
    pages = [
        _of_model(result, ledger, page_data(result, page, labels=labels, page_points=page_points), letter, wanted)
        for result, letter in zip((first, second), _LETTERS, strict=True)
    ]
    truths, _ = rows_on(first, page, labels)
    outcome = ledger.truth_outcome[truths]
    outcomes = dict(zip(OUTCOMES, np.bincount(outcome[outcome >= 0], minlength=len(OUTCOMES)).tolist(), strict=True))
    a_invents, b_invents = (
        sum(box.kind == kind for box in own.boxes) for own, kind in zip(pages, ("a_invents", "b_invents"), strict=True)
    )
    words = _pane_words(outcomes, a_invents, b_invents)
    a, b = (
        PaneItem(letter=letter, name=name, words=text, boxes=own.boxes, mistakes=own.layers.mistakes,
                 limit=own.layers.limit)
        for letter, name, text, own in zip(_LETTERS, names, words, pages, strict=True)
    )  # fmt: skip
    notes = dict.fromkeys(note for own in pages for note in own.layers.notes)
    return PairLayers((a, b), _differences(pages, wanted), tuple(notes))


@dataclass(frozen=True, eq=False)
class _OfModel:
    """The page of one model under its letter."""

    layers: PageLayers
    boxes: tuple[PairBoxItem, ...]

    @cached_property
    def by_key(self) -> Mapping[str, PairBoxItem]:
        """The boxes by their names."""
        return {box.key: box for box in self.boxes}

    @cached_property
    def titles(self) -> Mapping[int | None, str]:
        """What each mistake of the page is called, by its number."""
        return _titles(self.layers)


def _of_model(
    result: BoxResult[Any], ledger: Ledger, page: PageLayers, letter: str, wanted: Sequence[PairKind]
) -> _OfModel:
    """The page of a model: its predictions under its letter, each box with its kind."""
    layers = _under_letter(page, letter)
    side = ledger.a if letter == "A" else ledger.b
    mates = dict(zip(side.row.tolist(), side.partner.tolist(), strict=True))
    titles, full, boxes = _titles(layers), {*CHANGES, *wanted}, []
    for box in layers.boxes:
        kind, mate = _kind(box, result, ledger, mates, letter)
        own = msgspec.structs.asdict(box)
        boxes.append(PairBoxItem(**own, kind=kind, full=kind in full, chip=_chip(box, titles), mate=mate))
    return _OfModel(layers, _quiet_parts(boxes))


def _under_letter(page: PageLayers, letter: str) -> PageLayers:
    """The page of one model with its predictions called by its letter."""
    replace = msgspec.structs.replace

    def named(key: str) -> str:
        return letter.lower() + key[1:] if key.startswith("p") else key

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


def _titles(page: PageLayers) -> Mapping[int | None, str]:
    """What each mistake of a page is called, by its number."""
    return {mistake.number: mistake.title.lower() for mistake in page.mistakes}


def _kind(
    box: BoxItem, result: BoxResult[Any], ledger: Ledger, mates: Mapping[int, int], letter: str
) -> tuple[PairKind, str | None]:
    """Kind of a box, and the key of the same false positive of the other model."""
    row = int(box.key[1:])
    truth = row if box.side == "ground_truth" else int(result.prediction_partner[row])
    if truth != UNMATCHED:
        return OUTCOMES[ledger.truth_outcome[truth]], None
    mate = mates.get(row, UNMATCHED)
    if mate == UNMATCHED:
        return ("a_invents" if letter == "A" else "b_invents"), None
    return "shared", f"{'b' if letter == 'A' else 'a'}{mate}"


def _chip(box: BoxItem, titles: Mapping[int | None, str]) -> str | None:
    """The text of a box: "FN Caption, cut off", "TP Table 0.91"; None for a matched ground truth."""
    if box.status == "truth":
        return None
    score = "" if box.score is None else f" {box.score:.2f}"
    title = titles.get(box.mistake, "")
    # The status of a missed box that is nothing more is enough.
    wrong = f", {title}" if title and title not in ("missed", "extra") else ""
    return f"{box.status} {box.label}{score}{wrong}"


def _quiet_parts(boxes: Sequence[PairBoxItem]) -> tuple[PairBoxItem, ...]:
    """One chip for one mistake: a false positive has none beside the missed box that it belongs to."""
    missed = {box.mistake for box in boxes if box.status == "FN" and box.full and box.mistake is not None}
    return tuple(
        msgspec.structs.replace(box, chip=None) if box.status == "FP" and box.mistake in missed else box
        for box in boxes
    )


def _pane_words(outcomes: Mapping[str, int], a_invents: int, b_invents: int) -> tuple[str, str]:
    """The text beside the names of A and B."""
    fixed, broke = outcomes["b_only"], outcomes["a_only"]
    a = [f"misses {fixed:,} that B finds" if fixed else "misses none that B finds"]
    b = [f"gains {fixed:,}, loses {broke:,}"]
    a += [f"extra {a_invents:,}"] if a_invents else []
    b += [f"extra {b_invents:,}"] if b_invents else []
    return ", ".join(a), ", ".join(b)


def _differences(pages: Sequence[_OfModel], kinds: Sequence[PairKind]) -> tuple[DifferenceItem, ...]:
    """The boxes of some kinds, each once, in reading order, with a sentence."""
    listed = []
    for place, page in enumerate(pages):
        missed = {box.mistake for box in page.boxes if box.status == "FN" and box.kind in kinds}
        for box in page.boxes:
            is_truth = box.side == "ground_truth"
            if box.kind not in kinds or box.status == "TP" or (place == 1 and (is_truth or box.mate)):
                continue
            if box.status == "FP" and box.mistake in missed:
                continue
            words = _truth_words(box, pages) if is_truth else _false_words(box, page.titles)
            listed.append(DifferenceItem(box.key, box.kind, box.xyxy, words))
    return tuple(sorted(listed, key=lambda each: (round(each.xyxy[1], 2), each.xyxy[0], each.key)))


def _truth_words(truth: PairBoxItem, pages: Sequence[_OfModel]) -> str:
    """Who finds a ground truth, and how the other one misses it."""
    parts = []
    for letter, page in zip(_LETTERS, pages, strict=True):
        by_key = page.by_key
        side = by_key.get(truth.key)
        if side is None:
            continue
        partner = by_key.get(side.partner or "")
        if side.status == "FN":
            name = page.titles.get(side.mistake, "missed")
            parts.append(f"{letter} misses it" + ("" if name == "missed" else f" ({name})"))
        else:
            facts = [f"score {partner.score:.2f}"] if partner and partner.score is not None else []
            facts += [] if side.iou is None else [f"IoU {side.iou:.2f}"]
            parts.append(f"{letter} finds it" + (f" ({', '.join(facts)})" if facts else ""))
    return f"{truth.label}: {', '.join(parts)}."


def _false_words(box: PairBoxItem, titles: Mapping[int | None, str]) -> str:
    """Whose false positive it is, and of what kind."""
    score = "" if box.score is None else f" {box.score:.2f}"
    who = {"shared": "both have this false positive", "a_invents": "only A has this false positive"}
    name = titles.get(box.mistake, "")
    return f"{box.label}{score}: {who.get(box.kind, 'only B has this false positive')}" + (
        f" ({name})." if name else "."
    )
