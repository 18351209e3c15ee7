"""Causes of all models and findings of none as the browser lists them, with their words and pictures."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Final

from evaluator.components.decisions.payload import DecisionRowItem, WorthItem
from evaluator.components.gallery import crops
from evaluator.components.gallery.payload import CardBoxItem, CardItem, CardSideItem
from evaluator.components.meeting.agenda import opinion_of, votes_of
from evaluator.data.issues import count_of, displayed, listed, name_in_list, plain
from evaluator.metrics.results import ratio_text
from evaluator.review.decisions import STATUS_MARKS, CauseRow, Effect, example_of
from evaluator.review.finding_groups import MOST_AT_ONCE, VERDICT_MARKS
from evaluator.review.status import STATES
from evaluator.review.verdicts import STATUSES

_BOXES_OF_A_PICTURE: Final = 300


def decision_row(
    row: CauseRow,
    effect: Effect | None,
    *,
    letters: Sequence[str],
    reviewer: tuple[str, bool],
    known: bool,
    improbable: Collection[str],
) -> DecisionRowItem:
    """Return a row in words; `effect` is that of its verdict, `known`: whether a finding's page is open."""
    task, own, place = row.task, row.votes.get(reviewer), place_of(row) if row.columns or known else None
    status = row.status_key
    tags = ["fails the rule"] if row.fails else []
    tags += dict.fromkeys(STATES[entry.state] for entry in row.entries if not row.sides and entry.state != "applies")
    tags += ["a date is improbable: a clock was wrong"] if any(each.id in improbable for each in row.opinions) else []
    lines = [] if effect is None else effect.lines
    return DecisionRowItem(
        key=row.key,
        title=displayed(row.title),
        tags=tags,
        sides=[side.words for side in row.columns],
        place=place[2] if place else "",
        pictured=place is not None,
        mark=VERDICT_MARKS[row.opinion] if row.entries else "",
        verdict=row.verdict,
        split=row.split,
        votes=votes_of(row),
        notes=[plain(event.note.strip()) for event in row.notes],
        people=", ".join(row.people),
        own=own or "",
        own_note=opinion_of(row, reviewer).note,
        owner=task.owner if task else "",
        due=task.due if task else "",
        due_words=row.due,
        status=status,
        status_words=STATUSES[status],
        status_mark=STATUS_MARKS[status],
        worth="" if effect is None else effect.words,
        lines=[
            WorthItem(
                letters[each.model], f"{displayed(each.measure)} {ratio_text(each.before)}", ratio_text(each.after)
            )
            for each in lines
        ],
        worth_note="" if effect is None else effect.note,
        refused=f"{count_of(row.mistakes, 'mistake')}: too many at once, the most are {MOST_AT_ONCE:,}."
        if row.mistakes > MOST_AT_ONCE
        else "",
    )


def place_of(row: CauseRow) -> tuple[str, int, str] | None:
    """Return document id, page index and words of the page of a row; None where it has none."""
    if row.places:
        place = row.places[0]
        result = row.sides[place.model].result
        dataset, page = result.matching.dataset, int(result.causes.page[place.row])
        document, index = dataset.documents[dataset.page_document[page]], int(dataset.page_index[page])
        return document.doc_id, index, f"{name_in_list(document.name)}, page {index + 1}"
    shown = row.target()
    if shown is None or (target := shown[1]).document is None or target.page is None:
        return None
    return target.document, target.page, f"{name_in_list(target.document)}, page {target.page + 1}"


def example_boxes(row: CauseRow) -> list[list[CardBoxItem]]:
    """Return the boxes of the example of a cause under each model, those that its counts have."""
    example = example_of(row)
    if example is None:
        return []
    return [
        [box for box in crops.page_boxes(side.result, example.page) if box.key in here.keys][:_BOXES_OF_A_PICTURE]
        for side, here in zip(row.sides, example.boxes, strict=True)
    ]


def pair_card(row: CauseRow, letters: Sequence[str]) -> CardItem:
    """Return a cause as a card: its largest place as each model has it, and what each has of it in words."""
    place = place_of(row)
    assert place is not None, "a cause has a place"
    with_it = [letter for letter, side in zip(letters, row.sides, strict=True) if len(side.rows)]
    sides = [
        CardSideItem(f"{row.key}/{letter}", letter, side.words, boxes, empty=not len(side.rows))
        for letter, side, boxes in zip(letters, row.sides, example_boxes(row), strict=True)
    ]
    return CardItem(
        key=row.key,
        title=displayed(row.title),
        label="",
        facts=[],
        place=place[2],
        tags=[f"only in {with_it[0]}"] if len(with_it) < len(letters) else [],
        document=place[0],
        index=place[1],
        box="",
        boxes=[box for side in sides for box in side.boxes],
        sides=sides,
    )


def summary(rows: Sequence[CauseRow], letters: Sequence[str]) -> tuple[str, str]:
    """Return how many causes are decided, and what is left: ``5 of 28 causes are decided.``."""
    decided = [row for row in rows if row.entries]
    if not decided:
        return "Nothing is decided yet.", _left(rows, letters)
    owned, done = sum(bool(row.owner) for row in decided), sum(row.status == STATUSES["done"] for row in decided)
    verb = "is" if len(decided) == 1 else "are"
    facts = f"{owned:,} with an owner, {done:,} done; "
    return f"{len(decided):,} of {count_of(len(rows), 'cause')} {verb} decided.", facts + _left(rows, letters)


def _left(rows: Sequence[CauseRow], letters: Sequence[str]) -> str:
    left = [row for row in rows if not row.entries]
    if not left:
        return "none is open."
    boxes, others = [row for row in left if row.sides], [row for row in left if not row.sides]
    counts = [sum(row.sides[place].wrong for row in boxes) for place in range(len(letters))]
    wrong = listed([f"{count_of(count, 'wrong box')} of {each}" for each, count in zip(letters, counts, strict=True)])
    mistakes = count_of(sum(row.mistakes for row in others), "mistake")
    more = f", and {mistakes} of order, text or tables" if others else ""
    return f"{len(left):,} {'is' if len(left) == 1 else 'are'} open, with {wrong}{more}."
