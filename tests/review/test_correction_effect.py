"""What accepting a correction would change is what it changes: the whole corpus is counted again and compared."""

import pytest

from evaluator.analysis.suspects.listing import suspect_target, suspects
from evaluator.matching.box_results import AnyBoxResult
from evaluator.protocols import coco, snapshot
from evaluator.review.corrected_results import corrected_result
from evaluator.review.correction_effect import Counts, PageFiles, counts_of, effect, effect_words
from evaluator.review.corrections import corrections
from evaluator.review.identity import mistake_targets
from evaluator.review.verdicts import Event, ReviewLog, Target
from tests.judging import opinion
from tests.sample_part import sample_dataset


def numbered(target: Target, verdict: str, number: int, author: str = "Anna") -> Event:
    return opinion(target, verdict, author=author, event_id=f"event-{number}")


def on_all_pages(result: AnyBoxResult, log: ReviewLog) -> AnyBoxResult:
    to = corrections(result.matching.dataset, log)
    return corrected_result(result, to).result if to.applied else result


@pytest.mark.parametrize(("protocol", "model"), [("snapshot", 0), ("coco", 1)])
def test_the_effect_is_what_all_pages_give_after_the_verdict(protocol: str, model: int) -> None:
    dataset = sample_dataset()
    every = suspects(dataset)
    result: AnyBoxResult
    if protocol == "snapshot":
        result = snapshot.pair(dataset, model).match(min_score=0.3).at(0.5)
    else:
        result = coco.pair(dataset, model).match(min_score=0.3).at(0.75)
    # Verdicts of several kinds on mistakes of the model, some on the pages of the suspects.
    mistakes = [target for page in range(0, dataset.pages, 2) for target in mistake_targets(result, page).targets[:2]]
    verdicts = ("ground_truth_wrong", "ignore", "model_wrong")
    events = [numbered(target, verdicts[number % 3], number) for number, target in enumerate(mistakes)]
    changed = 0
    for place in range(0, min(len(every), 36), 2):
        log = ReviewLog.of(events[: place * 2])
        now = on_all_pages(result, log)
        event = numbered(suspect_target(every, place), "ground_truth_wrong", 1000 + place)
        page = PageFiles(dataset, every[place].document, every[place].page)
        after = counts_of(on_all_pages(result, ReviewLog.of([*log.events, event])))
        assert effect(now, page, log, event) == after, place
        changed += after != counts_of(now)
    assert changed


def test_another_reviewer_who_disagrees_leaves_the_numbers() -> None:
    dataset = sample_dataset()
    every = suspects(dataset)
    result = snapshot.pair(dataset, 0).match().at(0.5)
    target = suspect_target(every, 0)
    log = ReviewLog.of([numbered(target, "model_wrong", 1, author="Ben")])
    page = PageFiles(dataset, every[0].document, every[0].page)
    assert effect(result, page, log, numbered(target, "ground_truth_wrong", 2)) == counts_of(result)


def test_the_numbers_are_said_before_and_after() -> None:
    before = Counts(7, 3, 3)
    assert effect_words("B", before, Counts(7, 3, 2)) == "B recall 0.700 → 0.778, precision stays 0.700"
    assert effect_words("B", Counts(0, 0, 0), Counts(0, 0, 1)) == "B recall n/a → 0.000, precision stays n/a"


def test_a_share_of_nothing_is_missing() -> None:
    assert (Counts(0, 0, 0).recall, Counts(0, 0, 0).precision) == (None, None)
    assert (Counts(3, 1, 0).recall, Counts(3, 1, 0).precision) == (1.0, 0.75)
