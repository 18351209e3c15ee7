"""Any number of models: ranks, intervals that hold together, results of earlier runs, and the view Models."""

import json
import re
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from evaluator.charts.models import Placed, over_runs
from evaluator.compare.models import (
    ModelEntry,
    Standings,
    difference_text,
    model_entry,
    order_of_runs,
    rank_text,
    standings,
)
from evaluator.compare.stored_results import comparable_part, read_results, stored_values
from evaluator.data.dataset import Run
from evaluator.matching.box_results import ALL_LABELS
from evaluator.metrics import export
from evaluator.metrics.measures import Key, Measures, Ratios
from evaluator.metrics.resampling import interval, widen_interval
from evaluator.metrics.results import ratio
from evaluator.project import evaluate, evaluate_together
from evaluator.protocols import PROTOCOLS
from pages.app.state import State
from tests import dashboard
from tests.building import box, write_file
from tests.charting import specification
from tests.dashboard import SAMPLE_DATA, start
from tests.reading import refusal_issues
from tests.terminal import run_command

MODELS = "pages/models.py"
F1 = Key("f1", ALL_LABELS)
TRUTH, PREDICTIONS = SAMPLE_DATA / "ground_truth.json", [SAMPLE_DATA / f"{name}.json" for name in ("lines", "blocks")]


def model_of(name: str, hits: Sequence[float], **more: Any) -> ModelEntry:
    hit, whole = np.array(hits, dtype=np.float64), np.full(len(hits), 100.0)
    part = Ratios((F1,), ratio(hit.sum(keepdims=True), whole.sum(keepdims=True)), hit[:, None], whole[:, None])
    return ModelEntry(name, Measures(tuple(f"d{row:03}" for row in range(len(hits))), ALL_LABELS, (part,)), **more)


def made(name: str, share: float, documents: int = 40, *, noise: int = 0, **more: Any) -> ModelEntry:
    off = np.random.default_rng(noise).normal(0, 4 if noise else 0, documents)
    return model_of(name, np.clip(np.round(100 * share + off), 0, 100).tolist(), **more)


WITHOUT_F1 = ModelEntry("other", Measures(("d000",), ALL_LABELS, ()))


def by_f1(*models: ModelEntry) -> Standings:
    return standings(models, F1, resamples=500)


def test_best_first_with_the_ranks_that_the_documents_allow() -> None:
    difference = by_f1(made("low", 0.5, noise=1), made("b", 0.8, noise=2), made("a", 0.805, noise=3))
    assert [model.name for model in difference.models][2] == "low"
    assert difference.ranks == ((1, 2), (1, 2), (3, 3))
    assert difference.groups == ((0, 1),)
    assert difference.sentence[0].startswith("Two models cannot be told apart at the top: ")
    assert difference.sentence[1] == "Both are clearly above low."
    assert [rank_text(rank) for rank in difference.ranks if rank] == ["1–2", "1–2", "3"]


def test_one_model_may_be_clearly_the_best() -> None:
    difference = by_f1(made("a", 0.5, noise=1), made("b", 0.8, noise=2), made("c", 0.6, noise=3))
    assert difference.sentence == ("b is clearly better than all 2 others.", "")
    assert difference.groups == ()
    two = by_f1(made("a", 0.5, noise=1), made("b", 0.8, noise=2))
    assert two.sentence[0] == "b is clearly better than the other one."


def test_equal_models_are_never_told_apart() -> None:
    difference = by_f1(*(made(name, 0.7, noise=5) for name in "abc"))
    assert difference.sentence == ("The three models cannot be told apart on these documents.", "")
    assert difference.pair(0, 1) == (0.0, 0.0, 0.0, False)
    assert difference_text(difference.pair(0, 1)) == "0.0"


def test_few_documents_have_no_ranks() -> None:
    difference = by_f1(made("a", 0.5, 4, noise=1), made("b", 0.8, 4, noise=2))
    assert difference.ranks == (None, None)
    assert difference.groups == ()
    assert "4 documents are too few" in difference.sentence[1]
    assert difference.to_json()["models"][0]["low"] is None
    pair = difference.pair(0, 1)
    assert (pair.low, pair.high, pair.clear) == (None, None, False)
    assert "★" not in difference_text(pair)


