"""Suspected ground truth: every kind of error is found first, and in words; and the plan of a review."""

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from evaluator.analysis.suspects import review_plan
from evaluator.analysis.suspects.noise_model import jitter, neighbourhood, rates
from evaluator.analysis.suspects.pairing import NOBODY, Columns, covered_by_others, partners, without_repeats
from evaluator.analysis.suspects.ranking import BORDER, KINDS, LABEL, rank
from evaluator.analysis.suspects.review_plan import Counts
from evaluator.data.boxes import iou
from evaluator.metrics.resampling import student_expansion
from evaluator.pdf.folder import PdfFolder
from evaluator.pdf.pool import PagePool
from evaluator.protocols import PROTOCOLS
from tests.benchmarks import bench_suspects as bench
from tests.building import Box, box, write_file
from tests.planting import found_errors, listed_suspects, write_spoilt
from tests.sample_part import sample_dataset
from tests.terminal import run_command

SAMPLE = Path(__file__).resolve().parents[2] / "sample_data"
SIDES = ("--gt", SAMPLE / "ground_truth.json", "--pred", SAMPLE / "lines.json", "--pred", SAMPLE / "blocks.json")
KEYS = ["document", "page", "label", "bbox", "kind", "score", "reason", "proposal", "unit", "bbox_format"]
PAGES = 120


def columns(*boxes: tuple[int, int, float, float, float, float, float]) -> Columns:
    table = np.array(boxes, dtype=np.float64).reshape(-1, 7)
    return Columns(table[:, 0].astype(np.int64), table[:, 1].astype(np.int64), table[:, 2:6], table[:, 6])


NOTHING = columns()


@pytest.fixture(scope="module")
def models() -> tuple[Columns, list[Columns], int]:
    truth, labels = bench.true_boxes("dense", PAGES)
    laws = bench.LAWS["dense"]
    both = [bench.model_of(truth, laws, PAGES, labels, np.random.default_rng(seed)) for seed in (1, 2)]
    return truth, both, labels


@pytest.mark.parametrize("kind", bench.PLANTS)
@pytest.mark.parametrize(("count", "least"), [(2, 0.85), (1, 0.5)])
def test_planted_errors_come_first(
    models: tuple[Columns, list[Columns], int], kind: str, count: int, least: float
) -> None:
    truth, both, labels = models
    errors = bench.planted(truth, bench.PLANTS[kind], labels, np.random.default_rng(5))
    ranked = rank(errors.truth, both[:count], labels=labels)
    assert bench.of_boxes(ranked, errors) > least
    assert (np.diff(ranked.score) <= 0.0).all()
    assert ((ranked.score >= 0.01) & (ranked.score <= 1.0)).all()
    if kind != "mixed" and count == 2:
        # Nearly all that is listed with certainty is of the kind that was planted.
        assert (ranked.kind[ranked.score > 0.9] == KINDS.index(kind)).mean() > 0.9


def test_scores_are_probabilities(models: tuple[Columns, list[Columns], int]) -> None:
    truth, both, labels = models
    errors = bench.planted(truth, KINDS, labels, np.random.default_rng(5))
    ranked = rank(errors.truth, both, labels=labels)
    assert ranked.score.sum() == pytest.approx(bench.SHARE * len(truth.page), rel=0.25)


def test_a_proposal_is_the_true_box(models: tuple[Columns, list[Columns], int]) -> None:
    truth, both, labels = models
    errors = bench.planted(truth, ("border",), labels, np.random.default_rng(5))
    ranked = rank(errors.truth, both, labels=labels)
    sure = np.flatnonzero((ranked.kind == BORDER) & (ranked.score > 0.9))
    # The truth is in the order of its pages, and no box was added or taken away.
    order = np.argsort(truth.page, kind="stable")
    right = truth.xyxy[order][ranked.truth[sure]]
    assert (iou(ranked.new_xyxy[sure], right) > iou(ranked.xyxy[sure], right)).mean() > 0.95
    errors = bench.planted(truth, ("label",), labels, np.random.default_rng(5))
    ranked = rank(errors.truth, both, labels=labels)
    sure = np.flatnonzero((ranked.kind == LABEL) & (ranked.score > 0.9))
    assert (ranked.new_label[sure] == truth.label[order][ranked.truth[sure]]).mean() > 0.95


