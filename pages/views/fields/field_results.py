"""The choices and results of the view Fields: compared models, the rows behind a number, the page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal, get_args

from evaluator.components.viewer import fields as overlay
from evaluator.data.boxes import IntArray
from evaluator.data.fields import FieldDocuments
from evaluator.data.issues import BadInput
from evaluator.formats.fields import schema_from
from evaluator.metrics.item_ledger import Item
from evaluator.metrics.results import weighted_mean
from evaluator.protocols import fields
from evaluator.protocols.fields.drill_down import LEAST_SURE, FieldPages, linked_rows
from evaluator.protocols.fields.evaluation import Parity, RecallGrid
from evaluator.protocols.fields.field_types import ApCurves, ap_curves, field_types
from evaluator.protocols.fields.ledger import FieldLedgers
from evaluator.protocols.fields.protocol import FieldsOptions
from pages.app.cache import Cached
from pages.app.session_files import FIELDS, LoadedFiles, PairModel, load_files, of_letter
from pages.app.state import State, state

IOU_RANGE: Final = (0.05, 0.95)
BUDGETS: Final = (1, 100)
AUTO: Final[Literal["auto"]] = "auto"
PRESETS: Final = (0.5, 0.75)
PARITY: Final[tuple[Parity, ...]] = get_args(Parity)
RECALL_GRIDS: Final[tuple[RecallGrid, ...]] = get_args(RecallGrid)
STRIP_PAGES: Final = 200
PROBLEMS: Final = "problems"
DOCUMENT, BEHIND = "Fields of the document", "Fields behind the number"
TABS: Final = (DOCUMENT, BEHIND)
# Numbers whose rows are not all problems.
MIXED: Final = ("ground_truth", "predictions", "true_positive", "value_right_box_right")

# Digests of the ground truth and of the prediction, parity, recall grid, digest of the schema.
Key = tuple[str, str, str, str | None, str]


@dataclass(frozen=True, slots=True)
class FieldModel(PairModel):
    """One prediction against the ground truth; `key` is both digests and options, never a threshold."""

    result: fields.FieldsResult
    pages: FieldPages
    key: Key


@dataclass(frozen=True, slots=True)
class ListedRows:
    """The rows behind the chosen number, counts by page (document code, index), and pages in order."""

    rows: IntArray
    counts: Mapping[tuple[int, int], int]
    order: list[tuple[int, int]]


@dataclass(frozen=True, slots=True)
class ComparedFields:
    """What is open, and the chosen models compared with the ground truth: A and, when there are two, B."""

    opened: LoadedFiles[FieldDocuments]
    models: tuple[FieldModel, ...]

    @property
    def shown(self) -> FieldModel:
        """Return the model whose boxes and numbers are shown."""
        return next((model for model in self.models if model.index == state.model), self.models[0])

    def show(self, letter: str) -> None:
        """Show the model of a letter, when there is one."""
        model = of_letter(self.models, letter)
        state.model = state.model if model is None else model.index


# --- comparisons ---------------------------------------------------------------------------------------------

_COMPARED: Final = Cached[tuple[fields.FieldsResult, FieldPages]](12, spinner="Comparing the fields")
_LEDGERS: Final = Cached[FieldLedgers](4)
_LISTED: Final = Cached[ListedRows](64)
_MEAN_AP: Final = Cached[float | None](64)
_CURVES: Final = Cached[ApCurves](16)
_UNITS: Final = Cached[str](32)


def compare_models() -> ComparedFields | None:
    """Return what can be compared in this session; None when a side is missing or has errors."""
    loaded = load_files(FIELDS)
    return None if loaded is None else ComparedFields(loaded, tuple(_model(loaded, model) for model in loaded.pair))


def options() -> FieldsOptions:
    """Return the protocol's options as chosen; the IoU thresholds are those of the specification."""
    grid = state.field_recall_grid
    return FieldsOptions(parity=state.field_parity, recall_grid=None if grid == AUTO else grid)


