"""Slices: attributes of known boxes, conditions, what the search finds and does not, and named slices."""

import functools
import json
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from evaluator.analysis.slices import counting, neighbours
from evaluator.analysis.slices import search as searching
from evaluator.analysis.slices.attributes import PageValues, attributes_of
from evaluator.analysis.slices.conditions import Condition, binned, short_between, subject, words
from evaluator.analysis.slices.named_slices import NamedSlice, read_named, save_named
from evaluator.analysis.slices.neighbours import columns_of_text, surroundings
from evaluator.analysis.slices.page_table import read_page_table
from evaluator.analysis.slices.search import Search, SearchCache, search
from evaluator.analysis.slices.statistic import LEAST_BOXES, Level
from evaluator.data.boxes import IntArray
from evaluator.data.dataset import join
from evaluator.metrics.observations import Attribute
from tests.analysis.test_slices_averages import files
from tests.benchmarks.bench_slices import corpus, judged, rows_of
from tests.benchmarks.corpus import dln_like
from tests.building import Box, box, ground_truth
from tests.reading import refusal, refusal_issues
from tests.terminal import run_command


def values(name: str, rows: Sequence[Box], of_pages: PageValues | None = None) -> list[object]:
    dataset = join(ground_truth(rows))
    attribute = {each.name: each for each in attributes_of(dataset, dataset.ground_truth, of_pages=of_pages)}[name]
    if attribute.kind == "category":
        return [None if np.isnan(code) else attribute.names[int(code)] for code in attribute.values]
    return [None if np.isnan(value) else round(float(value), 6) for value in attribute.values]


PAGE = [
    box(0.1, 0.1, 0.4, 0.2, label="Table"),
    box(0.1, 0.25, 0.4, 0.5),
    box(0.6, 0.1, 0.9, 0.5),
    box(0.65, 0.2, 0.85, 0.3, label="Table"),
    box(0.1, 0.1, 0.4, 0.2, page=1),
]


def test_attributes_say_what_stands_around_a_box() -> None:
    around: dict[str, list[object]] = {
        "distance": [0.05, 0.05, 0.0, 0.0, None],
        "next label": ["Figure", "Table", "Table", "Figure", "none"],
        "inside": [0, 0, 0, 1, 0],
        "holds": [0, 0, 1, 0, 0],
        "boxes on page": [4, 4, 4, 4, 1],
        "columns": [2, 2, 2, 2, 1],
        "rank on page": [1, 4, 2, 3, 1],
        "same label on page": [2, 2, 2, 2, 1],
        "position in document": [0.0, 0.0, 0.0, 0.0, 1.0],
    }
    assert {name: values(name, PAGE) for name in around} == around
    assert values("label below", PAGE)[:2] == ["Figure", "none"]
    assert values("label above", PAGE)[:2] == ["none", "Table"]
    assert values("area", PAGE)[0] == pytest.approx(0.03)


def test_attributes_from_elsewhere_are_joined_by_page_then_by_document() -> None:
    of_pages: PageValues = {("a.pdf", None): {"scan": "no", "year": 1997}, ("a.pdf", 1): {"scan": "yes"}}
    assert values("scan", PAGE, of_pages=of_pages) == ["no", "no", "no", "no", "yes"]
    assert values("year", PAGE, of_pages=of_pages) == [1997.0] * 5


def test_nothing_stands_around_no_boxes() -> None:
    nothing = np.empty(0, np.int64)
    assert len(surroundings(nothing, nothing, np.empty((0, 4))).distance) == 0
    assert columns_of_text(nothing, np.empty((0, 4)), 2).tolist() == [0, 0]