def test_the_order_of_the_boxes_does_not_matter(models: tuple[Columns, list[Columns], int]) -> None:
    truth, both, labels = models
    errors = bench.planted(truth, KINDS, labels, np.random.default_rng(5)).truth
    mixed = np.random.default_rng(1).permutation(len(errors.page))
    ranked, again = (rank(side, both, labels=labels) for side in (errors, errors.take(mixed)))
    # Samples for scales are taken by row, so that the last digits may differ.
    first, second = ranked.score > 0.5, again.score > 0.5
    assert first.sum() == pytest.approx(second.sum(), abs=3)
    same = set(ranked.truth[first].tolist()) & set(mixed[again.truth[second]].tolist())
    assert len(same) >= 0.9 * len(set(ranked.truth[first].tolist()))


def test_nothing_is_suspected_where_nothing_is() -> None:
    for truth, both in ((NOTHING, [NOTHING]), (NOTHING, [NOTHING, NOTHING])):
        ranked = rank(truth, both, labels=3)
        assert len(ranked) == 0
        assert ranked.prediction.shape == (0, len(both))
    one = columns((0, 0, 0.1, 0.1, 0.5, 0.2, np.nan))
    for both in ([NOTHING], [one, NOTHING], [NOTHING, one], [one, one]):
        assert np.isfinite(rank(one, both, labels=1).score).all()
    assert np.isfinite(rank(NOTHING, [one, NOTHING], labels=1).score).all()
    with pytest.raises(ValueError, match="suspects need one or two models; found 0"):
        rank(one, [], labels=1)


