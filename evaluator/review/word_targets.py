"""Targets of the missing and extra words of a poster, their verdicts, and whether these still apply.

A word is identified by its text, its side and its places on the page; one that is on no page has no target. A verdict
on a word changes no number: what a text should say is corrected in the file of the reference.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from typing import Final, NamedTuple

from evaluator.protocols.posters.comparison import PosterComparison
from evaluator.protocols.posters.word_places import PageDifference, WordPlaces
from evaluator.review.identity import TargetReview, match_reviews
from evaluator.review.status import FindingStatus, status_of, status_over
from evaluator.review.verdicts import MOST_BOXES, JudgedBox, ReviewedTarget, ReviewLog, Target

WORD_PROBLEMS: Final[Mapping[str, str]] = {
    "missing_word": "Missing word",
    "missing_number": "Missing number",
    "extra_word": "Extra word",
    "extra_number": "Extra number",
}
"""What can be wrong with a word."""
_SENTENCES: Final[Mapping[bool, str]] = {
    True: "It is still missing, or still extra, in the text of the model.",
    False: "The texts agree on it now.",
}


class PosterText(NamedTuple):
    """Texts of one model: its name, its posters, and how one of them compares with the reference."""

    name: str
    posters: Collection[str]
    compare: Callable[[str], PosterComparison | None]


def judged_words(
    words: PageDifference, poster: str, model: str, log: ReviewLog, *, signature: str
) -> list[TargetReview]:
    """Return missing, then extra words of a poster, in page order, with their verdicts."""
    places = [each for each in (*words.missing, *words.extra) if len(each.boxes)]
    targets = [_target(each, poster, model, signature) for each in places]
    return match_reviews(targets, log.words_of(poster))


def word_statuses(log: ReviewLog, models: Sequence[PosterText]) -> list[FindingStatus]:
    """Return what became of judged words under open models, newest first; ``model`` is None."""
    asked = [(model.name, model.posters, partial(_status, model)) for model in models]
    return [status_over(judged, asked) for judged in log.judged.values() if judged.target.kind == "word"]


def _status(model: PosterText, judged: ReviewedTarget) -> FindingStatus:
    target = judged.target
    compared = model.compare(target.document or "")
    if compared is None:
        return status_of(judged, "gone")
    here = {
        "missing_word": compared.words.missing,
        "missing_number": compared.numbers.missing,
        "extra_word": compared.words.extra,
        "extra_number": compared.numbers.extra,
    }.get(target.mistake or "", ())
    still = target.label in here
    status = status_of(judged, "applies" if still else "matched", None, target.mistake if still else None)
    return status._replace(sentence=_SENTENCES[still])


def _target(places: WordPlaces, poster: str, model: str, signature: str) -> Target:
    missing = places.side == "missing"
    return Target(
        kind="word",
        document=poster,
        page=0,
        boxes=tuple(
            JudgedBox(
                side="ground_truth" if missing else "prediction",
                label=places.token,
                xyxy=(x1, y1, x2, y2),
                model=None if missing else model,
            )
            for x1, y1, x2, y2 in places.boxes[:MOST_BOXES].tolist()
        ),
        models=(model,),
        mistake=f"{places.side}_{places.kind}",
        label=places.token,
        signature=signature,
    )
