"""A pack from files that are read already: further evaluation systems beside the boxes, or without any.

Owns the order of the work and its progress: the protocol's own numbers, a chapter for each further system, then what
the pack says. The dashboard hands over what is open; the terminal reads files itself and ends in the same functions.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from evaluator.drawing.payloads import ModelItem
from evaluator.metrics.box_results import AnyBoxResult
from evaluator.model.issues import Issue
from evaluator.pack.cards import PackOptions
from evaluator.pack.chapters import Made, issues_of, made_of, own_chapter
from evaluator.pack.contents import Contents, gather, gather_chapters
from evaluator.pack.since import Packed
from evaluator.pack.slice_cards import pack_slices
from evaluator.project import evaluate_read
from evaluator.protocols import AnyProtocol
from evaluator.protocols.base import BoxProtocol, Options, Source
from evaluator.review.verdicts import ReviewLog

# Called with how much is done, how much there is, and what is being done.
Note = Callable[[int, int, str], None]


class Boxes(NamedTuple):
    """The boxes that decision, findings and pages are of.

    Attributes
    ----------
    results : sequence of BoxResult, length >= 1
        Of one dataset at one IoU threshold, each at the score threshold of its model.
    called : sequence of ModelItem
        What the models are called, one each.
    """

    protocol: BoxProtocol[Any]
    results: Sequence[AnyBoxResult]
    called: Sequence[ModelItem]
    log: ReviewLog
    issues: Sequence[Issue]


class Further(NamedTuple):
    """One more evaluation for a pack.

    Attributes
    ----------
    models : sequence of Source, length >= 1
        The second is compared with the first.
    scores : sequence of float
        A score threshold for each model; see `project.evaluate_read`.
    """

    protocol: AnyProtocol
    truth: Source
    models: Sequence[Source]
    options: Options
    called: Sequence[ModelItem]
    scores: Sequence[float] = ()

    def made(self, note: Note) -> Made:
        """Its chapter; raises as `project.evaluate_read`."""
        words = f"Evaluating {self.protocol.title}"
        note(0, 0, words)
        evaluations = evaluate_read(
            self.protocol,
            self.truth,
            self.models,
            self.options,
            lambda done, total: note(done, total, words),
            scores=self.scores,
        )
        note(0, 0, f"Comparing the models: {self.protocol.title}")
        return made_of(evaluations, self.called)


def gather_all(
    boxes: Boxes | None,
    further: Sequence[Further],
    options: PackOptions,
    note: Note,
    *,
    earlier: Packed | None = None,
) -> Contents:
    """The contents of a pack about what is open.

    Parameters
    ----------
    boxes : Boxes or None
        None for a pack of `further` alone.
    further : sequence of Further
        At least one without boxes.
    note : callable
        Called with what is being done; what it raises ends the work.
    earlier : Packed, optional
        The record of an earlier pack, to say what changed; without effect without boxes.

    Raises
    ------
    BadInput
        With all issues of files that a further system cannot evaluate.
    OptionError
        An option's value makes no sense.
    ValueError
        Neither boxes nor a further evaluation.
    """
    chapters = [each.made(note) for each in further]
    if boxes is None:
        return gather_chapters([each.chapter for each in chapters], options, issues=issues_of(chapters))
    of = boxes.protocol
    note(0, 0, f"Evaluating {of.title}")
    evaluations = [of.result(result.matching, of.thresholds, of.options()) for result in boxes.results]
    own = own_chapter(of, evaluations, boxes.called)
    note(0, 0, "Searching for slices")
    slices = pack_slices(boxes.results, [model.letter for model in boxes.called])
    note(0, 0, "Gathering the pack")
    return gather(
        boxes.results,
        boxes.called,
        boxes.log,
        options,
        issues=tuple(dict.fromkeys((*boxes.issues, *issues_of(chapters)))),
        own=own,
        chapters=[each.chapter for each in chapters],
        earlier=earlier,
        slices=slices,
    )