@pytest.mark.parametrize("side", [0.02, 0.2])
def test_surroundings_of_a_crowded_page_are_worked_out_in_parts(monkeypatch: pytest.MonkeyPatch, side: float) -> None:
    rng, sizes = np.random.default_rng(1), list[int]()
    corners = rng.random((600, 2)).round(2)
    xyxy = np.hstack([corners, corners + rng.choice([side, side / 3], (600, 2))])
    page, label = np.repeat([0, 1, 2], [400, 1, 199]), np.arange(600) % 5

    def noted(here: IntArray, rows: IntArray, *others: Any) -> None:
        sizes.append(here.size * rows.shape[1])
        around(here, rows, *others)

    around = neighbours._around
    monkeypatch.setattr(neighbours, "_around", noted)
    parts = surroundings(page, label, xyxy)
    assert max(sizes) < 400 * 400 / 4
    monkeypatch.setattr(neighbours, "_TOGETHER", 1_000)
    for one, other in zip(parts, surroundings(page, label, xyxy), strict=True):
        assert np.array_equal(one, other, equal_nan=True)
    assert sum(sizes[-2:]) == 400**2 + 199**2


def test_surroundings_do_not_depend_on_the_order_of_the_boxes() -> None:
    truth, _ = dln_like(30)
    boxes, order = truth.boxes, np.random.default_rng(0).permutation(len(truth.boxes))
    page, label = boxes.entry.astype(np.int64), boxes.label.astype(np.int64)
    one, other = surroundings(page, label, boxes.xyxy), surroundings(page[order], label[order], boxes.xyxy[order])
    for straight, turned in zip(one, other, strict=True):
        np.testing.assert_array_equal(straight[order], turned)


def test_conditions_hold_where_they_say() -> None:
    dataset = join(ground_truth(PAGE))
    table = {each.name: each for each in attributes_of(dataset, dataset.ground_truth)}
    assert Condition("label", "==", "Table").holds(table["label"]).tolist() == [True, False, False, True, False]
    assert Condition("label", "==", "Formula").holds(table["label"]).sum() == 0
    assert Condition("distance", "<", 0.01).holds(table["distance"]).tolist() == [False, False, True, True, False]
    # Unknown is neither below nor above.
    assert Condition("distance", ">=", 0.0).holds(table["distance"]).tolist() == [True, True, True, True, False]


def test_bins_and_conditions_are_one_thing() -> None:
    dataset, attributes = corpus(100, 1)
    bins = binned(attributes, least=20)
    by_name = {each.name: each for each in attributes}
    for part in bins.ranges:
        (condition,) = bins.conditions(part)
        assert (bins.within(part) == condition.holds(by_name[condition.attribute])).all(), condition
    assert len(dataset.documents) == 5


def test_conditions_read_as_a_person_would_say_them() -> None:
    assert words(Condition("area", "<", 0.025)) == "area below 2.5 % of the page"
    assert words(Condition("columns", ">=", 3.0)) == "columns 3 or more"
    conditions = [Condition("label", "==", "Table"), Condition("scan", "==", "yes"), Condition("columns", "<", 2.0)]
    assert subject(conditions, "boxes") == "Table boxes with scan yes and columns below 2"
    assert 0.30000000000000004 >= short_between(0.3, 0.30000000000000004) > 0.3


def test_a_planted_failure_is_the_first_row_and_confirmed() -> None:
    dataset, attributes = corpus(400, 3)
    by_name = {each.name: each.values for each in attributes}
    category = next(each for each in attributes if each.name == "scan")
    plant = (by_name["label"] == 9) & (by_name["scan"] == category.names.index("yes")) & (by_name["y"] >= 0.4)
    loss = (np.random.default_rng(1).random(len(plant)) < np.where(plant, 0.6, 0.15)).astype(np.float64)
    searched = search(attributes, loss, dataset.ground_truth.document.astype(np.int64))
    assert judged(rows_of(searched, loss), plant) == (True, 1)
    assert searched.subsets[0].confirmed
    assert {each.attribute for each in searched.subsets[0].conditions} == {"label", "scan", "y"}


