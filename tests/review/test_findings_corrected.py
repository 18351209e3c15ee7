"""What a verdict changes: the table of ``corrections`` row by row, the numbers that follow, and the file."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some

from evaluator import formats, project
from evaluator.data.dataset import Annotations, join
from evaluator.matching.box_results import BoxResult
from evaluator.protocols import box_protocols, coco, pixel, pod, snapshot
from evaluator.review.corrected_results import corrected_evaluation, corrected_result
from evaluator.review.corrections import Corrections, annotators_file, corrections, snapshot_file
from evaluator.review.decisions import cause_rows
from evaluator.review.status import STATES, finding_statuses
from evaluator.review.verdicts import ReviewLog
from tests import building
from tests.building import Box, annotations, box, ground_truth, random_rows
from tests.judging import NOW, verdicts
from tests.reading import refusal

WRONG, IGNORE = "ground_truth_wrong", "ignore"
# A page with a match, so that nothing is empty.
MATCH = box(0.1, 0.8, 0.9, 0.9)


def result(truth: Annotations, *predicted: Annotations, iou: float = 0.5, model: int = 0) -> BoxResult[Any]:
    return snapshot.pair(join(truth, *predicted), model).match().at(iou)


def of(model: str, *rows: Box) -> Annotations:
    return replace(annotations(rows), model=model)


def counts(result: BoxResult[Any]) -> tuple[int, int, int]:
    row = result.micro.row(0)
    return row["tp"], row["fp"], row["fn"]


def by_verdicts(outcome: BoxResult[Any], verdict: str, name: str | None = None) -> Corrections:
    return corrections(outcome.matching.dataset, ReviewLog.of(verdicts(outcome, verdict, name)))


def boxes(source: Annotations) -> list[tuple[Any, ...]]:
    rows = zip(source.boxes.label.tolist(), source.boxes.xyxy.tolist(), strict=True)
    return sorted((source.labels[label], *corners) for label, corners in rows)


# name, ground truth, predictions, counts before, after "ground truth wrong", after "ignore", corrected ground truth
ROWS: list[Any] = [
    ("missed", [box(0.1, 0.1, 0.4, 0.2)], [], (1, 0, 1), (1, 0, 0), (1, 0, 0), []),
    ("invented", [], [box(0.1, 0.1, 0.4, 0.2)], (1, 1, 0), (2, 0, 0), (1, 0, 0), [("Figure", 0.1, 0.1, 0.4, 0.2)]),
    ("duplicate", [box(0.1, 0.1, 0.4, 0.2)], [box(0.1, 0.1, 0.4, 0.2), box(0.1, 0.1, 0.4, 0.19)],
     (2, 1, 0), (3, 0, 0), (2, 0, 0), [("Figure", 0.1, 0.1, 0.4, 0.19), ("Figure", 0.1, 0.1, 0.4, 0.2)]),
    ("cut_off", [box(0.1, 0.1, 0.4, 0.4)], [box(0.1, 0.1, 0.4, 0.2)],
     (1, 1, 1), (2, 0, 0), (1, 0, 0), [("Figure", 0.1, 0.1, 0.4, 0.2)]),
    ("over_cropped", [box(0.1, 0.1, 0.4, 0.2)], [box(0.1, 0.1, 0.4, 0.4)],
     (1, 1, 1), (2, 0, 0), (1, 0, 0), [("Figure", 0.1, 0.1, 0.4, 0.4)]),
    ("near_miss", [box(0.1, 0.1, 0.4, 0.3)], [box(0.2, 0.2, 0.5, 0.4)],
     (1, 1, 1), (2, 0, 0), (1, 0, 0), [("Figure", 0.2, 0.2, 0.5, 0.4)]),
    # The label is that of the prediction, the corners stay those of the ground truth.
    ("wrong_class", [box(0.1, 0.1, 0.4, 0.3)], [box(0.1, 0.1, 0.4, 0.28, label="Table")],
     (1, 1, 1), (2, 0, 0), (1, 0, 0), [("Table", 0.1, 0.1, 0.4, 0.3)]),
    ("split", [box(0.1, 0.1, 0.4, 0.5)], [box(0.1, 0.1, 0.4, 0.24), box(0.1, 0.28, 0.4, 0.5)],
     (2, 1, 0), (3, 0, 0), (1, 0, 0), [("Figure", 0.1, 0.1, 0.4, 0.24), ("Figure", 0.1, 0.28, 0.4, 0.5)]),
    ("merged", [box(0.1, 0.1, 0.4, 0.24), box(0.1, 0.28, 0.4, 0.5)], [box(0.1, 0.1, 0.4, 0.5)],
     (2, 0, 1), (2, 0, 0), (1, 0, 0), [("Figure", 0.1, 0.1, 0.4, 0.5)]),
]  # fmt: skip


class TestTable:
    @pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0])
    def test_ground_truth_wrong_and_ignore(self, row: Any) -> None:
        name, truth, predicted, before, when_wrong, when_ignored, left = row
        outcome = result(ground_truth([MATCH, *truth]), annotations([MATCH, *predicted]))
        events = verdicts(outcome, WRONG)
        assert (counts(outcome), [event.target.mistake for event in events]) == (before, [name])
        to = corrections(outcome.matching.dataset, ReviewLog.of(events))
        assert (to.applied, to.issues, counts(corrected_result(outcome, to).result)) == (1, (), when_wrong)
        assert boxes(to.dataset.ground_truth.source) == sorted([*left, ("Figure", 0.1, 0.8, 0.9, 0.9)])
        to = by_verdicts(outcome, IGNORE)
        assert (to.applied, counts(corrected_result(outcome, to).result)) == (1, when_ignored)
        # To ignore a mistake says nothing about the ground truth.
        assert boxes(to.dataset.ground_truth.source) == boxes(outcome.matching.dataset.ground_truth.source)
        assert to.of_boxes == ()

    def test_other_verdicts_and_a_conflict_change_nothing(self) -> None:
        truth, predicted = random_rows(3)
        outcome = result(ground_truth(truth), annotations(predicted))
        for verdict in ("model_wrong", "ambiguous"):
            to = by_verdicts(outcome, verdict)
            assert to.applied == 0
            assert to.dataset is outcome.matching.dataset
        outcome = result(ground_truth([MATCH, box(0.1, 0.1, 0.4, 0.2)]), annotations([MATCH]))
        (event,) = verdicts(outcome, WRONG)
        for verdict, applied in (("model_wrong", 0), (WRONG, 1)):
            other = msgspec.structs.replace(event, id="b" * 32, author="Ben", verdict=verdict)
            assert corrections(outcome.matching.dataset, ReviewLog.of([event, other])).applied == applied


class TestOneGroundTruth:
    """The ground truth is corrected once, for all models and thresholds."""

    def test_another_model_is_measured_against_the_accepted_box(self) -> None:
        truth = ground_truth([MATCH])
        a = of("a", MATCH, box(0.1, 0.1, 0.4, 0.3))
        b = of("b", MATCH)
        outcome = result(truth, a, b)
        to = by_verdicts(outcome, WRONG)
        assert counts(corrected_result(outcome, to).result) == (2, 0, 0)
        assert counts(corrected_result(result(truth, a, b, model=1), to).result) == (1, 0, 1)

    def test_ignored_ground_truth_leaves_with_what_another_model_found_there(self) -> None:
        truth = ground_truth([MATCH, box(0.1, 0.1, 0.4, 0.3)])
        a, b = of("a", MATCH), of("b", MATCH, box(0.1, 0.1, 0.4, 0.3))
        outcome = result(truth, a, b)
        to = by_verdicts(outcome, IGNORE)
        assert counts(corrected_result(outcome, to).result) == (1, 0, 0)
        assert counts(corrected_result(result(truth, a, b, model=1), to).result) == (1, 0, 0)

    def test_a_verdict_holds_at_other_thresholds(self) -> None:
        truth, predicted = ground_truth([MATCH]), annotations([MATCH, box(0.1, 0.1, 0.4, 0.3, score=0.3)])
        outcome = result(truth, predicted)
        to = by_verdicts(outcome, WRONG)
        strict = snapshot.pair(outcome.matching.dataset).match(min_score=0.5).at(0.75)
        # The match without score stays, the accepted one is below the threshold: the model misses the object now.
        assert counts(strict) == (1, 0, 0)
        assert counts(corrected_result(strict, to).result) == (1, 0, 1)

    def test_an_accepted_prediction_is_kept_with_the_verdict(self) -> None:
        truth, predicted = ground_truth([MATCH]), annotations([MATCH, box(0.1, 0.1, 0.4, 0.3)])
        log = ReviewLog.of(verdicts(result(truth, predicted), WRONG))
        later = result(truth, annotations([MATCH, box(0.1, 0.1, 0.4, 0.29)]))
        assert counts(later) == (1, 1, 0)
        assert counts(corrected_result(later, corrections(later.matching.dataset, log)).result) == (2, 0, 0)

    def test_one_object_that_two_models_found_is_added_once(self) -> None:
        truth = ground_truth([MATCH])
        a = of("a", MATCH, box(0.1, 0.1, 0.4, 0.3))
        b = of("b", MATCH, box(0.1, 0.1, 0.4, 0.28))
        first, other = result(truth, a, b), result(truth, a, b, model=1)
        log = ReviewLog.of([*verdicts(first, WRONG), *verdicts(other, WRONG, minutes=1)])
        to = corrections(first.matching.dataset, log)
        assert to.applied == 2
        assert boxes(to.dataset.ground_truth.source)[0] == ("Figure", 0.1, 0.1, 0.4, 0.28)
        assert len(to.dataset.ground_truth) == 2

    def test_the_latest_verdict_on_a_box_counts(self) -> None:
        truth = ground_truth([MATCH, box(0.1, 0.1, 0.4, 0.4)])
        a = of("a", MATCH, box(0.1, 0.1, 0.4, 0.2))
        b = of("b", MATCH, box(0.1, 0.1, 0.4, 0.22))
        first, other = result(truth, a, b), result(truth, a, b, model=1)
        to = corrections(first.matching.dataset, ReviewLog.of([*verdicts(other, WRONG), *verdicts(first, WRONG)]))
        assert to.applied == 1
        assert [finding.sentence for finding in to.issues] == [
            "ground_truth.json: a.pdf, page 1: a verdict is applied when no newer one changes the same box; "
            "found a newer one. This verdict is kept and changes no number."
        ]
        assert boxes(to.dataset.ground_truth.source)[0] == ("Figure", 0.1, 0.1, 0.4, 0.2)

    def test_a_ground_truth_box_that_is_gone_takes_its_verdict_along(self) -> None:
        predicted = annotations([MATCH, box(0.1, 0.1, 0.4, 0.2)])
        log = ReviewLog.of(verdicts(result(ground_truth([MATCH, box(0.1, 0.1, 0.4, 0.4)]), predicted), WRONG))
        now = result(ground_truth([MATCH, box(0.1, 0.1, 0.4, 0.5)]), predicted)
        to = corrections(now.matching.dataset, log)
        assert to.applied == 0
        assert "its ground truth box is still in the file; found changed or gone." in to.issues[0].sentence

    def test_other_documents_labels_and_units(self) -> None:
        predicted = annotations([MATCH, box(0.1, 0.1, 0.4, 0.2, label="Extra")], labels=("Figure", "Table", "Extra"))
        truth = ground_truth([MATCH])
        outcome = result(truth, predicted)
        log = ReviewLog.of(verdicts(outcome, WRONG))
        to = corrections(outcome.matching.dataset, log)
        assert to.dataset.ground_truth.source.labels == ("Figure", "Table", "Extra")
        assert to.dataset.ground_truth.source.label_map == {"1": "Figure", "2": "Table", "3": "Extra"}
        assert counts(corrected_result(outcome, to).result) == (2, 0, 0)
        assert corrected_result(outcome, to).result.matching.labels == outcome.matching.labels
        for other, words in (
            (join(truth, annotations([MATCH])), "the files have its labels; found Extra"),
            (join(replace(truth, unit="pixels"), replace(predicted, unit="pixels")), "in the unit of the ground truth"),
            (join(ground_truth([MATCH._replace(document="b.pdf")])), "its document and page are open"),
        ):
            refused = corrections(other, log)
            assert refused.applied == 0
            assert words in refused.issues[0].sentence

    def test_a_page_that_the_ground_truth_does_not_have_is_added_to_it(self) -> None:
        outcome = result(ground_truth([MATCH]), annotations([MATCH, box(0.1, 0.1, 0.4, 0.2, document="b.pdf", page=3)]))
        to = by_verdicts(outcome, WRONG)
        again = corrected_result(outcome, to).result
        assert counts(again) == (2, 0, 0)
        assert [document.doc_id for document in to.dataset.ground_truth.source.documents] == ["a.pdf", "b.pdf"]
        assert np.array_equal(again.matching.dataset.page_index, outcome.matching.dataset.page_index)

    def test_a_result_of_other_files_is_refused(self) -> None:
        evaluated, other = result(ground_truth([MATCH]), annotations([MATCH])), random_rows(1)
        to = corrections(join(ground_truth(other[0], name="other.json")), ReviewLog())
        with pytest.raises(ValueError, match="another dataset"):
            corrected_result(evaluated, to)


class TestNumbers:
    @given(some.integers(0, 5_000), some.sampled_from([0.3, 0.5, 0.75]))
    def test_without_ignored_ones_they_are_the_official_numbers_of_the_corrected_file(
        self, seed: int, iou: float
    ) -> None:
        truth, predicted = random_rows(seed, documents=2)
        outcome = result(ground_truth(truth), annotations(predicted), iou=iou)
        events = verdicts(outcome, WRONG)[:: 1 + seed % 3]
        to = corrections(outcome.matching.dataset, ReviewLog.of(events))
        content = snapshot_file(to, created_at=NOW)
        official = result(formats.read_bytes(content, "again.json"), annotations(predicted), iou=iou)
        assert official.micro.row(0) == corrected_result(outcome, to).result.micro.row(0)

    @given(some.integers(0, 5_000))
    def test_when_every_mistake_is_ignored_none_is_left(self, seed: int) -> None:
        truth, predicted = random_rows(seed, documents=2)
        outcome = result(ground_truth(truth), annotations(predicted))
        again = corrected_result(outcome, by_verdicts(outcome, IGNORE)).result
        assert len(again.mistakes) == 0
        assert again.micro.row(0)["tp"] <= outcome.micro.row(0)["tp"]

    @given(some.integers(0, 5_000))
    def test_a_missed_box_that_was_wrong_raises_recall_only(self, seed: int) -> None:
        truth, predicted = random_rows(seed, documents=2)
        outcome = result(ground_truth(truth), annotations(predicted))
        to = by_verdicts(outcome, WRONG, "missed")
        before, after = outcome.micro.row(0), corrected_result(outcome, to).result.micro.row(0)
        assert (after["tp"], after["fp"]) == (before["tp"], before["fp"])
        assert after["fn"] == before["fn"] - to.applied

    def test_the_signature_counts_the_verdicts(self) -> None:
        outcome = result(ground_truth([MATCH, box(0.1, 0.1, 0.4, 0.2)]), annotations([MATCH]))
        told = corrected_result(outcome, by_verdicts(outcome, WRONG))
        assert told.applied == 1
        assert told.signature.line.startswith(
            "snapshot 1.3 · IoU ≥ 0.50 · score ≥ 0.00 · corrected, 1 verdict applied · 1 document, 1 page"
        )
        assert "corrected" not in outcome.matching.signature(0.5).line

    def test_the_official_result_is_not_touched(self) -> None:
        truth, predicted = random_rows(17)
        source = ground_truth(truth)
        before = source.boxes.xyxy.copy(), source.boxes.label.copy()
        outcome = result(source, annotations(predicted))
        row = outcome.micro.row(0)
        to = corrections(
            outcome.matching.dataset, ReviewLog.of([*verdicts(outcome, WRONG)[::2], *verdicts(outcome, IGNORE)[1::2]])
        )
        corrected_result(outcome, to)
        assert outcome.micro.row(0) == row
        assert np.array_equal(source.boxes.xyxy, before[0])
        assert np.array_equal(source.boxes.label, before[1])


def scored(rows: list[Box]) -> Annotations:
    return annotations([row._replace(score=0.5 if row.score is None else row.score) for row in rows])


class TestProtocols:
    """Every protocol with boxes; what is expected is its own evaluation of hand-corrected files."""

    TRUTH = (MATCH, box(0.1, 0.1, 0.4, 0.4), box(0.6, 0.1, 0.9, 0.4))
    PREDICTED = (
        MATCH._replace(score=0.9), box(0.1, 0.1, 0.4, 0.2, score=0.95), box(0.1, 0.5, 0.4, 0.6, score=0.4),
    )  # fmt: skip
    # The cut-off box becomes the prediction's, the missed one goes, the invented one stays a mistake.
    CORRECTED = (MATCH, box(0.1, 0.1, 0.4, 0.2))

    def to(self, dataset: Any) -> Corrections:
        outcome = result(ground_truth(self.TRUTH), scored([*self.PREDICTED]))
        return corrections(
            dataset, ReviewLog.of([*verdicts(outcome, WRONG, "cut_off"), *verdicts(outcome, WRONG, "missed")])
        )

    @pytest.mark.parametrize("protocol", [snapshot, pod, coco])
    def test_all_thresholds_and_average_precision(self, protocol: Any) -> None:
        predicted = scored([*self.PREDICTED])
        official = protocol.evaluate(ground_truth(self.TRUTH), predicted)
        told = corrected_evaluation(official, self.to(official.matching.dataset))
        wanted = protocol.evaluate(ground_truth(self.CORRECTED), predicted)
        assert told.table().rows == wanted.table().rows
        assert told.table().title == "prediction.json (corrected)"
        assert "corrected, 2 verdicts applied" in told.table().signature
        assert told.to_json()["signature"] == told.signature.line
        assert told.to_json()["verdicts_applied"] == 2
        assert official.table().rows != wanted.table().rows

    def test_pixels(self) -> None:
        predicted = scored([*self.PREDICTED])
        options = {"page_size": (100.0, 100.0), "missing_page": "ignore", "min_score": 0.45}
        official: Any = pixel.evaluate(ground_truth(self.TRUTH), predicted, **options)
        told = corrected_evaluation(official, self.to(official.dataset))
        wanted: Any = pixel.evaluate(ground_truth(self.CORRECTED), predicted, **options)
        assert told.table().rows == wanted.table().rows
        assert "pages of unknown size: 100 x 100 · corrected, 2 verdicts applied" in told.signature.line

    def test_ignored_boxes_leave_every_protocol(self) -> None:
        outcome = result(ground_truth(self.TRUTH), scored([*self.PREDICTED]))
        log = ReviewLog.of(verdicts(outcome, IGNORE))
        left = ground_truth([MATCH]), scored([self.PREDICTED[0]])
        for protocol in (snapshot, pod, coco):
            official: Any = protocol.evaluate(ground_truth(self.TRUTH), scored([*self.PREDICTED]))
            told = corrected_evaluation(official, corrections(official.matching.dataset, log))
            assert told.table().rows == protocol.evaluate(*left).table().rows
        size = {"page_size": (100.0, 100.0)}
        pixels = pixel.evaluate(ground_truth(self.TRUTH), scored([*self.PREDICTED]), **size)  # type: ignore[arg-type]
        told = corrected_evaluation(pixels, corrections(pixels.dataset, log))
        assert told.table().rows == pixel.evaluate(*left, **size).table().rows  # type: ignore[arg-type]

    def test_pixel_boxes_with_outlines_areas_and_crowds(self) -> None:
        size = np.array([[100.0, 100.0]])
        outline = np.array([[60.0, 10.0], [90.0, 10.0], [90.0, 40.0]])
        truth = ground_truth([box(10, 10, 40, 40), box(60, 10, 90, 40), box(10, 60, 40, 90)])
        columns = {"area": np.array([900.0, 450.0, 900.0]), "crowd": np.array([False, False, True])}
        truth_boxes = replace(truth.boxes, **columns, polygons={1: [outline]})
        truth = replace(truth, unit="pixels", page_size=size, boxes=truth_boxes)
        predicted = scored([box(60, 10, 90, 40), box(12, 62, 20, 70)])
        official = coco.evaluate(truth, replace(predicted, unit="pixels", page_size=size))
        to = by_verdicts(official.thresholds[0.5], WRONG, "missed")
        now: Any = to.dataset.ground_truth.source.boxes
        assert (to.applied, now.area.tolist(), now.crowd.tolist()) == (1, [450.0, 900.0], [False, True])
        assert list(now.polygons) == [0]
        assert corrected_evaluation(official, to).to_json()["AP50"] == pytest.approx(1.0)


class TestFile:
    def corrections(self) -> Corrections:
        truth, predicted = random_rows(8)
        outcome = result(ground_truth(truth), annotations(predicted))
        return corrections(outcome.matching.dataset, ReviewLog.of(verdicts(outcome, WRONG)[::2]))

    def test_our_reader_takes_it_and_it_says_where_it_comes_from(self) -> None:
        to = self.corrections()
        content = snapshot_file(to, created_at=NOW)
        again = formats.read_bytes(content, "again.json")
        assert (again.side, boxes(again)) == ("ground_truth", boxes(to.dataset.ground_truth.source))
        kept = set(to.official.ground_truth.source.boxes.ids)
        assert {name for name in again.boxes.ids if not name.startswith("accepted-")} <= kept
        info = msgspec.json.decode(content)["info"]
        assert info["created_at"] == "2026-01-31T12:00:00.000000Z"
        assert info["model"]["corrected_from"] == {
            "name": "ground_truth.json", "sha256": "a" * 64, "verdicts": to.applied,
        }  # fmt: skip
        digests = to.dataset.ground_truth.source.sha256, to.official.ground_truth.source.sha256
        assert (len({*digests}), [*map(len, digests)]) == (2, [64, 64])

    def test_pixels_become_shares_of_the_page(self) -> None:
        truth = replace(ground_truth([box(10, 20, 50, 100)]), unit="pixels", page_size=np.array([[100.0, 200.0]]))
        content = snapshot_file(corrections(join(truth), ReviewLog()), created_at=NOW)
        assert boxes(formats.read_bytes(content, "a.json")) == [("Figure", 0.1, 0.1, 0.5, 0.5)]
        unknown = corrections(join(replace(truth, page_size=None)), ReviewLog())
        sentences = refusal(snapshot_file, unknown, created_at=NOW)
        assert [sentence.partition(": ")[2] for sentence in sentences] == [
            "schema 1.3 has boxes as shares of the page, which needs the size of every page; found boxes in pixels, "
            "pages without size. Give the page sizes in the ground truth file, or export from a file of another format."
        ]

    @pytest.mark.parametrize(
        "page_of", [lambda at: (f"d{at}", 0), lambda at: ("a/b%.pdf", 2 * at)], ids=["images", "pages"]
    )
    @pytest.mark.parametrize("form", ["label-studio", "cvat", "coco", "yolo", "omnidocbench"])
    def test_opened_again_by_annotators_findings_are_closed(self, tmp_path: Path, form: str, page_of: Any) -> None:
        """The file goes out, comes back, and every verdict that it carries out is done; none is on the first file."""
        rows = [(row, *page_of(at)) for at, row in enumerate(ROWS) if row[0] != "duplicate"]
        truths, drawn = (
            [
                box(*each.xyxy, label=each.label, document=document, page=page)
                for row, document, page in rows
                for each in (*row[side], MATCH)
            ]
            for side in (1, 2)
        )
        truth, predicted = ground_truth(truths), replace(annotations(drawn), model="toy")
        truth = replace(truth, page_size=np.tile([[600.0, 800.0]], (len(truth.page_index), 1)))
        before = result(truth, predicted)
        log = ReviewLog.of(verdicts(before, WRONG))
        others = ReviewLog.of(verdicts(before, "model_wrong"))
        assert {status.state for status in finding_statuses(log, [before])} == {"applies"}
        to = corrections(before.matching.dataset, log)
        assert len(to.of_boxes) == len(log) == len(rows)
        name, content = annotators_file(to, form, created_at=NOW)
        (tmp_path / name).write_bytes(content)
        (tmp_path / "m.json").write_bytes(msgspec.json.encode(building.snapshot_file(drawn)))
        protocol = box_protocols()["snapshot"]
        options = protocol.options()
        files = project.open_project(protocol, tmp_path / name, [tmp_path / "m.json"], options)
        again = snapshot.pair(project.require_joined(files, protocol, options).dataset).match().at(0.5)
        statuses = finding_statuses(log, [again])
        assert {(status.judged.target.mistake, status.state) for status in statuses} == {
            (row[0], "corrected") for row, *_ in rows
        }
        (closed,) = (row for row in cause_rows([again], statuses)[1] if "Cut off" in row.title)
        assert (closed.status, STATES[closed.entries[0].state]) == (
            "Done",
            "Corrected in the ground truth that is open",
        )
        # What is not the fault of the ground truth is found again in the official boxes, whatever their unit.
        same = annotators_file(corrections(before.matching.dataset, others), form, created_at=NOW)
        (tmp_path / same[0]).write_bytes(same[1])
        files = project.open_project(protocol, tmp_path / same[0], [tmp_path / "m.json"], options)
        official = snapshot.pair(project.require_joined(files, protocol, options).dataset).match().at(0.5)
        assert {status.state for status in finding_statuses(others, [official])} == {"applies"}
        # And their verdicts change nothing a second time.
        assert corrections(again.matching.dataset, log).applied == 0
