"""The verdicts of reviewers on what is drawn: each mistake of a page gets its target and what is reviewed of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import msgspec

from evaluator.components.viewer.payload import JudgedItem, MistakeItem, OpinionItem
from evaluator.matching.box_results import AnyBoxResult
from evaluator.review.identity import MistakeTargets, TargetReview, finding_id, match_page_reviews, mistake_targets
from evaluator.review.verdicts import ReviewedTarget, ReviewLog

if TYPE_CHECKING:
    from evaluator.review.pixel_targets import JudgedPiece


def judged_item(judged: ReviewedTarget) -> JudgedItem | None:
    """Return what is reviewed of a target for a view; None when all took it back."""
    if not judged.opinions:
        return None
    opinions = [
        OpinionItem(
            author=event.author,
            verified=event.verified,
            verdict=event.verdict,
            note=event.note,
            tags=event.tags,
            time=event.stamp,
        )
        for event in judged.opinions
    ]
    return JudgedItem(agreed=judged.verdict, conflict=judged.conflict, opinions=opinions)


def _with_verdict(mistake: MistakeItem, review: TargetReview | None) -> MistakeItem:
    if review is None:
        return mistake
    target, reviewed = review
    return msgspec.structs.replace(
        mistake, target=finding_id(target, reviewed), verdict=reviewed and judged_item(reviewed)
    )


def attach(
    mistakes: Sequence[MistakeItem],
    result: AnyBoxResult,
    page: int,
    log: ReviewLog,
    of_page: MistakeTargets | None = None,
) -> list[MistakeItem]:
    """Return the mistakes drawn on a page, each with its target and verdict.

    `mistakes` and `of_page` are of the same result and page. ``target`` is the identity under which a verdict is to be
    kept, None for what is no mistake of the result.
    """
    if not mistakes:
        return []
    of_page = mistake_targets(result, page) if of_page is None else of_page
    reviews = match_page_reviews(of_page.targets, result, page, log)
    # A match that a view calls poor is no mistake of the result, and cannot be judged as one.
    by_box = {key: reviews[position] for key, position in of_page.of_box.items()}
    return [_with_verdict(mistake, by_box.get(mistake.keys[0])) for mistake in mistakes]


def attach_fields(mistakes: Sequence[MistakeItem], judged: Mapping[int, TargetReview]) -> list[MistakeItem]:
    """Return the problems drawn on a page, each with its target and verdict.

    `judged` is that of `judged_fields` for the same result and document. ``target`` is None for a field without a box.
    """
    return [_with_verdict(each, None if each.row is None else judged.get(each.row)) for each in mistakes]


def attach_words(mistakes: Sequence[MistakeItem], judged: Sequence[TargetReview]) -> list[MistakeItem]:
    """Return the words drawn on a poster, each with its target and verdict, from `judged_words`."""
    of_word = {(target.mistake, target.label): (target, reviewed) for target, reviewed in judged}
    return [_with_verdict(each, of_word.get((each.name, each.label))) for each in mistakes]


def attach_items(
    mistakes: Sequence[MistakeItem], judged: Mapping[tuple[str, tuple[str, ...]], TargetReview]
) -> list[MistakeItem]:
    """Return the mistakes drawn on a page, each with its target and verdict; `judged` by name and boxes."""
    return [_with_verdict(each, judged.get((each.name, tuple(each.keys)))) for each in mistakes]


def attach_pieces(mistakes: Sequence[MistakeItem], judged: Sequence[JudgedPiece | None]) -> list[MistakeItem]:
    """Return the drawn pieces with their boxes and verdicts: the first of `judged`, in their order."""
    return [
        mistake
        if one is None
        else msgspec.structs.replace(
            _with_verdict(mistake, (one.target, one.judged)), lines=[*mistake.lines, one.words]
        )
        for mistake, one in zip(mistakes, judged, strict=False)
    ]
