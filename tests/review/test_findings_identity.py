"""Identities of what was judged, and what became of it: another threshold, another file, another serializer."""

import dataclasses
import hashlib
import json
import re
import struct
from datetime import datetime
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as some

from evaluator import formats
from evaluator.components.viewer import page_overlay
from evaluator.components.viewer.judged import attach
from evaluator.data.dataset import Annotations, join
from evaluator.matching.box_results import BoxResult
from evaluator.protocols import snapshot
from evaluator.review.identity import box_model_name, match_reviews, mistake_targets, page_target, page_targets
from evaluator.review.status import finding_statuses
from evaluator.review.verdicts import VERDICTS, JudgedBox, ReviewLog, Target, target_problem
from tests.building import Box, annotations, box, ground_truth, random_rows, read_by_browser, shuffled, snapshot_file
from tests.judging import opinion, verdicts


def result(
    truth: Annotations, predicted: Annotations, *, iou: float = 0.5, min_score: float = 0.0, **given: Any
) -> BoxResult[Any]:
    return snapshot.pair(join(truth, predicted)).match(min_score=min_score, **given).at(iou)


def document(name: str) -> Target:
    return Target(kind="document", document=name)


def comparison(models: tuple[str, ...], **given: Any) -> Target:
    return Target(kind="comparison", models=models, **given)


def every_id(result: BoxResult[Any]) -> list[str]:
    return sorted(event.target_id for event in verdicts(result, "model_wrong"))


class TestIdentity:
    def test_every_mistake_has_one_and_it_is_unique(self) -> None:
        truth, predicted = random_rows(5, documents=6)
        scored = result(ground_truth(truth), annotations(predicted))
        ids = every_id(scored)
        assert len(ids) == len(set(ids)) == len(scored.mistakes) > 50

    @given(some.integers(0, 10_000), some.integers(0, 10_000))
    def test_another_order_of_rows_keeps_all(self, seed: int, order: int) -> None:
        truth, predicted = random_rows(seed, documents=2)
        first = result(ground_truth(truth), annotations(predicted))
        again = result(shuffled(ground_truth(truth), order), shuffled(annotations(predicted), order + 1))
        assert every_id(first) == every_id(again)

    @pytest.mark.parametrize("form", ["", ".6f", ".17g", ".16e"])
    def test_another_serializer_keeps_all(self, form: str) -> None:
        truth, predicted = random_rows(11)
        file = snapshot_file(predicted)
        text = json.dumps(file)
        for entry in file["predictions"]:
            for each in entry["objects"]:
                text = text.replace(
                    json.dumps(each["bbox"]), f"[{', '.join(format(value, form) for value in each['bbox'])}]"
                )
        again = formats.read_bytes(text.encode(), "again.json")
        before = result(ground_truth(truth), formats.read_bytes(json.dumps(file).encode(), "prediction.json"))
        assert every_id(before) == every_id(result(ground_truth(truth), again))

    def test_what_is_not_content_is_not_part_of_it(self) -> None:
        truth = [box(0.1, 0.1, 0.4, 0.4), box(0.6, 0.6, 0.9, 0.9)]
        predicted = [box(0.1, 0.1, 0.4, 0.2, score=0.5), box(0.6, 0.1, 0.9, 0.2, score=0.5)]
        other = [row._replace(score=0.9, id=f"z{place}") for place, row in enumerate(predicted)]
        first = result(ground_truth(truth), annotations(predicted))
        renamed = annotations(other, name="renamed.json")
        assert every_id(first) == every_id(result(ground_truth(truth), renamed, iou=0.45))

    def test_what_is_content_is_part_of_it(self) -> None:
        one = JudgedBox(side="prediction", label="Figure", xyxy=(0.1, 0.2, 0.3, 0.4), model="m")
        target = Target(kind="mistake", document="a", page=1, boxes=(one,))
        changes: dict[str, Any] = {
            "label": "Table", "xyxy": (0.1, 0.2, 0.3, 0.400002), "model": "n", "side": "ground_truth",
        }  # fmt: skip
        others = [(msgspec.structs.replace(one, **{field: value}),) for field, value in changes.items()]
        every = [target, *(msgspec.structs.replace(target, boxes=boxes) for boxes in others)]
        every += [msgspec.structs.replace(target, document="b"), msgspec.structs.replace(target, page=2)]
        assert len({each.id for each in every}) == 7

    def test_it_is_the_same_on_every_machine_and_release(self) -> None:
        one = JudgedBox(side="ground_truth", label="Figure", xyxy=(0.1, -0.0, 1 / 3, 0.4))
        two = JudgedBox(side="prediction", label="Tabelle", xyxy=(0.1, 0.0, 0.25, 0.4), model="détecteur")
        # Worked out by hand from the rule in `Target`: SHA-256 of this text, its first 32 digits.
        spelled = (
            '["mistake","a.pdf",2,[["ground_truth","","Figure","0.100000","0","0.333333","0.400000"],'
            '["prediction","détecteur","Tabelle","0.100000","0","0.250000","0.400000"]],"page",0]'
        )
        target = Target(kind="mistake", document="a.pdf", page=2, boxes=(two, one), mistake="cut_off")
        assert target.id == hashlib.sha256(spelled.encode()).hexdigest()[:32]

    def test_equal_boxes_are_told_apart_by_their_number(self) -> None:
        twins = [box(0.1, 0.1, 0.4, 0.4, score=score) for score in (0.9, 0.5, 0.7)]
        truth = ground_truth([box(0.1, 0.1, 0.4, 0.4)])
        of_page = mistake_targets(result(truth, annotations(twins)), 0)
        assert [target.repeat for target in of_page.targets] == [0, 1]
        ids = {target.id for target in of_page.targets}
        assert len(ids) == 2
        assert every_id(result(truth, shuffled(annotations(twins), 3))) == sorted(ids)

    def test_pages_documents_and_comparisons(self) -> None:
        targets = [
            page_target("a", 0), page_target("a", 1), page_target("b", 0), document("a"), document("b"),
            comparison(("A", "B")), comparison(("B", "A")), comparison(("A", "B"), document="a"),
            comparison(("A", "B"), label="Table"), comparison(("A", "B"), document="a", page=0),
        ]  # fmt: skip
        assert len({target.id for target in targets}) == len(targets)
        assert page_target("a", 0, signature="one").id == page_target("a", 0, signature="two").id
        assert all(target_problem(target) is None for target in targets)

    def test_a_new_version_of_a_model_is_the_same_model(self) -> None:
        one = annotations([box(0.1, 0.1, 0.2, 0.2)])
        assert box_model_name(one) == "toy"
        assert box_model_name(with_changes(one, version="2")) == "toy"
        assert box_model_name(with_changes(one, model=None, name="b\udce9.json")) == "b\\udce9.json"


