"""The view Compare: which pages it lists, and the cached differences of two models."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from evaluator.compare import differences
from evaluator.compare.changed_causes import ChangedCauses, changed_causes
from evaluator.compare.decision import Decision, decide
from evaluator.compare.differences import Difference
from evaluator.compare.ledger import Ledger, ledger
from evaluator.components.compare import pair_causes
from evaluator.components.compare.comparison_summary import TABLE_METRICS
from evaluator.components.compare.listed_pair import ListedPair
from evaluator.components.compare.payload import LinkEvent, LinkItem
from evaluator.components.payload import ModelItem
from evaluator.data.issues import displayed, plain, whole
from evaluator.matching.box_measures import box_measures
from evaluator.metrics.measures import Measures
from evaluator.review.decisions import cause_rows
from pages.app import frame, session_files
from pages.app.cache import Cached
from pages.app.results import Result, ResultKey, is_resampled, most_kept, result_key, result_of
from pages.app.session_files import LoadedBoxes, Model, PairModel, Place
from pages.app.state import go_to_page, state
from pages.views.browser import page_listing
from pages.views.compare import decision

PARTS: Final = ("mistakes", "slices")
"""What is shown below the pages: named mistakes, slices."""


# --- choices -------------------------------------------------------------------------------------------------


def choose_show(name: str) -> None:
    """List other pages, from the first one."""
    state.pair_show, state.pair_cause = name, ""
    state.doc = state.box = None
    state.pair_whole = True


def choose_cause(key: str) -> None:
    """List the pages of a cause, from the first one; the changed pages again for an empty key."""
    choose_show("changed")
    state.pair_cause = key


def open_deciding_cause(loaded: LoadedBoxes) -> None:
    """List the pages of the cause that makes the rule fail, unless the reader has chosen others."""
    if state.pair_show == "changed" and not state.pair_cause:
        state.pair_cause = deciding_cause(loaded, compare_models(loaded))


def open_linked(pages: LinkItem | LinkEvent) -> None:
    """List the pages behind a number of the board (of all documents), and bring them into view."""
    choose_show(pages.show)
    loaded = session_files.load_boxes()
    state.label, state.within = whole(pages.label, loaded.dataset.labels if loaded else ()), ""
    state.pair_visits += 1


def ask_mistakes(model: Model, *, label: str = "", name: str = "") -> None:
    """Filter Pages by the mistakes of a bar, and go there when the callback has ended."""
    page_listing.open_all_of(model, label=label, name=name)
    state.pair_mistakes = name or label


def clear_filter() -> None:
    """List every changed page again."""
    choose_show("changed")
    state.label = state.within = ""


def make_b(loaded: LoadedBoxes, index: int) -> None:
    """Compare A with another model; A itself and B stay what they are."""
    if index not in {model.index for model in loaded.pair}:
        state.model_b, state.box = index, None


def shown_place(loaded: LoadedBoxes) -> Place | None:
    """Return the page that the last run showed; None for none."""
    return Place(state.doc, state.page or 0) if state.doc in loaded.dataset.document_code and state.doc else None


# --- results -------------------------------------------------------------------------------------------------

_LEDGERS: Final = Cached[Ledger](8)
_LISTED: Final = Cached[Ledger](16)
_CAUSES: Final = Cached[ChangedCauses](16)
_MEASURES: Final = Cached[Measures](8)
_DECISIONS: Final = Cached[Decision](16)
_DECIDING: Final = Cached[str](16)
_DIFFERENCES: Final = Cached[tuple[Difference, ...]](32, spinner="Resampling the documents")


@dataclass(frozen=True, slots=True, eq=False)
class ModelPair:
    """Two models at one operating point; `listed` is the ledger of the chosen label and document."""

    chosen: tuple[PairModel, PairModel]
    keys: tuple[ResultKey, ResultKey]
    label: str | None
    within: str | None
    results: tuple[Result, Result]
    ledger: Ledger
    listed: Ledger

    @property
    def letters(self) -> list[str]:
        """Return the letters of the two models."""
        return [model.letter for model in self.chosen]

    @property
    def differences(self) -> tuple[Difference, ...]:
        """Return the board's differences; documents are resampled at the first call."""
        return _differences(self.keys, self.results)

    @property
    def causes(self) -> ChangedCauses:
        """Return the causes of the changed boxes of `listed`; mistakes are named at the first call."""
        key = (self.keys, self.label, self.within)
        most = most_kept(self.ledger.dataset, 1)
        return _CAUSES.of(key, lambda: changed_causes(*self.results, self.listed), most=most)

    @property
    def pages(self) -> ListedPair:
        """Return the pages that are listed."""
        a, b = self.chosen
        return ListedPair(
            results=self.results,
            models=(ModelItem(a.letter, displayed(a.name)), ModelItem(b.letter, displayed(b.name))),
            ledger=self.ledger,
            listed=self.listed,
            causes=self.causes,
            show=state.pair_show,
            key=state.pair_cause,
            label=self.label,
        )


