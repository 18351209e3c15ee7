"""The results of the view Reading: reading order, text and tables of the models, and the pages that pass its filter."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import msgspec

from evaluator.compare.models import ModelEntry, Standings, standings
from evaluator.components.viewer import reading
from evaluator.components.viewer.reading import ListedPages
from evaluator.metrics.item_ledger import Item
from evaluator.metrics.measures import Key
from evaluator.metrics.resampling import RESAMPLES
from evaluator.metrics.results import defined, ratio_text
from evaluator.protocols.base import Evaluation
from evaluator.protocols.items import ALL_PAGES, ItemOptions, ItemProtocol, ItemResult
from pages.app import navigation, session_files
from pages.app.cache import Cached
from pages.app.session_files import LoadedBoxes, Model, Place
from pages.app.state import State, go_to_page, state

_EVALUATED: Final = Cached[Evaluation](24, spinner="Comparing the items")
_LISTED: Final = Cached[ListedPages](64)
_STANDINGS: Final = Cached[Standings](64)


@dataclass(frozen=True, slots=True, eq=False)
class Reading:
    """The files that one of the protocols of items compares."""

    system: ItemProtocol[Any]
    loaded: LoadedBoxes


def read(system: ItemProtocol[Any]) -> Reading | None:
    """Return what a protocol of items compares of the open files; None where a side lacks it."""
    loaded = session_files.load_items(system).loaded if navigation.holds_items() else None
    return None if loaded is None else Reading(system, loaded)


def options(system: ItemProtocol[Any]) -> ItemOptions:
    """Return the options of a protocol of items as the reader set them."""
    own = {"normalisation": state.reading_normalisation, "words": state.reading_words}
    known = {name: value for name, value in own.items() if name in system.options.__struct_fields__}
    read = session_files.item_options(system)
    if read.profile != "own":
        return read
    return msgspec.structs.replace(read, iou=(state.reading_iou,), same_label=state.reading_same_label, **known)


def key_of(of: Reading, model: Model) -> tuple[object, ...]:
    """Return what the result of a model follows from."""
    return of.system.name, of.loaded.digests[0], of.loaded.digests[1 + model.index], repr(options(of.system))


def evaluation_of(of: Reading, model: Model) -> Evaluation:
    """Return the evaluation of a model."""

    def evaluated() -> Evaluation:
        predicted = of.loaded.predictions[model.index]
        (made,) = of.system.evaluate(of.loaded.ground_truth, [predicted], options(of.system))
        return made

    return _EVALUATED.of(key_of(of, model), evaluated)


def result_of(of: Reading, model: Model) -> ItemResult[Any]:
    """Return the result of a model."""
    result = evaluation_of(of, model).result
    assert isinstance(result, ItemResult)
    return result


def headline_of(of: Reading) -> tuple[str, ...]:
    """Return the measures that a summary speaks of, those of the profile where there is one."""
    sums = result_of(of, of.loaded.shown).sums(of.system.metrics)
    return tuple(metric for metric in of.system.headline if metric in sums)


def cost_of(of: Reading) -> str:
    """Return what mistakes cost, in one word."""
    return of.system.cost_of(result_of(of, of.loaded.shown))


def score_html(of: Reading, model: Model, metric: str) -> str:
    """Return a number of a model, with its interval over documents in small letters, as HTML."""

    def made() -> Standings:
        entry = ModelEntry(model.name, of.system.measures(result_of(of, model)), boxes=False)
        return standings([entry], Key(metric, ALL_PAGES), resamples=RESAMPLES)

    score = _STANDINGS.of((metric, *key_of(of, model)), made)
    low, high = defined(score.low[0]), defined(score.high[0])
    ends = "" if low is None or high is None else f" <small>{ratio_text(low)} to {ratio_text(high)}</small>"
    return f"<b>{ratio_text(defined(score.values[0]))}</b>{ends}"


# --- pages -------------------------------------------------------------------------------------------------------


def drop_unknown(of: Reading) -> None:
    """Drop choices that the open files or the protocol do not have."""
    if state.within not in of.loaded.dataset.document_code:
        state.within = ""
    state.reading_names = [name for name in state.reading_names if name in of.system.titles]


def all_pages(of: Reading, model: Model) -> ListedPages:
    """Return every page of a model with all of its mistakes."""
    return _LISTED.of((*key_of(of, model), (), "", True), lambda: reading.list_pages(result_of(of, model)))


def list_pages(of: Reading, model: Model) -> ListedPages:
    """Return the pages that the filter keeps."""
    names, within, worst = tuple(state.reading_names), state.within, state.order == "worst"
    result = result_of(of, model)
    return _LISTED.of(
        (*key_of(of, model), names, within, worst),
        lambda: reading.list_pages(result, document=within, names=names, worst_first=worst),
    )


def shown_page(shown: ListedPages) -> Place | None:
    """Return the page of the session where it is listed, else the first one; None without any."""
    if not shown.pages:
        return None
    at = shown.position(state.doc, state.page) or 0
    return Place(shown.pages[at].document, shown.pages[at].page)


def turn(shown: ListedPages, document: str, index: int, step: int) -> None:
    """Show the page so many steps further in the list."""
    here = shown.position(document, index)
    if here is not None:
        there = shown.pages[min(max(here + step, 0), len(shown.pages) - 1)]
        go_to_page(there.document, there.page)


def turn_to_mistake(shown: ListedPages, document: str, index: int, step: int) -> None:
    """Show the next or previous page with a mistake, after the last the first one, and choose a mistake there."""
    here = shown.position(document, index)
    at = shown.next_with(-1 if here is None else here, step)
    if at is None and step > 0:
        at = shown.next_with(-1, 1)
    if at is not None:
        go_to_page(shown.pages[at].document, shown.pages[at].page)
        state.box = "first" if step > 0 else "last"


def chosen_box(listed: list[str], drawn: set[str]) -> str | None:
    """Return the chosen box where it is drawn; "first" and "last" become that of the list."""
    if state.box in ("first", "last"):
        state.box = (listed[0] if state.box == "first" else listed[-1]) if listed else None
    return state.box if state.box in drawn else None


def open_mistakes(name: str, model: Model) -> None:
    """Show all mistakes of a model under a protocol, from the worst page on."""
    state.reading_of, state.reading_names, state.model = name, [], model.index
    state.within, state.order, state.doc, state.page, state.box = "", "worst", None, None, None


def open_item(name: str, item: Item) -> None:
    """Show the page of a thing that a protocol compares, its dearest mistake chosen."""
    clear_filter()
    state.reading_of = name
    state.doc, state.page, state.box = item.document, item.page or 0, "first"


def clear_filter() -> None:
    """Show everything again."""
    state.within = ""
    State.reading_names.set([])