def with_changes(source: Annotations, **changes: Any) -> Annotations:
    return dataclasses.replace(source, **changes)


class TestClaims:
    def test_fewer_digits_inherit_the_verdict_and_its_identity(self) -> None:
        truth, predicted = random_rows(21, documents=8)
        before = result(ground_truth(truth), annotations(predicted))

        def coarse(row: Box, write: Any) -> Box:
            return row._replace(xyxy=tuple(map(write, row.xyxy)))

        def single(value: float) -> float:
            return float(struct.unpack("f", struct.pack("f", value))[0])

        for write in (single, lambda value: round(value, 4)):
            after = result(
                ground_truth([coarse(row, write) for row in truth]),
                annotations([coarse(row, write) for row in predicted]),
            )
            log = ReviewLog.of(verdicts(before, "model_wrong"))
            statuses = finding_statuses(log, [after])
            # A box at a threshold may fall on the other side; nothing else may change.
            applies = sum(status.state == "applies" for status in statuses)
            assert applies >= 0.97 * len(statuses)
            pages = range(after.matching.dataset.pages)
            held = {target_id for page in pages for target_id in page_targets(after, page, log)}
            assert len(held & set(log.judged)) == applies

    def test_one_verdict_goes_to_one_mistake(self) -> None:
        one = JudgedBox(side="prediction", label="Figure", xyxy=(0.1, 0.1, 0.2, 0.2), model="m")
        near = msgspec.structs.replace(one, xyxy=(0.10005, 0.1, 0.2, 0.2))
        targets = [Target(kind="mistake", document="a", page=0, boxes=(each,)) for each in (near, one)]
        judged = ReviewLog.of([opinion(targets[1])]).on_page("a", 0)
        assert match_reviews(targets, judged) == [(targets[0], None), (targets[1], judged[0])]
        assert match_reviews(targets[:1], judged) == [(targets[0], judged[0])]

    def test_a_tenth_of_a_thousandth_of_the_page_is_the_limit(self) -> None:
        one = JudgedBox(side="prediction", label="Figure", xyxy=(0.1, 0.1, 0.2, 0.2), model="m")
        log = ReviewLog.of([opinion(Target(kind="mistake", document="a", page=0, boxes=(one,)))])
        for shift, same in ((0.00009, True), (0.00011, False)):
            other = msgspec.structs.replace(one, xyxy=(0.1, 0.1, 0.2, 0.2 + shift))
            target = Target(kind="mistake", document="a", page=0, boxes=(other,))
            ((_, held),) = match_reviews([target], log.on_page("a", 0))
            assert (held is not None) is same