def _model(loaded: LoadedFiles[FieldDocuments], model: PairModel) -> FieldModel:
    sides = loaded.ground_truth, loaded.predictions[model.index]
    chosen, schema = options(), state.field_schema
    digests = loaded.digests[0], loaded.digests[1 + model.index]
    key = (*digests, chosen.parity, chosen.recall_grid, schema.sha256 if schema else "")

    def compared() -> tuple[fields.FieldsResult, FieldPages]:
        result = fields.evaluate(*sides, schema=schema, parity=chosen.parity, recall_grid=chosen.recall_grid)
        return result, FieldPages(result.compared)

    return FieldModel(model.index, model.name, model.letter, *_COMPARED.of(key, compared), key)


def ledgers(compared: ComparedFields) -> FieldLedgers:
    """Return the ledgers of the chosen models, A and B."""
    a, b = compared.models[0], compared.models[-1]
    return _LEDGERS.of((a.key, b.key), lambda: FieldLedgers(a.result, b.result))


def use_schema(name: str, content: bytes) -> None:
    """Compare the values by a schema from now on; one with issues leaves the one before."""
    try:
        state.field_schema, state.field_schema_issues = schema_from(content, name), ()
    except BadInput as bad:
        state.field_schema_issues = bad.issues


def drop_schema() -> None:
    """Compare the values without a schema from now on."""
    state.field_schema, state.field_schema_issues = None, ()


# --- choices -------------------------------------------------------------------------------------------------


def drop_unknown(models: Sequence[FieldModel]) -> list[str]:
    """Drop choices that the open files do not have; return their names for a sentence."""
    refused = []
    classes = set(field_types(model.result for model in models))
    for field, known in (
        (State.field_label, classes),
        (State.field_within, set(models[0].result.compared.documents)),
    ):
        if field.get() and field.get() not in known:
            refused.append(field.get())
            field.set("")
    return refused


def budget() -> float:
    """Return the share of the fields that a review looks at."""
    return state.field_budget / 100


def open_linked(name: str, chosen_label: str | None = None) -> None:
    """Show the fields behind a number, from the first one on."""
    state.field_number, state.field_label, state.field_within = name, chosen_label or "", ""
    state.field_doc, state.field_box = None, "first"
    state.field_tab = BEHIND
    state.field_visits += 1


def open_item(compared: ComparedFields, item: Item) -> None:
    """Show a field of a ledger with its box among all problems; a spurious one in a model that has it."""
    state.field_number, state.field_label, state.field_within = PROBLEMS, "", ""
    models = sorted(compared.models, key=lambda model: model is not compared.shown)
    rows = [(model, _row_of(model, item)) for model in models if item.spurious or model is compared.shown]
    model, row = next((each for each in rows if each[1] is not None), rows[0])
    state.model = model.index
    box = None if row is None or item.page is None else f"{'p' if item.spurious else 'g'}{row}"
    page = item.page or 0
    if item.spurious and row is not None and item.page is not None:
        page = int(model.pages.predicted_page[row])
    open_page(model, (model.result.compared.documents.index(item.document), page), box)


def _row_of(model: FieldModel, item: Item) -> int | None:
    compared = model.result.compared
    paths = compared.prediction_path if item.spurious else compared.truth_path
    rows = model.result.places(item.document).tolist()
    own = [row for row in rows if paths[row] == item.place]
    # The same path may be paired with another field of the ground truth.
    return next((row for row in own if not compared.has_truth[row]), None) if item.spurious else next(iter(own), None)


# --- place ---------------------------------------------------------------------------------------------------


def list_rows(model: FieldModel) -> ListedRows:
    """Return what passes the choices of the view."""
    key = (model.key, state.field_iou, chosen_number(), state.field_within)
    return _LISTED.of(key, lambda: _listed(model))


def chosen_number() -> tuple[str, str | None, float | None]:
    """Return the chosen number, its field type, and the share of a review where that counts."""
    share = budget() if state.field_number == LEAST_SURE else None
    return state.field_number, state.field_label or None, share