def test_pairs_are_the_negative_of_each_other_and_wider_than_alone() -> None:
    difference = by_f1(*(made(f"m{seed}", 0.6 + 0.01 * seed, noise=seed + 1) for seed in range(6)))
    np.testing.assert_array_equal(difference.difference, -difference.difference.T)
    np.testing.assert_array_equal(difference.pair_low, -difference.pair_high.T)
    pair = by_f1(difference.models[0], difference.models[1])
    assert difference.pair_high[0, 1] - difference.pair_low[0, 1] > pair.pair_high[0, 1] - pair.pair_low[0, 1]
    assert (difference.pair_low[np.triu_indices(6, 1)] < difference.difference[np.triu_indices(6, 1)]).all()


def test_intervals_hold_together_about_as_often_as_they_say() -> None:
    # Six equal models: a clear pair among the fifteen is an error, which should happen in about one of twenty corpora.
    wrong = 0
    for corpus in range(60):
        models = [made(f"m{seed}", 0.7, noise=1000 * corpus + seed + 1) for seed in range(6)]
        wrong += bool(standings(models, F1, resamples=200).clear.any())
    assert wrong <= 10


def test_the_interval_of_one_model_is_the_widened_percentile_interval() -> None:
    one = made("a", 0.6, noise=1)
    standing = standings([one], F1, seed=3, resamples=400)
    drawn = np.random.default_rng(3).integers(0, 40, (400, 40))
    values = one.measures.parts[0].per_document[:, 0][drawn].mean(axis=1)
    wanted = widen_interval(interval(values[:, None]), np.array([standing.values[0]]), np.array([40]))
    assert (standing.low[0], standing.high[0]) == pytest.approx((wanted.low[0], wanted.high[0]))


def test_no_interval_is_beyond_what_is_possible() -> None:
    compared = by_f1(model_of("a", [0.0] * 7 + [24.0]), model_of("b", [100.0] * 7 + [76.0]))
    assert compared.values.tolist() == [0.97, 0.03]
    assert (compared.high.max(), compared.low.min()) == (1.0, 0.0)
    assert (np.nanmin(compared.pair_low), np.nanmax(compared.pair_high)) == (-1.0, 1.0)


def test_a_model_without_the_measure_has_no_rank() -> None:
    difference = by_f1(made("a", 0.5, noise=1), WITHOUT_F1, made("b", 0.8, noise=2))
    assert [model.name for model in difference.models] == ["b", "a", "other"]
    assert difference.ranks == ((1, 1), (2, 2), None)
    assert difference.pair(0, 2) == (None, None, None, False)
    assert difference_text(difference.pair(0, 2)) == "–"


def test_nothing_to_rank() -> None:
    alone = made("a", 0.5)
    assert by_f1().sentence == ("No models have F1 here.", "")
    assert by_f1(alone).sentence == ("a has F1 0.500.", "Open another model to compare them.")
    assert by_f1(alone, WITHOUT_F1).sentence == ("One model has F1 here.", "")


@pytest.mark.parametrize(("text", "day"), [("2025-01-15T00:00:00Z", "2025-01-15"), ("15.1.2025", None), (None, None)])
def test_the_day_of_a_run(text: str | None, day: str | None) -> None:
    model = made("a", 0.5, run=Run("r", text))
    assert (model.date, model.run_text) == (day, day or "r")


@cache
def written(protocol: str = "snapshot", **options: Any) -> bytes:
    evaluated = evaluate(protocol, TRUTH, PREDICTIONS[:1], **options)
    values = [{**one.to_json(), **stored_values(one.result)} for one in evaluated]
    return export.to_json(values[0]).encode()


def test_an_earlier_result_stands_as_the_model_with_its_boxes() -> None:
    (earlier,) = read_results(written(), "result.json")
    result = evaluate_together("snapshot", TRUTH, PREDICTIONS)[0].result
    signature = result.matching.signature(0.5).line
    truth = result.evaluated.ground_truth.source.sha256
    fits = {"protocol": "snapshot", "signature": signature, "truth_sha256": truth, "iou": 0.5}
    assert earlier.against(**fits) == ""  # type: ignore[arg-type]
    open_, kept = model_entry("open", result.first), earlier.model_entry(0.5)
    assert (kept.boxes, kept.date, kept.name) == (False, "2025-01-15", "lines 1.0")
    assert (kept.mistakes, kept.pages) == (None, open_.pages)
    assert open_.mistakes == int(result.first.mistakes.corrections.sum())
    for metric in ("f1", "precision", "recall"):
        standing = standings([open_, kept], Key(metric, ALL_LABELS), resamples=200)
        assert standing.values[0] == standing.values[1]
        assert standing.low[0] == standing.low[1]
        assert standing.pair(0, 1).difference == 0.0


