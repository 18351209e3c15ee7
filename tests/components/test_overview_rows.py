"""The numbers of the Overview as it draws them: bars, labels and the pair of pictures of a cause."""

from pathlib import Path

import numpy as np
import pytest

from evaluator import project
from evaluator.compare.differences import differences
from evaluator.compare.models import model_entry, standings
from evaluator.components.decisions.rows import pair_card
from evaluator.components.gallery.crops import region
from evaluator.components.overview import rows
from evaluator.components.overview.payload import BarsPayload
from evaluator.matching.box_measures import box_measures
from evaluator.matching.box_results import ALL_LABELS, AnyBoxResult
from evaluator.metrics.measures import Key
from evaluator.review.decisions import cause_rows
from tests.building import box, write_file
from tests.sample_results import box_result

NAMES = ["lines 1.0", "blocks 1.0"]


def both() -> dict[str, AnyBoxResult]:
    return {"A": box_result(0), "B": box_result(1)}


def bars_of(results: dict[str, AnyBoxResult], resamples: int = 200) -> BarsPayload:
    entries = [model_entry(letter, each, metrics=("f1",)) for letter, each in results.items()]
    of_f1 = standings(entries, Key("f1", ALL_LABELS), resamples=resamples)
    corrected = {"B": rows.CorrectedF1("corrected 0.800", "why")}
    return rows.bars(results, NAMES[: len(results)], of_f1, corrected, resampled=bool(resamples))


def few(folder: Path, documents: int) -> dict[str, AnyBoxResult]:
    names = [f"{name}.pdf" for name in range(documents)]
    truth = [box(0.1, 0.1 + at, 0.5, 0.4 + at, document=name) for name in names for at in (0.0, 0.4)]
    sides = write_file(folder / "truth.json", truth, side="ground_truth"), write_file(folder / "a.json", truth[::2])
    (made,) = project.evaluate("snapshot", sides[0], [sides[1]])
    return {"A": made.result.thresholds[0.5]}


def test_both_models_are_on_one_axis_with_their_intervals() -> None:
    made = bars_of(both())
    assert (made.boxes, made.note) == (458, "")
    assert [(bar.letter, bar.name, bar.matched, bar.missed, bar.extra, bar.f1) for bar in made.bars] == [
        ("A", "lines 1.0", 345, 113, 189, "0.696"),
        ("B", "blocks 1.0", 378, 80, 116, "0.794"),
    ]
    low, high = float(made.ticks[0].text), float(made.ticks[-1].text)
    for bar in made.bars:
        assert bar.place is not None
        assert bar.ends is not None
        assert bar.ends[0] < bar.place < bar.ends[1]
        assert low + bar.place * (high - low) == pytest.approx(float(bar.f1), abs=0.0006)
        assert bar.interval.startswith("95 % interval 0.")
    assert [bar.corrected for bar in made.bars] == ["", "corrected 0.800"]


@pytest.mark.parametrize(("documents", "has"), [(7, False), (8, True)])
def test_below_eight_documents_there_is_a_dot_without_an_interval(tmp_path: Path, documents: int, *, has: bool) -> None:
    made = bars_of(few(tmp_path, documents))
    (bar,) = made.bars
    note = "" if has else "too few documents for an interval"
    assert (made.note, bar.place is not None, bar.ends is not None) == (note, True, has)
    assert has or bar.interval == note


def test_of_too_many_boxes_the_terminal_has_the_intervals() -> None:
    made = bars_of(both(), resamples=0)
    assert made.note == "intervals of so many boxes: layoutscope compare"
    assert all(bar.ends is None for bar in made.bars)


def test_the_labels_with_most_wrong_boxes_have_one_number_each() -> None:
    results = both()
    every = differences(*map(box_measures, results.values()), resamples=200)
    made = rows.labels(results, every, opened=False)
    wrong = {
        label: max(int((each.per_label.fp + each.per_label.fn)[code]) for each in results.values())
        for code, label in enumerate(results["A"].matching.labels)
    }
    assert [cell.label for cell in made.cells] == sorted(wrong, key=lambda label: -wrong[label])[:5]
    text, *_ = made.cells
    assert (text.title, text.words, text.fails) == ("Text", "recall \u221214.0 \u2605", True)
    assert made.facts == "F1 from 0 to 1, B minus A in points; the 5 with most wrong boxes"
    assert made.every == "All 11 labels"


def test_one_model_has_its_f1_in_each_label() -> None:
    made = rows.labels({"A": box_result(0)}, None, opened=True)
    assert all(cell.words == f"F1 {cell.values[0]:.3f}" for cell in made.cells)
    assert made.facts == "F1 from 0 to 1; the 5 with most wrong boxes"


def test_without_a_wrong_box_no_label_has_most_of_them(tmp_path: Path) -> None:
    names = ("Text", "Table", "Title", "Figure", "Formula", "Footnote")
    truth = [box(0.1, 0.1 + 0.1 * at, 0.5, 0.15 + 0.1 * at, label=name) for at, name in enumerate(names)]
    sides = [
        write_file(tmp_path / f"{side}.json", truth, side=side, labels=names) for side in ("ground_truth", "prediction")
    ]
    (made,) = project.evaluate("snapshot", sides[0], [sides[1]])
    assert rows.labels({"A": made.result.thresholds[0.5]}, None, opened=False).facts == "F1 from 0 to 1"


@pytest.mark.parametrize("models", [1, 2])
def test_the_picture_of_a_cause_holds_the_whole_place_as_every_model_has_it(models: int) -> None:
    letters, results = ["A", "B"][:models], list(both().values())[:models]
    causes, _ = cause_rows(results, [])
    for row in causes:
        card = pair_card(row, letters)
        assert [side.words for side in card.sides] == [side.words for side in row.sides]
        left, top, right, bottom = region(np.array([each.xyxy for each in card.boxes]), (612.0, 792.0), aspect=1.5)
        for each in card.boxes:
            x1, y1, x2, y2 = each.xyxy
            assert left <= max(x1, 0.0) <= min(x2, 1.0) <= right + 1e-6
            assert top <= max(y1, 0.0) <= min(y2, 1.0) <= bottom + 1e-6
        alone = [letter for letter, side in zip(letters, row.sides, strict=True) if len(side.rows)]
        assert card.tags == ([f"only in {alone[0]}"] if len(alone) < models else [])
