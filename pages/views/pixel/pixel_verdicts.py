"""Verdicts on wrong pixels in this session: on the boxes that make a piece of a page."""

from __future__ import annotations

from collections.abc import Sequence

from evaluator.components.compare.payload import PaneItem
from evaluator.components.compare.pixel_pair import DRAWN_PIECES
from evaluator.components.viewer.judged import attach_pieces
from evaluator.components.viewer.payload import VerdictEvent
from evaluator.protocols.pixel import PixelResult
from evaluator.protocols.pixel.regions import WrongComponent
from evaluator.review.pixel_targets import JudgedPiece, judged_pieces
from pages.app.results import result_of
from pages.app.session_files import LoadedBoxes, PairModel, Place
from pages.views.findings import findings
from pages.views.pixel import pixel_results


def on_pane(
    loaded: LoadedBoxes,
    model: PairModel,
    place: Place,
    pane: PaneItem,
    *,
    result: PixelResult,
    pieces: Sequence[WrongComponent],
) -> PaneItem:
    """Return a pane of wrong pixels, the page's `pieces`, with verdicts and what is not saved."""
    judged = _judged(loaded, model, place, result, pieces)
    return findings.with_verdicts(pane, attach_pieces(pane.mistakes, judged))


def handle(loaded: LoadedBoxes, model: PairModel, event: VerdictEvent) -> findings.Unsaved | None:
    """Keep a verdict on a piece; None when it is on disk or the page has no such piece any more."""
    result = pixel_results.result_of(loaded, model.letter).result
    if result is None:
        return None
    place = Place(event.document, event.index)
    pieces = result.wrong_components(place.document, place.index)
    judged = _judged(loaded, model, place, result, pieces)
    return findings.save_event(event, {one.id: one.target for one in judged if one is not None})


def _judged(
    loaded: LoadedBoxes, model: PairModel, place: Place, result: PixelResult, pieces: Sequence[WrongComponent]
) -> list[JudgedPiece | None]:
    boxes = result_of(loaded, model)
    page = boxes.matching.dataset.page_row(place.document, place.index)
    own = result.dataset.page_row(place.document, place.index)
    drawn = pieces[:DRAWN_PIECES]
    if page is None or own is None:
        return [None] * len(drawn)
    width, height = result.extent[own].tolist()
    return judged_pieces(boxes, page, drawn, (width, height), findings.review_log())