@pytest.mark.parametrize(
    ("protocol", "metrics"), [("coco", ("AP", "AP50", "AP75", "AR100")), ("pod", ("map", "mean_f1"))]
)
def test_an_earlier_result_keeps_what_its_protocol_is_known_by(protocol: str, metrics: tuple[str, ...]) -> None:
    (earlier,) = read_results(written(protocol), "result.json")
    results = [one.result for one in evaluate_together(protocol, TRUTH, PREDICTIONS)]
    system = PROTOCOLS[protocol]
    named = zip(("lines", "blocks"), results, strict=True)
    first, second = (model_entry(name, one.first, system.measures(one)) for name, one in named)
    # No threshold of the file: its numbers over all thresholds are there all the same.
    kept = earlier.model_entry(0.123, "earlier")
    for metric in metrics:
        standing = standings([first, kept, second], Key(metric, ALL_LABELS), resamples=200)
        at = {model.name: place for place, model in enumerate(standing.models)}
        open_, stored, other = (at[name] for name in ("lines", "earlier", "blocks"))
        assert standing.values[open_] == pytest.approx(standing.values[stored], abs=1e-15)
        for ends in (standing.low, standing.high):
            assert ends[open_] == pytest.approx(ends[stored], abs=1e-12)
        assert standing.pair(open_, stored).difference == pytest.approx(0.0, abs=1e-15)
        assert standing.pair(open_, other)[:3] == pytest.approx(standing.pair(stored, other)[:3], abs=1e-12)
    same = {"protocol": protocol, "signature": earlier.signature, "truth_sha256": earlier.truth_sha256, "iou": 0.123}
    assert earlier.against(**same, own=True) == ""  # type: ignore[arg-type]
    assert earlier.against(**same).startswith("measured at IoU ")  # type: ignore[arg-type]
    (some,) = read_results(written(protocol, min_score=0.5), "result.json")
    assert some.against(**same, own=True).startswith("measured of some predictions only")  # type: ignore[arg-type]
    assert not any(key.metric in metrics for key in some.model_entry(0.5).measures.keys)


def own_of(value: dict[str, Any]) -> Any:
    return value["by_document"]["own"][0]


def set_own(value: dict[str, Any], **change: Any) -> None:
    own_of(value)["averages"]["rankings"][0].update(change)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda value: set_own(value, document="0 1"), "document and hit must have one length"),
        (lambda value: set_own(value, positives="1"), "positives one number for each document"),
        (lambda value: set_own(value, document="99"), "numbers of a column must be from 0 to 7"),
        (lambda value: set_own(value, hit="x"), "a column must be whole numbers with spaces between"),
        (lambda value: set_own(value, hit=f"{1 << 70}"), "a column must be whole numbers"),
        (lambda value: set_own(value, numbers=[0]), "numbers of a column must be from 0 to 1"),
        (lambda value: set_own(value, numbers=list(range(61))), "at most 60 rankings"),
        (lambda value: own_of(value).update(metrics=[]), "must have one length"),
        (lambda value: own_of(value)["members"].__setitem__(0, [-1]), "members must be below"),
        (lambda value: own_of(value).pop("averages"), "a mean must have averages or ratios"),
        (
            lambda value: own_of(value)["averages"].update(interpolation="no"),
            "must be one of 11-point",
        ),
        (lambda value: own_of(value)["averages"]["rankings"].pop(), "every average must have one"),
        (lambda value: value["by_document"]["own"][1]["ratios"]["numerator"].pop(), "every ratio must have one number"),
        (lambda value: own_of(value)["values"].__setitem__(0, 7), "values must be in [0, 1]"),
    ],
)
def test_rankings_that_do_not_fit_together_are_one_issue(
    change: Callable[[dict[str, Any]], None], sentence: str
) -> None:
    value = json.loads(written("coco"))
    change(value)
    (issue,) = refusal_issues(read_results, json.dumps(value).encode(), "result.json")
    assert (issue.place, issue.rule) == ("$.by_document.own", "rankings must fit together")
    assert sentence in issue.found


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"protocol": "coco"}, "measured under snapshot 1.3"),
        ({"truth_sha256": "0"}, "another ground truth"),
        ({"signature": "snapshot 1.3 · area ≥ 0.008 of the page"}, "another signature"),
        ({"iou": 0.6}, "measured at IoU 0.5, 0.75, not at 0.6"),
    ],
)
def test_what_was_measured_otherwise_is_kept_apart(change: dict[str, Any], why: str) -> None:
    content = written()
    (earlier,) = read_results(content, "result.json")
    plain = json.loads(content)
    same = {"protocol": "snapshot", "signature": plain["signature"], "truth_sha256": plain["ground_truth"]["sha256"]}
    assert earlier.against(**same, iou=0.5) == ""
    assert why in earlier.against(**{**same, "iou": 0.5, **change})
    del plain["by_document"]
    (old,) = read_results(json.dumps(plain).encode(), "result.json")
    assert "no counts by document" in old.against(**same, iou=0.5)


