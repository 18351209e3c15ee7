"""Files before and after they are compared: fixes that were asked for, and whether anything matches.

A comparison in which nothing matches is refused with the doctor's diagnosis unless it is allowed. A file without boxes
is a legitimate result of a model and never refused.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import product
from typing import Any, TypeVar

import msgspec
import numpy as np

from evaluator import formats
from evaluator.analysis.doctor.diagnosis import (
    FEWEST,
    FITS_BY_CHANCE,
    GAIN,
    PAGES,
    TIMES,
    Diagnosis,
    Hypothesis,
    Measure,
    boxes_of_smaller,
    diagnose,
)
from evaluator.analysis.doctor.geometry import fitting_counts, overlaps
from evaluator.data.dataset import Annotations, join, map_labels, page_keys
from evaluator.data.document_names import best_modes, match_names
from evaluator.data.fields import FieldDocuments
from evaluator.data.fixes import Fix, added, apply_fixes, fix_description, fix_options, fixes_for
from evaluator.data.image_ids import LIKELY
from evaluator.data.issues import BadInput, FixableMismatch, Issue, count_of, examples, listed, quote, refuse
from evaluator.data.label_names import proposals, same_but_for_spelling
from evaluator.data.page_sizes import on_same_pages
from evaluator.data.taxonomies import under_names_of
from evaluator.formats.coco import is_unresolved
from evaluator.formats.posters import Posters
from evaluator.matching.overlap_limit import crowding_issues
from evaluator.matching.pages_apart import apart_issues, apart_of, changes_on, pages_in_doubt, single_pages
from evaluator.metrics.results import MetricColumns, defined
from evaluator.protocols import DEFAULT, PROTOCOLS, AnyBoxProtocol, AnyProtocol, box_protocols
from evaluator.protocols.base import SUSPECT_F1, BoxEvaluation, BoxProtocol, Evaluation, Options, Source
from evaluator.protocols.sharding import documents_of

SourceT = TypeVar("SourceT", bound=Source)


# --- fixes ---------------------------------------------------------------------------------------------------


def fix_sources(
    truth: Source | None, models: Sequence[Source], fixes: Sequence[Fix]
) -> tuple[Source | None, list[Source]]:  # fmt: skip
    """Return ground truth and predictions with the fixes for each; BadInput for one that cannot apply."""
    if truth is None or not fixes:
        return truth, list(models)
    of_truth = fixes_for(fixes, truth.name, prediction=False)
    if all(fix.of_all_files for fix in of_truth):
        truth = _fix_source(truth, truth, of_truth)
    elif models:
        truth = _fix_source(truth, models[0], of_truth)
    return truth, [_fix_source(model, truth, fixes_for(fixes, model.name)) for model in models]


def with_fixes(source: Annotations, other: Annotations, fixes: Sequence[Fix]) -> Annotations:
    """Return the boxes of a file with its fixes, as compared with another; `BadInput` as `apply_fixes`."""
    mended, rest = _with_ids(source, other, fixes)
    mended = formats.resolve(mended, other, keep_unit=True)
    named = [fix for fix in rest if fix.kind == "names"]
    mended = apply_fixes(mended, other, named)
    # What the numbers mean is texts by the fix then, and not by the file.
    if not any(fix.kind == "units" for fix in rest):
        mended = on_same_pages(mended, other)
    mended = apply_fixes(mended, other, [fix for fix in rest if fix not in named])
    return replace(mended, fixes=(*source.fixes, *(fix.text for fix in fixes)))


def _with_ids(source: Annotations, other: Annotations, fixes: Sequence[Fix]) -> tuple[Annotations, list[Fix]]:
    """Return a results list under other ids, before it takes pages and labels by them, and the fixes that are left."""
    if not is_unresolved(source) or not other.label_map:
        return source, list(fixes)
    stated = source.label_map
    names: dict[str, str] = {}
    used: list[Fix] = []
    respelled = same_but_for_spelling([*stated.values()], other.labels)
    for fix in fixes:
        if fix.of_all_files:
            respelled |= under_names_of(fix.value, [*stated.values()]).names
        old, _, new = fix.value.rpartition("=")
        others = {"label": {old: new}, "labels": respelled}.get(fix.kind, {})
        found = {key: others[name] for key in source.labels for name in (key, stated.get(key)) if name in others}
        names |= found
        used += [fix] if found and fix.kind == "label" else []
    of_images = [fix for fix in fixes if fix.kind == "image-ids"]
    rest = [fix for fix in fixes if fix not in of_images and fix not in used]
    return apply_fixes(map_labels(source, names), other, of_images), rest


def _fix_source(source: Source, other: Source, fixes: Sequence[Fix]) -> Source:
    if not fixes:
        return source
    if isinstance(source, Annotations) and isinstance(other, Annotations):
        return with_fixes(source, other, fixes)
    modes = [fix.value for fix in fixes if fix.kind == "names"]
    if len(modes) < len(fixes):
        strange = next(fix.text for fix in fixes if fix.kind != "names")
        refuse(source.name, "", "extracted fields and posters take --fix names= alone", strange, "Leave it out.")
    texts = tuple(fix.text for fix in fixes)
    if isinstance(source, FieldDocuments) and isinstance(other, FieldDocuments):
        names = match_names(list(source.documents), list(other.documents), modes)
        documents = {names.get(name, name): tree for name, tree in source.documents.items()}
        return replace(source, documents=documents, fixes=texts)
    if isinstance(source, Posters) and isinstance(other, Posters):
        names = match_names(list(source.posters), list(other.posters), modes)
        posters = {
            names.get(name, name): msgspec.structs.replace(poster, poster_id=names.get(name, name))
            for name, poster in source.posters.items()
        }
        return replace(source, posters=dict(sorted(posters.items())), fixes=texts)
    return source


# --- the doctor ----------------------------------------------------------------------------------------------


def measure_of(protocol: AnyProtocol, options: Options) -> Measure:
    """Return F1 under a protocol at its first threshold; the default one's where it matches no boxes."""
    counts = micro_of(protocol, options)

    def measure(truth: Annotations, prediction: Annotations) -> float | None:
        if truth.unit != prediction.unit:
            return None
        if getattr(options, "polygons", False) and crowding_issues(truth, prediction, polygons=True):
            # Boxes are counted when their pairs are made.
            return None
        try:
            return defined(counts(truth, prediction).f1[0])
        except ValueError:
            return None

    return measure