def test_two_models_differ_in_either_direction() -> None:
    dataset, attributes = corpus(400, 4)
    attributes = tuple(each for each in attributes if each.name in TELLING)
    label = next(each for each in attributes if each.name == "label").values
    rng = np.random.default_rng(1)
    lost = (label == 3) & (rng.random(len(label)) < 0.4)
    gained = (label == 7) & (rng.random(len(label)) < 0.4)
    searched = search(
        attributes, lost.astype(float) - gained, dataset.ground_truth.document.astype(np.int64), two_sided=True
    )
    assert {one.conditions: one.z > 0 for one in searched.subsets} == {
        (Condition("label", "==", "List-item"),): True,
        (Condition("label", "==", "Section-header"),): False,
    }


def test_nothing_is_found_where_nothing_is() -> None:
    dataset, attributes = corpus(200, 5)
    loss = (np.random.default_rng(2).random(len(attributes[0].values)) < 0.15).astype(np.float64)
    searched = search(attributes, loss, dataset.ground_truth.document.astype(np.int64))
    assert not searched.subsets
    assert searched.best_p > 0.02
    assert searched.tested > 10_000


@pytest.mark.parametrize("parts", [1, 4])
def test_no_statistic_is_above_its_bound(parts: int) -> None:
    rng = np.random.default_rng(parts)
    counts = rng.integers(0, 6, (32, 500)).astype(np.float32)
    sums = (rng.normal(0.1, 1.0, counts.shape) * counts).astype(np.float32)
    level = Level(rng.normal(0.0, 20.0, 32), np.full(32, 40.0), np.arange(0, 32, parts), 0.01, 20.0)
    sets = level.sets(counts)
    variance = sets.boxes * rng.uniform(0.0, 1.0, len(sets.boxes))
    variance[0] = 0.0
    exact = level.statistic(sets.taken(sums), sets, variance, None, two_sided=True)
    z, t = level.bound(sets.taken(sums).sum(axis=0, dtype=np.float64), sets, variance)
    assert (np.abs(z) >= np.abs(exact.z)).all()
    assert (np.abs(t) >= np.abs(exact.t)).all()
    assert (z >= exact.z)[exact.z > 0].all()


# Names and numbers, and those that tell the failures of `several`: a search of all 23 takes four times as long.
TELLING = ("label", "area", "x", "y", "columns", "scan")


@functools.cache
def several(pages: int) -> tuple[tuple[Attribute, ...], np.ndarray, np.ndarray]:
    """Attributes, losses with two failures, and documents; nobody writes to them."""
    dataset, attributes = corpus(pages, 3)
    by_name = {each.name: each.values for each in attributes}
    chance = np.where(by_name["y"] > 0.6, 0.6, np.where(by_name["label"] == 9, 0.4, 0.15))
    loss = (np.random.default_rng(1).random(len(chance)) < chance).astype(np.float64)
    loss.flags.writeable = False
    return attributes, loss, dataset.ground_truth.document.astype(np.int64)


def telling(pages: int) -> tuple[tuple[Attribute, ...], np.ndarray, np.ndarray]:
    attributes, *rest = several(pages)
    return tuple(each for each in attributes if each.name in TELLING), *rest


def listed(searched: Search) -> list[tuple[object, ...]]:
    return [(one.conditions, one.rows.tolist(), one.documents, one.confirmed) for one in searched.subsets]


def test_searches_of_the_same_boxes_share_what_they_count_and_find_the_same() -> None:
    attributes, loss, document = telling(160)
    other = np.random.default_rng(5).random(len(loss)) * loss
    cases = [(loss, False), (loss - other, True), (loss, False)]
    alone = [search(attributes, each, document, two_sided=two_sided) for each, two_sided in cases[:2]]
    alone.append(alone[0])
    cache = SearchCache()
    boxes = cache.sorted_boxes(attributes, document, 0)
    shared = [search(attributes, each, document, two_sided=two_sided, cache=cache) for each, two_sided in cases]
    assert cache.sorted_boxes(attributes, document, 0) is boxes
    assert any(each.subsets for each in alone)
    for one, two in zip(alone, shared, strict=True):
        assert listed(one) == listed(two)
        assert [(each.z, each.p) for each in one.subsets] == [(each.z, each.p) for each in two.subsets]
        assert (one.tested, one.best_p) == (two.tested, two.best_p)
        assert [half.tolist() for half in one.halves] == [half.tolist() for half in two.halves]
    # Other boxes, other attributes and another seed are no longer the same.
    some = np.arange(0, len(loss), 2)
    fewer = [each.take(some) for each in attributes]
    for given in ((fewer, loss[some], document[some]), (attributes[1:], loss, document)):
        assert listed(search(*given, cache=cache)) == listed(search(*given))
    assert listed(search(attributes, loss, document, seed=3, cache=cache)) == listed(
        search(attributes, loss, document, seed=3)
    )