def test_thresholds_of_score_and_counts_do_not_tell_signatures_apart() -> None:
    line = "snapshot 1.3 · IoU ≥ 0.50 · score ≥ 0.{} · {} · {} documents, 36 pages · layoutscope 0.1.0"
    assert comparable_part(line.format(1, "area ≥ 0.008 of the page", 8)) == comparable_part(
        line.format(2, "area ≥ 0.008 of the page", 1)
    )
    assert comparable_part(line.format(1, "area ≥ 0.008 of the page", 8)) != comparable_part(line.format(1, "x", 8))
    strict = [
        comparable_part(line.format(score, "x", count), thresholds=True) for score, count in ((1, 8), (1, 9), (2, 8))
    ]
    assert strict[0] == strict[1] != strict[2]


@pytest.mark.parametrize(
    ("change", "rule"),
    [
        (lambda value: value.pop("signature"), "must be a result of layoutscope evaluate"),
        (lambda value: value["by_document"]["documents"].append("again"), "one count for each document"),
        (lambda value: value["by_document"]["thresholds"]["0.5"]["tp"].__setitem__(0, -1), "at least 0"),
        (lambda value: value["by_document"]["documents"].__setitem__(1, value["by_document"]["documents"][0]), "once"),
    ],
)
def test_a_file_that_is_no_result_has_issues(change: Any, rule: str) -> None:
    value = json.loads(written())
    change(value)
    assert any(rule in issue.rule for issue in refusal_issues(read_results, json.dumps(value).encode(), "result.json"))


@pytest.mark.parametrize("content", [b"", b"[]", b"{", b"\xff", b"[[[[", b'"text"'])
def test_anything_else_has_issues(content: bytes) -> None:
    assert refusal_issues(read_results, content, "result.json")


def test_compare_of_three_prints_the_standings(capsys: pytest.CaptureFixture[str]) -> None:
    models = [word for path in (*PREDICTIONS, PREDICTIONS[0]) for word in ("--pred", path)]
    command = ("compare", "snapshot", "--gt", TRUTH, "--resamples", "100", *models)
    assert "Models by F1, All labels." in run_command(capsys, *command)[1]
    standings = json.loads(run_command(capsys, *command, "--json")[1])["standings"]
    assert (standings["metric"], standings["models"][0]["model"], len(standings["pairs"])) == ("f1", "B", 3)
    assert standings["cannot_be_told_apart"] == [["B", "A", "C"]]


def test_the_view_shows_every_model() -> None:
    app = start(MODELS)
    assert dashboard.title(app) == "All models"
    words = dashboard.words(app)
    # As on Compare: at 8 documents the interval of the difference reaches over 0.
    assert "The two models cannot be told apart on these documents." in words
    results = [one.result for one in evaluate_together("snapshot", TRUTH, PREDICTIONS)]
    for result in results:
        row = result.first.micro.row(0)
        for name in ("f1", "precision", "recall"):
            assert f"{row[name]:.3f}" in words  # type: ignore[literal-required]
        corrected = int(result.first.mistakes.corrections.sum())
        assert f"{100 * corrected / result.evaluated.pages:,.1f}" in words
    table = app.dataframe[0].value
    assert list(table[""]) == ["B blocks 1.0", "A lines 1.0"]
    assert not table["0"][1].endswith("★")