def micro_of(protocol: AnyProtocol, options: Options) -> Callable[[Annotations, Annotations], MetricColumns]:
    """Return the pooled counts behind `measure_of`; they raise as the protocol does."""
    box: AnyBoxProtocol = protocol if isinstance(protocol, BoxProtocol) else box_protocols()[DEFAULT]
    chosen: Any = options if box is protocol else box.options()
    labels = getattr(chosen, "labels", None)
    if labels is not None:
        # Other labels than those of the ground truth are looked at, too.
        chosen = msgspec.structs.replace(chosen, labels=None)
    iou = (chosen.iou or box.thresholds)[0]

    def counts(truth: Annotations, prediction: Annotations) -> MetricColumns:
        pairs = box.pair(join(truth, prediction), 0, chosen, iou_floor=iou)
        micro: MetricColumns = box.match(pairs, chosen).at(iou).micro
        return micro

    return counts


def diagnosis_of(
    truth: Annotations, prediction: Annotations, protocol: AnyProtocol | None = None, options: Options | None = None
) -> Diagnosis:
    """Return the diagnosis of two files under a protocol, the default one when none is given.

    `BadInput` when the prediction does not name its pages and does not belong to this ground truth, or the boxes of a
    page overlap in too many pairs.
    """
    protocol = protocol or PROTOCOLS[DEFAULT]
    if isinstance(protocol, BoxProtocol) and protocol.needs_scores and np.isnan(prediction.boxes.score).any():
        # Without a score it evaluates nothing, but whether the boxes are in place can be seen.
        protocol, options = PROTOCOLS[DEFAULT], None
    measure = measure_of(protocol, options or protocol.options())
    try:
        resolved = formats.resolve(prediction, truth)
    except BadInput:
        ids = _other_ids(truth, prediction, measure)
        if ids is None:
            raise
        return ids
    crowded = crowding_issues(truth, resolved)
    if crowded:
        raise BadInput(crowded)
    as_written = formats.resolve(prediction, truth, keep_unit=True)
    own_numbers = as_written.boxes.xyxy is resolved.boxes.xyxy
    diagnosis = diagnose(truth, resolved, measure, units=own_numbers)
    # One fix explains it, or nothing has to be explained.
    given = diagnosis.as_given or 0.0
    explained = (
        given >= SUSPECT_F1 if diagnosis.silent else diagnosis.best is not None and len(diagnosis.best.fixes) == 1
    )
    if explained or own_numbers:
        return diagnosis
    # The file may not mean the unit that its format has, or the sizes that it states.
    other = diagnose(truth, as_written, measure, keep_unit=True)
    units = other.best is not None and any(fix.kind == "units" for fix in other.best.fixes)
    # One fix of all pages is simpler than a change of some, and one without estimated numbers than one with them.
    estimated = diagnosis.best is not None and any(fix.kind in ("scale", "shift") for fix in diagnosis.best.fixes)
    room = PAGES if diagnosis.pages or estimated else 0.0
    helps = units and other.reached >= max(given + GAIN, TIMES * given)
    return other if helps and other.reached + room > diagnosis.reached else diagnosis


