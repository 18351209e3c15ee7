"""Verdicts on mistakes of reading order, text and tables: on a page of the view Reading, and their status."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Final

import msgspec

from evaluator.components.compare.pair import page_mistakes
from evaluator.components.compare.payload import PaneItem
from evaluator.components.viewer import reading
from evaluator.components.viewer.judged import attach_items
from evaluator.components.viewer.payload import PageLayers, PagePayload, VerdictEvent
from evaluator.components.viewer.reading import READINGS
from evaluator.review.identity import TargetReview, finding_id, match_reviews, stored_name, targets_by_id
from evaluator.review.item_causes import ItemModel, ItemRow, item_rows
from evaluator.review.item_targets import ItemPlace, ItemsOf, item_statuses, item_target, places_of
from evaluator.review.status import FindingStatus
from evaluator.review.verdicts import JudgedBox, ReviewLog, Target
from evaluator.system.lru_cache import LRUCache
from pages.app.cache import Cached
from pages.app.session_files import LoadedBoxes, Model, PairModel
from pages.app.state import State, go_to_page, state
from pages.views.findings import findings
from pages.views.reading import reading_results
from pages.views.reading.reading_results import Reading

VIEW_FILE: Final = "pages/reading.py"
_LAYERS: Final = LRUCache[object, PageLayers](most=64)
_ROWS: Final = Cached[list[ItemRow]](12)


def on_page(of: Reading, model: Model, document: str, page: int, payload: PagePayload) -> PagePayload:
    """Return the payload of a page with verdicts and what is not saved."""
    judged = attach_items(payload.mistakes, reviews(of, model, document, page))
    # What a profile counts has no place that a verdict could be on.
    judges = reading_results.options(of.system).profile == "own"
    return msgspec.structs.replace(findings.with_verdicts(payload, judged), verdicts=judges)


def on_pane(of: Reading, model: Model, document: str, page: int, pane: PaneItem) -> PaneItem:
    """Return the page of one of two models with verdicts and what is not saved."""
    return findings.with_verdicts(pane, attach_items(page_mistakes(pane), reviews(of, model, document, page)))


def handle(of: Reading, model: Model, event: VerdictEvent) -> findings.Unsaved | None:
    """Keep a verdict that the viewer sent; None when on disk or when its mistake is not on the page any more."""
    return findings.save_event(event, targets_by_id(reviews(of, model, event.document, event.index).values()))


def statuses(log: ReviewLog) -> list[FindingStatus]:
    """Return what became of every judged mistake of items, the newest first; empty when none was judged."""
    if not any(judged.target.kind == "item" for judged in log.judged.values()):
        return []
    return item_statuses(log, [_items_of(of, model) for of, model in _open()])


def rows(loaded: LoadedBoxes, log: ReviewLog) -> list[ItemRow]:
    """Return the kinds of mistakes of items of the chosen models, with the findings on them, protocol by protocol."""
    names = [loaded.predictions[model.index].name for model in loaded.pair]
    of_own = [of for of in _readings() if reading_results.options(of.system).profile == "own"]
    return [row for of in of_own for row in _rows(of, names, log)]


def _rows(of: Reading, names: Sequence[str], log: ReviewLog) -> list[ItemRow]:
    by_name = {of.loaded.predictions[model.index].name: model for model in of.loaded.models}
    models = [by_name.get(name) for name in names]
    keys = [None if model is None else reading_results.key_of(of, model) for model in models]

    def made() -> list[ItemRow]:
        every = [_model_of(of, model) for model in models]
        return item_rows(of.system.name, of.system.cost, every, statuses(log))

    return _ROWS.of((*keys, log.revision), made)


def _model_of(of: Reading, model: Model | None) -> ItemModel:
    if model is None:
        return ItemModel([], lambda _: None)
    return ItemModel([*places_of(reading_results.result_of(of, model))], partial(_review_of, of, model))


def _review_of(of: Reading, model: Model, place: ItemPlace) -> TargetReview | None:
    layers = layers_of(of, model, place.document, place.page)
    assert layers is not None
    mistake = [each for each in layers.mistakes if each.name == place.name][place.number]
    return reviews(of, model, place.document, place.page).get((mistake.name, tuple(mistake.keys)))


def show_on_page(target_id: str, target: Target) -> None:
    """Make the view Reading open the page of a mistake, which is chosen, in a model that has it."""
    for of, model in _open():
        for key, review in reviews(of, model, target.document or "", target.page or 0).items():
            if finding_id(*review) == target_id:
                reading_results.clear_filter()
                state.reading_of, state.model = of.system.name, model.index
                go_to_page(target.document or "", target.page or 0)
                State.box.set(key[1][0])
                return


def _readings() -> list[Reading]:
    return [of for of in map(reading_results.read, READINGS.values()) if of is not None]


def _open() -> list[tuple[Reading, PairModel]]:
    return [(of, model) for of in _readings() for model in of.loaded.pair]


def _items_of(of: Reading, model: Model) -> ItemsOf:
    return ItemsOf(_name(of, model), of.loaded.dataset.document_ids, partial(_targets_on, of, model))


def _name(of: Reading, model: Model) -> str:
    return stored_name(of.loaded.predictions[model.index].name)


def layers_of(of: Reading, model: Model, document: str, page: int) -> PageLayers | None:
    """Return what is drawn of a page of a model; None for a page without items."""
    result = reading_results.result_of(of, model)
    at = next((at for at, one in enumerate(result.own_pages) if (one.document, one.page) == (document, page)), None)
    if at is None:
        return None
    return _LAYERS.get_or_make((*reading_results.key_of(of, model), at), lambda: reading.page_layers(result, at))


def _targets_on(of: Reading, model: Model, document: str, page: int) -> Sequence[Target]:
    return [*_targets(of, model, document, page).values()]


def _targets(of: Reading, model: Model, document: str, page: int) -> dict[tuple[str, tuple[str, ...]], Target]:
    layers, name = layers_of(of, model, document, page), _name(of, model)
    if layers is None:
        return {}
    by_key = {box.key: box for box in layers.boxes}
    signature = reading_results.result_of(of, model).signature.line
    targets = {}
    for mistake in layers.mistakes:
        boxes = [
            JudgedBox(side=box.side, label=box.label, xyxy=box.xyxy, model=name if box.side == "prediction" else None)
            for box in (by_key[key] for key in mistake.keys if key in by_key)
        ]
        if boxes:
            targets[mistake.name, tuple(mistake.keys)] = item_target(
                of.system.name, mistake.name, boxes, document=document, page=page, model=name, signature=signature
            )
    return targets


def reviews(of: Reading, model: Model, document: str, page: int) -> dict[tuple[str, tuple[str, ...]], TargetReview]:
    """Return the mistakes of a page that have a box, by name and boxes, with the verdicts on each."""
    targets = _targets(of, model, document, page)
    judged = findings.review_log().items_on(document, page)
    return dict(zip(targets, match_reviews([*targets.values()], judged), strict=True))
