"""The corrected ground truth from verdicts: *one* for all models, thresholds and protocols.

====================  ======================  =========================================================================
verdict               mistake                 what changes
====================  ======================  =========================================================================
ground truth wrong    missed                  the ground truth box goes
ground truth wrong    false pos., duplicate  the prediction becomes a ground truth box; what a duplicate repeats stays
ground truth wrong    cut off, over-cropped,  the ground truth box is replaced by the prediction's box
                      near miss
ground truth wrong    wrong class             the ground truth box gets the prediction's label and keeps its corners; a
                                              pair that fits badly is still a mistake, of another name
ground truth wrong    split, merged           the ground truth boxes are replaced by the predictions
ignore                every one               its boxes leave the counts: the predictions, and the ground truth with the
                                              prediction of each model that matches it (at the lowest IoU threshold)
others, conflict      every one               nothing
====================  ======================  =========================================================================

The row follows from the boxes, not from the name: a pair of two labels is "wrong class" whatever it was called. A
verdict about the ground truth holds at every threshold and for every model, also when its mistake is none any more: the
accepted prediction is kept with the verdict. It does not hold when its ground truth box is no longer in the file, and
changes nothing where the file is corrected already (`identity.is_corrected`). Of
several verdicts that change one box the latest counts, and of several accepted predictions of one label with IoU >= 0.5
(one object, seen by two models) the latest.

Direction: an accepted prediction is its model's own box, so that model gets a match with IoU 1; its corrected
precision, recall and means of fit are an upper bound. Another model is measured against that box as against any other.
"""

from __future__ import annotations

import io
import math
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import PurePosixPath
from typing import Final, NamedTuple

import numpy as np

from evaluator.data.boxes import BoolArray, IntArray, iou
from evaluator.data.dataset import Dataset, PageKey, join
from evaluator.data.issues import Issue, count_of
from evaluator.data.page_sizes import with_sizes
from evaluator.data.subsets import kept_boxes
from evaluator.formats.snapshot import ground_truth_file
from evaluator.formats.writers import WRITERS
from evaluator.review.apply_edits import Addition, apply_edits
from evaluator.review.identity import SAME_OBJECT_IOU, box_model_name, in_unit_of, is_corrected, rows_of_box
from evaluator.review.verdicts import JudgedBox, Kind, ReviewedTarget, ReviewLog, Target, Verdict, time_text

_WORDS: Final = {
    "removed": "removed",
    "added": "added",
    "replaced": "replaced",
    "relabelled": "relabelled",
    "ignored": "left out of the counts",
}


class Change(NamedTuple):
    """What one verdict changed.

    `what` is ``removed``, ``added``, ``replaced``, ``relabelled`` or ``ignored``; `removed` and `added` count ground
    truth boxes. `sentence` names document, page, labels and author; text from files is not escaped.
    """

    judged: ReviewedTarget
    verdict: Verdict
    what: str
    removed: int
    added: int
    sentence: str


@dataclass(frozen=True, eq=False, kw_only=True)
class Applied:
    """Applied verdicts, the newest first, and warnings about those that could not be applied."""

    changes: tuple[Change, ...]
    issues: tuple[Issue, ...]

    @property
    def applied(self) -> int:
        """Return how many verdicts changed something."""
        return len(self.changes)

    @property
    def words(self) -> str:
        """Return the part of the signature: ``corrected, 7 verdicts applied``."""
        return f"corrected, {count_of(self.applied, 'verdict')} applied"


@dataclass(frozen=True, eq=False, kw_only=True)
class Corrections(Applied):
    """Corrected files, the official ones, and the verdicts applied.

    `ignored`, shape (G,), marks the ground truth of `dataset` that leaves the counts; predictions that leave are not in
    `dataset`. Documents, pages and models are the official ones.
    """

    dataset: Dataset
    official: Dataset
    ignored: BoolArray

    @property
    def of_boxes(self) -> tuple[Change, ...]:
        """Return the changes of the ground truth itself; to ignore a mistake changes no box."""
        return tuple(change for change in self.changes if change.what != "ignored")


def corrections(dataset: Dataset, log: ReviewLog) -> Corrections:
    """Return the corrected files from the agreed verdicts; `dataset` itself when no verdict applies."""
    draft = _Draft(dataset)
    for judged in correcting_verdicts(log, "mistake"):
        draft.apply(judged)
    return draft.finished()