def test_a_model_says_nothing_about_pages_that_it_does_not_cover(models: tuple[Columns, list[Columns], int]) -> None:
    truth, both, labels = models
    covers = np.arange(PAGES) < PAGES // 2
    ranked = rank(truth, both, labels=labels, looked=[covers, covers])
    assert len(ranked)
    assert (ranked.page < PAGES // 2).all()


def test_partners_prefer_one_label_and_a_box_is_repeated_only_on_its_own_page() -> None:
    truth = columns((0, 0, 0.1, 0.1, 0.5, 0.2, np.nan), (1, 0, 0.1, 0.1, 0.5, 0.2, np.nan))
    model = columns((0, 1, 0.1, 0.1, 0.5, 0.2, 0.9), (0, 0, 0.1, 0.1, 0.48, 0.2, 0.8), (1, 1, 0.1, 0.1, 0.5, 0.18, 0.7))
    assert partners(truth, model, iou_floor=0.2).tolist() == [1, 2]
    assert partners(truth, NOTHING, iou_floor=0.2).tolist() == [NOBODY, NOBODY]
    assert covered_by_others(columns((0, 0, 0.1, 0.1, 0.3, 0.2, np.nan)), truth).tolist() == [1.0]
    assert covered_by_others(truth, truth, themselves=True).tolist() == [0.0, 0.0]
    boxes = columns(
        (0, 0, 0.1, 0.1, 0.5, 0.5, 0.4), (3, 0, 0.1, 0.1, 0.5, 0.5, 0.9), (0, 1, 0.1, 0.1, 0.5, 0.52, 0.8),
        (2, 0, 0.1, 0.1, 0.5, 0.5, 0.1), (2, 0, 0.6, 0.6, 0.9, 0.9, 0.1),
    )  # fmt: skip
    assert without_repeats(boxes).tolist() == [False, True, True, True, True]
    assert without_repeats(NOTHING).tolist() == []


def test_rates_fall_and_are_never_certain() -> None:
    bins = np.repeat([0, 1, 2], 50)
    happened = np.concatenate([np.ones(5), np.zeros(45), np.ones(20), np.zeros(30), np.zeros(50)])
    learnt = rates(bins, happened, np.ones(150), base=np.zeros(3), falling=True)
    assert (np.diff(learnt) <= 0.0).all()
    assert learnt[0] == pytest.approx(0.25, abs=0.01)
    assert 0.0 < learnt[2] < 0.02


def test_the_scale_of_a_side_is_not_moved_by_a_few_wrong_boxes() -> None:
    rng = np.random.default_rng(0)
    truth = np.tile([0.1, 0.1, 0.5, 0.3], (1000, 1))
    size = np.array([0.4, 0.2, 0.4, 0.2])
    predicted = truth + rng.normal(0.0, 0.05, truth.shape) * size
    predicted[:50] += 0.1
    everyone = np.ones(1000, dtype=bool)
    scales = jitter(
        truth, predicted, np.zeros(1000, np.int64), np.ones((1000, 2)), labels=1, paired=everyone, wanted=everyone
    )
    assert np.median(scales.scale.T / size, axis=0) == pytest.approx(0.05, rel=0.2)


def run(capsys: pytest.CaptureFixture[str], *words: object) -> tuple[int, str, str]:
    return run_command(capsys, "suspects", *words)


def listed(capsys: pytest.CaptureFixture[str], *words: object) -> list[dict[str, Any]]:
    code, out, _ = run(capsys, *words, "--json")
    assert code == 0
    values: list[dict[str, Any]] = json.loads(out)
    return values


@pytest.fixture(scope="module")
def spoilt(tmp_path_factory: pytest.TempPathFactory) -> tuple[Any, ...]:
    return ("--gt", write_spoilt(tmp_path_factory.mktemp("spoilt"), sample_dataset()), *SIDES[2:])


def test_json_has_the_keys_of_the_contract(spoilt: tuple[Any, ...], capsys: pytest.CaptureFixture[str]) -> None:
    values = listed(capsys, "snapshot", *spoilt)
    truth = {
        (entry["doc_id"], entry["page_index"], shown["label"], tuple(shown["bbox"]))
        for entry in json.loads(spoilt[1].read_text(encoding="utf-8"))["predictions"]
        for shown in entry["objects"]
    }
    scores = [value["score"] for value in values]
    assert scores == sorted(scores, reverse=True) != []
    for value in values:
        assert (list(value), list(value["proposal"])) == (KEYS, ["action", "label", "bbox"])
        assert value["kind"] in KINDS
        assert value["reason"].endswith(".")
        place = value["document"], value["page"], value["label"], tuple(value["bbox"])
        assert (place in truth) == (value["kind"] != "missing")
        assert (value["proposal"]["bbox"] is None) == (value["kind"] == "extra")


def test_each_kind_in_words(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rng = np.random.default_rng(2)
    rows = [(page, row) for page in range(40) for row in range(4)]

    def side(spread: float, planted: dict[tuple[int, int], dict[str, Any] | None]) -> list[Box]:
        boxes = []
        for page, row in rows:
            change = planted.get((page, row), {})
            if change is None:
                continue
            top = 0.05 + 0.2 * row
            corners = np.array([0.1, top, 0.8, top + 0.1]) + rng.normal(0.0, spread, 4) + change.get("by", 0.0)
            boxes.append(box(*corners.tolist(), page=page, label=change.get("label", "Table"), score=0.9))
        return boxes

    truth = side(0.0, {(3, 0): None, (9, 1): {"label": "Figure"}, (15, 2): {"by": np.array([0, 0, 0, 0.06])}})
    last = next(place for place, shown in enumerate(truth) if shown.page > 20)
    truth.insert(last, box(0.1, 0.9, 0.3, 0.98, page=20, label="Table"))
    gt = write_file(tmp_path / "gt.json", truth, side="ground_truth")
    preds = [write_file(tmp_path / f"{name}.json", side(0.003, {})) for name in "ab"]
    values = listed(capsys, "snapshot", "--gt", gt, "--pred", preds[0], "--pred", preds[1])
    by_kind = {value["kind"]: value for value in values[:4]}
    assert set(by_kind) == set(KINDS)
    assert by_kind["missing"]["page"] == 3
    assert "A (0.90) and B (0.90) both find a Table" in by_kind["missing"]["reason"]
    assert by_kind["missing"]["proposal"]["action"] == "add"
    assert by_kind["extra"]["page"] == 20
    assert by_kind["extra"]["reason"] == "Neither A nor B finds a Table here."
    assert by_kind["extra"]["proposal"] == {"action": "remove", "label": None, "bbox": None}
    assert by_kind["label"]["reason"] == "A (0.90) and B (0.90) both say Table."
    assert by_kind["label"]["proposal"]["label"] == "Table"
    assert "both place the bottom edge" in by_kind["border"]["reason"]
    assert "higher" in by_kind["border"]["reason"]
    assert by_kind["border"]["proposal"]["bbox"][3] == pytest.approx(0.55, abs=0.02)


def test_a_side_is_where_the_models_put_it_however_far(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Beyond what weighs as evidence."""
    rng = np.random.default_rng(3)
    places = [(page, row) for page in range(40) for row in range(4)]
    corners = {(page, row): np.array([0.1, 0.05 + 0.2 * row, 0.8, 0.15 + 0.2 * row]) for page, row in places}
    made = [box(*(corners[at] + rng.normal(0.0, 0.0005, 4)).tolist(), page=at[0], score=0.9) for at in places]
    corners[7, 1] = corners[7, 1] - [0, 0, 0.45, 0]
    truth = [box(*corners[at].tolist(), page=at[0]) for at in places]
    gt = write_file(tmp_path / "gt.json", truth, side="ground_truth")
    one, nothing = write_file(tmp_path / "a.json", made), write_file(tmp_path / "b.json", [], pages=[("a.pdf", 0)])
    values = listed(capsys, "snapshot", "--gt", gt, "--pred", one)
    first = next(value for value in values if value["kind"] == "border")
    said = r"The model \(0\.90\) places the right edge 45\.\d % of the page further right, (\d+) times .*"
    told = re.fullmatch(said, first["reason"])
    assert told is not None, first["reason"]
    assert int(told[1]) > 100
    assert (first["page"], first["proposal"]["bbox"][2]) == (7, pytest.approx(0.8, abs=0.003))
    # Where a second model is open, the word of one is not enough.
    values = listed(capsys, "snapshot", "--gt", gt, "--pred", one, "--pred", nothing)
    assert [value for value in values if value["kind"] == "border"] == []


def test_a_box_that_models_have_in_another_one_is_not_called_extra(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    truth = [box(0.1, 0.1, 0.5, 0.3, page=page) for page in range(30)]
    alone = [each._replace(score=0.9) for each in truth]
    truth[13:13] = [box(0.1, 0.5, 0.5, 0.6, page=12), box(0.1, 0.6, 0.5, 0.69, page=12)]
    as_one = [*alone[:13], box(0.1, 0.5, 0.5, 0.69, page=12, score=0.9), *alone[13:]]
    gt = write_file(tmp_path / "gt.json", truth, side="ground_truth")
    one, none = write_file(tmp_path / "a.json", as_one), write_file(tmp_path / "b.json", alone)

    def reasons(*models: Path) -> list[str]:
        preds = [word for pred in models for word in ("--pred", pred)]
        values = listed(capsys, "snapshot", "--gt", gt, *preds, "--least", 0)
        return [str(each["reason"]) for each in values if each["kind"] == "extra" and each["bbox"][1] == 0.6]

    assert reasons(one, one) == reasons(one, none) == []
    assert reasons(none, none) == ["Neither A nor B finds a Figure here."]
    # A box over five others is of the page, such as a scan that is one figure.
    few = [box(0.1, y, 0.5, y + 0.02, page=12) for y in (0.75, 0.8, 0.85)]
    gt = write_file(tmp_path / "gt.json", [*truth[:15], *few, *truth[15:]], side="ground_truth")
    assert reasons(one, one) == []
    scan = [each._replace(score=0.9) for each in few]
    scan = [*as_one[:13], box(0.05, 0.45, 0.95, 0.95, page=12, score=0.9), *scan, *as_one[14:]]
    one = write_file(tmp_path / "a.json", scan)
    assert reasons(one, one) == ["Neither A nor B finds a Figure here."]


def test_borders_that_are_moved_alike_are_a_habit_and_one_that_is_moved_further_is_an_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rng = np.random.default_rng(4)

    def side(spread: float, moved: dict[int, float]) -> list[Box]:
        edges = [rng.normal(0.0, spread, 4) + np.array([0.1, 0.1, 0.5 - moved.get(at, 0.0), 0.3]) for at in range(40)]
        return [box(*corners.tolist(), page=at, score=0.9) for at, corners in enumerate(edges)]

    def moved(*by: float) -> list[int]:
        truth = [each._replace(score=None) for each in side(0.0, dict(enumerate(by)))]
        gt = write_file(tmp_path / "gt.json", truth, side="ground_truth")
        values = listed(capsys, "snapshot", "--gt", gt, *preds, "--least", 0.3)
        return sorted(each["page"] for each in values if each["kind"] == "border")

    preds = [each for name in "ab" for each in ("--pred", write_file(tmp_path / f"{name}.json", side(0.002, {})))]
    assert moved(0.08, 0.09) == [0, 1]
    assert moved(0.08, 0.09, 0.1) == []
    assert moved(0.08, 0.09, 0.1, 0.25) == [3]
    assert moved(0.08, 0.09, -0.1) == [0, 1, 2]


def test_the_page_counts_as_evidence(spoilt: tuple[Any, ...], capsys: pytest.CaptureFixture[str]) -> None:
    without = listed(capsys, "snapshot", *spoilt)
    with_pages = listed(capsys, "snapshot", *spoilt, "--pdfs", SAMPLE / "pdf")
    scores = [value["score"] for value in with_pages]
    assert scores == sorted(scores, reverse=True)
    reasons = " ".join(value["reason"] for value in with_pages)
    assert "no ink in it" in reasons
    assert "there that no ground truth box covers" in reasons
    # A folder without the documents changes nothing.
    assert listed(capsys, "snapshot", *spoilt, "--pdfs", SAMPLE / "fields") == without


def test_the_table_and_bad_usage(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "snapshot", *SIDES)
    assert code == 0
    assert "Suspected ground truth" in out
    for words, sentence in (
        (("pixel", *SIDES, "--plan", "0.03"), "--plan needs a protocol that matches boxes: snapshot, pod, coco"),
        (("pixel", *SIDES, "--classes", "different"), "boxes cannot be compared; bring names together"),
        (("snapshot", *SIDES, "--pred", SAMPLE / "blocks.json"), "give --pred once or twice; found 3"),
        (("snapshot", *SIDES, "--json", "--markdown"), "choose one of --json and --markdown"),
        (("snapshot", *SIDES, "--labels", "Nonsense"), "labels not in the label map: Nonsense"),
        (("snapshot", *SIDES, "--plan", "3"), "the margin must be between 0 and 1; found 3"),
    ):
        code, _, err = run(capsys, *words)
        assert code == 2
        assert sentence in err


@pytest.mark.parametrize("protocol", sorted(PROTOCOLS))
def test_every_protocol_of_boxes_has_suspects(capsys: pytest.CaptureFixture[str], protocol: str) -> None:
    able = [name for name, system in PROTOCOLS.items() if system.kind == "boxes" and not system.reads_items]
    if protocol in able:
        # The boxes are weighed, not matched: the list is that of every other protocol.
        assert listed(capsys, protocol, *SIDES) == listed(capsys, "snapshot", *SIDES)
        return
    code, out, err = run(capsys, protocol, *SIDES)
    assert (code, out) == (2, "")
    needed = ", ".join(able)
    assert err == f"error: suspects needs a protocol of boxes on pages: {needed}; found {protocol}.\n"


def test_labels_and_scores_are_chosen_in_pixel_too(capsys: pytest.CaptureFixture[str]) -> None:
    chosen = (*SIDES, "--labels", "Table,Figure", "--min-score", "0.5")
    values = listed(capsys, "pixel", *chosen)
    assert values == listed(capsys, "snapshot", *chosen)
    assert {value["label"] for value in values} <= {"Table", "Figure"}


def test_a_plan_names_pages_and_how_many(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "snapshot", *SIDES, "--plan", "0.03", "--json")
    assert code == 0
    value = json.loads(out)
    assert list(value) == ["margin", "level", "pages", "of", "models", "queue"]
    assert len(value["queue"]) == value["pages"] <= value["of"] == 36
    assert len({(page["document"], page["page"]) for page in value["queue"]}) == value["pages"]


def test_a_review_of_all_pages_is_exact() -> None:
    rng = np.random.default_rng(3)
    boxes, matched = np.full(30, 5), np.full(30, 4)
    planned = review_plan.plan(boxes, matched, rng.random(30), margin=0.0001)
    assert sorted(planned.order.tolist()) == list(range(30))
    assert planned.pages == 30
    right = {page: Counts(6, 5) if page < 3 else Counts(5, 4) for page in range(30)}
    bound = review_plan.bound(planned, right)
    assert bound.recall == pytest.approx((27 * 4 + 15) / (27 * 5 + 18))
    assert (bound.half, bound.more, bound.done) == (0.0, 0, True)


def test_no_bound_before_enough_pages_and_none_from_pages_that_were_not_drawn() -> None:
    boxes, matched = np.full(500, 2), np.full(500, 1)
    planned = review_plan.plan(boxes, matched, np.zeros(500), margin=0.03)
    assert planned.official == 0.5
    assert review_plan.bound(planned, {}).recall is None
    assert review_plan.bound(planned, {int(planned.order[-1]): Counts(2, 2)}).reviewed == 0
    few = {int(page): Counts(2, 1) for page in planned.order[: review_plan.LEAST_PAGES]}
    bound = review_plan.bound(planned, few)
    assert bound.recall == 0.5
    assert bound.half is not None
    assert bound.half > 0.0
    empty = review_plan.plan(boxes[:0], matched[:0], np.zeros(0), margin=0.03)
    assert (empty.pages, empty.official, review_plan.bound(empty, {}).recall) == (0, None, None)


def test_the_estimate_is_the_seen_rate_of_changes_times_what_the_other_pages_promise() -> None:
    # One stratum holds everything that matters: 400 equal pages, 40 of them reviewed, 8 lost a matched box.
    boxes, matched = np.full(400, 5), np.full(400, 5)
    planned = review_plan.plan(boxes, matched, np.full(400, 0.2), margin=0.001)
    promise = 0.2 + max(review_plan.UNSUSPECTED, 0.1 * 80 / 2000) * 5.04
    assert planned.promise == pytest.approx(promise)
    rows = planned.order[:40].tolist()
    right = {row: Counts(5, 4 if place % 5 == 0 else 5) for place, row in enumerate(rows)}
    by_hand, reviewed = 2000.0 - 8.0, np.array([planned.stratum[row] for row in rows])
    lost = np.array([float(place % 5 == 0) for place in range(40)])
    rate_of_all = 8.0 / (40 * promise + 0.5)
    for stratum in range(review_plan.STRATA):
        here = reviewed == stratum
        rate = (lost[here].sum() + 0.25 * rate_of_all) / (here.sum() * promise + 0.25)
        by_hand -= rate * promise * ((planned.stratum == stratum).sum() - here.sum())
    bound = review_plan.bound(planned, right)
    assert bound.recall == pytest.approx(by_hand / 2000.0)
    assert bound.half is not None
    # That of a binomial share of 8 in 40 with 9 of 10 pages left; wider because each stratum has a rate of its own.
    binomial = 1.96 * (0.2 * 0.8 / 40 * 0.9) ** 0.5 / 5.0
    assert binomial < bound.half < 1.6 * binomial


@pytest.mark.parametrize(("margin", "kind"), [(0.01, (200, 13.7, 0.03, 0.7)), (0.03, (300, 0.4, 0.05, 0.8))])
def test_the_interval_at_the_end_of_a_review_holds_the_recall(
    margin: float, kind: tuple[int, float, float, float]
) -> None:
    rng = np.random.default_rng(11)
    pages, per_page, wrong, recall = kind
    runs = [
        bench.simulated(rng, pages=pages, per_page=per_page, wrong=wrong, recall=recall, margin=margin)
        for _ in range(400)
    ]
    # Three standard errors of 400 runs around 93 to 97 %.
    assert 0.893 <= np.mean([run.held for run in runs]) <= 0.996


def test_the_quantile_is_that_of_student() -> None:
    for freedom, quantile in ((6, 2.4469), (10, 2.2281), (30, 2.0423)):
        assert student_expansion(review_plan.LEVEL, freedom) == pytest.approx(quantile, abs=0.002)


def test_a_narrower_bound_needs_more_pages() -> None:
    boxes, matched = np.full(2000, 2), np.full(2000, 1)
    expected = np.random.default_rng(0).gamma(0.3, 0.3, 2000)
    pages = [review_plan.plan(boxes, matched, expected, margin=margin).pages for margin in (0.03, 0.02, 0.01)]
    assert pages == sorted(pages)
    assert pages[0] < pages[2] < 2000


def test_a_label_that_its_neighbours_contradict() -> None:
    # Figure, Caption, Text on each page; on the last one the caption is called Text.
    pages = 200
    page = np.repeat(np.arange(pages), 3)
    label = np.tile([0, 1, 2], pages)
    label[-2] = 2
    top = np.tile([0.1, 0.5, 0.7], pages)
    density = neighbourhood(page, top, label, 3)
    assert density.shape == (3 * pages, 3)
    assert density[-2].argmax() == 1
    assert (density[:-3].argmax(axis=1) == label[:-3]).all()
    shuffled = np.random.default_rng(1).permutation(3 * pages)
    assert neighbourhood(page[shuffled], top[shuffled], label[shuffled], 3) == pytest.approx(density[shuffled])
    assert neighbourhood(page[:0], top[:0], label[:0], 3).shape == (0, 3)


@pytest.mark.parametrize("with_pages", [False, True], ids=["boxes", "pdfs"])
def test_errors_planted_in_the_sample_are_listed_and_nothing_else(with_pages: bool) -> None:
    """The sample's ground truth is drawn by its own layout: without planted errors the list is empty."""
    with PagePool() as pool:
        pdfs = (PdfFolder(SAMPLE / "pdf"), pool) if with_pages else None
        shown = len(listed_suspects(sample_dataset(), pdfs))
        seen = [found_errors(sample_dataset(), seed, pdfs) for seed in range(2)]
    assert shown == 0
    assert sum(each.right for each in seen) >= 0.95 * sum(each.listed for each in seen)
    assert sum(sum(each.kinds.values()) for each in seen) >= 0.55 * sum(each.planted for each in seen)