def _other_ids(truth: Annotations, prediction: Annotations, measure: Measure) -> Diagnosis | None:
    """Return the diagnosis of a results list with unknown ids; None where no other reading makes them known."""
    tried = []
    for images, categories in product(("", *LIKELY), ("", "+1", "-1")):
        fixes, words = [], []
        if images:
            fixes.append(Fix("image-ids", images))
            words.append(fix_description(fixes[0]))
        if categories:
            numbers = {key: str(int(key) + int(categories)) for key in prediction.labels if key.isdecimal()}
            if not numbers or not truth.label_map.keys() >= set(numbers.values()):
                continue
            fixes += [Fix("label", f"{key}={truth.label_map[other]}") for key, other in numbers.items()]
            words.append(added(categories, "category"))
        with suppress(BadInput):
            more = diagnose(truth, with_fixes(prediction, truth, fixes), measure).best
            if more is not None:
                # The ids of one file are off in one way.
                if any(fix.kind == "image-ids" or (categories and fix.kind == "label") for fix in more.fixes):
                    continue
                fixes += more.fixes
                words.append(more.words)
            fixed = with_fixes(prediction, truth, fixes)
            documents, boxes = fitting_counts(fixed, truth)
            if boxes < FEWEST:
                continue
            f1 = measure(truth, fixed)
            tried.append(Hypothesis(fixes=tuple(fixes), words=listed(words), f1=f1, documents=documents))
    best = max(tried, key=lambda each: each.f1 or 0.0, default=None)
    if best is None:
        return None
    moves = any(fix.moves_boxes for fix in best.fixes)
    if (best.f1 or 0.0) < (FITS_BY_CHANCE if moves else GAIN / boxes_of_smaller(truth, prediction)):
        return None
    return Diagnosis(
        file=prediction.name,
        against=truth.name,
        as_given=None,
        hypotheses=tuple(sorted(tried, key=lambda each: -(each.f1 or 0.0))),
        best=best,
        nothing_matches=False,
        shared_documents=0,
        documents=len(truth.documents),
        not_compared=f"ids of the results are none of {truth.name}.",
    )


def check_match(
    protocol: AnyProtocol, truth: Source, model: Source, options: Options, micro: MetricColumns | None = None
) -> tuple[Issue, ...]:
    """Return a warning with the diagnosis where little matches and a fix would help; empty otherwise.

    `micro`, all labels pooled, is given for protocols that match boxes. `BadInput` when nothing matches, or so little
    that a fix explains it, and this is not allowed.
    """
    mismatch = _mismatch(protocol, truth, model, options, micro)
    if mismatch is None:
        return ()
    issue = mismatch.issues[0]
    if issue.severity == "error" and not options.allow_no_match:
        raise mismatch
    return (msgspec.structs.replace(issue, severity="warning"),)


