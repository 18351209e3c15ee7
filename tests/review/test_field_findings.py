"""Verdicts on extracted fields: identity, what each changes, worked out on paper, their status, and the terminal."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as some

from evaluator.components.payload import ModelItem
from evaluator.components.viewer.fields import SHARES, Paper, page_data
from evaluator.components.viewer.judged import attach_fields
from evaluator.data.dataset import join
from evaluator.data.fields import FieldDocuments, Rule, Tree, schema_of
from evaluator.pack.contents import gather
from evaluator.pack.options import PackOptions
from evaluator.protocols import snapshot
from evaluator.protocols.fields.drill_down import FieldPages
from evaluator.protocols.fields.evaluation import FieldsResult, evaluate, merge
from evaluator.review.corrections import corrections
from evaluator.review.field_corrections import FieldCorrections, corrected_fields, field_corrections
from evaluator.review.field_targets import field_statuses, judged_fields, targets_of
from evaluator.review.status import FIELD_PROBLEMS, finding_statuses
from evaluator.review.store import Store
from evaluator.review.verdicts import Event, ReviewLog, Target
from tests.building import annotations, box, ground_truth, read_by_browser
from tests.judging import opinion
from tests.pages.test_fields_links import BOX, FAR, OTHER, PREDICTED, TRUTH, random_sides, rich, side
from tests.terminal import run_command

WRONG, IGNORE = "ground_truth_wrong", "ignore"
HIT = rich("Acme", BOX)
Counts = tuple[int, int, int, int]


def result(truth: dict[str, Any], predicted: dict[str, Any], *, model: str = "model", **options: Any) -> FieldsResult:
    return evaluate(side("truth", {"d": truth}), side(model, {"d": predicted}), **options)


def counts(result: FieldsResult, iou: float = 0.5) -> Counts:
    whole = result.overall(iou)
    columns = (whole.true_positive, whole.below_threshold, whole.missed, whole.spurious)
    hit, below, missed, spurious = (int(column[0]) for column in columns)
    return hit, below, missed, spurious


def targets(result: FieldsResult, *, document: str = "d", iou: float = 0.5) -> list[Target]:
    return list(targets_of(result, judged_fields(result, document, ReviewLog(), iou=iou), iou=iou).values())


def target_named(result: FieldsResult, label: str) -> Target:
    """The target of a field by its path, also when nothing is wrong with it."""
    every = [target for target, _ in judged_fields(result, "d", ReviewLog(), iou=0.5).values()]
    (target,) = (target for target in every if target.label == label)
    return target


def after(result: FieldsResult, *events: Event, others: Sequence[FieldsResult] = ()) -> tuple[FieldCorrections, Counts]:
    to = field_corrections([result, *others], ReviewLog.of(events))
    return to, counts(corrected_fields(result, to).result)


def plain_value(tree: Tree) -> Any:
    """A tree as a file would have it."""
    if isinstance(tree, dict):
        return {key: plain_value(inner) for key, inner in tree.items()}
    if isinstance(tree, list):
        return [plain_value(inner) for inner in tree]
    if tree.box is None:
        return rich(tree.value)
    return rich(tree.value, list(tree.box), page=tree.page)


def as_file(documents: FieldDocuments) -> FieldDocuments:
    return side("corrected", {name: plain_value(tree) for name, tree in documents.documents.items()})


class TestTarget:
    def test_a_problem_is_told_by_boxes_and_paths(self) -> None:
        scored = result(TRUTH, PREDICTED)
        told = {target.label: target.mistake for target in targets(scored)}
        assert told == {
            "boxless": "missed", "low_wrong": "below_threshold", "made_up": "spurious", "missed": "missed",
            "turned": "below_threshold", "wrong": "wrong_value",
        }  # fmt: skip
        assert set(told.values()) == set(FIELD_PROBLEMS)
        pair = target_named(scored, "low_wrong")
        assert (pair.kind, pair.document, pair.page, pair.unit) == ("field", "d", 0, "page")
        assert [(one.side, one.label, list(one.xyxy), one.model) for one in pair.boxes] == [
            ("ground_truth", "low_wrong", BOX, None),
            ("prediction", "low_wrong", FAR, "model.jsonl"),
        ]

    def test_the_identity_knows_no_threshold_and_no_other_field(self) -> None:
        scored = result(TRUTH, PREDICTED)
        low = target_named(scored, "low")
        (row,) = (
            row
            for row, (target, _) in judged_fields(scored, "d", ReviewLog(), iou=0.9).items()
            if target.label == "low"
        )
        strict, _ = judged_fields(scored, "d", ReviewLog(), iou=0.9)[row]
        assert (low.mistake, strict.mistake) == (None, "below_threshold")
        assert low.id == strict.id
        ids = [target.id for target, _ in judged_fields(scored, "d", ReviewLog(), iou=0.5).values()]
        assert len(set(ids)) == len(ids)

    def test_values_and_scores_are_no_part_of_it(self) -> None:
        one = result({"a": rich("x", BOX)}, {"a": rich("y", FAR, confidence=0.2)})
        other = result({"a": rich("z", BOX)}, {"a": rich("w", FAR, confidence=0.9)})
        assert target_named(one, "a").id == target_named(other, "a").id
        assert target_named(one, "a").id != target_named(result({"a": HIT}, {"a": rich("y", OTHER)}), "a").id

    def test_a_field_without_a_box_cannot_be_judged(self) -> None:
        scored = result({"a": rich("x")}, {"a": rich("completely different")})
        assert judged_fields(scored, "d", ReviewLog(), iou=0.5) == {}
        data = page_data(scored, FieldPages(scored.compared), Paper(0, 0, None, SHARES), iou=0.5)
        (mistake,) = read_by_browser(attach_fields(data.mistakes, judged_fields(scored, "d", ReviewLog(), iou=0.5)))
        assert (mistake["target"], mistake["verdict"]) == (None, None)

    def test_boxes_in_points_have_the_unit_of_pixels(self) -> None:
        assert target_named(result({"a": rich("x", [10, 20, 30, 40])}, {}), "a").unit == "pixels"

    def test_the_viewer_gets_the_verdict(self) -> None:
        scored = result(TRUTH, PREDICTED)
        missed = target_named(scored, "missed")
        data = page_data(scored, FieldPages(scored.compared), Paper(0, 1, None, SHARES), iou=0.5)
        log = ReviewLog.of([opinion(missed, WRONG)])
        (mistake,) = read_by_browser(attach_fields(data.mistakes, judged_fields(scored, "d", log, iou=0.5)))
        assert mistake["target"] == missed.id
        assert mistake["verdict"]["agreed"] == WRONG
        assert [each["author"] for each in mistake["verdict"]["opinions"]] == ["Anna"]

    def test_a_file_with_fewer_digits_keeps_the_verdict(self) -> None:
        before = result({"a": rich("x", [0.123456, 0.1, 0.5, 0.2])}, {})
        later = result({"a": rich("x", [0.12346, 0.1, 0.5, 0.2])}, {})
        log = ReviewLog.of([opinion(target_named(before, "a"), WRONG)])
        assert list(targets_of(later, judged_fields(later, "d", log, iou=0.5), iou=0.5)) == [
            target_named(before, "a").id
        ]
        assert after(later, *log.events)[1] == (0, 0, 0, 0)


FIELD, MOVED = rich("x", BOX), rich("x", FAR, page=2)
# name, ground truth, prediction, counts before, after "ground truth wrong", after "ignore", corrected ground truth
ROWS: list[Any] = [
    ("missed", {"a": FIELD}, {}, (1, 0, 1, 0), (1, 0, 0, 0), (1, 0, 0, 0), {}),
    ("spurious", {}, {"a": rich("x", BOX, confidence=0.4)}, (1, 0, 0, 1), (2, 0, 0, 0), (1, 0, 0, 0), {"a": FIELD}),
    ("spurious", {"a": rich("y")}, {"a": FIELD}, (1, 0, 0, 1), (2, 0, 0, 0), (1, 0, 0, 0), {"a": FIELD}),
    ("below_threshold", {"a": FIELD}, {"a": MOVED}, (1, 1, 0, 0), (2, 0, 0, 0), (1, 0, 0, 0), {"a": MOVED}),
    ("wrong_value", {"a": rich("first", BOX)}, {"a": rich("second", OTHER)},
     (2, 0, 0, 0), (2, 0, 0, 0), (1, 0, 0, 0), {"a": rich("second", OTHER)}),
    ("spurious", {}, {"vendor": {"name": FIELD}},
     (1, 0, 0, 1), (2, 0, 0, 0), (1, 0, 0, 0), {"vendor": {"name": FIELD}}),
    ("missed", {"vendor": {"name": FIELD}}, {}, (1, 0, 1, 0), (1, 0, 0, 0), (1, 0, 0, 0), {}),
]  # fmt: skip


class TestTable:
    @pytest.mark.parametrize("row", ROWS, ids=[f"{number}-{row[0]}" for number, row in enumerate(ROWS)])
    def test_ground_truth_wrong_and_ignore(self, row: Any) -> None:
        name, truth, predicted, before, when_wrong, when_ignored, left = row
        scored = result({"hit": HIT, **truth}, {"hit": HIT, **predicted})
        (target,) = targets(scored)
        assert (counts(scored), target.mistake) == (before, name)
        to, got = after(scored, opinion(target, WRONG))
        assert (got, to.applied, to.issues) == (when_wrong, 1, ())
        assert plain_value(to.truth.documents["d"]) == {"hit": HIT, **left}
        assert to.truth.sha256 != to.official.sha256
        assert plain_value(to.official.documents["d"]) == {"hit": HIT, **truth}, "the official side is never touched"
        to, got = after(scored, opinion(target, IGNORE))
        assert (got, to.applied, to.issues) == (when_ignored, 1, ())
        assert to.truth is to.official
        # An object that one side lacks is a row of its own, which nobody judged.
        total = corrected_fields(scored, to).result.coverage["fields_total"]
        assert total == 1 + ("vendor" in {**truth, **predicted})

    def test_other_verdicts_and_a_conflict_change_nothing(self) -> None:
        scored = result(TRUTH, PREDICTED)
        for verdict in ("model_wrong", "ambiguous", None):
            to, got = after(scored, *(opinion(target, verdict, note="n") for target in targets(scored)))
            assert (got, to.applied, to.issues) == (counts(scored), 0, ())
            assert to.truth is to.official
        scored = result({"a": HIT}, {})
        (target,) = targets(scored)
        to, got = after(scored, opinion(target, WRONG), opinion(target, IGNORE, author="Ben"))
        assert (got, to.applied) == ((0, 0, 1, 0), 0)

    def test_every_number_of_the_fixture(self) -> None:
        # hit, low, wrong stay; low_wrong, turned and made_up are accepted; missed and boxless go.
        scored = result(TRUTH, PREDICTED)
        assert counts(scored) == (3, 2, 2, 1)
        to, got = after(scored, *(opinion(target, WRONG) for target in targets(scored)))
        assert (got, to.applied) == ((6, 0, 0, 0), 6)
        corrected = corrected_fields(scored, to)
        assert corrected.result.overall(0.5).precision.tolist() == [1.0]
        # Six classes with ground truth; "low" alone is not exact: IoU 0.56 holds at 0.50 and 0.55 of ten thresholds.
        assert corrected.result.mean_ap == pytest.approx((5 + 0.2) / 6)
        assert corrected.result.iou == scored.iou

    def test_the_signature_says_so(self) -> None:
        scored = result(TRUTH, PREDICTED)
        to, _ = after(scored, opinion(target_named(scored, "missed"), WRONG))
        corrected = corrected_fields(scored, to)
        assert "corrected, 1 verdict applied" in corrected.signature.line
        assert corrected.to_json()["signature"] == corrected.table().signature == corrected.signature.line
        assert corrected.to_json()["verdicts_applied"] == 1
        assert corrected.table().title == "model.jsonl (corrected)"
        assert [change.sentence for change in to.changes] == ["d, page 2: missed removed, verdict of Anna"]

    def test_options_stay(self) -> None:
        schema = schema_of({"wrong": Rule("text", 0.0)}, {})
        scored = result(TRUTH, PREDICTED, iou=(0.3, 0.6), schema=schema, labels=("missed", "low"), min_score=0.75)
        to, _ = after(scored, opinion(target_named(result(TRUTH, PREDICTED), "missed"), WRONG))
        again = corrected_fields(scored, to).result
        assert (again.iou, again.labels, again.min_score) == ((0.3, 0.6), ("missed", "low"), 0.75)
        assert again.compared.value_rule == scored.compared.value_rule
        # "low" is left out by its confidence of 0.7, so only its ground truth counts.
        assert (counts(scored, 0.3), counts(again, 0.3)) == ((0, 0, 2, 0), (0, 0, 1, 0))

    def test_a_verdict_on_a_class_that_is_not_scored_is_not_gone(self) -> None:
        scored = result(TRUTH, PREDICTED, labels=("hit",))
        to, got = after(scored, opinion(target_named(result(TRUTH, PREDICTED), "missed"), WRONG))
        assert (got, to.applied, to.issues) == ((1, 0, 0, 0), 1, ())


def item(text: str, total: str, *, at: float | None = None, sure: float | None = None) -> dict[str, Any]:
    """A line item; with a place, both of its fields have a box there."""
    boxes = [None, None] if at is None else [[0.1, at, 0.5, at + 0.04], [0.6, at, 0.9, at + 0.04]]
    return {"text": rich(text, boxes[0], confidence=sure), "total": rich(total, boxes[1], confidence=sure)}


class TestLists:
    def test_a_field_of_a_lonely_item_brings_the_item(self) -> None:
        lonely = item("screws", "14.00", at=0.4, sure=0.9)
        scored = result({"items": [item("nails", "3.20", at=0.2)]}, {"items": [item("nails", "3.20", at=0.2), lonely]})
        assert counts(scored) == (2, 0, 0, 2)
        text, total = targets(scored)
        assert (text.label, total.label) == ("items[1].text", "items[1].total")
        to, got = after(scored, opinion(text, WRONG))
        assert got == (3, 0, 0, 1)
        assert plain_value(to.truth.documents["d"])["items"][1] == {
            "text": rich("screws", [0.1, 0.4, 0.5, 0.44]), "total": rich("14.00"),
        }  # fmt: skip
        both, got = after(scored, opinion(text, WRONG), opinion(total, WRONG, minutes=1))
        assert (got, both.applied) == ((4, 0, 0, 0), 2)
        assert len(plain_value(both.truth.documents["d"])["items"]) == 2

    def test_a_list_that_the_ground_truth_lacks_is_made(self) -> None:
        scored = result({"hit": HIT}, {"hit": HIT, "items": [item("nails", "3.20", at=0.2)], "tags": [rich("a", FAR)]})
        to, got = after(scored, *(opinion(target, WRONG) for target in targets(scored)))
        assert (got, to.applied, to.issues) == ((4, 0, 0, 0), 3, ())

    def test_a_field_goes_to_the_partner_of_its_item(self) -> None:
        # The items are in another order: "total" of the first predicted item belongs to the second true one.
        truth = {"items": [item("nails", "3", at=0.2), {"text": rich("screws"), "code": rich("A7")}]}
        more = {"text": rich("screws"), "code": rich("A7"), "tax": rich("0", FAR)}
        schema = schema_of({}, {"items": 0.5})
        scored = result(truth, {"items": [more, item("nails", "3", at=0.2)]}, schema=schema)
        (target,) = targets(scored)
        assert target.label == "items[1].tax"
        assert target.of("prediction")[0].label == "items[0].tax"
        to, got = after(scored, opinion(target, WRONG))
        assert got == (3, 0, 0, 0)
        assert plain_value(to.truth.documents["d"])["items"][1]["tax"] == rich("0", FAR)

    def test_an_item_without_fields_is_gone(self) -> None:
        scored = result({"items": [item("nails", "3", at=0.2), item("screws", "4", at=0.4)]},
                       {"items": [item("screws", "4", at=0.4)]})  # fmt: skip
        assert counts(scored) == (2, 0, 2, 0)
        to, got = after(scored, *(opinion(target, WRONG) for target in targets(scored)))
        assert got == (2, 0, 0, 0)
        assert plain_value(to.truth.documents["d"]) == {"items": [item("screws", "4", at=0.4)]}

    def test_to_ignore_a_field_leaves_the_pairs_of_items_alone(self) -> None:
        # Without "text" the items would share one field of two, and be no pair any more.
        truth = {"items": [{"a": rich("x", BOX), "b": rich("y"), "c": rich("z", FAR), "d": rich("1")}]}
        predicted = {"items": [{"a": rich("x", FAR), "b": rich("y"), "c": rich("z", FAR), "d": rich("2")}]}
        scored = result(truth, predicted)
        assert counts(scored) == (1, 1, 0, 0)
        (target,) = (target for target in targets(scored) if target.label == "items[0].a")
        assert after(scored, opinion(target, IGNORE))[1] == (1, 0, 0, 0)


class TestModels:
    def test_one_ground_truth_for_all(self) -> None:
        a = result({"a": HIT, "b": rich("x", FAR)}, {"a": HIT}, model="first")
        b = result({"a": HIT, "b": rich("x", FAR)}, {"a": HIT, "b": rich("x", FAR)}, model="second")
        (missed,) = targets(a)
        to = field_corrections([a, b], ReviewLog.of([opinion(missed, WRONG)]))
        assert [counts(corrected_fields(one, to).result) for one in (a, b)] == [(1, 0, 0, 0), (1, 0, 0, 1)]
        # The verdict is about the ground truth alone, so it holds where only the other model is open.
        assert after(b, opinion(missed, WRONG))[1] == (1, 0, 0, 1)
        to = field_corrections([a, b], ReviewLog.of([opinion(missed, IGNORE)]))
        assert [counts(corrected_fields(one, to).result) for one in (a, b)] == [(1, 0, 0, 0), (1, 0, 0, 0)]

    def test_the_newest_of_two_verdicts_on_one_field_counts(self) -> None:
        a = result({"a": rich("x", BOX)}, {"a": rich("x", FAR)}, model="first")
        b = result({"a": rich("x", BOX)}, {"a": rich("y", [0.3, 0.6, 0.5, 0.7])}, model="second")
        events = [opinion(targets(a)[0], WRONG), opinion(targets(b)[0], WRONG, minutes=5)]
        to, got = after(a, *events, others=[b])
        assert (got, to.applied) == ((0, 1, 0, 0), 1)
        (finding,) = to.issues
        assert (finding.severity, finding.place, finding.found) == ("warning", "d, page 1", "a newer one")
        assert finding.rule == "a verdict is applied when no newer one changes the same field"

    def test_one_field_that_two_models_found_is_added_once(self) -> None:
        a = result({"hit": HIT}, {"hit": HIT, "a": rich("x", BOX)}, model="first")
        b = result({"hit": HIT}, {"hit": HIT, "a": rich("x", FAR)}, model="second")
        to, got = after(a, opinion(targets(a)[0], WRONG), opinion(targets(b)[0], WRONG, minutes=5), others=[b])
        assert (got, to.applied, len(to.issues)) == ((1, 1, 0, 0), 1, 1)
        assert plain_value(to.truth.documents["d"])["a"] == rich("x", FAR)

    def test_an_item_that_two_models_found_is_added_once(self) -> None:
        a = result({"hit": HIT}, {"items": [item("nails", "3", at=0.2)]}, model="first")
        b = result({"hit": HIT}, {"items": [item("nails", "3", at=0.205)]}, model="second")
        events = [opinion(target, WRONG) for target in targets(a) if target.label != "hit"]
        events += [opinion(target, WRONG, minutes=5) for target in targets(b) if target.label != "hit"]
        to, got = after(a, *events, others=[b])
        assert (got, to.applied, len(to.issues)) == ((2, 0, 1, 0), 2, 2)

    def test_two_items_of_one_model_at_one_place_are_two(self) -> None:
        items = [item("nails", "3", at=0.2), item("screws", "4", at=0.2)]
        scored = result({}, {"items": items})
        to, got = after(scored, *(opinion(target, WRONG) for target in targets(scored)))
        assert (got, to.applied, to.issues) == ((4, 0, 0, 0), 4, ())

    @pytest.mark.parametrize("truth", [{"b": HIT}, {"a": rich("x", FAR)}])
    def test_what_is_gone_is_told(self, truth: Any) -> None:
        (target,) = targets(result({"a": rich("x", BOX)}, {}))
        now = result(truth, {})
        to, got = after(now, opinion(target, WRONG))
        assert (got, to.applied) == (counts(now), 0)
        assert [(one.rule, one.found) for one in to.issues] == [
            ("a verdict is applied when its field is still in the files",
             "changed or gone, or of a model that is not open"),
        ]  # fmt: skip

    def test_where_the_ground_truth_has_no_place_it_is_told(self) -> None:
        scored = result({"a": rich("text")}, {"a": {"b": rich("x", BOX)}})
        to, got = after(scored, opinion(targets(scored)[0], WRONG))
        assert (got, to.applied) == ((0, 0, 0, 1), 0)
        assert [one.found for one in to.issues] == ["another kind of value there"]

    def test_a_document_that_is_not_open_is_told(self) -> None:
        other = evaluate(side("truth", {"other": {"a": HIT}}), side("model", {"other": {}}))
        (target,) = targets(other, document="other")
        to, _ = after(result({"a": HIT}, {}), opinion(target, WRONG))
        assert [one.found for one in to.issues] == ["not among these files"]

    def test_a_document_of_the_prediction_alone_can_be_accepted(self) -> None:
        evaluation = evaluate(side("truth", {"d": {"a": HIT}}), side("model", {"d": {"a": HIT}, "e": {"b": HIT}}))
        to, got = after(evaluation, opinion(targets(evaluation, document="e")[0], WRONG))
        assert got == (2, 0, 0, 0)
        assert plain_value(to.truth.documents["e"]) == {"b": HIT}

    def test_merged_rows_and_other_files_are_refused(self) -> None:
        scored = result({"a": HIT}, {})
        state = FieldsResult(merge(scored.compared), (0.5,), "linspace")
        with pytest.raises(ValueError, match="the rows of a state"):
            field_corrections([state], ReviewLog())
        other = result({"b": HIT}, {})
        with pytest.raises(ValueError, match="one ground truth"):
            field_corrections([scored, other], ReviewLog())
        with pytest.raises(ValueError, match="another ground truth"):
            corrected_fields(other, field_corrections([scored], ReviewLog()))


def judged_at_random(result: FieldsResult, data: Any, verdicts: Sequence[str | None]) -> list[Event]:
    every = [target for document in result.compared.documents for target in targets(result, document=document)]
    chosen = [data.draw(some.sampled_from(verdicts)) for _ in every]
    judged = zip(every, chosen, strict=True)
    return [opinion(target, verdict, minutes=place) for place, (target, verdict) in enumerate(judged) if verdict]


@given(some.integers(0, 10**6), some.data())
def test_corrected_numbers_are_those_of_the_corrected_files(seed: int, data: Any) -> None:
    truth, predicted = random_sides(seed)
    evaluation = evaluate(truth, predicted)
    to = field_corrections([evaluation], ReviewLog.of(judged_at_random(evaluation, data, (None, WRONG))))
    again = corrected_fields(evaluation, to).result
    fresh = evaluate(as_file(to.truth), predicted)
    for iou in (0.3, 0.5, 0.8):
        assert counts(again, iou) == counts(fresh, iou)
    assert again.mean_ap == fresh.mean_ap
    assert again.coverage == fresh.coverage
    assert not to.issues


@given(some.integers(0, 10**6), some.data())
def test_what_is_ignored_leaves_with_its_own_counts_only(seed: int, data: Any) -> None:
    evaluation = evaluate(*random_sides(seed))
    events = judged_at_random(evaluation, data, (None, IGNORE))
    to = field_corrections([evaluation], ReviewLog.of(events))
    assert to.applied == len(events)
    again = corrected_fields(evaluation, to).result
    kinds = [event.target.mistake for event in events]
    hit, below, missed, spurious = counts(evaluation)
    # A wrong value in a box that fits is a true positive.
    assert counts(again) == (
        hit - kinds.count("wrong_value"),
        below - kinds.count("below_threshold"),
        missed - kinds.count("missed"),
        spurious - kinds.count("spurious"),
    )


@given(some.integers(0, 10**6), some.data())
def test_to_ignore_a_field_is_to_delete_it_from_both_files(seed: int, data: Any) -> None:
    """For documents without lists, where nothing else follows from a field."""
    every: list[dict[str, Any]] = [
        {name: plain_value(tree) for name, tree in each.documents.items()} for each in random_sides(seed)
    ]
    sides = [
        {name: {key: fields[key] for key in "abc" if key in fields} for name, fields in documents.items()}
        for documents in every
    ]
    evaluation = evaluate(side("truth", sides[0]), side("model", sides[1]))
    events = judged_at_random(evaluation, data, (None, IGNORE))
    for event in events:
        for documents in sides:
            documents[event.target.document or ""].pop(event.target.label or "", None)
    fresh = evaluate(side("truth", sides[0]), side("model", sides[1]))
    again = corrected_fields(evaluation, field_corrections([evaluation], ReviewLog.of(events))).result
    assert counts(again) == counts(fresh)
    assert again.mean_ap == fresh.mean_ap


class TestStanding:
    def states(self, log: ReviewLog, *results: FieldsResult, iou: float = 0.5) -> list[str]:
        return [one.state for one in field_statuses(log, results, iou=iou)]

    def test_states(self) -> None:
        scored = result({"a": rich("x", BOX)}, {"a": rich("x", OTHER)})
        log = ReviewLog.of([opinion(target_named(scored, "a"), "model_wrong")])
        assert self.states(log, scored, iou=0.9) == ["applies"]
        assert self.states(log, scored, iou=0.5) == ["matched"]
        assert self.states(log) == ["not_open"]
        assert self.states(log, result({"a": HIT}, {}, model="another")) == ["not_open"]
        assert self.states(log, result({"a": rich("x", FAR)}, {"a": rich("x", OTHER)})) == ["gone"]

    def test_a_missed_field_that_was_found_later(self) -> None:
        log = ReviewLog.of([opinion(targets(result({"a": HIT}, {}))[0], "model_wrong")])
        assert self.states(log, result({"a": HIT}, {"a": HIT})) == ["matched"]
        (regrouped,) = field_statuses(log, [result({"a": HIT}, {"a": rich("Acme", FAR)})], iou=0.5)
        assert (regrouped.state, regrouped.mistake) == ("regrouped", "below_threshold")
        assert regrouped.sentence.endswith("It is called Box too far off now; it was judged as Missed.")
        assert regrouped.box_key == "p0"
        assert regrouped.model is None

    def test_boxes_know_nothing_of_fields(self) -> None:
        """Corrections, status and review pack of boxes do not change by a verdict on a field."""
        events = [opinion(target, WRONG) for target in targets(result(TRUTH, PREDICTED))]
        dataset = join(ground_truth([box(0.1, 0.1, 0.4, 0.2)]), annotations([box(0.6, 0.6, 0.9, 0.9)]))
        scored = snapshot.pair(dataset).match().at(0.5)
        log = ReviewLog.of(events)
        assert finding_statuses(log, [scored]) == []
        to = corrections(dataset, log)
        assert (to.applied, to.issues) == (0, ())
        assert gather([scored], [ModelItem("A", "model")], log, PackOptions()).findings is None


def test_the_terminal_adds_the_corrected_result(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = {name: tmp_path / f"{name}.jsonl" for name in ("truth", "model")}
    for path, fields in zip(files.values(), (TRUTH, PREDICTED), strict=True):
        path.write_text(json.dumps({"doc_id": "d", "fields": fields}) + "\n", encoding="utf-8")
    scored = result(TRUTH, PREDICTED)
    gone = targets(result({"nowhere": HIT}, {}))[0]
    with Store(tmp_path / "findings.sqlite") as store:
        store.add([opinion(target_named(scored, "missed"), WRONG), opinion(target_named(scored, "made_up"), IGNORE)])
        store.add([opinion(gone, WRONG)])
    words = ("--gt", files["truth"], "--pred", files["model"], "--findings", tmp_path / "findings.sqlite")
    code, out, _ = run_command(capsys, "evaluate", "fields", *words, "--json")
    official, corrected = json.loads(out)
    assert (code, official["fields"]["missed"]["num_gt"], corrected["verdicts_applied"]) == (0, 1, 2)
    assert not {"missed", "made_up"} & corrected["fields"].keys()
    assert "corrected, 2 verdicts applied" in corrected["signature"]
    assert "corrected" not in official["signature"]
    assert corrected["issues"][-1]["found"] == "changed or gone, or of a model that is not open"
    assert "model.jsonl (corrected)" in run_command(capsys, "evaluate", "fields", *words)[1]