def compare_models(loaded: LoadedBoxes) -> ModelPair:
    """Return the chosen models under the thresholds, the label and the document of this session."""
    first, second = loaded.pair
    results = result_of(loaded, first), result_of(loaded, second)
    keys = result_key(loaded, first), result_key(loaded, second)
    most = most_kept(loaded.dataset, 1)
    whole = _LEDGERS.of(keys, lambda: ledger(*results), most=most)
    label, within = state.label or None, state.within or None
    listed = whole
    if label or within:
        labels, documents = {label} if label else None, {within} if within else None
        listed = _LISTED.of((keys, label, within), lambda: whole.only(labels=labels, documents=documents), most=most)
    return ModelPair((first, second), keys, label, within, results, whole, listed)


def _measures(key: ResultKey, result: Result) -> Measures:
    return _MEASURES.of(key, lambda: box_measures(result, metrics=TABLE_METRICS))


def _differences(keys: tuple[ResultKey, ResultKey], results: tuple[Result, Result]) -> tuple[Difference, ...]:
    def resampled() -> tuple[Difference, ...]:
        a, b = map(_measures, keys, results)
        return differences.differences(a, b, keys=[key for key in a.keys if key.metric in TABLE_METRICS])

    return _DIFFERENCES.of(keys, resampled)


@dataclass(frozen=True, slots=True)
class ModelRow:
    """A model of the table, `Named` for A and B; `differences` to A over all labels, empty for A."""

    model: Model
    result: Result
    differences: dict[str, Difference]


def every_model(loaded: LoadedBoxes) -> list[ModelRow]:
    """Return all open models, A and B first, each against A."""
    first, *others = loaded.pair
    chosen = {model.index for model in loaded.pair}
    key, baseline = result_key(loaded, first), result_of(loaded, first)
    rows = [ModelRow(first, baseline, {})]
    for model in (*others, *(each for each in loaded.models if each.index not in chosen)):
        result = result_of(loaded, model)
        against_first = _differences((key, result_key(loaded, model)), (baseline, result))
        rows.append(ModelRow(model, result, {one.metric: one for one in against_first if one.overall}))
    return rows


# --- the page list -------------------------------------------------------------------------------------------


def turn(pages: ListedPair, document: str, index: int, step: int) -> None:
    """Go some pages on in the list, or to a page."""
    place = pages.on_from(state.doc, state.page or 0, step) if step else (document, index)
    if place is not None:
        go_to_page(*place)


def decision_of(loaded: LoadedBoxes) -> Decision | None:
    """Return the decision on the pair by the reader's rule; None with one model, and where it takes long."""
    if len(loaded.pair) < 2 or not is_resampled(loaded, loaded.pair):
        return None
    names = tuple(plain(frame.whole_name(model)) for model in loaded.pair)
    both, rule = compare_models(loaded), decision.rule()
    return _DECISIONS.of((both.keys, names, rule), lambda: decide(both.differences, names, rule=rule))


def deciding_cause(loaded: LoadedBoxes, both: ModelPair) -> str:
    """Return the key of the cause that makes the rule fail; empty where none does, or the decision takes long."""
    made = decision_of(loaded)
    if made is None or not made.forbidding:
        return ""

    def key() -> str:
        first = next(iter(cause_rows(both.results, [], made)[0]), None)
        return pair_causes.key_of(first.family) if first and first.fails and first.family else ""

    return _DECIDING.of((both.keys, made.rule), key)
