"""What the comparison draws of one page: the boxes of two models with what they agree and differ on.

Owns the hand-over from two results and their ledger to the two linked panes; each pane's boxes are those of the page
viewer (`layers`), under keys that both panes share: ``g12`` is row 12 of the ground truth, ``a3`` and ``b3`` are row 3
of the predictions of model A and model B. A box has one kind. That of a ground truth, and of what matched it, is its
outcome in the ledger: ``both``, ``a_only`` (A finds it, B misses it), ``b_only``, ``neither``. A false positive is
``shared``, ``a_invents`` or ``b_invents``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

import numpy as np

from evaluator.compare.ledger import OUTCOMES, Ledger
from evaluator.drawing.layers import page_data
from evaluator.drawing.page_rows import rows_on
from evaluator.metrics.box_results import UNMATCHED, BoxResult


class PageFilter(NamedTuple):
    """One way to list pages, and which boxes it is about.

    Attributes
    ----------
    title : str
        As people read it.
    kinds : tuple of str
        The boxes that it asks for.
    main : bool
        Always offered; the others only while they are chosen.
    """

    title: str
    kinds: tuple[str, ...]
    main: bool


CHANGES: Final = ("a_only", "b_only", "a_invents", "b_invents")
"""The kinds on which the models differ."""

PAGE_FILTERS: Final[Mapping[str, PageFilter]] = {
    "changed": PageFilter("Changed", CHANGES, main=True),
    "b_fixed": PageFilter("B fixed", ("b_only",), main=True),
    "b_broke": PageFilter("B broke", ("a_only",), main=True),
    "both_missed": PageFilter("Both missed", ("neither",), main=True),
    "only_b_invents": PageFilter("Only B invents", ("b_invents",), main=True),
    "only_a_invents": PageFilter("Only A invents", ("a_invents",), main=False),
    "both_found": PageFilter("Both found", ("both",), main=False),
    "both_invent": PageFilter("Both invent", ("shared",), main=False),
}
"""The filters of the comparison by name, in the order of the view: the categories of the ledger, and what else it
counts."""

_LETTERS: Final = ("A", "B")


def pair_data(
    first: BoxResult[Any],
    second: BoxResult[Any],
    ledger: Ledger,
    page: int,
    *,
    show: str = "changed",
    labels: Sequence[str] | None = None,
    page_points: tuple[float, float] | None = None,
) -> dict[str, Any]:
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

    Returns
    -------
    dict
        ``panes``: for A and B ``letter``, ``words``, ``boxes``, ``mistakes`` and ``limit`` as in `layers.page_data`; a
        box has ``kind``, ``full`` (drawn in full, not faded), ``chip`` (its text) and ``mate`` (key of the same false
        positive of the other model, or None) on top. ``differences`` in reading order: ``key``, ``kind``, ``xyxy``,
        ``words``. All empty for a page without boxes.

    Raises
    ------
    KeyError
        When `show` is unknown.
    """
    wanted = PAGE_FILTERS[show].kinds
    results = (first, second)
    pages = [
        _under_letter(page_data(result, page, labels=labels, page_points=page_points), letter)
        for result, letter in zip(results, _LETTERS, strict=True)
    ]
    mates = [dict(zip(side.row.tolist(), side.partner.tolist(), strict=True)) for side in (ledger.a, ledger.b)]
    full = {*CHANGES, *wanted}
    for result, data, letter, mate in zip(results, pages, _LETTERS, mates, strict=True):
        titles = _titles(data)
        for box in data["boxes"]:
            box["kind"], box["mate"] = _kind(box, result, ledger, mate, letter)
            box["full"] = box["kind"] in full
            box["chip"] = _chip(box, titles)
        _quiet_parts(data["boxes"])
    truths, _ = rows_on(first, page, labels)
    outcome = ledger.truth_outcome[truths]
    found = dict(zip(OUTCOMES, np.bincount(outcome[outcome >= 0], minlength=len(OUTCOMES)).tolist(), strict=True))
    alone = [
        sum(box["kind"] == f"{letter.lower()}_invents" for box in data["boxes"])
        for letter, data in zip(_LETTERS, pages, strict=True)
    ]
    words = _pane_words(found, *alone)
    return {
        "panes": [
            {"letter": letter, "words": text, **{name: data[name] for name in ("boxes", "mistakes", "limit")}}
            for letter, text, data in zip(_LETTERS, words, pages, strict=True)
        ],
        "differences": _differences(pages, wanted),
    }


def _under_letter(data: dict[str, Any], letter: str) -> dict[str, Any]:
    """The page of one model with its predictions called by its letter."""

    def named(key: str) -> str:
        return letter.lower() + key[1:] if key.startswith("p") else key

    for box in data["boxes"]:
        box["key"] = named(box["key"])
        box["partner"] = box["partner"] and named(box["partner"])
        if box["nearest"]:
            box["nearest"] = box["nearest"] | {"key": named(box["nearest"]["key"])}
    for mistake in data["mistakes"]:
        mistake["keys"] = [named(key) for key in mistake["keys"]]
    return data