class TestStanding:
    TRUTH = (box(0.1, 0.1, 0.5, 0.5), box(0.6, 0.6, 0.9, 0.9))
    # The first is cut off at IoU 0.5, the second invented.
    PREDICTED = (box(0.1, 0.1, 0.5, 0.28, score=0.4), box(0.6, 0.1, 0.9, 0.2, score=0.8))

    def scored(self, **given: Any) -> BoxResult[Any]:
        return result(ground_truth(self.TRUTH), annotations(self.PREDICTED), **given)

    def log(self) -> ReviewLog:
        of_page = mistake_targets(self.scored(), 0)
        return ReviewLog.of([opinion(target) for target in reversed(of_page.targets)])

    def states(self, *results: BoxResult[Any], log: ReviewLog | None = None) -> dict[str, str]:
        return {
            status.judged.target.mistake or status.judged.target.kind: status.state
            for status in finding_statuses(log or self.log(), results)
        }

    def test_the_same_results(self) -> None:
        scored = self.scored()
        statuses = finding_statuses(self.log(), [scored])
        assert [
            (each.judged.target.mistake, each.state, each.mistake, each.box_key, each.model) for each in statuses
        ] == [
            ("cut_off", "applies", "cut_off", "g0", 0),
            ("missed", "applies", "missed", "g1", 0),
            ("invented", "applies", "invented", "p1", 0),
        ]

    def test_what_other_thresholds_and_files_make_of_it(self) -> None:
        assert self.states(self.scored(iou=0.4)) == {"cut_off": "matched", "missed": "applies", "invented": "applies"}
        # Its ground truth is a mistake of its own now; that the prediction is left out is the reason.
        assert self.states(self.scored(min_score=0.5))["cut_off"] == "left_out"
        scored = result(ground_truth(self.TRUTH), annotations(self.PREDICTED[:1]))
        assert self.states(scored)["invented"] == "gone"
        moved = [row._replace(xyxy=(0.1, 0.1, 0.5, 0.29)) for row in self.PREDICTED[:1]]
        assert self.states(result(ground_truth(self.TRUTH), annotations(moved)))["cut_off"] == "gone"

    def test_another_prediction_takes_the_ground_truth(self) -> None:
        more = result(ground_truth(self.TRUTH), annotations([*self.PREDICTED, box(0.1, 0.1, 0.5, 0.5, score=0.9)]))
        (status, *_) = [one for one in finding_statuses(self.log(), [more]) if one.judged.target.mistake == "cut_off"]
        assert (status.state, status.mistake) == ("regrouped", "duplicate")
        assert status.sentence == (
            "Its boxes are in the files and belong to another mistake now. "
            "It is called Duplicate now; it was judged as Cut off."
        )

    def test_another_name_of_the_same_pair_keeps_the_verdict(self) -> None:
        target = mistake_targets(self.scored(), 0).targets[0]
        assert target.mistake == "cut_off"
        log = ReviewLog.of([opinion(msgspec.structs.replace(target, mistake="near_miss"))])
        (status,) = finding_statuses(log, [self.scored()])
        assert status.state == "applies"
        assert status.sentence == ("Its boxes are unchanged. It is called Cut off now; it was judged as Near miss.")

    def test_another_model_and_another_document_are_not_open(self) -> None:
        other = with_changes(annotations(self.PREDICTED), model="other")
        assert self.states(result(ground_truth(self.TRUTH), other)) == {
            "cut_off": "not_open", "missed": "applies", "invented": "not_open",
        }  # fmt: skip
        assert set(self.states(log=self.log()).values()) == {"not_open"}
        absent = page_target("a.pdf", 7), page_target("z.pdf", 0), document("z.pdf")
        statuses = finding_statuses(ReviewLog.of([*map(opinion, absent)]), [self.scored()])
        assert [status.state for status in statuses] == ["not_open", "not_open", "gone"]

    def test_pages_documents_and_comparisons_apply_while_they_are_open(self) -> None:
        targets = (comparison(("toy", "gone")), page_target("a.pdf", 0), document("a.pdf"), comparison(("toy", "toy")))
        statuses = finding_statuses(ReviewLog.of([*map(opinion, targets)]), [self.scored()])
        assert [status.state for status in statuses] == ["applies", "applies", "applies", "not_open"]

    @given(some.integers(0, 10_000), some.floats(0.1, 0.9), some.floats(0.0, 1.0))
    def test_nothing_is_lost_and_what_applies_is_a_mistake(self, seed: int, iou: float, score: float) -> None:
        truth, predicted = random_rows(seed, documents=2)
        before = result(ground_truth(truth), annotations(predicted))
        after = result(ground_truth(truth), annotations(predicted), iou=iou, min_score=score)
        statuses = finding_statuses(ReviewLog.of(verdicts(before, "model_wrong")), [after])
        assert sorted(status.judged.target_id for status in statuses) == every_id(before)
        now = set(every_id(after))
        for status in statuses:
            assert (status.state == "applies") == (status.judged.target_id in now)
            assert status.state in ("applies", "regrouped", "matched", "left_out")


