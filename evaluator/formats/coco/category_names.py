"""Which category of a ground truth a result means: that of its name, else of its id."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from evaluator.data.boxes import IntArray
from evaluator.data.dataset import Annotations
from evaluator.data.issues import Collector, quote
from evaluator.formats.coco.ids import Texts, id_text, quoted_id
from evaluator.formats.coco.rules import Labels
from evaluator.formats.coco.shape import ItemColumns

_UNKNOWN = -1


def stated_names(items: ItemColumns, texts: Texts, place: str, collector: Collector) -> dict[str, str]:
    """Return the names that entries state by their category ids; an id with two names is an error."""
    names: dict[int, str] = {}
    rows = items.category_names
    again = [row for row, name in rows.items() if names.setdefault(int(items.category_id[row]), name) != name]
    collector.errors(
        "a category_id must have one category_name (COCO format)",
        again,
        lambda row: (
            f"{place}[{row}].category_name",
            f"{quote(rows[row])} after {quote(names[int(items.category_id[row])])} for "
            f"{quoted_id(int(items.category_id[row]), texts)}",
            "Correct the name or the id, or leave out category_name.",
        ),
    )
    return {id_text(key, texts): name for key, name in names.items()}


def check_names(items: ItemColumns, labels: Labels, texts: Texts, place: str, collector: Collector) -> None:
    """Report annotations that state another name than the category of their id has."""
    names = dict(zip(labels.ids.tolist(), labels.names, strict=True))
    rows, ids = items.category_names, items.category_id
    collector.errors(
        "category_name must be the name of the category of category_id (COCO format)",
        [row for row, name in rows.items() if names.get(int(ids[row]), name) != name],
        lambda row: (
            f"{place}[{row}].category_name",
            f"{quote(rows[row])}, while {quoted_id(int(ids[row]), texts)} is {quote(names[int(ids[row])])}",
            "Correct one of them, or leave out category_name.",
        ),
    )


def labels_of(
    prediction: Annotations, truth: Annotations, place: Callable[[int], str], collector: Collector
) -> IntArray:
    """Return the label in the ground truth of each label of a results list, int64; -1 after an error.

    `place` is that of a row of the results.
    """
    by_name = {name: row for row, name in enumerate(truth.labels)}
    by_id = {key: by_name[name] for key, name in truth.label_map.items()}
    # Ids come first: a name is there only when somebody renamed a category id of the results, or wrote it as the id.
    known = by_name | by_id
    keys, stated = prediction.labels, prediction.label_map
    names = [stated.get(key) for key in keys]
    rows = [
        known.get(key, _UNKNOWN) if name is None else by_name.get(name, _UNKNOWN)
        for key, name in zip(keys, names, strict=True)
    ]
    other = [
        at for at, key in enumerate(keys) if names[at] not in (None, key) and rows[at] not in (_UNKNOWN, by_id.get(key))
    ]
    apart = [at for at in other if keys[at] in by_id]
    label = prediction.boxes.label

    def results_of(labels: list[int]) -> list[int]:
        return np.flatnonzero(np.isin(label, labels)).tolist() if labels else []

    if len(other) > len(apart):
        at = next(at for at in other if at not in apart)
        rule = f"category_id should be the id that {truth.name} has for category_name (COCO format)"
        there = next(key for key, row in by_id.items() if row == rows[at])
        what = f"{keys[at]} for {quote(names[at])}, whose id is {there}"
        collector.warning("$", rule, what, "The names are used.")
    collector.errors(
        f"category_id must be an id of {truth.name} (COCO format)",
        results_of([at for at, row in enumerate(rows) if row < 0 and names[at] is None]),
        lambda row: (
            f"{place(row)}.category_id",
            keys[int(label[row])],
            "Give the ground truth of these results, or correct the id.",
        ),
    )
    first = quote(truth.labels[0]) if truth.labels else "nothing"
    collector.errors(
        f"category_name must be that of a category of {truth.name}",
        results_of([at for at, row in enumerate(rows) if row < 0 and names[at] is not None]),
        lambda row: (
            f"{place(row)}.category_name",
            quote(names[int(label[row])]),
            f"The categories there are named as {first}. Correct the name, also by --fix label=OLD=NEW, or leave out "
            "category_name.",
        ),
    )
    collector.errors(
        "category_id and category_name of a result must be those of one category",
        results_of(apart),
        lambda row: (
            f"{place(row)}.category_id",
            f"{keys[int(label[row])]}, which is {quote(truth.labels[by_id[keys[int(label[row])]]])}, "
            f"for {quote(names[int(label[row])])}",
            "Leave out the one that is wrong.",
        ),
    )
    return np.array(rows, dtype=np.int64)
