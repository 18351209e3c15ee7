"""Verdicts on words of posters: on a page of the views Posters and Compare, and their status."""

from __future__ import annotations

from typing import Final

import msgspec

from evaluator.components.compare.payload import PaneItem
from evaluator.components.viewer.judged import attach_words
from evaluator.components.viewer.payload import PagePayload, VerdictEvent
from evaluator.components.viewer.poster_page import poster_data
from evaluator.protocols.posters.word_places import PageDifference
from evaluator.review.identity import stored_name, targets_by_id
from evaluator.review.status import FindingStatus
from evaluator.review.verdicts import ReviewedTarget, ReviewLog, Target
from evaluator.review.word_targets import PosterText, judged_words, word_statuses
from pages.app.state import state
from pages.views.findings import findings
from pages.views.posters import poster_results
from pages.views.posters.poster_results import PosterModel

VIEW_FILE: Final = "pages/posters.py"


def on_page(model: PosterModel, poster_id: str, words: PageDifference, payload: PagePayload) -> PagePayload:
    """Return the payload, with the model's `words`, with verdicts, what is not saved, and who reviews."""
    judged = attach_words(payload.mistakes, _words_with_verdicts(model, poster_id, words))
    return msgspec.structs.replace(
        findings.with_verdicts(payload, judged),
        verdicts=True,
        reviewer=findings.author()[0],
        answered=state.answered,
    )


def on_pane(model: PosterModel, poster_id: str, pane: PaneItem) -> PaneItem:
    """Return the page of one of two models with verdicts and what is not saved, as `on_page`."""
    words = poster_results.words(model, poster_id)
    if words is None:
        return pane
    return findings.with_verdicts(pane, attach_words(pane.mistakes, _words_with_verdicts(model, poster_id, words)))


def handle(model: PosterModel, event: VerdictEvent) -> findings.Unsaved | None:
    """Keep a verdict that the viewer sent; None when on disk or when its word is not on the page any more."""
    words = poster_results.words(model, event.document)
    if words is None:
        return None
    return findings.save_event(event, targets_by_id(_words_with_verdicts(model, event.document, words)))


def statuses(log: ReviewLog) -> list[FindingStatus]:
    """Return what became of every judged word, the newest first; empty when none was judged."""
    if not any(judged.target.kind == "word" for judged in log.judged.values()):
        return []
    return word_statuses(log, [_texts(model) for model in poster_results.models()])


def show_on_page(entry: FindingStatus) -> None:
    """Make the view Posters open the poster of a finding, its word chosen, in a model that has it."""
    target = entry.judged.target
    poster_results.open_poster(target.document or "")
    state.poster_part = "page"
    for model in poster_results.models():
        words = poster_results.words(model, target.document or "")
        if words is None:
            continue
        drawn = attach_words(poster_data(words).mistakes, _words_with_verdicts(model, target.document or "", words))
        keys = [mistake.keys[0] for mistake in drawn if mistake.target == entry.judged.target_id]
        if keys:
            state.poster_of, state.poster_box = model.letter, keys[0]
            return


def _name(model: PosterModel) -> str:
    """Return the name under which the texts of a model are stored: that of its file or folder."""
    return stored_name(model.posters.name)


def _texts(model: PosterModel) -> PosterText:
    return PosterText(
        _name(model), model.posters.posters, lambda poster_id: poster_results.comparison(model, poster_id)
    )


def _words_with_verdicts(
    model: PosterModel, poster_id: str, words: PageDifference
) -> list[tuple[Target, ReviewedTarget | None]]:
    log: ReviewLog = findings.review_log()
    return judged_words(words, poster_id, _name(model), log, signature=poster_results.evaluate(model).signature)
