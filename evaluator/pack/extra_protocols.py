"""A pack from files that are read already: further evaluation systems beside the boxes, or alone."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import NamedTuple

from evaluator.analysis.slices.attributes import PageValues
from evaluator.components.payload import ModelItem
from evaluator.data.issues import Issue
from evaluator.matching.box_results import AnyBoxResult
from evaluator.metrics.observations import Attribute
from evaluator.pack.chapters import ChapterWithIssues, chapter_with_issues, issues_of, own_chapter
from evaluator.pack.contents import Contents, gather, gather_chapters
from evaluator.pack.diff import PackRecord
from evaluator.pack.finding_rows import text_findings
from evaluator.pack.options import PackOptions
from evaluator.pack.slice_cards import pack_slices
from evaluator.project import AnyProject, evaluate_read, explained
from evaluator.protocols import AnyBoxProtocol, AnyProtocol
from evaluator.protocols.base import Options, Source
from evaluator.review.identity import stored_name
from evaluator.review.verdicts import ReviewLog
from evaluator.system.lru_cache import LRUCache

# Called with how much is done, how much there is, and what is being done.
Note = Callable[[int, int, str], None]


class Boxes(NamedTuple):
    """The boxes that decision, findings and pages are of.

    `results` are of one dataset at one IoU threshold, each at its model's score threshold. `of_pages` and `of_boxes`
    are empty where PDFs are not read; see `evaluator.analysis.slices.pdf_pages`.
    """

    protocol: AnyBoxProtocol
    results: Sequence[AnyBoxResult]
    called: Sequence[ModelItem]
    log: ReviewLog
    issues: Sequence[Issue]
    options: Options
    of_pages: PageValues = MappingProxyType({})
    of_boxes: Sequence[Sequence[Attribute]] = ()


MadeBefore = LRUCache[Hashable, ChapterWithIssues]
"""Chapters by what they are made of, for all who make packs in this process."""


class ExtraEvaluation(NamedTuple):
    """One more evaluation for a pack; the second of its models is compared with the first.

    `key`: everything that the chapter follows from, findings apart; without it never kept. `log`: verdicts on fields
    and words.
    """

    protocol: AnyProtocol
    truth: Source
    models: Sequence[Source]
    options: Options
    called: Sequence[ModelItem]
    scores: Sequence[float] = ()
    project: AnyProject | None = None
    key: Hashable | None = None
    log: ReviewLog = ReviewLog()

    def made(self, note: Note, options: PackOptions, before: MadeBefore | None = None) -> ChapterWithIssues:
        """Return its chapter, from `before` if there, with its findings; raises as `project.evaluate_read`."""
        made = self._made(note, before)
        # As verdicts name the models: by their files.
        models = {stored_name(source.name) for source in self.models}
        findings = text_findings(
            self.log, self.truth, models, options, items_of=self.protocol.name if self.protocol.reads_items else ""
        )
        if findings is None:
            return made
        return made._replace(chapter=replace(made.chapter, blocks=(findings, *made.chapter.blocks)))

    def _made(self, note: Note, before: MadeBefore | None) -> ChapterWithIssues:
        words = f"Evaluating {self.protocol.title}"
        note(0, 0, words)
        known = before.get(self.key) if before is not None and self.key is not None else None
        if known is not None:
            return known
        with explained(self.project, self.protocol, self.options):
            evaluations = evaluate_read(
                self.protocol,
                self.truth,
                self.models,
                self.options,
                lambda done, total: note(done, total, words),
                scores=self.scores,
            )
        note(0, 0, f"Comparing the models: {self.protocol.title}")
        made = chapter_with_issues(evaluations, self.called)
        if before is not None and self.key is not None:
            before.put(self.key, made)
        return made


def gather_all(
    boxes: Boxes | None,
    further: Sequence[ExtraEvaluation],
    options: PackOptions,
    note: Note,
    *,
    earlier: PackRecord | None = None,
    before: MadeBefore | None = None,
) -> Contents:
    """Return the contents of a pack about what is open, boxes, further evaluations or both.

    `earlier`: an earlier pack's record, only with boxes. What `note` raises ends the work. BadInput: files that a
    further system cannot evaluate; OptionError: an option's value; ValueError: neither boxes nor `further`.
    """
    chapters = [each.made(note, options, before) for each in further]
    if boxes is None:
        return gather_chapters([each.chapter for each in chapters], options, issues=issues_of(chapters))
    of = boxes.protocol
    note(0, 0, f"Evaluating {of.title}")
    evaluations = [of.result(result.matching, of.thresholds, boxes.options) for result in boxes.results]
    own = own_chapter(of, evaluations, boxes.called)
    slices = pack_slices(
        boxes.results,
        [model.letter for model in boxes.called],
        of_pages=boxes.of_pages,
        of_boxes=boxes.of_boxes,
        count=lambda done, total: note(done, total, "Searching for slices"),
    )
    note(0, 0, "Building the pack")
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