class TestAttach:
    def test_the_viewer_hears_what_was_said(self) -> None:
        truth, predicted = random_rows(31, per_page=9)
        scored = result(ground_truth(truth), annotations(predicted))
        targets = mistake_targets(scored, 0).targets
        log = ReviewLog.of(
            [
                opinion(targets[0], "ignore", note="n", tags=["t"]),
                opinion(targets[0], "ambiguous", author="Ben", verified=True, minutes=1),
                opinion(targets[1], "ignore"),
                opinion(targets[1], None, minutes=2),
            ]
        )
        drawn = page_overlay.page_data(scored, 0).mistakes
        told = read_by_browser(attach(drawn, scored, 0, log))
        assert attach(drawn, scored, 0, log, mistake_targets(scored, 0)) == attach(drawn, scored, 0, log)
        assert drawn[0].target is None
        by_id = {mistake["target"]: mistake["verdict"] for mistake in told}
        assert set(by_id) == {target.id for target in targets}
        anna = {"author": "Anna", "verified": False, "verdict": "ignore", "note": "n", "tags": ["t"]}
        ben = {"author": "Ben", "verified": True, "verdict": "ambiguous", "note": "", "tags": []}
        times = [{"time": f"2026-01-31T12:0{minute}:00.000000Z"} for minute in (0, 1)]
        opinions = [one | at for one, at in zip((anna, ben), times, strict=True)]
        assert by_id[targets[0].id] == {"agreed": None, "conflict": True, "opinions": opinions}
        assert by_id[targets[1].id] is None
        assert set(page_targets(scored, 0, log)) == set(by_id)
        json.dumps(told)

    def test_a_label_filter_changes_no_identity(self) -> None:
        truth, predicted = random_rows(31, per_page=9)
        scored = result(ground_truth(truth), annotations(predicted))
        every, few = (
            attach(page_overlay.page_data(scored, 0, labels=labels).mistakes, scored, 0, ReviewLog())
            for labels in (None, ["Table"])
        )
        keys = {mistake.target: mistake.keys for mistake in every}
        assert few
        assert all(set(mistake.keys) <= set(keys[mistake.target]) for mistake in few)

    def test_a_page_without_mistakes(self) -> None:
        scored = result(ground_truth([box(0.1, 0.1, 0.2, 0.2)]), annotations([box(0.1, 0.1, 0.2, 0.2)]))
        assert mistake_targets(scored, 0).targets == ()
        assert page_targets(scored, 0, ReviewLog()) == {}
        assert attach(page_overlay.page_data(scored, 0).mistakes, scored, 0, ReviewLog()) == []


