"""The bars of the Overview: what each model finds, misses and draws besides, and its F1 with an interval."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from evaluator.compare.models import Standings, model_entry, standings
from evaluator.components.overview import rows
from evaluator.matching.box_items import Status
from evaluator.matching.box_results import ALL_LABELS
from evaluator.metrics.measures import Key
from evaluator.metrics.resampling import RESAMPLES
from pages.app import frame
from pages.app.cache import Cached
from pages.app.components import overview
from pages.app.results import is_resampled, result_key, result_of
from pages.app.session_files import LoadedBoxes, PairModel
from pages.app.state import report
from pages.views.overview import headline

_KEY: Final = "bars_shown"
_STANDINGS: Final = Cached[Standings](8)


def draw(loaded: LoadedBoxes, chosen: Sequence[PairModel], ask: Callable[[str, Status], object]) -> None:
    """Draw a row for each model; a part of a bar `ask`s for its boxes by letter and status."""
    results = {model.letter: result_of(loaded, model) for model in chosen}
    resampled = is_resampled(loaded, chosen)

    def made() -> Standings:
        entries = [model_entry(letter, each, metrics=("f1",), mistakes=False) for letter, each in results.items()]
        return standings(entries, Key("f1", ALL_LABELS), resamples=RESAMPLES if resampled else 0)

    of_f1 = _STANDINGS.of(tuple(result_key(loaded, model) for model in chosen), made)
    again = {model.letter: headline.corrected_f1(loaded, model) for model in chosen}

    def asked() -> None:
        event = overview.events(report(_KEY)).boxes
        if event is not None and event.letter in results:
            ask(event.letter, event.status)

    names = [frame.whole_name(model) for model in chosen]
    payload = rows.bars(results, names, of_f1, {key: each for key, each in again.items() if each}, resampled=resampled)
    overview(payload, key=_KEY, on_boxes=asked)
