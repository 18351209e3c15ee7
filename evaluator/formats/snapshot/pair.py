"""What is wrong or odd about two files of schema 1.3, each without errors, that are to be compared."""

from __future__ import annotations

from collections.abc import Iterator

from evaluator.data.dataset import Annotations, PageKey, Side, page_keys
from evaluator.data.issues import Collector, Issue, examples, quote


def check_pair(ground_truth: Annotations, prediction: Annotations) -> tuple[Issue, ...]:
    """Return what is wrong or odd about two files to be compared, each read without error.

    Errors: sides swapped (section 4), different label maps (section 9.2). Warnings: pages that the two
    spell differently. Label maps and ids of pages are compared in files of schema 1.3 alone: ids of other formats are
    those of each side, and their labels go by name.
    """
    collector = Collector(prediction.name, max_per_rule=None)
    if ground_truth.format == prediction.format == "snapshot":
        _pair_label_maps(ground_truth, prediction, collector)
        _pair_page_ids(ground_truth, prediction, collector)
    return (*_pair_sides(ground_truth, prediction), *collector.issues())


def _pair_sides(ground_truth: Annotations, prediction: Annotations) -> Iterator[Issue]:
    wanted: tuple[tuple[Annotations, Side], ...] = ((ground_truth, "ground_truth"), (prediction, "prediction"))
    wrong = [(source, side) for source, side in wanted if source.side != side]
    for source, side in wrong:
        name = side.replace("_", " ")
        rule = f'a {name} file must have type "{side}" (snapshot 1.3, section 4)'
        fix = "The two files look swapped; exchange them." if len(wrong) == 2 else f"Give a {name} file here."
        found = quote(source.side)
        yield Issue(severity="error", file=source.name, place="$.info.type", rule=rule, found=found, fix=fix)


def _pair_label_maps(ground_truth: Annotations, prediction: Annotations, collector: Collector) -> None:
    truth, predicted = ground_truth.label_map, prediction.label_map
    if truth == predicted:
        return
    rule = f"label_map must be the same as in {ground_truth.name} (snapshot 1.3, section 9.2)"
    here = {key: name for key, name in predicted.items() if truth.get(key) != name}
    there = {key: name for key, name in truth.items() if predicted.get(key) != name}
    differing = f"{quote(here)} where {ground_truth.name} has {quote(there)}"
    collector.error("$.label_map", rule, differing, "Give both files the same ids and names.")


def _pair_page_ids(ground_truth: Annotations, prediction: Annotations, collector: Collector) -> None:
    names = _page_names(ground_truth)
    different = [
        f"{prediction_name} and {names[page]}"
        for page, prediction_name in _page_names(prediction).items()
        if page in names and names[page] != prediction_name
    ]
    if different:
        rule = f"page_id should be spelled as in {ground_truth.name} (snapshot 1.3 is silent)"
        fix = "Nothing is lost: pages are distinguished by doc_id and page_index."
        collector.warning("$.predictions", rule, examples(different), fix)


def _page_names(source: Annotations) -> dict[PageKey, str]:
    return dict(zip(page_keys(source), source.page_ids, strict=False))
