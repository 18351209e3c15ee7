"""Findings put together by cause, what the other model did there, and the words of a meeting, on the sample data."""

from evaluator.components.meeting.agenda import next_item, state_words, verdict_words
from evaluator.matching.causes import Family
from evaluator.matching.error_types import NONE
from evaluator.review.decisions import CauseRow, cause_rows
from evaluator.review.finding_groups import targets_of_causes
from evaluator.review.status import finding_statuses, mistake_of
from evaluator.review.verdicts import Event, ReviewLog, Target
from tests.judging import opinion
from tests.sample_part import sample_results


def verdicts_on(targets: dict[str, Target], verdict: str, author: str = "Anna", minutes: int = 0) -> list[Event]:
    return [opinion(target, verdict, author=author, minutes=minutes) for target in targets.values()]


def row_of(log: ReviewLog, title: str) -> tuple[CauseRow, list[CauseRow]]:
    rows, _ = cause_rows(sample_results(), finding_statuses(log, sample_results()))
    return next(row for row in rows if row.title == title), rows


def test_agreed_needs_two_reviewers() -> None:
    title = "Table read as several boxes"
    row, rows = row_of(ReviewLog(), title)
    assert ([side.words for side in row.sides], len(row.places), state_words(row)) == (
        ["76 wrong boxes at 8 places", "21 wrong boxes at 1 place"], 9, "Open",
    )  # fmt: skip
    targets = row.targets(ReviewLog())
    one = verdicts_on(targets, "model_wrong")
    row, _ = row_of(ReviewLog.of(one[:1]), title)
    assert state_words(row) == f"1 of {row.mistakes} judged"
    row, rows = row_of(ReviewLog.of(one), title)
    assert (state_words(row), verdict_words(row)) == ("Model wrong", "Model wrong, 1 of 1 reviewer")
    assert next_item(rows, row.key) == rows[1 if rows[0] is row else 0].key
    row, _ = row_of(ReviewLog.of([*one, *verdicts_on(targets, "model_wrong", "Ben", 1)]), title)
    assert (state_words(row), verdict_words(row)) == ("Model wrong, agreed", "Model wrong, 2 of 2 reviewers")


def test_reviewers_who_disagree_are_counted() -> None:
    row, _ = row_of(ReviewLog(), title := "Table read as several boxes")
    targets = row.targets(ReviewLog())
    said = [*verdicts_on(targets, "model_wrong"), *verdicts_on(targets, "model_wrong", "Ben", 1)]
    assert row_of(ReviewLog.of(said), title)[0].split == ""
    row, _ = row_of(ReviewLog.of([*said, *verdicts_on(targets, "ignore", "Cleo", 2)]), title)
    assert (row.split, state_words(row)) == ("2 of 3: Model wrong", "Reviewers differ")


def test_a_place_of_both_models_is_one_place() -> None:
    """Both miss the same boxes of the scanned pages: three places, not six."""
    row, _ = row_of(ReviewLog(), "Several boxes read as one Figure")
    assert [side.words for side in row.sides] == ["39 wrong boxes at 3 places"] * 2
    assert [place.model for place in row.places] == [0, 0, 0]


def test_a_verdict_on_what_both_models_miss_counts_for_both() -> None:
    """The three scanned pages that are one Figure to both: judged under A, what is missed is under B."""
    a, b = sample_results()
    rows = a.causes.alike[Family("joined", "", "", "Figure")]
    log = ReviewLog.of(verdicts_on(targets_of_causes(a, rows, ReviewLog()), "ignore"))
    statuses = finding_statuses(log, [a, b])
    judged = [{mistake_of(each, one.mistakes, one.matching.model) for each in statuses} - {NONE} for one in (a, b)]
    assert judged[0] == {mistake for row in rows.tolist() for mistake in a.causes.rows[row].tolist()}
    missed = {each for each in range(len(b.mistakes)) if len(b.mistakes.predictions_of(each)) == 0}
    of_page = {each for each in missed if b.mistakes.page[each] in a.causes.page[rows]}
    assert judged[1] == of_page > set()