def snapshot_file(to: Corrections, *, created_at: datetime) -> bytes:
    """Return the corrected ground truth in schema 1.3, ignored boxes too; `created_at` needs a zone."""
    official = to.official.ground_truth.source
    origin = {"name": official.name, "sha256": official.sha256, "verdicts": len(to.of_boxes)}
    truth = to.dataset.ground_truth.source
    return ground_truth_file(truth, created_at=time_text(created_at), notes={"corrected_from": origin})


def annotators_file(
    to: Corrections, form: str, *, created_at: datetime, sizes: Mapping[PageKey, tuple[float, float]] | None = None
) -> tuple[str, bytes]:
    """Return name and bytes of the corrected ground truth in a format of `WRITERS`; of several files a zip archive.

    `sizes`: of pages whose size the ground truth does not state, by document id and page index. Ignored boxes stay.
    `BadInput` where the format cannot hold the boxes, as without sizes.
    """
    if form == "snapshot":
        return "corrected.json", snapshot_file(to, created_at=created_at)
    files = WRITERS[form].convert(with_sizes(to.dataset.ground_truth.source, sizes or {}, None)).files
    if not WRITERS[form].folder:
        ((name, content),) = files.items()
        return f"corrected-{form}{PurePosixPath(name).suffix}", content
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return f"corrected-{form}.zip", written.getvalue()


def correcting_verdicts(log: ReviewLog, kind: Kind) -> Iterator[ReviewedTarget]:
    """Yield judged targets of a kind whose agreed verdict changes truth or counts, the newest first."""
    return (
        judged
        for judged in log.judged.values()
        if judged.target.kind == kind and judged.verdict in ("ground_truth_wrong", "ignore")
    )


