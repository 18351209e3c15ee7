"""What is wrong or odd about two files that are to be compared under the rules of ICDAR 2017 POD."""

from __future__ import annotations

from typing import Final

import numpy as np

from evaluator.data.dataset import Annotations, page_keys
from evaluator.data.issues import Collector, Issue, quote
from evaluator.data.page_sizes import unit_issue

_SOURCE: Final = "ICDAR 2017 POD"


def check_pair(ground_truth: Annotations, prediction: Annotations, *, lenient: bool = False) -> tuple[Issue, ...]:
    """Return what is wrong or odd about two files of any format, each read without error; empty when well.

    Errors: sides the wrong way round, different units, and unless `lenient` (then warnings, as `protocols.pod.evaluate`
    leaves these pages out and takes 1.0) pages that the ground truth does not have and missing scores. Warnings:
    unknown sizes in pixels.
    """
    collector = Collector(prediction.name, max_per_rule=None)
    issues = [*_pair_sides(ground_truth, prediction), *unit_issue(ground_truth, prediction)]
    _pair_sizes(ground_truth, prediction, collector)
    issues += _pair_unknown_pages(ground_truth, prediction, lenient=lenient)
    missing = int(np.isnan(prediction.boxes.score).sum())
    if missing and prediction.side == "prediction":
        rule = f"every prediction must have a score, it decides the rank ({_SOURCE})"
        strict = "Add the scores. Snapshot and pixel need none; the command line takes 1.0 for them with --lenient."
        fix = "They get 1.0, as asked for." if lenient else strict
        collector.add("warning" if lenient else "error", "", rule, f"{missing:,} without one", fix)
    return (*issues, *collector.issues())


def _pair_sides(ground_truth: Annotations, prediction: Annotations) -> list[Issue]:
    issues: list[Issue] = []
    for source, side in ((ground_truth, "ground_truth"), (prediction, "prediction")):
        if source.side != side:
            what = f"a {source.side.replace('_', ' ')}"
            rule = f"the {side.replace('_', ' ')} must be one: predictions have a prob, a ground truth has none"
            fix = "Exchange the files, or correct the one."
            issues.append(Issue(severity="error", file=source.name, place="", rule=rule, found=what, fix=fix))
    return issues


def _pair_sizes(ground_truth: Annotations, prediction: Annotations, collector: Collector) -> None:
    for source in (ground_truth, prediction):
        if source.unit == "page" and source.box_page_size is None:
            rule = f"small objects and lines are recognised by their size in pixels ({_SOURCE}, evaluation details)"
            fix = "All boxes count; the signature states so."
            collector.warning("", rule, f"boxes in shares of the page in {source.name}", fix)


def _pair_unknown_pages(ground_truth: Annotations, prediction: Annotations, *, lenient: bool) -> list[Issue]:
    known = set(page_keys(ground_truth))
    rule = f"a page of the predictions must be in {ground_truth.name} ({_SOURCE})"
    fix = (
        "Its predictions are left out, as asked for."
        if lenient
        else "Remove it; the command line leaves it out with --lenient."
    )
    issues: list[Issue] = []
    for entry, page in enumerate(page_keys(prediction)):
        if page not in known:
            name = _filename(prediction, entry) or f"{page[0]}, page {page[1] + 1}"
            collector = Collector(_file_of(prediction, entry), max_per_rule=None)
            collector.add("warning" if lenient else "error", f"<document filename={quote(name)}>", rule, "", fix)
            issues += collector.issues()
    return issues


def _filename(source: Annotations, entry: int) -> str:
    """Return the name of a page's image as the file states it; the ids of pages are file names in POD alone."""
    if entry < len(source.page_images):
        return source.page_images[entry]
    return source.page_ids[entry] if source.format == "pod" and len(source.page_ids) else ""


def _file_of(source: Annotations, entry: int) -> str:
    for part in source.parts:
        if entry < part.entries:
            return part.name
        entry -= part.entries
    return source.name