class TestBook:
    PAGE = page_target("a", 0)

    def test_the_last_word_of_each_reviewer_counts(self) -> None:
        events = [
            opinion(self.PAGE, "model_wrong", minutes=1),
            opinion(self.PAGE, "model_wrong", author="Ben", minutes=2),
            opinion(self.PAGE, "ignore", minutes=3),
        ]
        (judged,) = ReviewLog.of(events).judged.values()
        said = [(event.author, event.verdict) for event in judged.opinions]
        assert said == [("Ben", "model_wrong"), ("Anna", "ignore")]
        assert (judged.conflict, judged.verdict) == (True, None)
        agreed = ReviewLog.of([*events, opinion(self.PAGE, "ignore", author="Ben", minutes=4)]).judged[self.PAGE.id]
        assert (agreed.conflict, agreed.verdict, len(agreed.history)) == (False, "ignore", 4)

    def test_a_note_does_not_vote_and_a_typed_name_never_stands_for_a_verified_one(self) -> None:
        for events, verdict, conflict in (
            ([opinion(self.PAGE, "ignore"), opinion(self.PAGE, None, author="Ben", note="why")], "ignore", False),
            ([opinion(self.PAGE, "ignore", verified=True), opinion(self.PAGE, minutes=1)], None, True),
        ):
            (judged,) = ReviewLog.of(events).judged.values()
            assert (judged.verdict, judged.conflict, len(judged.opinions)) == (verdict, conflict, 2)

    def test_what_was_taken_back_is_history(self) -> None:
        log = ReviewLog.of([opinion(self.PAGE, "ignore"), opinion(self.PAGE, None, minutes=1)])
        assert len(log) == 0
        assert [event.action for event in log.every[self.PAGE.id].history] == ["judged", "cleared"]
        assert log.get(self.PAGE.id) is log.every[self.PAGE.id]

    @given(some.lists(some.tuples(some.sampled_from([*VERDICTS, None]), some.sampled_from("ABC"), some.integers(0, 9))))
    def test_what_comes_again_does_not_matter(self, rows: list[Any]) -> None:
        events = [
            opinion(page_target("a", page % 3), verdict, author=author, minutes=number)
            for number, (verdict, author, page) in enumerate(rows)
        ]
        other = [*events, *events[: len(events) // 2]]
        first, again = ReviewLog.of(events), ReviewLog.of(other)
        assert list(first.judged) == list(again.judged)
        assert [judged.history for judged in first.every.values()] == [
            judged.history for judged in again.every.values()
        ]
        assert first.revision == again.revision

    @pytest.mark.parametrize(
        ("wrong", "sentence"),
        [
            ({"verdict": "perhaps"}, "The verdict must be one of model_wrong, ground_truth_wrong, ambiguous, ignore."),
            ({"author": "  "}, "A verdict needs an author: log in, or type a name."),
            ({"author": "A\x1b[31m"}, "The author must not contain control characters."),
            ({"note": "x" * 20_001}, "A note may have 20,000 characters; this one has 20,001."),
            ({"note": "a\x00b"}, "A note must not contain control characters."),
            ({"note": "a\ud800b"}, "A note must not contain control characters."),
            ({"tags": ["a,b"]}, "A tag must not contain a comma; use two tags."),
            ({"tags": [str(number) for number in range(21)]}, "A finding may have 20 tags."),
            ({"event_id": "a b"}, "Event must be an id as it was exported."),
            ({"time": datetime(2026, 1, 31)}, "The time must have a time zone."),
        ],
    )
    def test_what_cannot_be_kept_is_said(self, wrong: dict[str, Any], sentence: str) -> None:
        given = {"verdict": "ignore", **wrong}
        with pytest.raises(ValueError, match=re.escape(sentence)):
            opinion(page_target("a", 0), given.pop("verdict"), **given)

    def test_line_ends_and_tags_are_kept_in_one_form(self) -> None:
        event = opinion(page_target("a", 0), None, note="one\r\ntwo\rthree", tags=[" b ", "a", "b", ""])
        assert event.note == "one\ntwo\nthree"
        assert event.tags == ("b", "a")


def test_a_page_of_the_sample_is_named_as_the_viewer_names_it() -> None:
    folder = Path(__file__).resolve().parents[2] / "sample_data"
    truth, lines = (formats.read(folder / name) for name in ("ground_truth.json", "lines.json"))
    scored = result(truth, lines)
    for page in range(scored.matching.dataset.pages):
        drawn = attach(page_overlay.page_data(scored, page).mistakes, scored, page, ReviewLog())
        targets = mistake_targets(scored, page).targets
        assert sorted(mistake.target or "" for mistake in drawn) == sorted(target.id for target in targets)
        assert sorted(mistake.name for mistake in drawn) == sorted(target.mistake or "" for target in targets)
