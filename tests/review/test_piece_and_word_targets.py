"""Verdicts on wrong pixels and on words of posters: which boxes they are about, and what becomes of them."""

from types import SimpleNamespace
from typing import Any

import numpy as np

from evaluator.components.compare.pixel_pair import pixel_pair
from evaluator.components.viewer.judged import attach_pieces, attach_words
from evaluator.components.viewer.poster_page import poster_data
from evaluator.data.dataset import Annotations, join
from evaluator.matching.box_results import BoxResult
from evaluator.protocols import snapshot
from evaluator.protocols.pixel.regions import WrongComponent
from evaluator.protocols.posters.word_places import PageDifference, WordPlaces
from evaluator.review.corrections import corrections
from evaluator.review.identity import WRONG_PIXELS, page_targets, targets_by_id
from evaluator.review.pixel_targets import judged_pieces
from evaluator.review.status import finding_statuses
from evaluator.review.verdicts import KINDS, ReviewLog, target_problem
from evaluator.review.word_targets import PosterText, judged_words, word_statuses
from tests.building import annotations, box, ground_truth
from tests.components.test_pair_items import MODELS, results
from tests.judging import opinion

SIZE = (100.0, 100.0)


def matched(truth: Annotations, predicted: Annotations, iou: float = 0.5) -> BoxResult[Any]:
    return snapshot.pair(join(truth, predicted)).match().at(iou)


def piece(row: str, column: str, *rectangles: tuple[int, int, int, int]) -> WrongComponent:
    return WrongComponent((row, column), np.array(rectangles, dtype=np.int64))


TRUTH = [box(0.1, 0.1, 0.5, 0.3), box(0.1, 0.5, 0.5, 0.7, label="Table"), box(0.6, 0.1, 0.9, 0.3)]
PREDICTED = [
    box(0.1, 0.1, 0.5, 0.34, score=0.9),
    box(0.1, 0.5, 0.5, 0.7, score=0.9),
    box(0.6, 0.8, 0.9, 0.9, score=0.9),
]
# A strip below a match, the table that is called a figure, the figure that is missed, and the extra one.
PIECES = [
    piece("Background", "Figure", (10, 30, 50, 34)),
    piece("Table", "Figure", (10, 50, 50, 70)),
    piece("Figure", "Background", (60, 10, 90, 30)),
    piece("Background", "Figure", (60, 80, 90, 90)),
]


def test_the_boxes_behind_wrong_pixels_worked_by_hand() -> None:
    result = matched(ground_truth(TRUTH), annotations(PREDICTED))
    judged = judged_pieces(result, 0, PIECES, SIZE, ReviewLog())
    targets = [one.target for one in judged if one is not None]
    sides = [[(each.side, each.label) for each in target.boxes] for target in targets]
    assert sides == [
        [("ground_truth", "Figure"), ("prediction", "Figure")],
        [("ground_truth", "Table"), ("prediction", "Figure")],
        [("ground_truth", "Figure")],
        [("prediction", "Figure")],
    ]
    assert [target.mistake for target in targets] == [WRONG_PIXELS, "wrong_class", "missed", "invented"]
    # A mistake of boxes is the same finding as in the views of boxes.
    assert {target.id for target in targets[1:]} == set(page_targets(result, 0, ReviewLog()))
    assert next(one.words for one in judged if one is not None) == "made by: a match of Figure, IoU 0.83"
    assert all(target_problem(target) is None for target in targets)


def test_pieces_without_boxes_that_count_cannot_be_judged() -> None:
    result = matched(ground_truth(TRUTH), annotations(PREDICTED))
    strange = [piece("Background", "Nobody", (0, 0, 9, 9)), piece("Figure", "Background", (95, 95, 99, 99))]
    assert judged_pieces(result, 0, strange, SIZE, ReviewLog()) == [None, None]


def test_a_verdict_on_wrong_pixels_comes_back_and_corrects_the_boxes() -> None:
    result = matched(ground_truth(TRUTH), annotations(PREDICTED))
    (strip, *_) = judged_pieces(result, 0, PIECES, SIZE, ReviewLog())
    assert strip is not None
    log = ReviewLog.of([opinion(strip.target, "ground_truth_wrong")])
    (again, other, *_) = judged_pieces(result, 0, PIECES, SIZE, log)
    assert again is not None
    assert other is not None
    assert again.judged is not None
    assert (again.judged.verdict, other.judged) == ("ground_truth_wrong", None)
    (status,) = finding_statuses(log, [result])
    assert (status.state, status.sentence, status.box_key) == ("applies", "Its boxes are unchanged.", "g0")
    corrected = corrections(result.matching.dataset, log)
    (change,) = corrected.changes
    assert change.what == "replaced"
    assert [0.1, 0.1, 0.5, 0.34] in np.round(corrected.dataset.ground_truth.xyxy, 6).tolist()
    # At a threshold where the two no longer match they are a mistake, and the verdict is on it.
    strict = matched(ground_truth(TRUTH), annotations(PREDICTED), 0.9)
    assert {one.state for one in finding_statuses(log, [strict])} <= {"applies", "regrouped"}