@pytest.mark.parametrize(("x", "ends"), [(0.1, ["0.98", "1.00"]), (0.6, ["0.00", "0.02"])])
def test_an_axis_ends_at_ratios_that_can_be(tmp_path: Path, x: float, ends: list[str]) -> None:
    truth = write_file(tmp_path / "truth.json", [box(0.1, 0.1, 0.3, 0.3)], side="ground_truth")
    model = write_file(tmp_path / "model.json", [box(x, 0.1, x + 0.2, 0.3)])
    app = start(MODELS, files=dashboard.workspace(truth, [model]))
    table = next(body for body in dashboard.html_blocks(app) if "ls-models" in body)
    assert list(re.findall('class="ls-axis"><span>(.*?)</span><span>(.*?)</span>', table)[-1]) == ends


def test_another_measure_and_label() -> None:
    app = start(MODELS, rank_by="precision", label="Table")
    dashboard.fine(app.selectbox(key="rank_by").set_value("mean_iou").run())
    assert dict(app.query_params)["rank_by"] == "mean_iou"
    assert "Mean IoU" in dashboard.words(app)


def test_models_are_ranked_by_the_numbers_of_their_protocol() -> None:
    app = start(MODELS, protocol="coco", rank_by="AP", scores="0.6,0.6")
    words = dashboard.words(app)
    for one in evaluate_together("coco", TRUTH, PREDICTIONS):
        # All predictions count, whatever the minimum score.
        assert f"{one.result.numbers['AP']:.3f}" in words
    assert any(each.value.startswith("AP: of all predictions") for each in app.caption)
    # Another protocol has no such number, and the view goes on with F1.
    dashboard.fine(app.selectbox(key="protocol").set_value("snapshot").run())
    assert app.selectbox(key=dashboard.key_of(app, "rank_by")).value == "f1"


def test_under_a_label_its_boxes_alone_are_to_correct() -> None:
    app = start(MODELS, label="Table")
    words = dashboard.words(app)
    assert "Table: The two models cannot be told apart on these documents." in words
    for one in evaluate_together("snapshot", TRUTH, PREDICTIONS):
        result, pages = one.result.first, one.result.evaluated.pages
        mistakes, labels = result.mistakes, result.matching.dataset.labels
        # Mistake by mistake: the boxes of the larger side of each one of the label.
        of_table = sum(
            int(boxes)
            for boxes, code in zip(mistakes.corrections, mistakes.label, strict=True)
            if labels[code] == "Table"
        )
        assert 0 < of_table < mistakes.corrections.sum()
        assert f"{100 * of_table / pages:,.1f}" in words
        assert f"{100 * int(mistakes.corrections.sum()) / pages:,.1f}" not in words
        parts = [model_entry("", result, label=label).mistakes or 0 for label in labels]
        assert sum(parts) == model_entry("", result).mistakes
        assert model_entry("", result, label="no such label").mistakes == 0
        assert model_entry("", result, label=labels[0], mistakes=False).mistakes is None
    captions = [each.value for each in app.caption]
    assert any("To correct: boxes of mistakes of Table alone." in caption for caption in captions)


def test_a_cell_of_the_pairs_leads_to_compare() -> None:
    app = start(MODELS)
    # Rows and columns are best first: row A lines, column B blocks.
    app.session_state["rank_pair"] = (0, 1)
    dashboard.fine(app.run())
    assert any(word.startswith("A lines 1.0 against B blocks 1.0: F1 −9.9") for word in dashboard.words(app))
    dashboard.fine(next(each for each in app.button if each.label == "Open in Compare").click().run())
    assert dashboard.title(app) == "Compare"
    assert [app.session_state[dashboard.key_of(app, name)] for name in ("model_a", "model_b")] == [1, 0]