def test_searches_at_the_same_time_may_share_their_boxes() -> None:
    attributes, loss, document = several(60)
    losses = [np.random.default_rng(seed).random(len(loss)) * loss for seed in range(6)]
    cache = SearchCache()
    with ThreadPoolExecutor(3) as threads:
        shared = list(threads.map(lambda each: search(attributes, each, document, cache=cache), losses))
    alone = [search(attributes, each, document) for each in losses]
    assert [(listed(one), one.tested, one.best_p) for one in shared] == [
        (listed(one), one.tested, one.best_p) for one in alone
    ]


def test_of_many_boxes_nothing_is_kept() -> None:
    attributes, loss, document = several(60)
    few, many = SearchCache(most=len(loss) * len(attributes) - 1), SearchCache(most=len(loss) * len(attributes))
    kept = [
        cache.sorted_boxes(attributes, document, 0) is cache.sorted_boxes(attributes, document, 0)
        for cache in (few, many)
    ]
    assert kept == [False, True]
    assert listed(search(attributes, loss, document, cache=few)) == listed(search(attributes, loss, document))


@pytest.mark.parametrize("pages", [200, 1300])
def test_what_is_found_does_not_depend_on_which_cells_have_tables(pages: int, monkeypatch: pytest.MonkeyPatch) -> None:
    # Fewer documents than parts of documents, and more documents than groups.
    attributes, loss, document = several(pages)
    some = np.arange(0, len(loss), pages // 200)
    case = tuple(each.take(some) for each in attributes if each.name in TELLING), loss[some], document[some]
    first = search(*case)
    assert listed(first)
    # No cell, all cells; and cells of boxes that are too many to keep or to add up in single precision.
    for name, value in (("_FEW", 1), ("_FEW", 300), ("_FEW", 1 << 20), ("_KEPT_CELLS", 0), ("_EXACT", 0)):
        with monkeypatch.context() as patch:
            patch.setattr(counting, name, value)
            other = search(*case)
        assert listed(first) == listed(other)
        np.testing.assert_allclose([one.z for one in first.subsets], [one.z for one in other.subsets], rtol=1e-5)
        assert first.tested == other.tested
        assert first.best_p == pytest.approx(other.best_p, rel=1e-3)


@pytest.mark.parametrize("two_sided", [True, False])
@pytest.mark.parametrize("parts", [1, 4])
def test_the_largest_under_random_signs_is_that_of_a_plain_loop(parts: int, two_sided: bool) -> None:
    rng = np.random.default_rng(3)
    groups, sets = 12, 1100
    units = groups * parts
    boxes = rng.integers(30, 60, units).astype(np.float64)
    counts = rng.integers(0, 12, (units, sets)).astype(np.float32)
    # Some sets have too few boxes to count.
    counts[:, ::50] = 0.0
    counts[:4, ::50] = rng.integers(1, 3, (4, sets // 50))
    sums = (rng.normal(0.0, 1.0, (units, sets)) * np.sqrt(counts)).astype(np.float32)
    totals = rng.normal(0.0, 3.0, units)
    variance = rng.uniform(10.0, 400.0, sets)
    signs = rng.choice(np.array([-1.0, 1.0], np.float32), (50, units))
    level = Level(totals, boxes, np.arange(groups) * parts, 0.01, 20.0)
    signed, every, some = level.signed(signs), level.sets(counts, countable_only=False), level.sets(counts)
    statistic = level.statistic(sums, every, variance, signed, two_sided=two_sided)
    counting_only = level.statistic(some.taken(sums), some, variance[some.kept], signed, two_sided=two_sided)
    assert statistic.largest is not None
    assert counting_only.largest is not None
    assert (counts.sum(axis=0) < LEAST_BOXES).sum() == sets // 50 == len(every.boxes) - len(some.boxes)
    share = counts.sum(axis=0, dtype=np.float64) / boxes.sum()
    inside = sums.sum(axis=0, dtype=np.float64) / counts.sum(axis=0)
    outside = (totals.sum() - sums.sum(axis=0, dtype=np.float64)) / (boxes.sum() - counts.sum(axis=0))
    added = sums * (1.0 - share) - share * (totals[:, None] - sums)
    added -= (1.0 - share) * inside * counts - share * outside * (boxes[:, None] - counts)
    if parts == 1:
        # The standard error is that of T itself.
        t = np.where(every.countable, statistic.t, 1.0)
        power = ((inside - outside) * share * boxes.sum() * (1.0 - share) / t) ** 2
    else:
        power = np.maximum((added**2).sum(axis=0), variance * (1.0 - share))
    of_signs = signs @ (added / np.sqrt(power))[:, some.kept]
    plain = (np.abs(of_signs) if two_sided else of_signs).max(axis=1)
    np.testing.assert_allclose(statistic.largest, plain, rtol=2e-5)
    np.testing.assert_allclose(counting_only.largest, plain, rtol=2e-5)


@pytest.mark.parametrize("two_sided", [True, False])
def test_pairs_that_cannot_be_among_the_best_are_left_out(two_sided: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    attributes, loss, document = telling(160)
    loss = loss - (np.random.default_rng(5).random(len(loss)) < 0.2) * two_sided
    searched = search(attributes, loss, document, two_sided=two_sided)
    looked_at: list[int] = []

    def no_bound(self: Level, totals: np.ndarray, sets: object, variance: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        looked_at.append(len(totals))
        return np.full(len(totals), np.inf), np.full(len(totals), np.inf)

    monkeypatch.setattr(Level, "bound", no_bound)
    every = search(attributes, loss, document, two_sided=two_sided)
    assert max(looked_at) > 1_000
    assert listed(searched)
    assert listed(searched) == listed(every)
    assert [one.z for one in searched.subsets] == pytest.approx([one.z for one in every.subsets], rel=1e-6)


def test_too_few_documents_are_said_and_an_outcome_that_is_always_the_same_has_no_slice() -> None:
    for pages, outcome, expected in ((80, 1.0, ((), 4, 8)), (200, 0.0, ((), 10, 8)), (200, 1.0, ((), 10, 8))):
        dataset, attributes = corpus(pages, 5)
        loss = np.full(len(attributes[0].values), outcome)
        searched = search(attributes, loss, dataset.ground_truth.document.astype(np.int64))
        assert (searched.subsets, searched.documents, searched.needed) == expected


def test_a_slice_from_too_few_documents_is_stated_apart() -> None:
    dataset, _ = corpus(240, 5)
    document = dataset.ground_truth.document.astype(np.int64)
    rng = np.random.default_rng(0)
    few = document < 3
    kind = Attribute("kind", "category", few.astype(np.float64), ("memo", "form"), "document")
    loss = (rng.random(len(few)) < np.where(few, 0.7, 0.1)).astype(np.float64)
    searched = search([kind], loss, document)
    assert searched.subsets == ()
    (thin,) = searched.thin
    assert (thin.conditions, thin.documents, thin.confirmed) == ((Condition("kind", "==", "form"),), 3, False)


def test_named_slices_are_kept_in_a_file(tmp_path: Path) -> None:
    path = tmp_path / "slices.json"
    save_named(path, NamedSlice("small", (Condition("area", "<", 0.05),)))
    save_named(path, NamedSlice("tables", (Condition("label", "==", "Table"),)))
    save_named(path, NamedSlice("small", (Condition("area", "<", 0.02),)))
    assert {each.name: each.conditions for each in read_named(path)} == {
        "tables": (Condition("label", "==", "Table"),),
        "small": (Condition("area", "<", 0.02),),
    }


def test_a_file_that_is_none_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "slices.json"
    for content in (
        "[]", "nothing", '{"a": []}', '{"a": [{"attribute": "area", "op": "~", "value": 1}]}',
        '{"a": [{"attribute": "area", "op": "<", "value": "x"}]}', '{"a": [{"attribute": 3, "op": "<", "value": 1}]}',
        '{"": [{"attribute": "area", "op": "<", "value": 1}]}', '{"a": 3}',
    ):  # fmt: skip
        path.write_text(content)
        assert refusal_issues(read_named, path)[0].file == "slices.json", content


def test_a_table_is_joined_by_document_and_page(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("document,page_no,scan,dpi\na.pdf,,no,300\na,2,yes,150\nother.pdf,1,no,\n")
    of_pages, issues = read_page_table(path, ["a.pdf"], lambda: [("a.pdf", 1)])
    assert of_pages == {
        ("a.pdf", None): {"scan": "no", "dpi": 300.0},
        ("a.pdf", 1): {"scan": "yes", "dpi": 150.0},
        ("other.pdf", 0): {"scan": "no"},
    }
    assert [issue.sentence for issue in issues] == [
        "t.csv: rows should name documents of the files that are compared; found 1 row of other documents, "
        '1: "other.pdf". They are left out; correct the names if they are meant.'
    ]


def test_rows_of_unknown_pages_are_a_warning(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("document,page_no,scan\n" + "".join(f"a.pdf,{page},no\n" for page in (1, 2, 2, 5, 6, 7)))
    issues = read_page_table(path, ["a.pdf"], lambda: [("a.pdf", 0), ("a.pdf", 4)])[1]
    assert [issue.sentence for issue in issues] == [
        "t.csv: rows should name pages of the files that are compared; found 4 of other pages, "
        '3: "a.pdf, page 2", "a.pdf, page 6", "a.pdf, page 7". '
        "They are left out; page and page_index are counted from 0, page_no from 1."
    ]
    path.write_text("document,scan\na.pdf,no\n")
    assert read_page_table(path, ["a.pdf"], pytest.fail)[1] == ()


def test_a_table_that_is_none_or_contradicts_itself_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("document,page,scan,dpi\na.pdf,0,no,300\n\na,0,yes,300.0\na.pdf,0,,\nb.pdf,0,yes,1\n")
    assert refusal(read_page_table, path, ["a.pdf", "b.pdf"], lambda: [("a.pdf", 0), ("b.pdf", 0)]) == [
        "t.csv: rows 2 and 4, scan: rows of the same page or document must have the same value in a column; "
        'found "no" in row 2, "yes" in row 4. Keep the row that is right.'
    ]
    for content in (
        b"", b"name,scan\na.pdf,1\n", b"document,page\na.pdf,x\n", b"document,scan\na.pdf\n",
        b"document,scan\nz.pdf,yes\n", b"document,page_no,x\na.pdf,0,1\n", b"document,scan,scan\na.pdf,yes,no\n",
        b"document,\xff\n",
    ):  # fmt: skip
        path.write_bytes(content)
        assert refusal(read_page_table, path, ["a.pdf"], list), content


@pytest.fixture(scope="module")
def paths(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    return files(tmp_path_factory.mktemp("slices"), documents=40, on_scans=(0.9, 0.2))


def test_the_command_lists_slices_and_keeps_one(
    paths: list[Path], capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    gt, better, pred = paths
    named = tmp_path / "named.json"
    code, out, err = run_command(
        capsys, "slices", "coco", "--gt", gt, "--pred", pred, "--json", "--save", "low", "--slices-file", named
    )
    assert code == 0, err
    first, *_ = json.loads(out)
    assert list(first)[:11] == [
        "conditions", "measure", "value", "rest", "difference", "boxes", "documents", "lost", "p", "confirmed",
        "sentence",
    ]  # fmt: skip
    assert {each["attribute"] for each in first["conditions"]} == {"doc_category"}
    assert first["value"] < 0.5 < first["rest"]
    assert first["difference"] == pytest.approx(first["value"] - first["rest"])
    assert first["confirmed"]
    assert "found" in err
    assert set(json.loads(named.read_bytes())) == {"low"}
    one, both = ("coco", "--gt", gt, "--pred", pred), ("coco", "--gt", gt, "--pred", better, "--pred", pred)
    code, out, err = run_command(capsys, "evaluate", *one, "--json", "--slices", named)
    assert code == 0, err
    whole, kept = json.loads(out)["AP"], json.loads(out)["slices"]["low"]
    assert (kept["recall"], kept["ground_truth"]) == (pytest.approx(first["value"]), first["boxes"])
    average = kept["AP"]
    assert 0.0 < average < whole
    assert "AP50" in run_command(capsys, "evaluate", *one, "--slices", named)[1].split("Named slices")[1]
    gate = ("gate", *one, "--slices", named, "--baseline", better, "--fail-if")
    for condition, code in (
        ("recall[slice:low] < 0.6", 1), ("recall[slice:low] < 0.05", 0), (f"AP[slice:low] < {average + 0.001:.4f}", 1),
        (f"AP[slice:low] < {average - 0.001:.4f}", 0), ("AP[slice:low] < baseline", 1),
    ):  # fmt: skip
        assert run_command(capsys, *gate, condition)[0] == code, condition
    code, _, err = run_command(capsys, *gate, "recall[slice:other] < 0.05")
    assert (code, "slice:low" in err) == (2, True)
    code, out, err = run_command(capsys, "compare", *both, "--slices", named, "--json", "--resamples", 100)
    assert code == 0, err
    differences = json.loads(out)["differences"]
    (row,) = [each for each in differences if (each["label"], each["metric"]) == ("slice:low", "AP")]
    assert row["b"] == pytest.approx(average)
    assert row["difference"] == pytest.approx(row["b"] - row["a"])
    assert row["low"] < row["difference"] < row["high"]
    code, out, err = run_command(capsys, "slices", *both)
    assert code == 0, err
    assert out.startswith("Boxes with doc_category scan")
    assert "B loses here" in out.splitlines()[0]


def test_of_many_boxes_drawn_documents_are_searched_and_the_others_confirm(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(4)
    document = np.repeat(np.arange(400), 30)
    kind, noise = rng.integers(0, 4, len(document)).astype(float), rng.integers(0, 5, len(document)).astype(float)
    table = [Attribute(name, "category", values, tuple("abcde")) for name, values in (("kind", kind), ("noise", noise))]
    loss = (rng.random(len(document)) < np.where(kind == 2, 0.5, 0.1)).astype(float)
    every = search(table, loss, document)
    monkeypatch.setattr(searching, "MOST_BOXES", 4_000)
    drawn = search(table, loss, document)
    assert (every.drawn, drawn.drawn, drawn.documents) == (None, (4_020, 134), 400)
    assert [each.conditions for each in drawn.subsets] == [(Condition("kind", "==", "c"),)]
    assert drawn.subsets[0].rows.tolist() == np.flatnonzero(kind == 2).tolist() == every.subsets[0].rows.tolist()
    assert drawn.subsets[0].documents == 400
    assert drawn.subsets[0].confirmed
    # Only in the documents drawn: found there, not confirmed by the others.
    only = np.where(np.isin(document, drawn.halves[0]), loss, rng.permutation(loss))
    assert [each.confirmed for each in search(table, only, document).subsets] == [False]
    assert not search(table, rng.permutation(loss), document).subsets
    # Of two models that count different boxes.
    models = [np.where(kind < 2, 1.0 - loss, np.nan), np.where(kind < 2, np.nan, 1.0 - loss)]
    assert search(table, loss, document, two_sided=True, models=models).drawn == (4_020, 134)
