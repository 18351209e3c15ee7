"""The verdicts of reviewers on what is drawn: each mistake of a page gets its target and what is held of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import msgspec

from evaluator.drawing.payloads import JudgedItem, LayersT, MistakeItem, OpinionItem
from evaluator.metrics.box_results import AnyBoxResult
from evaluator.review.identity import Claim, PageMistakes, claimed_on_page, kept_id, page_mistakes
from evaluator.review.verdicts import Judged, ReviewLog

if TYPE_CHECKING:
    from evaluator.review.pixel_targets import JudgedPiece


def judged_item(judged: Judged) -> JudgedItem | None:
    """Return what is held of a target for a view; None when all took it back."""
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


def _with_verdicts(layers: LayersT, claim_of: Callable[[MistakeItem], Claim | None]) -> LayersT:
    """Return a copy of a drawing in which each mistake with a claim has its target and verdict."""
    mistakes = []
    for mistake in layers.mistakes:
        claim = claim_of(mistake)
        if claim is not None:
            target, held = claim
            mistake = msgspec.structs.replace(  # noqa: PLW2901
                mistake, target=kept_id(target, held), verdict=held and judged_item(held)
            )
        mistakes.append(mistake)
    return msgspec.structs.replace(layers, mistakes=mistakes)


def attach(
    layers: LayersT, result: AnyBoxResult, page: int, log: ReviewLog, of_page: PageMistakes | None = None
) -> LayersT:
    """Return a copy of the drawing of a page in which each mistake has its target and verdict.

    `layers` and `of_page` are of the same result and page. ``target`` is the identity under which a verdict is to be
    kept, None for what is no mistake of the result.
    """
    if not layers.mistakes:
        return layers
    of_page = page_mistakes(result, page) if of_page is None else of_page
    claims = claimed_on_page(of_page.targets, result, page, log)
    # A match that a view calls poor is no mistake of the result, and cannot be judged as one.
    by_box = {key: claims[position] for key, position in of_page.of_box.items()}
    return _with_verdicts(layers, lambda mistake: by_box.get(mistake.keys[0]))


def attach_fields(layers: LayersT, judged: Mapping[int, Claim]) -> LayersT:
    """Return the drawing of a page in which each problem has its target and verdict.

    `judged` is that of `judged_fields` for the same result and document. ``target`` is None for a field without a box.
    """
    return _with_verdicts(layers, lambda mistake: None if mistake.row is None else judged.get(mistake.row))


def attach_words(layers: LayersT, judged: Sequence[Claim]) -> LayersT:
    """Return the drawing of a poster with the verdicts on each word, from `judged_words`."""
    of_word = {(target.mistake, target.label): (target, held) for target, held in judged}
    return _with_verdicts(layers, lambda mistake: of_word.get((mistake.name, mistake.label)))


def attach_pieces(layers: LayersT, judged: Sequence[JudgedPiece | None]) -> LayersT:
    """Return the drawing with boxes and verdicts of its pieces: the first of `judged`, in their order."""
    mistakes = [
        mistake
        if one is None
        else msgspec.structs.replace(
            mistake,
            target=one.id,
            verdict=one.judged and judged_item(one.judged),
            lines=[*mistake.lines, one.words],
        )
        for mistake, one in zip(layers.mistakes, judged, strict=False)
    ]
    return msgspec.structs.replace(layers, mistakes=mistakes)