class Draft:
    """Which verdicts were applied so far, and which could not be; `file` is the ground truth."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.changes: list[Change] = []
        self.issues: list[Issue] = []

    @property
    def reason(self) -> str:
        """Return the events behind the changes, for a digest."""
        return "/".join(sorted(change.judged.last.id for change in self.changes))

    def note(self, judged: ReviewedTarget, what: str, text: str, *, removed: int, added: int) -> None:
        """Note that a verdict was applied; `text` states to what."""
        assert judged.verdict is not None
        sentence = f"{_place_of(judged)}: {text}, verdict of {', '.join(judged.authors)}"
        self.changes.append(Change(judged, judged.verdict, what, removed, added, sentence))

    def refuse(self, judged: ReviewedTarget, rule: str, found: str) -> None:
        """Note that a verdict changes no number; `rule` states when it would."""
        self.issues.append(
            Issue(
                severity="warning",
                file=self.file,
                place=_place_of(judged),
                rule=f"a verdict is applied when {rule}",
                found=found,
                fix="This verdict is kept and changes no number.",
            )
        )


class _Draft(Draft):
    def __init__(self, dataset: Dataset) -> None:
        super().__init__(dataset.ground_truth.source.name)
        self.dataset = dataset
        self.truth = dataset.ground_truth
        self.removed = np.zeros(len(self.truth), dtype=bool)
        self.ignored = np.zeros(len(self.truth), dtype=bool)
        self.relabelled: dict[int, str] = {}
        self.touched: set[int] = set()
        self.added: list[Addition] = []
        self.left_out = [np.zeros(len(side), dtype=bool) for side in dataset.predictions]
        self._on_page: dict[int, tuple[IntArray, ...]] = {}

    def apply(self, judged: ReviewedTarget) -> None:
        page = self.dataset.page_row(judged.target.document or "", judged.target.page or 0)
        if page is None:
            return self.refuse(judged, "its document and page are open", "neither among these files")
        target = in_unit_of(self.dataset, judged.target, page)
        if judged.verdict == "ground_truth_wrong" and self._is_done(target, page):
            # Done by the annotators already.
            return None
        if target.unit != self.truth.source.unit:
            return self.refuse(judged, "its boxes are in the unit of the ground truth", target.unit)
        rows = self._truth_rows(target.of("ground_truth"), page)
        if rows is None:
            return self.refuse(judged, "its ground truth box is still in the file", "changed or gone")
        if self.touched.intersection(rows):
            return self.refuse(judged, "no newer one changes the same box", "a newer one")
        if judged.verdict == "ignore":
            self._ignore(judged, target, page, rows)
        else:
            self._correct(judged, target, page, rows)
        return None

    def finished(self) -> Corrections:
        dataset, ignored = self.dataset, self.ignored
        if self.changes:
            truth, ignored = apply_edits(
                self.truth.source,
                removed=self.removed,
                relabelled=self.relabelled,
                added=self.added,
                marked=self.ignored,
                labels=dataset.labels[: dataset.evaluated],
                reason=self.reason,
            )
            sides = zip(dataset.predictions, self.left_out, strict=True)
            dataset = join(truth, *(kept_boxes(side.source, ~left_out) for side, left_out in sides))
        return Corrections(
            dataset=dataset,
            official=self.dataset,
            ignored=ignored,
            changes=tuple(self.changes),
            issues=tuple(self.issues),
        )

    def _rows_on(self, page: int) -> tuple[IntArray, ...]:
        if page not in self._on_page:
            sides = (self.truth, *self.dataset.predictions)
            self._on_page[page] = tuple(np.flatnonzero(side.page == page) for side in sides)
        return self._on_page[page]

    def _truth_rows(self, boxes: Sequence[JudgedBox], page: int) -> list[int] | None:
        chosen: list[int] = []
        rows = self._rows_on(page)[0]
        for box in boxes:
            same = rows_of_box(box, self.truth, rows, self.dataset.labels, self.truth.source.unit).tolist()
            # Of equal boxes the ones that no verdict changed come first.
            free = [row for row in same if row not in chosen]
            free.sort(key=lambda row: row in self.touched)
            if not free:
                return None
            chosen.append(free[0])
        return chosen

    def _is_done(self, target: Target, page: int) -> bool:
        return is_corrected(target, self.truth, self._rows_on(page)[0], self.dataset.labels)

    def _ignore(self, judged: ReviewedTarget, target: Target, page: int, rows: list[int]) -> None:
        left_out = 0
        for position, side in enumerate(self.dataset.predictions):
            for box in target.of("prediction"):
                if box.model != box_model_name(side.source):
                    continue
                same = rows_of_box(box, side, self._rows_on(page)[1 + position], self.dataset.labels, side.source.unit)
                free = [row for row in same.tolist() if not self.left_out[position][row]]
                for row in free[:1]:
                    self.left_out[position][row] = True
                    left_out += 1
        if not rows and not left_out:
            return self.refuse(
                judged, "its boxes are still in the files", "changed or gone, or of a model that is not open"
            )
        self.ignored[rows] = True
        self.touched.update(rows)
        self._note(judged, "ignored", 0, 0)
        return None

    def _correct(self, judged: ReviewedTarget, target: Target, page: int, rows: list[int]) -> None:
        predicted = target.of("prediction")
        strange = {box.label for box in predicted}.difference(self.dataset.labels[: self.dataset.evaluated])
        if strange:
            return self.refuse(judged, "the files have its labels", ", ".join(sorted(strange)))
        self.touched.update(rows)
        if len(rows) == len(predicted) == 1 and predicted[0].label != target.of("ground_truth")[0].label:
            self.relabelled[rows[0]] = predicted[0].label
            return self._note(judged, "relabelled", 0, 0)
        fresh = [box for box in predicted if not self._known(box, page)]
        self.removed[rows] = True
        document = self.dataset.documents[self.dataset.page_document[page]]
        index = int(self.dataset.page_index[page])
        size = self._page_size(document.doc_id, index)
        self.added += [Addition(document, index, box.label, box.xyxy, judged.target_id, size) for box in fresh]
        what = "replaced" if rows and predicted else "removed" if rows else "added"
        return self._note(judged, what, len(rows), len(fresh))

    def _page_size(self, doc_id: str, page: int) -> tuple[float, float]:
        for side in self.dataset.predictions:
            source = side.source
            code = next((row for row, document in enumerate(source.documents) if document.doc_id == doc_id), None)
            here = np.flatnonzero((source.page_document == code) & (source.page_index == page))
            if source.page_size is not None and len(here):
                width, height = source.page_size[here[0]].tolist()
                return width, height
        return math.nan, math.nan

    def _known(self, box: JudgedBox, page: int) -> bool:
        here = self.dataset.documents[self.dataset.page_document[page]].doc_id, int(self.dataset.page_index[page])
        same = [
            other.xyxy for other in self.added if (other.document.doc_id, other.page, other.label) == (*here, box.label)
        ]
        return bool(same) and float(iou(np.array(same), np.array([box.xyxy] * len(same))).max()) >= SAME_OBJECT_IOU

    def _note(self, judged: ReviewedTarget, what: str, removed: int, added: int) -> None:
        labels = " → ".join(dict.fromkeys(box.label for box in judged.target.boxes))
        self.note(judged, what, f"{labels} {_WORDS[what]}", removed=removed, added=added)


def _place_of(judged: ReviewedTarget) -> str:
    return f"{judged.target.document}, page {(judged.target.page or 0) + 1}"