def _titles(data: Mapping[str, Any]) -> dict[int, str]:
    """What each mistake of a page is called, by its number."""
    return {mistake["number"]: mistake["title"].lower() for mistake in data["mistakes"]}


def _kind(
    box: Mapping[str, Any], result: BoxResult[Any], ledger: Ledger, mates: Mapping[int, int], letter: str
) -> tuple[str, str | None]:
    """Kind of a box, and the key of the same false positive of the other model."""
    row = int(box["key"][1:])
    truth = row if box["side"] == "ground_truth" else int(result.prediction_partner[row])
    if truth != UNMATCHED:
        return OUTCOMES[ledger.truth_outcome[truth]], None
    mate = mates.get(row, UNMATCHED)
    if mate == UNMATCHED:
        return f"{letter.lower()}_invents", None
    return "shared", f"{'b' if letter == 'A' else 'a'}{mate}"


def _chip(box: Mapping[str, Any], titles: Mapping[int, str]) -> str | None:
    """What stands on a box: "FN Caption, cut off", "TP Table 0.91"; None for a matched ground truth."""
    if box["status"] == "truth":
        return None
    score = "" if box["score"] is None else f" {box['score']:.2f}"
    title = titles.get(box["mistake"], "")
    # A missed box that is nothing more says so with its status.
    wrong = f", {title}" if title and title not in ("missed", "invented") else ""
    return f"{box['status']} {box['label']}{score}{wrong}"


def _quiet_parts(boxes: list[dict[str, Any]]) -> None:
    """One chip for one mistake: a false positive has none beside the missed box that it belongs to."""
    missed = {box["mistake"] for box in boxes if box["status"] == "FN" and box["full"] and box["mistake"] is not None}
    for box in boxes:
        if box["status"] == "FP" and box["mistake"] in missed:
            box["chip"] = None


def _pane_words(found: Mapping[str, int], a_invents: int, b_invents: int) -> tuple[str, str]:
    """What stands beside the names of A and B."""
    fixed, broke = found["b_only"], found["a_only"]
    a = [f"misses {fixed:,} that B finds" if fixed else "misses none that B finds"]
    b = [f"fixes {fixed:,}, breaks {broke:,}"]
    a += [f"invents {a_invents:,}"] if a_invents else []
    b += [f"invents {b_invents:,}"] if b_invents else []
    return ", ".join(a), ", ".join(b)


def _differences(pages: Sequence[dict[str, Any]], kinds: Sequence[str]) -> list[dict[str, Any]]:
    """The boxes of some kinds, each once, in reading order, with a sentence."""
    by_key = [{box["key"]: box for box in data["boxes"]} for data in pages]
    titles = [_titles(data) for data in pages]
    found = []
    for place, data in enumerate(pages):
        told = {box["mistake"] for box in data["boxes"] if box["status"] == "FN" and box["kind"] in kinds}
        for box in data["boxes"]:
            is_truth = box["side"] == "ground_truth"
            if box["kind"] not in kinds or box["status"] == "TP" or (place == 1 and (is_truth or box["mate"])):
                continue
            if box["status"] == "FP" and box["mistake"] in told:
                continue
            sides = [own.get(box["key"]) for own in by_key]
            words = _truth_words(box, sides, by_key, titles) if is_truth else _false_words(box, titles[place])
            found.append({"key": box["key"], "kind": box["kind"], "xyxy": box["xyxy"], "words": words})
    return sorted(found, key=lambda each: (round(each["xyxy"][1], 2), each["xyxy"][0], each["key"]))


def _truth_words(
    truth: dict[str, Any],
    sides: Sequence[dict[str, Any] | None],
    by_key: Sequence[Mapping[str, dict[str, Any]]],
    titles: Sequence[Mapping[int, str]],
) -> str:
    """Who finds a ground truth, and how the other one misses it."""
    parts = []
    for letter, side, own, title in zip(_LETTERS, sides, by_key, titles, strict=True):
        if side is None:
            continue
        partner = own.get(side["partner"] or "")
        if side["status"] == "FN":
            name = title.get(side["mistake"], "missed")
            parts.append(f"{letter} misses it" + ("" if name == "missed" else f" ({name})"))
        else:
            score = partner["score"] if partner else None
            facts = [] if score is None else [f"score {score:.2f}"]
            facts += [] if side["iou"] is None else [f"IoU {side['iou']:.2f}"]
            parts.append(f"{letter} finds it" + (f" ({', '.join(facts)})" if facts else ""))
    return f"{truth['label']}: {', '.join(parts)}."


def _false_words(box: dict[str, Any], titles: Mapping[int, str]) -> str:
    """Whose false positive it is, and of what kind."""
    score = "" if box["score"] is None else f" {box['score']:.2f}"
    who = {"shared": "both have this false positive", "a_invents": "only A has this false positive"}
    name = titles.get(box["mistake"], "")
    return f"{box['label']}{score}: {who.get(box['kind'], 'only B has this false positive')}" + (
        f" ({name})." if name else "."
    )