def test_every_piece_of_the_sample_has_its_boxes() -> None:
    a, b = results("pixel")
    boxes = snapshot.pair(join(a.dataset.ground_truth.source, a.prediction.source)).match().at(0.5)
    for place in (("school-census.pdf", 2), ("river-districts.pdf", 5)):
        pieces = a.wrong_components(*place)
        page = a.dataset.page_row(*place)
        judged = judged_pieces(
            boxes, boxes.matching.dataset.page_row(*place), pieces, tuple(a.extent[page].tolist()), ReviewLog()
        )
        assert pieces
        assert all(judged)
        drawn = pixel_pair((a, b), *place, pieces=(pieces, []), models=MODELS, kinds=())
        shown = attach_pieces(drawn.panes[0].mistakes, judged)
        assert all(mistake.target and mistake.lines[-1].startswith("made by: ") for mistake in shown)


# --- words -------------------------------------------------------------------------------------------------------


def places(token: str, side: Any, *at: float, kind: Any = "word") -> WordPlaces:
    return WordPlaces(token, kind, side, np.array([[x, x, x + 0.1, x + 0.02] for x in at]).reshape(-1, 4))


WORDS = PageDifference(
    (places("seed", "missing", 0.1, 0.3), places("0.93", "missing", 0.5, kind="number")),
    (places("seed", "extra", 0.7), places("nowhere", "extra")),
    ("absent",),
    40,
)


def text(name: str, missing: Any = ((), ()), extra: Any = ((), ())) -> PosterText:
    words, numbers = (SimpleNamespace(missing=missing[at], extra=extra[at]) for at in (0, 1))
    compared: Any = SimpleNamespace(words=words, numbers=numbers)
    return PosterText(name, {"seed-bank"}, lambda _: compared)


def test_words_are_judged_by_their_text_side_and_places() -> None:
    judged = judged_words(WORDS, "seed-bank", "across", ReviewLog(), signature="posters 1")
    targets = [target for target, _ in judged]
    assert [(target.kind, target.mistake, target.label, len(target.boxes)) for target in targets] == [
        ("word", "missing_word", "seed", 2),
        ("word", "missing_number", "0.93", 1),
        ("word", "extra_word", "seed", 1),
    ]
    assert all(target_problem(target) is None for target in targets)
    assert len({target.id for target in targets}) == 3
    # A missing word is one finding, whichever model misses it; an extra one is of its model.
    other = [target for target, _ in judged_words(WORDS, "seed-bank", "columns", ReviewLog(), signature="posters 1")]
    assert [a.id == b.id for a, b in zip(targets, other, strict=True)] == [True, True, False]
    log = ReviewLog.of([opinion(targets[0], "ignore")])
    assert KINDS[log.words_of("seed-bank")[0].target.kind] == "Word"
    again = judged_words(WORDS, "seed-bank", "across", log, signature="posters 1")
    shown = attach_words(poster_data(WORDS).mistakes, again)
    assert [(each.label, each.verdict and each.verdict.agreed) for each in shown] == [
        ("seed", "ignore"), ("0.93", None), ("seed", None),
    ]  # fmt: skip
    assert [each.target for each in shown] == list(targets_by_id(again))


def test_what_became_of_a_judged_word() -> None:
    (missing, _), (number, _), (extra, _) = judged_words(WORDS, "seed-bank", "across", ReviewLog(), signature="")
    log = ReviewLog.of(
        [
            opinion(missing, "ground_truth_wrong"),
            opinion(number, "ground_truth_wrong"),
            opinion(extra, "ground_truth_wrong"),
        ]
    )

    def states(*models: PosterText) -> list[str]:
        return [status.state for status in reversed(word_statuses(log, models))]

    assert states() == ["not_open"] * 3
    assert states(text("across", (("seed",), ("0.93",)), (("seed",), ()))) == ["applies"] * 3
    assert states(text("across")) == ["matched"] * 3
    # An extra word is looked for in its own model, a missing one in any.
    assert states(text("columns", (("seed",), ()))) == ["applies", "matched", "not_open"]
    assert finding_statuses(log, []) == []