def test_earlier_results_in_the_view() -> None:
    app = start(MODELS)
    same, other = (read_results(written(**options), "r.json") for options in ({}, {"min_area": 0.001}))
    app.session_state["earlier"] = (*same, *other)
    dashboard.fine(app.run())
    words = dashboard.words(app)
    assert "Shown apart" in words
    assert any("measured under another signature" in word for word in words)
    assert "lines 1.0 (2)" in words
    assert len(app.dataframe[0].value) == 3


def test_an_earlier_result_is_ranked_by_average_precision_in_the_view() -> None:
    app = start(MODELS, protocol="coco", rank_by="AP", iou="0.62")
    app.session_state["earlier"] = read_results(written("coco"), "r.json")
    dashboard.fine(app.run())
    words = dashboard.words(app)
    assert "Shown apart" not in words
    assert "lines 1.0 (2)" in words
    pairs = app.dataframe[0].value
    assert pairs.shape[0] == 3
    assert "0.0" in pairs.to_numpy().ravel().tolist()


@pytest.mark.parametrize("dark", [False, True])
def test_a_line_over_dates_or_run_ids(dark: bool) -> None:
    placed = (("1.0", "A", "2025-01-15", 0.5, 0.4, 0.6), ("1.1", "", "2025-02-15", 0.6, None, None))
    dated = [Placed(f"a {version}", "a", *values) for version, *values in placed]
    assert specification(over_runs(dated, dated=True, title="F1", dark=dark))
    models = [Placed(f"a {place}", "a", "", f"run-{place}", 0.5, None, None) for place in (10, 9, 1)]
    drawn = specification(over_runs(models, dated=False, title="F1", dark=dark))
    assert drawn["layer"][0]["encoding"]["x"]["sort"] == ["run-1", "run-9", "run-10"]


@pytest.mark.parametrize(
    ("runs", "by", "places"),
    [
        ([("a", "r1", "2026-01-02"), ("a", "r2", "2026-01-03")], "date", ("2026-01-02", "2026-01-03")),
        ([("a", "r1", "2026-01-02"), ("b", None, "2026-01-03")], "date", ("2026-01-02", "2026-01-03")),
        ([("a", "r1", None), ("a", "r2", None), ("b", None, None)], "run", ("r1", "r2", None)),
        ([("a", "r1", "2026-01-02"), ("a", "r2", "2026-01-02")], "run", ("r1", "r2")),
        ([("a", "r1", None), ("b", "r2", None)], "", (None, None)),
        ([], "", ()),
    ],
)
def test_runs_are_ordered_by_date_or_run_id(runs: Any, by: str, places: tuple[str | None, ...]) -> None:
    models = [made("m", 0.5, family=family, run=Run(run, date)) for family, run, date in runs]
    assert order_of_runs(models) == (by, places)


def test_the_values_are_there_before_the_intervals(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = standings([made("a", 0.8, noise=1), made("b", 0.9, noise=2)], F1)
    alone = standings([made("a", 0.8, noise=1), made("b", 0.9, noise=2)], F1, resamples=0)
    assert [model.name for model in alone.models] == [model.name for model in whole.models] == ["b", "a"]
    assert alone.values.tolist() == whole.values.tolist()
    assert alone.difference.tolist() == whole.difference.tolist()
    assert (alone.ranks, alone.groups, alone.few_documents) == ((None, None), (), False)
    assert alone.sentence == ("b has the highest F1.", "Ranks and intervals follow.")
    assert not alone.clear.any()

    def numbers(app: Any) -> list[str]:
        (table,) = [each.value for each in app.get("html") if "ls-models" in each.value]
        return re.findall(r'<td class="(?:ls-rank)?">([^<]*)</td>', table)

    final = start(MODELS, protocol="coco", rank_by="AP")
    tables = [each.value for each in final.get("html") if "ls-models" in each.value]
    assert "95 % interval" in tables[0]

    def interrupted(*key: Any, **more: Any) -> Standings:
        raise RuntimeError("the reader looks at the view while documents are resampled")

    app = start(MODELS, protocol="coco")
    monkeypatch.setattr("pages.views.models.ranking._STANDINGS.of", interrupted)
    app = app.selectbox(key=State.rank_by.key).set_value("AP").run()
    assert app.exception
    assert numbers(app) == numbers(final)
    assert "Ranks and intervals follow." in " ".join(dashboard.words(app))
    (table,) = [each.value for each in app.get("html") if "ls-models" in each.value]
    assert "95 % interval" not in table