def _listed(model: FieldModel) -> ListedRows:
    name, of_class, share = chosen_number()
    result, pages, within = model.result, model.pages, state.field_within
    rows = linked_rows(result, name, iou=state.field_iou, label=of_class, budget=share)
    document = result.compared.documents.index(within) if within else None
    if document is not None:
        rows = rows[result.compared.document[rows] == document]
    counts = pages.counts(rows)
    order = pages.order(counts, document=document, only=document is None and (name != PROBLEMS or of_class is not None))
    return ListedRows(rows, counts, order)


def shown_page(model: FieldModel, shown: ListedRows) -> tuple[int, int] | None:
    """Return the page that is shown: the chosen one when the list has it, else the first."""
    if not shown.order:
        return None
    documents = model.result.compared.documents
    wanted = state.field_doc, state.field_page - 1
    named = next((page for page in shown.order if (documents[page[0]], page[1]) == wanted), None)
    return named or shown.order[0]


def go_to(model: FieldModel, page: tuple[int, int], box: str | None = None) -> None:
    """Show another page, and choose a box there: its key, ``first`` or ``last``."""
    state.field_doc, state.field_page = model.result.compared.documents[page[0]], page[1] + 1
    state.field_box = box


def open_page(model: FieldModel, page: tuple[int, int], box: str | None) -> None:
    """Show a page that something outside of the viewer led to."""
    go_to(model, page, box)
    state.field_visits += 1


def turn(model: FieldModel, shown: ListedRows, here: tuple[str, int], step: int) -> None:
    """Show the page so many steps further in the list."""
    position = position_of(model, shown, here)
    if position is not None:
        go_to(model, shown.order[min(max(position + step, 0), len(shown.order) - 1)])


def turn_to_problem(model: FieldModel, shown: ListedRows, here: tuple[str, int], step: int) -> None:
    """Show the next or previous page with a listed problem, and choose its first or last one."""
    position = position_of(model, shown, here)
    if position is None:
        return
    other = next_with(shown, position, step)
    if other is not None:
        go_to(model, shown.order[other], "first" if step > 0 else "last")


def next_with(shown: ListedRows, position: int, step: int) -> int | None:
    """Return the place of the next or previous page with a row behind the number; None without."""
    places = range(position + 1, len(shown.order)) if step > 0 else range(position - 1, -1, -1)
    return next((other for other in places if shown.counts.get(shown.order[other])), None)


def position_of(model: FieldModel, shown: ListedRows, here: tuple[str, int]) -> int | None:
    """Return the place of a page, given by document id and index, in the list; None if not listed."""
    documents = model.result.compared.documents
    return next((place for place, page in enumerate(shown.order) if (documents[page[0]], page[1]) == here), None)


def chosen_box(listed_keys: Sequence[str], drawn: Sequence[str]) -> str | None:
    """Return the chosen box, if it is drawn; "first" and "last" become that box of the list."""
    box = state.field_box
    if box in ("first", "last"):
        box = (listed_keys[0] if box == "first" else listed_keys[-1]) if listed_keys else None
    state.field_box = box if box in drawn else None
    return state.field_box


# --- what is drawn -------------------------------------------------------------------------------------------


def unit(model: FieldModel) -> str:
    """Return the unit of the boxes: the chosen one, or what they look like."""
    if state.field_unit in overlay.UNITS:
        return state.field_unit
    return _UNITS.of(model.key, lambda: overlay.unit_of(model.result))


def mean_ap(model: FieldModel) -> float | None:
    """Return the mean AP of the classes at the chosen IoU threshold; None without ground truth."""
    iou = state.field_iou
    return _MEAN_AP.of((model.key, iou), lambda: weighted_mean(model.result.average_precisions([iou])[:, 0])[0])


def curves(model: FieldModel) -> ApCurves:
    """Return AP of a model against the IoU threshold."""
    return _CURVES.of(model.key, lambda: ap_curves(model.result))
