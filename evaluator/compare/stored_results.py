"""Results of earlier runs: a ``result.json`` of ``layoutscope evaluate`` as a model without boxes.

Owns what is kept of each document beside a result, and how it is read back, checked in full. Whether it can be compared
with others the caller asks `StoredResult.against`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

import msgspec
import numpy as np

from evaluator.compare.models import ModelEntry
from evaluator.compare.stored_measures import StoredMeans, dump_measures, load_measures
from evaluator.data.boxes import FloatArray
from evaluator.data.dataset import Run
from evaluator.data.issues import BadInput, Collector
from evaluator.matching.box_results import ALL_LABELS
from evaluator.metrics.measures import Key, Measures, Part, Ratios
from evaluator.metrics.metric import BOX_METRICS
from evaluator.metrics.results import ratio
from evaluator.protocols import PROTOCOLS
from evaluator.protocols.base import Result
from evaluator.system.decoding import json_decoder

MOST_BYTES: Final = 64 << 20
_FIX: Final = "Give a result.json of layoutscope evaluate."
# Parts of a signature that may differ between models that are compared: each has thresholds of its own. Documents that
# only one of them names change the counts, which may differ always, as the version may.
_THRESHOLDS: Final = ("IoU ", "score ")
_VERSION: Final = "layoutscope "
# What the signature of numbers of all predictions states.
_EVERY_SCORE: Final = "score ≥ 0.00"
_COUNTS: Final = re.compile(r"[0-9,]+ documents?, [0-9,]+ pages?")


class _Counts(msgspec.Struct, frozen=True):
    tp: tuple[int, ...]
    fp: tuple[int, ...]
    fn: tuple[int, ...]


class _ByDocument(msgspec.Struct, frozen=True):
    documents: tuple[str, ...]
    thresholds: dict[str, _Counts]
    pages: int = 0
    own: tuple[StoredMeans, ...] = ()


class _File(msgspec.Struct):
    name: str
    sha256: str = ""


class _Result(msgspec.Struct):
    protocol: str
    signature: str
    ground_truth: _File
    predictions: _File
    by_document: _ByDocument | None = None
    run: Run = msgspec.field(default_factory=Run)
    model: str | None = None


_decoded: Final = json_decoder(_Result | list[_Result])


class StoredResult(msgspec.Struct, frozen=True):
    """One result of an earlier run; `by_document` is None in files written before it was kept."""

    name: str
    protocol: str
    signature: str
    truth_sha256: str
    run: Run
    by_document: _ByDocument | None

    def against(self, *, protocol: str, signature: str, truth_sha256: str, iou: float, own: bool = False) -> str:
        """Return why this result cannot be compared with others, in a few words; empty when it can.

        `signature` and `truth_sha256` are those of the others, `iou` the threshold at which they are compared; `own` is
        for numbers of the protocol's own, which are of all predictions at its own thresholds.
        """
        if self.protocol != protocol:
            return f"measured under {self.signature}"
        if self.truth_sha256 != truth_sha256:
            return "measured on another ground truth"
        if comparable_part(self.signature) != comparable_part(signature):
            return f"measured under another signature, {self.signature}"
        if self.by_document is None:
            return "has no counts by document: evaluate it again with this version"
        if own and not self.by_document.own:
            return "has no rankings: evaluate it again with this version"
        if own and not self.of_every_score:
            return f"measured of some predictions only, {self.signature}"
        if not own and repr(iou) not in self.by_document.thresholds:
            known = ", ".join(self.by_document.thresholds)
            return f"measured at IoU {known}, not at {iou:g}"
        return ""

    @property
    def of_every_score(self) -> bool:
        """Return whether no prediction was left out by its score."""
        return _EVERY_SCORE in self.signature.split(" · ")

    def model_entry(self, iou: float, name: str = "") -> ModelEntry:
        """Return the model without its boxes, by its counts at an IoU threshold where it has it.

        Also by the numbers of the protocol's own that it has; `name` is what to call it. Only where `by_document` is
        not None.
        """
        assert self.by_document is not None
        own = self.by_document.own if self.of_every_score else ()
        parts: tuple[Part, ...] = load_measures(own, len(self.by_document.documents))
        counts = self.by_document.thresholds.get(repr(iou))
        if counts is not None:
            tp, fp, fn = (np.array(column, dtype=np.float64) for column in (counts.tp, counts.fp, counts.fn))
            sums = {"precision": (tp, tp + fp), "recall": (tp, tp + fn), "f1": (2 * tp, 2 * tp + fp + fn)}
            parts = (*(_ratio_part(name, *columns) for name, columns in sums.items()), *parts)
        measures = Measures(tuple(self.by_document.documents), ALL_LABELS, parts)
        # What has to be corrected by hand follows from the boxes, not from these counts.
        # A result states model and version in one.
        family = self.name.rsplit(" ", 1)[0]
        pages, run = self.by_document.pages, self.run
        return ModelEntry(name or self.name, measures, None, pages, run, boxes=False, family=family)


def comparable_part(signature: str, *, thresholds: bool = False) -> tuple[str, ...]:
    """Return what has to be equal of two signatures for their numbers to be compared.

    Between models the thresholds may differ; between two runs of one model `thresholds` asks for equal ones too.
    """
    free = (_VERSION,) if thresholds else (*_THRESHOLDS, _VERSION)
    parts = signature.split(" · ")
    return tuple(part for part in parts if not part.startswith(free) and not _COUNTS.fullmatch(part))


def _ratio_part(metric: str, numerator: FloatArray, denominator: FloatArray) -> Ratios:
    value = ratio(numerator.sum(keepdims=True), denominator.sum(keepdims=True))
    return Ratios((Key(metric, ALL_LABELS),), value, numerator[:, None], denominator[:, None])


def read_results(content: bytes, name: str) -> tuple[StoredResult, ...]:
    """Return the results in a ``result.json``; BadInput when it is no such file or its counts do not fit."""
    collector = Collector(name, max_per_rule=20)
    if len(content) > MOST_BYTES:
        collector.fail("", f"a result may have {MOST_BYTES >> 20} MB", f"{len(content) >> 20} MB", _FIX)
    try:
        decoded = _decoded(content)
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError) as problem:
        collector.error("$", "must be a result of layoutscope evaluate --json", str(problem)[:200], _FIX)
        raise BadInput(collector.issues()) from problem
    every: Sequence[_Result] = decoded if isinstance(decoded, list) else [decoded]
    for place, one in enumerate(every):
        where = f"$[{place}].by_document" if isinstance(decoded, list) else "$.by_document"
        _check(one, where, collector)
    if not every:
        collector.error("$", "must have at least one result", "an empty list", _FIX)
    collector.raise_if_failed()
    return tuple(
        StoredResult(
            one.model or one.predictions.name, one.protocol, one.signature, one.ground_truth.sha256, one.run,
            one.by_document,
        )
        for one in every
    )  # fmt: skip


def _check(one: _Result, where: str, collector: Collector) -> None:
    """Note counts that are not there once for each document, or below 0."""
    if one.by_document is None:
        return
    size = len(one.by_document.documents)
    if len(set(one.by_document.documents)) < size:
        collector.error(f"{where}.documents", "a document must occur once", "one twice", _FIX)
    for threshold, counts in one.by_document.thresholds.items():
        for key in ("tp", "fp", "fn"):
            column = getattr(counts, key)
            place = f"{where}.thresholds.{threshold}.{key}"
            if len(column) != size:
                collector.error(place, "must have one count for each document", f"{len(column)} for {size}", _FIX)
            elif column and not 0 <= min(column) <= max(column) < 1 << 53:
                collector.error(place, "counts must be whole numbers of at least 0", f"{min(column)}", _FIX)
    try:
        load_measures(one.by_document.own, size)
    except ValueError as problem:
        collector.error(f"{where}.own", "rankings must fit together", str(problem), _FIX)


def stored_values(result: Result) -> dict[str, object]:
    """Return what a result file keeps so that later runs can be listed with it without its boxes.

    ``by_document`` (counts by IoU threshold, rankings behind the protocol's own numbers, see `stored_measures`),
    ``run`` and ``model``. Empty for protocols without boxes, and for results that do not have their boxes any more.
    """
    by_document, system = result.by_document, PROTOCOLS[result.signature.protocol]
    if by_document is None:
        return {}
    own = [name for name in system.metrics if name not in BOX_METRICS]
    names = _Counts.__struct_fields__
    kept = dump_measures(system.measures(result), own) if own else []
    return {
        "by_document": {
            "documents": list(by_document.documents),
            "pages": by_document.pages,
            "thresholds": {
                repr(iou): {name: column.tolist() for name, column in zip(names, counts, strict=True)}
                for iou, counts in by_document.thresholds.items()
            },
            **({"own": [msgspec.to_builtins(each) for each in kept]} if kept else {}),
        },
        "run": by_document.run,
        "model": by_document.model or None,
    }