def _mismatch(
    protocol: AnyProtocol, truth: Source, model: Source, options: Options, micro: MetricColumns | None
) -> BadInput | None:
    if protocol.reads_items or not isinstance(truth, Annotations) or not isinstance(model, Annotations):
        issue = _names_issue(truth, model)
        return None if issue is None else BadInput([issue])
    if getattr(options, "classes", "auto") == "different":
        return None  # the sides are texts to have no label in common
    # A side without boxes, by itself or under the score threshold, is no sign of anything.
    if not len(truth.boxes) or bool((model.boxes.score < getattr(options, "min_score", 0.0)).all()):
        return None
    resolved = formats.resolve(model, truth)
    if micro is not None:
        if (micro.row(0)["f1"] or 0.0) >= SUSPECT_F1:
            return None
    elif crowded := crowding_issues(truth, resolved):
        raise BadInput(crowded)
    elif (measure_of(protocol, options)(truth, resolved) or 0.0) >= SUSPECT_F1:
        return None
    diagnosis = diagnosis_of(truth, resolved, protocol, options)
    if diagnosis.pages and not diagnosis.nothing_matches:
        return BadInput(apart_issues(diagnosis.pages, model.name))
    if diagnosis.best is None and not diagnosis.nothing_matches and not diagnosis.not_compared:
        return None
    if micro is None and diagnosis.best is None and diagnosis.shared_documents:
        # Pixels may well agree where no box reaches an IoU of 0.5.
        return None
    issue = diagnosis.issue(options.fix, model.fixes)
    # Where no fix helps, what the files were warned of may be the cause.
    return FixableMismatch([issue]) if diagnosis.best else BadInput([issue, *truth.issues, *model.issues])


def _names_issue(truth: Source, model: Source) -> Issue | None:
    known, ours = documents_of(truth), documents_of(model)
    single = isinstance(truth, FieldDocuments) and isinstance(model, FieldDocuments) and truth.single and model.single
    if not known or not ours or set(known) & set(ours) or single:
        return None
    modes = best_modes(ours, known)
    fix = "Give both sides the same documents; --allow-no-match evaluates them as they are."
    if modes:
        option = " ".join(f"--fix names={mode}" for mode in modes)
        count = len(match_names(ours, known, modes))
        fix = f"With {option} {count:,} of {len(ours):,} fit; or allow it with --allow-no-match."
    rule = f"documents should be those of {truth.name}; none is"
    found = f"{examples(sorted(ours))}, there {quote(min(known))}"
    return Issue(severity="error", file=model.name, place="", rule=rule, found=found, fix=fix)


def check_evaluation(
    protocol: AnyProtocol, truth: Source, model: Source, options: Options, evaluation: Evaluation
) -> Evaluation:
    """Return an evaluation with the issues of `check_match`, and of single pages; raises as that does."""
    result = evaluation.result
    if not isinstance(result, BoxEvaluation):
        more = check_match(protocol, truth, model, options)
    else:
        micro = next(iter(result.counted.values())).per_label.micro
        more = check_match(protocol, truth, model, options, micro)
        more = more or (*_pages_off(result, model.name), *_other_labels(result, options, model.name))
    return replace(evaluation, issues=(*evaluation.issues, *more)) if more else evaluation


def _other_labels(result: BoxEvaluation, options: Options, file: str) -> tuple[Issue, ...]:
    truth, source = result.evaluated.ground_truth.source, result.evaluated.predictions[result.model].source
    if set(source.labels) <= set(truth.labels) or getattr(options, "labels", None) is not None:
        return ()
    counts = np.bincount(source.boxes.label, minlength=len(source.labels)).tolist()
    used = {label for label, count in zip(source.labels, counts, strict=True) if count}
    proposed = proposals(source.labels, truth.labels, overlaps(source, truth))
    # A label that the model has besides may be divided more finely.
    named = [each for each in proposed if each.proposal and (each.reason == "name" or each.proposal not in used)]
    if not named:
        return ()
    boxes = (f"{count_of(each.boxes, 'box')} of {quote(each.label)}, probably {quote(each.proposal)}" for each in named)
    option = fix_options([Fix("label", f"{each.label}={each.proposal}") for each in named])
    rule = f"labels should be those of {truth.name}; boxes under other names match none"
    fix = f"If these are the same, give {option}."
    return (Issue(severity="warning", file=file, place="", rule=rule, found="; ".join(boxes), fix=fix),)


def _pages_off(result: BoxEvaluation, file: str) -> tuple[Issue, ...]:
    dataset, model = result.evaluated, result.model
    pages = dataset.predictions[model].page[result.first.matched_rows[0]]
    looked_at = single_pages(*pages_in_doubt(dataset, model, np.bincount(pages, minlength=dataset.pages)))
    changes = changes_on(dataset, model, looked_at) if len(looked_at) else {}
    return apart_issues(apart_of(changes, page_keys(dataset)), file) if changes else ()
