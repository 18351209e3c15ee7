"""Linked panes of a pixel count: the wrong pixels of two models, in pieces (`PixelResult.wrong_components`).

Pieces of two models are the same where they share wrong pixels of one cell.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from evaluator.components.compare.pair import ALONE, PREFIXES, PairLayers, pair_layers, pane
from evaluator.components.compare.payload import DifferenceItem, PairBoxItem
from evaluator.components.payload import ModelItem, PairKind, Rect
from evaluator.components.viewer.outlines import UNITS
from evaluator.components.viewer.payload import MistakeItem
from evaluator.data.boxes import IntArray
from evaluator.data.issues import count_of, displayed, isolated
from evaluator.protocols.pixel.evaluation import PixelResult
from evaluator.protocols.pixel.matrix import BACKGROUND_NAME
from evaluator.protocols.pixel.regions import WrongComponent

DRAWN_PIECES: Final = 200
"""Pieces of one model that are drawn on a page, the largest ones."""


def pixel_pair(
    results: tuple[PixelResult, PixelResult],
    document: str,
    index: int,
    *,
    pieces: tuple[Sequence[WrongComponent], Sequence[WrongComponent]],
    models: tuple[ModelItem, ModelItem],
    kinds: Sequence[PairKind],
) -> PairLayers:
    """Return the wrong pixels of two models on one page; `pieces` are their `wrong_components`."""
    pages = [result.counted_page(document, index) for result in results]
    drawn = [side[:DRAWN_PIECES] for side in pieces]
    mates = _mates(*drawn)
    panes, differences = [], []
    for order, (model, result, page) in enumerate(zip(models, results, pages, strict=True)):
        boxes, mistakes = [], []
        extent = (1.0, 1.0) if page is None else tuple(result.extent[page].tolist())
        for at, piece in enumerate(drawn[order]):
            mate = mates[order].get(at)
            kind = ALONE[order] if mate is None else "shared"
            other = None if mate is None else f"{PREFIXES[1 - order]}{mate}"
            box = _box(piece, f"{PREFIXES[order]}{at}", at + 1, extent, kind=kind, full=kind in kinds, mate=other)
            boxes.append(box)
            mistakes.append(_mistake(piece, box))
            if box.full and (mate is None or order == 0):
                differences.append(DifferenceItem(box.key, kind, box.xyxy, _sentence(piece, model, mate, drawn[1])))
        wrong = sum(piece.pixels for piece in pieces[order])
        words = count_of(wrong, "wrong pixel") if page is not None else "does not count this page"
        panes.append(pane(model, words, boxes, mistakes, total=len(pieces[order]), by_outline=True))
    return pair_layers(panes, differences)


def _mates(first: Sequence[WrongComponent], second: Sequence[WrongComponent]) -> tuple[dict[int, int], dict[int, int]]:
    """Return the other model's piece with most pixels of the same cell in common, by piece; left out without one."""
    mates: tuple[dict[int, int], dict[int, int]] = ({}, {})
    most: tuple[dict[int, int], dict[int, int]] = ({}, {})
    for a, one in enumerate(first):
        for b, other in enumerate(second):
            if one.cell != other.cell:
                continue
            common = _common(one.rectangles, other.rectangles)
            for order, own, mate in ((0, a, b), (1, b, a)):
                if common > most[order].get(own, 0):
                    most[order][own], mates[order][own] = common, mate
    return mates


def _common(first: IntArray, second: IntArray) -> int:
    low, high = np.maximum(first[:, None, :2], second[None, :, :2]), np.minimum(first[:, None, 2:], second[None, :, 2:])
    return int(np.clip(high - low, 0, None).prod(axis=2).sum())


def _names(cell: tuple[str, str]) -> tuple[str, str]:
    row, column = (isolated(displayed(name)) for name in cell)
    if cell[0] == BACKGROUND_NAME:
        return column, f"Pixels of {column} on background"
    if cell[1] == BACKGROUND_NAME:
        return row, f"Missed pixels of {row}"
    return f"{row} as {column}", f"Pixels of {row} taken for {column}"


def _box(
    piece: WrongComponent,
    key: str,
    number: int,
    extent: tuple[float, ...],
    *,
    kind: PairKind,
    full: bool,
    mate: str | None,
) -> PairBoxItem:
    size = np.tile(np.asarray(extent), 2)
    shares = piece.rectangles / size
    xyxy: Rect = (*shares[:, :2].min(axis=0).tolist(), *shares[:, 2:].max(axis=0).tolist())
    label, _ = _names(piece.cell)
    missed = piece.cell[1] == BACKGROUND_NAME
    corners = np.rint(shares * UNITS).astype(np.int64).tolist()
    return PairBoxItem(
        key=key,
        side="prediction",
        status="FN" if missed else "FP",
        label=label,
        xyxy=xyxy,
        mistake=number,
        outline="".join(f"M{x1} {y1}L{x2} {y1}L{x2} {y2}L{x1} {y2}Z" for x1, y1, x2, y2 in corners),
        kind=kind,
        full=full,
        chip=f"{'missed' if missed else 'extra' if piece.cell[0] == BACKGROUND_NAME else ''} {label}".strip(),
        mate=mate,
    )


def _mistake(piece: WrongComponent, box: PairBoxItem) -> MistakeItem:
    _, title = _names(piece.cell)
    return MistakeItem(
        number=box.mistake or 0,
        name="wrong_pixels",
        status=box.status,
        title=title,
        label=box.label,
        lines=[count_of(piece.pixels, "pixel")],
        tags=[box.status],
        keys=[box.key],
    )


def _sentence(piece: WrongComponent, model: ModelItem, mate: int | None, of_b: Sequence[WrongComponent]) -> str:
    _, title = _names(piece.cell)
    if mate is None:
        return f"{title}: only {model.letter} has these, {count_of(piece.pixels, 'pixel')}."
    return f"{title}: both have them, {piece.pixels:,} in {model.letter}, {of_b[mate].pixels:,} in the other."
