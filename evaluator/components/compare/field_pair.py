"""What the linked panes draw of a page of fields: boxes and values of two models; keys as in `pair`.

A field of the ground truth is right in a model when its box has no mistake at the threshold and its value is right.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

import msgspec
import numpy as np

from evaluator.components.compare.pair import PREFIXES, PairLayers, pair_layers
from evaluator.components.compare.pair_items import KIND_OF, SPURIOUS_KIND_OF
from evaluator.components.compare.payload import DifferenceItem, PairBoxItem, PaneItem
from evaluator.components.payload import ModelItem, PairKind
from evaluator.components.viewer.fields import Paper, page_data, quoted_value
from evaluator.components.viewer.payload import NOTHING_DRAWN, BoxItem, PageLayers
from evaluator.data.issues import count_of, displayed, isolated
from evaluator.metrics.item_ledger import OUTCOMES, ItemLedger
from evaluator.protocols.fields.drill_down import FieldPages
from evaluator.protocols.fields.evaluation import FieldsResult

# Fields without a box that a note names.
_NAMED: Final = 5
# The path of a field, and whether only predictions have it.
_Field = tuple[str, bool]


class FieldSide(NamedTuple):
    """The comparison of one model with the ground truth, and the pages of its boxes."""

    result: FieldsResult
    pages: FieldPages


def field_pair(
    sides: tuple[FieldSide, FieldSide],
    ledger: ItemLedger,
    document: str,
    index: int,
    *,
    points: tuple[float, float] | None,
    unit: str,
    iou: float,
    models: tuple[ModelItem, ModelItem],
    kinds: Sequence[PairKind],
) -> PairLayers:
    """Return the fields of two models on one page; the ledger is that of box and value at `iou`."""
    places, page_of = ledger.items.pages
    page = next((at for at, place in enumerate(places) if place == (document, index)), -1)
    here = np.flatnonzero(page_of == page).tolist()
    kind_of = {(ledger.items[at].place, ledger.items[at].spurious): _kind(ledger, at) for at in here}
    code = {path: at for at, path in enumerate(sorted({path for path, spurious in kind_of if not spurious}))}
    drawn = [
        _side(side, order, document, index, points=points, unit=unit, iou=iou, kind_of=kind_of, kinds=kinds, code=code)
        for order, side in enumerate(sides)
    ]
    panes = []
    for order, (model, side) in enumerate(zip(models, drawn, strict=True)):
        boxes = _with_mates(side, drawn[1 - order])
        words, limit = _right_words(ledger, here, order), side.layers.limit
        panes.append(PaneItem(model.letter, model.name, words, boxes, side.layers.mistakes, limit))
    names = [model.letter for model in models]
    wanted = [field for field, kind in kind_of.items() if kind in kinds]
    differences, without = [], []
    for field in wanted:
        box = next((side.by_field[field] for side in drawn if field in side.by_field), None)
        if box is None:
            without.append(field[0])
        else:
            words = _sentence(field, drawn, names)
            differences.append(DifferenceItem(box.key, kind_of[field], box.xyxy, words))
    notes = [note for side in drawn for note in side.layers.notes]
    if without:
        named = ", ".join(map(displayed, without[:_NAMED]))
        more = f" and {len(without) - _NAMED:,} more" if len(without) > _NAMED else ""
        notes.append(f"{count_of(len(without), 'field')} of the list without a box on this page: {named}{more}.")
    return pair_layers(panes, differences, notes)


class _Side(NamedTuple):
    layers: PageLayers
    boxes: tuple[PairBoxItem, ...]
    by_field: Mapping[_Field, PairBoxItem]
    """the box of each field that is shown for it, that of the ground truth where it has one"""
    values: Mapping[_Field, str]


def _kind(ledger: ItemLedger, at: int) -> PairKind:
    outcome = OUTCOMES[int(ledger.outcome[at, 0])]
    return (SPURIOUS_KIND_OF if ledger.items[at].spurious else KIND_OF)[outcome]


def _right_words(ledger: ItemLedger, here: Sequence[int], order: int) -> str:
    wrong = (ledger.a, ledger.b)[order][here, 0]
    spurious = np.array([ledger.items[at].spurious for at in here], dtype=bool)
    right, extra = int((wrong[~spurious] == 0.0).sum()), int((wrong[spurious] == 1.0).sum())
    more = f", extra {extra:,}" if extra else ""
    return f"{right:,} of {count_of(int((~spurious).sum()), 'field')} right{more}"


def _side(
    side: FieldSide,
    order: int,
    document: str,
    index: int,
    *,
    points: tuple[float, float] | None,
    unit: str,
    iou: float,
    kind_of: Mapping[_Field, PairKind],
    kinds: Sequence[PairKind],
    code: Mapping[str, int],
) -> _Side:
    compared = side.result.compared
    if document not in compared.documents:
        return _Side(NOTHING_DRAWN, (), {}, {})
    paper = Paper(compared.documents.index(document), index, points, unit)
    layers = page_data(side.result, side.pages, paper, iou=iou)
    titles: dict[int | None, str] = {mistake.number: mistake.title.lower() for mistake in layers.mistakes}

    def field_of(row: int) -> _Field:
        lonely = compared.truth[row] is None
        return (compared.prediction_path if lonely else compared.truth_path)[row] or "", lonely

    def named(key: str) -> str:
        path, lonely = field_of(int(key[1:]))
        if key[0] == "g" and not lonely:
            return f"g{code[path]}" if path in code else f"g{len(code) + int(key[1:])}"
        return f"{PREFIXES[order]}{key[1:]}"

    boxes, by_field = [], dict[_Field, PairBoxItem]()
    for box in layers.boxes:
        field = field_of(int(box.key[1:]))
        # A field whose boxes lie on two pages is counted on that of the ground truth.
        kind: PairKind = kind_of.get(field, "neither")
        renamed = msgspec.structs.replace(box, key=named(box.key), partner=box.partner and named(box.partner))
        one = PairBoxItem(
            **msgspec.structs.asdict(renamed), kind=kind, full=kind in kinds, chip=_chip(box, titles), mate=None
        )
        boxes.append(one)
        if field not in by_field or one.key.startswith("g"):
            by_field[field] = one
    rows = np.flatnonzero(compared.document == paper.document).tolist()
    fields = {field_of(row): compared.predicted[row] for row in rows if field_of(row) in kind_of}
    values = {field: "nothing" if each is None else quoted_value(each) for field, each in fields.items()}
    mistakes = [
        msgspec.structs.replace(mistake, keys=[named(key) for key in mistake.keys]) for mistake in layers.mistakes
    ]
    return _Side(msgspec.structs.replace(layers, mistakes=mistakes), tuple(boxes), by_field, values)


def _chip(box: BoxItem, titles: Mapping[int | None, str]) -> str | None:
    if box.status == "truth":
        return None
    title = titles.get(box.mistake, "")
    wrong = "" if title in ("", "missed", "spurious") else f", {title}"
    return f"{box.status} {isolated(displayed(box.label))}{wrong}"


def _with_mates(own: _Side, other: _Side) -> list[PairBoxItem]:
    """Return the boxes of one model; a field that only predictions have knows that of the other model."""
    keys = {
        box.key: other.by_field[field].key
        for field, box in own.by_field.items()
        if field[1] and field in other.by_field
    }
    return [msgspec.structs.replace(box, mate=keys[box.key]) if box.key in keys else box for box in own.boxes]


def _sentence(field: _Field, sides: Sequence[_Side], names: Sequence[str]) -> str:
    path = isolated(displayed(field[0]))
    said = [side.values.get(field) for side in sides]
    if field[1]:
        parts = [f"{name} has {value}" for name, value in zip(names, said, strict=True) if value is not None]
        return f"{path}: not in the ground truth, {', '.join(parts)}."
    parts = []
    for name, side, value in zip(names, sides, said, strict=True):
        box = side.by_field.get(field)
        iou = "" if box is None or box.iou is None else f" (box IoU {box.iou:.2f})"
        parts.append(f"{name} {value or 'nothing'}{iou}")
    return f"{path}: {', '.join(parts)}."
