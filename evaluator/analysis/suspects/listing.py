"""Suspected errors of the ground truth of a project, in words and with a proposed correction, most likely first.

Boxes are x1, y1, x2, y2, origin top left, in the unit of the files.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Final, Literal, NamedTuple

import msgspec
import numpy as np

from evaluator.analysis.suspects.pairing import NOBODY, SAME_PLACE_IOU, Columns, original_rows
from evaluator.analysis.suspects.ranking import BORDER, EXTRA, KINDS, LABEL, LEAST_SCORE, MISSING, Kind, Ranked, rank
from evaluator.analysis.suspects.support import supported
from evaluator.data.boxes import BoolArray, FloatArray, IntArray, iou
from evaluator.data.dataset import Dataset, JoinedBoxes
from evaluator.data.issues import count_of
from evaluator.metrics.results import ResultTable, threshold_text
from evaluator.review.identity import PROPOSED, SUSPECTED, box_model_name
from evaluator.review.verdicts import JudgedBox, Target
from evaluator.system.lru_cache import LRUCache

Action = Literal["add", "remove", "relabel", "move"]
ACTIONS: Final[tuple[Action, ...]] = ("add", "remove", "relabel", "move")
"""What accepting does, in the order of `KINDS`."""
MOST_MODELS: Final = 2
MOST_LABELS: Final = 256
"""Each box is weighed under each label, so that more would cost memory with their square."""
_LETTERS: Final = ("A", "B")
# Name of each side, and where it goes when its coordinate falls or rises.
_SIDES: Final = (
    ("left edge", "further left", "further right"),
    ("top edge", "higher", "lower"),
    ("right edge", "further left", "further right"),
    ("bottom edge", "higher", "lower"),
)
_DIGITS: Final = {"page": 6, "pixels": 2}
_CLAIMED: Final = 0.3
"""From this share on the sentence says that another ground truth box lies there."""
_MOST_CERTAIN: Final = 0.99
"""Nothing that only models say is certain."""
LEAST_LISTED: Final = 0.3
"""Suspects below this probability are not listed, once their pages were looked at."""
# Suspects that are kept as they were made last.
_SHOWN: Final = 1_024


class Proposal(msgspec.Struct, frozen=True):
    """What would make the ground truth right; label and box afterwards are None when the box goes."""

    action: Action
    label: str | None
    bbox: tuple[float, float, float, float] | None


class Suspect(msgspec.Struct, frozen=True):
    """One place where the ground truth is likely wrong.

    `page`: from 0. `label`, `bbox`: of the ground truth box now, in the unit of the files; for a missing one those
    proposed. `score`: probability that the ground truth is wrong, in [0, 1]. `unit`: shares of the page or pixels,
    origin top left. `bbox_format`: order of the numbers, whatever the format of the files.
    """

    document: str
    page: int
    label: str
    bbox: tuple[float, float, float, float]
    kind: Kind
    score: float
    reason: str
    proposal: Proposal
    unit: Literal["page", "pixels"] = "page"
    bbox_format: Literal["xyxy"] = "xyxy"

    def to_json(self) -> dict[str, object]:
        """Return the suspect as plain values under the keys of the terminal contract."""
        values: dict[str, object] = msgspec.to_builtins(self)
        return values


class UsedBoxes(NamedTuple):
    """The boxes of one side that take part, and their rows in the file."""

    boxes: Columns
    rows: IntArray


@dataclass(frozen=True, eq=False)
class Suspects:
    """All suspects of a dataset, most likely first.

    `ranked`: rows are those of the files. `boxes`: ground truth boxes that were looked at. `used`: rows of each
    model's predictions that take part, not those below `min_score`. `notes`: the evidence of the page on each suspect;
    empty when no page was looked at.
    """

    dataset: Dataset
    ranked: Ranked
    boxes: int
    used: tuple[IntArray, ...]
    min_score: float = 0.0
    notes: tuple[str, ...] = ()

    _cache: LRUCache[int, Suspect] = field(default_factory=lambda: LRUCache(most=_SHOWN), init=False, repr=False)

    def __len__(self) -> int:
        return len(self.ranked)

    def __getitem__(self, place: int) -> Suspect:
        return self._cache.get_or_make(place, lambda: self._suspect(place))

    def _suspect(self, place: int) -> Suspect:
        dataset, ranked = self.dataset, self.ranked
        page, kind = int(ranked.page[place]), int(ranked.kind[place])
        label, new_label = dataset.labels[ranked.label[place]], dataset.labels[ranked.new_label[place]]
        gone = kind == EXTRA
        return Suspect(
            document=dataset.documents[dataset.page_document[page]].doc_id,
            page=int(dataset.page_index[page]),
            label=label,
            bbox=self._corners(ranked.xyxy[place], exact=kind != MISSING),
            kind=KINDS[kind],
            score=round(min(float(ranked.score[place]), _MOST_CERTAIN), 6),
            reason=self.reason(place),
            proposal=Proposal(
                action=ACTIONS[kind],
                label=None if gone else new_label,
                bbox=None if gone else self._corners(ranked.new_xyxy[place], exact=kind == LABEL),
            ),
            unit=dataset.ground_truth.source.unit,
        )

    def at_least(self, least: float) -> Suspects:
        """Return the suspects that are at least so likely."""
        rows = np.flatnonzero(self.ranked.score >= least)
        notes = tuple(self.notes[row] for row in rows.tolist()) if self.notes else ()
        return replace(self, ranked=self.ranked.take(rows), notes=notes)

    def to_list(self, most: int | None = None) -> list[Suspect]:
        """Return the first `most` suspects; all when None."""
        return [self._suspect(place) for place in range(len(self) if most is None else min(most, len(self)))]

    def reason(self, place: int) -> str:
        """Return the evidence for a suspect in one sentence; text from files is not escaped."""
        models = [self._model(place, model) for model in range(self.ranked.prediction.shape[1])]
        words = {MISSING: self._missing, EXTRA: self._extra, LABEL: self._label, BORDER: self._border}
        sentence = words[int(self.ranked.kind[place])](place, models)
        note = self.notes[place] if self.notes else ""
        return f"{sentence}; {note}." if note else f"{sentence}."

    def _missing(self, place: int, models: Sequence[_ModelBox]) -> str:
        there = [model for model in models if model.box is not None]
        if len({model.label for model in there}) > 1:
            text = " and ".join(f"{model.name}{model.score} finds a {model.label}" for model in there)
        elif len(there) > 1:
            fit = iou(np.array([there[0].box]), np.array([there[1].box]))[0]
            names = " and ".join(f"{model.name}{model.score}" for model in there)
            text = f"{names} both find a {there[0].label}, IoU {fit:.2f} with each other"
        else:
            alone = " alone" if len(models) > 1 else ""
            text = f"{there[0].name}{there[0].score}{alone} finds a {there[0].label}"
        return f"{text}; no ground truth box is there{self._claimed(place)}"

    def _extra(self, place: int, models: Sequence[_ModelBox]) -> str:
        there = [model for model in models if model.box is not None]
        label = self.dataset.labels[self.ranked.label[place]]
        if not there:
            # The box of another ground truth box may lie here all the same.
            near = [self._near(place, model) for model in range(len(models))]
            there = [model for model in near if model is not None]
            rest = [f"; {model.name} finds none" for model, one in zip(models, near, strict=True) if one is None]
            if not there:
                who = "Neither A nor B finds" if len(models) > 1 else "The model does not find"
                score = f" of score ≥ {threshold_text(self.min_score)}" if self.min_score > 0.0 else ""
                return f"{who} a {label}{score} here{self._claimed(place)}"
            verb, rest_text = "has a", f", at another ground truth box as well{''.join(rest)}"
        else:
            verb, rest_text = "has only a", self._claimed(place)
        fits = [iou(self.ranked.xyxy[place : place + 1], np.array([model.box]))[0] for model in there]
        text = " and ".join(
            f"{model.name}{model.score} {verb} {model.label} of IoU {fit:.2f}"
            for model, fit in zip(there, fits, strict=True)
        )
        return f"{text} here{rest_text}"

    def _label(self, place: int, models: Sequence[_ModelBox]) -> str:
        label = self.dataset.labels[self.ranked.new_label[place]]
        saying = [model for model in models if model.label == label]
        if not saying:
            return f"Its size, place and neighbours are those of a {label}{self._silent(place, models)}"
        names = " and ".join(f"{model.name}{model.score}" for model in saying)
        says = "both say" if len(saying) > 1 else "says"
        others = [model for model in models if model.label != label]
        rest = "".join(
            f"; {model.name} finds nothing here"
            if model.label is None
            else f"; {model.name}{model.score} says {model.label}"
            for model in others
        )
        return f"{names} {says} {label}{rest}"

    def _silent(self, place: int, models: Sequence[_ModelBox]) -> str:
        if any(model.box is not None or self._near(place, at) is not None for at, model in enumerate(models)):
            return ""
        return "; neither A nor B finds it" if len(models) > 1 else "; the model does not find it"

    def _border(self, place: int, models: Sequence[_ModelBox]) -> str:
        ranked = self.ranked
        moved = ranked.new_xyxy[place] - ranked.xyxy[place]
        times = np.abs(moved) / ranked.usual[place]
        sides = [side for side in np.argsort(-times, kind="stable").tolist() if moved[side] != 0.0][:2]
        there = [model for model in models if model.box is not None]
        # The proposal is less by what the models usually add.
        away = np.array([model.box for model in there]).mean(axis=0) - ranked.xyxy[place]
        names = " and ".join(f"{model.name}{model.score}" for model in there)
        verb = "both place" if len(there) > 1 else "places"
        edges = " and ".join(
            f"the {_SIDES[side][0]} {self._length(abs(away[side]))} {_SIDES[side][1 + bool(away[side] > 0.0)]}"
            for side in sides
        )
        if not sides:
            return f"{names} {verb} the box elsewhere"
        return f"{names} {verb} {edges}, {times[sides[0]]:.0f} times the usual difference"

    def _claimed(self, place: int) -> str:
        covered = float(self.ranked.covered[place])
        return f"; another ground truth box shares {100.0 * covered:.0f} % of the place" if covered >= _CLAIMED else ""

    def _length(self, length: float) -> str:
        if self.dataset.ground_truth.source.unit == "pixels":
            return f"{length:.0f} px"
        return f"{100.0 * length:.1f} % of the page"

    def _corners(self, box: FloatArray, *, exact: bool) -> tuple[float, float, float, float]:
        digits = _DIGITS[self.dataset.ground_truth.source.unit]
        x1, y1, x2, y2 = box.tolist() if exact else np.round(box, digits).tolist()
        return x1, y1, x2, y2

    def _near(self, place: int, model: int) -> _ModelBox | None:
        """Return the best box of its label at a ground truth box that is not its partner; None for none."""
        rows = self._rows_of(model, int(self.ranked.page[place]))
        side = self.dataset.predictions[model]
        rows = rows[side.label[rows] == self.ranked.label[place]]
        if not len(rows):
            return None
        fits = iou(np.broadcast_to(self.ranked.xyxy[place], (len(rows), 4)), side.xyxy[rows])
        best = int(np.argmax(fits))
        return self._model_box(model, int(rows[best])) if fits[best] >= SAME_PLACE_IOU else None

    def _rows_of(self, model: int, page: int) -> IntArray:
        order, bounds = self._by_page[model]
        return order[bounds[page] : bounds[page + 1]]

    @cached_property
    def _by_page(self) -> list[tuple[IntArray, IntArray]]:
        made = []
        for side, rows in zip(self.dataset.predictions, self.used, strict=True):
            order = rows[np.argsort(side.page[rows], kind="stable")]
            made.append((order, np.searchsorted(side.page[order], np.arange(self.dataset.pages + 1))))
        return made

    def _model(self, place: int, model: int) -> _ModelBox:
        row = int(self.ranked.prediction[place, model])
        if row == NOBODY:
            return _ModelBox(self._name(model), None, "", None)
        return self._model_box(model, row)

    def _name(self, model: int) -> str:
        return _LETTERS[model] if self.ranked.prediction.shape[1] > 1 else "The model"

    def _model_box(self, model: int, row: int) -> _ModelBox:
        side = self.dataset.predictions[model]
        score = float(side.score[row])
        text = "" if np.isnan(score) else f" ({threshold_text(round(score, 2))})"
        return _ModelBox(self._name(model), self.dataset.labels[side.label[row]], text, tuple(side.xyxy[row].tolist()))


class _ModelBox(NamedTuple):
    """What a model shows at a place: its name, and label, score in brackets and box, if any."""

    name: str
    label: str | None
    score: str
    box: tuple[float, ...] | None


def suspects(
    dataset: Dataset, *, labels: Sequence[str] | None = None, min_score: float = 0.0, least: float = LEAST_SCORE
) -> Suspects:
    """Return suspected errors of the ground truth of a dataset, most likely first.

    Of two models both must say the same (`support`). `labels`: None for all that a file maps. Predictions below
    `min_score` do not take part; suspects less likely than `least` are left out. ValueError, one sentence: no
    prediction or more than two, more than `MOST_LABELS` labels, or a label that no file has.
    """
    if not 1 <= len(dataset.predictions) <= MOST_MODELS:
        raise ValueError(f"suspects need one or two predictions; found {len(dataset.predictions)}")
    if too_many := too_many_labels(dataset):
        raise ValueError(too_many)
    wanted = np.isin(np.arange(len(dataset.labels)), [dataset.label_code[n] for n in dataset.scored_labels(labels)])
    truth = _used_boxes(dataset.ground_truth, wanted)
    models = [_used_boxes(side, wanted, min_score) for side in dataset.predictions]
    covers = [dataset.in_both(model)[dataset.page_document] for model in range(len(models))]
    ranked = rank(
        truth.boxes,
        [model.boxes for model in models],
        labels=len(dataset.labels),
        page_size=_page_size(dataset),
        looked=covers,
        least=least,
    )
    ranked = ranked.take(np.flatnonzero(supported(ranked, truth.boxes, [model.boxes for model in models], covers)))
    ranked.truth[:] = original_rows(ranked.truth, truth.rows)
    for model, side in enumerate(models):
        ranked.prediction[:, model] = original_rows(ranked.prediction[:, model], side.rows)
    return Suspects(dataset, ranked, len(truth.rows), tuple(model.rows for model in models), min_score)


def too_many_labels(dataset: Dataset) -> str | None:
    """Return in a sentence why suspects of a dataset are not looked for; None where they are."""
    labels = len(dataset.labels)
    if labels <= MOST_LABELS:
        return None
    return f"suspects are looked for under at most {MOST_LABELS} labels; found {labels:,}. Bring some together."


def _used_boxes(side: JoinedBoxes, wanted: BoolArray, min_score: float = 0.0) -> UsedBoxes:
    """Return the boxes with a wanted label and score; regions that stand for many objects are left out."""
    keep = wanted[side.label] & ~(side.score < min_score)
    if side.source.boxes.crowd is not None:
        keep &= ~side.source.boxes.crowd
    rows = np.flatnonzero(keep)
    return UsedBoxes(
        Columns(side.page[rows], side.label[rows].astype(np.int64), side.xyxy[rows], side.score[rows]), rows
    )


def _page_size(dataset: Dataset) -> FloatArray:
    """Return the size of each page in the unit of the boxes; where unknown, what all boxes need."""
    if dataset.ground_truth.source.unit == "page":
        return np.ones((dataset.pages, 2))
    sides = (dataset.ground_truth, *dataset.predictions)
    reach = np.max([side.xyxy[:, 2:].max(axis=0, initial=1.0) for side in sides], axis=0)
    return np.where(dataset.page_size > 0.0, dataset.page_size, reach)


def table(suspects: Suspects, most: int, signature: str) -> ResultTable:
    """Return the first suspects as rows for terminals and spreadsheets; pages count from 1."""
    rows = [(one.document, one.page + 1, one.kind, one.label, one.score, one.reason) for one in suspects.to_list(most)]
    title = f"Suspected ground truth: {count_of(len(suspects), 'place')}, {count_of(suspects.boxes, 'box')}"
    columns = ("document", "page_no", "kind", "label", "score", "reason")
    return ResultTable(title=title, signature=signature, columns=columns, rows=tuple(rows))


# --- verdicts on them -------------------------------------------------------------------------------------------------


def suspect_target(suspects: Suspects, place: int, *, signature: str = "") -> Target:
    """Return the target of a verdict on the suspect at a place of the list.

    Its boxes are the ground truth box, if there is one, and the proposed box, unless the box is to go. An extra box is
    the same target as the missed box that it is for the models. `signature` says what made the list.
    """
    suspect, dataset = suspects[place], suspects.dataset
    boxes = []
    if suspect.kind != "missing":
        boxes.append(JudgedBox(side="ground_truth", label=suspect.label, xyxy=suspect.bbox))
    proposal = suspect.proposal
    if proposal.bbox is not None and proposal.label is not None:
        boxes.append(JudgedBox(side="prediction", label=proposal.label, xyxy=proposal.bbox, model=PROPOSED))
    return Target(
        kind="mistake",
        document=suspect.document,
        page=suspect.page,
        boxes=tuple(boxes),
        models=tuple(box_model_name(side.source) for side in dataset.predictions),
        mistake=f"{SUSPECTED}{suspect.kind}",
        label=suspect.label,
        signature=signature,
        unit=dataset.ground_truth.source.unit,
    )


def with_correction(target: Target, label: str, xyxy: tuple[float, float, float, float]) -> Target:
    """Return the target with another correction; a verdict on it is kept under the same identity.

    `label` and `xyxy`, in the unit of the target, are those of the box as it should be. ValueError: a box without area.
    """
    x1, y1, x2, y2 = xyxy
    if not (x1 < x2 and y1 < y2):
        raise ValueError("the right edge must be right of the left one, and the bottom edge below the top one")
    boxes = target.of("ground_truth")
    return msgspec.structs.replace(
        target, boxes=(*boxes, JudgedBox(side="prediction", label=label, xyxy=xyxy, model=PROPOSED))
    )
